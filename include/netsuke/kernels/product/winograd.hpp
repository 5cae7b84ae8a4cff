// SPDX-License-Identifier: MIT
#pragma once
/// 3x3 convolution with stride 1 by Winograd's transforms. Outputs are cut in cells of m x m that begin at pixel (0, 0)
/// of every image, whatever the tile: a tile that cuts a cell computes it whole and stores its own part, so every split
/// gives the same bits.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/product/gemm.hpp>
#include <netsuke/kernels/pixel_block.hpp>
#include <netsuke/kernels/product/winograd_tile.hpp>
#include <netsuke/format/scratch.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

/// A cell: its image, and its first output pixel; the outputs of the tile in it are rows [top, bottom) and pixels
/// [left, right).
struct winograd_cell {
  int image, y, x, top, bottom, left, right;
};

inline constexpr int winograd_max_cells = 48;
/// Panels whose products are in scratch at a time: at most 32 columns (conv_2d_scratch_bytes).
template <class Kernels>
inline constexpr int winograd_panels = pairs_together<Kernels>;

/// Cells that are computed together. While their products are made, the lines are prefetched that the phase behind
/// writes and the next batch reads: in images beyond the caches, transforms wait for memory twice as long as they take.
struct winograd_cells_together {
  winograd_cell cell[winograd_max_cells];
  const float* prefetch_from[winograd_max_cells];  ///< what a cell of the next batch reads first
  int count;
};

/// Constants of one call, for one group. Sizes and strides in floats.
template <class Kernels>
struct winograd_call {
  const conv_2d_args* a;
  tile_epilogue<Kernels> e;
  int depth;
  pixel_block readable;
  float* transformed;          ///< [points][cells][padded depth], planes one cache line further apart
  float* products;             ///< [cells][points][stride]
  std::ptrdiff_t line, plane;  ///< between cells and between points of `transformed`
  gemm_weights<float> weights{};
  int input_channel = 0, channel_begin = 0, channel_end = 0;
};

/// Transforms the input of one cell.
template <int Outputs, class Kernels>
NSK_ONE_COPY inline void winograd_cell_input(const winograd_call<Kernels>& w, const winograd_cell& cell, float* to) {
  constexpr int side = Outputs + 2;
  const tensor_view& in = w.a->input;
  const int y = cell.y - w.a->w.pad_top, x = cell.x - w.a->w.pad_left;
  const std::ptrdiff_t row = in.stride[1], pixel = in.stride[2];
  const float* image = in.as<float>() + cell.image * in.stride[0] + w.input_channel;
  const pixel_block& r = w.readable;
  if (y >= r.y && y + side <= r.y_end && x >= r.x && x + side <= r.x_end) {
    const float* first = image + y * row + x * pixel;
    winograd_transform_input<Outputs>(w.depth, to, w.plane, [&](int i, int j, int c) NSK_INLINE_LAMBDA {
      return simd::load(first + i * row + j * pixel + c);
    });
  } else {
    winograd_transform_input<Outputs>(w.depth, to, w.plane, [&](int i, int j, int c) NSK_INLINE_LAMBDA {
      const bool inside = y + i >= r.y && y + i < r.y_end && x + j >= r.x && x + j < r.x_end;
      return inside ? simd::load(image + (y + i) * row + (x + j) * pixel + c) : simd::zero();
    });
  }
}

/// Transforms the products of one cell, finishes them and stores those that belong to the tile.
template <int Outputs, class Kernels>
NSK_ONE_COPY inline void winograd_cell_output(const winograd_call<Kernels>& w, const winograd_cell& cell,
                                              const float* from, int stride, const gemm_panel<float>& p) {
  using simd::f32;
  const tensor_view& out = w.a->output;
  const epilogue& e = w.a->e;
  tile_row row[Outputs * Outputs];
  bool mine[Outputs * Outputs];
  int count = 0;
  for (int i = 0; i < Outputs * Outputs; ++i) {
    const int y = cell.y + i / Outputs, x = cell.x + i % Outputs;
    mine[i] = y >= cell.top && y < cell.bottom && x >= cell.left && x < cell.right;
    if (!mine[i]) continue;
    row[count].output = out.as<float>() + cell.image * out.stride[0] + y * out.stride[1] + x * out.stride[2];
    row[count].residual = e.residual == nullptr ? nullptr
                                                : e.residual + cell.image * e.residual_stride[0] +
                                                      y * e.residual_stride[1] + x * e.residual_stride[2];
    ++count;
  }
  const bool whole = count == Outputs * Outputs && w.e.stores_tiles();
  const int width = (p.columns + f32::lanes - 1) / f32::lanes * f32::lanes;
  alignas(64) float block[Outputs * Outputs * block_columns];
  for (int c = 0; c < p.columns; c += f32::lanes) {
    const int columns = p.columns - c < f32::lanes ? p.columns - c : f32::lanes;
    f32 y[Outputs * Outputs][1];
    winograd_transform_output<Outputs>(from + c, stride, p.bias_of(c), y);
    if (whole) {
      store_tile(y, w.e.registers, row, p.channel + c, columns);
      continue;
    }
    for (int i = 0, n = 0; i < Outputs * Outputs; ++i)
      if (mine[i]) simd::store(block + n++ * width + c, y[i][0]);
  }
  if (!whole) return finish_block(block, count, width, w.e, row, p.channel, p.columns);
  if (w.e.maps()) map_rows<Kernels>(e, row, count, p.channel, p.columns);
}

