// SPDX-License-Identifier: MIT
// Textures in and out on a device against image.hpp: every setting, regions that leave the texture, sizes from one
// texel.
#include <netsuke/image.hpp>
#include "../device_support.hpp"

using namespace test;

namespace {

/// One step that copies an image [1, height, width, channels].
plan_spec image_plan(std::int32_t height, std::int32_t width, std::int32_t channels) {
  plan_spec p;
  const std::uint32_t x = p.add_input("x", {1, height, width, channels}, 1);
  p.add_step(format::Operator::Unary, {x}, p.add_output("y", {1, height, width, channels}, 0, 1));
  return p;
}

/// Texels without any pattern: neighbours differ by up to 255 levels.
std::vector<std::uint8_t> random_texels(std::uint32_t width, std::uint32_t height) {
  std::vector<std::uint8_t> texels(std::size_t{4} * width * height);
  std::uint32_t state = width * 31 + height;
  for (std::uint8_t& t : texels) t = static_cast<std::uint8_t>((state = state * 1664525u + 1013904223u) >> 24);
  return texels;
}

struct textured {
  textured(tested_device& d, std::uint32_t width, std::uint32_t height)
      : device(d), texels(random_texels(width, height)) {
    REQUIRE(device.create_texture(width, height, texture));
    REQUIRE(device.write(texture, texels.data()));
  }
  ~textured() { device.destroy(texture); }
  nsk::image_view view(nsk::pixel_format format = nsk::pixel_format::rgba8) const {
    const auto width = static_cast<std::int32_t>(texture.width);
    return {texels.data(), width, static_cast<std::int32_t>(texture.height), std::ptrdiff_t{4} * width, format};
  }
  tested_device& device;
  std::vector<std::uint8_t> texels;
  tested_device::texture texture;
};

/// A model whose input is an image of a size and order, on the device.
struct image_model {
  image_model(tested_device& on, std::int32_t rows, std::int32_t columns, nsk::channel_order order)
      : net(on),
        height(rows),
        width(columns),
        floats(static_cast<std::size_t>(rows * columns * nsk::channel_count(order))) {
    nsk::gpu::plan_settings how;
    how.texture_inputs = how.texture_outputs = true;
    REQUIRE(net.open(image_plan(rows, columns, nsk::channel_count(order)), how) == "");
  }
  both<tested_device> net;
  std::int32_t height, width;
  std::size_t floats;
};

/// Returns the largest difference between write_input and image_to_tensor, in ranges of the tensor's values.
double input_error(tested_device& on, image_model& m, textured& from, const nsk::image_settings& how,
                   bool blue_first = false) {
  const nsk::image_view image = from.view(blue_first ? nsk::pixel_format::bgra8 : nsk::pixel_format::rgba8);
  std::vector<float> wanted(m.floats), got(m.floats);
  const nsk::image_map map = nsk::image_to_tensor(image, how, {wanted.data(), wanted.size()}, m.height, m.width);
  nsk::image_map found;
  REQUIRE(m.net.gpu().session().write_input(on.begin(), 0, from.texture, image.width, image.height, how, &found,
                                            blue_first));
  REQUIRE(on.submit());
  const auto place = static_cast<std::size_t>(m.net.variant().input(0).tensor().buffer_offset());
  REQUIRE(on.read(m.net.gpu().arena(), place, got.data(), 4 * got.size()));
  CHECK(std::memcmp(&map, &found, sizeof map) == 0);
  double worst = 0, range = 0;
  for (int c = 0; c < 4; ++c) range = std::max(range, 255.0 * std::fabs(static_cast<double>(how.scale.scale[c])));
  for (std::size_t i = 0; i < m.floats; ++i) {
    const double apart = std::fabs(static_cast<double>(wanted[i]) - static_cast<double>(got[i]));
    if (!(apart <= worst)) worst = apart;
  }
  return worst / range;
}

using nsk::image_region;

/// Regions of a texture of a size: whole, inside, across every edge, outside, slanted by small and large angles.
std::vector<image_region> regions_of(float w, float h) {
  return {{},
          image_region::rectangle(w * 0.25f, h * 0.25f, w * 0.5f, h * 0.5f),
          image_region::rectangle(-w * 0.3f, -h * 0.2f, w * 0.9f, h * 0.8f),
          image_region::rectangle(w * 0.4f, h * 0.5f, w * 1.7f, h * 0.9f),
          image_region::rectangle(w * 3, h * 2, w, h),
          image_region::rotated(w * 0.5f, h * 0.5f, w * 0.6f, h * 0.6f, 0.3f),
          image_region::rotated(w * 0.9f, h * 0.1f, w * 0.7f, h * 0.4f, -2.1f),
          image_region::rotated(w * 0.5f, h * 0.5f, w * 2.3f, h * 1.9f, 1.0f),
          image_region::rotated(w * 0.3f, h * 0.6f, w * 0.05f, h * 0.07f, 3.0f),
          image_region::rotated(w * 0.5f, h * 0.5f, w, h, 1.5707963f)};
}

}

