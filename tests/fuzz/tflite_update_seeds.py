# SPDX-License-Identifier: MIT
"""Small TensorFlow Lite models of updates, volumes, composites and signatures; hostile ones among them."""
import pathlib
import sys

import numpy as np

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "models" / folder) for folder in ("support", "tflite")]
import tflite_signatures  # noqa: E402
from tflite_operators import build, cases  # noqa: E402
from tflite_writer import Writer  # noqa: E402

F = np.float32
# One variant of each operator, by its name in tests/models/tflite/tflite_operators.py, and the shape of its result.
SINGLE = {"DYNAMIC_UPDATE_SLICE along two axes": [2, 8, 4], "SCATTER_ND constant float32": [8, 2], "SCATTER_ND computed int32": [8, 2], "SPARSE_TO_DENSE": [3, 4], "SEGMENT_SUM": [3, 3],
          "UNSORTED_SEGMENT_MAX float32": [4, 3], "MATRIX_DIAG": [2, 3, 3], "MATRIX_SET_DIAG 2 4": [2, 2, 4], "CONV_3D p0": [1, 4, 3, 6, 5], "CONV_3D_TRANSPOSE p0 (4, 10, 6)": [1, 4, 10, 6, 5],
          "L2_POOL_2D p0": [1, 7, 3, 5], "DILATE": [2, 7, 7], "STABLEHLO_PAD": [3, 8, 5], "REDUCE_WINDOW 1": [3, 2, 3], "BITWISE_XOR": [3, 4], "RIGHT_SHIFT": [40], "BUCKETIZE float32": [3, 40],
          "STABLEHLO_MULTIPLY": [1, 7, 6, 5], "STABLEHLO_GATHER of windows": [1, 4, 3]}


def composite(inside, first=1):
    """A composite whose graph is number `first`; `inside`: what each graph behind the first one runs, 0 for a Tanh."""
    w = Writer()
    x, y = w.tensor("x", [2, 3], F), w.tensor("y", [2, 3], F)
    w.operator("STABLEHLO_COMPOSITE", [x], [y], ("StableHLOCompositeOptions", {"name": b"mine", "decompositionSubgraphIndex": first}))
    for number in inside:
        w.begin_graph("inner")
        a, b = w.tensor("a", [2, 3], F), w.tensor("b", [2, 3], F)
        if number == 0:
            w.operator("TANH", [a], [b])
        else:
            w.operator("STABLEHLO_COMPOSITE", [a], [b], ("StableHLOCompositeOptions", {"name": b"more", "decompositionSubgraphIndex": number}))
        w.end_graph([a], [b])
    return w.finish([x], [y])


def signature_of_other_tensors():
    """A signature whose tensors do not exist."""
    w = Writer()
    x, y = w.tensor("x", [2], F), w.tensor("y", [2], F)
    w.operator("TANH", [x], [y])
    tflite_signatures.signature(w, "decode", 0, [("x", 77)], [("y", 2**32 - 1)])
    return w.finish([x], [y])


def models():
    """Yields (name, bytes of the model)."""
    every = {case[0]: case for case in cases()}
    for name, shape in SINGLE.items():
        _, op, operands, options, results = every[name]
        typed = np.int32 if op == "BUCKETIZE" or "int32" in name or op in ("BITWISE_XOR", "RIGHT_SHIFT") else F
        yield name.split(" (")[0].replace(" ", "_"), build(op, operands, options, [typed], [shape], False)[0]
    yield "composite", composite([0])
    yield "composite_in_composite", composite([2, 0])
    yield "composite_of_itself", composite([1])
    yield "composites_of_each_other", composite([2, 1])
    yield "composite_of_the_first", composite([0], first=0)
    yield "composite_of_nothing", composite([0], first=9)
    yield "composite_of_a_negative", composite([0], first=-1)
    yield "signatures", tflite_signatures.two_functions()
    yield "signature_of_nothing", tflite_signatures.two_functions(subgraph=2**32 - 1)
    yield "signature_of_other_tensors", signature_of_other_tensors()
