// SPDX-License-Identifier: MIT
#include "check/check_report.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "errors.hpp"
#include "draw/svg.hpp"
#include "io/system/paths.hpp"
#include "io/text.hpp"

namespace nsk::tool {
namespace {
using nlohmann::json;

constexpr double left = 78, top = 70, height = 300, bottom = 58, right = 34;
constexpr double smallest = 1e-9;  ///< error at which the scale begins; what is below, 0 included, is on its base
constexpr const char* style =
    "text { font: 12px 'DejaVu Sans', Verdana, sans-serif; fill: #333 }\n"
    ".title { font-size: 17px; font-weight: bold; fill: #111 } .small { font-size: 11px; fill: #666 }\n"
    ".end { text-anchor: end } .middle { text-anchor: middle }\n"
    ".grid { stroke: #e4e4e4 } .axis { stroke: #888 } .stem { stroke: #b9cbdc; stroke-width: 1.5 }\n"
    ".step { fill: #2f6f9f } .output { fill: #3c8d57 } .bad { fill: #c0392b } circle:hover { stroke: #111; "
    "stroke-width: 1.5 }\n"
    ".limit { stroke: #c0392b; stroke-width: 1.2; stroke-dasharray: 6 4 } .limittext { fill: #c0392b }\n";

std::string row_of(const json& c, double tolerance, const std::string& first, const std::string& last) {
  const double relative = c["relative_error"];
  return "| " + first + " | " +
         format_text("%.2e | %.2e | %.2e | %.3g | %.0f | ", relative, c["max_error"].get<double>(),
                     c["mean_error"].get<double>(), c["largest_magnitude"].get<double>(), c["max_ulp"].get<double>()) +
         "`" + cell_text(c["name"]) + "`" + last + (relative > tolerance ? " | **past the tolerance** |\n" : " | |\n");
}

constexpr const char* columns = "max / largest | max error | mean error | largest | ULP | ";
constexpr const char* rule = "---: | ---: | ---: | ---: | ---: | ";

/// Height of an error on the page; errors that are no number are at the top.
double y_of(double error, double largest) {
  const double low = std::log10(smallest), high = std::log10(largest);
  const double at = std::isfinite(error) ? std::log10(std::max(error, smallest)) : high;
  return top + height * (1 - std::clamp((at - low) / (high - low), 0.0, 1.0));
}

double number_of(const json& j) { return j.is_number() ? j.get<double>() : INFINITY; }

}

std::string check_markdown(const check_report& r, const std::string& image) {
  const json& c = r.comparison;
  const double tolerance = c["tolerance"], worst = number_of(c["worst_relative_error"]);
  const bool passed = c["passed"];
  std::string text = "# Check of `" + r.model + "`\n\n";
  text += passed ? "**Passed**: " : "**Failed**: ";
  text += format_text("the worst error is %.2e of the largest magnitude of its tensor, the tolerance %.0e.\n\n", worst,
                      tolerance);
  text += "| | |\n| --- | --- |\n| source | `" + cell_text(r.source) + "` |\n| model | `" + cell_text(r.model) +
          "` |\n| instruction set | " + r.isa + " |\n";
  text += "| compared with | the reference evaluator: the source model, step by step, sums in double precision |\n";
  for (const auto& [name, how] : r.inputs) text += "| input `" + cell_text(name) + "` | " + cell_text(how) + " |\n";
  text += format_text("| tolerance | %.0e of the largest magnitude |\n\n", tolerance);
  text += "![error by depth](" + image + ")\n\n## Outputs\n\n| output | " + std::string(columns) +
          "tensor | verdict |\n| --- | " + rule + "--- | --- |\n";
  int index = 0;
  for (const json& o : c["outputs"]) text += row_of(o, tolerance, std::to_string(index++), "");
  text += "\n## Steps, worst first\n\n| step | " + std::string(columns) + "tensor and step | verdict |\n| ---: | " +
          rule + "--- | --- |\n";
  for (const json& s : c["steps"])
    text += row_of(s, tolerance, s["step"].dump(), " of " + cell_text(shortened(s["step_name"], 60)));
  const int without = c["steps_without_counterpart"];
  if (without > 0)
    text +=
        format_text("\n%d steps compute values that the source does not name (parts of fused operations).\n", without);
  text +=
      "\n*max / largest*: largest error over the tensor's largest magnitude, the figure that the tolerance refers to. "
      "*ULP*: largest\n"
      "distance in units in the last place of float32, among values above a thousandth of that magnitude.\n";
  return text;
}

std::string check_svg(const check_report& r) {
  const json& c = r.comparison;
  const double tolerance = c["tolerance"];
  int steps = 1;
  double largest = std::max(1e-3, tolerance * 10);
  for (const char* const list : {"steps", "outputs"}) {
    for (const json& s : c[list]) {
      if (s.contains("step")) steps = std::max(steps, s["step"].get<int>() + 1);
      const double error = number_of(s["relative_error"]);
      if (std::isfinite(error))
        largest = std::max(largest, std::pow(10, std::ceil(std::log10(std::max(error, smallest)))));
    }
  }
  const double width = std::clamp(steps * 14.0, 640.0, 1400.0), step_width = width / (steps + 1), base = top + height;
  svg_page page(style);
  page.text(left, 32, "Error by depth: " + utf8_of(path_of(r.model).filename()), "class=\"title\"");
  page.text(left, 52,
            "largest error of each step's result, as a share of its largest magnitude; outputs in green at the right",
            "class=\"small\"");
  for (double power = smallest; power <= largest * 1.01; power *= 10) {
    page.line(left, y_of(power, largest), left + width, y_of(power, largest), "class=\"grid\"");
    page.text(left - 8, y_of(power, largest) + 4, format_text("%.0e", power), "class=\"small end\"");
  }
  const int every = std::max(1, static_cast<int>(axis_step(steps, 14)));
  for (int step = 0; step < steps; step += every)
    page.text(left + (step + 0.5) * step_width, base + 18, std::to_string(step), "class=\"small middle\"");
  page.text(left + width / 2, base + 40, "step", "class=\"small middle\"");
  page.line(left, base, left + width, base, "class=\"axis\"");
  page.line(left, y_of(tolerance, largest), left + width, y_of(tolerance, largest), "class=\"limit\"");
  page.text(left + width - 4, y_of(tolerance, largest) - 6, format_text("tolerance %.0e", tolerance),
            "class=\"limittext end\"");
  const auto point = [&](const json& s, double place, const char* kind) {
    const double error = number_of(s["relative_error"]), x = left + (place + 0.5) * step_width,
                 y = y_of(error, largest);
    page.line(x, base, x, y, "class=\"stem\"");
    const std::string what = error > tolerance ? "bad" : kind;
    page.circle(x, y, 3.4, "class=\"" + what + "\"", s["name"].get<std::string>() + format_text("\n%.2e", error));
  };
  for (const json& s : c["steps"]) point(s, s["step"].get<int>(), "step");
  for (const json& o : c["outputs"]) point(o, steps, "output");
  return page.done(left + width + right, base + bottom);
}

void write_check_report(command_files& files, const std::string& path, const check_report& r) {
  const std::string image = beside(path, ".svg");
  files.write(image, check_svg(r));
  files.write(path, check_markdown(r, utf8_of(path_of(image).filename())));
}

}
