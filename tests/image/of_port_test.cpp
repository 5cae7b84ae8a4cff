// SPDX-License-Identifier: MIT
// What a model's port says of its images, and image_to_tensor with nothing but a port.
#include <cstring>
#include <vector>
#include <doctest/doctest.h>
#include <netsuke/core/span.hpp>
#include <netsuke/core/tensor.hpp>
#include "support.hpp"

namespace {

/// What nsk::port_view says of an input, without a file.
struct image_port {
  const char* order;
  std::vector<float> means, deviations;
  std::vector<std::int32_t> sizes{1, 8, 6, 3};
  nsk::dtype element = nsk::dtype::float32;

  nsk::span<const std::int32_t> shape() const { return sizes; }
  nsk::span<const float> mean() const { return means; }
  nsk::span<const float> deviation() const { return deviations; }
  const char* color() const { return order; }
  nsk::dtype type() const { return element; }
};

}  // namespace

TEST_CASE("image_settings_of: order of colours, mean and deviation are those of the file") {
  const nsk::image_settings how = nsk::image_settings_of(image_port{"bgr", {103.5f, 116.25f, 123}, {2, 4, 8}});
  CHECK(how.order == nsk::channel_order::bgr);
  CHECK(how.scale.scale[1] == 0.25f);
  CHECK(how.scale.offset[1] == -116.25f / 4);
  const nsk::image_settings one = nsk::image_settings_of(image_port{"rgb", {127.5f}, {127.5f}});
  CHECK(one.order == nsk::channel_order::rgb);
  CHECK(one.scale.scale[2] == 1 / 127.5f);
  CHECK(one.scale.offset[2] == -1);
  const nsk::image_settings none = nsk::image_settings_of(image_port{"", {}, {}});
  CHECK(none.order == nsk::channel_order::rgb);
  CHECK(none.scale.scale[0] == nsk::image_settings().scale.scale[0]);
  CHECK(nsk::image_settings_of(image_port{"", {}, {}, {1, 8, 6, 1}}).order == nsk::channel_order::grey);
  CHECK(nsk::image_settings_of(image_port{"bgr", {}, {}, {1, 8, 6, 4}}).order == nsk::channel_order::bgra);
}

TEST_CASE("image_to_tensor: a port stands for size, order and scale") {
  images::random r(3);
  images::owned image(21, 13, nsk::pixel_format::bgra8);
  image.fill_random(r);
  const image_port port{"bgr", {103.5f, 116.25f, 123}, {2, 4, 8}};
  nsk::image_settings how = nsk::image_settings_of(port);
  std::vector<float> wanted(144), got(144);
  for (const nsk::image_fit fit : {nsk::image_fit::stretch, nsk::image_fit::letterbox}) {
    how.fit = fit;
    nsk::image_to_tensor(image.view(), how, wanted, 8, 6);
    const nsk::image_map map = fit == nsk::image_fit::stretch ? nsk::image_to_tensor(image.view(), port, got)
                                                              : nsk::image_to_tensor(image.view(), port, got, how);
    CHECK(std::memcmp(got.data(), wanted.data(), sizeof(float) * got.size()) == 0);
    CHECK(map.to_image(8, 8).x == nsk::map_image(image.view(), how, 8, 6).to_image(8, 8).x);
  }
}