/// Prefetches the lines of `count` floats from `first` on of side x side pixels.
NSK_INLINE void prefetch_pixels(const float* first, std::ptrdiff_t row, std::ptrdiff_t pixel, int side, int count) {
  for (int y = 0; y < side; ++y, first += row)
    for (int x = 0; x < side; ++x)
      for (int c = 0; c < count; c += 16) simd::prefetch(first + x * pixel + c);
}

/// Prefetches what is read and written next for cells [begin, end): where the columns of a panel are stored, and the
/// channels [channel, channel + count) of the next batch; windows overlap, so that what is new is as large as a cell.
template <class Kernels>
NSK_INLINE void winograd_prefetch(const winograd_call<Kernels>& w, const winograd_cells_together& batch, int outputs,
                                  int begin, int end, const gemm_panel<float>& p, int channel, int count) {
  const tensor_view &in = w.a->input, &out = w.a->output;
  for (int t = begin; t < end; ++t) {
    const winograd_cell& cell = batch.cell[t];
    prefetch_pixels(
        out.as<float>() + cell.image * out.stride[0] + cell.y * out.stride[1] + cell.x * out.stride[2] + p.channel,
        out.stride[1], out.stride[2], outputs, p.columns);
    prefetch_pixels(batch.prefetch_from[t] + channel, in.stride[1], in.stride[2], outputs, count);
  }
}

/// Products of all points with one panel: point by point a small matrix product, from zero.
template <class Kernels>
NSK_ONE_COPY inline void winograd_multiply(const winograd_call<Kernels>& w, const winograd_cells_together& batch,
                                           int outputs, const gemm_panel<float>& p, int stride) {
  const int points = (outputs + 2) * (outputs + 2);
  const int count = batch.count, columns = w.channel_end - w.channel_begin;
  const auto share = [&](int channel) NSK_INLINE_LAMBDA {  // of the input channels, as large as that of the output
    return static_cast<int>(std::int64_t{w.depth} * (channel - w.channel_begin) / columns / 16 * 16);
  };
  const int first_channel = share(p.channel), last_channel = share(p.channel + p.columns);
  static constexpr float zeros[32] = {};
  const epilogue nothing;
  const auto none = prepare<typename Kernels::without_functions>(nothing, 0);
  const gemm_runs runs{1, 1, w.depth};
  gemm_panel<float> point = p;
  point.bias = zeros;
  point.bias_stride = 0;
  point.channel = 0;
  point.columns = stride;
  tile_row row[winograd_max_cells];
  for (int i = 0; i < points; ++i, point.weights += std::ptrdiff_t{w.depth} * p.stride) {
    if (p.prefetch_at != nullptr && i + 1 < points)
      point.prefetch_at = reinterpret_cast<const char*>(point.weights + std::ptrdiff_t{w.depth} * p.stride);
    else
      point.prefetch_at = p.prefetch_at;
    for (int t = 0; t < count; ++t)
      row[t] = {w.transformed + i * w.plane + t * w.line, w.products + (t * points + i) * stride, nullptr};
    gemm_panel_rows<winograd_panels<Kernels>>(count, runs, point, row, none);
    winograd_prefetch(w, batch, outputs, count * i / points, count * (i + 1) / points, p, first_channel,
                      last_channel - first_channel);
  }
}

template <int Outputs, class Kernels>
inline void winograd_batch_of_cells(const winograd_call<Kernels>& w, const winograd_cells_together& batch) {
  constexpr int points = (Outputs + 2) * (Outputs + 2);
  const int count = batch.count;
  const winograd_cell* const cell = batch.cell;
  for (int t = 0; t < count; ++t) winograd_cell_input<Outputs>(w, cell[t], w.transformed + t * w.line);
  for (int index = 0, panels = 1; index < panel_count(w.weights.channels); index += panels) {
    const gemm_panel<float> p =
        slice_of_panels<winograd_panels<Kernels>, Kernels>(w.weights, index, w.channel_begin, w.channel_end);
    panels = p.panels;
    if (p.columns <= 0) continue;
    constexpr int unit = simd::f32::lanes > 8 ? simd::f32::lanes : 8;
    const int stride = (p.columns + unit - 1) / unit * unit;
    winograd_multiply(w, batch, Outputs, p, stride);
    for (int t = 0; t < count; ++t)
      winograd_cell_output<Outputs>(w, cell[t], w.products + t * points * stride, stride, p);
  }
}

