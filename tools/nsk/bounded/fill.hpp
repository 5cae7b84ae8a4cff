// SPDX-License-Identifier: MIT
#pragma once
/// A graph as the engine computes it: tensors have as many places as there can be elements, and wherever an operator
/// would read places that are not used, they hold numbers that do not change its result.
#include <map>
#include <tuple>
#include <vector>

#include "bounded/node_writer.hpp"
#include "bounded/rules.hpp"

namespace nsk::tool::bounded {

/// Returns `g` with the nodes that compute on used elements only; nsk.Length becomes the number that was counted.
graph filled(const graph& g);

/// Returns `g`, which is resolved for numbers of results (resolve/shapes/counted.hpp), with the nodes that count them.
graph counting(const graph& g);

/// Fills nodes whose operands say lengths: these become constants, what they are at most.
void fill_with_constants(filler& f);

/// What the rules of the second column write with.
class filler : public node_writer {
 public:
  explicit filler(const graph& g);
  graph run();
  graph run_counting();

  interpretation& at() { return *m_reading; }
  lengths& known() { return m_lengths; }

  /// An amount at run time, an int64 without dimensions.
  value_id value_of(const amount& a);
  /// value_of() with a test: where the amount is less than `minimum`, the session's flags say so.
  value_id value_with_minimum(const amount& a, i64 minimum);
  /// Which places of an axis of `length` are before `end`, along axis `axis` of `rank`.
  value_id is_used(value_id end, i64 length, std::size_t axis, std::size_t rank);
  value_id is_used(const amount& a, i64 length, std::size_t axis, std::size_t rank);
  /// `v` where it is used along the axes that are chosen, elsewhere `other`.
  value_id masked(value_id v, const std::vector<bool>& chosen, value_id other);
  value_id masked(value_id v, const std::vector<bool>& chosen, neutral other);
  /// `v` where it is used along every axis, elsewhere `other`.
  value_id masked(value_id v, value_id other);
  /// `v` where `like`, which has its shape, is used; along the axes that are chosen, or along every one.
  value_id masked_like(value_id v, value_id like, const std::vector<bool>& chosen, value_id other);
  value_id masked_like(value_id v, value_id like, value_id other);
  /// Flags of the axes of `v` that vary, of those that are chosen.
  std::vector<bool> varying(value_id v, const std::vector<bool>& chosen) const;
  bool varies(value_id v, const std::vector<bool>& chosen) const;

  /// Notes what the count of the node's results is made of: a mask, groups, rows, or the count itself.
  void note_source(value_id of) { m_sources[op().outputs[0]] = {op(), of}; }
  /// The value that nsk.Length gives of the result of an operator that chooses; a new one where none does.
  value_id length_output(value_id chosen);
  void count_into(value_id chosen, value_id output);

 private:
  struct source {
    node by;
    value_id of;
  };
  void look_at(const node& n);
  void write_numbers(const value_facts& facts);
  void write_length();
  void count_chosen(const source& s, value_id output);
  void count_groups(const source& s, value_id output);
  void count_rows(const source& s, value_id output);
  value_id value_of_count(int count);

  const graph& m_source;
  lengths m_lengths;
  interpretation* m_reading = nullptr;
  std::map<value_id, source> m_sources;           ///< by the first output of the operator that chooses
  std::map<value_id, value_id> m_length_outputs;  ///< of nsk.Length, by its operand
  std::map<int, value_id> m_counts;
  std::map<std::tuple<value_id, i64, std::size_t, std::size_t>, value_id> m_masks;
};

}
