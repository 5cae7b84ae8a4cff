// SPDX-License-Identifier: MIT
#pragma once
/// Softmax and its logarithm along one dimension.
///
/// Order of operations: e = exp(x - max), s = sum of e, y = e * (1 / s); the logarithm is (x - max) - log(s). Where no
/// dimension after the axis is longer than 1, position i belongs to partial maximum and sum i mod 16
/// (simd/generic.hpp); else both are one chain.
#include <netsuke/core/hide_macros.hpp>
#include <limits>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/border.hpp>
#include <netsuke/kernels/elements/loop_nest.hpp>
#include <netsuke/kernels/lines/lanes.hpp>
#include <netsuke/math/functions.hpp>
#include <netsuke/simd/lockstep.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// exp(x - max) / sum, or its logarithm, along dimension `axis`. A tile holds whole lines along the axis.
struct softmax_args : softmax_params {
  tensor_view input, output;
};

namespace impl {

/// A line along the axis, or as many neighbouring lines as there are lanes.
struct softmax_line {
  const float* from;
  float* to;
  std::ptrdiff_t count, from_stride, to_stride;  ///< along the axis
  bool log;
  std::ptrdiff_t ahead = 0;  ///< to the line that is computed next, which is prefetched; 0 where there is none
};

/// Lines along the axis that are computed at once.
inline constexpr int softmax_lines = 4;

/// Those whose powers are computed in lockstep: in at most eight registers.
inline constexpr int softmax_lines_in_lockstep = simd::f32x16::parts > 8 ? 1 : 8 / simd::f32x16::parts;

/// Lines along the axis, from_next and to_next apart; position i in lane i mod 16. Stride is 1, or 0 for any strides.
template <int Stride>
struct softmax_block {
  const softmax_line& l;
  std::ptrdiff_t from_next, to_next;

