// SPDX-License-Identifier: MIT
#pragma once
/// What all parts of the verifier share.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/core/status.hpp>
#include <netsuke/format/impl/work_budget.hpp>
#include <netsuke/format/variant_view.hpp>
#include <netsuke/ops/impl/rules.hpp>

NSK_BEGIN
namespace impl {

/// What the steps before `next` have written of a buffer: between `begin` and `end`, so many bytes.
struct written_part {
  std::int32_t buffer = -1, next = 0;
  std::int64_t begin = 0, end = 0, bytes = 0;
  std::int64_t rows = 0;  ///< bytes of a row of a batch in the buffer; -1 where writers differ

  /// Adds bytes between two places, none of which had been written.
  void add(std::int64_t from, std::int64_t to, std::int64_t more) {
    if (begin == end) begin = from, end = to;
    if (from < begin) begin = from;
    if (to > end) end = to;
    bytes += more;
  }
  bool has_all(std::int64_t from, std::int64_t to) const { return bytes == end - begin && begin <= from && to <= end; }
  bool has_none(std::int64_t from, std::int64_t to) const { return begin == end || to <= begin || end <= from; }
};

struct verify_context {
  variant_view variant;
  span<const std::byte> weights;
  work_budget& work;
  static constexpr unsigned parts = 8;
  written_part written[parts];  ///< of the buffers looked at last, by number modulo `parts`

  std::uint32_t tensors() const { return static_cast<std::uint32_t>(variant.tensor_count()); }
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
