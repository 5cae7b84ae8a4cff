// SPDX-License-Identifier: MIT
// Each kernel as C++ against double precision, without the CPU engine and without a driver.
#include "../../oracle/naive.hpp"
#include "../../oracle/naive_tail.hpp"
#include "../cases.hpp"
#include "../shader_device.hpp"

using namespace test;
using format::Function;
using format::Operator;

namespace {

/// A plan with one step on the C++ device: inputs in, the output back.
std::vector<float> run_step(const plan_spec& p, const std::vector<std::vector<float>>& inputs,
                            const nsk::gpu::plan_settings& how = {}, bool reversed = false) {
  shared_pipelines<shader_device>& device = *shaders();
  const aligned_bytes file = p.write();
  nsk::model model;
  REQUIRE(nsk::open({file.data(), file.size()}, model));
  headless<shared_pipelines<shader_device>> net(device);
  REQUIRE(net.open(model, 0, how));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    REQUIRE(inputs[i].size() * 4 == model.input(static_cast<int>(i)).bytes());
    REQUIRE(net.write_input(static_cast<int>(i), inputs[i].data()));
  }
  device.reversed = reversed;
  REQUIRE(net.run());
  device.reversed = false;
  std::vector<float> y(model.output(0).bytes() / 4);
  REQUIRE(net.read_output(0, y.data()));
  return y;
}

/// Largest difference, in units of the largest number.
double error_of(const std::vector<float>& got, const std::vector<double>& wanted) {
  REQUIRE(got.size() == wanted.size());
  distance d;
  for (std::size_t i = 0; i < got.size(); ++i) d.add(wanted[i], static_cast<double>(got[i]));
  return d.relative();
}
oracle::array array_of(const std::vector<int>& shape, const std::vector<float>& values) {
  oracle::array a(shape);
  a.data.assign(values.begin(), values.end());
  return a;
}
std::vector<float> noise_of(std::uint32_t seed, const std::vector<std::int32_t>& shape) {
  return noise(seed).many(oracle::array::count(shape));
}

struct convolution {
  int h = 5, w = 6, ic = 8, oc = 8;
  oracle::conv window{};
  bool depthwise = false;
  epilogue_spec epilogue{};  ///< residual: 0 adds one
  nsk::conv_algorithm algorithm = nsk::conv_algorithm::direct;
  double tolerance = 2e-6;
};

