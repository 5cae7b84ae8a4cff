// SPDX-License-Identifier: MIT
// Operators that compute or follow indices: every axis, every layout, ties, NaN, indices outside, boxes by brute force.
#include <cmath>
#include <limits>
#include <netsuke/kernels/lines/arg_reduce.hpp>
#include <netsuke/kernels/elements/gather.hpp>
#include <netsuke/kernels/lines/non_max_suppression.hpp>
#include <netsuke/format/scratch.hpp>
#include <netsuke/kernels/lines/top_k.hpp>
#include "tail_fixture.hpp"

namespace {
using nsk::dtype;

/// Few different values, so that many are equal.
void fill_coarsely(tail::random& r, tail::tensor& t) {
  oracle::for_each_index(t.shape(),
                         [&](const std::vector<int>& i) { t.at<float>(i) = static_cast<float>(r.below(7)) - 3; });
}
void sprinkle_nan(tail::random& r, tail::tensor& t) {
  oracle::for_each_index(t.shape(), [&](const std::vector<int>& i) {
    if (r.below(3) == 0) t.at<float>(i) = std::numeric_limits<float>::quiet_NaN();
  });
}
bool below(float x, float y) { return std::isnan(y) ? !std::isnan(x) : x < y; }
std::vector<int> with(std::vector<int> index, int axis, int value) {
  index[static_cast<std::size_t>(axis)] = value;
  return index;
}
const std::vector<std::vector<int>> index_shapes = {{9}, {5, 6}, {4, 3, 8}, {2, 3, 4, 5}, {2, 1, 3, 2, 4}};

}  // namespace

TEST_CASE("gather: every axis; indices from the end, and outside") {
  tail::random r(11);
  for (const std::vector<int>& shape : index_shapes)
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis)
      for (const dtype index_type : {dtype::int32, dtype::int64}) {
        const int length = shape[static_cast<std::size_t>(axis)], count = 7;
        tail::tensor data(shape, tail::typed_layout(r, shape.size(), dtype::float32)),
            out(with(shape, axis, count), tail::typed_layout(r, shape.size(), dtype::float32)),
            indices({count}, tail::typed_layout(r, 1, index_type));
        data.fill_random(r, 5);
        const bool outside = r.coin();
        std::vector<int> at;
        for (int i = 0; i < count; ++i) {
          const int index = i == 3 && outside ? (r.coin() ? length : -length - 1) : r.between(-length, length - 1);
          if (index_type == dtype::int32)
            indices.at<std::int32_t>({i}) = index;
          else
            indices.at<std::int64_t>({i}) = index;
          at.push_back(index >= length ? length - 1 : index < -length ? 0 : index < 0 ? index + length : index);
        }
        std::uint32_t flags = 0;
        tail::run_checked(r, out, [&](const nsk::tile_range& t) {
          nsk::kernels::gather({{axis}, data.view(), indices.view(), out.view(), &flags}, t, nullptr);
        });
        CHECK(flags == (outside ? nsk::index_clamped : 0u));
        oracle::for_each_index(out.shape(), [&](const std::vector<int>& i) {
          CHECK(out.at<float>(i) ==
                data.at<float>(with(i, axis, at[static_cast<std::size_t>(i[static_cast<std::size_t>(axis)])])));
        });
      }
}

TEST_CASE("gather_elements: every axis, indices shorter than the data") {
  tail::random r(12);
  for (const std::vector<int>& shape : index_shapes)
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
      std::vector<int> size = shape;
      for (int& d : size) d = r.between(1, d);
      size[static_cast<std::size_t>(axis)] = 6;
      const int length = shape[static_cast<std::size_t>(axis)];
      tail::tensor data(shape, tail::typed_layout(r, shape.size(), dtype::float32)),
          out(size, tail::typed_layout(r, size.size(), dtype::float32)),
          indices(size, tail::typed_layout(r, size.size(), dtype::int64));
      data.fill_random(r, 5);
      oracle::for_each_index(
          size, [&](const std::vector<int>& i) { indices.at<std::int64_t>(i) = r.between(-length, length - 1); });
      std::uint32_t flags = 0;
      nsk::kernels::gather_elements_args a{{{axis}, data.view(), indices.view(), out.view(), &flags}};
      tail::run_checked(r, out, [&](const nsk::tile_range& t) { nsk::kernels::gather_elements(a, t, nullptr); });
      CHECK(flags == 0);
      oracle::for_each_index(size, [&](const std::vector<int>& i) {
        const auto index = static_cast<int>(indices.at<std::int64_t>(i));
        CHECK(out.at<float>(i) == data.at<float>(with(i, axis, index < 0 ? index + length : index)));
      });
    }
}

TEST_CASE("arg_reduce: first and last of equal ones") {
  tail::random r(13);
  for (const std::vector<int>& shape : index_shapes)
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis)
      for (const auto kind : {nsk::arg_reduce_kind::max, nsk::arg_reduce_kind::min})
        for (const bool last : {false, true}) {
          tail::tensor in(shape, tail::typed_layout(r, shape.size(), dtype::float32)),
              out(with(shape, axis, 1), tail::typed_layout(r, shape.size(), dtype::int64));
          fill_coarsely(r, in);
          tail::run_checked(r, out, [&](const nsk::tile_range& t) {
            nsk::kernels::arg_reduce({{axis, kind, last}, in.view(), out.view()}, t, nullptr);
          });
          oracle::for_each_index(out.shape(), [&](const std::vector<int>& i) {
            int want = 0;
            for (int k = 1; k < shape[static_cast<std::size_t>(axis)]; ++k) {
              const float x = in.at<float>(with(i, axis, k)), y = in.at<float>(with(i, axis, want));
              const bool better = kind == nsk::arg_reduce_kind::max ? x > y : x < y;
              if (better || (last && x == y)) want = k;
            }
            CHECK(out.at<std::int64_t>(i) == want);
          });
        }
}

