// SPDX-License-Identifier: MIT
#pragma once
/// A depthwise convolution and the 1 x 1 convolution that alone reads its result, as one dispatch: which pairs can be
/// merged, which are, and their constants (shaders/separable_conv_2d.comp).
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/gpu/impl/choose_halves.hpp>
#include <netsuke/gpu/impl/hazard.hpp>
#include <netsuke/gpu/impl/lower_every_op.hpp>

NSK_BEGIN
namespace gpu::impl {

/// Whether two tensors have the same elements at the same places.
inline bool are_the_same(const tensor_info& a, const tensor_info& b, length_values lengths) {
  const tensor_view x = a.view(nullptr, lengths), y = b.view(nullptr, lengths);
  bool same =
      a.buffer() == b.buffer() && a.offset(lengths) == b.offset(lengths) && x.type == y.type && x.rank == y.rank;
  for (int d = 0; same && d < x.rank; ++d) same = x.shape[d] == y.shape[d] && x.stride[d] == y.stride[d];
  return same;
}

/// A depthwise convolution and a 1 x 1 convolution behind it.
struct separable_steps {
  step_view depthwise, pointwise;
  length_values lengths;  ///< by which the pair is chosen
  separable_steps(const variant_view& v, int i, int k, length_values chosen)
      : depthwise(v.step(i)), pointwise(v.step(k)), lengths(chosen) {}

  tensor_info between() const { return depthwise.output(); }

  /// Whether the second step alone reads the result of the first one, and reads it pixel by pixel.
  bool are_a_pair() const {
    if (depthwise.op() != op::depthwise_conv_2d || pointwise.op() != op::conv_2d) return false;
    const tensor_info t = between();
    const bool alone = t.where() == storage::arena && t.first_step() == depthwise.index() &&
                       t.last_step() == pointwise.index() && are_the_same(t, pointwise.input(0), lengths);
    return alone && depthwise.epilogue().residual < 0 && is_no_other_operand(t) && reads_pixels();
  }
  separable_shape shape(const dispatch_writer& to) const {
    const tensor_view x = between().view(nullptr, lengths);
    separable_shape s;
    s.window = window_number(depthwise.params<op::depthwise_conv_2d>().w);
    s.lines = std::uint64_t{word(x.length(3))} * word(x.length(2));
    s.width = word(x.length(1)), s.channels = word(x.length(0));
    s.outputs = word(pointwise.output().view(nullptr, lengths).length(0));
    s.element_bytes = to.is_half(between()) ? 2 : 4;
    return s;
  }

