// SPDX-License-Identifier: MIT
// Elementary functions against libm in long double: the bounds that math/*.hpp documents, special values, and one hash
// of all results.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>
#include <doctest/doctest.h>
#include <netsuke/math/functions.hpp>
#include <oracle/naive_tail.hpp>

using nsk::function;
using nsk::simd::f32;

#include <netsuke/simd/begin.hpp>
static void map(function f, float alpha, float beta, const float* from, float* to, std::size_t count) {
  nsk::math::visit(f, alpha, beta, [&](auto op) {
    for (std::size_t i = 0; i < count; i += f32::lanes) nsk::simd::store(to + i, op(nsk::simd::load(from + i)));
  });
}
template <int Together>
static void map_in_lockstep(function f, const float* from, float* to, std::size_t count) {
  constexpr std::size_t lanes = f32::lanes;
  nsk::math::visit(f, 1, 0, [&](auto op) {
    if constexpr (decltype(op)::is_long)
      for (std::size_t i = 0; i < count; i += Together * lanes) {
        nsk::simd::group<f32, Together> x;
        for (std::size_t v = 0; v < Together; ++v) x.part[v] = nsk::simd::load(from + i + v * lanes);
        x = op(x);
        for (std::size_t v = 0; v < Together; ++v) nsk::simd::store(to + i + v * lanes, x.part[v]);
      }
  });
}
static void map_one_by_one(function f, float alpha, float beta, const float* from, float* to, std::size_t count) {
  for (std::size_t i = 0; i < count; i += f32::lanes) map(f, alpha, beta, from + i, to + i, f32::lanes);
}
template <class F>
static void map_pairs(F f, const float* x, const float* y, float* to, std::size_t count) {
  for (std::size_t i = 0; i < count; i += f32::lanes)
    nsk::simd::store(to + i, f(nsk::simd::load(x + i), nsk::simd::load(y + i)));
}
static void power(const float* x, const float* y, float* to, std::size_t count) {
  map_pairs([](f32 a, f32 b) { return nsk::math::pow(a, b); }, x, y, to, count);
}
static void angle(const float* y, const float* x, float* to, std::size_t count) {
  map_pairs([](f32 a, f32 b) { return nsk::math::atan2(a, b); }, y, x, to, count);
}
static void remainder(bool floors, const float* x, const float* y, float* to, std::size_t count) {
  if (floors)
    map_pairs([](f32 a, f32 b) { return nsk::math::mod(a, b); }, x, y, to, count);
  else
    map_pairs([](f32 a, f32 b) { return nsk::math::fmod(a, b); }, x, y, to, count);
}
#include <netsuke/simd/end.hpp>

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double cut_off = std::ldexp(1.0, -125) * 0.7072;  // 2^-125.5, and a little for the rounding of the argument

std::uint32_t bits_of(float x) {
  std::uint32_t b;
  std::memcpy(&b, &x, sizeof b);
  return b;
}
float float_of(std::uint32_t b) {
  float x;
  std::memcpy(&x, &b, sizeof x);
  return x;
}
/// Unit in the last place of a float near x; that of the smallest normal number below it.
double unit_of(long double x) {
  int e = -125;
  const float magnitude = static_cast<float>(std::fabs(x));
  if (magnitude >= std::numeric_limits<float>::min()) std::frexp(magnitude, &e);
  return std::ldexp(1.0, e - 24);
}

/// Every 4099th float, in blocks of 1024; fewer where the references' long double is computed in software, as on
/// AArch64. The hash below is that of every instruction set.
template <class F>
void for_each_block(F f) {
  constexpr std::uint64_t step = std::numeric_limits<long double>::digits > 64 ? 32771 : 4099;
  std::vector<float> x;
  for (std::uint64_t b = 0; b <= 0xffffffffu; b += step) {
    x.push_back(float_of(static_cast<std::uint32_t>(b)));
    if (x.size() == 1024) {
      f(x);
      x.clear();
    }
  }
}