  NSK_INLINE std::ptrdiff_t place(int line, std::ptrdiff_t i) const {
    return line * from_next + i * (Stride == 1 ? 1 : l.from_stride);
  }
  NSK_INLINE simd::f32x16 read(int line, std::ptrdiff_t i, std::ptrdiff_t n) const {
    constexpr float lowest = -std::numeric_limits<float>::infinity();
    return load_sixteen(l.from + place(line, i), Stride == 1 ? 1 : l.from_stride, n, lowest);
  }
  NSK_INLINE float* result(int line, std::ptrdiff_t i) const {
    return l.to + line * to_next + i * (Stride == 1 ? 1 : l.to_stride);
  }
  NSK_INLINE simd::f32x16 read_result(int line, std::ptrdiff_t i) const {
    return load_sixteen(result(line, i), Stride == 1 ? 1 : l.to_stride, 16, 0);
  }
  NSK_INLINE void write(int line, std::ptrdiff_t i, std::ptrdiff_t n, const simd::f32x16& x) const {
    store_sixteen(result(line, i), Stride == 1 ? 1 : l.to_stride, n, x);
  }
  /// Calls f(line, i, n) for the blocks of up to 16 positions of all lines.
  template <int Lines, class F>
  NSK_INLINE void each(F f) const {
    for_sixteens(l.count, [&](std::ptrdiff_t i, auto n) NSK_INLINE_LAMBDA {
      simd::unroll<Lines>([&](auto line) NSK_INLINE_LAMBDA { f(line, i, n); });
    });
  }
};

/// The largest number of each line.
template <int Lines, int Stride>
NSK_INLINE void find_maxima(const softmax_block<Stride>& b, simd::f32 (&top)[Lines]) {
  using simd::f32;
  simd::f32x16 maximum[Lines];
  simd::unroll<Lines>(
      [&](auto line) NSK_INLINE_LAMBDA { maximum[line] = simd::splat16(-std::numeric_limits<float>::infinity()); });
  b.template each<Lines>([&](int line, std::ptrdiff_t i, std::ptrdiff_t n) NSK_INLINE_LAMBDA {
    maximum[line] =
        map_sixteen(b.read(line, i, n), maximum[line], [](f32 x, f32 m) NSK_INLINE_LAMBDA { return simd::max(x, m); });
  });
  simd::unroll<Lines>([&](auto line) NSK_INLINE_LAMBDA { top[line] = simd::splat(simd::max16(maximum[line])); });
}

/// The logarithm of softmax, of one line.
template <int Stride>
NSK_INLINE void log_softmax_along(const softmax_block<Stride>& b, simd::f32 top) {
  using simd::f32;
  simd::f32x16 sum = simd::splat16(0);
  const std::ptrdiff_t count = b.l.count;
  for (std::ptrdiff_t i = 0; i < count; i += 16)
    sum = map_sixteen(sum, b.read(0, i, count - i), [&](f32 s, f32 x) NSK_INLINE_LAMBDA {
      return simd::add(s, math::exp_negative(simd::sub(x, top)));
    });
  const f32 logarithm = math::log(simd::splat(simd::sum16(sum)));
  for (std::ptrdiff_t i = 0; i < count; i += 16)
    b.write(0, i, count - i, map_sixteen(b.read(0, i, count - i), [&](f32 x) NSK_INLINE_LAMBDA {
              return simd::sub(simd::sub(x, top), logarithm);
            }));
}

/// `Lines` lines at once, whose chains of operations hide each other's latency: dense ones, and no logarithms; or one.
template <int Lines>
NSK_ONE_COPY inline void softmax_along(const softmax_line& l, std::ptrdiff_t from_next, std::ptrdiff_t to_next) {
  using simd::f32;
  using simd::f32x16;
  constexpr int parts = f32x16::parts, some = softmax_lines_in_lockstep < Lines ? softmax_lines_in_lockstep : Lines;
  const softmax_block<Lines == 1 ? 0 : 1> b{l, from_next, to_next};
  f32 top[Lines], scale[Lines];
  find_maxima(b, top);
  if constexpr (Lines == 1)
    if (l.log) return log_softmax_along(b, top[0]);
  f32x16 sum[Lines], last[Lines];  // what fills no block of 16 stays in registers
  simd::unroll<Lines>([&](auto line) NSK_INLINE_LAMBDA { sum[line] = last[line] = simd::splat16(0); });
  for_sixteens(l.count, [&](std::ptrdiff_t i, auto n) NSK_INLINE_LAMBDA {
    simd::unroll<Lines / some>([&](auto block) NSK_INLINE_LAMBDA {
      f32 x[some * parts];
      simd::unroll<some>([&](auto k) NSK_INLINE_LAMBDA {
        constexpr int line = block * some + k;
        simd::prefetch(l.from + l.ahead + b.place(line, i));
        const f32x16 all = b.read(line, i, n);
        simd::unroll<parts>([&](auto p) NSK_INLINE_LAMBDA { x[k * parts + p] = simd::sub(all.part[p], top[line]); });
      });
      simd::map_in_lockstep(x, [](const auto& y) NSK_INLINE_LAMBDA { return math::exp_negative(y); });
      simd::unroll<some>([&](auto k) NSK_INLINE_LAMBDA {
        constexpr int line = block * some + k;
        simd::unroll<parts>([&](auto p) NSK_INLINE_LAMBDA { last[line].part[p] = x[k * parts + p]; });
        sum[line] = map_sixteen(sum[line], last[line], [](f32 s, f32 a) NSK_INLINE_LAMBDA { return simd::add(s, a); });
        if (n == 16) b.write(line, i, n, last[line]);
      });
    });
  });
  simd::unroll<Lines>([&](auto line) NSK_INLINE_LAMBDA { scale[line] = simd::splat(1 / simd::sum16(sum[line])); });
  b.template each<Lines>([&](int line, std::ptrdiff_t i, std::ptrdiff_t n) NSK_INLINE_LAMBDA {
    const f32x16 e = n == 16 ? b.read_result(line, i) : last[line];
    b.write(line, i, n, map_sixteen(e, [&](f32 a) NSK_INLINE_LAMBDA { return simd::mul(a, scale[line]); }));
  });
}

/// Computes the next softmax_lines lines where all are dense and there are as many, else one; returns how many.
inline int softmax_next_lines(softmax_line& l, std::ptrdiff_t lines_left, std::ptrdiff_t from_next,
                              std::ptrdiff_t to_next) {
  if (l.from_stride == 1 && l.to_stride == 1 && !l.log && lines_left >= softmax_lines) {
    l.ahead = lines_left >= 2 * softmax_lines ? softmax_lines * from_next : 0;
    softmax_along<softmax_lines>(l, from_next, to_next);
    return softmax_lines;
  }
  softmax_along<1>(l, 0, 0);
  return 1;
}

/// load_lanes and store_lanes, of which softmax needs many.
NSK_ONE_COPY inline simd::f32 load_lines(const float* p, std::ptrdiff_t stride, std::ptrdiff_t lines) {
  return load_lanes(p, stride, lines);
}
NSK_ONE_COPY inline void store_lines(float* p, std::ptrdiff_t stride, std::ptrdiff_t lines, simd::f32 x) {
  store_lanes(p, stride, lines, x);
}

/// `Vectors` vectors of lines side by side, no logarithms, or `lines` of them where Vectors is 1; from_next and to_next
/// are the distances of lines.
template <int Vectors>
inline void softmax_across(const softmax_line& l, std::ptrdiff_t lines, std::ptrdiff_t from_next,
                           std::ptrdiff_t to_next) {
  using simd::f32;
  const bool log = Vectors == 1 && l.log;
  f32 maximum[Vectors], sum[Vectors];
  const auto load = [&](std::ptrdiff_t i, int v) NSK_INLINE_LAMBDA {
    const float* p = l.from + i * l.from_stride + v * f32::lanes * from_next;
    return Vectors > 1 ? simd::load(p) : load_lines(p, from_next, lines);
  };
  const auto store = [&](std::ptrdiff_t i, int v, f32 x) NSK_INLINE_LAMBDA {
    float* p = l.to + i * l.to_stride + v * f32::lanes * to_next;
    if constexpr (Vectors > 1)
      simd::store(p, x);
    else
      store_lines(p, to_next, lines, x);
  };
  simd::unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA {
    maximum[v] = simd::splat(-std::numeric_limits<float>::infinity());
    sum[v] = simd::zero();
  });
  for (std::ptrdiff_t i = 0; i < l.count; ++i)
    simd::unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA { maximum[v] = simd::max(load(i, v), maximum[v]); });
  for (std::ptrdiff_t i = 0; i < l.count; ++i)
    simd::unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA {
      const f32 e = math::exp_negative(simd::sub(load(i, v), maximum[v]));
      sum[v] = simd::add(sum[v], e);
      if (!log) store(i, v, e);
    });
  simd::unroll<Vectors>(
      [&](auto v) NSK_INLINE_LAMBDA { sum[v] = log ? math::log(sum[v]) : simd::div(simd::splat(1), sum[v]); });
  for (std::ptrdiff_t i = 0; i < l.count; ++i)
    simd::unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA {
      if (log) {
        store(i, v, simd::sub(simd::sub(load(i, v), maximum[v]), sum[v]));
      } else {
        const float* p = l.to + i * l.to_stride + v * f32::lanes * to_next;
        store(i, v, simd::mul(Vectors > 1 ? simd::load(p) : load_lines(p, to_next, lines), sum[v]));
      }
    });
}

