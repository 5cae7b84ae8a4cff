// SPDX-License-Identifier: MIT
#include "lengths/number_terms.hpp"

#include <algorithm>
#include <cmath>
#include <netsuke/format/length.hpp>

namespace nsk::tool {
namespace {

constexpr int none = impl::no_length;

constexpr double largest = 0x1p45;  // beyond all numbers of a file

/// The only solution of rows of equations, the last column their right sides, in whole numbers; nothing where there are
/// none, or several. It is exact where it is checked: callers put it into their equations.
std::optional<std::vector<std::int64_t>> solution(std::vector<std::vector<double>> rows, std::size_t unknowns) {
  constexpr double nothing = 1e-9;
  std::vector<double> scale(unknowns, 0);
  for (const std::vector<double>& row : rows)
    for (std::size_t c = 0; c < unknowns; ++c) scale[c] = std::max(scale[c], std::fabs(row[c]));
  for (std::vector<double>& row : rows)
    for (std::size_t c = 0; c < unknowns; ++c) row[c] /= scale[c];
  for (std::size_t column = 0; column < unknowns; ++column) {
    std::size_t pivot = column;
    for (std::size_t r = column; r < rows.size(); ++r)
      if (std::fabs(rows[r][column]) > std::fabs(rows[pivot][column])) pivot = r;
    if (std::fabs(rows[pivot][column]) < nothing) return {};
    std::swap(rows[column], rows[pivot]);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const double share = r == column ? 0 : rows[r][column] / rows[column][column];
      for (std::size_t c = column; share != 0 && c <= unknowns; ++c) rows[r][c] -= share * rows[column][c];
    }
  }
  std::vector<std::int64_t> result;
  for (std::size_t i = 0; i < unknowns; ++i) {
    const double x = rows[i][unknowns] / rows[i][i] / scale[i];
    if (!(std::fabs(x) * scale[i] < 2 * largest)) return {};
    result.push_back(std::llround(x));
  }
  return result;
}

}

number_terms::number_terms(std::vector<plan_length> lengths, std::vector<number_series> chosen)
    : m_lengths(std::move(lengths)), m_values(std::move(chosen)) {
  const std::size_t count = m_values.size();
  for (std::size_t i = 0; i < count; ++i) {
    const plan_length l = m_lengths[i];
    m_variables.push_back(static_cast<int>(l.step == 1 ? i : m_values.size()));
    if (l.step == 1) continue;
    number_series steps;
    for (const std::int64_t n : m_values[i]) steps.push_back(n / l.step);
    m_values.push_back(std::move(steps));
    m_lengths.push_back({"", l.minimum / l.step, l.bound / l.step, 1, static_cast<int>(i), 1, 0, l.step});
  }
  m_chosen = m_variables.size();
}

std::int64_t number_terms::product(const factors& f, std::size_t choice) const {
  std::int64_t p = 1;
  for (const int l : f) p *= m_values[static_cast<std::size_t>(l)][choice];
  return p;
}

double number_terms::product_of(const factors& f, std::size_t choice) const {
  double p = 1;
  for (const int l : f) p *= static_cast<double>(m_values[static_cast<std::size_t>(l)][choice]);
  return p;
}

/// The coefficients of 1 and of the products.
std::optional<std::vector<plan_term>> number_terms::solve(const number_series& s,
                                                          const std::vector<factors>& products) const {
  const std::size_t unknowns = products.size() + 1;
  if (s.size() < unknowns) return {};
  std::vector<std::vector<double>> rows;
  for (std::size_t i = 0; i < s.size(); ++i) {
    std::vector<double> row = {1};
    for (const factors& f : products) row.push_back(product_of(f, i));
    if (std::any_of(row.begin(), row.end(), [](double x) { return x > largest; })) return {};
    row.push_back(static_cast<double>(s[i]));
    rows.push_back(std::move(row));
  }
  const auto found = solution(std::move(rows), unknowns);
  if (!found || std::any_of(found->begin() + 1, found->end(), [](std::int64_t c) { return c < 0; })) return {};
  for (std::size_t i = 0; i < s.size(); ++i) {
    std::int64_t sum = (*found)[0];
    for (std::size_t k = 0; k < products.size(); ++k) sum += (*found)[k + 1] * product(products[k], i);
    if (sum != s[i]) return {};
  }
  std::vector<plan_term> terms;
  for (std::size_t i = 0; i < products.size(); ++i) {
    if ((*found)[i + 1] == 0) continue;
    factors f = products[i];
    std::sort(f.begin(), f.end());
    f.resize(3, none);
    terms.push_back({0, (*found)[i + 1], f[0], f[1], f[2]});
  }
  if ((*found)[0] != 0) terms.push_back({0, (*found)[0], none, none, none});
  return terms;
}

