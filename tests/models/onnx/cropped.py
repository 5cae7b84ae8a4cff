#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Resize with tf_crop_and_resize: every axis has its own region, whatever the order of the axes. Against the definition in double
precision and ONNX Runtime; where the two differ, for a region of an axis that keeps its length, the model is refused."""
import pathlib
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import error_of, file_name, must, nsk  # noqa: E402

SHAPE = [1, 3, 12, 16]
OUTSIDE = 2.5
# axes, regions (starts, then ends), lengths of the output along them
CASES = {
    "rows_and_columns": ([2, 3], [0.1, 0.25, 0.7, 0.9], [7, 9]),
    "columns_and_rows": ([3, 2], [0.25, 0.1, 0.9, 0.7], [9, 7]),
    "rows": ([2], [0.4, 0.8], [6]),
    "columns": ([3], [0.0, 0.5], [20]),
    "reversed": ([2, 3], [0.0, 0.9, 1.0, 0.1], [5, 8]),
    "beyond_the_image": ([2, 3], [-0.2, 0.3, 0.7, 1.4], [7, 9]),
    "beyond_on_all_sides": ([3, 2], [-0.5, -0.1, 1.6, 1.3], [11, 8]),
    "rows_beyond": ([2], [0.5, 1.9], [6]),
}


def resize(path, axes, regions, sizes):
    constants = [numpy_helper.from_array(np.array(regions, np.float32), "roi"), numpy_helper.from_array(np.array(sizes, np.int64), "sizes")]
    node = helper.make_node("Resize", ["x", "roi", "", "sizes"], ["y"], mode="linear", coordinate_transformation_mode="tf_crop_and_resize",
                            axes=axes, extrapolation_value=OUTSIDE)
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", SHAPE), ("y", None)))
    graph = helper.make_graph([node], "crop", [x], [y], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=8), path)


def crop_axis(x, axis, start, end, length):
    """The definition: output i is at start (n - 1) + i (end - start) (n - 1) / (length - 1), and OUTSIDE where the image does not reach."""
    n = x.shape[axis]
    at = start * (n - 1) + np.arange(length) * (end - start) * (n - 1) / (length - 1)
    low = np.clip(np.floor(at).astype(int), 0, n - 2)
    along = [-1 if a == axis else 1 for a in range(x.ndim)]
    weight = (at - low).reshape(along)
    inside = ((at >= 0) & (at <= n - 1)).reshape(along)
    return np.where(inside, np.take(x, low, axis) * (1 - weight) + np.take(x, low + 1, axis) * weight, OUTSIDE)


def main():
    rng = np.random.default_rng(3)
    with tempfile.TemporaryDirectory(prefix="nsk_cropped_") as folder:
        folder = pathlib.Path(folder)
        x = rng.standard_normal(SHAPE).astype(np.float32)
        np.save(folder / "x.npy", x)
        for name, (axes, regions, sizes) in CASES.items():
            source, model = folder / f"{name}.onnx", folder / f"{name}.nsk"
            resize(source, axes, regions, sizes)
            wanted = onnxruntime.InferenceSession(source, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
            defined = x.astype(np.float64)
            for i, axis in enumerate(axes):
                defined = crop_axis(defined, axis, np.float32(regions[i]), np.float32(regions[i + len(axes)]), sizes[i])
            defined = defined.astype(np.float32)
            if error_of(wanted, defined) > 1e-5:
                raise SystemExit(f"{name}: ONNX Runtime is not what the definition says")
            must("convert", source, "-o", model, "--check")
            must("run", model, "--input", f"x={folder / 'x.npy'}", "--output-dir", folder / name)
            got = np.load(folder / name / file_name("y"))
            if got.shape != defined.shape or error_of(got, defined) > 1e-5:
                raise SystemExit(f"{name}: {got.shape} against {defined.shape}, error {error_of(got, defined):.2e}")
        source, model = folder / "same_size.onnx", folder / "same_size.nsk"
        resize(source, [2, 3], [0.2, 0.0, 0.8, 1.0], SHAPE[2:])
        done = nsk("convert", source, "-o", model)
        if done.returncode != 2 or "keeps its length" not in done.stderr or model.exists():
            raise SystemExit(f"a region of an axis that keeps its length is not refused: {done.stderr}")
    print(f"{len(CASES)} cropping resizes are what the definition says")
    return 0


if __name__ == "__main__":
    sys.exit(main())
