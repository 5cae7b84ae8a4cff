// SPDX-License-Identifier: MIT
#include "profile/profile.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include <netsuke/version.hpp>

#include "errors.hpp"
#include "io/files.hpp"
#include "io/json_file.hpp"

namespace nsk::tool {
namespace {
using nlohmann::json;
constexpr int profile_version = 1;

json level_json(const memory_level& l) {
  return {{"level", l.name}, {"bytes", l.bytes}, {"read_gb_s", l.read}, {"copy_gb_s", l.copy}};
}

json reference_json(const device_profile& p, const reference_step& r) {
  json result = {{"name", r.name}, {"rows", r.shape.rows}, {"depth", r.shape.depth}, {"columns", r.shape.columns}};
  result["macs"] = r.shape.macs;
  result["activation_bytes"] = r.shape.activation_bytes;
  result["us"] = r.us;
  result["work_per_us"] = r.rate;
  result["efficiency"] = r.us > 0 && p.peak_gflops > 0 ? 2e-3 * r.shape.macs / r.us / p.peak_gflops : 0;
  return result;
}

reference_step reference_from(const std::string& kind, const json& j) {
  reference_step r;
  r.name = j.at("name");
  r.shape.kind = kind;
  r.shape.rows = j.at("rows");
  r.shape.depth = j.at("depth");
  r.shape.columns = j.at("columns");
  r.shape.macs = j.at("macs");
  r.shape.activation_bytes = j.at("activation_bytes");
  r.us = j.at("us");
  r.rate = j.at("work_per_us");
  const bool sensible = r.shape.rows > 0 && r.shape.depth > 0 && r.shape.columns > 0;
  if (!sensible) throw std::invalid_argument("reference '" + r.name + "' has a shape of nothing");
  return r;
}

device_profile read_profile(const json& j) {
  device_profile p;
  p.name = j.at("name");
  p.isa = j.at("isa");
  p.peak_gflops = j.at("fma_peak_gflops");
  for (const json& l : j.at("memory"))
    p.levels.push_back({l.at("level"), l.at("bytes"), l.at("read_gb_s"), l.at("copy_gb_s")});
  const json& overhead = j.at("overhead");
  p.step_us = overhead.at("step_us");
  p.tile_us = overhead.at("tile_us");
  p.hand_out_us = overhead.at("hand_out_us");
  for (const json& kernel : j.at("kernels"))
    for (const json& r : kernel.at("references")) p.references.push_back(reference_from(kernel.at("kind"), r));
  return p;
}

}

json profile_json(const device_profile& p) {
  json result = {
      {"profile_version", profile_version}, {"name", p.name}, {"isa", p.isa}, {"made_by", "nsk " NSK_VERSION_STRING}};
  result["fma_peak_gflops"] = p.peak_gflops;
  result["memory"] = json::array();
  for (const memory_level& l : p.levels) result["memory"].push_back(level_json(l));
  result["overhead"] = {{"step_us", p.step_us}, {"tile_us", p.tile_us}, {"hand_out_us", p.hand_out_us}};
  std::map<std::string, json> kinds;
  std::map<std::string, std::pair<double, double>> totals;  // macs, us
  for (const reference_step& r : p.references) {
    kinds[r.shape.kind].push_back(reference_json(p, r));
    totals[r.shape.kind].first += r.shape.macs;
    totals[r.shape.kind].second += r.us;
  }
  result["kernels"] = json::array();
  for (const auto& [kind, references] : kinds) {
    const auto [macs, us] = totals[kind];
    const double efficiency = us > 0 && p.peak_gflops > 0 ? 2e-3 * macs / us / p.peak_gflops : 0;
    result["kernels"].push_back({{"kind", kind}, {"efficiency", efficiency}, {"references", references}});
  }
  return result;
}

device_profile profile_from(const std::string& text, const std::string& path) {
  const json j = parse_json<json>(text, path, option_limits, "it was not written by nsk profile.");
  if (!j.is_object() || !j.contains("profile_version"))
    refuse("'" + path +
           "' is not a device profile. Make one with `nsk profile -o PROFILE.json` on the machine in question.");
  if (j["profile_version"] != profile_version)
    refuse("the device profile '" + path + "' has version " +
           (j["profile_version"].is_number() ? j["profile_version"].dump() : "of no number") + ", this nsk reads " +
           std::to_string(profile_version) + ". Measure again with `nsk profile -o PROFILE.json`.");
  try {
    return read_profile(j);
  } catch (const std::exception& e) {
    refuse("the device profile '" + path + "' is damaged (" + e.what() +
           "). Measure again with `nsk profile -o PROFILE.json`.");
  }
}

device_profile open_profile(const std::string& path) {
  return profile_from(std::string(text_of(read_file(path, "profile", option_limits.bytes))), path);
}

}
