// SPDX-License-Identifier: MIT
#pragma once
/// The table of a variant as JSON: fields that have defaults, and items that nothing uses any more.
#include <cstdint>
#include <vector>
#include "write/table_json.hpp"

namespace nsk::tool {

/// A whole number of an object; 0 where it is not there, as defaults are not.
std::uint64_t number(const table_json& object, const char* field);

/// Keeps the items of a list that `used` marks. Returns of each item how many of those before it are kept.
std::vector<std::size_t> keep(table_json& list, const std::vector<bool>& used);

/// Removes tensors that no step, port or state names, and then buffers without tensors.
void drop_unused(table_json& variant);

}
