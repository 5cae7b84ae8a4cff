// SPDX-License-Identifier: MIT
#pragma once
/// Runs steps one at a time with everything else in the arena poisoned: a step may read the elements and borders of its
/// inputs and its own scratch, and write those of its output and its scratch. Whatever else it changes, and whatever
/// else its result depends on, is an error that no sanitizer sees, since all of it is inside of the arena.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <netsuke/run/session.hpp>

namespace fuzz {

/// Marks the bytes of a tensor, border included, in an image of the arena. Of a run of these lengths.
inline void mark(const nsk::tensor_info& t, nsk::length_values lengths, std::vector<char>& marks) {
  if (t.where() == nsk::storage::constant) return;
  const nsk::tensor_view v = t.view(nullptr, lengths);
  std::ptrdiff_t first[nsk::max_rank], count[nsk::max_rank], index[nsk::max_rank] = {};
  for (int d = 0; d < v.rank; ++d) {
    const bool y = v.rank >= 3 && d == v.rank - 3, x = v.rank >= 3 && d == v.rank - 2;
    first[d] = -(y ? v.border.top : x ? v.border.left : 0);
    count[d] = v.shape[d] - first[d] + (y ? v.border.bottom : x ? v.border.right : 0);
  }
  const auto start = static_cast<std::ptrdiff_t>(t.buffer_offset() + t.offset());
  for (int d = 0; d >= 0;) {
    std::ptrdiff_t at = 0;
    for (int i = 0; i < v.rank; ++i) at += (first[i] + index[i]) * v.stride[i];
    for (std::ptrdiff_t b = 0; b < nsk::size_of(v.type); ++b)
      marks.at(static_cast<std::size_t>(start + at * nsk::size_of(v.type) + b)) = 1;
    for (d = v.rank - 1; d >= 0 && ++index[d] == count[d]; --d) index[d] = 0;
  }
}

/// Runs one inference, each step twice: among zeros with its tiles in order, and among set bits with its tiles in
/// reverse. Ends the program where both differ, or where a byte changed that is not the step's.
template <class Session>
void run_isolated(Session& net, std::byte* arena, std::size_t size, nsk::length_values lengths) {
  const std::size_t shared = net.variant().shared_bytes();
  const auto fail = [](const char* what, int step) {
    std::fprintf(stderr, "step %d %s\n", step, what);
    std::abort();
  };
  net.restart();
  for (int i = 0; i < net.step_count(); ++i) {
    const nsk::step_view s = net.step_info(i);
    std::vector<char> read(shared), written(shared);
    for (int k = 0; k < s.input_count(); ++k) mark(s.input(k), lengths, read);
    mark(s.output(), lengths, written);
    const std::vector<std::byte> before(arena, arena + size);
    std::vector<std::byte> results[2];
    for (int pass = 0; pass < 2; ++pass) {
      const auto poison = static_cast<std::byte>(pass == 0 ? 0 : 0xff);
      for (std::size_t b = 0; b < size; ++b) arena[b] = b < shared && read[b] ? before[b] : poison;
      const int tiles = net.tile_count(i);
      for (int t = 0; t < tiles; ++t) net.run_tile(i, pass == 0 ? t : tiles - 1 - t, pass % net.lanes());
      for (std::size_t b = 0; b < shared; ++b) {
        if (written[b]) {
          results[pass].push_back(arena[b]);
        } else if (arena[b] != (read[b] ? before[b] : poison)) {
          fail("writes what is not its output", i);
        }
      }
    }
    if (results[0] != results[1]) fail("depends on what is not its input, or leaves part of its output as it was", i);
    std::memcpy(arena, before.data(), size);
    for (std::size_t b = 0, k = 0; b < shared; ++b) {
      if (written[b]) arena[b] = results[0][k++];
    }
  }
  net.finish();
}

}
