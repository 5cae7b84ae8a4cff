// SPDX-License-Identifier: MIT
/// What shows that a graph for other lengths may not be what the source's author would export for them
/// (length_reader.hpp).
#include <algorithm>

#include "errors.hpp"
#include "resolve/axes.hpp"
#include "resolve/length_reader.hpp"
#include "resolve/operator_kinds.hpp"

namespace nsk::tool {
namespace {

using list = std::vector<std::int64_t>;
/// Whether all elements of a constant are the same.
bool is_uniform(const array& a) {
  for (std::int64_t i = 1; i < a.count(); ++i)
    if (a.number(i) != a.number(0)) return false;
  return a.count() > 0;
}

bool has_positive(const array& a) {
  for (std::int64_t i = 0; i < a.count(); ++i)
    if (a.number(i) > 0) return true;
  return false;
}

}

void length_reader::doubt_results(const node& n) {
  for (const value_id v : n.outputs) {
    const value* old = before(v);
    if (old == nullptr) continue;
    const shape_t &was = old->shape, &now = at(v).shape;
    const std::size_t before_it = m_trial.doubts.size();
    if (was.size() != now.size())
      doubt_for_good(n,
                     "its result has " + std::to_string(now.size()) + " axes instead of " + std::to_string(was.size()));
    for (std::size_t d = 0; d < was.size() && was.size() == now.size(); ++d)
      if (was[d] == 1 && now[d] > 1)
        doubt_for_good(n, "axis " + std::to_string(d) + " of its result is 1 long in the source, where exporters and " +
                              "broadcasting leave out what it needs now that it is " + std::to_string(now[d]) +
                              " long");
    m_trial.was_one = m_trial.was_one || m_trial.doubts.size() > before_it;
  }
}

void length_reader::doubt_unknown(const node& n) {
  const bool known = n.domain.empty() && (suits_any_length(n.op) || broadcasts(n.op) || is_of_elements(n.op));
  if (!known) throw no_reading({describe(m_graph, n) + ": it is not known how its numbers follow from other lengths"});
}

/// Axes that were equally long and are not: one of them is 1 now, and would be repeated.
void length_reader::doubt_broadcast(const node& n) {
  if (!broadcasts(n.op) && n.op != "MatMul") return;
  const std::size_t behind = n.op == "MatMul" ? 2 : 0;
  for (std::size_t i = 0; i < n.inputs.size(); ++i)
    for (std::size_t j = i + 1; j < n.inputs.size(); ++j) {
      shape_t a, now_a, b, now_b;
      if (!has(n, i) || !has(n, j) || !shapes_of(n.inputs[i], a, now_a) || !shapes_of(n.inputs[j], b, now_b)) continue;
      for (std::size_t k = 1 + behind; k <= std::min(a.size(), b.size()); ++k)
        if (a[a.size() - k] == b[b.size() - k] && now_a[a.size() - k] != now_b[b.size() - k])
          doubt_for_good(n, "operands that have the same length in the source have " +
                                std::to_string(now_a[a.size() - k]) + " and " + std::to_string(now_b[b.size() - k]));
    }
}

/// Constants that an exporter makes for one length.
void length_reader::doubt_operands(const node& n) {
  const auto own = [&](std::size_t i, const char* what) {
    if (is_own_constant(n, i)) stop(n, std::string(what) + " of the lengths in the source");
  };
  if (n.op == "Concat") {
    const bool negative = n.integer("axis", 0) < 0;
    for (std::size_t i = 0; i < n.inputs.size(); ++i) {
      if (!is_own_constant(n, i)) continue;
      const array& a = *at(n.inputs[i]).constant;
      const std::int64_t d =
          negative ? n.integer("axis", 0) + static_cast<std::int64_t>(a.shape.size()) : n.integer("axis", 0);
      if (d < 0 || d >= static_cast<std::int64_t>(a.shape.size())) continue;
      if (is_uniform(a) || !m_trial.lengths.near(a.shape[static_cast<std::size_t>(d)]).empty())
        stop(n, "its constant operand may fill up an axis to a length");
    }
  }
  if (n.op == "GRU" || n.op == "LSTM" || n.op == "RNN") own(4, "its sequence lengths may be those");
  if (n.op == "ReverseSequence") own(1, "its sequence lengths may be those");
  if (n.op == "GridSample") own(1, "its grid may be one");
  if (n.op == "RoiAlign") own(1, "its regions may be some");
  if (n.op == "Compress") own(1, "its condition may be one");
  if (n.op == "Resize" && n.name.rfind("RESIZE_NEAREST", 0) == 0) {
    shape_t was, now;
    const shape_t& made = at(n.outputs[0]).shape;
    if (shapes_of(n.inputs[0], was, now))
      for (std::size_t d = 0; d < now.size(); ++d)
        if (was[d] != now[d] && made[d] % now[d] != 0)
          doubt(n, "TensorFlow Lite rounds the positions of its pixels in another way for such lengths");
  }
}

void length_reader::doubt_indices(const node& n) {
  const bool gathers = n.op == "Gather" || n.op == "GatherElements" || n.op == "GatherND",
             scatters = n.op == "Scatter" || n.op == "ScatterElements" || n.op == "ScatterND";
  if ((!gathers && !scatters) || !is_own_constant(n, 1)) return;
  shape_t was, now;
  bool differs = scatters || n.op == "GatherND" || !shapes_of(n.inputs[0], was, now);
  if (!differs) {
    const std::int64_t d = counted_from_start(n.integer("axis", 0), was.size());
    differs = d >= 0 && d < static_cast<std::int64_t>(was.size()) &&
              was[static_cast<std::size_t>(d)] != now[static_cast<std::size_t>(d)];
  }
  if (differs && has_positive(*at(n.inputs[1]).constant)) stop(n, "its indices may depend on the length of their axis");
}

/// Pads are the network's own where they are those of the windows behind them.
void length_reader::doubt_pads(const node& n) {
  shape_t was, now;
  const value* made = before(n.outputs[0]);
  if (made == nullptr || !shapes_of(n.inputs[0], was, now) || made->shape.size() != was.size()) return;
  const literal pads = integers(n, 1, "pads");
  bool pads_others = false;
  for (std::size_t d = 0; d < was.size(); ++d) pads_others = pads_others || (d != 1 && made->shape[d] != was[d]);
  for (std::size_t d = 0; d < was.size(); ++d) {
    if (was[d] == now[d] || (made->shape[d] == was[d] && made->shape != was && !pads_others)) continue;
    bool all = made->shape[d] != was[d], any = false;
    for (const node& user : m_trial.exported->nodes) {
      const graph& g = *m_trial.exported;
      const auto reads = [&](value_id v) {
        return v != no_value && g.values[static_cast<std::size_t>(v)].name == made->name;
      };
      if (std::none_of(user.inputs.begin(), user.inputs.end(), reads)) continue;
      any = true;
      const bool convolves = user.op == "Conv" && user.inputs.size() > 1,
                 pools = user.op == "MaxPool" || user.op == "AveragePool";
      list kernel = user.integers("kernel_shape");
      if (kernel.empty() && convolves) {
        const shape_t& w = g.values[static_cast<std::size_t>(user.inputs[1])].shape;
        if (w.size() == was.size()) kernel.assign(w.begin() + 2, w.end());
      }
      if ((!convolves && !pools) || d < 2 || kernel.size() + 2 != was.size() || pads.now.size() != 2 * was.size()) {
        all = false;
        continue;
      }
      const list strides = user.integers("strides"), dilations = user.integers("dilations"),
                 more = user.integers("pads");
      const std::int64_t stride = strides.empty() ? 1 : strides[d - 2],
                         dilation = dilations.empty() ? 1 : dilations[d - 2];
      const std::int64_t a = pads.now[d], b = pads.now[d + was.size()], k = kernel[d - 2];
      const bool alone = more.empty() || (more[d - 2] == 0 && more[d - 2 + kernel.size()] == 0),
                 is_same = std::pair(a, b) == same_pads(was[d], k, stride, dilation),
                 stays_same = std::pair(a, b) == same_pads(now[d], k, stride, dilation),
                 is_own = (a + b == dilation * (k - 1) && (b == 0 || std::abs(a - b) <= 1)) ||
                          (a == b && a == k / 2 && dilation == 1);
      all = all && alone && (is_own || is_same) && (!is_same || stays_same);
    }
    if (!all || !any)
      stop(n, "axis " + std::to_string(d) + " was " + std::to_string(was[d]) + " long, and may be padded to a length");
  }
}

void length_reader::finish() {
  if (m_trial.replays || !m_trial.lengths.hides_one()) return;
  m_trial.doubts.push_back(
      {"--input: some axes change and have as many elements together as in the source, which does not show where they "
       "are merged"});
}

}
