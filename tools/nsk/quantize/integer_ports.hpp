// SPDX-License-Identifier: MIT
#pragma once
/// Inputs and outputs that are stored integers (nsk quantize --integer-io).
#include <cstdint>
#include <string>
#include <vector>
#include "graph/graph.hpp"

namespace nsk::tool {

/// What the integers of a port stand for: (integer - zero) * scale. Of levels of pixels: level * scale + offset, by the
/// position along an axis where there are several.
struct stored_port {
  element type = element::u8;  ///< or i8
  std::int64_t zero = 0;
  std::vector<float> scale = {1};
  std::vector<float> offset = {};  ///< of pixels as many as `scale`, of others none
  std::size_t axis = 0;            ///< of several scales

  bool is_pixels() const { return !offset.empty(); }
  /// The number that an integer stands for, at a position along the axis.
  double real(double integer, std::size_t position = 0) const;
  /// The integer nearest to a number.
  std::int64_t nearest(double number, std::size_t position = 0) const;
};

/// Makes the input `name` of a resolved graph one of integers, of which the graph makes the numbers that it reads.
void store_input(graph& g, const std::string& name, const stored_port& p);
/// Makes the output `name` of a resolved graph one of integers.
void store_output(graph& g, const std::string& name, const stored_port& p);

/// What a person should know of the port: "uint8, scale 0.0118, zero point 3".
std::string description_of(const stored_port& p);
/// All of it, for the metadata of a file, and back. Throws std::exception where the text is another one.
std::string text_of(const stored_port& p);
stored_port port_from(const std::string& text);

}
