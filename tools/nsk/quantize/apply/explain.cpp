// SPDX-License-Identifier: MIT
#include "quantize/apply/explain.hpp"

#include <algorithm>
#include <cmath>

#include "io/text.hpp"

namespace nsk::tool {
namespace {

constexpr double doubtful_db = 20;  // an error of a tenth

/// Why a layer is estimated faster as it is.
std::string why_faster(const graph& g, const float_layer& l, const target& t) {
  const layer_cost c = cost_of(g, l, t);
  const std::string cycles = format_text(" (%.2f against %.2f million cycles)", c.floats * 1e-6, c.bytes * 1e-6);
  if (c.floats >= c.bytes) return "conversions around it would take longer on " + t.name + " than int8 gains" + cycles;
  const bool winograd = float_algorithm(g, l) != conv_algorithm::direct;
  return (winograd ? "faster by Winograd on " : "faster as it is on ") + t.name + cycles;
}

/// What no integer stands for in a layer; empty where there is nothing.
std::string not_finite(const float_layer& l) {
  const auto is_wrong = [](double x) { return !std::isfinite(static_cast<float>(x)); };
  if (std::any_of(l.weights.values.begin(), l.weights.values.end(), is_wrong)) return ", weights not finite";
  if (std::any_of(l.bias.begin(), l.bias.end(), is_wrong)) return ", biases not finite";
  return "";
}

}

void find_reasons(std::vector<layer_result>& layers, const network& n, const graph& floats, const quantize_choices& how,
                  const std::set<std::string>& kept, const std::set<std::string>& slow,
                  const std::vector<std::string>& beyond) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layer_result& l = layers[i];
    if (l.is_int8()) continue;
    l.is_surprise = kept.count(l.name) == 0;
    const auto asked = how.chosen.layers.find(l.name);
    const float_layer& layer = n.layers()[i];
    const bool wanted_halves = asked != how.chosen.layers.end() && asked->second == layer_format::fp16;
    l.reason = how.kept.count(l.name) != 0 ? "kept by --keep" + not_finite(layer)
               : asked != how.chosen.layers.end() && asked->second != layer_format::int8
                   ? "kept by --override" + not_finite(layer)
               : slow.count(l.name) != 0 ? why_faster(floats, layer, *how.machine)
               : !l.is_surprise          ? "returned by --max-drop"
               : std::find(beyond.begin(), beyond.end(), l.name) != beyond.end() ? "its sums may be beyond int32"
                                                                                 : "no integer operator computes it";
    if (l.no_halves.empty()) continue;
    l.reason += ", no fp16: " + l.no_halves;
    l.is_surprise = l.is_surprise || wanted_halves;
  }
}

std::vector<std::string> notes_of(const quantize_result& r, std::size_t returned) {
  std::vector<std::string> said;
  const auto integers =
      std::count_if(r.layers.begin(), r.layers.end(), [](const layer_result& l) { return l.is_int8(); });
  said.push_back("int8 in " + std::to_string(integers) + " of " + std::to_string(r.layers.size()) + " layers, by " +
                 std::to_string(r.samples) + " samples");
  for (const layer_result& l : r.layers)
    if (l.is_surprise) said.push_back(std::string(name_of(l.format)) + " in " + l.name + ": " + l.reason);
  if (r.equalized > 0)
    said.push_back("channels are equalised between " + std::to_string(r.equalized) + " pairs of layers");
  if (returned > 0)
    said.push_back(std::to_string(returned) + " layers stay " + (r.floats.halves ? "fp16 or float32" : "float32") +
                   " for --max-drop");
  if (r.bound)
    said.push_back(format_text("--max-drop %g holds on samples that were held out: ", r.bound->limit) + r.bound->said);
  const char* const where = r.held_out > 0 ? "samples that were held out" : "the samples";
  for (const auto& [name, db] : r.outputs)
    said.push_back(format_text("output '%s': %.1f dB of signal to noise on %s", name.c_str(), db, where));
  const auto worst = std::min_element(r.outputs.begin(), r.outputs.end(),
                                      [](const auto& a, const auto& b) { return a.second < b.second; });
  if (worst != r.outputs.end() && worst->second < doubtful_db)
    said.push_back(format_text(
        "output '%s' is off by %.2f of its magnitude: compare its results with the source's before this file is used. "
        "--max-drop 0.05 returns layers to float32, --report FILE.md measures each, --format fp16 rounds weights alone",
        worst->first.c_str(), std::pow(10, -worst->second / 20)));
  return said;
}

std::string note_of(const expected_time& e, const target* t, std::size_t slow, std::size_t layers) {
  constexpr double doubtful_gain = 1.25;
  const target& machine = t != nullptr ? *t : targets().front();
  const double gain = e.before / e.after;
  const std::string where = "on " + machine.name + " (" + machine.machine + "): ",
                    estimate = format_text("%.2f times as fast as float32, by estimate", gain);
  if (t == nullptr)
    return gain >= doubtful_gain ? ""
                                 : where + estimate +
                                       "; estimates are up to a quarter too good, so it may be slower. Measure it "
                                       "(nsk bench), or give --target a machine, or take --format fp16";
  if (slow == 0) return where + estimate;
  return where + std::to_string(slow) + " of " + std::to_string(layers) +
         " layers stay float32, which is estimated faster there (--target size stores them too), " + estimate;
}

}
