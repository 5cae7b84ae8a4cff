// SPDX-License-Identifier: MIT
#pragma once
/// Writes the graph that computes a network chunk by chunk: nodes, and states that keep the end of what came before.
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "chunks/flow.hpp"
#include "chunks/node_writer.hpp"

namespace nsk::tool::chunks {

/// The first node that needs samples which come later, and how many.
struct ahead {
  std::string node{};
  std::int64_t samples = 0;  ///< 0: there is none
};

/// Where the samples of a signal are.
struct signal_axes {
  std::string name;                       ///< of the open axis
  std::int64_t samples = 0;               ///< of the whole signal
  std::map<std::string, std::size_t> of;  ///< the axis of each input that has them
  std::set<std::string> states;           ///< inputs that are states of the model
};

class writer : public node_writer {
 public:
  /// `whole` is resolved for a signal.
  writer(const graph& whole, const signal_axes& axes);

  const signal_axes& axes() const { return m_axes; }
  /// The number of samples of a chunk, as a list of one integer.
  value_id count_samples();

  /// A value of the source.
  const flow& of(value_id v);
  /// Says what a value of the source has become. Refuses a length that does not follow the signal.
  void set(value_id v, value_id id, const course& c);
  /// Elements of a timed value that the whole signal has more than it has samples for them.
  std::int64_t extra(value_id v) const;

  /// Adds the current node with other inputs; its results keep their names. Returns them; no_value where none is
  /// wanted, but for the first `results`.
  std::vector<value_id> copy(std::vector<value_id> inputs, const attributes& changed = {}, std::size_t results = 0);
  /// copy() of a node with one result, which follows the signal so.
  void give(std::vector<value_id> inputs, const course& c, const attributes& changed = {});

  /// An input that is kept from chunk to chunk, without a value in the first one: zeros, or `initial`.
  value_id add_state(const std::string& name, element type, const shape_t& shape,
                     std::shared_ptr<const array> initial = nullptr);
  /// What that state becomes.
  void keep(value_id state, value_id next);

  /// The elements with `count` earlier ones in front of them; those are `before` where there is none.
  value_id joined(const flow& x, std::int64_t count, double before);
  /// Elements that come `count` later.
  flow delayed(flow x, std::int64_t count);
  /// Nothing of the whole signal is left out: what is in front was computed.
  flow settled(flow x);
  /// Puts `count` elements in front of the whole signal's first one.
  flow padded(flow x, std::int64_t count, double with);
  /// Leaves out the whole signal's first elements.
  flow cropped(flow x, std::int64_t count);
  /// What windows of `reach` elements, `stride` apart, see: `id` has so many elements that a chunk gets its results,
  /// and the course is that of the results. With `folds`, factors of the elements that nothing else reads come behind
  /// the earlier ones: the converter makes them part of the weights, as it does for the whole signal.
  flow windowed(flow x, std::int64_t reach, std::int64_t stride, bool folds = false);
  /// Elements in front of the whole signal's first one become `with`.
  flow masked(flow x, double with);
  /// Makes several values equally late; returns the latest one's course.
  course align(std::vector<flow>& flows);

  const ahead& looks_ahead() const { return m_ahead; }
  /// Chunks have multiples of so many samples.
  std::int64_t step() const { return m_step; }
  /// How many samples the states keep, those of all together.
  std::int64_t history() const { return m_history; }
  /// Notes that the current node needs samples that come later; counted in elements of a value.
  void note_ahead(std::int64_t elements, const course& c);

  /// Ends the graph: outputs, and the states behind them.
  graph finish();

 private:
  flow copied(value_id v);
  /// joined(), with a factor behind it in place of before it.
  value_id joined_behind_factor(const flow& x, std::int64_t count, double before);
  /// Whether a value is a layer's sum, or that with factors: these become part of the layer's weights.
  bool follows_layer(value_id id) const;
  const node* factor_of(const flow& x, bool padded, std::size_t& operand) const;

  const signal_axes& m_axes;
  std::map<value_id, flow> m_flows;
  std::map<value_id, int> m_readers;                    ///< of values of the source
  std::map<value_id, std::vector<value_id>> m_sources;  ///< those that a value stands for
  std::map<value_id, std::size_t> m_makers;             ///< nodes, by their results
  std::map<std::tuple<value_id, std::int64_t, double>, value_id> m_joined;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::size_t, std::size_t>, value_id> m_masks;
  std::vector<value_id> m_kept;
  ahead m_ahead;
  std::int64_t m_step = 1, m_history = 0;
};

/// up / down in lowest terms.
void reduce(course& c);

}
