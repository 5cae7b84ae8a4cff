// SPDX-License-Identifier: MIT
#pragma once
/// How far a device is from the CPU session of the same variant.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "gpu/device.hpp"
#include "report/measure.hpp"

namespace nsk::tool {

/// Errors are shares of a tensor's largest magnitude; of the largest term where a sum is as near as float32 can add
/// such terms.
struct device_comparison {
  static constexpr double step_tolerance = 1e-5, output_tolerance = 2e-4;
  std::vector<comparison> outputs, steps;  ///< worst first; outputs and what states hold behind the run
  double worst_output() const { return worst(outputs); }
  double worst_step() const { return worst(steps); }
  bool good() const { return worst_output() <= output_tolerance && worst_step() <= step_tolerance; }

 private:
  static double worst(const std::vector<comparison>& rows) { return rows.empty() ? 0 : rows.front().relative; }
};

/// Runs every step that has a shader on the device, on the bytes that the CPU has before it, and then the whole
/// inference from the inputs. The inputs are those in the memory of `cpu`, which must have run nothing yet.
device_comparison compare_with_cpu(const model& m, int variant, runner& cpu, device_runner& device);

/// A table, worst first, at most `rows` steps, and a line with the result.
std::string device_comparison_text(const device_comparison& c, const device_facts& facts, std::size_t rows);
nlohmann::json device_comparison_json(const device_comparison& c, const std::string& name, const device_facts& facts);

}
