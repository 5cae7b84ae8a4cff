// SPDX-License-Identifier: MIT
#include "passes/compile.hpp"
#include <netsuke/core/packing.hpp>
#include "errors.hpp"
#include "passes/batch.hpp"
#include "passes/program.hpp"
#include "write/file.hpp"

namespace nsk::tool {

namespace {

/// Every choice must have met a convolution of some variant.
void check_choices(const std::map<std::string, conv_algorithm>& wanted, const std::vector<named_plan>& plans) {
  for (const auto& choice : wanted) {
    bool found = false;
    for (const named_plan& v : plans)
      for (const plan_step& s : v.layout.steps) found = found || (s.kind == op::conv_2d && s.name == choice.first);
    if (!found)
      refuse("--override: there is no convolution named '" + choice.first + "'; nsk inspect lists the names of steps.");
  }
}

}

std::vector<std::byte> compile(const std::vector<variant_source>& variants, const compile_options& options) {
  lower_options lowering;
  lowering.winograd = options.winograd;
  lowering.algorithms = options.algorithms;
  constant_pool pool;
  std::vector<named_plan> plans;
  std::map<std::string, std::string> metadata = options.metadata;
  int transposes = 0;
  for (const variant_source& v : variants) {
    program p = canonicalise(v.g, v.states);
    fuse(p);
    plans.push_back({v.name, lower(p, lowering)});
    plan& layout = plans.back().layout;
    if (v.batch != 0) bind_batch(layout, v.batch, v.batched_inputs);
    plan_tiles(layout, options.max_tile_macs);
    plan_memory(layout, pool);
    for (const plan_step& s : layout.steps)
      if (!s.layout_reason.empty())
        metadata["transpose." + std::to_string(transposes++)] =
            (variants.size() > 1 ? v.name + ": " : "") + s.layout_reason;
  }
  check_choices(options.algorithms, plans);
  pool.bytes.resize(pool.bytes.size() + over_read);
  metadata["transposes"] = std::to_string(transposes);
  return write_model(plans, pool.bytes, metadata);
}

}
