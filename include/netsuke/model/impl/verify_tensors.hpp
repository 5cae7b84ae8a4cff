// SPDX-License-Identifier: MIT
#pragma once
/// Second part of the verifier: buffers inside their memory, disjoint while they live, and tensors inside their
/// buffers.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/model/impl/region.hpp>
#include <netsuke/model/impl/verify_context.hpp>

NSK_BEGIN
namespace impl {

/// Returns whether [offset, offset + bytes) lies in memory of `available` bytes, the pad of which is not counted.
NSK_COLD inline bool fits(std::uint64_t offset, std::uint64_t bytes, std::uint64_t available) {
  const std::uint64_t usable = available - over_read;
  return offset <= usable && bytes <= usable - offset;
}

NSK_COLD inline status verify_memory(const verify_context& c) {
  const format::Variant& v = *c.variant.table();
  const auto sane = [](std::uint64_t bytes) {
    return bytes % arena_alignment == 0 && bytes <= std::uint64_t{max_extent};
  };
  if (!sane(v.arena_bytes()) || v.arena_bytes() < over_read || !sane(v.lane_bytes())) return status_code::bad_buffer;
  if (v.arena_bytes() > std::uint64_t{max_memory} || v.lane_bytes() > std::uint64_t{max_memory})
    return status_code::memory_unreachable;
  for (std::uint32_t i = 0; i < v.buffers()->size(); ++i) {
    const format::Buffer* b = v.buffers()->Get(i);
    const status bad{status_code::bad_buffer, static_cast<std::int32_t>(i)};
    if (b->storage() > format::Storage::MAX || b->offset() % arena_alignment != 0) return bad;
    const bool constant = b->storage() == format::Storage::constant;
    if (!fits(b->offset(), b->bytes(), constant ? c.weights.size() : v.arena_bytes())) return bad;
    if (!constant && (b->first_step() > b->last_step() || b->last_step() > c.steps())) return bad;
  }
  return {};
}

/// Where a buffer of the arena lies, and when.
struct placed_buffer {
  std::uint64_t begin = 0, end = 0;
  std::uint32_t first = 0, last = 0;

  static placed_buffer of(const format::Buffer* b) {
    return {b->offset(), b->offset() + b->bytes(), b->first_step(), b->last_step()};
  }
  bool meets(const placed_buffer& o) const {
    return begin < o.end && o.begin < end && first <= o.last && o.first <= last;
  }
};

/// Some buffers of the arena, read once for many comparisons.
struct buffer_group {
  static constexpr int capacity = 32;
  placed_buffer buffers[capacity];
  int count = 0;
  std::uint32_t last = 0;  ///< last step of any

  void add(const placed_buffer& b) {
    buffers[count++] = b;
    if (b.last > last) last = b.last;
  }
  bool meets(const placed_buffer& b) const {
    bool any = false;
    for (int i = 0; i < count; ++i) any |= buffers[i].meets(b);
    return any;
  }
};

NSK_COLD inline bool in_arena(const format::Buffer* b) {
  return b->storage() != format::Storage::constant && b->bytes() != 0;
}

/// Whether buffers come in the order of their first steps.
NSK_COLD inline bool sorted_by_first_step(const flatbuffers::Vector<flatbuffers::Offset<format::Buffer>>& buffers) {
  std::uint32_t last_first = 0;
  for (std::uint32_t i = 0; i < buffers.size(); ++i) {
    if (!in_arena(buffers.Get(i))) continue;
    if (buffers.Get(i)->first_step() < last_first) return false;
    last_first = buffers.Get(i)->first_step();
  }
  return true;
}

/// Buffers that live at the same time do not overlap. Linear where buffers are sorted by first_step and live shortly.
NSK_COLD inline status verify_disjoint_buffers(verify_context& c) {
  const auto& buffers = *c.variant.table()->buffers();
  const bool sorted = sorted_by_first_step(buffers);
  for (std::uint32_t next = 0; next < buffers.size();) {
    buffer_group group;
    for (std::uint32_t i = next; i < buffers.size(); ++i) {
      if (!c.work.spend(search_work)) return status_code::too_complex;
      if (!in_arena(buffers.Get(i))) continue;
      const placed_buffer b = placed_buffer::of(buffers.Get(i));
      if (sorted && group.count == buffer_group::capacity && b.first > group.last) break;
      if (!c.work.spend(buffer_work * static_cast<std::uint64_t>(group.count))) return status_code::too_complex;
      if (group.meets(b)) return {status_code::buffers_overlap, static_cast<std::int32_t>(i)};
      if (group.count == buffer_group::capacity) continue;
      group.add(b);
      next = i + 1;
    }
    if (group.count < buffer_group::capacity) break;
  }
  return {};
}

/// Shape, strides and border are such that all index arithmetic stays far from overflow.
NSK_COLD inline bool is_possible(const format::Tensor& t) {
  const std::uint32_t rank = t.shape()->size();
  if (rank < 1 || rank > max_rank || t.strides()->size() != rank) return false;
  if (t.type() > format::DataType::MAX || t.packing() > format::Packing::MAX) return false;
  std::int64_t elements = 1;
  for (std::uint32_t d = 0; d < rank; ++d) {
    const std::int64_t length = t.shape()->Get(d), stride = t.strides()->Get(d);
    if (length < 1 || elements > max_elements / length) return false;
    elements *= length;
    constexpr std::int64_t widest_border = 2 * 0xffff;
    if (stride > max_extent / (length + widest_border) || stride < -max_extent / (length + widest_border)) return false;
    if (stride > PTRDIFF_MAX || stride < PTRDIFF_MIN) return false;
  }
  const format::Halo* h = t.halo();
  const bool bordered = h && (h->top() | h->left() | h->bottom() | h->right()) != 0;
  if (bordered && (rank < 3 || t.packing() != format::Packing::plain || t.type() != format::DataType::float32))
    return false;
  return true;
}

NSK_COLD inline status verify_tensors(const verify_context& c) {
  const format::Variant& v = *c.variant.table();
  for (std::uint32_t i = 0; i < v.tensors()->size(); ++i) {
    if (!c.work.spend(tensor_work)) return status_code::too_complex;
    const format::Tensor& table = *v.tensors()->Get(i);
    const auto where = static_cast<std::int32_t>(i);
    if (table.buffer() >= v.buffers()->size() || !is_possible(table)) return {status_code::bad_tensor, where};
    const tensor_info t(&v, i);
    if (t.offset() % static_cast<unsigned>(size_of(t.type())) != 0) return {status_code::bad_tensor, where};
    if (t.offset() > std::uint64_t{max_extent}) return {status_code::tensor_outside_buffer, where};
    const tensor_view view = t.view(nullptr);
    if (t.arrangement() != packing::plain) {
      const bool legal = t.where() == storage::constant && t.type() == dtype::float32 && is_dense(view) &&
                         t.offset() % file_alignment == 0;
      if (!legal) return {status_code::bad_weights, where};
    }
    bool repeats;
    const region r = region_of(view, static_cast<std::int64_t>(t.offset()), repeats);
    if (r.base < 0 || r.end() > static_cast<std::int64_t>(t.buffer_bytes()))
      return {status_code::tensor_outside_buffer, where};
  }
  return {};
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