/// Maximum number of positions of a line that shares its registers with others.
inline constexpr int softmax_few = 4;

/// What softmax_along does with lines of at most softmax_few positions, as many of them at once as there are lanes:
/// where lines are short, most lanes would be empty. Partial sums are those of the positions; the upper half of four is
/// added to the lower, then of two.
inline void softmax_short(const softmax_line& l, std::ptrdiff_t lines, std::ptrdiff_t from_next,
                          std::ptrdiff_t to_next) {
  using simd::f32;
  const int count = static_cast<int>(l.count);
  f32 x[softmax_few], part[softmax_few];
  f32 top = simd::splat(-std::numeric_limits<float>::infinity());
  for (int i = 0; i < count; ++i) {
    x[i] = load_lines(l.from + i * l.from_stride, from_next, lines);
    top = simd::max(x[i], top);
  }
  for (int i = 0; i < count; ++i) {
    x[i] = simd::sub(x[i], top);
    part[i] = math::exp_negative(x[i]);
    if (!l.log) x[i] = part[i];
  }
  for (int half = softmax_few / 2; half > 0; half /= 2)
    for (int i = 0; i < half && i + half < count; ++i) part[i] = simd::add(part[i], part[i + half]);
  const f32 scale = l.log ? math::log(part[0]) : simd::div(simd::splat(1), part[0]);
  for (int i = 0; i < count; ++i)
    store_lines(l.to + i * l.to_stride, to_next, lines, l.log ? simd::sub(x[i], scale) : simd::mul(x[i], scale));
}

