// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.hpp"
#include "cli/converting.hpp"
#include "io/files.hpp"
#include "io/json_file.hpp"
#include "io/layout.hpp"
#include "engine/model_file.hpp"
#include "cli/options.hpp"
#include "cli/profile_file.hpp"
#include "cli/progress.hpp"
#include "edit/parts.hpp"
#include "gpu/plan_report.hpp"
#include "import/import.hpp"
#include "compile/narrow_weights.hpp"
#include "resolve/float_ports.hpp"
#include "resolve/states.hpp"
#include "report/check_report.hpp"
#include "report/file_bytes.hpp"
#include "report/compare.hpp"
#include "report/random_inputs.hpp"
#include "report/row_check.hpp"
#include "report/inspect.hpp"
#include "report/text.hpp"
#include "shrink/shrink.hpp"
#include "suggest.hpp"

namespace nsk::tool {
namespace {
using nlohmann::json;
constexpr double tolerance = 1e-4;
constexpr std::size_t rows_shown = 12;
constexpr std::int64_t sampled_elements = 1 << 14;  // of each step, where --check does not ask for all

/// A converted model, verified as the engine would, and what is known about it.
struct conversion {
  std::vector<std::byte> bytes;  ///< as the engine opens them
  std::vector<std::byte> small;  ///< what they are stored as, with --small
  json report;
  std::optional<comparison_report> comparison;
  std::string check_declined;  ///< why there is no comparison
  double check_seconds = 0;
};

/// The changes of the model that the options ask for.
model_changes changes_of(const convert_options& o) {
  model_changes changes = parse_changes(o.argmaxes, o.names);
  if (o.to_hard_swish) changes.swish = swish_change::to_hard;
  if (o.to_swish) changes.swish = swish_change::to_soft;
  return changes;
}

/// Applies them to what is known of a variant.
void change(variant_source& v, const model_changes& changes) {
  if (!changes.any()) return;
  apply_changes(v.g, changes);
  if (v.exported) {
    auto exported = std::make_shared<graph>(*v.exported);
    apply_changes(*exported, changes);
    v.exported = exported;
  }
  for (state_link& s : v.states) {
    s.input = new_name(changes, s.input);
    s.output = new_name(changes, s.output);
  }
  std::set<std::string> batched;
  for (const std::string& name : v.batched_inputs) batched.insert(new_name(changes, name));
  v.batched_inputs = batched;
}

/// --keep-layout, by the names of the changed model.
std::set<std::string> kept_layouts(const convert_options& o, const graph& g, const model_changes& changes) {
  std::vector<std::string> known;
  for (const auto* ports : {&g.inputs, &g.outputs})
    for (const value_id v : *ports) known.push_back(g.values[static_cast<std::size_t>(v)].name);
  std::set<std::string> kept;
  for (const std::string& name : o.kept_layouts) {
    const std::string changed = new_name(changes, name);
    if (std::find(known.begin(), known.end(), changed) == known.end())
      misuse("--keep-layout names '" + name + "', which is no input or output of the model." +
             did_you_mean(name, known) + " It has " + quoted(known) + ".");
    kept.insert(changed);
  }
  return kept;
}

/// What `nsk check` needs to resolve the source in the same way.
std::map<std::string, std::string> recorded_options(const convert_options& o, weight_format weights) {
  std::map<std::string, std::string> metadata;
  for (const auto& [name, value] : named_values("--set", o.sets, "NAME=VALUE")) metadata[set_key(name)] = value;
  for (const auto& [name, count] : parse_bounds(o.bounds)) metadata[bound_key(name)] = std::to_string(count);
  if (o.dequantize) metadata[dequantize_key] = "1";
  if (o.float_io) metadata[float_io_key] = "1";
  if (weights == weight_format::fp16) metadata[half_weights_key] = "1";
  if (weights == weight_format::w8) metadata[byte_weights_key] = "1";
  if (o.quantised) metadata[quantised_key] = "int8";
  record_changes(changes_of(o), metadata);
  if (!o.outputs.empty()) metadata[chosen_outputs_key] = std::to_string(o.outputs.size());
  return metadata;
}

/// "small:image=1x3x192x192,mask=1x192x192" -> its name, and shapes on top of those of --input.
std::pair<std::string, input_options> parse_variant(const convert_options& o, const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || colon == 0)
    misuse("--variant " + text + ": write it as NAME:INPUT=1x3x192x192[,INPUT=...].");
  std::vector<std::string> shapes;
  for (std::size_t at = colon + 1; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    shapes.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  input_options inputs = parse_inputs(o.inputs, o.sets);
  for (const auto& [name, shape] : parse_inputs(shapes, {}).shapes) inputs.shapes[name] = shape;
  return {text.substr(0, colon), inputs};
}

/// Gives every open first axis `rows` rows, where no option says otherwise, and notes which inputs have them.
void bind_open_batch(variant_source& v, input_options& inputs, int rows) {
  v.batch = rows;
  for (value_id id : v.g.inputs) {
    const value& x = v.g.values[static_cast<std::size_t>(id)];
    if (x.shape.empty() || x.shape[0] >= 0 || inputs.set.count(x.name) != 0) continue;
    const auto [given, added] = inputs.shapes.emplace(x.name, x.shape);
    if (added) given->second[0] = rows;
    if (given->second.empty() || given->second[0] != rows) continue;
    if (std::any_of(given->second.begin(), given->second.end(), [](std::int64_t n) { return n < 0; })) {
      inputs.shapes.erase(given);  // inference asks for the other lengths
      continue;
    }
    v.batched_inputs.insert(x.name);
  }
  if (v.batched_inputs.empty())
    refuse("--batch-max " + std::to_string(rows) +
           ": no input of the model has an open first axis with that many rows. Export the model with a dynamic batch "
           "axis");
}

/// The source, resolved once per variant; one named "default" where none is asked for.
std::vector<variant_source> read_variants(const convert_options& o, command_files& files) {
  std::vector<std::pair<std::string, input_options>> wanted;
  for (const std::string& text : o.variants) wanted.push_back(parse_variant(o, text));
  if (wanted.empty()) wanted.emplace_back("default", parse_inputs(o.inputs, o.sets));
  const state_options states{named_values("--state", o.states, "INPUT=OUTPUT"), o.find_states};
  std::vector<variant_source> variants;
  for (const auto& [name, inputs] : wanted) {
    for (const variant_source& other : variants)
      if (other.name == name) misuse("--variant " + name + ": this name was given twice.");
    for (const auto& [other, shapes] : wanted)
      if (o.gpu && name == gpu_variant_of(other, wanted.size()))
        misuse("--variant " + name + ": --gpu adds a variant of this name. Choose another one.");
    variants.push_back({name, import_model(o.source, {o.dequantize, inputs.shapes}), {}});
    variant_source& v = variants.back();
    if (o.float_io) make_float_ports(v.g);
    for (const std::string& data : v.g.facts.files) files.add_input("external data of the source", data);
    input_options complete = inputs;
    complete.outputs = o.outputs;
    complete.bounds = parse_bounds(o.bounds);
    complete.trusted = o.trusted;
    complete.dequantize = o.dequantize;
    if (o.batch != 0) bind_open_batch(v, complete, o.batch);
    v.exported = resolve(v.g, complete);
    v.states = states_of(v.g, states);
    change(v, changes_of(o));
  }
  return variants;
}

/// Reads --override.
std::map<std::string, conv_algorithm> read_overrides(const std::string& path) {
  const std::map<std::string, conv_algorithm> algorithms = {{"direct", conv_algorithm::direct},
                                                            {"winograd2", conv_algorithm::winograd2},
                                                            {"winograd4", conv_algorithm::winograd4}};
  std::map<std::string, conv_algorithm> wanted;
  if (path.empty()) return wanted;
  const json given = parse_json<json>(text_of(read_file(path, "overrides", option_limits.bytes)), path, option_limits,
                                      "too much for choices of single nodes.");
  const std::string form = " Write {\"NAME\": {\"algorithm\": \"direct\"}}; winograd2 and winograd4 are the others.";
  if (!given.is_object()) refuse("'" + path + "' is not a JSON object." + form);
  for (const auto& [name, choices] : given.items()) {
    const auto choice = choices.is_object() && choices.size() == 1 ? choices.find("algorithm") : choices.end();
    const auto found =
        choice != choices.end() && choice->is_string() ? algorithms.find(choice->get<std::string>()) : algorithms.end();
    if (found == algorithms.end())
      refuse("'" + path + "': '" + shortened(name, 60) + "' has " + shortened(choices.dump(), 60) + "." + form);
    wanted[name] = found->second;
  }
  return wanted;
}

/// Refuses to record more than a file may hold.
void require_recordable(const model& m) {
  std::size_t bytes = 0;
  for (int variant = 0; variant < m.variant_count(); ++variant) {
    for (int i = 0; i < m.input_count(variant); ++i) bytes += m.input(i, variant).bytes();
    for (int i = 0; i < m.output_count(variant); ++i) bytes += m.output(i, variant).bytes();
  }
  if (bytes > max_recorded_bytes)
    refuse("--embed-check would record " + bytes_text(static_cast<double>(bytes)) +
           " of inputs and outputs in the file, at most " + bytes_text(static_cast<double>(max_recorded_bytes)) +
           " are possible. Record a variant with smaller shapes, or leave it to nsk check.");
}

/// The source of a variant of the file: those for GPUs come behind the others, in their order.
const variant_source& source_of(const std::vector<variant_source>& variants, int variant) {
  return variants[static_cast<std::size_t>(variant) % variants.size()];
}

/// Records one run of every variant on random inputs.
std::vector<std::byte> with_check_vectors(const model_file& file, const std::vector<variant_source>& variants) {
  require_recordable(file.view);
  model_parts parts = take_apart(file.bytes.data());
  for (int variant = 0; variant < file.view.variant_count(); ++variant) {
    const auto runner = choose_engine("").open(file.bytes.data(), file.bytes.size(), 1, variant);
    const std::map<std::string, array> inputs = random_inputs(source_of(variants, variant).g, file.view, 1, variant);
    check_vector recorded;
    for (int i = 0; i < file.view.input_count(variant); ++i) {
      const port_view port = file.view.input(i, variant);
      recorded.inputs.push_back(to_engine(port, inputs.at(port.name())).data);
      std::memcpy(runner->input(i), recorded.inputs.back().data(), recorded.inputs.back().size());
    }
    runner->run();
    for (int i = 0; i < file.view.output_count(variant); ++i) {
      const port_view port = file.view.output(i, variant);
      const array shape(element_of(port.type()), engine_shape_of(port));
      recorded.outputs.emplace_back(runner->output(i), runner->output(i) + shape.data.size());
    }
    embed_check(parts, variant, recorded);
  }
  return put_together(parts);
}

/// Why the file is not compared with its source; empty where it is. Without --check, what takes long is left out: a
/// minute of evaluation, or gigabytes.
std::string check_declined(const convert_options& o, const model& m) {
  constexpr std::uint64_t max_macs = std::uint64_t{1} << 34;
  constexpr std::int64_t max_elements = std::int64_t{1} << 27;
  if (o.skips_check) return "--no-check";
  if (o.check) return "";
  std::uint64_t macs = 0;
  std::int64_t elements = 0;
  for (int i = 0; i < m.variant_count(); ++i)
    for (int s = 0; s < m.variant(i).step_count(); ++s) {
      macs += m.variant(i).step(s).macs();
      elements += m.variant(i).step(s).output().elements();
    }
  if (macs <= max_macs && elements <= max_elements) return "";
  return "the model is large; --check compares it all the same, which may take minutes and gigabytes";
}

/// Compares the rows of variants that have more of them than the source with the source's own; notes what it found.
void check_rows(const std::vector<variant_source>& variants, const model_file& file, conversion& result) {
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const variant_source& v = variants[i];
    const std::string found =
        v.exported ? compare_rows(*v.exported, v.g, file.view, static_cast<int>(i), 1) : std::string();
    if (!found.empty()) result.report["notes"].push_back((variants.size() > 1 ? v.name + ": " : "") + found);
  }
}

/// Refuses rows that are not compared because nobody said whether to.
void require_own_rows(const std::vector<variant_source>& variants) {
  for (const variant_source& v : variants)
    if (v.exported && has_other_rows(*v.exported, v.g))
      refuse(
          "--input adds rows to a large model, and where they go is certain only when they are compared. Add --check, "
          "which may take minutes and gigabytes, or --no-check");
}

/// Compares every variant with its source on random inputs.
void check_conversion(const convert_options& o, const std::vector<variant_source>& variants, const model_file& file,
                      progress_line& progress, conversion& result) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    check_rows(variants, file, result);
    for (int variant = 0; variant < file.view.variant_count(); ++variant) {
      const auto runner = choose_engine("").open(file.bytes.data(), file.bytes.size(), 1, variant);
      comparison_report found = compare_on_random(
          source_of(variants, variant).g, file.view, *runner, 1, {},
          [&](const std::string& what) { progress.show(what); }, variant, o.check ? all_elements : sampled_elements);
      if (!result.comparison || found.prevails_over(*result.comparison, tolerance))
        result.comparison = std::move(found);
    }
  } catch (const undefined_result& e) {
    if (o.check) throw;
    result.comparison.reset();
    result.check_declined = e.what();
    return;
  }
  result.check_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  result.report["check"] = comparison_json(*result.comparison, tolerance);
  result.report["check"]["seconds"] = result.check_seconds;
}

