// SPDX-License-Identifier: MIT
#include "lengths/follow.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>
#include <netsuke/format/tiles.hpp>

#include "lengths/number_terms.hpp"
#include "ops/every_op.hpp"

namespace nsk::tool {
namespace {

/// Makes one plan of many.
class length_follower {
 public:
  length_follower(plan& p, const std::vector<chosen_length>& lengths, const std::vector<plan_of_choice>& others)
      : m_plan(p), m_chosen(lengths), m_others(others), m_terms(lengths, choices(lengths, others)) {}

  void run() {
    if (m_others.empty()) refuse_length("there is no other value to compare with");
    for (const plan_of_choice& o : m_others) require_alike(m_plan, o, m_chosen);
    for (int number = 0; number <= impl::offset_number; ++number) follow_all(number);
    for (const auto& [t, number] : m_open) static_cast<void>(follow(t, number, true));
    for (plan_tensor& t : m_plan.tensors) order(t);
    m_plan.lengths = m_terms.lengths();
    for (std::size_t i = 0; i < m_chosen.size(); ++i)
      if (m_chosen[i].counted) m_plan.lengths[i].counted = tensor_of_output(m_chosen[i].name);
    for (const plan_length& l : m_plan.lengths) m_minima.push_back(l.minimum);
    for (plan_step& s : m_plan.steps) fit_step(s);
  }

 private:
  static std::vector<length_choice> choices(const std::vector<chosen_length>& lengths,
                                            const std::vector<plan_of_choice>& others) {
    std::vector<length_choice> result = {bounds_of(lengths)};
    for (const plan_of_choice& o : others) result.push_back(o.values);
    return result;
  }

  /// Puts terms in the order of their numbers.
  void order(plan_tensor& t) const {
    std::vector<plan_term> ordered;
    for (int number = 0; number <= impl::offset_number; ++number) {
      std::vector<plan_term> own;
      std::copy_if(t.terms.begin(), t.terms.end(), std::back_inserter(own),
                   [&](const plan_term& x) { return x.number == number; });
      own = m_terms.shortened(own);
      ordered.insert(ordered.end(), own.begin(), own.end());
    }
    t.terms = std::move(ordered);
  }

  int tensor_of_output(const std::string& name) const {
    for (const plan_port& o : m_plan.outputs)
      if (o.name == name) return o.tensor;
    refuse_length("there is no output '" + name + "', which a step counts");
  }

  /// Finds the terms of one number of all tensors. What is made of lengths that follow from others is found when those
  /// have been met.
  void follow_all(int number) {
    std::vector<std::size_t> open(m_plan.tensors.size());
    std::iota(open.begin(), open.end(), std::size_t{0});
    for (std::size_t before = open.size() + 1; open.size() < before;) {
      before = open.size();
      std::vector<std::size_t> left;
      for (const std::size_t t : open)
        if (!follow(t, number, false)) left.push_back(t);
      open = std::move(left);
    }
    for (const std::size_t t : open) m_open.emplace_back(t, number);
  }

  /// Finds the terms of one number of one tensor. Those of constants stay: elements are where the bounds have them.
  bool follow(std::size_t index, int number, bool last) {
    plan_tensor& t = m_plan.tensors[index];
    const bool is_shape = number < impl::first_stride_number, is_offset = number == impl::offset_number;
    if (!has_number(t, number)) return true;
    if (!is_shape && is_constant(m_plan, t)) return true;
    number_series s = {number_of(t, number)};
    for (const plan_of_choice& o : m_others) s.push_back(number_of(o.layout.tensors[index], number));
    std::optional<std::vector<plan_term>> terms = m_terms.find(s);
    if (!terms) {
      const bool unused =
          !is_shape && !is_offset && t.shape[static_cast<std::size_t>(number - impl::first_stride_number)] == 1;
      if (unused) return true;
      if (!last) return false;
      refuse_length("how '" + t.name + "' " + (is_shape ? "grows" : "is laid out") +
                    " is no sum of products of lengths, or of lengths divided by a whole number");
    }
    if (!terms->empty() && m_plan.storages[static_cast<std::size_t>(t.storage)].kind == storage_kind::state)
      refuse_length("state '" + t.name + "' would have another size in each run. Keep it an input and an output with " +
                    "--no-states");
    for (plan_term term : *terms) {
      term.number = number;
      t.terms.push_back(term);
    }
    return true;
  }

  bool has_lengths(const plan_step& s) const {
    const auto has_terms = [&](int t) { return !m_plan.tensor(t).terms.empty(); };
    return std::any_of(s.inputs.begin(), s.inputs.end(), has_terms) || has_terms(s.outputs[0]);
  }

  /// Gives a step tiles and scratch that do for all lengths.
  void fit_step(plan_step& s) {
    if (!has_lengths(s) || s.inputs.empty()) return;
    const plan_tensor& y = m_plan.tensor(s.outputs[0]);
    if (s.kind() == op::recurrent) {
      s.tile.rows = 0;
      const tile_space space = tile_space_of(y.shape.data(), static_cast<int>(y.shape.size()));
      s.tile.count =
          static_cast<std::uint32_t>(tile_grid_of(space, {s.tile.rows, s.tile.pixels, s.tile.channels}).count());
    }
    plan_tensor& x = m_plan.tensor(s.inputs[0]);
    std::vector<std::int32_t> shape = x.shape;
    for (std::size_t d = 0; d < shape.size(); ++d)
      shape[d] = std::max(static_cast<std::int32_t>(number_at(x, static_cast<int>(d), m_minima)), 1);
    shape.swap(x.shape);
    s.scratch_bytes = std::max(s.scratch_bytes, scratch_bytes_of(m_plan, s));
    shape.swap(x.shape);
    m_plan.lane_bytes = std::max(m_plan.lane_bytes, (s.scratch_bytes + 63) / 64 * 64);
  }

  plan& m_plan;
  const std::vector<chosen_length>& m_chosen;
  const std::vector<plan_of_choice>& m_others;
  number_terms m_terms;
  std::vector<std::int64_t> m_minima;               ///< of all lengths
  std::vector<std::pair<std::size_t, int>> m_open;  ///< numbers whose terms are not found yet
};

}

void follow_lengths(plan& p, const std::vector<chosen_length>& lengths, const std::vector<plan_of_choice>& others) {
  length_follower(p, lengths, others).run();
}

}
