// SPDX-License-Identifier: MIT
#include "ops/every_op.hpp"
#include <netsuke/ops/every_op.hpp>
#include "errors.hpp"
#include "ops/generated/op_files.hpp"
#include "program/visit_op.hpp"

namespace nsk::tool {
namespace {

/// Lowers `o` where it is of operator `O`.
template <op O>
bool lower_as(lowerer& l, const operation& o) {
  using parameters = typename op_rules<O>::parameters;
  if constexpr (!std::is_same_v<parameters, made_by_lowering>) {
    if (const auto* p = o.as<parameters>()) {
      op_rules<O>::lower(l, o, *p);
      return true;
    }
  }
  return false;
}

/// A tensor of a plan as scratch_bytes asks for it. Borders are zeros.
struct plan_shape {
  const plan_tensor* tensor;
  const std::vector<std::int32_t>& shape() const { return tensor->shape; }
  halo border() const { return tensor->border; }
  float fill() const { return 0; }
};

}

void lower_operation(lowerer& l, const operation& o) {
  if (lower_layout(l, o)) return;
#define NSK_LOWER(name, Table) \
  if (lower_as<op::name>(l, o)) return;
  NSK_OP_LIST(NSK_LOWER)
#undef NSK_LOWER
  refuse(o.source + ": the converter has no rules for this operator. Report this");
}

tile_size tiles_of(const tile_request& r) {
  return visit_op(r.step.kind(), [&](auto o) { return op_rules<o>::tiles(r, r.step.p.as<o>()); });
}

std::int64_t scratch_bytes_of(const plan& p, const plan_step& s) {
  const plan_shape y{&p.tensor(s.outputs[0])}, x = s.inputs.empty() ? y : plan_shape{&p.tensor(s.inputs[0])};
  return visit_op(s.kind(), [&](auto o) -> std::int64_t { return op_traits<o>::scratch_bytes(s.p.as<o>(), x, y); });
}

impl::row_rule rows_of(const plan_step& s, int d, int rank) {
  return visit_op(s.kind(), [&](auto o) { return op_traits<o>::rows(s.p.as<o>(), d, rank); });
}

std::string work_kind_of(const step_view& s, const tile_space& space) {
  return visit_op(s.op(), [&](auto o) { return op_rules<o>::work_kind(s, s.params<o>(), space); });
}

}
