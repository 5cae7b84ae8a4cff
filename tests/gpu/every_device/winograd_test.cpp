// SPDX-License-Identifier: MIT
// Convolutions whose weights are transformed for Winograd: three dispatches that share scratch behind the arena.
#include "../cases.hpp"
#include "../device_support.hpp"

using namespace test;
using format::Function;
using nsk::conv_algorithm;

namespace {

constexpr conv_algorithm algorithms[] = {conv_algorithm::winograd2, conv_algorithm::winograd4};

window_case winograd(conv_algorithm a, int h, int w, int ic, int oc) {
  window_case c;
  c.kh = c.kw = 3, c.pad = 1;
  c.algorithm = a;
  c.h = h, c.w = w, c.ic = ic, c.oc = oc;
  return c;
}
nsk::gpu::kernel kernel_of(const nsk::gpu::plan& p, int dispatch) {
  return p.pipelines()[static_cast<std::size_t>(p.dispatch(dispatch).pipeline)].kernel;
}
/// Compares a case with the CPU's step by the same algorithm, on equal inputs.
void check(const window_case& c) {
  if (tested_device* const on = device()) check_case(*on, make_window_case(format::Operator::Conv2D, c));
}

/// x -> neg -> convolution -> convolution with a sum and a function -> neg -> y: images of `n` rows.
plan_spec make_chain(conv_algorithm a, std::int32_t n, std::int32_t size, std::int32_t channels) {
  using format::Operator;
  plan_spec p;
  noise random(4);
  const std::vector<std::int32_t> shape{n, size, size, channels};
  const auto c = static_cast<std::size_t>(channels);
  const std::uint32_t x = p.add_input("x", shape, 4);
  const std::uint32_t negative = p.add_dense("negative", shape, 0, 3), first = p.add_dense("first", shape, 1, 3),
                      second = p.add_dense("second", shape, 2, 4), y = p.add_output("y", shape, 3, 4);
  const auto convolve = [&](std::uint32_t from, std::uint32_t to, bool adds) {
    const std::uint32_t w = p.add_panels("w", winograd_matrix(a, random.many(9 * c * c), c * c), random.many(c));
    p.tensors[w].packing = packing_of(a);
    std::vector<std::uint32_t> inputs{from, w};
    if (adds) inputs.push_back(negative);
    step_spec& s = p.add_step(Operator::Conv2D, inputs, to);
    s.window = format::Window(3, 3, 1, 1, 1, 1, 1, 1);
    s.algorithm = static_cast<format::ConvAlgorithm>(a);
    if (adds) s.epilogue = {Function::leaky_relu, 0.1f, 0.0f, false, 2, -1};
    s.scratch_bytes = static_cast<std::uint64_t>(nsk::kernels::conv_2d_scratch_bytes(
        {size, size, channels, size, size, channels, 1, {}, 0, nsk::window::of(&s.window), a}));
    p.lane_bytes = (s.scratch_bytes + 63) / 64 * 64;
  };
  p.add_step(Operator::Unary, {x}, negative).epilogue.function = Function::neg;
  convolve(negative, first, false);
  convolve(first, second, true);
  p.add_step(Operator::Unary, {second}, y).epilogue.function = Function::neg;
  if (n == 1) return p;
  for (const std::uint32_t t : {x, negative, first, second, y}) p.tensors[t].batch = 1;
  p.batch = n;
  return p;
}

}

TEST_CASE("Winograd: any number of channels, on images that cut cells") {
  const int pairs[][2] = {{8, 8}, {16, 40}, {17, 33}, {42, 5}, {3, 64}, {96, 24}, {200, 8}, {8, 200}};
  int number = 0;
  for (const auto& p : pairs) {
    for (const conv_algorithm a : algorithms) check(winograd(a, 5 + number % 4, 7 + number % 3, p[0], p[1]));
    ++number;
  }
}

TEST_CASE("Winograd: one cell, many cells, images, padding and slices") {
  for (const conv_algorithm a : algorithms) {
    check(winograd(a, 1, 1, 16, 16));
    check(winograd(a, 4, 4, 20, 12));
    check(winograd(a, 37, 34, 8, 16));  // more cells than a tile has
    window_case c = winograd(a, 9, 6, 16, 32);
    c.n = 3;
    check(c);
    c.pad = 0, c.beside = 4;
    check(c);
    c.pad = 2, c.beside = 3;
    check(c);
  }
}

