# SPDX-License-Identifier: MIT
"""Random quantised TensorFlow Lite models (int8, uint8, int16), which netsuke takes with --dequantize, or computes in their integers.

How far the float32 model may be from the integers of LiteRT: an operator of LiteRT may add STEPS quantisation steps of its result (half a
step of rounding, and what its fixed-point arithmetic loses); what its operands are off by grows at most by the operator's Lipschitz constant
in the maximum norm. Every tensor carries the sum as `error`.
"""
import numpy as np

import tflite_movement
import tflite_windows
from tflite_elementwise import ACTIVATIONS
from tflite_graph import F, I, L, Graph, Rejected, Tensor
from tflite_movement import axis_of, integers, signed
from tflite_windows import arg_reduce, axes, dilations, strides, window

STEPS = 2
MOVED = {op: rule for table, names in ((tflite_movement.RULES, "SQUEEZE EXPAND_DIMS SPLIT SPLIT_V SLICE STRIDED_SLICE UNPACK TILE BROADCAST_TO REVERSE_V2 GATHER GATHER_ND RESHAPE TRANSPOSE"),
                                       (tflite_windows.RULES, "DEPTH_TO_SPACE SPACE_TO_DEPTH SPACE_TO_BATCH_ND BATCH_TO_SPACE_ND PAD MIRROR_PAD TOPK_V2"))
         for op, rule in table.items() if op in names.split()}
FIXED = {  # scale and zero point of results that the operator fixes, for int8, uint8 and int16
    "LOGISTIC": [(1 / 256, -128), (1 / 256, 0), (1 / 32768, 0)], "SOFTMAX": [(1 / 256, -128), (1 / 256, 0), (1 / 32768, 0)],
    "TANH": [(1 / 128, 0), (1 / 128, 128), (1 / 32768, 0)], "LOG_SOFTMAX": [(16 / 256, 127), (16 / 256, 255), None],
    "L2_NORMALIZATION": [(1 / 128, 0), (1 / 128, 128), None]}
KINDS_OF_NUMBER = [np.int8, np.uint8, np.int16]


