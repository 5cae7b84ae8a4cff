// SPDX-License-Identifier: MIT
#pragma once
/// What is suspicious about samples before anything is calibrated with them.
#include <string>
#include <vector>
#include "graph/input_range.hpp"
#include "quantize/calibrate/samples.hpp"

namespace nsk::tool {

/// Returns warnings for people: of a single sample, of samples that are all the same, of float inputs whose numbers
/// hardly vary, which are images with a wrong --mean, --std or --white more often than not, and of numbers outside of
/// what the game says that the input will hold.
std::vector<std::string> warnings_of(const sample_set& set, const image_choices& how, const input_ranges& ranges);

}
