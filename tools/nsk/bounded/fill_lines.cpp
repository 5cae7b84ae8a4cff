// SPDX-License-Identifier: MIT
/// Sums, extremes, sorts and products with numbers in unused places that do not change them.
#include <algorithm>
#include <set>

#include "bounded/fill.hpp"

namespace nsk::tool::bounded {
namespace {

neutral neutral_for(const node& n) {
  static const std::set<std::string> lowest = {"ReduceMax",  "ReduceLogSumExp", "Softmax",
                                               "LogSoftmax", "Hardmax",         "ArgMax"};
  if (lowest.count(n.op) != 0) return neutral::lowest;
  if (n.op == "ReduceMin" || n.op == "ArgMin") return neutral::highest;
  return n.op == "ReduceProd" ? neutral::one : neutral::zero;
}

void place_masked(filler& f, const std::vector<bool>& axes, neutral other) {
  std::vector<value_id> inputs = f.op().inputs;
  inputs[0] = f.masked(inputs[0], axes, other);
  f.place_with(inputs);
}

}

/// Unused places divide by 1: integers would raise a flag.
void fill_divisor(filler& f) {
  std::vector<value_id> inputs = f.op().inputs;
  const std::vector<bool> all(f.made(inputs[1]).shape.size(), true);
  if (is_integer(f.made(inputs[1]).type)) inputs[1] = f.masked(inputs[1], all, neutral::one);
  f.place_with(inputs);
}

void fill_reduction(filler& f) { place_masked(f, reduced_axes(f.at()), neutral_for(f.op())); }

/// The sum, divided by how many there are.
void fill_mean(filler& f) {
  const std::vector<bool> reduced = reduced_axes(f.at());
  if (!f.varies(f.input(0), reduced)) return f.place(f.op());
  const value_id result = f.op().outputs[0];
  const std::vector<amount> axes = f.at().axes(0);
  amount whole = number(1);
  std::vector<value_id> lengths;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    if (!reduced[d]) continue;
    if (axes[d].varies())
      lengths.push_back(f.value_of(axes[d]));
    else
      whole.plus *= axes[d].plus;
  }
  value_id count = f.integers({}, {whole.plus});
  for (const value_id v : lengths) count = f.emit("Mul", {count, v});
  node sum = f.op();
  sum.op = "ReduceSum";
  sum.inputs[0] = f.masked(f.input(0), reduced, neutral::zero);
  const element type = f.made(result).type;
  const value_id total = f.new_value(sum.name + "/sum", type, shape_t(f.made(result).shape));
  sum.outputs[0] = total;
  f.place(std::move(sum));
  f.emit("Div", {total, f.cast(count, type)}, {}, result);
}

void fill_lines(filler& f) { place_masked(f, computed_axes(f.at()), neutral_for(f.op())); }

void fill_top_k(filler& f) {
  const node& n = f.op();
  std::vector<value_id> inputs = n.inputs;
  const std::vector<amount> axes = f.at().axes(0);
  const std::size_t axis = f.at().axis(n.integer("axis", -1), axes.size());
  const i64 k = f.made(n.outputs[0] != no_value ? n.outputs[0] : n.outputs[1]).shape[axis];
  const bool counted = n.version >= 10 && f.at().numbers(1).at(0).varies();
  if (counted) inputs[1] = f.integers({1}, {k});
  if (axes[axis].varies()) {
    const value_id end = counted ? f.value_of(axes[axis]) : f.value_with_minimum(axes[axis], k);
    const neutral other = n.integer("largest", 1) != 0 ? neutral::lowest : neutral::highest;
    const value& x = f.made(inputs[0]);
    const value_id loser = f.neutral_of(x.type, other);
    inputs[0] = f.emit("Where", {f.is_used(end, f.made(inputs[0]).shape[axis], axis, axes.size()), inputs[0], loser});
  }
  f.place_with(inputs);
}

/// Both operands are 0 along what is summed over: what is unused may be infinite.
void fill_mat_mul(filler& f) {
  const node& n = f.op();
  std::vector<value_id> inputs = n.inputs;
  for (const std::size_t i : {0, 1}) {
    const std::size_t rank = f.made(inputs[i]).shape.size();
    std::vector<bool> summed(rank, false);
    const bool transposed = n.op == "Gemm" && n.integer(i == 0 ? "transA" : "transB", 0) != 0;
    const bool last = (i == 0) != transposed || rank == 1;
    summed[last ? rank - 1 : rank - 2] = true;
    inputs[i] = f.masked(inputs[i], summed, neutral::zero);
  }
  f.place_with(inputs);
}

}
