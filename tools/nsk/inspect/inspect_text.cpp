// SPDX-License-Identifier: MIT
#include <algorithm>
#include <nlohmann/json.hpp>

#include "errors.hpp"
#include "inspect/file_bytes.hpp"
#include "inspect/inspect.hpp"
#include "draw/labels.hpp"

namespace nsk::tool {
namespace {
using nlohmann::json;
constexpr std::size_t heavy_steps = 5;
constexpr double min_heavy_share = 0.02;
constexpr std::size_t widest_operator = 29;

/// What the source model said of a port: colours and levels of images, labels.
std::string hints_text(const json& p) {
  std::string text;
  const auto numbers = [](const json& list) {
    std::string all;
    for (const json& x : list) all += (all.empty() ? "" : ", ") + format_text("%g", x.get<double>());
    return list.size() == 1 ? all : "(" + all + ")";
  };
  if (p.contains("color")) text += ", " + p["color"].get<std::string>();
  if (p.contains("mean")) text += ", x = (level - " + numbers(p["mean"]) + ") / " + numbers(p["deviation"]);
  if (!p.contains("labels")) return printable(text);
  const json& labels = p["labels"];
  text += format_text(", %zu labels from '%s' to '%s'", labels.size(), shortened(labels.front(), 24).c_str(),
                      shortened(labels.back(), 24).c_str());
  return printable(text);
}

std::string ports_text(const char* title, const json& ports) {
  std::string text;
  for (const json& p : ports) {
    text += format_text("%-9s %s  %s %s", title, p["name"].get<std::string>().c_str(),
                        p["type"].get<std::string>().c_str(), shape_text(p["shape"]).c_str());
    if (p["source_shape"] != p["shape"] && !p["source_shape"].empty())
      text += "  (in the source model " + shape_text(p["source_shape"]) + ")";
    text += hints_text(p) + "\n";
  }
  return text;
}

bool is_expected(const json& v) { return v.contains("expected"); }

/// What makes a step heavy: its expected time where a profile was given, its MACs otherwise.
double weight_of(const json& step) {
  return step.contains("expected") ? step["expected"]["us"].get<double>() : step["macs"].get<double>();
}

/// Weight from which on a step counts among the heaviest.
double heavy_from(const json& steps, double total) {
  std::vector<double> weights;
  for (const json& s : steps) weights.push_back(weight_of(s));
  std::sort(weights.begin(), weights.end(), std::greater<>());
  const double fifth = weights.empty() ? 0 : weights[std::min(weights.size(), heavy_steps) - 1];
  return std::max(fifth, min_heavy_share * total);
}

std::string share_text(double part, double whole) { return whole > 0 ? format_text("%.1f", 100 * part / whole) : ""; }

struct sums {
  double macs = 0, weight = 0, heavy_from = 0, heavy = 0, activations = 0, weights = 0;
  std::uint64_t tiles = 0;
  int marked = 0;
};

/// Cells that hold bytes: of activations and of weights, or of both together where the line is long already.
void add_bytes(std::vector<std::string>& row, double activations, double weights, bool together) {
  const auto text = [](double bytes) { return bytes > 0 ? bytes_text(bytes) : std::string(); };
  row.push_back(text(together ? activations + weights : activations));
  if (!together) row.push_back(text(weights));
}

std::vector<std::string> headings_of(bool timed) {
  std::vector<std::string> headings{">step", "operator", "output", ">tiles", ">longest", ">MACs"};
  if (timed) headings.push_back(">expected");
  headings.push_back(">%  ");
  if (timed) {
    headings.push_back(">bytes");
  } else {
    headings.insert(headings.end(), {">in + out", ">weights"});
  }
  headings.push_back("name");
  return headings;
}

std::vector<std::string> row_of(const json& s, bool timed, const std::string& share, const std::string& name) {
  const std::string details = details_text(s);
  const double tile_us = s["longest_tile_us"];
  std::vector<std::string> row{s["index"].dump(),
                               shortened(operation_text(s) + (details.empty() ? "" : " " + details), widest_operator),
                               s["outputs"].empty() ? "" : size_text(s["outputs"][0]["shape"], "x"),
                               s["tile"]["count"].dump(),
                               tile_us > 0 ? time_text(tile_us) : "",
                               s["macs"] > 0 ? count_text(s["macs"]) : ""};
  if (timed) row.push_back(time_text(s["expected"]["us"]));
  row.push_back(share);
  add_bytes(row, s["bytes"], s["weight_bytes"], timed);
  row.push_back(name);
  return row;
}

sums sums_of(const json& steps) {
  sums sum;
  for (const json& s : steps) sum.weight += weight_of(s);
  sum.heavy_from = std::max(heavy_from(steps, sum.weight), 1e-30);
  for (const json& s : steps) {
    sum.macs += s["macs"].get<double>();
    sum.activations += s["bytes"].get<double>();
    sum.weights += s["weight_bytes"].get<double>();
    sum.tiles += s["tile"]["count"].get<std::uint64_t>();
    if (weight_of(s) < sum.heavy_from) continue;
    sum.heavy += weight_of(s);
    ++sum.marked;
  }
  return sum;
}

std::string steps_text(const json& v, const text_style& style) {
  const json& steps = v["steps"];
  const bool timed = is_expected(v);
  text_table table(headings_of(timed));
  const sums sum = sums_of(steps);
  const std::vector<std::string> names = short_names(steps);
  for (const json& s : steps) {
    const bool heavy = weight_of(s) >= sum.heavy_from;
    table.add(row_of(s, timed, share_text(weight_of(s), sum.weight) + (heavy ? " *" : "  "),
                     names[s["index"].get<std::size_t>()]),
              heavy);
  }
  table.add_rule();
  std::vector<std::string> last{"sum", "", "", std::to_string(sum.tiles), "", count_text(sum.macs)};
  if (timed) last.push_back(time_text(sum.weight));
  last.push_back("");
  add_bytes(last, sum.activations, sum.weights, timed);
  table.add(std::move(last), true);
  std::string text = table.text(style);
  text += style.faint(
      format_text("longest: of the step's tiles, %s\n",
                  timed ? "on this device" : format_text("at %.0f G MACs/s", usual_macs_per_us / 1e3).c_str()));
  if (sum.marked > 0)
    text +=
        style.faint(format_text("* the heaviest steps: %d of %zu with %s %% of %s\n", sum.marked, steps.size(),
                                share_text(sum.heavy, sum.weight).c_str(), timed ? "the expected time" : "all MACs"));
  return text;
}

std::string arena_text(const json& map, const text_style& style) {
  text_table table({">from byte", ">size", "holds", ">from step", ">to step", "tensors"});
  for (const json& b : map) {
    table.add({digits_text(b["offset"]), bytes_text(b["bytes"]), b["storage"], b["first_step"].dump(),
               b["last_step"].dump(), joined(b["tensors"])});
  }
  return table.text(style);
}

std::string memory_text(const json& arena) {
  return format_text("memory    %s: %s bytes + %s per lane\n", bytes_text(arena["bytes"].get<double>()).c_str(),
                     digits_text(arena["shared_bytes"]).c_str(), digits_text(arena["lane_bytes"]).c_str());
}

std::string layout_text(const json& v) {
  std::string text =
      format_text("layout    transposes left: %zu; copies: %zu\n", v["transposes_left"].size(), v["copies"].size());
  for (const json& reason : v["transposes_left"]) text += "          " + reason.get<std::string>() + "\n";
  for (const json& run : v["streamed"]) text += "streamed  " + run.get<std::string>() + "\n";
  return text;
}

/// The lengths that a run chooses, or counts.
std::string lengths_text(const json& v) {
  std::string text;
  for (const json& l : v.value("lengths", json::array()))
    text += format_text("length    '%s': %d to %d%s%s\n", printable(l["name"].get<std::string>()).c_str(),
                        l["minimum"].get<int>(), l["bound"].get<int>(),
                        l["step"].get<int>() > 1 ? format_text(" in steps of %d", l["step"].get<int>()).c_str() : "",
                        l["counted"].get<bool>() ? ", counted by a step" : "");
  return text;
}

/// The batch, and what runs of one row and of all compute.
std::string batch_text(const json& v) {
  if (!v.contains("batch_work")) return "";
  const auto work = [](const json& w) {
    return count_text(w["macs"]) + " MACs in " + std::to_string(w["tiles"].get<int>()) + " tiles";
  };
  return format_text("batch     up to %d rows: %s for one, %s for all\n", v["batch"].get<int>(),
                     work(v["batch_work"][0]).c_str(), work(v["batch_work"][1]).c_str());
}

std::string variant_text(const json& v, const text_style& style) {
  std::string text = batch_text(v) + lengths_text(v) + ports_text("input", v["inputs"]) +
                     ports_text("output", v["outputs"]) + states_text(v) + memory_text(v["arena"]);
  text += format_text("work      %zu steps, %s MACs\n", v["steps"].size(), count_text(v["macs"]).c_str());
  if (is_expected(v)) {
    const double ms = v["expected"]["ms"];
    text +=
        format_text("expected  %s on one lane of %s (%s), %.1f GFLOP/s\n", style.strong(time_text(ms * 1e3)).c_str(),
                    v["expected"]["device"].get<std::string>().c_str(), v["expected"]["isa"].get<std::string>().c_str(),
                    ms > 0 ? 2e-6 * v["macs"].get<double>() / ms : 0.0);
  }
  text += "tiles     " + longest_tile_text(v) + layout_text(v);
  return text + "\n" + style.strong("steps") + "\n" + steps_text(v, style) + "\n" + style.strong("arena") + "\n" +
         arena_text(v["arena"]["map"], style);
}

}

std::string states_text(const json& v) {
  std::string text;
  for (const json& s : v["states"])
    text += format_text("state     %s %s %s, from %s", s["name"].get<std::string>().c_str(),
                        s["type"].get<std::string>().c_str(), size_text(s["shape"], "x").c_str(),
                        s["next"].get<std::string>().c_str()) +
            (s["initial"] == "zeros" ? "\n" : "; begins with a constant\n");
  return text;
}

std::string longest_tile_text(const json& v) {
  const json& tile = v["longest_tile"];
  const int step = tile["step"];
  if (step < 0) return "none\n";
  const double us = tile["us"], limit = tile["limit_us"];
  const bool measured = !tile["measured_on"].get<std::string>().empty();
  std::string text = format_text(
      "the longest has %s MACs, about %s %s (step %d)\n", count_text(tile["macs"]).c_str(), time_text(us).c_str(),
      measured ? "on this device" : format_text("at %.0f G/s", usual_macs_per_us / 1e3).c_str(), step);
  if (us > limit * 1.005) {
    const json& s = v["steps"][static_cast<std::size_t>(step)];
    text += format_text("          above the limit of %s: step %d '%s', %s; smaller pieces would not pay\n",
                        time_text(limit).c_str(), step, shortened(s["name"], 40).c_str(), operation_text(s).c_str());
  }
  return text;
}

std::string inspect_text(const json& report, const text_style& style) {
  std::string text = format_text("model     %s, %s, weights %s, signature %s\n", style.strong(report["name"]).c_str(),
                                 bytes_text(report["file_bytes"]).c_str(), bytes_text(report["weight_bytes"]).c_str(),
                                 report["signature"].get<std::string>().c_str());
  text += format_text("made by   %s, format version %d\n", report["producer"].get<std::string>().c_str(),
                      report["format_version"].get<int>());
  if (report.contains("bytes")) text += file_bytes_text(report);
  const std::string about = "about.";
  for (const auto& [key, value] : report["metadata"].items())
    if (key.compare(0, about.size(), about) == 0)
      text += printable("about     " + key.substr(about.size()) + ": " + value.get<std::string>()) + "\n";
  for (const json& v : report["variants"]) {
    if (report["variants"].size() > 1) text += "\nvariant '" + v["name"].get<std::string>() + "'\n";
    text += variant_text(v, style);
  }
  return text;
}

}
