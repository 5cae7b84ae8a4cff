# SPDX-License-Identifier: MIT
"""Small TensorFlow Lite models of every kind of operator."""
import pathlib
import random as pyrandom
import sys

import numpy as np

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / folder) for folder in ("models/support", "models/tflite", "differential")]
import quantized_seeds  # noqa: E402
import tflite_flow  # noqa: E402
import tflite_hybrid  # noqa: E402
import tflite_layers  # noqa: E402
import tflite_metadata  # noqa: E402
import tflite_quantised_layers  # noqa: E402
import tflite_signals  # noqa: E402
import tflite_streams  # noqa: E402
import tflite_weights  # noqa: E402
import tflite_update_seeds  # noqa: E402
from tflite_writer import Writer  # noqa: E402

random = np.random.default_rng(3)


def floats(*shape):
    return random.standard_normal(shape).astype(np.float32)


def tflite(ops):
    """ops(w, x, constant, emit) -> outputs, on one image [1, 6, 6, 4]."""
    w = Writer()
    x = w.tensor("x", [1, 6, 6, 4], np.float32)

    def constant(values, dtype=np.float32):
        data = np.asarray(values, dtype)
        return w.tensor(f"c{len(w.graph.tensors)}", data.shape, dtype, data)

    def emit(name, inputs, shape, options=None, dtype=np.float32, custom=None):
        y = w.tensor(f"y{len(w.graph.tensors)}", shape, dtype)
        w.operator(name, inputs, [y], options, custom)
        return y

    return w.finish([x], ops(w, x, constant, emit))


