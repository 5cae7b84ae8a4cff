// SPDX-License-Identifier: MIT
#pragma once
/// Tensors for kernel tests: any strides, border and misalignment, in memory whose every other byte is guarded.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>
#include <doctest/doctest.h>
#include <netsuke/core/tensor.hpp>
#include <oracle/naive_tail.hpp>

namespace tail {

/// A small generator with the same numbers everywhere.
class random {
 public:
  explicit random(std::uint32_t seed) : m_state(seed * 2654435761u + 1u) {}
  std::uint32_t bits() {
    m_state ^= m_state << 13;
    m_state ^= m_state >> 17;
    m_state ^= m_state << 5;
    return m_state;
  }
  int below(int n) { return static_cast<int>(bits() % static_cast<std::uint32_t>(n)); }
  int between(int low, int high) { return low + below(high - low + 1); }
  bool coin() { return below(2) == 1; }
  /// In [-scale, scale), on a grid of 2^-23.
  float real(float scale = 1) { return (static_cast<float>(bits() >> 8) / 8388608.0f - 1.0f) * scale; }

 private:
  std::uint32_t m_state;
};

struct layout {
  std::vector<int> order;  ///< dimensions from outer to inner in memory; empty: as they come
  int gap = 0;             ///< elements between pixels (after the innermost dimension)
  int shift = 0;           ///< elements of misalignment
  nsk::halo border{};
  float fill = 0;
  nsk::dtype type = nsk::dtype::float32;
};

/// A random layout for a shape; `image`: the last dimension stays innermost, and a border is possible.
inline layout random_layout(random& r, std::size_t rank, bool image) {
  layout l;
  l.gap = r.coin() ? r.between(0, 9) : 0;
  l.shift = r.between(0, 15);
  if (image) {
    if (r.coin()) {
      l.border = {static_cast<std::uint16_t>(r.below(3)), static_cast<std::uint16_t>(r.below(3)),
                  static_cast<std::uint16_t>(r.below(3)), static_cast<std::uint16_t>(r.below(3))};
      l.fill = r.coin() ? 0.0f : -2.5f;
    }
    return l;
  }
  for (std::size_t d = 0; d < rank; ++d) l.order.push_back(static_cast<int>(d));
  if (r.coin())
    for (std::size_t d = rank; d > 1; --d)
      std::swap(l.order[d - 1], l.order[static_cast<std::size_t>(r.below(static_cast<int>(d)))]);
  return l;
}

/// A random layout for elements of another type, its dimensions in any order.
inline layout typed_layout(random& r, std::size_t rank, nsk::dtype type) {
  layout l = random_layout(r, rank, false);
  l.type = type;
  return l;
}

class tensor {
 public:
  static constexpr unsigned char guard = 0xff;  // as floats: NaN, so that a value read by mistake shows

  tensor(std::vector<int> shape, layout l) : m_shape(std::move(shape)), m_layout(std::move(l)) {
    const std::size_t rank = m_shape.size();
    if (m_layout.order.empty())
      for (std::size_t d = 0; d < rank; ++d) m_layout.order.push_back(static_cast<int>(d));
    m_view.type = m_layout.type;
    m_view.rank = static_cast<std::uint8_t>(rank);
    m_view.border = m_layout.border;
    m_view.fill = m_layout.fill;
    std::ptrdiff_t stride = 1;
    for (std::size_t k = rank; k-- > 0;) {
      const std::size_t d = static_cast<std::size_t>(m_layout.order[k]);
      m_view.shape[d] = m_shape[d];
      m_view.stride[d] = stride;
      stride = stride * extent(d) + (k + 1 == rank ? m_layout.gap : 0);
    }
    const std::ptrdiff_t before = 64 + m_layout.shift + origin();
    const std::size_t size = static_cast<std::size_t>(nsk::size_of(m_layout.type));
    m_memory.assign((static_cast<std::size_t>(64 + m_layout.shift + stride) + 64) * size + 64, guard);
    const std::size_t misfit = reinterpret_cast<std::uintptr_t>(m_memory.data()) % 64;
    m_start = (misfit == 0 ? 0 : 64 - misfit) + static_cast<std::size_t>(before) * size;
    m_view.data = reinterpret_cast<std::byte*>(m_memory.data() + m_start);
  }
  tensor(const tensor&) = delete;
  tensor& operator=(const tensor&) = delete;

