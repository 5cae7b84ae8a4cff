// SPDX-License-Identifier: MIT
#include "cli/command_line.hpp"
#include "quantize/choose/targets.hpp"

namespace nsk::tool {
namespace {

/// Shapes and numbers of inputs, and lengths that are data.
void add_shapes(CLI::App* command, file_options& files, source_options& o) {
  add_repeated(command, "--input", o.inputs, "NAME=SHAPE",
               "Shape of an input, 1x3x224x224; where the model fixes other lengths, everything follows");
  files.reads(command, "--set", o.sets, "NAME=VALUE",
              "Make an input a constant: a number, 0.5,1,2 for elements in row-major order, or FILE.npy");
  add_repeated(command, "--constant", o.constants, "NODE=HOW",
               "Numbers of a node that other lengths may change: follow them, keep, or the new NUMBER,..");
  add_repeated(command, "--bound", o.bounds, "NAME=COUNT",
               "Open axis that a run chooses, to MAX or MIN..MAX/STEP; or bound of a Range whose length is data");
  add_repeated(command, "--stream", o.chunks, "NAME=CHUNK",
               "Take a signal in chunks of up to CHUNK samples, an open axis; the past becomes states");
  add_repeated(command, "--variant", o.variants, "NAME:INPUT=SHAPE,..",
               "One of several sets of input shapes in one file, which share its constants; may be given again");
  add_value(command, "--batch-max", o.batch, "N",
            "A batch of at most N rows in first axes that are open or 1; a run computes what it needs")
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

/// What to do with the source, which is the first argument.
void add_source(CLI::App* command, file_options& files, source_options& o) {
  files
      .reads(command, "source", o.path, "FILE", "ONNX or TensorFlow Lite model, or the JSON of its graph",
             "and its external data")
      ->required();
  add_value(command, "--signature", o.signature, "NAME",
            "Which function of a TensorFlow Lite model, where it has several");
  add_shapes(command, files, o);
  add_ports(command, o);
  add_changes(command, o);
  command->add_flag("--gpu", o.gpu,
                    "Add a variant for GPUs, 'gpu' (of several variants NAME.gpu): no borders, less of Winograd");
  command->add_flag("--trust", o.trusted,
                    "The model is your own: constants that it computes may be far larger than its file");
}

/// How the file is made.
void add_compiling(CLI::App* command, file_options& files, convert_options& o) {
  files.reads(command, "--override", o.overrides, "FILE.json",
              "Of single nodes: {\"NAME\": {\"algorithm\": \"direct\"}}, winograd2 or winograd4; formats; ranges");
  add_value(command, "--max-tile-us", o.max_tile_us, "US",
            "Longest tile wanted, in microseconds: how soon an inference can be interrupted")
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

/// The options that nsk convert and nsk quantize share.
void add_conversion(CLI::App* command, file_options& files, convert_options& o) {
  add_source(command, files, o.source);
  files.writes(command, "-o,--output", o.output, "FILE", ".nsk file to write")->required();
  add_compiling(command, files, o);
  add_checking(command, files, o);
}

/// Adds --target: large layers in bands for the caches of a machine, narrow weights where they are not slower there, or
/// with "size" the fewest bytes. `name`, which may be null, becomes the target's.
CLI::Option* add_target(CLI::App* command, convert_options& o, std::string* name, const char* what) {
  std::vector<std::string> names;
  for (const target& t : targets()) names.push_back(t.name);
  names.push_back("size");
  const auto take = [&o, name](const std::string& given) {
    const target* machine = find_target(given);
    o.streams = machine != nullptr ? machine->streams : stream_target();
    o.kept_weights = machine != nullptr ? machine->kept_weights : 0;
    o.fewest_bytes = machine == nullptr;
    if (name != nullptr) *name = given;
  };
  return add_choice(command, "--target", take, names, what);
}

weight_format weights_of(const std::string& how) {
  return how == "w8" ? weight_format::w8 : how == "fp16" ? weight_format::fp16 : weight_format::floats;
}

/// What becomes of images before they are inputs.
void add_images(CLI::App* command, image_choices& o) {
  const auto numbers = [&](const char* name, std::vector<float>& values, const char* what) {
    add_value(command, name, values, "X", what)->delimiter(',')->expected(1, 3)->allow_extra_args(false);
  };
  numbers("--mean", o.mean, "Of images: subtracted from each colour; one number or three, as 0.485,0.456,0.406");
  numbers("--std", o.deviation, "Of images: each colour is divided by it; one number or three");
  add_value(command, "--white", o.white, "X", "Of images: what a level of 255 counts as, before --mean; 1 by default");
  add_choice(
      command, "--color", [&o](const std::string& order) { o.bgr = order == "bgr"; }, {"rgb", "bgr"},
      "Of images: order of the colours, rgb by default, or bgr");
  const auto take_fit = [&o](const std::string& how) {
    o.fit = how == "crop" ? image_fit::crop : how == "letterbox" ? image_fit::letterbox : image_fit::stretch;
  };
  add_choice(command, "--fit", take_fit, {"stretch", "crop", "letterbox"},
             "Of images: stretch to the input's shape by default, crop, letterbox");
}

/// What bounds how far the outputs may be off, and by what.
void add_bounds(CLI::App* command, quantize_options& o) {
  add_value(command, "--max-drop", o.max_drop, "X",
            "Return layers to floats until the outputs are off by X at most, as 0.02, on samples held out");
  add_choice(command, "--drop-by", o.drop_by, {"error", "sqnr", "top1"},
             "What X is: error, share of the magnitude; sqnr, dB; top1, share of samples with another largest");
  add_value(command, "--metric", o.metric, "COMMAND",
            "Program that prints a number for a folder of outputs, larger is better: X bounds what it loses");
  add_value(command, "--metric-seconds", o.metric_seconds, "S", "How long one call of it may take, 600 by default");
}

}

void add_convert(command_line& line) {
  const auto [command, o] =
      line.add("convert", "Convert a model to .nsk",
               "  nsk convert model.onnx -o model.nsk --check\n"
               "  nsk convert model.tflite -o model.nsk --check\n"
               "  nsk convert model.onnx -o model.nsk --input image=1x3x224x224 --set training=0\n"
               "  nsk convert decoder.onnx -o decoder.nsk --set size=480,640 --output-value masks\n"
               "  nsk convert voice.onnx -o voice.nsk --set rate=16000 --state memory=memory_out\n"
               "  nsk convert model.onnx -o model.nsk --max-tile-us 50 --profile console.json",
               convert);
  add_conversion(command, line.files, o);
  line.files.writes(command, "--report", o.report, "FILE.md",
                    "With --check: write the comparison as Markdown with a chart (FILE.md, FILE.svg)", {".svg"});
  add_target(command, o, nullptr,
             "Bands of rows for caches of pc, pc-vnni, zen2-console, switch2, mobile; size: few bytes")
      ->type_name("NAME");
  add_choice(
      command, "--weights", [&o = o](const std::string& how) { o.weights = weights_of(how); }, {"float", "fp16", "w8"},
      "'float', 'fp16' (half the file), or 'w8' (int8, a quarter); sums stay float32");
}

void add_quantize(command_line& line) {
  file_options& files = line.files;
  const auto [command, o] = line.add(
      "quantize", "Convert a float32 model to stored integers, or to weights of 16 or 8 bits",
      "  nsk quantize model.onnx -o model.nsk --calibrate samples\n"
      "  nsk quantize model.onnx -o model.nsk --calibrate photos --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225\n"
      "  nsk quantize model.onnx -o model.nsk --calibrate image=images --calibrate mask=masks --keep conv_7\n"
      "  nsk quantize model.onnx -o model.nsk --format fp16\n"
      "  nsk quantize voice.onnx -o voice.nsk --format w8",
      quantize);
  add_choice(command, "--format", o.format, {"int8", "fp16", "w8"},
             "int8, by default: layers of stored integers; fp16: weights of 16 bits; w8: of 8 bits");
  files.reads(command, "--calibrate", o.samples, "NAME=FILE.npy",
              "Sample, or folder of them or of images; without NAME of the only input; or a saved calibration");
  files.writes(command, "--save-calibration", o.save_calibration, "FILE.json", "Keep what the samples show");
  files.writes(command, "--save-overrides", o.save_overrides, "FILE.json",
               "Write what was chosen, to be edited and given to --override");
  add_images(command, o.images);
  add_choice(command, "--ranges", o.ranges, {"mse", "minmax", "percentile", "kl"},
             "Range of a tensor: mse (squared error) by default, minmax, percentile (99.99), kl (divergence)");
  add_target(command, o.conversion, &o.target,
             "Floats where faster: pc (AVX2, default), pc-vnni, zen2-console, switch2, mobile; size: nowhere");
  add_repeated(command, "--keep", o.kept, "NAME", "Leave this node as it is");
  add_repeated(command, "--integer-io", o.integer_io, "NAME=TYPE",
               "Input or output as uint8 or int8, by its scale; all: every one; of images, uint8 is pixel levels");
  add_bounds(command, o);
  add_choice(
      command, "--float-layers", [&o = o](const std::string& format) { o.float_halves = format == "fp16"; },
      {"fp16", "float32"},
      "Weights of layers that are not int8: float32 by default, or fp16 where that changes them little");
  files.writes(command, "--report", o.report, "FILE.md",
               "Measure each layer, write it as Markdown and JSON with charts", {".json", ".svg", ".histograms.svg"});
  add_choice(command, "--equalize", o.equalize, {"weights", "activations"},
             "Make channels between two layers alike: by weights that make them, or by what samples show");
  add_opposite(command, "--per-tensor", o.per_channel, "One scale for all weights of a layer");
  add_opposite(command, "--full-range-weights", o.pair_safe, "The whole range of int8; slower where there is no VNNI");
  add_opposite(command, "--no-bias-correction", o.corrects_bias, "Leave what rounded weights change of the mean");
  add_conversion(command, files, o.conversion);
}

}
