// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "engine/model_file.hpp"
#include "cli/progress.hpp"
#include "errors.hpp"
#include "resolve/infer.hpp"
#include "compile/compile.hpp"
#include "check/compare.hpp"
#include "draw/graph_layout.hpp"
#include "draw/graph_svg.hpp"
#include "draw/labels.hpp"
#include "draw/svg.hpp"
#include "io/text.hpp"
#include "tools/graph_builder.hpp"

using namespace nsk::tool;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

array noise(const shape_t& shape) {
  array a(element::f32, shape);
  for (std::int64_t i = 0; i < a.count(); ++i) a.as<float>()[i] = static_cast<float>(i * 37 % 101) * 0.01f - 0.5f;
  return a;
}

/// Edges of the plan of a graph, with the names of steps ("input" for inputs).
std::set<std::pair<std::string, std::string>> flow(graph g) {
  resolve(g, {});
  const model_file file = open_model(compile({{"default", g}}, {}), "test");
  const nsk::variant_view v = file.view.variant();
  std::set<std::pair<std::string, std::string>> result;
  for (const step_edge& e : flow_of(v))
    result.insert({e.from < 0 ? "input" : v.step(e.from).name(), v.step(e.to).name()});
  return result;
}

}

TEST_CASE("numbers for people") {
  CHECK(digits_text(0) == "0");
  CHECK(digits_text(999) == "999");
  CHECK(digits_text(6709696) == "6,709,696");
  CHECK(time_text(0.183) == "183 ns");
  CHECK(time_text(83.58) == "83.6 us");
  CHECK(time_text(253) == "253 us");
  CHECK(time_text(999.6) == "1.00 ms");
  CHECK(time_text(9184) == "9.18 ms");
  CHECK(time_text(123456) == "123 ms");
  CHECK(time_text(2.5e6) == "2.5 s");
  CHECK(shortened("abcdefghijklmno", 15) == "abcdefghijklmno");
  CHECK(shortened("abcdefghijklmnop", 11) == "abcd...mnop");
  CHECK(progress_text("checking", -1, 3.2) == "checking ... 3 s");
  CHECK(progress_text("measuring", 0.5, 3.2) == "measuring [" + std::string(15, '#') + std::string(15, '.') + "] 50 %");
  CHECK(progress_text("measuring", 7, 3.2).find("100 %") != std::string::npos);
}

TEST_CASE("a table's columns are aligned and its lines fit") {
  text_table table({">number", "word", "name"});
  table.add({"1", "a", std::string(300, 'x')});
  table.add({"12345", "bcd", "short"}, true);
  table.add_rule();
  table.add({"sum"});
  const std::vector<std::string> lines = lines_of(table.text());
  REQUIRE(lines.size() == 5);
  for (const std::string& line : lines) CHECK(line.size() <= 120);
  CHECK(lines[0] == "number  word  name");
  CHECK(lines[1].substr(0, 14) == "     1  a     ");
  CHECK(lines[1].size() == 120);
  CHECK(lines[2] == " 12345  bcd   short");
  CHECK(lines[3] == std::string(120, '-'));
  CHECK(table.text().find('\x1b') == std::string::npos);
  text_style colour;
  colour.colour = true;
  CHECK(table.text(colour).find("\x1b[1m 12345  bcd   short\x1b[0m\n") != std::string::npos);
}

TEST_CASE("steps have short names that stay apart") {
  const auto names = [](const std::vector<std::string>& given) {
    nlohmann::json steps = nlohmann::json::array();
    for (const std::string& name : given) steps.push_back({{"name", name}});
    return short_names(steps);
  };
  CHECK(names({"/net/body.0/Conv+/net/Relu", "/net/Resize", "/net/Add_1"}) ==
        std::vector<std::string>{"body.0", "Resize", "Add_1"});
  CHECK(names({"/layer1/layer1.0/conv1/Conv", "/layer2/layer2.1/conv1/Conv"}) ==
        std::vector<std::string>{"layer1.0/conv1", "layer2.1/conv1"});
  CHECK(names({"", "x"}) == std::vector<std::string>{"", "x"});
  CHECK(names({}).empty());
}

