// SPDX-License-Identifier: MIT
#include <algorithm>
#include "passes/canonicalise/canonicaliser.hpp"

namespace nsk::tool {

void canonicaliser::reshape(const node& n) { emit(n, reshape_parameters{}, {in(n, 0)}); }

void canonicaliser::transpose(const node& n) {
  const std::size_t rank = in_shape(n, 0).size();
  std::vector<std::int64_t> permutation = n.integers("perm");
  if (permutation.empty())
    for (std::size_t i = rank; i-- > 0;) permutation.push_back(static_cast<std::int64_t>(i));
  transpose_parameters t;
  for (const std::int64_t a : permutation) t.permutation.push_back(axis_of(n, a, rank));
  emit(n, std::move(t), {in(n, 0)});
}

void canonicaliser::slice(const node& n) {
  const shape_t& x = in_shape(n, 0);
  std::vector<std::int64_t> starts, axes, steps;
  if (n.inputs.size() > 1) {
    starts = integers(n, 1, "starts");
    if (present(n, 3)) axes = integers(n, 3, "axes");
    if (present(n, 4)) steps = integers(n, 4, "steps");
  } else {
    starts = n.integers("starts");
    axes = n.integers("axes");
  }
  slice_parameters s{std::vector<std::int64_t>(x.size(), 0), std::vector<std::int64_t>(x.size(), 1)};
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto a =
        static_cast<std::size_t>(axis_of(n, axes.empty() ? static_cast<std::int64_t>(i) : axes[i], x.size()));
    const std::int64_t step = steps.empty() ? 1 : steps[i], length = x[a];
    std::int64_t start = starts[i] < 0 ? starts[i] + length : starts[i];
    start = std::clamp<std::int64_t>(start, 0, step > 0 ? length : length - 1);
    s.starts[a] = start;
    s.steps[a] = out_shape(n)[a] > 1 ? step : 1;  // however far a step reaches from the only element
  }
  emit(n, std::move(s), {in(n, 0)});
}

void canonicaliser::split(const node& n) {
  const shape_t& x = in_shape(n, 0);
  const auto axis = static_cast<std::size_t>(axis_of(n, n.integer("axis", 0), x.size()));
  const std::vector<std::int64_t> lengths = present(n, 1) ? integers(n, 1, "split") : n.integers("split");
  const auto parts = static_cast<std::int64_t>(n.outputs.size());
  const std::int64_t even = (x[axis] + parts - 1) / parts;
  std::int64_t start = 0;
  for (std::size_t i = 0; i < n.outputs.size(); ++i) {
    slice_parameters s{std::vector<std::int64_t>(x.size(), 0), std::vector<std::int64_t>(x.size(), 1)};
    s.starts[axis] = start;
    start += lengths.empty() ? even : lengths[i];
    if (n.outputs[i] != no_value) emit(n, std::move(s), {in(n, 0)}, of(n.outputs[i]));
  }
}

void canonicaliser::concat(const node& n) {
  std::vector<int> inputs;
  for (std::size_t i = 0; i < n.inputs.size(); ++i)
    if (count_of(in_shape(n, i)) != 0) inputs.push_back(in(n, i));
  if (inputs.size() == 1) {
    emit(n, reshape_parameters{}, std::move(inputs));
    return;
  }
  const int axis = axis_of(n, n.integer("axis", 1), out_shape(n).size());
  const bool repeats = !inputs.empty() && std::count(inputs.begin(), inputs.end(), inputs[0]) ==
                                              static_cast<std::ptrdiff_t>(inputs.size());
  if (repeats && m_program.shape(inputs[0])[static_cast<std::size_t>(axis)] == 1)
    emit(n, expand_parameters{}, {inputs[0]});
  else
    emit(n, concat_parameters{axis}, std::move(inputs));
}

void canonicaliser::expand(const node& n) { emit(n, expand_parameters{}, {in(n, 0)}); }

void canonicaliser::tile(const node& n) {
  const shape_t& x = in_shape(n, 0);
  const std::vector<std::int64_t> repeats = integers(n, 1, "repeats");
  shape_t split, wide;
  for (std::size_t d = 0; d < x.size(); ++d) {
    if (repeats[d] != 1) {
      split.push_back(1);
      wide.push_back(repeats[d]);
    }
    split.push_back(x[d]);
    wide.push_back(x[d]);
  }
  if (wide == x) return identity(n);
  const int repeated = temporary(n, "repeated", wide, in_type(n, 0));
  emit(n, expand_parameters{}, {reshaped(n, in(n, 0), split)}, repeated);
  emit(n, reshape_parameters{}, {repeated});
}

