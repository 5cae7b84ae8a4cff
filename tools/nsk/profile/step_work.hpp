// SPDX-License-Identifier: MIT
#pragma once
/// What the time of a step depends on, read from the plan: the same description for the networks that a profile
/// measures and for those whose time it predicts.
#include <netsuke/model/model.hpp>
#include <string>

namespace nsk::tool {

/// `kind` names the kernel: "conv", "pointwise", "winograd4", "winograd2", "grouped", "depthwise", "gemv" (fewer than
/// four rows, bound by reading weights), "elementwise", "function" (exp and similar functions), "pool", "reduce",
/// "resize", "softmax", "copy" (runs of elements), "shuffle" (a copy of single elements).
struct step_work {
  std::string kind;
  double rows = 1, depth = 1,
         columns = 1;  ///< output pixels, inputs per output element, output channels (padded to 8 where packed)
  double macs = 0;
  double activation_bytes = 0, weight_bytes = 0;
  double functions = 0;     ///< elements that pass through exp or similar functions behind the step's main work
  double tiles = 1;         ///< number of tiles
  double largest_tile = 1;  ///< share of the step that its largest tile is, in (0, 1]

  /// What the kernel does, in its own unit: multiply-accumulates, padding included, or elements read.
  double work() const { return rows * depth * columns; }
};

/// Returns the description of a step of a verified model.
step_work describe_work(const step_view& s);

}
