// SPDX-License-Identifier: MIT
#pragma once
/// Winograd's convolution by the weights that the CPU has, in three dispatches: the input is transformed to points in
/// scratch, each point is multiplied with its weights, and the products are transformed to the output.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/packing.hpp>
#include <netsuke/gpu/impl/lowering.hpp>

NSK_BEGIN
namespace gpu::impl {

/// Sizes of a convolution by one of Winograd's algorithms.
struct winograd_sizes {
  conv_algorithm algorithm;
  std::uint32_t height, width, input_channels, output_channels;

  constexpr std::uint32_t outputs() const { return static_cast<std::uint32_t>(winograd_outputs(algorithm)); }
  constexpr std::uint32_t points() const { return static_cast<std::uint32_t>(winograd_points(algorithm)); }
  constexpr std::uint64_t cells() const {  ///< of an image
    return std::uint64_t{divided_up(height, outputs())} * divided_up(width, outputs());
  }
  constexpr std::uint64_t input_bytes() const { return bytes_of(input_channels); }  ///< of an image's points
  constexpr std::uint64_t output_bytes() const { return bytes_of(output_channels); }
  constexpr std::uint64_t scratch_bytes() const { return input_bytes() + output_bytes(); }

 private:
  constexpr std::uint64_t bytes_of(std::uint32_t channels) const {
    return points() * cells() * divided_up(channels, 4) * 16;
  }
};

/// One of the two transforms: a group of threads has `side` threads for each quad of channels of a cell.
inline void spread_cells(draft& d, std::uint32_t channels, std::uint32_t cells, std::uint32_t side) {
  d.spread(std::uint64_t{divided_up(std::uint64_t{divided_up(channels, 4)} * cells, group_threads / side)} *
           group_threads);
}
/// The products of all points: a convolution of 1 x 1, whose pixels are cells and whose images are points.
inline draft winograd_products(const window_constants& layer, std::uint32_t points, std::uint32_t from,
                               std::uint32_t to) {
  window_constants c;
  c.x = from, c.y = to, c.w = layer.w;
  c.x_x = divided_up(layer.ic, 4) * 4, c.y_x = divided_up(layer.oc, 4) * 4;
  c.x_n = c.x_x * layer.count, c.y_n = c.y_x * layer.count;
  c.ih = c.oh = 1, c.iw = c.ow = c.count = layer.count;
  c.ic = layer.ic, c.oc = layer.oc, c.groups = 1, c.slices = points;
  c.kernel = c.stride = c.dilation = pair(1, 1);
  constexpr std::uint32_t tile_channels = 32, tile_pixels = 64;
  draft d;
  d.key.kernel = kernel::conv_2d_tiled;
  d.mode() = d.input4() = d.output4() = 1;
  d.spread_blocks(divided_up(c.oc, tile_channels), std::uint64_t{divided_up(c.count, tile_pixels)} * points);
  d.set_constants(c);
  return d;
}

/// The three dispatches of some images: `d` and `c` are those of the step, count the cells.
inline refusal add_winograd(draft d, window_constants c, const winograd_sizes& sizes, dispatch_writer& to) {
  const bool four = sizes.algorithm == conv_algorithm::winograd4;
  const std::uint32_t images = c.count / static_cast<std::uint32_t>(sizes.cells()), side = sizes.outputs() + 2;
  const scratch_range points{0, images * static_cast<std::uint32_t>(sizes.input_bytes())};
  const scratch_range products{points.end(), images * static_cast<std::uint32_t>(sizes.output_bytes())};
  const std::uint32_t from = to.scratch_word(), behind = from + products.begin / 4;

  draft input = d;
  input.key.kernel = four ? kernel::winograd4_input : kernel::winograd2_input;
  input.function() = input.residual() = input.output4() = 0;
  input.halves() &= half_input;
  input.scratch_written = points;
  c.scratch = from;
  input.set_constants(c);
  spread_cells(input, c.ic, c.count, side);
  if (const refusal why = to.add(input)) return why;

  draft product = winograd_products(c, sizes.points(), from, behind);
  product.scratch_read = points;
  product.scratch_written = products;
  if (const refusal why = to.add(product)) return why;

  d.key.kernel = four ? kernel::winograd4_output : kernel::winograd2_output;
  d.input4() = 0;
  d.halves() = static_cast<std::uint8_t>(d.halves() & ~half_input);
  d.scratch_read = products;
  c.scratch = behind;
  d.set_constants(c);
  spread_cells(d, c.oc, c.count, side);
  return to.add(d);
}

/// `d` and `c` are those of the step, as for a direct convolution.
inline refusal lower_winograd(const draft& d, window_constants c, conv_algorithm algorithm, dispatch_writer& to) {
  if (c.groups != 1) return "its weights are transformed for Winograd, in groups of channels: convert with --gpu";
  if (c.w % 4 != 0) return "its panels do not start at a multiple of 16 bytes";
  const winograd_sizes sizes{algorithm, c.oh, c.ow, c.ic, c.oc};
  const std::uint64_t scratch = to.settings().max_winograd_bytes;
  if (sizes.scratch_bytes() > scratch)
    return "its image needs more scratch for Winograd than max_winograd_bytes: raise it, or convert with --gpu";
  const std::uint32_t images = c.count / (c.oh * c.ow),
                      maximum = static_cast<std::uint32_t>(scratch / sizes.scratch_bytes());
  for (std::uint32_t first = 0, count = 0; first < images; first += count) {
    count = images - first < maximum ? images - first : maximum;
    c.count = count * static_cast<std::uint32_t>(sizes.cells());
    if (const refusal why = add_winograd(d, c, sizes, to)) return why;
    c.x += count * c.x_n, c.y += count * c.y_n, c.r += count * c.r_n;
  }
  return nullptr;
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
