# SPDX-License-Identifier: MIT
"""What the converter recognises, exactly as exporters write it, and with one thing changed: another constant, operand, axis, reader."""
import numpy as np

import neighbours
from elementwise import activation
from net import F, Unfit
from windows import weights


def near(net, number):
    """A constant, sometimes slightly or plainly another one, or of another shape."""
    roll = net.rng.random()
    value = number if roll < 0.7 else number * (1 + net.choice([1e-4, -1e-3, 1e-2])) if roll < 0.8 else number + net.choice([1, -0.5]) if roll < 0.88 else number
    if roll >= 0.95:
        return net.input([], values=lambda: np.asarray(number))
    return net.constant(np.full(net.choice([[], [], [], [1], [1, 1]]), value, F))


def either(net, a, b):
    return [a, b] if net.chance(0.5) else [b, a]


def start(net):
    """An input, or the result of a layer."""
    shape = net.choice([[2, 5], [1, 8, 4, 5], [1, 3, 6, 6], [2, 4, 7], [1, 17, 3, 3]])
    x = net.input(shape, values=lambda: net.floats(shape, 2))
    if net.chance(0.5) and len(shape) == 4:
        x = net.add("Conv", [x, weights(net, [shape[1], shape[1], 1, 1]), net.constant(net.floats(shape[1]))])
    elif net.chance(0.3) and len(shape) == 2:
        x = net.add("Gemm", [x, net.constant(net.floats([5, 5]))])
    return x


def finish(net, x, y, middles):
    for m in middles:
        if net.chance(0.06):
            net.output(m)
        elif net.chance(0.05):
            net.output(net.add("Neg", [m]))
    y = neighbours.behind(net, y, 1) if net.chance(0.4) else y
    net.output(y)


def hard_swish(net):
    x = start(net)
    other = x if net.chance(0.9) else net.add("Neg", [x])
    s = net.add("Add", either(net, x, near(net, 3.0)))
    low, high = (0.0, 6.0) if net.chance(0.8) else net.choice([(0.0, 5.9), (0.1, 6.0), (None, 6.0), (0.0, None), (-3.0, 6.0)])
    c = net.clip(s, low, high) if net.chance(0.85) or (low, high) != (0.0, 6.0) else net.add("Min", [net.add("Relu", [s]), net.constant(F(6))]) if net.opset >= 8 \
        else net.clip(s, low, high)
    divide = lambda v: net.add("Div", [v, near(net, 6.0)] if net.chance(0.95) else [near(net, 6.0), v]) if net.chance(0.6) else \
        net.add("Mul", either(net, v, near(net, 1 / 6)))
    form = net.choice(["gate first", "divided last", "sigmoid alone"])
    if form == "gate first":
        g = divide(c)
        y = net.add("Mul", either(net, other, g))
    elif form == "divided last":
        g = net.add("Mul", either(net, other, c))
        y = divide(g)
    else:
        g = y = divide(c)
    finish(net, x, y, [s, c, g])


def gated(net):
    x = start(net)
    op = net.choice(["Sigmoid", "HardSigmoid", "Tanh", "Softplus"])
    extra = net.choice([{}, {"alpha": 1 / 6, "beta": 0.5}, {"alpha": 1 / 6, "beta": 0.49}, {"alpha": 0.2, "beta": 0.5}]) if op == "HardSigmoid" else {}
    inner = x if net.chance(0.7) else net.add("Mul", either(net, x, near(net, net.choice([1.702, 1.0]))))
    g = net.add(op, [inner], **extra)
    if op == "Softplus":
        g = net.add("Tanh", [g])
    other = x if net.chance(0.9) else net.add("Abs", [x])
    finish(net, x, net.add(net.choice(["Mul"] * 9 + ["Add"]), either(net, other, g)), [g])


