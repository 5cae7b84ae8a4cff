# SPDX-License-Identifier: MIT
"""Convolutions, transposed convolutions and pools over their whole space of geometries, with foldable neighbours."""
import numpy as np

import neighbours
from net import Unfit

AUTO = ["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"]


def image(net, spatial, minimum=1, channels=None):
    n = net.choice([1, 1, 1, 2, 3])
    c = channels or net.choice([1, 2, 3, 4, 4, 6, 8, 12, 16, 17])
    return [n, c] + [net.rng.randrange(minimum, {1: 24, 2: 11, 3: 6}[spatial]) for _ in range(spatial)]


def dimension(net):
    return net.choice([1, 2, 2, 2, 2, 2, 3])


def geometry(net, spatial, maximum=5):
    """Attributes kernel_shape, strides, dilations and pads or auto_pad; some are left out."""
    square = net.chance(0.5)
    def sample(options):
        return [net.choice(options)] * spatial if square else [net.choice(options) for _ in range(spatial)]
    kernel = sample(list(range(1, maximum + 1)) + [1, 3, 3, 2])
    if net.chance(0.06):
        kernel = sample([6, 7, 8, 9])
    attributes = {}
    if net.chance(0.6):
        attributes["strides"] = sample([1, 1, 2, 3, 4, 6])
    if net.chance(0.35):
        attributes["dilations"] = sample([1, 1, 2, 3])
    auto = net.choice(AUTO + ["NOTSET"] * 5)
    if auto != "NOTSET" or net.chance(0.1):
        attributes["auto_pad"] = auto
    if auto == "NOTSET" and net.chance(0.6):
        attributes["pads"] = [net.rng.randrange(0, k) for k in kernel * 2] if net.chance(0.5) else [net.rng.randrange(0, min(kernel))] * (2 * spatial)
    return kernel, attributes


def require_fit(shape, kernel, attributes):
    """Unfit where a window is larger than its padded input, but for a few: those are refused."""
    count = len(kernel)
    if attributes.get("auto_pad", "NOTSET").startswith("SAME"):
        return
    pads, dilations = attributes.get("pads", [0] * (2 * count)), attributes.get("dilations", [1] * count)
    for i, k in enumerate(kernel):
        if shape[2 + i] + pads[i] + pads[count + i] < (k - 1) * dilations[i] + 1:
            raise Unfit("the window is larger than its input")


def groups_of(net, channels):
    return net.choice([1, 1, 1, channels] + [g for g in (2, 3, 4) if channels % g == 0])


def weights(net, shape):
    w = net.floats(shape, 1 / np.sqrt(max(1, np.prod(shape[1:]))))
    if net.chance(0.04):
        w[net.numbers.random(shape) < 0.5] = 0
    return net.constant(w)


