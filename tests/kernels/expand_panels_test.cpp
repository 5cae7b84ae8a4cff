// SPDX-License-Identifier: MIT
// Panels made of what small files store: float32, float16 and bytes, with and without zeros, as they are and for
// Winograd's algorithms.
#include <cmath>
#include <initializer_list>
#include <doctest/doctest.h>
#include <netsuke/model/impl/expand_panels.hpp>
#include "../model/winograd_matrix.hpp"
#include "support.hpp"

namespace small_panels {

using bytes = std::vector<std::byte>;

void append(bytes& to, const void* data, std::size_t size) {
  const auto* first = static_cast<const std::byte*>(data);
  to.insert(to.end(), first, first + size);
}

/// A matrix [row][channel] with biases, what a small file stores of it, and the numbers that this means.
struct stored_matrix {
  int channels, rows;
  std::vector<float> values, bias;
  bytes stored;
};

/// Random numbers that the storage has; of sparse ones two thirds are 0.
stored_matrix make(random_floats& next, int channels, int rows, nsk::stored_number numbers, bool sparse) {
  stored_matrix m{channels,
                  rows,
                  std::vector<float>(static_cast<std::size_t>(channels * rows)),
                  next.many(static_cast<std::size_t>(channels)),
                  {}};
  std::vector<float> scale, zero;
  for (int c = 0; c < channels; ++c) {
    scale.push_back(std::fabs(next()) + 0.01f);
    zero.push_back(numbers == nsk::stored_number::centred_byte ? 128 : static_cast<float>(next.between(0, 255)));
  }
  for (int first = 0, p = 0; first < channels; ++p) {
    const int used = std::min(static_cast<int>(nsk::width_of_panel(channels, p)), channels - first);
    append(m.stored, &m.bias[static_cast<std::size_t>(first)], static_cast<std::size_t>(used) * 4);
    if (nsk::heads_of(numbers) > 1)
      append(m.stored, &scale[static_cast<std::size_t>(first)], static_cast<std::size_t>(used) * 4);
    if (nsk::heads_of(numbers) > 2)
      append(m.stored, &zero[static_cast<std::size_t>(first)], static_cast<std::size_t>(used) * 4);
    for (int k = 0; k < rows; ++k) {
      std::vector<std::uint8_t> mask(static_cast<std::size_t>((used + 7) / 8));
      bytes row;
      for (int c = 0; c < used; ++c) {
        float& value = m.values[static_cast<std::size_t>(k * channels + first + c)];
        if (sparse && next.between(0, 2) != 0) continue;
        mask[static_cast<std::size_t>(c / 8)] =
            static_cast<std::uint8_t>(mask[static_cast<std::size_t>(c / 8)] | 1 << c % 8);
        if (numbers == nsk::stored_number::float32) {
          value = next();
          append(row, &value, 4);
        } else if (nsk::size_of(numbers) == 2) {  // whole numbers below 1024 times 2^-10, as bits 5, 10
          const int whole = next.between(512, 1023);
          value = std::ldexp(static_cast<float>(whole), -10);
          const auto half = static_cast<std::uint16_t>(14 << 10 | (whole * 2 - 1024));
          append(row, &half, 2);
          if (nsk::heads_of(numbers) > 1) value *= scale[static_cast<std::size_t>(first + c)];
        } else {
          const auto byte = static_cast<std::uint8_t>(next.between(0, 255));
          value = (static_cast<float>(byte) - zero[static_cast<std::size_t>(first + c)]) *
                  scale[static_cast<std::size_t>(first + c)];
          append(row, &byte, 1);
        }
      }
      if (sparse) append(m.stored, mask.data(), mask.size());
      append(m.stored, row.data(), row.size());
    }
    first += used;
  }
  return m;
}

nsk::small_part part_of(const stored_matrix& m, nsk::part_kind kind, nsk::stored_number numbers, bool sparse) {
  nsk::small_part p{};
  p.kind = kind;
  p.numbers = numbers;
  p.flags = sparse ? 1 : 0;
  p.channels = static_cast<std::uint32_t>(m.channels);
  p.depth = static_cast<std::uint32_t>(kind == nsk::part_kind::panels ? m.rows : m.rows / 9);
  p.stored_bytes = m.stored.size();
  p.bytes = nsk::floats_of(p) * sizeof(float);
  return p;
}

template <nsk::part_kind Kind>
bool expand(const nsk::small_part& p, const bytes& stored, std::vector<float>& to) {
  to.assign(static_cast<std::size_t>(nsk::floats_of(p)), -1.0f);
  nsk::impl::stored_bytes in({stored.data(), stored.size()});
  return nsk::impl::expand_panels<Kind>(p, in, to.data());
}

constexpr nsk::stored_number all_numbers[] = {nsk::stored_number::float32, nsk::stored_number::float16,
                                              nsk::stored_number::byte, nsk::stored_number::centred_byte,
                                              nsk::stored_number::scaled_float16};
constexpr int all_channels[] = {1, 3, 8, 9, 16, 17, 23, 24, 25, 40, 47};

TEST_CASE("expand_panels: rows are those that were stored, and zeros fill the last panel") {
  random_floats next(77);
  for (const nsk::stored_number numbers : all_numbers)
    for (const bool sparse : {false, true})
      for (const int channels : all_channels) {
        const stored_matrix m = make(next, channels, 5, numbers, sparse);
        const nsk::small_part p = part_of(m, nsk::part_kind::panels, numbers, sparse);
        std::vector<float> panels, expected(static_cast<std::size_t>(nsk::panel_floats(channels, 5)));
        std::vector<float> by_channel;
        for (int c = 0; c < channels; ++c)
          for (int k = 0; k < 5; ++k) by_channel.push_back(m.values[static_cast<std::size_t>(k * channels + c)]);
        pack(by_channel.data(), m.bias.data(), channels, 5, expected.data());
        REQUIRE(expand<nsk::part_kind::panels>(p, m.stored, panels));
        CAPTURE(channels);
        CHECK(panels == expected);
      }
}

/// Points of kernels as panels hold them, by the definition of the transform: within one unit in the last place.
template <nsk::part_kind Kind>
void check_winograd(std::initializer_list<nsk::stored_number> kinds, random_floats& next, std::uint64_t& hash) {
  constexpr int inputs = 3, points = Kind == nsk::part_kind::winograd4 ? 36 : 16;
  const auto algorithm = points == 36 ? nsk::conv_algorithm::winograd4 : nsk::conv_algorithm::winograd2;
  for (const nsk::stored_number numbers : kinds)
    for (const bool sparse : {false, true})
      for (const int channels : all_channels) {
        const stored_matrix m = make(next, channels, 9 * inputs, numbers, sparse);
        std::vector<float> panels, taps;  // [tap][input][channel]
        for (int tap = 0; tap < 9; ++tap)
          for (int k = 0; k < inputs; ++k)
            for (int c = 0; c < channels; ++c)
              taps.push_back(m.values[static_cast<std::size_t>((9 * k + tap) * channels + c)]);
        const std::vector<float> wanted =
            test::winograd_matrix(algorithm, taps, static_cast<std::size_t>(inputs * channels));
        REQUIRE(expand<Kind>(part_of(m, Kind, numbers, sparse), m.stored, panels));
        const float* at = panels.data();
        for (std::int64_t p = 0; p < nsk::panel_count(channels); ++p) {
          const auto width = static_cast<int>(nsk::width_of_panel(channels, p));
          const int first = static_cast<int>(p) * nsk::panel_width;
          for (int c = 0; c < width; ++c)
            CHECK(at[c] == (first + c < channels ? m.bias[static_cast<std::size_t>(first + c)] : 0.0f));
          at += width;
          for (int row = 0; row < points * inputs; ++row, at += width)
            for (int c = 0; c < width; ++c) {
              const float exact =
                  first + c < channels ? wanted[static_cast<std::size_t>(row * channels + first + c)] : 0.0f;
              CHECK(std::fabs(at[c] - exact) <= std::fabs(exact) * 0x1p-23f + 1e-13f);
            }
        }
        for (const float x : panels) {
          std::uint32_t word;
          std::memcpy(&word, &x, sizeof word);
          hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
          hash ^= hash >> 29;
        }
      }
}

TEST_CASE("expand_panels: kernels become Winograd's weights, with the same bits everywhere") {
  using nsk::stored_number;
  const auto hash_of = [](std::initializer_list<stored_number> kinds) {
    random_floats next(77);
    std::uint64_t hash = 1;
    check_winograd<nsk::part_kind::winograd4>(kinds, next, hash);
    check_winograd<nsk::part_kind::winograd2>(kinds, next, hash);
    return hash;
  };
  CHECK(hash_of({stored_number::float32, stored_number::float16, stored_number::byte}) == 18415063471826497631u);
  CHECK(hash_of({stored_number::centred_byte, stored_number::scaled_float16}) == 1310302241301212626u);
}

TEST_CASE("expand_panels: one byte less or more is refused") {
  random_floats next(77);
  for (const nsk::stored_number numbers : all_numbers)
    for (const bool sparse : {false, true}) {
      stored_matrix m = make(next, 19, 9, numbers, sparse);
      std::vector<float> panels;
      const nsk::small_part p = part_of(m, nsk::part_kind::panels, numbers, sparse);
      for (std::size_t size = 0; size < m.stored.size(); ++size) {
        const bytes part(m.stored.begin(), m.stored.begin() + static_cast<std::ptrdiff_t>(size));
        CHECK_FALSE(expand<nsk::part_kind::panels>(p, part, panels));
      }
      m.stored.push_back(std::byte{0});
      CHECK_FALSE(expand<nsk::part_kind::panels>(p, m.stored, panels));
    }
}

}
