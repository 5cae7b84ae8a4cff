// SPDX-License-Identifier: MIT
#pragma once
/// Lengths of inputs that the source leaves open.
#include <string>

#include "resolve/lengths/input_options.hpp"

namespace nsk::tool {

/// The shape as the source gives it, symbols included: "[batch,3,?,?]".
std::string source_shape_text(const value& v);
/// Gives open lengths that no option refers to: what their symbol is elsewhere, and 1 for the rows of a batch, which is
/// the first axis of an input where no other is open. Where options give rows to other inputs, it would be a guess.
void bind_open_lengths(graph& g, const input_options& options);
/// Refuses an input whose shape stays open, with the options that fix all of them.
[[noreturn]] void refuse_dynamic(const graph& g, const input_options& options, const value& v);

}
