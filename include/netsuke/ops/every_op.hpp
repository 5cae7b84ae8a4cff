// SPDX-License-Identifier: MIT
#pragma once
/// Every operator's file, and the questions that can be asked of a step without knowing its operator.
#include <netsuke/core/hide_macros.hpp>
#include <netsuke/ops/generated/op_files.hpp>
#include <netsuke/ops/op_traits.hpp>

NSK_BEGIN
/// Returns how kernels compute a verified step on an instruction set, by default the one that this is compiled for.
NSK_COLD inline fast_path path_of(const step_view& s, const vector_registers& r = kernels::own_registers) {
  switch (s.op()) {
#define NSK_PATH(name, Table) \
  case op::name: return op_traits<op::name>::path(s, r);
    NSK_OP_LIST(NSK_PATH)
#undef NSK_PATH
    case op::none: break;
  }
  return fast_path::general;
}

namespace impl {

/// Whether the operator reads each element of an input before it writes the element of the output in its place. The
/// residual is not asked for here: it may always be the output.
constexpr bool works_in_place(op o, int input) {
  switch (o) {
#define NSK_IN_PLACE(name, Table) \
  case op::name: return op_traits<op::name>::works_in_place(input);
    NSK_OP_LIST(NSK_IN_PLACE)
#undef NSK_IN_PLACE
    case op::none: break;
  }
  return false;
}

/// Returns what rows of a batch along dimension `d` of the output, which has `rank` dimensions, mean for the inputs.
/// Operators that are not in `Ops` have no code here, and no rows.
template <class Ops>
row_rule rows_of(const step_view& s, int d, int rank) {
  switch (s.op()) {
#define NSK_ROWS(name, Table)                                                                          \
  case op::name:                                                                                       \
    if constexpr (Ops::has(op::name)) return op_traits<op::name>::rows(s.params<op::name>(), d, rank); \
    break;
    NSK_OP_LIST(NSK_ROWS)
#undef NSK_ROWS
    case op::none: break;
  }
  return {};
}

/// Returns how many elements of the inputs enter one element of the output.
NSK_COLD inline std::uint64_t taps_of(const step_view& s) {
  switch (s.op()) {
#define NSK_TAPS(name, Table) \
  case op::name: return op_traits<op::name>::taps(s, s.params<op::name>());
    NSK_OP_LIST(NSK_TAPS)
#undef NSK_TAPS
    case op::none: break;
  }
  return 1;
}

/// Returns the work of a whole step: its multiply-accumulates, or elements touched where it multiplies nothing. At
/// least 1. The unit in which session::run_for(work) counts, equal on every machine.
inline std::uint64_t work_of(const step_view& s) {
  return saturating_multiply(static_cast<std::uint64_t>(s.output().elements()), taps_of(s));
}

}
NSK_END
#include <netsuke/core/restore_macros.hpp>