/// How the lines of a tile are computed: several short ones in one register, one after the other, or side by side.
enum class softmax_route { short_lines, along, across, across_neighbours };

/// Returns the route of lines `inner` apart. `is_last`: no dimension inside of the axis has neighbours.
inline softmax_route route_of(const softmax_args& a, bool is_last, const loop<2>& inner) {
  if (is_last)
    return a.output.shape[a.axis] <= softmax_few && inner.length > 1 ? softmax_route::short_lines
                                                                     : softmax_route::along;
  return !a.log && inner.stride[0] == 1 && inner.stride[1] == 1 ? softmax_route::across_neighbours
                                                                : softmax_route::across;
}

/// Computes `lines` lines from `l` on, from_next and to_next apart.
inline void softmax_by(softmax_route route, softmax_line l, std::ptrdiff_t lines, std::ptrdiff_t from_next,
                       std::ptrdiff_t to_next) {
  constexpr std::ptrdiff_t lanes = simd::f32::lanes;
  for (std::ptrdiff_t done; lines > 0; lines -= done, l.from += done * from_next, l.to += done * to_next) {
    done = lanes;
    if (route == softmax_route::short_lines)
      softmax_short(l, lines, from_next, to_next);
    else if (route == softmax_route::along)
      done = softmax_next_lines(l, lines, from_next, to_next);
    else if (route == softmax_route::across_neighbours && lines >= 4 * lanes)
      softmax_across<4>(l, done = 4 * lanes, 1, 1);
    else
      softmax_across<1>(l, lines, from_next, to_next);
  }
}

}

/// Computes the lines of one tile, which holds them whole. Any strides; the output may be the input.
inline void softmax(const softmax_args& a, const tile_range& t, std::byte*) {
  std::int32_t shape[max_rank];
  bool is_last = true;
  for (int d = 0; d < a.output.rank; ++d) {
    shape[d] = d == a.axis ? 1 : a.output.shape[d];
    if (d > a.axis && shape[d] > 1) is_last = false;
  }
  const std::ptrdiff_t* strides[2] = {a.output.stride, a.input.stride};
  const tile_range lines = impl::without_axis(a.output, a.axis, t);
  impl::for_each_nest(shape, a.output.rank, strides, lines, [&](const impl::loop_nest<2>& b) {
    const impl::loop<2>& inner = b.of[2];
    const impl::softmax_route route = impl::route_of(a, is_last, inner);
    for (std::ptrdiff_t i = 0; i < b.of[0].length; ++i)
      for (std::ptrdiff_t j = 0; j < b.of[1].length; ++j) {
        const auto at = [&](int o) { return b.offset[o] + i * b.of[0].stride[o] + j * b.of[1].stride[o]; };
        const impl::softmax_line l{a.input.as<float>() + at(1), a.output.as<float>() + at(0), a.output.shape[a.axis],
                                   a.input.stride[a.axis],      a.output.stride[a.axis],      a.log};
        impl::softmax_by(route, l, inner.length, inner.stride[1], inner.stride[0]);
      }
  });
  fill_border(a.output, t);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
