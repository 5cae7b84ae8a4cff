// SPDX-License-Identifier: MIT
// Times the kernels that move memory rather than multiply, each beside a plain copy of as many bytes, and checks every
// answer against a loop in double precision. Exit code 1 when an answer is wrong.
//   tail_kernels [name]     only cases whose name contains `name`
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>
#include <netsuke/kernels/elements/binary.hpp>
#include <netsuke/kernels/elements/copy.hpp>
#include <netsuke/kernels/elements/fill.hpp>
#include <netsuke/kernels/images/pool_2d.hpp>
#include <netsuke/kernels/lines/reduce.hpp>
#include <netsuke/kernels/images/resize_2d.hpp>
#include <netsuke/kernels/lines/softmax.hpp>
#include <netsuke/kernels/elements/unary.hpp>

namespace {

using nsk::tensor_view;

/// Seconds of one call: the best of many.
double time_of(const std::function<void()>& f) {
  double best = 1e9, total = 0;
  for (int i = 0; i < 2000 && (total < 0.15 || i < 5); ++i) {
    const auto start = std::chrono::steady_clock::now();
    f();
    const double t = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = std::min(best, t);
    total += t;
  }
  return best;
}
/// Cycles per nanosecond, from a chain of dependent additions of one cycle each.
double clock_rate() {
  volatile std::uint64_t sink = 0;
  const double t = time_of([&] {
    std::uint64_t x = sink;
    for (int i = 0; i < 100000; ++i) {
#if defined(__GNUC__)
      __asm__ volatile("" : "+r"(x));
#endif
      ++x;
    }
    sink = x;
  });
  return 100000 / t * 1e-9;
}

class image {
 public:
  explicit image(std::vector<int> shape, std::vector<int> order = {}) : m_shape(std::move(shape)) {
    if (order.empty())
      for (std::size_t d = 0; d < m_shape.size(); ++d) order.push_back(static_cast<int>(d));
    std::ptrdiff_t stride = 1;
    m_view.rank = static_cast<std::uint8_t>(m_shape.size());
    for (std::size_t k = m_shape.size(); k-- > 0;) {
      const int d = order[k];
      m_view.shape[d] = m_shape[static_cast<std::size_t>(d)];
      m_view.stride[d] = stride;
      stride *= m_view.shape[d];
    }
    m_memory.resize(static_cast<std::size_t>(stride) + 64);
    std::uint32_t s = 9;
    for (float& x : m_memory)
      x = (static_cast<float>((s = s * 1664525u + 1013904223u) >> 8) / 8388608.0f - 1.0f) * 4.0f;
    m_view.data = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(m_memory.data()) + 63) / 64 * 64);
  }
  const tensor_view& view() const { return m_view; }
  float at(int n, int y, int x, int c) const {
    return m_view
        .as<float>()[n * m_view.stride[0] + y * m_view.stride[1] + x * m_view.stride[2] + c * m_view.stride[3]];
  }
  double bytes() const {
    double n = 4;
    for (int d : m_shape) n *= d;
    return n;
  }

 private:
  std::vector<int> m_shape;
  std::vector<float> m_memory;
  tensor_view m_view{};
};

nsk::tile_range whole(const tensor_view& v) {
  int rows = 1;
  for (int d = 0; d < v.rank - 2; ++d) rows *= v.shape[d];
  return {0, rows, 0, v.length(1), 0, v.length(0)};
}

struct bench {
  std::string filter;
  double rate;
  int wrong = 0;

