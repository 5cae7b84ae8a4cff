// SPDX-License-Identifier: MIT
#pragma once
/// Direct convolution to 1 to 4 channels, which as columns of a panel would leave most of a register unused: masks,
/// depths, colours. Here the lanes of a register are pixels side by side.
///
/// Rows of the input are transposed, a strip of them at a time, so that each channel is a line of pixels. A line serves
/// all taps and outputs that read it, of several rows of outputs, whose sums wait in a block. Weights are those of the
/// panel. Each output stays the same chain: its bias, then k in ascending order, taps outside being zeros.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/conv/conv_2d_layer.hpp>
#include <netsuke/kernels/conv/padded_patch.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

inline constexpr int max_few_outputs = 4;
/// Floats of a transposed strip, and of the sums of its outputs: they are on the stack.
inline constexpr int strip_floats = 3072, strip_sums = 1024;

/// Pixels of a line of a strip for `vectors` registers of outputs, with what the window needs beside them.
constexpr int strip_line(const window& w, int lanes, int vectors) {
  const int beside = (w.kernel_w - 1) * w.dilation_w;
  return (vectors + (beside + lanes - 1) / lanes) * lanes;
}
/// Whether a convolution is computed so: without a stride along rows, and of so few inputs that a strip holds them.
constexpr bool suits_few_outputs(const conv_2d_layer& l, const vector_registers& r) {
  const window& w = l.w;
  return l.direct && l.float32 && l.groups == 1 && l.output_channels <= max_few_outputs && w.stride_w == 1 &&
         w.dilation_w <= strip_floats && w.kernel_w <= strip_floats &&
         l.input_channels <= strip_floats / strip_line(w, r.lanes, 1);
}

/// Makes one row of the rows of an image, which then fill registers: of a window of one tap, where rows follow each
/// other in memory. Returns whether it did.
inline bool join_rows(conv_2d_args& a) {
  const window& w = a.w;
  const std::ptrdiff_t* const add = a.e.residual_stride;
  const int height = a.output.shape[1], width = a.output.shape[2];
  const auto follow = [&](const std::ptrdiff_t* stride) { return stride[1] == width * stride[2]; };
  const bool plain = w.kernel_h * w.kernel_w == 1 && w.stride_h * w.stride_w == 1 && w.pad_top == 0 && w.pad_left == 0;
  if (!plain || a.input.shape[1] != height || a.input.shape[2] != width) return false;
  if (!follow(a.input.stride) || !follow(a.output.stride) || (a.e.residual != nullptr && !follow(add))) return false;
  a.input.shape[1] = a.output.shape[1] = 1;
  a.input.shape[2] = a.output.shape[2] = height * width;
  return true;
}

/// Adds the products of `taps` taps side by side, `tap_stride` pixels apart, to Outputs lines of sums: lines of Vectors
/// registers, as is read of each line of the strip.
template <int Outputs, int Vectors>
NSK_ONE_COPY inline void add_taps(const float* strip, std::ptrdiff_t line, int channels, int taps, int tap_stride,
                                  const float* weights, float* sums) {
  using simd::f32, simd::unroll;
  f32 sum[Outputs][Vectors];
  const auto each = [&](auto f) NSK_INLINE_LAMBDA {
    unroll<Outputs>([&](auto o) NSK_INLINE_LAMBDA { unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA { f(o, v); }); });
  };
  each([&](auto o, auto v) NSK_INLINE_LAMBDA { sum[o][v] = simd::load(sums + (o * Vectors + v) * f32::lanes); });
  for (int tap = 0; tap < taps; ++tap) {
    const float* from = strip + tap * std::ptrdiff_t{tap_stride};
    for (int c = 0; c < channels; ++c, from += line, weights += panel_width / 2) {
      f32 a[Vectors];
      unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA { a[v] = simd::in_register(simd::load(from + v * f32::lanes)); });
      unroll<Outputs>([&](auto o) NSK_INLINE_LAMBDA {
        const f32 w = simd::broadcast(weights + o);
        unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA { sum[o][v] = simd::fma(a[v], w, sum[o][v]); });
      });
    }
  }
  each([&](auto o, auto v) NSK_INLINE_LAMBDA { simd::store(sums + (o * Vectors + v) * f32::lanes, sum[o][v]); });
}

/// Registers of the widest strips: their sums, a line of inputs and a weight fill the registers.
constexpr int widest_strip(int outputs) {
  return simd::f32::registers >= 32 || outputs <= 2 ? 4 : outputs == 3 ? 3 : 2;
}