struct bound {
  function f;
  long double (*reference)(long double);
  double ulp, absolute;  ///< allowed: either
  bool cuts;             ///< results below the cut-off are exactly 0
};
const bound bounds[] = {
    {function::exp, [](long double x) { return std::exp(x); }, 1.1, 0, true},
    {function::log, [](long double x) { return std::log(x); }, 1.0, 0, false},
    {function::tanh, [](long double x) { return std::tanh(x); }, 2.6, 0, false},
    {function::sigmoid, [](long double x) { return 1 / (1 + std::exp(-x)); }, 2.5, 0, true},
    {function::silu, [](long double x) { return x == -infinity ? -0.0L : x / (1 + std::exp(-x)); }, 2.5, 1e-35, false},
    {function::erf, [](long double x) { return std::erf(x); }, 1.4, 0, false},
    {function::softplus, [](long double x) { return x > 100 ? x : std::log1p(std::exp(x)); }, 1.9, 0, true},
    {function::elu, [](long double x) { return x > 0 ? x : std::expm1(x); }, 1.0, 0, false},
    {function::sqrt, [](long double x) { return std::sqrt(x); }, 0.5, 0, false},
    {function::reciprocal, [](long double x) { return 1 / x; }, 0.5, 0, false},
    {function::sin, [](long double x) { return std::sin(x); }, 2.0, 1e-7, false},
    {function::cos, [](long double x) { return std::cos(x); }, 2.0, 1e-7, false},
    {function::asin, [](long double x) { return std::asin(x); }, 2.2, 0, false},
    {function::acos, [](long double x) { return std::acos(x); }, 1.1, 0, false},
    {function::atan, [](long double x) { return std::atan(x); }, 1.3, 0, false},
    {function::sinh, [](long double x) { return std::sinh(x); }, 1.5, 0, false},
    {function::cosh, [](long double x) { return std::cosh(x); }, 1.4, 0, false},
    {function::asinh, [](long double x) { return std::asinh(x); }, 1.8, 0, false},
    // Not all libraries give NaN below 1.
    {function::acosh, [](long double x) { return x < 1 ? std::sqrt(-1.0L) : std::acosh(x); }, 1.7, 0, false},
    {function::atanh, [](long double x) { return std::atanh(x); }, 1.9, 0, false},
};

/// Whether results have equal bits; any NaN equals any NaN.
bool same(const float* a, const float* b, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (bits_of(a[i]) != bits_of(b[i]) && !(std::isnan(a[i]) && std::isnan(b[i]))) return false;
  return true;
}

}  // namespace

TEST_CASE("math: vectors in lockstep have the bits of single ones") {
  for (const function f : {function::exp, function::erf, function::gelu})
    for_each_block([&](const std::vector<float>& x) {
      float alone[1024], by_two[1024] = {}, by_four[1024] = {};
      map(f, 1, 0, x.data(), alone, 1024);
      map_in_lockstep<2>(f, x.data(), by_two, 1024);
      map_in_lockstep<4>(f, x.data(), by_four, 1024);
      CAPTURE(static_cast<int>(f));
      REQUIRE(same(alone, by_two, 1024));
      REQUIRE(same(alone, by_four, 1024));
    });
}

TEST_CASE("math: documented errors hold over floats of every size") {
  for (const bound& b : bounds) {
    CAPTURE(static_cast<int>(b.f));
    double worst = 0;
    float at = 0;
    int wrong = 0;
    for_each_block([&](const std::vector<float>& x) {
      float y[1024];
      map(b.f, 1, 0, x.data(), y, 1024);
      for (std::size_t i = 0; i < 1024; ++i) {
        const long double want = b.reference(static_cast<long double>(x[i]));
        if (std::isnan(want) || std::isnan(y[i])) {
          wrong += std::isnan(want) != std::isnan(y[i]);
        } else if (std::isinf(static_cast<float>(want)) || std::isinf(y[i])) {
          wrong += static_cast<float>(want) != y[i];
        } else if (b.cuts && std::fabs(want) < cut_off) {
          wrong += y[i] != 0 && std::fabs(static_cast<double>(want)) < cut_off * 0.9998;
        } else {
          const double error = std::fabs(static_cast<double>(static_cast<long double>(y[i]) - want));
          if (error > b.absolute && error / unit_of(want) > worst) {
            worst = error / unit_of(want);
            at = x[i];
          }
        }
      }
    });
    CAPTURE(at);
    CHECK(wrong == 0);
    CHECK(worst <= b.ulp);
    CHECK(worst > 0.0);
  }
}

