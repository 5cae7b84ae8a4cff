// SPDX-License-Identifier: MIT
#pragma once
/// Conversion with something done to the source before.
#include <functional>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "compile/compile.hpp"

namespace nsk::tool {

/// Rewrites the graphs of the source; returns notes for people.
using source_change = std::function<std::vector<std::string>(std::vector<variant_source>&, progress_line&)>;

/// The same as convert(), of what `change` makes of the source, which is also what the result is checked against.
exit_code convert_changed(const convert_options& o, command_files& files, const source_change& change);

}
