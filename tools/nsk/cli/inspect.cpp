// SPDX-License-Identifier: MIT
#include "report/inspect.hpp"

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.hpp"
#include "engine/model_file.hpp"
#include "cli/profile_file.hpp"
#include "cli/terminal.hpp"
#include "report/arena_svg.hpp"
#include "report/graph_svg.hpp"

namespace nsk::tool {

exit_code inspect(const inspect_options& o, command_files& files) {
  if (!o.name.empty() && !o.settings) misuse("--name names the type that --settings prints; give both.");
  const model_file file = open_model(o.model);
  std::optional<device_profile> profile;
  if (!o.profile.empty()) profile = open_profile(o.profile);
  const nlohmann::json report = inspect(file.view, file.bytes.size(), profile ? &*profile : nullptr);
  if (!o.svg.empty()) files.write(o.svg, arena_svg(report));
  if (!o.svg_graph.empty()) files.write(o.svg_graph, graph_svg(file.view, report));
  files.commit();
  const std::string name = o.name.empty() ? std::filesystem::path(o.model).stem().string() : o.name;
  const bool only_images = (!o.svg.empty() || !o.svg_graph.empty()) && !o.json && !o.settings;
  if (only_images) return exit_code::good;
  const std::string text = o.settings ? settings_source(file.view, name)
                           : o.json   ? report.dump(2) + "\n"
                                      : inspect_text(report, style_of_output());
  std::fwrite(text.data(), 1, text.size(), stdout);
  return exit_code::good;
}

}
