// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>
#include "compile/compile.hpp"
#include "engine/model_file.hpp"
#include "errors.hpp"
#include "gpu/device_check.hpp"
#include "profile/measure.hpp"
#include "resolve/infer.hpp"
#include "tools/graph_builder.hpp"

using namespace nsk::tool;

namespace {

/// A device that takes the numbers of a CPU session of its own, and is wrong in one step, or in whole runs alone.
class imitated_device final : public device_runner {
 public:
  imitated_device(const model_file& file, int wrong_step, float error, bool wrong_runs = false)
      : m_view(file.view.variant()),
        m_cpu(choose_engine("").open(file.bytes.data(), file.bytes.size(), 1, 0)),
        m_arena(m_view.shared_bytes()),
        m_wrong_step(wrong_step),
        m_error(error),
        m_wrong_runs(wrong_runs) {
    m_facts.driver = "imitated";
    m_facts.steps = m_view.step_count();
  }
  std::byte* input(int port) override { return m_cpu->input(port); }
  const std::byte* output(int port) override { return m_output.empty() ? m_cpu->output(port) : m_output.data(); }
  void seed(std::uint64_t key) override { m_cpu->seed(key); }
  void run() override {
    m_cpu->run();
    const std::size_t bytes = m_view.output(0).bytes();
    m_output.assign(m_cpu->output(0), m_cpu->output(0) + bytes);
    if (m_wrong_runs) spoil(m_output.data());
  }
  const device_facts& facts() const override { return m_facts; }
  bool has_shader(int step) const override { return m_facts.cpu_steps == 0 && (!merges || step == 1); }
  int merged_into(int step) const override { return merges && step == 1 ? 0 : -1; }
  bool is_half(const nsk::tensor_info&) const override { return false; }
  void say_halves() { m_facts.halves.activations = true; }
  void leave_all_to_cpu() { m_facts.cpu_steps = m_facts.steps; }
  void reset() override { m_cpu->reset(); }
  void write(std::size_t offset, const std::byte* from, std::size_t bytes) override {
    std::memcpy(m_arena.data() + offset, from, bytes);
  }
  void read(std::size_t offset, std::byte* to, std::size_t bytes) override {
    std::memcpy(to, m_arena.data() + offset, bytes);
  }
  void run_step(int step) override {
    if (merges && step == 1) compute(0);
    compute(step);
  }
  double device_us() const override { return 0; }
  double recording_us() const override { return 0; }

  bool merges = false;  ///< one dispatch computes both steps

 private:
  /// The steps of the test's model: |x|, then the square of it.
  void compute(int step) {
    const nsk::step_view s = m_view.step(step);
    const auto place = [&](const nsk::tensor_info& t) {
      return reinterpret_cast<float*>(m_arena.data() + t.buffer_offset() + t.offset());
    };
    const float* x = place(s.input(0));
    float* y = place(s.output());
    for (std::int64_t i = 0; i < s.output().elements(); ++i) y[i] = step == 0 ? (x[i] < 0 ? -x[i] : x[i]) : x[i] * x[i];
    if (step == m_wrong_step) spoil(reinterpret_cast<std::byte*>(y));
  }
  void spoil(std::byte* bytes) const {
    float value;
    std::memcpy(&value, bytes, sizeof value);
    value += m_error;
    std::memcpy(bytes, &value, sizeof value);
  }
  nsk::variant_view m_view;
  std::unique_ptr<runner> m_cpu;
  std::vector<std::byte> m_arena, m_output;
  int m_wrong_step;
  float m_error;
  bool m_wrong_runs;
  device_facts m_facts;
};

model_file two_steps() {
  nsk::test::graph_builder b;
  const value_id y = b.node_of("Abs", {b.input("x", {1, 64})}, "h");
  b.output(b.node_of("Mul", {y, y}, "y"));
  resolve(b.g, {});
  return open_model(compile({{"default", b.g}}, {}), "test");
}

device_comparison compared(const model_file& file, imitated_device& device) {
  const auto cpu = choose_engine("").open(file.bytes.data(), file.bytes.size(), 1, 0);
  fill_with_noise(file.view, *cpu);
  return compare_with_cpu(file.view, 0, *cpu, device);
}

}

