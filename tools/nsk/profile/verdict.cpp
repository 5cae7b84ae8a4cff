// SPDX-License-Identifier: MIT
#include "profile/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "profile/median.hpp"

namespace nsk::tool {
namespace {

constexpr double slow_ratio = 1.5;       // of expected time, beside the machine's own
constexpr double low_rate = 0.5;         // of the kind's
constexpr double step_share = 0.03;      // of the whole time that a finding must lose
constexpr double verdict_share = 0.1;    // that all of them must lose
constexpr double differs_ratio = 1.5;    // of most steps: another machine, or a busy one
constexpr double counting_share = 0.01;  // of the whole time: shorter steps say nothing about the machine

bool is_product(const std::string& kind) {
  return kind == "conv" || kind == "pointwise" || kind == "winograd4" || kind == "winograd2";
}

/// What makes a layer of this shape slow, and what to change.
std::string advice_for(const step_work& w, const step_estimate& e) {
  if (e.overhead > 0.5 * e.total())
    return "most of its time begins the step and its tiles: give it more work, or convert with a larger --max-tile-us";
  if (w.kind == "gemv")
    return "it reads every weight for one row: ask for more rows at once (--batch-max), or pool before it";
  if (e.memory > e.compute && w.weight_bytes > w.activation_bytes)
    return "it waits for its weights: more rows per run use them again, fewer channels need fewer";
  if (e.memory > e.compute) return "it waits for its activations: a smaller image or fewer channels move fewer bytes";
  if (w.kind == "grouped" || w.kind == "depthwise")
    return "a depthwise or grouped convolution multiplies little per byte: fewer and wider layers, or a plain 1 x 1 "
           "convolution in its place";
  if (is_product(w.kind) && w.columns < 16)
    return "its few output channels leave lanes of the vectors idle: use 16 or more, or move pixels into channels";
  if (is_product(w.kind) && w.depth < 64)
    return "each output has few inputs: begin with a stride of 2, or move pixels into channels (space to depth)";
  if (w.kind == "function" || w.functions > 0)
    return "exp and its relatives take its time: hard_swish, hard_sigmoid and relu cost a tenth";
  if (w.kind == "copy" || w.kind == "shuffle")
    return "it only moves elements: see `layout` of nsk inspect for the reshape or transpose that asks for it";
  return "layers of this size are inefficient here: fewer and larger ones do the same work faster";
}

/// What to do about a step whose shape does not explain its time.
std::string advice_beside(const step_work& w, const step_estimate& e) {
  if (e.overhead > 0.3 * e.total()) return advice_for(w, e);
  return "layers of its shape run faster on this machine: measure again with nothing else running; where it stays, "
         "give "
         "it channels in multiples of 16, and check with nsk inspect that it is not cut into many small tiles";
}

/// How many times as long as expected the middle step takes, of those that count; 1 where too few do.
double machine_factor(const std::vector<step_verdict>& steps, double whole_us) {
  std::vector<double> ratios;
  for (const step_verdict& s : steps)
    if (s.expected_us > 0 && s.measured_us > counting_share * whole_us) ratios.push_back(s.measured_us / s.expected_us);
  return ratios.size() < 3 ? 1 : median(std::move(ratios));
}

void judge_step(const device_profile& p, const step_work& w, const step_estimate& e, double machine, double whole_us,
                step_verdict& v) {
  const double rate = rate_of_kind(p, w.kind), computing = v.measured_us / machine - e.overhead;
  if (rate > 0 && computing > 0) v.percent_of_kind = 100 * w.work() / computing / rate;
  if (e.compute <= 0) return;  // the profile knows nothing of such layers
  const double beside = v.expected_us * machine, at_rate = rate > 0 ? (w.work() / rate + e.overhead) * machine : 0;
  if (v.measured_us > slow_ratio * beside && v.measured_us - beside > step_share * whole_us) {
    v.finding = step_finding::below_expected;
    v.lost_us = v.measured_us - beside;
    v.advice = advice_beside(w, e);
  } else if (v.percent_of_kind > 0 && v.percent_of_kind < 100 * low_rate &&
             v.measured_us - at_rate > step_share * whole_us) {
    v.finding = step_finding::below_kind;
    v.lost_us = v.measured_us - at_rate;
    v.advice = advice_for(w, e);
  }
}

}

const char* name_of(step_finding f) {
  return f == step_finding::below_expected ? "slower than its shape"
         : f == step_finding::below_kind   ? "below its kind"
                                           : "as expected";
}

const char* name_of(conclusion c) {
  return c == conclusion::inefficient_steps ? "inefficient layers" : "too much work";
}

verdict judge(const device_profile& p, const std::vector<step_work>& work, const std::vector<double>& measured_us,
              double footprint) {
  verdict result;
  std::vector<step_estimate> estimates;
  for (std::size_t i = 0; i < work.size(); ++i) {
    estimates.push_back(estimate(p, work[i], footprint));
    step_verdict s;
    s.kind = work[i].kind;
    s.expected_us = estimates[i].total();
    s.measured_us = measured_us[i];
    result.expected_us += s.expected_us;
    result.measured_us += s.measured_us;
    result.steps.push_back(std::move(s));
  }
  result.machine = machine_factor(result.steps, result.measured_us);
  result.machine_differs = result.machine > differs_ratio || result.machine < 1 / differs_ratio;
  for (std::size_t i = 0; i < work.size(); ++i) {
    judge_step(p, work[i], estimates[i], result.machine, result.measured_us, result.steps[i]);
    result.lost_us += result.steps[i].lost_us;
  }
  if (result.lost_us > verdict_share * result.measured_us) result.result = conclusion::inefficient_steps;
  std::vector<int> order(work.size());
  std::iota(order.begin(), order.end(), 0);
  const auto time_of = [&](int i) { return result.steps[static_cast<std::size_t>(i)].measured_us; };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return time_of(a) > time_of(b); });
  if (order.size() > 5) order.resize(5);
  result.heaviest = order;
  return result;
}

}
