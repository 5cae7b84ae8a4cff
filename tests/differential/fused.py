# SPDX-License-Identifier: MIT
"""Operators that ONNX Runtime's optimiser leaves behind, experimental ones of old exporters, and whole models that it has saved at its
extended level."""
import numpy as np

import elementwise
import matrices
import networks
import neighbours
import normalizations
import patterns
import windows
from net import F, I, Unfit

MS = "com.microsoft"
ACTIVATIONS = {"Relu": 0, "Tanh": 0, "Sigmoid": 0, "LeakyRelu": 1, "HardSigmoid": 2, "Clip": 2}


def parameters(net, name):
    if name == "Clip":
        return [float(F(net.rng.uniform(-1, 0.2))), float(F(net.rng.uniform(0.3, 2)))]
    return [float(F(net.rng.uniform(0.05, 0.5))) for _ in range(ACTIVATIONS[name])]


def convolution(net):
    spatial = net.choice([1, 2, 2])
    shape = windows.image(net, spatial)
    kernel, attributes = windows.geometry(net, spatial)
    windows.require_fit(shape, kernel, attributes)
    group = windows.groups_of(net, shape[1])
    out = group * net.choice([1, 2, 5])
    inputs = [net.input(shape), windows.weights(net, [out, shape[1] // group, *kernel])]
    name = net.choice([*ACTIVATIONS])
    if net.chance(0.7):
        inputs.append(net.constant(net.floats(out)))
    plain = net.add("Conv", inputs, group=group, **attributes)
    size = net.shape(plain)
    net.nodes.pop()
    if name == "Relu" and len(inputs) == 3 and net.chance(0.4):
        inputs.append(net.value(size))
    y = net.add("FusedConv", inputs, domain=MS, shape=size, group=group, activation=name, activation_params=parameters(net, name), **attributes)
    net.output(y)


def product(net):
    if net.chance(0.3):
        m, k, n = (net.choice([1, 2, 5, 8]) for _ in range(3))
        name = net.choice(["Relu", "Tanh", "Sigmoid", "LeakyRelu"])
        left, right = net.choice([0, 1]), net.choice([0, 1])
        inputs = [net.input([k, m] if left else [m, k]), net.value([n, k] if right else [k, n])]
        inputs += [net.value(net.choice([[n], [m, n], [1]]))] * net.chance(0.6)
        more = {"activation_alpha": float(F(net.rng.uniform(0.1, 0.5)))} if name == "LeakyRelu" else {}
        return net.output(net.add("FusedGemm", inputs, domain=MS, shape=[m, n], transA=left, transB=right, alpha=net.choice([1.0, 0.5]), activation=name, **more))
    batch = [net.choice([1, 2, 3]) for _ in range(net.choice([0, 1, 1, 2]))]
    m, k, n = (net.choice([1, 2, 5, 9]) for _ in range(3))
    flags, shapes = {}, []
    for side, (rows, columns) in (("A", (m, k)), ("B", (k, n))):
        transposed, moved = net.chance(0.5), net.chance(0.3) and len(batch) > 0
        flags[f"trans{side}"], flags[f"transBatch{side}"] = int(transposed), int(moved)
        last = [columns, rows] if transposed else [rows, columns]
        shapes.append([last[0], *batch, last[1]] if moved else [*batch, *last])
    net.output(net.add("FusedMatMul", [net.input(shapes[0]), net.value(shapes[1])], domain=MS, shape=[*batch, m, n], alpha=net.choice([1.0, 0.125, 3.0]), **flags))


def activation(net):
    shape = net.dims(1, 4)
    x = net.input(shape)
    op = net.choice(["Gelu", "FastGelu", "BiasGelu", "QuickGelu", "FastGelu bias"])
    inputs = [x, net.value([shape[-1]])] if op in ("BiasGelu", "FastGelu bias") else [x]
    attributes = {"alpha": net.choice([1.702, 1.0, 0.5])} if op == "QuickGelu" else {}
    net.output(neighbours.behind(net, net.add(op.split()[0], inputs, domain=MS, shape=shape, **attributes), 1))


def grid(net):
    """Places in an image, and its lower triangle."""
    if net.chance(0.3):
        shape = net.dims(2, 4)
        inputs = [net.input(shape)] + [net.constant(np.array(net.choice([-1, 0, 1, 2]), I))] * net.chance(0.5)
        return net.output(net.add("Trilu", inputs, domain=MS, shape=shape, upper=net.choice([0, 1])))
    n, c, h, w, oh, ow = net.choice([1, 2]), net.choice([1, 3]), *(net.rng.randrange(2, 7) for _ in range(4))
    points = net.input([n, oh, ow, 2], values=lambda: net.numbers.uniform(-1.3, 1.3, (n, oh, ow, 2)))
    net.output(net.add("GridSample", [net.input([n, c, h, w]), points], domain=MS, shape=[n, c, oh, ow], mode=net.choice(["bilinear", "nearest", "bicubic"]),
                       padding_mode=net.choice(["zeros", "border", "reflection"]), align_corners=net.choice([0, 1])))


def residual(net):
    hidden, lead = net.choice([1, 4, 8, 17, 32]), [net.choice([1, 2]), net.choice([1, 3, 7])]
    shape = [*lead, hidden]
    whole = net.chance(0.6)
    skip = net.input(shape if whole else net.choice([[1, *shape[1:]], shape[1:]]))
    gamma, epsilon = net.constant(net.floats(hidden)), net.choice([1e-5, 1e-12, 1e-3])
    bias = net.constant(net.floats(hidden)) if net.chance(0.4) else ""
    op = net.choice(["SkipLayerNormalization", "SkipLayerNormalization", "SkipSimplifiedLayerNormalization", "SimplifiedLayerNormalization", "LayerNormalization"])
    if op in ("SimplifiedLayerNormalization", "LayerNormalization"):  # of the domain ai.onnx, in every opset
        inputs = [net.input(shape), gamma] + [net.constant(net.floats(hidden))] * (op == "LayerNormalization" and net.chance(0.7))
        return net.output(net.add(op, inputs, shape=shape, axis=-1, epsilon=epsilon))
    inputs = [net.input(shape), skip, gamma]
    if op == "SkipLayerNormalization":
        inputs.append(net.constant(net.floats(hidden)) if net.chance(0.7) else "")
    inputs.append(bias)
    while inputs[-1] == "":
        inputs.pop()
    if net.chance(0.5):
        return net.output(net.add(op, inputs, domain=MS, shape=shape, epsilon=epsilon))
    n = len(net.nodes)
    y, total = net.add(op, inputs, [f"v{n}_0", "", "", f"v{n}_3"], domain=MS, shape=shape, epsilon=epsilon)[::3]
    net.output(y)
    net.output(total)


def old(net):
    """Operators of the first opsets, which ONNX has removed since."""
    net.opset = net.choice([1, 6, 7, 8])
    op = net.choice(["ImageScaler", "Affine", "ScaledTanh", "ParametricSoftplus", "Crop"])
    n, c, h, w = net.choice([1, 2]), net.choice([1, 3, 5]), net.rng.randrange(3, 9), net.rng.randrange(3, 9)
    x = net.input([n, c, h, w])
    number = lambda: float(F(net.rng.uniform(-2, 2)))
    if op == "ImageScaler":
        return net.output(net.add(op, [x], shape=[n, c, h, w], scale=number(), bias=[number() for _ in range(c)]))
    if op == "Crop":
        border = [net.choice([0, 1]) for _ in range(4)]
        return net.output(net.add(op, [x], shape=[n, c, h - border[1] - border[3], w - border[0] - border[2]], border=border))
    net.output(net.add(op, [x], shape=[n, c, h, w], alpha=number(), beta=number()))


def older(net):
    """Operators of opsets 1 to 6 that have another form since."""
    net.opset = net.choice([6, 6, 5, 1])
    shape = net.dims(1, 4)
    if 0 in shape:
        raise Unfit("no elements")
    x = net.input(shape)
    op = net.choice(["binary", "binary", "PRelu", "Reshape", "Pad", "Cast", "Concat", "BatchNormalization", "Gemm", "Clip"])
    rank = len(shape)
    if op == "binary":
        axis = net.rng.randrange(rank)
        end = net.rng.randrange(axis + 1, rank + 1)
        part, suffix = shape[axis:end], end == rank and net.chance(0.5)
        y = net.add(net.choice(["Add", "Sub", "Mul", "Div", "Pow"]), [net.add("Abs", [x]), net.constant(np.abs(net.floats(part)) + F(0.25))], broadcast=1, axis=None if suffix else axis)
    elif op == "PRelu":
        y = net.add(op, [x, net.constant(net.floats([shape[1] if rank > 1 and net.chance(0.7) else 1]))])
    elif op == "Reshape":
        y = net.add(op, [x], shape=[-1]) if net.opset < 5 else net.add(op, [x, net.ints(-1)])
    elif op == "Pad":
        pads = [net.choice([0, 1, 2]) for _ in range(2 * rank)]
        y = net.add(op, [x], **{"paddings" if net.opset < 2 else "pads": pads}, value=0.5, mode="constant")
    elif op == "Cast":
        y = net.add("Cast", [net.add("Cast", [x], to="INT32" if net.opset < 6 else 6)], to="FLOAT" if net.opset < 6 else 1)
    elif op == "Concat":
        y = net.add(op, [x, x], axis=None if net.opset < 4 and rank > 1 else 0)
    elif op == "BatchNormalization":
        x = net.input([2, 3, 4, 5])
        statistics = [net.constant(net.floats(3)) for _ in range(3)] + [net.constant(np.abs(net.floats(3)) + F(0.5))]
        y = net.add(op, [x, *statistics], is_test=1, epsilon=1e-3, **({"consumed_inputs": [0, 0, 0, 1, 1]} if net.opset < 6 else {}))
    elif op == "Gemm":
        m, k, n = 3, 4, 5
        y = net.add(op, [net.input([m, k]), net.constant(net.floats([k, n])), net.constant(net.floats(n))], broadcast=1)
    else:
        y = net.add(op, [x], min=-0.5, max=1.0)
    net.output(y)


def optimised(net):
    """A model of another family, saved by ONNX Runtime at its extended level."""
    made = net.choice([m for module in (windows, matrices, normalizations, patterns, networks, elementwise) for _, m in module.FAMILIES.values()])
    made(net)
    net.optimises = True


FAMILIES = {"convolution": (1, convolution), "product": (1, product), "activation": (0.6, activation), "grid": (0.5, grid), "residual": (1, residual),
            "old": (0.6, old), "older": (1, older), "optimised": (1.5, optimised)}
