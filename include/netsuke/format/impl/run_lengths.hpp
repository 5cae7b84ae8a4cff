// SPDX-License-Identifier: MIT
#pragma once
/// The lengths of a run, or of a plan for the GPU: those that the caller chooses, and what follows from them.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/core/status.hpp>
#include <netsuke/format/variant_view.hpp>

NSK_BEGIN
namespace impl {

class run_lengths {
 public:
  /// Sets all lengths to their bounds.
  void reset(const variant_view& v) {
    m_below_bound = m_counted = false;
    m_value[0] = v.batch();
    for (int i = 0; i < v.length_count(); ++i) {
      m_value[i] = v.length(i).bound();
      m_counted = m_counted || v.length(i).is_counted();
    }
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
    set(v, chosen, value);
    return {};
  }
  /// Sets a length by its number, and those that follow from it.
  void set(const variant_view& v, int number, std::int32_t value) {
    m_value[number] = value;
    m_below_bound = false;
    for (int i = 0; i < v.length_count(); ++i) {
      const length_view l = v.length(i);
      if (!l.is_chosen() && !l.is_counted()) m_value[i] = l.following(m_value);
      m_below_bound = m_below_bound || m_value[i] != l.bound();
    }
  }
  std::int32_t operator[](int i) const { return m_value[i]; }
  /// Null where all are at their bounds.
  length_values values() const { return m_below_bound ? m_value : nullptr; }
  /// Whether steps count any of them.
  bool are_counted() const { return m_counted; }

 private:
  std::int32_t m_value[max_lengths] = {};
  bool m_below_bound = false, m_counted = false;
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
