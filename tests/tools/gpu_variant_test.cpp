// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include "compile/compile.hpp"
#include "engine/model_file.hpp"
#include "gpu/plan_report.hpp"
#include "ops/impl/gpu_winograd.hpp"
#include "resolve/infer.hpp"
#include "tools/graph_builder.hpp"

using namespace nsk::tool;

namespace {

std::vector<float> noise(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& v : values) v = static_cast<float>(random() % 2001) / 1000 - 1;
  return values;
}

/// Two padded 3x3 convolutions, which Winograd computes on a CPU, on images with borders.
graph two_convolutions(std::int64_t size, std::int64_t channels = 16) {
  nsk::test::graph_builder b;
  const std::vector<std::int64_t> pads{1, 1, 1, 1};
  value_id x = b.input("x", {1, channels, size, size});
  for (const std::string name : {"first", "y"}) {
    const auto count = static_cast<std::size_t>(channels * channels * 9);
    const value_id weights =
        b.floats(name + ".weights", {channels, channels, 3, 3}, noise(count, static_cast<std::uint32_t>(x)));
    x = b.node_of("Conv", {x, weights}, name, {{"pads", pads}});
  }
  b.output(x);
  resolve(b.g, {});
  return b.g;
}

model_file compiled(const std::vector<variant_source>& variants, bool gpu) {
  compile_options options;
  options.gpu = gpu;
  return open_model(compile(variants, options), "test");
}

/// A convolution, then x + 1x1(depthwise(x)) twice, on 64 x 64 pixels.
graph separable_blocks() {
  nsk::test::graph_builder b;
  const auto weights = [&](const std::string& name, const std::vector<std::int64_t>& shape) {
    std::size_t count = 1;
    for (const std::int64_t d : shape) count *= static_cast<std::size_t>(d);
    return b.floats(name + ".weights", shape, noise(count, static_cast<std::uint32_t>(count)));
  };
  const std::vector<std::int64_t> pads{1, 1, 1, 1};
  value_id x = b.node_of("Conv", {b.input("x", {1, 4, 64, 64}), weights("first", {16, 4, 1, 1})}, "first");
  for (const std::string name : {"a", "b"}) {
    const value_id made = b.node_of("Conv", {x, weights(name + "d", {16, 1, 3, 3})}, name + "d",
                                    {{"pads", pads}, {"group", std::int64_t{16}}});
    const value_id mixed = b.node_of("Conv", {made, weights(name + "p", {16, 16, 1, 1})}, name + "p");
    x = b.node_of("Add", {mixed, x}, name);
  }
  b.output(b.node_of("Conv", {x, weights("y", {4, 16, 1, 1})}, "y"));
  resolve(b.g, {});
  return b.g;
}

bool has_border(const nsk::variant_view& v) {
  for (int i = 0; i < v.tensor_count(); ++i) {
    const nsk::halo h = v.tensor(i).border();
    if ((h.top | h.left | h.bottom | h.right) != 0) return true;
  }
  return false;
}

int winograd_steps(const nsk::variant_view& v) {
  int count = 0;
  for (int i = 0; i < v.step_count(); ++i)
    if (v.step(i).op() == nsk::op::conv_2d)
      count += v.step(i).params<nsk::op::conv_2d>().algorithm != nsk::conv_algorithm::direct ? 1 : 0;
  return count;
}

}

TEST_CASE("a variant for GPUs has few Winograd convolutions and no borders; that for CPUs stays as it is") {
  const std::vector<variant_source> source = {{"default", two_convolutions(16)}};
  const model_file alone = compiled(source, false), both = compiled(source, true);
  REQUIRE(both.view.variant_count() == 2);
  const nsk::variant_view cpu = both.view.variant(0), gpu = both.view.variant(1);
  CHECK(std::string(gpu.name()) == "gpu");
  CHECK(std::string(gpu.profile()) == gpu_profile);
  CHECK(std::string(cpu.profile()).empty());
  CHECK(winograd_steps(cpu) == 2);
  CHECK(winograd_steps(gpu) == 0);
  CHECK(has_border(cpu));
  CHECK_FALSE(has_border(gpu));
  const auto before = alone.view.weights(), after = both.view.weights();
  const std::size_t constants = before.size() - nsk::over_read;
  CHECK(std::equal(before.begin(), before.begin() + constants, after.begin()));
  CHECK(after.size() == before.size() + 2 * (16 * 16 * 9 + 16) * sizeof(float));
  for (int i = 0; i < cpu.tensor_count(); ++i) {
    const nsk::tensor_info a = alone.view.variant().tensor(i), b = cpu.tensor(i);
    CHECK(std::string(a.name()) == b.name());
    CHECK(a.buffer_offset() + a.offset() == b.buffer_offset() + b.offset());
  }
}

TEST_CASE("a variant for GPUs has Winograd where it pays there, by the weights of the CPU") {
  const std::vector<variant_source> source = {{"default", two_convolutions(56, 128)}};
  const model_file alone = compiled(source, false), both = compiled(source, true);
  CHECK(winograd_steps(both.view.variant(1)) == 2);
  CHECK(both.view.weights().size() == alone.view.weights().size());
  const nlohmann::json gpu = gpu_plan_report(both.view.variant(1), both.view.weights());
  CHECK(gpu["whole"] == true);
  CHECK(gpu["dispatches"] == 6);
  // 36 points of 14 x 14 cells and 128 channels are written and read twice per convolution.
  const std::size_t image = 56 * 56 * 128 * 4, points = 36 * 14 * 14 * 128 * 4;
  CHECK(gpu["written_bytes"] == 2 * (image + 2 * points));
}

