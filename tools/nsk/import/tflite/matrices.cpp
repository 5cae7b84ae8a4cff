// SPDX-License-Identifier: MIT
/// Rules for matrix products, reductions and operators that pick by index or rank.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "import/tflite/importer.hpp"

namespace nsk::tool {
namespace {
using list = std::vector<std::int64_t>;
constexpr float smallest_norm = 1e-6f;  // of L2_NORMALIZATION
}

void tflite_importer::fully_connected() {
  require_operands(2, 3);
  const auto& o = options<tfl::FullyConnectedOptions>();
  require(o.weights_format() == tfl::WeightsFormat::DEFAULT,
          "its weights are shuffled for one processor. Export them in the default format");
  const int x = input(0), w = input(1);
  require(rank(w) == 2 && rank(x) >= 1, "the weights must have two dimensions");
  const std::int64_t depth = shape(w)[1];
  const value_id bias = bias_of(2);
  value_id y = no_value;
  if (o.keep_num_dims()) {
    require(shape(x).back() == depth, "input and weights differ in depth");
    y = emit("MatMul", {plain(x), transposed(plain(w), {1, 0})});
    if (bias != no_value) y = emit("Add", {y, bias});
  } else {
    require(depth > 0 && count_of(shape(x)) % depth == 0, "the input is no multiple of the weights' depth");
    y = emit("Gemm", {reshaped(plain(x), {count_of(shape(x)) / depth, depth}), plain(w), bias},
             {{"transB", std::int64_t{1}}});
    if (rank(output()) != 2) y = reshaped(y, shape(output()));
  }
  finish(output(), y, false, o.fused_activation_function());
}

void tflite_importer::batch_mat_mul() {
  require_operands(2, 2);
  const auto* o = optional_options<tfl::BatchMatMulOptions>();
  const auto turned = [&](int t, bool turn) {
    require(rank(t) >= 2, "its inputs must have two dimensions or more");
    if (!turn) return plain(t);
    list order(rank(t));
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[rank(t) - 1], order[rank(t) - 2]);
    return transposed(plain(t), order);
  };
  const value_id a = turned(input(0), o != nullptr && o->adj_x()), b = turned(input(1), o != nullptr && o->adj_y());
  finish(output(), emit("MatMul", {a, b}), false);
}

void tflite_importer::softmax() {
  require_operands(1, 1);
  const bool log = m_op->name == "LOG_SOFTMAX", pictures = prefer_pictures({input(0)});
  value_id x = in_form(input(0), pictures);
  if (!log) {
    const float beta = options<tfl::SoftmaxOptions>().beta();
    if (beta != 1.0f) x = emit("Mul", {x, constant_number(static_cast<double>(beta))});
  }
  const value_id y = emit(log ? "LogSoftmax" : "Softmax", {x}, {{"axis", std::int64_t{pictures ? 1 : -1}}});
  log ? finish(output(), y, pictures) : bind(output(), y, pictures);
}

void tflite_importer::l2_normalize() {
  require_operands(1, 1);
  const auto* o = optional_options<tfl::L2NormOptions>();
  const bool pictures = prefer_pictures({input(0)});
  const value_id x = in_form(input(0), pictures);
  const value_id norm = emit("ReduceL2", {x, constant_integers({pictures ? 1 : -1})}, {{"keepdims", std::int64_t{1}}});
  const value_id y = emit("Div", {x, emit("Max", {norm, constant_number(smallest_norm)})});
  finish(output(), y, pictures, o == nullptr ? tfl::Activation::NONE : o->fused_activation_function());
}

void tflite_importer::reduce() {
  static const std::unordered_map<std::string, const char*> names = {{"MEAN", "ReduceMean"},
                                                                     {"SUM", "ReduceSum"},
                                                                     {"REDUCE_MAX", "ReduceMax"},
                                                                     {"REDUCE_MIN", "ReduceMin"},
                                                                     {"REDUCE_PROD", "ReduceProd"}};
  require_operands(2, 2);
  const auto* o = optional_options<tfl::ReducerOptions>();
  const bool keep = o != nullptr && o->keep_dims();
  const std::size_t axes = rank(input(0));
  std::vector<char> gone(axes, 0);
  for (const std::int64_t a : integers(input(1), "the axes")) gone[axis_of(a, axes)] = 1;
  // Without the reduced axes, the rest of a picture lies in the source's order only where height and width went too.
  const bool in_order = keep || (axes == 4 && (gone[3] || (gone[1] && gone[2])));
  const bool pictures = prefer_pictures({input(0)}) && in_order;
  list reduced;
  for (std::size_t a = 0; a < axes; ++a)
    if (gone[a]) reduced.push_back(pictures ? picture_axis(a) : static_cast<std::int64_t>(a));
  const value_id y = emit(names.at(m_op->name), {in_form(input(0), pictures), constant_integers(reduced)},
                          {{"keepdims", std::int64_t{keep}}, {"noop_with_empty_axes", std::int64_t{1}}});
  finish(output(), y, pictures && keep);
}

