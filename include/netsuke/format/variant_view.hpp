// SPDX-License-Identifier: MIT
#pragma once
/// One plan of a model: input shapes, device profile, steps, and all that they name.
#include <netsuke/core/hide_macros.hpp>
#include <cstring>
#include <netsuke/core/status.hpp>
#include <netsuke/format/port_view.hpp>
#include <netsuke/format/step_view.hpp>

NSK_BEGIN
/// A view of one variant: valid as long as the file's bytes.
class variant_view {
 public:
  /// Without a table it has nothing: no steps, no inputs.
  variant_view() = default;
  explicit variant_view(const format::Variant* table) : m_table(table) {}

  const char* name() const { return impl::text(m_table->name()); }
  const char* profile() const { return impl::text(m_table->profile()); }

  int step_count() const { return m_table ? count(m_table->steps()) : 0; }
  step_view step(int i) const { return {m_table, static_cast<std::uint32_t>(i)}; }
  int tensor_count() const { return m_table ? count(m_table->tensors()) : 0; }
  tensor_info tensor(int i) const { return {m_table, static_cast<std::uint32_t>(i)}; }
  /// Number of the buffer that a tensor names, which the file may not have.
  std::uint32_t buffer_of_tensor(int i) const {
    return m_table->tensors()->Get(static_cast<std::uint32_t>(i))->buffer();
  }
  int buffer_count() const { return m_table ? count(m_table->buffers()) : 0; }
  buffer_view buffer(int i) const { return buffer_view(m_table->buffers()->Get(static_cast<std::uint32_t>(i))); }

  int input_count() const { return m_table ? count(m_table->inputs()) : 0; }
  int output_count() const { return m_table ? count(m_table->outputs()) : 0; }
  port_view input(int i) const { return {m_table, m_table->inputs()->Get(static_cast<std::uint32_t>(i))}; }
  port_view output(int i) const { return {m_table, m_table->outputs()->Get(static_cast<std::uint32_t>(i))}; }
  /// Number of the input or output of this name, -1 when there is none.
  int find_input(const char* name) const { return m_table ? find(m_table->inputs(), name) : -1; }
  int find_output(const char* name) const { return m_table ? find(m_table->outputs(), name) : -1; }

  /// Largest number of rows of a batch; 0 where the variant computes one fixed shape.
  int batch() const { return m_table ? static_cast<int>(m_table->batch()) : 0; }
  /// Number of lengths, those that follow from others included; 0 where the variant computes one fixed shape, or has a
  /// batch in place of them.
  int length_count() const { return m_table ? count(m_table->lengths()) : 0; }
  length_view length(int i) const { return length_view(m_table->lengths()->Get(static_cast<std::uint32_t>(i))); }
  /// Number of the length of this name that the caller chooses, -1 when there is none.
  int find_length(const char* name) const {
    for (int i = 0; i < length_count(); ++i) {
      if (length(i).is_chosen() && std::strcmp(length(i).name(), name) == 0) return i;
    }
    return -1;
  }

  int state_count() const { return m_table ? count(m_table->states()) : 0; }
  state_view state(int i) const { return {m_table, m_table->states()->Get(static_cast<std::uint32_t>(i))}; }

  /// For status::format: the name of what a status is about, and, where no port has a name that was asked for, those
  /// that there are.
  NSK_COLD void add_name(text_writer& text, const status& s) const;
  NSK_COLD void add_choices(text_writer& text, const status& s) const;

  /// A: bytes that all lanes share; S: scratch bytes of one lane.
  std::size_t shared_bytes() const { return m_table ? static_cast<std::size_t>(m_table->arena_bytes()) : 0; }
  std::size_t lane_bytes() const { return m_table ? static_cast<std::size_t>(m_table->lane_bytes()) : 0; }
  /// Bytes of memory that a session with this many lanes needs: A + lanes * S.
  std::size_t required_bytes(int lanes = 1) const {
    return shared_bytes() + static_cast<std::size_t>(lanes) * lane_bytes();
  }
  /// A and S as the file has them, which may be more than a pointer can address.
  std::uint64_t stored_shared_bytes() const { return m_table->arena_bytes(); }
  std::uint64_t stored_lane_bytes() const { return m_table->lane_bytes(); }

  int check_count() const { return m_table ? count(m_table->checks()) : 0; }
  check_view check_vector(int i) const { return check_view(m_table->checks()->Get(static_cast<std::uint32_t>(i))); }

 private:
  template <class T>
  static int count(const flatbuffers::Vector<T>* v) {
    return static_cast<int>(impl::count_of(v));
  }
  template <class Port>
  static void add_port_names(text_writer& text, const char* what, int port_count, const Port& port) {
    text.add(what);
    for (int i = 0; i < port_count; ++i) text.add(i > 0 ? ", " : ""), text.add_quoted(port(i).name());
    text.add(port_count > 0 ? ")" : " none)");
  }
  NSK_NOINLINE static int find(const flatbuffers::Vector<flatbuffers::Offset<format::Port>>* ports, const char* name) {
    for (std::uint32_t i = 0; i < impl::count_of(ports); ++i) {
      if (std::strcmp(impl::text(ports->Get(i)->name()), name) == 0) return static_cast<int>(i);
    }
    return -1;
  }
  const format::Variant* m_table = nullptr;
};

inline void variant_view::add_name(text_writer& text, const status& s) const {
  const int i = s.where();
  const auto name = [&](int of, const auto& view) {
    if (i < 0 || i >= of) return;
    text.add(' ');
    text.add_quoted(view(i).name());
  };
  switch (s.place()) {
    case status_place::step: return name(step_count(), [&](int k) { return step(k); });
    case status_place::tensor: return name(tensor_count(), [&](int k) { return tensor(k); });
    case status_place::input: return name(input_count(), [&](int k) { return input(k); });
    case status_place::output: return name(output_count(), [&](int k) { return output(k); });
    case status_place::state: return name(state_count(), [&](int k) { return state(k); });
    default: return;
  }
}

inline void variant_view::add_choices(text_writer& text, const status& s) const {
  if (s.code() != status_code::no_such_port) return;
  if (s.place() == status_place::input)
    add_port_names(text, " (inputs: ", input_count(), [&](int k) { return input(k); });
  else
    add_port_names(text, " (outputs: ", output_count(), [&](int k) { return output(k); });
  if (state_count() > 0)
    add_port_names(text, " (states, which `nsk convert --no-states` makes ports: ", state_count(),
                   [&](int k) { return state(k); });
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