TEST_CASE("a device is compared with the CPU on the CPU's inputs of each step, and whole") {
  const model_file file = two_steps();
  REQUIRE(file.view.variant().step_count() == 2);
  imitated_device right(file, -1, 0);
  CHECK(compared(file, right).good());
  for (const int step : {0, 1}) {
    CAPTURE(step);
    imitated_device wrong(file, step, 1e-3f);
    const device_comparison found = compared(file, wrong);
    CHECK_FALSE(found.good());
    CHECK(found.steps.front().step == step);  // worst first, and the step behind it is right on the CPU's inputs
    CHECK(found.steps.back().relative == 0);
    CHECK(found.worst_output() == 0);
  }
  imitated_device near(file, 1, 1e-6f);
  CHECK(compared(file, near).good());
  imitated_device whole(file, -1, 1e-3f, true);
  const device_comparison found = compared(file, whole);
  CHECK_FALSE(found.good());
  CHECK(found.worst_step() == 0);
  CHECK(device_comparison_text(found, 12).find("check FAILED") != std::string::npos);
  CHECK(device_comparison_json(found, "imitated", whole.facts())["passed"] == false);
  // where the device computes no step, nothing is compared
  imitated_device idle(file, -1, 0);
  idle.leave_all_to_cpu();
  CHECK_FALSE(compared(file, idle).good());
  imitated_device broken(file, 0, std::numeric_limits<float>::quiet_NaN());
  CHECK_FALSE(compared(file, broken).good());
}

TEST_CASE("where 16-bit floats are stored, outputs alone are judged, more loosely") {
  const model_file file = two_steps();
  for (const float error : {1e-3f, 5e-3f}) {
    CAPTURE(error);
    imitated_device exact(file, 0, 0.25f);
    exact.say_halves();
    device_comparison found = compared(file, exact);
    CHECK(found.good());
    REQUIRE(found.steps.size() == 2);
    CHECK(found.steps.back().relative > 1e-2);  // both steps: the second one reads what the first one wrote
    imitated_device spoiled(file, -1, error, true);
    spoiled.say_halves();
    found = compared(file, spoiled);
    CHECK(found.good() == (found.outputs.front().relative <= 2e-3));
    CHECK(found.good() == (error < 2e-3f));
    CHECK(found.failed_output_text().find("output 'y' is ") == 0);
  }
}

TEST_CASE("a dispatch of two steps gets the CPU's inputs of the first one") {
  const model_file file = two_steps();
  imitated_device right(file, -1, 0), wrong(file, 0, 1e-3f);
  right.merges = wrong.merges = true;
  const device_comparison found = compared(file, right);
  CHECK(found.good());
  CHECK(found.steps.size() == 1);
  CHECK(found.steps.front().step == 1);
  CHECK_FALSE(compared(file, wrong).good());
}

TEST_CASE("a device takes the first variant for GPUs unless another is named") {
  nsk::test::graph_builder b;
  b.output(b.node_of("Abs", {b.input("x", {1, 64})}, "y"));
  resolve(b.g, {});
  compile_options options;
  const model_file alone = open_model(compile({{"default", b.g}}, options), "test");
  options.gpu = true;
  const model_file both = open_model(compile({{"default", b.g}}, options), "test");
  CHECK(device_variant_of(alone.view, "") == 0);
  CHECK(device_variant_of(both.view, "") == 1);
  CHECK(device_variant_of(both.view, "default") == 0);
  CHECK(device_variant_of(both.view, "gpu") == 1);
  CHECK_THROWS_AS(device_variant_of(both.view, "gup"), error);
}
