// SPDX-License-Identifier: MIT
/// The readings of one node after the other (length_reader.hpp).
#include <algorithm>
#include <array>
#include <limits>

#include "errors.hpp"
#include "resolve/axes.hpp"
#include "resolve/length_reader.hpp"

namespace nsk::tool {
namespace {

using list = std::vector<std::int64_t>;
constexpr std::size_t max_readings = 64;                                     // of one node
constexpr std::int64_t open_end = std::numeric_limits<std::int32_t>::max();  // from here on: the end of any axis

list integers_of(const array& a) {
  list result;
  for (std::int64_t i = 0; i < a.count(); ++i) result.push_back(a.integer(i));
  return result;
}

/// All lists that take one candidate at each place, the first ones first; empty where there are too many.
std::vector<list> combinations(const std::vector<list>& candidates) {
  std::vector<list> found = {{}};
  for (const list& c : candidates) {
    std::vector<list> longer;
    for (const list& begin : found)
      for (const std::int64_t v : c) {
        longer.push_back(begin);
        longer.back().push_back(v);
      }
    if (longer.size() > max_readings) return {};
    found = std::move(longer);
  }
  return found;
}

std::int64_t resized_axis(const node& n, std::size_t place, std::size_t rank) {
  const list axes = n.integers("axes");
  if (axes.empty()) return static_cast<std::int64_t>(place);
  return place < axes.size() ? counted_from_start(axes[place], rank) : -1;
}

/// An axis of an image and what it is resized to: before, now, and the literal; or a number of its own.
using axis_lengths = std::array<std::int64_t, 3>;

/// The readings in which axes that were equally long, change alike and are resized alike stay equally long: no author
/// takes the height of the input and writes the width.
std::vector<reading> without_unlike(std::vector<reading> readings, const std::vector<axis_lengths>& axes) {
  const auto is_unlike = [&](const reading& r) {
    for (std::size_t i = 0; i < axes.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (axes[i] == axes[j] && r[0].numbers[i] != r[0].numbers[j]) return true;
    return false;
  };
  readings.erase(std::remove_if(readings.begin(), readings.end(), is_unlike), readings.end());
  return readings;
}

}

void apply(const reading& r, node& n, node_placer& placer) {
  for (const edit& e : r) {
    if (!e.attribute.empty()) {
      const auto old = n.attributes.find(e.attribute);
      if (!e.scales.empty())
        n.attributes[e.attribute] = e.scales;
      else if (old != n.attributes.end() && std::holds_alternative<std::int64_t>(old->second))
        old->second = e.numbers.at(0);
      else
        n.attributes[e.attribute] = e.numbers;
      continue;
    }
    const auto count = static_cast<std::int64_t>(e.scales.empty() ? e.numbers.size() : e.scales.size());
    shape_t shape = placer.at(n.inputs[e.input]).shape;
    if (count_of(shape) != count) shape = {count};
    n.inputs[e.input] =
        placer.new_constant(n, "lengths_" + std::to_string(e.input),
                            e.scales.empty() ? make_ints(shape, e.numbers) : make_floats(shape, e.scales));
  }
}

length_view::literal length_view::integers(const node& n, std::size_t input, const char* attribute) {
  literal l;
  l.input = input;
  if (has(n, input)) {
    const value& v = at(n.inputs[input]);
    if (!v.constant || !is_integer(v.type)) return l;
    l.now = l.was = integers_of(*v.constant);
    const value* old = before(n.inputs[input]);
    if (old != nullptr && old->constant) l.was = integers_of(*old->constant);
    l.was.resize(l.now.size(), -1);
  } else {
    const auto found = n.attributes.find(attribute);
    if (found == n.attributes.end()) return l;
    l.attribute = attribute;
    if (const auto* one = std::get_if<std::int64_t>(&found->second)) l.now = {*one};
    if (const auto* many = std::get_if<list>(&found->second)) l.now = *many;
    l.was = l.now;
  }
  l.known = !l.now.empty();
  return l;
}

std::vector<reading> length_reader::readings_of(const node& n) {
  if (!n.domain.empty()) return {};
  if (n.op == "Reshape") return read_reshape(n);
  if (n.op == "Expand") return read_shape_list(n, 1, true);
  if (n.op == "ConstantOfShape") return read_shape_list(n, 0, false);
  if (n.op == "AffineGrid" || n.op == "OneHot") return read_shape_list(n, 1, false);
  if (n.op == "Resize" || n.op == "Upsample") return read_resize(n);
  if (n.op == "Slice") return read_slice(n);
  if (n.op == "Split") return read_split(n);
  if (n.op == "Tile") return read_tile(n);
  if (n.op == "TopK") return read_top_k(n);
  if (n.op == "Conv" || n.op == "MaxPool" || n.op == "AveragePool" || n.op == "LpPool") return read_window(n);
  if (n.op == "ConvTranspose") return read_transposed(n);
  return {};
}

/// The readings that take one candidate for each number of a literal; none where each has one, which is itself.
std::vector<reading> length_reader::choices_of(const node& n, const literal& l, const std::vector<list>& candidates,
                                               const std::string& what) const {
  if (std::all_of(candidates.begin(), candidates.end(), [](const list& c) { return c.size() == 1; })) return {};
  std::vector<reading> found;
  for (const list& numbers : combinations(candidates)) found.push_back({l.with(numbers)});
  if (found.empty()) give_up(n, "its " + what + " may stand for too many others");
  return found;
}

std::vector<reading> length_reader::read_shape_list(const node& n, std::size_t input, bool expands) {
  const literal to = integers(n, input, "");
  shape_t was, now;
  if (expands && !shapes_of(n.inputs[0], was, now)) return {};
  if (!to.known) return {};
  if (expands && !changed(n.inputs[0]) && before(n.outputs[0]) != nullptr && before(n.outputs[0])->shape == was &&
      !at(n.inputs[0]).constant && m_trial.lengths.has_short())
    doubt(n, "it repeats nothing in the source, where a length may be 1 that is not");
  std::vector<list> candidates;
  for (std::size_t k = 0; k < to.now.size(); ++k) {
    const std::int64_t number = to.now[k];
    const std::size_t behind = to.now.size() - k;
    const bool same = expands && behind <= was.size() && was[was.size() - behind] == number;
    list lengths;
    if (same && to.is_own(k)) add_once(lengths, now[now.size() - behind]);
    const bool fixed = same && was[was.size() - behind] == now[now.size() - behind];
    if (to.is_own(k) && !fixed) add_all(lengths, m_trial.lengths.near(number));
    add_once(lengths, number);
    candidates.push_back(lengths);
  }
  return choices_of(n, to, candidates, "lengths");
}

/// What a size of a Resize may become: as many times its axis, a share of it, or another length that changed. Of axes
/// that were equally long its own one counts: no author takes the height of the input and writes the width.
static std::vector<std::int64_t> sizes_of(const length_trial& trial, std::int64_t size, std::int64_t was,
                                          std::int64_t now) {
  std::vector<std::int64_t> lengths;
  if (was != now) add_scaled(lengths, size, was, now);
  const std::vector<std::int64_t> same = trial.lengths.of(size);
  const auto is_same = [&](std::int64_t length) { return std::find(same.begin(), same.end(), length) != same.end(); };
  const bool is_axis = !lengths.empty() && is_same(lengths[0]);
  if (was != now) add_shares(lengths, size, was, now);
  for (const std::int64_t near : trial.lengths.near(size))
    if (!is_axis || !is_same(near)) add_once(lengths, near);
  return lengths;
}

std::vector<reading> length_reader::read_resize(const node& n) {
  if (n.op == "Upsample" || n.version < 11) return read_scales(n);
  const literal to = integers(n, 3, "");
  shape_t was, now;
  if (!to.known || !shapes_of(n.inputs[0], was, now)) return {};
  std::vector<list> candidates;
  std::vector<axis_lengths> axes;
  for (std::size_t i = 0; i < to.now.size(); ++i) {
    const std::int64_t d = resized_axis(n, i, was.size());
    if (d < 0 || d >= static_cast<std::int64_t>(was.size())) return {};  // inference says what is wrong
    const auto axis = static_cast<std::size_t>(d);
    const bool changes = was[axis] != now[axis], is_alone = !changes && m_trial.lengths.of(to.now[i]).size() != 1;
    axes.push_back({was[axis], now[axis], is_alone ? -static_cast<std::int64_t>(i) : to.now[i]});
    list lengths;
    if (to.is_own(i) && (changes || was[axis] != to.now[i]))
      lengths = sizes_of(m_trial, to.now[i], was[axis], now[axis]);
    add_once(lengths, to.now[i]);
    candidates.push_back(lengths);
  }
  return without_unlike(choices_of(n, to, candidates, "sizes"), axes);
}

/// Before opset 11 there were no sizes: exporters divided them by the input's lengths.
std::vector<reading> length_reader::read_scales(const node& n) {
  shape_t was, now;
  const value* made = before(n.outputs[0]);
  if (made == nullptr || !shapes_of(n.inputs[0], was, now) || was == now || made->shape.size() != was.size()) return {};
  std::vector<float> scales;
  const auto attribute = n.attributes.find("scales");
  if (has(n, 1) && at(n.inputs[1]).constant) {
    const array& a = *at(n.inputs[1]).constant;
    for (std::int64_t i = 0; i < a.count(); ++i) scales.push_back(static_cast<float>(a.number(i)));
  } else if (attribute != n.attributes.end() && std::holds_alternative<std::vector<float>>(attribute->second)) {
    scales = std::get<std::vector<float>>(attribute->second);
  }
  if (scales.size() != was.size()) return {};
  std::vector<list> candidates;
  for (std::size_t d = 0; d < was.size(); ++d) {
    const auto usual = static_cast<std::int64_t>(scales[d] * static_cast<float>(now[d]));
    list lengths = {usual};
    if (was[d] != now[d] && was[d] != made->shape[d]) {
      add_all(lengths, m_trial.lengths.near(made->shape[d]));
      add_once(lengths, made->shape[d]);
    }
    candidates.push_back(lengths);
  }
  std::vector<reading> found;
  for (const list& sizes : combinations(candidates)) {
    edit e{1, has(n, 1) ? "" : "scales", {}, scales};
    for (std::size_t d = 0; d < sizes.size(); ++d)
      if (sizes[d] != candidates[d][0]) e.scales[d] = static_cast<float>(sizes[d]) / static_cast<float>(now[d]);
    found.push_back({e});
  }
  if (found.empty()) give_up(n, "its scales may stand for too many sizes");
  return found;
}

/// Where a bound of a Slice may be: at the same place, as far from the end or the middle, at the same part of the axis,
/// or at another length that changed. `end_was` and `end_now` are the end of the axis.
std::vector<std::int64_t> length_reader::places_of(std::int64_t v, const sliced_axis& axis, std::int64_t end_was,
                                                   std::int64_t end_now) const {
  const auto [was, now] = axis;
  list found;
  if (v <= 0 || v >= open_end) return {v};
  const bool whole = v >= end_was && was > 1;
  if (whole) add_once(found, end_now);
  if (was != now) {
    add_once(found, std::min(v, now));
    if (!whole && v - was + now >= 0) add_once(found, v - was + now);
    if (!whole) add_scaled(found, v, was, now);
    add_shares(found, v, was, now);
    list rest;
    add_shares(rest, was - v, was, now);
    for (const std::int64_t share : rest) add_once(found, now - share);
    const std::int64_t half = (now - was) / 2;  // as far from the middle, which is between two places or on one
    for (const std::int64_t middle : {v + half, v + (now - was) - half})
      if (middle >= 0) add_once(found, middle);
  }
  for (const std::int64_t near : was != now ? m_trial.lengths.near(v) : m_trial.lengths.of_axis(v))
    add_once(found, std::min(near, now));
  if (!whole || was != now) add_once(found, std::min(v, now));
  return found;
}

/// Where a Slice of an axis may begin and end; as it does where it does not follow.
std::vector<std::vector<std::int64_t>> length_reader::bounds_of(const slice_bound& b, const sliced_axis& axis) const {
  const auto [was, now] = axis;
  const bool forwards = b.step > 0;
  list starts = {b.start}, ends = {b.end};
  if (b.own_start) starts = places_of(b.start, axis, forwards ? was + 1 : was - 1, forwards ? now : now - 1);
  if (b.own_end) ends = places_of(b.end, axis, was, now);
  if (b.start == 0 && b.own_start && (b.end == was || b.end + 1 == was) && now > was)  // the middle of so short an axis
    for (const std::int64_t middle : {(now - was) / 2, (now - was + 1) / 2}) add_once(starts, middle);
  std::vector<list> found;
  for (const std::int64_t from : starts)
    for (const std::int64_t to : ends)
      if (!forwards || from < 0 || to < 0 || from < to) found.push_back({from, to});
  if (found.empty()) found.push_back({b.start, b.end});
  return found;
}

/// The bounds of a Slice for each of its axes; none where it has no constant ones, or its axes do not exist.
std::vector<std::pair<length_view::slice_bound, length_view::sliced_axis>> length_reader::sliced_axes(
    const node& n, const literal& starts, const literal& ends) {
  const bool old = n.version < 10;
  literal axes = integers(n, old ? 9 : 3, "axes"), steps = integers(n, 4, "steps");
  shape_t was, now;
  const std::size_t count = starts.now.size();
  if (!starts.known || !ends.known || !shapes_of(n.inputs[0], was, now)) return {};
  if (!axes.known)
    for (std::size_t i = 0; i < count; ++i) axes.now.push_back(static_cast<std::int64_t>(i));
  if (!steps.known) steps.now.assign(count, 1);
  if (ends.now.size() != count || axes.now.size() != count || steps.now.size() != count) return {};
  std::vector<std::pair<slice_bound, sliced_axis>> found;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t d = counted_from_start(axes.now[i], was.size());
    if (d < 0 || d >= static_cast<std::int64_t>(was.size())) return {};  // inference says what is wrong
    found.push_back({{starts.now[i], ends.now[i], steps.now[i], starts.is_own(i), ends.is_own(i)},
                     {was[static_cast<std::size_t>(d)], now[static_cast<std::size_t>(d)]}});
  }
  return found;
}

std::vector<reading> length_reader::read_slice(const node& n) {
  const bool old = n.version < 10;
  const literal starts = integers(n, old ? 9 : 1, "starts"), ends = integers(n, old ? 9 : 2, "ends");
  std::vector<std::vector<list>> bounds;
  std::vector<list> candidates;
  bool open = false;
  for (const auto& [bound, axis] : sliced_axes(n, starts, ends)) {
    bounds.push_back(bounds_of(bound, axis));
    candidates.emplace_back();
    for (std::size_t k = 0; k < bounds.back().size(); ++k) candidates.back().push_back(static_cast<std::int64_t>(k));
    open = open || bounds.back().size() > 1 || bounds.back()[0] != list{bound.start, bound.end};
  }
  if (!open) return {};
  std::vector<reading> found;
  for (const list& chosen : combinations(candidates)) {
    list from, to;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      from.push_back(bounds[i][static_cast<std::size_t>(chosen[i])][0]);
      to.push_back(bounds[i][static_cast<std::size_t>(chosen[i])][1]);
    }
    found.push_back({starts.with(from), ends.with(to)});
  }
  if (found.empty()) give_up(n, "its bounds may stand for too many others");
  return found;
}

