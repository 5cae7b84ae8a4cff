// SPDX-License-Identifier: MIT
/// Rules for operators that look at windows of pictures: convolution, pooling, resampling, padding.
#include <algorithm>
#include <cmath>

#include "graph/nearest_pixel.hpp"
#include "import/tflite/importer.hpp"

namespace nsk::tool {
namespace {

using list = std::vector<std::int64_t>;
constexpr std::int64_t most_padding = 1 << 24;

std::string auto_pad(tfl::Padding p) { return p == tfl::Padding::SAME ? "SAME_UPPER" : "VALID"; }

}

void tflite_importer::require_stride(std::int64_t h, std::int64_t w) const {
  require(h > 0 && w > 0, "its strides, dilations or window are not positive. The file is damaged");
}

/// A bias, or no value where it is absent.
value_id tflite_importer::bias_of(std::size_t i) {
  if (!has(i)) return no_value;
  const int t = m_op->inputs[i];
  if (type_of(t) != element::f32)
    fail("the bias '" + tensor(t).name + "' is " + name_of(tensor(t).data->type()) +
         " without a scale. The file is damaged");
  return plain(t);
}

void tflite_importer::convolution() {
  require_operands(2, 3);
  const auto& o = options<tfl::Conv2DOptions>();
  require_stride(o.stride_h(), o.stride_w());
  require_stride(o.dilation_h_factor(), o.dilation_w_factor());
  const int x = input(0), w = input(1);
  require(rank(x) == 4 && rank(w) == 4, "input and weights must have four dimensions");
  const std::int64_t channels = shape(x)[3], depth = shape(w)[3];
  require(depth > 0 && channels % depth == 0, "the channels are no multiple of the weights' depth");
  const value_id y = emit("Conv", {picture(x), transposed(plain(w), channels_to_front), bias_of(2)},
                          {{"auto_pad", auto_pad(o.padding())},
                           {"strides", list{o.stride_h(), o.stride_w()}},
                           {"dilations", list{o.dilation_h_factor(), o.dilation_w_factor()}},
                           {"group", channels / depth}});
  finish(output(), y, k_picture, o.fused_activation_function());
}

void tflite_importer::depthwise_convolution() {
  require_operands(2, 3);
  const auto& o = options<tfl::DepthwiseConv2DOptions>();
  require_stride(o.stride_h(), o.stride_w());
  require_stride(o.dilation_h_factor(), o.dilation_w_factor());
  const int x = input(0), w = input(1);
  require(rank(x) == 4 && rank(w) == 4 && shape(w)[0] == 1,
          "input and weights must have four dimensions, the weights' first one 1");
  const std::int64_t channels = shape(x)[3], results = shape(w)[3];
  require(channels > 0 && results % channels == 0, "the weights' channels are no multiple of the input's");
  const value_id y = emit("Conv", {picture(x), transposed(plain(w), {3, 0, 1, 2}), bias_of(2)},
                          {{"auto_pad", auto_pad(o.padding())},
                           {"strides", list{o.stride_h(), o.stride_w()}},
                           {"dilations", list{o.dilation_h_factor(), o.dilation_w_factor()}},
                           {"group", channels}});
  finish(output(), y, k_picture, o.fused_activation_function());
}

void tflite_importer::finish_transposed_convolution(int x, int weights, std::size_t bias, const list& stride,
                                                    const list& before, const list& after, tfl::Activation a) {
  list pads = before, beyond(2, 0);
  for (std::size_t d = 0; d < 2; ++d) {
    beyond[d] = std::max<std::int64_t>(0, -after[d]);
    pads.push_back(std::max<std::int64_t>(0, after[d]));
  }
  // The weights lie as [out, h, w, in]; ConvTranspose wants [in, out, h, w].
  const value_id y = emit("ConvTranspose", {picture(x), transposed(plain(weights), {3, 0, 1, 2}), bias_of(bias)},
                          {{"strides", stride}, {"pads", pads}, {"output_padding", beyond}});
  finish(output(), y, k_picture, a);
}

void tflite_importer::transposed_convolution() {
  require_operands(3, 4);
  const auto& o = options<tfl::TransposeConvOptions>();
  require_stride(o.stride_h(), o.stride_w());
  const int w = input(1), x = input(2);
  require(rank(x) == 4 && rank(w) == 4, "input and weights must have four dimensions");
  const list wanted = integers(input(0), "the output shape");
  require(wanted.size() == 4, "the output shape must have four lengths");
  const list stride = {o.stride_h(), o.stride_w()};
  list before(2, 0), after(2, 0);
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t out = wanted[d + 1], kernel = shape(w)[d + 1];
    require(out > 0, "the output shape is empty");
    if (o.padding() == tfl::Padding::SAME)
      before[d] = std::max<std::int64_t>(0, ((out - 1) / stride[d]) * stride[d] + kernel - out) / 2;
    after[d] = (shape(x)[d + 1] - 1) * stride[d] + kernel - out - before[d];
  }
  finish_transposed_convolution(x, w, 3, stride, before, after, o.fused_activation_function());
}

