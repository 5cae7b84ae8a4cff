// SPDX-License-Identifier: MIT
/// RoiAlign and DeformConv: samples at places that boxes or offsets give.
#include <algorithm>
#include <netsuke/format/limits.hpp>
#include "passes/canonicalise/arithmetic.hpp"
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/moves.hpp"
#include "passes/canonicalise/rules.hpp"
#include "passes/canonicalise/sampling.hpp"
#include "passes/canonicalise/windows.hpp"

namespace nsk::tool::canonical {
namespace {

/// One RoiAlign: places are [regions, rows of samples, columns of samples].
class region_alignment {
 public:
  explicit region_alignment(context& c)
      : m_c(c), m_a(c), m_x(c.in_shape(0)), m_y(c.out_shape()), m_samples(c.op().integer("sampling_ratio", 0)) {
    const node& n = c.op();
    if (c.in_type(0) != element::f32 || c.in_type(1) != element::f32 || !is_computed_integer(c.in_type(2)))
      c.refuse("image and regions must be float32, batch indices int32 or int64");
    if (m_samples == 0)
      c.refuse(
          "sampling_ratio 0 takes as many samples as a region has pixels, which are known at run time alone. Export "
          "the "
          "model with a sampling_ratio of 1 or more (2 is customary)");
    m_half =
        n.text("coordinate_transformation_mode", n.version < 16 ? "output_half_pixel" : "half_pixel") == "half_pixel";
    m_largest = n.text("mode", "avg") == "max";
    require_countable(c, m_x[0] * m_x[2] * m_x[3]);
    c.charge(static_cast<double>((m_y[2] + m_y[3]) * m_samples + m_x[0]));
  }

  void run() {
    sampled_places s;
    s.rows = reshaped(m_c, transposed(m_c, m_c.in(0), {0, 2, 3, 1}, "pixels"), {m_x[0] * m_x[2] * m_x[3], m_x[1]});
    s.axes = {places_along(1, m_x[2], m_y[2], {m_y[0], m_y[2] * m_samples, 1}),
              places_along(0, m_x[3], m_y[3], {m_y[0], 1, m_y[3] * m_samples})};
    s.lengths = {m_x[2], m_x[3]};
    std::vector<double> first;
    for (std::int64_t i = 0; i < m_x[0]; ++i) first.push_back(static_cast<double>(i * m_x[2] * m_x[3]));
    const int picked = m_c.temporary("first_pixel", {m_y[0]});  // the gather clamps the index
    m_c.emit(gather_parameters{0, false}, {constant(m_c, "first_pixels", {m_x[0]}, first), m_c.in(2)}, picked);
    s.first = reshaped(m_c, picked, {m_y[0], 1, 1});
    s.places = {m_y[0], m_y[2] * m_samples, m_y[3] * m_samples};
    s.largest = m_largest;
    const int samples =
        reshaped(m_c, sample_places(m_c, m_a, s), {m_y[0], m_y[2], m_samples, m_y[3], m_samples, m_x[1]});
    const reduce_kind kind = m_largest ? reduce_kind::max : reduce_kind::mean;
    const int columns = reduced(m_c, kind, samples, {4}, "columns"), bins = reduced(m_c, kind, columns, {2}, "bins");
    const int result = m_c.temporary("result", {m_y[0], m_y[2], m_y[3], m_x[1]});
    m_c.emit(reshape_parameters{true}, {bins}, result);
    m_c.emit(transpose_parameters{{0, 3, 1, 2}}, {result});
  }

 private:
  /// Coordinate `i` of the boxes [R, 4] in pixels, [R, 1].
  int edge(std::int64_t i) {
    const int v = part(m_c, m_c.in(1), 1, i, 1, m_a.name("edge"));
    return m_a.add(m_a.times(v, static_cast<double>(m_c.op().number("spatial_scale", 1))), m_half ? -0.5 : 0);
  }

  /// Samples along one axis: `coordinate` 0 for x, 1 for y. What is further outside than a pixel weighs nothing.
  axis_places places_along(std::int64_t coordinate, std::int64_t length, std::int64_t bins, const shape_t& shape) {
    const int start = edge(coordinate);
    int extent = m_a.combine(binary_kind::sub, edge(coordinate + 2), start);
    if (!m_half) extent = m_a.combine(binary_kind::max, extent, m_a.scalar(1));
    std::vector<double> share;
    for (std::int64_t i = 0; i < bins * m_samples; ++i)
      share.push_back((static_cast<double>(i) + 0.5) / static_cast<double>(bins * m_samples));
    const int shares = constant(m_c, m_a.name("shares"), {1, bins * m_samples}, share);
    const int at = m_a.combine(binary_kind::add, m_a.combine(binary_kind::mul, extent, shares), start);
    const auto l = static_cast<double>(length);
    const int near_by = m_c.temporary(m_a.name("near"), m_c.shape(at), element::boolean);
    m_c.emit(compare_params{compare_kind::equal}, {m_a.clipped(at, -1, l), at}, near_by);
    const int x = m_a.clipped(at, 0, l - 1), first = m_a.apply(function::floor, x),
              next = m_a.combine(binary_kind::sub, x, first);
    axis_places a;
    a.taps = {reshaped(m_c, first, shape), reshaped(m_c, m_a.clipped(m_a.add(first, 1), 0, l - 1), shape)};
    for (const int weight : {m_a.rest_of(next), next}) {
      const int kept = m_c.temporary(m_a.name("kept"), m_c.shape(weight));
      m_c.emit(select_params{}, {near_by, weight, m_a.scalar(0)}, kept);
      a.weights.push_back(reshaped(m_c, kept, shape));
    }
    return a;
  }

