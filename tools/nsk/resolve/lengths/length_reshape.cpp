// SPDX-License-Identifier: MIT
/// The readings of a Reshape (length_view.hpp).
#include <algorithm>

#include "resolve/lengths/length_view.hpp"

namespace nsk::tool {
namespace {

using list = std::vector<std::int64_t>;
constexpr std::size_t max_readings = 64;  // of one node

/// Whether axis `d` of `a` and axis `k` of `b`, shapes of as many elements, have places in common.
bool overlap(const shape_t& a, std::size_t d, const shape_t& b, std::size_t k) {
  const std::int64_t sa = stride_of(a, d), sb = stride_of(b, k);
  return a[d] > 1 && b[k] > 1 && std::max(sa, sb) < std::min(sa * a[d], sb * b[k]);
}

/// The axes of `b` longer than 1 that fill axis `d` of `a`, a shape of as many elements; empty where none do exactly.
std::vector<std::size_t> parts_of(const shape_t& a, std::size_t d, const shape_t& b) {
  const std::int64_t low = stride_of(a, d), high = low * a[d];
  std::vector<std::size_t> parts;
  std::int64_t length = 1;
  for (std::size_t k = 0; k < b.size(); ++k) {
    const std::int64_t stride = stride_of(b, k);
    if (b[k] < 2 || stride < low || stride * b[k] > high) continue;
    parts.push_back(k);
    length *= b[k];
  }
  return length == a[d] ? parts : std::vector<std::size_t>();
}

/// The length of axis `k` of a Reshape's result where any of the axes that it shares places with are scaled.
list scaled_lengths(const shape_t& was, const shape_t& now, const shape_t& made, std::size_t k) {
  std::vector<std::size_t> axes;
  for (std::size_t d = 0; d < was.size(); ++d)
    if (was[d] != now[d] && overlap(was, d, made, k)) axes.push_back(d);
  list found;
  for (std::size_t subset = std::size_t{1} << std::min<std::size_t>(axes.size(), 4); subset-- > 0;) {
    std::int64_t from = 1, to = 1;
    for (std::size_t i = 0; i < axes.size() && i < 4; ++i)
      if ((subset >> i & 1U) != 0) from *= was[axes[i]], to *= now[axes[i]];
    add_scaled(found, made[k], from, to);
  }
  return found;
}

bool shares_changed(const shape_t& was, const shape_t& now, const shape_t& made, std::size_t k) {
  for (std::size_t d = 0; d < was.size(); ++d)
    if (was[d] != now[d] && overlap(was, d, made, k)) return true;
  return false;
}

/// Lists with one length of each candidate list whose product is `count`; an empty list takes what the others leave.
void find_targets(const std::vector<list>& candidates, std::int64_t count, list& begin, std::vector<list>& found) {
  if (found.size() > max_readings) return;
  if (begin.size() == candidates.size()) {
    const auto open = std::find(begin.begin(), begin.end(), -1);
    if (open == begin.end() && count != 1) return;
    found.push_back(begin);
    if (open != begin.end()) found.back()[static_cast<std::size_t>(open - begin.begin())] = count;
    return;
  }
  if (candidates[begin.size()].empty()) {
    begin.push_back(-1);
    find_targets(candidates, count, begin, found);
    begin.pop_back();
    return;
  }
  for (const std::int64_t v : candidates[begin.size()]) {
    if (v <= 0 || count % v != 0) continue;
    begin.push_back(v);
    find_targets(candidates, count / v, begin, found);
    begin.pop_back();
  }
}

/// Whether the lengths that `from` was made into, `made`, and are made into now, `target`, end at the same places: a
/// first part of axes that had as many elements as a first part of the others still has.
bool keeps_places(const shape_t& was, const shape_t& now, const shape_t& made, const list& target) {
  std::int64_t a = 1, a_now = 1;
  for (std::size_t d = 0; d < was.size(); ++d) {
    a *= was[d];
    a_now *= now[d];
    std::int64_t b = 1, b_now = 1;
    bool ends = false, same = false;
    for (std::size_t k = 0; k < made.size(); ++k) {
      b *= made[k];
      b_now *= target[k];
      ends = ends || a == b;
      same = same || (a == b && a_now == b_now);
    }
    if (ends && !same) return false;
  }
  return true;
}

/// What a length of the target becomes where it is that of an axis, wherever this is.
list equal_lengths(const shape_t& was, const shape_t& now, std::int64_t length) {
  list lengths;
  for (std::size_t d = 0; d < was.size(); ++d)
    if (was[d] == length && was[d] > 1) add_once(lengths, now[d]);
  add_once(lengths, length);
  return lengths;
}

void add_each_once(std::vector<list>& to, const std::vector<list>& from) {
  for (const list& l : from)
    if (std::find(to.begin(), to.end(), l) == to.end()) to.push_back(l);
}

/// A Reshape that takes an axis apart into lengths that were merged into such an axis gives these again, in an order
/// in which they have the source's lengths.
void take_apart(const length_view& view, const shape_t& was, const shape_t& now, const shape_t& made,
                const list& target, std::vector<list>& lengths) {
  for (std::size_t d = 0; d < was.size(); ++d) {
    const auto known = view.merges.find({was[d], now[d]});
    const std::vector<std::size_t> parts = parts_of(was, d, made);
    if (was[d] == now[d] || known == view.merges.end() || parts.size() < 2) continue;
    std::vector<list> found(made.size());
    for (const merged_axes& m : known->second) {
      std::vector<std::size_t> order(m.was.size());
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
      if (order.size() != parts.size() || order.size() > 4) continue;
      do {
        bool fits = true;
        for (std::size_t i = 0; i < parts.size(); ++i) fits = fits && m.was[order[i]] == made[parts[i]];
        for (std::size_t i = 0; i < parts.size() && fits; ++i) add_once(found[parts[i]], m.now[order[i]]);
      } while (std::next_permutation(order.begin(), order.end()));
    }
    const bool open = std::any_of(parts.begin(), parts.end(), [&](std::size_t k) { return target[k] == -1; });
    if (found[parts[0]].empty() || open) continue;
    for (const std::size_t k : parts) lengths[k] = found[k];
  }
}

/// What length `k` of the target may become where elements keep their order: it follows the axes that it shares places
/// with, or is equal to another length that changed.
list ordered_lengths(const changed_lengths& all, const shape_t& was, const shape_t& now, const shape_t& made,
                     std::size_t k) {
  list lengths = scaled_lengths(was, now, made, k);
  if (was == now || shares_changed(was, now, made, k)) add_all(lengths, all.of(made[k]));
  add_once(lengths, made[k]);
  for (std::size_t d = 0; d < was.size(); ++d)
    if (was[d] != now[d] && (made[k] == 1 || overlap(was, d, made, k))) add_shares(lengths, made[k], was[d], now[d]);
  return lengths;
}

/// The readings with targets that fit, of which `ordered` and `mixed` have the candidates.
std::vector<reading> targets_of(length_view& view, const node& n, const length_literal& to,
                                const std::vector<list>& ordered, const std::vector<list>& mixed,
                                const std::array<shape_t, 3>& shapes) {
  const auto& [was, now, made] = shapes;
  std::vector<list> targets, others;
  list begin;
  find_targets(ordered, count_of(now), begin, targets);
  const bool too_many = targets.size() > max_readings;
  const auto moves = [&, &w = was, &i = now, &m = made](const list& target) { return !keeps_places(w, i, m, target); };
  targets.erase(std::remove_if(targets.begin(), targets.end(), moves), targets.end());
  find_targets(mixed, count_of(now), begin, others);
  add_each_once(targets, others);
  if (was == now && targets.size() == 1) return {};
  if (targets.empty() || too_many || targets.size() > max_readings)
    view.give_up(n, "its input was " + to_string(was) + " and is " + to_string(now) +
                        ", and it does not follow what becomes of its target " + to_string(made));
  std::vector<reading> found;
  for (const list& target : targets) found.push_back({to.with(target)});
  return found;
}

}

void note_merges(length_view& view, const node& n) {
  shape_t was, now, made, makes;
  if ((n.op != "Reshape" && n.op != "Flatten") || view.before(n.outputs[0]) == nullptr ||
      !view.shapes_of(n.inputs[0], was, now) || !view.shapes_of(n.outputs[0], made, makes))
    return;
  for (std::size_t k = 0; k < made.size(); ++k) {
    merged_axes m;
    for (const std::size_t d : parts_of(made, k, was)) m.was.push_back(was[d]), m.now.push_back(now[d]);
    if (made[k] != makes[k] && m.was.size() > 1 && count_of(m.now) == makes[k])
      view.merges[{made[k], makes[k]}].push_back(m);
  }
}

/// A Reshape keeps the order of elements, or mixes them, where lengths of the target are equal to those of the operand.
std::vector<reading> read_reshape(length_view& view, const node& n) {
  shape_t was, now;
  const length_literal to = view.integers(n, 1, "shape");
  if (view.trial().rows) return place_rows(view, n, to);
  const value* made = view.before(n.outputs[0]);
  if (!to.known || !view.shapes_of(n.inputs[0], was, now) || made == nullptr || made->shape.size() != to.now.size() ||
      count_of(now) == 0)
    return {};
  const bool copies = n.integer("allowzero", 0) == 0;
  std::vector<list> ordered(to.now.size()), mixed(to.now.size());
  for (std::size_t k = 0; k < to.now.size(); ++k) {
    const std::int64_t number = to.now[k] == 0 && copies && k < now.size() ? now[k] : to.now[k];
    if (to.now[k] <= 0 || !to.is_own(k)) {
      if (number > 0) ordered[k] = mixed[k] = {number};
      continue;
    }
    ordered[k] = ordered_lengths(view.lengths(), was, now, made->shape, k);
    mixed[k] = equal_lengths(was, now, made->shape[k]);
  }
  take_apart(view, was, now, made->shape, to.now, ordered);
  return targets_of(view, n, to, ordered, mixed, {was, now, made->shape});
}

}
