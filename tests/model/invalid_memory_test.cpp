// SPDX-License-Identifier: MIT
// What kernels assume of borders, rows of a batch, scales and sums: a file that says otherwise is refused.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <string>
#include <doctest/doctest.h>
#include "quantized_plan.hpp"
#include <netsuke/model/open.hpp>

namespace {
using nsk::status_code;
using test::plan_spec;
using test::step_spec;
using test::format::DataType;
using test::format::Operator;
namespace fs = std::filesystem;

nsk::status open_plan(const plan_spec& p) {
  const test::aligned_bytes file = p.write();
  nsk::model m;
  return nsk::open({file.data(), file.size()}, m);
}

/// An image [1, 4, 5, 3] with a border in an arena buffer twice as large as it needs, so that channels may be 2 apart.
std::uint32_t add_bordered_output(plan_spec& p) {
  const std::uint32_t y = p.add_bordered("y", {1, 4, 5, 3}, {1, 1, 1, 1}, 0, 1);
  p.buffers[p.tensors[y].buffer].bytes *= 2;
  p.arena_bytes += (p.buffers[p.tensors[y].buffer].bytes + 63) / 64 * 64;
  return y;
}

/// One step without a window of an operator that fills the border of its output.
plan_spec bordered_step(Operator op) {
  plan_spec p;
  const std::vector<std::int32_t> shape = {1, 4, 5, 3};
  const auto input = [&](const char* name, DataType type = DataType::float32) {
    return p.add_input(name, shape, 1, type);
  };
  const auto constant = [&](const char* name) { return p.add_constant(name, std::vector<float>(3, 1)); };
  std::vector<std::uint32_t> inputs;
  switch (op) {
    case Operator::Fill:
    case Operator::Random: break;
    case Operator::Binary: inputs = {input("a"), input("b")}; break;
    case Operator::Cast: inputs = {input("x", DataType::int32)}; break;
    case Operator::Dequantize: inputs = {input("x", DataType::uint8)}; break;
    case Operator::Select: inputs = {input("condition", DataType::boolean), input("a"), input("b")}; break;
    case Operator::Gather: inputs = {input("data"), p.add_input("indices", {1}, 1, DataType::int32)}; break;
    case Operator::GatherElements: inputs = {input("data"), input("indices", DataType::int32)}; break;
    case Operator::Scatter: inputs = {input("data"), input("indices", DataType::int32), input("updates")}; break;
    case Operator::LayerNormalization: inputs = {input("x"), constant("scale"), constant("bias")}; break;
    default: inputs = {input("x")};
  }
  p.add_step(op, inputs, add_bordered_output(p)).axis = 0;
  return p;
}

test::tensor_spec& output_of(plan_spec& p) { return p.tensors[p.steps[0].outputs[0]]; }

TEST_CASE("open: every operator that fills a border fills one of neighbouring channels") {
  for (const Operator op :
       {Operator::Unary, Operator::Binary, Operator::Cast, Operator::Copy, Operator::Dequantize, Operator::Fill,
        Operator::Gather, Operator::GatherElements, Operator::LayerNormalization, Operator::LocalResponseNormalization,
        Operator::Random, Operator::Reduce, Operator::Scatter, Operator::Select, Operator::Softmax}) {
    CAPTURE(static_cast<int>(op));
    const nsk::status valid = open_plan(bordered_step(op));
    REQUIRE_MESSAGE(valid, valid.name() << " at " << valid.where());
    plan_spec apart = bordered_step(op);  // channels, pixels, rows: each twice as far from the next
    for (std::int64_t& stride : output_of(apart).strides) stride *= 2;
    output_of(apart).offset *= 2;
    CHECK(open_plan(apart).code() == status_code::bad_border);
    plan_spec planes = bordered_step(op);  // channels are planes of 6 x 7 pixels
    output_of(planes).strides = {126, 7, 1, 42};
    output_of(planes).offset = 4 * 8;
    CHECK(open_plan(planes).code() == status_code::bad_border);
  }
}

TEST_CASE("open: a border belongs to an image of floats") {
  plan_spec p = bordered_step(Operator::Copy);
  output_of(p).type = p.tensors[p.steps[0].inputs[0]].type = DataType::int32;
  CHECK(open_plan(p).code() == status_code::bad_border);
  p = bordered_step(Operator::Fill);
  output_of(p).shape = {4, 3};
  output_of(p).strides = {21, 1};
  CHECK(open_plan(p).code() == status_code::bad_border);
}

TEST_CASE("open: a step in place writes no border that its input has not") {
  const auto plan = [](nsk::halo of_input, nsk::halo of_output) {
    plan_spec p;
    const std::uint32_t x = p.add_input("x", {1, 4, 5, 3}, 2),
                        a = p.add_bordered("a", {1, 4, 5, 3}, {1, 1, 1, 1}, 0, 1);
    const std::uint32_t b = p.add_tensor("b", {1, 4, 5, 3}, p.tensors[a].buffer);
    p.tensors[b] = p.tensors[a];
    p.tensors[a].border = of_input;
    p.tensors[b].border = of_output;
    p.add_step(Operator::Copy, {x}, a);
    p.add_step(Operator::Unary, {a}, b);
    return p;
  };
  CHECK(open_plan(plan({}, {})));
  CHECK(open_plan(plan({1, 1, 1, 1}, {1, 1, 1, 1})));
  CHECK(open_plan(plan({1, 1, 1, 1}, {1, 0, 1, 0})));
  CHECK(open_plan(plan({}, {1, 1, 1, 1})).code() == status_code::bad_overlap);
  CHECK(open_plan(plan({1, 1, 0, 1}, {1, 1, 1, 1})).code() == status_code::bad_overlap);
}

/// x -> middle -> y, each [4, 5], a row of the batch each. `view` makes what the second step reads of `middle`.
plan_spec rows_plan(const std::function<std::uint32_t(plan_spec&, std::uint32_t middle)>& view) {
  plan_spec p;
  const std::uint32_t x = p.add_input("x", {4, 5}, 2), middle = p.add_dense("middle", {4, 5}, 0, 1),
                      y = p.add_output("y", {4, 5}, 1, 2);
  for (const std::uint32_t t : {x, middle, y}) p.tensors[t].batch = 1;
  p.add_step(Operator::Copy, {x}, middle);
  const std::uint32_t read = view(p, middle);
  p.add_step(Operator::Copy, {read}, y);
  p.batch = 4;
  return p;
}
std::uint32_t add_rows(plan_spec& p, std::uint32_t of, std::vector<std::int64_t> strides, std::uint64_t offset) {
  const std::uint32_t view = test::add_view(p, of, {4, 5}, std::move(strides), offset);
  p.tensors[view].batch = 1;
  return view;
}

TEST_CASE("open: rows of a batch are read where runs of fewer rows write them") {
  const auto opened = [](auto view) { return open_plan(rows_plan(view)).code(); };
  CHECK(opened([](plan_spec&, std::uint32_t middle) { return middle; }) == status_code::ok);
  // Each row is read alike: its elements backwards, or the first row for all.
  CHECK(opened([](plan_spec& p, std::uint32_t m) { return add_rows(p, m, {5, -1}, 16); }) == status_code::ok);
  CHECK(opened([](plan_spec& p, std::uint32_t m) { return add_rows(p, m, {0, 1}, 0); }) == status_code::ok);
  // The last row first; the second row for all.
  CHECK(opened([](plan_spec& p, std::uint32_t m) { return add_rows(p, m, {-5, 1}, 60); }) == status_code::bad_rows);
  CHECK(opened([](plan_spec& p, std::uint32_t m) { return add_rows(p, m, {0, 1}, 20); }) == status_code::bad_rows);
  // Of the input the same.
  CHECK(opened([](plan_spec& p, std::uint32_t) {
          return add_rows(p, p.inputs[0].tensor, {5, -1}, 16);
        }) == status_code::ok);
  CHECK(opened([](plan_spec& p, std::uint32_t) {
          return add_rows(p, p.inputs[0].tensor, {-5, 1}, 60);
        }) == status_code::bad_rows);
}

TEST_CASE("open: steps without rows read no rows, and rows read what all runs write") {
  plan_spec p = rows_plan([](plan_spec&, std::uint32_t middle) { return middle; });
  const std::uint32_t all = test::add_view(p, p.steps[0].outputs[0], {4, 5}, {5, 1});
  p.add_step(Operator::Copy, {all}, p.add_output("all", {4, 5}, 2, 3));
  for (test::buffer_spec& b : p.buffers) b.last_step = b.storage == test::format::Storage::arena ? 2 : 3;
  CHECK(open_plan(p).code() == status_code::bad_rows);

  p = rows_plan([](plan_spec& q, std::uint32_t m) { return add_rows(q, m, {-5, 1}, 60); });
  p.tensors[p.steps[0].outputs[0]].batch = 0;  // of a constant: all rows, in every run
  const std::uint32_t table = p.add_constant("table", std::vector<float>(20, 1));
  p.steps[0].inputs = {test::add_view(p, table, {4, 5}, {5, 1})};
  const nsk::status s = open_plan(p);
  CHECK_MESSAGE(s, s.name() << " at " << s.where());
}

TEST_CASE("open: parts of a row are those of one row") {
  // Elements 0 and 1 of each row by one step, 2 to 4 by another; or all first halves, then all second ones.
  for (const bool apart : {false, true}) {
    plan_spec p;
    const std::uint32_t x = p.add_input("x", {4, 5}, 3), middle = p.add_dense("middle", {4, 5}, 0, 2),
                        y = p.add_output("y", {4, 5}, 2, 3);
    const std::int64_t left_step = apart ? 2 : 5, right_step = apart ? 3 : 5;
    const std::uint32_t left = test::add_view(p, middle, {4, 2}, {left_step, 1}),
                        right = test::add_view(p, middle, {4, 3}, {right_step, 1}, apart ? 32 : 8);
    const std::uint32_t from_left = test::add_view(p, x, {4, 2}, {5, 1}),
                        from_right = test::add_view(p, x, {4, 3}, {5, 1}, 8);
    p.add_step(Operator::Copy, {from_left}, left);
    p.add_step(Operator::Copy, {from_right}, right);
    p.add_step(Operator::Copy, {middle}, y);
    for (test::tensor_spec& t : p.tensors) t.batch = 1;
    p.batch = 4;
    CHECK(open_plan(p).code() == (apart ? status_code::bad_rows : status_code::ok));
    for (test::tensor_spec& t : p.tensors) t.batch = 0;
    p.batch = 0;
    CHECK(open_plan(p));
  }
}

/// A number of the first panel of a layer's weights: a line of biases, one of scales, then quads.
void put(plan_spec& p, std::size_t line, std::size_t width, std::size_t column, const void* number) {
  std::memcpy(p.weights.data() + 4 * (line * width + column), number, 4);
}

TEST_CASE("open: sums of stored integers and their units stay within 32 bits") {
  struct layer {
    plan_spec (*make)();
    std::size_t width, columns, quads;
  };
  const layer layers[] = {{test::quantized::convolution, 24, 24, 18},
                          {test::quantized::convolution_of_rows, 16, 16, 27},
                          {test::quantized::depthwise, 16, 16, 3}};
  for (const layer& l : layers) {
    const auto opened = [&](std::size_t column, std::int32_t bias, float scale, std::int8_t weight = 0) {
      plan_spec p = l.make();
      put(p, 0, l.width, column, &bias);
      put(p, 1, l.width, column, &scale);
      const std::int8_t quad[4] = {weight, weight, 0, 0};
      for (std::size_t q = 0; q < l.quads; ++q) put(p, 2 + q, l.width, column, quad);
      return open_plan(p).code();
    };
    const std::int32_t largest = std::numeric_limits<std::int32_t>::max();
    for (const std::size_t column : {std::size_t{0}, l.columns - 1}) {
      CHECK(opened(column, 1000, 0.25f, 127) == status_code::ok);
      CHECK(opened(column, largest, 0.25f) == status_code::ok);  // only because all weights are zeros
      CHECK(opened(column, -largest, -0.25f) == status_code::ok);
      CHECK(opened(column, largest, 0.25f, 1) == status_code::bad_sums);
      CHECK(opened(column, std::numeric_limits<std::int32_t>::min(), 0.25f) == status_code::bad_sums);
      CHECK(opened(column, largest, 0.51f) == status_code::bad_sums);  // more than 2^30 units
      for (const float scale : {std::nanf(""), std::numeric_limits<float>::infinity(), 3e38f, -3e38f})
        CHECK(opened(column, 1000, scale, 127) == status_code::bad_sums);
      CHECK(opened(column, 0, std::nanf("")) == status_code::bad_sums);
    }
  }
}

TEST_CASE("open: an offset of the weights counts in their sums") {
  // 9 * 12 weights less 128 times 255: 3525120 besides the bias
  plan_spec p = test::quantized::convolution_of_rows();
  p.steps[0].weight_offset = -128;
  std::int32_t bias = std::numeric_limits<std::int32_t>::max() - 9 * 12 * 128 * 255;
  const float scale = 0.25f;
  put(p, 0, 16, 3, &bias);
  put(p, 1, 16, 3, &scale);
  CHECK(open_plan(p));
  ++bias;
  put(p, 0, 16, 3, &bias);
  CHECK(open_plan(p).code() == status_code::bad_sums);
}

TEST_CASE("open: hostile files are refused, each for its own reason") {
  int seen = 0;
  const auto check = [&](const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    test::aligned_bytes file(bytes.size());
    std::memcpy(file.data(), bytes.data(), bytes.size());
    nsk::model m;
    const nsk::status s = nsk::open(file.span(), m);
    const std::string name = path.filename().string();
    const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
    const status_code want = has("rows_reversed")                      ? status_code::bad_rows
                             : has("nan_scale") || has("sum_overflow") ? status_code::bad_sums
                             : has("long_stride") || has("qconv") ? status_code::ok  // with 32-bit pointers bad_step
                                                                  : status_code::bad_border;
    CHECK_MESSAGE(s.code() == want, name << ": " << s.name() << " at " << s.where());
    ++seen;
  };
  const fs::path root = NSK_TEST_SOURCE_DIR;
  for (const auto& entry : fs::directory_iterator(root / "tests/fuzz/corpus"))
    if (entry.path().filename().string().rfind("hostile_", 0) == 0) check(entry.path());
  CHECK(seen == 16);
}
}
