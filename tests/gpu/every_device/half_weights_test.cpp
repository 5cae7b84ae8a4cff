// SPDX-License-Identifier: MIT
// Weights as 16-bit floats, by every kernel that reads panels: the bits that the same numbers give as 32-bit floats.
#include "../../model/separable_plan.hpp"
#include "../cases.hpp"
#include "../device_support.hpp"

using namespace test;
using format::Operator;
using nsk::gpu::conv_kernel;

namespace {

/// Every constant panel becomes 16-bit floats, stored as 32-bit ones.
void round_panels(plan_spec& p) {
  for (const tensor_spec& t : p.tensors) {
    const buffer_spec& b = p.buffers[t.buffer];
    if (t.packing != format::Packing::panels || b.storage != format::Storage::constant) continue;
    for (std::uint64_t at = b.offset; at < b.offset + b.bytes; at += 4) {
      float x;
      std::memcpy(&x, p.weights.data() + at, sizeof x);
      x = nsk::gpu::impl::number_of(nsk::gpu::impl::half_of(x));
      std::memcpy(p.weights.data() + at, &x, sizeof x);
    }
  }
}
/// Dispatches whose panels are 16-bit floats.
int half_dispatches(const nsk::gpu::plan& p) {
  int n = 0;
  for (int i = 0; i < p.dispatch_count(); ++i)
    n += p.pipelines()[static_cast<std::size_t>(p.dispatch(i).pipeline)].specialization[6] >= 16 ? 1 : 0;
  return n;
}
void check_bits(tested_device& on, kernel_case c, bool activations = false) {
  CAPTURE(c.name);
  CAPTURE(activations);
  round_panels(c.plan);
  c.how.half_activations = activations;
  aligned_bytes arena[2];
  for (const bool halves : {false, true}) {
    both<tested_device> net(on);
    REQUIRE(net.open(c.plan, c.how, halves) == "");
    CHECK((half_dispatches(net.plan()) > 0) == halves);
    net.fill_inputs(5);
    CHECK(net.run().relative() <= (activations ? 2e-3 : 1e-5));
    arena[halves] = net.device_arena();
  }
  REQUIRE(arena[0].size() == arena[1].size());
  CHECK(std::memcmp(arena[0].data(), arena[1].data(), arena[0].size()) == 0);
}
kernel_case with(kernel_case c, conv_kernel how) {
  c.how.convolutions = how;
  return c;
}

/// [b, 3, k] times b matrices [k, n] of constants, or one, with a table of another kind in front of them and behind.
kernel_case product_case(std::int32_t b, std::int32_t k, std::int32_t n, bool shared) {
  plan_spec p;
  noise random(8);
  const std::uint32_t x = p.add_input("x", {b, 3, k}, 2), y = p.add_output("y", {b, 3, n}, 1, 2);
  const std::uint32_t scaled = p.add_dense("scaled", {b, 3, k}, 0, 1);
  const std::uint32_t factor = p.add_constant("factor", random.many(static_cast<std::size_t>(k)));
  const std::uint32_t factors = p.add_tensor("factors", {b, 3, k}, p.tensors[factor].buffer);
  p.tensors[factors].strides = {0, 0, 1};
  const std::int32_t right = shared ? 1 : b;
  std::vector<float> all(static_cast<std::size_t>(right * nsk::panel_floats(n, k)));
  for (std::int32_t i = 0; i < right; ++i) {
    plan_spec one;
    one.add_panels("w", random.many(static_cast<std::size_t>(k * n)), std::vector<float>(static_cast<std::size_t>(n)));
    std::memcpy(all.data() + i * nsk::panel_floats(n, k), one.weights.data(),
                static_cast<std::size_t>(nsk::panel_floats(n, k)) * 4);
  }
  const std::uint32_t w = p.add_constant("w", all);
  p.tensors[w].packing = format::Packing::panels;
  const std::uint32_t slope = p.add_constant("slope", random.many(static_cast<std::size_t>(n)));
  p.add_step(Operator::Binary, {x, factors}, scaled).binary = format::BinaryKind::mul;
  step_spec& s = p.add_step(Operator::MatMul, {scaled, w, slope}, y);
  s.shared_right = shared;
  s.epilogue.function = format::Function::prelu;
  s.epilogue.slope = 2;
  return {"product " + std::to_string(b) + "x" + std::to_string(k) + "x" + std::to_string(n), p};
}

}

TEST_CASE("16-bit weights: convolutions have the bits of 32-bit ones") {
  tested_device* const on = device();
  if (!on) return;
  for (const int oc : {3, 8, 24, 42}) {
    for (const conv_kernel how : {conv_kernel::one_pixel, conv_kernel::four_pixels, conv_kernel::tiled}) {
      window_case c;
      c.ic = 20, c.oc = oc, c.kh = 3, c.kw = 3, c.pad = 1;
      check_bits(*on, with(make_window_case(Operator::Conv2D, c), how));
    }
  }
  window_case odd;
  odd.ic = 5, odd.oc = 17, odd.slope = true;
  odd.epilogue.function = format::Function::prelu;
  for (const conv_kernel how : {conv_kernel::one_pixel, conv_kernel::tiled})
    check_bits(*on, with(make_window_case(Operator::Conv2D, odd), how));
  window_case grouped;
  grouped.ic = 12, grouped.oc = 60, grouped.groups = 3, grouped.kh = 3;
  check_bits(*on, make_window_case(Operator::Conv2D, grouped));
  window_case split;  // a long sum of few outputs
  split.h = split.w = 1, split.ic = 300, split.oc = 40;
  check_bits(*on, make_window_case(Operator::Conv2D, split));
}

TEST_CASE("16-bit weights: depthwise convolutions and products have the bits of 32-bit ones") {
  tested_device* const on = device();
  if (!on) return;
  for (const int size : {3, 5}) {
    for (const conv_kernel how : {conv_kernel::automatic, conv_kernel::direct}) {
      window_case c;
      c.ic = c.oc = 24, c.kh = c.kw = size, c.pad = size / 2;
      check_bits(*on, with(make_window_case(Operator::DepthwiseConv2D, c), how));
    }
  }
  for (const bool shared : {false, true}) check_bits(*on, product_case(2, 20, 42, shared));
}

TEST_CASE("16-bit weights: two convolutions in one dispatch have the bits of 32-bit ones") {
  tested_device* const on = device();
  if (!on) return;
  for (const separable_case& c : {separable_case{1, 9, 9, 24, 17, 3, 2, 1}, {1, 6, 5, 40, 8, 5, 1, 2}}) {
    kernel_case k{"separable", make_separable(c)};
    k.how.separable = nsk::gpu::merging::always;
    check_bits(*on, k);
  }
}

TEST_CASE("16-bit weights and 16-bit activations together") {
  tested_device* const on = device();
  if (!on) return;
  window_case c;
  c.ic = c.oc = 40, c.kh = c.kw = 3, c.pad = 1, c.beside = 0;
  kernel_case k = make_window_case(Operator::Conv2D, c);
  check_bits(*on, k, true);
  check_bits(*on, make_window_case(Operator::DepthwiseConv2D, c), true);
}
