// SPDX-License-Identifier: MIT
#include <algorithm>
#include "errors.hpp"
#include "pack/panels.hpp"
#include "passes/lower/lowerer.hpp"

namespace nsk::tool {
namespace {

halo halo_of(const overhang& around) {
  const auto pixels = [](std::int64_t v) { return static_cast<std::uint16_t>(std::clamp<std::int64_t>(v, 0, 65535)); };
  halo border;
  border.top = pixels(around.top);
  border.left = pixels(around.left);
  border.bottom = pixels(around.bottom);
  border.right = pixels(around.right);
  return border;
}

std::vector<float> pack_direct(const conv_parameters& c, std::int64_t depth_channels) {
  const std::int64_t taps = c.w.kernel_h * c.w.kernel_w, per_group = c.outputs / c.groups,
                     depth = taps * depth_channels;
  std::vector<std::int64_t> place;  // of k = (kernel row, kernel column, channel) in [I][kh][kw]
  for (std::int64_t k = 0; k < depth; ++k) place.push_back(k % depth_channels * taps + k / depth_channels);
  std::vector<float> packed;
  for (int g = 0; g < c.groups; ++g) {
    const double *weights = c.weights.data() + g * per_group * depth, *bias = c.bias.data() + g * per_group;
    pack_panels(
        packed, per_group, depth,
        [&](std::int64_t k, std::int64_t n) { return weights[n * depth + place[static_cast<std::size_t>(k)]]; },
        [&](std::int64_t n) { return bias[n]; });
  }
  return packed;
}

std::vector<float> pack_depthwise(const conv_parameters& c) {
  const std::int64_t taps = c.w.kernel_h * c.w.kernel_w;
  std::vector<float> packed;
  pack_panels(
      packed, c.outputs, taps, [&](std::int64_t k, std::int64_t n) { return c.weights.data()[n * taps + k]; },
      [&](std::int64_t n) { return c.bias.data()[n]; });
  return packed;
}

std::vector<float> pack_dense(const dense_parameters& d) {
  std::vector<float> packed;
  pack_panels(
      packed, d.outputs, d.depth, [&](std::int64_t k, std::int64_t n) { return d.weights.data()[k * d.outputs + n]; },
      [&](std::int64_t n) { return d.bias.data()[n]; });
  return packed;
}

}

conv_algorithm lowerer::choose_algorithm(const operation& o, const conv_parameters& c, const view& x,
                                         const view& y) const {
  const window& w = c.w;
  const bool fits = w.kernel_h == 3 && w.kernel_w == 3 && w.stride_h == 1 && w.stride_w == 1 && w.dilation_h == 1 &&
                    w.dilation_w == 1 && c.groups == 1;
  if (const auto wanted = m_options.algorithms.find(o.name); wanted != m_options.algorithms.end()) {
    if (!fits && wanted->second != conv_algorithm::direct)
      refuse("--override: '" + o.name +
             "' cannot be computed by Winograd's algorithms, which are for 3x3 kernels with stride 1, without "
             "dilation and groups.");
    return wanted->second;
  }
  if (!fits || !m_options.winograd || x.shape[1] < 16 || c.outputs < 16) return conv_algorithm::direct;
  // F(4x4) pays from maps of three tiles on; its weights are 4 times a direct convolution's and must stay out of DRAM
  const std::int64_t weights = static_cast<std::int64_t>(c.weights.size()), rows = y.shape[2], columns = y.shape[3];
  const double waste =
      static_cast<double>((rows + 3) / 4 * 4 * ((columns + 3) / 4 * 4)) / static_cast<double>(rows * columns);
  if (weights * 4 * 4 <= (std::int64_t{16} << 20) && waste <= 1.4 && rows * columns >= 100)
    return conv_algorithm::winograd4;
  if (rows * columns >= 36 && weights * 16 * 4 / 9 <= (std::int64_t{20} << 20)) return conv_algorithm::winograd2;
  return conv_algorithm::direct;
}

void lowerer::lower_conv(const operation& o, const conv_parameters& c) {
  const view x = with_innermost(place_of(o.inputs[0]), 1, o);
  const bool flat = x.rank() == 3;
  const int row = flat ? -1 : 2, column = flat ? 2 : 3;
  const std::vector<int> axes = {0, row, column, 1};
  const view y = allocate(o.output, channels_last_order(x.rank()), true);
  const std::int64_t channels = x.shape[1];
  const bool depthwise = c.groups > 1 && c.groups == channels && c.outputs == c.groups;
  const conv_algorithm algorithm = depthwise || flat ? conv_algorithm::direct : choose_algorithm(o, c, x, y);

  if (const overhang around = window_overhang(c.w, x.shape, y.shape); around.any())
    ask_border(x, row, column, halo_of(around));

  const std::vector<float>& packed = packed_once(o, [&] {
    return depthwise                             ? pack_depthwise(c)
           : algorithm == conv_algorithm::direct ? pack_direct(c, channels / c.groups)
                                                 : pack_winograd(algorithm, c.outputs, channels, c.weights, c.bias);
  });
  const int packing = algorithm == conv_algorithm::direct ? 1 : algorithm == conv_algorithm::winograd4 ? 2 : 3;
  const int input = tensor(x, axes, name_of_value(o.inputs[0])),
            weights = constant_floats(o.name + "#weights", packed, packing);
  plan_step& s = step(depthwise ? op::depthwise_conv_2d : op::conv_2d, o, {input, weights},
                      tensor(y, axes, name_of_value(o.output)));
  s.w = c.w;
  s.groups = depthwise ? 1 : c.groups;
  s.algorithm = algorithm;
  s.macs = count_of(y.shape) * c.w.kernel_h * c.w.kernel_w * (channels / c.groups);
  if (o.post.residual != no_value) {
    s.e.residual = static_cast<int>(s.inputs.size());
    s.inputs.push_back(tensor(broadcast(place_of(o.post.residual), y.shape), axes, name_of_value(o.post.residual)));
  }
  set_epilogue(m_plan.steps.back(), o.post);
  bind(o.output, y);
}

void lowerer::lower_dense(const operation& o, const dense_parameters& d) {
  const std::size_t last = m_program.shape(o.inputs[0]).size() - 1;
  const view x = with_innermost(place_of(o.inputs[0]), last, o);
  const view y = allocate(o.output, identity_order(x.rank()), true);
  // leading axes merge jointly; the last one differs in length, so it is cut off and put back
  const auto leading = [&](const view& v) {
    view head = v;
    head.shape.pop_back();
    head.stride.pop_back();
    return head;
  };
  std::vector<view> views = {leading(y), leading(x)};
  std::vector<std::string> names = {name_of_value(o.output), name_of_value(o.inputs[0])};
  if (o.post.residual != no_value) {
    const view r = with_innermost(place_of(o.post.residual), last, o);
    views.push_back(leading(r));
    names.push_back(name_of_value(o.post.residual));
  }
  std::vector<int> tensors;
  joint_tensors(views, names, tensors);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    plan_tensor& t = m_plan.tensor(tensors[i]);
    t.shape.push_back(i == 1 ? d.depth : d.outputs);
    t.strides.push_back(1);
  }
  const int weights = constant_floats(o.name + "#weights", packed_once(o, [&] { return pack_dense(d); }), 1);
  plan_step& s = step(op::fully_connected, o, {tensors[1], weights}, tensors[0]);
  s.macs = count_of(y.shape) * d.depth;
  if (o.post.residual != no_value) {
    s.e.residual = 2;
    s.inputs.push_back(tensors[2]);
  }
  set_epilogue(m_plan.steps.back(), o.post);
  bind(o.output, y);
}

