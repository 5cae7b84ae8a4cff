// SPDX-License-Identifier: MIT
/// What exporters spell out and the engine has a kernel for: normalisation of lines, GELU.
#include <algorithm>
#include <cmath>
#include <optional>
#include "passes/recognise/recognise.hpp"
#include "passes/rewriter.hpp"

namespace nsk::tool {
namespace {

/// Looks at a program from results towards inputs.
class recogniser : rewriter {
 public:
  using rewriter::rewriter;

  void run() {
    sweep_once(&recogniser::normalization);
    sweep_once(&recogniser::gelu);
    sweep_once(&recogniser::scaled_normalization);
  }

 private:
  friend class rewriter;

  /// Whether one operation alone reads `v`, and another one makes it.
  bool inner(int v) { return sole_producer(v) != nullptr; }
  static bool near(std::optional<double> v, double wanted) { return v && std::abs(*v / wanted - 1) < 1e-6; }
  /// The operand of a commutative operation beside one that is a constant number; the number goes to `number`.
  int beside_number(const operation& o, std::optional<double>& number) {
    for (std::size_t side = 0; side < 2; ++side) {
      number = scalar(o.inputs[side]);
      if (number && m_p.shape(o.inputs[1 - side]) == m_p.shape(o.output)) return o.inputs[1 - side];
    }
    number.reset();
    return no_value;
  }

  /// The only axis of a mean, and what it is the mean of.
  int mean_of(int v, int& x) {
    const operation* o = producer(v);
    const auto* r = o ? o->as<reduce_parameters>() : nullptr;
    if (!r || r->kind != reduce_kind::mean || r->axes.size() != 1 || !o->post.empty()) return -1;
    x = o->inputs[0];
    return r->axes[0];
  }
  int squared(int v) {
    if (const operation* s = unary(v, function::square)) return s->inputs[0];
    const operation* m = binary(v, binary_kind::mul);
    return m && m->inputs[0] == m->inputs[1] ? m->inputs[0] : no_value;
  }
  /// x of x - mean(x) along `axis`.
  int centred(int v, int axis) {
    const operation* o = binary(v, binary_kind::sub);
    int x = no_value;
    return o && mean_of(o->inputs[1], x) == axis && x == o->inputs[0] ? x : no_value;
  }
  /// Deviation of a division by it or a multiplication by its inverse; the other operand goes to `x`.
  int deviation(const operation& o, int& x) {
    const auto* b = o.as<binary_params>();
    if (!b || !o.post.empty()) return no_value;
    x = o.inputs[0];
    if (b->kind == binary_kind::div) return inner(o.inputs[1]) ? o.inputs[1] : no_value;
    if (b->kind != binary_kind::mul) return no_value;
    for (std::size_t side = 0; side < 2; ++side) {
      const operation* inverse = unary(o.inputs[side], function::reciprocal);
      x = o.inputs[1 - side];
      if (inverse && inner(inverse->output) && inner(inverse->inputs[0])) return inverse->inputs[0];
      const operation* quotient = binary(o.inputs[side], binary_kind::div);
      const bool inverts = quotient && inner(quotient->output) && near(scalar(quotient->inputs[0]), 1);
      if (inverts && inner(quotient->inputs[1])) return quotient->inputs[1];
    }
    return no_value;
  }

  /// (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon), and the same without mean(x), along one axis.
  bool normalization(std::size_t i) {
    const operation o = m_p.operations[i];
    int left = no_value, squares = no_value;
    const int dev = deviation(o, left);
    if (dev == no_value || m_p.shape(left) != m_p.shape(o.output)) return false;
    const operation* root = unary(dev, function::sqrt);
    const operation* padded = root && inner(root->inputs[0]) ? binary(root->inputs[0], binary_kind::add) : nullptr;
    std::optional<double> epsilon;
    const int variance = padded ? beside_number(*padded, epsilon) : no_value;
    if (variance == no_value || !inner(variance) || !(*epsilon > 0)) return false;
    const int axis = mean_of(variance, squares);
    const int term = axis < 0 || !inner(squares) ? no_value : squared(squares);
    if (term == no_value) return false;
    layer_normalization_parameters l;
    l.epsilon = static_cast<float>(*epsilon);
    int x = centred(left, axis);
    l.centre = x != no_value && centred(term, axis) == x;
    if (!l.centre) x = left;
    if (!l.centre && term != left) return false;
    const auto length = static_cast<std::size_t>(m_p.shape(x)[static_cast<std::size_t>(axis)]);
    if (length < 2 || l.epsilon <= 0) return false;
    l.scale.assign(length, 1);
    l.bias.assign(length, 0);
    normalize(i, x, axis, std::move(l));
    return true;
  }

  /// Makes operation `i` normalise `x` along `axis`, which becomes the last one on the way.
  void normalize(std::size_t i, int x, int axis, layer_normalization_parameters l) {
    operation& o = m_p.operations[i];
    const shape_t shape = m_p.shape(x);
    const int last = static_cast<int>(shape.size()) - 1;
    o.post = {};
    if (axis == last) {
      o.p = std::move(l);
      o.inputs = {x};
      return;
    }
    transpose_parameters there, back;
    shape_t transposed;
    for (int d = 0; d <= last; ++d) {
      if (d != axis) there.permutation.push_back(d);
      back.permutation.push_back(d < axis ? d : d == axis ? last : d - 1);
    }
    there.permutation.push_back(axis);
    for (int d : there.permutation) transposed.push_back(shape[static_cast<std::size_t>(d)]);
    operation before = o, middle = o;
    before.p = std::move(there);
    before.inputs = {x};
    before.output = m_p.add({o.name + "#turned", element::f32, transposed, nullptr});
    middle.p = std::move(l);
    middle.inputs = {before.output};
    middle.output = m_p.add({o.name + "#normal", element::f32, transposed, nullptr});
    o.p = std::move(back);
    o.inputs = {middle.output};
    const auto at = m_p.operations.begin() + static_cast<std::ptrdiff_t>(i);
    m_p.operations.insert(at, {std::move(before), std::move(middle)});
  }

