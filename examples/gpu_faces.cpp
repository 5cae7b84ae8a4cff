// SPDX-License-Identifier: MIT
// detect_faces on the GPU: the photo is a texture, the network is recorded into a command list, and the boxes are the
// only numbers that come back.
//   gpu_faces MODEL.nsk PHOTO.jpg [-o OUT.png] [--score 0.5] [--device vulkan|gl|gles]
#include "support/command_line.hpp"
#include "support/faces.hpp"
#include "support/gpu_device.hpp"

using namespace example;

struct options {
  std::string model, photo, out;
  float minimum_score;
};

/// Makes a texture that holds an image.
template <class Device>
typename Device::texture make_texture(Device& device, const image& from) {
  typename Device::texture made{};
  must(device.create_texture(static_cast<std::uint32_t>(from.width), static_cast<std::uint32_t>(from.height), made));
  std::vector<std::uint8_t> rgba;
  for (std::size_t i = 0; i < from.rgb.size(); i += 3)
    rgba.insert(rgba.end(), {from.rgb[i], from.rgb[i + 1], from.rgb[i + 2], 255});
  must(device.write(made, rgba.data()));
  return made;
}

template <class Device>
void find_faces(Device& device, const options& o) {
  const memory_block file = read_file(o.model);
  nsk::model model;
  if (const nsk::status s = nsk::open(file, model); !s) fail(o.model + ": " + s.message());
  const int number = gpu_variant(model);
  const nsk::variant_view variant = model.variant(number);
  const box_decoder decoder(variant, o.model, {k_face_detector, k_far_face_detector});
  const pyramid photo(load_image(o.photo));

  // When the program starts: plan, buffers, pipelines.
  nsk::gpu::plan_settings how;
  how.texture_inputs = true;
  headless<Device> net(device);
  must(net.open(model, number, how));
  constexpr int slots = 2;  // a game has two more than frames in flight
  typename Device::buffer seen_by_cpu{};
  must(device.create_buffer(nsk::gpu::read_back_ring<Device>::required_bytes(net.plan(), slots), true, seen_by_cpu));
  nsk::gpu::read_back_ring<Device> boxes(net.plan(), seen_by_cpu, slots);

  // A renderer has the photo on the device already, as a texture whose mip levels are the levels of the pyramid.
  device.count = {};
  const pyramid_level level = photo.choose(decoder.settings(), decoder.size(), decoder.size());
  typename Device::texture seen = make_texture(device, level.pixels);

  // Every frame: sample the texture, run the network, fetch the boxes, all in one list.
  auto& list = device.begin();
  must(net.session().write_input(list, 0, seen, level.pixels.width, level.pixels.height, level.how));
  must(net.session().record(list));
  must(boxes.record(list, net.session(), 1));
  must(device.submit());

  // Some frames later, when a fence says that frame 1 is done.
  boxes.complete(1);
  std::vector<float> numbers(nsk::gpu::read_back_ring<Device>::required_bytes(net.plan(), 1) / sizeof(float));
  must(device.read(seen_by_cpu, boxes.newest()->offset, numbers.data(), numbers.size() * sizeof(float)));
  const auto output = [&](int i) {
    return nsk::span<const float>(numbers.data() + boxes.offset_of(i) / sizeof(float),
                                  static_cast<std::size_t>(variant.output(i).elements()));
  };
  const auto faces = decoder.find(output, level.map, o.minimum_score);
  save_png(o.out, show_faces(photo.photo(), faces));
  const auto& c = device.count;
  std::printf("%s%s: 1 dispatch samples the texture, %d are the network, with %d barriers between them\n",
              device.name(), device.is_software() ? " (software)" : "", c.dispatches - 1, net.plan().barrier_count());
  std::printf("%d upload of %zu bytes: the texture; %d submit; %d read-back of %zu bytes: the boxes\n", c.uploads,
              c.upload_bytes, c.submits, c.read_backs, c.read_back_bytes);
  std::printf("%s\n", o.out.c_str());
  device.destroy(seen);
  device.destroy(seen_by_cpu);
}

int main(int argc, char** argv) {
  const command_line given(argc, argv,
                           "gpu_faces MODEL.nsk PHOTO.jpg [-o OUT.png] [--score 0.5] [--device vulkan|gl|gles]",
                           {"-o", "--score", "--device"}, 2, 2);
  const options o{given.words()[0], given.words()[1], given.value("-o", "faces.png"),
                  static_cast<float>(std::atof(given.value("--score", "0.5").c_str()))};
  with_device(given.value("--device", "vulkan"), [&](auto& device) { find_faces(device, o); });
}
