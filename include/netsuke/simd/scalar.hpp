// SPDX-License-Identifier: MIT
#pragma once
/// The vocabulary of vec.hpp in portable C++, one lane, bit for bit what the hardware versions compute. Needs IEEE 754
/// float and double without excess precision.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <cstring>
#include <netsuke/simd/isa.hpp>
#include <netsuke/simd/u8_range.hpp>
#include <netsuke/simd/begin.hpp>
NSK_BEGIN
namespace simd {

#if defined(__FLT_EVAL_METHOD__)
static_assert(__FLT_EVAL_METHOD__ == 0,
              "netsuke: floats must be evaluated as floats (on 32-bit x86: -msse2 -mfpmath=sse)");
#endif

struct f32 {
  static constexpr int lanes = 1;
  static constexpr int registers = 16;
  float v;
};
struct i32 {
  static constexpr int lanes = 1;
  std::int32_t v;
};
struct mask {
  bool v;
};

/// What kernels choose for this instruction set. Rows as on AVX2, so that its tiles are tested
/// without it.
struct tuning {
  static constexpr bool loads_inputs_first = false;  ///< compilers hold the inputs of all rows of a GEMM tile at once
  static constexpr bool keeps_order = false;         ///< compilers leave multiply-adds in the order of the source
  static constexpr int max_gemm_rows = 16;           ///< of a GEMM tile, whatever its registers allow
  static constexpr int max_narrow_rows = 8;          ///< the same for panels of 8 columns
  static constexpr int gemm_steps = 1;         ///< k between tests of a GEMM loop, which take ports of multiply-adds
  static constexpr int block_columns = 24;     ///< of results that wait for their functions, in whole registers
  static constexpr bool stores_parts = false;  ///< a register that is partly stored costs no more than a whole one
  static constexpr int lockstep_vectors = 1;   ///< of a long function (lockstep.hpp): as many as registers hold
};

namespace impl {
inline std::uint32_t bits_of(float x) {
  std::uint32_t b;
  std::memcpy(&b, &x, sizeof b);
  return b;
}
inline float float_of(std::uint32_t b) {
  float x;
  std::memcpy(&x, &b, sizeof x);
  return x;
}
inline std::int32_t signed_of(std::uint32_t b) {
  std::int32_t x;
  std::memcpy(&x, &b, sizeof x);
  return x;
}
inline float with_sign(float magnitude, float sign) {
  return float_of((bits_of(magnitude) & 0x7fffffffu) | (bits_of(sign) & 0x80000000u));
}

/// Rounds a*b + c once: the double product is exact, the double sum is rounded to odd, and one narrowing rounds.
/// (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to odd",
/// 2008.)
inline float fused(float a, float b, float c) {
  const double product = static_cast<double>(a) * static_cast<double>(b), term = static_cast<double>(c),
               sum = product + term;
  const double back = sum - product, error = (product - (sum - back)) + (term - back);  // exact: Knuth's two-sum
  if (!(error > 0) && !(error < 0)) return static_cast<float>(sum);  // exact, infinite or not a number
  std::uint64_t bits;
  std::memcpy(&bits, &sum, sizeof bits);
  if ((bits & 1) == 0) bits += (error > 0) == (sum > 0) ? std::uint64_t{1} : ~std::uint64_t{0};
  double odd;
  std::memcpy(&odd, &bits, sizeof odd);
  return static_cast<float>(odd);
}

/// Rounds to the nearest integer, halves to even: adding 2^23 leaves no fraction bits.
inline float nearest(float x) {
  const float magnitude = float_of(bits_of(x) & 0x7fffffffu);
  if (!(magnitude < 8388608.0f)) return x;
  return with_sign((magnitude + 8388608.0f) - 8388608.0f, x);
}
inline float down(float x) {
  const float r = nearest(x);
  return with_sign(r > x ? r - 1.0f : r, x);
}
inline float up(float x) {
  const float r = nearest(x);
  return with_sign(r < x ? r + 1.0f : r, x);
}

/// Square root, correctly rounded: 26 bits of the root of an integer, one at a time, and the remainder as sticky bit.
inline float root(float x) {
  if (!(x > 0) || !(x < float_of(0x7f800000u))) return x < 0 ? float_of(0xffc00000u) : x;  // zeros, infinity, NaN stay
  std::uint32_t b = bits_of(x);
  int exponent = static_cast<int>(b >> 23) - 127;
  std::uint64_t significand = b & 0x7fffffu;
  if (exponent == -127) {
    for (exponent = -126; (significand & 0x800000u) == 0; --exponent) significand <<= 1;
  } else {
    significand |= 0x800000u;
  }
  if (exponent & 1) {
    significand <<= 1;
    --exponent;
  }
  std::uint64_t rest = significand << 27, r = 0;  // x = rest * 2^(exponent - 50), so the root has 26 bits
  for (std::uint64_t bit = std::uint64_t{1} << 25; bit != 0; bit >>= 1) {
    const std::uint64_t candidate = r | bit;
    if (candidate * candidate <= rest) r = candidate;
  }
  const std::uint64_t sticky = r * r != rest ? 1u : 0u, low = ((r & 3u) << 1) | sticky;
  std::uint64_t m = r >> 2;
  if (low > 4 || (low == 4 && (m & 1))) ++m;
  return float_of((static_cast<std::uint32_t>(exponent / 2 + 127) << 23) + static_cast<std::uint32_t>(m - 0x800000u));
}

inline float float_of_f16(std::uint16_t h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000u) << 16, magnitude = h & 0x7fffu;
  if (magnitude >= 0x7c00u)
    return float_of(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13) | (magnitude > 0x7c00u ? 0x400000u : 0u));
  if (magnitude >= 0x400u) return float_of(sign | ((magnitude << 13) + 0x38000000u));
  return with_sign(static_cast<float>(magnitude) * float_of(0x33800000u), float_of(sign));  // 2^-24
}
inline std::uint16_t f16_of_float(float x) {
  const std::uint32_t b = bits_of(x), sign = (b >> 16) & 0x8000u, magnitude = b & 0x7fffffffu;
  std::uint32_t h;
  if (magnitude > 0x7f800000u) {
    h = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  } else if (magnitude >= 0x477ff000u) {  // 65520 and more round to infinity
    h = 0x7c00u;
  } else if (magnitude >= 0x38800000u) {
    h = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  } else {  // below 2^-14: adding 0.5 leaves multiples of 2^-24
    h = bits_of(float_of(magnitude) + 0.5f) - 0x3f000000u;
  }
  return static_cast<std::uint16_t>(sign | h);
}
}

