// SPDX-License-Identifier: MIT
/// Operators that pick elements by index or by rank: gathering, scattering, TopK and their like.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "reference/operators.hpp"

namespace nsk::tool::reference {
namespace {

using i64 = std::int64_t;

/// An index into an axis of `length`, counted from the end where negative; refuses others.
i64 checked_index(const call& c, i64 index, i64 length) {
  if (index < -length || index >= length)
    c.fail_on_data("index " + std::to_string(index) + " is outside an axis of length " + std::to_string(length));
  return index < 0 ? index + length : index;
}

void require_indices(const call& c, std::size_t i) {
  c.require(is_integer(c.type(i)), "the indices must be of an integer type");
}

// Gather: y = x[..., indices, ...].

void infer_gather(call& c) {
  c.require_inputs(2, 2);
  require_indices(c, 1);
  const std::size_t axis = c.axis(c.op().integer("axis", 0), c.rank(0));
  shape_t shape = c.shape(0);
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), c.shape(1).begin(), c.shape(1).end());
  c.declare(0, c.type(0), shape);
}

void evaluate_gather(call& c) {
  const std::size_t axis = c.axis(c.op().integer("axis", 0), c.rank(0));
  const i64 length = c.shape(0)[axis], outer = count_between(c.shape(0), 0, axis),
            inner = count_between(c.shape(0), axis + 1, c.rank(0));
  i64 to = 0;
  for (i64 o = 0; o < outer; ++o)
    for (i64 i = 0; i < count_of(c.shape(1)); ++i, to += inner) {
      const i64 from = o * length + checked_index(c, c.integers(1)[i], length);
      copy_elements(c.data(0), from * inner, c.out(0), to, inner);
    }
}

// GatherElements, ScatterElements: indices have the output's, or the updates', own shape.

/// Calls f(i, offset) for each index: i in the index tensor, offset in the tensor of shape `shape` that it points into.
template <class F>
void for_each_element(const call& c, const shape_t& shape, std::size_t indices, F f) {
  const std::size_t axis = c.axis(c.op().integer("axis", 0), shape.size());
  shape_t stride = strides_of(shape);
  const i64 along = stride[axis];
  stride[axis] = 0;
  for_each_offset(c.shape(indices), stride,
                  [&](i64 i, i64 at) { f(i, at + checked_index(c, c.integers(indices)[i], shape[axis]) * along); });
}

void require_elements(const call& c, std::size_t indices) {
  require_indices(c, indices);
  const std::size_t axis = c.axis(c.op().integer("axis", 0), c.rank(0));
  c.require(c.rank(indices) == c.rank(0), "the indices must have as many dimensions as the data");
  for (std::size_t d = 0; d < c.rank(0); ++d)
    c.require(d == axis || c.shape(indices)[d] <= c.shape(0)[d], "the indices are longer than the data");
}

void infer_gather_elements(call& c) {
  c.require_inputs(2, 2);
  require_elements(c, 1);
  c.declare(0, c.type(0), c.shape(1));
}

void evaluate_gather_elements(call& c) {
  by_type(c.out(0).type, [&](auto* tag) {
    using T = pointee<decltype(tag)>;
    for_each_element(c, c.shape(0), 1, [&](i64 i, i64 at) { c.out(0).as<T>()[i] = c.data(0).as<T>()[at]; });
  });
}

/// y = y or x, combined as attribute 'reduction' says.
template <class T>
T combine(const std::string& reduction, T y, T x) {
  if (reduction == "add") return plus(y, x);
  if (reduction == "mul") return times(y, x);
  if (reduction == "max") return std::max(y, x);
  if (reduction == "min") return std::min(y, x);
  return x;
}

void require_scatter(const call& c) {
  c.require(c.type(2) == c.type(0), "the updates must have the data's type");
  const std::string reduction = c.op().text("reduction", "none");
  c.require(reduction == "none" || reduction == "add" || reduction == "mul" || reduction == "max" || reduction == "min",
            "attribute 'reduction' has an unknown value");
}

void infer_scatter_elements(call& c) {
  c.require_inputs(3, 3);
  require_elements(c, 1);
  require_scatter(c);
  c.require(c.shape(2) == c.shape(1), "the updates must have the indices' shape");
  c.declare(0, c.type(0), c.shape(0));
}

void evaluate_scatter_elements(call& c) {
  const std::string reduction = c.op().text("reduction", "none");
  c.out(0).data = c.data(0).data;
  by_type(c.out(0).type, [&](auto* tag) {
    using T = pointee<decltype(tag)>;
    T* y = c.out(0).as<T>();
    for_each_element(c, c.shape(0), 1, [&](i64 i, i64 at) { y[at] = combine(reduction, y[at], c.data(2).as<T>()[i]); });
  });
}

