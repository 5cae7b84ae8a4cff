// SPDX-License-Identifier: MIT
// Operators on any element type along lines that fill vectors: every type and kind, against the plain loop; operands
// that are dense, repeated, or apart in memory.
#include <algorithm>
#include <cmath>
#include <limits>
#include <netsuke/kernels/lines/arg_reduce.hpp>
#include <netsuke/kernels/elements/arithmetic.hpp>
#include <netsuke/kernels/elements/cast.hpp>
#include <netsuke/kernels/elements/compare.hpp>
#include <netsuke/kernels/elements/scatter.hpp>
#include <netsuke/kernels/elements/select.hpp>
#include "tail_fixture.hpp"

namespace {
using nsk::dtype;

constexpr int rows = 3, columns = 700;
/// How an operand of [rows, columns] is in memory.
enum class form { dense, transposed, repeated };
constexpr form forms[] = {form::dense, form::transposed, form::repeated};

tail::layout layout_of(form f, dtype type) {
  tail::layout l;
  if (f == form::transposed) l.order = {1, 0};
  l.type = type;
  return l;
}
/// The first column for all, where the operand is repeated.
nsk::tensor_view shown(const tail::tensor& t, form f) {
  nsk::tensor_view v = t.view();
  if (f == form::repeated) v.stride[1] = 0;
  return v;
}

/// Calls f(T{}) for the element types; booleans come as bytes.
template <class F>
void for_each_type(F f) {
  f(dtype::float32, float{});
  f(dtype::int8, std::int8_t{});
  f(dtype::uint8, std::uint8_t{});
  f(dtype::boolean, bool{});
  f(dtype::int16, std::int16_t{});
  f(dtype::int32, std::int32_t{});
  f(dtype::int64, std::int64_t{});
}
template <class T>
using in_memory = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

/// Small numbers, so that some are equal, and the edges of the type.
template <class T>
in_memory<T> any_number(tail::random& r) {
  if constexpr (std::is_same_v<T, float>) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const float special[] = {std::nanf(""), infinity, -infinity, -0.0f, 3e9f, -3e9f, 1e19f, -1e19f, 127.9f, -128.9f};
    return r.below(6) == 0 ? special[r.below(10)] : static_cast<float>(r.below(9) - 4) * 0.75f;
  } else if constexpr (std::is_same_v<T, bool>) {
    return static_cast<std::uint8_t>(r.coin() ? r.below(255) + 1 : 0);
  } else {
    if (r.below(6) == 0) return r.coin() ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
    if (r.below(6) == 0) return static_cast<T>(static_cast<std::uint64_t>(r.bits()) << 32 | r.bits());
    return static_cast<T>(std::is_signed_v<T> ? r.below(9) - 4 : r.below(9));
  }
}
template <class T>
void fill_any(tail::random& r, tail::tensor& t) {
  oracle::for_each_index(t.shape(), [&](const std::vector<int>& i) { t.at<in_memory<T>>(i) = any_number<T>(r); });
}
template <class T>
T number_at(tail::tensor& t, form f, int row, int column) {
  return static_cast<T>(t.at<in_memory<T>>({row, f == form::repeated ? 0 : column}));
}

