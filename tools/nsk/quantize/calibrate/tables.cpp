// SPDX-License-Identifier: MIT
#include "quantize/calibrate/tables.hpp"

#include <cmath>
#include <type_traits>
#include <nlohmann/json.hpp>
#include <netsuke/format/file_header.hpp>

#include "errors.hpp"
#include "io/json_file.hpp"

namespace nsk::tool {
namespace {

using nlohmann::json;
/// 1 had other sums for products on more than two axes.
constexpr int calibration_version = 2;

/// What a hash is taken of: parts one behind the other, each with its length where that may differ.
class hashed_bytes {
 public:
  void add(const void* data, std::size_t bytes) { m_bytes.append(static_cast<const char*>(data), bytes); }
  void add(std::uint64_t number) { add(&number, sizeof number); }
  void add(const std::string& text) {
    add(static_cast<std::uint64_t>(text.size()));
    m_bytes += text;
  }
  void add(const array& a) {
    add(static_cast<std::uint64_t>(a.type));
    add(a.shape);
    add(content_hash({a.data.data(), a.data.size()}));
  }
  template <class T>
  void add(const std::vector<T>& items) {
    add(static_cast<std::uint64_t>(items.size()));
    if constexpr (std::is_arithmetic_v<T>)
      add(items.data(), items.size() * sizeof(T));
    else
      for (const T& item : items) add(item);
  }
  std::uint64_t hash() const {
    return content_hash({reinterpret_cast<const std::byte*>(m_bytes.data()), m_bytes.size()});
  }

