// SPDX-License-Identifier: MIT
/// Products of matrices whose rows or columns are samples.
#include <algorithm>

#include "chunks/rules.hpp"
#include "graph/einsum.hpp"

namespace nsk::tool::chunks {
namespace {

/// Where the time axis of operand `i` of a MatMul is in its result. Refuses the one that is added up.
std::size_t axis_in_product(writer& w, const node& n, std::size_t i) {
  const flow& x = w.of(n.inputs[i]);
  const std::size_t other = w.of(n.inputs[1 - i]).rank(), added = i == 0 || x.rank() == 1 ? x.rank() - 1 : x.rank() - 2;
  if (x.c.axis == added) refuse_whole(w, "it adds up all samples");
  const std::size_t result = w.source(n.outputs[0]).shape.size();
  if (other == 1) return x.c.axis < added ? x.c.axis : x.c.axis - 1;
  return x.c.axis + result - x.rank();
}

void mat_mul(writer& w, const node& n) {
  std::vector<flow> operands = {w.of(n.inputs[0]), w.of(n.inputs[1])};
  if (!operands[0].timed() && !operands[1].timed()) return w.give(ids_of(w, n), {relation::latest});
  const std::size_t first = operands[0].timed() ? 0 : 1, result = w.source(n.outputs[0]).shape.size();
  const std::size_t axis = axis_in_product(w, n, first);
  const flow& other = operands[1 - first];
  const bool batch = axis + 2 < result && operands[first].rank() > 2;
  if (other.c.how == relation::latest) refuse_whole(w, "it joins samples with what is known after the last one");
  if (other.timed() && (!batch || axis_in_product(w, n, 1 - first) != axis || other.c.up != operands[first].c.up ||
                        other.c.down != operands[first].c.down))
    refuse_whole(w, "each sample is multiplied with all others, as attention does");
  course c = w.align(operands);
  c.axis = axis;
  std::vector<value_id> ids = {operands[0].id, operands[1].id};
  if (batch && !other.timed())
    ids[1 - first] = without_time(w, n.inputs[1 - first],
                                  static_cast<std::int64_t>(axis + other.rank()) - static_cast<std::int64_t>(result));
  w.give(ids, c);
}

void gemm(writer& w, const node& n) {
  const std::size_t i = w.of(n.inputs[0]).c.how != relation::still ? 0 : 1;
  const flow x = w.settled(signal(w, n, i));
  if (!x.timed()) return w.give(ids_of(w, n), {relation::latest});
  const bool swapped = n.integer(i == 0 ? "transA" : "transB", 0) != 0;
  const std::size_t added = (i == 0) != swapped ? 1 : 0;
  if (x.c.axis == added) refuse_whole(w, "it adds up all samples");
  course c = x.c;
  c.axis = i;
  std::vector<value_id> ids = ids_of(w, n);
  ids[i] = x.id;
  if (n.reads(2))
    ids[2] = without_time(w, n.inputs[2], static_cast<std::int64_t>(i + w.of(n.inputs[2]).rank()) - std::int64_t{2});
  w.give(ids, c);
}

/// Products that name their axes: that of the samples stays in the result, and is the same in all operands.
void einsum(writer& w, const node& n) {
  std::vector<flow> operands;
  std::vector<shape_t> shapes;
  for (const value_id v : n.inputs) {
    operands.push_back(w.of(v));
    shapes.push_back(w.source(v).shape);
  }
  const einsum_equation e = einsum_equation_of(n, shapes, describe(w.whole(), n));
  int label = -1;
  bool latest = false;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    latest |= operands[i].c.how == relation::latest;
    if (operands[i].timed()) label = e.inputs[i][operands[i].c.axis];
  }
  if (label < 0) return w.give(ids_of(w, n), {relation::latest});
  if (latest) refuse_whole(w, "it joins samples with what is known after the last one");
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const axis_labels& axes = e.inputs[i];
    const bool timed = operands[i].timed();
    if (std::count(axes.begin(), axes.end(), label) != (timed ? 1 : 0) || (timed && axes[operands[i].c.axis] != label))
      refuse_whole(w, "each sample meets all others");
  }
  const auto place = std::find(e.output.begin(), e.output.end(), label);
  if (place == e.output.end()) refuse_whole(w, "it adds up all samples");
  course c = w.align(operands);
  for (const flow& f : operands)
    if (f.timed() && (f.c.up != c.up || f.c.down != c.down))
      w.refuse("its operands have different numbers of elements for each sample");
  c.axis = static_cast<std::size_t>(place - e.output.begin());
  std::vector<value_id> ids;
  for (const flow& f : operands) ids.push_back(f.id);
  w.give(ids, c);
}

}

void add_product_rules(rule_table& t) {
  t["Einsum"] = einsum;
  t["MatMul"] = mat_mul;
  t["Gemm"] = gemm;
}

}