NSK_INLINE f32 load(const float* p) { return {*p}; }
NSK_INLINE f32 load_partial(const float* p, int n) { return {n > 0 ? *p : 0.0f}; }
NSK_INLINE f32 broadcast(const float* p) { return {*p}; }
NSK_INLINE f32 splat(float x) { return {x}; }
NSK_INLINE f32 zero() { return {0.0f}; }
NSK_INLINE void store(float* p, f32 a) { *p = a.v; }
NSK_INLINE void store_partial(float* p, int n, f32 a) {
  if (n > 0) *p = a.v;
}
NSK_INLINE f32 load_f16(const std::uint16_t* p) { return {impl::float_of_f16(*p)}; }
NSK_INLINE void store_f16(std::uint16_t* p, f32 a) { *p = impl::f16_of_float(a.v); }

struct f64 {
  static constexpr int lanes = 1;
  double v;
};
NSK_INLINE f64 widen(const float* p) { return {static_cast<double>(*p)}; }
NSK_INLINE f64 add(f64 a, f64 b) { return {a.v + b.v}; }
NSK_INLINE f64 sub(f64 a, f64 b) { return {a.v - b.v}; }
NSK_INLINE f64 scaled(f64 a, double factor) { return {a.v * factor}; }
NSK_INLINE void store_narrowed(float* p, f64 a) { *p = static_cast<float>(a.v); }

NSK_INLINE f32 add(f32 a, f32 b) { return {a.v + b.v}; }
NSK_INLINE f32 sub(f32 a, f32 b) { return {a.v - b.v}; }
NSK_INLINE f32 mul(f32 a, f32 b) { return {a.v * b.v}; }
NSK_INLINE f32 div(f32 a, f32 b) { return {a.v / b.v}; }
NSK_INLINE f32 fma(f32 a, f32 b, f32 c) { return {impl::fused(a.v, b.v, c.v)}; }
NSK_INLINE f32 neg_fma(f32 a, f32 b, f32 c) { return {impl::fused(-a.v, b.v, c.v)}; }
NSK_INLINE f32 max(f32 a, f32 b) { return {a.v > b.v ? a.v : b.v}; }
NSK_INLINE f32 min(f32 a, f32 b) { return {a.v < b.v ? a.v : b.v}; }
NSK_INLINE f32 neg(f32 a) { return {impl::float_of(impl::bits_of(a.v) ^ 0x80000000u)}; }
NSK_INLINE f32 abs(f32 a) { return {impl::float_of(impl::bits_of(a.v) & 0x7fffffffu)}; }
NSK_INLINE f32 sqrt(f32 a) { return {impl::root(a.v)}; }
NSK_INLINE f32 round_even(f32 a) { return {impl::nearest(a.v)}; }
NSK_INLINE f32 floor(f32 a) { return {impl::down(a.v)}; }
NSK_INLINE f32 ceil(f32 a) { return {impl::up(a.v)}; }
NSK_INLINE f32 trunc(f32 a) { return {a.v < 0 ? impl::up(a.v) : impl::down(a.v)}; }

