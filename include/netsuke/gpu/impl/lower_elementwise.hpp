// SPDX-License-Identifier: MIT
#pragma once
/// Unary and binary operators, and fill: up to four joined dimensions.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/gpu/impl/lower_typed.hpp>

NSK_BEGIN
namespace gpu::impl {

/// Operands by input number, -1 where there is none. `mode` is that of shaders/elementwise.comp.
inline refusal lower_elementwise(const step_view& s, dispatch_writer& to, int mode, int a, int b,
                                 const epilogue_params& e) {
  constexpr int slots = 4;
  const int rows = to.settings().rows, input[3] = {a, b, e.residual};
  if (!is_float(s.output())) return "its elements are not float32";
  const tensor_view y = s.output().view(nullptr, rows);
  tensor_view view[3];
  const tensor_view* operand[slots] = {&y, nullptr, nullptr, nullptr};
  std::uint32_t at[slots] = {word_of(s.output()), 0, 0, 0}, flags = 0;
  for (int i = 0; i < 3; ++i) {
    if (input[i] < 0) continue;
    const tensor_info t = s.input(input[i]);
    view[i] = t.view(nullptr, rows);
    operand[i + 1] = &view[i];
    at[i + 1] = word_of(t);
    if (is_constant(t)) flags |= 1u << i;
  }
  const joined_dimensions<slots> dims(y, operand);
  if (dims.count > slots) return "it has more than four dimensions after joining";
  if (e.slope >= 0 && (dims.count == 0 || dims.length[dims.count - 1] != y.length(0)))
    return "its slopes follow joined channels";
  draft d;
  d.key.kernel = kernel::elementwise;
  set_epilogue(d, e);
  d.mode() = static_cast<std::uint8_t>(mode);
  elementwise_constants c;
  const auto stride = [&](int i, int k) { return dims.stride_in(slots, i, k); };
  std::int64_t count = 1;
  for (int i = 0; i < slots; ++i) count *= dims.length_in(slots, i);
  c.count = word(count);
  c.l1 = dims.length_in(slots, 1), c.l2 = dims.length_in(slots, 2), c.l3 = dims.length_in(slots, 3);
  c.y = at[0], c.y0 = stride(0, 0), c.y1 = stride(1, 0), c.y2 = stride(2, 0), c.y3 = stride(3, 0);
  c.a = at[1], c.a0 = stride(0, 1), c.a1 = stride(1, 1), c.a2 = stride(2, 1), c.a3 = stride(3, 1);
  c.b = at[2], c.b0 = stride(0, 2), c.b1 = stride(1, 2), c.b2 = stride(2, 2), c.b3 = stride(3, 2);
  c.r = at[3], c.r0 = stride(0, 3), c.r1 = stride(1, 3), c.r2 = stride(2, 3), c.r3 = stride(3, 3);
  c.alpha = e.alpha;
  c.beta = e.beta;
  c.slope = slope_of(s, e);
  c.flags = flags;
  d.set_constants(c);
  d.spread(c.count);
  return to.add(d);
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
    return lower_elementwise(s, to, 1 + static_cast<int>(s.params<op::binary>().kind), 0, 1, s.epilogue());
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
