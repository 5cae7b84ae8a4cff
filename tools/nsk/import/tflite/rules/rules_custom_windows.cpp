// SPDX-License-Identifier: MIT
/// Rules for custom operators that look at windows of images: MediaPipe's transposed convolution, and pooling that
/// remembers where the largest numbers were.
#include "import/tflite/rules/options.hpp"

#include <algorithm>
#include <numeric>

#include "import/tflite/rules/nodes.hpp"
#include "import/tflite/rules/operands.hpp"
#include "import/tflite/rules/rules.hpp"
#include "import/tflite/rules/windows.hpp"

namespace nsk::tool::tflite {
namespace {

using list = std::vector<std::int64_t>;

/// Packed options of both kinds of pooling.
struct window_options {
  std::int64_t padding, stride_w, stride_h, width, height, activation;
};

window_options windows_of(const tflite_operator& o) {
  const list v = packed_integers(o.data->custom_options(), 6);
  return {v[0], v[1], v[2], v[3], v[4], v[5]};
}

/// A transposed convolution with bias; options: padding (1 same, 2 valid), stride_w and stride_h as packed 32-bit
/// integers.
void transposed_convolution_with_bias(call& c) {
  c.require_operands(3, 3);
  const list packed = packed_integers(c.op().data->custom_options(), 3);
  c.require(packed[0] == 1 || packed[0] == 2, "its padding is neither 1 (same) nor 2 (valid). The file is damaged");
  require_positive(c, packed[2], packed[1]);
  const int x = c.input(0), w = c.input(1);
  c.require(c.rank(x) == 4 && c.rank(w) == 4, "input and weights must have four dimensions");
  const list stride = {packed[2], packed[1]};
  list before(2, 0), after(2, 0);
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t in = c.shape(x)[d + 1], kernel = c.shape(w)[d + 1];
    const std::int64_t total = packed[0] == 1 ? std::max<std::int64_t>(0, kernel - (in - 1) % stride[d] - 1) : 0;
    before[d] = total / 2;
    after[d] = total - before[d];
  }
  finish_transposed_convolution(c, x, w, 2, stride, before, after, tfl::Activation::NONE);
}

/// Pooling in windows that tile the image. The second result is the place of the largest number, counted row by row
/// inside its window, plus 0.1 (its readers cut the fraction off).
void pool_with_places(call& c) {
  c.require_operands(1, 1, 2);
  const window_options o = windows_of(c.op());
  const shape_t& x = c.shape(c.input(0));
  c.require(x.size() == 4, "the input must have four dimensions");
  c.require(
      o.width > 0 && o.height > 0 && o.width <= 64 && o.height <= 64 && o.width == o.stride_w &&
          o.height == o.stride_h && x[1] % o.height == 0 && x[2] % o.width == 0,
      "only windows that tile the image are supported: strides equal to the window, sides that are multiples of it");
  c.require(o.activation >= 0 && o.activation <= 3, "its activation is not supported");
  const std::int64_t rows = x[1] / o.height, columns = x[2] / o.width;
  const value_id split = reshaped(c, c.plain(c.input(0)), {x[0], rows, o.height, columns, o.width, x[3]});
  const value_id windows =
      reshaped(c, transposed(c, split, {0, 1, 3, 2, 4, 5}), {x[0], rows, columns, o.width * o.height, x[3]});
  const value_id largest = c.emit("ReduceMax", {windows, constant_integers(c, {3})}, {{"keepdims", std::int64_t{0}}});
  const value_id place = c.emit("ArgMax", {windows}, {{"axis", std::int64_t{3}}, {"keepdims", std::int64_t{0}}});
  finish(c, 0, largest, false, static_cast<tfl::Activation>(o.activation));
  c.bind(1, c.emit("Add", {cast(c, place, element::f32), constant_number(c, 0.1)}));
}

/// The inverse: every number goes to its place in a window of zeros; places outside a window are dropped.
void unpool(call& c) {
  c.require_operands(2, 2);
  const window_options o = windows_of(c.op());
  const shape_t& x = c.shape(c.input(0));
  c.require(x.size() == 4 && c.shape(c.input(1)) == x, "numbers and places must have the same four dimensions");
  c.require(
      o.width > 0 && o.height > 0 && o.width <= 64 && o.height <= 64 && o.width == o.stride_w && o.height == o.stride_h,
      "only windows that tile the image are supported: strides equal to the window");
  const std::int64_t places = o.width * o.height;
  list numbers(static_cast<std::size_t>(places));
  std::iota(numbers.begin(), numbers.end(), 0);
  const shape_t apart = {x[0], x[1], x[2], 1, x[3]};
  const value_id place = reshaped(c, cast(c, c.plain(c.input(1)), element::i64), apart);
  const value_id here = c.emit("Equal", {place, c.constant(make_ints({places, 1}, numbers))});
  const value_id windows = c.emit("Where", {here, reshaped(c, c.plain(c.input(0)), apart), constant_number(c, 0)});
  const value_id split = reshaped(c, windows, {x[0], x[1], x[2], o.height, o.width, x[3]});
  c.bind(0, reshaped(c, transposed(c, split, {0, 1, 3, 2, 4, 5}), {x[0], x[1] * o.height, x[2] * o.width, x[3]}));
}

}

void add_custom_windows(table& t) {
  t["Convolution2DTransposeBias"] = {transposed_convolution_with_bias};
  t["MaxPoolingWithArgmax2D"] = {pool_with_places};
  t["MaxUnpooling2D"] = {unpool};
}

}
