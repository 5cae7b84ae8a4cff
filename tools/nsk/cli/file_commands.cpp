// SPDX-License-Identifier: MIT
#include "cli/command_line.hpp"

#include "cli/common_options.hpp"

namespace nsk::tool {

CLI::App* add_prepare(CLI::App& app, file_options& files, prepare_options& o) {
  CLI::App* command =
      add_command(app, "prepare", "Write the file that nsk::prepare makes of a small one",
                  "  nsk convert model.onnx -o small.nsk --small && nsk prepare small.nsk -o model.nsk");
  files.reads(command, "model", o.model, "FILE", ".nsk file that convert --small wrote")->required();
  files.writes(command, "-o,--output", o.output, "FILE", ".nsk file to write")->required();
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
      .writes(command, "-o,--output", o.output, "TEXT.json",
              "JSON file to write; of a graph the large constants go to the folder TEXT.constants, of a .nsk file the "
              "weights to TEXT.weights",
              {".weights"})
      ->required();
  add_repeated(command, "--input", o.inputs, "NAME=SHAPE", "Of a TensorFlow Lite model: lengths that it leaves open");
  command->add_flag("--dequantize", o.dequantize, "Of a TensorFlow Lite model: make it a float32 one");
  command->add_option("--signature", o.signature, "Of a TensorFlow Lite model: which of its functions")
      ->type_name("NAME");
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
  files
      .writes(command, "-o,--output", o.output, "CODE.hpp",
              "Header to write; weights that it does not hold go to CODE.weights")
      ->required();
  command
      ->add_option("--weights", o.weights,
                   "embed: in the header; file: in CODE.weights; embed up to 1 MiB where not given")
      ->type_name("HOW");
  command->add_option("--name", o.name, "Namespace of the source; the model file's name where not given")
      ->type_name("NAME");
  add_variant(command, o.variant);
  add_quiet(command, o.quiet);
  return command;
}

}
