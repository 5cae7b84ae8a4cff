// SPDX-License-Identifier: MIT
#pragma once
/// Numbers of tensors as sums of products of lengths, and whether one of them is always at least as large as another.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/format/limits.hpp>
#include <netsuke/format/variant_view.hpp>

NSK_BEGIN
namespace impl {

/// A sum of terms.
class growing_number {
 public:
  static constexpr int capacity = 32;

  /// Adds a term; false where there are too many, or its coefficient is beyond all numbers of a file.
  bool add(const length_term& t) {
    if (m_count == capacity || t.coefficient > max_extent || t.coefficient < -max_extent) return false;
    m_terms[m_count++] = t;
    return true;
  }
  bool add(std::int64_t n) { return n == 0 || add({n, 0, {no_length, no_length, no_length}}); }

  /// Makes it a number of a tensor, which is `stored` where it has no terms.
  bool read(const tensor_info& t, int number, std::int64_t stored) {
    const term_list terms = t.terms();
    bool follows = false;
    for (int i = 0; i < terms.size(); ++i) {
      if (terms[i].number != number) continue;
      follows = true;
      if (!add(terms[i])) return false;
    }
    return follows || add(stored);
  }
  /// Adds the product of two others; false where that has products of more than three lengths.
  bool multiply(const growing_number& a, const growing_number& b) {
    for (int i = 0; i < a.m_count; ++i) {
      for (int k = 0; k < b.m_count; ++k) {
        length_term product;
        if (!multiply(a.m_terms[i], b.m_terms[k], product) || !add(product)) return false;
      }
    }
    return true;
  }
  /// Gives its value; false where a term is beyond all numbers of a file.
  bool value(length_values lengths, std::int64_t& sum) const {
    sum = 0;
    for (int i = 0; i < m_count; ++i) {
      std::int64_t v = m_terms[i].coefficient;
      for (const std::uint8_t l : m_terms[i].factors) {
        if (l == no_length) continue;
        if (lengths[l] != 0 && (v > max_extent / lengths[l] || v < -max_extent / lengths[l])) return false;
        v *= lengths[l];
      }
      sum += v;
    }
    return true;
  }
  /// Whether it is at least `n` for all lengths from `low` on: it is there, and grows as fast by each product.
  bool is_never_below(const growing_number& n, length_values low) const {
    for (int i = 0; i < n.m_count; ++i) {
      if (!n.m_terms[i].is_constant() && coefficient(n.m_terms[i]) < n.coefficient(n.m_terms[i])) return false;
    }
    std::int64_t own, other;
    return value(low, own) && n.value(low, other) && own >= other;
  }

  /// Makes it another one, with what lengths follow from linearly in their place; false where there are too many terms.
  bool expand(const variant_view& v, const growing_number& n) {
    for (int i = 0; i < n.m_count; ++i) {
      if (!add_expanded(v, n.m_terms[i])) return false;
    }
    return true;
  }
  /// Whether it is not negative for all lengths from `low` on: it grows with each, and is not negative there. The terms
  /// of one product may shrink where those of another one, with one length more, make up for them.
  bool is_never_negative(length_values low) const {
    const length_term* shrinking = nullptr;
    for (int i = 0; i < m_count; ++i) {
      const length_term& t = m_terms[i];
      if (t.is_constant() || coefficient(t) >= 0) continue;
      if ((shrinking && !shrinking->has_factors_of(t)) || !is_made_up(t, low)) return false;
      shrinking = &t;
    }
    std::int64_t lowest;
    return value(low, lowest) && lowest >= 0;
  }

