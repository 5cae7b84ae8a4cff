// SPDX-License-Identifier: MIT
#include "quantize/calibrate/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <thread>

#include "engine/model_file.hpp"
#include "engine/values.hpp"
#include "errors.hpp"
#include "check/noise.hpp"

namespace nsk::tool {
namespace {
/// One model that is run on samples.
class sample_runner {
 public:
  explicit sample_runner(variant_source v, const float_storage& floats = {})
      : m_file(open_model(compile_as(v, floats), v.g.name)),
        m_runner(choose_engine("").open(m_file.bytes.data(), m_file.bytes.size(),
                                        std::max(1, static_cast<int>(std::thread::hardware_concurrency())), 0)) {
    for (const state_link& s : v.states) m_next.emplace(s.input, s.output);
  }

  void run(const sample& inputs) {
    give_inputs(*m_runner, m_file.view.variant(), inputs);
    m_runner->run();
  }
  /// What a state holds: the next run reads it.
  array state(const std::string& name) const {
    const variant_view v = m_file.view.variant(0);
    for (int i = 0; i < v.state_count(); ++i)
      if (v.state(i).name() == name) return state_of(*m_runner, v, i);
    refuse("there is no state '" + name + "'");
  }
  /// Calls f(name, array in the source's axes) for each output, and for what the run left in each state by the name of
  /// the output that it was.
  template <class F>
  void for_each_output(F f) {
    const variant_view v = m_file.view.variant();
    for (int i = 0; i < v.output_count(); ++i) f(std::string(v.output(i).name()), output_of(*m_runner, v, i));
    for (int i = 0; i < v.state_count(); ++i) f(m_next.at(v.state(i).name()), state_of(*m_runner, v, i));
  }

 private:
  model_file m_file;
  std::unique_ptr<runner> m_runner;
  std::map<std::string, std::string> m_next;  ///< output of the source that becomes the state of a name
};

/// The place of the first of the largest elements, and how many are NaN.
std::pair<std::int64_t, std::int64_t> class_of(const array& a) {
  std::int64_t best = -1, not_numbers = 0;
  for (std::int64_t i = 0; i < a.count(); ++i) {
    const double x = a.number(i);
    not_numbers += std::isnan(x) ? 1 : 0;
    if (!std::isnan(x) && (best < 0 || x > a.number(best))) best = i;
  }
  return {best, not_numbers};
}

void add_channels(tensor_statistics& s, const array& a) {
  const auto inner = static_cast<std::size_t>(count_between(a.shape, s.axis + 1, a.shape.size())),
             channels = static_cast<std::size_t>(a.shape[s.axis]), count = static_cast<std::size_t>(a.count());
  s.channel_sums.resize(channels, 0.0);
  for (std::size_t i = 0; i < count; i += inner) {
    double sum = 0;
    for (std::size_t k = 0; k < inner; ++k) sum += static_cast<double>(a.as<float>()[i + k]);
    s.channel_sums[i / inner % channels] += sum;
  }
  s.per_channel += count / channels;
}

}

void add_outputs(graph& g, const std::vector<value_id>& ids) {
  for (const value_id id : ids)
    if (std::find(g.outputs.begin(), g.outputs.end(), id) == g.outputs.end()) g.outputs.push_back(id);
}

std::map<std::string, tensor_statistics> calibrate(const variant_source& v,
                                                   const std::map<std::string, std::size_t>& axes,
                                                   const std::vector<sample>& samples,
                                                   const std::vector<std::string>& files,
                                                   const std::function<void(double share)>& progress) {
  variant_source watched = v;
  std::map<std::string, tensor_statistics> seen;
  std::vector<std::string> inputs;
  for (const auto& [name, axis] : axes) {
    const value_id id = watched.g.find(name);
    seen[name].axis = axis;
    if (std::find(watched.g.inputs.begin(), watched.g.inputs.end(), id) != watched.g.inputs.end())
      inputs.push_back(name);
    else
      add_outputs(watched.g, {id});
  }
  sample_runner runner(watched);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto look_at = [&](const std::string& name, const array& a) {
      const auto found = seen.find(name);
      if (found == seen.end()) return;
      if (!found->second.values.add(a.as<float>(), static_cast<std::size_t>(a.count())))
        refuse("tensor '" + name + "' is not finite on the sample '" + files[i] +
               "'. Look for a sample outside what the model was trained on.");
      add_channels(found->second, a);
    };
    for (const std::string& name : inputs) {
      const auto given = samples[i].find(name);
      look_at(name, given != samples[i].end() ? given->second : runner.state(name));
    }
    runner.run(samples[i]);
    runner.for_each_output(look_at);
    progress(static_cast<double>(i + 1) / static_cast<double>(samples.size()));
  }
  return seen;
}

