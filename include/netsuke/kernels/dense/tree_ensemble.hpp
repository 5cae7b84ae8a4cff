// SPDX-License-Identifier: MIT
#pragma once
/// Decision trees, one row after the other.
#include <netsuke/core/hide_macros.hpp>
#include <limits>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/dense/tree_node.hpp>
#define NSK_REGION_COMPACT
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// Decision trees: kernels/dense/tree_ensemble.hpp. x [rows, features], output [rows, targets].
struct tree_ensemble_args : tree_ensemble_params {
  tensor_view input, output;
  const std::int32_t *roots, *nodes;
  const float* thresholds;
  const std::int32_t* targets;
  const float *weights, *base;
  std::int32_t trees;
};

namespace impl {

/// Whether a row goes on at `next`. Comparisons with NaN are false, but for !=.
inline bool holds(const tree_node& n, float x, float threshold) {
  if (n.nan_holds() && !(x == x)) return true;
  switch (n.test()) {
    case tree_test::less_equal: return x <= threshold;
    case tree_test::less: return x < threshold;
    case tree_test::greater_equal: return x >= threshold;
    case tree_test::greater: return x > threshold;
    case tree_test::equal: return x == threshold;
    case tree_test::not_equal: return !(x == threshold);
    case tree_test::leaf: break;
  }
  return false;
}

/// Returns the leaf that a row of features comes to.
inline tree_node leaf_of(const tree_ensemble_args& a, std::int32_t root, const float* x) {
  std::int32_t at = root;
  for (;;) {
    const tree_node n = node_at(a.nodes, at);
    if (n.test() == tree_test::leaf) return n;
    at = holds(n, x[n.feature * a.input.stride[1]], a.thresholds[at]) ? n.next : n.other;
  }
}

/// The scores of one row, in `y`.
inline void score_row(const tree_ensemble_args& a, const float* x, float* y) {
  constexpr float infinite = std::numeric_limits<float>::infinity();
  const std::ptrdiff_t stride = a.output.stride[1];
  const float start = a.aggregate == tree_aggregate::min   ? infinite
                      : a.aggregate == tree_aggregate::max ? -infinite
                                                           : 0;
  for (std::int32_t t = 0; t < a.output.shape[1]; ++t) y[t * stride] = start;
  for (std::int32_t tree = 0; tree < a.trees; ++tree) {
    const tree_node leaf = leaf_of(a, a.roots[tree], x);
    for (std::int32_t e = leaf.next; e < leaf.other; ++e) {
      float& score = y[a.targets[e] * stride];
      const float weight = a.weights[e];
      if (a.aggregate == tree_aggregate::min)
        score = weight < score ? weight : score;
      else if (a.aggregate == tree_aggregate::max)
        score = weight > score ? weight : score;
      else
        score += weight;
    }
  }
  for (std::int32_t t = 0; t < a.output.shape[1]; ++t) {
    float& score = y[t * stride];
    if (a.aggregate == tree_aggregate::average) score /= static_cast<float>(a.trees);
    if (a.aggregate >= tree_aggregate::min && score == start) score = 0;
    score += a.base[t];
  }
}

}

/// output[row, target] as schema/netsuke.fbs says of TreeEnsemble; any strides. A tile holds whole rows.
template <class = void>
inline void tree_ensemble(const tree_ensemble_args& a, const tile_range& t, std::byte*) {
  for (std::ptrdiff_t row = t.pixel_begin; row < t.pixel_end; ++row)
    impl::score_row(a, a.input.as<float>() + row * a.input.stride[0], a.output.as<float>() + row * a.output.stride[0]);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
