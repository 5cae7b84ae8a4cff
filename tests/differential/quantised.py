# SPDX-License-Identifier: MIT
"""Quantised models with --dequantize, each beside the float32 model that it should become (its twin), which ONNX Runtime computes."""
import numpy as np

from net import F, Net, Unfit

RANGES = {np.int8: (-128, 127), np.uint8: (0, 255)}


class Pair:
    """A quantised net and its twin, which grow together; values are pairs of names."""

    def __init__(self, net):
        if net.opset < 13:
            net.opset = 13 + net.rng.randrange(6)
        self.net, self.twin = net, Net(1, net.opset, net.runs)

    def input(self, shape):
        name = self.net.input(shape, values=lambda: self.net.floats(shape, 1.5))
        self.twin.feeds[name], self.twin.shapes[name], self.twin.types[name] = self.net.feeds[name], tuple(shape), np.dtype(F)
        return name, name

    def constant(self, array):
        return self.net.constant(array), self.twin.constant(array)

    def add(self, op, inputs, **attributes):
        return self.net.add(op, [i[0] for i in inputs], **attributes), self.twin.add(op, [i[1] for i in inputs], **attributes)

    def scale(self, low=0.01, high=0.05):
        return F(self.net.rng.uniform(low, high))

    def scale_and_zero(self):
        kind = self.net.choice([np.int8, np.uint8])
        low, high = RANGES[kind]
        zero = kind(self.net.choice([0, 0, (low + high + 1) // 2, self.net.rng.randrange(low, high + 1)]))
        return self.scale(), zero, kind

    def limits(self, scale, zero, kind):
        low, high = RANGES[kind]
        return (low - int(zero)) * float(scale), (high - int(zero)) * float(scale)

    def stored(self, value):
        """Rounded to 8 bits and back; the twin clips."""
        scale, zero, kind = self.scale_and_zero()
        q = self.net.add("QuantizeLinear", [value[0], self.net.constant(scale), self.net.constant(zero)], dtype=kind)
        if self.net.chance(0.2):  # moved while it is stored
            shape = self.net.shape(value[0])
            if len(shape) > 1:
                order = list(range(len(shape)))
                self.net.rng.shuffle(order)
                q = self.net.add("Transpose", [q], dtype=kind, perm=order)
                value = (value[0], self.twin.add("Transpose", [value[1]], perm=order))
        d = self.net.add("DequantizeLinear", [q, self.net.constant(scale), self.net.constant(zero)])
        return d, self.clipped(value[1], scale, zero, kind)

    def clipped(self, name, scale, zero, kind):
        low, high = self.limits(scale, zero, kind)
        return self.twin.add("Clip", [name, self.twin.constant(F(low)), self.twin.constant(F(high))])

    def weights(self, shape, axis):
        """8-bit constants behind DequantizeLinear, with one scale or one per position of an axis."""
        kind = self.net.choice([np.int8, np.int8, np.uint8])
        low, high = RANGES[kind]
        w = self.net.integers(shape, low, high + 1, kind)
        per_axis = axis is not None and self.net.chance(0.5)
        scale = np.asarray(self.net.numbers.uniform(0.002, 0.01, shape[axis] if per_axis else ()), F)
        zero = np.zeros(scale.shape, kind) if self.net.chance(0.6) else np.asarray(self.net.integers(scale.shape, max(low, -10), 11, kind))
        form = [-1 if i == axis else 1 for i in range(len(shape))]
        spread = (lambda a: np.reshape(a, form)) if per_axis else (lambda a: a)
        floats = ((w.astype(F) - spread(zero).astype(F)) * spread(scale)).astype(F)
        names = [self.net.constant(a) for a in (w, scale, zero)]
        return self.net.add("DequantizeLinear", names, shape=shape, axis=axis if per_axis else None), self.twin.constant(floats)

    def finish(self, value):
        for net, name in zip((self.net, self.twin), value):
            net.output(name)
        self.twin.outputs = [value[1]]
        self.net.twin, self.net.twin_output = self.twin, value[1]
        self.net.request["dequantize"] = True


def layer(p, x):
    net = p.net
    shape = net.shape(x[0])
    kind = net.rng.random()
    if len(shape) == 4 and kind < 0.6:
        k, out = net.choice([1, 2, 3]), net.choice([1, 4, 8, 17])
        if min(shape[2:]) < k:
            raise Unfit("the window is larger than its input")
        inputs = [x, p.weights([out, shape[1], k, k], 0)]
        if net.chance(0.5):
            inputs.append(p.constant(net.floats(out)))
        return p.add("Conv", inputs, pads=net.choice([None, [k // 2] * 4]))
    if len(shape) == 2:
        return p.add("MatMul", [x, p.weights([shape[1], net.choice([1, 5, 8])], 1)])
    if kind < 0.8:
        return p.add(net.choice(["Relu", "Sigmoid", "HardSwish" if net.opset >= 14 else "Relu"]), [x])
    return p.add(net.choice(["Add", "Mul"]), [x, p.constant(net.floats([1] * len(shape)))])


def pairs(net):
    p = Pair(net)
    x = p.input(net.choice([[1, 3, 6, 7], [2, 4, 5, 5], [3, 12], [1, 8, 4, 4]]))
    for _ in range(net.rng.randrange(1, 4)):
        x = layer(p, p.stored(x))
    p.finish(p.stored(x) if net.chance(0.5) else x)


def products(net):
    """DynamicQuantizeLinear and MatMulInteger, QLinearMatMul, QLinearConv."""
    p = Pair(net)
    kind = net.choice(["dynamic", "matmul", "conv"])
    k, n = net.choice([2, 8, 12]), net.choice([1, 5, 8])
    if kind == "dynamic":
        x = p.input([3, k])
        w = net.integers([k, n], -127, 128, np.int8)
        zero, scale = np.int8(net.choice([0, 3, -5])), p.scale()
        q, s, z = net.add("DynamicQuantizeLinear", [x[0]], 3)
        i = net.add("MatMulInteger", [q, net.constant(w), z, net.constant(zero)], dtype=np.int32)
        y = net.add("Mul", [net.add("Cast", [i], to=1), net.add("Mul", [s, net.constant(scale)])])
        p.finish((y, p.twin.add("MatMul", [x[1], p.twin.constant(((w.astype(F) - F(zero)) * scale).astype(F))])))
        return
    before, after = p.scale_and_zero(), p.scale_and_zero()
    ws = p.scale(0.005, 0.02)
    x = p.input([3, k] if kind == "matmul" else [1, 3, 6, 6])
    q = net.add("QuantizeLinear", [x[0], *map(net.constant, before[:2])], dtype=before[2])
    t = p.clipped(x[1], *before)
    if kind == "matmul":
        w = net.integers([k, n], 0, 256, np.uint8)
        zero = np.uint8(net.rng.randrange(256))
        inputs = [q, *map(net.constant, before[:2]), *map(net.constant, (w, ws, zero)), *map(net.constant, after[:2])]
        if before[2] is not after[2]:
            raise Unfit("one type for both")
        y = net.add("QLinearMatMul", inputs, dtype=after[2])
        t = p.twin.add("MatMul", [t, p.twin.constant(((w.astype(F) - F(zero)) * ws).astype(F))])
    else:
        w = net.integers([4, 3, 3, 3], -127, 128, np.int8)
        b = net.integers([4], -2000, 2000, np.int32)
        if before[2] is not after[2]:
            raise Unfit("one type for both")
        inputs = [q, *map(net.constant, before[:2]), *map(net.constant, (w, ws, np.int8(0))), *map(net.constant, after[:2]), net.constant(b)]
        y = net.add("QLinearConv", inputs, dtype=after[2])
        bias = p.twin.constant((b * (np.float64(before[0]) * ws)).astype(F))
        t = p.twin.add("Conv", [t, p.twin.constant((w * ws).astype(F)), bias])
    p.finish((net.add("DequantizeLinear", [y, *map(net.constant, after[:2])]), p.clipped(t, *after)))


def weights_alone(net):
    """Quantised constants in a float model: no option needed."""
    p = Pair(net)
    x = p.input([2, 6])
    y = p.add("MatMul", [x, p.weights([6, 5], 1)])
    p.finish(y)
    del net.request["dequantize"]


FAMILIES = {"pairs": (1.5, pairs), "products": (1, products), "weights_alone": (0.3, weights_alone)}