TEST_CASE("top_k: order, ties, NaN above all numbers, and every k") {
  tail::random r(14);
  for (const std::vector<int>& shape : index_shapes)
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis)
      for (const bool smallest : {false, true}) {
        const int length = shape[static_cast<std::size_t>(axis)], k = r.between(1, length),
                  rank = static_cast<int>(shape.size());
        tail::tensor in(shape, tail::typed_layout(r, shape.size(), dtype::float32)),
            out(with(shape, axis, k), tail::typed_layout(r, shape.size(), dtype::int64));
        fill_coarsely(r, in);
        if (r.coin()) sprinkle_nan(r, in);
        int row_unit = 1;
        for (int d = axis; d < rank - 2; ++d) row_unit *= out.shape()[static_cast<std::size_t>(d)];
        tail::run_checked(
            r, out,
            [&](const nsk::tile_range& t) {
              nsk::kernels::top_k({{axis, smallest}, in.view(), out.view()}, t, nullptr);
            },
            axis < rank - 2 ? 1 << 20 : row_unit, axis == rank - 2 ? k : 1, axis == rank - 1 ? k : 1);
        oracle::for_each_index(with(shape, axis, 1), [&](const std::vector<int>& i) {
          std::vector<int> order;
          for (int n = 0; n < length; ++n) order.push_back(n);
          std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
            const float x = in.at<float>(with(i, axis, a)), y = in.at<float>(with(i, axis, b));
            return smallest ? below(x, y) : below(y, x);
          });
          for (int n = 0; n < k; ++n)
            CHECK(out.at<std::int64_t>(with(i, axis, n)) == order[static_cast<std::size_t>(n)]);
        });
      }
}

TEST_CASE("non_max_suppression: against brute force; truncated and padded outputs") {
  tail::random r(15);
  for (int round = 0; round < 60; ++round) {
    const int images = r.between(1, 2), classes = r.between(1, 3), boxes = r.between(1, 30), rows = r.between(1, 40);
    const bool centred = r.coin();
    tail::tensor box({images, boxes, 4}, tail::typed_layout(r, 3, dtype::float32)),
        score({images, classes, boxes}, tail::typed_layout(r, 3, dtype::float32)),
        out({rows, 3}, tail::typed_layout(r, 2, dtype::int64));
    box.fill_random(r, 2);
    fill_coarsely(r, score);
    const float iou = 0.2f, minimum = -1;
    const int maximum = r.between(1, 12);
    struct rectangle {
      double y0, x0, y1, x1;
    };
    const auto at = [&](int image, int i) {
      double v[4];
      for (int k = 0; k < 4; ++k) v[k] = static_cast<double>(box.at<float>({image, i, k}));
      if (centred) return rectangle{v[1] - v[3] / 2, v[0] - v[2] / 2, v[1] + v[3] / 2, v[0] + v[2] / 2};
      return rectangle{std::min(v[0], v[2]), std::min(v[1], v[3]), std::max(v[0], v[2]), std::max(v[1], v[3])};
    };
    const auto overlap = [](const rectangle& a, const rectangle& b) {
      const double h = std::min(a.y1, b.y1) - std::max(a.y0, b.y0), w = std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
      if (h <= 0 || w <= 0) return 0.0;
      return h * w / ((a.y1 - a.y0) * (a.x1 - a.x0) + (b.y1 - b.y0) * (b.x1 - b.x0) - h * w);
    };
    std::vector<std::int64_t> want;
    for (int image = 0; image < images; ++image)
      for (int c = 0; c < classes; ++c) {
        std::vector<int> order, kept;
        for (int i = 0; i < boxes; ++i)
          if (score.at<float>({image, c, i}) > minimum) order.push_back(i);
        std::stable_sort(order.begin(), order.end(), [&](int p, int q) {
          return score.at<float>({image, c, p}) > score.at<float>({image, c, q});
        });
        for (int i : order) {
          if (static_cast<int>(kept.size()) == maximum) break;
          const bool free = std::all_of(kept.begin(), kept.end(), [&](int k) {
            return overlap(at(image, i), at(image, k)) <= static_cast<double>(iou);
          });
          if (!free) continue;
          kept.push_back(i);
          want.insert(want.end(), {image, c, i});
        }
      }
    std::vector<std::byte> scratch(static_cast<std::size_t>(nsk::kernels::non_max_suppression_scratch_bytes(boxes)) +
                                   64);
    std::byte* aligned = scratch.data() + (64 - reinterpret_cast<std::uintptr_t>(scratch.data()) % 64) % 64;
    std::uint32_t flags = 0;
    nsk::kernels::non_max_suppression(
        {{static_cast<std::uint32_t>(maximum), iou, minimum, centred}, box.view(), score.view(), out.view(), &flags},
        tail::whole(out.view()), aligned);
    const bool truncated = static_cast<int>(want.size()) > 3 * rows;
    CHECK(flags == (truncated ? nsk::output_truncated : 0u));
    want.resize(static_cast<std::size_t>(3 * rows), -1);
    for (int row = 0; row < rows; ++row)
      for (int k = 0; k < 3; ++k) CHECK(out.at<std::int64_t>({row, k}) == want[static_cast<std::size_t>(3 * row + k)]);
  }
}
