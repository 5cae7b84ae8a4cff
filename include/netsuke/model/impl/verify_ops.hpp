// SPDX-License-Identifier: MIT
#pragma once
/// Rules of single operators: shapes, types, parameters and packed weights, as kernels/args.hpp promises them to
/// kernels.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/impl/resize_scratch.hpp>
#include <netsuke/kernels/scratch.hpp>
#include <netsuke/model/impl/verify_context.hpp>
#include <netsuke/model/impl/verify_index_ops.hpp>
#include <netsuke/model/impl/verify_recurrent.hpp>
#include <netsuke/model/impl/verify_trees.hpp>

NSK_BEGIN
namespace impl {

/// Positions in pixels stay below this, so that kernels may count them in 32 bits.
inline constexpr std::int64_t max_position = 1 << 30;

/// Whether a constant holds at least `floats` floats in this arrangement.
NSK_COLD inline bool holds(const tensor_info& t, packing arrangement, std::int64_t floats) {
  return t.where() == storage::constant && t.type() == dtype::float32 && t.arrangement() == arrangement &&
         t.elements() >= floats;
}

/// The same for `groups` blocks of `floats` each.
inline status_code holds_groups(const tensor_info& t, packing arrangement, std::int64_t groups, std::int64_t floats) {
  return floats <= max_elements / groups && holds(t, arrangement, floats * groups) ? status_code::ok
                                                                                   : status_code::bad_weights;
}

/// One dimension of a window: all its positions can be counted, and padding after the end is as bounded as padding
/// before it.
NSK_COLD inline bool window_fits(std::int64_t input, std::int64_t output, std::int64_t kernel, std::int64_t stride,
                                 std::int64_t dilation, std::int64_t pad) {
  if (kernel < 1 || stride < 1 || dilation < 1) return false;
  const std::int64_t reach = (kernel - 1) * dilation, last = (output - 1) * stride;
  return reach < max_position && last < max_position && last + reach - pad - input < 0xffff;
}
NSK_COLD inline bool windows_fit(const window& w, const tensor_info& x, const tensor_info& y) {
  const span<const std::int32_t> in = x.shape(), out = y.shape();
  return std::int64_t{w.kernel_h} * w.kernel_w <= max_elements && in[0] == out[0] &&
         window_fits(in[1], out[1], w.kernel_h, w.stride_h, w.dilation_h, w.pad_top) &&
         window_fits(in[2], out[2], w.kernel_w, w.stride_w, w.dilation_w, w.pad_left);
}

inline kernels::conv_2d_shape conv_shape_of(const step_view& s) {
  const tensor_info x = s.input(0), y = s.output();
  const span<const std::int32_t> in = x.shape(), out = y.shape();
  return {in[1],      in[2],    in[3],      out[1],       out[2], out[3], static_cast<std::int32_t>(s.groups()),
          x.border(), x.fill(), s.window(), s.algorithm()};
}

inline status_code verify_conv_2d(const step_view& s) {
  const tensor_info x = s.input(0), y = s.output();
  if (!s.window_table() || !is_image(x) || !is_image(y)) return status_code::bad_step;
  const window w = s.window();
  const std::int64_t groups = s.groups(), in = x.shape()[3], out = y.shape()[3];
  if (groups < 1 || in % groups != 0 || out % groups != 0 || !windows_fit(w, x, y)) return status_code::bad_step;
  const std::int64_t depth = std::int64_t{w.kernel_h} * w.kernel_w;
  if (depth > max_elements / (in / groups)) return status_code::bad_step;
  const std::int64_t group_in = in / groups, group_out = out / groups;
  switch (s.algorithm()) {
    case conv_algorithm::direct:
      return holds_groups(s.input(1), packing::panels, groups, panel_floats(group_out, depth * group_in));
    case conv_algorithm::winograd4:
    case conv_algorithm::winograd2: {
      const bool legal = w.kernel_h == 3 && w.kernel_w == 3 && w.stride_h == 1 && w.stride_w == 1 &&
                         w.dilation_h == 1 && w.dilation_w == 1;
      const packing arrangement = s.algorithm() == conv_algorithm::winograd4 ? packing::winograd4 : packing::winograd2;
      if (!legal) return status_code::bad_step;
      return holds_groups(s.input(1), arrangement, groups, winograd_floats(s.algorithm(), group_out, group_in));
    }
  }
  return status_code::bad_step;
}

inline status_code verify_depthwise_conv_2d(const step_view& s) {
  const tensor_info x = s.input(0), y = s.output();
  if (!s.window_table() || !is_image(x) || !is_image(y) || x.shape()[3] != y.shape()[3]) return status_code::bad_step;
  const window w = s.window();
  if (!windows_fit(w, x, y)) return status_code::bad_step;
  const std::int64_t floats = panel_floats(y.shape()[3], std::int64_t{w.kernel_h} * w.kernel_w);
  return holds(s.input(1), packing::panels, floats) ? status_code::ok : status_code::bad_weights;
}

/// Same leading dimensions; the last ones are the depth and the channels of the weights.
inline status_code verify_fully_connected(const step_view& s) {
  const tensor_info x = s.input(0), y = s.output();
  if (!is_float_lines(x) || !is_float_lines(y) || x.rank() != y.rank()) return status_code::bad_step;
  const span<const std::int32_t> in = x.shape(), out = y.shape();
  for (std::size_t d = 0; d + 1 < in.size(); ++d) {
    if (in[d] != out[d]) return status_code::bad_step;
  }
  const std::int64_t floats = panel_floats(out[out.size() - 1], in[in.size() - 1]);
  return holds(s.input(1), packing::panels, floats) ? status_code::ok : status_code::bad_weights;
}

inline status_code verify_pack_panels(const step_view& s) {
  const tensor_info x = s.input(0), y = s.output();
  if (!is_float(x) || !is_float_lines(y) || x.rank() != 3 || y.rank() != 2) return status_code::bad_step;
  const span<const std::int32_t> in = x.shape(), out = y.shape();
  return in[0] == out[0] && out[1] == panel_floats(in[2], in[1]) ? status_code::ok : status_code::bad_step;
}

inline status_code verify_mat_mul(const step_view& s) {
  const tensor_info a = s.input(0), panels = s.input(1), y = s.output();
  if (!is_float_lines(a) || !is_float_lines(y) || a.rank() != 3 || y.rank() != 3) return status_code::bad_step;
  const span<const std::int32_t> in = a.shape(), out = y.shape();
  if (in[0] != out[0] || in[1] != out[1]) return status_code::bad_step;
  const std::int64_t matrices = s.mat_mul()->shared_right() ? 1 : in[0], floats = panel_floats(out[2], in[2]);
  if (floats > max_elements / matrices || panels.elements() < floats * matrices) return status_code::bad_weights;
  if (panels.where() == storage::constant)
    return holds(panels, packing::panels, floats * matrices) ? status_code::ok : status_code::bad_weights;
  return is_float(panels) && is_dense(panels.view(nullptr)) ? status_code::ok : status_code::bad_weights;
}

/// Each window touches the input: it starts before the input's end, and padding is smaller than the window.
NSK_COLD inline bool pool_fits(std::int64_t input, std::int64_t output, std::int64_t kernel, std::int64_t stride,
                               std::int64_t dilation, std::int64_t pad) {
  return window_fits(input, output, kernel, stride, dilation, pad) && pad <= (kernel - 1) * dilation &&
         (output - 1) * stride - pad < input;
}

inline status_code verify_pool_2d(const step_view& s) {
  const tensor_info x = s.input(0), y = s.output();
  if (!s.window_table() || !is_image(x) || !is_image(y)) return status_code::bad_step;
  const span<const std::int32_t> in = x.shape(), out = y.shape();
  const window w = s.window();
  const bool fits = in[3] == out[3] && windows_fit(w, x, y) && s.pool_2d()->kind() <= format::PoolKind::MAX &&
                    pool_fits(in[1], out[1], w.kernel_h, w.stride_h, w.dilation_h, w.pad_top) &&
                    pool_fits(in[2], out[2], w.kernel_w, w.stride_w, w.dilation_w, w.pad_left);
  return fits ? status_code::ok : status_code::bad_step;
}

/// Float inputs of the output's shape.
inline status_code verify_pointwise(const step_view& s, int inputs) {
  const tensor_info y = s.output();
  if (!is_float(y)) return status_code::bad_step;
  for (int i = 0; i < inputs; ++i) {
    const tensor_info x = s.input(i);
    if (!is_float(x) || !same_shape(x.view(nullptr), y.view(nullptr))) return status_code::bad_step;
  }
  return status_code::ok;
}

inline status_code verify_copy(const step_view& s) {
  const tensor_info x = s.input(0), y = s.output();
  const bool agrees =
      x.type() == y.type() && x.arrangement() == packing::plain && same_shape(x.view(nullptr), y.view(nullptr));
  return agrees ? status_code::ok : status_code::bad_step;
}

/// One dimension of a resize: indices and weights for each output position, indices inside the input. The indices are
/// constants, so they are checked here and never again.
inline status_code verify_resize_table(verify_context& c, const tensor_info& index, const tensor_info& weight,
                                       std::int64_t input, std::int64_t count) {
  const auto is_table = [&](const tensor_info& t, dtype type) {
    return t.where() == storage::constant && t.type() == type && t.arrangement() == packing::plain && t.rank() == 1 &&
           t.elements() == count && is_dense(t.view(nullptr));
  };
  if (!is_table(index, dtype::int32) || !is_table(weight, dtype::float32)) return status_code::bad_step;
  if (!c.work.spend(number_work * static_cast<std::uint64_t>(count))) return status_code::too_complex;
  const std::byte* data = c.weights.data() + index.buffer_offset() + index.offset();
  for (std::int64_t i = 0; i < count; ++i) {
    std::int32_t value;
    std::memcpy(&value, data + i * 4, sizeof value);
    if (value < 0 || value >= input) return status_code::bad_step;
  }
  return status_code::ok;
}

inline status_code verify_resize_2d(verify_context& c, const step_view& s) {
  const tensor_info x = s.input(0), y = s.output();
  if (!is_image(x) || !is_image(y)) return status_code::bad_step;
  const span<const std::int32_t> in = x.shape(), out = y.shape();
  const std::int64_t row_taps = s.resize_2d()->row_taps(), column_taps = s.resize_2d()->column_taps();
  if (in[0] != out[0] || in[3] != out[3] || row_taps < 1 || column_taps < 1) return status_code::bad_step;
  const status_code rows = verify_resize_table(c, s.input(1), s.input(2), in[1], out[1] * row_taps);
  return rows != status_code::ok ? rows : verify_resize_table(c, s.input(3), s.input(4), in[2], out[2] * column_taps);
}

inline status_code verify_reduce(const step_view& s) {
  const tensor_info x = s.input(0), y = s.output();
  if (!is_float(x) || !is_float(y) || x.rank() != y.rank() || s.reduce()->kind() > format::ReduceKind::MAX)
    return status_code::bad_step;
  const span<const std::int32_t> in = x.shape(), out = y.shape();
  for (std::size_t d = 0; d < in.size(); ++d) {
    if (out[d] != in[d] && out[d] != 1) return status_code::bad_step;
  }
  return status_code::ok;
}

inline status_code verify_op(verify_context& c, const step_view& s) {
  switch (s.op()) {
    case op::conv_2d: return verify_conv_2d(s);
    case op::depthwise_conv_2d: return verify_depthwise_conv_2d(s);
    case op::fully_connected: return verify_fully_connected(s);
    case op::pack_panels: return verify_pack_panels(s);
    case op::mat_mul: return verify_mat_mul(s);
    case op::pool_2d: return verify_pool_2d(s);
    case op::unary: return verify_pointwise(s, 1);
    case op::binary:
      return s.binary()->kind() <= format::BinaryKind::MAX ? verify_pointwise(s, 2) : status_code::bad_step;
    case op::copy: return verify_copy(s);
    case op::fill: return status_code::ok;
    case op::resize_2d: return verify_resize_2d(c, s);
    case op::reduce: return verify_reduce(s);
    case op::softmax: {
      const status_code code = verify_pointwise(s, 1);
      return s.softmax()->axis() < s.output().rank() ? code : status_code::bad_step;
    }
    case op::recurrent: return verify_recurrent(s);
    case op::tree_ensemble: return verify_tree_ensemble(c, s);
    default: return verify_index_op(s);
  }
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
