#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Right models whose numbers leave float32 on the way: underflow to 0, overflow to infinity, infinite masks, halves in great number. They convert, and give what
ONNX Runtime gives; the same models with one wrong constant fail the check."""
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import nsk, plain_session  # noqa: E402

F = np.float32
RANDOM = np.random.default_rng(50)
failures = []


def node(op, inputs, output, **attributes):
    return helper.make_node(op, inputs, [output], **attributes)


def save(path, nodes, shape, constants, output="y"):
    tensors = [numpy_helper.from_array(np.asarray(value, np.int64 if name == "axes" else F), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))


def chain(*steps):
    """Nodes of one operator after another; a step is an operator, or one and its constant."""
    nodes, value = [], "x"
    for i, step in enumerate(steps):
        op, others, attributes = (step, [], {}) if isinstance(step, str) else (step[0], list(step[1:-1] if isinstance(step[-1], dict) else step[1:]), step[-1] if isinstance(step[-1], dict) else {})
        result = "y" if i == len(steps) - 1 else f"v{i}"
        nodes.append(node(op, [value, *others], result, **attributes))
        value = result
    return nodes


MASK = np.zeros((4, 4), F)
MASK[np.triu_indices(4, 1)] = -np.inf
CASES = {  # name: (nodes, shape, constants, constant that a wrong model has otherwise)
    "exp of -200": (chain(("Sub", "c"), "Exp"), [1, 4], {"c": 200}, None),
    "exp of -86": (chain(("Sub", "c"), "Exp"), [1, 64], {"c": 86}, ("c", 85)),
    "exp across the cut-off": (chain(("Mul", "c"), "Exp"), [1, 256], {"c": 200}, ("c", 201)),
    "sigmoid of -200": (chain(("Sub", "c"), "Sigmoid"), [1, 4], {"c": 200}, None),
    "softplus of -200": (chain(("Sub", "c"), "Softplus"), [1, 4], {"c": 200}, None),
    "square of a square": (chain(("Mul", "c"), ("Mul", "v0")), [1, 4], {"c": 1e-30}, None),
    "denormal products": (chain(("Mul", "c")), [1, 64], {"c": 1e-42}, None),
    "products of denormals beside a number": (chain(("Mul", "c"), ("Mul", "v0"), ("Add", "d")), [1, 16], {"c": 1e-40, "d": 1}, ("d", 1.001)),
    "an underflow that is scaled up": (chain(("Sub", "c"), "Exp", ("Mul", "d")), [1, 16], {"c": 200, "d": 1e30}, None),
    "log of an underflow": (chain(("Sub", "c"), "Exp", "Log"), [1, 16], {"c": 200}, None),
    "log of what is nearly 0": (chain(("Sub", "c"), "Sigmoid", ("Add", "e"), "Log"), [1, 16], {"c": 200, "e": 1e-30}, ("e", 1e-29)),
    "overflow": (chain(("Mul", "c"), ("Mul", "c")), [1, 16], {"c": 1e30}, None),
    "overflow, then a quotient": (chain(("Mul", "c"), ("Mul", "c"), "Reciprocal"), [1, 16], {"c": 1e30}, None),
    "overflow, then a limit": (chain(("Mul", "c"), ("Mul", "c"), "Sigmoid"), [1, 16], {"c": 1e30}, None),
    "exp of 200": (chain(("Add", "c"), "Exp"), [1, 16], {"c": 200}, None),
    "a product of 465 numbers": (chain(("ReduceProd", {"axes": [1]})), [1, 465], {}, None),
    "a product of large and small numbers": (chain(("Mul", "c"), ("ReduceProd", {"axes": [1]})), [1, 8], {"c": [1e30] * 4 + [1e-30] * 4}, None),
    "a product that overflows first": (chain(("Mul", "c"), ("ReduceProd", {"axes": [1]})), [1, 64], {"c": [1e30] * 32 + [1e-30] * 32}, None),
    "a product that underflows first": (chain(("Mul", "c"), ("ReduceProd", {"axes": [1]})), [1, 64], {"c": [1e-30] * 32 + [1e30] * 32}, None),
    "the same the other way": (chain(("Mul", "c"), ("ReduceProd", {"axes": [1]})), [1, 8], {"c": [1e-30] * 4 + [1e30] * 4}, None),
    "an infinite mask": (chain(("Add", "m"), ("Softmax", {"axis": -1}), ("MatMul", "w")), [4, 4], {"m": MASK, "w": np.arange(16).reshape(4, 4) / 7}, ("w", np.arange(16).reshape(4, 4) / 6)),
    "a mask of the lowest float": (chain(("Add", "m"), ("Softmax", {"axis": -1})), [4, 4], {"m": np.maximum(MASK, np.finfo(F).min)}, ("m", np.zeros((4, 4), F))),
    "infinite limits": (chain(("Clip", "low", "high"), ("Mul", "c")), [1, 16], {"low": -np.inf, "high": np.inf, "c": 3}, ("c", 3.01)),
    "maxima with -inf": (chain(("Max", "c"), ("Min", "d")), [1, 16], {"c": -np.inf, "d": np.inf}, ("c", 0.5)),
    "an infinite addend": (chain(("Add", "c")), [1, 4], {"c": [0, np.inf, -np.inf, 1]}, ("c", [0, np.inf, -np.inf, 2])),
    "an infinite quotient": (chain(("Div", "c"), ("Add", "d")), [1, 4], {"c": np.inf, "d": 1}, ("d", 2)),
    "softmax of far numbers": (chain(("Mul", "c"), ("Softmax", {"axis": -1})), [3, 16], {"c": 1000}, ("c", 100)),
    "log of a softmax": (chain(("Mul", "c"), ("Softmax", {"axis": -1}), "Log"), [3, 16], {"c": 1000}, None),
    "log-softmax": (chain(("Mul", "c"), ("LogSoftmax", {"axis": -1})), [3, 16], {"c": 1000}, ("c", 1001)),
    "squares that overflow in a mean": (chain(("Mul", "c"), ("Mul", "v0"), ("ReduceMean", {"axes": [1]})), [1, 16], {"c": 1e25}, None),
    "a norm of large numbers": (chain(("Mul", "c"), ("ReduceL2", {"axes": [1]})), [1, 16], {"c": 1e25}, None),
    "a norm of tiny numbers": (chain(("Mul", "c"), ("ReduceL2", {"axes": [1]})), [1, 16], {"c": 1e-25}, None),
    "sums that cancel": (chain(("Mul", "c"), ("ReduceSum", "axes")), [1, 4], {"c": [3e38, 3e38, -3e38, -3e38], "axes": [1]}, None),
    "powers": (chain(("Abs"), ("Pow", "c")), [1, 16], {"c": 300}, None),
}


def same_kind(got, want):
    """Equal to float32's rounding, with zeros for what is below its normal numbers; infinities and NaN are where ONNX Runtime has them."""
    if got.shape != want.shape:
        return f"{got.shape} instead of {want.shape}"
    if not np.array_equal(np.isnan(got), np.isnan(want)) or not np.array_equal(np.isinf(got), np.isinf(want)):
        return "infinities or NaN elsewhere"
    finite = np.isfinite(want)
    error = np.abs(got[finite].astype(np.float64) - want[finite])
    worst = np.max(error - 2e-5 * np.abs(want[finite]).max(initial=0), initial=0)
    return "" if worst <= 2.4e-38 else f"off by {worst:.2e}"


