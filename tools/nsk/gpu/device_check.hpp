// SPDX-License-Identifier: MIT
#pragma once
/// How far a device is from the CPU session of the same variant.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "gpu/device.hpp"
#include "check/measure.hpp"

namespace nsk::tool {

/// Errors are shares of a tensor's largest magnitude; of the largest term where a sum is as near as float32 can add
/// such terms.
struct device_comparison {
  static constexpr double step_tolerance = 1e-5, float_tolerance = 2e-4, half_tolerance = 2e-3;
  std::vector<comparison> outputs, steps;  ///< worst first; outputs and what states hold behind the run
  /// 16-bit floats are stored: outputs alone are judged, and steps are those of one run, with the errors that the steps
  /// before them left.
  bool halves = false;
  int device_steps = 0;  ///< that ran there; where there is none, nothing was compared
  double worst_output() const { return worst(outputs); }
  double worst_step() const { return worst(steps); }
  double output_tolerance() const { return halves ? half_tolerance : float_tolerance; }
  bool good() const {
    return device_steps > 0 && worst_output() <= output_tolerance() && (halves || worst_step() <= step_tolerance);
  }
  /// "output 'mask' is 5.6e-02 of its largest magnitude off (tolerance 2e-03)".
  std::string failed_output_text() const;

 private:
  static double worst(const std::vector<comparison>& rows) { return rows.empty() ? 0 : rows.front().relative; }
};

/// Runs every step that has a shader on the device, on the bytes that the CPU has before it, and then the whole
/// inference from the inputs. Where the device stores 16-bit floats, steps are compared along one run of both, so that
/// they show where errors grow. The inputs are those in the memory of `cpu`, which must have run nothing yet.
device_comparison compare_with_cpu(const model& m, int variant, runner& cpu, device_runner& device);

/// A table, worst first, at most `rows` steps, and a line with the result.
std::string device_comparison_text(const device_comparison& c, std::size_t rows);
nlohmann::json device_comparison_json(const device_comparison& c, const std::string& name, const device_facts& facts);

}
