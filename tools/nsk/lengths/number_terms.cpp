// SPDX-License-Identifier: MIT
#include "lengths/number_terms.hpp"

#include <algorithm>
#include <array>
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

/// Terms in which the two lengths of a sum stand in its place.
std::vector<plan_term> multiplied_out(const std::vector<plan_term>& terms, int sum, int a, int b) {
  std::map<std::array<int, 3>, std::int64_t> coefficients;
  std::vector<std::pair<std::array<int, 3>, std::int64_t>> open;
  for (const plan_term& t : terms) open.push_back({{t.a, t.b, t.c}, t.coefficient});
  while (!open.empty()) {
    auto [f, coefficient] = open.back();
    open.pop_back();
    const auto at = std::find(f.begin(), f.end(), sum);
    if (at == f.end()) {
      std::sort(f.begin(), f.end());
      coefficients[f] += coefficient;
      continue;
    }
    for (const int part : {a, b}) {
      *at = part;
      open.push_back({f, coefficient});
    }
  }
  std::vector<plan_term> result;
  for (const auto& [f, coefficient] : coefficients) result.push_back({0, coefficient, f[0], f[1], f[2]});
  return result;
}

}

std::vector<std::int64_t> values_of(const std::vector<plan_length>& lengths, const length_choice& chosen) {
  std::vector<std::int64_t> values = chosen;
  for (std::size_t i = values.size(); i < lengths.size(); ++i) {
    const plan_length& l = lengths[i];
    const std::int64_t second = l.also < 0 ? 0 : values[static_cast<std::size_t>(l.also)];
    values.push_back((l.times * values[static_cast<std::size_t>(l.of)] + second + l.plus) / l.divide);
  }
  return values;
}

std::int64_t value_of(const plan_term& t, const std::vector<std::int64_t>& values) {
  std::int64_t product = t.coefficient;
  for (const int l : {t.a, t.b, t.c})
    if (l != none) product *= values[static_cast<std::size_t>(l)];
  return product;
}

number_terms::number_terms(const std::vector<chosen_length>& lengths, const std::vector<length_choice>& choices) {
  for (const chosen_length& l : lengths) m_lengths.push_back({l.name, l.minimum, l.bound, l.step, 0, 1, 0, 0});
  m_values.resize(lengths.size());
  for (const length_choice& values : choices)
    for (std::size_t i = 0; i < values.size(); ++i) m_values[i].push_back(values[i]);
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

/// Products with the sum of two lengths, and quotients of it: keys of a decoder are those of earlier calls and its own.
std::optional<std::vector<plan_term>> number_terms::find_with_sums(const number_series& s) {
  constexpr std::int64_t max_divisor = 64;
  constexpr std::size_t added = 2;
  if (m_lengths.size() + added > static_cast<std::size_t>(max_lengths)) return {};
  for (std::size_t i = 0; i < m_chosen; ++i)
    for (std::size_t k = i + 1; k < m_chosen; ++k) {
      number_terms with_sum = *this;
      const int sum = with_sum.add_sum(m_variables[i], m_variables[k]);
      const std::int64_t minimum = m_lengths[static_cast<std::size_t>(m_variables[i])].minimum +
                                   m_lengths[static_cast<std::size_t>(m_variables[k])].minimum;
      if (const auto q = quotient_of(s, with_sum.m_values[static_cast<std::size_t>(sum)], minimum, max_divisor)) {
        *this = std::move(with_sum);
        return add_quotient(s, sum, *q);
      }
      with_sum.m_variables.push_back(sum);
      if (const auto found = with_sum.find_products(s))
        return multiplied_out(*found, sum, m_variables[i], m_variables[k]);
    }
  return {};
}

/// A length divided by a whole number and rounded, rows of windows with strides, panels of eight channels. Divisions of
/// quotients are such divisions too.
std::optional<std::vector<plan_term>> number_terms::find_quotient(const number_series& s) {
  constexpr std::int64_t max_divisor = 1024;
  if (m_lengths.size() == static_cast<std::size_t>(max_lengths)) return {};
  for (std::size_t i = 0; i < m_chosen; ++i)
    for (const int length : {m_variables[i], static_cast<int>(i)}) {  // the number of steps, or the length itself
      const auto of = static_cast<std::size_t>(length);
      if (const auto q = quotient_of(s, m_values[of], m_lengths[of].minimum, max_divisor))
        return add_quotient(s, length, *q);
    }
  return {};
}

/// Products with these lengths.
std::optional<std::vector<plan_term>> number_terms::find_with(const number_series& s,
                                                              const std::vector<shorter_length>& shorter) {
  if (m_lengths.size() + shorter.size() > static_cast<std::size_t>(max_lengths)) return {};
  number_terms with_shorter = *this;
  for (const shorter_length& l : shorter) with_shorter.add_follower(l.of, {-l.less, 1, l.times});
  auto found = with_shorter.find_products(s);
  if (found) *this = std::move(with_shorter);
  return found;
}

/// Products of lengths that are shorter than others, as those of attention behind a Slice, or of the rows and columns
/// of a window: written out, they would have negative terms.
std::optional<std::vector<plan_term>> number_terms::find_shifted(const number_series& s) {
  constexpr std::int64_t max_shift = 64;
  for (std::size_t i = 0; i < m_chosen; ++i) {
    const plan_length l = m_lengths[static_cast<std::size_t>(m_variables[i])];
    for (std::int64_t shift = 1; shift <= std::min(l.minimum, max_shift); ++shift)
      if (auto found = find_with(s, {{m_variables[i], 1, shift}})) return found;
  }
  const std::vector<shorter_length> known = m_shorter;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (auto found = find_with(s, {known[i]})) return found;
    for (std::size_t k = i + 1; k < known.size(); ++k)
      if (known[i].of != known[k].of)
        if (auto found = find_with(s, {known[i], known[k]})) return found;
  }
  return {};
}

