// SPDX-License-Identifier: MIT
#include "quantize/quantize.hpp"

#include <algorithm>
#include <cmath>

#include "cli/converting.hpp"
#include "errors.hpp"
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
  p.bgr = o.color == "bgr";
  p.fit = o.fit == "crop" ? image_fit::crop : o.fit == "letterbox" ? image_fit::letterbox : image_fit::stretch;
  p.asked = !o.mean.empty() || !o.deviation.empty() || o.white != 1 || o.color != "rgb" || o.fit != "stretch";
  const auto good = [](const std::vector<float>& numbers, bool divides) {
    return numbers.size() != 2 && std::all_of(numbers.begin(), numbers.end(), [&](float x) {
             return std::isfinite(x) && (!divides || std::isnormal(x));
           });
  };
  if (!good(p.mean, false)) misuse("--mean takes one number for all colours, or three.");
  if (!good(p.deviation, true)) misuse("--std takes one number for all colours, or three, none of them 0.");
  if (!std::isnormal(p.white) || p.white < 0) misuse("--white is a positive number.");
  return p;
}

}

exit_code quantize(const quantize_options& o, command_files& files) {
  convert_options conversion = o.conversion;
  if (std::isnan(o.max_error)) misuse("--max-drop is a number above 0, as 0.02.");
  if (o.format != "int8") {
    if (!o.samples.empty() || !o.kept.empty() || !o.report.empty() || o.max_error > 0)
      misuse("--format " + o.format + " needs no samples: leave out --calibrate, --keep, --max-drop and --report.");
    conversion.weights = o.format == "w8" ? weight_format::w8 : weight_format::fp16;
    return convert(conversion, files);
  }
  if (o.samples.empty())
    refuse(
        "int8 needs samples, which show the range of each tensor. Give --calibrate a folder of .npy files or images, "
        "or take "
        "--format fp16 or w8, which need none");
  conversion.quantised = true;
  quantize_result result;
  return convert_changed(conversion, files, [&](std::vector<variant_source>& variants, progress_line& progress) {
    variant_source& v = variants.front();
    const std::vector<sample> samples = read_samples(v.g, o.samples, images_of(o));
    quantize_choices how;
    how.ranges = method_of(o.ranges);
    how.weights.per_channel = o.per_channel;
    how.weights.pair_safe = o.pair_safe;
    how.corrects_bias = o.corrects_bias;
    how.kept = {o.kept.begin(), o.kept.end()};
    how.max_error = o.max_error;
    how.machine = find_target(o.target);
    how.measures = !o.report.empty();
    const quantize_result result =
        quantize(v, samples, how, [&](const std::string& what, double share) { progress.show(what, share); });
    if (!o.report.empty()) write_quantize_report(files, o.report, result, conversion.source, conversion.output);
    return result.notes;
  });
}

}
