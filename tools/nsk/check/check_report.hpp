// SPDX-License-Identifier: MIT
#pragma once
/// A comparison as a page for people: Markdown and a chart of the error by depth.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "io/command_files.hpp"

namespace nsk::tool {

struct check_report {
  std::string source, model, isa;
  nlohmann::json comparison;                                ///< comparison_json's result
  std::vector<std::pair<std::string, std::string>> inputs;  ///< name, how it was made
};

/// The page. `image` is the file name of the chart, as the page refers to it.
std::string check_markdown(const check_report& r, const std::string& image);
/// Error of every step over its place in the plan, on a logarithmic scale, with the tolerance as a line.
std::string check_svg(const check_report& r);

/// Writes both: `path` and beside it the chart, with .svg in place of the last extension.
void write_check_report(command_files& files, const std::string& path, const check_report& r);

}
