// SPDX-License-Identifier: MIT
// The choice between direct and Winograd's convolutions on layers whose times were measured.
#include <doctest/doctest.h>
#include "program/winograd_choice.hpp"

using nsk::conv_algorithm;
using nsk::tool::fastest_algorithm;

namespace {

nsk::window window_of(int kernel, int stride) {
  nsk::window w;
  w.kernel_h = w.kernel_w = kernel;
  w.stride_h = w.stride_w = stride;
  return w;
}
conv_algorithm chosen(std::int64_t inputs, std::int64_t outputs, std::int64_t rows, std::int64_t columns) {
  return fastest_algorithm(window_of(3, 1), 1, inputs, outputs, rows, columns);
}

}

TEST_CASE("fastest_algorithm: what was fastest where it was measured") {
  CHECK(chosen(64, 64, 56, 56) == conv_algorithm::winograd4);
  CHECK(chosen(128, 128, 28, 28) == conv_algorithm::winograd4);
  CHECK(chosen(256, 256, 14, 14) == conv_algorithm::winograd4);
  CHECK(chosen(64, 256, 13, 13) == conv_algorithm::winograd4);   // 224 us, 310 by winograd2
  CHECK(chosen(48, 192, 13, 13) == conv_algorithm::winograd4);   // 130 us, 182 by winograd2
  CHECK(chosen(32, 12, 180, 320) == conv_algorithm::winograd4);  // 2.35 ms, 4.95 directly
  CHECK(chosen(512, 512, 7, 7) == conv_algorithm::winograd2);
}

TEST_CASE("fastest_algorithm: direct where Winograd's does not fit, or gains too little") {
  CHECK(fastest_algorithm(window_of(3, 2), 1, 64, 64, 56, 56) == conv_algorithm::direct);
  CHECK(fastest_algorithm(window_of(5, 1), 1, 64, 64, 56, 56) == conv_algorithm::direct);
  CHECK(fastest_algorithm(window_of(3, 1), 2, 64, 64, 56, 56) == conv_algorithm::direct);
  CHECK(chosen(3, 32, 112, 112) == conv_algorithm::direct);
  CHECK(chosen(64, 3, 112, 112) == conv_algorithm::direct);
  CHECK(chosen(16, 16, 7, 7) == conv_algorithm::direct);
  CHECK(chosen(256, 256, 5, 5) == conv_algorithm::direct);
}

TEST_CASE("fastest_algorithm: transformed weights have a limit") {
  CHECK(chosen(512, 512, 28, 28) == conv_algorithm::winograd2);  // 16 points: 16.8 MB, 36: 37.7
  CHECK(chosen(1024, 1024, 28, 28) == conv_algorithm::direct);
}
