#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every builtin operator that imports, one small model per variant of its options, against LiteRT.

  tflite_operators.py [PART-OF-A-NAME]
Each case with float images runs twice: on the model's input as it is, and behind a pooling of one pixel, which changes nothing but makes
the converter hold the image with channels first. Floats must be within 1e-5 of the largest magnitude, everything else equal.
"""
import dataclasses
import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from litert import answers, compare_runs, have_litert, interpreter_of  # noqa: E402
from models import nsk  # noqa: E402
from tflite_writer import Writer  # noqa: E402

POOL = ("Pool2DOptions", {"padding": 1, "strideW": 1, "strideH": 1, "filterWidth": 1, "filterHeight": 1})


@dataclasses.dataclass
class In:
    """An input of the model: random numbers in [low, high]."""
    shape: list
    dtype: type = np.float32
    low: float = -2
    high: float = 2

    def random(self, generator):
        if self.dtype == np.bool_:
            return generator.integers(0, 2, self.shape).astype(np.bool_)
        if np.issubdtype(self.dtype, np.integer):
            return generator.integers(self.low, self.high, self.shape, endpoint=True).astype(self.dtype)
        return generator.uniform(self.low, self.high, self.shape).astype(self.dtype)


def i32(*values):
    return np.array(values, np.int32)


def weights(*shape):
    return np.random.default_rng(int(np.prod(shape))).uniform(-1, 1, shape).astype(np.float32)


RESULTS = {"STABLEHLO_GATHER of rows": [5, 8], "STABLEHLO_GATHER of windows": [1, 4, 3]}  # that LiteRT asks of the file

IMAGE, VECTORS, CUBE = In([1, 7, 6, 5]), In([3, 8]), In([2, 3, 4])


def windows():
    for padding in (0, 1):
        for stride in (1, 2, 3):
            for activation in ((0, 1, 2, 3) if stride == 1 else (0,)):
                fused = {"padding": padding, "strideW": stride, "strideH": stride, "fusedActivationFunction": activation}
                name = f"p{padding}s{stride}a{activation}"
                yield f"conv {name}", "CONV_2D", [IMAGE, weights(4, 3, 2, 5), weights(4)], ("Conv2DOptions", {**fused, "dilationWFactor": 1, "dilationHFactor": 1})
                yield f"depthwise {name}", "DEPTHWISE_CONV_2D", [IMAGE, weights(1, 3, 3, 10), weights(10)], (
                    "DepthwiseConv2DOptions", {**fused, "depthMultiplier": 2, "dilationWFactor": 1, "dilationHFactor": 1})
                pool = {**fused, "filterWidth": 2, "filterHeight": 3}
                yield f"average pool {name}", "AVERAGE_POOL_2D", [IMAGE], ("Pool2DOptions", pool)
                yield f"max pool {name}", "MAX_POOL_2D", [IMAGE], ("Pool2DOptions", pool)
        dilated = {"padding": padding, "strideW": 1, "strideH": 1, "dilationWFactor": 2, "dilationHFactor": 3}
        yield f"dilated conv p{padding}", "CONV_2D", [IMAGE, weights(4, 3, 2, 5), weights(4)], ("Conv2DOptions", dilated)
        yield f"dilated depthwise p{padding}", "DEPTHWISE_CONV_2D", [IMAGE, weights(1, 3, 2, 5), weights(5)], ("DepthwiseConv2DOptions", {**dilated, "depthMultiplier": 1})
    for padding, stride, kernel, size in ((0, 2, 3, (14, 12)), (0, 2, 3, (13, 11)), (0, 2, 2, (14, 12)), (1, 2, 3, (15, 13)), (1, 1, 3, (9, 8)), (0, 3, 2, (21, 18)), (1, 2, 2, (14, 12))):
        yield f"transpose conv p{padding}s{stride}k{kernel} {size}", "TRANSPOSE_CONV", [i32(1, *size, 4), weights(4, kernel, kernel, 5), IMAGE], (
            "TransposeConvOptions", {"padding": padding, "strideW": stride, "strideH": stride})
    for name, op, table in (("bilinear", "RESIZE_BILINEAR", "ResizeBilinearOptions"), ("nearest", "RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions")):
        for corners, half in ((False, False), (True, False), (False, True)):
            for size in ((14, 12), (3, 3), (10, 4), (1, 1), (21, 17)):
                yield f"{name} corners {corners} half {half} to {size}", op, [IMAGE, i32(*size)], (table, {"alignCorners": corners, "halfPixelCenters": half})
    yield "pad", "PAD", [IMAGE, i32([0, 0], [1, 2], [3, 0], [0, 2])], ("PadOptions", {})
    yield "pad of three dimensions", "PAD", [CUBE, i32([0, 1], [1, 2], [3, 0])], ("PadOptions", {})
    yield "padv2", "PADV2", [IMAGE, i32([0, 0], [1, 2], [3, 0], [0, 2]), np.float32(1.5)], ("PadV2Options", {})
    for dtype in (np.int32, np.int64):
        yield f"pad of {np.dtype(dtype)}", "PAD", [In([2, 3, 4], dtype, -9, 9), i32([0, 1], [1, 2], [3, 0])], ("PadOptions", {})
        yield f"padv2 of {np.dtype(dtype)}", "PADV2", [In([1, 3, 4, 2], dtype, -9, 9), i32([0, 0], [1, 2], [0, 3], [1, 0]), dtype(7)], ("PadV2Options", {})
    for mode in (0, 1):
        yield f"mirror pad {mode}", "MIRROR_PAD", [IMAGE, i32([0, 0], [1, 2], [3, 0], [0, 2])], ("MirrorPadOptions", {"mode": mode})
    yield "depth to space", "DEPTH_TO_SPACE", [In([1, 3, 4, 8])], ("DepthToSpaceOptions", {"blockSize": 2})
    yield "space to depth", "SPACE_TO_DEPTH", [In([1, 6, 4, 3])], ("SpaceToDepthOptions", {"blockSize": 2})
    yield "space to batch", "SPACE_TO_BATCH_ND", [In([1, 5, 4, 3]), i32(2, 3), i32([1, 0], [0, 2])], ("SpaceToBatchNDOptions", {})
    yield "batch to space", "BATCH_TO_SPACE_ND", [In([6, 3, 2, 3]), i32(2, 3), i32([1, 0], [0, 2])], ("BatchToSpaceNDOptions", {})
    yield "local response", "LOCAL_RESPONSE_NORMALIZATION", [IMAGE], ("LocalResponseNormalizationOptions", {"radius": 2, "bias": 1.0, "alpha": 0.5, "beta": 0.75})


def elementwise():
    for op in ("RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1", "LOGISTIC", "TANH", "HARD_SWISH", "ELU", "EXP", "FLOOR", "CEIL", "ROUND", "NEG", "ABS", "SQUARE", "SIGN"):
        yield op, op, [In([1, 4, 3, 5], low=-8, high=8)], None
    for op in ("LOG", "SQRT", "RSQRT"):
        yield op, op, [In([1, 4, 3, 5], low=0.1, high=8)], None
    yield "leaky relu", "LEAKY_RELU", [IMAGE], ("LeakyReluOptions", {"alpha": 0.3})
    yield "prelu", "PRELU", [IMAGE, weights(1, 1, 5)], None
    for how in (False, True):
        yield f"gelu {how}", "GELU", [IMAGE], ("GeluOptions", {"approximate": how})
    for op, table in (("ADD", "AddOptions"), ("SUB", "SubOptions"), ("MUL", "MulOptions"), ("DIV", "DivOptions")):
        for activation in (0, 1, 2, 3):
            yield f"{op} a{activation}", op, [IMAGE, In([1, 7, 6, 5], low=0.5, high=3)], (table, {"fusedActivationFunction": activation})
        yield f"{op} with one per channel", op, [IMAGE, np.abs(weights(5)) + 1], (table, {})
        yield f"{op} of one per pixel", op, [In([1, 7, 6, 1]), In([1, 1, 1, 5], low=0.5, high=3)], (table, {})
        yield f"{op} with a computed vector", op, [IMAGE, In([6, 5], low=0.5, high=3)], (table, {})
        yield f"{op} with a scalar", op, [IMAGE, np.float32(1.7)], (table, {})
    for op, table in (("ADD", "AddOptions"), ("SUB", "SubOptions"), ("MUL", "MulOptions")):
        for activation in (1, 2, 3):
            yield f"{op} a{activation} of integers", op, [In([3, 40], np.int32, -9, 9), In([40], np.int32, -9, 9)], (table, {"fusedActivationFunction": activation})
    for op in ("MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE"):
        yield op, op, [IMAGE, In([1, 7, 6, 5])], None
        yield f"{op} with one per channel", op, [IMAGE, weights(5)], None
    yield "POW", "POW", [In([1, 7, 6, 5], low=0.1, high=3), In([1, 7, 6, 5])], None
    yield "FLOOR_DIV", "FLOOR_DIV", [In([3, 4], low=-9, high=9), np.float32([2, -0.5, 1, 4])], None
    yield "FLOOR_DIV of constants", "FLOOR_DIV", [np.float32([1, 1, 7]), np.float32([0.1, 0.2, -3])], None
    yield "FLOOR_MOD of floats", "FLOOR_MOD", [In([3, 4], low=-9, high=9), np.float32([2, -0.5, 1, -4])], None
    yield "FLOOR_DIV by computed floats", "FLOOR_DIV", [In([3, 400], low=-90, high=90), In([400], low=0.1, high=3)], None
    yield "FLOOR_DIV by a tenth", "FLOOR_DIV", [np.float32([1, 1, 7]) , In([3], low=0.1, high=0.1)], None
    yield "FLOOR_MOD by computed floats", "FLOOR_MOD", [In([3, 400], low=-90, high=90), In([400], low=-3, high=3)], None
    yield "FLOOR_DIV by computed integers", "FLOOR_DIV", [In([3, 40], np.int32, -99, 99), In([40], np.int32, 1, 9)], None
    yield "ATAN2", "ATAN2", [IMAGE, In([1, 7, 6, 5])], None
    yield "FLOOR_MOD", "FLOOR_MOD", [In([3, 4], np.int32, -9, 9), i32(1, -2, 3, -4)], None
    for op in ("EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"):
        yield op, op, [In([3, 40], np.int32, -2, 2), In([3, 40], np.int32, -2, 2)], None
        yield f"{op} of images", op, [IMAGE, In([1, 7, 6, 5])], None
    for op in ("LOGICAL_AND", "LOGICAL_OR"):
        yield op, op, [In([3, 4], np.bool_), In([3, 4], np.bool_)], None
    yield "LOGICAL_NOT", "LOGICAL_NOT", [In([3, 4], np.bool_)], None
    yield "ADD_N", "ADD_N", [IMAGE, IMAGE, IMAGE], None
    yield "ADD_N of integers", "ADD_N", [In([3, 4], np.int32, -9, 9)] * 3, None
    yield "SELECT", "SELECT", [In([1, 7, 6, 5], np.bool_), IMAGE, IMAGE], None
    yield "SELECT by rows", "SELECT", [In([3], np.bool_), VECTORS, VECTORS], None
    yield "SELECT_V2", "SELECT_V2", [In([6, 1], np.bool_), IMAGE, In([5])], None
    for to in (np.int32, np.int64, np.bool_):
        yield f"CAST to {np.dtype(to)}", "CAST", [In([3, 40], low=-9, high=9)], ("CastOptions", {}), [to]
    yield "CAST from int32", "CAST", [In([3, 40], np.int32, -9, 9)], ("CastOptions", {}), [np.float32]


def shapes():
    yield "RESHAPE", "RESHAPE", [IMAGE, i32(1, -1, 10)], ("ReshapeOptions", {"newShape": [1, -1, 10]})
    yield "SQUEEZE", "SQUEEZE", [In([1, 1, 4, 5])], ("SqueezeOptions", {"squeezeDims": [1]})
    yield "SQUEEZE of all", "SQUEEZE", [In([1, 1, 4, 5])], ("SqueezeOptions", {})
    yield "EXPAND_DIMS", "EXPAND_DIMS", [CUBE, np.int32(-2)], None
    yield "TRANSPOSE", "TRANSPOSE", [IMAGE, i32(0, 3, 1, 2)], None
    yield "TRANSPOSE of three dimensions", "TRANSPOSE", [CUBE, i32(2, 0, 1)], None
    for axis in (1, 2, 3, -1):
        yield f"CONCATENATION {axis}", "CONCATENATION", [IMAGE, IMAGE], ("ConcatenationOptions", {"axis": axis})
    yield "CONCATENATION with a constant", "CONCATENATION", [IMAGE, weights(1, 7, 6, 2)], ("ConcatenationOptions", {"axis": 3})
    yield "SPLIT", "SPLIT", [np.int32(3), In([1, 7, 6, 6])], ("SplitOptions", {"numSplits": 3}), [np.float32] * 3
    yield "SPLIT_V", "SPLIT_V", [In([1, 7, 6, 6]), i32(1, -1, 2), np.int32(3)], ("SplitVOptions", {"numSplits": 3}), [np.float32] * 3
    yield "SLICE", "SLICE", [IMAGE, i32(0, 1, 2, 0), i32(1, 3, -1, 2)], None
    masks = {"beginMask": 0, "endMask": 0, "ellipsisMask": 0, "newAxisMask": 0, "shrinkAxisMask": 0}
    for name, begin, end, step, changes in (
            ("plain", (0, 1, 0, 1), (1, 6, 6, 4), (1, 2, 1, 1), {}), ("masks", (0, 1, 0, 1), (1, 6, 6, 4), (1, 1, 1, 1), {"beginMask": 2, "endMask": 4}),
            ("backwards", (0, 5, -1, 4), (1, 1, -9, 0), (1, -2, -1, -1), {}), ("backwards to the start", (0, 5, 5, 4), (1, 0, 0, 0), (1, -1, -1, -1), {"endMask": 6}),
            ("one position", (0, 2, -1, 0), (1, 3, 0, 5), (1, 1, 1, 1), {"shrinkAxisMask": 6}), ("ellipsis", (0, 0, 1), (1, 0, 3), (1, 1, 1), {"ellipsisMask": 2}),
            ("new axis", (0, 0, 1), (1, 0, 5), (1, 1, 2), {"newAxisMask": 2}), ("fewer axes", (0, 1), (1, 4), (1, 2), {}), ("beyond the end", (0, -99, 2, 1), (1, 99, 99, 4), (1, 1, 1, 1), {})):
        if name == "new axis":
            yield f"STRIDED_SLICE {name}", "STRIDED_SLICE", [CUBE, i32(*begin), i32(*end), i32(*step)], ("StridedSliceOptions", {**masks, **changes})
        else:
            yield f"STRIDED_SLICE {name}", "STRIDED_SLICE", [IMAGE, i32(*begin), i32(*end), i32(*step)], ("StridedSliceOptions", {**masks, **changes})
    for axis in (0, 1, -1):
        yield f"PACK {axis}", "PACK", [VECTORS, VECTORS], ("PackOptions", {"valuesCount": 2, "axis": axis})
    yield "UNPACK", "UNPACK", [In([2, 3, 4])], ("UnpackOptions", {"num": 3, "axis": 1}), [np.float32] * 3
    yield "TILE", "TILE", [In([2, 3]), i32(2, 3)], None
    yield "BROADCAST_TO", "BROADCAST_TO", [In([3, 1]), i32(2, 3, 4)], None
    yield "REVERSE_V2", "REVERSE_V2", [IMAGE, i32(2)], None
    for rows, time in ((0, 1), (1, 0), (2, 1), (0, 3)):
        yield f"REVERSE_SEQUENCE {rows} {time}", "REVERSE_SEQUENCE", [IMAGE, np.full(IMAGE.shape[rows], 1 if time == 0 else 3, np.int32)], (
            "ReverseSequenceOptions", {"batchDim": rows, "seqDim": time})


def matrices():
    for activation in (0, 1, 3):
        yield f"FULLY_CONNECTED a{activation}", "FULLY_CONNECTED", [VECTORS, weights(5, 8), weights(5)], ("FullyConnectedOptions", {"fusedActivationFunction": activation})
    yield "FULLY_CONNECTED without bias", "FULLY_CONNECTED", [VECTORS, weights(5, 8)], ("FullyConnectedOptions", {})
    yield "FULLY_CONNECTED on an image", "FULLY_CONNECTED", [In([1, 3, 4, 2]), weights(5, 24), weights(5)], ("FullyConnectedOptions", {})
    yield "FULLY_CONNECTED with dimensions", "FULLY_CONNECTED", [CUBE, weights(5, 4), weights(5)], ("FullyConnectedOptions", {"keepNumDims": True})
    for x, y in ((False, False), (True, False), (False, True)):
        a, b = In([2, 4, 3] if x else [2, 3, 4]), In([2, 5, 4] if y else [2, 4, 5])
        yield f"BATCH_MATMUL {x} {y}", "BATCH_MATMUL", [a, b], ("BatchMatMulOptions", {"adjX": x, "adjY": y})
    for beta in (1.0, 0.5):
        yield f"SOFTMAX {beta}", "SOFTMAX", [VECTORS], ("SoftmaxOptions", {"beta": beta})
        yield f"SOFTMAX of an image {beta}", "SOFTMAX", [IMAGE], ("SoftmaxOptions", {"beta": beta})
    yield "LOG_SOFTMAX", "LOG_SOFTMAX", [VECTORS], None
    yield "L2_NORMALIZATION", "L2_NORMALIZATION", [IMAGE], ("L2NormOptions", {})
    for op in ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"):
        for axes in ((1, 2), (3,), (-1,), (2, 3), (0, 1, 2, 3), (1,)):
            if op == "REDUCE_PROD" and len(axes) > 2:  # too small for a float
                continue
            for keep in (False, True):
                yield f"{op} {axes} {keep}", op, [IMAGE, i32(*axes)], ("ReducerOptions", {"keepDims": keep})
    for op in ("REDUCE_ANY", "REDUCE_ALL"):
        yield op, op, [In([3, 4], np.bool_), i32(1)], ("ReducerOptions", {"keepDims": False})
    for op, table in (("ARG_MAX", "ArgMaxOptions"), ("ARG_MIN", "ArgMinOptions")):
        for axis in (3, 1, -1):
            yield f"{op} {axis}", op, [IMAGE, np.int32(axis)], (table, {"outputType": 2}), [np.int32]
        yield f"{op} of vectors", op, [VECTORS, np.int32(1)], (table, {"outputType": 4}), [np.int64]
    yield "TOPK_V2", "TOPK_V2", [VECTORS, np.int32(3)], None, [np.float32, np.int32]
    for axis in (0, 1):
        yield f"GATHER {axis}", "GATHER", [VECTORS, i32(2, 0, 1, 1)], ("GatherOptions", {"axis": axis, "batchDims": 0})
    for axis, rows, indices in ((1, 1, [2, 4]), (2, 1, [2, 4]), (2, 2, [2, 3, 5]), (1, -1, [2, 3]), (3, 1, [2, 1, 2])):
        data = [2, 3, 4, 5]
        yield f"GATHER {axis} in rows {rows}", "GATHER", [In(data), In(indices, np.int32, 0, data[axis] - 1)], ("GatherOptions", {"axis": axis, "batchDims": rows})
    yield "GATHER of constants in rows", "GATHER", [In([2, 6]), i32([5, 0, 3], [1, 1, 2])], ("GatherOptions", {"axis": 1, "batchDims": 1})
    yield "GATHER with computed indices", "GATHER", [weights(7, 3), In([4], np.int32, 0, 6)], ("GatherOptions", {"axis": 0, "batchDims": 0})
    yield "EMBEDDING_LOOKUP", "EMBEDDING_LOOKUP", [In([4], np.int32, 0, 6), weights(7, 3)], None
    yield "ONE_HOT", "ONE_HOT", [In([4], np.int32, -1, 6), np.int32(5), np.float32(3), np.float32(-1)], ("OneHotOptions", {"axis": -1})
    yield "ONE_HOT of negative numbers", "ONE_HOT", [In([6], np.int32, -4, 0), np.int32(5), np.float32(3), np.float32(-1)], ("OneHotOptions", {"axis": -1})
    yield "ONE_HOT in front", "ONE_HOT", [In([4], np.int32, 0, 6), np.int32(5), np.float32(3), np.float32(-1)], ("OneHotOptions", {"axis": 0})
    yield "ONE_HOT of one index", "ONE_HOT", [In([], np.int32, 0, 6), np.int32(5), np.float32(3), np.float32(-1)], ("OneHotOptions", {"axis": -1})
    for maximum, minimum in ((5, 0.2), (30, 0.5), (5, 3.0)):
        limits = [np.int32(maximum), np.float32(0.3), np.float32(minimum)]
        boxes, scores = In([20, 4], low=0, high=1), In([20], low=0, high=1)
        yield f"NON_MAX_SUPPRESSION_V4 {maximum} {minimum}", "NON_MAX_SUPPRESSION_V4", [boxes, scores, *limits], None, [np.int32, np.int32]
        yield f"NON_MAX_SUPPRESSION_V5 {maximum} {minimum}", "NON_MAX_SUPPRESSION_V5", [boxes, scores, *limits, np.float32(0)], None, [np.int32, np.float32, np.int32]
    yield "float16 constant", "DEQUANTIZE", [np.array([1.5, -2.25, 65504, 6e-8], np.float16)], None, [np.float32]


def updates():
    for start in ((0, 5, 0), (0, -3, 0), (0, 9, 0)):
        for given in (i32(*start), In([3], np.int32, start[1], start[1])):
            yield f"DYNAMIC_UPDATE_SLICE {start}", "DYNAMIC_UPDATE_SLICE", [In([1, 8, 4]), In([1, 2, 4]), given], ("DynamicUpdateSliceOptions", {})
    yield "DYNAMIC_UPDATE_SLICE along two axes", "DYNAMIC_UPDATE_SLICE", [In([2, 8, 4]), In([2, 3, 2]), In([3], np.int32, 0, 3)], ("DynamicUpdateSliceOptions", {})
    yield "DYNAMIC_UPDATE_SLICE of everything", "DYNAMIC_UPDATE_SLICE", [In([2, 3]), In([2, 3]), In([2], np.int32, 0, 3)], ("DynamicUpdateSliceOptions", {})
    for name, places in (("constant", i32([4], [1], [4])), ("computed", In([3, 1], np.int32, 1, 2))):
        for dtype in (np.float32, np.int32, np.bool_):
            yield f"SCATTER_ND {name} {np.dtype(dtype)}", "SCATTER_ND", [places, In([3, 2], dtype), i32(8, 2)], ("ScatterNdOptions", {}), [dtype]
    yield "SPARSE_TO_DENSE", "SPARSE_TO_DENSE", [i32([0, 1], [2, 3]), i32(3, 4), In([2]), np.float32(-1)], ("SparseToDenseOptions", {})
    yield "SEGMENT_SUM", "SEGMENT_SUM", [In([4, 3]), i32(0, 0, 1, 2)], ("SegmentSumOptions", {})
    for how in ("SUM", "PROD", "MAX", "MIN"):
        for dtype in (np.float32, np.int32):
            yield f"UNSORTED_SEGMENT_{how} {np.dtype(dtype)}", f"UNSORTED_SEGMENT_{how}", [In([2, 5, 3], dtype), In([2, 5], np.int32, -1, 2), np.int32(4)], None, [dtype]
    yield "MATRIX_DIAG", "MATRIX_DIAG", [In([2, 3])], None
    for rows, columns in ((3, 3), (2, 4), (4, 2)):
        yield f"MATRIX_SET_DIAG {rows} {columns}", "MATRIX_SET_DIAG", [In([2, rows, columns]), In([2, min(rows, columns)])], None


def volumes():
    volume, steps = In([1, 4, 5, 6, 2]), {"strideD": 1, "strideH": 2, "strideW": 1}
    for padding in (0, 1):
        yield f"CONV_3D p{padding}", "CONV_3D", [volume, weights(3, 3, 2, 2, 5), weights(5)], ("Conv3DOptions", {**steps, "padding": padding, "fusedActivationFunction": 1})
        yield f"dilated CONV_3D p{padding}", "CONV_3D", [volume, weights(2, 2, 3, 2, 5)], ("Conv3DOptions", {"padding": padding, "strideD": 1, "strideH": 1, "strideW": 1, "dilationHFactor": 2})
    for padding, size in ((0, (4, 10, 6)), (0, (4, 9, 6)), (1, (6, 11, 7)), (1, (6, 12, 7))):
        yield f"CONV_3D_TRANSPOSE p{padding} {size}", "CONV_3D_TRANSPOSE", [i32(1, *size, 5), weights(3, 3, 2, 5, 2), volume, weights(5)], ("Conv3DOptions", {**steps, "padding": padding})
    for padding in (0, 1):
        yield f"L2_POOL_2D p{padding}", "L2_POOL_2D", [IMAGE], ("Pool2DOptions", {"padding": padding, "strideW": 2, "strideH": 1, "filterWidth": 2, "filterHeight": 3})
    yield "DILATE", "DILATE", [CUBE, i32(1, 3, 2), np.float32(7)], None
    yield "STABLEHLO_PAD", "STABLEHLO_PAD", [CUBE, np.float32(7)], ("StablehloPadOptions", {"edgePaddingLow": [1, -1, 0], "edgePaddingHigh": [0, 2, -2], "interiorPadding": [0, 2, 1]})
    for function in (1, 2, 3, 4):
        sides = [np.array(v, np.int64) for v in ([2, 3, 1], [1, 2, 2], [1, 2, 1])]
        yield f"REDUCE_WINDOW {function}", "REDUCE_WINDOW", [In([4, 7, 5]), np.float32(1), *sides], ("ReduceWindowOptions", {"reduceFunction": function})
    yield "BITWISE_XOR", "BITWISE_XOR", [In([3, 4], np.int32, -99, 99), In([4], np.int32, -99, 99)], ("BitwiseXorOptions", {})
    yield "RIGHT_SHIFT", "RIGHT_SHIFT", [In([40], np.int32, -9999, 9999), np.arange(40, dtype=np.int32) - 3], ("RightShiftOptions", {})
    for dtype in (np.float32, np.int32):
        yield f"BUCKETIZE {np.dtype(dtype)}", "BUCKETIZE", [In([3, 40], dtype, -3, 3)], ("BucketizeOptions", {"boundaries": [-2.0, 0.5, 1.0]}), [np.int32]
    rows = {"offsetDims": [1], "collapsedSliceDims": [0], "startIndexMap": [0], "indexVectorDim": 1, "sliceSizes": [1, 8]}
    yield "STABLEHLO_GATHER of rows", "STABLEHLO_GATHER", [VECTORS, In([5, 1], np.int32, -1, 3)], ("StablehloGatherOptions", rows)
    windows_of = {"offsetDims": [0, 2], "collapsedSliceDims": [1], "startIndexMap": [2, 0], "indexVectorDim": 0, "sliceSizes": [1, 1, 3]}
    yield "STABLEHLO_GATHER of windows", "STABLEHLO_GATHER", [CUBE, In([2, 4], np.int32, 0, 2)], ("StablehloGatherOptions", windows_of)
    for op in ("ADD", "MULTIPLY", "MAXIMUM", "MINIMUM"):
        yield f"STABLEHLO_{op}", f"STABLEHLO_{op}", [IMAGE, IMAGE], None


def cases():
    for group in (windows, elementwise, shapes, matrices, updates, volumes):
        for case in group():
            yield (*case, [None]) if len(case) == 4 else case


def build(op, operands, options, results, output_shapes, behind_pool):
    """The model's bytes and its inputs; results of unknown type have that of the first float operand."""
    w = Writer()
    inputs, arguments = [], []
    for number, operand in enumerate(operands):
        if isinstance(operand, In):
            index = w.tensor(f"in{number}", operand.shape, operand.dtype)
            inputs.append((index, operand))
            if behind_pool and len(operand.shape) == 4 and operand.dtype == np.float32:
                pooled = w.tensor(f"pooled{number}", operand.shape, operand.dtype)
                w.operator("MAX_POOL_2D", [index], [pooled], POOL)
                index = pooled
        else:
            data = np.asarray(operand)
            index = w.tensor(f"constant{number}", data.shape, data.dtype, data)
        arguments.append(index)
    outputs = [w.tensor(f"out{k}", shape, dtype) for k, (shape, dtype) in enumerate(zip(output_shapes, results))]
    w.operator(op, arguments, outputs, options)
    if op == "DEQUANTIZE":  # of a constant: something must be left to compute
        x = w.tensor("x", output_shapes[0], np.float32)
        inputs.append((x, In(list(output_shapes[0]))))
        total = w.tensor("total", output_shapes[0], np.float32)
        w.operator("ADD", [x, outputs[0]], [total], ("AddOptions", {}))
        outputs = [total]
    return w.finish([i for i, _ in inputs], outputs), [operand for _, operand in inputs]