void canonicaliser::pad(const node& n) {
  const shape_t& x = in_shape(n, 0);
  const std::size_t rank = x.size();
  const bool old = n.version < 11;
  std::vector<std::int64_t> pads = old ? n.integers("pads") : integers(n, 1, "pads");
  std::vector<std::int64_t> axes;
  if (present(n, 3)) axes = integers(n, 3, "axes");
  pad_parameters p;
  const std::string mode = n.text("mode", "constant");
  p.mode = mode == "constant"  ? pad_mode::constant
           : mode == "reflect" ? pad_mode::reflect
           : mode == "edge"    ? pad_mode::edge
                               : pad_mode::wrap;
  p.value = old ? n.number("value", 0) : present(n, 2) ? number(n, 2, "constant_value") : 0;
  p.before.assign(rank, 0);
  p.after.assign(rank, 0);
  const std::size_t count = axes.empty() ? rank : axes.size();
  if (pads.size() != 2 * count)
    refuse_node(n, "pads has " + std::to_string(pads.size()) + " values, expected " + std::to_string(2 * count));
  for (std::size_t i = 0; i < count; ++i) {
    const auto a = static_cast<std::size_t>(axis_of(n, axes.empty() ? static_cast<std::int64_t>(i) : axes[i], rank));
    p.before[a] = pads[i];
    p.after[a] = pads[i + count];
    const std::int64_t reach = std::max(pads[i], pads[i + count]);
    const std::int64_t kept = x[a] + std::min<std::int64_t>(pads[i], 0) + std::min<std::int64_t>(pads[i + count], 0);
    if (p.mode == pad_mode::reflect && reach >= kept)
      refuse_node(n, "reflection reaches further than the input is long");
    if (p.mode == pad_mode::wrap && reach > x[a]) refuse_node(n, "wrapping reaches further than the input is long");
    if ((p.mode == pad_mode::wrap && kept < x[a]) || (p.mode == pad_mode::edge && kept < 1))
      refuse_node(n, "negative pads take away what is repeated; write them as a Slice behind it");
  }
  int from = in(n, 0);
  for (std::size_t a = 0; p.mode != pad_mode::constant && a < rank; ++a) {  // cut first, then repeat
    const std::int64_t cut = std::max<std::int64_t>(0, -p.before[a]),
                       cut_after = std::max<std::int64_t>(0, -p.after[a]);
    from = part(n, from, a, cut, x[a] - cut - cut_after, "cut" + std::to_string(a));
    p.before[a] += cut;
    p.after[a] += cut_after;
  }
  if (!padded_channels(n, p)) emit(n, std::move(p), {from});
}

/// Appended channels are a concatenation with constants, into which the other part can be written at once.
bool canonicaliser::padded_channels(const node& n, const pad_parameters& p) {
  const shape_t& x = in_shape(n, 0);
  for (std::size_t a = 0; a < x.size(); ++a)
    if (p.before[a] < 0 || p.after[a] < 0 || (a != 1 && (p.before[a] > 0 || p.after[a] > 0))) return false;
  constexpr std::int64_t most = std::int64_t{1} << 20;
  if (x.size() < 3 || p.mode != pad_mode::constant || in_type(n, 0) != element::f32 ||
      count_of(out_shape(n)) - count_of(x) > most || count_of(out_shape(n)) == count_of(x))
    return false;
  std::vector<int> parts;
  const auto strip = [&](const char* suffix, std::int64_t length) {
    shape_t shape = x;
    shape[1] = length;
    const auto count = static_cast<std::size_t>(count_of(shape));
    if (count > 0) parts.push_back(constant(n, suffix, shape, std::vector<double>(count, p.value)));
  };
  strip("before", p.before[1]);
  parts.push_back(in(n, 0));
  strip("after", p.after[1]);
  emit(n, concat_parameters{1}, std::move(parts));
  return true;
}

void canonicaliser::depth_to_space(const node& n) {
  const shape_t& x = in_shape(n, 0);
  const std::int64_t b = n.integer("blocksize", 1), c = x[1] / (b * b), h = x[2], w = x[3];
  const bool crd = n.text("mode", "DCR") == "CRD";
  const int split = reshaped(n, in(n, 0), crd ? shape_t{x[0], c, b, b, h, w} : shape_t{x[0], b, b, c, h, w});
  const int turned = temporary(n, "turned", {x[0], c, h, b, w, b}, in_type(n, 0));
  emit(n, transpose_parameters{crd ? std::vector<int>{0, 1, 4, 2, 5, 3} : std::vector<int>{0, 3, 4, 1, 5, 2}}, {split},
       turned);
  emit(n, reshape_parameters{true}, {turned});
}

void canonicaliser::space_to_depth(const node& n) {
  const shape_t& x = in_shape(n, 0);
  const std::int64_t b = n.integer("blocksize", 1), c = x[1], h = x[2] / b, w = x[3] / b;
  const bool crd = n.text("mode", "DCR") == "CRD";
  const int split = reshaped(n, in(n, 0), {x[0], c, h, b, w, b});
  const int turned =
      temporary(n, "turned", crd ? shape_t{x[0], c, b, b, h, w} : shape_t{x[0], b, b, c, h, w}, in_type(n, 0));
  emit(n, transpose_parameters{crd ? std::vector<int>{0, 1, 3, 5, 2, 4} : std::vector<int>{0, 3, 5, 1, 2, 4}}, {split},
       turned);
  emit(n, reshape_parameters{true}, {turned});
}

}
