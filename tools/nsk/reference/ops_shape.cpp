// SPDX-License-Identifier: MIT
/// Operators that move elements without computing: shapes, slices, concatenation, padding, transposition; and
/// constants.
#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/operators.hpp"
#include "reference/run_node.hpp"

namespace nsk::tool::reference {
namespace {

using i64 = std::int64_t;

/// y[i] = x[start + sum of index * stride], index running over `shape` in row-major order.
void copy_strided(const array& x, array& y, const shape_t& shape, const shape_t& stride, i64 start) {
  by_type(y.type, [&](auto* tag) {
    using T = pointee<decltype(tag)>;
    for_each_offset(shape, stride, [&](i64 i, i64 at) { y.as<T>()[i] = x.as<T>()[start + at]; });
  });
}

void evaluate_copy(call& c) { c.out(0).data = c.data(0).data; }

/// Axes from an attribute in older opsets or input `i` in newer ones, normalised against `rank`, without repetition.
std::vector<std::size_t> axes_of(const call& c, std::size_t i, std::size_t rank) {
  const std::vector<i64> given = c.has(i) ? c.integer_list(i) : c.op().integers("axes");
  std::vector<std::size_t> axes;
  for (i64 a : given) {
    axes.push_back(c.axis(a, rank));
    if (std::count(axes.begin(), axes.end(), axes.back()) != 1) c.fail("an axis is given twice");
  }
  return axes;
}

// Reshape and its like.

void infer_reshape(call& c) {
  c.require_inputs(2, 2);
  shape_t shape = c.integer_list(1);
  const i64 count = count_of(c.shape(0));
  const bool allow_zero = c.op().integer("allowzero", 0) != 0;
  std::size_t free_axis = shape.size();
  i64 known = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0 && !allow_zero) {
      c.require(d < c.rank(0), "the new shape copies a dimension that the input does not have");
      shape[d] = c.shape(0)[d];
    }
    if (shape[d] == -1) {
      c.require(free_axis == shape.size(), "the new shape has more than one -1");
      free_axis = d;
    } else {
      c.require(shape[d] >= 0, "the new shape has a negative dimension");
      c.require(shape[d] == 0 || known <= (i64{1} << 40) / shape[d], "the new shape is larger than 2^40 elements");
      known *= shape[d];
    }
  }
  if (free_axis < shape.size()) {
    c.require(known != 0 && count % known == 0, "the new shape's -1 cannot be resolved");
    shape[free_axis] = count / known;
    known *= shape[free_axis];
  }
  if (known != count)
    c.fail("the new shape " + to_string(shape) + " has " + std::to_string(known) + " elements, the input " +
           std::to_string(count));
  c.declare(0, c.type(0), shape);
}

void infer_flatten(call& c) {
  c.require_inputs(1, 1);
  const i64 given = c.op().integer("axis", 1);
  const std::size_t rank = c.rank(0), axis = given == static_cast<i64>(rank) ? rank : c.axis(given, rank);
  c.declare(0, c.type(0), {count_between(c.shape(0), 0, axis), count_between(c.shape(0), axis, rank)});
}

void infer_squeeze(call& c) {
  c.require_inputs(1, 2);
  const std::vector<std::size_t> axes = axes_of(c, 1, c.rank(0));
  const bool all = !c.has(1) && !c.op().has("axes");
  shape_t shape;
  for (std::size_t d = 0; d < c.rank(0); ++d) {
    const bool named = std::find(axes.begin(), axes.end(), d) != axes.end(), one = c.shape(0)[d] == 1;
    c.require(!named || one, "an axis to remove is not 1 long");
    if (!(named || (all && one))) shape.push_back(c.shape(0)[d]);
  }
  c.declare(0, c.type(0), shape);
}

void infer_unsqueeze(call& c) {
  c.require_inputs(1, 2);
  const std::size_t added = c.has(1) ? static_cast<std::size_t>(c.data(1).count()) : c.op().integers("axes").size();
  const std::vector<std::size_t> axes = axes_of(c, 1, c.rank(0) + added);
  shape_t shape;
  std::size_t from = 0;
  for (std::size_t d = 0; d < c.rank(0) + added; ++d)
    shape.push_back(std::find(axes.begin(), axes.end(), d) != axes.end() ? 1 : c.shape(0)[from++]);
  c.declare(0, c.type(0), shape);
}

// Shapes as values: these never read the input's elements.

