// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <optional>
#include "passes/fuse/fuse.hpp"
#include "passes/rewriter.hpp"

namespace nsk::tool {
namespace {

constexpr std::int64_t max_pad = 65535;  // pads have 16 bits in the file

class fuser : rewriter {
 public:
  using rewriter::rewriter;

  void run() {
    sweep_once(&fuser::join_reshapes);
    sweep_once(&fuser::drop_identity);
    sweep_once(&fuser::mark_shuffle);
    sweep_once(&fuser::absorb_padding);
    sweep_once(&fuser::absorb_cut);
    join_integer_sums(m_p);
    fold_into_producers(m_p);
    look_again();
    sweep_once(&fuser::recognise_hard_sigmoid);
    sweep_once(&fuser::recognise_gate);
    sweep_once(&fuser::dense_of_image);
    fold_into_producers(m_p);
    fold_into_readers(m_p);
    look_again();
    for (bool changed = true; changed;) {
      changed = sweep(&fuser::merge_residual);
      changed = sweep(&fuser::merge_moved_residual) || changed;
      changed = sweep(&fuser::merge_activation) || changed;
      changed = sweep(&fuser::merge_prelu) || changed;
    }
    m_into_binary = true;  // only now, so that a sum finds its convolution first
    sweep_once(&fuser::merge_activation);
    remove_dead();
  }

 private:
  friend class rewriter;

  static bool has_post(const operation& o) {
    return o.as<conv_parameters>() || o.as<dense_parameters>() || o.as<mat_mul_params>() || o.as<binary_params>() ||
           o.as<reduce_parameters>() || is_real_product(o);
  }

  static bool is_real_product(const operation& o) {
    const auto* sums = o.as<integer_conv_parameters>();
    return sums && sums->real;
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

  /// Marks the last reshape of a channel shuffle, [N, C, H, W] -> [N, g, C / g, H, W] -> swap of the two -> [N, C, H,
  /// W], as channels_last: elements are copied in any layout, so the copy may as well write the one that images have.
  bool mark_shuffle(std::size_t i) {
    operation& o = at(i);
    auto* join = o.as<reshape_parameters>();
    if (!join || join->channels_last || o.inputs.empty()) return false;
    const operation* swap = producer(o.inputs[0]);
    const auto* t = swap ? swap->as<transpose_parameters>() : nullptr;
    if (!t || t->permutation.size() < 4 || t->permutation[1] != 2 || t->permutation[2] != 1) return false;
    for (std::size_t d = 0; d < t->permutation.size(); ++d)
      if (d != 1 && d != 2 && t->permutation[d] != static_cast<int>(d)) return false;
    const operation* split = producer(swap->inputs[0]);
    if (!split || !split->as<reshape_parameters>() || m_p.shape(split->inputs[0]) != m_p.shape(o.output)) return false;
    const shape_t &whole = m_p.shape(o.output), &parts = m_p.shape(split->output);
    if (whole.size() + 1 != parts.size() || whole.size() < 3 || parts[1] * parts[2] != whole[1]) return false;
    join->channels_last = true;
    return true;
  }

  /// Windows that read the padding themselves. A sum of pads beyond int is beyond max_pad too.
  static window padded(window w, const pad_parameters& pad) {
    const std::size_t rank = pad.before.size();
    const auto sum = [](int a, std::int64_t b) { return static_cast<int>(std::min(a + b, max_pad + 1)); };
    if (rank == 4) w.pad_top = sum(w.pad_top, pad.before[2]);
    w.pad_left = sum(w.pad_left, pad.before[rank - 1]);
    return w;
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
      const overhang around = window_overhang(padded(c->w, *pad), m_p.shape(o.inputs[0]), m_p.shape(reader.output));
      if (std::max({around.top, around.left, around.bottom, around.right}) > max_pad) return false;
    }
    for (int r : readers) {
      operation& reader = at(static_cast<std::size_t>(r));
      auto* c = reader.as<conv_parameters>();
      c->w = padded(c->w, *pad);
      reader.inputs[0] = o.inputs[0];
    }
    return true;
  }

  /// A convolution does not compute last rows and columns that see padding, where they are cut off: causal layers are
  /// padded on both sides, and cut at the end.
  bool absorb_cut(std::size_t i) {
    operation& o = at(i);
    const auto* cut = o.as<slice_parameters>();
    operation* source = cut ? sole_producer(o.inputs[0]) : nullptr;
    const auto* c = source ? source->as<conv_parameters>() : nullptr;
    if (!c || !source->post.empty() || !o.post.empty()) return false;
    const shape_t &whole = m_p.shape(o.inputs[0]), &part = m_p.shape(o.output);
    const overhang around = window_overhang(c->w, m_p.shape(source->inputs[0]), whole);
    for (std::size_t d = 0; d < whole.size(); ++d) {
      const bool columns = d + 1 == whole.size();
      const std::int64_t padded = d < 2 ? 0 : columns ? around.right : around.bottom;
      const std::int64_t gone = whole[d] - part[d];  // with other strides, lengths decide what sees padding
      if (cut->starts[d] != 0 || cut->steps[d] != 1 || gone > padded) return false;
      if (gone > 0 && (columns ? c->w.stride_w : c->w.stride_h) != 1) return false;
    }
    take_over(source, i, o.output);
    return true;
  }

