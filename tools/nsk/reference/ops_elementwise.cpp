// SPDX-License-Identifier: MIT
/// Element by element: arithmetic, comparison and logic with broadcasting, Where, Clip, Cast.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "graph/onnx_type.hpp"
#include "reference/operators.hpp"

namespace nsk::tool::reference {
namespace {

using u64 = std::uint64_t;
using i64 = std::int64_t;

// Two operands.

/// y[i] = f(a, b) with both operands broadcast.
template <class T, class F>
void zip(call& c, F f) {
  c.require(c.data(0).type != element::boolean && c.data(1).type != element::boolean, "the inputs must be numbers");
  const T *a = c.data(0).as<T>(), *b = c.data(1).as<T>();
  T* y = c.out(0).as<T>();
  for_each_pair(c, [&](i64 i, i64 at_a, i64 at_b) { y[i] = f(a[at_a], b[at_b]); });
}

void require_same_type(call& c, std::size_t first, std::size_t second) {
  if (c.type(first) != c.type(second))
    c.fail("inputs " + std::to_string(first) + " and " + std::to_string(second) +
           " must have the same type. Add a Cast in the exporter");
}

void infer_arithmetic(call& c) {
  c.require_inputs(2, 2);
  require_same_type(c, 0, 1);
  c.require(c.type(0) != element::boolean, "the inputs must be numbers");
  c.declare(0, c.type(0), broadcast(c, c.shape(0), c.shape(1)));
}

template <class FloatF, class IntegerF>
void arithmetic(call& c, FloatF f, IntegerF g) {
  if (c.out(0).type == element::f64)
    zip<double>(c, f);
  else
    zip<i64>(c, g);
}

void evaluate_add(call& c) { arithmetic(c, plus<double>, plus<i64>); }
void evaluate_sub(call& c) { arithmetic(c, minus<double>, minus<i64>); }
void evaluate_mul(call& c) { arithmetic(c, times<double>, times<i64>); }

/// Integer division rounds towards zero.
void evaluate_div(call& c) {
  const bool is_unsigned = c.type(0) == element::u64;
  arithmetic(
      c, [](double a, double b) { return a / b; },
      [&](i64 a, i64 b) {
        if (b == 0) c.fail_on_data("integer division by zero");
        if (is_unsigned) return static_cast<i64>(static_cast<u64>(a) / static_cast<u64>(b));
        return b == -1 ? minus(i64{0}, a) : a / b;
      });
}

void infer_atan2(call& c) {
  infer_arithmetic(c);
  c.require_float(0);
}
void evaluate_atan2(call& c) {
  zip<double>(c, [](double y, double x) { return std::atan2(y, x); });
}

/// fmod = 1 takes the dividend's sign (C), 0 the divisor's (Python).
void evaluate_mod(call& c) {
  const bool fmod = c.op().integer("fmod", 0) != 0, is_unsigned = c.type(0) == element::u64;
  arithmetic(
      c,
      [=](double a, double b) {
        const double r = std::fmod(a, b);
        return !fmod && r != 0 && (r < 0) != (b < 0) ? r + b : r;
      },
      [&](i64 a, i64 b) {
        if (b == 0) c.fail_on_data("integer division by zero");
        if (is_unsigned) return static_cast<i64>(static_cast<u64>(a) % static_cast<u64>(b));
        const i64 r = b == -1 ? 0 : a % b;
        return !fmod && r != 0 && (r < 0) != (b < 0) ? r + b : r;
      });
}

i64 integer_power(i64 base, i64 exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 != 0 ? -1 : 1) : 0;
  u64 result = 1, square = static_cast<u64>(base);
  for (; exponent > 0; exponent >>= 1, square *= square)
    if ((exponent & 1) != 0) result *= square;
  return static_cast<i64>(result);
}

void infer_pow(call& c) {
  c.require_inputs(2, 2);
  c.require(c.type(0) != element::boolean && c.type(1) != element::boolean, "the inputs must be numbers");
  c.declare(0, c.type(0), broadcast(c, c.shape(0), c.shape(1)));
}

void evaluate_pow(call& c) {
  array& y = c.out(0);
  const array &a = c.data(0), &b = c.data(1);
  for_each_pair(c, [&](i64 i, i64 at_a, i64 at_b) {
    if (y.type == element::f64 || b.type == element::f64)
      y.set(i, std::pow(a.number(at_a), b.number(at_b)));
    else
      y.as<i64>()[i] = integer_power(a.integer(at_a), b.integer(at_b));
  });
}

void infer_comparison(call& c) {
  c.require_inputs(2, 2);
  require_same_type(c, 0, 1);
  c.declare(0, element::boolean, broadcast(c, c.shape(0), c.shape(1)));
}

template <class F>
void compare(call& c) {
  by_type(c.data(0).type, [&](auto* tag) {
    using T = pointee<decltype(tag)>;
    const T *a = c.data(0).as<T>(), *b = c.data(1).as<T>();
    for_each_pair(c,
                  [&](i64 i, i64 at_a, i64 at_b) { c.out(0).as<std::uint8_t>()[i] = F()(a[at_a], b[at_b]) ? 1 : 0; });
  });
}

void infer_logic(call& c) {
  infer_comparison(c);
  c.require(c.type(0) == element::boolean, "the inputs must be bool");
}
struct logical_xor {
  template <class T>
  bool operator()(T a, T b) const {
    return (a != 0) != (b != 0);
  }
};

void infer_bitwise(call& c) {
  infer_arithmetic(c);
  c.require(is_integer(c.type(0)), "the inputs must be of an integer type");
}
template <class F>
void bitwise(call& c) {
  zip<i64>(c, F());
}

void evaluate_bit_shift(call& c) {
  const std::string direction = c.op().text("direction", "");
  c.require(direction == "LEFT" || direction == "RIGHT", "attribute 'direction' must be LEFT or RIGHT");
  const bool left = direction == "LEFT", is_unsigned = c.type(0) == element::u64;
  const auto bits = static_cast<i64>(8 * size_of(c.type(0)));
  zip<i64>(c, [=](i64 a, i64 b) {
    if (b < 0 || b >= bits) return !left && !is_unsigned && a < 0 ? i64{-1} : i64{0};
    if (left || is_unsigned) return static_cast<i64>(left ? static_cast<u64>(a) << b : static_cast<u64>(a) >> b);
    return a >> b;
  });
}

void infer_p_relu(call& c) {
  c.require_inputs(2, 2);
  require_same_type(c, 0, 1);
  const shape_t shape = broadcast(c, c.shape(0), c.shape(1));
  c.require(shape == c.shape(0), "the slope must be broadcastable to the input");
  c.declare(0, c.type(0), shape);
}

void evaluate_p_relu(call& c) {
  arithmetic(
      c, [](double x, double slope) { return x < 0 ? slope * x : x; },
      [](i64 x, i64 slope) { return x < 0 ? times(slope, x) : x; });
}

// Any number of operands.

void infer_variadic(call& c) {
  c.require_inputs(1, std::numeric_limits<std::size_t>::max());
  shape_t shape = c.shape(0);
  for (std::size_t i = 1; i < c.input_count(); ++i) {
    require_same_type(c, 0, i);
    shape = broadcast(c, shape, c.shape(i));
  }
  c.declare(0, c.type(0), shape);
}

template <class F>
void fold(call& c, F f) {
  by_type(c.out(0).type, [&](auto* tag) {
    using T = pointee<decltype(tag)>;
    T* y = c.out(0).as<T>();
    for (std::size_t k = 0; k < c.input_count(); ++k) {
      const T* x = c.data(k).as<T>();
      for_each_offset(c.out_shape(0), broadcast_strides(c.shape(k), c.out_shape(0)),
                      [&](i64 i, i64 at) { y[i] = k == 0 ? x[at] : static_cast<T>(f(y[i], x[at])); });
    }
  });
}

void evaluate_min(call& c) {
  fold(c, [](auto a, auto b) { return a != a ? a : b < a || b != b ? b : a; });
}
void evaluate_max(call& c) {
  fold(c, [](auto a, auto b) { return a != a ? a : b > a || b != b ? b : a; });
}
void evaluate_sum(call& c) {
  fold(c, [](auto a, auto b) { return plus(a, b); });
}
void evaluate_mean(call& c) {
  c.require_float(0);
  evaluate_sum(c);
  for (i64 i = 0; i < c.out(0).count(); ++i) c.out_floats()[i] /= static_cast<double>(c.input_count());
}

// Where, Clip, Cast.

void infer_where(call& c) {
  c.require_inputs(3, 3);
  c.require(c.type(0) == element::boolean, "the condition must be bool");
  require_same_type(c, 1, 2);
  c.declare(0, c.type(1), broadcast(c, c.shape(0), broadcast(c, c.shape(1), c.shape(2))));
}

void evaluate_where(call& c) {
  const shape_t& shape = c.out_shape(0);
  std::vector<std::uint8_t> condition(static_cast<std::size_t>(c.out(0).count()));
  for_each_offset(shape, broadcast_strides(c.shape(0), shape),
                  [&](i64 i, i64 at) { condition[static_cast<std::size_t>(i)] = c.data(0).as<std::uint8_t>()[at]; });
  by_type(c.out(0).type, [&](auto* tag) {
    using T = pointee<decltype(tag)>;
    for (const std::size_t k : {std::size_t{1}, std::size_t{2}}) {
      for_each_offset(shape, broadcast_strides(c.shape(k), shape), [&](i64 i, i64 at) {
        if ((condition[static_cast<std::size_t>(i)] != 0) == (k == 1)) c.out(0).as<T>()[i] = c.data(k).as<T>()[at];
      });
    }
  });
}

void infer_clip(call& c) {
  c.require_inputs(1, c.op().version < 11 ? 1 : 3);
  for (const std::size_t i : {1, 2})
    if (c.has(i)) c.require(count_of(c.shape(i)) == 1, i == 1 ? "min must be one number" : "max must be one number");
  c.declare(0, c.type(0), c.shape(0));
}

/// Bounds are attributes before opset 11, inputs since; where low > high the result is high.
void evaluate_clip(call& c) {
  by_type(c.out(0).type, [&](auto* tag) {
    using T = pointee<decltype(tag)>;
    T low = std::numeric_limits<T>::lowest(), high = std::numeric_limits<T>::max();
    if constexpr (std::is_same_v<T, double>) {
      low = -std::numeric_limits<double>::infinity();
      high = -low;
      if (c.op().version < 11 && c.op().has("min")) low = c.op().number("min", 0);
      if (c.op().version < 11 && c.op().has("max")) high = c.op().number("max", 0);
    }
    const auto bound = [&](std::size_t i, T& to) {
      if (!c.has(i)) return;
      c.require(c.data(i).count() == 1 && c.data(i).type == c.out(0).type,
                "bounds must be scalars of the input's type");
      to = c.data(i).as<T>()[0];
    };
    bound(1, low);
    bound(2, high);
    const T* x = c.data(0).as<T>();
    T* y = c.out(0).as<T>();
    for (i64 i = 0, count = c.out(0).count(); i < count; ++i) {
      const T raised = x[i] < low ? low : x[i];
      y[i] = raised > high ? high : raised;
    }
  });
}

void infer_cast(call& c) {
  c.require_inputs(1, 1);
  const i64 to = c.op().integer("to", 0);
  const std::optional<element> target = element_of_onnx(to);
  // Narrow integers and narrow floats have no type of their own here, so a Cast cannot round to them.
  if (!target || *target == element::string || is_narrow(to))
    c.fail("a cast to " + onnx_type_name(to) + " is not supported");
  c.declare(0, *target, c.shape(0));
}

void infer_cast_like(call& c) {
  c.require_inputs(2, 2);
  c.declare(0, c.type(1), c.shape(0));
}

/// What int32 holds of a float: saturated as in the engine, and as in int64.
double saturated(double x) { return std::isnan(x) ? x : std::clamp(std::trunc(x), -0x1p31, 0x1p31 - 1); }

void evaluate_cast(call& c) {
  const array& x = c.data(0);
  array& y = c.out(0);
  const bool saturates = c.output(0).type == element::i32 && x.type == element::f64;
  for (i64 i = 0; i < y.count(); ++i) {
    if (y.type == element::i64 && x.type != element::f64)
      y.set_integer(i, x.integer(i));
    else
      y.set(i, saturates ? saturated(x.number(i)) : x.number(i));
  }
}

}

