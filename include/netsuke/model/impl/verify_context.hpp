// SPDX-License-Identifier: MIT
#pragma once
/// What all parts of the verifier share.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/core/status.hpp>
#include <netsuke/model/file_header.hpp>
#include <netsuke/model/model.hpp>

NSK_BEGIN
namespace impl {

/// Limits that keep sums of sizes far from overflow, whatever the file says.
inline constexpr std::int64_t max_elements = 0x7fffffff;
inline constexpr std::int64_t max_extent = std::int64_t{1} << 44;
/// Comparisons of one open: a bound on its time. A model of 5000 steps needs some millions.
inline constexpr std::uint64_t max_comparisons = std::uint64_t{1} << 26;

struct verify_context {
  variant_view variant;
  span<const std::byte> weights;
  std::uint64_t comparisons_left = max_comparisons;

  /// False when the file asks for more comparisons than any sane one.
  bool spend(std::uint64_t comparisons = 1) {
    if (comparisons > comparisons_left) return false;
    comparisons_left -= comparisons;
    return true;
  }
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
