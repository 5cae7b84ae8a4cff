// SPDX-License-Identifier: MIT
/// What moves elements, or only names them otherwise, on any element type; padding.
#include <algorithm>
#include "passes/canonicalise/constants.hpp"
#include "passes/canonicalise/moves.hpp"
#include "passes/canonicalise/rules.hpp"

namespace nsk::tool::canonical {
namespace {

void drop_out(context& c) {
  if (c.wants(1)) c.refuse("the mask output of Dropout has no kernel");
  identity(c);
}

void transpose(context& c) {
  const node& n = c.op();
  const std::size_t rank = c.in_shape(0).size();
  std::vector<std::int64_t> permutation = n.integers("perm");
  if (permutation.empty())
    for (std::size_t i = rank; i-- > 0;) permutation.push_back(static_cast<std::int64_t>(i));
  transpose_parameters t;
  for (const std::int64_t a : permutation) t.permutation.push_back(c.axis(a, rank));
  c.emit(std::move(t), {c.in(0)});
}

void slice(context& c) {
  const node& n = c.op();
  const shape_t& x = c.in_shape(0);
  std::vector<std::int64_t> starts, axes, steps;
  if (n.inputs.size() > 1) {
    starts = integers(c, 1, "starts");
    if (c.has(3)) axes = integers(c, 3, "axes");
    if (c.has(4)) steps = integers(c, 4, "steps");
  } else {
    starts = n.integers("starts");
    axes = n.integers("axes");
  }
  slice_parameters s = whole_slice(x.size());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto a = static_cast<std::size_t>(c.axis(axes.empty() ? static_cast<std::int64_t>(i) : axes[i], x.size()));
    const std::int64_t step = steps.empty() ? 1 : steps[i], length = x[a];
    std::int64_t start = starts[i] < 0 ? starts[i] + length : starts[i];
    start = std::clamp<std::int64_t>(start, 0, step > 0 ? length : length - 1);
    s.starts[a] = start;
    s.steps[a] = c.out_shape()[a] > 1 ? step : 1;  // however far a step reaches from the only element
  }
  c.emit(std::move(s), {c.in(0)});
}

void split(context& c) {
  const node& n = c.op();
  const shape_t& x = c.in_shape(0);
  const auto axis = static_cast<std::size_t>(c.axis(n.integer("axis", 0), x.size()));
  const std::vector<std::int64_t> lengths = c.has(1) ? integers(c, 1, "split") : n.integers("split");
  const auto parts = static_cast<std::int64_t>(n.outputs.size());
  const std::int64_t even = (x[axis] + parts - 1) / parts;
  std::int64_t start = 0;
  for (std::size_t i = 0; i < n.outputs.size(); ++i) {
    slice_parameters s = whole_slice(x.size());
    s.starts[axis] = start;
    start += lengths.empty() ? even : lengths[i];
    if (c.wants(i)) c.emit(std::move(s), {c.in(0)}, c.out(i));
  }
}

void concat(context& c) {
  const node& n = c.op();
  std::vector<int> inputs;
  for (std::size_t i = 0; i < n.inputs.size(); ++i)
    if (count_of(c.in_shape(i)) != 0) inputs.push_back(c.in(i));
  if (inputs.size() == 1) {
    c.emit(reshape_parameters{}, std::move(inputs));
    return;
  }
  const int axis = c.axis(n.integer("axis", 1), c.out_shape().size());
  const bool repeats = !inputs.empty() && std::count(inputs.begin(), inputs.end(), inputs[0]) ==
                                              static_cast<std::ptrdiff_t>(inputs.size());
  if (repeats && c.shape(inputs[0])[static_cast<std::size_t>(axis)] == 1)
    c.emit(expand_parameters{}, {inputs[0]});
  else
    c.emit(concat_parameters{axis}, std::move(inputs));
}

void expand(context& c) { c.emit(expand_parameters{}, {c.in(0)}); }

void tile(context& c) {
  const shape_t& x = c.in_shape(0);
  const std::vector<std::int64_t> repeats = integers(c, 1, "repeats");
  shape_t split, wide;
  for (std::size_t d = 0; d < x.size(); ++d) {
    if (repeats[d] != 1) {
      split.push_back(1);
      wide.push_back(repeats[d]);
    }
    split.push_back(x[d]);
    wide.push_back(x[d]);
  }
  if (wide == x) return identity(c);
  const int repeated = c.temporary("repeated", wide, c.in_type(0));
  c.emit(expand_parameters{}, {reshaped(c, c.in(0), split)}, repeated);
  c.emit(reshape_parameters{}, {repeated});
}

/// Appended channels are a concatenation with constants, into which the other part can be written at once.
bool padded_channels(context& c, const pad_parameters& p) {
  const shape_t& x = c.in_shape(0);
  for (std::size_t a = 0; a < x.size(); ++a)
    if (p.before[a] < 0 || p.after[a] < 0 || (a != 1 && (p.before[a] > 0 || p.after[a] > 0))) return false;
  constexpr std::int64_t max_appended = std::int64_t{1} << 20;
  if (x.size() < 3 || p.mode != pad_mode::constant || c.in_type(0) != element::f32 ||
      count_of(c.out_shape()) - count_of(x) > max_appended || count_of(c.out_shape()) == count_of(x))
    return false;
  std::vector<int> parts;
  const auto strip = [&](const char* suffix, std::int64_t length) {
    shape_t shape = x;
    shape[1] = length;
    const auto count = static_cast<std::size_t>(count_of(shape));
    if (count > 0) parts.push_back(constant(c, suffix, shape, std::vector<double>(count, p.value)));
  };
  strip("before", p.before[1]);
  parts.push_back(c.in(0));
  strip("after", p.after[1]);
  c.emit(concat_parameters{1}, std::move(parts));
  return true;
}

void pad(context& c) {
  const node& n = c.op();
  const shape_t& x = c.in_shape(0);
  const std::size_t rank = x.size();
  const bool old = n.version < 11;
  std::vector<std::int64_t> pads = old ? n.integers("pads") : integers(c, 1, "pads");
  std::vector<std::int64_t> axes;
  if (c.has(3)) axes = integers(c, 3, "axes");
  pad_parameters p;
  const std::string mode = n.text("mode", "constant");
  p.mode = mode == "constant"  ? pad_mode::constant
           : mode == "reflect" ? pad_mode::reflect
           : mode == "edge"    ? pad_mode::edge
                               : pad_mode::wrap;
  p.value = old ? n.number("value", 0) : c.has(2) ? number(c, 2, "constant_value") : 0;
  if (c.in_type(0) == element::f16) c.refuse("Pad has no kernel for float16");
  if (c.in_type(0) != element::f32 && static_cast<double>(static_cast<float>(p.value)) != p.value)
    c.refuse("its fill is an integer that float32 cannot hold. Fill with a smaller number, or Concat constants");
  p.before.assign(rank, 0);
  p.after.assign(rank, 0);
  const std::size_t count = axes.empty() ? rank : axes.size();
  if (pads.size() != 2 * count)
    c.refuse("pads has " + std::to_string(pads.size()) + " values, expected " + std::to_string(2 * count));
  for (std::size_t i = 0; i < count; ++i) {
    const auto a = static_cast<std::size_t>(c.axis(axes.empty() ? static_cast<std::int64_t>(i) : axes[i], rank));
    p.before[a] = pads[i];
    p.after[a] = pads[i + count];
    const std::int64_t reach = std::max(pads[i], pads[i + count]);
    const std::int64_t kept = x[a] + std::min<std::int64_t>(pads[i], 0) + std::min<std::int64_t>(pads[i + count], 0);
    if (p.mode == pad_mode::reflect && reach >= kept) c.refuse("reflection reaches further than the input is long");
    if (p.mode == pad_mode::wrap && reach > x[a]) c.refuse("wrapping reaches further than the input is long");
    if ((p.mode == pad_mode::wrap && kept < x[a]) || (p.mode == pad_mode::edge && kept < 1))
      c.refuse("negative pads take away what is repeated; write them as a Slice behind it");
  }
  int from = c.in(0);
  for (std::size_t a = 0; p.mode != pad_mode::constant && a < rank; ++a) {  // cut first, then repeat
    const std::int64_t cut = std::max<std::int64_t>(0, -p.before[a]),
                       cut_after = std::max<std::int64_t>(0, -p.after[a]);
    from = part(c, from, a, cut, x[a] - cut - cut_after, "cut" + std::to_string(a));
    p.before[a] += cut;
    p.after[a] += cut_after;
  }
  if (!padded_channels(c, p)) c.emit(std::move(p), {from});
}

void depth_to_space(context& c) {
  const node& n = c.op();
  const shape_t& x = c.in_shape(0);
  const std::int64_t b = n.integer("blocksize", 1), depth = x[1] / (b * b), h = x[2], w = x[3];
  const bool crd = n.text("mode", "DCR") == "CRD";
  const int split = reshaped(c, c.in(0), crd ? shape_t{x[0], depth, b, b, h, w} : shape_t{x[0], b, b, depth, h, w});
  const std::vector<int> order = crd ? std::vector<int>{0, 1, 4, 2, 5, 3} : std::vector<int>{0, 3, 4, 1, 5, 2};
  c.emit(reshape_parameters{true}, {transposed(c, split, order, "turned")});
}

void space_to_depth(context& c) {
  const node& n = c.op();
  const shape_t& x = c.in_shape(0);
  const std::int64_t b = n.integer("blocksize", 1), h = x[2] / b, w = x[3] / b;
  const bool crd = n.text("mode", "DCR") == "CRD";
  const int split = reshaped(c, c.in(0), {x[0], x[1], h, b, w, b});
  const std::vector<int> order = crd ? std::vector<int>{0, 1, 3, 5, 2, 4} : std::vector<int>{0, 3, 5, 1, 2, 4};
  c.emit(reshape_parameters{true}, {transposed(c, split, order, "turned")});
}

}

void add_shape(rule_table& t) {
  add_rows(t, {"Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze"}, {identity, element_types::any});
  t["Dropout"] = {drop_out, element_types::any};
  t["Transpose"] = {transpose, element_types::any};
  t["Slice"] = {slice, element_types::any};
  t["Split"] = {split, element_types::any};
  t["Concat"] = {concat, element_types::any};
  t["Expand"] = {expand, element_types::any};
  t["Tile"] = {tile, element_types::any};
  t["Pad"] = {pad, element_types::any};
  t["DepthToSpace"] = {depth_to_space, element_types::any};
  t["SpaceToDepth"] = {space_to_depth, element_types::any};
}

}