TEST_CASE("math: gelu is near in absolute terms, and in relative ones down to its end") {
  double absolute = 0, relative = 0;
  for_each_block([&](const std::vector<float>& x) {
    float y[1024];
    map(function::gelu, 0, 0, x.data(), y, 1024);
    for (std::size_t i = 0; i < 1024; ++i) {
      if (!std::isfinite(x[i])) continue;
      const double v = static_cast<double>(x[i]), want = v < -30 ? 0 : 0.5 * v * std::erfc(-v / std::sqrt(2.0));
      const double error = std::fabs(static_cast<double>(y[i]) - want);
      absolute = std::max(absolute, error / std::max(1.0, std::fabs(v)));
      if (v > -6 && std::fabs(want) > 1e-37) relative = std::max(relative, error / std::fabs(want));
    }
  });
  CHECK(absolute <= 1.2e-7);
  CHECK(relative <= 6e-6);
}

TEST_CASE("math: limits, zeros and NaN") {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const auto one = [](function f, float x) {
    std::vector<float> from(f32::lanes, x), to(f32::lanes);
    map(f, 1, 0.5f, from.data(), to.data(), from.size());
    for (float y : to) CHECK(bits_of(y) == bits_of(to[0]));
    return to[0];
  };
  CHECK(one(function::exp, -inf) == 0);
  CHECK(one(function::exp, inf) == inf);
  CHECK(one(function::exp, 88.72283f) < inf);
  CHECK(one(function::exp, 88.72284f) == inf);
  CHECK(one(function::exp, 0) == 1);
  CHECK(one(function::log, 0) == -inf);
  CHECK(one(function::log, -0.0f) == -inf);
  CHECK(one(function::log, inf) == inf);
  CHECK(std::isnan(one(function::log, -1)));
  CHECK(std::isnan(one(function::log, -inf)));
  CHECK(one(function::log, 1) == 0);
  CHECK(one(function::tanh, inf) == 1);
  CHECK(one(function::tanh, -inf) == -1);
  CHECK(bits_of(one(function::tanh, -0.0f)) == 0x80000000u);
  CHECK(one(function::sigmoid, -inf) == 0);
  CHECK(one(function::sigmoid, inf) == 1);
  CHECK(one(function::sigmoid, 0) == 0.5f);
  CHECK(one(function::silu, -inf) == 0);
  CHECK(one(function::silu, inf) == inf);
  CHECK(one(function::gelu, -inf) == 0);
  CHECK(one(function::gelu, inf) == inf);
  CHECK(one(function::erf, inf) == 1);
  CHECK(one(function::erf, -inf) == -1);
  CHECK(bits_of(one(function::erf, -0.0f)) == 0x80000000u);
  CHECK(one(function::elu, -inf) == -1);
  CHECK(one(function::softplus, -inf) == 0);
  CHECK(one(function::softplus, inf) == inf);
  for (function f : {function::asin, function::atan, function::sinh, function::asinh, function::atanh}) {
    CHECK(bits_of(one(f, -0.0f)) == 0x80000000u);
    CHECK(one(f, -1e-40f) == -1e-40f);
  }
  CHECK(one(function::asin, 1) == 1.57079637f);
  CHECK(one(function::acos, 1) == 0);
  CHECK(one(function::acos, -1) == 3.14159274f);
  CHECK(one(function::atan, -inf) == -1.57079637f);
  for (function f : {function::asin, function::acos, function::atanh})
    for (float x : {1.0000001f, -1.0000001f, inf, -inf}) CHECK(std::isnan(one(f, x)));
  CHECK(one(function::sinh, -inf) == -inf);
  CHECK(one(function::sinh, 89.415985f) < inf);
  CHECK(one(function::sinh, 89.415994f) == inf);
  CHECK(one(function::cosh, -inf) == inf);
  CHECK(one(function::cosh, 0) == 1);
  CHECK(one(function::asinh, -inf) == -inf);
  CHECK(one(function::acosh, inf) == inf);
  CHECK(bits_of(one(function::acosh, 1)) == 0);
  for (float x : {0.99999994f, 0.0f, -1.0f, -3.0f, -1e30f, -inf}) CHECK(std::isnan(one(function::acosh, x)));
  CHECK(one(function::atanh, -1) == -inf);
  CHECK(one(function::hard_swish, -3) == 0);
  CHECK(one(function::hard_swish, 4) == 4);
  CHECK(one(function::round, 2.5f) == 2);
  CHECK(one(function::round, -1.5f) == -2);
  for (function f :
       {function::exp,  function::log,   function::tanh,     function::sigmoid, function::silu,       function::erf,
        function::gelu, function::elu,   function::softplus, function::sqrt,    function::reciprocal, function::square,
        function::sin,  function::cos,   function::asin,     function::acos,    function::atan,       function::sinh,
        function::cosh, function::asinh, function::acosh,    function::atanh})
    for (std::uint32_t payload : {0x7fc00000u, 0xffc00000u, 0x7f800001u, 0x7fffffffu, 0xff812345u}) {
      CAPTURE(static_cast<int>(f));
      CHECK(std::isnan(one(f, float_of(payload))));
    }
  CHECK(std::isnan(nan));
}

