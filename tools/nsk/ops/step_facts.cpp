// SPDX-License-Identifier: MIT
#include "ops/step_facts.hpp"
#include "program/visit_op.hpp"
#include "write/schema.hpp"

namespace nsk::tool {
namespace {

// Each fact of parameters that have it; the second overload is for those that have not.
template <class Params>
auto window_in(const Params& p, int) -> decltype(std::optional<window>(p.w)) {
  return p.w;
}
template <class Params>
std::optional<window> window_in(const Params&, long) {
  return std::nullopt;
}
template <class Params>
auto variety_in(const Params& p, int) -> decltype(name_of_kind(p.kind)) {
  return name_of_kind(p.kind);
}
std::string variety_in(const conv_2d_params& p, int) { return name_of_kind(p.algorithm); }
template <class Params>
std::string variety_in(const Params&, long) {
  return "";
}

}

std::optional<window> window_of(const step_view& s) {
  return visit_op(s.op(), [&](auto o) { return window_in(s.params<o>(), 0); });
}

std::string variety_of(const step_view& s) {
  return visit_op(s.op(), [&](auto o) { return variety_in(s.params<o>(), 0); });
}

conv_algorithm algorithm_of(const step_view& s) {
  return s.op() == op::conv_2d ? s.params<op::conv_2d>().algorithm : conv_algorithm::direct;
}

int groups_of(const step_view& s) { return s.op() == op::conv_2d ? s.params<op::conv_2d>().groups : 1; }

}
