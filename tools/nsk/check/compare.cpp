// SPDX-License-Identifier: MIT
#include "check/compare.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>

#include "bounded/lengths.hpp"
#include "engine/values.hpp"
#include "io/layout.hpp"
#include "ops/step_facts.hpp"
#include "passes/stream/stream.hpp"
#include "errors.hpp"
#include "reference/evaluator.hpp"
#include "check/axis_order.hpp"
#include "check/local_errors.hpp"
#include "io/text.hpp"
#include "check/used_rows.hpp"

namespace nsk::tool {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Largest magnitudes of what the sums and means of a graph add up, by the name of the result; for values in the
/// order in which they are computed. A function that is nowhere steeper than its operand passes a sum's rounding on:
/// where one step of the engine computes both, the sum's largest magnitude stands for its operands.
class operands_of_sums {
 public:
  operands_of_sums(const graph& g, const std::map<std::string, array>& inputs, const engine_values& engine)
      : m_graph(g) {
    static const std::set<std::string> sums = {"Add",        "Sub", "Sum", "Mean", "ReduceMean", "GlobalAveragePool",
                                               "AveragePool"};
    const std::set<std::string> hidden = hidden_sums(g, engine);
    for (const node& n : g.nodes) {
      if (n.outputs.empty() || n.outputs[0] == no_value) continue;
      if (sums.count(n.op) == 0 && !follows(n, hidden)) continue;
      m_sums[at(n.outputs[0]).name] = &n;
      for (const value_id v : n.inputs)
        if (v != no_value) m_magnitude.emplace(at(v).name, at(v).constant ? of(*at(v).constant) : 0);
    }
    for (const auto& [name, a] : inputs) see(name, a);
  }
  void see(const std::string& name, const array& a) {
    const auto operand = m_magnitude.find(name);
    if (operand != m_magnitude.end()) operand->second = of(a);
    const auto sum = m_sums.find(name);
    if (sum == m_sums.end()) return;
    double& largest = m_largest[name];
    for (const value_id v : sum->second->inputs)
      if (v != no_value) largest = std::max(largest, m_magnitude.at(at(v).name));
  }
  const std::map<std::string, double>& largest() const { return m_largest; }

 private:
  /// Sums that the engine does not store: the step goes on with them.
  static std::set<std::string> hidden_sums(const graph& g, const engine_values& engine) {
    static const std::set<std::string> ops = {"Conv", "ConvTranspose",     "Gemm", "MatMul", "Add",
                                              "Sub",  "BatchNormalization"};
    std::set<std::string> names;
    for (const node& n : g.nodes)
      if (ops.count(n.op) != 0 && n.domain.empty() && !n.outputs.empty() && n.outputs[0] != no_value)
        if (const std::string& name = g.values[static_cast<std::size_t>(n.outputs[0])].name; engine.count(name) == 0)
          names.insert(name);
    return names;
  }
  bool follows(const node& n, const std::set<std::string>& hidden) const {
    static const std::set<std::string> gentle = {"Tanh", "Sigmoid", "HardSigmoid", "Softplus", "Softsign"};
    return gentle.count(n.op) != 0 && n.domain.empty() && n.inputs.size() == 1 && n.inputs[0] != no_value &&
           hidden.count(at(n.inputs[0]).name) != 0;
  }
  const value& at(value_id v) const { return m_graph.values[static_cast<std::size_t>(v)]; }
  static double of(const array& a) { return is_float(a.type) ? largest_of(a, element::f32) : 0; }

