#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Layers with a memory (LSTM, RNN, SVDF) of TensorFlow Lite, with random options, over several runs against LiteRT.

  tflite_layers.py [PART-OF-A-NAME]
LiteRT keeps the variables of these layers from run to run, and so does a session the states that they become. Floats must be within 1e-5 of
the largest magnitude in every run.
"""
import pathlib
import random
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from litert import compare_runs, have_litert  # noqa: E402
from tflite_writer import Writer  # noqa: E402

RUNS = 4
VARIANTS = 24  # of each kind
F = np.float32
RELU, RELU_N1_TO_1, RELU6, TANH = 1, 2, 3, 4


class Layer:
    """A model of one layer; samples its numbers and its options from a seed."""

    def __init__(self, seed):
        self.w, self.numbers, self.choose = Writer(), np.random.default_rng(seed), random.Random(seed)
        self.inputs = {}

    def weights(self, *shape, scale=0.7):
        return self.w.tensor(f"c{len(self.w.graph.tensors)}", shape, F, self.numbers.uniform(-scale, scale, shape).astype(F))

    def state(self, *shape):
        return self.w.tensor(f"memory{len(self.w.graph.tensors)}", shape, F, variable=True)

    def input(self, name, shape):
        self.inputs[name] = shape
        return self.w.tensor(name, shape, F)

    def sample(self):
        return {name: self.numbers.uniform(-2, 2, (RUNS, *shape)).astype(F) for name, shape in self.inputs.items()}

    def some(self, share):
        return self.choose.random() < share

    def finish(self, operator, operands, options, shapes):
        outputs = [self.w.tensor(f"y{k}", shape, F) for k, shape in enumerate(shapes)]
        o = self.w.operator(operator, operands, outputs, options)
        used = [i for i, t in enumerate(self.w.graph.tensors) if t.name.decode() in self.inputs]
        if any(i >= 0 and self.w.graph.tensors[i].isVariable for i in operands):
            o.mutatingVariableInputs = [i >= 0 and bool(self.w.graph.tensors[i].isVariable) for i in operands]
        return self.w.finish(used, outputs[:1] if operator == "LSTM" else outputs)


def gates(layer, coupled, make):
    return [-1 if g == 0 and coupled else make() for g in range(4)]


def lstm_operands(l, coupled, peephole, projected, inputs, cells, outputs):
    """Weights, recurrent weights, peepholes, biases and projection of one direction."""
    operands = gates(l, coupled, lambda: l.weights(cells, inputs)) + gates(l, coupled, lambda: l.weights(cells, outputs))
    operands += [-1 if not peephole or (g == 0 and coupled) else l.weights(cells) for g in range(3)]
    operands += gates(l, coupled, lambda: l.weights(cells))
    return operands + ([l.weights(outputs, cells), l.weights(outputs) if l.some(0.5) else -1] if projected else [-1, -1])


def lstm_choices(l):
    projected = l.some(0.3)
    cells = l.choose.choice([1, 3, 8, 17])
    options = {"fusedActivationFunction": l.choose.choice([TANH, TANH, TANH, RELU, RELU6]), "cellClip": 0.8 if l.some(0.3) else 0.0,
               "projClip": 0.5 if projected and l.some(0.5) else 0.0}
    return l.some(0.3), l.some(0.4), projected, l.choose.randint(1, 9), cells, l.choose.choice([1, 4, 5]) if projected else cells, options


def shape_of(time_major, time_steps, batch, numbers):
    return [time_steps, batch, numbers] if time_major else [batch, time_steps, numbers]


def lstm(seed):
    """One direction, and at times a single time step."""
    l = Layer(seed)
    coupled, peephole, projected, inputs, cells, outputs, options = lstm_choices(l)
    one = l.some(0.3)
    normalised = not one and l.some(0.25)
    batch, time_steps, time_major = l.choose.choice([1, 1, 3]), l.choose.randint(1, 5), l.some(0.5)
    x = l.input("x", [batch, inputs] if one else shape_of(time_major, time_steps, batch, inputs))
    operands = [x, *lstm_operands(l, coupled, peephole, projected, inputs, cells, outputs), l.state(batch, outputs), l.state(batch, cells)]
    if normalised:
        operands += gates(l, coupled, lambda: l.weights(cells))
    if one:
        return l, l.finish("LSTM", operands, ("LSTMOptions", options), [[batch, outputs]])
    return l, l.finish("UNIDIRECTIONAL_SEQUENCE_LSTM", operands, ("UnidirectionalSequenceLSTMOptions", {**options, "timeMajor": time_major}),
                       [shape_of(time_major, time_steps, batch, outputs)])


def directions(l, time_major, time_steps, batch, outputs, merged):
    if merged:
        return [shape_of(time_major, time_steps, batch, sum(outputs))]
    return [shape_of(time_major, time_steps, batch, n) for n in outputs]


def bidirectional_lstm(seed):
    l = Layer(seed)
    coupled, peephole, projected, inputs, cells, outputs, options = lstm_choices(l)
    batch, time_steps, time_major, merged = l.choose.choice([1, 2]), l.choose.randint(1, 5), l.some(0.5), l.some(0.5)
    mode = l.choose.choice(["alone", "alone", "parallel", "crossed"])
    if merged and not time_major:
        batch = 1  # LiteRT takes the states of further rows from behind the tensor
    x = l.input("x", shape_of(time_major, time_steps, batch, inputs))
    more = 3 if mode == "crossed" else inputs
    operands = [x]
    for _ in range(2):
        operands += lstm_operands(l, coupled, peephole, projected, inputs, cells, outputs)
    for _ in range(2):
        operands += [l.state(batch, outputs), l.state(batch, cells)]
    operands.append(-1 if mode == "alone" else l.input("auxiliary", shape_of(time_major, time_steps, batch, more)))
    for _ in range(2):
        operands += gates(l, coupled, lambda: l.weights(cells, more)) if mode == "crossed" else [-1] * 4
    options = {**options, "timeMajor": time_major, "mergeOutputs": merged}
    return l, l.finish("BIDIRECTIONAL_SEQUENCE_LSTM", operands, ("BidirectionalSequenceLSTMOptions", options),
                       directions(l, time_major, time_steps, batch, [outputs] * 2, merged))


def lstm_of_one_matrix(seed):
    """The basic kernel: one matrix for all gates."""
    l = Layer(seed)
    batch, inputs, cells = l.choose.choice([1, 3]), l.choose.randint(1, 9), l.choose.choice([1, 4, 9])
    x = l.input("x", [batch, inputs])
    operands = [x, l.state(batch, cells), l.weights(4 * cells, inputs + cells), l.weights(4 * cells), l.state(batch, cells)]
    return l, l.finish("LSTM", operands, ("LSTMOptions", {"fusedActivationFunction": TANH, "kernelType": 1}),
                       [[batch, cells], [batch, cells], [batch, inputs + cells], [batch, 4 * cells]])


def rnn_operands(l, inputs, units):
    return [l.weights(units, inputs), l.weights(units, units, scale=0.3), l.weights(units)]


def rnn(seed):
    l = Layer(seed)
    activation = l.choose.choice([0, RELU, RELU_N1_TO_1, RELU6, TANH, TANH])
    batch, time_steps, inputs, units = l.choose.choice([1, 3]), l.choose.randint(1, 5), l.choose.randint(1, 9), l.choose.choice([1, 4, 9, 16])
    if l.some(0.4):
        x = l.input("x", [batch, inputs])
        return l, l.finish("RNN", [x, *rnn_operands(l, inputs, units), l.state(batch, units)], ("RNNOptions", {"fusedActivationFunction": activation}), [[batch, units]])
    time_major = l.some(0.5)
    x = l.input("x", shape_of(time_major, time_steps, batch, inputs))
    return l, l.finish("UNIDIRECTIONAL_SEQUENCE_RNN", [x, *rnn_operands(l, inputs, units), l.state(batch, units)],
                       ("SequenceRNNOptions", {"fusedActivationFunction": activation, "timeMajor": time_major}), [shape_of(time_major, time_steps, batch, units)])


def bidirectional_rnn(seed):
    l = Layer(seed)
    batch, time_steps, inputs = l.choose.choice([1, 2]), l.choose.randint(1, 5), l.choose.randint(1, 9)
    units = [l.choose.choice([1, 4, 9]) for _ in range(2)]
    time_major, merged, mode = l.some(0.5), l.some(0.5), l.choose.choice(["alone", "alone", "parallel", "crossed"])
    time_major = time_major or mode == "parallel"  # with the batch first, LiteRT reads the input in both directions
    x = l.input("x", shape_of(time_major, time_steps, batch, inputs))
    operands = [x]
    for n in units:
        operands += [*rnn_operands(l, inputs, n), l.state(batch, n)]
    operands.append(-1 if mode == "alone" else l.input("auxiliary", shape_of(time_major, time_steps, batch, inputs)))
    operands += [l.weights(n, inputs) for n in units] if mode == "crossed" else [-1, -1]
    options = {"timeMajor": time_major, "mergeOutputs": merged, "fusedActivationFunction": l.choose.choice([RELU, TANH])}
    return l, l.finish("BIDIRECTIONAL_SEQUENCE_RNN", operands, ("BidirectionalSequenceRNNOptions", options),
                       directions(l, time_major, time_steps, batch, units, merged))


def svdf(seed):
    l = Layer(seed)
    batch, inputs, rank, outputs, length = l.choose.choice([1, 3]), l.choose.randint(1, 9), l.choose.choice([1, 2, 3]), l.choose.choice([1, 4, 7]), l.choose.choice([1, 3, 10])
    operands = [l.input("x", [batch, inputs]), l.weights(rank * outputs, inputs), l.weights(rank * outputs, length), l.weights(outputs) if l.some(0.5) else -1,
                l.state(batch, length * rank * outputs)]
    return l, l.finish("SVDF", operands, ("SVDFOptions", {"rank": rank, "fusedActivationFunction": l.choose.choice([0, RELU])}), [[batch, outputs]])


LAYERS = [lstm, bidirectional_lstm, lstm_of_one_matrix, rnn, bidirectional_rnn, svdf]


def main(part):
    if not have_litert():
        return 0
    wrong, count = [], 0
    with tempfile.TemporaryDirectory(prefix="nsk_layers_") as folder:
        for make in LAYERS:
            if part not in make.__name__:
                continue
            for seed in range(VARIANTS):
                count += 1
                layer, content = make(seed)
                try:
                    failure = compare_runs(pathlib.Path(folder), content, layer.sample(), RUNS)
                except (RuntimeError, ValueError) as refused:
                    failure = f"LiteRT: {refused}"
                if failure:
                    wrong.append(f"{make.__name__} {seed}: {failure}")
    print("\n".join(wrong + [f"{count} layers over {RUNS} runs, {len(wrong)} wrong"]))
    return 1 if wrong or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
