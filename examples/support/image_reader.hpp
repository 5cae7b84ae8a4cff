// SPDX-License-Identifier: MIT
#pragma once
/// Images into tensors, in loops that allocate nothing.
#include <algorithm>
#include <cmath>
#include "support/image.hpp"

namespace example {

/// Shows a region of an image to a network. Where a pixel of the network is two or more of the image, the image is
/// shrunk first, so that every pixel counts.
class image_reader {
 public:
  image_reader(int width, int height) : m_small((width + 1) / 2, (height + 1) / 2) {}

  nsk::image_map read(const image& from, nsk::image_settings how, nsk::span<float> to, int size) {
    const nsk::image_map map = nsk::map_image(view_of(from), how, size, size);
    const nsk::affine& a = map.image_from_tensor;
    const int times = static_cast<int>(std::max(std::hypot(a.xx, a.yx), std::hypot(a.xy, a.yy)));
    if (times < 2) {
      nsk::image_to_tensor(view_of(from), how, to, size, size);
      return map;
    }
    shrink(from, times);
    const float scale = 1 / static_cast<float>(times);
    if (how.region.whole)
      how.region = nsk::image_region::rectangle(0, 0, static_cast<float>(from.width), static_cast<float>(from.height));
    for (float* n : {&how.region.centre_x, &how.region.centre_y, &how.region.width, &how.region.height}) *n *= scale;
    const nsk::image_view small{m_small.rgb.data(), from.width / times, from.height / times,
                                std::ptrdiff_t{3} * (from.width / times), nsk::pixel_format::rgb8};
    nsk::image_to_tensor(small, how, to, size, size);
    return map;
  }

 private:
  /// Means of times x times pixels, into the memory of m_small.
  void shrink(const image& from, int times) {
    const int width = from.width / times, height = from.height / times, count = times * times;
    std::uint8_t* to = m_small.rgb.data();
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        for (int c = 0; c < 3; ++c) {
          int sum = count / 2;
          for (int row = 0; row < times; ++row) {
            const std::uint8_t* p = from.at(x * times, y * times + row) + c;
            for (int k = 0; k < times; ++k) sum += p[3 * k];
          }
          *to++ = static_cast<std::uint8_t>(sum / count);
        }
  }
  image m_small;
};

}  // namespace example
