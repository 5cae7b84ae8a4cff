// SPDX-License-Identifier: MIT
// A network spread over the frames of a game loop: each frame gives it half a millisecond, and it goes on where it
// stopped.
//   frame_budget MODEL.nsk [BUDGET_MICROSECONDS]
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>
#include <netsuke/netsuke.hpp>
#include "support/file.hpp"

using namespace example;
using game_clock = std::chrono::steady_clock;

static double milliseconds_since(game_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(game_clock::now() - start).count();
}

/// Stands for everything else that a frame does: keeps the core busy.
static void update_world(double milliseconds) {
  const game_clock::time_point start = game_clock::now();
  while (milliseconds_since(start) < milliseconds) {
  }
}

int main(int argc, char** argv) {
  if (argc < 2) fail("usage: frame_budget MODEL.nsk [BUDGET_MICROSECONDS]");
  const int budget = argc > 2 ? std::max(1, std::atoi(argv[2])) : 500;
  const memory_block file = read_file(argv[1]);
  nsk::model model;
  if (nsk::status s = nsk::open(file, model); !s) fail(s.message());
  const memory_block memory(model.required_bytes());
  nsk::session<> net(model, memory);
  if (!net.status()) fail(net.status().message());
  nsk::span<float> input;
  if (nsk::status s = net.input(0, input); !s) fail(s.message());
  for (float& x : input) x = 0.5F;

  const game_clock::time_point whole = game_clock::now();
  net.run();
  std::printf("in one go: %.2f ms. With %d us of each frame:\n", milliseconds_since(whole), budget);

  const auto clock = [] {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(game_clock::now().time_since_epoch()).count());
  };
  std::vector<double> slices;
  game_clock::time_point next_frame = game_clock::now();
  for (bool done = false; !done;) {
    const game_clock::time_point frame_start = game_clock::now();
    update_world(2);
    const game_clock::time_point slice_start = game_clock::now();
    done = net.run_for(nsk::microseconds{budget}, clock);
    slices.push_back(milliseconds_since(slice_start));
    if (slices.size() % 10 == 1) std::printf("%sframe %4zu:", slices.size() > 1 ? "\n" : "", slices.size());
    std::printf(" %.2f+%.2f", milliseconds_since(frame_start) - slices.back(), slices.back());
    next_frame += std::chrono::microseconds(16667);
    std::this_thread::sleep_until(next_frame);
  }
  const double longest = *std::max_element(slices.begin(), slices.end());
  std::sort(slices.begin(), slices.end());
  std::printf("\n(game + network, ms) %zu frames; slice median %.3f ms, longest %.3f ms\n", slices.size(),
              slices[slices.size() / 2], longest);
}
