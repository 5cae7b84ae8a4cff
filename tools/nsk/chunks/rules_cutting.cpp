// SPDX-License-Identifier: MIT
/// Operators that cut values, and put them together.
#include <algorithm>
#include <limits>

#include "chunks/rules.hpp"

namespace nsk::tool::chunks {
namespace {

/// What a Slice takes of one axis.
struct range {
  std::size_t axis;
  std::int64_t from, to, step;
};

std::vector<range> ranges_of(writer& w, const node& n, const shape_t& shape) {
  const bool old = n.version < 10;
  const std::vector<std::int64_t> from = old ? n.integers("starts") : integers_of(w, n, 1),
                                  to = old ? n.integers("ends") : integers_of(w, n, 2),
                                  axes = old ? n.integers("axes") : integers_of(w, n, 3),
                                  steps = old ? std::vector<std::int64_t>() : integers_of(w, n, 4);
  std::vector<range> ranges;
  for (std::size_t i = 0; i < from.size(); ++i)
    ranges.push_back({axis_of(axes.empty() ? static_cast<std::int64_t>(i) : axes[i], shape.size()), from[i], to[i],
                      steps.empty() ? 1 : steps[i]});
  return ranges;
}

/// The part of a signal that begins at `r.from`: the first elements are left out, or all but the last.
flow cut(writer& w, const range& r, flow x, std::int64_t length, std::int64_t taken) {
  if (r.step < 0) refuse_whole(w, "it reverses the signal");
  const std::int64_t from = std::clamp<std::int64_t>(r.from < 0 ? r.from + length : r.from, 0, length);
  if (taken == 1 && from == length - 1 && r.step == 1) {
    x = w.settled(x);
    if (x.c.late != 0) w.refuse("it takes the last element of a signal that is late");
    x.id = w.part(x.id, r.axis, -1, std::numeric_limits<std::int64_t>::max());
    x.c = {relation::latest};
    return x;
  }
  x = w.cropped(x, from);
  if (r.step == 1) return x;
  flow seen = w.windowed(x, 1, r.step);
  seen.id = w.part(seen.id, r.axis, 0, std::numeric_limits<std::int64_t>::max(), r.step);
  return seen;
}

void slice(writer& w, const node& n) {
  flow x = signal(w, n);
  const shape_t &shape = w.source(n.inputs[0]).shape, &to = w.source(n.outputs[0]).shape;
  for (const range& r : ranges_of(w, n, shape)) {
    if (x.timed() && r.axis == x.c.axis)
      x = cut(w, r, x, shape[r.axis], to[r.axis]);
    else
      x.id = w.part(x.id, r.axis, r.from, r.to, r.step);
  }
  w.set(n.outputs[0], x.id, x.c);
}

/// A position along another axis, or the last sample.
void gather(writer& w, const node& n) {
  const flow &data = w.of(n.inputs[0]), &places = w.of(n.inputs[1]);
  const std::size_t axis = axis_of(n.integer("axis", 0), data.rank());
  if (data.timed() && data.c.axis == axis) {
    const flow x = w.settled(signal(w, n));
    const std::int64_t length = w.source(n.inputs[0]).shape[axis];
    const std::vector<std::int64_t> at = integers_of(w, n, 1);
    const bool last = at.size() == 1 && places.rank() < 2 && (at[0] == -1 || at[0] == length - 1);
    if (!last) w.refuse("it takes samples at places of its own");
    if (x.c.late != 0) w.refuse("it takes the last element of a signal that is late");
    return w.give({x.id, places.rank() == 0 ? w.number(-1, element::i64) : w.integers({-1})}, {relation::latest});
  }
  if (data.timed() == places.timed()) {
    if (data.timed()) w.refuse("it takes samples from places that another signal says");
    return w.give(ids_of(w, n), {relation::latest});
  }
  if ((data.timed() ? places : data).c.how == relation::latest)
    refuse_whole(w, "it joins samples with what is known after the last one");
  const flow x = w.settled(data.timed() ? data : places);
  course c = x.c;
  if (places.timed())
    c.axis += axis;
  else if (x.c.axis > axis)
    c.axis = x.c.axis - 1 + places.rank();
  std::vector<value_id> ids = ids_of(w, n);
  ids[data.timed() ? 0 : 1] = x.id;
  w.give(ids, c);
}

/// Whether all elements of a constant are one number.
bool is_plain(const value& v) {
  for (std::int64_t i = 0; v.constant && i < v.constant->count(); ++i)
    if (v.constant->number(i) != v.constant->number(0)) return false;
  return v.constant && v.constant->count() > 0;
}

/// Constants in front of the signal and behind it, along its axis: what an exporter writes in place of a Pad.
void extend(writer& w, const node& n, std::size_t axis) {
  flow x;
  std::int64_t count = 0;
  double with = 0;
  for (const value_id v : n.inputs) {
    const flow& f = w.of(v);
    const bool first = x.id == no_value;
    if (f.timed() && first) {
      x = w.padded(f, count, with);
    } else if (f.c.how != relation::still || !is_plain(w.source(v)) ||
               (first && count > 0 && w.source(v).constant->number(0) != with)) {
      w.refuse("it puts the signal behind other values. " + cure_of(w));
    } else if (first) {
      count += w.source(v).shape[axis];
      with = w.source(v).constant->number(0);
    }
  }
  w.set(n.outputs[0], x.id, x.c);
}

void concat(writer& w, const node& n) {
  const std::size_t axis = axis_of(n.integer("axis", 0), w.source(n.outputs[0]).shape.size());
  std::vector<flow> operands;
  const flow* timed = nullptr;
  for (const value_id v : n.inputs) operands.push_back(w.of(v));
  for (const flow& f : operands)
    if (f.timed()) timed = &f;
  if (timed == nullptr) return w.give(ids_of(w, n), {relation::latest});
  if (timed->c.axis == axis) return extend(w, n, axis);
  for (const flow& f : operands)
    if (!f.timed() || f.c.axis != timed->c.axis || f.c.up != timed->c.up || f.c.down != timed->c.down)
      w.refuse("it joins the signal with values that do not have its samples, or other numbers of them");
  const course c = w.align(operands);
  std::vector<value_id> ids;
  for (const flow& f : operands) ids.push_back(f.id);
  w.give(ids, c);
}

void split(writer& w, const node& n) {
  const flow& x = signal(w, n);
  if (x.timed() && axis_of(n.integer("axis", 0), x.rank()) == x.c.axis)
    refuse_whole(w, "it splits the signal into parts");
  keep_course(w, n);
}

/// Pads of all axes, first those in front.
std::vector<std::int64_t> pads_of(writer& w, const node& n, std::size_t rank) {
  if (n.version < 11) return n.integers("pads", n.integers("paddings"));
  const std::vector<std::int64_t> given = integers_of(w, n, 1), axes = integers_of(w, n, 3);
  if (!n.reads(3)) return given;
  std::vector<std::int64_t> pads(2 * rank, 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    pads[axis_of(axes[i], rank)] = given[i];
    pads[rank + axis_of(axes[i], rank)] = given[axes.size() + i];
  }
  return pads;
}

void pad(writer& w, const node& n) {
  flow x = signal(w, n);
  std::vector<std::int64_t> pads = pads_of(w, n, x.rank());
  const std::string mode = n.text("mode", "constant");
  double with = n.number("value", 0);
  if (n.version >= 11 && n.reads(2)) {
    if (!w.source(n.inputs[2]).constant) w.refuse("what it pads with is computed at run time");
    with = w.source(n.inputs[2]).constant->number(0);
  }
  std::int64_t before = 0;
  if (x.timed()) {
    before = pads[x.c.axis];
    if (mode != "constant" && (before > 0 || pads[x.rank() + x.c.axis] > 0))
      w.refuse("it pads the signal with its own samples (" + mode + "). Pad it with zeros in the exporter");
    pads[x.c.axis] = pads[x.rank() + x.c.axis] = 0;
  }
  if (std::any_of(pads.begin(), pads.end(), [](std::int64_t p) { return p != 0; })) {
    if (mode != "constant" || with != x.c.before) x = w.settled(x);
    x.id = w.add("Pad", {x.id, w.integers(pads), w.number(with, x.type)}, {{"mode", mode}});
  }
  w.set(n.outputs[0], x.id, x.c);
  if (before > 0) x = w.padded(x, before, with);
  if (before < 0) x = w.cropped(x, -before);
  w.set(n.outputs[0], x.id, x.c);
}

}

void add_cutting_rules(rule_table& t) {
  t["Slice"] = slice;
  t["Gather"] = gather;
  t["Concat"] = concat;
  t["Split"] = split;
  t["Pad"] = pad;
}

}
