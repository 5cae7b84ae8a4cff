#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Composites, branches and loops on stored integers, over several runs against LiteRT: every element must be equal.

  tflite_stored_graphs.py [PART-OF-A-NAME]
"""
import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from litert import compare_runs, have_litert  # noqa: E402
from models import nsk  # noqa: E402
from tflite_writer import Writer  # noqa: E402

F, I, Q = np.float32, np.int32, np.int8
RUNS, SHAPE = 3, [2, 8]
SCALE, ZERO = 0.05, 3
NO_ATTRIBUTES = np.frombuffer(b"\x00\x00\x01\x00\x00$\x01", np.uint8)  # a map without names, which LiteRT asks of a composite
WEIGHTS = np.random.default_rng(4).integers(-127, 128, (8, 8)).astype(Q)


class Model:
    """Graphs of a file whose tensors are int8 of one scale, if nothing else is said."""

    def __init__(self):
        self.w = Writer()

    def tensor(self, name, shape=SHAPE, dtype=Q, data=None, scale=SCALE, zero=ZERO):
        index = self.w.tensor(name, shape, dtype, data)
        if dtype == Q:
            q = self.w.schema.QuantizationParametersT()
            q.scale, q.zeroPoint = np.array([scale], F), np.array([zero], np.int64)
            self.w.graph.tensors[index].quantization = q
        return index

    def do(self, op, inputs, options=None, **kind):
        y = self.tensor(f"{op.lower()}{len(self.w.graph.tensors)}", **kind)
        self.w.operator(op, inputs, [y], options)
        return y

    def inside(self, body, inputs=1, **kind):
        """Another graph; `body` from its inputs to its outputs. Returns its number."""
        outer, number = self.w.graph, self.w.begin_graph("inner")
        given = [self.tensor(f"i{k}", **kind) for k in range(inputs)]
        self.w.end_graph(given, body(*given))
        self.w.graph = outer
        return number

    def composite(self, inputs, number, **kind):
        return self.do("STABLEHLO_COMPOSITE", inputs, ("StableHLOCompositeOptions", {"name": b"mine", "decompositionSubgraphIndex": number, "compositeAttributes": NO_ATTRIBUTES}), **kind)


def dense(m, x, weights=None):
    weights = m.tensor(f"w{len(m.w.graph.tensors)}", [8, 8], Q, WEIGHTS, 0.01, 0) if weights is None else weights
    return m.do("FULLY_CONNECTED", [x, weights], ("FullyConnectedOptions", {}), scale=0.1, zero=-5)


def again(m, x):
    """The same numbers by the scale of the input."""
    return m.do("QUANTIZE", [x])


def composite(m, x):
    return [m.composite([x], m.inside(lambda a: [dense(m, a)]), scale=0.1, zero=-5)]


def composite_of_weights(m, x):
    outer = m.tensor("weights", [8, 8], Q, WEIGHTS, 0.01, 0)

    def body(a, w):
        table = m.w.graph.tensors
        table[w].shape, table[w].quantization.scale, table[w].quantization.zeroPoint = [8, 8], np.array([0.01], F), np.array([0], np.int64)
        return [dense(m, a, w)]
    return [m.composite([x, outer], m.inside(body, 2), scale=0.1, zero=-5)]


def composite_in_composite(m, x):
    lower = m.inside(lambda a: [m.do("ADD", [a, again(m, dense(m, a))], ("AddOptions", {"fusedActivationFunction": 1}))])
    upper = m.inside(lambda a: [m.composite([m.composite([a], lower)], lower), a])
    first, second = m.tensor("first"), m.tensor("second")
    m.w.operator("STABLEHLO_COMPOSITE", [x], [first, second], ("StableHLOCompositeOptions", {"name": b"two", "decompositionSubgraphIndex": upper, "compositeAttributes": NO_ATTRIBUTES}))
    return [first, second]


def dequantised_inside(m, x):
    """From int8 to float32: an attention of a few steps."""
    def body(a):
        real = m.do("DEQUANTIZE", [a], dtype=F)
        return [m.do("SOFTMAX", [real], ("SoftmaxOptions", {"beta": 1.0}), dtype=F)]
    return [m.composite([x], m.inside(body), dtype=F)]


def images(m, x):
    """Graphs that take and give what is held with channels first."""
    image = {"shape": [1, 2, 4, 2]}
    pool = ("Pool2DOptions", {"padding": 0, "strideW": 1, "strideH": 1, "filterWidth": 2, "filterHeight": 2})
    a = m.do("MAX_POOL_2D", [m.do("RESHAPE", [x, m.w.tensor("s", [4], I, [1, 2, 4, 2])], ("ReshapeOptions", {"newShape": [1, 2, 4, 2]}), **image)], pool, **image)
    y = m.composite([a], m.inside(lambda i: [m.do("AVERAGE_POOL_2D", [i], pool, **image)], **image), **image)
    return [m.do("MAX_POOL_2D", [y], pool, **image)]


def branch(m, x):
    condition = m.w.tensor("c", [1], np.bool_)
    m.ports.append(condition)
    y = m.tensor("y")
    m.w.operator("IF", [condition, x], [y], ("IfOptions", {"thenSubgraphIndex": m.inside(lambda a: [again(m, dense(m, a))]), "elseSubgraphIndex": m.inside(lambda a: [m.do("RELU", [a])])}))
    return [y]


def loop(m, x):
    def counter(body):
        outer, number = m.w.graph, m.w.begin_graph("inner")
        i, a = m.w.tensor("i", [], I), m.tensor("a")
        m.w.end_graph([i, a], body(i, a))
        m.w.graph = outer
        return number

    def constant(value):
        return m.w.tensor(f"k{len(m.w.graph.tensors)}", [], I, value)

    below = counter(lambda i, a: [m.do("LESS", [i, constant(3)], shape=[], dtype=np.bool_)])
    body = counter(lambda i, a: [m.do("ADD", [i, constant(1)], ("AddOptions", {}), shape=[], dtype=I), again(m, dense(m, a))])
    outputs = [m.w.tensor("n", [], I), m.tensor("y")]
    m.w.operator("WHILE", [constant(0), x], outputs, ("WhileOptions", {"condSubgraphIndex": below, "bodySubgraphIndex": body}))
    return outputs[1:]


MODELS = [composite, composite_of_weights, composite_in_composite, dequantised_inside, images, branch, loop]


def built(make, **kind):
    m = Model()
    m.ports = [m.tensor("x", **kind)]
    outputs = make(m, m.ports[0])
    return m.w.finish(m.ports, outputs)


def compare(folder, make):
    content, numbers = built(make), np.random.default_rng(6)
    given = {"x": numbers.integers(-128, 128, [RUNS, *SHAPE]).astype(Q)}
    if make is branch:
        given["c"] = np.array([[1], [0], [1]], np.bool_)
    return compare_runs(folder, content, given, RUNS)


def refused(folder):
    """None where a graph that gives its integers another meaning is refused, else what happens."""
    (folder / "m.tflite").write_bytes(built(composite, scale=0.07))
    done = nsk("convert", folder / "m.tflite", "-o", folder / "m.nsk", "--quiet")
    return None if done.returncode != 0 and "with another scale or zero point than it is given" in done.stderr else f"{done.returncode}: {done.stderr}"


def main(part):
    if not have_litert():
        return 0
    with tempfile.TemporaryDirectory(prefix="nsk_stored_graphs_") as folder:
        results = [(make.__name__, compare(pathlib.Path(folder), make)) for make in MODELS if part in make.__name__]
        results.append(("another scale inside", refused(pathlib.Path(folder))))
    wrong = [f"{name}: {text}" for name, text in results if text]
    print("\n".join(wrong + [f"{len(results)} models, {len(wrong)} wrong"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
