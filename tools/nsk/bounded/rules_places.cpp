// SPDX-License-Identifier: MIT
/// Used elements behind operators that follow indices, or choose.
#include <algorithm>

#include "bounded/rules.hpp"
#include "errors.hpp"
#include "reference/operators.hpp"

namespace nsk::tool::bounded {
namespace {

constexpr i64 max_rows = i64{1} << 24;  // float32 counts so far

std::vector<amount> joined(const std::vector<amount>& a, std::size_t first, std::size_t last,
                           const std::vector<amount>& b, std::size_t first_b, std::size_t last_b) {
  std::vector<amount> all(a.begin() + static_cast<std::ptrdiff_t>(first),
                          a.begin() + static_cast<std::ptrdiff_t>(last));
  all.insert(all.end(), b.begin() + static_cast<std::ptrdiff_t>(first_b),
             b.begin() + static_cast<std::ptrdiff_t>(last_b));
  return all;
}

}

void follow_gather(interpretation& r) {
  const std::vector<amount> x = r.axes(0), at = r.axes(1);
  const std::size_t axis = r.axis(r.op().integer("axis", 0), x.size());
  std::vector<amount> axes = joined(x, 0, axis, at, 0, at.size());
  axes.insert(axes.end(), x.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.end());
  r.result(0, axes, !x[axis].varies() && r.input(1).constant && r.picks(0));
}

void follow_gather_elements(interpretation& r) {
  const std::vector<amount> x = r.axes(0), at = r.axes(1);
  const std::size_t axis = r.axis(r.op().integer("axis", 0), x.size());
  for (std::size_t d = 0; d < x.size(); ++d)
    if (d != axis && x[d].varies() && x[d] != at[d]) r.refuse(0, "indices have another number of rows");
  r.result(0, at);
}

void follow_gather_nd(interpretation& r) {
  const std::vector<amount> x = r.axes(0), at = r.axes(1);
  if (r.op().integer("batch_dims", 0) != 0) r.refuse("batch_dims is not 0");
  if (at.empty() || at.back().varies()) r.refuse(1, "an index would have as many coordinates");
  r.result(0, joined(at, 0, at.size() - 1, x, static_cast<std::size_t>(at.back().plus), x.size()));
}

void follow_scatter_elements(interpretation& r) {
  const std::vector<amount> x = r.axes(0), at = r.axes(1), updates = r.axes(2);
  const std::size_t axis = r.axis(r.op().integer("axis", 0), x.size());
  for (std::size_t d = 0; d < at.size(); ++d) {
    if (at[d] != updates[d]) r.refuse("indices and updates are of different numbers");
    if (d != axis && x[d].varies() && x[d] != at[d]) r.refuse(0, "indices have another number of rows");
  }
  if (x[axis].varies()) r.refuse(0, "places along them are written");
  r.result(0, x);
}

void follow_scatter_nd(interpretation& r) {
  const std::vector<amount> x = r.axes(0), at = r.axes(1), updates = r.axes(2);
  if (at.empty() || at.back().varies()) r.refuse(1, "an index would have as many coordinates");
  const auto coordinates = static_cast<std::size_t>(at.back().plus);
  if (joined(at, 0, at.size() - 1, x, coordinates, x.size()) != updates)
    r.refuse("indices and updates are of different numbers");
  for (std::size_t d = 0; d < coordinates; ++d)
    if (x[d].varies()) r.refuse(0, "places along them are written");
  r.result(0, x);
}

void follow_one_hot(interpretation& r) {
  for (const std::size_t i : {1, 2}) r.require_whole(i, "it is the depth or the values");
  std::vector<amount> axes = r.axes(0);
  const std::size_t axis = r.axis(r.op().integer("axis", -1), axes.size() + 1);
  axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(axis), number(r.out_shape()[axis]));
  r.result(0, axes);
}

void follow_regions(interpretation& r) {
  r.require_whole(0, "regions are cut from it");
  const std::vector<amount> regions = r.axes(1), images = r.axes(2);
  if (regions.size() != 2 || images.size() != 1 || regions[1].varies() || regions[0] != images[0])
    r.refuse("regions and the images that they are in are of different numbers");
  std::vector<amount> axes = {regions[0]};
  for (std::size_t d = 1; d < r.out_shape().size(); ++d) axes.push_back(number(r.out_shape()[d]));
  r.result(0, axes);
}

/// NonZero, Compress and a Range that counts at run time.
void follow_chosen(interpretation& r) {
  const node& n = r.op();
  const i64 rows = n.integer(reference::suppression_bound, 0);
  if (rows > max_rows)
    refuse(describe(r.all().source(), n) + ": it may have " + std::to_string(rows) + " results, more than 2^24");
  const std::size_t condition = n.op == "Compress" ? 1 : 0;
  std::string key = n.op == "Range" ? r.all().signature(n) : "not 0: " + r.all().same_as(n.inputs[condition]);
  if (key.empty()) key = "of " + r.all().same_as(n.outputs[0]);
  const amount count = r.known_counts().chosen(key, rows, n.outputs[0]);
  r.all().set_chosen(n.outputs[0], count);
  if (n.op == "NonZero") return r.result(0, {number(static_cast<i64>(r.rank(0))), count}, true);
  if (n.op == "Range") return r.result(0, {count}, true);
  const std::vector<amount> x = r.axes(0);
  if (!n.has("axis")) {
    for (std::size_t d = 1; d < x.size(); ++d)
      if (x[d].varies()) r.refuse(0, "it is read as one line");
    return r.result(0, {count}, true);
  }
  std::vector<amount> axes = x;
  const std::size_t axis = r.axis(n.integer("axis", 0), x.size());
  if (x[axis].varies() && r.bounded(1) && r.axes(1)[0] != x[axis])
    r.refuse(0, "the condition has another number of them");
  axes[axis] = count;
  r.result(0, axes, true);
}

void follow_unique(interpretation& r) {
  r.require_whole(0, "Unique would count what is none of them");
  const node& n = r.op();
  const amount count = r.known_counts().chosen("unique " + r.all().same_as(n.outputs[0]),
                                               n.integer(reference::suppression_bound, 0), n.outputs[0]);
  r.all().set_chosen(n.outputs[0], count);
  std::vector<amount> axes = r.axes(0);
  if (n.has("axis"))
    axes[r.axis(n.integer("axis", 0), axes.size())] = count;
  else
    axes = {count};
  r.result(0, axes, true);
  r.result(1, {count}, true);
  r.result(3, {count}, true);
}

void follow_suppression(interpretation& r) {
  const node& n = r.op();
  const std::vector<amount> boxes = r.axes(0), scores = r.axes(1);
  for (const std::size_t d : {0, 1})
    if (scores[d].varies()) r.refuse(1, "images and classes must be of fixed numbers");
  if (boxes[0].varies() || boxes[1] != scores[2]) r.refuse("boxes and scores are of different numbers");
  if (!chooses(n)) r.refuse("all its rows count there");
  std::string key = r.all().signature(n);
  if (key.empty()) key = "of " + r.all().same_as(n.outputs[0]);
  const amount count = r.known_counts().chosen(key, n.integer(reference::suppression_bound, 0), n.outputs[0]);
  r.all().set_chosen(n.outputs[0], count);
  r.result(0, {count, number(3)}, true);
}

/// The count itself (nsk.Length).
void follow_length(interpretation& r) { static_cast<void>(r); }

}
