// SPDX-License-Identifier: MIT
#pragma once
/// Arithmetic of integers and booleans.
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::arithmetic> : elementwise<op::arithmetic>, moves_elements {};

}
