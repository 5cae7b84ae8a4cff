// SPDX-License-Identifier: MIT
#pragma once
/// Lengths that a run chooses: which axes of the source they are, and for which of them a model is converted.
#include <cstdint>
#include <map>
#include <string>
#include <vector>
#include "graph/graph.hpp"

namespace nsk::tool {

/// --bound NAME=MAX, NAME=MIN..MAX or NAME=MIN..MAX/STEP, of an open axis of the source that is called NAME; or a
/// number of results that a step counts, the element of the output NAME.
struct chosen_length {
  std::string name;
  std::int64_t minimum = 1, bound = 0, step = 1;
  bool counted = false;
};
/// A value for each of some lengths.
using length_choice = std::vector<std::int64_t>;

/// The bounds as a choice.
length_choice bounds_of(const std::vector<chosen_length>& lengths);

/// Reads "128", "4..128" or "32..640/32". Misuse: other texts, and limits that are no multiples of the step. Without a
/// minimum the step is the smallest; 0 is one where it is given.
chosen_length parse_length(const std::string& name, const std::string& text);

/// Names axes of inputs: "NAME=1,tokens,64" calls axis 1 tokens, whether the source leaves it open or fixes it. Options
/// without commas are left out. Misuse: names of no input, other numbers of axes, and other numbers than the source's.
void name_axes(graph& g, const std::vector<std::string>& inputs);

/// Names of axes of inputs, each once: of open ones, and of those that name_axes() named.
std::vector<std::string> named_axes(const graph& g);

/// Whether steps count any of the lengths.
bool has_counted(const std::vector<chosen_length>& lengths);

/// Whether an input has an axis of this name.
bool has_axis(const graph& g, const std::string& name);

/// Gives the open axes of inputs that are called as the lengths are their values. Axes that the source fixes stay:
/// `shapes` get those of their inputs, by name, so that rows and lengths are changed as --input NAME=SHAPE does it.
void set_axes(graph& g, const std::vector<chosen_length>& lengths, const length_choice& values,
              std::map<std::string, shape_t>& shapes);

/// Whether an axis of an input is one of the lengths; which one, else -1.
int length_of_axis(const std::vector<chosen_length>& lengths, const value& input, std::size_t axis);

/// The bounds, and then other values for which plans are compared with that of the bounds: all where there are few, of
/// very short lengths some beyond the bound; else those near both ends, and some between.
std::vector<length_choice> compared_choices(const std::vector<chosen_length>& lengths);

/// Whether no value is beyond its bound.
bool are_within(const std::vector<chosen_length>& lengths, const length_choice& values);

/// How many choices of values there are, up to 2^62.
std::int64_t count_choices(const std::vector<chosen_length>& lengths);

/// One of them, by its number.
length_choice choice_at(const std::vector<chosen_length>& lengths, std::int64_t number);

/// Says that a file has no result for fewer.
std::string no_result_below(const std::string& length, std::int64_t minimum);

/// "tokens = 37, width = 64".
std::string text_of(const std::vector<chosen_length>& lengths, const length_choice& values);

}
