// SPDX-License-Identifier: MIT
// What a package gives: headers that compile, of the version that it says, and an engine that refuses what is no model.
#include <netsuke/netsuke.hpp>
#include <cstdio>

int main() {
  alignas(64) const std::byte nothing[64] = {};
  nsk::model model;
  const nsk::status refused = nsk::open(nothing, model);
  std::printf("netsuke %s: %s\n", NSK_VERSION_STRING, refused.name());
  return refused ? 1 : 0;
}