/// Walks over the cells that touch the rows and pixels of a tile, in order.
template <int Outputs>
class winograd_walk {
 public:
  winograd_walk(const tile_range& t, int height) : m_tile(t), m_height(height) { enter(t.row_begin / height); }

  /// Returns the number of cells of the tile. Only before the first advance().
  int total() const {
    const auto cells = [](int begin, int end) NSK_INLINE_LAMBDA { return (end - 1) / Outputs - begin / Outputs + 1; };
    int rows = cells(m_cell.top, m_cell.bottom);
    for (int row = (m_cell.image + 1) * m_height; row < m_tile.row_end; row += m_height)
      rows += cells(0, m_tile.row_end - row < m_height ? m_tile.row_end - row : m_height);
    return rows * cells(m_tile.pixel_begin, m_tile.pixel_end);
  }
  const winograd_cell& cell() const { return m_cell; }
  void advance() {
    m_cell.x += Outputs;
    if (m_cell.x < m_tile.pixel_end) return;
    m_cell.x = m_tile.pixel_begin / Outputs * Outputs;
    m_cell.y += Outputs;
    if (m_cell.y >= m_cell.bottom && (m_cell.image + 1) * m_height < m_tile.row_end) enter(m_cell.image + 1);
  }

 private:
  void enter(int image) {
    const int first = m_tile.row_begin - image * m_height, last = m_tile.row_end - image * m_height,
              top = first > 0 ? first : 0;
    m_cell = {image,
              top / Outputs * Outputs,
              m_tile.pixel_begin / Outputs * Outputs,
              top,
              last < m_height ? last : m_height,
              m_tile.pixel_begin,
              m_tile.pixel_end};
  }

  tile_range m_tile;
  int m_height;
  winograd_cell m_cell;
};

/// Cells of a tile, in batches of nearly equal size.
template <int Outputs, class Kernels>
NSK_ONE_COPY inline void winograd_cells(const winograd_call<Kernels>& w, const tile_range& t, int maximum) {
  const tensor_view& in = w.a->input;
  winograd_walk<Outputs> walk(t, w.a->output.shape[1]), ahead = walk;
  int left = walk.total();
  const int batches = (left + maximum - 1) / maximum, size = (left + batches - 1) / batches;
  for (int i = 0; i < size; ++i) ahead.advance();
  winograd_cells_together batch;
  for (; left > 0; left -= batch.count) {
    batch.count = left < size ? left : size;
    for (int i = 0; i < batch.count; ++i, walk.advance(), ahead.advance()) {
      batch.cell[i] = walk.cell();
      const winograd_cell& next = ahead.cell();  // behind the last one there is none, and what it reads is not needed
      // + 2: the first two rows and columns of its inputs belong to cells in front of it too, which have read them.
      batch.prefetch_from[i] = in.as<float>() + next.image * in.stride[0] +
                               (next.y - w.a->w.pad_top + 2) * in.stride[1] +
                               (next.x - w.a->w.pad_left + 2) * in.stride[2] + w.input_channel;
    }
    winograd_batch_of_cells<Outputs>(w, batch);
  }
}

template <class Kernels = all_kernels>
NSK_ONE_COPY inline void winograd_conv_2d(const conv_2d_args& a, const tile_range& t, float* scratch) {
  const int depth = a.input.shape[3] / a.groups, channels = a.output.shape[3] / a.groups;
  const int points = winograd_points(a.algorithm), maximum = winograd_batch(a.algorithm, depth);
  winograd_call<Kernels> w;
  w.a = &a;
  w.e = prepare<Kernels>(a.e, a.output.rank);
  w.depth = depth;
  w.readable = readable_pixels(a.input);
  w.line = static_cast<std::ptrdiff_t>(padded_channels(depth));
  w.plane = maximum * w.line + 16;
  w.transformed = scratch;
  w.products = scratch + points * w.plane;
  for_groups(t, channels, [&](int g, int begin, int end) {
    w.weights = {static_cast<const float*>(a.weights) + g * winograd_floats(a.algorithm, channels, depth), channels,
                 std::int64_t{points} * depth, g * channels};
    w.channel_begin = begin;
    w.channel_end = end;
    w.input_channel = g * depth;
    if (a.algorithm == conv_algorithm::winograd4)
      winograd_cells<4>(w, t, maximum);
    else
      winograd_cells<2>(w, t, maximum);
  });
}

}
}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
