// SPDX-License-Identifier: MIT
/// Every operation of the vocabulary, one lane at a time, against the C++ library in double precision. The same file is
/// compiled for each instruction set.
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>
#include <doctest/doctest.h>
#include <netsuke/simd/float_env.hpp>
#include <netsuke/simd/vec.hpp>
#include "probe.hpp"

namespace {

std::uint32_t bits(float x) {
  std::uint32_t b;
  std::memcpy(&b, &x, 4);
  return b;
}
float from_bits(std::uint32_t b) {
  float x;
  std::memcpy(&x, &b, 4);
  return x;
}
/// Equal bits; any NaN equals any NaN.
bool same(float a, float b) { return std::isnan(a) ? std::isnan(b) : bits(a) == bits(b); }

struct random_bits {
  std::uint64_t state = 88172645463325252u;
  std::uint32_t operator()() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<std::uint32_t>(state >> 16);
  }
};

/// Numbers at every edge: zeros, denormals, halves, powers of two around the integers' limits, infinities, NaN.
std::vector<float> edges() {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> v = {0.0f,
                          0.25f,
                          0.5f,
                          0.75f,
                          1.0f,
                          1.5f,
                          2.5f,
                          3.5f,
                          8388607.5f,
                          8388608.0f,
                          8388609.0f,
                          16777216.0f,
                          2147483520.0f,
                          2147483648.0f,
                          4e9f,
                          3e38f,
                          infinity,
                          std::numeric_limits<float>::max(),
                          std::numeric_limits<float>::min(),
                          std::numeric_limits<float>::denorm_min(),
                          from_bits(0x007fffff),
                          0.1f,
                          0.49999997f,
                          0.9999999f,
                          65504.0f,
                          65519.9f,
                          65520.0f,
                          5.9604645e-8f,
                          2.9802322e-8f,
                          6.1035156e-5f};
  const std::size_t n = v.size();
  for (std::size_t i = 0; i < n; ++i) v.push_back(-v[i]);
  v.push_back(std::numeric_limits<float>::quiet_NaN());
  return v;
}

}

using namespace nsk;

TEST_CASE("simd: this machine runs the instruction set") { REQUIRE(cpu_supports()); }

TEST_CASE("simd: functions of one number") {
  const float_environment environment;
  std::vector<float> numbers = edges();
  random_bits next;
  for (int i = 0; i < 200000; ++i) numbers.push_back(from_bits(next()));
  int wrong = 0;
  for (float x : numbers) {
    const auto check = [&](probe::one op, float expected) {
      if (!same(probe::apply(op, x), expected) && ++wrong < 10)
        FAIL_CHECK("operation " << static_cast<int>(op) << " of " << x);
    };
    check(probe::one::neg, -x);
    check(probe::one::abs, std::fabs(x));
    check(probe::one::sqrt, static_cast<float>(std::sqrt(static_cast<double>(x))));
    check(probe::one::round_even, std::nearbyint(x));
    check(probe::one::floor, std::floor(x));
    check(probe::one::ceil, std::ceil(x));
    check(probe::one::trunc, std::trunc(x));
  }
  CHECK(wrong == 0);
}

TEST_CASE("simd: functions of two numbers, comparisons and choice") {
  const float_environment environment;
  const std::vector<float> numbers = edges();
  int wrong = 0;
  for (float a : numbers)
    for (float b : numbers) {
      const double x = a, y = b;
      wrong += !same(probe::apply(probe::two::add, a, b), static_cast<float>(x + y));
      wrong += !same(probe::apply(probe::two::sub, a, b), static_cast<float>(x - y));
      wrong += !same(probe::apply(probe::two::mul, a, b), static_cast<float>(x * y));
      wrong += !same(probe::apply(probe::two::div, a, b), static_cast<float>(x / y));
      wrong += !same(probe::apply(probe::two::max, a, b), a > b ? a : b);
      wrong += !same(probe::apply(probe::two::min, a, b), a < b ? a : b);
      wrong += !same(probe::apply(probe::two::copy_sign, a, b), std::copysign(a, b));
      const int expected = (a < b ? 1 : 0) | (a <= b ? 2 : 0) | (a == b ? 4 : 0) | (a > b ? 8 : 0) | (a >= b ? 16 : 0) |
                           (a != b ? 32 : 0);
      // not_equal is the complement of equal, and so are all six on NaN.
      wrong += probe::comparisons(a, b) != expected;
      wrong += !same(probe::choose(a, b, 3, 4), a < b ? 3.0f : 4.0f);
    }
  CHECK(wrong == 0);
}