def convolution(net):
    spatial = dimension(net)
    x = neighbours.before(net, net.input(image(net, spatial)))
    shape = net.shape(x)
    if len(shape) != spatial + 2:
        raise Unfit("the neighbours changed the rank")
    kernel, attributes = geometry(net, spatial)
    if net.chance(0.97):
        require_fit(shape, kernel, attributes)
    group = groups_of(net, shape[1])
    out = group * net.choice([1, 1, 2, 3, 5, 8, 16])
    inputs = [x, weights(net, [out, shape[1] // group, *kernel])] + ([net.constant(net.floats(out))] if net.chance(0.6) else [])
    if net.chance(0.9):
        attributes["kernel_shape"] = kernel
    net.output(neighbours.behind(net, net.add("Conv", inputs, group=group if group > 1 or net.chance(0.5) else None, **attributes)))


def transposed_geometry(net, spatial):
    """The image and the attributes that every ConvTranspose has: x, its shape, kernel, attributes, groups, channels of a group's output."""
    x = neighbours.before(net, net.input(image(net, spatial, channels=net.choice([1, 2, 3, 4, 6, 8]))))
    shape = net.shape(x)
    if len(shape) != spatial + 2:
        raise Unfit("the neighbours changed the rank")
    kernel, attributes = geometry(net, spatial, 4)
    group = groups_of(net, shape[1])
    out = net.choice([1, 2, 3, 5, 8])
    if net.chance(0.3):
        attributes["output_padding"] = [net.rng.randrange(0, max(1, max(s, d))) for s, d in steps_of(attributes, spatial)]
    return x, shape, kernel, attributes, group, out


def steps_of(attributes, spatial):
    """(stride, dilation) along each axis."""
    return list(zip(attributes.get("strides", [1] * spatial), attributes.get("dilations", [1] * spatial)))


def transposed(net):
    spatial = net.choice([1, 2, 2, 2])
    x, shape, kernel, attributes, group, out = transposed_geometry(net, spatial)
    if net.chance(0.15) and "pads" not in attributes:
        natural = [(n - 1) * s + (k - 1) * d + 1 + p for n, k, (s, d), p in
                   zip(shape[2:], kernel, steps_of(attributes, spatial), attributes.get("output_padding", [0] * spatial))]
        attributes["output_shape"] = [max(1, n - net.rng.randrange(0, k)) for n, k in zip(natural, kernel)]
    inputs = [x, weights(net, [shape[1], out, *kernel])] + ([net.constant(net.floats(out * group))] if net.chance(0.6) else [])
    if net.chance(0.9):
        attributes["kernel_shape"] = kernel
    y = net.add("ConvTranspose", inputs, group=group if group > 1 or net.chance(0.5) else None, **attributes)
    if np.prod(net.shape(y), dtype=float) > 60000:
        raise Unfit("too large")
    net.output(neighbours.behind(net, y))


def pool(net):
    spatial = dimension(net)
    x = neighbours.before(net, net.input(image(net, spatial)), 1)
    if len(net.shape(x)) != spatial + 2:
        raise Unfit("the neighbours changed the rank")
    op = net.choice(["MaxPool", "MaxPool", "AveragePool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"])
    if op.startswith("Global"):
        net.output(neighbours.behind(net, net.add(op, [x])))
        return
    kernel, attributes = geometry(net, spatial, 4)
    require_fit(net.shape(x), kernel, attributes)
    if attributes.get("dilations") and (op == "AveragePool" and net.opset < 19 or net.opset < 10):
        del attributes["dilations"]
    if net.opset >= 10 and net.chance(0.4):
        attributes["ceil_mode"] = net.choice([0, 1, 1])
    if op == "AveragePool":
        attributes["count_include_pad"] = net.choice([None, 0, 1])
    net.output(neighbours.behind(net, net.add(op, [x], kernel_shape=kernel, **attributes), 2))


def padded(net):
    """Pad before a window, with every mode, then the window's own padding."""
    spatial = net.choice([1, 2, 2])
    shape = image(net, spatial, 4)
    rank = spatial + 2
    edge = [0] * (2 * rank)
    for axis in range(2, rank):
        edge[axis], edge[rank + axis] = net.rng.randrange(0, 4), net.rng.randrange(0, 4)
    y = net.pad(net.input(shape), edge, net.choice(["constant", "constant", "reflect", "edge"]), net.choice([0.0, 0.0, 1.0]))
    kernel, attributes = geometry(net, spatial, 3)
    attributes.pop("auto_pad", None)
    if net.chance(0.3):
        net.output(neighbours.squash(net, y))
    out = net.choice([1, 3, 8])
    if net.chance(0.7):
        y = net.add("Conv", [y, weights(net, [out, shape[1], *kernel])], kernel_shape=kernel, **attributes)
    else:
        attributes.pop("dilations", None)
        y = net.add(net.choice(["MaxPool", "AveragePool"]), [y], kernel_shape=kernel, **attributes)
    net.output(neighbours.behind(net, y, 1))


def separable(net):
    """Pointwise, depthwise, pointwise, with a residual: the layers of mobile networks."""
    c, mid = net.choice([2, 4, 8, 16]), net.choice([4, 8, 12, 24])
    k, s = net.choice([3, 5]), net.choice([1, 1, 2])
    x = net.input([net.choice([1, 1, 2]), c, net.rng.randrange(3, 10), net.rng.randrange(3, 10)])
    y = neighbours.behind(net, net.add("Conv", [x, weights(net, [mid, c, 1, 1])]), 2)
    if len(net.shape(y)) != 4 or net.shape(y)[1] != mid:
        raise Unfit("the neighbours changed the shape")
    y = net.add("Conv", [y, weights(net, [mid, 1, k, k])], group=mid, pads=[k // 2] * 4, strides=[s, s])
    y = neighbours.behind(net, y, 2)
    if len(net.shape(y)) != 4 or net.shape(y)[1] != mid:
        raise Unfit("the neighbours changed the shape")
    y = net.add("Conv", [y, weights(net, [c, mid, 1, 1]), net.constant(net.floats(c))])
    if net.shape(y) == net.shape(x):
        y = net.add("Add", net.rng.sample([x, y], 2))
    net.output(neighbours.behind(net, y, 2))


FAMILIES = {"convolution": (6, convolution), "transposed": (6, transposed), "pool": (3, pool), "padded": (1.5, padded), "separable": (1, separable)}