  const graph& m_graph;
  std::map<std::string, const node*> m_sums;
  std::map<std::string, double> m_magnitude, m_largest;
};

/// Notes the first value with a number that is no normal one in float32.
void note_range(const std::string& name, const array& a, comparison_report& report) {
  if (!report.beyond_float32.empty() || a.type != element::f64) return;
  for (std::int64_t i = 0, count = a.count(); i < count; ++i) {
    const double x = std::fabs(a.as<double>()[i]);
    if (x == 0 || !std::isfinite(x)) continue;
    if (x > no_difference && x <= static_cast<double>(std::numeric_limits<float>::max())) continue;
    report.beyond_float32 = "'" + name + "' has " + format_text("%.3g", a.as<double>()[i]);
    return;
  }
}

/// Whether all elements are whole numbers that float32 has: computed exactly, as tokens and masks are.
bool holds_whole_numbers(const array& a) {
  constexpr double all_are_there = 0x1p24;
  const double* x = a.as<double>();
  return std::all_of(x, x + a.count(), [](double v) { return v == std::trunc(v) && std::fabs(v) <= all_are_there; });
}

/// Evaluates the source several times with every value off by a few units in the last place of float32, and notes how
/// far that moves each value that the engine has otherwise.
void measure_rounding(const graph& g, const std::map<std::string, array>& inputs, double tolerance,
                      comparison_report& report) {
  constexpr int evaluations = 4;
  constexpr double noise = 4 * 0x1p-24;
  std::map<std::string, array> exact;
  std::map<std::string, double> moved;
  for (const auto* rows : {&report.outputs, &report.steps})
    for (const comparison& c : *rows)
      if (c.relative > tolerance) exact.emplace(c.name, array());
  evaluate_source(g, inputs, [&](const std::string& name, array& value) {
    const auto found = exact.find(name);
    if (found != exact.end()) found->second = value;
  });
  std::mt19937_64 generator(1);
  for (int i = 0; i < evaluations; ++i)
    evaluate_source(g, inputs, [&](const std::string& name, array& value) {
      const std::int64_t count = value.type == element::f64 && !holds_whole_numbers(value) ? value.count() : 0;
      for (std::int64_t k = 0; k < count; ++k)
        value.as<double>()[k] *= 1 + noise * (static_cast<double>(generator() >> 11) * 0x1p-52 - 1);
      const auto found = exact.find(name);
      if (found == exact.end() || found->second.count() != value.count()) return;
      double& largest = moved[name];
      largest = std::max(largest, measure(value, found->second).relative);
    });
  for (auto* rows : {&report.outputs, &report.steps})
    for (comparison& c : *rows)
      if (const auto found = moved.find(c.name); found != moved.end()) c.rounding = found->second;
}

/// Fills in what is known of single steps, where something is suspicious or windows are asked for.
void look_closer(const engine_run& run, window_errors windows, const std::function<void(const std::string&)>& progress,
                 comparison_report& report) {
  receptive_fields fields(run.g);
  const bool measures_windows = windows != window_errors::unknown && !fields.empty(),
             is_suspicious = report.worst() > suspicious;
  report.judges_reach = windows == window_errors::judged;
  if (!is_suspicious && !measures_windows) return;
  progress("evaluating every step on its own inputs");
  measure_locally(run, number_range::of_double, measures_windows ? &fields : nullptr, report);
  if (!is_suspicious || report.worst_local() <= suspicious / 5) return;
  measure_locally(run, number_range::of_float32, nullptr, report);
  if (report.worst_local() <= suspicious / 5) return;
  progress("evaluating with errors of rounding");
  measure_rounding(run.g, run.inputs, suspicious, report);
}

bool has_winograd(const variant_view& v) {
  for (int i = 0; i < v.step_count(); ++i)
    if (algorithm_of(v.step(i)) != conv_algorithm::direct) return true;
  return false;
}

/// The last step that writes a tensor of each name: only then is its value complete.
std::map<std::string, int> last_writers(const variant_view& v) {
  std::map<std::string, int> result;
  for (int i = 0; i < v.step_count(); ++i) result[v.step(i).output().name()] = i;
  return result;
}

/// The engine's results by the source's names, as they are stored in memory: complete, and with as many elements as the
/// source has. The others are counted.
engine_values run_engine(const graph& g, const variant_view& v, runner& r, const std::map<std::string, array>& inputs,
                         int& without_counterpart) {
  give_inputs_and_states(r, v, inputs);
  std::map<std::string, shape_t> computed;
  for (const node& n : g.nodes)
    for (const value_id id : n.outputs)
      if (id != no_value) {
        const value& x = g.values[static_cast<std::size_t>(id)];
        computed[x.name] = x.shape;
      }
  engine_values results;
  banded_values banded;
  const std::map<std::string, int> last = last_writers(v);
  r.run_steps([&](int index) {
    const tensor_info t = v.step(index).output();
    const auto read = [&] { return dense(t, r.tensor(t.index()), r.lengths()); };
    if (last.at(t.name()) != index) return;
    const auto source = computed.find(t.name());
    if (const auto whole = computed.find(whole_of_band(t.name()));
        source == computed.end() && whole != computed.end()) {
      if (banded.add(whole->first, read(), whole->second))
        results[whole->first] = {banded.whole(whole->first, whole->second), index};
      return;
    }
    if (source == computed.end() && is_window(t.name())) return;
    if (source == computed.end() || count_of(source->second) != t.elements(r.lengths()))
      ++without_counterpart;
    else if (!v.step(index).does_nothing(r.lengths()))
      results[t.name()] = {{read(), {}}, index};
  });
  return results;
}

}

