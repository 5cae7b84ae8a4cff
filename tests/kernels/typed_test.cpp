// SPDX-License-Identifier: MIT
// Operators on any element type: values at the edges of types, broadcasts, every layout, random tiles.
#include <netsuke/kernels/elements/arithmetic.hpp>
#include <netsuke/kernels/elements/cast.hpp>
#include <netsuke/kernels/elements/compare.hpp>
#include <netsuke/kernels/elements/select.hpp>
#include "tail_fixture.hpp"

namespace {
using nsk::dtype;

/// The same elements, one of whose dimensions is read again and again.
nsk::tensor_view repeated(const tail::tensor& t, int dimension, std::int32_t length) {
  nsk::tensor_view v = t.view();
  v.shape[dimension] = length;
  v.stride[dimension] = 0;
  return v;
}

}  // namespace

TEST_CASE("cast: floats lose their fraction and saturate, integers wrap") {
  tail::random r(1);
  const float infinity = std::numeric_limits<float>::infinity();
  const float values[] = {0.0f,           -0.0f,   0.99f,    -0.99f,   1.5f,      -2.5f,         127.9f,
                          128.0f,         -128.9f, -129.0f,  255.9f,   256.0f,    2147483520.0f, 2147483648.0f,
                          -2147483648.0f, 9.3e18f, -9.3e18f, infinity, -infinity, std::nanf("")};
  const int n = static_cast<int>(sizeof values / sizeof *values);
  tail::tensor in({n}, tail::typed_layout(r, 1, dtype::float32));
  for (int i = 0; i < n; ++i) in.at<float>({i}) = values[i];
  const auto wanted = [](double x, double low, double high) {
    return std::isnan(x) ? 0.0 : x <= low ? low : x >= high ? high : std::trunc(x);
  };
  const auto check = [&](dtype type, auto tag) {
    using T = decltype(tag);
    tail::tensor out({n}, tail::typed_layout(r, 1, type));
    tail::run_checked(r, out, [&](const nsk::tile_range& t) {
      nsk::kernels::cast({in.view(), out.view()}, t, nullptr);
    });
    for (int i = 0; i < n; ++i) {
      CAPTURE(values[i]);
      const double low = static_cast<double>(std::numeric_limits<T>::min()),
                   high = static_cast<double>(std::numeric_limits<T>::max());
      const double want = wanted(static_cast<double>(values[i]), low, high);
      if (want >= 9.2e18)
        CHECK(out.at<T>({i}) == std::numeric_limits<T>::max());
      else
        CHECK(static_cast<double>(out.at<T>({i})) == want);
    }
  };
  check(dtype::int8, std::int8_t{});
  check(dtype::uint8, std::uint8_t{});
  check(dtype::int16, std::int16_t{});
  check(dtype::int32, std::int32_t{});
  check(dtype::int64, std::int64_t{});

  tail::tensor wide({200}, tail::typed_layout(r, 1, dtype::int64)),
      narrow({200}, tail::typed_layout(r, 1, dtype::int8)), real({200}, tail::typed_layout(r, 1, dtype::float32)),
      truth({200}, tail::typed_layout(r, 1, dtype::boolean));
  for (int i = 0; i < 200; ++i)
    wide.at<std::int64_t>({i}) = i < 4 ? i - 1 : (std::int64_t{r.below(1 << 30)} << 32) + r.below(1 << 30);
  for (auto* out : {&narrow, &real, &truth})
    tail::run_checked(r, *out, [&](const nsk::tile_range& t) {
      nsk::kernels::cast({wide.view(), out->view()}, t, nullptr);
    });
  for (int i = 0; i < 200; ++i) {
    const std::int64_t x = wide.at<std::int64_t>({i});
    CHECK(narrow.at<std::int8_t>({i}) == static_cast<std::int8_t>(x));
    CHECK(real.at<float>({i}) == static_cast<float>(x));
    CHECK(truth.at<std::uint8_t>({i}) == (x != 0 ? 1 : 0));
  }
}

