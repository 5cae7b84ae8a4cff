// SPDX-License-Identifier: MIT
#include "shrink/matrices.hpp"

#include <netsuke/format/packing.hpp>

namespace nsk::tool {
namespace {

std::int64_t last_length(const tensor_info& t) { return t.shape()[static_cast<std::size_t>(t.rank() - 1)]; }

std::vector<packed_matrix> of_convolution(const step_view& s) {
  const conv_2d_params p = s.params<op::conv_2d>();
  const std::int64_t taps = p.algorithm == conv_algorithm::direct ? std::int64_t{p.w.kernel_h} * p.w.kernel_w : 1;
  return std::vector<packed_matrix>(static_cast<std::size_t>(p.groups),
                                    {last_length(s.output()) / p.groups, taps * (last_length(s.input(0)) / p.groups)});
}

std::vector<packed_matrix> of_recurrent(const step_view& s) {
  const recurrent_params p = s.params<op::recurrent>();
  const std::int64_t hidden = last_length(s.output()), directions = s.output().shape()[2];
  std::vector<packed_matrix> all;
  for (std::int64_t d = 0; d < directions; ++d) {
    if (p.kind == recurrent_kind::gru && !p.linear_before_reset) {
      all.push_back({2 * hidden, hidden});
      all.push_back({hidden, hidden});
    } else {
      all.push_back({recurrent_gates(p.kind) * hidden, hidden});
    }
  }
  return all;
}

}

std::vector<packed_matrix> matrices_of(const step_view& s) {
  if (s.op() == op::conv_2d) return of_convolution(s);
  if (s.op() == op::recurrent) return of_recurrent(s);
  if (s.op() == op::fully_connected) return {{last_length(s.output()), last_length(s.input(0))}};
  if (s.op() != op::depthwise_conv_2d) return {};
  const window w = s.params<op::depthwise_conv_2d>().w;
  return {{last_length(s.output()), std::int64_t{w.kernel_h} * w.kernel_w}};
}

}
