// SPDX-License-Identifier: MIT
#pragma once
/// Real numbers stored as bytes.
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::quantize> : elementwise<op::quantize>, kind_is<work_kinds::elementwise> {};

}
