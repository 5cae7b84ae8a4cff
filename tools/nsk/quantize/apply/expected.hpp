// SPDX-License-Identifier: MIT
#pragma once
/// How long a network is expected to take before and after its layers became integers.
#include <set>
#include <string>
#include <vector>
#include "profile/profile.hpp"
#include "quantize/layers.hpp"
#include "quantize/apply/quantize.hpp"
#include "quantize/choose/targets.hpp"

namespace nsk::tool {

/// By the rates of a target: the layers and what is between them, without the steps that stay as they are.
expected_time expected_on(const target& t, const graph& g, const std::vector<float_layer>& layers,
                          const std::set<std::string>& floats);

/// By a profile of a machine, which has measured float kernels: all steps of both files. Kernels of integers are to the
/// float ones as the rates of `ratios` say.
expected_time expected_by(const device_profile& p, const target& ratios, const model& before, const model& after);

}
