// SPDX-License-Identifier: MIT
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/chunk_options.hpp"
#include "cli/conversion_check.hpp"
#include "cli/converting.hpp"
#include "cli/options.hpp"
#include "cli/source_variants.hpp"
#include "gpu/plan_report.hpp"
#include "io/files.hpp"
#include "io/json_file.hpp"
#include "quantize/narrow_weights.hpp"
#include "check/check_report.hpp"
#include "inspect/file_bytes.hpp"
#include "inspect/inspect.hpp"
#include "check/random_inputs.hpp"
#include "io/text.hpp"
#include "shrink/shrink.hpp"
#include "suggest.hpp"

namespace nsk::tool {
namespace {
using nlohmann::json;
constexpr std::size_t rows_shown = 12;

/// What check needs to know of the formats of the numbers.
void record_formats(const changed_source& changed, std::map<std::string, std::string>& metadata) {
  if (changed.weights != weight_format::floats) metadata[rounded_key(changed.weights)] = "1";
  if (changed.quantised) metadata[quantised_key] = "int8";
  metadata.insert(changed.metadata.begin(), changed.metadata.end());
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

/// Which formats --override gives to layers whose weights are rounded: float32, or the format of all. Misuse of other
/// ones, of ranges, and of names of no node.
std::map<std::string, std::string> kept_floats(const overrides& chosen, weight_format format, const graph& g) {
  if (format == weight_format::floats && !chosen.layers.empty())
    misuse("--override: formats of layers need weights of 16 or 8 bits: give --weights too, or use nsk quantize.");
  std::vector<std::string> names;
  for (const node& n : g.nodes) names.push_back(n.name);
  std::map<std::string, std::string> kept;
  for (const auto& [name, wanted] : chosen.layers) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      misuse("--override chooses for '" + name + "', which is no node of the model." + did_you_mean(name, names));
    if (wanted == layer_format::float32) kept.emplace(name, "kept by --override");
    if (wanted != layer_format::float32 && (wanted == layer_format::fp16) != (format == weight_format::fp16))
      misuse("--override: '" + name + "' is " + name_of(wanted) + ", and all layers have one format here, or float32.");
  }
  return kept;
}

/// Reads --override; none without it.
overrides read_overrides(const std::string& path) {
  if (path.empty()) return {};
  return overrides_from(text_of(read_file(path, "overrides", option_limits.bytes)), path);
}

compile_options options_for(const convert_options& o, const overrides& chosen, const changed_source& changed,
                            const graph& g, const std::optional<device_profile>& profile) {
  compile_options options;
  record_source(o.source, options.metadata);
  record_ranges(ranges_of(o.source, g), options.metadata);
  record_formats(changed, options.metadata);
  options.metadata[tile_limit_key] = format_text("%g", o.max_tile_us);
  options.winograd = o.winograd && !o.fewest_bytes && o.source.chunks.empty();
  options.gpu = o.source.gpu;
  options.algorithms = chosen.algorithms;
  options.kept_layouts = kept_layouts(o.source, g);
  options.max_tile_macs =
      static_cast<std::int64_t>(o.max_tile_us * (profile ? macs_per_us(*profile) : usual_macs_per_us));
  options.streams = o.streams;
  options.kept_weights = o.kept_weights;
  options.weights = changed.weights;
  options.float_weights = changed.float_weights;
  return options;
}

/// Whether a file of a format of fewer bytes is stored small, so that a game expands it: it saves a twentieth, and more
/// than a page of memory or two.
bool pays_to_expand(std::size_t small, std::size_t file) {
  constexpr std::size_t min_saved = 16384;
  return file > small && file - small >= std::max(file / 20, min_saved);
}

/// Compiles the variants, and records the check vectors, as far as the options ask for them. Makes the small file where
/// they ask for it, or where it pays in a format of `fewer_bytes`. `changed` says what there is to say of it.
void make_file(const convert_options& o, bool fewer_bytes, std::vector<variant_source>& variants,
               const compile_options& options, changed_source& changed, conversion& result) {
  narrow_file compiled;
  if (options.weights != weight_format::floats)
    compiled = compile_with_narrow_weights(variants, options);
  else
    compiled.file = compile_file(variants, options);
  if (options.weights == weight_format::floats) result.options = options;
  result.bytes = std::move(compiled.file.bytes);
  result.short_choices = std::move(compiled.file.short_choices);
  result.unknown_choices = std::move(compiled.file.unknown_choices);
  if (o.embed_check) result.bytes = with_check_vectors(open_model(result.bytes, o.output), variants);
  if (o.small || fewer_bytes) result.small = shrink(result.bytes, compiled.file.kernels);
  if (!o.small && !pays_to_expand(result.small.size(), result.bytes.size())) result.small.clear();
  if (o.fewest_bytes && !result.small.empty()) result.small = shrink(result.bytes, compiled.file.kernels, true);
  if (!compiled.note.empty()) changed.notes.push_back(compiled.note);
  changed.notes.insert(changed.notes.end(), compiled.file.notes.begin(), compiled.file.notes.end());
  changed.warnings.insert(changed.warnings.end(), compiled.file.warnings.begin(), compiled.file.warnings.end());
}

/// Bytes of the source and of the files beside it; 0 where one has no size.
std::uint64_t source_bytes(const std::string& source, const std::vector<variant_source>& variants) {
  std::set<std::string> files = {source};
  for (const variant_source& v : variants) files.insert(v.g.facts.files.begin(), v.g.facts.files.end());
  std::uint64_t bytes = 0;
  for (const std::string& file : files) {
    std::error_code failed;
    const std::uintmax_t size = std::filesystem::file_size(file, failed);
    if (failed) return 0;
    bytes += size;
  }
  return bytes;
}

/// What the report says of the file and of its source.
json report_of(const convert_options& o, const std::vector<variant_source>& variants, const model_file& file,
               const changed_source& changed, const device_profile* profile) {
  json report = inspect(file.view, file.bytes.size(), profile);
  add_file_bytes(report, file);
  const std::string large = add_source_bytes(report, source_bytes(o.source.path, variants));
  for (int i = 0; o.source.gpu && i < file.view.variant_count(); ++i)
    if (file.view.variant(i).profile() == std::string(gpu_profile))
      report["variants"][static_cast<std::size_t>(i)]["gpu"] =
          gpu_plan_report(file.view.variant(i), file.view.weights());
  report["source"] = o.source.path;
  report["warnings"] = said_of(variants, &model_facts::warnings);
  if (!large.empty()) report["warnings"].push_back(large);
  report["notes"] = said_of(variants, &model_facts::notes);
  for (const std::string& warning : changed.warnings) report["warnings"].push_back(warning);
  for (const std::string& note : changed.notes) report["notes"].push_back(note);
  return report;
}

conversion convert_source(const convert_options& o, command_files& files, progress_line& progress,
                          const source_change& change) {
  progress.show("reading " + o.source.path);
  const overrides chosen = read_overrides(o.overrides);
  source_options source = o.source;
  source.counts_results = !change;
  std::vector<variant_source> variants = read_variants(source, files);
  for (const variant_source& v : variants)
    if (has_counted(v.lengths) && o.embed_check)
      refuse("--embed-check records outputs of one shape, and steps count lengths of this model. Leave it out, and " +
             std::string("use nsk check"));
  for (const variant_source& v : variants) {
    if ((v.lengths.empty() || variants.size() == 1) && (!v.chunked || (!change && variants.size() == 1))) continue;
    const std::string option = v.chunked ? "--stream" : "--bound",
                      name = v.chunked ? v.chunked->wanted.name : v.lengths[0].name;
    refuse(option + " " + name + ": files with lengths have one variant, and chunks weights that nsk convert makes, " +
           "so far. Leave out " + option + ", or the other option");
  }
  changed_source changed;
  if (change) {
    changed = change(variants, chosen, progress);
  } else {
    if (!chosen.ranges.empty()) misuse("--override: ranges are of stored integers, which nsk quantize makes.");
    changed.weights = o.weights;
    changed.float_weights = kept_floats(chosen, o.weights, variants.front().g);
  }
  progress.show("compiling");
  const auto profile = o.profile.empty() ? std::nullopt : std::optional(open_profile(o.profile));
  const bool rounds = changed.weights != weight_format::floats;
  const std::vector<graph> sources = rounds && o.check ? graphs_of(variants) : std::vector<graph>();
  conversion result;
  make_file(o, rounds || changed.quantised, variants, options_for(o, chosen, changed, variants.front().g, profile),
            changed, result);
  const model_file file = open_model(result.written(), o.output);
  result.report = report_of(o, variants, file, changed, profile ? &*profile : nullptr);
  compare_with_source(o, variants, file, progress, result);
  for (std::size_t i = 0; i < sources.size(); ++i)
    result.report["notes"].push_back(
        format_text("rounding the weights%s moves the outputs by at most %.1e of their largest magnitude",
                    sources.size() > 1 ? (" of '" + variants[i].name + "'").c_str() : "",
                    distance_of(sources[i], variants[i].g, file.view, static_cast<int>(i))));
  progress.clear();
  return result;
}

check_report check_report_of(const convert_options& o, const conversion& c) {
  check_report report{o.source.path, o.output, "", comparison_json(*c.comparison, conversion_tolerance), {}};
  report.isa = choose_engine("").name;
  for (const char* const ports : {"inputs", "states"})
    for (const json& port : c.report["variants"][0][ports])
      report.inputs.push_back({port["name"], describe_random(c.random, port["name"])});
  return report;
}

std::string summary(const convert_options& o, const json& report) {
  const json& v = report["variants"][0];
  const json& arena = v["arena"];
  std::string text =
      format_text("%s: %s%s, %zu steps, %s MACs\n", o.output.c_str(), bytes_text(report["file_bytes"]).c_str(),
                  source_ratio_text(report).c_str(), v["steps"].size(), count_text(v["macs"]).c_str());
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

}

exit_code convert(const convert_options& o, command_files& files) { return convert_changed(o, files, {}, {}); }

exit_code convert_changed(const convert_options& o, command_files& files, const source_change& change,
                          const file_visitor& visit) {
  if (!o.report.empty() && !o.check) misuse("--report shows what --check finds; give both.");
  progress_line progress(o.quiet);
  const conversion result = convert_source(o, files, progress, change);
  if (visit) visit(open_model(result.written(), o.output));
  if (!o.json.empty()) files.write(o.json, json_text(result.report));
  if (!o.report.empty()) write_check_report(files, o.report, check_report_of(o, result));
  const bool good = !result.comparison || result.comparison->within(conversion_tolerance);
  if (good) files.write(o.output, result.written().data(), result.written().size());
  files.commit();
  for (const json& warning : o.quiet&& good ? json::array() : result.report["warnings"])
    std::fprintf(stderr, "nsk: warning: %s.\n", printable(warning.get<std::string>()).c_str());
  if (!good) {
    print(comparison_text(*result.comparison, conversion_tolerance, rows_shown));
    throw error(exit_code::check_failed, "'" + o.output + "' was not written, because it would not compute what '" +
                                             o.source.path + "' does. " + cure_of(*result.comparison));
  }
  if (!o.quiet) print(summary(o, result.report) + check_text(o, result));
  return exit_code::good;
}

}
