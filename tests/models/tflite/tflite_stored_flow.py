#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Branches, loops and variables of TensorFlow Lite whose tensors store integers, over several runs against LiteRT: every integer must be equal.

What a graph inside takes and gives back are integers, whatever scales its own tensors have.
"""
import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from litert import compare_runs, have_litert, interpreter_of  # noqa: E402
from tflite_flow import SHAPE, Model  # noqa: E402

RUNS = 8
K, I = np.int8, np.int32
SCALES = {"": (0.05, -3), "other": (0.2, 7)}  # by a word in the tensor's name


class Stored(Model):
    """A model on int8; all of its tensors have one scale, but those with a word in their name."""

    def __init__(self):
        super().__init__()
        self.w.graph.tensors[self.ports["x"]].type = self.w.schema.TensorType.INT8

    def sum(self, a, b):
        return self.do("ADD", [a, b], SHAPE, K, ("AddOptions", {}))

    def number(self, value):
        return self.constant(np.full(SHAPE, value), K)

    def renamed(self, t, word):
        self.w.graph.tensors[t].name = f"{word}{t}".encode()
        return t

    def finish(self, *outputs):
        for graph in self.w.model.subgraphs:
            for t in graph.tensors:
                if t.type == self.w.schema.TensorType.INT8:
                    q = t.quantization = self.w.schema.QuantizationParametersT()
                    scale, zero = SCALES["other" if b"other" in t.name else ""]
                    q.scale, q.zeroPoint = [scale], [zero]
        return super().finish(*outputs)


def branches(m):
    add = m.graph([(SHAPE, K)], lambda x: [m.sum(x, m.number(9))])
    largest = m.graph([(SHAPE, K)], lambda x: [m.do("MAXIMUM", [x, m.number(2)], SHAPE, K)])
    return {"thenSubgraphIndex": add, "elseSubgraphIndex": largest}


def a_branch():
    m = Stored()
    c = m.port("c", [1], np.bool_)
    y = m.do("IF", [c, m.ports["x"]], SHAPE, K, ("IfOptions", branches(m)))
    return m.finish(m.sum(y, m.ports["x"]))


def a_branch_that_assigns():
    m = Stored()
    m.initialise(total=np.full(SHAPE, 5, K))
    c = m.port("c", [1], np.bool_)

    def adds(x):
        h = m.handle()
        total = m.sum(m.read(h, SHAPE, K), x)
        m.assign(h, total)
        return [total]
    options = {"thenSubgraphIndex": m.graph([(SHAPE, K)], adds), "elseSubgraphIndex": m.graph([(SHAPE, K)], lambda x: [m.sum(x, x)])}
    y = m.do("IF", [c, m.ports["x"]], SHAPE, K, ("IfOptions", options))
    return m.finish(y, m.sum(m.read(m.handle(), SHAPE, K), m.ports["x"]))


def a_loop():
    m = Stored()
    below = m.graph([([], I), (SHAPE, K)], lambda i, s: [m.do("LESS", [i, m.constant(3, I)], [], np.bool_)])
    body = m.graph([([], I), (SHAPE, K)], lambda i, s: [m.add(i, m.constant(1, I), [], I), m.sum(s, m.number(4))])
    last = [m.w.tensor("last_i", [], I), m.w.tensor("last_s", SHAPE, K)]
    m.w.operator("WHILE", [m.constant(0, I), m.ports["x"]], last, ("WhileOptions", {"condSubgraphIndex": below, "bodySubgraphIndex": body}))
    return m.finish(last[1])


def a_variable_read_by_another_scale():
    m = Stored()
    m.initialise(total=np.full(SHAPE, -3, K))
    h = m.handle()
    before = m.renamed(m.read(h, SHAPE, K), "other")
    largest = m.renamed(m.do("MAXIMUM", [before, m.renamed(m.number(2), "other")], SHAPE, K), "other")
    m.assign(h, m.sum(m.ports["x"], m.number(1)))
    return m.finish(largest)


def an_image_that_is_kept():
    """Channels are last in what is kept."""
    m = Stored()
    shape = [1, 4, 3, 2]
    x = m.port("image", shape, K)
    m.initialise(seen=np.full(shape, -3, K))
    h = m.handle("seen")
    pooled = m.do("MAX_POOL_2D", [m.do("MAXIMUM", [m.read(h, shape, K), x], shape, K)], shape, K,
                  ("Pool2DOptions", {"padding": 0, "strideH": 1, "strideW": 1, "filterHeight": 2, "filterWidth": 2}))
    m.assign(h, pooled)
    return m.finish(pooled, m.sum(m.ports["x"], m.ports["x"]))


MODELS = [a_branch, a_branch_that_assigns, a_loop, a_variable_read_by_another_scale, an_image_that_is_kept]


def inputs_of(content):
    numbers, given = np.random.default_rng(1), {}
    for detail in interpreter_of(content).get_input_details():
        low, high = (0, 1) if detail["dtype"] == np.bool_ else (-40, 40)
        given[detail["name"]] = numbers.integers(low, high, [RUNS, *detail["shape"]], endpoint=True).astype(detail["dtype"])
    return given


def main():
    if not have_litert():
        return 0
    wrong = []
    with tempfile.TemporaryDirectory(prefix="nsk_stored_flow_") as name:
        for make in MODELS:
            content = make()
            try:
                failure = compare_runs(pathlib.Path(name), content, inputs_of(content), RUNS)
            except (RuntimeError, ValueError) as refused:
                failure = f"LiteRT: {refused}"
            wrong += [f"{make.__name__}: {failure}"] if failure else []
    print("\n".join(wrong + [f"{len(MODELS)} models over {RUNS} runs, {len(wrong)} wrong"]))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
