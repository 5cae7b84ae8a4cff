// SPDX-License-Identifier: MIT
/// Rules for operators that move, repeat or rename elements.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "import/tflite/rules/nodes.hpp"
#include "import/tflite/rules/operands.hpp"
#include "import/tflite/rules/rules.hpp"

namespace nsk::tool::tflite {
namespace {
using list = std::vector<std::int64_t>;

void reshape(call& c) {
  c.require_operands(1, 2);
  list to;
  const auto* o = c.optional_options<tfl::ReshapeOptions>();
  if (c.has(1) && (c.rank(c.input(1)) == 1 || o == nullptr))
    to = integers(c, c.input(1), "the new shape");
  else if (o != nullptr && o->new_shape() != nullptr)
    to.assign(o->new_shape()->begin(), o->new_shape()->end());
  else
    c.fail("its new shape is missing. The file is damaged");
  if (to == list{0} && c.rank(c.output()) == 0) to.clear();  // how old files wrote a scalar
  c.bind(0, c.emit("Reshape", {c.plain(c.input(0)), constant_integers(c, to)}, {{"allowzero", std::int64_t{1}}}));
}

void squeeze(call& c) {
  c.require_operands(1, 1);
  const auto* o = c.optional_options<tfl::SqueezeOptions>();
  const shape_t& x = c.shape(c.input(0));
  std::vector<char> drop(x.size(), 0);
  const bool listed = o != nullptr && o->squeeze_dims() != nullptr && o->squeeze_dims()->size() > 0;
  if (listed)
    for (const std::int32_t a : *o->squeeze_dims()) drop[axis_of(c, a, x.size())] = 1;
  shape_t to;
  for (std::size_t a = 0; a < x.size(); ++a) {
    if (listed && drop[a] && x[a] != 1)
      c.fail("axis " + std::to_string(a) + " has the length " + std::to_string(x[a]) + ", not 1");
    if (!(listed ? drop[a] != 0 : x[a] == 1)) to.push_back(x[a]);
  }
  c.bind(0, reshaped(c, c.plain(c.input(0)), to));
}

void expand_dims(call& c) {
  c.require_operands(2, 2);
  const std::int64_t axis = integer(c, c.input(1), "the axis");
  shape_t to = c.shape(c.input(0));
  to.insert(to.begin() + static_cast<std::ptrdiff_t>(axis_of(c, axis, to.size() + 1)), 1);
  c.bind(0, reshaped(c, c.plain(c.input(0)), to));
}

void transpose(call& c) {
  c.require_operands(2, 2);
  list order = integers(c, c.input(1), "the permutation");
  const std::size_t axes = c.rank(c.input(0));
  c.require(order.size() == axes, "the permutation must have one value per dimension");
  std::vector<char> seen(axes, 0);
  for (std::int64_t& a : order) {
    a = static_cast<std::int64_t>(axis_of(c, a, axes));
    c.require(seen[static_cast<std::size_t>(a)]++ == 0, "the permutation names an axis twice");
  }
  c.bind(0, transposed(c, c.plain(c.input(0)), order));
}

void concatenate(call& c) {
  c.require_operands(1, 1 << 16);
  const auto& o = c.options<tfl::ConcatenationOptions>();
  const bool images = prefer_images(c, c.op().inputs);
  const std::size_t axis = axis_of(c, o.axis(), c.rank(c.input(0)));
  values inputs;
  for (std::size_t i = 0; i < c.op().inputs.size(); ++i) inputs.push_back(in_form(c, c.input(i), images));
  const value_id y = c.emit("Concat", inputs, {{"axis", axis_in(images, axis)}});
  finish(c, 0, y, images, o.fused_activation_function());
}

void split(call& c) {
  const bool sized = c.name() == "SPLIT_V";
  const std::size_t parts = c.op().outputs.size();
  c.require_operands(sized ? 3 : 2, sized ? 3 : 2, parts);
  const int x = c.input(sized ? 0 : 1);
  const std::size_t axis = axis_of(c, integer(c, c.input(sized ? 2 : 0), "the axis"), c.rank(x));
  const std::int64_t length = c.shape(x)[axis];
  list sizes(parts, length / static_cast<std::int64_t>(parts));
  if (sized) {
    sizes = integers(c, c.input(1), "the sizes");
    c.require(sizes.size() == parts, "there must be one size per output");
    const auto open = std::find(sizes.begin(), sizes.end(), -1);
    if (open != sizes.end()) *open = length - (std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) + 1);
  }
  c.require(std::all_of(sizes.begin(), sizes.end(), [](std::int64_t s) { return s >= 0; }), "a size is negative");
  const bool images = prefer_images(c, {x});
  const values y = c.emit_many("Split", {in_form(c, x, images), constant_integers(c, sizes)},
                               {{"axis", axis_in(images, axis)}}, parts);
  for (std::size_t i = 0; i < parts; ++i) c.bind(i, y[i], images);
}

void slice(call& c) {
  c.require_operands(3, 3);
  const shape_t& x = c.shape(c.input(0));
  const list starts = integers(c, c.input(1), "the begin"), sizes = integers(c, c.input(2), "the size");
  c.require(starts.size() == x.size() && sizes.size() == x.size(), "begin and size must have one value per dimension");
  list stops(x.size());
  for (std::size_t a = 0; a < x.size(); ++a) {
    stops[a] = sizes[a] == -1 ? x[a] : starts[a] + sizes[a];
    c.require(starts[a] >= 0 && stops[a] >= starts[a] && stops[a] <= x[a], "the slice reaches outside the input");
  }
  const bool images = prefer_images(c, {c.input(0)});
  c.bind(0, sliced(c, in_form(c, c.input(0), images), images, starts, stops, list(x.size(), 1)), images);
}

/// Positions first, first + step, ... before last; `count` of them.
struct slice_range {
  std::int64_t first, last, count;
};

slice_range range_of(const call& c, std::int64_t begin, std::int64_t end, std::int64_t step, std::int64_t length,
                     bool from_edge, bool to_edge) {
  c.require(step != 0, "a stride is zero");
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

void strided_slice(call& c) {
  c.require_operands(4, 4);
  const auto& o = c.options<tfl::StridedSliceOptions>();
  const shape_t& x = c.shape(c.input(0));
  const list begin = integers(c, c.input(1), "the begin"), end = integers(c, c.input(2), "the end");
  const list step = integers(c, c.input(3), "the strides");
  const std::size_t given = begin.size();
  c.require(given <= 31 && end.size() == given && step.size() == given, "begin, end and strides differ in length");
  c.require(!o.offset(), "an end that counts from the begin is not supported");
  const auto bit = [](int mask, std::size_t i) { return (static_cast<unsigned>(mask) >> i & 1u) != 0; };
  std::size_t consumed = 0, ellipses = 0;
  for (std::size_t i = 0; i < given; ++i) {
    ellipses += bit(o.ellipsis_mask(), i);
    consumed += !bit(o.ellipsis_mask(), i) && !bit(o.new_axis_mask(), i);
  }
  c.require(ellipses <= 1 && consumed <= x.size(), "it names more dimensions than the input has");
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
      c.require(step[i] > 0 && !bit(o.begin_mask(), i),
                "an axis that is cut to one element needs a positive stride, and a begin that is not masked: runtimes "
                "differ about others");
      starts[axis] = begin[i] < 0 ? begin[i] + x[axis] : begin[i];
      c.require(starts[axis] >= 0 && starts[axis] < x[axis], "an index is outside its axis");
      stops[axis] = starts[axis] + 1;
    } else {
      const slice_range r =
          range_of(c, begin[i], end[i], step[i], x[axis], bit(o.begin_mask(), i), bit(o.end_mask(), i));
      starts[axis] = r.first;
      stops[axis] = r.last;
      steps[axis] = r.count > 0 ? step[i] : 1;
      to.push_back(r.count);
    }
    ++axis;
  }
  while (axis < x.size()) to.push_back(x[axis++]);
  const bool images = prefer_images(c, {c.input(0)}) && o.new_axis_mask() == 0 && o.shrink_axis_mask() == 0;
  const value_id y = sliced(c, in_form(c, c.input(0), images), images, starts, stops, steps);
  c.bind(0, images ? y : reshaped(c, y, to), images);
}