// GatherND, ScatterND: the last axis of the indices holds coordinates.

/// Offset, in elements, of the slice that coordinates `k` of the indices name; `shape` begins at the first indexed
/// axis.
i64 slice_offset(const call& c, const i64* k, i64 depth, const shape_t& shape) {
  const shape_t stride = strides_of(shape);
  i64 offset = 0;
  for (i64 d = 0; d < depth; ++d)
    offset += checked_index(c, k[d], shape[static_cast<std::size_t>(d)]) * stride[static_cast<std::size_t>(d)];
  return offset;
}

void infer_gather_nd(call& c) {
  c.require_inputs(2, 2);
  require_indices(c, 1);
  const shape_t &x = c.shape(0), &k = c.shape(1);
  const i64 batch = c.op().integer("batch_dims", 0);
  c.require(!x.empty() && !k.empty() && batch >= 0 && batch < static_cast<i64>(std::min(x.size(), k.size())),
            "attribute 'batch_dims' is out of range");
  c.require(k.back() >= 1 && k.back() <= static_cast<i64>(x.size()) - batch, "the indices have too many coordinates");
  for (i64 d = 0; d < batch; ++d)
    c.require(x[static_cast<std::size_t>(d)] == k[static_cast<std::size_t>(d)], "the batch dimensions differ");
  shape_t shape(k.begin(), k.end() - 1);
  shape.insert(shape.end(), x.begin() + static_cast<std::ptrdiff_t>(batch + k.back()), x.end());
  c.declare(0, c.type(0), shape);
}

void evaluate_gather_nd(call& c) {
  const shape_t &x = c.shape(0), &k = c.shape(1);
  const auto batch = static_cast<std::size_t>(c.op().integer("batch_dims", 0));
  const i64 depth = k.back(), batches = count_between(k, 0, batch), per_batch = count_between(k, batch, k.size() - 1);
  const shape_t inner(x.begin() + static_cast<std::ptrdiff_t>(batch), x.end());
  const i64 block = count_of(inner), length = count_between(inner, static_cast<std::size_t>(depth), inner.size());
  for (i64 i = 0; i < batches * per_batch; ++i) {
    const i64 from = i / per_batch * block + slice_offset(c, c.integers(1) + i * depth, depth, inner);
    copy_elements(c.data(0), from, c.out(0), i * length, length);
  }
}

void infer_scatter_nd(call& c) {
  c.require_inputs(3, 3);
  require_indices(c, 1);
  require_scatter(c);
  const shape_t &x = c.shape(0), &k = c.shape(1);
  c.require(!k.empty() && k.back() >= 1 && k.back() <= static_cast<i64>(x.size()),
            "the indices have too many coordinates");
  shape_t updates(k.begin(), k.end() - 1);
  updates.insert(updates.end(), x.begin() + static_cast<std::ptrdiff_t>(k.back()), x.end());
  c.require(c.shape(2) == updates, "the updates have a wrong shape");
  c.declare(0, c.type(0), x);
}

void evaluate_scatter_nd(call& c) {
  const std::string reduction = c.op().text("reduction", "none");
  const shape_t &x = c.shape(0), &k = c.shape(1);
  const i64 depth = k.back(), count = count_between(k, 0, k.size() - 1),
            length = count_between(x, static_cast<std::size_t>(depth), x.size());
  c.out(0).data = c.data(0).data;
  by_type(c.out(0).type, [&](auto* tag) {
    using T = pointee<decltype(tag)>;
    for (i64 i = 0; i < count; ++i) {
      T* y = c.out(0).as<T>() + slice_offset(c, c.integers(1) + i * depth, depth, x);
      for (i64 j = 0; j < length; ++j) y[j] = combine(reduction, y[j], c.data(2).as<T>()[i * length + j]);
    }
  });
}

// TopK: k is an attribute before opset 10.

i64 top_count(const call& c) { return c.op().version < 10 ? c.op().integer("k", 0) : c.integer_scalar(1); }

void infer_top_k(call& c) {
  c.require_inputs(c.op().version < 10 ? 1 : 2, 2);
  const std::size_t axis = c.axis(c.op().integer("axis", -1), c.rank(0));
  shape_t shape = c.shape(0);
  const i64 k = top_count(c);
  c.require(k >= 0 && k <= shape[axis], "k is negative or longer than the axis");
  shape[axis] = k;
  c.declare(0, c.type(0), shape);
  c.declare(1, element::i64, shape);
}

