// SPDX-License-Identifier: MIT
#include "lengths/number_terms.hpp"

#include <algorithm>
#include <netsuke/format/length.hpp>

namespace nsk::tool {
namespace {

constexpr int none = impl::no_length;

/// A fraction of small numbers.
struct fraction {
  __int128 top = 0, bottom = 1;
  static fraction of(__int128 top, __int128 bottom) {
    __int128 a = top < 0 ? -top : top, b = bottom < 0 ? -bottom : bottom;
    while (b != 0) {
      const __int128 rest = a % b;
      a = b;
      b = rest;
    }
    if (a == 0) return {0, 1};
    return bottom < 0 ? fraction{-top / a, -bottom / a} : fraction{top / a, bottom / a};
  }
  fraction minus_product(const fraction& f, const fraction& g) const {
    return of(top * f.bottom * g.bottom - f.top * g.top * bottom, bottom * f.bottom * g.bottom);
  }
  fraction divided_by(const fraction& f) const { return of(top * f.bottom, bottom * f.top); }
};

/// The only solution of rows of equations, the last column their right sides; nothing where there is none, or several.
std::optional<std::vector<std::int64_t>> solution(std::vector<std::vector<fraction>> rows, std::size_t unknowns) {
  std::size_t used = 0;
  for (std::size_t column = 0; column < unknowns; ++column) {
    std::size_t pivot = used;
    while (pivot < rows.size() && rows[pivot][column].top == 0) ++pivot;
    if (pivot == rows.size()) return {};
    std::swap(rows[used], rows[pivot]);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (r == used || rows[r][column].top == 0) continue;
      const fraction share = rows[r][column].divided_by(rows[used][column]);
      for (std::size_t c = column; c <= unknowns; ++c) rows[r][c] = rows[r][c].minus_product(share, rows[used][c]);
    }
    ++used;
  }
  for (std::size_t r = used; r < rows.size(); ++r)
    if (rows[r][unknowns].top != 0) return {};
  std::vector<std::int64_t> result;
  for (std::size_t i = 0; i < unknowns; ++i) {
    const fraction x = rows[i][unknowns].divided_by(rows[i][i]);
    if (x.bottom != 1) return {};
    result.push_back(static_cast<std::int64_t>(x.top));
  }
  return result;
}

}

number_terms::number_terms(std::vector<plan_length> lengths, std::vector<number_series> chosen)
    : m_lengths(std::move(lengths)), m_values(std::move(chosen)), m_chosen(m_values.size()) {
  for (std::size_t i = 0; i < m_chosen; ++i) {  // in steps: everything follows their number
    const plan_length l = m_lengths[i];
    if (l.step == 1) continue;
    number_series steps;
    for (const std::int64_t n : m_values[i]) steps.push_back(n / l.step);
    m_values.push_back(std::move(steps));
    m_lengths.push_back({"", l.minimum / l.step, l.bound / l.step, 1, static_cast<int>(i), 1, 0, l.step});
  }
}

std::int64_t number_terms::product(const factors& f, std::size_t choice) const {
  std::int64_t p = 1;
  for (const int l : f) p *= m_values[static_cast<std::size_t>(l)][choice];
  return p;
}

/// The coefficients of 1 and of the products.
std::optional<std::vector<plan_term>> number_terms::solve(const number_series& s,
                                                          const std::vector<factors>& products) const {
  const std::size_t unknowns = products.size() + 1;
  if (s.size() < unknowns) return {};
  std::vector<std::vector<fraction>> rows;
  for (std::size_t i = 0; i < s.size(); ++i) {
    std::vector<fraction> row = {{1, 1}};
    for (const factors& f : products) row.push_back({product(f, i), 1});
    row.push_back({s[i], 1});
    rows.push_back(std::move(row));
  }
  const auto found = solution(std::move(rows), unknowns);
  if (!found || std::any_of(found->begin() + 1, found->end(), [](std::int64_t c) { return c < 0; })) return {};
  std::vector<plan_term> terms;
  for (std::size_t i = 0; i < products.size(); ++i) {
    if ((*found)[i + 1] == 0) continue;
    factors f = products[i];
    f.resize(3, none);
    terms.push_back({0, (*found)[i + 1], f[0], f[1], f[2]});
  }
  if ((*found)[0] != 0) terms.push_back({0, (*found)[0], none, none, none});
  return terms;
}

std::optional<std::vector<plan_term>> number_terms::find_products(const number_series& s) const {
  const int count = static_cast<int>(m_values.size());
  for (int a = 0; a < count; ++a)
    if (auto found = solve(s, {{a}})) return found;
  for (int a = 0; a < count; ++a)
    if (auto found = solve(s, {{a}, {a, a}})) return found;
  for (int a = 0; a < count; ++a)
    for (int b = a + 1; b < count; ++b)
      if (auto found = solve(s, {{a}, {b}, {a, b}})) return found;
  for (int a = 0; a < count; ++a)
    for (int b = a + 1; b < count; ++b)
      for (int c = b + 1; c < count; ++c)
        if (auto found = solve(s, {{a}, {b}, {c}, {a, b}, {a, c}, {b, c}, {a, b, c}})) return found;
  return {};
}

/// A length divided by a whole number and rounded, with the smallest divisor: rows of windows with strides, panels of
/// eight channels.
std::optional<std::vector<plan_term>> number_terms::find_quotient(const number_series& s) {
  constexpr std::int64_t max_divisor = 64;
  if (m_lengths.size() == static_cast<std::size_t>(max_lengths)) return {};
  for (std::size_t of = 0; of < m_chosen; ++of)
    for (std::int64_t divide = 2; divide <= max_divisor; ++divide)
      for (std::int64_t plus = 0; plus < divide; ++plus) {
        number_series values;
        for (const std::int64_t n : m_values[of]) values.push_back((n + plus) / divide);
        if ((m_lengths[of].minimum + plus) / divide < 1) continue;
        m_values.push_back(values);
        if (auto found = solve(s, {{static_cast<int>(m_values.size()) - 1}})) {
          const auto quotient = [&](std::int64_t n) { return (n + plus) / divide; };
          m_lengths.push_back({"", quotient(m_lengths[of].minimum), quotient(m_lengths[of].bound), 1,
                               static_cast<int>(of), 1, plus, divide});
          return found;
        }
        m_values.pop_back();
      }
  return {};
}

std::optional<std::vector<plan_term>> number_terms::find(const number_series& s) {
  if (std::all_of(s.begin(), s.end(), [&](std::int64_t n) { return n == s[0]; })) return std::vector<plan_term>();
  const auto known = m_known.find(s);
  if (known != m_known.end()) return known->second;
  auto found = find_products(s);
  if (!found) found = find_quotient(s);
  if (found) m_known[s] = *found;
  return found;
}

}
