// SPDX-License-Identifier: MIT
#include "check/local_errors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "io/layout.hpp"
#include "reference/evaluator.hpp"
#include "check/axis_order.hpp"
#include "check/partial_results.hpp"
#include "check/stored_halves.hpp"
#include "check/used_rows.hpp"

namespace nsk::tool {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double smallest_float = static_cast<double>(std::numeric_limits<float>::denorm_min());

/// Takes over the engine's numbers where the source's result is not a number: clamps make a limit of it there
/// (docs/reference/conventions.md).
void take_over_limits(const array& got, array& wanted) {
  if (!is_float(wanted.type)) return;
  for (std::int64_t i = 0; i < wanted.count(); ++i)
    if (std::isnan(wanted.number(i))) wanted.set(i, got.number(i));
}

/// Makes infinities of what is too large for float32, and zeros of what is too small.
void limit_to_float32(array& a) {
  if (a.type != element::f64) return;
  double* x = a.as<double>();
  for (std::int64_t i = 0, count = a.count(); i < count; ++i)
    if (std::fabs(x[i]) > static_cast<double>(std::numeric_limits<float>::max()))
      x[i] = std::copysign(infinite, x[i]);
    else if (std::fabs(x[i]) < smallest_float)
      x[i] = std::copysign(0.0, x[i]);
}

/// Follows the reference through values that the engine has, which it goes on from.
class local_errors {
 public:
  local_errors(const engine_run& run, number_range range, receptive_fields* fields)
      : m_run(run), m_range(range), m_fields(fields), m_halves(run.g), m_partial(run.g), m_orders(run.g, run.v) {
    for (const auto& [name, a] : run.inputs) see(name, a);
  }

  /// Compares a value of the reference, and replaces it by the engine's.
  void look_at(const std::string& name, array& value) {
    if (m_range == number_range::of_float32) limit_to_float32(value);
    see(name, value);
    const auto found = m_run.values.find(name);
    if (found == m_run.values.end()) return;
    const engine_value* v = &found->second;
    engine_value used;
    if (v->step < 0 && v->got.count() != value.count()) {
      used.got = used_part(v->got, value.shape);
      v = &used;
    }
    if (v->got.count() != value.count()) return;
    const array ordered = in_source_order(*v, name, value);
    take_over_limits(ordered, value);
    if (m_range == number_range::of_float32) m_partial.take_over(name, ordered, value);
    m_halved += m_halves.take_over(name, ordered, value, margin);
    comparison& local = m_local[name] = measure(ordered, value, operands_of(m_run.operands, name));
    if (m_fields != nullptr) local.reach = m_fields->error_of(name, ordered, value).value_or(-1);
    go_on_from(ordered, value);
    see(name, value);
  }

  void note(comparison_report& report) const {
    for (auto* rows : {&report.outputs, &report.steps})
      for (comparison& c : *rows) {
        const auto found = m_local.find(c.name);
        const comparison& near = found != m_local.end() ? found->second : c;
        c.reach = std::max(c.reach, near.reach);
        if (c.local >= 0 && c.local <= near.relative) continue;
        c.local = near.relative;
        c.unequal = near.unequal;
      }
    report.halves = std::max(report.halves, m_halved);
  }

 private:
  static constexpr double margin = 2e-5;  // of the largest magnitude: what a right step may be off

  /// Takes the engine's numbers over, but for zeros in place of what float32 has below its normal numbers: what later
  /// steps make of these is wrong.
  static void go_on_from(const array& got, array& value) {
    array next = converted(got, value.type);
    for (std::int64_t i = 0; value.type == element::f64 && i < value.count(); ++i)
      if (const double x = value.as<double>()[i]; next.as<double>()[i] == 0 && std::fabs(x) >= smallest_float)
        if (std::fabs(x) <= no_difference) next.as<double>()[i] = x;
    value = std::move(next);
  }
  void see(const std::string& name, const array& a) {
    m_halves.see(name, a);
    if (m_range == number_range::of_float32) m_partial.see(name, a);
    if (m_fields != nullptr) m_fields->see(name, a);
  }
  array in_source_order(const engine_value& v, const std::string& name, const array& wanted) {
    const array* got = &v.got;
    std::vector<int> order;
    if (v.step >= 0) {
      order = m_orders.expected(name);
      measure_value(v, wanted, operands_of(m_run.operands, name), all_elements, order, got);
      m_orders.learn(name, order);
    }
    return order.empty() ? *got : unpermuted(*got, wanted.shape, order);
  }

  const engine_run& m_run;
  number_range m_range;
  receptive_fields* m_fields;
  stored_halves m_halves;
  partial_results m_partial;
  axis_orders m_orders;
  std::map<std::string, comparison> m_local;
  std::int64_t m_halved = 0;
};

}

double operands_of(const std::map<std::string, double>& operands, const std::string& name) {
  const auto found = operands.find(name);
  return found != operands.end() ? found->second : 0;
}

comparison measure_value(const engine_value& v, const array& wanted, double operands, std::int64_t sampled,
                         std::vector<int>& order, const array*& got) {
  got = &v.got;
  const comparison c = measure_in_any_order(v.got, wanted, operands, plainly_equal, order, sampled);
  if (v.planes.shape.empty() || c.relative <= plainly_equal) return c;
  const comparison by_planes = measure(v.planes, wanted, operands, sampled);
  if (!(by_planes.mean_error < c.mean_error)) return c;
  got = &v.planes;
  order = same_order(wanted.shape.size());
  return by_planes;
}

void measure_locally(const engine_run& run, number_range range, receptive_fields* fields, comparison_report& report) {
  local_errors errors(run, range, fields);
  evaluate_source(run.g, run.inputs, [&](const std::string& name, array& value) { errors.look_at(name, value); });
  errors.note(report);
}

}
