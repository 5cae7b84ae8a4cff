// SPDX-License-Identifier: MIT
/// Operators that compute each element alone, from operands that are broadcast.
#include <algorithm>
#include <set>

#include "chunks/rules.hpp"

namespace nsk::tool::chunks {
namespace {

/// The axis of an operand that is the result's axis `axis`; below 0 where it has none.
std::int64_t own_axis(std::size_t axis, std::size_t result, std::size_t rank) {
  return static_cast<std::int64_t>(axis) - static_cast<std::int64_t>(result) + static_cast<std::int64_t>(rank);
}

/// Where the time axis is in the result. Refuses operands that have it elsewhere, or other rates.
course common_course(writer& w, const std::vector<flow>& operands, std::size_t rank) {
  const flow* first = nullptr;
  std::size_t axis = 0;
  for (const flow& f : operands) {
    if (!f.timed()) continue;
    const std::size_t own = f.c.axis + rank - f.rank();
    if (first != nullptr && own != axis) refuse_whole(w, "its operands have the samples along different axes");
    if (first != nullptr && (f.c.up != first->c.up || f.c.down != first->c.down))
      w.refuse("its operands have different numbers of elements for each sample");
    first = &f;
    axis = own;
  }
  course c = first->c;
  c.axis = axis;
  return c;
}

/// Operands become equally late; what is still has no time axis.
void broadcast(writer& w, const node& n) {
  const std::size_t rank = w.source(n.outputs[0]).shape.size();
  std::vector<flow> operands;
  bool timed = false, latest = false;
  for (const value_id v : n.inputs) {
    operands.push_back(v == no_value ? flow() : w.of(v));
    timed |= operands.back().timed();
    latest |= operands.back().c.how == relation::latest;
  }
  if (timed && latest) refuse_whole(w, "it joins samples with what is known after the last one");
  if (!timed) return w.give(ids_of(w, n), {relation::latest});
  course c = common_course(w, operands, rank);
  c.late = w.align(operands).late;
  std::vector<value_id> ids;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!n.reads(i) || operands[i].timed())
      ids.push_back(operands[i].id);
    else
      ids.push_back(without_time(w, n.inputs[i], own_axis(c.axis, rank, operands[i].rank())));
  }
  w.give(ids, c);
}

/// A function that is 0 at 0: zeros in front of the signal stay so, and need not be computed.
void keep_zeros(writer& w, const node& n) {
  const flow& x = w.of(n.inputs[0]);
  if (!x.timed() || x.c.late >= 0 || x.c.before != 0) return broadcast(w, n);
  w.give(ids_of(w, n), x.c);
}

/// It drops nothing, but for training.
void drop_nothing(writer& w, const node& n) {
  if (n.gives(1)) w.refuse("its mask is not supported here");
  keep_course(w, n);
}

/// Integers for floats, and back: one scale, or one for each position of another axis.
void requantize(writer& w, const node& n) {
  const flow& x = signal(w, n);
  const bool plain = x.timed() && (w.source(n.inputs[1]).shape.empty() || w.source(n.inputs[1]).constant->count() == 1);
  if (x.timed() && !plain && axis_of(n.integer("axis", 1), x.rank()) == x.c.axis)
    w.refuse("it has a scale for each sample");
  if (n.integer("block_size", 0) != 0) w.refuse("it has scales for blocks of samples");
  keep_course(w, n);
}

}

void add_elementwise_rules(rule_table& t) {
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Pow", "Min", "Max", "Sum", "Mean", "Mod", "PRelu", "Where"})
    t[op] = broadcast;
  for (const char* op : {"Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "And", "Or", "Xor", "BitShift"})
    t[op] = broadcast;
  for (const char* op : {"BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot", "Not", "Clip", "Sigmoid"})
    t[op] = broadcast;
  for (const char* op : {"HardSigmoid", "Softplus", "Exp", "Log", "Reciprocal", "Cos", "Acos", "Cosh", "Acosh"})
    t[op] = broadcast;
  for (const char* op : {"IsNaN", "IsInf"}) t[op] = broadcast;
  for (const char* op : {"Relu", "LeakyRelu", "Tanh", "Elu", "Selu", "Celu", "ThresholdedRelu", "Softsign"})
    t[op] = keep_zeros;
  for (const char* op : {"HardSwish", "Mish", "Gelu", "Swish", "Erf", "Sqrt", "Abs", "Neg", "Sign", "Floor", "Ceil"})
    t[op] = keep_zeros;
  for (const char* op : {"Round", "Sin", "Sinh", "Asin", "Asinh", "Tan", "Atan", "Atanh", "Cast", "Identity"})
    t[op] = keep_zeros;
  t["Dropout"] = drop_nothing;
  t["QuantizeLinear"] = t["DequantizeLinear"] = requantize;
}

}
