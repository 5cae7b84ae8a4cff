#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small models of every kind of operator, for the fuzzers to begin with.

  seeds.py FOLDER        writes FOLDER/onnx/* and FOLDER/tflite/*
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models"))
import tflite_flow  # noqa: E402
import tflite_layers  # noqa: E402
import tflite_metadata  # noqa: E402
from tflite_writer import Writer  # noqa: E402

F, I, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
PICTURE = [1, 4, 6, 6]
random = np.random.default_rng(3)


def floats(*shape):
    return random.standard_normal(shape).astype(np.float32)


def ints(*values):
    return np.array(values, np.int64)


def model(nodes, inputs, constants, outputs, opset=22, functions=()):
    values = [helper.make_tensor_value_info(n, t, s) for n, (t, s) in inputs.items()]
    graph = helper.make_graph(nodes, "g", values, [helper.make_tensor_value_info(o, t, None) for o, t in outputs.items()],
                              [numpy_helper.from_array(np.asarray(v), n) for n, v in constants.items()])
    imports = [helper.make_opsetid("", opset)] + ([helper.make_opsetid("f", 1)] if functions else [])
    return helper.make_model(graph, opset_imports=imports, ir_version=10, functions=functions)


def one(op, shapes, constants=(), outputs=1, opset=22, kind=F, **attributes):
    """A model of one operator: inputs that are data, then constants (None: absent)."""
    inputs = {f"x{i}": s if isinstance(s, tuple) else (kind, s) for i, s in enumerate(shapes)}
    names = {f"c{i}": c for i, c in enumerate(constants) if c is not None}
    read = [*inputs, *(f"c{i}" if c is not None else "" for i, c in enumerate(constants))]
    results = [f"y{i}" for i in range(outputs)]
    return model([helper.make_node(op, read, results, **attributes)], inputs, names, {r: F for r in results}, opset)


def simple_operators():
    for op in ("Relu", "Sigmoid", "HardSwish", "Tanh", "Exp", "Sqrt", "Erf", "Elu", "Softplus", "Gelu", "Sign", "Selu", "Celu", "Mish", "Softsign",
               "ThresholdedRelu", "Shrink", "GlobalAveragePool", "GlobalMaxPool", "Identity", "Dropout", "LeakyRelu", "HardSigmoid"):
        yield op, one(op, [PICTURE])
    for op in ("Add", "Sub", "Mul", "Div", "Pow", "PRelu", "Min", "Max", "Sum", "Mean"):
        yield op, one(op, [PICTURE], [floats(4, 1, 1)])
        yield op + "2", one(op, [PICTURE, [1, 1, 6, 6]] if op != "PRelu" else [PICTURE, PICTURE])
    for op in ("Equal", "Less", "GreaterOrEqual"):
        yield op, one(op, [[2, 3], [3]])
    for op in ("And", "Or", "Xor"):
        yield op, one(op, [(B, [2, 3]), (B, [3])])
    for op in ("Add", "Div", "Mod", "BitwiseAnd", "Neg", "Abs"):
        yield "int_" + op, one(op, [(I, [2, 3])], [] if op in ("Neg", "Abs") else [ints(3, 1, 2)])
    yield "Clip", one("Clip", [PICTURE], [np.float32(0), np.float32(6)])
    yield "Where", one("Where", [(B, [3]), [2, 3], [2, 1]])
    yield "Cast", one("Cast", [[2, 3]], to=I)
    yield "Not", one("Not", [(B, [2, 3])])


def pictures():
    yield "Conv", one("Conv", [PICTURE], [floats(8, 4, 3, 3), floats(8)], pads=[1, 1, 1, 1], strides=[2, 2])
    yield "ConvGroups", one("Conv", [PICTURE], [floats(8, 2, 3, 3)], group=2, dilations=[2, 1], auto_pad="SAME_UPPER")
    yield "ConvDepth", one("Conv", [PICTURE], [floats(4, 1, 3, 3), floats(4)], group=4)
    yield "Conv1", one("Conv", [[1, 4, 9]], [floats(3, 4, 3)], pads=[1, 1])
    yield "ConvWide", one("Conv", [[1, 16, 14, 14]], [np.ones((16, 16, 3, 3), np.float32)], pads=[1] * 4)
    yield "ConvTranspose", one("ConvTranspose", [PICTURE], [floats(4, 3, 3, 3), floats(3)], strides=[2, 2], output_padding=[1, 1], pads=[1] * 4)
    yield "ConvTranspose5", one("ConvTranspose", [[1, 2, 3, 3]], [floats(2, 1, 2, 2)], strides=[5, 5], output_shape=[15, 15])
    yield "MaxPool", one("MaxPool", [PICTURE], kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1, pads=[1, 1, 0, 0])
    yield "AveragePool", one("AveragePool", [PICTURE], kernel_shape=[2, 3], count_include_pad=1, pads=[1, 1, 1, 1], dilations=[2, 1])
    yield "Resize", one("Resize", [PICTURE], [None, np.float32([1, 1, 2, 1.5])], mode="linear")
    yield "ResizeSize", one("Resize", [PICTURE], [None, None, ints(1, 4, 3, 4)], mode="cubic", antialias=1, coordinate_transformation_mode="align_corners")
    yield "ResizeCrop", one("Resize", [PICTURE], [floats(8), None, ints(1, 4, 4, 4)], mode="nearest", coordinate_transformation_mode="tf_crop_and_resize")
    yield "Upsample", one("Upsample", [PICTURE], [np.float32([1, 1, 2, 2])], opset=9)
    yield "Pad", one("Pad", [PICTURE], [ints(0, 0, 1, 2, 0, 0, 1, 0)], mode="reflect")
    yield "PadZero", model([helper.make_node("Pad", ["x", "p"], ["z"]), helper.make_node("Conv", ["z", "w"], ["y"])], {"x": (F, PICTURE)},
                           {"p": ints(0, 0, 1, 2, 0, 0, 1, 0), "w": floats(2, 4, 3, 3)}, {"y": F})
    for op in ("DepthToSpace", "SpaceToDepth"):
        yield op, one(op, [PICTURE], blocksize=2, **({"mode": "CRD"} if op[0] == "D" else {}))
    yield "LRN", one("LRN", [PICTURE], size=3)


def layers():
    yield "Gemm", one("Gemm", [[2, 4]], [floats(3, 4), floats(3)], transB=1, alpha=0.5)
    yield "Gemm2", one("Gemm", [[4, 2], [4, 3], [2, 3]], transA=1)
    yield "MatMul", one("MatMul", [[2, 3, 4]], [floats(4, 5)])
    yield "MatMul2", one("MatMul", [[2, 3, 4], [1, 4, 5]])
    yield "BatchNormalization", one("BatchNormalization", [PICTURE], [floats(4), floats(4), floats(4), np.ones(4, np.float32)])
    yield "LayerNormalization", one("LayerNormalization", [[2, 3, 8]], [floats(8), floats(8)])
    yield "InstanceNormalization", one("InstanceNormalization", [PICTURE], [floats(4), floats(4)])
    yield "GroupNormalization", one("GroupNormalization", [PICTURE], [floats(4), floats(4)], num_groups=2)
    yield "LpNormalization", one("LpNormalization", [[2, 3]], axis=-1, p=2)
    yield "MeanVarianceNormalization", one("MeanVarianceNormalization", [PICTURE])
    for op in ("Softmax", "LogSoftmax"):
        yield op, one(op, [[2, 3, 4]], axis=1)
    yield "Softmax11", one("Softmax", [[2, 3, 4]], axis=1, opset=11)
    for op in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceL2", "ReduceLogSumExp"):
        yield op, one(op, [PICTURE], [ints(2, 3)], keepdims=0)
    for op in ("ArgMax", "ArgMin"):
        yield op, one(op, [PICTURE], axis=1, keepdims=0)
    yield "LSTM", one("LSTM", [[3, 1, 2]], [floats(2, 8, 2), floats(2, 8, 2), floats(2, 16), None, None, None, floats(2, 6)], outputs=3, hidden_size=2,
                      direction="bidirectional", clip=3.0)
    yield "GRU", one("GRU", [[3, 1, 2]], [floats(1, 6, 2), floats(1, 6, 2)], outputs=2, hidden_size=2, linear_before_reset=1, direction="reverse")
    yield "RNN", one("RNN", [[3, 2, 2]], [floats(1, 2, 2), floats(1, 2, 2), floats(1, 4), np.int32([3, 2])], outputs=2, hidden_size=2, activations=["Relu"])


def shapes():
    yield "Reshape", one("Reshape", [PICTURE], [ints(2, -1, 6)])
    yield "Flatten", one("Flatten", [PICTURE], axis=2)
    yield "Squeeze", one("Squeeze", [[1, 3, 1]], [ints(0)])
    yield "Unsqueeze", one("Unsqueeze", [[3]], [ints(0, 2)])
    yield "Transpose", one("Transpose", [PICTURE], perm=[0, 2, 3, 1])
    yield "Expand", one("Expand", [[1, 3, 1]], [ints(2, 3, 4)])
    yield "Tile", one("Tile", [[2, 3]], [ints(2, 2)])
    yield "Slice", one("Slice", [PICTURE], [ints(1, -1), ints(4, -9), ints(2, 3), ints(2, -1)])
    yield "Split", one("Split", [PICTURE], [ints(1, 3)], outputs=2, axis=1)
    yield "Concat", one("Concat", [[2, 3], [2, 2]], [floats(2, 1)], axis=1)
    yield "Gather", one("Gather", [PICTURE], [ints(2, 0, -1)], axis=1)
    yield "Gather2", one("Gather", [[4, 3], (I, [2, 2])])
    yield "GatherElements", one("GatherElements", [[2, 3], (I, [2, 2])], axis=1)
    yield "TopK", one("TopK", [[2, 5]], [ints(2)], outputs=2, largest=0)
    yield "OneHot", one("OneHot", [(I, [3])], [ints(4), np.float32([0, 1])])
    yield "NonMaxSuppression", one("NonMaxSuppression", [[1, 5, 4], [1, 2, 5]], [ints(3), np.float32([0.5]), np.float32([0.1])])


def folded():
    """Nodes that only constants reach, added to an input."""
    def around(name, nodes, constants):
        return name, model([*nodes, helper.make_node("Add", ["x", "k"], ["y"])], {"x": (F, [1])}, constants, {"y": F})

    node = helper.make_node
    yield around("ConstantOfShape", [node("ConstantOfShape", ["s"], ["k"], value=numpy_helper.from_array(np.float32([2])))], {"s": ints(2, 3)})
    yield around("Range", [node("Range", ["a", "b", "c"], ["k"])], {"a": np.float32(0), "b": np.float32(5), "c": np.float32(2)})
    for op, attributes in (("Trilu", {}), ("Hardmax", {}), ("IsNaN", {}), ("Floor", {}), ("GlobalLpPool", {})):
        end = [node("Cast", ["m"], ["k"], to=F)]
        yield around("folded_" + op, [node(op, ["a"], ["m"], **attributes), *end], {"a": floats(2, 3)})
    for op, extra, attributes in (("CumSum", {"b": np.int64(0)}, {}), ("Compress", {"b": np.array([True, False])}, {"axis": 0}), ("GatherND", {"b": np.int64([[1, 2]])}, {}),
                                  ("ScatterND", {"b": np.int64([[1, 2]]), "c": np.float32([7])}, {}),
                                  ("ScatterElements", {"b": np.int64([[0, 1, 1]]), "c": floats(1, 3)}, {"reduction": "add"}),
                                  ("ReverseSequence", {"b": np.int64([1, 2, 1])}, {}), ("MatMul", {"b": floats(3, 2)}, {}), ("TopK", {"b": ints(1)}, {}),
                                  ("Resize", {"b": floats(4), "c": np.float32([2, 2])}, {"mode": "linear"})):
        yield around("folded_" + op, [node(op, ["a", *extra], ["k", "t"] if op == "TopK" else ["k"], **attributes)], {"a": floats(2, 3), **extra})
    for op, extra, attributes in (("Conv", {"b": floats(2, 1, 2, 2)}, {}), ("ConvTranspose", {"b": floats(1, 2, 2, 2)}, {}), ("MaxPool", {}, {"kernel_shape": [2, 2]}),
                                  ("LpPool", {}, {"kernel_shape": [2, 2]}), ("LRN", {}, {"size": 3})):
        yield around("folded_" + op, [node(op, ["a", *extra], ["k"], **attributes)], {"a": floats(1, 1, 3, 3), **extra})
    yield around("folded_ints", [node("BitShift", ["a", "b"], ["m"], direction="LEFT"), node("Cast", ["m"], ["k"], to=F)], {"a": np.uint8([1, 2]), "b": np.uint8([3, 9])})
    yield around("folded_halves", [node("Cast", ["a"], ["k"], to=F)], {"a": np.float16([1, 2])})
    yield "Shape", model([node("Shape", ["x"], ["s"]), node("Gather", ["s", "i"], ["n"]), node("Concat", ["n", "m"], ["t"], axis=0), node("Reshape", ["x", "t"], ["y"])],
                         {"x": (F, [2, 3])}, {"i": ints(0), "m": ints(-1)}, {"y": F})
    yield "NonZero", model([node("NonZero", ["a"], ["n"]), node("Cast", ["n"], ["f"], to=F), node("Add", ["x", "f"], ["y"])], {"x": (F, [1])},
                           {"a": np.float32([[1, 0], [0, 1]])}, {"y": F})


def control_flow():
    node, value = helper.make_node, helper.make_tensor_value_info
    branches = {name: helper.make_graph([node(op, ["x"], [name])], name, [], [value(name, F, [2])]) for name, op in (("then_branch", "Relu"), ("else_branch", "Neg"))}
    yield "If", model([node("If", ["c"], ["y"], **branches)], {"x": (F, [2]), "c": (B, [1])}, {}, {"y": F})
    yield "IfKnown", model([node("If", ["c"], ["y"], **branches)], {"x": (F, [2])}, {"c": np.array([True])}, {"y": F})
    body = helper.make_graph([node("Identity", ["c"], ["d"]), node("Add", ["s", "x"], ["t"]), node("Relu", ["t"], ["r"])], "body",
                             [value("i", I, []), value("c", B, []), value("s", F, [2])], [value("d", B, []), value("t", F, [2]), value("r", F, [2])])
    yield "Loop", model([node("Loop", ["n", "", "s0"], ["y", "z"], body=body)], {"x": (F, [2]), "s0": (F, [2])}, {"n": np.int64(3)}, {"y": F, "z": F})
    scanned = helper.make_graph([node("Add", ["s", "e"], ["t"]), node("Relu", ["t"], ["r"])], "body", [value("s", F, [2]), value("e", F, [2])],
                                [value("t", F, [2]), value("r", F, [2])])
    yield "Scan", model([node("Scan", ["s0", "x"], ["y", "z"], body=scanned, num_scan_inputs=1)], {"s0": (F, [2]), "x": (F, [3, 2])}, {}, {"y": F, "z": F})
    twice = helper.make_function("f", "twice", ["a"], ["b"], [node("Mul", ["a", "a"], ["m"]), node("Relu", ["m"], ["b"])], [helper.make_opsetid("", 22)])
    yield "Function", model([node("twice", ["x"], ["y"], domain="f")], {"x": (F, [2])}, {}, {"y": F}, functions=[twice])
    yield "Chain", model([node("Conv", ["x", "w", "b"], ["c"], pads=[1] * 4), node("Relu", ["c"], ["r"]), node("Add", ["r", "x"], ["s"]), node("Concat", ["s", "r"], ["k"], axis=1),
                          node("GlobalAveragePool", ["k"], ["p"]), node("Flatten", ["p"], ["f"]), node("Gemm", ["f", "g"], ["y"])], {"x": (F, [1, 2, 5, 5])},
                         {"w": floats(2, 2, 3, 3), "b": floats(2), "g": floats(4, 3)}, {"y": F})
    yield "State", model([node("Add", ["x", "hidden_in"], ["s"]), node("Tanh", ["s"], ["hidden_out"]), node("Relu", ["s"], ["y"])],
                         {"x": (F, [1, 2]), "hidden_in": (F, [1, 2])}, {}, {"y": F, "hidden_out": F})


def tflite(ops):
    """ops(w, x, constant, emit) -> outputs, on one picture [1, 6, 6, 4]."""
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


def tflite_models():
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


def main():
    folder = pathlib.Path(sys.argv[1])
    for kind in ("onnx", "tflite"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    for group in (simple_operators, pictures, layers, shapes, folded, control_flow):
        for name, m in group():
            (folder / "onnx" / name).write_bytes(m.SerializeToString())
    for name, data in tflite_models():
        (folder / "tflite" / name).write_bytes(data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
