// SPDX-License-Identifier: MIT
#pragma once
/// What headers that `nsk codegen` writes are made of: tensors whose places are constants, ports, and the memory of one
/// network. docs/guide/code_generation.md shows such a header.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <netsuke/core/flags.hpp>
#include <netsuke/core/random.hpp>
#include <netsuke/core/span.hpp>
#include <netsuke/core/status.hpp>
#include <netsuke/core/tensor.hpp>
#include <netsuke/format/tiles.hpp>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/path.hpp>
#include <netsuke/simd/float_env.hpp>

NSK_BEGIN
namespace codegen {

/// A tensor of a generated network: where it is, and what a kernel has to know of it.
struct tensor {
  bool is_constant = false;  ///< in the weights instead of the arena
  std::size_t offset = 0;    ///< bytes from there to the element at index 0
  tensor_view view{};        ///< without data
};

/// Strides that count elements, one per dimension.
template <int Rank>
using strides = std::ptrdiff_t[Rank];
/// Lengths, one per dimension.
template <int Rank>
using lengths = std::int32_t[Rank];

/// A tensor in the arena, `offset` bytes behind its start.
template <int Rank>
constexpr tensor in_arena(std::size_t offset, dtype type, const lengths<Rank>& shape, const strides<Rank>& stride,
                          const halo& border = {}, float fill = 0) {
  static_assert(Rank <= max_rank);
  tensor t;
  t.offset = offset;
  t.view.type = type;
  t.view.rank = static_cast<std::uint8_t>(Rank);
  t.view.border = border;
  t.view.fill = fill;
  for (int d = 0; d < Rank; ++d) {
    t.view.shape[d] = shape[d];
    t.view.stride[d] = stride[d];
  }
  return t;
}
/// A tensor in the arena whose elements are one behind the other, without border.
template <int Rank>
constexpr tensor in_arena(std::size_t offset, dtype type, const lengths<Rank>& shape) {
  strides<Rank> stride{};
  std::ptrdiff_t next = 1;
  for (int d = Rank; d-- > 0; next *= shape[d]) stride[d] = next;
  return in_arena<Rank>(offset, type, shape, stride);
}
/// A constant: the same tensor, in the weights.
constexpr tensor in_weights(tensor t) {
  t.is_constant = true;
  return t;
}

/// Whether a tensor of the arena, its border included, is inside `bytes` bytes.
constexpr bool is_inside(const tensor& t, std::size_t bytes) {
  const tensor_view& v = t.view;
  std::int64_t low = 0, high = 0;
  const auto reach = [&](int d, std::int64_t before, std::int64_t behind) {
    const std::int64_t a = -before * v.stride[d], b = (v.shape[d] - 1 + behind) * v.stride[d];
    low += a < b ? a : b;
    high += a < b ? b : a;
  };
  for (int d = 0; d < v.rank; ++d) {
    const bool row = d == v.rank - 3, column = d == v.rank - 2 && v.rank > 2;
    reach(d, row ? v.border.top : column ? v.border.left : 0, row ? v.border.bottom : column ? v.border.right : 0);
  }
  const std::int64_t start = static_cast<std::int64_t>(t.offset), size = size_of(v.type);
  return t.is_constant || (start + low * size >= 0 && start + (high + 1) * size <= static_cast<std::int64_t>(bytes));
}
template <std::size_t Count>
constexpr bool are_inside(const tensor (&list)[Count], std::size_t bytes) {
  for (const tensor& t : list) {
    if (!is_inside(t, bytes)) return false;
  }
  return true;
}

/// All of a step's output.
constexpr tile_range whole(const tensor& output) {
  const tile_space s = tile_space_of(output.view.shape, output.view.rank);
  return {0, static_cast<std::int32_t>(s.rows),    0, static_cast<std::int32_t>(s.pixels),
          0, static_cast<std::int32_t>(s.channels)};
}
/// Calls f(range) for tiles of this size, one after the other: what they need together stays in the caches.
template <class F>
inline void for_each_tile(const tensor& output, const tile_size& size, F&& f) {
  const tile_space space = tile_space_of(output.view.shape, output.view.rank);
  const tile_grid grid = tile_grid_of(space, size);
  for (std::int64_t i = 0; i < grid.count(); ++i) f(range_of_tile(space, size, grid, i));
}

/// An input, output or state: elements of type T, one behind the other, in a shape that the compiler knows.
template <class T, int... Lengths>
class port {
 public:
  static constexpr int rank = sizeof...(Lengths);
  static constexpr std::int32_t shape[sizeof...(Lengths) + 1] = {Lengths..., 0};