/// Convolution or depthwise convolution with all that follows it, by a kernel of the plan's choice.
void check_convolution(const convolution& c, nsk::gpu::conv_kernel kernel) {
  const int oh = c.window.output_h(c.h), ow = c.window.output_w(c.w), depth_of_input = c.depthwise ? 1 : c.ic;
  const int depth = c.window.kernel_h * c.window.kernel_w * depth_of_input;
  noise random(3);
  const auto many = [&](int n) { return random.many(static_cast<std::size_t>(n)); };
  const std::vector<float> x = many(c.h * c.w * c.ic), residual = many(oh * ow * c.oc), matrix = many(depth * c.oc),
                           bias = many(c.oc), slope = many(c.oc);
  plan_spec p;
  std::vector<std::uint32_t> inputs{p.add_input("x", {1, c.h, c.w, c.ic}, 1)};
  epilogue_spec e = c.epilogue;
  const bool adds = e.residual >= 0;
  const std::uint32_t r = adds ? p.add_input("r", {1, oh, ow, c.oc}, 1) : 0;
  if (c.algorithm == nsk::conv_algorithm::direct) {
    inputs.push_back(p.add_panels("w", matrix, bias));
  } else {
    const auto inner = static_cast<std::size_t>(c.ic) * static_cast<std::size_t>(c.oc);
    inputs.push_back(p.add_panels("w", winograd_matrix(c.algorithm, matrix, inner), bias));
    p.tensors[inputs.back()].packing = packing_of(c.algorithm);
  }
  if (adds) inputs.push_back(r), e.residual = 2;
  if (e.function == Function::prelu) {
    e.slope = static_cast<std::int32_t>(inputs.size());
    inputs.push_back(p.add_constant("slope", slope));
  }
  const std::uint32_t y = p.add_output("y", {1, oh, ow, c.oc}, 0, 1);
  step_spec& s = p.add_step(c.depthwise ? Operator::DepthwiseConv2D : Operator::Conv2D, inputs, y);
  const auto u = [](int n) { return static_cast<std::uint16_t>(n); };
  s.window = {u(c.window.kernel_h),   u(c.window.kernel_w),   u(c.window.stride_h), u(c.window.stride_w),
              u(c.window.dilation_h), u(c.window.dilation_w), u(c.window.pad_top),  u(c.window.pad_left)};
  s.epilogue = e;
  s.algorithm = static_cast<format::ConvAlgorithm>(c.algorithm);
  if (!c.depthwise)
    p.lane_bytes = s.scratch_bytes = static_cast<std::uint64_t>(nsk::kernels::conv_2d_scratch_bytes(
        {c.h, c.w, c.ic, oh, ow, c.oc, 1, {}, 0, nsk::window::of(&s.window), c.algorithm}));

  oracle::image image(1, c.h, c.w, c.ic);
  image.v.assign(x.begin(), x.end());
  std::vector<float> weights(matrix.size());  // [output channel][row][column][input channel]
  for (int k = 0; k < depth; ++k) {
    for (int o = 0; o < c.oc; ++o)
      weights[static_cast<std::size_t>(o * depth + k)] = matrix[static_cast<std::size_t>(k * c.oc + o)];
  }
  oracle::conv window = c.window;
  window.groups = c.depthwise ? c.ic : 1;
  const oracle::array added = array_of({1, oh, ow, c.oc}, residual);
  const oracle::finish finish{static_cast<nsk::function>(e.function),
                              static_cast<double>(e.alpha),
                              static_cast<double>(e.beta),
                              e.activation_first,
                              adds ? &added : nullptr,
                              &slope};
  oracle::array wanted = array_of({1, oh, ow, c.oc}, {});
  wanted.data = oracle::conv_2d(image, weights, bias, c.oc, window).value.v;
  oracle::for_each_index(wanted.shape, [&](const std::vector<int>& i) { wanted(i) = finish(wanted(i), i); });

  nsk::gpu::plan_settings how;
  how.convolutions = kernel;
  std::vector<std::vector<float>> values{x};
  if (adds) values.push_back(residual);
  const std::vector<float> got = run_step(p, values, how), backwards = run_step(p, values, how, true);
  CAPTURE(c.ic);
  CAPTURE(c.oc);
  CAPTURE(static_cast<int>(e.function));
  CHECK(error_of(got, wanted.data) <= c.tolerance);
  CHECK(std::memcmp(got.data(), backwards.data(), got.size() * 4) == 0);
}

constexpr nsk::gpu::conv_kernel kernels[] = {nsk::gpu::conv_kernel::automatic, nsk::gpu::conv_kernel::direct,
                                             nsk::gpu::conv_kernel::tiled};

/// A step with one input and one output of the same shape.
plan_spec unary_plan(Operator op, const std::vector<std::int32_t>& shape, const epilogue_spec& e = {}) {
  plan_spec p;
  const std::uint32_t x = p.add_input("x", shape, 1);
  p.add_step(op, {x}, p.add_output("y", shape, 0, 1)).epilogue = e;
  return p;
}

}

TEST_CASE("shaders as C++: Winograd's convolutions against double precision") {
  convolution c;
  c.window.kernel_h = c.window.kernel_w = 3;
  c.window.pad_top = c.window.pad_left = c.window.pad_bottom = c.window.pad_right = 1;
  const int channels[][2] = {{8, 8}, {17, 42}, {64, 16}, {200, 24}};
  for (const auto& p : channels) {
    c.ic = p[0], c.oc = p[1];
    c.h = 6 + p[0] % 5, c.w = 9;
    c.algorithm = nsk::conv_algorithm::winograd2;
    c.tolerance = 2e-6;
    check_convolution(c, nsk::gpu::conv_kernel::automatic);
    c.algorithm = nsk::conv_algorithm::winograd4;
    c.tolerance = 2e-5;
    check_convolution(c, nsk::gpu::conv_kernel::automatic);
    c.epilogue = {Function::leaky_relu, 0.25f, 0.0f, c.ic > 50, 0, -1};
    check_convolution(c, nsk::gpu::conv_kernel::automatic);
  }
}

TEST_CASE("shaders as C++: convolutions equal double precision") {
  for (const nsk::gpu::conv_kernel k : kernels) {
    for (const int ic : {1, 3, 4, 8, 17}) {
      for (const int oc : {1, 5, 8, 24, 40}) {
        convolution c;
        c.ic = ic, c.oc = oc;
        c.window.kernel_h = 3, c.window.kernel_w = 2, c.window.pad_top = c.window.pad_bottom = 1;
        check_convolution(c, k);
      }
    }
    convolution wide;
    wide.h = 9, wide.w = 11, wide.window.kernel_h = wide.window.kernel_w = 3;
    wide.window.stride_h = 2, wide.window.dilation_w = 2, wide.window.pad_left = wide.window.pad_right = 2;
    check_convolution(wide, k);
  }
}

