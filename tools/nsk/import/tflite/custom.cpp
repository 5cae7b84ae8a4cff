// SPDX-License-Identifier: MIT
/// Rules for MediaPipe's custom operators on landmarks, in the second version of each: a transform that makes a crop
/// upright, and its use on landmarks and on pictures. All are spelled out in simpler operators.
#include "import/tflite/options.hpp"

#include <cmath>
#include <numeric>

#include "import/tflite/importer.hpp"

namespace nsk::tool {
namespace {

using list = std::vector<std::int64_t>;

}

value_id tflite_importer::arithmetic(const char* op, value_id a, value_id b) { return emit(op, {a, b}); }

/// Element `index` of a vector, as a vector of one.
value_id tflite_importer::element_of(value_id vector, std::int64_t index) {
  return emit("Slice", {vector, constant_integers({index}), constant_integers({index + 1}), constant_integers({0}),
                        constant_integers({1})});
}

void tflite_importer::require_version(int version) const {
  if (m_op->version != version)
    fail("its version is " + std::to_string(m_op->version) + ", but only version " + std::to_string(version) +
         " is known");
}

/// Landmarks [1, n, 3] -> the matrix [1, 4, 4] that maps the pixels of a crop of output_width by output_height to the
/// landmarks' plane. The crop is the box around a subset of landmarks, in axes turned so that the line from the left to
/// the right landmark has the target's direction, enlarged by scale_x and scale_y.
void tflite_importer::landmarks_to_matrix() {
  require_operands(1, 1);
  require_version(2);
  const named_options o(m_op->data->custom_options());
  const shape_t& x = shape(input(0));
  require(x.size() == 3 && x[0] == 1 && x[2] == 3, "the landmarks must have the shape [1,n,3]");
  const std::int64_t left = o.integer("left_rotation_idx", 0), right = o.integer("right_rotation_idx", 0);
  const auto width = static_cast<double>(o.integer("output_width", 1)),
             height = static_cast<double>(o.integer("output_height", 1));
  const double turn = o.number("target_rotation_radians", 0);
  const double scale_x = o.number("scale_x", 0), scale_y = o.number("scale_y", 0);
  const list subset = o.integers("subset_idxs");
  require(left < x[1] && right < x[1] && !subset.empty() && scale_x > 0 && scale_y > 0,
          "its options contradict the landmarks");
  for (const std::int64_t i : subset) require(i >= 0 && i < x[1], "its subset names a landmark that does not exist");

  const auto add = [&](value_id a, value_id b) { return arithmetic("Add", a, b); };
  const auto sub = [&](value_id a, value_id b) { return arithmetic("Sub", a, b); };
  const auto mul = [&](value_id a, value_id b) { return arithmetic("Mul", a, b); };
  const auto scaled = [&](value_id a, double f) { return mul(a, constant_number(f)); };
  const value_id points = reshaped(plain(input(0)), {x[1], 3});
  const auto column = [&](std::int64_t c) { return reshaped(gathered(points, 1, {c}), {x[1]}); };
  const value_id xs = column(0), ys = column(1);

  // The direction from left to right as a unit vector (along x where the two coincide, as of atan2), turned.
  const value_id dx = sub(element_of(xs, right), element_of(xs, left)),
                 dy = sub(element_of(ys, right), element_of(ys, left));
  const value_id length = emit("Sqrt", {add(mul(dx, dx), mul(dy, dy))});
  const value_id apart = emit("Greater", {length, constant_number(0)});
  const value_id divisor = emit("Where", {apart, length, constant_number(1)});
  const value_id along = emit("Where", {apart, emit("Div", {dx, divisor}), constant_number(1)}),
                 across = emit("Div", {dy, divisor});
  const value_id c = add(scaled(along, std::cos(turn)), scaled(across, std::sin(turn)));
  const value_id s = sub(scaled(along, std::sin(turn)), scaled(across, std::cos(turn)));

  const value_id px = gathered(xs, 0, subset), py = gathered(ys, 0, subset);
  const value_id turned_x = sub(mul(px, c), mul(py, s)), turned_y = add(mul(px, s), mul(py, c));
  const auto extreme = [&](const char* op, value_id v) {
    return emit(op, {v, constant_integers({0})}, {{"keepdims", std::int64_t{1}}});
  };
  const value_id right_end = extreme("ReduceMax", turned_x), left_end = extreme("ReduceMin", turned_x);
  const value_id bottom = extreme("ReduceMax", turned_y), top = extreme("ReduceMin", turned_y);
  const value_id middle_x = scaled(add(right_end, left_end), 0.5), middle_y = scaled(add(bottom, top), 0.5);
  const value_id size_x = scaled(sub(right_end, left_end), scale_x / width),
                 size_y = scaled(sub(bottom, top), scale_y / height);

  const value_id m00 = mul(c, size_x), m01 = mul(s, size_y), m10 = emit("Neg", {mul(s, size_x)}), m11 = mul(c, size_y);
  const auto origin = [&](value_id centre, value_id a, value_id b) {
    return sub(sub(centre, scaled(a, width / 2)), scaled(b, height / 2));
  };
  const value_id m03 = origin(add(mul(middle_x, c), mul(middle_y, s)), m00, m01);
  const value_id m13 = origin(sub(mul(middle_y, c), mul(middle_x, s)), m10, m11);
  const value_id none = constant(make_floats({1}, {0})), rest = constant(make_floats({8}, {0, 0, 1, 0, 0, 0, 0, 1}));
  const value_id matrix = emit("Concat", {m00, m01, none, m03, m10, m11, none, m13, rest}, {{"axis", std::int64_t{0}}});
  bind(output(), reshaped(matrix, {1, 4, 4}), false);
}

/// The four numbers of the first two rows of a matrix [1, 4, 4] that move points: xx, xy, x0, yx, yy, y0.
std::vector<value_id> tflite_importer::affine_rows(int t) {
  if (count_of(shape(t)) != 16) fail("the matrix must have 16 elements");
  const value_id flat = reshaped(plain(t), {16});
  std::vector<value_id> m;
  for (const std::int64_t i : {0, 1, 3, 4, 5, 7}) m.push_back(element_of(flat, i));
  return m;
}

/// Points [1, n, 2 or 3] through the first two rows of a matrix; a third coordinate stays.
void tflite_importer::transform_landmarks() {
  require_operands(2, 2);
  require_version(2);
  const shape_t& x = shape(input(0));
  require(x.size() == 3 && x[0] == 1 && (x[2] == 2 || x[2] == 3),
          "the landmarks must have the shape [1,n,2] or [1,n,3]");
  const std::vector<value_id> m = affine_rows(input(1));
  const value_id points = plain(input(0));
  const value_id px = gathered(points, 2, {0}), py = gathered(points, 2, {1});
  values columns;
  for (std::size_t row = 0; row < 2; ++row) {
    const value_id moved = arithmetic("Add", arithmetic("Mul", px, m[3 * row]), arithmetic("Mul", py, m[3 * row + 1]));
    columns.push_back(arithmetic("Add", moved, m[3 * row + 2]));
  }
  if (x[2] == 3) columns.push_back(gathered(points, 2, {2}));
  bind(output(), emit("Concat", columns, {{"axis", std::int64_t{2}}}), false);
}

/// A picture [1, H, W, C] seen through a matrix: pixel (x, y) of the result is the bilinear sample at
/// matrix (x + 1/2, y + 1/2) - 1/2; outside of [0, W - 1] by [0, H - 1] it is 0.
void tflite_importer::transform_picture() {
  require_operands(2, 2);
  require_version(2);
  const named_options o(m_op->data->custom_options());
  const shape_t x = shape(input(0));
  require(x.size() == 4 && x[0] == 1 && count_of(x) > 0, "the input must be one picture");
  require(x[1] * x[2] <= 1 << 24, "the input has more than 2^24 pixels");
  const std::int64_t rows = o.integer("output_height", 1), columns = o.integer("output_width", 1),
                     count = rows * columns;
  require(count <= 1 << 24, "the result has more than 2^24 pixels");
  std::vector<float> across(static_cast<std::size_t>(count)), down(across.size());
  for (std::int64_t i = 0; i < count; ++i) {
    across[static_cast<std::size_t>(i)] = static_cast<float>(i % columns) + 0.5f;
    down[static_cast<std::size_t>(i)] = static_cast<float>(i / columns) + 0.5f;
  }
  const value_id grid_x = constant(make_floats({count}, across)), grid_y = constant(make_floats({count}, down));
  const std::vector<value_id> m = affine_rows(input(1));
  const value_id half = constant_number(0.5), zero = constant_number(0), one = constant_number(1);
  struct side {
    value_id inside, low, high, share;
  };
  const auto sample = [&](std::size_t row, std::int64_t length) {
    const value_id moved =
        arithmetic("Add", arithmetic("Mul", grid_x, m[3 * row]), arithmetic("Mul", grid_y, m[3 * row + 1]));
    const value_id p = arithmetic("Add", moved, arithmetic("Sub", m[3 * row + 2], half));
    const value_id last = constant_number(static_cast<double>(length - 1)), whole = emit("Floor", {p});
    const value_id inside = emit("And", {emit("GreaterOrEqual", {p, zero}), emit("LessOrEqual", {p, last})});
    const value_id low = emit("Clip", {whole, zero, last});
    return side{inside, low, emit("Min", {arithmetic("Add", low, one), last}), arithmetic("Sub", p, whole)};
  };
  const side h = sample(0, x[2]), v = sample(1, x[1]);
  const value_id pixels = reshaped(plain(input(0)), {x[1] * x[2], x[3]});
  const value_id stride = constant_number(static_cast<double>(x[2]));
  const auto pixel = [&](value_id row, value_id column) {
    const value_id at_pixel = arithmetic("Add", arithmetic("Mul", row, stride), column);
    return emit("Gather", {pixels, emit("Cast", {at_pixel}, {{"to", std::int64_t{7}}})}, {{"axis", std::int64_t{0}}});
  };
  const auto blend = [&](value_id a, value_id b, value_id share) {
    const value_id weight = reshaped(share, {count, 1});
    return arithmetic("Add", arithmetic("Mul", a, arithmetic("Sub", one, weight)), arithmetic("Mul", b, weight));
  };
  const value_id upper = blend(pixel(v.low, h.low), pixel(v.low, h.high), h.share);
  const value_id lower = blend(pixel(v.high, h.low), pixel(v.high, h.high), h.share);
  const value_id inside = reshaped(emit("And", {h.inside, v.inside}), {count, 1});
  const value_id y = emit("Where", {inside, blend(upper, lower, v.share), zero});
  bind(output(), reshaped(y, {1, rows, columns, x[3]}), false);
}

}
