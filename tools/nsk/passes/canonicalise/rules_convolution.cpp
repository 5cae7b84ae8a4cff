// SPDX-License-Identifier: MIT
/// Convolution and pooling.
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/rules.hpp"
#include "passes/canonicalise/windows.hpp"

namespace nsk::tool::canonical {
namespace {

void conv(context& c) {
  const node& n = c.op();
  const shape_t& x = c.in_shape(0);
  const shape_t& weight_shape = c.in_shape(1);
  if (x.size() < 3 || x.size() > 5) c.refuse("convolution has one, two or three spatial axes");
  if (c.input(1).constant == nullptr) return convolve_by_computed_weights(c);
  if (x.size() == 5) return convolve_volume(c);
  conv_parameters p;
  p.weights = weights(c, 1, "the weights");
  p.outputs = static_cast<int>(weight_shape[0]);
  p.groups = static_cast<int>(n.integer("group", 1));
  if (p.groups < 1 || x[1] != weight_shape[1] * p.groups || p.outputs % p.groups != 0)
    c.refuse("channels, groups and weights disagree");
  const spatial_window s = window_of(c, n, x, {weight_shape.begin() + 2, weight_shape.end()}, c.out_shape());
  p.w = s.w;
  p.bias = bias_in_kernel(c, p.outputs);
  const int unbiased = result_before_bias(c, bias_is_computed(c));
  c.emit(std::move(p), {c.in(0)}, unbiased);
  add_bias_behind(c, unbiased);
}

void pool(context& c) {
  if (c.wants(1)) return pool_with_indices(c);
  write_pool(c, c.out());
}

void global_pool(context& c) {
  const node& n = c.op();
  reduce_parameters r;
  r.kind = n.op == "GlobalMaxPool" ? reduce_kind::max : reduce_kind::mean;
  for (std::size_t a = 2; a < c.in_shape(0).size(); ++a) r.axes.push_back(static_cast<int>(a));
  c.emit(std::move(r), {c.in(0)});
}

}

void write_pool(context& c, int result) {
  const node& n = c.op();
  const shape_t& x = c.in_shape(0);
  if (x.size() == 5) return pool_volume(c, result);
  if (x.size() != 3 && x.size() != 4) c.refuse("pooling has one, two or three spatial axes");
  emit_pool(c, window_of(c, n, x, n.integers("kernel_shape"), c.shape(result)), c.in(0), result);
}

void add_convolution(rule_table& t) {
  t["Conv"] = {conv};
  t["MaxPool"] = {pool};
  t["AveragePool"] = {pool};
  t["MaxUnpool"] = {max_unpool, element_types::any};
  t["GlobalAveragePool"] = {global_pool};
  t["GlobalMaxPool"] = {global_pool};
}

}
