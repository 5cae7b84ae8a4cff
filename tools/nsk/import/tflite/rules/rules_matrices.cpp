// SPDX-License-Identifier: MIT
/// Rules for matrix products, reductions and operators that pick by index or rank.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "import/tflite/rules/nodes.hpp"
#include "import/tflite/rules/operands.hpp"
#include "import/tflite/rules/rules.hpp"
#include "import/tflite/rules/stored.hpp"

namespace nsk::tool::tflite {
namespace {

using list = std::vector<std::int64_t>;

constexpr float min_norm = 1e-6f;  // of L2_NORMALIZATION

void fully_connected(call& c) {
  c.require_operands(2, 3);
  const auto& o = c.options<tfl::FullyConnectedOptions>();
  c.require(o.weights_format() == tfl::WeightsFormat::DEFAULT,
            "its weights are shuffled for one processor. Export them in the default format");
  const int x = c.input(0), w = c.input(1);
  c.require(c.rank(w) == 2 && c.rank(x) >= 1, "the weights must have two dimensions");
  const std::int64_t depth = c.shape(w)[1];
  const value_id bias = bias_of(c, 2, x, w);
  value_id y = no_value;
  if (o.keep_num_dims()) {
    c.require(c.shape(x).back() == depth, "input and weights differ in depth");
    y = c.emit("MatMul", {c.plain(x), transposed(c, c.plain(w), {1, 0})});
    if (bias != no_value) y = c.emit("Add", {y, bias});
  } else {
    c.require(depth > 0 && count_of(c.shape(x)) % depth == 0, "the input is no multiple of the weights' depth");
    y = c.emit("Gemm", {reshaped(c, c.plain(x), {count_of(c.shape(x)) / depth, depth}), c.layer_constant(w, {}), bias},
               {{"transB", std::int64_t{1}}});
    if (c.rank(c.output()) != 2) y = reshaped(c, y, c.shape(c.output()));
  }
  finish(c, 0, y, false, o.fused_activation_function());
}

void batch_mat_mul(call& c) {
  c.require_operands(2, 2);
  const auto* o = c.optional_options<tfl::BatchMatMulOptions>();
  const auto matrices = [&](int t, bool swapped) {
    c.require(c.rank(t) >= 2, "its inputs must have two dimensions or more");
    if (!swapped) return c.plain(t);
    list order(c.rank(t));
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[c.rank(t) - 1], order[c.rank(t) - 2]);
    return transposed(c, c.plain(t), order);
  };
  const value_id a = matrices(c.input(0), o != nullptr && o->adj_x()),
                 b = matrices(c.input(1), o != nullptr && o->adj_y());
  finish(c, 0, c.emit("MatMul", {a, b}));
}

void softmax(call& c) {
  c.require_operands(1, 1);
  const bool log = c.name() == "LOG_SOFTMAX", images = prefer_images(c, {c.input(0)});
  value_id x = in_form(c, c.input(0), images);
  if (!log) {
    const float beta = c.options<tfl::SoftmaxOptions>().beta();
    if (beta != 1.0f) x = c.emit("Mul", {x, constant_number(c, static_cast<double>(beta))});
  }
  const value_id y = c.emit(log ? "LogSoftmax" : "Softmax", {x}, {{"axis", std::int64_t{images ? 1 : -1}}});
  log ? finish(c, 0, y, images) : c.bind(0, y, images);
}

void l2_normalize(call& c) {
  c.require_operands(1, 1);
  const auto* o = c.optional_options<tfl::L2NormOptions>();
  const bool images = prefer_images(c, {c.input(0)});
  const value_id x = in_form(c, c.input(0), images);
  const value_id norm =
      c.emit("ReduceL2", {x, constant_integers(c, {images ? 1 : -1})}, {{"keepdims", std::int64_t{1}}});
  const value_id y = c.emit("Div", {x, c.emit("Max", {norm, constant_number(c, min_norm)})});
  finish(c, 0, y, images, o == nullptr ? tfl::Activation::NONE : o->fused_activation_function());
}

/// ONNX's names of reductions.
const std::map<std::string, const char*>& reductions() {
  static const std::map<std::string, const char*> all = {{"MEAN", "ReduceMean"},
                                                         {"SUM", "ReduceSum"},
                                                         {"REDUCE_MAX", "ReduceMax"},
                                                         {"REDUCE_MIN", "ReduceMin"},
                                                         {"REDUCE_PROD", "ReduceProd"}};
  return all;
}

void reduce(call& c) {
  c.require_operands(2, 2);
  const auto* o = c.optional_options<tfl::ReducerOptions>();
  const bool keep = o != nullptr && o->keep_dims();
  const std::size_t axes = c.rank(c.input(0));
  std::vector<char> removed(axes, 0);
  for (const std::int64_t a : integers(c, c.input(1), "the axes")) removed[axis_of(c, a, axes)] = 1;
  // Without the reduced axes, the rest of an image is in the source's order only where height and width went too.
  const bool in_order = keep || (axes == 4 && (removed[3] || (removed[1] && removed[2])));
  const bool images = prefer_images(c, {c.input(0)}) && in_order;
  list reduced;
  for (std::size_t a = 0; a < axes; ++a)
    if (removed[a]) reduced.push_back(axis_in(images, a));
  if (c.name() == "MEAN" && mean_stored(c, reduced, keep, images)) return;
  const value_id y = c.emit(reductions().at(c.name()), {in_form(c, c.input(0), images), constant_integers(c, reduced)},
                            {{"keepdims", std::int64_t{keep}}, {"noop_with_empty_axes", std::int64_t{1}}});
  finish(c, 0, y, images && keep);
}

void reduce_logical(call& c) {
  c.require_operands(2, 2);
  const auto* o = c.optional_options<tfl::ReducerOptions>();
  const value_id x = cast(c, c.plain(c.input(0)), element::f32);
  const value_id y =
      c.emit(c.name() == "REDUCE_ANY" ? "ReduceMax" : "ReduceMin",
             {x, constant_integers(c, integers(c, c.input(1), "the axes"))},
             {{"keepdims", std::int64_t{o != nullptr && o->keep_dims()}}, {"noop_with_empty_axes", std::int64_t{1}}});
  c.bind(0, cast(c, y, element::boolean));
}

void arg_reduce(call& c) {
  c.require_operands(2, 2);
  const std::size_t axis = axis_of(c, integer(c, c.input(1), "the axis"), c.rank(c.input(0)));
  const bool images = prefer_images(c, {c.input(0)}) && axis == 3;
  value_id y = c.emit(c.name() == "ARG_MAX" ? "ArgMax" : "ArgMin", {in_form(c, c.input(0), images)},
                      {{"axis", axis_in(images, axis)}, {"keepdims", std::int64_t{0}}});
  if (c.type(c.output()) == element::i32) y = cast(c, y, element::i32);
  c.bind(0, y);
}

void top_k(call& c) {
  c.require_operands(2, 2, 2);
  const std::int64_t k = integer(c, c.input(1), "k");
  const values y =
      c.emit_many("TopK", {c.plain(c.input(0)), constant_integers(c, {k})}, {{"axis", std::int64_t{-1}}}, 2);
  c.bind(0, y[0]);
  c.bind(1, c.type(c.output(1)) == element::i32 ? cast(c, y[1], element::i32) : y[1]);
}

/// The leading `rows` axes of data and indices are the same: every row has indices of its own. data as [rows, outer,
/// axis, inner], indices as [rows, places] in each of outer and inner.
value_id gathered_by_rows(call& c, std::size_t axis, std::size_t rows) {
  const shape_t &x = c.shape(c.input(0)), &i = c.shape(c.input(1));
  const auto at_axis = static_cast<std::ptrdiff_t>(axis), behind_rows = static_cast<std::ptrdiff_t>(rows);
  c.require(std::equal(x.begin(), x.begin() + behind_rows, i.begin()),
            "data and indices differ in the axes that batch_dims counts");
  const std::int64_t count = count_of({x.begin(), x.begin() + behind_rows}),
                     outer = count_of({x.begin() + behind_rows, x.begin() + at_axis}),
                     inner = count_of({x.begin() + at_axis + 1, x.end()}),
                     places = count_of({i.begin() + behind_rows, i.end()});
  const value_id data = reshaped(c, c.plain(c.input(0)), {count, outer, x[axis], inner});
  const value_id which = c.emit("Expand", {reshaped(c, c.plain(c.input(1)), {count, 1, places, 1}),
                                           constant_integers(c, {count, outer, places, inner})});
  shape_t to(x.begin(), x.begin() + at_axis);
  to.insert(to.end(), i.begin() + behind_rows, i.end());
  to.insert(to.end(), x.begin() + at_axis + 1, x.end());
  return reshaped(c, c.emit("GatherElements", {data, which}, {{"axis", std::int64_t{2}}}), to);
}

void gather(call& c) {
  c.require_operands(2, 2);
  const auto* o = c.optional_options<tfl::GatherOptions>();
  const auto axis = static_cast<std::int64_t>(axis_of(c, o == nullptr ? 0 : o->axis(), c.rank(c.input(0))));
  std::int64_t rows = o == nullptr ? 0 : o->batch_dims();
  if (rows < 0) rows += static_cast<std::int64_t>(c.rank(c.input(1)));
  c.require(rows >= 0 && rows <= axis && rows <= static_cast<std::int64_t>(c.rank(c.input(1))),
            "batch_dims is beyond its axis or its indices");
  if (rows > 0) return c.bind(0, gathered_by_rows(c, static_cast<std::size_t>(axis), static_cast<std::size_t>(rows)));
  c.bind(0, c.emit("Gather", {c.plain(c.input(0)), c.plain(c.input(1))}, {{"axis", axis}}));
}

void gather_nd(call& c) {
  c.require_operands(2, 2);
  const value_id indices = cast(c, c.plain(c.input(1)), element::i64);
  c.bind(0, c.emit("GatherND", {c.plain(c.input(0)), indices}));
}

void embedding_lookup(call& c) {
  c.require_operands(2, 2);
  c.bind(0, c.emit("Gather", {c.plain(c.input(1)), c.plain(c.input(0))}, {{"axis", std::int64_t{0}}}));
}

void range(call& c) {
  c.require_operands(3, 3);
  values inputs;
  for (std::size_t i = 0; i < 3; ++i) {
    if (!c.is_constant(c.input(i)))
      c.fail("'" + c.tensor(c.input(i)).name + "' is computed at run time; it must be a constant of the model");
    inputs.push_back(reshaped(c, c.plain(c.input(i)), {}));
  }
  c.bind(0, c.emit("Range", inputs));
}

void reverse_sequence(call& c) {
  c.require_operands(2, 2);
  const auto& o = c.options<tfl::ReverseSequenceOptions>();
  const shape_t& x = c.shape(c.input(0));
  const std::size_t rows = axis_of(c, o.batch_dim(), x.size()), time = axis_of(c, o.seq_dim(), x.size());
  const list lengths = integers(c, c.input(1), "the lengths");
  c.require(rows != time, "rows and time are the same axis");
  c.require(static_cast<std::int64_t>(lengths.size()) == x[rows], "there must be one length per row");
  c.require(std::equal(lengths.begin() + !lengths.empty(), lengths.end(), lengths.begin()),
            "the lengths of its rows differ. Split the batch in the exporter");
  const std::int64_t count = lengths.empty() ? 0 : lengths[0];
  c.require(count >= 0 && count <= x[time], "a length is outside its axis");
  const bool images = prefer_images(c, {c.input(0)});
  list positions(static_cast<std::size_t>(x[time]));
  std::iota(positions.begin(), positions.end(), 0);
  std::reverse(positions.begin(), positions.begin() + static_cast<std::ptrdiff_t>(count));
  const std::int64_t axis = axis_in(images, time);
  c.bind(0, gathered(c, in_form(c, c.input(0), images), axis, positions), images);
}

void one_hot(call& c) {
  c.require_operands(4, 4);
  const value_id on = reshaped(c, c.plain(c.input(2)), {1}), off = reshaped(c, c.plain(c.input(3)), {1});
  const value_id levels = c.emit("Concat", {off, on}, {{"axis", std::int64_t{0}}});
  const value_id depth = reshaped(c, c.plain(c.input(1)), {1}), index = c.plain(c.input(0));
  // ONNX counts negative indices from the end; here they are no position, as the depth itself is none.
  const value_id zero = c.constant(array(c.type(c.input(0)), {}));
  const value_id beyond = c.emit("CastLike", {reshaped(c, depth, {}), index}),
                 given = c.emit("Where", {c.emit("Less", {index, zero}), beyond, index});
  const std::int64_t axis = c.options<tfl::OneHotOptions>().axis();
  c.bind(0, c.emit("OneHot", {given, depth, levels}, {{"axis", axis}}));
}

void cumulative_sum(call& c) {
  c.require_operands(2, 2);
  const auto* o = c.optional_options<tfl::CumsumOptions>();
  const std::size_t axis = axis_of(c, integer(c, c.input(1), "the axis"), c.rank(c.input(0)));
  const value_id at_axis = c.constant(make_ints({}, {static_cast<std::int64_t>(axis)}));
  c.bind(0, c.emit("CumSum", {c.plain(c.input(0)), at_axis},
                   {{"exclusive", std::int64_t{o != nullptr && o->exclusive()}},
                    {"reverse", std::int64_t{o != nullptr && o->reverse()}}}));
}

}

void add_matrices(table& t) {
  t["FULLY_CONNECTED"] = {fully_connected};
  t["BATCH_MATMUL"] = {batch_mat_mul};
  t["SOFTMAX"] = {softmax};
  t["LOG_SOFTMAX"] = {softmax};
  t["L2_NORMALIZATION"] = {l2_normalize};
  for (const auto& entry : reductions()) t[entry.first] = {reduce};
  t["REDUCE_ANY"] = {reduce_logical};
  t["REDUCE_ALL"] = {reduce_logical};
  t["ARG_MAX"] = {arg_reduce};
  t["ARG_MIN"] = {arg_reduce};
  t["TOPK_V2"] = {top_k};
  t["GATHER"] = {gather, moves_numbers};
  t["GATHER_ND"] = {gather_nd, moves_numbers};
  t["EMBEDDING_LOOKUP"] = {embedding_lookup};
  t["RANGE"] = {range};
  t["REVERSE_SEQUENCE"] = {reverse_sequence};
  t["ONE_HOT"] = {one_hot};
  t["CUMSUM"] = {cumulative_sum};
}

}
