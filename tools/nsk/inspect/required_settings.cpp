// SPDX-License-Identifier: MIT
#include "inspect/required_settings.hpp"

#include <algorithm>
#include <netsuke/format/packing.hpp>
#include <netsuke/kernels/product/gemm_tile.hpp>
#include <netsuke/ops/every_op.hpp>
#include <netsuke/ops/impl/narrow_weights.hpp>
#include <netsuke/ops/impl/int8_layers.hpp>
#include "ops/step_facts.hpp"

namespace nsk::tool {
namespace {

/// The packed matrix of a step, and the rows that it is multiplied with; no rows where there is none.
struct product {
  std::int64_t rows, channels, depth, weight_bytes;
};

std::int64_t length(const tensor_info& t, int from_last) {
  return t.shape()[static_cast<std::size_t>(t.rank() - from_last)];
}

product product_of_convolution(const step_view& s) {
  const conv_2d_params p = s.params<op::conv_2d>();
  const std::int64_t in = length(s.input(0), 1) / p.groups, channels = length(s.output(), 1);
  const bool direct = p.algorithm == conv_algorithm::direct;
  const std::int64_t points = direct ? std::int64_t{p.w.kernel_h} * p.w.kernel_w : winograd_points(p.algorithm);
  return {s.output().elements() / channels, channels / p.groups, points * in, impl::has_half_weights(s) ? 2 : 4};
}
product product_of(const step_view& s) {
  const std::int64_t weight_bytes = impl::has_half_weights(s) ? 2 : impl::has_int8_weights(s) ? 1 : 4;
  if (s.op() == op::conv_2d) return product_of_convolution(s);
  if (s.op() == op::fully_connected)
    return {s.output().elements() / length(s.output(), 1), length(s.output(), 1), length(s.input(0), 1), weight_bytes};
  if (s.op() == op::mat_mul) return {length(s.output(), 2), length(s.output(), 1), length(s.input(0), 1), 4};
  if (s.op() != op::recurrent) return {0, 0, 0, 0};
  const std::int64_t hidden = length(s.output(), 1), gates = recurrent_gates(s.params<op::recurrent>().kind);
  return {s.output().shape()[0], gates * hidden, hidden, weight_bytes};
}

/// Few rows are multiplied by several panels anyway, without prefetching.
void add_product(required_settings& n, const step_view& s) {
  const product p = product_of(s);
  if (p.rows <= kernels::gemv_max_rows) return;
  const std::int64_t tile = s.op() == op::recurrent || s.tile().channels == 0 ? p.channels : s.tile().channels;
  const int together = static_cast<int>(std::min(tile, p.channels));
  const int whole = kernels::whole_panels(p.channels, 0, 0, 0, together);
  n.panel_pairs = n.panel_pairs || whole > 1;
  n.prefetch_weights = n.prefetch_weights || (whole > 0 && kernels::is_prefetched(p.depth, p.channels, p.weight_bytes));
}

void add_kinds(required_settings& n, const step_view& s) {
  if (s.op() == op::reduce) n.reduce_kinds.set(static_cast<std::size_t>(s.params<op::reduce>().kind));
  if (s.op() == op::pool_2d && !impl::is_float_operator_on_bytes(s))
    n.pool_kinds.set(static_cast<std::size_t>(s.params<op::pool_2d>().kind));
}

/// The fast paths that a step takes on some instruction set: registers of 1 to 16 floats.
void add_paths(required_settings& n, const step_view& s) {
  for (const int lanes : {1, 4, 8, 16}) {
    const fast_path path = path_of(s, {lanes, lanes == 16 ? 32 : 16});
    if (path != fast_path::general) n.paths.set(static_cast<std::size_t>(path));
  }
}

void add_weights(required_settings& n, const step_view& s) {
  n.winograd = n.winograd || algorithm_of(s) != conv_algorithm::direct;
  n.half_weights = n.half_weights || impl::has_half_weights(s);
  n.int8_weights = n.int8_weights || impl::has_int8_weights(s);
  n.quads = n.quads || s.op() == op::quantized_conv_2d || s.op() == op::quantized_depthwise_conv_2d ||
            s.op() == op::integer_conv_2d;
  n.unsafe_quads = n.unsafe_quads || impl::has_unsafe_quads(s);
  n.weight_offsets = n.weight_offsets || impl::has_weight_offset(s);
}

void add_variant(required_settings& n, const variant_view& v) {
  n.lengths = n.lengths || v.length_count() != 0;
  n.functions.set(static_cast<std::size_t>(function::identity));
  for (int i = 0; i < v.step_count(); ++i) {
    const step_view s = v.step(i);
    n.ops.set(static_cast<std::size_t>(s.op()));
    n.functions.set(static_cast<std::size_t>(s.epilogue().fn));
    add_weights(n, s);
    add_kinds(n, s);
    add_paths(n, s);
    add_product(n, s);
  }
}

}

required_settings required_settings_of(const variant_view& v) {
  required_settings n;
  add_variant(n, v);
  return n;
}

required_settings required_settings_of(const model& m) {
  required_settings n;
  for (int v = 0; v < m.variant_count(); ++v) add_variant(n, m.variant(v));
  return n;
}

}
