// SPDX-License-Identifier: MIT
#pragma once
/// Random numbers: the words are the CPU's, and so are uniform numbers where their offset is 0; where it is not, and
/// for normal and gumbel numbers, devices round multiply-adds and roots in their own way.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/gpu/impl/lowering.hpp>

NSK_BEGIN
namespace gpu::impl {

template <>
struct lowering<op::random> {
  static refusal lower(const step_view& s, dispatch_writer& to) {
    constexpr int slots = 4;
    const random_params p = s.params<op::random>();
    const tensor_view y = s.output().view(nullptr, to.lengths());
    const tensor_view* self[1] = {&y};
    const joined_dimensions<1> dims(y, self);
    if (dims.count > slots) return "it has more than four dimensions after joining";
    const auto stride = [&](int i) { return dims.stride_in(slots, i, 0); };
    random_constants c;
    c.l1 = dims.length_in(slots, 1), c.l2 = dims.length_in(slots, 2), c.l3 = dims.length_in(slots, 3);
    c.count = dims.length_in(slots, 0) * c.l1 * c.l2 * c.l3;
    c.per_row = c.count / word(y.shape[0]);
    c.stream = p.stream;
    c.y = word_of(s.output(), to), c.y0 = stride(0), c.y1 = stride(1), c.y2 = stride(2), c.y3 = stride(3);
    c.scale = p.scale;
    c.offset = p.offset;
    draft d;
    d.key.kernel = kernel::random;
    d.mode() = static_cast<std::uint8_t>(p.kind);
    d.seeded = true;
    d.set_constants(c);
    d.spread(c.count);
    return to.add(d);
  }
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
