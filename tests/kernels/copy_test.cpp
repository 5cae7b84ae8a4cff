// SPDX-License-Identifier: MIT
// copy: all element sizes, permutations, slices by negative strides, broadcasts, borders, tiles; exact.
#include <netsuke/kernels/elements/copy.hpp>
#include "tail_fixture.hpp"

namespace {

template <class T>
void fill_numbers(tail::tensor& t) {
  std::uint64_t n = 1;
  oracle::for_each_index(
      t.shape(), [&](const std::vector<int>& i) { t.at<T>(i) = static_cast<T>(n++ * 0x9e3779b97f4a7c15u >> 24); });
}
template <class T>
T value(const nsk::tensor_view& v, const std::vector<int>& i) {
  std::ptrdiff_t o = 0;
  for (std::size_t d = 0; d < i.size(); ++d) o += i[d] * v.stride[d];
  return v.as<T>()[o];
}

template <class T>
void check_copies(nsk::dtype type, std::uint32_t seed) {
  const std::vector<std::vector<int>> shapes = {{1},
                                                {17},
                                                {1000},
                                                {3, 5},
                                                {40, 24},
                                                {9, 8},
                                                {64, 3},
                                                {3, 64},
                                                {2, 9, 11, 3},
                                                {1, 3, 21, 40},
                                                {2, 8, 16, 8},
                                                {1, 17, 5, 33},
                                                {2, 2, 3, 4, 5},
                                                {2, 3, 2, 4, 3, 5},
                                                {1, 6, 2, 6, 2, 4},
                                                {1, 1, 1, 1, 1, 1}};
  tail::random r(seed);
  for (int round = 0; round < 6; ++round)
    for (const std::vector<int>& shape : shapes) {
      const bool image = shape.size() >= 3 && round % 3 == 0;
      tail::layout li = tail::random_layout(r, shape.size(), false), lo = tail::random_layout(r, shape.size(), image);
      if (r.coin()) li.gap = 0;
      if (r.coin()) lo.gap = 0;
      li.type = lo.type = type;
      lo.fill = 7;
      tail::tensor in(shape, li), out(shape, lo);
      fill_numbers<T>(in);
      nsk::kernels::copy_args a{in.view(), out.view()};
      for (int d = 0; d < a.input.rank; ++d) {
        const int kind = r.below(6);
        if (kind == 0) a.input.stride[d] = 0;
        if (kind == 1) {
          a.input.data += (a.input.shape[d] - 1) * a.input.stride[d] * static_cast<std::ptrdiff_t>(sizeof(T));
          a.input.stride[d] = -a.input.stride[d];
        }
      }
      CAPTURE(round);
      CAPTURE(shape.size());
      tail::run_checked(r, out, [&](const nsk::tile_range& t) { nsk::kernels::copy(a, t, nullptr); });
      int wrong = 0;
      oracle::for_each_index(shape, [&](const std::vector<int>& i) { wrong += out.at<T>(i) != value<T>(a.input, i); });
      CHECK(wrong == 0);
    }
}

}  // namespace

TEST_CASE("copy: 4-byte elements") { check_copies<std::int32_t>(nsk::dtype::int32, 10); }
TEST_CASE("copy: 4-byte elements again") { check_copies<std::int32_t>(nsk::dtype::int32, 11); }
TEST_CASE("copy: 1-byte elements") { check_copies<std::uint8_t>(nsk::dtype::uint8, 12); }
TEST_CASE("copy: 2-byte elements") { check_copies<std::int16_t>(nsk::dtype::int16, 13); }
TEST_CASE("copy: 8-byte elements") { check_copies<std::int64_t>(nsk::dtype::int64, 14); }

TEST_CASE("copy: images between planes and pixels, every small size, in bits") {
  tail::random r(15);
  for (int channels = 1; channels <= 20; ++channels)
    for (int pixels : {1, 2, 7, 8, 9, 15, 16, 17, 31, 33}) {
      tail::layout planes, plain;
      planes.order = {0, 3, 1, 2};
      planes.shift = r.below(16);
      plain.shift = r.below(16);
      const std::vector<int> shape{2, 3, pixels, channels};
      for (bool back : {false, true}) {
        tail::tensor in(shape, back ? plain : planes), out(shape, back ? planes : plain);
        oracle::for_each_index(
            shape, [&](const std::vector<int>& i) { in.at<std::uint32_t>(i) = r.bits(); });  // NaNs of any payload too
        nsk::kernels::copy_args a{in.view(), out.view()};
        tail::run_checked(r, out, [&](const nsk::tile_range& t) { nsk::kernels::copy(a, t, nullptr); });
        int wrong = 0;
        oracle::for_each_index(
            shape, [&](const std::vector<int>& i) { wrong += out.at<std::uint32_t>(i) != in.at<std::uint32_t>(i); });
        CAPTURE(channels);
        CAPTURE(pixels);
        CHECK(wrong == 0);
      }
    }
}

TEST_CASE("copy: two planes of bytes to pairs, every length") {
  tail::random r(16);
  for (int pixels = 1; pixels <= 70; ++pixels) {
    tail::layout planes, plain;
    planes.order = {0, 3, 1, 2};
    planes.shift = r.below(16);
    plain.shift = r.below(16);
    planes.type = plain.type = nsk::dtype::uint8;
    const std::vector<int> shape{2, 3, pixels, 2};
    tail::tensor in(shape, planes), out(shape, plain);
    fill_numbers<std::uint8_t>(in);
    nsk::kernels::copy_args a{in.view(), out.view()};
    tail::run_checked(r, out, [&](const nsk::tile_range& t) { nsk::kernels::copy(a, t, nullptr); });
    int wrong = 0;
    oracle::for_each_index(
        shape, [&](const std::vector<int>& i) { wrong += out.at<std::uint8_t>(i) != in.at<std::uint8_t>(i); });
    CAPTURE(pixels);
    CHECK(wrong == 0);
  }
}

TEST_CASE("copy: depth to space of few channels, every number of pixels, channels of a pixel in either order") {
  tail::random r(17);
  for (const int channels : {1, 2, 3, 4, 5})
    for (const int side : {2, 3})
      for (const int pixels : {1, 2, 15, 16, 17, 18, 40}) {
        const std::vector<int> shape{2, side, pixels, side, channels};
        tail::layout plain, depth;
        depth.order = {0, 2, 1, 3, 4};  // [row, pixel, up, across, channel], and [row, pixel, channel, up, across]
        if (r.coin()) depth.order = {0, 2, 4, 1, 3};
        plain.shift = r.below(16);
        depth.shift = r.below(16);
        tail::tensor in(shape, depth), out(shape, plain);
        fill_numbers<std::int32_t>(in);
        nsk::kernels::copy_args a{in.view(), out.view()};
        tail::run_checked(r, out, [&](const nsk::tile_range& t) { nsk::kernels::copy(a, t, nullptr); });
        int wrong = 0;
        oracle::for_each_index(
            shape, [&](const std::vector<int>& i) { wrong += out.at<std::int32_t>(i) != in.at<std::int32_t>(i); });
        CAPTURE(channels);
        CAPTURE(side);
        CAPTURE(pixels);
        CHECK(wrong == 0);
      }
}
