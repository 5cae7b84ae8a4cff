// SPDX-License-Identifier: MIT
#pragma once
/// What a session of a settings type can run.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/run/settings.hpp>
#include <netsuke/core/status.hpp>
#include <netsuke/model/model.hpp>
#include <netsuke/ops/impl/kernel_variants.hpp>
#include <netsuke/ops/impl/narrow_weights.hpp>
#include <netsuke/ops/impl/int8_layers.hpp>

NSK_BEGIN
namespace impl {
/// Maximum number of lanes that a session counts: its memory has scratch for each.
inline constexpr int max_lanes = 1024;

/// Returns how many lanes a block of memory has scratch for, at least one being there.
inline int lanes_in(const variant_view& v, std::size_t bytes) {
  const std::size_t per_lane = v.lane_bytes(), maximum = static_cast<std::size_t>(max_lanes);
  const std::size_t lanes = per_lane == 0 ? maximum : (bytes - v.shared_bytes()) / per_lane;
  return static_cast<int>(lanes < maximum ? lanes : maximum);
}

inline bool uses_winograd(const step_view& s) {
  return s.op() == op::conv_2d && s.params<op::conv_2d>().algorithm != conv_algorithm::direct;
}

/// Whether sessions of a settings type run layers of stored integers.
template <class Settings>
inline constexpr bool runs_quads =
    Settings::ops::has(op::quantized_conv_2d) || Settings::ops::has(op::quantized_depthwise_conv_2d) ||
    Settings::ops::has(op::integer_conv_2d);

/// Returns what the settings lack for a step whose operator they list.
template <class Settings>
status_code missing_for(const step_view& step) {
  if (is_kind_unlisted<Settings>(step)) return status_code::unsupported_kind;
  if (!Settings::winograd && uses_winograd(step)) return status_code::unsupported_winograd;
  if (!runs_half_weights<Settings> && has_half_weights(step)) return status_code::unsupported_half_weights;
  if (!runs_int8_weights<Settings> && has_int8_weights(step)) return status_code::unsupported_int8_weights;
  if (!has_int8_layers<Settings> && is_float_operator_on_bytes(step)) return status_code::unsupported_bytes;
  if (!runs_unsafe_quads<Settings> && has_unsafe_quads(step)) return status_code::unsupported_unsafe_quads;
  if (!runs_weight_offsets<Settings> && has_weight_offset(step)) return status_code::unsupported_weight_offset;
  return Settings::functions::has(step.epilogue().fn) ? status_code::ok : status_code::unsupported_function;
}

/// Returns whether the settings list all that the variant needs, or the first step that needs more.
template <class Settings>
status supported(const variant_view& variant) {
  if (!runs_lengths<Settings> && variant.length_count() != 0) return status_code::unsupported_lengths;
  for (int i = 0; i < variant.step_count(); ++i) {
    const step_view step = variant.step(i);
    const bool listed = Settings::ops::has(step.op());
    const status_code missing = listed ? missing_for<Settings>(step) : status_code::unsupported_op;
    if (missing != status_code::ok) return {missing, i};
  }
  return {};
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
