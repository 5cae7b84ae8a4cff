// SPDX-License-Identifier: MIT
#pragma once
/// Part of the verifier: a run may choose lengths below their bounds.
///
/// All else is proven of the bounds. It holds for smaller lengths because every number of a tensor grows with them: the
/// coefficients of its terms are not negative, so that an element, whatever its position, is nowhere behind its place
/// at the bounds, and no loop of a kernel is longer. What remains is that no number becomes too small, that no border
/// begins before its buffer, nor elements that stand backwards, that elements which a step writes keep places of their
/// own, apart from those that it reads, and that the scratch of a step suffices where its input is short and its output
/// is not.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/model/impl/growing_number.hpp>
#include <netsuke/model/impl/verify_counts.hpp>
#include <netsuke/model/impl/verify_written.hpp>
#include <netsuke/ops/every_op.hpp>

NSK_BEGIN
namespace impl {

/// All lengths of a variant at their bounds, and at their minima.
struct length_range {
  std::int32_t high[max_lengths] = {}, low[max_lengths] = {};
};

/// Whether a length is made of others, and neither chosen nor counted.
NSK_COLD inline bool follows_others(const length_view& l) { return !l.is_chosen() && !l.is_counted(); }

NSK_COLD inline bool chosen_length_fits(const length_view& l) {
  return l.minimum() >= 0 && l.step() >= 1 && l.minimum() <= l.bound() && l.minimum() % l.step() == 0 &&
         l.bound() % l.step() == 0;
}

NSK_COLD inline status read_lengths(const variant_view& v, length_range& range) {
  if (v.length_count() > max_lengths || (v.length_count() > 0 && v.batch() != 0))
    return {status_code::bad_lengths, status_place::none, -1};
  for (int i = 0; i < v.length_count(); ++i) {
    const length_view l = v.length(i);
    bool good =
        l.bound() >= 1 && (!follows_others(l) ? chosen_length_fits(l)
                                              : l.minimum() >= 0 && l.follows_earlier(static_cast<std::uint32_t>(i)));
    if (good && follows_others(l))
      good = l.follows_within(range.low, l.minimum()) && l.follows_within(range.high, l.bound());
    if (!good) return {status_code::bad_lengths, status_place::none, -1};
    range.high[i] = l.bound();
    range.low[i] = l.minimum();
  }
  return {};
}

/// Adds the values of a term; false where a sum is beyond all numbers of a file.
NSK_COLD inline bool add_term(const length_term& t, const length_range& range, std::int64_t& high, std::int64_t& low) {
  std::int64_t upper = t.coefficient, lower = upper;
  if (upper > max_extent || upper < -max_extent) return false;
  for (const std::uint8_t l : t.factors) {
    if (l == no_length) continue;
    if (upper > max_extent / range.high[l]) return false;
    upper *= range.high[l];
    lower *= range.low[l];
  }
  high += upper;
  low += lower;
  return high <= max_extent && high >= -max_extent;
}

/// The number of a term's dimension, where it is that of a stride; -1 elsewhere.
constexpr int dimension_of_stride(int number) {
  return number >= first_stride_number && number < offset_number ? number - first_stride_number : -1;
}
/// Whether a number is the stride of elements that stand backwards.
NSK_COLD inline bool is_backwards(const tensor_info& t, int number) {
  const int d = dimension_of_stride(number);
  return d >= 0 && d < t.rank() && t.strides()[static_cast<std::size_t>(d)] < 0;
}

/// Whether a term names what there is, and its magnitude grows with its lengths.
NSK_COLD inline bool term_fits(const length_term& t, const tensor_info& of, int lengths) {
  for (const std::uint8_t l : t.factors) {
    if (l != no_length && l >= lengths) return false;
  }
  if (t.factors[0] > t.factors[1] || t.factors[1] > t.factors[2]) return false;
  const int number = t.number;
  const bool grows = is_backwards(of, number) ? t.coefficient <= 0 : t.coefficient >= 0;
  if (number > offset_number || (!t.is_constant() && !grows)) return false;
  if (t.coefficient > max_extent || t.coefficient < -max_extent) return false;
  if (number == offset_number) return t.coefficient % size_of(of.type()) == 0;
  return (number < first_stride_number ? number : number - first_stride_number) < of.rank();
}

NSK_COLD inline std::int64_t number_at_bounds(const tensor_info& t, int number) {
  if (number == offset_number) return static_cast<std::int64_t>(t.offset());
  if (number < first_stride_number) return t.shape()[static_cast<std::size_t>(number)];
  return t.strides()[static_cast<std::size_t>(number - first_stride_number)];
}

/// Whether numbers at the bounds are those of the tensor, none is too small at the minima, and terms are in order.
NSK_COLD inline bool numbers_fit(const tensor_info& t, const length_range& range, int lengths) {
  const term_list terms = t.terms();
  for (int i = 0; i < terms.size();) {
    const int number = terms[i].number;
    const std::int64_t sign = is_backwards(t, number) ? -1 : 1;
    std::int64_t high = 0, low = 0;
    for (; i < terms.size() && terms[i].number == number; ++i) {
      length_term growing = terms[i];
      if (!term_fits(growing, t, lengths)) return false;
      growing.coefficient *= sign;
      if (!add_term(growing, range, high, low)) return false;
    }
    if (i < terms.size() && terms[i].number < number) return false;
    if (sign * high != number_at_bounds(t, number) || low < 0) return false;
  }
  return true;
}

/// Whether the border of a tensor stays inside its buffer where the lengths are smaller: the offset shrinks no faster
/// than what is before it.
NSK_COLD inline bool border_stays_inside(const tensor_info& t, const length_range& range) {
  const halo h = t.border();
  if ((h.top | h.left) == 0) return true;
  const int rows = first_stride_number + t.rank() - 3;
  const term_list terms = t.terms();
  const std::int64_t size = size_of(t.type());
  for (int i = 0; i < terms.size(); ++i) {
    const length_term stride = terms[i];
    if (stride.number == rows + 1) return false;
    if (stride.number != rows || h.top == 0) continue;
    bool keeps_up = stride.is_constant();
    for (int k = 0; k < terms.size() && !keeps_up; ++k)
      keeps_up = terms[k].number == offset_number && terms[k].has_factors_of(stride) &&
                 terms[k].coefficient / size / h.top >= stride.coefficient;
    if (!keeps_up) return false;
  }
  tensor_view v = t.view(nullptr);
  tensor_numbers low{v.shape, v.stride, static_cast<std::int64_t>(t.offset())};
  low.follow(terms, range.low);
  return low.offset / size >=
         h.top * std::int64_t{v.stride[t.rank() - 3]} + h.left * std::int64_t{v.stride[t.rank() - 2]};
}

/// Multiplies a coefficient; false where the product is beyond all numbers of a file.
NSK_COLD inline bool multiply(length_term& t, std::int64_t by) {
  const std::int64_t magnitude = by < 0 ? -by : by;
  if (magnitude > max_extent) return false;
  const std::int64_t limit = magnitude == 0 ? max_extent : max_extent / magnitude;
  if (t.coefficient > limit || t.coefficient < -limit) return false;
  t.coefficient *= by;
  return true;
}

/// Multiplies a term with another one; false where it has more than three lengths then.
NSK_COLD inline bool multiply(length_term& t, const length_term& by) {
  if (!multiply(t, by.coefficient)) return false;
  for (const std::uint8_t l : by.factors) {
    if (l == no_length) continue;
    if (t.factors[2] != no_length) return false;
    int place = 2;
    for (; place > 0 && t.factors[place - 1] > l; --place) t.factors[place] = t.factors[place - 1];
    t.factors[place] = l;
  }
  return true;
}

inline constexpr length_term one_term{1, offset_number, {no_length, no_length, no_length}};

/// A sum of terms of different lengths each.
struct term_sum {
  static constexpr int max_terms = 32;
  length_term term[max_terms] = {};
  int count = 0;

