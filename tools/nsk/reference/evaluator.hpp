// SPDX-License-Identifier: MIT
#pragma once
/// The reference: evaluates a graph in ONNX's own semantics and axis order, plainly. It folds constants and is the
/// oracle that every conversion is checked against, so nothing here shares code with the engine.
///
/// Floats of every width are held and computed in double precision and never rounded in between; integers are computed
/// in 64 bits and wrapped to their declared width after every node.
#include <functional>
#include <map>
#include <string>
#include "graph/graph.hpp"

namespace nsk::tool {

class evaluator {
 public:
  /// Keeps a reference to `g`. Refuses operators that it does not know, before anything runs. `g` need not be resolved:
  /// shapes follow from the inputs.
  explicit evaluator(const graph& g);

  /// Returns the outputs by name, or with `keep_all` every value that was computed (inputs included, constants not).
  /// Floats come back as f64 whatever the declared type, other types as declared. `inputs` holds one array per graph
  /// input, by name; any float type serves a float input, the others must agree. Refuses missing, unknown and
  /// ill-shaped inputs. `observe` sees each value of the main graph when it is computed, floats as f64, and may change
  /// its elements: what follows is computed from them.
  using observer = std::function<void(const std::string& name, array& value)>;
  std::map<std::string, array> run(const std::map<std::string, array>& inputs, bool keep_all = false,
                                   const observer& observe = nullptr) const;

 private:
  const graph& m_graph;
};

/// True where the evaluator knows the operator of `n`.
bool is_known_operator(const node& n);

/// Returns `a` with its elements converted to `t` (floats to nearest even; integers wrap).
array converted(const array& a, element t);

}
