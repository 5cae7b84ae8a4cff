#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Single operators on 65,536 elements against ONNX Runtime: same core, one thread, measured alternately, answers compared.

  bench/operators.py [PATTERN ...] [--rounds 5] [--seconds 0.2] [--core N] [--record MACHINE]

PATTERN is a regular expression for names of OPERATORS; all when none is given. A line has the best run of both in microseconds and the median
over the rounds of their ratio: above 1 means that netsuke is faster. --record adds them to bench/results/MACHINE.json for
bench/write_pages.py. Needs the nsk binary (NSK_TOOL, default build/nsk).
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import sys
import tempfile

import numpy as np
import onnx
import onnx.parser
from onnx import numpy_helper

from peer_process import timed
from peers import load
from write_pages import add_table

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "models" / "support"))
from models import error_of, file_name, must  # noqa: E402

RANDOM = np.random.default_rng(3)


def floats(low, high, *shape):
    return RANDOM.uniform(low, high, shape or (256, 256)).astype(np.float32)


def integers(low, high, *shape):
    return RANDOM.integers(low, high, shape or (256, 256)).astype(np.int32)


def matrices(n):
    return floats(-1, 1, 65536 // (n * n), n, n) + np.float32(2 * n ** 0.5) * np.eye(n, dtype=np.float32)


def indices(length, *shape):
    return RANDOM.integers(0, length, shape).astype(np.int64)


def ints(*values):
    return np.array(values, np.int64)


ANGLE = "s = Div(v, x) a = Atan(s) b = Greater(v, zero) p = Add(a, pi) m = Sub(a, pi) w = Where(b, p, m) c = Less(x, zero) y = Where(c, w, a)"
ADAPTIVE = "h, b = Split<axis=1, num_outputs=2>(style) s = Reshape(h, flat) o = Reshape(b, flat) y = InstanceNormalization(x, s, o)"
IMAGE, VOLUME = (1, 64, 32, 32), (1, 16, 16, 16, 16)
REGIONS = np.sort(floats(0, 31, 64, 2, 2), axis=1).reshape(64, 4)
# Name: (nodes that make y, inputs, constants).
OPERATORS = {
    **{name: (f"y = {name}(x)", {"x": floats(low, high)}, {}) for name, low, high in (
        ("Sin", -30, 30), ("Tan", -1, 1), ("Asin", -1, 1), ("Acos", -1, 1), ("Atan", -9, 9), ("Sinh", -9, 9), ("Cosh", -9, 9), ("Asinh", -9, 9),
        ("Acosh", 1, 9), ("Atanh", -1, 1), ("Hardmax", -1, 1))},
    "atan2 as exported": (ANGLE, {"v": floats(-1, 1), "x": floats(-1, 1)}, {"zero": np.float32(0), "pi": np.float32(np.pi)}),
    "Mod of floats": ("y = Mod<fmod=1>(x, d)", {"x": floats(-90, 90), "d": floats(0.5, 9)}, {}),
    "Div of integers": ("y = Div(x, d)", {"x": integers(-999, 999), "d": integers(1, 99)}, {}),
    "Mod of integers": ("y = Mod(x, d)", {"x": integers(-999, 999), "d": integers(1, 99)}, {}),
    "Pow of integers": ("y = Pow(x, d)", {"x": integers(-9, 9), "d": integers(0, 9)}, {}),
    "Relu of integers": ("y = Relu(x)", {"x": integers(-9, 9)}, {}),
    "Clip of integers": ("y = Clip(x, low, high)", {"x": integers(-9, 9)}, {"low": np.int32(-3), "high": np.int32(4)}),
    **{f"{name} of integers": (f"y = {name}(x, axes)", {"x": integers(-9, 9)}, {"axes": ints(1)}) for name in ("ReduceSum", "ReduceMax", "ReduceMin", "ReduceMean", "ReduceProd")},
    "ReduceMax of columns": ("y = ReduceMax(x, axes)", {"x": integers(-9, 9)}, {"axes": ints(0)}),
    "Pad of integers": ("y = Pad(x, pads)", {"x": integers(-9, 9)}, {"pads": ints(1, 2, 3, 4)}),
    "MatMul of integers": ("y = MatMul(x, d)", {"x": integers(-9, 9), "d": integers(-9, 9, 256, 64)}, {}),
    **{f"Det of {n} x {n}": ("y = Det(x)", {"x": matrices(n)}, {}) for n in (3, 4, 16)},
    **{f"Inverse of {n} x {n}": ("y = com.microsoft.Inverse(x)", {"x": matrices(n)}, {}) for n in (3, 4, 16)},
    "NonZero": ("y = NonZero(x)", {"x": np.maximum(floats(-1, 1), 0)}, {}),
    "Compress": ("y = Compress(x, c)", {"x": floats(-1, 1), "c": floats(-1, 1, 65536) > 0}, {}),
    "Compress of rows": ("y = Compress<axis=0>(x, c)", {"x": floats(-1, 1), "c": floats(-1, 1, 256) > 0}, {}),
    "GatherND": ("y = GatherND<batch_dims=1>(x, i)", {"x": floats(-1, 1, 16, 64, 64), "i": indices(64, 16, 1024, 1)}, {}),
    **{f"ScatterElements, {kind}": (f'y = ScatterElements<reduction="{kind}", axis=1>(x, i, u)',
                                    {"x": floats(-1, 1), "i": np.argsort(floats(0, 1), axis=1), "u": floats(-1, 1)}, {})
       for kind in ("none", "add", "mul", "max", "min")},
    **{f"ScatterND, {kind}": (f'y = ScatterND<reduction="{kind}">(x, i, u)', {"x": floats(-1, 1, 1024, 64), "i": RANDOM.permutation(1024)[:, None], "u": floats(-1, 1, 1024, 64)}, {})
       for kind in ("none", "add", "mul", "max", "min")},
    "Col2Im": ("y = Col2Im(x, s, w)", {"x": floats(-1, 1, 1, 72, 900)}, {"s": ints(32, 32), "w": ints(3, 3)}),
    "MaxPool with indices": ("z, y = MaxPool<kernel_shape=[2,2], strides=[2,2]>(x)", {"x": floats(-1, 1, *IMAGE)}, {}),
    "MaxPool of 3 with indices": ("z, y = MaxPool<kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]>(x)", {"x": floats(-1, 1, *IMAGE)}, {}),
    "MaxUnpool": ("z, i = MaxPool<kernel_shape=[2,2], strides=[2,2]>(x) y = MaxUnpool<kernel_shape=[2,2], strides=[2,2]>(z, i)", {"x": floats(-1, 1, *IMAGE)}, {}),
    "Unique": ("y = Unique(x)", {"x": np.round(floats(0, 999, 65536))}, {}),
    "AffineGrid": ("y = AffineGrid(t, s)", {"t": floats(-1, 1, 1, 2, 3)}, {"s": ints(1, 1, 128, 256)}),
    "GridSample of a volume": ("y = GridSample(x, g)", {"x": floats(-1, 1, *VOLUME), "g": floats(-1, 1, 1, 16, 16, 16, 3)}, {}),
    **{f"RoiAlign, {mode}": (f'y = RoiAlign<mode="{mode}", output_height=4, output_width=4, sampling_ratio=2>(x, r, b)', {"x": floats(-1, 1, *IMAGE), "r": REGIONS, "b": indices(1, 64)}, {})
       for mode in ("avg", "max")},
    "DeformConv": ("y = DeformConv<pads=[1,1,1,1]>(x, w, o)", {"x": floats(-1, 1, *IMAGE), "o": floats(-2, 2, 1, 18, 32, 32)}, {"w": floats(-1, 1, 64, 64, 3, 3)}),
    "Resize of a volume": ('y = Resize<mode="linear">(x, , s)', {"x": floats(-1, 1, 1, 16, 8, 8, 8)}, {"s": np.float32([1, 1, 2, 2, 2])}),
    "ConvTranspose of a volume": ("y = ConvTranspose<strides=[2,2,2]>(x, w)", {"x": floats(-1, 1, 1, 16, 8, 8, 8)}, {"w": floats(-1, 1, 16, 16, 2, 2, 2)}),
    "Conv by computed weights": ("y = Conv<pads=[1,1,1,1]>(x, w)", {"x": floats(-1, 1, *IMAGE), "w": floats(-1, 1, 64, 64, 3, 3)}, {}),
    "AdaIN": (ADAPTIVE, {"x": floats(-1, 1, *IMAGE), "style": floats(-1, 1, 1, 128)}, {"flat": ints(-1)}),
    "LayerNorm by computed scale": ("y = LayerNormalization(x, s, o)", {"x": floats(-1, 1), "s": floats(-1, 1, 256), "o": floats(-1, 1, 256)}, {}),
    "Transpose of 7 axes": ("s = Reshape(x, a) t = Transpose<perm=[6,4,2,0,1,3,5]>(s) y = Reshape(t, b)", {"x": floats(-1, 1)},
                            {"a": ints(4, 4, 4, 8, 4, 4, 8), "b": ints(256, 256)}),
    "roll": ("a = Slice(x, m, e, t) b = Slice(x, z, m, t) y = Concat<axis=1>(a, b)", {"x": floats(-1, 1)}, {"z": ints(0), "m": ints(3), "e": ints(256), "t": ints(1)}),
}


def type_of(value):
    return {"float32": "float", "int32": "int32", "int64": "int64", "bool": "bool"}[str(value.dtype)]


def model_of(nodes, inputs, constants):
    """A model with the output y; its type is what ONNX infers, or that of the first input."""
    ports = ", ".join(f"{type_of(v)}[{','.join(map(str, v.shape))}] {k}" for k, v in inputs.items())
    kind = type_of(next(iter(inputs.values())))
    model = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 20, "com.microsoft" : 1]> g ({ports}) => ({kind} y) {{ {nodes} }}')
    for name, value in constants.items():
        model.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
    output = model.graph.output[0].type.tensor_type
    output.ClearField("elem_type")
    output.ClearField("shape")
    found = onnx.shape_inference.infer_shapes(model).graph.output[0].type.tensor_type
    output.elem_type = found.elem_type or onnx.helper.np_dtype_to_tensor_dtype(next(iter(inputs.values())).dtype)
    return model


