// SPDX-License-Identifier: MIT
/// NonMaxSuppression: the boxes that stay.
#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/operators.hpp"

namespace nsk::tool::reference {
namespace {

using i64 = std::int64_t;

struct box {
  double y0, x0, y1, x1;
};

box read_box(const call& c, i64 image, i64 i) {
  const double* b = c.floats(0) + (image * c.shape(0)[1] + i) * 4;
  if (c.op().integer("center_point_box", 0) != 0)
    return {b[1] - b[3] / 2, b[0] - b[2] / 2, b[1] + b[3] / 2, b[0] + b[2] / 2};
  return {std::min(b[0], b[2]), std::min(b[1], b[3]), std::max(b[0], b[2]), std::max(b[1], b[3])};
}

double intersection_over_union(const box& a, const box& b) {
  const double height = std::min(a.y1, b.y1) - std::max(a.y0, b.y0),
               width = std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
  if (height <= 0 || width <= 0) return 0;
  const double common = height * width, all = (a.y1 - a.y0) * (a.x1 - a.x0) + (b.y1 - b.y0) * (b.x1 - b.x0) - common;
  return all > 0 ? common / all : 0;
}

/// Returns triples [image, class, box], best score first within each class of each image.
std::vector<i64> suppress(const call& c) {
  const i64 images = c.shape(1)[0], classes = c.shape(1)[1], boxes = c.shape(1)[2];
  const i64 maximum = c.has(2) ? c.integer_scalar(2) : 0;
  const double overlap = c.has(3) ? c.scalar(3) : 0;
  const double minimum = c.has(4) ? c.scalar(4) : -std::numeric_limits<double>::infinity();
  std::vector<i64> selected;
  for (i64 image = 0; image < images; ++image) {
    for (i64 k = 0; k < classes; ++k) {
      const double* score = c.floats(1) + (image * classes + k) * boxes;
      std::vector<i64> order;
      for (i64 i = 0; i < boxes; ++i)
        if (score[i] > minimum) order.push_back(i);
      std::stable_sort(order.begin(), order.end(), [&](i64 a, i64 b) { return score[a] > score[b]; });
      std::vector<box> kept;
      for (i64 i : order) {
        if (static_cast<i64>(kept.size()) >= maximum) break;
        const box b = read_box(c, image, i);
        if (std::any_of(kept.begin(), kept.end(),
                        [&](const box& other) { return intersection_over_union(b, other) > overlap; }))
          continue;
        kept.push_back(b);
        selected.insert(selected.end(), {image, k, i});
      }
    }
  }
  return selected;
}

double work_of_suppression(call& c) {
  const double boxes = as_work(c.shape(1)[2]), kept = c.has(2) ? std::clamp(c.scalar(2), 0.0, boxes) : 0;
  return 8 * as_work(c.shape(1)[0]) * as_work(c.shape(1)[1]) * boxes * (std::log2(boxes + 2) + kept);
}

void infer_suppression(call& c) {
  c.require_inputs(2, 5);
  c.require(is_float(c.type(0)) && is_float(c.type(1)), "boxes and scores must be floats");
  c.require_rank(0, 3, 3);
  c.require_rank(1, 3, 3);
  c.require(c.shape(0)[0] == c.shape(1)[0] && c.shape(0)[1] == c.shape(1)[2] && c.shape(0)[2] == 4,
            "boxes must be [images, boxes, 4] and scores [images, classes, boxes]");
  if (c.op().has(padded_rows)) return c.declare(0, element::i64, {c.op().integer(padded_rows, 0), 3});
  const bool bounded = c.op().has(suppression_bound);
  if (bounded && !knows_all(c)) return c.declare(0, element::i64, {c.op().integer(suppression_bound, 0), 3});
  c.data(0);
  c.data(1);
  c.require(bounded || work_of_suppression(c) < 1 << 28,
            "there are too many boxes for a result that must be known at conversion");
  c.declare(0, element::i64, {static_cast<i64>(suppress(c).size() / 3), 3});
}

/// Rows that nothing is kept for are -1.
void evaluate_suppression(call& c) {
  const std::vector<i64> selected = suppress(c);
  const auto capacity = static_cast<std::size_t>(c.out(0).count());
  std::fill_n(c.out_integers(), capacity, -1);
  std::copy_n(selected.begin(), std::min(capacity, selected.size()), c.out_integers());
}

}

void add_suppression(table& t) {
  t["NonMaxSuppression"] = {infer_suppression, evaluate_suppression, 10, work_of_suppression};
}

}
