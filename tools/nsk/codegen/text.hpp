// SPDX-License-Identifier: MIT
#pragma once
/// Values as C++ source.
#include <netsuke/format/step_view.hpp>
#include <string>
#include <vector>

#include "io/text.hpp"

namespace nsk::tool {

/// "1.5f", with the digits that give the same bits; infinities and NaN by name.
std::string float_text(float x);
template <class Range>
std::string list_text(const Range& values) {
  std::vector<std::string> parts;
  for (const auto value : values) parts.push_back(std::to_string(value));
  return joined(parts);
}
std::string window_text(const window& w);

/// Returns the parameters of a step as an initialiser in braces, those of the kind of a binary step alone.
std::string params_of_step(const step_view& s);
std::string kind_text(binary_kind k);

}
