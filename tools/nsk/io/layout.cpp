// SPDX-License-Identifier: MIT
#include "io/layout.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace nsk::tool {
namespace {

/// Copies `count` elements, `stride` apart, to consecutive ones.
template <class T>
void gather_line(const std::byte* from, std::int64_t stride, std::int64_t count, std::byte* to) {
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * std::int64_t{sizeof(T)}, from + i * stride * std::int64_t{sizeof(T)}, sizeof(T));
}
void gather_line(const std::byte* from, std::int64_t stride, std::int64_t count, std::size_t size, std::byte* to) {
  if (stride == 1)
    std::memcpy(to, from, static_cast<std::size_t>(count) * size);
  else if (size == 8)
    gather_line<std::uint64_t>(from, stride, count, to);
  else if (size == 4)
    gather_line<std::uint32_t>(from, stride, count, to);
  else if (size == 2)
    gather_line<std::uint16_t>(from, stride, count, to);
  else
    gather_line<std::uint8_t>(from, stride, count, to);
}

/// Copies elements of `size` bytes (1, 2, 4 or 8), in row-major order of `shape`, from where strides (in elements) say.
void gather(const std::byte* from, const shape_t& shape, const std::vector<std::int64_t>& strides, std::size_t size,
            std::byte* to) {
  const std::int64_t total = count_of(shape);
  if (total == 0) return;
  const std::int64_t length = shape.empty() ? 1 : shape.back(), step = shape.empty() ? 1 : strides.back();
  std::vector<std::int64_t> index(shape.size(), 0);
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < total; i += length) {
    gather_line(from + at * static_cast<std::int64_t>(size), step, length, size,
                to + static_cast<std::size_t>(i) * size);
    for (std::size_t d = shape.empty() ? 0 : shape.size() - 1; d-- > 0;) {
      at += strides[d];
      if (++index[d] < shape[d]) break;
      at -= strides[d] * shape[d];
      index[d] = 0;
    }
  }
}

std::vector<int> axes_of(const port_view& port) {
  const auto axes = port.source_axes();
  return {axes.begin(), axes.end()};
}

array reshaped(array a, shape_t shape) {
  a.shape = std::move(shape);
  return a;
}

}

element element_of(dtype t) {
  constexpr element elements[] = {element::f32, element::f16, element::i8,  element::u8,
                                  element::i16, element::i32, element::i64, element::boolean};
  return elements[static_cast<std::size_t>(t)];
}

array permuted(const array& a, const std::vector<int>& order) {
  std::vector<std::int64_t> strides(a.shape.size(), 1), picked;
  for (std::size_t d = a.shape.size(); d-- > 1;) strides[d - 1] = strides[d] * a.shape[d];
  shape_t shape;
  for (const int axis : order) {
    shape.push_back(a.shape[static_cast<std::size_t>(axis)]);
    picked.push_back(strides[static_cast<std::size_t>(axis)]);
  }
  array result(a.type, shape);
  gather(a.data.data(), shape, picked, size_of(a.type), result.data.data());
  return result;
}

std::string transposition_cure(const shape_t& given, const shape_t& wanted) {
  const std::size_t rank = given.size();
  if (rank < 3 || wanted.size() != rank || given == wanted) return "";
  for (const bool last : {true, false}) {
    for (const std::size_t first : {rank - 3, std::size_t{rank > 3}}) {
      std::vector<std::size_t> order(rank);
      std::iota(order.begin(), order.end(), 0);
      if (last)
        std::rotate(order.begin() + static_cast<std::ptrdiff_t>(first), order.end() - 1, order.end());
      else
        std::rotate(order.begin() + static_cast<std::ptrdiff_t>(first),
                    order.begin() + static_cast<std::ptrdiff_t>(first) + 1, order.end());
      std::string axes;
      bool same = true;
      for (std::size_t d = 0; d < rank; ++d) {
        same = same && given[order[d]] == wanted[d];
        axes += (d == 0 ? "" : ", ") + std::to_string(order[d]);
      }
      if (same)
        return std::string(last ? " Its channels come last: give" : " Its channels come first: give") +
               " numpy.transpose(array, (" + axes + ")).";
    }
  }
  return "";
}

array unpermuted(array a, const shape_t& shape, const std::vector<int>& order) {
  std::vector<int> inverse(order.size());
  a.shape.clear();
  for (std::size_t d = 0; d < order.size(); ++d) {
    inverse[static_cast<std::size_t>(order[d])] = static_cast<int>(d);
    a.shape.push_back(shape[static_cast<std::size_t>(order[d])]);
  }
  return permuted(a, inverse);
}

shape_t shape_of(const tensor_info& tensor) {
  const auto shape = tensor.shape();
  return {shape.begin(), shape.end()};
}

shape_t engine_shape_of(const port_view& port, length_values lengths) {
  const tensor_view v = port.tensor().view(nullptr, lengths);
  return {v.shape, v.shape + v.rank};
}

shape_t source_shape_of(const port_view& port, length_values lengths) {
  const auto stored = port.source_shape();
  // A scalar has no dimensions in the source; the engine's tensors have at least one.
  if (stored.empty() && port.elements() != 1) return engine_shape_of(port, lengths);
  shape_t shape(stored.begin(), stored.end());
  const std::vector<int> axes = axes_of(port);
  const shape_t own = engine_shape_of(port, lengths);
  for (std::size_t d = 0; lengths != nullptr && shape.size() == own.size() && d < own.size(); ++d)
    shape[axes.empty() ? d : static_cast<std::size_t>(axes[d])] = own[d];
  return shape;
}

array to_engine(const port_view& port, const array& source, length_values lengths) {
  const std::vector<int> axes = axes_of(port);
  return reshaped(axes.empty() ? source : permuted(source, axes), engine_shape_of(port, lengths));
}

array to_source(const port_view& port, const array& engine, length_values lengths) {
  const std::vector<int> axes = axes_of(port);
  const shape_t shape = source_shape_of(port, lengths);
  return axes.empty() ? reshaped(engine, shape) : unpermuted(engine, shape, axes);
}

array dense(const tensor_info& tensor, const std::byte* data, length_values lengths) {
  const tensor_view v = tensor.view(nullptr, lengths);
  array result(element_of(tensor.type()), {v.shape, v.shape + v.rank});
  gather(data, result.shape, {v.stride, v.stride + v.rank}, size_of(result.type), result.data.data());
  return result;
}

}
