// SPDX-License-Identifier: MIT
#pragma once
/// Random invalid plans: well-formed plans with one or a few fields changed. They reach the verifier's last rules,
/// where damaged bytes seldom do.
#include "../model/sample_plans.hpp"
#include <netsuke/format/params.hpp>
#include "random.hpp"
#include <cstring>
#include <utility>

namespace fuzz {

template <class T>
T& any_of(generator& random, std::vector<T>& items) {
  return items[random.below(items.size())];
}

inline void mutate_buffer(generator& random, test::plan_spec& p) {
  test::buffer_spec &b = any_of(random, p.buffers), &other = any_of(random, p.buffers);
  switch (random.below(9)) {
    case 0: b.storage = static_cast<nsk::format::Storage>(random.below(6)); break;
    case 1: mutate(random, b.index); break;
    case 2: mutate(random, b.offset); break;
    case 3: mutate(random, b.bytes); break;
    case 4: mutate(random, b.first_step); break;
    case 5: mutate(random, b.last_step); break;
    case 6: b.offset = other.offset; break;
    case 7: b.bytes = 65536; break;
    default: b.first_step = 0, b.last_step = static_cast<std::uint32_t>(p.steps.size()); break;
  }
}

/// A number of a term, or of a length.
inline void mutate_lengths(generator& random, test::plan_spec& p) {
  test::tensor_spec& t = any_of(random, p.tensors);
  if (random.one_in(4) && !p.lengths.empty()) {
    test::length_spec& l = any_of(random, p.lengths);
    std::uint32_t* const fields[] = {&l.minimum, &l.bound, &l.step, &l.of, &l.times, &l.divide, &l.also, &l.counted};
    return random.one_in(8) ? mutate(random, l.plus) : mutate(random, *fields[random.below(8)]);
  }
  if (t.terms.empty())
    return t.terms.push_back(nsk::format::Term(1, static_cast<std::uint8_t>(random.below(13)), 0, 255, 255));
  nsk::format::Term& term = any_of(random, t.terms);
  std::int64_t coefficient = term.coefficient();
  if (random.one_in(3)) mutate(random, coefficient);
  const auto factor = [&](std::uint8_t now) {
    return random.one_in(6) ? static_cast<std::uint8_t>(random.below(3) - 1) : now;
  };
  const auto number = static_cast<std::uint8_t>(random.one_in(3) ? random.below(14) : term.number());
  term = nsk::format::Term(coefficient, number, factor(term.a()), factor(term.b()), factor(term.c()));
}

inline void mutate_tensor(generator& random, test::plan_spec& p) {
  test::tensor_spec &t = any_of(random, p.tensors), &other = any_of(random, p.tensors);
  switch (random.below(16)) {
    case 13: mutate(random, t.batch); break;
    case 14: t.batch = other.batch; break;
    case 0: t.type = static_cast<nsk::format::DataType>(random.below(9)); break;
    case 1:
    case 2:
      if (!t.shape.empty()) mutate(random, any_of(random, t.shape));
      break;
    case 3:
    case 4:
      if (!t.strides.empty()) mutate(random, any_of(random, t.strides));
      break;
    case 5: t.buffer = other.buffer; break;
    case 6: mutate(random, t.offset); break;
    case 7: t.offset += 4 * random.below(64); break;
    case 8: mutate(random, t.border.top); break;
    case 9: mutate(random, t.border.right); break;
    case 10: t.border = {1, 1, 1, 1}; break;
    case 11: t.packing = static_cast<nsk::format::Packing>(random.below(7)); break;
    case 12: t.shape = other.shape, t.strides = other.strides; break;
    default:
      if (t.shape.size() > 1)
        std::swap(any_of(random, t.shape), t.shape[0]), std::swap(any_of(random, t.strides), t.strides[0]);
      break;
  }
}

inline void mutate_window(generator& random, test::step_spec& s) {
  std::uint16_t w[8] = {s.window.kernel_h(),   s.window.kernel_w(),   s.window.stride_h(), s.window.stride_w(),
                        s.window.dilation_h(), s.window.dilation_w(), s.window.pad_top(),  s.window.pad_left()};
  for (std::size_t n = 1 + random.below(2); n-- > 0;) mutate(random, w[random.below(8)]);
  s.window = nsk::format::Window(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]);
}

inline void mutate_recurrent(generator& random, test::recurrent_spec& r) {
  switch (random.below(8)) {
    case 0: r.kind = static_cast<nsk::format::RecurrentKind>(random.below(4)); break;
    case 1: mutate(random, r.reverse); break;
    case 2: r.peephole = !r.peephole; break;
    case 3: r.lengths = !r.lengths; break;
    case 4: r.input_forget = !r.input_forget; break;
    case 5: r.linear_before_reset = !r.linear_before_reset; break;
    case 6:
      if (!r.functions.empty()) mutate(random, any_of(random, r.functions));
      break;
    default: random.one_in(2) ? r.functions.resize(random.below(8)) : r.parameters.resize(random.below(16)); break;
  }
}

