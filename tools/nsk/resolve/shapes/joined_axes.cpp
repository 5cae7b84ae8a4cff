// SPDX-License-Identifier: MIT
#include "resolve/shapes/joined_axes.hpp"

#include <netsuke/core/tensor.hpp>

#include "spell/speller.hpp"

namespace nsk::tool {
namespace {

bool is_long(const value& v) { return v.shape.size() > static_cast<std::size_t>(max_rank); }

/// The shape with its axes from the second on joined, as many as there are too many.
shape_t joined(const shape_t& shape) {
  const std::size_t joins = shape.size() - static_cast<std::size_t>(max_rank) + 1;
  shape_t result = {shape[0], 1};
  for (std::size_t d = 1; d < shape.size(); ++d)
    if (d <= joins)
      result[1] *= shape[d];
    else
      result.push_back(shape[d]);
  return result;
}

/// A value of the joined shape that takes the name of `v`, which gets another one.
value_id take_name(graph& g, value_id v, const char* what) {
  value port = g.at(v);
  const std::string name = port.name;
  std::string other = name + "/axes";
  while (g.find(other) != no_value) other += "_";
  g.at(v).name = other;
  for (node& n : g.nodes) rename_captures(n, {{name, other}});
  port.shape = joined(port.shape);
  port.symbols.clear();
  g.facts.notes.push_back(std::string(what) + " '" + name + "' has " + std::to_string(g.at(v).shape.size()) +
                          " axes, and a tensor of the engine has 6: it is " + to_string(port.shape) +
                          " here, with the same elements in the same order");
  return g.add(std::move(port));
}

node reshape(graph& g, value_id from, value_id to) {
  const std::string name = g.at(to).name + "/reshape";
  const shape_t wanted = g.at(to).shape;
  const value_id shape = g.add_constant(name + "_shape", make_ints({static_cast<std::int64_t>(wanted.size())}, wanted));
  return node_of("Reshape", name, {from, shape}, to, speller::opset);
}

}

void join_axes_of_inputs(graph& g) {
  for (value_id& v : g.inputs) {
    if (!is_long(g.at(v))) continue;
    const value_id port = take_name(g, v, "input");
    g.nodes.insert(g.nodes.begin(), reshape(g, port, v));
    v = port;
  }
}

void join_axes_of_outputs(graph& g) {
  for (value_id& v : g.outputs) {
    if (!is_long(g.at(v))) continue;
    const value_id port = take_name(g, v, "output");
    g.at(port).constant = nullptr;
    g.nodes.push_back(reshape(g, v, port));
    v = port;
  }
}

}
