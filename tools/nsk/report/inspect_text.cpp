// SPDX-License-Identifier: MIT
#include "report/inspect.hpp"
#include "report/text.hpp"

#include <nlohmann/json.hpp>

namespace nsk::tool {
namespace {
using nlohmann::json;

std::string shape_text(const json& shape) {
  std::string text = "[";
  for (const json& length : shape) text += (text.size() > 1 ? "," : "") + length.dump();
  return text + "]";
}

std::string ports_text(const char* title, const json& ports) {
  std::string text;
  for (const json& p : ports) {
    text += format_text("%-8s %s  %s %s", title, p["name"].get<std::string>().c_str(), p["type"].get<std::string>().c_str(),
                        shape_text(p["shape"]).c_str());
    if (p["source_shape"] != p["shape"] && !p["source_shape"].empty()) text += "  (in the source model " + shape_text(p["source_shape"]) + ")";
    text += "\n";
  }
  return text;
}

std::string steps_text(const json& steps) {
  text_table table({">step", "operator", "how", "output", ">tiles", ">tile MACs", ">MACs", ">activations", ">weights", "name"});
  for (const json& s : steps) {
    std::string how = s["algorithm"];
    const std::string function = s["function"];
    if (s["residual"].get<bool>()) how += how.empty() ? "+residual" : " +residual";
    if (function != "identity") how += (how.empty() ? "" : " ") + function;
    table.add({s["index"].dump(), s["operator"], how, s["outputs"].empty() ? "" : shape_text(s["outputs"][0]["shape"]), s["tile"]["count"].dump(),
               count_text(s["longest_tile_macs"]), count_text(s["macs"]), bytes_text(s["bytes"]), bytes_text(s["weight_bytes"]), s["name"]});
  }
  return table.text();
}

std::string arena_text(const json& map) {
  text_table table({">offset", ">bytes", "storage", ">from step", ">to step", "tensors"});
  for (const json& b : map) {
    std::string names;
    for (const json& name : b["tensors"]) {
      if (names.size() > 60) {
        names += ", ...";
        break;
      }
      names += (names.empty() ? "" : ", ") + name.get<std::string>();
    }
    table.add({b["offset"].dump(), b["bytes"].dump(), b["storage"], b["first_step"].dump(), b["last_step"].dump(), names});
  }
  return table.text();
}

std::string variant_text(const json& v) {
  std::string text = ports_text("input", v["inputs"]) + ports_text("output", v["outputs"]);
  const json& arena = v["arena"];
  text += format_text("memory   %llu bytes + %llu per lane = %llu with one lane\n", arena["shared_bytes"].get<unsigned long long>(),
                      arena["lane_bytes"].get<unsigned long long>(), arena["bytes"].get<unsigned long long>());
  const json& longest = v["longest_tile"];
  text += format_text("work     %zu steps, %s MACs; longest tile %s MACs (step %d)\n", v["steps"].size(), count_text(v["macs"]).c_str(),
                      count_text(longest["macs"]).c_str(), longest["step"].get<int>());
  text += format_text("copies   %zu; transposes left: %zu\n", v["copies"].size(), v["transposes_left"].size());
  for (const json& reason : v["transposes_left"]) text += "         " + reason.get<std::string>() + "\n";
  return text + "\n" + steps_text(v["steps"]) + "\narena\n" + arena_text(arena["map"]);
}

}

std::string inspect_text(const json& report) {
  std::string text = format_text("model    %s, %s, weights %s, signature %s\n", report["name"].get<std::string>().c_str(),
                                 bytes_text(report["file_bytes"]).c_str(), bytes_text(report["weight_bytes"]).c_str(),
                                 report["signature"].get<std::string>().c_str());
  text += format_text("made by  %s, format version %d\n", report["producer"].get<std::string>().c_str(), report["format_version"].get<int>());
  for (const json& v : report["variants"]) {
    if (report["variants"].size() > 1) text += "\nvariant '" + v["name"].get<std::string>() + "'\n";
    text += variant_text(v);
  }
  return text;
}

}
