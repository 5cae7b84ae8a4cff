// SPDX-License-Identifier: MIT
#include "graph/recurrent.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "errors.hpp"

namespace nsk::tool {
namespace {

constexpr double required = std::numeric_limits<double>::quiet_NaN();  ///< a parameter without a default

struct known_activation {
  const char* name;
  recurrent_function fn;
  int parameters;
  double alpha, beta;  ///< defaults
};
constexpr known_activation known_activations[] = {
    {"sigmoid", recurrent_function::sigmoid, 0, 0, 0},
    {"tanh", recurrent_function::tanh, 0, 0, 0},
    {"relu", recurrent_function::relu, 0, 0, 0},
    {"affine", recurrent_function::affine, 2, required, required},
    {"leakyrelu", recurrent_function::leaky_relu, 1, 0.01f, 0},
    {"thresholdedrelu", recurrent_function::thresholded_relu, 1, 1, 0},
    {"scaledtanh", recurrent_function::scaled_tanh, 2, required, required},
    {"hardsigmoid", recurrent_function::hard_sigmoid, 2, 0.2f, 0.5},
    {"elu", recurrent_function::elu, 1, 1, 0},
    {"softsign", recurrent_function::softsign, 0, 0, 0},
    {"softplus", recurrent_function::softplus, 0, 0, 0},
};

/// A list attribute; empty where it is absent.
template <class T>
std::vector<T> list_of(const node& n, const std::string& key, const std::string& who) {
  if (const auto* list = n.find<std::vector<T>>(key)) return *list;
  const auto* nothing = n.find<std::vector<std::int64_t>>(key);  // an empty list has any type
  if (n.has(key) && (nothing == nullptr || !nothing->empty()))
    refuse(who + ": attribute '" + key + "' has the wrong type");
  return {};
}

/// Gives parameters from the lists of all, in order, to the functions that take them.
class parameter_list {
 public:
  parameter_list(std::vector<float> values, std::string key, const std::string& who)
      : m_values(std::move(values)), m_key(std::move(key)), m_who(who) {}
  double next(const known_activation& a, double fallback) {
    if (m_next < m_values.size()) return static_cast<double>(m_values[m_next++]);
    if (std::isnan(fallback)) refuse(m_who + ": activation " + a.name + " needs a value in " + m_key);
    return fallback;
  }
  void finish() const {
    if (m_next != m_values.size()) refuse(m_who + ": " + m_key + " has more values than the activations take");
  }

 private:
  std::vector<float> m_values;
  std::string m_key;
  const std::string& m_who;
  std::size_t m_next = 0;
};

const known_activation& find_activation(std::string name, const std::string& who) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const known_activation& a : known_activations)
    if (name == a.name) return a;
  refuse(who + ": activation '" + name +
         "' is not one that ONNX defines for recurrent layers. Use Sigmoid, Tanh, Relu, Affine, LeakyRelu, "
         "ThresholdedRelu, ScaledTanh, HardSigmoid, Elu, Softsign or Softplus");
}

std::vector<recurrent_activation> activations_of(const node& n, const recurrent_attributes& r, const std::string& who) {
  std::vector<std::string> names = list_of<std::string>(n, "activations", who);
  const auto wanted = static_cast<std::size_t>(r.directions * r.functions());
  if (names.empty())
    for (std::size_t i = 0; i < wanted; ++i)
      names.push_back(r.kind != recurrent_kind::rnn && i % static_cast<std::size_t>(r.functions()) == 0 ? "Sigmoid"
                                                                                                        : "Tanh");
  if (names.size() != wanted)
    refuse(who + ": it has " + std::to_string(names.size()) + " activations, but needs " + std::to_string(wanted));
  parameter_list alphas(list_of<float>(n, "activation_alpha", who), "activation_alpha", who),
      betas(list_of<float>(n, "activation_beta", who), "activation_beta", who);
  std::vector<recurrent_activation> result;
  for (const std::string& name : names) {
    const known_activation& a = find_activation(name, who);
    recurrent_activation here{a.fn, 0, 0};
    if (a.parameters > 0) here.alpha = alphas.next(a, a.alpha);
    if (a.parameters > 1) here.beta = betas.next(a, a.beta);
    result.push_back(here);
  }
  alphas.finish();
  betas.finish();
  return result;
}

}

recurrent_attributes recurrent_attributes_of(const node& n, const std::string& who) {
  recurrent_attributes r;
  r.kind = n.op == "RNN" ? recurrent_kind::rnn : n.op == "GRU" ? recurrent_kind::gru : recurrent_kind::lstm;
  const std::string direction = n.text("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    refuse(who + ": direction '" + direction + "' does not exist; it is forward, reverse or bidirectional");
  r.directions = direction == "bidirectional" ? 2 : 1;
  r.reverse = direction == "reverse";
  const std::int64_t layout = n.integer("layout", 0);
  if (layout != 0 && layout != 1) refuse(who + ": layout must be 0 or 1");
  r.batch_first = layout == 1;
  r.input_forget = r.kind == recurrent_kind::lstm && n.integer("input_forget", 0) != 0;
  r.linear_before_reset = r.kind == recurrent_kind::gru && n.integer("linear_before_reset", 0) != 0;
  if (n.has("clip")) {
    r.clip = static_cast<double>(n.number("clip", 0));
    if (!(r.clip > 0)) refuse(who + ": clip must be positive");
    if (std::isinf(r.clip)) r.clip = 0;
  }
  if (n.has(cell_clip_attribute)) {
    r.cell_clip = static_cast<double>(n.number(cell_clip_attribute, 0));
    if (r.kind != recurrent_kind::lstm || !(r.cell_clip > 0) || std::isinf(r.cell_clip))
      refuse(who + ": the limit of its cell must be positive");
  }
  r.activations = activations_of(n, r, who);
  return r;
}

}