 private:
  /// Whether the buffer of `t` has nothing else that the two steps touch.
  bool is_no_other_operand(const tensor_info& t) const {
    for (int i = 1; i < pointwise.input_count(); ++i) {
      if (pointwise.input(i).buffer() == t.buffer()) return false;
    }
    return pointwise.output().buffer() != t.buffer() && depthwise.input(0).buffer() != t.buffer();
  }
  bool reads_pixels() const {
    const conv_2d_params p = pointwise.params<op::conv_2d>();
    const tensor_view x = between().view(nullptr, lengths), y = pointwise.output().view(nullptr, lengths);
    const bool single = p.w.kernel_h == 1 && p.w.kernel_w == 1 && p.w.stride_h == 1 && p.w.stride_w == 1 &&
                        p.w.pad_top == 0 && p.w.pad_left == 0;
    return single && p.groups == 1 && p.algorithm == conv_algorithm::direct && x.length(1) == y.length(1) &&
           x.length(2) == y.length(2);
  }
};

/// Constants and permutation of the merged dispatch.
inline void set_separable(const separable_steps& s, const dispatch_writer& to, draft& d, separable_constants& c) {
  const length_values lengths = to.lengths();
  const epilogue_params first = s.depthwise.epilogue(), second = s.pointwise.epilogue();
  const tensor_info in = s.depthwise.input(0), out = s.pointwise.output();
  const image_place y = place_of(out, to),
                    r = second.residual >= 0 ? place_of(s.pointwise.input(second.residual), to) : image_place{};
  const window w = s.depthwise.params<op::depthwise_conv_2d>().w;
  const separable_shape shape = s.shape(to);
  set_places(c, place_of(in, to), y, r);
  c.w0 = word_of(s.depthwise.input(1), to), c.slope0 = slope_of(s.depthwise, first, to);
  c.alpha0 = first.alpha, c.beta0 = first.beta;
  c.w = word_of(s.pointwise.input(1), to), c.slope = slope_of(s.pointwise, second, to);
  c.alpha = second.alpha, c.beta = second.beta;
  const tensor_view x = in.view(nullptr, lengths), all = out.view(nullptr, lengths);
  c.ih = word(x.length(2)), c.iw = word(x.length(1)), c.ic = word(x.length(0));
  c.oh = word(all.length(2)), c.ow = static_cast<std::uint32_t>(shape.padded_width()), c.oc = word(all.length(0));
  c.width = word(all.length(1));
  c.count = word(all.length(3)) * c.oh * c.ow;
  c.stride = pair(w.stride_h, w.stride_w), c.pad = pair(w.pad_top, w.pad_left);
  d.key.kernel = kernel::separable_conv_2d;
  set_epilogue(d, second);
  d.mode() = static_cast<std::uint8_t>(first.fn);
  d.window() = shape.window;
  d.input4() = 1;
  d.output4() = y.aligned() && r.aligned() && c.oc % 4 == 0;
  const std::uint8_t half = halves_of(s.pointwise, second.residual, to);
  d.halves() = static_cast<std::uint8_t>((half & ~half_input) | (to.is_half(in) ? half_input : 0));
  d.spread_blocks(divided_up(c.oc, 32), divided_up(c.count, 64));
  d.set_constants(c);
}

/// Whether a step has an operand in the buffer of `t`.
inline bool touches_buffer(const step_view& s, const tensor_info& t) {
  for (int i = 0; i < s.input_count(); ++i) {
    if (s.input(i).buffer() == t.buffer()) return true;
  }
  for (int i = 0; i < s.output_count(); ++i) {
    if (s.output(i).buffer() == t.buffer()) return true;
  }
  return false;
}
/// Whether a step writes what `read` reads.
inline bool writes_to(const step_view& s, const access& read, const dispatch_writer& to) {
  for (int i = 0; i < s.output_count(); ++i) {
    if (meet(read, access_of(s.output(i), to.choosing_lengths(), true, to.is_half(s.output(i))))) return true;
  }
  return false;
}

/// Whether the steps leave to the second one what the first one reads, and nothing else needs what is between: no step
/// in between touches that. The second step itself may not write there, because threads read around the pixels of
/// others. All of them run on the device.
inline bool can_wait(const variant_view& v, const separable_steps& s, const dispatch_writer& to) {
  const tensor_info in = s.depthwise.input(0);
  const access read = access_of(in, to.choosing_lengths(), false, to.is_half(in));
  const int first = s.depthwise.index(), last = s.pointwise.index();
  dispatch_writer counting(to.settings());
  for (int i = first; i <= last; ++i) {
    if (lower_on_device(v.step(i), counting)) return false;
    if (i != first && writes_to(v.step(i), read, to)) return false;
    if (i != first && i != last && touches_buffer(v.step(i), s.between())) return false;
  }
  return true;
}
/// Whether the kernel can compute both steps in the place of the second one: it has the window, reads whole quads of
/// channels, and both weights are stored alike.
inline bool can_merge(const variant_view& v, const separable_steps& s, const dispatch_writer& to) {
  draft d;
  separable_constants c;
  set_separable(s, to, d, c);
  const bool aligned = place_of(s.depthwise.input(0), to).aligned() && (c.w0 | c.w | c.slope0 | c.ic) % 4 == 0;
  const bool alike = has_half_panels(s.depthwise, to) == has_half_panels(s.pointwise, to);
  const auto known = [](const step_view& one) { return has_shader(one.op(), one.epilogue().fn); };
  return d.window() != 0 && known(s.depthwise) && known(s.pointwise) && aligned && alike && d.fits() &&
         can_wait(v, s, to);
}

/// Whether two steps become one dispatch. Asked of the whole batch, so that a row has the same bits whatever the number
/// of rows.
inline bool are_merged(const variant_view& v, int depthwise, int pointwise, const dispatch_writer& to) {
  constexpr int max_apart = 8;  // so that planning takes linear time
  const plan_settings& how = to.settings();
  if (how.separable == merging::never || depthwise < 0 || pointwise >= v.step_count() || pointwise <= depthwise ||
      pointwise - depthwise > max_apart)
    return false;
  const separable_steps s(v, depthwise, pointwise, to.choosing_lengths());
  if (!s.are_a_pair()) return false;
  const bool pays = how.convolutions == conv_kernel::automatic && pays_to_merge(s.shape(to));
  return (how.separable == merging::always || pays) && can_merge(v, s, to);
}
/// The step whose dispatch computes step `i` as well, -1 where there is none.
inline int reader_merged_with(const variant_view& v, int i, const dispatch_writer& to) {
  const step_view s = v.step(i);
  if (s.op() != op::depthwise_conv_2d) return -1;
  const int reader = s.output().last_step();
  return are_merged(v, i, reader, to) ? reader : -1;
}
/// The step that the dispatch of step `i` computes as well, -1 where there is none.
inline int step_merged_into(const variant_view& v, int i, const dispatch_writer& to) {
  const step_view s = v.step(i);
  if (s.op() != op::conv_2d || is_constant(s.input(0))) return -1;
  const int maker = s.input(0).first_step();
  return are_merged(v, maker, i, to) ? maker : -1;
}

/// Adds the dispatch of the current step, a 1 x 1 convolution, that computes an earlier one as well.
inline refusal lower_separable(const variant_view& v, int depthwise, int pointwise, dispatch_writer& to) {
  draft d;
  separable_constants c;
  set_separable(separable_steps(v, depthwise, pointwise, to.choosing_lengths()), to, d, c);
  to.merge_step(depthwise, halves_of_step(v.step(depthwise), to));
  return to.add(d);
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