 private:
  bool add_expanded(const variant_view& v, const length_term& t) {
    for (const std::uint8_t l : t.factors) {
      if (l == no_length || !v.length(l).is_linear()) continue;
      const length_view of = v.length(l);
      if (v.length(static_cast<int>(of.of())).is_linear()) continue;  // once in each other's place is enough
      const length_term others = without(t, l);
      const length_term times{of.times(), 0, {static_cast<std::uint8_t>(of.of()), no_length, no_length}},
          plus{of.plus(), 0, {no_length, no_length, no_length}};
      length_term first, second;
      return multiply(others, times, first) && multiply(others, plus, second) && add_expanded(v, first) &&
             add_expanded(v, second);
    }
    return add(t);
  }
  /// A term with one length less.
  static length_term without(const length_term& t, std::uint8_t length) {
    length_term rest{t.coefficient, 0, {no_length, no_length, no_length}};
    bool gone = false;
    for (int i = 0, n = 0; i < 3; ++i) {
      if (gone || t.factors[i] != length)
        rest.factors[n++] = t.factors[i];
      else
        gone = true;
    }
    return rest;
  }
  /// Whether the terms of a product with one length more are large enough, whatever that length is.
  bool is_made_up(const length_term& t, length_values low) const {
    for (int i = 0; i < m_count; ++i) {
      for (const std::uint8_t l : m_terms[i].factors) {
        if (l == no_length || low[l] <= 0 || !without(m_terms[i], l).has_factors_of(t)) continue;
        const std::int64_t more = coefficient(m_terms[i]);
        if (more >= 0 && (more > max_extent / low[l] || more * low[l] + coefficient(t) >= 0)) return true;
      }
    }
    return false;
  }
  std::int64_t coefficient(const length_term& of) const {
    std::int64_t sum = 0;
    for (int i = 0; i < m_count; ++i) {
      if (m_terms[i].has_factors_of(of)) sum += m_terms[i].coefficient;
    }
    return sum;
  }
  /// Factors are in rising order; absent ones are behind all others.
  static bool multiply(const length_term& a, const length_term& b, length_term& product) {
    const std::int64_t size = a.coefficient < 0 ? -a.coefficient : a.coefficient;
    if (size != 0 && (b.coefficient > max_extent / size || b.coefficient < -max_extent / size)) return false;
    product = {a.coefficient * b.coefficient, 0, {no_length, no_length, no_length}};
    int i = 0, k = 0;
    for (int n = 0;; ++n) {
      const int next_a = i < 3 ? a.factors[i] : no_length, next_b = k < 3 ? b.factors[k] : no_length,
                next = next_a < next_b ? next_a : next_b;
      if (next == no_length) return true;
      if (n == 3) return false;
      product.factors[n] = static_cast<std::uint8_t>(next);
      (next_a < next_b ? i : k) += 1;
    }
  }

  length_term m_terms[capacity];
  int m_count = 0;
};

/// Whether each element of a tensor has a place of its own for all lengths from `low` on, as it has at the bounds: each
/// stride steps over all that is inside it.
NSK_COLD inline bool places_stay_apart(const tensor_info& t, length_values low) {
  const tensor_view v = t.view(nullptr);
  int order[max_rank], count = 0;  // dimensions by falling stride
  for (int d = 0; d < v.rank; ++d) {
    const bool row = v.rank >= 3 && d == v.rank - 3, pixel = v.rank >= 3 && d == v.rank - 2;
    const int border = row ? v.border.top + v.border.bottom : pixel ? v.border.left + v.border.right : 0;
    if (v.shape[d] == 1 && border == 0) continue;
    int at = count++;
    for (; at > 0 && v.stride[order[at - 1]] < v.stride[d]; --at) order[at] = order[at - 1];
    order[at] = d;
  }
  growing_number inside;
  if (!inside.add(1)) return false;
  for (int i = count; i-- > 0;) {
    const int d = order[i];
    growing_number stride, length, next;
    if (!stride.read(t, first_stride_number + d, v.stride[d]) || !length.read(t, d, v.shape[d])) return false;
    if (v.rank >= 3 && d == v.rank - 3 && !length.add(v.border.top + v.border.bottom)) return false;
    if (v.rank >= 3 && d == v.rank - 2 && !length.add(v.border.left + v.border.right)) return false;
    if (!stride.is_never_below(inside, low)) return false;
    if (i > 0 && !next.multiply(stride, length)) return false;  // nothing is outside the first one
    inside = next;
  }
  return true;
}

/// Whether two tensors have the same terms.
NSK_COLD inline bool same_terms(const tensor_info& a, const tensor_info& b) {
  const term_list x = a.terms(), y = b.terms();
  bool same = x.size() == y.size();
  for (int i = 0; same && i < x.size(); ++i)
    same = x[i].number == y[i].number && x[i].coefficient == y[i].coefficient && x[i].has_factors_of(y[i]);
  return same;
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
