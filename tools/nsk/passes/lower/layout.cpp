// SPDX-License-Identifier: MIT
/// Operations that move elements and compute nothing: where strides do not say it, they become copies and fills.
#include <algorithm>
#include <cmath>
#include "errors.hpp"
#include "passes/lower/lowerer.hpp"

namespace nsk::tool {
namespace {

void lower_transpose(lowerer& l, const operation& o, const transpose_parameters& t) {
  l.bind(o.output, transposed(l.place_of(o.inputs[0]), t.permutation));
}

void lower_expand(lowerer& l, const operation& o, const expand_parameters&) {
  l.bind(o.output, broadcast(l.place_of(o.inputs[0]), l.source.shape(o.output)));
}

/// Asks that the view's elements follow each other in its own order of axes.
void ask_row_major(lowerer& l, const view& v) {
  const storage_root& r = l.roots[v.storage];
  if (!r.rows || l.decided(r.owner).order || count_of(v.shape) != count_of(r.whole.shape)) return;
  axis_order order;
  const int rank = static_cast<int>(r.whole.rank());
  for (int a = 0; a < rank; ++a)
    if (r.whole.shape[static_cast<std::size_t>(a)] == 1) order.push_back(a);
  for (std::size_t axis = 0; axis < v.rank(); ++axis)
    for (int a = 0; a < rank && v.shape[axis] != 1; ++a) {
      const auto own = static_cast<std::size_t>(a);
      if (r.whole.shape[own] == v.shape[axis] && r.whole.stride[own] == v.stride[axis]) order.push_back(a);
    }
  if (static_cast<int>(order.size()) == rank && order.back() == rank - 1) l.ask(r.owner).order = order;
}

void lower_reshape(lowerer& l, const operation& o, const reshape_parameters& r) {
  const view x = l.place_of(o.inputs[0]);
  const shape_t& shape = l.source.shape(o.output);
  // only axes of length 1 come or go: the storage keeps its border
  const auto wide = [](const shape_t& s) {
    shape_t w;
    for (std::int64_t d : s)
      if (d != 1) w.push_back(d);
    return w;
  };
  const bool squeeze = wide(x.shape) == wide(shape);
  if (!squeeze) l.ask_dense(x);
  if (const auto v = reshaped(x, shape)) {
    l.bind(o.output, *v);
    return;
  }
  ask_row_major(l, x);
  // moved once: both sides are cut into lengths that refine both shapes, so that the copy can write any layout
  const axis_order order = r.channels_last ? channels_last_order(shape.size()) : identity_order(shape.size());
  const std::string reason = r.channels_last ? "" : "joins axes that are not next to each other";
  const auto refined = common_refinement(x.shape, shape);
  if (refined) {
    const auto from = reshaped(x, *refined);
    const view y = l.allocate(o.output, order);
    const auto to = reshaped(y, *refined);
    if (from && to) {
      l.ask_dense(y);
      l.copy_step(*from, *to, o.name, l.name_of_value(o.output),
                  reason.empty() ? reason : "'" + o.name + "' " + reason);
      l.bind(o.output, y);
      return;
    }
  }
  const view dense = l.copied(x, identity_order(x.rank()), o, "rows", "joins axes that are not next to each other");
  l.bind(o.output, *reshaped(dense, shape));
}

void lower_slice(lowerer& l, const operation& o, const slice_parameters& s) {
  view x = l.place_of(o.inputs[0]);
  bool backwards = false;
  for (std::size_t a = 0; a < x.rank(); ++a) {
    x.offset += s.starts[a] * x.stride[a];
    x.stride[a] *= s.steps[a];
    backwards = backwards || (s.steps[a] < 0 && l.source.shape(o.output)[a] > 1);
  }
  x.shape = l.source.shape(o.output);
  if (backwards) {  // kernels other than Copy read forwards
    const view y = l.allocate(o.output, order_of(x));
    l.copy_step(x, y, o.name, l.name_of_value(o.output));
    x = y;
  }
  l.bind(o.output, x);
}

void lower_concat(lowerer& l, const operation& o, const concat_parameters& c) {
  const auto axis = static_cast<std::size_t>(c.axis);
  axis_order order;
  for (int v : o.inputs)
    if (!l.source.is_constant(v) && order.empty()) order = order_of(broadcast(l.place_of(v), l.source.shape(v)));
  if (order.empty()) order = identity_order(l.source.shape(o.output).size());
  const view y = l.allocate(o.output, order);
  l.bind(o.output, y);
  const axis_order actual = order_of(y);
  // the rows of one image may have a border of zeros around them, which each part fills beside its own
  const bool rows_of_image =
      c.axis == 2 && actual.size() == 4 && actual == channels_last_order(4) && l.source.shape(o.output)[0] == 1;
  if (actual.back() != c.axis && !rows_of_image) l.ask_dense(y);
  // what joins a state is computed in the order of both
  const bool behind_state = l.result
                                .storages[static_cast<std::size_t>(
                                    l.source.is_constant(o.inputs[0]) ? y.storage : l.place_of(o.inputs[0]).storage)]
                                .kind == storage_kind::state;
  std::int64_t start = 0;
  for (int v : o.inputs) {
    const shape_t& shape = l.source.shape(v);
    view part = y;
    part.offset += start * y.stride[axis];
    part.shape = shape;
    const embedding here{o.output, c.axis, start, false};
    start += shape[axis];
    if (l.source.is_constant(v)) {
      const array& values = *l.source.values[static_cast<std::size_t>(v)].constant;
      bool equal = std::abs(values.number(0)) < 16777216;  // a fill's value is a float
      for (std::int64_t i = 1; i < values.count() && equal; ++i) equal = values.number(i) == values.number(0);
      if (equal)
        l.fill_step(part, static_cast<float>(values.number(0)), o.name, l.name_of_value(o.output));
      else
        l.copy_step(l.constant_view(v, actual), part, o.name, l.name_of_value(o.output));
      continue;
    }
    const view x = l.place_of(v);
    const storage_root& r = l.roots[x.storage];
    if (x.storage == y.storage && x.offset == part.offset) continue;
    // the part could have been written in place: ask for it, when nothing else lives in its storage
    const bool whole = l.result.storages[static_cast<std::size_t>(x.storage)].kind == storage_kind::arena &&
                       r.owner >= 0 && r.owner != o.output && count_of(x.shape) == count_of(r.whole.shape) &&
                       x.offset == r.whole.offset && !l.decided(r.owner).embed &&
                       std::count(o.inputs.begin(), o.inputs.end(), v) == 1 && l.decided(r.owner).output < 0 &&
                       !l.source.is_output(r.owner);
    if (whole && !l.orders_only && l.options.joins_in_place) {
      bool outermost = true;  // is the part one block of the result?
      for (int a : actual) {
        if (a == c.axis) break;
        outermost = outermost && shape[static_cast<std::size_t>(a)] == 1;
      }
      const bool own_axes = r.whole.shape == shape && r.whole.stride == x.stride;
      const axis_order part_order = order_of(x);
      axis_order wide_part, wide_whole;
      for (int a : part_order)
        if (shape[static_cast<std::size_t>(a)] != 1) wide_part.push_back(a);
      for (int a : actual)
        if (shape[static_cast<std::size_t>(a)] != 1) wide_whole.push_back(a);
      // kernels write neighbours: what is innermost in the part must stay so, also where the concatenation runs along
      // an axis of length 1
      const auto stays = [&](int a) {
        return y.stride[static_cast<std::size_t>(a)] == x.stride[static_cast<std::size_t>(a)];
      };
      const bool same_order = wide_part == wide_whole && (wide_part.empty() || stays(wide_part.back()));
      if (same_order && outermost && !(rows_of_image && own_axes)) {
        l.ask_dense(x);
        if (is_dense(x)) {
          embedding e = here;
          e.contiguous = true;
          l.ask(r.owner).embed = e;
          l.ask(r.owner).order = order_of(r.whole);
          l.ask(o.output).order = actual;
          l.ask(o.output).dense = true;
        }
      } else if (same_order && own_axes) {
        l.ask(r.owner).embed = here;
        l.ask(o.output).order = actual;
      }
    }
    if (behind_state && !r.fixed && !r.rows && r.owner >= 0 && !l.decided(r.owner).order && r.whole.shape == shape &&
        r.whole.stride == x.stride)
      l.ask(r.owner).order = actual;
    l.copy_step(x, part, o.name, l.name_of_value(o.output));
  }
}

void lower_interleave(lowerer& l, const operation& o, const interleave_parameters& i) {
  const view y = l.allocate(o.output, channels_last_order(l.source.shape(o.output).size()), true);
  l.bind(o.output, y);
  l.ask_dense(y);
  for (std::size_t k = 0; k < o.inputs.size(); ++k) {
    embedding here;
    here.parent = o.output;
    here.phase = static_cast<int>(k);
    here.rows = i.rows;
    here.columns = i.columns;
    const int v = o.inputs[k];
    const view x = l.place_of(v), part = phase_of(y, here.phase, here.rows, here.columns, l.source.shape(v));
    if (x.storage == y.storage && x.offset == part.offset) continue;
    const storage_root& r = l.roots[x.storage];
    const bool whole = r.owner == v && !l.source.is_output(v) && l.decided(v).output < 0;
    if (whole && !l.orders_only) {
      l.ask(v).embed = here;
      l.ask(o.output).order = order_of(y);
    }
    l.copy_step(x, part, o.name, l.name_of_value(o.output));
  }
}

view part_along(view v, std::size_t axis, std::int64_t start, std::int64_t length) {
  v.offset += start * v.stride[axis];
  v.shape[axis] = length;
  return v;
}

/// A view, and how many elements are added before and behind each of its axes.
struct padded_view {
  view x;
  std::vector<std::int64_t> before, after;
};

/// Negative pads crop the view; the others stay.
padded_view cropped(view x, const pad_parameters& p) {
  padded_view v{std::move(x), p.before, p.after};
  for (std::size_t a = 0; a < v.before.size(); ++a) {
    if (v.before[a] < 0) {
      v.x.offset -= v.before[a] * v.x.stride[a];
      v.x.shape[a] += v.before[a];
    }
    if (v.after[a] < 0) v.x.shape[a] += v.after[a];
    v.before[a] = std::max<std::int64_t>(v.before[a], 0);
    v.after[a] = std::max<std::int64_t>(v.after[a], 0);
  }
  return v;
}

/// Axes that are padded at once, round by round. Each adds a dimension to the copies, and each whose elements are
/// repeated triples their number.
std::vector<std::vector<std::size_t>> padded_together(const padded_view& v, pad_mode mode) {
  const std::size_t maximum = v.x.rank() > static_cast<std::size_t>(max_rank) ? 1
                              : mode == pad_mode::constant                    ? v.x.rank()
                                                                              : 2;
  std::vector<std::vector<std::size_t>> rounds;
  for (const int axis : order_of(v.x)) {
    const auto a = static_cast<std::size_t>(axis);
    if (v.before[a] == 0 && v.after[a] == 0) continue;
    if (rounds.empty() || rounds.back().size() == maximum) rounds.emplace_back();
    rounds.back().push_back(a);
  }
  return rounds;
}

/// One round of a padding: x into `y`, along some axes.
class padding {
 public:
  padding(lowerer& l, const operation& o, const padded_view& v, pad_mode mode, const std::string& result)
      : m_l(l), m_o(o), m_v(v), m_mode(mode), m_result(result) {}

