// SPDX-License-Identifier: MIT
#include "check/stored_halves.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "reference/operators.hpp"
#include "check/measure.hpp"

namespace nsk::tool {
namespace {

/// More halves than that in one tensor are no accident: `few`, or one element of `rare`.
constexpr std::int64_t few = 4, rare = 500;
/// What float32 may be off in a real number that it does not have, as a share of the tensor's largest magnitude.
constexpr double float_rounding = 0x1p-22;

bool is_float32(double x) { return static_cast<double>(static_cast<float>(x)) == x; }

struct storage {
  float scale;
  std::int64_t zero;
};

/// What DynamicQuantizeLinear stores real numbers by.
storage dynamic_storage(const array& real) {
  float low = 0, high = 0;
  for (std::int64_t i = 0; i < real.count(); ++i) {
    low = std::min(low, static_cast<float>(real.number(i)));
    high = std::max(high, static_cast<float>(real.number(i)));
  }
  const float scale = high == low ? 1.0f : (high - low) / 255.0f;
  return {scale, reference::stored((0 - low) / scale, 0, *range_of_stored(element::u8))};
}

}

stored_halves::stored_halves(const graph& g) : m_graph(g) {
  const auto at = [&](value_id v) -> const value& { return g.values[static_cast<std::size_t>(v)]; };
  for (const node& n : g.nodes) {
    if (n.inputs.empty() || n.inputs[0] == no_value || n.outputs.empty() || n.outputs[0] == no_value) continue;
    const auto single = [&](std::size_t i) {
      return n.inputs.size() <= i || n.inputs[i] == no_value ||
             (at(n.inputs[i]).constant && at(n.inputs[i]).constant->count() == 1);
    };
    const bool dynamic = n.op == "DynamicQuantizeLinear" && n.inputs.size() == 1,
               fixed = n.op == "QuantizeLinear" && n.inputs.size() > 1 && n.inputs[1] != no_value;
    if (!dynamic && !(fixed && single(1) && single(2))) continue;
    m_stores[at(n.outputs[0]).name] = &n;
    m_real[at(n.inputs[0]).name];
  }
}

void stored_halves::see(const std::string& name, const array& a) {
  if (const auto found = m_real.find(name); found != m_real.end() && is_float(a.type)) found->second = a;
}

std::int64_t stored_halves::take_over(const std::string& name, const array& got, array& wanted, double margin) {
  const auto found = m_stores.find(name);
  if (found == m_stores.end()) return 0;
  const node& n = *found->second;
  const auto at = [&](value_id v) -> const value& { return m_graph.values[static_cast<std::size_t>(v)]; };
  const auto real = m_real.find(at(n.inputs[0]).name);
  const std::optional<integer_range> range = range_of_stored(at(n.outputs[0]).type);
  if (real == m_real.end() || real->second.count() != wanted.count() || got.count() != wanted.count() || !range)
    return 0;
  const double largest = largest_of(real->second, element::f32), near = float_rounding * largest;
  storage s = {1, 0};
  if (n.op == "DynamicQuantizeLinear") {
    s = dynamic_storage(real->second);
  } else {
    s.scale = static_cast<float>(at(n.inputs[1]).constant->number(0));
    if (n.inputs.size() > 2 && n.inputs[2] != no_value) s.zero = at(n.inputs[2]).constant->integer(0);
  }
  const auto stored = [&](double x) { return reference::stored(static_cast<float>(x) / s.scale, s.zero, *range); };
  const auto is_between = [&](double x, double reach, std::int64_t integer) {
    return stored(x - reach) <= integer && integer <= stored(x + reach);
  };
  std::vector<std::int64_t> places;
  std::int64_t doubtful = 0;
  for (std::int64_t i = 0; i < wanted.count(); ++i) {
    const std::int64_t integer = got.integer(i);
    const double x = real->second.number(i);
    if (integer == wanted.integer(i) || std::isnan(x)) continue;
    if (!is_between(x, margin * largest, integer)) continue;
    if (is_float32(x) || !is_between(x, near, integer)) ++doubtful;
    places.push_back(i);
  }
  if (doubtful > std::max<std::int64_t>(few, wanted.count() / rare)) return 0;
  for (const std::int64_t i : places) wanted.set_integer(i, got.integer(i));
  return static_cast<std::int64_t>(places.size());
}

}
