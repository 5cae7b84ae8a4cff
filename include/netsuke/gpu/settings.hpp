// SPDX-License-Identifier: MIT
#pragma once
/// What a plan is made for.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <netsuke/core/assert.hpp>
#include <netsuke/core/span.hpp>
#include <netsuke/format/impl/run_lengths.hpp>

NSK_BEGIN
namespace gpu {
namespace impl {
using nsk::impl::run_lengths;
}

/// Which kernel convolutions use: the one that fits their size, or, for tests, always the same. `direct` knows no size
/// and no window when it is compiled.
enum class conv_kernel : std::uint8_t { automatic, direct, tiled, one_pixel, four_pixels };

/// Whether steps become one dispatch: where an estimate says that it pays, never, or, for tests, wherever it can be.
enum class merging : std::uint8_t { automatic, never, always };

struct plan_settings {
  bool texture_inputs = false;   ///< inputs may come from textures: one pipeline more
  bool texture_outputs = false;  ///< outputs may go to textures: one pipeline more
  bool hybrid = false;           ///< steps without a shader may run on the CPU, between two parts of the plan
  std::int32_t rows = 0;         ///< of a batch, 0 = all; each has the bits that it has alone
  /// Bits 1 << op of operators that run on the CPU although they have a shader, where `hybrid` is set: for a driver
  /// that computes one of them wrongly.
  std::uint64_t cpu_operators = 0;
  conv_kernel convolutions = conv_kernel::automatic;
  /// Activations between steps are 16-bit floats where all steps that touch them can do that: half the bytes, three
  /// decimal digits, larger numbers become 65504. Ports, states, constants and all arithmetic stay float32.
  bool half_activations = false;
  /// A depthwise convolution and the 1 x 1 convolution that alone reads its result: what is between them is neither
  /// written nor read. The same bits, except with half_activations, where nothing is rounded in between.
  merging separable = merging::automatic;
  /// The model's weights section, where a session shall read 16-bit weights, which gpu/half_weights.hpp makes of it;
  /// empty: float32, the section as it is. It must outlive the plan.
  span<const std::byte> half_weights{};
  /// Bytes behind the arena for Winograd's convolutions, which are computed in parts of as many images as fit; one that
  /// needs more for an image has no shader.
  std::uint32_t max_winograd_bytes = std::uint32_t{32} << 20;

  /// Lets the plan of `v` compute with a length of `value`, as nsk::session::set_length does; the others stay. A plan
  /// has one value of each length: for another one make another plan.
  NSK_COLD status set_length(const variant_view& v, const char* name, std::int32_t value) {
    if (!chooses_lengths) chosen_lengths.reset(v);
    chooses_lengths = true;
    return chosen_lengths.set(v, name, value);
  }
  impl::run_lengths chosen_lengths{};  ///< set_length() writes it
  bool chooses_lengths = false;

  /// The lengths of an inference. Valid as long as the settings.
  length_values lengths() const { return rows > 0 ? &rows : chosen_lengths.values(); }
  /// Those that kernels are chosen by: a row of a batch has the same bits whatever the number of rows.
  length_values choosing_lengths() const { return chosen_lengths.values(); }
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
