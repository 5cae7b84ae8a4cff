// SPDX-License-Identifier: MIT
/// RoiAlign, DeformConv and MaxUnpool.
#include <algorithm>
#include <cmath>

#include "reference/window.hpp"

namespace nsk::tool::reference {
namespace {

/// ONNX does not define indices outside; docs/reference/conventions.md does.
std::int64_t clamped_index(std::int64_t index, std::int64_t length) {
  return std::clamp<std::int64_t>(index < 0 ? index + length : index, 0, length - 1);
}

// RoiAlign (K. He et al., "Mask R-CNN", 2017), as ONNX and torchvision compute it.

void infer_roi_align(call& c) {
  c.require_inputs(3, 3);
  c.require_float(0);
  c.require_float(1);
  c.require_rank(0, 4, 4);
  c.require_rank(1, 2, 2);
  c.require_rank(2, 1, 1);
  const node& n = c.op();
  const shape_t &x = c.shape(0), &rois = c.shape(1);
  c.require(rois[1] == 4 && c.shape(2)[0] == rois[0], "rois must be [R, 4], batch_indices [R]");
  const std::string mode = n.text("mode", "avg"), transform = n.text("coordinate_transformation_mode", "half_pixel");
  c.require(mode == "avg" || mode == "max", "its mode must be avg or max");
  c.require(transform == "half_pixel" || transform == "output_half_pixel",
            "its coordinate_transformation_mode must be half_pixel or output_half_pixel");
  const std::int64_t height = n.integer("output_height", 1), width = n.integer("output_width", 1);
  c.require(height > 0 && width > 0 && n.integer("sampling_ratio", 0) >= 0 && x[2] > 0 && x[3] > 0,
            "a length is not positive");
  c.declare(0, c.type(0), {rois[0], x[1], height, width});
}

/// What a sample at (y, x) reads: pixels and weights; nothing beyond one pixel outside the image.
struct corners {
  std::int64_t at[4];
  double weight[4];
  bool inside;
};

corners corners_of(double y, double x, std::int64_t height, std::int64_t width) {
  corners k = {};
  const auto h = static_cast<double>(height), w = static_cast<double>(width);
  k.inside = !(y < -1 || y > h || x < -1 || x > w);
  if (!k.inside) return k;
  y = std::clamp(y, 0.0, h - 1);
  x = std::clamp(x, 0.0, w - 1);
  const auto top = static_cast<std::int64_t>(y), left = static_cast<std::int64_t>(x);
  const std::int64_t bottom = std::min(top + 1, height - 1), right = std::min(left + 1, width - 1);
  const double down = y - static_cast<double>(top), across = x - static_cast<double>(left);
  const corners all = {{top * width + left, top * width + right, bottom * width + left, bottom * width + right},
                       {(1 - down) * (1 - across), (1 - down) * across, down * (1 - across), down * across},
                       true};
  return all;
}

/// One region along one axis: where it begins, how long its bins are, how many samples a bin has.
struct region_axis {
  double start, bin;
  std::int64_t samples;
  double place(std::int64_t index, std::int64_t sample) const {
    return start + static_cast<double>(index) * bin +
           (static_cast<double>(sample) + 0.5) * bin / static_cast<double>(samples);
  }
};

region_axis region_of(const call& c, double from, double to, std::int64_t bins) {
  const bool half = c.op().text("coordinate_transformation_mode",
                                c.op().version < 16 ? "output_half_pixel" : "half_pixel") == "half_pixel";
  const double scale = c.op().number("spatial_scale", 1), offset = half ? 0.5 : 0;
  double length = to * scale - from * scale;
  if (!half) length = std::max(length, 1.0);
  region_axis r = {from * scale - offset, length / static_cast<double>(bins), c.op().integer("sampling_ratio", 0)};
  if (r.samples == 0) r.samples = static_cast<std::int64_t>(std::clamp(std::ceil(r.bin), 0.0, 4096.0));
  return r;
}

double sample_bin(const double* plane, const corners& k, bool largest) {
  if (!k.inside) return 0;
  double result = plane[k.at[0]] * k.weight[0];
  for (int i = 1; i < 4; ++i) {
    const double product = plane[k.at[i]] * k.weight[i];
    result = largest ? std::max(result, product) : result + product;
  }
  return result;
}

void evaluate_roi_align(call& c) {
  const shape_t &x = c.shape(0), &y = c.out_shape(0);
  const bool largest = c.op().text("mode", "avg") == "max";
  const std::int64_t plane = x[2] * x[3];
  for (std::int64_t r = 0; r < y[0]; ++r) {
    const double* roi = c.floats(1) + 4 * r;
    const std::int64_t image = clamped_index(c.integers(2)[r], x[0]);
    const region_axis rows = region_of(c, roi[1], roi[3], y[2]), columns = region_of(c, roi[0], roi[2], y[3]);
    const std::int64_t count = rows.samples * columns.samples;
    for (std::int64_t channel = 0; channel < x[1]; ++channel)
      for (std::int64_t bin = 0; bin < y[2] * y[3]; ++bin) {
        double sum = 0;
        for (std::int64_t i = 0; i < count; ++i) {
          const corners k = corners_of(rows.place(bin / y[3], i / columns.samples),
                                       columns.place(bin % y[3], i % columns.samples), x[2], x[3]);
          const double value = sample_bin(c.floats(0) + (image * x[1] + channel) * plane, k, largest);
          sum = largest ? (i == 0 ? value : std::max(sum, value)) : sum + value;
        }
        c.out_floats()[(r * x[1] + channel) * y[2] * y[3] + bin] =
            largest ? sum : sum / static_cast<double>(std::max<std::int64_t>(count, 1));
      }
  }
}

double work_of_roi_align(call& c) {
  const auto samples = as_work(std::max<std::int64_t>(c.op().integer("sampling_ratio", 0), 16));
  return 32 * as_work(count_of(c.out_shape(0))) * samples * samples;
}

// DeformConv (X. Zhu et al., "Deformable ConvNets v2", 2018): each tap of each window has a place and a factor of its
// own.

struct deformed {
  std::int64_t groups, offset_groups, taps;
  window w;
};

deformed deformed_of(call& c) {
  const shape_t &x = c.shape(0), &weights = c.shape(1);
  deformed d;
  d.groups = c.op().integer("group", 1);
  d.offset_groups = c.op().integer("offset_group", 1);
  c.require(d.groups > 0 && d.offset_groups > 0 && x[1] % d.offset_groups == 0 && weights[0] % d.groups == 0 &&
                weights[1] * d.groups == x[1],
            "channels, groups and weights disagree");
  d.w = read_window(c, spatial_of(x), spatial_of(weights));
  finish_window(c, d.w, false);
  d.taps = count_of(d.w.kernel);
  return d;
}

void infer_deform_conv(call& c) {
  c.require_inputs(3, 5);
  for (std::size_t i = 0; i < 5; ++i)
    if (c.has(i)) c.require_float(i);
  c.require_rank(0, 4, 4);
  c.require_rank(1, 4, 4);
  const deformed d = deformed_of(c);
  const shape_t& x = c.shape(0);
  const std::int64_t places = d.offset_groups * d.taps;
  c.require(c.shape(2) == with_spatial(x[0], 2 * places, d.w.output),
            "the offsets must have two channels for each tap and offset group, and the output's lengths");
  if (c.has(3)) c.require(c.shape(3) == shape_t{c.shape(1)[0]}, "the bias must have one value per output channel");
  if (c.has(4))
    c.require(c.shape(4) == with_spatial(x[0], places, d.w.output),
              "the mask must have a channel for each tap and offset group, and the output's lengths");
  c.declare(0, c.type(0), with_spatial(x[0], c.shape(1)[0], d.w.output));
}

/// Bilinear with zeros around the image.
double pixel_between(const double* plane, double y, double x, std::int64_t height, std::int64_t width) {
  const double top = std::floor(y), left = std::floor(x);
  double sum = 0;
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 2; ++k) {
      const double row = top + i, column = left + k;
      if (row < 0 || column < 0 || row >= static_cast<double>(height) || column >= static_cast<double>(width)) continue;
      sum += (1 - std::fabs(y - row)) * (1 - std::fabs(x - column)) *
             plane[static_cast<std::int64_t>(row) * width + static_cast<std::int64_t>(column)];
    }
  return sum;
}

void evaluate_deform_conv(call& c) {
  const deformed d = deformed_of(c);
  const shape_t &x = c.shape(0), &y = c.out_shape(0), &weights = c.shape(1);
  const std::int64_t positions = y[2] * y[3], plane = x[2] * x[3], outputs = y[1] / d.groups;
  for (std::int64_t i = 0; i < y[0] * y[1]; ++i)
    std::fill_n(c.out_floats() + i * positions, positions, c.has(3) ? c.floats(3)[i % y[1]] : 0.0);
  for (std::int64_t image = 0; image < x[0]; ++image)
    for (std::int64_t channel = 0; channel < x[1]; ++channel) {
      const std::int64_t offset_group = channel / (x[1] / d.offset_groups), group = channel / weights[1];
      for (std::int64_t tap = 0; tap < d.taps; ++tap)
        for (std::int64_t p = 0; p < positions; ++p) {
          const std::int64_t place = (image * d.offset_groups + offset_group) * d.taps + tap,
                             row = p / y[3] * d.w.stride[0] - d.w.pad_begin[0] + tap / d.w.kernel[1] * d.w.dilation[0],
                             column =
                                 p % y[3] * d.w.stride[1] - d.w.pad_begin[1] + tap % d.w.kernel[1] * d.w.dilation[1];
          double value =
              pixel_between(c.floats(0) + (image * x[1] + channel) * plane,
                            static_cast<double>(row) + c.floats(2)[2 * place * positions + p],
                            static_cast<double>(column) + c.floats(2)[(2 * place + 1) * positions + p], x[2], x[3]);
          if (c.has(4)) value *= c.floats(4)[place * positions + p];
          for (std::int64_t o = group * outputs; o < (group + 1) * outputs; ++o)
            c.out_floats()[(image * y[1] + o) * positions + p] +=
                value * c.floats(1)[(o * weights[1] + channel % weights[1]) * d.taps + tap];
        }
    }
}

double work_of_deform_conv(call& c) {
  return as_work(count_of(c.out_shape(0))) * as_work(count_of(c.shape(1))) +
         64 * as_work(count_of(c.shape(2))) * as_work(c.shape(0)[1]);
}

// MaxUnpool: maxima back to where MaxPool found them.

/// Shape that the pool's attributes lead back to, which indices count in.
shape_t unpooled_shape(call& c) {
  const shape_t& x = c.shape(0);
  const std::size_t axes = x.size() - 2;
  const shape_t kernel = checked_list(c, "kernel_shape", axes, 0, 1), stride = checked_list(c, "strides", axes, 1, 1),
                pads = checked_list(c, "pads", 2 * axes, 0, 0);
  shape_t shape = x;
  for (std::size_t d = 0; d < axes; ++d) {
    shape[d + 2] = (x[d + 2] - 1) * stride[d] + kernel[d] - pads[d] - pads[d + axes];
    c.require(shape[d + 2] > 0, "the output would be empty");
  }
  return shape;
}

void infer_max_unpool(call& c) {
  c.require_inputs(2, 3);
  c.require_rank(0, 3, 8);
  c.require(c.shape(1) == c.shape(0), "the indices must have the input's shape");
  shape_t shape = unpooled_shape(c);
  if (c.has(2)) {
    const std::vector<std::int64_t> wanted = c.integer_list(2);
    c.require(wanted.size() == shape.size() && wanted[0] == shape[0] && wanted[1] == shape[1],
              "output_shape must keep batch and channels");
    for (std::size_t d = 2; d < shape.size(); ++d)
      c.require(wanted[d] >= shape[d], "output_shape is smaller than what the attributes lead back to");
    shape = wanted;
  }
  c.declare(0, c.type(0), shape);
}

void evaluate_max_unpool(call& c) {
  const shape_t inner = unpooled_shape(c), &outer = c.out_shape(0);
  const shape_t inner_stride = strides_of(inner), outer_stride = strides_of(outer);
  by_type(c.out(0).type, [&](auto* tag) {
    using T = pointee<decltype(tag)>;
    std::fill_n(c.out(0).as<T>(), c.out(0).count(), T{});
    for (std::int64_t i = 0; i < c.data(0).count(); ++i) {
      std::int64_t rest = clamped_index(c.integers(1)[i], count_of(inner)), at = 0;
      for (std::size_t d = 0; d < inner.size(); ++d) {
        at += rest / inner_stride[d] * outer_stride[d];
        rest %= inner_stride[d];
      }
      c.out(0).as<T>()[at] = c.data(0).as<T>()[i];
    }
  });
}

}

void add_regions(table& t) {
  t["RoiAlign"] = {infer_roi_align, evaluate_roi_align, 10, work_of_roi_align};
  t["DeformConv"] = {infer_deform_conv, evaluate_deform_conv, 19, work_of_deform_conv};
  t["MaxUnpool"] = {infer_max_unpool, evaluate_max_unpool, 9};
}

}