void add_elementwise(table& t) {
  t["Add"] = {infer_arithmetic, evaluate_add, 7};
  t["Sub"] = {infer_arithmetic, evaluate_sub, 7};
  t["Mul"] = {infer_arithmetic, evaluate_mul, 7};
  t["Div"] = {infer_arithmetic, evaluate_div, 7};
  t["Mod"] = {infer_arithmetic, evaluate_mod, 10};
  t["Atan2"] = {infer_atan2, evaluate_atan2};  // not ONNX's: what ATAN2 of TensorFlow Lite becomes
  t["Pow"] = {infer_pow, evaluate_pow, 7};
  t["PRelu"] = {infer_p_relu, evaluate_p_relu, 7};
  t["Equal"] = {infer_comparison, compare<std::equal_to<>>, 7};
  t["Less"] = {infer_comparison, compare<std::less<>>, 7};
  t["LessOrEqual"] = {infer_comparison, compare<std::less_equal<>>, 12};
  t["Greater"] = {infer_comparison, compare<std::greater<>>, 7};
  t["GreaterOrEqual"] = {infer_comparison, compare<std::greater_equal<>>, 12};
  t["And"] = {infer_logic, compare<std::logical_and<>>, 7};
  t["Or"] = {infer_logic, compare<std::logical_or<>>, 7};
  t["Xor"] = {infer_logic, compare<logical_xor>, 7};
  t["BitwiseAnd"] = {infer_bitwise, bitwise<std::bit_and<>>, 18};
  t["BitwiseOr"] = {infer_bitwise, bitwise<std::bit_or<>>, 18};
  t["BitwiseXor"] = {infer_bitwise, bitwise<std::bit_xor<>>, 18};
  t["BitShift"] = {infer_bitwise, evaluate_bit_shift, 11};

  t["Min"] = {infer_variadic, evaluate_min};
  t["Max"] = {infer_variadic, evaluate_max};
  t["Sum"] = {infer_variadic, evaluate_sum};
  t["Mean"] = {infer_variadic, evaluate_mean};
  t["Where"] = {infer_where, evaluate_where, 9};
  t["Clip"] = {infer_clip, evaluate_clip};
  t["Cast"] = {infer_cast, evaluate_cast};
  t["CastLike"] = {infer_cast_like, evaluate_cast, 15};
}

}
