// SPDX-License-Identifier: MIT
// The table of operands of every operator: a step with a tensor that breaks one line of it is refused.
#include <set>
#include <string>
#include <doctest/doctest.h>
#include "policy_plan.hpp"
#include "quantized_plan.hpp"
#include "recurrent_plan.hpp"
#include "scatter_plan.hpp"
#include "tree_ensemble_plan.hpp"
#include <netsuke/model/open.hpp>

namespace {
using nsk::dtype;
using nsk::status_code;
using nsk::impl::operand;
using nsk::impl::operand_table;
using test::plan_spec;
using test::format::DataType;
using test::format::Operator;

constexpr int k_types = static_cast<int>(dtype::boolean) + 1;

plan_spec step_of(Operator op, const std::vector<std::vector<std::int32_t>>& inputs, const std::vector<std::int32_t>& y,
                  DataType type) {
  plan_spec p;
  std::vector<std::uint32_t> in;
  for (const std::vector<std::int32_t>& shape : inputs) in.push_back(p.add_input("x", shape, 1, type));
  p.add_step(op, in, p.add_output("y", y, 0, 1, type));
  return p;
}

/// Valid plans that have a step of every operator.
std::vector<plan_spec> plans() {
  namespace q = test::quantized;
  std::vector<plan_spec> all{test::make_cnn().plan,
                             test::make_mixed(),
                             test::make_indices(),
                             test::make_policy(),
                             test::make_lstm(),
                             test::make_scatter(),
                             test::make_tree_ensemble(),
                             q::quantize(),
                             q::dequantize(),
                             q::table(),
                             q::convolution(),
                             q::convolution_and_sum(),
                             q::depthwise(),
                             q::dynamic_range(),
                             q::dynamic_quantize(),
                             q::sums(),
                             q::real_sums(),
                             q::mean(),
                             q::resizing(),
                             q::pooling()};
  all.push_back(step_of(Operator::QuantizedBinary, {{3, 5}, {3, 5}}, {3, 5}, DataType::uint8));
  all.back().steps[0].alpha = all.back().steps[0].beta = 1;
  all.push_back(step_of(Operator::IntegerMatMul, {{2, 3, 4}, {2, 4, 5}}, {2, 3, 5}, DataType::int32));
  all.push_back(step_of(Operator::MatrixFunction, {{5, 4, 4}}, {5, 1, 1}, DataType::float32));
  all.back().lane_bytes = all.back().steps[0].scratch_bytes = 2 * 16 * 64;
  const std::vector<std::int32_t> places = {2, 7, 9, 3};
  all.push_back(
      step_of(Operator::SampleImage, {{2, 5, 6, 3, 4}, places, places, places}, {2, 7, 9, 3, 4}, DataType::float32));
  return all;
}

operand_table table_of(const nsk::step_view& s) {
  switch (s.op()) {
#define TEST_TABLE(name, Table) \
  case nsk::op::name: return nsk::op_traits<nsk::op::name>::operands(s.params<nsk::op::name>());
    NSK_OP_LIST(TEST_TABLE)
#undef TEST_TABLE
    case nsk::op::none: break;
  }
  return {operand{}};
}

/// What opening says of step `step`: ok where it refuses the plan, if at all, for what comes after the steps' own
/// rules.
status_code opinion_of_step(const plan_spec& p, std::size_t step) {
  const test::aligned_bytes file = p.write();
  nsk::model m;
  const nsk::status s = nsk::open({file.data(), file.size()}, m);
  const bool of_step = s.code() == status_code::bad_step || s.code() == status_code::bad_weights ||
                       s.code() == status_code::bad_tile || s.code() == status_code::bad_scratch;
  REQUIRE_MESSAGE((s || of_step || s.code() == status_code::read_before_write || s.code() == status_code::bad_batch ||
                   s.code() == status_code::bad_overlap),
                  s.name() << " at " << s.where());
  return of_step && s.where() == static_cast<std::int32_t>(step) ? s.code() : status_code::ok;
}

/// A plan in which one operand of a step is a tensor of its own, with space for what is changed in it.
struct planted {
  plan_spec plan;
  std::size_t step;
  std::uint32_t tensor;

