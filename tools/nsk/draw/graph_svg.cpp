// SPDX-License-Identifier: MIT
#include "draw/graph_svg.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "errors.hpp"
#include "draw/graph_layout.hpp"
#include "draw/labels.hpp"
#include "draw/svg.hpp"
#include "io/text.hpp"

namespace nsk::tool {
namespace {
using nlohmann::json;

constexpr double margin = 36, head = 96, box_height = 40, min_box = 120, character = 7.3;
constexpr const char* style =
    "text { font: 12px 'DejaVu Sans', Verdana, sans-serif; fill: #222 }\n"
    ".title { font-size: 18px; font-weight: bold; fill: #111 } .small { font-size: 11px; fill: #666 }\n"
    ".name { font-weight: bold; text-anchor: middle } .detail { font-size: 10.5px; fill: #444; text-anchor: middle }\n"
    ".shape { font-size: 10.5px; fill: #555; paint-order: stroke; stroke: #fff; stroke-width: 3px }\n"
    ".box { stroke: #444; stroke-width: 1 } .box:hover { stroke-width: 2.5 }\n"
    ".line { fill: none; stroke: #777; stroke-width: 1.3; marker-end: none }\n"
    ".bridge { fill: none; stroke: #9aa5b1; stroke-width: 1.2; stroke-dasharray: 4 3 }\n";

struct box {
  std::string title, first, second, shape, group;
};

constexpr const char* times = "\xc3\x97";

std::string colour_of(const std::string& group) {
  static const std::map<std::string, std::string> colours = {{"Conv2D", shade(207, 0.62, 0.78)},
                                                             {"winograd", shade(232, 0.55, 0.80)},
                                                             {"DepthwiseConv2D", shade(174, 0.42, 0.74)},
                                                             {"FullyConnected", shade(265, 0.45, 0.82)},
                                                             {"MatMul", shade(285, 0.40, 0.80)},
                                                             {"Pool2D", shade(28, 0.75, 0.80)},
                                                             {"Reduce", shade(16, 0.65, 0.82)},
                                                             {"Unary", shade(50, 0.70, 0.80)},
                                                             {"Binary", shade(95, 0.40, 0.77)},
                                                             {"Resize2D", shade(330, 0.50, 0.84)},
                                                             {"Softmax", shade(350, 0.55, 0.82)},
                                                             {"Copy", shade(0, 0, 0.86)},
                                                             {"PackPanels", shade(0, 0, 0.80)},
                                                             {"Fill", shade(0, 0, 0.92)},
                                                             {"input", shade(38, 0.75, 0.72)},
                                                             {"output", shade(135, 0.38, 0.68)}};
  const auto found = colours.find(group);
  return found != colours.end() ? found->second : shade(130, 0.15, 0.85);
}

box box_of(const json& step) {
  box b;
  const std::string op = step["operator"], algorithm = step["algorithm"], details = details_text(step);
  b.group = op == "Conv2D" && algorithm != "direct" ? "winograd" : op;
  b.first = operation_text(step);
  b.second = std::to_string(step["index"].get<int>()) + (details.empty() ? "" : ": " + details);
  b.shape = step["outputs"].empty() ? "" : size_text(step["outputs"][0]["shape"], times);
  b.title = format_text("step %d: ", step["index"].get<int>()) + step["name"].get<std::string>() + "\n" +
            count_text(step["macs"]) + " MACs, " + bytes_text(step["bytes"]) + " in and out, " +
            bytes_text(step["weight_bytes"]) + " of weights";
  if (step.contains("expected")) b.second += ", " + time_text(step["expected"]["us"]);
  return b;
}

box box_of_port(const json& port, const char* group) {
  box b;
  b.group = group;
  b.first = shortened(port["name"], 22);
  b.second = group;
  b.shape = size_text(port["shape"], times);
  b.title = port["name"].get<std::string>() + " " + port["type"].get<std::string>() + " " + shape_text(port["shape"]);
  return b;
}

/// Boxes in an order that edges follow: inputs, steps, outputs.
struct drawing {
  std::vector<box> boxes;
  layout_request request;
};

/// The step that wrote each output last, or the input that it is.
std::vector<step_edge> output_edges(const variant_view& v) {
  std::vector<step_edge> edges;
  for (int i = 0; i < v.step_count(); ++i)
    for (int k = 0; k < v.step(i).output_count(); ++k)
      if (v.step(i).output(k).where() == storage::output) edges.push_back({i, v.step(i).output(k).port()});
  return edges;
}

drawing drawing_of(const model& m, const json& v) {
  drawing p;
  const int inputs = static_cast<int>(v["inputs"].size()), steps = static_cast<int>(v["steps"].size());
  for (const json& port : v["inputs"]) p.boxes.push_back(box_of_port(port, "input"));
  for (const json& step : v["steps"]) p.boxes.push_back(box_of(step));
  for (const json& port : v["outputs"]) p.boxes.push_back(box_of_port(port, "output"));
  for (const step_edge& e : flow_of(m.variant()))
    p.request.edges.push_back({e.from < 0 ? -1 - e.from : inputs + e.from, inputs + e.to});
  for (const step_edge& e : output_edges(m.variant()))
    p.request.edges.push_back({inputs + e.from, inputs + steps + e.to});
  p.request.box_height = box_height;
  for (const box& b : p.boxes) {
    const std::size_t longest = std::max(b.first.size(), b.second.size() - std::min<std::size_t>(b.second.size(), 2));
    p.request.widths.push_back(std::max(min_box, static_cast<double>(longest) * character + 20));
  }
  return p;
}

std::string curve(const std::vector<point>& points) {
  std::string data = format_text("M%.1f %.1f", points[0].x + margin, points[0].y + head);
  for (std::size_t i = 1; i < points.size(); ++i) {
    const point from{points[i - 1].x + margin, points[i - 1].y + head}, to{points[i].x + margin, points[i].y + head};
    const double middle = (from.y + to.y) / 2;
    data += format_text(" C%.1f %.1f %.1f %.1f %.1f %.1f", from.x, middle, to.x, middle, to.x, to.y);
  }
  return data;
}

std::string polyline(const std::vector<point>& points) {
  std::string data;
  for (const point& p : points) data += format_text("%s%.1f %.1f", data.empty() ? "M" : " L", p.x + margin, p.y + head);
  return data;
}

void draw_arrow(svg_page& page, const point& to) {
  const double x = to.x + margin, y = to.y + head;
  page.path(format_text("M%.1f %.1f l-3.5 -6 h7 z", x, y), "fill=\"#777\"");
}

void draw_boxes(svg_page& page, const drawing& p, const graph_layout& layout) {
  for (std::size_t i = 0; i < p.boxes.size(); ++i) {
    const box& b = p.boxes[i];
    const double x = layout.boxes[i].x + margin, y = layout.boxes[i].y + head, width = p.request.widths[i];
    const std::string corner = b.group == "input" || b.group == "output" ? "rx=\"20\"" : "rx=\"5\"";
    page.rect(x - width / 2, y, width, box_height, "class=\"box\" " + corner + " fill=\"" + colour_of(b.group) + "\"",
              b.title);
    page.text(x, y + 17, b.first, "class=\"name\"");
    page.text(x, y + 32, b.second, "class=\"detail\"");
    if (b.group != "output") page.text(x + 6, y + box_height + 13, b.shape, "class=\"shape\"");
  }
}

double draw_legend(svg_page& page, const drawing& p) {
  std::vector<std::string> groups;
  for (const box& b : p.boxes)
    if (std::find(groups.begin(), groups.end(), b.group) == groups.end()) groups.push_back(b.group);
  double x = margin;
  for (const std::string& group : groups) {
    page.rect(x, 62, 13, 13, "class=\"box\" rx=\"2\" fill=\"" + colour_of(group) + "\"");
    page.text(x + 19, 73, group, "class=\"small\"");
    x += 40 + static_cast<double>(group.size()) * 6.6;
  }
  return x;
}

}

std::string graph_svg(const model& m, const json& report) {
  const json& v = report["variants"][0];
  const drawing p = drawing_of(m, v);
  const graph_layout layout = lay_out(p.request);
  svg_page page(style);
  page.text(margin, 34, report["name"].get<std::string>(), "class=\"title\"");
  page.text(margin, 52,
            format_text("%zu steps, %s MACs, weights %s", v["steps"].size(), count_text(v["macs"]).c_str(),
                        bytes_text(report["weight_bytes"]).c_str()),
            "class=\"small\"");
  const double legend = draw_legend(page, p);
  for (const auto& line : layout.bridges) page.path(polyline(line), "class=\"bridge\"");
  for (const auto& line : layout.lines) page.path(curve(line), "class=\"line\"");
  std::set<std::pair<double, double>> tops;
  for (const point& box : layout.boxes) tops.emplace(box.x, box.y);
  for (const auto* lines : {&layout.lines, &layout.bridges})
    for (const auto& line : *lines)
      if (tops.count({line.back().x, line.back().y}) != 0) draw_arrow(page, line.back());
  draw_boxes(page, p, layout);
  return page.done(std::max(layout.width + 2 * margin, legend + margin), layout.height + head + margin);
}

}