class Quantised(Graph):
    """A graph whose tensors hold integers of one type."""

    def __init__(self, seed):
        super().__init__(seed)
        self.quarters = False
        self.dtype = self.choose.choice([np.int8, np.int8, np.int8, np.uint8, np.int16])
        self.limits = np.iinfo(self.dtype)

    def scale_for(self, low, high):
        """A scale and a zero point whose integers reach from `low` to `high`."""
        if self.some(0.15):  # results saturate
            low, high = low * 0.6, high * 0.6
        low, high = min(low, 0.0), max(high, 0.0)
        if self.dtype == np.int16:
            return max(-low, high, 1e-3) / 32767, 0
        scale = max(high - low, 1e-3) / 255
        return float(F(scale)), int(np.clip(round(self.limits.min - low / scale), self.limits.min, self.limits.max))

    def stored(self, shape, like=None):
        """An input of random integers, with the scale of another tensor or one of its own."""
        if like is not None:
            scale, zero = float(like.scale[0]), int(like.zero[0])
        else:
            scale, zero = self.scale_for(-self.choose.choice([0.0, 1.0, 4.0]), self.choose.choice([1.0, 4.0, 6.0]))
        value = self.numbers.integers(self.limits.min, self.limits.max, shape, endpoint=True).astype(self.dtype)
        return self.add("x", value, "input", scale=np.array([scale], F), zero=np.array([zero], L))

    def take(self, rank=None, where=lambda t: True, exact=False):
        """A quantised tensor that is there, or a new one."""
        ranks = None if rank is None else [rank] if isinstance(rank, int) else list(rank)
        there = [t for t in self.tensors if t.scale is not None and t.kind != "constant" and t.dtype == self.dtype and (ranks is None or t.rank in ranks) and min(t.shape, default=1) > 0
                 and where(t) and (not exact or t.error == 0)]
        if there and self.some(0.8):
            return self.choose.choice(there[-4:])
        for _ in range(20):
            shape = self.shape(None if ranks is None else self.choose.choice(ranks))
            if min(shape, default=1) > 0 and where(Tensor("?", np.zeros(shape, self.dtype), "input")):
                return self.stored(shape)
        raise Rejected("no shape fits")

    def away_from_zero(self, shape):
        t = self.stored(shape)
        zero, far = int(t.zero[0]), 60 if self.dtype != np.int16 else 8000
        t.value = np.maximum(t.value, self.dtype(zero + far)) if zero < far else np.minimum(t.value, self.dtype(zero - far))
        return t

    # Rules of real numbers that only move them work on stored integers as well.
    def pick(self, dtype=F, rank=None, where=lambda t: True, **_):
        return self.take(rank, where)

    def pick_exact(self, rank=None, where=lambda t: True, **_):
        return self.take(rank, where, exact=True)

    def fresh(self, shape, dtype=F, *limits, **more):
        return self.stored(shape) if dtype == F else super().fresh(shape, dtype, *limits, **more)

    def do_many(self, op, inputs, types, options=None, exact=False, custom=None, quantised=None, shape=None):
        if op not in MOVED or quantised is not None:
            return super().do_many(op, inputs, types, options, exact, custom, quantised, shape)
        x = next(t for t in inputs if isinstance(t, Tensor) and t.scale is not None)
        types = [self.dtype if t == F else t for t in types]
        made = super().do_many(op, inputs, types, options, exact, custom, [same_scale(x) if t == self.dtype else None for t in types], shape)
        for t in made:
            t.error = x.error
        return made

    def alike(self, x):
        """Another operand with the scale of x."""
        return self.stored(x.shape, x)

    def weights_for(self, shape, axis, per_channel):
        """Constant weights; per channel they are symmetric."""
        if self.dtype == np.uint8:
            value = self.numbers.integers(0, 255, shape, endpoint=True).astype(np.uint8)
            return self.add("c", value, "constant", scale=np.array([self.choose.choice([0.01, 0.003])], F), zero=np.array([self.choose.choice([128, 100, 131])], L))
        value = self.numbers.integers(-127, 127, shape, endpoint=True).astype(np.int8)
        count = shape[axis] if per_channel else 1
        return self.add("c", value, "constant", scale=self.numbers.uniform(0.002, 0.02, count).astype(F), zero=np.zeros(count, L), axis=axis if per_channel else 0)

    def bias_for(self, x, w, count):
        scale = (x.scale[0] * w.scale).astype(F)
        value = self.numbers.integers(-3000, 3000, [count]).astype(L if self.dtype == np.int16 else I)
        return self.add("c", value, "constant", scale=scale, zero=np.zeros(len(scale), L))

    def run(self, op, inputs, growth, options=None, fixed=None, results=1, steps=STEPS):
        """The operator on integers; its scale covers what the same operator gives on real numbers."""
        if fixed is None:
            twins = [t if t is None or t.scale is None else Tensor(t.name, real(t).astype(F), t.kind) for t in inputs]
            values = self.compute(op, twins, [F] * results, options, None, None, None)
            if any(v.size == 0 or not np.all(np.isfinite(v)) for v in values):
                raise Rejected("nothing to calibrate with")
            if max(np.max(np.abs(v)) for v in values) < 0.01 * max(largest(t) for t in inputs if t is not None and t.scale is not None):
                raise Rejected("steps so small that LiteRT's multipliers overflow")
            fixed = self.scale_for(min(float(v.min()) for v in values), max(float(v.max()) for v in values))
        return self.integers(op, inputs, growth, options, fixed, results, steps)

    def integers(self, op, inputs, growth, options, fixed, results=1, steps=STEPS):
        made = self.do_many(op, inputs, [self.dtype] * results, options, quantised=[fixed] * results)
        for t in made:
            t.error = steps * float(t.scale[0]) + growth + 1e-6 * largest(t)
            if t.error > 0.2 * float(t.scale[0]) * (int(self.limits.max) - int(self.limits.min)):
                raise Rejected("the error reaches across the range")
        return made[0]


def real(t):
    along = [-1 if len(t.scale) > 1 and a == t.axis else 1 for a in range(t.rank)]
    return (t.value.astype(np.float64) - t.zero.reshape(along if t.rank else [])) * t.scale.astype(np.float64).reshape(along if t.rank else [])


def same_scale(x):
    return float(x.scale[0]), int(x.zero[0])


def largest(t):
    return float(np.max(np.abs(real(t)), initial=0)) + t.error


def reach(w, axis):
    """Largest sum of magnitudes of weights that meet in one result."""
    return float(np.max(np.sum(np.abs(real(w)), tuple(a for a in range(w.rank) if a != axis))))