  /// Adds a term; false where there are too many, or a number is too large.
  NSK_COLD bool add(const length_term& t) {
    int i = 0;
    while (i < count && !term[i].has_factors_of(t)) ++i;
    if (i == max_terms) return false;
    if (i == count) term[count++] = {0, t.number, {t.factors[0], t.factors[1], t.factors[2]}};
    std::int64_t& sum = term[i].coefficient;
    sum += t.coefficient;
    return sum <= max_extent && sum >= -max_extent;
  }
  /// Adds a term with what its lengths follow from in their place, where that is linear and does not follow linearly
  /// itself.
  NSK_COLD bool add_parts(const variant_view& v, const length_term& t) {
    for (int i = 0; i < 3; ++i) {
      const std::uint8_t l = t.factors[i];
      if (l == no_length || !follows_others(v.length(l)) || !v.length(l).is_linear()) continue;
      const std::uint32_t base = v.length(l).of();
      const length_view from = v.length(static_cast<int>(base));
      if (follows_others(from) && from.is_linear()) continue;
      length_term rest = one_term;
      rest.coefficient = t.coefficient;
      for (int k = 0; k < 3; ++k) {
        if (k != i && !multiply(rest, length_term{1, 0, {t.factors[k], no_length, no_length}})) return false;
      }
      length_term first = rest;
      const length_term of{v.length(l).times(), 0, {static_cast<std::uint8_t>(base), no_length, no_length}};
      return multiply(first, of) && add_parts(v, first) && multiply(rest, v.length(l).plus()) && add_parts(v, rest);
    }
    return add(t);
  }
};

/// Calls f(term) for the terms of a number, times another term; returns whether no product is too large and each call
/// returned true.
template <class F>
NSK_COLD bool all_terms(const tensor_info& t, int number, const length_term& times, F&& f) {
  const term_list terms = t.terms();
  bool follows = false;
  for (int i = 0; i < terms.size(); ++i) {
    length_term part = terms[i];
    if (part.number != number) continue;
    follows = true;
    if (!multiply(part, times) || !f(part)) return false;
  }
  length_term whole = one_term;
  return follows || (multiply(whole, number_at_bounds(t, number)) && multiply(whole, times) && f(whole));
}

/// Adds up the place of the last element that stands backwards: the offset, and strides of such dimensions times their
/// lengths less 1. False where a product has more than three lengths, or there are too many terms.
NSK_COLD inline bool add_begin(const variant_view& v, const tensor_info& t, term_sum& sum) {
  constexpr int max_terms = 16;  // so that it takes little time
  const auto add = [&](const length_term& part) { return sum.add_parts(v, part); };
  bool good = t.terms().size() <= max_terms && all_terms(t, offset_number, one_term, add);
  for (int d = 0; good && d < t.rank(); ++d) {
    if (!is_backwards(t, first_stride_number + d)) continue;
    length_term size = one_term;
    size.coefficient = size_of(t.type());
    good = all_terms(t, first_stride_number + d, size, [&](const length_term& stride) {
      length_term less = stride;
      less.coefficient = -less.coefficient;
      return all_terms(t, d, stride, add) && add(less);
    });
  }
  return good;
}

/// The length that a term has in addition to those of another one; -1 where they differ otherwise.
NSK_COLD inline int additional_factor(const length_term& t, const length_term& than) {
  int more = -1, k = 0;
  for (const std::uint8_t l : t.factors) {
    if (k < 3 && than.factors[k] == l) {
      ++k;
    } else if (more >= 0 || l == no_length) {
      return -1;
    } else {
      more = l;
    }
  }
  return k == 2 || (k < 2 && than.factors[k] == no_length) ? more : -1;
}

/// Whether a sum is nowhere negative: it grows with every length, and is not negative where all are the smallest. One
/// term may shrink where another one, with one length more, makes up for it whatever that length is.
NSK_COLD inline bool stays_positive(const term_sum& sum, const length_range& range) {
  std::int64_t lowest = 0;
  int shrinking = 0;
  for (int i = 0; i < sum.count; ++i) {
    const length_term& t = sum.term[i];
    length_term magnitude = t;
    if (t.coefficient < 0) magnitude.coefficient = -t.coefficient;
    std::int64_t high = 0, low = 0;
    if (!add_term(magnitude, range, high, low)) return false;
    lowest += t.coefficient < 0 ? -low : low;
    if (t.is_constant() || t.coefficient >= 0) continue;
    bool made_up = false;
    for (int k = 0; k < sum.count && !made_up; ++k) {
      const int l = additional_factor(sum.term[k], t);
      const std::int64_t more = sum.term[k].coefficient, minimum = l >= 0 ? range.low[l] : 0;
      made_up = minimum > 0 && more >= 0 && (more > max_extent / minimum || more * minimum + t.coefficient >= 0);
    }
    if (!made_up || ++shrinking > 1) return false;
  }
  return lowest >= 0;
}

/// Whether elements that stand backwards stay in their buffer where the lengths are smaller.
NSK_COLD inline bool backwards_stay_inside(const variant_view& v, const tensor_info& t, const length_range& range) {
  bool any = false;
  for (const std::int64_t stride : t.strides()) any = any || stride < 0;
  if (!any) return true;
  const halo h = t.border();
  term_sum begin;
  return (h.top | h.left | h.bottom | h.right) == 0 && add_begin(v, t, begin) && stays_positive(begin, range);
}

/// Whether a tensor may follow lengths so: no state does, and of constants the shape alone.
NSK_COLD inline bool may_follow(const tensor_info& t) {
  if (t.where() == storage::state || !is_plain(t) || t.batch() != 0) return false;
  const term_list terms = t.terms();
  return t.where() != storage::constant || terms[terms.size() - 1].number < first_stride_number;
}

/// A tensor as scratch_bytes() asks for it, with other lengths than those of the file.
struct shape_of_lengths {
  tensor_info of;
  tensor_view view;
  span<const std::int32_t> shape() const { return {view.shape, static_cast<std::size_t>(view.rank)}; }
  halo border() const { return of.border(); }
  float fill() const { return of.fill(); }
};

NSK_COLD inline bool follows(const tensor_info& t) { return t.terms().size() != 0; }
NSK_COLD inline bool last_follows(const tensor_info& t) {
  const term_list terms = t.terms();
  for (int i = 0; i < terms.size(); ++i) {
    if (terms[i].number == t.rank() - 1) return true;
  }
  return false;
}

template <op O>
NSK_COLD bool scratch_suffices(const step_view& s, const length_range& range) {
  using traits = op_traits<O>;
  if constexpr (!std::is_base_of<without_scratch, traits>::value) {
    const tensor_info x = s.input(0), y = s.output();
    if (!follows(x) && !follows(y)) return true;
    if (O == op::recurrent && s.tile().rows != 0) return false;  // a tile has whole rows of the batch
    if (last_follows(x) || last_follows(y)) return false;
    shape_of_lengths shortest{x, x.view(nullptr, range.low)};
    const shape_of_lengths longest{y, y.view(nullptr)};
    for (int d = 0; d < shortest.view.rank; ++d) {  // a step with an empty tensor does nothing
      if (shortest.view.shape[d] == 0) shortest.view.shape[d] = 1;
    }
    return traits::scratch_bytes(s.params<O>(), shortest, longest) <= static_cast<std::int64_t>(s.scratch_bytes());
  }
  return true;
}

template <class Ops>
bool scratch_suffices(const step_view& s, const length_range& range) {
  switch (s.op()) {
#define NSK_SUFFICES(name, Table)                                                  \
  case op::name:                                                                   \
    if constexpr (Ops::has(op::name)) return scratch_suffices<op::name>(s, range); \
    break;
    NSK_OP_LIST(NSK_SUFFICES)
#undef NSK_SUFFICES
    case op::none: break;
  }
  return true;
}

/// Whether a step writes each element to a place of its own, and none where it reads another one, whatever the lengths.
NSK_COLD inline bool writes_apart(const step_view& s, const length_range& range) {
  const tensor_info output = s.output();
  if (follows(output) && !places_stay_apart(output, range.low)) return false;
  for (int i = 0; i < s.input_count(); ++i) {
    const tensor_info input = s.input(i);
    if (input.buffer() != output.buffer() || (!follows(input) && !follows(output))) continue;
    if (!may_work_in_place(s, i) || !same_view(input, output) || !same_terms(input, output)) return false;
  }
  return true;
}

template <class Ops>
status verify_lengths(const verify_context& c) {
  length_range range;
  const status s = read_lengths(c.variant, range);
  if (!s) return s;
  const int lengths = c.variant.length_count();
  for (int i = 0; i < c.variant.tensor_count(); ++i) {
    const tensor_info t = c.variant.tensor(i);
    if (!follows(t)) continue;
    const auto terms = static_cast<std::uint64_t>(t.terms().size());
    if (!c.work.spend(term_work * terms * terms)) return status_code::too_complex;
    if (lengths == 0 || !may_follow(t) || !numbers_fit(t, range, lengths) || !border_stays_inside(t, range) ||
        !backwards_stay_inside(c.variant, t, range))
      return {status_code::bad_lengths, i};
  }
  for (int i = 0; lengths != 0 && i < c.variant.step_count(); ++i) {
    const step_view step = c.variant.step(i);
    if (!c.work.spend(places_work)) return {status_code::too_complex, i};
    if (!scratch_suffices<Ops>(step, range)) return {status_code::bad_scratch, i};
    if (!writes_apart(step, range)) return {status_code::bad_overlap, i};
  }
  return verify_counts(c);
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
