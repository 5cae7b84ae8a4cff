// SPDX-License-Identifier: MIT
// image_to_tensor against the definition in double precision: formats, regions, fits, edges, rows, maps.
#include <cfenv>
#include <limits>
#include <doctest/doctest.h>
#include "support.hpp"

namespace {

using images::guarded_floats;
using images::owned;

constexpr float pi = 3.14159265f;

nsk::image_settings random_settings(images::random& r, int width, int height) {
  nsk::image_settings how;
  const int reach = 2 * std::max(width, height);
  switch (r.between(0, 3)) {
    case 0: break;
    case 1:
      how.region = {false, r.real(-width, width), r.real(-height, height), r.real(1, reach), r.real(1, reach), 0};
      break;
    default:
      how.region = {false,        r.real(-1, width + 1), r.real(-1, height + 1), r.real(1, reach), r.real(1, reach),
                    r.real(-7, 7)};
  }
  how.fit = r.one_of<nsk::image_fit>(3);
  how.edge = r.one_of<nsk::image_edge>(2);
  how.mirrored = r.coin();
  how.order = r.one_of<nsk::channel_order>(5);
  for (int c = 0; c < 4; ++c) {
    how.fill[c] = r.real(0, 255);
    how.scale.scale[c] = r.real(1, 4) / 256;
    how.scale.offset[c] = r.real(-2, 2);
  }
  return how;
}

std::size_t floats(const nsk::image_settings& how, int height, int width) {
  return static_cast<std::size_t>(height * width * nsk::channel_count(how.order));
}

/// Largest difference in grey levels; differences of more than two levels where rounding decides are forgiven.
double error_in_levels(const nsk::image_view& p, const nsk::image_settings& how, int height, int width,
                       nsk::span<const float> got) {
  const images::expected want = images::tensor_of(p, how, height, width);
  const std::size_t channels = static_cast<std::size_t>(nsk::channel_count(how.order));
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!want.sure[i / channels]) continue;
    const double e = std::fabs(got[i] - want.values[i]) / how.scale.scale[i % channels];
    worst = e > worst || e != e ? e : worst;
  }
  return worst;
}

}  // namespace

TEST_CASE("image_to_tensor: every format, order, region, fit and edge is within a fraction of a grey level") {
  images::random r(1);
  images::digest hash;
  double worst = 0;
  for (int round = 0; round < 600; ++round) {
    CAPTURE(round);
    const int width = r.between(1, 90), height = r.between(1, 60);
    owned image{width, height, static_cast<nsk::pixel_format>(round % 5), r.coin() ? r.between(0, 9) : 0, r.coin()};
    image.fill_random(r);
    const nsk::image_settings how = random_settings(r, width, height);
    const int th = r.between(1, 40), tw = round % 10 == 0 ? r.between(60, 150) : r.between(1, 40);
    guarded_floats tensor(floats(how, th, tw));
    nsk::image_to_tensor(image.view(), how, tensor.span(), th, tw);
    CHECK(tensor.intact());
    const double error = error_in_levels(image.view(), how, th, tw, tensor.span());
    CHECK(error < 0.05);
    worst = std::max(worst, error);
    hash.add(tensor.data(), tensor.bytes());
  }
  MESSAGE("largest error: " << worst << " grey levels");
  CHECK(hash.value() == 12486193393350816492u);
}

TEST_CASE("image_to_tensor: large images lose no precision") {
  images::random r(2);
  for (const bool slanted : {false, true}) {
    owned image(9000, 40, nsk::pixel_format::grey8);
    image.fill_random(r);
    nsk::image_settings how;
    how.order = nsk::channel_order::grey;
    how.region = nsk::image_region::rotated(8000.3f, 20.7f, 1900, 30, slanted ? 0.011f : 0.0f);
    guarded_floats tensor(70 * 1300);
    nsk::image_to_tensor(image.view(), how, tensor.span(), 70, 1300);
    CHECK(error_in_levels(image.view(), how, 70, 1300, tensor.span()) < 0.05);
  }
}

TEST_CASE("image_to_tensor: images of one pixel, row or column") {
  for (int format = 0; format < 5; ++format)
    for (const auto& size : {std::pair<int, int>{1, 1}, {1, 7}, {7, 1}}) {
      images::random r(3);
      owned image(size.first, size.second, static_cast<nsk::pixel_format>(format));
      image.fill_random(r);
      for (int fit = 0; fit < 3; ++fit) {
        nsk::image_settings how;
        how.fit = static_cast<nsk::image_fit>(fit);
        guarded_floats tensor(9 * 5 * 3);
        nsk::image_to_tensor(image.view(), how, tensor.span(), 9, 5);
        CHECK(tensor.intact());
        CHECK(error_in_levels(image.view(), how, 9, 5, tensor.span()) < 0.05);
      }
    }
}

