#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Operators of TensorFlow Lite that give other numbers in every run: their shares, means and deviations are those of LiteRT's, and two runs differ."""
import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from litert import answers, have_litert  # noqa: E402
from models import must  # noqa: E402
from tflite_writer import Writer  # noqa: E402

F, I = np.float32, np.int32
SHARES = np.array([[0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1]], F)
COUNT = 20000


def noise(op):
    """x + noise."""
    w = Writer()
    x, shape, made, y = w.tensor("x", [COUNT], F), w.tensor("shape", [1], I, [COUNT]), w.tensor("made", [COUNT], F), w.tensor("y", [COUNT], F)
    w.operator(op, [shape], [made], ("RandomOptions", {}))
    w.operator("ADD", [x, made], [y], ("AddOptions", {}))
    return w.finish([x], [y]), np.zeros(COUNT, F)


def classes(dtype):
    w = Writer()
    x, y = w.tensor("x", [2, 4], F), w.tensor("y", [2, COUNT], dtype)
    w.operator("MULTINOMIAL", [x, w.tensor("count", [], I, COUNT)], [y], ("RandomOptions", {}))
    return w.finish([x], [y]), np.log(SHARES)


def features(y):
    """What random numbers have in common: means and deviations, or the share of each class."""
    if np.issubdtype(y.dtype, np.integer):
        return np.stack([np.mean(y == k, -1) for k in range(4)])
    return np.array([np.mean(y), np.std(y), np.mean(y > 0.5)])


def compare(folder, content, x):
    """None where two runs differ from each other, but not in their features from LiteRT's."""
    wanted = answers(content, {"x": x}, 1)["y"]
    (folder / "m.tflite").write_bytes(content)
    must("convert", folder / "m.tflite", "-o", folder / "m.nsk", "--check", "--quiet")
    np.save(folder / "x.npy", x)
    must("run", folder / "m.nsk", "--input", f"x={folder / 'x.npy'}", "--steps", 2, "--output-dir", folder / "out")
    runs = np.load(folder / "out" / "y.npy")
    if runs.dtype != wanted.dtype or runs[0].shape != wanted.shape:
        return f"{runs.dtype}{runs.shape} for {wanted.dtype}{wanted.shape}"
    if np.array_equal(runs[0], runs[1]):
        return "two runs are the same"
    away = max(np.max(np.abs(features(run) - features(wanted))) for run in runs)
    return None if away < 0.03 else f"{features(runs[0])} for {features(wanted)}"


def main():
    if not have_litert():
        return 0
    made = {op: noise(op) for op in ("RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL")}
    made.update({f"MULTINOMIAL {np.dtype(dtype)}": classes(dtype) for dtype in (np.int32, np.int64)})
    with tempfile.TemporaryDirectory(prefix="nsk_random_") as folder:
        results = [(name, compare(pathlib.Path(folder), *model)) for name, model in made.items()]
    wrong = [f"{name}: {text}" for name, text in results if text]
    print("\n".join(wrong + [f"{len(results)} models, {len(wrong)} wrong"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
