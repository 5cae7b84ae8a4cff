// SPDX-License-Identifier: MIT
// unary: every function, layouts, in place, prelu slopes and residuals, tiles.
#include <netsuke/kernels/elements/unary.hpp>
#include "tail_fixture.hpp"

namespace {

const std::vector<std::vector<int>> unary_shapes = {{1},
                                                    {7},
                                                    {16},
                                                    {300},
                                                    {5, 3},
                                                    {4, 33},
                                                    {2, 3, 5, 8},
                                                    {1, 4, 6, 3},
                                                    {2, 5, 7, 13},
                                                    {3, 2, 3, 4, 17},
                                                    {2, 3, 2, 3, 2, 5},
                                                    {1, 1, 9, 64},
                                                    {1, 30, 40, 2}};

double magnitude_of(nsk::function f) {
  return f == nsk::function::gelu ? 4 : f == nsk::function::hard_sigmoid || f == nsk::function::hard_swish ? 1 : 0.0;
}

/// Compares functions first to last over random layouts and tiles; returns the hash of all results.
std::uint64_t check_functions(nsk::function first, nsk::function last) {
  tail::random r(1);
  tail::digest hash;
  for (int f = static_cast<int>(first); f <= static_cast<int>(last); ++f)
    for (const std::vector<int>& shape : unary_shapes) {
      CAPTURE(f);
      CAPTURE(shape.size());
      const bool image = shape.size() >= 3 && r.coin();
      tail::tensor in(shape, tail::random_layout(r, shape.size(), image)),
          out(shape, tail::random_layout(r, shape.size(), image));
      in.fill_random(r, f == static_cast<int>(nsk::function::exp) ? 20.0f : 6.0f);
      nsk::kernels::unary_args a{in.view(), out.view(), {}};
      a.e.fn = static_cast<nsk::function>(f);
      a.e.alpha = -0.25f;
      a.e.beta = 2.5f;
      oracle::finish finish{a.e.fn, -0.25, 2.5};
      std::vector<float> slopes(static_cast<std::size_t>(shape.back()) + 16);
      for (float& s : slopes) s = r.real();
      a.e.slope = slopes.data();
      finish.slope = &slopes;
      tail::tensor residual(shape, tail::random_layout(r, shape.size(), image));
      residual.fill_random(r, 1);
      const oracle::array kept = residual.read();
      if (r.coin()) {
        a.e.residual = residual.view().as<float>();
        for (int d = 0; d < residual.view().rank; ++d) a.e.residual_stride[d] = residual.view().stride[d];
        a.e.activation_first = r.coin();
        finish.residual = &kept;
        finish.activation_first = a.e.activation_first;
      }
      tail::run_checked(r, out, [&](const nsk::tile_range& t) { nsk::kernels::unary(a, t, nullptr); });
      const oracle::array x = in.read();
      oracle::array want(shape);
      const bool jumps = f == static_cast<int>(nsk::function::floor) || f == static_cast<int>(nsk::function::ceil) ||
                         f == static_cast<int>(nsk::function::round) || f == static_cast<int>(nsk::function::log) ||
                         f == static_cast<int>(nsk::function::sqrt) || f == static_cast<int>(nsk::function::reciprocal);
      oracle::for_each_index(shape, [&](const std::vector<int>& i) { want(i) = finish(x(i), i); });
      if (!(jumps && a.e.residual != nullptr))
        tail::check_close(out, want, a.e.fn == nsk::function::exp ? 24 : 8,
                          a.e.residual != nullptr ? 8 : magnitude_of(a.e.fn));
      hash.add(out);
    }
  return hash.value();
}

}  // namespace

TEST_CASE("unary: every function over random layouts and tiles") {
  CHECK(check_functions(nsk::function::identity, nsk::function::cos) == 16485385558057538709u);
}

TEST_CASE("unary: inverse trigonometric and hyperbolic functions over random layouts and tiles") {
  static_assert(static_cast<int>(nsk::function::atanh) + 1 == nsk::function_count);
  CHECK(check_functions(nsk::function::asin, nsk::function::atanh) == 5570895636394525879u);
}

TEST_CASE("unary: in place, and with the residual in place") {
  tail::random r(2);
  for (const std::vector<int>& shape : unary_shapes) {
    tail::tensor in(shape, tail::random_layout(r, shape.size(), false)),
        other(shape, tail::random_layout(r, shape.size(), false));
    in.fill_random(r, 3);
    other.fill_random(r, 3);
    nsk::kernels::unary_args a{in.view(), other.view(), {}};
    a.e.fn = nsk::function::sigmoid;
    const oracle::array x = in.read(), y = other.read();
    a.e.residual = other.view().as<float>();
    for (int d = 0; d < other.view().rank; ++d) a.e.residual_stride[d] = other.view().stride[d];
    oracle::array want(shape);
    for (std::size_t i = 0; i < want.data.size(); ++i) want.data[i] = 1 / (1 + std::exp(-x.data[i] - y.data[i]));
    nsk::kernels::unary(a, tail::whole(other.view()), nullptr);
    tail::check_close(other, want, 8, 1);
    a = {other.view(), other.view(), {}};
    a.e.fn = nsk::function::tanh;
    for (double& v : want.data) v = std::tanh(v);
    nsk::kernels::unary(a, tail::whole(other.view()), nullptr);
    tail::check_close(other, want, 8, 1);
    CHECK(other.intact());
  }
}