  const nsk::tensor_view& view() const { return m_view; }
  const std::vector<int>& shape() const { return m_shape; }

  std::ptrdiff_t offset(const std::vector<int>& index) const {
    std::ptrdiff_t o = 0;
    for (std::size_t d = 0; d < index.size(); ++d) o += index[d] * m_view.stride[d];
    return o;
  }
  template <class T>
  T& at(const std::vector<int>& index) {
    return m_view.as<T>()[offset(index)];
  }
  void fill_random(random& r, float scale) {
    oracle::for_each_index(m_shape, [&](const std::vector<int>& i) { at<float>(i) = r.real(scale); });
  }
  oracle::array read() {
    oracle::array a(m_shape);
    oracle::for_each_index(m_shape, [&](const std::vector<int>& i) { a(i) = static_cast<double>(at<float>(i)); });
    return a;
  }
  /// Forgets everything that was written.
  void clear() { std::fill(m_memory.begin(), m_memory.end(), guard); }
  const std::vector<unsigned char>& memory() const { return m_memory; }

  /// Returns whether nothing but elements and border was written, and the border has its fill.
  bool intact() {
    std::vector<unsigned char> ours(m_memory.size(), 0);
    const std::size_t size = static_cast<std::size_t>(nsk::size_of(m_layout.type));
    const auto mark = [&](const std::vector<int>& i) {
      const std::ptrdiff_t at_byte =
          static_cast<std::ptrdiff_t>(m_start) + offset(i) * static_cast<std::ptrdiff_t>(size);
      std::fill_n(ours.begin() + at_byte, size, static_cast<unsigned char>(1));
    };
    oracle::for_each_index(m_shape, mark);
    bool filled = true;
    if (m_shape.size() >= 3) {
      std::vector<int> wide = m_shape;
      const std::size_t h = wide.size() - 3, w = wide.size() - 2;
      const nsk::halo& b = m_layout.border;
      wide[h] += b.top + b.bottom;
      wide[w] += b.left + b.right;
      oracle::for_each_index(wide, [&](std::vector<int> i) {
        i[h] -= b.top;
        i[w] -= b.left;
        if (i[h] >= 0 && i[h] < m_shape[h] && i[w] >= 0 && i[w] < m_shape[w]) return;
        mark(i);
        filled = filled && border_value(i) == static_cast<double>(m_layout.fill);
      });
    }
    for (std::size_t i = 0; i < ours.size(); ++i)
      if (ours[i] == 0 && m_memory[i] != guard) return false;
    return filled;
  }

 private:
  std::ptrdiff_t extent(std::size_t d) const {
    const std::size_t rank = m_shape.size();
    if (rank >= 3 && d + 3 == rank) return m_shape[d] + m_layout.border.top + m_layout.border.bottom;
    if (rank >= 3 && d + 2 == rank) return m_shape[d] + m_layout.border.left + m_layout.border.right;
    return m_shape[d];
  }
  std::ptrdiff_t origin() const {
    const std::size_t rank = m_shape.size();
    return rank < 3 ? 0
                    : m_layout.border.top * m_view.stride[rank - 3] + m_layout.border.left * m_view.stride[rank - 2];
  }
  double border_value(const std::vector<int>& i) {
    switch (m_layout.type) {
      case nsk::dtype::float32: return static_cast<double>(at<float>(i));
      case nsk::dtype::int64: return static_cast<double>(at<std::int64_t>(i));
      case nsk::dtype::int32: return at<std::int32_t>(i);
      case nsk::dtype::int16: return at<std::int16_t>(i);
      case nsk::dtype::int8: return at<std::int8_t>(i);
      default: return at<std::uint8_t>(i);
    }
  }

