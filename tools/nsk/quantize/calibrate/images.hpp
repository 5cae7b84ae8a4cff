// SPDX-License-Identifier: MIT
#pragma once
/// Images as inputs of a network, made into tensors by the function that games call: nsk::image_to_tensor.
#include <optional>
#include <string>
#include <vector>
#include <netsuke/image/types.hpp>
#include "graph/graph.hpp"
#include "quantize/integer_ports.hpp"

namespace nsk::tool {

/// What becomes of an image's levels and shape.
struct image_choices {
  std::vector<float> mean, deviation;  ///< none, one, or one per colour; a number becomes (x - mean) / deviation
  std::optional<float> white;          ///< what 255 counts as, 0 being black; 1 where no option says it
  std::optional<bool> bgr;             ///< colours in the order blue, green, red
  std::optional<image_fit> fit;        ///< stretched where no option says it
  bool numbers_by_model = false, colors_by_model = false;  ///< the metadata of the model says it

  bool has_numbers() const { return !mean.empty() || !deviation.empty() || white; }
  bool is_asked() const { return has_numbers() || bgr || fit; }
};

/// The choices for an input of which the model says `facts`: mean and deviation of levels from 0 to 255, and the order
/// of colours, each where the choices leave it open.
image_choices completed(image_choices how, const port_facts& facts, const value& input);

/// What becomes of images, and who said so, for people.
std::string description_of(const image_choices& how);

/// Whether a file's name ends like an image's.
bool is_image_file(const std::string& path);

/// What an image input is where a game gives it the levels of pixels, from 0 to 255, as uint8. Refuses inputs of other
/// shapes or types.
stored_port pixels_of(const value& input, const image_choices& how);

/// Reads an image for an image input: [1, C, H, W], [1, H, W, C] or without the 1, C being 1, 3 or 4. Refuses inputs
/// of other shapes or types, files that are no images, and ones of more than 2^28 pixels.
array read_image(const std::string& path, const value& input, const image_choices& how);

}