  explicit port(T* data) : m_data(data) {}
  static constexpr std::size_t size() { return (std::size_t{1} * ... * static_cast<std::size_t>(Lengths)); }
  T* data() const { return m_data; }
  T* begin() const { return m_data; }
  T* end() const { return m_data + size(); }
  T& operator[](std::size_t i) const { return m_data[i]; }
  operator span<T>() const { return {m_data, size()}; }

 private:
  T* m_data;
};

/// First bytes of a file of weights; the weights follow.
struct weights_header {
  char magic[8];            ///< "nskwghts"
  std::uint64_t bytes;      ///< of the weights
  std::uint64_t tag;        ///< of the header that they belong to
  std::uint64_t unused[5];  ///< zeros: weights begin at a multiple of 64
};
static_assert(sizeof(weights_header) == 64);

/// The memory of one network.
struct memory {
  std::byte* arena = nullptr;
  const std::byte* weights = nullptr;
  std::uint32_t flags = 0;  ///< of the last run: bits of run_flag
  random_source random{};

  /// Takes the caller's blocks, each at a multiple of 64: `too_little_memory` for less than `bytes`,
  /// `misaligned_memory`, `wrong_weights_file` without weights, or for those of another header.
  nsk::status take(span<std::byte> block, std::size_t bytes, const std::byte* constants) {
    if (block.size() < bytes) return status_code::too_little_memory;
    if (constants == nullptr) return status_code::wrong_weights_file;
    if ((reinterpret_cast<std::uintptr_t>(block.data()) | reinterpret_cast<std::uintptr_t>(constants)) %
            arena_alignment !=
        0)
      return status_code::misaligned_memory;
    arena = block.data();
    weights = constants;
    return {};
  }
  template <class T>
  NSK_INLINE T* data(const tensor& t) const {
    return reinterpret_cast<T*>(t.is_constant ? const_cast<std::byte*>(weights) + t.offset : arena + t.offset);
  }
  template <class T>
  NSK_INLINE const T* constant(std::size_t offset) const {
    return reinterpret_cast<const T*>(weights + offset);
  }
  NSK_INLINE tensor_view view(const tensor& t) const {
    tensor_view v = t.view;
    v.data = data<std::byte>(t);
    return v;
  }
};

/// Returns where the weights of a file begin; null where the file is too short, or was written with another header.
inline const std::byte* weights_of(span<const std::byte> file, std::size_t bytes, std::uint64_t tag) {
  weights_header h;
  if (file.size() < sizeof h + bytes) return nullptr;
  std::memcpy(&h, file.data(), sizeof h);
  const bool same = std::memcmp(h.magic, "nskwghts", sizeof h.magic) == 0 && h.bytes == bytes && h.tag == tag;
  return same ? file.data() + sizeof h : nullptr;
}

/// Whether this thread's floating-point mode is the one that equal bits need.
inline bool has_usual_float_mode() {
#if defined(__x86_64__) || defined(_M_X64)
  return (_mm_getcsr() & 0xffc0u) == 0x1f80u;  // without the sticky flags of exceptions
#else
  return false;
#endif
}
/// Calls f() in the floating-point mode that equal bits need. Where the thread has that mode nothing is set and nothing
/// restored, so that sticky flags of exceptions may be set behind it.
template <class F>
NSK_INLINE void in_float_mode(F&& f) {
  if (has_usual_float_mode()) return f();
  const float_environment mode;
  f();
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
