// SPDX-License-Identifier: MIT
/// Random numbers, and draws that follow from them. The attribute `seed` is not read: the game seeds the session.
#include "passes/canonicalise/canonicaliser.hpp"
#include "reference/operators.hpp"

namespace nsk::tool {

int canonicaliser::drawn(const node& n, random_kind kind, shape_t shape, const std::string& suffix) {
  const int result = temporary(n, suffix, std::move(shape));
  random_parameters p;
  p.kind = kind;
  p.stream = static_cast<std::uint32_t>(n.integer(reference::random_stream, 0));
  emit(n, p, {}, result);
  return result;
}

void canonicaliser::random(const node& n) {
  if (m_graph.values[static_cast<std::size_t>(n.outputs[0])].type != element::f32)
    refuse_node(n, "random numbers have a kernel for float32");
  if (count_of(out_shape(n)) == 0) refuse_node(n, "it makes no elements; cut the graph before it");
  random_parameters p;
  p.stream = static_cast<std::uint32_t>(n.integer(reference::random_stream, 0));
  if (n.op.rfind("RandomNormal", 0) == 0) {
    p.kind = random_kind::normal;
    p.scale = static_cast<double>(n.number("scale", 1));
    p.offset = static_cast<double>(n.number("mean", 0));
  } else {
    p.offset = static_cast<double>(n.number("low", 0));
    p.scale = static_cast<double>(n.number("high", 1)) - p.offset;
  }
  emit(n, p, {});
}

/// The largest of logits + Gumbel noise is a draw from their softmax (Gumbel, 1954); so every draw is independent of
/// the others, and classes need not be added up.
void canonicaliser::multinomial(const node& n) {
  if (in_type(n, 0) != element::f32) refuse_node(n, "Multinomial has a kernel for float32 logits");
  const shape_t& logits = in_shape(n, 0);
  const std::int64_t rows = logits[0], classes = logits[1], draws = out_shape(n)[1];
  const shape_t all = {rows, draws, classes};
  const int noise = drawn(n, random_kind::gumbel, all, "noise"), sum = temporary(n, "sum", all);
  combine(n, binary_kind::add, reshaped(n, in(n, 0), {rows, 1, classes}), noise, "sum", sum);
  const element type = m_graph.values[static_cast<std::size_t>(n.outputs[0])].type;
  const int position = temporary(n, "position", {rows, draws, 1}, element::i64);
  emit(n, arg_reduce_parameters{2, arg_reduce_kind::max, false}, {sum}, position);
  if (type == element::i64) {
    emit(n, reshape_parameters{}, {position});
  } else {
    emit(n, cast_parameters{}, {reshaped(n, position, {rows, draws})});
  }
}

void canonicaliser::bernoulli(const node& n) {
  if (in_type(n, 0) != element::f32) refuse_node(n, "Bernoulli has a kernel for float32 probabilities");
  const element type = m_graph.values[static_cast<std::size_t>(n.outputs[0])].type;
  const int number = drawn(n, random_kind::uniform, in_shape(n, 0), "number");
  if (type == element::boolean) {
    emit(n, compare_parameters{compare_kind::less}, {number, in(n, 0)});
    return;
  }
  const int below = temporary(n, "below", in_shape(n, 0), element::boolean);
  emit(n, compare_parameters{compare_kind::less}, {number, in(n, 0)}, below);
  emit(n, cast_parameters{}, {below});
}

}
