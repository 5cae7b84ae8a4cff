#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Integers: Max and Min of one to four inputs against ONNX Runtime; FLOOR_DIV and FLOOR_MOD of TensorFlow Lite against LiteRT, by constants
and by data, in every combination of signs, and what a divisor of zero gives."""
import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from grids import Grid  # noqa: E402
from litert import compare_runs, have_litert  # noqa: E402
from models import must  # noqa: E402
from tflite_writer import Writer  # noqa: E402

RANDOM = np.random.default_rng(7)
SHAPES = ([2, 3, 4], [3, 1], [2, 1, 4], [4])


def numbers(shape, dtype):
    """Random numbers with the ends of their type among them."""
    limits = np.iinfo(dtype)
    x = RANDOM.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    x.flat[0], x.flat[-1] = limits.min, limits.max
    return np.where(RANDOM.random(shape) < 0.5, x, RANDOM.integers(0, 3, shape).astype(dtype))


def extremes():
    """What differs from ONNX Runtime."""
    wrong = []
    for dtype in (np.int32, np.int64, np.int8, np.uint8):
        grid = Grid(13, **{name: numbers(shape, dtype) for name, shape in zip("abcd", SHAPES)})
        for op in ("Max", "Min"):
            for count in (1, 2, 3, 4):
                for names in {"abcd"[:count], "dcba"[:count]}:
                    grid.add(f"{op} of {count} {np.dtype(dtype)}: {names}", op, list(names))
            grid.add(f"{op} of {np.dtype(dtype)} and constants", op, ["a", numbers([3, 1], dtype), "d"])
        wrong += [what for what, got, wanted in grid.results() if got.dtype != wanted.dtype or not np.array_equal(got, wanted)]
    return wrong


def quotients(divisor):
    """A model of both operators; the divisor is a constant or, where None, an input."""
    w = Writer()
    x = w.tensor("x", [16], np.int32)
    y = w.tensor("y", [16], np.int32) if divisor is None else w.tensor("y", divisor.shape, np.int32, divisor)
    outputs = [w.tensor(name, [16], np.int32) for name in ("quotient", "remainder")]
    w.operator("FLOOR_DIV", [x, y], [outputs[0]])
    w.operator("FLOOR_MOD", [x, y], [outputs[1]])
    return w.finish([x] if divisor is not None else [x, y], outputs)


def floored(folder):
    lowest, highest = -2 ** 31, 2 ** 31 - 1
    x = np.array([0, 1, -1, 7, -7, 8, -8, 9, -9, lowest, highest, lowest + 1, highest - 1, 100, -100, 3], np.int32)
    wrong = []
    for divisor in (1, -1, 2, -2, 3, -3, 8, -8, highest, lowest):
        y = np.full(16, divisor, np.int32)
        dividends = np.maximum(x, lowest + 1) if divisor == -1 else x  # the one quotient that int32 does not have
        for content, given in ((quotients(y[:1]), {"x": dividends}), (quotients(None), {"x": dividends, "y": y})):
            failure = compare_runs(folder, content, given)
            if failure:
                wrong.append(f"by {divisor}{' as data' if 'y' in given else ''}: {failure}")
    signs = np.array([1, -1] * 8, np.int32) * np.arange(1, 17, dtype=np.int32)
    failure = compare_runs(folder, quotients(None), {"x": x, "y": signs})
    return wrong + ([f"by different numbers: {failure}"] if failure else [])


def divided_by_zero(folder):
    """0 by docs/reference/conventions.md; LiteRT stops."""
    (folder / "m.tflite").write_bytes(quotients(None))
    np.save(folder / "x.npy", np.arange(-8, 8, dtype=np.int32))
    np.save(folder / "y.npy", np.int32([0, 3] * 8))
    must("convert", folder / "m.tflite", "-o", folder / "m.nsk", "--quiet")
    must("run", folder / "m.nsk", "--input", f"x={folder}/x.npy", "--input", f"y={folder}/y.npy", "--output-dir", folder / "out")
    wanted = {"quotient": np.floor_divide(np.arange(-8, 8), 3), "remainder": np.arange(-8, 8) % 3}
    return [f"{name} by zero" for name, values in wanted.items() if not np.array_equal(np.load(folder / "out" / f"{name}.npy"), np.where(np.arange(16) % 2, values, 0))]


def pixels_of_maxima():
    """Where the largest number of each channel is, and what another image has there: how MoveNet reads its heat maps."""
    w = Writer()
    x, other = w.tensor("x", [1, 12, 9, 5], np.float32), w.tensor("other", [1, 12, 9, 5], np.float32)
    line = w.tensor("line", [1, 108, 5], np.float32)
    w.operator("RESHAPE", [x, w.tensor("shape", [3], np.int32, np.int32([1, 108, 5]))], [line])
    best, row, above, column = (w.tensor(name, [1, 5], np.int32) for name in ("best", "row", "above", "column"))
    w.operator("ARG_MAX", [line, w.tensor("axis", [], np.int32, np.int32(1))], [best], ("ArgMaxOptions", {"outputType": 2}))
    width = w.tensor("width", [], np.int32, np.int32(9))
    w.operator("FLOOR_DIV", [best, width], [row])
    w.operator("MUL", [row, width], [above], ("MulOptions", {}))
    w.operator("SUB", [best, above], [column], ("SubOptions", {}))
    places, picked = w.tensor("places", [1, 5, 4], np.int32), w.tensor("picked", [1, 5], np.float32)
    batch, channel = (w.tensor(name, [1, 5], np.int32, values) for name, values in (("batch", np.zeros((1, 5))), ("channel", np.arange(5).reshape(1, 5))))
    w.operator("PACK", [batch, row, column, channel], [places], ("PackOptions", {"valuesCount": 4, "axis": 2}))
    w.operator("GATHER_ND", [other, places], [picked])
    return w.finish([x, other], [picked, row, column])


def main():
    wrong = extremes()
    if have_litert():
        with tempfile.TemporaryDirectory(prefix="nsk_integers_") as folder:
            folder = pathlib.Path(folder)
            wrong += floored(folder) + divided_by_zero(folder)
            images = {name: RANDOM.uniform(-1, 1, [1, 12, 9, 5]).astype(np.float32) for name in ("x", "other")}
            failure = compare_runs(folder, pixels_of_maxima(), images)
            wrong += [f"pixels of maxima: {failure}"] if failure else []
    for what in wrong:
        print(what)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
