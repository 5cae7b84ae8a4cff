// SPDX-License-Identifier: MIT
// A variant that ends at one of its tensors.
#include <algorithm>
#include <map>
#include "edit/parts.hpp"
#include "edit/table.hpp"
#include "errors.hpp"
#include "suggest.hpp"

namespace nsk::tool {
namespace {

constexpr std::uint64_t alignment = 64, pad = 64;

bool is_in(const table_json& object, const char* storage) {
  return object.count("storage") != 0 && object["storage"] == storage;
}

struct place {
  std::size_t tensor, step;
};

place find_producer(const table_json& variant, const std::string& name) {
  for (std::size_t i = 0; i < variant["steps"].size(); ++i)
    for (const table_json& output : variant["steps"][i]["outputs"])
      if (variant["tensors"][output.get<std::size_t>()]["name"] == name) return {output.get<std::size_t>(), i};
  std::vector<std::string> known;
  for (const table_json& step : variant["steps"])
    for (const table_json& output : step["outputs"])
      known.push_back(variant["tensors"][output.get<std::size_t>()]["name"]);
  refuse("no step computes a tensor named '" + name + "'; nsk json lists tensors and the steps that write them." +
         did_you_mean(name, known));
}

/// Appends a dense copy of a tensor as output 0: its buffer, tensor, step and port.
void add_output(table_json& variant, const place& at, const std::string& name) {
  const table_json source = variant["tensors"][at.tensor];
  std::uint64_t elements = 1;
  table_json strides = table_json::array(), shape = source["shape"];
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides.insert(strides.begin(), elements);
    elements *= shape[d].get<std::uint64_t>();
  }
  const std::map<std::string, std::uint64_t> sizes = {{"float16", 2}, {"int8", 1},  {"uint8", 1},  {"int16", 2},
                                                      {"int32", 4},   {"int64", 8}, {"boolean", 1}};
  const auto size = source.count("type") != 0 ? sizes.find(source["type"].get<std::string>()) : sizes.end();
  const std::uint64_t bytes = elements * (size == sizes.end() ? 4 : size->second);
  const std::uint64_t arena = number(variant, "arena_bytes"), step = at.step + 1;
  table_json tensor = {{"name", name}};
  if (source.count("type") != 0) tensor["type"] = source["type"];
  tensor["shape"] = shape;
  tensor["strides"] = strides;
  if (source.count("batch") != 0) tensor["batch"] = source["batch"];
  tensor["buffer"] = variant["buffers"].size();
  variant["buffers"].push_back({{"storage", "output"},
                                {"index", 0u},
                                {"offset", arena},
                                {"bytes", bytes},
                                {"first_step", step},
                                {"last_step", step + 1}});
  variant["arena_bytes"] = arena + (bytes + alignment - 1) / alignment * alignment + pad;
  variant["steps"].push_back({{"name", name},
                              {"op_type", "Copy"},
                              {"op", table_json::object()},
                              {"inputs", {at.tensor}},
                              {"outputs", {variant["tensors"].size()}},
                              {"tile", {{"rows", 0u}, {"pixels", 0u}, {"channels", 0u}, {"count", 1u}}}});
  variant["outputs"] =
      table_json::array({{{"name", name}, {"tensor", variant["tensors"].size()}, {"source_shape", shape}}});
  variant["tensors"].push_back(tensor);
}

void cut_variant(table_json& variant, const std::string& name) {
  if (variant.count("states") != 0 && !variant["states"].empty())
    refuse("a model with states cannot be cut: the steps that update them would go.");
  const place at = find_producer(variant, name);
  table_json& steps = variant["steps"];
  steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(at.step) + 1, steps.end());
  variant.erase("checks");
  // What was an output and is computed before the cut is a value like others now.
  for (table_json& b : variant["buffers"]) {
    if (is_in(b, "output")) {
      b["storage"] = "arena";
      b.erase("index");
    }
    if (is_in(b, "arena") && number(b, "last_step") > at.step + 1) b["last_step"] = at.step + 1;
    if (is_in(b, "arena") && number(b, "first_step") > at.step) b["first_step"] = at.step;
    if (!is_in(b, "arena") && number(b, "last_step") > at.step + 2) b["last_step"] = at.step + 2;
  }
  table_json& own = variant["buffers"][number(variant["tensors"][at.tensor], "buffer")];
  own["last_step"] = at.step + 1;
  add_output(variant, at, name);
  drop_unused(variant);
}

}

void cut(model_parts& parts, const std::string& name) {
  for (table_json& variant : parts.table["variants"]) cut_variant(variant, name);
}

}
