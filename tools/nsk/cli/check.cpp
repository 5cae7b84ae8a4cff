// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "resolve/integers/float_ports.hpp"
#include "cli/check_noise.hpp"
#include "cli/chunk_options.hpp"
#include "cli/commands.hpp"
#include "cli/length_options.hpp"
#include "quantize/narrow_weights.hpp"
#include "gpu/device_check.hpp"
#include "io/layout.hpp"
#include "engine/model_file.hpp"
#include "cli/options.hpp"
#include "lengths/lengths.hpp"
#include "cli/progress.hpp"
#include "import/import.hpp"
#include "io/files.hpp"
#include "io/npy.hpp"
#include "profile/measure.hpp"
#include "check/check_report.hpp"
#include "check/compare.hpp"
#include "check/counted_lengths.hpp"
#include "check/random_inputs.hpp"
#include "io/text.hpp"
#include "suggest.hpp"

namespace nsk::tool {
namespace {
constexpr std::size_t rows_shown = 12;

bool has_key(const model& m, const std::string& key) {
  const auto found = recorded(m, key);
  return std::any_of(found.begin(), found.end(), [](const auto& entry) { return entry.first.empty(); });
}

/// The outputs that --output-value chose, by the names of the source; none where it was not given.
std::vector<std::string> chosen_outputs_of(const model& m, int variant) {
  std::vector<std::string> names;
  if (!has_key(m, chosen_outputs_key)) return names;
  for (const auto& [name, chosen] : recorded(m, chunk_output_key(""))) names.push_back(name);
  if (!names.empty()) return names;
  const model_changes changes = recorded_changes(m);
  for (int i = 0; i < m.output_count(variant); ++i) names.push_back(old_name(changes, m.output(i, variant).name()));
  for (int i = 0; i < m.variant(variant).state_count(); ++i)
    names.push_back(old_name(changes, m.variant(variant).state(i).next().name()));
  return names;
}

/// The options that the model was converted with, by the names of the source, which is `g`; `sets` prevails.
input_options options_of(const graph& g, const model& m, const std::vector<std::string>& sets, int variant) {
  std::vector<std::string> bounds, constants;
  for (const auto& [name, count] : recorded(m, bound_key("")))
    if (!has_axis(g, name) && m.variant(variant).find_length(name.c_str()) < 0) bounds.push_back(name + "=" + count);
  for (const auto& [name, how] : recorded(m, constant_key(""))) constants.push_back(name + "=" + how);
  const model_changes changes = recorded_changes(m);
  input_options result = parse_inputs({}, sets);
  add_recorded_sets(m, result);
  result.bounds = parse_bounds(bounds);
  result.constants = parse_constants(constants);
  for (int i = 0; i < m.input_count(variant); ++i)
    result.shapes[old_name(changes, m.input(i, variant).name())] = source_shape_of(m.input(i, variant));
  for (int i = 0; i < m.variant(variant).state_count(); ++i) {
    const state_view state = m.variant(variant).state(i);
    const std::string name = old_name(changes, state.name());
    const value_id input = g.find(name);
    const shape_t shape = shape_of(state.tensor());
    const bool is_static = input != no_value && g.values[static_cast<std::size_t>(input)].is_static();
    if (!is_static || count_of(g.values[static_cast<std::size_t>(input)].shape) != count_of(shape))
      result.shapes[name] = shape;
  }
  result.outputs = chosen_outputs_of(m, variant);
  return result;
}

tflite_options import_options_of(const model& m, int variant) {
  tflite_options result;
  result.dequantize = has_key(m, dequantize_key);
  for (const auto& [rest, name] : recorded(m, signature_key))
    if (rest.empty()) result.signature = name;
  const model_changes changes = recorded_changes(m);
  for (int i = 0; i < m.input_count(variant); ++i)
    result.shapes[old_name(changes, m.input(i, variant).name())] = source_shape_of(m.input(i, variant));
  result.outputs = chosen_outputs_of(m, variant);
  return result;
}

/// The inputs and states that --input gives.
std::map<std::string, array> inputs_of(const model& m, const check_options& o, int variant) {
  const auto blank = blank_inputs(m, variant);
  const std::map<std::string, array> wanted(blank.begin(), blank.end());
  std::map<std::string, array> inputs;
  for (const auto& [name, path] : named_values("--input", o.inputs, "NAME=FILE.npy")) {
    const auto found = wanted.find(name);
    if (found == wanted.end()) {
      std::vector<std::string> known;
      for (const auto& [input, values] : wanted) known.push_back(input);
      misuse("--input: the model has no input '" + name + "'." + did_you_mean(name, known) + " It has " +
             (known.empty() ? "none" : quoted(known)) + ".");
    }
    array given = read_npy(path);
    if (given.shape != found->second.shape || given.type != found->second.type)
      refuse("input '" + name + "' is " + name_of(found->second.type) + " " + to_string(found->second.shape) +
             ", but '" + path + "' holds " + name_of(given.type) + " " + to_string(given.shape) + ".");
    inputs[name] = std::move(given);
  }
  return inputs;
}

check_report check_report_of(const model& m, const check_options& o, const comparison_report& comparison) {
  check_report report{o.source, o.model, choose_engine(o.isa).name, comparison_json(comparison, o.tolerance), {}};
  const auto given = named_values("--input", o.inputs, "NAME=FILE.npy");
  const random_choice random{o.seed, 0, recorded_ranges(m)};
  for (int i = 0; i < m.input_count(); ++i) {
    const std::string name = m.input(i).name();
    const auto file = given.find(name);
    report.inputs.push_back({name, file != given.end() ? "the file " + file->second : describe_random(random, name)});
  }
  return report;
}

std::string failure_of(const check_options& o, const device_comparison& found) {
  if (found.device_steps == 0)
    return "check FAILED: no step of '" + o.source + "' ran on '" + o.device +
           "', so that nothing was compared. `nsk inspect " + o.source +
           " --gpu` says of each step why it has no shader.";
  if (found.halves)
    return "check FAILED: " + found.failed_output_text() + " with " + o.halves.options() + " on '" + o.device +
           "'. Keep float32 for '" + o.source + "': leave " + o.halves.options() + " out.";
  return "check FAILED: '" + o.device + "' does not compute what the CPU does with '" + o.source +
         "'. Run the model on the CPU there, and please report the driver and the worst step.";
}

/// Compares a device with the CPU session on the inputs that are given, and noise for the others.
exit_code check_device(const check_options& o, command_files& files) {
  refuse_beside_device({{"--set", !o.sets.empty()},
                        {"--min-db", o.min_db.has_value()},
                        {"--report", !o.report.empty()},
                        {"--trust", o.trusted},
                        {"--tolerance", o.tolerance != check_options().tolerance},
                        {"--seed", o.seed != check_options().seed}});
  if (!o.model.empty())
    misuse("--device compares a model with its CPU session and takes the .nsk file alone: nsk check '" + o.model +
           "' --device " + o.device + ". To compare it with a source, leave --device out and name its --variant.");
  refuse_null_device(o.device, "check");
  progress_line progress(o.quiet);
  const model_file file = open_model_at(o.source, o.lengths);
  const int variant = device_variant_of(file.view, o.variant);
  const auto cpu = choose_engine(o.isa).open(file.bytes.data(), file.bytes.size(), 1, variant);
  const auto device = open_device(o.device, {file, variant, 0, o.halves});
  fill_with_noise(file.view, *cpu, variant);
  const std::map<std::string, array> given = inputs_of(file.view, o, variant);
  for (int i = 0; i < file.view.input_count(variant); ++i) {
    const port_view port = file.view.input(i, variant);
    if (const auto found = given.find(port.name()); found != given.end()) {
      const array laid = to_engine(port, found->second);
      std::memcpy(cpu->input(i), laid.data.data(), laid.data.size());
    }
  }
  progress.show("comparing steps");
  const device_comparison found = compare_with_cpu(file.view, variant, *cpu, *device);
  progress.clear();
  if (!o.json.empty()) files.write(o.json, json_text(device_comparison_json(found, o.device, device->facts())));
  files.commit();
  if (!o.quiet || !found.good())
    print(device_text(o.device, device->facts()) + device_comparison_text(found, rows_shown));
  if (!found.good()) throw error(exit_code::check_failed, failure_of(o, found));
  return exit_code::good;
}

/// The lengths of a file that are no others' consequence.
std::vector<chosen_length> lengths_of(const variant_view& v) {
  std::vector<chosen_length> lengths;
  for (int i = 0; i < v.length_count(); ++i)
    if (const length_view l = v.length(i); l.name()[0] != 0)
      lengths.push_back({l.name(), l.minimum(), l.bound(), l.step(), l.is_counted()});
  return lengths;
}

/// Compares a file with lengths that steps count, for those that they are on the inputs, with its source.
comparison_report compare_counted(const graph& source, const input_options& inputs, const model_file& file, int variant,
                                  const check_options& o, const std::function<void(const std::string&)>& progress) {
  const std::vector<chosen_length> lengths = lengths_of(file.view.variant(variant));
  const graph_at at = [&](const length_choice& values) {
    graph g = source;
    input_options counted = inputs;
    counted.counts.emplace();
    for (std::size_t i = 0; i < lengths.size(); ++i)
      if (lengths[i].counted) (*counted.counts)[lengths[i].name] = values[i];
    resolve(g, counted);
    apply_changes(g, recorded_changes(file.view));
    return g;
  };
  const counted_network network =
      counted_on_random(at, lengths, bounds_of(lengths), file.view, variant, {o.seed, 0, recorded_ranges(file.view)},
                        inputs_of(file.view, o, variant));
  const model_file fixed = fixed_to(file, named(lengths, network.values), o.model);
  const auto alone = choose_engine(o.isa).open(fixed.bytes.data(), fixed.bytes.size(), 1, variant);
  return compare(network.g, fixed.view, *alone, network.inputs, progress, variant);
}

/// Refuses --semantics where it says nothing.
void require_semantics(const check_options& o) {
  if (o.semantics.empty()) return;
  if (o.min_db) misuse("--semantics and --min-db compare with different things: leave one of them out.");
  if (o.semantics != "litert-reference")
    misuse("--semantics " + o.semantics + ": there is 'litert-reference', and what netsuke computes without it.");
  const std::vector<std::byte> bytes = read_file(o.source, "model", max_model_bytes);
  if (!is_tflite(bytes.data(), bytes.size()))
    misuse("--semantics litert-reference: '" + o.source + "' is no TensorFlow Lite model.");
}

std::string cause_of(const comparison_report& report) {
  const bool is_known = report.reaches_too_far() || !report.beyond_float32.empty();
  return is_known ? cure_of(report) : "Is it the source of this model?";
}

/// How many elements of each output differ, and by how many steps.
std::string steps_text(const comparison_report& report) {
  std::string text;
  for (const comparison& c : report.outputs)
    text += c.integers > 0 ? "'" + c.name + "': " + std::to_string(c.differing) + " of " + std::to_string(c.integers) +
                                 " elements differ from LiteRT's reference kernels, by at most " +
                                 format_text("%.0f", c.max_error) + " steps\n"
                           : "'" + c.name + "': differs from LiteRT's reference kernels by at most " +
                                 format_text("%.3g", c.max_error) + "\n";
  return text;
}

}

exit_code check(const check_options& o, command_files& files) {
  refuse_without("--device", !o.device.empty(), o.halves);
  if (!o.device.empty()) return check_device(o, files);
  if (o.model.empty()) misuse("check: model is required. `nsk check --help` lists the options.");
  require_semantics(o);
  progress_line progress(o.quiet);
  const model_file file = open_model_at(o.model, o.lengths);
  const int variant = variant_of(file.view, o.variant);
  const auto runner = choose_engine(o.isa).open(file.bytes.data(), file.bytes.size(), 1, variant);
  tflite_options importing = import_options_of(file.view, variant);
  importing.reference = !o.semantics.empty();
  graph g = import_model(o.source, importing);
  if (has_key(file.view, float_io_key)) make_float_ports(g);
  for (const std::string& data : g.facts.files) files.add_input("external data of the source", data);
  input_options inputs = options_of(g, file.view, o.sets, variant);
  inputs.dequantize = importing.dequantize;
  inputs.trusted = o.trusted;
  const auto tell = [&](const std::string& what) { progress.show(what); };
  const bool counts = counts_lengths(file.view.variant(variant));
  const graph source = counts ? g : graph();
  if (!resolve_chunks(g, file.view, inputs)) {
    if (!counts) resolve(g, inputs);
    apply_changes(g, recorded_changes(file.view));
  }
  if (o.min_db || has_key(file.view, quantised_key)) {
    progress.clear();
    return check_noise(o, g, file, variant, *runner, files);
  }
  for (const weight_format format : {weight_format::fp16, weight_format::w8})
    if (has_key(file.view, rounded_key(format)))
      static_cast<void>(round_weights(g, float_layers(file.view, format), format));
  const comparison_report report =
      counts ? compare_counted(source, inputs, file, variant, o, tell)
             : compare_on_random(g, file.view, *runner, {o.seed, 0, recorded_ranges(file.view)},
                                 inputs_of(file.view, o, variant), tell, variant);
  progress.clear();
  if (importing.reference) {
    files.commit();
    print(steps_text(report));
    return exit_code::good;
  }
  if (!o.json.empty()) files.write(o.json, json_text(comparison_json(report, o.tolerance)));
  if (!o.report.empty()) write_check_report(files, o.report, check_report_of(file.view, o, report));
  files.commit();
  const bool good = report.within(o.tolerance);
  if (!o.quiet || !good) print(comparison_text(report, o.tolerance, rows_shown));
  if (!good)
    throw error(exit_code::check_failed, "check FAILED: '" + o.model + "' does not compute what '" + o.source +
                                             "' does; the worst error is " + format_text("%.2e", report.worst()) +
                                             " of the largest magnitude. " + cause_of(report));
  return exit_code::good;
}

}
