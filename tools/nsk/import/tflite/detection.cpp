// SPDX-License-Identifier: MIT
/// The custom operator TFLite_Detection_PostProcess: boxes relative to anchors, scores per class -> the best
/// detections.
#include "import/tflite/options.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "import/tflite/importer.hpp"
#include "reference/operators.hpp"

namespace nsk::tool {
namespace {

constexpr std::int64_t usual_detections_per_class = 100;

/// The float before `v`: what is above it is not below `v`.
float just_below(float v) { return std::nextafter(v, -std::numeric_limits<float>::infinity()); }

}

/// Corners [boxes, 4] (top, left, bottom, right) of boxes that are coded as centre and logarithmic size over anchors.
value_id tflite_importer::decoded_boxes(const double (&scale)[4]) {
  const std::int64_t boxes = shape(input(0))[1];
  const value_id codes = reshaped(plain(input(0)), {boxes, shape(input(0))[2]}), anchors = plain(input(2));
  values low(2), high(2);
  for (std::int64_t a = 0; a < 2; ++a) {  // along y, then x
    const value_id place = gathered(anchors, 1, {a}), length = gathered(anchors, 1, {a + 2});
    const value_id offset = emit("Div", {gathered(codes, 1, {a}), constant_number(scale[a])});
    const value_id growth = emit("Exp", {emit("Div", {gathered(codes, 1, {a + 2}), constant_number(scale[a + 2])})});
    const value_id centre = emit("Add", {emit("Mul", {offset, length}), place});
    const value_id half = emit("Mul", {growth, emit("Mul", {length, constant_number(0.5)})});
    low[static_cast<std::size_t>(a)] = emit("Sub", {centre, half});
    high[static_cast<std::size_t>(a)] = emit("Add", {centre, half});
  }
  return emit("Concat", {low[0], low[1], high[0], high[1]}, {{"axis", std::int64_t{1}}});
}

/// Rows [image, class, box] that are kept, class by class, best first; -1 where there are fewer. Scores must be above
/// `least`, and a box goes when it shares more than `overlap` with a better one.
value_id tflite_importer::kept_rows(value_id boxes, value_id scores, std::int64_t most, float overlap, float least) {
  const std::int64_t classes = at(scores).shape[1], count = at(scores).shape[2];
  return emit("NonMaxSuppression",
              {reshaped(boxes, {1, count, 4}), scores, constant_integers({most}), constant_number(overlap),
               constant_number(least)},
              {{reference::suppression_bound, classes * std::min(most, count)}});
}

/// One class, without softening: indices of what is kept, best first, then zeros; the fifth version gives scores too.
void tflite_importer::suppress() {
  const bool fifth = m_op->name == "NON_MAX_SUPPRESSION_V5";
  require_operands(fifth ? 6 : 5, fifth ? 6 : 5, fifth ? 3 : 2);
  const shape_t& boxes = shape(input(0));
  require(boxes.size() == 2 && boxes[0] > 0 && boxes[1] == 4 && shape(input(1)) == shape_t{boxes[0]},
          "boxes must have the shape [n,4], scores [n]");
  const double asked = number(input(2), "the number of boxes");
  require(asked >= 1 && asked < 2147483648.0, "the number of boxes must be positive");
  const auto most = static_cast<std::int64_t>(asked);
  const auto overlap = static_cast<float>(number(input(3), "the overlap")),
             least = static_cast<float>(number(input(4), "the score"));
  require(overlap > 0 && overlap <= 1, "the overlap must be in (0, 1]");
  require(!fifth || number(input(5), "sigma") == 0, "softened suppression (sigma above 0) is not supported");
  const value_id scores = plain(input(1));
  // The source drops boxes that share exactly the limit.
  const value_id rows =
      kept_rows(plain(input(0)), reshaped(scores, {1, 1, boxes[0]}), most, just_below(overlap), least);
  const std::int64_t room = at(rows).shape[0];
  const value_id box = reshaped(gathered(rows, 1, {2}), {room}),
                 valid = emit("GreaterOrEqual", {box, constant(make_ints({}, {0}))});
  const value_id known = emit("Max", {box, constant(make_ints({}, {0}))});
  const auto cast = [&](value_id v, std::int64_t type) { return emit("Cast", {v}, {{"to", type}}); };
  const auto padded = [&](value_id v) {
    return room == most ? v
                        : emit("Pad", {v, constant_integers({0, most - room})}, {{"mode", std::string("constant")}});
  };
  // Indices pass through floats, which hold them exactly: pads are float32.
  require(boxes[0] < (1 << 24), "there are more than 2^24 boxes");
  bind(output(0), cast(padded(cast(known, 1)), 6), false);
  if (fifth) {
    const value_id picked = emit("Gather", {scores, known}, {{"axis", std::int64_t{0}}});
    bind(output(1), padded(emit("Where", {valid, picked, constant_number(0)})), false);
  }
  const value_id count = emit("ReduceSum", {cast(valid, 1), constant_integers({0})}, {{"keepdims", std::int64_t{0}}});
  bind(output(fifth ? 2 : 1), cast(count, 6), false);
}

/// What is kept, best first: indices of boxes and classes (int64), scores, and whether there is a detection at all.
struct tflite_importer::detections {
  value_id box, category, score, valid;
};

/// Suppression within each class, then the best of all classes.
tflite_importer::detections tflite_importer::best_of_each_class(value_id corners, value_id scores, std::int64_t most,
                                                                std::int64_t per_class, float overlap, float least) {
  const std::int64_t boxes = at(scores).shape[0], classes = at(scores).shape[1];
  const value_id by_class = reshaped(transposed(scores, {1, 0}), {1, classes, boxes});
  const value_id rows = kept_rows(corners, by_class, per_class, overlap, least), zero = constant(make_ints({}, {0}));
  const value_id valid = emit("GreaterOrEqual", {flattened(gathered(rows, 1, {2})), zero});
  const value_id box = emit("Max", {flattened(gathered(rows, 1, {2})), zero});
  const value_id category = emit("Max", {flattened(gathered(rows, 1, {1})), zero});
  const value_id place = emit("Add", {emit("Mul", {box, constant(make_ints({}, {classes}))}), category});
  const value_id score =
      emit("Where", {valid, rows_at(flattened(scores), place), constant_number(-std::numeric_limits<float>::max())});
  const std::int64_t room = std::min(most, at(score).shape[0]);
  const values best = emit_many("TopK", {score, constant_integers({room})}, {{"axis", std::int64_t{0}}}, 2);
  return {rows_at(box, best[1]), rows_at(category, best[1]), best[0], rows_at(valid, best[1])};
}

/// Suppression of boxes by their best class.
tflite_importer::detections tflite_importer::best_of_all(value_id corners, value_id scores, std::int64_t most,
                                                         float overlap, float least) {
  const std::int64_t boxes = at(scores).shape[0];
  const value_id top = emit("ReduceMax", {scores, constant_integers({1})}, {{"keepdims", std::int64_t{0}}});
  const value_id best = emit("ArgMax", {scores}, {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{0}}});
  const value_id rows = kept_rows(corners, reshaped(top, {1, 1, boxes}), most, overlap, least);
  const value_id zero = constant(make_ints({}, {0})), kept = flattened(gathered(rows, 1, {2}));
  const value_id box = emit("Max", {kept, zero});
  return {box, rows_at(best, box), rows_at(top, box), emit("GreaterOrEqual", {kept, zero})};
}

