// SPDX-License-Identifier: MIT
#include "report/compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <set>

#include "io/layout.hpp"
#include "errors.hpp"
#include "reference/evaluator.hpp"

namespace nsk::tool {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
/// Axis orders of a tensor inside the plan are not recorded. All are tried on so many elements, spread over the tensor,
/// and the best ones on all elements.
constexpr std::int64_t probed_elements = 61;
constexpr std::size_t probed_orders = 3;
/// What float32 may lose in a sum, as a share of its operands.
constexpr double rounding = 4 * static_cast<double>(std::numeric_limits<float>::epsilon());

double difference(double got, double wanted) {
  if (std::isnan(got) && std::isnan(wanted)) return 0;
  if (got == wanted) return 0;
  const double d = std::fabs(got - wanted);
  return std::isnan(d) ? infinite : d;
}

double ulp_of(double x) {
  const float magnitude = static_cast<float>(std::fabs(x));
  return static_cast<double>(std::nextafter(magnitude, std::numeric_limits<float>::infinity())) -
         static_cast<double>(magnitude);
}

/// Element `i` as the engine's type would have it: what lies beyond the numbers of float32 is infinite.
double representable(const array& a, std::int64_t i, element type) {
  const double x = a.number(i);
  const bool overflows = type == element::f32 && std::fabs(x) > static_cast<double>(std::numeric_limits<float>::max());
  return overflows ? std::copysign(infinite, x) : x;
}

double largest_of(const array& a, element type) {
  double largest = 0;
  for (std::int64_t i = 0; i < a.count(); ++i) {
    const double x = representable(a, i, type);
    if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
  }
  return largest;
}

/// Element by element, in row-major order; the shapes need not agree, the counts do. `operands` is the largest
/// magnitude of what was added up: where the sum is small beside them, its rounding is a share of theirs.
comparison measure(const array& got, const array& wanted, double operands = 0) {
  comparison c;
  const std::int64_t count = got.count();
  c.largest = largest_of(wanted, got.type);
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double w = representable(wanted, i, got.type), d = difference(got.number(i), w);
    c.max_error = std::max(c.max_error, d);
    sum += d;
    if (std::isfinite(w) && std::fabs(w) > 1e-3 * c.largest) c.ulp = std::max(c.ulp, d / ulp_of(w));
  }
  c.mean_error = count > 0 ? sum / static_cast<double>(count) : 0;
  const double share = std::max(c.largest, c.max_error <= rounding * operands ? operands : 0.0);
  c.relative = share > 0 ? c.max_error / share : c.max_error;
  return c;
}

