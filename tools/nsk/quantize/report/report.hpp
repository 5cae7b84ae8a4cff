// SPDX-License-Identifier: MIT
#pragma once
/// What quantisation costs: a page for people, charts, and the same as JSON.
#include <cstdint>
#include <string>

#include "io/command_files.hpp"
#include "quantize/apply/quantize.hpp"

namespace nsk::tool {

/// Names and sizes that a report shows beside the result.
struct report_context {
  std::string source, model;                      ///< paths
  std::int64_t float_bytes = 0, model_bytes = 0;  ///< of the source as a .nsk file, and of the model
};

/// The page. `charts` is the path of the charts without their extensions, as the page refers to them.
std::string quantize_markdown(const quantize_result& r, const report_context& about, const std::string& charts);
std::string quantize_json(const quantize_result& r, const report_context& about);
/// Signal to noise over the layers: of the outputs with one layer as integers, and of what each layer makes with all.
std::string quantize_svg(const quantize_result& r, const std::string& model);

/// Histograms of the weights of layers and of what they make, with the ranges that are stored.
std::string histograms_svg(const quantize_result& r, const std::string& model);

/// Writes all: `path`, and beside it .json, .svg and .histograms.svg in place of its last extension.
void write_quantize_report(command_files& files, const std::string& path, const quantize_result& r,
                           const report_context& about);

}