void tflite_importer::detection_post_process() {
  require_operands(3, 3, 4);
  const named_options o(m_op->data->custom_options());
  const shape_t &codes = shape(input(0)), &predictions = shape(input(1)), &anchors = shape(input(2));
  require(codes.size() == 3 && codes[0] == 1 && codes[1] > 0 && codes[2] >= 4,
          "the boxes must have the shape [1,n,4 or more]");
  const std::int64_t boxes = codes[1], classes = o.integer("num_classes", 1), most = o.integer("max_detections", 1);
  require(predictions.size() == 3 && predictions[0] == 1 && predictions[1] == boxes && anchors == shape_t{boxes, 4},
          "scores or anchors do not fit the boxes");
  const std::int64_t background = predictions[2] - classes;
  require(background == 0 || background == 1, "the scores have neither as many classes as num_classes, nor one more");
  require(o.integer("max_classes_per_detection", 1) == 1, "more than one class per detection is not supported");
  const std::int64_t per_class =
      o.has("detections_per_class") ? o.integer("detections_per_class", 1) : usual_detections_per_class;
  const auto overlap = static_cast<float>(o.number("nms_iou_threshold", 0));
  const float least = just_below(static_cast<float>(o.number("nms_score_threshold", 0)));  // equal scores are kept
  const double scale[4] = {o.number("y_scale", 0), o.number("x_scale", 0), o.number("h_scale", 0),
                           o.number("w_scale", 0)};
  require(overlap > 0 && overlap <= 1, "its nms_iou_threshold is not in (0, 1]");
  require(std::none_of(scale, scale + 4, [](double s) { return s == 0; }), "a scale of the boxes is zero or missing");

  const value_id corners = decoded_boxes(scale);
  const value_id scores =
      reshaped(sliced(plain(input(1)), false, {0, 0, background}, predictions, {1, 1, 1}), {boxes, classes});
  const detections d = o.flag("use_regular_nms", false)
                           ? best_of_each_class(corners, scores, most, per_class, overlap, least)
                           : best_of_all(corners, scores, most, overlap, least);
  const std::int64_t room = at(d.score).shape[0];
  const auto padded = [&](value_id v, std::int64_t width) {  // zeros where there is no detection
    const value_id known =
        emit("Where", {reshaped(d.valid, {room, 1}), reshaped(v, {room, width}), constant_number(0)});
    if (room == most) return known;
    return emit("Pad", {known, constant_integers({0, 0, most - room, 0})}, {{"mode", std::string("constant")}});
  };
  const auto as_float = [&](value_id v) { return emit("Cast", {v}, {{"to", std::int64_t{1}}}); };
  bind(output(0), reshaped(padded(rows_at(corners, d.box), 4), {1, most, 4}), false);
  bind(output(1), reshaped(padded(as_float(d.category), 1), {1, most}), false);
  bind(output(2), reshaped(padded(d.score, 1), {1, most}), false);
  bind(output(3), emit("ReduceSum", {as_float(d.valid), constant_integers({0})}, {{"keepdims", std::int64_t{1}}}),
       false);
}

}
