// SPDX-License-Identifier: MIT
#include "quantize/report/report.hpp"

#include <algorithm>
#include <filesystem>

#include "draw/svg.hpp"
#include "io/system/paths.hpp"
#include "io/text.hpp"

namespace nsk::tool {
namespace {

constexpr double left = 60, top = 96, height = 280, bottom = 50, right = 30;
constexpr double max_db = 80, db_step = 10;  // what is better than that is as good
constexpr const char* style =
    "text { font: 12px 'DejaVu Sans', Verdana, sans-serif; fill: #333 }\n"
    ".title { font-size: 17px; font-weight: bold; fill: #111 } .small { font-size: 11px; fill: #666 }\n"
    ".end { text-anchor: end } .middle { text-anchor: middle }\n"
    ".grid { stroke: #e4e4e4 } .axis { stroke: #888 } .stem { stroke: #b9cbdc; stroke-width: 1.5 }\n"
    ".alone { fill: #2f6f9f } .depth { fill: #3c8d57 } .float { fill: #c0392b } .own { fill: none; stroke: #9fcab0 } "
    "circle:hover { stroke: #111; "
    "stroke-width: 1.5 }\n";

double y_of(double db) { return top + height * (1 - std::clamp(db, 0.0, max_db) / max_db); }

std::string decibels(double db) { return db >= 200 ? "equal" : format_text("%.1f", db); }

/// Products with weights that are no layers, and why.
std::string other_layers(const quantize_result& r) {
  if (r.others.empty()) return "";
  std::string text = "\n## Products that cannot be int8\n\n| node | operator | why |\n| --- | --- | --- |\n";
  for (const other_product& o : r.others) text += "| `" + cell_text(o.name) + "` | " + o.op + " | " + o.reason + " |\n";
  return text;
}

/// What each layer makes in the file, from the input to the outputs.
std::string by_depth(const quantize_result& r) {
  std::string text =
      "\n## Signal to noise by depth\n\n| depth | layer | stored as | its own result |\n| ---: | --- | --- | ---: |\n";
  for (std::size_t i = 0; i < r.layers.size(); ++i)
    text += format_text("| %zu | `%s` | %s | %s |\n", i, cell_text(r.layers[i].name).c_str(),
                        name_of(r.layers[i].format), decibels(r.layers[i].own).c_str());
  return text;
}

/// One line of the table of ranges.
std::string range_of(const std::string& what, const seen_numbers& s) {
  std::string text = "| " + what + " `" + cell_text(s.name) + "` | ";
  if (s.bins.empty()) return text + "not finite | | | |\n";
  text += format_text("%.4g | %.4g | ", s.minimum, s.maximum);
  if (!s.is_stored) return text + "as they are | |\n";
  return text + format_text("%.4g to %.4g | %.3g %% |\n", s.low, s.high, s.outside * 100);
}

std::string ranges_of(const quantize_result& r, const std::string& charts) {
  std::string text = "\n## Ranges\n\n![histograms](" + charts +
                     ".histograms.svg)\n\n| numbers | smallest | largest | stored range | beyond it |\n| --- | ---: | "
                     "---: | --- | ---: "
                     "|\n";
  for (const seen_numbers& s : r.tensors) text += range_of("tensor", s);
  for (const layer_result& l : r.layers) text += range_of("weights of", l.weights);
  return text +
         "\nThe range of weights is that of the output channel with the largest weights. What is beyond a range "
         "becomes "
         "its end.\n";
}

void add_legend(svg_page& page) {
  const struct {
    const char *kind, *text;
  } entries[] = {{"alone", "outputs, when this layer alone is int8"},
                 {"depth", "what the layer makes, when all are"},
                 {"float", "a layer that stays float"}};
  double x = left;
  for (const auto& e : entries) {
    page.circle(x + 4, 74, 4, std::string("class=\"") + e.kind + "\"");
    page.text(x + 13, 78, e.text, "class=\"small\"");
    x += 40 + 6.2 * static_cast<double>(std::string(e.text).size());
  }
}

}

std::string quantize_markdown(const quantize_result& r, const report_context& about, const std::string& charts) {
  std::int64_t before = 0, after = 0;
  std::size_t integers = 0;
  for (const layer_result& l : r.layers) {
    before += l.float_bytes;
    after += l.stored_bytes();
    integers += l.is_int8() ? 1 : 0;
  }
  std::string text = "# Quantisation of `" + cell_text(about.source) + "`\n\n| | |\n| --- | --- |\n| model | `" +
                     cell_text(about.model) + "` |\n";
  text += format_text("| layers | %zu of %zu are int8 |\n", integers, r.layers.size());
  text +=
      format_text("| weights | %lld of %lld bytes |\n", static_cast<long long>(after), static_cast<long long>(before));
  text += format_text("| file | %lld of %lld bytes |\n", static_cast<long long>(about.model_bytes),
                      static_cast<long long>(about.float_bytes));
  for (const expected_time& e : r.expected)
    text += format_text("| expected | %.3f of %.3f ms, on %s |\n", e.after, e.before, cell_text(e.how).c_str());
  text += format_text("| samples | %zu showed ranges, %zu were held out |\n", r.samples, r.held_out);
  if (r.bound) text += format_text("| bound | --max-drop %g: %s |\n", r.bound->limit, r.bound->said.c_str());
  for (const auto& [name, db] : r.outputs) text += "| output `" + cell_text(name) + "` | " + decibels(db) + " dB |\n";
  text += "\nSignal to noise against the float32 model" +
          std::string(r.held_out > 0 ? ", on the samples that were held out" : "") +
          ": 20 dB is an error of a tenth, 40 dB of a hundredth of the root of the mean square.\n\n![signal to noise "
          "by depth](" +
          charts +
          ".svg)\n\n## Layers, the most sensitive first\n\n"
          "| layer | operator | alone int8 | alone float32 | its own result | bytes | |\n"
          "| --- | --- | ---: | ---: | ---: | ---: | --- |\n";
  std::vector<std::size_t> order(r.layers.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return r.layers[a].alone < r.layers[b].alone; });
  for (const std::size_t i : order) {
    const layer_result& l = r.layers[i];
    text += "| `" + cell_text(l.name) + "` | " + l.op + " | " + decibels(l.alone) + " | " + decibels(l.without) +
            " | " + decibels(l.own) +
            format_text(" | %lld to %lld | ", static_cast<long long>(l.float_bytes),
                        static_cast<long long>(l.stored_bytes())) +
            (l.is_int8() ? "" : std::string(name_of(l.format)) + ": " + cell_text(l.reason)) + " |\n";
  }
  text +=
      "\n*alone int8*: the worst output, in dB, when no other layer is. *alone float32*: the worst output when all "
      "others are int8. *its own\nresult*: what the layer makes, with all layers as they are in the file.\n";
  return text + other_layers(r) + by_depth(r) + ranges_of(r, charts);
}

