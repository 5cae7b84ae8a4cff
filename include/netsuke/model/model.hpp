// SPDX-License-Identifier: MIT
#pragma once
/// A model: verified bytes, seen through names and numbers. Opening is model/open.hpp.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/model_view.hpp>
#include <netsuke/format/packing.hpp>

NSK_BEGIN
/// A verified file in memory of the caller, who keeps it alive and unchanged. Copying a model copies two pointers.
class model {
 public:
  bool is_open() const { return m_view.is_open(); }
  const char* name() const { return m_view.name(); }
  /// Tool and version that wrote the file.
  const char* producer() const { return m_view.producer(); }
  /// Hash of names, types and shapes of all inputs, outputs and states: models with equal signatures can replace each
  /// other.
  std::uint64_t signature() const { return m_view.signature(); }

  /// 0 before a file is open.
  int variant_count() const { return m_view.variant_count(); }
  /// A number that is none of them, and a model that is not open, assert and give a variant that has nothing.
  variant_view variant(int i = 0) const {
    const bool exists = i >= 0 && i < variant_count();
    NSK_ASSERT(exists, "model::variant: no such variant, or the model is not open: check what nsk::open returned");
    return exists ? m_view.variant(i) : variant_view();
  }
  /// Number of the variant of this name, -1 when there is none.
  int find_variant(const char* variant_name) const {
    for (int i = 0; i < variant_count(); ++i) {
      if (std::strcmp(variant(i).name(), variant_name) == 0) return i;
    }
    return -1;
  }
  /// Returns not_open before a file is open, bad_variant for a number that is none of them.
  status check_variant(int i) const {
    if (!is_open()) return status_code::not_open;
    return i >= 0 && i < variant_count() ? status() : status(status_code::bad_variant, i);
  }
  /// Bytes of memory that a session with this many lanes needs, exactly; align them to arena_alignment. Whatever takes
  /// memory of the caller says how much by this name: the model for sessions, batcher, run_log, gpu::plan,
  /// gpu::session, gpu::read_back_ring, gpu::half_weights, nsk::required_bytes(file) for nsk::prepare,
  /// nsk_*_required_bytes in C; required_<block>_bytes where there are several blocks.
  std::size_t required_bytes(int lanes = 1, int variant_index = 0) const {
    return variant(variant_index).required_bytes(lanes);
  }

  int input_count(int variant_index = 0) const { return variant(variant_index).input_count(); }
  int output_count(int variant_index = 0) const { return variant(variant_index).output_count(); }
  port_view input(int i, int variant_index = 0) const { return variant(variant_index).input(i); }
  port_view output(int i, int variant_index = 0) const { return variant(variant_index).output(i); }

  int metadata_count() const { return m_view.metadata_count(); }
  const char* metadata_key(int i) const { return m_view.metadata_key(i); }
  const char* metadata_value(int i) const { return m_view.metadata_value(i); }

  /// For status::format, as of variant_view.
  void add_name(text_writer& text, const status& s) const {
    if (s.variant() < variant_count()) m_view.variant(s.variant()).add_name(text, s);
  }
  void add_choices(text_writer& text, const status& s) const {
    if (s.variant() < variant_count()) m_view.variant(s.variant()).add_choices(text, s);
  }

  /// The weights section, its over-read pad included.
  span<const std::byte> weights() const { return m_weights; }

  model() = default;
  /// For nsk::open, after verification.
  model(const model_view& view, span<const std::byte> weights) : m_view(view), m_weights(weights) {}

 private:
  model_view m_view;
  span<const std::byte> m_weights;
};
NSK_END
#include <netsuke/core/restore_macros.hpp>
