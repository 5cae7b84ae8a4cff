// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include "compile/compile.hpp"
#include "engine/model_file.hpp"
#include "gpu/plan_report.hpp"
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
graph two_convolutions(std::int64_t size) {
  nsk::test::graph_builder b;
  const std::vector<std::int64_t> pads{1, 1, 1, 1};
  value_id x = b.input("x", {1, 16, size, size});
  for (const std::string name : {"first", "y"}) {
    const value_id weights =
        b.floats(name + ".weights", {16, 16, 3, 3}, noise(16 * 16 * 9, static_cast<std::uint32_t>(x)));
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

TEST_CASE("a variant for GPUs has direct convolutions without borders; that for CPUs stays as it is") {
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

TEST_CASE("each of several variants has one for GPUs behind them all") {
  const model_file file = compiled({{"small", two_convolutions(16)}, {"large", two_convolutions(32)}}, true);
  std::string names;
  for (int i = 0; i < file.view.variant_count(); ++i) names += std::string(file.view.variant(i).name()) + " ";
  CHECK(names == "small large small.gpu large.gpu ");
}

TEST_CASE("the report of a GPU plan counts what it records, and says which step has no shader and why") {
  const model_file file = compiled({{"default", two_convolutions(16)}}, true);
  const nlohmann::json gpu = gpu_plan_report(file.view.variant(1)), cpu = gpu_plan_report(file.view.variant(0));
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
  CHECK(cpu["whole"] == false);
  CHECK(cpu["steps_without_shader"] == 2);
  const std::string why = cpu["steps"][0]["no_shader"];
  CHECK(why.find("Winograd") != std::string::npos);
}