NSK_INLINE mask less(f32 a, f32 b) { return {a.v < b.v}; }
NSK_INLINE mask less_equal(f32 a, f32 b) { return {a.v <= b.v}; }
NSK_INLINE mask equal(f32 a, f32 b) { return {a.v == b.v}; }
NSK_INLINE mask equal(i32 a, i32 b) { return {a.v == b.v}; }
NSK_INLINE mask less(i32 a, i32 b) { return {a.v < b.v}; }
NSK_INLINE mask logical_and(mask a, mask b) { return {a.v && b.v}; }
NSK_INLINE mask logical_or(mask a, mask b) { return {a.v || b.v}; }
NSK_INLINE mask logical_not(mask a) { return {!a.v}; }
NSK_INLINE bool any(mask a) { return a.v; }
NSK_INLINE f32 select(mask m, f32 a, f32 b) { return m.v ? a : b; }
NSK_INLINE i32 select(mask m, i32 a, i32 b) { return m.v ? a : b; }

namespace impl {
NSK_INLINE std::uint32_t raw(i32 a) { return static_cast<std::uint32_t>(a.v); }
}
NSK_INLINE i32 load_i32(const std::int32_t* p) { return {*p}; }
NSK_INLINE i32 splat_i32(std::int32_t x) { return {x}; }
NSK_INLINE void store_i32(std::int32_t* p, i32 a) { *p = a.v; }
NSK_INLINE i32 add(i32 a, i32 b) { return {impl::signed_of(impl::raw(a) + impl::raw(b))}; }
NSK_INLINE i32 sub(i32 a, i32 b) { return {impl::signed_of(impl::raw(a) - impl::raw(b))}; }
NSK_INLINE i32 bit_and(i32 a, i32 b) { return {a.v & b.v}; }
NSK_INLINE i32 bit_or(i32 a, i32 b) { return {a.v | b.v}; }
NSK_INLINE i32 bit_xor(i32 a, i32 b) { return {a.v ^ b.v}; }
template <int N>
NSK_INLINE i32 shift_left(i32 a) {
  return {impl::signed_of(impl::raw(a) << N)};
}
template <int N>
NSK_INLINE i32 shift_right(i32 a) {
  return {impl::signed_of((impl::raw(a) >> N) | (a.v < 0 && N > 0 ? ~(0xffffffffu >> N) : 0u))};
}
template <int N>
NSK_INLINE i32 shift_right_logical(i32 a) {
  return {impl::signed_of(impl::raw(a) >> N)};
}
NSK_INLINE i32 as_i32(f32 a) { return {impl::signed_of(impl::bits_of(a.v))}; }
NSK_INLINE f32 as_f32(i32 a) { return {impl::float_of(impl::raw(a))}; }
NSK_INLINE f32 to_f32(i32 a) { return {static_cast<float>(a.v)}; }
NSK_INLINE i32 to_i32(f32 a) {
  const f32 low{-2147483648.0f}, high{2147483520.0f};
  return {static_cast<std::int32_t>(impl::nearest(min(max(a, low), high).v))};
}

NSK_INLINE float reduce_add(f32 a) { return a.v; }
NSK_INLINE float reduce_max(f32 a) { return a.v; }
NSK_INLINE float reduce_min(f32 a) { return a.v; }
NSK_INLINE float reduce_mul(f32 a) { return a.v; }
/// Transposes a square of registers: lane c of row r becomes lane r of row c.
NSK_INLINE void transpose(f32 (&)[1]) {}
/// One lane has no neighbours: no group is smaller than a register.
template <int Size, int I>
NSK_INLINE f32 spread(f32 a) {
  return a;
}
/// Interleaves: out[0] is a, out[1] is b.
NSK_INLINE void zip(f32 a, f32 b, f32 (&out)[2]) {
  out[0] = a;
  out[1] = b;
}
/// Stores the elements of three registers interleaved.
NSK_INLINE void store_zipped(float* p, f32 a, f32 b, f32 c) {
  p[0] = a.v;
  p[1] = b.v;
  p[2] = c.v;
}
/// Interleaves 16 bytes from `a` on with 16 from `b` on, and stores the 32.
NSK_INLINE void zip_bytes(const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* to) {
  for (int i = 0; i < 16; ++i) {
    to[2 * i] = a[i];
    to[2 * i + 1] = b[i];
  }
}
NSK_INLINE void prefetch(const void*) {}