void tflite_importer::pool() {
  require_operands(1, 1);
  const auto& o = options<tfl::Pool2DOptions>();
  require_stride(o.stride_h(), o.stride_w());
  require_stride(o.filter_height(), o.filter_width());
  const bool average = m_op->name == "AVERAGE_POOL_2D";
  const value_id y = emit(average ? "AveragePool" : "MaxPool", {picture(input(0))},
                          {{"auto_pad", auto_pad(o.padding())},
                           {"strides", list{o.stride_h(), o.stride_w()}},
                           {"kernel_shape", list{o.filter_height(), o.filter_width()}}});
  if (average)
    finish(output(), y, k_picture, o.fused_activation_function());
  else
    bind(output(), activated(y, o.fused_activation_function(), -HUGE_VAL, HUGE_VAL), k_picture);
}

list tflite_importer::resized_lengths() {
  require_operands(2, 2);
  const list to = integers(input(1), "the new size");
  require(to.size() == 2 && to[0] > 0 && to[1] > 0 && to[0] <= 65535 && to[1] <= 65535,
          "the new size must be two lengths from 1 to 65535");
  require(rank(input(0)) == 4 && count_of(shape(input(0))) > 0, "the input must have four dimensions, none empty");
  return to;
}

void tflite_importer::resize_bilinear() {
  const auto& o = options<tfl::ResizeBilinearOptions>();
  const list to = resized_lengths();
  require(!(o.align_corners() && o.half_pixel_centers()), "align_corners excludes half_pixel_centers");
  const std::string mode = o.align_corners() ? "align_corners" : o.half_pixel_centers() ? "half_pixel" : "asymmetric";
  const value_id x = picture(input(0));
  const value_id y =
      emit("Resize", {x, no_value, no_value, constant_integers({at(x).shape[0], at(x).shape[1], to[0], to[1]})},
           {{"mode", std::string("linear")}, {"coordinate_transformation_mode", mode}});
  bind(output(), y, k_picture);
}

/// The source and ONNX's runtimes reckon positions in single precision, but not in the same order of operations:
/// positions are taken from the source's own formula, and become a Resize where that picks the same.
void tflite_importer::resize_nearest() {
  const auto& o = options<tfl::ResizeNearestNeighborOptions>();
  const list to = resized_lengths();
  const shape_t from = shape(input(0));
  const std::string mode = o.align_corners() ? "align_corners" : o.half_pixel_centers() ? "half_pixel" : "asymmetric";
  const std::string rounding = o.align_corners() || o.half_pixel_centers() ? "round_prefer_ceil" : "floor";
  value_id y = picture(input(0));
  list sizes = at(y).shape;
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
    y = emit("Resize", {y, no_value, no_value, constant_integers(sizes)},
             {{"mode", std::string("nearest")}, {"coordinate_transformation_mode", mode}, {"nearest_mode", rounding}});
  } else {
    for (std::size_t d = 0; d < 2; ++d) y = gathered(y, static_cast<std::int64_t>(d + 2), gathers[d]);
  }
  bind(output(), y, k_picture);
}

value_id tflite_importer::gathered(value_id v, std::int64_t axis, const list& positions) {
  return emit("Gather", {v, constant_integers(positions)}, {{"axis", axis}});
}

/// Pairs (before, after) per axis, as ONNX wants them: all befores, then all afters.
list tflite_importer::per_axis_pads(int t) {
  const list pairs = integers(t, "the paddings");
  const std::size_t axes = rank(input(0));
  require(pairs.size() == 2 * axes, "the paddings must have two values per dimension");
  list pads(2 * axes);
  for (std::size_t a = 0; a < axes; ++a) {
    require(
        pairs[2 * a] >= 0 && pairs[2 * a + 1] >= 0 && pairs[2 * a] <= most_padding && pairs[2 * a + 1] <= most_padding,
        "a padding is negative or longer than 2^24");
    pads[a] = pairs[2 * a];
    pads[a + axes] = pairs[2 * a + 1];
  }
  return pads;
}

