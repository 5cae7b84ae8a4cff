// SPDX-License-Identifier: MIT
#include "ops/impl/work_kinds.hpp"
#include "ops/step_facts.hpp"

namespace nsk::tool {

bool is_costly(function f) {
  switch (f) {
    case function::sigmoid:
    case function::silu:
    case function::tanh:
    case function::exp:
    case function::log:
    case function::erf:
    case function::gelu:
    case function::elu:
    case function::softplus:
    case function::sin:
    case function::cos:
    case function::asin:
    case function::acos:
    case function::atan:
    case function::sinh:
    case function::cosh:
    case function::asinh:
    case function::acosh:
    case function::atanh: return true;
    default: return false;
  }
}

std::string kind_of_product(const step_view& s, const tile_space& space) {
  if (algorithm_of(s) != conv_algorithm::direct) return variety_of(s);
  if (groups_of(s) > 1) return "grouped";
  if (space.rows * space.pixels < gemv_rows) return work_kinds::gemv;
  const std::optional<window> w = window_of(s);
  return w && w->kernel_h * w->kernel_w > 1 ? "conv" : work_kinds::pointwise;
}

std::string kind_of_move(const step_view& s) {
  constexpr int min_run = 4;  // neighbours of the result that are neighbours in what a copy reads
  if (s.op() != op::copy) return "copy";
  for (const tensor_info& t : {s.input(0), s.output()})
    if (t.strides()[t.strides().size() - 1] != 1 || t.shape()[t.shape().size() - 1] < min_run) return "shuffle";
  return "copy";
}

}
