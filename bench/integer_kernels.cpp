// SPDX-License-Identifier: MIT
/// Times the kernels on stored integers against the float32 kernels of the same build on the same shapes, one thread,
/// in turn: the ratios of docs/measurements/quantisation.md. Every byte is compared with sums of int64; a wrong one
/// makes the exit code 1. Usage: bench_integer_kernels [part of a name] [seconds per shape]
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#include <netsuke/kernels/conv/conv_2d.hpp>
#include <netsuke/kernels/depthwise/depthwise_conv_2d.hpp>
#include <netsuke/kernels/int8/quantized_conv_2d.hpp>
#include <netsuke/kernels/int8/quantized_depthwise_conv_2d.hpp>
#include <netsuke/simd/float_env.hpp>
#include "../tests/kernels/quantized_support.hpp"

namespace {

using nsk::kernels::quad_products;

struct shape {
  const char* name;
  bool depthwise;
  int size, c, channels, kernel, stride;
  int pad() const { return kernel / 2; }
  int out() const { return (size + 2 * pad() - kernel) / stride + 1; }
  int depth() const { return kernel * kernel * (depthwise ? 1 : c); }
};

constexpr shape shapes[] = {
    {"1x1 14x14 256->1024", false, 14, 256, 1024, 1, 1},     {"1x1 14x14 1024->256", false, 14, 1024, 256, 1, 1},
    {"1x1 56x56 64->256", false, 56, 64, 256, 1, 1},         {"1x1 14x14 96->576", false, 14, 96, 576, 1, 1},
    {"1x1 7x7 960->160", false, 7, 960, 160, 1, 1},          {"1x1 56x56 24->144", false, 56, 24, 144, 1, 1},
    {"1x1 112x112 16->96", false, 112, 16, 96, 1, 1},        {"3x3 56x56 64->64", false, 56, 64, 64, 3, 1},
    {"3x3 7x7 512->512", false, 7, 512, 512, 3, 1},          {"stem 7x7/2 224 3->64", false, 224, 3, 64, 7, 2},
    {"depthwise 3x3 112x112x32", true, 112, 32, 32, 3, 1},   {"depthwise 3x3 56x56x144", true, 56, 144, 144, 3, 1},
    {"depthwise 3x3/2 56x56x144", true, 56, 144, 144, 3, 2}, {"depthwise 3x3 28x28x192", true, 28, 192, 192, 3, 1},
    {"depthwise 3x3 14x14x576", true, 14, 576, 576, 3, 1},   {"depthwise 3x3 7x7x960", true, 7, 960, 960, 3, 1},
    {"depthwise 5x5 14x14x240", true, 14, 240, 240, 5, 1},
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Memory on a cache line, with the over-read pad behind.
template <class T>
struct buffer {
  std::vector<T> memory;
  explicit buffer(std::size_t n) : memory(n + 256 / sizeof(T)) {}
  T* data() { return memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64) % 64 / sizeof(T); }
};

/// A dense image, with `border` zeros around it.
template <class T>
nsk::tensor_view image_view(buffer<T>& b, int size, int c, int border) {
  nsk::tensor_view v{};
  v.rank = 4;
  const auto edge = static_cast<std::uint16_t>(border);
  v.border = {edge, edge, edge, edge};
  const std::ptrdiff_t row = std::ptrdiff_t{c} * (size + 2 * border);
  v.data = reinterpret_cast<std::byte*>(b.data() + border * (row + c));
  const int sizes[] = {1, size, size, c};
  const std::ptrdiff_t stride[] = {row * (size + 2 * border), row, c, 1};
  std::copy(sizes, sizes + 4, v.shape);
  std::copy(stride, stride + 4, v.stride);
  return v;
}

/// The float32 kernel of a shape on random numbers, with the bounds of a Relu6.
class float_layer {
 public:
  explicit float_layer(const shape& s)
      : m_shape(s),
        m_in(static_cast<std::size_t>(s.size + 2 * s.pad()) * static_cast<std::size_t>((s.size + 2 * s.pad()) * s.c)),
        m_out(static_cast<std::size_t>(s.out()) * static_cast<std::size_t>(s.out() * s.channels)),
        m_packed(static_cast<std::size_t>(nsk::panel_floats(s.channels, s.depth()))),
        m_input(image_view(m_in, s.size, s.c, s.pad())),
        m_output(image_view(m_out, s.out(), s.channels, 0)) {
    random_floats next(1);
    std::generate(m_packed.memory.begin(), m_packed.memory.end(), [&] { return next(); });
    for (int y = 0; y < s.size; ++y)
      for (int i = 0; i < s.size * s.c; ++i) m_input.as<float>()[y * m_input.stride[1] + i] = next();
    const nsk::kernels::conv_2d_shape cs{
        s.size, s.size, s.c, s.out(), s.out(), s.channels, 1, m_input.border, 0, window(), nsk::conv_algorithm::direct};
    m_scratch.resize(static_cast<std::size_t>(s.depthwise ? 64 : nsk::kernels::conv_2d_scratch_bytes(cs)) + 64);
  }

