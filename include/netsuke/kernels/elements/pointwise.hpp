// SPDX-License-Identifier: MIT
#pragma once
/// Loops over lines of floats that unary, binary and reduce share: f(x), a op b, and the whole epilogue.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <netsuke/kernels/args.hpp>
#include <netsuke/kernels/elements/loop_nest.hpp>
#include <netsuke/kernels/elements/copy_elements.hpp>
#include <netsuke/kernels/function_lines.hpp>
#include <netsuke/simd/begin.hpp>

NSK_BEGIN
namespace kernels {
namespace impl {
template <class Op>
NSK_INLINE void combine_rows(Op op, const lines& a, const lines& b, const target& to, const extent& size) {
  for (std::ptrdiff_t r = 0; r < size.rows; ++r) {
    const float *left = a.data + r * a.next, *right = b.data + r * b.next;
    float* out = to.data + r * to.next;
    if (!a.repeated && !b.repeated) {
      for_vectors(
          size.count,
          [&](std::ptrdiff_t i)
              NSK_INLINE_LAMBDA { simd::store(out + i, op(simd::load(left + i), simd::load(right + i))); },
          [&](std::ptrdiff_t i, int n) NSK_INLINE_LAMBDA {
            simd::store_partial(out + i, n, op(simd::load_partial(left + i, n), simd::load_partial(right + i, n)));
          });
    } else if (b.repeated) {
      const f32 constant = simd::broadcast(right);
      map_line([&](f32 x) NSK_INLINE_LAMBDA { return op(x, constant); }, left, out, size.count);
    } else {
      const f32 constant = simd::broadcast(left);
      map_line([&](f32 x) NSK_INLINE_LAMBDA { return op(constant, x); }, right, out, size.count);
    }
  }
}

/// to = a op b, then clipped where `clip` is given; not both repeated.
template <class Op>
NSK_INLINE void combine_rows(Op op, const lines& a, const lines& b, const target& to, const extent& size,
                             const epilogue* clip) {
  if (clip == nullptr) {
    combine_rows(op, a, b, to, size);
  } else {
    const f32 low = simd::splat(clip->alpha), high = simd::splat(clip->beta);
    combine_rows([&](f32 x, f32 y) NSK_INLINE_LAMBDA { return simd::clamp(op(x, y), low, high); }, a, b, to, size);
  }
}

/// The first n floats of a vector; n is at most f32::lanes.
NSK_INLINE f32 load_first(const float* p, int n) { return n == f32::lanes ? simd::load(p) : simd::load_partial(p, n); }
NSK_INLINE void store_first(float* p, int n, f32 x) {
  n == f32::lanes ? simd::store(p, x) : simd::store_partial(p, n, x);
}
/// combine_rows() for long operations, with one copy of them for each kind of operands: they take far longer than the
/// tests of each vector.
template <class Op>
NSK_INLINE void combine_rows_long(Op op, const lines& a, const lines& b, const target& to, const extent& size,
                                  const epilogue* clip) {
  for (std::ptrdiff_t r = 0; r < size.rows; ++r) {
    const float *left = a.data + r * a.next, *right = b.data + r * b.next;
    float* out = to.data + r * to.next;
    const auto combine = [&](auto f) NSK_INLINE_LAMBDA {
      for (std::ptrdiff_t i = 0; i < size.count; i += f32::lanes) {
        const int n = size.count - i < f32::lanes ? static_cast<int>(size.count - i) : f32::lanes;
        store_first(out + i, n, f(i, n));
      }
    };
    if (a.repeated) {
      const f32 constant = simd::broadcast(left);
      combine([&](std::ptrdiff_t i, int n) NSK_INLINE_LAMBDA { return op(constant, load_first(right + i, n)); });
    } else if (b.repeated) {
      const f32 constant = simd::broadcast(right);
      combine([&](std::ptrdiff_t i, int n) NSK_INLINE_LAMBDA { return op(load_first(left + i, n), constant); });
    } else {
      combine([&](std::ptrdiff_t i, int n)
                  NSK_INLINE_LAMBDA { return op(load_first(left + i, n), load_first(right + i, n)); });
    }
    if (clip == nullptr) continue;
    const f32 low = simd::splat(clip->alpha), high = simd::splat(clip->beta);
    map_line([&](f32 z) NSK_INLINE_LAMBDA { return simd::clamp(z, low, high); }, out, out, size.count);
  }
}

NSK_NOINLINE inline void combine_lines(binary_kind kind, const lines& a, const lines& b, const target& to,
                                       const extent& size, const epilogue* clip) {
  switch (kind) {
    case binary_kind::add:
      return combine_rows([](f32 x, f32 y) NSK_INLINE_LAMBDA { return simd::add(x, y); }, a, b, to, size, clip);
    case binary_kind::sub:
      return combine_rows([](f32 x, f32 y) NSK_INLINE_LAMBDA { return simd::sub(x, y); }, a, b, to, size, clip);
    case binary_kind::mul:
      return combine_rows([](f32 x, f32 y) NSK_INLINE_LAMBDA { return simd::mul(x, y); }, a, b, to, size, clip);
    case binary_kind::div:
      return combine_rows([](f32 x, f32 y) NSK_INLINE_LAMBDA { return simd::div(x, y); }, a, b, to, size, clip);
    case binary_kind::min:
      return combine_rows([](f32 x, f32 y) NSK_INLINE_LAMBDA { return simd::min(x, y); }, a, b, to, size, clip);
    case binary_kind::max:
      return combine_rows([](f32 x, f32 y) NSK_INLINE_LAMBDA { return simd::max(x, y); }, a, b, to, size, clip);
    case binary_kind::prelu:
      return combine_rows([](f32 x, f32 y) NSK_INLINE_LAMBDA { return math::leaky_relu(x, y); }, a, b, to, size, clip);
    case binary_kind::pow:
      return combine_rows_long([](f32 x, f32 y) NSK_INLINE_LAMBDA { return math::pow(x, y); }, a, b, to, size, clip);
    case binary_kind::atan2:
      return combine_rows_long([](f32 x, f32 y) NSK_INLINE_LAMBDA { return math::atan2(x, y); }, a, b, to, size, clip);
    case binary_kind::mod:
      return combine_rows_long([](f32 x, f32 y) NSK_INLINE_LAMBDA { return math::mod(x, y); }, a, b, to, size, clip);
    case binary_kind::fmod:
      return combine_rows_long([](f32 x, f32 y) NSK_INLINE_LAMBDA { return math::fmod(x, y); }, a, b, to, size, clip);
  }
}

/// Floats of the blocks that bring short or strided lines together: five of them take 10 KiB of stack.
inline constexpr std::ptrdiff_t block_floats = 512;

/// Where rows of floats are: the first one, and the strides between rows and within them.
template <class Float>
struct strided_rows {
  Float* data;
  std::ptrdiff_t row, stride;
};
template <int Count>
NSK_INLINE void copy_short_rows(strided_rows<const float> from, strided_rows<float> to, std::ptrdiff_t rows) {
  for (; rows > 0; --rows, from.data += from.row, to.data += to.row)
    for (int i = 0; i < Count; ++i) to.data[i * to.stride] = from.data[i * from.stride];
}
/// Copies rows; those of two to four floats, as coordinates of boxes are, without a loop in each, and those that are
/// columns of what is read in squares of registers.
NSK_ONE_COPY inline void copy_rows(strided_rows<const float> from, strided_rows<float> to, const extent& size) {
  if constexpr (f32::lanes > 1) {
    if (from.row == 1 && from.stride != 1 && to.stride == 1 && size.rows >= f32::lanes && size.count >= f32::lanes)
      return transpose_floats({size.rows, to.row, size.count, from.stride}, to.data, from.data);
  }
  if (size.count == 2) return copy_short_rows<2>(from, to, size.rows);
  if (size.count == 3) return copy_short_rows<3>(from, to, size.rows);
  if (size.count == 4) return copy_short_rows<4>(from, to, size.rows);
  for (std::ptrdiff_t r = 0; r < size.rows; ++r, from.data += from.row, to.data += to.row) {
    if (from.stride == 1 && to.stride == 1)
      for (std::ptrdiff_t i = 0; i < size.count; ++i) to.data[i] = from.data[i];
    else if (from.stride == 0 && to.stride == 1)
      for (std::ptrdiff_t i = 0; i < size.count; ++i) to.data[i] = *from.data;
    else
      for (std::ptrdiff_t i = 0; i < size.count; ++i) to.data[i * to.stride] = from.data[i * from.stride];
  }
}

/// One operand of a nest, gathered into a dense block of at most block_floats where it is not that way.
class line_reader {
 public:
  /// Element (i, j) of the block is at p + i * outer + j * inner. The result is dense: row after row, or one float
  /// for all.
  lines read(const float* p, const extent& size, std::ptrdiff_t outer, std::ptrdiff_t inner) {
    if (inner == 1 && (size.rows == 1 || outer == size.count)) return {p, size.count, false};
    if (inner == 0 && (size.rows == 1 || outer == 0)) return {p, 0, true};
    const bool again =
        m_from == p && m_size.rows == size.rows && m_size.count == size.count && m_inner == inner && outer == 0;
    m_from = p;
    m_size = size;
    m_inner = inner;
    if (again) return {m_block, size.count, false};
    copy_rows({p, outer, inner}, {m_block, size.count, 1}, size);
    return {m_block, size.count, false};
  }
  /// Writes a repeated float out.
  lines spread(const lines& l, const extent& size) {
    for (std::ptrdiff_t i = 0; i < size.rows * size.count; ++i) m_block[i] = *l.data;
    m_from = nullptr;
    return {m_block, size.count, false};
  }

