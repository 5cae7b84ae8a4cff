// SPDX-License-Identifier: MIT
/// Rules for operators on integers: bits, steps between boundaries, shapes.
#include <algorithm>

#include "import/tflite/rules/nodes.hpp"
#include "import/tflite/rules/operands.hpp"
#include "import/tflite/rules/rules.hpp"

namespace nsk::tool::tflite {
namespace {

using list = std::vector<std::int64_t>;

void bitwise_xor(call& c) {
  c.require_operands(2, 2);
  const char* const op = c.type(c.input(0)) == element::boolean ? "Xor" : "BitwiseXor";
  c.bind(0, c.emit(op, {c.plain(c.input(0)), c.plain(c.input(1))}));
}

/// x >> n is x less its remainder, divided by 2^n.
void right_shift(call& c) {
  c.require_operands(2, 2);
  c.require(c.type(c.input(0)) == element::i32 && c.type(c.input(1)) == element::i32 && c.is_constant(c.input(1)),
            "it shifts int32 by constants alone");
  constexpr std::int64_t max_shift = 31;
  list powers;
  for (const std::int64_t n : integers(c, c.input(1), "the shift"))
    powers.push_back(std::int64_t{1} << std::clamp<std::int64_t>(n, 0, max_shift));
  const value_id divisor = c.constant(make_ints(c.shape(c.input(1)), powers)),
                 x = cast(c, c.plain(c.input(0)), element::i64), rest = c.emit("Mod", {x, divisor});
  c.bind(0, cast(c, c.emit("Div", {c.emit("Sub", {x, rest}), divisor}), element::i32));
}

/// How many boundaries are not above a number.
void bucketize(call& c) {
  c.require_operands(1, 1);
  const auto* boundaries = c.options<tfl::BucketizeOptions>().boundaries();
  c.require(boundaries != nullptr && boundaries->size() > 0, "it has no boundaries. The file is damaged");
  const std::vector<float> sorted(boundaries->begin(), boundaries->end());
  c.require(std::is_sorted(sorted.begin(), sorted.end()), "its boundaries are not in order");
  const auto count = static_cast<std::int64_t>(sorted.size());
  shape_t wide = c.shape(c.input(0));
  wide.push_back(1);
  const value_id x = cast(c, reshaped(c, c.plain(c.input(0)), wide), element::f32),
                 below = c.emit("Not", {c.emit("Less", {x, c.constant(make_floats({count}, sorted))})});
  const value_id sum =
      c.emit("ReduceSum", {cast(c, below, element::f32), constant_integers(c, {-1})}, {{"keepdims", std::int64_t{0}}});
  c.bind(0, cast(c, sum, element::i32));
}

/// The shape to which two shapes broadcast.
void broadcast_shapes(call& c) {
  c.require_operands(2, 2);
  list a = integers(c, c.input(0), "the first shape"), b = integers(c, c.input(1), "the second shape");
  const std::size_t axes = std::max(a.size(), b.size());
  a.insert(a.begin(), axes - a.size(), 1);
  b.insert(b.begin(), axes - b.size(), 1);
  array result(c.type(c.output()), {static_cast<std::int64_t>(axes)});
  if (!is_integer(result.type)) c.fail("its result must hold integers. The file is damaged");
  for (std::size_t i = 0; i < axes; ++i) {
    c.require(a[i] == b[i] || a[i] == 1 || b[i] == 1, "its shapes do not broadcast");
    result.set_integer(static_cast<std::int64_t>(i), a[i] == 1 ? b[i] : a[i]);
  }
  c.bind(0, c.constant(std::move(result)));
}

}

void add_integers(table& t) {
  t["BITWISE_XOR"] = {bitwise_xor};
  t["RIGHT_SHIFT"] = {right_shift};
  t["BUCKETIZE"] = {bucketize};
  t["BROADCAST_ARGS"] = {broadcast_shapes};
}

}
