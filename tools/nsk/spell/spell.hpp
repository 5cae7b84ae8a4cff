// SPDX-License-Identifier: MIT
#pragma once
/// Operators that are written by operators of ONNX before anything else looks at them: those of ONNX Runtime's own
/// domain, which its optimiser and its quantiser leave behind, those of classic models (ai.onnx.ml), experimental ones
/// of old exporters, and those that ONNX itself defines by others. No pass, no evaluator and no kernel knows them.
#include <map>
#include <string>
#include <vector>

#include "spell/speller.hpp"

namespace nsk::tool {

/// From a name, "Gelu" for the default domain and "com.microsoft.Gelu" for others, to what writes the nodes.
using spelling_table = std::map<std::string, void (*)(speller&)>;

/// Puts operators of ONNX in the place of `n`, where it is one that they spell. Returns whether it was. The values that
/// it reads have types and shapes. Refuses missing inputs, and attributes whose meaning no operator of ONNX has.
bool spell_out(const graph& g, const node& n, node_placer& placer);

/// The operators, sorted.
std::vector<std::string> spelled_operators();

// One function per file of spellings.
void add_attention_spellings(spelling_table& t);
void add_classic_spellings(spelling_table& t);
void add_composed_spellings(spelling_table& t);
void add_encoder_spellings(spelling_table& t);
void add_fused_spellings(spelling_table& t);
void add_normalization_spellings(spelling_table& t);
void add_old_spellings(spelling_table& t);
void add_stored_spellings(spelling_table& t);
void add_support_vector_spellings(spelling_table& t);
void add_weight_spellings(spelling_table& t);

}