  /// Fills `y` with a number, the outermost axis first, so that its strips are whole blocks, and copies x inside.
  void by_number(const std::vector<std::size_t>& axes, view y, float value) {
    for (const std::size_t a : axes) {
      const std::int64_t lead = m_v.before[a], length = m_v.x.shape[a], tail = m_v.after[a];
      if (lead > 0) m_l.fill_step(part_along(y, a, 0, lead), value, m_o.name, m_result);
      if (tail > 0) m_l.fill_step(part_along(y, a, lead + length, tail), value, m_o.name, m_result);
      y = part_along(y, a, lead, length);
    }
    m_l.copy_step(m_v.x, y, m_o.name, m_result);
  }

  /// Copies `from` and what is repeated of it along `axes`, from number `i` on.
  void by_repetition(const std::vector<std::size_t>& axes, std::size_t i, const view& from, const view& to) {
    if (i == axes.size()) return m_l.copy_step(from, to, m_o.name, m_result);
    const std::size_t a = axes[i];
    const std::int64_t lead = m_v.before[a], length = from.shape[a], tail = m_v.after[a];
    by_repetition(axes, i + 1, from, part_along(to, a, lead, length));
    if (lead > 0) by_repetition(axes, i + 1, repeated(from, a, lead, true), part_along(to, a, 0, lead));
    if (tail > 0) by_repetition(axes, i + 1, repeated(from, a, tail, false), part_along(to, a, lead + length, tail));
  }