double comparison_report::worst_local() const {
  double result = 0;
  for (const auto* rows : {&outputs, &steps})
    for (const comparison& c : *rows) result = std::max(result, c.local < 0 ? infinite : c.local);
  return result;
}

bool comparison_report::explained_by_rounding(double tolerance) const {
  constexpr double margin = 8;               // the engine rounds inside operators as well
  constexpr double largest = wrong_integer;  // beyond it a wrong result looks like any other
  const auto explained = [&](const comparison& c) {
    const bool may_round = !c.bytes || c.unequal == 0;
    return c.relative <= std::max(tolerance, may_round ? std::min(margin * c.rounding, largest) : 0);
  };
  return std::all_of(outputs.begin(), outputs.end(), explained) && std::all_of(steps.begin(), steps.end(), explained);
}

std::int64_t comparison_report::sum_of(std::int64_t comparison::*count) const {
  return std::accumulate(steps.begin(), steps.end(), std::int64_t{0},
                         [&](std::int64_t sum, const comparison& c) { return sum + c.*count; });
}

double comparison_report::worst() const {
  double result = 0;
  for (const auto* rows : {&outputs, &steps})
    for (const comparison& c : *rows) result = std::max(result, c.relative);
  return result;
}

double comparison_report::worst_reach() const {
  double result = -1;
  for (const comparison& c : steps) result = std::max(result, c.reach);
  return result;
}

comparison_report compare(const graph& g, const model& m, runner& r, const std::map<std::string, array>& given,
                          const std::function<void(const std::string&)>& progress, int variant, std::int64_t sampled,
                          window_errors windows) {
  const std::map<std::string, array> inputs = in_source_shapes(g, given);
  const variant_view v = m.variant(variant);
  comparison_report report;
  progress("running the converted model");
  engine_values engine = run_engine(g, v, r, inputs, report.steps_without_counterpart);

  progress("evaluating the source model in double precision");
  operands_of_sums operands(g, inputs, engine);
  axis_orders orders(g, v);
  // Values are compared as they are computed: all of them at once would not fit into memory.
  const std::map<std::string, array> expected = evaluate_source(g, inputs, [&](const std::string& name, array& a) {
    operands.see(name, a);
    note_range(name, a, report);
    const auto found = engine.find(name);
    if (found == engine.end() || found->second.got.count() != a.count()) return;
    const double summed = operands_of(operands.largest(), name);
    std::vector<int> order = orders.expected(name);
    const array* got = nullptr;
    comparison c = measure_value(found->second, a, summed, sampled, order, got);
    orders.learn(name, std::move(order));
    c.name = name;
    c.step = found->second.step;
    c.step_name = v.step(c.step).name();
    report.steps.push_back(std::move(c));
  });
  std::sort(report.steps.begin(), report.steps.end(),
            [](const comparison& a, const comparison& b) { return a.step < b.step; });

  const std::set<std::string> bounded_results = bounded::bounded_outputs(g);
  const auto compare_output = [&](const std::string& name, const array& source) {
    const array* wanted = expected_of(g, expected, name);
    const array used =
        wanted != nullptr && bounded_results.count(name) != 0 ? used_part(source, wanted->shape) : source;
    if (wanted == nullptr || wanted->count() != used.count())
      refuse("the source model has no output '" + name + "' of shape " + to_string(source.shape) +
             ": the .nsk file was made from another model, or with other --input or --set options.");
    comparison c = measure(used, *wanted, operands_of(operands.largest(), name));
    c.name = name;
    report.outputs.push_back(std::move(c));
    engine[name] = {{source, {}}, -1};
  };
  for (int i = 0; i < v.output_count(); ++i) compare_output(v.output(i).name(), output_of(r, v, i));
  for (int i = 0; i < v.state_count(); ++i) compare_output(v.state(i).next().name(), state_of(r, v, i));
  if (report.worst() > suspicious && sampled < all_elements)
    return compare(g, m, r, given, progress, variant, all_elements, windows);
  look_closer({g, v, inputs, engine, operands.largest()}, windows, progress, report);
  sort_worst_first(report.outputs);
  sort_worst_first(report.steps);
  return report;
}

