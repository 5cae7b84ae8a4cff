// SPDX-License-Identifier: MIT
#include "lengths/follow.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>
#include <netsuke/format/length.hpp>
#include <netsuke/format/tiles.hpp>

#include "errors.hpp"
#include "lengths/number_terms.hpp"
#include "ops/every_op.hpp"
#include "write/params.hpp"

namespace nsk::tool {
namespace {

bool same_border(const halo& a, const halo& b) {
  return a.top == b.top && a.left == b.left && a.bottom == b.bottom && a.right == b.right;
}

std::int64_t number_of(const plan_tensor& t, int number) {
  if (number == impl::offset_number) return t.offset;
  if (number < impl::first_stride_number) return t.shape[static_cast<std::size_t>(number)];
  return t.strides[static_cast<std::size_t>(number - impl::first_stride_number)];
}

const plan_storage& storage_of(const plan& p, const plan_tensor& t) {
  return p.storages[static_cast<std::size_t>(t.storage)];
}
bool is_constant(const plan& p, const plan_tensor& t) { return storage_of(p, t).kind == storage_kind::constant; }

/// Whether two constants have the same elements in the positions that both have.
bool begin_alike(const plan& p, const plan_tensor& s, const plan& q, const plan_tensor& l) {
  const std::vector<std::byte>&from = *storage_of(p, s).data, &to = *storage_of(q, l).data;
  if (s.shape == l.shape && s.strides == l.strides && s.offset == l.offset && from == to) return true;
  if (s.arrangement != packing::plain) return false;
  std::vector<std::int32_t> shape = s.shape;
  std::int64_t count = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) count *= shape[d] = std::min(shape[d], l.shape[d]);
  const auto size = static_cast<std::size_t>(size_of(s.type));
  for (std::int64_t n = 0; n < count; ++n) {
    std::int64_t a = s.offset, b = l.offset, rest = n;
    for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) {
      a += rest % shape[d] * s.strides[d];
      b += rest % shape[d] * l.strides[d];
    }
    if (std::memcmp(&from[static_cast<std::size_t>(a) * size], &to[static_cast<std::size_t>(b) * size], size) != 0)
      return false;
  }
  return true;
}

/// Makes one plan of many.
class length_follower {
 public:
  length_follower(plan& p, const std::vector<chosen_length>& lengths, const std::vector<plan_of_choice>& others)
      : m_plan(p), m_chosen(lengths), m_terms(given(lengths), {}) {
    std::vector<number_series> values(lengths.size());
    for (std::size_t i = 0; i < lengths.size(); ++i) values[i].push_back(lengths[i].bound);
    for (const plan_of_choice& o : others) {
      if (has_one(o.values)) continue;
      m_others.push_back(&o);
      for (std::size_t i = 0; i < lengths.size(); ++i) values[i].push_back(o.values[i]);
    }
    m_terms = number_terms(given(lengths), std::move(values));
  }

  void run() {
    if (m_others.empty()) refuse_length("there is no other value to compare with");
    for (const plan_of_choice* o : m_others) compare(*o);
    for (int number = 0; number <= impl::offset_number; ++number) follow_all(number);
    for (const auto& [t, number] : m_open) static_cast<void>(follow(t, number, true));
    for (plan_tensor& t : m_plan.tensors)
      std::stable_sort(t.terms.begin(), t.terms.end(),
                       [](const plan_term& a, const plan_term& b) { return a.number < b.number; });
    m_plan.lengths = m_terms.lengths();
    for (plan_step& s : m_plan.steps) fit_step(s);
  }

 private:
  static std::vector<plan_length> given(const std::vector<chosen_length>& lengths) {
    std::vector<plan_length> result;
    for (const chosen_length& l : lengths) result.push_back({l.name, l.minimum, l.bound, l.step, 0, 1, 0, 0});
    return result;
  }

