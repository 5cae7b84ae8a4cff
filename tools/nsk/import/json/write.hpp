// SPDX-License-Identifier: MIT
#pragma once
/// Graph -> the JSON that import_json reads.
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace nsk::tool {

struct graph_text {
  struct file {
    std::string name;  ///< in the folder
    array values;      ///< as the source stores them
  };
  std::string json;
  std::vector<file> files;  ///< constants of more than 64 elements, one .npy file for each
};

/// Returns an imported graph, before it is resolved, as text; `folder` is the name of the folder that its files will be
/// in, beside the JSON. Reading it gives a graph that converts to the same bytes. Refuses, naming the node, what JSON
/// cannot hold: attributes that are no UTF-8, graphs nested more than 5 deep.
graph_text json_of_graph(const graph& g, const std::string& folder);

}
