// SPDX-License-Identifier: MIT
#pragma once
/// How a number follows lengths: found from its values.
#include <cstdint>
#include <map>
#include <optional>
#include <vector>
#include "program/plan.hpp"

namespace nsk::tool {

/// A number for each choice of lengths, the bounds first.
using number_series = std::vector<std::int64_t>;

/// Finds terms, and the lengths that follow from others on the way.
class number_terms {
 public:
  /// `chosen`: the values of each length.
  number_terms(std::vector<plan_length> lengths, std::vector<number_series> chosen);

  /// Returns the terms of which `s` is the sum for every choice: of no, one, two or three lengths, whole coefficients
  /// that are negative for none of them. Nothing where there are none.
  std::optional<std::vector<plan_term>> find(const number_series& s);

  /// The lengths that were given, and those that follow from them.
  const std::vector<plan_length>& lengths() const { return m_lengths; }

 private:
  using factors = std::vector<int>;
  std::optional<std::vector<plan_term>> solve(const number_series& s, const std::vector<factors>& products) const;
  std::optional<std::vector<plan_term>> find_products(const number_series& s) const;
  std::optional<std::vector<plan_term>> find_quotient(const number_series& s);
  static bool follows_quotient(const number_series& s, const number_series& n, std::int64_t plus, std::int64_t divide);
  void add_quotient(int of, std::int64_t plus, std::int64_t divide);
  std::int64_t product(const factors& f, std::size_t choice) const;
  double product_of(const factors& f, std::size_t choice) const;

  std::vector<plan_length> m_lengths;
  std::vector<number_series> m_values;
  /// What numbers are made of: lengths that are chosen, of those in steps the number of steps, and quotients of these.
  std::vector<int> m_variables;
  std::size_t m_chosen = 0;  ///< variables without the quotients
  std::map<number_series, std::vector<plan_term>> m_known;
};

}
