// SPDX-License-Identifier: MIT
/// Rules for operators that look at windows of images: convolution, pooling, resampling, padding.
#include "import/tflite/rules/windows.hpp"

#include <algorithm>
#include <cmath>

#include "graph/nearest_pixel.hpp"
#include "import/tflite/rules/nodes.hpp"
#include "import/tflite/rules/operands.hpp"
#include "import/tflite/rules/rules.hpp"
#include "import/tflite/rules/stored.hpp"

namespace nsk::tool::tflite {
namespace {

using list = std::vector<std::int64_t>;
constexpr std::int64_t max_padding = 1 << 24;

std::string auto_pad(tfl::Padding p) { return p == tfl::Padding::SAME ? "SAME_UPPER" : "VALID"; }

/// Attributes of a layer, with what says that it rounds as LiteRT's reference kernels do where that is asked for.
attributes rounded_alike(const call& c, attributes a) {
  if (c.options_of_import().reference) a["double_rounding"] = std::int64_t{1};
  return a;
}

void convolution(call& c) {
  c.require_operands(2, 3);
  const auto& o = c.options<tfl::Conv2DOptions>();
  require_positive(c, o.stride_h(), o.stride_w());
  require_positive(c, o.dilation_h_factor(), o.dilation_w_factor());
  const int x = c.input(0), w = c.input(1);
  c.require(c.rank(x) == 4 && c.rank(w) == 4, "input and weights must have four dimensions");
  const std::int64_t channels = c.shape(x)[3], depth = c.shape(w)[3];
  c.require(depth > 0 && channels % depth == 0, "the channels are no multiple of the weights' depth");
  const value_id y = c.emit("Conv", {c.image(x), c.layer_constant(w, channels_to_front), bias_of(c, 2, x, w)},
                            rounded_alike(c, {{"auto_pad", auto_pad(o.padding())},
                                              {"strides", list{o.stride_h(), o.stride_w()}},
                                              {"dilations", list{o.dilation_h_factor(), o.dilation_w_factor()}},
                                              {"group", channels / depth}}));
  finish(c, 0, y, k_image, o.fused_activation_function());
}

void depthwise_convolution(call& c) {
  c.require_operands(2, 3);
  const auto& o = c.options<tfl::DepthwiseConv2DOptions>();
  require_positive(c, o.stride_h(), o.stride_w());
  require_positive(c, o.dilation_h_factor(), o.dilation_w_factor());
  const int x = c.input(0), w = c.input(1);
  c.require(c.rank(x) == 4 && c.rank(w) == 4 && c.shape(w)[0] == 1,
            "input and weights must have four dimensions, the weights' first one 1");
  const std::int64_t channels = c.shape(x)[3], results = c.shape(w)[3];
  c.require(channels > 0 && results % channels == 0, "the weights' channels are no multiple of the input's");
  const value_id y = c.emit("Conv", {c.image(x), c.layer_constant(w, {3, 0, 1, 2}), bias_of(c, 2, x, w)},
                            rounded_alike(c, {{"auto_pad", auto_pad(o.padding())},
                                              {"strides", list{o.stride_h(), o.stride_w()}},
                                              {"dilations", list{o.dilation_h_factor(), o.dilation_w_factor()}},
                                              {"group", channels}}));
  finish(c, 0, y, k_image, o.fused_activation_function());
}

void transposed_convolution(call& c) {
  c.require_operands(3, 4);
  const auto& o = c.options<tfl::TransposeConvOptions>();
  require_positive(c, o.stride_h(), o.stride_w());
  const int w = c.input(1), x = c.input(2);
  c.require(c.rank(x) == 4 && c.rank(w) == 4, "input and weights must have four dimensions");
  const list wanted = integers(c, c.input(0), "the output shape");
  c.require(wanted.size() == 4, "the output shape must have four lengths");
  const list stride = {o.stride_h(), o.stride_w()};
  list before(2, 0), after(2, 0);
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t out = wanted[d + 1], kernel = c.shape(w)[d + 1];
    c.require(out > 0, "the output shape is empty");
    if (o.padding() == tfl::Padding::SAME)
      before[d] = std::max<std::int64_t>(0, ((out - 1) / stride[d]) * stride[d] + kernel - out) / 2;
    after[d] = (c.shape(x)[d + 1] - 1) * stride[d] + kernel - out - before[d];
  }
  finish_transposed_convolution(c, x, w, 3, stride, before, after, o.fused_activation_function());
}

void pool(call& c) {
  c.require_operands(1, 1);
  const auto& o = c.options<tfl::Pool2DOptions>();
  require_positive(c, o.stride_h(), o.stride_w());
  require_positive(c, o.filter_height(), o.filter_width());
  const bool average = c.name() == "AVERAGE_POOL_2D";
  const attributes window = {{"auto_pad", auto_pad(o.padding())},
                             {"strides", list{o.stride_h(), o.stride_w()}},
                             {"kernel_shape", list{o.filter_height(), o.filter_width()}}};
  const std::int64_t taps = std::int64_t{o.filter_height()} * o.filter_width();
  if (average && average_stored(c, window, taps, o.fused_activation_function())) return;
  const value_id y = c.emit(average ? "AveragePool" : "MaxPool", {c.image(c.input(0))}, window);
  if (average)
    finish(c, 0, y, k_image, o.fused_activation_function());
  else
    c.bind(0, activated(c, y, o.fused_activation_function()), k_image);
}

list resized_lengths(call& c) {
  c.require_operands(2, 2);
  const list to = integers(c, c.input(1), "the new size");
  c.require(to.size() == 2 && to[0] > 0 && to[1] > 0 && to[0] <= 65535 && to[1] <= 65535,
            "the new size must be two lengths from 1 to 65535");
  c.require(c.rank(c.input(0)) == 4 && count_of(c.shape(c.input(0))) > 0,
            "the input must have four dimensions, none empty");
  return to;
}

void resize_bilinear(call& c) {
  const auto& o = c.options<tfl::ResizeBilinearOptions>();
  const list to = resized_lengths(c);
  c.require(!(o.align_corners() && o.half_pixel_centers()), "align_corners excludes half_pixel_centers");
  const std::string mode = o.align_corners() ? "align_corners" : o.half_pixel_centers() ? "half_pixel" : "asymmetric";
  const attributes resize = {{"mode", std::string("linear")}, {"coordinate_transformation_mode", mode}};
  const shape_t& from = c.shape(c.input(0));
  const list sizes = {from[0], from[3], to[0], to[1]};
  if (resize_stored(c, resize, sizes)) return;
  const value_id x = c.image(c.input(0));
  const value_id y = c.emit("Resize", {x, no_value, no_value, constant_integers(c, sizes)}, resize);
  c.bind(0, y, k_image);
}

/// The source and ONNX's runtimes reckon positions in single precision, but not in the same order of operations:
/// positions are taken from the source's own formula, and become a Resize where that picks the same.
void resize_nearest(call& c) {
  const auto& o = c.options<tfl::ResizeNearestNeighborOptions>();
  const list to = resized_lengths(c);
  const shape_t from = c.shape(c.input(0));
  const std::string mode = o.align_corners() ? "align_corners" : o.half_pixel_centers() ? "half_pixel" : "asymmetric";
  const std::string rounding = o.align_corners() || o.half_pixel_centers() ? "round_prefer_ceil" : "floor";
  value_id y = c.image(c.input(0));
  list sizes = c.at(y).shape;
  list gathers[2];
  bool usual = true;
  for (std::size_t d = 0; d < 2; ++d) {
    const auto in = static_cast<float>(from[d + 1]), out = static_cast<float>(to[d]);
    const bool corners = o.align_corners() && to[d] > 1;
    const float scale = corners ? (in - 1) / (out - 1) : in / out, offset = o.half_pixel_centers() ? 0.5f : 0.0f;
    const resized_axis same{from[d + 1], to[d], out / in};
    for (std::int64_t i = 0; i < to[d]; ++i) {
      const float position = (static_cast<float>(i) + offset) * scale;
      const auto picked = static_cast<std::int64_t>(o.align_corners() ? std::round(position) : std::floor(position));
      gathers[d].push_back(std::clamp<std::int64_t>(picked, 0, from[d + 1] - 1));
      const std::int64_t wanted =
          from[d + 1] == to[d] ? i : nearest_pixel(rounding, same, nearest_position(mode, same, i));
      usual = usual && gathers[d].back() == wanted;
    }
    sizes[d + 2] = to[d];
  }
  if (usual) {
    y = c.emit(
        "Resize", {y, no_value, no_value, constant_integers(c, sizes)},
        {{"mode", std::string("nearest")}, {"coordinate_transformation_mode", mode}, {"nearest_mode", rounding}});
  } else {
    for (std::size_t d = 0; d < 2; ++d) y = gathered(c, y, static_cast<std::int64_t>(d + 2), gathers[d]);
  }
  c.bind(0, y, k_image);
}

/// Pairs (before, after) per axis, as ONNX wants them: all befores, then all afters.
list per_axis_pads(call& c, int t) {
  const list pairs = integers(c, t, "the paddings");
  const std::size_t axes = c.rank(c.input(0));
  c.require(pairs.size() == 2 * axes, "the paddings must have two values per dimension");
  list pads(2 * axes);
  for (std::size_t a = 0; a < axes; ++a) {
    c.require(
        pairs[2 * a] >= 0 && pairs[2 * a + 1] >= 0 && pairs[2 * a] <= max_padding && pairs[2 * a + 1] <= max_padding,
        "a padding is negative or longer than 2^24");
    pads[a] = pairs[2 * a];
    pads[a + axes] = pairs[2 * a + 1];
  }
  return pads;
}

/// Types that Pad has no kernel for: the numbers between blocks of the fill, axis by axis.
value_id padded_by_blocks(call& c, value_id v, const list& pads, value_id fill) {
  const std::size_t axes = c.at(v).shape.size();
  for (std::size_t a = 0; a < axes; ++a) {
    const auto block = [&](std::int64_t length) {
      shape_t lengths = c.at(v).shape;
      lengths[a] = length;
      return c.emit("Expand", {fill, constant_integers(c, lengths)});
    };
    values parts;
    if (pads[a] > 0) parts.push_back(block(pads[a]));
    parts.push_back(v);
    if (pads[a + axes] > 0) parts.push_back(block(pads[a + axes]));
    if (parts.size() > 1) v = c.emit("Concat", parts, {{"axis", static_cast<std::int64_t>(a)}});
  }
  return v;
}

void pad(call& c) {
  const bool with_value = c.name() == "PADV2";
  c.require_operands(with_value ? 3 : 2, with_value ? 3 : 2);
  list pads = per_axis_pads(c, c.input(1));
  const bool images = c.rank(c.input(0)) == 4;
  if (images) {
    const list source = pads;
    for (std::size_t a = 0; a < 4; ++a) {
      const auto place = static_cast<std::size_t>(image_axis(a));
      pads[place] = source[a];
      pads[place + 4] = source[a + 4];
    }
  }
  const value_id x = in_form(c, c.input(0), images),
                 fill = with_value ? reshaped(c, c.plain(c.input(2)), {}) : c.constant(array(c.at(x).type, {}));
  if (c.at(x).type != element::f32) return c.bind(0, padded_by_blocks(c, x, pads, fill), images);
  c.bind(0, c.emit("Pad", {x, constant_integers(c, pads), fill}, {{"mode", std::string("constant")}}), images);
}

void mirror_pad(call& c) {
  c.require_operands(2, 2);
  const auto mode = c.options<tfl::MirrorPadOptions>().mode();
  c.require(mode == tfl::MirrorPadMode::REFLECT || mode == tfl::MirrorPadMode::SYMMETRIC, "its mode is not known");
  const list pads = per_axis_pads(c, c.input(1));
  const bool images = prefer_images(c, {c.input(0)});
  const std::size_t axes = c.rank(c.input(0));
  const std::int64_t edge = mode == tfl::MirrorPadMode::REFLECT ? 1 : 0;
  value_id y = in_form(c, c.input(0), images);
  for (std::size_t a = 0; a < axes; ++a) {
    const std::int64_t length = c.shape(c.input(0))[a], before = pads[a], after = pads[a + axes];
    if (before == 0 && after == 0) continue;
    c.require(std::max(before, after) <= length - edge, "the mirrored part is longer than the input");
    c.all().made.limits().make(before + length + after, "its padding");
    list positions;
    for (std::int64_t i = -before; i < length + after; ++i)
      positions.push_back(i < 0 ? -i - 1 + edge : i >= length ? 2 * length - i - 1 - edge : i);
    y = gathered(c, y, axis_in(images, a), positions);
  }
  c.bind(0, y, images);
}

void depth_to_space(call& c) {
  c.require_operands(1, 1);
  const bool up = c.name() == "DEPTH_TO_SPACE";
  const std::int64_t block =
      up ? c.options<tfl::DepthToSpaceOptions>().block_size() : c.options<tfl::SpaceToDepthOptions>().block_size();
  c.require(block > 0, "its block size is not positive. The file is damaged");
  c.bind(0, c.emit(up ? "DepthToSpace" : "SpaceToDepth", {c.image(c.input(0))}, {{"blocksize", block}}), k_image);
}

void local_response_normalization(call& c) {
  c.require_operands(1, 1);
  const auto& o = c.options<tfl::LocalResponseNormalizationOptions>();
  c.require(o.radius() >= 0 && o.radius() < 65536, "its radius is negative or too large. The file is damaged");
  const std::int64_t size = 2 * std::int64_t{o.radius()} + 1;  // ONNX divides alpha by it
  const value_id y =
      c.emit("LRN", {c.image(c.input(0))},
             {{"size", size}, {"alpha", o.alpha() * static_cast<float>(size)}, {"beta", o.beta()}, {"bias", o.bias()}});
  finish(c, 0, y, k_image);
}

}