def result_types(op, operands, results):
    if results != [None]:
        return results
    if op in ("EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"):
        return [np.bool_]
    typed = [o.dtype if isinstance(o, In) else np.asarray(o).dtype for o in operands]
    return [np.float32 if np.float32 in typed else typed[0]]


def compare(case, folder, behind_pool):
    """None where the results agree, else what is wrong."""
    name, op, operands, options, results = case
    results = result_types(op, operands, results)
    shape = RESULTS[name] if name in RESULTS else [1, 3, 4, 2] if op == "SLICE" else np.asarray(operands[0]).shape if op == "DEQUANTIZE" else [1]
    content, inputs = build(op, operands, options, results, [shape] * len(results), behind_pool)
    generator = np.random.default_rng(len(name))
    names = [detail["name"] for detail in interpreter_of(content).get_input_details()]
    given = dict(zip(names, [operand.random(generator) for operand in inputs]))
    shapes = [values.shape for values in answers(content, given, 1).values()]
    return compare_runs(folder, build(op, operands, options, results, shapes, behind_pool)[0], given)


def bytes_of_zeros(folder):
    """None where zeros that are scattered into are not in the file, else what is wrong."""
    operands, shape = [In([3, 1], np.int32, 0, 9), In([3, 64]), i32(4096, 64)], [4096, 64]
    (folder / "m.tflite").write_bytes(build("SCATTER_ND", operands, ("ScatterNdOptions", {}), [np.float32], [shape], False)[0])
    done = nsk("convert", folder / "m.tflite", "-o", folder / "m.nsk", "--quiet")
    if done.returncode != 0:
        return done.stderr.strip()
    size = (folder / "m.nsk").stat().st_size
    return None if size < 4096 else f"the file has {size} bytes"


def main(part):
    if not have_litert():
        return 0
    count, wrong = 0, []
    with tempfile.TemporaryDirectory(prefix="nsk_tflite_") as folder:
        for case in cases():
            if part not in case[0]:
                continue
            images = any(isinstance(o, In) and len(o.shape) == 4 and o.dtype == np.float32 for o in case[2])
            for behind_pool in (False, True) if images else (False,):
                count += 1
                try:
                    failure = compare(case, pathlib.Path(folder), behind_pool)
                except (RuntimeError, ValueError) as refused:
                    failure = f"LiteRT: {refused}"
                if failure:
                    wrong.append(f"{case[0]}{' behind a pool' if behind_pool else ''}: {failure}")
        large = bytes_of_zeros(pathlib.Path(folder))
        wrong += [f"zeros of SCATTER_ND: {large}"] if large else []
    print("\n".join(wrong + [f"{count} models, {len(wrong)} wrong"]))
    return 1 if wrong or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
