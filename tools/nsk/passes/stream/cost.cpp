// SPDX-License-Identifier: MIT
#include "passes/stream/cost.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "program/winograd_choice.hpp"

namespace nsk::tool {
namespace {

/// In bytes that are read from a large last-level cache, about 45 a nanosecond: bytes that are stored there, bytes of
/// windows that are copied because the next band needs them, and bytes of weights that each band reads again. Measured
/// on MobileNetV2, SqueezeNet and an upscaler.
constexpr double store = 0.6, keep = 1.4, read_again = 0.3;
/// Winograd's algorithms prefetch what they read and store, so that the pace of a cache costs little.
constexpr double prefetched = 0.1;
/// A tensor stays in a cache that is larger than it by so much, since others pass through it as well.
constexpr double space = 4.0 / 3;

/// Whether an operation is usually no step: its operands are where its result is. In bands they are not, unless all of
/// them are made there.
bool is_in_place(const operation& o) { return o.as<concat_parameters>() || o.as<slice_parameters>(); }

double weight_bytes(const operation& o) {
  if (const auto* c = o.as<conv_parameters>()) return 4.0 * static_cast<double>(c->weights.size());
  if (const auto* c = o.as<quantized_conv_parameters>()) return static_cast<double>(c->weights.size());
  return 0;
}

}

stream_costs::stream_costs(const program& p, const stream_target& t)
    : m_p(p), m_target(t), m_producer(p.values.size(), p.operations.size()), m_last_reader(p.values.size(), 0) {
  for (std::size_t i = 0; i < p.operations.size(); ++i) {
    m_producer[static_cast<std::size_t>(p.operations[i].output)] = i;
    for (const int v : operands_of(p, p.operations[i])) m_last_reader[static_cast<std::size_t>(v)] = i;
  }
  for (std::size_t v = 0; v < p.values.size(); ++v)
    if (p.is_output(static_cast<int>(v))) m_last_reader[v] = p.operations.size();
}

double stream_costs::bytes_of(int v) const {
  return static_cast<double>(count_of(m_p.shape(v))) *
         static_cast<double>(size_of(m_p.values[static_cast<std::size_t>(v)].type));
}

double stream_costs::row_bytes(int v) const { return bytes_of(v) / static_cast<double>(m_p.shape(v)[2]); }

bool stream_costs::prefetches(const operation& o) const {
  const auto* c = o.as<conv_parameters>();
  if (c == nullptr || !winograd_fits(c->w, c->groups)) return false;
  const shape_t &x = m_p.shape(o.inputs[0]), &y = m_p.shape(o.output);
  return fastest_algorithm(c->w, c->groups, x[1], c->outputs, y[2], y[3]) != conv_algorithm::direct;
}

/// What a byte costs that is one of `near` bytes which all pass before it is needed again; of `far` with all that
/// passes in between in the last-level cache.
double stream_costs::price(const operation& o, double near, double far) const {
  if (near <= static_cast<double>(m_target.second_level)) return 0;
  if (far > static_cast<double>(m_target.last_level)) return m_target.memory;
  return prefetches(o) ? prefetched : 1;
}
double stream_costs::price_of_whole(const operation& o, int v) const {
  return price(o, space * bytes_of(v), space * bytes_of(v));
}

double stream_costs::alone(std::size_t i) const {
  const operation& o = m_p.operations[i];
  if (is_in_place(o)) return 0;
  double sum = store * bytes_of(o.output) * price_of_whole(o, o.output);
  for (const int v : operands_of(m_p, o)) sum += bytes_of(v) * price_of_whole(o, v);
  return sum;
}

bool stream_costs::is_inside(operation_run r, int v) const {
  const std::size_t producer = m_producer[static_cast<std::size_t>(v)];
  return producer >= r.first && producer < r.end;
}

bool stream_costs::reads_inside_alone(operation_run r, const operation& o) const {
  const std::vector<int> all = operands_of(m_p, o);
  return std::all_of(all.begin(), all.end(), [&](int v) { return is_inside(r, v); });
}

/// Bytes of the values outside that a run reads and that operation `i` of it, or one behind it, reads.
double stream_costs::outer_bytes(operation_run r, std::size_t i) const {
  std::set<int> outer;
  for (std::size_t k = r.first; k < r.end; ++k)
    for (const int v : operands_of(m_p, m_p.operations[k]))
      if (!is_inside(r, v) && m_last_reader[static_cast<std::size_t>(v)] >= i) outer.insert(v);
  return std::accumulate(outer.begin(), outer.end(), 0.0, [&](double sum, int v) { return sum + bytes_of(v); });
}

/// The most memory that a run needs one operation after the other, results stored in the place of an operand of the
/// same size that nothing needs any more. Outputs of the network are no such results: the game's memory is not read.
double stream_costs::peak_alone(operation_run r) const {
  double peak = 0, inside = 0;
  for (std::size_t i = r.first; i < r.end; ++i) {
    const operation& o = m_p.operations[i];
    double ending = 0;
    bool in_place = false;
    for (const int v : operands_of(m_p, o)) {
      if (m_last_reader[static_cast<std::size_t>(v)] != i) continue;
      ending += is_inside(r, v) ? bytes_of(v) : 0;
      in_place = in_place || (bytes_of(v) == bytes_of(o.output) && !m_p.is_output(o.output) &&
                              (v == o.post.residual || !has_window(o)));
    }
    const double before = inside + outer_bytes(r, i), made = bytes_of(o.output);
    peak = std::max(peak, before + (in_place ? 0 : made));
    inside += made - ending;
  }
  return peak;
}

bool stream_costs::can_stream(operation_run r) const {
  bool far = false, images = has_window(m_p.operations[r.end - 1]);  // without windows, axis 2 may be no rows
  for (std::size_t i = r.first; i + 1 < r.end; ++i) {
    const operation& o = m_p.operations[i];
    images = images || has_window(o);
    if (m_last_reader[static_cast<std::size_t>(o.output)] >= r.end) return false;
    if (is_in_place(o) && !reads_inside_alone(r, o)) return false;
    far = far || price_of_whole(o, o.output) > 0;
  }
  const operation& last = m_p.operations[r.end - 1];
  return far && images && !is_in_place(last);
}

/// What bands hold and do beside computing.
struct stream_costs::band_sums {
  double held = 0, largest = 0;  ///< bytes of all windows, and of the largest one
  double kept = 0;               ///< bytes that are copied from windows to the next ones
  int steps = 0;
};

stream_costs::band_sums stream_costs::sums_of(const std::vector<band>& bands, int result) const {
  band_sums s;
  std::map<int, double> window;
  for (const band& b : bands)
    for (const auto& [v, of_v] : b) {
      if (of_v.added.count() > 0) ++s.steps;
      if (v == result) continue;
      const double before = static_cast<double>(of_v.window.count() - of_v.added.count()) * row_bytes(v);
      window[v] = std::max(window[v], static_cast<double>(of_v.window.count()) * row_bytes(v));
      if (of_v.added.count() == 0 || before <= 0) continue;
      s.kept += before;
      ++s.steps;
    }
  for (const auto& [v, bytes] : window) {
    s.held += bytes;
    s.largest = std::max(s.largest, bytes);
  }
  return s;
}

band_cost stream_costs::in_bands(operation_run r, std::int64_t rows) const {
  const std::vector<band> bands = bands_of(m_p, r, rows);
  const int result = m_p.operations[r.end - 1].output;
  const band_sums s = sums_of(bands, result);
  band_cost c;
  c.rows = rows;
  c.window_bytes = static_cast<std::int64_t>(s.held);
  c.bands = static_cast<int>(bands.size());
  if (s.held + bytes_of(result) + outer_bytes(r, r.first) > peak_alone(r)) return c;
  double weights = 0;
  for (std::size_t i = r.first; i < r.end; ++i) weights += weight_bytes(m_p.operations[i]);
  c.cost = static_cast<double>(m_target.begin_step) * s.steps + keep * s.kept + read_again * weights * c.bands;
  // the next window of a value is made while the one before is there
  const double near = s.held + weights, far = space * (s.held + s.largest) + weights;
  const auto price_of = [&](const operation& o, int v) {
    return is_inside(r, v) && v != result ? price(o, near, far) : price_of_whole(o, v);
  };
  for (std::size_t i = r.first; i < r.end; ++i) {
    const operation& o = m_p.operations[i];
    c.cost += store * bytes_of(o.output) * price_of(o, o.output);
    for (const int v : operands_of(m_p, o)) c.cost += bytes_of(v) * price_of(o, v);
  }
  return c;
}

}
