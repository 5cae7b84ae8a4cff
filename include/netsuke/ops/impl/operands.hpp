// SPDX-License-Identifier: MIT
#pragma once
/// What kernels assume of their tensors, as a table: a line for the output and one for each input. Kernels rely on it
/// and test nothing; the verifier refuses a step whose tensors are others.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/core/tensor.hpp>
#include <netsuke/ops/impl/rules.hpp>

NSK_BEGIN
namespace impl {

/// What a kernel assumes of one tensor. Strides are any but where it says otherwise.
struct operand {
  unsigned types = 0;       ///< element types, a bit each; none: a constant of a form that check_rules knows
  int rank = 0;             ///< number of dimensions; 0: any
  bool lines = false;       ///< elements of the last dimension are neighbours in memory
  bool same_type = false;   ///< its element type is the output's
  bool same_shape = false;  ///< its lengths are the output's
  bool border = false;      ///< of an output: it may have a border, which the kernel fills

  template <class... Types>
  static constexpr operand of(Types... types) {
    return {((1u << static_cast<unsigned>(types)) | ...)};
  }
  static constexpr operand any_type() { return {0xffu}; }
  static constexpr operand readable() { return {0xffu & ~of(dtype::float16).types}; }
  static constexpr operand floats() { return of(dtype::float32); }
  static constexpr operand indices() { return of(dtype::int32, dtype::int64); }
  static constexpr operand bytes() { return of(dtype::uint8, dtype::int8); }
  static constexpr operand image() { return floats().with_rank(4).in_lines(); }
  static constexpr operand byte_image() { return of(dtype::uint8).with_rank(4).in_lines(); }
  static constexpr operand checked_by_rules() { return {}; }

  constexpr operand with_rank(int dimensions) const {
    operand o = *this;
    o.rank = dimensions;
    return o;
  }
  constexpr operand in_lines() const {
    operand o = *this;
    o.lines = true;
    return o;
  }
  constexpr operand of_output_type() const {
    operand o = *this;
    o.same_type = true;
    return o;
  }
  constexpr operand of_output_shape() const {
    operand o = *this;
    o.same_shape = true;
    return o;
  }
  constexpr operand with_border() const {
    operand o = *this;
    o.border = true;
    return o;
  }
};

/// The operands of a step, without those that the epilogue names.
struct operand_table {
  static constexpr int capacity = 7;
  operand output;
  int count;
  operand inputs[capacity];

  template <class... Inputs>
  constexpr operand_table(operand out, Inputs... in) : output(out), count(sizeof...(in)), inputs{in...} {}
  constexpr operand_table with(operand input) const {
    operand_table t = *this;
    t.inputs[t.count++] = input;
    return t;
  }
};

/// Whether a tensor of a step that has the output `y` is what its kernel assumes.
NSK_COLD inline bool fits_operand(const tensor_info& t, const operand& o, const tensor_info& y) {
  if (o.types == 0) return true;
  const bool typed = (o.types >> static_cast<unsigned>(t.type()) & 1u) != 0 && (!o.same_type || t.type() == y.type());
  return typed && is_plain(t) && (o.rank == 0 || t.rank() == o.rank) &&
         (!o.lines || t.strides()[t.strides().size() - 1] == 1) && (!o.same_shape || same_shape(t, y));
}
NSK_COLD inline bool operands_agree(const step_view& s, const operand_table& table) {
  const tensor_info y = s.output();
  if (!fits_operand(y, table.output, y) || (has_border(y) && !table.output.border)) return false;
  for (int i = 0; i < table.count; ++i) {
    if (!fits_operand(s.input(i), table.inputs[i], y)) return false;
  }
  return true;
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
