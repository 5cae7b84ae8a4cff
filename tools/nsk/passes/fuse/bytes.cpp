// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <netsuke/format/limits.hpp>
#include "passes/fuse/byte_rewriter.hpp"
#include "passes/fuse/fuse.hpp"

namespace nsk::tool {
namespace {

using byte_table = std::array<std::uint8_t, 256>;

bool is_flip(const byte_table& t) {
  for (std::size_t i = 0; i < t.size(); ++i)
    if (t[i] != (i ^ 128)) return false;
  return true;
}

/// Whether a table keeps bytes between its least and largest one, and limits the others to them.
bool is_limit(const byte_table& t) {
  if (t.front() > t.back()) return false;
  for (std::size_t i = 0; i < t.size(); ++i)
    if (t[i] != std::clamp<std::size_t>(i, t.front(), t.back())) return false;
  return true;
}

class byte_joiner : byte_rewriter {
 public:
  using byte_rewriter::byte_rewriter;

  /// Brings tables and limits together.
  void join() {
    for (bool changed = true; changed;) {
      changed = sweep(&byte_joiner::join_tables);
      changed = sweep(&byte_joiner::flip_behind_moves) || changed;
      changed = sweep(&byte_joiner::dequantize_flipped) || changed;
      changed = sweep(&byte_joiner::limit_layer) || changed;
      changed = sweep(&byte_joiner::limit_phases) || changed;
      changed = sweep(&byte_joiner::limit_quantize) || changed;
      changed = sweep(&byte_joiner::place_of_byte) || changed;
      changed = sweep(&byte_joiner::drop_table) || changed;
    }
  }
  /// Makes steps of several operations, once the others are where they belong.
  void finish() {
    sweep_once(&byte_joiner::join_arithmetic);
    sweep_once(&byte_joiner::join_mean);
    sweep_once(&byte_joiner::dense_of_image);
  }

 private:
  friend class rewriter;

  const byte_table* table_of(const operation* o) const {
    const auto* t = o ? o->as<byte_table_parameters>() : nullptr;
    return t && t->channels.empty() ? &t->table : nullptr;
  }
  /// The table by which `v` is made, where it flips the top bit.
  const operation* flipped(int v) {
    const operation* o = producer(v);
    const byte_table* t = table_of(o);
    return t && is_flip(*t) ? o : nullptr;
  }

  /// Folds a table into the one that reads it.
  bool join_tables(std::size_t i) {
    operation& o = at(i);
    auto* second = o.as<byte_table_parameters>();
    const operation* before = second ? producer(o.inputs[0]) : nullptr;
    const byte_table* first = table_of(before);
    if (before && !first && second->channels.empty()) return fold_into_channel_tables(i);
    if (!first) return false;
    if (!second->channels.empty()) {
      const std::vector<std::uint8_t> old = second->channels;
      for (std::size_t b = 0; b < old.size(); ++b) second->channels[b] = old[b / 256 * 256 + (*first)[b % 256]];
      o.inputs[0] = before->inputs[0];
      return true;
    }
    byte_table joined;
    for (std::size_t b = 0; b < joined.size(); ++b) joined[b] = second->table[(*first)[b]];
    second->table = joined;
    o.inputs[0] = before->inputs[0];
    return true;
  }

  /// Folds a table into the tables of channels that it reads, and nothing else: channels[c][b] = table[channels[c][b]].
  bool fold_into_channel_tables(std::size_t i) {
    operation& o = at(i);
    const byte_table* table = table_of(&o);
    operation* source = sole_producer(o.inputs[0]);
    auto* channel_tables = source ? source->as<byte_table_parameters>() : nullptr;
    if (!channel_tables || channel_tables->channels.empty()) return false;
    for (std::uint8_t& b : channel_tables->channels) b = (*table)[b];
    take_over(source, i, o.output);
    return true;
  }

  /// Drops a table that changes neither bytes nor their type.
  bool drop_table(std::size_t i) {
    operation& o = at(i);
    const byte_table* t = table_of(&o);
    if (!t || type(o.inputs[0]) != type(o.output)) return false;
    for (std::size_t b = 0; b < t->size(); ++b)
      if ((*t)[b] != b) return false;
    o.p = reshape_parameters{};
    return true;
  }

  static bool moves_elements(const operation& o) {
    return o.as<reshape_parameters>() || o.as<transpose_parameters>() || o.as<slice_parameters>() ||
           o.as<concat_parameters>() || o.as<expand_parameters>();
  }
  /// Elements are moved first, and flipped behind.
  bool flip_behind_moves(std::size_t i) {
    operation& o = at(i);
    if (!moves_elements(o) || o.inputs.empty()) return false;
    for (const int v : o.inputs)
      if (!flipped(v) || type(flipped(v)->inputs[0]) != element::u8) return false;
    operation flip = *flipped(o.inputs[0]);
    for (int& v : o.inputs) v = flipped(v)->inputs[0];
    const program_value& old = m_p.values[static_cast<std::size_t>(o.output)];
    const int moved = m_p.add({old.name + "#unsigned", element::u8, old.shape, nullptr});
    flip.inputs = {moved};
    flip.output = o.output;
    o.output = moved;
    insert(i + 1, std::move(flip));
    return true;
  }

