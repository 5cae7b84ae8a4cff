// SPDX-License-Identifier: MIT
#pragma once
/// How a number follows lengths: found from its values.
#include <cstdint>
#include <map>
#include <optional>
#include <vector>
#include "lengths/lengths.hpp"
#include "program/plan.hpp"

namespace nsk::tool {

/// A number for each choice of lengths, the bounds first.
using number_series = std::vector<std::int64_t>;

/// The values of all lengths of a plan, where those that runs choose have the first ones.
std::vector<std::int64_t> values_of(const std::vector<plan_length>& lengths, const length_choice& chosen);

/// A term for values of all lengths of its plan.
std::int64_t value_of(const plan_term& t, const std::vector<std::int64_t>& values);

/// Finds terms, and the lengths that follow from others on the way.
class number_terms {
 public:
  /// For some choices, the bounds first.
  number_terms(const std::vector<chosen_length>& lengths, const std::vector<length_choice>& choices);

  /// Returns the terms of which `s` is the sum for every choice: of no, one, two or three lengths, whole coefficients
  /// that are negative for none of them, or, where no number of `s` is positive, positive for none. Nothing where there
  /// are none.
  std::optional<std::vector<plan_term>> find(const number_series& s);

  /// The terms of a number, with a length that is shorter by some than a chosen one where that says the same: products
  /// of such lengths are made of it.
  std::vector<plan_term> shortened(const std::vector<plan_term>& terms) const;

  /// The lengths that were given, and those that follow from them.
  const std::vector<plan_length>& lengths() const { return m_lengths; }

 private:
  using factors = std::vector<int>;
  struct quotient {
    std::int64_t plus, divide;
    std::int64_t times = 1;
  };
  /// times * length - less.
  struct shorter_length {
    int of;
    std::int64_t times, less;
    bool operator==(const shorter_length& o) const { return of == o.of && times == o.times && less == o.less; }
  };
  std::optional<std::vector<plan_term>> solve(const number_series& s, const std::vector<factors>& products) const;
  std::optional<std::vector<plan_term>> find_products(const number_series& s) const;
  std::optional<std::vector<plan_term>> find_quotient(const number_series& s);
  std::optional<std::vector<plan_term>> find_with_sums(const number_series& s);
  std::optional<std::vector<plan_term>> find_shifted(const number_series& s);
  std::optional<std::vector<plan_term>> find_with(const number_series& s, const std::vector<shorter_length>& shorter);
  std::optional<std::vector<plan_term>> find_new(const number_series& s);
  void note_shorter(const std::vector<plan_term>& terms);
  void add_follower(int of, quotient q);
  static bool follows_quotient(const number_series& s, const number_series& n, quotient by, std::int64_t shortest);
  static std::optional<quotient> quotient_of(const number_series& s, const number_series& n, std::int64_t minimum,
                                             std::int64_t max_divisor);
  std::optional<std::vector<plan_term>> add_quotient(const number_series& s, int of, quotient q);
  int add_sum(int a, int b);
  std::int64_t product(const factors& f, std::size_t choice) const;
  double product_of(const factors& f, std::size_t choice) const;

  std::vector<plan_length> m_lengths;
  std::vector<number_series> m_values;
  /// What numbers are made of: lengths that are chosen, of those in steps the number of steps, quotients of these, and
  /// sums of two of them.
  std::vector<int> m_variables;
  std::size_t m_chosen = 0;  ///< variables without quotients and sums
  std::map<number_series, std::vector<plan_term>> m_known;
  std::vector<shorter_length> m_shorter;  ///< that numbers are
};

}
