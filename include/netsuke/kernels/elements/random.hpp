// SPDX-License-Identifier: MIT
#pragma once
/// Random numbers: each element's own function of seed, run, stream, row and place in the row, so that neither tiles
/// nor lanes nor the size of a batch change it.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/elements/fill.hpp>
#include <netsuke/kernels/elements/element_lines.hpp>
#include <netsuke/kernels/elements/philox.hpp>
#include <netsuke/math/functions.hpp>
#define NSK_REGION_COMPACT
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// output = offset + scale * z, z random: kernels/elements/random.hpp. Rows are indices of dimension 0; float32.
struct random_args : random_params {
  tensor_view output;
  random_source source;
};

namespace impl {

/// Elements that are sampled together.
inline constexpr std::ptrdiff_t random_block = 64;

/// sin(2 pi c) for c in [-1/4, 1/4], to 2e-7: Taylor's series as far as c^13; the next term is below 7e-10.
NSK_INLINE simd::f32 sine_of_turn(simd::f32 c) {
  constexpr float coefficients[] = {3.8199525848482803f, -15.094642576822984f, 42.05869394489765f, -76.70585975306136f,
                                    81.60524927607504f,  -41.341702240399755f, 6.283185307179586f};
  const simd::f32 y = simd::mul(c, c);
  simd::f32 p = simd::splat(coefficients[0]);
  for (int i = 1; i < 7; ++i) p = simd::fma(p, y, simd::splat(coefficients[i]));
  return simd::mul(p, c);
}

/// sqrt(-2 log u) cos(2 pi t): a normal number from u in (0, 1] and t, uniform (Box and Muller, 1958). All reductions
/// of t are exact.
NSK_INLINE simd::f32 normal_of(simd::f32 u, simd::f32 t) {
  const simd::f32 turn = simd::abs(simd::sub(t, simd::round_even(t)));
  const simd::f32 length = simd::sqrt(simd::max(simd::mul(simd::splat(-2), math::log(u)), simd::zero()));
  return simd::mul(length, sine_of_turn(simd::sub(simd::splat(0.25f), turn)));
}

NSK_INLINE simd::f32 gumbel_of(simd::f32 u) { return simd::neg(math::log(simd::neg(math::log(u)))); }

/// Walks along a line of elements and samples their uniform numbers.
class random_walk {
 public:
  random_walk(const random_args& a, std::ptrdiff_t per_row, std::ptrdiff_t first, std::ptrdiff_t stride)
      : m_args(a),
        m_per_row(per_row),
        m_row(first / per_row),
        m_column(first % per_row),
        m_row_stride(stride / per_row),
        m_column_stride(stride % per_row) {}

  /// Sets u and, for normal numbers, t of `count` elements.
  void sample(float* u, float* t, std::ptrdiff_t count) {
    constexpr float unit = 1.0f / 16777216;  // 2^-24
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      fetch();
      const auto lane = static_cast<unsigned>(m_column & 3);
      const std::uint32_t word = m_block.word[lane], left = m_block.word[lane & 2u], right = m_block.word[lane | 1u];
      switch (m_args.kind) {
        case random_kind::uniform: u[i] = static_cast<float>(word >> 8) * unit; break;
        case random_kind::normal:  // the cosine for even columns, the sine of the same two words for odd ones
          u[i] = static_cast<float>((left >> 8) + 1) * unit;
          t[i] = static_cast<float>(right >> 8) * unit - (lane & 1u ? 0.25f : 0.0f);
          break;
        case random_kind::gumbel: u[i] = static_cast<float>((word >> 9) * 2 + 1) * unit; break;
      }
      advance();
    }
  }

 private:
  void fetch() {
    const std::ptrdiff_t group = m_column / 4;
    if (m_row == m_block_row && group == m_block_group) return;
    m_block_row = m_row;
    m_block_group = group;
    m_block = philox({{static_cast<std::uint32_t>(group), m_args.source.first_row + static_cast<std::uint32_t>(m_row),
                       m_args.stream, m_args.source.run}},
                     m_args.source.key);
  }
  void advance() {
    m_row += m_row_stride;
    m_column += m_column_stride;
    if (m_column < m_per_row) return;
    m_column -= m_per_row;
    ++m_row;
  }

  const random_args& m_args;
  std::ptrdiff_t m_per_row, m_row, m_column, m_row_stride, m_column_stride, m_block_row = -1, m_block_group = -1;
  philox_block m_block{};
};

/// offset + scale * z for `count` elements of a block, in place of u.
inline void finish_random_block(const random_args& a, float* u, const float* t, std::ptrdiff_t count) {
  const simd::f32 scale = simd::splat(a.scale), offset = simd::splat(a.offset);
  for (std::ptrdiff_t i = 0; i < count; i += simd::f32::lanes) {
    simd::f32 z = simd::load(u + i);
    if (a.kind == random_kind::normal) z = normal_of(z, simd::load(t + i));
    if (a.kind == random_kind::gumbel) z = gumbel_of(z);
    simd::store(u + i, simd::fma(scale, z, offset));
  }
}

inline void random_line(const random_args& a, std::ptrdiff_t per_row, const element_line<2>& l) {
  alignas(64) float u[random_block] = {}, t[random_block] = {};
  random_walk walk(a, per_row, l.at[1], l.stride[1]);
  for (std::ptrdiff_t i = 0; i < l.count; i += random_block) {
    const std::ptrdiff_t n = l.count - i < random_block ? l.count - i : random_block;
    walk.sample(u, t, n);
    finish_random_block(a, u, t, n);
    for (std::ptrdiff_t k = 0; k < n; ++k) put_element(a.output.data, l.at[0] + (i + k) * l.stride[0], u[k]);
  }
}

}

/// output = offset + scale * z with z as schema/netsuke.fbs says of the kind. Elements are counted in the order of the
/// output's dimensions, whatever its strides; a row is one index of dimension 0.
template <class = void>
inline void random(const random_args& a, const tile_range& t, std::byte*) {
  std::ptrdiff_t place[max_rank] = {}, elements = 1;
  for (int d = a.output.rank; d-- > 0;) {
    place[d] = elements;
    elements *= a.output.shape[d];
  }
  const std::ptrdiff_t* strides[] = {a.output.stride, place};
  const std::ptrdiff_t per_row = elements / a.output.shape[0];
  impl::for_each_line(a.output, strides, t, [&](const impl::element_line<2>& l) { impl::random_line(a, per_row, l); });
  impl::fill_typed_border(a.output, t);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
