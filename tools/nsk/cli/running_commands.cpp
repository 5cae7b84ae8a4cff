// SPDX-License-Identifier: MIT
#include "cli/command_line.hpp"

namespace nsk::tool {

void add_run(command_line& line) {
  const auto [command, o] =
      line.add("run", "Run a model on .npy files",
               "  nsk run model.nsk --input image=image.npy --output-dir out\n"
               "  nsk run voice.nsk --input audio=chunks.npy --steps 50 --output-dir out\n"
               "  nsk run model.nsk --input image=image.npy --output-dir out --lanes 2 --trace trace.json\n"
               "  nsk run model.nsk --input image=image.npy --output-dir out --device vulkan",
               run);
  line.files.reads(command, "model", o.model, "FILE", ".nsk file")->required();
  line.files.reads(command, "--input", o.inputs, "NAME=FILE.npy", "Input, in the source model's shape and layout");
  add_value(command, "--steps", o.steps, "N",
            "Runs in a row, states kept; arrays have an axis of time in front, or serve all")
      ->check(silent(CLI::Range(1, 1'000'000)));
  line.files.writes_into(command, "--output-dir", o.output_directory, "DIRECTORY", "Directory for one .npy per output")
      ->required();
  add_lanes(command, o.lanes);
  add_isa(command, o.isa);
  add_device(command, o.device, o.halves, "Run on a GPU, the variant 'gpu' where there is one", false);
  add_variant(command, o.variant);
  add_value(command, "--batch", o.batch, "N",
            "Compute and write N rows (models converted with --batch-max); arrays may have as many")
      ->check(silent(CLI::PositiveNumber));
  add_lengths(command, o.lengths);
  add_value(command, "--seed", o.seed, "N", "Key of the model's random numbers")->capture_default_str();
  line.files.writes(command, "--trace", o.trace, "FILE.json", "Write a Chrome/Perfetto trace (JSON)");
  command->add_flag("--nhwc", o.nhwc, "Inputs and outputs in the engine's own layout");
  add_quiet(command, o.quiet);
}

void add_check(command_line& line) {
  const auto [command, o] = line.add("check", "Compare a converted model with its source, step by step",
                                     "  nsk check model.onnx model.nsk\n"
                                     "  nsk check model.onnx model.nsk --input image=image.npy --report check.md\n"
                                     "  nsk check model.onnx int8.nsk --input image=image.npy --min-db 30\n"
                                     "  nsk check model.nsk --device vulkan",
                                     check);
  line.files
      .reads(command, "source", o.source, "FILE",
             "ONNX or TensorFlow Lite model, or the JSON of its graph; with --device the .nsk file",
             "and its external data")
      ->required();
  line.files.reads(command, "model", o.model, "FILE", ".nsk file made from it; with --device the only file");
  line.files.reads(command, "--input", o.inputs, "NAME=FILE.npy", "Input; random numbers where none is given");
  line.files.reads(command, "--set", o.sets, "NAME=VALUE", "As given to convert, which records all but large arrays");
  add_device(command, o.device, o.halves, "Compare a GPU with the CPU session instead, step by step", false);
  add_variant(command, o.variant);
  add_lengths(command, o.lengths);
  command->add_flag("--trust", o.trusted, "The source is your own: its constants may be far larger than its file");
  add_value(command, "--semantics", o.semantics, "NAME",
            "litert-reference: say how many elements differ from LiteRT's reference kernels, and by how much");
  add_value(command, "--tolerance", o.tolerance, "X", "Largest error, as a share of a tensor's largest magnitude")
      ->capture_default_str();
  add_value(command, "--min-db", o.min_db, "X",
            "Compare with the float source in dB of signal to noise, X at least: for int8, fp16, w8");
  add_value(command, "--seed", o.seed, "N", "Seed of the random inputs")->capture_default_str();
  line.files.writes(command, "--json", o.json, "FILE.json", "Write the comparison as JSON");
  line.files.writes(command, "--report", o.report, "FILE.md",
                    "Write the comparison as Markdown with a chart (FILE.md, FILE.svg)", {".svg"});
  add_isa(command, o.isa);
  add_quiet(command, o.quiet);
}

void add_selftest(command_line& line) {
  const auto [command, o] = line.add(
      "selftest", "Replay the inputs and outputs that convert --embed-check recorded",
      "  nsk convert model.onnx -o model.nsk --embed-check && nsk selftest model.nsk",
      +[](const selftest_options& given, command_files&) { return selftest(given); });
  line.files.reads(command, "model", o.model, "FILE", ".nsk file")->required();
  add_isa(command, o.isa);
  add_quiet(command, o.quiet);
}

void add_bench(command_line& line) {
  const auto [command, o] = line.add("bench", "Measure a model, whole and step by step",
                                     "  nsk bench model.nsk\n"
                                     "  nsk bench model.nsk --lanes 2 --seconds 5 --json > bench.json\n"
                                     "  nsk bench model.nsk --rounds 10 --seconds 0.3\n"
                                     "  nsk bench model.nsk --input places=places.npy\n"
                                     "  nsk bench model.nsk --trace trace.json\n"
                                     "  nsk bench model.nsk --profile machine.json\n"
                                     "  nsk bench model.nsk --device vulkan",
                                     bench);
  line.files.reads(command, "model", o.model, "FILE", ".nsk file")->required();
  line.files.reads(command, "--input", o.inputs, "NAME=FILE.npy",
                   "Input; noise where none is given, and 0 for integers");
  add_lanes(command, o.lanes);
  add_isa(command, o.isa);
  add_device(command, o.device, o.halves, "Measure a GPU: its clock, and recording; null computes nothing", true);
  add_lengths(command, o.lengths);
  add_seconds(command, o.seconds);
  add_value(command, "--rounds", o.rounds, "N",
            "Measure N times --seconds; steps show the least of all, not the median")
      ->check(silent(CLI::Range(1, 1000)));
  line.files.reads(command, "--profile", o.profile, "FILE.json",
                   "Set each step beside what a device profile (nsk profile) lets expect, and say what to change");
  command->add_flag("--json", o.json, "As JSON on standard output");
  line.files.writes(command, "--trace", o.trace, "FILE.json", "Write a Chrome/Perfetto trace of the last runs (JSON)");
  command->add_flag("--quiet", o.quiet, "No progress on the terminal");
}

void add_profile(command_line& line) {
  const auto [command, o] = line.add("profile", "Measure this machine once: peak, bandwidths, overheads, kernels",
                                     "  nsk profile -o machine.json\n"
                                     "  nsk inspect model.nsk --profile machine.json",
                                     profile);
  line.files.writes(command, "-o,--output", o.output, "FILE", "Device profile to write (JSON)")->required();
  add_isa(command, o.isa);
  add_seconds(command, o.seconds);
  add_quiet(command, o.quiet);
}

}
