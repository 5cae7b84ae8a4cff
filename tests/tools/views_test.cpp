// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <random>
#include "passes/lower/views.hpp"

using namespace nsk::tool;

namespace {

view dense(const shape_t& shape, const axis_order& order) { return {0, shape, dense_strides(shape, order), 0}; }

/// Storage positions of a view's elements in row-major order: what a view means.
std::vector<std::int64_t> positions(const view& v) {
  std::vector<std::int64_t> result, index(v.rank(), 0);
  for (std::int64_t i = 0; i < count_of(v.shape); ++i) {
    std::int64_t at = v.offset;
    for (std::size_t d = 0; d < v.rank(); ++d) at += index[d] * v.stride[d];
    result.push_back(at);
    for (std::size_t d = v.rank(); d-- > 0;) {
      if (++index[d] < v.shape[d]) break;
      index[d] = 0;
    }
  }
  return result;
}

}

TEST_CASE("channels last keeps the source's axes and changes strides") {
  const view v = dense({2, 3, 4, 5}, channels_last_order(4));
  CHECK(v.stride == std::vector<std::int64_t>{60, 1, 15, 3});
  CHECK(order_of(v) == axis_order{0, 2, 3, 1});
  CHECK(is_dense(v));
}

TEST_CASE("a transposition moves nothing") {
  const view nhwc = transposed(dense({1, 3, 4, 5}, channels_last_order(4)), {0, 2, 3, 1});
  CHECK(nhwc.shape == shape_t{1, 4, 5, 3});
  CHECK(order_of(nhwc) == identity_order(4));
  const auto flat = reshaped(nhwc, {1, 60});
  REQUIRE(flat);
  CHECK(positions(*flat) == positions(nhwc));
}

TEST_CASE("a reshape that strides cannot express is refused") {
  const view v = dense({1, 3, 4, 5}, channels_last_order(4));
  CHECK_FALSE(reshaped(v, {1, 60}));
  CHECK(reshaped(v, {1, 3, 20}));
  CHECK(reshaped(v, {3, 4, 5, 1}));
}

TEST_CASE("a reshape never changes the order of elements") {
  std::mt19937 random(7);
  const std::vector<shape_t> shapes = {{24},          {2, 12},      {4, 6}, {6, 4},    {2, 3, 4},
                                       {1, 2, 1, 12}, {2, 2, 2, 3}, {3, 8}, {1, 24, 1}};
  int expressed = 0;
  for (int round = 0; round < 2000; ++round) {
    const shape_t &from = shapes[random() % shapes.size()], &to = shapes[random() % shapes.size()];
    axis_order order = identity_order(from.size());
    std::shuffle(order.begin(), order.end(), random);
    const view v = dense(from, order);
    if (const auto r = reshaped(v, to)) {
      CHECK(positions(*r) == positions(v));
      CHECK(r->shape == to);
      ++expressed;
    }
    if (order == identity_order(from.size())) CHECK(reshaped(v, to));
  }
  CHECK(expressed > 200);
}

TEST_CASE("broadcasting repeats with stride 0") {
  const view v = broadcast(dense({3, 1}, identity_order(2)), {2, 3, 4});
  CHECK(v.stride[0] == 0);
  CHECK(v.stride[2] == 0);
  CHECK(positions(v) ==
        std::vector<std::int64_t>{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2});
  CHECK_FALSE(is_dense(v));
}

TEST_CASE("common refinement cuts both shapes") {
  CHECK(*common_refinement({1, 12, 2, 2}, {12, 4}) == shape_t{12, 2, 2});
  CHECK(*common_refinement({4, 6}, {2, 12}) == shape_t{2, 2, 6});
  CHECK_FALSE(common_refinement({4, 6}, {6, 4}));
  CHECK(common_refinement({1, 1}, {1})->empty());
}
