// SPDX-License-Identifier: MIT
#include "compile/compile.hpp"
#include <algorithm>
#include <iterator>
#include <netsuke/format/packing.hpp>
#include <netsuke/model/open.hpp>
#include "compile/length_plans.hpp"
#include "compile/lower_variant.hpp"
#include "errors.hpp"
#include "passes/fuse/fuse.hpp"
#include "passes/shuffle/shuffle.hpp"
#include "passes/stream/stream.hpp"
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

/// Puts what the source says into the file's metadata, as text for people.
void describe_facts(const model_facts& facts, std::map<std::string, std::string>& metadata) {
  for (const auto& [key, text] : facts.about) metadata["about." + key] = text;
  for (const auto& [name, port] : facts.ports)
    if (!port.description.empty()) metadata["about.port." + name] = port.description;
}

/// How plans for CPUs and for GPUs are lowered.
struct lowerings {
  lower_options cpu, gpu;
  bool stops_branches = true;
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
  const bool follows = s.code() == status_code::bad_lengths || s.code() == status_code::bad_overlap ||
                       s.code() == status_code::bad_scratch;
  if (follows && !at_fault.lengths.empty())
    refuse(
        "the lengths of --bound cannot be in one file: for " + at + " it cannot be proven that elements keep to " +
        "their places, or scratch suffices, with every value. Make fewer axes lengths, or convert the model for the " +
        "values that you need, one --variant each");
  refuse(at + " cannot be run by the engine (" + s.name() + ": " + s.message() +
         "). Change its shapes, types or attributes in the exporter, and please report this with the model");
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

/// plan_of_lengths(), with the better reason where there is none.
plan plan_for_lengths(const program& p, const variant_source& v, const lower_options& lowering,
                      const compile_options& options) {
  try {
    return plan_of_lengths(p, v, lowering, options);
  } catch (const error& e) {
    if (e.code == exit_code::refused && v.refused_rows) throw error(*v.refused_rows);
    throw;
  }
}

/// Lowers a program for CPUs, its runs in bands where a target asks for them.
plan plan_for_cpu(program p, const variant_source& v, const lower_options& lowering, const compile_options& options) {
  read_before_shuffles(p);
  if (!v.lengths.empty()) return plan_for_lengths(p, v, lowering, options);
  if (v.chunked) {  // a chunk of one length is computed as those of several are
    lower_options whole = lowering;
    whole.splits_reductions = false;
    return lowered(p, v, whole, options);
  }
  if (options.streams.second_level == 0 || v.batch != 0) return lowered(p, v, lowering, options);
  std::vector<std::string> streamed = texts_of(stream(p, options.streams));
  plan layout = lowered(p, v, lowering, options);
  layout.streamed = std::move(streamed);
  return layout;
}

/// Lowers a program for GPUs, which have no kernels on bytes.
plan plan_for_gpu(const program& p, const variant_source& v, const lower_options& lowering,
                  const compile_options& options) {
  const graph* const bounds = v.lengths.empty() ? nullptr : &v.g;
  const program own = computes_bytes(p) ? program_of(v, byte_kernels::absent, bounds) : p;
  return v.lengths.empty() ? lowered(own, v, lowering, options) : plan_for_lengths(own, v, lowering, options);
}

/// Plans of all variants: those for CPUs first, so that a file without the others begins with the same constants.
std::vector<named_plan> plans_of(const std::vector<variant_source>& variants, const lowerings& how,
                                 const compile_options& options) {
  std::vector<named_plan> plans, gpu_plans;
  for (const variant_source& v : variants) {
    const program p = program_of(v, byte_kernels::present, v.lengths.empty() ? nullptr : &v.g);
    plans.push_back({v.name, plan_for_cpu(p, v, how.cpu, options)});
    if (how.stops_branches && options.stops_branches) stop_branches(plans.back().layout);
    if (!options.gpu) continue;
    gpu_plans.push_back({gpu_variant_of(v.name, variants.size()), plan_for_gpu(p, v, how.gpu, options)});
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

/// Says for how many values of its lengths a plan is known to be the right one.
void describe_lengths(const variant_source& v, const plan& p, compiled_file& file) {
  if (v.lengths.empty()) return;
  file.short_choices = p.short_choices;
  file.unknown_choices = p.unknown_choices;
  for (std::size_t i = 0; i < v.lengths.size(); ++i)
    if (p.lengths[i].minimum > v.lengths[i].minimum)
      file.warnings.push_back(no_result_below(v.lengths[i].name, p.lengths[i].minimum));
  const std::int64_t count = count_choices(v.lengths), unknown = static_cast<std::int64_t>(p.unknown_choices.size());
  const std::string known = std::to_string(p.compared_choices - unknown) + " of " + std::to_string(count);
  if (p.compared_choices != count)
    file.warnings.push_back("only " + known + " values of the lengths are known to have this plan: where the model " +
                            "computes otherwise at another one, results are wrong there. " +
                            "--bound NAME=MIN..MAX/STEP has fewer values");
  else if (unknown == 0)
    file.notes.push_back("all " + std::to_string(count) + " values of the lengths have this plan");
  else
    file.notes.push_back(known + " values of the lengths have this plan; at the others an axis has one position or " +
                         "none, and they are known where they are computed");
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

void change_at_all_lengths(variant_source& v, std::function<void(variant_source&)> what) {
  what(v);
  if (!v.at) return;
  v.at = [at = std::move(v.at), what = std::move(what)](const length_choice& values) {
    variant_source other = at(values);
    what(other);
    return other;
  };
}

variant_source fixed_source(const variant_source& v, const length_choice& values) {
  variant_source fixed = values == bounds_of(v.lengths) ? v : v.at(values);
  fixed.lengths.clear();
  fixed.at = nullptr;
  return fixed;
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
  if (!opened && how.stops_branches) {
    how.stops_branches = false;
    result = compile_with(how, variants, options);
    opened = result.opens();
  }
  if (!opened && variants[0].refused_rows) throw error(*variants[0].refused_rows);
  require_opened(opened, result);
  compiled_file file{std::move(result.file), std::move(result.pool.kernels), {}, {}, {}, {}};
  for (std::size_t i = 0; i < variants.size(); ++i) describe_lengths(variants[i], result.plans[i].layout, file);
  return file;
}

std::vector<std::byte> compile(const std::vector<variant_source>& variants, const compile_options& options) {
  return compile_file(variants, options).bytes;
}

}
