// SPDX-License-Identifier: MIT
#include <cstdio>
#include <filesystem>

#include "cli/commands.hpp"
#include "io/files.hpp"
#include "io/json_file.hpp"
#include "engine/model_file.hpp"
#include "cli/options.hpp"
#include "edit/parts.hpp"
#include "import/import.hpp"
#include "import/json/write.hpp"
#include "io/npy.hpp"
#include "io/system/paths.hpp"
#include "io/text.hpp"

namespace nsk::tool {
namespace {

constexpr const char* version_key = "netsuke_format";
constexpr const char* weights_key = "weights";
constexpr const char* table_key = "table";

model_parts read_parts(const std::string& path, command_files& files) {
  const table_json json = parse_json<table_json>(text_of(read_file(path, "JSON", table_limits.bytes)), path,
                                                 table_limits, "it was not written by nsk json.");
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
    refuse("'" + path + "' wants its weights from another folder; they must be beside it, under a plain name.");
  const std::string weights = utf8_of(path_of(path).parent_path() / path_of(name));
  files.add_input("the weights of the source", weights);
  return {json[table_key], read_file(weights, "weights", max_model_bytes)};
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

/// Returns the JSON of a file, which has no text for some names that hand-made files hold.
std::string json_of(const table_json& json, const std::string& path) {
  try {
    return json.dump(1) + "\n";
  } catch (const table_json::type_error&) {
    refuse("'" + path + "' has a name that is no UTF-8, which JSON has no text for: convert its source again.");
  }
}

bool is_converted(const std::vector<std::byte>& bytes) {
  constexpr std::string_view magic = "NSKMODEL";
  return text_of(bytes).substr(0, magic.size()) == magic;
}

/// Writes the graph of a source model.
exit_code graph_to_json(const json_options& o, command_files& files) {
  const graph g = import_model(o.model, {o.dequantize, parse_inputs(o.inputs, {}).shapes, {}, o.signature});
  for (const std::string& data : g.facts.files) files.add_input("external data of the source", data);
  for (const value& v : g.values)
    if (v.typed && v.type == element::string)
      refuse("'" + v.name +
             "' holds strings, which the JSON of a graph has not. Remove text processing from the model");
  const std::string folder = beside(o.output, ".constants"), name = utf8_of(path_of(folder).filename());
  const graph_text text = json_of_graph(g, name);
  if (!text.files.empty()) files.add_output_directory(folder);
  for (const graph_text::file& f : text.files) {
    const std::string path = utf8_of(path_of(folder) / path_of(f.name));
    files.add_output("a file of " + name, path);
    files.write(path, npy_bytes(path, f.values));
  }
  files.write(o.output, text.json);
  files.commit();
  for (const std::string& warning : g.facts.warnings)
    std::fprintf(stderr, "nsk: warning: %s.\n", printable(warning).c_str());
  return exit_code::good;
}

}

exit_code to_json(const json_options& o, command_files& files) {
  const std::vector<std::byte> bytes = read_file(o.model, "model", max_model_bytes);
  if (!is_converted(bytes)) return graph_to_json(o, files);
  if (o.dequantize || !o.inputs.empty() || !o.signature.empty())
    misuse("--dequantize, --input and --signature are for source models; '" + o.model + "' is converted already.");
  const model_file file = open_model(bytes, o.model);
  const model_parts parts = take_apart(file.bytes.data());
  const std::string weights = beside(o.output, ".weights");
  table_json json;
  json[version_key] = NSK_FORMAT_VERSION;
  json[weights_key] = utf8_of(path_of(weights).filename());
  json[table_key] = parts.table;
  files.write(weights, parts.weights.data(), parts.weights.size());
  files.write(o.output, json_of(json, o.model));
  files.commit();
  return exit_code::good;
}

exit_code from_json(const from_json_options& o, command_files& files) {
  const std::vector<std::byte> bytes = edited(read_parts(o.source, files), o);
  files.write(o.output, bytes.data(), bytes.size());
  files.commit();
  if (!o.quiet) std::printf("%s: %s\n", o.output.c_str(), bytes_text(bytes.size()).c_str());
  return exit_code::good;
}

}
