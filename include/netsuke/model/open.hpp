// SPDX-License-Identifier: MIT
#pragma once
/// Opening a model: from bytes that may be anything to a model whose every number can be trusted, or a reason why not.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/impl/read_file.hpp>
#include <netsuke/model/impl/verify_batch.hpp>
#include <netsuke/model/impl/verify_flow.hpp>
#include <netsuke/model/impl/verify_lengths.hpp>
#include <netsuke/model/impl/verify_ports.hpp>
#include <netsuke/model/impl/verify_steps.hpp>
#include <netsuke/model/impl/verify_tensors.hpp>
#include <netsuke/model/model.hpp>

NSK_BEGIN
struct open_options {
  /// Reads the whole file to compare its hash: finds damage in the weights, which verification does not look at.
  bool check_hash = false;
};

namespace impl {

/// Verifies lengths, or refuses files that have them where the program takes none.
template <class Ops, class Narrow>
status lengths_of(const verify_context& c) {
  if constexpr (Narrow::lengths) {
    return verify_lengths<Ops>(c);
  } else {
    if (c.variant.length_count() != 0) return status_code::unsupported_lengths;
    for (int i = 0; i < c.variant.tensor_count(); ++i) {
      if (c.variant.tensor(i).terms().size() != 0) return {status_code::bad_lengths, i};
    }
    return {};
  }
}

template <class Ops, class Narrow>
status verify_variant(const variant_view& variant, span<const std::byte> weights, work_budget& work) {
  verify_context c{variant, weights, work, {}};
  status s = verify_memory(c);
  if (s) s = verify_tensors<Narrow>(c);
  if (s) s = verify_ports(c);
  if (s) s = verify_states(c);
  if (s) s = verify_owners(c);
  if (s) s = verify_checks(c);
  if (s) s = verify_steps<Ops, Narrow>(c);
  if (s) s = verify_batch<Ops>(c);
  if (s) s = lengths_of<Ops, Narrow>(c);
  if (s) s = verify_disjoint_buffers(c);
  if (s) s = verify_flow(c);
  return s;
}

/// Verifies all that is behind the header, as long as there is work left.
template <class Ops, class Narrow>
status verify_sections(const file_sections& sections, work_budget& work, model_view& view) {
  status s = read_table(sections.table, work, view);
  for (int i = 0; s && i < view.variant_count(); ++i) {
    s = verify_variant<Ops, Narrow>(view.variant(i), sections.weights, work).in_variant(i);
  }
  return s;
}

template <class Ops, class Narrow>
status open_as(span<const std::byte> bytes, model& out, open_options options) {
  file_sections sections;
  status s = read_header(bytes, options.check_hash, sections);
  if (!s) return s;
  work_budget work = work_budget::of_file(sections.table.size(), sections.weights.size());
  model_view view;
  s = verify_sections<Ops, Narrow>(sections, work, view);
  if (s) out = model(view, sections.weights);
  return s;
}

}

/// Verifies a file and makes `out` a view of it: nothing is copied or allocated, so the bytes must stay where they are,
/// unchanged. They start at a multiple of 16 (64 is fastest) and may be longer than the file. After success no run can
/// read or write outside its memory, whatever the weights and inputs are. Takes some microseconds per step; hostile
/// files too take at most a time that is linear in their bytes. On failure `out` is unchanged, and the status says
/// which step, tensor, buffer or port is at fault; format_refusal() gives its name.
[[nodiscard]] inline status open(span<const std::byte> bytes, model& out, open_options options = {}) {
  return impl::open_as<all_ops, impl::narrow_weights<true, true>>(bytes, out, options);
}
/// open() for sessions of one settings type: the program has no code for other operators than `Settings::ops`, and
/// files with others are refused with unsupported_op, and files with float16 or int8 weights with
/// unsupported_half_weights or unsupported_int8_weights where the settings do not take them.
template <class Settings>
[[nodiscard]] status open(span<const std::byte> bytes, model& out, open_options options = {}) {
  return impl::open_as<typename Settings::ops,
                       impl::narrow_weights<impl::runs_half_weights<Settings>, impl::runs_int8_weights<Settings>,
                                            impl::runs_lengths<Settings>>>(bytes, out, options);
}

/// Writes what `open` has refused these bytes for, with the name of the step, tensor or port at fault where the file's
/// table is sound enough to say it; returns the bytes in front of the zero, as status::format does.
NSK_COLD inline std::size_t format_refusal(const status& why, span<const std::byte> bytes, span<char> to) {
  impl::file_sections sections;
  if (!impl::read_header(bytes, false, sections)) return why.format(to);
  impl::work_budget work = impl::work_budget::of_file(sections.table.size(), sections.weights.size());
  model_view view;
  const bool sound = static_cast<bool>(impl::read_table(sections.table, work, view));
  return sound ? why.format(to, model(view, {})) : why.format(to);
}
NSK_END
#include <netsuke/core/restore_macros.hpp>
