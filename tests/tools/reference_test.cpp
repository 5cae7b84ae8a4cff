// SPDX-License-Identifier: MIT
// Expectations are worked out by hand or by the formula beside them; the ONNX project's own cases are in
// tests/conformance.
#include "reference/evaluator.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>

#include "errors.hpp"
#include "graph_builder.hpp"
#include "reference/gemm.hpp"

namespace {

using namespace nsk::test;
using attributes = std::map<std::string, attribute>;
using ints = std::vector<std::int64_t>;

/// Evaluates one node; every operand is a constant, so the result is all that runs.
class one_node {
 public:
  one_node(const std::string& op, std::vector<array> operands, attributes a = {}, int opset = 13, int outputs = 1) {
    graph_builder b(opset);
    std::vector<value_id> inputs;
    for (array& operand : operands) {
      const std::string name = "i" + std::to_string(inputs.size());
      inputs.push_back(operand.type == element::string ? no_value : b.constant(name, std::move(operand)));
    }
    std::vector<std::string> names;
    for (int i = 0; i < outputs; ++i) names.push_back("o" + std::to_string(i));
    for (value_id v : b.nodes(op, inputs, names, std::move(a))) b.output(v);
    m_results = evaluator(b.g).run({});
  }
  const array& operator[](int i) const { return m_results.at("o" + std::to_string(i)); }

