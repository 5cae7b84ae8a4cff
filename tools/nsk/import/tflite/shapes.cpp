// SPDX-License-Identifier: MIT
/// Rules for operators that move, repeat or rename elements.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "import/tflite/importer.hpp"

namespace nsk::tool {
namespace {
using list = std::vector<std::int64_t>;
}

void tflite_importer::reshape() {
  require_operands(1, 2);
  list to;
  const auto* o = optional_options<tfl::ReshapeOptions>();
  if (has(1) && (rank(input(1)) == 1 || o == nullptr))
    to = integers(input(1), "the new shape");
  else if (o != nullptr && o->new_shape() != nullptr)
    to.assign(o->new_shape()->begin(), o->new_shape()->end());
  else
    fail("its new shape is missing. The file is damaged");
  if (to == list{0} && rank(output()) == 0) to.clear();  // how old files wrote a scalar
  bind(output(), emit("Reshape", {plain(input(0)), constant_integers(to)}, {{"allowzero", std::int64_t{1}}}), false);
}

void tflite_importer::squeeze() {
  require_operands(1, 1);
  const auto* o = optional_options<tfl::SqueezeOptions>();
  const shape_t& x = shape(input(0));
  std::vector<char> drop(x.size(), 0);
  const bool listed = o != nullptr && o->squeeze_dims() != nullptr && o->squeeze_dims()->size() > 0;
  if (listed)
    for (const std::int32_t a : *o->squeeze_dims()) drop[axis_of(a, x.size())] = 1;
  shape_t to;
  for (std::size_t a = 0; a < x.size(); ++a) {
    if (listed && drop[a] && x[a] != 1)
      fail("axis " + std::to_string(a) + " has the length " + std::to_string(x[a]) + ", not 1");
    if (!(listed ? drop[a] != 0 : x[a] == 1)) to.push_back(x[a]);
  }
  bind(output(), reshaped(plain(input(0)), to), false);
}

void tflite_importer::expand_dims() {
  require_operands(2, 2);
  const list axis = integers(input(1), "the axis");
  require(axis.size() == 1, "the axis must be one number");
  shape_t to = shape(input(0));
  to.insert(to.begin() + static_cast<std::ptrdiff_t>(axis_of(axis[0], to.size() + 1)), 1);
  bind(output(), reshaped(plain(input(0)), to), false);
}

void tflite_importer::transpose() {
  require_operands(2, 2);
  list order = integers(input(1), "the permutation");
  const std::size_t axes = rank(input(0));
  require(order.size() == axes, "the permutation must have one value per dimension");
  std::vector<char> seen(axes, 0);
  for (std::int64_t& a : order) {
    a = static_cast<std::int64_t>(axis_of(a, axes));
    require(seen[static_cast<std::size_t>(a)]++ == 0, "the permutation names an axis twice");
  }
  bind(output(), transposed(plain(input(0)), order), false);
}

void tflite_importer::concatenate() {
  require_operands(1, 1 << 16);
  const auto& o = options<tfl::ConcatenationOptions>();
  const bool pictures = prefer_pictures(m_op->inputs);
  const std::size_t axis = axis_of(o.axis(), rank(input(0)));
  values inputs;
  for (std::size_t i = 0; i < m_op->inputs.size(); ++i) inputs.push_back(in_form(input(i), pictures));
  const value_id y =
      emit("Concat", inputs, {{"axis", pictures ? picture_axis(axis) : static_cast<std::int64_t>(axis)}});
  finish(output(), y, pictures, o.fused_activation_function());
}

value_id tflite_importer::sliced(value_id v, bool pictures, const list& starts, const list& stops, const list& steps) {
  list axes(starts.size()), ends = stops;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    axes[a] = pictures ? picture_axis(a) : static_cast<std::int64_t>(a);
    if (ends[a] < 0) ends[a] = std::numeric_limits<std::int32_t>::min();  // before the first element, not from the end
  }
  return emit("Slice", {v, constant_integers(starts), constant_integers(ends), constant_integers(axes),
                        constant_integers(steps)});
}

