// SPDX-License-Identifier: MIT
#pragma once
/// Functions of one byte.
#include <memory>
#include "ops/impl/lower_parts.hpp"
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::byte_table> : streamed<op::byte_table, streamed_elements>, kind_is<work_kinds::elementwise> {
  using parameters = byte_table_parameters;

  static void lower(lowerer& l, const operation& o, const parameters& p) {
    elementwise_step<op::byte_table>(l, o);
    const int table = constant_bytes(l, o.name + "#table", dtype::uint8, packing::plain,
                                     std::vector<std::uint8_t>(p.table.begin(), p.table.end()));
    l.result.steps.back().inputs.push_back(table);
  }
};

}
