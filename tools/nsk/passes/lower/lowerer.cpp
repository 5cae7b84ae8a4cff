// SPDX-License-Identifier: MIT
#include "passes/lower/lowerer.hpp"
#include <algorithm>
#include "errors.hpp"

namespace nsk::tool {

dtype dtype_of_element(element t) {
  switch (t) {
    case element::f32: return dtype::float32;
    case element::i8: return dtype::int8;
    case element::u8: return dtype::uint8;
    case element::i16: return dtype::int16;
    case element::i32: return dtype::int32;
    case element::i64: return dtype::int64;
    case element::boolean: return dtype::boolean;
    default:
      refuse(std::string("the engine has no tensors of type ") + name_of(t) +
             "; export the model with float32, int64 or bool in its place");
  }
}

plan lowerer::run(void (*rule)(lowerer&, const operation&)) {
  result.name = source.name;
  place_inputs();
  for (const operation& o : source.operations) rule(*this, o);
  place_outputs();
  place_states();
  return std::move(result);
}

const decision& lowerer::decided(int v) const {
  static const decision nothing;
  const auto found = m_decisions.find(v);
  return found == m_decisions.end() ? nothing : found->second;
}

view lowerer::new_storage(int owner, const std::string& name, const shape_t& shape, const axis_order& order,
                          const nsk::halo& border, storage_kind kind, dtype type) {
  storage_root r;
  r.owner = owner;
  const std::size_t rank = shape.size();
  view v;
  v.storage = static_cast<int>(result.storages.size());
  v.shape = shape;
  v.stride.assign(rank, 1);
  const bool image = (rank == 3 || rank == 4) && order == channels_last_order(rank);
  if (image) {
    r.row_axis = rank == 4 ? 2 : -1;
    r.column_axis = static_cast<int>(rank) - 1;
    r.border = border;
  }
  std::int64_t step = 1;
  for (std::size_t i = rank; i-- > 0;) {
    const int axis = order[i];
    v.stride[static_cast<std::size_t>(axis)] = step;
    std::int64_t length = shape[static_cast<std::size_t>(axis)];
    if (image && axis == r.column_axis) {
      v.offset += step * border.left;
      length += border.left + border.right;
    } else if (image && axis == r.row_axis) {
      v.offset += step * border.top;
      length += border.top + border.bottom;
    }
    step *= length;
  }
  plan_storage s;
  s.kind = kind;
  s.type = owner >= 0 ? dtype_of_element(source.values[static_cast<std::size_t>(owner)].type) : type;
  s.name = name;
  s.elements = step;
  result.storages.push_back(std::move(s));
  r.whole = v;
  roots[v.storage] = r;
  return v;
}

view lowerer::allocate(int v, axis_order order, bool fixed) {
  const auto already = m_views.find(v);
  if (already != m_views.end()) return already->second;  // a concatenation that its first part placed
  const decision& d = decided(v);
  if (d.order && !fixed) order = *d.order;
  const shape_t& shape = source.shape(v);
  if (d.embed) {
    const embedding& e = *d.embed;
    const auto axis = static_cast<std::size_t>(e.axis);
    const std::size_t parent_rank = source.shape(e.parent).size();
    const view parent = e.phase >= 0 ? allocate(e.parent, channels_last_order(parent_rank), true)
                                     : allocate(e.parent, identity_order(parent_rank));
    bind(e.parent, parent);
    if (e.phase >= 0) return phase_of(parent, e.phase, e.rows, e.columns, shape);
    view part = parent;
    part.offset += e.start * parent.stride[axis];
    part.shape[axis] = count_of(shape) / (count_of(parent.shape) / parent.shape[axis]);
    const bool fits = !e.contiguous || is_dense(part);  // the parent may be inside another one by now
    part.shape = shape;
    if (e.contiguous) part.stride = dense_strides(shape, order);
    if (fits) return part;
  }
  view made = new_storage(v, name_of_value(v), shape, order, d.dense || d.output >= 0 ? nsk::halo{} : d.border,
                          d.output >= 0 ? storage_kind::output : storage_kind::arena);
  result.storages.back().index = std::max(d.output, 0);
  roots[made.storage].fixed = fixed;
  return made;
}

void lowerer::place_inputs() {
  for (std::size_t i = 0; i < source.inputs.size(); ++i) {
    const int v = source.inputs[i];
    const shape_t& shape = source.shape(v);
    const bool kept = options.kept_layouts.count(name_of_value(v)) != 0;
    const axis_order order =
        kept ? identity_order(shape.size()) : decided(v).order.value_or(identity_order(shape.size()));
    const view placed = new_storage(v, name_of_value(v), shape, order, {}, storage_kind::input);
    result.storages.back().index = static_cast<int>(i);
    roots[placed.storage].fixed = kept;
    bind(v, placed);
    result.inputs.push_back({name_of_value(v), tensor(placed, order, name_of_value(v), false), shape, order});
  }
  for (std::size_t i = 0; i < source.states.size(); ++i) {
    const int v = source.states[i].input;
    const axis_order order = identity_order(source.shape(v).size());
    const view placed = new_storage(v, name_of_value(v), source.shape(v), order, {}, storage_kind::state);
    result.storages.back().index = static_cast<int>(i);
    roots[placed.storage].fixed = true;
    bind(v, placed);
    plan_state s{name_of_value(v), tensor(placed, order, name_of_value(v), false)};
    if (const int first = source.states[i].initial; first != no_value)
      s.initial = tensor(constant_view(first, order), order, name_of_value(first), false);
    result.states.push_back(std::move(s));
  }
}

/// What the next run reads: the block that a step wrote where it is whole and in the source's order, else a copy.
void lowerer::place_states() {
  for (std::size_t i = 0; i < source.states.size(); ++i) {
    const int v = source.states[i].output;
    const axis_order order = identity_order(source.shape(v).size());
    view where = place_of(v);
    const storage_root& r = roots[where.storage];
    const bool whole = result.storages[static_cast<std::size_t>(where.storage)].kind == storage_kind::arena &&
                       is_dense(where) && count_of(where.shape) == count_of(r.whole.shape) &&
                       where.stride == dense_strides(where.shape, order) && where.offset == 0;
    if (!whole) {
      const view target =
          new_storage(-1, name_of_value(v), where.shape, order, {}, storage_kind::arena, type_of(*this, where));
      copy_step(where, target, "state " + name_of_value(v), name_of_value(v));
      where = target;
    }
    result.storages[static_cast<std::size_t>(where.storage)].lasts = true;
    result.states[i].next = tensor(where, order, name_of_value(v), false);
  }
}

void lowerer::place_outputs() {
  for (std::size_t i = 0; i < source.outputs.size(); ++i) {
    const int v = source.outputs[i], number = static_cast<int>(i);
    view where = place_of(v);
    const auto storage = [&]() -> const plan_storage& {
      return result.storages[static_cast<std::size_t>(where.storage)];
    };
    const bool kept = options.kept_layouts.count(name_of_value(v)) != 0;
    const axis_order source_order = identity_order(source.shape(v).size());
    const bool fits = !kept || where.stride == dense_strides(where.shape, source_order);
    const bool mine = fits && storage().kind == storage_kind::output && storage().index == number;
    if (!mine) {
      for (auto& [owner, d] : m_decisions)
        if (d.output == number) {  // asked for when the layout was another
          d.output = -1;
          d.never_output = true;
        }
      const storage_root& r = roots[where.storage];
      const bool whole = storage().kind == storage_kind::arena && is_dense(where) &&
                         count_of(where.shape) == count_of(r.whole.shape) && where.offset == r.whole.offset;
      if (fits && whole && !orders_only && r.owner >= 0 && decided(r.owner).output < 0 &&
          !decided(r.owner).never_output)
        ask(r.owner).output = number;
      const axis_order order = kept ? source_order : order_of(where);
      const view target =
          new_storage(-1, name_of_value(v), where.shape, order, {}, storage_kind::output, type_of(*this, where));
      result.storages.back().index = number;
      copy_step(where, target, "output " + name_of_value(v), name_of_value(v),
                fits ? "" : "output '" + name_of_value(v) + "' keeps the source's layout");
      where = target;
    }
    const axis_order order = kept ? source_order : order_of(where);
    result.outputs.push_back({name_of_value(v), tensor(where, order, name_of_value(v), false), source.shape(v), order});
  }
}

view lowerer::place_of(int v) {
  const auto found = m_views.find(v);
  if (found != m_views.end()) return found->second;
  return constant_view(v, identity_order(source.shape(v).size()));
}

view lowerer::constant_view(int v, const axis_order& order) {
  const program_value& value = source.values[static_cast<std::size_t>(v)];
  if (!value.constant)
    refuse("value '" + value.name + "' is read before anything produces it; the model's nodes are not in order");
  const view made =
      new_storage(-1, value.name, value.shape, order, {}, storage_kind::constant, dtype_of_element(value.type));
  plan_storage& s = result.storages.back();
  if (value.constant->type == value.type &&
      made.stride == dense_strides(value.shape, identity_order(value.shape.size()))) {
    s.data = {value.constant, &value.constant->data};
    return made;
  }
  std::shared_ptr<const std::vector<std::byte>>& data = m_laid[{v, order}];
  if (data) {
    s.data = data;
    return made;
  }
  array laid(value.type, {s.elements});
  const std::size_t rank = value.shape.size();
  std::vector<std::int64_t> position(rank, 0);
  for (std::int64_t i = 0; i < s.elements; ++i) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < rank; ++d) at += position[d] * made.stride[d];
    if (is_float(value.type))
      laid.set(at, value.constant->number(i));
    else
      laid.set_integer(at, value.constant->integer(i));
    for (std::size_t d = rank; d-- > 0;) {
      if (++position[d] < value.shape[d]) break;
      position[d] = 0;
    }
  }
  s.data = data = std::make_shared<std::vector<std::byte>>(std::move(laid.data));
  return made;
}

