# SPDX-License-Identifier: MIT
"""Convolutions and normalisations whose weights, scales and biases are computed, and transposed convolutions of volumes."""
import numpy as np

import neighbours
from net import F, Unfit
from normalizations import image as normalized, varied
from windows import dimension, geometry, groups_of, image, require_fit, weights


def given(net, shape, computed=0.7):
    """An input, or a constant."""
    return net.input(shape, values=lambda: net.floats(shape)) if net.chance(computed) else net.constant(net.floats(shape))


def convolution(net):
    spatial = dimension(net)
    x = neighbours.before(net, net.input(image(net, spatial)))
    shape = net.shape(x)
    if len(shape) != spatial + 2:
        raise Unfit("the neighbours changed the rank")
    kernel, attributes = geometry(net, spatial)
    require_fit(shape, kernel, attributes)
    group = groups_of(net, shape[1])
    out = group * net.choice([1, 1, 2, 3, 5, 8, 16])
    w_shape = [out, shape[1] // group, *kernel]
    scale = 1 / np.sqrt(max(1, np.prod(w_shape[1:])))
    inputs = [x, net.input(w_shape, values=lambda: net.floats(w_shape, scale))] if net.chance(0.8) else [x, weights(net, w_shape)]
    if net.chance(0.6):
        inputs.append(given(net, [out]))
    if net.chance(0.9):
        attributes["kernel_shape"] = kernel
    net.output(neighbours.behind(net, net.add("Conv", inputs, group=group if group > 1 or net.chance(0.5) else None, **attributes)))


def transposed_volume(net):
    spatial = net.choice([1, 2, 3, 3, 3])
    x = neighbours.before(net, net.input(image(net, spatial, channels=net.choice([1, 2, 3, 4, 6, 8]))))
    shape = net.shape(x)
    if len(shape) != spatial + 2:
        raise Unfit("the neighbours changed the rank")
    kernel, attributes = geometry(net, spatial, 4)
    group = groups_of(net, shape[1])
    out = net.choice([1, 2, 3, 5, 8])
    strides, dilations = attributes.get("strides", [1] * spatial), attributes.get("dilations", [1] * spatial)
    if net.chance(0.3):
        attributes["output_padding"] = [net.rng.randrange(0, max(1, max(s, d))) for s, d in zip(strides, dilations)]
    inputs = [x, weights(net, [shape[1], out, *kernel])] + ([given(net, [out * group], 0.5)] if net.chance(0.6) else [])
    y = net.add("ConvTranspose", inputs, group=group if group > 1 or net.chance(0.5) else None, kernel_shape=kernel, **attributes)
    if np.prod(net.shape(y), dtype=float) > 60000:
        raise Unfit("too large")
    net.output(neighbours.behind(net, y))


def normalization(net):
    shape = normalized(net)
    if np.prod(shape[2:]) < 3:
        raise Unfit("nothing varies")
    x, c = varied(net, shape), shape[1]
    op = net.choice(["InstanceNormalization"] + (["LayerNormalization"] if net.opset >= 17 else []) + (["GroupNormalization"] if net.opset >= 18 else [])
                    + (["RMSNormalization"] if net.opset >= 23 else []))
    if op == "InstanceNormalization":
        y = net.add(op, [x, given(net, [c]), given(net, [c])], epsilon=net.choice([None, 1e-2, 0.3]))
    elif op == "GroupNormalization":
        groups = net.choice([g for g in range(1, c + 1) if c % g == 0])
        count = c if net.opset >= 21 else groups
        y = net.add(op, [x, given(net, [count]), given(net, [count])], num_groups=groups, epsilon=1e-2)
    else:
        axis = net.rng.randrange(-len(shape), len(shape))
        if np.prod(shape[axis:] if axis else shape) < 3:
            raise Unfit("nothing varies")
        scale = shape[axis:] if axis else shape
        inputs = [x, given(net, scale)] + ([given(net, scale)] if op == "LayerNormalization" and net.chance(0.7) else [])
        y = net.add(op, inputs, axis=axis, epsilon=net.choice([F(1e-2), F(0.1)]).item())
    net.output(neighbours.behind(net, y, 2))


FAMILIES = {"convolution": (2, convolution), "transposed_volume": (1.5, transposed_volume), "normalization": (1.5, normalization)}