namespace {

/// Random inputs on which the source has a result; others are tried where it has none.
comparison_report compare_on_usual(const graph& g, const model& m, runner& r, random_choice choice,
                                   const std::map<std::string, array>& given,
                                   const std::function<void(const std::string&)>& progress, int variant,
                                   std::int64_t sampled) {
  constexpr int max_attempts = 8;
  const bool tells = sampled == all_elements && has_winograd(m.variant(variant));
  const window_errors windows = !wide_inputs(choice.ranges).empty() ? window_errors::judged
                                : tells                             ? window_errors::told
                                                                    : window_errors::unknown;
  const bool may_be_plain = !choice.plain && has_free_integers(g, m, variant);
  for (choice.attempt = 0;; ++choice.attempt) {
    if (may_be_plain) choice.plain = choice.attempt % 2 == 1;
    std::map<std::string, array> inputs = random_inputs(g, m, choice, variant);
    const bool samples = given.size() < inputs.size();
    for (const auto& [name, a] : given) inputs[name] = a;
    try {
      return compare(g, m, r, inputs, progress, variant, sampled, windows);
    } catch (const undefined_result& e) {
      if (samples && choice.attempt + 1 < max_attempts) continue;
      if (!samples) throw;
      throw undefined_result(std::string(e.what()) + ". " + std::to_string(max_attempts) +
                             " random inputs were tried; give inputs on which the model is defined: nsk check SOURCE "
                             "MODEL --input NAME=FILE.npy");
    }
  }
}

/// Whether a few more evaluations are cheap.
bool is_small(const model& m, int variant) {
  constexpr std::uint64_t max_macs = std::uint64_t{1} << 30;
  std::uint64_t macs = 0;
  for (int i = 0; i < m.variant(variant).step_count(); ++i) macs += m.variant(variant).step(i).macs();
  return macs <= max_macs;
}

}

comparison_report compare_on_random(const graph& g, const model& m, runner& r, random_choice choice,
                                    const std::map<std::string, array>& given,
                                    const std::function<void(const std::string&)>& progress, int variant,
                                    std::int64_t sampled) {
  comparison_report report = compare_on_usual(g, m, r, choice, given, progress, variant, sampled);
  if (report.worst() > suspicious && report.within(suspicious) && has_free_integers(g, m, variant)) {
    choice.plain = true;  // what the network amplifies for integers between -4 and 4 may be none of a mask
    comparison_report other = compare_on_usual(g, m, r, choice, given, progress, variant, sampled);
    if (!other.within(suspicious) || other.worst() <= suspicious) report = std::move(other);
  }
  if (!bounded::has_bounded(g) || !is_small(m, variant)) return report;
  for (const fullness f : {fullness::none, fullness::few, fullness::all}) {
    choice.chosen = f;
    std::map<std::string, array> inputs = random_inputs(g, m, choice, variant);
    if (given.size() == inputs.size()) return report;
    for (const auto& [name, a] : given) inputs[name] = a;
    try {
      comparison_report other = compare(g, m, r, inputs, progress, variant, sampled);
      if (other.prevails_over(report, suspicious)) report = std::move(other);
    } catch (const undefined_result&) {
      continue;  // the source has no result for so many rows
    }
  }
  return report;
}

double distance_of(const graph& a, const graph& b, const model& m, int variant) {
  const std::map<std::string, array> inputs = in_source_shapes(a, random_inputs(a, m, {}, variant));
  const std::map<std::string, array> expected = evaluator(a).run(inputs);
  double largest = 0;
  for (const auto& [name, value] : evaluator(b).run(inputs))
    if (const auto found = expected.find(name);
        found != expected.end() && is_float(value.type) && found->second.count() == value.count())
      largest = std::max(largest, measure(value, found->second).relative);
  return largest;
}

}
