// SPDX-License-Identifier: MIT
// Traces: valid JSON whatever names and blocks are, order and nesting, and what happens when a block is full.
#include <doctest/doctest.h>
#include "../run/memory_policy.hpp"
#include <netsuke/log.hpp>
#include <nlohmann/json.hpp>
#include <random>

namespace {
using nlohmann::json;
using text_block = std::vector<char>;

/// Counts up: every moment is later than the one before.
struct counting_clock {
  static inline std::int64_t now = 0;
  std::int64_t operator()() const { return now += 500; }
};

std::string text_of(nsk::span<const char> text) { return std::string(text.data(), text.size()); }

std::vector<json> bars_of(const json& trace) {
  std::vector<json> bars;
  for (const json& e : trace["traceEvents"])
    if (e["ph"] == "X") bars.push_back(e);
  return bars;
}

nsk::trace_event bar(const char* name, std::int64_t begin, std::int64_t end, std::int32_t track = 0) {
  nsk::trace_event e;
  e.name = name;
  e.begin = begin;
  e.end = end;
  e.track = track;
  return e;
}

struct traced_settings : test::crowd_settings {
  using profiler = nsk::trace_profiler<counting_clock>;
};

TEST_CASE("trace: stages contain steps, steps contain lanes, in the order in which they ran") {
  test::plan_spec plan = test::make_memory_policy();
  for (test::step_spec& s : plan.steps) s.tile = {0, 2, 0};
  test::opened o(plan, 3);
  REQUIRE_MESSAGE(o.status, o.status.name() << " at " << o.status.where());
  nsk::session<traced_settings> net(o.model, o.memory.span());
  REQUIRE(net.status());
  net.run();  // not attached: writes nothing
  text_block block(1 << 16);
  nsk::trace_writer trace(block, "my \"game\"");
  for (int lane = 0; lane < 3; ++lane) trace.name_lane(lane);
  net.profiler().attach(trace, net.variant());
  test::ordered_jobs jobs;
  {
    nsk::trace_scope scope(trace, counting_clock(), nsk::trace_stage::input);
    for (float& x : net.input<float>("seen")) x = 1;
  }
  {
    nsk::trace_scope scope(trace, counting_clock(), nsk::trace_stage::inference);
    nsk::traced_jobs traced(jobs, net.profiler());
    net.run(traced, 3);
  }
  { nsk::trace_scope scope(trace, counting_clock(), nsk::trace_stage::output); }
  net.profiler().detach();
  net.run();
  const json all = json::parse(text_of(trace.finish()));
  CHECK(all["traceEvents"][0]["args"]["name"] == "my \"game\"");
  CHECK(all["otherData"]["dropped_events"] == 0);

  std::vector<json> stages, steps, lanes;
  for (const json& e : bars_of(all)) (e["tid"] == 0 ? stages : e["tid"] == 1 ? steps : lanes).push_back(e);
  REQUIRE(stages.size() == 3);
  const char* const names[] = {"input", "inference", "output"};
  for (std::size_t i = 0; i < 3; ++i) CHECK(stages[i]["name"] == names[i]);
  const auto inside = [](const json& inner, const json& outer) {
    return inner["ts"] >= outer["ts"] && inner["ts"].get<double>() + inner["dur"].get<double>() <=
                                             outer["ts"].get<double>() + outer["dur"].get<double>();
  };
  REQUIRE(steps.size() == static_cast<std::size_t>(net.step_count()));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    CHECK(inside(steps[i], stages[1]));
    CHECK(steps[i]["args"]["step"] == i);
    const nsk::step_view s = net.step_info(static_cast<int>(i));
    CHECK(steps[i]["name"] == s.name());
    CHECK(steps[i]["args"]["operator"] == nsk::name_of(s.op()));
    CHECK(steps[i]["args"]["macs"] == s.macs());
    if (i > 0)
      CHECK(steps[i]["ts"].get<double>() >= steps[i - 1]["ts"].get<double>() + steps[i - 1]["dur"].get<double>());
  }
  CHECK(lanes.size() == 3 * steps.size());
  for (const json& e : lanes) CHECK(inside(e, steps[e["args"]["step"].get<std::size_t>()]));
}

