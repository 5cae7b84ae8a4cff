// SPDX-License-Identifier: MIT
#include "report/inspect.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

namespace nsk::tool {
namespace {
using nlohmann::json;

template <class T>
json list(span<const T> items) {
  json result = json::array();
  for (const T& item : items) result.push_back(item);
  return result;
}

const char* name_of_type(dtype t) {
  switch (t) {
    case dtype::float32: return "float32";
    case dtype::float16: return "float16";
    case dtype::int8: return "int8";
    case dtype::uint8: return "uint8";
    case dtype::int16: return "int16";
    case dtype::int32: return "int32";
    case dtype::int64: return "int64";
    case dtype::boolean: return "bool";
  }
  return "?";
}
const char* name_of_storage(storage s) {
  constexpr const char* names[] = {"constant", "arena", "input", "output", "state"};
  return names[static_cast<std::size_t>(s)];
}

json port(const port_view& p) {
  json result = {{"name", p.name()}, {"type", name_of_type(p.type())}, {"shape", list(p.shape())}, {"bytes", p.bytes()}};
  result["source_shape"] = list(p.source_shape());
  result["source_axes"] = list(p.source_axes());
  return result;
}

std::string algorithm_of(const step_view& s) {
  if (s.op() == op::conv_2d) {
    constexpr const char* names[] = {"direct", "winograd4", "winograd2"};
    return names[static_cast<std::size_t>(s.algorithm())];
  }
  if (s.op() == op::pool_2d) return format::EnumNamePoolKind(s.pool_2d()->kind());
  if (s.op() == op::binary) return format::EnumNameBinaryKind(s.binary()->kind());
  if (s.op() == op::reduce) return format::EnumNameReduceKind(s.reduce()->kind());
  if (s.op() == op::compare) return format::EnumNameCompareKind(s.compare()->kind());
  if (s.op() == op::arithmetic) return format::EnumNameArithmeticKind(s.arithmetic()->kind());
  if (s.op() == op::arg_reduce) return format::EnumNameArgReduceKind(s.arg_reduce()->kind());
  return "";
}

/// MACs of the largest tile: its share of the output's elements.
std::uint64_t longest_tile(const step_view& s) {
  const tensor_info output = s.output();
  const tile_space space = tile_space_of(output.shape().data(), output.rank());
  const tile_grid grid = tile_grid_of(space, s.tile());
  std::int64_t longest = 0;
  for (std::int64_t i = 0; i < grid.count(); ++i) {
    const tile_range r = range_of_tile(space, s.tile(), grid, i);
    const std::int64_t pixels = std::int64_t{r.row_end - r.row_begin} * (r.pixel_end - r.pixel_begin);
    longest = std::max(longest, pixels * (r.channel_end - r.channel_begin));
  }
  const double share = static_cast<double>(longest) / static_cast<double>(std::max<std::int64_t>(1, output.elements()));
  return static_cast<std::uint64_t>(static_cast<double>(s.macs()) * share + 0.5);
}

json step(const step_view& s) {
  std::uint64_t bytes = 0, weight_bytes = 0;
  json inputs = json::array();
  for (int i = 0; i < s.input_count(); ++i) {
    const tensor_info t = s.input(i);
    (t.where() == storage::constant ? weight_bytes : bytes) += t.bytes();
    if (t.where() != storage::constant) inputs.push_back({{"name", t.name()}, {"shape", list(t.shape())}});
  }
  json outputs = json::array();
  for (int i = 0; i < s.output_count(); ++i) {
    bytes += s.output(i).bytes();
    outputs.push_back({{"name", s.output(i).name()}, {"shape", list(s.output(i).shape())}});
  }
  const tile_size tile = s.tile();
  json result = {{"index", s.index()}, {"name", s.name()}, {"operator", name_of(s.op())}, {"algorithm", algorithm_of(s)}};
  result["function"] = name_of(s.epilogue().fn);
  result["residual"] = s.epilogue().residual >= 0;
  result["inputs"] = inputs;
  result["outputs"] = outputs;
  result["tile"] = {{"rows", tile.rows}, {"pixels", tile.pixels}, {"channels", tile.channels}, {"count", s.tile_count()}};
  result["macs"] = s.macs();
  result["bytes"] = bytes;
  result["weight_bytes"] = weight_bytes;
  result["scratch_bytes"] = s.scratch_bytes();
  result["longest_tile_macs"] = longest_tile(s);
  return result;
}

/// Arena blocks by address, each with its lifetime and the tensors that lie in it.
json arena_map(const variant_view& v) {
  std::map<int, json> buffers;
  for (int i = 0; i < v.tensor_count(); ++i) {
    const tensor_info t = v.tensor(i);
    if (t.where() == storage::constant) continue;
    json& buffer = buffers[t.buffer()];
    if (buffer.is_null()) {
      buffer = {{"buffer", t.buffer()}, {"storage", name_of_storage(t.where())}, {"offset", t.buffer_offset()}};
      buffer["bytes"] = t.buffer_bytes();
      buffer["first_step"] = t.first_step();
      buffer["last_step"] = t.last_step();
      buffer["tensors"] = json::array();
    }
    json& names = buffer["tensors"];
    if (std::find(names.begin(), names.end(), json(t.name())) == names.end()) names.push_back(t.name());
  }
  json result = json::array();
  for (auto& [index, buffer] : buffers) result.push_back(buffer);
  std::stable_sort(result.begin(), result.end(), [](const json& a, const json& b) { return a["offset"] < b["offset"]; });
  return result;
}

/// Why each copy that changes nothing but the layout is there: the converter's words, under metadata keys "transpose.0" and on.
json transposes_left(const model& m) {
  const std::string prefix = "transpose.";
  json result = json::array();
  for (int i = 0; i < m.metadata_count(); ++i)
    if (std::string(m.metadata_key(i)).compare(0, prefix.size(), prefix) == 0) result.push_back(m.metadata_value(i));
  return result;
}

json variant(const model& m, const variant_view& v) {
  json result = {{"name", v.name()}, {"profile", v.profile()}, {"inputs", json::array()}, {"outputs", json::array()}};
  for (int i = 0; i < v.input_count(); ++i) result["inputs"].push_back(port(v.input(i)));
  for (int i = 0; i < v.output_count(); ++i) result["outputs"].push_back(port(v.output(i)));
  result["arena"] = {{"shared_bytes", v.shared_bytes()}, {"lane_bytes", v.lane_bytes()}, {"bytes", v.arena_bytes()}, {"map", arena_map(v)}};

  std::uint64_t macs = 0, longest = 0;
  int longest_step = -1;
  json steps = json::array(), copies = json::array();
  for (int i = 0; i < v.step_count(); ++i) {
    const step_view s = v.step(i);
    steps.push_back(step(s));
    macs += s.macs();
    if (longest_tile(s) > longest || longest_step < 0) {
      longest = longest_tile(s);
      longest_step = i;
    }
    if (s.op() == op::copy) copies.push_back({{"step", i}, {"name", s.name()}, {"bytes", s.output().bytes()}});
  }
  result["steps"] = steps;
  result["macs"] = macs;
  result["longest_tile"] = {{"step", longest_step}, {"macs", longest}};
  result["copies"] = copies;
  result["transposes_left"] = transposes_left(m);
  return result;
}

}

json inspect(const model& m, std::size_t file_bytes) {
  json result = {{"name", m.name()}, {"producer", m.producer()}, {"format_version", NSK_FORMAT_VERSION}, {"file_bytes", file_bytes}};
  result["weight_bytes"] = m.weights().size();
  char signature[17];
  std::snprintf(signature, sizeof signature, "%016llx", static_cast<unsigned long long>(m.signature()));
  result["signature"] = signature;
  result["metadata"] = json::object();
  for (int i = 0; i < m.metadata_count(); ++i) result["metadata"][m.metadata_key(i)] = m.metadata_value(i);
  result["variants"] = json::array();
  for (int i = 0; i < m.variant_count(); ++i) result["variants"].push_back(variant(m, m.variant(i)));
  return result;
}

std::string settings_source(const model& m) {
  bool ops[op_count] = {}, functions[function_count] = {}, winograd = false;
  functions[static_cast<int>(function::identity)] = true;
  for (int v = 0; v < m.variant_count(); ++v) {
    for (int i = 0; i < m.variant(v).step_count(); ++i) {
      const step_view s = m.variant(v).step(i);
      ops[static_cast<int>(s.op())] = true;
      functions[static_cast<int>(s.epilogue().fn)] = true;
      winograd = winograd || (s.op() == op::conv_2d && s.algorithm() != conv_algorithm::direct);
    }
  }
  constexpr const char* op_names[op_count] = {"none", "conv_2d", "depthwise_conv_2d", "fully_connected", "pack_panels", "mat_mul", "pool_2d",
                                              "unary", "binary", "copy", "fill", "resize_2d", "reduce", "softmax", "cast", "compare", "select",
                                              "arithmetic", "gather", "gather_elements", "arg_reduce", "top_k", "non_max_suppression",
                                              "layer_normalization", "local_response_normalization"};
  auto join = [](const char* scope, const bool* wanted, int count, auto&& name) {
    std::string text;
    for (int i = 0; i < count; ++i)
      if (wanted[i]) text += (text.empty() ? "" : ", ") + std::string(scope) + name(i);
    return text;
  };
  std::string identifier = *m.name() ? m.name() : "model";
  for (char& c : identifier)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  if (std::isdigit(static_cast<unsigned char>(identifier.front()))) identifier = "model_" + identifier;

  std::string text = "// Printed by `nsk inspect --settings`: what '" + std::string(m.name()) + "' needs, and no more.\n";
  text += "struct " + identifier + "_settings : nsk::default_settings {\n";
  text += "  using ops = nsk::op_list<" + join("nsk::op::", ops, op_count, [&](int i) { return op_names[i]; }) + ">;\n";
  text += "  using functions = nsk::function_list<" +
          join("nsk::function::", functions, function_count, [](int i) { return name_of(static_cast<function>(i)); }) + ">;\n";
  if (!winograd) text += "  static constexpr bool winograd = false;\n";
  text += "};\n";
  return text;
}

}