  void run() {
    const shape& s = m_shape;
    const nsk::tile_range all{0, s.out(), 0, s.out(), 0, s.channels};
    nsk::epilogue bounds;
    bounds.fn = nsk::function::clip;
    bounds.beta = 6;
    if (s.depthwise)
      nsk::kernels::depthwise_conv_2d({{window()}, m_input, m_output, m_packed.data(), bounds}, all, scratch());
    else
      nsk::kernels::conv_2d({{window(), 1, nsk::conv_algorithm::direct}, m_input, m_output, m_packed.data(), bounds},
                            all, scratch());
  }

 private:
  nsk::window window() const {
    return {m_shape.kernel, m_shape.kernel, m_shape.stride, m_shape.stride, 1, 1, m_shape.pad(), m_shape.pad()};
  }
  std::byte* scratch() {
    return m_scratch.data() + (64 - reinterpret_cast<std::uintptr_t>(m_scratch.data()) % 64) % 64;
  }

  shape m_shape;
  buffer<float> m_in, m_out, m_packed;
  nsk::tensor_view m_input, m_output;
  std::vector<std::byte> m_scratch;
};

/// The kernel on stored integers of a shape, by one way to add products.
class integer_layer {
 public:
  integer_layer(const shape& s, quad_products products)
      : m_shape(s),
        m_next(7),
        m_matrix(s.depthwise
                     ? stored::random_matrix(m_next, s.channels, groups() * s.kernel, 4, safe(products), false)
                     : stored::random_matrix(m_next, s.channels, s.kernel, s.kernel * s.c, safe(products), false)),
        m_in(static_cast<std::size_t>(s.size) * static_cast<std::size_t>(s.size * s.c)),
        m_out(static_cast<std::size_t>(s.out()) * static_cast<std::size_t>(s.out() * s.channels)) {
    stored::pack(m_matrix, m_packed);
    m_packed.resize(m_packed.size() + nsk::over_read);
    for (std::uint8_t& byte : m_in.memory) byte = static_cast<std::uint8_t>(m_next.between(0, 255));
    set(m_conv, products);
    set(m_depthwise, products);
    m_conv.whole_rows = true;
    m_scratch.resize(static_cast<std::size_t>(
                         s.depthwise ? nsk::kernels::quantized_depthwise_conv_2d_scratch_bytes(m_depthwise.w, false)
                                     : nsk::kernels::quantized_conv_2d_scratch_bytes(m_conv.w, s.c, s.out(), s.out())) +
                     64);
  }

  void run() {
    std::byte* const scratch = m_scratch.data() + (64 - reinterpret_cast<std::uintptr_t>(m_scratch.data()) % 64) % 64;
    const nsk::tile_range all{0, m_shape.out(), 0, m_shape.out(), 0, m_shape.channels};
    if (m_shape.depthwise)
      nsk::kernels::quantized_depthwise_conv_2d(m_depthwise, all, scratch);
    else
      nsk::kernels::quantized_conv_2d(m_conv, all, scratch);
  }

  /// Returns how many bytes of the output differ from sums of int64.
  int wrong() {
    int count = 0;
    for (int y = 0; y < m_shape.out(); ++y)
      for (int x = 0; x < m_shape.out(); ++x)
        for (int c = 0; c < m_shape.channels; c += 7) {
          const float scale = m_matrix.scale[static_cast<std::size_t>(c)];
          const std::uint8_t expected = stored::requantised(sum(y, x, c), scale, stored::range_of(m_conv));
          count += stored::byte_at(m_conv.output, 0, y, x, c) != expected;
        }
    return count;
  }

