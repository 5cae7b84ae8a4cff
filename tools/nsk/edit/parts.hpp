// SPDX-License-Identifier: MIT
#pragma once
/// A .nsk file taken apart and put together again: its table as JSON, its weights section as bytes.
#include <map>
#include <string>
#include <vector>
#include <netsuke/model/model.hpp>
#include "errors.hpp"
#include "write/table_json.hpp"
#include "graph/array.hpp"

namespace nsk::tool {

struct model_parts {
  table_json table;
  std::vector<std::byte> weights;
};

/// Returns the parts of a verified file (engine/model_file.hpp).
model_parts take_apart(const std::byte* file);

/// Returns the file: a file taken apart comes back byte for byte. Signature and content hash are computed; whether the
/// parts make sense is for nsk::open to say.
std::vector<std::byte> put_together(const model_parts& parts);

/// Inputs and outputs of one run, dense in the engine's axes, in the order of the ports.
struct check_vector {
  std::vector<std::vector<std::byte>> inputs, outputs;
};
/// Bytes that the recorded runs of a file may have: a file of a few bytes can describe inputs of gigabytes, and tools
/// keep a byte of the table as a number of JSON.
inline constexpr std::size_t max_recorded_bytes = std::size_t{1} << 24;
/// Adds a run to what nsk::selftest replays, to be met bit by bit.
void embed_check(model_parts& parts, int variant, const check_vector& recorded);

/// Renames tensors, steps, inputs, outputs and states of that name, in every variant. Refuses a name that is not there,
/// or one that another port has.
void rename(model_parts& parts, const std::string& from, const std::string& to);

/// Replaces the constant tensor `name` in every variant that has it. `m` is the model before any edit.
///
/// Constants that are stored plainly take an array of their own type and shape. Packed weights take float32 in the
/// order that docs/reference/file.md gives: convolutions [outputs, kernel_h, kernel_w, inputs per group], depthwise
/// convolutions [channels, kernel_h, kernel_w], dense layers [outputs, depth]; "NAME.bias" takes their biases
/// [outputs]. Recorded check vectors go, because they belong to the constants before. Refuses names that are not there,
/// other types and shapes, naming what is wanted.
void replace_constant(model_parts& parts, const model& m, const std::string& name, const array& values);

/// Gives constant tensor `t` of a variant a copy of its buffer, behind all others. Returns where that begins in the
/// weights.
std::size_t own_buffer(model_parts& parts, int variant, int t);

/// A file of one value of its lengths would have a step that computes from nothing.
struct no_fixed_form : error {
  explicit no_fixed_form(const std::string& message) : error(exit_code::refused, message) {}
};

/// Makes of a file with lengths the file of these values, the others at their bounds: shapes are fixed, memory stays
/// where it is. `m` is the model before any edit. Misuse: lengths that a variant does not have, and values beyond them.
/// Throws no_fixed_form.
void fix_lengths(model_parts& parts, const model& m, const std::map<std::string, std::int64_t>& values);

/// Ends every variant at the tensor of that name, which becomes its only output, in the engine's own axes: steps behind
/// it go, and what only they needed. Refuses a tensor that no step computes, and models with states.
void cut(model_parts& parts, const std::string& name);

}
