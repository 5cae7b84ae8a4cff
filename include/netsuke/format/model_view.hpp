// SPDX-License-Identifier: MIT
#pragma once
/// The table of a file: names, variants and metadata.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/variant_view.hpp>

NSK_BEGIN
/// A view of the table at the root: valid as long as the file's bytes. Without a table it has no variants.
class model_view {
 public:
  model_view() = default;
  explicit model_view(const format::Model* table) : m_table(table) {}

  bool is_open() const { return m_table != nullptr; }
  const char* name() const { return impl::text(m_table->name()); }
  const char* producer() const { return impl::text(m_table->producer()); }
  std::uint64_t signature() const { return m_table->signature(); }

  int variant_count() const { return static_cast<int>(m_table ? impl::count_of(m_table->variants()) : 0); }
  variant_view variant(int i) const { return variant_view(m_table->variants()->Get(static_cast<std::uint32_t>(i))); }

  int metadata_count() const { return static_cast<int>(impl::count_of(m_table->metadata())); }
  const char* metadata_key(int i) const {
    return impl::text(m_table->metadata()->Get(static_cast<std::uint32_t>(i))->key());
  }
  const char* metadata_value(int i) const {
    return impl::text(m_table->metadata()->Get(static_cast<std::uint32_t>(i))->value());
  }

 private:
  const format::Model* m_table = nullptr;
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
