// SPDX-License-Identifier: MIT
#pragma once
/// A node of a decision tree as files have it: four integers, read by the kernel and by the verifier.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/core/assert.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {

enum class tree_test : std::int32_t { leaf, less_equal, less, greater_equal, greater, equal, not_equal };

struct tree_node {
  std::int32_t feature, kind, next, other;
  tree_test test() const { return static_cast<tree_test>(kind & 7); }
  bool nan_holds() const { return (kind & 8) != 0; }
};

inline tree_node node_at(const std::int32_t* nodes, std::ptrdiff_t i) {
  const std::int32_t* const n = nodes + 4 * i;
  return {n[0], n[1], n[2], n[3]};
}

}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
