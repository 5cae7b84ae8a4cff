// SPDX-License-Identifier: MIT
#pragma once
/// Convolution by the direct algorithm alone: a generated network without Winograd's algorithms has no code of them.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <netsuke/kernels/border.hpp>
#include <netsuke/kernels/conv/conv_2d.hpp>

NSK_BEGIN
namespace codegen {

/// kernels::conv_2d for a step whose algorithm is conv_algorithm::direct.
template <class Functions>
inline void direct_conv_2d(const kernels::conv_2d_args& a, const tile_range& t, std::byte* scratch) {
  kernels::impl::direct_conv_2d<Functions>(a, t, reinterpret_cast<float*>(scratch));
  kernels::fill_border(a.output, t);
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
