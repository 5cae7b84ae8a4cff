// SPDX-License-Identifier: MIT
#pragma once
/// Real numbers that bytes store.
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::dequantize> : elementwise<op::dequantize>, kind_is<work_kinds::elementwise> {};

}
