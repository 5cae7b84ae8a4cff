// SPDX-License-Identifier: MIT
// The settings type that nsk inspect prints for a model: what its steps need, and nothing where that is the default.
#include <doctest/doctest.h>
#include <netsuke/model/open.hpp>
#include <string>
#include "../model/quantized_plan.hpp"
#include "../model/variants_plan.hpp"
#include "inspect/inspect.hpp"

namespace {
using test::format::PoolKind;
using test::format::ReduceKind;

std::string printed(const test::plan_spec& p) {
  const test::aligned_bytes file = p.write();
  nsk::model m;
  REQUIRE(nsk::open({file.data(), file.size()}, m));
  return nsk::tool::settings_source(m, "it");
}
bool has(const std::string& text, const std::string& line) {
  return text.find("  " + line + ";\n") != std::string::npos;
}

/// x [1,rows,4,inputs] -> 1x1 convolution -> y.
test::plan_spec make_product(int rows, int inputs, int channels) {
  test::plan_spec p;
  const std::uint32_t x = p.add_input("x", {1, rows, 4, inputs}, 1);
  const std::uint32_t w = p.add_panels("w", std::vector<float>(static_cast<std::size_t>(inputs * channels)),
                                       std::vector<float>(static_cast<std::size_t>(channels)));
  p.add_step(test::format::Operator::Conv2D, {x, w}, p.add_output("y", {1, rows, 4, channels}, 0, 1));
  return p;
}

const std::string no_pairs = "static constexpr bool panel_pairs = false",
                  no_prefetching = "static constexpr bool prefetch_weights = false";
}

TEST_CASE("settings: kinds and windows are those of the steps") {
  test::plan_spec p = test::make_variants();
  const std::string text = printed(p);
  CHECK(has(text, "using reduce_kinds = nsk::reduce_list<nsk::reduce_kind::mean>"));
  CHECK(has(text, "using pool_kinds = nsk::pool_list<nsk::pool_kind::max>"));
  CHECK(has(text, "using paths = nsk::path_list<nsk::fast_path::square_3>"));
  CHECK(!has(text, no_pairs));
  CHECK(!has(text, no_prefetching));
  p.steps[2].reduce = ReduceKind::sum_square;
  p.steps[5].pool = PoolKind::average;
  const std::string other = printed(p);
  CHECK(has(other, "using reduce_kinds = nsk::reduce_list<nsk::reduce_kind::sum_square>"));
  CHECK(has(other, "using pool_kinds = nsk::pool_list<nsk::pool_kind::average>"));
}

TEST_CASE("settings: what a model has no operator for is not printed") {
  const std::string text = printed(test::make_recurrent(false, false));
  for (const char* const member : {"reduce_kinds", "pool_kinds", "paths", "panel_pairs", "prefetch_weights"})
    CHECK(text.find(member) == std::string::npos);
}

TEST_CASE("settings: small groups are printed for 2, 4 and 8 channels to a group") {
  for (int size : {1, 2, 3, 4, 8, 16}) {
    CAPTURE(size);
    test::plan_spec p;
    const int groups = 6, channels = groups * size;
    const std::uint32_t x = p.add_input("x", {1, 9, 9, channels}, 1);
    const auto floats = static_cast<std::size_t>(groups * nsk::panel_floats(size, 9 * size));
    const std::uint32_t w = p.add_constant("w", std::vector<float>(floats));
    p.tensors[w].packing = test::format::Packing::panels;
    test::step_spec& step =
        p.add_step(test::format::Operator::Conv2D, {x, w}, p.add_output("y", {1, 7, 7, channels}, 0, 1));
    step.window = test::format::Window(3, 3, 1, 1, 1, 1, 0, 0);
    step.groups = groups;
    const std::string window = size == 2 || size == 4 || size == 8 ? "nsk::fast_path::small_groups" : "";
    CHECK(has(printed(p), "using paths = nsk::path_list<" + window + ">"));
  }
}

TEST_CASE("settings: few outputs are printed for 1 to 4 channels without a stride along rows") {
  for (int outputs : {1, 4, 5})
    for (int stride : {1, 2}) {
      test::plan_spec p;
      const std::uint32_t x = p.add_input("x", {1, 9, 9, 8}, 1);
      const auto count = static_cast<std::size_t>(outputs);
      const std::uint32_t w = p.add_panels("w", std::vector<float>(9 * 8 * count), std::vector<float>(count));
      const std::uint32_t y = p.add_output("y", {1, 7, stride == 1 ? 7 : 4, outputs}, 0, 1);
      p.add_step(test::format::Operator::Conv2D, {x, w}, y).window = test::format::Window(3, 3, 1, stride, 1, 1, 0, 0);
      const std::string window = outputs <= 4 && stride == 1 ? "nsk::fast_path::few_outputs" : "";
      CHECK(has(printed(p), "using paths = nsk::path_list<" + window + ">"));
    }
}

