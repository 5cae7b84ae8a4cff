// SPDX-License-Identifier: MIT
#include "import/onnx/import.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include "errors.hpp"
#include "graph/onnx_type.hpp"
#include "import/onnx/tensor.hpp"
#include "import/onnx/wire.hpp"
#include "resolve/infer.hpp"
#include "onnx_writer.hpp"

namespace {

using namespace nsk::tool;
namespace test = nsk::test;
namespace fs = std::filesystem;

graph import_bytes(const std::string& bytes, const fs::path& folder = ".") {
  return import_onnx(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size(), folder, "m.onnx");
}

/// The message that refusing `bytes` gives; empty when they are accepted.
std::string refusal(const std::string& bytes, const fs::path& folder = ".") {
  try {
    import_bytes(bytes, folder);
  } catch (const error& e) {
    CHECK(e.code == exit_code::refused);
    return e.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// y = x + w
std::string add_model(const std::string& initializer, int opset = 13) {
  return test::model(test::graph({test::node("Add", {"x", "w"}, {"y"})}, {initializer},
                                 {test::value_info("x", 1, {-1, 2})}, {test::value_info("y", 1, {})}),
                     opset);
}

/// Imports a model whose only initializer is `tensor` and returns its value.
array decoded(const std::string& tensor) {
  const graph g = import_bytes(
      test::model(test::graph({test::node("Identity", {"t"}, {"y"})}, {tensor}, {}, {test::value_info("y", 1, {})})));
  return *g.values.at(static_cast<std::size_t>(g.find("t"))).constant;
}

struct temporary_folder {
  fs::path path = fs::path(NSK_TEST_BINARY_DIR) / "import_test";
  temporary_folder() { fs::create_directories(path / "model"); }
  ~temporary_folder() { fs::remove_all(path); }
};

}

TEST_CASE("a model keeps its names, types, symbols and order") {
  const graph g = import_bytes(add_model(test::float_tensor("w", {2}, {1, 2})));
  REQUIRE(g.nodes.size() == 1);
  CHECK(g.producer == "writer 1.0");
  CHECK(g.nodes[0].op == "Add");
  CHECK(g.nodes[0].name == "Add_0");
  CHECK(g.nodes[0].version == 13);
  REQUIRE(g.inputs.size() == 1);
  const value& x = g.values[static_cast<std::size_t>(g.inputs[0])];
  CHECK(x.name == "x");
  CHECK(x.shape == shape_t{-1, 2});
  CHECK(x.symbols == std::vector<std::string>{"N", ""});
  CHECK(!x.is_static());
  const value& w = g.values[static_cast<std::size_t>(g.find("w"))];
  REQUIRE(static_cast<bool>(w.constant));
  CHECK(w.constant->number(1) == 2);
  CHECK(g.values[static_cast<std::size_t>(g.outputs.at(0))].name == "y");
}

TEST_CASE("every encoding of a tensor") {
  CHECK(decoded(test::typed_tensor<float>(1, {2}, 4, {1.5f, -2})).number(1) == -2);
  CHECK(decoded(test::typed_tensor<double>(11, {1}, 10, {1e300})).number(0) == 1e300);
  CHECK(decoded(test::typed_tensor<std::int64_t>(7, {2}, 7, {-5, 6})).integer(0) == -5);
  CHECK(decoded(test::typed_tensor<std::int64_t>(6, {1}, 5, {-7})).integer(0) == -7);
  CHECK(decoded(test::typed_tensor<std::int64_t>(3, {1}, 5, {-1})).type == element::i8);
  CHECK(decoded(test::typed_tensor<std::int64_t>(2, {1}, 5, {255})).integer(0) == 255);
  CHECK(decoded(test::typed_tensor<std::int64_t>(9, {2}, 5, {1, 0})).type == element::boolean);
  CHECK(decoded(test::typed_tensor<std::int64_t>(12, {1}, 11, {4000000000})).integer(0) == 4000000000);
  CHECK(decoded(test::tensor("t", 7, {}, std::string("\x02\0\0\0\0\0\0\0", 8))).integer(0) == 2);
  // 1.0 and -2.5 in binary16 and in bfloat16: raw, and as bits in int32_data.
  CHECK(decoded(test::tensor("t", 10, {2}, std::string("\x00\x3c\x00\xc1", 4))).number(1) == -2.5);
  CHECK(decoded(test::tensor("t", 16, {2}, std::string("\x80\x3f\x20\xc0", 4))).number(1) == -2.5);
  CHECK(decoded(test::typed_tensor<std::int64_t>(10, {1}, 5, {0x3c00})).number(0) == 1);
  CHECK(decoded(test::typed_tensor<std::int64_t>(10, {1}, 5, {0x0001})).number(0) == std::ldexp(1.0, -24));
  CHECK(decoded(test::typed_tensor<std::int64_t>(10, {1}, 5, {0x7c00})).number(0) == INFINITY);
  CHECK(decoded(test::typed_tensor<std::int64_t>(10, {1}, 5, {0x3c00})).type == element::f32);
  // Two 4-bit integers per byte, the first in the low half; the last byte is padded.
  const array narrow = decoded(test::tensor("t", 22, {3}, "\x8f\x07"));
  CHECK(narrow.type == element::i8);
  CHECK(narrow.integer(0) == -1);
  CHECK(narrow.integer(1) == -8);
  CHECK(narrow.integer(2) == 7);
  CHECK(decoded(test::tensor("t", 21, {2}, "\x8f")).integer(1) == 8);
  CHECK(decoded(test::tensor("t", 1, {0, 4}, "")).count() == 0);
}

TEST_CASE("tensors that contradict themselves are refused by name") {
  const auto message = [](const std::string& tensor) { return refusal(add_model(tensor)); };
  CHECK(contains(message(test::float_tensor("w", {3}, {1, 2})), "initializer 'w': shape [3] needs 12 bytes of FLOAT"));
  CHECK(contains(message(test::float_tensor("w", {-2}, {1, 2})), "negative dimension -2"));
  CHECK(contains(message(test::float_tensor("w", {1 << 30, 1 << 30}, {})), "larger than 2^40"));
  CHECK(contains(message(test::float_tensor("w", {std::int64_t{1} << 62, std::int64_t{1} << 62, 0}, {})),
                 "larger than 2^40"));
  CHECK(contains(message(test::float_tensor("w", {1 << 30, 1 << 30, 0}, {})), "larger than 2^40"));
  CHECK(contains(message(test::tensor("w", 14, {1}, "12345678")), "COMPLEX64"));
  CHECK(contains(message(test::tensor("w", 99, {1}, "a")), "element type 99"));
}

TEST_CASE("strings are positions among labels where an output is one of them, and refused where one is computed") {
  const auto model = [](const char* op, const std::vector<std::string>& texts) {
    return test::model(test::graph({test::node("Relu", {"x"}, {"y"}), test::node(op, {"w"}, {"label"})},
                                   {test::text_tensor("w", {2}, texts)}, {test::value_info("x", 1, {2})},
                                   {test::value_info("y", 1, {}), test::value_info("label", 8, {})}));
  };
  const auto refusal = [&](const char* op, const std::vector<std::string>& texts) -> std::string {
    graph g = import_bytes(model(op, texts));
    try {
      resolve(g, {});
    } catch (const error& e) {
      return e.what();
    }
    return "";
  };
  graph chosen = import_bytes(model("Relu", {"a", "b"})), labelled = import_bytes(model("Identity", {"b", "a"}));
  input_options options;
  options.outputs = {"y"};
  resolve(chosen, options);
  CHECK(chosen.nodes.size() == 1);
  CHECK(chosen.facts.ports.empty());
  resolve(labelled, {});
  CHECK(labelled.facts.ports.at("label").labels == std::vector<std::string>{"b", "a"});
  CHECK(labelled.values[static_cast<std::size_t>(labelled.find("label"))].type == element::i64);
  CHECK(contains(refusal("Relu", {"a", "b"}), "'w' holds strings"));
  CHECK(contains(refusal("Relu", {"a", "b"}), "--output-value"));
  CHECK(contains(refusal("Identity", {"a"}), "'w' holds strings"));
}

TEST_CASE("external data is read beside the model and nowhere else") {
  const temporary_folder temporary;
  const fs::path folder = temporary.path / "model";
  const float values[] = {0, 3, 4};
  std::ofstream(folder / "w.bin", std::ios::binary).write(reinterpret_cast<const char*>(values), sizeof values);
  fs::copy_file(folder / "w.bin", temporary.path / "outside.bin", fs::copy_options::overwrite_existing);
  const auto model = [](const std::vector<std::pair<std::string, std::string>>& entries) {
    return add_model(test::external_tensor("w", {2}, entries));
  };

  const graph g = import_bytes(model({{"location", "w.bin"}, {"offset", "4"}, {"length", "8"}}), folder);
  CHECK(g.values[static_cast<std::size_t>(g.find("w"))].constant->number(1) == 4);
  CHECK(contains(refusal(model({{"location", "../outside.bin"}}), folder), "outside the model's folder"));
  CHECK(contains(refusal(model({{"location", (temporary.path / "outside.bin").string()}}), folder),
                 "outside the model's folder"));
  fs::create_symlink(temporary.path / "outside.bin", folder / "link.bin");
  CHECK(contains(refusal(model({{"location", "link.bin"}}), folder), "outside the model's folder"));
  CHECK(contains(refusal(model({{"location", "none.bin"}}), folder), "'none.bin' is missing"));
  CHECK(contains(refusal(model({{"location", "w.bin"}, {"offset", "8"}}), folder), "truncated"));
  CHECK(contains(refusal(model({{"location", "w.bin"}, {"length", "12"}}), folder), "12 bytes, its shape needs 8"));
  CHECK(contains(refusal(model({{"location", "w.bin"}, {"offset", "-4"}}), folder), "bad offset"));
  CHECK(contains(refusal(model({}), folder), "without a location"));
}

TEST_CASE("an initializer that is also an input is a constant") {
  const graph g = import_bytes(test::model(
      test::graph({test::node("Add", {"x", "w"}, {"y"})}, {test::float_tensor("w", {1}, {1})},
                  {test::value_info("x", 1, {1}), test::value_info("w", 1, {1})}, {test::value_info("y", 1, {})})));
  CHECK(g.inputs.size() == 1);
}

TEST_CASE("nodes are put in topological order, cycles and broken names are refused") {
  const std::string x = test::value_info("x", 1, {1}), y = test::value_info("y", 1, {1});
  const graph g = import_bytes(
      test::model(test::graph({test::node("Exp", {"a"}, {"y"}), test::node("Log", {"x"}, {"a"})}, {}, {x}, {y})));
  CHECK(g.nodes[0].op == "Log");
  CHECK(g.nodes[1].op == "Exp");
  const auto message = [&](const std::vector<std::string>& nodes) {
    return refusal(test::model(test::graph(nodes, {}, {x}, {y})));
  };
  CHECK(contains(
      message({test::node("Add", {"x", "b"}, {"a"}), test::node("Exp", {"a"}, {"b"}), test::node("Exp", {"b"}, {"y"})}),
      "cycle"));
  CHECK(contains(message({test::node("Exp", {"x"}, {"y"}, {}, "n"), test::node("Log", {"x"}, {"y"})}),
                 "produces 'y', which exists already"));
  CHECK(contains(message({test::node("Exp", {"none"}, {"y"}, {}, "n")}),
                 "node 'n' (Exp) reads 'none', which nothing produces"));
}

TEST_CASE("an output that nothing produces is remembered, not read") {
  const graph g =
      import_bytes(test::model(test::graph({test::node("Exp", {"x"}, {"z"})}, {}, {test::value_info("x", 1, {1})},
                                           {test::value_info("y", 1, {1}), test::value_info("z", 1, {1})})));
  CHECK(g.missing_outputs == std::vector<std::string>{"y"});
  REQUIRE(g.outputs.size() == 1);
  CHECK(g.values[static_cast<std::size_t>(g.outputs[0])].name == "z");
}

TEST_CASE("nodes without a name, or with another's, get their own") {
  const graph g =
      import_bytes(test::model(test::graph({test::node("Exp", {"x"}, {"a"}, {}, "n"),
                                            test::node("Exp", {"a"}, {"b"}, {}, "n"), test::node("Exp", {"b"}, {"y"})},
                                           {}, {test::value_info("x", 1, {1})}, {test::value_info("y", 1, {1})})));
  CHECK(g.nodes[0].name == "n");
  CHECK(g.nodes[1].name == "n_1");
  CHECK(g.nodes[2].name == "Exp_2");
}

TEST_CASE("functions are inlined with their attributes; recursion is refused") {
  const std::string body =
      test::function("Soften", "my", {"a"}, {"b"},
                     {test::node("LeakyRelu", {"a"}, {"t"}, {test::reference_attribute("alpha", "slope")}),
                      test::node("Neg", {"t"}, {"b"})});
  const std::string graph_bytes =
      test::graph({test::node("Soften", {"x"}, {"m"}, {test::float_attribute("slope", 0.25f)}, "s", "my"),
                   test::node("Soften", {"m"}, {"y"}, {}, "s", "my")},
                  {}, {test::value_info("x", 1, {1})}, {test::value_info("y", 1, {1})});
  const graph g = import_bytes(test::model(graph_bytes, 13, {body}));
  REQUIRE(g.nodes.size() == 4);
  CHECK(g.nodes[0].number("alpha", 0) == 0.25f);
  CHECK(!g.nodes[2].has("alpha"));
  CHECK(g.nodes[3].version == 13);
  const std::string endless =
      test::function("Soften", "my", {"a"}, {"b"}, {test::node("Soften", {"a"}, {"b"}, {}, "", "my")});
  CHECK(contains(refusal(test::model(graph_bytes, 13, {endless})), "calls itself"));
}

TEST_CASE("subgraphs name what they read from around them") {
  const std::string branch = test::graph({test::node("Exp", {"x"}, {"e"})}, {}, {}, {test::value_info("e", 1, {1})});
  const graph g = import_bytes(test::model(test::graph(
      {test::node("If", {"c"}, {"y"},
                  {test::graph_attribute("then_branch", branch), test::graph_attribute("else_branch", branch)})},
      {}, {test::value_info("x", 1, {1}), test::value_info("c", 9, {})}, {test::value_info("y", 1, {1})})));
  const auto& sub = std::get<std::shared_ptr<graph>>(g.nodes[0].attributes.at("then_branch"));
  REQUIRE(sub->captures.size() == 1);
  CHECK(sub->values[static_cast<std::size_t>(sub->captures[0])].name == "x");
}

TEST_CASE("what is no model is named") {
  CHECK(contains(refusal(""), "it is empty"));
  CHECK(contains(refusal(std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16)), "it looks like a PNG image"));
  CHECK(contains(refusal("\x93NUMPY\x01"), "NumPy"));
  CHECK(contains(refusal("<html>"), "HTML"));
  CHECK(contains(refusal(add_model(test::float_tensor("w", {1}, {1}), 0)),
                 "opset 0 is older than the oldest supported (1)"));
  CHECK(contains(refusal(add_model(test::float_tensor("w", {1}, {1}), newest_onnx_opset + 1)),
                 "newer than the newest supported"));
  CHECK_THROWS_AS(import_onnx(fs::path("no/such/file.onnx")), error);
}

TEST_CASE("every truncation and random corruptions are imported or refused, never worse") {
  const std::string whole = add_model(test::float_tensor("w", {2}, {1, 2}));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    INFO("length " << length);
    CHECK_NOTHROW(refusal(whole.substr(0, length)));
  }
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = whole;
    for (int k = 0; k < 3; ++k) damaged[random() % damaged.size()] = static_cast<char>(random());
    CHECK_NOTHROW(refusal(damaged));
  }
}
