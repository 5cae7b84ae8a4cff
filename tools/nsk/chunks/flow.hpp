// SPDX-License-Identifier: MIT
#pragma once
/// What is known of a value of a network that is computed chunk by chunk.
#include <cstdint>

#include "graph/graph.hpp"

namespace nsk::tool::chunks {

/// How a value follows the signal.
enum class relation {
  still,  ///< it does not: constants, other inputs, and what is computed from them
  timed,  ///< it has elements along a time axis
  latest  ///< after each chunk it is what the whole signal so far gives
};

/// Where a timed value has its samples, and which of the whole signal's they are.
struct course {
  relation how = relation::still;
  std::size_t axis = 0;
  std::int64_t up = 1, down = 1;  ///< elements per sample of the signal: up / down
  /// Element i of all chunks is element i - late of the whole signal. Below 0: the whole signal has so many elements
  /// more in front, which are `before` and were not computed yet.
  std::int64_t late = 0;
  double before = 0;
  bool state = false;  ///< still, but a state of the model, or elements of one: another one in each chunk
};

/// A value of the source as the new graph has it.
struct flow {
  value_id id = no_value;  ///< in the new graph
  element type = element::f32;
  shape_t shape{};  ///< for the whole signal; the length along the time axis is not kept up to date
  course c{};

  bool timed() const { return c.how == relation::timed; }
  std::size_t rank() const { return shape.size(); }
};

}
