// SPDX-License-Identifier: MIT
// dynamic_range and dynamic_quantize: layouts, one sign, zeros, equal numbers, special numbers, tiles.
#include <netsuke/kernels/int8/dynamic_quantize.hpp>
#include "tail_fixture.hpp"

namespace {

/// What ONNX says of DynamicQuantizeLinear, NaN left out.
struct wanted {
  float scale = 1, zero = 0;

  explicit wanted(tail::tensor& t, const std::vector<int>& shape) {
    float low = 0, high = 0;
    oracle::for_each_index(shape, [&](const std::vector<int>& i) {
      const float x = t.at<float>(i);
      if (x < low) low = x;
      if (x > high) high = x;
    });
    if (high > low) scale = (high - low) / 255.0f;
    const double units = std::nearbyint(static_cast<double>((0.0f - low) / scale));
    zero = units > 0 ? static_cast<float>(std::min(units, 255.0)) : 0;
  }
  int byte(float x) const {
    const float units = x / scale;
    if (std::isnan(units)) return 0;
    const double y = std::nearbyint(static_cast<double>(units)) + static_cast<double>(zero);
    return static_cast<int>(y < 0 ? 0 : y > 255 ? 255 : y);
  }
};

void check(tail::random& r, const std::vector<int>& shape, const std::function<float()>& number) {
  tail::tensor in(shape, tail::typed_layout(r, shape.size(), nsk::dtype::float32)),
      out(shape, tail::typed_layout(r, shape.size(), nsk::dtype::uint8)), range({2}, {});
  oracle::for_each_index(shape, [&](const std::vector<int>& i) { in.at<float>(i) = number(); });
  nsk::kernels::dynamic_range({in.view(), range.view()}, tail::whole(range.view()), nullptr);
  const wanted want(in, shape);
  CHECK(range.at<float>({0}) == want.scale);
  CHECK(range.at<float>({1}) == want.zero);
  const nsk::kernels::dynamic_quantize_args a{in.view(), out.view(), &range.at<float>({0}), &range.at<float>({1})};
  tail::run_checked(r, out, [&](const nsk::tile_range& t) { nsk::kernels::dynamic_quantize(a, t, nullptr); });
  int wrong = 0;
  oracle::for_each_index(
      shape, [&](const std::vector<int>& i) { wrong += int{out.at<std::uint8_t>(i)} != want.byte(in.at<float>(i)); });
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("dynamic_range, dynamic_quantize: every layout, both signs and one") {
  tail::random r(81);
  for (const std::vector<int>& shape :
       std::vector<std::vector<int>>{{1}, {15}, {16}, {17}, {300}, {7, 33}, {2, 3, 5, 9}, {2, 2, 3, 2, 17}}) {
    check(r, shape, [&] { return r.real(3); });
    check(r, shape, [&] { return std::abs(r.real(3)); });
    check(r, shape, [&] { return -std::abs(r.real(1e-3f)); });
    check(r, shape, [&] { return r.below(5) == 0 ? std::nanf("") : r.real(2); });
    for (const float all : {0.0f, -0.0f, 2.5f, -1.25f, 1e-40f, 3e38f}) check(r, shape, [&] { return all; });
  }
}
