// SPDX-License-Identifier: MIT
// matrix_function: determinants and inverses of every size, layouts, tiles, singular matrices, NaN.
#include <netsuke/kernels/dense/matrix_function.hpp>
#include "tail_fixture.hpp"

namespace {

using nsk::matrix_kind;

struct matrices {
  matrices(tail::random& r, int count, int n)
      : in({count, n, n}, tail::random_layout(r, 3, false)),
        determinant({count, 1, 1}, {}),
        inverse({count, n, n}, tail::random_layout(r, 3, false)) {}
  tail::tensor in, determinant, inverse;

  void run(tail::random& r) {
    alignas(64) static std::byte scratch[nsk::kernels::matrix_function_scratch_bytes(16)];
    for (const matrix_kind kind : {matrix_kind::determinant, matrix_kind::inverse}) {
      tail::tensor& out = kind == matrix_kind::inverse ? inverse : determinant;
      const nsk::kernels::matrix_function_args a{{kind}, in.view(), out.view()};
      const int n = out.view().shape[1];
      tail::run_checked(
          r, out, [&](const nsk::tile_range& t) { nsk::kernels::matrix_function(a, t, scratch); }, 1, n, n);
    }
  }
};

/// Leibniz's formula: the signed sum over permutations.
double leibniz(const oracle::array& x, int m, int n) {
  std::vector<int> p(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) p[static_cast<std::size_t>(i)] = i;
  double sum = 0;
  do {
    double product = 1;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < i; ++j)
        if (p[static_cast<std::size_t>(j)] > p[static_cast<std::size_t>(i)]) product = -product;
    for (int i = 0; i < n; ++i) product *= x({m, i, p[static_cast<std::size_t>(i)]});
    sum += product;
  } while (std::next_permutation(p.begin(), p.end()));
  return sum;
}

}  // namespace

TEST_CASE("matrix_function: every size, against sums over permutations and products with the inverse") {
  tail::random r(31);
  tail::digest hash;
  for (int n = 1; n <= 16; ++n)
    for (const int count : {1, 7, 37}) {
      CAPTURE(n);
      matrices m(r, count, n);
      m.in.fill_random(r, 1);
      oracle::for_each_index({count, n}, [&](const std::vector<int>& i) { m.in.at<float>({i[0], i[1], i[1]}) += 4; });
      m.run(r);
      const oracle::array x = m.in.read(), y = m.inverse.read(), d = m.determinant.read();
      for (int b = 0; b < count; ++b) {
        if (n <= 5) CHECK(d({b, 0, 0}) == doctest::Approx(leibniz(x, b, n)).epsilon(1e-5));
        oracle::for_each_index({n, n}, [&](const std::vector<int>& i) {
          double sum = 0;
          for (int k = 0; k < n; ++k) sum += x({b, i[0], k}) * y({b, k, i[1]});
          CHECK(std::fabs(sum - (i[0] == i[1] ? 1 : 0)) < 2e-5);
        });
      }
      hash.add(m.determinant);
      hash.add(m.inverse);
    }
  CHECK(hash.value() == 17500471911412885458u);
}

TEST_CASE("matrix_function: rows are swapped, singular matrices, NaN") {
  tail::random r(32);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float values[][4] = {{0, 1, 1, 0},   {0, 2, -3, 5},  {1, 2, 2, 4},     {0, 0, 0, 0},
                             {nan, 1, 1, 1}, {0, 1, 0, nan}, {1e-30f, 1, 1, 0}};
  const float determinants[] = {-1, 6, 0, 0, nan, nan, -1};
  matrices m(r, 7, 2);
  for (int b = 0; b < 7; ++b)
    for (int i = 0; i < 4; ++i) m.in.at<float>({b, i / 2, i % 2}) = values[b][i];
  m.run(r);
  for (int b = 0; b < 7; ++b) {
    CAPTURE(b);
    const float d = m.determinant.at<float>({b, 0, 0}), want = determinants[b];
    CHECK((d == want || (std::isnan(d) && std::isnan(want)) || (b == 5 && d == 0)));
  }
  CHECK(m.inverse.at<float>({0, 0, 1}) == 1);
  CHECK(m.inverse.at<float>({0, 1, 1}) == 0);
  CHECK(m.inverse.at<float>({1, 0, 0}) == doctest::Approx(5.0 / 6));
  for (const int singular : {2, 3}) CHECK_FALSE(std::isfinite(m.inverse.at<float>({singular, 0, 0})));
}
