// SPDX-License-Identifier: MIT
/// Constants that scale or shift channels, into the weights beside them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include "passes/fuse/fuse.hpp"
#include "passes/rewriter.hpp"

namespace nsk::tool {
namespace {

/// Whether all numbers are finite in float32: folded ones that are not would turn finite results into others.
bool fits(const std::vector<double>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [](double v) { return std::abs(v) <= std::numeric_limits<float>::max(); });
}

class constant_folder : rewriter {
 public:
  using rewriter::rewriter;

  void into_producers() {
    sweep_once(&constant_folder::fold_into_producer);
    sweep_once(&constant_folder::fold_behind_moves);
  }
  void into_readers() {
    for (bool folds = true; folds;) {
      sweep_once(&constant_folder::scale_last);
      folds = sweep(&constant_folder::fold_into_reader);
    }
  }

 private:
  friend class rewriter;

  /// conv(x) * c, / c, + c, - c with one c per channel: into weights and bias.
  bool fold_into_producer(std::size_t i) {
    operation& o = at(i);
    const auto* b = o.as<binary_params>();
    if (!b || o.inputs.size() != 2 || b->kind > binary_kind::div) return false;
    const bool swaps = (b->kind == binary_kind::add || b->kind == binary_kind::mul) && m_p.is_constant(o.inputs[0]);
    const int data = o.inputs[swaps ? 1 : 0], factor = o.inputs[swaps ? 0 : 1];
    operation* source = sole_producer(data);
    if (o.exact || !source || source->exact || !source->post.empty() || m_p.shape(data) != m_p.shape(o.output))
      return false;
    auto* c = source->as<conv_parameters>();
    auto* d = source->as<dense_parameters>();
    if (!c && !d) return false;
    const shape_t& shape = m_p.shape(o.output);
    const auto values = per_channel(factor, shape, c ? 1 : shape.size() - 1);
    if (!values) return false;
    const auto outputs = static_cast<std::size_t>(c ? c->outputs : d->outputs);
    std::vector<double> bias = c ? c->bias : d->bias, weights = c ? c->weights : d->weights;
    const std::size_t depth = weights.size() / outputs;
    for (std::size_t n = 0; n < outputs; ++n) {
      const double v = (*values)[n];
      const double scale = b->kind == binary_kind::mul ? v : b->kind == binary_kind::div ? 1 / v : 1;
      const double offset = b->kind == binary_kind::add ? v : b->kind == binary_kind::sub ? -v : 0;
      bias[n] = bias[n] * scale + offset;
      if (scale != 1)
        for (std::size_t k = 0; k < depth; ++k) weights[c ? n * depth + k : k * outputs + n] *= scale;
    }
    if (!fits(bias) || !fits(weights)) return false;
    (c ? c->bias : d->bias) = std::move(bias);
    (c ? c->weights : d->weights) = std::move(weights);
    take_over(source, i, o.output);
    return true;
  }

