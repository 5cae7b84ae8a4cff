#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Single operators of TensorFlow Lite on int16 against the real numbers that they mean: how many steps netsuke and LiteRT are away from them.

The real result is computed in double precision. Ours must be the nearest integer to it, LiteRT's no further away than docs/reference/quantisation.md says
(LIMITS): where that is more than one step, its kernels are a table or weights of few bits, and there is nothing to follow.
"""
import pathlib
import re
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from litert import have_litert, interpreter_of  # noqa: E402
from litert_operators import quantised  # noqa: E402
from models import REPOSITORY, must  # noqa: E402
from tflite_writer import Writer  # noqa: E402

F = np.float32
NUMBERS = np.random.default_rng(3)
NEAREST = 0.52  # steps: half of one, and what single precision adds
S = F(1 / 4096)
IMAGE = [1, 16, 16, 8]
# Name: the most steps between LiteRT's result and the real one, over the inputs below.
LIMITS = {"ADD, SUB": 0.51, "MUL": 0.51, "QUANTIZE, RELU, ABS": 0.51, "MEAN": 0.51, "AVERAGE_POOL_2D": 0.51, "FULLY_CONNECTED": 0.51, "BATCH_MATMUL": 0.8, "LEAKY_RELU": 0.8,
          "CONV_2D, DEPTHWISE_CONV_2D": 1.3, "LOGISTIC": 8, "TANH": 14, "SOFTMAX": 20, "GELU": 3, "EXP": 6, "SQRT": 3, "RESIZE_BILINEAR": 1700}


def shorts(shape, low=-32768, high=32767):
    return NUMBERS.integers(low, high, shape, endpoint=True).astype(np.int16)


def window_sums(a, h, w, of):
    """The sum over the places of a window, which `of` makes of the image there and of the place."""
    rows, columns = a.shape[1] - h + 1, a.shape[2] - w + 1
    return sum(of(a[:, i:i + rows, j:j + columns], i, j) for i in range(h) for j in range(w))


def resized(a, size, corners, half):
    for axis, n in ((1, size[0]), (2, size[1])):
        length = a.shape[axis]
        place = np.arange(n) * ((length - 1) / (n - 1) if corners else length / n) + (0.5 * length / n - 0.5 if half else 0)
        place = np.clip(place, 0, length - 1)
        below = np.floor(place).astype(int)
        share = (place - below).reshape([-1 if d == axis else 1 for d in range(4)])
        a = np.take(a, below, axis) * (1 - share) + np.take(a, np.minimum(below + 1, length - 1), axis) * share
    return a


def softmax(a):
    e = np.exp(a - a.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def gelu(a):
    from math import erf
    return a * 0.5 * (1 + np.vectorize(erf)(a / np.sqrt(2)))


def sigmoid(a):
    return 1 / (1 + np.exp(-a))


def functions():
    """(name, operator, values and scales of inputs, scale of the result, what it computes, options, constants)"""
    for scale in (8 / 32768, 0.00037):
        yield "LOGISTIC", "LOGISTIC", [(shorts(IMAGE), scale)], 1 / 32768, sigmoid
        yield "TANH", "TANH", [(shorts(IMAGE), scale)], 1 / 32768, np.tanh
    yield "QUANTIZE, RELU, ABS", "QUANTIZE", [(shorts(IMAGE), S)], S * 0.9, lambda a: a
    yield "QUANTIZE, RELU, ABS", "RELU", [(shorts(IMAGE), S)], S * 0.9, lambda a: np.maximum(a, 0)
    yield "QUANTIZE, RELU, ABS", "ABS", [(shorts(IMAGE), S)], S * 0.9, np.abs
    slope = float(F(0.3))
    yield "LEAKY_RELU", "LEAKY_RELU", [(shorts(IMAGE), S)], S * 0.9, lambda a: np.where(a < 0, a * slope, a), ("LeakyReluOptions", {"alpha": 0.3})
    yield "EXP", "EXP", [(shorts(IMAGE), 1 / 8192)], 1 / 600, np.exp
    yield "SQRT", "SQRT", [(shorts(IMAGE, 1), 1 / 8192)], 2 / 32768, np.sqrt
    yield "GELU", "GELU", [(shorts(IMAGE), S)], S, gelu, ("GeluOptions", {})
    for scale, count in ((8 / 32768, 100), (40 / 32768, 10)):
        yield "SOFTMAX", "SOFTMAX", [(shorts([64, count]), scale)], 1 / 32768, softmax, ("SoftmaxOptions", {"beta": 1.0})
    for op, sign in (("ADD", 1), ("SUB", -1)):
        yield "ADD, SUB", op, [(shorts(IMAGE), S), (shorts(IMAGE), S / 3)], S * 1.4, lambda a, b, sign=sign: a + sign * b, (f"{op.capitalize()}Options", {"potScaleInt16": False})
    yield "MUL", "MUL", [(shorts(IMAGE), S), (shorts(IMAGE), S / 3)], S * 8, lambda a, b: a * b, ("MulOptions", {})


def windows():
    axes = [np.array([1, 2], np.int32)]
    for scale in (S, S / 9):
        yield "MEAN", "MEAN", [(shorts(IMAGE), S)], scale, lambda a: a.mean((1, 2)), ("ReducerOptions", {}), axes
    steps = {"padding": 1, "strideH": 1, "strideW": 1}
    yield "AVERAGE_POOL_2D", "AVERAGE_POOL_2D", [(shorts(IMAGE), S)], S, lambda a: window_sums(a, 3, 2, lambda x, i, j: x / 6), (
        "Pool2DOptions", {**steps, "filterHeight": 3, "filterWidth": 2})
    for size in ((32, 32), (37, 29), (100, 7)):
        for corners, half in ((False, False), (True, False), (False, True)):
            yield "RESIZE_BILINEAR", "RESIZE_BILINEAR", [(shorts(IMAGE), S)], S, lambda a, z=size, c=corners, h=half: resized(a, z, c, h), (
                "ResizeBilinearOptions", {"alignCorners": corners, "halfPixelCenters": half}), [np.array(size, np.int32)]
    yield "BATCH_MATMUL", "BATCH_MATMUL", [(shorts([2, 12, 20]), S), (shorts([2, 20, 9]), S / 3)], S * 20, lambda a, b: a @ b, ("BatchMatMulOptions", {})
    scale, dense = F(0.01), NUMBERS.integers(-127, 128, (20, 64)).astype(np.int8)
    layer = lambda w, n: [(w, scale), (NUMBERS.integers(-100000, 100000, n), S * scale)]  # noqa: E731
    constants = layer(dense, 20)
    yield "FULLY_CONNECTED", "FULLY_CONNECTED", [(shorts([32, 64]), S)], S * 12, lambda a, c=constants: a @ (dense.T * float(scale)) + c[1][0] * float(S * scale), (
        "FullyConnectedOptions", {}), constants
    kernel, each = (NUMBERS.integers(-127, 128, shape).astype(np.int8) for shape in ((6, 3, 3, 8), (1, 3, 3, 8)))
    constants = layer(kernel, 6)
    yield "CONV_2D, DEPTHWISE_CONV_2D", "CONV_2D", [(shorts(IMAGE), S)], S * 8, lambda a, c=constants: window_sums(
        a, 3, 3, lambda x, i, j: x @ (kernel[:, i, j].T * float(scale))) + c[1][0] * float(S * scale), ("Conv2DOptions", steps), constants
    constants = layer(each, 8)
    yield "CONV_2D, DEPTHWISE_CONV_2D", "DEPTHWISE_CONV_2D", [(shorts(IMAGE), S)], S * 4, lambda a, c=constants: window_sums(
        a, 3, 3, lambda x, i, j: x * (each[0, i, j] * float(scale))) + c[1][0] * float(S * scale), ("DepthwiseConv2DOptions", {**steps, "depthMultiplier": 1}), constants


def built(op, inputs, shape, scale, options, constants):
    w = Writer()
    ports = [quantised(w, f"x{i}", v.shape, v.dtype, s, 0) for i, (v, s) in enumerate(inputs)]
    operands = list(ports)
    for i, c in enumerate(constants):
        operands.append(quantised(w, f"c{i}", c[0].shape, c[0].dtype, c[1], 0, c[0]) if isinstance(c, tuple) else w.tensor(f"c{i}", c.shape, c.dtype, c))
    y = quantised(w, "y", shape, np.int16, scale, 0)
    w.operator(op, operands, [y], options)
    return w.finish(ports, [y])


def litert_result(content, inputs):
    interpreter = interpreter_of(content)
    for detail in interpreter.get_input_details():
        interpreter.set_tensor(detail["index"], inputs[int(detail["name"][1:])][0])
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


def our_result(folder, content, inputs):
    (folder / "m.tflite").write_bytes(content)
    must("convert", folder / "m.tflite", "-o", folder / "m.nsk", "--check", "--quiet")
    arguments = []
    for i, (values, _) in enumerate(inputs):
        np.save(folder / f"x{i}.npy", values)
        arguments += ["--input", f"x{i}={folder / f'x{i}.npy'}"]
    must("run", folder / "m.nsk", *arguments, "--output-dir", folder / "out")
    return np.load(folder / "out" / "y.npy")


def distances(folder, op, inputs, scale, compute, options=None, constants=()):
    """Steps from the real result: of ours, of LiteRT's."""
    scale = F(scale)
    inputs = [(v, F(s)) for v, s in inputs]
    real = np.clip(compute(*[v.astype(np.float64) * float(s) for v, s in inputs]) / float(scale), -32768, 32767)
    content = built(op, inputs, real.shape, scale, options, constants)
    return [float(np.max(np.abs(y - real))) for y in (our_result(folder, content, inputs), litert_result(content, inputs))]