/// Sorted by value, NaN above all numbers, as in ONNX Runtime; of equal values the one with the lower index comes
/// first.
void evaluate_top_k(call& c) {
  const std::size_t axis = c.axis(c.op().integer("axis", -1), c.rank(0));
  const i64 k = top_count(c);
  const bool largest = c.op().integer("largest", 1) != 0;
  by_type(c.data(0).type, [&](auto* tag) {
    using T = pointee<decltype(tag)>;
    i64 line = 0;
    for_each_line(c.shape(0), axis, [&](i64 first, i64 stride, i64 length) {
      const T* x = c.data(0).as<T>() + first;
      std::vector<i64> order(static_cast<std::size_t>(length));
      std::iota(order.begin(), order.end(), 0);
      const auto less = [](T a, T b) { return b != b ? a == a : a < b; };
      std::stable_sort(order.begin(), order.end(), [&](i64 a, i64 b) {
        return largest ? less(x[b * stride], x[a * stride]) : less(x[a * stride], x[b * stride]);
      });
      for (i64 i = 0; i < k; ++i) {
        const i64 at = (line / stride * k + i) * stride + line % stride, from = order[static_cast<std::size_t>(i)];
        if (c.wants(0)) c.out(0).as<T>()[at] = x[from * stride];
        if (c.wants(1)) c.out_integers(1)[at] = from;
      }
      ++line;
    });
  });
}

double work_of_top_k(call& c) {
  const auto length = static_cast<double>(c.shape(0)[c.axis(c.op().integer("axis", -1), c.rank(0))]);
  return 8 * as_work(count_of(c.shape(0))) * std::log2(length + 2);
}

// NonZero, OneHot, Compress, Trilu, ReverseSequence.

/// Results where their number is bounded and nothing is evaluated; -1 where it is counted.
i64 bound_of(call& c) { return knows_all(c) ? -1 : c.op().integer(suppression_bound, -1); }

void infer_non_zero(call& c) {
  c.require_inputs(1, 1);
  if (bound_of(c) >= 0) return c.declare(0, element::i64, {static_cast<i64>(c.rank(0)), bound_of(c)});
  i64 count = 0;
  for (i64 i = 0; i < c.data(0).count(); ++i) count += c.data(0).number(i) != 0 ? 1 : 0;
  c.declare(0, element::i64, {static_cast<i64>(c.rank(0)), count});
}

void evaluate_non_zero(call& c) {
  const shape_t stride = strides_of(c.shape(0));
  std::fill_n(c.out_integers(), c.out(0).count(), -1);
  i64 found = 0;
  for (i64 i = 0; i < c.data(0).count(); ++i) {
    if (c.data(0).number(i) == 0) continue;
    for (std::size_t d = 0; d < stride.size(); ++d)
      c.out_integers()[static_cast<i64>(d) * c.out_shape(0)[1] + found] = i / stride[d] % c.shape(0)[d];
    ++found;
  }
}

void infer_one_hot(call& c) {
  c.require_inputs(3, 3);
  c.require(c.shape(2) == shape_t{2}, "the values must be [off, on]");
  const double depth = c.scalar(1);
  c.require(depth >= 0 && depth < 2147483648.0, "the depth is negative or too large");
  shape_t shape = c.shape(0);
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(c.axis(c.op().integer("axis", -1), c.rank(0) + 1)),
               static_cast<i64>(depth));
  c.declare(0, c.type(2), shape);
}

void evaluate_one_hot(call& c) {
  const std::size_t axis = c.axis(c.op().integer("axis", -1), c.rank(0) + 1);
  const i64 depth = c.out_shape(0)[axis], inner = count_between(c.out_shape(0), axis + 1, c.rank(0) + 1);
  for (i64 i = 0; i < c.out(0).count(); ++i) {
    const i64 index = c.data(0).integer(i / (inner * depth) * inner + i % inner);
    const bool on = (index < 0 ? index + depth : index) == i / inner % depth;
    c.out(0).set(i, c.data(2).number(on ? 1 : 0));
  }
}

