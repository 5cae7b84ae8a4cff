// SPDX-License-Identifier: MIT
#pragma once
/// Sparse constants of TensorFlow Lite files: levels of dense and compressed rows over the dimensions and, inside them,
/// over blocks.
#include <vector>
#include "graph/array.hpp"
#include "import/tflite/file/file.hpp"

namespace nsk::tool {

class sparse_layout {
 public:
  /// Reads the levels; refuses those that contradict the tensor's shape, its bytes or each other.
  explicit sparse_layout(const tflite_tensor& t);
  /// Number of elements that are stored.
  std::int64_t stored() const { return static_cast<std::int64_t>(m_positions.size()); }
  /// The whole tensor; what is not stored is 0. `values` has stored() elements.
  array spread(const array& values) const;

 private:
  struct level {
    std::size_t dimension = 0;  ///< of the tensor
    bool block = false;         ///< position inside a block
    std::int64_t block_size = 1;
    bool dense = true;
    std::int64_t size = 0;  ///< positions of a dense level, or of the dimension behind a sparse one
    std::vector<std::int64_t> segments, indices;
  };
  void walk(std::size_t depth, std::int64_t parent, shape_t& position);

  shape_t m_shape;
  std::string m_what;
  std::size_t m_max_elements = 0;  ///< elements that the tensor's bytes can hold
  std::vector<level> m_levels;
  std::vector<std::int64_t> m_positions;  ///< row-major positions of the stored elements, in their order
};

}
