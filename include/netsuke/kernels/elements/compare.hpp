// SPDX-License-Identifier: MIT
#pragma once
/// Comparison of two tensors of one type.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/elements/element_blocks.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// output (boolean) = a kind b; a and b of one type.
struct compare_args : compare_params {
  tensor_view a, b, output;
};

namespace impl {

/// x Kind y; with a NaN, only not_equal is true.
template <compare_kind Kind, class T>
NSK_INLINE bool compared(T x, T y) {
  if constexpr (Kind == compare_kind::equal) return x == y;
  if constexpr (Kind == compare_kind::not_equal) return x != y;
  if constexpr (Kind == compare_kind::less) return x < y;
  return x <= y;
}

/// to = x Kind y, `count` of each; booleans are bytes.
template <compare_kind Kind, class T>
NSK_NOINLINE inline void compare_elements(const T* x, const T* y, std::uint8_t* to, std::ptrdiff_t count) {
  for (std::ptrdiff_t i = 0; i < count; ++i) to[i] = compared<Kind>(x[i], y[i]) ? std::uint8_t{1} : std::uint8_t{0};
}

template <class T>
inline void compare_elements(compare_kind kind, const T* x, const T* y, std::uint8_t* to, std::ptrdiff_t count) {
  switch (kind) {
    case compare_kind::equal: return compare_elements<compare_kind::equal>(x, y, to, count);
    case compare_kind::not_equal: return compare_elements<compare_kind::not_equal>(x, y, to, count);
    case compare_kind::less: return compare_elements<compare_kind::less>(x, y, to, count);
    case compare_kind::less_equal: return compare_elements<compare_kind::less_equal>(x, y, to, count);
  }
}

/// to = x[0] kind x[1] for a piece of type T; narrow ones as int32, block by block.
template <class T>
inline void compare_piece(compare_kind kind, const std::byte* const (&x)[2], std::uint8_t* to, std::ptrdiff_t count) {
  const stored<T>*const left = elements_of<T>(x[0]), *const right = elements_of<T>(x[1]);
  if constexpr (sizeof(T) >= sizeof(std::int32_t)) {
    compare_elements(kind, left, right, to, count);
  } else {
    std::int32_t a[block_elements], b[block_elements];
    for (std::ptrdiff_t i = 0; i < count; i += block_elements) {
      const std::ptrdiff_t n = count - i < block_elements ? count - i : block_elements;
      widen<T>(left + i, a, n);
      widen<T>(right + i, b, n);
      compare_elements(kind, a, b, to + i, n);
    }
  }
}

}

/// output (boolean) = a kind b; any type but float16, equal shapes, any strides, 0 where an operand is broadcast.
template <class = void>
inline void compare(const compare_args& a, const tile_range& t, std::byte*) {
  const tensor_view* const inputs[] = {&a.a, &a.b};
  impl::operand_blocks blocks[] = {impl::operand_blocks(a.a), impl::operand_blocks(a.b)};
  impl::for_each_piece(a.output, inputs, blocks, t,
                       [&](const std::byte* const(&x)[2], std::byte* to, std::ptrdiff_t count) {
                         impl::visit_type(a.a.type, [&](auto type) {
                           impl::compare_piece<decltype(type)>(a.kind, x, reinterpret_cast<std::uint8_t*>(to), count);
                         });
                       });
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
