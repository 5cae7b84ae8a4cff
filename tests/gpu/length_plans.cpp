// SPDX-License-Identifier: MIT
// Plans for values of lengths: each must be the plan of the file of those values alone.
//
// usage: test_gpu_length_plans FILE...    files of nsk convert --gpu --bound
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <map>
#include <netsuke/gpu/plan.hpp>
#include <string>
#include <vector>

#include "cli/length_options.hpp"
#include "engine/model_file.hpp"
#include "edit/parts.hpp"
#include "errors.hpp"

using namespace nsk;
using lengths = std::map<std::string, std::int64_t>;

namespace {

struct made_plan {
  std::vector<std::byte> memory;
  gpu::plan plan;
  status made;
};

void make(const variant_view& v, const gpu::plan_settings& how, made_plan& to) {
  to.memory.resize(gpu::plan::required_bytes(v, how) + 1);
  to.made = gpu::plan::make(v, how, {to.memory.data(), to.memory.size()}, to.plan);
}

std::string text_of(const lengths& values) {
  std::string text;
  for (const auto& [name, n] : values) text += " " + name + "=" + std::to_string(n);
  return text;
}

bool same_ranges(const span<const gpu::arena_range>& a, const span<const gpu::arena_range>& b) {
  bool same = a.size() == b.size();
  for (std::size_t i = 0; same && i < a.size(); ++i) same = a[i].offset == b[i].offset && a[i].bytes == b[i].bytes;
  return same;
}

/// Whether the parts of the dispatches are all those that are not the CPU's, each once.
bool parts_are_whole(const gpu::plan& p) {
  int covered = 0, on_cpu = 0;
  for (int part = 0; part <= p.cpu_part_count(); ++part)
    for (int i = p.part_begin(part); i < p.part_end(part); ++i, ++covered)
      if (p.dispatch(i).on_cpu) return false;
  for (int i = 0; i < p.dispatch_count(); ++i) on_cpu += p.dispatch(i).on_cpu ? 1 : 0;
  return covered + on_cpu == p.dispatch_count();
}

/// What is different; empty where nothing is. Steps have other numbers where some do nothing, and so have lifetimes.
std::string difference(const made_plan& a, const made_plan& b, bool comparing_ranges) {
  if (a.made.code() != b.made.code()) return std::string("one is ") + a.made.name() + ", the other " + b.made.name();
  if (!a.made) return {};
  if (!parts_are_whole(a.plan)) return "dispatches that no part has, or two";
  if (a.plan.dispatch_count() != b.plan.dispatch_count()) return "another number of dispatches";
  for (int i = 0; i < a.plan.dispatch_count(); ++i) {
    const gpu::dispatch_view x = a.plan.dispatch(i), y = b.plan.dispatch(i);
    const std::string at = "dispatch " + std::to_string(i) + " (step '" +
                           (x.step < 0 ? "state" : a.plan.variant().step(x.step).name()) + "'): another ";
    if (x.on_cpu != y.on_cpu) return at + "device";
    if (x.barrier != y.barrier) return at + "barrier";
    if (x.on_cpu) continue;
    const auto key = [](const gpu::plan& p, const gpu::dispatch_view& d) {
      return p.pipelines()[static_cast<std::size_t>(d.pipeline)];
    };
    if (!(key(a.plan, x) == key(b.plan, y))) return at + "pipeline";
    if (std::memcmp(x.groups, y.groups, sizeof x.groups) != 0) return at + "number of groups";
    if (x.constants.size() != y.constants.size()) return at + "number of constants";
    for (std::size_t c = 0; c < x.constants.size(); ++c)
      if (x.constants[c] != y.constants[c]) return at + "constant " + std::to_string(c);
  }
  if (comparing_ranges && a.plan.cpu_part_count() != b.plan.cpu_part_count())
    return "another number of parts on the CPU";
  for (int i = 0; comparing_ranges && i < a.plan.cpu_part_count(); ++i) {
    if (!same_ranges(a.plan.cpu_part(i).upload, b.plan.cpu_part(i).upload)) return "other uploads";
    if (!same_ranges(a.plan.cpu_part(i).read_back, b.plan.cpu_part(i).read_back)) return "other bytes to read back";
  }
  return {};
}

gpu::plan_settings whole() { return {}; }
/// With steps on the CPU: those of these operators.
gpu::plan_settings hybrid(std::initializer_list<op> operators) {
  gpu::plan_settings how;
  how.hybrid = true;
  for (const op o : operators) how.cpu_operators |= std::uint64_t{1} << static_cast<int>(o);
  return how;
}

/// Values to compare: the ends of each length, and some between; the others take turns.
std::vector<lengths> values_of(const variant_view& v) {
  std::vector<lengths> all;
  for (int turn = 0; turn < 7; ++turn) {
    lengths chosen;
    for (int i = 0; i < v.length_count(); ++i) {
      const length_view l = v.length(i);
      if (!l.is_chosen()) continue;
      const std::int64_t steps = (l.bound() - l.minimum()) / l.step();
      const std::int64_t share[] = {steps, 0, 1, steps / 2, steps - 1, steps / 3, 2 * steps / 3};
      const std::int64_t step = share[(turn + 3 * i) % 7];
      chosen[l.name()] = l.minimum() + std::min(std::max<std::int64_t>(step, 0), steps) * l.step();
    }
    all.push_back(chosen);
  }
  return all;
}

bool has_zero(const lengths& values) {
  return std::any_of(values.begin(), values.end(), [](const auto& v) { return v.second == 0; });
}

/// Whether images of other sizes than the bounds are resized: their tables are the CPU's.
bool resizes(const variant_view& v) {
  for (int i = 0; i < v.step_count(); ++i)
    if (v.step(i).op() == op::resize_2d && v.step(i).input(0).terms().size() != 0) return true;
  return false;
}

/// Compares the plans of a file; returns how many, or -1.
int compare(const std::string& path) {
  const tool::model_file file = tool::open_model(path);
  const int number = file.view.variant_count() - 1;  // the one for GPUs
  const variant_view v = file.view.variant(number);
  int compared = 0;
  if (resizes(v)) return 0;
  for (const lengths& values : values_of(v)) {
    for (const gpu::plan_settings& settings :
         {whole(), hybrid({op::unary, op::binary, op::mat_mul}), hybrid({op::copy, op::softmax})}) {
      gpu::plan_settings how = settings;
      made_plan alone, chosen;
      try {
        const tool::model_file fixed = tool::fixed_to(file, values, path);
        make(fixed.view.variant(number), how, alone);
        if (alone.made) ++compared;
        for (const auto& [name, n] : values)
          if (!how.set_length(v, name.c_str(), static_cast<std::int32_t>(n))) return -1;
        make(v, how, chosen);
        if (const std::string what = difference(chosen, alone, !has_zero(values)); !what.empty()) {
          std::printf("%s,%s: %s\n", path.c_str(), text_of(values).c_str(), what.c_str());
          return -1;
        }
      } catch (const tool::no_fixed_form&) {
        continue;  // a sum over nothing
      }
    }
  }
  return compared;
}

}

int main(int count, char** arguments) {
  int plans = 0;
  try {
    for (int i = 1; i < count; ++i) {
      const int compared = compare(arguments[i]);
      if (compared < 0) return 1;
      plans += compared;
    }
  } catch (const std::exception& e) {
    std::printf("%s\n", e.what());
    return 1;
  }
  std::printf("%d plans of %d files are those of the file of their lengths\n", plans, count - 1);
  return plans > 0 ? 0 : 1;
}
