// SPDX-License-Identifier: MIT
/// Normalisation: BatchNormalization, layers, instances, groups, LRN, Lp, Softmax.
#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/operators.hpp"

namespace nsk::tool::reference {
namespace {

/// Whether mean and variance are those of the input itself.
bool trains(const call& c) { return c.op().integer("training_mode", 0) != 0; }

void infer_batch_normalization(call& c) {
  c.require_inputs(5, 5);
  c.require_float(0);
  c.require_rank(0, 1, 8);
  c.require(!trains(c) || c.op().version >= 14,
            "training mode is not supported before opset 14. Export the model in inference mode (model.eval())");
  c.require(!c.wants(3) && (trains(c) || !c.wants(1)),
            "its statistics are not supported: before opset 14 they mean training mode. Export the model in inference "
            "mode (model.eval()), or with opset 14 or newer");
  c.require(c.op().integer("spatial", 1) == 1, "spatial = 0 is not supported");
  const std::int64_t channels = c.rank(0) > 1 ? c.shape(0)[1] : 1;
  for (std::size_t i = 1; i < 5; ++i)
    c.require(c.shape(i) == shape_t{channels}, "scale, bias, mean and variance must have one value per channel");
  c.declare(0, c.type(0), c.shape(0));
  c.declare(1, c.type(3), c.shape(3));
  c.declare(2, c.type(4), c.shape(4));
}

void evaluate_batch_normalization(call& c) {
  const double epsilon = c.op().number("epsilon", 1e-5f);
  const std::int64_t channels = c.rank(0) > 1 ? c.shape(0)[1] : 1, plane = count_between(c.shape(0), 2, c.rank(0)),
                     count = c.out(0).count();
  const auto channel_of = [&](std::int64_t i) { return static_cast<std::size_t>(i / plane % channels); };
  std::vector<double> mean = c.number_list(3), variance = c.number_list(4);
  if (trains(c)) {
    const double share = static_cast<double>(channels) / static_cast<double>(count);
    std::fill(mean.begin(), mean.end(), 0);
    std::fill(variance.begin(), variance.end(), 0);
    for (std::int64_t i = 0; i < count; ++i) mean[channel_of(i)] += c.floats(0)[i] * share;
    for (std::int64_t i = 0; i < count; ++i) {
      const double d = c.floats(0)[i] - mean[channel_of(i)];
      variance[channel_of(i)] += d * d * share;
    }
    const double momentum = c.op().number("momentum", 0.9f);
    for (std::size_t k = 0; k < mean.size(); ++k) {
      const auto at = static_cast<std::int64_t>(k);
      if (c.wants(1)) c.out_floats(1)[k] = momentum * c.floats(3)[at] + (1 - momentum) * mean[k];
      if (c.wants(2)) c.out_floats(2)[k] = momentum * c.floats(4)[at] + (1 - momentum) * variance[k];
    }
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t k = channel_of(i);
    c.out_floats()[i] = c.floats(1)[k] * (c.floats(0)[i] - mean[k]) / std::sqrt(variance[k] + epsilon) + c.floats(2)[k];
  }
}

struct moments {
  double mean, variance;
};

moments moments_of(const double* x, std::int64_t count) {
  double sum = 0, squares = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += x[i];
  const double mean = sum / static_cast<double>(count);
  for (std::int64_t i = 0; i < count; ++i) squares += (x[i] - mean) * (x[i] - mean);
  return {mean, squares / static_cast<double>(count)};
}

/// Instances are planes, groups are `channels / groups` planes that are together; scale and bias are per channel.
void infer_instances(call& c) {
  c.require_inputs(3, 3);
  c.require_float(0);
  c.require_rank(0, 2, 8);
  c.require(c.shape(1).size() == 1 && c.shape(1) == c.shape(2), "scale and bias must have one value per channel");
  c.declare(0, c.type(0), c.shape(0));
}

void infer_instance_normalization(call& c) {
  infer_instances(c);
  c.require(c.shape(1)[0] == c.shape(0)[1], "scale and bias must have one value per channel");
}

std::int64_t groups_of(const call& c) {
  return c.op().op == "GroupNormalization" ? c.op().integer("num_groups", 1) : c.shape(0)[1];
}

void infer_group_normalization(call& c) {
  infer_instances(c);
  const std::int64_t groups = groups_of(c);
  c.require(groups >= 1 && c.shape(0)[1] % groups == 0, "the channels cannot be divided into num_groups groups");
  c.require(c.shape(1)[0] == (c.op().version < 21 ? groups : c.shape(0)[1]),
            "scale and bias have a wrong length (per group before opset 21, per channel since)");
}

void evaluate_instances(call& c) {
  const double epsilon = c.op().number("epsilon", 1e-5f);
  const std::int64_t channels = c.shape(0)[1], groups = groups_of(c), plane = count_between(c.shape(0), 2, c.rank(0));
  if (c.out(0).count() == 0) return;
  const std::int64_t together = channels / groups * plane;
  const bool per_group = c.shape(1)[0] == groups && groups != channels;
  for (std::int64_t first = 0; first < c.out(0).count(); first += together) {
    const moments m = moments_of(c.floats(0) + first, together);
    for (std::int64_t i = first; i < first + together; ++i) {
      const std::int64_t k = per_group ? first / together % groups : i / plane % channels;
      c.out_floats()[i] = c.floats(1)[k] * (c.floats(0)[i] - m.mean) / std::sqrt(m.variance + epsilon) + c.floats(2)[k];
    }
  }
}

void infer_layer_normalization(call& c) {
  c.require_inputs(2, 3);
  c.require_float(0);
  const std::size_t axis = c.axis(c.op().integer("axis", -1), c.rank(0));
  for (std::size_t i = 1; i < 3; ++i)
    if (c.has(i))
      c.require(broadcast(c, c.shape(i), c.shape(0)) == c.shape(0),
                "scale and bias must be broadcastable to the input");
  shape_t statistics = c.shape(0);
  std::fill(statistics.begin() + static_cast<std::ptrdiff_t>(axis), statistics.end(), 1);
  c.declare(0, c.type(0), c.shape(0));
  c.declare(1, element::f32, statistics);
  c.declare(2, element::f32, statistics);
}

void scale_and_shift(call& c) {
  double* y = c.out_floats();
  for_each_offset(c.out_shape(0), broadcast_strides(c.shape(1), c.out_shape(0)),
                  [&](std::int64_t i, std::int64_t at) { y[i] *= c.floats(1)[at]; });
  if (!c.has(2)) return;
  for_each_offset(c.out_shape(0), broadcast_strides(c.shape(2), c.out_shape(0)),
                  [&](std::int64_t i, std::int64_t at) { y[i] += c.floats(2)[at]; });
}

void evaluate_layer_normalization(call& c) {
  const double epsilon = c.op().number("epsilon", 1e-5f);
  const std::int64_t row = count_between(c.shape(0), c.axis(c.op().integer("axis", -1), c.rank(0)), c.rank(0));
  for (std::int64_t first = 0; row > 0 && first < c.data(0).count(); first += row) {
    const moments m = moments_of(c.floats(0) + first, row);
    const double scale = 1 / std::sqrt(m.variance + epsilon);
    if (c.wants(1)) c.out_floats(1)[first / row] = m.mean;
    if (c.wants(2)) c.out_floats(2)[first / row] = scale;
    for (std::int64_t i = first; i < first + row; ++i) c.out_floats()[i] = (c.floats(0)[i] - m.mean) * scale;
  }
  scale_and_shift(c);
}

void infer_rms_normalization(call& c) {
  c.require_inputs(2, 2);
  c.require(c.output_count() == 1, "it has one output");
  infer_layer_normalization(c);
}

void evaluate_rms_normalization(call& c) {
  const double epsilon = c.op().number("epsilon", 1e-5f);
  const std::int64_t row = count_between(c.shape(0), c.axis(c.op().integer("axis", -1), c.rank(0)), c.rank(0));
  for (std::int64_t first = 0; row > 0 && first < c.data(0).count(); first += row) {
    double squares = 0;
    for (std::int64_t i = first; i < first + row; ++i) squares += c.floats(0)[i] * c.floats(0)[i];
    for (std::int64_t i = first; i < first + row; ++i)
      c.out_floats()[i] = c.floats(0)[i] / std::sqrt(squares / static_cast<double>(row) + epsilon);
  }
  scale_and_shift(c);
}

void infer_lrn(call& c) {
  infer_same_float(c);
  c.require_rank(0, 2, 8);
  c.require(c.op().integer("size", 0) >= 1, "attribute 'size' must be positive");
}

/// Across channels: y = x / (bias + alpha / size * sum of squares in the neighbourhood)^beta.
void evaluate_lrn(call& c) {
  const std::int64_t size = c.op().integer("size", 1), channels = c.shape(0)[1],
                     plane = count_between(c.shape(0), 2, c.rank(0));
  const double alpha = c.op().number("alpha", 1e-4f), beta = c.op().number("beta", 0.75f),
               bias = c.op().number("bias", 1);
  const std::int64_t before = (size - 1) / 2, after = size - 1 - before;
  for (std::int64_t i = 0; i < c.out(0).count(); ++i) {
    const std::int64_t k = i / plane % channels;
    double squares = 0;
    for (std::int64_t j = std::max<std::int64_t>(0, k - before); j <= std::min(channels - 1, k + after); ++j) {
      const double x = c.floats(0)[i + (j - k) * plane];
      squares += x * x;
    }
    c.out_floats()[i] = c.floats(0)[i] / std::pow(bias + alpha / static_cast<double>(size) * squares, beta);
  }
}

double work_of_lrn(call& c) {
  return 2 * as_work(count_of(c.shape(0))) * as_work(std::min(c.op().integer("size", 1), c.shape(0)[1]));
}

void infer_axis(call& c) {
  infer_same_float(c);
  c.axis(c.op().integer("axis", -1), c.rank(0));
}

void evaluate_lp_normalization(call& c) {
  const std::int64_t p = c.op().integer("p", 2);
  c.require(p == 1 || p == 2, "attribute 'p' must be 1 or 2");
  for_each_line(c.shape(0), c.axis(c.op().integer("axis", -1), c.rank(0)),
                [&](std::int64_t first, std::int64_t stride, std::int64_t length) {
                  double norm = 0;
                  for (std::int64_t k = 0; k < length; ++k) {
                    const double x = c.floats(0)[first + k * stride];
                    norm += p == 1 ? std::fabs(x) : x * x;
                  }
                  if (p == 2) norm = std::sqrt(norm);
                  for (std::int64_t k = 0; k < length; ++k)
                    c.out_floats()[first + k * stride] = norm == 0 ? 0 : c.floats(0)[first + k * stride] / norm;
                });
}

/// Before opset 13 rows may begin behind the last axis; counted from the end, axes are those that exist.
std::size_t softmax_axis(const call& c) {
  const bool old = c.op().version < 13;
  const std::int64_t axis = c.op().integer("axis", old ? 1 : -1);
  return c.rank(0) == 0 ? 0 : c.axis(axis, c.rank(0) + (old && axis >= 0 ? 1 : 0));
}

/// Before opset 13 the input is seen as a matrix whose rows begin at `axis` (default 1); since, only `axis` (default
/// -1) counts.
void softmax(call& c, void (*finish)(double* y, std::int64_t stride, std::int64_t length, double highest, double sum,
                                     const double* x)) {
  const bool old = c.op().version < 13;
  const std::size_t axis = softmax_axis(c);
  shape_t shape = c.shape(0);
  std::size_t along = axis;
  if (old || shape.empty()) {
    shape = {count_between(shape, 0, axis), count_between(shape, axis, shape.size())};
    along = 1;
  }
  for_each_line(shape, along, [&](std::int64_t first, std::int64_t stride, std::int64_t length) {
    const double* x = c.floats(0) + first;
    double highest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (std::int64_t k = 0; k < length; ++k) highest = std::max(highest, x[k * stride]);
    for (std::int64_t k = 0; k < length; ++k) sum += std::exp(x[k * stride] - highest);
    finish(c.out_floats() + first, stride, length, highest, sum, x);
  });
}

void infer_softmax(call& c) {
  infer_same_float(c);
  softmax_axis(c);
}

void evaluate_softmax(call& c) {
  softmax(c, [](double* y, std::int64_t stride, std::int64_t length, double highest, double sum, const double* x) {
    for (std::int64_t k = 0; k < length; ++k) y[k * stride] = std::exp(x[k * stride] - highest) / sum;
  });
}

void evaluate_log_softmax(call& c) {
  softmax(c, [](double* y, std::int64_t stride, std::int64_t length, double highest, double sum, const double* x) {
    for (std::int64_t k = 0; k < length; ++k) y[k * stride] = x[k * stride] - highest - std::log(sum);
  });
}

/// 1 where ArgMax finds the maximum, a line that begins with NaN included (docs/reference/conventions.md).
void evaluate_hardmax(call& c) {
  softmax(c, [](double* y, std::int64_t stride, std::int64_t length, double, double, const double* x) {
    std::int64_t best = 0;
    for (std::int64_t k = 1; k < length; ++k)
      if (x[k * stride] > x[best * stride]) best = k;
    for (std::int64_t k = 0; k < length; ++k) y[k * stride] = k == best ? 1 : 0;
  });
}

void infer_mean_variance(call& c) {
  infer_same_float(c);
  for (std::int64_t a : c.op().integers("axes", {0, 2, 3})) c.axis(a, c.rank(0));
}

void evaluate_mean_variance(call& c) {
  shape_t reduced = c.shape(0);
  for (std::int64_t a : c.op().integers("axes", {0, 2, 3})) reduced[c.axis(a, c.rank(0))] = 1;
  const shape_t stride = broadcast_strides(reduced, c.shape(0));
  const auto size = static_cast<std::size_t>(count_of(reduced));
  std::vector<double> mean(size), variance(size);
  const double n = static_cast<double>(c.data(0).count()) / static_cast<double>(size);
  for_each_offset(c.shape(0), stride,
                  [&](std::int64_t i, std::int64_t at) { mean[static_cast<std::size_t>(at)] += c.floats(0)[i] / n; });
  for_each_offset(c.shape(0), stride, [&](std::int64_t i, std::int64_t at) {
    const double d = c.floats(0)[i] - mean[static_cast<std::size_t>(at)];
    variance[static_cast<std::size_t>(at)] += d * d / n;
  });
  for_each_offset(c.shape(0), stride, [&](std::int64_t i, std::int64_t at) {
    c.out_floats()[i] = (c.floats(0)[i] - mean[static_cast<std::size_t>(at)]) /
                        (std::sqrt(variance[static_cast<std::size_t>(at)]) + 1e-9);
  });
}

}

void add_normalization(table& t) {
  t["BatchNormalization"] = {infer_batch_normalization, evaluate_batch_normalization, 7};
  t["InstanceNormalization"] = {infer_instance_normalization, evaluate_instances};
  t["GroupNormalization"] = {infer_group_normalization, evaluate_instances, 18};
  t["LayerNormalization"] = {infer_layer_normalization, evaluate_layer_normalization, 17};
  t["RMSNormalization"] = {infer_rms_normalization, evaluate_rms_normalization, 23};
  t["MeanVarianceNormalization"] = {infer_mean_variance, evaluate_mean_variance, 9};
  t["LRN"] = {infer_lrn, evaluate_lrn, 1, work_of_lrn};
  t["LpNormalization"] = {infer_axis, evaluate_lp_normalization};
  t["Softmax"] = {infer_softmax, evaluate_softmax};
  t["LogSoftmax"] = {infer_softmax, evaluate_log_softmax};
  t["Hardmax"] = {infer_softmax, evaluate_hardmax};
}

}
