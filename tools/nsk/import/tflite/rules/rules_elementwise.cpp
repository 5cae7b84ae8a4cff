// SPDX-License-Identifier: MIT
/// Rules for operators that work element by element.
#include <cmath>
#include <cstdlib>

#include "import/tflite/rules/complex.hpp"
#include "import/tflite/file/constants.hpp"
#include "import/tflite/rules/nodes.hpp"
#include "import/tflite/rules/operands.hpp"
#include "import/tflite/rules/rules.hpp"
#include "import/tflite/rules/stored.hpp"

namespace nsk::tool::tflite {
namespace {

using names = std::map<std::string, const char*>;

/// ONNX's names of functions of one number.
const names& unary_names() {
  static const names all = {
      {"RELU", "Relu"},      {"LOGISTIC", "Sigmoid"}, {"TANH", "Tanh"},   {"HARD_SWISH", "HardSwish"},
      {"ELU", "Elu"},        {"EXP", "Exp"},          {"LOG", "Log"},     {"SQRT", "Sqrt"},
      {"FLOOR", "Floor"},    {"CEIL", "Ceil"},        {"ROUND", "Round"}, {"NEG", "Neg"},
      {"ABS", "Abs"},        {"SIGN", "Sign"},        {"SIN", "Sin"},     {"COS", "Cos"},
      {"LOGICAL_NOT", "Not"}};
  return all;
}

void unary(call& c) {
  c.require_operands(1, 1);
  if (function_of_stored(c)) return;
  const bool images = prefer_images(c, {c.input(0)});
  finish(c, 0, c.emit(unary_names().at(c.name()), {in_form(c, c.input(0), images)}), images);
}

void reciprocal_root(call& c) {
  c.require_operands(1, 1);
  const bool images = prefer_images(c, {c.input(0)});
  finish(c, 0, c.emit("Reciprocal", {c.emit("Sqrt", {in_form(c, c.input(0), images)})}), images);
}

void square(call& c) {
  c.require_operands(1, 1);
  const bool images = prefer_images(c, {c.input(0)});
  const value_id x = in_form(c, c.input(0), images);
  finish(c, 0, c.emit("Mul", {x, x}), images);
}

void bounded_relu(call& c) {
  c.require_operands(1, 1);
  if (function_of_stored(c)) return;
  const bool images = prefer_images(c, {c.input(0)});
  const value_id x = in_form(c, c.input(0), images);
  if (c.name() == "RELU_0_TO_1")
    return finish(c, 0, c.emit("Clip", {x, constant_number(c, 0), constant_number(c, 1)}), images);
  finish(c, 0, x, images, c.name() == "RELU6" ? tfl::Activation::RELU6 : tfl::Activation::RELU_N1_TO_1);
}

void leaky_relu(call& c) {
  c.require_operands(1, 1);
  if (function_of_stored(c)) return;
  const bool images = prefer_images(c, {c.input(0)});
  finish(c, 0,
         c.emit("LeakyRelu", {in_form(c, c.input(0), images)}, {{"alpha", c.options<tfl::LeakyReluOptions>().alpha()}}),
         images);
}

void gelu(call& c) {
  c.require_operands(1, 1);
  const auto* o = c.optional_options<tfl::GeluOptions>();
  const std::string how = o != nullptr && o->approximate() ? "tanh" : "none";
  const bool images = prefer_images(c, {c.input(0)});
  finish(c, 0, c.emit("Gelu", {in_form(c, c.input(0), images)}, {{"approximate", how}}), images);
}

void parametric_relu(call& c) {
  c.require_operands(2, 2);
  if (prelu_stored(c)) return;
  const int x = c.input(0), slope = c.input(1);
  const bool images = prefer_images(c, {x, slope});
  finish(c, 0, c.emit("PRelu", {operand(c, x, images), operand(c, slope, images)}), images);
}

/// ONNX's names of functions of two numbers.
const names& binary_names() {
  static const names all = {{"ADD", "Add"},
                            {"SUB", "Sub"},
                            {"MUL", "Mul"},
                            {"DIV", "Div"},
                            {"MAXIMUM", "Max"},
                            {"MINIMUM", "Min"},
                            {"POW", "Pow"},
                            {"EQUAL", "Equal"},
                            {"GREATER", "Greater"},
                            {"GREATER_EQUAL", "GreaterOrEqual"},
                            {"LESS", "Less"},
                            {"LESS_EQUAL", "LessOrEqual"},
                            {"LOGICAL_AND", "And"},
                            {"LOGICAL_OR", "Or"},
                            {"FLOOR_MOD", "Mod"},
                            {"ATAN2", "Atan2"},
                            {"STABLEHLO_ADD", "Add"},
                            {"STABLEHLO_MULTIPLY", "Mul"},
                            {"STABLEHLO_MAXIMUM", "Max"},
                            {"STABLEHLO_MINIMUM", "Min"}};
  return all;
}

/// The function behind a sum, difference, product or quotient; tables of other operators say nothing.
tfl::Activation fused_activation(const call& c) {
  const auto of = [](const auto* o) { return o == nullptr ? tfl::Activation::NONE : o->fused_activation_function(); };
  if (c.name() == "ADD") return of(c.optional_options<tfl::AddOptions>());
  if (c.name() == "SUB") return of(c.optional_options<tfl::SubOptions>());
  if (c.name() == "MUL") return of(c.optional_options<tfl::MulOptions>());
  if (c.name() == "DIV") return of(c.optional_options<tfl::DivOptions>());
  return tfl::Activation::NONE;
}

/// Whether quotients by `divisor` are exact: constant powers of two.
bool divides_exactly(const call& c, value_id divisor) {
  const std::shared_ptr<const array>& numbers = c.at(divisor).constant;
  if (!numbers) return false;
  int exponent = 0;
  for (std::int64_t i = 0; i < numbers->count(); ++i)
    if (std::abs(std::frexp(numbers->number(i), &exponent)) != 0.5) return false;
  return true;
}

void binary(call& c) {
  c.require_operands(2, 2);
  if (c.name().rfind("STABLEHLO_", 0) == 0) require_unquantized(c);
  if ((c.name() == "ADD" || c.name() == "SUB" || c.name() == "MUL") && add_stored(c, fused_activation(c))) return;
  const bool images = prefer_images(c, {c.input(0), c.input(1)});
  const value_id y =
      c.emit(binary_names().at(c.name()), {operand(c, c.input(0), images), operand(c, c.input(1), images)});
  finish(c, 0, y, images, fused_activation(c));
}

void squared_difference(call& c) {
  c.require_operands(2, 2);
  const bool images = prefer_images(c, {c.input(0), c.input(1)});
  const value_id d = c.emit("Sub", {operand(c, c.input(0), images), operand(c, c.input(1), images)});
  finish(c, 0, c.emit("Mul", {d, d}), images);
}

/// floor(a / b) of integers: the quotient towards zero, less 1 where the remainder of that and the floored one differ.
value_id floored_quotient(call& c, value_id a, value_id b) {
  const value_id floored = c.emit("Mod", {a, b}), truncated = c.emit("Mod", {a, b}, {{"fmod", std::int64_t{1}}});
  const value_id above = c.emit("Not", {c.emit("Equal", {floored, truncated})}), quotient = c.emit("Div", {a, b});
  return c.emit("Sub", {quotient, cast(c, above, c.at(a).type)});
}

/// floor(a / b) of floats: the exact remainder makes the quotient nearly whole, which rounding mends. From 2^22 on the
/// rounded quotient itself is as near as a float comes.
value_id floored_quotient_of_floats(call& c, value_id a, value_id b) {
  const value_id rounded = c.emit("Div", {a, b});
  const value_id whole = c.emit("Round", {c.emit("Div", {c.emit("Sub", {a, c.emit("Mod", {a, b})}), b})});
  const value_id few = c.emit("Less", {c.emit("Abs", {rounded}), constant_number(c, 4194304)});
  const value_id small = c.emit("And", {few, c.emit("Not", {c.emit("IsInf", {b})})});
  return c.emit("Where", {small, whole, c.emit("Floor", {rounded})});
}

/// Quotients of floats are rounded once, in double precision: in single precision a quotient just below a whole number
/// can become it. Powers of two divide exactly.
void floor_divide(call& c) {
  c.require_operands(2, 2);
  const element type = c.type(c.input(0));
  const bool constants = c.is_constant(c.input(0)) && c.is_constant(c.input(1));
  const bool images = prefer_images(c, {c.input(0), c.input(1)});
  const value_id a = operand(c, c.input(0), images), b = operand(c, c.input(1), images);
  if (type == element::i32 || type == element::i64) return c.bind(0, floored_quotient(c, a, b), images);
  if (type != element::f32)
    c.fail("the floored quotient has kernels for int32, int64 and float32. Compute it in one of these in the model");
  if (constants) {
    const value_id wide = c.emit("Div", {cast(c, a, element::f64), cast(c, b, element::f64)});
    return c.bind(0, cast(c, c.emit("Floor", {wide}), element::f32), images);
  }
  if (!divides_exactly(c, b)) return finish(c, 0, floored_quotient_of_floats(c, a, b), images);
  finish(c, 0, c.emit("Floor", {c.emit("Div", {a, b})}), images);
}

void not_equal(call& c) {
  c.require_operands(2, 2);
  const bool images = prefer_images(c, {c.input(0), c.input(1)});
  c.bind(0, c.emit("Not", {c.emit("Equal", {operand(c, c.input(0), images), operand(c, c.input(1), images)})}), images);
}

void add_all(call& c) {
  c.require_operands(1, 1024);
  const bool images = prefer_images(c, c.op().inputs);
  values inputs;
  for (std::size_t i = 0; i < c.op().inputs.size(); ++i) inputs.push_back(operand(c, c.input(i), images));
  value_id sum = inputs[0];
  if (c.at(sum).type == element::f32 && inputs.size() > 1)
    sum = c.emit("Sum", inputs);
  else
    for (std::size_t i = 1; i < inputs.size(); ++i) sum = c.emit("Add", {sum, inputs[i]});
  finish(c, 0, sum, images);
}

void select(call& c) {
  c.require_operands(3, 3);
  const int condition = c.input(0), x = c.input(1), y = c.input(2);
  if (c.name() == "SELECT" && c.shape(condition) != c.shape(x)) {
    // the first version picks whole slices along the first axis, where NumPy's broadcasting begins at the last
    c.require(c.rank(condition) <= 1 && c.rank(x) >= 1 && c.shape(x) == c.shape(y),
              "the condition has neither the shape of the values nor one dimension");
    shape_t wide(c.rank(x), 1);
    if (c.rank(condition) == 1) wide[0] = c.shape(condition)[0];
    return c.bind(0, c.emit("Where", {reshaped(c, c.plain(condition), wide), c.plain(x), c.plain(y)}));
  }
  const bool images = prefer_images(c, {condition, x, y});
  finish(c, 0, c.emit("Where", {operand(c, condition, images), operand(c, x, images), operand(c, y, images)}), images);
}

void convert(call& c) {
  c.require_operands(1, 1);
  if (reads_complex(c)) return part_of_complex(c);
  for (const int t : {c.input(0), c.output()})
    if (is_quantized(c.tensor(t)))
      c.fail("it reads the stored integers of a quantised tensor, which a float32 model does not have");
  const bool images = prefer_images(c, {c.input(0)});
  const element to = c.type(c.output());
  c.bind(0, cast(c, in_form(c, c.input(0), images), to), images);
}

/// QUANTIZE, DEQUANTIZE, DENSIFY and their like: the same numbers, within what the result can hold.
void requantize(call& c) {
  c.require_operands(1, 1);
  if (c.name() == "DENSIFY" && c.is_constant(c.input(0))) c.all().known.here().spread.insert(c.output());
  if (c.type(c.input(0)) != c.type(c.output()))
    c.fail("it turns " + name_of(c.tensor(c.input(0)).data->type()) + " without a scale into " +
           name_of(c.tensor(c.output()).data->type()));
  if (c.name() == "QUANTIZE" && function_of_stored(c)) return;
  const bool images = prefer_images(c, {c.input(0)});
  const value_id x = in_form(c, c.input(0), images);
  if (c.name() == "QUANTIZE") return finish(c, 0, x, images);
  c.bind(0, x, images);
}

}

void add_elementwise(table& t) {
  for (const auto& entry : unary_names()) t[entry.first] = {unary};
  for (const auto& entry : binary_names()) t[entry.first] = {binary};
  t["RSQRT"] = {reciprocal_root};
  t["SQUARE"] = {square};
  add_rows(t, {"RELU6", "RELU_N1_TO_1", "RELU_0_TO_1"}, {bounded_relu});
  t["LEAKY_RELU"] = {leaky_relu};
  t["PRELU"] = {parametric_relu};
  t["GELU"] = {gelu};
  t["SQUARED_DIFFERENCE"] = {squared_difference};
  t["FLOOR_DIV"] = {floor_divide};
  t["NOT_EQUAL"] = {not_equal};
  t["ADD_N"] = {add_all};
  t["SELECT"] = {select};
  t["SELECT_V2"] = {select};
  t["CAST"] = {convert, takes_complex};
  add_rows(t, {"QUANTIZE", "DEQUANTIZE", "DENSIFY"}, {requantize});
}

}