TEST_CASE("Winograd pays on GPUs for many channels and large images alone") {
  const auto pays = [](std::int64_t size, std::int64_t channels, nsk::conv_algorithm a, std::int64_t images = 1) {
    return winograd_pays_on_gpu({images, size, size, channels, channels}, a);
  };
  using nsk::conv_algorithm;
  CHECK(pays(56, 128, conv_algorithm::winograd4));
  CHECK(pays(28, 256, conv_algorithm::winograd4));
  CHECK_FALSE(pays(56, 64, conv_algorithm::winograd4));
  CHECK_FALSE(pays(28, 128, conv_algorithm::winograd4));
  CHECK(pays(28, 128, conv_algorithm::winograd4, 8));
  CHECK_FALSE(pays(14, 256, conv_algorithm::winograd4));
  CHECK_FALSE(pays(56, 128, conv_algorithm::winograd2));
  CHECK(pays(28, 384, conv_algorithm::winograd2));
  CHECK_FALSE(pays(160, 256, conv_algorithm::winograd4));  // 118 MB of scratch
  // Direct, one image of 64 x 64 pixels and 64 channels: 151 million multiply-adds at a million per microsecond.
  CHECK(gpu_microseconds({1, 64, 64, 64, 64}, conv_algorithm::direct, {1e6, 1e6, 3}) == doctest::Approx(150.995));
  // Winograd: 5.2 MB, then 38 million multiply-adds, then 5.2 MB again, all at that rate, and two dispatches more.
  CHECK(gpu_microseconds({1, 64, 64, 64, 64}, conv_algorithm::winograd4, {1e6, 1e6, 3}) ==
        doctest::Approx(1.048576 + 2.359296 + 37.748736 + 2.359296 + 1.048576 + 6));
}

TEST_CASE("each of several variants has one for GPUs behind them all") {
  const model_file file = compiled({{"small", two_convolutions(16)}, {"large", two_convolutions(32)}}, true);
  std::string names;
  for (int i = 0; i < file.view.variant_count(); ++i) names += std::string(file.view.variant(i).name()) + " ";
  CHECK(names == "small large small.gpu large.gpu ");
}

TEST_CASE("the report of a GPU plan counts what it records, and says which step has no shader and why") {
  const model_file file = compiled({{"default", two_convolutions(16)}}, true),
                   large = compiled({{"default", two_convolutions(512)}}, false);
  const nlohmann::json gpu = gpu_plan_report(file.view.variant(1), file.view.weights()),
                       cpu = gpu_plan_report(file.view.variant(0), file.view.weights());
  CHECK(gpu["whole"] == true);
  CHECK(gpu["dispatches"] == 2);
  CHECK(gpu["barriers"] == 1);
  CHECK(gpu["steps"][1]["barrier_before"] == true);
  CHECK(gpu["pipelines"].size() >= 1);
  const std::size_t image = 16 * 16 * 16 * 4, weights = (16 * 16 * 9 + 16) * 4;
  CHECK(gpu["read_bytes"] == 2 * (image + weights));
  CHECK(gpu["written_bytes"] == 2 * image);
  // Between the two, half the bytes where plan_settings::half_activations is set; ports stay float32.
  CHECK(gpu["half_bytes"]["read"] == image + image / 2 + 2 * weights);
  CHECK(gpu["half_bytes"]["written"] == image / 2 + image);
  CHECK(cpu["half_bytes"].is_null() == false);
  CHECK(cpu["whole"] == true);
  CHECK(cpu["dispatches"] == 6);
  const nlohmann::json refused = gpu_plan_report(large.view.variant(), large.view.weights());
  CHECK(refused["whole"] == false);
  CHECK(refused["steps_without_shader"] == 2);
  const std::string why = refused["steps"][0]["no_shader"];
  CHECK(why.find("Winograd") != std::string::npos);
}

TEST_CASE("a plan for GPUs keeps what a dispatch of two convolutions reads, that for CPUs does not") {
  const model_file file = compiled({{"default", separable_blocks()}}, true);
  const nlohmann::json gpu = gpu_plan_report(file.view.variant(1), file.view.weights()),
                       cpu = gpu_plan_report(file.view.variant(0), file.view.weights());
  REQUIRE(gpu["steps"].size() == 6);
  CHECK(gpu["dispatches"] == 4);
  CHECK(cpu["dispatches"] == 5);  // one of the sums takes the place of its residual
  CHECK(gpu["steps"][1]["merged_into"] == 2);
  CHECK(gpu["steps"][1]["kernels"].empty());
  CHECK(gpu["steps"][2]["merged_into"].is_null());
  CHECK(gpu["steps"][2]["kernels"][0] == "separable_conv_2d");
  CHECK(gpu["steps"][3]["merged_into"] == 4);
  // What is between two steps is neither written nor read.
  const std::size_t image = 64 * 64 * 16 * 4;
  CHECK(cpu["read_bytes"].get<std::size_t>() - gpu["read_bytes"].get<std::size_t>() == image);
  CHECK(cpu["written_bytes"].get<std::size_t>() - gpu["written_bytes"].get<std::size_t>() == image);
  CHECK(gpu["whole"] == true);
}
