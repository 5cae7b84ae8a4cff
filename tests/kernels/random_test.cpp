// SPDX-License-Identifier: MIT
// Random numbers: the generator against its authors' known answers, each kind against double precision and its
// distribution; elements that do not depend on tiles, layout or the rows beside them.
#include <netsuke/kernels/elements/random.hpp>
#include "tail_fixture.hpp"

namespace {

using nsk::random_kind;
using nsk::kernels::impl::philox;

nsk::kernels::random_args args_of(tail::tensor& out, random_kind kind, nsk::random_source source = {}) {
  return {{kind, 1, 0, 5}, out.view(), source};
}

void sample_whole(tail::tensor& out, random_kind kind, nsk::random_source source = {}) {
  nsk::kernels::random(args_of(out, kind, source), tail::whole(out.view()), nullptr);
}

/// The number of an element, from the words of its block, in double precision.
double wanted(random_kind kind, const nsk::random_source& source, int row, int place) {
  const auto block = philox(
      {{static_cast<std::uint32_t>(place / 4), source.first_row + static_cast<std::uint32_t>(row), 5, source.run}},
      source.key);
  const std::uint32_t word = block.word[place % 4];
  if (kind == random_kind::uniform) return (word >> 8) / 16777216.0;
  if (kind == random_kind::gumbel) return -std::log(-std::log(((word >> 9) + 0.5) / 8388608.0));
  const double u = ((block.word[place % 4 / 2 * 2] >> 8) + 1) / 16777216.0,
               angle = 2 * std::acos(-1.0) * ((block.word[place % 4 / 2 * 2 + 1] >> 8) / 16777216.0);
  return std::sqrt(-2 * std::log(u)) * (place % 2 == 0 ? std::cos(angle) : std::sin(angle));
}

}

TEST_CASE("philox: the known answers of its authors") {
  const auto is = [](nsk::kernels::impl::philox_block counter, std::uint64_t key, std::uint32_t a, std::uint32_t b,
                     std::uint32_t c, std::uint32_t d) {
    const auto r = philox(counter, key);
    return r.word[0] == a && r.word[1] == b && r.word[2] == c && r.word[3] == d;
  };
  constexpr std::uint32_t ones = 0xffffffffu;
  CHECK(is({{0, 0, 0, 0}}, 0, 0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u));
  CHECK(is({{ones, ones, ones, ones}}, ~std::uint64_t{0}, 0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu));
  CHECK(is({{0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}}, 0x299f31d0a4093822u, 0xd16cfe09u, 0x94fdcceb,
           0x5001e420u, 0x24126ea1u));
}

TEST_CASE("random: every kind against double precision; layouts, tiles, ranks") {
  tail::random r(41);
  tail::digest hash;
  const nsk::random_source source{0x123456789abcdef0u, 3, 7};
  for (const random_kind kind : {random_kind::uniform, random_kind::normal, random_kind::gumbel})
    for (const std::vector<int>& shape : {std::vector<int>{1},
                                          {70},
                                          {1, 1},
                                          {3, 2},
                                          {5, 7},
                                          {2, 130},
                                          {40, 1},
                                          {2, 3, 5},
                                          {3, 4, 2, 9},
                                          {2, 3, 1, 2, 5}}) {
      tail::tensor out(shape, tail::random_layout(r, shape.size(), false));
      nsk::kernels::random_args a = args_of(out, kind, source);
      a.scale = 1.5f;
      a.offset = -0.25f;
      tail::run_checked(r, out, [&](const nsk::tile_range& t) { nsk::kernels::random(a, t, nullptr); });
      oracle::array want(shape);
      int per_row = 1;
      for (std::size_t d = 1; d < shape.size(); ++d) per_row *= shape[d];
      int element = 0;
      oracle::for_each_index(shape, [&](const std::vector<int>& i) {
        want(i) = -0.25 + 1.5 * wanted(kind, source, element / per_row, element % per_row);
        ++element;
      });
      tail::check_close(out, want, 6, 4);
      hash.add(out);
    }
  CHECK(hash.value() == 4689719329377715932u);
}

TEST_CASE("random: a row has the same numbers alone and in a batch") {
  for (const random_kind kind : {random_kind::uniform, random_kind::normal, random_kind::gumbel}) {
    tail::tensor all({9, 6}, {});
    sample_whole(all, kind, {11, 2, 100});
    for (int row = 0; row < 9; ++row) {
      tail::tensor one({1, 6}, {});
      sample_whole(one, kind, {11, 2, 100 + static_cast<std::uint32_t>(row)});
      for (int c = 0; c < 6; ++c) CHECK(one.at<float>({0, c}) == all.at<float>({row, c}));
    }
  }
}

TEST_CASE("random: another key, run or stream gives other numbers") {
  tail::tensor first({1, 64}, {}), second({1, 64}, {});
  sample_whole(first, random_kind::uniform, {1, 0, 0});
  const auto differs = [&](const nsk::random_source& source, std::uint32_t stream) {
    nsk::kernels::random_args a = args_of(second, random_kind::uniform, source);
    a.stream = stream;
    nsk::kernels::random(a, tail::whole(second.view()), nullptr);
    int different = 0;
    for (int c = 0; c < 64; ++c) different += first.at<float>({0, c}) != second.at<float>({0, c});
    return different > 60;
  };
  CHECK_FALSE(differs({1, 0, 0}, 5));
  CHECK(differs({2, 0, 0}, 5));
  CHECK(differs({std::uint64_t{1} << 32, 0, 0}, 5));
  CHECK(differs({1, 1, 0}, 5));
  CHECK(differs({1, 0, 1}, 5));
  CHECK(differs({1, 0, 0}, 6));
}

TEST_CASE("random: moments, range, and neighbours that do not know of each other") {
  constexpr int count = 1 << 16;
  struct moments {
    random_kind kind;
    double mean, variance, minimum, maximum;
  };
  for (const moments& m :
       {moments{random_kind::uniform, 0.5, 1.0 / 12, 0, 1 - 0x1p-24}, moments{random_kind::normal, 0, 1, -5.8, 5.8},
        moments{random_kind::gumbel, 0.5772156649, 1.6449340668, -2.9, 16.7}}) {
    tail::tensor out({1, count}, {});
    sample_whole(out, m.kind, {77, 0, 0});
    double sum = 0, square = 0, neighbours = 0, last = m.mean;
    bool inside = true;
    for (int i = 0; i < count; ++i) {
      const double x = static_cast<double>(out.at<float>({0, i}));
      sum += x;
      square += (x - m.mean) * (x - m.mean);
      neighbours += (x - m.mean) * (last - m.mean);
      last = x;
      inside = inside && x >= m.minimum && x <= m.maximum;
    }
    CHECK(inside);
    CHECK(std::fabs(sum / count - m.mean) < 5 * std::sqrt(m.variance / count));
    CHECK(std::fabs(square / count - m.variance) < 0.04 * m.variance);
    CHECK(std::fabs(neighbours / count) < 5 * m.variance / std::sqrt(count));
  }
}
