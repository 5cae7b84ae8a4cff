// SPDX-License-Identifier: MIT
#include "quantize/apply/quantize.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "errors.hpp"
#include "quantize/narrow_weights.hpp"
#include "engine/model_file.hpp"
#include "quantize/choose/choose.hpp"
#include "quantize/apply/drop_bound.hpp"
#include "quantize/apply/equalize.hpp"
#include "quantize/apply/expected.hpp"
#include "quantize/apply/explain.hpp"
#include "quantize/layers.hpp"
#include "quantize/apply/network.hpp"
#include "quantize/apply/rewrite.hpp"
#include "io/text.hpp"
#include "resolve/infer.hpp"
#include "suggest.hpp"

namespace nsk::tool {
namespace {

/// Folds what layers do to their results into their weights.
void fold(variant_source& v) {
  fold_biases(v.g);
  fold_normalization(v.g);
}

/// The weights that a product of integers reads; null for other nodes.
const value* integer_weights_of(const graph& g, const node& n) {
  static const std::set<std::string> storing = {"QLinearConv", "QLinearConvAdd", "QLinearConvTranspose",
                                                "QLinearMatMul", "QGemm"};
  const bool stores = storing.count(n.op) != 0;
  if (!stores && n.op != "ConvInteger" && n.op != "MatMulInteger") return nullptr;
  return &g.values[static_cast<std::size_t>(n.inputs[stores ? 3 : 1])];
}

/// The layers that resolve() made integers: products that read weights of store_layers().
std::set<std::string> integer_layers(const graph& g, const std::vector<layer_result>& layers) {
  std::set<std::string> weights, found;
  for (const node& n : g.nodes)
    if (const value* w = integer_weights_of(g, n)) weights.insert(w->name);
  for (const layer_result& l : layers)
    if (weights.count(weights_name(l.name)) != 0) found.insert(l.name);
  return found;
}

std::vector<std::string> names_of(const std::vector<float_layer>& layers) {
  std::vector<std::string> names;
  for (const float_layer& l : layers) names.push_back(l.name);
  return names;
}

/// Refuses names that are no layers, and networks of which no layer is left.
void require_layers(const std::vector<float_layer>& layers, const std::set<std::string>& kept) {
  const std::vector<std::string> names = names_of(layers);
  for (const std::string& name : kept)
    if (std::find(names.begin(), names.end(), name) == names.end())
      misuse("--keep names '" + name + "', which is no layer that could be quantised." + did_you_mean(name, names));
  if (names.empty())
    refuse("the model has no convolution or matrix product with constant weights, which are what int8 makes faster");
  if (std::all_of(names.begin(), names.end(), [&](const std::string& n) { return kept.count(n) != 0; }))
    refuse(
        "no layer is left that could be int8: --keep or --override leave all of them as they are. Keep fewer, or use "
        "nsk convert");
}

/// Refuses weights and biases that no integer stands for, of layers that are not kept.
void require_finite(const std::vector<float_layer>& layers, const std::set<std::string>& kept) {
  const auto require = [](const float_layer& l, const std::vector<double>& numbers, const char* what) {
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (!std::isfinite(static_cast<float>(numbers[i])))
        refuse("layer '" + l.name + "': " + what + " " + std::to_string(i) +
               " is not finite, as it stands or with the normalization behind it, and int8 stores no such number. "
               "Correct the model, or give --keep " +
               l.name);
  };
  for (const float_layer& l : layers) {
    if (kept.count(l.name) != 0) continue;
    require(l, l.weights.values, "weight");
    require(l, l.bias, "bias");
  }
}

/// Layers in order, with the bytes that they have as floats and as integers.
std::vector<layer_result> describe_layers(const network& n, const graph& g) {
  std::vector<layer_result> result;
  for (const float_layer& l : n.layers()) {
    layer_result r;
    r.name = l.name;
    r.op = g.nodes[l.node].op;
    const auto weights = static_cast<std::int64_t>(l.weights.values.size()),
               channels = std::int64_t{l.weights.channels};
    r.weight_count = weights;
    r.bias_count = static_cast<std::int64_t>(l.bias.size());
    r.float_bytes = 4 * (weights + r.bias_count);
    r.int8_bytes = weights + 8 * channels;
    result.push_back(std::move(r));
  }
  return result;
}

/// Measures each layer as the only one of integers, and with `both` as the only one that is not, on a few samples.
void measure_layers(std::vector<layer_result>& layers, const network& n, const variant_source& exact,
                    const std::vector<sample>& judged, const std::set<std::string>& kept, bool both,
                    const report_progress& progress) {
  constexpr std::size_t max_measured = 4;
  const noise_meter meter(
      exact, {judged.begin(), judged.begin() + static_cast<std::ptrdiff_t>(std::min(max_measured, judged.size()))});
  for (std::size_t i = 0; i < layers.size(); ++i) {
    progress("measuring each layer", static_cast<double>(i) / static_cast<double>(layers.size()));
    layers[i].alone = meter.compare(n.with_only(layers[i].name)).lowest();
    if (!both) continue;
    std::set<std::string> without = kept;
    without.insert(layers[i].name);
    layers[i].without = meter.compare(n.without(without)).lowest();
  }
}

constexpr double min_gain = 1.03;  ///< by which integers must be estimated faster

/// Refuses networks that integers make no faster. `returned`: layers that --max-drop made floats.
[[noreturn]] void refuse_slow(const target& t, double gain, std::size_t returned) {
  const std::string where = " on " + t.name + " (" + t.machine + ")",
                    cures =
                        "--target size stores all layers as int8 whatever the speed, another --target is another "
                        "machine, and --format fp16 halves the weights";
  if (returned == 0) refuse("int8 is not estimated faster than float32" + where + ". " + cures);
  refuse("--max-drop returns " + std::to_string(returned) + " layers to floats, and with what is left as int8 the " +
         format_text("network is estimated %.3f times as fast as float32", gain) + where +
         ", which is not worth its error (1.03 is). A larger --max-drop returns fewer; " + cures);
}

/// Chooses the layers beside `kept` that stay float32 because that is estimated faster.
layer_choice choose_for(const target& t, const graph& g, const std::vector<float_layer>& layers,
                        const std::set<std::string>& forced, const std::set<std::string>& kept) {
  layer_choice choice = choose_layers(g, layers, kept, forced, t);
  const double gain = choice.float_cycles / choice.cycles;
  if (forced.empty() && (choice.floats.size() == layers.size() || gain < min_gain)) refuse_slow(t, gain, 0);
  for (const std::string& name : kept) choice.floats.erase(name);
  return choice;
}

/// Sets `own` of each layer: its output's signal to noise in dB against the float network's, where the layers `kept`
/// are floats and all others integers, as in the file.
void measure_layer_noise(std::vector<layer_result>& layers, const network& n, const std::vector<sample>& judged,
                         const std::set<std::string>& kept, const float_storage& floats) {
  std::vector<value_id> layer_outputs;
  for (const float_layer& l : n.layers()) layer_outputs.push_back(l.output);
  const std::map<std::string, double> noise =
      noise_meter(n.watched(layer_outputs), judged).compare(n.without(kept, layer_outputs), floats).outputs;
  for (std::size_t i = 0; i < layer_outputs.size(); ++i) layers[i].own = noise.at(n.name_of(layer_outputs[i]));
}

/// The scales of a layer's channels; null where its weights are no integers.
const array* scales_of(const graph& g, const std::string& layer) {
  for (const node& n : g.nodes)
    if (const value* w = integer_weights_of(g, n); w != nullptr && w->name == weights_name(layer))
      return g.values[static_cast<std::size_t>(g.find(w->name + "#scale"))].constant.get();
  return nullptr;
}

/// Counts the weights of a layer. `g` is the graph whose layers are integers.
void show_weights(layer_result& result, const float_layer& l, const graph& g) {
  constexpr double max_stored = 127;
  const std::vector<float> weights(l.weights.values.begin(), l.weights.values.end());
  histogram seen;
  if (!seen.add(weights.data(), weights.size())) return;  // not finite
  result.weights = numbers_of(seen);
  result.weights.name = l.name;
  const array* scales = scales_of(g, l.name);
  if (scales == nullptr || scales->count() == 0) return;
  double smallest = scales->number(0), largest = smallest;
  for (std::int64_t i = 1; i < scales->count(); ++i) {
    smallest = std::min(smallest, scales->number(i));
    largest = std::max(largest, scales->number(i));
  }
  result.weights.set_range(seen, -largest * max_stored, largest * max_stored, largest);
  result.min_channel_range = smallest * max_stored;
}

std::set<std::string> names_of_floats(const std::vector<layer_result>& layers) {
  std::set<std::string> names;
  for (const layer_result& l : layers)
    if (!l.is_int8()) names.insert(l.name);
  return names;
}

/// Adds what a report shows beside the layers' sensitivities. `g`: the finished network.
void describe(quantize_result& r, const network& n, const variant_source& exact, const graph& g, const graph& floats,
              const std::vector<sample>& judged, const std::set<std::string>& kept) {
  measure_layer_noise(r.layers, n, judged, kept, r.floats);
  for (std::size_t i = 0; i < r.layers.size(); ++i) show_weights(r.layers[i], n.layers()[i], g);
  r.tensors = n.tensors(kept);
  r.others = products_beside(floats, n.layers());
  r.float_file = compile({fixed_source(exact, bounds_of(exact.lengths))}, {});
}

/// Samples that show ranges, and those on which results are judged: every fourth where a bound is to hold on samples
/// that show no range.
struct divided_samples {
  std::vector<sample> shown, held_out;
  std::vector<std::string> shown_files;   ///< what they were read from
  std::vector<std::string> names, files;  ///< of those that are held out: "0003", and what it was read from