 private:
  alignas(64) float m_block[block_floats];
  const float* m_from = nullptr;
  extent m_size{};
  std::ptrdiff_t m_inner = 0;
};

/// Finishes `count` results of a block, at most block_floats: residual and function in place, then stores them `stride`
/// apart. `slope` is that of the first.
struct line_strides {
  std::ptrdiff_t output, residual, slope;
};
template <class Kernels>
inline void finish_line(const epilogue& e, float* block, std::ptrdiff_t count, float* output, const float* residual,
                        const float* slope, const line_strides& stride) {
  const auto add_residual = [&] {
    for (std::ptrdiff_t i = 0; i < count; ++i) block[i] += residual[i * stride.residual];
  };
  if (e.residual != nullptr && !e.activation_first) add_residual();
  if (e.fn == function::prelu) {
    for (std::ptrdiff_t i = 0; i < count; ++i) block[i] = block[i] < 0 ? block[i] * slope[i * stride.slope] : block[i];
  } else if (e.fn != function::identity) {
    map_lines<Kernels>(e, {block, count, false}, {block, count}, {1, count});
  }
  if (e.residual != nullptr && e.activation_first) add_residual();
  for (std::ptrdiff_t i = 0; i < count; ++i) output[i * stride.output] = block[i];
}

/// output = epilogue(a op b), or epilogue(a) where there is no b.
struct pointwise {
  tensor_view output;
  const float *a, *b;  ///< elements at index 0; b may be null
  const std::ptrdiff_t *a_stride, *b_stride;
  binary_kind kind;
  epilogue e;
};

/// Operands of the nests of a pointwise operation.
enum pointwise_operand : int { to_output, from_a, from_b, from_residual, from_slope, pointwise_operands };

/// A pointwise operation on nests of loops: rows in place where all operands have stride 1 or 0 along them, else dense
/// blocks on the stack.
template <class Kernels>
class pointwise_runner {
 public:
  using pointwise_nest = loop_nest<pointwise_operands>;

