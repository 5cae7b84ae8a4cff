// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <optional>
#include "passes/program.hpp"

namespace nsk::tool {
namespace {

constexpr std::int64_t most_pad = 65535;  // pads have 16 bits in the file

/// One rewriting run over a program. Every rule looks at operation `i`, rewrites around it and says whether it changed
/// anything; operations that lose their readers are swept at the end.
class fuser {
 public:
  explicit fuser(program& p) : m_p(p) {}

  void run() {
    sweep(&fuser::join_reshapes);
    sweep(&fuser::drop_identity);
    sweep(&fuser::recognise_shuffle);
    sweep(&fuser::absorb_padding);
    sweep(&fuser::fold_constant);
    sweep(&fuser::recognise_hard_sigmoid);
    sweep(&fuser::recognise_gate);
    sweep(&fuser::dense_of_picture);
    sweep(&fuser::fold_constant);
    for (bool changed = true; changed;) {
      changed = sweep(&fuser::merge_residual);
      changed = sweep(&fuser::merge_activation) || changed;
      changed = sweep(&fuser::merge_prelu) || changed;
    }
    m_into_binary = true;  // only now, so that a sum finds its convolution first
    sweep(&fuser::merge_activation);
    remove_dead();
  }

 private:
  using rule = bool (fuser::*)(std::size_t);

  bool sweep(rule r) {
    bool any = false;
    for (std::size_t i = 0; i < m_p.operations.size(); ++i)
      if (at(i).output != no_value && (this->*r)(i)) any = m_stale = true;
    remove_dead();
    return any;
  }

  operation& at(std::size_t i) { return m_p.operations[i]; }
  /// Producer of `v` if its result is read by exactly one operation and is no model output; nullptr otherwise.
  operation* sole_producer(int v) {
    operation* const found = producer(v);
    return found == nullptr || m_uses[static_cast<std::size_t>(v)].readers != 1 || m_p.is_output(v) ? nullptr : found;
  }
  operation* producer(int v) {
    const int i = producer_index(v);
    return i < 0 ? nullptr : &at(static_cast<std::size_t>(i));
  }
  int producer_index(int v) {
    if (m_stale) count_uses();
    return v == no_value ? -1 : m_uses[static_cast<std::size_t>(v)].producer;
  }
  void count_uses() {
    m_uses.assign(m_p.values.size(), {});
    for (std::size_t i = 0; i < m_p.operations.size(); ++i) {
      const operation& o = at(i);
      if (o.output != no_value) m_uses[static_cast<std::size_t>(o.output)].producer = static_cast<int>(i);
      const auto read = [&](int v) {
        use& u = m_uses[static_cast<std::size_t>(v)];
        if (u.last_reader != static_cast<int>(i)) ++u.readers;  // one that reads it twice is one
        u.last_reader = static_cast<int>(i);
      };
      for (int v : o.inputs) read(v);
      if (o.post.residual != no_value) read(o.post.residual);
    }
    m_stale = false;
  }
  /// The one value of a constant with equal elements.
  std::optional<double> scalar(int v) const {
    if (!m_p.is_constant(v)) return std::nullopt;
    const array& a = *m_p.values[static_cast<std::size_t>(v)].constant;
    for (std::int64_t i = 1; i < a.count(); ++i)
      if (a.number(i) != a.number(0)) return std::nullopt;
    return a.count() > 0 ? std::optional<double>(a.number(0)) : std::nullopt;
  }
  /// A constant that varies only along `axis` of a result of shape `shape`, as one number per position of that axis.
  std::optional<std::vector<double>> per_channel(int v, const shape_t& shape, std::size_t axis) const {
    if (!m_p.is_constant(v)) return std::nullopt;
    const array& a = *m_p.values[static_cast<std::size_t>(v)].constant;
    if (a.shape.size() > shape.size()) return std::nullopt;
    for (std::size_t d = 0; d < a.shape.size(); ++d)
      if (a.shape[d] != 1 && d + shape.size() - a.shape.size() != axis) return std::nullopt;
    std::vector<double> values(static_cast<std::size_t>(shape[axis]));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = a.number(a.count() == 1 ? 0 : static_cast<std::int64_t>(i));
    return values;
  }
  static bool has_post(const operation& o) {
    return o.as<conv_parameters>() || o.as<dense_parameters>() || o.as<mat_mul_parameters>() ||
           o.as<binary_parameters>() || o.as<reduce_parameters>();
  }
  /// Makes `o` produce `result` in place of operation `i`, at that place in the order.
  void take_over(operation* o, std::size_t i, int result) {
    operation moved = std::move(*o);
    o->inputs.clear();
    o->output = no_value;
    o->post = {};
    moved.name += "+" + at(i).name;
    moved.output = result;
    at(i) = std::move(moved);
  }

