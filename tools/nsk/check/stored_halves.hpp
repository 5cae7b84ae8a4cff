// SPDX-License-Identifier: MIT
#pragma once
/// Integers that QuantizeLinear and DynamicQuantizeLinear make of real numbers halfway between two of them: which one
/// depends on the last bit of a float.
#include <cstdint>
#include <map>
#include <string>
#include "graph/graph.hpp"

namespace nsk::tool {

class stored_halves {
 public:
  explicit stored_halves(const graph& g);

  /// Remembers a real number's tensor that a QuantizeLinear of one constant scale, or DynamicQuantizeLinear, stores.
  void see(const std::string& name, const array& a);
  /// Takes over the engine's integers where the reference's real number, moved by at most `margin` of the largest
  /// magnitude of its tensor, is stored as the engine stores it. `name` is what one of them makes; others stay.
  /// Returns how many were taken over; none where there are more of them than rounding explains, 4 and 0.2 %. Halves to
  /// the last bits of a real number that float32 does not have are not counted: scales in a simple ratio make many.
  std::int64_t take_over(const std::string& name, const array& got, array& wanted, double margin);

 private:
  const graph& m_graph;
  std::map<std::string, const node*> m_stores;  ///< by the result
  std::map<std::string, array> m_real;
};

}
