// SPDX-License-Identifier: MIT
#include "cli/command_line.hpp"
#include "io/text.hpp"
#include "passes/support.hpp"

namespace nsk::tool {

void add_prepare(command_line& line) {
  const auto [command, o] =
      line.add("prepare", "Write the file that nsk::prepare makes of a small one",
               "  nsk convert model.onnx -o small.nsk --small && nsk prepare small.nsk -o model.nsk", prepare);
  line.files.reads(command, "model", o.model, "FILE", ".nsk file that convert --small wrote")->required();
  line.files.writes(command, "-o,--output", o.output, "FILE", ".nsk file to write")->required();
  add_quiet(command, o.quiet);
}

void add_inspect(command_line& line) {
  const auto [command, o] = line.add("inspect", "Show steps, shapes, work and memory of a model",
                                     "  nsk inspect model.nsk\n"
                                     "  nsk inspect model.nsk --profile machine.json\n"
                                     "  nsk inspect model.nsk --svg arena.svg --svg-graph graph.svg\n"
                                     "  nsk inspect model.nsk --gpu\n"
                                     "  nsk inspect model.nsk --settings > model_settings.hpp",
                                     inspect);
  line.files.reads(command, "model", o.model, "FILE", ".nsk file")->required();
  command->add_flag("--json", o.json, "As JSON");
  command->add_flag("--settings", o.settings, "Print the C++ settings type that the model needs, called FILE_settings");
  add_value(command, "--name", o.name, "NAME", "With --settings: call the type NAME_settings instead");
  command->add_flag("--gpu", o.gpu,
                    "The GPU plan: pipelines, dispatches, barriers, bytes, and which step has no shader and why");
  add_value(command, "--variant", o.variant, "NAME", "With --gpu: name of the variant; all where none is given");
  add_halves(command, "--gpu", o.halves);
  add_lengths(command, o.lengths);
  line.files.reads(command, "--profile", o.profile, "FILE.json",
                   "Device profile (nsk profile): adds the time that every step is expected to take there");
  line.files.writes(command, "--svg", o.svg, "FILE.svg", "Draw the arena over time");
  line.files.writes(command, "--svg-graph", o.svg_graph, "FILE.svg", "Draw the graph of steps");
}

void add_json(command_line& line) {
  const auto [command, o] = line.add("json", "Write a model as text: a source's graph, or what a .nsk file holds",
                                     "  nsk json model.onnx -o graph.json && nsk convert graph.json -o edited.nsk\n"
                                     "  nsk json model.nsk -o model.json && nsk from-json model.json -o same.nsk",
                                     to_json);
  line.files.reads(command, "model", o.model, "FILE", "ONNX or TensorFlow Lite model, or .nsk file")->required();
  line.files
      .writes(command, "-o,--output", o.output, "TEXT.json",
              "JSON file to write; of a graph the large constants go to the folder TEXT.constants, of a .nsk file the "
              "weights to TEXT.weights",
              {".weights"})
      ->required();
  add_repeated(command, "--input", o.inputs, "NAME=SHAPE", "Of a TensorFlow Lite model: lengths that it leaves open");
  command->add_flag("--dequantize", o.dequantize, "Of a TensorFlow Lite model: make it a float32 one");
  add_value(command, "--signature", o.signature, "NAME", "Of a TensorFlow Lite model: which of its functions");
}

void add_from_json(command_line& line) {
  const auto [command, o] = line.add("from-json", "Make a model of what nsk json wrote, edited",
                                     "  nsk from-json model.json -o edited.nsk\n"
                                     "  nsk from-json model.json -o edited.nsk --rename scores=probabilities",
                                     from_json);
  line.files
      .reads(command, "source", o.source, "FILE.json", "JSON file, its .weights beside it",
             "and the .weights that it names")
      ->required();
  line.files.writes(command, "-o,--output", o.output, "FILE", ".nsk file to write")->required();
  line.files.reads(command, "--replace", o.replacements, "NAME=FILE.npy",
                   "Other values for a constant tensor; NAME.bias are the biases of packed weights");
  add_repeated(command, "--rename", o.names, "OLD=NEW", "Another name for a tensor, step or port");
  add_value(command, "--cut", o.cut, "NAME", "End the model at this tensor, which becomes its only output");
  add_quiet(command, o.quiet);
}

void add_codegen(command_line& line) {
  const auto [command, o] = line.add("codegen", "Write a model as a C++ header of calls of kernels, to be compiled in",
                                     "  nsk codegen policy.nsk -o policy.hpp\n"
                                     "  nsk codegen model.nsk -o model.hpp --weights file --name classifier",
                                     codegen);
  line.files.reads(command, "model", o.model, "FILE", ".nsk file")->required();
  line.files
      .writes(command, "-o,--output", o.output, "CODE.hpp",
              "Header to write; weights that it does not hold go to CODE.weights")
      ->required();
  add_value(command, "--weights", o.weights, "HOW",
            "embed: in the header; file: in CODE.weights; embed up to 1 MiB where not given");
  add_value(command, "--name", o.name, "NAME", "Namespace of the source; the model file's name where not given");
  add_variant(command, o.variant);
  add_lengths(command, o.lengths);
  add_quiet(command, o.quiet);
}

void add_operators(command_line& line) {
  line.add("operators", "List the ONNX operators that import, as Markdown", "  nsk operators", [](command_files&) {
    print(operators_page());
    return exit_code::good;
  });
}

}
