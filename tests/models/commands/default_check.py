#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""convert proves what it writes: its own check on inputs that the model accepts, what it says of it, and when it declines."""
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import nsk  # noqa: E402

failures = []
checks = 0
INT, FLOAT = TensorProto.INT64, TensorProto.FLOAT


def value(name, shape, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def model(folder, name, nodes, inputs, outputs, constants=()):
    tensors = [onnx.numpy_helper.from_array(array, key) for key, array in constants]
    graph = helper.make_graph(nodes, name, inputs, outputs, tensors)
    path = folder / f"{name}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    return path


def expect(what, path, words, code=0, options=()):
    """Converts and looks for words in what is said; words that begin with '!' must not be there."""
    global checks
    checks += 1
    output = path.with_suffix(".nsk")
    output.unlink(missing_ok=True)
    done = nsk("convert", path, "-o", output, *options)
    said = done.stdout + done.stderr
    problems = [] if done.returncode == code else [f"exit code {done.returncode} instead of {code}"]
    problems += [f"'{w}' is missing" for w in words if not w.startswith("!") and w not in said]
    problems += [f"'{w[1:]}' is there" for w in words if w.startswith("!") and w[1:] in said]
    if output.exists() != (code == 0):
        problems.append("the file was not written" if code == 0 else "a file was written")
    if problems:
        failures.append(f"{what}: {'; '.join(problems)}\n    {said.strip()[:600]}")


def integer(folder, name, op, constants=(), computed=False, **attributes):
    """op(a, b) on integers; `computed`: its second operand is b - c."""
    nodes = [helper.make_node("Sub", ["b", "c"], ["d"])] if computed else []
    nodes.append(helper.make_node(op, ["a", "d" if computed else "b"], ["y"], **attributes))
    inputs = [value("a", [2, 3], INT), value("b", [3], INT)] + ([value("c", [3], INT)] if computed else [])
    return model(folder, name, nodes, inputs, [value("y", [2, 3], INT)], constants)


def picks(folder, name, op, data, indices, output, **attributes):
    return model(folder, name, [helper.make_node(op, ["x", "i"], ["y"], **attributes)], [value("x", data), value("i", indices, INT)],
                 [value("y", output)])


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        weights = [("w", np.linspace(-1, 1, 108).astype(np.float32).reshape(4, 3, 3, 3))]
        conv = helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])
        good = model(folder, "good", [conv], [value("x", [1, 3, 8, 8])], [value("y", [1, 4, 8, 8])], weights)
        expect("the default", good, ["checked against the evaluator", "--no-check skips it", "!warning"])
        expect("--no-check", good, ["not checked: --no-check", "!checked against"], options=["--no-check"])
        expect("--check", good, ["check passed: 1 outputs and 1 steps"], options=["--check"])
        expect("both", good, ["nsk:"], code=1, options=["--check", "--no-check"])

        stated = model(folder, "stated", [conv], [value("x", [1, 3, 8, 8])], [value("y", [1, 4, 6, 8])], weights)
        expect("a shape that the model declares otherwise", stated, ["[1,4,6,8]", "[1,4,8,8]", "output 'y'"])
        open_shape = model(folder, "open", [conv], [value("x", [1, 3, 8, 8])], [value("y", ["n", 4, None, 8])], weights)
        expect("open lengths of an output", open_shape, ["!warning"])

        for op in ("Div", "Mod"):
            expect(f"{op} by an input", integer(folder, op.lower(), op), ["checked against"])
            expect(f"{op} by a computed divisor", integer(folder, op.lower() + "_computed", op, computed=True), ["checked against"])
        zero = integer(folder, "always_zero", "Div", [("b", np.zeros(3, np.int64))])
        onnx_model = onnx.load(str(zero))
        del onnx_model.graph.input[1]
        onnx.save(onnx_model, str(zero))
        expect("Div by zero alone", zero, ["not checked", "integer division by zero", "--input NAME=FILE.npy"])
        expect("Div by zero alone, --check", zero, ["integer division by zero"], code=2, options=["--check"])

        expect("Gather", picks(folder, "gather", "Gather", [1, 3], [4], [4, 3], axis=0), ["checked against"])
        expect("Gather of a long axis", picks(folder, "gather_long", "Gather", [2, 7], [3], [2, 3], axis=1), ["checked against"])
        expect("GatherElements", picks(folder, "elements", "GatherElements", [1, 4], [1, 4], [1, 4], axis=0), ["checked against"])
        expect("GatherND", picks(folder, "nd", "GatherND", [1, 2, 3], [5, 2], [5, 3]), ["checked against"])
        through = model(folder, "through", [helper.make_node("Reshape", ["i", "s"], ["r"]), helper.make_node("Gather", ["x", "r"], ["y"])],
                        [value("x", [1, 3]), value("i", [2, 2], INT)], [value("y", [4, 3])], [("s", np.array([4], np.int64))])
        expect("an index behind a Reshape", through, ["checked against"])

        chain = [helper.make_node(op, [a], [b]) for op, a, b in (("Sin", "x", "s"), ("Tanh", "s", "t"), ("Exp", "t", "y"))]
        large = model(folder, "large", chain, [value("x", [1, 1, 8192, 8192])], [value("y", [1, 1, 8192, 8192])])
        expect("a model whose check takes gigabytes", large, ["not checked: the model is large"])
    if failures:
        sys.exit("\n".join(failures))
    print(f"{checks} conversions said what they proved")


if __name__ == "__main__":
    main()