void tflite_importer::reduce_logical() {
  require_operands(2, 2);
  const auto* o = optional_options<tfl::ReducerOptions>();
  const value_id x = emit("Cast", {plain(input(0))}, {{"to", std::int64_t{1}}});
  const value_id y = emit(
      m_op->name == "REDUCE_ANY" ? "ReduceMax" : "ReduceMin", {x, constant_integers(integers(input(1), "the axes"))},
      {{"keepdims", std::int64_t{o != nullptr && o->keep_dims()}}, {"noop_with_empty_axes", std::int64_t{1}}});
  bind(output(), emit("Cast", {y}, {{"to", std::int64_t{9}}}), false);
}

void tflite_importer::arg_reduce() {
  require_operands(2, 2);
  const list given = integers(input(1), "the axis");
  require(given.size() == 1, "the axis must be one number");
  const std::size_t axis = axis_of(given[0], rank(input(0)));
  const bool pictures = prefer_pictures({input(0)}) && axis == 3;
  value_id y =
      emit(m_op->name == "ARG_MAX" ? "ArgMax" : "ArgMin", {in_form(input(0), pictures)},
           {{"axis", pictures ? std::int64_t{1} : static_cast<std::int64_t>(axis)}, {"keepdims", std::int64_t{0}}});
  if (type_of(output()) == element::i32) y = emit("Cast", {y}, {{"to", std::int64_t{6}}});
  bind(output(), y, false);
}

void tflite_importer::top_k() {
  require_operands(2, 2, 2);
  const list k = integers(input(1), "k");
  require(k.size() == 1, "k must be one number");
  const values y = emit_many("TopK", {plain(input(0)), constant_integers(k)}, {{"axis", std::int64_t{-1}}}, 2);
  bind(output(0), y[0], false);
  bind(output(1), type_of(output(1)) == element::i32 ? emit("Cast", {y[1]}, {{"to", std::int64_t{6}}}) : y[1], false);
}

/// The leading `rows` axes of data and indices are the same: every row has indices of its own. data as [rows, outer,
/// axis, inner], indices as [rows, places] in each of outer and inner.
value_id tflite_importer::gathered_by_rows(std::size_t axis, std::size_t rows) {
  const shape_t &x = shape(input(0)), &i = shape(input(1));
  const auto at_axis = static_cast<std::ptrdiff_t>(axis), behind_rows = static_cast<std::ptrdiff_t>(rows);
  require(std::equal(x.begin(), x.begin() + behind_rows, i.begin()),
          "data and indices differ in the axes that batch_dims counts");
  const std::int64_t count = count_of({x.begin(), x.begin() + behind_rows}),
                     outer = count_of({x.begin() + behind_rows, x.begin() + at_axis}),
                     inner = count_of({x.begin() + at_axis + 1, x.end()}),
                     places = count_of({i.begin() + behind_rows, i.end()});
  const value_id data = reshaped(plain(input(0)), {count, outer, x[axis], inner});
  const value_id which = emit(
      "Expand", {reshaped(plain(input(1)), {count, 1, places, 1}), constant_integers({count, outer, places, inner})});
  shape_t to(x.begin(), x.begin() + at_axis);
  to.insert(to.end(), i.begin() + behind_rows, i.end());
  to.insert(to.end(), x.begin() + at_axis + 1, x.end());
  return reshaped(emit("GatherElements", {data, which}, {{"axis", std::int64_t{2}}}), to);
}

