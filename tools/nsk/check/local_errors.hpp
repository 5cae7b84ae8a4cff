// SPDX-License-Identifier: MIT
#pragma once
/// Errors of single steps: the reference goes on from the engine's own values.
#include <map>
#include <string>
#include <vector>
#include "check/banded_values.hpp"
#include "check/compare.hpp"
#include "check/receptive_fields.hpp"

namespace nsk::tool {

/// The engine's value of one name: as it is stored in memory if a step made it, an output in the source's axes.
struct engine_value : stored_value {
  int step = -1;
};
using engine_values = std::map<std::string, engine_value>;  ///< by source name

/// Errors, as shares of the largest magnitude: of numbers that need no second look, and of those that do.
inline constexpr double plainly_equal = 1e-5, suspicious = 1e-4;

/// Returns the magnitude of what was added up to the value of this name; 0 where it is no sum.
double operands_of(const std::map<std::string, double>& operands, const std::string& name);

/// Measures an engine's value, of bands as they are nearer to what is wanted; `got` becomes what was measured.
comparison measure_value(const engine_value& v, const array& wanted, double operands, std::int64_t sampled,
                         std::vector<int>& order, const array*& got);

/// What the reference does with numbers that float32 does not have, between the values that the engine has.
enum class number_range { of_double, of_float32 };

/// A run of the engine that is looked at once more.
struct engine_run {
  const graph& g;  ///< the source
  const variant_view& v;
  const std::map<std::string, array>& inputs;
  const engine_values& values;
  const std::map<std::string, double>& operands;  ///< of sums, by their names
};

/// Evaluates the source again, each value from the engine's earlier ones, and notes how far each of the engine's is
/// from it where that is less than what is known. Values that are far from the source's, which show their order of axes
/// badly, are near these. With `fields`, which may be null, also how far beside what its own window holds.
void measure_locally(const engine_run& run, number_range range, receptive_fields* fields, comparison_report& report);

}
