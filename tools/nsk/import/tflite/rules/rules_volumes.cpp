// SPDX-License-Identifier: MIT
/// Rules for convolutions of volumes, and for windows and padding along any axis.
#include <algorithm>

#include "import/tflite/rules/nodes.hpp"
#include "import/tflite/rules/operands.hpp"
#include "import/tflite/rules/rules.hpp"
#include "import/tflite/rules/subgraphs.hpp"

namespace nsk::tool::tflite {
namespace {

using list = std::vector<std::int64_t>;
constexpr std::int64_t max_window = 1024, max_padding = 1 << 24;

/// A volume [N, D, H, W, C] with channels first, and back.
value_id channels_first(call& c, int t) { return transposed(c, c.plain(t), {0, 4, 1, 2, 3}); }
void finish_volume(call& c, value_id y, tfl::Activation a) {
  finish(c, 0, transposed(c, y, {0, 2, 3, 4, 1}), false, a);
}

/// Options of a convolution of volumes, in the order of their axes.
struct volume_window {
  list strides, dilations;
};

volume_window window_of(call& c, const tfl::Conv3DOptions& o, int x, int w) {
  c.require(c.rank(x) == 5 && c.rank(w) == 5 && c.type(x) == element::f32 && !c.is_stored(x),
            "input and weights must be float32 of five dimensions");
  const volume_window v{{o.stride_d(), o.stride_h(), o.stride_w()},
                        {o.dilation_d_factor(), o.dilation_h_factor(), o.dilation_w_factor()}};
  for (std::size_t d = 0; d < 3; ++d) require_positive(c, v.strides[d], v.dilations[d]);
  return v;
}

void convolution(call& c) {
  c.require_operands(2, 3);
  const auto& o = c.options<tfl::Conv3DOptions>();
  const int x = c.input(0), w = c.input(1);
  const volume_window v = window_of(c, o, x, w);
  const std::string padding = o.padding() == tfl::Padding::SAME ? "SAME_UPPER" : "VALID";
  const value_id y = c.emit("Conv", {channels_first(c, x), c.layer_constant(w, {4, 3, 0, 1, 2}), bias_of(c, 2, x, w)},
                            {{"auto_pad", padding}, {"strides", v.strides}, {"dilations", v.dilations}});
  finish_volume(c, y, o.fused_activation_function());
}

/// The weights are [d, h, w, out, in].
void transposed_convolution(call& c) {
  c.require_operands(3, 4);
  const auto& o = c.options<tfl::Conv3DOptions>();
  const int w = c.input(1), x = c.input(2);
  const volume_window v = window_of(c, o, x, w);
  const list wanted = integers(c, c.input(0), "the output shape");
  c.require(wanted.size() == 5, "the output shape must have five lengths");
  list before(3, 0), after(3, 0), beyond(3, 0);
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t out = wanted[d + 1], kernel = (c.shape(w)[d] - 1) * v.dilations[d] + 1;
    c.require(out > 0 && kernel > 0, "the output shape or the weights are empty");
    if (o.padding() == tfl::Padding::SAME)
      before[d] = std::max<std::int64_t>(0, ((out - 1) / v.strides[d]) * v.strides[d] + kernel - out) / 2;
    after[d] = (c.shape(x)[d + 1] - 1) * v.strides[d] + kernel - out - before[d];
    beyond[d] = std::max<std::int64_t>(0, -after[d]);
    after[d] = std::max<std::int64_t>(0, after[d]);
  }
  list pads = before;
  pads.insert(pads.end(), after.begin(), after.end());
  const value_id y =
      c.emit("ConvTranspose", {channels_first(c, x), c.layer_constant(w, {4, 3, 0, 1, 2}), bias_of(c, 3, x, w)},
             {{"strides", v.strides}, {"dilations", v.dilations}, {"pads", pads}, {"output_padding", beyond}});
  finish_volume(c, y, o.fused_activation_function());
}

/// The root of the mean of squares.
void square_pool(call& c) {
  c.require_operands(1, 1);
  require_unquantized(c);
  const auto& o = c.options<tfl::Pool2DOptions>();
  require_positive(c, o.stride_h(), o.stride_w());
  require_positive(c, o.filter_height(), o.filter_width());
  const value_id x = c.image(c.input(0));
  const value_id mean = c.emit("AveragePool", {c.emit("Mul", {x, x})},
                               {{"auto_pad", std::string(o.padding() == tfl::Padding::SAME ? "SAME_UPPER" : "VALID")},
                                {"strides", list{o.stride_h(), o.stride_w()}},
                                {"kernel_shape", list{o.filter_height(), o.filter_width()}}});
  finish(c, 0, c.emit("Sqrt", {mean}), k_image, o.fused_activation_function());
}

/// A block of the fill, as `v` is but for the length of an axis.
value_id block(call& c, value_id v, std::size_t axis, std::int64_t length, value_id fill) {
  shape_t shape = c.at(v).shape;
  shape[axis] = length;
  checked_count(shape, "its padding");
  return c.emit("Expand", {fill, constant_integers(c, shape)});
}

/// Puts `between` fills between neighbours along an axis.
value_id spread(call& c, value_id v, std::size_t axis, std::int64_t between, value_id fill) {
  const shape_t from = c.at(v).shape;
  const std::int64_t length = from[axis];
  if (between == 0 || length <= 1) return v;
  shape_t apart = from;
  apart.insert(apart.begin() + static_cast<std::ptrdiff_t>(axis) + 1, 1);
  const value_id one = reshaped(c, v, apart);
  shape_t all = from, to = from;
  all[axis] = length * (between + 1);
  to[axis] = all[axis] - between;
  checked_count(all, "its padding");
  const value_id both = joined(c, {one, block(c, one, axis + 1, between, fill)}, static_cast<std::int64_t>(axis) + 1);
  return sliced(c, reshaped(c, both, all), false, list(from.size(), 0), to, list(from.size(), 1));
}

void dilate(call& c) {
  c.require_operands(3, 3);
  const list steps = integers(c, c.input(1), "the dilations");
  c.require(steps.size() == c.rank(c.input(0)), "there must be one dilation per dimension");
  value_id v = c.plain(c.input(0));
  const value_id fill = reshaped(c, c.plain(c.input(2)), {});
  for (std::size_t a = 0; a < steps.size(); ++a) {
    c.require(steps[a] >= 1 && steps[a] <= max_padding, "a dilation is not positive, or beyond 2^24");
    v = spread(c, v, a, steps[a] - 1, fill);
  }
  c.bind(0, v);
}

/// Edges that are negative crop.
void pad(call& c) {
  c.require_operands(2, 2);
  const auto& o = c.options_beyond<tfl::StablehloPadOptions>();
  const std::size_t axes = c.rank(c.input(0));
  const list low = listed_integers(o.edge_padding_low()), high = listed_integers(o.edge_padding_high()),
             between = listed_integers(o.interior_padding());
  for (const list* lengths : {&low, &high, &between}) {
    c.require(lengths->size() == axes, "it must have three lengths per dimension");
    for (const std::int64_t n : *lengths)
      c.require(n >= -max_padding && n <= max_padding, "a padding is longer than 2^24");
  }
  value_id v = c.plain(c.input(0));
  const value_id fill = reshaped(c, c.plain(c.input(1)), {});
  for (std::size_t a = 0; a < axes; ++a) {
    c.require(between[a] >= 0, "a padding between elements is negative");
    v = spread(c, v, a, between[a], fill);
    list from(axes, 0), to = c.at(v).shape;
    from[a] = std::max<std::int64_t>(0, -low[a]);
    to[a] += std::min<std::int64_t>(0, high[a]);
    c.require(from[a] <= to[a], "it crops more than there is");
    if (low[a] < 0 || high[a] < 0) v = sliced(c, v, false, from, to, list(axes, 1));
    values parts;
    if (low[a] > 0) parts.push_back(block(c, v, a, low[a], fill));
    parts.push_back(v);
    if (high[a] > 0) parts.push_back(block(c, v, a, high[a], fill));
    v = joined(c, parts, static_cast<std::int64_t>(a));
  }
  c.bind(0, v);
}

/// What a window makes of two numbers.
const char* function_of(call& c, tfl::ReduceWindowFunction f) {
  switch (f) {
    case tfl::ReduceWindowFunction::ADD: return "Add";
    case tfl::ReduceWindowFunction::MUL: return "Mul";
    case tfl::ReduceWindowFunction::MINIMUM: return "Min";
    case tfl::ReduceWindowFunction::MAXIMUM: return "Max";
    case tfl::ReduceWindowFunction::ALL: return "And";
    case tfl::ReduceWindowFunction::ANY: return "Or";
    default: c.fail("its function " + std::to_string(static_cast<int>(f)) + " is not known");
  }
}

/// Windows along one axis after the other: elements of all places of a window, combined.
void reduce_window(call& c) {
  c.require_operands(5, 5);
  require_unquantized(c);
  const char* const f = function_of(c, c.options_beyond<tfl::ReduceWindowOptions>().reduce_function());
  const list sides = integers(c, c.input(2), "the window"), strides = integers(c, c.input(3), "the strides"),
             dilations = integers(c, c.input(4), "the dilations");
  const std::size_t axes = c.rank(c.input(0));
  c.require(sides.size() == axes && strides.size() == axes && dilations.size() == axes,
            "window, strides and dilations must have one length per dimension");
  value_id v = c.plain(c.input(0));
  for (std::size_t a = 0; a < axes; ++a) {
    require_positive(c, strides[a], dilations[a]);
    c.require(sides[a] > 0 && sides[a] <= max_window, "its window is not positive, or longer than 1024");
    const std::int64_t length = c.at(v).shape[a], reach = (sides[a] - 1) * dilations[a] + 1;
    c.require(reach <= length, "its window is longer than its input");
    const std::int64_t last = (length - reach) / strides[a] * strides[a];  // where the last window begins
    if (sides[a] == 1 && strides[a] == 1) continue;
    count_placed(c, 2 * static_cast<std::size_t>(sides[a]));
    const value_id from = v;
    for (std::int64_t i = 0; i < sides[a]; ++i) {
      list starts(axes, 0), stops = c.at(from).shape, steps(axes, 1);
      starts[a] = i * dilations[a];
      stops[a] = starts[a] + last + 1;
      steps[a] = strides[a];
      const value_id part = sliced(c, from, false, starts, stops, steps);
      v = i == 0 ? part : c.emit(f, {v, part});
    }
  }
  finish(c, 0, c.emit(f, {v, reshaped(c, c.plain(c.input(1)), {})}));
}

}

void add_volumes(table& t) {
  t["CONV_3D"] = {convolution};
  t["CONV_3D_TRANSPOSE"] = {transposed_convolution};
  t["L2_POOL_2D"] = {square_pool};
  t["DILATE"] = {dilate, moves_numbers};
  t["STABLEHLO_PAD"] = {pad, moves_numbers};
  t["REDUCE_WINDOW"] = {reduce_window};
}

}
