// SPDX-License-Identifier: MIT
#pragma once
/// Outputs for a game that polls: copies into the slots of a buffer that the CPU sees, of which it reads the newest
/// complete one, without waiting.
///
///     nsk::gpu::read_back_ring<my_device> ring(plan, buffer, 4);      // buffer: ring.required_bytes(plan, 4) bytes
///     ...
///     net.record(list);                                               // every frame
///     ring.record(list, net, frame);                                  // then submit
///     ring.complete(newest_frame_that_the_device_has_finished);
///     if (const auto* slot = ring.newest()) use(mapped + slot->offset + ring.offset_of(0), slot->frame);
///
/// The renderer knows which submissions are complete (a fence, a timeline, a number of frames in flight); the ring does
/// not ask. With as many slots as frames in flight and two more, there is always a free one. It allocates nothing.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/gpu/session.hpp>

NSK_BEGIN
namespace gpu {

/// Outputs as bits: output i is 1 << i; those from 64 on are in no set.
using output_set = std::uint64_t;
inline constexpr output_set all_outputs = ~output_set{0};

template <class Device>
class read_back_ring {
 public:
  static constexpr int max_slots = 16;
  using list = typename Device::list;
  using buffer = typename Device::buffer;

  /// A slot with the outputs of one frame.
  struct slot {
    std::size_t offset = 0;  ///< in the buffer
    std::uint64_t frame = 0;
  };

  /// Returns the bytes of a buffer of so many slots, each of which holds these outputs, at multiples of 4.
  static std::size_t required_bytes(const plan& p, int slots, output_set outputs = all_outputs) {
    std::size_t n = 0;
    for (int i = 0; i < p.variant().output_count() && i < 64; ++i) {
      if ((outputs >> i & 1) != 0) n += impl::copied_bytes(p.variant().output(i), p.settings().lengths());
    }
    return n * static_cast<std::size_t>(slots);
  }

  read_back_ring() = default;
  /// `to` has required_bytes(p, slots, outputs) bytes from `offset` on, a multiple of 4; 2 to 16 slots. The plan must
  /// outlive the ring.
  read_back_ring(const plan& p, buffer to, int slots, output_set outputs = all_outputs, std::size_t offset = 0)
      : m_plan(&p), m_buffer(to), m_outputs(outputs), m_slots(slots) {
    if (slots < 2 || slots > max_slots) m_slots = 0;
    for (int i = 0; i < m_slots; ++i) m_slot[i].offset = offset + required_bytes(p, i, outputs);
  }

  /// Records copies of the outputs into a free slot, for the submission of a frame; frames are numbered upwards from 1.
  /// no_free_slot where all wait for the device or hold what newest() returns: nothing is recorded then.
  status record(list& l, session<Device>& net, std::uint64_t frame) {
    if (m_slots == 0) return status_code::bad_gpu_buffer;
    if (frame <= m_last) return {status_code::bad_range};
    const int to = free_slot();
    if (to < 0) return status_code::no_free_slot;
    for (int i = 0; i < m_plan->variant().output_count() && i < 64; ++i) {
      if ((m_outputs >> i & 1) == 0) continue;
      if (const status s = net.copy_output(l, i, m_buffer, m_slot[to].offset + offset_of(i)); !s) return s;
    }
    m_slot[to].frame = m_last = frame;
    return {};
  }
  /// Says that the device has finished every submission up to the one of this frame.
  void complete(std::uint64_t frame) {
    if (frame > m_complete) m_complete = frame;
  }
  /// Returns the newest complete slot, null where none is. Its bytes stay as they are until the next call.
  const slot* newest() {
    m_held = newest_slot();
    return m_held < 0 ? nullptr : &m_slot[m_held];
  }
  /// Forgets all frames: after a lost device, or to number them anew.
  void clear() {
    for (slot& s : m_slot) s.frame = 0;
    m_last = m_complete = 0;
    m_held = -1;
  }
  /// Returns where an output of the set begins in a slot.
  std::size_t offset_of(port_key which) const {
    const int output = which.output_of(m_plan->variant());
    return required_bytes(*m_plan, 1, m_outputs & ((output_set{1} << output) - 1));
  }

 private:
  int newest_slot() const {
    int found = -1;
    for (int i = 0; i < m_slots; ++i) {
      const std::uint64_t frame = m_slot[i].frame;
      if (frame != 0 && frame <= m_complete && (found < 0 || frame > m_slot[found].frame)) found = i;
    }
    return found;
  }
  /// The slot of the oldest frame, of those that nothing writes or reads; -1 where there is none.
  int free_slot() const {
    const int newest = newest_slot();
    int found = -1;
    for (int i = 0; i < m_slots; ++i) {
      const bool used = i == newest || i == m_held || m_slot[i].frame > m_complete;
      if (!used && (found < 0 || m_slot[i].frame < m_slot[found].frame)) found = i;
    }
    return found;
  }

  const plan* m_plan = nullptr;
  buffer m_buffer{};
  output_set m_outputs = 0;
  int m_slots = 0, m_held = -1;
  std::uint64_t m_last = 0, m_complete = 0;
  slot m_slot[max_slots];
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
