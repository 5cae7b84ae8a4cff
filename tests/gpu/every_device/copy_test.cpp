// SPDX-License-Identifier: MIT
// Copies of floats: elements one by one, or four neighbours at a time where the output has them.
#include "../cases.hpp"
#include "../device_support.hpp"

using namespace test;

namespace {

/// A copy of a view of x [4, 6, 16], offset in elements, to a view of y [4, 6, 16] of the same shape.
struct copy_case {
  std::string name;
  bool reads_four, writes_four;
  std::vector<std::int32_t> shape;
  std::vector<std::int64_t> from, to;
  std::uint64_t from_offset = 0, to_offset = 0;
};
const std::vector<std::int32_t> whole{4, 6, 16};
const copy_case cases[] = {
    {"whole", true, true, {4, 6, 16}, {96, 16, 1}, {96, 16, 1}},
    {"slice to the beginning", true, true, {4, 6, 8}, {96, 16, 1}, {96, 16, 1}, 4, 0},
    {"slice to another place", true, true, {4, 6, 4}, {96, 16, 1}, {96, 16, 1}, 8, 12},
    {"slice from an odd place", false, true, {4, 6, 8}, {96, 16, 1}, {96, 16, 1}, 3, 4},
    {"slice from an even place", false, true, {4, 6, 8}, {96, 16, 1}, {96, 16, 1}, 2, 4},
    {"slice to an odd place", false, false, {4, 6, 8}, {96, 16, 1}, {96, 16, 1}, 4, 3},
    {"six channels", false, false, {4, 6, 6}, {96, 16, 1}, {96, 16, 1}},
    {"rows of odd distance", false, true, {4, 2, 4}, {96, 17, 1}, {96, 16, 1}},
    {"transposed", false, true, {4, 16, 4}, {96, 1, 16}, {96, 4, 1}},
    {"every second", false, true, {4, 6, 8}, {96, 16, 2}, {96, 16, 1}},
    {"to every second", false, false, {4, 6, 8}, {96, 16, 1}, {96, 16, 2}},
    {"repeated", false, true, {4, 6, 16}, {96, 16, 0}, {96, 16, 1}},
    {"rows in reverse", true, true, {4, 6, 16}, {96, -16, 1}, {96, 16, 1}, 80},
    {"columns in reverse", false, true, {4, 6, 16}, {96, 16, -1}, {96, 16, 1}, 15},
};

plan_spec make_copy(const copy_case& c, bool constant) {
  plan_spec p;
  const std::uint32_t x = constant ? p.add_constant("x", noise(5).many(384)) : p.add_input("x", whole, 2);
  const std::uint32_t buffer = p.add_dense("buffer", whole, 0, 2), y = p.add_output("y", c.shape, 1, 2);
  const std::uint32_t target = add_view(p, buffer, c.shape, c.to, c.to_offset * 4);
  p.add_step(format::Operator::Copy, {add_view(p, x, c.shape, c.from, c.from_offset * 4)}, target);
  p.add_step(format::Operator::Unary, {target}, y).epilogue.function = format::Function::neg;
  return p;
}

/// Runs a plan, of which one dispatch is a copy: it takes the expected path, the elements are the CPU's within that,
/// and no others change.
void check_copy(const plan_spec& p, int number, const nsk::gpu::plan_settings& how, bool reads_four, bool writes_four,
                double tolerance) {
  both<tested_device> net(*device());
  REQUIRE(net.open(p, how) == "");
  const nsk::gpu::dispatch_view copy = net.plan().dispatch(number);
  const nsk::gpu::pipeline_key key = net.plan().pipelines()[static_cast<std::size_t>(copy.pipeline)];
  REQUIRE(key.kernel == nsk::gpu::kernel::copy);
  CHECK(key.specialization[2] == (reads_four ? 1 : 0));
  CHECK(key.specialization[4] == (writes_four ? 1 : 0));
  CHECK((key.specialization[6] & 1) == (how.half_activations ? 1 : 0));
  net.fill_inputs(3);
  if (how.half_activations) {
    CHECK(net.run().relative() <= tolerance);
    return;
  }
  const auto r = net.run_step(number);
  CHECK(r.apart.difference <= tolerance * r.apart.largest);
  CHECK(r.apart.largest > 0.6);
  CHECK(r.stray_bytes == 0);
}

}

TEST_CASE("copies of floats, four at a time where the output has them") {
  if (!device()) return;
  for (const copy_case& c : cases) {
    for (const bool constant : {false, true}) {
      CAPTURE(c.name);
      CAPTURE(constant);
      check_copy(make_copy(c, constant), 0, {}, c.reads_four, c.writes_four, 0);
    }
  }
}

TEST_CASE("copies of integers stay integers: one at a time, whatever a float would make of their bits") {
  if (!device()) return;
  plan_spec p;
  std::vector<std::int32_t> values;
  for (int i = 0; i < 64; ++i) values.push_back(i % 2 ? 0x7f800001 + i : i);  // signalling NaNs, denormals
  const std::uint32_t x = p.add_constant("x", values, format::DataType::int32);
  const std::uint32_t y = p.add_output("y", {4, 16}, 0, 1, format::DataType::int32);
  p.add_step(format::Operator::Copy, {add_view(p, x, {4, 16}, {16, 1})}, y);
  both<tested_device> net(*device());
  REQUIRE(net.open(p) == "");
  CHECK(net.plan().pipelines()[0].specialization[4] == 0);
  CHECK(net.run().difference == 0);
}

TEST_CASE("16-bit floats are copied to outputs of 32 bits, four at a time") {
  if (!device()) return;
  for (const std::uint64_t first : {0, 4, 2}) {
    CAPTURE(first);
    plan_spec p;
    const std::uint32_t x = p.add_input("x", whole, 2), middle = p.add_dense("middle", whole, 0, 2),
                        y = p.add_output("y", {4, 6, 8}, 0, 2);
    p.add_step(format::Operator::Unary, {x}, middle).epilogue.function = format::Function::neg;
    p.add_step(format::Operator::Copy, {add_view(p, middle, {4, 6, 8}, {96, 16, 1}, first * 4)}, y);
    nsk::gpu::plan_settings how;
    how.half_activations = true;
    check_copy(p, 1, how, first != 2, true, 1e-3);
  }
}
