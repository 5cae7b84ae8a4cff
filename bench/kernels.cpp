// SPDX-License-Identifier: MIT
/// Times the kernels on shapes of well-known networks, one thread, as a share of the machine's peak of fused
/// multiply-adds, which is measured beside each of them. Every answer is compared with a double-precision reference; a
/// wrong one makes the exit code 1. Usage: bench_kernels [part of a name] [seconds per shape]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
#include <netsuke/kernels/conv/conv_2d.hpp>
#include <netsuke/kernels/depthwise/depthwise_conv_2d.hpp>
#include <netsuke/kernels/dense/fully_connected.hpp>
#include <netsuke/kernels/product/winograd_weights.hpp>
#include <netsuke/simd/float_env.hpp>
#include "../tests/oracle/naive.hpp"

#include <netsuke/simd/begin.hpp>
NSK_BEGIN
namespace bench {
/// 12 independent chains: returns a number that depends on all of them, and on `seed`, so that no call can be left out.
NSK_NOINLINE inline float fma_loop(int rounds, float seed) {
  simd::f32 sum[12];
  for (int i = 0; i < 12; ++i) sum[i] = simd::splat(static_cast<float>(i) * 1e-3f + seed);
  const simd::f32 a = simd::splat(0.999f), b = simd::splat(1e-3f);
  for (int r = 0; r < rounds; ++r) simd::unroll<12>([&](auto i) { sum[i] = simd::fma(sum[i], a, b); });
  simd::f32 total = sum[0];
  for (int i = 1; i < 12; ++i) total = simd::add(total, sum[i]);
  return simd::reduce_add(total);
}
}
NSK_END
#include <netsuke/simd/end.hpp>

