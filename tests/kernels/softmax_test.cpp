// SPDX-License-Identifier: MIT
// softmax: every axis, logarithm, layouts, in place, lengths around 16, extreme values, tiles of whole lines.
#include <netsuke/kernels/lines/softmax.hpp>
#include "tail_fixture.hpp"

namespace {

void check(tail::random& r, const std::vector<int>& shape, int axis, bool log, float scale, tail::digest& hash) {
  const bool image = shape.size() >= 3 && r.coin();
  const tail::layout lay = tail::random_layout(r, shape.size(), image);
  tail::tensor in(shape, tail::random_layout(r, shape.size(), image)), out(shape, lay);
  in.fill_random(r, scale);
  nsk::kernels::softmax_args a{{axis, log}, in.view(), out.view()};
  const int rank = static_cast<int>(shape.size());
  int row_unit = 1;
  for (int d = axis; d < rank - 2; ++d) row_unit *= shape[static_cast<std::size_t>(d)];
  tail::run_checked(
      r, out, [&](const nsk::tile_range& t) { nsk::kernels::softmax(a, t, nullptr); }, row_unit,
      axis == rank - 2 ? shape[static_cast<std::size_t>(axis)] : 1, axis == rank - 1 ? shape.back() : 1);
  const oracle::array want = oracle::softmax(in.read(), axis, log);
  const double n = shape[static_cast<std::size_t>(axis)];
  tail::check_close(out, want, 6 + n / 8, log ? static_cast<double>(2 * scale) : static_cast<double>(scale) / 8);
  hash.add(out);
}

}  // namespace

TEST_CASE("softmax: every axis of every rank") {
  tail::random r(60);
  tail::digest hash;
  const std::vector<std::vector<int>> shapes = {{1},
                                                {19},
                                                {4, 10},
                                                {33, 40},
                                                {2, 3, 7},
                                                {2, 5, 4, 21},
                                                {1, 1, 1, 1000},
                                                {1, 5, 1, 1},
                                                {2, 3, 4, 2, 5},
                                                {2, 3, 2, 3, 2, 4},
                                                {1, 4, 16, 70}};
  for (const std::vector<int>& shape : shapes)
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis)
      for (bool log : {false, true}) {
        CAPTURE(shape.size());
        CAPTURE(axis);
        CAPTURE(log);
        check(r, shape, axis, log, 5, hash);
      }
  CHECK(hash.value() == 6093301582262028280u);
}

TEST_CASE("softmax: lengths around sixteen, wide values") {
  tail::random r(61);
  tail::digest hash;
  for (int n = 1; n <= 70; ++n)
    for (bool log : {false, true}) {
      check(r, {3, n}, 1, log, 1, hash);
      check(r, {n, 9}, 0, log, 60, hash);
    }
  CHECK(hash.value() == 5897728746403532683u);
}

TEST_CASE("softmax: a short line has the bits that it has alone, among any number of others") {
  tail::random r(63);
  for (int n = 1; n <= 5; ++n)
    for (int lines : {2, 7, 16, 37, 100})
      for (bool log : {false, true}) {
        tail::tensor x({lines, n}, {}), together({lines, n}, {}), alone({lines, n}, {});
        x.fill_random(r, 4);
        const nsk::kernels::softmax_args all{{1, log}, x.view(), together.view()},
            each{{1, log}, x.view(), alone.view()};
        nsk::kernels::softmax(all, tail::whole(x.view()), nullptr);
        for (int i = 0; i < lines; ++i) {
          nsk::tile_range line = tail::whole(x.view());
          line.pixel_begin = i;
          line.pixel_end = i + 1;
          nsk::kernels::softmax(each, line, nullptr);
        }
        CHECK(together.read().data == alone.read().data);
      }
}

TEST_CASE("softmax: in place, and masked entries") {
  tail::random r(62);
  for (bool log : {false, true})
    for (int axis : {1, 2}) {
      tail::tensor x({3, 20, 37}, {});
      x.fill_random(r, 3);
      const oracle::array want = oracle::softmax(x.read(), axis, log);
      nsk::kernels::softmax({{axis, log}, x.view(), x.view()}, tail::whole(x.view()), nullptr);
      tail::check_close(x, want, 12, log ? 6 : 0.5);
    }
  tail::tensor x({1, 5}, {}), y({1, 5}, {});
  const float infinity = std::numeric_limits<float>::infinity(), values[] = {1, -infinity, 1, -1000, -infinity};
  for (int i = 0; i < 5; ++i) x.at<float>({0, i}) = values[i];
  nsk::kernels::softmax({{1, false}, x.view(), y.view()}, tail::whole(x.view()), nullptr);
  const float want[] = {0.5f, 0, 0.5f, 0, 0};
  for (int i = 0; i < 5; ++i) CHECK(y.at<float>({0, i}) == want[i]);
}
