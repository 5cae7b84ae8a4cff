// SPDX-License-Identifier: MIT
#include "quantize/apply/expected.hpp"

#include "quantize/choose/choose.hpp"
#include "io/text.hpp"

namespace nsk::tool {
namespace {

double time_of(const device_profile& p, const target& ratios, const model& m) {
  const variant_view v = m.variant(0);
  const std::vector<step_estimate> steps = estimate(p, m, v);
  double us = 0;
  for (int i = 0; i < v.step_count(); ++i) {
    step_estimate e = steps[static_cast<std::size_t>(i)];
    const target_rates& r = ratios.rates;
    if (v.step(i).op() == op::quantized_conv_2d) e.compute *= r.convolution / r.byte_convolution;
    if (v.step(i).op() == op::quantized_depthwise_conv_2d) e.compute *= r.depthwise / r.byte_depthwise;
    us += e.total();
  }
  return us * 1e-3;
}

}

expected_time expected_on(const target& t, const graph& g, const std::vector<float_layer>& layers,
                          const std::set<std::string>& floats) {
  std::set<std::string> integers;
  for (const float_layer& l : layers)
    if (floats.count(l.name) == 0) integers.insert(l.name);
  const layer_choice all = choose_layers(g, layers, floats, integers, t);
  const double per_ms = t.gigahertz * 1e6;
  return {all.float_cycles / per_ms, all.cycles / per_ms,
          format_text("%s (%s) at %.1f GHz, layers and what is between them", t.name.c_str(), t.machine.c_str(),
                      t.gigahertz)};
}

expected_time expected_by(const device_profile& p, const target& ratios, const model& before, const model& after) {
  return {time_of(p, ratios, before), time_of(p, ratios, after),
          p.name + " (" + p.isa + "), by its profile, integer kernels by the rates of " + ratios.name};
}

}
