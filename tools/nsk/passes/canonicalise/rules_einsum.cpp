// SPDX-License-Identifier: MIT
/// Einsum as transpositions, a matrix product and sums.
#include <algorithm>
#include "graph/einsum.hpp"
#include "passes/canonicalise/arithmetic.hpp"
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/moves.hpp"
#include "passes/canonicalise/rules.hpp"

namespace nsk::tool::canonical {
namespace {

bool has(const axis_labels& labels, int label) { return std::count(labels.begin(), labels.end(), label) != 0; }

axis_labels joined(axis_labels a, const axis_labels& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// One Einsum with one or two operands on its way to canonical operations. Labels sort into those of both operands and
/// the output (batch), of both but not the output (depth), and of one and the output (left, right); what one operand
/// has for itself is summed at once.
class contraction {
 public:
  explicit contraction(context& c) : m_c(c) {
    const node& n = c.op();
    for (std::size_t i = 0; i < n.inputs.size(); ++i) m_shapes.push_back(c.in_shape(i));
    m_e = einsum_equation_of(n, m_shapes, describe(c.source(), n));
  }

  void run() {
    for (const axis_labels& term : m_e.inputs)
      for (int label : term)
        if (std::count(term.begin(), term.end(), label) != 1)
          m_c.refuse("diagonals have no kernel: a label stands twice in one term of the equation");
    if (m_e.inputs.size() > 2) m_c.refuse("Einsum has one or two inputs; split it in the exporter");
    sort_labels();
    if (m_e.inputs.size() == 1)
      finish(arranged(0, m_left), m_left);
    else if (m_depth.empty() || (m_left.empty() && m_right.empty()))
      product_by_element();
    else if (m_batch.empty() && is_constant(1))
      dense(0, m_left, 1, m_right);
    else if (m_batch.empty() && is_constant(0))
      dense(1, m_right, 0, m_left);
    else
      product();
  }

 private:
  bool is_constant(std::size_t i) const { return m_c.input(i).constant != nullptr; }
  /// Whether operand `i` varies along a label; what has one element there only repeats.
  bool varies(std::size_t i, int label) const {
    const axis_labels& term = m_e.inputs[i];
    const auto at = std::find(term.begin(), term.end(), label);
    if (at == term.end()) return false;
    return m_shapes[i][static_cast<std::size_t>(at - term.begin())] != 1 || length_of(m_e, m_shapes, label) == 1;
  }
  std::int64_t length(int label) const { return length_of(m_e, m_shapes, label); }
  shape_t lengths(const axis_labels& labels) const {
    shape_t shape;
    for (int label : labels) shape.push_back(length(label));
    return shape;
  }

  void sort_labels() {
    const bool two = m_e.inputs.size() == 2;
    for (int label : m_e.output)
      (!two || !varies(1, label) ? m_left : varies(0, label) ? m_batch : m_right).push_back(label);
    for (int label : m_e.inputs[0])
      if (two && varies(0, label) && varies(1, label) && !has(m_e.output, label)) m_depth.push_back(label);
  }

  /// Operand `i` as [order...]; what it has besides is summed.
  int arranged(std::size_t i, const axis_labels& order) {
    const axis_labels& term = m_e.inputs[i];
    const std::string suffix = std::to_string(i);
    int x = m_c.in(i);
    std::vector<int> axes;
    axis_labels kept;
    for (std::size_t d = 0; d < term.size(); ++d) {
      if (has(order, term[d]) && varies(i, term[d]))
        kept.push_back(term[d]);
      else if (m_shapes[i][d] != 1)
        axes.push_back(static_cast<int>(d));
    }
    if (!axes.empty()) x = reduced(m_c, reduce_kind::sum, x, axes, "sum" + suffix);
    return permuted(reshaped(m_c, x, lengths(kept)), kept, order, "turned" + suffix);
  }
  /// x [from...] as [to...].
  int permuted(int x, const axis_labels& from, const axis_labels& to, const std::string& suffix) {
    if (from == to) return x;
    std::vector<int> permutation;
    for (int label : to)
      permutation.push_back(static_cast<int>(std::find(from.begin(), from.end(), label) - from.begin()));
    return transposed(m_c, x, permutation, suffix);
  }
  void finish(int x, const axis_labels& labels) {
    const int result = permuted(x, labels, m_e.output, "result");
    m_c.emit(reshape_parameters{}, {result});
  }

  /// Multiplies element by element, and sums over the depth.
  void product_by_element() {
    const axis_labels all = joined(joined(joined(m_batch, m_left), m_right), m_depth);
    const auto spread = [&](std::size_t i) {
      axis_labels own;
      shape_t shape;
      for (int label : all) {
        const bool here = varies(i, label);
        if (here) own.push_back(label);
        shape.push_back(here ? length(label) : 1);
      }
      return reshaped(m_c, arranged(i, own), shape);
    };
    int x = combine(m_c, binary_kind::mul, spread(0), spread(1), "products");
    std::vector<int> axes;
    for (std::size_t d = all.size() - m_depth.size(); d < all.size(); ++d) axes.push_back(static_cast<int>(d));
    if (!axes.empty()) x = reduced(m_c, reduce_kind::sum, x, axes, "total");
    const axis_labels kept(all.begin(), all.end() - static_cast<std::ptrdiff_t>(m_depth.size()));
    finish(reshaped(m_c, x, lengths(kept)), kept);
  }

  /// [batch..., rows, depth] times [batch..., depth, columns].
  void product() {
    const shape_t batch = lengths(m_batch);
    const std::int64_t rows = count_of(lengths(m_left)), depth = count_of(lengths(m_depth)),
                       columns = count_of(lengths(m_right));
    const auto shaped = [&](int x, std::int64_t first, std::int64_t second) {
      shape_t shape = batch;
      shape.insert(shape.end(), {first, second});
      return reshaped(m_c, x, shape);
    };
    const int a = shaped(arranged(0, joined(joined(m_batch, m_left), m_depth)), rows, depth),
              b = shaped(arranged(1, joined(joined(m_batch, m_depth), m_right)), depth, columns);
    shape_t shape = batch;
    shape.insert(shape.end(), {rows, columns});
    const int x = m_c.temporary("product", shape);
    m_c.emit(mat_mul_params{}, {a, b}, x);
    const axis_labels all = joined(joined(m_batch, m_left), m_right);
    finish(reshaped(m_c, x, lengths(all)), all);
  }

  /// Data [left..., depth] times constant weights.
  void dense(std::size_t data, const axis_labels& left, std::size_t constant, const axis_labels& right) {
    const std::int64_t depth = count_of(lengths(m_depth)), outputs = count_of(lengths(right));
    dense_parameters d;
    d.depth = static_cast<int>(depth);
    d.outputs = static_cast<int>(outputs);
    d.bias.assign(static_cast<std::size_t>(outputs), 0.0);
    d.weights = weights(constant, joined(m_depth, right));
    const auto with = [&](std::int64_t last) {
      shape_t shape = left.empty() ? shape_t{1} : lengths(left);
      shape.push_back(last);
      return shape;
    };
    const int x = reshaped(m_c, arranged(data, joined(left, m_depth)), with(depth)),
              y = m_c.temporary("product", with(outputs));
    m_c.emit(std::move(d), {x}, y);
    const axis_labels all = joined(left, right);
    finish(reshaped(m_c, y, lengths(all)), all);
  }
  /// Constant operand `i` in the order of `labels`, summed over what it has besides.
  std::vector<double> weights(std::size_t i, const axis_labels& labels) {
    const std::vector<double> source = canonical::weights(m_c, i, "the constant operand");
    const axis_labels& term = m_e.inputs[i];
    std::vector<double> result(static_cast<std::size_t>(count_of(lengths(labels))), 0.0);
    for (std::size_t k = 0; k < source.size(); ++k) {
      shape_t index(term.size());
      std::size_t rest = k, at = 0;
      for (std::size_t d = term.size(); d-- > 0;) {
        const auto extent = static_cast<std::size_t>(m_shapes[i][d]);
        index[d] = static_cast<std::int64_t>(rest % extent);
        rest /= extent;
      }
      for (int label : labels) {
        const auto d = static_cast<std::size_t>(std::find(term.begin(), term.end(), label) - term.begin());
        at = at * static_cast<std::size_t>(length(label)) + static_cast<std::size_t>(index[d]);
      }
      result[at] += source[k];
    }
    return result;
  }

  context& m_c;
  std::vector<shape_t> m_shapes;
  einsum_equation m_e;
  axis_labels m_batch, m_left, m_right, m_depth;
};

void einsum(context& c) { contraction(c).run(); }

}

void add_einsum(rule_table& t) { t["Einsum"] = {einsum}; }

}