/// Parts of a length that changed may be shares of it, or as long as before and more of them.
std::vector<reading> length_reader::read_split(const node& n) {
  const literal parts = integers(n, 1, "split");
  shape_t was, now;
  if (!parts.known || !shapes_of(n.inputs[0], was, now)) return {};
  const std::int64_t d = counted_from_start(n.integer("axis", 0), was.size());
  if (d < 0 || d >= static_cast<std::int64_t>(was.size()) || parts.now.size() < 2) return {};
  const auto axis = static_cast<std::size_t>(d);
  if (was[axis] == now[axis] || parts.now != parts.was) return {};
  if (const constant_choice* choice = choice_of(n)) {
    if (choice->what == constant_choice::kind::numbers)
      return {{parts.with(list(choice->numbers.begin(), choice->numbers.end()))}};
    list all;
    for (const std::int64_t part : parts.now)
      if (part * now[axis] % was[axis] == 0) all.push_back(part * now[axis] / was[axis]);
    if (all.size() == parts.now.size()) return {{parts.with(all)}};
  }
  give_up(n, "its parts may be shares of an axis that was " + std::to_string(was[axis]) + " long and is " +
                 std::to_string(now[axis]) + ", or keep their lengths");
}

std::vector<reading> length_reader::read_tile(const node& n) {
  const literal repeats = integers(n, 1, "");
  shape_t was, now;
  if (!repeats.known || !shapes_of(n.inputs[0], was, now) || was.size() != repeats.now.size()) return {};
  std::vector<list> candidates;
  for (std::size_t d = 0; d < was.size(); ++d) {
    const std::int64_t r = repeats.now[d];
    list numbers;
    if (repeats.is_own(d) && r > 1) {
      for (const std::int64_t length : m_trial.lengths.near(r * was[d]))
        if (now[d] > 0 && length % now[d] == 0 && length >= now[d]) add_once(numbers, length / now[d]);
      add_all(numbers, m_trial.lengths.of(r));
    }
    add_once(numbers, r);
    candidates.push_back(numbers);
  }
  return choices_of(n, repeats, candidates, "repeats");
}

std::vector<reading> length_reader::read_top_k(const node& n) {
  const literal k = integers(n, 1, "k");
  shape_t was, now;
  if (!k.known || k.now.size() != 1 || !k.is_own(0) || !shapes_of(n.inputs[0], was, now)) return {};
  const std::int64_t d = counted_from_start(n.integer("axis", -1), was.size());
  if (d < 0 || d >= static_cast<std::int64_t>(was.size())) return {};
  const auto axis = static_cast<std::size_t>(d);
  list numbers;
  if (was[axis] != now[axis]) {
    add_scaled(numbers, k.now[0], was[axis], now[axis]);
    add_shares(numbers, k.now[0], was[axis], now[axis]);
    add_all(numbers, m_trial.lengths.near(k.now[0]));
  }
  add_once(numbers, k.now[0]);
  std::vector<reading> found;
  for (const std::int64_t number : numbers)
    if (number <= now[axis] || number == k.now[0]) found.push_back({k.with({number})});
  return found;
}

}
