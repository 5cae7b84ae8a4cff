# SPDX-License-Identifier: MIT
"""Random TensorFlow Lite models that last: layers with a memory, variables, branches and loops, over several runs."""
import random

import numpy as np

import tflite_layers
from tflite_flow import Model
from tflite_graph import B, F, I, Case

RUNS = 3
NO_ATTRIBUTES = np.frombuffer(b"\x00\x00\x01\x00\x00$\x01", np.uint8)  # a map without names, which LiteRT asks of a composite
OPERATORS = {"LSTM", "UNIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_LSTM", "RNN", "UNIDIRECTIONAL_SEQUENCE_RNN", "BIDIRECTIONAL_SEQUENCE_RNN", "SVDF", "VAR_HANDLE",
             "READ_VARIABLE", "ASSIGN_VARIABLE", "CALL_ONCE", "IF", "WHILE", "STABLEHLO_COMPOSITE"}


def layer(seed):
    """A recurrent layer with random options."""
    made, content = random.Random(seed).choice(tflite_layers.LAYERS)(seed)
    return Case(content, made.sample(), operators=operators_in(made.w.model))


def operators_in(model):
    from ai_edge_litert.schema_py_generated import BuiltinOperator
    names = {value: name for name, value in vars(BuiltinOperator).items() if not name.startswith("_")}
    return [names[model.operatorCodes[o.opcodeIndex].builtinCode] for graph in model.subgraphs for o in graph.operators]


