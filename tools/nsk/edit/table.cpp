// SPDX-License-Identifier: MIT
#include "edit/table.hpp"

namespace nsk::tool {
namespace {

/// Calls f(index) for every reference to a tensor.
template <class F>
void for_each_reference(table_json& variant, F&& f) {
  const auto each = [&](const char* list, const auto& g) {
    if (variant.count(list) != 0)
      for (table_json& item : variant[list]) g(item);
  };
  const auto field = [&](table_json& item, const char* name) {
    if (item.count(name) == 0) item[name] = 0u;
    f(item[name]);
  };
  each("steps", [&](table_json& step) {
    for (const char* list : {"inputs", "outputs"})
      if (step.count(list) != 0)
        for (table_json& index : step[list]) f(index);
  });
  for (const char* list : {"inputs", "outputs"}) each(list, [&](table_json& port) { field(port, "tensor"); });
  each("states", [&](table_json& state) {
    field(state, "tensor");
    field(state, "next");
    if (state.count("initial") != 0 && state["initial"].get<std::int64_t>() >= 0) f(state["initial"]);
  });
}

}

std::uint64_t number(const table_json& object, const char* field) {
  return object.count(field) != 0 ? object[field].get<std::uint64_t>() : 0;
}

std::vector<std::size_t> keep(table_json& list, const std::vector<bool>& used) {
  table_json kept = table_json::array();
  std::vector<std::size_t> number(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    number[i] = kept.size();
    if (used[i]) kept.push_back(list[i]);
  }
  list = kept;
  return number;
}

void drop_unused(table_json& variant) {
  std::vector<bool> tensors(variant["tensors"].size()), buffers(variant["buffers"].size());
  for_each_reference(variant, [&](table_json& index) { tensors[index.get<std::size_t>()] = true; });
  const std::vector<std::size_t> tensor_number = keep(variant["tensors"], tensors);
  for_each_reference(variant, [&](table_json& index) { index = tensor_number[index.get<std::size_t>()]; });
  for (const table_json& t : variant["tensors"]) buffers[number(t, "buffer")] = true;
  const std::vector<std::size_t> buffer_number = keep(variant["buffers"], buffers);
  for (table_json& t : variant["tensors"]) t["buffer"] = buffer_number[number(t, "buffer")];
}

}