void finish_transposed_convolution(call& c, int x, int weights, std::size_t bias, const list& stride,
                                   const list& before, const list& after, tfl::Activation a) {
  list pads = before, beyond(2, 0);
  for (std::size_t d = 0; d < 2; ++d) {
    beyond[d] = std::max<std::int64_t>(0, -after[d]);
    pads.push_back(std::max<std::int64_t>(0, after[d]));
  }
  // The weights are [out, h, w, in]; ConvTranspose wants [in, out, h, w].
  const value_id y =
      c.emit("ConvTranspose", {c.image(x), c.layer_constant(weights, {3, 0, 1, 2}), bias_of(c, bias, x, weights)},
             rounded_alike(c, {{"strides", stride}, {"pads", pads}, {"output_padding", beyond}}));
  finish(c, 0, y, k_image, a);
}

void add_windows(table& t) {
  t["CONV_2D"] = {convolution};
  t["DEPTHWISE_CONV_2D"] = {depthwise_convolution};
  t["TRANSPOSE_CONV"] = {transposed_convolution};
  t["AVERAGE_POOL_2D"] = {pool};
  t["MAX_POOL_2D"] = {pool, moves_numbers};
  t["RESIZE_BILINEAR"] = {resize_bilinear, moves_numbers};
  t["RESIZE_NEAREST_NEIGHBOR"] = {resize_nearest, moves_numbers};
  t["PAD"] = {pad, moves_numbers};
  t["PADV2"] = {pad, moves_numbers};
  t["MIRROR_PAD"] = {mirror_pad, moves_numbers};
  t["DEPTH_TO_SPACE"] = {depth_to_space, moves_numbers};
  t["SPACE_TO_DEPTH"] = {depth_to_space, moves_numbers};
  t["LOCAL_RESPONSE_NORMALIZATION"] = {local_response_normalization};
}

}