def gelu(net):
    if net.opset < 9:
        return gated(net)
    x = start(net)
    inner = net.add("Div", [x, near(net, np.sqrt(2))]) if net.chance(0.6) else net.add("Mul", either(net, x, near(net, np.sqrt(0.5))))
    e = net.add("Erf", [inner])
    s = net.add("Add", either(net, e, near(net, 1.0)))
    other = x if net.chance(0.9) else net.choice([inner, net.add("Abs", [x])])
    form = net.choice([0, 1, 2])
    if form == 0:
        m = net.add("Mul", either(net, other, near(net, 0.5)))
        y = net.add("Mul", either(net, m, s))
    elif form == 1:
        m = net.add("Mul", either(net, other, s))
        y = net.add("Mul", either(net, m, near(net, 0.5)))
    else:
        m = net.add("Mul", either(net, s, near(net, 0.5)))
        y = net.add("Mul", either(net, m, other))
    finish(net, x, y, [inner, e, s, m])


def gelu_tanh(net):
    x = start(net)
    cube = net.add("Pow", [x, near(net, 3.0)]) if net.chance(0.5) else net.add("Mul", [net.add("Mul", [x, x]), x])
    a = net.add("Add", [x, net.add("Mul", either(net, cube, near(net, 0.044715)))])
    t = net.add("Tanh", [net.add("Mul", either(net, a, near(net, np.sqrt(2 / np.pi))))])
    s = net.add("Add", either(net, t, near(net, 1.0)))
    y = net.add("Mul", either(net, net.add("Mul", either(net, x, near(net, 0.5))), s))
    finish(net, x, y, [a, t, s])


def scaled(net):
    """x * a + b before a convolution, and around activations."""
    c = net.choice([1, 3, 8])
    shape = [net.choice([1, 2]), c, net.rng.randrange(2, 8), net.rng.randrange(2, 8)]
    widens = c > 1 and net.chance(0.15)  # the constants broadcast a single channel
    x = net.input([shape[0], 1, *shape[2:]] if widens else shape)
    if net.chance(0.3):
        x = activation(net, x, {"Relu", "Sigmoid", "Tanh"})
    number = lambda: np.asarray(net.rng.uniform(0.2, 2) * net.choice([1, -1]), F) if net.chance(0.7) else np.asarray(net.floats([c, 1, 1]), F)
    if net.chance(0.05):
        number = lambda: np.asarray(net.choice([0.0, 1e-7, 1e7]), F)
    if widens:
        number = lambda: np.full([c, 1, 1], net.rng.uniform(0.2, 2), F)
    p = net.add("Mul", either(net, x, net.constant(number())))
    s = net.add(net.choice(["Add", "Add", "Sub"]), either(net, p, net.constant(number())))
    if net.chance(0.1):
        s = net.add("Relu", [s])
    k = net.choice([1, 2, 3])
    pads = net.choice([None, None, [1] * 4, [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]]) if k > 1 else None
    if net.chance(0.6):
        y = net.add("Conv", [s, weights(net, [net.choice([2, 8]), c, k, k])], pads=pads)
    else:
        strides = net.choice([None, [1, 1], [2, 2], [2, 1]])
        y = net.add("ConvTranspose", [s, weights(net, [c, net.choice([1, 5]), k, k])], pads=pads, strides=strides,
                    auto_pad=net.choice([None, None, "SAME_UPPER", "SAME_LOWER"]) if pads is None else None)
    if net.chance(0.25):
        net.output(neighbours.squash(net, net.choice([s, p])))
    finish(net, x, y, [p, s])