template <class T>
T plain_power(T x, T y) {
  if (y < 0) return x == 1 ? T{1} : x == -1 ? (y % 2 == 0 ? T{1} : T{-1}) : T{0};
  std::uint64_t result = 1, square = static_cast<std::uint64_t>(x);
  for (auto left = static_cast<std::uint64_t>(y); left != 0; left >>= 1, square *= square)
    if (left % 2 == 1) result *= square;
  return static_cast<T>(result);
}
/// The definition, in integers of twice the width where that is needed.
template <class T>
T plain(nsk::arithmetic_kind kind, T x, T y) {
  using kinds = nsk::arithmetic_kind;
  const auto a = static_cast<std::uint64_t>(x), b = static_cast<std::uint64_t>(y);
  const bool overflows = x == std::numeric_limits<T>::min() && y == -1;
  const T quotient = y == 0      ? T{0}
                     : overflows ? x
                                 : static_cast<T>(x / y),
          rest = y == 0 || overflows ? T{0} : static_cast<T>(x % y);
  switch (kind) {
    case kinds::add: return static_cast<T>(a + b);
    case kinds::sub: return static_cast<T>(a - b);
    case kinds::mul: return static_cast<T>(a * b);
    case kinds::div: return quotient;
    case kinds::mod: return rest != 0 && (rest < 0) != (y < 0) ? static_cast<T>(rest + y) : rest;
    case kinds::fmod: return rest;
    case kinds::min: return x < y ? x : y;
    case kinds::max: return x < y ? y : x;
    case kinds::bit_and: return x & y;
    case kinds::bit_or: return x | y;
    case kinds::bit_xor: return x ^ y;
    case kinds::pow: return plain_power(x, y);
  }
  return 0;
}

template <class T>
void check_arithmetic(tail::random& r, nsk::arithmetic_kind kind, form left, form right, form result) {
  const dtype type = nsk::dtype_of<T>();
  tail::tensor a({rows, columns}, layout_of(left, type)), b({rows, columns}, layout_of(right, type)),
      out({rows, columns}, layout_of(result, type));
  fill_any<T>(r, a);
  fill_any<T>(r, b);
  std::uint32_t flags = 0;
  tail::run_checked(r, out, [&](const nsk::tile_range& t) {
    nsk::kernels::arithmetic({{kind}, shown(a, left), shown(b, right), out.view(), &flags}, t, nullptr);
  });
  bool equal = true;
  oracle::for_each_index({rows, columns}, [&](const std::vector<int>& i) {
    const T x = number_at<T>(a, left, i[0], i[1]), y = number_at<T>(b, right, i[0], i[1]);
    equal = equal && out.at<T>(i) == plain(kind, x, y);
  });
  CHECK_MESSAGE(equal, "kind " << static_cast<int>(kind) << " of " << sizeof(T) << " bytes");
}

}  // namespace

TEST_CASE("arithmetic: lines that fill vectors, dense, repeated and apart") {
  tail::random r(71);
  for (int k = 0; k <= static_cast<int>(nsk::arithmetic_kind::pow); ++k)
    for (const form left : forms)
      for (const form right : forms) {
        const form result = r.coin() ? form::dense : form::transposed;
        check_arithmetic<std::int32_t>(r, static_cast<nsk::arithmetic_kind>(k), left, right, result);
        check_arithmetic<std::int64_t>(r, static_cast<nsk::arithmetic_kind>(k), left, right, result);
      }
}

TEST_CASE("arithmetic: booleans whose true is any byte but 0, in lines that fill vectors") {
  tail::random r(72);
  using kinds = nsk::arithmetic_kind;
  for (const kinds kind : {kinds::bit_and, kinds::bit_or, kinds::bit_xor}) {
    tail::tensor a({rows, columns}, layout_of(form::dense, dtype::boolean)),
        b({rows, columns}, layout_of(form::dense, dtype::boolean)),
        out({rows, columns}, layout_of(form::dense, dtype::boolean));
    fill_any<bool>(r, a);
    fill_any<bool>(r, b);
    tail::run_checked(r, out, [&](const nsk::tile_range& t) {
      nsk::kernels::arithmetic({{kind}, a.view(), b.view(), out.view(), nullptr}, t, nullptr);
    });
    oracle::for_each_index({rows, columns}, [&](const std::vector<int>& i) {
      const bool x = a.at<std::uint8_t>(i) != 0, y = b.at<std::uint8_t>(i) != 0,
                 want = kind == kinds::bit_and  ? x && y
                        : kind == kinds::bit_or ? x || y
                                                : x != y;
      REQUIRE(out.at<std::uint8_t>(i) == (want ? 1 : 0));
    });
  }
}

