// SPDX-License-Identifier: MIT
// What the page must compute, by the CPU: prints the hashes of both networks for an image, as the page has them.
//   hashes FACE.nsk UPSCALER.nsk PHOTO.png
#include <cstdio>
#include <vector>
#include "module.cpp"
#include "support/image.hpp"

using namespace example;

int main(int argc, char** argv) {
  if (argc != 4) fail("usage: hashes FACE.nsk UPSCALER.nsk PHOTO.png");
  if (!supported()) fail("this machine has no vectors");
  const memory_block face = read_file(argv[1]), upscaler = read_file(argv[2]),
                     detector_memory(open_detector(face.data(), face.size())),
                     upscaler_memory(open_upscaler(upscaler.data(), upscaler.size()));
  if (!begin_detector(detector_memory.data()) || !begin_upscaler(upscaler_memory.data())) fail("a network is refused");

  const image photo = load_image(argv[3]);
  std::vector<std::uint8_t> rgba, frame(std::size_t{4} * k_frame_width * k_frame_height);
  for (int y = 0; y < photo.height; ++y)
    for (int x = 0; x < photo.width; ++x) {
      const std::uint8_t* p = photo.at(x, y);
      rgba.insert(rgba.end(), {p[0], p[1], p[2], 255});
    }
  const int count = find_faces(rgba.data(), photo.width, photo.height, 0);
  show_frame(rgba.data(), photo.width, photo.height, frame.data());
  while (!upscale_some(1 << 30)) {
  }
  std::printf("{\"faces\": %d, \"detector\": \"%016llx\", \"upscaler\": \"%016llx\"}\n", count,
              static_cast<unsigned long long>(detector_hash()), static_cast<unsigned long long>(upscaler_hash()));
}