void lowerer::ask_innermost(const view& v, std::size_t axis) {
  const storage_root& r = roots[v.storage];
  if (r.owner < 0 || r.fixed || decided(r.owner).order) return;
  for (std::size_t a = 0; a < r.whole.rank(); ++a) {
    if (r.whole.shape[a] == 1 || r.whole.stride[a] != v.stride[axis]) continue;
    axis_order order = order_of(r.whole);
    order.erase(std::find(order.begin(), order.end(), static_cast<int>(a)));
    order.push_back(static_cast<int>(a));
    ask(r.owner).order = order;
    return;
  }
}

std::optional<touched_edges> edges_of(const storage_root& r, const view& v, int row_axis, int column_axis) {
  const auto strides_match = [&](int mine, int its) {
    return mine < 0 ||
           (its >= 0 && v.stride[static_cast<std::size_t>(mine)] == r.whole.stride[static_cast<std::size_t>(its)]);
  };
  const auto length = [](const view& of, int axis) { return axis < 0 ? 1 : of.shape[static_cast<std::size_t>(axis)]; };
  if (column_axis < 0 || !strides_match(row_axis, r.row_axis) || !strides_match(column_axis, r.column_axis)) return {};
  if (length(v, column_axis) != length(r.whole, r.column_axis)) return {};
  const std::int64_t rows = length(v, row_axis), all = row_axis < 0 ? 1 : length(r.whole, r.row_axis);
  if (rows == all) return touched_edges{true, true};
  if (r.row_axis < 0 || r.whole.shape[0] != 1) return {};
  const std::int64_t pitch = r.whole.stride[static_cast<std::size_t>(r.row_axis)], within = v.offset - r.whole.offset,
                     first = within / pitch;
  if (within < 0 || first + rows > all) return {};
  return touched_edges{first == 0, first + rows == all};
}