TEST_CASE("math: a vector alone has the same bits as among others, for every function") {
  std::vector<float> x, a(256), b(256);
  for (int i = -128; i < 128; ++i) x.push_back(static_cast<float>(i) * 0.0731f);
  for (int f = 0; f < nsk::function_count; ++f) {
    CAPTURE(f);
    const function fn = static_cast<function>(f);
    map(fn, 0.25f, 0.5f, x.data(), a.data(), 256);
    map_one_by_one(fn, 0.25f, 0.5f, x.data(), b.data(), 256);
    for (std::size_t i = 0; i < 256; ++i) {
      const double want = oracle::apply(fn, 0.25, 0.5, static_cast<double>(x[i]));
      CHECK((bits_of(a[i]) == bits_of(b[i]) || (std::isnan(a[i]) && std::isnan(b[i]))));
      if (std::isfinite(want)) CHECK(static_cast<double>(a[i]) == doctest::Approx(want).epsilon(1e-6));
    }
  }
}

namespace {

/// Pairs of numbers: all of special ones, then as many random ones.
struct number_pairs {
  std::vector<float> x, y;
};
number_pairs sample_pairs(std::size_t count) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const float special[] = {0.0f,   -0.0f,   1.0f,  -1.0f,  2.0f,  -2.0f,  0.5f,  -0.5f, 3.0f,        inf,  -inf, nan,
                           1e-40f, -1e-45f, 3e38f, -3e38f, 1e30f, 1e-30f, -2.5f, 7.0f,  16777216.0f, 1e9f, 0.1f, -0.3f};
  number_pairs p;
  for (float a : special)
    for (float b : special) {
      p.x.push_back(a);
      p.y.push_back(b);
    }
  std::uint32_t state = 4711;
  const auto next = [&] { return state = state * 1664525u + 1013904223u; };
  while (p.x.size() < count || p.x.size() % 64 != 0) {
    const std::uint32_t a = next(), b = next();
    const bool whole = p.x.size() % 3 == 0, every_size = p.x.size() % 3 == 1;
    const auto number = [&](std::uint32_t v) {
      if (whole) return static_cast<float>((v >> 8) % 201) - 100;
      return every_size ? float_of(v) : static_cast<float>(static_cast<std::int32_t>(v)) / 1e8f;
    };
    p.x.push_back(number(a));
    p.y.push_back(number(b));
  }
  return p;
}

}  // namespace

TEST_CASE("math: angles of points in every quadrant") {
  const number_pairs p = sample_pairs(1 << 20);
  std::vector<float> z(p.x.size());
  angle(p.x.data(), p.y.data(), z.data(), z.size());
  double worst = 0;
  int wrong = 0;
  for (std::size_t i = 0; i < z.size(); ++i) {
    const double want = std::atan2(static_cast<double>(p.x[i]), static_cast<double>(p.y[i]));
    if (std::isnan(want) || std::isnan(z[i])) {
      wrong += std::isnan(want) != std::isnan(z[i]);
    } else {
      wrong += std::signbit(want) != std::signbit(z[i]);
      worst = std::max(worst, std::fabs(static_cast<double>(z[i]) - want) / unit_of(want));
    }
  }
  CHECK(wrong == 0);
  CHECK(worst <= 2.0);
  CHECK(worst > 0.3);
}