  planted(const plan_spec& p, std::size_t number, int input) : plan(p), step(number) {
    test::step_spec& s = plan.steps[number];
    std::uint32_t& place = input < 0 ? s.outputs[0] : s.inputs[static_cast<std::size_t>(input)];
    const test::tensor_spec old = plan.tensors[place];
    const auto at = static_cast<std::uint32_t>(number);
    std::vector<std::int32_t> large = old.shape;
    for (std::int32_t& length : large) length += 2;
    large.push_back(32);  // channels apart, and elements of 8 bytes
    tensor = plan.add_dense("planted", large, at, at, DataType::int64);
    place = tensor;
    test::tensor_spec& t = plan.tensors[tensor];
    t.type = old.type;
    t.shape = old.shape;
    t.strides.assign(old.shape.size(), 1);
    for (std::size_t d = old.shape.size() - 1; d-- > 0;)  // whole rows of pixels are neighbours
      t.strides[d] = t.strides[d + 1] * (t.shape[d + 1] + (d + 2 == old.shape.size() ? 0 : 2));
    t.offset = 8 * static_cast<std::uint64_t>(2 * t.strides[0] + 2 * t.strides[t.strides.size() > 1 ? 1 : 0]);
  }
  test::tensor_spec& changed() { return plan.tensors[tensor]; }
  status_code opinion() const { return opinion_of_step(plan, step); }
};

/// Breaks every line of the table for one operand, and counts how many there are.
int break_each(const plan_spec& p, std::size_t step, int input, const operand& o) {
  const planted valid(p, step, input);
  CHECK(valid.opinion() == status_code::ok);
  int lines = 0;
  const auto refused = [&](auto change) {
    planted v = valid;
    change(v.changed());
    CHECK(v.opinion() == status_code::bad_step);
    ++lines;
  };
  for (int type = 0; type < k_types; ++type)
    if ((o.types >> type & 1u) == 0 || (o.same_type && type != static_cast<int>(valid.plan.tensors[valid.tensor].type)))
      refused([&](test::tensor_spec& t) { t.type = static_cast<DataType>(type); });
  if (o.rank != 0)
    refused([](test::tensor_spec& t) {
      t.shape.insert(t.shape.begin(), 1);
      t.strides.insert(t.strides.begin(), t.strides[0]);
    });
  if (o.lines)
    refused([](test::tensor_spec& t) {
      for (std::int64_t& stride : t.strides) stride *= 2;
    });
  if (o.same_shape)
    for (std::size_t d = 0; d < valid.plan.tensors[valid.tensor].shape.size(); ++d)
      refused([&](test::tensor_spec& t) { ++t.shape[d]; });
  if (input < 0 && !o.border && (o.types & operand::floats().types) != 0)
    if (valid.plan.tensors[valid.tensor].shape.size() >= 3)
      refused([](test::tensor_spec& t) { t.border = {0, 1, 0, 0}; });
  return lines;
}

TEST_CASE("open: a tensor that breaks a line of its operator's table is refused") {
  std::set<nsk::op> seen;
  int lines = 0;
  for (const plan_spec& p : plans()) {
    const test::aligned_bytes file = p.write();
    nsk::model m;
    const nsk::status valid = nsk::open({file.data(), file.size()}, m);
    REQUIRE_MESSAGE(valid, valid.name() << " at " << valid.where());
    for (int i = 0; i < m.variant().step_count(); ++i) {
      const nsk::step_view s = m.variant().step(i);
      const operand_table table = table_of(s);
      const auto step = static_cast<std::size_t>(i);
      CAPTURE(p.steps[step].name);
      CAPTURE(static_cast<int>(s.op()));
      seen.insert(s.op());
      lines += break_each(p, step, -1, table.output);
      for (int k = 0; k < table.count; ++k)
        if (table.inputs[k].types != 0) lines += break_each(p, step, k, table.inputs[k]);
    }
  }
  MESSAGE(lines << " lines broken");
  CHECK(lines > 500);
  for (int o = 1; o < nsk::op_count; ++o) CHECK_MESSAGE(seen.count(static_cast<nsk::op>(o)) == 1, o);
}

TEST_CASE("open: an output that is written twice in one place is refused") {
  const std::vector<plan_spec> all = plans();
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(i);
    planted repeated(all[i], 0, -1);
    for (std::size_t d = 0; d < repeated.changed().shape.size(); ++d) {
      if (repeated.changed().shape[d] == 1) continue;
      planted v = repeated;
      v.changed().strides[d] = 0;
      CHECK(v.opinion() == status_code::bad_step);
    }
  }
}
}
