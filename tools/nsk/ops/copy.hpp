// SPDX-License-Identifier: MIT
#pragma once
/// Copies of elements, which layouts make necessary.
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::copy> : streamed<op::copy, streamed_elements>, moves_elements {
  using parameters = made_by_lowering;
};

}