TEST_CASE("compare: every type, in lines that fill vectors") {
  tail::random r(73);
  using kinds = nsk::compare_kind;
  for (const kinds kind : {kinds::equal, kinds::not_equal, kinds::less, kinds::less_equal})
    for_each_type([&](dtype type, auto tag) {
      using T = decltype(tag);
      const form left = forms[r.below(3)], right = forms[r.below(3)];
      tail::tensor a({rows, columns}, layout_of(left, type)), b({rows, columns}, layout_of(right, type)),
          out({rows, columns}, layout_of(form::dense, dtype::boolean));
      fill_any<T>(r, a);
      fill_any<T>(r, b);
      tail::run_checked(r, out, [&](const nsk::tile_range& t) {
        nsk::kernels::compare({{kind}, shown(a, left), shown(b, right), out.view()}, t, nullptr);
      });
      bool equal = true;
      oracle::for_each_index({rows, columns}, [&](const std::vector<int>& i) {
        const T x = number_at<T>(a, left, i[0], i[1]), y = number_at<T>(b, right, i[0], i[1]);
        const bool want = kind == kinds::equal       ? x == y
                          : kind == kinds::not_equal ? x != y
                          : kind == kinds::less      ? x < y
                                                     : x <= y;
        equal = equal && out.at<std::uint8_t>(i) == (want ? 1 : 0);
      });
      CHECK_MESSAGE(equal, "kind " << static_cast<int>(kind) << ", type " << static_cast<int>(type));
    });
}

