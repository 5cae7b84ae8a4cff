// SPDX-License-Identifier: MIT
#pragma once
/// A program of the user that judges outputs.
#include <string>
#include <vector>
#include "quantize/calibrate/calibrate.hpp"

namespace nsk::tool {

struct metric_program {
  std::string command;       ///< as a shell reads it; the folder is added as the last argument
  double max_seconds = 600;  ///< of one call
};

/// Outputs of many samples, and what those samples are called: "0003" and the file that it was read from.
struct judged_outputs {
  std::vector<std::string> names, files;
  const std::vector<sample>* floats = nullptr;
  const std::vector<sample>* quantised = nullptr;  ///< null: the float ones are judged
};

/// Writes float32/NAME.OUTPUT.npy, quantised/NAME.OUTPUT.npy and samples.txt into a folder of its own, calls the
/// program with the folder of what is judged, and returns the number that it prints. Refuses programs that fail, print
/// something else, or take longer; the folder is gone in any case.
double run_metric(const metric_program& p, const judged_outputs& outputs);

}
