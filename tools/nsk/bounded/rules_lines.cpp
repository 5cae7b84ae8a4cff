// SPDX-License-Identifier: MIT
/// Arithmetic, sums, sorts, layers and products. Numbers in unused places do not change them.
#include <algorithm>
#include <set>

#include "bounded/fill.hpp"

namespace nsk::tool::bounded {

std::vector<bool> reduced_axes(const interpretation& r) {
  std::vector<i64> axes = r.op().integers("axes");
  if (r.has(1)) axes = r.constants(1);
  const bool none = axes.empty() && r.op().integer("noop_with_empty_axes", 0) != 0;
  std::vector<bool> reduced(r.rank(0), axes.empty() && !none);
  for (const i64 a : axes) reduced[r.axis(a, r.rank(0))] = true;
  return reduced;
}

namespace {

/// The used elements along an axis that several operands share: those that vary agree, and no other is longer than 1.
class shared_axis {
 public:
  explicit shared_axis(interpretation& r) : m_r(r) {}
  void add(std::size_t i, const amount& a) {
    if (a.varies() && m_all.varies() && a != m_all) m_r.refuse(i, "an operand has another number of them");
    if (a.varies()) m_all = a, m_operand = i;
    if (!a.varies()) m_longest = std::max(m_longest, a.plus);
    if (m_all.varies() && m_longest > 1)
      m_r.refuse(m_operand,
                 "another operand has " + std::to_string(m_longest) + " elements there, whatever their number");
  }
  bool varies() const { return m_all.varies(); }
  const amount& all() const { return m_all; }

