// SPDX-License-Identifier: MIT
#include "compile/compile.hpp"
#include <algorithm>
#include <cstring>
#include <iterator>
#include <netsuke/format/packing.hpp>
#include <netsuke/model/open.hpp>
#include "bounded/fill.hpp"
#include "errors.hpp"
#include "lengths/follow.hpp"
#include "passes/canonicalise/canonicalise.hpp"
#include "passes/fuse/fuse.hpp"
#include "ops/lower.hpp"
#include "passes/recognise/recognise.hpp"
#include "passes/shuffle/shuffle.hpp"
#include "passes/stream/stream.hpp"
#include "passes/wide_values.hpp"
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

/// Puts what the source says into the file's metadata, as text for people.
void describe_facts(const model_facts& facts, std::map<std::string, std::string>& metadata) {
  for (const auto& [key, text] : facts.about) metadata["about." + key] = text;
  for (const auto& [name, port] : facts.ports)
    if (!port.description.empty()) metadata["about.port." + name] = port.description;
}

/// How plans for CPUs and for GPUs are lowered.
struct lowerings {
  lower_options cpu, gpu;
};

/// A file and the plans that it was written from, those for CPUs first.
struct compiled {
  std::vector<named_plan> plans;
  std::size_t cpu_plans = 0;
  constant_pool pool;
  std::vector<std::byte> file;
  status opens() const { return opens(file); }
  /// Whether a file of the plans for CPUs alone would open.
  status cpu_opens() const {
    return opens(write_model({plans.begin(), plans.begin() + static_cast<std::ptrdiff_t>(cpu_plans)}, pool.bytes, {}));
  }

 private:
  static status opens(const std::vector<std::byte>& bytes) {
    model opened;
    return open({bytes.data(), bytes.size()}, opened);
  }
};

/// Refuses a file that the engine would not open, naming the step or the tensor that it would complain of.
void require_opened(const status& s, const compiled& c) {
  if (s) return;
  const plan& at_fault = c.plans.at(static_cast<std::size_t>(s.variant())).layout;
  const auto where = static_cast<std::size_t>(s.where());  // beyond all where there is none
  std::string at = "the model";
  if (s.place() == status_place::tensor && where < at_fault.tensors.size())
    at = "tensor '" + at_fault.tensors[where].name + "'";
  else if (s.place() == status_place::step && where < at_fault.steps.size())
    at = "step '" + at_fault.steps[where].name + "'";
  refuse(at + " cannot be run by the engine (" + s.name() + ": " + s.message() +
         "). Change its shapes, types or attributes in the exporter, and please report this with the model");
}

/// Lowers a program for one kind of device; memory is still to be planned.
plan lowered(const program& p, const variant_source& v, lower_options lowering, const compile_options& options) {
  // Winograd's algorithms lose small numbers beside far larger ones (wide_values.hpp); emplace() keeps what was chosen
  for (const std::string& name : wide_convolutions(p, v.wide_inputs, v.unknown_inputs))
    lowering.algorithms.emplace(name, conv_algorithm::direct);
  plan layout = lower(p, lowering);
  if (v.batch != 0) bind_batch(layout, v.batch, v.batched_inputs);
  plan_tiles(layout, options.max_tile_macs);
  add_facts(layout, v.g.facts);
  return layout;
}

/// A variant's network, ready to be lowered; for GPUs, which have no kernels on bytes, without those. Windows are cut
/// to what they see of small inputs, except where those have lengths: then windows are the same for all of them.
program program_of(const variant_source& v, byte_kernels bytes, bool has_lengths = false) {
  program p = bounded::has_bounded(v.g) ? canonicalise(bounded::filled(v.g), v.states, bytes)
                                        : canonicalise(v.g, v.states, bytes);
  recognise(p);
  recognise_cells(p);
  merge_axes(p);
  join_bytes(p);
  fuse(p);
  if (!has_lengths) crop_windows(p);
  return p;
}

