// SPDX-License-Identifier: MIT
#include "import/tflite/file/stored_uses.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "errors.hpp"
#include "import/tflite/file/constants.hpp"

namespace nsk::tool::tflite {
namespace {

/// Operators that LiteRT computes with stored weights and real activations: which operands are the weights, and along
/// which axis they may have a scale each; -1: one scale.
struct hybrid_form {
  std::set<std::size_t> weights;
  std::int64_t axis = -1;
};

const hybrid_form* hybrid_form_of(const tflite_operator& o) {
  static const std::map<std::string, hybrid_form> forms = {
      {"FULLY_CONNECTED", {{1}, 0}},
      {"CONV_2D", {{1}, 0}},
      {"DEPTHWISE_CONV_2D", {{1}, 3}},
      {"TRANSPOSE_CONV", {{1}, 0}},
      {"BATCH_MATMUL", {{1}}},
      {"EMBEDDING_LOOKUP", {{1}, 0}},
      {"SVDF", {{1, 2}}},
      {"RNN", {{1, 2}}},
      {"UNIDIRECTIONAL_SEQUENCE_RNN", {{1, 2}}},
      {"BIDIRECTIONAL_SEQUENCE_RNN", {{1, 2, 5, 6, 10, 11}}},
      {"LSTM", {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 16}}},
      {"UNIDIRECTIONAL_SEQUENCE_LSTM", {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 16}}},
      {"BIDIRECTIONAL_SEQUENCE_LSTM", {{1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 16, 18, 19, 20, 21,
                                        22, 23, 24, 25, 26, 27, 28, 33, 40, 41, 42, 43, 44, 45, 46, 47}}}};
  constexpr std::size_t basic_lstm = 5;  // inputs of LSTM's small form, which has no such weights
  const auto found = forms.find(o.name);
  return found == forms.end() || o.custom || (o.name == "LSTM" && o.inputs.size() == basic_lstm) ? nullptr
                                                                                                 : &found->second;
}

bool has_a_state(const tflite_operator& o) {
  return o.name.find("LSTM") != std::string::npos || o.name.find("RNN") != std::string::npos || o.name == "SVDF";
}

/// Layers with a memory that are computed in stored integers, if their input is stored.
bool has_a_stored_form(const tflite_operator& o) {
  return o.name == "SVDF" || o.name == "UNIDIRECTIONAL_SEQUENCE_LSTM";
}

/// The operators of one graph of the file.
class looker {
 public:
  looker(tflite_subgraph& g, bool dequantize) : m_graph(g), m_dequantize(dequantize) {}

  /// Returns how many operators read real numbers beside stored weights.
  int look() {
    int widened = 0;
    for (const tflite_operator& o : m_graph.operators) {
      try {
        if (is_hybrid(o)) {
          take_weights(o);
          ++widened;
        } else if (!m_dequantize) {
          require_computed(o);
        }
      } catch (const error& e) {
        throw error(e.code, "operator " + std::to_string(o.index) + " (" + o.name + ") " + e.what());
      }
    }
    for (const tflite_operator& o : m_graph.operators) require_bytes_alone(o);
    return widened;
  }

 private:
  tflite_tensor& at(int t) { return m_graph.tensors[static_cast<std::size_t>(t)]; }
  bool stored(int t) { return t >= 0 && is_quantized(at(t)); }
  bool constant(int t) { return at(t).bytes != nullptr; }
  bool real(int t) { return t >= 0 && at(t).data->type() == tfl::TensorType::FLOAT32; }
  bool in_four_bits(int t) { return stored(t) && !constant(t) && at(t).data->type() == tfl::TensorType::INT4; }
  template <class Condition>
  static bool any(const std::vector<int>& tensors, Condition holds) {
    return std::any_of(tensors.begin(), tensors.end(), holds);
  }