TEST_CASE("cast: narrow integers that are together become floats, whatever the count") {
  tail::random r(12);
  const auto check = [&](nsk::dtype type, auto zero) {
    using T = decltype(zero);
    for (int count : {1, 7, 8, 15, 63, 64, 65, 200}) {
      tail::tensor in({count}, tail::typed_layout(r, 1, type)), out({count}, tail::typed_layout(r, 1, dtype::float32));
      for (int i = 0; i < count; ++i)
        in.at<T>({i}) = i < 2 ? (i == 0 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max())
                              : static_cast<T>(r.below(1 << 30));
      tail::run_checked(r, out, [&](const nsk::tile_range& t) {
        nsk::kernels::cast({in.view(), out.view()}, t, nullptr);
      });
      for (int i = 0; i < count; ++i) CHECK(out.at<float>({i}) == static_cast<float>(in.at<T>({i})));
    }
  };
  check(dtype::uint8, std::uint8_t{});
  check(dtype::int8, std::int8_t{});
  check(dtype::int16, std::int16_t{});
  check(dtype::int32, std::int32_t{});
}

TEST_CASE("compare: every relation, with broadcasts and NaN") {
  tail::random r(2);
  using kind = nsk::compare_kind;
  for (const kind k : {kind::equal, kind::not_equal, kind::less, kind::less_equal}) {
    tail::tensor a({3, 5, 7}, tail::typed_layout(r, 3, dtype::float32)),
        b({3, 1, 7}, tail::typed_layout(r, 3, dtype::float32)),
        out({3, 5, 7}, tail::typed_layout(r, 3, dtype::boolean));
    const auto value = [&] { return r.below(9) == 0 ? std::nanf("") : static_cast<float>(r.below(4)); };
    oracle::for_each_index({3, 5, 7}, [&](const std::vector<int>& i) { a.at<float>(i) = value(); });
    oracle::for_each_index({3, 1, 7}, [&](const std::vector<int>& i) { b.at<float>(i) = value(); });
    tail::run_checked(r, out, [&](const nsk::tile_range& t) {
      nsk::kernels::compare({{k}, a.view(), repeated(b, 1, 5), out.view()}, t, nullptr);
    });
    oracle::for_each_index({3, 5, 7}, [&](const std::vector<int>& i) {
      const float x = a.at<float>(i), y = b.at<float>({i[0], 0, i[2]});
      const bool want = k == kind::equal ? x == y : k == kind::not_equal ? x != y : k == kind::less ? x < y : x <= y;
      CHECK(out.at<std::uint8_t>(i) == (want ? 1 : 0));
    });
  }
}

TEST_CASE("select: any type, a condition whose true is any byte but 0") {
  tail::random r(3);
  tail::tensor condition({4, 9}, tail::typed_layout(r, 2, dtype::boolean)),
      a({4, 9}, tail::typed_layout(r, 2, dtype::int64)), b({1, 9}, tail::typed_layout(r, 2, dtype::int64)),
      out({4, 9}, tail::typed_layout(r, 2, dtype::int64));
  oracle::for_each_index({4, 9}, [&](const std::vector<int>& i) {
    condition.at<std::uint8_t>(i) = static_cast<std::uint8_t>(r.coin() ? r.below(255) + 1 : 0);
    a.at<std::int64_t>(i) = r.below(1000);
    b.at<std::int64_t>({0, i[1]}) = -r.below(1000);
  });
  tail::run_checked(r, out, [&](const nsk::tile_range& t) {
    nsk::kernels::select({condition.view(), a.view(), repeated(b, 0, 4), out.view()}, t, nullptr);
  });
  oracle::for_each_index({4, 9}, [&](const std::vector<int>& i) {
    CHECK(out.at<std::int64_t>(i) ==
          (condition.at<std::uint8_t>(i) ? a.at<std::int64_t>(i) : b.at<std::int64_t>({0, i[1]})));
  });
}

