#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which axes of an operator may be lengths: every one, alone and with all others, but for those that docs/reference/operators.md names. Where a file
converts, it gives what ONNX Runtime gives at the smallest value, the bound, and one between."""
import pathlib
import sys
import tempfile

import numpy as np
from onnx import helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from lengths import Network  # noqa: E402
from models import error_of, must, nsk, plain_session, told  # noqa: E402

IMAGE, LINE, ROWS = ("b", "c", "h", "w"), ("b", "t", "c"), ("r", "c")
SIZES = {"b": (1, 3), "c": (4, 8), "h": (12, 20), "w": (12, 18), "t": (12, 21), "r": (1, 9)}
# (operator, axis) that is fixed by weights, by the operator's own rules, or by what the converter lacks
FIXED = {("Conv", "c"), ("ConvTranspose", "c"), ("MatMul", "c"), ("Gemm", "c"), ("BatchNormalization", "c"), ("LayerNormalization", "c"),
         ("InstanceNormalization", "c"), ("PRelu", "c"), ("LSTM", "c"), ("GRU", "c")}
# what docs/reference/operators.md names; "all": every axis at once
REFUSED = {("Resize", "c"), ("Resize", "all"), ("Trilu", "c"), ("Trilu", "all"), ("Transpose", "all")}
failures = []


def integers(*numbers):
    return lambda net: net.constant(numbers, np.int64)


def weights(*shape):
    return lambda net: net.weights(*shape)


def floats(*numbers):
    return lambda net: net.constant(numbers, np.float32)


# operator: (axes of its input, further inputs, attributes); where other axes are open, what weights need is as below
OPERATORS = {
    "Conv": (IMAGE, [weights(6, 4, 3, 3)], {"pads": [1] * 4}), "ConvTranspose": (IMAGE, [weights(4, 6, 2, 2)], {"strides": [2, 2]}),
    "MaxPool": (IMAGE, [], {"kernel_shape": [3, 3], "strides": [2, 2]}), "AveragePool": (IMAGE, [], {"kernel_shape": [2, 2]}),
    "GlobalAveragePool": (IMAGE, [], {}), "BatchNormalization": (IMAGE, [weights(4), weights(4), weights(4), lambda net: net.constant(np.full(4, 0.7))], {}),
    "InstanceNormalization": (IMAGE, [weights(4), weights(4)], {}), "PRelu": (IMAGE, [weights(4, 1, 1)], {}), "LRN": (IMAGE, [], {"size": 3}),
    "DepthToSpace": (IMAGE, [], {"blocksize": 2}), "SpaceToDepth": (IMAGE, [], {"blocksize": 2}),
    "Resize": (IMAGE, [lambda net: "", floats(1, 1, 2, 2)], {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}),
    "MatMul": (LINE, [weights(4, 6)], {}), "Gemm": (ROWS, [weights(4, 6)], {}), "LayerNormalization": (LINE, [weights(4)], {}),
    "Softmax": (LINE, [], {"axis": 1}), "LogSoftmax": (LINE, [], {"axis": -1}), "ReduceMean": (LINE, [], {"axes": [1]}), "ReduceMax": (LINE, [], {"axes": [2]}),
    "ReduceL2": (LINE, [], {"axes": [1]}), "ReduceLogSumExp": (LINE, [], {"axes": [1]}), "ArgMax": (LINE, [], {"axis": 1}), "CumSum": (LINE, [integers(1)], {}),
    "TopK": (LINE, [integers(3)], {"axis": 1}), "Transpose": (IMAGE, [], {"perm": [0, 2, 3, 1]}), "Flatten": (LINE, [], {"axis": 2}),
    "Reshape": (LINE, [integers(0, -1)], {}), "Slice": (LINE, [integers(2), integers(-1), integers(1)], {}), "Pad": (LINE, [integers(0, 2, 0, 0, 1, 0)], {}),
    "Concat": (LINE, [lambda net: "x"], {"axis": 1}), "Split": (LINE, [], {"axis": 2}), "Tile": (LINE, [integers(1, 2, 1)], {}), "Gather": (LINE, [integers(2, 0)], {"axis": 1}),
    "Expand": (LINE, [integers(2, 1, 1, 1)], {}), "Unsqueeze": (LINE, [integers(1)], {}), "Trilu": (LINE, [], {"upper": 1}),
    "Clip": (LINE, [floats(-0.5), floats(0.5)], {}), "Gelu": (LINE, [], {}), "Sigmoid": (LINE, [], {}), "Add": (LINE, [lambda net: "x"], {}),
    "Where": (LINE, [], {}), "LSTM": (LINE, [weights(1, 20, 4), weights(1, 20, 5)], {"hidden_size": 5}), "GRU": (LINE, [weights(1, 15, 4), weights(1, 15, 5)], {"hidden_size": 5}),
}


def network(operator, axes, inputs, attributes, opened, path):
    net = Network(3)
    net.input("x", [a if a in opened else SIZES[a][0] for a in axes])
    further = [make(net) for make in inputs]
    if operator == "CumSum":
        further = [net.constant(1, np.int64)]
    if operator == "Clip":
        further = [net.constant(-0.5), net.constant(0.5)]
    if operator == "Where":
        y = net.op("Where", net.op("Greater", "x", net.constant(0.1)), "x", net.constant(0.5))
    elif operator in ("LSTM", "GRU"):
        y = net.op(operator, net.op("Transpose", "x", perm=[1, 0, 2]), *further, **attributes)
    elif operator in ("Split", "TopK"):
        net.nodes.append(helper.make_node(operator, ["x", *further], ["first", "second"], **attributes))
        y = net.op("Mul", "first", "second") if operator == "Split" else net.op("Abs", "first")
    else:
        y = net.op(operator, "x", *further, **attributes)
    if operator in ("ArgMax",):
        y = net.op("Cast", y, to=1)
    opset = 20 if operator == "Gelu" else 13 if operator in ("Split", "ReduceMean", "ReduceMax", "ReduceL2", "ReduceLogSumExp") else 17
    net.save(path, y, opset=opset)
    return y


def compare(operator, opened, y, source, axes, folder):
    """Whether the file converts; notes results that are wrong."""
    bounds = [o for a in opened for o in ("--bound", f"{a}={SIZES[a][0]}..{SIZES[a][1]}" + ("/2" if operator in ("SpaceToDepth", "Split") and a in "hwc" else "/4" if operator == "DepthToSpace" and a == "c" else ""))]
    done = nsk("convert", source, "-o", folder / "m.nsk", "--quiet", *bounds)
    if done.returncode:
        return done.stderr.strip()
    session = plain_session(source)
    for share in (0, 1, 2):
        size = {a: low if share == 0 or a not in opened else high if share == 1 else (low + high) // 8 * 4 if low % 4 == 0 else (low + high) // 2
                for a, (low, high) in SIZES.items()}
        x = np.random.default_rng(share).normal(0, 1, [size[a] for a in axes]).astype(np.float32)
        np.save(folder / "x.npy", x)
        must("run", folder / "m.nsk", "--input", f"x={folder / 'x.npy'}", *[o for a in opened for o in ("--length", f"{a}={size[a]}")], "--output-dir", folder / "out")
        got, wanted = np.load(folder / "out" / f"{y}.npy"), session.run(None, {"x": x})[0]
        if got.shape != wanted.shape or error_of(got, wanted) > 2e-5:
            failures.append(f"{operator} with {opened} {size}: {got.shape}, ONNX Runtime {wanted.shape}")
    return ""


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for operator, (axes, inputs, attributes) in OPERATORS.items():
            free = tuple(a for a in axes if (operator, a) not in FIXED)
            for opened in [*[(a,) for a in free], *([free] if len(free) > 1 else [])]:
                y = network(operator, axes, inputs, attributes, opened, folder / "s.onnx")
                why = compare(operator, opened, y, folder / "s.onnx", axes, folder)
                refused = (operator, "all" if len(opened) > 1 else opened[0]) in REFUSED
                if bool(why) != refused or "report" in why:
                    failures.append(f"{operator} with {opened}: {why[:200] or 'converts'}")
    return told(failures)


if __name__ == "__main__":
    sys.exit(main())
