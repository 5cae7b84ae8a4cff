// SPDX-License-Identifier: MIT
#pragma once
/// Opening a model: from bytes that may be anything to a model whose every number can be trusted, or a reason why not.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/model/impl/verify_batch.hpp>
#include <netsuke/model/impl/verify_flow.hpp>
#include <netsuke/model/impl/verify_ports.hpp>
#include <netsuke/model/impl/verify_steps.hpp>
#include <netsuke/model/impl/verify_structure.hpp>
#include <netsuke/model/impl/verify_tensors.hpp>
#include <netsuke/model/model.hpp>

NSK_BEGIN
struct open_options {
  /// Reads the whole file to compare its hash: finds damage in the weights, which verification does not look at.
  bool check_hash = false;
};

namespace impl {

inline status verify_variant(const format::Variant& table, span<const std::byte> weights, work_budget& work) {
  status s = verify_fields(table);
  verify_context c{variant_view(&table), weights, work, {}};
  if (s) s = verify_memory(c);
  if (s) s = verify_tensors(c);
  if (s) s = verify_ports(c);
  if (s) s = verify_states(c);
  if (s) s = verify_owners(c);
  if (s) s = verify_checks(c);
  if (s) s = verify_steps(c);
  if (s) s = verify_batch(c);
  if (s) s = verify_disjoint_buffers(c);
  if (s) s = verify_flow(c);
  return s;
}

/// Verifies all that is behind the header, as long as there is work left.
inline status verify_sections(const file_sections& sections, work_budget& work, const format::Model*& root) {
  status s = verify_table(sections.table, work, root);
  if (!s) return s;
  const std::uint32_t variants = count_of(root->variants());
  if (variants == 0) return status_code::bad_structure;
  for (std::uint32_t i = 0; i < variants; ++i) {
    s = verify_variant(*root->variants()->Get(i), sections.weights, work);
    if (!s) return s;
  }
  return {};
}

}

/// Verifies a file and makes `out` a view of it: nothing is copied or allocated, so the bytes must stay where they are,
/// unchanged. They start at a multiple of 16 (64 is fastest) and may be longer than the file. After success no run can
/// read or write outside its memory, whatever the weights and inputs are. Takes some microseconds per step; hostile
/// files too take at most a time that is linear in their bytes. On failure `out` is unchanged, and the status names the
/// step, tensor, buffer or port at fault.
[[nodiscard]] inline status open(span<const std::byte> bytes, model& out, open_options options = {}) {
  impl::file_sections sections;
  status s = impl::read_header(bytes, options.check_hash, sections);
  if (!s) return s;
  impl::work_budget work = impl::work_budget::of_file(sections.table.size(), sections.weights.size());
  const format::Model* root = nullptr;
  s = impl::verify_sections(sections, work, root);
  if (!s) return s;
  out = model(root, sections.weights);
  return {};
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
