// SPDX-License-Identifier: MIT
#include "graph/einsum.hpp"

#include <algorithm>
#include <map>

#include "errors.hpp"

namespace nsk::tool {
namespace {

constexpr int of_ellipsis = 256;

/// Splits at commas; spaces are dropped.
std::vector<std::string> terms_of(const std::string& text) {
  std::vector<std::string> terms(1);
  for (char c : text) {
    if (c == ',')
      terms.emplace_back();
    else if (c != ' ')
      terms.back() += c;
  }
  return terms;
}

/// Labels of a term in which an ellipsis stands for `hidden` axes.
axis_labels labels_of(const std::string& term, std::int64_t hidden, const std::string& who) {
  axis_labels labels;
  for (std::size_t i = 0; i < term.size(); ++i) {
    const bool letter = (term[i] >= 'a' && term[i] <= 'z') || (term[i] >= 'A' && term[i] <= 'Z');
    if (letter) {
      labels.push_back(term[i]);
    } else if (term.compare(i, 3, "...") == 0) {
      for (std::int64_t k = hidden; k-- > 0;) labels.push_back(of_ellipsis + static_cast<int>(k));
      i += 2;
    } else {
      refuse(who + ": the equation has the character '" + term.substr(i, 1) + "', which means nothing");
    }
  }
  return labels;
}

/// Axes that the ellipsis of a term stands for.
std::int64_t hidden_axes(const std::string& term, const shape_t& shape, const std::string& who) {
  const auto at = term.find("...");
  const bool has = at != std::string::npos;
  if (has && term.find("...", at + 3) != std::string::npos) refuse(who + ": a term has two ellipses");
  const std::int64_t hidden =
      static_cast<std::int64_t>(shape.size()) - static_cast<std::int64_t>(term.size()) + (has ? 3 : 0);
  if (hidden < 0 || (!has && hidden != 0))
    refuse(who + ": the term '" + term + "' does not fit the shape " + to_string(shape));
  return hidden;
}

/// Without an arrow: what the ellipsis stands for, then the letters that occur once, in the order of the alphabet.
axis_labels implied_output(const std::vector<axis_labels>& inputs, std::int64_t hidden) {
  std::map<int, int> uses;
  for (const axis_labels& term : inputs)
    for (int label : term)
      if (label < of_ellipsis) ++uses[label];
  axis_labels output;
  for (std::int64_t k = hidden; k-- > 0;) output.push_back(of_ellipsis + static_cast<int>(k));
  for (const auto& [label, count] : uses)
    if (count == 1) output.push_back(label);
  return output;
}

}

std::int64_t length_of(const einsum_equation& e, const std::vector<shape_t>& shapes, int label) {
  std::int64_t length = 1;
  for (std::size_t i = 0; i < e.inputs.size(); ++i)
    for (std::size_t d = 0; d < e.inputs[i].size(); ++d)
      if (e.inputs[i][d] == label && shapes[i][d] != 1) length = shapes[i][d];
  return length;
}

einsum_equation einsum_equation_of(const node& n, const std::vector<shape_t>& shapes, const std::string& who) {
  const std::string text = n.text("equation", "");
  const auto arrow = text.find("->");
  const std::vector<std::string> terms = terms_of(text.substr(0, arrow));
  if (terms.size() != shapes.size())
    refuse(who + ": the equation '" + text + "' is not one of " + std::to_string(shapes.size()) + " inputs");
  einsum_equation e;
  std::int64_t max_hidden = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const std::int64_t hidden = hidden_axes(terms[i], shapes[i], who);
    max_hidden = std::max(max_hidden, hidden);
    e.inputs.push_back(labels_of(terms[i], hidden, who));
  }
  const auto output = arrow == std::string::npos ? std::vector<std::string>() : terms_of(text.substr(arrow + 2));
  if (output.size() > 1) refuse(who + ": the equation '" + text + "' has two outputs");
  e.output = output.empty() ? implied_output(e.inputs, max_hidden) : labels_of(output[0], max_hidden, who);
  for (std::size_t i = 0; i < e.inputs.size(); ++i)
    for (std::size_t d = 0; d < e.inputs[i].size(); ++d)
      if (shapes[i][d] != 1 && shapes[i][d] != length_of(e, shapes, e.inputs[i][d]))
        refuse(who + ": one label of the equation '" + text + "' stands for axes of different lengths");
  for (int label : e.output) {
    const auto has = [&](const axis_labels& term) { return std::count(term.begin(), term.end(), label) != 0; };
    if (std::none_of(e.inputs.begin(), e.inputs.end(), has) || std::count(e.output.begin(), e.output.end(), label) != 1)
      refuse(who + ": the output of the equation '" + text + "' has a label twice, or one that no input has");
  }
  return e;
}

}
