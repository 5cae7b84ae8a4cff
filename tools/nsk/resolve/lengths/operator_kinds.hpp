// SPDX-License-Identifier: MIT
#pragma once
/// Operators by what they have in common when lengths change.
#include <string>

namespace nsk::tool {

/// Whether the operands are broadcast.
bool broadcasts(const std::string& op);
/// Whether each element of the result is made of one of the only operand's, wherever it is.
bool moves_elements(const std::string& op);
/// Whether it is a function of one element, which looks at no lengths.
bool is_of_elements(const std::string& op);
/// Whether it computes the same of axes of any length, or has numbers that length_readings.cpp looks at.
bool suits_any_length(const std::string& op);

}