/// Notes a number that is a length, or a multiple of one, less some.
void number_terms::note_shorter(const std::vector<plan_term>& terms) {
  constexpr std::size_t max_known = 12;
  constexpr std::int64_t max_times = 0xffff;  // of a length in a file
  if (terms.size() != 2 || terms[0].a == none || terms[0].b != none || terms[1].a != none) return;
  const std::int64_t grows = terms[0].coefficient, less = -terms[1].coefficient;
  const bool whole = less % grows == 0;
  const shorter_length found =
      whole ? shorter_length{terms[0].a, 1, less / grows} : shorter_length{terms[0].a, grows, less};
  const std::int64_t minimum = m_lengths[static_cast<std::size_t>(found.of)].minimum;
  if (less > 0 && found.times <= max_times && found.times * minimum >= found.less && m_shorter.size() < max_known &&
      std::find(m_shorter.begin(), m_shorter.end(), found) == m_shorter.end())
    m_shorter.push_back(found);
}

std::vector<plan_term> number_terms::shortened(const std::vector<plan_term>& terms) const {
  const auto is_constant = [](const plan_term& t) { return t.a == none; };
  if (terms.size() != 2 || is_constant(terms[0]) || terms[0].b != none || !is_constant(terms[1])) return terms;
  const plan_term &growing = terms[0], &rest = terms[1];
  if (rest.coefficient >= 0) return terms;
  for (std::size_t i = 0; i < m_lengths.size(); ++i) {
    const plan_length& l = m_lengths[i];
    const std::int64_t left = rest.coefficient - growing.coefficient * l.plus;
    if (l.divide != 1 || l.times != 1 || l.also >= 0 || l.of != growing.a || l.plus >= 0 || left < 0) continue;
    std::vector<plan_term> same = {{growing.number, growing.coefficient, static_cast<int>(i), none, none}};
    if (left > 0) same.push_back({growing.number, left, none, none, none});
    return same;
  }
  return terms;
}

