// SPDX-License-Identifier: MIT
#include "cli/source_options.hpp"

#include "cli/common_options.hpp"
#include "cli/file_options.hpp"

namespace nsk::tool {
namespace {

/// Shapes and numbers of inputs, and lengths that are data.
void add_shapes(CLI::App* command, file_options& files, source_options& o) {
  add_repeated(command, "--input", o.inputs, "NAME=SHAPE",
               "Shape of an input, 1x3x224x224; where the model fixes other lengths, everything follows");
  add_set(command, files, o.sets,
          "Make an input a constant: a number, 0.5,1,2 for elements in row-major order, or FILE.npy");
  add_repeated(command, "--constant", o.constants, "NODE=HOW",
               "Numbers of a node that other lengths may change: follow them, keep, or the new NUMBER,..");
  add_repeated(command, "--bound", o.bounds, "NAME=COUNT",
               "Most elements of a Range whose length is data; NAME is its output, NAME.count says how many");
  add_repeated(command, "--variant", o.variants, "NAME:INPUT=SHAPE,..",
               "One of several sets of input shapes in one file, which share its constants; may be given again");
  command
      ->add_option("--batch-max", o.batch,
                   "A batch of at most N rows in first axes that are open or 1; a run computes what it needs")
      ->type_name("N")
      ->check(silent(CLI::Range(2, 65536)));
}

/// What inputs and outputs are, and which there are.
void add_ports(CLI::App* command, source_options& o) {
  CLI::Option* real = command->add_flag("--dequantize", o.dequantize,
                                        "Make a quantised model a float32 one; its inputs and outputs too");
  command
      ->add_flag("--float-io", o.float_io,
                 "Quantised inputs and outputs become float32; what is between them stays integers")
      ->excludes(real);
  add_repeated(command, "--state", o.states, "INPUT=OUTPUT",
               "Make an input a state: it has what the output had in the run before");
  add_opposite(command, "--no-states", o.find_states, "No states but those given, however plain their names");
  add_repeated(command, "--output-value", o.outputs, "NAME",
               "Make this tensor an output, in place of the model's own; what none needs goes");
  add_repeated(command, "--input-range", o.input_ranges, "NAME=LO..HI",
               "What an input will hold: beyond 256 its convolutions are direct ones; checks take such numbers");
  add_repeated(command, "--hdr", o.hdr_inputs, "NAME",
               "An input of high dynamic range: its bright pixels must not change those beyond a kernel's reach");
  add_repeated(command, "--keep-layout", o.kept_layouts, "NAME",
               "Keep the source's order of axes in this input or output: planar images, [N, C, H, W]");
}

/// Changes of what the model computes and of its names.
void add_changes(CLI::App* command, source_options& o) {
  add_repeated(command, "--argmax", o.argmaxes, "NAME",
               "Make an output the index of its largest channel; NAME=AXIS along another axis");
  add_repeated(command, "--rename", o.names, "OLD=NEW", "Another name for an input, output, tensor or node");
  CLI::Option* hard = command->add_flag("--swish-to-hard-swish", o.to_hard_swish, "Make every Swish a HardSwish");
  command->add_flag("--hard-swish-to-swish", o.to_swish, "Make every HardSwish a Swish")->excludes(hard);
}

}

void add_source_options(CLI::App* command, file_options& files, source_options& o) {
  files
      .reads(command, "source", o.path, "FILE", "ONNX or TensorFlow Lite model, or the JSON of its graph",
             "and its external data")
      ->required();
  command->add_option("--signature", o.signature, "Which function of a TensorFlow Lite model, where it has several")
      ->type_name("NAME");
  add_shapes(command, files, o);
  add_ports(command, o);
  add_changes(command, o);
  command->add_flag("--gpu", o.gpu,
                    "Add a variant for GPUs, 'gpu' (of several variants NAME.gpu): no borders, less of Winograd");
  command->add_flag("--trust", o.trusted,
                    "The model is your own: constants that it computes may be far larger than its file");
}

}
