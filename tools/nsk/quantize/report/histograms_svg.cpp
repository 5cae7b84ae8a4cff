// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "io/system/paths.hpp"
#include "quantize/report/report.hpp"
#include "draw/svg.hpp"
#include "io/text.hpp"

namespace nsk::tool {
namespace {

constexpr std::size_t columns = 5;
constexpr double left = 30, top = 90, cell_width = 240, cell_height = 118, plot_width = 214, plot_height = 62,
                 heading = 44;
constexpr const char* style =
    "text { font: 12px 'DejaVu Sans', Verdana, sans-serif; fill: #333 }\n"
    ".title { font-size: 17px; font-weight: bold; fill: #111 } .small { font-size: 10px; fill: #666 }\n"
    ".part { font-size: 14px; font-weight: bold; fill: #111 } .end { text-anchor: end } .middle { text-anchor: middle "
    "}\n"
    ".range { fill: #e6eff6 } .axis { stroke: #888 } .zero { stroke: #bbb; stroke-dasharray: 2 2 }\n"
    ".in { fill: #2f6f9f } .out { fill: #c0392b } .float { fill: #9a9a9a }\n";

/// The end of a long name, which is where names of one network differ.
std::string end_of(const std::string& name) {
  constexpr std::size_t max_length = 36;
  return name.size() <= max_length ? name : "..." + name.substr(name.size() - max_length + 3);
}

/// One histogram with its range in a cell whose upper left corner is given.
void add_plot(svg_page& page, const seen_numbers& s, double x, double y) {
  page.text(x, y + 11, end_of(s.name), "class=\"small\"");
  const double base = y + 18 + plot_height;
  if (s.bins.empty()) return page.text(x, base - 4, "not finite", "class=\"small\"");
  const double end = s.first + s.width * static_cast<double>(s.bins.size());
  const double low = std::min(s.first, s.low), high = std::max(end, s.high), span = high - low;
  const auto place = [&](double number) { return x + (number - low) / span * plot_width; };
  if (s.is_stored)
    page.rect(place(s.low), y + 18, std::max(1.0, place(s.high) - place(s.low)), plot_height, "class=\"range\"");
  if (low < 0 && high > 0) page.line(place(0), y + 18, place(0), base, "class=\"zero\"");
  const double tallest = std::log1p(static_cast<double>(*std::max_element(s.bins.begin(), s.bins.end())));
  for (std::size_t i = 0; i < s.bins.size(); ++i) {
    if (s.bins[i] == 0) continue;
    const double from = s.first + static_cast<double>(i) * s.width, middle = from + s.width / 2;
    const double height = std::max(1.0, std::log1p(static_cast<double>(s.bins[i])) / tallest * plot_height);
    const char* kind = !s.is_stored ? "float" : middle < s.low || middle > s.high ? "out" : "in";
    page.rect(place(from), base - height, std::max(0.5, place(from + s.width) - place(from) - 0.3), height,
              std::string("class=\"") + kind + "\"");
  }
  page.line(x, base, x + plot_width, base, "class=\"axis\"");
  page.text(x, base + 12, format_text("%.3g", low), "class=\"small\"");
  page.text(x + plot_width, base + 12, format_text("%.3g", high), "class=\"small end\"");
  const std::string said = !s.is_stored    ? std::string("stays float")
                           : s.outside > 0 ? format_text("%.2g %% beyond", s.outside * 100)
                                           : std::string();
  page.text(x + plot_width / 2, base + 12, said, "class=\"small middle\"");
}

/// A heading and plots below each other; returns the place below them.
double add_part(svg_page& page, const std::string& title, const std::vector<const seen_numbers*>& plots, double y) {
  page.text(left, y + 18, title, "class=\"part\"");
  y += heading - 12;
  for (std::size_t i = 0; i < plots.size(); ++i)
    add_plot(page, *plots[i], left + static_cast<double>(i % columns) * cell_width,
             y + static_cast<double>(i / columns) * cell_height);
  return y + static_cast<double>((plots.size() + columns - 1) / columns) * cell_height + 12;
}

}

std::string histograms_svg(const quantize_result& r, const std::string& model) {
  svg_page page(style);
  page.text(left, 30, "What is stored, and by which range: " + utf8_of(path_of(model).filename()), "class=\"title\"");
  page.text(left, 52, "how often each number was seen, upwards by its logarithm; shaded: the range of the 256 levels",
            "class=\"small\"");
  double x = left;
  for (const auto& [kind, text] :
       {std::pair("in", "in the range"), {"out", "beyond it, becomes its end"}, {"float", "stays float"}}) {
    page.rect(x, 63, 9, 9, std::string("class=\"") + kind + "\"");
    page.text(x + 14, 71, text, "class=\"small\"");
    x += 40 + 6.2 * static_cast<double>(std::string(text).size());
  }
  std::vector<const seen_numbers*> tensors, weights;
  for (const seen_numbers& s : r.tensors) tensors.push_back(&s);
  for (const layer_result& l : r.layers) weights.push_back(&l.weights);
  const double middle = add_part(page, "Activations, in order of depth", tensors, top);
  const double end = add_part(page, "Weights (range of the output channel with the largest)", weights, middle);
  return page.done(left + static_cast<double>(columns) * cell_width, end);
}

}
