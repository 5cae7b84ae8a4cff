#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Resize and Upsample over a grid of scales, sizes, modes, lengths and opsets, against ONNX Runtime.

  resized_pixels.py nearest|weights|lite
nearest: every pixel equal, by the engine and, because of --check, by the evaluator. weights: linear and cubic at the same places, within the
rounding of the positions, which ONNX Runtime holds in single precision. lite: RESIZE_NEAREST_NEIGHBOR of TensorFlow Lite against LiteRT, every
pixel equal; RESIZE_BILINEAR at the same places.
"""
import itertools
import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from grids import Grid  # noqa: E402
from litert import compare_runs, have_litert  # noqa: E402
from tflite_writer import Writer  # noqa: E402

MODES = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn", "half_pixel_symmetric", "tf_crop_and_resize")
ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
SCALES = (0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 2 / 3, 0.7, 0.75, 0.8, 0.9, 0.95, 1.05, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.9, 2, 2.3, 2.5, 2.7, 3, 3.3, 4, 5, 7)
WIDTHS = (1, 2, 3, 5, 7, 10, 13, 16, 20, 30, 64, 133)
REGION = np.float32([0, 0, 0.1, 0.2, 1, 1, 0.9, 0.7])


def resize(grid, op="Resize", scales=None, sizes=None, **attributes):
    """Adds a Resize of the grid's image; `scales` and `sizes` are those of rows and columns."""
    what = f"{grid.opset} {op} {grid.inputs['x'].shape} scales {scales} sizes {sizes} {attributes}"
    inputs = ["x"]
    if op == "Upsample" and grid.opset < 9:
        attributes["scales"] = [1.0, 1.0, *map(float, scales)]
    elif grid.opset < 11:
        inputs.append(np.float32([1, 1, *scales]))
    else:
        none = np.zeros(0, np.float32) if grid.opset < 13 else ""
        inputs.append(REGION if attributes.get("coordinate_transformation_mode") == "tf_crop_and_resize" else none)
        inputs.append(np.float32([1, 1, *scales]) if scales else none)
        if sizes:
            inputs.append(np.int64(sizes if "axes" in attributes else [1, 1, *sizes]))
    grid.add(what, op, inputs, **attributes)


def length(scale, n):
    return int(np.float32(scale) * np.float32(n))


def whole(scale, n):
    """Whether align_corners is defined: everyone agrees on lengths that need no rounding."""
    return abs(float(np.float32(scale)) * n - length(scale, n)) <= 1e-3


def coordinates(opset):
    return [m for m in MODES if (m != "half_pixel_symmetric" or opset >= 19) and (m != "tf_half_pixel_for_nn" or opset < 13)]


def usable(mode, scale, n):
    """align_corners needs whole lengths, regions other ones than before; nothing may be empty."""
    out = length(scale, n)
    return out > 0 and (mode != "align_corners" or whole(scale, n)) and (mode != "tf_crop_and_resize" or out != n)


def image(opset, width, random):
    """A grid with an image of two rows: pixels that are numbered, or random ones."""
    count = 2 * width
    x = np.random.default_rng(width).uniform(-1, 1, count) if random else np.arange(1, count + 1)
    return Grid(opset, x=x.astype(np.float32).reshape(1, 1, 2, width))


