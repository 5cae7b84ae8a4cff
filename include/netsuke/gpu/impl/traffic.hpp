// SPDX-License-Identifier: MIT
#pragma once
/// Bytes that dispatches read and write.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/variant_view.hpp>
#include <netsuke/gpu/impl/lowering.hpp>

NSK_BEGIN
namespace gpu {

/// Bytes of operands, each byte once however often threads touch it: activations that are read and written, and
/// constants.
struct traffic {
  std::uint64_t read = 0, written = 0, constants = 0;
  constexpr std::uint64_t activations() const { return read + written; }
  constexpr void add(const traffic& t) {
    read += t.read;
    written += t.written;
    constants += t.constants;
  }
};

namespace impl {

/// Bytes of the elements that a tensor has; one that it repeats counts once.
inline std::uint64_t distinct_bytes(const tensor_info& t, length_values lengths, bool half) {
  const tensor_view v = t.view(nullptr, lengths);
  std::uint64_t n = half ? 2 : static_cast<std::uint64_t>(size_of(t.type()));
  for (int d = 0; d < v.rank; ++d) {
    if (v.stride[d] != 0) n *= static_cast<std::uint64_t>(v.shape[d]);
  }
  return n;
}

inline traffic traffic_of_step(const step_view& s, operand_set halves, length_values lengths) {
  traffic found;
  for (int i = 0; i < s.input_count(); ++i) {
    const tensor_info t = s.input(i);
    const bool half = i < set_inputs && (halves >> i & 1) != 0;
    (is_constant(t) ? found.constants : found.read) += distinct_bytes(t, lengths, half);
  }
  for (int i = 0; i < s.output_count(); ++i)
    found.written += distinct_bytes(s.output(i), lengths, (halves & output_operand) != 0);
  return found;
}

/// Of a step whose first input is made by an earlier one, in the same dispatch.
inline traffic traffic_of_merged(const variant_view& v, const dispatch_record& r, length_values lengths) {
  const step_view before = v.step(r.merged), s = v.step(r.step);
  traffic found = traffic_of_step(s, r.halves, lengths);
  found.read -= distinct_bytes(s.input(0), lengths, (r.halves & 1) != 0);
  const traffic more = traffic_of_step(before, r.merged_halves, lengths);
  found.add({more.read, 0, more.constants});
  return found;
}

}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