std::optional<std::vector<plan_term>> number_terms::find_products(const number_series& s) const {
  const std::vector<int>& v = m_variables;
  for (const int a : v)
    if (auto found = solve(s, {{a}})) return found;
  for (const int a : v)
    if (auto found = solve(s, {{a}, {a, a}})) return found;
  for (std::size_t i = 0; i < v.size(); ++i)
    for (std::size_t k = i + 1; k < v.size(); ++k)
      if (auto found = solve(s, {{v[i]}, {v[k]}, {v[i], v[k]}})) return found;
  for (std::size_t i = 0; i < v.size(); ++i)
    for (std::size_t k = i + 1; k < v.size(); ++k)
      for (std::size_t m = k + 1; m < v.size(); ++m) {
        const int a = v[i], b = v[k], c = v[m];
        if (auto found = solve(s, {{a}, {b}, {c}, {a, b}, {a, c}, {b, c}, {a, b, c}})) return found;
      }
  return {};
}

/// A length divided by a whole number and rounded, with the smallest divisor: rows of windows with strides, panels of
/// eight channels. Divisions of quotients are such divisions too.
std::optional<std::vector<plan_term>> number_terms::find_quotient(const number_series& s) {
  constexpr std::int64_t max_divisor = 1024;
  if (m_lengths.size() == static_cast<std::size_t>(max_lengths)) return {};
  for (std::size_t i = 0; i < m_chosen; ++i) {
    const int of = m_variables[i];
    for (std::int64_t divide = 2; divide <= max_divisor; ++divide)
      for (std::int64_t plus = 0; plus < divide; ++plus)
        if ((m_lengths[static_cast<std::size_t>(of)].minimum + plus) / divide >= 1 &&
            follows_quotient(s, m_values[static_cast<std::size_t>(of)], plus, divide)) {
          add_quotient(of, plus, divide);
          return solve(s, {{m_variables.back()}});
        }
  }
  return {};
}

/// Whether numbers are a * floor((n + plus) / divide) + b, a > 0.
bool number_terms::follows_quotient(const number_series& s, const number_series& n, std::int64_t plus,
                                    std::int64_t divide) {
  const auto quotient = [&](std::size_t i) { return (n[i] + plus) / divide; };
  const auto smallest = static_cast<std::size_t>(std::min_element(n.begin(), n.end()) - n.begin()),
             largest_one = static_cast<std::size_t>(std::max_element(n.begin(), n.end()) - n.begin());
  const std::int64_t steps = quotient(largest_one) - quotient(smallest), grows = s[largest_one] - s[smallest];
  if (quotient(smallest) < 1 || steps == 0 || grows <= 0 || grows % steps != 0) return false;
  for (std::size_t i = 0; i < s.size(); ++i)
    if (s[i] - s[smallest] != grows / steps * (quotient(i) - quotient(smallest))) return false;
  return true;
}

void number_terms::add_quotient(int of, std::int64_t plus, std::int64_t divide) {
  const plan_length l = m_lengths[static_cast<std::size_t>(of)];
  number_series values;
  for (const std::int64_t n : m_values[static_cast<std::size_t>(of)]) values.push_back((n + plus) / divide);
  m_variables.push_back(static_cast<int>(m_values.size()));
  m_values.push_back(std::move(values));
  m_lengths.push_back({"", (l.minimum + plus) / divide, (l.bound + plus) / divide, 1, of, 1, plus, divide});
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
