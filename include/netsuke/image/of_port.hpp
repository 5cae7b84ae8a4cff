// SPDX-License-Identifier: MIT
#pragma once
/// What the port of a model says of its images: size, order of colours, mean and deviation, as far as the file has
/// them.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/image/types.hpp>

NSK_BEGIN
/// Returns how a port wants its images: the order of channels that it names (rgb where it names none, grey of one
/// channel, rgba of four), and (level - mean) / deviation where the file has both, else levels from 0 to 1. `Port` is
/// nsk::port_view: this header does not read files.
template <class Port>
image_settings image_settings_of(const Port& port) {
  image_settings how;
  const auto shape = port.shape();
  const int channels = shape.size() == 0 ? 0 : static_cast<int>(shape[shape.size() - 1]);
  const bool blue_first = port.color()[0] == 'b';
  how.order = channels == 1   ? channel_order::grey
              : channels == 4 ? (blue_first ? channel_order::bgra : channel_order::rgba)
                              : (blue_first ? channel_order::bgr : channel_order::rgb);
  const auto mean = port.mean(), deviation = port.deviation();
  for (std::size_t c = 0; mean.size() > 0 && c < 4; ++c) {
    const std::size_t from = c < mean.size() ? c : mean.size() - 1;
    how.scale.scale[c] = 1 / deviation[from];
    how.scale.offset[c] = -mean[from] / deviation[from];
  }
  return how;
}

namespace image_impl {
/// Height and width of the images of a port; zeros where it has no image of float32 with these channels.
struct port_size {
  std::int32_t height = 0, width = 0;
};
template <class Port>
port_size size_of_port(const Port& port, channel_order order) {
  const auto shape = port.shape();
  const std::size_t n = shape.size();
  const bool is_image = n >= 3 && shape[n - 1] == channel_count(order) && port.type() == decltype(port.type())::float32;
  return is_image ? port_size{shape[n - 3], shape[n - 2]} : port_size{};
}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
