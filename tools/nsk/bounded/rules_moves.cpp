// SPDX-License-Identifier: MIT
/// Operators that move or repeat elements.
#include <algorithm>
#include <limits>

#include "bounded/fill.hpp"
#include "reference/operators.hpp"

namespace nsk::tool::bounded {

std::vector<slice_part> slice_parts(const interpretation& r) {
  std::vector<amount> lists[2];
  std::vector<i64> axes, steps;
  if (r.op().version < 10) {
    for (const std::size_t i : {0, 1})
      for (const i64 v : r.op().integers(i == 0 ? "starts" : "ends")) lists[i].push_back(number(v));
    axes = r.op().integers("axes");
  } else {
    lists[0] = r.numbers(1);
    lists[1] = r.numbers(2);
    if (r.has(3)) axes = r.constants(3);
    if (r.has(4)) steps = r.constants(4);
  }
  std::vector<slice_part> parts;
  for (std::size_t i = 0; i < lists[0].size() && i < lists[1].size(); ++i) {
    const std::size_t axis = i < axes.size() ? r.axis(axes[i], r.rank(0)) : i;
    const amount length = r.axes(0)[axis];
    slice_part p{axis, lists[0][i], lists[1][i], i < steps.size() ? steps[i] : 1};
    if (p.end.varies() && r.known_counts().low(p.end) < 0)
      r.refuse("what is taken ends at a place that may be counted from the end");
    for (amount* a : {&p.start, &p.end}) {
      if (a->varies() || a->plus >= 0) continue;
      const std::optional<amount> from_end = added(length, *a, 1);
      *a = p.step > 0 && from_end ? *from_end : *a;
    }
    if (p.step > 0 && !length.varies())
      for (amount* a : {&p.start, &p.end})
        if (!a->varies()) a->plus = std::clamp<i64>(a->plus, 0, length.plus);
    parts.push_back(p);
  }
  return parts;
}

void fill_with_constants(filler& f) {
  std::vector<value_id> inputs = f.op().inputs;
  for (value_id& v : inputs)
    if (const auto a = v == no_value ? nullptr : f.known().maximum_of(f.op(), v)) v = f.constant(*a);
  f.place_with(inputs);
}

namespace {

i64 product_of(const shape_t& s, std::size_t first, std::size_t last) {
  i64 p = 1;
  for (std::size_t d = first; d < last; ++d) p *= s[d];
  return p;
}

std::vector<i64> axes_list(const interpretation& r, std::size_t rank) {
  std::vector<i64> axes = r.op().integers("axes");
  if (r.has(1)) axes = r.constants(1);
  for (i64& a : axes) a = static_cast<i64>(r.axis(a, rank));
  std::sort(axes.begin(), axes.end());
  return axes;
}

/// The only axis that varies; refuses several.
std::size_t varying_axis(const interpretation& r, const std::vector<amount>& axes, const char* why) {
  std::size_t found = axes.size();
  for (std::size_t d = 0; d < axes.size(); ++d) {
    if (!axes[d].varies()) continue;
    if (found != axes.size()) r.refuse(why);
    found = d;
  }
  return found;
}

/// Elements in the same order in another shape: axis `from` of the operand becomes axis `to` of the result, with what
/// is behind it in the one or the other.
void reshape_axis(interpretation& r, std::size_t from, std::size_t to) {
  const shape_t &x = r.shape(0), &y = r.out_shape();
  const i64 inner_x = product_of(x, from + 1, x.size()), inner_y = product_of(y, to + 1, y.size());
  const std::optional<amount> elements = product(r.axes(0)[from], number(inner_x)),
                              made = elements && inner_y != 0 ? quotient(*elements, inner_y) : std::nullopt;
  if (!made || product_of(x, 0, from) != product_of(y, 0, to)) r.refuse(0, "they are merged with other elements");
  std::vector<amount> axes = whole(y);
  axes[to] = *made;
  r.result(0, axes, r.picks(0));
}

void follow_transpose(interpretation& r) {
  const std::vector<amount> from = r.axes(0);
  const std::vector<i64> order = r.op().integers("perm");
  std::vector<amount> axes;
  for (std::size_t d = 0; d < from.size(); ++d)
    axes.push_back(from[order.empty() ? from.size() - 1 - d : r.axis(order[d], from.size())]);
  r.result(0, axes, r.picks(0));
}

void follow_squeeze(interpretation& r) {
  const std::vector<amount> from = r.axes(0);
  const std::vector<i64> gone = axes_list(r, from.size());
  std::vector<amount> axes;
  for (std::size_t d = 0; d < from.size(); ++d) {
    const bool goes =
        gone.empty() ? r.shape(0)[d] == 1 : std::count(gone.begin(), gone.end(), static_cast<i64>(d)) != 0;
    if (goes && from[d].varies()) r.refuse(0, "it takes for granted that there is one");
    if (!goes) axes.push_back(from[d]);
  }
  r.result(0, axes, r.picks(0));
}

void follow_unsqueeze(interpretation& r) {
  std::vector<amount> axes = r.axes(0);
  for (const i64 a : axes_list(r, r.out_shape().size())) axes.insert(axes.begin() + a, number(1));
  r.result(0, axes, r.picks(0));
}

/// The axis of the result that has them: the one whose length says so, or else the one that is open.
std::size_t target_axis(const interpretation& r, const std::vector<amount>& target) {
  const std::vector<amount> from = r.axes(0);
  const bool copies = r.op().integer("allowzero", 0) == 0;
  std::size_t found = target.size(), open = target.size();
  for (std::size_t d = 0; d < target.size(); ++d) {
    const bool copied = copies && target[d] == number(0) && d < from.size() && from[d].varies();
    if (target[d] == number(-1)) open = d;
    if (!target[d].varies() && !copied) continue;
    if (found != target.size()) r.refuse("several axes of the result are to have them");
    found = d;
  }
  return found != target.size() ? found : open;
}

void follow_reshape(interpretation& r) {
  const std::vector<amount> target = r.numbers(1), from = r.axes(0);
  const std::size_t axis = varying_axis(r, from, "several of its axes have as many elements as were chosen"),
                    to = target_axis(r, target);
  if (axis == from.size() || to == target.size()) r.refuse("a constant says how many elements the result has");
  reshape_axis(r, axis, to);
  if (target[to].varies() && r.axes_of_result(0)[to] != target[to])
    r.refuse("its shape and its elements are of different numbers");
}

void follow_flatten(interpretation& r) {
  const std::vector<amount> from = r.axes(0);
  const i64 given = r.op().integer("axis", 1), split = given < 0 ? given + static_cast<i64>(from.size()) : given;
  const std::size_t axis = varying_axis(r, from, "several of its axes have as many elements as were chosen");
  reshape_axis(r, axis, static_cast<i64>(axis) < split ? 0 : 1);
}

void follow_concat(interpretation& r) {
  const std::size_t rank = r.out_shape().size(), along = r.axis(r.op().integer("axis", 1), rank);
  std::vector<amount> axes, parts;
  bool picks = true;
  for (std::size_t d = 0; d < rank; ++d) {
    for (std::size_t i = 0; i < r.input_count(); ++i) {
      const amount mine = r.axes(i)[d];
      if (d == along) {
        parts.push_back(mine);
      } else if (i == 0) {
        axes.push_back(mine);
      } else if (mine != axes[d]) {
        r.refuse("it is joined with another number of rows");
      }
      picks = picks && r.picks(i);
    }
    if (d == along) axes.push_back(r.known_counts().sum(parts));
  }
  r.result(0, axes, picks);
}

void follow_split(interpretation& r) {
  const std::vector<amount> from = r.axes(0);
  const std::size_t along = r.axis(r.op().integer("axis", 0), from.size());
  if (from[along].varies()) r.refuse(0, "they are split into parts of fixed lengths");
  for (std::size_t o = 0; o < r.op().outputs.size(); ++o) {
    if (!r.wants(o)) continue;
    std::vector<amount> axes = from;
    axes[along] = number(r.out_shape(o)[along]);
    r.result(o, axes, r.picks(0));
  }
}

void follow_slice(interpretation& r) {
  std::vector<amount> axes = r.axes(0);
  counts& c = r.known_counts();
  for (const slice_part& p : slice_parts(r)) {
    const amount length = axes[p.axis];
    if (!length.varies() && !p.start.varies() && !p.end.varies()) {
      axes[p.axis] = number(r.out_shape()[p.axis]);
      continue;
    }
    if (p.step != 1) r.refuse("they are taken in steps of " + std::to_string(p.step));
    if (p.start.varies()) r.refuse("what is taken begins at a place that depends on their number");
    const std::optional<amount> same_end = length == p.end ? std::optional<amount>(length) : std::nullopt;
    amount end = p.end;
    if (same_end || c.low(p.end) >= c.high(length))
      end = length;
    else if (!p.end.varies())
      end = c.clamped(length, c.low(length), p.end.plus);
    else if (!length.varies())
      end = c.clamped(p.end, 0, length.plus);
    else if (const auto left = added(length, p.end, -1); !left || left->varies() || left->plus < 0)
      r.refuse("what is taken ends at a place that is none of theirs");
    const std::optional<amount> taken = added(end, p.start, -1);
    if (!taken) r.refuse("what is taken depends on several numbers");
    axes[p.axis] = c.clamped(*taken, 0, std::numeric_limits<i64>::max());
  }
  r.result(0, axes, r.picks(0));
}

/// Elements that Pad adds before and behind each axis.
struct pad_widths {
  std::vector<i64> before;
  std::vector<amount> after;
};

pad_widths pads_of(const interpretation& r) {
  const std::size_t rank = r.rank(0);
  pad_widths p{std::vector<i64>(rank, 0), std::vector<amount>(rank, number(0))};
  std::vector<amount> given;
  if (r.op().version < 11)
    for (const i64 v : r.op().integers("pads")) given.push_back(number(v));
  else
    given = r.numbers(1);
  std::vector<i64> axes;
  if (r.has(3)) axes = r.constants(3);
  const std::size_t count = given.size() / 2;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t axis = axes.empty() ? i : r.axis(axes.at(i), rank);
    if (given[i].varies()) r.refuse("a pad before the first depends on their number");
    p.before[axis] = given[i].plus;
    p.after[axis] = given[count + i];
  }
  return p;
}

void follow_pad(interpretation& r) {
  std::vector<amount> axes = r.axes(0);
  const pad_widths pads = pads_of(r);
  for (std::size_t d = 0; d < axes.size(); ++d) {
    const bool moves = pads.before[d] != 0 || pads.after[d] != number(0);
    if (moves && (axes[d].varies() || pads.after[d].varies())) {
      if (r.op().text("mode", "constant") != "constant") r.refuse("the pads repeat elements");
      if (pads.before[d] < 0 || (!pads.after[d].varies() && pads.after[d].plus < 0))
        r.refuse("a negative pad takes some of them away");
      if (r.has(2) && count_of(r.shape(2)) != 1) r.refuse("the pads have no value");
    }
    const std::optional<amount> all = added(axes[d], pads.after[d], 1),
                                made = all ? added(*all, number(pads.before[d]), 1) : std::nullopt;
    if (!made) r.refuse("a pad depends on another number");
    if (made->varies() && pads.after[d].varies() && r.known_counts().low(pads.after[d]) < 0)
      r.refuse("a pad may be negative");
    axes[d] = *made;
    if (!made->varies() && made->plus != r.out_shape()[d]) r.refuse("a pad depends on another number");
  }
  r.result(0, axes);
}

void follow_tile(interpretation& r) {
  std::vector<amount> axes = r.axes(0);
  if (r.op().version < 6) r.refuse("Tile of opset 1 is not supported behind them");
  const std::vector<amount> repeats = r.numbers(1);
  for (std::size_t d = 0; d < axes.size() && d < repeats.size(); ++d) {
    if (axes[d].varies() && repeats[d] != number(1)) r.refuse("they are repeated one behind the other");
    axes[d] = axes[d].varies() ? axes[d] : *product(axes[d], repeats[d]);
  }
  r.result(0, axes);
}

void follow_expand(interpretation& r) {
  const std::vector<amount> target = r.numbers(1), from = r.axes(0);
  const std::size_t rank = r.out_shape().size();
  std::vector<amount> axes;
  for (std::size_t d = 0; d < rank; ++d) {
    const amount a = d + from.size() < rank ? number(1) : from[d + from.size() - rank],
                 b = d + target.size() < rank ? number(1) : target[d + target.size() - rank];
    if (a == b || b == number(1))
      axes.push_back(a);
    else if (a == number(1))
      axes.push_back(b);
    else if (a.varies() || b.varies())
      r.refuse("they are to be as many as something else");
    else
      axes.push_back(number(r.out_shape()[d]));
  }
  r.result(0, axes);
}

/// Where unused elements come before others, the used ones are moved together.
void fill_concat(filler& f) {
  const node& n = f.op();
  const std::size_t axis = f.at().axis(n.integer("axis", 1), f.at().out_shape().size());
  bool ends = false, gap = false;
  for (std::size_t i = 0; i < n.inputs.size(); ++i) {
    gap = gap || ends;
    ends = ends || f.at().axes(i)[axis].varies();
  }
  if (!gap) return f.place(n);
  std::vector<value_id> masks;
  for (std::size_t i = 0; i < n.inputs.size(); ++i) {
    const i64 length = f.made(n.inputs[i]).shape[axis];
    masks.push_back(f.is_used(f.at().axes(i)[axis], length, 0, 1));
  }
  const value_id all = f.emit("Concat", n.inputs, {{"axis", static_cast<i64>(axis)}}),
                 used = f.emit("Concat", masks, {{"axis", i64{0}}});
  f.emit("Compress", {all, used},
         {{"axis", static_cast<i64>(axis)}, {reference::suppression_bound, f.at().out_shape()[axis]}}, n.outputs[0]);
}

/// Places behind the last used one hold what is padded with.
void fill_pad(filler& f) {
  const node& n = f.op();
  const pad_widths pads = pads_of(f.at());
  std::vector<bool> padded(f.at().rank(0), false);
  for (std::size_t d = 0; d < padded.size(); ++d) padded[d] = pads.before[d] != 0 || pads.after[d] != number(0);
  std::vector<value_id> inputs = n.inputs;
  if (f.varies(inputs[0], padded)) {
    value_id other = f.at().has(2) ? f.reshaped(inputs[2], {}) : f.neutral_of(f.made(inputs[0]).type, neutral::zero);
    if (n.version < 11) {
      array a(f.made(inputs[0]).type, {});
      a.set(0, static_cast<double>(n.number("value", 0)));
      other = f.constant(std::move(a));
    }
    inputs[0] = f.masked(inputs[0], padded, other);
  }
  if (const auto a = n.version < 11 ? nullptr : f.known().maximum_of(n, inputs[1])) inputs[1] = f.constant(*a);
  f.place_with(inputs);
}

}

void add_move_rules(rule_table& t) {
  t["Transpose"] = {follow_transpose};
  t["Squeeze"] = {follow_squeeze};
  t["Unsqueeze"] = {follow_unsqueeze};
  t["Reshape"] = {follow_reshape, fill_with_constants};
  t["Flatten"] = {follow_flatten};
  t["Concat"] = {follow_concat, fill_concat};
  t["Split"] = {follow_split};
  t["Slice"] = {follow_slice, fill_with_constants};
  t["Pad"] = {follow_pad, fill_pad};
  t["Tile"] = {follow_tile, fill_with_constants};
  t["Expand"] = {follow_expand, fill_with_constants};
}

}