  explicit pointwise_runner(const pointwise& p)
      : m_p(p), m_adds(p.e.residual != nullptr), m_late(p.e.activation_first), m_slopes(p.e.fn == function::prelu) {}

  void run(const pointwise_nest& b) {
    const loop<pointwise_operands>&outer = b.of[0], &middle = b.of[1], &inner = b.of[2];
    m_direct = direct(b);
    extent maximum{1, m_direct ? inner.length : block_floats};
    if (m_direct && second_pass()) maximum.count = 4 * block_floats;
    if (m_direct && maximum.count >= inner.length)
      maximum.rows = second_pass() ? 1 + 3 * block_floats / inner.length : middle.length;
    if (!m_direct && inner.length < block_floats / 2) maximum.rows = block_rows(inner.length);
    if (!m_direct && reads_columns(b)) maximum = {f32::lanes, block_floats / f32::lanes};
    for (std::ptrdiff_t i = 0; i < outer.length; ++i)
      for (std::ptrdiff_t j = 0; j < middle.length; j += maximum.rows)
        for (std::ptrdiff_t k = 0; k < inner.length; k += maximum.count) {
          const extent size{maximum.rows < middle.length - j ? maximum.rows : middle.length - j,
                            maximum.count < inner.length - k ? maximum.count : inner.length - k};
          const std::ptrdiff_t at[3] = {i, j, k};
          block(b, at, size);
        }
  }

 private:
  /// Rows of a block: a multiple of 16 where possible, so that patterns are whole vectors.
  static std::ptrdiff_t block_rows(std::ptrdiff_t count) {
    const std::ptrdiff_t rows = block_floats / count;
    return rows >= 16 ? rows / 16 * 16 : rows;
  }
  static bool plain(std::ptrdiff_t stride) { return stride == 0 || stride == 1; }
  /// Whether rows of an operand are columns in memory, and blocks are better square than long.
  static bool reads_columns(const pointwise_nest& b) {
    const loop<pointwise_operands>&middle = b.of[1], &inner = b.of[2];
    constexpr std::ptrdiff_t side = f32::lanes > 1 ? f32::lanes : PTRDIFF_MAX;
    if (middle.length < side || inner.length < side) return false;
    return [&](auto... operand) { return ((middle.stride[operand] == 1 && inner.stride[operand] > 1) || ...); }(
               from_a, from_b, from_residual);
  }
  bool direct(const pointwise_nest& b) const {
    const std::ptrdiff_t* inner = b.of[2].stride;
    const bool constant = inner[from_a] == 0 && (m_p.b == nullptr || inner[from_b] == 0);
    if (m_adds || constant || inner[to_output] != 1 || !plain(inner[from_a]) || !plain(inner[from_b]) ||
        !plain(inner[from_slope]))
      return false;
    return b.of[2].length >= 24 || b.of[1].length == 1;
  }
  bool second_pass() const {
    return m_p.e.fn != function::identity && (m_p.b == nullptr ? m_slopes : m_p.e.fn != function::clip);
  }

