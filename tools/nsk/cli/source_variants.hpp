// SPDX-License-Identifier: MIT
#pragma once
/// From the options of a source to resolved graphs: the way that every command which makes a .nsk file takes.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cli/source_options.hpp"
#include "compile/compile.hpp"
#include "io/command_files.hpp"

namespace nsk::tool {

/// Reads the source and resolves and changes it, once per variant; one is named "default" where none is asked for.
/// Declares its external data in `files`.
std::vector<variant_source> read_variants(const source_options& o, command_files& files);

/// --keep-layout by the names of the changed model, of which `g` is a variant. Misuse of a name that is no port.
std::set<std::string> kept_layouts(const source_options& o, const graph& g);

/// Adds what `nsk check` needs to resolve the source in the same way to the metadata of a file.
void record_source(const source_options& o, std::map<std::string, std::string>& metadata);

}
