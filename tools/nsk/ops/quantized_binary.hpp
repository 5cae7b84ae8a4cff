// SPDX-License-Identifier: MIT
#pragma once
/// Arithmetic of two tensors that bytes store.
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::quantized_binary> : elementwise<op::quantized_binary>, kind_is<work_kinds::elementwise> {};

}
