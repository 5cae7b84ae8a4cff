// SPDX-License-Identifier: MIT
#pragma once
/// Tensors for kernel tests: any layout, with memory around them that tells when it was written.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>
#include <netsuke/format/packing.hpp>
#include <netsuke/core/tensor.hpp>
#include <netsuke/kernels/path.hpp>
#include "../oracle/naive.hpp"

namespace {

/// Kernels that have code for these functions and paths alone.
template <class Functions, nsk::fast_path... Paths>
using with_paths = nsk::kernels::kernels_for<Functions, nsk::path_list<Paths...>, false, false>;

/// Numbers in [-1, 1), the same on every machine.
struct random_floats {
  std::uint32_t state;
  explicit random_floats(std::uint32_t seed) : state(seed * 2654435761u + 1u) {}
  float operator()() {
    state = state * 1664525u + 1013904223u;
    return static_cast<float>(state >> 8) / 8388608.0f - 1.0f;
  }
  int between(int low, int high) {
    return low + static_cast<int>((*this)() * 0.4999f * static_cast<float>(high - low + 1) +
                                  0.5f * static_cast<float>(high - low + 1));
  }
  std::vector<float> many(std::size_t n) {
    std::vector<float> v(n);
    for (float& x : v) x = (*this)();
    return v;
  }
};

/// Storage of floats that begins on a cache line, with the over-read pad.
class aligned_floats {
 public:
  explicit aligned_floats(std::size_t n) : m_memory(n + 32, untouched()), m_size(n) {}
  aligned_floats(const aligned_floats& other) : aligned_floats(other.m_size) {
    std::memcpy(data(), other.data(), m_size * sizeof(float));
  }
  aligned_floats& operator=(const aligned_floats&) = delete;
  float* data() { return m_memory.data() + (64 - reinterpret_cast<std::uintptr_t>(m_memory.data()) % 64) % 64 / 4; }
  const float* data() const { return const_cast<aligned_floats*>(this)->data(); }
  std::size_t size() const { return m_size; }
  /// A NaN that no computation makes.
  static float untouched() {
    const std::uint32_t bits = 0x7fc0dea1u;
    float x;
    std::memcpy(&x, &bits, 4);
    return x;
  }

 private:
  std::vector<float> m_memory;
  std::size_t m_size;
};

/// How a tensor is stored in memory.
struct layout {
  nsk::halo border{};
  float fill = 0;
  int channels_before = 0, channels_after = 0;  ///< of the wider tensor that it is a slice of
};

/// An [n, h, w, c] tensor in its own memory.
class placed {
 public:
  placed(int n, int h, int w, int c, layout l = {})
      : m_layout(l), m_memory(floats(n, h, w, c, l)), m_shape{n, h, w, c} {
    const int stride = c + l.channels_before + l.channels_after;
    m_view.rank = 4;
    m_view.border = l.border;
    m_view.fill = l.fill;
    m_view.stride[3] = 1;
    m_view.stride[2] = stride;
    m_view.stride[1] = std::ptrdiff_t{stride} * (w + l.border.left + l.border.right);
    m_view.stride[0] = m_view.stride[1] * (h + l.border.top + l.border.bottom);
    m_first = l.border.top * m_view.stride[1] + l.border.left * m_view.stride[2] + l.channels_before;
    for (int d = 0; d < 4; ++d) m_view.shape[d] = m_shape[d];
  }
  nsk::tensor_view view() {
    nsk::tensor_view v = m_view;
    v.data = reinterpret_cast<std::byte*>(m_memory.data() + m_first);
    return v;
  }
  float& at(int n, int y, int x, int c) {
    return m_memory.data()[m_first + n * m_view.stride[0] + y * m_view.stride[1] + x * m_view.stride[2] + c];
  }
  const std::ptrdiff_t* strides() const { return m_view.stride; }

  /// Sets the elements, and the border to its fill.
  void set(const std::vector<float>& dense) {
    std::size_t i = 0;
    const nsk::halo b = m_layout.border;
    for (int n = 0; n < m_shape[0]; ++n)
      for (int y = -b.top; y < m_shape[1] + b.bottom; ++y)
        for (int x = -b.left; x < m_shape[2] + b.right; ++x)
          for (int c = 0; c < m_shape[3]; ++c) at(n, y, x, c) = inside(y, x) ? dense[i++] : m_layout.fill;
  }
  std::vector<float> dense() {
    std::vector<float> d;
    for (int n = 0; n < m_shape[0]; ++n)
      for (int y = 0; y < m_shape[1]; ++y)
        for (int x = 0; x < m_shape[2]; ++x)
          for (int c = 0; c < m_shape[3]; ++c) d.push_back(at(n, y, x, c));
    return d;
  }
  /// Returns what is wrong outside the elements: a border pixel without the fill, or foreign memory that changed; empty
  /// if nothing.
  std::string damage() {
    std::vector<bool> own(m_memory.size());
    const nsk::halo b = m_layout.border;
    for (int n = 0; n < m_shape[0]; ++n)
      for (int y = -b.top; y < m_shape[1] + b.bottom; ++y)
        for (int x = -b.left; x < m_shape[2] + b.right; ++x)
          for (int c = 0; c < m_shape[3]; ++c) {
            float* p = &at(n, y, x, c);
            own[static_cast<std::size_t>(p - m_memory.data())] = true;
            if (!inside(y, x) && !(*p == m_layout.fill))
              return "border at " + std::to_string(y) + ", " + std::to_string(x);
          }
    const float expected = aligned_floats::untouched();
    for (std::size_t i = 0; i < own.size(); ++i)
      if (!own[i] && std::memcmp(m_memory.data() + i, &expected, 4) != 0)
        return "foreign float " + std::to_string(i) + " written";
    return {};
  }

 private:
  static std::size_t floats(int n, int h, int w, int c, const layout& l) {
    return static_cast<std::size_t>(n) * (h + l.border.top + l.border.bottom) * (w + l.border.left + l.border.right) *
           (c + l.channels_before + l.channels_after);
  }
  bool inside(int y, int x) const { return y >= 0 && y < m_shape[1] && x >= 0 && x < m_shape[2]; }
  layout m_layout;
  aligned_floats m_memory;
  int m_shape[4];
  nsk::tensor_view m_view{};
  std::ptrdiff_t m_first = 0;
};

/// Packs weights [channel][k] and bias as docs/reference/file.md says, one matrix.
inline void pack(const float* weights, const float* bias, int channels, int depth, float* to) {
  const int padded = (channels + 7) / 8 * 8, panels = padded <= 16 ? 1 : padded / 16;
  for (int p = 0; p < panels; ++p) {
    const int left = 16 * p, width = p + 1 < panels ? 16 : padded - left;
    for (int c = 0; c < width; ++c) *to++ = left + c < channels ? bias[left + c] : 0.0f;
    for (int k = 0; k < depth; ++k)
      for (int c = 0; c < width; ++c) *to++ = left + c < channels ? weights[(left + c) * depth + k] : 0.0f;
  }
}

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}
inline std::vector<double> widen(const std::vector<float>& v) { return {v.begin(), v.end()}; }

}