/// How numbers are a * floor((n + plus) / divide) + b of a length; powers of two come first.
std::optional<number_terms::quotient> number_terms::quotient_of(const number_series& s, const number_series& n,
                                                                std::int64_t minimum, std::int64_t max_divisor) {
  const std::int64_t shortest = std::max<std::int64_t>(minimum, 1);
  const auto with = [&](std::int64_t divide) -> std::optional<quotient> {
    for (std::int64_t plus = 0; plus < divide; ++plus)
      if (follows_quotient(s, n, {plus, divide}, shortest)) return quotient{plus, divide};
    return {};
  };
  for (std::int64_t divide = 2; divide <= max_divisor; divide *= 2)  // of a few values several divisors may do
    if (const auto found = with(divide)) return found;
  for (std::int64_t divide = 3; divide <= max_divisor; ++divide)
    if (const auto found = with(divide)) return found;
  return {};
}

/// The length that is the sum of two.
int number_terms::add_sum(int a, int b) {
  for (std::size_t i = 0; i < m_lengths.size(); ++i)
    if (m_lengths[i].also == b && m_lengths[i].of == a) return static_cast<int>(i);
  const plan_length &x = m_lengths[static_cast<std::size_t>(a)], &y = m_lengths[static_cast<std::size_t>(b)];
  number_series sum = m_values[static_cast<std::size_t>(a)];
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += m_values[static_cast<std::size_t>(b)][i];
  m_lengths.push_back({"", x.minimum + y.minimum, x.bound + y.bound, 1, a, 1, 0, 1, b});
  m_values.push_back(std::move(sum));
  return static_cast<int>(m_values.size()) - 1;
}

/// Whether numbers are a * floor((n + plus) / divide) + b, a > 0, and positive where the length has the shortest value
/// with positions.
bool number_terms::follows_quotient(const number_series& s, const number_series& n, quotient by,
                                    std::int64_t shortest) {
  const auto of = [&](std::int64_t length) { return (length + by.plus) / by.divide; };
  const auto first = static_cast<std::size_t>(std::min_element(n.begin(), n.end()) - n.begin()),
             last = static_cast<std::size_t>(std::max_element(n.begin(), n.end()) - n.begin());
  const std::int64_t steps = of(n[last]) - of(n[first]), grows = s[last] - s[first];
  if (steps == 0 || grows <= 0 || grows % steps != 0) return false;
  const auto number = [&](std::int64_t length) { return s[first] + grows / steps * (of(length) - of(n[first])); };
  for (std::size_t i = 0; i < s.size(); ++i)
    if (s[i] != number(n[i])) return false;
  return number(shortest) >= std::min<std::int64_t>(s[first], 1);
}

/// Adds a quotient of a length, and returns the terms of numbers that follow it.
std::optional<std::vector<plan_term>> number_terms::add_quotient(const number_series& s, int of, quotient q) {
  add_follower(of, q);
  return solve(s, {{m_variables.back()}});
}

void number_terms::add_follower(int of, quotient q) {
  const plan_length l = m_lengths[static_cast<std::size_t>(of)];
  number_series values;
  for (const std::int64_t n : m_values[static_cast<std::size_t>(of)])
    values.push_back((q.times * n + q.plus) / q.divide);
  m_variables.push_back(static_cast<int>(m_values.size()));
  m_values.push_back(std::move(values));
  const auto at = [&](std::int64_t n) { return (q.times * n + q.plus) / q.divide; };
  m_lengths.push_back({"", at(l.minimum), at(l.bound), 1, of, q.times, q.plus, q.divide});
}

std::optional<std::vector<plan_term>> number_terms::find_new(const number_series& s) {
  auto found = find_products(s);
  if (!found) found = find_quotient(s);
  if (!found) found = find_with_sums(s);
  if (!found) found = find_shifted(s);
  return found;
}

std::optional<std::vector<plan_term>> number_terms::find(const number_series& s) {
  if (std::all_of(s.begin(), s.end(), [&](std::int64_t n) { return n == s[0]; })) return std::vector<plan_term>();
  const auto known = m_known.find(s);
  if (known != m_known.end()) return known->second;
  const bool backwards = std::all_of(s.begin(), s.end(), [](std::int64_t n) { return n <= 0; });
  number_series magnitudes = s;
  if (backwards)
    for (std::int64_t& n : magnitudes) n = -n;
  auto found = find_new(magnitudes);
  if (!found) return {};
  note_shorter(*found);
  if (backwards)
    for (plan_term& t : *found) t.coefficient = -t.coefficient;
  m_known[s] = *found;
  return found;
}

}