/// Transposes the channels of pixels side by side, pixel i at place[i]: to lines `line` apart.
NSK_ONE_COPY inline void transpose_pixels(const float* const (&place)[simd::f32::lanes], int channels, float* to,
                                          std::ptrdiff_t line) {
  constexpr int lanes = simd::f32::lanes;
  for (int c = 0; c < channels; c += lanes) {
    const int some = channels - c < lanes ? channels - c : lanes;
    simd::f32 square[lanes];
    simd::unroll<lanes>([&](auto i) NSK_INLINE_LAMBDA {
      square[i] = some == lanes ? simd::load(place[i] + c) : simd::load_partial(place[i] + c, some);
    });
    simd::transpose(square);
    simd::unroll<lanes>([&](auto i) NSK_INLINE_LAMBDA {
      if (i < some) simd::store(to, square[i]);
      to += line;
    });
  }
}

/// Outputs side by side of some rows of an image, `vectors` registers of them.
struct output_strip {
  static constexpr int lanes = simd::f32::lanes;

  const conv_2d_args* a;
  const float* image;  ///< of the input
  pixel_block readable;
  int outputs, vectors, line;          ///< line: pixels of a line of the strip
  alignas(64) float sums[strip_sums];  ///< of each row, its outputs' lines
  alignas(64) float strip[strip_floats];

  int across() const { return vectors * lanes; }
  int max_rows() const { return strip_sums / (outputs * across()); }

  /// Fills the strip with pixels [x, x + line) of row y of the input; zeros where there is nothing to read.
  void transpose_row(int y, int x) {
    const pixel_block& r = readable;
    const int depth = a->input.shape[3];
    const float* const row = image + y * a->input.stride[1];
    for (int j = 0; j < line; j += lanes, x += lanes) {
      float* const to = strip + j;
      int first = x < r.x ? r.x - x : 0, last = r.x_end - x < lanes ? r.x_end - x : lanes;
      if (y < r.y || y >= r.y_end || first >= lanes || last <= 0) {
        for (int c = 0; c < depth; ++c) simd::store(to + c * std::ptrdiff_t{line}, simd::zero());
        continue;
      }
      const float* place[lanes];
      for (int i = 0; i < lanes; ++i)
        place[i] = row + (x + (i < first ? first : i < last ? i : last - 1)) * a->input.stride[2];
      transpose_pixels(place, depth, to, line);
      if (first > 0 || last < lanes)
        for (int c = 0; c < depth; ++c) {
          for (int i = 0; i < first; ++i) to[c * std::ptrdiff_t{line} + i] = 0;
          for (int i = last; i < lanes; ++i) to[c * std::ptrdiff_t{line} + i] = 0;
        }
    }
  }

  template <int Outputs>
  void add_row(const float* weights, float* to) const {
    const int depth = a->input.shape[3], taps = a->w.kernel_w, stride = a->w.dilation_w;
    if (vectors == widest_strip(Outputs))
      return add_taps<Outputs, widest_strip(Outputs)>(strip, line, depth, taps, stride, weights, to);
    if (vectors == 2) return add_taps<Outputs, 2>(strip, line, depth, taps, stride, weights, to);
    add_taps<Outputs, 1>(strip, line, depth, taps, stride, weights, to);
  }
  /// Adds what the strip gives to the outputs of one row.
  void add_row(const float* weights, float* to) const {
    if (outputs == 1) return add_row<1>(weights, to);
    if (outputs == 2) return add_row<2>(weights, to);
    if (outputs == 3) return add_row<3>(weights, to);
    add_row<4>(weights, to);
  }

  /// Computes the sums of rows [y, y_end) from output x on: row by row of the input, each with all that read it.
  void accumulate(int y, int y_end, int x) {
    const window& w = a->w;
    const float* weights = static_cast<const float*>(a->weights);
    float* sum = sums;
    for (int i = y; i < y_end; ++i)
      for (int o = 0; o < outputs; ++o)
        for (int v = 0; v < vectors; ++v, sum += lanes) simd::store(sum, simd::broadcast(weights + o));
    weights += panel_width / 2;
    const std::ptrdiff_t weights_of_row = std::ptrdiff_t{w.kernel_w} * a->input.shape[3] * (panel_width / 2);
    const int last = (y_end - 1 - y) * w.stride_h + (w.kernel_h - 1) * w.dilation_h;
    for (int i = 0; i <= last; ++i) {
      bool is_there = false;
      for (int tap = 0; tap < w.kernel_h && tap * w.dilation_h <= i; ++tap) {
        const int from = i - tap * w.dilation_h;
        if (from % w.stride_h != 0 || from / w.stride_h >= y_end - y) continue;
        if (!is_there) transpose_row(y * w.stride_h - w.pad_top + i, x - w.pad_left);
        is_there = true;
        add_row(weights + tap * weights_of_row, sums + from / w.stride_h * outputs * across());
      }
    }
  }

