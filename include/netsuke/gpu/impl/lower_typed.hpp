// SPDX-License-Identifier: MIT
#pragma once
/// Elementwise operators on elements of any type but float16: conversion, comparison, choice, integer arithmetic,
/// gather, fill. Up to four joined dimensions. The GPU raises no flags: indices are clamped, and a division by zero
/// gives 0, without a word.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/gpu/impl/lowering.hpp>
#include <netsuke/kernels/elements/fill.hpp>

NSK_BEGIN
namespace gpu::impl {

/// MODE of shaders/typed_elementwise.comp.
enum class typed_mode : std::uint8_t { convert, select, gather, fill, compare, arithmetic };

/// An operand as the shader sees it: its type, and its strides in the dimensions of the output.
struct typed_operand {
  const tensor_info* info = nullptr;
  dtype type = dtype::float32;
  tensor_view view{};
};
inline typed_operand operand_of(const tensor_info& t, const tensor_view& v) { return {&t, t.type(), v}; }
/// The integer type that stands for elements which are moved as they are.
constexpr dtype moved_type(dtype t) {
  return size_of(t) == 8   ? dtype::int64
         : size_of(t) == 4 ? dtype::int32
         : size_of(t) == 2 ? dtype::int16
                           : dtype::uint8;
}
inline typed_operand as_bits(const tensor_info& t, const tensor_view& v) { return {&t, moved_type(t.type()), v}; }

/// Offset in elements of a tensor's own type.
inline std::uint32_t element_of(const tensor_info& t, const dispatch_writer& to) {
  return static_cast<std::uint32_t>((to.buffer_place(t) + t.offset(to.lengths())) /
                                    static_cast<unsigned>(size_of(t.type())));
}
/// Whether the elements of a view follow each other without gaps, in order.
inline bool is_dense(const tensor_view& v) {
  const tensor_view* self[1] = {&v};
  const joined_dimensions<1> dims(v, self);
  return dims.count == 0 || (dims.count == 1 && dims.stride[0][0] == 1);
}

struct typed_operands {
  typed_operand a{}, b{}, c{};
};

/// Adds a dispatch. `fixed` holds the constants that are not offsets, lengths, strides and types. Where the operands
/// are moved, so is the output.
inline refusal lower_typed(typed_mode mode, const typed_operand& out, const typed_operands& in,
                           typed_elementwise_constants fixed, dispatch_writer& to) {
  constexpr int slots = 4;
  const typed_operand* const given[slots] = {&out, &in.a, &in.b, &in.c};
  const tensor_view* operand[slots];
  std::uint32_t at[slots], types = 0;
  for (int i = 0; i < slots; ++i) {
    const typed_operand& o = *given[i];
    operand[i] = o.info ? &o.view : nullptr;
    at[i] = o.info ? element_of(*o.info, to) : 0;
    if (!o.info) continue;
    if (o.info->type() == dtype::float16) return "its elements are float16";
    if (i < 3) types |= static_cast<std::uint32_t>(o.type) << 4 * i;
    if (i > 0 && is_constant(*o.info)) types |= 1u << (11 + i);
  }
  if (size_of(out.type) < 4 && !is_dense(out.view)) return "its output has gaps between elements smaller than a word";
  const joined_dimensions<slots> dims(out.view, operand);
  if (dims.count > slots) return "it has more than four dimensions after joining";
  typed_elementwise_constants& c = fixed;
  const auto stride = [&](int i, int k) { return dims.stride_in(slots, i, k); };
  std::int64_t count = 1;
  for (int i = 0; i < slots; ++i) count *= dims.length_in(slots, i);
  c.count = word(count);
  c.l1 = dims.length_in(slots, 1), c.l2 = dims.length_in(slots, 2), c.l3 = dims.length_in(slots, 3);
  c.y = at[0], c.y0 = stride(0, 0), c.y1 = stride(1, 0), c.y2 = stride(2, 0), c.y3 = stride(3, 0);
  c.a = at[1], c.a0 = stride(0, 1), c.a1 = stride(1, 1), c.a2 = stride(2, 1), c.a3 = stride(3, 1);
  c.b = at[2], c.b0 = stride(0, 2), c.b1 = stride(1, 2), c.b2 = stride(2, 2), c.b3 = stride(3, 2);
  c.c = at[3], c.c0 = stride(0, 3), c.c1 = stride(1, 3), c.c2 = stride(2, 3), c.c3 = stride(3, 3);
  c.flags |= types;
  draft d;
  d.key.kernel = kernel::typed_elementwise;
  d.mode() = static_cast<std::uint8_t>(mode);
  d.set_constants(c);
  const auto of_word = static_cast<std::uint32_t>(size_of(out.type) < 4 ? 4 / size_of(out.type) : 1);
  d.spread(divided_up(std::uint64_t{c.y % of_word} + c.count, of_word));
  return to.add(d);
}

/// A whole tensor of one value, converted to its type.
inline refusal lower_typed_fill(const tensor_info& target, float value, dispatch_writer& to) {
  if (target.type() == dtype::float16) return "its elements are float16";
  const std::uint64_t bits = kernels::impl::element_bits(target.type(), value);
  typed_elementwise_constants c;
  c.low = static_cast<std::uint32_t>(bits);
  c.high = static_cast<std::uint32_t>(bits >> 32);
  return lower_typed(typed_mode::fill, as_bits(target, target.view(nullptr, to.lengths())), {}, c, to);
}

/// Elements of a smaller type than a word, one by one, as they are.
inline refusal lower_small_copy(const tensor_info& from, const tensor_info& target, dispatch_writer& to) {
  const length_values lengths = to.lengths();
  return lower_typed(typed_mode::convert, as_bits(target, target.view(nullptr, lengths)),
                     {as_bits(from, from.view(nullptr, lengths)), {}, {}}, {}, to);
}

/// Output = data with the position along `axis` that the index says; `index` has the strides of the indices in the
/// output's dimensions.
inline refusal lower_gather(const step_view& s, int axis, tensor_view index, dispatch_writer& to) {
  const length_values lengths = to.lengths();
  const tensor_info data = s.input(0), indices = s.input(1), out = s.output();
  const tensor_view y = out.view(nullptr, lengths);
  tensor_view x = data.view(nullptr, lengths);
  typed_elementwise_constants c;
  c.extent = word(x.shape[axis]);
  c.along = number(x.stride[axis]);
  x.stride[axis] = 0;
  return lower_typed(typed_mode::gather, as_bits(out, y), {as_bits(data, x), operand_of(indices, index), {}}, c, to);
}

template <>
struct lowering<op::cast> {
  static refusal lower(const step_view& s, dispatch_writer& to) {
    const tensor_info from = s.input(0), out = s.output();
    const length_values lengths = to.lengths();
    return lower_typed(typed_mode::convert, operand_of(out, out.view(nullptr, lengths)),
                       {operand_of(from, from.view(nullptr, lengths)), {}, {}}, {}, to);
  }
};
/// Compare and arithmetic: y = a kind b.
template <class Kind>
inline refusal lower_typed_binary(const step_view& s, typed_mode mode, Kind kind, dispatch_writer& to) {
  const tensor_info a = s.input(0), b = s.input(1), out = s.output();
  const length_values lengths = to.lengths();
  typed_elementwise_constants c;
  c.flags = static_cast<std::uint32_t>(kind) << 16;
  return lower_typed(mode, operand_of(out, out.view(nullptr, lengths)),
                     {operand_of(a, a.view(nullptr, lengths)), operand_of(b, b.view(nullptr, lengths)), {}}, c, to);
}
template <>
struct lowering<op::compare> {
  static refusal lower(const step_view& s, dispatch_writer& to) {
    return lower_typed_binary(s, typed_mode::compare, s.params<op::compare>().kind, to);
  }
};
template <>
struct lowering<op::arithmetic> {
  static refusal lower(const step_view& s, dispatch_writer& to) {
    const arithmetic_kind kind = s.params<op::arithmetic>().kind;
    if (kind > arithmetic_kind::bit_xor) return "powers of integers have no shader";
    return lower_typed_binary(s, typed_mode::arithmetic, kind, to);
  }
};
template <>
struct lowering<op::select> {
  static refusal lower(const step_view& s, dispatch_writer& to) {
    const tensor_info condition = s.input(0), a = s.input(1), b = s.input(2), out = s.output();
    const length_values lengths = to.lengths();
    // a, b and the output are copied as bits: only the type of the condition matters.
    return lower_typed(typed_mode::select, as_bits(out, out.view(nullptr, lengths)),
                       {as_bits(a, a.view(nullptr, lengths)), as_bits(b, b.view(nullptr, lengths)),
                        operand_of(condition, condition.view(nullptr, lengths))},
                       {}, to);
  }
};
template <>
struct lowering<op::gather> {
  static refusal lower(const step_view& s, dispatch_writer& to) {
    const int axis = s.params<op::gather>().axis;
    // Indices have one dimension. They are read in the shape of the output, the same ones for all its other dimensions.
    tensor_view indices_as_output = s.output().view(nullptr, to.lengths());
    for (int d = 0; d < indices_as_output.rank; ++d) indices_as_output.stride[d] = 0;
    indices_as_output.stride[axis] = s.input(1).view(nullptr, to.lengths()).stride[0];
    return lower_gather(s, axis, indices_as_output, to);
  }
};
template <>
struct lowering<op::gather_elements> {
  static refusal lower(const step_view& s, dispatch_writer& to) {
    return lower_gather(s, s.params<op::gather_elements>().axis, s.input(1).view(nullptr, to.lengths()), to);
  }
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
