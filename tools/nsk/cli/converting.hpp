// SPDX-License-Identifier: MIT
#pragma once
/// Conversion with something done to the source before.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "compile/compile.hpp"
#include "engine/model_file.hpp"
#include "quantize/calibrate/tables.hpp"

namespace nsk::tool {

/// What a change of the source leaves to do.
struct changed_source {
  std::vector<std::string> notes, warnings;               ///< for people
  weight_format weights = weight_format::floats;          ///< of what is still float
  std::map<std::string, std::string> float_weights = {};  ///< nodes that keep float32, each with the reason
  bool quantised = false;                                 ///< layers are stored integers
  std::map<std::string, std::string> metadata = {};       ///< for the file
};
/// Rewrites the graphs of the source, with what --override chooses.
using source_change =
    std::function<changed_source(std::vector<variant_source>& variants, const overrides& chosen, progress_line&)>;

/// Looks at the file before it is written.
using file_visitor = std::function<void(const model_file&)>;

/// convert() of what `change` makes of the source, which is also what the result is checked against.
exit_code convert_changed(const convert_options& o, command_files& files, const source_change& change,
                          const file_visitor& visit);

}
