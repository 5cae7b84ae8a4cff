// SPDX-License-Identifier: MIT
/// Dilated windows reach further than small images: rows and columns of a kernel that meet padding alone are cut off.
#include <cstddef>
#include "passes/fuse/fuse.hpp"

namespace nsk::tool {
namespace {

/// One spatial axis of a convolution.
struct window_axis {
  int &kernel, &dilation, &pad_before;
  int stride;
  std::int64_t input, output;

  /// Whether tap `k` is before the image, or behind it, at every output position.
  bool is_idle(int k) const {
    const std::int64_t at = std::int64_t{k} * dilation - pad_before;
    return at >= input || at + (output - 1) * stride < 0;
  }
};

/// Taps [first, first + count) of an axis of weights [outer][length][inner].
std::vector<double> cut(const std::vector<double>& weights, std::size_t length, std::size_t inner, std::size_t first,
                        std::size_t count) {
  std::vector<double> kept;
  const std::size_t outer = weights.size() / (length * inner);
  for (std::size_t o = 0; o < outer; ++o) {
    const auto from = weights.begin() + static_cast<std::ptrdiff_t>((o * length + first) * inner);
    kept.insert(kept.end(), from, from + static_cast<std::ptrdiff_t>(count * inner));
  }
  return kept;
}

void crop_axis(window_axis a, std::size_t inner, std::vector<double>& weights) {
  const int length = a.kernel;
  int first = 0, last = length - 1;
  while (first < last && a.pad_before >= (first + 1) * a.dilation && a.is_idle(first)) ++first;
  while (last > first && a.is_idle(last)) --last;
  a.kernel = last - first + 1;
  if (a.kernel == length) return;
  a.pad_before -= first * a.dilation;
  if (a.kernel == 1) a.dilation = 1;
  weights = cut(weights, static_cast<std::size_t>(length), inner, static_cast<std::size_t>(first),
                static_cast<std::size_t>(a.kernel));
}

}

void crop_windows(program& p) {
  for (operation& o : p.operations) {
    auto* c = o.as<conv_parameters>();
    if (!c || c->w.kernel_h * c->w.kernel_w == 1) continue;
    const shape_t &x = p.shape(o.inputs[0]), &y = p.shape(o.output);
    const bool flat = x.size() == 3;
    if (!flat && x.size() != 4) continue;
    const std::size_t rows = 2, columns = flat ? 2 : 3;
    const auto across = static_cast<std::size_t>(c->w.kernel_w);
    if (!flat)
      crop_axis({c->w.kernel_h, c->w.dilation_h, c->w.pad_top, c->w.stride_h, x[rows], y[rows]}, across, c->weights);
    crop_axis({c->w.kernel_w, c->w.dilation_w, c->w.pad_left, c->w.stride_w, x[columns], y[columns]}, 1, c->weights);
  }
}

}
