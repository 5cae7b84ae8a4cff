#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Operators on stored integers against ONNX Runtime: every element equal. Each form is converted with --check, which compares the evaluator too.
Layers between DequantizeLinear and QuantizeLinear are compared with the QLinear operators that they stand for.

  quantized_forms.py [PATTERN]      forms whose name contains PATTERN
"""
import itertools
import pathlib
import sys

import numpy as np
import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from grids import Grid  # noqa: E402
from models import plain_session  # noqa: E402

RANDOM = np.random.default_rng(11)
KINDS = (np.uint8, np.int8)
F = np.float32


def stored(kind, *shape):
    info = np.iinfo(kind)
    return RANDOM.integers(info.min, info.max + 1, shape).astype(kind)


def zero(kind):
    info = np.iinfo(kind)
    return kind(RANDOM.choice([0, (info.min + info.max + 1) // 2, RANDOM.integers(info.min, info.max + 1)]))


def scales(count):
    return RANDOM.uniform(0.001, 0.05, count).astype(F)


def scale():
    return F(RANDOM.uniform(0.01, 0.1))


def between_floats_and_bytes():
    """QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear: halves, both ends of the range, NaN and infinities among the numbers."""
    x = RANDOM.uniform(-3, 3, (2, 5, 4)).astype(F)
    x.flat[:12] = [0.25, 0.75, -0.25, 1.25, 1e9, -1e9, np.inf, -np.inf, 0, 2.5, -2.5, 3.5]
    noise = RANDOM.uniform(-3, 3, (2, 5, 4)).astype(F)
    grid = Grid(21, x=x, noise=noise, nothing=np.zeros((1, 3), F), above=RANDOM.uniform(1, 9, (3, 5)).astype(F))
    for kind in (np.uint8, np.int8, np.int16):
        for s in (F(0.5), F(0.013), F(1 / 3)):
            grid.add(f"quantize to {kind.__name__} by {s}", "QuantizeLinear", ["x", s, zero(kind)])
        for axis in (0, 1, 2, -1):
            n = x.shape[axis]
            grid.add(f"quantize to {kind.__name__} along {axis}", "QuantizeLinear", ["x", scales(n), np.array([zero(kind) for _ in range(n)])], axis=axis)
    grid.add("quantize without a zero point", "QuantizeLinear", ["x", F(0.5)])
    for name in ("noise", "nothing", "above"):
        grid.add(f"dynamic of {name}", "DynamicQuantizeLinear", [name], outputs=3)
    return [grid]


def from_bytes():
    grid = Grid(21, u=stored(np.uint8, 2, 5, 4), i=stored(np.int8, 2, 5, 4))
    for name, kind in (("u", np.uint8), ("i", np.int8)):
        grid.add(f"dequantize {name}", "DequantizeLinear", [name, scale(), zero(kind)])
        grid.add(f"dequantize {name} without a zero point", "DequantizeLinear", [name, scale()])
        for axis in (0, 1, 2):
            n = (2, 5, 4)[axis]
            grid.add(f"dequantize {name} along {axis}", "DequantizeLinear", [name, scales(n), np.array([zero(kind) for _ in range(n)])], axis=axis)
    return [grid]


def matrices():
    """Depths whose sums float32 holds, and those that it does not; one scale, and one per column."""
    grids = []
    for depth, kind in itertools.product((1, 7, 300, 2000), KINDS):
        grid = Grid(21, a=stored(kind, 3, depth), many=stored(kind, 2, 3, depth))
        for other, columns in itertools.product(KINDS, (1, 9)):
            if kind is np.int8 and other is np.uint8:  # ONNX Runtime has no kernel
                continue
            b, name = stored(other, depth, columns), f"{kind.__name__} times {other.__name__} {depth}x{columns}"
            for source in ("a", "many"):
                grid.add(f"integers {source} {name}", "MatMulInteger", [source, b, zero(kind), zero(other)])
                grid.add(f"QLinear {source} {name}", "QLinearMatMul", [source, scale(), zero(kind), b, F(0.01), zero(other), scale(), zero(kind)])
            grid.add(f"integers without zero points {name}", "MatMulInteger", ["a", b])
            grid.add(f"QLinear by columns {name}", "QLinearMatMul", ["a", scale(), zero(kind), b, scales(columns), np.array([zero(other)] * columns), scale(), zero(kind)])
        grids.append(grid)
    return grids


def computed_matrices():
    halves = stored(np.int8, 40, 5) // 2  # ONNX Runtime saturates pairs of larger ones without VNNI; exact_products raises constants alone
    grid = Grid(21, a=stored(np.uint8, 2, 3, 40), b=stored(np.uint8, 2, 40, 5), c=halves)
    grid.add("integers, both computed", "MatMulInteger", ["a", "b", np.uint8(3), np.uint8(130)])
    grid.add("integers, a matrix for all", "MatMulInteger", ["a", "c", np.uint8(3), np.int8(-7)])
    grid.add("QLinear, both computed", "QLinearMatMul", ["a", scale(), np.uint8(9), "b", scale(), np.uint8(1), F(0.9), np.uint8(100)])
    return [grid]


def convolutions():
    grids = []
    for kind, channels in itertools.product(KINDS, (3, 8)):
        grid = Grid(21, image=stored(kind, 2, channels, 7, 6), line=stored(kind, 1, channels, 9))
        for other, kernel, stride, dilation, group in itertools.product(KINDS, (1, 3), (1, 2), (1, 2), (1, channels)):
            if kind is np.int8 and other is np.uint8:
                continue
            outputs = channels * 2
            name = f"{kind.__name__} {other.__name__} {channels} channels, kernel {kernel} stride {stride} dilation {dilation} group {group}"
            attributes = {"strides": [stride] * 2, "dilations": [dilation] * 2, "group": group, "pads": [kernel // 2, 0, kernel // 2, 1]}
            w, bias = stored(other, outputs, channels // group, kernel, kernel), RANDOM.integers(-5000, 5000, outputs).astype(np.int32)
            z = np.int8(0) if other is np.int8 else zero(other)
            grid.add(f"QLinear {name}", "QLinearConv", ["image", scale(), zero(kind), w, F(0.004), z, F(0.3), zero(kind), bias], **attributes)
            grid.add(f"QLinear by channels {name}", "QLinearConv",
                     ["image", scale(), zero(kind), w, scales(outputs), np.full(outputs, z), F(0.3), zero(kind)], **attributes)
            if kind is np.uint8:
                grid.add(f"integers {name}", "ConvInteger", ["image", w, zero(kind), z], **attributes)
            flat = stored(other, outputs, channels // group, kernel)
            grid.add(f"QLinear of lines {name}", "QLinearConv", ["line", scale(), zero(kind), flat, F(0.004), z, F(0.3), zero(kind), bias],
                     strides=[stride], dilations=[dilation], group=group, pads=[kernel // 2] * 2)
        grids.append(grid)
    deep = Grid(21, image=stored(np.uint8, 1, 64, 5, 5))
    for other in KINDS:  # 576 products of large numbers: more than 2^24
        w = np.full((4, 64, 3, 3), np.iinfo(other).max, other)
        deep.add(f"QLinear deep {other.__name__}", "QLinearConv",
                 ["image", F(0.02), np.uint8(2), w, F(0.01), other(0), F(40), np.uint8(3), np.array([-2000000, 5, 70000, 20000000], np.int32)])
        deep.add(f"integers deep {other.__name__}", "ConvInteger", ["image", stored(other, 4, 64, 3, 3), np.uint8(130), other(0)])
    return [*grids, deep]


def as_written():
    """What looks like a layer of integers and is none, of numbers that float32 holds exactly: as ONNX Runtime computes it step by step."""
    s, z = F(0.5), np.uint8(20)
    grid = Grid(19, image=stored(np.uint8, 1, 1, 4, 4), line=stored(np.uint8, 6))
    roi, sizes = np.array([0, 0, -0.5, -0.5, 1, 1, 1.5, 1.5], F), np.array([1, 1, 7, 7])
    image = widened(grid, "image", s, z)
    for value in (5.0, -3.5, 0.0):
        y = grid.hidden("Resize", [image, roi, "", sizes], mode="nearest", coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=value)
        grid.add(f"resize that extrapolates by {value}", "QuantizeLinear", [y, s, z])
    y = grid.hidden("MatMul", [widened(grid, "line", s, z), widened(grid, stored(np.int8, 6, 3), F(0.25), np.int8(0))])
    grid.add("a vector times a matrix", "QuantizeLinear", [y, F(8), z])
    return [grid]


def widened(grid, values, s, z, **attributes):
    return grid.hidden("DequantizeLinear", [values, s, z], **attributes)


def bounded(twin, name, what, limit, y_scale, y_zero):
    """The function of limits on stored integers: rounding keeps the order of numbers."""
    info = np.iinfo(type(y_zero))
    stored_number = lambda real: type(y_zero)(np.clip(np.rint(F(real) / y_scale) + int(y_zero), info.min, info.max))
    for op, real in {None: [], "Relu": [("Max", 0)], "Clip": [("Max", 0.1), ("Min", 6)]}[limit]:
        name = twin.hidden(op, [name, stored_number(real)])
    twin.add(what, "Cast", [name], to=onnx.helper.np_dtype_to_tensor_dtype(np.dtype(type(y_zero))))


def layers():
    """DequantizeLinear, a layer, a function of limits, QuantizeLinear: with every kind of bias, scale and limit; and QLinear operators."""
    grids = []
    for kind in KINDS:
        inputs = {"image": stored(kind, 1, 6, 7, 6), "rows": stored(kind, 4, 20)}
        grid, twin = Grid(17, **inputs), Grid(17, **inputs)
        for per_channel, biased, limit in itertools.product((False, True), (False, True), (None, "Relu", "Clip")):
            x_scale, x_zero, y_scale, y_zero = F(0.02), zero(kind), F(0.05), zero(kind)
            outputs = 8
            w_scale = scales(outputs) if per_channel else F(0.01)
            w_zero = np.zeros(outputs, np.int8) if per_channel else np.int8(0)
            values = RANDOM.integers(-9000, 9000, outputs).astype(np.int32) if biased else None

            def layer(op, integer_op, source, shape, axis, **attributes):
                w = stored(np.int8, *shape)
                inputs = [widened(grid, source, x_scale, x_zero), widened(grid, w, w_scale, w_zero, axis=axis)]
                if biased:
                    inputs.append(widened(grid, values, F(x_scale * w_scale) if not per_channel else x_scale * w_scale,
                                          np.zeros(outputs if per_channel else (), np.int32), axis=0))
                result = grid.hidden(op, inputs, **attributes)
                if limit:
                    result = grid.hidden(limit, [result] + ([F(0.1), F(6)] if limit == "Clip" else []))
                what = f"{kind.__name__} {op} {shape} {attributes}, per channel {per_channel}, bias {biased}, {limit}"
                grid.add(what, "QuantizeLinear", [result, y_scale, y_zero])
                x, bias, y = [source, x_scale, x_zero, w, w_scale, w_zero], [values] if biased else [], [y_scale, y_zero]
                domain = "com.microsoft" if op == "Gemm" else ""
                ordered = [*x, *(bias or [""]), *y] if op == "Gemm" else [*x, *y, *bias]
                bounded(twin, twin.hidden(integer_op, ordered, domain=domain, **attributes), what, limit, y_scale, y_zero)

            for group, kernel in ((1, 3), (2, 1)):
                layer("Conv", "QLinearConv", "image", (outputs, 6 // group, kernel, kernel), 0, group=group, pads=[kernel // 2] * 4)
            for transposed in (0, 1):
                layer("Gemm", "QGemm", "rows", (outputs, 20) if transposed else (20, outputs), 1 - transposed, transB=transposed)
            if not biased:
                layer("MatMul", "QLinearMatMul", "rows", (20, outputs), 1)
        grids.append((grid, twin))
    return grids


def sums():
    """A layer to whose result stored numbers are added, a function of limits, QuantizeLinear. The twin adds units of the result in float32."""
    grids = []
    for kind, swapped in itertools.product(KINDS, (False, True)):
        other = kind if not swapped else (np.int8 if kind is np.uint8 else np.uint8)
        inputs = {"image": stored(kind, 2, 8, 7, 6), "residual": stored(other, 2, 40, 7, 6)}
        grid, twin = Grid(17, **inputs), Grid(17, **inputs)
        for per_channel, group, limit in itertools.product((False, True), (1, 2), (None, "Relu", "Clip")):
            x_scale, x_zero, y_scale, y_zero, r_scale, r_zero = F(0.02), zero(kind), F(0.05), zero(kind), scale(), zero(other)
            kernel, outputs = 1 if group == 1 and per_channel else 3, 40
            w, w_scale = stored(np.int8, outputs, 8 // group, kernel, kernel), scales(outputs) if per_channel else F(0.01)
            bias = RANDOM.integers(-9000, 9000, outputs).astype(np.int32) * (limit != "Clip")
            unit = (x_scale * w_scale).astype(F)
            what = f"{kind.__name__} Conv {w.shape} groups {group} + {other.__name__}, per channel {per_channel}, {limit}"
            attributes = {"group": group, "pads": [kernel // 2] * 4}
            inputs = [widened(grid, "image", x_scale, x_zero), widened(grid, w, w_scale, np.zeros(w_scale.shape, np.int8), axis=0)]
            if bias.any():
                inputs.append(widened(grid, bias, unit, np.zeros(w_scale.shape, np.int32), axis=0))
            made = grid.hidden("Conv", inputs, **attributes)
            terms = [made, widened(grid, "residual", r_scale, r_zero)]
            result = grid.hidden("Add", terms[::-1] if swapped else terms)
            if limit:
                result = grid.hidden(limit, [result] + ([F(0.1), F(6)] if limit == "Clip" else []))
            grid.add(what, "QuantizeLinear", [result, y_scale, y_zero])
            along = lambda a: np.reshape(np.broadcast_to(a, outputs), (1, outputs, 1, 1))
            shifted = lambda name, z: twin.hidden("Cast", [twin.hidden("Sub", [twin.hidden("Cast", [name], to=onnx.TensorProto.INT32), np.int32(z)])],
                                                  to=onnx.TensorProto.FLOAT)
            exact = twin.hidden("Add", [twin.hidden("Conv", [shifted("image", x_zero), w.astype(F)], **attributes), along(bias).astype(F)])
            units = twin.hidden("Add", [twin.hidden("Mul", [exact, along((x_scale * w_scale).astype(F) / y_scale)]),
                                        twin.hidden("Mul", [shifted("residual", r_zero), F(r_scale / y_scale)])])
            bounded(twin, twin.hidden("QuantizeLinear", [units, F(1), y_zero]), what, limit, y_scale, y_zero)
        grids.append((grid, twin))
    return grids


def session_of(twin, folder):
    """ONNX Runtime's session of another grid."""
    path = folder / "twin.onnx"
    onnx.save(twin.model(), path)
    return plain_session(path)


def differences(wanted):
    """(number of cases, what differs), cases chosen by a part of their name."""
    count, wrong = 0, []
    for make in (between_floats_and_bytes, from_bytes, matrices, computed_matrices, convolutions, as_written, layers, sums):
        for grids in make():
            grid, twin = grids if make in (layers, sums) else (grids, grids)
            keep = [i for i, (what, _) in enumerate(grid.cases) if wanted in what]
            grid.cases = [grid.cases[i] for i in keep]
            wrong += grid.wrong(0, session=lambda path: session_of(twin, path.parent))
            count += len(grid.cases)
    return count, wrong


if __name__ == "__main__":
    count, wrong = differences(sys.argv[1] if len(sys.argv) > 1 else "")
    for what in wrong[:20]:
        print(f"differs from ONNX Runtime: {what}")
    print(f"{count} operators on stored integers, {len(wrong)} differ")
    sys.exit(bool(wrong))
