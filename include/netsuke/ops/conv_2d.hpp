// SPDX-License-Identifier: MIT
#pragma once
/// 2-D convolution by packed weights: directly, or by Winograd's algorithms.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/conv/conv_2d.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::conv_2d> : impl::never_in_place, impl::rows_of_images {
  using params = conv_2d_params;
  using args = kernels::conv_2d_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    return {operand::image().with_border(), operand::image(), operand::checked_by_rules()};
  }

  template <class Reader>
  NSK_COLD static status_code check_rules(Reader& reader, const step_view& s, const params& p) {
    const tensor_info x = s.input(0), y = s.output();
    const std::int64_t groups = p.groups, in = x.shape()[3], out = y.shape()[3];
    if (groups < 1 || in % groups != 0 || out % groups != 0 || !impl::windows_fit(p.w, x, y))
      return status_code::bad_step;
    const std::int64_t area = std::int64_t{p.w.kernel_h} * p.w.kernel_w, group_in = in / groups;
    if (area > impl::max_elements / group_in) return status_code::bad_step;
    return verify_weights(reader, s.input(1), p, area * group_in, group_in, out / groups);
  }

  static constexpr impl::whole_axes whole(const params&, int) { return {}; }
  /// Groups are cut only between panels, and panels only between groups.
  NSK_COLD static bool accepts_tiles(const params& p, const step_view& s, const tile_size& t, const tile_grid& grid) {
    return impl::cuts_between_panels(impl::last_length(s.output()) / p.groups, p.groups, t, grid);
  }
  template <class Tensor>
  static std::int64_t scratch_bytes(const params& p, const Tensor& x, const Tensor& y) {
    return kernels::conv_2d_scratch_bytes({x.shape()[1], x.shape()[2], x.shape()[3], y.shape()[1], y.shape()[2],
                                           y.shape()[3], p.groups, x.border(), x.fill(), p.w, p.algorithm});
  }
  static std::uint64_t taps(const step_view& s, const params& p) {
    return impl::saturating_multiply(impl::taps_of(p.w), static_cast<std::uint64_t>(s.input(0).shape()[3] / p.groups));
  }
  static args bind(const impl::memory_map& m, const step_view& s, const params& p) {
    return {p, m.view(s.input(0)), m.view(s.output()), m.constant<float>(s.input(1)), impl::bind_epilogue(m, s)};
  }

  static fast_path path(const step_view& s, const vector_registers& r = kernels::own_registers) {
    const params p = s.params<op::conv_2d>();
    return kernels::path_of({p.w, p.groups, s.input(0).shape()[3], s.output().shape()[3],
                             p.algorithm == conv_algorithm::direct, impl::has_float_weights(s)},
                            r);
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    using weight = impl::weight<Settings>;
    if constexpr (Settings::winograd && std::is_same<weight, float>::value)
      kernels::conv_2d<impl::kernels_of<Settings>>(a, range, scratch);
    else
      kernels::direct_conv_2d<impl::kernels_of<Settings>, weight>(a, range, scratch);
  }

 private:
  template <class Reader>
  NSK_COLD static status_code verify_weights(const Reader& reader, const tensor_info& weights, const params& p,
                                             std::int64_t depth, std::int64_t group_in, std::int64_t group_out) {
    switch (p.algorithm) {
      case conv_algorithm::direct:
        return impl::holds_panels(reader, weights, impl::panel_sizes::of_matrix(group_out, depth), p.groups)
                   ? status_code::ok
                   : status_code::bad_weights;
      case conv_algorithm::winograd4:
      case conv_algorithm::winograd2: {
        const window& w = p.w;
        const bool legal = w.kernel_h == 3 && w.kernel_w == 3 && w.stride_h == 1 && w.stride_w == 1 &&
                           w.dilation_h == 1 && w.dilation_w == 1;
        const packing arrangement = p.algorithm == conv_algorithm::winograd4 ? packing::winograd4 : packing::winograd2;
        if (!legal) return status_code::bad_step;
        return impl::holds_groups(weights, arrangement, p.groups, winograd_floats(p.algorithm, group_out, group_in));
      }
    }
    return status_code::bad_step;
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
