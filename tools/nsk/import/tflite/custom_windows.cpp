// SPDX-License-Identifier: MIT
/// Rules for custom operators that look at windows of pictures: MediaPipe's transposed convolution, and pooling that
/// remembers where the largest numbers were.
#include "import/tflite/options.hpp"

#include <algorithm>
#include <numeric>

#include "import/tflite/importer.hpp"

namespace nsk::tool {
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

}

/// A transposed convolution with bias; options: padding (1 same, 2 valid), stride_w and stride_h as packed 32-bit
/// integers.
void tflite_importer::transposed_convolution_with_bias() {
  require_operands(3, 3);
  const list packed = packed_integers(m_op->data->custom_options(), 3);
  require(packed[0] == 1 || packed[0] == 2, "its padding is neither 1 (same) nor 2 (valid). The file is damaged");
  require_stride(packed[2], packed[1]);
  const int x = input(0), w = input(1);
  require(rank(x) == 4 && rank(w) == 4, "input and weights must have four dimensions");
  const list stride = {packed[2], packed[1]};
  list before(2, 0), after(2, 0);
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t in = shape(x)[d + 1], kernel = shape(w)[d + 1];
    const std::int64_t total = packed[0] == 1 ? std::max<std::int64_t>(0, kernel - (in - 1) % stride[d] - 1) : 0;
    before[d] = total / 2;
    after[d] = total - before[d];
  }
  finish_transposed_convolution(x, w, 2, stride, before, after, tfl::Activation::NONE);
}

/// Pooling in windows that tile the picture. The second result is the place of the largest number, counted row by row
/// inside its window, plus 0.1 (its readers cut the fraction off).
void tflite_importer::pool_with_places() {
  require_operands(1, 1, 2);
  const window_options o = windows_of(*m_op);
  const shape_t& x = shape(input(0));
  require(x.size() == 4, "the input must have four dimensions");
  require(
      o.width > 0 && o.height > 0 && o.width <= 64 && o.height <= 64 && o.width == o.stride_w &&
          o.height == o.stride_h && x[1] % o.height == 0 && x[2] % o.width == 0,
      "only windows that tile the picture are supported: strides equal to the window, sides that are multiples of it");
  require(o.activation >= 0 && o.activation <= 3, "its activation is not supported");
  const std::int64_t rows = x[1] / o.height, columns = x[2] / o.width;
  const value_id split = reshaped(plain(input(0)), {x[0], rows, o.height, columns, o.width, x[3]});
  const value_id windows =
      reshaped(transposed(split, {0, 1, 3, 2, 4, 5}), {x[0], rows, columns, o.width * o.height, x[3]});
  const value_id largest = emit("ReduceMax", {windows, constant_integers({3})}, {{"keepdims", std::int64_t{0}}});
  const value_id place = emit("ArgMax", {windows}, {{"axis", std::int64_t{3}}, {"keepdims", std::int64_t{0}}});
  finish(output(0), largest, false, static_cast<tfl::Activation>(o.activation));
  bind(output(1), emit("Add", {emit("Cast", {place}, {{"to", std::int64_t{1}}}), constant_number(0.1)}), false);
}

/// The inverse: every number goes to its place in a window of zeros; places outside a window are dropped.
void tflite_importer::unpool() {
  require_operands(2, 2);
  const window_options o = windows_of(*m_op);
  const shape_t& x = shape(input(0));
  require(x.size() == 4 && shape(input(1)) == x, "numbers and places must have the same four dimensions");
  require(
      o.width > 0 && o.height > 0 && o.width <= 64 && o.height <= 64 && o.width == o.stride_w && o.height == o.stride_h,
      "only windows that tile the picture are supported: strides equal to the window");
  const std::int64_t places = o.width * o.height;
  list numbers(static_cast<std::size_t>(places));
  std::iota(numbers.begin(), numbers.end(), 0);
  const shape_t apart = {x[0], x[1], x[2], 1, x[3]};
  const value_id place = reshaped(emit("Cast", {plain(input(1))}, {{"to", std::int64_t{7}}}), apart);
  const value_id here = emit("Equal", {place, constant(make_ints({places, 1}, numbers))});
  const value_id windows = emit("Where", {here, reshaped(plain(input(0)), apart), constant_number(0)});
  const value_id split = reshaped(windows, {x[0], x[1], x[2], o.height, o.width, x[3]});
  bind(output(), reshaped(transposed(split, {0, 1, 3, 2, 4, 5}), {x[0], x[1] * o.height, x[2] * o.width, x[3]}), false);
}

}
