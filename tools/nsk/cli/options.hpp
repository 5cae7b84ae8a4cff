// SPDX-License-Identifier: MIT
#pragma once
/// NAME=VALUE options, and what a converted model records of them.
#include <map>
#include <string>
#include <vector>
#include <netsuke/model/model.hpp>
#include "cli/source_options.hpp"
#include "graph/input_range.hpp"
#include "resolve/changes.hpp"
#include "resolve/infer.hpp"

namespace nsk::tool {

/// Splits "NAME=VALUE" at the last '='. Misuse (naming `option`) without one, with an empty name, or with a name given
/// twice.
std::map<std::string, std::string> named_values(const std::string& option, const std::vector<std::string>& values,
                                                const char* form);

/// --input NAME=1x3x224x224 and --set NAME=VALUE, for resolve(). VALUE is a number, several with commas between them,
/// or a file whose name ends with .npy, which is read.
input_options parse_inputs(const std::vector<std::string>& inputs, const std::vector<std::string>& sets);

/// Notes the inputs that are set as metadata of the converted model, and their shapes where an option or an array gives
/// them, so that check can resolve the source in the same way.
void record_sets(const input_options& inputs, std::map<std::string, std::string>& metadata);
/// Adds what record_sets() noted: the values of inputs that `inputs` does not set, and all shapes, of which the command
/// has no option. Misuse where an array was too large to be recorded.
void add_recorded_sets(const model& m, input_options& inputs);

/// --input-range NAME=LO..HI and --hdr NAME: what a game will put into inputs of `g`, the source as the options change
/// it, by their new names. Misuse: names that are no input, ranges that are none.
input_ranges ranges_of(const source_options& o, const graph& g);
/// Ranges as metadata of the converted model, and back.
void record_ranges(const input_ranges& ranges, std::map<std::string, std::string>& metadata);
input_ranges recorded_ranges(const model& m);

/// The outputs that --output-value names, and those that feed the states of --state; none where all are kept.
std::vector<std::string> kept_outputs(std::vector<std::string> named, const std::map<std::string, std::string>& states);

/// --constant NODE=follow, NODE=keep or NODE=NUMBER,...
constant_choices parse_constants(const std::vector<std::string>& constants);

/// --bound NAME=COUNT.
std::map<std::string, std::int64_t> parse_bounds(const std::vector<std::string>& bounds);

/// Metadata key under which convert records that the model has not all outputs of its source: how many.
inline constexpr char chosen_outputs_key[] = "outputs";

/// Metadata keys under which convert records --constant and --bound, so that check can resolve the source in the same
/// way.
inline std::string constant_key(const std::string& name) { return "constant." + name; }
inline std::string bound_key(const std::string& name) { return "bound." + name; }
/// Metadata keys under which it records --stream, and the names of axes, states and outputs that are given
/// beside it.
inline std::string chunk_key(const std::string& name) { return "chunks." + name; }
inline std::string chunk_state_key(const std::string& name) { return "chunk_state." + name; }
inline std::string chunk_axes_key(const std::string& name) { return "chunk_axes." + name; }
inline std::string chunk_output_key(const std::string& name) { return "chunk_output." + name; }
/// --argmax NAME[=AXIS] and --rename OLD=NEW.
model_changes parse_changes(const std::vector<std::string>& argmaxes, const std::vector<std::string>& names);
/// Changes as metadata of the converted model, and back.
void record_changes(const model_changes& changes, std::map<std::string, std::string>& metadata);
model_changes recorded_changes(const model& m);

/// Metadata key under which it records --dequantize.
inline constexpr const char* dequantize_key = "dequantize";
inline constexpr const char* signature_key = "signature";
inline constexpr const char* float_io_key = "float_io";
inline constexpr const char* quantised_key = "quantised";
/// Metadata key of what the integers of a port stand for (quantize/integer_ports.hpp).
inline std::string integer_port_key(const std::string& name) { return "integer_io." + name; }

}
