#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A network that amplifies rounding passes the check step by step, says so, and a wrong one still fails; one that does not is not said to.

The logistic map z -> r z (1 - z) doubles every error: after 40 rounds nothing is left of a float32 result's digits, although each step is
right. With another r the steps themselves are wrong. Attention with a mask of integers amplifies for numbers that are no mask, and not for 0
and 1. A layer of large sums inside a step with its tanh rounds as its sums do.
"""
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import must, nsk  # noqa: E402

ROUNDS = 40


def logistic(path, r):
    constants = [numpy_helper.from_array(np.float32(v), n) for n, v in (("r", r), ("one", 1), ("half", 0.5))]
    nodes = [helper.make_node("Mul", ["x", "half"], ["scaled"]), helper.make_node("Add", ["scaled", "half"], ["z0"])]  # [-1, 1] to [0, 1]
    for i in range(ROUNDS):
        nodes += [helper.make_node("Sub", ["one", f"z{i}"], [f"rest{i}"]), helper.make_node("Mul", [f"z{i}", f"rest{i}"], [f"product{i}"]),
                  helper.make_node("Mul", [f"product{i}", "r"], [f"z{i + 1}"])]
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 50]) for n in ("x", f"z{ROUNDS}"))
    graph = helper.make_graph(nodes, "logistic", [x], [y], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def save(path, nodes, inputs, output, constants):
    graph = helper.make_graph(nodes, "net", inputs, [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(np.asarray(v), n) for n, v in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def attention(path, tokens, factor=1.0, words=20, width=8, length=6):
    """Embeddings by Gather, by OneHot or of floats that are cast, attention under a mask of integers, the mean of the words that it leaves."""
    random = np.random.default_rng(51)
    table = random.standard_normal((words, width)).astype(np.float32)
    constants = {"table": table, "w": (random.standard_normal((width, width)) * factor).astype(np.float32), "one": np.float32(1), "much": np.float32(-10000),
                 "eps": np.float32(1e-9), "axis": np.array([1], np.int64), "last": np.array([2], np.int64), "depth": np.int64(words), "switch": np.array([0, 1], np.float32)}
    ids = helper.make_tensor_value_info("ids", TensorProto.FLOAT if tokens == "cast" else TensorProto.INT64, [1, length])
    embed = {"gather": [helper.make_node("Gather", ["table", "ids"], ["x"])],
             "cast": [helper.make_node("Cast", ["ids"], ["i"], to=TensorProto.INT64), helper.make_node("Gather", ["table", "i"], ["x"])],
             "one_hot": [helper.make_node("OneHot", ["ids", "depth", "switch"], ["hot"], axis=-1), helper.make_node("MatMul", ["hot", "table"], ["x"])]}
    rest = [("MatMul", ["x", "w"], "q"), ("Transpose", ["x"], "k", {"perm": [0, 2, 1]}), ("MatMul", ["q", "k"], "scores"), ("Cast", ["mask"], "m", {"to": TensorProto.FLOAT}),
            ("Unsqueeze", ["m", "axis"], "row"), ("Sub", ["one", "row"], "rest"), ("Mul", ["rest", "much"], "bias"), ("Add", ["scores", "bias"], "masked"),
            ("Softmax", ["masked"], "a", {"axis": -1}), ("MatMul", ["a", "x"], "h"), ("Unsqueeze", ["m", "last"], "column"), ("Mul", ["h", "column"], "kept"),
            ("ReduceSum", ["kept", "axis"], "sum", {"keepdims": 0}), ("ReduceSum", ["column", "axis"], "count", {"keepdims": 0}), ("Max", ["count", "eps"], "some"), ("Div", ["sum", "some"], "y")]
    nodes = embed[tokens] + [helper.make_node(op, given, [made], **(more[0] if more else {})) for op, given, made, *more in rest]
    save(path, nodes, [ids, helper.make_tensor_value_info("mask", TensorProto.INT64, [1, length])], "y", constants)


def large_sums(path, bias=0.0):
    weights = np.random.default_rng(7).standard_normal((64, 64)).astype(np.float32) * 2
    save(path, [helper.make_node("Gemm", ["x", "w", "b"], ["s"]), helper.make_node("Tanh", ["s"], ["y"])], [helper.make_tensor_value_info("x", TensorProto.FLOAT, [512, 64])], "y",
         {"w": weights, "b": np.full(64, bias, np.float32)})


def not_amplified(folder):
    """What is wrong with networks that do not amplify."""
    for tokens in ("gather", "cast", "one_hot"):
        attention(folder / "tokens.onnx", tokens)
        attention(folder / "wrong.onnx", tokens, 1.001)
        said = must("convert", folder / "tokens.onnx", "-o", folder / "tokens.nsk")
        if "amplifies" in said or "worst error" not in said:
            yield f"tokens by {tokens}: the check should have found masks that amplify nothing:\n{said}"
        if nsk("check", folder / "wrong.onnx", folder / "tokens.nsk").returncode != 3:
            yield f"tokens by {tokens}: other weights passed the check"
    large_sums(folder / "sums.onnx")
    large_sums(folder / "wrong.onnx", 0.5)
    must("convert", folder / "sums.onnx", "-o", folder / "sums.nsk", "--input-range", "x=0..255")
    for seed in range(4):
        if nsk("check", folder / "sums.onnx", folder / "sums.nsk", "--seed", seed).returncode:
            yield f"large sums in a tanh, seed {seed}: refused"
    if nsk("check", folder / "wrong.onnx", folder / "sums.nsk").returncode != 3:
        yield "large sums in a tanh: another bias passed the check"


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_amplified_") as folder:
        folder = pathlib.Path(folder)
        for name, r in (("right", 4.0), ("other", 3.99)):
            logistic(folder / f"{name}.onnx", r)
        said = must("convert", folder / "right.onnx", "-o", folder / "right.nsk", "--check")
        if "past the tolerance" not in said or "on its own inputs" not in said:
            raise SystemExit(f"the check should have seen the amplification and said so:\n{said}")
        wrong = nsk("check", folder / "other.onnx", folder / "right.nsk")
        if wrong.returncode != 3:
            raise SystemExit(f"a network with other numbers passed the check (exit code {wrong.returncode}):\n{wrong.stdout}{wrong.stderr}")
        problems = list(not_amplified(folder))
        if problems:
            raise SystemExit("\n".join(problems))
    print("amplified rounding is distinguished from wrong steps")
    return 0


if __name__ == "__main__":
    sys.exit(main())
