// SPDX-License-Identifier: MIT
#pragma once
/// Mutations of several fields together: what one of them breaks the others make good again, so that a plan stays
/// plausible and only the rules that kernels rely on can refuse it. A stride grows with its buffer, a border comes with
/// the space for it, views share a block, every tensor gets the rows of a batch.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>
#include "mutate_plan.hpp"

namespace fuzz {

inline bool is_constant(const test::plan_spec& p, const test::tensor_spec& t) {
  return t.buffer < p.buffers.size() && p.buffers[t.buffer].storage == nsk::format::Storage::constant;
}
inline bool is_port(const test::plan_spec& p, const test::tensor_spec& t) {
  return t.buffer < p.buffers.size() && p.buffers[t.buffer].storage >= nsk::format::Storage::input;
}
inline std::size_t tensors_in(const test::plan_spec& p, std::uint32_t buffer) {
  return static_cast<std::size_t>(std::count_if(p.tensors.begin(), p.tensors.end(),
                                                [&](const test::tensor_spec& t) { return t.buffer == buffer; }));
}

/// The same stride backwards; mutations make the smallest of all too, which has no opposite.
inline std::int64_t opposite(std::int64_t stride) {
  return stride == std::numeric_limits<std::int64_t>::min() ? stride : -stride;
}

/// Border elements before and after dimension `d` of a tensor.
inline std::pair<std::int64_t, std::int64_t> border_of(const test::tensor_spec& t, std::size_t d) {
  const std::size_t rank = t.shape.size();
  if (rank < 3) return {0, 0};
  if (d == rank - 3) return {t.border.top, t.border.bottom};
  return d == rank - 2 ? std::pair<std::int64_t, std::int64_t>{t.border.left, t.border.right}
                       : std::pair<std::int64_t, std::int64_t>{0, 0};
}

/// Elements that a tensor reaches, border included, counted from the one at index 0. `fits` where they are few enough
/// to get a buffer.
struct reach {
  std::int64_t first = 0, last = 0;
  bool fits = true;
};
inline reach reach_of(const test::tensor_spec& t) {
  constexpr std::int64_t limit = 1 << 16;
  reach r;
  if (t.strides.size() != t.shape.size()) return {0, 0, false};
  for (std::size_t d = 0; d < t.shape.size(); ++d) {
    const auto [before, after] = border_of(t, d);
    const std::int64_t low = -before, high = std::int64_t{t.shape[d]} - 1 + after, stride = t.strides[d];
    if (low == high) continue;
    if (t.shape[d] < 1 || high > limit || stride > limit || stride < -limit) return {0, 0, false};
    r.first += std::min(low * stride, high * stride);
    r.last += std::max(low * stride, high * stride);
  }
  r.fits = r.last - r.first < limit;
  return r;
}

/// Moves a tensor to where its first element is inside of its buffer, and makes the buffer as long as it reaches.
inline void fit_buffer(test::plan_spec& p, test::tensor_spec& t) {
  const reach r = reach_of(t);
  if (!r.fits || t.buffer >= p.buffers.size() || is_constant(p, t)) return;
  const std::int64_t size = nsk::size_of(static_cast<nsk::dtype>(t.type));
  const auto begin = static_cast<std::uint64_t>(-r.first * size);
  if (t.offset < begin || t.offset > (1 << 18)) t.offset = begin;
  const std::uint64_t end = t.offset + static_cast<std::uint64_t>((r.last + 1) * size);
  p.buffers[t.buffer].bytes = std::max(p.buffers[t.buffer].bytes, end);
}

/// Puts the blocks of the arena one after the other, each alive all the time, and makes the arena just as large.
inline void pack_arena(test::plan_spec& p) {
  std::uint64_t at = 0;
  for (test::buffer_spec& b : p.buffers) {
    if (b.storage == nsk::format::Storage::constant) continue;
    b.offset = at;
    b.first_step = 0;
    b.last_step = static_cast<std::uint32_t>(p.steps.size());
    at += (b.bytes + 63) / 64 * 64;
  }
  p.arena_bytes = at + nsk::over_read;
}

/// Strides in which dimension order[0] is outermost, each leaving out `gap` elements, the innermost one `step` apart.
inline void set_strides(test::tensor_spec& t, const std::vector<std::size_t>& order, std::int64_t step,
                        std::int64_t gap) {
  t.strides.assign(t.shape.size(), 1);
  std::int64_t stride = step;
  for (std::size_t i = order.size(); i-- > 0;) {
    const auto [before, after] = border_of(t, order[i]);
    t.strides[order[i]] = stride;
    stride = stride * (t.shape[order[i]] + before + after) + gap;
  }
}
inline void set_dense(test::tensor_spec& t) {
  std::vector<std::size_t> order(t.shape.size());
  for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
  set_strides(t, order, 1, 0);
}

inline float any_fill(generator& random) {
  const float values[] = {0, -std::numeric_limits<float>::infinity(), 5, std::numeric_limits<float>::quiet_NaN()};
  return values[random.below(4)];
}

/// Gives a tensor another place, order of dimensions, gaps, direction and border. What the plan computes stays the
/// same: elements are found by their indices.
inline void relayout(generator& random, test::plan_spec& p, test::tensor_spec& t) {
  if (t.shape.empty() || t.shape.size() > 6) return;
  if (t.shape.size() >= 3 && random.one_in(3))
    t.border = {static_cast<std::uint16_t>(random.below(3)), static_cast<std::uint16_t>(random.below(3)),
                static_cast<std::uint16_t>(random.below(3)), static_cast<std::uint16_t>(random.below(3))};
  std::vector<std::size_t> order(t.shape.size());
  for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
  if (random.one_in(3)) std::swap(order[random.below(order.size())], order[random.below(order.size())]);
  set_strides(t, order, random.one_in(3) ? 1 + static_cast<std::int64_t>(random.below(4)) : 1,
              random.one_in(3) ? static_cast<std::int64_t>(random.below(5)) : 0);
  const std::size_t d = random.below(t.shape.size());
  if (random.one_in(6)) t.strides[d] = opposite(t.strides[d]);
  if (random.one_in(6) && t.shape[d] == 1) t.strides[d] = static_cast<std::int64_t>(interesting(random));
  p.buffers[t.buffer].bytes = 0;
  t.offset = 0;
  fit_buffer(p, t);
  if (random.one_in(8)) t.offset += 4 * random.below(4), fit_buffer(p, t);
}

/// A tensor of the arena that shares its block with no other; null where a few tries find none.
inline test::tensor_spec* movable(generator& random, test::plan_spec& p) {
  for (int i = 0; i < 8; ++i) {
    test::tensor_spec& t = any_of(random, p.tensors);
    if (t.buffer < p.buffers.size() && p.buffers[t.buffer].storage == nsk::format::Storage::arena &&
        tensors_in(p, t.buffer) == 1)
      return &t;
  }
  return nullptr;
}

/// Views of one block: beside each other, into each other, backwards.
inline void share_block(generator& random, test::plan_spec& p) {
  test::tensor_spec &t = any_of(random, p.tensors), &other = any_of(random, p.tensors);
  if (is_constant(p, t) || is_constant(p, other)) return;
  t.buffer = other.buffer;
  if (t.shape.size() == other.shape.size()) t.strides = other.strides;
  t.offset = other.offset + 4 * random.below(24);
  const std::size_t d = t.shape.empty() ? 0 : random.below(t.shape.size());
  if (!t.shape.empty() && random.one_in(3) && reach_of(t).fits) {
    t.offset += static_cast<std::uint64_t>(std::max<std::int64_t>(0, t.strides[d] * (t.shape[d] - 1) * 4));
    t.strides[d] = opposite(t.strides[d]);
  }
  fit_buffer(p, t);
}

/// A step that works in place, or nearly so.
inline void work_in_place(generator& random, test::plan_spec& p) {
  test::step_spec& s = any_of(random, p.steps);
  if (s.inputs.empty() || s.outputs.empty()) return;
  const std::uint32_t from = any_of(random, s.inputs), to = s.outputs[0];
  if (from >= p.tensors.size() || to >= p.tensors.size() || is_constant(p, p.tensors[from])) return;
  test::tensor_spec &in = p.tensors[from], &out = p.tensors[to];
  in.buffer = out.buffer;
  if (in.shape.size() == out.shape.size()) in.strides = out.strides, in.border = out.border;
  in.offset = out.offset + (random.one_in(3) ? 4 * random.below(9) : 0);
  fit_buffer(p, in);
}

/// A step that reads a tensor in another way than it was written: backwards, or with two dimensions swapped.
inline void read_otherwise(generator& random, test::plan_spec& p) {
  test::step_spec& s = any_of(random, p.steps);
  if (s.inputs.empty()) return;
  std::uint32_t& input = any_of(random, s.inputs);
  if (input >= p.tensors.size() || is_constant(p, p.tensors[input])) return;
  test::tensor_spec t = p.tensors[input];
  if (t.shape.empty() || t.strides.size() != t.shape.size()) return;
  const std::size_t d = random.one_in(2) ? 0 : random.below(t.shape.size()), e = random.below(t.shape.size());
  if (d != e && t.shape[d] == t.shape[e]) {
    std::swap(t.strides[d], t.strides[e]);
  } else if (t.shape[d] > 1 && reach_of(t).fits) {
    const std::int64_t size = nsk::size_of(static_cast<nsk::dtype>(t.type));
    t.offset += static_cast<std::uint64_t>(t.strides[d] * (t.shape[d] - 1) * size);
    t.strides[d] = opposite(t.strides[d]);
  }
  input = static_cast<std::uint32_t>(p.tensors.size());
  p.tensors.push_back(t);
}

/// Another length wherever one length is.
inline void change_length(generator& random, test::plan_spec& p) {
  const test::tensor_spec& model = any_of(random, p.tensors);
  if (model.shape.empty()) return;
  const std::int32_t from = model.shape[random.below(model.shape.size())],
                     to = static_cast<std::int32_t>(1 + random.below(20));
  for (test::tensor_spec& t : p.tensors) {
    if (is_constant(p, t) || std::count(t.shape.begin(), t.shape.end(), from) == 0) continue;
    std::replace(t.shape.begin(), t.shape.end(), from, to);
    set_dense(t);
    fit_buffer(p, t);
  }
}

/// A batch: its rows in the first dimension of every tensor.
inline void make_batch(generator& random, test::plan_spec& p) {
  const auto rows = static_cast<std::int32_t>(2 + random.below(3));
  p.batch = static_cast<std::uint32_t>(rows);
  for (test::tensor_spec& t : p.tensors) {
    if (is_constant(p, t) || t.shape.empty()) continue;
    if (t.shape[0] % rows != 0) {
      if (t.shape[0] != 1 && !random.one_in(4)) continue;
      t.shape[0] *= rows;
      set_dense(t);
      fit_buffer(p, t);
    }
    t.batch = static_cast<std::uint32_t>(t.shape[0] / rows);
  }
}

/// A length in the place of one extent, wherever it is: shapes and strides of all tensors follow it.
inline void make_lengths(generator& random, test::plan_spec& p) {
  const test::tensor_spec& model = any_of(random, p.tensors);
  if (model.shape.empty() || p.batch != 0) return;
  const std::int32_t bound = model.shape[random.below(model.shape.size())];
  if (bound < 2) return;
  const std::int32_t minima[] = {0, 1, bound - 1};
  const auto minimum = static_cast<std::uint32_t>(minima[random.below(3)]), longest = static_cast<std::uint32_t>(bound);
  p.lengths = {{"n", minimum, longest}};
  if (random.one_in(3)) p.lengths.push_back({"", 2 * minimum, 2 * longest, 1, 0, 1, 0, 1, 1});
  for (std::size_t i = 0; i < p.tensors.size() && random.one_in(2); ++i) {
    const test::tensor_spec& t = p.tensors[i];
    if (t.type == nsk::format::DataType::int64 && t.shape == std::vector<std::int32_t>{1})
      p.lengths[0].counted = static_cast<std::uint32_t>(i) + 1;
  }
  for (test::tensor_spec& t : p.tensors) {
    t.terms.clear();
    if (random.one_in(12)) continue;
    std::int64_t power = 0;
    std::vector<nsk::format::Term> strides;
    for (std::size_t d = t.shape.size(); d-- > 0;) {
      const auto number = static_cast<std::uint8_t>(d);
      if (power > 0 && power < 3 && t.strides[d] != 0 && !is_constant(p, t)) {
        const auto f = [&](std::int64_t i) { return static_cast<std::uint8_t>(i < power ? 0 : 255); };
        std::int64_t all = 1;
        for (std::int64_t i = 0; i < power; ++i) all *= bound;
        if (t.strides[d] % all == 0)
          strides.insert(strides.begin(), nsk::format::Term(t.strides[d] / all, static_cast<std::uint8_t>(number + 6),
                                                            f(0), f(1), f(2)));
      }
      if (t.shape[d] == bound && t.packing == nsk::format::Packing::plain) {
        t.terms.insert(t.terms.begin(), nsk::format::Term(1, number, 0, 255, 255));
        ++power;
      }
    }
    t.terms.insert(t.terms.end(), strides.begin(), strides.end());
  }
}

/// Another element type wherever one type is.
inline void change_type(generator& random, test::plan_spec& p) {
  const nsk::format::DataType from = any_of(random, p.tensors).type,
                              to = static_cast<nsk::format::DataType>(random.below(8));
  for (test::tensor_spec& t : p.tensors) {
    if (t.type == from) t.type = to, fit_buffer(p, t);
  }
}

/// One or a few mutations of this file, then now and then one field alone, then space for all of it.
inline void mutate_plausibly(generator& random, test::plan_spec& p) {
  for (std::size_t n = 1 + random.below(3); n-- > 0;) {
    switch (random.below(11)) {
      case 0: share_block(random, p); break;
      case 1: work_in_place(random, p); break;
      case 2: change_length(random, p); break;
      case 3: random.one_in(2) ? make_batch(random, p) : make_lengths(random, p); break;
      case 4: change_type(random, p); break;
      case 5: any_of(random, p.tensors).fill = any_fill(random); break;
      case 6: {
        test::tensor_spec& t = any_of(random, p.tensors);
        if (!t.strides.empty()) any_of(random, t.strides) = static_cast<std::int64_t>(random.below(40)) - 8;
        fit_buffer(p, t);
        break;
      }
      case 7:
        read_otherwise(random, p);
        if (random.one_in(2)) make_batch(random, p);
        break;
      default:
        if (test::tensor_spec* t = movable(random, p)) relayout(random, p, *t);
        break;
    }
  }
  if (random.one_in(3)) {
    switch (random.below(3)) {
      case 0: mutate_step(random, p); break;
      case 1: mutate_tensor(random, p); break;
      default: mutate_quantized(random, any_of(random, p.steps)); break;
    }
    fit_buffer(p, any_of(random, p.tensors));
  }
  pack_arena(p);
}

/// The same plan behind and before copies: what was a port becomes a tensor of the arena, which may have any layout.
inline test::plan_spec between_copies(test::plan_spec p) {
  std::vector<test::step_spec> steps = p.steps;
  p.steps.clear();
  const auto add_port = [&p](test::port_spec& port) {
    const std::uint32_t inside = port.tensor;
    p.buffers.push_back(p.buffers[p.tensors[inside].buffer]);
    p.buffers[p.tensors[inside].buffer].storage = nsk::format::Storage::arena;
    p.tensors.push_back(p.tensors[inside]);
    p.tensors.back().buffer = static_cast<std::uint32_t>(p.buffers.size() - 1);
    p.tensors.back().offset = 0;
    port.tensor = static_cast<std::uint32_t>(p.tensors.size() - 1);
    return inside;
  };
  for (test::port_spec& port : p.inputs) {
    const std::uint32_t inside = add_port(port);
    p.add_step(nsk::format::Operator::Copy, {port.tensor}, inside, "in");
  }
  p.steps.insert(p.steps.end(), steps.begin(), steps.end());
  for (test::port_spec& port : p.outputs) {
    const std::uint32_t inside = add_port(port);
    p.add_step(nsk::format::Operator::Copy, {inside}, port.tensor, "out");
  }
  pack_arena(p);
  return p;
}

}