/// Runs that are computed in bands, for people.
std::vector<std::string> texts_of(const std::vector<streamed_run>& runs) {
  const auto kilobytes = [](std::int64_t bytes) { return std::to_string((bytes + 500) / 1000) + " kB"; };
  std::vector<std::string> texts;
  for (const streamed_run& r : runs)
    texts.push_back(std::to_string(r.operations) + " operations in " + std::to_string(r.bands) + " bands of " +
                    std::to_string(r.rows) + " rows, " + kilobytes(r.window_bytes) + " between them in place of " +
                    kilobytes(r.whole_bytes) + ": " + r.first + " to " + r.last);
  return texts;
}

void widen(value_borders& to, const value_borders& from) {
  for (const auto& [v, b] : from) {
    halo& t = to[v];
    t = {std::max(t.top, b.top), std::max(t.left, b.left), std::max(t.bottom, b.bottom), std::max(t.right, b.right)};
  }
}
bool same_borders(const value_borders& a, const value_borders& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && std::memcmp(&x.second, &y.second, sizeof x.second) == 0;
  });
}

/// Shares the constants of `p` that `with` has too: plans of many lengths then hold them once.
void share_constants(plan& p, const plan& with) {
  for (std::size_t i = 0; i < std::min(p.storages.size(), with.storages.size()); ++i) {
    plan_storage& s = p.storages[i];
    const plan_storage& w = with.storages[i];
    if (s.data && w.data && *s.data == *w.data) s.data = w.data;
    s.kernels = nullptr;
  }
}

/// A plan for some values of the lengths of a variant; `borders` become those that its values have.
plan plan_of(const variant_source& v, const lower_options& lowering, const plan& bounds, value_borders& borders) {
  program p = program_of(v, byte_kernels::present, true);
  read_before_shuffles(p);
  plan layout = lower(p, lowering, &borders);
  share_constants(layout, bounds);
  return layout;
}

/// A plan for the bounds of lengths whose numbers follow them. Convolutions are computed as at the bounds, and each
/// value has the border that some length needs.
plan plan_of_lengths(const program& p, const variant_source& v, lower_options lowering,
                     const compile_options& options) {
  lowering.splits_reductions = false;
  plan layout = lowered(p, v, lowering, options);
  for (const plan_step& s : layout.steps)
    if (s.kind() == op::conv_2d) lowering.algorithms[s.name] = s.p.as<op::conv_2d>().algorithm;
  std::vector<plan_of_choice> plans;
  std::vector<value_borders> borders(v.choices.size() + 1);
  static_cast<void>(lower(p, lowering, &borders.back()));
  value_borders widest = borders.back();
  for (const source_of_choice& c : v.choices) {
    value_borders& own = borders[plans.size()];
    plans.push_back({c.values, plan_of(c.source, lowering, layout, own)});
    widen(widest, own);
  }
  lowering.min_borders = widest;
  for (std::size_t i = 0; i < plans.size(); ++i)
    if (!same_borders(borders[i], widest)) plans[i].layout = plan_of(v.choices[i].source, lowering, layout, borders[i]);
  if (!same_borders(borders.back(), widest)) layout = lowered(p, v, lowering, options);
  follow_lengths(layout, v.lengths, plans);
  return layout;
}

/// Lowers a program for CPUs, its runs in bands where a target asks for them.
plan plan_for_cpu(program p, const variant_source& v, const lower_options& lowering, const compile_options& options) {
  read_before_shuffles(p);
  if (!v.lengths.empty()) return plan_of_lengths(p, v, lowering, options);
  if (options.streams.second_level == 0 || v.batch != 0) return lowered(p, v, lowering, options);
  std::vector<std::string> streamed = texts_of(stream(p, options.streams));
  plan layout = lowered(p, v, lowering, options);
  layout.streamed = std::move(streamed);
  return layout;
}

