// SPDX-License-Identifier: MIT
/// Concatenation, splitting, slicing and padding.
#include <algorithm>
#include <limits>

#include "reference/operators.hpp"

namespace nsk::tool::reference {
namespace {

using i64 = std::int64_t;

// Concat, Split, Slice.

void infer_concat(call& c) {
  c.require_inputs(1, std::numeric_limits<std::size_t>::max());
  c.require(c.op().has("axis"), "attribute 'axis' is missing");
  const std::size_t axis = c.axis(c.op().integer("axis", 0), c.rank(0));
  shape_t shape = c.shape(0);
  for (std::size_t i = 1; i < c.input_count(); ++i) {
    c.require(c.type(i) == c.type(0), "all inputs must have the same type");
    shape_t other = c.shape(i);
    c.require(other.size() == shape.size(), "all inputs must have as many dimensions");
    shape[axis] += other[axis];
    other[axis] = shape[axis];
    if (other != shape)
      c.fail("input " + std::to_string(i) + " differs from input 0 along another axis than " + std::to_string(axis));
  }
  c.declare(0, c.type(0), shape);
}

void evaluate_concat(call& c) {
  const std::size_t axis = c.axis(c.op().integer("axis", 0), c.rank(0));
  const i64 outer = count_between(c.out_shape(0), 0, axis);
  i64 to = 0;
  for (i64 o = 0; o < outer; ++o)
    for (std::size_t i = 0; i < c.input_count(); ++i) {
      const i64 part = count_between(c.shape(i), axis, c.rank(i));
      copy_elements(c.data(i), o * part, c.out(0), to, part);
      to += part;
    }
}

/// Lengths of the parts: given, or equal with a shorter last one.
std::vector<i64> split_lengths(const call& c, i64 length) {
  std::vector<i64> parts = c.has(1) ? c.integer_list(1) : c.op().integers("split");
  const auto count = static_cast<i64>(c.output_count());
  if (parts.empty()) {
    if (c.op().has("num_outputs"))
      c.require(c.op().integer("num_outputs", 0) == count,
                "attribute 'num_outputs' differs from the number of outputs");
    const i64 part = (length + count - 1) / count;
    c.require(length % count == 0 || c.op().version >= 18, "the axis cannot be split into equal parts");
    for (i64 i = 0; i < count; ++i) parts.push_back(std::clamp<i64>(length - i * part, 0, part));
  }
  c.require(static_cast<i64>(parts.size()) == count, "there must be one length per output");
  i64 sum = 0;
  for (i64 p : parts) {
    c.require(p >= 0 && p <= length, "a length is negative or too large");
    sum += p;
  }
  c.require(sum == length, "the lengths do not add up to the axis");
  return parts;
}

void infer_split(call& c) {
  c.require_inputs(1, 2);
  c.require(c.output_count() > 0, "it has no outputs");
  const std::size_t axis = c.axis(c.op().integer("axis", 0), c.rank(0));
  const std::vector<i64> parts = split_lengths(c, c.shape(0)[axis]);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    shape_t shape = c.shape(0);
    shape[axis] = parts[i];
    c.declare(i, c.type(0), shape);
  }
}

void evaluate_split(call& c) {
  const std::size_t axis = c.axis(c.op().integer("axis", 0), c.rank(0));
  const std::vector<i64> parts = split_lengths(c, c.shape(0)[axis]);
  const i64 stride = strides_of(c.shape(0))[axis];
  i64 start = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (c.wants(i)) copy_strided(c.data(0), c.out(i), c.out_shape(i), strides_of(c.shape(0)), start * stride);
    start += parts[i];
  }
}

struct slice {
  shape_t start, step, length;
};

