// SPDX-License-Identifier: MIT
// Texture to network to texture: the frame never leaves the device.
#include <netsuke/image.hpp>

#include "../device_support.hpp"
#include "../forwarding_device.hpp"

using namespace test;

namespace {

/// What a program asked of a device since the last reset of the counts.
struct traffic {
  int uploads = 0, read_backs = 0, copies = 0, creations = 0, submissions = 0, dispatches = 0;
};

/// Passes everything on to a device and counts what moves data between processor and device, or makes something.
class counting_device : public forwarding_device<counting_device, tested_device> {
 public:
  using base = forwarding_device;
  using base::base;
  traffic counts;

  status create_pipeline(const nsk::gpu::pipeline_key& key, pipeline& made) {
    ++counts.creations;
    return base::create_pipeline(key, made);
  }
  void dispatch(list& l, pipeline p, const std::uint32_t* constants, int count, const std::uint32_t (&groups)[3]) {
    ++counts.dispatches;
    base::dispatch(l, p, constants, count, groups);
  }
  void copy(list& l, buffer from, std::size_t from_offset, buffer to, std::size_t to_offset, std::size_t bytes) {
    ++counts.copies;
    base::copy(l, from, from_offset, to, to_offset, bytes);
  }
  status create_buffer(std::size_t bytes, bool seen, buffer& made) {
    ++counts.creations;
    return base::create_buffer(bytes, seen, made);
  }
  status create_texture(std::uint32_t width, std::uint32_t height, texture& made) {
    ++counts.creations;
    return base::create_texture(width, height, made);
  }
  template <class... Arguments>
  status write(Arguments&&... arguments) {
    ++counts.uploads;
    return base::write(std::forward<Arguments>(arguments)...);
  }
  template <class... Arguments>
  status read(Arguments&&... arguments) {
    ++counts.read_backs;
    return base::read(std::forward<Arguments>(arguments)...);
  }
  status submit() {
    ++counts.submissions;
    return base::submit();
  }
};

/// A file of the build, at the alignment that models need; empty where it is not there.
aligned_bytes read_file(const char* path) {
  aligned_bytes bytes;
  std::FILE* const f = std::fopen(path, "rb");
  if (!f) return bytes;
  std::fseek(f, 0, SEEK_END);
  bytes = aligned_bytes(static_cast<std::size_t>(std::ftell(f)));
  std::rewind(f);
  if (std::fread(bytes.data(), 1, bytes.size(), f) != bytes.size()) bytes = aligned_bytes();
  std::fclose(f);
  return bytes;
}

/// Smooth colours with a sharp edge; alpha is opaque.
std::vector<std::uint8_t> make_frame(int width, int height) {
  std::vector<std::uint8_t> rgba;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int inside = x > width / 3 && y > height / 2 ? 90 : 0;
      for (const int level : {x * 160 / width + inside, y * 160 / height + inside, (x + y) % 7 * 20 + inside, 255})
        rgba.push_back(static_cast<std::uint8_t>(level));
    }
  }
  return rgba;
}

constexpr std::ptrdiff_t texel_bytes = 4;

/// The frame as the CPU engine enlarges it.
std::vector<std::uint8_t> enlarge_on_cpu(const nsk::model& model, const std::vector<std::uint8_t>& frame) {
  aligned_bytes memory(model.required_bytes());
  cpu_session net(model, memory.span());
  REQUIRE(net);
  const nsk::span<const std::int32_t> in = model.input(0).shape(), out = model.output(0).shape();
  const nsk::image_view from{frame.data(), in[2], in[1], in[2] * texel_bytes, nsk::pixel_format::rgba8};
  nsk::image_to_tensor(from, {}, net.input<float>(0), in[1], in[2]);
  net.run();
  std::vector<std::uint8_t> result(static_cast<std::size_t>(out[1] * out[2] * texel_bytes), 255);
  nsk::tensor_to_image(net.output<float>(0), {},
                       {result.data(), out[2], out[1], out[2] * texel_bytes, nsk::pixel_format::rgba8});
  return result;
}

int largest_difference(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
  REQUIRE(a.size() == b.size());
  int largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

}

TEST_CASE("an upscaler reads and writes textures, and nothing passes the processor") {
  tested_device* const on = device();
  if (!on) return;
  const aligned_bytes file = read_file(NSK_TEST_BINARY_DIR "/tests/gpu/upscaler.nsk");
  REQUIRE_MESSAGE(file.size() > 0, "tests/gpu/upscaler.nsk is missing: the test gpu.upscaler_model converts it");
  nsk::model model;
  REQUIRE(nsk::open({file.data(), file.size()}, model));
  const nsk::span<const std::int32_t> in = model.input(0).shape(), out = model.output(0).shape();
  const std::vector<std::uint8_t> frame = make_frame(in[2], in[1]);

  counting_device device(*on);
  headless<counting_device> net(device);
  nsk::gpu::plan_settings how;
  how.texture_inputs = how.texture_outputs = true;
  REQUIRE(net.open(model, 0, how));
  counting_device::texture shown, enlarged;
  const auto size = [](std::int32_t n) { return static_cast<std::uint32_t>(n); };
  REQUIRE(device.create_texture(size(in[2]), size(in[1]), shown));
  REQUIRE(device.create_texture(size(out[2]), size(out[1]), enlarged));
  REQUIRE(device.write(shown, frame.data()));  // a game would have rendered it

  device.counts = {};
  counting_device::list& list = device.begin();
  REQUIRE(net.session().write_input(list, 0, shown, in[2], in[1], {}));
  REQUIRE(net.session().record(list));
  REQUIRE(net.session().read_output(list, 0, enlarged, {}));
  REQUIRE(device.submit());
  CHECK(device.counts.uploads == 0);
  CHECK(device.counts.read_backs == 0);
  CHECK(device.counts.copies == 0);
  CHECK(device.counts.creations == 0);
  CHECK(device.counts.submissions == 1);
  CHECK(device.counts.dispatches == net.plan().dispatch_count() + 2);

  std::vector<std::uint8_t> result(static_cast<std::size_t>(out[1] * out[2] * texel_bytes));
  REQUIRE(device.read(enlarged, result.data()));
  const std::vector<std::uint8_t> wanted = enlarge_on_cpu(model, frame);
  CHECK(largest_difference(result, wanted) <= 1);
  // The frame is not flat, and the network did something to it.
  CHECK(largest_difference(wanted, std::vector<std::uint8_t>(wanted.size(), wanted[0])) > 100);
  device.destroy(shown);
  device.destroy(enlarged);
}
