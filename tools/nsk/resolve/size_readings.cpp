// SPDX-License-Identifier: MIT
#include "resolve/size_readings.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace nsk::tool {
namespace {

constexpr double pi = 3.14159265358979323846;
constexpr double max_stride = 64;
constexpr double float_rounding = 3e-7;     // two and a half units in the last place of a float32
constexpr double half_rounding = 4.9e-4;    // half a unit of a float16
constexpr std::size_t max_products = 1024;  // of a model; there are a few dozen
constexpr double max_colours = 4;           // of an image

const std::set<double> usual_parts = {2, 3, 4};

std::string text_of(double length) { return std::to_string(static_cast<std::int64_t>(length)); }

/// A product of a text in a quotient: "(3 x 4)".
std::string in_brackets(const std::string& text) {
  return text.find(' ') == std::string::npos ? text : "(" + text + ")";
}

bool is_near(double a, double b, double rounding) { return std::abs(a - b) <= rounding * std::abs(b); }

}

size_readings::size_readings(const graph& exported, const graph& g, const std::set<pair>& sums) {
  std::map<std::string, const value*> before;
  for (const value& v : exported.values) before.emplace(v.name, &v);
  const std::set<value_id> inputs(g.inputs.begin(), g.inputs.end());
  std::set<double> input_lengths;
  for (std::size_t i = 0; i < g.values.size(); ++i) {
    const auto old = before.find(g.values[i].name);
    if (old == before.end()) continue;
    const shape_t& was = old->second->shape;
    const bool is_input = inputs.count(static_cast<value_id>(i)) != 0;
    learn(was, g.values[i].shape, is_input);
    if (is_input) input_lengths.insert(was.begin(), was.end());
  }
  find_parts(input_lengths);
  for (const auto& [was, now] : m_axes) {
    const quantity n{{was, now}, text_of(was)};
    add_length(n, 0, m_parts);
    add_statistics(n);
    add_shares(n);
  }
  std::set<double> areas = usual_parts;
  for (const double stride : m_parts) areas.insert(stride * stride);
  for (const auto& [a, b] : m_products) {
    const quantity n{{a.first * b.first, a.second * b.second}, text_of(a.first) + " x " + text_of(b.first)};
    add_length(n, 1, b.first == b.second ? areas : usual_parts);
    add_statistics(n);
  }
  for (const auto& [was, now] : sums) {
    add_length({{was, now}, text_of(was)}, 2, {});
    add_statistics({{was, now}, text_of(was)});
  }
  add_ratios();
  std::stable_sort(m_all.begin(), m_all.end(), [](const auto& a, const auto& b) { return a.was < b.was; });
}

/// Of products, those of two axes that changed, and of axes of an input, where the other one may be its height.
void size_readings::learn(const shape_t& was, const shape_t& now, bool is_input) {
  if (was.size() != now.size()) return;
  std::vector<pair> axes;
  for (std::size_t d = 0; d < was.size(); ++d) {
    axes.emplace_back(was[d], now[d]);
    if (was[d] == now[d]) m_others.insert(axes.back().first);
    if (was[d] != now[d] && was[d] > 1) m_axes.insert(axes.back());
  }
  const auto changes = [&](std::size_t d) { return axes[d].first > 1 && axes[d].first != axes[d].second; };
  for (std::size_t a = 0; a < axes.size(); ++a)
    for (std::size_t b = 0; b < axes.size(); ++b) {
      if (a == b || !changes(a) || m_products.size() >= max_products) continue;
      const bool is_pair = changes(b) ? a < b : is_input && axes[b].first > max_colours;
      if (is_pair) m_products.emplace(axes[a], axes[b]);
    }
}

/// `inputs` has the lengths of inputs in the source: the strides are what axes are shares of them.
void size_readings::find_parts(const std::set<double>& inputs) {
  m_parts = usual_parts;
  for (const double whole : inputs)
    for (const auto& [was, now] : m_axes) {
      const double stride = std::floor(whole / was);
      if (stride >= 2 && stride <= max_stride) m_parts.insert(stride);
    }
}

void size_readings::add(double was, double now, int rank, bool direct, const std::string& text) {
  if (std::isfinite(was) && std::isfinite(now) && was > 0 && (rank == 0 || !is_near(was, now, 1e-9)))
    m_all.push_back({was, now, rank, direct, text});
}

/// A quantity and its halves, thirds, quarters.
void size_readings::add_parts(double was, double now, int rank, const std::string& text,
                              const std::set<double>& parts) {
  add(was, now, rank, false, text);
  for (const double k : parts) add(was / k, now / k, rank, false, in_brackets(text) + " / " + text_of(k));
}

/// What is made of one length.
void size_readings::add_length(const quantity& n, int rank, const std::set<double>& parts) {
  const auto [a, b] = n.lengths;
  const std::string text = in_brackets(n.text);
  add(a, b, rank, rank == 0, rank == 0 ? "a length of " + n.text : n.text);
  add(1 / a, 1 / b, rank, rank == 0, "1 / " + text);
  add(std::sqrt(a), std::sqrt(b), rank, rank == 0, "sqrt " + text);
  add(1 / std::sqrt(a), 1 / std::sqrt(b), rank, rank == 0, "1 / sqrt " + text);
  for (const double k : parts) add(a / k, b / k, rank, false, text + " / " + text_of(k));
  add_parts(a - 1, b - 1, rank, text + " - 1", parts);
  add_parts(a + 1, b + 1, rank, text + " + 1", parts);
  add_parts(1 / a, 1 / b, rank, "1 / " + text, parts);
  add_parts(2 / a, 2 / b, rank, "2 / " + text, parts);
  add_parts(1 / (a - 1), 1 / (b - 1), rank, "1 / (" + text + " - 1)", parts);
  add_parts(2 / (a - 1), 2 / (b - 1), rank, "2 / (" + text + " - 1)", parts);
  add(1 / (a + 1), 1 / (b + 1), rank, false, "1 / (" + text + " + 1)");
  add_parts(std::sqrt(a), std::sqrt(b), 2, "sqrt " + text, usual_parts);
  add_parts(1 / std::sqrt(a), 1 / std::sqrt(b), 2, "1 / sqrt " + text, usual_parts);
  add_parts(std::log(a), std::log(b), rank, "log " + text, usual_parts);
  for (const double k : parts) {
    add(k / a, k / b, rank, false, text_of(k) + " / " + text);
    add(2 * k / a, 2 * k / b, rank, false, text_of(2 * k) + " / " + text);
    add(a / k - 1, b / k - 1, 2, false, text + " / " + text_of(k) + " - 1");
  }
}

