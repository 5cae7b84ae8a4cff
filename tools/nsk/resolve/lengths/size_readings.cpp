// SPDX-License-Identifier: MIT
#include "resolve/lengths/size_readings.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace nsk::tool {
namespace {

constexpr double pi = 3.14159265358979323846;
constexpr double max_stride = 64;
constexpr std::size_t max_products = 1024;  // of a model; there are a few dozen
constexpr double max_colours = 4;           // of an image
constexpr std::size_t min_multiples = 3;
constexpr double max_wide = 0.1, max_times = 1e9, max_chance = 1e-12;  // of multiples

const std::set<double> usual_parts = {2, 3, 4};

/// By what a form is divided besides: nothing, halves to quarters, or the parts of a quantity as well. With the last
/// two it takes each part itself; rounded ones are of single lengths.
enum class parts_of { none, usual, all, each, rounded };

/// What is made of a length or product n, '#' in the text, and of a part k: '@', and '%' for twice that.
struct form {
  const char* text;
  double (*of)(double n, double k);
  parts_of parts;
  int rank = -1;  ///< size_reading::rank; -1: that of the quantity
  bool direct = false;
};

const form forms[] = {
    {"#", [](double n, double) { return n; }, parts_of::all, -1, true},
    {"1 / #", [](double n, double) { return 1 / n; }, parts_of::all, -1, true},
    {"sqrt #", [](double n, double) { return std::sqrt(n); }, parts_of::none, -1, true},
    {"1 / sqrt #", [](double n, double) { return 1 / std::sqrt(n); }, parts_of::none, -1, true},
    {"# - 1", [](double n, double) { return n - 1; }, parts_of::all},
    {"# + 1", [](double n, double) { return n + 1; }, parts_of::all},
    {"2 / #", [](double n, double) { return 2 / n; }, parts_of::all},
    {"1 / (# - 1)", [](double n, double) { return 1 / (n - 1); }, parts_of::all},
    {"2 / (# - 1)", [](double n, double) { return 2 / (n - 1); }, parts_of::all},
    {"1 / (# + 1)", [](double n, double) { return 1 / (n + 1); }, parts_of::none},
    {"sqrt #", [](double n, double) { return std::sqrt(n); }, parts_of::usual, 2},
    {"1 / sqrt #", [](double n, double) { return 1 / std::sqrt(n); }, parts_of::usual, 2},
    {"log #", [](double n, double) { return std::log(n); }, parts_of::usual},
    {"@ / #", [](double n, double k) { return k / n; }, parts_of::each},
    {"% / #", [](double n, double k) { return 2 * k / n; }, parts_of::each},
    {"# / @ - 1", [](double n, double k) { return n / k - 1; }, parts_of::each, 2},
    // means, variances and frequencies
    {"# / (# - 1)", [](double n, double) { return n / (n - 1); }, parts_of::none, 1},
    {"(# - 1) / #", [](double n, double) { return (n - 1) / n; }, parts_of::none, 2},
    {"sqrt (# - 1)", [](double n, double) { return std::sqrt(n - 1); }, parts_of::none, 2},
    {"1 / sqrt (# - 1)", [](double n, double) { return 1 / std::sqrt(n - 1); }, parts_of::none, 2},
    {"sqrt (# / (# - 1))", [](double n, double) { return std::sqrt(n / (n - 1)); }, parts_of::none, 2},
    {"sqrt ((# - 1) / #)", [](double n, double) { return std::sqrt((n - 1) / n); }, parts_of::none, 2},
    {"2 x # - 1", [](double n, double) { return 2 * n - 1; }, parts_of::none, 2},
    {"log2 #", [](double n, double) { return std::log2(n); }, parts_of::none, 2},
    {"1 / log #", [](double n, double) { return 1 / std::log(n); }, parts_of::none, 2},
    {"2 pi / #", [](double n, double) { return 2 * pi / n; }, parts_of::none, 2},
    {"pi / #", [](double n, double) { return pi / n; }, parts_of::none, 2},
    {"# / @ rounded down", [](double n, double k) { return std::floor(n / k); }, parts_of::rounded, 0},
    {"# / @ rounded up", [](double n, double k) { return std::ceil(n / k); }, parts_of::rounded, 2},
    {"(# - 1) / @ rounded down", [](double n, double k) { return std::floor((n - 1) / k); }, parts_of::rounded, 2},
};

std::string text_of(double length) { return std::to_string(static_cast<std::int64_t>(length)); }

/// A product of a text in a quotient: "(3 x 4)".
std::string in_brackets(const std::string& text) {
  return text.find(' ') == std::string::npos ? text : "(" + text + ")";
}

std::string replaced(const std::string& text, char mark, const std::string& by) {
  std::string result;
  for (const char c : text) result += c == mark ? by : std::string(1, c);
  return result;
}

bool is_near(double a, double b, double rounding) { return std::abs(a - b) <= rounding * std::abs(b); }

/// Whether numbers are whole multiples of a unit and of no larger one, behind `base`, where by chance they would hardly
/// be.
bool are_multiples(const std::vector<double>& numbers, double base, double unit, double rounding) {
  std::int64_t common = 0;
  double chance = 1;
  for (const double number : numbers) {
    const double times = std::round((number - base) / unit),
                 wide = rounding * std::max(std::abs(number), std::abs(base)) / unit;
    if (std::abs(times) > max_times || std::abs(number - base - times * unit) > wide * unit) return false;
    if (wide > max_wide) continue;  // which says nothing
    common = std::gcd(common, static_cast<std::int64_t>(times));
    const bool is_whole = number == std::floor(number) && unit == std::floor(unit);
    if (times != 0) chance *= std::max(2 * wide, is_whole ? 1 / unit : 0);
  }
  return common == 1 && chance < max_chance;
}

}