/// Plans of all variants: those for CPUs first, so that a file without the others begins with the same constants.
std::vector<named_plan> plans_of(const std::vector<variant_source>& variants, const lowerings& how,
                                 const compile_options& options) {
  std::vector<named_plan> plans, gpu_plans;
  for (const variant_source& v : variants) {
    const program p = program_of(v, byte_kernels::present, !v.lengths.empty());
    plans.push_back({v.name, plan_for_cpu(p, v, how.cpu, options)});
    if (!options.gpu) continue;
    plan gpu = computes_bytes(p) ? lowered(program_of(v, byte_kernels::absent), v, how.gpu, options)
                                 : lowered(p, v, how.gpu, options);
    gpu_plans.push_back({gpu_variant_of(v.name, variants.size()), std::move(gpu)});
    gpu_plans.back().layout.gpu = true;
  }
  std::move(gpu_plans.begin(), gpu_plans.end(), std::back_inserter(plans));
  return plans;
}

/// Notes which steps are bands.
void describe_streams(const std::vector<named_plan>& plans, std::map<std::string, std::string>& metadata) {
  int runs = 0;
  for (const named_plan& v : plans)
    for (const std::string& text : v.layout.streamed)
      metadata["stream." + std::to_string(runs++)] = (plans.size() > 1 ? v.name + ": " : "") + text;
}

/// Notes why copies that only change the layout are there.
void describe_transposes(const std::vector<named_plan>& plans, std::map<std::string, std::string>& metadata) {
  int transposes = 0;
  for (const named_plan& v : plans)
    for (const plan_step& s : v.layout.steps)
      if (!s.layout_reason.empty())
        metadata["transpose." + std::to_string(transposes++)] =
            (plans.size() > 1 ? v.name + ": " : "") + s.layout_reason;
  metadata["transposes"] = std::to_string(transposes);
}

compiled compile_with(const lowerings& how, const std::vector<variant_source>& variants,
                      const compile_options& options) {
  compiled result;
  result.plans = plans_of(variants, how, options);
  result.cpu_plans = variants.size();
  for (named_plan& v : result.plans) plan_memory(v.layout, result.pool);
  check_choices(options.algorithms, result.plans);
  result.pool.bytes.resize(result.pool.bytes.size() + over_read);
  std::map<std::string, std::string> metadata = options.metadata;
  describe_facts(variants.front().g.facts, metadata);
  describe_transposes(result.plans, metadata);
  describe_streams(result.plans, metadata);
  result.file = write_model(result.plans, result.pool.bytes, metadata);
  return result;
}

/// Parts of concatenations inside others may be read in blocks that `open` cannot prove complete.
bool joins_too_much(const status& s) {
  return s.code() == status_code::read_before_write || s.code() == status_code::bad_overlap;
}

}

std::string gpu_variant_of(const std::string& variant, std::size_t variants) {
  return variants == 1 ? gpu_profile : variant + "." + gpu_profile;
}

compiled_file compile_file(const std::vector<variant_source>& variants, const compile_options& options) {
  lowerings how;
  how.cpu.winograd = options.winograd;
  how.cpu.algorithms = options.algorithms;
  how.cpu.kept_layouts = options.kept_layouts;
  how.gpu = how.cpu;
  how.cpu.weights = options.weights;
  how.cpu.wide_steps = options.wide_steps;
  how.gpu.gpu = true;
  how.gpu.borders = false;
  compiled result = compile_with(how, variants, options);
  status opened = result.opens();
  for (int attempt = 0; attempt < 2 && joins_too_much(opened); ++attempt) {
    (joins_too_much(result.cpu_opens()) ? how.cpu : how.gpu).joins_in_place = false;
    result = compile_with(how, variants, options);
    opened = result.opens();
  }
  require_opened(opened, result);
  return {std::move(result.file), std::move(result.pool.kernels)};
}

std::vector<std::byte> compile(const std::vector<variant_source>& variants, const compile_options& options) {
  return compile_file(variants, options).bytes;
}

}
