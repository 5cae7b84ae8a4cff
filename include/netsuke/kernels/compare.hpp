// SPDX-License-Identifier: MIT
#pragma once
/// Comparison of two tensors of one type.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/impl/element_lines.hpp>
#define NSK_REGION_COMPACT
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// output (boolean) = a kind b; a and b of one type.
struct compare_args : compare_params {
  tensor_view a, b, output;
};

namespace impl {

/// What makes a comparison true; "other" is greater, or not comparable because of a NaN.
struct accepted_relations {
  bool less, equal, other;
};
inline accepted_relations relations_of(compare_kind kind) {
  switch (kind) {
    case compare_kind::equal: return {false, true, false};
    case compare_kind::not_equal: return {true, false, true};
    case compare_kind::less: return {true, false, false};
    case compare_kind::less_equal: break;
  }
  return {true, true, false};
}

template <class T>
inline void compare_tile(const compare_args& a, const tile_range& t) {
  const std::ptrdiff_t* strides[] = {a.output.stride, a.a.stride, a.b.stride};
  const accepted_relations accept = relations_of(a.kind);
  for_each_line(a.output, strides, t, [&](const element_line<3>& l) {
    for (std::ptrdiff_t i = 0; i < l.count; ++i) {
      const T x = element<T>(a.a.data, l.at[1] + i * l.step[1]), y = element<T>(a.b.data, l.at[2] + i * l.step[2]);
      put_element(a.output.data, l.at[0] + i * l.step[0], x < y ? accept.less : x == y ? accept.equal : accept.other);
    }
  });
}

}

/// output (boolean) = a kind b; any type but float16, equal shapes, any strides, 0 where an operand is broadcast.
template <class = void>
inline void compare(const compare_args& a, const tile_range& t, std::byte*) {
  impl::visit_type(a.a.type, [&](auto x) { impl::compare_tile<decltype(x)>(a, t); });
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
