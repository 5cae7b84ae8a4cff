// SPDX-License-Identifier: MIT
#pragma once
/// Operators of ONNX of which some forms are written by others: what tells such a form, and what writes it.
#include "spell/speller.hpp"

namespace nsk::tool {

/// Nodes of opsets 1 to 6 whose operators have another meaning, or none, in later ones.
bool is_older(const graph& g, const node& n);
/// Puts the node of a known opset in its place. Refuses attributes without a meaning.
void renew(speller& s);

/// MaxPool, Resize or Upsample of 8- and 16-bit integers that are computed at run time.
bool computes_integers(const graph& g, const node& n);
/// Writes it with casts around it: float32 holds every such number, the largest of some is one of them, and linear
/// sizes lose their fraction as in ONNX Runtime. Refuses cubic and antialiased sizes.
void write_with_floats(speller& s);

/// Einsum of more than two inputs, or with a label twice in a term.
bool is_long_einsum(const graph& g, const node& n);
/// Takes diagonals of terms, then brings two operands after the other together, from left to right.
void write_short_einsums(speller& s);

/// DFT from one side of a spectrum to real numbers.
bool is_real_inverse(const graph& g, const node& n);
/// Adds the other side, and leaves imaginary parts, which are 0, out of the result.
void write_complex_inverse(speller& s);

}