TEST_CASE("shaders as C++: depthwise convolutions equal double precision") {
  for (const int channels : {1, 3, 4, 8, 17, 42}) {
    for (const int side : {1, 2, 3, 5}) {
      for (const int stride : {1, 2}) {
        convolution c;
        c.depthwise = true, c.ic = c.oc = channels, c.h = 7, c.w = 9;
        c.window.kernel_h = c.window.kernel_w = side, c.window.stride_h = c.window.stride_w = stride;
        c.window.pad_top = c.window.pad_left = c.window.pad_bottom = c.window.pad_right = side / 2;
        check_convolution(c, nsk::gpu::conv_kernel::automatic);
      }
    }
  }
}

TEST_CASE("shaders as C++: functions and residuals after a convolution") {
  for (const bool depthwise : {false, true}) {
    for (const int channels : {5, 8}) {
      for (const Function f : {Function::identity, Function::clip, Function::prelu, Function::hard_swish}) {
        for (const int residual : {0, 1, 2}) {
          convolution c;
          c.depthwise = depthwise, c.ic = c.oc = channels;
          c.epilogue = {f, -0.25f, 0.75f, residual == 2, residual > 0 ? 0 : -1, -1};
          for (const nsk::gpu::conv_kernel k : kernels) {
            if (!depthwise || k == nsk::gpu::conv_kernel::automatic) check_convolution(c, k);
          }
        }
      }
    }
  }
}

TEST_CASE("shaders as C++: every elementwise function equals double precision") {
  const std::vector<std::int32_t> shape{2, 3, 5, 7};
  for (int f = 0; f <= static_cast<int>(Function::MAX); ++f) {
    if (static_cast<Function>(f) == Function::prelu) continue;
    const epilogue_spec e{static_cast<Function>(f), 0.3f, 0.9f, false, -1, -1};
    std::vector<float> x = noise_of(5, shape);
    const auto function = static_cast<Function>(f);
    const bool positive = function == Function::log || function == Function::sqrt, above = function == Function::acosh;
    const bool bounded = function == Function::asin || function == Function::acos || function == Function::atanh;
    for (float& v : x) v = positive ? std::fabs(v) + 0.1f : above ? 1 + 6 * std::fabs(v) : bounded ? 0.99f * v : 6 * v;
    std::vector<double> wanted;
    for (const float v : x)
      wanted.push_back(oracle::apply(static_cast<nsk::function>(f), static_cast<double>(e.alpha),
                                     static_cast<double>(e.beta), static_cast<double>(v)));
    CAPTURE(f);
    CHECK(error_of(run_step(unary_plan(Operator::Unary, shape, e), {x}), wanted) <= 1e-6);
  }
}

TEST_CASE("shaders as C++: every binary operator equals double precision, with broadcasting") {
  const std::vector<std::vector<std::int32_t>> seconds = {{2, 3, 5, 4}, {1, 3, 1, 4}, {2, 1, 5, 1}, {1, 1, 1, 1}};
  const std::vector<std::int32_t> shape = seconds[0];
  for (int k = 0; k <= static_cast<int>(format::BinaryKind::atan2); ++k) {
    for (const std::vector<std::int32_t>& other : seconds) {
      plan_spec p;
      const std::uint32_t a = p.add_input("a", shape, 1), given = p.add_input("b", other, 1);
      std::vector<std::int64_t> strides(shape.size());
      for (std::int64_t d = 3, stride = 1; d >= 0; stride *= other[static_cast<std::size_t>(d--)])
        strides[static_cast<std::size_t>(d)] = other[static_cast<std::size_t>(d)] == 1 ? 0 : stride;
      const std::uint32_t b = add_view(p, given, shape, strides);
      p.add_step(Operator::Binary, {a, b}, p.add_output("y", shape, 0, 1)).binary = static_cast<format::BinaryKind>(k);
      std::vector<float> va = noise_of(6, shape), vb = noise_of(7, other);
      if (static_cast<format::BinaryKind>(k) == format::BinaryKind::pow) {
        for (float& v : va) v = std::fabs(v) + 0.1f;
      }
      const oracle::array x = array_of(shape, va), z = array_of(other, vb);
      oracle::array wanted(shape);
      oracle::for_each_index(shape, [&](const std::vector<int>& i) {
        std::vector<int> j = i;
        for (std::size_t d = 0; d < j.size(); ++d) j[d] = other[d] == 1 ? 0 : j[d];
        wanted(i) = oracle::combine(static_cast<nsk::binary_kind>(k), x(i), z(j));
      });
      CAPTURE(k);
      CHECK(error_of(run_step(p, {va, vb}), wanted.data) <= 1e-6);
    }
  }
}