namespace {

enum class kind { conv, depthwise, dense };
struct shape {
  const char* name;
  kind what;
  int h, w, c, channels, kernel, stride, pad;
  bool bordered;  ///< the input has a border of zeros, as the planner gives it
  nsk::conv_algorithm algorithm;
  double wanted;  ///< share of the peak that this shape is expected to reach, 0 = no expectation
};
constexpr auto direct = nsk::conv_algorithm::direct, wino4 = nsk::conv_algorithm::winograd4,
               wino2 = nsk::conv_algorithm::winograd2;

constexpr shape shapes[] = {
    {"1x1 112x112 32->16", kind::conv, 112, 112, 32, 16, 1, 1, 0, false, direct, 0},
    {"1x1 112x112 16->96", kind::conv, 112, 112, 16, 96, 1, 1, 0, false, direct, 0},
    {"1x1 56x56 24->144", kind::conv, 56, 56, 24, 144, 1, 1, 0, false, direct, 0},
    {"1x1 56x56 96->24", kind::conv, 56, 56, 96, 24, 1, 1, 0, false, direct, 0},
    {"1x1 28x28 192->32", kind::conv, 28, 28, 192, 32, 1, 1, 0, false, direct, 0},
    {"1x1 14x14 96->576", kind::conv, 14, 14, 96, 576, 1, 1, 0, false, direct, 0.90},
    {"1x1 14x14 256->1024", kind::conv, 14, 14, 256, 1024, 1, 1, 0, false, direct, 0.90},
    {"1x1 56x56 64->256", kind::conv, 56, 56, 64, 256, 1, 1, 0, false, direct, 0},
    {"1x1 7x7 960->160", kind::conv, 7, 7, 960, 160, 1, 1, 0, false, direct, 0},
    {"1x1 7x7 320->1280", kind::conv, 7, 7, 320, 1280, 1, 1, 0, false, direct, 0},
    {"3x3 56x56 64->64", kind::conv, 56, 56, 64, 64, 3, 1, 1, true, direct, 0.90},
    {"3x3 28x28 128->128", kind::conv, 28, 28, 128, 128, 3, 1, 1, true, direct, 0.90},
    {"3x3 14x14 256->256", kind::conv, 14, 14, 256, 256, 3, 1, 1, true, direct, 0},
    {"3x3 7x7 512->512", kind::conv, 7, 7, 512, 512, 3, 1, 1, true, direct, 0},
    {"3x3/2 56x56 128->128", kind::conv, 56, 56, 128, 128, 3, 2, 1, true, direct, 0},
    {"3x3 56x56 64->64 no border", kind::conv, 56, 56, 64, 64, 3, 1, 1, false, direct, 0},
    {"stem 7x7/2 224 3->64", kind::conv, 224, 224, 3, 64, 7, 2, 3, true, direct, 0.90},
    {"stem 7x7/2 224 3->64 no border", kind::conv, 224, 224, 3, 64, 7, 2, 3, false, direct, 0},
    {"stem 3x3/2 224 3->32 no border", kind::conv, 224, 224, 3, 32, 3, 2, 1, false, direct, 0},
    {"winograd4 56x56 64->64", kind::conv, 56, 56, 64, 64, 3, 1, 1, true, wino4, 0},
    {"winograd4 28x28 128->128", kind::conv, 28, 28, 128, 128, 3, 1, 1, true, wino4, 0},
    {"winograd4 14x14 256->256", kind::conv, 14, 14, 256, 256, 3, 1, 1, true, wino4, 0},
    {"winograd2 7x7 512->512", kind::conv, 7, 7, 512, 512, 3, 1, 1, true, wino2, 0},
    {"winograd4 160x160 16->16", kind::conv, 160, 160, 16, 16, 3, 1, 1, true, wino4, 0},
    {"depthwise 3x3 112x112x32", kind::depthwise, 112, 112, 32, 32, 3, 1, 1, true, direct, 0.55},
    {"depthwise 3x3 56x56x144", kind::depthwise, 56, 56, 144, 144, 3, 1, 1, true, direct, 0},
    {"depthwise 3x3 28x28x192", kind::depthwise, 28, 28, 192, 192, 3, 1, 1, true, direct, 0},
    {"depthwise 3x3 14x14x576", kind::depthwise, 14, 14, 576, 576, 3, 1, 1, true, direct, 0},
    {"depthwise 3x3 7x7x960", kind::depthwise, 7, 7, 960, 960, 3, 1, 1, true, direct, 0},
    {"depthwise 3x3/2 112x112x96", kind::depthwise, 112, 112, 96, 96, 3, 2, 1, true, direct, 0},
    {"depthwise 3x3/2 14x14x576", kind::depthwise, 14, 14, 576, 576, 3, 2, 1, true, direct, 0},
    {"depthwise 5x5 14x14x240", kind::depthwise, 14, 14, 240, 240, 5, 1, 2, true, direct, 0},
    {"depthwise 5x5/2 28x28x96", kind::depthwise, 28, 28, 96, 96, 5, 2, 2, true, direct, 0},
    {"depthwise 3x3 56x56x144 no border", kind::depthwise, 56, 56, 144, 144, 3, 1, 1, false, direct, 0},
    {"dense 1x512->512", kind::dense, 1, 1, 512, 512, 1, 1, 0, false, direct, 0},
    {"dense 1x1280->1000", kind::dense, 1, 1, 1280, 1000, 1, 1, 0, false, direct, 0},
    {"dense 2x512->512", kind::dense, 1, 2, 512, 512, 1, 1, 0, false, direct, 0},
    {"dense 128x768->768", kind::dense, 1, 128, 768, 768, 1, 1, 0, false, direct, 0},
};

struct random_floats {
  std::uint32_t state = 1;
  float operator()() {
    state = state * 1664525u + 1013904223u;
    return static_cast<float>(state >> 8) / 8388608.0f - 1.0f;
  }
};

/// Floats on a cache line, with the over-read pad behind.
struct buffer {
  std::vector<float> memory;
  explicit buffer(std::size_t n) : memory(n + 64) {}
  float* data() { return memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64) % 64 / 4; }
};

