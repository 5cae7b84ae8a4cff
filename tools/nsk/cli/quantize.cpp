// SPDX-License-Identifier: MIT
#include "quantize/quantize.hpp"

#include <algorithm>
#include <cmath>

#include "cli/converting.hpp"
#include "cli/profile_file.hpp"
#include "errors.hpp"
#include "io/files.hpp"
#include "io/json_file.hpp"
#include "quantize/expected.hpp"
#include "quantize/report.hpp"

namespace nsk::tool {
namespace {

range_method method_of(const std::string& name) {
  return name == "minmax"       ? range_method::minmax
         : name == "percentile" ? range_method::percentile
         : name == "kl"         ? range_method::kl
                                : range_method::mse;
}

/// What becomes of images. Refuses numbers that are none of a colour, and choices where there is no image.
image_choices images_of(const quantize_options& o) {
  image_choices p;
  p.mean = o.mean;
  p.deviation = o.deviation;
  p.white = o.white;
  if (!o.color.empty()) p.bgr = o.color == "bgr";
  if (!o.fit.empty())
    p.fit = o.fit == "crop" ? image_fit::crop : o.fit == "letterbox" ? image_fit::letterbox : image_fit::stretch;
  const auto good = [](const std::vector<float>& numbers, bool divides) {
    return numbers.size() != 2 && std::all_of(numbers.begin(), numbers.end(), [&](float x) {
             return std::isfinite(x) && (!divides || std::isnormal(x));
           });
  };
  if (!good(p.mean, false)) misuse("--mean takes one number for all colours, or three.");
  if (!good(p.deviation, true)) misuse("--std takes one number for all colours, or three, none of them 0.");
  if (p.white && (!std::isnormal(*p.white) || *p.white < 0)) misuse("--white is a positive number.");
  return p;
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

/// What nsk quantize --format int8 chooses by. `seen` gets what `how` refers to.
quantize_choices choices_of(const quantize_options& o, calibration& seen) {
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
  const auto read = [](const std::string& path, const char* what, const json_limits& limits) {
    return std::string(text_of(read_file(path, what, limits.bytes)));
  };
  if (!o.overrides.empty()) how.chosen = overrides_from(read(o.overrides, "overrides", option_limits), o.overrides);
  if (o.calibration.empty()) return how;
  seen = calibration_from(read(o.calibration, "calibration", table_limits), o.calibration);
  how.seen = &seen;
  return how;
}

/// Writes --report: what was measured, and how large and how fast the file `made` is beside the float one.
void add_report(command_files& files, const quantize_options& o, quantize_result& result, const model_file& made) {
  const model_file floats = open_model(result.float_file, o.conversion.source);
  if (!o.conversion.profile.empty()) {
    const target* machine = find_target(o.target);
    result.expected.push_back(expected_by(open_profile(o.conversion.profile),
                                          machine != nullptr ? *machine : targets().front(), floats.view, made.view));
  }
  write_quantize_report(files, o.report, result,
                        {o.conversion.source, o.conversion.output, static_cast<std::int64_t>(floats.bytes.size()),
                         static_cast<std::int64_t>(made.bytes.size())});
}

/// Refuses options that mean nothing together.
void require_sense(const quantize_options& o) {
  const bool tables =
      !o.calibration.empty() || !o.save_calibration.empty() || !o.overrides.empty() || !o.save_overrides.empty();
  if (!o.max_drop && (!o.drop_by.empty() || !o.metric.empty()))
    misuse("--drop-by and --metric say what --max-drop bounds: give it too.");
  if (!o.drop_by.empty() && !o.metric.empty())
    misuse("--drop-by and --metric bound different things: leave one of them out.");
  if (o.format != "int8" && (o.float_halves || !o.equalize.empty()))
    misuse("--float-layers and --equalize are for int8: leave them out, or --format.");
  if (o.equalize == "activations" && !o.calibration.empty())
    misuse("--equalize activations looks at samples, whose place --calibration takes: leave one of them out.");
  if (o.format != "int8" && (!o.samples.empty() || !o.kept.empty() || !o.report.empty() || o.max_drop || tables))
    misuse("--format " + o.format +
           " needs no samples: leave out --calibrate, --keep, --max-drop, --report, and files of calibration and "
           "overrides.");
  if (o.format != "int8") return;
  if (o.samples.empty() && o.calibration.empty())
    refuse(
        "int8 needs samples, which show the range of each tensor. Give --calibrate a folder of .npy files or images, "
        "or take --format fp16 or w8, which need none");
  if (o.samples.empty() && (o.max_drop || !o.report.empty()))
    misuse("--max-drop and --report measure on samples: give --calibrate beside --calibration.");
}

}

exit_code quantize(const quantize_options& o, command_files& files) {
  convert_options conversion = o.conversion;
  require_sense(o);
  if (o.format != "int8") {
    conversion.weights = o.format == "w8" ? weight_format::w8 : weight_format::fp16;
    if (const target* machine = find_target(o.target)) conversion.kept_weights = machine->kept_weights;
    return convert(conversion, files);
  }
  conversion.quantised = true;
  quantize_result result;
  const auto change = [&](std::vector<variant_source>& variants, progress_line& progress) {
    variant_source& v = variants.front();
    calibration seen;
    quantize_choices how = choices_of(o, seen);
    sample_set set;
    if (!o.samples.empty()) set = read_samples(v.g, o.samples, images_of(o));
    how.sample_files = set.files;
    result = quantize(v, set.samples, how, [&](const std::string& what, double share) { progress.show(what, share); });
    if (!o.save_calibration.empty()) files.write(o.save_calibration, calibration_json(result.seen));
    if (!o.save_overrides.empty()) files.write(o.save_overrides, overrides_json(result.chosen));
    result.notes.insert(result.notes.begin(), set.notes.begin(), set.notes.end());
    return changed_source{result.notes, result.floats.halves ? weight_format::fp16 : weight_format::floats,
                          result.floats.float32};
  };
  return convert_changed(conversion, files, change, [&](const model_file& made) {
    if (!o.report.empty()) add_report(files, o, result, made);
  });
}

}