def rows_that_are_there(got, wanted):
    """Outputs that netsuke bounds have more rows than there are results."""
    return got[tuple(slice(0, length) for length in wanted.shape)] if got.ndim == wanted.ndim else got


def measure(nodes, inputs, constants, options):
    """(best of netsuke, best of ONNX Runtime, both in microseconds; median ratio; error)."""
    with tempfile.TemporaryDirectory(prefix="nsk_bench_") as folder:
        folder = pathlib.Path(folder)
        source, target = folder / "model.onnx", folder / "model.nsk"
        onnx.save(model_of(nodes, inputs, constants), source)
        must("convert", source, "-o", target, "--no-states", "--no-check", "--quiet")  # its own answers are compared
        arguments = []
        for index, (name, value) in enumerate(inputs.items()):
            np.save(folder / f"in{index}.npy", value)
            arguments += ["--input", f"{name}={folder / f'in{index}.npy'}"]
        must("run", target, *arguments, "--output-dir", folder)
        run, read = load("onnxruntime", source, inputs)
        wanted = read(run())[0]
        error = error_of(rows_that_are_there(np.load(folder / file_name("y")), wanted), wanted)
        ours, theirs = [], []
        for _ in range(options.rounds):
            ours.append(json.loads(must("bench", target, *arguments, "--seconds", options.seconds, "--json")))
            theirs.append(timed(run, options.seconds))
    ratio = statistics.median(t["median_ms"] / o["median_ms"] for o, t in zip(ours, theirs))
    return 1e3 * min(o["min_ms"] for o in ours), 1e3 * min(t["min_ms"] for t in theirs), ratio, error


def record(machine, rows):
    """Adds the table of docs/measurements/operators.md to a machine's results."""
    import onnxruntime
    lines = [[name, f"{ours:.1f}", f"{theirs:.1f}", f"{ratio:.2f}", f"{error:.0e}"] for name, (ours, theirs, ratio, error) in rows.items()]
    add_table(machine, "operators", ["operator", "netsuke, us", "ONNX Runtime, us", "ratio", "error"], lines, {"ONNX Runtime": onnxruntime.__version__})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*", default=[".*"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--record", metavar="MACHINE")
    options = parser.parse_args()
    os.sched_setaffinity(0, {options.core})  # child processes inherit it
    print(f"{'operator':28} {'netsuke':>9} {'ONNX Runtime':>13} {'ratio':>6} {'error':>8}")
    rows = {}
    for name, case in OPERATORS.items():
        if any(re.fullmatch(p, name) for p in options.patterns):
            rows[name] = ours, theirs, ratio, error = measure(*case, options)
            print(f"{name:28} {ours:6.1f} us {theirs:10.1f} us {ratio:6.2f} {error:8.1e}", flush=True)
    if options.record:
        record(options.record, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