/// What the source's reader says in any variant, each text once.
json said_of(const std::vector<variant_source>& variants, std::vector<std::string> model_facts::*texts) {
  std::vector<std::string> said;
  for (const variant_source& v : variants)
    for (const std::string& text : v.g.facts.*texts)
      if (std::find(said.begin(), said.end(), text) == said.end()) said.push_back(text);
  return said;
}

/// The graphs before their weights are rounded.
std::vector<graph> graphs_of(const std::vector<variant_source>& variants) {
  std::vector<graph> graphs;
  for (const variant_source& v : variants) graphs.push_back(v.g);
  return graphs;
}

conversion convert_source(const convert_options& o, command_files& files, progress_line& progress,
                          const source_change& change) {
  progress.show("reading " + o.source);
  std::vector<variant_source> variants = read_variants(o, files);
  changed_source changed;
  changed.weights = o.weights;
  if (change) changed = change(variants, progress);
  progress.show("compiling");
  compile_options options;
  options.metadata = recorded_options(o, changed.weights);
  options.winograd = o.winograd;
  options.gpu = o.gpu;
  options.algorithms = read_overrides(o.overrides);
  options.kept_layouts = kept_layouts(o, variants.front().g, changes_of(o));
  const auto profile = o.profile.empty() ? std::nullopt : std::optional(open_profile(o.profile));
  options.max_tile_macs =
      static_cast<std::int64_t>(o.max_tile_us * (profile ? macs_per_us(*profile) : usual_macs_per_us));
  options.metadata[tile_limit_key] = format_text("%g", o.max_tile_us);
  options.streams = o.streams;
  options.kept_weights = o.kept_weights;
  conversion result;
  std::string weights_note;
  const bool rounds = changed.weights != weight_format::floats;
  options.weights = changed.weights;
  options.float_weights = std::move(changed.float_weights);
  const std::vector<graph> sources = rounds && o.check ? graphs_of(variants) : std::vector<graph>();
  compiled_file compiled =
      rounds ? compile_with_narrow_weights(variants, options, weights_note) : compile_file(variants, options);
  result.bytes = std::move(compiled.bytes);
  if (o.embed_check) result.bytes = with_check_vectors(open_model(result.bytes, o.output), variants);
  if (o.small) result.small = shrink(result.bytes, compiled.kernels);
  const model_file file = open_model(o.small ? result.small : result.bytes, o.output);
  result.report = inspect(file.view, file.bytes.size(), profile ? &*profile : nullptr);
  add_file_bytes(result.report, file);
  for (int i = 0; o.gpu && i < file.view.variant_count(); ++i)
    if (file.view.variant(i).profile() == std::string(gpu_profile))
      result.report["variants"][static_cast<std::size_t>(i)]["gpu"] =
          gpu_plan_report(file.view.variant(i), file.view.weights());
  result.report["source"] = o.source;
  result.report["warnings"] = said_of(variants, &model_facts::warnings);
  result.report["notes"] = said_of(variants, &model_facts::notes);
  if (!weights_note.empty()) changed.notes.push_back(weights_note);
  for (const std::string& note : changed.notes) result.report["notes"].push_back(note);
  result.check_declined = check_declined(o, file.view);
  if (!result.check_declined.empty() && !o.skips_check) require_own_rows(variants);
  if (result.check_declined.empty()) check_conversion(o, variants, file, progress, result);
  for (std::size_t i = 0; i < sources.size(); ++i)
    result.report["notes"].push_back(
        format_text("rounding the weights%s moves the outputs by at most %.1e of their largest magnitude",
                    sources.size() > 1 ? (" of '" + variants[i].name + "'").c_str() : "",
                    distance_of(sources[i], variants[i].g, file.view, static_cast<int>(i))));
  progress.clear();
  return result;
}

