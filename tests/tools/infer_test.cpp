// SPDX-License-Identifier: MIT
#include "resolve/infer.hpp"

#include <doctest/doctest.h>

#include "errors.hpp"
#include "graph_builder.hpp"
#include "reference/evaluator.hpp"

namespace {

using namespace nsk::test;

const value& named(const graph& g, const std::string& name) {
  REQUIRE(g.find(name) != no_value);
  return g.values[static_cast<std::size_t>(g.find(name))];
}

std::string refusal(graph g, const input_options& options = {}, exit_code expected = exit_code::refused) {
  try {
    resolve(g, options);
  } catch (const error& e) {
    CHECK(e.code == expected);
    return e.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// reshape(x, concat(shape(x)[0:1], [-1])) as exporters write flattening.
graph flattening() {
  graph_builder b;
  const value_id x = b.input("x", {-1, 3, 4});
  const value_id shape = b.node_of("Shape", {x}, "shape");
  const value_id first = b.node_of("Gather", {shape, b.constant("zero", make_ints({}, {0}))}, "first");
  const value_id column = b.node_of("Unsqueeze", {first, b.ints("axes", {0})}, "column");
  const value_id target = b.node_of("Concat", {column, b.ints("rest", {-1})}, "target", {{"axis", std::int64_t{0}}});
  b.output(b.node_of("Reshape", {x, target}, "y"));
  return b.g;
}

}

TEST_CASE("shape arithmetic folds away once the input is bound") {
  graph g = flattening();
  resolve(g, {{{"x", {2, 3, 4}}}, {}});
  REQUIRE(g.nodes.size() == 1);
  CHECK(g.nodes[0].op == "Reshape");
  CHECK(named(g, "y").shape == shape_t{2, 12});
  CHECK(named(g, "y").typed);
  CHECK(named(g, "target").constant->integer(1) == -1);
  CHECK(g.values.size() == 3);  // x, target, y: the rest is gone
}

TEST_CASE("a dynamic dimension is refused with the option that binds it") {
  graph_builder b;
  b.output(b.node_of("Relu", {b.input("x", {3, -1, 4})}, "y"));
  const std::string message = refusal(b.g);
  CHECK(contains(message, "input 'x' has the shape [3,N,4]"));
  CHECK(contains(message, "'N' is dynamic"));
  CHECK(contains(message, "--input x=3x1x4"));
  b.g.values[0].known_rank = false;
  CHECK(contains(refusal(b.g), "--input x=1x3x224x224"));
}

TEST_CASE("one message names the options of all inputs that have no shape yet") {
  graph_builder b;
  const value_id x = b.input("x", {-1, -1}), y = b.input("y", {2, 3}), z = b.input("z", {2, -1});
  b.output(b.node_of("Sum", {x, y, z}, "sum"));
  CHECK(contains(refusal(b.g), "add --input x=1x1 --input z=2x1, with"));
  CHECK(contains(refusal(b.g, {{{"x", {1, 3}}}, {}}), "add --input z=2x1, with"));
}

TEST_CASE("a dynamic first axis is one row, with a note") {
  graph g = flattening();
  resolve(g, {});
  CHECK(named(g, "y").shape == shape_t{1, 12});
  REQUIRE(g.facts.notes.size() == 1);
  CHECK(contains(g.facts.notes[0], "input 'x' has the open shape [N,3,4] and is [1,3,4] here; --input x=Nx3x4"));
  graph bound = flattening();
  resolve(bound, {{{"x", {2, 3, 4}}}, {}});
  CHECK(bound.facts.notes.empty());
}

TEST_CASE("a symbol has one length in all inputs") {
  graph_builder b;
  const value_id x = b.input("x", {1, -1, 4}), y = b.input("y", {-1, 4});
  b.output(b.node_of("Sum", {x, y}, "sum"));
  graph one = b.g, three = b.g, other = b.g;
  resolve(one, {});
  CHECK(named(one, "x").shape == shape_t{1, 1, 4});
  resolve(three, {{{"y", {3, 4}}}, {}});
  CHECK(named(three, "x").shape == shape_t{1, 3, 4});
  other.values[static_cast<std::size_t>(x)].symbols[1] = "M";
  CHECK(contains(refusal(other), "'M' is dynamic"));
  graph rows = b.g;
  rows.values[static_cast<std::size_t>(x)].shape = {-1, 1, 4};
  rows.values[static_cast<std::size_t>(x)].symbols = {"M", "", ""};
  CHECK(contains(refusal(rows, {{{"y", {3, 4}}}, {}}), "'M' is dynamic"));
}

TEST_CASE("outputs that nothing produces are left out where others remain") {
  graph g = flattening();
  g.missing_outputs = {"version", "size"};
  graph chosen = g, wanted = g, none = g;
  resolve(g, {});
  CHECK(g.outputs.size() == 1);
  REQUIRE(g.facts.warnings.size() == 2);
  CHECK(contains(g.facts.warnings[0], "output 'version' is left out"));
  resolve(chosen, {{}, {}, {"y"}});
  CHECK(chosen.facts.warnings.empty());
  CHECK(contains(refusal(wanted, {{}, {}, {"size"}}), "'size', which the model lists as an output but nothing in it"));
  none.outputs.clear();
  CHECK(contains(refusal(none), "names 'version', 'size', which nothing produces"));
}

TEST_CASE("options that contradict the model are misuse") {
  CHECK(contains(refusal(flattening(), {{{"x", {2, 3}}}, {}}, exit_code::usage),
                 "[2,3] contradicts the model, whose input has shape [N,3,4]"));
  CHECK(contains(refusal(flattening(), {{{"z", {2}}}, {}}, exit_code::usage),
                 "--input names 'z', which is no input of the model. Its inputs: 'x'"));
  CHECK(contains(refusal(flattening(), {{}, {{"z", {"1", {1}}}}}, exit_code::usage), "--set names 'z'"));
}

TEST_CASE("constants fold through the reference, in the type of the model") {
  graph_builder b;
  const value_id x = b.input("x", {2});
  const value_id w = b.node_of("Mul", {b.floats("a", {2}, {0.1f, 3}), b.floats("b", {1}, {10})}, "w");
  b.output(b.node_of("Add", {x, w}, "y"));
  resolve(b.g, {});
  REQUIRE(b.g.nodes.size() == 1);
  const value& folded = named(b.g, "w");
  REQUIRE(static_cast<bool>(folded.constant));
  CHECK(folded.constant->type == element::f32);
  CHECK(folded.constant->as<float>()[1] == 30);
}

TEST_CASE("set inputs become constants and leave the list of inputs") {
  graph_builder b;
  const value_id x = b.input("x", {2}), rate = b.input("rate", {-1}, element::i64);
  const value_id cast = b.node_of("Cast", {rate}, "cast", {{"to", std::int64_t{1}}});
  b.output(b.node_of("Mul", {x, cast}, "y"));
  resolve(b.g, {{}, {{"rate", {"16000", {16000}}}}});
  CHECK(b.g.inputs.size() == 1);
  CHECK(named(b.g, "cast").constant->as<float>()[0] == 16000);
  CHECK(named(b.g, "cast").shape == shape_t{1});
}

TEST_CASE("an If with a known condition becomes its branch, names kept unique") {
  const auto branch = [](const std::string& op) {
    graph_builder b;
    const value_id x = b.capture("x");
    const value_id t = b.node_of(op, {x}, "t");
    b.output(b.node_of("Add", {t, b.floats("one", {1}, {1})}, "r"));
    return std::make_shared<graph>(b.g);
  };
  graph_builder b;
  const value_id x = b.input("x", {2}), c = b.input("c", {}, element::boolean);
  const std::map<std::string, attribute> branches{{"then_branch", branch("Exp")}, {"else_branch", branch("Log")}};
  const value_id first = b.node_of("If", {c}, "first", branches), second = b.node_of("If", {c}, "second", branches);
  b.output(b.node_of("Add", {first, second}, "y"));
  (void)x;
  for (const double condition : {0.0, 1.0}) {
    graph g = b.g;
    resolve(g, {{}, {{"c", {"", {condition}}}}});
    REQUIRE(g.nodes.size() == 5);
    CHECK(g.nodes[0].op == (condition != 0 ? "Exp" : "Log"));
    CHECK(g.nodes[0].name != g.nodes[2].name);
    CHECK(named(g, "first").shape == shape_t{2});
    std::map<std::string, int> names;
    for (const value& v : g.values) CHECK(++names[v.name] == 1);
    for (const value& v : g.values) CHECK((v.typed && v.is_static()));
  }
}

/// The values of a graph without constants, resolved and evaluated.
std::map<std::string, array> evaluated(graph g, const std::map<std::string, array>& inputs) {
  resolve(g, {});
  return evaluator(g).run(inputs);
}

TEST_CASE("an If whose condition is data computes both branches and takes one") {
  const auto branch = [](const std::string& op, bool passes) {
    graph_builder b;
    const value_id x = b.capture("x");
    b.output(b.node_of(op, {x}, "t"));
    b.output(passes ? x : b.node_of("Neg", {x}, "u"));
    return std::make_shared<graph>(b.g);
  };
  for (const shape_t& shape : {shape_t{}, shape_t{1}}) {
    graph_builder b;
    const value_id x = b.input("x", {3}), c = b.input("c", shape, element::boolean);
    const std::vector<value_id> results = b.nodes(
        "If", {c}, {"first", "second"}, {{"then_branch", branch("Relu", true)}, {"else_branch", branch("Abs", false)}});
    for (const value_id v : results) b.output(v);
    (void)x;
    for (const bool condition : {false, true}) {
      array taken(element::boolean, shape);
      taken.set_integer(0, condition);
      const auto y = evaluated(b.g, {{"x", make_floats({3}, {-1, 0, 2})}, {"c", taken}});
      CHECK(y.at("first").shape == shape_t{3});
      CHECK(y.at("first").number(0) == (condition ? 0 : 1));
      CHECK(y.at("second").number(0) == (condition ? -1 : 1));
      CHECK(y.at("second").number(2) == (condition ? 2 : -2));
    }
  }
}

TEST_CASE("an If whose branches differ in shape needs a known condition") {
  const auto branch = [](const std::string& op, std::map<std::string, attribute> attributes) {
    graph_builder b;
    b.output(b.node_of(op, {b.capture("x")}, "t", std::move(attributes)));
    return std::make_shared<graph>(b.g);
  };
  graph_builder b;
  b.input("x", {1, 3});
  b.output(b.node_of("If", {b.input("c", {}, element::boolean)}, "y",
                     {{"then_branch", branch("Relu", {})}, {"else_branch", branch("Squeeze", {})}}));
  CHECK(contains(refusal(b.g), "different shapes"));
}

/// x -> x * 2 + i, and x * x collected, `trips` times.
graph loop_of(std::int64_t trips, bool condition_is_data = false) {
  graph_builder body;
  const value_id i = body.input("i", {}, element::i64), c = body.input("c", {}, element::boolean),
                 x = body.input("x", {2});
  const value_id same = body.node_of("Identity", {c}, "c_out");
  const value_id number = body.node_of("Cast", {i}, "number", {{"to", std::int64_t{1}}});
  const value_id doubled = body.node_of("Add", {x, x}, "doubled");
  const value_id next = body.node_of("Add", {doubled, number}, "next");
  body.output(same);
  body.output(next);
  body.output(body.node_of("Mul", {x, x}, "square"));
  graph_builder b;
  const value_id start = b.input("start", {2});
  const value_id count = b.constant("count", make_ints({}, {trips}));
  const value_id goes = condition_is_data ? b.input("goes", {}, element::boolean) : no_value;
  for (const value_id v :
       b.nodes("Loop", {count, goes, start}, {"last", "squares"}, {{"body", std::make_shared<graph>(body.g)}}))
    b.output(v);
  return b.g;
}

TEST_CASE("a Loop with a known number of iterations is unrolled") {
  const auto y = evaluated(loop_of(3), {{"start", make_floats({2}, {1, -1})}});
  CHECK(y.at("last").number(0) == 12);  // 1 -> 2 -> 5 -> 12
  CHECK(y.at("last").number(1) == -4);  // -1 -> -2 -> -3 -> -4
  REQUIRE(y.at("squares").shape == shape_t{3, 2});
  CHECK(y.at("squares").number(4) == 25);
  CHECK(contains(refusal(loop_of(3, true)), "data ends it"));
  CHECK(contains(refusal(loop_of(5000)), "4096 iterations"));
  CHECK(contains(refusal(loop_of(0)), "no iteration"));
}

TEST_CASE("a Scan is unrolled along any axis, in both directions") {
  graph_builder body;
  const value_id sum = body.input("sum", {2}), x = body.input("x", {2});
  const value_id next = body.node_of("Add", {sum, x}, "next");
  body.output(next);
  body.output(body.node_of("Identity", {next}, "so_far"));
  for (const std::int64_t backwards : {0, 1}) {
    graph_builder b;
    const value_id start = b.input("start", {2}), line = b.input("line", {2, 3});
    for (const value_id v : b.nodes("Scan", {start, line}, {"total", "sums"},
                                    {{"body", std::make_shared<graph>(body.g)},
                                     {"num_scan_inputs", std::int64_t{1}},
                                     {"scan_input_axes", std::vector<std::int64_t>{1}},
                                     {"scan_input_directions", std::vector<std::int64_t>{backwards}},
                                     {"scan_output_directions", std::vector<std::int64_t>{backwards}},
                                     {"scan_output_axes", std::vector<std::int64_t>{1}}}))
      b.output(v);
    const auto y =
        evaluated(b.g, {{"start", make_floats({2}, {10, 20})}, {"line", make_floats({2, 3}, {1, 2, 4, -1, -2, -4})}});
    CHECK(y.at("total").number(0) == 17);
    CHECK(y.at("total").number(1) == 13);
    REQUIRE(y.at("sums").shape == shape_t{2, 3});
    CHECK(y.at("sums").number(0) == (backwards ? 17 : 11));
    CHECK(y.at("sums").number(1) == (backwards ? 16 : 13));
    CHECK(y.at("sums").number(2) == (backwards ? 14 : 17));
  }
}

TEST_CASE("a branch may return what it captures") {
  graph_builder branch;
  branch.output(branch.capture("x"));
  const auto shared = std::make_shared<graph>(branch.g);
  graph_builder b;
  b.input("x", {2});
  b.output(b.node_of("If",
                     {b.constant("c",
                                 [] {
                                   array a(element::boolean, {});
                                   a.set(0, 1);
                                   return a;
                                 }())},
                     "y", {{"then_branch", shared}, {"else_branch", shared}}));
  resolve(b.g, {});
  REQUIRE(b.g.nodes.size() == 1);
  CHECK(b.g.nodes[0].op == "Identity");
}

TEST_CASE("dead nodes vanish, even unknown ones; live unknown ones are refused whole") {
  graph_builder b;
  const value_id x = b.input("x", {1, 3});
  b.node_of("FancyNewOp", {x}, "unused");
  b.output(b.node_of("Relu", {x}, "y"));
  graph g = b.g;
  resolve(g, {});
  CHECK(g.nodes.size() == 1);
  CHECK(g.find("unused") == no_value);
  b.output(b.g.find("unused"));
  const std::string message = refusal(b.g);
  CHECK(contains(message, "node 'FancyNewOp_0' (FancyNewOp, opset 13, input [1,3] float32)"));
  CHECK(contains(message, "not supported"));
}

TEST_CASE("shapes that depend on data are refused") {
  graph_builder b;
  const value_id x = b.input("x", {4}), s = b.input("s", {2}, element::i64);
  b.output(b.node_of("Reshape", {x, s}, "y"));
  CHECK(contains(refusal(b.g), "depends on the values of input 1 ('s')"));
  graph_builder c;
  c.output(c.node_of("Tile", {c.input("x", {4}), c.input("r", {1}, element::i64)}, "y"));
  CHECK(contains(refusal(c.g), "depends on the values of input 1 ('r')"));
}

TEST_CASE("endless constants are refused before they are made") {
  graph_builder b;
  const value_id big = b.node_of("ConstantOfShape", {b.ints("s", {1 << 20, 1 << 15})}, "big");
  b.output(b.node_of("Add", {b.input("x", {1}), big}, "y"));
  CHECK(contains(refusal(b.g), "may make 16777232"));  // 2^24, and 8 for each of the two elements that it holds
  graph_builder c;
  c.output(c.node_of("ConstantOfShape", {c.ints("s", {std::int64_t{1} << 40, std::int64_t{1} << 40})}, "y"));
  CHECK(contains(refusal(c.g), "larger than 2^40"));
}

TEST_CASE("what folding makes and computes is limited in all, by what the model holds") {
  const auto chain = [](int length, const std::vector<std::int64_t>& shape) {
    graph_builder b;
    value_id v = b.node_of("ConstantOfShape", {b.ints("s", shape)}, "k0");
    for (int i = 1; i <= length; ++i) v = b.node_of("Neg", {v}, "k" + std::to_string(i));
    b.output(b.node_of("Add", {b.input("x", {1}), v}, "y"));
    return b;
  };
  CHECK(refusal(chain(3, {1 << 20}).g).empty());
  CHECK(contains(refusal(chain(40, {1 << 20}).g), "computed at conversion"));
  graph_builder b;
  const value_id square = b.node_of("ConstantOfShape", {b.ints("s", {1200, 1200})}, "a");
  b.output(b.node_of("Add", {b.input("x", {1}), b.node_of("MatMul", {square, square}, "m")}, "y"));
  CHECK(contains(refusal(b.g), "multiply-adds"));
}

TEST_CASE("tensors have at most 64 dimensions on the way") {
  graph_builder b;
  b.output(b.node_of("Reshape", {b.input("x", {1}), b.ints("s", std::vector<std::int64_t>(65, 1))}, "y"));
  CHECK(contains(refusal(b.g), "65 dimensions"));
}

TEST_CASE("operators get the operands that they take, or say which they got") {
  graph_builder b;
  const value_id x = b.input("x", {1, 3, 8, 8});
  b.output(b.node_of("Conv", {x, b.floats("w", {4, 2, 1, 1}, std::vector<float>(8, 1))}, "y"));
  const std::string message = refusal(b.g);
  CHECK(contains(message, "node 'Conv_0' (Conv, opset 13, input [1,3,8,8] float32, [4,2,1,1] float32)"));
  CHECK(contains(message, "the weights are for 2 input channels, the input has 3"));
  graph_builder c;
  c.output(c.node_of("Add", {c.input("a", {2, 3}), c.input("b", {4})}, "y"));
  CHECK(contains(refusal(c.g), "[2,3] and [4] cannot be broadcast"));
  graph_builder d;
  d.output(d.node_of("Gelu", {d.input("a", {2})}, "y"));
  CHECK(contains(refusal(d.g), "Gelu, opset 13"));  // came with opset 20
}

TEST_CASE("a node with more outputs than its operator gives is refused") {
  graph_builder b;
  const value_id x = b.input("x", {2, 3});
  b.output(b.nodes("Mean", {x, x}, {"unused", "y"})[1]);
  CHECK(contains(refusal(b.g), "it has 2 outputs, more than the operator gives"));
}