std::pair<std::size_t, std::size_t> shape_range(const call& c) {
  const auto rank = static_cast<i64>(c.rank(0));
  const auto bound = [&](i64 v) { return static_cast<std::size_t>(std::clamp<i64>(v < 0 ? v + rank : v, 0, rank)); };
  const std::size_t first = bound(c.op().integer("start", 0)), last = bound(c.op().integer("end", rank));
  return {first, std::max(first, last)};
}

void infer_shape(call& c) {
  c.require_inputs(1, 1);
  const auto [first, last] = shape_range(c);
  c.declare(0, element::i64, {static_cast<i64>(last - first)});
}

void evaluate_shape(call& c) {
  const std::size_t first = shape_range(c).first;
  for (i64 i = 0; i < c.out(0).count(); ++i) c.out_integers()[i] = c.shape(0)[first + static_cast<std::size_t>(i)];
}

void infer_size(call& c) {
  c.require_inputs(1, 1);
  c.declare(0, element::i64, {});
}

void evaluate_size(call& c) { c.out_integers()[0] = count_of(c.shape(0)); }

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
  const std::size_t axis = c.axis(c.op().integer("axis", 0), c.rank(0)), element_size = size_of(c.out(0).type);
  const i64 outer = count_between(c.out_shape(0), 0, axis);
  std::byte* y = c.out(0).data.data();
  for (i64 o = 0; o < outer; ++o) {
    for (std::size_t i = 0; i < c.input_count(); ++i) {
      const std::size_t bytes = static_cast<std::size_t>(count_between(c.shape(i), axis, c.rank(i))) * element_size;
      if (bytes != 0) std::memcpy(y, c.data(i).data.data() + static_cast<std::size_t>(o) * bytes, bytes);
      y += bytes;
    }
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
    c.require(length % count == 0 || c.version() >= 18, "the axis cannot be split into equal parts");
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
  if (c.version() < 10) {
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
    const i64 room = step > 0 ? last - first : first - last, size = step > 0 ? step : -step;
    s.start[a] = std::max<i64>(first, 0);
    s.step[a] = step;
    s.length[a] = room > 0 ? (room - 1) / size + 1 : 0;
  }
  return s;
}

void infer_slice(call& c) {
  c.require_inputs(1, c.version() < 10 ? 1 : 5);
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
  const std::vector<i64> pads = c.version() < 11 ? c.op().integers("pads") : c.integer_list(1);
  std::vector<std::size_t> axes;
  if (c.has(3))
    axes = axes_of(c, 3, rank);
  else
    for (std::size_t d = 0; d < rank; ++d) axes.push_back(d);
  c.require(pads.size() == 2 * axes.size(), "there must be two pads per axis");
  constexpr i64 most = i64{1} << 40;
  padding p{shape_t(rank, 0), shape_t(rank, 0)};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    for (i64 v : {pads[i], pads[axes.size() + i]}) c.require(v >= -most && v <= most, "a pad is too large");
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
  if (c.version() < 11)
    constant.set(0, c.op().number("value", 0));
  else if (c.has(2) && c.data(2).count() == 1)
    constant = c.data(2);
  c.require(constant.type == c.out(0).type, "the constant must have the input's type");
  by_type(c.out(0).type, [&](auto* tag) {
    using T = pointee<decltype(tag)>;
    shape_t index(shape.size(), 0);
    for (i64 i = 0; i < c.out(0).count(); ++i) {
      i64 offset = 0;
      bool inside = true;
      for (std::size_t d = 0; d < shape.size(); ++d) {
        const i64 at = source[d][static_cast<std::size_t>(index[d])];
        inside = inside && at >= 0;
        offset += at;
      }
      c.out(0).as<T>()[i] = inside ? c.data(0).as<T>()[offset] : constant.as<T>()[0];
      for (std::size_t d = shape.size(); d-- > 0;) {
        if (++index[d] < shape[d]) break;
        index[d] = 0;
      }
    }
  });
}

// Transpose, Expand, Tile, DepthToSpace, SpaceToDepth: strides of the input in the output's order.

std::vector<std::size_t> permutation_of(const call& c) {
  const std::size_t rank = c.rank(0);
  std::vector<i64> given = c.op().integers("perm");
  if (given.empty())
    for (std::size_t d = rank; d-- > 0;) given.push_back(static_cast<i64>(d));
  c.require(given.size() == rank, "attribute 'perm' must name every axis");
  std::vector<std::size_t> permutation;
  for (i64 a : given) {
    permutation.push_back(c.axis(a, rank));
    c.require(std::count(permutation.begin(), permutation.end(), permutation.back()) == 1,
              "attribute 'perm' names an axis twice");
  }
  return permutation;
}

