#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ConvTranspose whose length follows from auto_pad or output_shape, strides beyond the kernel's reach and infinite inputs included, against ONNX Runtime."""
import itertools
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from grids import Grid  # noqa: E402

RANDOM = np.random.default_rng(5)
TOLERANCE = 2e-5  # sums of a few products of numbers below 1


def floats(*shape):
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


def grid_of(spatial):
    """Every kernel, stride, dilation, output_padding and way to choose the length, for an image or a line of these lengths."""
    axes, grid = len(spatial), Grid(13, x=floats(1, 2, *spatial))
    for kernel, stride, dilation, extra in itertools.product((1, 2, 3, 4), (1, 2, 3, 5, 9), (1, 2), (0, 1, 2)):
        if extra >= stride:  # ONNX Runtime refuses them
            continue
        attributes = {"strides": [stride] * axes, "dilations": [dilation] * axes, "output_padding": [extra] * axes}
        weights = [floats(2, 3, *[kernel] * axes), floats(3)]
        for auto_pad in ("SAME_UPPER", "SAME_LOWER", "VALID"):
            grid.add(f"{spatial} kernel {kernel} {auto_pad} {attributes}", "ConvTranspose", ["x", *weights], auto_pad=auto_pad, **attributes)
        for shorter in (0, 3):
            length = max(1, (spatial[-1] - 1) * stride + (kernel - 1) * dilation + 1 + extra - shorter)
            grid.add(f"{spatial} kernel {kernel} length {length} {attributes}", "ConvTranspose", ["x", *weights], output_shape=[length] * axes, **attributes)
    return grid


def infinite_grid(spatial):
    """An infinite pixel among finite ones: no output that it does not reach changes, whether its phase has fewer taps than others or none."""
    axes, x = len(spatial), floats(1, 2, *spatial)
    x[(0, 1, *[n // 2 for n in spatial])] = np.inf
    grid = Grid(13, x=x)
    for kernel, stride, dilation in itertools.product((1, 2, 3, 5, 7), (2, 3, 5, 6, 20), (1, 2, 3)):
        weights = [floats(2, 3, *[kernel] * axes), floats(3)]
        grid.add(f"{spatial} with infinity, kernel {kernel} stride {stride} dilation {dilation}", "ConvTranspose", ["x", *weights], strides=[stride] * axes,
                 dilations=[dilation] * axes)
    return grid


if __name__ == "__main__":
    grids = [grid_of(spatial) for spatial in ((4,), (3, 3), (5, 2))] + [infinite_grid(spatial) for spatial in ((4,), (3, 3))]
    wrong = [what for grid in grids for what in grid.wrong(TOLERANCE)]
    for what in wrong[:20]:
        print(f"differs from ONNX Runtime: {what}")
    print(f"{sum(len(g.cases) for g in grids)} transposed convolutions, {len(wrong)} differ")
    sys.exit(bool(wrong))
