// SPDX-License-Identifier: MIT
#pragma once
/// Plans of steps on elements of any type, whose operands are copied from constants first.
#include <limits>

#include "support.hpp"

namespace test {

/// A plan to which steps are added one by one; everything lives to its end.
struct typed_plan {
  plan_spec p;
  static constexpr std::uint32_t last = 1000;

  /// A dense tensor; `skip` elements before it in its buffer are not its own, and three behind it.
  std::uint32_t add(std::vector<std::int32_t> shape, format::DataType type, std::int32_t skip = 0) {
    std::int32_t n = 1;
    for (const std::int32_t length : shape) n *= length;
    const std::uint32_t whole = p.add_dense("memory", {n + skip + 3}, 0, last, type);
    const std::uint32_t t = p.add_tensor("t", std::move(shape), p.tensors[whole].buffer, type);
    p.tensors[t].offset = static_cast<std::uint64_t>(skip * nsk::size_of(static_cast<nsk::dtype>(type)));
    return t;
  }
  template <class T>
  std::uint32_t add_constant(const std::vector<T>& values, format::DataType type, std::vector<std::int32_t> shape) {
    const std::uint32_t c = p.add_constant("constant", values, type);
    return p.add_tensor("constant", std::move(shape), p.tensors[c].buffer, type);
  }
  /// A tensor in the arena with these elements.
  template <class T>
  std::uint32_t add_values(const std::vector<T>& values, format::DataType type) {
    return add_values(values, type, {static_cast<std::int32_t>(values.size())});
  }
  template <class T>
  std::uint32_t add_values(const std::vector<T>& values, format::DataType type, std::vector<std::int32_t> shape) {
    const std::uint32_t from = add_constant(values, type, shape), to = add(shape, type);
    p.add_step(format::Operator::Copy, {from}, to, "values");
    return to;
  }
  step_spec& step(format::Operator op, std::vector<std::uint32_t> in, std::vector<std::int32_t> shape,
                  format::DataType type, std::int32_t skip = 0) {
    const std::uint32_t out = add(std::move(shape), type, skip);
    return p.add_step(op, std::move(in), out);
  }
  /// The plan, which a model must end with an output.
  plan_spec finished() {
    const auto end = static_cast<std::uint32_t>(p.steps.size()) + 1;
    const std::uint32_t y = p.add_output("y", {1}, end - 1, end);
    p.add_step(format::Operator::Fill, {}, y, "end");
    for (buffer_spec& b : p.buffers) {
      if (b.storage != format::Storage::constant && b.last_step > end) b.last_step = end;
    }
    return p;
  }
};

/// Runs every step on both; returns the name and number of the first whose elements are farther apart than
/// `tolerance`, or that changes a byte which is not its output's.
template <class Device>
std::string first_wrong_step(both<Device>& net, double tolerance) {
  for (int d = 0; d < net.plan().dispatch_count();) {
    const int step = net.plan().dispatch(d).step;
    const auto r = net.run_step(d);
    if (r.apart.relative() <= tolerance && r.stray_bytes == 0) continue;
    return std::string(nsk::name_of(net.variant().step(step).op())) + " " + std::to_string(step) + ": " +
           std::to_string(r.apart.relative()) + ", " + std::to_string(r.stray_bytes) + " stray bytes";
  }
  return {};
}

}
