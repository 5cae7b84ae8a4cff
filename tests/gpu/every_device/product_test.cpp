// SPDX-License-Identifier: MIT
// Dense layers, matrix products, panels, copies, fills, resampling.
#include "../cases.hpp"
#include "../device_support.hpp"

using namespace test;
using format::Function;
using format::Operator;
using nsk::gpu::conv_kernel;

namespace {

/// [rows, depth] times packed [depth, n].
kernel_case dense_case(std::int32_t rows, std::int32_t depth, std::int32_t n, conv_kernel how) {
  plan_spec p;
  noise random(8);
  const std::uint32_t x = p.add_input("x", {rows, depth}, 1), y = p.add_output("y", {rows, n}, 0, 1);
  const std::uint32_t w =
      p.add_panels("w", random.many(static_cast<std::size_t>(depth * n)), random.many(static_cast<std::size_t>(n)));
  p.add_step(Operator::FullyConnected, {x, w}, y);
  kernel_case c{"dense " + std::to_string(rows) + "x" + std::to_string(depth) + "x" + std::to_string(n), p};
  c.how.convolutions = how;
  return c;
}

/// [b, m, k] times [b, k, n], which is packed in the plan; n-major where `transposed`.
kernel_case product_case(std::int32_t b, std::int32_t m, std::int32_t k, std::int32_t n, bool shared, bool transposed,
                         conv_kernel how) {
  plan_spec p;
  const std::int32_t right = shared ? 1 : b;
  const std::uint32_t x = p.add_input("x", {b, m, k}, 2);
  const std::uint32_t z =
      p.add_input("z", transposed ? std::vector<std::int32_t>{right, n, k} : std::vector<std::int32_t>{right, k, n}, 2);
  const std::int64_t kn = std::int64_t{k} * n;
  const std::uint32_t view = add_view(
      p, z, {right, k, n}, transposed ? std::vector<std::int64_t>{kn, 1, k} : std::vector<std::int64_t>{kn, n, 1});
  const std::uint32_t panels = p.add_dense("panels", {right, static_cast<std::int32_t>(nsk::panel_floats(n, k))}, 0, 1);
  const std::uint32_t y = p.add_output("y", {b, m, n}, 1, 2);
  p.add_step(Operator::PackPanels, {view}, panels, "pack");
  step_spec& s = p.add_step(Operator::MatMul, {x, panels}, y, "multiply");
  s.shared_right = shared;
  s.epilogue.function = Function::clip;
  s.epilogue.alpha = -2, s.epilogue.beta = 2;
  kernel_case c{"product " + std::to_string(b) + "x" + std::to_string(m) + "x" + std::to_string(k) + "x" +
                    std::to_string(n) + (shared ? " shared" : "") + (transposed ? " transposed" : ""),
                p};
  c.how.convolutions = how;
  return c;
}

}

TEST_CASE("dense layers of any size, by every kernel") {
  tested_device* const on = device();
  if (!on) return;
  for (const conv_kernel how : {conv_kernel::one_pixel, conv_kernel::four_pixels, conv_kernel::tiled}) {
    for (const std::int32_t n : {1, 3, 4, 5, 8, 17, 24, 40, 42}) check_case(*on, dense_case(n % 4 + 1, n + 3, n, how));
    check_case(*on, dense_case(67, 40, 36, how));
  }
}

TEST_CASE("products of matrices, own and shared, packed from rows or columns") {
  tested_device* const on = device();
  if (!on) return;
  for (const conv_kernel how : {conv_kernel::automatic, conv_kernel::four_pixels}) {
    for (const bool shared : {false, true}) {
      for (const bool transposed : {false, true}) {
        check_case(*on, product_case(3, 5, 7, 17, shared, transposed, how));
        check_case(*on, product_case(2, 4, 8, 24, shared, transposed, how));
        check_case(*on, product_case(1, 9, 3, 42, shared, transposed, how));
      }
    }
  }
}

TEST_CASE("copies of up to six dimensions, transposed, reversed and repeated") {
  tested_device* const on = device();
  if (!on) return;
  plan_spec p;
  const std::uint32_t x = p.add_input("x", {720}, 4), six = p.add_output("six", {2, 3, 4, 5, 3, 2}, 0, 4);
  const std::uint32_t reversed = p.add_output("reversed", {9, 8}, 1, 4),
                      repeated = p.add_output("repeated", {3, 5, 4}, 2, 4);
  const std::uint32_t words = p.add_output("words", {3}, 3, 4, format::DataType::int32);
  p.add_step(Operator::Copy, {add_view(p, x, {2, 3, 4, 5, 3, 2}, {1, 2, 6, 24, 120, 360})}, six);
  p.add_step(Operator::Copy, {add_view(p, x, {9, 8}, {-1, 9}, 32 * 4)}, reversed);
  p.add_step(Operator::Copy, {add_view(p, x, {3, 5, 4}, {0, 7, 1})}, repeated);
  p.add_step(Operator::Copy,
             {p.add_constant("w", std::vector<std::int32_t>{1, -2, 0x7fc00001}, format::DataType::int32)}, words);
  check_case(*on, {"copies", p});
}

TEST_CASE("the last group of threads has one element") {
  tested_device* const on = device();
  if (!on) return;
  plan_spec p;
  const std::uint32_t x = p.add_input("x", {130}, 2), copied = p.add_output("copied", {5, 13}, 0, 2);
  const std::uint32_t negative = p.add_output("negative", {5, 13}, 1, 2);
  p.add_step(Operator::Copy, {add_view(p, x, {5, 13}, {1, 10})}, copied);
  p.add_step(Operator::Unary, {add_view(p, x, {5, 13}, {1, 10})}, negative).epilogue.function = Function::neg;
  check_case(*on, {"65 elements", p});
}

TEST_CASE("fills of slices and of everything") {
  tested_device* const on = device();
  if (!on) return;
  plan_spec p;
  const std::uint32_t all = p.add_output("y", {1, 5, 7, 9}, 0, 2);
  p.add_step(Operator::Fill, {}, channels_of(p, all, 0, 4)).value = -1.5f;
  p.add_step(Operator::Fill, {}, channels_of(p, all, 4, 5)).value = 2.5f;
  check_case(*on, {"fills", p});
}

TEST_CASE("resampling of any channels, with several taps") {
  tested_device* const on = device();
  if (!on) return;
  for (const std::int32_t channels : {1, 3, 5, 8, 17}) {
    plan_spec p;
    const std::uint32_t x = p.add_input("x", {2, 3, 4, channels}, 1), y = p.add_output("y", {2, 5, 7, channels}, 0, 1);
    noise random(9);
    const auto index = [&](std::int32_t count, std::int32_t taps, std::int32_t below) {
      std::vector<std::int32_t> v;
      for (std::int32_t i = 0; i < count * taps; ++i) v.push_back((i * 5 + i / 3) % below);
      return p.add_constant("index", v, format::DataType::int32);
    };
    const auto weight = [&](std::int32_t count) {
      return p.add_constant("weight", random.many(static_cast<std::size_t>(count)));
    };
    const std::uint32_t row_index = index(5, 3, 3), row_weight = weight(15), column_index = index(7, 2, 4),
                        column_weight = weight(14);
    step_spec& s = p.add_step(Operator::Resize2D, {x, row_index, row_weight, column_index, column_weight}, y);
    s.row_taps = 3, s.column_taps = 2;
    s.scratch_bytes = static_cast<std::uint64_t>(nsk::kernels::resize_2d_scratch_bytes(3));
    p.lane_bytes = s.scratch_bytes;
    check_case(*on, {"resize " + std::to_string(channels), p});
  }
}
