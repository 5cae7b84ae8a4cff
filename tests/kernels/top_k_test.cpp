// SPDX-License-Identifier: MIT
// TopK of whole lines: sorted with their positions, against std::stable_sort.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <netsuke/kernels/lines/top_k.hpp>
#include "tail_fixture.hpp"

namespace {
using nsk::dtype;

tail::layout layout_of(dtype type) {
  tail::layout l;
  l.type = type;
  return l;
}
/// Few values, so that many are equal, and those that no order has.
float any_float(tail::random& r) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const float special[] = {std::nanf(""), -std::nanf(""), infinity, -infinity, 0.0f, -0.0f};
  return r.below(4) == 0 ? special[r.below(6)] : static_cast<float>(r.below(9) - 4) * 0.75f;
}
std::int32_t any_integer(tail::random& r) {
  if (r.below(4) == 0)
    return r.coin() ? std::numeric_limits<std::int32_t>::min() : std::numeric_limits<std::int32_t>::max();
  return r.below(9) - 4;
}

template <class T>
void check_sorted(tail::tensor& in, int length) {
  tail::tensor out({length}, layout_of(dtype::int64));
  for (const bool smallest : {false, true}) {
    nsk::kernels::top_k({{0, smallest}, in.view(), out.view()}, tail::whole(out.view()), nullptr);
    std::vector<int> want(static_cast<std::size_t>(length));
    std::iota(want.begin(), want.end(), 0);
    std::stable_sort(want.begin(), want.end(), [&](int i, int j) {
      const T x = in.at<T>({smallest ? i : j}), y = in.at<T>({smallest ? j : i});
      return x < y || (x == x && y != y);
    });
    bool equal = true;
    for (int i = 0; i < length; ++i) equal = equal && out.at<std::int64_t>({i}) == want[static_cast<std::size_t>(i)];
    CHECK_MESSAGE(equal, length << " elements");
  }
}

}  // namespace

TEST_CASE("top_k: whole lines in order, with equal elements, NaN, and orders that split badly") {
  tail::random r(79);
  for (const int length : {1, 2, 24, 25, 26, 300, 5000})
    for (int order = 0; order < 5; ++order) {
      tail::tensor floats({length}, layout_of(dtype::float32)), integers({length}, layout_of(dtype::int32));
      for (int i = 0; i < length; ++i) {
        const int organ_pipe = i < length / 2 ? i : length - i;
        floats.at<float>({i}) = order == 0   ? any_float(r)
                                : order == 1 ? r.real(9.0f)
                                : order == 2 ? static_cast<float>(i)
                                : order == 3 ? static_cast<float>(-i)
                                             : static_cast<float>(organ_pipe);
        integers.at<std::int32_t>({i}) = order == 0 ? any_integer(r) : order == 1 ? 5 : organ_pipe - 100;
      }
      check_sorted<float>(floats, length);
      check_sorted<std::int32_t>(integers, length);
    }
}

TEST_CASE("sort_words: a heap has the same order") {
  tail::random r(80);
  std::vector<std::uint64_t> words(777), sorted;
  for (std::uint64_t& w : words) w = static_cast<std::uint64_t>(r.bits()) << 32 | r.bits();
  sorted = words;
  nsk::kernels::impl::sort_by_heap(words.data(), 777);
  nsk::kernels::impl::sort_words(sorted.data(), 777);
  CHECK(words == sorted);
  CHECK(std::is_sorted(words.begin(), words.end()));
}
