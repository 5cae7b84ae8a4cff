// SPDX-License-Identifier: MIT
// tensor_to_image against the definition in double precision, and round trips with image_to_tensor.
#include <limits>
#include <doctest/doctest.h>
#include "support.hpp"

namespace {

using images::owned;

int clamped_round(double level) {
  return level == level ? static_cast<int>(std::nearbyint(std::clamp(level, 0.0, 255.0))) : 0;
}

/// True where a level is so near a half that a float's rounding may decide.
bool near_half(double level) { return std::fabs(level - std::floor(level) - 0.5) < 1e-4; }

/// Compares every byte of the image with the definition; `before` is what it held.
bool as_defined(const std::vector<float>& tensor, const nsk::tensor_settings& how, owned& image, owned& before) {
  const nsk::image_view p = image.view();
  const char *have = images::letters(how.order), *want = images::letters(p.format);
  const int channels = nsk::channel_count(how.order), bytes = nsk::pixel_bytes(p.format);
  bool good = true;
  for (int y = 0; y < p.height; ++y)
    for (int x = 0; x < p.width; ++x) {
      double color[4];
      for (int c = 0; c < channels; ++c) {
        const float value = tensor[static_cast<std::size_t>((y * p.width + x) * channels + c)];
        const double level = static_cast<double>(value) * how.scale.scale[c] + how.scale.offset[c];
        color[c] = level == level ? std::clamp(level, 0.0, 255.0) : 0;
      }
      for (int c = 0; c < bytes; ++c) {
        const bool kept = want[c] == 'a' && channels != 4 && how.alpha == nsk::image_alpha::keep;
        const double level = kept ? *(before.pixel(x, y) + c) : images::channel_of(color, have, want[c]);
        const int got = *(image.pixel(x, y) + c);
        good = good && (got == clamped_round(level) || (near_half(level) && std::abs(got - level) < 0.501));
      }
    }
  return good;
}

}  // namespace

TEST_CASE("tensor_to_image: every order and format, strides, clamping") {
  images::random r(11);
  images::digest hash;
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    const int width = round % 9 == 0 ? r.between(60, 200) : r.between(1, 30), height = r.between(1, 9),
              gap = r.coin() ? r.between(0, 7) : 0;
    const bool bottom_up = r.coin();
    const auto format = static_cast<nsk::pixel_format>(round % 5);
    owned image(width, height, format, gap, bottom_up), before(width, height, format, gap, bottom_up);
    image.fill_random(r);
    std::memcpy(before.bytes(), image.bytes(), image.size());
    nsk::tensor_settings how;
    how.order = r.one_of<nsk::channel_order>(5);
    how.alpha = r.one_of<nsk::image_alpha>(2);
    how.scale = r.coin() ? nsk::channel_scale::from_unit() : nsk::channel_scale::from_symmetric();
    std::vector<float> tensor(static_cast<std::size_t>(width * height * nsk::channel_count(how.order)));
    for (float& f : tensor) f = r.real(-2, 2) + r.real(0, 1) / 255;
    tensor[0] = std::numeric_limits<float>::quiet_NaN();
    tensor.back() = r.coin() ? std::numeric_limits<float>::infinity() : -std::numeric_limits<float>::infinity();
    nsk::tensor_to_image(tensor, how, image.target());
    CHECK(as_defined(tensor, how, image, before));
    for (int y = 0; y + 1 < height; ++y)
      for (int i = 0; i < gap; ++i) {
        const std::size_t at = static_cast<std::size_t>(y * (width * nsk::pixel_bytes(format) + gap) +
                                                        width * nsk::pixel_bytes(format) + i);
        CHECK(image.bytes()[at] == before.bytes()[at]);
      }
    hash.add(image.bytes(), image.size());
  }
  CHECK(hash.value() == 6940776243792944641u);
}

TEST_CASE("tensor_to_image: halves go to the even level") {
  const float halves[] = {0.5f, 1.5f, 2.5f, 253.5f, 254.5f, 255.5f, -0.5f, 0.49999997f};
  const int want[] = {0, 2, 2, 254, 254, 255, 0, 0};
  owned image(8, 1, nsk::pixel_format::grey8);
  nsk::tensor_settings how;
  how.order = nsk::channel_order::grey;
  how.scale = {};
  nsk::tensor_to_image({halves, 8}, how, image.target());
  for (int i = 0; i < 8; ++i) CHECK(*image.pixel(i, 0) == want[i]);
}

TEST_CASE("tensor_to_image: rows apart are the rows of the whole") {
  images::random r(12);
  std::vector<float> tensor(70 * 9 * 3);
  for (float& f : tensor) f = r.real(0, 1);
  owned whole(70, 9, nsk::pixel_format::bgra8, 5), parts(70, 9, nsk::pixel_format::bgra8, 5);
  nsk::tensor_to_image(tensor, {}, whole.target());
  nsk::tensor_to_image(tensor, {}, parts.target(), 4, 9);
  CHECK(*parts.pixel(0, 3) == 0);
  CHECK(*(parts.pixel(0, 3) + 3) == 0);
  nsk::tensor_to_image(tensor, {}, parts.target(), 0, 4);
  CHECK(std::memcmp(whole.bytes(), parts.bytes(), whole.size()) == 0);
}

TEST_CASE("round trip: levels come back exactly, through every common range and format") {
  const float mean[3] = {0.485f, 0.456f, 0.406f}, deviation[3] = {0.229f, 0.224f, 0.225f};
  nsk::channel_scale back;
  for (int c = 0; c < 3; ++c) {
    back.scale[c] = 255 * deviation[c];
    back.offset[c] = 255 * mean[c];
  }
  back.scale[3] = 255;
  const std::pair<nsk::channel_scale, nsk::channel_scale> ranges[] = {
      {nsk::channel_scale::to_unit(), nsk::channel_scale::from_unit()},
      {nsk::channel_scale::to_symmetric(), nsk::channel_scale::from_symmetric()},
      {nsk::channel_scale::standardized(mean, deviation), back}};
  const std::pair<nsk::pixel_format, nsk::channel_order> kinds[] = {
      {nsk::pixel_format::rgba8, nsk::channel_order::bgra}, {nsk::pixel_format::bgra8, nsk::channel_order::rgba},
      {nsk::pixel_format::rgb8, nsk::channel_order::bgr},   {nsk::pixel_format::bgr8, nsk::channel_order::bgr},
      {nsk::pixel_format::grey8, nsk::channel_order::grey}, {nsk::pixel_format::grey8, nsk::channel_order::rgb}};
  for (const auto& range : ranges)
    for (const auto& kind : kinds) {
      images::random r(13);
      owned image(100, 40, kind.first), copy(100, 40, kind.first);
      image.fill_random(r);
      nsk::image_settings in;
      in.order = kind.second;
      in.scale = range.first;
      std::vector<float> tensor(static_cast<std::size_t>(100 * 40 * nsk::channel_count(in.order)));
      nsk::image_to_tensor(image.view(), in, tensor, 40, 100);
      nsk::tensor_settings out;
      out.order = in.order;
      out.scale = range.second;
      nsk::tensor_to_image(tensor, out, copy.target());
      CHECK(std::memcmp(image.bytes(), copy.bytes(), image.size()) == 0);
    }
}

TEST_CASE("tensor_to_image: nothing to write is fine") {
  const float value = 1;
  nsk::tensor_to_image({&value, 1}, {}, {});
  std::uint8_t byte = 7;
  nsk::tensor_to_image({&value, 1}, {}, {&byte, 0, 1, 1, nsk::pixel_format::grey8});
  CHECK(byte == 7);
}
