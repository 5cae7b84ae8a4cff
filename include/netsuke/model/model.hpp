// SPDX-License-Identifier: MIT
#pragma once
/// A model: verified bytes, seen through names and numbers. Opening is model/open.hpp.
#include <netsuke/core/hide_macros.hpp>
#include <cstring>
#include <netsuke/core/packing.hpp>
#include <netsuke/model/port_view.hpp>
#include <netsuke/model/step_view.hpp>

NSK_BEGIN
/// One plan of a model: input shapes, device profile, steps. A view: valid as long as the file's bytes.
class variant_view {
 public:
  /// Without a table it has nothing: no steps, no inputs.
  variant_view() = default;
  explicit variant_view(const format::Variant* table) : m_table(table) {}

  const char* name() const { return impl::text(m_table->name()); }
  const char* profile() const { return impl::text(m_table->profile()); }

  int step_count() const { return static_cast<int>((m_table ? impl::count_of(m_table->steps()) : 0)); }
  step_view step(int i) const { return {m_table, static_cast<std::uint32_t>(i)}; }
  int tensor_count() const { return static_cast<int>((m_table ? impl::count_of(m_table->tensors()) : 0)); }
  tensor_info tensor(int i) const { return {m_table, static_cast<std::uint32_t>(i)}; }
  int buffer_count() const { return static_cast<int>((m_table ? impl::count_of(m_table->buffers()) : 0)); }

  int input_count() const { return static_cast<int>((m_table ? impl::count_of(m_table->inputs()) : 0)); }
  int output_count() const { return static_cast<int>((m_table ? impl::count_of(m_table->outputs()) : 0)); }
  port_view input(int i) const { return {m_table, m_table->inputs()->Get(static_cast<std::uint32_t>(i))}; }
  port_view output(int i) const { return {m_table, m_table->outputs()->Get(static_cast<std::uint32_t>(i))}; }
  /// Number of the input or output of this name, -1 when there is none.
  int find_input(const char* name) const { return m_table ? find(m_table->inputs(), name) : -1; }
  int find_output(const char* name) const { return m_table ? find(m_table->outputs(), name) : -1; }

  /// Most rows of a batch; 0 where the variant computes one fixed shape.
  int batch() const { return m_table ? static_cast<int>(m_table->batch()) : 0; }

  int state_count() const { return static_cast<int>((m_table ? impl::count_of(m_table->states()) : 0)); }
  state_view state(int i) const { return {m_table, m_table->states()->Get(static_cast<std::uint32_t>(i))}; }

  /// A: bytes that all lanes share; S: scratch bytes of one lane.
  std::size_t shared_bytes() const { return m_table ? static_cast<std::size_t>(m_table->arena_bytes()) : 0; }
  std::size_t lane_bytes() const { return m_table ? static_cast<std::size_t>(m_table->lane_bytes()) : 0; }
  /// Bytes of memory that a session with this many lanes needs: A + lanes * S.
  std::size_t arena_bytes(int lanes = 1) const {
    return shared_bytes() + static_cast<std::size_t>(lanes) * lane_bytes();
  }

  int check_count() const { return static_cast<int>((m_table ? impl::count_of(m_table->checks()) : 0)); }
  const format::Variant* table() const { return m_table; }

 private:
  static int find(const flatbuffers::Vector<flatbuffers::Offset<format::Port>>* ports, const char* name) {
    for (std::uint32_t i = 0; i < impl::count_of(ports); ++i) {
      if (std::strcmp(impl::text(ports->Get(i)->name()), name) == 0) return static_cast<int>(i);
    }
    return -1;
  }
  const format::Variant* m_table = nullptr;
};

/// A verified file in memory of the caller, who keeps it alive and unchanged. Copying a model copies two pointers.
class model {
 public:
  bool is_open() const { return m_table != nullptr; }
  const char* name() const { return impl::text(m_table->name()); }
  /// Tool and version that wrote the file.
  const char* producer() const { return impl::text(m_table->producer()); }
  /// Hash of names, types and shapes of all inputs, outputs and states: models with equal signatures can replace each
  /// other.
  std::uint64_t signature() const { return m_table->signature(); }

  /// 0 before a file is open.
  int variant_count() const { return static_cast<int>(m_table ? impl::count_of(m_table->variants()) : 0); }
  /// A number that is none of them, and a model that is not open, assert and give a variant that has nothing.
  variant_view variant(int i = 0) const {
    const bool exists = i >= 0 && i < variant_count();
    NSK_ASSERT(exists, "model::variant: no such variant, or the model is not open: check what nsk::open returned");
    return exists ? variant_view(m_table->variants()->Get(static_cast<std::uint32_t>(i))) : variant_view();
  }
  /// Number of the variant of this name, -1 when there is none.
  int find_variant(const char* variant_name) const {
    for (int i = 0; i < variant_count(); ++i) {
      if (std::strcmp(variant(i).name(), variant_name) == 0) return i;
    }
    return -1;
  }
  /// Bytes of memory that a session with this many lanes needs, exactly; align them to arena_alignment.
  std::size_t arena_bytes(int lanes = 1, int variant_index = 0) const {
    return variant(variant_index).arena_bytes(lanes);
  }

  int input_count(int variant_index = 0) const { return variant(variant_index).input_count(); }
  int output_count(int variant_index = 0) const { return variant(variant_index).output_count(); }
  port_view input(int i, int variant_index = 0) const { return variant(variant_index).input(i); }
  port_view output(int i, int variant_index = 0) const { return variant(variant_index).output(i); }

  int metadata_count() const { return static_cast<int>(impl::count_of(m_table->metadata())); }
  const char* metadata_key(int i) const {
    return impl::text(m_table->metadata()->Get(static_cast<std::uint32_t>(i))->key());
  }
  const char* metadata_value(int i) const {
    return impl::text(m_table->metadata()->Get(static_cast<std::uint32_t>(i))->value());
  }

  /// The weights section, its over-read pad included, and the file's whole table.
  span<const std::byte> weights() const { return m_weights; }
  const format::Model* table() const { return m_table; }

  model() = default;
  /// For nsk::open, after verification.
  model(const format::Model* table, span<const std::byte> weights) : m_table(table), m_weights(weights) {}

 private:
  const format::Model* m_table = nullptr;
  span<const std::byte> m_weights;
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
