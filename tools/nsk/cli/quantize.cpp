// SPDX-License-Identifier: MIT
#include "quantize/apply/quantize.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <set>

#include "cli/converting.hpp"
#include "cli/integer_io.hpp"
#include "cli/options.hpp"
#include "cli/source_variants.hpp"
#include "errors.hpp"
#include "io/files.hpp"
#include "io/json_file.hpp"
#include "io/system/paths.hpp"
#include "quantize/apply/expected.hpp"
#include "quantize/report/report.hpp"
#include "check/row_check.hpp"

namespace nsk::tool {
namespace {

range_method method_of(const std::string& name) {
  return name == "minmax"       ? range_method::minmax
         : name == "percentile" ? range_method::percentile
         : name == "kl"         ? range_method::kl
                                : range_method::mse;
}

/// Refuses numbers that are none of a colour.
void require_colours(const image_choices& p) {
  const auto good = [](const std::vector<float>& numbers, bool divides) {
    return numbers.size() != 2 && std::all_of(numbers.begin(), numbers.end(), [&](float x) {
             return std::isfinite(x) && (!divides || std::isnormal(x));
           });
  };
  if (!good(p.mean, false)) misuse("--mean takes one number for all colours, or three.");
  if (!good(p.deviation, true)) misuse("--std takes one number for all colours, or three, none of them 0.");
  if (p.white && (!std::isnormal(*p.white) || *p.white < 0)) misuse("--white is a positive number.");
}

/// What --max-drop bounds, and by how much. Refuses numbers that are no bound.
std::optional<drop_bound> bound_of(const quantize_options& o) {
  if (!o.max_drop) return std::nullopt;
  const double x = *o.max_drop;
  const bool metric = !o.metric.empty(), top1 = o.drop_by == "top1", sqnr = o.drop_by == "sqnr";
  if (metric && !(x >= 0 && std::isfinite(x))) misuse("--max-drop with --metric is a number of at least 0.");
  if (!metric && top1 && !(x >= 0 && x <= 1)) misuse("--max-drop with --drop-by top1 is a share from 0 to 1, as 0.02.");
  if (!metric && sqnr && !(x > 0 && x <= 200)) misuse("--max-drop with --drop-by sqnr is dB from 0 to 200, as 30.");
  if (!metric && !top1 && !sqnr && !(x >= 1e-6 && x <= 1)) misuse("--max-drop is a share from 1e-6 to 1, as 0.02.");
  if (!(o.metric_seconds > 0 && o.metric_seconds <= 1e6)) misuse("--metric-seconds is a number above 0.");
  return drop_bound{metric ? drop_measure::metric
                    : top1 ? drop_measure::top1
                    : sqnr ? drop_measure::sqnr
                           : drop_measure::error,
                    x,
                    {o.metric, o.metric_seconds}};
}

/// What nsk quantize --format int8 chooses by.
quantize_choices choices_of(const quantize_options& o, const overrides& chosen) {
  quantize_choices how;
  how.ranges = method_of(o.ranges);
  how.weights.per_channel = o.per_channel;
  how.weights.pair_safe = o.pair_safe;
  how.corrects_bias = o.corrects_bias;
  how.kept = {o.kept.begin(), o.kept.end()};
  how.bound = bound_of(o);
  how.equalizes = o.equalize == "weights"       ? equalization::weights
                  : o.equalize == "activations" ? equalization::activations
                                                : equalization::none;
  how.halves = o.float_halves;
  how.machine = find_target(o.target);
  how.measures = !o.report.empty();
  how.chosen = chosen;
  return how;
}

/// Writes --report: what was measured, and how large and how fast the file `made` is beside the float one.
void add_report(command_files& files, const quantize_options& o, quantize_result& result, const model_file& made) {
  const model_file floats = open_model(result.float_file, o.conversion.source.path);
  if (!o.conversion.profile.empty()) {
    const target* machine = find_target(o.target);
    result.expected.push_back(expected_by(open_profile(o.conversion.profile),
                                          machine != nullptr ? *machine : targets().front(), floats.view, made.view));
  }
  write_quantize_report(files, o.report, result,
                        {o.conversion.source.path, o.conversion.output, static_cast<std::int64_t>(floats.bytes.size()),
                         static_cast<std::int64_t>(made.parts.empty() ? made.bytes.size() : made.stored_bytes)});
}

/// What --calibrate names: samples, and what --save-calibration wrote.
struct calibration_files {
  std::vector<std::string> samples;
  std::string saved;  ///< empty: none
};

calibration_files calibration_files_of(const quantize_options& o) {
  calibration_files given;
  for (const std::string& place : o.samples) {
    if (path_of(place).extension() != ".json") {
      given.samples.push_back(place);
      continue;
    }
    if (!given.saved.empty()) misuse("--calibrate " + place + ": one file of --save-calibration is enough.");
    given.saved = place;
  }
  return given;
}

/// Refuses options that mean nothing together.
void require_sense(const quantize_options& o, const calibration_files& given) {
  if (!o.max_drop && (!o.drop_by.empty() || !o.metric.empty()))
    misuse("--drop-by and --metric say what --max-drop bounds: give it too.");
  if (!o.drop_by.empty() && !o.metric.empty())
    misuse("--drop-by and --metric bound different things: leave one of them out.");
  if (o.format != "int8" && (o.float_halves || !o.equalize.empty()))
    misuse("--float-layers and --equalize are for int8: leave them out, or --format.");
  if (o.equalize == "activations" && !given.saved.empty())
    misuse("--equalize activations looks at samples, whose place '" + given.saved + "' takes: leave one of them out.");
  const bool saves = !o.save_calibration.empty() || !o.save_overrides.empty();
  if (o.format != "int8" &&
      (!o.samples.empty() || !o.kept.empty() || !o.report.empty() || o.max_drop || saves || !o.integer_io.empty()))
    misuse("--format " + o.format +
           " needs no samples: leave out --calibrate, --keep, --max-drop, --report, --integer-io, --save-calibration "
           "and --save-overrides.");
  if (o.format != "int8") return;
  if (o.samples.empty())
    refuse(
        "int8 needs samples, which show the range of each tensor. Give --calibrate a folder of .npy files or images, "
        "or take --format fp16 or w8, which need none");
  if (given.samples.empty() && (o.max_drop || !o.report.empty()))
    misuse("--max-drop and --report measure on samples: give --calibrate a folder of them too.");
}

/// The model whose samples show ranges: the first variant, with one row where it has a batch.
variant_source calibrated_variant(const source_options& o, const std::vector<variant_source>& variants,
                                  command_files& files) {
  if (o.batch == 0) return variants.front();
  source_options one = o;
  one.batch = 0;
  return read_variants(one, files).front();
}

/// Makes ports of all variants levels of pixels, and the samples too.
void store_pixels(const std::map<std::string, stored_port>& pixels, variant_source& first,
                  std::vector<variant_source>& variants, std::vector<sample>& samples) {
  for (const auto& [name, port] : pixels) {
    const auto store = [name = name, port = port](variant_source& v) { store_input(v.g, name, port); };
    change_at_all_lengths(first, store);
    for (variant_source& v : variants) {
      change_at_all_lengths(v, store);
      if (!v.exported) continue;
      auto exported = std::make_shared<graph>(*v.exported);
      store_input(*exported, name, port);
      v.exported = exported;
    }
    for (sample& s : samples) s[name] = stored_as(s[name], port);
  }
}

/// Makes the variants like the first one, and what each is compared with where it has rows that the source has not.
void quantize_others(const variant_source& first, const quantize_result& result, const quantize_choices& how,
                     bool batch, std::vector<variant_source>& variants) {
  for (variant_source& v : variants) {
    const bool has_rows = v.exported && has_other_rows(*v.exported, v.g);
    auto exported = has_rows ? std::make_shared<graph>(*v.exported) : nullptr;
    if (exported) quantize_alike(*exported, v.states, result, how);
    if (!batch && &v == &variants.front()) {
      v.g = first.g;
      v.at = first.at;
    } else {
      quantize_alike(v.g, v.states, result, how);
    }
    v.exported = exported;
  }
}

/// Makes the variants ones of stored integers, and keeps what the options want kept; `warnings` gets what is suspicious
/// about the samples.
quantize_result quantize_variants(const quantize_options& o, const calibration_files& given, const overrides& chosen,
                                  std::vector<variant_source>& variants, command_files& files, progress_line& progress,
                                  std::vector<std::string>& warnings) {
  const bool batch = o.conversion.source.batch != 0;
  variant_source first = calibrated_variant(o.conversion.source, variants, files);
  quantize_choices how = choices_of(o, chosen);
  calibration seen;
  if (!given.saved.empty()) {
    seen =
        calibration_from(std::string(text_of(read_file(given.saved, "calibration", table_limits.bytes))), given.saved);
    how.seen = &seen;
  }
  const image_choices& images = o.images;
  require_colours(images);
  sample_set set;
  if (!given.samples.empty()) set = read_samples(first, given.samples, images);
  if (given.saved.empty()) warnings = warnings_of(set, images, ranges_of(o.conversion.source, first.g));
  how.sample_files = set.files;
  const integer_io io = integer_io_of(o.integer_io, first, set.images, images);
  if (images.is_asked() && set.images.empty() && io.pixels.empty())
    misuse("--mean, --std, --white, --color and --fit are for images, and no sample is one. Leave them out.");
  how.integer_ports = io.stored;
  store_pixels(io.pixels, first, variants, set.samples);
  quantize_result result =
      quantize(first, set.samples, how, [&](const std::string& what, double share) { progress.show(what, share); });
  result.ports.insert(io.pixels.begin(), io.pixels.end());
  quantize_others(first, result, how, batch, variants);
  if (!o.save_calibration.empty()) files.write(o.save_calibration, calibration_json(result.seen));
  if (!o.save_overrides.empty()) files.write(o.save_overrides, overrides_json(result.chosen));
  result.notes.insert(result.notes.begin(), set.notes.begin(), set.notes.end());
  for (const auto& [name, port] : result.ports) {
    result.notes.push_back("'" + name + "' is " + description_of(port));
    for (variant_source& v : variants) v.g.facts.about["quantization." + name] = description_of(port);
  }
  return result;
}

}

exit_code quantize(const quantize_options& o, command_files& files) {
  const calibration_files given = calibration_files_of(o);
  require_sense(o, given);
  convert_options conversion = o.conversion;
  if (o.format != "int8") {
    conversion.weights = o.format == "w8" ? weight_format::w8 : weight_format::fp16;
    if (const target* machine = find_target(o.target)) conversion.kept_weights = machine->kept_weights;
    return convert(conversion, files);
  }
  conversion.streams = {};  // layers of integers are not streamed
  conversion.kept_weights = 0;
  if (!given.saved.empty()) files.add_input("--calibrate", given.saved);
  quantize_result result;
  const auto change = [&](std::vector<variant_source>& variants, const overrides& chosen, progress_line& progress) {
    std::vector<std::string> warnings;
    result = quantize_variants(o, given, chosen, variants, files, progress, warnings);
    changed_source changed{result.notes, warnings, result.floats.halves ? weight_format::fp16 : weight_format::floats,
                           result.floats.float32, true};
    for (const auto& [name, port] : result.ports) changed.metadata[integer_port_key(name)] = text_of(port);
    return changed;
  };
  return convert_changed(conversion, files, change, [&](const model_file& made) {
    if (!o.report.empty()) add_report(files, o, result, made);
  });
}

}
