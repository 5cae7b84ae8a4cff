// SPDX-License-Identifier: MIT
#pragma once
/// Comparisons.
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::compare> : elementwise<op::compare>, moves_elements {};

}