  static std::ptrdiff_t at(const pointwise_nest& b, int operand, const std::ptrdiff_t (&index)[3]) {
    std::ptrdiff_t o = b.offset[operand];
    for (int d = 0; d < 3; ++d) o += index[d] * b.of[d].stride[operand];
    return o;
  }
  lines read(line_reader& reader, const float* base, const pointwise_nest& b, int operand,
             const std::ptrdiff_t (&index)[3], const extent& size) {
    const float* p = base + at(b, operand, index);
    const std::ptrdiff_t outer = b.of[1].stride[operand], inner = b.of[2].stride[operand];
    return m_direct ? lines{p, outer, inner == 0} : reader.read(p, size, outer, inner);
  }

  /// Computes the elements from `index` on. Dense blocks are one line.
  void block(const pointwise_nest& b, const std::ptrdiff_t (&index)[3], const extent& size) {
    const std::ptrdiff_t stride = b.of[2].stride[to_output], row = b.of[1].stride[to_output];
    float* out = m_p.output.as<float>() + at(b, to_output, index);
    const bool in_place = m_direct || (stride == 1 && (size.rows == 1 || row == size.count) && !m_adds);
    const target to{in_place ? out : m_result, m_direct ? row : size.count};
    const extent shape = m_direct ? size : extent{1, size.rows * size.count};
    lines left = read(m_a, m_p.a, b, from_a, index, size), right{};
    if (m_p.b != nullptr) right = read(m_b, m_p.b, b, from_b, index, size);
    if (left.repeated && (m_p.b == nullptr || right.repeated)) left = m_a.spread(left, size);
    epilogue e = m_p.e;
    lines a = left;
    if (m_p.b != nullptr) {
      const bool clips = e.fn == function::clip && (!m_adds || m_late);
      combine_lines(m_p.kind, left, right, to, shape, clips ? &m_p.e : nullptr);
      if (clips) e.fn = function::identity;
      a = {to.data, to.next, false};
    }
    if (m_adds && !m_late) a = add_residual(b, index, size, a, to);
    if (m_slopes)
      combine_lines(binary_kind::prelu, a, read(m_slope, e.slope, b, from_slope, index, size), to, shape, nullptr);
    else if (e.fn != function::identity || a.data != to.data)
      map_lines<Kernels>(e, a, to, shape);
    if (m_adds && m_late) add_residual(b, index, size, {to.data, to.next, false}, to);
    if (in_place) return;
    copy_rows({m_result, size.count, 1}, {out, row, stride}, size);
  }

  lines add_residual(const pointwise_nest& b, const std::ptrdiff_t (&index)[3], const extent& size, const lines& from,
                     const target& to) {
    const lines residual = read(m_residual, m_p.e.residual, b, from_residual, index, size);
    combine_lines(binary_kind::add, from, residual, to, {1, size.rows * size.count}, nullptr);
    return {to.data, to.next, false};
  }

  const pointwise& m_p;
  bool m_adds, m_late, m_slopes, m_direct = false;
  line_reader m_a, m_b, m_residual, m_slope;
  alignas(64) float m_result[block_floats];
};

template <class Kernels>
inline void run_pointwise(const pointwise& p, const tile_range& t) {
  std::ptrdiff_t slope[max_rank] = {};
  slope[p.output.rank - 1] = 1;
  const std::ptrdiff_t* own =
      p.output.stride;  // an operand that is not there moves with the output, to join loops as it does
  const std::ptrdiff_t* strides[pointwise_operands] = {own, p.a_stride, p.b != nullptr ? p.b_stride : own,
                                                       p.e.residual != nullptr ? p.e.residual_stride : own,
                                                       p.e.fn == function::prelu ? slope : own};
  pointwise_runner<Kernels> runner(p);
  for_each_nest(p.output.shape, p.output.rank, strides, t,
                [&](const loop_nest<pointwise_operands>& b) { runner.run(b); });
}

}
}
NSK_END
#include <netsuke/simd/end.hpp>
#include <netsuke/core/restore_macros.hpp>
