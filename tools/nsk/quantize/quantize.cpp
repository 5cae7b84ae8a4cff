// SPDX-License-Identifier: MIT
#include "quantize/quantize.hpp"

#include <algorithm>
#include <cmath>

#include "errors.hpp"
#include "quantize/choose.hpp"
#include "quantize/flow.hpp"
#include "quantize/layers.hpp"
#include "quantize/rewrite.hpp"
#include "report/text.hpp"
#include "resolve/infer.hpp"
#include "suggest.hpp"

namespace nsk::tool {
namespace {

using report_progress = std::function<void(const std::string& what, double share)>;

/// The layers that resolve() made integers: products that read weights of store_layers().
std::set<std::string> integer_layers(const graph& g, const std::vector<layer_result>& layers) {
  std::set<std::string> weights, found;
  for (const node& n : g.nodes)
    if (n.op == "QLinearConv" || n.op == "QLinearConvAdd" || n.op == "QLinearMatMul" || n.op == "QGemm")
      weights.insert(g.values[static_cast<std::size_t>(n.inputs[3])].name);
  for (const layer_result& l : layers)
    if (weights.count(weights_name(l.name)) != 0) found.insert(l.name);
  return found;
}

/// Refuses names that are no layers, and networks of which no layer is left.
void require_layers(const std::vector<float_layer>& layers, const std::set<std::string>& kept) {
  std::vector<std::string> names;
  for (const float_layer& l : layers) names.push_back(l.name);
  for (const std::string& name : kept)
    if (std::find(names.begin(), names.end(), name) == names.end())
      misuse("--keep names '" + name + "', which is no layer that could be quantised." + did_you_mean(name, names));
  if (std::all_of(names.begin(), names.end(), [&](const std::string& n) { return kept.count(n) != 0; }))
    refuse("the model has no convolution or matrix product with constant weights, which are what int8 makes faster");
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

constexpr double doubtful_db = 20;  // an error of a tenth

/// What happened, for people.
std::vector<std::string> notes_of(const quantize_result& r, std::size_t returned) {
  std::vector<std::string> said;
  const auto integers =
      std::count_if(r.layers.begin(), r.layers.end(), [](const layer_result& l) { return l.integers; });
  said.push_back("int8 in " + std::to_string(integers) + " of " + std::to_string(r.layers.size()) + " layers, by " +
                 std::to_string(r.samples) + " samples");
  for (const layer_result& l : r.layers)
    if (l.is_surprise) said.push_back("float32 in " + l.name + ": " + l.reason);
  if (returned > 0) said.push_back(std::to_string(returned) + " layers stay float32 for --max-drop");
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

/// A calibrated network, of which any layers can be made integers.
class network {
 public:
  /// `v`: biases and normalization are folded; `layers` are its layers.
  network(const variant_source& v, std::vector<float_layer> layers, const std::vector<sample>& samples,
          const quantize_choices& how, const report_progress& progress)
      : m_source(v), m_how(how), m_layers(std::move(layers)) {
    m_seen.model = hash_of(v.g);
    std::set<std::string> names;
    for (const value_id id : plan_flow(v.g, m_layers).stored) names.insert(name_of(id));
    for (const float_layer& l : m_layers) names.insert(name_of(l.output));  // stored where fewer layers are integers
    if (how.seen != nullptr) {
      require_same(*how.seen, names);
      m_seen = *how.seen;
    } else {
      m_seen.samples = samples.size();
      m_seen.tensors =
          calibrate(v, {names.begin(), names.end()}, samples, [&](double share) { progress("calibrating", share); });
    }
    for (const auto& [name, seen] : m_seen.tensors) m_scales[name] = scale_of(seen.values, how.ranges);
    for (const auto& [name, range] : how.chosen.ranges) {
      if (m_scales.count(name) == 0)
        misuse("--overrides gives tensor '" + name + "' a range, and there is no such tensor that could be stored." +
               did_you_mean(name, {names.begin(), names.end()}));
      m_scales[name] = scale_between(range[0], range[1]);
    }
  }

  const std::vector<float_layer>& layers() const { return m_layers; }
  const std::string& name_of(value_id v) const { return m_source.g.values[static_cast<std::size_t>(v)].name; }

  /// The network with integers in all layers but `kept`; `watched` become outputs as well. `floats` gets the names of
  /// layers whose sums int32 may not hold.
  variant_source without(const std::set<std::string>& kept, const std::vector<value_id>& watched = {},
                         std::vector<std::string>* floats = nullptr) const {
    variant_source v = m_source;
    std::vector<float_layer> chosen;
    for (const float_layer& l : m_layers)
      if (kept.count(l.name) == 0) chosen.push_back(l);
    byte_flow flow = plan_flow(v.g, chosen);
    const auto unseen = [&](value_id id) { return m_seen.tensors.count(name_of(id)) == 0; };
    for (auto id = flow.stored.begin(); id != flow.stored.end();)
      id = unseen(*id) || unseen(flow.scale_of(*id)) ? flow.stored.erase(id) : std::next(id);
    add_outputs(v.g, watched);
    const std::vector<std::string> beyond = store_layers(v.g, chosen, flow, m_seen.tensors, m_scales, m_how);
    if (floats != nullptr) *floats = beyond;
    resolve(v.g, {});
    return v;
  }
  variant_source with_only(const std::string& name) const {
    std::set<std::string> others;
    for (const float_layer& l : m_layers)
      if (l.name != name) others.insert(l.name);
    return without(others);
  }
  const calibration& seen() const { return m_seen; }
  /// All choices, `integers` being the layers that are.
  overrides chosen(const std::vector<layer_result>& results) const {
    overrides o;
    for (const layer_result& l : results) o.integers[l.name] = l.integers;
    for (const auto& [name, s] : m_scales)
      o.ranges[name] = {static_cast<double>(s.scale) * -s.zero, static_cast<double>(s.scale) * (255 - s.zero)};
    return o;
  }
  /// The float network, with more outputs.
  variant_source watched(const std::vector<value_id>& ids) const {
    variant_source v = m_source;
    add_outputs(v.g, ids);
    return v;
  }

 private:
  void require_same(const calibration& c, const std::set<std::string>& names) const {
    bool same = c.model == m_seen.model;
    for (const std::string& name : names) {
      const auto t = c.tensors.find(name);
      const value& v = m_source.g.values[static_cast<std::size_t>(m_source.g.find(name))];
      same = same && t != c.tensors.end() &&
             t->second.channel_sums.size() == static_cast<std::size_t>(v.shape[channel_axis(v.shape)]);
    }
    if (!same)
      refuse(
          "--calibration: it belongs to another model, or to another version of this one. Make it anew with "
          "--calibrate and --save-calibration");
  }
  static void add_outputs(graph& g, const std::vector<value_id>& ids) {
    for (const value_id id : ids)
      if (std::find(g.outputs.begin(), g.outputs.end(), id) == g.outputs.end()) g.outputs.push_back(id);
  }

  const variant_source m_source;
  const quantize_choices& m_how;
  const std::vector<float_layer> m_layers;
  calibration m_seen;
  std::map<std::string, byte_scale> m_scales;
};

double error_of_noise(double db) { return std::pow(10, -db / 20); }

/// Adds layers to `kept`, the most sensitive ones first, until the outputs are within the bound. Returns how many.
std::size_t keep_for(double max_error, const network& n, const noise_meter& meter, std::vector<layer_result> layers,
                     std::set<std::string>& kept, const std::set<std::string>& forced,
                     const report_progress& progress) {
  std::sort(layers.begin(), layers.end(),
            [](const layer_result& a, const layer_result& b) { return a.alone < b.alone; });
  const std::set<std::string> before = kept;
  std::vector<std::string> candidates;
  for (const layer_result& l : layers)
    if (kept.count(l.name) == 0 && forced.count(l.name) == 0) candidates.push_back(l.name);
  const std::size_t max_count = candidates.size() - (forced.empty() && !candidates.empty() ? 1 : 0);
  double reached = 0;
  const auto keep = [&](std::size_t count) {
    kept = before;
    kept.insert(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(count));
  };
  const auto holds = [&](std::size_t count) {
    keep(count);
    progress("returning layers to float32", static_cast<double>(count) / static_cast<double>(candidates.size() + 1));
    reached = error_of_noise(meter.lowest_of(n.without(kept)));
    return reached <= max_error;
  };
  std::size_t below = 0, count = 0;  // `below` does not hold, or is 0
  while (!holds(count)) {
    if (count >= max_count && !forced.empty())
      refuse(
          format_text("--max-drop %.3g: with the layers that --overrides makes int8 alone, the outputs are off by "
                      "%.3g of their magnitude. Let fewer layers be int8 there, or give a larger bound",
                      max_error, reached));
    if (count >= max_count)
      refuse(format_text(
          "--max-drop %.3g: no layer can be int8: with one, the outputs are off by %.3g of their magnitude. "
          "Give more samples, a larger bound, or take --format fp16",
          max_error, reached));
    below = count;
    count = std::min(max_count, std::max(count + 1, count * 3 / 2));
  }
  while (count > below + 1) {
    const std::size_t middle = below + (count - below) / 2;
    (holds(middle) ? count : below) = middle;
  }
  keep(count);
  return count;
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
    r.float_bytes = 4 * (weights + static_cast<std::int64_t>(l.bias.size()));
    r.bytes = weights + 8 * channels;
    result.push_back(std::move(r));
  }
  return result;
}

/// Measures each layer as the only one of integers, and with `both` as the only one that is not.
void measure_layers(std::vector<layer_result>& layers, const network& n, const noise_meter& meter,
                    const std::set<std::string>& kept, bool both, const report_progress& progress) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    progress("measuring each layer", static_cast<double>(i) / static_cast<double>(layers.size()));
    layers[i].alone = meter.lowest_of(n.with_only(layers[i].name));
    if (!both) continue;
    std::set<std::string> without = kept;
    without.insert(layers[i].name);
    layers[i].without = meter.lowest_of(n.without(without));
  }
}

/// Adds the layers that stay float32 because that is estimated faster. Refuses networks that integers make no faster.
layer_choice choose_for(const target& t, const graph& g, const std::vector<float_layer>& layers,
                        const std::set<std::string>& forced, std::set<std::string>& kept) {
  constexpr double min_gain = 1.03;
  const layer_choice choice = choose_layers(g, layers, kept, forced, t);
  if (forced.empty() && (choice.floats.size() == layers.size() || choice.float_cycles < min_gain * choice.cycles))
    refuse("int8 is not estimated faster than float32 on " + t.name + " (" + t.machine +
           "). --target size stores all layers as int8 whatever the speed, another --target is another machine, and "
           "--format fp16 halves the weights");
  kept.insert(choice.floats.begin(), choice.floats.end());
  return choice;
}

/// Notes which layers are integers, and why the others are not.
void find_reasons(std::vector<layer_result>& layers, const std::set<std::string>& integers, const quantize_choices& how,
                  const std::set<std::string>& kept, const layer_choice& choice,
                  const std::vector<std::string>& beyond) {
  for (layer_result& l : layers) {
    l.integers = integers.count(l.name) != 0;
    if (l.integers) continue;
    l.is_surprise = kept.count(l.name) == 0;
    const auto asked = how.chosen.integers.find(l.name);
    l.reason = how.kept.count(l.name) != 0                                       ? "--keep"
               : asked != how.chosen.integers.end() && !asked->second            ? "--overrides"
               : choice.floats.count(l.name) != 0                                ? "faster on " + how.machine->name
               : !l.is_surprise                                                  ? "--max-drop"
               : std::find(beyond.begin(), beyond.end(), l.name) != beyond.end() ? "its sums may be beyond int32"
                                                                                 : "no integer operator computes it";
  }
}

/// What the choice for a machine says, for people.
std::string note_of(const layer_choice& choice, const target& t, std::size_t layers, std::size_t returned) {
  std::string note = "on " + t.name + " (" + t.machine + "): ";
  if (!choice.floats.empty())
    note += std::to_string(choice.floats.size()) + " of " + std::to_string(layers) +
            " layers stay float32, which is estimated faster there (--target size stores them too), ";
  note += format_text("%.2f times as fast as float32, by estimate", choice.float_cycles / choice.cycles);
  return returned > 0 ? note + ", before --max-drop returned layers" : note;
}

/// Every fourth sample where a bound is to hold on samples that show no range.
void split(const std::vector<sample>& all, const quantize_choices& how, std::vector<sample>& shown,
           std::vector<sample>& held_out) {
  const bool holds_out = how.max_error > 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    (how.seen != nullptr || (holds_out && i % 4 == 3) ? held_out : shown).push_back(all[i]);
}

/// The layers that stay float32 because somebody says so. Refuses names of no layer, and what contradicts itself.
std::set<std::string> kept_by(const quantize_choices& how, const std::vector<float_layer>& layers) {
  std::vector<std::string> names;
  for (const float_layer& l : layers) names.push_back(l.name);
  std::set<std::string> kept = how.kept;
  for (const auto& [name, int8] : how.chosen.integers) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      misuse("--overrides chooses for '" + name + "', which is no layer that could be quantised." +
             did_you_mean(name, names));
    if (int8 && how.kept.count(name) != 0)
      misuse("--keep leaves '" + name + "' as it is, and --overrides makes it int8. Leave one of them out.");
    if (!int8) kept.insert(name);
  }
  return kept;
}

