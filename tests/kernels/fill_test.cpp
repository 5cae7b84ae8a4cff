// SPDX-License-Identifier: MIT
// fill: every element type, conversions, layouts, borders, tiles.
#include <netsuke/kernels/elements/fill.hpp>
#include "tail_fixture.hpp"

namespace {

template <class T>
void check_fill(nsk::dtype type, float value, T want) {
  tail::random r(static_cast<std::uint32_t>(type) + 20);
  for (const std::vector<int>& shape :
       std::vector<std::vector<int>>{{1}, {37}, {3, 5}, {2, 5, 7, 3}, {1, 4, 4, 40}, {2, 2, 2, 3, 2, 5}})
    for (int round = 0; round < 4; ++round) {
      tail::layout l =
          tail::random_layout(r, shape.size(), shape.size() >= 3 && type != nsk::dtype::float16 && round % 2 == 0);
      l.type = type;
      l.fill = type == nsk::dtype::boolean ? 1.0f : 5.0f;
      tail::tensor out(shape, l);
      nsk::kernels::fill_args a{{value}, out.view()};
      tail::run_checked(r, out, [&](const nsk::tile_range& t) { nsk::kernels::fill(a, t, nullptr); });
      int wrong = 0;
      oracle::for_each_index(
          shape, [&](const std::vector<int>& i) { wrong += std::memcmp(&out.at<T>(i), &want, sizeof(T)) != 0; });
      CHECK(wrong == 0);
    }
}

}  // namespace

TEST_CASE("fill: every type") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  check_fill<float>(nsk::dtype::float32, -1.25f, -1.25f);
  check_fill<float>(nsk::dtype::float32, -inf, -inf);
  check_fill<std::uint16_t>(nsk::dtype::float16, 1.0f, 0x3c00);
  check_fill<std::int8_t>(nsk::dtype::int8, -3.5f, -4);
  check_fill<std::int8_t>(nsk::dtype::int8, 1000, 127);
  check_fill<std::uint8_t>(nsk::dtype::uint8, 2.5f, 2);
  check_fill<std::uint8_t>(nsk::dtype::uint8, nan, 0);
  check_fill<std::int16_t>(nsk::dtype::int16, -40000, -32768);
  check_fill<std::int32_t>(nsk::dtype::int32, 3e9f, 2147483647);
  check_fill<std::int32_t>(nsk::dtype::int32, -7.5f, -8);
  check_fill<std::int64_t>(nsk::dtype::int64, -5e9f, -5000000000);
  check_fill<std::int64_t>(nsk::dtype::int64, inf, 9223371487098961920);
  check_fill<std::uint8_t>(nsk::dtype::boolean, 0.25f, 1);
  check_fill<std::uint8_t>(nsk::dtype::boolean, 0, 0);
}