TEST_CASE("settings: few outputs are printed for rows of a layer to 1 to 4 channels") {
  for (int outputs : {4, 5})
    for (int rows : {1, 40}) {
      test::plan_spec p;
      const std::uint32_t x = p.add_input("x", {rows, 8}, 1);
      const auto count = static_cast<std::size_t>(outputs);
      const std::uint32_t w = p.add_panels("w", std::vector<float>(8 * count), std::vector<float>(count));
      p.add_step(test::format::Operator::FullyConnected, {x, w}, p.add_output("y", {rows, outputs}, 0, 1));
      const std::string window = outputs <= 4 && rows > 1 ? "nsk::fast_path::few_outputs" : "";
      CHECK(has(printed(p), "using paths = nsk::path_list<" + window + ">"));
    }
}

TEST_CASE("settings: a depthwise window without kernels of its own is printed as none, a wide one as such") {
  for (int width : {6, 7}) {
    test::plan_spec p;
    const std::uint32_t x = p.add_input("x", {1, 9, 9, 8}, 1);
    const auto taps = static_cast<std::size_t>(7 * width);
    const std::uint32_t w = p.add_panels("w", std::vector<float>(taps * 8), std::vector<float>(8)),
                        y = p.add_output("y", {1, 3, 10 - width, 8}, 0, 1);
    p.add_step(test::format::Operator::DepthwiseConv2D, {x, w}, y).window =
        test::format::Window(7, width, 1, 1, 1, 1, 0, 0);
    const std::string window = width == 7 ? "nsk::fast_path::wide_window" : "";
    CHECK(has(printed(p), "using paths = nsk::path_list<" + window + ">"));
  }
}

TEST_CASE("settings: the maximum of bytes is no kind of pooling on floats") {
  CHECK(has(printed(test::quantized::pooling()), "using pool_kinds = nsk::pool_list<>"));
}

TEST_CASE("settings: products of few columns, small matrices and few rows need less") {
  const auto check_product = [](const std::string& text, bool pairs, bool prefetching) {
    CHECK(has(text, no_pairs) != pairs);
    CHECK(has(text, no_prefetching) != prefetching);
  };
  check_product(printed(make_product(4, 64, 16)), false, false);
  check_product(printed(make_product(4, 64, 24)), false, false);
  check_product(printed(make_product(4, 64, 40)), false, false);  // panels of 16 and 24
  check_product(printed(make_product(4, 64, 32)), true, false);
  check_product(printed(make_product(4, 1024, 32)), true, false);  // 128 KiB
  check_product(printed(make_product(4, 2048, 32)), true, true);
  check_product(printed(make_product(4, 4096, 16)), false, true);
  test::plan_spec cut = make_product(4, 2048, 32);
  cut.steps[0].tile = {0, 0, 16};
  check_product(printed(cut), false, true);
}

TEST_CASE("settings: one row is multiplied by several panels whatever the settings say") {
  test::plan_spec p;
  const std::uint32_t x = p.add_input("x", {1, 2048}, 1);
  const std::uint32_t w = p.add_panels("w", std::vector<float>(2048 * 32), std::vector<float>(32));
  p.add_step(test::format::Operator::FullyConnected, {x, w}, p.add_output("y", {1, 32}, 0, 1));
  const std::string text = printed(p);
  CHECK(has(text, no_pairs));
  CHECK(has(text, no_prefetching));
}

TEST_CASE("kernel_aliases: the kernels that calls of generated source name") {
  const auto aliases = [](const test::plan_spec& p) {
    const test::aligned_bytes file = p.write();
    nsk::model m;
    REQUIRE(nsk::open({file.data(), file.size()}, m));
    return nsk::tool::kernel_aliases(m.variant(0));
  };
  const auto holds = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  const std::string all = aliases(test::make_variants()), product = aliases(make_product(4, 64, 16));
  CHECK(holds(all,
              "nsk::function_list<nsk::function::identity>, nsk::path_list<nsk::fast_path::square_3>, true, true>;\n"));
  CHECK(holds(all, "using reductions = nsk::reduce_list<nsk::reduce_kind::mean>;\n"));
  CHECK(holds(all, "using pools = nsk::pool_list<nsk::pool_kind::max>;\n"));
  CHECK(holds(product, "nsk::function_list<nsk::function::identity>, nsk::path_list<>, false, false>;\n"));
  CHECK(!holds(product, "using reductions"));
  CHECK(!holds(product, "using pools"));
}