void tflite_importer::split() {
  const bool sized = m_op->name == "SPLIT_V";
  const std::size_t parts = m_op->outputs.size();
  require_operands(sized ? 3 : 2, sized ? 3 : 2, parts);
  const int x = input(sized ? 0 : 1);
  const list given = integers(input(sized ? 2 : 0), "the axis");
  require(given.size() == 1, "the axis must be one number");
  const std::size_t axis = axis_of(given[0], rank(x));
  const std::int64_t length = shape(x)[axis];
  list sizes(parts, length / static_cast<std::int64_t>(parts));
  if (sized) {
    sizes = integers(input(1), "the sizes");
    require(sizes.size() == parts, "there must be one size per output");
    const auto open = std::find(sizes.begin(), sizes.end(), -1);
    if (open != sizes.end()) *open = length - (std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) + 1);
  }
  require(std::all_of(sizes.begin(), sizes.end(), [](std::int64_t s) { return s >= 0; }), "a size is negative");
  const bool pictures = prefer_pictures({x});
  const values y = emit_many("Split", {in_form(x, pictures), constant_integers(sizes)},
                             {{"axis", pictures ? picture_axis(axis) : static_cast<std::int64_t>(axis)}}, parts);
  for (std::size_t i = 0; i < parts; ++i) bind(output(i), y[i], pictures);
}

void tflite_importer::slice() {
  require_operands(3, 3);
  const shape_t& x = shape(input(0));
  const list starts = integers(input(1), "the begin"), sizes = integers(input(2), "the size");
  require(starts.size() == x.size() && sizes.size() == x.size(), "begin and size must have one value per dimension");
  list stops(x.size());
  for (std::size_t a = 0; a < x.size(); ++a) {
    stops[a] = sizes[a] == -1 ? x[a] : starts[a] + sizes[a];
    require(starts[a] >= 0 && stops[a] >= starts[a] && stops[a] <= x[a], "the slice reaches outside the input");
  }
  const bool pictures = prefer_pictures({input(0)});
  bind(output(), sliced(in_form(input(0), pictures), pictures, starts, stops, list(x.size(), 1)), pictures);
}

/// Positions first, first + step, ... before last; `count` of them.
struct tflite_importer::slice_range {
  std::int64_t first, last, count;
};

tflite_importer::slice_range tflite_importer::range_of(std::int64_t begin, std::int64_t end, std::int64_t step,
                                                       std::int64_t length, bool from_edge, bool to_edge) const {
  require(step != 0, "a stride is zero");
  const bool up = step > 0;
  const auto clamped = [&](std::int64_t p) {
    return std::clamp<std::int64_t>(p < 0 ? p + length : p, up ? 0 : -1, up ? length : length - 1);
  };
  const std::int64_t first = from_edge ? (up ? 0 : length - 1) : clamped(begin);
  const std::int64_t last = to_edge ? (up ? length : -1) : clamped(end);
  const std::int64_t distance = up ? last - first : first - last, stride = up ? step : -step;
  const std::int64_t count = distance > 0 ? (distance + stride - 1) / stride : 0;
  return count > 0 ? slice_range{first, last, count} : slice_range{0, 0, 0};
}

void tflite_importer::strided_slice() {
  require_operands(4, 4);
  const auto& o = options<tfl::StridedSliceOptions>();
  const shape_t& x = shape(input(0));
  const list begin = integers(input(1), "the begin"), end = integers(input(2), "the end");
  const list step = integers(input(3), "the strides");
  const std::size_t given = begin.size();
  require(given <= 31 && end.size() == given && step.size() == given, "begin, end and strides differ in length");
  require(!o.offset(), "an end that counts from the begin is not supported");
  const auto bit = [](int mask, std::size_t i) { return (static_cast<unsigned>(mask) >> i & 1u) != 0; };
  std::size_t consumed = 0, ellipses = 0;
  for (std::size_t i = 0; i < given; ++i) {
    ellipses += bit(o.ellipsis_mask(), i);
    consumed += !bit(o.ellipsis_mask(), i) && !bit(o.new_axis_mask(), i);
  }
  require(ellipses <= 1 && consumed <= x.size(), "it names more dimensions than the input has");
  list starts(x.size(), 0), stops(x.begin(), x.end()), steps(x.size(), 1), to;
  std::size_t axis = 0;
  for (std::size_t i = 0; i < given; ++i) {
    if (bit(o.ellipsis_mask(), i)) {
      for (std::size_t k = x.size() - consumed; k > 0; --k) to.push_back(x[axis++]);
      continue;
    }
    if (bit(o.new_axis_mask(), i)) {
      to.push_back(1);
      continue;
    }
    if (bit(o.shrink_axis_mask(), i)) {
      require(step[i] > 0 && !bit(o.begin_mask(), i),
              "an axis that is cut to one element needs a positive stride, and a begin that is not masked: runtimes "
              "differ about others");
      starts[axis] = begin[i] < 0 ? begin[i] + x[axis] : begin[i];
      require(starts[axis] >= 0 && starts[axis] < x[axis], "an index lies outside its axis");
      stops[axis] = starts[axis] + 1;
    } else {
      const slice_range r = range_of(begin[i], end[i], step[i], x[axis], bit(o.begin_mask(), i), bit(o.end_mask(), i));
      starts[axis] = r.first;
      stops[axis] = r.last;
      steps[axis] = r.count > 0 ? step[i] : 1;
      to.push_back(r.count);
    }
    ++axis;
  }
  while (axis < x.size()) to.push_back(x[axis++]);
  const bool pictures = prefer_pictures({input(0)}) && o.new_axis_mask() == 0 && o.shrink_axis_mask() == 0;
  const value_id y = sliced(in_form(input(0), pictures), pictures, starts, stops, steps);
  bind(output(), pictures ? y : reshaped(y, to), pictures);
}

