// SPDX-License-Identifier: MIT
// Activations as 16-bit floats: how they are rounded, and every kernel that reads and writes them.
#include "../device_support.hpp"

using namespace test;

namespace {

nsk::gpu::plan_settings halves(nsk::gpu::conv_kernel kernel = nsk::gpu::conv_kernel::automatic) {
  nsk::gpu::plan_settings how;
  how.half_activations = true;
  how.convolutions = kernel;
  return how;
}
std::uint8_t halves_of(const nsk::gpu::plan& p, int dispatch) {
  return p.pipelines()[static_cast<std::size_t>(p.dispatch(dispatch).pipeline)].specialization[6];
}

/// The nearest 16-bit float of a normal number, ties to even.
float nearest_half(float x) {
  int exponent;
  std::frexp(x, &exponent);
  const double step = std::ldexp(1.0, exponent - 11);
  return static_cast<float>(std::nearbyint(x / step) * step);
}

/// x -> -x as 16-bit floats -> x.
plan_spec make_rounding(std::int32_t n) {
  plan_spec p;
  const std::uint32_t x = p.add_input("x", {1, n}, 2), inner = p.add_dense("inner", {1, n}, 0, 1);
  const std::uint32_t y = p.add_output("y", {1, n}, 1, 2);
  p.add_step(format::Operator::Unary, {x}, inner).epilogue.function = format::Function::neg;
  p.add_step(format::Operator::Unary, {inner}, y).epilogue.function = format::Function::neg;
  return p;
}

/// One step after the other of `channels` channels: x -> neg -> 3x3 -> depthwise 3x3 -> depthwise 3x3 of dilation 2 ->
/// pool -> resize -> scale -> 1x1 with a sum | copied and filled, side by side -> 1x1 -> mean and sum.
struct chain {
  plan_spec plan;
  int inner_steps = 0;  ///< all before those that write outputs
};
chain make_chain(std::int32_t channels) {
  using format::Function;
  using format::Operator;
  chain made;
  plan_spec& p = made.plan;
  noise random(11);
  const std::int32_t c = channels, wide = 2 * c + 2;
  const auto n = static_cast<std::size_t>(c);
  const auto image = [&](const char* name, std::int32_t side, std::int32_t of, std::uint32_t step) {
    return p.add_dense(name, {1, side, side, of}, step, 13);
  };
  const std::uint32_t x = p.add_input("x", {1, 6, 6, c}, 13);
  const std::uint32_t negative = image("negative", 6, c, 0), conv = image("conv", 6, c, 1),
                      deep = image("deep", 6, c, 2), dilated = image("dilated", 6, c, 3),
                      pooled = image("pooled", 3, c, 4), resized = image("resized", 6, c, 5),
                      scaled = image("scaled", 6, c, 6), side = image("side", 6, wide, 7),
                      last = image("last", 6, c, 10);
  const auto slice = [&](const char* name, std::int32_t of, std::int32_t first) {
    const std::uint32_t t = p.add_tensor(name, {1, 6, 6, of}, p.tensors[side].buffer);
    p.tensors[t].strides = {36 * wide, 6 * wide, wide, 1};
    p.tensors[t].offset = static_cast<std::uint64_t>(first) * 4;
    return t;
  };
  const std::uint32_t left = slice("left", c, 0), middle = slice("middle", c, c), right = slice("right", 2, 2 * c);
  const std::uint32_t mean = p.add_output("mean", {1, 1, 1, c}, 11, 13), y = p.add_output("y", {1, 6, 6, c}, 12, 13);
  const auto weights = [&](std::int32_t depth) {
    std::vector<float> w = random.many(static_cast<std::size_t>(depth) * n);
    for (float& v : w) v /= std::sqrt(static_cast<float>(depth));
    return p.add_panels("w", w, random.many(n));
  };
  const auto window = [](step_spec& s, std::uint16_t stride, std::uint16_t dilation, std::uint16_t pad) {
    s.window = format::Window(3, 3, stride, stride, dilation, dilation, pad, pad);
  };
  const std::uint32_t index =
      p.add_constant("index", std::vector<std::int32_t>{0, 0, 0, 1, 0, 1, 1, 2, 1, 2, 2, 2}, format::DataType::int32);
  const std::uint32_t weight = p.add_constant(
      "weight", std::vector<float>{0.5f, 0.5f, 0.75f, 0.25f, 0.25f, 0.75f, 0.75f, 0.25f, 0.25f, 0.75f, 0.5f, 0.5f});
  p.add_step(Operator::Unary, {x}, negative).epilogue.function = Function::neg;
  const std::uint32_t conv_weights = weights(9 * c);
  step_spec& first = p.add_step(Operator::Conv2D, {negative, conv_weights, negative}, conv);
  window(first, 1, 1, 1);
  first.epilogue = {Function::clip, -2.0f, 2.0f, false, 2, -1};
  first.scratch_bytes = 36 * 9 * static_cast<std::uint64_t>(c) * 4;
  const std::uint32_t deep_weights = weights(9), dilated_weights = weights(9);
  window(p.add_step(Operator::DepthwiseConv2D, {conv, deep_weights}, deep), 1, 1, 1);
  window(p.add_step(Operator::DepthwiseConv2D, {deep, dilated_weights}, dilated), 1, 2, 2);
  step_spec& pool = p.add_step(Operator::Pool2D, {dilated}, pooled);
  window(pool, 2, 1, 1);
  pool.pool = format::PoolKind::average;
  pool.pad_bottom = pool.pad_right = 1;
  step_spec& resize = p.add_step(Operator::Resize2D, {pooled, index, weight, index, weight}, resized);
  resize.row_taps = resize.column_taps = 2;
  resize.scratch_bytes = static_cast<std::uint64_t>(nsk::kernels::resize_2d_scratch_bytes(2));
  const std::uint32_t factor = p.add_constant("factor", random.many(n));
  const std::uint32_t factors = p.add_tensor("factors", {1, 6, 6, c}, p.tensors[factor].buffer);
  p.tensors[factors].strides = {0, 0, 0, 1};
  p.add_step(Operator::Binary, {resized, factors}, scaled).binary = format::BinaryKind::mul;
  const std::uint32_t point_weights = weights(c);
  p.add_step(Operator::Conv2D, {scaled, point_weights, negative}, left).epilogue.residual = 2;
  p.add_step(Operator::Copy, {deep}, middle);
  p.add_step(Operator::Fill, {}, right).value = 0.3f;
  const std::uint32_t last_weights = weights(wide);
  p.add_step(Operator::Conv2D, {side, last_weights}, last);
  made.inner_steps = static_cast<int>(p.steps.size());
  p.add_step(Operator::Reduce, {last}, mean);
  p.add_step(Operator::Binary, {last, conv}, y).binary = format::BinaryKind::add;
  for (const step_spec& s : p.steps) p.lane_bytes = std::max(p.lane_bytes, (s.scratch_bytes + 63) / 64 * 64);
  return made;
}

}

