// SPDX-License-Identifier: MIT
#pragma once
/// Copies of elements, which layouts make necessary.
#include "ops/op_room.hpp"

namespace nsk::tool {

template <>
struct op_room<op::copy> : streamed<op::copy, streamed_elements>, moves_elements {
  using parameters = made_by_lowering;
};

}
