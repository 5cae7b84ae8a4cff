// SPDX-License-Identifier: MIT
#pragma once
/// Hot reload: another model takes the place of a session's, and the states go on.
#include <netsuke/core/hide_macros.hpp>
#include <cstring>
#include <utility>
#include <netsuke/run/session.hpp>

NSK_BEGIN
namespace impl {

inline bool same_tensor(const tensor_info& a, const tensor_info& b) {
  const span<const std::int32_t> x = a.shape(), y = b.shape();
  return a.type() == b.type() && x.size() == y.size() &&
         std::memcmp(x.data(), y.data(), x.size() * sizeof(std::int32_t)) == 0;
}

/// Whether inputs, outputs and states have the same names, types and shapes in the same order. The status says which
/// one has not; -1 when the counts differ.
inline status same_ports(const variant_view& a, const variant_view& b) {
  if (a.input_count() != b.input_count() || a.output_count() != b.output_count() || a.state_count() != b.state_count())
    return status_code::other_ports;
  const auto same = [](const auto& x, const auto& y) {
    return std::strcmp(x.name(), y.name()) == 0 && same_tensor(x.tensor(), y.tensor());
  };
  for (int i = 0; i < a.input_count(); ++i) {
    if (!same(a.input(i), b.input(i))) return {status_code::other_ports, status_place::input, i};
  }
  for (int i = 0; i < a.output_count(); ++i) {
    if (!same(a.output(i), b.output(i))) return {status_code::other_ports, status_place::output, i};
  }
  for (int i = 0; i < a.state_count(); ++i) {
    if (!same(a.state(i), b.state(i))) return {status_code::other_ports, status_place::state, i};
  }
  return {};
}

}

/// Puts `next` in the place of the session's model and keeps the states' values and the profiler. Ports and states are
/// compared one by one: an equal signature() is the file's word, this is the proof.
///
/// `memory` is a new block or the session's own, as the session's constructor wants it; `snapshot` has
/// net.state_bytes() bytes and is overwritten. Afterwards the session holds nothing of the old model: its bytes, and
/// its memory where another block was given, may be freed. Inputs have to be written, blocks to be bound, and seed
/// and batch to be set again. An inference that run_for() has begun is abandoned: call between inferences to lose none.
///
/// Where the status is not ok (other_ports, wrong_size of the snapshot, or what the constructor refuses) the session,
/// its memory and its bindings are as they were.
template <class Settings>
[[nodiscard]] status rebind(session<Settings>& net, const model& next, span<std::byte> memory,
                            span<std::byte> snapshot = {}, int variant = 0) {
  if (!net.status()) return net.status();
  if (!next.is_open()) return status_code::not_open;
  if (variant < 0 || variant >= next.variant_count()) return {status_code::bad_variant, variant};
  if (const status s = impl::same_ports(net.variant(), next.variant(variant)); !s) return s;
  if (const status s = net.save(snapshot); !s) return s;
  session<Settings> fresh(next, memory, variant);
  if (!fresh) return fresh.status();
  if (const status s = fresh.load(snapshot); !s) return s;
  fresh.profiler() = std::move(net.profiler());
  net = std::move(fresh);
  return {};
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