  /// Times `run`, which fills `out`; want(n, y, x, c) is what a few thousand sampled elements must be.
  void operator()(const char* name, const image& out, double bytes, const std::function<void()>& run,
                  const std::function<double(int, int, int, int)>& want, double tolerance = 1e-5) {
    if (std::string(name).find(filter) == std::string::npos) return;
    run();
    const tensor_view& v = out.view();
    double worst = 0;
    std::uint32_t s = 3;
    for (int k = 0; k < 4000; ++k) {
      int i[4];
      for (int d = 0; d < 4; ++d)
        i[d] = static_cast<int>(((s = s * 1664525u + 1013904223u) >> 9) % static_cast<std::uint32_t>(v.shape[d]));
      const double w = want(i[0], i[1], i[2], i[3]), g = static_cast<double>(out.at(i[0], i[1], i[2], i[3]));
      worst = std::max(worst, std::fabs(g - w) / std::max(1.0, std::fabs(w)));
    }
    const bool good = worst <= tolerance;
    wrong += !good;
    std::vector<float> a(static_cast<std::size_t>(bytes / 8) + 16, 1.0f), b(a.size());
    const double t = time_of(run),
                 copy = time_of([&] { std::memcpy(b.data(), a.data(), static_cast<std::size_t>(bytes / 2)); });
    std::printf("%-44s %9.1f us %7.1f GB/s %6.2f x copy %6.2f cycles/element  error %.1e%s\n", name, t * 1e6,
                bytes / t * 1e-9, t / copy, t * rate * 1e9 / (out.bytes() / 4), worst, good ? "" : "  WRONG");
    std::fflush(stdout);
  }
};

void copies(bench& run) {
  for (const std::vector<int>& s :
       std::vector<std::vector<int>>{{1, 112, 112, 64}, {1, 28, 28, 192}, {1, 224, 224, 3}, {1, 256, 256, 32}}) {
    const image planes(s, {0, 3, 1, 2}), pixels(s);
    image to_planes(s, {0, 3, 1, 2}), to_pixels(s);
    char name[80];
    const auto label = [&](const char* what) {
      std::snprintf(name, sizeof name, "copy %s %dx%dx%d", what, s[1], s[2], s[3]);
      return name;
    };
    run(
        label("dense"), to_pixels, 2 * pixels.bytes(),
        [&] {
          nsk::kernels::copy({pixels.view(), to_pixels.view()}, whole(pixels.view()), nullptr);
        },
        [&](int n, int y, int x, int c) { return static_cast<double>(pixels.at(n, y, x, c)); }, 0);
    run(
        label("NCHW to NHWC"), to_pixels, 2 * pixels.bytes(),
        [&] {
          nsk::kernels::copy({planes.view(), to_pixels.view()}, whole(pixels.view()), nullptr);
        },
        [&](int n, int y, int x, int c) { return static_cast<double>(planes.at(n, y, x, c)); }, 0);
    run(
        label("NHWC to NCHW"), to_planes, 2 * pixels.bytes(),
        [&] {
          nsk::kernels::copy({pixels.view(), to_planes.view()}, whole(pixels.view()), nullptr);
        },
        [&](int n, int y, int x, int c) { return static_cast<double>(pixels.at(n, y, x, c)); }, 0);
  }
  // Concatenation: 24 channels into a tensor of 64; depth to space: 2 x 2 blocks of 3 channels.
  const image narrow({1, 112, 112, 24});
  image wide({1, 112, 112, 64});
  tensor_view part = wide.view();
  part.shape[3] = 24;
  run(
      "copy concat 24 of 64 channels 112x112", wide, 2 * narrow.bytes(),
      [&] {
        nsk::kernels::copy({narrow.view(), part}, whole(part), nullptr);
      },
      [&](int n, int y, int x, int c) {
        return static_cast<double>(c < 24 ? narrow.at(n, y, x, c) : wide.at(n, y, x, c));
      },
      0);
  const image deep({1, 180, 320, 12});
  image flat({1, 360, 640, 3});
  tensor_view from, to;
  from.rank = to.rank = 6;
  const int shape[6] = {1, 180, 2, 320, 2, 3};
  const std::ptrdiff_t in_stride[6] = {0, 320 * 12, 6, 12, 3, 1}, out_stride[6] = {0, 2 * 640 * 3, 640 * 3, 6, 3, 1};
  for (int d = 0; d < 6; ++d) {
    from.shape[d] = to.shape[d] = shape[d];
    from.stride[d] = in_stride[d];
    to.stride[d] = out_stride[d];
  }
  from.data = deep.view().data;
  to.data = flat.view().data;
  run(
      "copy depth to space 180x320x12", flat, 2 * deep.bytes(),
      [&] {
        nsk::kernels::copy({from, to}, whole(to), nullptr);
      },
      [&](int n, int y, int x, int c) {
        return static_cast<double>(deep.at(n, y / 2, x / 2, (y % 2 * 2 + x % 2) * 3 + c));
      },
      0);
  run(
      "fill 360x640x3", flat, flat.bytes(),
      [&] {
        nsk::kernels::fill({{2.0f}, flat.view()}, whole(flat.view()), nullptr);
      },
      [](int, int, int, int) { return 2.0; }, 0);
}