TEST_CASE("shaders as C++: every pooling equals double precision") {
  for (const int channels : {1, 3, 8, 9}) {
    for (const int mode : {0, 1, 2}) {
      plan_spec p;
      const std::uint32_t x = p.add_input("x", {1, 7, 8, channels}, 1);
      step_spec& s = p.add_step(Operator::Pool2D, {x}, p.add_output("y", {1, 4, 4, channels}, 0, 1));
      s.window = {3, 3, 2, 2, 1, 1, 1, 1};
      s.pool = mode == 0 ? format::PoolKind::max : format::PoolKind::average;
      s.count_include_pad = mode == 2;
      s.pad_bottom = 1;
      const std::vector<float> values = noise_of(8, {1, 7, 8, channels});
      const oracle::array wanted =
          oracle::pool_2d(array_of({1, 7, 8, channels}, values), nsk::window::of(&s.window),
                          mode == 0 ? nsk::pool_kind::max : nsk::pool_kind::average, mode == 2, 1, 0, 4, 4);
      CAPTURE(channels);
      CAPTURE(mode);
      CHECK(error_of(run_step(p, {values}), wanted.data) <= 1e-6);
    }
  }
}

TEST_CASE("shaders as C++: reductions and softmax equal double precision") {
  const std::vector<std::int32_t> shape{2, 3, 5, 7};
  const std::vector<float> values = noise_of(9, shape);
  const oracle::array x = array_of(shape, values);
  for (int kind = 0; kind <= static_cast<int>(format::ReduceKind::sum_square); ++kind) {
    for (const std::vector<std::int32_t>& to : {std::vector<std::int32_t>{2, 3, 5, 1}, {2, 1, 1, 7}, {1, 3, 1, 7}}) {
      plan_spec p;
      const std::uint32_t in = p.add_input("x", shape, 1);
      p.add_step(Operator::Reduce, {in}, p.add_output("y", to, 0, 1)).reduce = static_cast<format::ReduceKind>(kind);
      const oracle::array wanted = oracle::reduce(x, to, static_cast<nsk::reduce_kind>(kind));
      CAPTURE(kind);
      CHECK(error_of(run_step(p, {values}), wanted.data) <= 2e-6);
    }
  }
  for (const int axis : {1, 3}) {
    for (const bool log : {false, true}) {
      plan_spec p = unary_plan(Operator::Softmax, shape);
      p.steps[0].axis = static_cast<std::uint8_t>(axis);
      p.steps[0].log = log;
      CHECK(error_of(run_step(p, {values}), oracle::softmax(x, axis, log).data) <= 1e-6);
    }
  }
}

TEST_CASE("shaders as C++: resampling equals double precision") {
  plan_spec p;
  const std::vector<int> rows{0, 1, 1, 2, 0, 2}, columns{0, 3, 1, 2, 2, 1, 3, 3};
  const std::vector<float> row_weights{0.25f, 0.75f, 0.5f, 0.5f, 1, 0},
      column_weights{1, 0, 0.5f, 0.5f, 0.1f, 0.9f, 0, 1};
  const std::uint32_t x = p.add_input("x", {1, 3, 4, 5}, 1);
  const std::uint32_t ri = p.add_constant("ri", rows, format::DataType::int32), rw = p.add_constant("rw", row_weights),
                      ci = p.add_constant("ci", columns, format::DataType::int32),
                      cw = p.add_constant("cw", column_weights);
  step_spec& s = p.add_step(Operator::Resize2D, {x, ri, rw, ci, cw}, p.add_output("y", {1, 3, 4, 5}, 0, 1));
  s.row_taps = s.column_taps = 2;
  p.lane_bytes = s.scratch_bytes = static_cast<std::uint64_t>(nsk::kernels::resize_2d_scratch_bytes(2));
  const std::vector<float> values = noise_of(10, {1, 3, 4, 5});
  const oracle::array wanted =
      oracle::resize_2d(array_of({1, 3, 4, 5}, values), rows, row_weights, columns, column_weights, 2, 2);
  CHECK(error_of(run_step(p, {values}), wanted.data) <= 1e-6);
}
