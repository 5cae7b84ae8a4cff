// SPDX-License-Identifier: MIT
#pragma once
/// Second part of the verifier: buffers inside their memory, disjoint while they live, and tensors inside their
/// buffers.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/file_header.hpp>
#include <netsuke/model/impl/region.hpp>
#include <netsuke/model/impl/verify_context.hpp>

NSK_BEGIN
namespace impl {

/// Returns whether [offset, offset + bytes) is in memory of `available` bytes, the pad of which is not counted.
NSK_COLD inline bool fits(std::uint64_t offset, std::uint64_t bytes, std::uint64_t available) {
  const std::uint64_t usable = available - over_read;
  return offset <= usable && bytes <= usable - offset;
}

NSK_COLD inline status verify_memory(const verify_context& c) {
  const std::uint64_t shared = c.variant.stored_shared_bytes(), lane = c.variant.stored_lane_bytes();
  const auto sane = [](std::uint64_t bytes) {
    return bytes % arena_alignment == 0 && bytes <= std::uint64_t{max_extent};
  };
  if (!sane(shared) || shared < over_read || !sane(lane)) return status_code::bad_buffer;
  if (shared > std::uint64_t{max_memory} || lane > std::uint64_t{max_memory}) return status_code::memory_unreachable;
  const auto steps = static_cast<std::uint32_t>(c.variant.step_count());
  for (int i = 0; i < c.variant.buffer_count(); ++i) {
    const buffer_view b = c.variant.buffer(i);
    const status bad{status_code::bad_buffer, i};
    if (!is_known(b.where()) || b.offset() % arena_alignment != 0) return bad;
    const bool constant = b.where() == storage::constant;
    if (!fits(b.offset(), b.bytes(), constant ? c.weights.size() : shared)) return bad;
    if (!constant && (b.first_step() > b.last_step() || b.last_step() > steps)) return bad;
  }
  return {};
}

/// Where a buffer of the arena is, and when.
struct placed_buffer {
  std::uint64_t begin = 0, end = 0;
  std::uint32_t first = 0, last = 0;

  static placed_buffer of(const buffer_view& b) {
    return {b.offset(), b.offset() + b.bytes(), b.first_step(), b.last_step()};
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

NSK_COLD inline bool in_arena(const buffer_view& b) { return b.where() != storage::constant && b.bytes() != 0; }

/// Whether buffers come in the order of their first steps.
NSK_COLD inline bool sorted_by_first_step(const variant_view& v) {
  std::uint32_t last_first = 0;
  for (int i = 0; i < v.buffer_count(); ++i) {
    const buffer_view b = v.buffer(i);
    if (!in_arena(b)) continue;
    if (b.first_step() < last_first) return false;
    last_first = b.first_step();
  }
  return true;
}

/// Buffers that live at the same time do not overlap. Compares every later buffer with a group of some, and goes on
/// with the group that begins behind its last one (`next`). In sorted lists it stops where a buffer begins after the
/// whole group has ended: linear where buffers live shortly.
NSK_COLD inline status verify_disjoint_buffers(verify_context& c) {
  const int buffers = c.variant.buffer_count();
  const bool sorted = sorted_by_first_step(c.variant);
  for (int next = 0; next < buffers;) {
    buffer_group group;
    for (int i = next; i < buffers; ++i) {
      if (!c.work.spend(search_work)) return status_code::too_complex;
      const buffer_view stored = c.variant.buffer(i);
      if (!in_arena(stored)) continue;
      const placed_buffer b = placed_buffer::of(stored);
      if (sorted && group.count == buffer_group::capacity && b.first > group.last) break;
      if (!c.work.spend(buffer_work * static_cast<std::uint64_t>(group.count))) return status_code::too_complex;
      if (group.meets(b)) return {status_code::buffers_overlap, i};
      if (group.count == buffer_group::capacity) continue;
      group.add(b);
      next = i + 1;
    }
    if (group.count < buffer_group::capacity) break;
  }
  return {};
}

/// Shape and strides are such that all index arithmetic stays far from overflow, along axes of length 1 too: kernels
/// count one step beyond them, and with 32-bit pointers a stride that no element needs would not fit.
NSK_COLD inline bool is_possible(const tensor_info& t) {
  const span<const std::int32_t> shape = t.shape();
  const span<const std::int64_t> strides = t.strides();
  if (shape.size() < 1 || shape.size() > max_rank || strides.size() != shape.size()) return false;
  if (!is_known(t.type()) || !is_known(t.arrangement())) return false;
  std::int64_t elements = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int64_t length = shape[d], stride = strides[d];
    if (length < 1 || elements > max_elements / length) return false;
    elements *= length;
    const std::int64_t maximum = max_extent / (length + 2 * max_border);
    if (stride > maximum || stride < -maximum) return false;
    if ((stride < 0 ? -stride : stride) > max_memory / size_of(t.type())) return false;
  }
  return true;
}

/// Kernels write and read a border as floats of which the channels of a pixel are neighbours (kernels/border.hpp).
NSK_COLD inline bool has_possible_border(const tensor_info& t) {
  const halo h = t.border();
  if ((h.top | h.left | h.bottom | h.right) == 0) return true;
  return t.rank() >= 3 && is_float_lines(t);
}

/// Whether a tensor can be packed weights: dense constants of a type that the program takes.
template <class Narrow>
NSK_COLD status_code check_weights(const tensor_info& t, const tensor_view& view) {
  if (t.where() != storage::constant || !is_dense(view) || t.offset() % file_alignment != 0)
    return status_code::bad_weights;
  const dtype wanted = is_quads(t.arrangement()) ? dtype::int8 : dtype::float32;
  if (t.type() == wanted) return status_code::ok;
  if (t.arrangement() != packing::panels) return status_code::bad_weights;
  if (t.type() == dtype::float16) return Narrow::halves ? status_code::ok : status_code::unsupported_half_weights;
  if (t.type() == dtype::int8) return Narrow::bytes ? status_code::ok : status_code::unsupported_int8_weights;
  return status_code::bad_weights;
}

template <class Narrow>
NSK_COLD status verify_tensors(const verify_context& c) {
  const auto buffers = static_cast<std::uint32_t>(c.variant.buffer_count());
  for (int i = 0; i < c.variant.tensor_count(); ++i) {
    if (!c.work.spend(tensor_work)) return status_code::too_complex;
    if (c.variant.buffer_of_tensor(i) >= buffers) return {status_code::bad_tensor, i};
    const tensor_info t = c.variant.tensor(i);
    if (!is_possible(t) || t.offset() % static_cast<unsigned>(size_of(t.type())) != 0)
      return {status_code::bad_tensor, i};
    if (!has_possible_border(t)) return {status_code::bad_border, i};
    if (t.offset() > std::uint64_t{max_extent}) return {status_code::tensor_outside_buffer, i};
    const tensor_view view = t.view(nullptr);
    if (!is_plain(t)) {
      const status_code code = check_weights<Narrow>(t, view);
      if (code != status_code::ok) return {code, status_place::tensor, i};
    }
    bool repeats;
    const region r = region_of(view, static_cast<std::int64_t>(t.offset()), repeats);
    if (r.base < 0 || r.end() > static_cast<std::int64_t>(t.buffer_bytes()))
      return {status_code::tensor_outside_buffer, i};
  }
  return {};
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
