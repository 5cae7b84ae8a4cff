// SPDX-License-Identifier: MIT
#include "inspect/inspect.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.hpp"
#include "cli/length_options.hpp"
#include "gpu/device.hpp"
#include "engine/model_file.hpp"
#include "cli/progress.hpp"
#include "gpu/plan_report.hpp"
#include "draw/arena_svg.hpp"
#include "inspect/file_bytes.hpp"
#include "draw/graph_svg.hpp"
#include "io/system/paths.hpp"

namespace nsk::tool {
namespace {
using nlohmann::json;

/// Leaves the variant of that name alone, all where it is empty, and gives each its GPU plan.
void add_gpu_plans(json& report, const model& m, const std::string& variant, const half_options& halves) {
  json kept = json::array();
  const int only = variant_of(m, variant);
  for (int i = 0; i < m.variant_count(); ++i) {
    if (!variant.empty() && i != only) continue;
    kept.push_back(std::move(report["variants"][static_cast<std::size_t>(i)]));
    kept.back()["gpu"] = gpu_plan_report(m.variant(i), m.weights(), halves);
  }
  report["variants"] = std::move(kept);
}

std::string gpu_text(const json& report, const text_style& style) {
  std::string text;
  for (const json& v : report["variants"])
    text += (text.empty() ? "" : "\n") + format_text("variant   '%s'\n", v["name"].get<std::string>().c_str()) +
            gpu_plan_text(v["gpu"], report["weight_bytes"], style);
  return text;
}

/// What the options ask for on standard output.
std::string text_of(const inspect_options& o, const model& m, const json& report) {
  const std::string name = o.name.empty() ? utf8_of(path_of(o.model).stem()) : o.name;
  if (o.settings) return settings_source(m, name);
  if (o.json) return json_text(report);
  return o.gpu ? gpu_text(report, style_of_output()) : inspect_text(report, style_of_output());
}

}

exit_code inspect(const inspect_options& o, command_files& files) {
  if (!o.name.empty() && !o.settings) misuse("--name names the type that --settings prints; give both.");
  if (o.gpu && o.settings) misuse("--settings is for the CPU engine; a GPU plan needs none. Leave one of them out.");
  refuse_without("--gpu", o.gpu, o.halves);
  if (!o.variant.empty() && !o.gpu) misuse("--variant chooses what --gpu shows; give both.");
  const model_file file = open_model_at(o.model, o.lengths);
  std::optional<device_profile> profile;
  if (!o.profile.empty()) profile = open_profile(o.profile);
  json report = inspect(file.view, file.bytes.size(), profile ? &*profile : nullptr);
  add_file_bytes(report, file);
  if (!o.svg.empty()) files.write(o.svg, arena_svg(report));
  if (!o.svg_graph.empty()) files.write(o.svg_graph, graph_svg(file.view, report));
  files.commit();
  const bool only_images = (!o.svg.empty() || !o.svg_graph.empty()) && !o.json && !o.settings && !o.gpu;
  if (only_images) return exit_code::good;
  if (o.gpu) add_gpu_plans(report, file.view, o.variant, o.halves);
  print(text_of(o, file.view, report));
  return exit_code::good;
}

}
