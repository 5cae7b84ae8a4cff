# SPDX-License-Identifier: MIT
"""Sequences of tensors whose lengths are known, tensors without elements, and graphs in double precision."""
import numpy as np
from onnx import TensorProto, helper

from net import F, I, Unfit


def position(net, length):
    return net.constant(np.array(net.rng.randrange(-length, length), I))


def begin(net):
    """(name, shapes of its elements) of a sequence."""
    shape = [net.choice([1, 2, 3, 6]), net.choice([2, 4, 5])]
    x = net.input(shape)
    roll = net.rng.random()
    if roll < 0.35:
        parts = [net.add(net.choice(["Relu", "Neg", "Identity"]), [x], shape=shape) for _ in range(net.choice([1, 2, 3]))]
        return net.add("SequenceConstruct", parts, shape=()), [shape] * len(parts)
    axis = net.choice([0, 1])
    if roll < 0.55:
        keep = net.choice([0, 1])
        rest = [d for i, d in enumerate(shape) if i != axis] if keep == 0 else [1 if i == axis else d for i, d in enumerate(shape)]
        return net.add("SplitToSequence", [x], shape=(), axis=axis, keepdims=keep), [rest] * shape[axis]
    if roll < 0.8:
        each = net.rng.randrange(1, shape[axis] + 1)
        lengths = [min(each, shape[axis] - i) for i in range(0, shape[axis], each)]
        s = net.add("SplitToSequence", [x, net.constant(np.array(each, I))], shape=(), axis=axis)
    else:
        cut = net.rng.randrange(1, shape[axis]) if shape[axis] > 1 else 1
        lengths = [cut, shape[axis] - cut] if shape[axis] > 1 else [1]
        s = net.add("SplitToSequence", [x, net.ints(*lengths)], shape=(), axis=axis)
    return s, [[length if i == axis else d for i, d in enumerate(shape)] for length in lengths]


def mapped(net, s):
    """Each element times 2, plus a tensor."""
    y = net.input([1])
    info = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
    nodes = [helper.make_node("Add", ["e", "e"], ["twice"]), helper.make_node("Add", ["twice", "t"], ["r"])]
    body = helper.make_graph(nodes, "body", [info("e"), info("t")], [info("r")])
    return net.add("SequenceMap", [s, y], shape=(), body=body)


def sequence(net):
    net.opset = max(net.opset, 17)
    s, shapes = begin(net)
    for _ in range(net.choice([0, 1, 2])):
        kind = net.choice(["insert", "erase", "map"])
        if kind == "insert":
            shape = net.choice(shapes)
            at = net.rng.randrange(-len(shapes), len(shapes) + 1)
            place = [net.constant(np.array(at, I))] * net.chance(0.7)
            s = net.add("SequenceInsert", [s, net.input(shape), *place], shape=())
            shapes = list(shapes)
            shapes.insert((at + len(shapes) if at < 0 else at) if place else len(shapes), shape)
        elif kind == "erase" and len(shapes) > 1:
            at = net.rng.randrange(-len(shapes), len(shapes))
            place = [net.constant(np.array(at, I))] * net.chance(0.7)
            s = net.add("SequenceErase", [s, *place], shape=())
            shapes = [e for i, e in enumerate(shapes) if i != (at % len(shapes) if place else len(shapes) - 1)]
        else:
            s = mapped(net, s)
    net.output(net.add("SequenceAt", [s, position(net, len(shapes))]))
    if net.chance(0.5):
        net.output(net.add("SequenceLength", [s], dtype=I))
    if all(e == shapes[0] for e in shapes):
        new = net.choice([0, 1])
        net.output(net.add("ConcatFromSequence", [s], axis=net.rng.randrange(len(shapes[0]) + new), new_axis=new))


def empty(net):
    """What is behind an input or a part without elements."""
    net.opset = max(net.opset, 13)
    a, b = net.choice([1, 2, 3]), net.choice([2, 3, 5])
    x = net.input([a, b])
    if net.chance(0.5):
        nothing = net.input([a, 0])
    else:
        nothing = net.add("Slice", [x, net.ints(b), net.ints(b + 2), net.ints(1)], shape=[a, 0])
    kind = net.choice(["concat", "pad", "product", "sum", "split", "where"])
    if kind == "concat":
        y = net.add("Concat", [net.add("Neg", [nothing]), x], axis=1)
    elif kind == "pad":
        y = net.add("Add", [net.add("Pad", [nothing, net.ints(0, 1, 0, b - 1)]), x])
    elif kind == "product":
        y = net.add("Add", [net.add("MatMul", [nothing, net.constant(np.zeros((0, b), F))]), x])
    elif kind == "sum":
        y = net.add("Add", [net.add("ReduceSum", [nothing, net.ints(1)], keepdims=1), x])
    elif kind == "split":
        first, second = net.add("Split", [x, net.ints(*net.choice([[0, b], [b, 0]]))], 2, axis=1)
        y = net.add("Concat", [first, net.add("Neg", [second])], axis=1)
    else:
        y = net.add("Concat", [net.add("Where", [net.add("Equal", [nothing, nothing], dtype=bool), nothing, net.constant(F(1))]), net.add("Abs", [x])], axis=1)
    net.output(y)


def double(net):
    """Everything in double precision, of moderate size."""
    net.opset = max(net.opset, 13)
    shape = net.dims(1, 3)
    if 0 in shape:
        raise Unfit("no elements")
    x = net.input(shape, np.float64, lambda: net.numbers.integers(-8, 9, shape) / 4)
    y = net.add(net.choice(["Abs", "Neg", "Identity"]), [x], shape=shape, dtype=np.float64)
    y = net.add(net.choice(["Add", "Mul", "Sub"]), [y, net.constant(np.float64(net.choice([0.5, 2.0, -1.25])))], shape=shape, dtype=np.float64)
    if net.chance(0.5):
        return net.output(net.add("Cast", [y], to=1))
    net.output(net.add("ReduceSum", [y, net.ints(-1)], dtype=np.float64, keepdims=1), np.float64)


FAMILIES = {"sequence": (1, sequence), "empty": (0.7, empty), "double": (0.5, double)}
