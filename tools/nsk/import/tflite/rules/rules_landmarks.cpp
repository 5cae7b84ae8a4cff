// SPDX-License-Identifier: MIT
/// Rules for MediaPipe's custom operators on landmarks, in the second version of each: a transform that makes a crop
/// upright, and its use on landmarks and on images. All are spelled out in simpler operators.
#include "import/tflite/rules/options.hpp"

#include <cmath>

#include "import/tflite/rules/nodes.hpp"
#include "import/tflite/rules/operands.hpp"
#include "import/tflite/rules/rules.hpp"

namespace nsk::tool::tflite {
namespace {

using list = std::vector<std::int64_t>;

value_id add(call& c, value_id a, value_id b) { return c.emit("Add", {a, b}); }
value_id sub(call& c, value_id a, value_id b) { return c.emit("Sub", {a, b}); }
value_id mul(call& c, value_id a, value_id b) { return c.emit("Mul", {a, b}); }
value_id scaled(call& c, value_id a, double f) { return mul(c, a, constant_number(c, f)); }

/// Element `index` of a vector, as a vector of one.
value_id element_of(call& c, value_id vector, std::int64_t index) {
  return sliced(c, vector, false, {index}, {index + 1}, {1});
}

void require_version(const call& c, int version) {
  if (c.op().version != version)
    c.fail("its version is " + std::to_string(c.op().version) + ", but only version " + std::to_string(version) +
           " is known");
}

/// Options of Landmarks2TransformMatrix.
struct crop_options {
  std::int64_t left, right;  ///< landmarks
  double width, height, radians, scale_x, scale_y;
  list subset;
};

crop_options crop_of(const call& c, const named_options& o, std::int64_t landmarks) {
  crop_options crop;
  crop.left = o.integer("left_rotation_idx", 0);
  crop.right = o.integer("right_rotation_idx", 0);
  crop.width = static_cast<double>(o.integer("output_width", 1));
  crop.height = static_cast<double>(o.integer("output_height", 1));
  crop.radians = o.number("target_rotation_radians", 0);
  crop.scale_x = o.number("scale_x", 0);
  crop.scale_y = o.number("scale_y", 0);
  crop.subset = o.integers("subset_idxs");
  const bool known = crop.left < landmarks && crop.right < landmarks && !crop.subset.empty();
  c.require(known && crop.scale_x > 0 && crop.scale_y > 0, "its options contradict the landmarks");
  for (const std::int64_t i : crop.subset)
    c.require(i >= 0 && i < landmarks, "its subset names a landmark that does not exist");
  return crop;
}

/// A direction as cosine and sine.
struct direction {
  value_id cosine, sine;
};

/// The direction from left to right as a unit vector (along x where the two coincide, as of atan2), rotated.
direction direction_of(call& c, value_id xs, value_id ys, const crop_options& o) {
  const value_id dx = sub(c, element_of(c, xs, o.right), element_of(c, xs, o.left)),
                 dy = sub(c, element_of(c, ys, o.right), element_of(c, ys, o.left));
  const value_id length = c.emit("Sqrt", {add(c, mul(c, dx, dx), mul(c, dy, dy))});
  const value_id apart = c.emit("Greater", {length, constant_number(c, 0)});
  const value_id divisor = c.emit("Where", {apart, length, constant_number(c, 1)});
  const value_id along = c.emit("Where", {apart, c.emit("Div", {dx, divisor}), constant_number(c, 1)}),
                 across = c.emit("Div", {dy, divisor});
  const value_id cosine = add(c, scaled(c, along, std::cos(o.radians)), scaled(c, across, std::sin(o.radians)));
  const value_id sine = sub(c, scaled(c, along, std::sin(o.radians)), scaled(c, across, std::cos(o.radians)));
  return {cosine, sine};
}

/// Landmarks [1, n, 3] -> the matrix [1, 4, 4] that maps the pixels of a crop of output_width by output_height to the
/// landmarks' plane. The crop is the box around a subset of landmarks, in axes rotated so that the line from the left
/// to the right landmark has the target's direction, enlarged by scale_x and scale_y.
void landmarks_to_matrix(call& c) {
  c.require_operands(1, 1);
  require_version(c, 2);
  const named_options given(c.op().data->custom_options());
  const shape_t& x = c.shape(c.input(0));
  c.require(x.size() == 3 && x[0] == 1 && x[2] == 3, "the landmarks must have the shape [1,n,3]");
  const crop_options o = crop_of(c, given, x[1]);
  const value_id points = reshaped(c, c.plain(c.input(0)), {x[1], 3});
  const auto column = [&](std::int64_t i) { return reshaped(c, gathered(c, points, 1, {i}), {x[1]}); };
  const value_id xs = column(0), ys = column(1);
  const direction d = direction_of(c, xs, ys, o);

  const value_id px = gathered(c, xs, 0, o.subset), py = gathered(c, ys, 0, o.subset);
  const value_id along = sub(c, mul(c, px, d.cosine), mul(c, py, d.sine)),
                 across = add(c, mul(c, px, d.sine), mul(c, py, d.cosine));
  const auto extreme = [&](const char* op, value_id v) {
    return c.emit(op, {v, constant_integers(c, {0})}, {{"keepdims", std::int64_t{1}}});
  };
  const value_id right = extreme("ReduceMax", along), left = extreme("ReduceMin", along);
  const value_id bottom = extreme("ReduceMax", across), top = extreme("ReduceMin", across);
  const value_id middle_x = scaled(c, add(c, right, left), 0.5), middle_y = scaled(c, add(c, bottom, top), 0.5);
  const value_id size_x = scaled(c, sub(c, right, left), o.scale_x / o.width),
                 size_y = scaled(c, sub(c, bottom, top), o.scale_y / o.height);

  const value_id m00 = mul(c, d.cosine, size_x), m01 = mul(c, d.sine, size_y),
                 m10 = c.emit("Neg", {mul(c, d.sine, size_x)}), m11 = mul(c, d.cosine, size_y);
  const auto origin = [&](value_id centre, value_id a, value_id b) {
    return sub(c, sub(c, centre, scaled(c, a, o.width / 2)), scaled(c, b, o.height / 2));
  };
  const value_id m03 = origin(add(c, mul(c, middle_x, d.cosine), mul(c, middle_y, d.sine)), m00, m01);
  const value_id m13 = origin(sub(c, mul(c, middle_y, d.cosine), mul(c, middle_x, d.sine)), m10, m11);
  const value_id none = c.constant(make_floats({1}, {0})),
                 rest = c.constant(make_floats({8}, {0, 0, 1, 0, 0, 0, 0, 1}));
  c.bind(0, reshaped(c, joined(c, {m00, m01, none, m03, m10, m11, none, m13, rest}, 0), {1, 4, 4}));
}

/// The numbers of the first two rows of a matrix [1, 4, 4] that move points: xx, xy, x0, yx, yy, y0.
values affine_rows(call& c, int t) {
  if (count_of(c.shape(t)) != 16) c.fail("the matrix must have 16 elements");
  const value_id flat = reshaped(c, c.plain(t), {16});
  values m;
  for (const std::int64_t i : {0, 1, 3, 4, 5, 7}) m.push_back(element_of(c, flat, i));
  return m;
}

/// Points [1, n, 2 or 3] through the first two rows of a matrix; a third coordinate stays.
void transform_landmarks(call& c) {
  c.require_operands(2, 2);
  require_version(c, 2);
  const shape_t& x = c.shape(c.input(0));
  c.require(x.size() == 3 && x[0] == 1 && (x[2] == 2 || x[2] == 3),
            "the landmarks must have the shape [1,n,2] or [1,n,3]");
  const values m = affine_rows(c, c.input(1));
  const value_id points = c.plain(c.input(0));
  const value_id px = gathered(c, points, 2, {0}), py = gathered(c, points, 2, {1});
  values columns;
  for (std::size_t row = 0; row < 2; ++row) {
    const value_id moved = add(c, mul(c, px, m[3 * row]), mul(c, py, m[3 * row + 1]));
    columns.push_back(add(c, moved, m[3 * row + 2]));
  }
  if (x[2] == 3) columns.push_back(gathered(c, points, 2, {2}));
  c.bind(0, joined(c, columns, 2));
}

/// The centres of the pixels of an image of `count` pixels, `columns` in a row: x, then y.
values pixel_centres(call& c, std::int64_t count, std::int64_t columns) {
  std::vector<float> across(static_cast<std::size_t>(count)), down(across.size());
  for (std::int64_t i = 0; i < count; ++i) {
    across[static_cast<std::size_t>(i)] = static_cast<float>(i % columns) + 0.5f;
    down[static_cast<std::size_t>(i)] = static_cast<float>(i / columns) + 0.5f;
  }
  return {c.constant(make_floats({count}, across)), c.constant(make_floats({count}, down))};
}

/// Where samples are along one axis: whether inside, the pixels before and behind, and the share of the one behind.
struct positions {
  value_id inside, low, high, share;
};

/// An image [1, H, W, C] seen through a matrix: pixel (x, y) of the result is the bilinear sample at
/// matrix (x + 1/2, y + 1/2) - 1/2; outside of [0, W - 1] by [0, H - 1] it is 0.
void transform_image(call& c) {
  c.require_operands(2, 2);
  require_version(c, 2);
  const named_options o(c.op().data->custom_options());
  const shape_t x = c.shape(c.input(0));
  c.require(x.size() == 4 && x[0] == 1 && count_of(x) > 0, "the input must be one image");
  c.require(x[1] * x[2] <= 1 << 24, "the input has more than 2^24 pixels");
  const std::int64_t rows = o.integer("output_height", 1), columns = o.integer("output_width", 1),
                     count = rows * columns;
  c.require(count <= 1 << 24, "the result has more than 2^24 pixels");
  const values grid = pixel_centres(c, count, columns);
  const values m = affine_rows(c, c.input(1));
  const value_id half = constant_number(c, 0.5), zero = constant_number(c, 0), one = constant_number(c, 1);
  const auto sample = [&](std::size_t row, std::int64_t length) {
    const value_id moved = add(c, mul(c, grid[0], m[3 * row]), mul(c, grid[1], m[3 * row + 1]));
    const value_id p = add(c, moved, sub(c, m[3 * row + 2], half));
    const value_id last = constant_number(c, static_cast<double>(length - 1)), whole = c.emit("Floor", {p});
    const value_id inside = c.emit("And", {c.emit("GreaterOrEqual", {p, zero}), c.emit("LessOrEqual", {p, last})});
    const value_id low = c.emit("Clip", {whole, zero, last});
    return positions{inside, low, c.emit("Min", {add(c, low, one), last}), sub(c, p, whole)};
  };
  const positions h = sample(0, x[2]), v = sample(1, x[1]);
  const value_id pixels = reshaped(c, c.plain(c.input(0)), {x[1] * x[2], x[3]});
  const value_id stride = constant_number(c, static_cast<double>(x[2]));
  const auto pixel = [&](value_id row, value_id column) {
    const value_id at_pixel = add(c, mul(c, row, stride), column);
    return c.emit("Gather", {pixels, cast(c, at_pixel, element::i64)}, {{"axis", std::int64_t{0}}});
  };
  const auto blend = [&](value_id a, value_id b, value_id share) {
    const value_id weight = reshaped(c, share, {count, 1});
    return add(c, mul(c, a, sub(c, one, weight)), mul(c, b, weight));
  };
  const value_id upper = blend(pixel(v.low, h.low), pixel(v.low, h.high), h.share);
  const value_id lower = blend(pixel(v.high, h.low), pixel(v.high, h.high), h.share);
  const value_id inside = reshaped(c, c.emit("And", {h.inside, v.inside}), {count, 1});
  const value_id y = c.emit("Where", {inside, blend(upper, lower, v.share), zero});
  c.bind(0, reshaped(c, y, {1, rows, columns, x[3]}));
}

}

void add_landmarks(table& t) {
  t["Landmarks2TransformMatrix"] = {landmarks_to_matrix};
  t["TransformLandmarks"] = {transform_landmarks};
  t["TransformTensorBilinear"] = {transform_image};
}

}