TEST_CASE("image_to_tensor: a frame in a square has bars of whole rows, and boxes come back to the screen") {
  owned frame(1280, 720, nsk::pixel_format::bgra8);
  std::memset(frame.bytes(), 200, frame.size());
  nsk::image_settings how;
  how.fit = nsk::image_fit::letterbox;
  how.scale = nsk::channel_scale::to_symmetric();
  for (float& f : how.fill) f = 114;
  guarded_floats tensor(192 * 192 * 3);
  const nsk::image_map map = nsk::image_to_tensor(frame.view(), how, tensor.span(), 192, 192);
  for (int row = 0; row < 192; ++row) {
    const float want = row >= 42 && row < 150 ? 200 / 127.5f - 1 : 114 / 127.5f - 1;
    for (int i = 0; i < 3 * 192; ++i)
      REQUIRE(tensor.span()[static_cast<std::size_t>(row * 576 + i)] == doctest::Approx(want));
  }
  CHECK(map.to_image(0, 42).x == 0);
  CHECK(map.to_image(0, 42).y == 0);
  CHECK(map.to_image(192, 150).x == 1280);
  CHECK(map.to_image(192, 150).y == 720);
  CHECK(map.to_tensor(640, 360).x == 96);
  CHECK(map.to_tensor(640, 360).y == 96);
}

TEST_CASE("image_to_tensor: an odd bar begins at a whole pixel, so that pixels stay pixels") {
  images::random r(4);
  owned image(10, 7, nsk::pixel_format::rgb8);
  image.fill_random(r);
  nsk::image_settings how;
  how.fit = nsk::image_fit::letterbox;
  how.scale = {};
  guarded_floats tensor(10 * 10 * 3);
  nsk::image_to_tensor(image.view(), how, tensor.span(), 10, 10);
  for (int row = 0; row < 7; ++row)
    for (int i = 0; i < 30; ++i)
      CHECK(tensor.data()[(row + 1) * 30 + i] == static_cast<float>(image.bytes()[row * 30 + i]));
}

TEST_CASE("image_to_tensor: points rendered into an image appear where the map says") {
  constexpr int size = 96;
  double worst = 0;
  for (int k = 0; k < 40; ++k) {
    const float angle = static_cast<float>(k) * 0.37f - 7;
    nsk::image_settings how;
    how.order = nsk::channel_order::grey;
    how.mirrored = k % 2 == 1;
    how.region = nsk::image_region::rotated(150 + static_cast<float>(k), 120, 140, 140, angle);
    const nsk::image_view shape{reinterpret_cast<const std::uint8_t*>(&size), 320, 240, 320, nsk::pixel_format::grey8};
    const nsk::image_map map = nsk::map_image(shape, how, size, size);
    // A disc of five pixels around a point that is at (30, 60) in the tensor.
    const nsk::image_point centre = map.to_image(30, 60);
    owned image(320, 240, nsk::pixel_format::grey8);
    for (int y = 0; y < 240; ++y)
      for (int x = 0; x < 320; ++x)
        if (std::hypot(x + 0.5f - centre.x, y + 0.5f - centre.y) < 5) *image.pixel(x, y) = 255;
    guarded_floats tensor(size * size);
    nsk::image_to_tensor(image.view(), how, tensor.span(), size, size);
    double mass = 0, mx = 0, my = 0;
    for (int y = 0; y < size; ++y)
      for (int x = 0; x < size; ++x) {
        const double v = tensor.data()[y * size + x];
        mass += v;
        mx += v * (x + 0.5);
        my += v * (y + 0.5);
      }
    REQUIRE(mass > 1);
    worst = std::max(worst, std::hypot(mx / mass - 30, my / mass - 60));
  }
  MESSAGE("largest distance: " << worst << " tensor pixels");
  CHECK(worst < 0.5);
}

TEST_CASE(
    "image_to_tensor: a quarter rotation clockwise puts the region's upper left corner at the image's upper right") {
  owned image(40, 30, nsk::pixel_format::grey8);
  *image.pixel(39, 0) = 255;
  nsk::image_settings how;
  how.order = nsk::channel_order::grey;
  how.region = nsk::image_region::rotated(20, 15, 30, 40, pi / 2);
  guarded_floats tensor(40 * 30);
  const nsk::image_map map = nsk::image_to_tensor(image.view(), how, tensor.span(), 40, 30);
  CHECK(tensor.data()[0] == doctest::Approx(1).epsilon(1e-3));
  CHECK(map.to_image(0, 0).x == doctest::Approx(40));
  CHECK(map.to_image(30, 0).y == doctest::Approx(30));
}

TEST_CASE("image_map: both ways are inverse, for any settings") {
  images::random r(5);
  double worst = 0;
  for (int round = 0; round < 2000; ++round) {
    const int width = r.between(1, 4000), height = r.between(1, 3000), tw = r.between(1, 512), th = r.between(1, 512);
    const nsk::image_settings how = random_settings(r, width, height);
    const std::uint8_t pixel = 0;
    const nsk::image_map map = nsk::map_image({&pixel, width, height, width, nsk::pixel_format::grey8}, how, th, tw);
    for (int k = 0; k < 4; ++k) {
      const float x = r.real(0, tw), y = r.real(0, th);
      const nsk::image_point screen = map.to_image(x, y), back = map.to_tensor(screen.x, screen.y);
      // A float on the screen is known to 2^-13 pixels; the tensor may show it enlarged.
      const double zoom = std::hypot(map.tensor_from_image.xx, map.tensor_from_image.xy) +
                          std::hypot(map.tensor_from_image.yx, map.tensor_from_image.yy);
      worst = std::max(worst, std::hypot(back.x - x, back.y - y) / std::max(1.0, 4 * zoom));
    }
  }
  CHECK(worst < 1e-4);
}

