// SPDX-License-Identifier: MIT
#pragma once
/// How much a step computes, from its shapes: the unit in which session::step(work) counts, equal on every machine.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/model/model.hpp>

NSK_BEGIN
namespace plan {

inline std::uint64_t saturating_multiply(std::uint64_t a, std::uint64_t b) {
  return b != 0 && a > ~std::uint64_t{0} / b ? ~std::uint64_t{0} : a * b;
}

/// Returns how many elements of the inputs enter one element of the output.
inline std::uint64_t taps_of(const step_view& s) {
  const window w = s.window();
  const auto area = static_cast<std::uint64_t>(w.kernel_h) * static_cast<std::uint64_t>(w.kernel_w);
  const auto last_length = [](const tensor_info& t) {
    return static_cast<std::uint64_t>(t.shape()[t.shape().size() - 1]);
  };
  switch (s.op()) {
    case op::conv_2d: return saturating_multiply(area, last_length(s.input(0)) / s.groups());
    case op::depthwise_conv_2d:
    case op::pool_2d: return area;
    case op::fully_connected:
    case op::recurrent:
    case op::mat_mul: return last_length(s.input(0));
    case op::resize_2d: return std::uint64_t{s.resize_2d()->row_taps()} * s.resize_2d()->column_taps();
    case op::reduce:
      return static_cast<std::uint64_t>(s.input(0).elements()) / static_cast<std::uint64_t>(s.output().elements());
    case op::arg_reduce:
    case op::top_k: return static_cast<std::uint64_t>(s.input(0).shape()[static_cast<std::size_t>(s.axis())]);
    case op::local_response_normalization: return s.local_response_normalization()->size();
    case op::tree_ensemble: return static_cast<std::uint64_t>(s.input(1).elements());
    case op::non_max_suppression: return static_cast<std::uint64_t>(s.input(0).elements());
    default: return 1;
  }
}

/// Returns the work of a whole step: its multiply-accumulates, or elements touched where it multiplies nothing. At
/// least 1.
inline std::uint64_t work_of(const step_view& s) {
  return saturating_multiply(static_cast<std::uint64_t>(s.output().elements()), taps_of(s));
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
