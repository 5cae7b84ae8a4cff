// SPDX-License-Identifier: MIT
#pragma once
/// A tensor of a model's plan, as the file describes it: what tools print and what binding turns into a tensor_view.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <netsuke/core/span.hpp>
#include <netsuke/core/tensor.hpp>
#include <netsuke/format/impl/read_params.hpp>
#include <netsuke/format/length.hpp>

NSK_BEGIN
/// Where a tensor is. Values are part of the file format.
enum class storage : std::uint8_t { constant, arena, input, output, state };
constexpr bool is_known(storage s) { return s <= storage::state; }
constexpr bool is_known(dtype t) { return t <= dtype::boolean; }

/// One block of memory of a variant, with a lifetime. A view: valid as long as the file's bytes.
class buffer_view {
 public:
  explicit buffer_view(const format::Buffer* buffer) : m_buffer(buffer) {}

  storage where() const { return static_cast<storage>(m_buffer->storage()); }
  /// Number of the model input, output or state that it belongs to.
  std::uint32_t port() const { return m_buffer->index(); }
  /// Bytes from the start of the weights section or the arena.
  std::uint64_t offset() const { return m_buffer->offset(); }
  std::uint64_t bytes() const { return m_buffer->bytes(); }
  /// First and last step that need it.
  std::uint32_t first_step() const { return m_buffer->first_step(); }
  std::uint32_t last_step() const { return m_buffer->last_step(); }

 private:
  const format::Buffer* m_buffer;
};

/// One tensor of a verified variant. A view: valid as long as the file's bytes.
class tensor_info {
 public:
  tensor_info(const format::Variant* variant, std::uint32_t index)
      : m_tensor(variant->tensors()->Get(index)),
        m_buffer(variant->buffers()->Get(m_tensor->buffer())),
        m_index(index) {}

  int index() const { return static_cast<int>(m_index); }
  const char* name() const { return impl::text(m_tensor->name()); }
  dtype type() const { return static_cast<dtype>(m_tensor->type()); }
  int rank() const { return static_cast<int>(m_tensor->shape()->size()); }
  span<const std::int32_t> shape() const { return impl::items(m_tensor->shape()); }
  span<const std::int64_t> strides() const { return impl::items(m_tensor->strides()); }
  halo border() const {
    const format::Halo* h = m_tensor->halo();
    return h ? halo{h->top(), h->left(), h->bottom(), h->right()} : halo{};
  }
  float fill() const { return m_tensor->fill(); }
  packing arrangement() const { return static_cast<packing>(m_tensor->packing()); }
  storage where() const { return static_cast<storage>(m_buffer->storage()); }
  /// Number of the buffer, and of the model input, output or state that it belongs to.
  int buffer() const { return static_cast<int>(m_tensor->buffer()); }
  int port() const { return static_cast<int>(m_buffer->index()); }
  /// Bytes from the start of the weights section or the arena to the buffer, and from there to the element at index 0.
  std::uint64_t buffer_offset() const { return m_buffer->offset(); }
  std::uint64_t buffer_bytes() const { return m_buffer->bytes(); }
  std::uint64_t offset() const { return m_tensor->offset(); }
  std::uint64_t offset(length_values lengths) const {
    tensor_view v;
    return lengths ? static_cast<std::uint64_t>(follow(v, lengths)) : offset();
  }
  /// First and last step that need the buffer.
  int first_step() const { return static_cast<int>(m_buffer->first_step()); }
  int last_step() const { return static_cast<int>(m_buffer->last_step()); }
  std::int64_t elements() const {
    std::int64_t n = 1;
    for (const std::int32_t length : shape()) n *= length;
    return n;
  }
  /// Bytes of the elements alone, without border and gaps.
  std::size_t bytes() const { return static_cast<std::size_t>(elements()) * static_cast<std::size_t>(size_of(type())); }

  /// How much of batch_dimension() belongs to one row of the batch; 0 where the tensor has no rows.
  int batch() const { return static_cast<int>(m_tensor->batch()); }
  /// The first dimension longer than 1, in which rows are; -1 when there is none.
  int batch_dimension() const {
    for (int d = 0; d < rank(); ++d) {
      if (shape()[static_cast<std::size_t>(d)] > 1) return d;
    }
    return -1;
  }

  /// Terms of the numbers that follow lengths.
  impl::term_list terms() const { return impl::term_list(m_tensor->terms()); }

  /// Number of elements in a run of these lengths.
  std::int64_t elements(length_values lengths) const {
    const tensor_view v = view(nullptr, lengths);
    std::int64_t n = 1;
    for (int d = 0; d < v.rank; ++d) n *= v.shape[d];
    return n;
  }
  /// Whether it has no elements in a run of these lengths.
  bool is_empty(length_values lengths) const { return terms().size() != 0 && elements(lengths) == 0; }

  /// Returns the tensor as kernels see it; `buffer_start` is where its buffer is, null to get shape and strides
  /// alone. What follows lengths is that of `lengths`.
  tensor_view view(std::byte* buffer_start, length_values lengths = nullptr) const {
    tensor_view v;
    v.type = type();
    v.rank = static_cast<std::uint8_t>(rank());
    v.border = border();
    v.fill = fill();
    const span<const std::int32_t> bounds = shape();
    const span<const std::int64_t> steps = strides();
    for (std::size_t d = 0; d < bounds.size(); ++d) {
      v.shape[d] = bounds[d];
      v.stride[d] = static_cast<std::ptrdiff_t>(steps[d]);
    }
    const std::int64_t start = lengths ? follow(v, lengths) : static_cast<std::int64_t>(m_tensor->offset());
    v.data = buffer_start ? buffer_start + start : nullptr;
    return v;
  }

 private:
  /// Gives a view the numbers of a run of these lengths; returns the offset.
  NSK_NOINLINE std::int64_t follow(tensor_view& v, length_values lengths) const {
    impl::tensor_numbers n{v.shape, v.stride, static_cast<std::int64_t>(m_tensor->offset())};
    n.follow(terms(), lengths);
    if (batch() > 0) v.shape[batch_dimension()] = lengths[0] * batch();
    return n.offset;
  }

  const format::Tensor* m_tensor;
  const format::Buffer* m_buffer;
  std::uint32_t m_index;
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