  bool dequantize_flipped(std::size_t i) {
    operation& o = at(i);
    auto* d = o.as<dequantize_params>();
    const operation* flip = d ? flipped(o.inputs[0]) : nullptr;
    if (!flip || type(flip->inputs[0]) == type(o.inputs[0])) return false;
    d->zero += type(o.inputs[0]) == element::i8 ? 128 : -128;
    o.inputs[0] = flip->inputs[0];
    return true;
  }

  /// Limits and flips behind the only layer that they belong to.
  bool limit_layer(std::size_t i) {
    operation& o = at(i);
    const byte_table* t = table_of(&o);
    operation* source = t ? sole_producer(o.inputs[0]) : nullptr;
    if (!source) return false;
    auto* q = source->as<quantize_params>();
    auto* c = source->as<quantized_conv_parameters>();
    auto* sum = source->as<quantized_binary_params>();
    if (q && is_flip(*t) && type(o.inputs[0]) == element::u8 && type(o.output) == element::i8) {
      q->zero -= 128;
      q->low -= 128;
      q->high -= 128;
    } else if ((q || c || sum) && is_limit(*t) && type(o.inputs[0]) == element::u8 && type(o.output) == element::u8) {
      const auto limited = [&](int b) { return std::clamp<int>(b, t->front(), t->back()); };
      if (q) q->low = limited(q->low), q->high = limited(q->high);
      if (sum) sum->low = limited(sum->low), sum->high = limited(sum->high);
      if (c) c->range.low = limited(c->range.low), c->range.high = limited(c->range.high);
    } else {
      return false;
    }
    take_over(source, i, o.output);
    return true;
  }

  /// Limits behind phases whose pixels are interleaved, of layers that nothing else reads.
  bool limit_phases(std::size_t i) {
    operation& o = at(i);
    const byte_table* t = table_of(&o);
    operation* source = t ? sole_producer(o.inputs[0]) : nullptr;
    if (!source || !source->as<interleave_parameters>() || !is_limit(*t) || type(o.output) != element::u8) return false;
    const auto layer = [&](int v) {
      operation* phase = sole_producer(v);
      return phase ? phase->as<quantized_conv_parameters>() : nullptr;
    };
    for (const int v : source->inputs)
      if (!layer(v)) return false;
    for (const int v : source->inputs) {
      stored_range& range = layer(v)->range;
      range.low = std::clamp<int>(range.low, t->front(), t->back());
      range.high = std::clamp<int>(range.high, t->front(), t->back());
    }
    take_over(source, i, o.output);
    return true;
  }

  /// What a function of one number leaves of the limits of stored numbers; false where it is none that only limits.
  static bool limit_stored(const operation& f, quantize_params& q) {
    if (!f.as<unary_params>() || f.post.fn != function::clip || f.post.residual != no_value) return false;
    const auto stored = [&](double real) {
      const float units = static_cast<float>(real) / q.scale;
      const double number = std::nearbyint(static_cast<double>(units)) + q.zero;
      return static_cast<int>(std::clamp(number, static_cast<double>(q.low), static_cast<double>(q.high)));
    };
    if (std::isnan(f.post.alpha) || std::isnan(f.post.beta) || f.post.alpha > f.post.beta) return false;
    const int low = stored(f.post.alpha), high = stored(f.post.beta);
    q.low = low;
    q.high = high;
    return true;
  }
  /// Limits of real numbers, which are limits of what is stored of them.
  bool limit_quantize(std::size_t i) {
    operation& o = at(i);
    auto* q = o.as<quantize_params>();
    const operation* limit = q && type(o.output) == element::u8 ? sole_producer(o.inputs[0]) : nullptr;
    if (!limit || !limit_stored(*limit, *q)) return false;
    o.inputs[0] = limit->inputs[0];
    return true;
  }
  /// The place of the largest or smallest number is that of the byte which stores it: no two bytes are one number.
  bool place_of_byte(std::size_t i) {
    operation& o = at(i);
    if (!o.as<arg_reduce_params>()) return false;
    operation* move = sole_producer(o.inputs[0]);
    const bool moved = move && moves_elements(*move) && move->inputs.size() == 1;
    const operation* wide = producer(moved ? move->inputs[0] : o.inputs[0]);
    const auto* d = wide ? wide->as<dequantize_params>() : nullptr;
    if (!d || !std::isfinite(d->scale * 255)) return false;
    const int bytes = wide->inputs[0];
    if (moved) {
      const program_value& old = m_p.values[static_cast<std::size_t>(move->output)];
      move->inputs[0] = bytes;
      move->output = m_p.add({old.name + "#bytes", type(bytes), shape_t(old.shape), nullptr});
    }
    o.inputs[0] = moved ? move->output : bytes;
    return true;
  }

