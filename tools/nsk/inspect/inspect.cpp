// SPDX-License-Identifier: MIT
#include "inspect/inspect.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "io/layout.hpp"
#include "ops/step_facts.hpp"
#include "program/plan.hpp"

namespace nsk::tool {
namespace {
using nlohmann::json;

template <class T>
json list(span<const T> items) {
  json result = json::array();
  for (const T& item : items) result.push_back(item);
  return result;
}

const char* name_of_type(dtype t) { return name_of(element_of(t)); }
const char* name_of_storage(storage s) {
  constexpr const char* names[] = {"constant", "arena", "input", "output", "state"};
  return names[static_cast<std::size_t>(s)];
}

json port(const port_view& p) {
  json result = {
      {"name", p.name()}, {"type", name_of_type(p.type())}, {"shape", list(p.shape())}, {"bytes", p.bytes()}};
  result["source_shape"] = list(p.source_shape());
  result["source_axes"] = list(p.source_axes());
  if (!p.mean().empty()) result["mean"] = list(p.mean());
  if (!p.deviation().empty()) result["deviation"] = list(p.deviation());
  if (p.color()[0] != '\0') result["color"] = p.color();
  if (p.label_count() > 0) result["labels"] = json::array();
  for (int i = 0; i < p.label_count(); ++i) result["labels"].push_back(p.label(i));
  return result;
}

json describe_window(const step_view& s) {
  const std::optional<window> w = window_of(s);
  if (!w) return nullptr;
  return {{"kernel", {w->kernel_h, w->kernel_w}},
          {"stride", {w->stride_h, w->stride_w}},
          {"dilation", {w->dilation_h, w->dilation_w}}};
}

/// Whether a step runs where a choice takes its result: its output follows a length without a name that a step counts.
bool is_conditional(const variant_view& v, const step_view& s) {
  const impl::term_list terms = s.output().terms();
  for (int i = 0; i < terms.size(); ++i)
    for (const std::uint8_t l : terms[i].factors)
      if (l != impl::no_length && v.length(l).is_counted() && v.length(l).name()[0] == 0) return true;
  return false;
}

json step(const variant_view& v, const step_view& s) {
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
  json result = {{"index", s.index()}, {"name", s.name()}, {"operator", name_of(s.op())}, {"algorithm", variety_of(s)}};
  result["function"] = name_of(s.epilogue().fn);
  result["window"] = describe_window(s);
  result["groups"] = groups_of(s);
  result["residual"] = s.epilogue().residual >= 0;
  result["inputs"] = inputs;
  result["outputs"] = outputs;
  result["tile"] = {
      {"rows", tile.rows}, {"pixels", tile.pixels}, {"channels", tile.channels}, {"count", s.tile_count()}};
  result["conditional"] = is_conditional(v, s);
  result["macs"] = s.macs();
  result["bytes"] = bytes;
  result["weight_bytes"] = weight_bytes;
  result["scratch_bytes"] = s.scratch_bytes();
  const double tile_macs = static_cast<double>(s.macs()) * describe_work(s).largest_tile;
  result["longest_tile_macs"] = static_cast<std::uint64_t>(tile_macs + 0.5);
  result["longest_tile_us"] = tile_macs / (usual_macs_per_us * static_cast<double>(algorithm_gain(algorithm_of(s))));
  return result;
}

/// Arena blocks by address, each with its lifetime and the tensors that are in it.
json arena_map(const variant_view& v) {
  std::map<int, json> buffers;
  std::set<std::pair<int, std::string>> named;
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
    if (named.emplace(t.buffer(), t.name()).second) buffer["tensors"].push_back(t.name());
  }
  json result = json::array();
  for (auto& [index, buffer] : buffers) result.push_back(buffer);
  std::stable_sort(result.begin(), result.end(),
                   [](const json& a, const json& b) { return a["offset"] < b["offset"]; });
  return result;
}

/// What the converter noted in the metadata of a file: its limit for tiles, why each copy that changes nothing but the
/// layout is there (keys "transpose.0" and on), and which steps are bands of rows ("stream.0" and on), by variant;
/// several variants are named before the text.
struct converter_notes {
  double tile_limit_us = usual_tile_us;
  std::map<std::pair<std::string, std::string>, json> notes;  ///< by "transpose" or "stream", and variant

