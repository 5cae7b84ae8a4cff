// SPDX-License-Identifier: MIT
#include "resolve/shapes/sequences.hpp"

#include <algorithm>

#include "errors.hpp"
#include "graph/cures.hpp"
#include "spell/speller.hpp"

namespace nsk::tool {
namespace {

constexpr std::size_t max_length = 4096;

}

void sequences::refuse(const node& n, const std::string& why) const { tool::refuse(describe(m_graph, n) + ": " + why); }

const sequences::list& sequences::list_at(const node& n, std::size_t input) const {
  const auto found = n.reads(input) ? m_lists.find(n.inputs[input]) : m_lists.end();
  if (found == m_lists.end())
    refuse(n, "input " + std::to_string(input) + " is no sequence whose length is known. The file is damaged");
  return found->second;
}

/// A position from its input; `absent` where there is none. One that is `length` stands behind the last element.
std::int64_t sequences::position(const node& n, std::size_t input, std::int64_t length, std::int64_t absent) const {
  if (!n.reads(input)) return absent;
  const value& v = at(n.inputs[input]);
  if (!v.constant || v.constant->count() != 1)
    refuse(n, "its position is computed at run time; sequences are taken apart at conversion. " +
                  cure_that_sets(m_graph, n.inputs[input]) + ", or " + cure_that_ends_before(m_graph, n));
  std::int64_t p = v.constant->integer(0);
  if (p < 0) p += length;
  if (p < 0 || p > length)
    refuse(n, "position " + std::to_string(v.constant->integer(0)) + " does not exist in a sequence of " +
                  std::to_string(length));
  return p;
}

std::int64_t sequences::axis(const node& n, std::int64_t rank) const {
  const std::int64_t given = n.integer("axis", 0), a = given < 0 ? given + rank : given;
  if (a < 0 || a >= rank)
    refuse(n, "axis " + std::to_string(given) + " does not exist in " + std::to_string(rank) + " dimensions");
  return a;
}

std::vector<std::string> sequences::operators() {
  return {"ConcatFromSequence", "SequenceAt",     "SequenceConstruct", "SequenceEmpty",  "SequenceErase",
          "SequenceInsert",     "SequenceLength", "SequenceMap",       "SplitToSequence"};
}

bool sequences::replace(const node& n) {
  if (!n.domain.empty() || n.outputs.empty()) return false;
  if (n.op == "SplitToSequence")
    split(n);
  else if (n.op == "ConcatFromSequence")
    concatenate(n);
  else if (n.op == "SequenceMap")
    map(n);
  else
    return change(n) || read(n);
  return true;
}

/// Operators whose result is a sequence again.
bool sequences::change(const node& n) {
  list made;
  if (n.op == "SequenceConstruct") {
    for (const value_id v : n.inputs)
      if (v == no_value) refuse(n, "an element is missing. The file is damaged");
    made = n.inputs;
  } else if (n.op == "Identity" && n.reads(0) && holds(n.inputs[0])) {
    made = list_at(n, 0);
  } else if (n.op == "SequenceInsert") {
    made = list_at(n, 0);
    if (!n.reads(1)) refuse(n, "its element is missing. The file is damaged");
    const auto length = static_cast<std::int64_t>(made.size());
    made.insert(made.begin() + position(n, 2, length, length), n.inputs[1]);
  } else if (n.op == "SequenceErase") {
    made = list_at(n, 0);
    const auto length = static_cast<std::int64_t>(made.size());
    const std::int64_t p = position(n, 1, length, length - 1);
    if (p < 0 || p >= length) refuse(n, "there is no such element to erase");
    made.erase(made.begin() + p);
  } else if (n.op != "SequenceEmpty") {
    return false;
  }
  if (made.size() > max_length) refuse(n, "a sequence has at most " + std::to_string(max_length) + " elements here");
  m_lists[n.outputs[0]] = std::move(made);
  return true;
}

/// Operators whose result is an element, or the length.
bool sequences::read(const node& n) {
  if (n.op != "SequenceAt" && n.op != "SequenceLength") return false;
  const list elements = list_at(n, 0);
  const auto length = static_cast<std::int64_t>(elements.size());
  speller s(m_graph, m_placer, n);
  if (n.op == "SequenceLength") {
    s.give(0, "Identity", {s.keep(make_ints({}, {length}))});
  } else {
    const std::int64_t p = position(n, 1, length, length);
    if (p >= length) refuse(n, "there is no such element in a sequence of " + std::to_string(length));
    s.give(0, "Identity", {elements[static_cast<std::size_t>(p)]});
  }
  s.place();
  return true;
}

/// Parts of a tensor along an axis: of given lengths, of one length, or of length 1.
void sequences::split(const node& n) {
  speller s(m_graph, m_placer, n);
  const shape_t shape = s.shape(0);
  const std::int64_t along = axis(n, static_cast<std::int64_t>(shape.size()));
  const std::int64_t total = shape[static_cast<std::size_t>(along)];
  std::vector<std::int64_t> lengths;
  const array* given = s.has(1) ? &s.constant(1) : nullptr;
  if (given != nullptr && !given->shape.empty()) {
    for (std::int64_t i = 0; i < given->count(); ++i) lengths.push_back(given->integer(i));
  } else {
    const std::int64_t each = given != nullptr ? given->integer(0) : 1;
    if (each < 1) s.refuse("its parts must have a length of 1 or more");
    for (std::int64_t left = total; left > 0; left -= each) {
      lengths.push_back(std::min(each, left));
      if (lengths.size() > max_length) s.refuse("it has more than " + std::to_string(max_length) + " parts");
    }
  }
  if (lengths.size() > max_length) s.refuse("it has more than " + std::to_string(max_length) + " parts");
  list& parts = m_lists[n.outputs[0]];
  if (lengths.empty()) return;
  parts = s.add_several("Split", {s.in(0), s.integers(lengths)}, lengths.size(), {{"axis", along}});
  if (given == nullptr && n.integer("keepdims", 1) == 0)
    for (value_id& part : parts) part = s.add("Squeeze", {part, s.integers({along})});
  s.place();
}

/// The elements one behind the other, along an axis of theirs or along a new one.
void sequences::concatenate(const node& n) {
  list elements = list_at(n, 0);
  speller s(m_graph, m_placer, n);
  if (elements.empty()) s.refuse("its sequence is empty");
  const bool is_new = n.integer("new_axis", 0) != 0;
  const auto rank = static_cast<std::int64_t>(at(elements[0]).shape.size());
  const std::int64_t along = axis(n, rank + (is_new ? 1 : 0));
  if (is_new) {
    const value_id place = s.integers({along});
    for (value_id& v : elements) v = s.add("Unsqueeze", {v, place});
  }
  s.give(0, "Concat", elements, {{"axis", along}});
  s.place();
}

/// A graph for each element of the first sequence, and of the others.
void sequences::map(const node& n) {
  const auto* body = n.find<std::shared_ptr<graph>>("body");
  if (body == nullptr || *body == nullptr || (*body)->inputs.size() != n.inputs.size() ||
      (*body)->outputs.size() < n.outputs.size())
    refuse(n, "its body is missing, or has other inputs or outputs. The file is damaged");
  const std::size_t length = list_at(n, 0).size();
  std::vector<list> made(n.outputs.size());
  for (std::size_t i = 0; i < length; ++i)
    for (std::size_t o = 0; o < n.outputs.size(); ++o)
      made[o].push_back(m_placer.new_value(n, "element_" + std::to_string(o) + "_" + std::to_string(i)));
  for (std::size_t i = length; i-- > 0;) {  // the last one is placed first
    list inputs, outputs;
    for (std::size_t k = 0; k < n.inputs.size(); ++k) {
      const bool whole = k != 0 && n.reads(k) && !holds(n.inputs[k]);
      if (!whole && list_at(n, k).size() != length) refuse(n, "its sequences have different lengths");
      inputs.push_back(whole ? n.inputs[k] : list_at(n, k)[i]);
    }
    for (std::size_t o = 0; o < n.outputs.size(); ++o)
      outputs.push_back(n.outputs[o] == no_value ? no_value : made[o][i]);
    m_placer.place_graph(n, **body, inputs, outputs, n.name + "/" + std::to_string(i));
  }
  for (std::size_t o = 0; o < n.outputs.size(); ++o)
    if (n.outputs[o] != no_value) m_lists[n.outputs[o]] = std::move(made[o]);
}

void sequences::refuse_outputs() const {
  for (const value_id v : m_graph.outputs)
    if (holds(v))
      tool::refuse("output '" + at(v).name + "' is a sequence of " + std::to_string(m_lists.at(v).size()) +
                   " tensors, and the engine's outputs are tensors. Choose others (--output-value NAME), or end the "
                   "model with its elements (SequenceAt)");
}

}
