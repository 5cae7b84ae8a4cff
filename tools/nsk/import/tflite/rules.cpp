// SPDX-License-Identifier: MIT
/// Which rule translates which operator.
#include <algorithm>
#include <set>

#include "import/tflite/constants.hpp"
#include "import/tflite/importer.hpp"

namespace nsk::tool {

const std::unordered_map<std::string, tflite_importer::rule>& tflite_importer::builtin_rules() {
  using i = tflite_importer;
  static const std::unordered_map<std::string, rule> table = {
      {"CONV_2D", &i::convolution},
      {"DEPTHWISE_CONV_2D", &i::depthwise_convolution},
      {"TRANSPOSE_CONV", &i::transposed_convolution},
      {"AVERAGE_POOL_2D", &i::pool},
      {"MAX_POOL_2D", &i::pool},
      {"RESIZE_BILINEAR", &i::resize_bilinear},
      {"RESIZE_NEAREST_NEIGHBOR", &i::resize_nearest},
      {"PAD", &i::pad},
      {"PADV2", &i::pad},
      {"MIRROR_PAD", &i::mirror_pad},
      {"DEPTH_TO_SPACE", &i::depth_to_space},
      {"SPACE_TO_DEPTH", &i::depth_to_space},
      {"LOCAL_RESPONSE_NORMALIZATION", &i::local_response_normalization},
      {"RELU", &i::unary},
      {"LOGISTIC", &i::unary},
      {"TANH", &i::unary},
      {"HARD_SWISH", &i::unary},
      {"ELU", &i::unary},
      {"EXP", &i::unary},
      {"LOG", &i::unary},
      {"SQRT", &i::unary},
      {"FLOOR", &i::unary},
      {"CEIL", &i::unary},
      {"ROUND", &i::unary},
      {"NEG", &i::unary},
      {"ABS", &i::unary},
      {"SIGN", &i::unary},
      {"SIN", &i::unary},
      {"COS", &i::unary},
      {"LOGICAL_NOT", &i::unary},
      {"RSQRT", &i::reciprocal_root},
      {"SQUARE", &i::square},
      {"RELU6", &i::bounded_relu},
      {"RELU_N1_TO_1", &i::bounded_relu},
      {"RELU_0_TO_1", &i::bounded_relu},
      {"LEAKY_RELU", &i::leaky_relu},
      {"PRELU", &i::parametric_relu},
      {"GELU", &i::gelu},
      {"ADD", &i::binary},
      {"SUB", &i::binary},
      {"MUL", &i::binary},
      {"DIV", &i::binary},
      {"MAXIMUM", &i::binary},
      {"MINIMUM", &i::binary},
      {"POW", &i::binary},
      {"EQUAL", &i::binary},
      {"GREATER", &i::binary},
      {"GREATER_EQUAL", &i::binary},
      {"LESS", &i::binary},
      {"LESS_EQUAL", &i::binary},
      {"LOGICAL_AND", &i::binary},
      {"LOGICAL_OR", &i::binary},
      {"FLOOR_MOD", &i::binary},
      {"SQUARED_DIFFERENCE", &i::squared_difference},
      {"FLOOR_DIV", &i::floor_divide},
      {"NOT_EQUAL", &i::not_equal},
      {"ADD_N", &i::add_all},
      {"SELECT", &i::select},
      {"SELECT_V2", &i::select},
      {"CAST", &i::cast},
      {"QUANTIZE", &i::requantize},
      {"DEQUANTIZE", &i::requantize},
      {"DENSIFY", &i::requantize},
      {"RESHAPE", &i::reshape},
      {"SQUEEZE", &i::squeeze},
      {"EXPAND_DIMS", &i::expand_dims},
      {"TRANSPOSE", &i::transpose},
      {"CONCATENATION", &i::concatenate},
      {"SPLIT", &i::split},
      {"SPLIT_V", &i::split},
      {"SLICE", &i::slice},
      {"STRIDED_SLICE", &i::strided_slice},
      {"PACK", &i::pack},
      {"UNPACK", &i::unpack},
      {"TILE", &i::tile},
      {"BROADCAST_TO", &i::broadcast_to},
      {"REVERSE_V2", &i::reverse},
      {"SHAPE", &i::shape_of},
      {"RANK", &i::shape_of},
      {"FILL", &i::fill},
      {"ZEROS_LIKE", &i::fill},
      {"SPACE_TO_BATCH_ND", &i::space_to_batch},
      {"BATCH_TO_SPACE_ND", &i::batch_to_space},
      {"FULLY_CONNECTED", &i::fully_connected},
      {"BATCH_MATMUL", &i::batch_mat_mul},
      {"SOFTMAX", &i::softmax},
      {"LOG_SOFTMAX", &i::softmax},
      {"L2_NORMALIZATION", &i::l2_normalize},
      {"MEAN", &i::reduce},
      {"SUM", &i::reduce},
      {"REDUCE_MAX", &i::reduce},
      {"REDUCE_MIN", &i::reduce},
      {"REDUCE_PROD", &i::reduce},
      {"REDUCE_ANY", &i::reduce_logical},
      {"REDUCE_ALL", &i::reduce_logical},
      {"ARG_MAX", &i::arg_reduce},
      {"ARG_MIN", &i::arg_reduce},
      {"TOPK_V2", &i::top_k},
      {"GATHER", &i::gather},
      {"GATHER_ND", &i::gather_nd},
      {"EMBEDDING_LOOKUP", &i::embedding_lookup},
      {"RANGE", &i::range},
      {"REVERSE_SEQUENCE", &i::reverse_sequence},
      {"ONE_HOT", &i::one_hot},
      {"CUMSUM", &i::cumulative_sum},
      {"RFFT2D", &i::real_spectrum},
      {"COMPLEX_ABS", &i::part_of_complex},
      {"REAL", &i::part_of_complex},
      {"IMAG", &i::part_of_complex},
      {"UNIDIRECTIONAL_SEQUENCE_LSTM", &i::sequence_lstm},
      {"BIDIRECTIONAL_SEQUENCE_LSTM", &i::bidirectional_sequence_lstm},
      {"LSTM", &i::lstm},
      {"UNIDIRECTIONAL_SEQUENCE_RNN", &i::recurrent_layer},
      {"BIDIRECTIONAL_SEQUENCE_RNN", &i::bidirectional_recurrent_layer},
      {"RNN", &i::recurrent_layer},
      {"SVDF", &i::filter_over_time},
      {"VAR_HANDLE", &i::variable_handle},
      {"READ_VARIABLE", &i::read_variable},
      {"ASSIGN_VARIABLE", &i::assign_variable},
      {"CALL_ONCE", &i::call_once},
      {"CALL", &i::call},
      {"IF", &i::branch},
      {"WHILE", &i::loop},
      {"NON_MAX_SUPPRESSION_V4", &i::suppress},
      {"NON_MAX_SUPPRESSION_V5", &i::suppress}};
  return table;
}

/// Operators that only move stored numbers would read them by another scale where their output has one of its own.
void tflite_importer::require_stored_alike() const {
  static const std::set<std::string> movers = {"RESHAPE",
                                               "SQUEEZE",
                                               "EXPAND_DIMS",
                                               "TRANSPOSE",
                                               "SPLIT",
                                               "SPLIT_V",
                                               "SLICE",
                                               "STRIDED_SLICE",
                                               "UNPACK",
                                               "PACK",
                                               "TILE",
                                               "BROADCAST_TO",
                                               "REVERSE_V2",
                                               "GATHER",
                                               "GATHER_ND",
                                               "MAX_POOL_2D",
                                               "RESIZE_BILINEAR",
                                               "RESIZE_NEAREST_NEIGHBOR",
                                               "PAD",
                                               "PADV2",
                                               "MIRROR_PAD",
                                               "SPACE_TO_BATCH_ND",
                                               "BATCH_TO_SPACE_ND",
                                               "DEPTH_TO_SPACE",
                                               "SPACE_TO_DEPTH"};
  if (m_op->custom || movers.count(m_op->name) == 0) return;
  for (const int x : m_op->inputs)
    for (const int y : m_op->outputs)
      if (x >= 0 && y >= 0 && is_quantized(tensor(x)) && is_quantized(tensor(y)) && !stored_alike(tensor(x), tensor(y)))
        fail("'" + tensor(x).name + "' and '" + tensor(y).name +
             "' are stored with different scales or zero points, though it only moves numbers. Quantise the model "
             "again");
}

const std::unordered_map<std::string, tflite_importer::rule>& tflite_importer::custom_rules() {
  using i = tflite_importer;
  static const std::unordered_map<std::string, rule> table = {
      {"Convolution2DTransposeBias", &i::transposed_convolution_with_bias},
      {"Landmarks2TransformMatrix", &i::landmarks_to_matrix},
      {"MaxPoolingWithArgmax2D", &i::pool_with_places},
      {"MaxUnpooling2D", &i::unpool},
      {"TFLite_Detection_PostProcess", &i::detection_post_process},
      {"TransformLandmarks", &i::transform_landmarks},
      {"TransformTensorBilinear", &i::transform_picture}};
  return table;
}

std::vector<std::string> tflite_importer::operators() {
  std::vector<std::string> names;
  for (const auto* table : {&builtin_rules(), &custom_rules()})
    for (const auto& entry : *table) names.push_back(entry.first);
  std::sort(names.begin(), names.end());
  return names;
}

}
