// SPDX-License-Identifier: MIT
#pragma once
/// Where: elements of one value or another.
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::select> : elementwise<op::select>, moves_elements {};

}
