// SPDX-License-Identifier: MIT
#pragma once
/// Replays the inputs and outputs that the converter recorded in the file.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/run/session.hpp>

NSK_BEGIN
namespace impl {

/// Equal bits, or for floats a difference of at most `tolerance`.
inline bool outputs_agree(span<const std::byte> actual, span<const std::uint8_t> expected, dtype type,
                          float tolerance) {
  if (std::memcmp(actual.data(), expected.data(), actual.size()) == 0) return true;
  if (type != dtype::float32 || !(tolerance > 0)) return false;
  for (std::size_t i = 0; i < actual.size(); i += sizeof(float)) {
    float a, b;
    std::memcpy(&a, actual.data() + i, sizeof a);
    std::memcpy(&b, expected.data() + i, sizeof b);
    const float difference = a > b ? a - b : b - a;
    if (!(difference <= tolerance) && std::memcmp(&a, &b, sizeof a) != 0) return false;
  }
  return true;
}

}

/// Runs every check vector of the session's variant and compares: bit by bit where the vector's tolerance is 0.
/// Overwrites inputs and outputs in the arena, resets the states, seeds with 0 and goes back to the bounds of lengths;
/// inputs and outputs must not be bound. The status names the output that differs.
template <class Settings>
[[nodiscard]] status selftest(session<Settings>& net) {
  if (!net.status()) return net.status();
  const variant_view v = net.variant();
  if (v.check_count() == 0) return status_code::no_check_vectors;
  for (int i = 0; i < v.check_count(); ++i) {
    const check_view check = v.check_vector(i);
    for (int k = 0; k < net.input_count(); ++k) {
      const checked_span<std::byte> input = net.input_bytes(k);
      if (!input) return input.status();
      std::memcpy(input.data(), check.input(k).data(), input.size());
    }
    net.reset();
    net.seed(0);
    net.reset_lengths();
    net.run();
    for (int k = 0; k < net.output_count(); ++k) {
      if (!impl::outputs_agree(net.output_bytes(k), check.output(k), net.output_info(k).type(), check.tolerance())) {
        return {status_code::check_failed, k};
      }
    }
  }
  net.reset();
  return {};
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