  /// A reshape of a reshape reads what the first one does.
  bool join_reshapes(std::size_t i) {
    operation& o = at(i);
    if (!o.as<reshape_parameters>() || o.inputs.empty()) return false;
    const operation* before = producer(o.inputs[0]);
    if (!before || !before->as<reshape_parameters>()) return false;
    o.inputs[0] = before->inputs[0];
    return true;
  }

  bool drop_identity(std::size_t i) {
    operation& o = at(i);
    if (!o.as<reshape_parameters>() || o.inputs.empty() || m_p.shape(o.inputs[0]) != m_p.shape(o.output)) return false;
    const int from = o.output, to = o.inputs[0];
    if (m_p.is_output(from)) {
      operation* source = sole_producer(to);
      if (!source) return false;
      source->output = from;
      o.inputs.clear();
      o.output = no_value;
      return true;
    }
    for (operation& reader : m_p.operations) {
      std::replace(reader.inputs.begin(), reader.inputs.end(), from, to);
      if (reader.post.residual == from) reader.post.residual = to;
    }
    o.inputs.clear();
    o.output = no_value;
    return true;
  }

  /// [N, C, H, W] -> [N, g, C / g, H, W] -> exchange of the two -> [N, C, H, W]: a channel shuffle moves channels in
  /// every layout, so its copy is the model's own and may write pictures.
  bool recognise_shuffle(std::size_t i) {
    operation& o = at(i);
    auto* join = o.as<reshape_parameters>();
    if (!join || join->channels_last || o.inputs.empty()) return false;
    const operation* turn = producer(o.inputs[0]);
    const auto* t = turn ? turn->as<transpose_parameters>() : nullptr;
    if (!t || t->permutation.size() < 4 || t->permutation[1] != 2 || t->permutation[2] != 1) return false;
    for (std::size_t d = 0; d < t->permutation.size(); ++d)
      if (d != 1 && d != 2 && t->permutation[d] != static_cast<int>(d)) return false;
    const operation* split = producer(turn->inputs[0]);
    if (!split || !split->as<reshape_parameters>() || m_p.shape(split->inputs[0]) != m_p.shape(o.output)) return false;
    const shape_t &whole = m_p.shape(o.output), &parts = m_p.shape(split->output);
    if (whole.size() + 1 != parts.size() || whole.size() < 3 || parts[1] * parts[2] != whole[1]) return false;
    join->channels_last = true;
    return true;
  }

  bool absorb_padding(std::size_t i) {
    operation& o = at(i);
    const auto* pad = o.as<pad_parameters>();
    if (!pad || pad->mode != pad_mode::constant || pad->value != 0 || m_p.is_output(o.output)) return false;
    const std::size_t rank = pad->before.size();
    for (std::size_t a = 0; a < rank; ++a)
      if (pad->before[a] < 0 || pad->after[a] < 0 || (a < 2 && (pad->before[a] || pad->after[a]))) return false;
    if (rank != 3 && rank != 4) return false;
    const std::vector<int> readers = m_p.consumers(o.output);
    for (int r : readers) {
      const operation& reader = at(static_cast<std::size_t>(r));
      const auto* c = reader.as<conv_parameters>();
      if (!c || reader.inputs[0] != o.output || reader.post.residual == o.output) return false;
      if (c->w.pad_left + pad->before[rank - 1] > most_pad || c->pad_right + pad->after[rank - 1] > most_pad)
        return false;
      if (rank == 4 && (c->w.pad_top + pad->before[2] > most_pad || c->pad_bottom + pad->after[2] > most_pad))
        return false;
    }
    for (int r : readers) {
      operation& reader = at(static_cast<std::size_t>(r));
      auto* c = reader.as<conv_parameters>();
      if (rank == 4) {
        c->w.pad_top += static_cast<int>(pad->before[2]);
        c->pad_bottom += static_cast<int>(pad->after[2]);
      }
      c->w.pad_left += static_cast<int>(pad->before[rank - 1]);
      c->pad_right += static_cast<int>(pad->after[rank - 1]);
      reader.inputs[0] = o.inputs[0];
    }
    return true;
  }

