// SPDX-License-Identifier: MIT
#include "graph/operator_kinds.hpp"

#include <set>

namespace nsk::tool {
namespace {

using names = std::set<std::string>;

/// Operators whose operands are broadcast.
const names broadcasting = {"Add",   "Sub",   "Mul",        "Div",         "Mod",        "Atan2",          "Pow",
                            "PRelu", "Equal", "Less",       "LessOrEqual", "Greater",    "GreaterOrEqual", "And",
                            "Or",    "Xor",   "BitwiseAnd", "BitwiseOr",   "BitwiseXor", "BitShift",       "Min",
                            "Max",   "Sum",   "Mean",       "Where",       "Clip"};

/// Operators with one operand, each element of whose result is made of one of the operand's, wherever it is.
const names moving = {"Reshape",    "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Expand", "Tile",    "Identity",
                      "Cast",       "Concat",  "Split",   "Slice",     "Gather",    "Neg",    "Abs",     "Sqrt",
                      "Reciprocal", "Floor",   "Ceil",    "Round",     "Exp",       "Log",    "Dropout", "Pad"};

/// Functions of one element, which look at no lengths.
const names of_elements = {"Relu",       "LeakyRelu", "ThresholdedRelu",
                           "Selu",       "Elu",       "Celu",
                           "Gelu",       "Sigmoid",   "HardSigmoid",
                           "HardSwish",  "Swish",     "Mish",
                           "Softplus",   "Softsign",  "Tanh",
                           "Sin",        "Cos",       "Tan",
                           "Asin",       "Acos",      "Atan",
                           "Sinh",       "Cosh",      "Asinh",
                           "Acosh",      "Atanh",     "Erf",
                           "Exp",        "Log",       "Sqrt",
                           "Reciprocal", "Floor",     "Ceil",
                           "Round",      "Abs",       "Neg",
                           "Sign",       "Identity",  "Not",
                           "BitwiseNot", "IsNaN",     "IsInf",
                           "Shrink"};

}

bool broadcasts(const std::string& op) { return broadcasting.count(op) != 0; }
bool moves_elements(const std::string& op) { return moving.count(op) != 0; }
bool is_of_elements(const std::string& op) { return of_elements.count(op) != 0; }

}
