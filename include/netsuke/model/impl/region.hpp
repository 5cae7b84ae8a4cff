// SPDX-License-Identifier: MIT
#pragma once
/// The set of bytes that a strided tensor covers, border included, and what can be proven about two of them in one
/// buffer.
///
/// A region is a base and up to seven (stride, length) pairs in bytes, outermost first, the innermost one being the
/// bytes of an element; neighbours that continue each other are merged. Two regions are compared digit by digit: the
/// strides of both, where each is a multiple of the next, are the digits of a mixed-radix number, and a region is one
/// interval per digit. Where that fails nothing is claimed, and the verifier refuses: it errs on the safe side.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/core/tensor.hpp>

NSK_BEGIN
namespace impl {

struct region {
  static constexpr int max_dims = max_rank + 1;
  std::int64_t base = 0;
  int dims = 0;
  std::int64_t stride[max_dims] = {}, length[max_dims] = {};

  std::int64_t bytes() const {
    std::int64_t n = 1;
    for (int i = 0; i < dims; ++i) n *= length[i];
    return n;
  }
  /// One past the last byte.
  std::int64_t end() const {
    std::int64_t last = base;
    for (int i = 0; i < dims; ++i) last += stride[i] * (length[i] - 1);
    return last + 1;
  }
  /// Whether no byte is covered twice: each stride steps over all that is inside it.
  bool injective() const {
    std::int64_t inside = 1;
    for (int i = dims; i-- > 0;) {
      if (stride[i] < inside) return false;
      inside += stride[i] * (length[i] - 1);
    }
    return true;
  }
  void insert(std::int64_t step, std::int64_t count) {
    int at = dims++;
    for (; at > 0 && stride[at - 1] < step; --at) {
      stride[at] = stride[at - 1];
      length[at] = length[at - 1];
    }
    stride[at] = step;
    length[at] = count;
  }
  void merge() {
    int kept = 0;
    for (int i = 0; i < dims; ++i) {
      if (length[i] == 1) continue;
      if (kept > 0 && stride[kept - 1] == stride[i] * length[i]) {
        stride[kept - 1] = stride[i];
        length[kept - 1] *= length[i];
      } else {
        stride[kept] = stride[i];
        length[kept++] = length[i];
      }
    }
    dims = kept;
  }
};

/// Returns the region of a tensor whose element at index 0 is `offset` bytes behind the buffer's start. `repeats`
/// tells whether a stride of 0 repeats an element.
inline region region_of(const tensor_view& t, std::int64_t offset, bool& repeats) {
  region r;
  r.base = offset;
  repeats = false;
  const std::int64_t size = size_of(t.type);
  r.insert(1, size);
  for (int d = 0; d < t.rank; ++d) {
    std::int64_t length = t.shape[d], step = t.stride[d] * size, before = 0;
    if (t.rank >= 3 && d == t.rank - 3) {
      before = t.border.top;
      length += t.border.top + t.border.bottom;
    } else if (t.rank >= 3 && d == t.rank - 2) {
      before = t.border.left;
      length += t.border.left + t.border.right;
    }
    if (length == 1) continue;
    if (step == 0) {
      repeats = true;
      continue;
    }
    r.base -= before * step;
    if (step < 0) {
      r.base += step * (length - 1);
      step = -step;
    }
    r.insert(step, length);
  }
  r.merge();
  return r;
}

/// Returns a region that contains `r` and whose strides nest: a stride that does not divide the next outer one (a slice
/// that takes every second of three channels) is refined to the common divisor, gaps included.
inline region nested(region r) {
  for (int i = 1; i < r.dims; ++i) {
    std::int64_t divisor = r.stride[i], rest = r.stride[i - 1] % divisor;
    while (rest != 0) {
      const std::int64_t next = divisor % rest;
      divisor = rest;
      rest = next;
    }
    r.length[i] = (r.length[i] - 1) * (r.stride[i] / divisor) + 1;
    r.stride[i] = divisor;
  }
  r.merge();
  return r;
}

/// Returns the interval from the first byte of `r` to its last.
inline region hull(const region& r) {
  region h;
  h.base = r.base;
  h.insert(1, r.end() - r.base);
  return h;
}

/// The digits that two regions have in common, outermost first.
struct radix {
  int digits = 0;
  std::int64_t stride[2 * region::max_dims + 1] = {};

  /// False where a stride is no multiple of the next smaller one.
  bool init(const region& a, const region& b) {
    int i = 0, k = 0;
    while (i < a.dims || k < b.dims) {
      const bool from_a = k >= b.dims || (i < a.dims && a.stride[i] >= b.stride[k]);
      const std::int64_t s = from_a ? a.stride[i++] : b.stride[k++];
      if (digits > 0 && stride[digits - 1] == s) continue;
      if (digits > 0 && stride[digits - 1] % s != 0) return false;
      stride[digits++] = s;
    }
    if (digits == 0 || stride[digits - 1] != 1) stride[digits++] = 1;
    return true;
  }
  /// Number of values of a digit; the outermost has no limit.
  std::int64_t values(int digit) const {
    return digit == 0 ? std::int64_t{1} << 62 : stride[digit - 1] / stride[digit];
  }
};

/// One interval per digit.
struct digit_ranges {
  std::int64_t begin[2 * region::max_dims + 1] = {}, length[2 * region::max_dims + 1] = {};

  /// False where the region is not one interval of each digit.
  bool init(const region& r, const radix& x) {
    std::int64_t carried = 1;
    int dim = r.dims - 1;
    for (int i = x.digits - 1; i >= 0; --i) {
      const std::int64_t n = x.values(i);
      begin[i] = r.base / x.stride[i] % n;
      length[i] = carried;
      carried = 1;
      if (dim >= 0 && r.stride[dim] == x.stride[i]) {
        if (length[i] != 1) return false;
        length[i] = r.length[dim--];
      }
      if (length[i] > n) {
        if (begin[i] != 0 || length[i] % n != 0) return false;
        carried = length[i] / n;
        length[i] = n;
      }
      if (begin[i] + length[i] > n) return false;
    }
    return dim < 0;
  }
};

/// Returns how many bytes two regions share, -1 where that cannot be proven.
inline std::int64_t shared_bytes(const region& a, const region& b) {
  if (a.end() <= b.base || b.end() <= a.base) return 0;
  radix digits;
  digit_ranges p, q;
  if (!digits.init(a, b) || !p.init(a, digits) || !q.init(b, digits)) return -1;
  std::int64_t n = 1;
  for (int i = 0; i < digits.digits; ++i) {
    const std::int64_t begin = p.begin[i] > q.begin[i] ? p.begin[i] : q.begin[i];
    const std::int64_t p_end = p.begin[i] + p.length[i], q_end = q.begin[i] + q.length[i];
    const std::int64_t end = p_end < q_end ? p_end : q_end;
    if (end <= begin) return 0;
    n *= end - begin;
  }
  return n;
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