/// Factors of means, variances and frequencies.
void size_readings::add_statistics(const quantity& n) {
  const auto [a, b] = n.lengths;
  const std::string text = in_brackets(n.text), one_less = "(" + text + " - 1)";
  add(a / (a - 1), b / (b - 1), 1, false, text + " / " + one_less);
  add((a - 1) / a, (b - 1) / b, 2, false, one_less + " / " + text);
  add(std::sqrt(a - 1), std::sqrt(b - 1), 2, false, "sqrt " + one_less);
  add(1 / std::sqrt(a - 1), 1 / std::sqrt(b - 1), 2, false, "1 / sqrt " + one_less);
  add(std::sqrt(a / (a - 1)), std::sqrt(b / (b - 1)), 2, false, "sqrt (" + text + " / " + one_less + ")");
  add(std::sqrt((a - 1) / a), std::sqrt((b - 1) / b), 2, false, "sqrt (" + one_less + " / " + text + ")");
  add(2 * a - 1, 2 * b - 1, 2, false, "2 x " + text + " - 1");
  add(std::log2(a), std::log2(b), 2, false, "log2 " + text);
  add(1 / std::log(a), 1 / std::log(b), 2, false, "1 / log " + text);
  add(2 * pi / a, 2 * pi / b, 2, false, "2 pi / " + text);
  add(pi / a, pi / b, 2, false, "pi / " + text);
}

/// Shares of a length that are rounded, and what is scaled by the root of a width.
void size_readings::add_shares(const quantity& n) {
  const auto [a, b] = n.lengths;
  for (const double k : m_parts) {
    add(std::floor(a / k), std::floor(b / k), 0, false, n.text + " / " + text_of(k) + " rounded down");
    add(std::ceil(a / k), std::ceil(b / k), 2, false, n.text + " / " + text_of(k) + " rounded up");
    add(std::floor((a - 1) / k), std::floor((b - 1) / k), 2, false,
        "(" + n.text + " - 1) / " + text_of(k) + " rounded down");
  }
  for (const double d : m_others) {
    if (d < 2) continue;
    add(std::log(a) / std::sqrt(d), std::log(b) / std::sqrt(d), 2, false, "log " + n.text + " / sqrt " + text_of(d));
  }
}

/// Ratios of two lengths that do not change alike.
void size_readings::add_ratios() {
  for (const auto& [a, a_now] : m_axes)
    for (const auto& [b, b_now] : m_axes) {
      add(a / b, a_now / b_now, 2, false, text_of(a) + " / " + text_of(b));
      add((a - 1) / (b - 1), (a_now - 1) / (b_now - 1), 2, false,
          "(" + text_of(a) + " - 1) / (" + text_of(b) + " - 1)");
    }
}

std::vector<size_reading> size_readings::of(double number, bool is_integer, bool is_half) const {
  const double size = std::abs(number), rounding = is_half ? half_rounding : is_integer ? 1e-12 : float_rounding;
  std::vector<size_reading> found;
  const auto by_number = [](const size_reading& r, double v) { return r.was < v; };
  for (auto r = std::lower_bound(m_all.begin(), m_all.end(), size * (1 - 2 * rounding), by_number);
       r != m_all.end() && r->was <= size * (1 + 2 * rounding); ++r) {
    if (!is_near(size, r->was, rounding)) continue;
    size_reading one = *r;
    if (is_integer) one.now = std::floor(one.now + 1e-9);
    one.now = std::copysign(one.now, number);
    const auto same = std::find_if(found.begin(), found.end(), [&](const size_reading& other) {
      return is_near(other.now, one.now, 1e-9) || (one.now == 0 && other.now == 0);
    });
    if (same == found.end()) {
      found.push_back(one);
      continue;
    }
    const bool direct = same->direct || one.direct;
    if (one.rank < same->rank) *same = one;
    same->direct = direct;
  }
  const auto stays = [&](const size_reading& r) { return is_near(r.now, number, 1e-9); };
  if (std::all_of(found.begin(), found.end(), stays)) return {};
  const bool is_plain = std::any_of(found.begin(), found.end(), [](const size_reading& r) { return r.rank < 2; });
  if (is_plain)
    found.erase(std::remove_if(found.begin(), found.end(), [](const size_reading& r) { return r.rank == 2; }),
                found.end());
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
  return found;
}

bool size_readings::is_made_of(double number, double n) {
  for (const double w : {n, n - 1, n + 1, n / (n - 1), std::sqrt(n), std::sqrt(n - 1), std::sqrt(n / (n - 1))})
    if (w != 0 && std::isfinite(w) && w != 1 && (is_near(number, w, 1e-6) || is_near(number, 1 / w, 1e-6))) return true;
  return false;
}

}
