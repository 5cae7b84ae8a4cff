// SPDX-License-Identifier: MIT
#pragma once
/// Which buffers of the arena hold 16-bit floats (plan_settings::half_activations). Such a buffer begins where it did
/// and uses the first half of its bytes; offsets and strides of its tensors count 16-bit elements.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/step_view.hpp>

NSK_BEGIN
namespace gpu::impl {

class half_buffers {
 public:
  /// Buffers of higher numbers keep 32-bit floats.
  static constexpr int max_buffers = 4096;

  bool has(const tensor_info& t) const {
    return m_some && t.where() != storage::constant && t.buffer() >= 0 && t.buffer() < max_buffers &&
           (m_bits[t.buffer() / 8] >> t.buffer() % 8 & 1) != 0;
  }
  void add_all() {
    m_some = true;
    for (std::uint8_t& b : m_bits) b = 0xff;
  }
  void remove(const tensor_info& t) {
    if (t.where() == storage::constant || t.buffer() < 0 || t.buffer() >= max_buffers) return;
    m_bits[t.buffer() / 8] = static_cast<std::uint8_t>(m_bits[t.buffer() / 8] & ~(1 << t.buffer() % 8));
  }

 private:
  bool m_some = false;
  std::uint8_t m_bits[max_buffers / 8] = {};
};

/// Operands of a step as a set: bit i is input i; inputs of higher numbers are never 16-bit floats.
using operand_set = std::uint8_t;
inline constexpr operand_set output_operand = 128;
inline constexpr int set_inputs = 7;

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
