// SPDX-License-Identifier: MIT
/// A small software rasteriser that makes game-like frames of any size from a seed. The same seed built by
/// the same compiler is the same scene (C++ leaves the order of evaluation of arguments open).
///
///   rasteriser --seed 7 --size 640x360 --samples 4 -o frame.ppm --half half.ppm --jagged jagged.ppm
///
/// --samples N renders N x N samples per pixel and averages them; 1 gives the jagged edges of a game without
/// antialiasing. Texture level of detail follows the sample spacing, so the average of many samples is the exact box
/// filter of the scene. --half also writes the frame at half the size from the same samples,
/// --jagged at half the size with one sample per pixel. Scenes: 0 street, 1 woods,
/// 2 hall, 3 toys (seed mod 4 unless --kind says otherwise).
///
/// Visibility buffer: every triangle is clipped, z-tested and stored as an index per sample; each sample is shaded
/// once, with trilinear, anisotropic texture reads, one shadowed sun, coloured point lights and fog.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "shading.hpp"
#include "worlds.hpp"

using namespace raster;

namespace {

bool write(const std::string& path, const image& p) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) {
    std::fprintf(stderr, "rasteriser: cannot write %s\n", path.c_str());
    return false;
  }
  std::vector<std::uint8_t> bytes;
  for (const vec3& c : p.pixels) bytes.insert(bytes.end(), {encode(c.x), encode(c.y), encode(c.z)});
  std::fprintf(file, "P6\n%d %d\n255\n", p.width, p.height);
  const bool whole = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if (std::fclose(file) == 0 && whole) return true;
  std::fprintf(stderr, "rasteriser: %s was not written in full\n", path.c_str());
  return false;
}

int usage() {
  std::fputs(
      "usage: rasteriser --seed N [--kind 0..3] [--size 640x360] [--samples 4] -o FRAME.ppm\n"
      "                  [--half HALF.ppm] [--jagged JAGGED.ppm]\n",
      stderr);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t seed = 0;
  int kind = -1;
  int width = 640;
  int height = 360;
  int samples = 4;
  std::string out;
  std::string half;
  std::string jagged;
  for (int i = 1; i < argc; i += 2) {
    const std::string flag = argv[i];
    if (i + 1 >= argc) return usage();
    const char* value = argv[i + 1];
    if (flag == "--seed")
      seed = std::strtoull(value, nullptr, 10);
    else if (flag == "--kind")
      kind = std::atoi(value);
    else if (flag == "--samples")
      samples = std::atoi(value);
    else if (flag == "-o")
      out = value;
    else if (flag == "--half")
      half = value;
    else if (flag == "--jagged")
      jagged = value;
    else if (flag == "--size" && std::sscanf(value, "%dx%d", &width, &height) == 2)
      continue;
    else
      return usage();
  }
  if (out.empty() || width < 1 || height < 1 || width > 8192 || height > 8192 || samples < 1 || samples > 8 || kind > 3)
    return usage();
  const scene world = build_scene(seed, kind < 0 ? static_cast<int>(seed % 4) : kind);
  const image frame = render_frame(world, width, height, samples);
  if (!write(out, frame)) return 1;
  if (!half.empty() && !write(half, halve(frame))) return 1;
  if (!jagged.empty() && !write(jagged, render_frame(world, width / 2, height / 2, 1))) return 1;
  return 0;
}
