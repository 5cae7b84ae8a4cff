// SPDX-License-Identifier: MIT
#pragma once
/// The layers of a float graph that can be computed with stored integers.
#include <optional>
#include <string>
#include <vector>
#include "graph/graph.hpp"
#include "quantize/weights.hpp"

namespace nsk::tool {

/// A convolution, transposed or not, Gemm or MatMul whose weights are a constant, and the Relu or Clip behind it where
/// nothing else reads its result.
struct float_layer {
  std::string name;                ///< of the node
  std::size_t node;                ///< position among the graph's
  value_id input, result, output;  ///< result: of the node; output: of what follows, or the same
  std::size_t input_axis;          ///< of the channels that it reads: 1 for convolutions, the last one for products
  layer_weights weights;
  std::vector<double> bias;  ///< empty where there is none
};

/// Who reads each value of a graph.
class value_readers {
 public:
  explicit value_readers(const graph& g);
  /// The only reader of a value that is no output.
  std::optional<std::size_t> only(value_id v) const;

 private:
  std::vector<std::size_t> m_nodes;
  std::vector<int> m_count;
};

/// Makes a constant that is added to each channel of a convolution's, Gemm's or MatMul's result its bias, where nothing
/// else reads what is between. A MatMul of matrices becomes a Gemm.
void fold_biases(graph& g);

/// Folds BatchNormalization with constant statistics into the convolution before it, where nothing else reads what is
/// between.
void fold_normalization(graph& g);

/// A product with weights, or what should be one, that is no layer.
struct other_product {
  std::string name, op, reason;
};
/// Finds the convolutions, products of matrices and recurrent layers that are not among `layers`, and why, in order.
std::vector<other_product> products_beside(const graph& g, const std::vector<float_layer>& layers);

/// How many convolutions a transposed one is, each of which has a part of its taps; 1 for other layers.
double phases_of(const node& n);

/// Finds the layers, in order.
std::vector<float_layer> layers_of(const graph& g);

}
