// SPDX-License-Identifier: MIT
#pragma once
/// A network that enlarges a texture into another one, on the device, in as many frames as the budget makes of it. This
/// is what a game copies.
#include <cstdint>
#include <limits>
#include <string>
#include "support/gpu_device.hpp"

/// Ends the program where a model is not one RGB image in, one of twice its size out.
inline void check_upscaler(const nsk::variant_view& v, const std::string& path) {
  const bool single = v.input_count() == 1 && v.output_count() == 1;
  const nsk::span<const std::int32_t> in = single ? v.input(0).shape() : nsk::span<const std::int32_t>();
  const nsk::span<const std::int32_t> out = single ? v.output(0).shape() : nsk::span<const std::int32_t>();
  if (in.size() != 4 || out.size() != 4 || out[1] != 2 * in[1] || out[2] != 2 * in[2] || in[3] != 3 || out[3] != 3)
    example::fail(path + " is not one RGB image in, one RGB image of twice its size out");
}

template <class Device>
class texture_upscaler {
 public:
  /// Makes plan, buffers, pipelines and the texture of results for a model that check_upscaler accepts; ends the
  /// program where the device refuses something.
  texture_upscaler(Device& device, const nsk::model& model) : m_device(device), m_net(device) {
    const int number = example::gpu_variant(model);
    const nsk::variant_view v = model.variant(number);
    m_width = v.input(0).shape()[2];
    m_height = v.input(0).shape()[1];
    nsk::gpu::plan_settings how;
    how.texture_inputs = how.texture_outputs = true;
    example::must(m_net.open(model, number, how));
    const auto width = static_cast<std::uint32_t>(m_width), height = static_cast<std::uint32_t>(m_height);
    example::must(device.create_texture(2 * width, 2 * height, m_result));
  }
  ~texture_upscaler() { m_device.destroy(m_result); }
  texture_upscaler(const texture_upscaler&) = delete;
  texture_upscaler& operator=(const texture_upscaler&) = delete;

  /// Size of the textures that are enlarged.
  int width() const { return m_width; }
  int height() const { return m_height; }
  /// The last complete result, which record() overwrites when it completes the next.
  typename Device::texture& result() { return m_result; }
  /// Whether the next record() starts with another image.
  bool starts() { return m_net.session().next_dispatch() == 0; }

  /// Records a frame's share of the work, at least one dispatch; returns whether the result is complete with it.
  /// `from` is read in the first frame of an inference only, so that the game may draw into it in the next one.
  bool record(typename Device::list& list, typename Device::texture& from, nsk::work budget) {
    nsk::gpu::session<Device>& net = m_net.session();
    if (starts()) example::must(net.write_input(list, 0, from, m_width, m_height, {}));
    bool done = false;
    example::must(net.record_for(list, budget, done));
    if (!done) return false;
    example::must(net.read_output(list, 0, m_result, {}));
    m_device.barrier(list);  // what the game records next may sample the result
    return true;
  }

 private:
  Device& m_device;
  headless<Device> m_net;
  typename Device::texture m_result{};
  std::int32_t m_width = 0, m_height = 0;
};
