// SPDX-License-Identifier: MIT
// The verdict of bench --profile, on made-up machines, models and times: random, seeds are printed where one fails.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "profile/verdict.hpp"
#include "inspect/verdict_text.hpp"

using namespace nsk::tool;

namespace {

constexpr double footprint = 500e3;

step_work layer(const std::string& kind, double rows, double depth, double columns) {
  step_work w;
  w.kind = kind;
  w.rows = rows;
  w.depth = depth;
  w.columns = columns;
  w.macs = w.work();
  w.activation_bytes = 4 * rows * (columns + depth / 9);
  w.weight_bytes = 4 * depth * columns;
  return w;
}

/// A machine whose references are of one rate for each kind, in all sizes.
device_profile made_up_machine(std::mt19937& random) {
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  device_profile p;
  p.name = "a machine";
  p.isa = "avx2";
  p.peak_gflops = 100;
  p.levels = {{"L2", 1e6, 1000, 800}, {"DRAM", 0, 500, 400}};  // never what a step waits for
  p.step_us = 0.05;
  p.tile_us = 0.02;
  for (const char* const kind : {"conv", "pointwise", "depthwise", "winograd4"}) {
    const double rate = between(5'000, 50'000);
    for (const double size : {16.0, 64.0, 256.0}) {
      reference_step r;
      r.name = kind;
      r.shape = layer(kind, 400, size, size);
      r.rate = rate;
      r.us = r.shape.work() / rate;
      p.references.push_back(r);
    }
  }
  return p;
}

std::vector<step_work> made_up_model(std::mt19937& random) {
  const char* const kinds[] = {"conv", "pointwise", "depthwise", "winograd4"};
  const double sizes[] = {64, 128, 256};
  std::vector<step_work> model;
  for (int i = 0; i < 12; ++i)
    model.push_back(layer(kinds[random() % 4], 400, sizes[random() % 3], sizes[random() % 3]));
  return model;
}

/// What the profile lets expect, off by at most a tenth, and `machine` times as long.
std::vector<double> times_of(const device_profile& p, const std::vector<step_work>& model, std::mt19937& random,
                             double machine = 1) {
  std::vector<double> us;
  for (const step_work& w : model)
    us.push_back(machine * estimate(p, w, footprint).total() *
                 std::uniform_real_distribution<double>(0.9, 1.1)(random));
  return us;
}

nlohmann::json report_of(const std::vector<step_work>& model, const verdict& v, const device_profile& p) {
  nlohmann::json report = {{"steps", nlohmann::json::array()}};
  for (std::size_t i = 0; i < model.size(); ++i)
    report["steps"].push_back({{"index", i}, {"name", "layer" + std::to_string(i)}});
  add_verdict(report, v, p);
  return report;
}

}

TEST_CASE("verdict: layers at their rates are too much work, whatever the model") {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const device_profile p = made_up_machine(random);
    const std::vector<step_work> model = made_up_model(random);
    const std::vector<double> us = times_of(p, model, random);
    const verdict v = judge(p, model, us, footprint);
    REQUIRE(v.result == conclusion::too_much_work);
    REQUIRE(v.lost_us == 0);
    REQUIRE_FALSE(v.machine_differs);
    const auto longest = std::max_element(us.begin(), us.end()) - us.begin();
    REQUIRE(v.heaviest[0] == longest);
    const std::string text = verdict_text(report_of(model, v, p), {});
    REQUIRE(text.find("verdict: too much work") != std::string::npos);
    REQUIRE(text.find("layer" + std::to_string(longest) + "' (") != std::string::npos);
  }
}

TEST_CASE("verdict: a layer that takes three times as long is named, and no other") {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const device_profile p = made_up_machine(random);
    const std::vector<step_work> model = made_up_model(random);
    const double machine = seed % 3 == 0 ? 2.5 : 1;  // the profile is of a faster machine: the layer stands out even so
    std::vector<double> us = times_of(p, model, random, machine);
    const auto slow = static_cast<std::size_t>(std::max_element(us.begin(), us.end()) - us.begin());
    us[slow] *= 3;
    const verdict v = judge(p, model, us, footprint);
    REQUIRE(v.result == conclusion::inefficient_steps);
    REQUIRE(v.machine_differs == (machine > 1));
    for (std::size_t i = 0; i < model.size(); ++i) {
      CAPTURE(i);
      REQUIRE((v.steps[i].finding == step_finding::below_expected) == (i == slow));
      REQUIRE(v.steps[i].advice.empty() == (i != slow));
    }
    REQUIRE(v.steps[slow].percent_of_kind < 45);
    REQUIRE(v.steps[slow].lost_us > 0.5 * us[slow]);
    const std::string text = verdict_text(report_of(model, v, p), {});
    REQUIRE(text.find("verdict: inefficient layers") != std::string::npos);
    REQUIRE(text.find("step " + std::to_string(slow) + " 'layer" + std::to_string(slow) + "'") != std::string::npos);
    REQUIRE((text.find("another machine") != std::string::npos) == (machine > 1));
  }
}

TEST_CASE("verdict: a shape that its kind computes slowly is named although it takes what is expected") {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    device_profile p = made_up_machine(random);
    reference_step few;  // the same kind with 8 channels reaches a fifth of its rate
    few.shape = layer("conv", 40'000, 27, 8);
    few.rate = 0.2 * p.references[0].rate;
    few.us = few.shape.work() / few.rate;
    p.references.push_back(few);
    std::vector<step_work> model = made_up_model(random);
    model[5] = few.shape;
    const verdict v = judge(p, model, times_of(p, model, random), footprint);
    REQUIRE(v.steps[5].finding == step_finding::below_kind);
    REQUIRE(v.steps[5].advice.find("few output channels") != std::string::npos);
    for (std::size_t i = 0; i < model.size(); ++i) REQUIRE((v.steps[i].lost_us > 0) == (i == 5));
  }
}

TEST_CASE("verdict: what is changed follows from what the step waits for") {
  std::mt19937 random(1);
  device_profile p = made_up_machine(random);
  p.levels = {{"DRAM", 0, 1, 1}};
  p.tile_us = 5;
  const auto advice = [&](const step_work& w) {
    std::vector<step_work> model(4, layer("pointwise", 4000, 256, 256));
    std::vector<double> us = times_of(p, model, random);
    model.push_back(w);
    us.push_back(100 * estimate(p, w, footprint).total());
    const verdict v = judge(p, model, us, footprint);
    REQUIRE(v.steps[4].finding == step_finding::below_expected);
    return v.steps[4].advice;
  };
  step_work tiny = layer("conv", 1, 8, 8);
  tiny.tiles = 200;
  CHECK(advice(tiny).find("--max-tile-us") != std::string::npos);
  CHECK(advice(layer("conv", 1e5, 576, 64)).find("nothing else running") != std::string::npos);
}

TEST_CASE("verdict: a model of one step, and a profile that knows nothing of it") {
  device_profile p;
  p.name = "nothing";
  p.step_us = 0.1;
  const verdict v = judge(p, {layer("softmax", 10, 1, 10)}, {5.0}, footprint);
  CHECK(v.result == conclusion::too_much_work);
  CHECK(v.steps[0].percent_of_kind == 0);
  const verdict empty = judge(p, {}, {}, footprint);
  CHECK(empty.heaviest.empty());
}