void lowerer::lower_mat_mul(const operation& o) {
  const shape_t& out = m_program.shape(o.output);
  const std::size_t rank = out.size();
  const std::int64_t rows = out[rank - 2], columns = out[rank - 1], depth = m_program.shape(o.inputs[0])[rank - 1];
  const shape_t batch(out.begin(), out.end() - 2);
  const std::int64_t matrices = count_of(batch);
  /// [batch..., a, b] of a view as [matrices, a, b], copied where its batch axes do not merge.
  const auto flattened = [&](const view& v, std::int64_t matrix_count, std::int64_t a, std::int64_t b,
                             const char* which) {
    shape_t full = matrix_count == 1 ? shape_t(rank - 2, 1) : batch;
    full.insert(full.end(), {a, b});
    const view wide = broadcast(v, full);
    const shape_t flat = {matrix_count, a, b};
    if (const auto r = reshaped(wide, flat)) return *r;
    return *reshaped(copied(wide, identity_order(rank), o, which, "needs its batch axes as one"), flat);
  };
  const view b = place_of(o.inputs[1]);
  const bool shared = count_of({b.shape.begin(), b.shape.end() - 2}) == 1;
  const view left = flattened(with_innermost(place_of(o.inputs[0]), rank - 1, o), matrices, rows, depth, "left");
  const view right = flattened(b, shared ? 1 : matrices, depth, columns, "right");
  const view panels = new_storage(-1, o.name + "#panels", {shared ? 1 : matrices, panel_floats(columns, depth)},
                                  identity_order(2), {}, storage_kind::arena);
  step(op::pack_panels, o, {tensor(right, {0, 1, 2}, name_of_value(o.inputs[1]), false)},
       tensor(panels, {0, 1}, o.name + "#panels", false));

  const view y = allocate(o.output, identity_order(rank), true);
  const auto direct = reshaped(y, {matrices, rows, columns});
  const view target =
      direct && (columns == 1 || direct->stride[2] == 1)
          ? *direct
          : new_storage(-1, o.name + "#product", {matrices, rows, columns}, identity_order(3), {}, storage_kind::arena);
  const int panel_tensor = m_plan.steps.back().outputs[0];
  std::vector<int> inputs = {tensor(left, {0, 1, 2}, name_of_value(o.inputs[0]), false), panel_tensor};
  if (o.post.residual != no_value) {
    const view r = flattened(broadcast(place_of(o.post.residual), out), matrices, rows, columns, "residual");
    inputs.push_back(tensor(r, {0, 1, 2}, name_of_value(o.post.residual), false));
  }
  plan_step& s = step(op::mat_mul, o, std::move(inputs), tensor(target, {0, 1, 2}, name_of_value(o.output), false));
  s.shared_right = shared;
  s.macs = count_of(out) * depth;
  if (o.post.residual != no_value) s.e.residual = 2;
  set_epilogue(m_plan.steps.back(), o.post);
  if (target.storage != y.storage) copy_step(*reshaped(target, out), y, o.name, name_of_value(o.output));
  bind(o.output, y);
}

}
