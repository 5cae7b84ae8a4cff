// SPDX-License-Identifier: MIT
/// What shows that a graph for other lengths may not be what the source's author would export for them
/// (length_view.hpp).
#include <algorithm>
#include <set>

#include "errors.hpp"
#include "graph/operator_kinds.hpp"
#include "resolve/lengths/length_view.hpp"

namespace nsk::tool {
namespace {

using list = std::vector<std::int64_t>;

/// Operators beside those that move elements, reduce, or compute element by element, which compute the same of axes of
/// any length, or whose numbers length_readings.cpp looks at.
const std::set<std::string> known_for_any_length = {"Conv",
                                                    "ConvTranspose",
                                                    "Einsum",
                                                    "CastLike",
                                                    "Gemm",
                                                    "MatMul",
                                                    "Det",
                                                    "BatchNormalization",
                                                    "InstanceNormalization",
                                                    "GroupNormalization",
                                                    "LayerNormalization",
                                                    "RMSNormalization",
                                                    "MeanVarianceNormalization",
                                                    "LRN",
                                                    "LpNormalization",
                                                    "Softmax",
                                                    "LogSoftmax",
                                                    "Hardmax",
                                                    "MaxPool",
                                                    "AveragePool",
                                                    "LpPool",
                                                    "GlobalAveragePool",
                                                    "GlobalMaxPool",
                                                    "GlobalLpPool",
                                                    "RandomNormalLike",
                                                    "RandomUniformLike",
                                                    "Multinomial",
                                                    "Bernoulli",
                                                    "RNN",
                                                    "GRU",
                                                    "LSTM",
                                                    "ArgMax",
                                                    "ArgMin",
                                                    "CumSum",
                                                    "Resize",
                                                    "Upsample",
                                                    "GatherElements",
                                                    "GatherND",
                                                    "GridSample",
                                                    "Scatter",
                                                    "ScatterElements",
                                                    "ScatterND",
                                                    "TopK",
                                                    "NonZero",
                                                    "OneHot",
                                                    "Compress",
                                                    "Trilu",
                                                    "ReverseSequence",
                                                    "Shape",
                                                    "Size",
                                                    "DepthToSpace",
                                                    "SpaceToDepth",
                                                    "NonMaxSuppression",
                                                    "RoiAlign",
                                                    "EyeLike",
                                                    "DequantizeLinear",
                                                    "QuantizeLinear"};

/// Whether all elements of a constant are the same.
bool is_uniform(const array& a) {
  for (std::int64_t i = 1; i < a.count(); ++i)
    if (a.number(i) != a.number(0)) return false;
  return a.count() > 0;
}

bool has_positive(const array& a) {
  for (std::int64_t i = 0; i < a.count(); ++i)
    if (a.number(i) > 0) return true;
  return false;
}

void check_ambiguous_unknown(length_view& view, const node& n) {
  const bool known = known_for_any_length.count(n.op) != 0 || moves_elements(n.op) || n.op.rfind("Reduce", 0) == 0 ||
                     broadcasts(n.op) || is_of_elements(n.op);
  if (!known || !n.domain.empty())
    throw no_reading({describe(view.the_graph(), n) + ": it is not known how its numbers follow from other lengths"});
}

/// Axes that were equally long and are not: one of them is 1 now, and would be repeated.
void check_ambiguous_broadcast(length_view& view, const node& n) {
  if (!broadcasts(n.op) && n.op != "MatMul") return;
  const std::size_t behind = n.op == "MatMul" ? 2 : 0;
  for (std::size_t i = 0; i < n.inputs.size(); ++i)
    for (std::size_t j = i + 1; j < n.inputs.size(); ++j) {
      shape_t a, now_a, b, now_b;
      if (!n.reads(i) || !n.reads(j) || !view.shapes_of(n.inputs[i], a, now_a) ||
          !view.shapes_of(n.inputs[j], b, now_b))
        continue;
      for (std::size_t k = 1 + behind; k <= std::min(a.size(), b.size()); ++k)
        if (a[a.size() - k] == b[b.size() - k] && now_a[a.size() - k] != now_b[b.size() - k])
          view.mark_ambiguous_for_good(n, "operands that have the same length in the source have " +
                                              std::to_string(now_a[a.size() - k]) + " and " +
                                              std::to_string(now_b[b.size() - k]));
    }
}

void check_ambiguous_concat(length_view& view, const node& n) {
  for (std::size_t i = 0; i < n.inputs.size(); ++i) {
    if (!view.is_own_constant(n, i)) continue;
    const array& a = *view.at(n.inputs[i]).constant;
    const std::int64_t d = counted_from_start(n.integer("axis", 0), a.shape.size());
    if (d < 0 || d >= static_cast<std::int64_t>(a.shape.size())) continue;
    if (is_uniform(a) || !view.lengths().near(a.shape[static_cast<std::size_t>(d)]).empty())
      view.stop(n, "its constant operand may fill up an axis to a length");
  }
}

void check_ambiguous_rounding(length_view& view, const node& n) {
  shape_t was, now;
  const shape_t& made = view.at(n.outputs[0]).shape;
  if (n.name.rfind("RESIZE_NEAREST", 0) != 0 || !view.shapes_of(n.inputs[0], was, now)) return;
  for (std::size_t d = 0; d < now.size(); ++d)
    if (was[d] != now[d] && made[d] % now[d] != 0)
      view.doubt(n, "TensorFlow Lite rounds the positions of its pixels in another way for such lengths");
}

/// Constants that an exporter makes for one length.
void check_ambiguous_operands(length_view& view, const node& n) {
  struct made_for {
    const char* op;
    std::size_t input;
    const char* what;
  };
  for (const made_for& m :
       {made_for{"GRU", 4, "sequence lengths"}, made_for{"LSTM", 4, "sequence lengths"},
        made_for{"RNN", 4, "sequence lengths"}, made_for{"ReverseSequence", 1, "sequence lengths"},
        made_for{"GridSample", 1, "grid"}, made_for{"RoiAlign", 1, "regions"}, made_for{"Compress", 1, "condition"}})
    if (n.op == m.op && view.is_own_constant(n, m.input))
      view.stop(n, std::string("its ") + m.what + " may be made for the lengths in the source");
  if (n.op == "Concat") check_ambiguous_concat(view, n);
  if (n.op == "Resize") check_ambiguous_rounding(view, n);
}

void check_ambiguous_indices(length_view& view, const node& n) {
  const bool finds = n.op.rfind("Gather", 0) == 0 || n.op.rfind("Scatter", 0) == 0;
  if (finds && view.is_own_constant(n, 1) && view.indexes_changed_axis(n) &&
      has_positive(*view.at(n.inputs[1]).constant))
    view.stop(n, "its indices may depend on the length of their axis");
}

/// Axis `d` of a Pad and of the window that reads it.
struct padded_axis {
  std::size_t d, rank;
  std::int64_t was, now, before, behind;  ///< lengths, and pads
};

/// The kernel of a convolution or pool of the source; empty for other nodes.
list kernel_of(const length_view& view, const node& n) {
  const bool convolves = n.op == "Conv" && n.inputs.size() > 1;
  if (!convolves && n.op != "MaxPool" && n.op != "AveragePool") return {};
  const list kernel = n.integers("kernel_shape");
  if (!kernel.empty() || !convolves) return kernel;
  const shape_t& w = view.exported().at(n.inputs[1]).shape;
  return w.size() > 2 ? list(w.begin() + 2, w.end()) : list();
}

/// Whether the pads of an axis are those of the window of `user`, whatever the length.
bool is_padded_for(const length_view& view, const node& user, const padded_axis& a) {
  const list kernel = kernel_of(view, user);
  if (a.d < 2 || kernel.size() + 2 != a.rank) return false;
  const list strides = user.integers("strides"), dilations = user.integers("dilations"), more = user.integers("pads");
  const std::size_t i = a.d - 2;
  const std::int64_t stride = strides.empty() ? 1 : strides[i], dilation = dilations.empty() ? 1 : dilations[i];
  if (!more.empty() && (more[i] != 0 || more[i + kernel.size()] != 0)) return false;
  const std::pair pads(a.before, a.behind);
  if (pads == same_pads(a.was, kernel[i], stride, dilation))
    return pads == same_pads(a.now, kernel[i], stride, dilation);
  const bool fills = a.before + a.behind == dilation * (kernel[i] - 1),
             is_even = a.behind == 0 || std::abs(a.before - a.behind) <= 1;
  return (fills && is_even) || (a.before == a.behind && a.before == kernel[i] / 2 && dilation == 1);
}

/// Whether all that reads a value of the source has a window for which axis `a` is padded.
bool is_padded_for_readers(const length_view& view, const std::string& name, const padded_axis& a) {
  const graph& g = view.exported();
  const auto is_it = [&](value_id v) { return v != no_value && g.at(v).name == name; };
  bool any = false;
  for (const node& user : g.nodes) {
    if (std::none_of(user.inputs.begin(), user.inputs.end(), is_it)) continue;
    if (!is_padded_for(view, user, a)) return false;
    any = true;
  }
  return any;
}

/// Pads are the network's own where they are those of the windows behind them.
void check_ambiguous_pads(length_view& view, const node& n) {
  shape_t was, now;
  const value* made = view.before(n.outputs[0]);
  if (made == nullptr || !view.shapes_of(n.inputs[0], was, now) || made->shape.size() != was.size()) return;
  const length_literal pads = view.integers(n, 1, "pads");
  bool pads_others = made->shape == was;
  for (std::size_t d = 0; d < was.size(); ++d) pads_others = pads_others || (d != 1 && made->shape[d] != was[d]);
  for (std::size_t d = 0; d < was.size(); ++d) {
    if (was[d] == now[d] || (made->shape[d] == was[d] && !pads_others)) continue;
    const bool known = made->shape[d] != was[d] && pads.now.size() == 2 * was.size();
    if (!known || !is_padded_for_readers(view, made->name,
                                         {d, was.size(), was[d], now[d], pads.now[d], pads.now[d + was.size()]}))
      view.stop(
          n, "axis " + std::to_string(d) + " was " + std::to_string(was[d]) + " long, and may be padded to a length");
  }
}

}

void check_ambiguous_results(length_view& view, const node& n) {
  for (const value_id v : n.outputs) {
    const value* old = view.before(v);
    if (old == nullptr) continue;
    const shape_t &was = old->shape, &now = view.at(v).shape;
    const std::size_t before_it = view.trial().doubts.size();
    if (was.size() != now.size())
      view.mark_ambiguous_for_good(
          n, "its result has " + std::to_string(now.size()) + " axes instead of " + std::to_string(was.size()));
    for (std::size_t d = 0; d < was.size() && was.size() == now.size(); ++d)
      if (was[d] == 1 && now[d] > 1)
        view.mark_ambiguous_for_good(
            n, "axis " + std::to_string(d) + " of its result is 1 long in the source, where exporters and " +
                   "broadcasting leave out what it needs now that it is " + std::to_string(now[d]) + " long");
    view.trial().was_one = view.trial().was_one || view.trial().doubts.size() > before_it;
  }
}

void check_ambiguous_node(length_view& view, const node& n) {
  check_ambiguous_unknown(view, n);
  check_ambiguous_broadcast(view, n);
  check_ambiguous_operands(view, n);
  check_ambiguous_indices(view, n);
  if (n.op == "Pad") check_ambiguous_pads(view, n);
}

}
