// SPDX-License-Identifier: MIT
// sample_image: groups, layouts, channels around a vector, positions at and beyond the edges, NaN, tiles; against the
// four pixels around each position in double precision.
#include <cmath>
#include <limits>
#include <netsuke/kernels/images/sample_image.hpp>
#include "tail_fixture.hpp"

namespace {

struct image_sampling {
  int images, height, width, groups, channels, outer, inner;
  std::vector<int> image() const { return {images, height, width, groups, channels}; }
  std::vector<int> places() const { return {images, outer, inner, groups}; }
  std::vector<int> output() const { return {images, outer, inner, groups, channels}; }
};

/// The last dimension innermost, the others in any order.
tail::layout sample_layout(tail::random& r) {
  tail::layout l = tail::random_layout(r, 4, false);
  l.order.push_back(4);
  l.gap = 0;
  return l;
}

/// The weight of pixel `i` for a position that has been clamped: 1 at the pixel, 0 at the next ones.
double share_of_pixel(double position, int i) { return std::max(0.0, 1 - std::abs(position - i)); }

/// NaN is as far outside as -1.
double clamped_position(double position, int length) {
  return std::isnan(position) ? -1 : std::min(std::max(position, -1.0), static_cast<double>(length));
}

struct sampled_tensors {
  tail::tensor image, rows, columns, factors, output;

  sampled_tensors(tail::random& r, const image_sampling& s)
      : image(s.image(), sample_layout(r)),
        rows(s.places(), tail::typed_layout(r, 4, nsk::dtype::float32)),
        columns(s.places(), tail::typed_layout(r, 4, nsk::dtype::float32)),
        factors(s.places(), tail::typed_layout(r, 4, nsk::dtype::float32)),
        output(s.output(), sample_layout(r)) {
    image.fill_random(r, 1);
    factors.fill_random(r, 2);
    oracle::for_each_index(s.places(), [&](const std::vector<int>& i) {
      rows.at<float>(i) = position(r, s.height);
      columns.at<float>(i) = position(r, s.width);
    });
  }
  nsk::kernels::sample_image_args arguments() const {
    return {{}, image.view(), rows.view(), columns.view(), factors.view(), output.view()};
  }
  double expected(const image_sampling& s, const std::vector<int>& i) {
    const std::vector<int> place(i.begin(), i.end() - 1);
    const double row = clamped_position(static_cast<double>(rows.at<float>(place)), s.height),
                 column = clamped_position(static_cast<double>(columns.at<float>(place)), s.width);
    double sum = 0;
    for (int y = 0; y < s.height; ++y)
      for (int x = 0; x < s.width; ++x)
        sum += share_of_pixel(row, y) * share_of_pixel(column, x) *
               static_cast<double>(image.at<float>({i[0], y, x, i[3], i[4]}));
    return sum * static_cast<double>(factors.at<float>(place));
  }

 private:
  /// Anywhere in an image and around it, on whole pixels, far away, or NaN.
  static float position(tail::random& r, int length) {
    switch (r.below(8)) {
      case 0: return static_cast<float>(r.between(-2, length + 1));
      case 1: return r.coin() ? 1e30f : -std::numeric_limits<float>::infinity();
      case 2: return std::numeric_limits<float>::quiet_NaN();
      default: return r.real(static_cast<float>(length) * 0.75f + 1) + static_cast<float>(length) * 0.5f;
    }
  }
};

void check_samples(tail::random& r, const image_sampling& s) {
  sampled_tensors t(r, s);
  const nsk::kernels::sample_image_args a = t.arguments();
  tail::run_checked(r, t.output, [&](const nsk::tile_range& range) { nsk::kernels::sample_image(a, range, nullptr); });
  oracle::array want(s.output());
  oracle::for_each_index(s.output(), [&](const std::vector<int>& i) { want(i) = t.expected(s, i); });
  tail::check_close(t.output, want, 16, 2);
}

}  // namespace

TEST_CASE("sample_image: images, groups, channels around a vector, tiles") {
  tail::random r(91);
  for (const int channels : {1, 3, 4, 8, 15, 16, 17, 33, 40})
    for (const int groups : {1, 3})
      check_samples(
          r, {r.between(1, 2), r.between(1, 6), r.between(1, 7), groups, channels, r.between(1, 25), r.between(1, 9)});
}

TEST_CASE("sample_image: one pixel, one row, one place") {
  tail::random r(92);
  check_samples(r, {1, 1, 1, 1, 5, 4, 9});
  check_samples(r, {2, 1, 9, 2, 2, 3, 5});
  check_samples(r, {1, 9, 1, 1, 16, 1, 1});
  check_samples(r, {2, 5, 6, 2, 3, 150, 2});
}

TEST_CASE("sample_image: one factor for all places") {
  tail::random r(93);
  const image_sampling s{2, 5, 6, 2, 19, 3, 4};
  sampled_tensors t(r, s);
  oracle::for_each_index(s.places(), [&](const std::vector<int>& i) { t.factors.at<float>(i) = 0.5f; });
  nsk::kernels::sample_image_args a = t.arguments();
  for (int d = 0; d < 4; ++d) a.factors.stride[d] = 0;
  nsk::kernels::sample_image(a, tail::whole(t.output.view()), nullptr);
  oracle::array want(s.output());
  oracle::for_each_index(s.output(), [&](const std::vector<int>& i) { want(i) = t.expected(s, i); });
  tail::check_close(t.output, want, 16, 2);
}
