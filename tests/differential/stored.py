# SPDX-License-Identifier: MIT
"""Chains of operators on stored integers, whose results ONNX Runtime and the engine compute alike in every element."""
import numpy as np

import windows
from net import F, Unfit

KINDS = [np.uint8, np.int8]


def integers(net, kind, shape):
    info = np.iinfo(kind)
    if net.chance(0.1):  # both ends of the range
        return net.numbers.choice([info.min, info.max], shape).astype(kind)
    return net.numbers.integers(info.min, info.max + 1, shape).astype(kind)


def zero(net, kind):
    info = np.iinfo(kind)
    return kind(net.choice([0, (info.min + info.max + 1) // 2, net.rng.randrange(info.min, info.max + 1)]))


def scale(net):
    return F(net.choice([net.rng.uniform(0.001, 0.2), 0.5, 0.25, 1.0]))


def scales(net, count):
    return net.numbers.uniform(0.001, 0.1, count).astype(F)


def weights_and_scale(net, kind, shape, channels):
    """Stored weights, their scale and zero point: one, or one per channel."""
    if net.chance(0.5):
        return [net.constant(integers(net, kind, shape)), net.constant(scales(net, channels)), net.constant(np.zeros(channels, kind))]
    return [net.constant(integers(net, kind, shape)), net.constant(scale(net)), net.constant(kind(0) if kind is np.int8 else zero(net, kind))]


def begin(net):
    """(name, type) of stored numbers: an input, or floats that are stored."""
    kind = net.choice(KINDS)
    shape = windows.image(net, net.choice([1, 2, 2])) if net.chance(0.6) else net.dims(1, 4)
    if net.chance(0.3):
        return net.input(shape, kind, lambda: integers(net, kind, shape)), kind
    x = net.input(shape)
    if net.chance(0.2) and len(shape) > 1 and net.opset >= 13:
        axis = net.rng.randrange(len(shape))
        s, z = scales(net, shape[axis]), np.full(shape[axis], zero(net, kind))
        return net.add("QuantizeLinear", [x, net.constant(s), net.constant(z)], dtype=kind, axis=axis), kind
    return net.add("QuantizeLinear", [x, net.constant(scale(net)), net.constant(zero(net, kind))], dtype=kind), kind


def partner(net, kind):
    """A type that ONNX Runtime multiplies `kind` with."""
    return np.int8 if kind is np.int8 else net.choice(KINDS)


def convolve(net, x, kind):
    shape = net.shape(x)
    spatial = len(shape) - 2
    if 0 in shape:
        raise Unfit("no elements")
    kernel, attributes = windows.geometry(net, spatial)
    windows.require_fit(shape, kernel, attributes)
    group = windows.groups_of(net, shape[1])
    out, other = group * net.choice([1, 2, 5, 8]), partner(net, kind)
    to = net.choice([kind, kind, net.choice(KINDS)]) if kind is np.uint8 else kind
    w = weights_and_scale(net, other, [out, shape[1] // group, *kernel], out)
    bias = [net.constant(net.numbers.integers(-20000, 20000, out).astype(np.int32))] if net.chance(0.5) else []
    inputs = [x, net.constant(scale(net)), net.constant(zero(net, kind)), *w, net.constant(F(net.rng.uniform(0.05, 20))), net.constant(zero(net, to)), *bias]
    return net.add("QLinearConv", inputs, dtype=to, group=group, **attributes), to


def multiply(net, x, kind):
    shape = net.shape(x)
    columns, other = net.choice([1, 3, 8, 17]), partner(net, kind)
    inputs = [x, net.constant(scale(net)), net.constant(zero(net, kind)), *weights_and_scale(net, other, [shape[-1], columns], columns),
              net.constant(F(net.rng.uniform(0.05, 20))), net.constant(zero(net, kind))]
    return net.add("QLinearMatMul", inputs, dtype=kind), kind


def move(net, x, kind):
    shape = list(net.shape(x))
    if net.chance(0.5) and len(shape) > 1:
        order = list(range(len(shape)))
        net.rng.shuffle(order)
        return net.add("Transpose", [x], dtype=kind, perm=order), kind
    cut = net.rng.randrange(len(shape))
    return net.add("Reshape", [x, net.ints(int(np.prod(shape[:cut], dtype=int)), -1)], dtype=kind), kind


def window(net, x, kind):
    """The largest of a window, and images of another size, as the quantiser leaves them between its operators."""
    shape = net.shape(x)
    if net.opset < 12 or 0 in shape:
        raise Unfit("no MaxPool of integers")
    if net.chance(0.5) or net.opset < 13 or len(shape) != 4:
        kernel, attributes = windows.geometry(net, len(shape) - 2)
        windows.require_fit(shape, kernel, attributes)
        return net.add("MaxPool", [x], dtype=kind, kernel_shape=kernel, **attributes), kind
    mode = net.choice(["nearest", "nearest", "linear"])
    high = [2, 1] if mode == "linear" else [2, 1, 3]  # weights in thirds miss whole results, of which the fraction is cut
    scales = net.constant(np.array([1, 1, net.choice(high), net.choice([2, 0.5])], F))
    return net.add("Resize", [x, "", scales], dtype=kind, mode=mode, coordinate_transformation_mode=net.choice(["asymmetric", "half_pixel"])), kind


def end(net, x, kind):
    if net.chance(0.4):
        return net.output(x, kind)
    y = net.add("DequantizeLinear", [x, net.constant(scale(net)), net.constant(zero(net, kind))])
    net.output(net.add(net.choice(["Relu", "Identity", "Sigmoid"]), [y]) if net.chance(0.3) else y)


def chain(net):
    if net.opset < 10:
        net.opset = 10 + net.rng.randrange(15)
    x, kind = begin(net)
    for _ in range(net.choice([0, 1, 1, 2, 3])):
        rank = len(net.shape(x))
        makers = [move] + [convolve] * 3 * (rank in (3, 4)) + [window] * (rank in (3, 4)) + [multiply] * (rank >= 2)
        x, kind = net.choice(makers)(net, x, kind)
        net.types[x] = np.dtype(kind)
    if x in net.feeds:
        raise Unfit("nothing is computed")
    end(net, x, kind)


def sums(net):
    """Products that end as int32, of stored numbers or of floats that are stored as the run finds them."""
    net.opset = max(net.opset, 11)
    image = net.chance(0.5)
    shape = windows.image(net, 2) if image else net.dims(2, 4)
    zeros, unit, kind = [], None, np.uint8
    if net.chance(0.5):
        x, unit, z = net.add("DynamicQuantizeLinear", [net.input(shape)], 3)
        for name, dtype, of in ((x, np.uint8, shape), (unit, F, []), (z, np.uint8, [])):
            net.types[name], net.shapes[name] = np.dtype(dtype), tuple(of)
        zeros = [z]
    else:
        kind = np.uint8 if image else net.choice(KINDS)
        x = net.input(shape, kind, lambda: integers(net, kind, shape))
        zeros = [net.constant(zero(net, kind))] if net.chance(0.7) else []
    other = partner(net, kind)
    if image:
        kernel, attributes = windows.geometry(net, 2)
        windows.require_fit(shape, kernel, attributes)
        group = windows.groups_of(net, shape[1])
        w = integers(net, other, [group * net.choice([1, 3]), shape[1] // group, *kernel])
        y = net.add("ConvInteger", [x, net.constant(w), *zeros], dtype=np.int32, group=group, **attributes)
    else:
        right = [shape[-1], net.choice([1, 3, 8])]
        w = net.constant(integers(net, other, right)) if net.chance(0.7) else net.input(right, other, lambda: integers(net, other, right))
        y = net.add("MatMulInteger", [x, w, *zeros], dtype=np.int32)
    if unit is None or net.chance(0.3):
        return net.output(y, np.int32)
    channels = net.shape(y)[1] if image else net.shape(y)[-1]
    along = [channels, 1, 1] if image else [channels]
    if net.chance(0.7):  # the scale of the weights: one, or one per channel
        unit = net.add("Mul", [unit, net.constant(scales(net, channels).reshape(along) if net.chance(0.5) else scale(net))])
    y = net.add("Mul", [net.add("Cast", [y], to=1), unit])
    if net.chance(0.6):
        y = net.add("Add", [y, net.constant(net.numbers.uniform(-2, 2, along).astype(F))])
    if net.chance(0.4):
        y = net.add(net.choice(["Relu", "Tanh", "Neg"]), [y])
    net.output(y)


FAMILIES = {"chain": (1.5, chain), "sums": (1, sums)}