void infer_compress(call& c) {
  c.require_inputs(2, 2);
  c.require_rank(1, 1, 1);
  c.require(c.type(1) == element::boolean, "the condition must be bool");
  const bool flat = !c.op().has("axis");
  const std::size_t axis = flat ? 0 : c.axis(c.op().integer("axis", 0), c.rank(0));
  shape_t shape = flat ? shape_t{count_of(c.shape(0))} : c.shape(0);
  c.require(c.shape(1)[0] <= shape[axis], "the condition is longer than the axis");
  i64 kept = std::max<i64>(bound_of(c), 0);
  for (i64 i = 0; bound_of(c) < 0 && i < c.shape(1)[0]; ++i) kept += c.data(1).integer(i);
  shape[axis] = kept;
  c.declare(0, c.type(0), shape);
}

void evaluate_compress(call& c) {
  const bool flat = !c.op().has("axis");
  const std::size_t axis = flat ? 0 : c.axis(c.op().integer("axis", 0), c.rank(0));
  const shape_t shape = flat ? shape_t{count_of(c.shape(0))} : c.shape(0);
  const i64 inner = count_between(shape, axis + 1, shape.size());
  for (i64 o = 0; o < count_between(shape, 0, axis); ++o) {
    i64 to = o * c.out_shape(0)[axis] * inner;
    for (i64 i = 0; i < c.shape(1)[0]; ++i) {
      if (c.data(1).integer(i) == 0) continue;
      copy_elements(c.data(0), (o * shape[axis] + i) * inner, c.out(0), to, inner);
      to += inner;
    }
  }
}

void infer_trilu(call& c) {
  c.require_inputs(1, 2);
  c.require(c.rank(0) >= 2, "the input must be a matrix or a batch of them");
  c.declare(0, c.type(0), c.shape(0));
}

void evaluate_trilu(call& c) {
  const bool upper = c.op().integer("upper", 1) != 0;
  const i64 k = c.has(1) ? c.integer_scalar(1) : 0, rows = c.shape(0)[c.rank(0) - 2], columns = c.shape(0).back();
  by_type(c.out(0).type, [&](auto* tag) {
    using T = pointee<decltype(tag)>;
    for (i64 i = 0; i < c.out(0).count(); ++i) {
      const i64 diagonal = i % columns - i / columns % rows;
      if (upper ? diagonal >= k : diagonal <= k) c.out(0).as<T>()[i] = c.data(0).as<T>()[i];
    }
  });
}

void infer_reverse_sequence(call& c) {
  c.require_inputs(2, 2);
  const std::size_t batch = c.axis(c.op().integer("batch_axis", 1), c.rank(0)),
                    time = c.axis(c.op().integer("time_axis", 0), c.rank(0));
  c.require(batch + time == 1, "batch_axis and time_axis must be 0 and 1");
  require_indices(c, 1);
  c.require(c.shape(1) == shape_t{c.shape(0)[batch]}, "there must be one length per sequence");
  c.declare(0, c.type(0), c.shape(0));
}

void evaluate_reverse_sequence(call& c) {
  const std::size_t batch = c.axis(c.op().integer("batch_axis", 1), c.rank(0)), time = 1 - batch;
  const shape_t stride = strides_of(c.shape(0));
  by_type(c.out(0).type, [&](auto* tag) {
    using T = pointee<decltype(tag)>;
    for (i64 i = 0; i < c.out(0).count(); ++i) {
      const i64 t = i / stride[time] % c.shape(0)[time], length = c.integers(1)[i / stride[batch] % c.shape(0)[batch]];
      c.require(length >= 0 && length <= c.shape(0)[time], "a length is out of range");
      c.out(0).as<T>()[i] = c.data(0).as<T>()[t < length ? i + (length - 1 - 2 * t) * stride[time] : i];
    }
  });
}

}

void add_selection(table& t) {
  t["Gather"] = {infer_gather, evaluate_gather};
  t["GatherElements"] = {infer_gather_elements, evaluate_gather_elements, 11};
  t["GatherND"] = {infer_gather_nd, evaluate_gather_nd, 11};
  t["Scatter"] = {infer_scatter_elements, evaluate_scatter_elements, 9};
  t["ScatterElements"] = {infer_scatter_elements, evaluate_scatter_elements, 11};
  t["ScatterND"] = {infer_scatter_nd, evaluate_scatter_nd, 11};
  t["TopK"] = {infer_top_k, evaluate_top_k, 1, work_of_top_k};
  t["NonZero"] = {infer_non_zero, evaluate_non_zero, 9};
  t["OneHot"] = {infer_one_hot, evaluate_one_hot, 9};
  t["Compress"] = {infer_compress, evaluate_compress, 9};
  t["Trilu"] = {infer_trilu, evaluate_trilu, 14};
  t["ReverseSequence"] = {infer_reverse_sequence, evaluate_reverse_sequence, 10};
}

}
