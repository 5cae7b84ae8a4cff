#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Single operators on 65,536 elements against ONNX Runtime: same core, one thread, measured alternately, answers compared.

  bench/operators.py [PATTERN ...] [--rounds 5] [--seconds 0.2] [--core N]

PATTERN is a regular expression for names of OPERATORS; all when none is given. A line has the best run of both in microseconds and the median
over the rounds of their ratio: above 1 means that netsuke is faster. Needs the nsk binary (NSK_TOOL, default build/nsk).
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

from compare_peers import time_peer
from peers import load

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "models"))
from models import error_of, file_name, must  # noqa: E402

RANDOM = np.random.default_rng(3)


def floats(low, high, *shape):
    return RANDOM.uniform(low, high, shape or (256, 256)).astype(np.float32)


def integers(low, high, *shape):
    return RANDOM.integers(low, high, shape or (256, 256)).astype(np.int32)


def matrices(n):
    return floats(-1, 1, 65536 // (n * n), n, n) + np.float32(2 * n ** 0.5) * np.eye(n, dtype=np.float32)


ANGLE = "s = Div(v, x) a = Atan(s) b = Greater(v, zero) p = Add(a, pi) m = Sub(a, pi) w = Where(b, p, m) c = Less(x, zero) y = Where(c, w, a)"
# Name: (nodes that make y, inputs, constants).
OPERATORS = {
    **{name: (f"y = {name}(x)", {"x": floats(low, high)}, {}) for name, low, high in (
        ("Sin", -30, 30), ("Asin", -1, 1), ("Acos", -1, 1), ("Atan", -9, 9), ("Sinh", -9, 9), ("Cosh", -9, 9), ("Asinh", -9, 9), ("Acosh", 1, 9), ("Atanh", -1, 1),
        ("Hardmax", -1, 1))},
    "atan2 as exported": (ANGLE, {"v": floats(-1, 1), "x": floats(-1, 1)}, {"zero": np.float32(0), "pi": np.float32(np.pi)}),
    "Mod of floats": ("y = Mod<fmod=1>(x, d)", {"x": floats(-90, 90), "d": floats(0.5, 9)}, {}),
    "Div of integers": ("y = Div(x, d)", {"x": integers(-999, 999), "d": integers(1, 99)}, {}),
    "Mod of integers": ("y = Mod(x, d)", {"x": integers(-999, 999), "d": integers(1, 99)}, {}),
    "Pow of integers": ("y = Pow(x, d)", {"x": integers(-9, 9), "d": integers(0, 9)}, {}),
    "Relu of integers": ("y = Relu(x)", {"x": integers(-9, 9)}, {}),
    "Clip of integers": ("y = Clip(x, low, high)", {"x": integers(-9, 9)}, {"low": np.int32(-3), "high": np.int32(4)}),
    "ReduceSum of integers": ("y = ReduceSum(x, axes)", {"x": integers(-9, 9)}, {"axes": np.int64([1])}),
    "ReduceMax of integers": ("y = ReduceMax<axes=[1]>(x)", {"x": integers(-9, 9)}, {}),
    "Pad of integers": ("y = Pad(x, pads)", {"x": integers(-9, 9)}, {"pads": np.int64([1, 2, 3, 4])}),
    "MatMul of integers": ("y = MatMul(x, d)", {"x": integers(-9, 9), "d": integers(-9, 9, 256, 64)}, {}),
    **{f"Det of {n} x {n}": ("y = Det(x)", {"x": matrices(n)}, {}) for n in (3, 4, 16)},
    **{f"Inverse of {n} x {n}": ("y = com.microsoft.Inverse(x)", {"x": matrices(n)}, {}) for n in (3, 4, 16)},
}


def model_of(nodes, inputs, constants):
    kinds = {"float32": "float", "int32": "int32"}
    ports = ", ".join(f"{kinds[str(v.dtype)]}[{','.join(map(str, v.shape))}] {k}" for k, v in inputs.items())
    kind = kinds[str(next(iter(inputs.values())).dtype)]
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]> g ({ports}) => ({kind} y) {{ {nodes} }}')
    model.graph.output[0].type.tensor_type.ClearField("shape")
    for name, value in constants.items():
        model.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
    return model


def measure(nodes, inputs, constants, options):
    """(best of netsuke, best of ONNX Runtime, both in microseconds; median ratio; error)."""
    with tempfile.TemporaryDirectory(prefix="nsk_bench_") as folder:
        folder = pathlib.Path(folder)
        source, target = folder / "model.onnx", folder / "model.nsk"
        onnx.save(model_of(nodes, inputs, constants), source)
        must("convert", source, "-o", target, "--no-states", "--quiet")
        arguments = []
        for index, (name, value) in enumerate(inputs.items()):
            np.save(folder / f"in{index}.npy", value)
            arguments += ["--input", f"{name}={folder / f'in{index}.npy'}"]
        must("run", target, *arguments, "--output-dir", folder)
        run, read = load("onnxruntime", source, inputs)
        error = error_of(np.load(folder / file_name("y")), read(run())[0])
        ours, theirs = [], []
        for _ in range(options.rounds):
            ours.append(json.loads(must("bench", target, "--seconds", options.seconds, "--json")))
            theirs.append(time_peer(run, options.seconds))
    ratio = statistics.median(statistics.median(t) / o["median_ms"] for o, t in zip(ours, theirs))
    return 1e3 * min(o["min_ms"] for o in ours), 1e3 * min(map(min, theirs)), ratio, error


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*", default=[".*"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    options = parser.parse_args()
    os.sched_setaffinity(0, {options.core})  # child processes inherit it
    print(f"{'operator':24} {'netsuke':>9} {'ONNX Runtime':>13} {'ratio':>6} {'error':>8}")
    for name, case in OPERATORS.items():
        if any(re.fullmatch(p, name) for p in options.patterns):
            ours, theirs, ratio, error = measure(*case, options)
            print(f"{name:24} {ours:6.1f} us {theirs:10.1f} us {ratio:6.2f} {error:8.1e}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
