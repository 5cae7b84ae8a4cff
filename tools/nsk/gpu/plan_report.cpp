// SPDX-License-Identifier: MIT
#include "gpu/plan_report.hpp"

#include <map>
#include <set>
#include <nlohmann/json.hpp>
#include <vector>

#include <netsuke/gpu/half_weights.hpp>

#include "errors.hpp"
#include "status_text.hpp"

namespace nsk::tool {
namespace {
using nlohmann::json;

/// Bytes of the elements of a tensor, those that a stride of 0 repeats once.
std::uint64_t bytes_of(const tensor_info& t) {
  std::uint64_t elements = 1;
  for (int d = 0; d < t.rank(); ++d) {
    const auto at = static_cast<std::size_t>(d);
    if (t.strides()[at] != 0) elements *= static_cast<std::uint64_t>(t.shape()[at]);
  }
  return elements * static_cast<std::uint64_t>(size_of(t.type()));
}

struct traffic {
  std::uint64_t read = 0, written = 0;
};

traffic traffic_of(const step_view& s, const gpu::impl::half_buffers& halves) {
  traffic t;
  const auto stored = [&](const tensor_info& of) { return bytes_of(of) / (halves.has(of) ? 2 : 1); };
  for (int i = 0; i < s.input_count(); ++i) t.read += stored(s.input(i));
  for (int i = 0; i < s.output_count(); ++i) t.written += stored(s.output(i));
  return t;
}

json permutation_of(const gpu::pipeline_key& key) {
  json result = json::object();
  for (int i = 0; i < gpu::specialization_count; ++i)
    result[gpu::specialization_names[i]] = static_cast<int>(key.specialization[i]);
  return result;
}

json describe_pipelines(const gpu::plan& plan) {
  std::vector<int> dispatches(plan.pipelines().size(), 0);
  for (int i = 0; i < plan.dispatch_count(); ++i) {
    const gpu::dispatch_view d = plan.dispatch(i);
    if (!d.on_cpu) ++dispatches[static_cast<std::size_t>(d.pipeline)];
  }
  for (int i = 0; i < plan.reset_count(); ++i) ++dispatches[static_cast<std::size_t>(plan.reset_dispatch(i).pipeline)];
  json result = json::array();
  for (std::size_t i = 0; i < dispatches.size(); ++i) {
    const gpu::pipeline_key& key = plan.pipelines()[i];
    result.push_back(
        {{"kernel", gpu::name_of(key.kernel)}, {"permutation", permutation_of(key)}, {"dispatches", dispatches[i]}});
  }
  return result;
}

json describe_step(const variant_view& v, int i, const gpu::impl::half_buffers& halves) {
  const step_view s = v.step(i);
  const traffic t = traffic_of(s, halves);
  const char* const why = gpu::why_no_shader(v, i);
  json result = {{"index", i}, {"name", s.name()}, {"operator", name_of(s.op())}, {"kernels", json::array()}};
  result["dispatches"] = 0;
  result["barriers"] = 0;
  result["barrier_before"] = false;
  result["read_bytes"] = t.read;
  result["written_bytes"] = t.written;
  result["merged_into"] = nullptr;
  result["no_shader"] = why == nullptr ? json(nullptr) : json(why);
  return result;
}

/// Notes that a dispatch computes an earlier step as well: what is between them is neither written nor read.
void add_merged(const variant_view& v, const gpu::dispatch_view& d, json& steps) {
  json &made = steps[static_cast<std::size_t>(d.merged)], &reader = steps[static_cast<std::size_t>(d.step)];
  made["merged_into"] = d.step;
  made["written_bytes"] = 0;
  reader["read_bytes"] = reader["read_bytes"].get<std::uint64_t>() - bytes_of(v.step(d.step).input(0));
}

/// Adds the dispatches of a plan to its steps; those that make states current to `states`.
void add_dispatches(const gpu::plan& plan, json& steps, json& states) {
  for (int i = 0; i < plan.dispatch_count(); ++i) {
    const gpu::dispatch_view d = plan.dispatch(i);
    if (d.on_cpu) continue;
    json& of = d.step < 0 ? states : steps[static_cast<std::size_t>(d.step)];
    if (d.barrier && of["dispatches"] == 0) of["barrier_before"] = true;
    of["dispatches"] = of["dispatches"].get<int>() + 1;
    of["barriers"] = of["barriers"].get<int>() + (d.barrier ? 1 : 0);
    const gpu::traffic scratch = plan.scratch_traffic(i);
    if (scratch.read > 0) of["read_bytes"] = of["read_bytes"].get<std::uint64_t>() + scratch.read;
    if (scratch.written > 0) of["written_bytes"] = of["written_bytes"].get<std::uint64_t>() + scratch.written;
    const char* const kernel = gpu::name_of(plan.pipelines()[static_cast<std::size_t>(d.pipeline)].kernel);
    if (d.step >= 0) of["kernels"].push_back(kernel);
    if (d.merged >= 0) add_merged(plan.variant(), d, steps);
  }
}

/// Bytes that the copies of states at the end of an inference read, and write.
std::uint64_t copied_state_bytes(const variant_view& v) {
  std::uint64_t bytes = 0;
  for (int i = 0; i < v.state_count(); ++i) {
    const tensor_info next = v.state(i).next(), tensor = v.state(i).tensor();
    if (next.buffer_offset() + next.offset() != tensor.buffer_offset() + tensor.offset()) bytes += bytes_of(next);
  }
  return bytes;
}

void add_sums(json& report, std::uint64_t state_bytes) {
  std::uint64_t read = state_bytes, written = state_bytes;
  int dispatches = report["states"]["dispatches"], barriers = report["states"]["barriers"], without = 0;
  for (const json& s : report["steps"]) {
    dispatches += s["dispatches"].get<int>();
    barriers += s["barriers"].get<int>();
    if (!s["no_shader"].is_null()) {
      ++without;
      continue;
    }
    read += s["read_bytes"].get<std::uint64_t>();
    written += s["written_bytes"].get<std::uint64_t>();
  }
  report["dispatches"] = dispatches;
  report["barriers"] = barriers;
  report["steps_without_shader"] = without;
  report["whole"] = without == 0;
  report["read_bytes"] = read;
  report["written_bytes"] = written;
}

std::string permutation_text(const json& permutation) {
  std::string text;
  for (const char* name : gpu::specialization_names)
    if (const int value = permutation[name]; value != 0)
      text += (text.empty() ? "" : " ") + std::string(name) + "=" + std::to_string(value);
  return text;
}

std::string pipelines_text(const json& pipelines, const text_style& style) {
  text_table table({">pipeline", "kernel", ">dispatches", "permutation"});
  int number = 0;
  for (const json& p : pipelines)
    table.add({std::to_string(number++), p["kernel"], p["dispatches"].dump(), permutation_text(p["permutation"])});
  return table.text(style);
}

std::string steps_text(const json& steps, const text_style& style) {
  text_table table({">step", "operator", "kernel", ">dispatches", "barrier", ">reads", ">writes", "name"});
  for (const json& s : steps) {
    const bool runs = s["no_shader"].is_null();
    const std::string kernel = !s["kernels"].empty()        ? s["kernels"][0].get<std::string>()
                               : !runs                      ? "on the CPU"
                               : s["merged_into"].is_null() ? "none"
                                                            : "in step " + s["merged_into"].dump();
    table.add({s["index"].dump(), s["operator"], kernel, s["dispatches"].dump(), s["barrier_before"] ? "before" : "",
               bytes_text(s["read_bytes"].get<double>()), bytes_text(s["written_bytes"].get<double>()), s["name"]},
              !runs);
  }
  return table.text(style);
}

std::string missing_text(const json& steps) {
  std::string text;
  for (const json& s : steps)
    if (!s["no_shader"].is_null())
      text += "          step " + s["index"].dump() + " '" + printable(s["name"].get<std::string>()) + "', " +
              s["operator"].get<std::string>() + ": " + s["no_shader"].get<std::string>() + "\n";
  return text;
}

/// A plan and its memory.
struct stored_plan {
  std::vector<std::uint64_t> space;
  gpu::plan plan;
  gpu::status made;