void infer_transpose(call& c) {
  c.require_inputs(1, 1);
  shape_t shape;
  for (std::size_t a : permutation_of(c)) shape.push_back(c.shape(0)[a]);
  c.declare(0, c.type(0), shape);
}

void evaluate_transpose(call& c) {
  const shape_t own = strides_of(c.shape(0));
  shape_t stride;
  for (std::size_t a : permutation_of(c)) stride.push_back(own[a]);
  copy_strided(c.data(0), c.out(0), c.out_shape(0), stride, 0);
}

void infer_expand(call& c) {
  c.require_inputs(2, 2);
  c.declare(0, c.type(0), broadcast(c, c.shape(0), c.integer_list(1)));
}

void evaluate_expand(call& c) {
  copy_strided(c.data(0), c.out(0), c.out_shape(0), broadcast_strides(c.shape(0), c.out_shape(0)), 0);
}

void infer_tile(call& c) {
  c.require_inputs(2, 2);
  const std::vector<i64> repeats = c.integer_list(1);
  c.require(repeats.size() == c.rank(0), "there must be one repetition per axis");
  shape_t shape = c.shape(0);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    c.require(repeats[d] >= 0 && repeats[d] <= (i64{1} << 20), "a repetition is negative or above 2^20");
    shape[d] *= repeats[d];
  }
  c.declare(0, c.type(0), shape);
}

void evaluate_tile(call& c) {
  const std::vector<i64> repeats = c.integer_list(1);
  const shape_t own = strides_of(c.shape(0));
  shape_t shape, stride;
  for (std::size_t d = 0; d < own.size(); ++d) {
    shape.insert(shape.end(), {repeats[d], c.shape(0)[d]});
    stride.insert(stride.end(), {0, own[d]});
  }
  copy_strided(c.data(0), c.out(0), shape, stride, 0);
}

i64 block_size(const call& c) {
  c.require_inputs(1, 1);
  c.require_rank(0, 4, 4);
  const i64 b = c.op().integer("blocksize", 0);
  c.require(b >= 1 && b <= (i64{1} << 16), "attribute 'blocksize' must be positive");
  return b;
}

std::string depth_mode(const call& c) {
  const std::string mode = c.op().text("mode", "DCR");
  c.require(mode == "DCR" || mode == "CRD", "attribute 'mode' must be DCR or CRD");
  return mode;
}

void infer_depth_to_space(call& c) {
  const i64 b = block_size(c);
  const shape_t& x = c.shape(0);
  c.require(x[1] % (b * b) == 0, "the channels cannot be divided by blocksize squared");
  depth_mode(c);
  c.declare(0, c.type(0), {x[0], x[1] / (b * b), x[2] * b, x[3] * b});
}

/// Channels of the input are [row in block][column in block][channel] in mode DCR, [channel][row][column] in CRD.
void evaluate_depth_to_space(call& c) {
  const i64 b = block_size(c);
  const shape_t& x = c.shape(0);
  const i64 channels = x[1] / (b * b), plane = x[2] * x[3];
  const bool crd = depth_mode(c) == "CRD";
  const i64 channel = plane * (crd ? b * b : 1), row = plane * b * (crd ? 1 : channels),
            column = plane * (crd ? 1 : channels);
  copy_strided(c.data(0), c.out(0), {x[0], channels, x[2], b, x[3], b}, {x[1] * plane, channel, x[3], row, 1, column},
               0);
}

void infer_space_to_depth(call& c) {
  const i64 b = block_size(c);
  const shape_t& x = c.shape(0);
  c.require(x[2] % b == 0 && x[3] % b == 0, "height and width cannot be divided by blocksize");
  depth_mode(c);
  c.declare(0, c.type(0), {x[0], x[1] * b * b, x[2] / b, x[3] / b});
}

/// The inverse: channels of the output are ordered as those of DepthToSpace's input.
void evaluate_space_to_depth(call& c) {
  const i64 b = block_size(c);
  const shape_t& x = c.shape(0);
  const i64 plane = x[2] * x[3];
  if (depth_mode(c) == "CRD")
    copy_strided(c.data(0), c.out(0), {x[0], x[1], b, b, x[2] / b, x[3] / b},
                 {x[1] * plane, plane, x[3], 1, x[3] * b, b}, 0);
  else
    copy_strided(c.data(0), c.out(0), {x[0], b, b, x[1], x[2] / b, x[3] / b},
                 {x[1] * plane, x[3], 1, plane, x[3] * b, b}, 0);
}

// Dropout as it is at inference.

