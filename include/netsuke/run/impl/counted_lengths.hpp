// SPDX-License-Identifier: MIT
#pragma once
/// The lengths that steps of a run count.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/core/flags.hpp>
#include <netsuke/format/impl/run_lengths.hpp>
#include <netsuke/ops/impl/memory_map.hpp>
#include <netsuke/ops/impl/narrow_weights.hpp>

NSK_BEGIN
namespace impl {

/// Reads a number that a step has counted.
NSK_NOINLINE inline std::int64_t counted_number(const memory_map& m, const tensor_info& t) {
  const std::byte* const from = m.data(t);
  if (t.type() == dtype::int64) return *reinterpret_cast<const std::int64_t*>(from);
  return *reinterpret_cast<const std::int32_t*>(from);
}

/// Sets the lengths that the steps [begin, end) have counted. A number that the plan has no tensors for becomes the
/// nearest one that it has, and raises a flag.
NSK_NOINLINE inline void take_counts(run_lengths& lengths, const memory_map& m, int begin, int end) {
  for (int i = 0; i < m.variant.length_count(); ++i) {
    const length_view l = m.variant.length(i);
    if (!l.is_counted()) continue;
    const tensor_info t = m.variant.tensor(static_cast<int>(l.counted_tensor()));
    if (t.first_step() < begin || t.first_step() >= end) continue;
    const std::int64_t found = counted_number(m, t), low = l.minimum(), high = l.bound();
    const std::int64_t value = found < low ? low : found > high ? high : found;
    if (value != found) raise(m.flags, length_clamped);
    lengths.set(m.variant, i, static_cast<std::int32_t>(value));
  }
}

/// Whether steps count any of the lengths of a session.
template <class Settings>
bool are_counted(const run_lengths& lengths) {
  if constexpr (runs_lengths<Settings>) return lengths.are_counted();
  return false;
}

/// Number of tiles of a step where those of the lengths that steps count are at their bounds.
template <class Settings>
int max_tile_count(const variant_view& v, int step, run_lengths lengths) {
  for (int i = 0; are_counted<Settings>(lengths) && i < v.length_count(); ++i) {
    if (v.length(i).is_counted()) lengths.set(v, i, v.length(i).bound());
  }
  return v.step(step).tile_count(lengths.values());
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