void tflite_importer::pad() {
  const bool with_value = m_op->name == "PADV2";
  require_operands(with_value ? 3 : 2, with_value ? 3 : 2);
  list pads = per_axis_pads(input(1));
  const bool pictures = rank(input(0)) == 4;
  if (pictures) {
    const list source = pads;
    for (std::size_t a = 0; a < 4; ++a) {
      const auto place = static_cast<std::size_t>(picture_axis(a));
      pads[place] = source[a];
      pads[place + 4] = source[a + 4];
    }
  }
  const value_id x = in_form(input(0), pictures),
                 fill = with_value ? reshaped(plain(input(2)), {}) : constant(array(at(x).type, {}));
  if (at(x).type != element::f32) return bind(output(), padded_by_blocks(x, pads, fill), pictures);
  bind(output(), emit("Pad", {x, constant_integers(pads), fill}, {{"mode", std::string("constant")}}), pictures);
}

/// Types that Pad has no kernel for: the numbers between blocks of the fill, axis by axis.
value_id tflite_importer::padded_by_blocks(value_id v, const list& pads, value_id fill) {
  const std::size_t axes = at(v).shape.size();
  for (std::size_t a = 0; a < axes; ++a) {
    const auto block = [&](std::int64_t length) {
      shape_t lengths = at(v).shape;
      lengths[a] = length;
      return emit("Expand", {fill, constant_integers(lengths)});
    };
    values parts;
    if (pads[a] > 0) parts.push_back(block(pads[a]));
    parts.push_back(v);
    if (pads[a + axes] > 0) parts.push_back(block(pads[a + axes]));
    if (parts.size() > 1) v = emit("Concat", parts, {{"axis", static_cast<std::int64_t>(a)}});
  }
  return v;
}

void tflite_importer::mirror_pad() {
  require_operands(2, 2);
  const auto mode = options<tfl::MirrorPadOptions>().mode();
  require(mode == tfl::MirrorPadMode::REFLECT || mode == tfl::MirrorPadMode::SYMMETRIC, "its mode is not known");
  const list pads = per_axis_pads(input(1));
  const bool pictures = prefer_pictures({input(0)});
  const std::size_t axes = rank(input(0));
  const std::int64_t edge = mode == tfl::MirrorPadMode::REFLECT ? 1 : 0;
  value_id y = in_form(input(0), pictures);
  for (std::size_t a = 0; a < axes; ++a) {
    const std::int64_t length = shape(input(0))[a], before = pads[a], after = pads[a + axes];
    if (before == 0 && after == 0) continue;
    require(std::max(before, after) <= length - edge, "the mirrored part is longer than the input");
    m_folder.make(before + length + after, "its padding");
    list positions;
    for (std::int64_t i = -before; i < length + after; ++i)
      positions.push_back(i < 0 ? -i - 1 + edge : i >= length ? 2 * length - i - 1 - edge : i);
    y = gathered(y, pictures ? picture_axis(a) : static_cast<std::int64_t>(a), positions);
  }
  bind(output(), y, pictures);
}

void tflite_importer::depth_to_space() {
  require_operands(1, 1);
  const bool up = m_op->name == "DEPTH_TO_SPACE";
  const std::int64_t block =
      up ? options<tfl::DepthToSpaceOptions>().block_size() : options<tfl::SpaceToDepthOptions>().block_size();
  require(block > 0, "its block size is not positive. The file is damaged");
  bind(output(), emit(up ? "DepthToSpace" : "SpaceToDepth", {picture(input(0))}, {{"blocksize", block}}), k_picture);
}

void tflite_importer::local_response_normalization() {
  require_operands(1, 1);
  const auto& o = options<tfl::LocalResponseNormalizationOptions>();
  require(o.radius() >= 0 && o.radius() < 65536, "its radius is negative or too large. The file is damaged");
  const std::int64_t size = 2 * std::int64_t{o.radius()} + 1;  // ONNX divides alpha by it
  const value_id y =
      emit("LRN", {picture(input(0))},
           {{"size", size}, {"alpha", o.alpha() * static_cast<float>(size)}, {"beta", o.beta()}, {"bias", o.bias()}});
  finish(output(), y, k_picture);
}

}