TEST_CASE("simd: results are clamped as everything is, between plain bounds") {
  constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float tiny = std::numeric_limits<float>::denorm_min(), large = std::numeric_limits<float>::max();
  const float bounds[] = {0.0f, -0.0f,  tiny,  -tiny,   1.0f,     -1.0f,     6.0f, -0.5f, 127.5f,
                          255,  -large, large, -1e-38f, infinity, -infinity, nan,  -nan};
  CHECK(simd::has_plain_bounds(0, infinity));
  CHECK(simd::has_plain_bounds(0, 6));
  CHECK(simd::has_plain_bounds(-1, 1));
  // Every exponent and sign, mantissas around their ends and their middle; no signalling NaN, which no operation gives.
  std::vector<float> numbers;
  for (std::uint32_t high = 0; high < 512; ++high)
    for (std::uint32_t mantissa : {0u, 1u, 2u, 0x3fffffu, 0x400000u, 0x400001u, 0x7ffffeu, 0x7fffffu})
      if ((high & 255) != 255 || mantissa == 0 || mantissa >= 0x400000)
        numbers.push_back(from_bits(high << 23 | mantissa));
  while (numbers.size() % simd::f32::lanes != 0) numbers.push_back(0);
  int different = 0, plain = 0;
  for (const float low : bounds)
    for (const float high : bounds) {
      const bool as_result = simd::has_plain_bounds(low, high);
      plain += as_result;
      std::vector<float> clamped = numbers;
      for (std::size_t i = 0; i < clamped.size(); i += simd::f32::lanes)
        probe::apply_clamp(as_result, clamped.data() + i, low, high);
      for (std::size_t i = 0; i < clamped.size(); ++i) {
        const float above = numbers[i] > low ? numbers[i] : low, expected = above < high ? above : high;
        different += bits(clamped[i]) != bits(expected);
      }
    }
  CHECK(different == 0);
  CHECK(plain >= 14 * 13);
}

TEST_CASE("simd: fma rounds once") {
  const float_environment environment;
  int wrong = 0;
  const auto check = [&](float a, float b, float c) {
    // The compiler's own fma in float: the hardware instruction or the library's, both exact here.
    const float expected = std::fma(a, b, c), negated = std::fma(-a, b, c);
    if (!same(probe::apply_fma(a, b, c), expected) && ++wrong < 10) FAIL_CHECK("fma " << a << " " << b << " " << c);
    if (!same(probe::apply_neg_fma(a, b, c), negated) && ++wrong < 10)
      FAIL_CHECK("neg_fma " << a << " " << b << " " << c);
  };
  const std::vector<float> numbers = edges();
  for (float a : numbers)
    for (float b : numbers)
      for (float c : numbers) check(a, b, c);
  random_bits next;
  for (int i = 0; i < 300000; ++i) check(from_bits(next()), from_bits(next()), from_bits(next()));
  const auto near_one = [&] { return from_bits(0x3f800000u | (next() & 0x7fffffu)); };
  for (int i = 0; i < 300000; ++i) {
    const float a = near_one(), b = near_one();
    check(a, b, -a * b);  // what is left is the rounding error of the product
    check(a, b, std::ldexp(near_one(), static_cast<int>(next() % 60) - 30));
    check(from_bits(bits(a) - (60u << 23)), from_bits(bits(b) - (60u << 23)),
          from_bits(next() & 0x80ffffffu));  // around denormals
  }
}

