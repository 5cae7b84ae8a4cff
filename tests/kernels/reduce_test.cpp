// SPDX-License-Identifier: MIT
// reduce: every kind over every set of axes, layouts, lengths around 16, epilogues, tiles.
#include <netsuke/kernels/lines/reduce.hpp>
#include "tail_fixture.hpp"

namespace {

void check(tail::random& r, const std::vector<int>& shape, unsigned axes, nsk::reduce_kind kind, bool image,
           tail::digest& hash) {
  std::vector<int> small = shape;
  int reduced = 1;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if ((axes >> d & 1u) != 0) {
      reduced *= shape[d];
      small[d] = 1;
    }
  tail::tensor in(shape, tail::random_layout(r, shape.size(), image)),
      out(small, tail::random_layout(r, shape.size(), image)),
      residual(small, tail::random_layout(r, shape.size(), image));
  const bool prod = kind == nsk::reduce_kind::prod;
  oracle::for_each_index(
      shape, [&](const std::vector<int>& i) { in.at<float>(i) = prod ? 1.0f + r.real() * 0.1f : r.real(2); });
  residual.fill_random(r, 1);
  nsk::kernels::reduce_args a{{kind}, in.view(), out.view(), {}};
  oracle::finish finish;
  const nsk::function fns[] = {nsk::function::identity, nsk::function::identity, nsk::function::clip,
                               nsk::function::prelu, nsk::function::sigmoid};
  a.e.fn = finish.fn = fns[r.below(5)];
  a.e.alpha = -0.5f;
  finish.alpha = -0.5;
  a.e.beta = 3;
  finish.beta = 3;
  std::vector<float> slopes(static_cast<std::size_t>(small.back()) + 16);
  for (float& s : slopes) s = r.real();
  a.e.slope = slopes.data();
  finish.slope = &slopes;
  const oracle::array kept = residual.read();
  if (r.below(3) == 0) {
    a.e.residual = residual.view().as<float>();
    for (int d = 0; d < residual.view().rank; ++d) a.e.residual_stride[d] = residual.view().stride[d];
    a.e.activation_first = finish.activation_first = r.coin();
    finish.residual = &kept;
  }
  tail::run_checked(r, out, [&](const nsk::tile_range& t) { nsk::kernels::reduce(a, t, nullptr); });
  oracle::array want = oracle::reduce(in.read(), small, kind);
  oracle::for_each_index(small, [&](const std::vector<int>& i) { want(i) = finish(want(i), i); });
  // Rounding errors grow with the number of terms at worst; terms are at most 2 (4 when squared).
  const bool picks = kind == nsk::reduce_kind::max || kind == nsk::reduce_kind::min;
  const bool sums = kind == nsk::reduce_kind::sum || kind == nsk::reduce_kind::sum_square;
  tail::check_close(out, want, picks ? 4 : reduced + 4.0, sums ? 4.0 * std::sqrt(static_cast<double>(reduced)) : 2);
  hash.add(out);
}

}  // namespace

TEST_CASE("reduce: every kind and every set of axes") {
  tail::random r(50);
  tail::digest hash;
  const std::vector<std::vector<int>> shapes = {
      {1},           {16},          {37},         {5, 3},          {7, 40},           {2, 5, 7, 3},
      {1, 6, 6, 70}, {2, 3, 4, 17}, {3, 4, 1, 1}, {2, 3, 2, 2, 5}, {2, 2, 3, 2, 3, 4}};
  for (const std::vector<int>& shape : shapes)
    for (unsigned axes = 0; axes < 1u << shape.size(); ++axes)
      for (int kind = 0; kind < 6; ++kind) {
        CAPTURE(shape.size());
        CAPTURE(axes);
        CAPTURE(kind);
        check(r, shape, axes, static_cast<nsk::reduce_kind>(kind), shape.size() >= 3 && r.coin(), hash);
      }
  CHECK(hash.value() == 6773320537981115337u);
}

TEST_CASE("reduce: lengths around the sixteen partial results") {
  tail::random r(51);
  tail::digest hash;
  for (int n = 1; n <= 70; ++n)
    for (nsk::reduce_kind kind : {nsk::reduce_kind::mean, nsk::reduce_kind::max, nsk::reduce_kind::sum_square}) {
      check(r, {3, n}, 2u, kind, false, hash);
      check(r, {2, 3, n}, 6u, kind, false, hash);
      check(r, {n, 5}, 1u, kind, false, hash);
      check(r, {1, 3, 3, n}, 6u, kind, true, hash);
    }
  CHECK(hash.value() == 3164009752888677862u);
}

TEST_CASE("reduce: the mean of many equal numbers keeps its digits") {
  for (const std::vector<int>& shape : {std::vector<int>{9600, 20}, {20, 153600}}) {
    const int axis = shape[0] > shape[1] ? 0 : 1;
    std::vector<int> small = shape;
    small[static_cast<std::size_t>(axis)] = 1;
    tail::tensor in(shape, {}), out(small, {});
    const float x = 2.924812f;
    oracle::for_each_index(shape, [&](const std::vector<int>& i) { in.at<float>(i) = x; });
    tail::random r(52);
    nsk::kernels::reduce_args a{{nsk::reduce_kind::mean}, in.view(), out.view(), {}};
    tail::run_checked(r, out, [&](const nsk::tile_range& t) { nsk::kernels::reduce(a, t, nullptr); });
    oracle::for_each_index(small, [&](const std::vector<int>& i) {
      CHECK(std::fabs(static_cast<double>(out.at<float>(i)) - static_cast<double>(x)) < 1e-5);
    });
  }
}