 private:
  /// What stands in the `count` positions before or behind `from`.
  view repeated(const view& from, std::size_t a, std::int64_t count, bool before) const {
    const std::int64_t length = from.shape[a];
    if (m_mode == pad_mode::wrap) return part_along(from, a, before ? length - count : 0, count);
    const bool edge = m_mode == pad_mode::edge;
    const std::int64_t first = edge ? (before ? 0 : length - 1) : (before ? count : length - 2);
    view strip = part_along(from, a, first, count);
    strip.stride[a] = edge ? 0 : -from.stride[a];
    return strip;
  }

  lowerer& m_l;
  const operation& m_o;
  const padded_view& m_v;
  pad_mode m_mode;
  const std::string& m_result;
};

void lower_pad(lowerer& l, const operation& o, const pad_parameters& p) {
  padded_view v = cropped(l.place_of(o.inputs[0]), p);
  std::vector<std::vector<std::size_t>> rounds = padded_together(v, p.mode);
  if (rounds.empty()) rounds.emplace_back();
  for (const std::vector<std::size_t>& axes : rounds) {
    shape_t wider = v.x.shape;
    for (const std::size_t a : axes) wider[a] += v.before[a] + v.after[a];
    const bool last = &axes == &rounds.back();
    const std::string name = last ? l.name_of_value(o.output) : o.name + "#axis" + std::to_string(axes[0]);
    const view y = last ? l.allocate(o.output, order_of(v.x))
                        : l.new_storage(-1, name, wider, order_of(v.x), {}, storage_kind::arena, type_of(l, v.x));
    if (!axes.empty()) l.ask_dense(y);
    padding round(l, o, v, p.mode, name);
    if (p.mode == pad_mode::constant)
      round.by_number(axes, y, static_cast<float>(p.value));
    else
      round.by_repetition(axes, 0, v.x, y);
    v.x = y;
  }
  l.bind(o.output, v.x);
}

/// Lowers `o` where its parameters are of type `P`.
template <class P>
bool lower_as(lowerer& l, const operation& o, void (*rule)(lowerer&, const operation&, const P&)) {
  const P* p = o.as<P>();
  if (p != nullptr) rule(l, o, *p);
  return p != nullptr;
}

}

bool lower_layout(lowerer& l, const operation& o) {
  return lower_as(l, o, lower_transpose) || lower_as(l, o, lower_reshape) || lower_as(l, o, lower_slice) ||
         lower_as(l, o, lower_concat) || lower_as(l, o, lower_interleave) || lower_as(l, o, lower_expand) ||
         lower_as(l, o, lower_pad);
}

}