 private:
  std::map<std::string, array> m_results;
};

array absent() {
  array a;
  a.type = element::string;
  return a;
}

array range(shape_t shape, float first = 0) {
  array a(element::f32, shape);
  for (std::int64_t i = 0; i < a.count(); ++i) a.as<float>()[i] = first + static_cast<float>(i);
  return a;
}

void check(const array& a, const shape_t& shape, const std::vector<double>& values) {
  CHECK(a.shape == shape);
  REQUIRE(a.count() == static_cast<std::int64_t>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    INFO("element " << i);
    CHECK(a.number(static_cast<std::int64_t>(i)) == doctest::Approx(values[i]).epsilon(1e-12));
  }
}

void check(const std::string& op, std::vector<array> operands, attributes a, const shape_t& shape,
           const std::vector<double>& values, int opset = 13) {
  INFO(op << ", opset " << opset);
  check(one_node(op, std::move(operands), std::move(a), opset)[0], shape, values);
}

std::string refusal(const std::string& op, std::vector<array> operands, attributes a = {}, int opset = 13) {
  try {
    one_node(op, std::move(operands), std::move(a), opset);
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

array bools(const std::vector<int>& values) {
  array a(element::boolean, {static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i) a.set(static_cast<std::int64_t>(i), values[i]);
  return a;
}

array bytes(const std::vector<int>& values) {
  array a(element::u8, {static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i) a.set(static_cast<std::int64_t>(i), values[i]);
  return a;
}

/// Convolution by its definition, for one or two spatial axes padded to two.
std::vector<double> naive_conv(const array& x, const array& w, int groups, int stride, int dilation, int pad_top,
                               int pad_left, std::int64_t oh, std::int64_t ow) {
  const std::int64_t C = x.shape[1], H = x.shape[2], W = x.shape[3], O = w.shape[0], c = w.shape[1], KH = w.shape[2],
                     KW = w.shape[3];
  std::vector<double> y;
  for (std::int64_t n = 0; n < x.shape[0]; ++n)
    for (std::int64_t o = 0; o < O; ++o)
      for (std::int64_t i = 0; i < oh; ++i)
        for (std::int64_t j = 0; j < ow; ++j) {
          double sum = 0;
          for (std::int64_t k = 0; k < c; ++k)
            for (std::int64_t a = 0; a < KH; ++a)
              for (std::int64_t b = 0; b < KW; ++b) {
                const std::int64_t r = i * stride - pad_top + a * dilation, s = j * stride - pad_left + b * dilation;
                if (r < 0 || r >= H || s < 0 || s >= W) continue;
                const std::int64_t channel = o / (O / groups) * c + k;
                sum += x.number(((n * C + channel) * H + r) * W + s) * w.number(((o * c + k) * KH + a) * KW + b);
              }
          y.push_back(sum);
        }
  return y;
}

array random_floats(shape_t shape, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  array a(element::f32, std::move(shape));
  for (std::int64_t i = 0; i < a.count(); ++i) a.as<float>()[i] = uniform(random);
  return a;
}

}

TEST_CASE("gemm agrees with the definition on every edge of its tiles") {
  for (std::int64_t m : {1, 3, 4, 9})
    for (std::int64_t n : {1, 7, 8, 17})
      for (std::int64_t k : {0, 1, 255, 256, 259}) {
        const array a = random_floats({m, k}, 1), b = random_floats({k, n}, 2);
        const array wide_a = converted(a, element::f64), wide_b = converted(b, element::f64);
        std::vector<double> c(static_cast<std::size_t>(m * n), 0.5);
        reference::gemm(m, n, k, wide_a.as<double>(), k, wide_b.as<double>(), n, c.data(), n);
        for (std::int64_t i = 0; i < m; ++i)
          for (std::int64_t j = 0; j < n; ++j) {
            double sum = 0.5;
            for (std::int64_t p = 0; p < k; ++p) sum += a.number(i * k + p) * b.number(p * n + j);
            REQUIRE(std::fabs(c[static_cast<std::size_t>(i * n + j)] - sum) < 1e-13);
          }
      }
}

TEST_CASE("convolution agrees with its definition") {
  struct setting {
    int groups, stride, dilation;
    ints pads;
  };
  for (const setting& s : {setting{1, 1, 1, {0, 0, 0, 0}}, setting{1, 2, 1, {1, 0, 2, 1}},
                           setting{2, 1, 2, {2, 2, 2, 2}}, setting{4, 2, 1, {1, 1, 1, 1}}}) {
    const array x = random_floats({2, 4, 9, 8}, 3), w = random_floats({8, 4 / s.groups, 3, 2}, 4);
    const std::int64_t oh = (9 + s.pads[0] + s.pads[2] - 2 * s.dilation - 1) / s.stride + 1,
                       ow = (8 + s.pads[1] + s.pads[3] - s.dilation - 1) / s.stride + 1;
    const std::vector<double> expected = naive_conv(x, w, s.groups, s.stride, s.dilation, static_cast<int>(s.pads[0]),
                                                    static_cast<int>(s.pads[1]), oh, ow);
    check("Conv", {x, w},
          {{"group", std::int64_t{s.groups}},
           {"strides", ints{s.stride, s.stride}},
           {"dilations", ints{s.dilation, s.dilation}},
           {"pads", s.pads}},
          {2, 8, oh, ow}, expected);
  }
}

TEST_CASE("convolution: bias, one and three axes, auto_pad") {
  check("Conv", {range({1, 1, 4}), make_floats({1, 1, 2}, {1, 10}), make_floats({1}, {100})}, {}, {1, 1, 3},
        {110, 121, 132});
  check("Conv", {range({1, 1, 2, 2, 2}), make_floats({1, 1, 2, 2, 2}, std::vector<float>(8, 1))}, {}, {1, 1, 1, 1, 1},
        {28});
  // Five positions, stride 2, kernel 2: SAME gives 3 outputs with one pad, behind for upper and before for lower.
  check("Conv", {range({1, 1, 5}, 1), make_floats({1, 1, 2}, {1, 1})},
        {{"auto_pad", std::string("SAME_UPPER")}, {"strides", ints{2}}}, {1, 1, 3}, {3, 7, 5});
  check("Conv", {range({1, 1, 5}, 1), make_floats({1, 1, 2}, {1, 1})},
        {{"auto_pad", std::string("SAME_LOWER")}, {"strides", ints{2}}}, {1, 1, 3}, {1, 5, 9});
  CHECK(refusal("Conv", {range({1, 1, 2}), range({1, 1, 3})}).find("larger than the padded input") !=
        std::string::npos);
}

TEST_CASE("transposed convolution is convolution's adjoint: <conv(x), y> = <x, convT(y)>") {
  const attributes a{{"strides", ints{2, 2}}, {"pads", ints{1, 0, 1, 1}}, {"group", std::int64_t{2}}};
  const array x = random_floats({1, 4, 7, 7}, 5), w = random_floats({6, 2, 3, 3}, 6);
  const array cx = one_node("Conv", {x, w}, a)[0];
  const array y = random_floats(cx.shape, 7);
  attributes with_shape = a;
  with_shape["output_padding"] = ints{0, 1};
  const array ty = one_node("ConvTranspose", {y, w}, with_shape)[0];
  REQUIRE(ty.shape == x.shape);
  double left = 0, right = 0;
  for (std::int64_t i = 0; i < cx.count(); ++i) left += cx.number(i) * y.number(i);
  for (std::int64_t i = 0; i < x.count(); ++i) right += x.number(i) * ty.number(i);
  CHECK(left == doctest::Approx(right).epsilon(1e-12));
}

TEST_CASE("pooling: ceil_mode, padding in the average, indices") {
  const array x = range({1, 1, 5}, 1);
  const auto pool = [](ints kernel, ints strides, ints pads, bool ceil_mode, bool include) {
    return attributes{{"kernel_shape", kernel},
                      {"strides", strides},
                      {"pads", pads},
                      {"ceil_mode", std::int64_t{ceil_mode}},
                      {"count_include_pad", std::int64_t{include}}};
  };
  attributes max = pool({2}, {2}, {0, 0}, true, false);
  max.erase("count_include_pad");
  check("MaxPool", {x}, max, {1, 1, 3}, {2, 4, 5});
  check("AveragePool", {x}, pool({2}, {2}, {0, 0}, true, false), {1, 1, 3}, {1.5, 3.5, 5});
  check("AveragePool", {x}, pool({3}, {2}, {1, 1}, false, false), {1, 1, 3}, {1.5, 3, 4.5});
  check("AveragePool", {x}, pool({3}, {2}, {1, 1}, false, true), {1, 1, 3}, {1, 3, 3});
  const one_node with_indices("MaxPool", {make_floats({1, 1, 2, 2}, {1, 4, 3, 2})}, {{"kernel_shape", ints{2, 2}}}, 13,
                              2);
  check(with_indices[1], {1, 1, 1, 1}, {1});
  check("GlobalAveragePool", {range({1, 2, 2, 2})}, {}, {1, 2, 1, 1}, {1.5, 5.5});
  check("GlobalMaxPool", {range({1, 2, 2, 2})}, {}, {1, 2, 1, 1}, {3, 7});
}

TEST_CASE("arithmetic broadcasts, integers wrap and divide towards zero") {
  check("Add", {range({2, 1}), range({3}, 10)}, {}, {2, 3}, {10, 11, 12, 11, 12, 13});
  check("Div", {make_ints({3}, {-7, 7, 9}), make_ints({1}, {2})}, {}, {3}, {-3, 3, 4});
  check("Mod", {make_ints({2}, {-7, 7}), make_ints({2}, {3, -3})}, {}, {2}, {2, -2});
  check("Mod", {make_ints({2}, {-7, 7}), make_ints({2}, {3, -3})}, {{"fmod", std::int64_t{1}}}, {2}, {-1, 1});
  check("Add", {bytes({250}), bytes({10})}, {}, {1}, {4});
  check("Pow", {make_ints({2}, {3, -2}), make_ints({2}, {4, 3})}, {}, {2}, {81, -8});
  check("Pow", {make_floats({2}, {4, 2}), make_floats({1}, {0.5f})}, {}, {2}, {2, std::sqrt(2.0)});
  check("Max", {range({3}), make_floats({1}, {1}), make_floats({1}, {-5})}, {}, {3}, {1, 1, 2});
  check("Mean", {range({2}), range({2}, 4)}, {}, {2}, {2, 3});
  check("Where", {bools({1, 0}), range({2}), range({2}, 7)}, {}, {2}, {0, 8});
  check("LessOrEqual", {range({3}), make_floats({1}, {1})}, {}, {3}, {1, 1, 0});
  CHECK(refusal("Div", {make_ints({1}, {1}), make_ints({1}, {0})}).find("division by zero") != std::string::npos);
}

TEST_CASE("activations") {
  const array x = make_floats({4}, {-4, -0.5f, 0, 3});
  const double xs[] = {-4, -0.5, 0, 3};
  const auto map = [&](double (*f)(double)) {
    std::vector<double> y;
    for (double v : xs) y.push_back(f(v));
    return y;
  };
  check("Relu", {x}, {}, {4}, {0, 0, 0, 3});
  check("LeakyRelu", {x}, {{"alpha", 0.25f}}, {4}, {-1, -0.125, 0, 3});
  check("PRelu", {x, make_floats({1}, {0.5f})}, {}, {4}, {-2, -0.25, 0, 3});
  check("Sigmoid", {x}, {}, {4}, map([](double v) { return 1 / (1 + std::exp(-v)); }));
  check("HardSigmoid", {x}, {{"alpha", 0.25f}, {"beta", 0.5f}}, {4}, {0, 0.375, 0.5, 1});
  check("HardSwish", {x}, {}, {4}, {0, -0.5 * (0.5 - 0.5 / 6), 0, 3}, 14);
  check("Elu", {x}, {{"alpha", 2.0f}}, {4}, {2 * std::expm1(-4.0), 2 * std::expm1(-0.5), 0, 3});
  check("Softplus", {x}, {}, {4}, map([](double v) { return std::log(1 + std::exp(v)); }));
  check("Mish", {x}, {}, {4}, map([](double v) { return v * std::tanh(std::log(1 + std::exp(v))); }), 18);
  check("Gelu", {x}, {}, {4}, map([](double v) { return v / 2 * std::erfc(-v / std::sqrt(2.0)); }), 20);
  check("Clip", {x, make_floats({}, {-1}), absent()}, {}, {4}, {-1, -0.5, 0, 3});
  check("Clip", {x}, {{"min", -1.0f}, {"max", 1.0f}}, {4}, {-1, -0.5, 0, 1}, 10);
  check("Round", {make_floats({4}, {0.5f, 1.5f, -2.5f, 2.6f})}, {}, {4}, {0, 2, -2, 3});
}

TEST_CASE("softmax before opset 13 flattens, since then it takes one axis") {
  const array x = range({1, 2, 2});
  const auto two = [](double a, double b) { return std::exp(a) / (std::exp(a) + std::exp(b)); };
  check("Softmax", {x}, {{"axis", std::int64_t{1}}}, {1, 2, 2}, {two(0, 2), two(1, 3), two(2, 0), two(3, 1)});
  double sum = 0;
  for (int i = 0; i < 4; ++i) sum += std::exp(i);
  check("Softmax", {x}, {{"axis", std::int64_t{1}}}, {1, 2, 2},
        {1 / sum, std::exp(1.0) / sum, std::exp(2.0) / sum, std::exp(3.0) / sum}, 11);
  check("LogSoftmax", {x}, {}, {1, 2, 2},
        {std::log(two(0, 1)), std::log(two(1, 0)), std::log(two(2, 3)), std::log(two(3, 2))});
}

TEST_CASE("normalisation") {
  check("BatchNormalization",
        {range({1, 2, 2}), make_floats({2}, {1, 2}), make_floats({2}, {0, 1}), make_floats({2}, {0, 2}),
         make_floats({2}, {4, 1})},
        {{"epsilon", 0.0f}}, {1, 2, 2}, {0, 0.5, 1, 3});
  const double s = std::sqrt(1.25);
  check("LayerNormalization", {range({1, 4}), make_floats({4}, {1, 1, 2, 1}), make_floats({4}, {0, 0, 0, 1})},
        {{"epsilon", 0.0f}}, {1, 4}, {-1.5 / s, -0.5 / s, 1 / s, 1.5 / s + 1}, 17);
  check("InstanceNormalization", {range({1, 2, 4}), make_floats({2}, {1, 2}), make_floats({2}, {0, 0})},
        {{"epsilon", 0.0f}}, {1, 2, 4}, {-1.5 / s, -0.5 / s, 0.5 / s, 1.5 / s, -3 / s, -1 / s, 1 / s, 3 / s});
  check("LRN", {make_floats({1, 3, 1, 1}, {1, 2, 3})},
        {{"size", std::int64_t{3}}, {"alpha", 3.0f}, {"beta", 1.0f}, {"bias", 1.0f}}, {1, 3, 1, 1},
        {1.0 / 6, 2.0 / 15, 3.0 / 14});
  check("LpNormalization", {make_floats({1, 2}, {3, 4})}, {}, {1, 2}, {0.6, 0.8});
}

TEST_CASE("moving elements") {
  check("Transpose", {range({2, 3})}, {}, {3, 2}, {0, 3, 1, 4, 2, 5});
  check("Transpose", {range({1, 2, 2})}, {{"perm", ints{2, 0, 1}}}, {2, 1, 2}, {0, 2, 1, 3});
  check("Concat", {range({2, 1}), range({2, 2}, 10)}, {{"axis", std::int64_t{-1}}}, {2, 3}, {0, 10, 11, 1, 12, 13});
  check("Slice", {range({6}), make_ints({1}, {-1}), make_ints({1}, {-100}), make_ints({1}, {0}), make_ints({1}, {-2})},
        {}, {3}, {5, 3, 1});
  check("Slice",
        {range({6}), make_ints({1}, {1}), make_ints({1}, {INT64_MAX}), make_ints({1}, {0}), make_ints({1}, {2})}, {},
        {3}, {1, 3, 5});
  check("Slice", {range({2, 3})}, {{"starts", ints{1}}, {"ends", ints{5}}, {"axes", ints{1}}}, {2, 2}, {1, 2, 4, 5}, 9);
  check("Slice", {range({3}), make_ints({1}, {2}), make_ints({1}, {1})}, {}, {0}, {});
  const one_node split("Split", {range({5}), make_ints({2}, {2, 3})}, {}, 13, 2);
  check(split[1], {3}, {2, 3, 4});
  const one_node uneven("Split", {range({5})}, {{"num_outputs", std::int64_t{2}}}, 18, 2);
  check(uneven[0], {3}, {0, 1, 2});
  check("Pad", {range({3}), make_ints({2}, {2, 1})}, {{"mode", std::string("reflect")}}, {6}, {2, 1, 0, 1, 2, 1});
  check("Pad", {range({3}), make_ints({2}, {2, 1})}, {{"mode", std::string("edge")}}, {6}, {0, 0, 0, 1, 2, 2});
  check("Pad", {range({3}), make_ints({2}, {2, 1})}, {{"mode", std::string("wrap")}}, {6}, {1, 2, 0, 1, 2, 0}, 19);
  check("Pad", {range({3}), make_ints({2}, {1, -1}), make_floats({}, {9})}, {}, {3}, {9, 0, 1});
  check("Pad", {range({2, 2}), make_ints({2}, {0, 1}), absent(), make_ints({1}, {1})}, {}, {2, 3}, {0, 1, 0, 2, 3, 0},
        18);
  check("Tile", {range({1, 2}), make_ints({2}, {2, 2})}, {}, {2, 4}, {0, 1, 0, 1, 0, 1, 0, 1});
  check("Expand", {range({2, 1}), make_ints({3}, {2, 1, 2})}, {}, {2, 2, 2}, {0, 0, 1, 1, 0, 0, 1, 1});
  check("DepthToSpace", {range({1, 8, 1, 1})}, {{"blocksize", std::int64_t{2}}}, {1, 2, 2, 2},
        {0, 2, 4, 6, 1, 3, 5, 7});
  check("DepthToSpace", {range({1, 8, 1, 1})}, {{"blocksize", std::int64_t{2}}, {"mode", std::string("CRD")}},
        {1, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  check("SpaceToDepth", {range({1, 1, 2, 4})}, {{"blocksize", std::int64_t{2}}}, {1, 4, 1, 2},
        {0, 2, 1, 3, 4, 6, 5, 7});
  check("Squeeze", {range({1, 2, 1})}, {}, {2}, {0, 1});
  check("Unsqueeze", {range({2}), make_ints({2}, {0, -1})}, {}, {1, 2, 1}, {0, 1});
  check("Flatten", {range({2, 1, 2})}, {{"axis", std::int64_t{2}}}, {2, 2}, {0, 1, 2, 3});
  check("Reshape", {range({2, 3}), make_ints({3}, {0, -1, 1})}, {}, {2, 3, 1}, {0, 1, 2, 3, 4, 5});
  check("Range", {make_floats({}, {1}), make_floats({}, {2}), make_floats({}, {0.25f})}, {}, {4}, {1, 1.25, 1.5, 1.75});
}

TEST_CASE("picking elements") {
  check("Gather", {range({2, 3}), make_ints({2}, {-1, 0})}, {{"axis", std::int64_t{1}}}, {2, 2}, {2, 0, 5, 3});
  check("GatherElements", {range({2, 2}), make_ints({1, 2}, {1, 0})}, {}, {1, 2}, {2, 1});
  check("GatherND", {range({2, 3}), make_ints({2, 2}, {1, -1, 0, 1})}, {}, {2}, {5, 1});
  check("ScatterElements", {range({1, 3}), make_ints({1, 2}, {2, 0}), make_floats({1, 2}, {9, 8})},
        {{"axis", std::int64_t{1}}}, {1, 3}, {8, 1, 9});
  check("ScatterND", {range({3}), make_ints({1, 1}, {1}), make_floats({1}, {7})}, {}, {3}, {0, 7, 2});
  check("Col2Im", {make_floats({1, 2, 2}, {1, 2, 3, 4}), make_ints({1}, {3}), make_ints({1}, {2})}, {}, {1, 1, 3},
        {1, 5, 4}, 18);
  const one_node top("TopK", {make_floats({4}, {1, 3, 3, 2}), make_ints({1}, {3})}, {}, 13, 2);
  check(top[0], {3}, {3, 3, 2});
  check(top[1], {3}, {1, 2, 3});
  const one_node special(
      "TopK", {make_floats({4}, {1, std::numeric_limits<float>::quiet_NaN(), 3, 2}), make_ints({1}, {4})}, {}, 13, 2);
  check(special[1], {4}, {1, 2, 3, 0});  // NaN is the largest
  check("ArgMax", {make_floats({1, 3}, {1, 5, 5})}, {{"axis", std::int64_t{1}}}, {1, 1}, {1});
  check("ArgMin", {make_floats({1, 3}, {1, 5, 1})},
        {{"axis", std::int64_t{1}}, {"select_last_index", std::int64_t{1}}, {"keepdims", std::int64_t{0}}}, {1}, {2});
  check("NonZero", {make_floats({2, 2}, {1, 0, 0, 1})}, {}, {2, 2}, {0, 1, 0, 1});
  const one_node unique("Unique", {make_floats({6}, {2, 1, 1, 3, 4, 3})}, {}, 13, 4);
  check(unique[0], {4}, {1, 2, 3, 4});
  check(unique[1], {4}, {1, 0, 3, 4});
  check(unique[2], {6}, {1, 0, 0, 2, 3, 2});
  check(unique[3], {4}, {2, 1, 2, 1});
  const float none = std::numeric_limits<float>::quiet_NaN();
  const one_node slices("Unique", {make_floats({2, 4}, {none, 1, none, 1, 0, -0.0f, 0, 2})},
                        {{"axis", std::int64_t{-1}}, {"sorted", std::int64_t{0}}}, 13, 4);
  check(slices[1], {3}, {0, 1, 3});  // what is no number is one number
  check(slices[2], {4}, {0, 1, 0, 2});
  check(slices[3], {3}, {2, 1, 1});
  // The second box overlaps the first by 4/5 of their union, the third is apart.
  const array boxes = make_floats({1, 3, 4}, {0, 0, 1, 1, 0, 0, 1, 0.8f, 5, 5, 6, 6}),
              scores = make_floats({1, 1, 3}, {0.9f, 0.95f, 0.5f});
  check("NonMaxSuppression", {boxes, scores, make_ints({1}, {10}), make_floats({1}, {0.5f})}, {}, {2, 3},
        {0, 0, 1, 0, 0, 2});
  CHECK(refusal("Gather", {range({2}), make_ints({1}, {2})}).find("index 2 is outside") != std::string::npos);
}

TEST_CASE("reductions: axes as attribute and as input, empty axes") {
  const array x = range({2, 3});
  check("ReduceMean", {x}, {{"axes", ints{1}}}, {2, 1}, {1, 4});
  check("ReduceMean", {x, make_ints({1}, {-2})}, {{"keepdims", std::int64_t{0}}}, {3}, {1.5, 2.5, 3.5}, 18);
  check("ReduceSum", {x}, {{"noop_with_empty_axes", std::int64_t{1}}}, {2, 3}, {0, 1, 2, 3, 4, 5});
  check("ReduceSum", {x}, {}, {1, 1}, {15});
  check("ReduceMax", {x}, {{"axes", ints{0}}, {"keepdims", std::int64_t{0}}}, {3}, {3, 4, 5});
  check("ReduceProd", {range({3}, 2)}, {}, {1}, {24});
  check("ReduceL2", {make_floats({2}, {3, -4})}, {}, {1}, {5});
  check("ReduceL1", {make_floats({2}, {3, -4})}, {}, {1}, {7});
  check("ReduceSumSquare", {make_floats({2}, {3, -4})}, {}, {1}, {25});
  check("ReduceLogSumExp", {make_floats({2}, {1000, 1000})}, {}, {1}, {1000 + std::log(2.0)});
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(one_node("ReduceLogSumExp", {make_floats({3}, {1, infinity, -infinity})}, {})[0].number(0) == infinity);
  CHECK(one_node("ReduceLogSumExp", {make_floats({2}, {-infinity, -infinity})}, {})[0].number(0) == -infinity);
}

TEST_CASE("resize: coordinates, rounding, kernels") {
  const array x = make_floats({1, 1, 1, 4}, {1, 2, 3, 4});
  const array sizes8 = make_ints({4}, {1, 1, 1, 8}), sizes2 = make_ints({4}, {1, 1, 1, 2});
  const auto resize = [](const std::string& mode, const std::string& coordinates,
                         const std::string& nearest = "round_prefer_floor") {
    return attributes{{"mode", mode}, {"coordinate_transformation_mode", coordinates}, {"nearest_mode", nearest}};
  };
  const auto check_resize = [&](const array& sizes, const attributes& a, const std::vector<double>& values) {
    check("Resize", {x, absent(), absent(), sizes}, a, {1, 1, 1, static_cast<std::int64_t>(values.size())}, values);
  };
  check_resize(sizes8, resize("nearest", "asymmetric", "floor"), {1, 1, 2, 2, 3, 3, 4, 4});
  check_resize(sizes8, resize("nearest", "asymmetric", "ceil"), {1, 2, 2, 3, 3, 4, 4, 4});
  check_resize(sizes2, resize("nearest", "half_pixel"), {1, 3});  // positions 0.5 and 2.5: halves go down,
  check_resize(sizes2, resize("nearest", "half_pixel", "round_prefer_ceil"), {2, 4});  // or up
  const array ten = range({1, 1, 1, 10}, 0);
  const auto check_pixels = [&](float scale, const attributes& a, const std::vector<double>& values, int opset = 13) {
    const array scales = make_floats({4}, {1, 1, 1, scale});
    const std::vector<array> inputs =
        opset < 11 ? std::vector<array>{ten, scales} : std::vector<array>{ten, absent(), scales};
    check("Resize", inputs, a, {1, 1, 1, static_cast<std::int64_t>(values.size())}, values, opset);
  };
  check_pixels(0.4f, resize("nearest", "asymmetric", "floor"), {0, 2, 5, 7});  // 2 / 0.4f is 5 in single precision
  check_pixels(0.3f, resize("nearest", "half_pixel", "round_prefer_ceil"), {1, 5, 8});
  check_pixels(0.4f, {{"mode", std::string("nearest")}}, {0, 3, 5, 8}, 10);  // opset 10 rounds up where it shrinks
  check_pixels(1.05f, resize("nearest", "half_pixel", "floor"), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});  // the same length
  check_resize(sizes8, resize("linear", "half_pixel"), {1, 1.25, 1.75, 2.25, 2.75, 3.25, 3.75, 4});
  check_resize(sizes8, resize("linear", "align_corners"),
               {1, 1 + 3.0 / 7, 1 + 6.0 / 7, 1 + 9.0 / 7, 1 + 12.0 / 7, 1 + 15.0 / 7, 1 + 18.0 / 7, 4});
  check_resize(sizes8, resize("linear", "asymmetric"), {1, 1.5, 2, 2.5, 3, 3.5, 4, 4});
  check_resize(sizes2, resize("linear", "pytorch_half_pixel"), {1.5, 3.5});
  attributes antialias = resize("linear", "half_pixel");
  antialias["antialias"] = std::int64_t{1};
  // A triangle of half-width 2 at 0.5: weights 1/4, 3/4, 3/4, 1/4 for -1..2, the first on the repeated edge.
  check("Resize", {x, absent(), absent(), sizes2}, antialias, {1, 1, 1, 2},
        {(0.25 * 1 + 0.75 * 1 + 0.75 * 2 + 0.25 * 3) / 2, (0.25 * 2 + 0.75 * 3 + 0.75 * 4 + 0.25 * 4) / 2}, 18);
  // Keys' kernel reproduces a straight line where no edge is near.
  const array cubic = one_node("Resize", {range({1, 1, 1, 8}), absent(), make_floats({4}, {1, 1, 1, 2}), absent()},
                               resize("cubic", "asymmetric"))[0];
  CHECK(cubic.number(7) == doctest::Approx(3.5));
  check("Upsample", {x, make_floats({4}, {1, 1, 1, 2})}, {{"mode", std::string("nearest")}}, {1, 1, 1, 8},
        {1, 1, 2, 2, 3, 3, 4, 4}, 9);
  attributes crop = resize("linear", "tf_crop_and_resize");
  crop["extrapolation_value"] = 10.0f;
  check("Resize", {x, make_floats({8}, {0, 0, 0, 0.5f, 1, 1, 1, 1.5f}), absent(), make_ints({4}, {1, 1, 1, 3})}, crop,
        {1, 1, 1, 3}, {2.5, 4, 10});
}

TEST_CASE("matrices") {
  check("MatMul", {range({2, 2}), range({2})}, {}, {2}, {1, 3});
  check("MatMul", {range({2, 1, 2}), range({1, 2, 1}, 1)}, {}, {2, 1, 1}, {2, 8});
  check("Gemm", {range({2, 1}), range({2, 2}), make_floats({2}, {1, 2})},
        {{"transA", std::int64_t{1}}, {"transB", std::int64_t{1}}, {"alpha", 2.0f}, {"beta", 3.0f}}, {1, 2}, {5, 12});
}

TEST_CASE("casts, constants, predicates") {
  constexpr float infinite = std::numeric_limits<float>::infinity();
  check("Cast", {make_floats({3}, {infinite, -infinite, 3e9f})}, {{"to", std::int64_t{6}}}, {3},
        {2147483647.0, -2147483648.0, 2147483647.0});
  for (const char* op : {"Sign", "Celu", "HardSigmoid", "Relu", "HardSwish", "Elu", "Selu"}) {
    const array none = make_floats({1}, {std::numeric_limits<float>::quiet_NaN()});
    CHECK_MESSAGE(std::isnan(one_node(op, {none}, {}, 14)[0].number(0)), op);
  }
  const array cast = one_node("Cast", {make_floats({3}, {-1.9f, 1.9f, 300})}, {{"to", std::int64_t{6}}})[0];
  CHECK(cast.type == element::i32);
  check(cast, {3}, {-1, 1, 300});
  check("Cast", {make_floats({2}, {0, 0.5f})}, {{"to", std::int64_t{9}}}, {2}, {0, 1});
  check("ConstantOfShape", {make_ints({1}, {2})}, {{"value", make_ints({1}, {7})}}, {2}, {7, 7});
  check("IsNaN", {make_floats({2}, {NAN, 1})}, {}, {2}, {1, 0});
}