check_report check_report_of(const convert_options& o, const conversion& c) {
  check_report report{o.source, o.output, "", comparison_json(*c.comparison, tolerance), {}};
  report.isa = choose_engine("").name;
  for (const json& input : c.report["variants"][0]["inputs"])
    report.inputs.push_back({input["name"], describe_random(1)});
  for (const json& state : c.report["variants"][0]["states"])
    report.inputs.push_back({state["name"], describe_random(1)});
  return report;
}

std::string summary(const convert_options& o, const json& report) {
  const json& v = report["variants"][0];
  const json& arena = v["arena"];
  std::string text =
      format_text("%s: %s, %zu steps, %s MACs\n", o.output.c_str(), bytes_text(report["file_bytes"]).c_str(),
                  v["steps"].size(), count_text(v["macs"]).c_str());
  text += prepared_text(report, "small:    ");
  text += "tiles:    " + longest_tile_text(v);
  if (v.contains("expected"))
    text += format_text("expected: %s on one lane of %s\n", time_text(v["expected"]["ms"].get<double>() * 1e3).c_str(),
                        v["expected"]["device"].get<std::string>().c_str());
  text += format_text("arena: %llu bytes + %llu per lane; transposes left: %zu\n",
                      arena["shared_bytes"].get<unsigned long long>(), arena["lane_bytes"].get<unsigned long long>(),
                      v["transposes_left"].size());
  for (const json& reason : v["transposes_left"]) text += "  " + reason.get<std::string>() + "\n";
  for (const json& run : v["streamed"]) text += "streamed: " + run.get<std::string>() + "\n";
  for (const json& note : report["notes"]) text += "note:     " + printable(note.get<std::string>()) + "\n";
  text += states_text(v);
  for (const json& variant : report["variants"])
    if (variant.contains("gpu"))
      text += "gpu:      variant '" + variant["name"].get<std::string>() + "', " + gpu_plan_summary(variant["gpu"]);
  return text;
}