void pointwise(bench& run) {
  for (const std::vector<int>& s :
       std::vector<std::vector<int>>{{1, 112, 112, 64}, {1, 28, 28, 192}, {1, 14, 14, 96}}) {
    const image a(s), b(s);
    image out(s);
    char name[80];
    const auto label = [&](const char* what) {
      std::snprintf(name, sizeof name, "%s %dx%dx%d", what, s[1], s[2], s[3]);
      return name;
    };
    nsk::kernels::binary_args args{{nsk::binary_kind::add}, a.view(), b.view(), out.view(), {}};
    run(
        label("add"), out, 3 * out.bytes(), [&] { nsk::kernels::binary(args, whole(out.view()), nullptr); },
        [&](int n, int y, int x, int c) {
          return static_cast<double>(a.at(n, y, x, c)) + static_cast<double>(b.at(n, y, x, c));
        });
    nsk::kernels::binary_args relu = args;
    relu.e.fn = nsk::function::clip;
    relu.e.beta = 1e30f;
    run(
        label("add relu"), out, 3 * out.bytes(), [&] { nsk::kernels::binary(relu, whole(out.view()), nullptr); },
        [&](int n, int y, int x, int c) {
          return std::max(0.0, static_cast<double>(a.at(n, y, x, c)) + static_cast<double>(b.at(n, y, x, c)));
        });
    nsk::kernels::binary_args channel = args;
    channel.kind = nsk::binary_kind::mul;
    channel.b.stride[0] = channel.b.stride[1] = channel.b.stride[2] = 0;
    run(
        label("mul per channel"), out, 2 * out.bytes(),
        [&] { nsk::kernels::binary(channel, whole(out.view()), nullptr); },
        [&](int n, int y, int x, int c) {
          return static_cast<double>(a.at(n, y, x, c)) * static_cast<double>(b.at(0, 0, 0, c));
        });
    nsk::kernels::binary_args scalar = args;
    scalar.kind = nsk::binary_kind::mul;
    for (std::ptrdiff_t& d : scalar.b.stride) d = 0;
    run(
        label("mul by one number"), out, 2 * out.bytes(),
        [&] { nsk::kernels::binary(scalar, whole(out.view()), nullptr); },
        [&](int n, int y, int x, int c) {
          return static_cast<double>(a.at(n, y, x, c)) * static_cast<double>(b.at(0, 0, 0, 0));
        });
  }
  const image rgb({1, 360, 640, 3}), mean({1, 1, 1, 3});
  image out({1, 360, 640, 3});
  nsk::kernels::binary_args args{{nsk::binary_kind::sub}, rgb.view(), mean.view(), out.view(), {}};
  args.b.stride[0] = args.b.stride[1] = args.b.stride[2] = 0;
  run(
      "sub per channel 360x640x3", out, 2 * out.bytes(),
      [&] { nsk::kernels::binary(args, whole(out.view()), nullptr); },
      [&](int n, int y, int x, int c) {
        return static_cast<double>(rgb.at(n, y, x, c)) - static_cast<double>(mean.at(0, 0, 0, c));
      });
}

void functions(bench& run) {
  const image in({1, 8, 8, 64});
  image out({1, 8, 8, 64});
  const struct {
    const char* name;
    nsk::function f;
    double (*want)(double);
  } list[] = {{"clip (L1)", nsk::function::clip, [](double x) { return std::min(std::max(x, 0.0), 6.0); }},
              {"exp (L1)", nsk::function::exp, [](double x) { return std::exp(x); }},
              {"sigmoid (L1)", nsk::function::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }},
              {"silu (L1)", nsk::function::silu, [](double x) { return x / (1 + std::exp(-x)); }},
              {"tanh (L1)", nsk::function::tanh, [](double x) { return std::tanh(x); }},
              {"erf (L1)", nsk::function::erf, [](double x) { return std::erf(x); }},
              {"gelu (L1)", nsk::function::gelu, [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }},
              {"softplus (L1)", nsk::function::softplus, [](double x) { return std::log1p(std::exp(x)); }},
              {"hard_swish (L1)", nsk::function::hard_swish,
               [](double x) { return x * std::min(1.0, std::max(0.0, x / 6 + 0.5)); }}};
  for (const auto& l : list) {
    nsk::kernels::unary_args a{in.view(), out.view(), {}};
    a.e.fn = l.f;
    a.e.beta = 6;
    run(
        l.name, out, 2 * out.bytes(), [&] { nsk::kernels::unary(a, whole(out.view()), nullptr); },
        [&](int n, int y, int x, int c) { return l.want(static_cast<double>(in.at(n, y, x, c))); }, 1e-6);
  }
}

