// SPDX-License-Identifier: MIT
#pragma once
/// Choice between two tensors, element by element.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/fill.hpp>
#include <netsuke/kernels/impl/element_lines.hpp>
#define NSK_REGION_COMPACT
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// output = condition (boolean) ? a : b.
struct select_args {
  tensor_view condition, a, b, output;
};

/// output = condition ? a : b, any element type, equal shapes, any strides, 0 where an operand is broadcast.
template <class = void>
inline void select(const select_args& a, const tile_range& t, std::byte*) {
  const std::ptrdiff_t* strides[] = {a.output.stride, a.condition.stride, a.a.stride, a.b.stride};
  impl::visit_size(a.output.type, [&](auto x) {
    using T = decltype(x);
    impl::for_each_line(a.output, strides, t, [&](const impl::element_line<4>& l) {
      for (std::ptrdiff_t i = 0; i < l.count; ++i) {
        const bool first = impl::element<bool>(a.condition.data, l.at[1] + i * l.step[1]);
        impl::put_element(a.output.data, l.at[0] + i * l.step[0],
                          first ? impl::element<T>(a.a.data, l.at[2] + i * l.step[2])
                                : impl::element<T>(a.b.data, l.at[3] + i * l.step[3]));
      }
    });
  });
  impl::fill_typed_border(a.output, t);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
