// SPDX-License-Identifier: MIT
#pragma once
/// What quantisation costs, as a page for people: Markdown and a chart by depth.
#include <string>

#include "io/command_files.hpp"
#include "quantize/quantize.hpp"

namespace nsk::tool {

/// The page of model `model`, made from `source`. `chart` is the chart's file name, as the page refers to it.
std::string quantize_markdown(const quantize_result& r, const std::string& source, const std::string& model,
                              const std::string& chart);
/// Signal to noise over the layers: of the outputs with one layer as integers, and of what each layer makes with all.
std::string quantize_svg(const quantize_result& r, const std::string& model);

/// Writes both: `path` and beside it the chart, with .svg in place of the last extension.
void write_quantize_report(command_files& files, const std::string& path, const quantize_result& r,
                           const std::string& source, const std::string& model);

}
