// SPDX-License-Identifier: MIT
#pragma once
/// Third part of the verifier: inputs, outputs, states and check vectors.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/model/impl/verify_context.hpp>

NSK_BEGIN
namespace impl {

/// A tensor that fills a buffer of its own kind and number: what binding memory of the caller relies on.
NSK_COLD inline bool owns_buffer(const tensor_info& t, storage where, int number) {
  return t.where() == where && t.port() == number && t.offset() == 0 && t.buffer_bytes() == t.bytes() && is_plain(t) &&
         is_dense(t);
}

/// Source axes are a permutation that takes the source shape to the physical one; without axes only the element counts
/// must agree.
NSK_COLD inline bool axes_agree(const port_view& p) {
  const span<const std::int32_t> shape = p.shape();
  const span<const std::int64_t> source = p.source_shape();
  const span<const std::uint8_t> axes = p.source_axes();
  if (source.size() > 64) return false;
  std::int64_t left = p.elements();
  for (const std::int64_t length : source) {
    if (length < 1 || left % length != 0) return false;
    left /= length;
  }
  if (!source.empty() && left != 1) return false;
  if (axes.empty()) return true;
  if (axes.size() != shape.size() || source.size() != shape.size()) return false;
  unsigned seen = 0;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    if (axes[d] >= axes.size() || (seen >> axes[d] & 1u) != 0 || source[axes[d]] != shape[d]) return false;
    seen |= 1u << axes[d];
  }
  return true;
}

NSK_COLD inline bool hints_agree(const port_view& p) {
  const std::size_t hints = p.mean().size();
  const auto channels = static_cast<std::size_t>(p.shape()[p.shape().size() - 1]);
  return hints == p.deviation().size() && (hints <= 1 || hints == channels);
}

NSK_COLD inline status verify_ports(const verify_context& c) {
  const variant_view& v = c.variant;
  for (const bool is_input : {true, false}) {
    const int count = is_input ? v.input_count() : v.output_count();
    for (int i = 0; i < count; ++i) {
      const status bad{status_code::bad_port, is_input ? status_place::input : status_place::output, i};
      const port_view p = is_input ? v.input(i) : v.output(i);
      if (p.tensor_index() >= c.tensors()) return bad;
      const tensor_info t = p.tensor();
      if (!owns_buffer(t, is_input ? storage::input : storage::output, i) || !axes_agree(p) || !hints_agree(p))
        return bad;
      const bool lives = is_input ? t.first_step() == 0 : t.last_step() == v.step_count();
      if (!lives) return bad;
    }
  }
  return {};
}

/// Whether `t` can be what a run leaves behind for `state`.
NSK_COLD inline bool can_be_next(const tensor_info& t, const tensor_info& state, int end) {
  if (t.buffer() != state.buffer() &&
      (t.where() == storage::constant || t.where() == storage::state || t.last_step() != end))
    return false;
  return t.type() == state.type() && same_shape(t, state) && is_dense(t) && is_plain(t);
}

NSK_COLD inline status verify_states(const verify_context& c) {
  const int end = c.variant.step_count();
  for (int i = 0; i < c.variant.state_count(); ++i) {
    const status bad{status_code::bad_state, i};
    const state_view s = c.variant.state(i);
    if (s.tensor_index() >= c.tensors() || s.next_index() >= c.tensors()) return bad;
    const tensor_info t = s.tensor();
    if (!owns_buffer(t, storage::state, i) || t.first_step() != 0 || t.last_step() != end) return bad;
    if (!can_be_next(s.next(), t, end) || s.initial_index() < -1) return bad;
    if (!s.has_initial()) continue;
    if (static_cast<std::uint32_t>(s.initial_index()) >= c.tensors()) return bad;
    const tensor_info initial = s.initial();
    if (initial.where() != storage::constant || initial.type() != t.type() || !is_plain(initial)) return bad;
    if (!same_shape(initial, t) || !is_dense(initial)) return bad;
  }
  return {};
}

/// Number of the buffer that belongs to port or state `index`, -1 where there are only `count`.
template <class Port>
std::int64_t owned_buffer(std::uint32_t index, int count, const Port& port) {
  return index < static_cast<std::uint32_t>(count) ? std::int64_t{port(static_cast<int>(index)).tensor().buffer()} : -1;
}

/// Every buffer of an input, output or state belongs to the one that it names.
NSK_COLD inline status verify_owners(const verify_context& c) {
  const variant_view& v = c.variant;
  for (int i = 0; i < v.buffer_count(); ++i) {
    const buffer_view b = v.buffer(i);
    std::int64_t owner = i;
    switch (b.where()) {
      case storage::input: owner = owned_buffer(b.port(), v.input_count(), [&](int k) { return v.input(k); }); break;
      case storage::output: owner = owned_buffer(b.port(), v.output_count(), [&](int k) { return v.output(k); }); break;
      case storage::state: owner = owned_buffer(b.port(), v.state_count(), [&](int k) { return v.state(k); }); break;
      case storage::constant:
      case storage::arena: break;
    }
    if (owner != i) return {status_code::bad_buffer, i};
  }
  return {};
}

NSK_COLD inline status verify_checks(const verify_context& c) {
  const variant_view& v = c.variant;
  for (int i = 0; i < v.check_count(); ++i) {
    const status bad{status_code::bad_check, i};
    const check_view check = v.check_vector(i);
    if (check.input_count() != v.input_count() || check.output_count() != v.output_count()) return bad;
    if (!(check.tolerance() >= 0)) return bad;
    for (int k = 0; k < v.input_count(); ++k) {
      if (check.input(k).size() != v.input(k).bytes()) return bad;
    }
    for (int k = 0; k < v.output_count(); ++k) {
      if (check.output(k).size() != v.output(k).bytes()) return bad;
    }
  }
  return {};
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