TEST_CASE("what a step does, in words") {
  nlohmann::json s = {
      {"operator", "Conv2D"}, {"algorithm", "winograd4"}, {"function", "clip"}, {"residual", true}, {"groups", 1}};
  s["window"] = {{"kernel", {3, 3}}, {"stride", {2, 2}}, {"dilation", {1, 1}}};
  CHECK(operation_text(s) == "conv 3x3 /2");
  CHECK(details_text(s) == "winograd4 clip +add");
  s["groups"] = 4;
  s["algorithm"] = "direct";
  CHECK(operation_text(s) == "conv 3x3 /2 in 4 groups");
  CHECK(details_text(s) == "clip +add");
  s["operator"] = "Pool2D";
  s["algorithm"] = "max";
  CHECK(operation_text(s) == "max pool 3x3 /2");
  s["window"] = nullptr;
  s["operator"] = "Resize2D";
  CHECK(operation_text(s) == "resize");
  s["operator"] = "PackPanels";
  CHECK(operation_text(s) == "pack panels");
  CHECK(size_text({1, 1, 56, 7}, "x") == "56x7");
  CHECK(size_text({1, 1}, "x") == "1");
}

TEST_CASE("names in images are text, whatever they contain") {
  CHECK(xml_text("a<b> & \"c\"\x01") == "a&lt;b&gt; &amp; &quot;c&quot; ");
  CHECK(shade(0, 1, 0.5) == "#ff0000");
  CHECK(shade(120, 1, 0.5) == "#00ff00");
  CHECK(shade(240, 0, 1) == "#ffffff");
  CHECK(axis_step(6.7e6, 6) == doctest::Approx(2e6));
  CHECK(axis_step(54, 16) == doctest::Approx(5));
}

TEST_CASE("a graph is laid out in layers, boxes apart, lines from box to box") {
  layout_request r;
  const int boxes = 60;
  for (int i = 0; i < boxes; ++i) {
    r.widths.push_back(80 + i % 7 * 15);
    if (i > 0) r.edges.push_back({i - 1, i});
    if (i >= 5 && i % 3 == 0) r.edges.push_back({i - 5, i});
  }
  r.edges.push_back({0, 40});
  const graph_layout g = lay_out(r);
  REQUIRE(g.boxes.size() == r.widths.size());
  for (const auto& [from, to] : r.edges)
    CHECK(g.layers[static_cast<std::size_t>(from)] < g.layers[static_cast<std::size_t>(to)]);
  for (std::size_t i = 0; i < g.boxes.size(); ++i) {
    CHECK(g.boxes[i].x - r.widths[i] / 2 >= -0.01);
    CHECK(g.boxes[i].x + r.widths[i] / 2 <= g.width + 0.01);
    CHECK(g.boxes[i].y + r.box_height <= g.height + 0.01);
    for (std::size_t k = 0; k < i; ++k) {
      const bool apart = std::fabs(g.boxes[i].x - g.boxes[k].x) >= (r.widths[i] + r.widths[k]) / 2 ||
                         std::fabs(g.boxes[i].y - g.boxes[k].y) >= r.box_height;
      CHECK(apart);
    }
  }
  CHECK(g.height / g.width > 0.7);
  CHECK(g.height / g.width < 2.8);
  CHECK_FALSE(g.bridges.empty());
  CHECK(lay_out({}).boxes.empty());
}

TEST_CASE("a graph with too many lines is not laid out") {
  layout_request all_to_all, long_way;
  const int boxes = 400;
  for (int i = 0; i < 2 * boxes; ++i) {
    all_to_all.widths.push_back(80);
    for (int k = 0; i >= boxes && k < boxes; ++k) all_to_all.edges.push_back({k, i});
    long_way.widths.push_back(80);
    if (i > 0) long_way.edges.push_back({i - 1, i});
    if (i > 0) long_way.edges.push_back({0, i});
  }
  CHECK_THROWS_WITH_AS(lay_out(all_to_all), doctest::Contains("too many to draw"), nsk::tool::error);
  CHECK_THROWS_WITH_AS(lay_out(long_way), doctest::Contains("too many to draw"), nsk::tool::error);
}

