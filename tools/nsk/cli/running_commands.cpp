// SPDX-License-Identifier: MIT
#include "cli/command_line.hpp"

#include "cli/common_options.hpp"

namespace nsk::tool {

CLI::App* add_run(CLI::App& app, file_options& files, run_options& o) {
  CLI::App* command =
      add_command(app, "run", "Run a model on .npy files",
                  "  nsk run model.nsk --input image=image.npy --output-dir out\n"
                  "  nsk run voice.nsk --input audio=chunks.npy --steps 50 --output-dir out\n"
                  "  nsk run model.nsk --input image=image.npy --output-dir out --lanes 2 --trace trace.json\n"
                  "  nsk run model.nsk --input image=image.npy --output-dir out --device vulkan");
  files.reads(command, "model", o.model, "FILE", ".nsk file")->required();
  files.reads(command, "--input", o.inputs, "NAME=FILE.npy", "Input, in the source model's shape and layout");
  command
      ->add_option("--steps", o.steps, "Runs in a row, states kept; arrays have an axis of time in front, or serve all")
      ->type_name("N")
      ->check(silent(CLI::Range(1, 1'000'000)));
  files.writes_into(command, "--output-dir", o.output_directory, "DIRECTORY", "Directory for one .npy per output")
      ->required();
  add_lanes(command, o.lanes);
  add_isa(command, o.isa);
  add_device(command, o.device, "Run on a GPU, the variant 'gpu' where there is one", false);
  add_halves(command, "--device", o.halves);
  add_variant(command, o.variant);
  command
      ->add_option("--batch", o.batch,
                   "Compute and write N rows (models converted with --batch-max); arrays may have as many")
      ->type_name("N")
      ->check(silent(CLI::PositiveNumber));
  command->add_option("--seed", o.seed, "Key of the model's random numbers")->type_name("N")->capture_default_str();
  files.writes(command, "--trace", o.trace, "FILE.json", "Write a Chrome/Perfetto trace (JSON)");
  command->add_flag("--nhwc", o.nhwc, "Inputs and outputs in the engine's own layout");
  add_quiet(command, o.quiet);
  return command;
}

CLI::App* add_check(CLI::App& app, file_options& files, check_options& o) {
  CLI::App* command = add_command(app, "check", "Compare a converted model with its source, step by step",
                                  "  nsk check model.onnx model.nsk\n"
                                  "  nsk check model.onnx model.nsk --input image=image.npy --report check.md\n"
                                  "  nsk check model.onnx int8.nsk --input image=image.npy --min-db 30\n"
                                  "  nsk check model.nsk --device vulkan");
  files
      .reads(command, "source", o.source, "FILE",
             "ONNX or TensorFlow Lite model, or the JSON of its graph; with --device the .nsk file",
             "and its external data")
      ->required();
  files.reads(command, "model", o.model, "FILE", ".nsk file made from it; with --device the only file");
  files.reads(command, "--input", o.inputs, "NAME=FILE.npy", "Input; random numbers where none is given");
  add_set(command, files, o.sets, "As given to convert, which records all but large arrays");
  add_device(command, o.device, "Compare a GPU with the CPU session instead, step by step", false);
  add_halves(command, "--device", o.halves);
  add_variant(command, o.variant);
  command->add_flag("--trust", o.trusted, "The source is your own: its constants may be far larger than its file");
  command
      ->add_option("--semantics", o.semantics,
                   "litert-reference: say how many elements differ from LiteRT's reference kernels, and by how much")
      ->type_name("NAME");
  command->add_option("--tolerance", o.tolerance, "Largest error, as a share of a tensor's largest magnitude")
      ->type_name("X")
      ->capture_default_str();
  command
      ->add_option("--min-db", o.min_db,
                   "Compare with the float source in dB of signal to noise, X at least: for int8, fp16, w8")
      ->type_name("X");
  command->add_option("--seed", o.seed, "Seed of the random inputs")->type_name("N")->capture_default_str();
  files.writes(command, "--json", o.json, "FILE.json", "Write the comparison as JSON");
  files.writes(command, "--report", o.report, "FILE.md",
               "Write the comparison as Markdown with a chart (FILE.md, FILE.svg)", {".svg"});
  add_isa(command, o.isa);
  add_quiet(command, o.quiet);
  return command;
}

CLI::App* add_selftest(CLI::App& app, file_options& files, selftest_options& o) {
  CLI::App* command = add_command(app, "selftest", "Replay the inputs and outputs that convert --embed-check recorded",
                                  "  nsk convert model.onnx -o model.nsk --embed-check && nsk selftest model.nsk");
  files.reads(command, "model", o.model, "FILE", ".nsk file")->required();
  add_isa(command, o.isa);
  add_quiet(command, o.quiet);
  return command;
}

CLI::App* add_bench(CLI::App& app, file_options& files, bench_options& o) {
  CLI::App* command = add_command(app, "bench", "Measure a model, whole and step by step",
                                  "  nsk bench model.nsk\n"
                                  "  nsk bench model.nsk --lanes 2 --seconds 5 --json > bench.json\n"
                                  "  nsk bench model.nsk --rounds 10 --seconds 0.3\n"
                                  "  nsk bench model.nsk --input places=places.npy\n"
                                  "  nsk bench model.nsk --trace trace.json\n"
                                  "  nsk bench model.nsk --profile machine.json\n"
                                  "  nsk bench model.nsk --device vulkan");
  files.reads(command, "model", o.model, "FILE", ".nsk file")->required();
  files.reads(command, "--input", o.inputs, "NAME=FILE.npy", "Input; noise where none is given, and 0 for integers");
  add_lanes(command, o.lanes);
  add_isa(command, o.isa);
  add_device(command, o.device, "Measure a GPU: its clock, and recording; null computes nothing", true);
  add_halves(command, "--device", o.halves);
  add_seconds(command, o.seconds);
  command->add_option("--rounds", o.rounds, "Measure N times --seconds; steps show the least of all, not the median")
      ->type_name("N")
      ->check(silent(CLI::Range(1, 1000)));
  files.reads(command, "--profile", o.profile, "FILE.json",
              "Set each step beside what a device profile (nsk profile) lets expect, and say what to change");
  command->add_flag("--json", o.json, "As JSON on standard output");
  files.writes(command, "--trace", o.trace, "FILE.json", "Write a Chrome/Perfetto trace of the last runs (JSON)");
  command->add_flag("--quiet", o.quiet, "No progress on the terminal");
  return command;
}

CLI::App* add_profile(CLI::App& app, file_options& files, profile_options& o) {
  CLI::App* command = add_command(app, "profile", "Measure this machine once: peak, bandwidths, overheads, kernels",
                                  "  nsk profile -o machine.json\n"
                                  "  nsk inspect model.nsk --profile machine.json");
  files.writes(command, "-o,--output", o.output, "FILE", "Device profile to write (JSON)")->required();
  add_isa(command, o.isa);
  add_seconds(command, o.seconds);
  add_quiet(command, o.quiet);
  return command;
}

}
