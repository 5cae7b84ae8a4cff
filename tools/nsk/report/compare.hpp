// SPDX-License-Identifier: MIT
#pragma once
/// How far the engine is from the reference evaluator: per step and at the outputs.
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>
#include "engine/engine.hpp"
#include "graph/graph.hpp"

#include <netsuke/model/model.hpp>

namespace nsk::tool {

/// One tensor. `relative` is max_error as a share of the reference's largest magnitude, the figure that tolerances speak of;
/// `ulp` the largest distance in units in the last place of float32 among values above a thousandth of that magnitude.
struct comparison {
  std::string name, step_name;
  int step = -1;  ///< -1: a model output
  double max_error = 0, mean_error = 0, largest = 0, relative = 0, ulp = 0;
};

struct comparison_report {
  std::vector<comparison> outputs, steps;  ///< worst first
  int steps_without_counterpart = 0;       ///< steps whose result has no value of the same name in the source
  double worst() const;
  bool within(double tolerance) const { return worst() <= tolerance; }
};

/// Random inputs for every input of the model, in the source's names and axes.
std::map<std::string, array> random_inputs(const model& m, std::uint64_t seed);

/// Runs both on the same inputs. `g` is the source, resolved for the model's input shapes; `progress` is told what is happening.
comparison_report compare(const graph& g, const model& m, runner& r, const std::map<std::string, array>& inputs,
                          const std::function<void(const std::string&)>& progress);

/// A table, worst first, at most `rows` steps.
std::string comparison_text(const comparison_report& report, double tolerance, std::size_t rows);
nlohmann::json comparison_json(const comparison_report& report, double tolerance);

}
