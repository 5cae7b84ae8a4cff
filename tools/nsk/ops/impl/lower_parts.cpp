// SPDX-License-Identifier: MIT
#include "ops/impl/lower_parts.hpp"
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include "graph/float16.hpp"
#include "errors.hpp"

namespace nsk::tool {
namespace {

int position_of(const axis_order& order, int axis) {
  return static_cast<int>(std::find(order.begin(), order.end(), axis) - order.begin());
}

void append(std::vector<std::byte>& to, const void* data, std::size_t count) {
  const auto* first = static_cast<const std::byte*>(data);
  to.insert(to.end(), first, first + count);
}

/// The matrices with weights as float16, biases as they are; empty where a weight is no number that float16 has.
std::vector<std::byte> half_panels(const packed_panels& packed, const std::vector<panel_matrix>& matrices) {
  std::vector<std::byte> halves;
  halves.reserve(packed.size() * sizeof(half_bits));
  const float* from = packed.begin();
  for (const panel_matrix& m : matrices)
    for (std::int64_t p = 0; p < panel_count(m.channels); ++p) {
      const std::int64_t width = width_of_panel(m.channels, p);
      append(halves, from, static_cast<std::size_t>(width) * sizeof(float));
      from += width;
      for (std::int64_t i = 0; i < width * m.depth; ++i, ++from) {
        const half_bits half = half_from_double(static_cast<double>(*from));
        const float back = float_from_half(half);
        if (std::memcmp(&back, from, sizeof back) != 0) return {};
        append(halves, &half, sizeof half);
      }
    }
  return halves;
}

/// The matrices with weights as int8 and a scale for each channel, whose largest weight is 127 of it; empty where that
/// is not exact.
std::vector<std::byte> byte_panels(const packed_panels& packed, const std::vector<panel_matrix>& matrices) {
  std::vector<std::byte> bytes;
  const float* from = packed.begin();
  for (const panel_matrix& m : matrices)
    for (std::int64_t p = 0; p < panel_count(m.channels); ++p) {
      const auto width = static_cast<std::size_t>(width_of_panel(m.channels, p)),
                 depth = static_cast<std::size_t>(m.depth);
      std::vector<float> scale(width, 0.0f);
      for (std::size_t i = 0; i < width * depth; ++i)
        scale[i % width] = std::max(scale[i % width], std::abs(from[width + i]));
      for (float& s : scale) s = s == 0 ? 1 : s / 127;
      std::vector<std::int8_t> weights(width * depth);
      for (std::size_t i = 0; i < weights.size(); ++i) {
        const float number = std::nearbyint(from[width + i] / scale[i % width]);
        if (number * scale[i % width] != from[width + i]) return {};
        weights[i] = static_cast<std::int8_t>(number);
      }
      append(bytes, from, width * sizeof(float));
      append(bytes, scale.data(), width * sizeof(float));
      append(bytes, weights.data(), weights.size());
      from += width * (depth + 1);
    }
  return bytes;
}

/// A line of bytes as elements of a type.
int constant_of(lowerer& l, const std::string& name, dtype type, packing arrangement,
                std::shared_ptr<const std::vector<std::byte>> bytes) {
  const int index = l.constant_floats(name, {}, arrangement);
  plan_storage& s = l.result.storages.back();
  plan_tensor& t = l.result.tensor(index);
  s.type = t.type = type;
  s.elements = static_cast<std::int64_t>(bytes->size() / size_of(type));
  s.data = std::move(bytes);
  t.shape = {static_cast<std::int32_t>(s.elements)};
  return index;
}

}

void require_rank(const operation& o, std::size_t rank) {
  if (rank > static_cast<std::size_t>(max_rank)) refuse(o.source + ": it has more than six dimensions");
}

int constant_panels(lowerer& l, const operation& o, const packed_panels& packed,
                    const std::vector<panel_matrix>& matrices, bool takes_bytes) {
  const std::string name = o.name + "#weights";
  const weight_format format = l.options.wide_steps.count(o.name) != 0 ? weight_format::floats : l.options.weights;
  const bool halves = format == weight_format::fp16, bytes = format == weight_format::w8 && takes_bytes;
  if (!halves && !bytes) return l.constant_floats(name, packed, packing::panels);
  const auto [narrow, added] = packed.narrow->emplace(format, nullptr);
  if (added)
    narrow->second = std::make_shared<const std::vector<std::byte>>(halves ? half_panels(packed, matrices)
                                                                           : byte_panels(packed, matrices));
  if (narrow->second->empty()) return l.constant_floats(name, packed, packing::panels);
  return constant_of(l, name, halves ? dtype::float16 : dtype::int8, packing::panels, narrow->second);
}

int constant_winograd(lowerer& l, const std::string& name, const packed_panels& packed, conv_algorithm algorithm) {
  const int index =
      l.constant_floats(name, packed, algorithm == conv_algorithm::winograd4 ? packing::winograd4 : packing::winograd2);
  l.result.storages.back().kernels = packed.kernels;
  return index;
}

int constant_bytes(lowerer& l, const std::string& name, dtype type, packing arrangement,
                   const std::vector<std::uint8_t>& bytes) {
  const auto* const from = reinterpret_cast<const std::byte*>(bytes.data());
  return constant_of(l, name, type, arrangement,
                     std::make_shared<const std::vector<std::byte>>(from, from + bytes.size()));
}

void set_epilogue(lowerer& l, plan_step& s, const post_operation& post, int residual) {
  if (residual >= 0) {
    s.e.residual = static_cast<int>(s.inputs.size());
    s.inputs.push_back(residual);
  }
  s.e.fn = post.fn;
  s.e.alpha = static_cast<float>(post.alpha);
  s.e.beta = static_cast<float>(post.beta);
  s.e.activation_first = post.activation_first;
  if (post.fn != function::prelu) return;
  const std::vector<float> slope(post.slope.begin(), post.slope.end());
  s.e.slope = static_cast<int>(s.inputs.size());
  s.inputs.push_back(l.constant_floats(s.name + "#slope", slope));
}

std::vector<int> elementwise_tensors(lowerer& l, const operation& o) {
  const shape_t& out = l.source.shape(o.output);
  // the result is laid out as the first operand of its full size is; constants are laid out to match it
  int model = no_value;
  for (int v : o.inputs)
    if (model == no_value && !l.source.is_constant(v) && count_of(l.source.shape(v)) == count_of(out)) model = v;
  axis_order order = model == no_value ? channels_last_order(out.size()) : order_of(broadcast(l.place_of(model), out));
  if (model == no_value && out.size() != 4) order = identity_order(out.size());
  const view y = l.allocate(o.output, order);
  const axis_order actual = order_of(y);
  if (model != no_value && actual != order)
    l.ask_innermost(broadcast(l.place_of(model), out), static_cast<std::size_t>(actual.back()));
  const auto operand = [&](int v) {
    if (!l.source.is_constant(v)) return broadcast(l.place_of(v), out);
    const std::size_t rank = l.source.shape(v).size();
    if (rank > out.size())
      refuse(o.source + ": its constant operand has " + std::to_string(rank) + " dimensions, its result " +
             std::to_string(out.size()));
    const std::size_t lead = out.size() - rank;
    axis_order mine;
    for (int axis : actual)
      if (axis >= static_cast<int>(lead)) mine.push_back(axis - static_cast<int>(lead));
    return broadcast(l.constant_view(v, mine), out);
  };
  std::vector<view> views = {y};
  std::vector<std::string> names = {l.name_of_value(o.output)};
  for (int v : o.inputs) {
    views.push_back(operand(v));
    names.push_back(l.name_of_value(v));
  }
  std::vector<int> tensors;
  l.joint_tensors(views, names, tensors);
  l.bind(o.output, y);
  return tensors;
}

int one_number(lowerer& l, int v) { return l.tensor(l.place_of(v), std::vector<int>{-1}, l.name_of_value(v), false); }

placed_images place_images(lowerer& l, const operation& o) {
  const view x = l.with_innermost(l.place_of(o.inputs[0]), 1, o);
  const bool flat = x.rank() == 3;
  return {x, l.allocate(o.output, channels_last_order(x.rank()), true), {0, flat ? -1 : 2, flat ? 2 : 3, 1}};
}

tensors_along place_along(lowerer& l, const operation& o, int axis) {
  const view x = l.place_of(o.inputs[0]);
  require_rank(o, x.rank());
  const axis_order order = order_of(x);
  const view y = l.allocate(o.output, order);
  l.ask_dense(y);
  const int input = l.tensor(x, order, l.name_of_value(o.inputs[0]), false),
            output = l.tensor(y, order, l.name_of_value(o.output), false);
  l.bind(o.output, y);
  return {input, output, position_of(order, axis)};
}

gathered_tensors place_gathered(lowerer& l, const operation& o, const gather_parameters& g) {
  view x = l.place_of(o.inputs[0]);
  const view indices = l.place_of(o.inputs[1]);
  require_rank(o, x.rank());
  if (g.runs) x = l.with_innermost(x, x.rank() - 1, o);
  const axis_order order = order_of(x);
  const view y = l.allocate(o.output, order);
  l.ask_dense(y);
  const int data = l.tensor(x, order, l.name_of_value(o.inputs[0]), false);
  const int index = l.tensor(indices, g.elements ? order : axis_order{0}, l.name_of_value(o.inputs[1]), false);
  const int output = l.tensor(y, order, l.name_of_value(o.output), false);
  l.bind(o.output, y);
  return {data, index, output, position_of(order, g.axis)};
}

}
