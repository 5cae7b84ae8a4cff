// SPDX-License-Identifier: MIT
// The nsk command line: options in, exit code out. 0 good, 1 usage, 2 input refused, 3 numeric check failed.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <new>
#include <string>
#include <vector>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <netsuke/version.hpp>

#include "cli/commands.hpp"
#include "cli/common_options.hpp"
#include "cli/file_options.hpp"
#include "cli/quantize_options.hpp"
#include "cli/usage.hpp"
#include "engine/engine.hpp"
#include "gpu/device.hpp"
#include "quantize/targets.hpp"

namespace {
using namespace nsk::tool;

void add_isa(CLI::App* command, std::string& isa) {
  command
      ->add_option("--isa", isa, "Instruction set (" + engine_names() + "); the fastest of this machine when left out")
      ->type_name("NAME");
}
void add_lanes(CLI::App* command, int& lanes) {
  command->add_option("--lanes", lanes, "Threads, each with its own scratch memory")
      ->type_name("N")
      ->check(silent(CLI::Range(1, 256)))
      ->capture_default_str();
}
void add_seconds(CLI::App* command, double& seconds) {
  command->add_option("--seconds", seconds, "How long to measure")
      ->type_name("S")
      ->check(silent(CLI::Range(0.01, 3600.0)))
      ->capture_default_str();
}

void add_device(CLI::App* command, std::string& device, const char* what) {
  command->add_option("--device", device, what + std::string(" (") + device_names() + ")")->type_name("NAME");
}

void add_halves(CLI::App* command, const std::string& with, half_options& halves) {
  command->add_flag("--half-activations", halves.activations,
                    "With " + with + ": 16-bit floats between steps, half the bytes");
  command->add_flag("--half-weights", halves.weights, "With " + with + ": weights of layers are 16-bit floats");
}

void add_variant(CLI::App* command, std::string& variant) {
  command->add_option("--variant", variant, "Name of the variant; the first one where none is given")
      ->type_name("NAME");
}

weight_format weights_of(const std::string& how) {
  return how == "w8" ? weight_format::w8 : how == "fp16" ? weight_format::fp16 : weight_format::floats;
}

CLI::App* add_convert(CLI::App& app, file_options& files, convert_options& o) {
  CLI::App* command = add_command(app, "convert", "Convert a model to .nsk",
                                  "  nsk convert model.onnx -o model.nsk --check\n"
                                  "  nsk convert model.tflite -o model.nsk --check\n"
                                  "  nsk convert model.onnx -o model.nsk --input image=1x3x224x224 --set training=0\n"
                                  "  nsk convert voice.onnx -o voice.nsk --set rate=16000 --state memory=memory_out\n"
                                  "  nsk convert model.onnx -o model.nsk --max-tile-us 50 --profile console.json");
  files
      .reads(command, "source", o.source, "FILE", "ONNX or TensorFlow Lite model, or the JSON of its graph",
             "and its external data")
      ->required();
  files.writes(command, "-o,--output", o.output, "FILE", ".nsk file to write")->required();
  add_repeated(command, "--input", o.inputs, "NAME=SHAPE",
               "Shape of an input, 1x3x224x224; where the model fixes other lengths, everything follows");
  add_repeated(command, "--set", o.sets, "NAME=VALUE", "Make an input a constant");
  add_repeated(command, "--bound", o.bounds, "NAME=COUNT",
               "Most elements of a Range whose length is data; NAME is its output, NAME.count says how many");
  add_repeated(command, "--variant", o.variants, "NAME:INPUT=SHAPE,..",
               "One of several sets of input shapes in one file, which share its constants; may be given again");
  auto* real = command->add_flag("--dequantize", o.dequantize,
                                 "Make a quantised model a float32 one; its inputs and outputs too");
  command
      ->add_flag("--float-io", o.float_io,
                 "Quantised inputs and outputs become float32; what is between them stays integers")
      ->excludes(real);
  add_repeated(command, "--state", o.states, "INPUT=OUTPUT",
               "Make an input a state: it has what the output had in the run before");
  command->add_flag("!--no-states", o.find_states, "No states but those given, however plain their names");
  add_repeated(command, "--output-value", o.outputs, "NAME",
               "Keep this output of the model and drop those not named; may be given again");
  add_repeated(command, "--argmax", o.argmaxes, "NAME",
               "Make an output the index of its largest channel; NAME=AXIS along another axis");
  add_repeated(command, "--rename", o.names, "OLD=NEW", "Another name for an input, output, tensor or node");
  add_repeated(command, "--keep-layout", o.kept_layouts, "NAME",
               "Keep the source's order of axes in this input or output: planar images, [N, C, H, W]");
  CLI::Option* hard = command->add_flag("--swish-to-hard-swish", o.to_hard_swish, "Make every Swish a HardSwish");
  command->add_flag("--hard-swish-to-swish", o.to_swish, "Make every HardSwish a Swish")->excludes(hard);
  command
      ->add_option("--batch-max", o.batch,
                   "Bind open first axes of inputs to a batch of at most N rows; a run computes as many as it needs")
      ->type_name("N")
      ->check(silent(CLI::Range(2, 65536)));
  command->add_flag("--trust", o.trusted,
                    "The model is your own: constants that it computes may be far larger than its file");
  CLI::Option* check = command->add_flag(
      "--check", o.check, "Check the largest models too, and show how every output compares with the evaluator's");
  command->add_flag("--no-check", o.skips_check, "Write the file without comparing it with the reference evaluator")
      ->excludes(check);
  command->add_flag("--embed-check", o.embed_check,
                    "Record inputs and outputs in the file, which nsk::selftest replays on the player's machine");
  files.reads(command, "--override", o.overrides, "FILE.json",
              "Choices for single nodes: {\"NAME\": {\"algorithm\": \"direct\"}}; also winograd2, winograd4");
  files.writes(command, "--report", o.report, "FILE.md",
               "With --check: write the comparison as Markdown with a chart (FILE.md, FILE.svg)", {".svg"});
  command
      ->add_option("--max-tile-us", o.max_tile_us,
                   "Longest tile wanted, in microseconds: how soon an inference can be interrupted")
      ->type_name("US")
      ->check(silent(CLI::Range(1.0, 1e6)))
      ->capture_default_str();
  std::vector<std::string> machines;
  for (const target& t : targets()) machines.push_back(t.name);
  command
      ->add_option_function<std::string>(
          "--target", [&o](const std::string& name) { o.streams = find_target(name)->streams; },
          "Compute large layers in bands of rows, in the caches of pc, pc-vnni, zen2-console or mobile")
      ->type_name("NAME")
      ->check(silent(CLI::IsMember(machines)));
  files.reads(command, "--profile", o.profile, "FILE.json",
              "Device profile from which tile times are reckoned; 30 G MACs/s when left out");
  command->add_flag("!--no-winograd,!--exact", o.winograd,
                    "Direct convolutions only: slower, smaller, nearer to exact arithmetic");
  command
      ->add_option_function<std::string>(
          "--weights", [&o](const std::string& how) { o.weights = weights_of(how); },
          "'float', 'fp16' (half the file), or 'w8' (int8 in dense and recurrent layers); sums stay float32")
      ->type_name("HOW")
      ->check(silent(CLI::IsMember({"float", "fp16", "w8"})));
  command->add_flag("--gpu", o.gpu,
                    "Add a variant for GPUs, 'gpu' (of several variants NAME.gpu): no borders, less of Winograd");
  add_small(command, o.small);
  files.writes(command, "--json", o.json, "FILE.json", "Write a report of the conversion");
  add_quiet(command, o.quiet);
  return command;
}

CLI::App* add_prepare(CLI::App& app, file_options& files, prepare_options& o) {
  CLI::App* command =
      add_command(app, "prepare", "Write the file that nsk::prepare makes of a small one",
                  "  nsk convert model.onnx -o small.nsk --small && nsk prepare small.nsk -o model.nsk");
  files.reads(command, "model", o.model, "FILE", ".nsk file that convert --small wrote")->required();
  files.writes(command, "-o,--output", o.output, "FILE", ".nsk file to write")->required();
  add_quiet(command, o.quiet);
  return command;
}

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
  add_device(command, o.device, "Run on a GPU, the variant 'gpu' where there is one");
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

CLI::App* add_inspect(CLI::App& app, file_options& files, inspect_options& o) {
  CLI::App* command = add_command(app, "inspect", "Show steps, shapes, work and memory of a model",
                                  "  nsk inspect model.nsk\n"
                                  "  nsk inspect model.nsk --profile machine.json\n"
                                  "  nsk inspect model.nsk --svg arena.svg --svg-graph graph.svg\n"
                                  "  nsk inspect model.nsk --gpu\n"
                                  "  nsk inspect model.nsk --settings > model_settings.hpp");
  files.reads(command, "model", o.model, "FILE", ".nsk file")->required();
  command->add_flag("--json", o.json, "As JSON");
  command->add_flag("--settings", o.settings, "Print the C++ settings type that the model needs, called FILE_settings");
  command->add_option("--name", o.name, "With --settings: call the type NAME_settings instead")->type_name("NAME");
  command->add_flag("--gpu", o.gpu,
                    "The GPU plan: pipelines, dispatches, barriers, bytes, and which step has no shader and why");
  command->add_option("--variant", o.variant, "With --gpu: name of the variant; all where none is given")
      ->type_name("NAME");
  add_halves(command, "--gpu", o.halves);
  files.reads(command, "--profile", o.profile, "FILE.json",
              "Device profile (nsk profile): adds the time that every step is expected to take there");
  files.writes(command, "--svg", o.svg, "FILE.svg", "Draw the arena over time");
  files.writes(command, "--svg-graph", o.svg_graph, "FILE.svg", "Draw the graph of steps");
  return command;
}

CLI::App* add_json(CLI::App& app, file_options& files, json_options& o) {
  CLI::App* command = add_command(app, "json", "Write a model as text: a source's graph, or what a .nsk file holds",
                                  "  nsk json model.onnx -o graph.json && nsk convert graph.json -o edited.nsk\n"
                                  "  nsk json model.nsk -o model.json && nsk from-json model.json -o same.nsk");
  files.reads(command, "model", o.model, "FILE", "ONNX or TensorFlow Lite model, or .nsk file")->required();
  files
      .writes(command, "-o,--output", o.output, "FILE.json",
              "JSON file to write; a graph's constants in FILE.constants, a .nsk file's in FILE.weights", {".weights"})
      ->required();
  add_repeated(command, "--input", o.inputs, "NAME=SHAPE", "Of a TensorFlow Lite model: lengths that it leaves open");
  command->add_flag("--dequantize", o.dequantize, "Of a TensorFlow Lite model: make it a float32 one");
  return command;
}

CLI::App* add_from_json(CLI::App& app, file_options& files, from_json_options& o) {
  CLI::App* command = add_command(app, "from-json", "Make a model of what nsk json wrote, edited",
                                  "  nsk from-json model.json -o edited.nsk\n"
                                  "  nsk from-json model.json -o edited.nsk --rename scores=probabilities");
  files
      .reads(command, "source", o.source, "FILE.json", "JSON file, its .weights beside it",
             "and the .weights that it names")
      ->required();
  files.writes(command, "-o,--output", o.output, "FILE", ".nsk file to write")->required();
  files.reads(command, "--replace", o.replacements, "NAME=FILE.npy",
              "Other values for a constant tensor; NAME.bias are the biases of packed weights");
  add_repeated(command, "--rename", o.names, "OLD=NEW", "Another name for a tensor, step or port");
  command->add_option("--cut", o.cut, "End the model at this tensor, which becomes its only output")->type_name("NAME");
  add_quiet(command, o.quiet);
  return command;
}

CLI::App* add_codegen(CLI::App& app, file_options& files, codegen_options& o) {
  CLI::App* command =
      add_command(app, "codegen", "Write a model as a C++ header of calls of kernels, to be compiled in",
                  "  nsk codegen policy.nsk -o policy.hpp\n"
                  "  nsk codegen model.nsk -o model.hpp --weights file --name classifier");
  files.reads(command, "model", o.model, "FILE", ".nsk file")->required();
  files.writes(command, "-o,--output", o.output, "FILE.hpp", "Header to write; FILE.weights gets weights of a file")
      ->required();
  command
      ->add_option("--weights", o.weights,
                   "embed: in the header; file: in FILE.weights; embed up to 1 MiB where not given")
      ->type_name("HOW");
  command->add_option("--name", o.name, "Namespace of the source; the model file's name where not given")
      ->type_name("NAME");
  add_variant(command, o.variant);
  add_quiet(command, o.quiet);
  return command;
}

CLI::App* add_check(CLI::App& app, file_options& files, check_options& o) {
  CLI::App* command = add_command(app, "check", "Compare a converted model with its source, step by step",
                                  "  nsk check model.onnx model.nsk\n"
                                  "  nsk check model.onnx model.nsk --input image=image.npy --report check.md\n"
                                  "  nsk check model.nsk --device vulkan");
  files.reads(command, "source", o.source, "FILE", "ONNX or TensorFlow Lite model", "and its external data")
      ->required();
  files.reads(command, "model", o.model, "FILE", ".nsk file made from it; with --device the only file");
  files.reads(command, "--input", o.inputs, "NAME=FILE.npy", "Input; random numbers where none is given");
  add_repeated(command, "--set", o.sets, "NAME=VALUE", "As given to convert");
  add_device(command, o.device, "Compare a GPU with the CPU session instead, step by step");
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
  add_device(command, o.device, "Measure a GPU: its own clock, and what recording takes");
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

exit_code dispatch(int argc, char** argv) {
  file_options files;
  CLI::App app("nsk: converts neural networks for the netsuke engine, runs, inspects, checks and measures them.",
               "nsk");
  app.footer(
      "\nExample:\n"
      "  nsk convert model.onnx -o model.nsk --check && nsk bench model.nsk\n\n"
      "`nsk COMMAND --help` tells more. Results go to standard output, progress and errors to standard error.\n"
      "Exit codes: 0 good, 1 usage, 2 input refused, 3 numeric check failed.");
  app.get_formatter()->column_width(option_column);
  app.set_version_flag("--version", "nsk " NSK_VERSION_STRING);
  app.require_subcommand(1);
  convert_options convert_with;
  quantize_options quantize_with;
  run_options run_with;
  inspect_options inspect_with;
  check_options check_with;
  bench_options bench_with;
  profile_options profile_with;
  prepare_options prepare_with;
  selftest_options selftest_with;
  json_options json_with;
  from_json_options from_json_with;
  codegen_options codegen_with;
  const CLI::App* converting = add_convert(app, files, convert_with);
  const CLI::App* quantizing = add_quantize(app, files, quantize_with);
  const CLI::App* running = add_run(app, files, run_with);
  const CLI::App* inspecting = add_inspect(app, files, inspect_with);
  const CLI::App* checking = add_check(app, files, check_with);
  const CLI::App* profiling = add_profile(app, files, profile_with);
  const CLI::App* preparing = add_prepare(app, files, prepare_with);
  const CLI::App* replaying = add_selftest(app, files, selftest_with);
  const CLI::App* writing_json = add_json(app, files, json_with);
  const CLI::App* reading_json = add_from_json(app, files, from_json_with);
  const CLI::App* generating = add_codegen(app, files, codegen_with);
  const CLI::App* listing =
      add_command(app, "operators", "List the ONNX operators that import, as Markdown", "  nsk operators");
  add_bench(app, files, bench_with);
  for (CLI::App* command : app.get_subcommands(nullptr)) files.explain(command);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e) == 0 ? exit_code::good : exit_code::usage;  // help and version
    misuse(usage_message(app, e, argc > 1 ? argv[1] : nullptr));
  }
  command_files declared;
  files.declare(app.get_subcommands().front(), declared);
  if (converting->parsed()) return convert(convert_with, declared);
  if (quantizing->parsed()) return quantize(quantize_with, declared);
  if (running->parsed()) return run(run_with, declared);
  if (inspecting->parsed()) return inspect(inspect_with, declared);
  if (checking->parsed()) return check(check_with, declared);
  if (listing->parsed()) return operators();
  if (profiling->parsed()) return profile(profile_with, declared);
  if (preparing->parsed()) return prepare(prepare_with, declared);
  if (replaying->parsed()) return selftest(selftest_with);
  if (writing_json->parsed()) return to_json(json_with, declared);
  if (reading_json->parsed()) return from_json(from_json_with, declared);
  if (generating->parsed()) return codegen(codegen_with, declared);
  return bench(bench_with, declared);
}

int fail(exit_code code, const char* message) {
  std::fprintf(stderr, "nsk: %s\n", message);
  return static_cast<int>(code);
}

}

int main(int argc, char** argv) {
#if defined(__GLIBC__)
  // Arrays of megabytes come and go: keeping their pages is faster than giving them back and clearing new ones. Larger
  // ones are given back: what grows by doubling would leave a gigabyte of holes.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
#if defined(SIGXFSZ)
  std::signal(SIGXFSZ, SIG_IGN);  // a file size limit becomes an error of the write, with a message
#endif
  try {
    const exit_code code = dispatch(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout))
      return fail(exit_code::refused, "cannot write to standard output (is the disk full?).");
    return static_cast<int>(code);
  } catch (const error& e) {
    return fail(e.code, e.what());
  } catch (const std::bad_alloc&) {
    return fail(exit_code::refused, "not enough memory for this model.");
  } catch (const std::exception& e) {
    return fail(exit_code::refused, e.what());
  }
}
