// SPDX-License-Identifier: MIT
#include "quantize/calibrate/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <thread>

#include "engine/model_file.hpp"
#include "engine/values.hpp"
#include "errors.hpp"
#include "check/noise.hpp"

namespace nsk::tool {
namespace {
/// One model that is run on samples, as the file for the lengths of each.
class sample_runner {
 public:
  explicit sample_runner(variant_source v, const float_storage& floats = {})
      : m_source(std::move(v)), m_floats(floats) {
    for (const state_link& s : m_source.states) m_next.emplace(s.input, s.output);
    if (m_source.lengths.empty() || !m_source.states.empty()) open(bounds_of(m_source.lengths));
  }

  void run(const sample& inputs) {
    if (!m_source.lengths.empty()) {
      const length_choice lengths = lengths_of(m_source, inputs, "a run");
      if (m_runner == nullptr || lengths != m_lengths) open(lengths);
    }
    give_inputs(*m_runner, m_file->view.variant(), inputs);
    m_runner->run();
  }
  /// What a state holds: the next run reads it.
  array state(const std::string& name) const {
    const variant_view v = m_file->view.variant(0);
    for (int i = 0; i < v.state_count(); ++i)
      if (v.state(i).name() == name) return state_of(*m_runner, v, i);
    refuse("there is no state '" + name + "'");
  }
  /// Calls f(name, array in the source's axes) for each output, and for what the run left in each state by the name of
  /// the output that it was.
  template <class F>
  void for_each_output(F f) {
    const variant_view v = m_file->view.variant();
    for (int i = 0; i < v.output_count(); ++i) f(std::string(v.output(i).name()), output_of(*m_runner, v, i));
    for (int i = 0; i < v.state_count(); ++i) f(m_next.at(v.state(i).name()), state_of(*m_runner, v, i));
  }

 private:
  void open(const length_choice& lengths) {
    variant_source fixed = fixed_source(m_source, lengths);
    m_runner.reset();  // it reads the file
    m_file.emplace(open_model(compile_as(fixed, m_floats), fixed.g.name));
    m_runner = choose_engine("").open(m_file->bytes.data(), m_file->bytes.size(),
                                      std::max(1, static_cast<int>(std::thread::hardware_concurrency())), 0);
    m_lengths = lengths;
  }

  variant_source m_source;
  float_storage m_floats;
  length_choice m_lengths;  ///< that the file is for
  std::optional<model_file> m_file;
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
             count = static_cast<std::size_t>(a.count());
  std::size_t channels = static_cast<std::size_t>(a.shape[s.axis]);
  std::vector<double>& sums = s.channel_sums;
  if (sums.empty()) sums.assign(channels, 0.0);
  if (sums.size() != channels) {  // a length of the model, and no channels
    s.per_channel *= sums.size();
    sums = {std::accumulate(sums.begin(), sums.end(), 0.0)};
    channels = 1;
  }
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

void watch(variant_source& v, const std::vector<std::string>& names) {
  change_at_all_lengths(v, [names](variant_source& each) {
    std::vector<value_id> ids;
    for (const std::string& name : names) ids.push_back(each.g.find(name));
    add_outputs(each.g, ids);
  });
}

std::map<std::string, tensor_statistics> calibrate(const variant_source& v,
                                                   const std::map<std::string, std::size_t>& axes,
                                                   const std::vector<sample>& samples,
                                                   const std::vector<std::string>& files,
                                                   const std::function<void(double share)>& progress) {
  variant_source watched = v;
  std::map<std::string, tensor_statistics> seen;
  std::vector<std::string> inputs, results;
  for (const auto& [name, axis] : axes) {
    const value_id id = v.g.find(name);
    seen[name].axis = axis;
    const bool is_input = std::find(v.g.inputs.begin(), v.g.inputs.end(), id) != v.g.inputs.end();
    (is_input ? inputs : results).push_back(name);
  }
  watch(watched, results);
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
  for (const std::string& name : names) seen.emplace(name, std::vector<double>());
  watch(watched, names);
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
  v = fixed_source(v, bounds_of(v.lengths));
  if (!floats.halves) return compile({v}, options);
  options.weights = weight_format::fp16;
  options.float_weights = floats.float32;
  std::vector<variant_source> variants = {v};
  std::vector<std::byte> file = compile_with_narrow_weights(variants, options).file.bytes;
  v = std::move(variants.front());
  return file;
}

}
