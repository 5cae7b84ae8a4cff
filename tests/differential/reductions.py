# SPDX-License-Identifier: MIT
"""Operators along axes: reductions, arguments of the largest, running sums, softmax, the largest k."""
import neighbours
from elementwise import activation
from net import I, Unfit
import numpy as np

REDUCTIONS = ["ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSumSquare", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp"]


def axes_of(net, rank):
    axes = net.rng.sample(range(rank), net.rng.randrange(1, rank + 1)) if rank else []
    if net.chance(0.7):
        axes.sort()
    return [a - rank if net.chance(0.3) else a for a in axes]


def reduction(net):
    net.special = net.chance(0.25)
    op = net.choice(REDUCTIONS)
    shape = net.dims(0 if net.opset >= 11 else 1)
    if net.chance(0.3):
        shape = [net.choice([1, 2]), net.choice([1, 3, 16]), net.choice([5, 12, 20]), net.choice([7, 20, 33])]
    kind = "positive" if op == "ReduceLogSum" or op == "ReduceProd" and net.chance(0.5) else None
    x = net.input(shape, values=lambda: net.sample(shape, kind))
    if net.chance(0.2):
        x = activation(net, x)
    axes = axes_of(net, len(shape)) if net.chance(0.85) else None
    if axes is not None and net.opset < 11:
        axes = sorted(a % len(shape) for a in axes)
    extra = {"noop_with_empty_axes": net.choice([0, 1])} if net.opset >= (13 if op == "ReduceSum" else 18) and net.chance(0.2) else {}
    y = net.reduce(op, x, axes, net.choice([None, 0, 1, 1]), **extra)
    if net.chance(0.3):
        y = neighbours.behind(net, y, 2)
    net.output(y)


def integer_reduction(net):
    op = net.choice(["ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceMean", "ReduceSumSquare", "ReduceL1"])
    dtype = net.choice([I, np.int32])
    shape = net.dims(1)
    net.output(net.reduce(op, net.input(shape, dtype), axes_of(net, len(shape)) if net.opset >= 11 else [0], net.choice([0, 1]), dtype=dtype))


def variance(net):
    """Means, and moments about them: what cancels."""
    shape = [net.choice([1, 2]), net.choice([2, 3, 8, 17]), net.rng.randrange(2, 12), net.rng.randrange(2, 12)]
    x = net.input(shape, values=lambda: net.floats(shape) + np.float32(net.choice([0, 0, 3])))
    axes = net.choice([[2, 3], [1], [3], [2], [1, 2, 3], [0, 2, 3]])
    mean = net.reduce("ReduceMean", x, axes)
    d = net.add("Sub", [x, mean])
    square = net.choice([lambda: net.add("Mul", [d, d]), lambda: net.add("Pow", [d, net.constant(np.float32(2))])])()
    v = net.reduce(net.choice(["ReduceMean", "ReduceSum"]), square, axes, net.choice([0, 1]))
    net.output(v)
    if net.chance(0.4):
        net.output(d)


def arguments(net):
    net.special = net.chance(0.2)
    op = net.choice(["ArgMax", "ArgMin"])
    shape = [max(1, d) for d in net.dims(1)]
    axis = net.rng.randrange(len(shape))
    extra = {"select_last_index": net.choice([None, 0, 1])} if net.opset >= 12 else {}
    dtype = np.float32 if net.chance(0.7) or net.special else np.int32
    values = (lambda: net.sample(shape, net.choice(["normal", "ties", "equal"]))) if dtype is np.float32 and not net.special else None
    if net.opset >= 11 and net.chance(0.3):
        axis -= len(shape)
    net.output(net.add(op, [net.input(shape, dtype, values)], dtype=I, axis=axis, keepdims=net.choice([None, 0, 1]), **extra))


def top(net):
    net.special = net.chance(0.15)
    shape = [max(1, d) for d in net.dims(1)]
    axis = net.rng.randrange(len(shape))
    k = net.rng.randrange(1, shape[axis] + 1)
    dtype = np.float32 if net.opset < 11 or net.chance(0.7) else net.choice([I, np.int32])
    values = (lambda: net.sample(shape, net.choice(["normal", "ties"]))) if dtype is np.float32 and not net.special else None
    x = net.input(shape, dtype, values)
    extra = {"largest": net.choice([None, 0, 1]), "sorted": net.choice([None, 1])} if net.opset >= 11 else {}
    if net.opset >= 10:
        y = net.add("TopK", [x, net.ints(k)], 2, dtype=dtype, axis=axis, **extra)
    else:
        y = net.add("TopK", [x], 2, dtype=dtype, axis=axis, k=k)
    net.types[y[1]] = np.dtype(I)
    for name in y if net.chance(0.7) else y[:1]:
        net.output(name)


def running(net):
    if net.opset < 11:
        return reduction(net)
    dtype = net.choice([np.float32, np.float32, I, np.int32])
    shape = net.dims(1)
    axis = net.rng.randrange(-len(shape), len(shape))
    net.output(net.add("CumSum", [net.input(shape, dtype), net.constant(np.array(axis, net.choice([I, np.int32])))], dtype=dtype,
                       exclusive=net.choice([None, 0, 1]), reverse=net.choice([None, 0, 1])))


def softmax(net):
    net.special = net.chance(0.2)
    op = net.choice(["Softmax", "Softmax", "LogSoftmax", "Hardmax"])
    shape = net.dims(1)
    low = -len(shape) if net.opset >= 11 else 0
    y = net.add(op, [net.input(shape)], axis=net.choice([None, net.rng.randrange(low, len(shape))]))
    if net.chance(0.3):
        y = net.choice([neighbours.arithmetic, neighbours.squash, neighbours.transposed])(net, y)
    net.output(y)


def first_maximum(net):
    shape = net.dims(1)
    x = net.input(shape, values=lambda: net.sample(shape, net.choice(["normal", "ties"])))
    net.output(net.add("Hardmax", [x], axis=net.choice([None, net.rng.randrange(-len(shape), len(shape))]) if len(shape) > 1 else 0))


def pooled_head(net):
    """Mean of an image, numbers per channel, dense: the end of a classifier."""
    c = net.choice([2, 5, 8, 16, 20])
    x = neighbours.before(net, net.input([net.choice([1, 2]), c, net.rng.randrange(1, 9), net.rng.randrange(1, 9)]))
    shape = net.shape(x)
    if len(shape) != 4:
        raise Unfit("the neighbours changed the rank")
    y = net.add("GlobalAveragePool", [x]) if net.chance(0.5) else net.reduce("ReduceMean", x, [2, 3], 1)
    y = neighbours.behind(net, y, 1)
    y = net.add("Flatten", [y], axis=net.choice([None, 1]))
    width = net.shape(y)[1]
    y = net.add("Gemm", [y, net.constant(net.floats([width, 7])), net.constant(net.floats([7]))])
    net.output(neighbours.behind(net, y, 2))


FAMILIES = {"first_maximum": (0.5, first_maximum), "reduction": (4, reduction), "integers": (0.5, integer_reduction), "variance": (1, variance), "arguments": (1, arguments), "top": (1, top),
            "running": (0.7, running), "softmax": (1.5, softmax), "pooled_head": (1, pooled_head)}
