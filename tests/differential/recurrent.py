# SPDX-License-Identifier: MIT
"""Recurrent layers with every attribute, cells that are spelled out (nearly), and states over several runs."""
import numpy as np

import neighbours
from elementwise import activation
from net import F

FUNCTIONS = {"Sigmoid": 0, "Tanh": 0, "Relu": 0, "Affine": 2, "LeakyRelu": 1, "ThresholdedRelu": 1, "ScaledTanh": 2, "HardSigmoid": 2, "Elu": 1,
             "Softsign": 0, "Softplus": 0}
GATES = {"LSTM": (4, 3), "GRU": (3, 2), "RNN": (1, 1)}


def layer_node(net, op, x, t, b, i, h, directions):
    """Appends the layer; returns its outputs (names or '')."""
    gates, functions = GATES[op]
    attributes = {"hidden_size": h, "direction": {1: net.choice(["forward", "reverse"]), 2: "bidirectional"}[directions]}
    if net.chance(0.3):
        names = [net.choice(list(FUNCTIONS)) for _ in range(functions * directions)]
        attributes["activations"] = names
        attributes["activation_alpha"] = [0.3 for n in names if FUNCTIONS[n] > 0]
        attributes["activation_beta"] = [0.5 for n in names if FUNCTIONS[n] > 1]
    if net.chance(0.25):
        attributes["clip"] = net.choice([0.7, 3.0])
    if op == "GRU":
        attributes["linear_before_reset"] = net.choice([None, 0, 1])
    if op == "LSTM" and net.chance(0.15):
        attributes["input_forget"] = 1
    if net.opset >= 14 and net.chance(0.2):
        attributes["layout"] = 0
    inputs = [x, net.constant(net.floats([directions, gates * h, i], 0.4)), net.constant(net.floats([directions, gates * h, h], 1 / np.sqrt(h))), "", "", ""]
    if net.chance(0.7):
        inputs[3] = net.constant(net.floats([directions, 2 * gates * h], 0.4))
    if net.chance(0.3):
        sample = lambda: net.integers([b], 1, t + 1, np.int32)
        inputs[4] = net.input([b], np.int32, sample) if net.chance(0.6) else net.constant(sample())
    if net.chance(0.5):
        inputs[5] = net.value([directions, b, h], data=0.8)
    if op == "LSTM":
        inputs += [net.value([directions, b, h], data=0.8) if net.chance(0.5) else "", net.constant(net.floats([directions, 3 * h])) if net.chance(0.3) else ""]
    while inputs[-1] == "":
        inputs.pop()
    count = 3 if op == "LSTM" else 2
    names = [f"r{len(net.nodes)}_{n}" if net.chance(0.75) else "" for n in range(count)]
    if not any(names):
        names[0] = f"r{len(net.nodes)}_0"
    while names[-1] == "":
        names.pop()
    net.add(op, inputs, names, **attributes)
    for name, shape in zip(names, [(t, directions, b, h)] + [(directions, b, h)] * 2):
        net.shapes[name] = shape
    net.types.pop("", None)
    net.shapes.pop("", None)
    return names + [""] * (3 - len(names))


def sizes(net):
    return net.rng.randrange(1, 6), net.choice([1, 1, 2, 3, 9]), net.choice([1, 3, 8, 17]), net.choice([1, 3, 8, 16, 17, 24]), net.choice([1, 1, 2])


def layer(net):
    t, b, i, h, d = sizes(net)
    x = net.input([t, b, i])
    if net.chance(0.2):
        x = neighbours.arithmetic(net, x) if net.chance(0.5) else net.add("Transpose", [net.input([b, t, i])], perm=[1, 0, 2])
        if net.shape(x) != (t, b, i):
            x = net.input([t, b, i])
    outputs = layer_node(net, net.choice(list(GATES)), x, t, b, i, h, d)
    y = outputs[0]
    if y and net.chance(0.4):
        y = net.squeeze(y, [1]) if d == 1 else net.reshape(net.add("Transpose", [y], perm=[0, 2, 1, 3]), [t, b, d * h])
        if net.chance(0.5):
            y = layer_node(net, net.choice(list(GATES)), y, t, b, h * d, net.choice([2, 8]), 1)[0] or y
        if net.chance(0.5) and y:
            y = neighbours.behind(net, y, 1)
    for name in {y, *outputs[1:]} - {""}:
        net.output(name)


def dense(net, x, width, h):
    return net.add("Gemm", [x, net.constant(net.floats([h, width], 0.5)), net.constant(net.floats([h], 0.5))], transB=1)


