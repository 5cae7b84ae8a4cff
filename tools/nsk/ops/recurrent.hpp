// SPDX-License-Identifier: MIT
#pragma once
/// The recurrence of RNN, GRU and LSTM layers.
#include "pack/panels.hpp"
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::recurrent> {
  using parameters = recurrent_parameters;

  static void lower(lowerer& l, const operation& o, const parameters& r) {
    const auto lines = [&](std::size_t i) {
      const view v = l.place_of(o.inputs[i]);
      const std::size_t last = v.rank() - 1;
      return v.shape[last] == 1 || v.stride[last] == 1 ? v : l.with_innermost(v, last, o);
    };
    const auto plain = [&](const view& v, std::size_t i) {
      return l.tensor(v, identity_order(v.rank()), l.name_of_value(o.inputs[i]), false);
    };
    const view x = lines(0), h = lines(1);
    const bool is_lstm = r.kind == recurrent_kind::lstm;
    std::vector<int> inputs = {
        plain(x, 0),
        constant_panels(l, o, packed_once(l, o, [&] { return packed_panels(pack(r)); }), matrices(r), true),
        plain(h, 1)};
    if (is_lstm) inputs.push_back(plain(lines(2), 2));
    if (!r.peephole.empty()) inputs.push_back(l.constant_floats(o.name + "#peephole", r.peephole));
    if (r.lengths) inputs.push_back(plain(l.place_of(o.inputs.back()), o.inputs.size() - 1));
    const view y = l.allocate(o.output, identity_order(4), true);
    plan_step& s =
        l.step<op::recurrent>(o, std::move(inputs), l.tensor(y, {0, 1, 2, 3}, l.name_of_value(o.output), false));
    s.p.as<op::recurrent>() = params(r);
    s.macs = x.shape[0] * x.shape[1] * x.shape[2] * x.shape[3] * r.hidden;
    l.bind(o.output, y);
  }
  static tile_size tiles(const tile_request& r, const recurrent_params&) {
    constexpr std::int64_t min_rows = 6;  // of the batch: they share each weight
    const std::vector<std::int32_t>& y = r.output().shape;
    const std::int64_t rows = std::max((std::int64_t{y[0]} * y[2] + wanted_tiles - 1) / wanted_tiles, min_rows);
    return {whole_or(rows * y[1], std::int64_t{y[0]} * y[1]), whole_or(1, y[2]), 0};
  }
  static std::string work_kind(const step_view& s, const recurrent_params&, const tile_space&) {
    return s.output().shape()[0] < gemv_rows ? work_kinds::gemv : work_kinds::pointwise;
  }

 private:
  static recurrent_params params(const recurrent_parameters& r) {
    recurrent_params p;
    p.kind = r.kind;
    p.reverse = static_cast<std::uint32_t>(r.reverse);
    p.has_peephole = !r.peephole.empty();
    p.has_lengths = r.lengths;
    p.input_forget = r.input_forget;
    p.linear_before_reset = r.linear_before_reset;
    p.clip = r.clip;
    p.cell_clip = r.cell_clip;
    p.gate_count = static_cast<std::int32_t>(r.gates.size());
    const auto each = static_cast<std::size_t>(recurrent_functions(r.kind));
    for (std::size_t i = 0; i < r.gates.size(); ++i) p.gate[i / each][i % each] = r.gates[i];
    return p;
  }

  /// Panels of the gates [first, first + gates) of one direction; source R [directions][all * hidden][hidden].
  static void pack_gates(std::vector<float>& packed, const recurrent_parameters& r, int direction, int first,
                         int gates) {
    const std::int64_t hidden = r.hidden, start = (direction * recurrent_gates(r.kind) + first) * hidden;
    pack_panels(
        packed, gates * hidden, hidden,
        [&](std::int64_t k, std::int64_t n) { return r.weights[static_cast<std::size_t>((start + n) * hidden + k)]; },
        [&](std::int64_t n) { return r.bias[static_cast<std::size_t>(start + n)]; });
  }

  /// Whether the hidden gate has a matrix of its own.
  static bool splits(const recurrent_parameters& r) { return r.kind == recurrent_kind::gru && !r.linear_before_reset; }
  static std::vector<panel_matrix> matrices(const recurrent_parameters& r) {
    const std::int64_t hidden = r.hidden;
    std::vector<panel_matrix> all;
    for (int d = 0; d < r.directions; ++d) {
      all.push_back({(splits(r) ? 2 : recurrent_gates(r.kind)) * hidden, hidden});
      if (splits(r)) all.push_back({hidden, hidden});
    }
    return all;
  }
  static std::vector<float> pack(const recurrent_parameters& r) {
    std::vector<float> packed;
    for (int d = 0; d < r.directions; ++d) {
      if (splits(r)) {
        pack_gates(packed, r, d, 0, 2);
        pack_gates(packed, r, d, 2, 1);
      } else {
        pack_gates(packed, r, d, 0, recurrent_gates(r.kind));
      }
    }
    return packed;
  }
};

}
