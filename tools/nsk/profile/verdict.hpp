// SPDX-License-Identifier: MIT
#pragma once
/// Why a model takes the time that it takes on a machine: too much work, or layers that run slower than they could.
#include <string>
#include <vector>

#include "profile/profile.hpp"

namespace nsk::tool {

enum class step_finding {
  as_expected,
  below_expected,  ///< slower than layers of its shape on this machine
  below_kind,      ///< as its shape lets expect, but at less than half the rate of its kind
};
/// "as expected", "slower than its shape", "below its kind".
const char* name_of(step_finding f);

/// One step: what the profile lets expect, what was measured, and what would help.
struct step_verdict {
  std::string kind;
  double expected_us = 0, measured_us = 0;
  double percent_of_kind = 0;  ///< its rate, of the middle rate of the profile's layers of its kind; 0: none is known
  double lost_us = 0;          ///< time that it would save at the rate that it is held to
  step_finding finding = step_finding::as_expected;
  std::string advice;  ///< empty where it is as expected
};

enum class conclusion {
  too_much_work,     ///< the time is that of the work on this machine
  inefficient_steps  ///< at least a tenth of the time is lost in steps with a finding
};
/// "too much work", "inefficient layers".
const char* name_of(conclusion c);

struct verdict {
  conclusion result = conclusion::too_much_work;
  double expected_us = 0, measured_us = 0, lost_us = 0;
  /// How many times as long as expected most steps take: far from 1, the profile is of another machine, or the machine
  /// is busy. Steps are judged beside it.
  double machine = 1;
  bool machine_differs = false;
  std::vector<step_verdict> steps;
  std::vector<int> heaviest;  ///< the steps that take most of the time, longest first, at most five
};

/// Judges the best time of each step (microseconds, one lane) by a profile. `footprint`: bytes that a whole run
/// touches, as in estimate().
verdict judge(const device_profile& p, const std::vector<step_work>& work, const std::vector<double>& measured_us,
              double footprint);

}
