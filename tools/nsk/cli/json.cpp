// SPDX-License-Identifier: MIT
#include <cstdio>
#include <filesystem>

#include "cli/commands.hpp"
#include "io/files.hpp"
#include "io/model_file.hpp"
#include "cli/options.hpp"
#include "edit/parts.hpp"
#include "io/npy.hpp"
#include "report/text.hpp"

namespace nsk::tool {
namespace {

constexpr const char* version_key = "netsuke_format";
constexpr const char* weights_key = "weights";
constexpr const char* table_key = "table";

/// Parses JSON as nsk json writes it: shallow, with few keys in an object (looking for one takes as long as there are).
table_json parse(const std::vector<std::byte>& text, const std::string& path) {
  constexpr int deepest = 32;
  constexpr std::size_t most_keys = 256;
  std::vector<std::size_t> keys(deepest + 2, 0);  // of the object that is open, by depth
  const auto look = [&](int depth, table_json::parse_event_t event, const table_json&) {
    if (depth > deepest)
      refuse("'" + path + "' nests deeper than " + std::to_string(deepest) + ": it was not written by nsk json.");
    std::size_t& count = keys[static_cast<std::size_t>(depth)];
    if (event == table_json::parse_event_t::key && ++count > most_keys)
      refuse("'" + path + "' has an object of more than " + std::to_string(most_keys) +
             " keys: it was not written by nsk json.");
    if (event == table_json::parse_event_t::object_start) keys[static_cast<std::size_t>(depth) + 1] = 0;
    return true;
  };
  const auto* first = reinterpret_cast<const char*>(text.data());
  return table_json::parse(first, first + text.size(), look, false);
}

model_parts read_parts(const std::string& path) {
  const table_json json = parse(read_file(path, "JSON"), path);
  if (json.is_discarded()) refuse("'" + path + "' is not JSON. Check it with python3 -m json.tool.");
  if (!json.is_object() || json.count(version_key) == 0 || json.count(weights_key) == 0 || json.count(table_key) == 0 ||
      !json[weights_key].is_string())
    refuse("'" + path + "' lacks '" + std::string(version_key) + "', '" + weights_key + "' or '" + table_key +
           "': it was not written by nsk json.");
  if (json[version_key] != NSK_FORMAT_VERSION)
    refuse("'" + path + "' describes format version " +
           (json[version_key].is_number() ? json[version_key].dump() : "of no number") + ", this tool writes " +
           std::to_string(NSK_FORMAT_VERSION) + ".");
  const std::string name = json[weights_key].get<std::string>();
  if (name.find_first_of(std::string("/\\\0", 3)) != std::string::npos)
    refuse("'" + path + "' wants its weights from another folder; they must lie beside it, under a plain name.");
  const std::filesystem::path weights = std::filesystem::path(path).parent_path() / name;
  return {json[table_key], read_file(weights.string(), "weights")};
}

/// Applies the edits of the command line. Edits of the JSON were made before; both must give a model that opens.
std::vector<std::byte> edited(model_parts parts, const from_json_options& o) {
  std::vector<std::byte> bytes = put_together(parts);
  const model_file before = open_model(bytes, o.source);
  for (const auto& [name, path] : named_values("--replace", o.replacements, "NAME=FILE.npy"))
    replace_constant(parts, before.view, name, read_npy(path));
  if (!o.cut.empty()) cut(parts, o.cut);
  for (const auto& [from, to] : named_values("--rename", o.names, "OLD=NEW")) rename(parts, from, to);
  bytes = put_together(parts);
  open_model(bytes, o.source);
  return bytes;
}

}

exit_code to_json(const json_options& o) {
  const model_file file = open_model(o.model);
  const model_parts parts = take_apart(file.bytes.data());
  const std::filesystem::path weights = std::filesystem::path(o.output).replace_extension(".weights");
  if (weights == std::filesystem::path(o.output))
    misuse("-o: the weights are written beside the JSON as .weights; choose another name.");
  table_json json;
  json[version_key] = NSK_FORMAT_VERSION;
  json[weights_key] = weights.filename().string();
  json[table_key] = parts.table;
  write_file(weights.string(), parts.weights.data(), parts.weights.size());
  write_file(o.output, json.dump(1) + "\n");
  return exit_code::good;
}

exit_code from_json(const from_json_options& o) {
  const std::vector<std::byte> bytes = edited(read_parts(o.source), o);
  write_file(o.output, bytes.data(), bytes.size());
  if (!o.quiet) std::printf("%s: %s\n", o.output.c_str(), bytes_text(bytes.size()).c_str());
  return exit_code::good;
}

}
