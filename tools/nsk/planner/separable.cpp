// SPDX-License-Identifier: MIT
#include <algorithm>
#include <netsuke/gpu/impl/separable_cost.hpp>
#include "planner/planner.hpp"

namespace nsk::tool {
namespace {

bool reads(const plan& p, const plan_step& s, int storage) {
  return std::any_of(s.inputs.begin(), s.inputs.end(), [&](int t) { return p.tensor(t).storage == storage; });
}

/// The one step that reads what step `i` makes, -1 where there are several or it is an output.
int only_reader(const plan& p, std::size_t i) {
  const int made = p.tensor(p.steps[i].outputs[0]).storage;
  const plan_storage& storage = p.storages[static_cast<std::size_t>(made)];
  if (storage.kind != storage_kind::arena || storage.lasts) return -1;
  int found = -1;
  for (std::size_t k = i + 1; k < p.steps.size(); ++k) {
    if (!reads(p, p.steps[k], made)) continue;
    if (found >= 0) return -1;
    found = static_cast<int>(k);
  }
  return found;
}

bool pays_to_merge(const plan& p, const plan_step& depthwise, const plan_step& pointwise) {
  if (pointwise.kind() != op::conv_2d) return false;
  const conv_2d_params& c = pointwise.p.as<op::conv_2d>();
  const plan_tensor &x = p.tensor(depthwise.outputs[0]), &y = p.tensor(pointwise.outputs[0]);
  if (c.w.kernel_h != 1 || c.w.kernel_w != 1 || c.groups != 1 || x.shape.size() != 4 || y.shape.size() != 4)
    return false;
  gpu::impl::separable_shape s;
  const auto length = [](const plan_tensor& t, std::size_t d) { return static_cast<std::uint64_t>(t.shape[d]); };
  s.window = gpu::impl::window_number(depthwise.p.as<op::depthwise_conv_2d>().w);
  s.lines = length(x, 0) * length(x, 1);
  s.width = length(x, 2), s.channels = length(x, 3), s.outputs = length(y, 3);
  return s.channels % 4 == 0 && gpu::impl::pays_to_merge(s);
}

}

std::vector<int> steps_that_need_inputs(const plan& p) {
  std::vector<int> needed(p.storages.size(), -1);
  for (std::size_t i = 0; p.gpu && i < p.steps.size(); ++i) {
    const plan_step& s = p.steps[i];
    if (s.kind() != op::depthwise_conv_2d) continue;
    const int reader = only_reader(p, i);
    if (reader < 0 || !pays_to_merge(p, s, p.steps[static_cast<std::size_t>(reader)])) continue;
    int& step = needed[static_cast<std::size_t>(p.tensor(s.inputs[0]).storage)];
    step = std::max(step, reader);
  }
  return needed;
}

}