  const std::vector<sample>& judged() const { return held_out.empty() ? shown : held_out; }
};

divided_samples divide(const std::vector<sample>& all, const quantize_choices& how) {
  divided_samples d;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_held_out = how.seen != nullptr || (how.bound && i % 4 == 3);
    (is_held_out ? d.held_out : d.shown).push_back(all[i]);
    const std::string file = i < how.sample_files.size() ? how.sample_files[i] : std::to_string(i);
    (is_held_out ? d.files : d.shown_files).push_back(file);
    if (is_held_out) d.names.push_back(format_text("%04zu", i));
  }
  if (how.bound && d.held_out.empty())
    refuse("--max-drop holds out every fourth sample, and there are " + std::to_string(all.size()) +
           ". Give at least 4, 32 are better");
  return d;
}

/// Makes channels alike; returns between how many pairs of layers.
std::size_t equalize_channels(variant_source& v, const quantize_choices& how, const std::vector<sample>& shown) {
  if (how.equalizes == equalization::none) return 0;
  if (how.equalizes == equalization::weights) {
    const auto pairs = std::make_shared<std::size_t>(0);
    change_at_all_lengths(v, [pairs](variant_source& each) { *pairs = equalize(each.g, {}); });
    return *pairs;
  }
  if (v.at)
    refuse("--equalize activations looks at samples of one shape: take --equalize weights for a model with lengths");
  return equalize(v.g, [&](const std::vector<std::string>& names) { return channel_magnitudes_of(v, names, shown); });
}

/// How floats are stored: by --override, else as `halves` says.
float_storage storage_of(const graph& g, const quantize_choices& how, bool halves) {
  const std::set<std::string> small = how.chosen.of_format(layer_format::fp16),
                              large = how.chosen.of_format(layer_format::float32);
  float_storage result;
  result.halves = halves || !small.empty();
  for (const node& n : g.nodes)
    if (halves ? large.count(n.name) != 0 : small.count(n.name) == 0)
      result.float32.emplace(n.name, halves ? "--override" : "float32 by choice");
  return result;
}

/// Returns layers to floats until the bound holds: to float16 where that is asked for, and to float32 where it is not
/// enough. Returns those that the bound asked for; `kept` gets what no longer pays beside them too.
std::set<std::string> keep_bound(const quantize_choices& how, const network& n, const graph& g,
                                 const noise_meter& meter, const divided_samples& samples, quantize_result& result,
                                 std::set<std::string>& kept, const report_progress& progress) {
  const std::set<std::string> forced = how.chosen.of_format(layer_format::int8);
  return_rules rules{forced, nullptr};
  if (how.machine != nullptr)
    rules.add_unpaid = [&](std::set<std::string>& floats) {
      floats = choose_layers(g, n.layers(), floats, forced, *how.machine).floats;
    };
  bound_judge judge(*how.bound, meter, samples.names, samples.files);
  auto returned = return_layers(judge, n, result.layers, result.floats, kept, rules, progress);
  if (!returned && how.halves) {
    result.floats = storage_of(g, how, false);
    returned = return_layers(judge, n, result.layers, result.floats, kept, rules, progress);
  }
  if (!returned)
    refuse(
        format_text("--max-drop %.3g: ", how.bound->limit) +
        (forced.empty() ? "no layer can be int8: with one, " : "with the layers that --override makes int8 alone, ") +
        judge.said() +
        (forced.empty() ? ". Give more samples, another bound, or take --format fp16"
                        : ". Let fewer layers be int8 there, or give another bound"));
  result.bound = bound_result{how.bound->by, how.bound->limit, judge.reached(), judge.said()};
  return *returned;
}

/// Notes the format of each layer of the finished network `v`. With float16 it compiles `v`, which rounds its weights
/// to what the file has.
void note_formats(std::vector<layer_result>& layers, variant_source& v, const float_storage& floats) {
  const std::set<std::string> integers = integer_layers(v.g, layers);
  kept_layers not_halved;  // layers that the compiler keeps in float32, with why
  if (floats.halves) {
    variant_source stored = v;
    not_halved = float_layers(open_model(compile_as(stored, floats), v.g.name).view, weight_format::fp16);
    v.g = std::move(stored.g);
  }
  for (layer_result& l : layers)
    l.format = integers.count(l.name) != 0 ? layer_format::int8
               : floats.halves && not_halved.count(l.name) == 0 && floats.float32.count(l.name) == 0
                   ? layer_format::fp16
                   : layer_format::float32;
  for (layer_result& l : layers)
    if (l.format == layer_format::float32 && not_halved.count(l.name) != 0 && floats.float32.count(l.name) == 0)
      l.no_halves = not_halved.at(l.name);
}

/// Lets a name that several layers have in the source keep all of them. Returns what to say.
std::vector<std::string> keep_twins(std::set<std::string>& kept, const std::map<std::string, std::string>& twins,
                                    const std::vector<float_layer>& layers) {
  std::vector<std::string> notes;
  for (const std::string& name : std::set<std::string>(kept)) {
    std::vector<std::string> same;
    for (const float_layer& l : layers) {
      const auto twin = twins.find(l.name);
      if (l.name == name || (twin != twins.end() && twin->second == name)) same.push_back(l.name);
    }
    if (same.empty() || same == std::vector{name}) continue;
    kept.erase(name);
    kept.insert(same.begin(), same.end());
    notes.push_back("--keep " + name + " keeps " + std::to_string(same.size()) +
                    " layers, which have this name in the source: " + quoted(same));
  }
  return notes;
}

/// The layers that stay float32 because an option says so. Refuses names of no layer, and what contradicts itself.
std::set<std::string> kept_by(const quantize_choices& how, const std::vector<float_layer>& layers) {
  const std::vector<std::string> names = names_of(layers);
  std::set<std::string> kept = how.kept;
  for (const auto& [name, format] : how.chosen.layers) {
    const bool int8 = format == layer_format::int8;
    if (std::find(names.begin(), names.end(), name) == names.end())
      misuse("--override chooses for '" + name + "', which is no layer that could be quantised." +
             did_you_mean(name, names));
    if (int8 && how.kept.count(name) != 0)
      misuse("--keep leaves '" + name + "' as it is, and --override makes it int8. Leave one of them out.");
    if (!int8) kept.insert(name);
  }
  return kept;
}

}

