// SPDX-License-Identifier: MIT
// scatter: every axis, kind, type and layout; several updates of one element, positions from the end and outside, in
// place, tiles of whole lines; against the loop that the operator's definition is.
#include <limits>
#include <netsuke/kernels/elements/scatter.hpp>
#include "tail_fixture.hpp"

namespace {
using nsk::dtype;
using nsk::scatter_kind;

constexpr scatter_kind scatter_kinds[] = {scatter_kind::replace, scatter_kind::add, scatter_kind::mul,
                                          scatter_kind::max, scatter_kind::min};
const std::vector<std::vector<int>> scatter_shapes = {
    {9}, {5, 6}, {33, 20}, {4, 3, 8}, {2, 3, 4, 5}, {2, 1, 3, 2, 4}, {2, 3, 2, 3, 2, 4}, {600}, {2, 300}, {300, 4}};

template <class T>
T combined(scatter_kind kind, T there, T update) {
  switch (kind) {
    case scatter_kind::replace: return update;
    case scatter_kind::add: return static_cast<T>(there + update);
    case scatter_kind::mul: return static_cast<T>(there * update);
    case scatter_kind::max: return there > update ? there : update;
    case scatter_kind::min: return there < update ? there : update;
  }
  return there;
}

template <class T>
std::vector<T> values_of(tail::tensor& t) {
  std::vector<T> v;
  oracle::for_each_index(t.shape(), [&](const std::vector<int>& i) { v.push_back(t.at<T>(i)); });
  return v;
}
/// Small whole numbers: sums and products of a few are exact in floats.
template <class T>
void fill_small(tail::random& r, tail::tensor& t) {
  oracle::for_each_index(t.shape(), [&](const std::vector<int>& i) {
    t.at<T>(i) = static_cast<T>(std::is_unsigned_v<T> ? r.below(5) : r.below(7) - 3);
  });
}

struct scattered {
  std::vector<int> shape, updates;
  int axis, row_unit, pixel_unit, channel_unit;
};
scattered random_case(tail::random& r, const std::vector<int>& shape, int axis) {
  const auto a = static_cast<std::size_t>(axis);
  const int rank = static_cast<int>(shape.size());
  scattered s{shape, shape, axis, 1, 1, 1};
  s.updates[a] = r.between(1, shape[a] + 4);
  if (axis < rank - 2) s.row_unit = 1 << 20;
  if (axis == rank - 2) s.pixel_unit = shape[a];
  if (axis == rank - 1) s.channel_unit = shape[a];
  return s;
}

template <class T, class Index>
void check_one(tail::random& r, const scattered& s, scatter_kind kind, dtype type, dtype index_type) {
  tail::tensor data(s.shape, tail::typed_layout(r, s.shape.size(), type)),
      out(s.shape, tail::typed_layout(r, s.shape.size(), type)),
      updates(s.updates, tail::typed_layout(r, s.shape.size(), type)),
      indices(s.updates, tail::typed_layout(r, s.shape.size(), index_type));
  fill_small<T>(r, data);
  fill_small<T>(r, updates);
  const auto a = static_cast<std::size_t>(s.axis);
  const int length = s.shape[a];
  const bool outside = r.below(3) == 0;
  bool clamped = false;
  oracle::array want(s.shape);
  oracle::for_each_index(s.shape, [&](const std::vector<int>& i) { want(i) = static_cast<double>(data.at<T>(i)); });
  oracle::for_each_index(s.updates, [&](const std::vector<int>& i) {
    const int index = outside && r.below(4) == 0 ? (r.coin() ? length : -length - 1) : r.between(-length, length - 1);
    indices.at<Index>(i) = static_cast<Index>(index);
    clamped = clamped || index >= length || index < -length;
    std::vector<int> to = i;
    to[a] = index >= length ? length - 1 : index < -length ? 0 : index < 0 ? index + length : index;
    want(to) = static_cast<double>(combined<T>(kind, static_cast<T>(want(to)), updates.at<T>(i)));
  });
  std::uint32_t flags = 0;
  tail::run_checked(
      r, out,
      [&](const nsk::tile_range& t) {
        nsk::kernels::scatter({{s.axis, kind}, data.view(), indices.view(), updates.view(), out.view(), &flags}, t,
                              nullptr);
      },
      s.row_unit, s.pixel_unit, s.channel_unit);
  CHECK(flags == (clamped ? nsk::index_clamped : 0u));
  bool equal = true;
  oracle::for_each_index(s.shape,
                         [&](const std::vector<int>& i) { equal = equal && out.at<T>(i) == static_cast<T>(want(i)); });
  CHECK_MESSAGE(equal, "kind " << static_cast<int>(kind) << ", axis " << s.axis);
  const std::vector<T> apart = values_of<T>(out);
  flags = 0;
  nsk::kernels::scatter({{s.axis, kind}, data.view(), indices.view(), updates.view(), data.view(), &flags},
                        tail::whole(data.view()), nullptr);
  CHECK_MESSAGE(values_of<T>(data) == apart, "in place");
}

}  // namespace

TEST_CASE("scatter: every axis, kind and type; repeated positions, from the end and outside; in place") {
  tail::random r(16);
  for (const std::vector<int>& shape : scatter_shapes)
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis)
      for (const scatter_kind kind : scatter_kinds) {
        const scattered s = random_case(r, shape, axis);
        check_one<float, std::int64_t>(r, s, kind, dtype::float32, dtype::int64);
        check_one<std::int64_t, std::int32_t>(r, s, kind, dtype::int64, dtype::int32);
        check_one<std::int32_t, std::int64_t>(r, s, kind, dtype::int32, dtype::int64);
        check_one<std::int16_t, std::int32_t>(r, s, kind, dtype::int16, dtype::int32);
        check_one<std::int8_t, std::int64_t>(r, s, kind, dtype::int8, dtype::int64);
        check_one<std::uint8_t, std::int64_t>(r, s, kind, dtype::uint8, dtype::int64);
      }
}

TEST_CASE("scatter: rows by one index each, repeated by strides; sums in the order of updates") {
  tail::random r(17);
  for (const int width : {1, 5, 40}) {
    tail::tensor data({6, width}, {}), out({6, width}, {}), updates({50, width}, {});
    tail::tensor index({50}, tail::typed_layout(r, 1, dtype::int64));
    data.fill_random(r, 1);
    updates.fill_random(r, 1000);
    std::vector<float> want(static_cast<std::size_t>(6 * width));
    for (int i = 0; i < 6; ++i)
      for (int k = 0; k < width; ++k) want[static_cast<std::size_t>(i * width + k)] = data.at<float>({i, k});
    for (int u = 0; u < 50; ++u) {
      const int row = r.below(6);
      index.at<std::int64_t>({u}) = row;
      for (int k = 0; k < width; ++k) want[static_cast<std::size_t>(row * width + k)] += updates.at<float>({u, k});
    }
    nsk::tensor_view wide = index.view();
    wide.rank = 2;
    wide.shape[1] = width;
    wide.stride[1] = 0;
    std::uint32_t flags = 0;
    tail::run_checked(
        r, out,
        [&](const nsk::tile_range& t) {
          nsk::kernels::scatter({{0, scatter_kind::add}, data.view(), wide, updates.view(), out.view(), &flags}, t,
                                nullptr);
        },
        1, 6, 1);
    CHECK(values_of<float>(out) == want);
  }
}
