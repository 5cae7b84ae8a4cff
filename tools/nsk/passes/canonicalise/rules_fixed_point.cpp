// SPDX-License-Identifier: MIT
/// Sums of stored integers in fixed point, as LiteRT computes them, and functions of a byte for each channel.
#include <cmath>
#include <string>
#include "graph/integer_range.hpp"
#include "passes/canonicalise/arithmetic.hpp"
#include "passes/canonicalise/byte_steps.hpp"
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/moves.hpp"
#include "passes/canonicalise/rules.hpp"

namespace nsk::tool::canonical {
namespace {

/// Products and sums that float32 holds exactly, in the parts that kernels/int8/quantized_binary.hpp names: for GPUs,
/// which have no steps on bytes.
void sum_of_floats(context& c, const fixed_point_sum& s) {
  const auto number = [&](const char* name, std::int64_t v) { return scalar(c, name, static_cast<double>(v)); };
  const auto wide = [&](std::size_t i) {
    const int x = c.temporary("wide" + std::to_string(i), c.in_shape(i));
    c.emit(cast_params{}, {c.in(i)}, x);
    return x;
  };
  const int a = wide(0), b = wide(1);
  const auto part = [&](const std::string& name, auto part_of) {
    const int left = combine(c, binary_kind::mul, a, number("a", part_of(s.a_multiplier)), name + "_a"),
              right = combine(c, binary_kind::mul, b, number("b", part_of(s.b_multiplier)), name + "_b");
    return combine(c, binary_kind::add, combine(c, binary_kind::add, left, right, name + "_sum"),
                   number("bias", part_of(s.bias)), name);
  };
  const auto digits_of = [](std::int64_t x) { return ((x % 1024) + 1024) % 1024; };
  const int digits = part("digits", digits_of),
            above = part("above", [&](std::int64_t x) { return (x - digits_of(x)) / 1024; });
  const auto halved = [&](int x, int bits, const std::string& name) {
    const int scaled =
        combine(c, binary_kind::mul, x, scalar(c, name + "_step", std::ldexp(1.0, -bits)), name + "_scaled");
    return apply(c, scaled, function::floor, name);
  };
  const int units =
      halved(combine(c, binary_kind::add, above, halved(digits, 10, "carry"), "carried"), s.shift - 10, "units");
  const integer_range range = *range_of_stored(c.output().type);
  const int moved = combine(c, binary_kind::add, units, number("zero", s.zero), "moved");
  c.emit(cast_params{},
         {apply(c, moved, function::clip, "stored", static_cast<double>(range.low), static_cast<double>(range.high))});
}

void fixed_point_add(context& c) {
  const node& n = c.op();
  const fixed_point_sum s{n.integer("a_multiplier", 0), n.integer("b_multiplier", 0), n.integer("bias", 0),
                          static_cast<int>(n.integer("shift", 0)), n.integer("zero", 0)};
  if (!emit_fixed_point_sum(c, s)) sum_of_floats(c, s);
}

/// For GPUs: the place in all tables, which are in the order of the numbers.
void channel_tables(context& c) {
  if (emit_channel_tables(c)) return;
  const value& tables = c.input(1);
  if (!tables.constant) c.refuse("its tables are computed at run time, but they must be a constant of the model");
  const std::size_t axis = static_cast<std::size_t>(c.axis(c.op().integer("axis", 1), c.in_shape(0).size()));
  const std::int64_t low = range_of_stored(c.in_type(0))->low, count = tables.constant->count();
  std::vector<std::int64_t> first, numbers;
  for (std::int64_t i = 0; i < count; i += 256) first.push_back(i - low);
  for (std::int64_t i = 0; i < count; ++i)
    numbers.push_back(tables.constant->integer(i / 256 * 256 + ((i + low) & 255)));
  shape_t along(c.in_shape(0).size(), 1);
  along[axis] = c.in_shape(0)[axis];
  const int wide = c.temporary("wide", c.in_shape(0), element::i32);
  c.emit(cast_params{}, {c.in(0)}, wide);
  const int place = combine(c, arithmetic_kind::add, wide,
                            constant_integers(c, "first", std::move(along), element::i32, first), "place");
  const std::int64_t elements = count_of(c.in_shape(0));
  const int found = c.temporary("found", {elements}, tables.type);
  c.emit(gather_parameters{0, false},
         {constant_integers(c, "tables", {count}, tables.type, numbers), reshaped(c, place, {elements})}, found);
  c.emit(reshape_parameters{}, {found});
}

}

void add_fixed_point(rule_table& t) {
  t["netsuke.FixedPointAdd"] = {fixed_point_add, element_types::any};
  t["netsuke.ChannelTables"] = {channel_tables, element_types::any};
}
}
