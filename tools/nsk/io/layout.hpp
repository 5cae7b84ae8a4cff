// SPDX-License-Identifier: MIT
#pragma once
/// Between the source model's axis order and the engine's.
#include <netsuke/model/model.hpp>
#include "graph/array.hpp"

namespace nsk::tool {

/// Returns the tool's element type for an engine type.
element element_of(dtype t);

/// Returns `a` with its axes in another order: axis d of the result is axis order[d] of `a`.
array permuted(const array& a, const std::vector<int>& order);
/// The reverse: axis order[d] of the result, which has this shape, is axis d of `a`, whatever shape `a` has.
array unpermuted(array a, const shape_t& shape, const std::vector<int>& order);

/// Returns " Its channels come last: give numpy.transpose(array, (0, 3, 1, 2))." where an array of the shape `given`,
/// with its channels moved, has the shape `wanted`; "" where that is not it.
std::string transposition_cure(const shape_t& given, const shape_t& wanted);

/// The shape of a port in the source model, in a run of these lengths.
shape_t source_shape_of(const port_view& port, length_values lengths = nullptr);
/// Its shape in the engine.
shape_t engine_shape_of(const port_view& port, length_values lengths = nullptr);
shape_t shape_of(const tensor_info& tensor);

/// Source layout -> the port's own, and back. The array has the shape that the other side's function above returns.
array to_engine(const port_view& port, const array& source, length_values lengths = nullptr);
array to_source(const port_view& port, const array& engine, length_values lengths = nullptr);

/// Reads a strided tensor, in a run of these lengths, into a dense array of its own shape. `data` is its element at
/// index 0.
array dense(const tensor_info& tensor, const std::byte* data, length_values lengths = nullptr);

}