void tflite_importer::pack() {
  require_operands(1, 1 << 16);
  const std::size_t axis = axis_of(options<tfl::PackOptions>().axis(), rank(input(0)) + 1);
  values inputs;
  for (std::size_t i = 0; i < m_op->inputs.size(); ++i) {
    shape_t to = shape(input(i));
    require(to.size() >= axis, "its inputs differ in shape");
    to.insert(to.begin() + static_cast<std::ptrdiff_t>(axis), 1);
    inputs.push_back(reshaped(plain(input(i)), to));
  }
  bind(output(), emit("Concat", inputs, {{"axis", static_cast<std::int64_t>(axis)}}), false);
}

void tflite_importer::unpack() {
  const std::size_t parts = m_op->outputs.size();
  require_operands(1, 1, parts);
  const shape_t& x = shape(input(0));
  const std::size_t axis = axis_of(options<tfl::UnpackOptions>().axis(), x.size());
  require(x[axis] == static_cast<std::int64_t>(parts), "there must be one output per position of the axis");
  shape_t to = x;
  to.erase(to.begin() + static_cast<std::ptrdiff_t>(axis));
  for (std::size_t i = 0; i < parts; ++i) {
    list starts(x.size(), 0), stops(x.begin(), x.end());
    starts[axis] = static_cast<std::int64_t>(i);
    stops[axis] = static_cast<std::int64_t>(i) + 1;
    bind(output(i), reshaped(sliced(plain(input(0)), false, starts, stops, list(x.size(), 1)), to), false);
  }
}

void tflite_importer::tile() {
  require_operands(2, 2);
  bind(output(), emit("Tile", {plain(input(0)), constant_integers(integers(input(1), "the repeats"))}), false);
}

void tflite_importer::broadcast_to() {
  require_operands(2, 2);
  bind(output(), emit("Expand", {plain(input(0)), constant_integers(integers(input(1), "the shape"))}), false);
}

void tflite_importer::reverse() {
  require_operands(2, 2);
  const shape_t& x = shape(input(0));
  list starts(x.size(), 0), stops(x.begin(), x.end()), steps(x.size(), 1);
  for (const std::int64_t given : integers(input(1), "the axes")) {
    const std::size_t a = axis_of(given, x.size());
    starts[a] = x[a] - 1;
    stops[a] = steps[a] = -1;
  }
  const bool pictures = prefer_pictures({input(0)});
  bind(output(), sliced(in_form(input(0), pictures), pictures, starts, stops, steps), pictures);
}

void tflite_importer::shape_of() {
  require_operands(1, 1);
  const shape_t& x = shape(input(0));
  const bool rank_only = m_op->name == "RANK";
  array a(type_of(output()), rank_only ? shape_t{} : shape_t{static_cast<std::int64_t>(x.size())});
  if (!is_integer(a.type)) fail("its result must hold integers. The file is damaged");
  if (rank_only) a.set_integer(0, static_cast<std::int64_t>(x.size()));
  for (std::size_t i = 0; !rank_only && i < x.size(); ++i) a.set_integer(static_cast<std::int64_t>(i), x[i]);
  bind(output(), constant(std::move(a)), false);
}

