#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Transposed convolutions between DequantizeLinear and QuantizeLinear, as steps on bytes: every element is that of the rounding rule, with sums of
numpy's int64, and is at most a step from ONNX Runtime, which computes float32 between the two. The evaluator is compared by --check.

  quantized_transposes.py [PATTERN]      forms whose name contains PATTERN
"""
import itertools
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from grids import Grid  # noqa: E402
from models import must, plain_session  # noqa: E402

F = np.float32
RANDOM = np.random.default_rng(31)
# kernel, stride, dilation, pads before and behind, output_padding of both axes; channels, outputs, groups
FORMS = {
    "2 by 2 of stride 2": ((2, 2), (2, 2), (1, 1), (0, 0, 0, 0), (0, 0), 16, 24, 1),
    "3 by 3 of stride 2": ((3, 3), (2, 2), (1, 1), (1, 1, 1, 1), (1, 1), 8, 20, 1),
    "4 by 4 of stride 2": ((4, 4), (2, 2), (1, 1), (1, 1, 1, 1), (0, 0), 7, 5, 1),
    "one output": ((2, 2), (2, 2), (1, 1), (0, 0, 0, 0), (0, 0), 32, 1, 1),
    "3 by 3 of stride 1": ((3, 3), (1, 1), (1, 1), (1, 0, 1, 2), (0, 0), 8, 9, 1),
    "sides of their own": ((3, 2), (2, 3), (1, 1), (1, 0, 0, 1), (1, 2), 8, 6, 1),
    "gaps between taps": ((2, 2), (3, 3), (1, 1), (0, 0, 0, 0), (0, 0), 8, 6, 1),
    "dilated": ((3, 3), (2, 2), (2, 3), (0, 2, 1, 0), (0, 1), 8, 6, 1),
    "many phases": ((6, 5), (5, 5), (1, 1), (1, 0, 0, 2), (0, 0), 8, 6, 1),
    "many phases with gaps": ((3, 4), (5, 5), (1, 1), (0, 0, 0, 0), (0, 0), 8, 3, 1),
    "groups": ((3, 3), (2, 2), (1, 1), (1, 1, 0, 0), (0, 0), 16, 12, 2),
    "groups of few channels": ((3, 3), (2, 2), (1, 1), (1, 1, 0, 0), (0, 0), 6, 6, 3),
    "by channels": ((4, 4), (2, 2), (1, 1), (1, 1, 1, 1), (0, 0), 33, 33, 33),
    "cropped far": ((3, 3), (2, 2), (1, 1), (4, 5, 3, 4), (0, 0), 8, 6, 1),
    "a line": ((5,), (2,), (1,), (1, 2), (1,), 12, 10, 1),
    "deep": ((2, 2), (2, 2), (1, 1), (0, 0, 0, 0), (0, 0), 600, 4, 1),
}
IN_FLOATS = {"groups of few channels"}  # no step on bytes takes them: exact sums in floats


def stored(kind, *shape):
    info = np.iinfo(kind)
    return RANDOM.integers(info.min, info.max + 1, shape).astype(kind)


def zero(kind):
    info = np.iinfo(kind)
    return kind(RANDOM.choice([info.min, (info.min + info.max + 1) // 2, RANDOM.integers(info.min, info.max + 1)]))


def sums(x, w, bias, strides, dilations, pads, extra, groups):
    """Exact sums: [N, C, ...] and [C, O / groups, ...] of int64, each less its zero point."""
    dims = x.ndim - 2
    full = [(n - 1) * s + (k - 1) * d + 1 + e for n, s, k, d, e in zip(x.shape[2:], strides, w.shape[2:], dilations, extra)]
    channels, outputs = x.shape[1] // groups, w.shape[1]
    y = np.zeros((x.shape[0], outputs * groups, *full), np.int64)
    for tap in itertools.product(*(range(k) for k in w.shape[2:])):
        places = tuple(slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, n, s in zip(tap, dilations, x.shape[2:], strides))
        for g in range(groups):
            part = x[:, g * channels:(g + 1) * channels]
            weights = w[(slice(g * channels, (g + 1) * channels), slice(None), *tap)]
            y[(slice(None), slice(g * outputs, (g + 1) * outputs), *places)] += np.einsum("nc...,co->no...", part, weights)
    kept = tuple(slice(pads[d], full[d] - pads[d + dims]) for d in range(dims))
    return y[(slice(None), slice(None), *kept)] + bias.reshape(1, -1, *([1] * dims))


def cases(grid, kind, x, x_scale, x_zero, name):
    """Adds the form with one scale and one per channel, with and without a bias and a limit; yields (what, exact bytes)."""
    kernel, strides, dilations, pads, extra, channels, outputs, groups = FORMS[name]
    for per_channel, biased, limit, w_kind in ((False, True, None, np.int8), (True, True, "Relu", np.int8), (True, False, "Clip", np.int8), (False, False, None, np.uint8)):
        if per_channel and groups > 1 and biased:
            biased = False  # its unit would be that of a group's channel
        w = stored(w_kind, channels, outputs // groups, *kernel)
        w_scale = RANDOM.uniform(0.001, 0.02, outputs // groups).astype(F) if per_channel else F(0.008)
        w_zero = np.zeros(w_scale.shape, w_kind) if w_kind is np.int8 else np.uint8(RANDOM.integers(100, 150))
        bias = RANDOM.integers(-9000, 9000, outputs).astype(np.int32) * biased
        exact = sums(x.astype(np.int64) - int(x_zero), w.astype(np.int64) - int(w_zero.flat[0]), bias, strides, dilations, pads, extra, groups)
        by_channel = np.resize((x_scale * w_scale).astype(F), outputs).reshape(1, -1, *([1] * len(kernel)))
        y_zero = zero(kind)
        y_scale = F(max(np.std(exact * by_channel.astype(float)) / 60, 1e-6))
        units = np.rint(exact.astype(F) * (by_channel / y_scale).astype(F)).astype(np.int64) + int(y_zero)
        low, high = np.iinfo(kind).min, np.iinfo(kind).max
        inputs = [grid.hidden("DequantizeLinear", ["x", x_scale, x_zero]), grid.hidden("DequantizeLinear", [w, w_scale, w_zero], axis=1)]
        if biased:
            inputs.append(grid.hidden("DequantizeLinear", [bias, (x_scale * w_scale).astype(F), np.zeros(w_scale.shape, np.int32)], axis=0))
        y = grid.hidden("ConvTranspose", inputs, strides=strides, dilations=dilations, pads=pads, output_padding=extra, group=groups)
        if limit:
            y = grid.hidden(limit, [y] + ([y_scale * F(-20), y_scale * F(40)] if limit == "Clip" else []))
            low = max(low, int(y_zero) + (0 if limit == "Relu" else -20))
            high = min(high, int(y_zero) + 40) if limit == "Clip" else high
        what = f"{name}: {kind.__name__} times {w_kind.__name__}, per channel {per_channel}, bias {biased}, {limit}"
        grid.add(what, "QuantizeLinear", [y, y_scale, y_zero])
        yield what, np.clip(units, low, high).astype(kind)


def session_of(path, in_floats):
    """ONNX Runtime's session of a model. What it was converted to beside it must have steps on bytes alone, or none of them."""
    listed = must("inspect", path.with_suffix(".nsk"))
    if ("mul round" in listed) != in_floats or ("quantized" in listed) == in_floats:
        raise SystemExit(f"not in {'floats' if in_floats else 'bytes'}:\n{listed}")
    return plain_session(path)