void pools(bench& run) {
  const struct {
    const char* name;
    int size, channels, kernel, stride, pad;
    nsk::pool_kind kind;
  } list[] = {{"max pool 2x2/2 112x112x64", 112, 64, 2, 2, 0, nsk::pool_kind::max},
              {"max pool 3x3/2 112x112x64", 112, 64, 3, 2, 1, nsk::pool_kind::max},
              {"max pool 2x2/2 28x28x24", 28, 24, 2, 2, 0, nsk::pool_kind::max},
              {"average pool 3x3/2 56x56x96", 56, 96, 3, 2, 1, nsk::pool_kind::average},
              {"average pool global 7x7x1280", 7, 1280, 7, 1, 0, nsk::pool_kind::average}};
  for (const auto& l : list) {
    const int size = (l.size + 2 * l.pad - l.kernel) / l.stride + 1;
    const image in({1, l.size, l.size, l.channels});
    image out({1, size, size, l.channels});
    nsk::kernels::pool_2d_args a{
        {l.kind, {l.kernel, l.kernel, l.stride, l.stride, 1, 1, l.pad, l.pad}, false, l.pad, l.pad},
        in.view(),
        out.view()};
    run(
        l.name, out, in.bytes() + out.bytes(), [&] { nsk::kernels::pool_2d(a, whole(out.view()), nullptr); },
        [&](int n, int y, int x, int c) {
          double maximum = -1e30, sum = 0;
          int taps = 0;
          for (int i = 0; i < l.kernel; ++i)
            for (int j = 0; j < l.kernel; ++j) {
              const int r = y * l.stride - l.pad + i, k = x * l.stride - l.pad + j;
              if (r < 0 || k < 0 || r >= l.size || k >= l.size) continue;
              maximum = std::max(maximum, static_cast<double>(in.at(n, r, k, c)));
              sum += static_cast<double>(in.at(n, r, k, c));
              ++taps;
            }
          return l.kind == nsk::pool_kind::max ? maximum : sum / taps;
        });
  }
}

void resizes(bench& run) {
  const struct {
    const char* name;
    int h, w, channels, scale, taps;
  } list[] = {{"resize linear x2 180x320x3", 180, 320, 3, 2, 2},
              {"resize nearest x2 180x320x3", 180, 320, 3, 2, 1},
              {"resize linear x2 40x40x64", 40, 40, 64, 2, 2},
              {"resize nearest x2 40x40x64", 40, 40, 64, 2, 1}};
  for (const auto& l : list) {
    const image in({1, l.h, l.w, l.channels});
    image out({1, l.h * l.scale, l.w * l.scale, l.channels});
    std::vector<std::int32_t> index[2];
    std::vector<float> weight[2];
    for (int axis = 0; axis < 2; ++axis) {
      const int length = axis == 0 ? l.h : l.w;
      for (int o = 0; o < length * l.scale; ++o) {
        const double at = l.taps == 1 ? o / l.scale : std::max(0.0, (o + 0.5) / l.scale - 0.5);
        for (int k = 0; k < l.taps; ++k) {
          index[axis].push_back(std::min(static_cast<int>(at) + k, length - 1));
          weight[axis].push_back(
              l.taps == 1 ? 1.0f : static_cast<float>(k == 0 ? 1 - (at - std::floor(at)) : at - std::floor(at)));
        }
      }
    }
    std::vector<std::byte> scratch(static_cast<std::size_t>(nsk::kernels::resize_2d_scratch_bytes(l.taps)) + 64);
    std::byte* lane = scratch.data() + (64 - reinterpret_cast<std::uintptr_t>(scratch.data()) % 64);
    nsk::kernels::resize_2d_args a{{l.taps, l.taps}, in.view(),       out.view(),      index[0].data(),
                                   weight[0].data(), index[1].data(), weight[1].data()};
    run(
        l.name, out, in.bytes() + out.bytes(), [&] { nsk::kernels::resize_2d(a, whole(out.view()), lane); },
        [&](int n, int y, int x, int c) {
          double sum = 0;
          for (int i = 0; i < l.taps; ++i)
            for (int j = 0; j < l.taps; ++j) {
              const std::size_t r = static_cast<std::size_t>(y * l.taps + i),
                                k = static_cast<std::size_t>(x * l.taps + j);
              sum += static_cast<double>(weight[0][r]) * static_cast<double>(weight[1][k]) *
                     static_cast<double>(in.at(n, index[0][r], index[1][k], c));
            }
          return sum;
        });
  }
}