def documented():
    """Rows of docs/reference/quantisation.md: operators and the most steps that LiteRT is away."""
    table = (REPOSITORY / "docs" / "reference" / "quantisation.md").read_text().split("| operator on int16 |")[1].split("\n\n")[0]
    return {name: float(limit) for name, limit in re.findall(r"^\| ([A-Z0-9_, ]+) \| [0-9.]+ \| ([0-9.]+) \|$", table, re.M)}


def main():
    if not have_litert():
        return 0
    worst, wrong = {}, []
    with tempfile.TemporaryDirectory(prefix="nsk_int16_") as folder:
        for group in (functions, windows):
            for name, *case in group():
                found = distances(pathlib.Path(folder), *case)
                worst[name] = [max(pair) for pair in zip(worst.get(name, [0, 0]), found)]
    for name, (ours, theirs) in worst.items():
        print(f"{name}: ours {ours:.3f} steps, LiteRT's {theirs:.2f}, at most {LIMITS[name]}")
        if ours > NEAREST:
            wrong.append(f"{name}: ours is {ours:.3f} steps away from the real result")
        if theirs > LIMITS[name]:
            wrong.append(f"{name}: LiteRT is {theirs:.3f} steps away, more than is said")
    if documented() != LIMITS or set(worst) != set(LIMITS):
        wrong.append(f"docs/reference/quantisation.md has {documented()}")
    print("\n".join(wrong + [f"{len(worst)} kinds of operators, {len(wrong)} wrong"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
