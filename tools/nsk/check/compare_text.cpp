// SPDX-License-Identifier: MIT
#include "check/compare.hpp"
#include "io/text.hpp"

#include <nlohmann/json.hpp>

namespace nsk::tool {
namespace {
using nlohmann::json;

void add_row(text_table& table, const comparison& c, double tolerance) {
  table.add({c.step < 0 ? "output" : std::to_string(c.step), format_text("%.2e", c.relative),
             format_text("%.2e", c.max_error), format_text("%.2e", c.mean_error), format_text("%.3g", c.largest),
             format_text("%.0f", c.ulp), c.name + (c.relative > tolerance ? "  <- past the tolerance" : "")});
}

json row(const comparison& c) {
  json result = {
      {"name", c.name}, {"max_error", c.max_error}, {"mean_error", c.mean_error}, {"largest_magnitude", c.largest}};
  result["relative_error"] = c.relative;
  result["max_ulp"] = c.ulp;
  if (c.reach >= 0) result["window_error"] = c.reach;
  if (c.local >= 0) result["local_relative_error"] = c.local;
  if (c.unequal > 0) result["wrong_integers"] = c.unequal;
  if (c.step >= 0) {
    result["step"] = c.step;
    result["step_name"] = c.step_name;
  }
  return result;
}

}

namespace {
const char* reach_text(const comparison_report& report) {
  if (report.worst_reach() <= comparison_report::max_reach) return "";
  return report.judges_reach ? ", tolerance 1e-02" : "; where inputs are like these, convert with --hdr";
}
}

std::string cure_of(const comparison_report& report) {
  if (report.reaches_too_far())
    return format_text(
        "Elements are wrong by %.1e of what their own windows hold: leave Winograd's algorithms out there "
        "(--override).",
        report.worst_reach());
  if (!report.beyond_float32.empty())
    return report.beyond_float32 +
           " in double precision, and float32 has no normal number like that: scale the model so that its values stay "
           "between 1e-37 and 3e38.";
  return "Please report this with the model.";
}

std::string comparison_text(const comparison_report& report, double tolerance, std::size_t rows) {
  text_table table({">step", ">max / largest", ">max error", ">mean error", ">largest", ">ULP", "tensor"});
  for (const comparison& c : report.outputs) add_row(table, c, tolerance);
  for (std::size_t i = 0; i < report.steps.size() && i < rows; ++i) add_row(table, report.steps[i], tolerance);
  std::string text = table.text();
  if (rows > 0 && report.steps.size() > rows)
    text += format_text("(the worst %zu of %zu steps)\n", rows, report.steps.size());
  if (rows > 0 && report.steps_without_counterpart > 0)
    text += format_text("(%d steps compute values that the source does not name)\n", report.steps_without_counterpart);
  if (report.worst() > tolerance && report.worst_local() > tolerance / 5 && report.explained_by_rounding(tolerance))
    text += "what is past the tolerance moves as far when its operands are rounded: the model amplifies it there\n";
  else if (report.within(tolerance) && report.worst() > tolerance)
    text += format_text(
        "every step is right to %.1e on its own inputs: the model itself amplifies the rounding of float32, or jumps "
        "where two "
        "numbers are nearly equal\n",
        report.worst_local());
  if (report.worst_reach() >= 0)
    text += format_text("convolutions: worst error %.2e of what an element's own window holds%s\n",
                        report.worst_reach(), reach_text(report));
  if (!report.beyond_float32.empty())
    text += report.beyond_float32 + " in double precision, and float32 has no normal number like that\n";
  if (report.halves > 0)
    text += format_text("%lld stored integers are a step apart: the number was a half, to the last bits of float32\n",
                        static_cast<long long>(report.halves));
  if (const std::int64_t integers = report.integers(); integers > 0)
    text += format_text("%lld of %lld integers that steps make are equal, on the inputs of their step\n",
                        static_cast<long long>(integers - report.wrong_integers()), static_cast<long long>(integers));
  text +=
      format_text("check %s: %zu outputs and %zu steps, worst error %.2e of the largest magnitude, tolerance %.0e\n",
                  report.within(tolerance) ? "passed" : "FAILED", report.outputs.size(), report.steps.size(),
                  report.worst(), tolerance);
  return text;
}

json comparison_json(const comparison_report& report, double tolerance) {
  json result = {
      {"passed", report.within(tolerance)}, {"tolerance", tolerance}, {"worst_relative_error", report.worst()}};
  result["steps_without_counterpart"] = report.steps_without_counterpart;
  if (report.worst_reach() >= 0) result["worst_window_error"] = report.worst_reach();
  if (!report.beyond_float32.empty()) result["beyond_float32"] = report.beyond_float32;
  if (report.halves > 0) result["halves"] = report.halves;
  if (report.integers() > 0) result["integers"] = {{"made", report.integers()}, {"wrong", report.wrong_integers()}};
  result["outputs"] = json::array();
  result["steps"] = json::array();
  for (const comparison& c : report.outputs) result["outputs"].push_back(row(c));
  for (const comparison& c : report.steps) result["steps"].push_back(row(c));
  return result;
}

}