  /// conv(x) * c, / c, + c, - c with one c per channel: into weights and bias.
  bool fold_constant(std::size_t i) {
    operation& o = at(i);
    const auto* b = o.as<binary_parameters>();
    if (!b || o.inputs.size() != 2 || b->kind > binary_kind::div) return false;
    const bool swaps = (b->kind == binary_kind::add || b->kind == binary_kind::mul) && m_p.is_constant(o.inputs[0]);
    const int data = o.inputs[swaps ? 1 : 0], factor = o.inputs[swaps ? 0 : 1];
    operation* source = sole_producer(data);
    if (!source || !source->post.empty() || m_p.shape(data) != m_p.shape(o.output)) return false;
    auto* c = source->as<conv_parameters>();
    auto* d = source->as<dense_parameters>();
    if (!c && !d) return false;
    const shape_t& shape = m_p.shape(o.output);
    const auto values = per_channel(factor, shape, c ? 1 : shape.size() - 1);
    if (!values) return false;
    const auto outputs = static_cast<std::size_t>(c ? c->outputs : d->outputs);
    std::vector<double>& bias = c ? c->bias : d->bias;
    std::vector<double>& weights = c ? c->weights : d->weights;
    const std::size_t depth = weights.size() / outputs;
    for (std::size_t n = 0; n < outputs; ++n) {
      const double v = (*values)[n];
      const double scale = b->kind == binary_kind::mul ? v : b->kind == binary_kind::div ? 1 / v : 1;
      const double offset = b->kind == binary_kind::add ? v : b->kind == binary_kind::sub ? -v : 0;
      bias[n] = bias[n] * scale + offset;
      if (scale != 1)
        for (std::size_t k = 0; k < depth; ++k) weights[c ? n * depth + k : k * outputs + n] *= scale;
    }
    take_over(source, i, o.output);
    return true;
  }

  /// clip(x + 3, 0, 6) / 6 and clip(x + 3, 0, 6) * (1/6): hard-sigmoid with alpha 1/6, beta 0.5.
  bool recognise_hard_sigmoid(std::size_t i) {
    operation& o = at(i);
    const auto* b = o.as<binary_parameters>();
    if (!b || (b->kind != binary_kind::div && b->kind != binary_kind::mul)) return false;
    const auto divisor = scalar(o.inputs[1]);
    if (!divisor || std::abs((b->kind == binary_kind::div ? 1 / *divisor : *divisor) - 1.0 / 6) > 1e-7) return false;
    operation* clip = sole_producer(o.inputs[0]);
    if (!clip || !clip->as<unary_parameters>() || clip->post.fn != function::clip || clip->post.alpha != 0 ||
        clip->post.beta != 6)
      return false;
    operation* add = sole_producer(clip->inputs[0]);
    const auto* sum = add ? add->as<binary_parameters>() : nullptr;
    if (!sum || sum->kind != binary_kind::add) return false;
    const bool left = scalar(add->inputs[0]) == 3.0;
    if (!left && scalar(add->inputs[1]) != 3.0) return false;
    const int x = add->inputs[left ? 1 : 0];
    if (m_p.shape(x) != m_p.shape(o.output)) return false;
    o.p = unary_parameters{};
    o.inputs = {x};
    o.post.fn = function::hard_sigmoid;
    o.post.alpha = 1.0 / 6;
    o.post.beta = 0.5;
    return true;
  }

  /// x * sigmoid(x): SiLU. x * hard_sigmoid(x, 1/6, 1/2): hard-swish.
  bool recognise_gate(std::size_t i) {
    operation& o = at(i);
    const auto* b = o.as<binary_parameters>();
    if (!b || b->kind != binary_kind::mul || !o.post.empty()) return false;
    for (std::size_t side = 0; side < 2; ++side) {
      const int x = o.inputs[side];
      operation* gate = sole_producer(o.inputs[1 - side]);
      if (!gate || !gate->as<unary_parameters>() || gate->inputs[0] != x) continue;
      const bool swish = gate->post.fn == function::hard_sigmoid && std::abs(gate->post.alpha - 1.0 / 6) < 1e-7 &&
                         gate->post.beta == 0.5;
      if (gate->post.fn != function::sigmoid && !swish) continue;
      o.p = unary_parameters{};
      o.inputs = {x};
      o.post.fn = swish ? function::hard_swish : function::silu;
      o.post.alpha = o.post.beta = 0;
      return true;
    }
    return false;
  }

  /// dense(reshape(x [N, C, H, W] -> [N, C*H*W])): a convolution whose kernel is the whole picture, so that nothing is
  /// transposed.
  bool dense_of_picture(std::size_t i) {
    operation& o = at(i);
    auto* d = o.as<dense_parameters>();
    if (!d || m_p.shape(o.inputs[0]).size() != 2) return false;
    const operation* view = producer(o.inputs[0]);
    if (!view || !view->as<reshape_parameters>()) return false;
    const shape_t x = m_p.shape(view->inputs[0]);
    if (x.size() != 4 || x[0] != m_p.shape(o.inputs[0])[0] || x[2] * x[3] == 1 || x[1] == 1 || x[2] > 65535 ||
        x[3] > 65535)
      return false;
    const int picture = view->inputs[0];
    conv_parameters c;
    c.w.kernel_h = static_cast<int>(x[2]);
    c.w.kernel_w = static_cast<int>(x[3]);
    c.outputs = d->outputs;
    c.bias = d->bias;
    c.weights.resize(d->weights.size());
    const auto outputs = static_cast<std::size_t>(d->outputs), depth = static_cast<std::size_t>(d->depth);
    for (std::size_t n = 0; n < outputs; ++n)
      for (std::size_t k = 0; k < depth; ++k) c.weights[n * depth + k] = d->weights[k * outputs + n];
    const int result = m_p.add({o.name + "#picture", element::f32, {x[0], c.outputs, 1, 1}, nullptr});
    operation flat;
    flat.name = o.name;
    flat.source = o.source;
    flat.inputs = {result};
    flat.output = o.output;
    flat.p = reshape_parameters{};
    o.p = std::move(c);
    o.inputs = {picture};
    o.output = result;
    m_p.operations.insert(m_p.operations.begin() + static_cast<std::ptrdiff_t>(i) + 1, std::move(flat));
    return true;
  }