def convolution(g, op):
    if g.dtype == np.int8 and op == "CONV_2D" and g.some(0.2):
        return mixed(g, op)
    x = g.take(4)
    options = {"padding": g.choose.choice([0, 1]), "fusedActivationFunction": g.choose.choice(ACTIVATIONS), **strides(g), **dilations(g)}
    if op == "CONV_2D":
        count, axis, table = g.choose.choice([1, 2, 4, 8]), 0, "Conv2DOptions"
        w = g.weights_for([count, window(g), window(g), x.shape[3]], 0, g.some(0.7))
    else:
        options["depthMultiplier"] = g.choose.choice([1, 1, 2])
        count, axis, table = x.shape[3] * options["depthMultiplier"], 3, "DepthwiseConv2DOptions"
        w = g.weights_for([1, window(g), window(g), count], 3, g.some(0.7))
    g.run(op, [x, w, g.bias_for(x, w, count)], reach(w, axis) * x.error, (table, options))


def transposed(g, op):
    x = g.take(4)
    s, k, count = g.choose.choice([1, 2, 3]), g.choose.choice([1, 2, 3, 4]), g.choose.choice([1, 2, 4])
    same = g.some(0.5)
    shape = [x.shape[0], *[n * s if same else (n - 1) * s + k for n in x.shape[1:3]], count]
    w = g.weights_for([count, k, k, x.shape[3]], 0, g.some(0.7))
    operands = [integers(g, shape), w, x, *([g.bias_for(x, w, count)] if g.some(0.5) else [])]
    g.run(op, operands, reach(w, 0) * x.error, ("TransposeConvOptions", {"padding": 0 if same else 1, "strideH": s, "strideW": s}))


def fully_connected(g, op):
    if g.dtype == np.int8 and g.some(0.2):
        return mixed(g, op)
    x = g.take(range(1, 4))
    count = g.choose.choice([1, 2, 5, 16])
    w = g.weights_for([count, x.shape[-1]], 0, g.some(0.4))
    options = {"fusedActivationFunction": g.choose.choice(ACTIVATIONS), "keepNumDims": g.some(0.3)}
    g.run(op, [x, w, g.bias_for(x, w, count)], reach(w, 0) * x.error, ("FullyConnectedOptions", options))


def mixed(g, op):
    """Real numbers and 8-bit weights: LiteRT takes the real numbers to 8 bits as well, by the largest of each row."""
    count, dense = g.choose.choice([1, 2, 5, 16]), op == "FULLY_CONNECTED"
    shape = [g.choose.randint(1, 4), g.choose.randint(1, 16)] if dense else [1, g.choose.randint(3, 6), g.choose.randint(3, 6), g.choose.choice([1, 3, 8])]
    x = g.input(g.numbers.uniform(-3, 3, shape).astype(F))
    w_shape = [count, shape[-1]] if dense else [count, window(g), window(g), shape[-1]]
    value = g.numbers.integers(-127, 127, w_shape, endpoint=True).astype(np.int8)
    scales = 1 if dense else count
    w = g.add("c", value, "constant", scale=g.numbers.uniform(0.002, 0.02, scales).astype(F), zero=np.zeros(scales, L))
    options = {"fusedActivationFunction": g.choose.choice(ACTIVATIONS), "asymmetricQuantizeInputs": g.some(0.5)} if dense else {
        "padding": 0, "strideH": 1, "strideW": 1, "dilationHFactor": 1, "dilationWFactor": 1}
    y = g.do(op, [x, w, g.constant(g.numbers.uniform(-2, 2, count).astype(F))], [F], ("FullyConnectedOptions" if dense else "Conv2DOptions", options))
    y.error = 0.6 * 3 / 127 * reach(w, 0) + 1e-5


def batch_mat_mul(g, op):
    x = g.take([2, 3, 4])
    y = g.stored([*g.broadcast(x.shape[:-2], 0), x.shape[-1], g.choose.choice([1, 3, 5])])
    growth = x.shape[-1] * (largest(x) * y.error + largest(y) * x.error)
    g.run(op, [x, y], growth, ("BatchMatMulOptions", {}))


def arithmetic(g, op):
    x = g.take(range(5))
    fits = [t for t in g.tensors if t.scale is not None and t.kind != "constant" and t.dtype == x.dtype and t.shape == x.shape]
    y = g.choose.choice(fits) if fits and g.some(0.5) else g.stored(g.broadcast(x.shape, 0))
    if op == "DIV":  # away from zero: LiteRT's integer quotients of small numbers are wrong, by a hundred steps at times
        x, y = (g.away_from_zero(shape) for shape in (x.shape, g.broadcast(x.shape, 0)))
    growth = {"MUL": largest(x) * y.error + largest(y) * x.error, "SQUARED_DIFFERENCE": 2 * (largest(x) + largest(y)) * (x.error + y.error)}.get(op, x.error + y.error)
    tables = {"ADD": "AddOptions", "SUB": "SubOptions", "MUL": "MulOptions", "DIV": "DivOptions"}
    options = {"fusedActivationFunction": g.choose.choice(ACTIVATIONS)}
    if op in ("ADD", "SUB"):
        options["potScaleInt16"] = False
    g.run(op, [x, y] if op == "DIV" or g.some(0.5) else [y, x], growth, (tables[op], options) if op in tables else None)