class Program(Model):
    """A model of statements on float tensors of one shape; graphs inside it are programs too."""

    def __init__(self, seed):
        super().__init__()
        self.choose, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.size = [self.choose.choice([1, 2, 3]), self.choose.choice([1, 3, 4, 8])]
        self.w.graph.tensors[self.ports["x"]].shape = self.size
        self.variables = [f"v{k}" for k in range(self.choose.randint(0, 2))]
        self.counts = ["n"] if self.choose.random() < 0.4 else []
        begin = {v: (self.numbers.uniform(-1, 1, self.size) * (self.choose.random() < 0.6)).astype(F) for v in self.variables}
        begin.update({n: np.zeros([], I) for n in self.counts})
        if begin:
            self.initialise(**begin)
        for k in range(self.choose.randint(0, 2)):
            self.port(f"c{k}", [1], B)
        self.depth = self.loops = 0

    def some(self, share):
        return self.choose.random() < share

    def weights(self, *shape):
        return self.constant(self.numbers.uniform(-0.8, 0.8, shape).astype(F))

    def floats(self, op, inputs, options=None):
        return self.do(op, inputs, self.size, F, options)

    def line(self, values):
        """One statement; returns what it computes."""
        x = self.choose.choice(values)
        kinds = [self.function, self.function, self.sum, self.sum, self.dense, self.variable, self.variable, self.branch, self.loop, self.moved, self.composite, self.count]
        if self.depth > 1:
            kinds = kinds[:7]
        if self.depth == 0:
            kinds.append(self.layer)
        return self.choose.choice(kinds)(x, values)

    def function(self, x, values):
        return self.floats(self.choose.choice(["TANH", "TANH", "LOGISTIC", "NEG", "RELU", "ABS"]), [x])

    def sum(self, x, values):
        op = self.choose.choice(["ADD", "SUB", "MUL"])
        y = self.choose.choice(values) if self.some(0.6) else self.weights(self.size[1])
        return self.floats(op, [x, y], (f"{op.capitalize()}Options", {"fusedActivationFunction": self.choose.choice([0, 0, 1, 2])}))

    def dense(self, x, values):
        n = self.size[1]
        return self.floats("FULLY_CONNECTED", [x, self.weights(n, n), self.weights(n)], ("FullyConnectedOptions", {"fusedActivationFunction": self.choose.choice([0, 1])}))

    def moved(self, x, values):
        n = self.size[1]
        joined = self.do("CONCATENATION", [x, self.choose.choice(values)], [self.size[0], 2 * n], F, ("ConcatenationOptions", {"axis": 1}))
        begin = self.choose.randint(0, n)
        return self.floats("SLICE", [joined, self.constant([0, begin], I), self.constant(self.size, I)])

    def variable(self, x, values):
        if not self.variables:
            return self.function(x, values)
        handle = self.handle(self.choose.choice(self.variables))
        if self.some(0.5):
            self.assign(handle, self.floats("TANH", [x]))
        return self.read(handle, self.size)

    def count(self, x, values):
        if not self.counts:
            return self.sum(x, values)
        handle = self.handle("n")
        n = self.add(self.read(handle, [], I), self.constant(1, I), [], I)
        self.assign(handle, n)
        half = self.do("FLOOR_MOD", [n, self.constant(2, I)], [], I)
        return self.floats("MUL", [x, self.do("CAST", [half], [], F, ("CastOptions", {}))], ("MulOptions", {}))

    def layer(self, x, values):
        n, units = self.size[1], self.size[1]
        memory = self.w.tensor(f"memory{len(self.w.graph.tensors)}", [self.size[0], units], F, variable=True)
        operands = [x, self.weights(units, n), self.weights(units, units), self.weights(units), memory]
        return self.floats("RNN", operands, ("RNNOptions", {"fusedActivationFunction": 4}))

    def inside(self, taken, results, also=()):
        """A graph inside; `also`: what it is given besides the tensors, as (shape, type)."""
        self.depth += 1
        outer = self.w.graph

        def body(*given):
            values = list(given[len(also):])
            for _ in range(self.choose.randint(0, 3)):
                values.append(self.line(values))
            left = [values[-1 - k % len(values)] for k in range(results)]
            # LiteRT overwrites the tensors that a loop carries one after the other: one that becomes another must be a copy.
            left = [self.floats("ABS", [v]) if also and v in given and v != given[len(also) + k] else v for k, v in enumerate(left)]
            return [*self.stepped(given[:len(also)]), *left]
        number = self.graph([*also, *((self.size, F) for _ in range(taken))], body)
        self.w.graph = outer
        self.depth -= 1
        return number

    def stepped(self, counters):
        return [self.add(i, self.constant(1, I), [], I) for i in counters]

    def condition(self):
        ports = [p for name, p in self.ports.items() if name.startswith("c")]
        if ports and self.depth == 0 and self.some(0.7):
            return self.choose.choice(ports)
        if self.counts and self.some(0.7):
            n = self.read(self.handle("n"), [], I)
            return self.do("EQUAL", [self.do("FLOOR_MOD", [n, self.constant(2, I)], [], I), self.constant(0, I)], [], B)
        return self.constant(self.some(0.5), B)

    def sampled(self, values, count):
        return [self.choose.choice(values) for _ in range(count)]

    def results(self, count):
        return [self.w.tensor(f"r{len(self.w.graph.tensors)}", self.size, F) for _ in range(count)]

    def branch(self, x, values):
        taken, count = self.choose.randint(1, 3), self.choose.randint(1, 2)
        condition, given = self.condition(), self.sampled(values, taken)
        graphs = {"thenSubgraphIndex": self.inside(taken, count), "elseSubgraphIndex": self.inside(taken, count)}
        outputs = self.results(count)
        self.w.operator("IF", [condition, *given], outputs, ("IfOptions", graphs))
        return outputs[-1]

    def composite(self, x, values):
        taken, count = self.choose.randint(1, 3), self.choose.randint(1, 2)
        table = {"name": self.choose.choice([b"odml.rms_norm", b"aten.gelu.default", b"mine"]), "decompositionSubgraphIndex": self.inside(taken, count), "version": 1,
                 "compositeAttributes": NO_ATTRIBUTES}
        outputs = self.results(count)
        self.w.operator("STABLEHLO_COMPOSITE", self.sampled(values, taken), outputs, ("StableHLOCompositeOptions", table))
        return outputs[-1]

    def loop(self, x, values):
        held, trips = self.choose.randint(1, 2), self.choose.choice([0, 1, 2, 3, 5])
        given, outer = [self.constant(0, I), *self.sampled(values, held)], self.w.graph
        below = self.graph([([], I), *((self.size, F) for _ in range(held))], lambda i, *rest: [self.do("LESS", [i, self.constant(trips, I)], [], B)])
        self.w.graph = outer
        body = self.inside(held, held, [([], I)])
        outputs = [self.w.tensor(f"i{len(self.w.graph.tensors)}", [], I), *self.results(held)]
        self.w.operator("WHILE", given, outputs, ("WhileOptions", {"condSubgraphIndex": below, "bodySubgraphIndex": body}))
        return outputs[-1]

    def case(self):
        values = [self.ports["x"]]
        for _ in range(self.choose.randint(2, 7)):
            values.append(self.line(values))
        last = values[-1] if values[-1] != self.ports["x"] else self.floats("NEG", [values[-1]])
        outputs = dict.fromkeys([last, *(v for v in values[1:] if self.some(0.3))])
        content = self.finish(*outputs)
        inputs = {"x": self.numbers.uniform(-1, 1, [RUNS, *self.size]).astype(F)}
        inputs.update({name: self.numbers.integers(0, 2, [RUNS, 1]).astype(B) for name in self.ports if name != "x"})
        return Case(content, inputs, operators=operators_in(self.w.model))


def flow(seed):
    return Program(seed).case()


FAMILIES = {"layer": (1, layer), "flow": (2, flow)}