TEST_CASE("activations are rounded to the nearest 16-bit float, on every device alike") {
  tested_device* const on = device();
  if (!on) return;
  std::vector<float> x = {
      0.0f,    1.0f,    1.0f + 0x1p-11f, 1.0f + 0x3p-11f, 1.0f + 0x1.002p-11f, 65504.0f, -65504.0f,  0.1f, -1.0f / 3,
      2049.0f, 2051.0f, 0x1p-14f,        1e-3f,           -12345.67f,          0x1p8f,   0x1.ffep-3f};
  noise random(3);
  for (float scale = 1e-3f; scale < 1e5f; scale *= 10) {
    for (int i = 0; i < 6; ++i) x.push_back(random() * scale * 0.6f);
  }
  const auto n = static_cast<std::int32_t>(x.size());
  REQUIRE(n % 4 == 0);
  both<tested_device> net(*on);
  REQUIRE(net.open(make_rounding(n), halves()) == "");
  CHECK(halves_of(net.plan(), 0) == 2);
  CHECK(halves_of(net.plan(), 1) == 1);
  std::vector<float> got(x.size());
  REQUIRE(net.gpu().write_input(0, x.data()));
  REQUIRE(net.gpu().run());
  REQUIRE(net.gpu().read_output(0, got.data()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    CAPTURE(x[i]);
    if (std::fabs(x[i]) >= 0x1p-14f || x[i] == 0)
      CHECK(got[i] == nearest_half(x[i]));
    else
      CHECK(std::fabs(got[i] - x[i]) <= 0x1p-14f);  // devices may flush what is smaller
  }
}

TEST_CASE("what does not fit into a 16-bit float becomes the largest, so that a mask stays a mask") {
  tested_device* const on = device();
  if (!on) return;
  const float infinite = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {-1e8f, 1e8f, 65505.0f, -65520.0f, 3e38f, -3e38f, infinite, -infinite};
  both<tested_device> net(*on);
  REQUIRE(net.open(make_rounding(static_cast<std::int32_t>(x.size())), halves()) == "");
  std::vector<float> got(x.size());
  REQUIRE(net.gpu().write_input(0, x.data()));
  REQUIRE(net.gpu().run());
  REQUIRE(net.gpu().read_output(0, got.data()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    CAPTURE(x[i]);
    CHECK(got[i] == (x[i] > 0 ? 65504.0f : -65504.0f));
  }
}

TEST_CASE("every kernel reads and writes 16-bit floats") {
  tested_device* const on = device();
  if (!on) return;
  for (const std::int32_t channels : {8, 6}) {
    CAPTURE(channels);
    const chain c = make_chain(channels);
    aligned_bytes first;
    for (const auto kernel : {nsk::gpu::conv_kernel::direct, nsk::gpu::conv_kernel::tiled}) {
      both<tested_device> net(*on);
      REQUIRE(net.open(c.plan, halves(kernel)) == "");
      for (int i = 0; i < net.plan().dispatch_count(); ++i) {
        CAPTURE(i);
        CHECK((halves_of(net.plan(), i) & 2) == (i < c.inner_steps ? 2 : 0));
        if (i > 0 && i != 9) CHECK((halves_of(net.plan(), i) & 1) == 1);
      }
      net.fill_inputs(4);
      const distance d = net.run();
      CHECK(d.relative() <= 2e-3);
      CHECK(d.relative() > 1e-5);
      // Tiled and untiled, general windows and constant ones: the same sums.
      const nsk::tensor_info y = net.variant().output(1).tensor();
      const aligned_bytes got = net.device_arena();
      const std::byte* const at = got.data() + y.buffer_offset();
      if (first.size() == 0) {
        first = aligned_bytes(y.bytes());
        std::memcpy(first.data(), at, y.bytes());
      } else {
        CHECK(std::memcmp(first.data(), at, y.bytes()) == 0);
      }
    }
  }
}

TEST_CASE("odd channels, ports and states keep 32 bits") {
  tested_device* const on = device();
  if (!on) return;
  {
    both<tested_device> net(*on);
    REQUIRE(net.open(make_chain(3).plan, halves()) == "");
    net.fill_inputs(4);
    CHECK(net.run().relative() <= 2e-3);
  }
  both<tested_device> net(*on);
  REQUIRE(net.open(make_recurrent(false, true), halves()) == "");
  for (int i = 0; i < net.plan().dispatch_count(); ++i) {
    CAPTURE(i);
    CHECK((halves_of(net.plan(), i) & 2) == (i == 0 ? 2 : 0));
  }
  net.fill_inputs(4);
  CHECK(net.run().relative() <= 2e-3);
}