  /// A sum, difference or product of stored numbers that is stored again: one operation, which rounds as the four do.
  bool join_arithmetic(std::size_t i) {
    operation& o = at(i);
    const auto* stores = o.as<quantize_params>();
    if (!stores || type(o.output) != element::u8) return false;
    const quantize_params to = *stores;
    const operation* source = sole_producer(o.inputs[0]);
    const auto* b = source ? source->as<binary_params>() : nullptr;
    if (!b || !source->post.empty() ||
        (b->kind != binary_kind::add && b->kind != binary_kind::sub && b->kind != binary_kind::mul))
      return false;
    const operation *left = widened(source->inputs[0]), *right = widened(source->inputs[1]);
    if (!left || !right) return false;
    const auto &x = *left->as<dequantize_params>(), &y = *right->as<dequantize_params>();
    quantized_binary_params p;
    p.kind = b->kind;
    p.a_scale = x.scale;
    p.b_scale = y.scale;
    p.scale = to.scale;
    p.a_zero = x.zero;
    p.b_zero = y.zero;
    p.zero = to.zero;
    p.low = to.low;
    p.high = to.high;
    o.p = p;
    o.inputs = {left->inputs[0], right->inputs[0]};
    return true;
  }

  /// Whether an operation is the mean of all pixels of an image.
  bool is_mean_of_image(const operation& o) const {
    if (o.inputs.empty()) return false;  // random numbers
    const shape_t &x = m_p.shape(o.inputs[0]), &y = m_p.shape(o.output);
    if (!o.post.empty() || (x.size() != 3 && x.size() != 4) || y.size() != x.size()) return false;
    for (std::size_t d = 2; d < y.size(); ++d)
      if (y[d] != 1) return false;
    if (const auto* r = o.as<reduce_parameters>()) return r->kind == reduce_kind::mean && y[0] == x[0] && y[1] == x[1];
    const auto* p = o.as<pool_2d_params>();
    return p && p->kind == pool_kind::average && p->w.pad_top == 0 && p->w.pad_left == 0 && p->pad_bottom == 0 &&
           p->pad_right == 0 && p->w.kernel_w == x.back() && (x.size() == 3 || p->w.kernel_h == x[2]);
  }
  /// The mean of the integers that store an image, which is stored again.
  bool join_mean(std::size_t i) {
    operation& o = at(i);
    const auto* stores = o.as<quantize_params>();
    if (!stores || type(o.output) != element::u8) return false;
    const quantize_params to = *stores;
    const operation* source = sole_producer(o.inputs[0]);
    if (!source || !is_mean_of_image(*source)) return false;
    const operation* wide = widened(source->inputs[0]);
    const shape_t& x = m_p.shape(source->inputs[0]);
    if (!wide || wide->as<dequantize_params>()->scale != 1 ||
        count_of({x.begin() + 2, x.end()}) > impl::max_mean_pixels)
      return false;
    const int bytes = wide->inputs[0];
    o.p = quantized_mean_params{to.scale, wide->as<dequantize_params>()->zero, to.zero, to.low, to.high};
    o.inputs = {bytes};
    return true;
  }

  /// A product with all of an image: a convolution whose kernel is as large, so that nothing is transposed.
  bool dense_of_image(std::size_t i) {
    operation& o = at(i);
    auto* c = o.as<quantized_conv_parameters>();
    if (!c || m_p.shape(o.inputs[0]).size() != 4 || c->groups != 1 || c->w.kernel_h != 1 || c->w.kernel_w != 1 ||
        c->w.pad_top != 0 || c->w.pad_left != 0)
      return false;
    const shape_t &row = m_p.shape(o.inputs[0]), &result = m_p.shape(o.output);
    if (result[2] != 1 || result[3] != 1) return false;
    const operation* view = producer(o.inputs[0]);
    while (view && view->as<reshape_parameters>() && m_p.shape(view->inputs[0]).size() != 4)
      view = producer(view->inputs[0]);
    if (!view || !view->as<reshape_parameters>() || row[2] != 1 || row[3] != 1) return false;
    const shape_t& x = m_p.shape(view->inputs[0]);
    if (x[0] != row[0] || x[2] * x[3] == 1 || x[2] > 65535 || x[3] > 65535) return false;
    c->w = {};
    c->w.kernel_h = static_cast<int>(x[2]);
    c->w.kernel_w = static_cast<int>(x[3]);
    o.inputs[0] = view->inputs[0];
    return true;
  }
};

}

void join_bytes(program& p) {
  byte_joiner(p).join();
  while (move_bytes(p)) byte_joiner(p).join();
  byte_joiner(p).finish();
}

bool computes_bytes(const program& p) {
  return std::any_of(p.operations.begin(), p.operations.end(), [](const operation& o) {
    return o.as<quantized_conv_parameters>() || o.as<quantize_params>() || o.as<dequantize_params>() ||
           o.as<byte_table_parameters>() || o.as<quantized_binary_params>() || o.as<integer_conv_parameters>() ||
           o.as<dynamic_quantize_params>() || o.as<quantized_mean_params>();
  });
}

}
