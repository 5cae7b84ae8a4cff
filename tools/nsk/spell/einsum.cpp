// SPDX-License-Identifier: MIT
#include <algorithm>
#include <set>

#include "graph/einsum.hpp"
#include "spell/forms.hpp"

namespace nsk::tool {
namespace {

bool has(const axis_labels& labels, int label) { return std::count(labels.begin(), labels.end(), label) != 0; }

/// A value with a label for each axis.
struct operand {
  value_id v;
  axis_labels labels;
};

/// An equation on its way to equations of two operands.
class contraction {
 public:
  explicit contraction(speller& s) : m_s(s) {
    std::vector<shape_t> shapes;
    for (std::size_t i = 0; i < s.op().inputs.size(); ++i) shapes.push_back(s.shape(i));
    m_e = einsum_equation_of(s.op(), shapes, s.op().op);
    std::set<int> labels;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      m_operands.push_back({s.in(i), m_e.inputs[i]});
      m_shapes.push_back(shapes[i]);
      labels.insert(m_e.inputs[i].begin(), m_e.inputs[i].end());
    }
    if (labels.size() > letters.size()) s.refuse("its equation has more than 52 axes");
    m_labels.assign(labels.begin(), labels.end());
  }

  void write() {
    for (std::size_t i = 0; i < m_operands.size(); ++i) take_diagonals(m_operands[i], m_shapes[i]);
    while (m_operands.size() > 2) {
      const operand a = m_operands[0], b = m_operands[1];
      m_operands.erase(m_operands.begin(), m_operands.begin() + 2);
      const axis_labels kept = kept_of(a, b);
      const value_id made = m_s.add("Einsum", {a.v, b.v}, {{"equation", text_of({a.labels, b.labels}, kept)}});
      m_operands.insert(m_operands.begin(), {made, kept});
    }
    std::vector<value_id> inputs;
    std::vector<axis_labels> terms;
    for (const operand& o : m_operands) {
      inputs.push_back(o.v);
      terms.push_back(o.labels);
    }
    m_s.give(0, "Einsum", inputs, {{"equation", text_of(terms, m_e.output)}});
  }

 private:
  static inline const std::string letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

  std::string text_of(const std::vector<axis_labels>& terms, const axis_labels& result) const {
    const auto text = [&](const axis_labels& labels) {
      std::string t;
      for (const int label : labels)
        t += letters[static_cast<std::size_t>(std::find(m_labels.begin(), m_labels.end(), label) - m_labels.begin())];
      return t;
    };
    std::string all;
    for (const axis_labels& term : terms) all += (all.empty() && &term == &terms[0] ? "" : ",") + text(term);
    return all + "->" + text(result);
  }

  /// Labels of two operands that the result or a later operand has.
  axis_labels kept_of(const operand& a, const operand& b) const {
    axis_labels kept;
    for (const operand* o : {&a, &b})
      for (const int label : o->labels) {
        const bool later = std::any_of(m_operands.begin(), m_operands.end(),
                                       [&](const operand& other) { return has(other.labels, label); });
        if (!has(kept, label) && (later || has(m_e.output, label))) kept.push_back(label);
      }
    return kept;
  }

  /// Where a label stands twice in a term, the elements whose places are equal.
  void take_diagonals(operand& o, shape_t& shape) {
    for (std::size_t d = 0; d < o.labels.size(); ++d) {
      const auto again = std::find(o.labels.begin() + static_cast<std::ptrdiff_t>(d) + 1, o.labels.end(), o.labels[d]);
      if (again == o.labels.end()) continue;
      take_diagonal(o, shape, d, static_cast<std::size_t>(again - o.labels.begin()));
      --d;  // there may be a third one
    }
  }
  void take_diagonal(operand& o, shape_t& shape, std::size_t first, std::size_t second) {
    const std::int64_t length = std::max(shape[first], shape[second]);
    if (shape[first] != shape[second]) m_s.refuse("a label stands twice in a term for axes of different lengths");
    std::vector<std::int64_t> order = {static_cast<std::int64_t>(first), static_cast<std::int64_t>(second)};
    axis_labels labels = {o.labels[first]};
    shape_t rest = {length * length}, left = {length};
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (d == first || d == second) continue;
      order.push_back(static_cast<std::int64_t>(d));
      labels.push_back(o.labels[d]);
      rest.push_back(shape[d]);
      left.push_back(shape[d]);
    }
    array places = m_s.make(element::i64, {length});
    for (std::int64_t i = 0; i < length; ++i) places.set_integer(i, i * (length + 1));
    const value_id moved = m_s.add("Transpose", {o.v}, {{"perm", order}}),
                   lines = m_s.add("Reshape", {moved, m_s.integers(rest)});
    o.v = m_s.add("Gather", {lines, m_s.keep(std::move(places))}, {{"axis", std::int64_t{0}}});
    o.labels = labels;
    shape = left;
  }

  speller& m_s;
  einsum_equation m_e;
  std::vector<operand> m_operands;
  std::vector<shape_t> m_shapes;
  std::vector<int> m_labels;
};

}

bool is_long_einsum(const graph& g, const node& n) {
  if (n.op != "Einsum" || !n.domain.empty()) return false;
  if (n.inputs.size() > 2) return true;
  std::vector<shape_t> shapes;
  for (const value_id v : n.inputs) {
    if (v == no_value) return false;
    shapes.push_back(g.at(v).shape);
  }
  for (axis_labels term : einsum_equation_of(n, shapes, describe(g, n)).inputs) {
    std::sort(term.begin(), term.end());
    if (std::adjacent_find(term.begin(), term.end()) != term.end()) return true;
  }
  return false;
}

void write_short_einsums(speller& s) {
  constexpr std::size_t max_inputs = 64;
  if (s.op().inputs.size() > max_inputs) s.refuse("it has more than 64 inputs");
  contraction(s).write();
}

}