def widened(net):
    """A single channel, or column, that a constant of several broadcasts, behind and before a layer."""
    c, k = net.choice([2, 3, 8]), net.choice([1, 3])
    flat = net.chance(0.3)
    inner = net.choice([1, 3])
    x = net.input([net.choice([1, 2]), inner] + ([] if flat else [4, 5]))
    if net.chance(0.7):
        w = weights(net, [inner, 1] if flat else [1, inner, k, k])
        x = net.add("MatMul" if flat else "Conv", [x, w], pads=None if flat else [k // 2] * 4)
    numbers = net.floats([c] if flat else [c, 1, 1])
    y = net.add(net.choice(["Add", "Mul", "Sub", "Div"]), either(net, x, net.constant(np.where(np.abs(numbers) < 0.1, F(0.3), numbers))))
    if net.chance(0.5):
        width = net.shape(y)[1]
        y = net.add("MatMul" if flat else "Conv", [y, weights(net, [width, 4] if flat else [4, width, k, k])])
    finish(net, x, y, [])


def residual_order(net):
    """Sums of layers: which of them takes the other as its residual, and in what order activations come."""
    c = net.choice([3, 8, 16])
    shape = [1, c, net.rng.randrange(2, 8), net.rng.randrange(2, 8)]
    x = net.input(shape)
    def layer(v):
        y = net.add("Conv", [v, weights(net, [c, c, 1, 1])]) if net.chance(0.8) else net.add("ConvTranspose", [v, weights(net, [c, c, 1, 1])])
        return activation(net, y, {"Relu", "Sigmoid", "HardSwish", "Tanh", "LeakyRelu"}) if net.chance(0.4) else y
    values = [x]
    for _ in range(net.rng.randrange(2, 6)):
        kind = net.rng.random()
        a = net.choice(values[-3:])
        if kind < 0.45:
            values.append(layer(a))
        elif kind < 0.8:
            values.append(net.add(net.choice(["Add", "Add", "Add", "Sub", "Mul"]), [a, net.choice(values[-3:])]))
        elif kind < 0.9:
            values.append(net.add("PRelu", [a, net.constant(net.floats(net.choice([[c, 1, 1], [1], [1, c, 1, 1]])))]))
        else:
            values.append(activation(net, a, {"Relu", "HardSwish", "Sigmoid"}))
    read = {i for n in net.nodes for i in n.input}
    for v in values[1:]:
        if v not in read or net.chance(0.1):
            net.output(v)


def chains_of_constants(net):
    """Constants that meet: what folds among themselves, and reshapes that cancel."""
    shape = [net.choice([1, 2]), net.choice([2, 4, 6]), net.rng.randrange(1, 5)]
    x = net.input(shape)
    c = net.constant(net.floats([shape[1], 1]))
    d = net.add(net.choice(["Add", "Mul", "Sub"]), [c, net.constant(net.floats([1]))])
    d = activation(net, d, {"Relu", "Sigmoid", "Neg", "Exp", "Identity"})
    if net.chance(0.5):
        d = net.reshape(net.add("Transpose", [d]), [shape[1], 1])
    y = net.add("Mul", either(net, x, d))
    y = net.reshape(net.reshape(y, [-1]), shape)
    y = net.add("Add", either(net, y, d))
    if net.chance(0.3):
        net.output(net.add("Identity", [d]))
    finish(net, x, y, [d])


def cut_windows(net):
    """Dilated kernels that reach beyond small images."""
    c, h, w = net.choice([1, 3, 8]), net.rng.randrange(1, 5), net.rng.randrange(1, 5)
    k, d = net.choice([2, 3, 5, 7]), net.choice([1, 2, 3, 4, 6])
    extent = (k - 1) * d
    pads = [extent // 2] * 4 if net.chance(0.6) else [net.rng.randrange(0, extent + 2) for _ in range(4)]
    if h + pads[0] + pads[2] <= extent or w + pads[1] + pads[3] <= extent:
        raise Unfit("the window is larger than its input")
    depthwise = net.chance(0.4)
    x = neighbours.before(net, net.input([1, c, h, w]), 1)
    if net.shape(x)[1:] != (c, h, w):
        raise Unfit("the neighbours changed the shape")
    w_ = weights(net, [c, 1, k, k] if depthwise else [4, c, k, k])
    y = net.add("Conv", [x, w_], pads=pads, dilations=[d, d], group=c if depthwise else 1, strides=net.choice([None, [2, 2], [3, 1]]))
    net.output(neighbours.behind(net, y, 2))


FAMILIES = {"hard_swish": (1, hard_swish), "gated": (0.8, gated), "gelu": (1, gelu), "gelu_tanh": (0.4, gelu_tanh), "scaled": (1.5, scaled), "widened": (0.5, widened),
            "residual_order": (1.5, residual_order), "chains_of_constants": (0.6, chains_of_constants), "cut_windows": (1, cut_windows)}
