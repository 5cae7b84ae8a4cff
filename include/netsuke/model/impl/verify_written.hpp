// SPDX-License-Identifier: MIT
#pragma once
/// Part of the verifier: which bytes of a buffer the steps have written.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/model/impl/region.hpp>
#include <netsuke/model/impl/verify_context.hpp>
#include <netsuke/ops/every_op.hpp>

NSK_BEGIN
namespace impl {

inline region region_of(const tensor_info& t) {
  bool repeats;
  return region_of(t.view(nullptr), static_cast<std::int64_t>(t.offset()), repeats);
}

/// Whether both have the same elements in the same places, and the border of `b` is inside that of `a`.
NSK_COLD inline bool same_view(const tensor_info& a, const tensor_info& b) {
  const halo h = a.border(), inner = b.border();
  if (inner.top > h.top || inner.left > h.left || inner.bottom > h.bottom || inner.right > h.right) return false;
  if (a.buffer() != b.buffer() || a.offset() != b.offset() || a.type() != b.type()) return false;
  if (!same_shape(a, b)) return false;
  const tensor_view p = a.view(nullptr), q = b.view(nullptr);
  for (int d = 0; d < p.rank; ++d) {
    if (p.shape[d] != 1 && p.stride[d] != q.stride[d]) return false;
  }
  return true;
}

NSK_COLD inline bool may_work_in_place(const step_view& s, int input) {
  return works_in_place(s.op(), input) || s.epilogue().residual == input;
}

/// Whether a step's output replaces one of its inputs.
NSK_COLD inline bool works_in_place(const step_view& s) {
  const tensor_info output = s.output();
  for (int i = 0; i < s.input_count(); ++i) {
    if (may_work_in_place(s, i) && same_view(s.input(i), output)) return true;
  }
  return false;
}

/// Bytes from one row of a batch to the next; 0 where the tensor has no rows, or one for all.
NSK_COLD inline std::int64_t row_bytes(const tensor_info& t) {
  if (t.batch() == 0) return 0;
  return t.batch() * t.strides()[static_cast<std::size_t>(t.batch_dimension())] * size_of(t.type());
}
/// Whether the first row is in the first `bytes` bytes of its buffer, and so each in as many of its own. All of a
/// tensor without rows is its first row.
NSK_COLD inline bool rows_are_in(const tensor_info& t, std::int64_t bytes) {
  constexpr std::int32_t one_row = 1;
  bool repeats;
  const region r = region_of(t.view(nullptr, &one_row), static_cast<std::int64_t>(t.offset()), repeats);
  const std::int64_t own = row_bytes(t);
  return (own == 0 || own == bytes) && r.base >= 0 && r.end() <= bytes;
}
/// Whether a run of fewer rows writes of `t` what it reads of it, where one of all rows does: rows of the batch are
/// where the writer's rows are.
NSK_COLD inline bool rows_agree(const tensor_info& t, const tensor_info& writer) {
  if (writer.batch() == 0) return true;
  const std::int64_t bytes = row_bytes(writer);
  return rows_are_in(writer, bytes) && rows_are_in(t, bytes);
}

/// Adds the rows of one more writer.
NSK_COLD inline void add_rows(written_part& part, const tensor_info& writer) {
  if (writer.batch() == 0) return;
  const std::int64_t bytes = row_bytes(writer);
  part.rows = (part.rows == 0 || part.rows == bytes) && rows_are_in(writer, bytes) ? bytes : -1;
}

/// Returns what the steps before `step` have written of the buffer of `t`, null where there is too much to look at.
/// Each of them has been verified, so that those which do not work in place have written different bytes.
NSK_COLD inline const written_part* written_before(verify_context& c, const tensor_info& t, std::int32_t step) {
  written_part& part = c.written[static_cast<unsigned>(t.buffer()) % verify_context::parts];
  if (part.buffer != t.buffer() || part.next > step) part = {t.buffer(), t.first_step(), 0, 0, 0, 0};
  for (; part.next < step; ++part.next) {
    if (!c.work.spend(search_work)) return nullptr;
    const step_view writer = c.variant.step(part.next);
    const tensor_info output = writer.output();
    if (output.buffer() != t.buffer()) continue;
    if (!c.work.spend(region_work)) return nullptr;
    const region r = region_of(output);
    part.add(r.base, r.end(), works_in_place(writer) ? 0 : r.bytes());
    add_rows(part, output);
  }
  return &part;
}

/// Whether steps before `end` have written all of a region of the buffer of `t`, found by looking at no more than
/// `maximum` of them: the first and the last ones in turn.
NSK_COLD inline bool is_covered(verify_context& c, const tensor_info& t, const region& wanted, std::int32_t end,
                                std::int32_t maximum) {
  std::int64_t missing = wanted.bytes();
  std::int32_t first = t.first_step(), last = end - 1;
  for (std::int32_t looks = 0; first <= last && looks < maximum; ++looks) {
    if (!c.work.spend(search_work)) return false;
    const step_view writer = c.variant.step(looks % 2 == 0 ? first++ : last--);
    const tensor_info output = writer.output();
    if (output.buffer() != t.buffer()) continue;
    if (!c.work.spend(region_work)) return false;
    if (works_in_place(writer)) continue;
    if (!rows_agree(t, output)) continue;
    const std::int64_t shared = shared_bytes(wanted, region_of(output));
    if (shared > 0) missing -= shared;
    if (missing == 0) return true;
  }
  return false;
}

/// Whether steps before `end` have written all of a tensor. Most tensors have been written by one step, or are in a
/// buffer without gaps. Where it cannot be proven for the elements alone, because they skip some that their writers
/// count, all between the first and the last must have been written, or the whole buffer.
NSK_COLD inline status verify_written(verify_context& c, const tensor_info& t, std::int32_t end) {
  if (t.where() == storage::input && !rows_agree(t, c.variant.input(t.port()).tensor()))
    return {status_code::bad_rows, end};
  if (t.where() != storage::arena && t.where() != storage::output) return {};
  const region elements = region_of(t), wanted = nested(elements);
  if (is_covered(c, t, wanted, end, 2)) return {};
  const written_part* part = written_before(c, t, end);
  if (!part) return status_code::too_complex;
  const bool same_rows = part->rows == 0 || rows_are_in(t, part->rows);
  if (same_rows && part->has_all(elements.base, elements.end())) return {};
  if (is_covered(c, t, wanted, end, end) || is_covered(c, t, hull(elements), end, end)) return {};
  region whole;
  whole.insert(1, static_cast<std::int64_t>(t.buffer_bytes()));
  if (is_covered(c, t, whole, end, end)) return {};
  if (c.work.left() == 0) return {status_code::too_complex, end};
  return {same_rows ? status_code::read_before_write : status_code::bad_rows, end};
}

/// Whether no step before `step` has written any of what it writes.
NSK_COLD inline status verify_fresh(verify_context& c, const tensor_info& output, std::int32_t step) {
  if (output.first_step() == step) return {};
  const region mine = region_of(output);
  const written_part* part = written_before(c, output, step);
  if (!part) return status_code::too_complex;
  if (part->has_none(mine.base, mine.end())) return {};
  for (std::int32_t s = output.first_step(); s < step; ++s) {
    if (!c.work.spend(search_work)) return status_code::too_complex;
    const tensor_info other = c.variant.step(s).output();
    if (other.buffer() != output.buffer()) continue;
    if (!c.work.spend(region_work)) return status_code::too_complex;
    if (shared_bytes(mine, region_of(other)) != 0) return {status_code::bad_overlap, step};
  }
  return {};
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