namespace {

/// The definition of Cast.
template <class To, class From>
in_memory<To> plain_cast(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From{} ? 1 : 0;
  } else if constexpr (std::is_same_v<From, float> && std::is_integral_v<To>) {
    if (std::isnan(x)) return 0;
    const double wide = std::trunc(static_cast<double>(x));
    if (wide <= static_cast<double>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (wide >= static_cast<double>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    return static_cast<To>(wide);
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace

TEST_CASE("cast: every type to every other, in lines that fill vectors") {
  tail::random r(74);
  for_each_type([&](dtype from_type, auto from) {
    for_each_type([&](dtype to_type, auto to) {
      using From = decltype(from);
      using To = decltype(to);
      const form given = forms[r.below(3)], made = r.coin() ? form::dense : form::transposed;
      tail::tensor in({rows, columns}, layout_of(given, from_type)), out({rows, columns}, layout_of(made, to_type));
      fill_any<From>(r, in);
      tail::run_checked(r, out, [&](const nsk::tile_range& t) {
        nsk::kernels::cast({shown(in, given), out.view()}, t, nullptr);
      });
      bool equal = true;
      oracle::for_each_index({rows, columns}, [&](const std::vector<int>& i) {
        const auto want = plain_cast<To>(number_at<From>(in, given, i[0], i[1]));
        const auto got = out.at<in_memory<To>>(i);
        equal = equal && (got == want || (got != got && want != want));
      });
      CHECK_MESSAGE(equal, static_cast<int>(from_type) << " to " << static_cast<int>(to_type));
    });
  });
}

TEST_CASE("select: every size, in lines that fill vectors") {
  tail::random r(75);
  for_each_type([&](dtype type, auto tag) {
    using T = decltype(tag);
    for (const form chosen : forms) {
      const form left = forms[r.below(3)], right = forms[r.below(3)];
      tail::tensor condition({rows, columns}, layout_of(chosen, dtype::boolean)),
          a({rows, columns}, layout_of(left, type)), b({rows, columns}, layout_of(right, type)),
          out({rows, columns}, layout_of(form::dense, type));
      fill_any<bool>(r, condition);
      fill_any<T>(r, a);
      fill_any<T>(r, b);
      tail::run_checked(r, out, [&](const nsk::tile_range& t) {
        nsk::kernels::select({shown(condition, chosen), shown(a, left), shown(b, right), out.view()}, t, nullptr);
      });
      bool equal = true;
      oracle::for_each_index({rows, columns}, [&](const std::vector<int>& i) {
        using M = in_memory<T>;
        const auto at = [&](form f) { return std::vector<int>{i[0], f == form::repeated ? 0 : i[1]}; };
        const M want = condition.at<std::uint8_t>(at(chosen)) != 0 ? a.at<M>(at(left)) : b.at<M>(at(right));
        equal = equal && std::memcmp(&want, &out.at<M>(i), sizeof want) == 0;
      });
      CHECK(equal);
    }
  });
}

namespace {

/// Position of the best by the definition: NaN is never better than anything.
template <class T>
int plain_best(tail::tensor& in, int row, bool largest, bool last) {
  int best = 0;
  for (int i = 1; i < in.shape()[1]; ++i) {
    const T x = in.at<T>({row, i}), y = in.at<T>({row, best});
    if ((largest ? x > y : x < y) || (last && x == y)) best = i;
  }
  return best;
}
template <class T>
void check_best(tail::random& r, tail::tensor& in) {
  tail::tensor out({rows, 1}, layout_of(form::dense, dtype::int64));
  for (const bool largest : {false, true})
    for (const bool last : {false, true}) {
      tail::run_checked(r, out, [&](const nsk::tile_range& t) {
        const auto kind = largest ? nsk::arg_reduce_kind::max : nsk::arg_reduce_kind::min;
        nsk::kernels::arg_reduce({{1, kind, last}, in.view(), out.view()}, t, nullptr);
      });
      for (int row = 0; row < rows; ++row)
        CHECK(out.at<std::int64_t>({row, 0}) == plain_best<T>(in, row, largest, last));
    }
}

}  // namespace

TEST_CASE("arg_reduce: long lines, equal ones, NaN first and later") {
  tail::random r(76);
  for (const int length : {16, 31, 64, 257, 700})
    for (int round = 0; round < 6; ++round) {
      tail::tensor in({rows, length}, {});
      oracle::for_each_index(in.shape(), [&](const std::vector<int>& i) {
        const bool special = r.below(round % 3 == 0 ? 3 : 40) == 0;
        in.at<float>(i) = special ? any_number<float>(r) : r.real(round < 3 ? 9.0f : 0.1f);
      });
      if (round % 2 == 0) in.at<float>({1, 0}) = std::nanf("");
      check_best<float>(r, in);
      tail::tensor narrow({rows, length}, layout_of(form::dense, dtype::int32)),
          wide({rows, length}, layout_of(form::dense, dtype::int64)),
          bytes({rows, length}, layout_of(form::dense, dtype::uint8)),
          signed_bytes({rows, length}, layout_of(form::dense, dtype::int8));
      fill_any<std::int32_t>(r, narrow);
      fill_any<std::int64_t>(r, wide);
      fill_any<std::uint8_t>(r, bytes);
      fill_any<std::int8_t>(r, signed_bytes);
      check_best<std::int32_t>(r, narrow);
      check_best<std::int64_t>(r, wide);
      check_best<std::uint8_t>(r, bytes);
      check_best<std::int8_t>(r, signed_bytes);
    }
}

TEST_CASE("scatter: a mask chooses updates, which take the first positions") {
  tail::random r(77);
  for (const int width : {1, 4, 40})
    for (int round = 0; round < 20; ++round) {
      const int length = r.between(1, 90), count = r.between(1, length), share = r.below(4);
      const bool along_rows = r.coin();
      const std::vector<int> shape = along_rows ? std::vector<int>{width, length} : std::vector<int>{length, width},
                             given = along_rows ? std::vector<int>{width, count} : std::vector<int>{count, width};
      const int axis = along_rows ? 1 : 0;
      tail::tensor data(shape, tail::typed_layout(r, 2, dtype::int64)),
          out(shape, tail::typed_layout(r, 2, dtype::int64)), updates(given, tail::typed_layout(r, 2, dtype::int64)),
          mask({count}, layout_of(form::dense, dtype::boolean));
      fill_any<std::int64_t>(r, data);
      fill_any<std::int64_t>(r, updates);
      for (int k = 0; k < count; ++k)
        mask.at<std::uint8_t>({k}) = static_cast<std::uint8_t>(r.below(3) < share ? r.below(255) + 1 : 0);
      nsk::tensor_view chosen = mask.view();
      chosen.rank = 2;
      chosen.shape[axis] = count;
      chosen.shape[1 - axis] = width;
      chosen.stride[axis] = mask.view().stride[0];
      chosen.stride[1 - axis] = 0;
      std::uint32_t flags = 0;
      tail::run_checked(
          r, out,
          [&](const nsk::tile_range& t) {
            nsk::kernels::scatter(
                {{axis, nsk::scatter_kind::replace}, data.view(), chosen, updates.view(), out.view(), &flags}, t,
                nullptr);
          },
          1, along_rows ? 1 : length, along_rows ? length : 1);
      CHECK(flags == 0);
      std::vector<int> order;
      for (int k = 0; k < count; ++k)
        if (mask.at<std::uint8_t>({k}) != 0) order.push_back(k);
      oracle::for_each_index(shape, [&](const std::vector<int>& i) {
        const auto position = static_cast<std::size_t>(i[static_cast<std::size_t>(axis)]);
        std::vector<int> from = i;
        if (position < order.size()) from[static_cast<std::size_t>(axis)] = order[position];
        CHECK(out.at<std::int64_t>(i) ==
              (position < order.size() ? updates.at<std::int64_t>(from) : data.at<std::int64_t>(i)));
      });
    }
}

TEST_CASE("scatter: indices that count up, from the end too, and beside those that are outside") {
  tail::random r(78);
  const int length = 30, lines = 5;
  const std::vector<int> indices = {3,  4,  5,  6,  7, 8, 9,  10, 11,  12, 13, 14, 15,  16,  17,  18,
                                    28, 29, 30, 31, 4, 5, 6,  -3, -2,  -1, 0,  1,  -31, -30, -29, 2,
                                    3,  4,  5,  5,  6, 6, -9, -8, -40, 29, 0,  1,  2,   3};
  const int count = static_cast<int>(indices.size());
  for (const auto kind : {nsk::scatter_kind::replace, nsk::scatter_kind::add, nsk::scatter_kind::max}) {
    tail::tensor data({lines, length}, {}), out({lines, length}, {}), updates({lines, count}, {}),
        index({count}, layout_of(form::dense, dtype::int32));
    data.fill_random(r, 1);
    updates.fill_random(r, 100);
    std::vector<float> want;
    oracle::for_each_index({lines, length}, [&](const std::vector<int>& i) { want.push_back(data.at<float>(i)); });
    for (int k = 0; k < count; ++k) {
      const int i = indices[static_cast<std::size_t>(k)], to = i < -length   ? 0
                                                               : i < 0       ? i + length
                                                               : i >= length ? length - 1
                                                                             : i;
      index.at<std::int32_t>({k}) = i;
      for (int l = 0; l < lines; ++l) {
        float& there = want[static_cast<std::size_t>(l * length + to)];
        const float x = updates.at<float>({l, k});
        there = kind == nsk::scatter_kind::replace ? x
                : kind == nsk::scatter_kind::add   ? there + x
                                                   : std::max(there, x);
      }
    }
    nsk::tensor_view shared = index.view();
    shared.rank = 2;
    shared.shape[0] = lines;
    shared.shape[1] = count;
    shared.stride[0] = 0;
    shared.stride[1] = 1;
    std::uint32_t flags = 0;
    tail::run_checked(
        r, out,
        [&](const nsk::tile_range& t) {
          nsk::kernels::scatter({{1, kind}, data.view(), shared, updates.view(), out.view(), &flags}, t, nullptr);
        },
        1, 1, length);
    CHECK(flags == nsk::index_clamped);
    bool equal = true;
    std::size_t at = 0;
    oracle::for_each_index({lines, length},
                           [&](const std::vector<int>& i) { equal = equal && out.at<float>(i) == want[at++]; });
    CHECK(equal);
  }
}
