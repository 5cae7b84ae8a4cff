// SPDX-License-Identifier: MIT
#pragma once
/// Products between numbers that are stored as integers. Exporters write DequantizeLinear, Conv, QuantizeLinear for
/// what runtimes compute in integers, and only so do all of them round alike: QLinearConv takes the place of the three.
#include <map>
#include <optional>
#include "graph/graph.hpp"
#include "spell/node_placer.hpp"

namespace nsk::tool {

class integer_products {
 public:
  explicit integer_products(node_placer& placer) : m_placer(placer) {}

  /// Remembers a node that may be part of a product, before anything is folded.
  void see(const node& n);
  /// Puts a product of integers in the place of the QuantizeLinear `n`, where it stores one. Returns whether it did.
  bool replace(const node& n);

  /// The DequantizeLinear that `v` is, or that it would be where elements are moved first; null where it is none.
  const node* widened(value_id v) const;
  /// Whether a DequantizeLinear widens bytes that are computed at run time, by one constant scale.
  bool widens_bytes(const node& wide);
  /// Whether `n` is a QuantizeLinear that stores bytes by one constant scale.
  bool stores_bytes(const node& n);

 private:
  value& at(value_id v) { return m_placer.at(v); }
  void follow_move(const node& n);
  bool replace_mean(const node& q, const node& mean);
  bool stores_alike(const node& q, const node& wide);
  const node* made(value_id v) const;
  /// Whether input `i` of a QuantizeLinear or DequantizeLinear is `count` constants, or one; positive ones for a scale.
  bool is_constant(const node& n, std::size_t i, std::int64_t count);
  bool is_stored_alike(const node& wide, std::int64_t axis, std::size_t rank);
  bool is_bias_of(const node& bias, const node& x, const node& w);
  /// What a QuantizeLinear makes of real numbers: the type, and the number that 0 is, also of a DequantizeLinear.
  element stored_type(const node& q);
  double zero_point(const node& n);
  value_id zero_of(const node& wide, element type);
  bool limits_of(const node& limit, double& low, double& high);
  std::optional<node> product(const node& q, const node& made);
  std::optional<node> sum(const node& q, const node& add);
  /// What QuantizeLinear `q` makes of a real number.
  std::int64_t stored_number(const node& q, double real);

  node_placer& m_placer;
  std::map<value_id, node> m_widened, m_made;  ///< by their results
};

}
