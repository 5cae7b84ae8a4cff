// SPDX-License-Identifier: MIT
#include "resolve/lengths/size_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace nsk::tool {
namespace {

constexpr number_kind half_numbers = {false, 4.9e-4, 11};    // half a unit
constexpr number_kind bfloat_numbers = {false, 1.96e-3, 8};  // half a unit
constexpr int short_digits = 5;  // which numbers of networks often have, whatever their type

struct plain_number {
  double number;
  const char* source;
  const char* beside;  ///< an operator that the graph has where it is plain; null: any graph
};

const plain_number plain_numbers[] = {
    {0, "nothing", nullptr},
    {1, "the whole", nullptr},
    {2, "squares, and both signs of a range", nullptr},
    {0.5, "the middle", nullptr},
    {3, "hard swish, x * relu6(x + 3) / 6", nullptr},
    {4, "coordinates of a box", nullptr},
    {6, "relu6", nullptr},
    {1.0 / 6, "hard swish, and its slope", "Clip"},
    {255, "8-bit pixels", nullptr},
    {127.5, "8-bit pixels", nullptr},
    {1 / 255.0, "8-bit pixels", nullptr},
    {1 / 127.5, "8-bit pixels", nullptr},
    {1.41421356237309505, "GELU", "Erf"},
    {0.70710678118654752, "GELU", "Erf"},
};

/// Powers of ten from 10^4 on are masks and periods of positions, those up to 10^-3 keep divisors from 0.
bool is_power_of_ten(double number, double near) {
  const double exponent = std::round(std::log10(number));
  return (exponent >= 4 || exponent <= -3) && std::abs(number - std::pow(10, exponent)) <= near * number;
}

/// Binary digits that a float32 needs; 0 of one that is not finite.
int digits_of(double number) {
  if (number == 0 || !std::isfinite(number)) return 0;
  int exponent = 0, digits = 24;
  auto rest = static_cast<std::int64_t>(std::ldexp(std::frexp(std::abs(number), &exponent), digits));
  for (; digits > 1 && rest % 2 == 0; rest /= 2) --digits;
  return digits;
}

const std::map<std::string, std::vector<std::string>> attributes = {{"Clip", {"min", "max"}},
                                                                    {"Gemm", {"alpha", "beta"}},
                                                                    {"Attention", {"scale"}},
                                                                    {"Pad", {"value"}},
                                                                    {"RandomNormalLike", {"mean", "scale"}},
                                                                    {"RoiAlign", {"spatial_scale"}},
                                                                    {"RandomUniformLike", {"low", "high"}},
                                                                    {"ThresholdedRelu", {"alpha"}},
                                                                    {"Shrink", {"bias", "lambd"}},
                                                                    {"EyeLike", {"k"}}};

/// Operators whose operands from the given one on are weights.
const std::map<std::string, std::size_t> weights_from = {{"Conv", 1},
                                                         {"ConvTranspose", 1},
                                                         {"DeformConv", 1},
                                                         {"Gemm", 0},
                                                         {"MatMul", 0},
                                                         {"Einsum", 0},
                                                         {"BatchNormalization", 1},
                                                         {"InstanceNormalization", 1},
                                                         {"GroupNormalization", 1},
                                                         {"LayerNormalization", 1},
                                                         {"RMSNormalization", 1},
                                                         {"PRelu", 1},
                                                         {"GRU", 1},
                                                         {"LSTM", 1},
                                                         {"RNN", 1},
                                                         {"QLinearConv", 1},
                                                         {"QLinearMatMul", 0},
                                                         {"MatMulInteger", 0},
                                                         {"ConvInteger", 0},
                                                         {"QuantizeLinear", 1},
                                                         {"DequantizeLinear", 0}};

/// Operands that are shapes, axes or counts of results.
const std::map<std::string, std::set<std::size_t>> shapes = {
    {"Reshape", {1}},      {"Expand", {1}},           {"Tile", {1}},      {"Slice", {1, 2, 3, 4}},
    {"Resize", {1, 2, 3}}, {"Upsample", {1}},         {"Pad", {1, 3}},    {"Split", {1}},
    {"TopK", {1}},         {"Squeeze", {1}},          {"Unsqueeze", {1}}, {"OneHot", {1}},
    {"CumSum", {1}},       {"AffineGrid", {1}},       {"Compress", {1}},  {"ConstantOfShape", {0}},
    {"Range", {0, 1, 2}},  {"NonMaxSuppression", {2}}};

}

number_role role_of(const node& n, std::size_t input) {
  const auto found = shapes.find(n.op);
  if (found != shapes.end() && found->second.count(input) != 0) return number_role::shape;
  if (n.op.rfind("Reduce", 0) == 0 && input == 1) return number_role::shape;
  const auto weights = weights_from.find(n.op);
  return weights != weights_from.end() && input >= weights->second ? number_role::weights : number_role::operand;
}

const std::vector<std::string>& length_attributes(const std::string& op) {
  static const std::vector<std::string> none;
  const auto found = attributes.find(op);
  return found == attributes.end() ? none : found->second;
}

bool is_plain_number(double number, const graph& g, double rounding) {
  const double size = std::abs(number), near = std::max(rounding, 1e-6);
  if (size == 0 || !std::isfinite(size) || is_power_of_ten(size, near)) return true;
  for (const plain_number& p : plain_numbers) {
    if (std::abs(size - p.number) > near * p.number) continue;
    const auto is_beside = [&](const node& n) { return n.op == p.beside; };
    return p.beside == nullptr || std::any_of(g.nodes.begin(), g.nodes.end(), is_beside);
  }
  return false;
}

number_kind kind_of(const array& numbers) {
  if (is_integer(numbers.type)) return whole_numbers;
  int digits = 0;
  bool is_whole = true;
  for (std::int64_t i = 0; i < numbers.count() && digits <= half_numbers.digits; ++i) {
    const double number = numbers.number(i);
    digits = std::max(digits, digits_of(number));
    is_whole = is_whole && number == std::floor(number);
  }
  if (digits > half_numbers.digits || digits <= short_digits || is_whole) return float_numbers;
  return digits > bfloat_numbers.digits ? half_numbers : bfloat_numbers;
}

double rounded_alike(double now, double stored, double was, const number_kind& kind) {
  if (kind.is_integer) return std::floor(now + 1e-9);  // a quotient just below an integer is that integer
  if (std::abs(stored - was) <= float_numbers.rounding * std::abs(was) || !std::isfinite(now)) return now;
  int exponent = 0;
  const double mantissa = std::frexp(now, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, kind.digits)), exponent - kind.digits);
}

}