 private:
  static bool safe(quad_products products) { return products == quad_products::safe; }
  int groups() const { return nsk::depthwise_places(m_shape.kernel) / 4; }
  template <class Args>
  void set(Args& a, quad_products products) {
    random_floats next(3);
    stored::set_numbers(a, next);
    a.w = {m_shape.kernel, m_shape.kernel, m_shape.stride, m_shape.stride, 1, 1, m_shape.pad(), m_shape.pad()};
    a.products = products;
    a.input = image_view(m_in, m_shape.size, m_shape.c, 0);
    a.output = image_view(m_out, m_shape.out(), m_shape.channels, 0);
    a.weights = m_packed.data();
  }
  int pixel(int y, int x, int c) const {
    const bool inside = y >= 0 && y < m_shape.size && x >= 0 && x < m_shape.size;
    return inside ? stored::byte_at(m_conv.input, 0, y, x, c) : m_conv.input_zero;
  }
  std::int64_t sum(int y, int x, int c) {
    const shape& s = m_shape;
    std::int64_t total = m_matrix.bias[static_cast<std::size_t>(c)];
    const int top = y * s.stride - s.pad(), left = x * s.stride - s.pad();
    if (s.depthwise) {
      for (int place = 0; place < 4 * groups(); ++place)
        for (int j = 0; j < s.kernel; ++j)
          total += std::int64_t{pixel(top + nsk::row_of_place(place, s.kernel), left + j, c)} *
                   m_matrix.weight(c, place / 4 * s.kernel + j, place % 4);
      return total;
    }
    for (int i = 0; i < s.kernel; ++i)
      for (int j = 0; j < s.kernel; ++j)
        for (int k = 0; k < s.c; ++k)
          total += std::int64_t{pixel(top + i, left + j, k)} * m_matrix.weight(c, i, j * s.c + k);
    return total;
  }

  shape m_shape;
  random_floats m_next;
  stored::matrix m_matrix;
  std::vector<std::byte> m_packed, m_scratch;
  buffer<std::uint8_t> m_in, m_out;
  nsk::kernels::quantized_conv_2d_args m_conv{};
  nsk::kernels::quantized_depthwise_conv_2d_args m_depthwise{};
};

template <class Layer>
double seconds_of(Layer& layer) {
  const double start = now();
  layer.run();
  return now() - start;
}

/// Prints the line of a shape; returns whether all bytes were right.
bool print_shape(const shape& s, double seconds) {
  float_layer real(s);
  std::vector<integer_layer> layers;
  for (const quad_products products : stored::all_products()) layers.emplace_back(s, products);
  int wrong = 0;
  for (integer_layer& layer : layers) layer.run(), wrong += layer.wrong();
  real.run();
  double min_real = 1e9;
  std::vector<double> min_integers(layers.size(), 1e9);
  const double end = now() + seconds;
  for (int round = 0; round < 10 || now() < end; ++round) {
    min_real = std::min(min_real, seconds_of(real));
    for (std::size_t i = 0; i < layers.size(); ++i) min_integers[i] = std::min(min_integers[i], seconds_of(layers[i]));
  }
  std::printf("%-28s %9.1f", s.name, 1e6 * min_real);
  for (const double t : min_integers) std::printf(" %9.1f %5.2f", 1e6 * t, min_real / t);
  std::printf("%s\n", wrong != 0 ? "  WRONG" : "");
  std::fflush(stdout);
  return wrong == 0;
}

}

int main(int argc, char** argv) {
  const std::string part = argc > 1 ? argv[1] : "";
  const double seconds = argc > 2 ? std::atof(argv[2]) : 0.3;
  if (!nsk::cpu_supports()) return std::puts("this machine lacks the instruction set"), 1;
  const nsk::float_environment environment;
  std::printf("%-28s %9s %15s %15s%s\n", "us, and float32 over it", "float32", "any weights", "pair-safe",
              nsk::simd::has_native_dot4() ? "    quads at once" : "");
  bool right = true;
  for (const shape& s : shapes)
    if (std::string(s.name).find(part) != std::string::npos) right = print_shape(s, seconds) && right;
  return right ? 0 : 1;
}
