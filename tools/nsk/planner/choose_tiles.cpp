// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <netsuke/format/scratch.hpp>
#include <netsuke/format/tiles.hpp>
#include "planner/planner.hpp"

namespace nsk::tool {
namespace {

constexpr std::int64_t least_macs = 200'000;      ///< below this a tile costs more to hand out than it computes
constexpr std::int64_t wanted_tiles = 8;          ///< per step, so that a few lanes share it evenly
constexpr std::int64_t streamed_elements = 8192;  ///< of a memory-bound tile
constexpr std::int64_t gemv_weights = 131072;     ///< floats of weights that one tile of a matrix-vector product reads

tile_space space_of(const plan_tensor& t) { return tile_space_of(t.shape.data(), static_cast<int>(t.shape.size())); }

std::uint32_t whole_or(std::int64_t size, std::int64_t all) {
  return size >= all ? 0 : static_cast<std::uint32_t>(std::max<std::int64_t>(size, 1));
}

/// How much of the work of `lanes` that each take a run of neighbouring pieces is not waiting for the one with most.
double evenness(std::int64_t units, std::int64_t piece, std::int64_t copies, std::int64_t lanes) {
  const std::int64_t pieces = (units + piece - 1) / piece * copies;
  return static_cast<double>(units * copies) / static_cast<double>((pieces + lanes - 1) / lanes * piece * lanes);
}

/// Returns a piece of about `size` and at most `most`, such that few lanes share the pieces evenly; all where that is
/// not more than `size`. Pieces are multiples of `step`; other dimensions cut each of them in `copies`.
std::int64_t balanced(std::int64_t all, std::int64_t size, std::int64_t most, std::int64_t step = 1,
                      std::int64_t copies = 1) {
  if (size >= all) return all;
  const std::int64_t units = (all + step - 1) / step, wanted = std::clamp<std::int64_t>(size / step, 1, units),
                     last = std::max(std::min({most / step, wanted * 2, units}), wanted);
  std::int64_t best = wanted;
  double best_score = 0;
  for (std::int64_t piece = (wanted + 1) / 2; piece <= last; ++piece) {
    const double score = evenness(units, piece, copies, 2) + evenness(units, piece, copies, 4) / 2 +
                         evenness(units, piece, copies, 6) / 4 -
                         std::abs(std::log2(static_cast<double>(piece) / static_cast<double>(wanted))) / 16;
    if (score > best_score) {
      best = piece;
      best_score = score;
    }
  }
  return std::min(best * step, all);
}

/// Cuts a matrix product of `depth` so that a tile's rows and columns are about as many: that reads least per
/// multiplication.
tile_size gemm_tile_size(const tile_space& s, std::int64_t depth, std::int64_t target, std::int64_t most) {
  const std::int64_t m = s.rows * s.pixels, macs_per_output = std::max<std::int64_t>(depth, 1),
                     area = std::max<std::int64_t>(target / macs_per_output, 96);
  if (m < 4) {
    const std::int64_t channels = std::max<std::int64_t>(gemv_weights / macs_per_output, 64);
    return {0, 0, whole_or(balanced(s.channels, channels, channels + channels / 2, 64), s.channels)};
  }
  std::int64_t columns = (static_cast<std::int64_t>(std::sqrt(static_cast<double>(area))) + 15) / 16 * 16;
  columns = std::max({columns, area / m / 16 * 16, std::int64_t{32}});
  if (columns * 4 >= s.channels * 3)
    columns = s.channels;
  else
    columns =
        ((s.channels + columns - 1) / columns > 0 ? (s.channels / ((s.channels + columns - 1) / columns) + 15) / 16 * 16
                                                  : columns);
  const std::int64_t wanted = std::max<std::int64_t>(area / columns, 24),
                     most_pixels = most / macs_per_output / columns, copies = (s.channels + columns - 1) / columns;
  tile_size t{0, 0, whole_or(columns, s.channels)};
  if (wanted >= s.pixels) {
    t.rows = whole_or(balanced(s.rows, wanted / s.pixels, most_pixels / s.pixels, 1, copies), s.rows);
  } else {
    t.rows = whole_or(1, s.rows);
    t.pixels = whole_or(balanced(s.pixels, wanted, most_pixels, 6, copies), s.pixels);
  }
  return t;
}

/// Cuts a memory-bound output into about `elements` elements a tile; dimensions that must stay whole are given. A row
/// of few channels costs as much as one whole vector.
tile_size stream_tile_size(const tile_space& s, std::int64_t elements, bool whole_channels = false,
                           bool whole_pixels = false, bool whole_rows = false) {
  tile_size t;
  const std::int64_t width = std::max<std::int64_t>(s.channels, 8), row = s.pixels * width;
  if (2 * row <= 3 * elements || (whole_pixels && whole_channels)) {
    const std::int64_t rows = std::max<std::int64_t>(elements / std::max<std::int64_t>(row, 1), 1);
    t.rows = whole_or(balanced(s.rows, rows, rows + rows / 2), s.rows);
  } else {
    t.rows = whole_or(1, s.rows);
    if (!whole_pixels && (width <= elements || whole_channels)) {
      const std::int64_t pixels = std::max<std::int64_t>(elements / width, 1);
      t.pixels = whole_or(balanced(s.pixels, pixels, pixels + pixels / 2), s.pixels);
    } else {
      if (!whole_pixels) t.pixels = whole_or(1, s.pixels);
      const std::int64_t channels = std::max<std::int64_t>(elements / (whole_pixels ? s.pixels : 1), 16),
                         copies = s.rows * (whole_pixels ? 1 : s.pixels);
      if (!whole_channels)
        t.channels = whole_or(balanced(s.channels, channels, channels + channels / 2, 16, copies), s.channels);
    }
  }
  if (whole_rows) t.rows = 0;
  return t;
}

/// Whole rows of Winograd cells, at least `least_cells` of them: every tile reads all transformed weights of its
/// channels, so few cells a tile are bound by memory. Tiles that are still too long split channels, which repeats the
/// transform of the input.
tile_size winograd_tile_size(const tile_space& s, std::int64_t height, std::int64_t images, conv_algorithm algorithm,
                             std::int64_t depth, std::int64_t most, std::int64_t wanted) {
  constexpr std::int64_t least_cells = 14, channel_step = 64;
  const std::int64_t step = winograd_outputs(algorithm), cells_per_strip = (s.pixels + step - 1) / step,
                     per_row = depth * s.pixels * s.channels;
  const std::int64_t least_rows = (least_cells + cells_per_strip - 1) / cells_per_strip * step;
  std::int64_t rows = std::max(wanted / std::max<std::int64_t>(per_row, 1) / step * step, least_rows);
  rows = rows * 4 > height * 3 || (images > 1 && height % step != 0) ? height : balanced(height, rows, rows, step);
  tile_size t;
  t.rows = whole_or(rows, s.rows);
  const std::int64_t macs = per_row * rows;
  if (macs > most * 2) {
    const std::int64_t pieces =
        std::clamp<std::int64_t>(macs / most, 1, std::max<std::int64_t>(s.channels / channel_step, 1));
    t.channels = whole_or((s.channels / pieces + channel_step - 1) / channel_step * channel_step, s.channels);
  }
  return t;
}

tile_size conv_tile_size(const plan& p, const plan_step& s, std::int64_t max_macs) {
  const plan_tensor &x = p.tensor(s.inputs[0]), &y = p.tensor(s.outputs[0]);
  const tile_space space = space_of(y);
  const std::int64_t depth = static_cast<std::int64_t>(s.w.kernel_h) * s.w.kernel_w * (x.shape.back() / s.groups);
  const std::int64_t gain = algorithm_gain(s.algorithm);
  const std::int64_t target = std::clamp(s.macs / wanted_tiles, least_macs, std::max(max_macs, least_macs)) * gain;
  if (s.algorithm == conv_algorithm::direct) {
    tile_size t = gemm_tile_size(space, depth, target, std::max(max_macs, least_macs) * gain);
    if (s.groups > 1) t.channels = 0;
    return t;
  }
  return winograd_tile_size(space, y.shape[1], y.shape[0], s.algorithm, depth, max_macs * gain, target);
}

/// Some rows of the batch with all their instants: enough to share each weight, and to leave something for all lanes.
tile_size recurrent_tile_size(const plan& p, const plan_step& s) {
  constexpr std::int64_t least_rows = 6;
  const std::vector<std::int32_t>& y = p.tensor(s.outputs[0]).shape;
  const std::int64_t rows = std::max((std::int64_t{y[0]} * y[2] + wanted_tiles - 1) / wanted_tiles, least_rows);
  return {whole_or(rows * y[1], std::int64_t{y[0]} * y[1]), whole_or(1, y[2]), 0};
}

tile_size size_of_tiles(const plan& p, const plan_step& s, std::int64_t max_macs) {
  const plan_tensor& y = p.tensor(s.outputs[0]);
  const tile_space space = space_of(y);
  const int rank = static_cast<int>(y.shape.size());
  switch (s.kind) {
    case op::conv_2d: return conv_tile_size(p, s, max_macs);
    case op::fully_connected:
    case op::mat_mul:
      return gemm_tile_size(space, p.tensor(s.inputs[0]).shape.back(),
                            std::clamp(s.macs / wanted_tiles, least_macs, std::max(max_macs, least_macs)),
                            std::max(max_macs, least_macs));
    case op::depthwise_conv_2d: {
      const std::int64_t taps = static_cast<std::int64_t>(s.w.kernel_h) * s.w.kernel_w;
      return stream_tile_size(
          space, std::clamp(s.macs / wanted_tiles, least_macs / 2, std::max(max_macs, least_macs) / 2) / taps);
    }
    case op::pack_panels: return {0, 1, 0};
    case op::pool_2d:
      return stream_tile_size(space,
                              std::max<std::int64_t>(8 * streamed_elements / (s.w.kernel_h * s.w.kernel_w), 1024));
    case op::reduce: {
      const std::int64_t ratio =
          std::max<std::int64_t>(p.tensor(s.inputs[0]).count() / std::max<std::int64_t>(y.count(), 1), 1);
      return stream_tile_size(space, std::max<std::int64_t>(2 * streamed_elements / ratio, 16));
    }
    case op::softmax:
      return stream_tile_size(space, streamed_elements / 2, s.axis == rank - 1, s.axis == rank - 2, s.axis < rank - 2);
    case op::top_k: return stream_tile_size(space, 1024, s.axis == rank - 1, s.axis == rank - 2, s.axis < rank - 2);
    case op::arg_reduce:
      return stream_tile_size(
          space, std::max<std::int64_t>(
                     streamed_elements / p.tensor(s.inputs[0]).shape[static_cast<std::size_t>(s.axis)], 64));
    case op::non_max_suppression: return {};
    case op::recurrent: return recurrent_tile_size(p, s);
    case op::tree_ensemble:
      return stream_tile_size(space, std::max<std::int64_t>(streamed_elements / p.tensor(s.inputs[1]).count(), 1),
                              true);
    case op::random: return stream_tile_size(space, streamed_elements / 4);
    case op::layer_normalization:
    case op::local_response_normalization: return stream_tile_size(space, streamed_elements / 2, true);
    default: return stream_tile_size(space, streamed_elements);
  }
}

std::int64_t scratch_of(const plan& p, const plan_step& s) {
  if (s.kind == op::resize_2d) return kernels::resize_2d_scratch_bytes(s.row_taps);
  if (s.kind == op::non_max_suppression)
    return kernels::non_max_suppression_scratch_bytes(p.tensor(s.inputs[0]).shape[1]);
  if (s.kind == op::recurrent) {
    const std::vector<std::int32_t>& y_shape = p.tensor(s.outputs[0]).shape;
    return kernels::recurrent_scratch_bytes(s.recurrent.kind, y_shape[0], y_shape[3]);
  }
  if (s.kind != op::conv_2d) return 0;
  const plan_tensor &x = p.tensor(s.inputs[0]), &y = p.tensor(s.outputs[0]);
  kernels::conv_2d_shape c{};
  c.input_h = x.shape[1];
  c.input_w = x.shape[2];
  c.input_channels = x.shape[3];
  c.output_h = y.shape[1];
  c.output_w = y.shape[2];
  c.output_channels = y.shape[3];
  c.groups = s.groups;
  c.border = x.border;
  c.fill = 0;
  c.w = s.w;
  c.algorithm = s.algorithm;
  return kernels::conv_2d_scratch_bytes(c);
}

}

void plan_tiles(plan& p, std::int64_t max_macs) {
  for (plan_step& s : p.steps) {
    const tile_size t = size_of_tiles(p, s, max_macs);
    s.tile = {t.rows, t.pixels, t.channels,
              static_cast<std::uint32_t>(tile_grid_of(space_of(p.tensor(s.outputs[0])), t).count())};
    s.scratch_bytes = scratch_of(p, s);
    p.lane_bytes = std::max(p.lane_bytes, (s.scratch_bytes + 63) / 64 * 64);
  }
}

}
