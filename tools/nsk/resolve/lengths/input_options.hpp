// SPDX-License-Identifier: MIT
#pragma once
/// What the command line says about the inputs of a model.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#include "graph/graph.hpp"
#include "resolve/lengths/size_constants.hpp"

namespace nsk::tool {

/// What --set makes of an input: a number for all elements, one for each, or an array.
struct set_value {
  std::string text;                               ///< as it was typed
  std::vector<double> numbers;                    ///< one, or as many as the input has elements, in row-major order
  std::shared_ptr<const array> values = nullptr;  ///< of a .npy file, in place of numbers
};

/// What the command line says about inputs, by the source's names.
struct input_options {
  std::map<std::string, shape_t> shapes;  ///< --input NAME=1x3x224x224
  std::map<std::string, set_value> set;   ///< --set NAME=VALUE: the input becomes a constant
  std::vector<std::string> outputs{};     ///< the values that become the outputs, in this order; empty: the source's
  bool dequantize = false;                ///< --dequantize: numbers stored as integers are computed in float32
  bool trusted = false;                   ///< --trust: what folding may cost does not depend on the file's size
  constant_choices constants{};           ///< --constant NODE=keep: of what may follow other lengths of inputs
  std::map<std::string, std::int64_t> bounds{};  ///< --bound NAME=COUNT: a Range's output has at most so many elements
  /// Where results whose number is data have as many rows as there are: those that are not at their maxima. Without,
  /// they have the rows that there are at most.
  std::optional<std::map<std::string, std::int64_t>> counts{};
};

}
