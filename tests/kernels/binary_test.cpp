// SPDX-License-Identifier: MIT
// binary: every operation, broadcasting over any dimensions, epilogues, in place, tiles.
#include <netsuke/kernels/elements/binary.hpp>
#include "tail_fixture.hpp"

namespace {

/// Sets strides to 0 where bit d of `mask` is set, as broadcasting does.
nsk::tensor_view broadcast(nsk::tensor_view v, unsigned mask) {
  for (int d = 0; d < v.rank; ++d)
    if ((mask >> d & 1u) != 0) v.stride[d] = 0;
  return v;
}
double value(const nsk::tensor_view& v, const std::vector<int>& i) {
  std::ptrdiff_t o = 0;
  for (std::size_t d = 0; d < i.size(); ++d) o += i[d] * v.stride[d];
  return static_cast<double>(v.as<float>()[o]);
}

const std::vector<std::vector<int>> shapes = {
    {1},           {9},           {700},          {3, 5},          {2, 4, 6, 3},
    {1, 3, 5, 19}, {2, 8, 8, 16}, {1, 20, 30, 4}, {2, 3, 4, 5, 6}, {2, 2, 3, 2, 3, 7},
    {1, 6, 7, 80}, {3, 400}};

}  // namespace

TEST_CASE("binary: operations, broadcasts, layouts and tiles") {
  tail::random r(3);
  tail::digest hash;
  for (int round = 0; round < 3; ++round)
    for (int kind = 0; kind < 8; ++kind)
      for (const std::vector<int>& shape : shapes) {
        CAPTURE(kind);
        CAPTURE(shape.size());
        const bool image = shape.size() >= 3 && r.coin();
        tail::tensor a(shape, tail::random_layout(r, shape.size(), image)),
            b(shape, tail::random_layout(r, shape.size(), image)),
            out(shape, tail::random_layout(r, shape.size(), image)),
            residual(shape, tail::random_layout(r, shape.size(), image));
        const bool pow = kind == static_cast<int>(nsk::binary_kind::pow);
        oracle::for_each_index(shape, [&](const std::vector<int>& i) {
          a.at<float>(i) = pow ? r.real() + 1.5f : r.real(4);
          b.at<float>(i) = kind == static_cast<int>(nsk::binary_kind::div) ? r.real() + 1.5f : r.real(4);
        });
        residual.fill_random(r, 2);
        nsk::kernels::binary_args args{{static_cast<nsk::binary_kind>(kind)}, a.view(), b.view(), out.view(), {}};
        const unsigned all = (1u << shape.size()) - 1;
        if (round > 0) args.a = broadcast(args.a, r.coin() ? r.bits() & all : 0u);
        if (round > 0) args.b = broadcast(args.b, r.coin() ? r.bits() & all : r.coin() ? all : all >> 1);
        std::vector<float> slopes(static_cast<std::size_t>(shape.back()) + 16, 0.25f);
        for (float& s : slopes) s = r.real();
        const oracle::array kept = residual.read();
        oracle::finish finish;
        const nsk::function fns[] = {nsk::function::identity, nsk::function::clip, nsk::function::prelu,
                                     nsk::function::hard_swish};
        args.e.fn = finish.fn = fns[r.below(4)];
        finish.alpha = -1;
        args.e.alpha = -1;
        finish.beta = 2;
        args.e.beta = 2;
        args.e.slope = slopes.data();
        finish.slope = &slopes;
        if (r.below(3) == 0) {
          args.e.residual = residual.view().as<float>();
          for (int d = 0; d < residual.view().rank; ++d) args.e.residual_stride[d] = residual.view().stride[d];
          args.e.activation_first = finish.activation_first = r.coin();
          finish.residual = &kept;
        }
        tail::run_checked(r, out, [&](const nsk::tile_range& t) { nsk::kernels::binary(args, t, nullptr); });
        oracle::array want(shape);
        oracle::for_each_index(shape, [&](const std::vector<int>& i) {
          want(i) = finish(oracle::combine(args.kind, value(args.a, i), value(args.b, i)), i);
        });
        tail::check_close(out, want, pow ? 32 : 4, 16);
        hash.add(out);
      }
  CHECK(hash.value() == 5851915964298139560u);
}

