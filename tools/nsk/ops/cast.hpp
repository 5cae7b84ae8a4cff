// SPDX-License-Identifier: MIT
#pragma once
/// Conversions between element types.
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::cast> : elementwise<op::cast>, moves_elements {};

}
