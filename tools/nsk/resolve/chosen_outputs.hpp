// SPDX-License-Identifier: MIT
#pragma once
/// The outputs of a graph that is being resolved (infer.hpp).
#include <string>
#include <vector>

#include "resolve/lengths/input_options.hpp"

namespace nsk::tool {

/// Makes the values that --output-value names the outputs of a graph. Any value has a name; those of graphs inside
/// others get theirs when loops are unrolled and branches take the place of their node.
class chosen_outputs {
 public:
  /// Keeps what the options ask for, and the outputs of the graph's own states. Where names are to come, the outputs of
  /// the nodes that may give them are outputs, too, until settle(). Without names in the options it leaves out outputs
  /// that nothing produces, with a warning. Misuse of names that the graph cannot have.
  chosen_outputs(graph& g, const input_options& options);

  /// Whether some of the values are inside of nodes. What is not needed for them may then be refused without harm.
  bool are_inside() const { return m_are_inside; }
  /// Names the outputs of a graph whose nodes are all resolved. Misuse where one does not exist; refuses one that was
  /// not computed because of `refusal`.
  void settle(const std::string& refusal);

 private:
  void choose();
  bool add_owners(const std::string& name);
  value_id required(const std::string& name, const std::string& refusal) const;

  graph& m_graph;
  const std::vector<std::string>& m_names;
  std::vector<value_id> m_states;  ///< outputs of the graph's own states
  std::size_t m_count = 0;         ///< of outputs before the nodes are resolved, which may add more
  bool m_are_inside = false;
};

}