void infer_dropout(call& c) {
  c.require_inputs(1, 3);
  if (c.has(2))
    c.require(c.data(2).integer(0) == 0,
              "training_mode is not supported. Export the model in inference mode (model.eval())");
  c.declare(0, c.type(0), c.shape(0));
  c.declare(1, element::boolean, c.shape(0));
}

void evaluate_dropout(call& c) {
  evaluate_copy(c);
  if (c.wants(1)) std::fill_n(c.out(1).as<std::uint8_t>(), c.out(1).count(), std::uint8_t{1});
}

// Constants.

array constant_of(const call& c) {
  const node& n = c.op();
  if (n.attributes.size() != 1) c.fail("it must have exactly one attribute");
  const auto& [key, value] = *n.attributes.begin();
  if (const auto* a = std::get_if<array>(&value); a && key == "value") return *a;
  if (key == "value_int") return make_ints({}, {n.integer(key, 0)});
  if (key == "value_float") return make_floats({}, {n.number(key, 0)});
  if (key == "value_ints") return make_ints({static_cast<i64>(n.integers(key).size())}, n.integers(key));
  if (const auto* list = std::get_if<std::vector<float>>(&value); list && key == "value_floats")
    return make_floats({static_cast<i64>(list->size())}, *list);
  c.fail("attribute '" + key + "' is not supported: strings and sparse tensors have no use here");
}

void infer_constant(call& c) {
  c.require_inputs(0, 0);
  const array a = constant_of(c);
  c.declare(0, a.type, a.shape);
}

void evaluate_constant(call& c) { c.out(0) = hold(constant_of(c)).data; }

array fill_value(const call& c) {
  const auto found = c.op().attributes.find("value");
  if (found == c.op().attributes.end()) return make_floats({1}, {0});
  const auto* a = std::get_if<array>(&found->second);
  c.require(a != nullptr && a->count() == 1, "attribute 'value' must be a tensor of one element");
  return *a;
}

void infer_constant_of_shape(call& c) {
  c.require_inputs(1, 1);
  c.declare(0, fill_value(c).type, c.integer_list(0));
}

void evaluate_constant_of_shape(call& c) {
  const array value = hold(fill_value(c)).data;
  copy_strided(value, c.out(0), c.out_shape(0), shape_t(c.out_shape(0).size(), 0), 0);
}

void infer_range(call& c) {
  c.require_inputs(3, 3);
  c.require(c.type(0) == c.type(1) && c.type(0) == c.type(2) && c.type(0) != element::boolean,
            "all inputs must have the same number type");
  const double start = c.scalar(0), limit = c.scalar(1), delta = c.scalar(2),
               length = std::ceil((limit - start) / delta);
  c.require(delta != 0 && length < 1e12, "the range is endless or longer than 10^12");
  c.declare(0, c.type(0), {length > 0 ? static_cast<i64>(length) : 0});
}

void evaluate_range(call& c) {
  for (i64 i = 0; i < c.out(0).count(); ++i) {
    if (c.out(0).type == element::f64)
      c.out_floats()[i] = c.scalar(0) + static_cast<double>(i) * c.scalar(2);
    else
      c.out_integers()[i] = plus(c.integer_scalar(0), times(i, c.integer_scalar(2)));
  }
}

}

void add_shape(table& t) {
  t["Reshape"] = {infer_reshape, evaluate_copy, 5};
  t["Flatten"] = {infer_flatten, evaluate_copy};
  t["Squeeze"] = {infer_squeeze, evaluate_copy};
  t["Unsqueeze"] = {infer_unsqueeze, evaluate_copy};
  t["Shape"] = {infer_shape, evaluate_shape};
  t["Size"] = {infer_size, evaluate_size};
  t["Concat"] = {infer_concat, evaluate_concat};
  t["Split"] = {infer_split, evaluate_split};
  t["Slice"] = {infer_slice, evaluate_slice};
  t["Pad"] = {infer_pad, evaluate_pad};
  t["Transpose"] = {infer_transpose, evaluate_transpose};
  t["Expand"] = {infer_expand, evaluate_expand, 8};
  t["Tile"] = {infer_tile, evaluate_tile, 6};
  t["DepthToSpace"] = {infer_depth_to_space, evaluate_depth_to_space};
  t["SpaceToDepth"] = {infer_space_to_depth, evaluate_space_to_depth};
  t["Dropout"] = {infer_dropout, evaluate_dropout, 7};
  t["Constant"] = {infer_constant, evaluate_constant};
  t["ConstantOfShape"] = {infer_constant_of_shape, evaluate_constant_of_shape, 9};
  t["Range"] = {infer_range, evaluate_range, 11};
}

}
