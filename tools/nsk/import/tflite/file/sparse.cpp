// SPDX-License-Identifier: MIT
#include "import/tflite/file/sparse.hpp"

#include "errors.hpp"

namespace nsk::tool {
namespace {

template <class V>
std::vector<std::int64_t> values_of(const V* table) {
  if (table == nullptr || table->values() == nullptr) return {};
  return {table->values()->begin(), table->values()->end()};
}

/// The numbers of a list, which a union stores as one of three types.
std::vector<std::int64_t> numbers_of(tfl::SparseIndexVector type, const void* list) {
  switch (type) {
    case tfl::SparseIndexVector::Int32Vector: return values_of(static_cast<const tfl::Int32Vector*>(list));
    case tfl::SparseIndexVector::Uint16Vector: return values_of(static_cast<const tfl::Uint16Vector*>(list));
    case tfl::SparseIndexVector::Uint8Vector: return values_of(static_cast<const tfl::Uint8Vector*>(list));
    default: return {};
  }
}

}

sparse_layout::sparse_layout(const tflite_tensor& t) : m_shape(t.shape), m_what("sparse tensor '" + t.name + "'") {
  const tfl::SparsityParameters& s = *t.data->sparsity();
  const std::size_t rank = m_shape.size(), blocks = s.block_map() == nullptr ? 0 : s.block_map()->size();
  const std::string damaged =
      m_what + ": its levels contradict its shape " + to_string(m_shape) + ". The file is damaged";
  const auto require = [&](bool good) {
    if (!good) refuse(damaged);
  };
  m_max_elements = 2 * t.size;              // the narrowest take four bits
  for (std::size_t b = 1; b < blocks; ++b)  // in order, and so no more than there are dimensions
    require(s.block_map()->Get(static_cast<flatbuffers::uoffset_t>(b - 1)) <
            s.block_map()->Get(static_cast<flatbuffers::uoffset_t>(b)));
  require(s.traversal_order() != nullptr && s.dim_metadata() != nullptr && rank > 0);
  require(s.traversal_order()->size() == rank + blocks && s.dim_metadata()->size() == rank + blocks);
  std::vector<char> seen(rank + blocks, 0);
  std::vector<std::int64_t> block_size(rank, 1);
  m_levels.resize(rank + blocks);
  for (std::size_t i = rank + blocks; i-- > 0;) {  // blocks come last and say how long their dimensions are
    const auto at = static_cast<flatbuffers::uoffset_t>(i);
    const std::int64_t d = s.traversal_order()->Get(at);
    const tfl::DimensionMetadata* m = s.dim_metadata()->Get(at);
    require(m != nullptr && d >= 0 && d < static_cast<std::int64_t>(seen.size()) &&
            seen[static_cast<std::size_t>(d)]++ == 0);
    level& l = m_levels[i];
    l.block = d >= static_cast<std::int64_t>(rank);
    require(l.block == (i >= rank));
    l.dense = m->format() == tfl::DimensionType::DENSE;
    require(l.dense || m->format() == tfl::DimensionType::SPARSE_CSR);
    if (l.block) {
      const std::int64_t mapped =
          s.block_map()->Get(static_cast<flatbuffers::uoffset_t>(d) - static_cast<flatbuffers::uoffset_t>(rank));
      require(mapped >= 0 && mapped < static_cast<std::int64_t>(rank) && l.dense && m->dense_size() > 0);
      l.dimension = static_cast<std::size_t>(mapped);
      l.size = m->dense_size();
      require(block_size[l.dimension] == 1 && m_shape[l.dimension] % l.size == 0);
      block_size[l.dimension] = l.size;
      continue;
    }
    l.dimension = static_cast<std::size_t>(d);
    l.block_size = block_size[l.dimension];
    l.size = m_shape[l.dimension] / l.block_size;
    if (l.dense) {
      require(m->dense_size() == l.size);
    } else {
      l.segments = numbers_of(m->array_segments_type(), m->array_segments());
      l.indices = numbers_of(m->array_indices_type(), m->array_indices());
    }
  }
  shape_t position(rank, 0);
  if (count_of(m_shape) > 0) walk(0, 0, position);
}

void sparse_layout::walk(std::size_t depth, std::int64_t parent, shape_t& position) {
  if (depth == m_levels.size()) {
    if (m_positions.size() >= m_max_elements) refuse(m_what + ": its levels name more elements than it has bytes for");
    std::int64_t at = 0;
    for (std::size_t d = 0; d < m_shape.size(); ++d) at = at * m_shape[d] + position[d];
    m_positions.push_back(at);
    return;
  }
  const level& l = m_levels[depth];
  const std::int64_t before = position[l.dimension];
  if (l.dense) {
    for (std::int64_t i = 0; i < l.size; ++i) {
      position[l.dimension] = before + i * l.block_size;
      walk(depth + 1, parent * l.size + i, position);
    }
  } else {
    const auto p = static_cast<std::size_t>(parent);
    if (p + 1 >= l.segments.size() || l.segments[p] < 0 || l.segments[p] > l.segments[p + 1] ||
        l.segments[p + 1] > static_cast<std::int64_t>(l.indices.size()))
      refuse(m_what + ": its row segments make no sense. The file is damaged");
    for (std::int64_t i = l.segments[p]; i < l.segments[p + 1]; ++i) {
      const std::int64_t index = l.indices[static_cast<std::size_t>(i)];
      const bool rises = i == l.segments[p] || index > l.indices[static_cast<std::size_t>(i - 1)];
      if (index < 0 || index >= l.size || !rises)
        refuse(m_what + ": index " + std::to_string(index) +
               " is outside its axis or out of order. The file is damaged");
      position[l.dimension] = before + index * l.block_size;
      walk(depth + 1, i, position);
    }
  }
  position[l.dimension] = before;
}

array sparse_layout::spread(const array& values) const {
  array whole(values.type, m_shape);
  for (std::size_t i = 0; i < m_positions.size(); ++i) {
    if (is_float(values.type))
      whole.set(m_positions[i], values.number(static_cast<std::int64_t>(i)));
    else
      whole.set_integer(m_positions[i], values.integer(static_cast<std::int64_t>(i)));
  }
  return whole;
}

}