TEST_CASE("Winograd: residual in place, before and after the function, and slopes") {
  for (const bool activation_first : {false, true}) {
    window_case c = winograd(activation_first ? conv_algorithm::winograd2 : conv_algorithm::winograd4, 7, 9, 16, 18);
    c.residual = true;
    c.beside = activation_first ? 1 : 0;
    c.epilogue = {Function::clip, -8.0f, 8.0f, activation_first, -1, -1};
    check(c);
    c.slope = true;
    c.epilogue.function = Function::prelu;
    check(c);
  }
}

TEST_CASE("Winograd: three dispatches per step, with barriers between them, give the same bits again") {
  tested_device* const on = device();
  if (!on) return;
  for (const conv_algorithm a : algorithms) {
    for (const bool halves : {false, true}) {
      CAPTURE(halves);
      nsk::gpu::plan_settings how;
      how.half_activations = halves;
      both<tested_device> net(*on);
      REQUIRE(net.open(make_chain(a, 1, 10, 16), how) == "");
      const nsk::gpu::plan& p = net.plan();
      REQUIRE(p.dispatch_count() == 8);
      const bool four = a == conv_algorithm::winograd4;
      for (const int d : {1, 4}) {
        CHECK(kernel_of(p, d) == (four ? nsk::gpu::kernel::winograd4_input : nsk::gpu::kernel::winograd2_input));
        CHECK(kernel_of(p, d + 1) == nsk::gpu::kernel::conv_2d_tiled);
        CHECK(kernel_of(p, d + 2) == (four ? nsk::gpu::kernel::winograd4_output : nsk::gpu::kernel::winograd2_output));
      }
      for (int d = 1; d < 8; ++d) CHECK(p.dispatch(d).barrier);
      const std::uint64_t bytes = (four ? 36u * 9u : 16u * 25u) * 16u * 4u;
      CHECK(p.traffic(2).read == bytes);
      CHECK(p.traffic(2).written == bytes);
      CHECK(p.traffic(3).read == bytes);
      CHECK(p.required_arena_bytes() >= net.variant().shared_bytes() + 2 * bytes);
      net.fill_inputs(6);
      CHECK(net.run().relative() <= (halves ? 2e-3 : 1e-5));
      const aligned_bytes first = net.device_arena();
      REQUIRE(net.gpu().run());
      const aligned_bytes again = net.device_arena();
      CHECK(std::memcmp(first.data(), again.data(), first.size()) == 0);
    }
  }
}

TEST_CASE("Winograd: images that do not fit in the scratch together are computed in parts, with the same bits") {
  tested_device* const on = device();
  if (!on) return;
  constexpr std::uint32_t rows = 5;
  constexpr std::uint32_t image_bytes = 36 * 9 * (16 + 16) * 4;
  const plan_spec chain = make_chain(conv_algorithm::winograd4, rows, 10, 16);
  std::vector<aligned_bytes> arenas;
  for (const std::uint32_t images : {rows, 2u, 1u}) {
    CAPTURE(images);
    nsk::gpu::plan_settings how;
    how.max_winograd_bytes = images * image_bytes + 4;
    both<tested_device> net(*on);
    REQUIRE(net.open(chain, how) == "");
    const int parts = static_cast<int>((rows + images - 1) / images);
    CHECK(net.plan().dispatch_count() == 2 + 2 * 3 * parts);
    CHECK(net.arena_bytes() == (net.variant().shared_bytes() + 63) / 64 * 64 + images * image_bytes);
    net.fill_inputs(7);
    CHECK(net.run().relative() <= 1e-5);
    arenas.push_back(net.device_arena());
    CHECK(std::memcmp(arenas.front().data(), arenas.back().data(), net.variant().shared_bytes()) == 0);
  }
  nsk::gpu::plan_settings how;
  how.max_winograd_bytes = image_bytes - 4;
  both<tested_device> net(*on);
  CHECK(net.open(chain, how).find("max_winograd_bytes") != std::string::npos);
}
