// SPDX-License-Identifier: MIT
#pragma once
/// How callers name inputs and outputs.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/variant_view.hpp>

NSK_BEGIN
/// An input or output by its number, or by its name.
class port_key {
 public:
  constexpr port_key(int number) : m_number(number) {}
  constexpr port_key(const char* name) : m_name(name) {}

  /// Number among the inputs or outputs; -1 where none has the name.
  int input_of(const variant_view& v) const { return m_name ? v.find_input(m_name) : m_number; }
  int output_of(const variant_view& v) const { return m_name ? v.find_output(m_name) : m_number; }

 private:
  int m_number = -1;
  const char* m_name = nullptr;
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
