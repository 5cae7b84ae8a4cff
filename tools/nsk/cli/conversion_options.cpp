// SPDX-License-Identifier: MIT
#include "cli/conversion_options.hpp"

#include "cli/command_line.hpp"
#include "cli/common_options.hpp"
#include "quantize/choose/targets.hpp"

namespace nsk::tool {
namespace {

/// How the file is made.
void add_compiling(CLI::App* command, file_options& files, convert_options& o) {
  files.reads(command, "--override", o.overrides, "FILE.json",
              "Of single nodes: {\"NAME\": {\"algorithm\": \"direct\"}}, winograd2 or winograd4; formats; ranges");
  command
      ->add_option("--max-tile-us", o.max_tile_us,
                   "Longest tile wanted, in microseconds: how soon an inference can be interrupted")
      ->type_name("US")
      ->check(silent(CLI::Range(1.0, 1e6)))
      ->capture_default_str();
  files.reads(command, "--profile", o.profile, "FILE.json",
              "Of a machine, as nsk profile wrote it: expected times, and how large tiles are; else 30 G MACs/s");
  add_opposite(command, "--no-winograd", o.winograd,
               "Direct convolutions only: slower, smaller, nearer to exact arithmetic");
  command->add_flag("--small", o.small,
                    "Store weights in the bytes of the source; nsk::prepare expands them when the game loads the file");
}

/// How the file is checked, and what is said of it.
void add_checking(CLI::App* command, file_options& files, convert_options& o) {
  CLI::Option* check = command->add_flag(
      "--check", o.check, "Check the largest models too, and show how every output compares with the evaluator's");
  command->add_flag("--no-check", o.skips_check, "Write the file without comparing it with the reference evaluator")
      ->excludes(check);
  command->add_flag("--embed-check", o.embed_check,
                    "Record inputs and outputs in the file, which nsk::selftest replays on the player's machine");
  files.writes(command, "--json", o.json, "FILE.json", "Write a report of the conversion");
  add_quiet(command, o.quiet);
}

weight_format weights_of(const std::string& how) {
  return how == "w8" ? weight_format::w8 : how == "fp16" ? weight_format::fp16 : weight_format::floats;
}

}

void add_conversion_options(CLI::App* command, file_options& files, convert_options& o) {
  add_source_options(command, files, o.source);
  files.writes(command, "-o,--output", o.output, "FILE", ".nsk file to write")->required();
  add_compiling(command, files, o);
  add_checking(command, files, o);
}

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const target& t : targets()) names.push_back(t.name);
  names.push_back("size");
  return names;
}

void take_target(convert_options& o, const std::string& name) {
  const target* machine = find_target(name);
  o.streams = machine != nullptr ? machine->streams : stream_target();
  o.kept_weights = machine != nullptr ? machine->kept_weights : 0;
  o.fewest_bytes = machine == nullptr;
}

CLI::App* add_convert(CLI::App& app, file_options& files, convert_options& o) {
  CLI::App* command = add_command(app, "convert", "Convert a model to .nsk",
                                  "  nsk convert model.onnx -o model.nsk --check\n"
                                  "  nsk convert model.tflite -o model.nsk --check\n"
                                  "  nsk convert model.onnx -o model.nsk --input image=1x3x224x224 --set training=0\n"
                                  "  nsk convert decoder.onnx -o decoder.nsk --set size=480,640 --output-value masks\n"
                                  "  nsk convert voice.onnx -o voice.nsk --set rate=16000 --state memory=memory_out\n"
                                  "  nsk convert model.onnx -o model.nsk --max-tile-us 50 --profile console.json");
  add_conversion_options(command, files, o);
  files.writes(command, "--report", o.report, "FILE.md",
               "With --check: write the comparison as Markdown with a chart (FILE.md, FILE.svg)", {".svg"});
  command
      ->add_option_function<std::string>(
          "--target", [&o](const std::string& name) { take_target(o, name); },
          "Large layers in bands of rows for caches of pc, pc-vnni, zen2-console, mobile; size: few bytes")
      ->type_name("NAME")
      ->check(silent(CLI::IsMember(target_names())));
  command
      ->add_option_function<std::string>(
          "--weights", [&o](const std::string& how) { o.weights = weights_of(how); },
          "'float', 'fp16' (half the file), or 'w8' (int8, a quarter); sums stay float32")
      ->type_name("HOW")
      ->check(silent(CLI::IsMember({"float", "fp16", "w8"})));
  return command;
}

}
