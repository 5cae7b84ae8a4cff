// SPDX-License-Identifier: MIT
#include "passes/compile.hpp"
#include <netsuke/core/packing.hpp>
#include "passes/batch.hpp"
#include "passes/program.hpp"
#include "write/file.hpp"

namespace nsk::tool {

std::vector<std::byte> compile(const std::vector<variant_source>& variants, const compile_options& options) {
  lower_options lowering;
  lowering.winograd = options.winograd;
  constant_pool pool;
  std::vector<named_plan> plans;
  std::map<std::string, std::string> metadata = options.metadata;
  int transposes = 0;
  for (const variant_source& v : variants) {
    program p = canonicalise(v.g);
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
  pool.bytes.resize(pool.bytes.size() + over_read);
  metadata["transposes"] = std::to_string(transposes);
  return write_model(plans, pool.bytes, metadata);
}

}
