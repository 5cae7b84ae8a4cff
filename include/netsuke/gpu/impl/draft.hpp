// SPDX-License-Identifier: MIT
#pragma once
/// A dispatch while a step is being lowered, and what lowerings share.
#include <netsuke/core/hide_macros.hpp>
#include <cstring>
#include <netsuke/format/step_view.hpp>
#include <netsuke/format/variant_view.hpp>
#include <netsuke/gpu/generated/bindings.hpp>
#include <netsuke/gpu/impl/halves.hpp>
#include <netsuke/gpu/pipeline.hpp>
#include <netsuke/gpu/settings.hpp>

NSK_BEGIN
namespace gpu::impl {

inline constexpr int max_constants = 32;
/// MODE of shaders/elementwise.comp for Fill.
inline constexpr std::uint8_t fill_mode = 20;
inline constexpr std::uint32_t max_groups = 65535, group_threads = 64;

/// Bytes of the scratch behind the arena, from its start.
struct scratch_range {
  std::uint32_t begin = 0, bytes = 0;
  constexpr std::uint32_t end() const { return begin + bytes; }
};

/// One dispatch: pipeline, constants, groups. Functions return it by value.
struct draft {
  pipeline_key key{};
  std::uint32_t words[max_constants] = {};
  int word_count = 0;
  std::uint32_t groups[3] = {1, 1, 1};
  bool seeded = false;  ///< its first four constants are the session's random source, set when it is recorded
  bool beside = false;  ///< it may run at the same time as the dispatch before it, which is of the same step

  scratch_range scratch_read{}, scratch_written{};

  template <class Constants>
  void set_constants(const Constants& c) {
    static_assert(sizeof(Constants) <= sizeof words);
    std::memcpy(words, &c, sizeof c);
    word_count = static_cast<int>(sizeof c / sizeof words[0]);
  }
  /// One thread for each of `count` elements, in rows of groups.
  void spread(std::uint64_t count) {
    const std::uint64_t n = (count + group_threads - 1) / group_threads;
    groups[0] = static_cast<std::uint32_t>(n < max_groups ? n : max_groups);
    groups[1] = static_cast<std::uint32_t>((n + max_groups - 1) / max_groups);
  }
  /// `columns` groups across, and blocks of pixels that go on in z.
  void spread_blocks(std::uint64_t columns, std::uint64_t blocks) {
    groups[0] = static_cast<std::uint32_t>(columns);
    groups[1] = static_cast<std::uint32_t>(blocks < max_groups ? blocks : max_groups);
    groups[2] = static_cast<std::uint32_t>((blocks + max_groups - 1) / max_groups);
  }
  bool fits() const { return groups[0] <= max_groups && groups[1] <= max_groups && groups[2] <= max_groups; }

  std::uint8_t& function() { return key.specialization[0]; }
  std::uint8_t& residual() { return key.specialization[1]; }
  std::uint8_t& input4() { return key.specialization[2]; }
  std::uint8_t& mode() { return key.specialization[3]; }
  std::uint8_t& output4() { return key.specialization[4]; }
  std::uint8_t& window() { return key.specialization[5]; }
  std::uint8_t& halves() { return key.specialization[6]; }
};

/// Why a step has no shader: a static text, null where it has one.
using refusal = const char*;

constexpr std::uint32_t divided_up(std::uint64_t n, std::uint32_t d) {
  return static_cast<std::uint32_t>((n + d - 1) / d);
}
constexpr std::uint32_t word(std::int64_t n) { return static_cast<std::uint32_t>(n); }
constexpr std::int32_t number(std::int64_t n) { return static_cast<std::int32_t>(n); }
/// Two numbers in one word: rows and columns.
constexpr std::uint32_t pair(std::int32_t rows, std::int32_t columns) {
  return static_cast<std::uint32_t>(rows) | static_cast<std::uint32_t>(columns) << 16;
}

inline bool is_constant(const tensor_info& t) { return t.where() == storage::constant; }
inline bool is_float(const tensor_info& t) { return t.type() == dtype::float32; }
/// Whether the shader of an operator knows a function (shaders/epilogue.h): behind sums, only those that are common
/// there.
constexpr bool has_shader(op o, function f) { return f <= function::cos || o == op::unary || o == op::binary; }
/// Residuals and slopes of an epilogue, as permutation.
inline void set_epilogue(draft& d, const epilogue_params& e) {
  d.function() = static_cast<std::uint8_t>(e.fn);
  d.residual() = e.residual < 0 ? 0 : e.activation_first ? 2 : 1;
}

/// Which neighbours are joined: those that can be, or all but the last dimension, whose index slopes follow.
enum class joining : std::uint8_t { all, but_last };

/// Dimensions of several tensors of one shape, neighbours joined where all of them agree.
template <int Operands>
struct joined_dimensions {
  int count = 0;
  std::int32_t length[max_rank + 1] = {};
  std::ptrdiff_t stride[max_rank + 1][Operands] = {};

  /// `shape` gives the lengths; operands that are null have strides of 0.
  joined_dimensions(const tensor_view& shape, const tensor_view* const (&operand)[Operands],
                    joining how = joining::all) {
    for (int d = 0; d < shape.rank; ++d) {
      const bool alone = how == joining::but_last && d == shape.rank - 1;
      if (shape.shape[d] == 1 && !alone) continue;
      bool joins = count > 0 && !alone;
      for (int i = 0; i < Operands && joins; ++i)
        joins = !operand[i] || stride[count - 1][i] == operand[i]->stride[d] * shape.shape[d];
      if (joins) {
        length[count - 1] *= shape.shape[d];
      } else {
        length[count++] = shape.shape[d];
      }
      for (int i = 0; i < Operands; ++i) stride[count - 1][i] = operand[i] ? operand[i]->stride[d] : 0;
    }
  }
  /// Counts in parts of elements, `parts` of each, next to each other.
  void split_elements(int parts) {
    bool joins = count > 0;
    for (int d = 0; d < count; ++d)
      for (int i = 0; i < Operands; ++i) stride[d][i] *= parts;
    for (int i = 0; i < Operands; ++i) joins = joins && stride[count - 1][i] == parts;
    if (!joins) length[count++] = 1;
    length[count - 1] *= parts;
    for (int i = 0; i < Operands; ++i) stride[count - 1][i] = 1;
  }
  /// Length of dimension i where these are the last of `slots`, and stride of an operand: 1 and 0 of those in front.
  std::uint32_t length_in(int slots, int i) const {
    const int d = i - (slots - count);
    return d < 0 ? 1u : static_cast<std::uint32_t>(length[d]);
  }
  std::int32_t stride_in(int slots, int i, int operand) const {
    const int d = i - (slots - count);
    return d < 0 ? 0 : static_cast<std::int32_t>(stride[d][operand]);
  }
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
