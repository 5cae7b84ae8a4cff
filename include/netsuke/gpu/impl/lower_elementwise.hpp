// SPDX-License-Identifier: MIT
#pragma once
/// Unary and binary operators, and fill: up to four joined dimensions.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/gpu/impl/lower_typed.hpp>

NSK_BEGIN
namespace gpu::impl {

/// Operands of an elementwise operator: output, a, b, residual.
class elementwise_operands {
 public:
  static constexpr int slots = 4;

  explicit elementwise_operands(const dispatch_writer& to) : m_to(&to) {}
  void set(int slot, const tensor_info& t) {
    one& o = m_one[slot];
    o.view = t.view(nullptr, m_to->lengths());
    o.half = m_to->is_half(t);
    o.at = word_of(t, o.half, *m_to);
    o.given = true;
    o.constant = impl::is_constant(t);
    o.offset = t.buffer_offset() + t.offset(m_to->lengths());
  }
  /// The inputs of a step by number, -1 where there is none.
  void set(const step_view& s, int a, int b, int residual) {
    set(0, s.output());
    const int input[] = {a, b, residual};
    for (int i = 0; i < 3; ++i) {
      if (input[i] >= 0) set(i + 1, s.input(input[i]));
    }
  }
  bool is_float() const { return m_one[0].view.type == dtype::float32; }
  /// Whether an operand is there and in the weights section, or 16-bit floats; its offset.
  bool is_constant(int slot) const { return m_one[slot].constant; }
  bool is_half(int slot) const { return m_one[slot].half; }
  std::uint32_t at(int slot) const { return m_one[slot].at; }
  joined_dimensions<slots> joined(joining how) const {
    const tensor_view* operand[slots];
    for (int i = 0; i < slots; ++i) operand[i] = m_one[i].given ? &m_one[i].view : nullptr;
    return {m_one[0].view, operand, how};
  }
  /// How many neighbours of the last dimension a thread can compute: 4, 2 or 1, as the output has them.
  int width(const joined_dimensions<slots>& dims) const {
    const int last = dims.count - 1;
    if (last < 0 || last >= slots || dims.stride[last][0] != 1) return 1;
    for (const int n : {4, 2}) {
      if (dims.length[last] % n == 0 && is_aligned(0, dims, n)) return n;
    }
    return 1;
  }
  /// Whether an operand and all its strides but the last one are multiples of `n` elements.
  bool is_aligned(int slot, const joined_dimensions<slots>& dims, int n) const {
    bool aligned = m_one[slot].offset % (4 * static_cast<unsigned>(n)) == 0;
    for (int d = 0; d + 1 < dims.count; ++d) aligned = aligned && dims.stride[d][slot] % n == 0;
    return aligned;
  }

 private:
  struct one {
    bool given = false, constant = false, half = false;
    std::uint32_t at = 0;
    std::uint64_t offset = 0;
    tensor_view view{};
  };
  const dispatch_writer* m_to;
  one m_one[slots];
};

/// Adds a dispatch. `mode` is that of shaders/elementwise.comp.
inline refusal lower_elementwise(const elementwise_operands& in, int mode, const epilogue_params& e,
                                 std::uint32_t slope, dispatch_writer& to) {
  constexpr int slots = elementwise_operands::slots;
  if (!in.is_float()) return "its elements are not float32";
  const joined_dimensions<slots> dims = in.joined(e.slope >= 0 ? joining::but_last : joining::all);
  if (dims.count > slots) return "it has more than four dimensions after joining";
  // Two elements are a word of 16-bit floats; of others they are no faster than one.
  const int width = in.width(dims) == 2 && !in.is_half(0) ? 1 : in.width(dims);
  draft d;
  d.key.kernel = kernel::elementwise;
  set_epilogue(d, e);
  d.mode() = static_cast<std::uint8_t>(mode);
  d.input4() = width == 4 ? 1 : width == 2 ? 2 : 0;
  d.output4() = width == 4;
  constexpr std::uint8_t half_bits[slots] = {half_output, half_input, half_second_input, half_residual};
  elementwise_constants c;
  for (int i = 0; i < slots; ++i) {
    if (in.is_half(i)) d.halves() = static_cast<std::uint8_t>(d.halves() | half_bits[i]);
    if (in.is_constant(i)) c.flags |= 1u << (i - 1);
    if (i > 0 && !in.is_aligned(i, dims, 4)) c.flags |= 1u << (i + 2);
  }
  const auto stride = [&](int i, int k) { return dims.stride_in(slots, i, k); };
  std::int64_t count = 1;
  for (int i = 0; i < slots; ++i) count *= dims.length_in(slots, i);
  c.count = word(count / width);
  c.l1 = dims.length_in(slots, 1), c.l2 = dims.length_in(slots, 2);
  c.l3 = dims.length_in(slots, 3) / static_cast<std::uint32_t>(width);
  c.y = in.at(0), c.y0 = stride(0, 0), c.y1 = stride(1, 0), c.y2 = stride(2, 0), c.y3 = stride(3, 0);
  c.a = in.at(1), c.a0 = stride(0, 1), c.a1 = stride(1, 1), c.a2 = stride(2, 1), c.a3 = stride(3, 1);
  c.b = in.at(2), c.b0 = stride(0, 2), c.b1 = stride(1, 2), c.b2 = stride(2, 2), c.b3 = stride(3, 2);
  c.r = in.at(3), c.r0 = stride(0, 3), c.r1 = stride(1, 3), c.r2 = stride(2, 3), c.r3 = stride(3, 3);
  c.alpha = e.alpha;
  c.beta = e.beta;
  c.slope = slope;
  d.set_constants(c);
  d.spread(c.count);
  return to.add(d);
}
/// Adds a dispatch for a step, whose operands are given by input number, -1 where there is none.
inline refusal lower_elementwise(const step_view& s, dispatch_writer& to, int mode, int a, int b,
                                 const epilogue_params& e) {
  elementwise_operands in(to);
  in.set(s, a, b, e.residual);
  return lower_elementwise(in, mode, e, slope_of(s, e, to), to);
}
/// A copy that converts between 32-bit and 16-bit floats.
inline refusal lower_conversion(const tensor_info& from, const tensor_info& target, dispatch_writer& to) {
  elementwise_operands in(to);
  in.set(0, target);
  in.set(1, from);
  return lower_elementwise(in, 0, {}, 0, to);
}

template <>
struct lowering<op::unary> {
  static refusal lower(const step_view& s, dispatch_writer& to) {
    return lower_elementwise(s, to, 0, 0, -1, s.epilogue());
  }
};
template <>
struct lowering<op::binary> {
  static refusal lower(const step_view& s, dispatch_writer& to) {
    const binary_kind kind = s.params<op::binary>().kind;
    if (kind > binary_kind::atan2) return "its function has no shader";
    return lower_elementwise(s, to, 1 + static_cast<int>(kind), 0, 1, s.epilogue());
  }
};
template <>
struct lowering<op::fill> {
  static refusal lower(const step_view& s, dispatch_writer& to) {
    const float value = s.params<op::fill>().value;
    if (!is_float(s.output())) return lower_typed_fill(s.output(), value, to);
    epilogue_params e;
    e.alpha = value;
    return lower_elementwise(s, to, fill_mode, -1, -1, e);
  }
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