def models():
    """Yields (name, bytes of the model)."""
    def single(name, *read, shape=(1, 6, 6, 4), options=None, dtype=np.float32, types=(), custom=None):
        def build(w, x, constant, emit):
            kinds = list(types) + [np.float32] * len(read)
            return [emit(name, [x, *(constant(r, k) for r, k in zip(read, kinds))], shape, options, dtype, custom)]
        return name, tflite(build)

    i32 = (np.int32, np.int32, np.int32)
    for op in ("RELU", "RELU6", "LOGISTIC", "TANH", "HARD_SWISH", "ELU", "EXP", "SQRT", "RSQRT", "SQUARE", "FLOOR", "NEG", "ABS", "RELU_0_TO_1", "SIGN", "ROUND"):
        yield single(op)
    for op in ("ADD", "SUB", "MUL", "DIV"):
        yield single(op, floats(4), options=(f"{op.capitalize()}Options", {"fusedActivationFunction": 1}))
    for op in ("MAXIMUM", "MINIMUM", "POW", "SQUARED_DIFFERENCE", "FLOOR_DIV", "PRELU"):
        yield single(op, floats(1, 1, 4) if op == "PRELU" else floats(4))
    yield single("GREATER", floats(4), dtype=np.bool_)
    yield single("LEAKY_RELU", options=("LeakyReluOptions", {"alpha": 0.1}))
    yield single("GELU", options=("GeluOptions", {"approximate": True}))
    conv = {"strideW": 1, "strideH": 1, "dilationWFactor": 1, "dilationHFactor": 1}
    yield single("CONV_2D", floats(2, 3, 3, 4), floats(2), shape=(1, 6, 6, 2), options=("Conv2DOptions", conv))
    yield single("DEPTHWISE_CONV_2D", floats(1, 3, 3, 8), floats(8), shape=(1, 6, 6, 8), options=("DepthwiseConv2DOptions", {**conv, "depthMultiplier": 2}))
    for op in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
        yield single(op, shape=(1, 3, 3, 4), options=("Pool2DOptions", {"strideW": 2, "strideH": 2, "filterWidth": 2, "filterHeight": 2}))
    yield single("RESIZE_BILINEAR", [12, 9], shape=(1, 12, 9, 4), types=i32, options=("ResizeBilinearOptions", {"halfPixelCenters": True}))
    yield single("RESIZE_NEAREST_NEIGHBOR", [12, 9], shape=(1, 12, 9, 4), types=i32, options=("ResizeNearestNeighborOptions", {"alignCorners": True}))
    yield single("PAD", [[0, 0], [1, 2], [0, 1], [0, 0]], shape=(1, 9, 7, 4), types=i32)
    yield single("MIRROR_PAD", [[0, 0], [1, 2], [0, 1], [0, 0]], shape=(1, 9, 7, 4), types=i32, options=("MirrorPadOptions", {"mode": 0}))
    yield single("DEPTH_TO_SPACE", shape=(1, 12, 12, 1), options=("DepthToSpaceOptions", {"blockSize": 2}))
    yield single("SPACE_TO_DEPTH", shape=(1, 3, 3, 16), options=("SpaceToDepthOptions", {"blockSize": 2}))
    yield single("SPACE_TO_BATCH_ND", [2, 2], [[0, 0], [0, 0]], shape=(4, 3, 3, 4), types=i32)
    yield single("LOCAL_RESPONSE_NORMALIZATION", options=("LocalResponseNormalizationOptions", {"radius": 1, "bias": 1.0, "alpha": 0.5, "beta": 0.5}))
    yield single("FULLY_CONNECTED", floats(3, 144), floats(3), shape=(1, 3), options=("FullyConnectedOptions", {}))
    yield single("SOFTMAX", options=("SoftmaxOptions", {"beta": 2.0}))
    yield single("LOG_SOFTMAX")
    yield single("L2_NORMALIZATION", options=("L2NormOptions", {}))
    for op in ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_PROD"):
        yield single(op, [1, 2], shape=(1, 4), types=i32, options=("ReducerOptions", {"keepDims": False}))
    yield single("ARG_MAX", np.int32(3), shape=(1, 6, 6), types=i32, dtype=np.int32)
    yield single("RESHAPE", [6, -1], shape=(6, 24), types=i32, options=("ReshapeOptions", {"newShape": [6, 24]}))
    yield single("SQUEEZE", shape=(6, 6, 4), options=("SqueezeOptions", {"squeezeDims": [0]}))
    yield single("EXPAND_DIMS", np.int32(1), shape=(1, 1, 6, 6, 4), types=i32)
    yield single("TRANSPOSE", [0, 3, 1, 2], shape=(1, 4, 6, 6), types=i32)
    yield single("CONCATENATION", floats(1, 6, 6, 2), shape=(1, 6, 6, 6), options=("ConcatenationOptions", {"axis": 3}))
    yield single("SLICE", [0, 1, 0, 0], [1, 2, -1, 4], shape=(1, 2, 6, 4), types=i32)
    yield single("STRIDED_SLICE", [0, 1, 0, 0], [1, 5, 6, 1], [1, 2, 1, 1], shape=(1, 2, 6), types=i32, options=("StridedSliceOptions", {"shrinkAxisMask": 8}))
    yield single("PACK", floats(1, 6, 6, 4), shape=(2, 1, 6, 6, 4), options=("PackOptions", {"axis": 0}))
    yield single("TILE", [1, 2, 1, 1], shape=(1, 12, 6, 4), types=i32)
    yield single("BROADCAST_TO", [2, 6, 6, 4], shape=(2, 6, 6, 4), types=i32)
    yield single("REVERSE_V2", [1], types=i32)
    yield single("GATHER", [3, 0], shape=(1, 6, 6, 2), types=i32, options=("GatherOptions", {"axis": 3}))
    yield single("CAST", dtype=np.int32, options=("CastOptions", {}))
    yield single("SHAPE", shape=(4,), dtype=np.int32, options=("ShapeOptions", {}))
    yield single("ZEROS_LIKE")
    yield single("BATCH_MATMUL", floats(1, 6, 4, 3), shape=(1, 6, 6, 3), options=("BatchMatMulOptions", {}))
    packed = np.int32([2, 2, 2, 2, 2, 0]).tobytes()
    yield "unpooled", tflite(lambda w, x, c, e: unpooled(w, x, packed))
    yield "split", tflite(split)
    yield "top", tflite(top)
    yield "folded", tflite(folded_tflite)
    yield "quantised", quantised()
    yield "sparse", sparse()
    yield "chain", tflite(chain)
    yield "detections", detections()
    yield "suppression", suppression()
    yield "described", tflite_metadata.model(tflite_metadata.table_of(tflite_metadata.described()), tflite_metadata.archive(tflite_metadata.PACKED))
    for make in tflite_layers.LAYERS:
        for seed in (0, 5):
            yield f"{make.__name__}{seed}", make(seed)[1]
    for make in tflite_flow.MODELS:
        yield make.__name__, make()
    for name, make in tflite_signals.CASES.items():
        yield name.replace(" ", "_"), make()[0]
    yield from stored_models()
    yield from tflite_update_seeds.models()
    yield from quantized_seeds.tflite_models()