/// Every axis order of `wanted`, those that explain a sample of `got` best first. Without a sample that any order
/// explains, the usual one, channels last, goes first.
std::vector<std::vector<int>> likely_orders(const array& got, const array& wanted) {
  const std::size_t rank = wanted.shape.size();
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::int64_t> stride(rank, 1), step(rank);
  for (std::size_t d = rank - 1; d-- > 0;) stride[d] = stride[d + 1] * wanted.shape[d + 1];
  const std::int64_t count = got.count(), hop = std::max<std::int64_t>(1, count / probed_elements);
  std::vector<std::pair<double, std::vector<int>>> rated;
  const auto rate = [&] {
    double sum = 0;
    for (std::int64_t i = 0; i < count; i += hop) {
      std::int64_t rest = i, at = 0;
      for (std::size_t d = rank; d-- > 0;) {
        const auto axis = static_cast<std::size_t>(order[d]);
        at += rest % wanted.shape[axis] * stride[axis];
        rest /= wanted.shape[axis];
      }
      sum += difference(got.number(i), representable(wanted, at, got.type));
    }
    rated.emplace_back(sum, order);
  };
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  rate();
  std::sort(order.begin(), order.end());
  while (std::next_permutation(order.begin(), order.end())) rate();
  std::stable_sort(rated.begin(), rated.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::vector<int>> orders;
  for (auto& r : rated) orders.push_back(std::move(r.second));
  return orders;
}

/// Compares a step's result with the reference, whose axes may lie in another order in memory; `found` becomes that
/// order.
comparison measure_in_any_order(const array& got, const array& wanted, double operands, double tolerance,
                                std::vector<int>& found) {
  found.resize(wanted.shape.size());
  std::iota(found.begin(), found.end(), 0);
  comparison best = measure(got, wanted, operands);
  if (best.relative <= tolerance || found.size() < 2 || found.size() > static_cast<std::size_t>(max_rank)) return best;
  const std::vector<std::vector<int>> orders = likely_orders(got, wanted);
  for (std::size_t i = 0; i < std::min(orders.size(), probed_orders) && best.relative > tolerance; ++i) {
    const comparison c = measure(got, permuted(wanted, orders[i]), operands);
    if (c.mean_error < best.mean_error) {
      best = c;
      found = orders[i];
    }
  }
  return best;
}

/// Largest magnitudes of what the sums and means of a graph add up, by the name of the result; told of values in the
/// order in which they are computed.
class operands_of_sums {
 public:
  operands_of_sums(const graph& g, const std::map<std::string, array>& inputs) : m_graph(g) {
    static const std::set<std::string> sums = {"Add",        "Sub", "Sum", "Mean", "ReduceMean", "GlobalAveragePool",
                                               "AveragePool"};
    for (const node& n : g.nodes) {
      if (sums.count(n.op) == 0 || n.outputs.empty() || n.outputs[0] == no_value) continue;
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
  const value& at(value_id v) const { return m_graph.values[static_cast<std::size_t>(v)]; }
  static double of(const array& a) { return is_float(a.type) ? largest_of(a, element::f32) : 0; }

  const graph& m_graph;
  std::map<std::string, const node*> m_sums;
  std::map<std::string, double> m_magnitude, m_largest;
};

double operands_of(const std::map<std::string, double>& operands, const std::string& name) {
  const auto found = operands.find(name);
  return found != operands.end() ? found->second : 0;
}

shape_t shape_of(const tensor_info& t) { return {t.shape().begin(), t.shape().end()}; }

using engine_values = std::map<std::string, array>;  ///< by source name, in the source's axes

/// The engine's dense result, whose axis d is the source's axis order[d], in the source's own axes.
array in_source_order(array got, const shape_t& shape, const std::vector<int>& order) {
  shape_t physical;
  std::vector<int> inverse(order.size());
  for (std::size_t d = 0; d < order.size(); ++d) {
    physical.push_back(shape[static_cast<std::size_t>(order[d])]);
    inverse[static_cast<std::size_t>(order[d])] = static_cast<int>(d);
  }
  got.shape = physical;
  return permuted(got, inverse);
}

/// Evaluates the source again, each value from the engine's earlier ones, and notes how far each of the engine's is
/// from it.
void measure_locally(const graph& g, const std::map<std::string, array>& inputs, const engine_values& engine,
                     const std::map<std::string, double>& operands, comparison_report& report) {
  std::map<std::string, double> local;
  evaluator(g).run(inputs, false, [&](const std::string& name, array& value) {
    const auto found = engine.find(name);
    if (found == engine.end() || found->second.count() != value.count()) return;
    local[name] = measure(found->second, value, operands_of(operands, name)).relative;
    value = converted(found->second, value.type);
  });
  for (auto* rows : {&report.outputs, &report.steps})
    for (comparison& c : *rows) {
      const auto found = local.find(c.name);
      c.local = found != local.end() ? found->second : c.relative;
    }
}

void sort_worst_first(std::vector<comparison>& rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const comparison& a, const comparison& b) { return a.relative > b.relative; });
}

/// The same arrays in the shapes of the source's inputs: a state without dimensions has one in the engine.
std::map<std::string, array> in_source_shapes(const graph& g, std::map<std::string, array> inputs) {
  for (const value_id v : g.inputs) {
    const value& x = g.values[static_cast<std::size_t>(v)];
    const auto found = inputs.find(x.name);
    if (found != inputs.end() && found->second.count() == count_of(x.shape)) found->second.shape = x.shape;
  }
  return inputs;
}

/// The last step that writes a tensor of each name: only then is its value complete.
std::map<std::string, int> last_writers(const variant_view& v) {
  std::map<std::string, int> result;
  for (int i = 0; i < v.step_count(); ++i) result[v.step(i).output().name()] = i;
  return result;
}

struct step_result {
  int step = 0;
  array got;
};

/// The engine's results by the source's names, as they lie in memory: complete, and with as many elements as the source
/// has. The others are counted.
std::map<std::string, step_result> run_engine(const graph& g, const variant_view& v, runner& r,
                                              const std::map<std::string, array>& inputs, int& without_counterpart) {
  for (int i = 0; i < v.input_count(); ++i) {
    const array data = to_engine(v.input(i), inputs.at(v.input(i).name()));
    std::memcpy(r.input(i), data.data.data(), data.data.size());
  }
  for (int i = 0; i < v.state_count(); ++i) {
    const array& before = inputs.at(v.state(i).name());
    std::memcpy(r.state(i), before.data.data(), before.data.size());
  }
  std::map<std::string, std::int64_t> computed;
  for (const node& n : g.nodes)
    for (const value_id id : n.outputs)
      if (id != no_value) {
        const value& x = g.values[static_cast<std::size_t>(id)];
        computed[x.name] = count_of(x.shape);
      }
  std::map<std::string, step_result> results;
  const std::map<std::string, int> last = last_writers(v);
  r.run_steps([&](int index) {
    const tensor_info t = v.step(index).output();
    if (last.at(t.name()) != index) return;
    const auto source = computed.find(t.name());
    if (source == computed.end() || source->second != t.elements())
      ++without_counterpart;
    else
      results[t.name()] = {index, dense(t, r.tensor(t.index()))};
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

double comparison_report::worst() const {
  double result = 0;
  for (const auto* rows : {&outputs, &steps})
    for (const comparison& c : *rows) result = std::max(result, c.relative);
  return result;
}

std::map<std::string, array> random_inputs(const model& m, std::uint64_t seed, int variant) {
  std::mt19937_64 generator(seed);
  std::map<std::string, array> inputs;
  const auto add = [&](const char* name, array a) {
    const bool real = a.type == element::f32;
    for (std::int64_t k = 0; k < a.count(); ++k) {
      const double unit = static_cast<double>(generator() >> 11) * 0x1p-53;
      a.set(k, real ? 2 * unit - 1 : std::floor(2 * unit));
    }
    inputs.emplace(name, std::move(a));
  };
  for (int i = 0; i < m.input_count(variant); ++i) {
    const port_view port = m.input(i, variant);
    add(port.name(), array(element_of(port.type()), source_shape_of(port)));
  }
  for (int i = 0; i < m.variant(variant).state_count(); ++i) {
    const state_view state = m.variant(variant).state(i);
    add(state.name(), array(element_of(state.tensor().type()), shape_of(state.tensor())));
  }
  return inputs;
}

comparison_report compare(const graph& g, const model& m, runner& r, const std::map<std::string, array>& given,
                          const std::function<void(const std::string&)>& progress, int variant) {
  const std::map<std::string, array> inputs = in_source_shapes(g, given);
  const variant_view v = m.variant(variant);
  constexpr double plainly_equal = 1e-5, suspicious = 1e-4;
  comparison_report report;
  progress("running the converted model");
  std::map<std::string, step_result> results = run_engine(g, v, r, inputs, report.steps_without_counterpart);

  progress("evaluating the source model in double precision");
  engine_values engine;
  operands_of_sums operands(g, inputs);
  // Values are compared as they are computed: all of them at once would not fit into memory.
  const std::map<std::string, array> expected = evaluator(g).run(inputs, false, [&](const std::string& name, array& a) {
    operands.see(name, a);
    const auto found = results.find(name);
    if (found == results.end()) return;
    std::vector<int> order;
    const double summed = operands_of(operands.largest(), name);
    comparison c = measure_in_any_order(found->second.got, a, summed, plainly_equal, order);
    engine[name] = in_source_order(std::move(found->second.got), a.shape, order);
    c.name = name;
    c.step = found->second.step;
    c.step_name = v.step(c.step).name();
    report.steps.push_back(std::move(c));
    results.erase(found);
  });
  std::sort(report.steps.begin(), report.steps.end(),
            [](const comparison& a, const comparison& b) { return a.step < b.step; });

  const auto compare_output = [&](const std::string& name, const array& source) {
    const auto reference = expected.find(name);
    const value_id constant = g.find(name);
    const array* wanted = reference != expected.end() ? &reference->second
                          : constant != no_value      ? g.values[static_cast<std::size_t>(constant)].constant.get()
                                                      : nullptr;
    if (wanted == nullptr || wanted->count() != source.count())
      refuse("the source model has no output '" + name + "' of shape " + to_string(source.shape) +
             ": the .nsk file was made from another model, or with other --input or --set options.");
    comparison c = measure(source, *wanted, operands_of(operands.largest(), name));
    c.name = name;
    report.outputs.push_back(std::move(c));
    engine[name] = source;
  };
  for (int i = 0; i < v.output_count(); ++i) {
    const port_view port = v.output(i);
    array got(element_of(port.type()), engine_shape_of(port));
    std::memcpy(got.data.data(), r.output(i), got.data.size());
    compare_output(port.name(), to_source(port, got));
  }
  for (int i = 0; i < v.state_count(); ++i) {
    const tensor_info t = v.state(i).tensor();
    array got(element_of(t.type()), shape_of(t));
    std::memcpy(got.data.data(), r.state(i), got.data.size());
    compare_output(v.state(i).next().name(), got);
  }
  if (report.worst() > suspicious) {
    progress("evaluating every step on its own inputs");
    measure_locally(g, inputs, engine, operands.largest(), report);
  }
  sort_worst_first(report.outputs);
  sort_worst_first(report.steps);
  return report;
}

}
