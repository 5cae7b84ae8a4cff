// SPDX-License-Identifier: MIT
// What the verifier proves about overlapping views, against counting bytes one by one.
#include <doctest/doctest.h>
#include <vector>
#include <netsuke/model/impl/region.hpp>

namespace {

struct random_numbers {
  std::uint32_t state = 1;
  int below(int n) {
    state = state * 1664525u + 1013904223u;
    return static_cast<int>((state >> 8) % static_cast<std::uint32_t>(n));
  }
};

/// A view with its offset in bytes.
struct placed_view {
  nsk::tensor_view view;
  std::int64_t offset = 0;
};

/// A slice of a [n, h, w, c] image with border, or of its flattened form.
placed_view random_slice(random_numbers& r, const int (&full)[4]) {
  placed_view p;
  p.view.rank = 4;
  std::ptrdiff_t stride = 1;
  std::int64_t element = 0;
  for (int d = 3; d >= 0; --d) {
    const int begin = r.below(3) != 0 ? 0 : r.below(full[d]);
    p.view.shape[d] = r.below(3) != 0 ? full[d] - begin : 1 + r.below(full[d] - begin);
    p.view.stride[d] = stride;
    element += begin * stride;
    stride *= full[d];
  }
  if (r.below(4) == 0 && p.view.shape[1] > 2 && p.view.shape[2] > 2) {  // part of it is border
    p.view.border = {1, 1, 1, 1};
    p.view.shape[1] -= 2;
    p.view.shape[2] -= 2;
    element += p.view.stride[1] + p.view.stride[2];
  }
  if (r.below(6) == 0) {  // walks backwards
    element += p.view.stride[0] * (p.view.shape[0] - 1);
    p.view.stride[0] = -p.view.stride[0];
  }
  if (r.below(8) == 0) {  // transposed: the same set
    std::swap(p.view.shape[0], p.view.shape[3]);
    std::swap(p.view.stride[0], p.view.stride[3]);
  }
  p.offset = element * 4;
  return p;
}

std::vector<bool> bytes_of(const placed_view& p, std::size_t total) {
  std::vector<bool> covered(total);
  const nsk::tensor_view& v = p.view;
  const auto begin = [&](int d) { return d == 1 ? -int{v.border.top} : d == 2 ? -int{v.border.left} : 0; };
  const auto end = [&](int d) { return v.shape[d] + (d == 1 ? v.border.bottom : d == 2 ? v.border.right : 0); };
  for (int a = begin(0); a < end(0); ++a)
    for (int b = begin(1); b < end(1); ++b)
      for (int c = begin(2); c < end(2); ++c)
        for (int d = begin(3); d < end(3); ++d) {
          const std::int64_t at =
              p.offset + 4 * (a * v.stride[0] + b * v.stride[1] + c * v.stride[2] + d * v.stride[3]);
          for (int i = 0; i < 4; ++i) covered[static_cast<std::size_t>(at + i)] = true;
        }
  return covered;
}

TEST_CASE("region: shared bytes of slices are counted exactly, or not claimed") {
  random_numbers random;
  int proven = 0, total = 0;
  for (int round = 0; round < 4000; ++round) {
    const int full[4] = {1 + random.below(3), 1 + random.below(6), 1 + random.below(6), 1 + random.below(8)};
    const std::size_t bytes = static_cast<std::size_t>(full[0] * full[1] * full[2] * full[3]) * 4;
    const placed_view p = random_slice(random, full), q = random_slice(random, full);
    bool repeats = false;
    const nsk::impl::region a = nsk::impl::region_of(p.view, p.offset, repeats),
                            b = nsk::impl::region_of(q.view, q.offset, repeats);
    const std::vector<bool> in_a = bytes_of(p, bytes), in_b = bytes_of(q, bytes);
    std::int64_t only_a = 0, both = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
      only_a += in_a[i];
      both += in_a[i] && in_b[i];
    }
    CHECK(a.bytes() == only_a);
    CHECK(a.injective());
    const std::int64_t shared = nsk::impl::shared_bytes(a, b);
    if (shared >= 0) CHECK(shared == both);
    proven += shared >= 0;
    ++total;
  }
  CHECK(proven > total * 9 / 10);
}

TEST_CASE("region: reshapes are the same region") {
  nsk::tensor_view image;
  image.rank = 4;
  const int shape[4] = {1, 7, 5, 12};
  std::ptrdiff_t stride = 1;
  for (int d = 3; d >= 0; --d) {
    image.shape[d] = shape[d];
    image.stride[d] = stride;
    stride *= shape[d];
  }
  nsk::tensor_view flat;
  flat.rank = 2;
  flat.shape[0] = 1;
  flat.shape[1] = 420;
  flat.stride[0] = 420;
  flat.stride[1] = 1;
  bool repeats = false;
  CHECK(nsk::impl::shared_bytes(nsk::impl::region_of(image, 64, repeats), nsk::impl::region_of(flat, 64, repeats)) ==
        420 * 4);
}

std::vector<bool> bytes_of(const nsk::impl::region& r, std::size_t total) {
  std::vector<bool> covered(total);
  std::vector<std::int64_t> starts{r.base};
  for (int d = 0; d < r.dims; ++d) {
    std::vector<std::int64_t> next;
    for (const std::int64_t at : starts) {
      for (std::int64_t i = 0; i < r.length[d]; ++i) next.push_back(at + i * r.stride[d]);
    }
    starts = next;
  }
  for (const std::int64_t at : starts) covered[static_cast<std::size_t>(at)] = true;
  return covered;
}

TEST_CASE("region: what stands in for a region whose strides do not nest contains it") {
  random_numbers random;
  for (int round = 0; round < 2000; ++round) {
    placed_view p;
    p.view.rank = 3;
    p.offset = 4 * random.below(5);
    for (int d = 0; d < 3; ++d) {
      p.view.shape[d] = 1 + random.below(5);
      p.view.stride[d] = 1 + random.below(20);
    }
    bool repeats = false;
    const nsk::impl::region exact = nsk::impl::region_of(p.view, p.offset, repeats);
    const auto total = static_cast<std::size_t>(exact.end());
    const nsk::impl::region wide = nsk::impl::nested(exact), widest = nsk::impl::hull(exact);
    CHECK(wide.base == exact.base);
    CHECK(wide.end() == exact.end());
    for (int i = 1; i < wide.dims; ++i) CHECK(wide.stride[i - 1] % wide.stride[i] == 0);
    const std::vector<bool> inside = bytes_of(exact, total), outside = bytes_of(wide, total),
                            all = bytes_of(widest, total);
    bool contained = true;
    for (std::size_t i = 0; i < total; ++i) contained = contained && (!inside[i] || (outside[i] && all[i]));
    CHECK(contained);
  }
}

TEST_CASE("region: views that touch an element twice are found") {
  nsk::tensor_view v;
  v.rank = 2;
  v.shape[0] = 4;
  v.shape[1] = 4;
  v.stride[0] = 3;
  v.stride[1] = 1;
  bool repeats = false;
  CHECK_FALSE(nsk::impl::region_of(v, 0, repeats).injective());
  v.stride[0] = 1;
  CHECK_FALSE(nsk::impl::region_of(v, 0, repeats).injective());
  v.stride[0] = 4;
  CHECK(nsk::impl::region_of(v, 0, repeats).injective());
  CHECK_FALSE(repeats);
  v.stride[0] = 0;
  static_cast<void>(nsk::impl::region_of(v, 0, repeats));
  CHECK(repeats);
}

}