void reductions(bench& run) {
  const struct {
    const char* name;
    std::vector<int> in, out;
  } list[] = {{"mean over pixels 14x14x576", {1, 14, 14, 576}, {1, 1, 1, 576}},
              {"mean over pixels 112x112x16", {1, 112, 112, 16}, {1, 1, 1, 16}},
              {"mean over channels 196x768", {1, 1, 196, 768}, {1, 1, 196, 1}},
              {"mean over channels 4096x64", {1, 1, 4096, 64}, {1, 1, 4096, 1}}};
  for (const auto& l : list) {
    const image in(l.in);
    image out(l.out);
    nsk::kernels::reduce_args a{{nsk::reduce_kind::mean}, in.view(), out.view(), {}};
    run(
        l.name, out, in.bytes(), [&] { nsk::kernels::reduce(a, whole(out.view()), nullptr); },
        [&](int n, int y, int x, int c) {
          double sum = 0;
          for (int i = 0; i < l.in[1] / l.out[1]; ++i)
            for (int j = 0; j < l.in[2] / l.out[2]; ++j)
              for (int k = 0; k < l.in[3] / l.out[3]; ++k)
                sum +=
                    static_cast<double>(in.at(n, l.out[1] == 1 ? i : y, l.out[2] == 1 ? j : x, l.out[3] == 1 ? k : c));
          return sum / (in.bytes() / out.bytes());
        },
        1e-4);
  }
}

void softmaxes(bench& run) {
  for (const std::vector<int>& s :
       std::vector<std::vector<int>>{{1, 1, 1, 1000}, {1, 8, 196, 196}, {1, 1, 8400, 16}, {1, 1, 4000, 21}}) {
    const image in(s);
    image out(s);
    char name[80];
    std::snprintf(name, sizeof name, "softmax %dx%d", s[1] * s[2], s[3]);
    nsk::kernels::softmax_args a{{3, false}, in.view(), out.view()};
    run(
        name, out, 2 * out.bytes(), [&] { nsk::kernels::softmax(a, whole(out.view()), nullptr); },
        [&](int n, int y, int x, int c) {
          double sum = 0;
          for (int k = 0; k < s[3]; ++k) sum += std::exp(static_cast<double>(in.at(n, y, x, k)));
          return std::exp(static_cast<double>(in.at(n, y, x, c))) / sum;
        },
        1e-6);
  }
  const image in({1, 16, 64, 64});
  image out({1, 16, 64, 64});
  nsk::kernels::softmax_args a{{1, false}, in.view(), out.view()};
  run(
      "softmax across 16 rows of 64x64", out, 2 * out.bytes(),
      [&] { nsk::kernels::softmax(a, whole(out.view()), nullptr); },
      [&](int n, int y, int x, int c) {
        double sum = 0;
        for (int k = 0; k < 16; ++k) sum += std::exp(static_cast<double>(in.at(n, k, x, c)));
        return std::exp(static_cast<double>(in.at(n, y, x, c))) / sum;
      },
      1e-6);
}

}  // namespace

int main(int count, char** arguments) {
  bench run{count > 1 ? arguments[1] : "", clock_rate()};
  std::printf("clock %.2f GHz\n", run.rate);
  copies(run);
  pointwise(run);
  functions(run);
  pools(run);
  resizes(run);
  reductions(run);
  softmaxes(run);
  if (run.wrong != 0) std::printf("%d wrong\n", run.wrong);
  return run.wrong == 0 ? 0 : 1;
}
