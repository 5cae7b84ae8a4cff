// SPDX-License-Identifier: MIT
/// Rules for operators that work element by element.
#include <cmath>

#include "import/tflite/constants.hpp"
#include "import/tflite/importer.hpp"

namespace nsk::tool {

void tflite_importer::unary() {
  static const std::unordered_map<std::string, const char*> names = {
      {"RELU", "Relu"},      {"LOGISTIC", "Sigmoid"}, {"TANH", "Tanh"},   {"HARD_SWISH", "HardSwish"},
      {"ELU", "Elu"},        {"EXP", "Exp"},          {"LOG", "Log"},     {"SQRT", "Sqrt"},
      {"FLOOR", "Floor"},    {"CEIL", "Ceil"},        {"ROUND", "Round"}, {"NEG", "Neg"},
      {"ABS", "Abs"},        {"SIGN", "Sign"},        {"SIN", "Sin"},     {"COS", "Cos"},
      {"LOGICAL_NOT", "Not"}};
  require_operands(1, 1);
  const bool pictures = prefer_pictures({input(0)});
  finish(output(), emit(names.at(m_op->name), {in_form(input(0), pictures)}), pictures);
}

void tflite_importer::reciprocal_root() {
  require_operands(1, 1);
  const bool pictures = prefer_pictures({input(0)});
  finish(output(), emit("Reciprocal", {emit("Sqrt", {in_form(input(0), pictures)})}), pictures);
}

void tflite_importer::square() {
  require_operands(1, 1);
  const bool pictures = prefer_pictures({input(0)});
  const value_id x = in_form(input(0), pictures);
  finish(output(), emit("Mul", {x, x}), pictures);
}

void tflite_importer::bounded_relu() {
  require_operands(1, 1);
  const bool pictures = prefer_pictures({input(0)});
  const value_id x = in_form(input(0), pictures);
  if (m_op->name == "RELU_0_TO_1")
    return finish(output(), emit("Clip", {x, constant_number(0), constant_number(1)}), pictures);
  finish(output(), x, pictures, m_op->name == "RELU6" ? tfl::Activation::RELU6 : tfl::Activation::RELU_N1_TO_1);
}

void tflite_importer::leaky_relu() {
  require_operands(1, 1);
  const bool pictures = prefer_pictures({input(0)});
  finish(output(),
         emit("LeakyRelu", {in_form(input(0), pictures)}, {{"alpha", options<tfl::LeakyReluOptions>().alpha()}}),
         pictures);
}

void tflite_importer::gelu() {
  require_operands(1, 1);
  const auto* o = optional_options<tfl::GeluOptions>();
  const std::string how = o != nullptr && o->approximate() ? "tanh" : "none";
  const bool pictures = prefer_pictures({input(0)});
  finish(output(), emit("Gelu", {in_form(input(0), pictures)}, {{"approximate", how}}), pictures);
}

void tflite_importer::parametric_relu() {
  require_operands(2, 2);
  const int x = input(0), slope = input(1);
  const bool pictures = prefer_pictures({x, slope});
  finish(output(), emit("PRelu", {operand(x, pictures), operand(slope, pictures)}), pictures);
}

void tflite_importer::binary() {
  static const std::unordered_map<std::string, const char*> names = {
      {"ADD", "Add"},         {"SUB", "Sub"},
      {"MUL", "Mul"},         {"DIV", "Div"},
      {"MAXIMUM", "Max"},     {"MINIMUM", "Min"},
      {"POW", "Pow"},         {"EQUAL", "Equal"},
      {"GREATER", "Greater"}, {"GREATER_EQUAL", "GreaterOrEqual"},
      {"LESS", "Less"},       {"LESS_EQUAL", "LessOrEqual"},
      {"LOGICAL_AND", "And"}, {"LOGICAL_OR", "Or"},
      {"FLOOR_MOD", "Mod"}};
  require_operands(2, 2);
  if (m_op->name == "FLOOR_MOD" && !is_integer(type_of(input(0)))) return floored_remainder();
  const bool pictures = prefer_pictures({input(0), input(1)});
  const value_id y = emit(names.at(m_op->name), {operand(input(0), pictures), operand(input(1), pictures)});
  finish(output(), y, pictures, fused_activation());
}

/// The function behind a sum, difference, product or quotient; tables of other operators say nothing.
tfl::Activation tflite_importer::fused_activation() const {
  const auto of = [](const auto* o) { return o == nullptr ? tfl::Activation::NONE : o->fused_activation_function(); };
  if (m_op->name == "ADD") return of(optional_options<tfl::AddOptions>());
  if (m_op->name == "SUB") return of(optional_options<tfl::SubOptions>());
  if (m_op->name == "MUL") return of(optional_options<tfl::MulOptions>());
  if (m_op->name == "DIV") return of(optional_options<tfl::DivOptions>());
  return tfl::Activation::NONE;
}

void tflite_importer::squared_difference() {
  require_operands(2, 2);
  const bool pictures = prefer_pictures({input(0), input(1)});
  const value_id d = emit("Sub", {operand(input(0), pictures), operand(input(1), pictures)});
  finish(output(), emit("Mul", {d, d}), pictures);
}

/// Whether quotients by `divisor` are exact: constant powers of two.
bool tflite_importer::divides_exactly(value_id divisor) const {
  const std::shared_ptr<const array>& numbers = at(divisor).constant;
  if (!numbers) return false;
  int exponent = 0;
  for (std::int64_t i = 0; i < numbers->count(); ++i)
    if (std::abs(std::frexp(numbers->number(i), &exponent)) != 0.5) return false;
  return true;
}

/// x - floor(x / y) * y of floats, which nothing rounds where y is a power of two.
void tflite_importer::floored_remainder() {
  const bool pictures = prefer_pictures({input(0), input(1)});
  const value_id x = operand(input(0), pictures), y = operand(input(1), pictures);
  if (!divides_exactly(y))
    fail(
        "floored remainders of floats need a constant divisor, a power of two: others are rounded differently in "
        "single precision. Compute x - floor(x / y) * y in the model where that does not matter");
  finish(output(), emit("Sub", {x, emit("Mul", {emit("Floor", {emit("Div", {x, y})}), y})}), pictures);
}

/// Quotients of floats are rounded once, in double precision: in single precision a quotient just below a whole number
/// can become it. Powers of two divide exactly.
void tflite_importer::floor_divide() {
  require_operands(2, 2);
  const element type = type_of(input(0));
  const bool constants = is_constant(input(0)) && is_constant(input(1));
  const bool pictures = prefer_pictures({input(0), input(1)});
  const value_id a = operand(input(0), pictures), b = operand(input(1), pictures);
  if (type == element::i32 || type == element::i64) return bind(output(), floored_quotient(a, b), pictures);
  if (type != element::f32)
    fail("the floored quotient has kernels for int32, int64 and float32. Compute it in one of these in the model");
  if (constants) {
    const auto to = [&](value_id v, std::int64_t of) { return emit("Cast", {v}, {{"to", of}}); };
    return bind(output(), to(emit("Floor", {emit("Div", {to(a, 11), to(b, 11)})}), 1), pictures);
  }
  if (!divides_exactly(b))
    fail(
        "floored quotients of floats need a constant divisor, a power of two: others may be off by one in single "
        "precision. Compute floor(x / y) in the model where that does not matter");
  finish(output(), emit("Floor", {emit("Div", {a, b})}), pictures);
}

/// floor(a / b) of integers: the quotient towards zero, less 1 where the remainder of that and the floored one differ.
value_id tflite_importer::floored_quotient(value_id a, value_id b) {
  const value_id floored = emit("Mod", {a, b}), truncated = emit("Mod", {a, b}, {{"fmod", std::int64_t{1}}});
  const value_id above = emit("Not", {emit("Equal", {floored, truncated})}), quotient = emit("Div", {a, b});
  const std::int64_t type = at(a).type == element::i64 ? 7 : 6;
  return emit("Sub", {quotient, emit("Cast", {above}, {{"to", type}})});
}

void tflite_importer::not_equal() {
  require_operands(2, 2);
  const bool pictures = prefer_pictures({input(0), input(1)});
  bind(output(), emit("Not", {emit("Equal", {operand(input(0), pictures), operand(input(1), pictures)})}), pictures);
}

void tflite_importer::add_all() {
  require_operands(1, 1024);
  const bool pictures = prefer_pictures(m_op->inputs);
  values inputs;
  for (std::size_t i = 0; i < m_op->inputs.size(); ++i) inputs.push_back(operand(input(i), pictures));
  value_id sum = inputs[0];
  if (at(sum).type == element::f32 && inputs.size() > 1)
    sum = emit("Sum", inputs);
  else
    for (std::size_t i = 1; i < inputs.size(); ++i) sum = emit("Add", {sum, inputs[i]});
  finish(output(), sum, pictures);
}

void tflite_importer::select() {
  require_operands(3, 3);
  const int condition = input(0), x = input(1), y = input(2);
  if (m_op->name == "SELECT" && shape(condition) != shape(x)) {
    // the first version picks whole slices along the first axis, where NumPy's broadcasting begins at the last
    require(rank(condition) <= 1 && rank(x) >= 1 && shape(x) == shape(y),
            "the condition has neither the shape of the values nor one dimension");
    shape_t wide(rank(x), 1);
    if (rank(condition) == 1) wide[0] = shape(condition)[0];
    return bind(output(), emit("Where", {reshaped(plain(condition), wide), plain(x), plain(y)}), false);
  }
  const bool pictures = prefer_pictures({condition, x, y});
  finish(output(), emit("Where", {operand(condition, pictures), operand(x, pictures), operand(y, pictures)}), pictures);
}

void tflite_importer::cast() {
  static const std::unordered_map<int, std::int64_t> types = {
      {static_cast<int>(element::f32), 1},  {static_cast<int>(element::u8), 2},
      {static_cast<int>(element::i8), 3},   {static_cast<int>(element::u16), 4},
      {static_cast<int>(element::i16), 5},  {static_cast<int>(element::i32), 6},
      {static_cast<int>(element::i64), 7},  {static_cast<int>(element::boolean), 9},
      {static_cast<int>(element::f64), 11}, {static_cast<int>(element::u32), 12}};
  require_operands(1, 1);
  if (reads_complex(*m_op)) return part_of_complex();
  for (const int t : {input(0), output()})
    if (is_quantized(tensor(t)))
      fail("it reads the stored integers of a quantised tensor, which a float32 model does not have");
  const bool pictures = prefer_pictures({input(0)});
  const auto to = types.find(static_cast<int>(type_of(output())));
  require(to != types.end(), "its element type is not supported");
  bind(output(), emit("Cast", {in_form(input(0), pictures)}, {{"to", to->second}}), pictures);
}

/// QUANTIZE, DEQUANTIZE, DENSIFY and their like: the same numbers, within what the result can hold.
void tflite_importer::requantize() {
  require_operands(1, 1);
  if (m_op->name == "DENSIFY" && is_constant(input(0))) m_scope.spread.insert(output());
  if (type_of(input(0)) != type_of(output()))
    fail("it turns " + name_of(tensor(input(0)).data->type()) + " without a scale into " +
         name_of(tensor(output()).data->type()));
  const bool pictures = prefer_pictures({input(0)});
  const value_id x = in_form(input(0), pictures);
  if (m_op->name == "QUANTIZE") return finish(output(), x, pictures);
  bind(output(), x, pictures);
}

}
