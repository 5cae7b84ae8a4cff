# SPDX-License-Identifier: MIT
"""Operators whose number of results is data: NonZero, Compress, Unique, Range; alone, and with operators behind them that compute row by row."""
import numpy as np

from net import F, I, Unfit

TYPES = [F, F, I, np.int32]


def shape_of(net):
    shape = [d for d in net.dims(1, 4, 6)]
    if 0 in shape:
        raise Unfit("nothing to choose from")
    return shape


def few(net, shape, dtype):
    """Numbers of which many are equal, and many 0."""
    low, high = net.choice([(0, 2), (-2, 3), (-9, 10), (0, 1)])
    x = net.numbers.integers(low, high, shape)
    if np.dtype(dtype) == np.dtype(F):
        return x * net.choice([1.0, 0.5, -0.75])
    return x


def behind(net, y, axis, dtype):
    """Arithmetic on every row; what it makes of filled ones is not promised."""
    if np.dtype(dtype) != np.dtype(F) or not net.chance(0.4):
        return y
    y = net.add(net.choice(["Mul", "Add", "Sub"]), [y, net.constant(F(net.choice([2.0, -0.5])))])
    if net.chance(0.4):
        y = net.add(net.choice(["Relu", "Sigmoid", "Abs"]), [y])
    net.output(y)
    net.bounded[y] = [axis, None]
    return None


def non_zero(net):
    if net.opset < 9:
        raise Unfit("no NonZero")
    shape, dtype = shape_of(net), net.choice(TYPES + [bool])
    x = net.input(shape, dtype, values=lambda: few(net, shape, dtype) != 0 if dtype is bool else few(net, shape, dtype))
    p = net.add("NonZero", [x], dtype=I)
    if net.opset >= 11 and dtype is not bool and net.chance(0.4):
        y = net.add("GatherND", [net.input(shape), net.add("Transpose", [p], dtype=I)])
        net.output(y)
        net.bounded[y] = [0, None]
    net.output(p)
    net.bounded[p] = [1, -1]


def compress(net):
    if net.opset < 9:
        raise Unfit("no Compress")
    shape, dtype = shape_of(net), net.choice(TYPES + [bool, np.uint8])
    axis = net.choice([None] + list(range(len(shape))) * 2)
    length = net.rng.randrange(1, (int(np.prod(shape)) if axis is None else shape[axis]) + 1)
    share = net.choice([0.0, 0.2, 0.5, 0.9, 1.0])
    x = net.input(shape, dtype, values=None if dtype in (F, bool) else lambda: net.integers(shape, 0, 100))
    y = net.add("Compress", [x, net.input([length], bool, values=lambda: net.numbers.random(length) < share)], dtype=dtype,
                axis=axis if axis is None or net.chance(0.5) or net.opset < 11 else axis - len(shape))
    if behind(net, y, axis or 0, dtype):
        net.output(y)
        net.bounded[y] = [axis or 0, 0]


def unique(net):
    if net.opset < 11:
        raise Unfit("no Unique")
    shape, dtype = shape_of(net), net.choice(TYPES)
    axis = net.choice([None, None] + list(range(len(shape))) * 2)
    x = net.input(shape, dtype, values=lambda: few(net, shape, dtype) if net.chance(0.8) or dtype is not F else net.floats(shape))
    names = net.add("Unique", [x], ["u_y", "u_i", "u_r", "u_c"], axis=axis if axis is None or net.chance(0.5) else axis - len(shape),
                    sorted=net.choice([None, 0, 1]))
    for name, kind, bounded in zip(names, (dtype, I, I, I), ([axis or 0, 0], [0, -1], None, [0, 0])):
        net.types[name] = np.dtype(kind)
        if name == "u_y" or net.chance(0.6):
            if name == "u_y" and behind(net, name, axis or 0, dtype) is None:
                continue
            net.output(name)
            if bounded:
                net.bounded[name] = bounded


def span(net):
    if net.opset < 11:
        raise Unfit("no Range")
    dtype = net.choice([F, F, I, np.int32])
    if dtype is F:
        step = net.choice([0.1, 0.25, 1 / 3, -0.1, -0.7, 1.0, 0.3, 1e-3])
        start = net.choice([0.0, 0.1, 1.0, -2.5, 1e-20, net.rng.uniform(-3, 3)])
        limit = F(start) + F(step) * F(net.choice([0, 1, 3, 7, 10, -4, net.rng.uniform(0, 20), net.rng.randrange(0, 30)]))
    else:
        start, step, limit = net.rng.randrange(-20, 20), net.choice([-7, -3, -2, -1, 1, 1, 2, 3, 5]), net.rng.randrange(-20, 20)
    ends = [net.input([], dtype, values=lambda value=value: np.asarray(value)) if net.chance(0.7) or i == 1 else net.constant(np.asarray(value, dtype))
            for i, value in enumerate((start, limit, step))]
    y = net.add("Range", ends, dtype=dtype)
    net.request["bounds"] = [f"{y}={net.choice([1, 5, 16, 40, 70])}"]
    if behind(net, y, 0, dtype):
        net.output(y)
        net.bounded[y] = [0, 0]
    net.shapes[y] = ()


FAMILIES = {"non_zero": (0.4, non_zero), "compress": (0.5, compress), "unique": (0.7, unique), "span": (0.5, span)}
