// SPDX-License-Identifier: MIT
#pragma once
/// Last part of the verifier: what steps read has been written, and what they write is theirs to write.
///
/// Rules, for each step in order:
/// - its tensors' buffers are alive; it writes no constant and no model input;
/// - all that it reads is covered by the outputs of earlier steps; constants, inputs and states are from the start;
/// - within its output's buffer an input is either disjoint from the output, or the same view of an operator that reads
///   each element before writing it (works_in_place in its file; any residual): then the step works in place;
/// - a step that does not work in place writes elements that no earlier step has written (states excepted): slices of
///   one buffer by different steps are provably disjoint.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/model/impl/verify_written.hpp>

NSK_BEGIN
namespace impl {

NSK_COLD inline bool is_alive(const tensor_info& t, std::int32_t step) {
  return t.where() == storage::constant || (t.first_step() <= step && step <= t.last_step());
}

NSK_COLD inline status verify_step_flow(verify_context& c, std::int32_t index) {
  const step_view s = c.variant.step(index);
  const tensor_info output = s.output();
  if (output.where() == storage::constant || output.where() == storage::input) return {status_code::read_only, index};
  if (!is_alive(output, index)) return {status_code::dead_buffer, index};
  bool in_place = false;
  for (int i = 0; i < s.input_count(); ++i) {
    const tensor_info input = s.input(i);
    if (!is_alive(input, index)) return {status_code::dead_buffer, index};
    const status written = verify_written(c, input, index);
    if (!written) return written;
    if (input.buffer() != output.buffer()) continue;
    if (may_work_in_place(s, i) && same_view(input, output)) {
      in_place = true;
    } else if (shared_bytes(region_of(input), region_of(output)) != 0) {
      return {status_code::bad_overlap, index};
    }
  }
  return in_place || output.where() == storage::state ? status() : verify_fresh(c, output, index);
}

NSK_COLD inline status verify_flow(verify_context& c) {
  for (std::int32_t i = 0; i < c.variant.step_count(); ++i) {
    const status s = verify_step_flow(c, i);
    if (!s) return s;
  }
  const std::int32_t end = c.variant.step_count();
  for (int i = 0; i < c.variant.output_count(); ++i) {
    const status s = verify_written(c, c.variant.output(i).tensor(), end);
    if (!s) return s;
  }
  for (int i = 0; i < c.variant.state_count(); ++i) {
    const status s = verify_written(c, c.variant.state(i).next(), end);
    if (!s) return s;
  }
  return {};
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
