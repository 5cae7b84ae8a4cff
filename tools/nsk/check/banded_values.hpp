// SPDX-License-Identifier: MIT
#pragma once
/// Values of the engine that several steps make, each some rows of them (passes/stream/stream.hpp names their tensors).
#include <map>
#include <string>
#include <vector>
#include "graph/graph.hpp"

namespace nsk::tool {

/// A value as it is stored in memory.
struct stored_value {
  array got;
  array planes;  ///< of bands that may be stored channels first: the same read so; else without a shape
};

/// Puts values together from their bands.
class banded_values {
 public:
  /// Takes the next rows of a value of the source's shape; says whether the whole is there now.
  bool add(const std::string& name, array rows, const shape_t& shape);
  /// The whole, in which rows are outermost where bands are stored as images with channels last. Where a band's shape
  /// does not say so, channels may be: then the other reading is there too.
  stored_value whole(const std::string& name, const shape_t& shape);

 private:
  struct bands {
    std::vector<array> rows;
    std::int64_t count = 0;
  };
  std::map<std::string, bands> m_values;
};

}
