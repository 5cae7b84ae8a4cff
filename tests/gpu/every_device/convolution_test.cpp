// SPDX-License-Identifier: MIT
// Convolutions: channels that fill quads, panels and tiles or do not; windows, strides, dilation, groups, slices of
// wider buffers, residuals in place. The three kernels give the same bits.
#include "../cases.hpp"
#include "../device_support.hpp"

using namespace test;
using format::Function;
using nsk::gpu::conv_kernel;

namespace {

/// Runs a case by one kernel: compares with the CPU, and returns the arena that the device left.
aligned_bytes arena_after(tested_device& on, kernel_case c, conv_kernel how, nsk::gpu::kernel expected) {
  CAPTURE(static_cast<int>(how));
  c.how.convolutions = how;
  check_case(on, c);
  both<tested_device> net(on);
  REQUIRE(net.open(c.plan, c.how) == "");
  CHECK(net.plan().find_pipeline(expected) >= 0);
  net.fill_inputs(5);
  CHECK(net.run().relative() <= c.tolerance);
  return net.device_arena();
}

void check_equal_bits(const window_case& w) {
  tested_device* const on = device();
  if (!on) return;
  CAPTURE(w.name());
  const kernel_case c = make_window_case(format::Operator::Conv2D, w);
  const aligned_bytes one = arena_after(*on, c, conv_kernel::one_pixel, nsk::gpu::kernel::conv_2d_one_pixel);
  const aligned_bytes four = arena_after(*on, c, conv_kernel::four_pixels, nsk::gpu::kernel::conv_2d);
  CHECK(std::memcmp(one.data(), four.data(), one.size()) == 0);
  if (w.groups != 1) return;
  const aligned_bytes tiled = arena_after(*on, c, conv_kernel::tiled, nsk::gpu::kernel::conv_2d_tiled);
  CHECK(std::memcmp(one.data(), tiled.data(), one.size()) == 0);
}

window_case channels(int ic, int oc, int beside = 0) {
  window_case c;
  c.ic = ic, c.oc = oc, c.beside = beside;
  return c;
}
window_case window(int ic, int oc, int kh, int kw, int stride, int dilation, int pad, int groups = 1) {
  window_case c = channels(ic, oc);
  c.kh = kh, c.kw = kw, c.stride = stride, c.dilation = dilation, c.pad = pad, c.groups = groups;
  return c;
}

/// 3 x 3, with more stride, dilation or padding of columns than of rows.
window_case uneven(int ic, int oc, int more_stride, int more_dilation, int more_pad) {
  window_case c = window(ic, oc, 3, 3, 1, 1, 1);
  c.more_stride = more_stride, c.more_dilation = more_dilation, c.more_pad = more_pad;
  return c;
}

}

TEST_CASE("convolutions of any number of channels") {
  const int pairs[][2] = {{1, 24}, {3, 8}, {4, 17}, {5, 40}, {8, 42}, {17, 3}, {24, 5}, {40, 4}, {42, 1}, {40, 40}};
  for (const auto& p : pairs) check_equal_bits(channels(p[0], p[1]));
}

TEST_CASE("convolutions of any window") {
  check_equal_bits(window(3, 8, 3, 3, 1, 1, 1));
  check_equal_bits(window(8, 4, 3, 3, 2, 1, 1));
  check_equal_bits(window(17, 5, 3, 5, 1, 1, 2));
  check_equal_bits(window(4, 24, 5, 3, 3, 1, 0));
  check_equal_bits(window(8, 40, 3, 3, 1, 2, 2));
  check_equal_bits(window(5, 42, 2, 2, 2, 2, 1));
  check_equal_bits(uneven(5, 8, 1, 0, 0));
  check_equal_bits(uneven(8, 5, 0, 1, 0));
  check_equal_bits(uneven(4, 4, 0, 0, 1));
  window_case images = window(24, 17, 3, 3, 1, 1, 1);
  images.n = 3;  // blocks of pixels go on from one image to the next
  check_equal_bits(images);
  window_case larger = window(8, 8, 3, 3, 1, 1, 1);
  larger.h = 19, larger.w = 23;
  check_equal_bits(larger);
}

TEST_CASE("convolutions of groups") {
  check_equal_bits(window(8, 8, 3, 3, 1, 1, 1, 2));
  check_equal_bits(window(9, 15, 3, 3, 2, 1, 1, 3));
  check_equal_bits(window(40, 80, 1, 1, 1, 1, 0, 2));
}

TEST_CASE("convolutions read and write slices of wider buffers") {
  check_equal_bits(channels(8, 8, 4));    // whole quads
  check_equal_bits(channels(8, 24, 3));   // misaligned
  check_equal_bits(channels(17, 42, 1));  // and odd
}

TEST_CASE("convolutions add a residual in place, before or after their function") {
  for (const bool activation_first : {false, true}) {
    for (const int beside : {0, 1}) {
      window_case c = window(8, 8, 3, 3, 1, 1, 1);
      c.beside = beside;
      c.residual = true;
      c.epilogue = {Function::clip, -1.0f, 1.0f, activation_first, -1, -1};
      check_equal_bits(c);
    }
  }
  window_case c = channels(24, 42);
  c.residual = c.slope = true;
  c.epilogue.function = Function::prelu;
  check_equal_bits(c);
}

TEST_CASE("depthwise convolutions, and pooling, of any window") {
  tested_device* const on = device();
  if (!on) return;
  for (const int count : {1, 3, 4, 5, 8, 17, 24, 40, 42}) {
    window_case c = window(count, count, 3, 3, 1, 1, 1);
    c.beside = count % 3;
    check_case(*on, make_window_case(format::Operator::DepthwiseConv2D, c));
    check_case(*on, make_window_case(format::Operator::Pool2D, c));
  }
  const window_case windows[] = {window(8, 8, 5, 3, 2, 1, 2), window(5, 5, 3, 3, 2, 2, 2),
                                 window(24, 24, 7, 7, 3, 1, 3), window(4, 4, 1, 9, 1, 1, 0), uneven(8, 8, 1, 1, 1)};
  for (window_case c : windows) {
    c.n = 2;
    for (const bool residual : {false, true}) {
      c.residual = residual;
      c.slope = residual;
      c.epilogue.function = residual ? Function::prelu : Function::hard_swish;
      check_case(*on, make_window_case(format::Operator::DepthwiseConv2D, c));
    }
    c.residual = c.slope = false;
    c.epilogue = {};
    for (const int kind : {0, 1, 2}) {
      kernel_case pool = make_window_case(format::Operator::Pool2D, c);
      pool.name += " kind " + std::to_string(kind);
      step_spec& s = pool.plan.steps.back();
      s.pool = kind == 0 ? format::PoolKind::max : format::PoolKind::average;
      s.count_include_pad = kind == 2;
      s.pad_bottom = s.pad_right = static_cast<std::uint16_t>(c.pad > 0 ? c.pad - 1 : 0);
      check_case(*on, pool);
    }
  }
}