TEST_CASE("math: remainders are exact") {
  const number_pairs p = sample_pairs(1 << 20);
  std::vector<float> z(p.x.size());
  for (bool floors : {false, true}) {
    remainder(floors, p.x.data(), p.y.data(), z.data(), z.size());
    int wrong = 0;
    for (std::size_t i = 0; i < z.size(); ++i) {
      const double x = static_cast<double>(p.x[i]), y = static_cast<double>(p.y[i]);
      double want = std::fmod(x, y);
      if (floors && want != 0 && (want < 0) != (y < 0)) want += y;
      const float rounded = static_cast<float>(want);
      const bool good = std::isnan(want) ? std::isnan(z[i]) : bits_of(z[i]) == bits_of(rounded);
      if (!good && ++wrong < 5) {
        CAPTURE(p.x[i]);
        CAPTURE(p.y[i]);
        CHECK(z[i] == rounded);
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("math: powers") {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> x, y;
  const float special[] = {0.0f,        -0.0f,      1.0f,         -1.0f,       2.0f,         -2.0f,  0.5f,    -0.5f,
                           3.0f,        -3.0f,      inf,          -inf,        nan,          1e-40f, -1e-40f, 3e38f,
                           -3e38f,      1e30f,      16777216.0f,  16777215.0f, -16777215.0f, 2.5f,   -2.5f,   1e-30f,
                           0.99999994f, 1.0000001f, -0.99999994f, 1e9f,        127.0f,       128.0f, -126.0f, -149.0f};
  for (float a : special)
    for (float b : special) {
      x.push_back(a);
      y.push_back(b);
    }
  std::uint32_t state = 12345;
  const auto next = [&] { return state = state * 1664525u + 1013904223u; };
  for (int i = 0; i < 300000; ++i) {
    const std::uint32_t a = next(), b = next();
    if (i % 3 == 0) {
      x.push_back(float_of(a));
      y.push_back(float_of(b));
    } else if (i % 3 == 1) {
      x.push_back(std::ldexp(1.0f + static_cast<float>(a & 0x7fffffu) / 8388608.0f, static_cast<int>(a >> 28) - 8));
      y.push_back(static_cast<float>(static_cast<std::int32_t>(b)) / 1e8f);
    } else {
      x.push_back(static_cast<float>((a >> 8) % 41) - 20);
      y.push_back(static_cast<float>((b >> 8) % 21) - 10);
    }
  }
  while (x.size() % 64 != 0) {
    x.push_back(1);
    y.push_back(1);
  }
  std::vector<float> z(x.size());
  power(x.data(), y.data(), z.data(), z.size());
  double worst = 0;
  int wrong = 0;
  for (std::size_t i = 0; i < z.size(); ++i) {
    const double want = std::pow(static_cast<double>(x[i]), static_cast<double>(y[i]));
    const float rounded = static_cast<float>(want);
    CAPTURE(x[i]);
    CAPTURE(y[i]);
    bool good;
    if (std::isnan(want) || std::isnan(z[i])) {
      good = std::isnan(want) == std::isnan(z[i]);
    } else if (std::fabs(want) < cut_off) {
      good = (z[i] == 0 || std::fabs(want) > cut_off * 0.9998) && std::signbit(z[i]) == std::signbit(rounded);
    } else if (std::isinf(rounded) || std::isinf(z[i])) {
      good = rounded == z[i];
    } else {
      const double error = std::fabs(static_cast<double>(z[i]) - want) / unit_of(want);
      worst = std::max(worst, error);
      good = static_cast<double>(rounded) != want || rounded == z[i];  // what a float can hold is exact
    }
    if (!good) ++wrong;
    if (!good) CHECK(z[i] == rounded);
  }
  CHECK(wrong == 0);
  CHECK(worst <= 1.0);
  CHECK(worst > 0.3);
}

TEST_CASE("math: the bits are the recorded ones, whatever the instruction set, compiler and optimisation") {
  std::uint64_t hash = 1469598103934665603u;
  std::vector<float> x(4096), y(4096);
  std::uint32_t state = 7;
  for (float& v : x) {
    state = state * 1664525u + 1013904223u;
    v = (static_cast<float>(state >> 8) / 8388608.0f - 1.0f) * ((state & 64) != 0 ? 100.0f : 3.0f);
  }
  const auto mix = [&] {
    for (float v : y) hash = (hash ^ (v != v ? 0x7fc00000u : bits_of(v))) * 1099511628211u;
  };
  const auto mix_functions = [&](function first, function last) {
    for (int f = static_cast<int>(first); f <= static_cast<int>(last); ++f) {
      map(static_cast<function>(f), 0.3f, 0.6f, x.data(), y.data(), x.size());
      mix();
    }
  };
  mix_functions(function::identity, function::cos);
  std::vector<float> exponents(x.rbegin(), x.rend());
  power(x.data(), exponents.data(), y.data(), x.size());
  mix();
  CHECK(hash == 6910392198845954978u);

  mix_functions(function::asin, function::atanh);
  angle(x.data(), exponents.data(), y.data(), x.size());
  mix();
  for (bool floors : {false, true}) {
    remainder(floors, x.data(), exponents.data(), y.data(), x.size());
    mix();
  }
  CHECK(hash == 10132557842268080418u);
}