TEST_CASE("arithmetic: integers wrap, remainders have their signs, division by zero raises a flag") {
  tail::random r(4);
  using kind = nsk::arithmetic_kind;
  constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min(),
                         highest = std::numeric_limits<std::int32_t>::max();
  const std::int32_t edges[] = {lowest, lowest + 1, -7, -2, -1, 0, 1, 2, 5, highest - 1, highest};
  const int n = static_cast<int>(sizeof edges / sizeof *edges);
  for (int k = 0; k < 11; ++k) {
    tail::tensor a({n, n}, tail::typed_layout(r, 2, dtype::int32)), b({n, n}, tail::typed_layout(r, 2, dtype::int32)),
        out({n, n}, tail::typed_layout(r, 2, dtype::int32));
    oracle::for_each_index({n, n}, [&](const std::vector<int>& i) {
      a.at<std::int32_t>(i) = edges[i[0]], b.at<std::int32_t>(i) = edges[i[1]];
    });
    std::uint32_t flags = 0;
    tail::run_checked(r, out, [&](const nsk::tile_range& t) {
      nsk::kernels::arithmetic({{static_cast<kind>(k)}, a.view(), b.view(), out.view(), &flags}, t, nullptr);
    });
    const bool divides = k >= 3 && k <= 5;
    CHECK(flags == (divides ? nsk::division_by_zero : 0u));
    oracle::for_each_index({n, n}, [&](const std::vector<int>& i) {
      const std::int64_t x = edges[i[0]], y = edges[i[1]];
      const std::int64_t floor_rest = y == 0 ? 0 : ((x % y) + y) % y;
      const std::int64_t results[] = {
          x + y, x - y, x * y, y == 0 ? 0 : x / y, floor_rest, y == 0 ? 0 : x % y, std::min(x, y), std::max(x, y),
          x & y, x | y, x ^ y};
      CAPTURE(k);
      CAPTURE(x);
      CAPTURE(y);
      CHECK(out.at<std::int32_t>(i) == static_cast<std::int32_t>(static_cast<std::uint32_t>(results[k])));
    });
  }
}

TEST_CASE("arithmetic: powers of integers wrap, negative exponents round towards zero") {
  tail::random r(5);
  const std::int64_t bases[] = {std::numeric_limits<std::int64_t>::min(), -10, -3, -1, 0, 1, 2, 7, 1000003};
  const std::int64_t exponents[] = {-4, -3, -1, 0, 1, 2, 3, 40, 65};
  constexpr int n = 9;
  tail::tensor a({n, n}, tail::typed_layout(r, 2, dtype::int64)), b({n, n}, tail::typed_layout(r, 2, dtype::int64)),
      out({n, n}, tail::typed_layout(r, 2, dtype::int64));
  oracle::for_each_index({n, n}, [&](const std::vector<int>& i) {
    a.at<std::int64_t>(i) = bases[i[0]], b.at<std::int64_t>(i) = exponents[i[1]];
  });
  std::uint32_t flags = 0;
  nsk::kernels::arithmetic({{nsk::arithmetic_kind::pow}, a.view(), b.view(), out.view(), &flags},
                           tail::whole(out.view()), nullptr);
  CHECK(flags == nsk::division_by_zero);
  oracle::for_each_index({n, n}, [&](const std::vector<int>& i) {
    const std::int64_t x = bases[i[0]], y = exponents[i[1]];
    std::uint64_t want = 1;
    for (std::int64_t k = 0; k < std::abs(y); ++k) want *= static_cast<std::uint64_t>(x);
    if (y < 0 && x != 1 && x != -1) want = 0;
    CAPTURE(x);
    CAPTURE(y);
    CHECK(out.at<std::int64_t>(i) == static_cast<std::int64_t>(want));
  });
}
