// SPDX-License-Identifier: MIT
/// The readings of nodes with windows (length_view.hpp). A kernel may be the network's own or a share of the image:
/// exporters write a global or adaptive pool so. Pads may be the network's own or those of SAME, which depend on the
/// length.
#include <algorithm>

#include "resolve/lengths/length_view.hpp"

namespace nsk::tool {
namespace {

using list = std::vector<std::int64_t>;
constexpr std::int64_t small_kernel = 3, small_result = 8;

list spatial_of(const shape_t& s) { return {s.begin() + 2, s.end()}; }

/// An attribute with one number per axis.
list numbers_of(const node& n, const char* name, std::size_t count, std::int64_t fallback) {
  list given = n.integers(name);
  if (given.size() != count) given.assign(count, fallback);
  return given;
}

bool is_pytorch(const graph& g) { return g.producer.rfind("pytorch", 0) == 0; }

/// The numbers of a node with a window.
struct window {
  list kernel, strides, dilations, pads, from, to;  ///< of the axes of the image, which was `from` and is `to`
  std::size_t axes() const { return from.size(); }
  bool is_left_alone(std::size_t i) const;
};

/// Whether another pool of the same kernel takes images of other lengths.
bool pools_other_images(const length_view& view, const node& n, const window& w) {
  for (const node& other : view.exported().nodes) {
    if (other.op != n.op || other.inputs.empty() || other.integers("kernel_shape") != w.kernel) continue;
    const shape_t& image = view.exported().at(other.inputs[0]).shape;
    if (numbers_of(other, "strides", w.axes(), 1) == w.strides && image.size() == w.axes() + 2 &&
        spatial_of(image) != w.from)
      return true;
  }
  return false;
}

/// Whether a pool may be one that adapts to its image. Small kernels are the network's own where they leave many
/// positions, take maxima, or stand in several pools of images that differ.
bool may_adapt(const length_view& view, const node& n, const window& w) {
  bool all_one = true, global = false, large = false, many = false;
  for (std::size_t i = 0; i < w.axes(); ++i) {
    const std::int64_t k = w.kernel[i], length = w.from[i];
    const bool is_share = k == length || (k == w.strides[i] && k < length);
    if (!is_share && k != 1) return false;
    all_one = all_one && k == 1;
    global = global || (k == length && k > 1);
    large = large || k > small_kernel;
    many = many || length / k > small_result;
  }
  if (global) return true;
  if (!all_one && pools_other_images(view, n, w)) return false;
  return large || all_one || (n.op != "MaxPool" && !many);
}

/// Whether a kernel of 1 along axis `i` is the network's own, because another axis is pooled to another length.
bool window::is_left_alone(std::size_t i) const {
  if (from[i] == to[i]) return true;
  for (std::size_t j = 0; j < axes() && kernel[i] == 1; ++j)
    if (kernel[j] != 1 && from[j] / kernel[j] != from[i]) return true;
  return false;
}

/// The reading in which a pool leaves as many positions as in the source; empty where that changes nothing.
reading adapted(const length_view& view, const node& n, const window& w) {
  list kernel = w.kernel, strides = w.strides;
  for (std::size_t i = 0; i < w.axes(); ++i) {
    if (w.is_left_alone(i)) continue;
    const std::int64_t results = w.from[i] / w.kernel[i];
    if (w.from[i] % w.kernel[i] != 0 || w.to[i] % results != 0)
      view.give_up(n, "its kernel may be a share of an axis that was " + std::to_string(w.from[i]) + " long and is " +
                          std::to_string(w.to[i]));
    kernel[i] = w.to[i] / results;
    if (w.strides[i] == w.kernel[i]) strides[i] = kernel[i];
  }
  if (kernel == w.kernel) return {};
  return {edit{0, "kernel_shape", kernel}, edit{0, "strides", strides}};
}

/// The reading in which pads are those of SAME for the new lengths; empty where they are no such pads, or the same.
reading same_again(const length_view& view, const node& n, const window& w) {
  bool symmetric = true;
  list pads = w.pads;
  if (n.text("auto_pad", "NOTSET") != "NOTSET" || n.integer("ceil_mode", 0) != 0) return {};
  for (std::size_t i = 0; i < w.axes(); ++i) {
    const auto [before, behind] = same_pads(w.from[i], w.kernel[i], w.strides[i], w.dilations[i]);
    const std::int64_t a = w.pads[i], b = w.pads[i + w.axes()];
    const bool upper = a == before && b == behind;
    if (!upper && (a != behind || b != before)) return {};
    symmetric = symmetric && a == b;
    const auto [first, last] = same_pads(w.to[i], w.kernel[i], w.strides[i], w.dilations[i]);
    pads[i] = upper ? first : last;
    pads[i + w.axes()] = upper ? last : first;
  }
  if (pads == w.pads || (symmetric && is_pytorch(view.the_graph()))) return {};
  return {edit{0, "pads", pads}};
}

}

std::pair<std::int64_t, std::int64_t> same_pads(std::int64_t length, std::int64_t kernel, std::int64_t stride,
                                                std::int64_t dilation) {
  const std::int64_t results = (length + stride - 1) / stride;
  const std::int64_t all = std::max<std::int64_t>(0, (results - 1) * stride + (kernel - 1) * dilation + 1 - length);
  return {all / 2, all - all / 2};
}

std::vector<reading> read_window(length_view& view, const node& n) {
  shape_t was, now;
  if (!view.shapes_of(n.inputs[0], was, now) || was == now || was.size() < 3) return {};
  window w{n.integers("kernel_shape"), {}, {}, {}, spatial_of(was), spatial_of(now)};
  const bool pools = n.op != "Conv";
  if (!pools && w.kernel.empty() && n.reads(1)) w.kernel = spatial_of(view.at(n.inputs[1]).shape);
  w.strides = numbers_of(n, "strides", w.axes(), 1);
  w.dilations = numbers_of(n, "dilations", w.axes(), 1);
  w.pads = numbers_of(n, "pads", 2 * w.axes(), 0);
  if (w.kernel.size() != w.axes() || w.from == w.to) return {};
  std::vector<reading> found;
  const bool padded = std::any_of(w.pads.begin(), w.pads.end(), [](std::int64_t p) { return p != 0; });
  if (pools && !padded && may_adapt(view, n, w)) found.push_back(adapted(view, n, w));
  if (!found.empty() && !found[0].empty()) found.emplace_back();
  if (found.empty()) found.emplace_back();
  if (const reading same = same_again(view, n, w); !same.empty()) found.push_back(same);
  return found.size() > 1 ? found : std::vector<reading>();
}

/// A transposed convolution may have been asked for the length of another image, from which its exporter reckoned the
/// padding.
std::vector<reading> read_transposed(length_view& view, const node& n) {
  shape_t was, now;
  const value* made = view.before(n.outputs[0]);
  if (made == nullptr || !view.shapes_of(n.inputs[0], was, now) || was == now || was.size() < 3 ||
      made->shape.size() != was.size())
    return {};
  const std::size_t axes = was.size() - 2;
  const list strides = numbers_of(n, "strides", axes, 1), beyond = numbers_of(n, "output_padding", axes, 0),
             given = n.integers("output_shape");
  if (!given.empty()) view.give_up(n, "its output_shape is that of the lengths in the source");
  std::vector<reading> found = {{}};
  for (std::size_t i = 0; i < axes; ++i) {
    const std::int64_t usual = made->shape[i + 2] + (now[i + 2] - was[i + 2]) * strides[i];
    if (was[i + 2] == now[i + 2]) continue;
    for (const std::int64_t length : view.lengths().of(made->shape[i + 2])) {
      const std::int64_t padding = beyond[i] + length - usual;
      if (length == usual || std::abs(length - usual) >= strides[i]) continue;
      if (padding < 0 || padding >= strides[i])
        view.give_up(n, "its result may be as long as another image, " + std::to_string(length));
      list changed = beyond;
      changed[i] = padding;
      if (padding >= 0 && padding < strides[i]) found.push_back({edit{0, "output_padding", changed}});
    }
  }
  return found.size() > 1 ? found : std::vector<reading>();
}

}
