#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What stands between DequantizeLinear and QuantizeLinear, as steps on bytes. Functions of one number become tables: all 256 bytes against ONNX
Runtime's float32, a step apart at most, where a result is a half. What moves elements, takes a maximum or pads is equal in every element."""
import pathlib
import re
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import must, plain_session, told  # noqa: E402

F = np.float32
FUNCTIONS = {
    "Sigmoid": [("Sigmoid", ["x"])],
    "Relu": [("Relu", ["x"])],
    "Tanh": [("Tanh", ["x"])],
    "LeakyRelu": [("LeakyRelu", ["x"], {"alpha": 0.1})],
    "HardSwish": [("HardSwish", ["x"])],
    "SiLU": [("Sigmoid", ["x"]), ("Mul", ["x", "f0"])],
    "hard swish of clips": [("Add", ["x", F(3)]), ("Clip", ["f0", F(0), F(6)]), ("Mul", ["x", "f1"]), ("Div", ["f2", np.full((1, 1, 1, 1), 6, F)])],
    "a result read twice": [("Add", ["x", F(3)]), ("Clip", ["f0", F(0), F(6)]), ("Mul", ["f0", "f1"])],
    "Log of negatives": [("Log", ["x"])],
    "Pow": [("Pow", ["x", F(2)])],
    "another scale": [("Identity", ["x"])],
    "PRelu": [("PRelu", ["x", F(0.2)])],
    "PRelu by channels": [("PRelu", ["x", np.linspace(-0.7, 1.3, 10).astype(F).reshape(10, 1, 1)])],
    "PRelu by columns": [("PRelu", ["x", np.linspace(-0.7, 1.3, 8).astype(F)])],
    "scaled and moved by channels": [("Mul", [np.linspace(0.5, 1.5, 10).astype(F).reshape(10, 1, 1), "x"]), ("Add", ["f0", np.linspace(-1, 1, 10).astype(F).reshape(1, 10, 1, 1)]), ("Relu", ["f1"])],
}
MOVES = {
    "Concat": ([("Concat", ["x", "y"], {"axis": 1})], "stored"),
    "Concat of one twice": ([("Concat", ["x", "x", "y"], {"axis": 2})], "stored"),
    "Concat of equal scales": ([("Concat", ["x", "x2", np.zeros((1, 3, 6, 8), F)], {"axis": 1}), ("Relu", ["f0"])], "stored"),
    "MaxPool": ([("MaxPool", ["x"], {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]})], "stored"),
    "MaxPool that is dilated": ([("MaxPool", ["x"], {"kernel_shape": [2, 2], "dilations": [2, 3]})], "float"),
    "MaxPool in floats": ([("MaxPool", ["x"], {"kernel_shape": [2, 2], "strides": [1, 2]})], "float"),
    "Pad": ([("Pad", ["x", np.array([0, 0, 1, 2, 0, 1, 0, 3])])], "float"),
    "Pad by no byte": ([("Pad", ["x", np.array([0, 0, 1, 2, 0, 1, 0, 3]), F(0.123)])], "float"),
    "Resize to whole pixels": ([("Resize", ["x", np.zeros(0, F), np.array([1, 1, 2, 2], F)], {"mode": "nearest"})], "stored"),
    "Resize of lengths that do not divide": ([("Resize", ["x", np.zeros(0, F), np.zeros(0, F), np.array([1, 10, 4, 13])], {"mode": "nearest", "nearest_mode": "floor"})], "float"),
    "Transpose": ([("Transpose", ["x"], {"perm": [0, 2, 3, 1]})], "float"),
    "Slice": ([("Slice", ["x", np.array([1, 0]), np.array([5, 8]), np.array([2, 3]), np.array([1, 2])])], "stored"),
    "shuffle": ([("Reshape", ["x", np.array([1, 2, 5, 6, 8])]), ("Transpose", ["f0"], {"perm": [0, 2, 1, 3, 4]}), ("Reshape", ["f1", np.array([1, 10, 6, 8])])], "float"),
}
# which number is the largest or smallest: the byte that stores it
PLACES = {
    "ArgMax of channels": [("ArgMax", ["x"], {"axis": 1})],
    "ArgMin of rows": [("ArgMin", ["x"], {"axis": 2, "keepdims": 0, "select_last_index": 1})],
    "ArgMax of a line": [("Reshape", ["x", np.array([10, 48])]), ("ArgMax", ["f0"], {"axis": -1})],
    "ArgMax of bytes": [("ArgMax", ["x_stored"], {"axis": 1})],
    "ArgMin of bytes": [("ArgMin", ["x_stored"], {"axis": 3, "keepdims": 0})],
}