def gru_cell(net):
    """What exporters write for a GRUCell, at times with one thing changed; its hidden state may last over runs."""
    b, i, h = net.choice([1, 2, 3]), net.choice([2, 5, 8]), net.choice([2, 4, 8])
    wrong = net.choice([None, None, None, "rest", "state", "gate", "reader", "split"])
    x, s = net.input([b, i]), net.input([b, h], name="before")
    gi, gh = dense(net, x, i, 3 * h), dense(net, s, h, 3 * h)
    def thirds(v, order=(h, h, h)):
        if net.opset >= 13:
            return net.add("Split", [v, net.ints(*order)], 3, axis=1)
        return net.add("Split", [v], 3, axis=1, split=list(order))
    (ir, iz, in_), (hr, hz, hn) = thirds(gi), thirds(gh)
    if wrong == "split":
        hr, hz = hz, hr
    r = net.add("Sigmoid", [net.add("Add", [ir, hr])])
    z = net.add("Sigmoid", [net.add("Add", [iz, hz])]) if wrong != "gate" else r
    n = net.add("Tanh", [net.add("Add", [in_, net.add("Mul", [r, hn])])])
    rest = net.add("Sub", [net.constant(F(1.0 if wrong != "rest" else 2.0)), z])
    other = s if wrong != "state" else net.input([b, h])
    if net.chance(0.5):
        y = net.add("Add", [net.add("Mul", [rest, n]), net.add("Mul", [z, other])])
    else:
        y = net.add("Add", [net.add("Mul", [net.add("Sub", [other, n]), z]), n])
    if wrong == "reader":
        net.output(net.choice([r, z, n]))
    last_state(net, {"before": (y, [b, h])}, y)


def lstm_cell(net):
    b, i, h = net.choice([1, 2, 3]), net.choice([2, 5, 8]), net.choice([2, 4, 8])
    wrong = net.choice([None, None, None, "tanh", "gate", "reader", "order", "forget"])
    x, s, c = net.input([b, i]), net.input([b, h], name="before"), net.input([b, h], name="cell")
    total = net.add("Add", [dense(net, x, i, 4 * h), dense(net, s, h, 4 * h)])
    parts = net.add("Split", [total, net.ints(*[h] * 4)], 4, axis=1) if net.opset >= 13 else net.add("Split", [total], 4, axis=1, split=[h] * 4)
    if net.chance(0.3):
        net.rng.shuffle(parts)
    gi, gf, gg, go = parts
    if wrong == "gate":
        gf = gi
    gi, gf, go = (net.add("Sigmoid", [v]) for v in (gi, gf, go))
    gg = net.add("Tanh", [gg]) if wrong != "tanh" else net.add("Sigmoid", [gg])
    kept = net.add("Mul", [gf, c]) if wrong != "forget" else net.add("Mul", [gf, s])
    after = net.add("Add", [kept, net.add("Mul", [gi, gg])])
    y = net.add("Mul", [go, net.add("Tanh", [after])])
    if wrong == "reader":
        net.output(net.choice([gi, go, kept]))
    last_state(net, {"before": (y, [b, h]), "cell": (after, [b, h])}, net.add("Neg", [y]) if net.chance(0.5) else y)


def last_state(net, states, y):
    """Makes inputs states, or leaves them inputs."""
    if net.chance(0.6):
        net.runs_again(states)
        y = net.add("Tanh", [y])  # an output that is no state
    else:
        for value, _ in states.values():
            net.output(value)
    net.output(y)


def states(net):
    """A small network that remembers: sums, convolutions and windows over what it saw."""
    shape = net.choice([[1, 4], [1, 3, 5], [2, 2, 3, 4]])
    x, s = net.input(shape), net.input(shape, name="memory")
    kind = net.choice(["sum", "window", "layer", "swap"])
    if kind == "window":
        joined = net.add("Concat", [s, x], axis=1)
        start = [shape[1]] if net.chance(0.7) else [net.rng.randrange(0, shape[1] + 1)]
        end = [start[0] + shape[1]]
        after = net.add("Slice", [joined, net.ints(*start), net.ints(*end), net.ints(1)]) if net.opset >= 10 else \
            net.add("Slice", [joined], starts=start, ends=end, axes=[1])
    elif kind == "layer":
        flat = net.reshape(net.add("Add", [net.add("Tanh", [s]), x]), [1, -1])
        count = int(np.prod(shape))
        after = net.reshape(net.add("Tanh", [net.add("MatMul", [flat, net.constant(net.floats([count, count], 0.3))])]), shape)
    elif kind == "swap":
        other = net.input(shape, name="other")
        net.runs_again({"memory": (net.add("Identity", [other]) if net.chance(0.5) else net.add("Add", [other, x]), shape),
                        "other": (net.add("Mul", [s, net.constant(F(0.5))]), shape)})
        net.output(net.add("Add", [net.add("Tanh", [s]), other]))
        return
    else:
        after = net.add("Add", [net.add("Mul", [s, net.constant(F(0.5))]), activation(net, x, {"Relu", "Tanh", "Abs"})])
    net.runs_again({"memory": (after, shape)})
    net.output(net.add("Mul", [net.add("Tanh", [after]), x]))


FAMILIES = {"layer": (2, layer), "gru_cell": (1, gru_cell), "lstm_cell": (1, lstm_cell), "states": (1, states)}
