// SPDX-License-Identifier: MIT
#pragma once
/// The table of what operators do behind bounded results, one row per operator: which axes of the result have how many
/// used elements, and how the engine computes it although its tensors have places that are not used. What has no row is
/// refused.
#include <map>
#include <string>
#include <vector>

#include "bounded/lengths.hpp"

namespace nsk::tool::bounded {

class filler;

/// One node, as the rules of the first column read it.
class interpretation {
 public:
  interpretation(lengths& l, const node& n) : m_lengths(l), m_node(n) {}

  const node& op() const { return m_node; }
  lengths& all() { return m_lengths; }
  counts& known_counts() const { return m_lengths.known_counts(); }
  std::size_t input_count() const { return m_node.inputs.size(); }
  bool has(std::size_t i) const { return m_node.reads(i); }
  bool wants(std::size_t o) const { return m_node.gives(o); }
  const value& input(std::size_t i) const { return at(m_node.inputs[i]); }
  const shape_t& shape(std::size_t i) const { return input(i).shape; }
  const shape_t& out_shape(std::size_t o = 0) const { return at(m_node.outputs[o]).shape; }
  std::size_t rank(std::size_t i) const { return shape(i).size(); }
  bool bounded(std::size_t i) const { return has(i) && m_lengths.is_bounded(m_node.inputs[i]); }
  std::vector<amount> axes(std::size_t i) const { return m_lengths.axes(m_node.inputs[i]); }
  /// What `result` noted.
  std::vector<amount> axes_of_result(std::size_t o) const { return m_lengths.axes(m_node.outputs[o]); }
  /// Elements of an operand of integers; refuses those that are not known.
  std::vector<amount> numbers(std::size_t i) const;
  /// Elements of an operand of integers; refuses those that are not constant.
  std::vector<i64> constants(std::size_t i) const;
  std::size_t axis(i64 a, std::size_t of_rank) const;
  /// Notes the used elements of output `o`; refuses those that its shape does not have.
  void result(std::size_t o, const std::vector<amount>& axes, bool picks = false);
  /// Refuses unless operand `i` has all its elements.
  void require_whole(std::size_t i, const char* why) const;
  /// Refuses because of operand `i`, or of any that is bounded.
  [[noreturn]] void refuse(std::size_t i, const std::string& why) const;
  [[noreturn]] void refuse(const std::string& why) const;
  bool picks(std::size_t i) const;

 private:
  const value& at(value_id v) const { return m_lengths.source().at(v); }

  lengths& m_lengths;
  const node& m_node;
};

struct rule {
  void (*follow)(interpretation&);
  /// Null: each used element is computed from used ones as the operator stands.
  void (*fill)(filler&) = nullptr;
};
using rule_table = std::map<std::string, rule>;

// One function per file of rules.
void add_line_rules(rule_table& t);
void add_move_rules(rule_table& t);
void add_place_rules(rule_table& t);

/// The rule of operators each element of whose result is computed from the elements at its place.
void follow_elementwise(interpretation& r);

/// Null for operators that are not in the table.
const rule* find_rule(const node& n);
/// Operators whose result has a shape that follows from the values of operands.
bool shapes_by_values(const node& n);

/// Axes over which an operator with an attribute or operand `axes` reduces, one flag per axis of its operand.
std::vector<bool> reduced_axes(const interpretation& r);

/// What Slice takes along one axis.
struct slice_part {
  std::size_t axis;
  amount start, end;
  i64 step;
};
std::vector<slice_part> slice_parts(const interpretation& r);

/// Notes the numbers that integer arithmetic makes of counts. Returns whether there are any.
bool follow_numbers(interpretation& r);

}
