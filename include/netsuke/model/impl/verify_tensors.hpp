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

/// Buffers that live at the same time do not overlap. Linear where buffers are sorted by first_step and live shortly.
NSK_COLD inline status verify_disjoint_buffers(verify_context& c) {
  const auto& buffers = *c.variant.table()->buffers();
  const auto in_arena = [](const format::Buffer* b) {
    return b->storage() != format::Storage::constant && b->bytes() != 0;
  };
  bool sorted = true;
  std::uint32_t last_first = 0;
  for (std::uint32_t i = 0; i < buffers.size(); ++i) {
    const format::Buffer* b = buffers.Get(i);
    if (!in_arena(b)) continue;
    if (b->first_step() < last_first) sorted = false;
    last_first = b->first_step();
  }
  for (std::uint32_t i = 0; i < buffers.size(); ++i) {
    const format::Buffer* a = buffers.Get(i);
    if (!in_arena(a)) continue;
    const std::uint64_t a_begin = a->offset(), a_end = a_begin + a->bytes();
    const std::uint32_t a_first = a->first_step(), a_last = a->last_step();
    for (std::uint32_t k = i + 1; k < buffers.size(); ++k) {
      if (!c.spend()) return status_code::too_complex;
      const format::Buffer* b = buffers.Get(k);
      if (!in_arena(b)) continue;
      if (b->first_step() > a_last) {
        if (sorted) break;
        continue;
      }
      if (b->last_step() < a_first) continue;
      if (a_begin < b->offset() + b->bytes() && b->offset() < a_end)
        return {status_code::buffers_overlap, static_cast<std::int32_t>(k)};
    }
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
