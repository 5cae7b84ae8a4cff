// SPDX-License-Identifier: MIT
#pragma once
/// Which buffers of the arena hold 16-bit floats (plan_settings::half_activations). Such a buffer begins where it did
/// and uses the first half of its bytes; offsets and strides of its tensors count 16-bit elements.
/// And which panels are (plan_settings::half_weights), with the places of constants in the weights that are bound then:
/// the variant's buffers in their order, each at a multiple of 64 bytes, and the pad that threads may read.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/packing.hpp>
#include <netsuke/format/step_view.hpp>
#include <netsuke/format/variant_view.hpp>

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

/// Panels of a step: matrices of `depth` rows and `channels` columns, one behind the other.
struct panel_shape {
  std::int64_t channels = 0, depth = 0, matrices = 0;

  std::int64_t columns() const { return padded_channels(channels) * matrices; }
  std::uint64_t bytes() const { return static_cast<std::uint64_t>(panel_floats(channels, depth) * matrices) * 4; }
  /// Biases stay 32-bit floats.
  std::uint64_t half_bytes() const { return static_cast<std::uint64_t>(columns() * (depth + 2)) * 2; }
  bool operator==(const panel_shape& o) const {
    return channels == o.channels && depth == o.depth && matrices == o.matrices;
  }
};

class half_panels {
 public:
  /// Layers beyond these keep 32-bit floats.
  static constexpr int max_layers = 512;

  /// Constants are placed as half weights have them from here on.
  void begin(const variant_view& v) {
    m_variant = v;
    m_some = true;
  }
  bool enabled() const { return m_some; }
  bool has(const tensor_info& t) const { return has_buffer(t.buffer()); }
  bool has_buffer(int buffer) const { return find(buffer) >= 0; }
  /// Adds the panels of a buffer, as long as there is space.
  void add(int buffer, const panel_shape& s) {
    if (m_count == max_layers) return;
    m_layer[m_count++] = {buffer, static_cast<std::uint32_t>((s.bytes() - s.half_bytes()) / unit)};
  }
  void remove(int buffer) {
    if (const int i = find(buffer); i >= 0) m_layer[i] = m_layer[--m_count];
  }

  /// Bytes of a buffer as it is stored.
  std::uint64_t bytes_of(int buffer) const {
    const int i = find(buffer);
    return m_variant.buffer(buffer).bytes() - (i < 0 ? 0 : std::uint64_t{m_layer[i].saved} * unit);
  }
  /// Byte at which a buffer of constants begins.
  std::uint64_t place_of(const tensor_info& t) const { return m_some ? place_of(t.buffer()) : t.buffer_offset(); }
  /// Byte at which the buffer of this number begins; for the number of buffers, the end of the last one.
  std::uint64_t place_of(int buffer) const {
    std::uint64_t at = 0;
    for (int i = 0; i < buffer; ++i) {
      if (m_variant.buffer(i).where() == storage::constant) at += aligned(bytes_of(i));
    }
    return at;
  }
  std::uint64_t all_bytes() const { return m_some ? place_of(m_variant.buffer_count()) + over_read : 0; }

 private:
  static constexpr std::uint64_t unit = 16;  ///< eight columns of 16-bit floats
  struct layer {
    std::int32_t buffer = -1;
    std::uint32_t saved = 0;  ///< of its bytes, in units
  };
  static constexpr std::uint64_t aligned(std::uint64_t n) {
    return (n + arena_alignment - 1) / arena_alignment * arena_alignment;
  }
  int find(int buffer) const {
    for (int i = 0; i < m_count; ++i) {
      if (m_layer[i].buffer == buffer) return i;
    }
    return -1;
  }
  bool m_some = false;
  int m_count = 0;
  variant_view m_variant;
  layer m_layer[max_layers];
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
