// SPDX-License-Identifier: MIT
#include "ops/every_op.hpp"
#include <netsuke/ops/every_op.hpp>
#include "errors.hpp"
#include "ops/generated/op_files.hpp"

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

[[noreturn]] void refuse_unknown(const std::string& what) {
  refuse(what + ": the converter has no rules for this operator. Report this");
}

}

void lower_operation(lowerer& l, const operation& o) {
  if (lower_layout(l, o)) return;
#define NSK_LOWER(name, Table) \
  if (lower_as<op::name>(l, o)) return;
  NSK_OP_LIST(NSK_LOWER)
#undef NSK_LOWER
  refuse_unknown(o.source);
}

tile_size tiles_of(const tile_request& r) {
  switch (r.step.kind()) {
#define NSK_TILES(name, Table) \
  case op::name: return op_rules<op::name>::tiles(r, r.step.p.as<op::name>());
    NSK_OP_LIST(NSK_TILES)
#undef NSK_TILES
    case op::none: break;
  }
  refuse_unknown(r.step.name);
}

std::int64_t scratch_bytes_of(const plan& p, const plan_step& s) {
  const plan_shape y{&p.tensor(s.outputs[0])}, x = s.inputs.empty() ? y : plan_shape{&p.tensor(s.inputs[0])};
  switch (s.kind()) {
#define NSK_SCRATCH(name, Table) \
  case op::name: return op_traits<op::name>::scratch_bytes(s.p.as<op::name>(), x, y);
    NSK_OP_LIST(NSK_SCRATCH)
#undef NSK_SCRATCH
    case op::none: break;
  }
  refuse_unknown(s.name);
}

impl::row_rule rows_of(const plan_step& s, int d, int rank) {
  switch (s.kind()) {
#define NSK_ROWS(name, Table) \
  case op::name: return op_traits<op::name>::rows(s.p.as<op::name>(), d, rank);
    NSK_OP_LIST(NSK_ROWS)
#undef NSK_ROWS
    case op::none: break;
  }
  refuse_unknown(s.name);
}

std::string work_kind_of(const step_view& s, const tile_space& space) {
  switch (s.op()) {
#define NSK_KIND(name, Table) \
  case op::name: return op_rules<op::name>::work_kind(s, s.params<op::name>(), space);
    NSK_OP_LIST(NSK_KIND)
#undef NSK_KIND
    case op::none: break;
  }
  return "";
}

}
