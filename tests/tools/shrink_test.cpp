// SPDX-License-Identifier: MIT
// What small files store: compressed bytes, and panels of the fewest bytes that give back the same numbers.
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <random>
#include <netsuke/model/impl/decompress.hpp>
#include <netsuke/model/impl/expand_panels.hpp>
#include "pack/panels.hpp"
#include "shrink/compress.hpp"
#include "shrink/numbers.hpp"
#include "shrink/prefix_code.hpp"

namespace {
using namespace nsk::tool;
using bytes = std::vector<std::byte>;

bytes expanded(const bytes& block, std::size_t size, std::size_t distance_size = 2) {
  bytes to(size);
  nsk::impl::stored_bytes stored({block.data(), block.size()});
  REQUIRE(nsk::impl::decompress(stored, distance_size, {to.data(), to.size()}));
  return to;
}

TEST_CASE("compress: every length of random, repeated and mixed bytes comes back") {
  std::mt19937 random(3);
  for (std::size_t size = 0; size < 400; ++size)
    for (const unsigned letters : {1u, 2u, 4u, 256u}) {
      bytes original(size);
      for (std::byte& b : original) b = static_cast<std::byte>(random() % letters);
      CHECK(expanded(compress({original.data(), original.size()}), size) == original);
    }
  for (const std::size_t size : {200000u, 1100000u}) {
    bytes far(size);  // copies that are as far away as the format allows, and farther
    for (std::size_t i = 0; i < far.size(); ++i) far[i] = static_cast<std::byte>(i < 40 ? random() : 0);
    for (const std::size_t place : {65534u, 65575u, 131111u, 199960u})
      std::copy_n(far.begin(), 40, far.begin() + place);
    const bytes block = compress({far.data(), far.size()});
    CHECK(block.size() < size / 100);
    CHECK(expanded(block, far.size()) == far);
  }
}

TEST_CASE("compress: distances of three bytes find what is farther than two bytes say") {
  std::mt19937 random(12);
  bytes original(3 * 100000);
  for (std::size_t i = 0; i < original.size(); ++i)
    original[i] = i < 100000 ? static_cast<std::byte>(random()) : original[i - 100000];
  const nsk::span<const std::byte> all(original.data(), original.size());
  const bytes near = compress(all), far = compress(all, 3);
  CHECK(near.size() > original.size());
  CHECK(far.size() < 100000 + 3000);
  CHECK(expanded(near, original.size()) == original);
  CHECK(expanded(far, original.size(), 3) == original);
}

TEST_CASE("prefix_code: any bytes come back, in the fewest bits that twelve allow") {
  std::mt19937 random(13);
  nsk::impl::byte_code code;
  const auto decoded = [&](const bytes& stored, nsk::code_source from) {
    nsk::impl::stored_bytes in({stored.data(), stored.size()});
    REQUIRE(in.begin_codes(from, code));
    bytes to(in.left());
    REQUIRE(in.take(to.data(), to.size() / 2));
    REQUIRE(in.take(to.data() + to.size() / 2, to.size() - to.size() / 2));
    CHECK(in.is_done());
    return to;
  };
  for (int shape = 0; shape < 6; ++shape)
    for (const std::size_t size : {0u, 1u, 7u, 5000u, 100000u}) {
      bytes original(size);  // one value, two, all alike, falling by powers of two, by less, none below a half
      for (std::byte& b : original) {
        const auto number = static_cast<std::uint32_t>(random());
        const unsigned falling = static_cast<unsigned>(std::log2(1.0 + number));
        b = static_cast<std::byte>(shape == 0   ? 7u
                                   : shape == 1 ? number % 2
                                   : shape == 2 ? number
                                   : shape == 3 ? falling
                                   : shape == 4 ? number % 16 * (number >> 8 & 15)
                                                : number % 128 + 128);
      }
      const nsk::span<const std::byte> all(original.data(), original.size());
      const prefix_code own(count_bytes(all));
      const bytes stored = own.encode(all, nsk::code_source::own), next = own.encode(all, nsk::code_source::before);
      CHECK(stored.size() == own.size_of(all, nsk::code_source::own));
      CHECK(next.size() == own.size_of(all, nsk::code_source::before));
      CHECK(stored.size() == next.size() + nsk::code_lengths_bytes);
      CHECK(decoded(stored, nsk::code_source::own) == original);
      CHECK(decoded(next, nsk::code_source::before) == original);
      if (shape == 2) CHECK(next.size() <= size + 8 + size / 100);
      if (shape == 1) CHECK(next.size() == (size + 7) / 8 + 8);
    }
}

/// Panels of `channels` columns and `depth` rows of what `weight` gives.
template <class Weight>
std::vector<float> panels_of(std::int64_t channels, std::int64_t depth, Weight&& weight) {
  std::vector<float> packed;
  pack_panels(packed, channels, depth, weight, [](std::int64_t n) { return 0.1f * static_cast<float>(n) - 1; });
  return packed;
}

nsk::small_part slice_of_panels(std::int64_t channels, std::int64_t depth) {
  nsk::small_part p{};
  p.kind = nsk::part_kind::panels;
  p.channels = static_cast<std::uint32_t>(channels);
  p.depth = static_cast<std::uint32_t>(depth);
  return p;
}

/// How panels are stored. Fails where they do not come back bit by bit.
nsk::small_part stored(const std::vector<float>& panels, std::int64_t channels, std::int64_t depth) {
  nsk::small_part p = slice_of_panels(channels, depth);
  bytes to;
  store_panels(panels.data(), channels, depth, p, to);
  CHECK(p.stored_bytes == to.size());
  std::vector<float> back(panels.size(), -1.0f);
  nsk::impl::stored_bytes in({to.data(), to.size()});
  REQUIRE(nsk::impl::expand_panels<nsk::part_kind::panels>(p, in, back.data()));
  CHECK(std::memcmp(back.data(), panels.data(), panels.size() * sizeof(float)) == 0);
  return p;
}

constexpr std::int64_t channels = 19, depth = 30;

TEST_CASE("store_panels: numbers of float16 take two bytes") {
  std::mt19937 random(4);
  const auto half = [&](std::int64_t, std::int64_t) {
    return std::ldexp(static_cast<float>(random() % 2047) - 1023, static_cast<int>(random() % 12) - 20);
  };
  const nsk::small_part p = stored(panels_of(channels, depth, half), channels, depth);
  CHECK(p.numbers == nsk::stored_number::float16);
  CHECK_FALSE(nsk::is_sparse(p));
  CHECK(p.stored_bytes == channels * 4 + channels * depth * 2);
}

TEST_CASE("store_panels: numbers of float16 times a power of two for each channel take two bytes and a scale") {
  std::mt19937 random(14);
  const auto scaled = [&](std::int64_t k, std::int64_t n) {
    const int half = k == 0 ? 2046 : static_cast<int>(random() % 2047) - 1023;
    return std::ldexp(static_cast<float>(half),
                      static_cast<int>(random() % 12) * (k == 0 ? 0 : 1) - 11 - 3 * static_cast<int>(n));
  };
  const nsk::small_part p = stored(panels_of(channels, depth, scaled), channels, depth);
  CHECK(p.numbers == nsk::stored_number::scaled_float16);
  CHECK(p.stored_bytes == channels * 8 + channels * depth * 2);
}

TEST_CASE("store_panels: codes that end before all rows, or go on behind them, are refused") {
  std::mt19937 random(15);
  const auto byte = [&](std::int64_t, std::int64_t) { return static_cast<float>(random() % 16) - 8; };
  const std::vector<float> panels = panels_of(channels, depth, byte);
  nsk::small_part p = slice_of_panels(channels, depth);
  bytes plain;
  store_panels(panels.data(), channels, depth, p, plain);
  const auto expands = [&](const bytes& from) {
    const nsk::span<const std::byte> all(from.data(), from.size());
    const bytes codes = prefix_code(count_bytes(all)).encode(all, nsk::code_source::own);
    bool any = false;
    for (std::size_t size = 0; size <= codes.size(); ++size) {
      const bytes part(codes.begin(), codes.begin() + static_cast<std::ptrdiff_t>(size));
      nsk::impl::byte_code code;
      nsk::impl::stored_bytes in({part.data(), part.size()});
      std::vector<float> back(panels.size());
      const bool done = in.begin_codes(nsk::code_source::own, code) &&
                        nsk::impl::expand_panels<nsk::part_kind::panels>(p, in, back.data());
      CHECK((size == codes.size() || !done));
      any = any || done;
    }
    return any;
  };
  CHECK(expands(plain));
  bytes other = plain;
  other.pop_back();
  CHECK_FALSE(expands(other));
  other.resize(plain.size() + 1);
  CHECK_FALSE(expands(other));
}

TEST_CASE("store_panels: multiples of a scale for each channel take one") {
  std::mt19937 random(5);
  for (const int zero : {0, 100, 128, 255}) {
    const auto byte = [&](std::int64_t, std::int64_t n) {
      const float scale = 0.0137f / static_cast<float>(n + 3);
      return (static_cast<float>(random() % 256) - static_cast<float>(zero)) * scale;
    };
    const nsk::small_part p = stored(panels_of(channels, depth, byte), channels, depth);
    CHECK(p.numbers == (zero == 128 ? nsk::stored_number::centred_byte : nsk::stored_number::byte));
    CHECK(p.stored_bytes == channels * (zero == 128 ? 8 : 12) + channels * depth);
  }
  const auto wide = [&](std::int64_t k, std::int64_t) {
    return 0.0137f * static_cast<float>(k == 0 ? 300 : random() % 200);
  };
  CHECK(stored(panels_of(channels, depth, wide), channels, depth).numbers == nsk::stored_number::float32);
}

TEST_CASE("store_panels: zeros take a bit where there are many") {
  std::mt19937 random(6);
  const auto sparse = [&](std::int64_t, std::int64_t) {
    return random() % 4 != 0 ? 0.0f : static_cast<float>(random()) * 1e-9f + 1e-12f;
  };
  CHECK(stored(panels_of(channels, depth, sparse), channels, depth).flags == 1);
}

TEST_CASE("store_panels: numbers that nothing narrower has stay as they are") {
  std::mt19937 random(7);
  const float strange[] = {-0.0f,
                           std::numeric_limits<float>::quiet_NaN(),
                           std::numeric_limits<float>::infinity(),
                           std::numeric_limits<float>::denorm_min(),
                           65520.0f,
                           1e30f,
                           0x1p-25f};
  for (const float x : strange) {
    const auto one = [&](std::int64_t k, std::int64_t n) { return k == 3 && n == 7 ? x : 0.5f; };
    stored(panels_of(channels, depth, one), channels, depth);
    const auto alone = [&](std::int64_t, std::int64_t) { return x; };
    stored(panels_of(channels, depth, alone), channels, depth);
    const auto mixed = [&](std::int64_t k, std::int64_t n) {
      return k == 3 && n == 7 ? x : static_cast<float>(random() % 100) * 0.01f;
    };
    stored(panels_of(channels, depth, mixed), channels, depth);
  }
}

TEST_CASE("store_panels: matrices of one row or channel") {
  std::mt19937 random(8);
  const auto any = [&](std::int64_t, std::int64_t) { return static_cast<float>(random()) * 1e-9f; };
  for (const std::int64_t c : {1, 7, 8, 15, 16, 17, 24, 25, 31, 33})
    for (const std::int64_t d : {0, 1, 2}) stored(panels_of(c, d, any), c, d);
}

}
