// SPDX-License-Identifier: MIT
// Decision trees: every test, NaN, every way to take leaves together, against trees that are walked as objects.
#include <netsuke/kernels/dense/tree_ensemble.hpp>
#include <limits>
#include <map>
#include <memory>
#include "tail_fixture.hpp"

namespace {

/// A random tree as objects.
struct branch {
  int feature = 0, test = 0;  // 0: a leaf
  bool nan_holds = false;
  float threshold = 0;
  std::vector<std::pair<int, float>> entries;
  std::unique_ptr<branch> yes, no;
};

std::unique_ptr<branch> grow(tail::random& r, int depth, int features, int targets) {
  auto b = std::make_unique<branch>();
  if (depth == 0 || r.below(5) == 0) {
    for (int i = r.below(3); i >= 0; --i) {
      const int target = r.below(targets);
      b->entries.emplace_back(target, r.real(2));
    }
    return b;
  }
  b->feature = r.below(features);
  b->test = 1 + r.below(6);
  b->nan_holds = r.coin();
  b->threshold = static_cast<float>(r.between(-3, 3)) / 2;
  b->yes = grow(r, depth - 1, features, targets);
  b->no = grow(r, depth - 1, features, targets);
  return b;
}

struct ensemble {
  std::vector<std::unique_ptr<branch>> trees;
  std::vector<std::int32_t> roots, nodes, targets;
  std::vector<float> thresholds, weights, base;

  int flatten(const branch& b) {
    const std::size_t at = thresholds.size();
    thresholds.push_back(b.threshold);
    nodes.resize(nodes.size() + 4);
    std::int32_t next, other;
    if (b.test == 0) {
      next = static_cast<std::int32_t>(targets.size());
      for (const auto& [target, weight] : b.entries) targets.push_back(target), weights.push_back(weight);
      other = static_cast<std::int32_t>(targets.size());
    } else {
      next = flatten(*b.yes);
      other = flatten(*b.no);
    }
    const std::int32_t node[] = {b.feature, b.test + (b.test != 0 && b.nan_holds ? 8 : 0), next, other};
    std::copy(node, node + 4, nodes.begin() + static_cast<std::ptrdiff_t>(4 * at));
    return static_cast<int>(at);
  }
};

bool goes_on(const branch& b, float x) {
  if (std::isnan(x)) return b.nan_holds || b.test == 6;
  const float t = b.threshold;
  const bool answers[] = {false, x <= t, x<t, x >= t, x> t, x == t, x != t};
  return answers[b.test];
}

double wanted(const ensemble& f, const std::vector<float>& x, int target, nsk::tree_aggregate how) {
  std::vector<double> scores;
  for (const auto& tree : f.trees) {
    const branch* b = tree.get();
    while (b->test != 0) b = goes_on(*b, x[static_cast<std::size_t>(b->feature)]) ? b->yes.get() : b->no.get();
    for (const auto& [t, w] : b->entries)
      if (t == target) scores.push_back(static_cast<double>(w));
  }
  double sum = 0;
  for (const double s : scores) sum += s;
  if (how == nsk::tree_aggregate::average) sum /= static_cast<double>(f.trees.size());
  if (how == nsk::tree_aggregate::min) sum = scores.empty() ? 0 : *std::min_element(scores.begin(), scores.end());
  if (how == nsk::tree_aggregate::max) sum = scores.empty() ? 0 : *std::max_element(scores.begin(), scores.end());
  return sum + static_cast<double>(f.base[static_cast<std::size_t>(target)]);
}

}

TEST_CASE("tree_ensemble: every test and aggregate, NaN, layouts, tiles") {
  tail::random r(51);
  tail::digest hash;
  for (int round = 0; round < 24; ++round) {
    const int rows = r.between(1, 9), features = r.between(1, 6), targets = r.between(1, 4);
    ensemble f;
    for (int i = r.between(1, 12); i > 0; --i) {
      f.trees.push_back(grow(r, r.between(0, 6), features, targets));
      f.roots.push_back(f.flatten(*f.trees.back()));
    }
    for (int t = 0; t < targets; ++t) f.base.push_back(r.real());
    const auto how = static_cast<nsk::tree_aggregate>(round % 4);
    tail::tensor in({rows, features}, tail::random_layout(r, 2, false)),
        out({rows, targets}, tail::random_layout(r, 2, false));
    oracle::for_each_index({rows, features}, [&](const std::vector<int>& i) {
      in.at<float>(i) =
          r.below(8) == 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(r.between(-4, 4)) / 2;
    });
    const nsk::kernels::tree_ensemble_args a{{how},
                                             in.view(),
                                             out.view(),
                                             f.roots.data(),
                                             f.nodes.data(),
                                             f.thresholds.data(),
                                             f.targets.data(),
                                             f.weights.data(),
                                             f.base.data(),
                                             static_cast<std::int32_t>(f.roots.size())};
    tail::run_checked(
        r, out, [&](const nsk::tile_range& t) { nsk::kernels::tree_ensemble(a, t, nullptr); }, 1, 1, targets);
    oracle::array want({rows, targets});
    oracle::for_each_index({rows, targets}, [&](const std::vector<int>& i) {
      std::vector<float> x;
      for (int k = 0; k < features; ++k) x.push_back(in.at<float>({i[0], k}));
      want(i) = wanted(f, x, i[1], how);
    });
    tail::check_close(out, want, 16, 2);
    hash.add(out);
  }
  CHECK(hash.value() == 17851767290621143396u);
}
