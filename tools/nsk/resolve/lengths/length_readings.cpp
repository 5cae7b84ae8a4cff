// SPDX-License-Identifier: MIT
/// The readings of one node after the other (length_view.hpp).
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "resolve/lengths/length_view.hpp"

namespace nsk::tool {
namespace {

using list = std::vector<std::int64_t>;
constexpr std::size_t max_readings = 64;                                     // of one node
constexpr std::int64_t open_end = std::numeric_limits<std::int32_t>::max();  // from here on: the end of any axis

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

/// The readings that take one candidate for each number of a literal, of which candidates_of(place) lists those beside
/// itself; none where each has one, which is itself.
template <class CandidatesOf>
std::vector<reading> read_each(const length_view& view, const node& n, const length_literal& l, const char* what,
                               CandidatesOf candidates_of) {
  std::vector<list> candidates;
  for (std::size_t i = 0; i < l.now.size(); ++i) {
    candidates.push_back(l.is_own(i) ? candidates_of(i) : list());
    add_once(candidates.back(), l.now[i]);
  }
  if (std::all_of(candidates.begin(), candidates.end(), [](const list& c) { return c.size() == 1; })) return {};
  std::vector<reading> found;
  for (const list& numbers : combinations(candidates)) found.push_back({l.with(numbers)});
  if (found.empty()) view.give_up(n, std::string("its ") + what + " may stand for too many others");
  return found;
}

/// An axis of the first operand of a node, as an attribute or operand names it; false where it has none such, of which
/// inference says what is wrong.
bool axis_of(std::int64_t named, const shape_t& shape, std::size_t& axis) {
  const std::int64_t d = counted_from_start(named, shape.size());
  axis = static_cast<std::size_t>(d);
  return d >= 0 && axis < shape.size();
}

std::vector<reading> read_shape_list(length_view& view, const node& n, std::size_t input, bool expands) {
  const length_literal to = view.integers(n, input, "");
  shape_t was, now;
  if (expands && !view.shapes_of(n.inputs[0], was, now)) return {};
  if (!to.known) return {};
  if (expands && !view.changed(n.inputs[0]) && view.before(n.outputs[0]) != nullptr &&
      view.before(n.outputs[0])->shape == was && !view.at(n.inputs[0]).constant && view.lengths().has_short())
    view.doubt(n, "it repeats nothing in the source, where a length may be 1 that is not");
  return read_each(view, n, to, "lengths", [&](std::size_t k) {
    const std::size_t behind = to.now.size() - k, d = was.size() - behind;
    list lengths;
    if (behind <= was.size() && was[d] == to.now[k]) add_once(lengths, now[d]);
    if (lengths.empty() || was[d] != now[d]) add_all(lengths, view.lengths().near(to.now[k]));
    return lengths;
  });
}

std::vector<reading> read_expand(length_view& view, const node& n) { return read_shape_list(view, n, 1, true); }
std::vector<reading> read_fill(length_view& view, const node& n) { return read_shape_list(view, n, 0, false); }
std::vector<reading> read_second(length_view& view, const node& n) { return read_shape_list(view, n, 1, false); }

/// What a size of a Resize may become: as many times its axis, a share of it, or another length that changed. Of axes
/// that were equally long its own one counts: no author takes the height of the input and writes the width.
list sizes_of(const changed_lengths& all, std::int64_t size, std::int64_t was, std::int64_t now) {
  list lengths;
  if (was != now) add_scaled(lengths, size, was, now);
  const list same = all.of(size);
  const auto is_same = [&](std::int64_t length) { return std::find(same.begin(), same.end(), length) != same.end(); };
  const bool is_axis = !lengths.empty() && is_same(lengths[0]);
  if (was != now) add_shares(lengths, size, was, now);
  for (const std::int64_t near : all.near(size))
    if (!is_axis || !is_same(near)) add_once(lengths, near);
  return lengths;
}

/// The scales of a Resize, operand `input` or an attribute; empty where it has none for each axis.
std::vector<float> scales_of(const length_view& view, const node& n, std::size_t input, std::size_t rank) {
  std::vector<float> scales;
  const auto* attribute = n.find<std::vector<float>>("scales");
  if (n.reads(input) && view.at(n.inputs[input]).constant) {
    const array& a = *view.at(n.inputs[input]).constant;
    for (std::int64_t i = 0; i < a.count(); ++i) scales.push_back(static_cast<float>(a.number(i)));
  } else if (attribute != nullptr) {
    scales = *attribute;
  }
  return scales.size() == rank ? scales : std::vector<float>();
}

/// Before opset 11 there were no sizes: exporters divided them by the input's lengths. Later ones that have a choice
/// write scales that are the network's own, which are quarters, or one over a few.
bool may_be_made_of_sizes(const node& n, float scale) {
  const float part = scale < 1 ? 1 / scale : 4 * scale;
  return n.op == "Upsample" || n.version < 11 || std::abs(part - std::round(part)) > 1e-6F * part;
}

std::vector<reading> read_scales(length_view& view, const node& n) {
  const std::size_t input = n.op == "Upsample" || n.version < 11 ? 1 : 2;
  shape_t was, now;
  const value* made = view.before(n.outputs[0]);
  if (made == nullptr || !view.shapes_of(n.inputs[0], was, now) || was == now || made->shape.size() != was.size())
    return {};
  const std::vector<float> scales = scales_of(view, n, input, was.size());
  if (scales.empty()) return {};
  std::vector<list> candidates;
  for (std::size_t d = 0; d < was.size(); ++d) {
    list lengths = {static_cast<std::int64_t>(scales[d] * static_cast<float>(now[d]))};
    if (was[d] != now[d] && was[d] != made->shape[d] && may_be_made_of_sizes(n, scales[d])) {
      add_all(lengths, view.lengths().near(made->shape[d]));
      add_once(lengths, made->shape[d]);
    }
    candidates.push_back(lengths);
  }
  std::vector<reading> found;
  for (const list& sizes : combinations(candidates)) {
    edit e{input, n.reads(input) ? "" : "scales", {}, scales};
    for (std::size_t d = 0; d < sizes.size(); ++d)
      if (sizes[d] != candidates[d][0]) e.scales[d] = static_cast<float>(sizes[d]) / static_cast<float>(now[d]);
    found.push_back(e.scales == scales ? reading() : reading{e});
  }
  if (found.size() == 1 && found[0].empty()) return {};
  if (found.empty()) view.give_up(n, "its scales may stand for too many sizes");
  return found;
}

/// Sizes of axes that were equally long, change alike and are resized alike stay equal.
std::vector<reading> read_resize(length_view& view, const node& n) {
  const bool has_sizes = n.reads(3) && view.at(n.inputs[3]).shape != shape_t{0};
  if (n.op == "Upsample" || n.version < 11 || !has_sizes) return read_scales(view, n);
  const length_literal to = view.integers(n, 3, "");
  shape_t was, now;
  if (!to.known || !view.shapes_of(n.inputs[0], was, now)) return {};
  const list named = n.integers("axes");
  std::vector<std::array<std::int64_t, 3>> axes;  // before, now, and the size; or a number of its own
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < to.now.size(); ++i) {
    std::size_t d = 0;
    if ((!named.empty() && i >= named.size()) ||
        !axis_of(named.empty() ? static_cast<std::int64_t>(i) : named[i], was, d))
      return {};
    const bool is_alone = was[d] == now[d] && view.lengths().of(to.now[i]).size() != 1;
    axes.push_back({was[d], now[d], is_alone ? -static_cast<std::int64_t>(i) : to.now[i]});
    places.push_back(d);
  }
  std::vector<reading> found = read_each(view, n, to, "sizes", [&](std::size_t i) {
    const auto [from, is, size] = std::array{was[places[i]], now[places[i]], to.now[i]};
    return from != is || from != size ? sizes_of(view.lengths(), size, from, is) : list();
  });
  const auto is_unlike = [&](const reading& r) {
    for (std::size_t i = 0; i < axes.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (axes[i] == axes[j] && r[0].numbers[i] != r[0].numbers[j]) return true;
    return false;
  };
  found.erase(std::remove_if(found.begin(), found.end(), is_unlike), found.end());
  return found;
}

/// One axis of a Slice: its bounds, and its lengths in the source and now.
struct sliced_axis {
  std::int64_t start, end, step;
  bool own_start, own_end, whole;  ///< whole: the result was as long as the axis
  std::int64_t was, now;
};

/// Where a bound of a Slice may be: at the same place, as far from the end or the middle, at the same part of the axis,
/// or at another length that changed. `end_was` and `end_now` are the end of the axis.
list places_of(const changed_lengths& all, std::int64_t v, const sliced_axis& axis, std::int64_t end_was,
               std::int64_t end_now) {
  const std::int64_t was = axis.was, now = axis.now;
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
  for (const std::int64_t near : was != now ? all.near(v) : all.of_axis(v)) add_once(found, std::min(near, now));
  if (!whole || was != now) add_once(found, std::min(v, now));
  return found;
}

using slice_bounds = std::array<std::int64_t, 2>;

/// Where a Slice begins and ends that takes all rows; as it does where it takes others.
slice_bounds bounds_of_rows(const sliced_axis& a) {
  if (a.was == a.now || !a.whole || a.step != 1) return {a.start, a.end};
  return {0, std::numeric_limits<std::int64_t>::max()};
}

/// Where a Slice of an axis may begin and end; as it does where it does not follow.
std::vector<slice_bounds> bounds_of(const changed_lengths& all, const sliced_axis& a) {
  const bool forwards = a.step > 0;
  list starts = {a.start}, ends = {a.end};
  if (a.own_start) starts = places_of(all, a.start, a, forwards ? a.was + 1 : a.was - 1, forwards ? a.now : a.now - 1);
  if (a.own_end) ends = places_of(all, a.end, a, a.was, a.now);
  if (a.start == 0 && a.own_start && (a.end == a.was || a.end + 1 == a.was) && a.now > a.was)  // the middle of so short
    for (const std::int64_t middle : {(a.now - a.was) / 2, (a.now - a.was + 1) / 2}) add_once(starts, middle);
  std::vector<slice_bounds> found;
  for (const std::int64_t from : starts)
    for (const std::int64_t to : ends)
      if (!forwards || from < 0 || to < 0 || from < to) found.push_back({from, to});
  if (found.empty()) found.push_back({a.start, a.end});
  return found;
}

/// The axes of a Slice; none where it has no constant bounds, or its axes do not exist.
std::vector<sliced_axis> sliced_axes(const length_view& view, const node& n, const length_literal& starts,
                                     const length_literal& ends) {
  length_literal axes = view.integers(n, n.version < 10 ? 9 : 3, "axes"), steps = view.integers(n, 4, "steps");
  const value* made = view.before(n.outputs[0]);
  shape_t was, now;
  const std::size_t count = starts.now.size();
  if (!starts.known || !ends.known || !view.shapes_of(n.inputs[0], was, now)) return {};
  if (!axes.known)
    for (std::size_t i = 0; i < count; ++i) axes.now.push_back(static_cast<std::int64_t>(i));
  if (!steps.known) steps.now.assign(count, 1);
  if (ends.now.size() != count || axes.now.size() != count || steps.now.size() != count) return {};
  std::vector<sliced_axis> found;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t d = 0;
    if (!axis_of(axes.now[i], was, d)) return {};
    const bool whole = made != nullptr && made->shape.size() == was.size() && made->shape[d] == was[d];
    found.push_back(
        {starts.now[i], ends.now[i], steps.now[i], starts.is_own(i), ends.is_own(i), whole, was[d], now[d]});
  }
  return found;
}

std::vector<reading> read_slice(length_view& view, const node& n) {
  const bool old = n.version < 10;
  const length_literal starts = view.integers(n, old ? 9 : 1, "starts"), ends = view.integers(n, old ? 9 : 2, "ends");
  std::vector<std::vector<slice_bounds>> bounds;
  std::vector<list> candidates;
  bool open = false;
  for (const sliced_axis& axis : sliced_axes(view, n, starts, ends)) {
    if (view.trial().rows)
      bounds.push_back({bounds_of_rows(axis)});
    else
      bounds.push_back(bounds_of(view.lengths(), axis));
    candidates.emplace_back();
    for (std::size_t k = 0; k < bounds.back().size(); ++k) candidates.back().push_back(static_cast<std::int64_t>(k));
    open = open || bounds.back().size() > 1 || bounds.back()[0] != slice_bounds{axis.start, axis.end};
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
  if (found.empty()) view.give_up(n, "its bounds may stand for too many others");
  return found;
}

/// Parts of a length that changed may be shares of it, or as long as before and more of them; of rows they are shares.
std::vector<reading> read_split(length_view& view, const node& n) {
  const length_literal parts = view.integers(n, 1, "split");
  shape_t was, now;
  std::size_t d = 0;
  if (!parts.known || !view.shapes_of(n.inputs[0], was, now) || !axis_of(n.integer("axis", 0), was, d)) return {};
  if (was[d] == now[d] || parts.now != parts.was || (parts.now.size() < 2 && !view.trial().rows)) return {};
  const constant_choice* choice = view.choice_of(n);
  if (choice != nullptr && choice->what == constant_choice::kind::numbers)
    return {{parts.with(list(choice->numbers.begin(), choice->numbers.end()))}};
  list shares;
  for (const std::int64_t part : parts.now)
    if (was[d] > 0 && part * now[d] % was[d] == 0) shares.push_back(part * now[d] / was[d]);
  if ((choice != nullptr || view.trial().rows) && shares.size() == parts.now.size()) return {{parts.with(shares)}};
  view.give_up(n, "its parts may be shares of an axis that was " + std::to_string(was[d]) + " long and is " +
                      std::to_string(now[d]) + ", or keep their lengths");
}

std::vector<reading> read_tile(length_view& view, const node& n) {
  const length_literal repeats = view.integers(n, 1, "");
  shape_t was, now;
  if (!repeats.known || !view.shapes_of(n.inputs[0], was, now) || was.size() != repeats.now.size()) return {};
  return read_each(view, n, repeats, "repeats", [&](std::size_t d) {
    const std::int64_t r = repeats.now[d];
    list numbers;
    if (r < 2) return numbers;
    for (const std::int64_t length : view.lengths().near(r * was[d]))
      if (now[d] > 0 && length % now[d] == 0 && length >= now[d]) add_once(numbers, length / now[d]);
    add_all(numbers, view.lengths().of(r));
    return numbers;
  });
}

std::vector<reading> read_top_k(length_view& view, const node& n) {
  const length_literal k = view.integers(n, 1, "k");
  shape_t was, now;
  std::size_t d = 0;
  if (!k.known || k.now.size() != 1 || !view.shapes_of(n.inputs[0], was, now) ||
      !axis_of(n.integer("axis", -1), was, d))
    return {};
  return read_each(view, n, k, "k", [&](std::size_t) {
    list numbers;
    if (was[d] == now[d]) return numbers;
    add_scaled(numbers, k.now[0], was[d], now[d]);
    add_shares(numbers, k.now[0], was[d], now[d]);
    add_all(numbers, view.lengths().near(k.now[0]));
    const auto is_beyond = [&](std::int64_t number) { return number > now[d]; };
    numbers.erase(std::remove_if(numbers.begin(), numbers.end(), is_beyond), numbers.end());
    return numbers;
  });
}

struct reader_of_operator {
  const char* op;
  std::vector<reading> (*read)(length_view&, const node&);
  bool of_rows;  ///< whether its numbers may be those of one row
};

const reader_of_operator readers[] = {
    {"Reshape", read_reshape, true},    {"Expand", read_expand, true},
    {"Resize", read_resize, true},      {"Slice", read_slice, true},
    {"Split", read_split, true},        {"ConstantOfShape", read_fill, false},
    {"AffineGrid", read_second, false}, {"OneHot", read_second, false},
    {"Upsample", read_resize, false},   {"Tile", read_tile, false},
    {"TopK", read_top_k, false},        {"Conv", read_window, false},
    {"MaxPool", read_window, false},    {"AveragePool", read_window, false},
    {"LpPool", read_window, false},     {"ConvTranspose", read_transposed, false},
};

}

std::vector<reading> readings_of(length_view& view, const node& n) {
  const auto is_it = [&](const reader_of_operator& r) { return n.op == r.op && (r.of_rows || !view.trial().rows); };
  const auto* const found = std::find_if(std::begin(readers), std::end(readers), is_it);
  if (!n.domain.empty() || found == std::end(readers)) return {};
  if (view.trial().rows && !view.changed(n.inputs[0])) return {};
  return found->read(view, n);
}

}
