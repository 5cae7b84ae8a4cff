// SPDX-License-Identifier: MIT
#pragma once
/// Private to the rules of recurrent layers: what a layer reads, instant by instant.
#include "import/tflite/importer.hpp"

namespace nsk::tool {

/// The input of a layer over time.
struct tflite_importer::sequence {
  value_id x = no_value;  ///< [instants, batch, inputs], or with the batch first
  bool time_major = false, backwards = false;
  std::int64_t instants = 1, batch = 1, inputs = 1;

  std::int64_t time_axis() const { return time_major ? 0 : 1; }
  /// The shape of something that has `length` numbers at every instant.
  shape_t whole(std::int64_t length) const {
    return time_major ? shape_t{instants, batch, length} : shape_t{batch, instants, length};
  }
  /// The same of one instant.
  shape_t one(std::int64_t length) const { return time_major ? shape_t{1, batch, length} : shape_t{batch, 1, length}; }
  /// Number of the instant that is computed as the i-th.
  std::int64_t nth(std::int64_t i) const { return backwards ? instants - 1 - i : i; }
};

}
