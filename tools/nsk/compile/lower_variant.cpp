// SPDX-License-Identifier: MIT
#include "compile/lower_variant.hpp"

#include "bounded/fill.hpp"
#include "passes/fuse/fuse.hpp"
#include "passes/recognise/recognise.hpp"
#include "passes/wide_values.hpp"
#include "planner/planner.hpp"

namespace nsk::tool {
namespace {

/// What the source says of inputs and outputs, where it fits them: a mean per channel needs channels innermost.
void add_facts(plan& p, const model_facts& facts) {
  for (auto* ports : {&p.inputs, &p.outputs})
    for (plan_port& port : *ports) {
      const auto found = facts.ports.find(port.name);
      if (found == facts.ports.end()) continue;
      port.facts = found->second;
      const plan_tensor& t = p.tensor(port.tensor);
      const auto channels = static_cast<std::size_t>(t.shape.back());
      if (t.type == dtype::float32 && (port.facts.mean.size() <= 1 || port.facts.mean.size() == channels)) continue;
      port.facts.mean.clear();
      port.facts.deviation.clear();
    }
}

}

program program_of(const variant_source& v, byte_kernels bytes, const graph* bounds) {
  program p = !v.g.counted.empty()        ? canonicalise(bounded::counting(v.g), v.states, bytes, bounds)
              : bounded::has_bounded(v.g) ? canonicalise(bounded::filled(v.g), v.states, bytes, bounds)
                                          : canonicalise(v.g, v.states, bytes, bounds);
  recognise(p);
  recognise_cells(p);
  merge_axes(p);
  join_bytes(p);
  fuse(p);
  if (bounds == nullptr) crop_windows(p);
  return p;
}

plan lowered(const program& p, const variant_source& v, lower_options lowering, const compile_options& options,
             value_borders* borders, packed_weights* packed) {
  // Winograd's algorithms lose small numbers beside far larger ones (wide_values.hpp); emplace() keeps what was chosen
  for (const std::string& name : wide_convolutions(p, v.wide_inputs, v.unknown_inputs))
    lowering.algorithms.emplace(name, conv_algorithm::direct);
  plan layout = lower(p, lowering, borders, packed);
  if (v.batch != 0) bind_batch(layout, v.batch, v.batched_inputs);
  plan_tiles(layout, options.max_tile_macs);
  add_facts(layout, v.g.facts);
  return layout;
}

}
