// SPDX-License-Identifier: MIT
#include "profile/step_work.hpp"

#include <algorithm>

#include <netsuke/ops/every_op.hpp>
#include "ops/step_facts.hpp"

namespace nsk::tool {
namespace {

constexpr std::int64_t gemv_rows = 4;  ///< below this a matrix product reads each weight for few multiplications

/// Functions that are polynomials of a dozen operations or more, not a comparison and a multiplication.
bool is_costly(function f) {
  switch (f) {
    case function::sigmoid:
    case function::silu:
    case function::tanh:
    case function::exp:
    case function::log:
    case function::erf:
    case function::gelu:
    case function::elu:
    case function::softplus:
    case function::sin:
    case function::cos: return true;
    default: return false;
  }
}

std::string kind_of_product(const step_view& s, const tile_space& space) {
  if (algorithm_of(s) != conv_algorithm::direct) return variety_of(s);
  if (groups_of(s) > 1) return "grouped";
  if (space.rows * space.pixels < gemv_rows) return "gemv";
  const std::optional<window> w = window_of(s);
  return w && w->kernel_h * w->kernel_w > 1 ? "conv" : "pointwise";
}

/// Whether neighbours of the result are no neighbours in what a copy reads, or hardly any: then it moves element by
/// element.
bool moves_single_elements(const step_view& s) {
  constexpr int least_run = 4;
  if (s.op() != op::copy) return false;
  for (const tensor_info& t : {s.input(0), s.output()})
    if (t.strides()[t.strides().size() - 1] != 1 || t.shape()[t.shape().size() - 1] < least_run) return true;
  return false;
}

std::string kind_of(const step_view& s, const tile_space& space) {
  switch (s.op()) {
    case op::conv_2d:
    case op::fully_connected:
    case op::mat_mul: return kind_of_product(s, space);
    case op::recurrent: return s.output().shape()[0] < gemv_rows ? "gemv" : "pointwise";
    case op::depthwise_conv_2d: return "depthwise";
    case op::pool_2d: return "pool";
    case op::reduce: return "reduce";
    case op::resize_2d: return "resize";
    case op::softmax: return "softmax";
    case op::unary: return is_costly(s.epilogue().fn) ? "function" : "elementwise";
    case op::binary: return s.params<op::binary>().kind == binary_kind::pow ? "function" : "elementwise";
    default: return moves_single_elements(s) ? "shuffle" : "copy";
  }
}

/// Share of the output that the largest tile computes. Along each dimension all tiles but the last are as long as the
/// first.
double largest_tile_share(const step_view& s, const tile_space& space) {
  const tile_grid grid = tile_grid_of(space, s.tile());
  std::int64_t rows = 0, pixels = 0, channels = 0;
  for (const std::int64_t i : {std::int64_t{0}, grid.count() - 1}) {
    const tile_range r = range_of_tile(space, s.tile(), grid, i);
    rows = std::max<std::int64_t>(rows, r.row_end - r.row_begin);
    pixels = std::max<std::int64_t>(pixels, r.pixel_end - r.pixel_begin);
    channels = std::max<std::int64_t>(channels, r.channel_end - r.channel_begin);
  }
  return static_cast<double>(rows * pixels * channels) /
         static_cast<double>(std::max<std::int64_t>(1, space.rows * space.pixels * space.channels));
}

}

step_work describe_work(const step_view& s) {
  const tensor_info output = s.output();
  const tile_space space = tile_space_of(output.shape().data(), output.rank());
  step_work w;
  w.kind = kind_of(s, space);
  w.depth = static_cast<double>(nsk::impl::taps_of(s));
  w.rows = static_cast<double>(space.rows * space.pixels);
  w.columns = static_cast<double>(s.macs() > 0 ? (space.channels + 7) / 8 * 8 : space.channels);
  if (w.kind == "elementwise" || w.kind == "function" || w.kind == "copy" || w.kind == "shuffle") {
    w.rows = static_cast<double>(output.elements());
    w.columns = 1;
  }
  w.macs = static_cast<double>(s.macs());
  for (int i = 0; i < s.input_count(); ++i) {
    const tensor_info t = s.input(i);
    (t.where() == storage::constant ? w.weight_bytes : w.activation_bytes) += static_cast<double>(t.bytes());
  }
  for (int i = 0; i < s.output_count(); ++i) w.activation_bytes += static_cast<double>(s.output(i).bytes());
  if (s.op() != op::unary && is_costly(s.epilogue().fn)) w.functions = static_cast<double>(output.elements());
  w.tiles = s.tile_count();
  w.largest_tile = largest_tile_share(s, space);
  return w;
}

}