nsk::tensor_view image_view(buffer& b, int h, int w, int c, int border) {
  nsk::tensor_view v;
  v.rank = 4;
  v.border = {static_cast<std::uint16_t>(border), static_cast<std::uint16_t>(border),
              static_cast<std::uint16_t>(border), static_cast<std::uint16_t>(border)};
  const std::ptrdiff_t row = std::ptrdiff_t{c} * (w + 2 * border);
  v.data = reinterpret_cast<std::byte*>(b.data() + border * (row + c));
  const int shape[] = {1, h, w, c};
  const std::ptrdiff_t stride[] = {row * (h + 2 * border), row, c, 1};
  std::copy(shape, shape + 4, v.shape);
  std::copy(stride, stride + 4, v.stride);
  return v;
}

void pack(const float* weights, const float* bias, int channels, int depth, float* to) {
  for (int p = 0; p < nsk::panel_count(channels); ++p) {
    const int left = 16 * p, width = static_cast<int>(nsk::width_of_panel(channels, p));
    for (int c = 0; c < width; ++c) *to++ = left + c < channels ? bias[left + c] : 0.0f;
    for (int k = 0; k < depth; ++k)
      for (int c = 0; c < width; ++c) *to++ = left + c < channels ? weights[(left + c) * depth + k] : 0.0f;
  }
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
volatile float sink;

/// Best of a few short loops, in GFLOP/s.
double measure_peak() {
  double best = 0;
  for (int i = 0; i < 20; ++i) {
    constexpr int rounds = 20000;
    const double start = now();
    sink = nsk::bench::fma_loop(rounds, sink);
    best = std::max(best, 2e-9 * 12 * nsk::simd::f32::lanes * rounds / (now() - start));
  }
  return best;
}

std::uint64_t hash(const float* p, std::size_t n) {
  std::uint64_t h = 1469598103934665603u;
  for (std::size_t i = 0; i < n; ++i) {
    std::uint32_t b;
    std::memcpy(&b, p + i, 4);
    h = (h ^ b) * 1099511628211u;
  }
  return h;
}

/// Packs weights [channel][3][3][depth] for Winograd: per panel bias, then per point [depth][W].
void pack_winograd(nsk::conv_algorithm algorithm, const float* weights, const float* bias, int channels, int depth,
                   float* to) {
  const int points = nsk::winograd_points(algorithm);
  for (int p = 0; p < nsk::panel_count(channels); ++p) {
    const int left = 16 * p, width = static_cast<int>(nsk::width_of_panel(channels, p));
    for (int c = 0; c < width; ++c) *to++ = left + c < channels ? bias[left + c] : 0.0f;
    for (int k = 0; k < depth; ++k) {
      float taps[9][24] = {};
      for (int i = 0; i < 9; ++i)
        for (int c = 0; c < width && left + c < channels; ++c) taps[i][c] = weights[((left + c) * 9 + i) * depth + k];
      const auto transform =
          points == 16 ? nsk::kernels::transform_winograd_weights<4> : nsk::kernels::transform_winograd_weights<6>;
      transform(taps[0], 24, width, to + k * width, depth * width);
    }
    to += points * depth * width;
  }
}

struct outcome {
  double seconds, error, macs, peak;
  std::uint64_t hash;
};

outcome run_shape(const shape& s, double seconds) {
  random_floats next;
  const bool depthwise = s.what == kind::depthwise;
  oracle::conv p;
  p.kernel_h = p.kernel_w = s.kernel;
  p.stride_h = p.stride_w = s.stride;
  p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = s.pad;
  p.groups = depthwise ? s.c : 1;
  const int depth = s.kernel * s.kernel * (depthwise ? 1 : s.c), oh = p.output_h(s.h), ow = p.output_w(s.w);
  std::vector<float> weights(static_cast<std::size_t>(s.channels) * depth), bias(s.channels);
  oracle::image x(1, s.h, s.w, s.c);
  for (float& f : weights) f = next();
  for (float& f : bias) f = next();
  for (double& d : x.v) d = next();

  const int border = s.bordered ? s.pad : 0;
  buffer in(static_cast<std::size_t>(s.h + 2 * border) * (s.w + 2 * border) * s.c),
      out(static_cast<std::size_t>(oh) * ow * s.channels);
  const nsk::tensor_view input = image_view(in, s.h, s.w, s.c, border), output = image_view(out, oh, ow, s.channels, 0);
  for (int y = 0; y < s.h; ++y)
    for (int i = 0; i < s.w * s.c; ++i)
      input.as<float>()[y * input.stride[1] + i] = static_cast<float>(x.v[static_cast<std::size_t>(y) * s.w * s.c + i]);

  const bool winograd = s.algorithm != direct;
  buffer packed(winograd ? nsk::winograd_floats(s.algorithm, s.channels, s.c) : nsk::panel_floats(s.channels, depth));
  if (winograd)
    pack_winograd(s.algorithm, weights.data(), bias.data(), s.channels, s.c, packed.data());
  else
    pack(weights.data(), bias.data(), s.channels, depth, packed.data());
  const nsk::window w{s.kernel, s.kernel, s.stride, s.stride, 1, 1, s.pad, s.pad};
  const nsk::kernels::conv_2d_shape cs{s.h, s.w, s.c, oh, ow, s.channels, 1, input.border, 0, w, s.algorithm};
  buffer scratch(depthwise ? 0 : static_cast<std::size_t>(nsk::kernels::conv_2d_scratch_bytes(cs) / 4));
  std::byte* lane = reinterpret_cast<std::byte*>(scratch.data());
  const nsk::tile_range all{0, oh, 0, ow, 0, s.channels};
  const auto run = [&] {
    if (s.what == kind::conv) nsk::kernels::conv_2d({{w, 1, s.algorithm}, input, output, packed.data(), {}}, all, lane);
    if (s.what == kind::dense) nsk::kernels::fully_connected({input, output, packed.data(), {}}, all, lane);
    if (depthwise) nsk::kernels::depthwise_conv_2d({{w}, input, output, packed.data(), {}}, all, lane);
  };
  run();
  outcome r{1e9, 0, 1.0 * oh * ow * s.channels * depth, measure_peak(),
            hash(out.data(), static_cast<std::size_t>(oh) * ow * s.channels)};
  const double end = now() + seconds;
  for (int i = 0; i < 5 || now() < end; ++i) {
    const double start = now();
    run();
    r.seconds = std::min(r.seconds, now() - start);
  }
  r.peak = std::max(r.peak, measure_peak());
  const oracle::result expected = oracle::conv_2d(x, weights, bias, s.channels, p);
  const std::vector<float> got(out.data(), out.data() + expected.value.v.size());
  r.error = oracle::error_units(got, expected.value, expected.magnitude) / (winograd ? 100 : 2 + std::sqrt(depth));
  return r;
}

}

int main(int argc, char** argv) {
  const std::string part = argc > 1 ? argv[1] : "";
  const double seconds = argc > 2 ? std::atof(argv[2]) : 0.3;
  if (!nsk::cpu_supports()) return std::puts("this machine lacks the instruction set"), 1;
  const nsk::float_environment environment;
  std::printf("%-36s %9s %9s %8s %9s  %s\n", "shape", "us", "GFLOP/s", "% peak", "err/tol", "hash");
  bool wrong = false;
  for (const shape& s : shapes) {
    if (std::string(s.name).find(part) == std::string::npos) continue;
    const outcome o = run_shape(s, seconds);
    const double rate = 2e-9 * o.macs / o.seconds, share = rate / o.peak;
    const bool bad = !(o.error <= 1);
    wrong = wrong || bad;
    std::printf("%-36s %9.1f %9.1f %7.1f%% %9.3f  %016llx%s%s\n", s.name, 1e6 * o.seconds, rate, 100 * share, o.error,
                static_cast<unsigned long long>(o.hash), bad ? "  WRONG" : "",
                share < s.wanted ? "  slower than wanted" : "");
    std::fflush(stdout);
  }
  return wrong ? 1 : 0;
}