  /// Whether a length that can be longer is 1.
  bool has_one(const length_choice& values) const {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i] == 1 && m_chosen[i].bound > 1) return true;
    return false;
  }

  [[noreturn]] void refuse_length(const std::string& why) const {
    refuse("the lengths of --bound cannot be in one file: " + why + ". The plan must be the same for all of them. " +
           "Convert the model for the lengths that you need, one --variant each, or leave what changes to the game");
  }

  void compare(const plan_of_choice& o) const {
    const plan& q = o.layout;
    const std::string with = "with " + text_of(m_chosen, o.values) + " ";
    for (std::size_t i = 0; i < std::min(m_plan.steps.size(), q.steps.size()); ++i) {
      const plan_step &a = m_plan.steps[i], &b = q.steps[i];
      if (a.kind() != b.kind() || a.name != b.name || a.inputs != b.inputs || a.outputs != b.outputs)
        refuse_length(with + "the model has other steps from '" + b.name + "' on, where it has '" + a.name +
                      "' at the bound");
      if (params_bytes(a) != params_bytes(b))
        refuse_length(with + "step '" + a.name + "' has other parameters than at the bound");
    }
    if (m_plan.steps.size() != q.steps.size() || m_plan.tensors.size() != q.tensors.size() ||
        m_plan.storages.size() != q.storages.size())
      refuse_length(with + "the model has other steps than at the bound");
    for (std::size_t i = 0; i < q.tensors.size(); ++i) compare(m_plan.tensors[i], q, q.tensors[i], with);
  }

  void compare(const plan_tensor& a, const plan& q, const plan_tensor& b, const std::string& with) const {
    const bool alike = a.type == b.type && a.storage == b.storage && a.shape.size() == b.shape.size() &&
                       a.arrangement == b.arrangement && same_border(a.border, b.border) &&
                       storage_of(m_plan, a).kind == storage_of(q, b).kind;
    if (!alike) refuse_length(with + "'" + a.name + "' has another layout than at the bound");
    if (is_constant(m_plan, a) && !begin_alike(q, b, m_plan, a))
      refuse_length(with + "constant '" + a.name + "' has other numbers than at the bound");
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
    const auto rank = static_cast<int>(t.shape.size());
    const bool is_shape = number < impl::first_stride_number, is_offset = number == impl::offset_number;
    if (!is_offset && (is_shape ? number : number - impl::first_stride_number) >= rank) return true;
    if (!is_shape && is_constant(m_plan, t)) return true;
    number_series s = {number_of(t, number)};
    for (const plan_of_choice* o : m_others) s.push_back(number_of(o->layout.tensors[index], number));
    std::optional<std::vector<plan_term>> terms = m_terms.find(s);
    if (!terms) {
      const bool unused =
          !is_shape && !is_offset && t.shape[static_cast<std::size_t>(number - impl::first_stride_number)] == 1;
      if (unused) return true;
      if (!last) return false;
      refuse_length("how '" + t.name + "' " + (is_shape ? "grows" : "is laid out") +
                    " is no sum of products of lengths, or of lengths divided by a whole number");
    }
    if (!terms->empty() && storage_of(m_plan, t).kind == storage_kind::state)
      refuse_length("state '" + t.name + "' would have another size in each run. Keep it an input and an output with " +
                    "--no-states");
    for (plan_term term : *terms) {
      term.number = number;
      t.terms.push_back(term);
    }
    return true;
  }

  bool follows(const plan_step& s) const {
    const auto has_terms = [&](int t) { return !m_plan.tensor(t).terms.empty(); };
    return std::any_of(s.inputs.begin(), s.inputs.end(), has_terms) || has_terms(s.outputs[0]);
  }

  /// The shape of a tensor at the minima of all lengths.
  std::vector<std::int32_t> shortest(const plan_tensor& t) const {
    std::vector<std::int32_t> shape = t.shape;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      std::int64_t sum = 0;
      bool any = false;
      for (const plan_term& x : t.terms) {
        if (x.number != static_cast<int>(d)) continue;
        std::int64_t product = x.coefficient;
        for (const int l : {x.a, x.b, x.c})
          if (l != impl::no_length) product *= m_plan.lengths[static_cast<std::size_t>(l)].minimum;
        sum += product;
        any = true;
      }
      if (any) shape[d] = static_cast<std::int32_t>(sum);
    }
    return shape;
  }

  /// Gives a step tiles and scratch that do for all lengths.
  void fit_step(plan_step& s) {
    if (!follows(s) || s.inputs.empty()) return;
    const plan_tensor& y = m_plan.tensor(s.outputs[0]);
    if (s.kind() == op::recurrent) {
      s.tile.rows = 0;
      const tile_space space = tile_space_of(y.shape.data(), static_cast<int>(y.shape.size()));
      s.tile.count =
          static_cast<std::uint32_t>(tile_grid_of(space, {s.tile.rows, s.tile.pixels, s.tile.channels}).count());
    }
    plan_tensor& x = m_plan.tensor(s.inputs[0]);
    std::vector<std::int32_t> shape = shortest(x);
    shape.swap(x.shape);
    s.scratch_bytes = std::max(s.scratch_bytes, scratch_bytes_of(m_plan, s));
    shape.swap(x.shape);
    m_plan.lane_bytes = std::max(m_plan.lane_bytes, (s.scratch_bytes + 63) / 64 * 64);
  }

  plan& m_plan;
  const std::vector<chosen_length>& m_chosen;
  std::vector<const plan_of_choice*> m_others;
  number_terms m_terms;
  std::vector<std::pair<std::size_t, int>> m_open;  ///< numbers whose terms are not found yet
};

}

void follow_lengths(plan& p, const std::vector<chosen_length>& lengths, const std::vector<plan_of_choice>& others) {
  length_follower(p, lengths, others).run();
}

}
