// SPDX-License-Identifier: MIT
#pragma once
/// Writes completed plans as a .nsk file: header, FlatBuffers table, weights section (docs/reference/file.md).
#include <map>
#include <string>
#include <vector>
#include "program/plan.hpp"

namespace nsk::tool {

/// A plan and the name that games find it by.
struct named_plan {
  std::string name;
  plan layout;
};

/// Returns the file made of a table (a verified FlatBuffers model) and a weights section: header, signature of all
/// ports, content hash.
std::vector<std::byte> assemble_file(std::vector<std::uint8_t> table, const std::vector<std::byte>& weights);

/// Returns the bytes of the file. The variants share `weights`; `metadata` are keys and values for people and tools,
/// which the engine ignores.
std::vector<std::byte> write_model(const std::vector<named_plan>& variants, const std::vector<std::byte>& weights,
                                   const std::map<std::string, std::string>& metadata);

}
