# SPDX-License-Identifier: MIT
"""Random models that look at a stream in stored bytes: what they keep from run to run are variables of integers, which must not drift.

Every stage joins what it keeps with what is new, keeps the end of both, and computes on all of it; some add up in a variable. LiteRT's default
path, with XNNPACK, gives the same integers in every run.
"""
import numpy as np

from tflite_elementwise import ACTIVATIONS
from tflite_graph import Rejected
from tflite_movement import integers
from tflite_quantised import Quantised, same_scale

RUNS = 30
OPERATORS = {"VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE", "CALL_ONCE"}


class Stream(Quantised):
    """A graph on [1, time, 1, channels] whose variables are read before everything else, and assigned behind it."""

    def __init__(self, seed):
        super().__init__(seed)
        self.dtype = self.choose.choice([np.int8, np.int8, np.int8, np.uint8])
        self.limits, self.empty = np.iinfo(self.dtype), False
        self.held = []  # pairs: what is read, what is assigned

    def kept(self, shape, like):
        """A variable with the scale of another tensor; it begins with its zero, or with anything."""
        value = np.full(shape, like.zero[0], self.dtype) if self.some(0.7) else self.numbers.integers(self.limits.min, self.limits.max, shape, endpoint=True).astype(self.dtype)
        t = self.add("h", value, "held", scale=like.scale, zero=like.zero)
        t.start = value.copy()
        return t

    def exact(self, op, inputs, options=None, fixed=None):
        y = self.run(op, inputs, 0.0, options, fixed, steps=0)
        y.error = 0.0
        return y

    def joined(self, x, length):
        """What is kept of the last runs, and x behind it."""
        before = self.kept([1, length, 1, x.shape[3]], x)
        both = self.exact("CONCATENATION", [before, x], ("ConcatenationOptions", {"axis": 1}), same_scale(x))
        count = both.shape[1]
        end = self.exact("STRIDED_SLICE", [both, integers(self, [0, count - length, 0, 0]), integers(self, [1, count, 1, x.shape[3]]), integers(self, [1, 1, 1, 1])],
                         ("StridedSliceOptions", {"beginMask": 0, "endMask": 0}), same_scale(x))
        self.held.append((before, end))
        return both

    def convolved(self, x):
        both = self.joined(x, self.choose.randint(1, 5))
        k, count = both.shape[1] - x.shape[1] + 1, self.choose.choice([1, 4, 8, 9])
        options = {"padding": 1, "strideH": 1, "strideW": 1, "dilationHFactor": 1, "dilationWFactor": 1, "fusedActivationFunction": self.choose.choice(ACTIVATIONS)}
        if self.some(0.5):
            w = self.weights_for([count, k, 1, x.shape[3]], 0, self.some(0.7))
            return self.exact("CONV_2D", [both, w, self.bias_for(x, w, count)], ("Conv2DOptions", options))
        w = self.weights_for([1, k, 1, x.shape[3]], 3, self.some(0.7))
        return self.exact("DEPTHWISE_CONV_2D", [both, w, self.bias_for(x, w, x.shape[3])], ("DepthwiseConv2DOptions", {**options, "depthMultiplier": 1}))

    def summed(self, x):
        """What has been seen so far, as far as the integers reach."""
        scale, zero = same_scale(x)
        before = self.kept(x.shape, x)
        before.scale = np.array([scale * self.choose.choice([1, 4, 11])], np.float32)
        total = self.exact("ADD", [before, x] if self.some(0.5) else [x, before], ("AddOptions", {"fusedActivationFunction": 0, "potScaleInt16": False}), same_scale(before))
        self.held.append((before, total))
        return total

    def plain(self, x):
        op = self.choose.choice(["RELU", "QUANTIZE", "ADD", "MAXIMUM", "LEAKY_RELU", "MAX_POOL_2D"])
        if op == "ADD":
            return self.exact(op, [x, self.alike(x) if self.some(0.3) else x], ("AddOptions", {"fusedActivationFunction": self.choose.choice(ACTIVATIONS), "potScaleInt16": False}))
        if op == "MAXIMUM":
            return self.exact(op, [x, self.alike(x)], None, same_scale(x))
        if op == "MAX_POOL_2D":
            both = self.joined(x, 2)
            return self.exact(op, [both], ("Pool2DOptions", {"padding": 1, "strideH": 1, "strideW": 1, "filterHeight": 3, "filterWidth": 1, "fusedActivationFunction": 0}), same_scale(x))
        if op == "QUANTIZE":
            return self.integers(op, [x], 0.0, None, self.scale_for(-3, 3))
        return self.exact(op, [x], ("LeakyReluOptions", {"alpha": 0.1}) if op == "LEAKY_RELU" else None)

    def dense(self, x):
        both = self.joined(x, self.choose.randint(1, 6)) if self.some(0.5) else x
        depth, count = both.shape[1] * both.shape[3], self.choose.choice([1, 3, 8])
        flat = self.exact("RESHAPE", [both, integers(self, [1, depth])], ("ReshapeOptions", {"newShape": [1, depth]}), same_scale(both))
        w = self.weights_for([count, depth], 0, False)
        y = self.exact("FULLY_CONNECTED", [flat, w, self.bias_for(flat, w, count)], ("FullyConnectedOptions", {"fusedActivationFunction": self.choose.choice(ACTIVATIONS)}))
        return self.exact("RESHAPE", [y, integers(self, [1, 1, 1, count])], ("ReshapeOptions", {"newShape": [1, 1, 1, count]}), same_scale(y))

    def write(self, inputs, outputs, open_inputs):
        from tflite_hybrid import packed, unpacked
        schema, model = unpacked(super().write(inputs, outputs, open_inputs))
        return packed(with_variables(schema, model, self.held))