void pack(call& c) {
  c.require_operands(1, 1 << 16);
  const std::size_t axis = axis_of(c, c.options<tfl::PackOptions>().axis(), c.rank(c.input(0)) + 1);
  values inputs;
  for (std::size_t i = 0; i < c.op().inputs.size(); ++i) {
    shape_t to = c.shape(c.input(i));
    c.require(to.size() >= axis, "its inputs differ in shape");
    to.insert(to.begin() + static_cast<std::ptrdiff_t>(axis), 1);
    inputs.push_back(reshaped(c, c.plain(c.input(i)), to));
  }
  c.bind(0, c.emit("Concat", inputs, {{"axis", static_cast<std::int64_t>(axis)}}));
}

void unpack(call& c) {
  const std::size_t parts = c.op().outputs.size();
  c.require_operands(1, 1, parts);
  const shape_t& x = c.shape(c.input(0));
  const std::size_t axis = axis_of(c, c.options<tfl::UnpackOptions>().axis(), x.size());
  c.require(x[axis] == static_cast<std::int64_t>(parts), "there must be one output per position of the axis");
  shape_t to = x;
  to.erase(to.begin() + static_cast<std::ptrdiff_t>(axis));
  for (std::size_t i = 0; i < parts; ++i) {
    list starts(x.size(), 0), stops(x.begin(), x.end());
    starts[axis] = static_cast<std::int64_t>(i);
    stops[axis] = static_cast<std::int64_t>(i) + 1;
    c.bind(i, reshaped(c, sliced(c, c.plain(c.input(0)), false, starts, stops, list(x.size(), 1)), to));
  }
}

