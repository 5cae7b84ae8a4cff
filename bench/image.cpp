// SPDX-License-Identifier: MIT
// Times images on their way into tensors and back, one thread, each beside the plain loop that one would write by
// hand, alternately in one run; prints the medians. Every answer is compared with that loop: exit code 1 when it
// differs.
//   image [rounds]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <netsuke/image.hpp>

namespace {

struct conversion {
  const char* name;
  int width, height;  ///< of the image
  nsk::pixel_format format;
  int tensor_width, tensor_height;
  nsk::image_fit fit;
  float angle;
  bool back;  ///< the tensor becomes an image
};
constexpr auto rgba = nsk::pixel_format::rgba8, rgb = nsk::pixel_format::rgb8, grey = nsk::pixel_format::grey8;
constexpr auto letterbox = nsk::image_fit::letterbox, stretch = nsk::image_fit::stretch;

constexpr conversion conversions[] = {
    {"1280x720 rgba -> 192x192x3, letterbox", 1280, 720, rgba, 192, 192, letterbox, 0, false},
    {"1280x720 rgba -> 192x192x3, 400x400 at 30 degrees", 1280, 720, rgba, 192, 192, stretch, 0.5235988f, false},
    {"1920x1080 rgba -> 256x256x3, stretched", 1920, 1080, rgba, 256, 256, stretch, 0, false},
    {"640x480 rgb -> 320x240x3", 640, 480, rgb, 320, 240, stretch, 0, false},
    {"640x480 grey -> 320x240x3", 640, 480, grey, 320, 240, stretch, 0, false},
    {"320x180 rgba -> 320x180x3", 320, 180, rgba, 320, 180, stretch, 0, false},
    {"640x360x3 -> 640x360 rgba", 640, 360, rgba, 640, 360, stretch, 0, true},
    {"640x360x3 -> 640x360 rgb", 640, 360, rgb, 640, 360, stretch, 0, true},
};

/// One pixel of the tensor by hand.
void sample(const nsk::image_view& p, float x, float y, float* to) {
  x = std::min(std::max(x - 0.5f, 0.0f), static_cast<float>(p.width - 1));
  y = std::min(std::max(y - 0.5f, 0.0f), static_cast<float>(p.height - 1));
  const int left = static_cast<int>(x), top = static_cast<int>(y), bytes = nsk::pixel_bytes(p.format);
  const int right = std::min(left + 1, p.width - 1), bottom = std::min(top + 1, p.height - 1);
  const float u = x - static_cast<float>(left), v = y - static_cast<float>(top);
  const std::uint8_t *upper = p.pixels + top * p.stride, *lower = p.pixels + bottom * p.stride;
  for (int c = 0; c < 3; ++c) {
    const int b = bytes == 1 ? 0 : c;
    const float above = upper[left * bytes + b] * (1 - u) + upper[right * bytes + b] * u;
    const float below = lower[left * bytes + b] * (1 - u) + lower[right * bytes + b] * u;
    to[c] = (above * (1 - v) + below * v) / 255;
  }
}
void by_hand(const nsk::image_view& p, const nsk::image_map& map, bool bars, std::vector<float>& to, int h, int w) {
  for (int row = 0; row < h; ++row)
    for (int column = 0; column < w; ++column) {
      float* pixel = to.data() + (row * w + column) * 3;
      const nsk::image_point at = map.to_image(static_cast<float>(column) + 0.5f, static_cast<float>(row) + 0.5f);
      if (bars && (at.x < 0 || at.y < 0 || at.x >= static_cast<float>(p.width) || at.y >= static_cast<float>(p.height)))
        std::fill(pixel, pixel + 3, 0.0f);
      else
        sample(p, at.x, at.y, pixel);
    }
}
void by_hand(const std::vector<float>& from, const nsk::writable_image& p) {
  const int bytes = nsk::pixel_bytes(p.format);
  for (int y = 0; y < p.height; ++y)
    for (int x = 0; x < p.width; ++x) {
      std::uint8_t* pixel = p.pixels + y * p.stride + x * bytes;
      for (int c = 0; c < 3; ++c)
        pixel[c] = static_cast<std::uint8_t>(
            std::min(std::max(from[static_cast<std::size_t>((y * p.width + x) * 3 + c)] * 255 + 0.5f, 0.0f), 255.0f));
      if (bytes == 4) pixel[3] = 255;
    }
}

/// Medians of two functions' times in milliseconds, called alternately.
template <class F, class G>
std::pair<double, double> times_of(int rounds, F f, G g) {
  std::vector<double> a, b;
  const auto timed = [](auto& h) {
    const auto start = std::chrono::steady_clock::now();
    h();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  };
  for (int i = 0; i < rounds; ++i) {
    a.push_back(timed(f));
    b.push_back(timed(g));
  }
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return {a[a.size() / 2], b[b.size() / 2]};
}

/// Runs one conversion; returns the largest difference from the loop by hand, in levels.
double run(const conversion& k, int rounds) {
  const int bytes = nsk::pixel_bytes(k.format);
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(k.width) * k.height * bytes), plain_pixels(pixels.size());
  std::uint32_t state = 1;
  for (std::uint8_t& b : pixels) b = static_cast<std::uint8_t>((state = state * 1664525u + 1013904223u) >> 24);
  std::vector<float> tensor(static_cast<std::size_t>(k.tensor_width) * k.tensor_height * 3), plain(tensor.size());
  nsk::image_settings how;
  how.fit = k.fit;
  if (k.angle != 0) how.region = nsk::image_region::rotated(640, 360, 400, 400, k.angle);
  const nsk::image_view view{pixels.data(), k.width, k.height, k.width * bytes, k.format};
  std::pair<double, double> ms;
  double worst = 0;
  if (k.back) {
    for (float& f : tensor) f = static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) / 16777216.0f;
    const nsk::writable_image to{pixels.data(), k.width, k.height, k.width * bytes, k.format},
        plain_to{plain_pixels.data(), k.width, k.height, k.width * bytes, k.format};
    ms = times_of(
        rounds, [&] { nsk::tensor_to_image(tensor, {}, to); }, [&] { by_hand(tensor, plain_to); });
    for (std::size_t i = 0; i < pixels.size(); ++i)
      worst = std::max(worst, std::fabs(double(pixels[i]) - plain_pixels[i]));
  } else {
    const nsk::image_map map = nsk::map_image(view, how, k.tensor_height, k.tensor_width);
    ms = times_of(
        rounds, [&] { nsk::image_to_tensor(view, how, tensor, k.tensor_height, k.tensor_width); },
        [&] { by_hand(view, map, k.fit == letterbox, plain, k.tensor_height, k.tensor_width); });
    for (std::size_t i = 0; i < tensor.size(); ++i)
      worst = std::max(worst, 255 * std::fabs(double(tensor[i]) - plain[i]));
  }
  std::printf("%-52s %8.3f %8.3f %6.1f %8.4f\n", k.name, ms.first, ms.second, ms.second / ms.first, worst);
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 101;
  std::printf("%-52s %8s %8s %6s %8s\n", "conversion", "ms", "by hand", "ratio", "levels");
  bool good = true;
  for (const conversion& k : conversions) good = run(k, rounds) <= 1 && good;
  if (!good) std::printf("an answer differs from the loop by hand by more than a level\n");
  return good ? 0 : 1;
}
