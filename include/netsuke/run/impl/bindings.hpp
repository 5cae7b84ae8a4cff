// SPDX-License-Identifier: MIT
#pragma once
/// Blocks of the caller that stand in for inputs and outputs.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/core/bytes.hpp>
#include <netsuke/format/packing.hpp>
#include <netsuke/core/status.hpp>
#include <netsuke/model/model.hpp>

NSK_BEGIN
namespace impl {

/// Pointers of the first `Count` ports of one direction; null where nothing is bound.
template <int Count>
class bindings {
  static_assert(Count > 0, "settings::bindable_ports: at least one");

 public:
  bool is_bound(int i) const { return i >= 0 && i < Count && m_block[i] != nullptr; }
  std::byte* const* table() const { return m_block; }

  /// Binds a block to port `i`, or unbinds with null. The block has the port's bytes and `pad` more.
  status_code bind(int i, const port_view& port, std::byte* block, std::size_t size, std::size_t pad) {
    if (i >= Count) return status_code::not_bindable;
    if (block != nullptr && size < port.bytes() + pad) return status_code::wrong_size;
    const auto element = static_cast<std::uintptr_t>(size_of(port.type()));
    if (reinterpret_cast<std::uintptr_t>(block) % element != 0) return status_code::misaligned_memory;
    m_block[i] = block;
    return status_code::ok;
  }

 private:
  std::byte* m_block[Count] = {};
};

/// Whether a step reads the buffer of output `i`.
NSK_NOINLINE inline bool output_is_read(const variant_view& v, int i) {
  if (i < 0 || i >= v.output_count()) return false;
  const int buffer = v.output(i).tensor().buffer();
  for (int s = 0; s < v.step_count(); ++s) {
    const step_view step = v.step(s);
    for (int k = 0; k < step.input_count(); ++k) {
      if (step.input(k).buffer() == buffer) return true;
    }
  }
  return false;
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
