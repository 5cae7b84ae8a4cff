// SPDX-License-Identifier: MIT
// How tiles are dealt to lanes: each once, neighbours to one lane, and nothing left when a lane never comes.
#include <thread>
#include <vector>
#include <doctest/doctest.h>
#include <netsuke/run/impl/jobs.hpp>

using nsk::impl::dealt_tiles;
using nsk::impl::lane_tiles;

namespace {

std::vector<int> take_all(lane_tiles lane) {
  std::vector<int> tiles;
  for (int t = lane.take(); t >= 0; t = lane.take()) tiles.push_back(t);
  return tiles;
}

}

TEST_CASE("jobs: every tile once, whatever the lanes, the tiles, and the order in which lanes come") {
  for (int lanes : {1, 2, 3, 7, 16, 17, 40})
    for (int begin : {0, 5})
      for (int count = 1; count < 50; ++count)
        for (int first = 0; first < lanes; first += 3) {
          CAPTURE(lanes);
          CAPTURE(count);
          dealt_tiles dealt(begin, begin + count, lanes);
          std::vector<int> taken(static_cast<std::size_t>(begin + count));
          for (int i = 0; i < lanes; ++i)
            for (int t : take_all(lane_tiles(dealt, (first + i) % lanes))) ++taken[static_cast<std::size_t>(t)];
          for (int t = 0; t < begin + count; ++t) CHECK(taken[static_cast<std::size_t>(t)] == (t >= begin ? 1 : 0));
        }
}

TEST_CASE("jobs: lanes that work side by side have neighbouring tiles, and share what a slow one leaves") {
  dealt_tiles dealt(0, 12, 3);
  std::vector<lane_tiles> lanes;
  for (int i = 0; i < 3; ++i) lanes.emplace_back(dealt, i);
  for (int round = 0; round < 4; ++round)
    for (int i = 0; i < 3; ++i) CHECK(lanes[static_cast<std::size_t>(i)].take() == 4 * i + round);
  for (lane_tiles& lane : lanes) CHECK(lane.take() == -1);

  dealt_tiles late(0, 12, 3);
  CHECK(take_all(lane_tiles(late, 1)) == std::vector<int>{4, 5, 6, 7, 8, 9, 10, 11, 0, 1, 2, 3});
  CHECK(take_all(lane_tiles(late, 0)).empty());
}

TEST_CASE("jobs: every tile once when lanes are threads") {
  for (int repeat = 0; repeat < 50; ++repeat) {
    constexpr int lanes = 4, tiles = 1000;
    dealt_tiles dealt(0, tiles, lanes);
    std::vector<std::vector<int>> taken(lanes);
    std::vector<std::thread> threads;
    for (int i = 0; i < lanes; ++i)
      threads.emplace_back([&, i] { taken[static_cast<std::size_t>(i)] = take_all(lane_tiles(dealt, i)); });
    for (std::thread& t : threads) t.join();
    std::vector<int> seen(tiles);
    for (const std::vector<int>& mine : taken)
      for (int t : mine) ++seen[static_cast<std::size_t>(t)];
    int wrong = 0;
    for (int n : seen) wrong += n != 1;
    CHECK(wrong == 0);
  }
}
