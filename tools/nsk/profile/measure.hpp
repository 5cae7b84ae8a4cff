// SPDX-License-Identifier: MIT
#pragma once
/// Measures this machine.
#include <functional>
#include <string>

#include "engine/engine.hpp"
#include "profile/profile.hpp"

namespace nsk::tool {

/// Returns what one core of this machine does: FMA peak, bandwidths, overheads, reference networks. Takes about
/// `seconds` of processor time, and at most three times as long by the clock. Rounds are interleaved and the best of
/// each figure counts, so that other work on the machine disturbs little. `progress` is told what is happening and
/// which share of the time has passed.
device_profile measure_device(const engine& e, double seconds,
                              const std::function<void(const std::string& what, double share)>& progress);

/// Fills every input with numbers in [-1, 1] (zeros where it does not hold floats), the same on every call.
void fill_with_noise(const model& m, inference& r, int variant = 0);

}