TEST_CASE("a chain without branches is straight") {
  layout_request r;
  for (int i = 0; i < 4; ++i) {
    r.widths.push_back(90 + 20 * i);
    if (i > 0) r.edges.push_back({i - 1, i});
  }
  const graph_layout g = lay_out(r);
  for (const point& box : g.boxes) CHECK(box.x == doctest::Approx(g.boxes[0].x).epsilon(0.01));
}

TEST_CASE("the flow between steps is found through concatenations and slices in place") {
  nsk::test::graph_builder b;
  const value_id x = b.input("x", {1, 16, 6, 6});
  const auto conv = [&](const std::string& name, value_id in, std::int64_t to) {
    const std::int64_t from = 16;
    const value_id y = b.node_of("Conv", {in, b.constant(name + ".w", noise({to, from, 1, 1}))}, name);
    b.g.nodes.back().name = name;
    return y;
  };
  const value_id first = conv("first", x, 16), left = conv("left", first, 32), right = conv("right", first, 16);
  const value_id both = b.node_of("Concat", {left, right}, "both", {{"axis", std::int64_t{1}}});
  const value_id starts = b.ints("starts", {32}), ends = b.ints("ends", {48}), axes = b.ints("axes", {1});
  const value_id part = b.node_of("Slice", {both, starts, ends, axes}, "part");
  b.output(conv("after_part", part, 8));
  const value_id whole = b.node_of("Conv", {both, b.constant("whole.w", noise({8, 48, 1, 1}))}, "whole");
  b.g.nodes.back().name = "whole";
  b.output(whole);
  const auto edges = flow(b.g);
  CHECK(edges.count({"input", "first"}) == 1);
  CHECK(edges.count({"first", "left"}) == 1);
  CHECK(edges.count({"first", "right"}) == 1);
  CHECK(edges.count({"left", "whole"}) == 1);
  CHECK(edges.count({"right", "whole"}) == 1);
  CHECK(edges.count({"right", "after_part"}) == 1);
  CHECK(edges.count({"left", "after_part"}) == 0);
  CHECK(edges.count({"first", "whole"}) == 0);
}

TEST_CASE("a variant that fails stands for all variants, whatever the others' errors are") {
  const auto report = [](double relative, double local) {
    comparison output;
    output.relative = relative;
    output.local = local;
    comparison_report r;
    r.outputs.push_back(output);
    r.steps.push_back(output);
    return r;
  };
  const double tolerance = 1e-4;
  const comparison_report good = report(1e-6, -1), better = report(1e-7, -1), amplified = report(1e-2, 1e-7),
                          wrong = report(2e-4, 2e-4);
  REQUIRE(amplified.within(tolerance));
  REQUIRE_FALSE(wrong.within(tolerance));
  CHECK(wrong.prevails_over(amplified, tolerance));
  CHECK_FALSE(amplified.prevails_over(wrong, tolerance));
  CHECK(amplified.prevails_over(good, tolerance));
  CHECK(good.prevails_over(better, tolerance));
  CHECK_FALSE(better.prevails_over(good, tolerance));
}

TEST_CASE("rounding explains small errors, and none that a wrong result may have") {
  const auto explains = [](double error, double rounding) {
    comparison_report r;
    r.outputs.emplace_back();
    r.outputs[0].relative = error;
    r.outputs[0].rounding = rounding;
    return r.explained_by_rounding(1e-4);
  };
  CHECK(explains(1e-5, -1));
  CHECK(explains(7e-4, 1e-4));
  CHECK_FALSE(explains(9e-4, 1e-4));
  CHECK_FALSE(explains(2e-4, -1));
  CHECK_FALSE(explains(2e-2, 1));
  CHECK_FALSE(explains(2e-2, std::numeric_limits<double>::infinity()));
  CHECK_FALSE(explains(std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()));
}