def with_variables(schema, model, held):
    """The model with what is read before everything and assigned behind it, and an initialiser."""
    from tflite_writer import Writer
    outer, w = model.subgraphs[0], Writer()
    w.model, w.graph = model, outer
    model.buffers.append(schema.BufferT())
    names, own = {t.name.decode(): k for k, t in enumerate(outer.tensors)}, outer.operators
    outer.operators = []
    start = w.begin_graph("start")
    for k, (before, _) in enumerate(held):
        handle = variable(w, k)
        w.operator("ASSIGN_VARIABLE", [handle, constant(w, before)], [], ("AssignVariableOptions", {}))
    w.end_graph([], [])
    w.operator("CALL_ONCE", [], [], ("CallOnceOptions", {"initSubgraphIndex": start}))
    handles = []
    for k, (before, _) in enumerate(held):
        handles.append(variable(w, k))
        w.operator("READ_VARIABLE", [handles[-1]], [names[before.name]], ("ReadVariableOptions", {}))
    outer.operators = list(outer.operators) + list(own)
    for handle, (_, after) in zip(handles, held):
        w.operator("ASSIGN_VARIABLE", [handle, names[after.name]], [], ("AssignVariableOptions", {}))
    return model


def variable(w, k):
    handle = w.tensor(f"handle{k}", [], None)
    w.operator("VAR_HANDLE", [], [handle], ("VarHandleOptions", {"container": "", "sharedName": f"v{k}"}))
    return handle


def constant(w, t):
    index = w.tensor(f"start_{t.name}", t.shape, t.dtype, t.start)
    q = w.schema.QuantizationParametersT()
    q.scale, q.zeroPoint = np.asarray(t.scale, np.float32), np.asarray(t.zero, np.int64)
    w.graph.tensors[index].quantization = q
    return index


def stream(seed):
    g = Stream(seed)
    x = g.stored([1, g.choose.randint(1, 3), 1, g.choose.choice([1, 3, 8, 10])])
    for _ in range(g.choose.randint(1, 5)):
        stages = [g.convolved, g.convolved, g.summed, g.plain, g.dense]
        attempt = g.choose.choice(stages)
        tensors, operators, held = len(g.tensors), len(g.operators), len(g.held)
        try:
            x = attempt(x)
        except Rejected:
            del g.tensors[tensors:], g.operators[operators:], g.held[held:]
    if not g.held:
        raise Rejected("nothing is kept")
    case = g.case(RUNS, integers=True)
    case.kernels = "AUTO"
    case.operators += sorted(OPERATORS)
    return case


FAMILIES = {"stream": (1, stream)}
