// SPDX-License-Identifier: MIT
#pragma once
/// What all parts of the verifier share.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/core/status.hpp>
#include <netsuke/model/file_header.hpp>
#include <netsuke/model/impl/work_budget.hpp>
#include <netsuke/model/model.hpp>

NSK_BEGIN
namespace impl {

/// Limits that keep sums of sizes far from overflow, whatever the file says.
inline constexpr std::int64_t max_elements = 0x7fffffff;
inline constexpr std::int64_t max_extent = std::int64_t{1} << 44;
/// Most bytes of an arena, and of a lane: both together are addressed by a pointer.
inline constexpr std::int64_t max_memory = sizeof(void*) >= 8 ? max_extent : std::int64_t{1} << 30;

/// What the steps before `next` have written of a buffer: between `begin` and `end`, so many bytes.
struct written_part {
  std::int32_t buffer = -1, next = 0;
  std::int64_t begin = 0, end = 0, bytes = 0;

  /// Adds bytes between two places, none of which had been written.
  void add(std::int64_t from, std::int64_t to, std::int64_t more) {
    if (begin == end) begin = from, end = to;
    if (from < begin) begin = from;
    if (to > end) end = to;
    bytes += more;
  }
  bool has_all(std::int64_t from, std::int64_t to) const { return bytes == end - begin && begin <= from && to <= end; }
  bool has_none(std::int64_t from, std::int64_t to) const { return begin == end || to <= begin || end <= from; }
};

struct verify_context {
  variant_view variant;
  span<const std::byte> weights;
  work_budget& work;
  static constexpr unsigned parts = 8;
  written_part written[parts];  ///< of the buffers looked at last, by number modulo `parts`

  std::uint32_t tensors() const { return static_cast<std::uint32_t>(variant.tensor_count()); }
  std::uint32_t steps() const { return static_cast<std::uint32_t>(variant.step_count()); }
};

/// Returns whether the elements lie one behind the other in index order, without border.
NSK_COLD inline bool is_dense(const tensor_view& v) {
  std::ptrdiff_t expected = 1;
  for (int d = v.rank; d-- > 0;) {
    if (v.shape[d] != 1 && v.stride[d] != expected) return false;
    expected *= v.shape[d];
  }
  return (v.border.top | v.border.left | v.border.bottom | v.border.right) == 0;
}

NSK_COLD inline bool same_shape(const tensor_view& a, const tensor_view& b) {
  if (a.rank != b.rank) return false;
  for (int d = 0; d < a.rank; ++d) {
    if (a.shape[d] != b.shape[d]) return false;
  }
  return true;
}

NSK_COLD inline bool is_float(const tensor_info& t) {
  return t.type() == dtype::float32 && t.arrangement() == packing::plain;
}

/// A float tensor whose last dimension has stride 1.
NSK_COLD inline bool is_float_lines(const tensor_info& t) {
  const span<const std::int64_t> strides = t.strides();
  return is_float(t) && strides[strides.size() - 1] == 1;
}
NSK_COLD inline bool is_image(const tensor_info& t) { return t.rank() == 4 && is_float_lines(t); }

NSK_COLD inline bool is_aligned(const void* p, std::uintptr_t alignment) {
  return reinterpret_cast<std::uintptr_t>(p) % alignment == 0;
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
