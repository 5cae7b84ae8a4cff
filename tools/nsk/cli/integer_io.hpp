// SPDX-License-Identifier: MIT
#pragma once
/// --integer-io of nsk quantize: which inputs and outputs are stored integers, and of what.
#include <map>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "quantize/calibrate/images.hpp"
#include "quantize/integer_ports.hpp"

namespace nsk::tool {

struct integer_io {
  std::map<std::string, element> stored;      ///< by the scale of the tensor
  std::map<std::string, stored_port> pixels;  ///< inputs that are levels of pixels
};

/// Reads NAME, NAME=uint8, NAME=int8 and "all" for the ports of `v`. An input is levels of pixels where it is uint8 and
/// its samples are images, or where `asked` says what becomes of levels. Misuse of names that are no port, of states,
/// and of ports that are no floats.
integer_io integer_io_of(const std::vector<std::string>& wanted, const variant_source& v,
                         const std::map<std::string, image_choices>& images, const image_choices& asked);

/// The integers of a port that are nearest to numbers.
array stored_as(const array& numbers, const stored_port& port);
/// The numbers that the integers of a port stand for, as float32.
array real_of(const array& integers, const stored_port& port);

}
