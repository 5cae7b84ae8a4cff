// SPDX-License-Identifier: MIT
#pragma once
/// 2-D convolution of stored integers whose zero point is known at run time, as sums or as real numbers.
///
/// acc = sum of a * w - zero * sum of w, in int32, exact and in any order. A real number is float32(acc) * (scale *
/// panel scale) + bias; the product of the scales, the conversion, the product and the addition round once each. Then
/// comes the epilogue.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <netsuke/kernels/int8/dynamic_quantize.hpp>
#include <netsuke/kernels/epilogue.hpp>
#include <netsuke/kernels/elements/fill.hpp>
#include <netsuke/kernels/int8/quantized_conv_2d.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// Windows, weights and scratch are those of quantized_conv_2d; panels have the sums of weights in place of biases.
struct integer_conv_2d_args : integer_conv_2d_params {
  quad_products products = quad_products::exact;
  tensor_view input, output;  ///< bytes; int32, or with `real` float32
  const std::byte* weights;
  const float* zero;
  const float *scale = nullptr, *bias = nullptr;  ///< one number, and one for each channel: with `real` alone
  epilogue e;
};

namespace impl {

/// What sums of a part of a panel begin with, and what makes numbers of them. Columns behind the last one are 0.
struct number_columns {
  std::int32_t first[panel_width] = {};
  float scale[panel_width] = {}, bias[panel_width] = {};
};

/// Sums of at most 16 columns.
template <class Support>
inline void sums_of_columns(int count, const quad_runs& runs, const quad_panel& p, quad_products products,
                            const quad_row* row) {
  quad_store store{};
  store.sums = true;
  if (products == quad_products::at_once) return quad_panel_rows<dot4_native>(count, runs, p, row, store);
  if (products == quad_products::safe || !Support::unsafe)
    return quad_panel_rows<dot4_narrow>(count, runs, p, row, store);
  if constexpr (Support::unsafe) quad_panel_rows<exact_quads>(count, runs, p, row, store);
}
/// Makes numbers of a line of sums, in place: float32(sum) * scale + bias, each operation rounded.
NSK_ONE_COPY inline void numbers_of_sums(std::byte* line, int width, const number_columns& n) {
  using simd::f32;
  for (int i = 0; i < width; i += f32::lanes) {
    const f32 sum = simd::to_f32(simd::load_i32(reinterpret_cast<const std::int32_t*>(line) + i));
    simd::store(reinterpret_cast<float*>(line) + i,
                simd::add(simd::mul(sum, simd::load(n.scale + i)), simd::load(n.bias + i)));
  }
}

/// What rows of windows are multiplied and stored by, in the place of stored_products.
template <class Kernels, class Support>
struct number_products {
  const integer_conv_2d_args* a;
  std::int32_t zero;
  tile_epilogue<Kernels> e;

  void operator()(const quantized_conv& c, const quad_runs& runs, quad_row_list& list) const {
    for (int i = 0; i < list.count; i += block_rows) {
      const int left = list.count - i;
      multiply(c, runs, list.row + i, left < block_rows ? left : block_rows);
    }
    list.count = 0;
  }

 private:
  static constexpr int block_rows = 48;

  number_columns columns_of(const quad_panel& p) const {
    number_columns n;
    for (int i = 0; i < p.columns; ++i) {  // products of unsigned numbers wrap around
      const auto sum = static_cast<std::uint32_t>(reinterpret_cast<const std::int32_t*>(p.bias)[i]);
      n.first[i] = static_cast<std::int32_t>(0u - static_cast<std::uint32_t>(zero) * sum);
      if (!a->real) continue;
      n.scale[i] = *a->scale * reinterpret_cast<const float*>(p.scale)[i];
      n.bias[i] = a->bias[p.channel + i];
    }
    return n;
  }

  /// At most block_rows rows.
  NSK_ONE_COPY void multiply(const quantized_conv& c, const quad_runs& runs, const quad_row* row, int count) const {
    const int panels = static_cast<int>(panel_count(c.weights.channels)), first = c.weights.first_channel;
    int index = c.channel_begin > first ? (c.channel_begin - first) / panel_width : 0;
    for (index = index < panels ? index : panels - 1; index < panels; ++index) {
      const quad_panel all = quad_panel_part(c.weights, index, c.channel_begin, c.channel_end);
      for (int done = 0; done < all.columns; done += panel_width)
        multiply_columns(c.weights.products, runs, sixteen_columns(all, done), row, count);
    }
  }
  void multiply_columns(quad_products products, const quad_runs& runs, quad_panel p, const quad_row* row,
                        int count) const {
    constexpr int lanes = simd::f32::lanes, whole = (panel_width + lanes - 1) / lanes,
                  half = (panel_width / 2 + lanes - 1) / lanes;
    const number_columns n = columns_of(p);
    p.bias = reinterpret_cast<const std::byte*>(n.first);
    p.scale = reinterpret_cast<const std::byte*>(n.scale);
    const bool wide = p.columns > panel_width / 2;
    const int width = (wide ? whole : half) * lanes;
    alignas(64) std::byte block[block_rows * panel_width * 4];
    quad_row line[block_rows];
    for (int r = 0; r < count; ++r)
      line[r] = {row[r].input, reinterpret_cast<std::uint8_t*>(block) + std::ptrdiff_t{4} * r * width, nullptr, 0};
    sums_of_columns<Support>(count, runs, p, products, line);
    for (int r = 0; a->real && r < count; ++r) numbers_of_sums(block + std::ptrdiff_t{4} * r * width, width, n);
    finish(block, count, width, row, p);
  }
  void finish(std::byte* block, int count, int width, const quad_row* row, const quad_panel& p) const {
    if (!a->real) {
      for (int r = 0; r < count; ++r)
        std::memcpy(row[r].output + std::ptrdiff_t{4} * p.channel, block + std::ptrdiff_t{4} * r * width,
                    4 * static_cast<std::size_t>(p.columns));
      return;
    }
    tile_row to[block_rows];
    for (int r = 0; r < count; ++r)
      to[r] = {nullptr, reinterpret_cast<float*>(row[r].output), reinterpret_cast<const float*>(row[r].residual)};
    finish_block(reinterpret_cast<float*>(block), count, width, e, to, p.channel, p.columns);
  }
};

/// The view as the convolution of bytes counts it.
inline tensor_view by_bytes(tensor_view v) {
  for (int d = 0; d < v.rank; ++d) v.stride[d] *= 4;
  return v;
}

}

/// Convolves one tile.
template <class Kernels, class Support = quad_support<>>
inline void integer_conv_2d(const integer_conv_2d_args& a, const tile_range& t, std::byte* scratch) {
  quantized_conv_2d_args bytes{};
  bytes.w = a.w;
  bytes.groups = a.groups;
  bytes.whole_rows = a.whole_rows;
  bytes.input_zero = impl::zero_of_bytes(a.zero);
  bytes.products = a.products;
  bytes.input = a.input;
  bytes.output = impl::by_bytes(a.output);
  bytes.weights = a.weights;
  if (a.e.residual != nullptr) {
    bytes.residual_scale = 1;
    tensor_view residual = a.output;
    residual.data = reinterpret_cast<std::byte*>(const_cast<float*>(a.e.residual));
    for (int d = 0; d < residual.rank; ++d) residual.stride[d] = a.e.residual_stride[d];
    bytes.residual = impl::by_bytes(residual);
  }
  const impl::number_products<Kernels, Support> products{&a, bytes.input_zero, prepare<Kernels>(a.e, a.output.rank)};
  impl::convolve_groups(bytes, t, scratch, products);
  impl::fill_typed_border(a.output, t);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
