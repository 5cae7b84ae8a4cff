# SPDX-License-Identifier: MIT
"""Normalisations as operators, and spelled out: right, and wrong in one place."""
import numpy as np

import neighbours
from net import F, Unfit
from windows import weights


def image(net):
    shape = [net.choice([1, 1, 2, 3]), net.choice([1, 2, 3, 4, 8, 12, 17])] + [net.rng.randrange(1, 9) for _ in range(net.choice([1, 2, 2, 2, 3]))]
    return shape


def varied(net, shape):
    """Numbers whose variance is not near 0."""
    return net.input(shape, values=lambda: net.floats(shape, net.choice([0.5, 1, 3])) + F(net.choice([0, 0, 2])))


def batch(net):
    shape = net.choice([image(net), [net.choice([1, 4]), net.choice([1, 3, 8])]])
    x = varied(net, shape)
    if net.chance(0.4):
        x = neighbours.before(net, x, 1)
    shape = net.shape(x)
    if len(shape) < 2 or min(shape) < 1:
        raise Unfit("no channels")
    c = shape[1]
    if net.chance(0.2):
        given = [net.input([c]) for _ in range(3)] + [net.input([c], values=lambda: net.sample([c], "positive"))]
        y = net.add("BatchNormalization", [x] + given, epsilon=net.choice([None, 1e-3]))
    elif net.opset >= 15 and net.chance(0.2) and np.prod(shape) // c > 3:
        ones = [net.constant(net.sample([c], "positive")) for _ in range(4)]
        y = net.add("BatchNormalization", [x] + ones, 3, training_mode=1)[0]
    else:
        y = net.batch_norm(x, c, net.choice([1e-5, 1e-3, 0.1]))
    net.output(neighbours.behind(net, y, 2))


def instance(net):
    shape = image(net)
    if np.prod(shape[2:]) < 3:
        raise Unfit("nothing varies")
    x = varied(net, shape)
    if net.chance(0.4):
        x = net.add("Conv", [x, weights(net, [shape[1], shape[1]] + [1] * (len(shape) - 2))])
    y = net.add("InstanceNormalization", [x, net.constant(net.floats(shape[1])), net.constant(net.floats(shape[1]))], epsilon=net.choice([None, 1e-2, 0.3]))
    y = neighbours.behind(net, y, 2)
    if net.chance(0.4) and len(net.shape(y)) == len(shape) and net.shape(y)[1] > 0:
        out = net.choice([1, 3, 8])
        kernel = [net.choice([1, 2, 3])] * (len(shape) - 2)
        transposed = net.chance(0.4) and len(kernel) < 3
        w = weights(net, [net.shape(y)[1], out, *kernel] if transposed else [out, net.shape(y)[1], *kernel])
        y = net.add("ConvTranspose" if transposed else "Conv", [y, w], auto_pad=net.choice([None, "SAME_UPPER", "SAME_LOWER"]))
    net.output(y)


def layer(net):
    if net.opset < 17:
        return spelled_out(net)
    shape = [d or 1 for d in net.dims(1, 4)]
    shape[-1] = net.choice([2, 3, 8, 17, 33])
    axis = net.rng.randrange(-len(shape), len(shape))
    scale = shape[axis:] if axis else shape
    inputs = [varied(net, shape), net.constant(net.floats(scale))] + ([net.constant(net.floats(scale))] if net.chance(0.7) else [])
    y = net.add("LayerNormalization", inputs, axis=axis, epsilon=net.choice([1e-2, 1e-3, 0.1]))
    net.output(neighbours.behind(net, y, 2))


def others(net):
    shape = image(net)
    op = net.choice(["LRN", "LpNormalization", "MeanVarianceNormalization"] + (["GroupNormalization"] if net.opset >= 18 else [])
                    + (["RMSNormalization"] if net.opset >= 23 else []))
    x = varied(net, shape)
    if op == "LRN":
        if len(shape) != 4:
            raise Unfit("images only")
        y = net.add(op, [x], size=net.choice([1, 3, 5, 7]), alpha=net.choice([None, 0.1]), beta=net.choice([None, 0.5]), bias=net.choice([None, 2.0]))
    elif op == "LpNormalization":
        y = net.add(op, [x], axis=net.choice([None, 1, -1, 2]), p=net.choice([None, 1, 2]))
    elif op == "MeanVarianceNormalization":
        if net.opset < 9 or np.prod(shape) // shape[1] < 3:
            raise Unfit("nothing varies")
        y = net.add(op, [x], axes=net.choice([None, [0, 2, 3][:len(shape) - 1], [2]]))
    elif op == "GroupNormalization":
        groups = net.choice([g for g in range(1, shape[1] + 1) if shape[1] % g == 0])
        if np.prod(shape[1:]) // groups < 3:
            raise Unfit("nothing varies")
        count = shape[1] if net.opset >= 21 else groups
        y = net.add(op, [x, net.constant(net.floats(count)), net.constant(net.floats(count))], num_groups=groups, epsilon=1e-2)
    else:
        axis = net.rng.randrange(-len(shape), len(shape))
        scale = shape[axis:] if axis else shape
        y = net.add(op, [x, net.constant(net.floats(scale))], axis=axis, epsilon=1e-2)
    net.output(neighbours.behind(net, y, 1))