  std::vector<int> m_shape;
  layout m_layout;
  nsk::tensor_view m_view{};
  std::vector<unsigned char> m_memory;
  std::size_t m_start = 0;
};

/// The whole output as one tile.
inline nsk::tile_range whole(const nsk::tensor_view& v) {
  int rows = 1;
  for (int d = 0; d < v.rank - 2; ++d) rows *= v.shape[d];
  return {0, rows, 0, v.length(1), 0, v.length(0)};
}

/// Cuts every range of the tile at random multiples of `unit` and shuffles the pieces.
inline std::vector<nsk::tile_range> random_tiles(random& r, const nsk::tile_range& t, int row_unit = 1,
                                                 int pixel_unit = 1, int channel_unit = 1) {
  const auto cut = [&](int begin, int end, int unit) {
    std::vector<int> at{begin};
    for (int k = 0; k < 2; ++k)
      if ((end - begin) / unit > 1) at.push_back(begin + r.between(1, (end - begin) / unit - 1) * unit);
    at.push_back(end);
    std::sort(at.begin(), at.end());
    at.erase(std::unique(at.begin(), at.end()), at.end());
    return at;
  };
  const std::vector<int> rows = cut(t.row_begin, t.row_end, row_unit),
                         pixels = cut(t.pixel_begin, t.pixel_end, pixel_unit),
                         channels = cut(t.channel_begin, t.channel_end, channel_unit);
  std::vector<nsk::tile_range> tiles;
  for (std::size_t i = 0; i + 1 < rows.size(); ++i)
    for (std::size_t j = 0; j + 1 < pixels.size(); ++j)
      for (std::size_t k = 0; k + 1 < channels.size(); ++k)
        tiles.push_back({rows[i], rows[i + 1], pixels[j], pixels[j + 1], channels[k], channels[k + 1]});
  for (std::size_t i = tiles.size(); i > 1; --i)
    std::swap(tiles[i - 1], tiles[static_cast<std::size_t>(r.below(static_cast<int>(i)))]);
  return tiles;
}

/// FNV-1a over the elements of results, in order: one number that is the same on every instruction set, compiler and
/// optimisation.
class digest {
 public:
  void add(tensor& t) {
    oracle::for_each_index(t.shape(), [&](const std::vector<int>& i) {
      const float x = t.at<float>(i);
      std::uint32_t b;
      std::memcpy(&b, &x, sizeof b);
      if (x != x) b = 0x7fc00000u;  // a NaN agrees in place, not in payload
      m_value = (m_value ^ b) * 1099511628211u;
    });
  }
  std::uint64_t value() const { return m_value; }

 private:
  std::uint64_t m_value = 1469598103934665603u;
};

/// Runs a kernel on the whole output and on random tiles, and checks that both leave the same bytes and touch nothing
/// else.
inline void run_checked(random& r, tensor& output, const std::function<void(const nsk::tile_range&)>& kernel,
                        int row_unit = 1, int pixel_unit = 1, int channel_unit = 1) {
  const nsk::tile_range all = whole(output.view());
  output.clear();
  for (const nsk::tile_range& t : random_tiles(r, all, row_unit, pixel_unit, channel_unit)) kernel(t);
  const std::vector<unsigned char> pieces = output.memory();
  output.clear();
  kernel(all);
  CHECK_MESSAGE(output.intact(), "bytes outside were written, or the border is wrong");
  CHECK_MESSAGE(pieces == output.memory(), "tiles changed the bits");
}

/// Whether two tensors of floats of that shape have the same numbers.
inline bool same_numbers(const std::vector<int>& shape, tensor& a, tensor& b) {
  bool same = true;
  oracle::for_each_index(shape, [&](const std::vector<int>& i) { same = same && a.at<float>(i) == b.at<float>(i); });
  return same;
}

/// Checks got against want: |difference| <= tolerance * epsilon * magnitude(i), magnitude from `scale` or the wanted
/// value.
inline void check_close(tensor& got, const oracle::array& want, double k, double scale = 0) {
  double worst = 0;
  bool nan_mismatch = false;
  oracle::for_each_index(want.shape, [&](const std::vector<int>& i) {
    const double g = static_cast<double>(got.at<float>(i)), w = want(i);
    if (std::isnan(g) || std::isnan(w)) {
      nan_mismatch = nan_mismatch || std::isnan(g) != std::isnan(w);
    } else if (std::isinf(w) || std::isinf(g)) {
      nan_mismatch = nan_mismatch || g != w;
    } else {
      const double unit = 1.1920928955078125e-7 * std::max({std::fabs(w), scale, 1e-37});
      worst = std::max(worst, std::fabs(g - w) / unit);
    }
  });
  CHECK_FALSE(nan_mismatch);
  CHECK_MESSAGE(worst <= k, "error in epsilons");
}

}  // namespace tail