/// Starts, ends, axes and steps: attributes before opset 10, inputs since.
slice read_slice(const call& c) {
  std::vector<i64> starts, ends, axes, steps;
  if (c.op().version < 10) {
    starts = c.op().integers("starts");
    ends = c.op().integers("ends");
    axes = c.op().integers("axes");
  } else {
    starts = c.integer_list(1);
    ends = c.integer_list(2);
    if (c.has(3)) axes = c.integer_list(3);
    if (c.has(4)) steps = c.integer_list(4);
  }
  if (axes.empty())
    for (std::size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<i64>(i));
  if (steps.empty()) steps.assign(starts.size(), 1);
  c.require(ends.size() == starts.size() && axes.size() == starts.size() && steps.size() == starts.size(),
            "starts, ends, axes and steps differ in length");
  slice s{shape_t(c.rank(0), 0), shape_t(c.rank(0), 1), c.shape(0)};
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t a = c.axis(axes[i], c.rank(0));
    const i64 length = c.shape(0)[a], step = std::max(steps[i], -std::numeric_limits<i64>::max());
    c.require(step != 0, "a step is 0");
    const auto bound = [&](i64 v) {
      return std::clamp<i64>(v < 0 ? v + length : v, step > 0 ? 0 : -1, step > 0 ? length : length - 1);
    };
    // A negative step starts at an element, and ends before -1 at the earliest.
    const i64 first = step < 0 ? std::clamp<i64>(starts[i] < 0 ? starts[i] + length : starts[i], -1, length - 1)
                               : bound(starts[i]),
              last = bound(ends[i]);
    const i64 extent = step > 0 ? last - first : first - last, size = step > 0 ? step : -step;
    s.start[a] = std::max<i64>(first, 0);
    s.step[a] = step;
    s.length[a] = extent > 0 ? (extent - 1) / size + 1 : 0;
  }
  return s;
}

void infer_slice(call& c) {
  c.require_inputs(1, c.op().version < 10 ? 1 : 5);
  c.declare(0, c.type(0), read_slice(c).length);
}

void evaluate_slice(call& c) {
  const slice s = read_slice(c);
  shape_t stride = strides_of(c.shape(0));
  i64 start = 0;
  for (std::size_t d = 0; d < stride.size(); ++d) {
    start += s.start[d] * stride[d];
    stride[d] = s.length[d] > 1 ? stride[d] * s.step[d] : 0;
  }
  copy_strided(c.data(0), c.out(0), c.out_shape(0), stride, start);
}

// Pad.

struct padding {
  shape_t before, after;
};

padding read_padding(const call& c) {
  const std::size_t rank = c.rank(0);
  const std::vector<i64> pads = c.op().version < 11 ? c.op().integers("pads") : c.integer_list(1);
  std::vector<std::size_t> axes;
  if (c.has(3))
    axes = axes_of(c, 3, rank);
  else
    for (std::size_t d = 0; d < rank; ++d) axes.push_back(d);
  c.require(pads.size() == 2 * axes.size(), "there must be two pads per axis");
  constexpr i64 maximum = i64{1} << 40;
  padding p{shape_t(rank, 0), shape_t(rank, 0)};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    for (i64 v : {pads[i], pads[axes.size() + i]}) c.require(v >= -maximum && v <= maximum, "a pad is too large");
    p.before[axes[i]] = pads[i];
    p.after[axes[i]] = pads[axes.size() + i];
  }
  return p;
}

void infer_pad(call& c) {
  c.require_inputs(1, 4);
  const padding p = read_padding(c);
  const std::string mode = c.op().text("mode", "constant");
  c.require(mode == "constant" || mode == "reflect" || mode == "edge" || mode == "wrap",
            "attribute 'mode' must be constant, reflect, edge or wrap");
  shape_t shape = c.shape(0);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const i64 length = shape[d];
    shape[d] += p.before[d] + p.after[d];
    c.require(shape[d] >= 0, "negative pads remove more than there is");
    c.require(mode == "constant" || length > 0 || shape[d] == 0, "an empty axis can only be padded by a constant");
  }
  c.declare(0, c.type(0), shape);
}

/// Position in an axis of `length` elements that position `i` before or after it repeats; -1 for the constant.
i64 padded_source(i64 i, i64 length, const std::string& mode) {
  if (i >= 0 && i < length) return i;
  if (mode == "constant") return -1;
  if (mode == "edge" || length == 1) return i < 0 ? 0 : length - 1;
  const i64 period = mode == "reflect" ? 2 * (length - 1) : length, at = ((i % period) + period) % period;
  return at < length ? at : period - at;
}

void evaluate_pad(call& c) {
  const padding p = read_padding(c);
  const std::string mode = c.op().text("mode", "constant");
  const shape_t &shape = c.out_shape(0), stride = strides_of(c.shape(0));
  std::vector<std::vector<i64>> source(shape.size());  // per axis: offset in the input, or -1
  for (std::size_t d = 0; d < shape.size(); ++d) {
    for (i64 i = 0; i < shape[d]; ++i) {
      const i64 at = padded_source(i - p.before[d], c.shape(0)[d], mode);
      source[d].push_back(at < 0 ? -1 : at * stride[d]);
    }
  }
  array constant(c.out(0).type, {1});
  if (c.op().version < 11)
    constant.set(0, c.op().number("value", 0));
  else if (c.has(2) && c.data(2).count() == 1)
    constant = c.data(2);
  c.require(constant.type == c.out(0).type, "the constant must have the input's type");
  by_type(c.out(0).type, [&](auto* tag) {
    using T = pointee<decltype(tag)>;
    for_each_index(shape, 0, c.out(0).count(), [&](i64 i, const shape_t& index) {
      i64 offset = 0;
      bool inside = true;
      for (std::size_t d = 0; d < shape.size(); ++d) {
        const i64 at = source[d][static_cast<std::size_t>(index[d])];
        inside = inside && at >= 0;
        offset += at;
      }
      c.out(0).as<T>()[i] = inside ? c.data(0).as<T>()[offset] : constant.as<T>()[0];
    });
  });
}

