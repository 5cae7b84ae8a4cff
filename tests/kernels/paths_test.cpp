// SPDX-License-Identifier: MIT
// The path that op_traits<op>::path() says of a step is the one that its kernel takes, on the instruction set that this
// is compiled for.
#include <doctest/doctest.h>
#include <netsuke/netsuke.hpp>
#include "../run/support.hpp"

namespace {
using nsk::fast_path;
using nsk::op;
using test::opened;
using test::format::Operator;
using test::format::Window;

/// All kernels, and a bit for each path that tiles took, `general` included.
struct path_watcher : nsk::kernels::all_kernels {
  static inline unsigned taken = 0;
  static void took(fast_path p) { taken |= 1u << static_cast<int>(p); }
};
constexpr unsigned bit_of(fast_path p) { return 1u << static_cast<int>(p); }

/// The kernel arguments of a model's only step.
template <op Op>
typename nsk::op_traits<Op>::args path_arguments(opened& o) {
  nsk::impl::memory_map m;
  m.variant = o.model.variant(0);
  m.weights = o.model.weights().data();
  m.arena = o.memory.data();
  const nsk::step_view s = m.variant.step(0);
  return nsk::op_traits<Op>::bind(m, s, s.params<Op>());
}

/// Runs the step and compares: a fast path is taken and no other; parts that it leaves are general.
template <op Op, class Run>
fast_path taken_path(const test::plan_spec& p, const Run& run) {
  opened o(p);
  REQUIRE(o.status);
  const nsk::step_view s = o.model.variant(0).step(0);
  const fast_path path = nsk::path_of(s);
  CHECK(path == nsk::op_traits<Op>::path(s));
  const auto arguments = path_arguments<Op>(o);
  std::vector<std::byte> scratch(1 << 20);
  path_watcher::taken = 0;
  run(arguments,
      nsk::tile_range{0, s.output().shape()[0] * s.output().shape()[1], 0, s.output().shape()[2], 0,
                      s.output().shape()[3]},
      scratch.data());
  CHECK((path_watcher::taken & ~bit_of(fast_path::general)) == (bit_of(path) & ~bit_of(fast_path::general)));
  return path;
}

Window square_strides(int height, int width, int stride) {
  const auto number = [](int value) { return static_cast<std::uint16_t>(value); };
  return {number(height), number(width), number(stride), number(stride), 1, 1, 0, 0};
}

fast_path path_of_convolution(int side, int stride, int groups, int inputs, int outputs) {
  test::plan_spec p;
  const std::uint32_t x = p.add_input("x", {1, 24, 24, inputs}, 1);
  const int length = (24 - side) / stride + 1, depth = side * side * inputs / groups;
  const auto floats = static_cast<std::size_t>(groups * nsk::panel_floats(outputs / groups, depth));
  const std::uint32_t w = p.add_constant("w", std::vector<float>(floats));
  p.tensors[w].packing = test::format::Packing::panels;
  test::step_spec& s = p.add_step(Operator::Conv2D, {x, w}, p.add_output("y", {1, length, length, outputs}, 0, 1));
  s.window = square_strides(side, side, stride);
  s.groups = static_cast<std::uint32_t>(groups);
  return taken_path<op::conv_2d>(p, [](const auto& a, const nsk::tile_range& t, std::byte* scratch) {
    nsk::kernels::direct_conv_2d<path_watcher>(a, t, scratch);
  });
}
fast_path path_of_depthwise(int side, int width, int stride, int channels) {
  test::plan_spec p;
  const std::uint32_t x = p.add_input("x", {1, 40, 40, channels}, 1);
  const auto count = static_cast<std::size_t>(channels);
  const std::uint32_t w =
      p.add_panels("w", std::vector<float>(static_cast<std::size_t>(side * width) * count), std::vector<float>(count));
  const std::uint32_t y = p.add_output("y", {1, (40 - side) / stride + 1, (40 - width) / stride + 1, channels}, 0, 1);
  p.add_step(Operator::DepthwiseConv2D, {x, w}, y).window = square_strides(side, width, stride);
  return taken_path<op::depthwise_conv_2d>(p, [](const auto& a, const nsk::tile_range& t, std::byte* scratch) {
    nsk::kernels::depthwise_conv_2d<path_watcher>(a, t, scratch);
  });
}
fast_path path_of_dense(int rows, int depth, int outputs) {
  test::plan_spec p;
  const std::uint32_t x = p.add_input("x", {1, 1, rows, depth}, 1);
  const auto count = static_cast<std::size_t>(outputs);
  const std::uint32_t w =
      p.add_panels("w", std::vector<float>(static_cast<std::size_t>(depth) * count), std::vector<float>(count));
  p.add_step(Operator::FullyConnected, {x, w}, p.add_output("y", {1, 1, rows, outputs}, 0, 1));
  return taken_path<op::fully_connected>(p, [](const auto& a, const nsk::tile_range& t, std::byte* scratch) {
    nsk::kernels::fully_connected<path_watcher>(a, t, scratch);
  });
}
}

TEST_CASE("paths: convolutions take the path that their step has") {
  constexpr int lanes = nsk::simd::f32::lanes;
  CHECK(path_of_convolution(3, 1, 1, 16, 3) == fast_path::few_outputs);
  CHECK(path_of_convolution(1, 1, 1, 4, 4) == fast_path::few_outputs);
  CHECK(path_of_convolution(3, 2, 1, 16, 3) == fast_path::general);
  CHECK(path_of_convolution(3, 1, 1, 3, 16) == fast_path::general);
  for (int size : {2, 3, 4, 8})
    CHECK((path_of_convolution(3, 1, 32 / size, 32 / size * size, 32 / size * size) == fast_path::small_groups) ==
          (size != 3 && size < lanes));
  CHECK(path_of_convolution(5, 1, 8, 32, 32) == fast_path::general);
}

TEST_CASE("paths: depthwise convolutions take the path that their step has") {
  CHECK(path_of_depthwise(3, 3, 1, 24) == fast_path::square_3);
  CHECK(path_of_depthwise(3, 3, 2, 24) == fast_path::general);
  CHECK(path_of_depthwise(5, 5, 1, 24) == fast_path::square_5);
  CHECK(path_of_depthwise(5, 5, 2, 24) == fast_path::general);
  CHECK(path_of_depthwise(3, 3, 3, 24) == fast_path::general);
  CHECK(path_of_depthwise(3, 5, 1, 24) == fast_path::general);
  CHECK(path_of_depthwise(7, 7, 1, 24) == fast_path::wide_window);
  CHECK(path_of_depthwise(1, 9, 1, 24) == fast_path::wide_window);
  CHECK(path_of_depthwise(7, 7, 2, 24) == fast_path::general);
}

TEST_CASE("paths: dense layers take the path that their step has") {
  CHECK(path_of_dense(64, 40, 3) == fast_path::few_outputs);
  CHECK(path_of_dense(64, 40, 5) == fast_path::general);
  CHECK((path_of_dense(8, 40, 3) == fast_path::few_outputs) == (2 * nsk::simd::f32::lanes <= 8));
}
