// SPDX-License-Identifier: MIT
#pragma once
/// Choice between two tensors, element by element.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/elements/fill.hpp>
#include <netsuke/kernels/elements/element_blocks.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// output = condition (boolean) ? a : b.
struct select_args {
  tensor_view condition, a, b, output;
};

namespace impl {

/// to = condition ? a : b, `count` of each; a condition is true where its byte is not 0. By bits, because compilers
/// make vectors of that for every size.
template <class T>
NSK_NOINLINE inline void select_elements(const std::byte* condition, const std::byte* a, const std::byte* b,
                                         std::byte* to, std::ptrdiff_t count) {
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const T x = element<T>(a, i), y = element<T>(b, i), first = static_cast<T>(T{0} - T{element<bool>(condition, i)});
    put_element(to, i, static_cast<T>(y ^ ((x ^ y) & first)));
  }
}

}

/// output = condition ? a : b, any element type, equal shapes, any strides, 0 where an operand is broadcast.
template <class = void>
inline void select(const select_args& a, const tile_range& t, std::byte*) {
  const tensor_view* const inputs[] = {&a.condition, &a.a, &a.b};
  impl::operand_blocks blocks[] = {impl::operand_blocks(a.condition), impl::operand_blocks(a.a),
                                   impl::operand_blocks(a.b)};
  impl::for_each_piece(
      a.output, inputs, blocks, t, [&](const std::byte* const(&x)[3], std::byte* to, std::ptrdiff_t count) {
        impl::visit_size(a.output.type,
                         [&](auto type) { impl::select_elements<decltype(type)>(x[0], x[1], x[2], to, count); });
      });
  impl::fill_typed_border(a.output, t);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