  explicit converter_notes(const model& m) {
    for (int i = 0; i < m.metadata_count(); ++i) {
      const std::string key = m.metadata_key(i), value = m.metadata_value(i);
      if (key == tile_limit_key) tile_limit_us = std::atof(value.c_str());
      const std::string about = key.substr(0, key.find('.'));
      if (key == about || (about != "transpose" && about != "stream")) continue;
      const std::string variant = m.variant_count() > 1 ? value.substr(0, value.find(": ")) : "";
      notes.emplace(std::pair(about, variant), json::array()).first->second.push_back(value);
    }
  }
  /// Returns the notes about a variant, once.
  json take(const std::string& about, const std::string& variant) {
    const auto found = notes.find({about, variant});
    if (found == notes.end()) return json::array();
    json taken = std::move(found->second);
    notes.erase(found);
    return taken;
  }
};

/// Where the longest tile is, how long it takes, and what the model was converted for.
json longest_tile(double limit, const json& steps, const device_profile* profile) {
  int longest = -1;
  double longest_us = -1;
  for (const json& s : steps) {
    const double us = s["longest_tile_us"];
    if (us <= longest_us) continue;
    longest_us = us;
    longest = s["index"];
  }
  json result = {{"step", longest}, {"macs", 0}, {"us", std::max(0.0, longest_us)}, {"limit_us", limit}};
  if (longest < 0) return result;
  const json& s = steps[static_cast<std::size_t>(longest)];
  result["macs"] = s["longest_tile_macs"];
  result["name"] = s["name"];
  result["operator"] = s["operator"];
  result["algorithm"] = s["algorithm"];
  result["measured_on"] = profile ? profile->name : "";
  return result;
}

/// Adds what the profile expects of every step, and the sum.
void add_estimates(json& result, const model& m, const variant_view& v, const device_profile& profile) {
  const std::vector<step_estimate> estimates = estimate(profile, m, v);
  double total = 0;
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    const step_estimate& e = estimates[i];
    json& step = result["steps"][i];
    step["expected"] = {
        {"us", e.total()}, {"compute_us", e.compute}, {"memory_us", e.memory}, {"overhead_us", e.overhead}};
    step["longest_tile_us"] = e.largest_tile;
    total += e.total();
  }
  result["expected"] = {{"ms", total * 1e-3}, {"device", profile.name}, {"isa", profile.isa}};
}

/// What a run of the first rows of a batch computes: its tiles, and the share of each step's work that its part of the
/// result is.
json work_of_rows(const variant_view& v, int rows) {
  std::uint64_t macs = 0;
  int tiles = 0;
  for (int i = 0; i < v.step_count(); ++i) {
    const step_view s = v.step(i);
    const tensor_view part = s.output().view(nullptr, &rows);
    double share = 1.0 / std::max(1.0, static_cast<double>(s.output().elements()));
    for (int d = 0; d < part.rank; ++d) share *= static_cast<double>(part.shape[d]);
    macs += static_cast<std::uint64_t>(std::llround(static_cast<double>(s.macs()) * share));
    tiles += s.tile_count(&rows);
  }
  return {{"rows", rows}, {"macs", macs}, {"tiles", tiles}};
}

json variant(const model& m, const variant_view& v, converter_notes& notes, const device_profile* profile) {
  json result = {{"name", v.name()}, {"profile", v.profile()}, {"inputs", json::array()}, {"outputs", json::array()}};
  for (int i = 0; i < v.input_count(); ++i) result["inputs"].push_back(port(v.input(i)));
  for (int i = 0; i < v.output_count(); ++i) result["outputs"].push_back(port(v.output(i)));
  result["states"] = json::array();
  for (int i = 0; i < v.state_count(); ++i) {
    const state_view s = v.state(i);
    result["states"].push_back({{"name", s.name()},
                                {"next", s.next().name()},
                                {"initial", s.has_initial() ? "constant" : "zeros"},
                                {"type", name_of_type(s.tensor().type())},
                                {"shape", list(s.tensor().shape())}});
  }
  result["batch"] = v.batch();
  for (int i = 0; i < v.length_count(); ++i)
    if (const length_view l = v.length(i); l.name()[0] != 0)
      result["lengths"].push_back({{"name", l.name()},
                                   {"minimum", l.minimum()},
                                   {"bound", l.bound()},
                                   {"step", l.step()},
                                   {"counted", l.is_counted()}});
  for (const int rows : {1, v.batch()})
    if (v.batch() > 1) result["batch_work"].push_back(work_of_rows(v, rows));
  result["arena"] = {{"shared_bytes", v.shared_bytes()},
                     {"lane_bytes", v.lane_bytes()},
                     {"bytes", v.required_bytes()},
                     {"map", arena_map(v)}};

  std::uint64_t macs = 0;
  result["steps"] = json::array();
  result["copies"] = json::array();
  for (int i = 0; i < v.step_count(); ++i) {
    const step_view s = v.step(i);
    result["steps"].push_back(step(v, s));
    macs += s.macs();
    if (s.op() == op::copy)
      result["copies"].push_back({{"step", i}, {"name", s.name()}, {"bytes", s.output().bytes()}});
  }
  if (profile) add_estimates(result, m, v, *profile);
  result["macs"] = macs;
  result["longest_tile"] = longest_tile(notes.tile_limit_us, result["steps"], profile);
  const std::string variant = m.variant_count() > 1 ? v.name() : "";
  result["transposes_left"] = notes.take("transpose", variant);
  result["streamed"] = notes.take("stream", variant);
  return result;
}

}

json inspect(const model& m, std::size_t file_bytes, const device_profile* profile) {
  json result = {{"name", m.name()},
                 {"producer", m.producer()},
                 {"format_version", NSK_FORMAT_VERSION},
                 {"file_bytes", file_bytes}};
  result["weight_bytes"] = m.weights().size();
  char signature[17];
  std::snprintf(signature, sizeof signature, "%016llx", static_cast<unsigned long long>(m.signature()));
  result["signature"] = signature;
  result["metadata"] = json::object();
  for (int i = 0; i < m.metadata_count(); ++i) result["metadata"][m.metadata_key(i)] = m.metadata_value(i);
  result["variants"] = json::array();
  converter_notes notes(m);
  for (int i = 0; i < m.variant_count(); ++i) result["variants"].push_back(variant(m, m.variant(i), notes, profile));
  return result;
}

}
