# SPDX-License-Identifier: MIT
"""Random quantised layers with a memory, over several runs: LSTM with 8-bit weights, outputs and hidden states and a 16-bit cell; SVDF.

The weights of states are so small that what a state is off by shrinks from time step to time step, faster than rounding adds to it.
"""
import random

import numpy as np

from tflite_graph import F, I, L, Case, Tensor, quantisation_of
from tflite_writer import Writer

RUNS = 2
STEPS = 2           # as of an operator (tflite_quantised.py); of 10,000 layers the worst is off by 1
CELL = 2.0 ** -12   # a step of the cell, which LiteRT wants to be a power of two
INPUT_GATE = 0


class Layer:
    def __init__(self, seed):
        self.w, self.choose, self.numbers = Writer(), random.Random(seed), np.random.default_rng(seed)

    def some(self, share):
        return self.choose.random() < share

    def tensor(self, name, value, scale, zero=0, constant=True, variable=False):
        t = Tensor(name, value, "constant" if constant else "input", scale=np.array([scale], F), zero=np.array([zero], L))
        index = self.w.tensor(name, value.shape, value.dtype, value if constant else None, variable)
        self.w.graph.tensors[index].quantization = quantisation_of(self.w, t)
        return index

    def weights(self, name, shape, dtype=np.int8, scale=0.002, maximum=127):
        return self.tensor(name, self.numbers.integers(-maximum, maximum, shape, endpoint=True).astype(dtype), scale)


def lstm(seed):
    l = Layer(seed)
    batch, time_steps, inputs, cells = l.choose.choice([1, 2]), l.choose.randint(1, 4), l.choose.randint(1, 8), l.choose.choice([1, 3, 4, 8])
    coupled, peephole, projected, time_major = l.some(0.3), l.some(0.3), l.some(0.3), l.some(0.3)
    outputs = l.choose.choice([1, 2, 5]) if projected else cells
    integers = l.some(0.6)  # as stored: equal in every run
    if integers and outputs != cells:
        peephole = False  # LiteRT reads as many of its weights as there are outputs
    x_scale, x_zero, h_scale, h_zero = 2 / 127, l.choose.choice([0, 3, -20]), (1 / 127 if not projected else 0.02), l.choose.choice([0, -5, 4])
    w_scale, r_scale = 0.5 / (127 * np.sqrt(inputs)), 0.4 / (127 * np.sqrt(outputs))

    def gates(make):
        return [-1 if g == INPUT_GATE and coupled else make(g) for g in range(4)]
    shape = [time_steps, batch, inputs] if time_major else [batch, time_steps, inputs]
    x = l.tensor("x", np.zeros(shape, np.int8), x_scale, x_zero, constant=False)
    operands = [x, *gates(lambda g: l.weights(f"w{g}", [cells, inputs], scale=w_scale)), *gates(lambda g: l.weights(f"r{g}", [cells, outputs], scale=r_scale))]
    operands += [-1 if not peephole or (g == INPUT_GATE and coupled) else l.weights(f"p{g}", [cells], np.int16, 0.3 / 32767, 32767) for g in range(3)]
    operands += gates(lambda g: l.weights(f"b{g}", [cells], I, x_scale * w_scale, 5000))
    p_scale = 0.5 / (127 * np.sqrt(cells))
    operands += [l.weights("projection", [outputs, cells], scale=p_scale), l.weights("projection_bias", [outputs], I, p_scale / 127, 3000) if l.some(0.5) else -1] if projected else [-1, -1]
    operands += [l.tensor("h", np.zeros([batch, outputs], np.int8), h_scale, h_zero, False, True), l.tensor("c", np.zeros([batch, cells], np.int16), CELL, 0, False, True)]
    y_shape = [*shape[:2], outputs]
    y = l.tensor("y", np.zeros(y_shape, np.int8), h_scale, h_zero, constant=False)
    options = {"fusedActivationFunction": 4, "cellClip": l.choose.choice([0.0, 0.5]), "projClip": 0.0, "timeMajor": time_major}
    o = l.w.operator("UNIDIRECTIONAL_SEQUENCE_LSTM", operands, [y], ("UnidirectionalSequenceLSTMOptions", options))
    o.mutatingVariableInputs = [i >= 0 and bool(l.w.graph.tensors[i].isVariable) for i in operands]
    between = [l.tensor(f"between{k}", np.zeros([0], np.int16), 2.0 ** -12, 0, False) for k in range(4)]
    hidden = (1 / 127, 0) if projected else (h_scale, h_zero)
    o.intermediates = [*between, l.tensor("hidden", np.zeros([0], np.int8), *hidden, constant=False)]
    content = l.w.finish([x], [y])
    given = l.numbers.integers(-128, 127, [8 if integers else RUNS, *shape], endpoint=True).astype(np.int8)
    return Case(content, {"x": given}, {"dequantize": not integers, "integers": integers}, bounds={"y": 0.0 if integers else STEPS * h_scale}, operators=["UNIDIRECTIONAL_SEQUENCE_LSTM"])


def svdf(seed):
    """The state holds 16 bits; what it is off by meets the weights over time."""
    l = Layer(seed)
    batch, inputs, rank, units, length = l.choose.choice([1, 3]), l.choose.randint(1, 9), l.choose.choice([1, 2, 3]), l.choose.choice([1, 4, 7]), l.choose.choice([1, 3, 10])
    maximum = 32767 // (rank * length)  # LiteRT adds up 16-bit products in 32 bits
    filters, w_scale, state_scale, time_scale, y_scale = rank * units, 0.004, 3 / 32767, 1 / maximum, 0.02
    x_zero, y_zero = l.choose.choice([0, 3, -20]), -128  # LiteRT wants a RELU and leaves it to the zero point
    x = l.tensor("x", np.zeros([batch, inputs], np.int8), 2 / 127, x_zero, constant=False)
    operands = [x, l.weights("w", [filters, inputs], scale=w_scale), l.weights("t", [filters, length], np.int16, time_scale, maximum),
                l.weights("b", [units], I, state_scale * time_scale, 10 ** 6) if l.some(0.7) else -1,
                l.tensor("state", np.zeros([batch, length * filters], np.int16), state_scale, 0, False, True)]
    y = l.tensor("y", np.zeros([batch, units], np.int8), y_scale, y_zero, constant=False)
    o = l.w.operator("SVDF", operands, [y], ("SVDFOptions", {"rank": rank, "fusedActivationFunction": 1}))
    o.mutatingVariableInputs = [i >= 0 and bool(l.w.graph.tensors[i].isVariable) for i in operands]
    integers = l.some(0.6)  # as stored: equal in every run
    given = l.numbers.integers(-128, 127, [30 if integers else 2 * RUNS, batch, inputs], endpoint=True).astype(np.int8)
    bound = 0.0 if integers else STEPS * y_scale + rank * length * state_scale
    return Case(l.w.finish([x], [y]), {"x": given}, {"dequantize": not integers, "integers": integers}, bounds={"y": bound}, operators=["SVDF"])


FAMILIES = {"quantised_layer": (1, lstm), "quantised_filter": (1, svdf)}