def spelled_out(net):
    """(x - mean) / sqrt(mean of squares + epsilon), with at most one thing in it that is not so."""
    shape = [d or 1 for d in net.dims(2, 4)]
    axis = net.choice([len(shape) - 1, len(shape) - 1, 1])
    shape[axis] = net.choice([2, 5, 8, 16, 17])
    wrong = net.choice([None, None, None, "axis", "other", "sqrt", "epsilon", "negative", "reader", "sum", "keep", "power", "swapped", "two axes", "vector"])
    x = varied(net, shape)
    other = varied(net, shape) if wrong == "other" else x
    at = lambda a: [a - len(shape)] if net.chance(0.5) and net.opset >= 11 else [a]
    mean = net.reduce("ReduceMean", x, at(axis))
    d = net.add("Sub", [mean, x] if wrong == "swapped" else [x, mean])
    if wrong == "other":
        e = net.add("Sub", [other, net.reduce("ReduceMean", other, at(axis))])
    else:
        e = net.add("Sub", [x, mean]) if net.chance(0.3) else d
    if net.chance(0.2):
        e = d = x  # without the mean: root mean square
    exponent = F(3.0 if wrong == "power" else 2.0)
    square = net.add("Mul", [e, e]) if net.chance(0.5) and wrong != "power" else net.add("Pow", [e, net.constant(exponent)])
    if wrong == "power":
        square = net.add("Abs", [square])
    axes = [axis] if wrong != "axis" else [(axis + 1) % len(shape)]
    if wrong == "two axes":
        axes = sorted({axis, (axis + 1) % len(shape)})
    v = net.reduce("ReduceSum" if wrong == "sum" else "ReduceMean", square, axes)
    if wrong == "reader":
        net.output(net.choice([v, square, d, mean]))
    epsilon = np.full([1] * len(shape) if net.chance(0.3) else [], 0.0 if wrong == "epsilon" else 0.01, F)
    if wrong == "vector":
        epsilon = np.full(shape[-1:], 0.01, F) + np.arange(shape[-1], dtype=F)
    padded = net.add("Add", net.rng.sample([v, net.constant(epsilon)], 2))
    root = padded if wrong == "sqrt" else net.add("Sqrt", [padded]) if net.chance(0.8) else net.add("Pow", [padded, net.constant(F(0.5))])
    kind = net.choice(["div", "reciprocal", "quotient"])
    if kind == "div":
        y = net.add("Div", [d, root])
    else:
        inverse = net.add("Reciprocal", [root]) if kind == "reciprocal" else net.add("Div", [net.constant(F(2.0 if wrong == "negative" else 1.0)), root])
        y = net.add("Mul", net.rng.sample([d, inverse], 2))
    for op in ("Mul", "Add")[:net.choice([0, 1, 2, 2])]:
        form = net.choice([[shape[axis]] + [1] * (len(shape) - 1 - axis)] * 4 + [[], [1] * (len(shape) - 1) + [shape[-1]], shape])
        y = net.add(op, net.rng.sample([y, net.constant(net.floats(form))], 2))
    net.output(neighbours.behind(net, y, 1))


def grouped(net):
    """Instances between two reshapes: group normalisation as exporters write it, or nearly."""
    groups, per = net.choice([1, 2, 3, 4]), net.choice([1, 2, 4, 5])
    n, c, h, w = net.choice([1, 2]), groups * per, net.rng.randrange(2, 7), net.rng.randrange(2, 7)
    x = varied(net, [n, c, h, w])
    if net.chance(0.5):
        x = net.add("Conv", [x, weights(net, [c, c, 1, 1])])
    y = net.reshape(x, net.choice([[n, groups, -1], [0, groups, -1]]))
    same = net.chance(0.7)
    scale = np.ones(groups, F) if same else net.floats(groups)
    bias = np.zeros(groups, F) if same else net.floats(groups)
    y = net.add("InstanceNormalization", [y, net.constant(scale), net.constant(bias)], epsilon=1e-2)
    if net.chance(0.1):
        net.output(y)
    y = net.reshape(y, [n, c, h, w] if net.chance(0.85) else [n, h, w, c])
    if net.shape(y)[1] == c:
        for op in ("Mul", "Add"):
            y = net.add(op, [y, net.constant(net.floats(net.choice([[c, 1, 1], [1, c, 1, 1], [c, 1, 1], [1]])))])
    y = neighbours.behind(net, y, 1)
    if len(net.shape(y)) == 4 and net.chance(0.4):
        y = net.add("Conv", [y, weights(net, [3, net.shape(y)[1], 3, 3])], pads=net.choice([None, [1, 1, 1, 1], [0, 0, 1, 1]]))
    net.output(y)


FAMILIES = {"batch": (1.5, batch), "instance": (1.5, instance), "layer": (1, layer), "others": (1.2, others), "spelled_out": (2, spelled_out), "grouped": (1, grouped)}
