// SPDX-License-Identifier: MIT
/// Operators that ONNX defines by others, or could: rotations of positions, causal windows, running products, powers of
/// windows.
#include <algorithm>
#include <cmath>

#include "graph/onnx_type.hpp"
#include "spell/spell.hpp"

namespace nsk::tool {
namespace {

constexpr std::int64_t max_steps = 1024;  // of what is written one step after the other

/// Where the parts of a rotation are, and how the caches are read.
struct rotation {
  value_id x;
  shape_t shape;  ///< [batch, length, heads, size]
  value_id cosine, sine;
  std::int64_t rotated;  ///< how many of `size` are
  bool interleaved;
};

value_id part(speller& s, value_id x, std::int64_t axis, std::int64_t from, std::int64_t to, std::int64_t step = 1) {
  return s.add("Slice", {x, s.integers({from}), s.integers({to}), s.integers({axis}), s.integers({step})});
}

/// Rotates pairs of numbers by the angles of their positions.
value_id rotate(speller& s, const rotation& r) {
  const std::int64_t size = r.shape[3], half = r.rotated / 2;
  if (r.rotated < 2 || r.rotated % 2 != 0 || r.rotated > size) s.refuse("its pairs do not fit into a head");
  const value_id first = r.interleaved ? part(s, r.x, 3, 0, r.rotated, 2) : part(s, r.x, 3, 0, half),
                 second = r.interleaved ? part(s, r.x, 3, 1, r.rotated, 2) : part(s, r.x, 3, half, r.rotated);
  const auto product = [&](value_id a, value_id b) { return s.add("Mul", {a, b}); };
  value_id real = s.add("Sub", {product(r.cosine, first), product(r.sine, second)}),
           imaginary = s.add("Add", {product(r.sine, first), product(r.cosine, second)}), rotated;
  if (r.interleaved) {
    const value_id axes = s.integers({4});
    rotated = s.add("Concat", {s.add("Unsqueeze", {real, axes}), s.add("Unsqueeze", {imaginary, axes})},
                    {{"axis", std::int64_t{4}}});
    rotated = s.add("Reshape", {rotated, s.integers({r.shape[0], r.shape[1], r.shape[2], r.rotated})});
  } else {
    rotated = s.add("Concat", {real, imaginary}, {{"axis", std::int64_t{3}}});
  }
  if (r.rotated == size) return rotated;
  return s.add("Concat", {rotated, part(s, r.x, 3, r.rotated, size)}, {{"axis", std::int64_t{3}}});
}

/// RotaryEmbedding; inputs stand at the given positions.
void rotary(speller& s, std::size_t cosine, std::size_t sine, std::size_t places) {
  const shape_t shape = s.shape(0);
  rotation r = {s.in(0),
                {},
                s.in(cosine),
                s.in(sine),
                s.op().integer("rotary_embedding_dim", 0),
                s.op().integer("interleaved", 0) != 0};
  if (shape.size() == 4) {
    r.x = s.add("Transpose", {r.x}, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
    r.shape = {shape[0], shape[2], shape[1], shape[3]};
  } else {
    std::int64_t count = s.op().integer("num_heads", 0);
    if (count == 0 && shape.size() == 3)  // ONNX Runtime takes the width of the caches for that of a head
      count = shape[2] / std::max<std::int64_t>(1, 2 * s.length(cosine, s.shape(cosine).size() - 1));
    if (shape.size() != 3 || count < 1 || shape[2] % count != 0)
      s.refuse("its number of heads is missing, or does not divide the last axis");
    r.shape = {shape[0], shape[1], count, shape[2] / count};
    r.x = s.add("Reshape", {r.x, s.integers(r.shape)});
  }
  if (r.rotated == 0) r.rotated = r.shape[3];
  if (s.has(places)) {
    value_id where = s.in(places);
    if (count_of(s.shape(places)) == 1 && r.shape[1] > 1) {  // the position of the first one
      array offsets = s.make(element::i64, {1, r.shape[1]});
      for (std::int64_t i = 0; i < r.shape[1]; ++i) offsets.set_integer(i, i);
      where = s.add("Add", {s.add("Cast", {where}, {{"to", number_of(onnx_type::int64)}}), s.keep(std::move(offsets))});
    }
    r.cosine = s.add("Gather", {r.cosine, where});
    r.sine = s.add("Gather", {r.sine, where});
  }
  const value_id axes = s.integers({2});
  r.cosine = s.add("Unsqueeze", {r.cosine, axes});
  r.sine = s.add("Unsqueeze", {r.sine, axes});
  const value_id rotated = rotate(s, r);
  if (shape.size() == 3) return s.give(0, "Reshape", {rotated, s.integers(shape)});
  s.give(0, "Transpose", {rotated}, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
}

void rotary_of_onnx(speller& s) { rotary(s, 1, 2, 3); }

void rotary_of_runtime(speller& s) {
  if (s.op().number("scale", 1) != 1 || s.op().integer("is_packed_batching", 0) != 0)
    s.refuse("a scale and packed batches are not supported");
  rotary(s, 2, 3, 1);
}

/// A window over each channel and what was before it.
void causal_convolution(speller& s) {
  const shape_t x = s.shape(0), w = s.shape(1);
  if (x.size() != 3 || w.size() != 3) s.refuse("its input and its weights must have three axes");
  const std::int64_t before = w[2] - 1;
  value_id all = s.in(0);
  if (before > 0) {
    const value_id past = s.has(3) ? s.in(3) : s.keep(s.make(element::f32, {x[0], x[1], before}));
    all = s.add("Concat", {past, all}, {{"axis", std::int64_t{2}}});
  }
  s.give(1, "Slice", {all, s.integers({x[2]}), s.integers({x[2] + before}), s.integers({2})});
  std::vector<value_id> inputs = {all, s.in(1)};
  if (s.has(2)) inputs.push_back(s.in(2));
  const std::string activation = s.op().text("activation", "none");
  if (activation == "none") return s.give(0, "Conv", inputs, {{"group", x[1]}});
  if (activation != "silu" && activation != "swish") s.refuse("its activation must be none, silu or swish");
  const value_id y = s.add("Conv", inputs, {{"group", x[1]}});
  s.give(0, "Mul", {y, s.add("Sigmoid", {y})});
}

/// a sigmoid(alpha a) b.
void gated_unit(speller& s) {
  const float alpha = s.op().number("alpha", 1);
  const value_id scaled = alpha == 1 ? s.in(0) : s.add("Mul", {s.in(0), s.number(alpha)});
  s.give(0, "Mul", {s.add("Mul", {s.in(0), s.add("Sigmoid", {scaled})}), s.in(1)});
}

/// Products of the elements so far along an axis.
void running_product(speller& s) {
  const array& given = s.constant(1);
  const shape_t shape = s.shape(0);
  const auto rank = static_cast<std::int64_t>(shape.size());
  const std::int64_t axis = given.count() == 1 ? given.integer(0) + (given.integer(0) < 0 ? rank : 0) : -1;
  if (axis < 0 || axis >= rank) s.refuse("its axis does not exist");
  const std::int64_t length = shape[static_cast<std::size_t>(axis)];
  if (length < 1 || length > max_steps) s.refuse("it takes axes of 1 to " + std::to_string(max_steps));
  const auto parts = static_cast<std::size_t>(length);
  const std::vector<std::int64_t> ones(parts, 1);
  std::vector<value_id> x = s.add_several("Split", {s.in(0), s.integers(ones)}, parts, {{"axis", axis}});
  const bool backwards = s.op().integer("reverse", 0) != 0, exclusive = s.op().integer("exclusive", 0) != 0;
  if (backwards) std::reverse(x.begin(), x.end());
  std::vector<value_id> made;
  if (exclusive) {
    shape_t one = shape;
    one[static_cast<std::size_t>(axis)] = 1;
    made.push_back(s.add("Expand", {s.number(1), s.integers(one)}));
    x.pop_back();
  }
  for (const value_id v : x) made.push_back(made.empty() ? v : s.add("Mul", {made.back(), v}));
  if (backwards) std::reverse(made.begin(), made.end());
  s.give(0, "Concat", made, {{"axis", axis}});
}

/// Cuts or pads both sides of axes alike.
void center(speller& s) {
  const array& wanted = s.constant(1);
  const shape_t shape = s.shape(0);
  const auto rank = static_cast<std::int64_t>(shape.size());
  std::vector<std::int64_t> axes = s.op().integers("axes");
  for (std::int64_t d = 0; d < rank && !s.op().has("axes"); ++d) axes.push_back(d);
  if (static_cast<std::int64_t>(axes.size()) != wanted.count()) s.refuse("its shape has another length than its axes");
  std::vector<std::int64_t> starts(shape.size(), 0), ends = shape, pads(2 * shape.size(), 0), every;
  for (std::int64_t d = 0; d < rank; ++d) every.push_back(d);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t d = axes[i] < 0 ? axes[i] + rank : axes[i], to = wanted.integer(static_cast<std::int64_t>(i));
    if (d < 0 || d >= rank || to < 0 || to > (std::int64_t{1} << 40)) s.refuse("an axis or a length does not exist");
    const auto at = static_cast<std::size_t>(d);
    if (to < shape[at]) {
      starts[at] = (shape[at] - to) / 2;
      ends[at] = starts[at] + to;
    } else {
      pads[at] = (to - shape[at]) / 2;
      pads[at + shape.size()] = to - shape[at] - pads[at];
    }
  }
  const value_id cut = s.add("Slice", {s.in(0), s.integers(starts), s.integers(ends), s.integers(every)});
  s.give(0, "Pad", {cut, s.integers(pads)});
}

value_id powers(speller& s, std::int64_t p) {
  if (p < 1) s.refuse("its attribute p must be 1 or more");
  if (p == 2) return s.add("Mul", {s.in(0), s.in(0)});
  const value_id magnitude = s.add("Abs", {s.in(0)});
  return p == 1 ? magnitude : s.add("Pow", {magnitude, s.number(static_cast<double>(p))});
}

void root(speller& s, value_id sums, std::int64_t p) {
  if (p == 1) return s.give(0, "Identity", {sums});
  if (p == 2) return s.give(0, "Sqrt", {sums});
  s.give(0, "Pow", {sums, s.number(1 / static_cast<double>(p))});
}

/// The p-norm of windows: sums by a convolution with ones.
void window_norm(speller& s) {
  const shape_t x = s.shape(0);
  const std::vector<std::int64_t> kernel = s.op().integers("kernel_shape");
  if (x.size() < 3 || kernel.size() != x.size() - 2) s.refuse("its window has other axes than its image");
  shape_t shape = {x[1], 1};
  double taps = 1;
  for (const std::int64_t k : kernel) {
    if (k < 1) s.refuse("its window is empty");
    shape.push_back(k);
    taps *= static_cast<double>(k);
  }
  if (taps * static_cast<double>(x[1]) > 1 << 20) s.refuse("its window is too large");
  speller::attributes a = kept_without(s, {"p", "ceil_mode"});
  a["group"] = x[1];
  if (s.op().integer("ceil_mode", 0) != 0 && s.op().text("auto_pad", "NOTSET") == "NOTSET") {
    const std::size_t axes = kernel.size();
    std::vector<std::int64_t> pads = s.op().integers("pads", std::vector<std::int64_t>(2 * axes, 0));
    const std::vector<std::int64_t> ones(axes, 1), strides = s.op().integers("strides", ones),
                                                   dilations = s.op().integers("dilations", ones);
    if (pads.size() != 2 * axes || strides.size() != axes || dilations.size() != axes)
      s.refuse("pads, strides or dilations have another length than its window");
    for (std::size_t d = 0; d < axes; ++d) {
      const std::int64_t reach = (kernel[d] - 1) * dilations[d] + 1, free = x[d + 2] + pads[d] + pads[d + axes] - reach;
      if (strides[d] < 1 || free < 0) continue;  // Conv refuses it
      const std::int64_t more = (strides[d] - free % strides[d]) % strides[d];
      // A window that would begin behind the image and its first pads is left out.
      if ((free + more) / strides[d] * strides[d] < x[d + 2] + pads[d]) pads[d + axes] += more;
    }
    a["pads"] = pads;
  }
  array ones = s.make(element::f32, shape);
  for (std::int64_t i = 0; i < ones.count(); ++i) ones.set(i, 1);
  const std::int64_t p = s.op().integer("p", 2);
  root(s, s.add("Conv", {powers(s, p), s.keep(std::move(ones))}, a), p);
}

void image_norm(speller& s) {
  const auto rank = static_cast<std::int64_t>(s.shape(0).size());
  if (rank < 3) s.refuse("it takes images");
  std::vector<std::int64_t> axes;
  for (std::int64_t d = 2; d < rank; ++d) axes.push_back(d);
  const std::int64_t p = s.op().integer("p", 2);
  root(s, s.add("ReduceSum", {powers(s, p), s.integers(axes)}), p);
}

}

void add_composed_spellings(spelling_table& t) {
  t["RotaryEmbedding"] = rotary_of_onnx;
  t["com.microsoft.RotaryEmbedding"] = rotary_of_runtime;
  t["CausalConvWithState"] = causal_convolution;
  t["SwiGLU"] = gated_unit;
  t["CumProd"] = running_product;
  t["CenterCropPad"] = center;
  t["LpPool"] = window_norm;
  t["GlobalLpPool"] = image_norm;
}

}
