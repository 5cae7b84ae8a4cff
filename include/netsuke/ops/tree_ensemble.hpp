// SPDX-License-Identifier: MIT
#pragma once
/// Decision trees. Their arrays are constants, so that every node is looked at when the file is opened and never again:
/// children are behind their parents, so there is no cycle.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/dense/tree_ensemble.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::tree_ensemble>
    : impl::never_in_place, impl::whole_channels, impl::rows_of_images, impl::without_scratch, impl::one_path {
  using params = tree_ensemble_params;
  using args = kernels::tree_ensemble_args;

  static constexpr impl::operand_table operands(const params&) {
    using impl::operand;
    constexpr operand matrix = operand::floats().with_rank(2);
    return {matrix,
            matrix,
            operand::checked_by_rules(),
            operand::checked_by_rules(),
            operand::checked_by_rules(),
            operand::checked_by_rules(),
            operand::checked_by_rules(),
            operand::checked_by_rules()};
  }

  NSK_COLD static status_code check_rules(impl::constant_reader& constants, const step_view& s, const params& p) {
    const tensor_info x = s.input(0), y = s.output();
    if (!is_known(p.aggregate) || x.shape()[0] != y.shape()[0]) return status_code::bad_step;
    const auto* roots = constants.line<std::int32_t>(s.input(1));
    const auto* nodes = constants.line<std::int32_t>(s.input(2));
    const auto* targets = constants.line<std::int32_t>(s.input(4));
    if (!roots || !nodes || !targets || !constants.line<float>(s.input(3)) || !constants.line<float>(s.input(5)) ||
        !constants.line<float>(s.input(6)))
      return status_code::bad_weights;
    const std::int64_t trees = s.input(1).elements(), count = s.input(3).elements(), entries = s.input(5).elements();
    if (s.input(2).elements() != 4 * count || s.input(4).elements() != entries || s.input(6).elements() != y.shape()[1])
      return status_code::bad_weights;
    if (!constants.afford(4 * count + entries + trees)) return status_code::too_complex;
    const bool good = impl::all_below(roots, trees, count) && impl::all_below(targets, entries, y.shape()[1]) &&
                      nodes_agree(nodes, count, x.shape()[1], entries);
    return good ? status_code::ok : status_code::bad_weights;
  }

  static std::uint64_t taps(const step_view& s, const params&) {
    return static_cast<std::uint64_t>(s.input(1).elements());
  }
  static args bind(const impl::memory_map& m, const step_view& s, const params& p) {
    return {p,
            m.view(s.input(0)),
            m.view(s.output()),
            m.constant<std::int32_t>(s.input(1)),
            m.constant<std::int32_t>(s.input(2)),
            m.constant<float>(s.input(3)),
            m.constant<std::int32_t>(s.input(4)),
            m.constant<float>(s.input(5)),
            m.constant<float>(s.input(6)),
            static_cast<std::int32_t>(s.input(1).elements())};
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::tree_ensemble(a, range, scratch);
  }

 private:
  NSK_COLD static bool nodes_agree(const std::int32_t* nodes, std::int64_t count, std::int64_t features,
                                   std::int64_t entries) {
    for (std::int64_t i = 0; i < count; ++i) {
      const kernels::impl::tree_node n = kernels::impl::node_at(nodes, static_cast<std::ptrdiff_t>(i));
      if (n.kind < 0 || n.kind > 15 || (n.kind & 7) == 7) return false;
      if (n.test() == kernels::impl::tree_test::leaf) {
        if (n.next < 0 || n.other < n.next || n.other > entries) return false;
      } else {
        if (n.feature < 0 || n.feature >= features) return false;
        if (n.next <= i || n.next >= count || n.other <= i || n.other >= count) return false;
      }
    }
    return true;
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
