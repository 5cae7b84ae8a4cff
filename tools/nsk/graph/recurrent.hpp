// SPDX-License-Identifier: MIT
#pragma once
/// Attributes of ONNX's RNN, GRU and LSTM, read once for the reference evaluator and the canonicalisation.
#include <vector>
#include <netsuke/format/params.hpp>
#include "graph/graph.hpp"

namespace nsk::tool {

/// A gate's function and its parameters.
struct recurrent_activation {
  recurrent_function fn = recurrent_function::tanh;
  double alpha = 0, beta = 0;
};

struct recurrent_attributes {
  recurrent_kind kind = recurrent_kind::lstm;
  int directions = 1;
  bool reverse = false;  ///< the only direction runs backwards
  bool batch_first = false, input_forget = false, linear_before_reset = false;
  double clip = 0, cell_clip = 0;                 ///< 0: none
  std::vector<recurrent_activation> activations;  ///< per direction f; f, g (GRU); f, g, h (LSTM)

  bool is_backward(int direction) const { return direction == 1 || reverse; }
  int functions() const { return static_cast<int>(kind) + 1; }
  int gates() const { return kind == recurrent_kind::rnn ? 1 : kind == recurrent_kind::gru ? 3 : 4; }
};

/// Attribute of an LSTM whose cell is clipped at every time step, which ONNX has no word for.
inline constexpr char cell_clip_attribute[] = "nsk_cell_clip";

/// Reads them. Refuses directions, activations, clips and layouts that ONNX does not define, and lists of the wrong
/// length; messages begin with `who`, the description of the node.
recurrent_attributes recurrent_attributes_of(const node& n, const std::string& who);

}
