// SPDX-License-Identifier: MIT
/// Casts, comparisons, logic and choices, on any element type.
#include <limits>
#include "passes/canonicalise/arithmetic.hpp"
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/moves.hpp"
#include "passes/canonicalise/rules.hpp"

namespace nsk::tool::canonical {
namespace {

void cast(context& c) {
  const node& n = c.op();
  const element to = c.output().type;
  if (n.op == "CastLike" && (to == element::i8 || to == element::u8))
    c.refuse("its second input is 8 bits wide here, but may have been narrower in the file; use Cast");
  if (to == c.in_type(0)) return identity(c);
  c.emit(cast_params{}, {c.in(0)});
}

void compare(context& c) {
  const node& n = c.op();
  const bool swaps = n.op.rfind("Greater", 0) == 0, or_equal = n.op.find("OrEqual") != std::string::npos;
  const compare_kind kind = n.op == "Equal" ? compare_kind::equal
                            : or_equal      ? compare_kind::less_equal
                                            : compare_kind::less;
  c.emit(compare_params{kind}, {c.in(swaps ? 1 : 0), c.in(swaps ? 0 : 1)});
}

void logical(context& c) {
  const node& n = c.op();
  const arithmetic_kind kind = n.op.find("And") != std::string::npos   ? arithmetic_kind::bit_and
                               : n.op.find("Xor") != std::string::npos ? arithmetic_kind::bit_xor
                                                                       : arithmetic_kind::bit_or;
  if (c.in_type(0) != element::boolean && !is_computed_integer(c.in_type(0)))
    c.refuse("bit operations have kernels for bool, int32 and int64");
  c.emit(arithmetic_params{kind}, {c.in(0), c.in(1)});
}

void logical_not(context& c) {
  c.emit(arithmetic_params{arithmetic_kind::bit_xor},
         {c.in(0), constant_integers(c, "true", {}, element::boolean, {1})});
}

void where(context& c) { c.emit(select_params{}, {c.in(0), c.in(1), c.in(2)}); }

/// Input 0; refuses other types than float32.
int float_tested(context& c) {
  if (c.in_type(0) != element::f32) c.refuse("it has a kernel for float32. Export the model in float32");
  return c.in(0);
}

/// What differs from itself.
void is_nan(context& c) {
  const int same = c.temporary("same", c.in_shape(0), element::boolean), x = float_tested(c);
  c.emit(compare_params{compare_kind::equal}, {x, x}, same);
  c.emit(arithmetic_params{arithmetic_kind::bit_xor}, {same, constant_integers(c, "true", {}, element::boolean, {1})});
}

void is_inf(context& c) {
  const node& n = c.op();
  const bool negative = n.integer("detect_negative", 1) != 0, positive = n.integer("detect_positive", 1) != 0;
  if (!negative && !positive) c.refuse("it detects nothing; replace it by a constant");
  int x = float_tested(c);
  if (negative && positive) x = apply(c, x, function::abs, "abs");
  const double limit = std::numeric_limits<double>::infinity();
  c.emit(compare_params{compare_kind::equal}, {x, scalar(c, "limit", positive ? limit : -limit)});
}

}

void add_comparison(rule_table& t) {
  t["Cast"] = {cast, element_types::any};
  t["CastLike"] = {cast, element_types::any};
  add_rows(t, {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}, {compare, element_types::any});
  add_rows(t, {"And", "Or", "Xor", "BitwiseAnd", "BitwiseOr", "BitwiseXor"}, {logical, element_types::any});
  t["Not"] = {logical_not, element_types::any};
  t["Where"] = {where, element_types::any};
  t["IsNaN"] = {is_nan, element_types::any};
  t["IsInf"] = {is_inf, element_types::any};
}

}