def compared(name, kind):
    """(elements, those a step from ONNX Runtime, what is wrong) of a form."""
    kernel, channels = FORMS[name][0], FORMS[name][5]
    x = stored(kind, 2, channels, *((7, 6) if len(kernel) == 2 else (9,)))
    grid = Grid(17, x=x)
    wanted = dict(cases(grid, kind, x, F(0.02), zero(kind), name))
    elements, apart, wrong = 0, 0, []
    for what, got, runtime in grid.results(session=lambda path: session_of(path, name in IN_FLOATS)):
        steps = np.abs(got.astype(int) - runtime.astype(int))
        elements, apart = elements + steps.size, apart + np.count_nonzero(steps)
        if got.shape != wanted[what].shape or not np.array_equal(got, wanted[what]):
            wrong.append(f"differs from the rule: {what}")
        if steps.max() > 1:
            wrong.append(f"more than a step from ONNX Runtime: {what}")
    return elements, apart, wrong


def main():
    pattern = sys.argv[1] if len(sys.argv) > 1 else ""
    elements, apart, wrong = 0, 0, []
    for name, kind in itertools.product((n for n in FORMS if pattern in n), (np.uint8, np.int8)):
        result = compared(name, kind)
        elements, apart, wrong = elements + result[0], apart + result[1], wrong + result[2]
    for what in wrong:
        print(what)
    print(f"{elements} elements equal the rule, {apart} are a step from ONNX Runtime")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
