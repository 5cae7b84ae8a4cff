// SPDX-License-Identifier: MIT
#include "compile/length_plans.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_map>

#include "errors.hpp"
#include "lengths/compare_graphs.hpp"
#include "lengths/follow.hpp"
#include "passes/shuffle/shuffle.hpp"

namespace nsk::tool {
namespace {

void widen(value_borders& to, const value_borders& from) {
  for (const auto& [v, b] : from) {
    nsk::halo& t = to[v];
    t = {std::max(t.top, b.top), std::max(t.left, b.left), std::max(t.bottom, b.bottom), std::max(t.right, b.right)};
  }
}
bool same_borders(const value_borders& a, const value_borders& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.first == y.first && same_border(x.second, y.second); });
}

/// Shares the constants of `p` that `with` has too: plans of many lengths then hold them once.
void share_constants(plan& p, const plan& with) {
  for (std::size_t i = 0; i < std::min(p.storages.size(), with.storages.size()); ++i) {
    plan_storage& s = p.storages[i];
    const plan_storage& w = with.storages[i];
    if (s.data && w.data && s.data != w.data && *s.data == *w.data) s.data = w.data;
    s.kernels = nullptr;
  }
}

/// Plans of a variant for its bounds and for other values, and the one that they have in common.
class length_plans {
 public:
  length_plans(const program& p, const variant_source& v, const lower_options& lowering, const compile_options& options)
      : m_program(p),
        m_variant(v),
        m_lowering(lowering),
        m_options(options),
        m_graphs(v.lengths, bounds_of(v.lengths), v.g) {
    m_lowering.splits_reductions = false;
    m_bounds = lowered(p, v, m_lowering, options, &m_bounds_borders, &m_packed);
    for (const plan_step& s : m_bounds.steps)
      if (s.kind() == op::conv_2d) m_lowering.algorithms[s.name] = s.p.as<op::conv_2d>().algorithm;
    m_widest = m_bounds_borders;
    for (const value& x : v.g.values) m_shapes.emplace(x.name, &x.shape);
  }

  /// Adds the plan of some values, unless an axis has one position or none then.
  void add(const length_choice& values) {
    const std::optional<variant_source> v = source_at(values);
    if (!v || has_short_axes(values, v->g)) return;
    value_borders own;
    m_others.push_back({values, plan_of(*v, own)});
    widen(m_widest, own);
    m_borders.push_back(std::move(own));
    m_alike = m_graphs.add(values, v->g) && m_alike;
  }

  /// The plan of the bounds, with the terms with which it is each of the others.
  plan joined() {
    m_lowering.min_borders = m_widest;
    for (std::size_t i = 0; i < m_others.size(); ++i)
      if (!same_borders(m_borders[i], m_widest))
        m_others[i].layout = plan_of(m_variant.at(m_others[i].values), m_borders[i]);
    if (!same_borders(m_bounds_borders, m_widest))
      m_bounds = lowered(m_program, m_variant, m_lowering, m_options, &m_bounds_borders, &m_packed);
    plan layout = m_bounds;
    follow_lengths(layout, m_variant.lengths, m_others);
    return layout;
  }

  /// The first value, in an order that scatters them, of which `layout` is not the plan. Where there is none, says how
  /// many were compared, and which are not known.
  std::optional<length_choice> find_other(plan& layout) {
    const std::vector<chosen_length>& lengths = m_variant.lengths;
    const std::int64_t count = count_choices(lengths), tried = std::min(count, affordable_choices(layout));
    std::int64_t stride = count / 8 * 5 + 1;
    while (std::gcd(stride, count) != 1) ++stride;
    std::int64_t number = 0;
    for (std::int64_t i = 0; i < tried; ++i) {
      number = (number + stride) % count;
      const length_choice values = choice_at(lengths, number);
      if (is_compared(values) || is_below_minima(layout, values)) continue;
      const std::optional<variant_source> v = source_at(values);
      if (!v) continue;
      if (has_short_axes(values, v->g)) {
        if (raises_minima(layout, lengths, values, m_variant.refused_rows == nullptr)) continue;
        layout.short_choices.push_back(values);
        see_short(layout, values, v->g);
        continue;
      }
      value_borders own;
      const plan_of_choice other{values, plan_of(*v, own)};
      if (!same_borders(own, m_widest)) return values;
      require_alike(layout, other, lengths);
      if (!follows(layout, other)) return values;
    }
    layout.compared_choices = tried;
    for (auto* list : {&layout.short_choices, &layout.unknown_choices})
      list->erase(std::remove_if(list->begin(), list->end(),
                                 [&](const length_choice& values) { return is_below_minima(layout, values); }),
                  list->end());
    if (!layout.short_choices.empty()) require_shown_quotients(layout);
    return {};
  }