TEST_CASE("image_to_tensor: rows computed apart have the same bits") {
  images::random r(6);
  for (int round = 0; round < 40; ++round) {
    owned image{r.between(1, 50), r.between(1, 50), r.one_of<nsk::pixel_format>(5), 3};
    image.fill_random(r);
    const nsk::image_settings how = random_settings(r, 50, 50);
    const int th = r.between(1, 30), tw = r.between(1, 100), cut = r.between(0, th);
    guarded_floats whole(floats(how, th, tw)), parts(floats(how, th, tw));
    nsk::image_to_tensor(image.view(), how, whole.span(), th, tw);
    nsk::image_to_tensor(image.view(), how, parts.span(), th, tw, cut, th);
    const std::size_t before = floats(how, cut, tw);
    for (std::size_t i = 0; i < before; ++i) REQUIRE(!parts.written(i));
    nsk::image_to_tensor(image.view(), how, parts.span(), th, tw, 0, cut);
    CHECK(std::memcmp(whole.data(), parts.data(), whole.bytes()) == 0);
  }
}

TEST_CASE("image_to_tensor: nothing to show gives the fill") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  owned image(8, 8, nsk::pixel_format::rgba8);
  const nsk::image_region regions[] = {
      nsk::image_region::rectangle(0, 0, 0, 5),       nsk::image_region::rectangle(0, 0, 5, -1),
      nsk::image_region::rectangle(nan, 0, 5, 5),     nsk::image_region::rotated(4, 4, infinity, 5, 0),
      nsk::image_region::rotated(4, 4, 5, 5, nan),    nsk::image_region::rotated(4, 4, 5, 5, 1e9f),
      nsk::image_region::rotated(-1e20f, 4, 5, 5, 0), nsk::image_region::rectangle(0, 0, 1e30f, 1e30f)};
  nsk::image_settings how;
  how.fill[0] = 51;
  how.fill[1] = how.fill[2] = 102;
  const auto check = [&](const nsk::image_view& p) {
    guarded_floats tensor(6 * 5 * 3);
    const nsk::image_map map = nsk::image_to_tensor(p, how, tensor.span(), 6, 5);
    CHECK(tensor.intact());
    for (std::size_t i = 0; i < 90; ++i) CHECK(tensor.span()[i] == doctest::Approx(i % 3 == 0 ? 0.2 : 0.4));
    CHECK(map.to_image(3, 4).x == 3);
  };
  for (const nsk::image_region& region : regions) {
    how.region = region;
    check(image.view());
  }
  how.region = {};
  check({});
  check({image.bytes(), 0, 8, 0, nsk::pixel_format::rgba8});
  guarded_floats none(4);
  nsk::image_to_tensor(image.view(), how, {none.data(), 0}, 0, 4);
  CHECK(!none.written(0));
}

TEST_CASE("image_to_tensor: regions and tensors of extreme sizes stay inside their blocks") {
  images::random r(7);
  const float sizes[] = {1e-30f, 1e-3f, 1, 5000, 4194304};
  for (int round = 0; round < 400; ++round) {
    owned image{r.between(1, 5), r.between(1, 5), r.one_of<nsk::pixel_format>(5)};
    nsk::image_settings how = random_settings(r, 5, 5);
    const float centre = r.coin() ? 4194304.0f : 2.0f;
    how.region = nsk::image_region::rotated(r.coin() ? -centre : centre, 3, sizes[r.between(0, 4)],
                                            sizes[r.between(0, 4)], r.coin() ? 0 : r.real(-7, 7));
    const int th = r.coin() ? 1 : r.between(1, 200), tw = r.coin() ? 1 : r.between(1, 200);
    guarded_floats tensor(floats(how, th, tw));
    nsk::image_to_tensor(image.view(), how, tensor.span(), th, tw);
    CHECK(tensor.intact());
  }
}

#if defined(FE_UPWARD)
TEST_CASE("image_to_tensor: the caller's rounding mode changes nothing") {
  images::random r(8);
  owned image(33, 21, nsk::pixel_format::rgba8);
  image.fill_random(r);
  nsk::image_settings how;
  how.region = nsk::image_region::rotated(15, 11, 40, 30, 0.7f);
  guarded_floats usual(64 * 48 * 3), upward(64 * 48 * 3);
  nsk::image_to_tensor(image.view(), how, usual.span(), 48, 64);
  std::fesetround(FE_UPWARD);
  nsk::image_to_tensor(image.view(), how, upward.span(), 48, 64);
  CHECK(std::fegetround() == FE_UPWARD);
  std::fesetround(FE_TONEAREST);
  CHECK(std::memcmp(usual.data(), upward.data(), usual.bytes()) == 0);
}
#endif