  /// The normalisation behind `v`, through the transposition that follows it; its channels are along `axis` of `v`.
  operation* normalization_of(int v, std::size_t& axis) {
    operation* o = sole_producer(v);
    axis = m_p.shape(v).size() - 1;
    if (const auto* t = o ? o->as<transpose_parameters>() : nullptr) {
      const auto place = std::find(t->permutation.begin(), t->permutation.end(), static_cast<int>(axis));
      axis = static_cast<std::size_t>(place - t->permutation.begin());
      o = sole_producer(o->inputs[0]);
    }
    return o && o->as<layer_normalization_parameters>() && o->post.empty() ? o : nullptr;
  }
  /// A constant that varies along `axis` of `shape` alone.
  const array* along(int v, const shape_t& shape, std::size_t axis) const {
    if (!m_p.is_constant(v)) return nullptr;
    const array& a = *m_p.values[static_cast<std::size_t>(v)].constant;
    if (a.shape.size() > shape.size()) return nullptr;
    for (std::size_t d = 0; d < a.shape.size(); ++d)
      if (a.shape[d] != 1 && d + shape.size() - a.shape.size() != axis) return nullptr;
    return &a;
  }

  /// A normalisation times or plus a constant per normalised element.
  bool scaled_normalization(std::size_t i) {
    operation& o = m_p.operations[i];
    const auto* b = o.as<binary_params>();
    if (!b || !o.post.empty() || (b->kind != binary_kind::mul && b->kind != binary_kind::add)) return false;
    for (std::size_t side = 0; side < 2; ++side) {
      std::size_t axis = 0;
      const int v = o.inputs[side];
      if (m_p.is_constant(v) || m_p.shape(v) != m_p.shape(o.output)) continue;
      operation* source = normalization_of(v, axis);
      const array* factor = source ? along(o.inputs[1 - side], m_p.shape(v), axis) : nullptr;
      if (!factor) continue;
      auto* l = source->as<layer_normalization_parameters>();
      for (std::size_t k = 0; k < l->scale.size(); ++k) {
        const double c = factor->number(factor->count() == 1 ? 0 : static_cast<std::int64_t>(k));
        const auto times = [&](float x) { return static_cast<float>(static_cast<double>(x) * c); };
        if (b->kind == binary_kind::mul) {
          l->scale[k] = times(l->scale[k]);
          l->bias[k] = times(l->bias[k]);
        } else {
          l->bias[k] = static_cast<float>(static_cast<double>(l->bias[k]) + c);
        }
      }
      take_over(producer(v), i, o.output);
      return true;
    }
    return false;
  }

  /// Factors of a product, through products that nothing else reads.
  void collect_factors(int v, int depth, std::vector<int>& factors) {
    const operation* o = depth > 0 && inner(v) ? binary(v, binary_kind::mul) : nullptr;
    if (!o || m_p.shape(v) != m_p.shape(o->output)) return factors.push_back(v);
    for (int side : o->inputs) collect_factors(side, depth - 1, factors);
  }
  /// x of 1 + erf(x / sqrt(2)).
  int gate_of_gelu(int v) {
    std::optional<double> one, root;
    const operation* sum = inner(v) ? binary(v, binary_kind::add) : nullptr;
    const int error = sum ? beside_number(*sum, one) : no_value;
    if (error == no_value || !near(one, 1) || !inner(error)) return no_value;
    const operation* erf = unary(error, function::erf);
    if (!erf || !inner(erf->inputs[0])) return no_value;
    if (const operation* q = binary(erf->inputs[0], binary_kind::div))
      return near(scalar(q->inputs[1]), std::sqrt(2.0)) ? q->inputs[0] : no_value;
    const operation* m = binary(erf->inputs[0], binary_kind::mul);
    const int x = m ? beside_number(*m, root) : no_value;
    return near(root, std::sqrt(0.5)) ? x : no_value;
  }

  /// x / 2 * (1 + erf(x / sqrt(2))), with its factors in any order.
  bool gelu(std::size_t i) {
    operation& o = m_p.operations[i];
    if (!is_binary(&o, binary_kind::mul)) return false;
    std::vector<int> factors;
    for (int side : o.inputs) collect_factors(side, 1, factors);
    if (factors.size() != 3) return false;
    for (int gate : factors) {
      const int x = m_p.is_constant(gate) ? no_value : gate_of_gelu(gate);
      if (x == no_value || m_p.shape(x) != m_p.shape(o.output)) continue;
      const bool complete = std::count(factors.begin(), factors.end(), x) == 1 &&
                            std::any_of(factors.begin(), factors.end(), [&](int f) { return near(scalar(f), 0.5); });
      if (!complete) continue;
      o.p = unary_params{};
      o.inputs = {x};
      o.post.fn = function::gelu;
      return true;
    }
    return false;
  }
};

}

void recognise(program& p) { recogniser(p).run(); }

}
