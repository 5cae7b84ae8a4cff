// SPDX-License-Identifier: MIT
#pragma once
/// An elementwise function of a tensor.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/border.hpp>
#include <netsuke/kernels/elements/pointwise.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// output = epilogue(input), float32, any strides. The output may be the input.
template <class Kernels = all_kernels>
inline void unary(const unary_args& a, const tile_range& t, std::byte*) {
  impl::run_pointwise<Kernels>({a.output, a.input.as<float>(), nullptr, a.input.stride, nullptr, binary_kind::add, a.e},
                               t);
  fill_border(a.output, t);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
