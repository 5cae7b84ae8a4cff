// SPDX-License-Identifier: MIT
/// Rules for suppression of overlapping boxes, and for the custom operator TFLite_Detection_PostProcess: boxes relative
/// to anchors, scores per class -> the best detections.
#include "import/tflite/rules/options.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "import/tflite/rules/nodes.hpp"
#include "import/tflite/rules/operands.hpp"
#include "import/tflite/rules/rules.hpp"
#include "reference/operators.hpp"

namespace nsk::tool::tflite {
namespace {

constexpr std::int64_t default_per_class = 100;

/// The float before `v`: what is above it is not below `v`.
float just_below(float v) { return std::nextafter(v, -std::numeric_limits<float>::infinity()); }

value_id flattened(call& c, value_id v) { return reshaped(c, v, {count_of(c.at(v).shape)}); }
value_id rows_at(call& c, value_id from, value_id which) {
  return c.emit("Gather", {from, which}, {{"axis", std::int64_t{0}}});
}
value_id constant_index(call& c, std::int64_t i) { return c.constant(make_ints({}, {i})); }

/// Corners [boxes, 4] (top, left, bottom, right) of boxes that are coded as centre and logarithmic size over anchors.
value_id decoded_boxes(call& c, const double (&scale)[4]) {
  const std::int64_t boxes = c.shape(c.input(0))[1];
  const value_id codes = reshaped(c, c.plain(c.input(0)), {boxes, c.shape(c.input(0))[2]}),
                 anchors = c.plain(c.input(2));
  values low(2), high(2);
  for (std::int64_t a = 0; a < 2; ++a) {  // along y, then x
    const value_id place = gathered(c, anchors, 1, {a}), length = gathered(c, anchors, 1, {a + 2});
    const value_id offset = c.emit("Div", {gathered(c, codes, 1, {a}), constant_number(c, scale[a])});
    const value_id growth =
        c.emit("Exp", {c.emit("Div", {gathered(c, codes, 1, {a + 2}), constant_number(c, scale[a + 2])})});
    const value_id centre = c.emit("Add", {c.emit("Mul", {offset, length}), place});
    const value_id half = c.emit("Mul", {growth, c.emit("Mul", {length, constant_number(c, 0.5)})});
    low[static_cast<std::size_t>(a)] = c.emit("Sub", {centre, half});
    high[static_cast<std::size_t>(a)] = c.emit("Add", {centre, half});
  }
  return c.emit("Concat", {low[0], low[1], high[0], high[1]}, {{"axis", std::int64_t{1}}});
}

/// Rows [image, class, box] that are kept, class by class, best first; -1 where there are fewer. Scores must be above
/// `min_score`, and a box goes when it shares more than `overlap` with a better one.
value_id kept_rows(call& c, value_id boxes, value_id scores, std::int64_t max_boxes, float overlap, float min_score) {
  const std::int64_t classes = c.at(scores).shape[1], count = c.at(scores).shape[2];
  return c.emit("NonMaxSuppression",
                {reshaped(c, boxes, {1, count, 4}), scores, constant_integers(c, {max_boxes}),
                 constant_number(c, overlap), constant_number(c, min_score)},
                {{reference::padded_rows, classes * std::min(max_boxes, count)}});
}

/// One class, without softening: indices of what is kept, best first, then zeros; the fifth version gives scores too.
void suppress(call& c) {
  const bool fifth = c.name() == "NON_MAX_SUPPRESSION_V5";
  c.require_operands(fifth ? 6 : 5, fifth ? 6 : 5, fifth ? 3 : 2);
  const shape_t& boxes = c.shape(c.input(0));
  c.require(boxes.size() == 2 && boxes[0] > 0 && boxes[1] == 4 && c.shape(c.input(1)) == shape_t{boxes[0]},
            "boxes must have the shape [n,4], scores [n]");
  const double asked = number(c, c.input(2), "the number of boxes");
  c.require(asked >= 1 && asked < 2147483648.0, "the number of boxes must be positive");
  const auto max_boxes = static_cast<std::int64_t>(asked);
  const auto overlap = static_cast<float>(number(c, c.input(3), "the overlap")),
             min_score = static_cast<float>(number(c, c.input(4), "the score"));
  c.require(overlap > 0 && overlap <= 1, "the overlap must be in (0, 1]");
  c.require(!fifth || number(c, c.input(5), "sigma") == 0, "softened suppression (sigma above 0) is not supported");
  const value_id scores = c.plain(c.input(1));
  // The source drops boxes that share exactly the limit.
  const value_id rows = kept_rows(c, c.plain(c.input(0)), reshaped(c, scores, {1, 1, boxes[0]}), max_boxes,
                                  just_below(overlap), min_score);
  const std::int64_t found = c.at(rows).shape[0];
  const value_id box = reshaped(c, gathered(c, rows, 1, {2}), {found}),
                 valid = c.emit("GreaterOrEqual", {box, constant_index(c, 0)});
  const value_id known = c.emit("Max", {box, constant_index(c, 0)});
  const auto padded = [&](value_id v) {
    return found == max_boxes
               ? v
               : c.emit("Pad", {v, constant_integers(c, {0, max_boxes - found})}, {{"mode", std::string("constant")}});
  };
  // Indices pass through floats, which hold them exactly: pads are float32.
  c.require(boxes[0] < (1 << 24), "there are more than 2^24 boxes");
  c.bind(0, cast(c, padded(cast(c, known, element::f32)), element::i32));
  if (fifth) {
    const value_id picked = c.emit("Gather", {scores, known}, {{"axis", std::int64_t{0}}});
    c.bind(1, padded(c.emit("Where", {valid, picked, constant_number(c, 0)})));
  }
  const value_id count =
      c.emit("ReduceSum", {cast(c, valid, element::f32), constant_integers(c, {0})}, {{"keepdims", std::int64_t{0}}});
  c.bind(fifth ? 2 : 1, cast(c, count, element::i32));
}

/// What is kept, best first: indices of boxes and classes (int64), scores, and whether there is a detection at all.
struct detections {
  value_id box, category, score, valid;
};

/// Suppression within each class, then the best of all classes.
detections best_of_each_class(call& c, value_id corners, value_id scores, std::int64_t max_boxes,
                              std::int64_t per_class, float overlap, float min_score) {
  const std::int64_t boxes = c.at(scores).shape[0], classes = c.at(scores).shape[1];
  const value_id by_class = reshaped(c, transposed(c, scores, {1, 0}), {1, classes, boxes});
  const value_id rows = kept_rows(c, corners, by_class, per_class, overlap, min_score), zero = constant_index(c, 0);
  const value_id valid = c.emit("GreaterOrEqual", {flattened(c, gathered(c, rows, 1, {2})), zero});
  const value_id box = c.emit("Max", {flattened(c, gathered(c, rows, 1, {2})), zero});
  const value_id category = c.emit("Max", {flattened(c, gathered(c, rows, 1, {1})), zero});
  const value_id place = c.emit("Add", {c.emit("Mul", {box, constant_index(c, classes)}), category});
  const value_id score = c.emit("Where", {valid, rows_at(c, flattened(c, scores), place),
                                          constant_number(c, -std::numeric_limits<float>::max())});
  const std::int64_t found = std::min(max_boxes, c.at(score).shape[0]);
  const values best = c.emit_many("TopK", {score, constant_integers(c, {found})}, {{"axis", std::int64_t{0}}}, 2);
  return {rows_at(c, box, best[1]), rows_at(c, category, best[1]), best[0], rows_at(c, valid, best[1])};
}

/// Suppression of boxes by their best class.
detections best_of_all(call& c, value_id corners, value_id scores, std::int64_t max_boxes, float overlap,
                       float min_score) {
  const std::int64_t boxes = c.at(scores).shape[0];
  const value_id top = c.emit("ReduceMax", {scores, constant_integers(c, {1})}, {{"keepdims", std::int64_t{0}}});
  const value_id best = c.emit("ArgMax", {scores}, {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{0}}});
  const value_id rows = kept_rows(c, corners, reshaped(c, top, {1, 1, boxes}), max_boxes, overlap, min_score);
  const value_id zero = constant_index(c, 0), kept = flattened(c, gathered(c, rows, 1, {2}));
  const value_id box = c.emit("Max", {kept, zero});
  return {box, rows_at(c, best, box), rows_at(c, top, box), c.emit("GreaterOrEqual", {kept, zero})};
}

void detection_post_process(call& c) {
  c.require_operands(3, 3, 4);
  const named_options o(c.op().data->custom_options());
  const shape_t &codes = c.shape(c.input(0)), &predictions = c.shape(c.input(1)), &anchors = c.shape(c.input(2));
  c.require(codes.size() == 3 && codes[0] == 1 && codes[1] > 0 && codes[2] >= 4,
            "the boxes must have the shape [1,n,4 or more]");
  const std::int64_t boxes = codes[1], classes = o.integer("num_classes", 1),
                     max_boxes = o.integer("max_detections", 1);
  c.require(predictions.size() == 3 && predictions[0] == 1 && predictions[1] == boxes && anchors == shape_t{boxes, 4},
            "scores or anchors do not fit the boxes");
  const std::int64_t background = predictions[2] - classes;
  c.require(background == 0 || background == 1, "the scores have neither as many classes as num_classes, nor one more");
  c.require(o.integer("max_classes_per_detection", 1) == 1, "more than one class per detection is not supported");
  const std::int64_t per_class =
      o.has("detections_per_class") ? o.integer("detections_per_class", 1) : default_per_class;
  const auto overlap = static_cast<float>(o.number("nms_iou_threshold", 0));
  const float min_score = just_below(static_cast<float>(o.number("nms_score_threshold", 0)));  // equal scores are kept
  const double scale[4] = {o.number("y_scale", 0), o.number("x_scale", 0), o.number("h_scale", 0),
                           o.number("w_scale", 0)};
  c.require(overlap > 0 && overlap <= 1, "its nms_iou_threshold is not in (0, 1]");
  c.require(std::none_of(scale, scale + 4, [](double s) { return s == 0; }), "a scale of the boxes is zero or missing");

  const value_id corners = decoded_boxes(c, scale);
  const value_id scores =
      reshaped(c, sliced(c, c.plain(c.input(1)), false, {0, 0, background}, predictions, {1, 1, 1}), {boxes, classes});
  const detections d = o.flag("use_regular_nms", false)
                           ? best_of_each_class(c, corners, scores, max_boxes, per_class, overlap, min_score)
                           : best_of_all(c, corners, scores, max_boxes, overlap, min_score);
  const std::int64_t found = c.at(d.score).shape[0];
  const auto padded = [&](value_id v, std::int64_t width) {  // zeros where there is no detection
    const value_id known =
        c.emit("Where", {reshaped(c, d.valid, {found, 1}), reshaped(c, v, {found, width}), constant_number(c, 0)});
    if (found == max_boxes) return known;
    return c.emit("Pad", {known, constant_integers(c, {0, 0, max_boxes - found, 0})},
                  {{"mode", std::string("constant")}});
  };
  const auto as_float = [&](value_id v) { return cast(c, v, element::f32); };
  c.bind(0, reshaped(c, padded(rows_at(c, corners, d.box), 4), {1, max_boxes, 4}));
  c.bind(1, reshaped(c, padded(as_float(d.category), 1), {1, max_boxes}));
  c.bind(2, reshaped(c, padded(d.score, 1), {1, max_boxes}));
  c.bind(3, c.emit("ReduceSum", {as_float(d.valid), constant_integers(c, {0})}, {{"keepdims", std::int64_t{1}}}),
         false);
}

}

void add_suppression(table& t) {
  t["NON_MAX_SUPPRESSION_V4"] = {suppress};
  t["NON_MAX_SUPPRESSION_V5"] = {suppress};
}

void add_detection(table& t) { t["TFLite_Detection_PostProcess"] = {detection_post_process}; }

}