std::int64_t layer_result::stored_bytes() const {
  return format == layer_format::int8   ? int8_bytes
         : format == layer_format::fp16 ? 2 * weight_count + 4 * bias_count
                                        : float_bytes;
}

quantize_result quantize(variant_source& v, const std::vector<sample>& samples, const quantize_choices& choices,
                         const std::function<void(const std::string& what, double share)>& progress) {
  quantize_choices how = choices;
  if (how.bound && !v.states.empty())
    refuse(
        "--max-drop holds out every fourth sample, and those of a model with states are one sequence. Leave it out, or "
        "keep the states inputs and outputs with --no-states");
  require_indices(v, samples, how.sample_files);
  const variant_source exact = v;
  change_at_all_lengths(v, fold);
  const divided_samples divided = divide(samples, how);
  quantize_result result;
  result.equalized = equalize_channels(v, how, divided.shown);
  std::vector<float_layer> layers = layers_of(v.g);
  const std::vector<std::string> twins = keep_twins(how.kept, v.g.facts.twins, layers);
  std::set<std::string> kept = kept_by(how, layers);
  require_layers(layers, kept);
  require_finite(layers, kept);
  const std::set<std::string> asked = kept, forced = how.chosen.of_format(layer_format::int8);
  if (how.machine != nullptr) kept.merge(choose_for(*how.machine, v.g, layers, forced, kept).floats);
  const graph floats = v.g;
  const network n(v, std::move(layers), divided.shown, divided.shown_files, how, progress);
  result.samples = n.seen().samples;
  result.held_out = divided.held_out.size();
  result.layers = describe_layers(n, v.g);
  result.floats = storage_of(floats, how, how.halves);
  const noise_meter meter(exact, divided.judged());
  if (how.measures || how.bound)
    measure_layers(result.layers, n, exact, divided.judged(), kept, how.measures, progress);
  std::set<std::string> returned;
  if (how.bound) returned = keep_bound(how, n, floats, meter, divided, result, kept, progress);
  progress("quantising", -1);
  std::vector<std::string> beyond;
  v = n.without(kept, {}, &beyond);
  note_formats(result.layers, v, result.floats);
  std::set<std::string> slow = kept;  // as integers
  for (const std::string& name : asked) slow.erase(name);
  for (const std::string& name : returned) slow.erase(name);
  find_reasons(result.layers, n, floats, how, kept, slow, beyond);
  const target& machine = how.machine != nullptr ? *how.machine : targets().front();
  const expected_time expected = expected_on(machine, floats, n.layers(), names_of_floats(result.layers));
  if (how.machine != nullptr && forced.empty() && expected.before < min_gain * expected.after)
    refuse_slow(machine, expected.before / expected.after, returned.size());
  progress("measuring", -1);
  if (!divided.judged().empty()) result.outputs = meter.compare(v, result.floats).outputs;
  result.seen = n.seen();
  result.chosen = n.chosen(result.layers);
  if (how.measures) describe(result, n, exact, v.g, floats, divided.judged(), kept);
  if (how.measures) result.expected = {expected};
  result.notes = notes_of(result, returned.size());
  result.notes.insert(result.notes.begin(), twins.begin(), twins.end());
  const std::string speed = note_of(expected, how.machine, slow.size(), result.layers.size());
  if (!speed.empty()) result.notes.push_back(speed);
  if (!how.integer_ports.empty()) v = n.with_integer_ports(kept, result.ports);
  return result;
}

void quantize_alike(graph& g, const std::vector<state_link>& states, const quantize_result& found,
                    const quantize_choices& choices) {
  if (choices.equalizes == equalization::activations)
    refuse("--equalize activations looks at samples of one variant: take --equalize weights for several");
  variant_source v{"alike", std::move(g), states};
  fold(v);
  if (choices.equalizes == equalization::weights) equalize(v.g, {});
  std::vector<float_layer> layers = layers_of(v.g);
  std::set<std::string> kept, known;
  for (const layer_result& l : found.layers) {
    known.insert(l.name);
    if (!l.is_int8()) kept.insert(l.name);
  }
  for (const float_layer& l : layers)
    if (known.count(l.name) == 0)
      refuse("'" + l.name +
             "' is a layer of one variant and not of the first one, of which samples show ranges. "
             "Quantise the variants in files of their own");
  quantize_choices how = choices;
  how.chosen = found.chosen;
  const network n(v, std::move(layers), found.seen, how);
  std::map<std::string, stored_port> ports;
  // Integers in all layers but the kept ones.
  g = how.integer_ports.empty() ? n.without(kept).g : n.with_integer_ports(kept, ports).g;
}

}
