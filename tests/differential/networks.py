# SPDX-License-Identifier: MIT
"""Random networks of many layers: each function appends one to a growing graph, where a value fits. Layouts, views, borders,
concatenations in place and fusions meet here in combinations that no model has."""
import numpy as np
from onnx import helper

from net import OPSETS, Unfit


class Network:
    """A growing graph; every value has a known shape."""

    def __init__(self, net):
        self.net, self.rng, self.numbers, self.values = net, net.rng, net.numbers, {}
        self.nodes = net.nodes

    def constant(self, array):
        return self.net.constant(array)

    def weights(self, *shape):
        fan_in = max(1, int(np.prod(shape[1:])))
        return self.constant((self.numbers.standard_normal(shape) / np.sqrt(fan_in)).astype(np.float32))

    def add(self, op, inputs, shape, **attributes):
        name = self.net.add(op, inputs, shape=shape, **attributes)
        self.values[name] = tuple(int(d) for d in shape)
        return name

    def pick(self, test=lambda shape: True):
        names = [n for n, s in self.values.items() if test(s)]
        return self.rng.choice(names[-6:]) if names else None


def rank4(shape):
    return len(shape) == 4


def conv(net):
    x = net.pick(rank4)
    if not x:
        return
    n, c, h, w = net.values[x]
    k = net.rng.choice([1, 1, 3, 3, 5, 2])
    stride, dilation = net.rng.choice([1, 1, 1, 2]), net.rng.choice([1, 1, 1, 2])
    pads = [net.rng.randrange(0, k) for _ in range(4)] if net.rng.random() < 0.3 else [(k - 1) * dilation // 2] * 4
    extent = (k - 1) * dilation + 1
    oh, ow = (h + pads[0] + pads[2] - extent) // stride + 1, (w + pads[1] + pads[3] - extent) // stride + 1
    if oh < 1 or ow < 1 or h + pads[0] + pads[2] < extent or w + pads[1] + pads[3] < extent:
        return
    groups = net.rng.choice([1, 1, 1, c, c] + [g for g in (2, 3, 4) if c % g == 0])
    out = c if groups == c else groups * net.rng.choice([1, 2, 3, 5, 8, 12, 16, 20])
    inputs = [x, net.weights(out, c // groups, k, k)]
    if net.rng.random() < 0.7:
        inputs.append(net.weights(out))
    net.add("Conv", inputs, (n, out, oh, ow), kernel_shape=[k, k], strides=[stride] * 2, dilations=[dilation] * 2, pads=pads, group=groups)


def activation(net):
    x = net.pick()
    op = net.rng.choice(["Relu", "Sigmoid", "Tanh", "HardSwish", "HardSigmoid", "LeakyRelu", "Elu", "Abs", "Neg", "Softplus", "Erf"])
    net.add(op, [x], net.values[x])


def clip(net):
    x = net.pick()
    net.add("Clip", [x, net.constant(np.float32(-0.5)), net.constant(np.float32(0.75))], net.values[x])


def swish(net):
    x = net.pick()
    gate = net.add("Sigmoid", [x], net.values[x])
    net.add("Mul", [x, gate], net.values[x])


def same_shape_sum(net):
    a = net.pick()
    b = net.pick(lambda s: s == net.values[a])
    net.add(net.rng.choice(["Add", "Add", "Sub", "Mul", "Max", "Min"]), [a, b], net.values[a])


def broadcast(net):
    x = net.pick()
    shape = [d if net.rng.random() < 0.5 else 1 for d in net.values[x]]
    cut = net.rng.randrange(0, len(shape) + 1)
    sides = [x, net.constant(net.numbers.uniform(0.5, 1.5, shape[cut:]).astype(np.float32))]
    if net.rng.random() < 0.3:
        sides.reverse()
    net.add(net.rng.choice(["Add", "Sub", "Mul"] + ["Div"] * (sides[0] == x)), sides, net.values[x])


def squeeze_excite(net):
    x = net.pick(rank4)
    if not x:
        return
    n, c, h, w = net.values[x]
    mean = net.add("GlobalAveragePool", [x], (n, c, 1, 1))
    gate = net.add("Conv", [mean, net.weights(c, c, 1, 1), net.weights(c)], (n, c, 1, 1))
    gate = net.add("HardSigmoid", [gate], (n, c, 1, 1))
    net.add("Mul", [x, gate], net.values[x])


def batch_norm(net):
    x = net.pick(rank4)
    if not x:
        return
    c = net.values[x][1]
    positive = net.constant(net.numbers.uniform(0.5, 2, c).astype(np.float32))
    net.add("BatchNormalization", [x, net.weights(c), net.weights(c), net.weights(c), positive], net.values[x])


def prelu(net):
    x = net.pick(rank4)
    if x:
        net.add("PRelu", [x, net.weights(net.values[x][1], 1, 1)], net.values[x])


def pool(net):
    x = net.pick(lambda s: rank4(s) and min(s[2:]) >= 3)
    if not x:
        return
    n, c, h, w = net.values[x]
    k, stride, pad, ceil = net.rng.choice([2, 3]), net.rng.choice([1, 2]), net.rng.choice([0, 0, 1]), net.rng.choice([0, 0, 1])
    size = lambda d: (d + 2 * pad - k + (stride - 1 if ceil else 0)) // stride + 1
    oh, ow = size(h), size(w)
    oh -= ceil and (oh - 1) * stride >= h + pad
    ow -= ceil and (ow - 1) * stride >= w + pad
    op = net.rng.choice(["MaxPool", "AveragePool"])
    extra = {"count_include_pad": net.rng.choice([0, 1])} if op == "AveragePool" else {}
    net.add(op, [x], (n, c, int(oh), int(ow)), kernel_shape=[k, k], strides=[stride] * 2, pads=[pad] * 4, ceil_mode=ceil, **extra)


def concat(net):
    a = net.pick()
    shape = net.values[a]
    if not shape:
        return
    axis = net.rng.choice([1, 1, net.rng.randrange(len(shape))]) if len(shape) > 1 else 0
    fits = lambda s: len(s) == len(shape) and all(p == q for i, (p, q) in enumerate(zip(s, shape)) if i != axis)
    parts = [a] + [net.pick(fits) for _ in range(net.rng.choice([1, 1, 2]))]
    if net.rng.random() < 0.2:
        pad = [2 if i == axis else d for i, d in enumerate(shape)]
        parts.append(net.constant(np.zeros(pad, np.float32)))
        total = sum(net.values[p][axis] for p in parts[:-1]) + 2
    else:
        total = sum(net.values[p][axis] for p in parts)
    net.rng.shuffle(parts)
    net.add("Concat", parts, [total if i == axis else d for i, d in enumerate(shape)], axis=axis)


def slice_(net):
    x = net.pick(lambda s: len(s) > 0)
    shape = list(net.values[x])
    axis = net.rng.randrange(len(shape))
    d = shape[axis]
    if d < 2:
        return
    start, step = net.rng.randrange(0, d - 1), net.rng.choice([1, 1, 2, -1])
    end = net.rng.randrange(start + 1, d + 1)
    if step < 0:
        start, end = d - 1, net.rng.randrange(0, d - 1)
    shape[axis] = len(range(start, end, step))
    ints = [net.constant(np.array([v], np.int64)) for v in (start, end, axis, step)]
    net.add("Slice", [x] + ints, shape)


def split(net):
    x = net.pick(lambda s: rank4(s) and s[1] % 2 == 0)
    if not x:
        return
    n, c, h, w = net.values[x]
    names = [f"v{len(net.nodes)}_s{i}" for i in range(2)]
    net.nodes.append(helper.make_node("Split", [x], names, axis=1, num_outputs=2))
    for name in names:
        net.values[name] = (n, c // 2, h, w)


def transpose(net):
    x = net.pick(lambda s: len(s) > 1)
    if not x:
        return
    order = list(range(len(net.values[x])))
    net.rng.shuffle(order)
    if net.rng.random() < 0.5 and rank4(net.values[x]):
        order = net.rng.choice([[0, 2, 3, 1], [0, 3, 1, 2]])
    net.add("Transpose", [x], [net.values[x][i] for i in order], perm=order)


def reshape(net):
    x = net.pick()
    shape = list(net.values[x])
    if len(shape) > 1 and net.rng.random() < 0.6:
        i = net.rng.randrange(len(shape) - 1)
        new = shape[:i] + [shape[i] * shape[i + 1]] + shape[i + 2:]
    else:
        new = []
        for d in shape:
            f = net.rng.choice([q for q in range(1, d + 1) if d % q == 0])
            new += [f, d // f] if len(new) < 4 and net.rng.random() < 0.4 else [d]
    if len(new) > 5:
        return
    net.add("Reshape", [x, net.constant(np.array(new, np.int64))], new)


def channel_shuffle(net):
    x = net.pick(lambda s: rank4(s) and s[1] % 2 == 0)
    if not x:
        return
    n, c, h, w = net.values[x]
    y = net.add("Reshape", [x, net.constant(np.array([n, 2, c // 2, h, w], np.int64))], (n, 2, c // 2, h, w))
    y = net.add("Transpose", [y], (n, c // 2, 2, h, w), perm=[0, 2, 1, 3, 4])
    net.add("Reshape", [y, net.constant(np.array([n, c, h, w], np.int64))], (n, c, h, w))


def depth_to_space(net):
    x = net.pick(lambda s: rank4(s) and s[1] % 4 == 0)
    if x:
        n, c, h, w = net.values[x]
        net.add("DepthToSpace", [x], (n, c // 4, 2 * h, 2 * w), blocksize=2, mode=net.rng.choice(["DCR", "CRD"]))


def resize(net):
    x = net.pick(lambda s: rank4(s) and max(s[2:]) < 24)
    if not x:
        return
    n, c, h, w = net.values[x]
    mode = net.rng.choice(["nearest", "linear", "cubic"])
    size = (n, c, net.rng.choice([h, 2 * h, h + 3]), net.rng.choice([2 * w, w + 1, max(1, w - 1)]))
    place = net.rng.choice(["half_pixel", "asymmetric", "align_corners"])
    net.add("Resize", [x, "", "", net.constant(np.array(size, np.int64))], size, mode=mode, coordinate_transformation_mode=place, nearest_mode="floor")


def pad(net):
    x = net.pick(lambda s: rank4(s) and min(s[2:]) > 2)
    if not x:
        return
    mode = net.rng.choice(["constant", "constant", "reflect", "edge"])
    axes = range(4) if mode == "constant" and net.rng.random() < 0.3 else (2, 3)
    before, after = [[net.rng.randrange(0, 3) if a in axes else 0 for a in range(4)] for _ in range(2)]
    inputs = [x, net.constant(np.array(before + after, np.int64))]
    if mode == "constant" and net.rng.random() < 0.4:
        inputs.append(net.constant(np.float32(0.5)))
    net.add("Pad", inputs, [d + b + a for d, b, a in zip(net.values[x], before, after)], mode=mode)


def softmax(net):
    x = net.pick(lambda s: len(s) > 0)
    net.add("Softmax", [x], net.values[x], axis=net.rng.randrange(len(net.values[x])))


def reduce(net):
    x = net.pick(lambda s: len(s) > 1)
    if not x:
        return
    shape = net.values[x]
    axes = sorted(net.rng.sample(range(len(shape)), net.rng.randrange(1, len(shape))))
    keep = net.rng.choice([0, 1])
    result = [1 if i in axes else d for i, d in enumerate(shape) if keep or i not in axes]
    op = net.rng.choice(["ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin"])
    net.add(op, [x, net.constant(np.array(axes, np.int64))], result, keepdims=keep)


def dense(net):
    x = net.pick(lambda s: len(s) >= 2 and s[-1] <= 4096)
    if not x:
        return
    k, n = net.values[x][-1], net.rng.choice([1, 5, 8, 16, 17, 40])
    net.add("MatMul", [x, net.weights(k, n)], (*net.values[x][:-1], n))


def flatten_dense(net):
    x = net.pick(lambda s: rank4(s) and np.prod(s[1:]) <= 4096)
    if not x:
        return
    k, n = int(np.prod(net.values[x][1:])), net.rng.choice([3, 10, 24])
    flat = net.add("Flatten", [x], (net.values[x][0], k))
    net.add("Gemm", [flat, net.weights(n, k), net.weights(n)], (net.values[x][0], n), transB=1)


def attention(net):
    x = net.pick(lambda s: len(s) >= 2 and max(s) <= 64)
    if not x:
        return
    *lead, m, k = net.values[x]
    order = list(range(len(lead))) + [len(lead) + 1, len(lead)]
    transposed = net.add("Transpose", [x], (*lead, k, m), perm=order)
    net.add("MatMul", [x, transposed], (*lead, m, m))


def conv_transpose(net):
    x = net.pick(lambda s: rank4(s) and max(s[2:]) < 20)
    if not x:
        return
    n, c, h, w = net.values[x]
    k, stride, dilation = net.rng.choice([1, 2, 3, 4, 5]), net.rng.choice([1, 2, 2, 3, 5]), net.rng.choice([1, 1, 2])
    extent = (k - 1) * dilation + 1
    pad, extra = net.rng.randrange(0, min(extent, 3)), net.rng.randrange(0, max(1, min(stride, dilation)))
    groups = net.rng.choice([1, 1, c] + [g for g in (2, 3) if c % g == 0])
    out = net.rng.choice([1, 4, 7, 16])
    size = [(d - 1) * stride + extra + extent - 2 * pad for d in (h, w)]
    if min(size) < stride:
        return
    inputs = [x, net.weights(c, out, k, k)] + ([net.weights(out * groups)] if net.rng.random() < 0.6 else [])
    net.add("ConvTranspose", inputs, (n, out * groups, *size), kernel_shape=[k, k], strides=[stride] * 2, dilations=[dilation] * 2,
            pads=[pad] * 4, output_padding=[extra] * 2, group=groups)


def layer_norm(net):
    x = net.pick(lambda s: len(s) > 1 and s[-1] > 2)
    if x:
        axis = net.rng.choice([-1, -1, -2])
        shape = net.values[x][axis:]
        net.add("LayerNormalization", [x, net.weights(*shape), net.weights(*shape)], net.values[x], axis=axis, epsilon=1e-2)


def instance_norm(net):
    x = net.pick(lambda s: rank4(s) and s[2] * s[3] > 8)
    if x:
        c = net.values[x][1]
        net.add("InstanceNormalization", [x, net.weights(c), net.weights(c)], net.values[x], epsilon=1e-2)


def local_norm(net):
    x = net.pick(rank4)
    if x:
        net.add("LRN", [x], net.values[x], size=net.rng.choice([1, 3, 5]), alpha=0.1)


def gather(net):
    x = net.pick(lambda s: len(s) > 0)
    shape = net.values[x]
    axis = net.rng.randrange(len(shape))
    indices = net.numbers.integers(-shape[axis], shape[axis], net.rng.choice([(3,), (2, 2), (1,)])).astype(np.int64)
    if len(shape) + indices.ndim - 1 <= 5:
        net.add("Gather", [x, net.constant(indices)], (*shape[:axis], *indices.shape, *shape[axis + 1:]), axis=axis)


def tile(net):
    x = net.pick(lambda s: np.prod(s) < 2000)
    if x:
        repeats = [net.rng.choice([1, 1, 2, 3]) for _ in net.values[x]]
        net.add("Tile", [x, net.constant(np.array(repeats, np.int64))], [d * r for d, r in zip(net.values[x], repeats)])


def where(net):
    """Continuous where the condition changes, so that rounding cannot show."""
    x = net.pick()
    condition = net.add("Greater", [x, net.constant(np.float32(0))], net.values[x])
    if net.rng.random() < 0.5:
        condition = net.add("Not", [net.add("Not", [condition], net.values[x])], net.values[x])
    small = net.add("Mul", [x, net.constant(np.float32(0.25))], net.values[x])
    net.add("Where", [condition, x, small], net.values[x])
    for node in net.nodes:  # conditions are no numbers: nothing else may pick them
        if node.op_type in ("Greater", "Not"):
            net.values.pop(node.output[0], None)


def top_k(net):
    x = net.pick(lambda s: len(s) > 0)
    shape = list(net.values[x])
    axis = net.rng.randrange(len(shape))
    shape[axis] = net.rng.randrange(1, shape[axis] + 1)
    name = f"v{len(net.nodes)}_TopK"
    net.nodes.append(helper.make_node("TopK", [x, net.constant(np.array([shape[axis]], np.int64))], [name, name + "_at"], axis=axis, largest=net.rng.choice([0, 1])))
    net.values[name] = tuple(shape)


STEPS = [conv] * 6 + [activation, activation, clip, swish, same_shape_sum, same_shape_sum, same_shape_sum, broadcast, squeeze_excite, batch_norm,
                      prelu, pool, concat, concat, concat, slice_, split, transpose, reshape, channel_shuffle, depth_to_space, resize, pad,
                      softmax, reduce, dense, flatten_dense, attention, conv_transpose, conv_transpose, layer_norm, instance_norm, local_norm,
                      gather, tile, where, top_k]


def compose(net):
    net.opset = net.choice([o for o in OPSETS if o >= 18])
    network = Network(net)
    shape = (net.choice([1, 1, 2]), net.choice([1, 3, 4, 8, 12]), net.rng.randrange(3, 15), net.rng.randrange(3, 15))
    network.values[net.input(shape, values=lambda: net.floats(shape))] = shape
    for _ in range(net.rng.randrange(3, 22)):
        net.choice(STEPS)(network)
        if max(np.prod(s) for s in network.values.values()) > 100000:
            break
    used = {i for n in net.nodes for i in n.input}
    for name in network.values:
        if name not in net.feeds and (name not in used or net.chance(0.1)):
            net.types.setdefault(name, np.dtype(np.float32))
            net.output(name)
    if not net.outputs:
        raise Unfit("no output")


FAMILIES = {"networks": (5, compose)}