void lowerer::ask_border(const view& v, int row_axis, int column_axis, const nsk::halo& border) {
  const storage_root& r = roots[v.storage];
  if (orders_only || !options.borders || r.owner < 0 ||
      result.storages[static_cast<std::size_t>(v.storage)].kind != storage_kind::arena)
    return;
  const std::optional<touched_edges> edges = edges_of(r, v, row_axis, column_axis);
  if (!edges) return;
  nsk::halo& wanted = ask(r.owner).border;
  if (edges->top) wanted.top = std::max(wanted.top, border.top);
  wanted.left = std::max(wanted.left, border.left);
  if (edges->bottom) wanted.bottom = std::max(wanted.bottom, border.bottom);
  wanted.right = std::max(wanted.right, border.right);
}

void lowerer::ask_dense(const view& v) {
  const storage_root& r = roots[v.storage];
  if (r.owner >= 0) ask(r.owner).dense = true;
}

view lowerer::with_innermost(const view& v, std::size_t axis, const operation& o) {
  bool plain = v.shape[axis] == 1 || v.stride[axis] == 1;
  for (std::size_t a = 0; a < v.rank(); ++a) plain = plain && (v.shape[a] == 1 || v.stride[a] > 0);
  if (plain) return v;
  ask_innermost(v, axis);
  axis_order order = order_of(v);
  order.erase(std::find(order.begin(), order.end(), static_cast<int>(axis)));
  order.push_back(static_cast<int>(axis));
  return copied(v, order, o, "layout", "needs its axis " + std::to_string(axis) + " innermost");
}

view lowerer::copied(const view& v, const axis_order& order, const operation& o, const std::string& suffix,
                     const std::string& reason) {
  const view to = new_storage(-1, o.name + "#" + suffix, v.shape, order, {}, storage_kind::arena, type_of(*this, v));
  copy_step(v, to, o.name + "#" + suffix, o.name + "#" + suffix,
            reason.empty() ? reason : "'" + o.name + "' " + reason);
  return to;
}

}
