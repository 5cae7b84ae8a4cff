// SPDX-License-Identifier: MIT
#pragma once
/// What an operator owes the engine: `op_traits<op>`, one specialisation per operator, each in a file of its own. There
/// are no defaults; what is missing does not compile. A duty whose answer several operators share is stated by naming
/// it as a base (below).
///
/// - `params`, `args`: the operator's structs, of format/params.hpp and of its kernel
/// - `operand_table operands(params)`: what the kernel assumes of the output and of each own input: types, dimensions,
///   neighbours in memory, and whether it fills a border (impl/operands.hpp); without those that the epilogue names
/// - `status_code check_rules(constant_reader&, step, params)`: what else it assumes: how lengths fit together,
///   parameters, weights; operators of takes_half_weights also with a half_constant_reader
/// - `bool works_in_place(input)`: whether each element of that input is read before the element of the output in its
///   place is written
/// - `whole_axes whole(params, rank)`: what tiles must not cut
/// - `bool accepts_tiles(params, step, tile, grid)`: what else the kernel wants of tiles
/// - `row_rule rows(params, d, rank)`: what a batch along dimension d of the output means for the inputs
/// - `std::int64_t scratch_bytes(params, x, y)`: lane scratch; input 0 and the output are a file's (tensor_info) or a
///   plan's: anything with shape(), border() and fill()
/// - `std::uint64_t taps(step, params)`: elements of inputs that enter one element of the output
/// - `args bind(memory, step, params)`: kernel arguments
/// - `fast_path path(step, registers)`: how kernels compute a verified step on an instruction set, by default this one
/// - `void run<Settings>(args, range, scratch)`: computes one tile; operators of takes_half_weights also with float16
///   weights, where impl::weight<Settings> says so
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/scratch.hpp>
#include <netsuke/kernels/args.hpp>
#include <netsuke/ops/impl/kernel_variants.hpp>
#include <netsuke/ops/impl/memory_map.hpp>
#include <netsuke/ops/impl/narrow_weights.hpp>
#include <netsuke/ops/impl/operands.hpp>
#include <netsuke/ops/impl/rules.hpp>

NSK_BEGIN
template <op>
struct op_traits;

namespace impl {

/// Parts of the tile space that belong to one tile.
struct whole_axes {
  bool rows = false, pixels = false, channels = false;
};
/// The part that holds dimension `axis` of `rank` dimensions.
constexpr whole_axes whole_axis(int axis, int rank) { return {axis < rank - 2, axis == rank - 2, axis == rank - 1}; }

/// What rows of a batch in the output mean for the inputs: bit i of a mask stands for input i.
struct row_rule {
  bool apart = false;      ///< whether rows of the output are functions of the same rows of the inputs
  std::uint32_t same = 0;  ///< inputs that have those rows, in the output's dimension
  std::uint32_t line = 0;  ///< inputs that have those rows in their only dimension
  std::uint32_t free = 0;  ///< inputs that may have rows or not; all others have none
};
constexpr row_rule rows_apart(bool apart, std::uint32_t same) { return {apart, same, 0, 0}; }

// Duties that operators share.

struct never_in_place {
  static constexpr bool works_in_place(int) { return false; }
};
template <int Inputs>
struct in_place_of {
  static constexpr bool works_in_place(int input) { return input < Inputs; }
};
struct without_scratch {
  template <class Params, class Tensor>
  static constexpr std::int64_t scratch_bytes(const Params&, const Tensor&, const Tensor&) {
    return 0;
  }
};
struct any_tiles {
  template <class Params>
  static constexpr bool accepts_tiles(const Params&, const step_view&, const tile_size&, const tile_grid&) {
    return true;
  }
};
struct nothing_whole : any_tiles {
  template <class Params>
  static constexpr whole_axes whole(const Params&, int) {
    return {};
  }
};
struct whole_channels : any_tiles {
  template <class Params>
  static constexpr whole_axes whole(const Params&, int) {
    return {false, false, true};
  }
};
/// For parameters that name an axis.
struct axis_whole : any_tiles {
  template <class Params>
  static constexpr whole_axes whole(const Params& p, int rank) {
    return whole_axis(p.axis, rank);
  }
};
/// For operators that compute every step in one way.
struct one_path {
  static constexpr fast_path path(const step_view&, const vector_registers& = kernels::own_registers) {
    return fast_path::general;
  }
};
struct one_tap {
  template <class Params>
  static constexpr std::uint64_t taps(const step_view&, const Params&) {
    return 1;
  }
};
/// All of a window.
struct taps_of_window {
  template <class Params>
  static std::uint64_t taps(const step_view&, const Params& p) {
    return impl::taps_of(p.w);
  }
};
/// All of the last dimension of input 0.
struct taps_of_line {
  template <class Params>
  static std::uint64_t taps(const step_view& s, const Params&) {
    return static_cast<std::uint64_t>(last_length(s.input(0)));
  }
};
/// All of input 0 along the axis that the parameters name.
struct taps_along_axis {
  template <class Params>
  static std::uint64_t taps(const step_view& s, const Params& p) {
    return static_cast<std::uint64_t>(s.input(0).shape()[static_cast<std::size_t>(p.axis)]);
  }
};
/// Rows of the first `Inputs` inputs are those of the output, whatever their dimension.
template <int Inputs>
struct rows_of_inputs {
  template <class Params>
  static constexpr row_rule rows(const Params&, int, int) {
    return rows_apart(true, (1u << Inputs) - 1);
  }
};
/// Rows of input 0 are those of the output where they are dimension 0, as those of images are.
struct rows_of_images {
  template <class Params>
  static constexpr row_rule rows(const Params&, int d, int) {
    return rows_apart(d == 0, 1);
  }
};
/// Rows of input 0 are those of the output in all dimensions but the last, whose elements are taken together.
struct rows_of_lines {
  template <class Params>
  static constexpr row_rule rows(const Params&, int d, int rank) {
    return rows_apart(d < rank - 1, 1);
  }
};
/// Rows of the first `Inputs` inputs are those of the output in all dimensions but the axis that parameters name.
template <int Inputs>
struct rows_beside_axis {
  template <class Params>
  static constexpr row_rule rows(const Params& p, int d, int) {
    return rows_apart(d != p.axis, (1u << Inputs) - 1);
  }
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
