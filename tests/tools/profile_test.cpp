// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "engine/model_file.hpp"
#include "errors.hpp"
#include "profile/profile.hpp"
#include "profile/references.hpp"

using namespace nsk::tool;

namespace {

step_work shape_of(const std::string& kind, double rows, double depth, double columns) {
  step_work w;
  w.kind = kind;
  w.rows = rows;
  w.depth = depth;
  w.columns = columns;
  w.macs = w.work();
  return w;
}

device_profile simple_machine() {
  device_profile p;
  p.name = "a machine";
  p.isa = "avx2";
  p.peak_gflops = 100;
  p.levels = {{"L1", 32e3, 100, 80}, {"L2", 1e6, 50, 40}, {"L3", 32e6, 25, 20}, {"DRAM", 0, 10, 8}};
  p.step_us = 0.5;
  p.tile_us = 0.25;
  p.hand_out_us = 2;
  p.references.push_back({"small", shape_of("pointwise", 100, 16, 16), 1, 10'000});
  p.references.push_back({"large", shape_of("pointwise", 100, 1024, 1024), 1, 40'000});
  p.references.push_back({"exp", shape_of("function", 1000, 1, 1), 1, 1'000});
  return p;
}

constexpr double in_l2 = 500e3, in_dram = 1e9;

}

TEST_CASE("a step like a reference takes the reference's time, and twice its rows take twice as long") {
  const device_profile p = simple_machine();
  step_work w = shape_of("pointwise", 100, 1024, 1024);
  CHECK(estimate(p, w, in_l2).compute == doctest::Approx(w.work() / 40'000).epsilon(0.02));
  w.rows = 200;
  CHECK(estimate(p, w, in_l2).compute == doctest::Approx(2 * 100 * 1024 * 1024 / 40'000.0).epsilon(0.02));
  const double between = estimate(p, shape_of("pointwise", 100, 128, 128), in_l2).compute;
  CHECK(between > 100 * 128 * 128 / 40'000.0);
  CHECK(between < 100 * 128 * 128 / 10'000.0);
}

TEST_CASE("weights come from the level that holds the whole run, activations from the one that holds the step") {
  const device_profile p = simple_machine();
  step_work w = shape_of("pointwise", 1, 1, 1);
  w.weight_bytes = 500e3;
  CHECK(estimate(p, w, in_l2).memory == doctest::Approx(500e3 / 50e3));
  CHECK(estimate(p, w, in_dram).memory == doctest::Approx(500e3 / 10e3));
  w.weight_bytes = 0;
  w.activation_bytes = 20e3;
  CHECK(estimate(p, w, in_dram).memory == doctest::Approx(20e3 / 80e3));
  w.activation_bytes = 4e6;
  CHECK(estimate(p, w, in_dram).memory == doctest::Approx(4e6 / 20e3));
}

TEST_CASE("time is the larger of work and memory, and overhead") {
  const device_profile p = simple_machine();
  step_work w = shape_of("pointwise", 100, 1024, 1024);
  w.tiles = 8;
  w.largest_tile = 0.25;
  step_estimate e = estimate(p, w, in_l2);
  CHECK(e.overhead == doctest::Approx(0.5 + 8 * 0.25));
  CHECK(e.total() == doctest::Approx(e.compute + e.overhead));
  CHECK(e.largest_tile == doctest::Approx(0.25 * e.compute + 0.25));
  w.weight_bytes = 1e9;
  e = estimate(p, w, in_dram);
  CHECK(e.total() == doctest::Approx(e.memory + e.overhead));
  w.functions = 2000;
  CHECK(estimate(p, w, in_dram).compute == doctest::Approx(e.compute + 2).epsilon(0.01));
}

TEST_CASE("a kind without references borrows another's, or costs its memory alone") {
  const device_profile p = simple_machine();
  CHECK(estimate(p, shape_of("conv", 100, 1024, 1024), in_l2).compute > 0);
  CHECK(estimate(p, shape_of("softmax", 100, 1, 10), in_l2).compute == 0);
}

TEST_CASE("a profile survives JSON") {
  const device_profile p = simple_machine(), q = profile_from(profile_json(p).dump(), "p.json");
  CHECK(q.name == p.name);
  CHECK(q.peak_gflops == p.peak_gflops);
  REQUIRE(q.levels.size() == p.levels.size());
  CHECK(q.levels[1].copy == p.levels[1].copy);
  CHECK(q.hand_out_us == p.hand_out_us);
  REQUIRE(q.references.size() == p.references.size());
  const step_work w = shape_of("pointwise", 50, 300, 200);
  CHECK(estimate(q, w, in_l2).total() == doctest::Approx(estimate(p, w, in_l2).total()));
  CHECK(macs_per_us(q) == 40'000);
}

TEST_CASE("what is no profile is refused") {
  nlohmann::json damaged = profile_json(simple_machine());
  damaged["kernels"][0]["references"][0]["rows"] = 0;
  for (const std::string& text :
       {std::string("{}"), std::string("not json"), std::string("[1]"), std::string("{\"profile_version\": 2}"),
        std::string("{\"profile_version\": 1}"), damaged.dump()})
    CHECK_THROWS_AS(profile_from(text, "p.json"), error);
}

TEST_CASE("reference networks have a step of every kind that the estimate knows") {
  std::set<std::string> kinds;
  for (const reference_network& n : make_reference_networks()) {
    const model_file file = open_model(n.file, n.name);
    const nsk::variant_view v = file.view.variant();
    for (int i = 0; i < v.step_count(); ++i) {
      const step_work w = describe_work(v.step(i));
      CHECK(w.work() >= w.macs);
      CHECK(w.largest_tile > 0);
      CHECK(w.largest_tile <= 1);
      if (std::string(v.step(i).name()) != preparation_name) kinds.insert(w.kind);
    }
  }
  for (const char* const kind : {"conv", "pointwise", "winograd4", "winograd2", "depthwise", "gemv", "elementwise",
                                 "function", "pool", "reduce", "resize", "softmax", "copy", "shuffle"})
    CHECK_MESSAGE(kinds.count(kind) == 1, kind);
}

TEST_CASE("the overhead network is cut into the tiles that were asked for") {
  const reference_network n = make_overhead_network(3, 16);
  const model_file file = open_model(n.file, n.name);
  REQUIRE(file.view.variant().step_count() == 3);
  for (int i = 0; i < 3; ++i) CHECK(file.view.variant().step(i).tile_count() == 16);
}