void tile(call& c) {
  c.require_operands(2, 2);
  c.bind(0, c.emit("Tile", {c.plain(c.input(0)), constant_integers(c, integers(c, c.input(1), "the repeats"))}));
}

void broadcast_to(call& c) {
  c.require_operands(2, 2);
  c.bind(0, c.emit("Expand", {c.plain(c.input(0)), constant_integers(c, integers(c, c.input(1), "the shape"))}));
}

void reverse(call& c) {
  c.require_operands(2, 2);
  const shape_t& x = c.shape(c.input(0));
  list starts(x.size(), 0), stops(x.begin(), x.end()), steps(x.size(), 1);
  for (const std::int64_t given : integers(c, c.input(1), "the axes")) {
    const std::size_t a = axis_of(c, given, x.size());
    starts[a] = x[a] - 1;
    stops[a] = steps[a] = -1;
  }
  const bool images = prefer_images(c, {c.input(0)});
  c.bind(0, sliced(c, in_form(c, c.input(0), images), images, starts, stops, steps), images);
}

void shape_of(call& c) {
  c.require_operands(1, 1);
  const shape_t& x = c.shape(c.input(0));
  const bool rank_only = c.name() == "RANK";
  array a(c.type(c.output()), rank_only ? shape_t{} : shape_t{static_cast<std::int64_t>(x.size())});
  if (!is_integer(a.type)) c.fail("its result must hold integers. The file is damaged");
  if (rank_only) a.set_integer(0, static_cast<std::int64_t>(x.size()));
  for (std::size_t i = 0; !rank_only && i < x.size(); ++i) a.set_integer(static_cast<std::int64_t>(i), x[i]);
  c.bind(0, c.constant(std::move(a)));
}

void fill(call& c) {
  if (c.name() == "ZEROS_LIKE") {
    c.require_operands(1, 1);
    c.all().made.limits().make(count_of(c.shape(c.input(0))), "its result");
    return c.bind(0, c.constant(array(c.type(c.input(0)), c.shape(c.input(0)))));
  }
  c.require_operands(2, 2);
  c.bind(0,
         c.emit("Expand",
                {reshaped(c, c.plain(c.input(1)), {}), constant_integers(c, integers(c, c.input(0), "the shape"))}),
         false);
}