  /// A range of the last axis.
  struct columns {
    std::int64_t begin, end;
  };
  /// What a slice takes of its input, where that is neighbours of the last axis, and all of the others.
  std::optional<columns> columns_of(const operation& o) const {
    const auto* s = o.as<slice_parameters>();
    if (!s) return std::nullopt;
    const shape_t &from = m_p.shape(o.inputs[0]), &to = m_p.shape(o.output);
    if (from.empty() || from.size() != to.size() || s->starts.size() != from.size()) return std::nullopt;
    for (std::size_t d = 0; d < from.size(); ++d)
      if (s->steps[d] != 1 || (d + 1 < from.size() && from[d] != to[d])) return std::nullopt;
    return columns{s->starts.back(), s->starts.back() + to.back()};
  }
  /// The columns of the dense layer `d` that only the moves between it and `v` read; nothing where there is no such
  /// layer. Moves are reshapes and transpositions, behind all columns or behind a slice that no other overlaps.
  std::optional<columns> moved_columns(int v, operation*& d) {
    for (d = sole_producer(v); d && (d->as<reshape_parameters>() || d->as<transpose_parameters>());)
      d = sole_producer(d->inputs[0]);
    if (!d) return std::nullopt;
    if (const auto* dense = d->as<dense_parameters>()) return columns{0, dense->outputs};
    const auto taken = columns_of(*d);
    const int whole = taken ? d->inputs[0] : no_value;
    d = taken && !m_p.is_output(whole) ? producer(whole) : nullptr;
    if (!d || !d->as<dense_parameters>()) return std::nullopt;
    int same = 0;
    for (int r : m_p.consumers(whole)) {
      const auto other = columns_of(at(static_cast<std::size_t>(r)));
      if (!other) return std::nullopt;
      if (other->begin < taken->end && taken->begin < other->end) ++same;
    }
    if (same != 1) return std::nullopt;
    return taken;
  }
  /// Multiplies the columns of the dense layer that only the moves between it and `v` read; returns the layer, null
  /// where there is none, or its numbers would not fit.
  operation* scale_moved_columns(int v, double scale) {
    operation* source = nullptr;
    const auto range = moved_columns(v, source);
    if (!range || source->exact || !source->post.empty()) return nullptr;
    auto& d = *source->as<dense_parameters>();
    std::vector<double> weights = d.weights, bias = d.bias;
    const auto outputs = static_cast<std::size_t>(d.outputs);
    for (auto n = static_cast<std::size_t>(range->begin); n < static_cast<std::size_t>(range->end); ++n) {
      bias[n] *= scale;
      for (std::size_t k = n; k < weights.size(); k += outputs) weights[k] *= scale;
    }
    if (!fits(bias) || !fits(weights)) return nullptr;
    d.bias = std::move(bias);
    d.weights = std::move(weights);
    return source;
  }
  /// move(dense(x)) * c, / c with one c: into weights and bias of what is moved; or of a factor, behind a product of
  /// two such. Attention scales its queries so, or its scores.
  bool fold_behind_moves(std::size_t i) {
    operation& o = at(i);
    const auto* b = o.as<binary_params>();
    if (!b || o.exact || o.inputs.size() != 2 || (b->kind != binary_kind::mul && b->kind != binary_kind::div))
      return false;
    const bool swaps = b->kind == binary_kind::mul && m_p.is_constant(o.inputs[0]);
    const int data = o.inputs[swaps ? 1 : 0];
    const auto factor = scalar(o.inputs[swaps ? 0 : 1]);
    operation* const last = factor && m_p.shape(data) == m_p.shape(o.output) ? sole_producer(data) : nullptr;
    if (!last || last->exact || !last->post.empty() || last->as<dense_parameters>()) return false;
    const bool product = last->as<mat_mul_params>() != nullptr;
    if (product && last->inputs[0] == last->inputs[1]) return false;
    for (int moved : product ? last->inputs : std::vector<int>{data}) {
      operation* const source = scale_moved_columns(moved, b->kind == binary_kind::mul ? *factor : 1 / *factor);
      if (!source) continue;
      int v = product ? moved : last->inputs[0];
      take_over(last, i, o.output);
      for (rename_scaled(v); producer(v) != source;) rename_scaled(v = producer(v)->inputs[0]);
      return true;
    }
    return false;
  }
  /// Gives a value that was scaled another name: the source's is that of what it was.
  void rename_scaled(int v) {
    const int scaled =
        m_p.add({m_p.values[static_cast<std::size_t>(v)].name + "#scaled", element::f32, m_p.shape(v), nullptr});
    for (operation& o : m_p.operations) {
      std::replace(o.inputs.begin(), o.inputs.end(), v, scaled);
      if (o.output == v) o.output = scaled;
    }
  }