void tflite_importer::fill() {
  if (m_op->name == "ZEROS_LIKE") {
    require_operands(1, 1);
    m_folder.make(count_of(shape(input(0))), "its result");
    return bind(output(), constant(array(type_of(input(0)), shape(input(0)))), false);
  }
  require_operands(2, 2);
  bind(output(), emit("Expand", {reshaped(plain(input(1)), {}), constant_integers(integers(input(0), "the shape"))}),
       false);
}

/// [N, H, W, ...] with padding -> blocks of pixels become images: [N * blocks, H / b, W / b, ...].
void tflite_importer::space_to_batch() {
  require_operands(3, 3);
  const list block = integers(input(1), "the block shape"), pairs = integers(input(2), "the paddings");
  const shape_t& x = shape(input(0));
  const std::size_t m = block.size(), axes = x.size();
  require(m + 1 <= axes && pairs.size() == 2 * m, "block shape, paddings and input disagree");
  list pads(2 * axes, 0), split = {x[0]}, order, to = {x[0]};
  for (std::size_t i = 0; i < m; ++i) {
    require(block[i] > 0 && block[i] <= 65535 && pairs[2 * i] >= 0 && pairs[2 * i + 1] >= 0,
            "a block is not positive, or a padding negative");
    pads[i + 1] = pairs[2 * i];
    pads[axes + i + 1] = pairs[2 * i + 1];
    const std::int64_t length = x[i + 1] + pairs[2 * i] + pairs[2 * i + 1];
    require(length % block[i] == 0, "the padded input is no multiple of the blocks");
    split.insert(split.end(), {length / block[i], block[i]});
    order.push_back(static_cast<std::int64_t>(2 * i + 2));
    require(to[0] <= far_away / block[i], "the blocks are too many");
    to[0] *= block[i];
    to.push_back(length / block[i]);
  }
  order.push_back(0);
  for (std::size_t i = 0; i < m; ++i) order.push_back(static_cast<std::int64_t>(2 * i + 1));
  for (std::size_t a = m + 1; a < axes; ++a) {
    order.push_back(static_cast<std::int64_t>(split.size()));
    split.push_back(x[a]);
    to.push_back(x[a]);
  }
  value_id v = plain(input(0));
  if (std::any_of(pads.begin(), pads.end(), [](std::int64_t p) { return p != 0; }))
    v = emit("Pad", {v, constant_integers(pads)}, {{"mode", std::string("constant")}});
  bind(output(), reshaped(transposed(reshaped(v, split), order), to), false);
}

/// The inverse, with crops.
void tflite_importer::batch_to_space() {
  require_operands(3, 3);
  const list block = integers(input(1), "the block shape"), pairs = integers(input(2), "the crops");
  const shape_t& x = shape(input(0));
  const std::size_t m = block.size(), axes = x.size();
  require(m + 1 <= axes && pairs.size() == 2 * m, "block shape, crops and input disagree");
  std::int64_t blocks = 1;
  for (const std::int64_t b : block) {
    require(b > 0 && b <= x[0], "a block is not positive, or larger than the batch");
    blocks *= b;
    require(blocks <= x[0], "the batch is smaller than the blocks");
  }
  require(x[0] % blocks == 0, "the batch is no multiple of the blocks");
  list split = block, order = {static_cast<std::int64_t>(m)}, whole = {x[0] / blocks}, starts = {0},
       stops = {x[0] / blocks};
  split.push_back(x[0] / blocks);
  for (std::size_t i = 0; i < m; ++i) {
    split.push_back(x[i + 1]);
    order.insert(order.end(), {static_cast<std::int64_t>(m + 1 + i), static_cast<std::int64_t>(i)});
    whole.push_back(x[i + 1] * block[i]);
    starts.push_back(pairs[2 * i]);
    stops.push_back(whole.back() - pairs[2 * i + 1]);
    require(starts.back() >= 0 && stops.back() <= whole.back() && starts.back() <= stops.back(),
            "the crops reach outside");
  }
  for (std::size_t a = m + 1; a < axes; ++a) {
    order.push_back(static_cast<std::int64_t>(split.size()));
    split.push_back(x[a]);
    whole.push_back(x[a]);
    starts.push_back(0);
    stops.push_back(x[a]);
  }
  const value_id v = reshaped(transposed(reshaped(plain(input(0)), split), order), whole);
  bind(output(), starts == list(axes, 0) && stops == whole ? v : sliced(v, false, starts, stops, list(axes, 1)), false);
}

}