#define CHECK_INPUT(...) CHECK(input_error(*on, __VA_ARGS__) <= 1e-6)

TEST_CASE("a texture becomes the tensor that image_to_tensor makes: regions, fits, edges, mirrored") {
  tested_device* const on = device();
  if (!on) return;
  image_model model(*on, 37, 150, nsk::channel_order::rgb);
  for (const auto& size : {std::pair<std::uint32_t, std::uint32_t>{97, 61}, {1, 1}, {640, 3}, {1021, 768}}) {
    textured from(*on, size.first, size.second);
    int number = 0;
    for (const image_region& region : regions_of(static_cast<float>(size.first), static_cast<float>(size.second)))
      for (const nsk::image_fit fit : {nsk::image_fit::stretch, nsk::image_fit::letterbox, nsk::image_fit::crop})
        for (const nsk::image_edge edge : {nsk::image_edge::repeat, nsk::image_edge::fill}) {
          nsk::image_settings how;
          how.region = region;
          how.fit = fit;
          how.edge = edge;
          how.mirrored = ++number % 3 == 0;
          how.fill[0] = 10, how.fill[1] = 128, how.fill[2] = 250;
          CAPTURE(size.first);
          CAPTURE(number);
          CHECK_INPUT(model, from, how);
        }
  }
}

TEST_CASE("a texture becomes a tensor in every order of channels, with every scale, swapped or not") {
  tested_device* const on = device();
  if (!on) return;
  textured from(*on, 83, 59);
  const float mean[3] = {0.485f, 0.456f, 0.406f}, deviation[3] = {0.229f, 0.224f, 0.225f};
  for (const nsk::channel_order order : {nsk::channel_order::grey, nsk::channel_order::rgb, nsk::channel_order::bgr,
                                         nsk::channel_order::rgba, nsk::channel_order::bgra}) {
    image_model model(*on, 20, 24, order);
    for (const nsk::channel_scale& scale :
         {nsk::channel_scale::to_unit(), nsk::channel_scale::to_symmetric(), nsk::channel_scale::uniform(1, 0),
          nsk::channel_scale::standardized(mean, deviation)})
      for (const bool blue_first : {false, true}) {
        nsk::image_settings how;
        how.region = image_region::rotated(40, 30, 70, 66, 0.4f);
        how.edge = nsk::image_edge::fill;
        how.order = order;
        how.scale = scale;
        how.fill[3] = 77;
        CHECK_INPUT(model, from, how, blue_first);
      }
  }
}

TEST_CASE("places far from a large texture's first texel keep their fractions") {
  tested_device* const on = device();
  if (!on) return;
  textured from(*on, 8192, 256);
  image_model model(*on, 40, 300, nsk::channel_order::rgba);
  nsk::image_settings how;
  how.order = nsk::channel_order::rgba;
  for (const image_region& region :
       {image_region{}, image_region::rectangle(8000.3f, 200.7f, 100.1f, 33.3f),
        image_region::rotated(8100, 128, 150, 90, 0.02f), image_region::rotated(4096, 128, 8192, 256, -0.03f),
        image_region::rotated(7777, 99, 3001, 40, 3.1f)}) {
    how.region = region;
    CHECK_INPUT(model, from, how);
  }
}

