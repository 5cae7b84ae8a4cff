// SPDX-License-Identifier: MIT
#include "ops/impl/tile_sizes.hpp"
#include <algorithm>
#include <cmath>
#include <netsuke/kernels/product/panels_of_tile.hpp>

namespace nsk::tool {
namespace {

constexpr std::int64_t widened_rows = 96;      ///< that float16 weights should be widened for
constexpr std::int64_t gemv_weights = 131072;  ///< floats of weights that one tile of a matrix-vector product reads

/// How much of the work of `lanes` that each take a run of neighbouring pieces is not waiting for the one with most.
double evenness(std::int64_t units, std::int64_t piece, std::int64_t copies, std::int64_t lanes) {
  const std::int64_t pieces = (units + piece - 1) / piece * copies;
  return static_cast<double>(units * copies) / static_cast<double>((pieces + lanes - 1) / lanes * piece * lanes);
}

/// Returns a piece of about `size` and at most `maximum`, such that few lanes share the pieces evenly; all where that
/// is not more than `size`. Pieces are multiples of `step`; other dimensions cut each of them in `copies`.
std::int64_t balanced(std::int64_t all, std::int64_t size, std::int64_t maximum, std::int64_t step = 1,
                      std::int64_t copies = 1) {
  if (size >= all) return all;
  const std::int64_t units = (all + step - 1) / step, wanted = std::clamp<std::int64_t>(size / step, 1, units),
                     last = std::max(std::min({maximum / step, wanted * 2, units}), wanted);
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

/// How many of `panels` neighbouring panels kernels multiply in threes; less than none where one is alone, whose tiles
/// read most.
constexpr std::int64_t panels_in_threes(std::int64_t panels) {
  std::int64_t threes = 0;
  for (int left = static_cast<int>(panels), together = 0; left > 0; left -= together) {
    together = kernels::panels_of_tile(left, kernels::max_tile_panels, false);
    threes += together == kernels::max_tile_panels ? together : together == 1 ? -kernels::max_tile_panels : 0;
  }
  return threes;
}
static_assert(panels_in_threes(1) == -3 && panels_in_threes(4) == 0 && panels_in_threes(8) == 6, "1, 2 + 2, 3 + 3 + 2");

/// Returns about `wanted` columns of a matrix, or all: such that tiles are equally wide and their panels are multiplied
/// in threes.
std::int64_t balanced_columns(std::int64_t channels, std::int64_t wanted) {
  if (wanted * 4 >= channels * 3) return channels;
  const std::int64_t panels = (channels + panel_width - 1) / panel_width,
                     about = std::max<std::int64_t>((wanted + panel_width / 2) / panel_width, 2);
  std::int64_t best = about;
  double best_score = 0;
  for (std::int64_t size = about - about / 3; size <= about + about / 2; ++size) {
    const std::int64_t pieces = (panels + size - 1) / size, last = panels - (pieces - 1) * size,
                       threes = (pieces - 1) * panels_in_threes(size) + panels_in_threes(last);
    const double all = static_cast<double>(panels), far = static_cast<double>(size) / static_cast<double>(about),
                 score = static_cast<double>(threes) / all + all / static_cast<double>(pieces * size) -
                         std::abs(std::log2(far)) / 2;
    if (score > best_score) {
      best = size;
      best_score = score;
    }
  }
  return std::min(best * panel_width, channels);
}

}

std::uint32_t whole_or(std::int64_t size, std::int64_t all) {
  return size >= all ? 0 : static_cast<std::uint32_t>(std::max<std::int64_t>(size, 1));
}

tile_size gemm_tile_size(const tile_request& r, const plan_tensor& weights, std::int64_t depth, std::int64_t gain) {
  const bool widened = weights.type == dtype::float16;
  const tile_space s = r.space();
  const std::int64_t maximum = r.limit() * gain,
                     target = widened ? std::min(2 * r.target(), r.limit()) * gain : r.target() * gain,
                     m = s.rows * s.pixels, macs_per_output = std::max<std::int64_t>(depth, 1),
                     area = std::max<std::int64_t>(target / macs_per_output, 96);
  if (m < 4) {
    const std::int64_t channels = std::max<std::int64_t>(gemv_weights / macs_per_output, 64);
    return {0, 0, whole_or(balanced(s.channels, channels, channels + channels / 2, 64), s.channels)};
  }
  std::int64_t columns = static_cast<std::int64_t>(std::sqrt(static_cast<double>(area)));
  if (widened) columns = area / std::max(columns, std::min(m, widened_rows));
  if (s.channels > m) columns = 0;  // tiles below each other share their weights (format/tiles.hpp)
  columns = balanced_columns(s.channels, std::max(columns, area / m));
  const std::int64_t wanted = std::max<std::int64_t>(area / columns, 24),
                     max_pixels = maximum / macs_per_output / columns, copies = (s.channels + columns - 1) / columns;
  tile_size t{0, 0, whole_or(columns, s.channels)};
  if (wanted >= s.pixels) {
    t.rows = whole_or(balanced(s.rows, wanted / s.pixels, max_pixels / s.pixels, 1, copies), s.rows);
  } else {
    t.rows = whole_or(1, s.rows);
    t.pixels = whole_or(balanced(s.pixels, wanted, max_pixels, 6, copies), s.pixels);
  }
  return t;
}

tile_size image_tile_size(const tile_space& s, std::int64_t elements) {
  const std::int64_t channels = std::max<std::int64_t>(elements / (s.rows * s.pixels), 16);
  return {0, 0, whole_or(balanced(s.channels, channels, channels + channels / 2, 16), s.channels)};
}

tile_size stream_tile_size(const tile_space& s, std::int64_t elements, impl::whole_axes whole, std::int64_t row_step) {
  tile_size t;
  const std::int64_t width = std::max<std::int64_t>(s.channels, 8), row = s.pixels * width;
  if (2 * row <= 3 * elements || (whole.pixels && whole.channels)) {
    const std::int64_t rows = std::max<std::int64_t>(elements / std::max<std::int64_t>(row, 1), 1);
    t.rows = whole_or(balanced(s.rows, rows, rows + rows / 2, row_step), s.rows);
  } else {
    t.rows = whole_or(row_step, s.rows);
    elements = std::max<std::int64_t>(elements / row_step, 1);
    if (!whole.pixels && (width <= elements || whole.channels)) {
      const std::int64_t pixels = std::max<std::int64_t>(elements / width, 1);
      t.pixels = whole_or(balanced(s.pixels, pixels, pixels + pixels / 2), s.pixels);
    } else {
      if (!whole.pixels) t.pixels = whole_or(1, s.pixels);
      const std::int64_t channels = std::max<std::int64_t>(elements / (whole.pixels ? s.pixels : 1), 16),
                         copies = (s.rows + row_step - 1) / row_step * (whole.pixels ? 1 : s.pixels);
      if (!whole.channels)
        t.channels = whole_or(balanced(s.channels, channels, channels + channels / 2, 16, copies), s.channels);
    }
  }
  if (whole.rows) t.rows = 0;
  return t;
}

tile_size winograd_tile_size(const tile_space& s, std::int64_t height, std::int64_t images, conv_algorithm algorithm,
                             std::int64_t depth, std::int64_t maximum, std::int64_t wanted) {
  constexpr std::int64_t min_cells = 14, channel_step = 64;
  const std::int64_t step = winograd_outputs(algorithm), cells_per_strip = (s.pixels + step - 1) / step,
                     per_row = depth * s.pixels * s.channels;
  const std::int64_t min_rows = (min_cells + cells_per_strip - 1) / cells_per_strip * step;
  std::int64_t rows = std::max(wanted / std::max<std::int64_t>(per_row, 1) / step * step, min_rows);
  rows = rows * 4 > height * 3 || (images > 1 && height % step != 0) ? height : balanced(height, rows, rows, step);
  tile_size t;
  t.rows = whole_or(rows, s.rows);
  const std::int64_t macs = per_row * rows;
  if (macs > maximum * 2) {
    const std::int64_t pieces =
        std::clamp<std::int64_t>(macs / maximum, 1, std::max<std::int64_t>(s.channels / channel_step, 1));
    t.channels = whole_or((s.channels / pieces + channel_step - 1) / channel_step * channel_step, s.channels);
  }
  return t;
}

}
