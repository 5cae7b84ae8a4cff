#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A network that amplifies rounding passes the check step by step, says so, and a wrong one still fails.

The logistic map z -> r z (1 - z) doubles every error: after 40 rounds nothing is left of a float32 result's digits, although each step is
right. With another r the steps themselves are wrong.
"""
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from models import must, nsk

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
    print("amplified rounding is distinguished from wrong steps")
    return 0


if __name__ == "__main__":
    sys.exit(main())