def stored_models():
    """Integer weights for floats, biases of another scale, weights of four bits, and layers and streams of stored integers."""
    for make in tflite_layers.LAYERS:
        made = tflite_hybrid.stored_weights(make(1)[1], pyrandom.Random(1))
        if made is not None:
            yield f"dynamic_{make.__name__}", made[0]
    for op in tflite_weights.LAYERS:
        content, _ = tflite_weights.model(op, np.int8, 2.0, True, 1)
        yield f"odd_bias_{op.lower()}", content
        yield f"four_bits_{op.lower()}", tflite_weights.in_four_bits(content)
    for seed in (1, 4):
        yield f"stored_lstm{seed}", tflite_quantised_layers.lstm(seed).content
        yield f"stored_filter{seed}", tflite_quantised_layers.svdf(seed).content
        yield f"stream{seed}", tflite_streams.stream(seed).content


def unpooled(w, x, packed):
    largest, places, y = (w.tensor(n, s, np.float32) for n, s in (("largest", [1, 3, 3, 4]), ("places", [1, 3, 3, 4]), ("y", [1, 6, 6, 4])))
    w.operator("MaxPoolingWithArgmax2D", [x], [largest, places], custom_options=packed)
    w.operator("MaxUnpooling2D", [largest, places], [y], custom_options=packed)
    return [y]


def split(w, x, constant, emit):
    parts = [w.tensor(f"p{i}", [1, 6, 6, 2], np.float32) for i in range(2)]
    w.operator("SPLIT", [constant(3, np.int32), x], parts, ("SplitOptions", {"numSplits": 2}))
    rows = [w.tensor(f"r{i}", [1, 6, 2], np.float32) for i in range(6)]
    w.operator("UNPACK", [parts[0]], rows, ("UnpackOptions", {"num": 6, "axis": 1}))
    return [parts[1], rows[5]]


def top(w, x, constant, emit):
    best, places = w.tensor("best", [1, 6, 6, 2], np.float32), w.tensor("places", [1, 6, 6, 2], np.int32)
    w.operator("TOPK_V2", [x, constant(2, np.int32)], [best, places], ("TopKV2Options", {}))
    hot = emit("ONE_HOT", [places, constant(4, np.int32), constant(1.0), constant(0.0)], [1, 6, 6, 2, 4], ("OneHotOptions", {"axis": -1}))
    return [best, hot]


def folded_tflite(w, x, constant, emit):
    numbers = emit("RANGE", [constant(0, np.int32), constant(4, np.int32), constant(1, np.int32)], [4], ("RangeOptions", {}), np.int32)
    filled = emit("FILL", [constant([4], np.int32), constant(3, np.int32)], [4], ("FillOptions", {}), np.int32)
    product = emit("MUL", [numbers, filled], [4], ("MulOptions", {}), np.int32)
    sums = emit("CUMSUM", [product, constant(0, np.int32)], [4], ("CumsumOptions", {}), np.int32)
    return [emit("ADD", [x, emit("CAST", [sums], [4], ("CastOptions", {}))], [1, 6, 6, 4], ("AddOptions", {}))]


def chain(w, x, constant, emit):
    conv = {"strideW": 1, "strideH": 1, "dilationWFactor": 1, "dilationHFactor": 1, "fusedActivationFunction": 1}
    c = emit("CONV_2D", [x, constant(floats(4, 1, 1, 4)), constant(floats(4))], [1, 6, 6, 4], ("Conv2DOptions", conv))
    s = emit("ADD", [c, x], [1, 6, 6, 4], ("AddOptions", {}))
    m = emit("MEAN", [s, constant([1, 2], np.int32)], [1, 4], ("ReducerOptions", {"keepDims": False}))
    return [emit("FULLY_CONNECTED", [m, constant(floats(3, 4)), -1], [1, 3], ("FullyConnectedOptions", {}))]