 private:
  std::string m_bytes;
};

std::string hexadecimal(std::uint64_t n) {
  std::string text(16, '0');
  for (std::size_t i = 16; i-- > 0; n >>= 4) text[i] = "0123456789abcdef"[n & 15];
  return text;
}

std::uint64_t from_hexadecimal(const std::string& text) {
  std::uint64_t n = 0;
  for (const char c : text) {
    const std::size_t digit = std::string("0123456789abcdef").find(c);
    if (digit == std::string::npos || text.size() != 16) throw std::invalid_argument("a hash of other digits");
    n = n << 4 | digit;
  }
  return n;
}

void add_attribute(hashed_bytes& h, const attribute& a) {
  h.add(static_cast<std::uint64_t>(a.index()));
  std::visit(
      [&](const auto& content) {
        using type = std::decay_t<decltype(content)>;
        if constexpr (std::is_arithmetic_v<type>)
          h.add(&content, sizeof content);
        else if constexpr (std::is_same_v<type, std::shared_ptr<graph>>)
          h.add(content ? hash_of(*content) : std::uint64_t{0});
        else
          h.add(content);
      },
      a);
}

void require(bool good, const char* what) {
  if (!good) throw std::invalid_argument(what);
}

/// What calibration_json() wrote of one tensor. Throws where it contradicts itself.
tensor_statistics tensor_from(const json& j) {
  tensor_statistics t;
  std::vector<std::uint64_t> bins;
  for (const json& n : j.at("bins")) {
    require(n.is_number_unsigned(), "a bin that is no number of elements");
    bins.push_back(n.get<std::uint64_t>());
  }
  const auto first = j.at("first_bin");
  require(first.is_number_unsigned(), "no first bin");
  require(t.values.set(j.at("width").get<double>(), j.at("minimum").get<double>(), j.at("maximum").get<double>(),
                       first.get<std::size_t>(), bins),
          "a histogram that contradicts itself");
  t.channel_sums = j.at("channel_sums").get<std::vector<double>>();
  const json& per_channel = j.at("per_channel");
  require(per_channel.is_number_unsigned() && per_channel.get<std::uint64_t>() > 0, "no number of elements a channel");
  t.per_channel = per_channel.get<std::uint64_t>();
  for (const double sum : t.channel_sums) require(std::isfinite(sum), "a sum that is not finite");
  require(!t.channel_sums.empty() && t.per_channel <= t.values.count() &&
              t.per_channel * t.channel_sums.size() == t.values.count(),
          "channels that are not all elements");
  return t;
}

[[noreturn]] void refuse_choice(const std::string& path, const std::string& what) {
  refuse("--override: '" + path + "': " + what +
         ". Write {\"layers\": {NAME: \"int8\", \"fp16\" or \"float32\"}, \"ranges\": {NAME: [LOW, HIGH]}}, or {NAME: "
         "{\"algorithm\": \"direct\"}}; winograd2 and winograd4 are the others");
}

/// {"algorithm": "direct"}
conv_algorithm algorithm_of(const std::string& name, const json& choices, const std::string& path) {
  static const std::map<std::string, conv_algorithm> algorithms = {{"direct", conv_algorithm::direct},
                                                                   {"winograd2", conv_algorithm::winograd2},
                                                                   {"winograd4", conv_algorithm::winograd4}};
  const auto choice = choices.size() == 1 ? choices.find("algorithm") : choices.end();
  const auto found =
      choice != choices.end() && choice->is_string() ? algorithms.find(choice->get<std::string>()) : algorithms.end();
  if (found == algorithms.end())
    refuse_choice(path, "'" + shortened(name, 60) + "' has " + shortened(choices.dump(), 60));
  return found->second;
}

layer_format format_of(const std::string& name, const json& choice, const std::string& path) {
  for (const layer_format f : {layer_format::int8, layer_format::fp16, layer_format::float32})
    if (choice == name_of(f)) return f;
  refuse_choice(path, "layer '" + shortened(name, 60) + "' has no such format: " + shortened(choice.dump(), 60));
}

std::array<double, 2> range_of(const std::string& name, const json& choice, const std::string& path) {
  const bool is_pair = choice.is_array() && choice.size() == 2 && choice[0].is_number() && choice[1].is_number();
  const std::array<double, 2> range =
      is_pair ? std::array<double, 2>{choice[0].get<double>(), choice[1].get<double>()} : std::array<double, 2>{};
  const bool holds_zero = std::isfinite(range[0]) && std::isfinite(range[1]) && range[0] <= 0 && range[1] >= 0;
  if (!holds_zero || range[0] == range[1])
    refuse_choice(path,
                  "tensor '" + shortened(name, 60) + "' has no range with 0 in it: " + shortened(choice.dump(), 60));
  return range;
}

}

std::uint64_t hash_of(const graph& g) {
  hashed_bytes h;
  const auto add_value = [&](value_id id) {
    if (id == no_value) return h.add(std::uint64_t{0});
    const value& v = g.values[static_cast<std::size_t>(id)];
    h.add(v.name);
    h.add(static_cast<std::uint64_t>(v.type));
    h.add(v.shape);
    if (v.constant) h.add(*v.constant);
  };
  for (const node& n : g.nodes) {
    h.add(n.op);
    h.add(n.domain);
    h.add(n.name);
    h.add(static_cast<std::uint64_t>(n.version));
    for (const auto& [key, content] : n.attributes) {
      h.add(key);
      add_attribute(h, content);
    }
    for (const value_id v : n.inputs) add_value(v);
    for (const value_id v : n.outputs) add_value(v);
  }
  for (const value_id v : g.inputs) add_value(v);
  for (const value_id v : g.outputs) add_value(v);
  return h.hash();
}

std::string calibration_json(const calibration& c) {
  nlohmann::ordered_json j = {{"calibration_version", calibration_version},
                              {"model", hexadecimal(c.model)},
                              {"samples", c.samples},
                              {"tensors", json::array()}};
  for (const auto& [name, t] : c.tensors) {
    const std::vector<std::uint64_t>& all = t.values.bins();
    std::size_t first = 0, last = all.size();
    while (last > 0 && all[last - 1] == 0) --last;
    while (first < last && all[first] == 0) ++first;
    j["tensors"].push_back({{"name", name},
                            {"minimum", t.values.minimum()},
                            {"maximum", t.values.maximum()},
                            {"width", t.values.width()},
                            {"first_bin", first},
                            {"bins", std::vector<std::uint64_t>(all.begin() + static_cast<std::ptrdiff_t>(first),
                                                                all.begin() + static_cast<std::ptrdiff_t>(last))},
                            {"per_channel", t.per_channel},
                            {"channel_sums", t.channel_sums}});
  }
  return j.dump() + "\n";
}

calibration calibration_from(const std::string& text, const std::string& path) {
  const json j = parse_json<json>(text, path, table_limits, "it was not written by nsk quantize.");
  if (!j.is_object() || !j.contains("calibration_version"))
    refuse("--calibrate: '" + path + "' is no calibration. nsk quantize --save-calibration writes one.");
  if (j["calibration_version"] != calibration_version)
    refuse("--calibrate: '" + path + "' has another version than " + std::to_string(calibration_version) +
           ", which this nsk reads. Make it anew with --calibrate and --save-calibration.");
  try {
    calibration c;
    c.model = from_hexadecimal(j.at("model").get<std::string>());
    require(j.at("samples").is_number_unsigned() && j.at("samples") > 0, "no number of samples");
    c.samples = j.at("samples").get<std::size_t>();
    require(j.at("tensors").is_array(), "no list of tensors");
    for (const json& t : j.at("tensors"))
      require(c.tensors.emplace(t.at("name").get<std::string>(), tensor_from(t)).second,
              "a tensor that is there twice");
    return c;
  } catch (const std::exception& e) {
    refuse("--calibrate: '" + path + "' is damaged (" + e.what() +
           "). Make it anew with --calibrate and --save-calibration.");
  }
}

const char* name_of(layer_format f) {
  return f == layer_format::int8 ? "int8" : f == layer_format::fp16 ? "fp16" : "float32";
}

std::string overrides_json(const overrides& o) {
  json j = {{"layers", json::object()}, {"ranges", json::object()}};
  for (const auto& [name, format] : o.layers) j["layers"][name] = name_of(format);
  for (const auto& [name, range] : o.ranges) j["ranges"][name] = {range[0], range[1]};
  return j.dump(1) + "\n";
}

overrides overrides_from(std::string_view text, const std::string& path) {
  const json j = parse_json<json>(text, path, option_limits, "it chooses for more than a network has.");
  overrides o;
  if (!j.is_object()) refuse_choice(path, "it is no object");
  for (const auto& [part, choices] : j.items()) {
    if (!choices.is_object()) refuse_choice(path, "'" + shortened(part, 60) + "' has " + shortened(choices.dump(), 60));
    if (part != "layers" && part != "ranges") {
      o.algorithms[part] = algorithm_of(part, choices, path);
      continue;
    }
    for (const auto& [name, choice] : choices.items())
      if (part == "layers")
        o.layers[name] = format_of(name, choice, path);
      else
        o.ranges[name] = range_of(name, choice, path);
  }
  return o;
}

}
