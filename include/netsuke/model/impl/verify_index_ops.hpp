// SPDX-License-Identifier: MIT
#pragma once
/// Rules of the operators on any element type, of those that compute or follow indices, and of normalisations.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/model/impl/verify_context.hpp>

NSK_BEGIN
namespace impl {

NSK_COLD inline bool is_plain(const tensor_info& t) { return t.arrangement() == packing::plain; }
/// A tensor that generic kernels can read: any type but float16.
NSK_COLD inline bool is_readable(const tensor_info& t) { return is_plain(t) && t.type() != dtype::float16; }
NSK_COLD inline bool is_index(const tensor_info& t) {
  return is_plain(t) && (t.type() == dtype::int32 || t.type() == dtype::int64);
}
/// What arg_reduce and top_k can order.
NSK_COLD inline bool is_ordered(const tensor_info& t) { return is_float(t) || is_index(t); }
NSK_COLD inline bool same_shapes(const tensor_info& a, const tensor_info& b) {
  return same_shape(a.view(nullptr), b.view(nullptr));
}
inline status_code accepted(bool good) { return good ? status_code::ok : status_code::bad_step; }

inline status_code verify_cast(const step_view& s) {
  const tensor_info x = s.input(0), y = s.output();
  return accepted(is_readable(x) && y.type() != dtype::float16 && same_shapes(x, y));
}

inline status_code verify_compare(const step_view& s) {
  const tensor_info a = s.input(0), b = s.input(1), y = s.output();
  return accepted(s.compare()->kind() <= format::CompareKind::MAX && is_readable(a) && is_readable(b) &&
                  a.type() == b.type() && y.type() == dtype::boolean && same_shapes(a, y) && same_shapes(b, y));
}

inline status_code verify_select(const step_view& s) {
  const tensor_info condition = s.input(0), a = s.input(1), b = s.input(2), y = s.output();
  return accepted(is_plain(condition) && is_plain(a) && is_plain(b) && condition.type() == dtype::boolean &&
                  a.type() == y.type() && b.type() == y.type() && same_shapes(condition, y) && same_shapes(a, y) &&
                  same_shapes(b, y));
}

inline status_code verify_arithmetic(const step_view& s) {
  const tensor_info a = s.input(0), b = s.input(1), y = s.output();
  const format::ArithmeticKind kind = s.arithmetic()->kind();
  const bool bits = kind >= format::ArithmeticKind::bit_and && kind <= format::ArithmeticKind::MAX;
  const bool typed = (is_index(y) && kind <= format::ArithmeticKind::MAX) || (y.type() == dtype::boolean && bits);
  return accepted(typed && is_plain(a) && is_plain(b) && a.type() == y.type() && b.type() == y.type() &&
                  same_shapes(a, y) && same_shapes(b, y));
}

/// Two tensors of one rank whose lengths agree in every dimension but `axis`; in the others `b` may be shorter where
/// `shorter` is set.
NSK_COLD inline bool agree_except(const tensor_info& a, const tensor_info& b, int axis, bool shorter = false) {
  if (a.rank() != b.rank() || axis < 0 || axis >= a.rank()) return false;
  for (int d = 0; d < a.rank(); ++d) {
    const auto i = static_cast<std::size_t>(d);
    if (d != axis && a.shape()[i] != b.shape()[i] && !(shorter && b.shape()[i] < a.shape()[i])) return false;
  }
  return true;
}

inline status_code verify_gather(const step_view& s) {
  const tensor_info data = s.input(0), indices = s.input(1), y = s.output();
  return accepted(is_plain(data) && is_index(indices) && data.type() == y.type() && agree_except(data, y, s.axis()) &&
                  indices.rank() == 1 && indices.shape()[0] == y.shape()[static_cast<std::size_t>(s.axis())]);
}

inline status_code verify_gather_elements(const step_view& s) {
  const tensor_info data = s.input(0), indices = s.input(1), y = s.output();
  return accepted(is_plain(data) && is_index(indices) && data.type() == y.type() &&
                  agree_except(data, y, s.axis(), true) && same_shapes(indices, y));
}

inline status_code verify_arg_reduce(const step_view& s) {
  const tensor_info x = s.input(0), y = s.output();
  return accepted(s.arg_reduce()->kind() <= format::ArgReduceKind::MAX && is_ordered(x) && y.type() == dtype::int64 &&
                  agree_except(x, y, s.axis()) && y.shape()[static_cast<std::size_t>(s.axis())] == 1);
}

inline status_code verify_top_k(const step_view& s) {
  const tensor_info x = s.input(0), y = s.output();
  if (!is_ordered(x) || y.type() != dtype::int64 || !agree_except(x, y, s.axis())) return status_code::bad_step;
  const auto axis = static_cast<std::size_t>(s.axis());
  return accepted(y.shape()[axis] <= x.shape()[axis]);
}

inline status_code verify_non_max_suppression(const step_view& s) {
  const tensor_info boxes = s.input(0), scores = s.input(1), y = s.output();
  if (!is_float(boxes) || !is_float(scores) || y.type() != dtype::int64) return status_code::bad_step;
  if (boxes.rank() != 3 || scores.rank() != 3 || y.rank() != 2) return status_code::bad_step;
  return accepted(boxes.shape()[0] == scores.shape()[0] && boxes.shape()[1] == scores.shape()[2] &&
                  boxes.shape()[2] == 4 && y.shape()[1] == 3);
}

/// A dense constant with one float per element of the last dimension of `y`.
NSK_COLD inline bool is_per_channel(const tensor_info& t, const tensor_info& y) {
  return t.where() == storage::constant && is_float(t) && t.rank() == 1 && is_dense(t.view(nullptr)) &&
         t.shape()[0] == y.shape()[y.shape().size() - 1];
}

inline status_code verify_layer_normalization(const step_view& s) {
  const tensor_info x = s.input(0), y = s.output();
  if (!is_float(x) || !is_float(y) || !same_shapes(x, y)) return status_code::bad_step;
  return is_per_channel(s.input(1), y) && is_per_channel(s.input(2), y) ? status_code::ok : status_code::bad_weights;
}

inline status_code verify_local_response_normalization(const step_view& s) {
  const tensor_info x = s.input(0), y = s.output();
  const std::uint32_t size = s.local_response_normalization()->size();
  return accepted(is_float_lines(x) && is_float_lines(y) && same_shapes(x, y) && size >= 1 && size <= 0xffff);
}

inline status_code verify_random(const step_view& s) {
  return accepted(is_float(s.output()) && s.random()->kind() <= format::RandomKind::MAX);
}

inline status_code verify_index_op(const step_view& s) {
  switch (s.op()) {
    case op::cast: return verify_cast(s);
    case op::compare: return verify_compare(s);
    case op::select: return verify_select(s);
    case op::arithmetic: return verify_arithmetic(s);
    case op::gather: return verify_gather(s);
    case op::gather_elements: return verify_gather_elements(s);
    case op::arg_reduce: return verify_arg_reduce(s);
    case op::top_k: return verify_top_k(s);
    case op::non_max_suppression: return verify_non_max_suppression(s);
    case op::layer_normalization: return verify_layer_normalization(s);
    case op::local_response_normalization: return verify_local_response_normalization(s);
    case op::random: return verify_random(s);
    default: return status_code::unknown_op;
  }
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
