// SPDX-License-Identifier: MIT
#pragma once
/// --length NAME=N of commands that open a .nsk file.
#include <cstdint>
#include <map>
#include <string>
#include <vector>
#include "engine/model_file.hpp"
#include "lengths/lengths.hpp"

namespace nsk::tool {

/// Reads a file whose lengths these options choose; the others are at their bounds. Misuse: lengths that it does not
/// have, and values beyond them.
model_file open_model_at(const std::string& path, const std::vector<std::string>& lengths);

/// The values by the names of the lengths.
std::map<std::string, std::int64_t> named(const std::vector<chosen_length>& lengths, const length_choice& values);

/// Whether a step of a variant counts a length with a name: how many results there are. Those without say which side of
/// a choice is computed.
bool counts_lengths(const variant_view& v);

/// The file with both sides of every choice computed, where it has no lengths besides; else the file itself.
model_file without_branches(model_file file, const std::string& name);

/// The file of these values of the lengths of `file`; messages call it `name`.
model_file fixed_to(const model_file& file, const std::map<std::string, std::int64_t>& lengths,
                    const std::string& name);

}
