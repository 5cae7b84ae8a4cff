// SPDX-License-Identifier: MIT
#include "quantize/apply/drop_bound.hpp"

#include <algorithm>
#include <cmath>

#include "io/text.hpp"

namespace nsk::tool {

const char* name_of(drop_measure m) {
  return m == drop_measure::sqnr     ? "sqnr"
         : m == drop_measure::top1   ? "top1"
         : m == drop_measure::metric ? "metric"
                                     : "error";
}

bound_judge::bound_judge(const drop_bound& bound, const noise_meter& meter, std::vector<std::string> names,
                         std::vector<std::string> files)
    : m_bound(bound), m_meter(meter), m_outputs{std::move(names), std::move(files), &meter.wanted()} {
  if (bound.by == drop_measure::metric) m_of_floats = run_metric(bound.metric, m_outputs);
}

bool bound_judge::holds(const variant_source& v, const float_storage& floats) {
  if (m_bound.by == drop_measure::metric) {
    const std::vector<sample> found = m_meter.run(v, floats);
    m_outputs.quantised = &found;
    m_reached = m_of_floats - run_metric(m_bound.metric, m_outputs);
    m_outputs.quantised = nullptr;
    return m_reached <= m_bound.limit;
  }
  const output_noise found = m_meter.compare(v, floats);
  if (m_bound.by == drop_measure::sqnr) return (m_reached = found.lowest()) >= m_bound.limit;
  m_reached = m_bound.by == drop_measure::top1 ? found.other_class : std::pow(10, -found.lowest() / 20);
  return m_reached <= m_bound.limit;
}

std::string bound_judge::said() const {
  switch (m_bound.by) {
    case drop_measure::sqnr: return format_text("the worst output has %.1f dB of signal to noise", m_reached);
    case drop_measure::top1: return format_text("%.3g of the samples have another class than in float32", m_reached);
    case drop_measure::metric: return format_text("the metric is lower by %.4g than in float32", m_reached);
    case drop_measure::error: break;
  }
  return format_text("the outputs are off by %.3g of their magnitude", m_reached);
}

std::optional<std::set<std::string>> return_layers(bound_judge& judge, const network& n,
                                                   std::vector<layer_result> layers, const float_storage& floats,
                                                   std::set<std::string>& kept, const return_rules& rules,
                                                   const report_progress& progress) {
  std::sort(layers.begin(), layers.end(),
            [](const layer_result& a, const layer_result& b) { return a.alone < b.alone; });
  const std::set<std::string> before = kept;
  std::vector<std::string> candidates;
  for (const layer_result& l : layers)
    if (kept.count(l.name) == 0 && rules.forced.count(l.name) == 0) candidates.push_back(l.name);
  const std::size_t max_count = candidates.size() - (rules.forced.empty() && !candidates.empty() ? 1 : 0);
  const auto holds = [&](std::size_t count) {
    kept = before;
    kept.insert(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(count));
    if (rules.add_unpaid) rules.add_unpaid(kept);
    progress("returning layers to floats", static_cast<double>(count) / static_cast<double>(candidates.size() + 1));
    return judge.holds(n.without(kept), floats);
  };
  std::size_t below = 0, count = 0;  // `below` does not hold, or is 0
  while (!holds(count)) {
    if (count >= max_count) {
      kept = before;
      return std::nullopt;
    }
    below = count;
    count = std::min(max_count, std::max(count + 1, count * 3 / 2));
  }
  while (count > below + 1) {
    const std::size_t middle = below + (count - below) / 2;
    (holds(middle) ? count : below) = middle;
  }
  holds(count);  // what is said of it
  return std::set<std::string>(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(count));
}

}
