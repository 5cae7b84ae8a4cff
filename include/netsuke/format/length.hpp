// SPDX-License-Identifier: MIT
#pragma once
/// Lengths: numbers that the caller chooses for a run, that a step of the run counts, and that follow from others.
/// Dimensions, strides and offsets of tensors follow lengths, so that one file holds a plan for each of them: a run
/// computes, with the same bits, what a file of exactly those shapes would. Memory is laid out for the bounds.
///
/// The rows of a batch (Variant.batch) are a length of their own kind: the only one of its file.
#include <netsuke/core/hide_macros.hpp>
#include <cstdint>
#include <netsuke/format/impl/read_params.hpp>

NSK_BEGIN
/// The lengths of a run, by their numbers; null where all are at their bounds.
using length_values = const std::int32_t*;

/// Maximum number of lengths of a variant.
inline constexpr int max_lengths = 24;

/// A length as a file states it. A view: valid as long as the file's bytes.
class length_view {
 public:
  explicit length_view(const format::Length* length) : m_length(length) {}

  /// Empty where it follows from another length.
  const char* name() const { return impl::text(m_length->name()); }
  bool is_chosen() const { return m_length->divide() == 0 && !is_counted(); }
  /// Whether it is the element of a tensor, behind the step that writes it; and the number of that tensor.
  bool is_counted() const { return m_length->counted() != 0; }
  std::uint32_t counted_tensor() const { return m_length->counted() - 1; }
  std::int32_t minimum() const { return static_cast<std::int32_t>(m_length->minimum()); }
  std::int32_t bound() const { return static_cast<std::int32_t>(m_length->bound()); }
  /// The caller chooses multiples of it.
  std::int32_t step() const { return static_cast<std::int32_t>(m_length->step()); }
  /// Whether the lengths that it follows from are among the first `count`.
  bool follows_earlier(std::uint32_t count) const { return m_length->of() < count && m_length->also() <= count; }
  /// Whether it is times * the length `of` + plus, of one length and undivided.
  bool is_linear() const { return m_length->divide() == 1 && m_length->also() == 0; }
  std::uint32_t of() const { return m_length->of(); }
  std::int64_t times() const { return m_length->times(); }
  std::int64_t plus() const { return m_length->plus(); }
  /// Which lengths it follows from, where each length before it has a set of those.
  std::uint32_t sources(const std::uint32_t* before) const {
    return before[m_length->of()] | (m_length->also() == 0 ? 0U : before[m_length->also() - 1]);
  }
  /// Its value for those of the lengths before it.
  std::int32_t following(length_values before) const {
    return static_cast<std::int32_t>(sum(before) / m_length->divide());
  }
  /// Whether following() is `expected`, and was computed without overflow; of files that are not verified.
  bool follows_within(length_values before, std::int32_t expected) const {
    if (m_length->times() > 0xffff || m_length->divide() > 0x7fffffff) return false;
    const std::int64_t n = sum(before);
    return n >= 0 && n / m_length->divide() == expected;
  }

 private:
  std::int64_t sum(length_values before) const {
    const std::int64_t second = m_length->also() == 0 ? 0 : before[m_length->also() - 1];
    return before[m_length->of()] * std::int64_t{m_length->times()} + second + m_length->plus();
  }

  const format::Length* m_length;
};

namespace impl {

inline constexpr int no_length = 255;
/// Numbers of a tensor that terms name.
inline constexpr int first_stride_number = 6, offset_number = 12;

/// A part of a number of a tensor: a coefficient times up to three lengths.
struct length_term {
  std::int64_t coefficient;
  int number;
  std::uint8_t factors[3];

  bool is_constant() const { return (factors[0] & factors[1] & factors[2]) == no_length; }
  bool has_factors_of(const length_term& t) const {
    return factors[0] == t.factors[0] && factors[1] == t.factors[1] && factors[2] == t.factors[2];
  }
  std::int64_t value(length_values lengths) const {
    std::int64_t v = coefficient;
    for (const std::uint8_t l : factors) {
      if (l != no_length) v *= lengths[l];
    }
    return v;
  }
};

/// The terms of a tensor: of the numbers that follow lengths, by rising number.
class term_list {
 public:
  explicit term_list(const flatbuffers::Vector<const format::Term*>* terms) : m_terms(terms) {}
  int size() const { return static_cast<int>(count_of(m_terms)); }
  length_term operator[](int i) const {
    const format::Term& t = *m_terms->Get(static_cast<std::uint32_t>(i));
    return {t.coefficient(), t.number(), {t.a(), t.b(), t.c()}};
  }

 private:
  const flatbuffers::Vector<const format::Term*>* m_terms;
};

/// Shape, strides and offset of a tensor for some lengths.
struct tensor_numbers {
  std::int32_t* shape;
  std::ptrdiff_t* stride;
  std::int64_t offset;

  /// Replaces the numbers that have terms by their sums.
  void follow(const term_list& terms, length_values lengths) {
    int number = -1;
    std::int64_t sum = 0;
    for (int i = 0; i < terms.size(); ++i) {
      const length_term t = terms[i];
      sum = (t.number == number ? sum : 0) + t.value(lengths);
      number = t.number;
      if (number < first_stride_number)
        shape[number] = static_cast<std::int32_t>(sum);
      else if (number < offset_number)
        stride[number - first_stride_number] = static_cast<std::ptrdiff_t>(sum);
      else
        offset = sum;
    }
  }
};

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
