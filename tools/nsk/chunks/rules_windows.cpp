// SPDX-License-Identifier: MIT
/// Convolutions and pooling: windows that end at the newest sample keep what they saw before.
#include <algorithm>
#include <limits>

#include "chunks/rules.hpp"

namespace nsk::tool::chunks {
namespace {

using list = std::vector<std::int64_t>;

/// The window of a node along the axis of the samples, and what the node has for all axes.
struct windows {
  std::size_t at = 0;  ///< the axis among those of the window
  list pads;           ///< as the node has them, without auto_pad
  std::int64_t reach = 1, stride = 1, before = 0, behind = 0;
};

/// The pads that auto_pad gives an axis, in front and behind.
std::pair<std::int64_t, std::int64_t> automatic(const std::string& how, std::int64_t length, std::int64_t reach,
                                                std::int64_t stride) {
  const std::int64_t count = (length + stride - 1) / stride;
  const std::int64_t all = std::max<std::int64_t>((count - 1) * stride + reach - length, 0);
  return how == "SAME_UPPER" ? std::pair(all / 2, all - all / 2) : std::pair(all - all / 2, all / 2);
}

windows windows_of(const node& n, const shape_t& shape, const shape_t& kernel, std::size_t time) {
  const std::size_t axes = kernel.size();
  const list strides = n.integers("strides", list(axes, 1)), dilations = n.integers("dilations", list(axes, 1));
  windows r;
  r.at = time - 2;
  r.pads = n.integers("pads", list(2 * axes, 0));
  const std::string how = n.text("auto_pad", "NOTSET");
  for (std::size_t d = 0; d < axes && how != "NOTSET"; ++d) {
    const std::int64_t reach = (kernel[d] - 1) * dilations[d] + 1;
    const auto pads =
        how == "VALID" ? std::pair<std::int64_t, std::int64_t>(0, 0) : automatic(how, shape[d + 2], reach, strides[d]);
    r.pads[d] = pads.first;
    r.pads[axes + d] = pads.second;
  }
  r.reach = (kernel[r.at] - 1) * dilations[r.at] + 1;
  r.stride = strides[r.at];
  r.before = r.pads[r.at];
  r.behind = r.pads[axes + r.at];
  return r;
}

/// The attributes of a node that sees no pads along the samples.
writer::attributes without_pads(const windows& v) {
  list pads = v.pads;
  pads[v.at] = pads[pads.size() / 2 + v.at] = 0;
  return {{"auto_pad", std::string("NOTSET")}, {"pads", pads}};
}

/// Whether the axis of the samples is one of rows; refuses channels, which a window adds up.
bool has_rows(writer& w, const node& n, const flow& x) {
  if (!x.timed() || x.c.axis > 1 || (x.c.axis == 1 && n.op == "STFT")) return !x.timed();
  if (x.c.axis == 1) refuse_whole(w, "the samples are its channels, which it adds up");
  keep_course(w, n);
  return true;
}

void copy_latest(writer& w, const node& n, const flow& x) {
  if (!x.timed()) w.give(ids_of(w, n), {relation::latest});
}

shape_t kernel_of(const shape_t& weights) { return {weights.begin() + 2, weights.end()}; }

void convolve(writer& w, const node& n) {
  flow x = signal(w, n);
  if (has_rows(w, n, x)) return copy_latest(w, n, x);
  const windows v = windows_of(n, w.source(n.inputs[0]).shape, kernel_of(w.source(n.inputs[1]).shape), x.c.axis);
  x = w.windowed(w.padded(x, v.before, 0), v.reach, v.stride, true);
  std::vector<value_id> ids = ids_of(w, n);
  ids[0] = x.id;
  w.give(ids, x.c, without_pads(v));
}

void pool(writer& w, const node& n) {
  flow x = signal(w, n);
  if (has_rows(w, n, x)) return copy_latest(w, n, x);
  if (n.gives(1)) w.refuse("it says where its maxima are, which a chunk does not know");
  const windows v = windows_of(n, w.source(n.inputs[0]).shape, n.integers("kernel_shape"), x.c.axis);
  const bool largest = n.op == "MaxPool";
  if (v.before > 0 && n.op == "AveragePool" && n.integer("count_include_pad", 0) == 0)
    w.refuse("its first means are of fewer samples. Export it with count_include_pad, or pad the signal before it");
  x = w.windowed(w.padded(x, v.before, largest ? -std::numeric_limits<double>::infinity() : 0), v.reach, v.stride);
  writer::attributes changed = without_pads(v);
  changed["ceil_mode"] = std::int64_t{0};
  w.give({x.id}, x.c, changed);
}

/// Every result is a sum over a few samples: the last ones are kept, and those sums that are not complete computed
/// again with the next chunk.
void spread(writer& w, const node& n) {
  flow x = w.settled(signal(w, n));
  if (has_rows(w, n, x)) return copy_latest(w, n, x);
  const windows v = windows_of(n, w.source(n.inputs[0]).shape, kernel_of(w.source(n.inputs[1]).shape), x.c.axis);
  if (n.text("auto_pad", "NOTSET") != "NOTSET" || n.has("output_shape"))
    w.refuse("its pads follow the length of the signal. Export it with pads");
  const std::int64_t overlap = v.reach - v.stride, earlier = overlap > 0 ? (v.reach - 1) / v.stride : 0;
  if (overlap < 0) w.refuse("its stride is longer than its kernel. Export it with a longer kernel");
  if (earlier > 0) x = w.masked(x, 0);  // so that what was computed too early adds nothing
  std::vector<value_id> ids = ids_of(w, n);
  ids[0] = w.joined(x, earlier, 0);
  writer::attributes changed = without_pads(v);
  list pads = v.pads, more = n.integers("output_padding", list(v.pads.size() / 2, 0));
  more[v.at] = 0;
  changed["output_padding"] = more;
  pads[v.at] = earlier * v.stride;
  pads[pads.size() / 2 + v.at] = overlap;
  changed["pads"] = pads;
  flow y = {w.copy(ids, changed)[0], x.type, w.source(n.outputs[0]).shape, x.c};
  y.c.up *= v.stride;
  y.c.late *= v.stride;
  reduce(y.c);
  y = w.cropped(y, v.before);
  w.set(n.outputs[0], y.id, y.c);
}

/// Spectra of frames.
void transform(writer& w, const node& n) {
  flow x = signal(w, n);
  if (has_rows(w, n, x)) return copy_latest(w, n, x);
  const std::int64_t step = integers_of(w, n, 1).at(0);
  const std::int64_t length = n.reads(3) ? integers_of(w, n, 3).at(0) : count_of(w.source(n.inputs[2]).shape);
  x = w.windowed(x, length, step);
  std::vector<value_id> ids = ids_of(w, n);
  ids[0] = x.id;
  w.give(ids, x.c);
}

}

void add_window_rules(rule_table& t) {
  t["STFT"] = transform;
  t["Conv"] = convolve;
  t["MaxPool"] = t["AveragePool"] = t["LpPool"] = pool;
  t["ConvTranspose"] = spread;
}

}
