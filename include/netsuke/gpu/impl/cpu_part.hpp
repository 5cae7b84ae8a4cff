// SPDX-License-Identifier: MIT
#pragma once
/// Parts of a hybrid plan that run on the CPU: which bytes of the arena go there before such a part, and which come
/// back after it. The device's arena is complete between parts, so that a part needs to know nothing of those before
/// it.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/variant_view.hpp>
#include <netsuke/gpu/impl/lowering.hpp>
#include <netsuke/model/impl/region.hpp>

NSK_BEGIN
namespace gpu::impl {

/// Steps [first, end) of a variant, all of them on the CPU, in an inference of these lengths.
struct cpu_steps {
  variant_view variant;
  int first = 0, end = 0;
  length_values lengths = nullptr;
};

/// The words of the arena from a tensor's first byte to its last, and whether its elements are all of them.
struct crossing {
  arena_range range{};
  bool exact = false;
};
inline crossing crossing_of(const tensor_info& t, length_values lengths) {
  tensor_view v = t.view(nullptr, lengths);
  v.border = {};
  bool repeats;
  const nsk::impl::region r = nsk::impl::region_of(v, static_cast<std::int64_t>(t.offset(lengths)), repeats);
  const std::uint64_t begin = t.buffer_offset() + static_cast<std::uint64_t>(r.base),
                      end = t.buffer_offset() + static_cast<std::uint64_t>(r.end());
  const std::uint64_t first = begin / 4 * 4, last = (end + 3) / 4 * 4;
  return {{first, last - first}, static_cast<std::uint64_t>(r.bytes()) == last - first};
}

/// Whether steps [first, step) write all that `t` has.
inline bool is_made_before(const cpu_steps& s, int step, const tensor_info& t) {
  const bool lives_before = t.where() == storage::input || t.where() == storage::state || t.first_step() < s.first;
  if (!lives_before) return true;
  const arena_range wanted = crossing_of(t, s.lengths).range;
  for (int i = s.first; i < step; ++i) {
    const step_view earlier = s.variant.step(i);
    for (int o = 0; o < earlier.output_count(); ++o) {
      const tensor_info made = earlier.output(o);
      if (made.buffer() != t.buffer()) continue;
      if (made.index() == t.index()) return true;
      const crossing w = crossing_of(made, s.lengths);
      if (w.exact && w.range.offset <= wanted.offset && wanted.end() <= w.range.end()) return true;
    }
  }
  return false;
}

/// Calls f(range) for the outputs that something behind the part needs: a step, a port, a state.
template <class F>
void for_each_upload(const cpu_steps& s, F&& f) {
  for (int i = s.first; i < s.end; ++i) {
    const step_view step = s.variant.step(i);
    for (int o = 0; o < step.output_count(); ++o) {
      if (step.output(o).last_step() >= s.end && !step.output(o).is_empty(s.lengths))
        f(crossing_of(step.output(o), s.lengths));
    }
  }
}
/// Calls f(range) for what the part reads and does not make itself, and for what is uploaded with gaps in it, so that
/// the gaps keep their bytes.
template <class F>
void for_each_read_back(const cpu_steps& s, F&& f) {
  for (int i = s.first; i < s.end; ++i) {
    const step_view step = s.variant.step(i);
    for (int k = 0; k < step.input_count(); ++k) {
      const tensor_info t = step.input(k);
      if (t.where() != storage::constant && !t.is_empty(s.lengths) && !is_made_before(s, i, t))
        f(crossing_of(t, s.lengths));
    }
  }
  for_each_upload(s, [&](const crossing& w) {
    if (!w.exact) f(w);
  });
}

/// Finds the first of the merged ranges that begins at `from` or behind it; false where there is none. `each(f)` calls
/// f for all ranges. Merging this way takes no memory, and time for a few parts only.
template <class Each>
bool next_range(Each&& each, std::uint64_t from, arena_range& found) {
  std::uint64_t begin = ~std::uint64_t{0}, end = 0, before;
  each([&](const crossing& c) {
    if (c.range.offset >= from && c.range.offset < begin) begin = c.range.offset;
  });
  if (begin == ~std::uint64_t{0}) return false;
  end = begin;
  do {
    before = end;
    each([&](const crossing& c) {
      if (c.range.offset >= begin && c.range.offset <= end && c.range.end() > end) end = c.range.end();
    });
  } while (end != before);
  found = {begin, end - begin};
  return true;
}

/// Adds a part, with its merged ranges, to a plan.
NSK_COLD inline void add_cpu_part(const cpu_steps& s, int first_dispatch, dispatch_writer& to) {
  cpu_part_record part;
  part.first_step = s.first;
  part.steps = s.end - s.first;
  part.first_dispatch = first_dispatch;
  part.first_range = to.ranges();
  const auto add_all = [&](auto&& each) {
    const int first = to.ranges();
    arena_range r;
    for (std::uint64_t from = 0; next_range(each, from, r); from = r.end() + 1) to.add_range(r);
    return to.ranges() - first;
  };
  part.read_backs = add_all([&](auto&& f) { for_each_read_back(s, f); });
  part.uploads = add_all([&](auto&& f) { for_each_upload(s, f); });
  to.add_part(part);
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