// Col2Im: columns of windows back into an image.

/// Attributes for each spatial axis, as the specification names them.
struct windows_back {
  std::vector<i64> image, block, dilations, strides, pads;
  explicit windows_back(const call& c) : image(c.integer_list(1)), block(c.integer_list(2)) {
    const std::vector<i64> ones(image.size(), 1), zeros(2 * image.size(), 0);
    dilations = c.op().integers("dilations", ones);
    strides = c.op().integers("strides", ones);
    pads = c.op().integers("pads", zeros);
    c.require(block.size() == image.size() && dilations.size() == image.size() && strides.size() == image.size() &&
                  pads.size() == 2 * image.size() && !image.empty(),
              "image_shape, block_shape and the attributes differ in the number of axes");
    for (std::size_t d = 0; d < image.size(); ++d)
      c.require(image[d] > 0 && block[d] > 0 && dilations[d] > 0 && strides[d] > 0 && pads[d] >= 0 &&
                    pads[d + image.size()] >= 0 && image[d] < 1 << 24 && block[d] < 1 << 24 && dilations[d] < 1 << 24 &&
                    pads[d] < 1 << 24 && pads[d + image.size()] < 1 << 24,
                "a length, stride, dilation or pad is out of range");
  }
  /// Windows along an axis.
  i64 count(std::size_t d) const {
    const i64 reach = dilations[d] * (block[d] - 1) + 1, length = image[d] + pads[d] + pads[d + image.size()];
    return length < reach ? 0 : (length - reach) / strides[d] + 1;
  }
};

void infer_col_2_im(call& c) {
  c.require_inputs(3, 3);
  c.require_rank(0, 3, 3);
  const windows_back w(c);
  i64 columns = 1, taps = 1;
  for (std::size_t d = 0; d < w.image.size(); ++d) {
    columns *= w.count(d);
    taps *= w.block[d];
    c.require(columns < i64{1} << 31 && taps < i64{1} << 31, "there are too many windows");
  }
  c.require(columns > 0 && c.shape(0)[2] == columns && c.shape(0)[1] % taps == 0, "the columns do not fit the image");
  shape_t shape = {c.shape(0)[0], c.shape(0)[1] / taps};
  shape.insert(shape.end(), w.image.begin(), w.image.end());
  c.declare(0, c.type(0), shape);
}

/// Visits windows, and adds each of their taps to the pixel that it came from.
void evaluate_col_2_im(call& c) {
  const windows_back w(c);
  const i64 taps = count_of(w.block), columns = c.shape(0)[2], channels = c.shape(0)[0] * c.shape(0)[1] / taps,
            pixels = count_of(w.image);
  std::fill_n(c.out_floats(), c.out(0).count(), 0.0);
  for (i64 column = 0; column < columns; ++column)
    for (i64 tap = 0; tap < taps; ++tap) {
      i64 pixel = 0, stride = 1, at = column, of = tap;
      bool inside = true;
      for (std::size_t d = w.image.size(); d-- > 0;) {
        const i64 x = at % w.count(d) * w.strides[d] + of % w.block[d] * w.dilations[d] - w.pads[d];
        inside = inside && x >= 0 && x < w.image[d];
        pixel += x * stride;
        stride *= w.image[d];
        at /= w.count(d);
        of /= w.block[d];
      }
      for (i64 channel = 0; inside && channel < channels; ++channel)
        c.out_floats()[channel * pixels + pixel] += c.floats(0)[(channel * taps + tap) * columns + column];
    }
}

}

void add_slicing(table& t) {
  t["Col2Im"] = {infer_col_2_im, evaluate_col_2_im, 18};
  t["Concat"] = {infer_concat, evaluate_concat};
  t["Split"] = {infer_split, evaluate_split};
  t["Slice"] = {infer_slice, evaluate_slice};
  t["Pad"] = {infer_pad, evaluate_pad};
}

}
