// SPDX-License-Identifier: MIT
#include "draw/arena_svg.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "errors.hpp"
#include "draw/labels.hpp"
#include "draw/svg.hpp"
#include "io/text.hpp"

namespace nsk::tool {
namespace {
using nlohmann::json;

constexpr double left = 86, top = 84, map_height = 420, work_gap = 34, work_height = 70, bottom = 52, right = 28;
constexpr double min_width = 720, max_width = 1500;
constexpr const char* style =
    "text { font: 12px 'DejaVu Sans', Verdana, sans-serif; fill: #333 }\n"
    ".title { font-size: 18px; font-weight: bold; fill: #111 }\n"
    ".small { font-size: 11px; fill: #666 }\n"
    ".label { font-size: 11px; fill: #222 }\n"
    ".end { text-anchor: end } .middle { text-anchor: middle }\n"
    ".grid { stroke: #e4e4e4; stroke-width: 1 }\n"
    ".axis { stroke: #888; stroke-width: 1 }\n"
    ".peak { stroke: #c0392b; stroke-width: 1.2; stroke-dasharray: 6 4 } .peaktext { fill: #c0392b }\n"
    ".block { stroke: #ffffff; stroke-width: 0.8 } .block:hover { stroke: #111; stroke-width: 1.5 }\n"
    ".work { fill: #7f8c9b } .work:hover { fill: #2c3e50 }\n";

/// Where steps and bytes are on the page.
struct scale {
  double step_width, byte_height;
  double x(double step) const { return left + step * step_width; }
  double y(double bytes) const { return top + map_height - bytes * byte_height; }
};

/// A buffer of the arena, clipped to the steps of a run.
struct block {
  double offset, bytes;
  int first, last;
  std::string storage, names;
};

std::vector<block> blocks_of(const json& v, int steps) {
  std::vector<block> result;
  for (const json& b : v["arena"]["map"]) {
    const int first = std::clamp(b["first_step"].get<int>(), 0, steps - 1),
              last = std::clamp(b["last_step"].get<int>(), first, steps - 1);
    result.push_back({b["offset"], b["bytes"], first, last, b["storage"], joined(b["tensors"])});
  }
  return result;
}

/// Ports keep their colour; what is between them takes neighbouring hues in turn, so that neighbours differ.
std::string colour_of(const block& b) {
  if (b.storage == "input") return "#e8a33d";
  if (b.storage == "output") return "#5aa469";
  if (b.storage == "state") return "#b0578d";
  constexpr double hues[] = {206, 222, 190, 238, 214, 198};
  constexpr double lights[] = {0.58, 0.68, 0.52, 0.74, 0.63};
  return shade(hues[b.first % 6], 0.48, lights[b.first % 5]);
}

void draw_axes(svg_page& page, const scale& s, int steps, double arena) {
  const double byte_step = axis_step(arena, 6), width = steps * s.step_width;
  for (double bytes = 0; bytes <= arena * 1.0001; bytes += byte_step) {
    page.line(left, s.y(bytes), left + width, s.y(bytes), "class=\"grid\"");
    page.text(left - 8, s.y(bytes) + 4, bytes_text(bytes), "class=\"small end\"");
  }
  const int every = std::max(1, static_cast<int>(axis_step(steps, 16)));
  const double below = top + map_height + work_gap + work_height;
  for (int step = 0; step < steps; step += every) {
    page.line(s.x(step), top, s.x(step), below, "class=\"grid\"");
    page.text(s.x(step + 0.5), below + 16, std::to_string(step), "class=\"small middle\"");
  }
  page.text(left + width / 2, below + 36, "step", "class=\"small middle\"");
}

void draw_blocks(svg_page& page, const scale& s, const std::vector<block>& blocks) {
  for (const block& b : blocks) {
    const double x = s.x(b.first), width = (b.last + 1 - b.first) * s.step_width,
                 height = std::max(b.bytes * s.byte_height, 1.0);
    const std::string span =
        b.first == b.last ? format_text("step %d", b.first) : format_text("steps %d to %d", b.first, b.last);
    page.rect(x, s.y(b.offset) - height, width, height, "class=\"block\" rx=\"1.5\" fill=\"" + colour_of(b) + "\"",
              b.names + "\n" + bytes_text(b.bytes) + " at byte " + digits_text(static_cast<std::uint64_t>(b.offset)) +
                  ", " + span + ", " + b.storage);
    constexpr double character = 6.6, line = 15;
    constexpr std::size_t min_space = 9, space_for_names = 14;
    const auto space = static_cast<std::size_t>(std::max(0.0, (width - 8) / character));
    if (height < line || space < min_space) continue;
    const double middle = s.y(b.offset) - height / 2 + 4;
    const std::string name =
        space < space_for_names && b.names.size() > space ? bytes_text(b.bytes) : shortened(b.names, space);
    if (height < 2 * line + 2 || name == bytes_text(b.bytes)) {
      page.text(x + 5, middle, name, "class=\"label\"");
    } else {
      page.text(x + 5, middle - 7, name, "class=\"label\"");
      page.text(x + 5, middle + 8, bytes_text(b.bytes), "class=\"label\"");
    }
  }
}

/// Marks the top of the arena and the step at which most bytes are alive.
void draw_peak(svg_page& page, const scale& s, const std::vector<block>& blocks, int steps, double arena) {
  std::vector<double> alive(static_cast<std::size_t>(steps) + 1, 0);  // first what changes with each step
  for (const block& b : blocks) {
    alive[static_cast<std::size_t>(b.first)] += b.bytes;
    alive[static_cast<std::size_t>(b.last) + 1] -= b.bytes;
  }
  std::partial_sum(alive.begin(), alive.end(), alive.begin());
  const auto maximum = std::max_element(alive.begin(), alive.end());
  const int step = static_cast<int>(maximum - alive.begin());
  page.line(left, s.y(arena), left + steps * s.step_width, s.y(arena), "class=\"peak\"");
  page.line(s.x(step + 0.5), s.y(arena), s.x(step + 0.5), top + map_height, "class=\"peak\"");
  const std::string words =
      format_text("peak: step %d, %s alive of %s", step, bytes_text(*maximum).c_str(), bytes_text(arena).c_str());
  const bool at_left = step * 2 < steps;
  page.text(s.x(step + 0.5), top - 9, words, at_left ? "class=\"peaktext\"" : "class=\"peaktext end\"");
}

void draw_work(svg_page& page, const scale& s, const json& steps) {
  double maximum = 1;
  for (const json& step : steps) maximum = std::max(maximum, step["macs"].get<double>());
  const double base = top + map_height + work_gap + work_height;
  page.text(left - 8, base - work_height + 10, count_text(maximum), "class=\"small end\"");
  page.text(left - 8, base, "MACs", "class=\"small end\"");
  for (const json& step : steps) {
    const double height = step["macs"].get<double>() / maximum * work_height;
    const double gap = std::min(1.0, s.step_width * 0.1);
    page.rect(s.x(step["index"]) + gap, base - std::max(height, 0.5), s.step_width - 2 * gap, std::max(height, 0.5),
              "class=\"work\"",
              format_text("step %d: %s, %s MACs\n", step["index"].get<int>(), operation_text(step).c_str(),
                          count_text(step["macs"]).c_str()) +
                  step["name"].get<std::string>());
  }
  page.line(left, base, s.x(static_cast<double>(steps.size())), base, "class=\"axis\"");
}

void draw_legend(svg_page& page, double width) {
  constexpr std::pair<const char*, const char*> entries[] = {
      {"#e8a33d", "input"}, {"#5aa469", "output"}, {"#5b8db8", "arena"}};
  double x = width - right - 220;
  for (const auto& [colour, name] : entries) {
    page.rect(x, 26, 12, 12, "rx=\"2\" fill=\"" + std::string(colour) + "\"");
    page.text(x + 18, 36, name, "class=\"small\"");
    x += 76;
  }
}

}

std::string arena_svg(const json& report) {
  const json& v = report["variants"][0];
  const int steps = std::max(1, static_cast<int>(v["steps"].size()));
  const double arena = std::max(1.0, v["arena"]["shared_bytes"].get<double>());
  const double width = std::clamp(steps * 26.0, min_width, max_width);
  const scale s{width / steps, map_height / arena};
  svg_page page(style);
  page.text(left, 34, report["name"].get<std::string>(), "class=\"title\"");
  page.text(
      left, 54,
      format_text("arena %s bytes + %s per lane, %d steps, %s MACs", digits_text(v["arena"]["shared_bytes"]).c_str(),
                  digits_text(v["arena"]["lane_bytes"]).c_str(), steps, count_text(v["macs"]).c_str()),
      "class=\"small\"");
  const double page_width = left + width + right;
  draw_legend(page, page_width);
  draw_axes(page, s, steps, arena);
  const std::vector<block> blocks = blocks_of(v, steps);
  draw_blocks(page, s, blocks);
  draw_peak(page, s, blocks, steps, arena);
  draw_work(page, s, v["steps"]);
  return page.done(page_width, top + map_height + work_gap + work_height + bottom);
}

}
