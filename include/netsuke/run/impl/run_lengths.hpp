// SPDX-License-Identifier: MIT
#pragma once
/// The lengths that a session computes with.
#include <netsuke/core/hide_macros.hpp>
#include <cstring>
#include <netsuke/core/status.hpp>
#include <netsuke/format/variant_view.hpp>

NSK_BEGIN
namespace impl {

class run_lengths {
 public:
  /// Sets all lengths to their bounds.
  void reset(const variant_view& v) {
    m_below_bound = false;
    m_value[0] = v.batch();
    for (int i = 0; i < v.length_count(); ++i) m_value[i] = v.length(i).bound();
  }
  /// Sets the rows of a batch.
  void set_rows(const variant_view& v, std::int32_t rows) {
    m_value[0] = rows;
    m_below_bound = rows != v.batch();
  }
  /// Sets the length of this name, and those that follow from it.
  status set(const variant_view& v, const char* name, std::int32_t value) {
    const int chosen = v.find_length(name);
    if (chosen < 0) return status_code::no_such_length;
    const length_view l = v.length(chosen);
    if (value < l.minimum() || value > l.bound() || value % l.step() != 0)
      return {status_code::length_out_of_range, value};
    m_value[chosen] = value;
    m_below_bound = false;
    for (int i = 0; i < v.length_count(); ++i) {
      const length_view follower = v.length(i);
      if (!follower.is_chosen()) m_value[i] = follower.following(m_value);
      m_below_bound = m_below_bound || m_value[i] != follower.bound();
    }
    return {};
  }
  std::int32_t operator[](int i) const { return m_value[i]; }
  /// Null where all are at their bounds.
  length_values values() const { return m_below_bound ? m_value : nullptr; }

 private:
  std::int32_t m_value[max_lengths] = {};
  bool m_below_bound = false;
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