NSK_INLINE i32 load_quads(const std::int8_t* p) {
  i32 r;
  std::memcpy(&r.v, p, sizeof r.v);
  return r;
}
NSK_INLINE i32 broadcast_quad(const std::uint8_t* p) {
  i32 r;
  std::memcpy(&r.v, p, sizeof r.v);
  return r;
}
NSK_INLINE i32 dot4(i32 sum, i32 a, i32 w) {
  std::uint8_t inputs[4];
  std::int8_t weights[4];
  std::memcpy(inputs, &a.v, sizeof inputs);
  std::memcpy(weights, &w.v, sizeof weights);
  for (int i = 0; i < 4; ++i) sum = add(sum, {inputs[i] * weights[i]});
  return sum;
}
NSK_INLINE i32 dot4_narrow(i32 sum, i32 a, i32 w) { return dot4(sum, a, w); }
NSK_INLINE i32 dot4_native(i32 sum, i32 a, i32 w) { return dot4(sum, a, w); }
NSK_INLINE i32 add_bytes(i32 sum, const std::uint8_t* p) { return add(sum, {p[0] + p[1] + p[2] + p[3]}); }
namespace impl {
NSK_INLINE std::uint8_t stored(f32 x, u8_range to) {
  const float shifted = nearest(x.v) + static_cast<float>(to.zero);
  const float low = static_cast<float>(to.low), high = static_cast<float>(to.high);
  return static_cast<std::uint8_t>(shifted < low ? low : shifted > high ? high : shifted);
}
}
NSK_INLINE void store16_u8(std::uint8_t* p, const f32 (&x)[16], u8_range to) {
  for (int i = 0; i < 16; ++i) p[i] = impl::stored(x[i], to);
}
inline constexpr int packed_vectors = 16;
struct packed_bytes {
  std::uint8_t v[packed_vectors];
};
NSK_INLINE packed_bytes to_bytes(const f32 (&x)[16], u8_range to) {
  packed_bytes b;
  store16_u8(b.v, x, to);
  return b;
}
template <int Count, int First>
NSK_INLINE void store_part(std::uint8_t* p, const packed_bytes& x) {
  std::memcpy(p, x.v + First, Count);
}
NSK_INLINE void store_packed(std::uint8_t* p, const packed_bytes& x) { std::memcpy(p, x.v, sizeof x.v); }

NSK_INLINE void interleave_quads(const std::uint8_t* const (&row)[4], i32 (&quads)[4]) {
  for (int v = 0; v < 4; ++v) {
    const std::uint8_t quad[4] = {row[0][v], row[1][v], row[2][v], row[3][v]};
    std::memcpy(&quads[v].v, quad, sizeof quad);
  }
}
NSK_INLINE void interleave_quads(const std::uint8_t* const (&row)[4], const std::uint8_t* const (&other)[4],
                                 i32 (&quads)[4]) {
  for (int v = 0; v < 4; ++v) {
    const std::uint8_t* const(&from)[4] = v < 2 ? row : other;
    const std::uint8_t quad[4] = {from[0][v % 2], from[1][v % 2], from[2][v % 2], from[3][v % 2]};
    std::memcpy(&quads[v].v, quad, sizeof quad);
  }
}
constexpr int place_of_channel(int channel) { return channel; }
NSK_INLINE void store_quads_u8(std::uint8_t* p, const f32 (&x)[4], u8_range to) {
  for (int v = 0; v < 4; ++v) p[v] = impl::stored(x[v], to);
}

struct bytes {
  static constexpr int lanes = 1;
  std::uint8_t v;
};
NSK_INLINE bytes splat_bytes(std::uint8_t x) { return {x}; }
NSK_INLINE bytes load_bytes(const std::uint8_t* p) { return {*p}; }
NSK_INLINE void store_bytes(std::uint8_t* p, bytes x) { *p = x.v; }
NSK_INLINE bytes max(bytes a, bytes b) { return a.v > b.v ? a : b; }
inline void arrange_table(const std::uint8_t* entries, std::uint8_t* table) { std::memcpy(table, entries, 256); }
NSK_INLINE bytes look_up(const std::uint8_t* table, bytes x) { return {table[x.v]}; }
NSK_INLINE f32 load_i8(const std::int8_t* p) { return {static_cast<float>(*p)}; }
NSK_INLINE f32 load_u8(const std::uint8_t* p) { return {static_cast<float>(*p)}; }

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
