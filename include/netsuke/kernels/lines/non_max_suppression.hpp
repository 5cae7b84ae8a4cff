// SPDX-License-Identifier: MIT
#pragma once
/// Selection of boxes: the best ones that do not overlap better ones too much.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/core/flags.hpp>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/elements/element_lines.hpp>
#define NSK_REGION_COMPACT
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {

/// Boxes that are kept: kernels/lines/non_max_suppression.hpp.
struct non_max_suppression_args : non_max_suppression_params {
  tensor_view boxes, scores, output;
  std::uint32_t* flags;
};

namespace impl {

/// Corners of a box.
struct corners {
  float top, left, bottom, right;
};

inline corners corners_of(const non_max_suppression_args& a, std::ptrdiff_t image, std::ptrdiff_t box) {
  const std::ptrdiff_t at = image * a.boxes.stride[0] + box * a.boxes.stride[1], stride = a.boxes.stride[2];
  float v[4];
  for (int i = 0; i < 4; ++i) v[i] = element<float>(a.boxes.data, at + i * stride);
  if (a.center_point_box) {
    const float half_width = v[2] * 0.5f, half_height = v[3] * 0.5f;
    return {v[1] - half_height, v[0] - half_width, v[1] + half_height, v[0] + half_width};
  }
  return {v[0] < v[2] ? v[0] : v[2], v[1] < v[3] ? v[1] : v[3], v[0] < v[2] ? v[2] : v[0], v[1] < v[3] ? v[3] : v[1]};
}

/// Whether the intersection is more than `threshold` of the union. Computed in double precision, where products of
/// floats are exact.
inline bool overlaps(const corners& p, const corners& q, float threshold) {
  const double height = static_cast<double>(p.bottom < q.bottom ? p.bottom : q.bottom) -
                        static_cast<double>(p.top > q.top ? p.top : q.top),
               width = static_cast<double>(p.right < q.right ? p.right : q.right) -
                       static_cast<double>(p.left > q.left ? p.left : q.left);
  if (!(height > 0) || !(width > 0)) return false;
  const auto area = [](const corners& c) {
    return (static_cast<double>(c.bottom) - static_cast<double>(c.top)) *
           (static_cast<double>(c.right) - static_cast<double>(c.left));
  };
  const double common = height * width, all = area(p) + area(q) - common;
  return all > 0 && common / all > static_cast<double>(threshold);
}

/// Candidates of one class as a heap, best at the root; kept boxes are remembered from the other end of the same
/// numbers.
class suppression {
 public:
  suppression(const non_max_suppression_args& a, std::ptrdiff_t image, std::ptrdiff_t category, std::int32_t* scratch)
      : m_a(a), m_image(image), m_heap(scratch), m_kept(scratch + a.boxes.shape[1]) {
    m_scores = image * a.scores.stride[0] + category * a.scores.stride[1];
    for (std::int32_t i = 0; i < a.boxes.shape[1]; ++i) {
      if (!(score(i) > a.score_threshold)) continue;
      m_heap[m_size] = i;
      rise(m_size++);
    }
  }
  /// Returns the next box that is kept, -1 when there is none.
  std::int32_t next() {
    while (m_size > 0) {
      const std::int32_t box = m_heap[0];
      m_heap[0] = m_heap[--m_size];
      sink();
      const corners c = corners_of(m_a, m_image, box);
      bool free = true;
      for (std::int32_t k = 0; k < m_count && free; ++k)
        free = !overlaps(c, corners_of(m_a, m_image, m_kept[k]), m_a.iou_threshold);
      if (!free) continue;
      m_kept[m_count++] = box;
      return box;
    }
    return -1;
  }

 private:
  float score(std::int32_t box) const { return element<float>(m_a.scores.data, m_scores + box * m_a.scores.stride[2]); }
  bool better(std::int32_t p, std::int32_t q) const {
    const float x = score(p), y = score(q);
    return x > y || (x == y && p < q);
  }
  void swap(std::int32_t i, std::int32_t j) {
    const std::int32_t first = m_heap[i];
    m_heap[i] = m_heap[j];
    m_heap[j] = first;
  }
  void rise(std::int32_t i) {
    for (; i > 0 && better(m_heap[i], m_heap[(i - 1) / 2]); i = (i - 1) / 2) swap(i, (i - 1) / 2);
  }
  void sink() {
    for (std::int32_t parent = 0;;) {
      std::int32_t child = 2 * parent + 1;
      if (child >= m_size) return;
      if (child + 1 < m_size && better(m_heap[child + 1], m_heap[child])) ++child;
      if (!better(m_heap[child], m_heap[parent])) return;
      swap(parent, child);
      parent = child;
    }
  }

  const non_max_suppression_args& m_a;
  std::ptrdiff_t m_image;
  std::ptrdiff_t m_scores = 0;
  std::int32_t *m_heap, *m_kept;
  std::int32_t m_size = 0, m_count = 0;
};

}

/// output (int64) [maximum, 3] = image, class and box of what is kept, class by class, best score first; the remaining
/// rows are -1. boxes [images, boxes, 4] and scores [images, classes, boxes], float32, any strides. One tile; scratch
/// as non_max_suppression_scratch_bytes says.
template <class = void>
inline void non_max_suppression(const non_max_suppression_args& a, const tile_range&, std::byte* scratch) {
  const std::int64_t maximum = a.output.shape[0];
  std::ptrdiff_t row = 0;
  const auto write = [&](std::int64_t image, std::int64_t category, std::int64_t box) {
    const std::int64_t values[3] = {image, category, box};
    for (int i = 0; i < 3; ++i)
      impl::put_element(a.output.data, row * a.output.stride[0] + i * a.output.stride[1], values[i]);
    ++row;
  };
  for (std::int32_t image = 0; image < a.scores.shape[0]; ++image)
    for (std::int32_t category = 0; category < a.scores.shape[1]; ++category) {
      impl::suppression s(a, image, category, reinterpret_cast<std::int32_t*>(scratch));
      for (std::uint32_t n = 0; n < a.most_per_class; ++n) {
        const std::int32_t box = s.next();
        if (box < 0) break;
        if (row == maximum) return raise(a.flags, output_truncated);
        write(image, category, box);
      }
    }
  while (row < maximum) write(-1, -1, -1);
}

}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
