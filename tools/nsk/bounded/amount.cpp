// SPDX-License-Identifier: MIT
#include "bounded/amount.hpp"

#include <algorithm>

namespace nsk::tool::bounded {
namespace {

constexpr i64 largest = i64{1} << 40;  // as many elements as a tensor may have

std::optional<amount> checked(const amount& a) {
  if (std::abs(a.times) > largest || std::abs(a.plus) > largest) return std::nullopt;
  return a;
}

std::string text(const amount& a) {
  return (a.varies() ? std::to_string(a.times) + "*" + std::to_string(a.count) + "+" : "") + std::to_string(a.plus);
}

}

std::vector<amount> whole(const shape_t& shape) {
  std::vector<amount> axes;
  for (const i64 length : shape) axes.push_back(number(length));
  return axes;
}

amount counts::known(const std::string& key, const count_origin& origin) {
  const auto [at, is_new] = m_keys.emplace(key, static_cast<int>(m_list.size()));
  if (is_new) m_list.push_back(origin);
  return {at->second, 1, 0};
}

amount counts::chosen(const std::string& key, i64 maximum, value_id output) {
  return known("chosen " + key, {0, maximum, output, {}});
}

amount counts::clamped(const amount& a, i64 low_limit, i64 high_limit) {
  const i64 lowest = low(a), highest = high(a);
  if (lowest >= low_limit && highest <= high_limit) return a;
  if (highest <= low_limit) return number(low_limit);
  if (lowest >= high_limit) return number(std::max(low_limit, high_limit));
  const i64 minimum = std::max(lowest, low_limit), maximum = std::min(highest, high_limit);
  return known("clamped " + text(a) + " " + std::to_string(minimum) + " " + std::to_string(maximum),
               {minimum, maximum, no_value, {a}});
}

amount counts::sum(const std::vector<amount>& terms) {
  amount all = number(0);
  bool one = true;
  for (const amount& a : terms) {
    const std::optional<amount> more = one ? added(all, a, 1) : std::nullopt;
    one = more.has_value();
    if (one) all = *more;
  }
  if (one) return all;
  count_origin origin;
  std::string key = "sum";
  for (const amount& a : terms) {
    origin.minimum += low(a);
    origin.maximum += high(a);
    key += " " + text(a);
  }
  origin.terms = terms;
  return known(key, origin);
}

i64 counts::low(const amount& a) const {
  if (!a.varies()) return a.plus;
  const count_origin& c = (*this)[a.count];
  return a.times * (a.times > 0 ? c.minimum : c.maximum) + a.plus;
}

i64 counts::high(const amount& a) const {
  if (!a.varies()) return a.plus;
  const count_origin& c = (*this)[a.count];
  return a.times * (a.times > 0 ? c.maximum : c.minimum) + a.plus;
}

std::optional<amount> added(const amount& a, const amount& b, i64 sign) {
  if (a.varies() && b.varies() && a.count != b.count) return std::nullopt;
  return checked({a.varies() ? a.count : b.count, a.times + sign * b.times, a.plus + sign * b.plus});
}

std::optional<amount> product(const amount& a, const amount& b) {
  if (a.varies() && b.varies()) return std::nullopt;
  const amount& varying = a.varies() ? a : b;
  const i64 factor = a.varies() ? b.plus : a.plus;
  if (std::abs(factor) > largest) return std::nullopt;
  return checked({varying.count, varying.times * factor, varying.plus * factor});
}

std::optional<amount> quotient(const amount& a, i64 b) {
  if (b == 0 || a.times % b != 0 || a.plus % b != 0) return std::nullopt;
  return amount{a.count, a.times / b, a.plus / b};
}

}
