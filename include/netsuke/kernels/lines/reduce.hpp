// SPDX-License-Identifier: MIT
#pragma once
/// Reductions over any set of dimensions.
///
/// The order of operations depends on shapes alone. Where the last dimension longer than 1 is kept, each output is made
/// of chains of 64 elements in row-major order of what is reduced, joined in that order: one chain would lose the last
/// digits of a large image's mean. Where it is reduced, position i along it belongs to partial result i mod 16, lines
/// follow in row-major order, chains are 64 sixteens, and the partials are folded as simd/generic.hpp says. A mean is
/// the sum divided by the number of elements.
#include <netsuke/core/hide_macros.hpp>
#include <limits>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/border.hpp>
#include <netsuke/kernels/lines/lanes.hpp>
#include <netsuke/kernels/elements/pointwise.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// Reduction over the axes in which the output's length is 1 and the input's is not. Equal rank.
struct reduce_args : reduce_params {
  tensor_view input, output;
  epilogue e;
};

namespace impl {

struct reduce_sum {
  static constexpr float start = 0;
  static NSK_INLINE f32 combine(f32 sum, f32 x) { return simd::add(sum, x); }
  static NSK_INLINE f32 join(f32 sum, f32 chain) { return simd::add(sum, chain); }
  static NSK_INLINE float fold(const simd::f32x16& x) { return simd::sum16(x); }
};
struct reduce_sum_square : reduce_sum {
  static NSK_INLINE f32 combine(f32 sum, f32 x) { return simd::fma(x, x, sum); }
};
struct reduce_prod {
  static constexpr float start = 1;
  static NSK_INLINE f32 combine(f32 product, f32 x) { return simd::mul(product, x); }
  static NSK_INLINE f32 join(f32 product, f32 chain) { return simd::mul(product, chain); }
  static NSK_INLINE float fold(const simd::f32x16& x) { return simd::product16(x); }
};
struct reduce_max {
  static constexpr float start = -std::numeric_limits<float>::infinity();
  static NSK_INLINE f32 combine(f32 maximum, f32 x) { return simd::max(x, maximum); }
  static NSK_INLINE f32 join(f32 maximum, f32 chain) { return combine(maximum, chain); }
  static NSK_INLINE float fold(const simd::f32x16& x) { return simd::max16(x); }
};
struct reduce_min {
  static constexpr float start = std::numeric_limits<float>::infinity();
  static NSK_INLINE f32 combine(f32 minimum, f32 x) { return simd::min(x, minimum); }
  static NSK_INLINE f32 join(f32 minimum, f32 chain) { return combine(minimum, chain); }
  static NSK_INLINE float fold(const simd::f32x16& x) { return simd::min16(x); }
};

/// The loops over what is reduced, outer to inner; at least one. `along`: lanes run along the last of them.
struct reduce_loops {
  loop<1> of[max_rank];
  int count = 0;
  bool along = false;
  float divisor = 1;
};

inline reduce_loops loops_of(const reduce_args& a) {
  reduce_loops r;
  std::ptrdiff_t elements = 1;
  for (int d = 0; d < a.input.rank; ++d) {
    if (a.input.shape[d] == 1) continue;
    r.along = a.output.shape[d] == 1;
    if (!r.along) continue;
    elements *= a.input.shape[d];
    loop<1> l;
    l.length = a.input.shape[d];
    l.stride[0] = a.input.stride[d];
    r.of[r.count++] = l;
  }
  if (r.count == 0) r.of[r.count++] = {};
  // Loops that meet in memory may be joined, except with the one that lanes run along: there, it would move the
  // partials.
  int kept = 0;
  const int free = r.along ? r.count - 1 : r.count;
  for (int i = 0; i < free; ++i) kept = nest(r.of, kept, loop<1>(r.of[i]));
  if (r.along) r.of[kept++] = loop<1>(r.of[r.count - 1]);
  if (kept == 0) r.of[kept++] = {};
  r.count = kept;
  if (a.kind == reduce_kind::mean) r.divisor = static_cast<float>(elements);
  return r;
}

/// Calls f(line) for the first element of every line along the last loop, in row-major order; for none where nothing is
/// reduced.
template <class F>
NSK_INLINE void for_each_reduced_line(const reduce_loops& r, const float* p, F f) {
  std::ptrdiff_t index[max_rank] = {};
  for (int d = 0; d < r.count - 1; ++d) {
    if (r.of[d].length == 0) return;
  }
  for (;;) {
    f(p);
    int d = r.count - 2;
    for (; d >= 0; --d) {
      p += r.of[d].stride[0];
      if (++index[d] < r.of[d].length) break;
      p -= r.of[d].stride[0] * r.of[d].length;
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

inline constexpr std::ptrdiff_t chain_length = 64;

/// Calls f(element) for what is reduced, in row-major order, and join() after every chain but the last.
template <class F, class J>
NSK_INLINE void for_each_chain(const reduce_loops& r, const float* p, F f, J join) {
  const loop<1>& inner = r.of[r.count - 1];
  std::ptrdiff_t left = chain_length;
  for_each_reduced_line(r, p, [&](const float* line) NSK_INLINE_LAMBDA {
    for (std::ptrdiff_t i = 0; i < inner.length;) {
      if (left == 0) {
        join();
        left = chain_length;
      }
      const std::ptrdiff_t stop = inner.length - i < left ? inner.length : i + left;
      left -= stop - i;
      for (; i < stop; ++i, line += inner.stride[0]) f(line);
    }
  });
}

/// `Vectors` vectors of outputs, contiguous in the input. Whole vectors are read: see over_read.
template <class Kind, int Vectors>
inline void reduce_across(const reduce_loops& r, const float* p, float* to) {
  f32 chain[Vectors], all[Vectors];
  simd::unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA { chain[v] = all[v] = simd::splat(Kind::start); });
  const auto join = [&] {
    simd::unroll<Vectors>([&](auto v) NSK_INLINE_LAMBDA {
      all[v] = Kind::join(all[v], chain[v]);
      chain[v] = simd::splat(Kind::start);
    });
  };
  for_each_chain(
      r, p,
      [&](const float* at) NSK_INLINE_LAMBDA {
        simd::unroll<Vectors>(
            [&](auto v) NSK_INLINE_LAMBDA { chain[v] = Kind::combine(chain[v], simd::load(at + v * f32::lanes)); });
      },
      join);
  join();
  const f32 divisor = simd::splat(r.divisor);
  simd::unroll<Vectors>([&](auto v)
                            NSK_INLINE_LAMBDA { simd::store(to + v * f32::lanes, simd::div(all[v], divisor)); });
}
/// Up to one vector of outputs that are `stride` apart in the input.
template <class Kind>
inline void reduce_across_strided(const reduce_loops& r, const float* p, std::ptrdiff_t stride, std::ptrdiff_t outputs,
                                  float* to) {
  f32 chain = simd::splat(Kind::start), all = chain;
  const auto join = [&] {
    all = Kind::join(all, chain);
    chain = simd::splat(Kind::start);
  };
  for_each_chain(
      r, p, [&](const float* at) NSK_INLINE_LAMBDA { chain = Kind::combine(chain, load_lanes(at, stride, outputs)); },
      join);
  join();
  simd::store(to, simd::div(all, simd::splat(r.divisor)));
}
/// One output: lanes along the last loop.
template <class Kind>
NSK_INLINE float reduce_along(const reduce_loops& r, const float* p) {
  simd::f32x16 chain = simd::splat16(Kind::start), all = chain;
  const loop<1>& inner = r.of[r.count - 1];
  const std::ptrdiff_t stride = inner.stride[0];
  const auto combine = [](f32 a, f32 b) NSK_INLINE_LAMBDA { return Kind::combine(a, b); };
  const auto join = [&] {
    all = map_sixteen(all, chain, [](f32 a, f32 b) NSK_INLINE_LAMBDA { return Kind::join(a, b); });
    chain = simd::splat16(Kind::start);
  };
  const bool neutral_is_zero = Kind::start == 0;
  std::ptrdiff_t left = chain_length;  // sixteens
  for_each_reduced_line(r, p, [&](const float* line) NSK_INLINE_LAMBDA {
    for (std::ptrdiff_t i = 0; i < inner.length;) {
      if (left == 0) {
        join();
        left = chain_length;
      }
      const std::ptrdiff_t stop = inner.length - i < 16 * left ? inner.length : i + 16 * left;
      left -= (stop - i + 15) / 16;
      if (stride == 1)
        for (; i + 16 <= stop; i += 16) chain = map_sixteen(chain, simd::load16(line + i), combine);
      for (; i < stop; i += 16) {
        const float rest = neutral_is_zero ? 0.0f : Kind::start;
        chain = map_sixteen(chain, load_sixteen(line + i * stride, stride, inner.length - i, rest), combine);
      }
    }
  });
  join();
  return Kind::fold(all) / r.divisor;
}

enum reduce_operand : int { reduce_to, reduce_from, reduce_residual, reduce_slope, reduce_operands };

/// `count` outputs that are `stride` apart in the input.
template <class Kind>
NSK_ONE_COPY inline void reduce_each_along(const reduce_loops& r, const float* p, std::ptrdiff_t stride,
                                           std::ptrdiff_t count, float* to) {
  for (std::ptrdiff_t i = 0; i < count; ++i) to[i] = reduce_along<Kind>(r, p + i * stride);
}
/// Computes up to 8 vectors of outputs along the inner loop of a box. Returns how many.
template <class Kind>
NSK_ONE_COPY inline std::ptrdiff_t reduce_block(const reduce_loops& r, const float* p, std::ptrdiff_t stride,
                                                std::ptrdiff_t outputs, float* to) {
  if (r.along) {
    const std::ptrdiff_t count = outputs < 8 * f32::lanes ? outputs : 8 * f32::lanes;
    reduce_each_along<Kind>(r, p, stride, count, to);
    return count;
  }
  if (stride != 1) {
    reduce_across_strided<Kind>(r, p, stride, outputs, to);
    return outputs < f32::lanes ? outputs : f32::lanes;
  }
  if (outputs >= 8 * f32::lanes) {
    reduce_across<Kind, 8>(r, p, to);
    return 8 * f32::lanes;
  }
  if (outputs > f32::lanes) {
    reduce_across<Kind, 2>(r, p, to);
    return outputs < 2 * f32::lanes ? outputs : 2 * f32::lanes;
  }
  reduce_across<Kind, 1>(r, p, to);
  return outputs < f32::lanes ? outputs : f32::lanes;
}
/// reduce_block() by a kind that `Kinds` has.
template <class Kinds>
NSK_INLINE std::ptrdiff_t reduce_block(reduce_kind kind, const reduce_loops& r, const float* p, std::ptrdiff_t stride,
                                       std::ptrdiff_t outputs, float* to) {
  if constexpr (has_reduction<Kinds>(reduce_kind::sum))
    if (kind <= reduce_kind::sum) return reduce_block<reduce_sum>(r, p, stride, outputs, to);
  if constexpr (Kinds::has(reduce_kind::max))
    if (kind == reduce_kind::max) return reduce_block<reduce_max>(r, p, stride, outputs, to);
  if constexpr (Kinds::has(reduce_kind::min))
    if (kind == reduce_kind::min) return reduce_block<reduce_min>(r, p, stride, outputs, to);
  if constexpr (Kinds::has(reduce_kind::prod))
    if (kind == reduce_kind::prod) return reduce_block<reduce_prod>(r, p, stride, outputs, to);
  if constexpr (Kinds::has(reduce_kind::sum_square))
    if (kind == reduce_kind::sum_square) return reduce_block<reduce_sum_square>(r, p, stride, outputs, to);
  return outputs;
}

}

/// Reduces one tile of outputs. Without any reduced dimension each element is reduced alone. The output must not be the
/// input. The kind is one that `Kinds` has.
template <class Kernels = all_kernels, class Kinds = all_reduce_kinds>
NSK_ONE_COPY inline void reduce(const reduce_args& a, const tile_range& t, std::byte*) {
  using namespace impl;
  const reduce_loops r = loops_of(a);
  std::ptrdiff_t from[max_rank] = {}, slope[max_rank] = {};
  for (int d = 0; d < a.input.rank; ++d) from[d] = a.output.shape[d] == 1 ? 0 : a.input.stride[d];
  slope[a.output.rank - 1] = 1;
  const std::ptrdiff_t* own = a.output.stride;
  const std::ptrdiff_t* strides[reduce_operands] = {own, from, a.e.residual != nullptr ? a.e.residual_stride : own,
                                                    a.e.fn == function::prelu ? slope : own};
  for_each_nest(a.output.shape, a.output.rank, strides, t, [&](const loop_nest<reduce_operands>& b) {
    const loop<reduce_operands>& inner = b.of[2];
    alignas(64) float block[8 * f32::lanes];
    for (std::ptrdiff_t i = 0; i < b.of[0].length; ++i)
      for (std::ptrdiff_t j = 0; j < b.of[1].length; ++j)
        for (std::ptrdiff_t k = 0; k < inner.length;) {
          const auto at = [&](int operand) NSK_INLINE_LAMBDA {
            return b.offset[operand] + i * b.of[0].stride[operand] + j * b.of[1].stride[operand] +
                   k * inner.stride[operand];
          };
          const std::ptrdiff_t count = reduce_block<Kinds>(a.kind, r, a.input.as<float>() + at(reduce_from),
                                                           inner.stride[reduce_from], inner.length - k, block);
          finish_line<Kernels>(a.e, block, count, a.output.as<float>() + at(reduce_to),
                               a.e.residual != nullptr ? a.e.residual + at(reduce_residual) : nullptr,
                               a.e.fn == function::prelu ? a.e.slope + at(reduce_slope) : nullptr,
                               {inner.stride[reduce_to], inner.stride[reduce_residual], inner.stride[reduce_slope]});
          k += count;
        }
  });
  fill_border(a.output, t);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