  context& m_c;
  place_arithmetic m_a;
  const shape_t m_x, m_y;
  std::int64_t m_samples;
  bool m_half = true, m_largest = false;
};

void roi_align(context& c) { region_alignment(c).run(); }

/// One DeformConv: places are [N, positions, taps, offset groups].
class deformation {
 public:
  explicit deformation(context& c)
      : m_c(c),
        m_x(c.in_shape(0)),
        m_w(c.in_shape(1)),
        m_y(c.out_shape()),
        m_offset_groups(c.op().integer("offset_group", 1)),
        m_taps(m_w[2] * m_w[3]),
        m_positions(m_y[2] * m_y[3]) {
    if (m_x.size() != 4) c.refuse("DeformConv has images [N, C, H, W]");
    m_axes = window_axes(c, c.op(), m_x, {m_w[2], m_w[3]}, m_y);
    if (std::max(m_x[2], m_x[3]) > nsk::impl::max_sampled_side)
      c.refuse("its images have more than 2^22 rows or columns; sample smaller ones");
    c.charge(2 * static_cast<double>(m_positions) * static_cast<double>(m_taps));
  }

  void run() {
    const std::int64_t channels = m_x[1] / m_offset_groups;
    const int image = reshaped(m_c, transposed(m_c, m_c.in(0), {0, 2, 3, 1}, "pixels"),
                               {m_x[0], m_x[2], m_x[3], m_offset_groups, channels}),
              rows = positions_along(0, "rows"), columns = positions_along(1, "columns"),
              factors =
                  m_c.has(4) ? by_place(m_c.in(4), 1, 0, "factors") : constant(m_c, "factors", {1, 1, 1, 1}, {1.0});
    const int sampled = m_c.temporary("sampled", {m_x[0], m_positions, m_taps, m_offset_groups, channels});
    m_c.emit(sample_image_params{}, {image, rows, columns, factors}, sampled);
    const int patches = reshaped(m_c, sampled, {m_x[0], m_positions, m_taps, m_x[1]});
    const int product = patches_times_weights(m_c, patches, m_c.op().integer("group", 1));
    const int unbiased = m_c.has(3) ? m_c.temporary("unbiased", m_y) : m_c.out();
    m_c.emit(reshape_parameters{}, {product}, unbiased);
    if (m_c.has(3))
      canonical::combine(m_c, binary_kind::add, unbiased, reshaped(m_c, m_c.in(3), {1, m_y[1], 1, 1}), "", m_c.out());
  }

 private:
  /// One of `parts` channels of each tap and offset group, as a value per place.
  int by_place(int v, std::int64_t parts, std::int64_t index, const std::string& name) {
    const int split = reshaped(m_c, v, {m_x[0], m_offset_groups, m_taps, parts, m_positions}),
              one = reshaped(m_c, part(m_c, split, 3, index, 1, name + "_of_input"),
                             {m_x[0], m_offset_groups, m_taps, m_positions});
    return transposed(m_c, one, {0, 3, 2, 1}, name + "_by_place");
  }

  /// Where the taps are along an axis, in pixels; axis 0 is the rows.
  int positions_along(std::size_t axis, const std::string& name) {
    const window_axis w = m_axes[axis];
    std::vector<double> grid;
    for (std::int64_t p = 0; p < m_positions; ++p)
      for (std::int64_t k = 0; k < m_taps; ++k) {
        const std::int64_t position = axis == 0 ? p / m_y[3] : p % m_y[3], tap = axis == 0 ? k / m_w[3] : k % m_w[3];
        grid.push_back(static_cast<double>(position * w.stride - w.before + tap * w.dilation));
      }
    const int base = constant(m_c, name + "_grid", {1, m_positions, m_taps, 1}, grid),
              offset = by_place(m_c.in(2), 2, static_cast<std::int64_t>(axis), name);
    return canonical::combine(m_c, binary_kind::add, offset, base, name);
  }

  context& m_c;
  const shape_t m_x, m_w, m_y;
  std::int64_t m_offset_groups, m_taps, m_positions;
  std::vector<window_axis> m_axes;
};

void deform_conv(context& c) { deformation(c).run(); }

}

void add_regions(rule_table& t) {
  t["RoiAlign"] = {roi_align, element_types::any};
  t["DeformConv"] = {deform_conv};
}

}
