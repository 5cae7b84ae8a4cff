// SPDX-License-Identifier: MIT
#include "passes/compile.hpp"
#include "passes/program.hpp"
#include "write/file.hpp"

namespace nsk::tool {

compiled compile(const graph& g, const compile_options& options) {
  program p = canonicalise(g);
  fuse(p);
  lower_options lowering;
  lowering.winograd = options.winograd;
  compiled result;
  result.layout = lower(p, lowering);
  plan_tiles(result.layout, options.max_tile_macs);
  plan_memory(result.layout);
  std::map<std::string, std::string> metadata = options.metadata;
  int transposes = 0;
  for (const plan_step& s : result.layout.steps)
    if (!s.layout_reason.empty()) metadata["transpose." + std::to_string(transposes++)] = s.layout_reason;
  metadata["transposes"] = std::to_string(transposes);
  result.file = write_model(result.layout, metadata);
  return result;
}

}
