// SPDX-License-Identifier: MIT
#include "quantize/quantize.hpp"

#include "cli/converting.hpp"
#include "errors.hpp"

namespace nsk::tool {
namespace {

range_method method_of(const std::string& name) {
  return name == "minmax" ? range_method::minmax : name == "percentile" ? range_method::percentile : range_method::mse;
}

}

exit_code quantize(const quantize_options& o, command_files& files) {
  convert_options conversion = o.conversion;
  if (o.format == "fp16") {
    if (!o.samples.empty() || !o.kept.empty())
      misuse("--format fp16 needs no samples: leave out --calibrate and --keep.");
    conversion.half_weights = true;
    return convert(conversion, files);
  }
  if (o.samples.empty())
    refuse(
        "int8 needs samples, which show the range of each tensor. Give --calibrate a folder of .npy files, or take "
        "--format fp16, which needs none");
  conversion.quantised = true;
  return convert_changed(conversion, files, [&](std::vector<variant_source>& variants, progress_line& progress) {
    variant_source& v = variants.front();
    const std::vector<sample> samples = read_samples(v.g, o.samples);
    quantize_choices how;
    how.ranges = method_of(o.ranges);
    how.weights.per_channel = o.per_channel;
    how.weights.pair_safe = o.pair_safe;
    how.corrects_bias = o.corrects_bias;
    how.kept = {o.kept.begin(), o.kept.end()};
    return quantize(v, samples, how, [&](const std::string& what, double share) { progress.show(what, share); });
  });
}

}
