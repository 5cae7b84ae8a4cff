// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.hpp"
#include "cli/length_options.hpp"
#include "engine/model_file.hpp"
#include "cli/progress.hpp"
#include "cli/options.hpp"
#include "gpu/device.hpp"
#include "io/layout.hpp"
#include "io/npy.hpp"
#include "profile/measure.hpp"
#include "profile/median.hpp"
#include "io/text.hpp"
#include "inspect/trace.hpp"
#include "inspect/verdict_text.hpp"
#include "errors.hpp"
#include "suggest.hpp"

namespace nsk::tool {
namespace {
using nlohmann::json;
using clock = std::chrono::steady_clock;

double milliseconds_since(clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(clock::now() - begin).count();
}

/// Gives inputs what the files hold, in the source's layout, and noise to the others.
void fill_inputs(const model& m, inference& r, int variant, const std::vector<std::string>& inputs) {
  fill_with_noise(m, r, variant);
  auto given = named_values("--input", inputs, "NAME=FILE.npy");
  std::vector<std::string> known;
  for (int i = 0; i < m.input_count(variant); ++i) {
    const port_view port = m.input(i, variant);
    known.push_back(port.name());
    const auto found = given.find(port.name());
    if (found == given.end()) continue;
    const array values = read_npy(found->second);
    if (values.type != element_of(port.type()) || values.shape != source_shape_of(port))
      refuse("input '" + known.back() + "' is " + name_of(element_of(port.type())) + " " +
             to_string(source_shape_of(port)) + ", but '" + found->second + "' holds " + name_of(values.type) + " " +
             to_string(values.shape) + ". Give an array of that type and shape." +
             transposition_cure(values.shape, source_shape_of(port)));
    const array laid = to_engine(port, values);
    std::memcpy(r.input(i), laid.data.data(), laid.data.size());
    given.erase(found);
  }
  if (!given.empty())
    misuse("--input: the model has no input '" + given.begin()->first + "'." +
           did_you_mean(given.begin()->first, known) + state_cure(m, variant, given.begin()->first));
}

struct measured {
  std::vector<double> runs;                ///< milliseconds
  std::vector<std::vector<double>> steps;  ///< microseconds, by step
  double peak = 0;                         ///< GFLOP/s of one core
};

/// One round: three quarters of the time for whole runs, the rest with a clock around each step.
void measure_round(runner& r, double seconds, const std::function<void(const char*, double)>& show, measured& result) {
  for (int i = 0; i < 3; ++i) r.run();
  const clock::time_point begin = clock::now();
  const auto passed = [&] { return milliseconds_since(begin) / (seconds * 1000); };
  do {
    show("measuring", passed());
    const clock::time_point start = clock::now();
    r.run();
    result.runs.push_back(milliseconds_since(start));
  } while (passed() < 0.75);
  std::vector<step_event> events;
  do {
    show("measuring steps", passed());
    events.clear();
    r.run(events);
    for (const step_event& s : events)
      if (s.lane < 0) result.steps[static_cast<std::size_t>(s.step)].push_back(s.end_us - s.begin_us);
  } while (passed() < 1);
}

measured measure(const engine& e, runner& r, int steps, const bench_options& o, progress_line& progress) {
  measured result;
  result.steps.resize(static_cast<std::size_t>(steps));
  result.peak = e.fma_peak();
  const int rounds = std::max(o.rounds, 1);
  for (int i = 0; i < rounds; ++i) {
    const auto show = [&](const char* what, double passed) { progress.show(what, (i + passed) / rounds); };
    measure_round(r, o.seconds, show, result);
    result.peak = std::max(result.peak, e.fma_peak());
  }
  return result;
}

/// A few runs with a clock around every step, on one time line.
std::string trace_of(const model& m, runner& r) {
  constexpr int runs = 3;
  stage_clock stages;
  std::vector<step_event> all;
  for (int i = 0; i < runs; ++i) {
    std::vector<step_event> events;
    const double start = stages.now();
    r.run(events);
    for (step_event e : events) {
      e.begin_us += start;
      e.end_us += start;
      all.push_back(e);
    }
    stages.end("run " + std::to_string(i + 1));
  }
  return trace_json(m, all, 0, stages.events());
}

double minimum(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::min_element(values.begin(), values.end());
}

/// Rates and percentages are those of the medians, or of the minima where rounds were asked for.
json report_of(const model& m, const measured& t, const engine& e, const bench_options& o) {
  const variant_view v = m.variant();
  const auto chosen = [&](const std::vector<double>& times) { return o.rounds > 0 ? minimum(times) : median(times); };
  const double peak = t.peak * o.lanes, ms = chosen(t.runs);
  std::uint64_t macs = 0;
  double step_sum = 0;
  for (int i = 0; i < v.step_count(); ++i) {
    macs += v.step(i).macs();
    step_sum += chosen(t.steps[static_cast<std::size_t>(i)]);
  }
  json report = {{"model", m.name()}, {"isa", e.name}, {"lanes", o.lanes}, {"runs", t.runs.size()}};
  if (o.rounds > 0) report["rounds"] = o.rounds;
  report["median_ms"] = median(t.runs);
  report["min_ms"] = minimum(t.runs);
  report["macs"] = macs;
  report["gflops"] = 2e-6 * static_cast<double>(macs) / ms;
  report["peak_gflops"] = peak;
  report["percent_of_peak"] = 2e-4 * static_cast<double>(macs) / ms / peak;
  report["steps"] = json::array();
  for (int i = 0; i < v.step_count(); ++i) {
    const step_view s = v.step(i);
    const std::vector<double>& times = t.steps[static_cast<std::size_t>(i)];
    const double us = chosen(times), gflops = us > 0 ? 2e-3 * static_cast<double>(s.macs()) / us : 0;
    json row = {{"index", i}, {"name", s.name()}, {"operator", name_of(s.op())}, {"macs", s.macs()}};
    row["median_us"] = median(times);
    row["min_us"] = minimum(times);
    row["percent_of_time"] = step_sum > 0 ? 100 * us / step_sum : 0;
    row["gflops"] = gflops;
    row["percent_of_peak"] = 100 * gflops / peak;
    report["steps"].push_back(row);
  }
  return report;
}

std::string text_of(const json& r, const text_style& style) {
  const bool in_rounds = r.contains("rounds");
  const std::string rounds = in_rounds ? format_text(" in %d rounds", r["rounds"].get<int>()) : "";
  std::string text = format_text(
      "%s on %s, %d lane(s), %zu runs%s\nmedian %s ms, best %.3f ms\n", r["model"].get<std::string>().c_str(),
      r["isa"].get<std::string>().c_str(), r["lanes"].get<int>(), r["runs"].get<std::size_t>(), rounds.c_str(),
      style.strong(format_text("%.3f", r["median_ms"].get<double>())).c_str(), r["min_ms"].get<double>());
  text +=
      format_text("%s MACs, %.1f GFLOP/s, %.1f %% of the FMA peak (%.1f GFLOP/s)\n\n", count_text(r["macs"]).c_str(),
                  r["gflops"].get<double>(), r["percent_of_peak"].get<double>(), r["peak_gflops"].get<double>());
  text_table table(
      {">step", "operator", in_rounds ? ">least us" : ">us", ">% of time", ">MACs", ">GFLOP/s", ">% of peak", "name"});
  constexpr double heavy_percent = 5;
  for (const json& s : r["steps"])
    table.add(
        {s["index"].dump(), s["operator"], format_text("%.1f", s[in_rounds ? "min_us" : "median_us"].get<double>()),
         format_text("%.1f", s["percent_of_time"].get<double>()), count_text(s["macs"]),
         format_text("%.1f", s["gflops"].get<double>()), format_text("%.1f", s["percent_of_peak"].get<double>()),
         s["name"]},
        s["percent_of_time"].get<double>() >= heavy_percent);
  return text + table.text(style);
}

/// Refuses a profile that says nothing about this run.
device_profile profile_for(const bench_options& o, const engine& e) {
  if (o.lanes != 1) misuse("--profile lets expect the times of one lane. Leave --lanes out.");
  device_profile p = open_profile(o.profile);
  if (p.isa != e.name)
    refuse("the device profile '" + o.profile + "' was measured with " + p.isa + ", this run uses " + e.name +
           ". Give --isa " + p.isa + ", or measure again with `nsk profile --isa " + e.name + "`.");
  return p;
}

/// Sets the best time of each step beside what the profile lets expect.
void judge_report(json& report, const model& m, const device_profile& p) {
  const variant_view v = m.variant();
  std::vector<step_work> work;
  std::vector<double> best;
  for (int i = 0; i < v.step_count(); ++i) {
    work.push_back(describe_work(v.step(i)));
    best.push_back(report["steps"][static_cast<std::size_t>(i)]["min_us"]);
  }
  add_verdict(report, judge(p, work, best, static_cast<double>(m.weights().size() + v.required_bytes())), p);
}

/// Whole runs on a device: its own clock, what recording takes, and the time until outputs are back.
json measure_device_runs(device_runner& r, double seconds, progress_line& progress) {
  std::vector<double> device, recording, whole;
  r.run();  // drivers compile at the first dispatch
  const clock::time_point begin = clock::now();
  const auto passed = [&] { return milliseconds_since(begin) / (seconds * 1000); };
  do {
    progress.show("measuring", passed());
    const clock::time_point start = clock::now();
    r.run();
    whole.push_back(milliseconds_since(start));
    device.push_back(r.device_us() * 1e-3);
    recording.push_back(r.recording_us());
  } while (passed() < 1);
  json report = {{"runs", whole.size()}, {"device_median_ms", median(device)}, {"device_min_ms", minimum(device)}};
  report["recording_median_us"] = median(recording);
  report["recording_min_us"] = minimum(recording);
  report["round_trip_median_ms"] = median(whole);
  return report;
}

std::string device_bench_text(const bench_options& o, const device_facts& f, const json& r, const text_style& style) {
  std::string text = device_text(o.device, f);
  const double median_ms = r["device_median_ms"];
  text += median_ms > 0 ? format_text("device:    median %s ms, best %.3f ms, %zu runs\n",
                                      style.strong(format_text("%.3f", median_ms)).c_str(),
                                      r["device_min_ms"].get<double>(), r["runs"].get<std::size_t>())
                        : format_text("device:    it tells no times, %zu runs\n", r["runs"].get<std::size_t>());
  text += format_text("recording: median %.1f us, best %.1f us\n", r["recording_median_us"].get<double>(),
                      r["recording_min_us"].get<double>());
  text += format_text("with copies of inputs and outputs, and waiting: median %.3f ms\n",
                      r["round_trip_median_ms"].get<double>());
  if (f.software) text += "A software driver's times say nothing about GPUs.\n";
  return text;
}

exit_code bench_device(const bench_options& o) {
  refuse_beside_device({{"--isa", !o.isa.empty()},
                        {"--lanes", o.lanes != 1},
                        {"--rounds", o.rounds != 0},
                        {"--trace", !o.trace.empty()},
                        {"--profile", !o.profile.empty()}});
  const model_file file = open_model_at(o.model, o.lengths);
  const int variant = device_variant_of(file.view, "");
  const auto device = open_device(o.device, {file, variant, 0, o.halves});
  fill_inputs(file.view, *device, variant, o.inputs);
  progress_line progress(o.quiet);
  json report = measure_device_runs(*device, o.seconds, progress);
  progress.clear();
  const device_facts& facts = device->facts();
  report.update(device_json(o.device, facts));
  report["model"] = file.view.name();
  report["dispatches"] = facts.dispatches;
  report["barriers"] = facts.barriers;
  report["pipelines"] = facts.pipelines;
  print(o.json ? json_text(report) : device_bench_text(o, device->facts(), report, style_of_output()));
  return exit_code::good;
}

}

exit_code bench(const bench_options& o, command_files& files) {
  refuse_without("--device", !o.device.empty(), o.halves);
  if (!o.device.empty()) return bench_device(o);
  const model_file file = open_model_at(o.model, o.lengths);
  const engine& e = choose_engine(o.isa);
  std::optional<device_profile> profile;
  if (!o.profile.empty()) profile = profile_for(o, e);
  const auto runner = e.open(file.bytes.data(), file.bytes.size(), o.lanes, 0);
  fill_inputs(file.view, *runner, 0, o.inputs);
  progress_line progress(o.quiet);
  const measured times = measure(e, *runner, file.view.variant().step_count(), o, progress);
  progress.clear();
  json report = report_of(file.view, times, e, o);
  if (profile) judge_report(report, file.view, *profile);
  if (!o.trace.empty()) files.write(o.trace, trace_of(file.view, *runner));
  files.commit();
  const text_style style = style_of_output();
  print(o.json ? json_text(report) : text_of(report, style));
  if (profile && !o.json) print(verdict_text(report, style));
  return exit_code::good;
}

}