 private:
  /// The variant for some values of the lengths; nothing where steps cannot count so, or the model has nothing beyond
  /// the bounds.
  std::optional<variant_source> source_at(const length_choice& values) const {
    try {
      return m_variant.at(values);
    } catch (const impossible_count&) {
      return {};
    } catch (const error& e) {
      if (e.code == exit_code::refused && !are_within(m_variant.lengths, values)) return {};
      throw;
    }
  }

  /// How many values are lowered in about a minute, up to 2^18.
  static std::int64_t affordable_choices(const plan& p) {
    constexpr double seconds = 60, per_step = 30e-6, per_byte = 0.7e-9;  // measured on a core of 2026
    constexpr std::int64_t min_choices = 64, max_choices = 1 << 18;
    double bytes = 0;
    for (const plan_storage& s : p.storages) bytes += s.data ? static_cast<double>(s.data->size()) : 0.0;
    const double each = static_cast<double>(p.steps.size()) * per_step + bytes * per_byte;
    return std::clamp<std::int64_t>(std::llround(seconds / each), min_choices, max_choices);
  }

  /// Looks at the graph of a value for which nothing is lowered: it must be that of the bounds, or like graphs that are
  /// computed. Notes it as one of these where it is not, up to some number.
  void see_short(plan& layout, const length_choice& values, const graph& g) {
    constexpr std::size_t max_unknown = 16, min_computed = 3;
    if (m_alike && m_graphs.has(values, g)) return;
    const auto is_known = [&](graph_family& f) { return f.size() >= min_computed && f.has(values, g); };
    if (std::any_of(m_short_graphs.begin(), m_short_graphs.end(), is_known)) return;
    if (layout.unknown_choices.size() == max_unknown)
      refuse_length("with " + text_of(m_variant.lengths, values) + ", and " + std::to_string(max_unknown) +
                    " other values, an axis has one position or none, and the model has other nodes or numbers than " +
                    "for more of them. A larger minimum has no such axes");
    layout.unknown_choices.push_back(values);
    const auto takes = [&](graph_family& f) { return f.add(values, g); };
    if (std::none_of(m_short_graphs.begin(), m_short_graphs.end(), takes))
      m_short_graphs.emplace_back(m_variant.lengths, values, g);
  }

  bool is_compared(const length_choice& values) const {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i] != m_variant.lengths[i].bound)
        return std::any_of(m_others.begin(), m_others.end(),
                           [&](const plan_of_choice& o) { return o.values == values; });
    return true;
  }

  /// Whether an axis has one position, or none, that has more at the bounds. Lowering joins such axes with others: what
  /// the plan of the bounds does for more positions it does for one, where the graph computes the same there.
  bool has_short_axes(const length_choice& values, const graph& g) const {
    if (std::find(values.begin(), values.end(), 0) != values.end()) return true;
    return std::any_of(g.values.begin(), g.values.end(), [&](const value& v) {
      const auto found = m_shapes.find(v.name);
      if (found == m_shapes.end() || found->second->size() != v.shape.size()) return false;
      return !std::equal(v.shape.begin(), v.shape.end(), found->second->begin(),
                         [](std::int64_t n, std::int64_t bound) { return n > 1 || bound <= 1; });
    });
  }

  plan plan_of(const variant_source& v, value_borders& borders) const {
    program p = program_of(v, m_lowering.gpu ? byte_kernels::absent : byte_kernels::present, &m_variant.g);
    if (!m_lowering.gpu) read_before_shuffles(p);
    packed_weights packed(m_program, m_packed);
    plan layout = lower(p, m_lowering, &borders, &packed);
    share_constants(layout, m_bounds);
    return layout;
  }

  const program& m_program;
  const variant_source& m_variant;
  lower_options m_lowering;
  const compile_options& m_options;
  std::unordered_map<std::string, const shape_t*> m_shapes;  ///< of values at the bounds
  plan m_bounds;
  packed_weights m_packed;  ///< for the bounds
  std::vector<plan_of_choice> m_others;
  graph_family m_graphs;  ///< of the bounds and of the others
  bool m_alike = true;    ///< those have the same nodes
  std::vector<graph_family> m_short_graphs;
  value_borders m_bounds_borders, m_widest;
  std::vector<value_borders> m_borders;  ///< of the others
};

}

plan plan_of_lengths(const program& p, const variant_source& v, const lower_options& lowering,
                     const compile_options& options) {
  constexpr int max_rounds = 64;
  length_plans plans(p, v, lowering, options);
  const std::vector<length_choice> compared = compared_choices(v.lengths);
  for (std::size_t i = 1; i < compared.size(); ++i) plans.add(compared[i]);
  for (int round = 0; round < max_rounds; ++round) {
    plan layout = plans.joined();
    if (!options.compares_lengths) return layout;
    const std::optional<length_choice> other = plans.find_other(layout);
    if (!other) return layout;
    plans.add(*other);
  }
  refuse_length("the layout of some values differs from that of the others");
}

}
