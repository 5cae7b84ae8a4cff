// SPDX-License-Identifier: MIT
#include "quantize/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <thread>

#include "engine/model_file.hpp"
#include "errors.hpp"
#include "io/layout.hpp"

namespace nsk::tool {
namespace {
/// One model that is run on samples.
class sample_runner {
 public:
  explicit sample_runner(const variant_source& v)
      : m_file(open_model(compile({v}, {}), v.g.name)),
        m_runner(choose_engine("").open(m_file.bytes.data(), m_file.bytes.size(),
                                        std::max(1, static_cast<int>(std::thread::hardware_concurrency())), 0)) {}

  void run(const sample& inputs) {
    for (int i = 0; i < m_file.view.input_count(); ++i) {
      const array input = to_engine(m_file.view.input(i), inputs.at(m_file.view.input(i).name()));
      std::memcpy(m_runner->input(i), input.data.data(), input.data.size());
    }
    m_runner->run();
  }
  /// Calls f(name, output in the source's axes).
  template <class F>
  void for_each_output(F f) {
    for (int i = 0; i < m_file.view.output_count(); ++i) {
      const port_view port = m_file.view.output(i);
      array own(element_of(port.type()), engine_shape_of(port));
      std::memcpy(own.data.data(), m_runner->output(i), own.data.size());
      f(std::string(port.name()), to_source(port, own));
    }
  }

 private:
  model_file m_file;
  std::unique_ptr<runner> m_runner;
};

void add_channels(tensor_statistics& s, const array& a) {
  const std::size_t axis = channel_axis(a.shape);
  std::size_t inner = 1;
  for (std::size_t d = axis + 1; d < a.shape.size(); ++d) inner *= static_cast<std::size_t>(a.shape[d]);
  const auto channels = static_cast<std::size_t>(a.shape[axis]), count = static_cast<std::size_t>(a.count());
  s.channel_sums.resize(channels, 0.0);
  for (std::size_t i = 0; i < count; i += inner) {
    double sum = 0;
    for (std::size_t k = 0; k < inner; ++k) sum += static_cast<double>(a.as<float>()[i + k]);
    s.channel_sums[i / inner % channels] += sum;
  }
  s.per_channel += count / channels;
}

}

std::map<std::string, tensor_statistics> calibrate(const variant_source& v, const std::vector<std::string>& names,
                                                   const std::vector<sample>& samples,
                                                   const std::function<void(double share)>& progress) {
  variant_source watched = v;
  std::map<std::string, tensor_statistics> seen;
  std::vector<std::string> inputs;
  for (const std::string& name : names) {
    const value_id id = watched.g.find(name);
    seen[name];
    const auto is_among = [&](const std::vector<value_id>& ports) {
      return std::find(ports.begin(), ports.end(), id) != ports.end();
    };
    if (is_among(watched.g.inputs))
      inputs.push_back(name);
    else if (!is_among(watched.g.outputs))
      watched.g.outputs.push_back(id);
  }
  sample_runner runner(watched);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto look_at = [&](const std::string& name, const array& a) {
      const auto found = seen.find(name);
      if (found == seen.end()) return;
      if (!found->second.values.add(a.as<float>(), static_cast<std::size_t>(a.count())))
        refuse("tensor '" + name + "' is not finite on sample " + std::to_string(i) +
               ". Look for a sample outside what the model was trained on.");
      add_channels(found->second, a);
    };
    runner.run(samples[i]);
    for (const std::string& name : inputs) look_at(name, samples[i].at(name));
    runner.for_each_output(look_at);
    progress(static_cast<double>(i + 1) / static_cast<double>(samples.size()));
  }
  return seen;
}

noise_meter::noise_meter(const variant_source& exact, std::vector<sample> samples) : m_samples(std::move(samples)) {
  sample_runner runner(exact);
  for (const sample& s : m_samples) {
    runner.run(s);
    m_wanted.emplace_back();
    runner.for_each_output([&](const std::string& name, array a) { m_wanted.back().emplace(name, std::move(a)); });
  }
}

std::map<std::string, double> noise_meter::outputs_of(const variant_source& quantised) const {
  struct squares {
    double signal = 0, noise = 0;
    bool differs_in_kind = false;  ///< one is finite, or a number, and the other is not
  };
  std::map<std::string, squares> sums;
  sample_runner runner(quantised);
  for (std::size_t k = 0; k < m_samples.size(); ++k) {
    runner.run(m_samples[k]);
    runner.for_each_output([&](const std::string& name, const array& a) {
      const array& want = m_wanted[k].at(name);
      squares& sum = sums[name];
      for (std::int64_t i = 0; i < a.count(); ++i) {
        const double x = want.number(i), y = a.number(i);
        if (!std::isfinite(x) || !std::isfinite(y)) {
          sum.differs_in_kind = sum.differs_in_kind || !(x == y || (std::isnan(x) && std::isnan(y)));
          continue;
        }
        sum.signal += x * x;
        sum.noise += (y - x) * (y - x);
      }
    });
  }
  std::map<std::string, double> result;
  for (const auto& [name, s] : sums)
    result[name] = s.differs_in_kind || (s.signal == 0 && s.noise > 0) ? -200
                   : s.noise == 0                                      ? 200
                                  : std::clamp(10 * std::log10(s.signal / s.noise), -200.0, 200.0);
  return result;
}

double noise_meter::lowest_of(const variant_source& quantised) const {
  double lowest = 200;
  for (const auto& [name, db] : outputs_of(quantised)) lowest = std::min(lowest, db);
  return lowest;
}

}
