// SPDX-License-Identifier: MIT
/// Operations on more dimensions than the engine's tensors have: adjacent axes that an operation treats alike become
/// one.
#include <algorithm>
#include <optional>
#include <netsuke/core/tensor.hpp>
#include "passes/fuse/fuse.hpp"

namespace nsk::tool {
namespace {

/// What an operation does with its axes.
struct axis_use {
  std::vector<char> alone;    ///< axes that are not merged with others
  std::vector<char> reduced;  ///< axes that may be merged with each other alone
  int* axis = nullptr;        ///< the operation's only axis
  std::size_t operands = 0;   ///< inputs that have these axes
};

class merger {
 public:
  explicit merger(program& p) : m_p(p) {}

  void run() {
    std::vector<operation> all = std::move(m_p.operations);
    m_p.operations.clear();
    for (operation& o : all)
      if (!merge(o)) m_p.operations.push_back(std::move(o));
  }

 private:
  static bool is_elementwise(const operation& o) {
    return o.as<unary_params>() || o.as<binary_params>() || o.as<compare_params>() || o.as<select_params>() ||
           o.as<arithmetic_params>() || o.as<cast_params>();
  }
  template <class P>
  static int* axis_of(operation& o) {
    P* p = o.as<P>();
    return p ? &p->axis : nullptr;
  }

  /// Nothing for operations that are not known, and for those that have few dimensions.
  std::optional<axis_use> use_of(operation& o) const {
    std::size_t rank = m_p.shape(o.output).size();
    for (const int v : o.inputs) {
      if (v == no_value) return std::nullopt;
      rank = std::max(rank, m_p.shape(v).size());
    }
    if (rank <= static_cast<std::size_t>(nsk::max_rank) || !o.post.slope.empty() || o.post.residual != no_value)
      return std::nullopt;
    axis_use use{std::vector<char>(rank, 0), std::vector<char>(rank, 0), nullptr, o.inputs.size()};
    if (is_elementwise(o)) return use;
    if (o.inputs.empty() || m_p.shape(o.output).size() != rank || m_p.shape(o.inputs[0]).size() != rank)
      return std::nullopt;
    if (const auto* r = o.as<reduce_parameters>()) {
      for (const int a : r->axes) use.reduced[static_cast<std::size_t>(a)] = 1;
      return use;
    }
    if (o.as<layer_normalization_parameters>() || o.as<dense_parameters>()) {
      use.alone.back() = 1;
      return use;
    }
    if (auto* g = o.as<gather_parameters>()) take_gather(o, *g, use);
    for (int* axis : {axis_of<softmax_params>(o), axis_of<arg_reduce_params>(o), axis_of<top_k_params>(o),
                      axis_of<concat_parameters>(o)})
      if (axis) use.axis = axis;
    if (!use.axis) return std::nullopt;
    use.alone[static_cast<std::size_t>(*use.axis)] = 1;
    return use;
  }

  /// Indices of a GatherElements may have fewer elements than the data along any axis: such an axis stays.
  void take_gather(const operation& o, gather_parameters& g, axis_use& use) const {
    use.axis = &g.axis;
    use.operands = g.elements ? 2 : 1;
    for (std::size_t d = 0; g.elements && d < use.alone.size(); ++d)
      use.alone[d] = length(o.inputs[0], d, use.alone.size()) != length(o.inputs[1], d, use.alone.size());
  }

  /// Length of axis `d` of a value that is broadcast to `rank` axes.
  std::int64_t length(int v, std::size_t d, std::size_t rank) const {
    const shape_t& shape = m_p.shape(v);
    const std::size_t missing = rank - shape.size();
    return d < missing ? 1 : shape[d - missing];
  }

  /// Whether all operands are broadcast along both axes, or along neither; an axis of length 1 goes with any other.
  bool alike(const operation& o, const axis_use& use, std::size_t a, std::size_t b) const {
    const std::size_t rank = use.alone.size();
    const auto begin = o.inputs.begin(), end = begin + static_cast<std::ptrdiff_t>(use.operands);
    std::int64_t whole_a = 1, whole_b = 1;
    for (auto v = begin; v != end; ++v) {
      whole_a = std::max(whole_a, length(*v, a, rank));
      whole_b = std::max(whole_b, length(*v, b, rank));
    }
    if (whole_a == 1 || whole_b == 1) return true;
    return std::all_of(begin, end,
                       [&](int v) { return (length(v, a, rank) == whole_a) == (length(v, b, rank) == whole_b); });
  }

  /// Group of each axis.
  std::vector<std::size_t> groups_of(const operation& o, const axis_use& use) const {
    const std::size_t rank = use.alone.size();
    std::vector<std::size_t> groups(rank, 0);
    std::size_t first = 0;
    for (std::size_t d = 1; d < rank; ++d) {
      bool joins = use.alone[d] == 0 && use.alone[d - 1] == 0 && use.reduced[d] == use.reduced[d - 1];
      for (std::size_t other = first; joins && other < d; ++other) joins = alike(o, use, other, d);
      if (!joins) first = d;
      groups[d] = groups[d - 1] + (joins ? 0 : 1);
    }
    return groups;
  }

  shape_t merged_shape(int v, const std::vector<std::size_t>& groups) const {
    shape_t shape(groups.back() + 1, 1);
    for (std::size_t d = 0; d < groups.size(); ++d) shape[groups[d]] *= length(v, d, groups.size());
    return shape;
  }

  int merged_input(const operation& o, int v, const std::vector<std::size_t>& groups) {
    const shape_t shape = merged_shape(v, groups);
    program_value merged = m_p.values[static_cast<std::size_t>(v)];
    merged.shape = shape;
    merged.name = o.name + "#" + merged.name;
    if (merged.constant) {
      auto data = std::make_shared<array>(*merged.constant);
      data->shape = shape;
      merged.constant = std::move(data);
      return m_p.add(std::move(merged));
    }
    operation reshape = o;
    reshape.p = reshape_parameters{};
    reshape.post = {};
    reshape.inputs = {v};
    reshape.output = m_p.add(std::move(merged));
    m_p.operations.push_back(std::move(reshape));
    return m_p.operations.back().output;
  }

  bool merge(operation& o) {
    const std::optional<axis_use> use = use_of(o);
    if (!use) return false;
    const std::vector<std::size_t> groups = groups_of(o, *use);
    for (std::size_t i = 0; i < use->operands; ++i) o.inputs[i] = merged_input(o, o.inputs[i], groups);
    const auto group_of = [&](int axis) { return static_cast<int>(groups[static_cast<std::size_t>(axis)]); };
    if (use->axis) *use->axis = group_of(*use->axis);
    if (auto* r = o.as<reduce_parameters>()) {
      for (int& axis : r->axes) axis = group_of(axis);
      r->axes.erase(std::unique(r->axes.begin(), r->axes.end()), r->axes.end());
    }
    const int result = o.output;
    program_value merged = m_p.values[static_cast<std::size_t>(result)];
    merged.name = o.name + "#merged";
    merged.shape = merged_shape(result, groups);
    o.output = m_p.add(std::move(merged));
    operation back = o;
    back.p = reshape_parameters{};
    back.post = {};
    back.inputs = {o.output};
    back.output = result;
    m_p.operations.push_back(std::move(o));
    m_p.operations.push_back(std::move(back));
    return true;
  }

  program& m_p;
};

}

void merge_axes(program& p) { merger(p).run(); }

}
