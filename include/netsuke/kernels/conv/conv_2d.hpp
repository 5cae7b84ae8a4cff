// SPDX-License-Identifier: MIT
#pragma once
/// 2-D convolution: directly, on one of the paths in conv/paths/, or by Winograd's algorithms (product/winograd.hpp).
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <type_traits>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/border.hpp>
#include <netsuke/kernels/conv/conv_2d_layer.hpp>
#include <netsuke/kernels/conv/paths/few_outputs.hpp>
#include <netsuke/kernels/conv/paths/general.hpp>
#include <netsuke/kernels/conv/paths/small_groups.hpp>
#include <netsuke/kernels/product/winograd.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// Returns the path of a convolution on an instruction set.
constexpr fast_path path_of(const conv_2d_layer& l, const vector_registers& r) {
  if (impl::suits_few_outputs(l, r)) return fast_path::few_outputs;
  if (impl::suits_small_groups(l, r)) return fast_path::small_groups;
  return fast_path::general;
}

/// Convolves one tile directly. Strides of the last dimension of input and output are 1.
template <class Kernels = all_kernels, class Weight = float>
NSK_ONE_COPY inline void direct_conv_2d(const conv_2d_args& a, const tile_range& t, std::byte* scratch) {
  tile_range left = t;
  if constexpr (std::is_same<Weight, float>::value) {
    [[maybe_unused]] const fast_path path =
        path_of({a.w, a.groups, a.input.shape[3], a.output.shape[3]}, own_registers);
    if constexpr (Kernels::has(fast_path::few_outputs))
      if (path == fast_path::few_outputs) {
        impl::convolve_few_outputs<Kernels>(a, t);
        return fill_border(a.output, t);
      }
    if constexpr (Kernels::has(fast_path::small_groups))
      if (path == fast_path::small_groups) left.channel_begin = impl::convolve_small_groups<Kernels>(a, t);
  }
  if (left.channel_begin < left.channel_end)
    impl::convolve_groups<Kernels, Weight>(a, left, reinterpret_cast<float*>(scratch));
  fill_border(a.output, t);
}

/// Convolves one tile by the algorithm that its step names. Winograd's weights are floats.
template <class Kernels = all_kernels>
inline void conv_2d(const conv_2d_args& a, const tile_range& t, std::byte* scratch) {
  if (a.algorithm == conv_algorithm::direct) return direct_conv_2d<Kernels>(a, t, scratch);
  impl::winograd_conv_2d<Kernels>(a, t, reinterpret_cast<float*>(scratch));
  fill_border(a.output, t);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