def extremes(g, op):
    x = g.take(range(5))
    y = g.alike(x)
    g.integers(op, [x, y], x.error, None, same_scale(x), steps=0)


FUNCTIONS = {"RELU": 1, "RELU6": 1, "RELU_N1_TO_1": 1, "LOGISTIC": 0.25, "TANH": 1, "HARD_SWISH": 1.5, "ELU": 1, "GELU": 1.2, "ABS": 1, "LEAKY_RELU": 1.5, "PRELU": 1.5}
COARSE = ("EXP", "LOG", "RSQRT", "GELU", "PRELU")  # LiteRT interpolates a table of 512 places in int16, and takes PRELU's slope for int8
EXACT_FUNCTIONS = ("EXP", "LOG", "RSQRT", "SQRT")


def function(g, op):
    if g.dtype == np.int16 and op in COARSE:
        raise Rejected("not exact in int16")
    x = g.take(range(1, 5), exact=op in EXACT_FUNCTIONS)
    options, operands = None, [x]
    if op == "GELU" and np.min(real(x)) < -2:  # further down, results are below the precision that docs/reference/conventions.md gives it
        raise Rejected("a result near zero")
    if op in ("LOG", "RSQRT", "SQRT"):
        x = operands[0] = g.stored(x.shape)
        x.value = np.maximum(x.value, x.value.dtype.type(min(int(x.zero[0]) + 8, g.limits.max)))
    if op == "LEAKY_RELU":
        options = ("LeakyReluOptions", {"alpha": g.choose.choice([0.1, 0.5, -0.5])})
    if op == "GELU":
        options = ("GeluOptions", {"approximate": g.some(0.5)})
    if op == "PRELU":
        slope = g.numbers.integers(g.limits.min, g.limits.max, [1] * (x.rank - 2) + [x.shape[-1]] if x.rank > 1 else [x.shape[-1]], endpoint=True).astype(g.dtype)
        operands.append(g.add("c", slope, "constant", scale=np.array([0.005], F), zero=np.array([0 if g.dtype != np.uint8 else 128], L)))
    g.run(op, operands, FUNCTIONS.get(op, 0) * x.error, options, fixed_scale(g, op), steps=steps_of_table(g, op))


def steps_of_table(g, op):
    """LiteRT interpolates between the places of a table in 16 bits, whose steps are 256 times as small."""
    return 2 * STEPS if g.dtype == np.int16 and op in ("TANH", "LOGISTIC", "SOFTMAX") else STEPS


def fixed_scale(g, op):
    return FIXED[op][KINDS_OF_NUMBER.index(g.dtype)] if op in FIXED else None


def softmax(g, op):
    x = g.take(range(1, 5), exact=op == "L2_NORMALIZATION")
    options = {"SOFTMAX": ("SoftmaxOptions", {"beta": g.choose.choice([1.0, 0.5])}), "L2_NORMALIZATION": ("L2NormOptions", {})}.get(op)
    g.run(op, [x], 2 * x.error, options, fixed_scale(g, op), steps=steps_of_table(g, op))


def pool(g, op):
    x = g.take(4)
    options = ("Pool2DOptions", {"padding": g.choose.choice([0, 1]), "fusedActivationFunction": g.choose.choice(ACTIVATIONS), **strides(g), "filterHeight": window(g), "filterWidth": window(g)})
    moves = op == "MAX_POOL_2D" and options[1]["fusedActivationFunction"] == 0
    g.integers(op, [x], x.error, options, same_scale(x), steps=0 if moves else STEPS)


def resize(g, op):
    x = g.take(4)
    if g.dtype == np.int16 and op == "RESIZE_BILINEAR":
        raise Rejected("weights of ten bits")
    size = [g.choose.choice([n, 2 * n, g.choose.randint(1, 3 * n)]) for n in x.shape[1:3]]
    corners, half = g.choose.choice([(False, False), (True, False), (False, True)])
    table = "ResizeBilinearOptions" if op == "RESIZE_BILINEAR" else "ResizeNearestNeighborOptions"
    g.integers(op, [x, integers(g, size)], x.error, (table, {"alignCorners": corners, "halfPixelCenters": half}), same_scale(x), steps=STEPS if op == "RESIZE_BILINEAR" else 0)