def grids(kinds, random):
    """Grids of every opset and width; `kinds`: attributes of each Resize from opset 11."""
    for opset, width in itertools.product((11, 13, 18, 19), WIDTHS):
        grid = image(opset, width, random)
        for mode, kind in itertools.product(coordinates(opset), kinds):
            given = {**kind, "coordinate_transformation_mode": mode}
            rows = 1.5 if mode == "tf_crop_and_resize" else 1.0
            for scale in SCALES:
                if usable(mode, scale, width) and (mode, rows) != ("align_corners", 1.5):
                    resize(grid, scales=(rows, scale), **given)
            for out in {1, width + 1, 2 * width - 1, max(1, width // 3), 37} - {width}:
                resize(grid, sizes=(3 if rows != 1 else 2, out), **given)
                if opset >= 18 and mode != "tf_crop_and_resize":
                    for policy in ("not_larger", "not_smaller"):
                        if rounded_lengths(out, width, policy):
                            resize(grid, sizes=(5, out), axes=[2, 3], keep_aspect_ratio_policy=policy, **given)
        yield grid


def rounded_lengths(out, width, policy):
    """Whether a policy leaves an image, and one that align_corners is defined for."""
    scale = (min if policy == "not_larger" else max)(np.float32(5) / np.float32(2), np.float32(out) / np.float32(width))
    return all(np.round(scale * n) >= 1 and abs(scale * n - np.round(scale * n)) <= 1e-3 for n in (2, width))


def old_grids(kinds, random):
    """Opsets that know scales alone: Resize-10, which shrinks too, and Upsample."""
    for (op, opset), width in itertools.product((("Resize", 10), ("Upsample", 7), ("Upsample", 9)), WIDTHS):
        grid = image(opset, width, random)
        for kind, scale in itertools.product(kinds, SCALES):
            if length(scale, width) > 0 and (op == "Resize" or scale >= 1):
                resize(grid, op, scales=(1.0, scale), **kind)
        yield grid


def nearest():
    kinds = [{"mode": "nearest", "nearest_mode": r} for r in ROUNDINGS]
    for grid in itertools.chain(grids(kinds, False), old_grids([{"mode": "nearest"}], False)):
        yield len(grid.cases), grid.wrong(0)


def weights():
    """Positions that are rounded to single precision move along a cubic's steepest slope, 3 per pixel."""
    kinds = [{"mode": "linear"}, {"mode": "cubic"}, {"mode": "cubic", "cubic_coeff_a": -0.5}]
    for grid in itertools.chain(grids(kinds, True), old_grids([{"mode": "linear"}], True)):
        yield len(grid.cases), grid.wrong(1e-5 + 3 * 2.0 ** -23 * grid.inputs["x"].shape[-1])


def lite_grid(lengths):
    """A model of TensorFlow Lite that resizes one image to every pair of lengths; the names of its outputs."""
    w = Writer()
    x, outputs, names = w.tensor("x", [1, 2, lengths[0], 1], np.float32), [], []
    for out, (corners, half) in itertools.product(lengths[1:], ((False, False), (True, False), (False, True), (True, True))):
        for op, table in (("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions"), ("RESIZE_BILINEAR", "ResizeBilinearOptions")):
            if op == "RESIZE_BILINEAR" and corners and half:
                continue
            names.append(f"{op} {lengths[0]} to {out} corners {corners} half {half}")
            outputs.append(w.tensor(f"y{len(outputs)}", [1, 2, out, 1], np.float32))
            size = w.tensor(f"size{len(outputs)}", [2], np.int32, np.int32([2, out]))
            w.operator(op, [x, size], [outputs[-1]], (table, {"alignCorners": corners, "halfPixelCenters": half}))
    return w.finish([x], outputs), names


def lite():
    if not have_litert():
        return
    with tempfile.TemporaryDirectory(prefix="nsk_resize_") as folder:
        for width in WIDTHS:
            lengths = sorted({1, width + 1, 2 * width, 2 * width - 1, max(1, width // 3), 37, *(max(1, length(s, width)) for s in SCALES)})
            content, names = lite_grid([width, *lengths])
            x = np.arange(1, 2 * width + 1, dtype=np.float32).reshape(1, 2, width, 1)
            failure = compare_runs(pathlib.Path(folder), content, {"x": x})
            yield len(names), [] if failure is None else [f"one of {names[0]} and so on: {failure}"]


def main():
    count, wrong = 0, []
    for cases, different in {"nearest": nearest, "weights": weights, "lite": lite}[sys.argv[1]]():
        count += cases
        wrong += different
    for what in wrong[:20]:
        print(f"differs: {what}")
    print(f"{count} resizes, {len(wrong)} differ")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
