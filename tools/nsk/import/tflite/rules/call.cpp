// SPDX-License-Identifier: MIT
#include "import/tflite/rules/call.hpp"

namespace nsk::tool::tflite {

std::string call::who() const {
  std::string text = "operator " + std::to_string(m_op.index) + " (" + m_op.name;
  constexpr std::size_t max_named = 8;
  for (std::size_t i = 0; i < m_op.inputs.size(); ++i) {
    const int t = m_op.inputs[i];
    if (i == max_named) {
      text += ", and " + std::to_string(m_op.inputs.size() - i) + " more";
      break;
    }
    text += t < 0 ? ", input absent"
                  : ", input '" + tensor(t).name + "' " + to_string(shape(t)) + " " + name_of(tensor(t).data->type());
  }
  if (!m_op.outputs.empty()) text += ", output '" + tensor(output()).name + "' " + to_string(shape(output()));
  return text + ")";
}

void call::require_operands(std::size_t min_inputs, std::size_t max_inputs, std::size_t results) const {
  const std::size_t inputs = m_op.inputs.size();
  if (inputs < min_inputs || inputs > max_inputs)
    fail("it has " + std::to_string(inputs) + " inputs, expected " + std::to_string(min_inputs) +
         (max_inputs > min_inputs ? " to " + std::to_string(max_inputs) : ""));
  if (m_op.outputs.size() != results)
    fail("it has " + std::to_string(m_op.outputs.size()) + " outputs, expected " + std::to_string(results));
}

int call::input(std::size_t i) const {
  if (!has(i)) fail("input " + std::to_string(i) + " is absent");
  return m_op.inputs[i];
}

void call::bind(std::size_t i, value_id v, bool image) {
  const int t = output(i);
  m_context.known.bind(t, v, image, m_op.custom && rank(t) == 0);
}

}
