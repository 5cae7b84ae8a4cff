// SPDX-License-Identifier: MIT
#pragma once
/// What rules of several families read: constant operands, axes, and operands in the source's axes or as images.
#include <string>
#include <vector>
#include "import/tflite/rules/call.hpp"

namespace nsk::tool::tflite {

/// Beyond every axis.
inline constexpr std::int64_t far_away = std::int64_t{1} << 40;

/// Values of a constant tensor, limited to +-far_away; refuses computed ones, calling them `what`.
std::vector<std::int64_t> integers(call& c, int t, const char* what);
/// The only value of a constant tensor; refuses longer ones.
std::int64_t integer(call& c, int t, const char* what);
double number(call& c, int t, const char* what);

/// The numbers of a list in an operator's options, none where it is absent. They may be at any byte of the file.
std::vector<std::int64_t> listed_integers(const flatbuffers::Vector<std::int64_t>* list);

/// Normalises an axis of a tensor of `rank` dimensions; refuses those outside [-rank, rank).
std::size_t axis_of(const call& c, std::int64_t axis, std::size_t rank);
/// Where an axis of [N, H, W, C] is in [N, C, H, W].
std::int64_t image_axis(std::size_t axis);
/// The number of a source's axis in a value of the given form.
inline std::int64_t axis_in(bool images, std::size_t axis) {
  return images ? image_axis(axis) : static_cast<std::int64_t>(axis);
}

/// Whether an operator without a layout of its own works on images here: one of the tensors is one.
bool prefer_images(const call& c, const std::vector<int>& tensors);
inline value_id in_form(call& c, int t, bool images) { return images ? c.image(t) : c.plain(t); }
/// A tensor as an operand that is broadcast to rank 4 with channels first, or as it is.
value_id operand(call& c, int t, bool images);
/// The value of a bias, or no value where it is absent. The integers of a stored one are in units of the sums, whose
/// scale is that of the tensor `x` times that of `weights`, as LiteRT takes them, whatever scale of its own it has.
/// Refuses others than float32, and other scales where LiteRT refuses them.
value_id bias_of(call& c, std::size_t i, int x, int weights);

/// Refuses quantised tensors: for operators that runtimes compute on stored integers whatever their scales, or not.
void require_unquantized(const call& c);
/// Refuses strides, dilations or sides of windows that are not positive.
inline void require_positive(const call& c, std::int64_t h, std::int64_t w) {
  c.require(h > 0 && w > 0, "its strides, dilations or window are not positive. The file is damaged");
}

}
