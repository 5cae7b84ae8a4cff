// SPDX-License-Identifier: MIT
#pragma once
/// Copies of up to six dimensions, and matrices to panels.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/packing.hpp>
#include <netsuke/gpu/impl/lower_elementwise.hpp>

NSK_BEGIN
namespace gpu::impl {

/// Where elements of 32 bits are, or 16-bit floats: offset and strides count those.
struct copy_place {
  tensor_view view{};
  std::uint32_t at = 0;
  bool is_constant = false, is_half = false;
};

/// Dimensions of a copy, with strides of its target (0) and its source (1).
using copy_dimensions = joined_dimensions<2>;

/// Whether four neighbours of the last dimension are next to each other, from multiples of four on.
inline bool has_quads(const copy_dimensions& dims, int operand, std::uint32_t at) {
  const int last = dims.count - 1;
  bool aligned = last >= 0 && dims.stride[last][operand] == 1 && at % 4 == 0;
  for (int d = 0; d < last; ++d) aligned = aligned && dims.stride[d][operand] % 4 == 0;
  return aligned;
}

/// Makes the dispatch of a copy. `words` are those of an element, `floats` says that its elements are float32.
inline refusal draft_copy(const copy_place& from, const copy_place& target, int words, bool floats, draft& d) {
  constexpr int slots = 6;
  const tensor_view* operand[2] = {&target.view, &from.view};
  copy_dimensions dims(target.view, operand);
  if (words > 1) dims.split_elements(words);
  if (dims.count > slots) return "it has more than six dimensions after joining";
  d.key.kernel = kernel::copy;
  d.halves() = from.is_half ? half_input : 0;
  const bool by_quads = floats && has_quads(dims, 0, target.at) && dims.length[dims.count - 1] % 4 == 0;
  d.output4() = by_quads;
  d.input4() = by_quads && has_quads(dims, 1, from.at);
  const auto stride = [&](int i, int k) { return dims.stride_in(slots, i, k); };
  std::int64_t count = 1;
  for (int i = 0; i < slots; ++i) count *= dims.length_in(slots, i);
  const std::uint32_t width = by_quads ? 4 : 1;
  copy_constants c;
  c.count = word(count / width);
  c.l1 = dims.length_in(slots, 1), c.l2 = dims.length_in(slots, 2), c.l3 = dims.length_in(slots, 3);
  c.l4 = dims.length_in(slots, 4), c.l5 = dims.length_in(slots, 5) / width;
  c.y = target.at;
  c.y0 = stride(0, 0), c.y1 = stride(1, 0), c.y2 = stride(2, 0);
  c.y3 = stride(3, 0), c.y4 = stride(4, 0), c.y5 = stride(5, 0);
  c.x = from.at;
  c.x0 = stride(0, 1), c.x1 = stride(1, 1), c.x2 = stride(2, 1);
  c.x3 = stride(3, 1), c.x4 = stride(4, 1), c.x5 = stride(5, 1);
  c.flags = from.is_constant ? 1 : 0;
  d.set_constants(c);
  d.spread(c.count);
  return nullptr;
}

/// A copy between tensors of one shape. Elements of 64 bits are two words, those of less than 32 one by one.
inline refusal lower_copy(const tensor_info& from, const tensor_info& target, dispatch_writer& to) {
  const length_values lengths = to.lengths();
  const int words = size_of(target.type()) / 4;
  if (words == 0) return lower_small_copy(from, target, to);
  if (to.is_half(target)) return lower_conversion(from, target, to);
  const bool half = to.is_half(from);
  draft d;
  if (const refusal why = draft_copy({from.view(nullptr, lengths), word_of(from, half, to), is_constant(from), half},
                                     {target.view(nullptr, lengths), word_of(target, to)}, words, is_float(target), d))
    return why;
  return to.add(d);
}

/// Zeros in a tensor.
inline refusal lower_zeros(const tensor_info& target, dispatch_writer& to) { return lower_typed_fill(target, 0, to); }

template <>
struct lowering<op::copy> {
  static refusal lower(const step_view& s, dispatch_writer& to) { return lower_copy(s.input(0), s.output(), to); }
};

template <>
struct lowering<op::pack_panels> {
  static refusal lower(const step_view& s, dispatch_writer& to) {
    if (is_constant(s.input(0))) return "its input is a constant";
    const length_values lengths = to.lengths();
    const tensor_view x = s.input(0).view(nullptr, lengths), y = s.output().view(nullptr, lengths);
    pack_panels_constants c;
    c.channels = word(x.length(0));
    c.depth = word(x.length(1));
    c.count = word(x.length(2) * panel_floats(x.length(0), x.length(1)));
    c.x = word_of(s.input(0), to);
    c.x_b = number(x.stride_of(2)), c.x_k = number(x.stride_of(1)), c.x_c = number(x.stride_of(0));
    c.y = word_of(s.output(), to);
    c.y_b = word(y.stride_of(1));
    draft d;
    d.key.kernel = kernel::pack_panels;
    d.set_constants(c);
    d.spread(c.count);
    return to.add(d);
  }
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
