// SPDX-License-Identifier: MIT
#include "profile/profile.hpp"

#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "profile/measure.hpp"
#include "io/text.hpp"

namespace nsk::tool {
namespace {
using nlohmann::json;

std::string summary(const std::string& path, const json& p) {
  std::string text = format_text("%s: %s, %s\n", path.c_str(), p["name"].get<std::string>().c_str(),
                                 p["isa"].get<std::string>().c_str());
  text += format_text("FMA peak  %.1f GFLOP/s of one core\n", p["fma_peak_gflops"].get<double>());
  for (const json& l : p["memory"])
    text += format_text("%-8s  %6.1f GB/s read, %6.1f GB/s copy%s\n", l["level"].get<std::string>().c_str(),
                        l["read_gb_s"].get<double>(), l["copy_gb_s"].get<double>(),
                        l["bytes"].get<double>() > 0 ? (", " + bytes_text(l["bytes"].get<double>())).c_str() : "");
  const json& overhead = p["overhead"];
  text += format_text("overhead  %s a step, %s a tile, %s to share a step with a second lane\n\n",
                      time_text(overhead["step_us"]).c_str(), time_text(overhead["tile_us"]).c_str(),
                      time_text(overhead["hand_out_us"]).c_str());
  text_table table({"kernel", ">% of peak", ">time", "reference"});
  for (const json& kernel : p["kernels"]) {
    for (const json& r : kernel["references"]) {
      const double efficiency = r["efficiency"];
      table.add(
          {kernel["kind"], efficiency > 0 ? format_text("%.0f", 100 * efficiency) : "", time_text(r["us"]), r["name"]});
    }
  }
  return text + table.text();
}

}

exit_code profile(const profile_options& o, command_files& files) {
  progress_line progress(o.quiet);
  const device_profile measured = measure_device(
      choose_engine(o.isa), o.seconds, [&](const std::string& what, double share) { progress.show(what, share); });
  progress.clear();
  const json result = profile_json(measured);
  files.write(o.output, json_text(result));
  files.commit();
  if (!o.quiet) print(summary(o.output, result));
  return exit_code::good;
}

}
