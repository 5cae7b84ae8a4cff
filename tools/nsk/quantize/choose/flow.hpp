// SPDX-License-Identifier: MIT
#pragma once
/// What is stored as bytes between the layers, so that sums, means and activations from one layer to the next are steps
/// on bytes too.
#include <map>
#include <set>
#include <vector>
#include "graph/graph.hpp"
#include "quantize/layers.hpp"

namespace nsk::tool {

struct byte_flow {
  std::set<value_id> stored;          ///< by a scale; what layers read and make, and what else pays
  std::map<value_id, value_id> like;  ///< stored by the scale of another value: moved, or the largest, or a part of it
  std::set<std::size_t> real;         ///< places of layers whose results are float32: nothing on bytes reads them
  std::set<const node*> between;      ///< nodes that are no layers, and compute on bytes
  std::map<const node*, std::size_t> joined;  ///< those of `between` that are part of a layer, the node at this place

  /// The value whose scale stores `v`.
  value_id scale_of(value_id v) const {
    for (auto found = like.find(v); found != like.end(); found = like.find(v)) v = found->second;
    return v;
  }
};

/// Plans what is stored, `layers` being integers. Results that lead to no layer stay floats.
byte_flow plan_flow(const graph& g, const std::vector<float_layer>& layers);

}
