// SPDX-License-Identifier: MIT
// Invalid functions of matrices and products of integers, each refused.
#include <doctest/doctest.h>
#include "sample_plans.hpp"
#include <netsuke/model/open.hpp>

namespace {
using nsk::status_code;
using test::plan_spec;
namespace format = nsk::format;
using format::DataType;
using format::Operator;
using shape = std::vector<std::int32_t>;

status_code code_of(const plan_spec& p) {
  const test::aligned_bytes file = p.write();
  nsk::model m;
  return nsk::open({file.data(), file.size()}, m).code();
}

plan_spec matrices(const shape& x, const shape& y, format::MatrixKind kind) {
  plan_spec p;
  const std::uint32_t in = p.add_input("x", x, 1), out = p.add_output("y", y, 0, 1);
  test::step_spec& s = p.add_step(Operator::MatrixFunction, {in}, out, "matrices");
  s.matrix = kind;
  p.lane_bytes = s.scratch_bytes = 2 * 16 * 16 * 64;
  return p;
}

/// a times b.
plan_spec product(const shape& a, const shape& b, const shape& y, DataType type) {
  plan_spec p;
  const std::uint32_t left = p.add_input("a", a, 1), right = p.add_input("b", b, 1);
  p.tensors[left].type = p.tensors[right].type = type;
  const std::uint32_t out = p.add_output("y", y, 0, 1, type);
  p.add_step(Operator::IntegerMatMul, {left, right}, out, "product");
  return p;
}

}  // namespace

TEST_CASE("open: invalid functions of matrices are refused") {
  const auto determinant = format::MatrixKind::determinant, inverse = format::MatrixKind::inverse;
  CHECK(code_of(matrices({5, 4, 4}, {5, 1, 1}, determinant)) == status_code::ok);
  CHECK(code_of(matrices({5, 16, 16}, {5, 16, 16}, inverse)) == status_code::ok);
  for (const plan_spec& p : {matrices({5, 17, 17}, {5, 1, 1}, determinant), matrices({5, 4, 3}, {5, 1, 1}, determinant),
                             matrices({5, 4, 4}, {5, 4, 4}, determinant), matrices({5, 4, 4}, {5, 1, 1}, inverse),
                             matrices({5, 4, 4}, {4, 4, 4}, inverse), matrices({4, 4}, {4, 4}, inverse),
                             matrices({5, 4, 4}, {5, 4, 4}, static_cast<format::MatrixKind>(2))})
    CHECK(code_of(p) == status_code::bad_step);
  plan_spec p = matrices({5, 4, 4}, {5, 4, 4}, inverse);
  p.steps[0].scratch_bytes = 2 * 16 * 64 - 1;
  CHECK(code_of(p) == status_code::bad_scratch);
  p = matrices({5, 4, 4}, {5, 4, 4}, inverse);
  p.steps[0].tile.pixels = 2;
  CHECK(code_of(p) == status_code::bad_tile);
  p = matrices({5, 4, 4}, {5, 4, 4}, inverse);
  p.tensors[p.steps[0].inputs[0]].type = DataType::int32;
  CHECK(code_of(p) == status_code::bad_step);
}

TEST_CASE("open: invalid products of integers are refused") {
  CHECK(code_of(product({2, 3, 4}, {2, 4, 5}, {2, 3, 5}, DataType::int32)) == status_code::ok);
  for (const plan_spec& p :
       {product({2, 3, 4}, {2, 4, 5}, {2, 3, 5}, DataType::float32),
        product({2, 3, 4}, {2, 3, 5}, {2, 3, 5}, DataType::int32),
        product({1, 3, 4}, {2, 4, 5}, {2, 3, 5}, DataType::int32),
        product({2, 3, 4}, {1, 4, 5}, {2, 3, 5}, DataType::int32),
        product({2, 2, 4}, {2, 4, 5}, {2, 3, 5}, DataType::int32),
        product({2, 3, 4}, {2, 4, 4}, {2, 3, 5}, DataType::int32), product({3, 4}, {4, 5}, {3, 5}, DataType::int32)})
    CHECK(code_of(p) == status_code::bad_step);
  plan_spec p = product({2, 3, 4}, {2, 4, 5}, {2, 3, 5}, DataType::int32);
  p.tensors[p.steps[0].inputs[1]].type = DataType::int64;
  CHECK(code_of(p) != status_code::ok);
}
