// SPDX-License-Identifier: MIT
#include "tflite_writer.hpp"

#include <doctest/doctest.h>

#include <random>

#include "errors.hpp"
#include "resolve/infer.hpp"
#include "import/tflite/import.hpp"
#include "import/tflite/file/constants.hpp"
#include "compile/compile.hpp"
#include "reference/evaluator.hpp"

namespace {

using namespace nsk::tool;
using nsk::test::bytes_of;
using nsk::test::tflite_writer;
using op = tfl::BuiltinOperator;
using type = tfl::TensorType;

graph import_bytes(const std::vector<std::byte>& bytes, bool dequantize = false) {
  return import_tflite(bytes.data(), bytes.size(), "m.tflite", {dequantize});
}

/// The message that refusing `bytes` gives; empty when they are accepted.
std::string refusal(const std::vector<std::byte>& bytes, bool dequantize = false) {
  try {
    import_bytes(bytes, dequantize);
  } catch (const error& e) {
    CHECK(e.code == exit_code::refused);
    return e.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Output 0 for the given inputs, by the reference evaluator.
array evaluate(graph g, const std::map<std::string, array>& inputs) {
  resolve(g, {});
  const std::string name = g.values[static_cast<std::size_t>(g.outputs[0])].name;
  return evaluator(g).run(inputs).at(name);
}

void check_numbers(const array& got, const std::vector<double>& wanted) {
  REQUIRE(got.count() == static_cast<std::int64_t>(wanted.size()));
  for (std::size_t i = 0; i < wanted.size(); ++i)
    CHECK(got.number(static_cast<std::int64_t>(i)) == doctest::Approx(wanted[i]));
}

/// y = convolution of x [1,2,2,1] with one 2x2 kernel 1 2 / 3 4, padding "same", bias 0.5.
std::vector<std::byte> small_convolution(tfl::Activation a = tfl::Activation::NONE,
                                         std::vector<std::int32_t> result = {1, 2, 2, 1}) {
  tflite_writer w;
  const int x = w.floats("x", {1, 2, 2, 1}), k = w.floats("k", {1, 2, 2, 1}, {1, 2, 3, 4}),
            bias = w.floats("bias", {1}, {0.5f});
  const int y = w.floats("y", result);
  w.node(op::CONV_2D, {x, k, bias}, {y}, tfl::BuiltinOptions::Conv2DOptions,
         tfl::CreateConv2DOptions(w.b, tfl::Padding::SAME, 1, 1, a));
  return w.finish({x}, {y});
}

/// y = x + c with a constant of the caller's.
std::vector<std::byte> sum_with(const nsk::test::tflite_tensor_text& constant, std::vector<std::int32_t> shape) {
  tflite_writer w;
  const int x = w.floats("x", shape), c = w.tensor(constant), d = w.floats("d", shape), y = w.floats("y", shape);
  w.node(op::DEQUANTIZE, {c}, {d});
  w.node(op::ADD, {x, d}, {y});
  return w.finish({x}, {y});
}

}

TEST_CASE("tflite: a convolution with padding to the end, in the source's names and axes") {
  graph g = import_bytes(small_convolution());
  CHECK(g.values[static_cast<std::size_t>(g.inputs[0])].name == "x");
  CHECK(g.values[static_cast<std::size_t>(g.inputs[0])].shape == shape_t{1, 2, 2, 1});
  CHECK(g.values[static_cast<std::size_t>(g.outputs[0])].name == "y");
  CHECK(g.values[static_cast<std::size_t>(g.outputs[0])].shape == shape_t{1, 2, 2, 1});
  check_numbers(evaluate(std::move(g), {{"x", make_floats({1, 2, 2, 1}, {1, 2, 3, 4})}}), {30.5, 14.5, 11.5, 4.5});
  check_numbers(evaluate(import_bytes(small_convolution(tfl::Activation::RELU6)),
                         {{"x", make_floats({1, 2, 2, 1}, {1, 2, 3, 4})}}),
                {6, 6, 6, 4.5});
}

TEST_CASE("tflite: what cannot be computed is refused with its operator, tensors and a cure") {
  CHECK(contains(refusal(small_convolution(tfl::Activation::TANH)), "fused activation 4"));
  CHECK(contains(refusal(small_convolution(tfl::Activation::SIGN_BIT)), "fused activation 5"));
  const std::string wrong_shape = refusal(small_convolution(tfl::Activation::NONE, {1, 3, 2, 1}));
  for (const char* part : {"operator 0 (CONV_2D", "'y'", "[1,1,3,2]", "[1,1,2,2]", "damaged"})
    CHECK(contains(wrong_shape, part));

  CHECK(contains(refusal(small_convolution(tfl::Activation::NONE, {4})), "four dimensions"));

  tflite_writer w;
  const int x = w.floats("x", {2}), y = w.floats("y", {2});
  w.node(op::UNIQUE, {x}, {y});
  const std::string unknown = refusal(w.finish({x}, {y}));
  for (const char* part : {"operator 0 (UNIQUE", "'x' [2]", "reference/operators.md"}) CHECK(contains(unknown, part));

  tflite_writer custom;
  const int a = custom.floats("a", {2}), c = custom.floats("c", {2});
  custom.node(op::CUSTOM, {a}, {c}, tfl::BuiltinOptions::NONE, flatbuffers::Offset<void>(0), "MyOperator");
  CHECK(contains(refusal(custom.finish({a}, {c})), "MyOperator"));
}

TEST_CASE("tflite: options that are missing are refused") {
  tflite_writer w;
  const int x = w.floats("x", {1, 2, 2, 1}), k = w.floats("k", {1, 1, 1, 1}, {1}), y = w.floats("y", {1, 2, 2, 1});
  w.node(op::CONV_2D, {x, k}, {y});
  CHECK(contains(refusal(w.finish({x}, {y})), "options are missing"));
}

TEST_CASE("tflite: an operator without outputs is refused, whatever options it has") {
  tflite_writer w;
  const int axis = w.integers("axis", {}, {0}), x = w.floats("x", {2});
  w.node(op::SPLIT, {axis, x}, {}, tfl::BuiltinOptions::CallOptions, tfl::CreateCallOptions(w.b, 1));
  w.end_graph({x}, {x});
  const int inside = w.floats("inside", {2}), y = w.floats("y", {2});
  w.node(op::NEG, {inside}, {y});
  const std::string message = refusal(w.finish({inside}, {y}));
  for (const char* part : {"operator 0 (SPLIT", "no outputs. The file is damaged"}) CHECK(contains(message, part));
}

TEST_CASE("tflite: every truncation is refused") {
  const std::vector<std::byte> whole = small_convolution();
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK_MESSAGE(!refusal({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}).empty(), size);
}

TEST_CASE("tflite: damaged bytes are refused or imported, never followed outside") {
  const std::vector<std::byte> whole = small_convolution();
  std::mt19937 random(1);
  int refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::vector<std::byte> damaged = whole;
    for (int flips = 0; flips < 1 + round % 4; ++flips) damaged[random() % damaged.size()] = std::byte(random() & 255);
    refused += refusal(damaged).empty() ? 0 : 1;
  }
  CHECK(refused > 500);
}

TEST_CASE("tflite: indices outside are refused") {
  for (const int invalid_case : {-2, 4, 1 << 30}) {
    tflite_writer w;
    const int x = w.floats("x", {2}), y = w.floats("y", {2});
    w.node(op::RELU, {invalid_case}, {y});
    CHECK(contains(refusal(w.finish({x}, {y})), "names tensor"));
  }
  tflite_writer output;
  const int x = output.floats("x", {2}), y = output.floats("y", {2});
  output.node(op::RELU, {x}, {y});
  CHECK(contains(refusal(output.finish({x}, {-1})), "list of outputs"));

  tflite_writer buffer;
  nsk::test::tflite_tensor_text t{"x", {2}};
  t.buffer = 77;
  buffer.tensor(t);
  CHECK(contains(refusal(buffer.finish({0}, {0})), "buffer 77"));
}

TEST_CASE("tflite: order, producers, variables and versions") {
  tflite_writer early;
  const int x = early.floats("x", {2}), y = early.floats("y", {2}), z = early.floats("z", {2});
  early.node(op::RELU, {y}, {z});
  early.node(op::RELU, {x}, {y});
  CHECK(contains(refusal(early.finish({x}, {z})), "nothing has produced"));

  tflite_writer twice;
  const int a = twice.floats("a", {2}), b = twice.floats("b", {2});
  twice.node(op::RELU, {a}, {b});
  twice.node(op::TANH, {a}, {b});
  CHECK(contains(refusal(twice.finish({a}, {b})), "exists already"));

  nsk::test::tflite_tensor_text state{"state", {2}};
  state.variable = true;
  for (const std::vector<std::int32_t>& inputs : {std::vector<std::int32_t>{0}, std::vector<std::int32_t>{}}) {
    tflite_writer variable;
    variable.tensor(state);
    CHECK(contains(refusal(variable.finish(inputs, {0})), "variable"));
  }
  tflite_writer constant;
  state.data = bytes_of(std::vector<float>{1, 2});
  const int held = constant.tensor(state), result = constant.floats("y", {2});
  constant.node(op::RELU, {held}, {result});
  CHECK(contains(refusal(constant.finish({}, {result})), "no runtime reads"));

  tflite_writer old;
  const int p = old.floats("p", {2}), q = old.floats("q", {2});
  old.node(op::RELU, {p}, {q});
  CHECK(contains(refusal(old.finish({p}, {q}, 2)), "version 2"));
}

TEST_CASE("tflite: constants whose bytes disagree with their shape are refused") {
  CHECK(contains(refusal(sum_with({"c", {2}, type::FLOAT16, bytes_of<std::uint16_t>({0x3c00})}, {2})), "needs 4"));
  CHECK(contains(refusal(sum_with({"c", {3}, type::FLOAT16, bytes_of<std::uint16_t>({0x3c00, 0, 0, 0})}, {3})),
                 "needs 6"));
  CHECK(contains(refusal(sum_with({"c", {-1}, type::FLOAT16, bytes_of<std::uint16_t>({0x3c00})}, {1})), "'c'"));
}

TEST_CASE("tflite: float16 constants are widened exactly") {
  const auto model =
      sum_with({"c", {4}, type::FLOAT16, bytes_of<std::uint16_t>({0x3c00, 0xc000, 0x0001, 0x7bff})}, {4});
  check_numbers(evaluate(import_bytes(model), {{"x", make_floats({4}, {0, 0, 0, 0})}}),
                {1, -2, std::ldexp(1, -24), 65504});
}

TEST_CASE("tflite: quantised constants become scale * (stored - zero point)") {
  using bytes = std::vector<std::uint8_t>;
  const auto value = [](const nsk::test::tflite_tensor_text& t, std::vector<std::int32_t> shape) {
    const auto count = static_cast<std::size_t>(count_of({shape.begin(), shape.end()}));
    return evaluate(import_bytes(sum_with(t, shape)),
                    {{"x", make_floats({shape.begin(), shape.end()}, std::vector<float>(count, 0.0f))}});
  };
  check_numbers(value({"c", {3}, type::UINT8, bytes{0, 128, 255}, {0.5f}, {128}}, {3}), {-64, 0, 63.5});
  check_numbers(value({"c", {2, 2}, type::INT8, bytes{1, 0xff, 2, 0xfe}, {0.5f, 0.25f}, {0, 1}, 1}, {2, 2}),
                {0.5, -0.5, 1, -0.75});
  check_numbers(value({"c", {2, 2}, type::INT8, bytes{1, 0xff, 2, 0xfe}, {0.5f, 0.25f}, {}, 0}, {2, 2}),
                {0.5, -0.5, 0.5, -0.5});
  check_numbers(value({"c", {3}, type::INT4, bytes{0x7f, 0x08}, {2.0f}, {0}}, {3}), {-2, 14, -16});
}

TEST_CASE("tflite: scales and zero points that make no sense are refused") {
  using bytes = std::vector<std::uint8_t>;
  const auto said = [](const nsk::test::tflite_tensor_text& t) { return refusal(sum_with(t, {2})); };
  CHECK(contains(said({"c", {2}, type::INT8, bytes{1, 2}, {1.0f, 1.0f, 1.0f}, {}, 0}), "3 scales"));
  CHECK(contains(said({"c", {2}, type::INT8, bytes{1, 2}, {1.0f, 1.0f}, {}, 7}), "axis 7"));
  CHECK(contains(said({"c", {2}, type::INT8, bytes{1, 2}, {1.0f, 1.0f}, {0, 0, 0}, 0}), "3 zero points"));
  CHECK(contains(said({"c", {2}, type::INT8, bytes{1, 2}, {-1.0f}, {0}, 0}), "negative"));
  CHECK(contains(said({"c", {2}, type::INT8, bytes{1, 2}, {NAN}, {0}, 0}), "not finite"));
}

TEST_CASE("tflite: quantised models compute their integers, or saturate as these do") {
  const auto model = [] {
    tflite_writer w;
    nsk::test::tflite_tensor_text x{"x", {3}, type::INT8, {}, {0.5f}, {0}}, y{"y", {3}, type::INT8, {}, {0.25f}, {0}};
    const int a = w.tensor(x), b = w.tensor(y);
    w.node(op::ADD, {a, a}, {b}, tfl::BuiltinOptions::AddOptions, tfl::CreateAddOptions(w.b));
    return w.finish({a}, {b});
  };
  array stored(element::i8, {3});
  for (int i = 0; i < 3; ++i) stored.set_integer(i, std::vector<int>{2, 60, -60}[static_cast<std::size_t>(i)]);
  const graph integers = import_bytes(model());
  CHECK(integers.values[static_cast<std::size_t>(integers.inputs[0])].type == element::i8);
  CHECK(integers.values[static_cast<std::size_t>(integers.outputs[0])].type == element::i8);
  const array sum = evaluator(integers).run({{"x", stored}}).at("y");
  CHECK(sum.integer(0) == 8);
  CHECK(sum.integer(1) == 127);
  CHECK(sum.integer(2) == -128);
  check_numbers(evaluate(import_bytes(model(), true), {{"x", make_floats({3}, {1, 30, -30})}}), {2, 31.75, -32});
}

TEST_CASE("tflite: activations of 4 bits are not kept in bytes") {
  tflite_writer w;
  const int x = w.tensor({"x", {2}, type::INT4, {}, {0.5f}, {0}}),
            y = w.tensor({"y", {2}, type::INT4, {}, {0.5f}, {0}});
  w.node(op::ADD, {x, x}, {y}, tfl::BuiltinOptions::AddOptions, tfl::CreateAddOptions(w.b));
  CHECK(contains(refusal(w.finish({x}, {y})), "of 4 bits"));
}

TEST_CASE("tflite: integers of a bias are in units of its sums, up to what LiteRT refuses") {
  const auto model = [](nsk::test::tflite_tensor_text bias) {
    tflite_writer w;
    const int x = w.tensor({"x", {1, 2}, type::INT8, {}, {0.5f}, {0}}),
              k = w.tensor({"k", {1, 2}, type::INT8, {1, 2}, {0.5f}, {0}});
    const int b = w.tensor(bias), y = w.tensor({"y", {1, 1}, type::INT8, {}, {0.5f}, {0}});
    w.node(op::FULLY_CONNECTED, {x, k, b}, {y}, tfl::BuiltinOptions::FullyConnectedOptions,
           tfl::CreateFullyConnectedOptions(w.b));
    return w.finish({x}, {y});
  };
  const nsk::test::tflite_tensor_text seven{"bias", {1}, type::INT32, {7, 0, 0, 0}, {0.259f}, {0}};
  const graph near = import_bytes(model(seven), true);
  check_numbers(evaluate(near, {{"x", make_floats({1, 2}, {1, 1})}}), {1.5f + 7 * 0.25f});
  CHECK(near.facts.warnings.size() == 1);
  nsk::test::tflite_tensor_text far = seven, none = seven;
  far.scale = {0.261f};
  none.scale = {}, none.zero = {};
  CHECK(contains(refusal(model(far), true), "the scale of its bias"));
  CHECK(contains(refusal(model(none), true), "bias"));
}

namespace {

/// A sparse constant: rows are dense, columns compressed.
flatbuffers::Offset<tfl::SparsityParameters> sparse_rows(tflite_writer& w, std::vector<std::int32_t> segments,
                                                         std::vector<std::uint8_t> columns) {
  const std::vector<std::int32_t> order = {0, 1};
  const auto rows = tfl::CreateDimensionMetadata(w.b, tfl::DimensionType::DENSE, 2);
  const auto starts = tfl::CreateInt32VectorDirect(w.b, &segments).Union();
  const auto places = tfl::CreateUint8VectorDirect(w.b, &columns).Union();
  const auto compressed =
      tfl::CreateDimensionMetadata(w.b, tfl::DimensionType::SPARSE_CSR, 0, tfl::SparseIndexVector::Int32Vector, starts,
                                   tfl::SparseIndexVector::Uint8Vector, places);
  const std::vector<flatbuffers::Offset<tfl::DimensionMetadata>> levels = {rows, compressed};
  return tfl::CreateSparsityParametersDirect(w.b, &order, nullptr, &levels);
}

std::vector<std::byte> sparse_sum(std::vector<std::int32_t> segments, std::vector<std::uint8_t> columns,
                                  std::vector<float> values) {
  tflite_writer w;
  nsk::test::tflite_tensor_text t{"c", {2, 3}, type::FLOAT32, bytes_of(values)};
  t.sparsity = sparse_rows(w, segments, columns);
  const int x = w.floats("x", {2, 3}), c = w.tensor(t), d = w.floats("d", {2, 3}), y = w.floats("y", {2, 3});
  w.node(op::DENSIFY, {c}, {d});
  w.node(op::ADD, {x, d}, {y});
  return w.finish({x}, {y});
}

}

TEST_CASE("tflite: sparse constants are spread, and invalid ones refused") {
  const auto x = make_floats({2, 3}, {0, 0, 0, 0, 0, 0});
  check_numbers(evaluate(import_bytes(sparse_sum({0, 1, 3}, {1, 0, 2}, {5, 6, 7})), {{"x", x}}), {0, 5, 0, 6, 0, 7});
  CHECK(contains(refusal(sparse_sum({0, 1, 3}, {1, 0, 3}, {5, 6, 7})), "index 3"));
  CHECK(contains(refusal(sparse_sum({0, 1, 3}, {1, 2, 0}, {5, 6, 7})), "out of order"));
  CHECK(contains(refusal(sparse_sum({0, 2, 1}, {0, 1, 2}, {5, 6, 7})), "segments"));
  CHECK(contains(refusal(sparse_sum({0, 1, 9}, {1, 0, 2}, {5, 6, 7})), "segments"));
  CHECK(contains(refusal(sparse_sum({0, 1}, {1, 0, 2}, {5, 6, 7})), "segments"));
  CHECK(contains(refusal(sparse_sum({0, 1, 3}, {1, 0, 2}, {5, 6})), "needs 12"));
}

TEST_CASE("tflite: sparse constants in float16 are spread and widened; what is computed in float16 is refused") {
  const auto model = [](bool computed) {
    tflite_writer w;
    const std::vector<std::uint16_t> halves = {0x4500, 0x4600, 0xc700};
    nsk::test::tflite_tensor_text sparse{"c", {2, 3}, type::FLOAT16, bytes_of(halves)};
    sparse.sparsity = sparse_rows(w, {0, 1, 3}, {1, 0, 2});
    const int x = w.floats("x", {2, 3}), c = w.tensor(sparse), dense = w.tensor({"dense", {2, 3}, type::FLOAT16});
    const int sum = w.tensor({"sum", {2, 3}, type::FLOAT16}), wide = w.floats("wide", {2, 3}),
              y = w.floats("y", {2, 3});
    w.node(op::DENSIFY, {c}, {dense});
    if (computed) w.node(op::ADD, {dense, dense}, {sum});
    w.node(op::DEQUANTIZE, {computed ? sum : dense}, {wide});
    w.node(op::ADD, {x, wide}, {y});
    return w.finish({x}, {y});
  };
  check_numbers(evaluate(import_bytes(model(false)), {{"x", make_floats({2, 3}, {0, 0, 0, 1, 1, 1})}}),
                {0, 5, 0, 7, 1, -6});
  CHECK(contains(refusal(model(true)), "computed in float16"));
}

TEST_CASE("tflite: what follows from constants and shapes alone is folded") {
  tflite_writer w;
  const int x = w.floats("x", {2, 3, 4}), s = w.tensor({"s", {3}, type::INT32});
  const int zero = w.integers("zero", {1}, {0}), two = w.integers("two", {1}, {2}), one = w.integers("one", {1}, {1});
  const int head = w.tensor({"head", {2}, type::INT32}), product = w.tensor({"product", {1}, type::INT32});
  const int y = w.floats("y", {6, 4}), last = w.integers("last", {1}, {4}), all = w.tensor({"all", {2}, type::INT32});
  w.node(op::SHAPE, {x}, {s});
  w.node(op::STRIDED_SLICE, {s, zero, two, one}, {head}, tfl::BuiltinOptions::StridedSliceOptions,
         tfl::CreateStridedSliceOptions(w.b));
  w.node(op::REDUCE_PROD, {head, zero}, {product}, tfl::BuiltinOptions::ReducerOptions,
         tfl::CreateReducerOptions(w.b, true));
  w.node(op::CONCATENATION, {product, last}, {all}, tfl::BuiltinOptions::ConcatenationOptions,
         tfl::CreateConcatenationOptions(w.b, 0));
  w.node(op::RESHAPE, {x, all}, {y});
  const graph g = import_bytes(w.finish({x}, {y}));
  CHECK(g.nodes.size() == 1);
  CHECK(g.nodes[0].name == "RESHAPE_4");
}

TEST_CASE("tflite: tensors without a name or with another's get one of their own") {
  tflite_writer w;
  const int x = w.floats("", {2}), y = w.floats("y", {2}), z = w.floats("y", {2});
  w.node(op::RELU, {x}, {y});
  w.node(op::TANH, {y}, {z});
  const graph g = import_bytes(w.finish({x}, {z}));
  CHECK(g.values[static_cast<std::size_t>(g.inputs[0])].name == "tensor_0");
  CHECK(g.values[static_cast<std::size_t>(g.outputs[0])].name == "y_2");
}

TEST_CASE("tflite: CALL becomes the graph that it names; its constants and names stay apart from the caller's") {
  tflite_writer w;
  const int x = w.floats("x", {2}), a = w.floats("a", {2}), y = w.floats("y", {2});
  const auto call = [&] { return tfl::CreateCallOptions(w.b, 1); };
  w.node(op::CALL, {x}, {a}, tfl::BuiltinOptions::CallOptions, call());
  w.node(op::CALL, {a}, {y}, tfl::BuiltinOptions::CallOptions, call());
  w.end_graph({x}, {y});
  const int given = w.floats("x", {2}), two = w.floats("two", {2}, {2, 3}), product = w.floats("y", {2});
  w.node(op::MUL, {given, two}, {product});
  const std::vector<std::byte> model = w.finish({given}, {product});
  check_numbers(evaluate(import_bytes(model), {{"x", make_floats({2}, {1, -1})}}), {4, -9});

  tflite_writer wrong;
  const int p = wrong.floats("p", {2}), q = wrong.floats("q", {2});
  wrong.node(op::CALL, {p, p}, {q}, tfl::BuiltinOptions::CallOptions, tfl::CreateCallOptions(wrong.b, 1));
  wrong.end_graph({p}, {q});
  const int r = wrong.floats("r", {3}), s = wrong.floats("s", {3});
  wrong.node(op::NEG, {r}, {s});
  CHECK(contains(refusal(wrong.finish({r}, {s})), "takes 1 values, but is given 2"));
}

TEST_CASE("tflite: functions beside the first subgraph are named") {
  const auto said_of = [](bool has_names, bool calls) {
    tflite_writer w;
    const int x = w.floats("x", {2}), y = w.floats("y", {2});
    if (calls)
      w.node(op::CALL, {x}, {y}, tfl::BuiltinOptions::CallOptions, tfl::CreateCallOptions(w.b, 1));
    else
      w.node(op::NEG, {x}, {y});
    w.end_graph({x}, {y});
    const int a = w.floats("a", {2}), b = w.floats("b", {2});
    w.node(op::NEG, {a}, {b});
    if (has_names) w.signature("prefill", 0), w.signature("decode", 1);
    const graph g = import_bytes(w.finish({a}, {b}));
    std::vector<std::string> said = g.facts.notes;
    said.insert(said.end(), g.facts.warnings.begin(), g.facts.warnings.end());
    return said.empty() ? std::string() : said[0];
  };
  CHECK(contains(said_of(true, false), "'prefill' is converted; --signature NAME takes another one of them: 'decode'"));
  CHECK(contains(said_of(false, false), "subgraphs that nothing names and nothing runs, which are left out: 1"));
  CHECK(said_of(false, true).empty());
}

TEST_CASE("tflite: a variable that no operator writes stays a state of zeros") {
  tflite_writer w;
  nsk::test::tflite_tensor_text state{"memory", {2}};
  state.variable = true;
  const int x = w.floats("x", {2}), m = w.tensor(state), y = w.floats("y", {2});
  w.node(op::ADD, {x, m}, {y});
  const graph g = import_bytes(w.finish({x}, {y}));
  REQUIRE(g.states.size() == 1);
  CHECK(g.states[0].input == "memory");
  CHECK(g.states[0].output == "memory:next");
  CHECK(!g.states[0].initial);
  CHECK(g.outputs.size() == 2);
}

TEST_CASE("tflite: a quantised state saturates where its numbers end, or is refused") {
  nsk::test::tflite_tensor_text state{"memory", {1, 1}, type::INT16};
  state.variable = true;
  state.scale = {0.01f};
  tflite_writer w;
  const int x = w.floats("x", {1, 1}), once = w.floats("once", {1, 1}, {1}), twice = w.floats("twice", {1, 1}, {2}),
            m = w.tensor(state), y = w.floats("y", {1, 1});
  w.node(op::SVDF, {x, once, twice, -1, m}, {y}, tfl::BuiltinOptions::SVDFOptions, tfl::CreateSVDFOptions(w.b, 1));
  const std::vector<std::byte> model = w.finish({x}, {y});
  CHECK(contains(refusal(model), "--dequantize"));
  const array nothing = make_floats({1, 1}, {0});
  check_numbers(evaluate(import_bytes(model, true), {{"x", make_floats({1, 1}, {1000})}, {"memory", nothing}}),
                {655.34});
  check_numbers(evaluate(import_bytes(model, true), {{"x", make_floats({1, 1}, {-3})}, {"memory", nothing}}), {-6});

  tflite_writer layer;
  const int a = layer.floats("a", {1, 1}), v = layer.floats("v", {1, 1}, {1}), r = layer.floats("r", {1, 1}, {1}),
            bias = layer.floats("bias", {1}, {0}), h = layer.tensor(state), b = layer.floats("b", {1, 1});
  layer.node(op::RNN, {a, v, r, bias, h}, {b}, tfl::BuiltinOptions::RNNOptions, tfl::CreateRNNOptions(layer.b));
  CHECK(contains(refusal(layer.finish({a}, {b}), true), "'memory' is quantised"));
}