size_readings::size_readings(const graph_pair& graphs, const std::set<pair>& sums) {
  const graph& g = graphs.the_graph();
  const std::set<value_id> inputs(g.inputs.begin(), g.inputs.end());
  std::set<double> input_lengths;
  for (value_id v = 0; v < static_cast<value_id>(g.values.size()); ++v) {
    shape_t was, now;
    if (graphs.before(v) == nullptr || !graphs.shapes_of(v, was, now)) continue;
    const bool is_input = inputs.count(v) != 0;
    learn(was, now, is_input);
    if (is_input) input_lengths.insert(was.begin(), was.end());
  }
  find_parts(input_lengths);
  for (const auto& [was, now] : m_axes) {
    add_forms({{was, now}, text_of(was)}, 0, m_parts);
    for (const double d : m_others)
      if (d > 1)
        add({std::log(was) / std::sqrt(d), std::log(now) / std::sqrt(d), 2, false,
             "log " + text_of(was) + " / sqrt " + text_of(d)});
  }
  std::set<double> areas = usual_parts;
  for (const double stride : m_parts) areas.insert(stride * stride);
  for (const auto& [a, b] : m_products) {
    const quantity n{{a.first * b.first, a.second * b.second}, text_of(a.first) + " x " + text_of(b.first)};
    add_forms(n, 1, b.first == b.second ? areas : usual_parts);
  }
  for (const auto& [was, now] : sums) add_forms({{was, now}, text_of(was)}, 2, {});
  add_ratios();
  std::stable_sort(m_all.begin(), m_all.end(), [](const auto& a, const auto& b) { return a.was < b.was; });
}

/// Of products, those of two axes that changed, and of axes of an input, where the other one may be its height.
void size_readings::learn(const shape_t& was, const shape_t& now, bool is_input) {
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

void size_readings::add(const size_reading& r) {
  if (std::isfinite(r.was) && std::isfinite(r.now) && r.was > 0 && (r.rank == 0 || !is_near(r.was, r.now, 1e-9)))
    m_all.push_back(r);
}

/// Adds what all forms make of a quantity, and parts of that.
void size_readings::add_forms(const quantity& n, int rank, const std::set<double>& parts) {
  const auto [was, now] = n.lengths;
  for (const form& f : forms) {
    const bool each = f.parts == parts_of::each || f.parts == parts_of::rounded;
    std::set<double> divisors = f.parts == parts_of::none    ? std::set<double>()
                                : f.parts == parts_of::usual ? usual_parts
                                                             : parts;
    if (f.parts == parts_of::rounded && rank != 0) continue;
    if (!each) divisors.insert(1);
    for (const double k : divisors) {
      const double part = each ? 1 : k;
      std::string text = std::string(f.text) == "#" ? n.text : replaced(f.text, '#', in_brackets(n.text));
      text = replaced(replaced(text, '@', text_of(k)), '%', text_of(2 * k));
      if (part != 1) text = in_brackets(text) + " / " + text_of(k);
      const bool direct = f.direct && rank == 0 && part == 1;
      if (direct && text == n.text) text = "a length of " + text;
      add({f.of(was, k) / part, f.of(now, k) / part, f.rank < 0 ? rank : f.rank, direct, text});
    }
  }
}

/// Ratios of two lengths that do not change alike.
void size_readings::add_ratios() {
  for (const auto& [a, a_now] : m_axes)
    for (const auto& [b, b_now] : m_axes) {
      add({a / b, a_now / b_now, 2, false, text_of(a) + " / " + text_of(b)});
      add({(a - 1) / (b - 1), (a_now - 1) / (b_now - 1), 2, false,
           "(" + text_of(a) + " - 1) / (" + text_of(b) + " - 1)"});
    }
}

std::vector<size_reading> size_readings::of(double number, const number_kind& kind) const {
  const double size = std::abs(number), rounding = kind.rounding;
  std::vector<size_reading> found;
  if (rounding > float_numbers.rounding) found = of(number, float_numbers);
  if (!found.empty()) return found;
  const auto by_number = [](const size_reading& r, double v) { return r.was < v; };
  for (auto r = std::lower_bound(m_all.begin(), m_all.end(), size * (1 - 2 * rounding), by_number);
       r != m_all.end() && r->was <= size * (1 + 2 * rounding); ++r) {
    if (!is_near(size, r->was, rounding)) continue;
    size_reading one = *r;
    one.now = std::copysign(rounded_alike(one.now, size, one.was, kind), number);
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

multiples size_readings::multiples_in(const std::vector<double>& numbers, const number_kind& kind,
                                      const std::function<bool(double)>& is_plain) const {
  if (numbers.size() < min_multiples) return {};
  const double minimum = *std::min_element(numbers.begin(), numbers.end()), first = is_plain(minimum) ? minimum : 0;
  for (const double base : {first, minimum - first})  // a grid begins with a plain number, others count from 0 or not
    for (const size_reading& unit : m_all) {
      if (unit.rank != 0 || !are_multiples(numbers, base, unit.was, kind.rounding) || is_plain(unit.was)) continue;
      multiples found{base, unit.was, of(unit.was, kind.is_integer ? whole_numbers : float_numbers)};
      if (!found.units.empty()) return found;
    }
  return {};
}

bool size_readings::is_made_of(double number, double n, double rounding) {
  for (const double w : {n, n - 1, n + 1, n / (n - 1), std::sqrt(n), std::sqrt(n - 1), std::sqrt(n / (n - 1))})
    if (w != 0 && std::isfinite(w) && w != 1 && (is_near(number, w, rounding) || is_near(number, 1 / w, rounding)))
      return true;
  return false;
}

}
