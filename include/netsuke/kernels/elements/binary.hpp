// SPDX-License-Identifier: MIT
#pragma once
/// Arithmetic of two tensors, element by element.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/border.hpp>
#include <netsuke/kernels/elements/pointwise.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// output = epilogue(a op b), float32, any strides, 0 where an operand is broadcast. min and max follow simd's rule for
/// NaN and zeros: b where the comparison is false. The output may be a or b.
template <class Kernels = all_kernels>
inline void binary(const binary_args& a, const tile_range& t, std::byte*) {
  impl::run_pointwise<Kernels>({a.output, a.a.as<float>(), a.b.as<float>(), a.a.stride, a.b.stride, a.kind, a.e}, t);
  fill_border(a.output, t);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
