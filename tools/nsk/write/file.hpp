// SPDX-License-Identifier: MIT
#pragma once
/// Writes a completed plan as a .nsk file: header, FlatBuffers table, weights section (docs/format.md).
#include <map>
#include <vector>
#include "plan/plan.hpp"

namespace nsk::tool {

/// Returns the bytes of the file. `metadata` are keys and values for people and tools; the engine ignores them.
std::vector<std::byte> write_model(const plan& p, const std::map<std::string, std::string>& metadata);

}
