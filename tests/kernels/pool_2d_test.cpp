// SPDX-License-Identifier: MIT
// pool_2d: windows, strides, dilations, paddings on all sides, counting of padding, channel counts around vector
// widths, tiles.
#include <netsuke/kernels/images/pool_2d.hpp>
#include "tail_fixture.hpp"

namespace {

struct setup {
  int n, h, w, c;
  nsk::window window;
  int end_h, end_w;
};

void check(tail::random& r, const setup& s, nsk::pool_kind kind, bool count_pad, tail::digest& hash) {
  const auto size = [](int length, int k, int stride, int dilation, int before, int after) {
    return (length + before + after - (k - 1) * dilation - 1) / stride + 1;
  };
  const int oh = size(s.h, s.window.kernel_h, s.window.stride_h, s.window.dilation_h, s.window.pad_top, s.end_h);
  const int ow = size(s.w, s.window.kernel_w, s.window.stride_w, s.window.dilation_w, s.window.pad_left, s.end_w);
  if (oh < 1 || ow < 1 || s.h + s.window.pad_top + s.end_h < (s.window.kernel_h - 1) * s.window.dilation_h + 1 ||
      s.w + s.window.pad_left + s.end_w < (s.window.kernel_w - 1) * s.window.dilation_w + 1)
    return;
  tail::tensor in({s.n, s.h, s.w, s.c}, tail::random_layout(r, 4, true)),
      out({s.n, oh, ow, s.c}, tail::random_layout(r, 4, true));
  in.fill_random(r, 4);
  nsk::kernels::pool_2d_args a{{kind, s.window, count_pad, s.end_h, s.end_w}, in.view(), out.view()};
  tail::run_checked(r, out, [&](const nsk::tile_range& t) { nsk::kernels::pool_2d(a, t, nullptr); });
  const oracle::array want = oracle::pool_2d(in.read(), s.window, kind, count_pad, s.end_h, s.end_w, oh, ow);
  tail::check_close(out, want, kind == nsk::pool_kind::max ? 0 : 0.5 * s.window.kernel_h * s.window.kernel_w + 1,
                    kind == nsk::pool_kind::max ? 0 : 4);
  hash.add(out);
}

}  // namespace

TEST_CASE("pool_2d: random windows") {
  tail::random r(30);
  tail::digest hash;
  for (int round = 0; round < 400; ++round) {
    setup s{r.between(1, 2), r.between(1, 12), r.between(1, 14), r.between(1, 40), {}, 0, 0};
    s.window.kernel_h = r.between(1, 4);
    s.window.kernel_w = r.between(1, 4);
    s.window.stride_h = r.between(1, 3);
    s.window.stride_w = r.between(1, 3);
    s.window.dilation_h = r.between(1, 2);
    s.window.dilation_w = r.between(1, 2);
    s.window.pad_top = r.below(s.window.kernel_h);
    s.window.pad_left = r.below(s.window.kernel_w);
    s.end_h = r.below(s.window.kernel_h);
    s.end_w = r.below(s.window.kernel_w);
    CAPTURE(round);
    const nsk::pool_kind kind = r.coin() ? nsk::pool_kind::max : nsk::pool_kind::average;
    check(r, s, kind, r.coin(), hash);
  }
  CHECK(hash.value() == 4243903444263853281u);
}

TEST_CASE("pool_2d: the usual windows, at every channel count to 70") {
  tail::random r(31);
  tail::digest hash;
  for (int c = 1; c <= 70; ++c)
    for (nsk::pool_kind kind : {nsk::pool_kind::max, nsk::pool_kind::average}) {
      check(r, {1, 6, 7, c, {2, 2, 2, 2, 1, 1, 0, 0}, 0, 0}, kind, false, hash);
      check(r, {1, 7, 9, c, {3, 3, 2, 2, 1, 1, 1, 1}, 1, 1}, kind, false, hash);
      check(r, {1, 5, 6, c, {3, 3, 1, 1, 1, 1, 1, 1}, 1, 1}, kind, true, hash);
      check(r, {2, 7, 7, c, {7, 7, 1, 1, 1, 1, 0, 0}, 0, 0}, kind, false, hash);
    }
  CHECK(hash.value() == 1615610467214152912u);
}

TEST_CASE("pool_2d: a last window that reaches past the input (ceil mode)") {
  tail::random r(32);
  tail::digest hash;
  check(r, {1, 6, 6, 9, {3, 3, 2, 2, 1, 1, 0, 0}, 1, 1}, nsk::pool_kind::average, true, hash);
  check(r, {1, 6, 6, 9, {3, 3, 2, 2, 1, 1, 0, 0}, 1, 1}, nsk::pool_kind::average, false, hash);
  check(r, {1, 6, 6, 9, {3, 3, 2, 2, 1, 1, 0, 0}, 1, 1}, nsk::pool_kind::max, false, hash);
}

TEST_CASE("max_pool_bytes: the maximum of what each window sees, at every channel count to 140") {
  tail::random r(33);
  for (int c = 1; c <= 140; ++c) {
    const int kernel = c % 3 + 1;
    const nsk::window w{static_cast<std::uint16_t>(kernel),     static_cast<std::uint16_t>(kernel),    2, 1, 1, 1,
                        static_cast<std::uint16_t>(kernel / 2), static_cast<std::uint16_t>(kernel / 2)};
    const int h = r.between(3, 8), width = r.between(3, 9), pads = kernel / 2 * 2;
    const int oh = (h + pads - kernel) / 2 + 1, ow = width + pads - kernel + 1;
    tail::layout plain = tail::random_layout(r, 4, true);
    plain.border = {};
    plain.type = nsk::dtype::uint8;
    tail::tensor in({2, h, width, c}, plain), out({2, oh, ow, c}, plain);
    oracle::array bytes({2, h, width, c});
    oracle::for_each_index(bytes.shape, [&](const std::vector<int>& i) {
      in.at<std::uint8_t>(i) = static_cast<std::uint8_t>(r.coin() ? r.below(256) : r.below(3));
      bytes(i) = in.at<std::uint8_t>(i);
    });
    const nsk::kernels::pool_2d_args a{{nsk::pool_kind::max, w, false, 0, 0}, in.view(), out.view()};
    tail::run_checked(r, out, [&](const nsk::tile_range& t) { nsk::kernels::max_pool_bytes(a, t); });
    const oracle::array want = oracle::pool_2d(bytes, w, nsk::pool_kind::max, false, kernel / 2, kernel / 2, oh, ow);
    int wrong = 0;
    oracle::for_each_index(want.shape, [&](const std::vector<int>& i) { wrong += out.at<std::uint8_t>(i) != want(i); });
    CHECK(wrong == 0);
  }
}