  /// x * a + b becomes (x + b / a) * a where a convolution reads it, which takes the factor.
  bool scale_last(std::size_t i) {
    operation& o = at(i);
    if (!o.as<conv_parameters>() || o.exact) return false;
    operation* sum = sole_producer(o.inputs[0]);
    if (!is_binary(sum, binary_kind::add)) return false;
    const bool left = m_p.is_constant(sum->inputs[0]);
    operation* product = sole_producer(sum->inputs[left ? 1 : 0]);
    if (!is_binary(product, binary_kind::mul)) return false;
    const bool swapped = m_p.is_constant(product->inputs[0]);
    const auto factor = scalar(product->inputs[swapped ? 0 : 1]), offset = scalar(sum->inputs[left ? 0 : 1]);
    const shape_t shape = m_p.shape(o.inputs[0]);
    const int x = product->inputs[swapped ? 1 : 0];
    if (!factor || !offset || *factor == 0 || m_p.is_constant(x) || m_p.shape(x) != shape) return false;
    const auto quotient = static_cast<float>(*offset / *factor);
    if (!(std::abs(quotient) < 1e6f)) return false;
    const int number =
        m_p.add({product->name + "#offset", element::f32, {}, std::make_shared<array>(make_floats({}, {quotient}))});
    const int between = m_p.add({product->name + "#shifted", element::f32, shape, nullptr});
    product->output = between;
    std::swap(product->p, sum->p);
    sum->inputs = {between, product->inputs[swapped ? 0 : 1]};
    product->inputs = {x, number};
    return true;
  }

  /// mul(x) and add(x) of one number per channel, whose result one convolution reads: into its weights and bias, a sum
  /// only where no zeros are padded, which would have to become another number.
  bool fold_into_reader(std::size_t i) {
    operation& o = at(i);
    auto* c = o.as<conv_parameters>();
    auto* d = o.as<dense_parameters>();
    operation* source = c || d ? sole_producer(o.inputs[0]) : nullptr;
    const auto* b = source ? source->as<binary_params>() : nullptr;
    if (!b || o.exact || source->exact || !source->post.empty() || b->kind > binary_kind::div) return false;
    const bool adds = b->kind == binary_kind::add || b->kind == binary_kind::sub;
    const bool swaps =
        (b->kind == binary_kind::add || b->kind == binary_kind::mul) && m_p.is_constant(source->inputs[0]);
    const int x = source->inputs[swaps ? 1 : 0];
    const shape_t& shape = m_p.shape(o.inputs[0]);
    if (m_p.is_constant(x) || m_p.shape(x) != shape) return false;
    if (adds && c && window_overhang(c->w, shape, m_p.shape(o.output)).any()) return false;
    const auto values = per_channel(source->inputs[swaps ? 0 : 1], shape, c ? 1 : shape.size() - 1);
    if (!values) return false;
    std::vector<double> weights = c ? c->weights : d->weights, bias = c ? c->bias : d->bias;
    const std::size_t outputs = bias.size(), depth = weights.size() / outputs;
    const std::size_t taps = c ? static_cast<std::size_t>(c->w.kernel_h) * static_cast<std::size_t>(c->w.kernel_w) : 1;
    for (std::size_t n = 0; n < outputs; ++n) {
      const std::size_t group = c ? n / (outputs / static_cast<std::size_t>(c->groups)) : 0;
      for (std::size_t k = 0; k < depth; ++k) {
        const double v = (*values)[group * (depth / taps) + k / taps];
        double& weight = weights[c ? n * depth + k : k * outputs + n];
        if (adds)
          bias[n] += b->kind == binary_kind::add ? v * weight : -v * weight;
        else
          weight = b->kind == binary_kind::mul ? weight * v : weight / v;
      }
    }
    if (!fits(bias) || !fits(weights)) return false;
    (c ? c->bias : d->bias) = std::move(bias);
    (c ? c->weights : d->weights) = std::move(weights);
    o.inputs[0] = x;
    return true;
  }
};

}

void fold_into_producers(program& p) { constant_folder(p).into_producers(); }
void fold_into_readers(program& p) { constant_folder(p).into_readers(); }

}
