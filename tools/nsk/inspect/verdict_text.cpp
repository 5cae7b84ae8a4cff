// SPDX-License-Identifier: MIT
#include "inspect/verdict_text.hpp"

#include <nlohmann/json.hpp>

namespace nsk::tool {
namespace {
using nlohmann::json;

/// "7 'conv_12'" of a step of the report.
std::string name_of_step(const json& s) { return s["index"].dump() + " '" + s["name"].get<std::string>() + "'"; }

std::string sentence_of_work(const json& report) {
  const json& v = report["verdict"];
  std::string text =
      "verdict: too much work. Its layers run at the rates of this machine, so less work is what makes it faster: a "
      "smaller input (half the side is a quarter of the work), fewer channels, or fewer layers. Most time is in";
  for (std::size_t i = 0; i < v["heaviest"].size(); ++i) {
    const json& s = report["steps"][v["heaviest"][i].get<std::size_t>()];
    text += format_text("%s step %s (%.0f %%)", i ? "," : "", name_of_step(s).c_str(),
                        100 * s["measured_us"].get<double>() / v["measured_us"].get<double>());
  }
  return text + ".\n";
}

std::string sentence_of_layers(const json& report) {
  const json& v = report["verdict"];
  return format_text("verdict: inefficient layers. They lose %.0f %% of the time; change these first:\n",
                     100 * v["lost_us"].get<double>() / v["measured_us"].get<double>());
}

}

void add_verdict(json& report, const verdict& v, const device_profile& p) {
  report["verdict"] = {{"result", name_of(v.result)},          {"profile", p.name},     {"expected_us", v.expected_us},
                       {"measured_us", v.measured_us},         {"lost_us", v.lost_us},  {"machine", v.machine},
                       {"machine_differs", v.machine_differs}, {"heaviest", v.heaviest}};
  for (std::size_t i = 0; i < v.steps.size(); ++i) {
    const step_verdict& s = v.steps[i];
    json& row = report["steps"][i];
    row["kind"] = s.kind;
    row["expected_us"] = s.expected_us;
    row["measured_us"] = s.measured_us;
    row["percent_of_kind"] = s.percent_of_kind;
    row["finding"] = name_of(s.finding);
    row["lost_us"] = s.lost_us;
    row["advice"] = s.advice;
  }
}

std::string verdict_text(const json& report, const text_style& style) {
  const json& v = report["verdict"];
  std::string text = format_text("\nexpected on %s: %.3f ms, measured %.3f ms (best of each step)\n\n",
                                 v["profile"].get<std::string>().c_str(), v["expected_us"].get<double>() * 1e-3,
                                 v["measured_us"].get<double>() * 1e-3);
  text_table table({">step", "kind", ">expected us", ">measured us", ">ratio", ">% of kind", "finding", "name"});
  std::string findings;
  for (const json& s : report["steps"]) {
    const double expected = s["expected_us"], us = s["measured_us"], rate = s["percent_of_kind"];
    const bool found = s["lost_us"].get<double>() > 0;
    table.add({s["index"].dump(), s["kind"], format_text("%.1f", expected), format_text("%.1f", us),
               expected > 0 ? format_text("%.2f", us / expected) : "", rate > 0 ? format_text("%.0f", rate) : "",
               s["finding"], s["name"]},
              found);
    if (found)
      findings += format_text("  step %s, %s: %s, loses %.1f us: %s.\n", name_of_step(s).c_str(),
                              s["kind"].get<std::string>().c_str(), s["finding"].get<std::string>().c_str(),
                              s["lost_us"].get<double>(), s["advice"].get<std::string>().c_str());
  }
  text += table.text(style) + "\n";
  if (v["machine_differs"].get<bool>())
    text += format_text(
        "Most steps take %.1f times as long as the profile says: it is of another machine, or this one is busy. "
        "Measure "
        "it here with `nsk profile`, with nothing else running. Steps are judged beside that.\n",
        v["machine"].get<double>());
  const bool layers = v["result"] == name_of(conclusion::inefficient_steps);
  return text + (layers ? sentence_of_layers(report) : sentence_of_work(report)) + findings;
}

}