def quantised():
    w = Writer()

    def scaled(t, scales, zeros, axis=0):
        q = w.schema.QuantizationParametersT()
        q.scale, q.zeroPoint, q.quantizedDimension = scales, zeros, axis
        w.graph.tensors[t].quantization = q
        return t

    x, y = (scaled(w.tensor(n, s, np.int8), [0.5], [3]) for n, s in (("x", [1, 4, 4, 2]), ("y", [1, 4, 4, 3])))
    k = scaled(w.tensor("k", [3, 1, 1, 2], np.int8, np.int8([[[[1, 2]]], [[[3, 4]]], [[[5, 6]]]])), [0.1, 0.2, 0.3], [0, 0, 0])
    b = scaled(w.tensor("b", [3], np.int32, np.int32([1, 2, 3])), [0.05, 0.1, 0.15], [0, 0, 0])
    w.operator("CONV_2D", [x, k, b], [y], ("Conv2DOptions", {"strideW": 1, "strideH": 1, "dilationWFactor": 1, "dilationHFactor": 1}))
    return w.finish([x], [y])


def sparse():
    w = Writer()
    x, y = w.tensor("x", [1, 4], np.float32), w.tensor("y", [1, 4], np.float32)
    k = w.tensor("k", [4, 4], np.float32, np.float32([1, 2, 3]))
    s = w.schema.SparsityParametersT()
    s.traversalOrder, s.blockMap = [0, 1], []
    rows, columns = w.schema.DimensionMetadataT(), w.schema.DimensionMetadataT()
    rows.format, rows.denseSize = w.schema.DimensionType.DENSE, 4
    columns.format = w.schema.DimensionType.SPARSE_CSR
    columns.arraySegmentsType = columns.arrayIndicesType = w.schema.SparseIndexVector.Uint8Vector
    columns.arraySegments, columns.arrayIndices = w.schema.Uint8VectorT(), w.schema.Uint8VectorT()
    columns.arraySegments.values, columns.arrayIndices.values = [0, 1, 1, 2, 3], [0, 3, 1]
    s.dimMetadata = [rows, columns]
    w.graph.tensors[k].sparsity = s
    dense = w.tensor("d", [4, 4], np.float32)
    w.operator("DENSIFY", [k], [dense], ("DensifyOptions", {}))
    w.operator("FULLY_CONNECTED", [x, dense, -1], [y], ("FullyConnectedOptions", {}))
    return w.finish([x], [y])


def detections():
    from flatbuffers import flexbuffers
    w = Writer()
    boxes, scores = w.tensor("boxes", [1, 5, 4], np.float32), w.tensor("scores", [1, 5, 3], np.float32)
    anchors = w.tensor("anchors", [5, 4], np.float32, np.abs(floats(5, 4)))
    outputs = [w.tensor(n, s, np.float32) for n, s in (("b", [1, 3, 4]), ("c", [1, 3]), ("s", [1, 3]), ("n", [1]))]
    options = {"num_classes": 2, "max_detections": 3, "max_classes_per_detection": 1, "detections_per_class": 2, "use_regular_nms": True, "nms_iou_threshold": 0.5,
               "nms_score_threshold": 0.1, "y_scale": 10.0, "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0}
    w.operator("TFLite_Detection_PostProcess", [boxes, scores, anchors], outputs, custom_options=bytes(flexbuffers.Dumps(options)))
    return w.finish([boxes, scores], outputs)


def suppression():
    w = Writer()
    boxes, scores = w.tensor("boxes", [5, 4], np.float32), w.tensor("scores", [5], np.float32)
    given = [w.tensor(n, [], t, np.array(v, t)) for n, v, t in (("m", 3, np.int32), ("o", 0.5, np.float32), ("l", 0.1, np.float32))]
    picked, count = w.tensor("picked", [3], np.int32), w.tensor("count", [], np.int32)
    w.operator("NON_MAX_SUPPRESSION_V4", [boxes, scores, *given], [picked, count], ("NonMaxSuppressionV4Options", {}))
    return w.finish([boxes, scores], [picked, count])
