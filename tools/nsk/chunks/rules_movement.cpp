// SPDX-License-Identifier: MIT
/// Operators that give elements other places, and keep the time axis apart.
#include <algorithm>

#include "chunks/rules.hpp"

namespace nsk::tool::chunks {
namespace {

/// The value after the last sample has no time axis to follow.
bool copied_latest(writer& w, const node& n) {
  if (w.of(n.inputs[0]).timed()) return false;
  w.give(ids_of(w, n), {relation::latest});
  return true;
}

void transpose(writer& w, const node& n) {
  if (copied_latest(w, n)) return;
  const flow& x = signal(w, n);
  std::vector<std::int64_t> order;
  for (std::size_t d = x.rank(); d-- > 0;) order.push_back(static_cast<std::int64_t>(d));
  order = n.integers("perm", order);
  course c = x.c;
  c.axis = static_cast<std::size_t>(std::find(order.begin(), order.end(), static_cast<std::int64_t>(x.c.axis)) -
                                    order.begin());
  w.give({x.id}, c);
}

[[noreturn]] void refuse_mixed(writer& w) {
  w.refuse("it joins the axis of the samples with others, or splits it. " + cure_of(w));
}

/// Where the time axis of `from` is in `to`: behind as many elements as before. `to` has `merged` of its elements for
/// each, or `split` of them are one.
struct place {
  std::size_t axis = 0;
  std::int64_t merged = 1, split = 1;
};
place place_of(writer& w, const shape_t& from, std::size_t axis, const shape_t& to) {
  const std::int64_t before = count_between(from, 0, axis), length = from[axis];
  for (std::size_t d = 0; d < to.size(); ++d) {
    if (count_between(to, 0, d) != before || to[d] == 1) continue;
    if (to[d] == length) return {d};
    if (to[d] > length && to[d] % length == 0) return {d, to[d] / length, 1};
    if (to[d] < length && length % to[d] == 0 && d + 1 < to.size() && to[d + 1] == length / to[d])
      return {d, 1, to[d + 1]};
    break;
  }
  refuse_mixed(w);
}

/// Whether the axes behind `axis` are those that its elements are merged of.
bool merges(const shape_t& from, std::size_t axis, std::int64_t merged) {
  std::int64_t count = 1;
  for (std::size_t d = axis + 1; d < from.size() && count < merged; ++d) count *= from[d];
  return count == merged;
}

void reshape(writer& w, const node& n) {
  if (copied_latest(w, n)) return;
  flow x = w.of(n.inputs[0]);
  const shape_t& to = w.source(n.outputs[0]).shape;
  const place p = place_of(w, w.source(n.inputs[0]).shape, x.c.axis, to);
  if (p.merged != 1 || p.split != 1) x = w.settled(x);
  if (!merges(w.source(n.inputs[0]).shape, x.c.axis, p.merged)) refuse_mixed(w);
  if (p.split != 1) {
    x = w.delayed(x, (p.split - x.c.late % p.split) % p.split);
    if (x.c.late > 0) w.note_ahead(x.c.late, x.c);
  }
  course c = x.c;
  c.axis = p.axis;
  c.up *= p.merged;
  c.down *= p.split;
  c.late = c.late * p.merged / p.split;
  reduce(c);
  std::vector<std::int64_t> target(to.begin(), to.end());
  target[p.axis] = -1;
  w.set(n.outputs[0], w.add("Reshape", {x.id, w.integers(target)}), c);
}

/// Repeats along axes other than that of the samples.
void tile(writer& w, const node& n) {
  if (copied_latest(w, n)) return;
  const flow& x = signal(w, n);
  if (integers_of(w, n, 1)[x.c.axis] != 1) w.refuse("it repeats the signal");
  keep_course(w, n);
}

void expand(writer& w, const node& n) {
  if (copied_latest(w, n)) return;
  const flow x = w.settled(signal(w, n));
  std::vector<std::int64_t> target = integers_of(w, n, 1);
  const std::size_t rank = w.source(n.outputs[0]).shape.size();
  course c = x.c;
  c.axis += rank - x.rank();
  if (const std::size_t own = c.axis + target.size(); own >= rank) target[own - rank] = 1;
  w.give({x.id, w.integers(target)}, c);
}

/// Each element several times, one after the other.
void resize(writer& w, const node& n) {
  const flow x = w.settled(signal(w, n));
  const shape_t &from = w.source(n.inputs[0]).shape, &to = w.source(n.outputs[0]).shape;
  if (!x.timed()) w.refuse("its operand is not the signal");
  const std::int64_t length = from[x.c.axis], factor = to[x.c.axis] / length;
  const std::string mode = n.text("coordinate_transformation_mode", n.op == "Upsample" ? "asymmetric" : "half_pixel"),
                    nearest = n.text("nearest_mode", n.op == "Upsample" ? "floor" : "round_prefer_floor");
  const bool repeats =
      (mode == "asymmetric" && nearest == "floor") || (mode == "half_pixel" && nearest == "round_prefer_floor");
  if (n.text("mode", "nearest") != "nearest" || factor * length != to[x.c.axis] || !repeats)
    w.refuse("along the signal it is known where it repeats each sample (nearest, a whole factor, asymmetric and " +
             std::string("floor, or half_pixel and round_prefer_floor). Export it so"));
  for (std::size_t d = 0; d < from.size(); ++d)
    if (d != x.c.axis && to[d] != from[d]) w.refuse("it changes several axes. Export a Resize for each");
  course c = x.c;
  c.up *= factor;
  c.late *= factor;
  reduce(c);
  std::vector<float> factors(x.rank(), 1);
  factors[x.c.axis] = static_cast<float>(factor);
  const value_id scales = w.constant(make_floats({static_cast<std::int64_t>(factors.size())}, factors));
  w.set(n.outputs[0],
        w.add("Resize", {x.id, no_value, scales},
              {{"mode", std::string("nearest")},
               {"coordinate_transformation_mode", std::string("asymmetric")},
               {"nearest_mode", std::string("floor")}}),
        c);
}

}

void add_movement_rules(rule_table& t) {
  t["Transpose"] = transpose;
  for (const char* op : {"Reshape", "Flatten", "Squeeze", "Unsqueeze"}) t[op] = reshape;
  t["Tile"] = tile;
  t["Expand"] = expand;
  t["Resize"] = t["Upsample"] = resize;
}

}