  bool merge_activation(std::size_t i) {
    operation& o = at(i);
    if (!o.as<unary_parameters>() || o.post.residual != no_value) return false;
    operation* source = sole_producer(o.inputs[0]);
    if (!source || (source->as<binary_parameters>() && !m_into_binary)) return false;
    if (!has_post(*source) || source->post.fn != function::identity || source->post.activation_first) return false;
    source->post.fn = o.post.fn;
    source->post.alpha = o.post.alpha;
    source->post.beta = o.post.beta;
    take_over(source, i, o.output);
    return true;
  }

  bool merge_prelu(std::size_t i) {
    operation& o = at(i);
    const auto* b = o.as<binary_parameters>();
    if (!b || b->kind != binary_kind::prelu || !o.post.empty()) return false;
    operation* source = sole_producer(o.inputs[0]);
    const shape_t& shape = m_p.shape(o.output);
    if (const auto slope = scalar(o.inputs[1]); slope) {
      const int x = o.inputs[0];
      o.p = unary_parameters{};
      o.inputs = {x};
      o.post.fn = function::leaky_relu;
      o.post.alpha = *slope;
      return true;
    }
    if (!source || source->post.fn != function::identity || m_p.shape(o.inputs[0]) != shape) return false;
    if (!source->as<conv_parameters>() && !source->as<dense_parameters>()) return false;
    const auto slopes = per_channel(o.inputs[1], shape, source->as<conv_parameters>() ? 1 : shape.size() - 1);
    if (!slopes) return false;
    source->post.fn = function::prelu;
    source->post.slope = *slopes;
    take_over(source, i, o.output);
    return true;
  }

  bool merge_residual(std::size_t i) {
    operation& o = at(i);
    const auto* b = o.as<binary_parameters>();
    if (!b || b->kind != binary_kind::add || !o.post.empty() || o.inputs[0] == o.inputs[1]) return false;
    int best = -1;
    for (int side = 0; side < 2; ++side) {
      const int v = o.inputs[static_cast<std::size_t>(side)], other = o.inputs[static_cast<std::size_t>(1 - side)];
      operation* source = sole_producer(v);
      if (!source || source->post.residual != no_value || m_p.is_constant(other)) continue;
      if (!source->as<conv_parameters>() && !source->as<dense_parameters>() && !source->as<mat_mul_parameters>())
        continue;
      if (m_p.shape(v) != m_p.shape(o.output) || m_p.shape(other) != m_p.shape(o.output)) continue;
      if (best < 0 || producer_index(v) > producer_index(o.inputs[static_cast<std::size_t>(best)])) best = side;
    }
    if (best < 0) return false;
    operation* source = producer(o.inputs[static_cast<std::size_t>(best)]);
    source->post.residual = o.inputs[static_cast<std::size_t>(1 - best)];
    source->post.activation_first = source->post.fn != function::identity;
    take_over(source, i, o.output);
    return true;
  }

  void remove_dead() {
    std::vector<char> live(m_p.values.size(), 0);
    for (int v : m_p.outputs) live[static_cast<std::size_t>(v)] = 1;
    for (const program_state& s : m_p.states) live[static_cast<std::size_t>(s.output)] = 1;
    std::vector<operation> kept;
    for (std::size_t i = m_p.operations.size(); i-- > 0;) {
      operation& o = m_p.operations[i];
      if (o.output == no_value || !live[static_cast<std::size_t>(o.output)]) continue;
      for (int v : o.inputs) live[static_cast<std::size_t>(v)] = 1;
      if (o.post.residual != no_value) live[static_cast<std::size_t>(o.post.residual)] = 1;
      kept.push_back(std::move(o));
    }
    std::reverse(kept.begin(), kept.end());
    m_p.operations = std::move(kept);
    m_stale = true;
  }

  program& m_p;
  bool m_into_binary = false;
  /// Who makes and reads a value, as of the last count.
  struct use {
    int producer = -1, readers = 0, last_reader = -1;
  };
  std::vector<use> m_uses;
  bool m_stale = true;
};

}

void fuse(program& p) { fuser(p).run(); }

}
