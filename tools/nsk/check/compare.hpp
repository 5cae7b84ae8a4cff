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
#include "check/measure.hpp"
#include "check/random_inputs.hpp"

#include <netsuke/model/model.hpp>

namespace nsk::tool {

struct comparison_report {
  std::vector<comparison> outputs, steps;  ///< worst first
  int steps_without_counterpart = 0;       ///< steps whose result has no value of the same name in the source
  /// Stored integers a step apart because the number that was stored is a half to the last bits of a float.
  std::int64_t halves = 0;
  /// The first value of the source with a number that is no normal one in float32, and the number; empty where there is
  /// none.
  std::string beyond_float32;
  bool judges_reach = false;  ///< `reach` decides as well: the game said that a few elements are far larger
  double worst() const;
  /// The largest `reach`; -1 where none was measured.
  double worst_reach() const;
  /// The largest `local`; infinite where it was not measured for every output.
  double worst_local() const;
  /// Whether the engine computes what the source does. A network may amplify the rounding of any float32 computation,
  /// or jump where two numbers are nearly equal; then every step must be right to a fifth of the tolerance on its own
  /// inputs, or nothing may be further off than eight times what rounding alone does to the reference, a hundredth of
  /// the largest magnitude at most.
  bool within(double tolerance) const {
    return !reaches_too_far() &&
           (worst() <= tolerance || worst_local() <= tolerance / 5 || explained_by_rounding(tolerance));
  }
  /// Whether elements are wrong by more than 1e-2 of what their own windows hold, where that decides.
  bool reaches_too_far() const { return judges_reach && worst_reach() > max_reach; }
  static constexpr double max_reach = 1e-2;
  /// No rounding explains a wrong byte: the halves among them are the engine's already.
  bool explained_by_rounding(double tolerance) const;
  /// Integers of the steps' results, and those that are wrong on the step's own inputs.
  std::int64_t integers() const { return sum_of(&comparison::integers); }
  std::int64_t wrong_integers() const { return sum_of(&comparison::unequal); }
  /// Whether this one of several variants stands for all of them: one that fails prevails, then the larger error.
  bool prevails_over(const comparison_report& other, double tolerance) const {
    const bool passes = within(tolerance);
    return passes == other.within(tolerance) ? worst() > other.worst() : !passes;
  }

 private:
  std::int64_t sum_of(std::int64_t comparison::*count) const;
};

/// What becomes of the errors of convolutions beside what their own windows hold.
enum class window_errors { unknown, told, judged };

/// Runs both on the same inputs. `g` is the source, resolved for the model's input shapes; `progress` is told what is
/// happening. Where an error exceeds 1e-4 the reference is evaluated once more, step by step from the engine's values,
/// to fill in `local`. Outputs and states are compared whole, of the steps' results about `sampled` elements each, and
/// all of them once one is wrong. `windows` fills in `reach`.
comparison_report compare(const graph& g, const model& m, runner& r, const std::map<std::string, array>& inputs,
                          const std::function<void(const std::string&)>& progress, int variant = 0,
                          std::int64_t sampled = all_elements, window_errors windows = window_errors::unknown);

/// compare() on random inputs (random_inputs.hpp) but for those in `given`. Where the source has no result on them
/// (undefined_result), others are sampled, eight times in all. A small graph with results whose number is data is also
/// compared on inputs that choose none, few and all of them; the worst comparison is returned. Errors beside the
/// windows are judged where a range of the choice is wide, and told where all elements are compared and a convolution
/// is Winograd's.
comparison_report compare_on_random(const graph& g, const model& m, runner& r, random_choice choice,
                                    const std::map<std::string, array>& given,
                                    const std::function<void(const std::string&)>& progress, int variant = 0,
                                    std::int64_t sampled = all_elements);

/// Returns the largest difference between the outputs of two graphs that differ in constants alone, on random inputs of
/// the model, over the largest magnitude of the output.
double distance_of(const graph& a, const graph& b, const model& m, int variant);

/// A table, worst first, at most `rows` steps.
/// Why a model does not pass, and what to do: a sentence or two for people.
std::string cure_of(const comparison_report& report);
std::string comparison_text(const comparison_report& report, double tolerance, std::size_t rows);
nlohmann::json comparison_json(const comparison_report& report, double tolerance);

}
