// SPDX-License-Identifier: MIT
#pragma once
/// Convolutions: directly, by Winograd's algorithms, or channel by channel.
#include <algorithm>
#include "errors.hpp"
#include "ops/impl/gpu_winograd.hpp"
#include "program/winograd_choice.hpp"
#include "ops/depthwise_conv_2d.hpp"
#include "pack/panels.hpp"
#include "pack/winograd.hpp"
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::conv_2d> : product_work {
  using parameters = conv_parameters;

  static void lower(lowerer& l, const operation& o, const parameters& c) {
    const auto [x, y, axes] = place_images(l, o);
    const std::int64_t channels = x.shape[1];
    const bool depthwise = c.groups > 1 && c.groups == channels && c.outputs == c.groups;
    conv_algorithm algorithm = depthwise || x.rank() == 3 ? conv_algorithm::direct : choose_algorithm(l, o, c, x, y);
    if (l.options.gpu && algorithm != conv_algorithm::direct &&
        !winograd_pays_on_gpu({y.shape[0], y.shape[2], y.shape[3], channels, c.outputs}, algorithm))
      algorithm = conv_algorithm::direct;

    if (const overhang around = window_overhang(c.w, x.shape, y.shape); around.any())
      l.ask_border(x, axes[1], axes[2], halo_of(around));

    const packed_panels& packed = packed_once(l, o, [&] {
      if (depthwise) return packed_panels(op_rules<op::depthwise_conv_2d>::pack(c));
      if (algorithm == conv_algorithm::direct) return packed_panels(pack_direct(c, channels / c.groups));
      const auto kernels =
          std::make_shared<const std::vector<float>>(pack_kernels(c.outputs, channels, c.weights, c.bias));
      return packed_panels(transform_kernels(algorithm, c.outputs, channels, *kernels), kernels);
    });
    const int input = l.tensor(x, axes, l.name_of_value(o.inputs[0])),
              weights = algorithm == conv_algorithm::direct
                            ? constant_panels(l, o, packed, matrices(c, channels / c.groups, depthwise))
                            : constant_winograd(l, o.name + "#weights", packed, algorithm);
    const int output = l.tensor(y, axes, l.name_of_value(o.output));
    plan_step& s = depthwise ? l.step<op::depthwise_conv_2d>(o, {input, weights}, output)
                             : l.step<op::conv_2d>(o, {input, weights}, output);
    if (depthwise)
      s.p.as<op::depthwise_conv_2d>() = {c.w};
    else
      s.p.as<op::conv_2d>() = {c.w, c.groups, algorithm};
    s.macs = count_of(y.shape) * c.w.kernel_h * c.w.kernel_w * (channels / c.groups);
    const int r = o.post.residual;
    set_epilogue(l, s, o.post,
                 r == no_value ? -1 : l.tensor(broadcast(l.place_of(r), y.shape), axes, l.name_of_value(r)));
    l.bind(o.output, y);
  }
  static tile_size tiles(const tile_request& r, const conv_2d_params& p) {
    const plan_tensor &x = r.input(0), &y = r.output();
    const std::int64_t depth = std::int64_t{p.w.kernel_h} * p.w.kernel_w * (x.shape.back() / p.groups);
    const std::int64_t gain = algorithm_gain(p.algorithm);
    if (p.algorithm != conv_algorithm::direct)
      return winograd_tile_size(r.space(), y.shape[1], y.shape[0], p.algorithm, depth, r.max_macs * gain,
                                r.target() * gain);
    tile_size t = gemm_tile_size(r, r.input(1), depth, gain);
    if (p.groups > 1) t.channels = 0;
    return t;
  }

 private:
  static conv_algorithm choose_algorithm(const lowerer& l, const operation& o, const conv_parameters& c, const view& x,
                                         const view& y) {
    const bool fits = winograd_fits(c.w, c.groups);
    if (const auto wanted = l.options.algorithms.find(o.name); wanted != l.options.algorithms.end()) {
      if (!fits && wanted->second != conv_algorithm::direct)
        refuse("--override: '" + o.name +
               "' cannot be computed by Winograd's algorithms, which are for 3x3 kernels with stride 1, without "
               "dilation and groups.");
      return wanted->second;
    }
    if (o.exact || !l.options.winograd) return conv_algorithm::direct;
    const std::int64_t rows = c.whole_rows > 0 ? c.whole_rows : y.shape[2];
    return fastest_algorithm(c.w, c.groups, x.shape[1], c.outputs, rows, y.shape[3]);
  }
  static halo halo_of(const overhang& around) {
    const auto pixels = [](std::int64_t v) {
      return static_cast<std::uint16_t>(std::clamp<std::int64_t>(v, 0, 65535));
    };
    return {pixels(around.top), pixels(around.left), pixels(around.bottom), pixels(around.right)};
  }
  static std::vector<panel_matrix> matrices(const conv_parameters& c, std::int64_t depth_channels, bool depthwise) {
    const std::int64_t taps = c.w.kernel_h * c.w.kernel_w;
    if (depthwise) return {{c.outputs, taps}};
    return std::vector<panel_matrix>(static_cast<std::size_t>(c.groups), {c.outputs / c.groups, taps * depth_channels});
  }
  static std::vector<float> pack_direct(const conv_parameters& c, std::int64_t depth_channels) {
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
};

}
