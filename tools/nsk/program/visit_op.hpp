// SPDX-License-Identifier: MIT
#pragma once
/// From an operator that is known when nsk runs to one that is known when it is compiled.
#include <type_traits>
#include <netsuke/format/op.hpp>
#include "errors.hpp"

namespace nsk::tool {

/// Returns f(std::integral_constant<op, kind>). `kind` is that of a step, which is never none.
template <class F>
auto visit_op(op kind, F&& f) {
  switch (kind) {
#define NSK_VISIT(name, Table) \
  case op::name: return f(std::integral_constant<op, op::name>());
    NSK_OP_LIST(NSK_VISIT)
#undef NSK_VISIT
    case op::none: break;
  }
  refuse("a step has no operator: report this");
}

}
