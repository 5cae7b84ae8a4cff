// SPDX-License-Identifier: MIT
#pragma once
/// What checked_device remembers: the commands since the last barrier, and what each of them touches.
#include <netsuke/core/hide_macros.hpp>
#include <cstring>
#include <type_traits>
#include <netsuke/gpu/device.hpp>
#include <netsuke/gpu/plan.hpp>

NSK_BEGIN
namespace gpu::impl {

template <class D, class = void>
inline constexpr bool tells_bytes = false;
template <class D>
inline constexpr bool tells_bytes<
    D, std::enable_if_t<std::is_convertible_v<
           decltype(std::declval<const D&>().bytes_of(std::declval<const typename D::buffer&>())), std::size_t>>> =
    true;
template <class D, class = void>
inline constexpr bool tells_format = false;
template <class D>
inline constexpr bool tells_format<
    D, std::enable_if_t<std::is_convertible_v<
           decltype(std::declval<const D&>().is_rgba8(std::declval<const typename D::texture&>())), bool>>> = true;
template <class T, class = void>
inline constexpr bool has_equality = false;
template <class T>
inline constexpr bool has_equality<T, std::void_t<decltype(std::declval<const T&>() == std::declval<const T&>())>> =
    true;

/// Whether two handles are the same.
template <class Handle>
bool same(const Handle& a, const Handle& b) {
  if constexpr (has_equality<Handle>) {
    return a == b;
  } else {
    static_assert(std::has_unique_object_representations_v<Handle>,
                  "netsuke: checked_device compares handles: give buffer, texture and pipeline an operator==");
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
}

/// Bytes of a buffer.
struct byte_range {
  std::uint64_t begin = 0, end = 0;
  bool writes = false;
};

/// A dispatch or a copy. Where it is no dispatch of a plan, it touches the two ranges; those of an unknown
/// dispatch are everything.
template <class Device>
struct command {
  static constexpr std::uint64_t everything = std::uint64_t{1} << 62;
  const gpu::plan* plan = nullptr;
  const dispatch_record* record = nullptr;
  typename Device::buffer weights{}, arena{};
  byte_range weights_bytes{0, everything, false}, arena_bytes{0, everything, true};
  typename Device::texture read_texture{}, written_texture{};

  /// Calls f(buffer, access) for everything until one call returns true; returns whether one did.
  template <class F>
  bool any(F&& f) const {
    if (f(weights, access_of_range(weights_bytes))) return true;
    if (!record) return f(arena, access_of_range(arena_bytes));
    return any_access(plan->variant(), plan->settings().choosing_lengths(), *record,
                      [&](const access& a) { return f(arena, a); });
  }

 private:
  /// A range is no part of a plan: its number is that of no buffer.
  static access access_of_range(const byte_range& r) {
    access a;
    a.buffer = 0x7fffffff;
    a.writes = r.writes;
    a.begin = static_cast<std::int64_t>(r.begin), a.end = static_cast<std::int64_t>(r.end);
    a.region.base = a.begin;
    a.region.insert(1, a.end - a.begin);
    return a;
  }
};

/// Whether two commands must keep their order. Buffers of different plans have numbers of their own.
template <class Device>
bool must_keep_order(const command<Device>& a, const command<Device>& b) {
  const bool textures = touches(a.written_texture, b) || touches(b.written_texture, a);
  if (a.record && b.record && a.plan == b.plan && a.record->step == b.record->step && b.record->beside) return false;
  return textures || b.any([&](const typename Device::buffer& later_in, const access& later) {
    return a.any([&](const typename Device::buffer& earlier_in, access earlier) {
      if (a.plan != b.plan) earlier.buffer = earlier.buffer < 0 ? -1 : 0x7ffffffe;
      return same(earlier_in, later_in) && meet(earlier, later);
    });
  });
}
/// Whether a command reads or writes a texture; none does so to a null one.
template <class Device>
bool touches(const typename Device::texture& t, const command<Device>& c) {
  return !same(t, typename Device::texture{}) && (same(t, c.read_texture) || same(t, c.written_texture));
}

enum class order : std::uint8_t { free, hazard, too_many };

/// The commands since the last barrier.
template <class Device>
class concurrent_commands {
 public:
  void clear() { m_count = 0; }
  /// Adds a command; returns whether it needed a barrier. After a hazard it counts as if there had been one.
  order add(const command<Device>& c) {
    order found = order::free;
    for (int i = 0; i < m_count && found == order::free; ++i) {
      if (must_keep_order(m_command[i], c)) found = order::hazard;
    }
    if (m_count == max_commands) found = order::too_many;
    if (found != order::free) clear();
    m_command[m_count++] = c;
    return found;
  }
  /// Keeps no pointer into a plan that ends: what its dispatches touch is not known any more.
  void forget(const plan& p) {
    for (int i = 0; i < m_count; ++i) {
      if (m_command[i].plan != &p) continue;
      m_command[i].plan = nullptr;
      m_command[i].record = nullptr;
    }
  }

 private:
  static constexpr int max_commands = 2 * max_concurrent;
  int m_count = 0;
  command<Device> m_command[max_commands];
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