  stored_plan(const variant_view& v, const gpu::plan_settings& how)
      : space(gpu::plan::required_bytes(v, how) / sizeof(std::uint64_t) + 1),
        made(gpu::plan::make(v, how, {reinterpret_cast<std::byte*>(space.data()), space.size() * sizeof(std::uint64_t)},
                             plan)) {}
};

/// Bytes that an inference reads and writes where activations are 16-bit floats.
json half_bytes(const variant_view& v, gpu::plan_settings how) {
  how.half_activations = true;
  const stored_plan half(v, how);
  if (!half.made) return nullptr;
  const gpu::traffic sum = half.plan.traffic();
  return {{"read", sum.read + sum.constants}, {"written", sum.written}};
}

/// How many buffers of activations hold 16-bit floats.
void add_half_buffers(const variant_view& v, const gpu::impl::half_buffers& halves, json& report) {
  std::set<int> all, half;
  const auto add = [&](const tensor_info& t) {
    if (t.where() == storage::constant) return;
    all.insert(t.buffer());
    if (halves.has(t)) half.insert(t.buffer());
  };
  for (int i = 0; i < v.step_count(); ++i) {
    for (int k = 0; k < v.step(i).input_count(); ++k) add(v.step(i).input(k));
    for (int k = 0; k < v.step(i).output_count(); ++k) add(v.step(i).output(k));
  }
  report["half_buffers"] = half.size();
  report["buffers"] = all.size();
}

/// What 16-bit weights would be, or are; where they are, steps read fewer bytes.
void add_half_weights(const variant_view& v, span<const std::byte> weights, gpu::plan_settings how, json& report) {
  const bool are = how.half_weights.size() != 0;
  how.half_weights = weights;
  gpu::impl::dispatch_writer chosen(how);
  gpu::impl::choose_half_panels(v, chosen);
  int layers = 0, half = 0;
  std::uint64_t saved = 0;
  for (int i = 0; i < v.step_count(); ++i) {
    if (gpu::impl::panels_of(v.step(i)).matrices == 0) continue;
    ++layers;
    const tensor_info w = v.step(i).input(1);
    if (!chosen.panels().has(w)) continue;
    ++half;
    saved += bytes_of(w) / 2;
    json& step = report["steps"][static_cast<std::size_t>(i)];
    if (are) step["read_bytes"] = step["read_bytes"].get<std::uint64_t>() - bytes_of(w) / 2;
  }
  report["half_weight_bytes"] = chosen.panels().all_bytes();
  report["half_weight_layers"] = half;
  report["weight_layers"] = layers;
  report["half_weights_saved"] = saved;
}

}

json gpu_plan_report(const variant_view& v, span<const std::byte> weights, const half_options& stored_as) {
  gpu::plan_settings how;
  how.half_activations = stored_as.activations;
  if (stored_as.weights) how.half_weights = weights;
  how.hybrid = true;  // so that what has a shader is counted where other steps have none
  json report = {
      {"plan_bytes", gpu::plan::required_bytes(v, how)}, {"arena_bytes", v.shared_bytes()}, {"steps", json::array()}};
  report["pipelines"] = json::array();
  report["states"] = {{"dispatches", 0}, {"barriers", 0}, {"barrier_before", false}};
  report["reset_dispatches"] = 0;
  report["half_bytes"] = nullptr;
  const gpu::impl::half_buffers halves = gpu::impl::half_buffers_of(v, how);
  for (int i = 0; i < v.step_count(); ++i) report["steps"].push_back(describe_step(v, i, halves));
  add_half_weights(v, weights, how, report);
  if (stored_as.activations) add_half_buffers(v, halves, report);
  const stored_plan stored(v, how);
  const gpu::plan& plan = stored.plan;
  const gpu::status made = stored.made;
  report["refused"] = made ? json(nullptr) : json(status_text(made, v));
  if (made) {
    report["arena_bytes"] = plan.required_arena_bytes();
    report["half_bytes"] = half_bytes(v, how);
    report["pipelines"] = describe_pipelines(plan);
    report["reset_dispatches"] = plan.reset_count();
    add_dispatches(plan, report["steps"], report["states"]);
  }
  add_sums(report, copied_state_bytes(v));
  if (!made) report["whole"] = false;
  return report;
}

std::string gpu_plan_summary(const json& plan) {
  if (!plan["refused"].is_null()) return "no GPU plan: " + plan["refused"].get<std::string>() + "\n";
  std::string text = format_text("%d dispatches, %d barriers, %zu pipelines", plan["dispatches"].get<int>(),
                                 plan["barriers"].get<int>(), plan["pipelines"].size());
  if (plan["whole"]) return text + "\n";
  text +=
      format_text("; %d of %zu steps have no shader:\n", plan["steps_without_shader"].get<int>(), plan["steps"].size());
  std::map<std::string, int> reasons;
  for (const json& s : plan["steps"])
    if (!s["no_shader"].is_null())
      ++reasons[s["operator"].get<std::string>() + ": " + s["no_shader"].get<std::string>()];
  for (const auto& [reason, count] : reasons) text += format_text("  %d x %s\n", count, reason.c_str());
  return text;
}

std::string gpu_plan_text(const json& plan, std::uint64_t weight_bytes, const text_style& style) {
  if (!plan["refused"].is_null()) return "gpu       " + gpu_plan_summary(plan) + missing_text(plan["steps"]);
  std::string text = format_text("gpu       %zu steps, %s dispatches, %s barriers, %zu pipelines\n",
                                 plan["steps"].size(), style.strong(plan["dispatches"].dump()).c_str(),
                                 style.strong(plan["barriers"].dump()).c_str(), plan["pipelines"].size());
  text += format_text("memory    plan %s bytes, arena %s, weights %s\n", digits_text(plan["plan_bytes"]).c_str(),
                      digits_text(plan["arena_bytes"]).c_str(), digits_text(weight_bytes).c_str());
  text += format_text("traffic   an inference reads %s and writes %s\n",
                      bytes_text(plan["read_bytes"].get<double>()).c_str(),
                      bytes_text(plan["written_bytes"].get<double>()).c_str());
  text +=
      format_text("          16-bit weights: %s of memory, %d of %d layers, reads %s less\n",
                  bytes_text(plan["half_weight_bytes"].get<double>()).c_str(), plan["half_weight_layers"].get<int>(),
                  plan["weight_layers"].get<int>(), bytes_text(plan["half_weights_saved"].get<double>()).c_str());
  if (const auto half = plan.find("half_buffers"); half != plan.end())
    text +=
        format_text("          %d of %d buffers hold 16-bit floats\n", half->get<int>(), plan["buffers"].get<int>());
  else if (const json& half = plan["half_bytes"]; half.is_object())
    text +=
        format_text("          with 16-bit activations it reads %s and writes %s\n",
                    bytes_text(half["read"].get<double>()).c_str(), bytes_text(half["written"].get<double>()).c_str());
  const int states = plan["states"]["dispatches"], reset = plan["reset_dispatches"];
  if (states + reset > 0)
    text += format_text("states    %d dispatches at the end of an inference, %d to reset them\n", states, reset);
  if (!plan["whole"])
    text += format_text("no shader %d of %zu steps\n", plan["steps_without_shader"].get<int>(), plan["steps"].size()) +
            missing_text(plan["steps"]);
  return text + "\n" + style.strong("pipelines") + "\n" + pipelines_text(plan["pipelines"], style) + "\n" +
         style.strong("steps") + "\n" + steps_text(plan["steps"], style);
}

}
