// SPDX-License-Identifier: MIT
/// The readings of nodes with windows (length_reader.hpp). A kernel may be the network's own or a share of the image:
/// exporters write a global or adaptive pool so. Pads may be the network's own or those of SAME, which depend on the
/// length.
#include <algorithm>

#include "resolve/length_reader.hpp"

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

}

std::pair<std::int64_t, std::int64_t> same_pads(std::int64_t length, std::int64_t kernel, std::int64_t stride,
                                                std::int64_t dilation) {
  const std::int64_t results = (length + stride - 1) / stride;
  const std::int64_t all = std::max<std::int64_t>(0, (results - 1) * stride + (kernel - 1) * dilation + 1 - length);
  return {all / 2, all - all / 2};
}

/// Whether a pool of `kernel` by `strides` may be one that adapts to its image. Small kernels are the network's own
/// where they leave many positions, take maxima, or stand in several pools of images that differ.
bool length_reader::may_adapt(const node& n, const list& kernel, const list& strides, const shape_t& was) {
  const auto is_share = [&](std::size_t i, const list& lengths) {
    return kernel[i] == lengths[i] || (kernel[i] == strides[i] && kernel[i] < lengths[i]);
  };
  const list lengths = spatial_of(was);
  bool all_one = true, global = false, large = false, many = false;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    if (!is_share(i, lengths) && kernel[i] != 1) return false;
    all_one = all_one && kernel[i] == 1;
    global = global || (kernel[i] == lengths[i] && kernel[i] > 1);
    large = large || kernel[i] > small_kernel;
    many = many || lengths[i] / kernel[i] > small_result;
  }
  if (global) return true;
  for (const node& other : m_trial.exported->nodes) {
    if (other.op != n.op || other.inputs.empty() || other.integers("kernel_shape") != kernel) continue;
    const shape_t& image = m_trial.exported->values[static_cast<std::size_t>(other.inputs[0])].shape;
    if (numbers_of(other, "strides", kernel.size(), 1) == strides && image.size() == was.size() &&
        spatial_of(image) != lengths && !all_one)
      return false;
  }
  return large || all_one || (n.op != "MaxPool" && !many);
}

std::vector<reading> length_reader::read_window(const node& n) {
  shape_t was, now;
  if (!shapes_of(n.inputs[0], was, now) || was == now || was.size() < 3) return {};
  const list from = spatial_of(was), to = spatial_of(now);
  const std::size_t axes = from.size();
  const bool pools = n.op != "Conv";
  list kernel = n.integers("kernel_shape");
  if (!pools && kernel.empty() && has(n, 1)) kernel = spatial_of(at(n.inputs[1]).shape);
  const list strides = numbers_of(n, "strides", axes, 1), dilations = numbers_of(n, "dilations", axes, 1),
             pads = numbers_of(n, "pads", 2 * axes, 0);
  if (kernel.size() != axes || from == to) return {};
  std::vector<reading> found = {{}};

  const bool padded = std::any_of(pads.begin(), pads.end(), [](std::int64_t p) { return p != 0; });
  if (pools && !padded && may_adapt(n, kernel, strides, was)) {
    list new_kernel = kernel, new_strides = strides;
    bool differs = false;
    for (std::size_t i = 0; i < axes; ++i) {
      const auto pools_to_fewer = [&](std::size_t j) { return kernel[j] != 1 && from[j] / kernel[j] != from[i]; };
      bool left_alone = from[i] == to[i];
      for (std::size_t j = 0; j < axes && kernel[i] == 1; ++j) left_alone = left_alone || pools_to_fewer(j);
      if (left_alone) continue;
      const std::int64_t results = from[i] / kernel[i];
      if (from[i] % kernel[i] != 0 || to[i] % results != 0) {
        give_up(n, "its kernel may be a share of an axis that was " + std::to_string(from[i]) + " long and is " +
                       std::to_string(to[i]));
      }
      new_kernel[i] = to[i] / results;
      if (strides[i] == kernel[i]) new_strides[i] = new_kernel[i];
      differs = differs || new_kernel[i] != kernel[i];
    }
    if (differs) found.insert(found.begin(), {edit{0, "kernel_shape", new_kernel}, edit{0, "strides", new_strides}});
  }

  bool same = n.text("auto_pad", "NOTSET") == "NOTSET" && n.integer("ceil_mode", 0) == 0, symmetric = true;
  list same_now = pads;
  for (std::size_t i = 0; i < axes; ++i) {
    const auto [before, behind] = same_pads(from[i], kernel[i], strides[i], dilations[i]);
    const bool upper = pads[i] == before && pads[i + axes] == behind,
               lower = pads[i] == behind && pads[i + axes] == before;
    same = same && (upper || lower);
    symmetric = symmetric && pads[i] == pads[i + axes];
    const auto [a, b] = same_pads(to[i], kernel[i], strides[i], dilations[i]);
    same_now[i] = upper ? a : b;
    same_now[i + axes] = upper ? b : a;
  }
  if (same && same_now != pads && !(symmetric && is_pytorch(m_graph))) found.push_back({edit{0, "pads", same_now}});
  return found.size() > 1 ? found : std::vector<reading>();
}

/// A transposed convolution may have been asked for the length of another image, from which its exporter reckoned the
/// padding.
std::vector<reading> length_reader::read_transposed(const node& n) {
  shape_t was, now;
  const value* made = before(n.outputs[0]);
  if (made == nullptr || !shapes_of(n.inputs[0], was, now) || was == now || was.size() < 3 ||
      made->shape.size() != was.size())
    return {};
  const std::size_t axes = was.size() - 2;
  const list strides = numbers_of(n, "strides", axes, 1), beyond = numbers_of(n, "output_padding", axes, 0),
             given = n.integers("output_shape");
  if (!given.empty()) give_up(n, "its output_shape is that of the lengths in the source");
  std::vector<reading> found = {{}};
  for (std::size_t i = 0; i < axes; ++i) {
    const std::int64_t usual = made->shape[i + 2] + (now[i + 2] - was[i + 2]) * strides[i];
    if (was[i + 2] == now[i + 2]) continue;
    for (const std::int64_t length : m_trial.lengths.of(made->shape[i + 2])) {
      const std::int64_t padding = beyond[i] + length - usual;
      if (length == usual || std::abs(length - usual) >= strides[i]) continue;
      if (padding < 0 || padding >= strides[i])
        give_up(n, "its result may be as long as another image, " + std::to_string(length));
      list changed = beyond;
      changed[i] = padding;
      if (padding >= 0 && padding < strides[i]) found.push_back({edit{0, "output_padding", changed}});
    }
  }
  return found.size() > 1 ? found : std::vector<reading>();
}

}
