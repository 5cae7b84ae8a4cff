// SPDX-License-Identifier: MIT
#pragma once
/// Weights that are float16, or int8 with a scale per channel, in the file: which operators take them, and how kernels
/// learn of them.
#include <netsuke/core/hide_macros.hpp>
#include <type_traits>
#include <netsuke/format/packing.hpp>
#include <netsuke/format/step_view.hpp>

NSK_BEGIN
namespace impl {

/// Whether input 1 of the operator may be panels of float16.
constexpr bool takes_half_weights(op o) {
  return o == op::conv_2d || o == op::depthwise_conv_2d || o == op::fully_connected || o == op::recurrent;
}
/// Whether input 1 of the operator may be panels of int8.
constexpr bool takes_int8_weights(op o) { return o == op::fully_connected || o == op::recurrent; }
/// Whether a verified step has such weights.
NSK_COLD NSK_NOINLINE inline bool has_half_weights(const step_view& s) {
  return takes_half_weights(s.op()) && s.input(1).type() == dtype::float16;
}
NSK_COLD NSK_NOINLINE inline bool has_int8_weights(const step_view& s) {
  return takes_int8_weights(s.op()) && s.input(1).type() == dtype::int8;
}

NSK_COLD NSK_NOINLINE inline bool has_float_weights(const step_view& s) {
  return !has_half_weights(s) && !has_int8_weights(s);
}

/// The types of weights besides float32 that a program takes, and whether files may have lengths.
template <bool Halves, bool Bytes, bool Lengths = true>
struct narrow_weights {
  static constexpr bool halves = Halves, bytes = Bytes, lengths = Lengths;
};

/// Whether sessions of a settings type run such steps; types without the member do not.
template <class Settings, class = void>
inline constexpr bool runs_half_weights = false;
template <class Settings>
inline constexpr bool runs_half_weights<Settings, std::void_t<decltype(Settings::half_weights)>> =
    Settings::half_weights;
template <class Settings, class = void>
inline constexpr bool runs_int8_weights = false;
template <class Settings>
inline constexpr bool runs_int8_weights<Settings, std::void_t<decltype(Settings::int8_weights)>> =
    Settings::int8_weights;

template <class Settings, class = void>
inline constexpr bool runs_lengths = false;
template <class Settings>
inline constexpr bool runs_lengths<Settings, std::void_t<decltype(Settings::lengths)>> = Settings::lengths;

/// What op_traits<>::run is given in place of `Settings` for such a step.
template <class Settings>
struct with_half_weights : Settings {};
template <class Settings>
struct with_int8_weights : Settings {};
/// The type of weights that a run with `Settings` reads.
template <class Settings>
struct weights_of {
  using type = float;
};
template <class Settings>
struct weights_of<with_half_weights<Settings>> {
  using type = half_bits;
};
template <class Settings>
struct weights_of<with_int8_weights<Settings>> {
  using type = std::int8_t;
};
template <class Settings>
using weight = typename weights_of<Settings>::type;

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
