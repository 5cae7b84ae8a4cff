// SPDX-License-Identifier: MIT
#pragma once
/// Separable resampling by the tables of the file.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/gpu/impl/lower_window.hpp>

NSK_BEGIN
namespace gpu::impl {

template <>
struct lowering<op::resize_2d> {
  static refusal lower(const step_view& s, dispatch_writer& to) {
    if (const refusal why = check_window(s, {})) return why;
    const resize_2d_params p = s.params<op::resize_2d>();
    const length_values lengths = to.lengths();
    const tensor_view bounds = s.input(0).view(nullptr), in = s.input(0).view(nullptr, lengths);
    if (in.length(2) != bounds.length(2) || in.length(1) != bounds.length(1))
      return "its tables are made for the largest image";
    const image_place x = place_of(s.input(0), to), y = place_of(s.output(), to);
    const tensor_view out = s.output().view(nullptr, lengths);
    resize_2d_constants c;
    c.x = x.at, c.x_n = x.image, c.x_y = x.row, c.x_x = x.pixel;
    c.y = y.at, c.y_n = y.image, c.y_y = y.row, c.y_x = y.pixel;
    c.oh = word(out.length(2)), c.ow = word(out.length(1)), c.oc = word(out.length(0));
    c.count = word(std::int64_t{out.length(3)} * out.length(2) * out.length(1));
    c.row_taps = word(p.row_taps);
    c.column_taps = word(p.column_taps);
    c.row_index = word_of(s.input(1), to);
    c.row_weight = word_of(s.input(2), to);
    c.column_index = word_of(s.input(3), to);
    c.column_weight = word_of(s.input(4), to);
    draft d;
    d.key.kernel = kernel::resize_2d;
    d.input4() = x.aligned() && c.oc % 4 == 0;
    d.output4() = y.aligned() && c.oc % 4 == 0;
    d.halves() = halves_of(s, -1, to);
    d.set_constants(c);
    spread_quads(d, divided_up(c.oc, 4), c.count);
    return to.add(d);
  }
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
