// SPDX-License-Identifier: MIT
/// Operators on stored integers of ONNX Runtime's own domain, which onnxruntime.quantization writes with
/// QuantFormat.QOperator: what they mean is DequantizeLinear, an operator of ONNX, QuantizeLinear.
#include "spell/spell.hpp"

namespace nsk::tool {
namespace {

// Tensors whose channels are the last axis, which ONNX Runtime's optimiser writes, and ONNX has second.

/// The order that brings the second of `rank` axes behind all others.
std::vector<std::int64_t> order_behind(std::size_t rank) {
  std::vector<std::int64_t> order = {0};
  for (std::size_t d = 2; d < rank; ++d) order.push_back(static_cast<std::int64_t>(d));
  if (rank > 1) order.push_back(1);
  return order;
}

/// `v` of `rank` axes with its last one second.
value_id channels_second(speller& s, value_id v, std::size_t rank) {
  std::vector<std::int64_t> order = {0};
  if (rank > 1) order.push_back(static_cast<std::int64_t>(rank) - 1);
  for (std::size_t d = 2; d < rank; ++d) order.push_back(static_cast<std::int64_t>(d) - 1);
  return s.add("Transpose", {v}, {{"perm", std::move(order)}});
}

/// `v` of `rank` axes with its second one last.
value_id channels_behind(speller& s, value_id v, std::size_t rank) {
  return s.add("Transpose", {v}, {{"perm", order_behind(rank)}});
}

/// Where an operator has its tensors: each followed by its scale and zero point.
struct stored_form {
  const char* op;  ///< of ONNX
  int version;
  std::vector<std::size_t> plain, stored;  ///< positions of inputs; those of a list repeat to the end
  std::size_t result;                      ///< position of the result's scale
  bool is_list = false;
};

const std::map<std::string, stored_form>& forms() {
  static const std::map<std::string, stored_form> table = {
      {"QLinearAdd", {"Add", 13, {}, {0, 3}, 6}},
      {"QLinearMul", {"Mul", 13, {}, {0, 3}, 6}},
      {"QLinearAveragePool", {"AveragePool", 11, {}, {0}, 3}},
      {"QLinearGlobalAveragePool", {"GlobalAveragePool", 1, {}, {0}, 3}},
      {"QLinearLeakyRelu", {"LeakyRelu", 6, {}, {0}, 3}},
      {"QLinearSigmoid", {"Sigmoid", 13, {}, {0}, 3}},
      {"QLinearSoftmax", {"Softmax", 13, {}, {0}, 3}},
      {"QLinearWhere", {"Where", 9, {0}, {1, 4}, 7}},
      {"QLinearConcat", {"Concat", 13, {}, {2}, 0, true}}};
  return table;
}

/// `tensor`, and its scale and zero point from position `scale` on; the zero point may be left out.
std::vector<value_id> with_scale(const speller& s, value_id tensor, std::size_t scale) {
  std::vector<value_id> result = {tensor, s.in(scale)};
  if (s.has(scale + 1)) result.push_back(s.in(scale + 1));
  return result;
}

/// Refuses scales by which the result leaves what ONNX Runtime converts to int32 before it saturates.
void require_scales(const speller& s, const std::vector<std::size_t>& tensors, std::size_t result) {
  constexpr double min_scale = 0x1p-60, max_scale = 0x1p60, max_ratio = 0x1p22, max_product = 0x1p14;
  const auto scale_at = [&](std::size_t i) {  // 1 where it is computed
    const array* a = s.has(i) ? s.of(s.in(i)).constant.get() : nullptr;
    return a != nullptr && a->count() == 1 ? a->number(0) : 1.0;
  };
  const double own = scale_at(result);
  bool good = own >= min_scale && own <= max_scale;
  double product = 1 / own;
  for (const std::size_t i : tensors) {
    const double scale = scale_at(i + 1);
    good = good && scale >= min_scale && scale <= max_scale && scale / own <= max_ratio;
    product *= scale;
  }
  if (!good || (s.op().op == "QLinearMul" && !(product <= max_product)))
    s.refuse(
        "its scales are not positive numbers from 2^-60 to 2^60, or its results are beyond int32 in units of its "
        "result's. Quantise the model anew");
}

void stored_operator(speller& s) {
  const node& n = s.op();
  const stored_form& form = forms().at(n.op);
  const bool last = n.integer("channels_last", 0) != 0;
  std::vector<std::size_t> tensors = form.stored;
  for (std::size_t i = form.stored.front() + 3; form.is_list && i + 1 < n.inputs.size(); i += 3) tensors.push_back(i);
  require_scales(s, tensors, form.result);
  std::vector<value_id> inputs;
  for (const std::size_t i : form.plain) inputs.push_back(s.in(i));
  for (const std::size_t i : tensors) {
    inputs.push_back(s.add("DequantizeLinear", with_scale(s, s.in(i), i + 1)));
    if (last) inputs.back() = channels_second(s, inputs.back(), s.shape(i).size());
  }
  value_id exact = s.add(form.op, std::move(inputs), kept_without(s, {"channels_last", "opset"}));
  s.last().version = static_cast<int>(n.op == "QLinearSoftmax" ? n.integer("opset", form.version) : form.version);
  if (last) exact = channels_behind(s, exact, s.shape(tensors.front()).size());
  s.give(0, "QuantizeLinear", with_scale(s, exact, form.result));
}

/// QLinearConv whose channels may be last.
void convolution(speller& s) {
  const std::size_t rank = s.shape(0).size();
  const bool last = s.op().integer("channels_last", 0) != 0;
  std::vector<value_id> inputs = s.op().inputs;
  if (last) inputs[0] = channels_second(s, s.in(0), rank);
  if (!last) return s.give(0, "QLinearConv", std::move(inputs), kept_without(s, {"channels_last"}));
  const value_id made = s.add("QLinearConv", std::move(inputs), kept_without(s, {"channels_last"}));
  s.give(0, "Transpose", {made}, {{"perm", order_behind(rank)}});
}

void max_pool_of_last_channels(speller& s) {
  const std::size_t rank = s.shape(0).size();
  const value_id made = s.add("MaxPool", {channels_second(s, s.in(0), rank)}, s.op().attributes);
  s.give(0, "Transpose", {made}, {{"perm", order_behind(rank)}});
}

/// Products of bytes with weights that end in real numbers: float32(sum) * (a_scale * b_scale) + bias.
struct real_product {
  value_id a, a_scale, a_zero;
  std::size_t b_scale, b_zero, bias;  ///< positions of inputs
};

void write_product(speller& s, const real_product& p) {
  const value_id sums = s.add("MatMulInteger", {p.a, s.in(1), p.a_zero, s.maybe(p.b_zero)}),
                 real = s.add("Cast", {sums}, {{"to", std::int64_t{1}}}),  // float32
      scale = s.add("Mul", {p.a_scale, s.in(p.b_scale)});
  if (!s.has(p.bias)) return s.give(0, "Mul", {real, scale});
  s.give(0, "Add", {s.add("Mul", {real, scale}), s.in(p.bias)});
}

void product_to_float(speller& s) { write_product(s, {s.in(0), s.in(2), s.maybe(4), 3, 5, 6}); }

void product_of_floats(speller& s) {
  const std::vector<value_id> a = s.add_several("DynamicQuantizeLinear", {s.in(0)}, 3);
  write_product(s, {a[0], a[1], a[2], 2, 3, 4});
}

/// What the domain's own QuantizeLinear and DequantizeLinear say: those of ONNX, which has more types since.
void same_operator(speller& s) { s.give(0, s.op().op.c_str(), s.op().inputs, s.op().attributes); }

}

void add_stored_spellings(spelling_table& t) {
  for (const auto& entry : forms()) t["com.microsoft." + entry.first] = stored_operator;
  t["com.microsoft.QLinearConv"] = convolution;
  t["com.microsoft.NhwcMaxPool"] = max_pool_of_last_channels;
  t["com.microsoft.MatMulIntegerToFloat"] = product_to_float;
  t["com.microsoft.DynamicQuantizeMatMul"] = product_of_floats;
  t["com.microsoft.QuantizeLinear"] = same_operator;
  t["com.microsoft.DequantizeLinear"] = same_operator;
}

}
