// SPDX-License-Identifier: MIT
#pragma once
/// Functions of one byte, the same for all or one for each channel.
#include <algorithm>
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::byte_table> : streamed<op::byte_table, streamed_elements>, kind_is<work_kinds::elementwise> {
  using parameters = byte_table_parameters;

  static void lower(lowerer& l, const operation& o, const parameters& p) {
    if (!p.channels.empty()) return lower_by_channels(l, o, p);
    elementwise_step<op::byte_table>(l, o);
    const int table = constant_bytes(l, o.name + "#table", dtype::uint8, packing::plain,
                                     std::vector<std::uint8_t>(p.table.begin(), p.table.end()));
    l.result.steps.back().inputs.push_back(table);
  }

 private:
  static void lower_by_channels(lowerer& l, const operation& o, const parameters& p) {
    const view x = l.with_innermost(l.place_of(o.inputs[0]), p.axis, o);
    axis_order axes = order_of(x);
    axes.erase(std::find(axes.begin(), axes.end(), p.axis));
    axes.push_back(p.axis);
    require_rank(o, axes.size());
    const view y = l.allocate(o.output, axes, true);
    const int input = l.tensor(x, axes, l.name_of_value(o.inputs[0])),
              output = l.tensor(y, axes, l.name_of_value(o.output)),
              tables = constant_bytes(l, o.name + "#tables", dtype::uint8, packing::plain, p.channels);
    l.step<op::byte_table>(o, {input, tables}, output);
    l.bind(o.output, y);
  }
};

}
