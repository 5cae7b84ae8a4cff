// SPDX-License-Identifier: MIT
#pragma once
/// Which shader a dispatch runs: a kernel, which is one text, and a permutation of it.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/core/assert.hpp>

/// X(name, file, pixels): every kernel, the text in shaders/ that it is made of, and its macro PIXELS: pixels of a
/// thread, threads of a line, or rows and columns of a cell. Append-only: hosts keep blobs by number.
#define NSK_GPU_KERNEL_LIST(X)                                     \
  X(conv_2d, conv_2d, 4)                                           \
  X(conv_2d_one_pixel, conv_2d, 1)                                 \
  X(conv_2d_tiled, conv_2d_tiled, 0)                               \
  X(depthwise_conv_2d, depthwise_conv_2d, 0)                       \
  X(pool_2d, pool_2d, 0)                                           \
  X(elementwise, elementwise, 0)                                   \
  X(copy, copy, 0)                                                 \
  X(reduce, reduce, 0)                                             \
  X(softmax, softmax, 0)                                           \
  X(layer_normalization, layer_normalization, 0)                   \
  X(resize_2d, resize_2d, 0)                                       \
  X(pack_panels, pack_panels, 0)                                   \
  X(texture_to_tensor, texture_to_tensor, 0)                       \
  X(tensor_to_texture, tensor_to_texture, 0)                       \
  X(depthwise_window, depthwise_window, 0)                         \
  X(typed_elementwise, typed_elementwise, 0)                       \
  X(arg_reduce, arg_reduce, 0)                                     \
  X(top_k, top_k, 0)                                               \
  X(local_response_normalization, local_response_normalization, 0) \
  X(tree_ensemble, tree_ensemble, 0)                               \
  X(random, random, 0)                                             \
  X(recurrent, recurrent, 0)                                       \
  X(conv_2d_split, conv_2d_split, 0)                               \
  X(sum_slices, sum_slices, 0)                                     \
  X(reduce_by_group, reduce, 64)                                   \
  X(softmax_by_group, softmax, 64)                                 \
  X(layer_normalization_by_group, layer_normalization, 64)         \
  X(separable_conv_2d, separable_conv_2d, 0)                       \
  X(winograd2_input, winograd_input, 2)                            \
  X(winograd4_input, winograd_input, 4)                            \
  X(winograd2_output, winograd_output, 2)                          \
  X(winograd4_output, winograd_output, 4)

NSK_BEGIN
namespace gpu {

enum class kernel : std::uint8_t {
#define NSK_GPU_KERNEL_ENUM(name, file, pixels) name,
  NSK_GPU_KERNEL_LIST(NSK_GPU_KERNEL_ENUM)
#undef NSK_GPU_KERNEL_ENUM
};
#define NSK_GPU_PLUS_ONE(...) +1
inline constexpr int kernel_count = 0 NSK_GPU_KERNEL_LIST(NSK_GPU_PLUS_ONE);
#undef NSK_GPU_PLUS_ONE

/// Returns the name of a kernel, "" for a number that is none.
constexpr const char* name_of(kernel k) {
  switch (k) {
#define NSK_GPU_KERNEL_NAME(name, file, pixels) \
  case kernel::name: return #name;
    NSK_GPU_KERNEL_LIST(NSK_GPU_KERNEL_NAME)
#undef NSK_GPU_KERNEL_NAME
  }
  return "";
}

/// Numbers that a shader has as specialisation constants (Vulkan) or macros (all others), in this order. What they mean
/// is in shaders/portable.h.
inline constexpr int specialization_count = 7;
inline constexpr const char* specialization_names[specialization_count] = {"FUNCTION", "RESIDUAL", "INPUT4", "MODE",
                                                                           "OUTPUT4",  "WINDOW",   "HALVES"};

/// A kernel and its permutation: what the host compiles once and caches.
struct pipeline_key {
  gpu::kernel kernel = gpu::kernel::conv_2d;
  std::uint8_t specialization[specialization_count] = {};

  constexpr bool operator==(const pipeline_key& o) const {
    if (kernel != o.kernel) return false;
    for (int i = 0; i < specialization_count; ++i) {
      if (specialization[i] != o.specialization[i]) return false;
    }
    return true;
  }
  constexpr bool operator!=(const pipeline_key& o) const { return !(*this == o); }
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
