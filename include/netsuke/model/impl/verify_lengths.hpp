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

/// Whether elements that stand backwards stay in their buffer where the lengths are smaller: the place of the last one,
/// the offset and strides of such dimensions times their lengths less 1, is nowhere negative.
NSK_COLD inline bool backwards_stay_inside(const variant_view& v, const tensor_info& t, const length_range& range) {
  bool any = false;
  for (const std::int64_t stride : t.strides()) any = any || stride < 0;
  if (!any) return true;
  const halo h = t.border();
  growing_number begin, size, expanded;
  if ((h.top | h.left | h.bottom | h.right) != 0 || !size.add(size_of(t.type())) ||
      !begin.read(t, offset_number, number_at_bounds(t, offset_number)))
    return false;
  for (int d = 0; d < t.rank(); ++d) {
    const int stride_number = first_stride_number + d;
    if (!is_backwards(t, stride_number)) continue;
    growing_number stride, length, bytes;
    if (!stride.read(t, stride_number, number_at_bounds(t, stride_number)) ||
        !length.read(t, d, number_at_bounds(t, d)) || !length.add(-1) || !bytes.multiply(stride, size) ||
        !begin.multiply(bytes, length))
      return false;
  }
  return expanded.expand(v, begin) && expanded.is_never_negative(range.low);
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
