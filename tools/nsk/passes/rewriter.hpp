// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <vector>
#include "program/program.hpp"

namespace nsk::tool {

/// A run of rules over a program. Every rule looks at operation `i`, rewrites around it and says whether it changed
/// anything; operations that lose their readers are swept at the end of each sweep.
class rewriter {
 public:
  explicit rewriter(program& p) : m_p(p) {}

 protected:
  /// Applies a rule to every operation. Returns whether it changed anything, so that the caller goes on until it does
  /// not.
  template <class Pass>
  [[nodiscard]] bool sweep(bool (Pass::*rule)(std::size_t)) {
    bool any = false;
    for (std::size_t i = 0; i < m_p.operations.size(); ++i)
      if (at(i).output != no_value && (static_cast<Pass*>(this)->*rule)(i)) any = m_stale = true;
    remove_dead();
    return any;
  }

  /// sweep() for a rule that leaves nothing to itself: what it makes, it does not match again.
  template <class Pass>
  void sweep_once(bool (Pass::*rule)(std::size_t)) {
    static_cast<void>(sweep(rule));
  }

  operation& at(std::size_t i) { return m_p.operations[i]; }
  /// Producer of `v` if its result is read by exactly one operation and is no model output; nullptr otherwise.
  operation* sole_producer(int v);
  operation* producer(int v);
  int producer_index(int v);
  /// How many operations read `v`.
  int readers(int v);
  /// Whether an operation is there, and is this one of two operands and nothing else.
  static bool is_binary(const operation* o, binary_kind kind);
  /// Producer of `v` where it is this operation of two operands, or this function, and nothing else; nullptr otherwise.
  const operation* binary(int v, binary_kind kind);
  const operation* unary(int v, function fn);
  /// The one value of a constant with equal elements.
  std::optional<double> scalar(int v) const;
  /// A constant that varies only along `axis` of a result of shape `shape`, as one number per position of that axis.
  std::optional<std::vector<double>> per_channel(int v, const shape_t& shape, std::size_t axis) const;
  /// Makes `o` produce `result` in place of operation `i`, at that place in the order.
  void take_over(operation* o, std::size_t i, int result);
  /// Puts operations in front of operation `i`.
  void insert(std::size_t i, std::vector<operation> made);
  void insert(std::size_t i, operation o);
  void remove_dead();
  /// To be said when another pass has changed the program.
  void look_again() { m_stale = true; }

  program& m_p;

 private:
  void count_uses();

  /// Who makes and reads a value, as of the last count.
  struct use {
    int producer = -1, readers = 0, last_reader = -1;
  };
  std::vector<use> m_uses;
  bool m_stale = true;
};

}
