// SPDX-License-Identifier: MIT
#pragma once
#include <netsuke/model/model.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace nsk::tool {

/// Which steps read what which steps wrote. A producer of -1 - i is the model's input i.
struct step_edge {
  int from, to;
};
/// Returns the flow of data between the steps of a variant, found from the bytes that they write and read: through
/// views, concatenations in place and results that overwrite their operands.
std::vector<step_edge> flow_of(const variant_view& v);

/// Draws the graph of steps of the first variant, top to bottom: a box per step coloured by operator, the shape of its
/// result below it. `report` is what inspect() returns for `m`.
std::string graph_svg(const model& m, const nlohmann::json& report);

}
