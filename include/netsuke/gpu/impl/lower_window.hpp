// SPDX-License-Identifier: MIT
#pragma once
/// Convolution, depthwise convolution, dense layer, matrix product and pooling: one set of constants.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/packing.hpp>
#include <netsuke/gpu/impl/lower_winograd.hpp>
#include <netsuke/gpu/impl/lowering.hpp>
#include <netsuke/gpu/impl/separable_cost.hpp>

NSK_BEGIN
namespace gpu::impl {

/// Offset and strides of images, rows and pixels.
struct image_place {
  std::uint32_t at = 0, image = 0, row = 0, pixel = 0;
  bool aligned(std::uint32_t to = 4) const { return (at | image | row | pixel) % to == 0; }
};
inline image_place place_of(const tensor_info& t, const dispatch_writer& to) {
  const tensor_view v = t.view(nullptr, to.lengths());
  return {word_of(t, to.is_half(t), to), word(v.stride_of(3)), word(v.stride_of(2)), word(v.stride_of(1))};
}
/// Offset and strides of [B, M, N] of a matrix product, seen as an image_place: B are images, M pixels.
inline image_place matrix_place_of(const tensor_info& t, const dispatch_writer& to) {
  image_place p = place_of(t, to);
  p.image = p.row;
  p.row = 0;
  return p;
}

/// What all window operators ask of their tensors.
inline refusal check_window(const step_view& s, const epilogue_params& e) {
  if (!is_float(s.input(0)) || !is_float(s.output())) return "its elements are not float32";
  if (is_constant(s.input(0))) return "its input is a constant";
  if (s.input(0).rank() > 4 || s.output().rank() > 4) return "it has more than four dimensions";
  if (e.residual >= 0 && is_constant(s.input(e.residual))) return "its residual is a constant";
  return nullptr;
}

inline bool has_half_panels(const step_view& s, const dispatch_writer& to) {
  return s.input_count() > 1 && is_constant(s.input(1)) && to.panels().has(s.input(1));
}
/// HALVES of a step with one input and panels.
inline std::uint8_t halves_of(const step_view& s, int residual, const dispatch_writer& to) {
  const bool half_r = residual >= 0 && to.is_half(s.input(residual));
  return static_cast<std::uint8_t>((to.is_half(s.input(0)) ? half_input : 0) |
                                   (to.is_half(s.output()) ? half_output : 0) | (half_r ? half_residual : 0) |
                                   (has_half_panels(s, to) ? half_weights : 0));
}
template <class Constants>
void set_places(Constants& c, const image_place& x, const image_place& y, const image_place& r) {
  c.x = x.at, c.x_n = x.image, c.x_y = x.row, c.x_x = x.pixel;
  c.y = y.at, c.y_n = y.image, c.y_y = y.row, c.y_x = y.pixel;
  c.r = r.at, c.r_n = r.image, c.r_y = r.row, c.r_x = r.pixel;
}
inline void set_window(window_constants& c, const window& w) {
  c.kernel = pair(w.kernel_h, w.kernel_w);
  c.stride = pair(w.stride_h, w.stride_w);
  c.dilation = pair(w.dilation_h, w.dilation_w);
  c.pad = pair(w.pad_top, w.pad_left);
}
/// Sizes of input and output as images; channels are those of one group.
inline void set_sizes(window_constants& c, const tensor_view& x, const tensor_view& y, std::int32_t groups) {
  c.ih = word(x.length(2)), c.iw = word(x.length(1)), c.ic = word(x.length(0) / groups);
  c.oh = word(y.length(2)), c.ow = word(y.length(1)), c.oc = word(y.length(0) / groups);
  c.count = word(std::int64_t{y.length(3)} * y.length(2) * y.length(1));
  c.groups = word(groups);
}
inline void set_epilogue(window_constants& c, draft& d, const step_view& s, const epilogue_params& e,
                         const dispatch_writer& to) {
  set_epilogue(d, e);
  c.slope = slope_of(s, e, to);
  c.alpha = e.alpha;
  c.beta = e.beta;
}
/// Quads of channels that a group of threads shares out (shaders/window.h).
constexpr std::uint32_t columns_of(std::uint32_t quads) { return quads >= 8 ? 8 : quads > 2 ? 4 : quads; }

/// Groups of threads with `pixels` pixels and four channels each.
inline void spread_quads(draft& d, std::uint32_t quads, std::uint64_t pixels) {
  const std::uint32_t columns = columns_of(quads);
  d.spread_blocks(divided_up(quads, columns), divided_up(pixels, group_threads / columns));
}

/// Chooses the kernel of a convolution, dense layer or product, and its groups. The tiled one pays where there are
/// channels to fill its slices and tiles to fill a device; one pixel per thread where there are few outputs.
inline void choose_conv_kernel(draft& d, const window_constants& c, const plan_settings& how, bool tileable) {
  const std::uint32_t quads = divided_up(c.oc, 4) * c.groups;
  const std::uint64_t tiles = std::uint64_t{divided_up(c.count, 64)} * divided_up(c.oc, 32);
  const bool pays = c.ic >= 16 && c.oc >= 32 && tiles >= 16;
  if (tileable && (how.convolutions == conv_kernel::tiled || (how.convolutions == conv_kernel::automatic && pays))) {
    d.key.kernel = kernel::conv_2d_tiled;
    d.spread_blocks(divided_up(c.oc, 32), divided_up(c.count, 64));
    return;
  }
  // Images of a product have their own panels: the pixels of one thread must be of one image.
  const bool across_images = c.w_n != 0 && (c.oh * c.ow) % 4 != 0;
  const bool few = how.convolutions == conv_kernel::one_pixel || std::uint64_t{c.count} * quads < 16384;
  const bool one = across_images || (few && how.convolutions != conv_kernel::four_pixels);
  d.key.kernel = one ? kernel::conv_2d_one_pixel : kernel::conv_2d;
  spread_quads(d, quads, one ? c.count : divided_up(c.count, 4));
}

/// Slices of the input channels that a convolution of few outputs and long sums is cut into, 1 where it is not: enough
/// for 1024 threads, of 16 channels each or more. Asked of the whole batch, so that a row has the same sums whatever
/// the number of rows.
inline std::uint32_t slices_of(const window_constants& c, const tensor_info& output, const plan_settings& how) {
  const std::uint64_t pixels = static_cast<std::uint64_t>(output.elements(how.choosing_lengths())) / c.oc;
  const std::uint64_t threads = pixels * divided_up(c.oc, 4);
  const std::uint64_t depth = std::uint64_t{c.kernel & 0xffff} * (c.kernel >> 16) * c.ic;
  if (how.convolutions != conv_kernel::automatic || threads > 512 || depth < 256) return 1;
  std::uint32_t slices = divided_up(1024, static_cast<std::uint32_t>(threads));
  for (const std::uint32_t limit : {std::uint32_t{32}, c.ic / 16}) slices = slices < limit ? slices : limit;
  return slices > 1 ? slices : 1;
}
/// Two dispatches: sums of slices into scratch, then those added up in their order.
inline refusal split_conv(draft d, window_constants c, std::uint32_t slices, dispatch_writer& to) {
  const std::uint32_t quads = divided_up(c.oc, 4);
  c.slices = slices;
  c.scratch = to.scratch_word();
  d.set_constants(c);
  draft sums = d;
  sums.key.kernel = kernel::conv_2d_split;
  sums.scratch_written = {0, slices * c.count * quads * 16};
  sums.function() = sums.residual() = sums.output4() = 0;
  sums.halves() = sums.halves() & (half_input | half_weights);
  spread_quads(sums, quads, std::uint64_t{c.count} * slices);
  if (const refusal why = to.add(sums)) return why;
  d.key.kernel = kernel::sum_slices;
  d.scratch_read = sums.scratch_written;
  d.input4() = 0;
  d.halves() = static_cast<std::uint8_t>(d.halves() & ~(half_input | half_weights));
  spread_quads(d, quads, c.count);
  return to.add(d);
}

/// How a convolution, dense layer or product reads and writes, once its constants are set.
inline void set_widths(draft& d, const window_constants& c, const step_view& s, const dispatch_writer& to) {
  d.input4() = ((c.x | c.x_n | c.x_y | c.x_x | c.ic) % 4) == 0;
  d.output4() = ((c.y | c.y_n | c.y_y | c.y_x | c.r | c.r_n | c.r_y | c.r_x | c.oc) % 4) == 0;
  d.halves() = halves_of(s, s.epilogue().residual, to);
}
/// What convolutions, dense layers and products have in common once their constants are set.
inline refusal finish_conv(draft d, const window_constants& c, const step_view& s, dispatch_writer& to, bool tileable) {
  if (c.w % 4 != 0) return "its panels do not start at a multiple of 16 bytes";
  set_widths(d, c, s, to);
  const std::uint32_t slices = tileable ? slices_of(c, s.output(), to.settings()) : 1;
  if (slices > 1) return split_conv(d, c, slices, to);
  choose_conv_kernel(d, c, to.settings(), tileable);
  d.set_constants(c);
  return to.add(d);
}

template <>
struct lowering<op::conv_2d> {
  static refusal lower(const step_view& s, dispatch_writer& to) {
    const conv_2d_params p = s.params<op::conv_2d>();
    const epilogue_params e = s.epilogue();
    if (const refusal why = check_window(s, e)) return why;
    const length_values lengths = to.lengths();
    draft d;
    window_constants c;
    set_places(c, place_of(s.input(0), to), place_of(s.output(), to),
               e.residual >= 0 ? place_of(s.input(e.residual), to) : image_place{});
    set_sizes(c, s.input(0).view(nullptr, lengths), s.output().view(nullptr, lengths), p.groups);
    set_window(c, p.w);
    set_epilogue(c, d, s, e, to);
    c.w = word_of(s.input(1), to);
    if (p.algorithm != conv_algorithm::direct) {
      set_widths(d, c, s, to);
      return lower_winograd(d, c, p.algorithm, to);
    }
    return finish_conv(d, c, s, to, p.groups == 1);
  }
};

/// A dense layer is a convolution of 1 x 1 over its rows.
template <>
struct lowering<op::fully_connected> {
  static refusal lower(const step_view& s, dispatch_writer& to) {
    const epilogue_params e = s.epilogue();
    if (const refusal why = check_window(s, e)) return why;
    const length_values lengths = to.lengths();
    draft d;
    window_constants c;
    set_places(c, place_of(s.input(0), to), place_of(s.output(), to),
               e.residual >= 0 ? place_of(s.input(e.residual), to) : image_place{});
    set_sizes(c, s.input(0).view(nullptr, lengths), s.output().view(nullptr, lengths), 1);
    set_window(c, {});
    set_epilogue(c, d, s, e, to);
    c.w = word_of(s.input(1), to);
    return finish_conv(d, c, s, to, true);
  }
};

/// So is each of B products: B are images, whose panels are in the arena where they are computed.
template <>
struct lowering<op::mat_mul> {
  static refusal lower(const step_view& s, dispatch_writer& to) {
    const epilogue_params e = s.epilogue();
    if (const refusal why = check_window(s, e)) return why;
    const length_values lengths = to.lengths();
    const tensor_view y = s.output().view(nullptr, lengths);
    draft d;
    window_constants c;
    set_places(c, matrix_place_of(s.input(0), to), matrix_place_of(s.output(), to),
               e.residual >= 0 ? matrix_place_of(s.input(e.residual), to) : image_place{});
    c.ih = c.oh = 1;
    c.iw = c.ow = word(y.length(1));
    c.ic = word(s.input(0).view(nullptr, lengths).length(0));
    c.oc = word(y.length(0));
    c.count = word(std::int64_t{y.length(2)} * y.length(1));
    c.groups = 1;
    set_window(c, {});
    set_epilogue(c, d, s, e, to);
    c.w = word_of(s.input(1), to);
    if (!s.params<op::mat_mul>().shared_right) {
      const panel_shape image{c.oc, c.ic, 1};
      c.w_n = word(static_cast<std::int64_t>((has_half_panels(s, to) ? image.half_bytes() : image.bytes()) / 4));
    }
    const bool in_weights = is_constant(s.input(1));
    d.mode() = in_weights ? 0 : 1;
    return finish_conv(d, c, s, to, in_weights && c.w_n == 0);
  }
};

template <>
struct lowering<op::depthwise_conv_2d> {
  static refusal lower(const step_view& s, dispatch_writer& to) {
    const epilogue_params e = s.epilogue();
    if (const refusal why = check_window(s, e)) return why;
    const length_values lengths = to.lengths();
    const image_place x = place_of(s.input(0), to), y = place_of(s.output(), to),
                      r = e.residual >= 0 ? place_of(s.input(e.residual), to) : image_place{};
    draft d;
    window_constants c;
    set_places(c, x, y, r);
    set_sizes(c, s.input(0).view(nullptr, lengths), s.output().view(nullptr, lengths), 1);
    const window w = s.params<op::depthwise_conv_2d>().w;
    set_window(c, w);
    set_epilogue(c, d, s, e, to);
    c.w = word_of(s.input(1), to);
    if (c.w % 4 != 0) return "its panels do not start at a multiple of 16 bytes";
    d.input4() = x.aligned() && c.oc % 4 == 0;
    d.output4() = y.aligned() && r.aligned() && c.oc % 4 == 0;
    d.halves() = halves_of(s, e.residual, to);
    const bool pairs = to.settings().convolutions != conv_kernel::direct && c.ow > 1 && window_number(w) != 0;
    d.key.kernel = pairs ? kernel::depthwise_window : kernel::depthwise_conv_2d;
    d.window() = pairs ? window_number(w) : 0;
    spread_quads(d, divided_up(c.oc, 4), pairs ? std::uint64_t{c.count / c.ow} * divided_up(c.ow, 2) : c.count);
    d.set_constants(c);
    return to.add(d);
  }
};

template <>
struct lowering<op::pool_2d> {
  static refusal lower(const step_view& s, dispatch_writer& to) {
    if (const refusal why = check_window(s, {})) return why;
    const pool_2d_params p = s.params<op::pool_2d>();
    const length_values lengths = to.lengths();
    draft d;
    d.key.kernel = kernel::pool_2d;
    d.mode() = p.kind == pool_kind::max ? 0 : p.count_include_pad ? 2 : 1;  // MODE of shaders/pool_2d.comp
    window_constants c;
    const image_place x = place_of(s.input(0), to), y = place_of(s.output(), to);
    set_places(c, x, y, {});
    set_sizes(c, s.input(0).view(nullptr, lengths), s.output().view(nullptr, lengths), 1);
    set_window(c, p.w);
    c.fill = pair(p.pad_bottom, p.pad_right);  // in pooling the pads behind the input (shaders/bindings.h)
    d.input4() = x.aligned() && c.oc % 4 == 0;
    d.output4() = y.aligned() && c.oc % 4 == 0;
    d.halves() = halves_of(s, /*residual*/ -1, to);
    spread_quads(d, divided_up(c.oc, 4), c.count);
    d.set_constants(c);
    return to.add(d);
  }
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