void require_quantisable(const variant_source& v) {
  if (!v.states.empty())
    refuse("the model has states, whose ranges samples of single runs do not show. Use --format fp16");
  if (v.exported)
    refuse(
        "--input gives other lengths than the model fixes, and what was made for these is compared with the float "
        "source. Export the model for the lengths that you want");
}

}

quantize_result quantize(variant_source& v, const std::vector<sample>& samples, const quantize_choices& how,
                         const std::function<void(const std::string& what, double share)>& progress) {
  constexpr std::size_t min_held_out = 1, max_measured = 4;
  require_quantisable(v);
  const variant_source exact = v;
  fold_biases(v.g);
  fold_normalization(v.g);
  std::vector<float_layer> layers = layers_of(v.g);
  std::set<std::string> kept = kept_by(how, layers);
  const std::set<std::string> forced = how.chosen.of_format(true);
  require_layers(layers, kept);
  require_finite(layers, kept);
  quantize_result result;
  std::vector<sample> shown, held_out;
  split(samples, how, shown, held_out);
  if (how.max_error > 0 && held_out.size() < min_held_out)
    refuse("--max-drop holds out every fourth sample, and there are " + std::to_string(samples.size()) +
           ". Give at least 4, 32 are better");
  layer_choice choice;
  if (how.machine != nullptr) choice = choose_for(*how.machine, v.g, layers, forced, kept);
  const network n(v, std::move(layers), shown, how, progress);
  result.samples = n.seen().samples;
  result.held_out = held_out.size();
  result.layers = describe_layers(n, v.g);
  const std::vector<sample>& judged = held_out.empty() ? shown : held_out;
  const noise_meter meter(exact, judged);
  if (how.measures || how.max_error > 0) {
    const noise_meter quick(
        exact, {judged.begin(), judged.begin() + static_cast<std::ptrdiff_t>(std::min(max_measured, judged.size()))});
    measure_layers(result.layers, n, quick, kept, how.measures, progress);
  }
  const std::size_t returned =
      how.max_error > 0 ? keep_for(how.max_error, n, meter, result.layers, kept, forced, progress) : 0;
  progress("quantising", -1);
  std::vector<std::string> beyond;
  v = n.without(kept, {}, &beyond);
  find_reasons(result.layers, integer_layers(v.g, result.layers), how, kept, choice, beyond);
  progress("measuring", -1);
  if (!judged.empty()) result.outputs = meter.outputs_of(v);
  result.seen = n.seen();
  result.chosen = n.chosen(result.layers);
  if (how.measures) {
    std::vector<value_id> made;
    for (const float_layer& l : n.layers()) made.push_back(l.output);
    const std::map<std::string, double> noise = noise_meter(n.watched(made), judged).outputs_of(n.without(kept, made));
    for (std::size_t i = 0; i < made.size(); ++i) result.layers[i].own = noise.at(n.name_of(made[i]));
  }
  result.notes = notes_of(result, returned);
  if (how.machine != nullptr) result.notes.push_back(note_of(choice, *how.machine, result.layers.size(), returned));
  return result;
}

}
