// SPDX-License-Identifier: MIT
#pragma once
/// Last part of the verifier: what steps read has been written, and what they write is theirs to write.
///
/// Rules, for each step in order:
/// - its tensors' buffers are alive; it writes no constant and no model input;
/// - all that it reads is covered by the outputs of earlier steps; constants, inputs and states are from the start;
/// - within its output's buffer an input is either disjoint from the output, or the same view of an operator that reads
///   each element before writing it (unary, binary, softmax, layer normalisation, any residual): then the step works in
///   place;
/// - a step that does not work in place writes elements that no earlier step has written (states excepted): slices of
///   one buffer by different steps are provably disjoint.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/model/impl/region.hpp>
#include <netsuke/model/impl/verify_context.hpp>

NSK_BEGIN
namespace impl {

/// How many plain comparisons one of regions costs.
inline constexpr std::uint64_t region_comparison = 4;

inline region region_of(const tensor_info& t) {
  bool repeats;
  return region_of(t.view(nullptr), static_cast<std::int64_t>(t.offset()), repeats);
}

NSK_COLD inline bool is_alive(const tensor_info& t, std::int32_t step) {
  return t.where() == storage::constant || (t.first_step() <= step && step <= t.last_step());
}

/// The same elements in the same places.
NSK_COLD inline bool same_view(const tensor_info& a, const tensor_info& b) {
  if (a.buffer() != b.buffer() || a.offset() != b.offset() || a.type() != b.type()) return false;
  const tensor_view p = a.view(nullptr), q = b.view(nullptr);
  if (!same_shape(p, q)) return false;
  for (int d = 0; d < p.rank; ++d) {
    if (p.shape[d] != 1 && p.stride[d] != q.stride[d]) return false;
  }
  return true;
}

NSK_COLD inline bool may_work_in_place(const step_view& s, int input) {
  const op o = s.op();
  return s.epilogue().residual == input ||
         ((o == op::unary || o == op::softmax || o == op::layer_normalization) && input == 0) ||
         (o == op::binary && input < 2);
}

/// Whether a step's output replaces one of its inputs.
NSK_COLD inline bool works_in_place(const step_view& s) {
  const tensor_info output = s.output();
  for (int i = 0; i < s.input_count(); ++i) {
    if (may_work_in_place(s, i) && same_view(s.input(i), output)) return true;
  }
  return false;
}

/// Whether steps before `end` have written all of a region of the buffer of `t`.
NSK_COLD inline bool is_covered(verify_context& c, const tensor_info& t, const region& wanted, std::int32_t end) {
  std::int64_t missing = wanted.bytes();
  for (std::int32_t s = t.first_step(); s < end && c.spend(); ++s) {
    const step_view writer = c.variant.step(s);
    const tensor_info output = writer.output();
    if (output.buffer() != t.buffer() || works_in_place(writer)) continue;
    if (!c.spend(region_comparison)) return false;
    const std::int64_t shared = shared_bytes(wanted, region_of(output));
    if (shared > 0) missing -= shared;
    if (missing == 0) return true;
  }
  return false;
}

/// Whether steps before `end` have written all of a tensor. Where that cannot be proven for its elements alone, because
/// it skips some that its writers count, they must have written all between its first and its last, or the whole
/// buffer.
NSK_COLD inline status verify_written(verify_context& c, const tensor_info& t, std::int32_t end) {
  if (t.where() != storage::arena && t.where() != storage::output) return {};
  const region elements = region_of(t);
  if (is_covered(c, t, nested(elements), end) || is_covered(c, t, hull(elements), end)) return {};
  region whole;
  whole.insert(1, static_cast<std::int64_t>(t.buffer_bytes()));
  if (is_covered(c, t, whole, end)) return {};
  return {c.spend() ? status_code::read_before_write : status_code::too_complex, end};
}

/// Whether no step before `step` has written any of what it writes.
NSK_COLD inline status verify_fresh(verify_context& c, const tensor_info& output, std::int32_t step) {
  const region mine = region_of(output);
  for (std::int32_t s = output.first_step(); s < step; ++s) {
    if (!c.spend()) return status_code::too_complex;
    const tensor_info other = c.variant.step(s).output();
    if (other.buffer() != output.buffer()) continue;
    if (!c.spend(region_comparison)) return status_code::too_complex;
    if (shared_bytes(mine, region_of(other)) != 0) return {status_code::bad_overlap, step};
  }
  return {};
}

NSK_COLD inline status verify_step_flow(verify_context& c, std::int32_t index) {
  const step_view s = c.variant.step(index);
  const tensor_info output = s.output();
  if (output.where() == storage::constant || output.where() == storage::input) return {status_code::read_only, index};
  if (!is_alive(output, index)) return {status_code::dead_buffer, index};
  bool in_place = false;
  for (int i = 0; i < s.input_count(); ++i) {
    if (!c.spend()) return status_code::too_complex;
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