def build(path, nodes, result, kind, scales):
    """x, x2 and y are stored inputs; the last node's result is stored by another scale, or by x's, or stays float."""
    constants, made = [], []

    def constant(a):
        constants.append(numpy_helper.from_array(np.asarray(a), f"c{len(constants)}"))
        return constants[-1].name

    middle = 128 if kind == np.uint8 else 0
    zeros = {"x": kind(middle + 9), "x2": kind(middle + 9), "y": kind(middle - 20), "r": kind(middle + 3)}
    shape = {"x": [1, 10, 6, 8], "x2": [1, 10, 6, 8], "y": [1, 10, 6, 8]}
    stored_type = TensorProto.UINT8 if kind == np.uint8 else TensorProto.INT8
    used = {i.removesuffix("_stored") for node in nodes for i in node[1] if isinstance(i, str)} & set(shape)
    for name in sorted(used):
        made.append(helper.make_node("DequantizeLinear", [name + "_stored", constant(scales[name]), constant(zeros[name])], [name]))
    for i, (op, inputs, *attributes) in enumerate(nodes):
        names = [v if isinstance(v, str) else constant(v) for v in inputs]
        made.append(helper.make_node(op, names, [f"f{i}"], **(attributes[0] if attributes else {})))
    last = f"f{len(nodes) - 1}"
    if result == "stored":
        made.append(helper.make_node("QuantizeLinear", [last, constant(scales["r"]), constant(zeros["r"])], ["out"]))
    else:
        made.append(helper.make_node("Identity", [last], ["out"]))
    graph = helper.make_graph(made, "net", [helper.make_tensor_value_info(n + "_stored", stored_type, shape[n]) for n in sorted(used)],
                              [helper.make_tensor_value_info("out", {"stored": stored_type, "float": TensorProto.FLOAT, "place": TensorProto.INT64}[result], None)], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8), str(path))
    return {n + "_stored": shape[n] for n in sorted(used)}


def every_byte(kind, shapes):
    random, info = np.random.default_rng(3), np.iinfo(kind)
    inputs = {}
    for name, shape in shapes.items():
        x = random.permutation(np.resize(np.arange(info.min, info.max + 1), int(np.prod(shape)))).reshape(shape)
        inputs[name] = x.astype(kind)
    return inputs


def run(folder, nodes, result, kind, scales):
    """(our result, ONNX Runtime's, operators of the steps)."""
    shapes = build(folder / "net.onnx", nodes, result, kind, scales)
    must("convert", folder / "net.onnx", "-o", folder / "net.nsk", "--check")
    inputs = every_byte(kind, shapes)
    arguments = []
    for name, x in inputs.items():
        np.save(folder / f"{name}.npy", x)
        arguments += ["--input", f"{name}={folder / name}.npy"]
    must("run", folder / "net.nsk", *arguments, "--output-dir", folder)
    table = must("inspect", folder / "net.nsk", "--json")
    return np.load(folder / "out.npy"), plain_session(folder / "net.onnx").run(None, inputs)[0], re.findall(r'"op(?:erator)?": "(\w+)"', table)


def main():
    failures = []
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        for kind in (np.uint8, np.int8):
            scales = {"x": F(0.047), "x2": F(0.047), "y": F(0.031), "r": F(0.027)}
            halves = 0
            for name, nodes in FUNCTIONS.items():
                ours, theirs, steps = run(folder, nodes, "stored", kind, scales)
                apart = np.abs(ours.astype(int) - theirs.astype(int))
                halves += int((apart > 0).sum())
                if apart.max() > 1 or (apart > 0).mean() > 0.01:
                    failures.append(f"{name} of {kind.__name__}: {(apart > 0).sum()} of {apart.size} elements differ, by {apart.max()} at most")
                if set(steps) != {"ByteTable"}:
                    failures.append(f"{name} of {kind.__name__}: steps {steps}")
            for name, (nodes, result) in MOVES.items():
                ours, theirs, steps = run(folder, nodes, result, kind, scales)
                if ours.shape != theirs.shape or not np.array_equal(ours, theirs):
                    failures.append(f"{name} of {kind.__name__} differs from ONNX Runtime")
                if result == "stored" and kind == np.uint8 and "Quantize" in steps:
                    failures.append(f"{name} of {kind.__name__}: steps {steps}")
            for name, nodes in PLACES.items():
                ours, theirs, steps = run(folder, nodes, "place", kind, scales)
                if ours.dtype != np.int64 or not np.array_equal(ours, theirs) or "ArgReduce" not in steps or set(steps) - {"ArgReduce", "Copy"}:
                    failures.append(f"{name} of {kind.__name__}: {(ours != theirs).sum()} of {ours.size} differ, steps {steps}")
            print(f"{kind.__name__}: {len(FUNCTIONS)} functions, {halves} halves; {len(MOVES)} moves, {len(PLACES)} places")
    return told(failures)


if __name__ == "__main__":
    sys.exit(main())
