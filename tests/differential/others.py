# SPDX-License-Identifier: MIT
"""Layers of many tiles, spectra, suppression, classical models, and graphs of unusual form."""
import numpy as np
from onnx import TensorProto

import elementwise
import neighbours
from net import F, I, Unfit
from windows import weights


def winograd(net):
    """3x3 convolutions of many channels."""
    c, out = net.choice([16, 17, 24, 32]), net.choice([16, 20, 33, 48])
    shape = [net.choice([1, 1, 2]), c, net.rng.randrange(6, 22), net.rng.randrange(6, 22)]
    x = neighbours.before(net, net.input(shape), 1)
    if list(net.shape(x)) != shape:
        raise Unfit("the neighbours changed the shape")
    y = net.add("Conv", [x, weights(net, [out, c, 3, 3]), net.constant(net.floats(out))], pads=net.choice([None, [1] * 4, [1, 0, 2, 1]]))
    net.output(neighbours.behind(net, y, 2))


def large(net):
    """Several tiles per step and lane."""
    kind = net.choice(["convolution", "depthwise", "dense", "product", "elementwise", "reduction", "softmax", "transposed"])
    if kind in ("convolution", "depthwise", "transposed"):
        c = net.choice([3, 16, 40])
        x = net.input([net.choice([1, 2]), c, net.rng.randrange(20, 50), net.rng.randrange(20, 50)])
        k, s = net.choice([1, 3, 5]), net.choice([1, 2])
        if kind == "transposed":
            y = net.add("ConvTranspose", [x, weights(net, [c, net.choice([2, 16]), k, k])], strides=[s, s])
        elif kind == "depthwise":
            y = net.add("Conv", [x, weights(net, [c, 1, k, k])], group=c, strides=[s, s], pads=[k // 2] * 4)
        else:
            y = net.add("Conv", [x, weights(net, [net.choice([8, 24]), c, k, k])], strides=[s, s], pads=[k // 2] * 4)
    elif kind in ("dense", "product"):
        m, k, n = net.choice([1, 7, 64, 130]), net.choice([64, 257, 600]), net.choice([48, 130, 500])
        x = net.input([m, k])
        y = net.add("MatMul", [x, net.constant(net.floats([k, n], 0.1)) if kind == "dense" else net.input([k, n])])
    else:
        shape = net.choice([[70000], [130, 600], [3, 40, 30, 25], [1, 20, 60, 50]])
        x = net.input(shape)
        if kind == "elementwise":
            y = net.add(net.choice(["Add", "Mul", "Div"]), [elementwise.activation(net, x), net.constant(F(1.25))])
        elif kind == "softmax":
            y = net.add("Softmax", [x], axis=len(shape) - 1)
        else:
            y = net.reduce(net.choice(["ReduceMean", "ReduceSum", "ReduceMax"]), x, [net.rng.randrange(len(shape))], net.choice([0, 1]))
    net.output(neighbours.behind(net, y, 1))


def suppression(net):
    if net.opset < 11:
        raise Unfit("no NonMaxSuppression")
    n, classes, boxes = net.choice([1, 1, 2]), net.choice([1, 2]), net.rng.randrange(1, 20)
    def corners():
        low = net.numbers.uniform(0, 4, (n, boxes, 2))
        return np.concatenate([low, low + net.numbers.uniform(0.1, 3, (n, boxes, 2))], -1)
    scores = lambda: net.numbers.permutation(n * classes * boxes).reshape(n, classes, boxes) / 64
    limits = [net.constant(np.array([net.rng.randrange(1, boxes + 1)], I)), net.constant(np.array([net.choice([0.0, 0.3, 0.5, 1.0])], F))]
    if net.chance(0.6):
        limits.append(net.constant(np.array([net.choice([0.0, 0.2])], F)))
    y = net.add("NonMaxSuppression", [net.input([n, boxes, 4], values=corners), net.input([n, classes, boxes], values=scores), *limits], dtype=I)
    net.bounded = {y: [0, -1]}
    net.output(y)


def spectrum(net):
    if net.opset < 17:
        raise Unfit("no DFT")
    length = net.choice([1, 2, 5, 8, 12, 16])
    if net.chance(0.5):
        shape = [net.choice([1, 3]), length, net.choice([1, 2])]
        extra = {"onesided": 1} if shape[2] == 1 and net.chance(0.5) else {"inverse": net.choice([None, 1])}
        if net.opset < 20:
            net.output(net.add("DFT", [net.input(shape)], axis=1, **extra))
        else:
            net.output(net.add("DFT", [net.input(shape), "", net.constant(np.array(1, I))], **extra))
        return
    frame, step = net.choice([4, 8]), net.choice([1, 2, 4])
    x = net.input([net.choice([1, 2]), net.rng.randrange(frame, 30), 1])
    window = net.constant(np.asarray(net.numbers.uniform(0.2, 1, frame), F)) if net.chance(0.7) else ""
    net.output(net.add("STFT", [x, net.constant(np.array(step, I)), window, net.constant(np.array(frame, I))], onesided=net.choice([None, 0, 1])))


def classical(net):
    net.opset = net.rng.randrange(9, 21)
    op = net.choice(["LinearRegressor", "Scaler", "Normalizer", "TreeEnsembleRegressor"])
    width = net.choice([1, 3, 6])
    x = net.input([net.choice([1, 4]), width])
    numbers = lambda n: [float(v) for v in net.floats(n)]
    if op == "LinearRegressor":
        targets = net.choice([1, 2, 3])
        extra = {"coefficients": numbers(targets * width), "targets": targets, "intercepts": numbers(targets) if net.chance(0.7) else None}
    elif op == "Scaler":
        count = net.choice([1, width])
        extra = {"offset": numbers(count), "scale": numbers(count)}
    elif op == "Normalizer":
        extra = {"norm": net.choice(["MAX", "L1", "L2"])}
    else:
        extra = tree(net, width)
    net.output(net.add(op, [x], domain="ai.onnx.ml", **extra))


def tree(net, width):
    """One tree of one or two decisions."""
    deep = net.chance(0.6)
    modes = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"]
    kinds = [net.choice(modes), net.choice(modes) if deep else "LEAF", "LEAF"] + ["LEAF"] * (2 if deep else 0)
    count = len(kinds)
    leaves = [i for i, k in enumerate(kinds) if k == "LEAF"]
    return {"nodes_treeids": [0] * count, "nodes_nodeids": list(range(count)), "nodes_featureids": [net.rng.randrange(width) for _ in kinds],
            "nodes_values": [float(v) for v in net.floats(count)], "nodes_modes": kinds, "nodes_truenodeids": [1, 3 if deep else 0, 0, 0, 0][:count],
            "nodes_falsenodeids": [2, 4 if deep else 0, 0, 0, 0][:count], "nodes_missing_value_tracks_true": [net.choice([0, 1])] * count,
            "target_treeids": [0] * len(leaves), "target_nodeids": leaves, "target_ids": [0] * len(leaves),
            "target_weights": [float(v) for v in net.floats(len(leaves))], "n_targets": 1, "aggregate_function": net.choice(["SUM", "AVERAGE", "MIN", "MAX"])}


def forms(net):
    """Inputs that are outputs, constants that are outputs, nodes that nothing reads, one value read twice, nodes in any order."""
    shape = [d or 1 for d in net.dims(1, 4, 6)]
    x, other = net.input(shape), net.input(shape)
    y = net.add("Add", [x, x if net.chance(0.3) else other])
    for _ in range(net.rng.randrange(0, 4)):
        y = net.choice([neighbours.squash, neighbours.arithmetic, neighbours.limits, neighbours.residual])(net, y)
        if net.chance(0.3):
            net.add("Sigmoid", [y])  # nothing reads it
        if net.chance(0.2):
            net.output(y)
    net.output(y)
    roll = net.rng.random()
    if roll < 0.2:
        net.output(net.add("Identity", [x]))
    elif roll < 0.35:
        net.output(net.add("Identity", [net.constant(net.floats(shape))]))
    elif roll < 0.45:
        net.output(net.add("Identity", [y]))
    elif roll < 0.55:
        net.output(net.add("Neg", [net.add("Neg", [y])]))
    if net.chance(0.2):
        net.output(net.add("Shape", [y], dtype=I), I)
    if net.chance(0.3):
        net.rng.shuffle(net.nodes)
        net.nodes.sort(key=depth_of(net.nodes))


def depth_of(nodes):
    """A key that puts every node behind those it reads."""
    made, depths = {o: n for n in nodes for o in n.output}, {}
    def depth(node):
        key = node.output[0]
        if key not in depths:
            depths[key] = 1 + max((depth(made[i]) for i in node.input if i in made), default=0)
        return depths[key]
    return depth


def wide(net):
    """float64 and float16 inside a model, cast there and back; numbers that float32 holds."""
    kind = net.choice([TensorProto.DOUBLE, TensorProto.DOUBLE, TensorProto.FLOAT16])
    numpy_type = {TensorProto.DOUBLE: np.float64, TensorProto.FLOAT16: np.float16}[kind]
    shape = [d or 1 for d in net.dims(1, 3, 6)]
    x = net.input(shape, values=lambda: np.round(net.floats(shape) * 8) / 8)
    if kind == TensorProto.FLOAT16:
        return half_constants(net, x, shape)
    y = net.add("Cast", [x], to=kind)
    for _ in range(net.rng.randrange(1, 4)):
        op = net.choice(["Add", "Sub", "Mul", "Relu", "Abs", "Neg", "Sqrt"])
        if op in ("Add", "Sub", "Mul"):
            y = net.add(op, [y, net.constant(np.round(net.floats(shape[-1:]) * 8).astype(numpy_type) / 8)])
        else:
            y = net.add("Sqrt", [net.add("Abs", [y])]) if op == "Sqrt" else net.add(op, [y])
    net.output(net.add("Cast", [y], to=TensorProto.FLOAT))


def half_constants(net, x, shape):
    """Weights stored in float16, cast before they are used."""
    c = net.constant(net.floats(shape[-1:]).astype(np.float16))
    net.output(neighbours.squash(net, net.add(net.choice(["Add", "Mul"]), [x, net.add("Cast", [c], to=TensorProto.FLOAT)])))


FAMILIES = {"winograd": (0.5, winograd), "large": (0.5, large), "suppression": (0.3, suppression), "spectrum": (0.4, spectrum), "classical": (0.5, classical),
            "forms": (1, forms), "wide": (0.5, wide)}
