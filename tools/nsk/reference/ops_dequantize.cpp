// SPDX-License-Identifier: MIT
/// DequantizeLinear: scale * (stored - zero point), with one scale, one per position of an axis, or one per block of
/// it.
#include <limits>
#include "reference/operators.hpp"

namespace nsk::tool::reference {
namespace {

void infer_dequantize(call& c) {
  c.require_inputs(2, 3);
  c.require(is_integer(c.type(0)), "it has a kernel for integers");
  c.require_float(1);
  const shape_t &x = c.shape(0), &scale = c.shape(1);
  const bool like_scale = !c.has(2) || c.shape(2) == scale || (count_of(scale) == 1 && count_of(c.shape(2)) == 1);
  c.require(like_scale && (!c.has(2) || c.type(2) == c.type(0)), "the zero point must be like the scale and x");
  if (count_of(scale) != 1 || scale.size() > 1) {
    const std::size_t axis = c.axis(c.op().integer("axis", 1), x.size());
    const std::int64_t block = c.op().integer("block_size", 0);
    shape_t blocks = x;
    c.require(block >= 0 && block <= std::numeric_limits<std::int32_t>::max(), "block_size is out of range");
    if (block > 0) blocks[axis] = (x[axis] + block - 1) / block;
    c.require(scale == (block > 0 ? blocks : shape_t{x[axis]}), "the scale has a wrong shape");
  }
  c.declare(0, c.type(1), x);
}

void evaluate_dequantize(call& c) {
  const shape_t &x = c.shape(0), &scale = c.shape(1);
  const bool single = count_of(scale) == 1;
  const std::size_t axis = single ? 0 : c.axis(c.op().integer("axis", 1), x.size());
  const std::int64_t inner = single ? 1 : count_between(x, axis + 1, x.size()), length = single ? 1 : x[axis];
  const std::int64_t block = c.op().integer("block_size", 0);
  for (std::int64_t i = 0; i < c.out(0).count(); ++i) {
    const std::int64_t along = i / inner % length, outer = i / inner / length;
    std::int64_t s = single ? 0 : along;
    if (!single && block > 0) s = (outer * scale[axis] + along / block) * inner + i % inner;
    const double zero = c.has(2) ? static_cast<double>(c.integers(2)[s]) : 0;
    c.out_floats()[i] = (static_cast<double>(c.integers(0)[i]) - zero) * c.floats(1)[s];
  }
}

}

void add_dequantize(table& t) { t["DequantizeLinear"] = {infer_dequantize, evaluate_dequantize, 10}; }

}
