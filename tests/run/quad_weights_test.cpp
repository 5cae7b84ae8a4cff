// SPDX-License-Identifier: MIT
// Sessions of models with layers of stored integers, by settings that take some weights alone.
#include <doctest/doctest.h>
#include <netsuke/all_ops.hpp>
#include "../model/quantized_plan.hpp"
#include "support.hpp"

namespace {
using nsk::status_code;
using test::quantized::Operator;

struct safe_alone : nsk::all_settings {
  static constexpr bool unsafe_quads = false;
};
struct no_offsets : nsk::all_settings {
  static constexpr bool weight_offsets = false;
};

template <class Settings>
status_code run_by(const test::plan_spec& plan) {
  test::opened o(plan);
  nsk::session<Settings> net(o.model, o.memory.span());
  if (net) net.run();
  return net.status().code();
}
}

TEST_CASE("session: weights that are not pair-safe run where the settings do not exclude them") {
  const test::plan_spec any = test::quantized::convolution(), safe = test::quantized::convolution_of_rows();
  CHECK(run_by<nsk::all_settings>(any) == status_code::ok);
  CHECK(run_by<no_offsets>(any) == status_code::ok);
  CHECK(run_by<safe_alone>(any) == status_code::unsupported_unsafe_quads);
  CHECK(run_by<safe_alone>(safe) == status_code::ok);
}

TEST_CASE("session: weights with an offset run where the settings do not exclude them") {
  for (test::plan_spec plan : {test::quantized::convolution_of_rows(), test::quantized::depthwise()}) {
    CHECK(run_by<no_offsets>(plan) == status_code::ok);
    plan.steps[0].weight_offset = 3;
    if (plan.steps[0].op == Operator::QuantizedDepthwiseConv2D)
      test::quantized::set_window(plan.steps[0],
                                  static_cast<std::uint64_t>(nsk::kernels::quantized_depthwise_conv_2d_scratch_bytes(
                                      test::quantized::k_window, true)),
                                  plan);
    CHECK(run_by<nsk::all_settings>(plan) == status_code::ok);
    CHECK(run_by<no_offsets>(plan) == status_code::unsupported_weight_offset);
  }
}
