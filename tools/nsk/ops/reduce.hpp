// SPDX-License-Identifier: MIT
#pragma once
/// Reductions over axes, of large images in two steps.
#include <algorithm>
#include <array>
#include <optional>
#include "errors.hpp"
#include "ops/op_rules.hpp"

namespace nsk::tool {

template <>
struct op_rules<op::reduce> : kind_is<work_kinds::reduce> {
  using parameters = reduce_parameters;

  static void lower(lowerer& l, const operation& o, const parameters& r) {
    view x = l.place_of(o.inputs[0]);
    const view y = l.allocate(o.output, order_of(x));
    l.ask_dense(y);
    std::vector<char> reduced(x.rank(), 0);
    for (int a : r.axes) reduced[static_cast<std::size_t>(a)] = 1;
    std::string name = l.name_of_value(o.inputs[0]);
    reduce_kind kind = r.kind;
    if (const auto by = l.options.splits_reductions ? runs_of(x, reduced) : std::nullopt) {
      const auto at = static_cast<std::ptrdiff_t>(by->axis);
      view rows = x;
      rows.shape[by->axis] = by->runs;
      rows.shape.insert(rows.shape.begin() + at + 1, x.shape[by->axis] / by->runs);
      rows.stride[by->axis] *= x.shape[by->axis] / by->runs;
      rows.stride.insert(rows.stride.begin() + at + 1, x.stride[by->axis]);
      std::vector<char> inner = reduced;
      inner[by->axis] = 0;
      inner.insert(inner.begin() + at + 1, 1);
      shape_t shape = rows.shape;
      for (std::size_t a = 0; a < shape.size(); ++a)
        if (inner[a]) shape[a] = 1;
      const std::string result = o.name + "#runs";
      view partial = l.new_storage(-1, result, shape, order_of(rows), {}, storage_kind::arena);
      reduce_step(l, o, kind, rows, partial, inner, {name, result});
      partial.shape.erase(partial.shape.begin() + at + 1);
      partial.stride.erase(partial.stride.begin() + at + 1);
      x = std::move(partial);
      name = result;
      if (kind == reduce_kind::sum_square) kind = reduce_kind::sum;
    }
    reduce_step(l, o, kind, x, y, reduced, {name, l.name_of_value(o.output)});
    set_epilogue(l, l.result.steps.back(), o.post);
    l.bind(o.output, y);
  }
  static tile_size tiles(const tile_request& r, const reduce_params&) {
    const std::int64_t ratio =
        std::max<std::int64_t>(r.input(0).count() / std::max<std::int64_t>(r.output().count(), 1), 1);
    return stream_tile_size(r.space(), std::max<std::int64_t>(2 * streamed_elements / ratio, 16), {});
  }

 private:
  /// A reduction in two steps: of runs of the outermost physical axis, then of their results.
  struct reduction_by_runs {
    std::size_t axis;
    std::int64_t runs;
  };

  /// Finds the runs of large images whose outermost axis is reduced. Without them tiles are channels, and every lane
  /// reads what all others wrote in the step before; runs of rows are its own. How many images there are changes
  /// nothing, so that each has the bits that it has alone.
  static std::optional<reduction_by_runs> runs_of(const view& x, const std::vector<char>& reduced) {
    constexpr std::int64_t min_elements = 32768, min_runs = 8, max_runs = 32;
    std::vector<std::size_t> axes;  // of one image, longer than 1
    std::int64_t elements = 1;
    for (int a : order_of(x)) {
      const auto axis = static_cast<std::size_t>(a);
      if (x.shape[axis] == 1 || (axes.empty() && !reduced[axis])) continue;
      axes.push_back(axis);
      elements *= x.shape[axis];
    }
    if (elements < min_elements || reduced[axes.back()]) return std::nullopt;
    const std::int64_t length = x.shape[axes.front()];
    for (std::int64_t runs = min_runs; runs <= std::min(max_runs, length); ++runs)
      if (length % runs == 0) return reduction_by_runs{axes.front(), runs};
    return std::nullopt;
  }

  /// One step: y, of the rank of x, where `reduced` axes have the length 1. `names` are those of x and y.
  static void reduce_step(lowerer& l, const operation& o, reduce_kind kind, const view& x, const view& y,
                          const std::vector<char>& reduced, const std::array<std::string, 2>& names) {
    // physical dimensions of both sides; neighbours merge when both are reduced or both are kept
    plan_tensor in, out;
    in.name = names[0];
    out.name = names[1];
    in.storage = x.storage;
    in.offset = x.offset;
    out.storage = y.storage;
    out.offset = y.offset;
    std::vector<char> kept;
    for (int axis : order_of(x)) {
      const auto a = static_cast<std::size_t>(axis);
      if (x.shape[a] == 1) continue;
      const auto length = static_cast<std::int32_t>(x.shape[a]);
      const bool removed = reduced[a] != 0;
      const bool merges = !kept.empty() && (kept.back() == 0) == removed && in.strides.back() == x.stride[a] * length &&
                          (removed || out.strides.back() == y.stride[a] * length);
      if (merges) {
        in.shape.back() *= length;
        in.strides.back() = x.stride[a];
        if (!removed) out.shape.back() *= length;
        out.strides.back() = removed ? 0 : y.stride[a];
        continue;
      }
      kept.push_back(removed ? 0 : 1);
      in.shape.push_back(length);
      in.strides.push_back(x.stride[a]);
      out.shape.push_back(removed ? 1 : length);
      out.strides.push_back(removed ? 0 : y.stride[a]);
    }
    if (in.shape.empty()) {
      in.shape = out.shape = {1};
      in.strides = out.strides = {1};
    }
    if (in.shape.size() > static_cast<std::size_t>(max_rank))
      refuse(o.source + ": the reduction has more than six dimensions after merging");
    // a length of 1 may have any stride; give it the dense one
    std::int64_t dense = 1;
    for (std::size_t i = out.shape.size(); i-- > 0;) {
      if (out.shape[i] == 1) out.strides[i] = dense;
      dense = std::max(dense, out.strides[i] * out.shape[i]);
    }
    l.result.tensors.push_back(std::move(in));
    l.result.tensors.push_back(std::move(out));
    const int last = static_cast<int>(l.result.tensors.size()) - 1;
    l.step<op::reduce>(o, {last - 1}, last).p.as<op::reduce>() = {kind};
  }
};

}