 private:
  interpretation& m_r;
  amount m_all = number(1);
  std::size_t m_operand = 0;
  i64 m_longest = 1;
};

/// Refuses two operands of a sum of products, of equal lengths, whose used elements differ.
void require_equal(interpretation& r, const amount& a, const amount& b) {
  if (a != b && (a.varies() || b.varies())) r.refuse("a sum over them meets another number of elements");
}

std::vector<amount> without(const std::vector<amount>& axes, const std::vector<bool>& reduced, bool keeps) {
  std::vector<amount> left;
  for (std::size_t d = 0; d < axes.size(); ++d)
    if (!reduced[d])
      left.push_back(axes[d]);
    else if (keeps)
      left.push_back(number(1));
  return left;
}

bool meets(const std::vector<amount>& axes, const std::vector<bool>& chosen) {
  for (std::size_t d = 0; d < axes.size(); ++d)
    if (axes[d].varies() && chosen[d]) return true;
  return false;
}

/// Axes of operands that are repeated along each other's, all but the last `inner` ones.
std::vector<amount> broadcast_axes(interpretation& r, std::size_t rank, std::size_t inner) {
  std::vector<amount> axes;
  for (std::size_t d = 0; d + inner < rank; ++d) {
    shared_axis all(r);
    i64 length = 1;
    for (std::size_t i = 0; i < r.input_count(); ++i) {
      if (!r.has(i) || d + r.rank(i) < rank) continue;
      const std::size_t mine = d + r.rank(i) - rank;
      all.add(i, r.axes(i)[mine]);
      length = std::max(length, r.shape(i)[mine]);
    }
    axes.push_back(all.varies() ? all.all() : number(length));
  }
  return axes;
}

/// Axes over which Softmax and its like, CumSum, TopK, ArgMax and LpNormalization compute, one flag per axis.
std::vector<bool> computed_axes(const interpretation& r) {
  const node& n = r.op();
  std::vector<bool> axes(r.rank(0), false);
  if (n.op == "CumSum") {
    axes[r.axis(r.constants(1).at(0), r.rank(0))] = n.integer("reverse", 0) != 0;
    return axes;
  }
  const bool softmax = n.op == "Softmax" || n.op == "LogSoftmax" || n.op == "Hardmax";
  const bool all_behind = softmax && n.version < 13;
  const i64 usual = all_behind ? 1 : n.op == "ArgMax" || n.op == "ArgMin" ? 0 : -1;
  const std::size_t first = r.axis(n.integer("axis", usual), r.rank(0));
  for (std::size_t d = first; d < axes.size() && (d == first || all_behind); ++d) axes[d] = true;
  return axes;
}

void follow_reduction(interpretation& r) {
  const std::vector<bool> reduced = reduced_axes(r);
  const element type = r.input(0).type;
  if (meets(r.axes(0), reduced)) {
    if (type != element::f32 && type != element::i64 && type != element::i32)
      r.refuse(0, "they are reduced as " + std::string(name_of(type)) + "; float32, int32 and int64 are supported");
    if (r.op().op == "ReduceMean" && type != element::f32) r.refuse(0, "the mean of integers is not supported");
  }
  r.result(0, without(r.axes(0), reduced, r.op().integer("keepdims", 1) != 0));
}

void follow_lines(interpretation& r) {
  static_cast<void>(computed_axes(r));
  for (std::size_t i = 1; i < r.input_count(); ++i)
    if (r.has(i)) r.require_whole(i, "it is no list of axes");
  r.result(0, r.axes(0));
}

void follow_arg(interpretation& r) {
  const std::vector<bool> along = computed_axes(r);
  if (meets(r.axes(0), along) && r.op().integer("select_last_index", 0) != 0)
    r.refuse(0, "the last of equal elements may be none of them");
  r.result(0, without(r.axes(0), along, r.op().integer("keepdims", 1) != 0), true);
}

void follow_top_k(interpretation& r) {
  std::vector<amount> axes = r.axes(0);
  const std::size_t axis = r.axis(r.op().integer("axis", -1), axes.size());
  const amount k = r.op().version < 10 ? number(r.op().integer("k", 0)) : r.numbers(1).at(0);
  counts& c = r.known_counts();
  if (k.varies() && axes[axis] != k && c.high(k) > c.low(axes[axis]) && c.clamped(axes[axis], c.low(k), c.high(k)) != k)
    r.refuse("it takes a number of elements that may be larger");
  axes[axis] = k;
  r.result(0, axes);
  r.result(1, axes, true);
}

void follow_layer_norm(interpretation& r) {
  const std::vector<amount> axes = r.axes(0);
  const std::size_t first = r.axis(r.op().integer("axis", -1), axes.size());
  std::vector<bool> normalised(axes.size(), false);
  for (std::size_t d = first; d < axes.size(); ++d) normalised[d] = true;
  if (meets(axes, normalised)) r.refuse(0, "it is normalised over them");
  for (std::size_t i = 1; i < r.input_count(); ++i) r.require_whole(i, "they scale others");
  r.result(0, axes);
  for (const std::size_t o : {1, 2}) r.result(o, without(axes, normalised, true));
}

/// Layers that compute each row, along the first axis, from that row and from operands that all rows share.
void follow_rows(interpretation& r) {
  for (std::size_t i = 1; i < r.input_count(); ++i) r.require_whole(i, "all rows share that operand");
  std::vector<amount> axes = r.axes(0);
  for (std::size_t d = 1; d < axes.size(); ++d)
    if (axes[d].varies()) r.refuse(0, "the operator computes across that axis");
  for (std::size_t o = 0; o < r.op().outputs.size(); ++o) {
    if (!r.wants(o)) continue;
    std::vector<amount> made = whole(r.out_shape(o));
    if (o > 0 || made.empty() || made[0].plus != r.shape(0)[0]) r.refuse(0, "the operator mixes rows");
    made[0] = axes[0];
    r.result(o, made);
  }
}

void follow_resize(interpretation& r) {
  for (std::size_t i = 1; i < r.input_count(); ++i)
    if (r.has(i) && !r.input(i).constant) r.refuse(0, "sizes or scales are not constant");
  if (r.has(3) || r.op().integers("axes").size() != 0 ||
      r.op().text("coordinate_transformation_mode", "") == "tf_crop_and_resize")
    r.refuse(0, "sizes are given in place of scales");
  const std::size_t scales = r.op().version < 11 ? 1 : 2;
  if (!r.has(scales) || r.input(scales).constant->count() < 1 || r.input(scales).constant->number(0) != 1)
    r.refuse(0, "the rows themselves would be resized");
  for (std::size_t d = 1; d < r.rank(0); ++d)
    if (r.axes(0)[d].varies()) r.refuse(0, "the operator computes across that axis");
  std::vector<amount> axes = whole(r.out_shape());
  axes[0] = r.axes(0)[0];
  r.result(0, axes);
}

void follow_mat_mul(interpretation& r) {
  const std::vector<amount> a = r.axes(0), b = r.axes(1);
  if (a.empty() || b.empty()) r.refuse("an operand is a scalar");
  require_equal(r, a.back(), b.size() == 1 ? b[0] : b[b.size() - 2]);
  const std::size_t rank = std::max(a.size(), b.size());
  std::vector<amount> axes = rank > 2 ? broadcast_axes(r, rank, 2) : std::vector<amount>();
  if (a.size() > 1) axes.push_back(a[a.size() - 2]);
  if (b.size() > 1) axes.push_back(b.back());
  r.result(0, axes);
}

void follow_gemm(interpretation& r) {
  const bool a_transposed = r.op().integer("transA", 0) != 0, b_transposed = r.op().integer("transB", 0) != 0;
  const std::vector<amount> a = r.axes(0), b = r.axes(1);
  require_equal(r, a[a_transposed ? 0 : 1], b[b_transposed ? 1 : 0]);
  const std::vector<amount> axes = {a[a_transposed ? 1 : 0], b[b_transposed ? 0 : 1]};
  if (r.has(2)) {
    const std::vector<amount> c = r.axes(2);
    for (std::size_t k = 1; k <= c.size(); ++k) {
      const amount &mine = c[c.size() - k], &made = axes[2 - k];
      if (mine != made && (mine.varies() || (made.varies() && mine.plus > 1)))
        r.refuse("the operand that is added has another number of elements");
    }
  }
  r.result(0, axes);
}

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

void follow_elementwise(interpretation& r) {
  const std::size_t rank = r.out_shape().size();
  std::vector<amount> axes = broadcast_axes(r, rank, 0);
  for (std::size_t d = 0; d < rank; ++d)
    if (!axes[d].varies()) axes[d] = number(r.out_shape()[d]);
  r.result(0, axes, (r.op().op == "Identity" || r.op().op == "Cast") && r.picks(0));
}

void add_line_rules(rule_table& t) {
  for (const char* op : {"Div", "Mod"}) t[op] = {follow_elementwise, fill_divisor};
  for (const char* op : {"ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare",
                         "ReduceLogSum", "ReduceLogSumExp"})
    t[op] = {follow_reduction, fill_reduction};
  t["ReduceMean"] = {follow_reduction, fill_mean};
  for (const char* op : {"Softmax", "LogSoftmax", "Hardmax", "LpNormalization", "CumSum"})
    t[op] = {follow_lines, fill_lines};
  for (const char* op : {"ArgMax", "ArgMin"}) t[op] = {follow_arg, fill_lines};
  t["TopK"] = {follow_top_k, fill_top_k};
  t["LayerNormalization"] = {follow_layer_norm};
  for (const char* op : {"Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool", "GlobalAveragePool",
                         "GlobalMaxPool", "GlobalLpPool", "BatchNormalization", "InstanceNormalization",
                         "GroupNormalization", "LRN", "DepthToSpace", "SpaceToDepth"})
    t[op] = {follow_rows};
  t["Resize"] = {follow_resize};
  t["Upsample"] = {follow_resize};
  t["MatMul"] = {follow_mat_mul, fill_mat_mul};
  t["Gemm"] = {follow_gemm, fill_mat_mul};
}

}
