// SPDX-License-Identifier: MIT
#pragma once
/// Where ids go.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/core/span.hpp>

NSK_BEGIN
namespace text {
namespace impl {

/// The caller's ids. Those that do not fit are counted.
class id_list {
 public:
  explicit id_list(span<std::int32_t> to) : m_to(to) {}
  void add(std::uint32_t id) {
    if (m_count < m_to.size()) m_to.data()[m_count] = static_cast<std::int32_t>(id);
    ++m_count;
  }
  std::size_t count() const { return m_count; }
  /// Forgets all ids behind the first `count`.
  void cut_to(std::size_t count) { m_count = count; }
  bool overflowed() const { return m_count > m_to.size(); }
  span<std::int32_t> stored() const { return {m_to.data(), m_count < m_to.size() ? m_count : m_to.size()}; }

 private:
  span<std::int32_t> m_to;
  std::size_t m_count = 0;
};

}
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
