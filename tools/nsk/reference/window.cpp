// SPDX-License-Identifier: MIT
#include "reference/window.hpp"

#include <algorithm>

namespace nsk::tool::reference {

shape_t checked_list(const call& c, const char* name, std::size_t length, std::int64_t fallback, std::int64_t minimum) {
  const shape_t list = c.op().integers(name, shape_t(length, fallback));
  if (list.size() != length)
    c.fail(std::string("attribute '") + name + "' must have " + std::to_string(length) + " values");
  for (std::int64_t v : list)
    if (v < minimum || v > max_length)
      c.fail(std::string("attribute '") + name + "' has the impossible value " + std::to_string(v));
  return list;
}

window read_window(const call& c, const shape_t& spatial, shape_t kernel) {
  window w;
  const std::size_t axes = spatial.size();
  w.input = spatial;
  w.kernel = kernel.empty() ? checked_list(c, "kernel_shape", axes, 0, 1) : std::move(kernel);
  if (c.op().integers("kernel_shape", w.kernel) != w.kernel) c.fail("attribute 'kernel_shape' contradicts the weights");
  if (w.kernel.size() != axes) c.fail("the kernel must have one dimension per spatial axis of the input");
  constexpr std::int64_t max_taps = std::int64_t{1} << 24;
  std::int64_t taps = 1;
  for (std::int64_t k : w.kernel) {
    if (k < 1) c.fail("the kernel is empty");
    if (k > max_taps / taps) c.fail("the kernel has more than 2^24 taps");
    taps *= k;
  }
  w.stride = checked_list(c, "strides", axes, 1, 1);
  w.dilation = checked_list(c, "dilations", axes, 1, 1);
  for (std::size_t d = 0; d < axes; ++d)
    if (w.dilation[d] > max_length / w.kernel[d]) c.fail("the dilated kernel is too large");
  const shape_t pads = checked_list(c, "pads", 2 * axes, 0, -max_length);
  w.pad_begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(axes));
  w.pad_end.assign(pads.begin() + static_cast<std::ptrdiff_t>(axes), pads.end());
  w.output.assign(axes, 0);
  return w;
}

std::string auto_pad_of(const call& c) {
  const std::string mode = c.op().text("auto_pad", "NOTSET");
  c.require(mode == "SAME_UPPER" || mode == "SAME_LOWER" || mode == "NOTSET" || mode == "VALID" || mode.empty(),
            "attribute 'auto_pad' must be NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  return mode;
}

void finish_window(const call& c, window& w, bool ceil_mode) {
  const std::string auto_pad = auto_pad_of(c);
  const bool upper = auto_pad == "SAME_UPPER", same = upper || auto_pad == "SAME_LOWER";
  for (std::size_t d = 0; d < w.axes(); ++d) {
    if (same) {
      w.output[d] = (w.input[d] + w.stride[d] - 1) / w.stride[d];
      const std::int64_t total = std::max<std::int64_t>(0, (w.output[d] - 1) * w.stride[d] + w.reach(d) - w.input[d]);
      w.pad_begin[d] = upper ? total / 2 : total - total / 2;
      w.pad_end[d] = total - w.pad_begin[d];
      continue;
    }
    if (auto_pad == "VALID") w.pad_begin[d] = w.pad_end[d] = 0;
    const std::int64_t extent = w.input[d] + w.pad_begin[d] + w.pad_end[d] - w.reach(d);
    if (extent < 0) c.fail("the kernel is larger than the padded input along spatial axis " + std::to_string(d));
    w.output[d] = (extent + (ceil_mode ? w.stride[d] - 1 : 0)) / w.stride[d] + 1;
    if (ceil_mode && (w.output[d] - 1) * w.stride[d] >= w.input[d] + w.pad_begin[d]) --w.output[d];
  }
}

shape_t with_spatial(std::int64_t n, std::int64_t c, const shape_t& spatial) {
  shape_t shape{n, c};
  shape.insert(shape.end(), spatial.begin(), spatial.end());
  return shape;
}

void find_taps(const window& w, const shape_t& at, std::vector<tap>& taps) {
  taps.clear();
  const std::int64_t count = count_of(w.kernel);
  for (std::int64_t index = 0; index < count; ++index) {
    std::int64_t rest = index, offset = 0, scale = 1;
    bool inside = true;
    for (std::size_t d = w.axes(); d-- > 0;) {
      const std::int64_t x = at[d] * w.stride[d] - w.pad_begin[d] + rest % w.kernel[d] * w.dilation[d];
      rest /= w.kernel[d];
      inside = inside && x >= 0 && x < w.input[d];
      offset += x * scale;
      scale *= w.input[d];
    }
    if (inside) taps.push_back({index, offset});
  }
}

}