TEST_CASE("trace: names are escaped, whatever bytes they have") {
  text_block block(1 << 14);
  const std::pair<const char*, const char*> cases[] = {
      {"quote \" and \\ and /", "quote \" and \\ and /"},
      {"line\nfeed\ttab\x01\x1f\x7f", "line\nfeed\ttab\x01\x1f\x7f"},
      {"r\xc3\xa9seau \xe7\xb6\xb2 \xf0\x9f\x8e\xae", "r\xc3\xa9seau \xe7\xb6\xb2 \xf0\x9f\x8e\xae"},
      {"\xff|\xc3|\xc0\xaf|\xed\xa0\x80|\xf5\x80\x80\x80|\xe7\xb6",
       "\xef\xbf\xbd|\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd|"
       "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|"
       "\xef\xbf\xbd\xef\xbf\xbd"}};
  for (const auto& [name, shown] : cases) {
    nsk::trace_writer trace(block);
    trace.add(bar(name, 0, 1));
    CHECK(bars_of(json::parse(text_of(trace.finish())))[0]["name"] == shown);
  }
  std::mt19937 random(1);
  for (int n = 0; n < 2000; ++n) {  // random bytes; the parser refuses invalid UTF-8
    std::string name(random() % 300, ' ');
    for (char& c : name) c = static_cast<char>(random() % 255 + 1);
    nsk::trace_writer trace(block);
    nsk::trace_event e = bar(name.c_str(), 0, 1);
    e.category = e.operator_name = e.name;
    e.step = 1;
    trace.add(e);
    const json all = json::parse(text_of(trace.finish()));
    REQUIRE(bars_of(all).size() == 1);
  }
  const std::string longest(198, 'a');
  nsk::trace_writer trace(block);
  trace.add(bar((longest + "\xe7\xb6\xb2 tail").c_str(), 0, 1));
  CHECK(bars_of(json::parse(text_of(trace.finish())))[0]["name"] == longest);
}

TEST_CASE("trace: times are microseconds with three decimals") {
  text_block block(4096);
  nsk::trace_writer trace(block);
  trace.add(bar("a", 1234567, 1234568));
  trace.add(bar("b", 5, 4));
  trace.add(bar("c", -1500, 1'000'000'000'000'000'001));
  const std::string text = text_of(trace.finish());
  CHECK(text.find("\"ts\":1234.567,\"dur\":0.001,") != std::string::npos);
  CHECK(text.find("\"ts\":0.005,\"dur\":0.000,") != std::string::npos);
  CHECK(text.find("\"ts\":-1.500,\"dur\":1000000000000001.501") != std::string::npos);
}

TEST_CASE("trace: a full block keeps what came first and counts the rest; the text stays valid") {
  const std::string name(40, 'n');
  for (std::size_t size = 0; size < 1500; ++size) {
    text_block block(size + 1, '#');
    nsk::trace_writer trace({block.data(), size});
    for (int i = 0; i < 12; ++i) trace.add(bar(name.c_str(), i, i + 1));
    const std::uint64_t dropped = trace.dropped();
    const nsk::span<const char> text = trace.finish();
    REQUIRE(block[size] == '#');
    if (text.empty()) {
      REQUIRE(size < 200);
      REQUIRE(dropped == 12);
      continue;
    }
    const json all = json::parse(text_of(text));
    const std::vector<json> bars = bars_of(all);
    REQUIRE(all["otherData"]["dropped_events"] == dropped);
    REQUIRE(bars.size() + dropped == 12);
    for (std::size_t i = 0; i < bars.size(); ++i)
      REQUIRE(bars[i]["ts"].get<double>() == doctest::Approx(1e-3 * static_cast<double>(i)));
    trace.add(bar("late", 0, 1));
    REQUIRE(trace.dropped() == dropped + 1);
    REQUIRE(text_of(trace.finish()) == text_of(text));
    trace.restart();
    REQUIRE(trace.dropped() == 0);
    REQUIRE(json::parse(text_of(trace.finish())).contains("traceEvents"));
  }
}

/// Joins what it is given; remembers the largest piece.
struct joining_sink {
  std::string* all;
  std::size_t* largest;
  void operator()(nsk::span<const char> text) const {
    all->append(text.data(), text.size());
    if (text.size() > *largest) *largest = text.size();
  }
};

TEST_CASE("trace: with a sink nothing is left out, and pieces are no longer than the block") {
  for (const std::size_t size : {std::size_t{400}, std::size_t{4096}, std::size_t{100'000}}) {
    std::string all;
    std::size_t largest = 0;
    text_block block(size);
    nsk::trace_writer trace(block, joining_sink{&all, &largest});
    for (int i = 0; i < 500; ++i) trace.add(bar("event", i, i + 1));
    CHECK(trace.finish().empty());
    CHECK(trace.dropped() == 0);
    CHECK(largest <= size);
    CHECK(bars_of(json::parse(all)).size() == 500);
  }
  std::string all;
  std::size_t largest = 0;
  text_block block(nsk::trace_writer<>::max_event_bytes);
  nsk::trace_writer trace(block, joining_sink{&all, &largest});
  const std::string worst(300, '\x01');
  nsk::trace_event e = bar(worst.c_str(), -4'000'000'000'000'000'000, 4'000'000'000'000'000'000, 0x7fffffff);
  e.category = e.operator_name = e.name;
  e.step = 0x7fffffff;
  e.macs = e.bytes = ~std::uint64_t{0};
  for (int i = 0; i < 3; ++i) trace.add(e);
  (void)trace.finish();
  CHECK(trace.dropped() == 0);
  CHECK(bars_of(json::parse(all)).size() == 3);
}

}