  /// Arranges the sums of a register of outputs, from pixel x of row `i` on, as the epilogue wants them: `width` floats
  /// for each pixel.
  void arrange(int i, int x, int width, float* block) const {
    const float* const from = sums + i * outputs * across() + x;
    for (int o = 0; o < outputs; ++o)
      for (int p = 0; p < lanes; ++p) block[p * width + o] = from[o * across() + p];
  }
};

/// What such a convolution is computed from.
template <class Kernels>
struct pixel_conv {
  const conv_2d_args* a;
  tile_epilogue<Kernels> e;
  pixel_block readable;

  explicit pixel_conv(const conv_2d_args& args)
      : a(&args), e(prepare<Kernels>(args.e, args.output.rank)), readable(readable_pixels(args.input)) {}
};

/// A block of outputs of one image in strips of `vectors` registers.
template <class Kernels>
NSK_ONE_COPY inline void convolve_strips(const pixel_conv<Kernels>& d, int image, int vectors, const pixel_block& b) {
  constexpr int width = simd::f32::lanes < 4 ? 4 : simd::f32::lanes;
  output_strip s;
  s.a = d.a;
  s.image = line_of(*d.a, image, 0).input;
  s.readable = d.readable;
  s.outputs = d.a->output.shape[3];
  s.vectors = vectors;
  s.line = strip_line(d.a->w, s.lanes, vectors);
  const int rows = s.max_rows(), across = s.across();
  for (int y = b.y; y < b.y_end; y += rows)
    for (int x = b.x; x < b.x_end; x += across) {
      const int y_end = y + rows < b.y_end ? y + rows : b.y_end, count = x + across < b.x_end ? across : b.x_end - x;
      s.accumulate(y, y_end, x);
      for (int i = y; i < y_end; ++i)
        for (int j = 0; j < count; j += s.lanes) {
          alignas(64) float block[simd::f32::lanes * width];
          const int some = count - j < s.lanes ? count - j : s.lanes;
          s.arrange(i - y, j, width, block);
          gemm_row_list list;
          list.push(line_of(*d.a, image, i).from(x + j), some);
          finish_block(block, some, width, d.e, list.row, 0, s.outputs);
        }
    }
}

/// A block of outputs of one image: strips of the widest kind, where they fit the stack. One more of these, used in
/// part, takes a rest of more than two registers of pixels; strips of 2 or 1 registers take what is left, if anything
/// is.
template <class Kernels>
NSK_ONE_COPY inline void convolve_few_outputs(const pixel_conv<Kernels>& d, int image, pixel_block b) {
  constexpr int lanes = simd::f32::lanes;
  const auto fits = [&](int vectors) {
    return strip_line(d.a->w, lanes, vectors) * d.a->input.shape[3] <= strip_floats;
  };
  const int widest = widest_strip(d.a->output.shape[3]), wide = widest * lanes;
  if (fits(widest)) {
    const int strips = b.across() / wide + (b.across() % wide > 2 * lanes ? 1 : 0);
    pixel_block part = b;
    if (strips * wide < b.across()) part.x_end = b.x + strips * wide;
    convolve_strips(d, image, widest, part);
    b.x = part.x_end;
  }
  convolve_strips(d, image, b.across() > lanes && fits(2) ? 2 : 1, b);
}

/// A tile of a convolution of few output channels. Where join_rows() makes one long row of the rows of an image, rows
/// [y, y_end) of the tile are a run of its pixels.
template <class Kernels>
NSK_ONE_COPY inline void convolve_few_outputs(const conv_2d_args& a, const tile_range& t) {
  Kernels::took(fast_path::few_outputs);
  conv_2d_args all = a;
  const bool whole = t.pixel_end - t.pixel_begin == a.output.shape[2];
  const bool joined = whole && join_rows(all);
  const int width = t.pixel_end;
  const pixel_conv<Kernels> d(all);
  for_images(t, a.output.shape[1], [&](int image, int y, int y_end) {
    const pixel_block in_rows{y, y_end, t.pixel_begin, t.pixel_end}, in_one{0, 1, y * width, y_end * width};
    convolve_few_outputs(d, image, joined ? in_one : in_rows);
  });
}

}
}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
