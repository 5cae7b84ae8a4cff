// SPDX-License-Identifier: MIT
#pragma once
/// What the numbers that an exporter wrote into a model become when axes have other lengths than in the source.
///
/// A number may be the network's own (heads, channels, a kernel) or a length of this export. Where both are possible
/// there are several readings; other_lengths.hpp tries them all. Of rows, whose length is 1 in the source, every number
/// might be one: there the reading in which most follows is taken (length_rows.hpp).
#include <map>
#include <set>
#include <string>
#include <vector>

#include "errors.hpp"
#include "resolve/lengths/changed_lengths.hpp"
#include "resolve/shapes/folder.hpp"
#include "resolve/lengths/graph_pair.hpp"
#include "spell/node_placer.hpp"
#include "resolve/lengths/size_constants.hpp"

namespace nsk::tool {

/// Numbers that take the place of others in a node: of an operand, or of an attribute.
struct edit {
  std::size_t input = 0;
  std::string attribute;  ///< empty: the operand counts
  std::vector<std::int64_t> numbers;
  std::vector<float> scales{};  ///< where the numbers are floats
};

/// One way to understand the numbers of a node; empty: they stay.
using reading = std::vector<edit>;

/// Makes the edits in a node.
void apply(const reading& r, node& n, node_placer& placer);

/// The numbers of a reading, as --constant takes them; "keep" where they stay.
std::string option_of(const reading& r);
std::vector<double> numbers_in(const reading& r);

/// Why the result may not be what the source's author would export.
struct length_doubt {
  std::string text;
  std::string node{};  ///< whose numbers --constant may settle; empty: it cannot
};

/// The network may be another one than the readings know.
struct no_reading : error {
  explicit no_reading(length_doubt d) : error(exit_code::refused, d.text), doubt(std::move(d)) {}
  length_doubt doubt;
};

/// A node with several readings.
struct length_point {
  std::string result, node, text;  ///< names of its first result and itself, and itself with its numbers
  std::size_t pick, count;
};

/// One resolution of a graph: which readings are taken, and what was found.
struct length_trial {
  const graph* exported = nullptr;  ///< the graph for the source's own lengths, or for one row
  constant_choices choices{};
  std::map<std::string, reading> chosen{};  ///< by the names of their first results
  bool replays = false;                     ///< the readings in `chosen` are taken, nothing else is looked at
  bool rows = false;                        ///< the axes that differ are rows; the readings in `chosen` are for one

  std::vector<length_point> points{};  ///< in order
  std::size_t reached = 0;
  std::map<std::string, std::size_t> resized{};    ///< results of Resizes, and how many of their sizes follow
  std::map<std::string, std::string> unsettled{};  ///< nodes that are to follow, where no reading knows how, and why
  std::set<std::string> settled{};                 ///< nodes whose choice was followed
  changed_lengths lengths{};                       ///< none of them are rows
  bool has_weights = false;                        ///< the node that is looked at has constants that no length changes
  bool was_one = false;  ///< an axis of length 1 is longer, which may be why operands do not agree
  std::vector<length_doubt> doubts{};
};

/// Integers of an operand or attribute, as they are and as they were in the source.
struct length_literal {
  std::vector<std::int64_t> now, was;
  bool known = false;
  std::size_t input = 0;
  std::string attribute;  ///< where it is one
  bool is_own(std::size_t i) const { return i < was.size() && now[i] == was[i]; }
  edit with(const std::vector<std::int64_t>& numbers) const { return {input, attribute, numbers}; }
};

/// Axes that a Reshape merged into one, in the source and now.
struct merged_axes {
  shape_t was, now;
};

/// Positions within an axis whose number changed: rows of a batch (one position became several), or an axis that was
/// merged with others.
struct row_part {
  std::size_t axis;
  std::int64_t inner;     ///< elements of the axis behind each position, for one row
  std::int64_t was, now;  ///< positions
};

/// A graph that is being resolved beside the one for the source's own lengths.
class length_view : public graph_pair {
 public:
  length_view(graph& g, folder& folds, node_placer& placer, length_trial& trial);

  folder& folds() { return m_folds; }
  node_placer& placer() { return m_placer; }
  length_trial& trial() { return m_trial; }
  const length_trial& trial() const { return m_trial; }
  const changed_lengths& lengths() const { return m_trial.lengths; }

  length_literal integers(const node& n, std::size_t input, const char* attribute) const;

  /// Notes that the graph may be another one than the source's author would export, of the same shapes.
  void mark_ambiguous_for_good(const node& n, const std::string& why);
  /// mark_ambiguous_for_good() where it is because of numbers, unless --constant settles them.
  void doubt(const node& n, const std::string& why);
  /// doubt() where shapes may be others, and nothing behind the node says anything: throws no_reading.
  void stop(const node& n, const std::string& why);
  /// Throws no_reading for numbers that are not understood, whatever the choice.
  [[noreturn]] void give_up(const node& n, const std::string& why) const;
  const constant_choice* choice_of(const node& n) const;

  /// How many numbers of a node a reading changes.
  std::size_t changes_of(const reading& r, const node& n) const;

  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<merged_axes>>
      merges{};                                       ///< by the length, before and now
  std::map<value_id, std::vector<row_part>> parts{};  ///< of values whose axes a Reshape made of rows and others

 private:
  folder& m_folds;
  node_placer& m_placer;
  length_trial& m_trial;
};

/// All readings of a node; none where its numbers are no lengths.
std::vector<reading> readings_of(length_view& view, const node& n);
std::vector<reading> read_reshape(length_view& view, const node& n);
std::vector<reading> read_window(length_view& view, const node& n);
std::vector<reading> read_transposed(length_view& view, const node& n);

/// The reading of a Reshape that gives the rows of its operand a place in its target.
std::vector<reading> place_rows(length_view& view, const node& n, const length_literal& to);
/// Repeats constants of one row where there are several: operands of a Concat, initial values of recurrent layers.
void repeat_constants(length_view& view, node& n);
/// Follows rows that are part of an axis from operands to results. Refuses a result with another number of axes.
void follow_rows(length_view& view, const node& n);

/// Notes the axes that a Reshape merged into one.
void note_merges(length_view& view, const node& n);
/// Notes what shows that the results of a node are not what the source's author would export.
void check_ambiguous_results(length_view& view, const node& n);
/// Notes what shows that a node, one of whose operands has other lengths, is not what the author would export.
void check_ambiguous_node(length_view& view, const node& n);

/// The pads that auto_pad SAME_UPPER gives an axis, before and behind it.
std::pair<std::int64_t, std::int64_t> same_pads(std::int64_t length, std::int64_t kernel, std::int64_t stride,
                                                std::int64_t dilation);

/// Elements behind axis `d`: how far apart its indices are.
std::int64_t stride_of(const shape_t& s, std::size_t d);

}
