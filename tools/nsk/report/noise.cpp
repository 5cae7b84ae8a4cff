// SPDX-License-Identifier: MIT
#include "report/noise.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "errors.hpp"
#include "io/layout.hpp"
#include "report/random_inputs.hpp"
#include "report/used_rows.hpp"

namespace nsk::tool {
namespace {

constexpr double max_decibels = 200;

/// Gives a runner the inputs and states of a run, by the source's names.
void fill(runner& r, const variant_view& v, const std::map<std::string, array>& inputs) {
  for (int i = 0; i < v.input_count(); ++i) {
    const array data = to_engine(v.input(i), inputs.at(v.input(i).name()));
    std::memcpy(r.input(i), data.data.data(), data.data.size());
  }
  for (int i = 0; i < v.state_count(); ++i) {
    const array& before = inputs.at(v.state(i).name());
    std::memcpy(r.state(i), before.data.data(), before.data.size());
  }
}

/// The outputs of a run and what it leaves in the states, by the source's names.
std::map<std::string, array> results_of(runner& r, const variant_view& v) {
  std::map<std::string, array> results;
  for (int i = 0; i < v.output_count(); ++i) {
    array own(element_of(v.output(i).type()), engine_shape_of(v.output(i)));
    std::memcpy(own.data.data(), r.output(i), own.data.size());
    results.emplace(v.output(i).name(), to_source(v.output(i), own));
  }
  for (int i = 0; i < v.state_count(); ++i) {
    const tensor_info t = v.state(i).tensor();
    array own(element_of(t.type()), {t.elements()});
    std::memcpy(own.data.data(), r.state(i), own.data.size());
    results.emplace(v.state(i).next().name(), std::move(own));
  }
  return results;
}

/// What an output of the source is: computed, or a constant; null where there is none.
const array* wanted_of(const graph& g, const std::map<std::string, array>& computed, const std::string& name) {
  const auto found = computed.find(name);
  if (found != computed.end()) return &found->second;
  const value_id constant = g.find(name);
  return constant != no_value ? g.values[static_cast<std::size_t>(constant)].constant.get() : nullptr;
}

}

void noise_sums::add(const array& wanted, const array& found) {
  for (std::int64_t i = 0; i < found.count(); ++i) {
    const double x = wanted.number(i), y = found.number(i);
    if (!std::isfinite(x) || !std::isfinite(y)) {
      m_differs_in_kind = m_differs_in_kind || !(x == y || (std::isnan(x) && std::isnan(y)));
      continue;
    }
    m_signal += x * x;
    m_noise += (y - x) * (y - x);
  }
}

double noise_sums::decibels() const {
  if (m_differs_in_kind || (m_signal == 0 && m_noise > 0)) return -max_decibels;
  if (m_noise == 0) return max_decibels;
  return std::clamp(10 * std::log10(m_signal / m_noise), -max_decibels, max_decibels);
}

std::vector<port_noise> noise_of(const graph& g, const std::map<std::string, array>& wanted, const model& m, runner& r,
                                 const std::map<std::string, array>& inputs, int variant,
                                 const std::function<array(const std::string& name, const array& found)>& meaning) {
  const variant_view v = m.variant(variant);
  fill(r, v, inputs);
  r.run();
  const std::map<std::string, array> exact =
      evaluate_source(g, in_source_shapes(g, wanted), [](const std::string&, array&) {});
  std::vector<port_noise> result;
  for (const auto& [name, found] : results_of(r, v)) {
    const array* want = wanted_of(g, exact, name);
    const bool same_rank = want != nullptr && want->shape.size() == found.shape.size();
    const array used = same_rank ? used_part(found, want->shape) : found;
    if (want == nullptr || want->count() != used.count())
      refuse("the source model has no output '" + name + "' of shape " + to_string(found.shape) +
             ": the .nsk file was made from another model, or with other options");
    noise_sums sums;
    sums.add(*want, meaning(name, used));
    result.push_back({name, sums.decibels()});
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const port_noise& a, const port_noise& b) { return a.decibels < b.decibels; });
  return result;
}

}
