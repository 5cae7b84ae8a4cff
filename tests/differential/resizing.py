# SPDX-License-Identifier: MIT
"""Resize, Upsample and GridSample in every mode."""
import numpy as np

import neighbours
from net import F, I, Unfit

TRANSFORMS = ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"]
NEAREST = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
SCALES = [0.4, 0.5, 0.6, 0.75, 1.0, 1.3, 1.5, 1.7, 2.0, 2.0, 2.5, 3.0, 4.0, 0.3333333, 1.1]


def upsample(net):
    shape = image(net)
    scales = np.array([1, 1] + [net.choice([1.0, 2.0, 2.0, 3.0, 1.5]) for _ in shape[2:]], F)
    mode = net.choice(["nearest", "linear"])
    x = net.input(shape)
    if net.opset < 9:
        net.output(net.add("Upsample", [x], mode=mode, scales=scales.tolist()))
    elif net.opset < 11:
        net.output(net.add("Upsample" if net.opset == 9 else "Resize", [x, net.constant(scales)], mode=mode))
    else:
        empty = net.constant(np.zeros(0, F)) if net.opset < 13 else ""
        net.output(net.add("Resize", [x, empty, net.constant(scales)], mode=mode, coordinate_transformation_mode="asymmetric",
                           nearest_mode="floor" if mode == "nearest" else None))


def image(net):
    spatial = net.choice([1, 1, 2, 2, 2, 2, 2, 2, 2, 3])
    return [net.choice([1, 1, 2]), net.choice([1, 2, 3, 8, 17])] + [net.rng.randrange(1, 11 if spatial < 3 else 5) for _ in range(spatial)]


def resize(net):
    if net.opset < 10:
        return upsample(net)
    shape = image(net)
    rank = len(shape)
    if net.opset == 10:
        scales = np.array([1, 1] + [net.choice(SCALES) for _ in shape[2:]], F)
        if any(int(d * s) < 1 for d, s in zip(shape, scales)):
            raise Unfit("nothing is left")
        net.output(net.add("Resize", [net.input(shape), net.constant(scales)], mode=net.choice(["nearest", "linear"])))
        return
    mode = net.choice(["nearest", "nearest", "linear", "linear", "cubic"])
    modes = [t for t in TRANSFORMS if t != "tf_half_pixel_for_nn" or net.opset < 13]
    modes = [t for t in modes if t != "half_pixel_symmetric" or net.opset >= 19]
    transform = net.choice(modes)
    attributes = {"mode": mode, "coordinate_transformation_mode": net.choice([None, transform, transform, transform])}
    transform = attributes["coordinate_transformation_mode"]
    if mode == "nearest" and net.chance(0.8):
        attributes["nearest_mode"] = net.choice(NEAREST)
    if mode == "cubic":
        attributes["cubic_coeff_a"] = net.choice([None, -0.5, -0.75])
        attributes["exclude_outside"] = net.choice([None, 0, 1])
    if net.opset >= 18 and mode != "nearest" and net.chance(0.2):
        attributes["antialias"] = 1
    roi = ""
    if transform == "tf_crop_and_resize":
        starts = [0.0, 0.0] + [net.rng.uniform(-0.1, 0.4) for _ in shape[2:]]
        ends = [1.0, 1.0] + [net.rng.uniform(0.5, 1.2) for _ in shape[2:]]
        roi = net.constant(np.array(starts + ends, F))
        attributes["extrapolation_value"] = net.choice([None, 0.0, 2.5])
    elif net.opset < 13:
        roi = net.constant(np.zeros(0, F))
    x = neighbours.before(net, net.input(shape), 1)
    if list(net.shape(x)) != shape:
        raise Unfit("the neighbours changed the shape")
    if net.chance(0.5):
        sizes = shape[:2] + [net.choice([d, 2 * d, d + 1, max(1, d - 1), net.rng.randrange(1, 17)]) for d in shape[2:]]
        empty = net.constant(np.zeros(0, F)) if net.opset < 13 else ""
        inputs = [x, roi, empty, net.constant(np.array(sizes, I))]
        if net.opset >= 18 and net.chance(0.3):
            policy = net.choice(["stretch", "not_larger", "not_smaller"])
            attributes["keep_aspect_ratio_policy"] = policy
            attributes["axes"] = list(range(2, rank))
            inputs[3] = net.constant(np.array(sizes[2:], I))
            if transform == "tf_crop_and_resize":
                raise Unfit("a region of fewer axes")
    else:
        scales = np.array([1, 1] + [net.choice(SCALES) for _ in shape[2:]], F)
        if any(int(d * s) < 1 for d, s in zip(shape, scales)):
            raise Unfit("nothing is left")
        inputs = [x, roi, net.constant(scales)]
    y = net.add("Resize", inputs, **attributes)
    net.output(neighbours.behind(net, y, 1) if net.chance(0.4) else y)


def any_axes(net):
    """Axes in front of images, too, and images of other ranks."""
    net.opset = max(net.opset, 13)
    shape = [net.rng.randrange(1, 5) for _ in range(net.choice([1, 2, 3, 4, 4, 5, 6]))]
    scales = [net.choice([1.0, 1.0, *SCALES]) for _ in shape]
    if any(int(d * s) < 1 for d, s in zip(shape, scales)):
        raise Unfit("nothing is left")
    mode = net.choice(["nearest", "nearest", "linear", "cubic"])
    net.output(net.add("Resize", [net.input(shape), "", net.constant(np.array(scales, F))], mode=mode,
                       coordinate_transformation_mode=net.choice(["half_pixel", "asymmetric", "pytorch_half_pixel"])))


def grid_sample(net):
    if net.opset < 16:
        return resize(net)
    n, c = net.choice([1, 1, 2]), net.choice([1, 2, 3, 9])
    shape = [n, c, net.rng.randrange(1, 9), net.rng.randrange(1, 9)]
    grid = [n, net.rng.randrange(1, 6), net.rng.randrange(1, 6), 2]
    names = ["linear", "nearest", "cubic"] if net.opset >= 20 else ["bilinear", "nearest", "bicubic"]
    mode = net.choice([names[0], names[0], names[1], names[2]])
    sample = lambda: (net.numbers.uniform(-1.4, 1.4, grid)).astype(F)
    y = net.add("GridSample", [net.value(shape, data=0.7), net.input(grid, values=sample)], mode=mode,
                padding_mode=net.choice([None, "zeros", "border", "reflection"]), align_corners=net.choice([None, 0, 1]))
    net.output(y)


FAMILIES = {"resize": (5, resize), "upsample": (0.7, upsample), "grid_sample": (1, grid_sample), "any_axes": (0.7, any_axes)}
