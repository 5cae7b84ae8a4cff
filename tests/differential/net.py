# SPDX-License-Identifier: MIT
"""A growing ONNX graph with random numbers in it: what the families of random models are written with."""
import random

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

F, I = np.float32, np.int64
OPSETS = list(range(7, 29))  # to the newest that the converter knows
PROTO = {np.dtype(F): TensorProto.FLOAT, np.dtype(I): TensorProto.INT64, np.dtype(np.int32): TensorProto.INT32, np.dtype(bool): TensorProto.BOOL,
         np.dtype(np.uint8): TensorProto.UINT8, np.dtype(np.int8): TensorProto.INT8, np.dtype(np.float64): TensorProto.DOUBLE,
         np.dtype(np.float16): TensorProto.FLOAT16}
SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-45, -1e-40, 1.1754944e-38, 3.4028235e38, -3.4028235e38, 1e30, -1e20, 1e-20, 2147483648.0,
                    -2147483648.0, 9.3e18, 0.5, -0.5, 1.5, 2.5, 87.5, -87.5, 100.0, -104.0, 16777217.0], F)


class Unfit(Exception):
    """The random choices of a family lead nowhere: the driver samples another model."""


class Net:
    """Nodes, constants and inputs of a model. `rng` chooses structure, `numbers` fills arrays."""

    def __init__(self, seed, opset=None, runs=1):
        self.rng = random.Random(seed)
        self.numbers = np.random.default_rng(self.rng.randrange(1 << 40))
        self.opset = opset or self.rng.choice(OPSETS)
        self.runs = runs
        self.nodes, self.constants, self.feeds, self.outputs = [], {}, {}, []
        self.shapes, self.types = {}, {}
        self.request = {}    # options of the worker's request
        self.twin = None     # a net that other runtimes compute in place of this one, its outputs in the same order
        self.special = False
        self.optimises = False  # the model is saved by ONNX Runtime, and itself the twin
        self.domains = {}
        self.state_inputs, self.state_shapes = {}, {}
        self.sets = {}       # inputs that --set makes constants: {name: (value, shape, type)}
        self.functions = []
        self.bounded = {}    # {output: [axis, filler]}: the engine gives as many rows as there can be, and fillers (None: anything) behind the last

    # Random choices.
    def chance(self, p):
        return self.rng.random() < p

    def choice(self, options):
        return self.rng.choice(options)

    def length(self, maximum=9):
        """Of an axis: often 1, sometimes 0, sometimes longer than vectors."""
        roll = self.rng.random()
        if roll < 0.25:
            return 1
        if roll < 0.27:
            return 0
        if roll < 0.33:
            return self.rng.choice([15, 16, 17, 24, 33])
        return self.rng.randrange(2, maximum + 1)

    def dims(self, minimum=0, maximum=5, largest=9):
        while True:
            shape = [self.length(largest) for _ in range(self.rng.randrange(minimum, maximum + 1))]
            if np.prod(shape, dtype=float) <= 6000:
                return shape

    def floats(self, shape, scale=1.0):
        return (self.numbers.standard_normal(shape) * scale).astype(F)

    def sample(self, shape, kind=None):
        """Float numbers of one of several kinds."""
        kind = kind or ("special" if self.special else self.rng.choice(["normal"] * 6 + ["ties", "positive", "large", "small", "equal"]))
        if kind == "special":
            mixed = np.where(self.numbers.random(shape) < 0.4, self.numbers.choice(SPECIAL, shape), self.floats(shape, 3))
            return np.asarray(mixed, F)
        if kind == "ties":
            return np.asarray(self.numbers.integers(-3, 4, shape) * self.rng.choice([0.5, 1.0]), F)
        if kind == "positive":
            return np.asarray(self.numbers.uniform(0.05, 3, shape), F)
        if kind == "equal":
            return np.full(shape, self.rng.choice([0.0, 1.0, -0.75, 3.0]), F)
        return self.floats(shape, {"normal": 1, "large": 50, "small": 1e-3}[kind])

    def integers(self, shape, low=-9, high=10, dtype=I):
        return np.asarray(self.numbers.integers(low, high, shape), dtype)

    # Values of the graph.
    def input(self, shape, dtype=F, values=None, name=None):
        """An input; `values` is a function that samples what it holds in one run."""
        name = name or f"x{len(self.feeds)}"
        shape = [int(d) for d in shape]
        if values is None:
            dt = np.dtype(dtype)
            if dt == np.dtype(F):
                values = lambda: self.sample(shape)
            elif dt == np.dtype(bool):
                values = lambda: self.numbers.random(shape) < 0.5
            else:
                values = lambda: self.integers(shape, dtype=dtype)
        self.feeds[name] = [np.asarray(values(), dtype).reshape(shape) for _ in range(self.runs)]
        self.shapes[name], self.types[name] = tuple(shape), np.dtype(dtype)
        return name

    def constant(self, array, name=None):
        """An initializer; at times the result of a node Constant instead."""
        array = np.asarray(array)
        name = name or f"c{len(self.constants)}_{len(self.nodes)}"
        self.shapes[name], self.types[name] = array.shape, array.dtype
        if self.chance(0.15):
            self.nodes.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(array)))
        else:
            self.constants[name] = array
        return name

    def ints(self, *values):
        return self.constant(np.array(values, I))

    def value(self, shape, dtype=F, data=0.6):
        """An input, or a constant with the chance 1 - data."""
        if self.chance(data):
            return self.input(shape, dtype)
        return self.constant(self.sample(shape) if np.dtype(dtype) == np.dtype(F) else self.integers(shape, dtype=dtype))

    def add(self, op, inputs, outputs=1, shape=None, dtype=F, domain="", **attributes):
        """Appends a node; returns its output's name, or a list of them where `outputs` is more than one or a list."""
        count = outputs if isinstance(outputs, int) else len(outputs)
        names = [f"v{len(self.nodes)}_{i}" for i in range(count)] if isinstance(outputs, int) else list(outputs)
        attributes = {k: v for k, v in attributes.items() if v is not None and v != []}
        self.nodes.append(helper.make_node(op, list(inputs), names, name=f"n{len(self.nodes)}_{op}" if self.chance(0.8) else "", domain=domain, **attributes))
        if domain:
            self.domains.setdefault(domain, 1)
        for name in names:
            self.types[name] = np.dtype(dtype)
            if shape is not None:
                self.shapes[name] = tuple(int(d) for d in shape)
        return names[0] if count == 1 else names

    def shape(self, name):
        """The shape of a value; Unfit where shape inference finds none."""
        if name not in self.shapes:
            model = onnx.shape_inference.infer_shapes(self.model([], checked=False), data_prop=True)
            for info in model.graph.value_info:
                dims = info.type.tensor_type.shape.dim
                if info.type.tensor_type.HasField("shape") and all(d.HasField("dim_value") and d.dim_value >= 0 for d in dims):
                    self.shapes.setdefault(info.name, tuple(d.dim_value for d in dims))
        if name not in self.shapes:
            raise Unfit(f"no shape of {name}")
        return self.shapes[name]

    def output(self, name, dtype=None):
        if name not in self.outputs:
            self.outputs.append(name)
        if dtype is not None:
            self.types[name] = np.dtype(dtype)
        return name

    def runs_again(self, states):
        """Makes inputs states: {input: (output, shape)}. Several runs show what they keep."""
        self.request["states"] = [f"{name}={value}" for name, (value, _) in states.items()]
        self.state_shapes = {name: list(shape) for name, (_, shape) in states.items()}
        self.state_inputs = {name: self.feeds.pop(name) for name in states}
        for value, _ in states.values():
            self.output(value)
        wanted = self.rng.randrange(2, 6)
        for name, runs in self.feeds.items():
            runs += [runs[0] + np.asarray(0.25 * i, runs[0].dtype) for i in range(1, wanted)][:wanted - len(runs)]
        self.runs = max(wanted, self.runs)

    def model(self, outputs=None, checked=True):
        outputs = self.outputs if outputs is None else outputs
        info = helper.make_tensor_value_info
        open_axis = {(name, axis): "N" if self.request.get("batch") else f"{name}_{axis}" for name, axis in self.request.get("open", [])}
        inputs = [info(n, PROTO[self.types[n]], [open_axis.get((n, i), d) for i, d in enumerate(self.shapes[n])])
                  for n in [*self.feeds, *self.state_inputs, *self.sets]]
        tensors = [numpy_helper.from_array(np.asarray(a, order="C"), n) for n, a in self.constants.items()]
        graph = helper.make_graph(self.nodes, "random", inputs, [info(o, PROTO[self.types[o]], None) for o in outputs], tensors)
        imports = [helper.make_opsetid("", self.opset)] + [helper.make_opsetid(d, v) for d, v in self.domains.items()]
        return helper.make_model(graph, opset_imports=imports, ir_version=min(10, 8 if self.opset < 19 else 10), functions=self.functions)

    # Operators whose form depends on the opset.
    def reduce(self, op, x, axes, keepdims=1, **attributes):
        as_input = self.opset >= (13 if op == "ReduceSum" else 18)
        if as_input:
            return self.add(op, [x] + ([self.ints(*axes)] if axes is not None else []), keepdims=keepdims, **attributes)
        return self.add(op, [x], axes=axes, keepdims=keepdims, **attributes)

    def squeeze(self, x, axes, op="Squeeze"):
        if self.opset >= 13:
            return self.add(op, [x, self.ints(*axes)])
        return self.add(op, [x], axes=axes)

    def clip(self, x, low, high):
        if self.opset >= 11:
            side = lambda v: "" if v is None else self.constant(F(v))
            inputs = [x, side(low), side(high)]
            while inputs[-1] == "":
                inputs.pop()
            return self.add("Clip", inputs)
        return self.add("Clip", [x], min=low, max=high)

    def pad(self, x, pads, mode="constant", value=0.0):
        if self.opset >= 11:
            inputs = [x, self.ints(*pads)]
            if mode == "constant" and (value != 0 or self.chance(0.3)):
                inputs.append(self.constant(F(value)))
            return self.add("Pad", inputs, mode=mode)
        return self.add("Pad", [x], pads=pads, mode=mode, value=float(value))

    def reshape(self, x, shape):
        return self.add("Reshape", [x, self.ints(*shape)])

    def batch_norm(self, x, channels, epsilon=1e-5):
        positive = self.constant(np.asarray(self.numbers.uniform(0.5, 2, channels), F))
        return self.add("BatchNormalization", [x] + [self.constant(self.floats(channels)) for _ in range(3)] + [positive], epsilon=epsilon)
