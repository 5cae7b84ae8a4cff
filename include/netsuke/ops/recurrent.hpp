// SPDX-License-Identifier: MIT
#pragma once
/// The recurrence of a layer over time, in one or two directions.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/kernels/dense/recurrent.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
template <>
struct op_traits<op::recurrent> : impl::never_in_place, impl::taps_of_line, impl::one_path {
  using params = recurrent_params;
  using args = kernels::recurrent_args;

  static constexpr impl::operand_table operands(const params& p) {
    using impl::operand;
    constexpr operand state = operand::floats().with_rank(3).in_lines();
    impl::operand_table t{operand::image(), operand::image(), operand::checked_by_rules(), state};
    const recurrent_inputs in = recurrent_inputs::of(p);
    if (in.initial_c >= 0) t = t.with(state);
    if (in.peephole >= 0) t = t.with(operand::checked_by_rules());
    return in.lengths >= 0 ? t.with(operand::of(dtype::int32).with_rank(1)) : t;
  }

  template <class Reader>
  NSK_COLD static status_code check_rules(Reader& reader, const step_view& s, const params& p) {
    const tensor_info x = s.input(0), weights = s.input(1), y = s.output();
    if (!is_known(p.kind)) return status_code::bad_step;
    const shape n = shape::of(y, p.kind);
    if (n.time_steps < 1 || n.directions > 2 || !gates_agree(p, n)) return status_code::bad_step;
    const span<const std::int32_t> in = x.shape();
    if (in[0] != n.batch || in[1] != n.time_steps || in[2] != n.directions ||
        in[3] != recurrent_gates(p.kind) * n.hidden)
      return status_code::bad_step;
    if (!is_state(s.input(2), n) || !options_agree(s, p, n)) return status_code::bad_step;
    const impl::panel_sizes sizes = {recurrent_weight_elements<float>(p.kind, p.linear_before_reset, n.hidden),
                                     recurrent_weight_elements<half_bits>(p.kind, p.linear_before_reset, n.hidden),
                                     recurrent_weight_elements<std::int8_t>(p.kind, p.linear_before_reset, n.hidden)};
    return impl::holds_panels(reader, weights, sizes, n.directions) ? status_code::ok : status_code::bad_weights;
  }

  static constexpr impl::whole_axes whole(const params&, int) { return {false, false, true}; }
  /// A tile has whole rows of the batch: all their time steps and final rows.
  NSK_COLD static bool accepts_tiles(const params&, const step_view& s, const tile_size& t, const tile_grid& grid) {
    return grid.rows == 1 || t.rows % static_cast<std::uint32_t>(s.output().shape()[1]) == 0;
  }
  /// Gates, initial states and lengths have the rows of the result.
  static constexpr impl::row_rule rows(const params& p, int d, int) {
    const recurrent_inputs in = recurrent_inputs::of(p);
    std::uint32_t same = 1u | 4u;
    if (in.initial_c >= 0) same |= 1u << in.initial_c;
    if (in.lengths >= 0) same |= 1u << in.lengths;
    return impl::rows_apart(d == 0, same);
  }
  template <class Tensor>
  static std::int64_t scratch_bytes(const params& p, const Tensor&, const Tensor& y) {
    return kernels::recurrent_scratch_bytes(p.kind, y.shape()[0], y.shape()[3]);
  }
  static args bind(const impl::memory_map& m, const step_view& s, const params& p) {
    const recurrent_inputs in = recurrent_inputs::of(p);
    args a{};
    static_cast<params&>(a) = p;
    a.input = m.view(s.input(0));
    a.weights = m.constant<float>(s.input(1));
    a.initial_h = m.view(s.input(2));
    if (in.initial_c >= 0) a.initial_c = m.view(s.input(in.initial_c));
    if (in.peephole >= 0) a.peephole = m.constant<float>(s.input(in.peephole));
    if (in.lengths >= 0) a.lengths = m.view(s.input(in.lengths));
    a.output = m.view(s.output());
    a.flags = m.flags;
    return a;
  }

  template <class Settings>
  static void run(const args& a, const tile_range& range, std::byte* scratch) {
    kernels::recurrent<impl::weight<Settings>, impl::kernels_of<Settings>>(a, range, scratch);
  }

 private:
  /// Lengths of the layer.
  struct shape {
    std::int64_t batch, time_steps, directions, hidden;

    static shape of(const tensor_info& output, recurrent_kind kind) {
      const span<const std::int32_t> y = output.shape();
      return {y[0], y[1] - recurrent_final_rows(kind), y[2], y[3]};
    }
  };
  /// Functions of gates and their parameters: as many as the kind and the directions need.
  NSK_COLD static bool gates_agree(const params& p, const shape& n) {
    const auto per_direction = recurrent_functions(p.kind);
    if (p.gate_count != n.directions * per_direction) return false;
    for (std::int32_t i = 0; i < p.gate_count; ++i) {
      if (!is_known(p.gate[i / per_direction][i % per_direction].fn)) return false;
    }
    return p.reverse < 1u << n.directions && p.clip >= 0 && p.cell_clip >= 0;
  }
  /// Lengths of a state: [batch, directions, hidden].
  NSK_COLD static bool is_state(const tensor_info& t, const shape& n) {
    const span<const std::int32_t> x = t.shape();
    return x[0] == n.batch && x[1] == n.directions && x[2] == n.hidden;
  }
  /// What options name is there, and as long as the layer.
  NSK_COLD static bool options_agree(const step_view& s, const params& p, const shape& n) {
    const recurrent_inputs in = recurrent_inputs::of(p);
    const bool is_lstm = p.kind == recurrent_kind::lstm;
    if ((p.has_peephole || p.input_forget || p.cell_clip > 0) && !is_lstm) return false;
    if (p.linear_before_reset && p.kind != recurrent_kind::gru) return false;
    if (in.initial_c >= 0 && !is_state(s.input(in.initial_c), n)) return false;
    if (in.peephole >= 0 && !impl::is_constant_line(s.input(in.peephole), 3 * n.directions * n.hidden)) return false;
    return in.lengths < 0 || s.input(in.lengths).shape()[0] == n.batch;
  }
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