def reduce(g, op):
    x = g.take(range(1, 5))
    over = axes(g, x)
    count = int(np.prod([x.shape[a] for a in {int(a) % x.rank for a in over.value.reshape(-1)}]))
    options = ("ReducerOptions", {"keepDims": g.some(0.5)})
    if op in ("REDUCE_MAX", "REDUCE_MIN"):
        return g.integers(op, [x, over], x.error, options, same_scale(x), steps=0)
    g.run(op, [x, over], (count if op == "SUM" else 1) * x.error, options)


def concatenation(g, op):
    x = g.take(range(1, 5))
    axis = axis_of(g, x)
    other = x.shape
    other[axis] = g.choose.randint(1, 4)
    y = g.stored(other, None if g.dtype == np.uint8 and g.some(0.3) else x)
    g.integers(op, [x, y] if g.some(0.5) else [y, x], x.error, ("ConcatenationOptions", {"axis": signed(g, axis, x.rank)}), same_scale(x))


def pack(g, op):
    x = g.take(range(4))
    g.integers(op, [x, g.alike(x)], x.error, ("PackOptions", {"valuesCount": 2, "axis": g.choose.randint(-1, x.rank)}), same_scale(x), steps=0)


def pad_with(g, op):
    x = g.take(range(1, 5))
    fill = g.add("c", np.array(g.numbers.integers(g.limits.min, g.limits.max), g.dtype), "constant", scale=x.scale, zero=x.zero)
    g.integers(op, [x, integers(g, tflite_windows.paddings(g, x, 2)), fill], x.error, ("PadV2Options", {}), same_scale(x), steps=0)


def select(g, op):
    x = g.take(range(5))
    condition = g.input(g.sample(g.broadcast(x.shape, 0), np.bool_))
    g.do_many(op, [condition, x, g.alike(x)], [g.dtype], None, quantised=[same_scale(x)], shape=x.shape)[0].error = x.error


def requantise(g, op):
    """From float32, to another scale, or to float32."""
    x = g.take(range(1, 5))
    if op == "QUANTIZE":
        fixed = g.scale_for(-3, 3)
        source = x if g.some(0.5) else g.input(g.numbers.uniform(-4, 4, x.shape).astype(F))
        return g.integers(op, [source], x.error, None, fixed)
    y = g.do(op, [x], [F])
    y.error = x.error + 1e-6 * largest(x)


RULES = {"CONV_2D": convolution, "DEPTHWISE_CONV_2D": convolution, "TRANSPOSE_CONV": transposed, "FULLY_CONNECTED": fully_connected, "BATCH_MATMUL": batch_mat_mul,
         **{op: arithmetic for op in ("ADD", "SUB", "MUL", "DIV", "SQUARED_DIFFERENCE")}, "MAXIMUM": extremes, "MINIMUM": extremes,
         **{op: function for op in (*FUNCTIONS, *EXACT_FUNCTIONS)}, **{op: softmax for op in ("SOFTMAX", "LOG_SOFTMAX", "L2_NORMALIZATION")},
         "AVERAGE_POOL_2D": pool, "MAX_POOL_2D": pool, "RESIZE_BILINEAR": resize, "RESIZE_NEAREST_NEIGHBOR": resize,
         **{op: reduce for op in ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN")}, "CONCATENATION": concatenation,
         **MOVED, "PACK": pack, "PADV2": pad_with, "SELECT_V2": select, "ARG_MAX": arg_reduce, "ARG_MIN": arg_reduce, "QUANTIZE": requantise, "DEQUANTIZE": requantise}
NAMES = sorted(RULES)


def stored_or_real(g):
    """The case with --dequantize, or of the integers themselves."""
    integers = g.some(0.5)
    return g.case(dequantize=not integers, integers=integers)


def one_operator(seed):
    g = Quantised(seed)
    op = g.choose.choice(NAMES)
    for _ in range(20):
        if g.attempt(RULES[op], op):
            return stored_or_real(g)
    raise Rejected("nothing that LiteRT computes")


def several(seed):
    g = Quantised(seed)
    for _ in range(g.choose.randint(2, 8)):
        op = g.choose.choice(NAMES)
        g.attempt(RULES[op], op)
    return stored_or_real(g)


FAMILIES = {"quantised": (4, one_operator), "quantised_graph": (3, several)}
