// SPDX-License-Identifier: MIT
#pragma once
/// How the import knows operators: tables from name to a rule, a function that reads the operator's tensors, emits
/// nodes and binds its outputs. Each family of operators has a file, with its table at the end.
#include <initializer_list>
#include <map>
#include <string>
#include "import/tflite/rules/call.hpp"

namespace nsk::tool::tflite {

/// What holds of an operator beside its rule.
enum property : unsigned {
  moves_numbers = 1,    ///< it only moves stored numbers: inputs and outputs must be stored alike
  moves_complex = 2,    ///< its rule does for complex tensors if it runs on each part
  takes_complex = 4,    ///< its rule reads complex tensors itself
  without_results = 8,  ///< it may have effects alone
};

struct definition {
  void (*translate)(call&);
  unsigned properties = 0;
};

/// By the operator's name: "CONV_2D", and a custom operator's own.
using table = std::map<std::string, definition>;
/// Enters operators that one rule translates.
inline void add_rows(table& t, std::initializer_list<const char*> operators, const definition& d) {
  for (const char* name : operators) t[name] = d;
}

const table& builtin_rules();
const table& custom_rules();

/// Translates one operator of the graph at hand. Refuses, with the operator's name and tensors in front, operators
/// without a rule and what their rule refuses.
void translate(context& k, const tflite_operator& o);

/// The options that give inputs other lengths, where the file leaves more than the first one open and no option names
/// them: " --input x=1x8x8x3", with `length` in place of what is open. The shapes are noted in `given`, which may be
/// null.
std::string open_inputs(const context& k, std::int64_t length = 1, tflite_options* given = nullptr);

// One function per file of operators.
void add_windows(table& builtin);
void add_elementwise(table& builtin);
void add_shapes(table& builtin);
void add_matrices(table& builtin);
void add_spectra(table& builtin);
void add_recurrent(table& builtin);
void add_lstm(table& builtin);
void add_variables(table& builtin);
void add_flow(table& builtin);
void add_suppression(table& builtin);
void add_scatter(table& builtin);
void add_volumes(table& builtin);
void add_integers(table& builtin);
void add_random(table& builtin);
void add_stablehlo(table& builtin);
void add_custom_windows(table& custom);
void add_landmarks(table& custom);
void add_detection(table& custom);

}