/// Numbers of steps on stored integers.
inline void mutate_quantized(generator& random, test::step_spec& s) {
  const auto bits = static_cast<std::uint32_t>(strange_float(random));
  switch (random.below(9)) {
    case 0: std::memcpy(&s.scale, &bits, 4); break;
    case 1: std::memcpy(random.one_in(2) ? &s.alpha : &s.beta, &bits, 4); break;
    case 2: mutate(random, s.zero); break;
    case 3: mutate(random, s.low); break;
    case 4: mutate(random, s.high); break;
    case 5: mutate(random, s.input_zero); break;
    case 6: std::memcpy(&s.residual_scale, &bits, 4); break;
    case 7: s.real = !s.real; break;
    default: s.whole_rows = !s.whole_rows; break;
  }
}

inline void mutate_step(generator& random, test::plan_spec& p) {
  test::step_spec &s = any_of(random, p.steps), &other = any_of(random, p.steps);
  const auto any_tensor = [&] {
    return static_cast<std::uint32_t>(random.below(p.tensors.size() + (random.one_in(20) ? 1 : 0)));
  };
  switch (random.below(27)) {
    case 0: s.op = static_cast<nsk::format::Operator>(random.below(nsk::op_count + 1)); break;
    case 1:
    case 2:
      if (!s.inputs.empty()) any_of(random, s.inputs) = any_tensor();
      break;
    case 3:
      if (!s.outputs.empty()) any_of(random, s.outputs) = any_tensor();
      break;
    case 4:
      s.inputs.push_back(any_tensor()), s.epilogue.residual = static_cast<std::int32_t>(s.inputs.size() - 1);
      break;
    case 5:
      s.inputs.push_back(any_tensor()), s.epilogue.slope = static_cast<std::int32_t>(s.inputs.size() - 1),
                                        s.epilogue.function = nsk::format::Function::prelu;
      break;
    case 6:
    case 7: mutate_window(random, s); break;
    case 8: s.epilogue.function = static_cast<nsk::format::Function>(random.below(25)); break;
    case 9: mutate(random, random.one_in(2) ? s.epilogue.residual : s.epilogue.slope); break;
    case 10: mutate(random, s.groups); break;
    case 11: s.algorithm = static_cast<nsk::format::ConvAlgorithm>(random.below(4)); break;
    case 12: mutate(random, random.one_in(2) ? s.pad_bottom : s.pad_right); break;
    case 13: mutate(random, random.one_in(2) ? s.row_taps : s.column_taps); break;
    case 14: mutate(random, s.axis); break;
    case 15:
      s.tile = {static_cast<std::uint32_t>(random.below(5)), static_cast<std::uint32_t>(random.below(5)),
                static_cast<std::uint32_t>(16 * random.below(3))};
      break;
    case 16: mutate(random, s.tile_count); break;
    case 17: mutate(random, s.scratch_bytes); break;
    case 18:
      s.binary = static_cast<nsk::format::BinaryKind>(random.below(9)),
      s.reduce = static_cast<nsk::format::ReduceKind>(random.below(7));
      break;
    case 19:
      s.compare = static_cast<nsk::format::CompareKind>(random.below(5)),
      s.arithmetic = static_cast<nsk::format::ArithmeticKind>(random.below(12)),
      s.arg_reduce = static_cast<nsk::format::ArgReduceKind>(random.below(3));
      break;
    case 20: mutate(random, random.one_in(2) ? s.most_per_class : s.size); break;
    case 22: mutate_recurrent(random, s.recurrent); break;
    case 23:
    case 24:
    case 25: mutate_quantized(random, s); break;
    case 21: s.center_point_box = !s.center_point_box, s.smallest = !s.smallest, s.centre = !s.centre; break;
    default: std::swap(s, other); break;
  }
}

inline void mutate_rest(generator& random, test::plan_spec& p) {
  switch (random.below(10)) {
    case 8: mutate(random, p.batch); break;
    case 0: mutate(random, p.arena_bytes); break;
    case 1: mutate(random, p.lane_bytes); break;
    case 2: mutate(random, any_of(random, p.inputs).tensor); break;
    case 3:
      if (!p.outputs.empty()) mutate(random, any_of(random, p.outputs).tensor);
      break;
    case 4:
      if (!p.states.empty()) mutate(random, any_of(random, p.states).next);
      break;
    case 5:
      if (!p.states.empty()) mutate(random, any_of(random, p.states).initial);
      break;
    case 6: p.steps.pop_back(); break;
    case 7: p.inputs.pop_back(); break;
    default: p.weights.resize(p.weights.size() / 128 * 64); break;
  }
}

/// Makes one to four fields invalid. The arena stays large enough for the buffers that stay valid.
inline void mutate_plan(generator& random, test::plan_spec& p) {
  p.arena_bytes += 65536;
  for (std::size_t n = 1 + random.below(4); n-- > 0;) {
    if (p.steps.empty() || p.inputs.empty()) return;
    switch (random.below(12)) {
      case 0:
      case 1: mutate_buffer(random, p); break;
      case 2:
      case 3:
      case 4:
      case 5: mutate_tensor(random, p); break;
      case 6: mutate_rest(random, p); break;
      case 7:
        if (!p.lengths.empty()) mutate_lengths(random, p);
        break;
      default: mutate_step(random, p); break;
    }
  }
}

}
