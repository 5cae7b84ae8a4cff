// SPDX-License-Identifier: MIT
#include "resolve/stored_operators.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "errors.hpp"

namespace nsk::tool {
namespace {

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

/// The inputs from `at` on: a tensor or a result with its scale and zero point, which may be left out.
std::vector<value_id> triple(const graph& g, const node& n, value_id tensor, std::size_t scale) {
  if (scale >= n.inputs.size() || n.inputs[scale] == no_value || tensor == no_value)
    refuse(describe(g, n) + ": an input is missing. The file is damaged");
  std::vector<value_id> result = {tensor, n.inputs[scale]};
  if (scale + 1 < n.inputs.size() && n.inputs[scale + 1] != no_value) result.push_back(n.inputs[scale + 1]);
  return result;
}

/// Refuses scales by which the result leaves what ONNX Runtime converts to int32 before it saturates.
void require_scales(const graph& g, const node& n, const std::vector<std::size_t>& tensors, std::size_t result) {
  constexpr double min_scale = 0x1p-60, max_scale = 0x1p60, max_ratio = 0x1p22, max_product = 0x1p14;
  const auto scale_at = [&](std::size_t i) {  // 1 where it is computed
    const value_id id = i < n.inputs.size() ? n.inputs[i] : no_value;
    const array* a = id == no_value ? nullptr : g.values[static_cast<std::size_t>(id)].constant.get();
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
  if (!good || (n.op == "QLinearMul" && !(product <= max_product)))
    refuse(describe(g, n) +
           ": its scales are not positive numbers from 2^-60 to 2^60, or its results are beyond int32 in units of its "
           "result's. Quantise the model anew");
}

std::map<std::string, attribute> attributes_of(const node& n) {
  std::map<std::string, attribute> kept = n.attributes;
  kept.erase("channels_last");
  kept.erase("opset");
  return kept;
}

/// Products of bytes with weights that end in real numbers: float32(sum) * (a_scale * b_scale) + bias. Inputs by
/// position; `none` where DynamicQuantizeLinear makes them.
struct real_product_form {
  static constexpr std::size_t none = 99;
  std::size_t a_scale, b_scale, a_zero, b_zero, bias;
};
const std::map<std::string, real_product_form>& real_products() {
  static const std::map<std::string, real_product_form> table = {
      {"MatMulIntegerToFloat", {2, 3, 4, 5, 6}},
      {"DynamicQuantizeMatMul", {real_product_form::none, 2, real_product_form::none, 3, 4}}};
  return table;
}

void spell_out_real_product(const graph& g, const node& n, const real_product_form& form, node_placer& placer) {
  const auto input = [&](std::size_t i) { return i < n.inputs.size() ? n.inputs[i] : no_value; };
  const bool dynamic = form.a_scale == real_product_form::none;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}, form.b_scale, dynamic ? 0 : form.a_scale})
    if (input(i) == no_value) refuse(describe(g, n) + ": an input is missing. The file is damaged");
  if (n.outputs.empty() || n.outputs[0] == no_value)
    refuse(describe(g, n) + ": its output is missing. The file is damaged");
  std::vector<node> nodes;  // first to last
  const auto add = [&](const char* op, const char* suffix, std::vector<value_id> inputs, value_id result = no_value) {
    if (result == no_value) result = placer.new_value(n, suffix);
    nodes.push_back(node_placer::helper(n, op, suffix, std::move(inputs), result));
    nodes.back().version = 13;
    return result;
  };
  value_id a = input(0), a_scale = dynamic ? no_value : input(form.a_scale),
           a_zero = dynamic ? no_value : input(form.a_zero);
  if (dynamic) {
    a_scale = placer.new_value(n, "a_scale");
    a_zero = placer.new_value(n, "a_zero");
    a = add("DynamicQuantizeLinear", "a_bytes", {a});
    nodes.back().outputs = {a, a_scale, a_zero};
  }
  const value_id sums = add("MatMulInteger", "sums", {a, input(1), a_zero, input(form.b_zero)}),
                 real = add("Cast", "real", {sums});
  nodes.back().attributes["to"] = std::int64_t{1};  // float32
  const value_id scale = add("Mul", "scale", {a_scale, input(form.b_scale)});
  const bool biased = input(form.bias) != no_value;
  const value_id scaled = add("Mul", "scaled", {real, scale}, biased ? no_value : n.outputs[0]);
  if (biased) add("Add", "biased", {scaled, input(form.bias)}, n.outputs[0]);
  nodes.back().name = n.name;
  std::reverse(nodes.begin(), nodes.end());
  placer.place(std::move(nodes));
}

}

bool spell_out_stored_operator(const graph& g, const node& n, node_placer& placer) {
  if (n.domain != "com.microsoft") return false;
  if (const auto product = real_products().find(n.op); product != real_products().end()) {
    spell_out_real_product(g, n, product->second, placer);
    return true;
  }
  const auto found = forms().find(n.op);
  if (found == forms().end()) return false;
  const stored_form& form = found->second;
  if (n.integer("channels_last", 0) != 0)
    refuse(describe(g, n) +
           ": its channels are last (channels_last), which ONNX has no form for. Quantise the model "
           "before ONNX Runtime has optimised it");
  if (n.outputs.empty() || n.outputs[0] == no_value)
    refuse(describe(g, n) + ": its output is missing. The file is damaged");
  std::vector<std::size_t> tensors = form.stored;
  for (std::size_t i = form.stored.front() + 3; form.is_list && i + 1 < n.inputs.size(); i += 3) tensors.push_back(i);
  require_scales(g, n, tensors, form.result);
  std::vector<node> nodes;  // first to last
  std::vector<value_id> inputs;
  for (const std::size_t i : form.plain) {
    if (i >= n.inputs.size() || n.inputs[i] == no_value)
      refuse(describe(g, n) + ": an input is missing. The file is damaged");
    inputs.push_back(n.inputs[i]);
  }
  for (const std::size_t i : tensors) {
    const std::string suffix = "real" + std::to_string(i);
    inputs.push_back(placer.new_value(n, suffix));
    const value_id tensor = i < n.inputs.size() ? n.inputs[i] : no_value;
    nodes.push_back(node_placer::helper(n, "DequantizeLinear", suffix, triple(g, n, tensor, i + 1), inputs.back()));
    nodes.back().version = 13;
  }
  const value_id exact = placer.new_value(n, "exact");
  node own = node_placer::helper(n, form.op, "exact", std::move(inputs), exact);
  own.version = static_cast<int>(n.op == "QLinearSoftmax" ? n.integer("opset", form.version) : form.version);
  own.attributes = attributes_of(n);
  nodes.push_back(std::move(own));
  node store = node_placer::helper(n, "QuantizeLinear", "stored", triple(g, n, exact, form.result), n.outputs[0]);
  store.name = n.name;
  store.version = 13;
  nodes.push_back(std::move(store));
  std::reverse(nodes.begin(), nodes.end());
  placer.place(std::move(nodes));
  return true;
}

std::vector<std::string> stored_operators() {
  std::vector<std::string> names;
  for (const auto& [name, form] : forms()) names.push_back("com.microsoft." + name);
  for (const auto& [name, form] : real_products()) names.push_back("com.microsoft." + name);
  std::sort(names.begin(), names.end());
  return names;
}

}
