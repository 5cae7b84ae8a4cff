// SPDX-License-Identifier: MIT
#include "passes/support.hpp"
#include <algorithm>
#include <set>
#include "passes/canonicalise/canonicalise.hpp"
#include "reference/operators.hpp"

namespace nsk::tool {

const std::vector<operator_support>& supported_operators() {
  static const std::vector<operator_support> table = {
      {{"Conv"},
       "Conv2D, DepthwiseConv2D; MatMul, or Binary for one channel per group, where the weights are computed",
       "one to three spatial axes; any kernel, stride, dilation, group, padding, auto_pad"},
      {{"ConvTranspose"},
       "one Conv2D per phase of the stride, each writing its own pixels; one for all where many phases or few channels "
       "read the same pixels",
       "one to three spatial axes; any stride, dilation, group, output_padding, output_shape; constant weights"},
      {{"Gemm", "MatMul"},
       "FullyConnected; PackPanels and MatMul for two computed sides; Conv2D on images; IntegerMatMul on int32 and "
       "int64",
       "any rank, broadcasting; Gemm of float32"},
      {{"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"},
       "Quantize, Dequantize, with Add, Sub or Mul between them QuantizedBinary, with the mean of an image "
       "QuantizedMean; DynamicRange and DynamicQuantize; Cast, Binary, Unary, Reduce for int16, several or computed "
       "scales, GPUs",
       "8-bit integers and int16; one scale, or one per position of an axis; blocks of constants alone"},
      {{"netsuke.FixedPointAdd"},
       "QuantizedBinary; Cast, Binary and Unary, exact, for GPUs",
       "8-bit integers: ADD and SUB of TensorFlow Lite become it"},
      {{"netsuke.ChannelTables"},
       "ByteTable; Gather for GPUs",
       "8-bit integers: functions of a stored number and of constants for each channel become it, such as PRelu"},
      {{"QLinearConv", "QLinearMatMul", "ConvInteger", "MatMulInteger", "com.microsoft.QGemm", "netsuke.QLinearConvAdd",
        "netsuke.QLinearConvTranspose"},
       "QuantizedConv2D, QuantizedDepthwiseConv2D, IntegerConv2D for results in int32, with what makes them float32, "
       "ByteTable for int8; Conv2D, FullyConnected or IntegerMatMul, whose sums are exact, Binary, Unary, Cast for "
       "weights beyond int8, GPUs",
       "8-bit integers; constant scales, constant weights of convolutions; one or two spatial axes. "
       "DequantizeLinear, Conv, ConvTranspose, MatMul or Gemm, Relu or Clip, QuantizeLinear becomes one of them, with "
       "an Add of stored numbers behind Conv QLinearConvAdd"},
      {{"com.microsoft.NhwcMaxPool", "com.microsoft.QLinearAdd", "com.microsoft.QLinearAveragePool",
        "com.microsoft.QLinearConcat", "com.microsoft.QLinearConv", "com.microsoft.QLinearGlobalAveragePool",
        "com.microsoft.QLinearLeakyRelu", "com.microsoft.QLinearMul", "com.microsoft.QLinearSigmoid",
        "com.microsoft.QLinearSoftmax", "com.microsoft.QLinearWhere", "com.microsoft.QuantizeLinear",
        "com.microsoft.DequantizeLinear"},
       "DequantizeLinear, the operator of ONNX, QuantizeLinear: QuantizedBinary, ByteTable, Copy, or floats",
       "8-bit integers; channels_last"},
      {{"com.microsoft.DynamicQuantizeMatMul", "com.microsoft.MatMulIntegerToFloat"},
       "DynamicQuantizeLinear, MatMulInteger, Cast, Mul, Add: DynamicRange, DynamicQuantize, IntegerConv2D",
       "8-bit integers"},
      {{"com.microsoft.FusedConv", "com.microsoft.FusedGemm", "com.microsoft.FusedMatMul",
        "com.microsoft.TransposeMatMul"},
       "Conv, Gemm or MatMul, and the activation",
       "Relu, Tanh, Sigmoid, LeakyRelu, HardSigmoid, Clip and others of ONNX Runtime"},
      {{"com.microsoft.Gelu", "com.microsoft.BiasGelu", "com.microsoft.FastGelu", "com.microsoft.QuickGelu",
        "com.microsoft.Trilu", "com.microsoft.GridSample"},
       "the operators of ONNX",
       ""},
      {{"com.microsoft.SkipLayerNormalization", "com.microsoft.SkipSimplifiedLayerNormalization",
        "com.microsoft.SimplifiedLayerNormalization", "SimplifiedLayerNormalization",
        "com.microsoft.EmbedLayerNormalization"},
       "Add, Gather, LayerNormalization, RMSNormalization",
       "every result but the mean of the form without means"},
      {{"Attention", "com.microsoft.Attention", "com.microsoft.MultiHeadAttention"},
       "MatMul, Softmax, and what masks add",
       "masks of every form, a past, shared heads, windows; caches that share their memory are not read"},
      {{"RotaryEmbedding", "com.microsoft.RotaryEmbedding", "CausalConvWithState", "SwiGLU", "CumProd", "CenterCropPad",
        "LpPool", "GlobalLpPool"},
       "Slice, Mul, Add, Conv, Pad and the like",
       "CumProd along at most 1024 elements"},
      {{"com.microsoft.MatMulNBits", "com.microsoft.DynamicQuantizeLSTM"},
       "MatMul, LSTM",
       "weights of 2, 4 and 8 bits are widened: nearer to the float network than ONNX Runtime, where that rounds what "
       "it multiplies them with"},
      {{"ImageScaler", "Affine", "Scale", "ScaledTanh", "ParametricSoftplus", "Crop", "DynamicSlice"},
       "Mul, Add, Slice",
       "experimental operators of opsets 1 to 6"},
      {{"Det", "com.microsoft.Inverse"}, "MatrixFunction", "float32, at most 16 rows; any batch"},
      {{"Einsum"},
       "FullyConnected, MatMul, or Binary and Reduce",
       "any number of inputs, ellipses, diagonals; float32"},
      {{"BatchNormalization"},
       "folded into the layer before, else Mul and Add",
       "constant or computed scale, bias and statistics, or those of its input (training_mode)"},
      {{"MaxPool", "AveragePool"},
       "Pool2D; Compare and Select for the indices",
       "one to three spatial axes, ceil_mode, count_include_pad, dilations, auto_pad; with indices at most 256 taps"},
      {{"MaxUnpool"}, "Scatter", "any type; indices outside are clamped and raise a flag"},
      {{"GlobalAveragePool", "GlobalMaxPool", "ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd",
        "ReduceSumSquare"},
       "Reduce; Arithmetic on int32 and int64",
       "constant axes; ReduceMax and ReduceMin of any type but float16"},
      {{"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp"},
       "Reduce and Unary",
       "constant axes, float32; ReduceL1 of int32 and int64"},
      {{"ArgMax", "ArgMin"}, "ArgReduce", "float32, int32, int64, uint8, int8; select_last_index"},
      {{"TopK"}, "TopK, GatherElements", "float32, int32, int64; constant k; results are always sorted"},
      {{"Add", "Sub", "Mul", "Div"},
       "Binary, or the epilogue of the layer before; Arithmetic on int32 and int64",
       "full broadcasting; integers wrap, division by zero gives 0 and raises a flag"},
      {{"Min", "Max"},
       "Binary, or the epilogue of the layer before; Arithmetic on int32 and int64; Compare and Select on int8, uint8 "
       "and int16",
       "any number of inputs, full broadcasting"},
      {{"Sum", "Mean", "PRelu"}, "Binary, or the epilogue of the layer before", "full broadcasting, float32"},
      {{"Pow"},
       "Binary, or the epilogue of the layer before; Arithmetic on int32 and int64",
       "full broadcasting; integers by computed float32 in single precision; 0 to a negative integer raises a flag"},
      {{"Mod"}, "Binary; Arithmetic on int32 and int64", "fmod 0 and 1, exact"},
      {{"Atan2"}, "Binary", "no operator of ONNX: what ATAN2 of TensorFlow Lite becomes; float32"},
      {{"Relu", "Clip", "LeakyRelu", "Elu",  "Sigmoid",    "HardSigmoid", "HardSwish", "Tanh",  "Softplus", "Gelu",
        "Erf",  "Exp",  "Log",       "Sqrt", "Reciprocal", "Floor",       "Ceil",      "Round", "Sin",      "Cos",
        "Asin", "Acos", "Atan",      "Sinh", "Cosh",       "Asinh",       "Acosh",     "Atanh"},
       "Unary, or the epilogue of the layer before",
       "Relu and Clip of integers too; x Sigmoid(x), x HardSigmoid(x) and x / 2 (1 + Erf(x / sqrt 2)) are recognised"},
      {{"Neg", "Abs", "Sign"}, "Unary; Arithmetic on int32 and int64", ""},
      {{"Selu", "Celu", "Mish", "Swish", "Softsign", "Tan"}, "Unary and Binary", "float32"},
      {{"ThresholdedRelu", "Shrink"}, "Compare and Select", "float32"},
      {{"Softmax", "LogSoftmax"}, "Softmax", "any axis, both opset meanings"},
      {{"Hardmax"}, "ArgReduce, Compare and Cast", "any axis, both opset meanings"},
      {{"LayerNormalization", "RMSNormalization"},
       "LayerNormalization; Mul and Add of what is computed",
       "constant or computed scale and bias; recognised along any one axis where means, squares and a root spell it "
       "out"},
      {{"InstanceNormalization", "GroupNormalization", "MeanVarianceNormalization", "LpNormalization"},
       "Reduce, Unary and Binary",
       "constant or computed scale and bias; p 1 or 2; groups between two reshapes are recognised"},
      {{"LRN"}, "LocalResponseNormalization", "any size"},
      {{"LSTM", "GRU", "RNN"},
       "FullyConnected and Recurrent",
       "all attributes, clip of gates alone as in ONNX Runtime; constant weights; sequence_lens may be data: lengths "
       "outside "
       "are clamped and raise a flag"},
      {{"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}, "Compare", "any type but float16"},
      {{"And", "Or", "Xor", "Not", "BitwiseAnd", "BitwiseOr", "BitwiseXor"}, "Arithmetic", "bool, int32, int64"},
      {{"Where"}, "Select", "any type"},
      {{"Cast", "CastLike"},
       "Cast",
       "float32, bool and integers up to int64; floats lose their fraction and saturate; no float16, no narrow "
       "integers"},
      {{"Gather", "GatherElements"},
       "Gather, GatherElements; a slice where the index is one constant",
       "any type; indices outside are clamped and raise a flag"},
      {{"GatherND"}, "Gather", "any type; batch_dims; indices outside are clamped and raise a flag"},
      {{"Scatter", "ScatterElements", "ScatterND"},
       "Scatter; Gather from the data and the updates where indices are constant",
       "any type; every reduction but of booleans, updates of one element in their order; indices outside are clamped "
       "and "
       "raise a flag"},
      {{"NonZero", "Compress"},
       "Compare and Scatter",
       "at most 2^24 elements; as many results as there can be at most, those not needed are -1 (NonZero) or 0; an "
       "output NAME.count says how many there are; what may be behind: docs/reference/options.md"},
      {{"Unique"},
       "TopK, FullyConnected and Scatter",
       "float32, int32, int64; every output, sorted and not, along an axis too, where pairs of slices have at most "
       "2^22 "
       "elements; bounded and counted as NonZero, indices not needed are -1"},
      {{"Range"},
       "Arithmetic or Binary, and Select",
       "float32, int32, int64; with data a length of the file, at most as long as --bound says: what would be behind "
       "the bound is left out and raises a flag; NAME.count says how long it is"},
      {{"Col2Im"}, "Scatter", "float32; constant shapes"},
      {{"CumSum"}, "Binary, Arithmetic and Copy", "float32, int32, int64; constant axis"},
      {{"Trilu"}, "Select", "any type, constant k; the last axis is no length"},
      {{"ReverseSequence"}, "views, or Copy", "any type; constant lengths, equal for the whole batch"},
      {{"IsNaN", "IsInf"}, "Compare", "float32"},
      {{"GridSample"},
       "Gather, Unary and Binary",
       "images and volumes; nearest, linear, cubic of images; every padding; at most 2^24 pixels"},
      {{"RoiAlign"},
       "Gather, Binary and Reduce",
       "avg and max, both coordinate modes, any spatial_scale; sampling_ratio of 1 or more"},
      {{"DeformConv"},
       "SampleImage, Binary and MatMul",
       "images of at most 2^22 rows and columns; any stride, dilation, padding, group, offset_group, mask; constant or "
       "computed weights"},
      {{"AffineGrid"}, "FullyConnected", "images and volumes, constant size"},
      {{"DFT", "STFT"},
       "FullyConnected, Conv2D",
       "a constant window and lengths; real and complex numbers; frames up to 65535"},
      {{"OneHot"}, "Compare and Select", "int32 and int64 indices, constant depth"},
      {{"NonMaxSuppression"},
       "NonMaxSuppression",
       "any number of images and classes; the score threshold may be computed, other limits are constant; bounded and "
       "counted as NonZero, rows not needed are -1"},
      {{"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"},
       "Random",
       "float32; the game seeds the session, the attribute seed is not read"},
      {{"ai.onnx.ml.TreeEnsembleRegressor", "ai.onnx.ml.TreeEnsemble"},
       "TreeEnsemble",
       "float32 thresholds and weights; every node mode, sets too; every aggregate function; no "
       "post_transform"},
      {{"ai.onnx.ml.TreeEnsembleClassifier"},
       "TreeEnsemble; ArgReduce and Gather, or Compare and Select, for the label",
       "labels are integers, or positions of strings that are labels of the output; post_transform NONE, LOGISTIC, "
       "SOFTMAX; what runtimes do differently is refused"},
      {{"ai.onnx.ml.LinearClassifier", "ai.onnx.ml.LinearRegressor"},
       "FullyConnected; ArgReduce and Gather for the label",
       "labels as above; two classes or more, with one score where post_transform is LOGISTIC; post_transform NONE, "
       "LOGISTIC, SOFTMAX"},
      {{"ai.onnx.ml.Scaler", "ai.onnx.ml.Normalizer"}, "Binary; Reduce, Select and Binary", "one or two dimensions"},
      {{"ConcatFromSequence", "SequenceAt", "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert",
        "SequenceLength", "SequenceMap", "SplitToSequence"},
       "Split, Concat, and the tensors themselves",
       "positions and lengths that are known at conversion; no inputs and outputs"},
      {{"ai.onnx.ml.SVMClassifier", "ai.onnx.ml.SVMRegressor"},
       "Gemm, or Sub, ReduceSumSquare and Exp; Greater, Gemm and ArgMax for the label",
       "every kernel; labels as above; probabilities of at most 32 classes, in rounds of arithmetic"},
      {{"ai.onnx.ml.ArrayFeatureExtractor", "ai.onnx.ml.Binarizer", "ai.onnx.ml.FeatureVectorizer",
        "ai.onnx.ml.Imputer"},
       "Gather; Greater and Cast; Concat; Equal or IsNaN, and Where",
       "float32 and integers"},
      {{"ai.onnx.ml.CategoryMapper", "ai.onnx.ml.LabelEncoder", "ai.onnx.ml.OneHotEncoder"},
       "Equal, Where, ArgMax and Gather; comparisons and Gather where keys follow each other; Equal and Cast",
       "integers and floats; strings that are constants of the model or labels, as positions"},
      {{"ai.onnx.ml.ZipMap"}, "nothing", "its result is its input, whose labels are the keys"},
      {{"com.microsoft.CDist"}, "Sub, ReduceSumSquare, Sqrt", "euclidean and sqeuclidean"},
      {{"Multinomial", "Bernoulli"},
       "Random, with Binary and ArgReduce or Compare",
       "float32 logits or probabilities; each row samples its own numbers"},
      {{"Concat", "Split", "Slice"}, "views; Copy where a view cannot be", "any type; negative steps too"},
      {{"Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Expand", "Identity", "Dropout"},
       "views; Copy where strides cannot express it",
       "any type"},
      {{"Tile"}, "Copy", "any type, constant repeats"},
      {{"DepthToSpace", "SpaceToDepth"}, "Copy", "DCR and CRD"},
      {{"Pad"},
       "into the convolution after it; else Copy and Fill",
       "any type but float16; constant, reflect, edge, wrap; negative pads crop"},
      {{"Resize", "Upsample"},
       "Resize2D",
       "nearest, linear, cubic, antialias; every coordinate and nearest mode, with the pixels that ONNX Runtime picks; "
       "any axes; of 8- and 16-bit integers linear ones lose their fraction, and may be a step off where the exact "
       "result is whole; channels are no length"},
  };
  return table;
}

const std::vector<operator_support>& supported_tflite_operators() {
  static const std::vector<operator_support> table = {
      {{"CONV_2D", "DEPTHWISE_CONV_2D"}, "Conv", "any stride, dilation, depth multiplier, padding; groups"},
      {{"TRANSPOSE_CONV", "Convolution2DTransposeBias"}, "ConvTranspose", "constant output shape"},
      {{"CONV_3D", "CONV_3D_TRANSPOSE"}, "Conv, ConvTranspose", "float32; constant output shape"},
      {{"FULLY_CONNECTED", "BATCH_MATMUL"}, "Gemm, MatMul", "keep_num_dims; no shuffled weights"},
      {{"AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"}, "AveragePool, MaxPool; Mul and Sqrt", ""},
      {{"REDUCE_WINDOW"},
       "Slice, and Add, Mul, Min, Max, And or Or of the slices",
       "constant windows, strides and dilations; sides up to 1024"},
      {{"MaxPoolingWithArgmax2D", "MaxUnpooling2D"},
       "ReduceMax and ArgMax; Equal and Where",
       "windows that tile the image"},
      {{"RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"},
       "Resize, or Gather where single precision picks other pixels",
       "align_corners, half_pixel_centers; constant size"},
      {{"PAD", "PADV2", "MIRROR_PAD"}, "Pad, Gather", "constant paddings"},
      {{"DILATE", "STABLEHLO_PAD"}, "Concat, Reshape, Slice", "constant dilations; edges below 0 crop"},
      {{"DEPTH_TO_SPACE", "SPACE_TO_DEPTH"}, "DepthToSpace, SpaceToDepth", ""},
      {{"SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND"}, "Pad, Reshape, Transpose, Slice", "constant blocks"},
      {{"RELU",     "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1", "LEAKY_RELU", "PRELU", "ELU",   "GELU",
        "LOGISTIC", "TANH",  "HARD_SWISH",   "EXP",         "LOG",        "SQRT",  "RSQRT", "SQUARE",
        "FLOOR",    "CEIL",  "ROUND",        "NEG",         "ABS",        "SIGN"},
       "the operators of that name, Sqrt and Reciprocal, Mul, Clip",
       ""},
      {{"ADD", "SUB", "MUL", "DIV", "MAXIMUM", "MINIMUM", "POW", "SQUARED_DIFFERENCE", "FLOOR_DIV", "FLOOR_MOD",
        "ADD_N"},
       "the operators of that name",
       "fused activations; FLOOR_DIV and FLOOR_MOD of integers and floats"},
      {{"STABLEHLO_ADD", "STABLEHLO_MULTIPLY", "STABLEHLO_MAXIMUM", "STABLEHLO_MINIMUM"},
       "Add, Mul, Max, Min",
       "those of StableHLO that LiteRT runs; no stored integers"},
      {{"BITWISE_XOR", "RIGHT_SHIFT"}, "BitwiseXor; Mod, Sub and Div", "int32; constant shifts"},
      {{"EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "LOGICAL_AND", "LOGICAL_OR",
        "LOGICAL_NOT", "SELECT", "SELECT_V2"},
       "comparisons, logic, Where",
       ""},
      {{"SOFTMAX", "LOG_SOFTMAX", "L2_NORMALIZATION", "LOCAL_RESPONSE_NORMALIZATION"},
       "Softmax, LogSoftmax, ReduceL2 and Div, LRN",
       ""},
      {{"MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "REDUCE_ANY", "REDUCE_ALL", "ARG_MAX", "ARG_MIN",
        "TOPK_V2"},
       "reductions, ArgMax, ArgMin, TopK",
       "constant axes and k"},
      {{"RESHAPE", "SQUEEZE", "EXPAND_DIMS", "TRANSPOSE", "CONCATENATION", "SPLIT", "SPLIT_V", "SLICE", "STRIDED_SLICE",
        "PACK", "UNPACK", "TILE", "BROADCAST_TO", "REVERSE_V2"},
       "the operators of that name",
       "constant shapes, axes and positions"},
      {{"GATHER", "EMBEDDING_LOOKUP", "ONE_HOT", "CAST"}, "Gather, GatherElements, OneHot, Cast", "batch_dims"},
      {{"DYNAMIC_UPDATE_SLICE"},
       "ScatterND; Slice and Concat where it begins at a constant place along one axis",
       "what would reach outside moves inwards, as in LiteRT"},
      {{"SCATTER_ND", "SPARSE_TO_DENSE", "SEGMENT_SUM", "UNSORTED_SEGMENT_SUM", "UNSORTED_SEGMENT_PROD",
        "UNSORTED_SEGMENT_MAX", "UNSORTED_SEGMENT_MIN"},
       "ScatterND",
       "constant shapes; SCATTER_ND adds what one place is given; constant segments of SEGMENT_SUM; rows of negative "
       "segments are left out"},
      {{"MATRIX_DIAG", "MATRIX_SET_DIAG"}, "Where", ""},
      {{"BUCKETIZE"}, "Less, Not and ReduceSum", "boundaries in order"},
      {{"STABLEHLO_GATHER"}, "Min, Max, Mul, Add and Gather", "slices that would reach outside move inwards"},
      {{"QUANTIZE", "DEQUANTIZE", "DENSIFY"},
       "QuantizeLinear, DequantizeLinear; constants are widened and spread at conversion",
       ""},
      {{"SHAPE", "RANK", "RANGE", "FILL", "ZEROS_LIKE", "BROADCAST_ARGS"}, "constants", "constant inputs"},
      {{"RFFT2D", "COMPLEX_ABS", "REAL", "IMAG"},
       "DFT, Mul, Add, Sqrt",
       "constant lengths; complex numbers are moved and taken apart, not computed with"},
      {{"SIN", "COS", "ATAN2", "CUMSUM", "GATHER_ND", "REVERSE_SEQUENCE"},
       "the operators of that name",
       "constant lengths, equal for the whole batch"},
      {{"Landmarks2TransformMatrix", "TransformLandmarks", "TransformTensorBilinear"},
       "arithmetic, Gather",
       "their version 2"},
      {{"NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5"}, "NonMaxSuppression", "constant limits; not softened"},
      {{"TFLite_Detection_PostProcess"},
       "NonMaxSuppression, Gather, TopK",
       "one class per detection; both kinds of suppression"},
      {{"LSTM", "UNIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_LSTM"},
       "LSTM and a state; one time step at a time with a projection, normalised gates, quantised states or RELU6",
       "peepholes, coupled gates, limits, auxiliary inputs, both kernels; UNIDIRECTIONAL_SEQUENCE_LSTM on stored "
       "integers, int8 with a cell of int16, in LiteRT's roundings, without normalised gates; 256 time steps where "
       "they "
       "are spelled out"},
      {{"RNN", "UNIDIRECTIONAL_SEQUENCE_RNN", "BIDIRECTIONAL_SEQUENCE_RNN"},
       "RNN and a state; one time step at a time with RELU6 or RELU_N1_TO_1",
       "float32, weights of int8 too; an auxiliary input of the input's size"},
      {{"SVDF"}, "MatMul, Mul, ReduceSum and a state", "float32; int8 with a state of int16, in LiteRT's roundings"},
      {{"VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE", "CALL_ONCE"},
       "states, with the initial values that CALL_ONCE gives",
       "types and shapes that stay; stored integers too"},
      {{"RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL", "MULTINOMIAL"},
       "RandomUniform, RandomNormal, Multinomial",
       "float32; constant shapes; the game seeds the session, seeds of the file are not read"},
      {{"IF", "CALL"}, "the branch, or both and Where; the graph", ""},
      {{"STABLEHLO_COMPOSITE"}, "its decomposition, which is a subgraph of the file", "whatever its name"},
      {{"WHILE"}, "its bodies, one after the other", "4096 iterations; data may end it before"}};
  return table;
}

std::vector<std::string> folded_operators() {
  const std::vector<std::string> imported = operators_with_rules();
  std::vector<std::string> names;
  std::set<std::string> told(imported.begin(), imported.end());  // and what others spell before a rule is asked
  for (const operator_support& row : supported_operators()) told.insert(row.operators.begin(), row.operators.end());
  for (const auto& entry : reference::operators()) {
    const bool standard = entry.first.find('.') == std::string::npos;
    if (standard && told.count(entry.first) == 0) names.push_back(entry.first);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string operators_page() {
  const auto list = [](const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
  };
  const auto table = [&](const std::vector<operator_support>& rows) {
    std::string text;
    for (const operator_support& row : rows)
      text += "| " + list(row.operators) + " | " + row.becomes + " | " + row.limits + " |\n";
    return text;
  };
  std::string page =
      "# Operators that import\n\n"
      "Written by `nsk operators`; a test compares. ONNX, default domain, every opset up to 28.\n"
      "\n"
      "- What depends on constants and shapes alone is folded at conversion by the reference evaluator and needs no "
      "kernel.\n"
      "- `If` with a known condition disappears; with another one the side that is chosen is computed.\n"
      "- `Loop` and `Scan` are unrolled, as often as they can run; functions of the model are inlined.\n"
      "- Any axis of an input may be a [length](../guide/lengths.md), but for those that weights fix. Four at once are "
      "too many where axes are joined, as in Transpose.\n"
      "\n"
      "| ONNX operator | becomes | what there is, and limits |\n| --- | --- | --- |\n";
  page += table(supported_operators());
  page +=
      "\n"
      "## Folded only\n"
      "\n"
      "The reference evaluator knows these. They disappear where their inputs are constants or shapes; on data they "
      "are refused:\n" +
      list(folded_operators()) +
      ".\n\n"
      "With `--dequantize`, operators of stored integers (QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear, "
      "MatMulInteger, ConvInteger,\n"
      "QLinearMatMul, QLinearConv) become Clip, MatMul and Conv in float32. Scales and zero points are constants, one "
      "or one per position of an axis.\n"
      "\n"
      "Anything else is refused at conversion with the node's name, operator, opset and shapes, and what would "
      "help.\n\n"
      "## TensorFlow Lite\n"
      "\n"
      "The first subgraph of a .tflite file, or that of `--signature`. Operators become those of the table above, with "
      "its limits.\n"
      "\n"
      "- Float16, bfloat16 and sparse constants are widened at conversion, and integer weights for float32 activations "
      "(dynamic range).\n"
      "- Quantised models compute their integers.\n"
      "- What lasts from run to run becomes states.\n"
      "\n"
      "| TensorFlow Lite operator | becomes | what there is, and limits |\n| --- | --- | --- |\n";
  page += table(supported_tflite_operators());
  return page;
}

}
