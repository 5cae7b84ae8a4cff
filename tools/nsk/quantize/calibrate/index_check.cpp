// SPDX-License-Identifier: MIT
#include <algorithm>
#include <set>

#include "errors.hpp"
#include "quantize/calibrate/samples.hpp"
#include "reference/evaluator.hpp"

namespace nsk::tool {
namespace {

/// A node that reads by indices.
struct index_reader {
  const node* reader;
  value_id indices;
  std::vector<std::int64_t> lengths;  ///< of the axes that an index has a number for, in order
};

/// The lengths of the axes that a node's indices are of; none where it has no indices.
std::vector<std::int64_t> lengths_of(const graph& g, const node& n) {
  static const std::set<std::string> along_axis = {"Gather", "GatherElements", "ScatterElements", "Scatter"};
  const bool tuples = n.op == "GatherND" || n.op == "ScatterND";
  if (!n.domain.empty() || (along_axis.count(n.op) == 0 && !tuples)) return {};
  const shape_t &data = g.at(n.inputs[0]).shape, &indices = g.at(n.inputs[1]).shape;
  const auto rank = static_cast<std::int64_t>(data.size());
  if (!tuples) {
    const std::int64_t axis = n.integer("axis", 0);
    const std::int64_t from_front = axis < 0 ? axis + rank : axis;
    return from_front >= 0 && from_front < rank ? std::vector{data[static_cast<std::size_t>(from_front)]}
                                                : std::vector<std::int64_t>();
  }
  const std::int64_t first = n.op == "GatherND" ? n.integer("batch_dims", 0) : 0;
  const std::int64_t count = indices.empty() ? 0 : indices.back();
  if (first < 0 || count < 1 || first + count > rank) return {};
  return {data.begin() + first, data.begin() + first + count};
}

/// Keeps the nodes of a graph that lead to its outputs. Returns false where one of them costs more than a look.
bool keep_ancestors(graph& g) {
  static const std::set<std::string> costly = {"Conv", "ConvTranspose", "Einsum", "GRU",    "Gemm", "If",
                                               "LSTM", "Loop",          "MatMul", "Resize", "RNN",  "Scan"};
  std::set<value_id> needed(g.outputs.begin(), g.outputs.end());
  std::vector<node> kept;
  for (auto n = g.nodes.rbegin(); n != g.nodes.rend(); ++n) {
    if (std::none_of(n->outputs.begin(), n->outputs.end(), [&](value_id v) { return needed.count(v) != 0; })) continue;
    if (costly.count(n->op) != 0 || !is_known_operator(*n)) return false;
    needed.insert(n->inputs.begin(), n->inputs.end());
    kept.push_back(*n);
  }
  std::reverse(kept.begin(), kept.end());
  g.nodes = std::move(kept);
  return true;
}

std::vector<index_reader> readers_of(const graph& g) {
  std::vector<index_reader> found;
  for (const node& n : g.nodes) {
    const std::vector<std::int64_t> lengths = lengths_of(g, n);
    if (!lengths.empty() && !g.at(n.inputs[1]).constant) found.push_back({&n, n.inputs[1], lengths});
  }
  return found;
}

void require_inside(const array& indices, const index_reader& r, const std::string& sample_name) {
  for (std::int64_t i = 0; i < indices.count(); ++i) {
    const std::int64_t index = indices.integer(i), length = r.lengths[static_cast<std::size_t>(i) % r.lengths.size()];
    if (index < -length || index >= length)
      refuse("--calibrate: " + sample_name + " makes node '" + r.reader->name + "' (" + r.reader->op + ") read index " +
             std::to_string(index) + " of an axis of " + std::to_string(length) +
             ". Correct the sample, whose indices go from " + std::to_string(-length) + " to " +
             std::to_string(length - 1));
  }
}

/// Refuses a sample, by the graph for its shapes.
void require_indices(const graph& g, const sample& s, const std::string& name) {
  const bool whole = s.size() == g.inputs.size();
  for (const index_reader& r : readers_of(g)) {
    graph leading = g;
    leading.outputs = {r.indices};
    const bool is_input = std::find(g.inputs.begin(), g.inputs.end(), r.indices) != g.inputs.end();
    if (!is_input && (!whole || !keep_ancestors(leading))) continue;
    const std::string& indices = g.at(r.indices).name;
    if (is_input && s.count(indices) == 0) continue;  // a state
    require_inside(is_input ? s.at(indices) : evaluator(leading).run(s).at(indices), r, name);
  }
}

}

void require_indices(const variant_source& v, const std::vector<sample>& samples,
                     const std::vector<std::string>& files) {
  length_choice lengths = bounds_of(v.lengths);
  graph g = v.g;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::string name = i < files.size() ? "'" + files[i] + "'" : "sample " + std::to_string(i);
    const length_choice own = lengths_of(v, samples[i], name);
    if (own != lengths) g = fixed_source(v, lengths = own).g;
    require_indices(g, samples[i], name);
  }
}

}