/// What the comparison found, or why there was none.
std::string check_text(const convert_options& o, const conversion& c) {
  if (!c.comparison) return "not checked: " + c.check_declined + "\n";
  if (o.check) return comparison_text(*c.comparison, tolerance, 0);
  const double worst = c.comparison->worst();
  const std::string found =
      worst <= tolerance ? format_text("worst error %.1e of the largest magnitude", worst)
      : c.comparison->worst_local() <= tolerance / 5
          ? format_text("the model amplifies rounding, or jumps; every step alone is right to %.1e",
                        c.comparison->worst_local())
          : std::string("the model amplifies rounding as far as it is off");
  return "checked against the evaluator: " + found + " (" + time_text(c.check_seconds * 1e6) +
         "; --no-check skips it)\n";
}

}

exit_code convert(const convert_options& o, command_files& files) { return convert_changed(o, files, {}, {}); }

exit_code convert_changed(const convert_options& o, command_files& files, const source_change& change,
                          const file_visitor& visit) {
  if (!o.report.empty() && !o.check) misuse("--report shows what --check finds; give both.");
  progress_line progress(o.quiet);
  const conversion result = convert_source(o, files, progress, change);
  if (visit) visit(open_model(result.bytes, o.output));
  if (!o.json.empty()) files.write(o.json, result.report.dump(2) + "\n");
  if (!o.report.empty()) write_check_report(files, o.report, check_report_of(o, result));
  const bool good = !result.comparison || result.comparison->within(tolerance);
  const std::vector<std::byte>& written = o.small ? result.small : result.bytes;
  if (good) files.write(o.output, written.data(), written.size());
  files.commit();
  if (!good) {
    const std::string text = comparison_text(*result.comparison, tolerance, rows_shown);
    std::fwrite(text.data(), 1, text.size(), stdout);
    throw error(exit_code::check_failed, "'" + o.output + "' was not written, because it would not compute what '" +
                                             o.source + "' does. Please report this with the model.");
  }
  if (o.quiet) return exit_code::good;
  for (const json& warning : result.report["warnings"])
    std::fprintf(stderr, "nsk: warning: %s.\n", printable(warning.get<std::string>()).c_str());
  const std::string text = summary(o, result.report) + check_text(o, result);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return exit_code::good;
}

}
