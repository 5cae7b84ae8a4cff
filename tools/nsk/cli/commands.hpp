// SPDX-License-Identifier: MIT
#pragma once
/// The commands of nsk. Each returns an exit code (errors.hpp) or throws tool::error; options are as main.cpp parsed
/// them. What the options name is declared already; what a command finds out later, it declares itself.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/source_options.hpp"
#include "compile/compile.hpp"
#include "gpu/halves.hpp"
#include "errors.hpp"
#include "io/command_files.hpp"
#include "quantize/calibrate/images.hpp"

namespace nsk::tool {

/// How a .nsk file is made of a source: the same for nsk convert and nsk quantize.
struct convert_options {
  source_options source;
  std::string output, json, report, profile, overrides;  ///< paths; empty: not wanted
  double max_tile_us = 100;
  stream_target streams;     ///< through whose caches runs of layers are streamed
  bool check = false;        ///< --check: with its tables and reports, however long it takes
  bool skips_check = false;  ///< --no-check
  bool embed_check = false, quiet = false, winograd = true;
  bool small = false;         ///< write the small file, which nsk::prepare expands
  bool fewest_bytes = false;  ///< whatever the time: no Winograd's weights, and small files have codes
  weight_format weights = weight_format::floats;
  std::int64_t kept_weights = 0;  ///< narrower weights only where they are not slower (compile/compile.hpp)
};
exit_code convert(const convert_options& o, command_files& files);

struct quantize_options {
  convert_options conversion;                    ///< how the quantised model is converted
  std::string format = "int8";                   ///< or "fp16"
  std::string ranges = "mse";                    ///< or "minmax", "percentile"
  std::string target = "pc";                     ///< a machine (quantize/choose/targets.hpp), or "size"
  std::vector<std::string> samples;              ///< DIRECTORY, NAME=DIRECTORY, or what save_calibration wrote
  std::vector<std::string> kept;                 ///< names of nodes
  std::vector<std::string> integer_io;           ///< NAME, NAME=uint8 or NAME=int8, or "all"
  std::optional<double> max_drop;                ///< of the outputs
  std::string drop_by;                           ///< "error" where it is empty, or "sqnr", "top1"
  std::string metric;                            ///< a program that judges outputs
  double metric_seconds = 600;                   ///< of one call
  std::string equalize;                          ///< "weights", "activations", or nothing
  bool float_halves = false;                     ///< layers that stay floats have weights of 16 bits
  std::string report;                            ///< FILE.md
  std::string save_calibration, save_overrides;  ///< FILE.json
  image_choices images;
  bool per_channel = true, pair_safe = true, corrects_bias = true;
};
/// Converts a float32 model to one of stored integers or float16 weights.
exit_code quantize(const quantize_options& o, command_files& files);

struct run_options {
  std::string model, variant, output_directory, isa, trace;
  std::string device;                        ///< empty: the CPU
  half_options halves;                       ///< of the device
  std::vector<std::string> inputs, lengths;  ///< NAME=FILE.npy, NAME=N
  int lanes = 1;
  int steps = 1;           ///< inferences, one after the other
  int batch = 0;           ///< rows of a batch; 0: all
  std::uint64_t seed = 0;  ///< of random steps
  bool nhwc = false, quiet = false;
};
exit_code run(const run_options& o, command_files& files);

struct inspect_options {
  std::string model, profile, svg, svg_graph;  ///< paths; empty: not wanted
  std::string name;                            ///< of the settings type; empty: the model file's
  std::string variant;                         ///< with `gpu`; empty: all
  std::vector<std::string> lengths;            ///< NAME=N
  bool json = false, settings = false, gpu = false;
  half_options halves;  ///< with `gpu`
};
exit_code inspect(const inspect_options& o, command_files& files);

struct json_options {
  std::string model, output;
  std::vector<std::string> inputs;  ///< NAME=1x3x224x224, of a TensorFlow Lite model
  bool dequantize = false;          ///< a TensorFlow Lite model
  std::string signature;            ///< of such a model
};
/// Of a .nsk file: writes the table as TEXT.json and the weights section as TEXT.weights. Of a source model: writes its
/// graph as TEXT.json, and its large constants as .npy files to TEXT.constants.
exit_code to_json(const json_options& o, command_files& files);

struct from_json_options {
  std::string source, output;
  std::vector<std::string> replacements, names;  ///< NAME=FILE.npy, OLD=NEW
  std::string cut;
  bool quiet = false;
};
/// Writes the .nsk file that TEXT.json and TEXT.weights describe, edited.
exit_code from_json(const from_json_options& o, command_files& files);

struct check_options {
  std::string source, model, variant, isa, json, report;
  std::string device;   ///< not empty: `source` is the model, which is compared with the CPU session
  half_options halves;  ///< of the device
  std::vector<std::string> inputs, sets, lengths;  ///< NAME=FILE.npy, NAME=VALUE, NAME=N
  std::string semantics;                           ///< empty: what netsuke computes
  double tolerance = 1e-4;
  std::optional<double> min_db;  ///< signal to noise of each output against the float source
  std::uint64_t seed = 1;
  bool quiet = false, trusted = false;
};
exit_code check(const check_options& o, command_files& files);

struct prepare_options {
  std::string model, output;
  bool quiet = false;
};
/// Writes the file that a small one expands to.
exit_code prepare(const prepare_options& o, command_files& files);

struct selftest_options {
  std::string model, isa;
  bool quiet = false;
};
/// Replays what convert --embed-check recorded, in every variant; exit code 3 where this machine computes other bits.
exit_code selftest(const selftest_options& o);

struct bench_options {
  std::string model, isa, trace;
  std::vector<std::string> inputs, lengths;  ///< NAME=FILE.npy, NAME=N
  std::string profile;                       ///< empty: no verdict
  std::string device;                        ///< empty: the CPU
  half_options halves;
  int lanes = 1;
  int rounds = 0;      ///< 0: one, whose table has medians
  double seconds = 2;  ///< of each round
  bool json = false, quiet = false;
};
exit_code bench(const bench_options& o, command_files& files);

struct profile_options {
  std::string output, isa;
  double seconds = 10;
  bool quiet = false;
};
exit_code profile(const profile_options& o, command_files& files);

struct codegen_options {
  std::string model, variant, output;
  std::vector<std::string> lengths;  ///< NAME=N
  std::string weights;               ///< "embed", "file", or empty: embedded where they are small
  std::string name;                  ///< of the namespace; empty: the model file's
  bool quiet = false;
};
/// Writes a header that computes the model, and where its weights are not embedded a file of them beside it.
exit_code codegen(const codegen_options& o, command_files& files);

struct tokenizer_options {
  std::string source, output;
  std::string pattern;  ///< of tiktoken ranks; empty: by their number
  bool quiet = false;
};
/// Writes the .nskt file of a tokenizer.
exit_code tokenizer(const tokenizer_options& o, command_files& files);

struct tokenize_options {
  std::string words;
  bool decode = false;   ///< ids to text
  bool json = false;     ///< texts are JSON strings
  bool plain = false;    ///< without the ids that a model wants around a text
  bool special = false;  ///< decode: with special tokens
};
/// Encodes or decodes each line of standard input.
exit_code tokenize(const tokenize_options& o, command_files& files);

}
