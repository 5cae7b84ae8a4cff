// SPDX-License-Identifier: MIT
#pragma once
/// What the numbers that an exporter wrote into a model become when axes have other lengths than in the source.
///
/// A number may be the network's own (heads, channels, a kernel) or a length of this export. Where both are possible
/// there are several readings; other_lengths.hpp tries them all.
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "errors.hpp"
#include "resolve/changed_lengths.hpp"
#include "resolve/node_placer.hpp"
#include "resolve/size_constants.hpp"

namespace nsk::tool {

/// Numbers that take the place of others in a node: of an operand, or of an attribute.
struct edit {
  std::size_t input = 0;
  std::string attribute;  ///< empty: the operand counts
  std::vector<std::int64_t> numbers;
  std::vector<float> scales{};  ///< where the numbers are floats
};

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

/// One way to understand the numbers of a node; empty: they stay.
using reading = std::vector<edit>;

/// Makes the edits in a node.
void apply(const reading& r, node& n, node_placer& placer);

/// The numbers of a reading, as --constant takes them; "keep" where they stay.
std::string option_of(const reading& r);
std::vector<double> numbers_in(const reading& r);

/// A node with several readings.
struct length_point {
  std::string result, node, text;  ///< names of its first result and itself, and itself with its numbers
  std::size_t pick, count;
};

/// One resolution of a graph: which readings are taken, and what was found.
struct length_trial {
  const graph* exported = nullptr;  ///< the graph for the source's own lengths
  constant_choices choices{};
  std::map<std::string, reading> chosen{};  ///< by the names of their first results
  bool replays = false;                     ///< the readings in `chosen` are taken, nothing else is looked at

  std::vector<length_point> points{};  ///< in order
  std::size_t reached = 0;
  std::map<std::string, std::size_t> resized{};    ///< results of Resizes, and how many of their sizes follow
  std::map<std::string, std::string> unsettled{};  ///< nodes that are to follow, where no reading knows how, and why
  std::set<std::string> settled{};                 ///< nodes whose choice was followed
  changed_lengths lengths{};
  bool has_weights = false;  ///< the node that is looked at has constants that no length changes
  bool was_one = false;      ///< an axis of length 1 is longer, which may be why operands do not agree
  std::vector<length_doubt> doubts{};
};

/// A graph that is being resolved beside the one for the source's own lengths.
class length_view {
 protected:
  length_view(graph& g, node_placer& placer, length_trial& trial);

  using list = std::vector<std::int64_t>;
  /// Integers of an operand or attribute, as they are and as they were in the source.
  struct literal {
    list now, was;
    bool known = false;
    std::size_t input = 0;
    std::string attribute;  ///< where it is one
    bool is_own(std::size_t i) const { return i < was.size() && now[i] == was[i]; }
    edit with(const list& numbers) const { return {input, attribute, numbers}; }
  };

  /// One axis of a Slice: its bounds, and the length of the axis in the source and now.
  struct slice_bound {
    std::int64_t start, end, step;
    bool own_start, own_end;
  };
  struct sliced_axis {
    std::int64_t was, now;
  };

  const value* before(value_id v) const;
  value& at(value_id v) { return m_placer.at(v); }
  bool has(const node& n, std::size_t i) const { return i < n.inputs.size() && n.inputs[i] != no_value; }
  /// Shapes of an operand in the source and now; false where the source has no such value or another rank.
  bool shapes_of(value_id v, shape_t& was, shape_t& now);
  bool changed(value_id v);
  bool any_changed(const node& n);
  /// Whether an operand is a constant, and the same as in the source.
  bool is_own_constant(const node& n, std::size_t i);
  literal integers(const node& n, std::size_t input, const char* attribute);
  /// Notes that the graph may be another one than the source's author would export, of the same shapes.
  void doubt_for_good(const node& n, const std::string& why);
  /// The same where it is because of numbers, unless --constant settles them.
  void doubt(const node& n, const std::string& why);
  /// The same where shapes may be others, and nothing behind the node says anything: throws no_reading.
  void stop(const node& n, const std::string& why);
  /// The same for numbers that are not understood, whatever the choice.
  [[noreturn]] void give_up(const node& n, const std::string& why) const;
  const constant_choice* choice_of(const node& n) const;

  graph& m_graph;
  node_placer& m_placer;
  length_trial& m_trial;
  std::map<std::string, const value*> m_before;
};

/// Looks at the nodes of a graph that is being resolved, one after the other.
class length_reader : length_view {
 public:
  length_reader(graph& g, node_placer& placer, length_trial& trial) : length_view(g, placer, trial) {}

  /// Before the shapes of its results are known: writes the numbers that the trial's reading gives. Throws no_reading
  /// where it cannot tell them.
  void rewrite(node& n);
  /// Afterwards: notes the lengths of its results, and doubts.
  void look_at(const node& n);
  /// When all nodes were looked at.
  void finish();

 private:
  /// Axes that a Reshape merged into one, in the source and now.
  struct merge {
    list was, now;
  };
  void note_merges(const node& n);
  void take_apart(const shape_t& was, const shape_t& now, const shape_t& made, const list& target,
                  std::vector<list>& lengths) const;

  std::vector<reading> readings_of(const node& n);
  std::vector<reading> chosen_of(const node& n, std::vector<reading> readings);
  std::vector<reading> choices_of(const node& n, const literal& l, const std::vector<list>& candidates,
                                  const std::string& what) const;
  std::vector<reading> read_reshape(const node& n);
  std::vector<reading> read_shape_list(const node& n, std::size_t input, bool expands);
  std::vector<reading> read_resize(const node& n);
  std::vector<reading> read_scales(const node& n);
  std::vector<reading> read_slice(const node& n);
  std::vector<reading> read_split(const node& n);
  std::vector<reading> read_tile(const node& n);
  std::vector<reading> read_top_k(const node& n);
  std::vector<reading> read_window(const node& n);
  std::vector<reading> read_transposed(const node& n);
  struct window;
  bool may_adapt(const node& n, const window& w) const;
  bool pools_other_images(const node& n, const window& w) const;
  reading adapted(const node& n, const window& w) const;
  reading same_again(const node& n, const window& w) const;
  list places_of(std::int64_t v, const sliced_axis& axis, std::int64_t end_was, std::int64_t end_now) const;
  std::vector<list> bounds_of(const slice_bound& b, const sliced_axis& axis) const;
  std::vector<std::pair<slice_bound, sliced_axis>> sliced_axes(const node& n, const literal& starts,
                                                               const literal& ends);
  list ordered_lengths(const shape_t& was, const shape_t& now, const shape_t& made, std::size_t k) const;
  std::vector<reading> targets_of(const node& n, const literal& to, const std::vector<list>& ordered,
                                  const std::vector<list>& mixed, const std::array<shape_t, 3>& shapes);

  struct padded_axis;
  list kernel_of(const node& n) const;
  bool is_padded_for(const node& user, const padded_axis& a) const;
  bool is_padded_for_readers(const std::string& name, const padded_axis& a) const;
  void doubt_concat(const node& n);
  void doubt_rounding(const node& n);
  void doubt_operands(const node& n);
  void doubt_indices(const node& n);
  void doubt_pads(const node& n);
  void doubt_results(const node& n);
  void doubt_broadcast(const node& n);
  void doubt_unknown(const node& n);

  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<merge>> m_merges;  ///< by the length, before and now
};

/// The pads that auto_pad SAME_UPPER gives an axis, before and behind it.
std::pair<std::int64_t, std::int64_t> same_pads(std::int64_t length, std::int64_t kernel, std::int64_t stride,
                                                std::int64_t dilation);

}