/// [N, H, W, ...] with padding -> blocks of pixels become images: [N * blocks, H / b, W / b, ...].
void space_to_batch(call& c) {
  c.require_operands(3, 3);
  const list block = integers(c, c.input(1), "the block shape"), pairs = integers(c, c.input(2), "the paddings");
  const shape_t& x = c.shape(c.input(0));
  const std::size_t m = block.size(), axes = x.size();
  c.require(m + 1 <= axes && pairs.size() == 2 * m, "block shape, paddings and input disagree");
  list pads(2 * axes, 0), split = {x[0]}, order, to = {x[0]};
  for (std::size_t i = 0; i < m; ++i) {
    c.require(block[i] > 0 && block[i] <= 65535 && pairs[2 * i] >= 0 && pairs[2 * i + 1] >= 0,
              "a block is not positive, or a padding negative");
    pads[i + 1] = pairs[2 * i];
    pads[axes + i + 1] = pairs[2 * i + 1];
    const std::int64_t length = x[i + 1] + pairs[2 * i] + pairs[2 * i + 1];
    c.require(length % block[i] == 0, "the padded input is no multiple of the blocks");
    split.insert(split.end(), {length / block[i], block[i]});
    order.push_back(static_cast<std::int64_t>(2 * i + 2));
    c.require(to[0] <= far_away / block[i], "the blocks are too many");
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
  value_id v = c.plain(c.input(0));
  if (std::any_of(pads.begin(), pads.end(), [](std::int64_t p) { return p != 0; }))
    v = c.emit("Pad", {v, constant_integers(c, pads)}, {{"mode", std::string("constant")}});
  c.bind(0, reshaped(c, transposed(c, reshaped(c, v, split), order), to));
}

/// The inverse, with crops.
void batch_to_space(call& c) {
  c.require_operands(3, 3);
  const list block = integers(c, c.input(1), "the block shape"), pairs = integers(c, c.input(2), "the crops");
  const shape_t& x = c.shape(c.input(0));
  const std::size_t m = block.size(), axes = x.size();
  c.require(m + 1 <= axes && pairs.size() == 2 * m, "block shape, crops and input disagree");
  std::int64_t blocks = 1;
  for (const std::int64_t b : block) {
    c.require(b > 0 && b <= x[0], "a block is not positive, or larger than the batch");
    blocks *= b;
    c.require(blocks <= x[0], "the batch is smaller than the blocks");
  }
  c.require(x[0] % blocks == 0, "the batch is no multiple of the blocks");
  list split = block, order = {static_cast<std::int64_t>(m)}, whole = {x[0] / blocks}, starts = {0},
       stops = {x[0] / blocks};
  split.push_back(x[0] / blocks);
  for (std::size_t i = 0; i < m; ++i) {
    split.push_back(x[i + 1]);
    order.insert(order.end(), {static_cast<std::int64_t>(m + 1 + i), static_cast<std::int64_t>(i)});
    whole.push_back(x[i + 1] * block[i]);
    starts.push_back(pairs[2 * i]);
    stops.push_back(whole.back() - pairs[2 * i + 1]);
    c.require(starts.back() >= 0 && stops.back() <= whole.back() && starts.back() <= stops.back(),
              "the crops reach outside");
  }
  for (std::size_t a = m + 1; a < axes; ++a) {
    order.push_back(static_cast<std::int64_t>(split.size()));
    split.push_back(x[a]);
    whole.push_back(x[a]);
    starts.push_back(0);
    stops.push_back(x[a]);
  }
  const value_id v = reshaped(c, transposed(c, reshaped(c, c.plain(c.input(0)), split), order), whole);
  c.bind(0, starts == list(axes, 0) && stops == whole ? v : sliced(c, v, false, starts, stops, list(axes, 1)));
}

}

void add_shapes(table& t) {
  t["RESHAPE"] = {reshape, moves_numbers | moves_complex};
  t["SQUEEZE"] = {squeeze, moves_numbers | moves_complex};
  t["EXPAND_DIMS"] = {expand_dims, moves_numbers | moves_complex};
  t["TRANSPOSE"] = {transpose, moves_numbers | moves_complex};
  t["CONCATENATION"] = {concatenate};
  t["SPLIT"] = {split, moves_numbers};
  t["SPLIT_V"] = {split, moves_numbers};
  t["SLICE"] = {slice, moves_numbers};
  t["STRIDED_SLICE"] = {strided_slice, moves_numbers};
  t["PACK"] = {pack, moves_numbers};
  t["UNPACK"] = {unpack, moves_numbers};
  t["TILE"] = {tile, moves_numbers};
  t["BROADCAST_TO"] = {broadcast_to, moves_numbers};
  t["REVERSE_V2"] = {reverse, moves_numbers};
  t["SHAPE"] = {shape_of};
  t["RANK"] = {shape_of};
  t["FILL"] = {fill};
  t["ZEROS_LIKE"] = {fill};
  t["SPACE_TO_BATCH_ND"] = {space_to_batch, moves_numbers};
  t["BATCH_TO_SPACE_ND"] = {batch_to_space, moves_numbers};
}

}