  /// Whether an operation divides by 6, or multiplies by a sixth.
  bool divides_by_six(const operation& o) const {
    const auto* b = o.as<binary_params>();
    if (!b || (b->kind != binary_kind::div && b->kind != binary_kind::mul)) return false;
    const auto divisor = scalar(o.inputs[1]);
    return divisor && std::abs((b->kind == binary_kind::div ? 1 / *divisor : *divisor) - 1.0 / 6) <= 1e-7;
  }
  /// x where v is clip(x + 3, 0, 6) and nothing else reads what is between.
  int clipped_sum(int v) {
    const operation* clip = sole_producer(v);
    if (!clip || !clip->as<unary_params>() || clip->post.fn != function::clip || clip->post.alpha != 0 ||
        clip->post.beta != 6)
      return no_value;
    const operation* add = sole_producer(clip->inputs[0]);
    const auto* sum = add ? add->as<binary_params>() : nullptr;
    if (!sum || sum->kind != binary_kind::add) return no_value;
    const bool left = scalar(add->inputs[0]) == 3.0;
    return left || scalar(add->inputs[1]) == 3.0 ? add->inputs[left ? 1 : 0] : no_value;
  }

  /// clip(x + 3, 0, 6) / 6: hard-sigmoid with alpha 1/6, beta 0.5. x * clip(x + 3, 0, 6) / 6: hard-swish.
  bool recognise_hard_sigmoid(std::size_t i) {
    operation& o = at(i);
    if (o.exact || !divides_by_six(o)) return false;
    int x = clipped_sum(o.inputs[0]);
    const bool gate = x != no_value;
    const operation* product = gate ? nullptr : sole_producer(o.inputs[0]);
    for (std::size_t side = 0; side < 2 && is_binary(product, binary_kind::mul); ++side)
      if (x == no_value && clipped_sum(product->inputs[1 - side]) == product->inputs[side]) x = product->inputs[side];
    if (x == no_value || m_p.shape(x) != m_p.shape(o.output)) return false;
    o.p = unary_params{};
    o.inputs = {x};
    o.post.fn = gate ? function::hard_sigmoid : function::hard_swish;
    o.post.alpha = gate ? 1.0 / 6 : 0;
    o.post.beta = gate ? 0.5 : 0;
    return true;
  }

  /// x * sigmoid(x): SiLU. x * hard_sigmoid(x, 1/6, 1/2): hard-swish.
  bool recognise_gate(std::size_t i) {
    operation& o = at(i);
    if (!is_binary(&o, binary_kind::mul)) return false;
    for (std::size_t side = 0; side < 2; ++side) {
      const int x = o.inputs[side];
      operation* gate = sole_producer(o.inputs[1 - side]);
      if (!gate || !gate->as<unary_params>() || gate->inputs[0] != x) continue;
      const bool swish = gate->post.fn == function::hard_sigmoid && std::abs(gate->post.alpha - 1.0 / 6) < 1e-7 &&
                         gate->post.beta == 0.5;
      if (gate->post.fn != function::sigmoid && !swish) continue;
      o.p = unary_params{};
      o.inputs = {x};
      o.post.fn = swish ? function::hard_swish : function::silu;
      o.post.alpha = o.post.beta = 0;
      return true;
    }
    return false;
  }

  /// dense(reshape(x [N, C, H, W] -> [N, C*H*W])): a convolution whose kernel is the whole image, so that nothing is
  /// transposed.
  bool dense_of_image(std::size_t i) {
    operation& o = at(i);
    auto* d = o.as<dense_parameters>();
    if (!d || m_p.shape(o.inputs[0]).size() != 2) return false;
    const operation* view = producer(o.inputs[0]);
    if (!view || !view->as<reshape_parameters>()) return false;
    const shape_t x = m_p.shape(view->inputs[0]);
    if (x.size() != 4 || x[0] != m_p.shape(o.inputs[0])[0] || x[2] * x[3] == 1 || x[1] == 1 || x[2] > 65535 ||
        x[3] > 65535)
      return false;
    const int image = view->inputs[0];
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
    o.inputs = {image};
    o.output = result;
    insert(i + 1, std::move(flat));
    return true;
  }