TEST_CASE("simd: fma on constructed ties") {
  const float_environment environment;
  // c + a * b is exactly between two floats, or slightly (far below double's precision) beside: double rounding would
  // go wrong.
  int wrong = 0;
  for (int e = 30; e < 100; ++e)
    for (float sign : {1.0f, -1.0f})
      for (std::uint32_t last : {0u, 1u}) {
        const float c = from_bits(0x3f800000u | last);    // even or odd significand
        const float half = sign * std::ldexp(1.0f, -24);  // half a unit in the last place of c
        const float a = 1.0f + std::ldexp(1.0f, -23);
        const float hair = std::ldexp(1.0f, -e);
        wrong += !same(probe::apply_fma(half, 1.0f, c), std::fma(half, 1.0f, c));  // exact tie
        wrong += !same(probe::apply_fma(half, a, c), std::fma(half, a, c));        // tie and a little
        // (2^-12 + hair) * (2^-12 - hair) = 2^-24 - hair^2: just below the tie
        if (e < 36)
          wrong += !same(probe::apply_fma(0x1p-12f + hair, sign * (0x1p-12f - hair), c),
                         std::fma(0x1p-12f + hair, sign * (0x1p-12f - hair), c));
        wrong += !same(probe::apply_fma(hair, hair, c), std::fma(hair, hair, c));
        wrong += !same(probe::apply_fma(hair, -hair, c), std::fma(hair, -hair, c));
      }
  CHECK(wrong == 0);
  CHECK(same(probe::apply_fma(-1e38f, 1e38f, 0.0f), -std::numeric_limits<float>::infinity()));
  CHECK(same(probe::apply_fma(1e38f, 10.0f, -std::numeric_limits<float>::infinity()),
             -std::numeric_limits<float>::infinity()));
  CHECK(
      same(probe::apply_fma(std::numeric_limits<float>::max(), 1.0f, 1.1e31f), std::numeric_limits<float>::infinity()));
  CHECK(same(probe::apply_fma(std::numeric_limits<float>::max(), 1.0f, 1e31f), std::numeric_limits<float>::max()));
}

TEST_CASE("simd: mul and add do not fuse") {
  // a * a = 1 + 2^-11 + 2^-24 rounds to 1 + 2^-11, so the difference is 0 unless something fused.
  const float a = 1.0f + std::ldexp(1.0f, -12);
  CHECK(probe::unfused(a, a, -(1.0f + std::ldexp(1.0f, -11))) == 0.0f);
  CHECK(probe::apply_fma(a, a, -(1.0f + std::ldexp(1.0f, -11))) == std::ldexp(1.0f, -24));
}

TEST_CASE("simd: conversions to and from integers") {
  const float_environment environment;
  std::vector<float> numbers = edges();
  random_bits next;
  for (int i = 0; i < 100000; ++i) numbers.push_back(from_bits(next()));
  int wrong = 0;
  for (float x : numbers) {
    double y = std::isnan(x) ? -2147483648.0 : std::nearbyint(static_cast<double>(x));
    y = std::fmin(std::fmax(y, -2147483648.0), 2147483520.0);
    wrong += probe::to_integer(x) != static_cast<std::int32_t>(y);
  }
  CHECK(wrong == 0);
  for (int i = 0; i < 100000; ++i) {
    const auto x = static_cast<std::int32_t>(next());
    wrong += !same(probe::from_integer(x), static_cast<float>(static_cast<double>(x)));
  }
  CHECK(wrong == 0);
}

TEST_CASE("simd: integers") {
  random_bits next;
  int wrong = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::uint32_t ua = next(), ub = i % 3 == 0 ? ua : next();
    std::int32_t a, b;
    std::memcpy(&a, &ua, 4);
    std::memcpy(&b, &ub, 4);
    const auto same_word = [&](int op, std::uint32_t expected) {
      wrong += static_cast<std::uint32_t>(probe::integers(op, a, b)) != expected;
    };
    same_word(0, ua + ub);
    same_word(1, ua - ub);
    same_word(2, ua & ub);
    same_word(3, ua | ub);
    same_word(4, ua ^ ub);
    same_word(5, ua << 7);
    same_word(6, static_cast<std::uint32_t>(static_cast<std::int64_t>(std::floor(static_cast<double>(a) / 128))));
    same_word(7, ua >> 7);
    same_word(8, a == b);
    same_word(9, a < b);
    same_word(10, a > b);
    same_word(11, ua);
  }
  CHECK(wrong == 0);
}