TEST_CASE("binary: angles and remainders, broadcasts, layouts and tiles") {
  tail::random r(5);
  tail::digest hash;
  for (nsk::binary_kind kind : {nsk::binary_kind::atan2, nsk::binary_kind::mod, nsk::binary_kind::fmod})
    for (const std::vector<int>& shape : shapes) {
      CAPTURE(static_cast<int>(kind));
      tail::tensor a(shape, tail::random_layout(r, shape.size(), false)),
          b(shape, tail::random_layout(r, shape.size(), false)), out(shape, {});
      a.fill_random(r, 4);
      oracle::for_each_index(shape, [&](const std::vector<int>& i) { b.at<float>(i) = r.real() + 1.5f; });
      nsk::kernels::binary_args args{{kind}, a.view(), b.view(), out.view(), {}};
      args.b = broadcast(args.b, r.bits() & ((1u << shape.size()) - 1));
      tail::run_checked(r, out, [&](const nsk::tile_range& t) { nsk::kernels::binary(args, t, nullptr); });
      oracle::array want(shape);
      oracle::for_each_index(shape, [&](const std::vector<int>& i) {
        want(i) = oracle::combine(kind, value(args.a, i), value(args.b, i));
      });
      tail::check_close(out, want, 3, 0);
      hash.add(out);
    }
  CHECK(hash.value() == 14011616873970171203u);
}

TEST_CASE("binary: operands whose rows are columns in memory give the bits of others") {
  tail::random r(5);
  tail::layout columns;
  columns.order = {0, 2, 1};
  for (const int rows : {3, 8, 15, 16, 17, 40})
    for (const int n : {7, 8, 16, 17, 33, 130})
      for (int which = 0; which < 3; ++which) {
        const std::vector<int> shape = {2, rows, n};
        tail::tensor operand[3] = {{shape, {}}, {shape, {}}, {shape, {}}}, transposed(shape, columns), out(shape, {}),
                     want(shape, {});
        for (tail::tensor& x : operand) x.fill_random(r, 2);
        oracle::for_each_index(
            shape, [&](const std::vector<int>& i) { transposed.at<float>(i) = operand[which].at<float>(i); });
        const auto args_of = [&](const nsk::tensor_view& a, const nsk::tensor_view& b, const nsk::tensor_view& residual,
                                 const nsk::tensor_view& to) {
          nsk::kernels::binary_args args{{nsk::binary_kind::mul}, a, b, to, {}};
          args.e.residual = residual.as<float>();
          for (int d = 0; d < residual.rank; ++d) args.e.residual_stride[d] = residual.stride[d];
          return args;
        };
        const auto view = [&](int i) { return i == which ? transposed.view() : operand[i].view(); };
        const auto args = args_of(view(0), view(1), view(2), out.view());
        tail::run_checked(r, out, [&](const nsk::tile_range& t) { nsk::kernels::binary(args, t, nullptr); });
        nsk::kernels::binary(args_of(operand[0].view(), operand[1].view(), operand[2].view(), want.view()),
                             tail::whole(want.view()), nullptr);
        CAPTURE(rows);
        CAPTURE(n);
        CHECK(tail::same_numbers(shape, out, want));
      }
}

TEST_CASE("binary: the output may be either operand") {
  tail::random r(4);
  for (const std::vector<int>& shape : shapes) {
    tail::tensor a(shape, tail::random_layout(r, shape.size(), false)),
        b(shape, tail::random_layout(r, shape.size(), false));
    a.fill_random(r, 2);
    b.fill_random(r, 2);
    const oracle::array x = a.read(), y = b.read();
    oracle::array want(shape);
    nsk::kernels::binary_args args{{nsk::binary_kind::sub}, a.view(), b.view(), a.view(), {}};
    nsk::kernels::binary(args, tail::whole(a.view()), nullptr);
    for (std::size_t i = 0; i < want.data.size(); ++i) want.data[i] = x.data[i] - y.data[i];
    tail::check_close(a, want, 1, 2);
    args = {{nsk::binary_kind::mul}, a.view(), b.view(), b.view(), {}};
    nsk::kernels::binary(args, tail::whole(a.view()), nullptr);
    for (std::size_t i = 0; i < want.data.size(); ++i) want.data[i] *= y.data[i];
    tail::check_close(b, want, 2, 4);
  }
}

TEST_CASE("binary: zeros and NaN follow one rule") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  tail::tensor a({1, 4}, {}), b({1, 4}, {}), out({1, 4}, {});
  const float left[] = {nan, 1, 0.0f, -0.0f}, right[] = {1, nan, -0.0f, 0.0f};
  for (int i = 0; i < 4; ++i) {
    a.at<float>({0, i}) = left[i];
    b.at<float>({0, i}) = right[i];
  }
  for (nsk::binary_kind k : {nsk::binary_kind::max, nsk::binary_kind::min}) {
    nsk::kernels::binary({{k}, a.view(), b.view(), out.view(), {}}, tail::whole(out.view()), nullptr);
    CHECK(out.at<float>({0, 0}) == 1);
    CHECK(std::isnan(out.at<float>({0, 1})));
    CHECK(std::signbit(out.at<float>({0, 2})));
    CHECK_FALSE(std::signbit(out.at<float>({0, 3})));
  }
}