std::string quantize_svg(const quantize_result& r, const std::string& model) {
  const std::size_t layers = std::max<std::size_t>(1, r.layers.size());
  const double width = std::clamp(static_cast<double>(layers) * 16.0, 700.0, 1400.0),
               step = width / static_cast<double>(layers), base = top + height;
  svg_page page(style);
  page.text(left, 30, "Signal to noise by layer: " + utf8_of(path_of(model).filename()), "class=\"title\"");
  page.text(left, 52, "dB against float32, more is better; 40 dB is an error of a hundredth", "class=\"small\"");
  add_legend(page);
  for (double db = 0; db <= max_db; db += db_step) {
    page.line(left, y_of(db), left + width, y_of(db), "class=\"grid\"");
    page.text(left - 8, y_of(db) + 4, format_text("%.0f", db), "class=\"small end\"");
  }
  const auto every = static_cast<std::size_t>(std::max(1.0, axis_step(static_cast<double>(layers), 14)));
  for (std::size_t i = 0; i < r.layers.size(); i += every)
    page.text(left + (static_cast<double>(i) + 0.5) * step, base + 18, std::to_string(i), "class=\"small middle\"");
  page.text(left + width / 2, base + 38, "layer", "class=\"small middle\"");
  std::string own = "M";
  for (std::size_t i = 0; i < r.layers.size(); ++i)
    own += format_text(" %.1f %.1f", left + (static_cast<double>(i) + 0.5) * step, y_of(r.layers[i].own));
  if (r.layers.size() > 1) page.path(own, "class=\"own\"");
  for (std::size_t i = 0; i < r.layers.size(); ++i) {
    const layer_result& l = r.layers[i];
    const double x = left + (static_cast<double>(i) + 0.5) * step;
    page.line(x, y_of(0), x, y_of(l.alone), "class=\"stem\"");
    const std::string kind = l.is_int8() ? "alone" : "float";
    page.circle(x, y_of(l.alone), 3.6, "class=\"" + kind + "\"",
                l.name + "\nalone int8: " + decibels(l.alone) + " dB\nalone float32: " + decibels(l.without) + " dB");
    page.circle(x, y_of(l.own), 2.6, "class=\"depth\"", l.name + "\nits own result: " + decibels(l.own) + " dB");
  }
  page.line(left, base, left + width, base, "class=\"axis\"");
  return page.done(left + width + right, base + bottom);
}

void write_quantize_report(command_files& files, const std::string& path, const quantize_result& r,
                           const report_context& about) {
  files.write(beside(path, ".svg"), quantize_svg(r, about.model));
  files.write(beside(path, ".histograms.svg"), histograms_svg(r, about.model));
  files.write(beside(path, ".json"), quantize_json(r, about));
  files.write(path, quantize_markdown(r, about, utf8_of(path_of(path).stem())));
}

}
