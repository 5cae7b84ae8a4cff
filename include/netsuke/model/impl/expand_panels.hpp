// SPDX-License-Identifier: MIT
#pragma once
/// Makes panels of weights from the numbers of a small file.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <netsuke/core/span.hpp>
#include <netsuke/format/packing.hpp>
#include <netsuke/format/small_file.hpp>
#include <netsuke/kernels/product/winograd_weights.hpp>
#include <netsuke/model/impl/stored_bytes.hpp>
#include <netsuke/simd/vec.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace impl {

/// Reads the rows of one panel. A row is max_panel_width floats, and as many more as a vector may be wide; what is
/// behind the channels is +0.
struct row_reader {
  static constexpr int width = max_panel_width + 8;
  stored_bytes& stored;
  stored_number numbers;
  bool sparse;
  int channels = 0;
  alignas(64) float scale[width] = {}, zero[width] = {};

  bool take_floats(float* to) { return stored.take(to, static_cast<std::size_t>(channels) * sizeof(float)); }
  /// Begins a panel of `count` channels: its biases go to `bias`.
  bool begin(int count, float* bias) {
    channels = count;
    const int heads = heads_of(numbers);
    for (int c = 0; c < width; ++c) {
      scale[c] = 1;
      zero[c] = 128;
    }
    return take_floats(bias) && (heads < 2 || take_floats(scale)) && (heads < 3 || take_floats(zero));
  }
  /// Widens as many stored numbers as there are channels.
  void widen(const std::byte* narrow, float* row) const {
    const auto size = static_cast<std::size_t>(channels) * static_cast<std::size_t>(size_of(numbers));
    if (numbers == stored_number::float32) {
      std::memcpy(row, narrow, size);
      return;
    }
    alignas(64) float wide[width];
    if (size_of(numbers) == 2) {
      alignas(64) std::uint16_t halves[width] = {};
      std::memcpy(halves, narrow, size);
      for (int c = 0; c < channels; c += simd::f32::lanes)
        simd::store(wide + c, simd::mul(simd::load_f16(halves + c), simd::load(scale + c)));
    } else {
      alignas(64) std::uint8_t bytes[width] = {};
      std::memcpy(bytes, narrow, size);
      for (int c = 0; c < channels; c += simd::f32::lanes)
        simd::store(wide + c,
                    simd::mul(simd::sub(simd::load_u8(bytes + c), simd::load(zero + c)), simd::load(scale + c)));
    }
    std::memcpy(row, wide, static_cast<std::size_t>(channels) * sizeof(float));
  }
  /// Reads the numbers whose bits are set.
  bool read_sparse(float* row) {
    std::uint8_t bits[max_panel_width / 8] = {};
    std::byte narrow[max_panel_width * sizeof(float)] = {}, buffer[max_panel_width * sizeof(float)];
    if (!stored.take(bits, static_cast<std::size_t>(channels + 7) / 8)) return false;
    const auto size = static_cast<std::size_t>(size_of(numbers));
    const auto is_there = [&](int c) { return (bits[c / 8] >> (c % 8) & 1) != 0; };
    std::size_t bytes = 0;
    for (int c = 0; c < channels; ++c) bytes += is_there(c) ? size : 0;
    const std::byte* next = stored.take_view(buffer, bytes);
    if (next == nullptr) return false;
    for (int c = 0; c < channels; ++c) {
      if (!is_there(c)) continue;
      std::memcpy(narrow + static_cast<std::size_t>(c) * size, next, size);
      next += size;
    }
    widen(narrow, row);
    for (int c = 0; c < channels; ++c)
      if (!is_there(c)) row[c] = 0;
    return true;
  }
  bool read(float* row) {
    if (sparse) return read_sparse(row);
    const auto size = static_cast<std::size_t>(channels) * static_cast<std::size_t>(size_of(numbers));
    std::byte buffer[max_panel_width * sizeof(float)];
    const std::byte* narrow = stored.take_view(buffer, size);
    if (narrow == nullptr) return false;
    widen(narrow, row);
    return true;
  }
};

/// Makes one panel, behind its biases, of `rows` rows. False where the stored numbers end before.
template <part_kind Kind>
NSK_INLINE bool expand_rows(row_reader& in, std::ptrdiff_t depth, int width, float* to) {
  if constexpr (Kind == part_kind::panels) {
    alignas(64) float row[row_reader::width] = {};
    for (std::ptrdiff_t k = 0; k < depth; ++k, to += width) {
      if (!in.read(row)) return false;
      std::memcpy(to, row, static_cast<std::size_t>(width) * sizeof(float));
    }
  } else {
    constexpr int rows = Kind == part_kind::winograd4 ? 6 : 4;
    alignas(64) float taps[9][row_reader::width] = {};
    for (std::ptrdiff_t k = 0; k < depth; ++k, to += width) {
      for (float(&row)[row_reader::width] : taps)
        if (!in.read(row)) return false;
      kernels::transform_winograd_weights<rows>(taps[0], row_reader::width, width, to, depth * width);
    }
  }
  return true;
}

template <part_kind Kind>
NSK_NOINLINE bool expand_panels(const small_part& part, stored_bytes& stored, float* to) {
  row_reader in{stored, part.numbers, is_sparse(part)};
  const std::int64_t channels = part.channels;
  const auto depth = static_cast<std::ptrdiff_t>(part.depth);
  constexpr std::ptrdiff_t points = Kind == part_kind::panels ? 1 : Kind == part_kind::winograd4 ? 36 : 16;
  for (std::int64_t p = 0; p < panel_count(channels); ++p) {
    const int width = static_cast<int>(width_of_panel(channels, p));
    const std::int64_t rest = channels - p * panel_width;
    std::memset(to, 0, static_cast<std::size_t>(width) * sizeof(float));
    if (!in.begin(static_cast<int>(rest < width ? rest : width), to)) return false;
    to += width;
    if (!expand_rows<Kind>(in, depth, width, to)) return false;
    to += points * depth * width;
  }
  return stored.is_done();
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