TEST_CASE("simd: every half, and halves of floats") {
  const float_environment environment;
  int wrong = 0;
  for (std::uint32_t h = 0; h < 65536; ++h) {
    const int exponent = (h >> 10) & 31, fraction = h & 1023;
    double expected = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31)
      expected = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    if (h & 0x8000) expected = -expected;
    wrong += !same(probe::decode(static_cast<std::uint16_t>(h)), static_cast<float>(expected));
    if (exponent != 31 || fraction == 0) wrong += probe::encode(static_cast<float>(expected)) != h;
    // Between this half and the next, positive and finite: below, at and above the middle.
    if (h < 0x7bff) {
      const float low = probe::decode(static_cast<std::uint16_t>(h)),
                  high = probe::decode(static_cast<std::uint16_t>(h + 1)), middle = low + (high - low) / 2;
      wrong += probe::encode(middle) != ((h & 1) ? h + 1 : h);
      wrong += probe::encode(std::nextafter(middle, 0.0f)) != h;
      wrong += probe::encode(std::nextafter(middle, 1e9f)) != h + 1;
    }
  }
  CHECK(wrong == 0);
  CHECK((probe::encode(std::numeric_limits<float>::quiet_NaN()) & 0x7e00) == 0x7e00);
  CHECK(probe::encode(1e9f) == 0x7c00);
}

TEST_CASE("simd: partial loads and stores touch n elements") {
  float from[16], to[18];
  for (int i = 0; i < 16; ++i) from[i] = static_cast<float>(i + 1);
  for (int n = 0; n <= simd::f32::lanes; ++n) {
    for (float& x : to) x = -1;
    probe::partial(from, to + 1, n);
    for (int i = 0; i < 18; ++i) CHECK(to[i] == (i >= 1 && i <= n ? static_cast<float>(i) : -1.0f));
    probe::partial_whole(from, to, n);
    for (int i = 0; i < simd::f32::lanes; ++i) CHECK(to[i] == (i < n ? static_cast<float>(i + 1) : 0.0f));
  }
}

/// Groups of `Size` lanes, where registers have several.
template <int Size>
void check_spread() {
  constexpr int lanes = simd::f32::lanes;
  float from[lanes], to[Size][lanes];
  for (int l = 0; l < lanes; ++l) from[l] = static_cast<float>(l);
  if (!probe::spread_each(from, to)) return;
  for (int i = 0; i < Size; ++i)
    for (int l = 0; l < lanes; ++l) CHECK(to[i][l] == static_cast<float>(l / Size * Size + i));
}

TEST_CASE("simd: a lane of each group is spread over the group") {
  check_spread<2>();
  check_spread<4>();
  check_spread<8>();
}

/// Registers whose element l of register i is 100 i + l.
template <int Count>
void check_zipped() {
  constexpr int lanes = simd::f32::lanes;
  float from[Count * lanes], to[Count * lanes + 1];
  for (int i = 0; i < Count * lanes; ++i) from[i] = static_cast<float>(i / lanes * 100 + i % lanes);
  to[Count * lanes] = -1;
  probe::zip_each<Count>(from, to);
  for (int i = 0; i < Count * lanes; ++i) CHECK(to[i] == static_cast<float>(i % Count * 100 + i / Count));
  CHECK(to[Count * lanes] == -1);
}

TEST_CASE("simd: two to four registers are stored interleaved") {
  check_zipped<2>();
  check_zipped<3>();
  check_zipped<4>();
}

