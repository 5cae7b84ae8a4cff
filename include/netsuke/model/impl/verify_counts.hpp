// SPDX-License-Identifier: MIT
#pragma once
/// Part of the verifier: lengths that steps count.
///
/// A run reads such a length from memory when the step that writes it is complete, clamps it to its limits, and binds
/// the steps behind with it. So one step writes the number, nothing writes to its place afterwards, and only steps
/// behind that one have tensors which follow it: lanes of a step then see the same lengths. Which number it is does not
/// matter for safety, as lengths of the caller do not.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/model/impl/verify_context.hpp>

NSK_BEGIN
namespace impl {

/// Sets of lengths, one bit each.
using length_set = std::uint32_t;
static_assert(max_lengths <= 32, "a bit for each length");

/// The lengths that a length is made of: itself, or those that it follows from.
NSK_COLD inline length_set sources_of(const variant_view& v, int i, const length_set* before) {
  const length_view l = v.length(i);
  return l.is_chosen() || l.is_counted() ? length_set{1} << i : l.sources(before);
}

/// The lengths that numbers of a tensor follow, by their sources.
NSK_COLD inline length_set lengths_of(const tensor_info& t, const length_set* sources) {
  length_set set = 0;
  const term_list terms = t.terms();
  for (int i = 0; i < terms.size(); ++i) {
    for (const std::uint8_t l : terms[i].factors) {
      if (l != no_length) set |= sources[l];
    }
  }
  return set;
}

/// Whether the number of a length is kept: a tensor of one integer, written by the first step of its buffer, and there
/// until the end.
NSK_COLD inline bool number_is_kept(const verify_context& c, const length_view& l) {
  if (l.counted_tensor() >= c.tensors() || l.step() != 1) return false;
  const tensor_info t = c.variant.tensor(static_cast<int>(l.counted_tensor()));
  return (t.type() == dtype::int64 || t.type() == dtype::int32) && t.elements() == 1 && t.terms().size() == 0 &&
         t.batch() == 0 && (t.where() == storage::arena || t.where() == storage::output) &&
         t.first_step() < c.variant.step_count() && t.last_step() >= c.variant.step_count() - 1 &&
         c.variant.step(t.first_step()).output().buffer() == t.buffer();
}

/// Whether a step leaves the numbers of all lengths alone that it does not count, and follows none that is still to be
/// counted.
NSK_COLD inline bool step_keeps_numbers(const verify_context& c, const step_view& s, const length_set* sources) {
  length_set followed = lengths_of(s.output(), sources);
  for (int i = 0; i < s.input_count(); ++i) followed |= lengths_of(s.input(i), sources);
  for (int i = 0; i < c.variant.length_count(); ++i) {
    const length_view l = c.variant.length(i);
    if (!l.is_counted()) continue;
    const tensor_info t = c.variant.tensor(static_cast<int>(l.counted_tensor()));
    if (s.output().buffer() == t.buffer() && s.index() != t.first_step()) return false;
    if ((followed >> i & 1) != 0 && s.index() <= t.first_step()) return false;
  }
  return true;
}

/// Terms have been verified before.
NSK_COLD inline status verify_counts(const verify_context& c) {
  length_set sources[max_lengths] = {}, counted = 0;
  for (int i = 0; i < c.variant.length_count(); ++i) {
    const length_view l = c.variant.length(i);
    sources[i] = sources_of(c.variant, i, sources);
    if (!l.is_counted()) continue;
    if (!number_is_kept(c, l)) return {status_code::bad_lengths, status_place::none, -1};
    counted |= length_set{1} << i;
  }
  if (counted == 0) return {};
  for (int i = 0; i < c.variant.input_count(); ++i) {
    if ((lengths_of(c.variant.input(i).tensor(), sources) & counted) != 0)
      return {status_code::bad_lengths, c.variant.input(i).tensor().index()};
  }
  for (int i = 0; i < c.variant.step_count(); ++i) {
    const step_view s = c.variant.step(i);
    if (!c.work.spend(region_work)) return {status_code::too_complex, i};
    if (!step_keeps_numbers(c, s, sources)) return {status_code::bad_lengths, s.output().index()};
  }
  return {};
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
