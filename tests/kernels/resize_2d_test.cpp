// SPDX-License-Identifier: MIT
// resize_2d: one, two, four and many taps, any tables, those that reach behind the input, channel counts around vector
// widths, long rows, tiles.
#include <netsuke/kernels/images/resize_2d.hpp>
#include "tail_fixture.hpp"

namespace {

struct axis {
  std::vector<int> index;
  std::vector<float> weight;
};
/// Ascending positions, as resizing has them, with weights that sum to about 1; `wild`: any positions and weights.
axis random_axis(tail::random& r, int in, int out, int taps, bool any_position) {
  axis a;
  for (int o = 0; o < out; ++o)
    for (int k = 0; k < taps; ++k) {
      const int near = static_cast<int>((o + 0.5) * in / out - 0.5 * taps) + k;
      a.index.push_back(any_position ? r.below(in) : std::min(std::max(near, 0), in - 1));
      a.weight.push_back(any_position || taps > 1 ? r.real() : 1.0f);
    }
  return a;
}

/// A table made for a longer input: some of its last positions are behind that of `count`.
std::vector<int> reaching(std::vector<int> index, int count) {
  for (std::size_t i = 0; i < index.size(); ++i)
    if (index[i] == count - 1) index[i] += static_cast<int>(i % 3);
  return index;
}

void check(tail::random& r, const std::vector<int>& in_shape, int oh, int ow, int row_taps, int column_taps,
           bool any_position, tail::digest& hash) {
  tail::tensor in(in_shape, tail::random_layout(r, 4, true)),
      out({in_shape[0], oh, ow, in_shape[3]}, tail::random_layout(r, 4, true));
  in.fill_random(r, 2);
  const axis rows = random_axis(r, in_shape[1], oh, row_taps, any_position),
             columns = random_axis(r, in_shape[2], ow, column_taps, any_position);
  const std::vector<int> row_index = reaching(rows.index, in_shape[1]),
                         column_index = reaching(columns.index, in_shape[2]);
  nsk::kernels::resize_2d_args a{{row_taps, column_taps}, in.view(),           out.view(),           row_index.data(),
                                 rows.weight.data(),      column_index.data(), columns.weight.data()};
  const std::size_t bytes = static_cast<std::size_t>(nsk::kernels::resize_2d_scratch_bytes(row_taps));
  CHECK(bytes % 64 == 0);
  std::vector<unsigned char> memory(bytes + 128);
  unsigned char* scratch = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64);
  tail::run_checked(r, out, [&](const nsk::tile_range& t) {
    std::fill(memory.begin(), memory.end(), static_cast<unsigned char>(0xff));
    nsk::kernels::resize_2d(a, t, reinterpret_cast<std::byte*>(scratch));
    bool clean = true;
    for (std::size_t i = static_cast<std::size_t>(scratch - memory.data()) + bytes; i < memory.size(); ++i)
      clean = clean && memory[i] == 0xff;
    CHECK(clean);
  });
  const oracle::array want =
      oracle::resize_2d(in.read(), rows.index, rows.weight, columns.index, columns.weight, row_taps, column_taps);
  tail::check_close(out, want, row_taps + column_taps + 2, 2 * row_taps * column_taps);
  hash.add(out);
}

}  // namespace

TEST_CASE("resize_2d: taps, sizes and channels") {
  tail::random r(40);
  tail::digest hash;
  for (int round = 0; round < 250; ++round) {
    const int taps[] = {1, 2, 4, r.between(1, 9)};
    const int row_taps = taps[r.below(4)], column_taps = taps[r.below(4)], oh = r.between(1, 20), ow = r.between(1, 20);
    CAPTURE(round);
    check(r, {r.between(1, 2), r.between(1, 9), r.between(1, 9), r.between(1, 40)}, oh, ow, row_taps, column_taps,
          round % 4 == 0, hash);
  }
  CHECK(hash.value() == 1289760111449187853u);
}

TEST_CASE("resize_2d: rows longer than scratch, more channels than scratch, many taps") {
  tail::random r(41);
  tail::digest hash;
  check(r, {1, 3, 200, 3}, 5, 400, 2, 2, false, hash);
  check(r, {1, 3, 300, 8}, 6, 600, 1, 1, false, hash);
  check(r, {1, 2, 3, 1100}, 4, 5, 2, 2, false, hash);
  check(r, {1, 90, 4, 3}, 3, 4, 80, 1, false, hash);
  CHECK(hash.value() == 11223045385608076296u);
}

TEST_CASE("move_pixels: bytes of any image, tiles") {
  tail::random r(42);
  for (int round = 0; round < 60; ++round) {
    const std::vector<int> in_shape = {r.between(1, 2), r.between(1, 9), r.between(1, 9), r.between(1, 70)};
    const std::vector<int> out_shape = {in_shape[0], r.between(1, 20), r.between(1, 20), in_shape[3]};
    const auto bytes = [&] {
      tail::layout l = tail::random_layout(r, 4, true);
      l.border = {};
      l.type = nsk::dtype::uint8;
      return l;
    };
    tail::tensor in(in_shape, bytes()), out(out_shape, bytes());
    oracle::for_each_index(
        in_shape, [&](const std::vector<int>& i) { in.at<std::uint8_t>(i) = static_cast<std::uint8_t>(r.below(256)); });
    const axis rows = random_axis(r, in_shape[1], out_shape[1], 1, true),
               columns = random_axis(r, in_shape[2], out_shape[2], 1, true);
    const std::vector<int> row_index = reaching(rows.index, in_shape[1]),
                           column_index = reaching(columns.index, in_shape[2]);
    const nsk::kernels::resize_2d_args a{{1, 1},  in.view(),           out.view(), row_index.data(),
                                         nullptr, column_index.data(), nullptr};
    tail::run_checked(r, out, [&](const nsk::tile_range& t) { nsk::kernels::move_pixels(a, t); });
    int wrong = 0;
    oracle::for_each_index(out_shape, [&](const std::vector<int>& i) {
      const std::vector<int> from = {i[0], rows.index[static_cast<std::size_t>(i[1])],
                                     columns.index[static_cast<std::size_t>(i[2])], i[3]};
      wrong += out.at<std::uint8_t>(i) != in.at<std::uint8_t>(from);
    });
    CHECK(wrong == 0);
  }
}
