// SPDX-License-Identifier: MIT
#include "edit/parts.hpp"
#include <cstring>
#include <netsuke/format/file_header.hpp>
#include "errors.hpp"
#include "suggest.hpp"
#include "write/file.hpp"

namespace nsk::tool {

model_parts take_apart(const std::byte* file) {
  file_header h;
  std::memcpy(&h, file, sizeof h);
  const std::byte* weights = file + h.weights_offset;
  return {json_of_table(file + h.table_offset), {weights, weights + h.weights_bytes}};
}

std::vector<std::byte> put_together(const model_parts& parts) {
  return assemble_file(table_of_json(parts.table), parts.weights);
}

void embed_check(model_parts& parts, int variant, const check_vector& recorded) {
  const auto blocks = [](const std::vector<std::vector<std::byte>>& ports) {
    table_json list = table_json::array();
    for (const std::vector<std::byte>& bytes : ports) {
      table_json data = table_json::array();
      for (std::byte b : bytes) data.push_back(std::to_integer<unsigned>(b));
      list.push_back({{"data", data}});
    }
    return list;
  };
  table_json& v = parts.table["variants"][static_cast<std::size_t>(variant)];
  if (v.count("checks") == 0) v["checks"] = table_json::array();
  v["checks"].push_back({{"inputs", blocks(recorded.inputs)}, {"outputs", blocks(recorded.outputs)}});
}

void rename(model_parts& parts, const std::string& from, const std::string& to) {
  int found = 0;
  std::vector<std::string> known;
  for (table_json& variant : parts.table["variants"])
    for (const char* list : {"tensors", "steps", "inputs", "outputs", "states"}) {
      if (variant.count(list) == 0) continue;
      const bool unique = std::strcmp(list, "inputs") == 0 || std::strcmp(list, "outputs") == 0;
      for (table_json& item : variant[list]) {
        if (item.count("name") == 0) continue;
        known.push_back(item["name"]);
        if (unique && item["name"] == to)
          refuse("'" + from + "' cannot be renamed: there is a port named '" + to + "'.");
        if (item["name"] != from) continue;
        item["name"] = to;
        ++found;
      }
    }
  if (found == 0) refuse("there is nothing named '" + from + "'; nsk inspect lists names." + did_you_mean(from, known));
}

}
