// SPDX-License-Identifier: MIT
#include "check/noise.hpp"

#include <algorithm>
#include <cmath>

#include "engine/values.hpp"
#include "errors.hpp"
#include "check/random_inputs.hpp"
#include "check/used_rows.hpp"

namespace nsk::tool {
namespace {

constexpr double max_decibels = 200;

/// The outputs of a run and what it leaves in the states, by the source's names.
std::map<std::string, array> results_of(runner& r, const variant_view& v) {
  std::map<std::string, array> results;
  for (int i = 0; i < v.output_count(); ++i) results.emplace(v.output(i).name(), output_of(r, v, i));
  for (int i = 0; i < v.state_count(); ++i) {
    array own = state_of(r, v, i);
    own.shape = {own.count()};
    results.emplace(v.state(i).next().name(), std::move(own));
  }
  return results;
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

std::vector<port_noise> noise_of(const graph& g, const std::map<std::string, array>& source_inputs, const model& m,
                                 runner& r, const std::map<std::string, array>& file_inputs, int variant,
                                 const std::function<array(const std::string& name, const array& found)>& dequantized) {
  const variant_view v = m.variant(variant);
  give_inputs_and_states(r, v, file_inputs);
  r.run();
  const auto watch_nothing = [](const std::string&, array&) {};
  const std::map<std::string, array> exact = evaluate_source(g, in_source_shapes(g, source_inputs), watch_nothing);
  std::vector<port_noise> result;
  for (const auto& [name, found] : results_of(r, v)) {
    const array* expected = expected_of(g, exact, name);
    const bool same_rank = expected != nullptr && expected->shape.size() == found.shape.size();
    const array used = same_rank ? used_part(found, expected->shape) : found;
    if (expected == nullptr || expected->count() != used.count())
      refuse("the source model has no output '" + name + "' of shape " + to_string(found.shape) +
             ": the .nsk file was made from another model, or with other options");
    noise_sums sums;
    sums.add(*expected, dequantized(name, used));
    result.push_back({name, sums.decibels()});
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const port_noise& a, const port_noise& b) { return a.decibels < b.decibels; });
  return result;
}

}