def check_case(folder, name, nodes, shape, constants, wrong):
    source, other, made = folder / "net.onnx", folder / "wrong.onnx", folder / "net.nsk"
    save(source, nodes, shape, constants)
    made.unlink(missing_ok=True)
    done = nsk("convert", source, "-o", made)
    if done.returncode != 0:
        failures.append(f"{name}: refused: {(done.stdout + done.stderr).strip()[-400:]}")
        return
    x = RANDOM.uniform(-1, 1, shape).astype(F)
    np.save(folder / "x.npy", x)
    ran = nsk("run", made, "--input", f"x={folder / 'x.npy'}", "--output-dir", folder / "out")
    problem = same_kind(np.load(folder / "out" / "y.npy"), plain_session(source).run(None, {"x": x})[0]) if ran.returncode == 0 else ran.stderr
    if problem and name not in OTHER_KINDS:
        failures.append(f"{name}: {problem}")
    if wrong is None:
        return
    save(other, nodes, shape, constants | {wrong[0]: wrong[1]})
    noticed = nsk("check", other, made)
    if noticed.returncode != 3:
        failures.append(f"{name}: a wrong {wrong[0]} is not noticed (exit code {noticed.returncode}): {noticed.stdout[-300:]}")


# Results that float32 has, and ONNX Runtime's order of operations does not reach.
OTHER_KINDS = {"a product of large and small numbers", "the same the other way"}
# Numbers that float32 has and that are exactly 0 here (docs/reference/conventions.md), where later steps make something of them.
REFUSED = {
    "a denormal exp that is scaled up": (chain(("Sub", "c"), "Exp", ("Mul", "d")), [1, 16], {"c": 100, "d": 1e30}),
    "log of a denormal exp": (chain(("Sub", "c"), "Exp", "Log"), [1, 16], {"c": 90}),
    "quotient by a denormal sigmoid": (chain(("Sub", "c"), "Sigmoid", "Reciprocal"), [1, 16], {"c": 87.9}),
}


