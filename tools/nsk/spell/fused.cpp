// SPDX-License-Identifier: MIT
/// Layers with what is behind them, and forms of activations: what ONNX Runtime's optimiser writes at its extended
/// level (its ContribOperators.md). The optimiser of the converter puts them together again.
#include <algorithm>

#include "spell/spell.hpp"

namespace nsk::tool {
namespace {

struct activation {
  std::string op;  ///< of ONNX; empty where there is none
  speller::attributes parameters;
};

/// The activation `name` with its parameters in ONNX Runtime's order.
activation activation_of(const speller& s, const std::string& name, const std::vector<float>& p) {
  const auto parameters = [&](std::vector<const char*> names) {
    if (p.size() > names.size())
      s.refuse("its activation " + name + " has " + std::to_string(p.size()) + " parameters, at most " +
               std::to_string(names.size()) + " are defined");
    speller::attributes a;
    for (std::size_t i = 0; i < p.size(); ++i) a[names[i]] = p[i];
    return a;
  };
  if (name.empty()) return {};
  for (const char* plain : {"Relu", "Tanh", "Sigmoid", "Softplus", "Softsign", "HardSwish"})
    if (name == plain) return {name, parameters({})};
  for (const char* scaled : {"LeakyRelu", "Elu", "ThresholdedRelu"})
    if (name == scaled) return {name, parameters({"alpha"})};
  if (name == "HardSigmoid") return {name, parameters({"alpha", "beta"})};
  if (name == "Clip") return {name, parameters({"min", "max"})};
  s.refuse("its activation '" + name +
           "' is not supported. Save the model before ONNX Runtime has optimised it (graph_optimization_level)");
}

/// Output 0 is the activation of `x`.
void activate(speller& s, const activation& a, value_id x) {
  if (a.op.empty()) return s.give(0, "Identity", {x});
  s.give(0, a.op.c_str(), {x}, a.parameters);
  if (a.op == "Clip") s.last().version = 6;  // its limits were attributes
}

/// act(Conv(X, W, B) + Z).
void fused_convolution(speller& s) {
  const activation a = activation_of(s, s.op().text("activation", ""), numbers_of(s, "activation_params"));
  value_id y = s.add("Conv", {s.in(0), s.in(1), s.maybe(2)}, kept_without(s, {"activation", "activation_params"}));
  if (s.has(3)) y = s.add("Add", {y, s.in(3)});
  activate(s, a, y);
}

/// act(Gemm(A, B, C)).
void fused_gemm(speller& s) {
  const std::string name = s.op().text("activation", "");
  std::vector<float> p;
  for (const char* parameter : {"activation_alpha", "activation_beta", "activation_gamma"})
    if (s.op().has(parameter)) p.push_back(s.op().number(parameter, 0));
  const activation a = activation_of(s, name, p);
  const value_id y = s.add("Gemm", {s.in(0), s.in(1), s.maybe(2)},
                           kept_without(s, {"activation", "activation_alpha", "activation_beta", "activation_gamma"}));
  activate(s, a, y);
}

/// A factor of FusedMatMul as MatMul takes it. With `batch` its first axis is its rows, and the axes behind that one
/// are the batch.
value_id factor(speller& s, std::size_t i, bool transposed, bool batch) {
  const std::size_t rank = s.shape(i).size();
  if (rank < 2 || !(transposed || batch)) return s.in(i);
  std::vector<std::int64_t> order(rank);
  for (std::size_t d = 0; d < rank; ++d) order[d] = static_cast<std::int64_t>(d);
  if (batch) std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  if (transposed) std::swap(order[rank - 1], order[rank - 2]);
  return s.add("Transpose", {s.in(i)}, {{"perm", order}});
}

/// alpha * A B.
void fused_matmul(speller& s) {
  const auto is_set = [&](const char* name) { return s.op().integer(name, 0) != 0; };
  const value_id a = factor(s, 0, is_set("transA"), is_set("transBatchA")),
                 b = factor(s, 1, is_set("transB"), is_set("transBatchB"));
  const double alpha = s.op().number("alpha", 1);
  if (alpha == 1) return s.give(0, "MatMul", {a, b});
  s.give(0, "Mul", {s.add("MatMul", {a, b}), s.number(alpha)});
}

void gelu(speller& s) { s.give(0, "Gelu", {s.in(0)}); }
void biased_gelu(speller& s) { s.give(0, "Gelu", {s.add("Add", {s.in(0), s.in(1)})}); }

void gelu_by_tanh(speller& s) {
  const value_id x = s.has(1) ? s.add("Add", {s.in(0), s.in(1)}) : s.in(0);
  s.give(0, "Gelu", {x}, {{"approximate", std::string("tanh")}});
}

/// x * sigmoid(alpha * x).
void quick_gelu(speller& s) {
  const value_id scaled = s.add("Mul", {s.in(0), s.number(s.op().number("alpha", 1.702f))});
  s.give(0, "Mul", {s.in(0), s.add("Sigmoid", {scaled})});
}

void triangle(speller& s) { s.give(0, "Trilu", s.op().inputs, s.op().attributes); }

/// GridSample of opset 20, whose modes have other names.
void grid_sample(speller& s) {
  speller::attributes a = s.op().attributes;
  const std::string mode = s.op().text("mode", "bilinear");
  a["mode"] = std::string(mode == "bilinear" ? "linear" : mode == "bicubic" ? "cubic" : mode.c_str());
  s.give(0, "GridSample", {s.in(0), s.in(1)}, std::move(a));
}

}

void add_fused_spellings(spelling_table& t) {
  t["com.microsoft.FusedConv"] = fused_convolution;
  t["com.microsoft.FusedGemm"] = fused_gemm;
  t["com.microsoft.FusedMatMul"] = fused_matmul;
  t["com.microsoft.TransposeMatMul"] = fused_matmul;
  t["com.microsoft.Gelu"] = gelu;
  t["com.microsoft.BiasGelu"] = biased_gelu;
  t["com.microsoft.FastGelu"] = gelu_by_tanh;
  t["com.microsoft.QuickGelu"] = quick_gelu;
  t["com.microsoft.Trilu"] = triangle;
  t["com.microsoft.GridSample"] = grid_sample;
}

}
