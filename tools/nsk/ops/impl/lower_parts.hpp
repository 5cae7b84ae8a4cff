// SPDX-License-Identifier: MIT
#pragma once
/// What the lowering of several operators has in common.
#include <string>
#include <vector>
#include "passes/lower/lowerer.hpp"

namespace nsk::tool {

/// Gives a step the function and the slope of `post`, and the tensor of its residual, -1 where it has none.
void set_epilogue(lowerer& l, plan_step& s, const post_operation& post, int residual = -1);

/// Result and operands of an elementwise operation, broadcast to the result's shape: tensors of the result, then of the
/// operands.
std::vector<int> elementwise_tensors(lowerer& l, const operation& o);

/// A step of `O` on all inputs, element by element; returns its parameters.
template <op O>
params_of<O>& elementwise_step(lowerer& l, const operation& o) {
  const std::vector<int> t = elementwise_tensors(l, o);
  return l.step<O>(o, {t.begin() + 1, t.end()}, t[0]).p.template as<O>();
}

/// A packed matrix: `channels` columns of `depth` weights.
struct panel_matrix {
  std::int64_t channels, depth;
};
/// The constant of an operation's packed matrices, one behind the other; with float16 weights, or int8 where the
/// operator takes them, where the options want these and no weight changes.
int constant_panels(lowerer& l, const operation& o, const packed_panels& packed,
                    const std::vector<panel_matrix>& matrices, bool takes_bytes = false);

/// The constant of weights that are transformed for Winograd's algorithms, with what they are made of.
int constant_winograd(lowerer& l, const std::string& name, const packed_panels& packed, conv_algorithm algorithm);

/// A line of bytes of a type of 8 bits.
int constant_bytes(lowerer& l, const std::string& name, dtype type, packing arrangement,
                   const std::vector<std::uint8_t>& bytes);

/// The tensor of a value of one number.
int one_number(lowerer& l, int v);

/// Where input 0 and the result of an operation on images, or on lines, are: with channels innermost, and the axes of
/// their tensors, of which lines lack the rows.
struct placed_images {
  view input, output;
  std::vector<int> axes;
};
placed_images place_images(lowerer& l, const operation& o);

/// Tensors of input 0 and of a result that is laid out as it is and differs in the length of one axis, and where that
/// axis is in them.
struct tensors_along {
  int input, output, axis;
};
tensors_along place_along(lowerer& l, const operation& o, int axis);

/// Tensors of the data and indices of a gather and of its result, and where the axis that is indexed is in them.
struct gathered_tensors {
  int data, indices, output, axis;
};
gathered_tensors place_gathered(lowerer& l, const operation& o, const gather_parameters& g);

/// Refuses operations on more dimensions than a tensor of the engine has.
void require_rank(const operation& o, std::size_t rank);

}