  /// Real results of stored weights.
  bool is_hybrid(const tflite_operator& o) {
    const hybrid_form* form = hybrid_form_of(o);
    if (form == nullptr || !any(o.outputs, [&](int t) { return real(t); })) return false;
    bool found = false;
    for (std::size_t i = 0; i < o.inputs.size(); ++i) {
      if (!stored(o.inputs[i])) continue;
      if (form->weights.count(i) == 0 || !constant(o.inputs[i])) return false;
      found = true;
    }
    return found;
  }

  void take_weights(const tflite_operator& o) {
    const hybrid_form& form = *hybrid_form_of(o);
    for (std::size_t i = 0; i < o.inputs.size(); ++i) {
      if (!stored(o.inputs[i])) continue;
      tflite_tensor& w = at(o.inputs[i]);
      const stored_scale s = scale_of(w);
      const auto type = w.data->type();
      if (type != tfl::TensorType::INT8 && type != tfl::TensorType::INT4 && type != tfl::TensorType::UINT8)
        refuse("has weights '" + w.name + "' of type " + name_of(type) +
               " for activations in float32. Export them in int8");
      if (std::any_of(s.zero.begin(), s.zero.end(), [](std::int64_t z) { return z != 0; }))
        refuse("has weights '" + w.name +
               "' with a zero point for activations in float32, which LiteRT leaves out. Quantise the weights "
               "symmetrically");
      if (s.scale.size() > 1 && (form.axis < 0 || s.axis != form.axis))
        refuse("has weights '" + w.name + "' with a scale for each position of axis " + std::to_string(s.axis) +
               " for activations in float32, which LiteRT does not read. Quantise them by one scale");
      w.signed_bytes = w.signed_bytes || type == tfl::TensorType::UINT8;
    }
  }

  /// Refuses what stores integers, and is not computed in them.
  void require_computed(const tflite_operator& o) {
    const bool reads = any(o.inputs, [&](int t) { return stored(t); }),
               makes = any(o.outputs, [&](int t) { return stored(t); });
    if ((!reads && !makes) || o.name == "ASSIGN_VARIABLE" ||
        (has_a_stored_form(o) && !o.inputs.empty() && stored(o.inputs[0])) || o.name == "TFLite_Detection_PostProcess")
      return;
    const bool short_ones = any(o.inputs, [&](int t) { return in_four_bits(t); }) ||
                            any(o.outputs, [&](int t) { return in_four_bits(t); }),
               mixed =
                   !makes && o.name != "DEQUANTIZE" && any(o.inputs, [&](int t) { return stored(t) && constant(t); });
    if (!has_a_state(o) && !short_ones && !mixed) return;
    refuse(std::string("works on stored integers ") +
           (has_a_state(o) ? "with a state"
            : short_ones   ? "of 4 bits"  // kept in bytes, such a tensor would saturate where bytes do
                           : "and on float32") +
           ", which are not computed as such: --dequantize makes the model a float32 one");
  }

  /// Refuses other readers of the bytes of int8 in a tensor of uint8.
  void require_bytes_alone(const tflite_operator& o) {
    if (is_hybrid(o) || !any(o.inputs, [&](int t) { return t >= 0 && at(t).signed_bytes; })) return;
    refuse("operator " + std::to_string(o.index) + " (" + o.name +
           ") reads weights of uint8 that another operator reads as int8. Export the model anew");
  }

  tflite_subgraph& m_graph;
  bool m_dequantize;
};

}

std::string prepare_stored(tflite_file& file, bool dequantize) {
  int widened = 0;
  for (auto& numbered : file.subgraphs) widened += looker(numbered.second, dequantize).look();
  if (widened == 0) return "";
  return std::to_string(widened) + (widened == 1 ? " operator has" : " operators have") +
         " integer weights for float32 activations (dynamic range): the weights become float32, and activations are "
         "not "
         "rounded to 8 bits as LiteRT rounds them in every run; results are nearer to those of the float32 model";
}

}