std::vector<std::vector<double>> channel_magnitudes_of(const variant_source& v, const std::vector<std::string>& names,
                                                       const std::vector<sample>& samples) {
  variant_source watched = v;
  std::map<std::string, std::vector<double>> seen;
  for (const std::string& name : names) {
    seen.emplace(name, std::vector<double>());
    add_outputs(watched.g, {watched.g.find(name)});
  }
  sample_runner runner(watched);
  for (const sample& s : samples) {
    runner.run(s);
    runner.for_each_output([&](const std::string& name, const array& a) {
      const auto found = seen.find(name);
      if (found == seen.end()) return;
      const std::size_t axis = channel_axis(a.shape);
      const std::int64_t inner = count_between(a.shape, axis + 1, a.shape.size());
      found->second.resize(static_cast<std::size_t>(a.shape[axis]), 0.0);
      for (std::int64_t i = 0; i < a.count(); ++i) {
        double& largest = found->second[static_cast<std::size_t>(i / inner % a.shape[axis])];
        largest = std::max(largest, std::abs(a.number(i)));
      }
    });
  }
  std::vector<std::vector<double>> result;
  for (const std::string& name : names) result.push_back(seen.at(name));
  return result;
}

noise_meter::noise_meter(const variant_source& exact, std::vector<sample> samples)
    : m_samples(std::move(samples)), m_wanted(run(exact, {})) {}

std::vector<sample> noise_meter::run(const variant_source& quantised, const float_storage& floats) const {
  sample_runner runner(quantised, floats);
  std::vector<sample> found;
  for (const sample& s : m_samples) {
    runner.run(s);
    found.emplace_back();
    runner.for_each_output([&](const std::string& name, array a) { found.back().emplace(name, std::move(a)); });
  }
  return found;
}

output_noise noise_meter::compare(const variant_source& quantised, const float_storage& floats) const {
  std::map<std::string, noise_sums> sums;
  std::size_t other_class = 0;
  sample_runner runner(quantised, floats);
  for (std::size_t k = 0; k < m_samples.size(); ++k) {
    runner.run(m_samples[k]);
    bool is_other = false;
    runner.for_each_output([&](const std::string& name, const array& a) {
      const array& want = m_wanted[k].at(name);
      sums[name].add(want, a);
      is_other = is_other || class_of(want) != class_of(a);
    });
    other_class += is_other ? 1 : 0;
  }
  output_noise result;
  for (const auto& [name, s] : sums) result.outputs[name] = s.decibels();
  result.other_class = static_cast<double>(other_class) / static_cast<double>(m_samples.size());
  return result;
}

double output_noise::lowest() const {
  double lowest = 200;
  for (const auto& [name, db] : outputs) lowest = std::min(lowest, db);
  return lowest;
}

std::vector<std::byte> compile_as(variant_source& v, const float_storage& floats) {
  compile_options options;
  if (!floats.halves) return compile({v}, options);
  options.weights = weight_format::fp16;
  options.float_weights = floats.float32;
  std::vector<variant_source> variants = {v};
  std::vector<std::byte> file = compile_with_narrow_weights(variants, options).file.bytes;
  v = std::move(variants.front());
  return file;
}

}
