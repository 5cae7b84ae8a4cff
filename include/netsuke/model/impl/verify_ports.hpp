// SPDX-License-Identifier: MIT
#pragma once
/// Third part of the verifier: inputs, outputs, states and check vectors.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/model/impl/verify_context.hpp>

NSK_BEGIN
namespace impl {

/// A tensor that fills a buffer of its own kind and number: what binding memory of the caller relies on.
NSK_COLD inline bool owns_buffer(const tensor_info& t, storage where, std::uint32_t number) {
  return t.where() == where && t.port() == static_cast<int>(number) && t.offset() == 0 &&
         t.buffer_bytes() == t.bytes() && t.arrangement() == packing::plain && is_dense(t.view(nullptr));
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
  const format::Variant& v = *c.variant.table();
  for (const bool is_input : {true, false}) {
    const auto* ports = is_input ? v.inputs() : v.outputs();
    for (std::uint32_t i = 0; i < count_of(ports); ++i) {
      const status bad{status_code::bad_port, static_cast<std::int32_t>(i)};
      if (ports->Get(i)->tensor() >= c.tensors()) return bad;
      const port_view p(&v, ports->Get(i));
      const tensor_info t = p.tensor();
      if (!owns_buffer(t, is_input ? storage::input : storage::output, i) || !axes_agree(p) || !hints_agree(p))
        return bad;
      const bool lives = is_input ? t.first_step() == 0 : t.last_step() == c.variant.step_count();
      if (!lives) return bad;
    }
  }
  return {};
}

NSK_COLD inline status verify_states(const verify_context& c) {
  const format::Variant& v = *c.variant.table();
  const int end = c.variant.step_count();
  for (std::uint32_t i = 0; i < count_of(v.states()); ++i) {
    const status bad{status_code::bad_state, static_cast<std::int32_t>(i)};
    const format::State* s = v.states()->Get(i);
    if (s->tensor() >= c.tensors() || s->next() >= c.tensors()) return bad;
    const tensor_info t(&v, s->tensor()), next(&v, s->next());
    if (!owns_buffer(t, storage::state, i) || t.first_step() != 0 || t.last_step() != end) return bad;
    const bool same_place = next.buffer() == t.buffer();
    if (!same_place && (next.where() == storage::constant || next.where() == storage::state || next.last_step() != end))
      return bad;
    if (next.type() != t.type() || !same_shape(next.view(nullptr), t.view(nullptr)) || !is_dense(next.view(nullptr)))
      return bad;
    if (next.arrangement() != packing::plain) return bad;
    if (s->initial() < -1) return bad;
    if (s->initial() < 0) continue;
    const auto initial_index = static_cast<std::uint32_t>(s->initial());
    if (initial_index >= c.tensors()) return bad;
    const tensor_info initial(&v, initial_index);
    if (initial.where() != storage::constant || initial.type() != t.type() || initial.arrangement() != packing::plain)
      return bad;
    if (!same_shape(initial.view(nullptr), t.view(nullptr)) || !is_dense(initial.view(nullptr))) return bad;
  }
  return {};
}

/// Every buffer of an input, output or state belongs to the one that it names.
NSK_COLD inline status verify_owners(const verify_context& c) {
  const format::Variant& v = *c.variant.table();
  for (std::uint32_t i = 0; i < v.buffers()->size(); ++i) {
    const format::Buffer* b = v.buffers()->Get(i);
    std::int64_t owner = i;
    const auto port_owner = [&](const auto* ports) -> std::int64_t {
      return b->index() < count_of(ports) ? std::int64_t{v.tensors()->Get(ports->Get(b->index())->tensor())->buffer()}
                                          : -1;
    };
    switch (b->storage()) {
      case format::Storage::input: owner = port_owner(v.inputs()); break;
      case format::Storage::output: owner = port_owner(v.outputs()); break;
      case format::Storage::state: owner = port_owner(v.states()); break;
      default: break;
    }
    if (owner != i) return {status_code::bad_buffer, static_cast<std::int32_t>(i)};
  }
  return {};
}

NSK_COLD inline status verify_checks(const verify_context& c) {
  const format::Variant& v = *c.variant.table();
  for (std::uint32_t i = 0; i < count_of(v.checks()); ++i) {
    const status bad{status_code::bad_check, static_cast<std::int32_t>(i)};
    const format::CheckVector* check = v.checks()->Get(i);
    if (count_of(check->inputs()) != count_of(v.inputs()) || count_of(check->outputs()) != count_of(v.outputs()))
      return bad;
    if (!(check->tolerance() >= 0)) return bad;
    for (std::uint32_t k = 0; k < count_of(check->inputs()); ++k) {
      if (count_of(check->inputs()->Get(k)->data()) != c.variant.input(static_cast<int>(k)).bytes()) return bad;
    }
    for (std::uint32_t k = 0; k < count_of(check->outputs()); ++k) {
      if (count_of(check->outputs()->Get(k)->data()) != c.variant.output(static_cast<int>(k)).bytes()) return bad;
    }
  }
  return {};
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
