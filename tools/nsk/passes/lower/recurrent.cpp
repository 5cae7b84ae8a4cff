// SPDX-License-Identifier: MIT
/// The recurrence of RNN, GRU and LSTM layers.
#include "pack/panels.hpp"
#include "passes/lower/lowerer.hpp"

namespace nsk::tool {
namespace {

/// Panels of the gates [first, first + gates) of one direction; source R [directions][all * hidden][hidden].
void pack_gates(std::vector<float>& packed, const recurrent_parameters& r, int direction, int first, int gates) {
  const std::int64_t hidden = r.hidden, start = (direction * recurrent_gates(r.kind) + first) * hidden;
  pack_panels(
      packed, gates * hidden, hidden,
      [&](std::int64_t k, std::int64_t n) { return r.weights[static_cast<std::size_t>((start + n) * hidden + k)]; },
      [&](std::int64_t n) { return r.bias[static_cast<std::size_t>(start + n)]; });
}

std::vector<float> pack_recurrent(const recurrent_parameters& r) {
  std::vector<float> packed;
  for (int d = 0; d < r.directions; ++d) {
    if (r.kind == recurrent_kind::gru && !r.linear_before_reset) {
      pack_gates(packed, r, d, 0, 2);
      pack_gates(packed, r, d, 2, 1);
    } else {
      pack_gates(packed, r, d, 0, recurrent_gates(r.kind));
    }
  }
  return packed;
}

}

void lowerer::lower_recurrent(const operation& o, const recurrent_parameters& r) {
  const auto lines = [&](std::size_t i) {
    const view v = place_of(o.inputs[i]);
    const std::size_t last = v.rank() - 1;
    return v.shape[last] == 1 || v.stride[last] == 1 ? v : with_innermost(v, last, o);
  };
  const auto plain = [&](const view& v, std::size_t i) {
    std::vector<int> axes(v.rank());
    for (std::size_t d = 0; d < axes.size(); ++d) axes[d] = static_cast<int>(d);
    return tensor(v, axes, name_of_value(o.inputs[i]), false);
  };
  const view x = lines(0), h = lines(1);
  const bool is_lstm = r.kind == recurrent_kind::lstm;
  std::vector<int> inputs = {plain(x, 0),
                             constant_floats(o.name + "#weights", packed_once(o, [&] { return pack_recurrent(r); }), 1),
                             plain(h, 1)};
  if (is_lstm) inputs.push_back(plain(lines(2), 2));
  if (!r.peephole.empty()) inputs.push_back(constant_floats(o.name + "#peephole", r.peephole));
  if (r.lengths) inputs.push_back(plain(place_of(o.inputs.back()), o.inputs.size() - 1));
  const view y = allocate(o.output, identity_order(4), true);
  plan_step& s = step(op::recurrent, o, std::move(inputs), tensor(y, {0, 1, 2, 3}, name_of_value(o.output), false));
  s.recurrent.kind = r.kind;
  s.recurrent.reverse = r.reverse;
  s.recurrent.peephole = !r.peephole.empty();
  s.recurrent.lengths = r.lengths;
  s.recurrent.input_forget = r.input_forget;
  s.recurrent.linear_before_reset = r.linear_before_reset;
  s.recurrent.clip = r.clip;
  s.recurrent.cell_clip = r.cell_clip;
  for (const recurrent_gate_parameters& g : r.gates) {
    s.recurrent.functions.push_back(g.fn);
    s.recurrent.parameters.insert(s.recurrent.parameters.end(), {g.alpha, g.beta});
  }
  s.macs = x.shape[0] * x.shape[1] * x.shape[2] * x.shape[3] * r.hidden;
  bind(o.output, y);
}

}