TEST_CASE("a texture without texels, and regions that are none, show the fill") {
  tested_device* const on = device();
  if (!on) return;
  textured from(*on, 8, 8);
  image_model model(*on, 9, 7, nsk::channel_order::rgb);
  nsk::image_settings how;
  how.fill[1] = 99;
  how.region = image_region::rectangle(0, 0, -1, 4);
  CHECK_INPUT(model, from, how);
  how.region = image_region::rotated(0, 0, 5, 4, INFINITY);
  CHECK_INPUT(model, from, how);
  auto& session = model.net.gpu().session();
  auto& list = on->begin();
  CHECK(session.write_input(list, 0, from.texture, 0, 0, {}));
  CHECK(session.write_input(list, 0, from.texture, 65536, 1, {}).code() == nsk::gpu::status_code::bad_range);
  CHECK(session.write_input(list, 1, from.texture, 8, 8, {}).code() == nsk::gpu::status_code::no_such_port);
  how.order = nsk::channel_order::grey;
  CHECK(session.write_input(list, 0, from.texture, 8, 8, how).code() == nsk::gpu::status_code::not_an_image);
  REQUIRE(on->submit());
}

TEST_CASE("a tensor becomes the texture that tensor_to_image makes") {
  tested_device* const on = device();
  if (!on) return;
  textured to(*on, 41, 23);
  for (const nsk::channel_order order : {nsk::channel_order::grey, nsk::channel_order::rgb, nsk::channel_order::bgr,
                                         nsk::channel_order::rgba, nsk::channel_order::bgra}) {
    image_model model(*on, 23, 41, order);
    std::vector<float> levels(model.floats);
    noise random(5);
    for (float& x : levels) x = random() * 1.4f;
    levels[0] = 0.5f / 255, levels[1] = 1.5f / 255, levels[2] = NAN, levels[3] = INFINITY;
    auto& net = model.net.gpu();
    REQUIRE(net.write_input(0, levels.data()));
    REQUIRE(net.run());
    std::vector<float> output(model.floats);
    REQUIRE(net.read_output(0, output.data()));
    for (const nsk::channel_scale& scale : {nsk::channel_scale::from_unit(), nsk::channel_scale::from_symmetric()})
      for (const bool blue_first : {false, true}) {
        nsk::tensor_settings how;
        how.order = order;
        how.scale = scale;
        std::vector<std::uint8_t> wanted(to.texels.size()), got(to.texels.size());
        const nsk::writable_image image{wanted.data(), 41, 23, 164,
                                        blue_first ? nsk::pixel_format::bgra8 : nsk::pixel_format::rgba8};
        nsk::tensor_to_image({output.data(), output.size()}, how, image);
        REQUIRE(net.session().read_output(on->begin(), 0, to.texture, how, blue_first));
        REQUIRE(on->submit());
        REQUIRE(on->read(to.texture, got.data()));
        // A product that is rounded before the sum may cross the middle between two levels.
        int different = 0, apart = 0;
        for (std::size_t i = 0; i < got.size(); ++i) {
          different += got[i] != wanted[i] ? 1 : 0;
          apart = std::max(apart, std::abs(got[i] - wanted[i]));
        }
        CHECK(apart <= 1);
        CHECK(different <= static_cast<int>(got.size() / 1000));
      }
  }
  image_model model(*on, 23, 41, nsk::channel_order::rgb);
  nsk::tensor_settings keep;
  keep.alpha = nsk::image_alpha::keep;
  CHECK(model.net.gpu().session().read_output(on->begin(), 0, to.texture, keep).code() ==
        nsk::gpu::status_code::alpha_not_kept);
  REQUIRE(on->submit());
}
