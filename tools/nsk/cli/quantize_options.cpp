// SPDX-License-Identifier: MIT
#include "cli/command_line.hpp"
#include "cli/common_options.hpp"
#include "cli/conversion_options.hpp"

namespace nsk::tool {
namespace {

/// What becomes of images before they are inputs.
void add_images(CLI::App* command, quantize_options& o) {
  const auto numbers = [&](const char* name, std::vector<float>& values, const char* what) {
    command->add_option(name, values, what)->type_name("X")->delimiter(',')->expected(1, 3)->allow_extra_args(false);
  };
  numbers("--mean", o.mean, "Of images: subtracted from each colour; one number or three, as 0.485,0.456,0.406");
  numbers("--std", o.deviation, "Of images: each colour is divided by it; one number or three");
  command->add_option("--white", o.white, "Of images: what a level of 255 counts as, before --mean; 1 by default")
      ->type_name("X");
  command->add_option("--color", o.color, "Of images: order of the colours, rgb by default, or bgr")
      ->type_name("HOW")
      ->check(silent(CLI::IsMember({"rgb", "bgr"})));
  command->add_option("--fit", o.fit, "Of images: stretch to the input's shape by default, crop, letterbox")
      ->type_name("HOW")
      ->check(silent(CLI::IsMember({"stretch", "crop", "letterbox"})));
}

}

CLI::App* add_quantize(CLI::App& app, file_options& files, quantize_options& o) {
  CLI::App* command = add_command(
      app, "quantize", "Convert a float32 model to stored integers, or to weights of 16 or 8 bits",
      "  nsk quantize model.onnx -o model.nsk --calibrate samples\n"
      "  nsk quantize model.onnx -o model.nsk --calibrate photos --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225\n"
      "  nsk quantize model.onnx -o model.nsk --calibrate image=images --calibrate mask=masks --keep conv_7\n"
      "  nsk quantize model.onnx -o model.nsk --format fp16\n"
      "  nsk quantize voice.onnx -o voice.nsk --format w8");
  command
      ->add_option("--format", o.format,
                   "int8, by default: layers of stored integers; fp16: weights of 16 bits; w8: of 8 bits")
      ->type_name("HOW")
      ->check(silent(CLI::IsMember({"int8", "fp16", "w8"})));
  files.reads(
      command, "--calibrate", o.samples, "NAME=FILE.npy",
      "A sample, a folder of them or of images; of the only input without its name; or what --save-calibration wrote");
  files.writes(command, "--save-calibration", o.save_calibration, "FILE.json", "Keep what the samples show");
  files.writes(command, "--save-overrides", o.save_overrides, "FILE.json",
               "Write what was chosen, to be edited and given to --override");
  add_images(command, o);
  command
      ->add_option("--ranges", o.ranges,
                   "Range of a tensor: mse (squared error) by default, minmax, percentile (99.99), kl (divergence)")
      ->type_name("HOW")
      ->check(silent(CLI::IsMember({"mse", "minmax", "percentile", "kl"})));
  command
      ->add_option_function<std::string>(
          "--target",
          [&o](const std::string& name) {
            o.target = name;
            take_target(o.conversion, name);
          },
          "Floats where they are faster: on pc (AVX2, by default), pc-vnni, zen2-console, mobile; size: nowhere")
      ->type_name("HOW")
      ->check(silent(CLI::IsMember(target_names())));
  add_repeated(command, "--keep", o.kept, "NAME", "Leave this node as it is");
  add_repeated(
      command, "--integer-io", o.integer_io, "NAME=TYPE",
      "Make this input or output uint8 or int8, by the scale of its tensor; all: every one. With images, uint8 is "
      "the levels of pixels");
  command
      ->add_option("--max-drop", o.max_drop,
                   "Return layers to floats until the outputs are off by X at most, as 0.02, on samples held out")
      ->type_name("X");
  command
      ->add_option(
          "--drop-by", o.drop_by,
          "What X is: error, a share of the magnitude, by default; sqnr, dB at least; top1, a share of samples "
          "with another largest element")
      ->type_name("HOW")
      ->check(silent(CLI::IsMember({"error", "sqnr", "top1"})));
  command
      ->add_option("--metric", o.metric,
                   "Program that prints a number for a folder of outputs, larger is better: X bounds what it loses")
      ->type_name("COMMAND");
  command->add_option("--metric-seconds", o.metric_seconds, "How long one call of it may take, 600 by default")
      ->type_name("S");
  command
      ->add_option_function<std::string>(
          "--float-layers", [&o](const std::string& format) { o.float_halves = format == "fp16"; },
          "Weights of layers that are not int8: float32 by default, or fp16 where that changes them little")
      ->type_name("HOW")
      ->check(silent(CLI::IsMember({"fp16", "float32"})));
  files.writes(command, "--report", o.report, "FILE.md",
               "Measure each layer, write it as Markdown and JSON with charts", {".json", ".svg", ".histograms.svg"});
  command
      ->add_option("--equalize", o.equalize,
                   "Make channels between two layers alike: by weights that make them, or by what samples show")
      ->type_name("HOW")
      ->check(silent(CLI::IsMember({"weights", "activations"})));
  add_opposite(command, "--per-tensor", o.per_channel, "One scale for all weights of a layer");
  add_opposite(command, "--full-range-weights", o.pair_safe, "The whole range of int8; slower where there is no VNNI");
  add_opposite(command, "--no-bias-correction", o.corrects_bias, "Leave what rounded weights change of the mean");
  add_conversion_options(command, files, o.conversion);
  return command;
}

}