def check_refused(folder, name, nodes, shape, constants):
    save(folder / "net.onnx", nodes, shape, constants)
    done = nsk("convert", folder / "net.onnx", "-o", folder / "net.nsk")
    if done.returncode != 3 or "scale the model" not in done.stderr:
        failures.append(f"{name}: exit code {done.returncode}, {done.stderr[-300:]}")


def add_of_bytes(path, y_scale, b_zero=128):
    scalars = [("as", F(0.02)), ("az", np.uint8(124)), ("bs", F(0.1)), ("bz", np.uint8(b_zero)), ("ys", F(y_scale)), ("yz", np.uint8(138))]
    graph = helper.make_graph([helper.make_node("QLinearAdd", ["a", "as", "az", "b", "bs", "bz", "ys", "yz"], ["y"], domain="com.microsoft")], "net",
                              [helper.make_tensor_value_info(n, TensorProto.UINT8, [1, 3264]) for n in "ab"],
                              [helper.make_tensor_value_info("y", TensorProto.UINT8, [1, 3264])], [numpy_helper.from_array(v, n) for n, v in scalars])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)], ir_version=8), str(path))


def check_halves(folder):
    """Scales in a simple ratio make many halves; a wrong zero point or scale is noticed beside them."""
    source, made = folder / "add.onnx", folder / "add.nsk"
    for y_scale in (0.06117647, 0.04, 0.08, 0.2):
        add_of_bytes(source, y_scale)
        done = nsk("convert", source, "-o", made)
        if done.returncode != 0:
            failures.append(f"QLinearAdd by {y_scale}: {(done.stdout + done.stderr)[-300:]}")
            continue
        for wrong in ({"b_zero": 127}, {"y_scale": y_scale * 1.01}):
            add_of_bytes(folder / "wrong.onnx", **({"y_scale": y_scale} | wrong))
            if nsk("check", folder / "wrong.onnx", made).returncode != 3:
                failures.append(f"QLinearAdd by {y_scale}: {wrong} is not noticed")


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for name, case in CASES.items():
            check_case(folder, name, *case)
        for name, case in REFUSED.items():
            check_refused(folder, name, *case)
        check_halves(folder)
    if failures:
        sys.exit("\n".join(failures))
    print(f"{len(CASES)} models whose numbers leave float32, and sums of bytes with many halves, are what they should be")


if __name__ == "__main__":
    main()
