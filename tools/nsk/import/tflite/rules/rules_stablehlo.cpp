// SPDX-License-Identifier: MIT
/// STABLEHLO_GATHER: slices at computed places.
#include <algorithm>
#include <numeric>

#include "import/tflite/rules/nodes.hpp"
#include "import/tflite/rules/operands.hpp"
#include "import/tflite/rules/rules.hpp"

namespace nsk::tool::tflite {
namespace {

using list = std::vector<std::int64_t>;

/// The options, checked against operand and indices.
struct slices {
  list offsets, collapsed, axes, sizes;
  std::size_t vector = 0;  ///< the axis of the indices that holds the numbers of one; their rank: one number each
};

/// Refuses lists that name an axis twice, or one of more than `rank`; empty where there is none.
list axes_of(const call& c, const flatbuffers::Vector<std::int64_t>* given, std::size_t rank) {
  list result;
  std::vector<char> seen(rank, 0);
  for (const std::int64_t a : listed_integers(given)) {
    c.require(a >= 0 && a < static_cast<std::int64_t>(rank), "its options name an axis that does not exist");
    c.require(seen[static_cast<std::size_t>(a)]++ == 0, "its options name an axis twice");
    result.push_back(a);
  }
  return result;
}

slices slices_of(call& c) {
  const auto& o = c.options_beyond<tfl::StablehloGatherOptions>();
  const shape_t &x = c.shape(c.input(0)), &i = c.shape(c.input(1));
  slices s;
  s.offsets = axes_of(c, o.offset_dims(), c.rank(c.output()));
  s.collapsed = axes_of(c, o.collapsed_slice_dims(), x.size());
  s.axes = axes_of(c, o.start_index_map(), x.size());
  s.sizes = listed_integers(o.slice_sizes());
  c.require(s.sizes.size() == x.size(), "it must have one size per dimension");
  for (std::size_t d = 0; d < x.size(); ++d)
    c.require(s.sizes[d] >= 1 && s.sizes[d] <= x[d], "a slice is empty, or longer than its input");
  for (const std::int64_t d : s.collapsed)
    c.require(s.sizes[static_cast<std::size_t>(d)] == 1, "an axis that the result lacks is longer than 1");
  c.require(o.index_vector_dim() >= 0 && o.index_vector_dim() <= static_cast<std::int64_t>(i.size()),
            "its options name an axis of the indices that does not exist");
  s.vector = static_cast<std::size_t>(o.index_vector_dim());
  const std::int64_t numbers = s.vector == i.size() ? 1 : i[s.vector];
  c.require(numbers == static_cast<std::int64_t>(s.axes.size()) && numbers > 0, "an index has more or fewer numbers");
  c.require(s.offsets.size() + s.collapsed.size() == x.size() && std::is_sorted(s.offsets.begin(), s.offsets.end()) &&
                c.rank(c.output()) == s.offsets.size() + i.size() - (s.vector == i.size() ? 0 : 1),
            "its options do not fit input and result");
  return s;
}

/// The first row of each slice [count, 1]: starts that would reach outside move inwards. `stride`: rows per step.
value_id first_rows(call& c, const slices& s, const list& stride) {
  const shape_t& x = c.shape(c.input(0));
  value_id v = cast(c, c.plain(c.input(1)), element::i64);
  const std::size_t rank = c.at(v).shape.size();
  if (s.vector + 1 < rank) {
    list order(rank);
    std::iota(order.begin(), order.end(), 0);
    std::rotate(order.begin() + static_cast<std::ptrdiff_t>(s.vector),
                order.begin() + static_cast<std::ptrdiff_t>(s.vector) + 1, order.end());
    v = transposed(c, v, order);
  }
  const auto numbers = static_cast<std::int64_t>(s.axes.size());
  v = reshaped(c, v, {count_of(c.at(v).shape) / numbers, numbers});
  list last, steps;
  for (const std::int64_t a : s.axes) {
    const auto d = static_cast<std::size_t>(a);
    last.push_back(x[d] - s.sizes[d]);
    steps.push_back(stride[d]);
  }
  v = c.emit("Min", {c.emit("Max", {v, constant_integers(c, {0})}), constant_integers(c, last)});
  v = c.emit("Mul", {v, constant_integers(c, steps)});
  return numbers == 1 ? v : c.emit("ReduceSum", {v, constant_integers(c, {1})}, {{"keepdims", std::int64_t{1}}});
}

/// Rows of whole trailing axes are picked by number: those of the slice's corner, and of its other places from there.
void gather(call& c) {
  c.require_operands(2, 2);
  const slices s = slices_of(c);
  const shape_t& x = c.shape(c.input(0));
  std::size_t split = x.size();  // the axes from here on are in every slice from end to end
  while (split > 0 && s.sizes[split - 1] == x[split - 1]) --split;
  for (const std::int64_t a : s.axes) split = std::max(split, static_cast<std::size_t>(a) + 1);
  list stride(x.size(), 0);
  std::int64_t rows = 1, places = 1;
  for (std::size_t d = split; d-- > 0; rows *= x[d], places *= s.sizes[d]) stride[d] = rows;
  c.all().made.limits().make(places, "its places");
  list from(static_cast<std::size_t>(places), 0);
  for (std::size_t p = 0; p < from.size(); ++p) {
    auto rest = static_cast<std::int64_t>(p);
    for (std::size_t d = split; d-- > 0; rest /= s.sizes[d]) from[p] += rest % s.sizes[d] * stride[d];
  }
  const shape_t whole(x.begin() + static_cast<std::ptrdiff_t>(split), x.end());
  const value_id which = c.emit("Add", {first_rows(c, s, stride), constant_integers(c, from)});
  const value_id picked =
      c.emit("Gather", {reshaped(c, c.plain(c.input(0)), {rows, count_of(whole)}), which}, {{"axis", std::int64_t{0}}});
  shape_t batch = c.shape(c.input(1)), made;
  if (s.vector < batch.size()) batch.erase(batch.begin() + static_cast<std::ptrdiff_t>(s.vector));
  made = batch;
  for (std::size_t d = 0; d < x.size(); ++d)
    if (std::find(s.collapsed.begin(), s.collapsed.end(), static_cast<std::int64_t>(d)) == s.collapsed.end())
      made.push_back(s.sizes[d]);
  list order;
  for (std::size_t d = 0, of_batch = 0, of_slice = batch.size(); d < made.size(); ++d) {
    const bool is_offset = std::binary_search(s.offsets.begin(), s.offsets.end(), static_cast<std::int64_t>(d));
    order.push_back(static_cast<std::int64_t>(is_offset ? of_slice++ : of_batch++));
  }
  const value_id y = reshaped(c, picked, made);
  c.bind(0, std::is_sorted(order.begin(), order.end()) ? y : transposed(c, y, order));
}

}

void add_stablehlo(table& t) { t["STABLEHLO_GATHER"] = {gather, moves_numbers}; }

}