  bool merge_activation(std::size_t i) {
    operation& o = at(i);
    if (!o.as<unary_params>() || o.post.residual != no_value) return false;
    operation* source = sole_producer(o.inputs[0]);
    if (!source || (source->as<binary_params>() && !m_into_binary)) return false;
    if (!has_post(*source) || source->post.fn != function::identity || source->post.activation_first) return false;
    source->post.fn = o.post.fn;
    source->post.alpha = o.post.alpha;
    source->post.beta = o.post.beta;
    take_over(source, i, o.output);
    return true;
  }

  bool merge_prelu(std::size_t i) {
    operation& o = at(i);
    if (!is_binary(&o, binary_kind::prelu)) return false;
    operation* source = sole_producer(o.inputs[0]);
    const shape_t& shape = m_p.shape(o.output);
    if (const auto slope = scalar(o.inputs[1]); slope) {
      const int x = o.inputs[0];
      o.p = unary_params{};
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

  /// Whether an operation adds two values and does nothing else.
  static bool is_plain_sum(const operation& o) { return is_binary(&o, binary_kind::add) && o.inputs[0] != o.inputs[1]; }
  bool merge_residual(std::size_t i) {
    operation& o = at(i);
    if (!is_plain_sum(o)) return false;
    int best = -1;
    for (int side = 0; side < 2; ++side) {
      const int v = o.inputs[static_cast<std::size_t>(side)], other = o.inputs[static_cast<std::size_t>(1 - side)];
      operation* source = sole_producer(v);
      if (!source || source->post.residual != no_value || m_p.is_constant(other)) continue;
      if (!source->as<conv_parameters>() && !source->as<dense_parameters>() && !source->as<mat_mul_params>() &&
          !is_real_product(*source))
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

  /// Whether an operation only gives rows of the last axis another shape, in the same order.
  bool keeps_rows(const operation& o) const {
    if (!o.as<reshape_parameters>() && !o.as<transpose_parameters>()) return false;
    const shape_t &from = m_p.shape(o.inputs[0]), &to = m_p.shape(o.output);
    if (from.empty() || to.empty() || from.back() != to.back()) return false;
    int last = -1;
    if (const auto* t = o.as<transpose_parameters>())
      for (int axis : t->permutation) {
        if (from[static_cast<std::size_t>(axis)] == 1) continue;
        if (axis < last) return false;
        last = axis;
      }
    return true;
  }
  /// Returns the layer whose rows `v` holds in another shape, where nothing else reads them and it adds nothing yet.
  operation* dense_behind(int v) {
    operation* source = sole_producer(v);
    while (source && keeps_rows(*source)) source = sole_producer(source->inputs[0]);
    const bool takes = source && source->output != v && source->as<dense_parameters>();
    return takes && source->post.residual == no_value ? source : nullptr;
  }
  /// Moves `dense` to `i`, behind what computes `other`, which it then adds; the sum at `i` becomes a reshape of it.
  void move_to_residual(operation& dense, int other, std::size_t i) {
    operation& o = at(i);
    const shape_t rows = m_p.shape(dense.output);
    const auto add_value = [&](const char* what) { return m_p.add({o.name + what, element::f32, rows, nullptr}); };
    const int residual = add_value("#rows"), sum = add_value("#sum");
    operation reshape;
    reshape.name = o.name;
    reshape.source = o.source;
    reshape.inputs = {other};
    reshape.output = residual;
    reshape.p = reshape_parameters{};
    operation layer = std::move(dense);
    dense = {};
    layer.name += "+" + o.name;
    layer.output = sum;
    layer.post.residual = residual;
    layer.post.activation_first = layer.post.fn != function::identity;
    o.p = reshape_parameters{};
    o.inputs = {sum};
    insert(i, {std::move(reshape), std::move(layer)});
  }
  /// Lets a layer whose rows are reshaped add what is added to them.
  /// Before: d = dense(x); s = reshape(d) + other. After: r = reshape(other); d = dense(x) + r; s = reshape(d).
  bool merge_moved_residual(std::size_t i) {
    operation& o = at(i);
    if (!is_plain_sum(o)) return false;
    for (int r : m_p.consumers(o.output))
      if (at(static_cast<std::size_t>(r)).as<unary_params>()) return false;  // a function goes into the sum instead
    for (std::size_t side = 0; side < 2; ++side) {
      const int v = o.inputs[side], other = o.inputs[1 - side];
      if (m_p.is_constant(other) || m_p.shape(v) != m_p.shape(o.output) || m_p.shape(other) != m_p.shape(v)) continue;
      operation* dense = dense_behind(v);
      if (!dense) continue;
      move_to_residual(*dense, other, i);
      return true;
    }
    return false;
  }

  bool m_into_binary = false;
};

}

void fuse(program& p) { fuser(p).run(); }

}
