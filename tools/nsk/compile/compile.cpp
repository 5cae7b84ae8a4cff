// SPDX-License-Identifier: MIT
#include "compile/compile.hpp"
#include <netsuke/format/packing.hpp>
#include <netsuke/model/open.hpp>
#include "errors.hpp"
#include "planner/batch.hpp"
#include "passes/canonicalise/canonicalise.hpp"
#include "passes/fuse/fuse.hpp"
#include "ops/lower.hpp"
#include "passes/recognise/recognise.hpp"
#include "planner/planner.hpp"
#include "suggest.hpp"
#include "write/file.hpp"

namespace nsk::tool {

namespace {

/// Every choice must have met a convolution of some variant.
void check_choices(const std::map<std::string, conv_algorithm>& wanted, const std::vector<named_plan>& plans) {
  for (const auto& choice : wanted) {
    std::vector<std::string> known;
    for (const named_plan& v : plans)
      for (const plan_step& s : v.layout.steps)
        if (s.kind() == op::conv_2d) known.push_back(s.name);
    if (std::find(known.begin(), known.end(), choice.first) == known.end())
      refuse("--override: there is no convolution named '" + choice.first + "'; nsk inspect lists the names of steps." +
             did_you_mean(choice.first, known));
  }
}

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

/// The same as text for people, in the file's metadata.
void describe_facts(const model_facts& facts, std::map<std::string, std::string>& metadata) {
  for (const auto& [key, text] : facts.about) metadata["about." + key] = text;
  for (const auto& [name, port] : facts.ports)
    if (!port.description.empty()) metadata["about.port." + name] = port.description;
}

/// A file and the plans that it was written from.
struct compiled {
  std::vector<named_plan> plans;
  std::vector<std::byte> file;
  status opens() const {
    model opened;
    return open({file.data(), file.size()}, opened);
  }
};

/// Refuses a file that the engine would not open, naming the step or the tensor that it would complain of.
void require_opened(const status& s, const compiled& c) {
  if (s) return;
  const plan& first = c.plans.front().layout;
  const auto where = static_cast<std::size_t>(s.where() < 0 ? 0 : s.where());
  std::string culprit = "the model";
  if (c.plans.size() == 1 && s.code() == status_code::bad_tensor && where < first.tensors.size())
    culprit = "tensor '" + first.tensors[where].name + "'";
  else if (c.plans.size() == 1 && s.code() == status_code::bad_step && where < first.steps.size())
    culprit = "step '" + first.steps[where].name + "'";
  refuse(culprit + " cannot be run by the engine (" + s.name() + ": " + s.message() +
         "). Change its shapes, types or attributes in the exporter, and please report this with the model");
}

compiled compile_with(const lower_options& lowering, const std::vector<variant_source>& variants,
                      const compile_options& options) {
  constant_pool pool;
  compiled result;
  std::vector<named_plan>& plans = result.plans;
  std::map<std::string, std::string> metadata = options.metadata;
  int transposes = 0;
  for (const variant_source& v : variants) {
    program p = canonicalise(v.g, v.states);
    recognise(p);
    recognise_cells(p);
    fuse(p);
    crop_windows(p);
    plans.push_back({v.name, lower(p, lowering)});
    plan& layout = plans.back().layout;
    if (v.batch != 0) bind_batch(layout, v.batch, v.batched_inputs);
    plan_tiles(layout, options.max_tile_macs);
    plan_memory(layout, pool);
    add_facts(layout, v.g.facts);
    for (const plan_step& s : layout.steps)
      if (!s.layout_reason.empty())
        metadata["transpose." + std::to_string(transposes++)] =
            (variants.size() > 1 ? v.name + ": " : "") + s.layout_reason;
  }
  check_choices(options.algorithms, plans);
  pool.bytes.resize(pool.bytes.size() + over_read);
  describe_facts(variants.front().g.facts, metadata);
  metadata["transposes"] = std::to_string(transposes);
  result.file = write_model(plans, pool.bytes, metadata);
  return result;
}

}

std::vector<std::byte> compile(const std::vector<variant_source>& variants, const compile_options& options) {
  lower_options lowering;
  lowering.winograd = options.winograd;
  lowering.algorithms = options.algorithms;
  compiled result = compile_with(lowering, variants, options);
  status opened = result.opens();
  if (opened.code() == status_code::read_before_write || opened.code() == status_code::bad_overlap) {
    // parts of concatenations inside others may be read in blocks that `open` cannot prove complete
    lowering.joins_in_place = false;
    result = compile_with(lowering, variants, options);
    opened = result.opens();
  }
  require_opened(opened, result);
  return std::move(result.file);
}

}
