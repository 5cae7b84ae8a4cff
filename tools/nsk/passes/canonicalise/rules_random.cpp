// SPDX-License-Identifier: MIT
/// Random numbers, and choices that follow from them. The attribute `seed` is not read: the game seeds the session.
#include "passes/canonicalise/arithmetic.hpp"
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/moves.hpp"
#include "passes/canonicalise/rules.hpp"
#include "reference/operators.hpp"

namespace nsk::tool::canonical {
namespace {

std::uint32_t stream_of(const context& c) {
  return static_cast<std::uint32_t>(c.op().integer(reference::random_stream, 0));
}

/// Random numbers of the node's stream.
int sampled(context& c, random_kind kind, shape_t shape, const std::string& suffix) {
  const int result = c.temporary(suffix, std::move(shape));
  random_parameters p;
  p.kind = kind;
  p.stream = stream_of(c);
  c.emit(p, {}, result);
  return result;
}

void random(context& c) {
  const node& n = c.op();
  if (c.output().type != element::f32) c.refuse("random numbers have a kernel for float32");
  if (count_of(c.out_shape()) == 0)
    c.refuse("it makes no elements. Choose outputs that do not need it (--output-value NAME)");
  random_parameters p;
  p.stream = stream_of(c);
  if (n.op.rfind("RandomNormal", 0) == 0) {
    p.kind = random_kind::normal;
    p.scale = static_cast<double>(n.number("scale", 1));
    p.offset = static_cast<double>(n.number("mean", 0));
  } else {
    p.offset = static_cast<double>(n.number("low", 0));
    p.scale = static_cast<double>(n.number("high", 1)) - p.offset;
  }
  c.emit(p, {});
}

/// The largest of logits + Gumbel noise is a sample of their softmax (Gumbel, 1954); so every sample is independent of
/// the others, and classes need not be added up.
void multinomial(context& c) {
  if (c.in_type(0) != element::f32) c.refuse("Multinomial has a kernel for float32 logits");
  const shape_t& logits = c.in_shape(0);
  const std::int64_t rows = logits[0], classes = logits[1], samples = c.out_shape()[1];
  const shape_t all = {rows, samples, classes};
  const int noise = sampled(c, random_kind::gumbel, all, "noise"), sum = c.temporary("sum", all);
  combine(c, binary_kind::add, reshaped(c, c.in(0), {rows, 1, classes}), noise, "sum", sum);
  const element type = c.output().type;
  const int position = c.temporary("position", {rows, samples, 1}, element::i64);
  c.emit(arg_reduce_params{2, arg_reduce_kind::max, false}, {sum}, position);
  if (type == element::i64) {
    c.emit(reshape_parameters{}, {position});
  } else {
    c.emit(cast_params{}, {reshaped(c, position, {rows, samples})});
  }
}

void bernoulli(context& c) {
  if (c.in_type(0) != element::f32) c.refuse("Bernoulli has a kernel for float32 probabilities");
  const element type = c.output().type;
  const int number = sampled(c, random_kind::uniform, c.in_shape(0), "number");
  if (type == element::boolean) {
    c.emit(compare_params{compare_kind::less}, {number, c.in(0)});
    return;
  }
  const int below = c.temporary("below", c.in_shape(0), element::boolean);
  c.emit(compare_params{compare_kind::less}, {number, c.in(0)}, below);
  c.emit(cast_params{}, {below});
}

}

void add_random(rule_table& t) {
  add_rows(t, {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}, {random, element_types::any});
  t["Multinomial"] = {multinomial, element_types::any};
  t["Bernoulli"] = {bernoulli, element_types::any};
}

}
