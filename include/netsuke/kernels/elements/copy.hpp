// SPDX-License-Identifier: MIT
#pragma once
/// Copies between strides: transposition, slice, concatenation, expansion, padding, depth to space.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/elements/fill.hpp>
#include <netsuke/kernels/elements/copy_elements.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// output = input, same shape, any strides (negative and 0 too on the input), any element type.
struct copy_args {
  tensor_view input, output;
};

namespace impl {

template <class T>
inline void copy_tile(const copy_args& a, const tile_range& t) {
  const std::ptrdiff_t* strides[copy_operands] = {a.output.stride, a.input.stride};
  for_each_nest(a.output.shape, a.output.rank, strides, t, [&](const copy_nest& found) {
    copy_nest b = found;
    T* to = a.output.as<T>() + b.offset[copy_to];
    const T* from = a.input.as<T>() + b.offset[copy_from];
    sort_by_output(b);
    copy_nest_elements(b, to, from);
  });
}

}

/// output = input, same shape and element type, any strides; 0 and negative ones too on the input. Views must not
/// overlap.
inline void copy(const copy_args& a, const tile_range& t, std::byte*) {
  switch (size_of(a.output.type)) {
    case 1: impl::copy_tile<std::uint8_t>(a, t); break;
    case 2: impl::copy_tile<std::uint16_t>(a, t); break;
    case 4: impl::copy_tile<std::uint32_t>(a, t); break;
    default: impl::copy_tile<std::uint64_t>(a, t); break;
  }
  impl::fill_typed_border(a.output, t);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
