# SPDX-License-Identifier: MIT
"""Convolutions and normalisations whose weights, scales and biases are computed, transposed convolutions of volumes, places of maxima, and
samples at computed places."""
import numpy as np

import neighbours
from net import F, I, Unfit
from normalizations import image as normalized, varied
from windows import dimension, geometry, groups_of, image, require_fit, transposed_geometry, weights


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
    x, shape, kernel, attributes, group, out = transposed_geometry(net, net.choice([1, 2, 3, 3, 3]))
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


def indexed_pool(net):
    if net.opset < 8:
        raise Unfit("no storage_order")
    spatial = dimension(net)
    shape = image(net, spatial)
    kernel, attributes = geometry(net, spatial, 4)
    require_fit(shape, kernel, attributes)
    if net.opset < 10:
        attributes.pop("dilations", None)
    elif attributes.get("auto_pad", "").startswith("SAME"):
        attributes.pop("dilations", None)
    if net.opset >= 10 and net.chance(0.4):
        attributes["ceil_mode"] = net.choice([0, 1, 1])
    x = net.input(shape, values=lambda: net.sample(shape, net.choice(["normal", "ties"])))
    y, i = net.add("MaxPool", [x], 2, kernel_shape=kernel, storage_order=net.choice([None, 0, 1]), **attributes)
    net.types[i] = np.dtype(I)
    if net.chance(0.8):
        net.output(y)
    net.output(i)


def affine_grid(net):
    if net.opset < 20:
        raise Unfit("no AffineGrid")
    axes = net.choice([2, 2, 3])
    size = [net.choice([1, 2]), 1] + [net.rng.randrange(1, 8) for _ in range(axes)]
    if net.chance(0.5):
        size = [d + 1 for d in size]
    net.output(net.add("AffineGrid", [given(net, [size[0], axes, axes + 1], 0.9), net.ints(*size)], align_corners=net.choice([None, 0, 1])))


def grid_sample_of_volume(net):
    if net.opset < 20:
        raise Unfit("no volumes")
    shape = [net.choice([1, 2]), net.choice([1, 2, 3, 9])] + [net.rng.randrange(1, 7) for _ in range(3)]
    grid = [shape[0]] + [net.rng.randrange(1, 5) for _ in range(3)] + [3]
    y = net.add("GridSample", [net.input(shape), net.input(grid, values=lambda: net.numbers.uniform(-1.4, 1.4, grid).astype(F))],
                mode=net.choice(["linear", "nearest"]), padding_mode=net.choice([None, "zeros", "border", "reflection"]), align_corners=net.choice([None, 0, 1]))
    net.output(y)


def roi_align(net):
    if net.opset < 10:
        raise Unfit("no RoiAlign")
    shape = [net.choice([1, 2, 3]), net.choice([1, 2, 5, 8]), net.rng.randrange(2, 12), net.rng.randrange(2, 12)]
    count = net.rng.randrange(1, 6)

    def boxes():
        corner = net.numbers.uniform(-2, 10, (count, 2))
        return np.concatenate([corner, corner + net.numbers.uniform(0.5, 9, (count, 2))], 1).astype(F)

    batch = net.input([count], I, values=lambda: net.numbers.integers(0, shape[0], count))
    mode = net.choice([None, "half_pixel", "output_half_pixel"]) if net.opset >= 16 else None
    net.output(net.add("RoiAlign", [net.input(shape), net.input([count, 4], values=boxes), batch], mode=net.choice([None, "avg", "max"]),
                       coordinate_transformation_mode=mode, output_height=net.rng.randrange(1, 5), output_width=net.rng.randrange(1, 5),
                       sampling_ratio=net.choice([1, 2, 2, 3]), spatial_scale=net.choice([None, 0.5, 0.9, 1.25])))


def deform_conv(net):
    if net.opset < 19:
        raise Unfit("no DeformConv")
    shape = image(net, 2, 2)
    kernel, attributes = geometry(net, 2, 3)
    attributes.pop("auto_pad", None)
    require_fit(shape, kernel, attributes)
    group, offset_group = groups_of(net, shape[1]), groups_of(net, shape[1])
    out = group * net.choice([1, 2, 3, 5])
    pads, strides, dilations = attributes.get("pads", [0] * 4), attributes.get("strides", [1, 1]), attributes.get("dilations", [1, 1])
    attributes["pads"] = pads
    size = [(shape[2 + i] + pads[i] + pads[2 + i] - (kernel[i] - 1) * dilations[i] - 1) // strides[i] + 1 for i in range(2)]
    places = offset_group * kernel[0] * kernel[1]
    offsets = [shape[0], 2 * places, *size]
    w_shape = [out, shape[1] // group, *kernel]
    inputs = [net.input(shape), given(net, w_shape, 0.4), net.input(offsets, values=lambda: net.floats(offsets, net.choice([0.5, 2])))]
    if net.chance(0.6):
        inputs += [given(net, [out], 0.3) if net.chance(0.6) else "", given(net, [shape[0], places, *size], 0.9)]
    net.output(net.add("DeformConv", inputs, group=group, offset_group=offset_group, kernel_shape=kernel, **attributes))


FAMILIES = {"indexed_pool": (1, indexed_pool), "affine_grid": (0.4, affine_grid), "grid_sample_of_volume": (0.6, grid_sample_of_volume),
            "roi_align": (0.8, roi_align), "deform_conv": (1, deform_conv),
            "convolution": (2, convolution), "transposed_volume": (1.5, transposed_volume),
            "normalization": (1.5, normalization)}
