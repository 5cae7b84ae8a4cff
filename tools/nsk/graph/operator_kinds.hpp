// SPDX-License-Identifier: MIT
#pragma once
/// Operators by how elements of their results come about.
#include <string>

namespace nsk::tool {

/// Whether the operands are broadcast.
bool broadcasts(const std::string& op);
/// Whether each element of the result is made of one of the only operand's, wherever it is.
bool moves_elements(const std::string& op);
/// Whether it is a function of one element, which looks at no lengths.
bool is_of_elements(const std::string& op);

}
