// SPDX-License-Identifier: MIT
#pragma once
/// Rules of decision trees. Their arrays are constants, so that every node is looked at here and never again: children
/// lie behind their parents, so there is no cycle.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/impl/tree_node.hpp>
#include <netsuke/model/impl/verify_context.hpp>

NSK_BEGIN
namespace impl {

/// A dense line of constants in the weights section; null where `t` is none.
template <class T>
const T* constant_line(const verify_context& c, const tensor_info& t) {
  const bool good = t.where() == storage::constant && t.type() == dtype_of<T>() && t.arrangement() == packing::plain &&
                    t.rank() == 1 && is_dense(t.view(nullptr));
  return good ? reinterpret_cast<const T*>(c.weights.data() + t.buffer_offset() + t.offset()) : nullptr;
}

/// Whether all `count` numbers are in [0, limit).
NSK_COLD inline bool all_below(const std::int32_t* numbers, std::int64_t count, std::int64_t limit) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (numbers[i] < 0 || numbers[i] >= limit) return false;
  }
  return true;
}

NSK_COLD inline bool nodes_agree(const std::int32_t* nodes, std::int64_t count, std::int64_t features,
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

inline status_code verify_tree_ensemble(verify_context& c, const step_view& s) {
  const tensor_info x = s.input(0), y = s.output();
  if (s.tree_ensemble()->aggregate() > format::TreeAggregate::MAX) return status_code::bad_step;
  if (!is_float(x) || !is_float(y) || x.rank() != 2 || y.rank() != 2 || x.shape()[0] != y.shape()[0])
    return status_code::bad_step;
  const auto* roots = constant_line<std::int32_t>(c, s.input(1));
  const auto* nodes = constant_line<std::int32_t>(c, s.input(2));
  const auto* targets = constant_line<std::int32_t>(c, s.input(4));
  if (!roots || !nodes || !targets || !constant_line<float>(c, s.input(3)) || !constant_line<float>(c, s.input(5)) ||
      !constant_line<float>(c, s.input(6)))
    return status_code::bad_weights;
  const std::int64_t count = s.input(3).elements(), entries = s.input(5).elements();
  if (s.input(2).elements() != 4 * count || s.input(4).elements() != entries || s.input(6).elements() != y.shape()[1])
    return status_code::bad_weights;
  const std::int64_t numbers = 4 * count + entries + s.input(1).elements();
  if (!c.work.spend(number_work * static_cast<std::uint64_t>(numbers))) return status_code::too_complex;
  const bool good = all_below(roots, s.input(1).elements(), count) && all_below(targets, entries, y.shape()[1]) &&
                    nodes_agree(nodes, count, x.shape()[1], entries);
  return good ? status_code::ok : status_code::bad_weights;
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
