// SPDX-License-Identifier: MIT
#pragma once
/// Images as inputs of a network, made into tensors by the function that games call: nsk::image_to_tensor.
#include <string>
#include <vector>
#include <netsuke/image/types.hpp>
#include "graph/graph.hpp"

namespace nsk::tool {

/// What becomes of an image's levels and shape.
struct image_choices {
  std::vector<float> mean, deviation;  ///< none, one, or one per colour; a number becomes (x - mean) / deviation
  float white = 1;                     ///< what 255 counts as, 0 being black
  bool bgr = false;                    ///< colours in the order blue, green, red
  image_fit fit = image_fit::stretch;
  bool asked = false;  ///< somebody has chosen one of them
};

/// Whether a file's name ends like an image's.
bool is_image_file(const std::string& path);

/// Reads an image for an image input: [1, C, H, W], [1, H, W, C] or without the 1, C being 1, 3 or 4. Refuses inputs
/// of other shapes or types, files that are no images, and ones of more than 2^28 pixels.
array read_image(const std::string& path, const value& input, const image_choices& how);

}