TEST_CASE("simd: the first eight lanes alone multiply and add like all of them") {
  float a[8], b[8], c[8], to[16];
  for (int i = 0; i < 8; ++i) {
    a[i] = 1 + 0x1p-13f * static_cast<float>(i);
    b[i] = 1 - 0x1p-12f * static_cast<float>(i);
    c[i] = -1 + 0x1p-3f * static_cast<float>(i % 2);
  }
  probe::low_products(a, b, c, to);
  for (int i = 0; i < 8 && i < simd::f32::lanes; ++i) CHECK(to[i] == std::fma(a[i], b[i], c[i]));
}

TEST_CASE("simd: the first eight lanes alone are stored in part, and a number is spread for both widths") {
  constexpr int low = simd::f32::lanes < 8 ? simd::f32::lanes : 8;
  float from[16], to[18];
  for (int i = 0; i < 16; ++i) from[i] = static_cast<float>(i + 1);
  for (int n = 0; n <= simd::f32::lanes; ++n) {
    for (float& x : to) x = -1;
    probe::low_stored(from, to + 1, n);
    for (int i = 0; i < 18; ++i) CHECK(to[i] == (i >= 1 && i <= n && i <= low ? static_cast<float>(i) : -1.0f));
  }
  from[0] = -0.0f;
  probe::spread_low(from, to);
  for (int i = 0; i < simd::f32::lanes; ++i) CHECK((to[i] == 0 && std::signbit(to[i])));
}

TEST_CASE("simd: reductions of sixteen are one fixed tree") {
  random_bits next;
  for (int round = 0; round < 1000; ++round) {
    float x[16], expected[16], got[4];
    for (float& v : x) v = from_bits(0x3f000000u + (next() & 0x80ffffffu));
    const auto fold = [&](auto op) {
      std::memcpy(expected, x, sizeof x);
      for (int n = 8; n > 0; n /= 2)
        for (int i = 0; i < n; ++i) expected[i] = op(expected[i], expected[i + n]);
      return expected[0];
    };
    probe::reductions(x, got);
    CHECK(same(got[0], fold([](float a, float b) { return static_cast<float>(static_cast<double>(a) + b); })));
    CHECK(same(got[1], fold([](float a, float b) { return static_cast<float>(static_cast<double>(a) * b); })));
    CHECK(same(got[2], fold([](float a, float b) { return a > b ? a : b; })));
    CHECK(same(got[3], fold([](float a, float b) { return a < b ? a : b; })));
  }
}

#if defined(__x86_64__) || defined(__aarch64__)
namespace {
#if defined(__x86_64__)
// MXCSR: all exceptions masked; flush to zero, denormals are zero, round towards zero.
constexpr unsigned long neutral_mode = 0x1f80, strange_mode = 0x1f80 | 0x8040 | 0x6000, mode_bits = 0xffc0;
unsigned long float_mode() { return _mm_getcsr(); }
void set_float_mode(unsigned long mode) { _mm_setcsr(static_cast<unsigned>(mode)); }
#else
// FPCR: flush to zero, round towards zero.
constexpr unsigned long neutral_mode = 0, strange_mode = 1ul << 24 | 3ul << 22, mode_bits = ~0ul;
unsigned long float_mode() {
  unsigned long mode;
  __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
}
void set_float_mode(unsigned long mode) { __asm__ volatile("msr fpcr, %0" ::"r"(mode) : "memory"); }
#endif
}

TEST_CASE("float_environment: sets the mode and restores what it found") {
  const unsigned long found = float_mode();
  set_float_mode(strange_mode);
  const unsigned long strange = float_mode();
  volatile float tiny = std::numeric_limits<float>::min();
  {
    const float_environment environment;
    CHECK((float_mode() & mode_bits) == neutral_mode);
    volatile float half = tiny * 0.5f;
    CHECK(half > 0);
  }
  CHECK((float_mode() & mode_bits) == (strange & mode_bits));
  volatile float half = tiny * 0.5f;
  CHECK(!(half > 0));
  set_float_mode(found);
}
#endif