void tflite_importer::gather() {
  require_operands(2, 2);
  const auto* o = optional_options<tfl::GatherOptions>();
  const auto axis = static_cast<std::int64_t>(axis_of(o == nullptr ? 0 : o->axis(), rank(input(0))));
  std::int64_t rows = o == nullptr ? 0 : o->batch_dims();
  if (rows < 0) rows += static_cast<std::int64_t>(rank(input(1)));
  require(rows >= 0 && rows <= axis && rows <= static_cast<std::int64_t>(rank(input(1))),
          "batch_dims is beyond its axis or its indices");
  if (rows > 0)
    return bind(output(), gathered_by_rows(static_cast<std::size_t>(axis), static_cast<std::size_t>(rows)), false);
  bind(output(), emit("Gather", {plain(input(0)), plain(input(1))}, {{"axis", axis}}), false);
}

void tflite_importer::gather_nd() {
  require_operands(2, 2);
  const value_id indices = emit("Cast", {plain(input(1))}, {{"to", std::int64_t{7}}});
  bind(output(), emit("GatherND", {plain(input(0)), indices}), false);
}

void tflite_importer::embedding_lookup() {
  require_operands(2, 2);
  bind(output(), emit("Gather", {plain(input(1)), plain(input(0))}, {{"axis", std::int64_t{0}}}), false);
}

void tflite_importer::range() {
  require_operands(3, 3);
  values inputs;
  for (std::size_t i = 0; i < 3; ++i) {
    if (!is_constant(input(i)))
      fail("'" + tensor(input(i)).name + "' is computed at run time; it must be a constant of the model");
    inputs.push_back(reshaped(plain(input(i)), {}));
  }
  bind(output(), emit("Range", inputs), false);
}

void tflite_importer::reverse_sequence() {
  require_operands(2, 2);
  const auto& o = options<tfl::ReverseSequenceOptions>();
  const shape_t& x = shape(input(0));
  const std::size_t rows = axis_of(o.batch_dim(), x.size()), time = axis_of(o.seq_dim(), x.size());
  const list lengths = integers(input(1), "the lengths");
  require(rows != time, "rows and instants are the same axis");
  require(static_cast<std::int64_t>(lengths.size()) == x[rows], "there must be one length per row");
  require(std::equal(lengths.begin() + !lengths.empty(), lengths.end(), lengths.begin()),
          "the lengths of its rows differ. Split the batch in the exporter");
  const std::int64_t count = lengths.empty() ? 0 : lengths[0];
  require(count >= 0 && count <= x[time], "a length is outside its axis");
  const bool pictures = prefer_pictures({input(0)});
  list positions(static_cast<std::size_t>(x[time]));
  std::iota(positions.begin(), positions.end(), 0);
  std::reverse(positions.begin(), positions.begin() + static_cast<std::ptrdiff_t>(count));
  const std::int64_t axis = pictures ? picture_axis(time) : static_cast<std::int64_t>(time);
  bind(output(), gathered(in_form(input(0), pictures), axis, positions), pictures);
}

void tflite_importer::one_hot() {
  require_operands(4, 4);
  const value_id on = reshaped(plain(input(2)), {1}), off = reshaped(plain(input(3)), {1});
  const value_id levels = emit("Concat", {off, on}, {{"axis", std::int64_t{0}}});
  const value_id depth = reshaped(plain(input(1)), {1}), index = plain(input(0));
  // ONNX counts negative indices from the end; here they are no position, as the depth itself is none.
  const value_id zero = constant(array(type_of(input(0)), {}));
  const value_id beyond = emit("CastLike", {reshaped(depth, {}), index}),
                 given = emit("Where", {emit("Less", {index, zero}), beyond, index});
  bind(output(), emit("OneHot", {given, depth, levels}, {{"axis", std::int64_t{options<tfl::OneHotOptions>().axis()}}}),
       false);
}

void tflite_importer::cumulative_sum() {
  require_operands(2, 2);
  const auto* o = optional_options<tfl::CumsumOptions>();
  const list axis = integers(input(1), "the axis");
  require(axis.size() == 1, "the axis must be one number");
  const value_id at_axis = constant(make_ints({}, {static_cast<std::int64_t>(axis_of(axis[0], rank(input(0))))}));
  bind(output(),
       emit("CumSum", {plain(input(0)), at_axis},
            {{"exclusive", std::int64_t{o != nullptr && o->exclusive()}},
             {"reverse", std::int64_t{o != nullptr && o->reverse()}}}),
       false);
}

}
