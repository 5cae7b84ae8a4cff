# SPDX-License-Identifier: MIT
"""If, Loop and Scan: bodies of small random networks, conditions that are constant and that are data."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

import elementwise
import neighbours
from net import F, I, Net, Unfit


def info(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


def inner(net, prefix):
    """A net for a body: its own constants, the opset and names of a prefix."""
    body = Net(net.rng.randrange(1 << 60), net.opset, net.runs)
    original = body.add
    body.prefix = prefix
    def add(op, inputs, outputs=1, **rest):
        count = outputs if isinstance(outputs, int) else len(outputs)
        names = [f"{prefix}v{len(body.nodes)}_{i}" for i in range(count)] if isinstance(outputs, int) else outputs
        result = original(op, inputs, names, **rest)
        body.nodes[-1].name = ""
        return result
    body.add = add
    constant = body.constant
    body.constant = lambda array, name=None: constant(array, name or f"{prefix}c{len(body.constants)}_{len(body.nodes)}")
    body.input = lambda shape, dtype=F, values=None, name=None: body.constant(body.floats(shape) if dtype == F else body.integers(shape, dtype=dtype))
    return body


def steps(body, x, shape, count):
    """Nodes that keep the shape."""
    for _ in range(count):
        roll = body.rng.random()
        if roll < 0.4:
            y = elementwise.activation(body, x, {"Relu", "Tanh", "Sigmoid", "Neg", "Abs", "HardSigmoid", "Identity", "Softplus"})
        elif roll < 0.7:
            op = body.choice(["Add", "Sub", "Mul"])
            y = body.add(op, [x, body.constant(body.floats(elementwise.broadcastable(body, shape), 0.5))])
        elif roll < 0.85 and len(shape) == 2:
            y = body.add("MatMul", [x, body.constant(body.floats([shape[1], shape[1]], 0.3))])
        elif len(shape) == 4:
            y = body.add("Conv", [x, body.constant(body.floats([shape[1], shape[1], 1, 1], 0.3))])
        else:
            y = body.add("Transpose", [body.add("Transpose", [x], perm=list(range(len(shape)))[::-1])], perm=list(range(len(shape)))[::-1])
        body.shapes[y] = tuple(shape)
        x = y
    return x


def graph_of(body, name, inputs, outputs):
    tensors = [numpy_helper.from_array(np.asarray(a, order="C"), n) for n, a in body.constants.items()]
    return helper.make_graph(body.nodes, name, inputs, outputs, tensors)


def branches(net):
    shape = net.choice([[2, 3], [1, 4, 3, 3], [5]])
    x = net.input(shape)
    y = neighbours.squash(net, x) if net.chance(0.5) else x
    kind = net.rng.random()
    if kind < 0.4:
        condition = net.constant(np.array(net.chance(0.5)))
    elif kind < 0.7:
        condition = net.input([], bool)
    else:
        total = net.reduce("ReduceSum", x, list(range(len(shape))), 0)
        condition = net.add("Greater", [total, net.constant(F(0.1))], dtype=bool)
    made = []
    count = net.choice([1, 1, 2])
    for side in ("then", "else"):
        body = inner(net, side + "_")
        values = [steps(body, y, shape, net.rng.randrange(1, 4)) for _ in range(count)]
        made.append(graph_of(body, side, [], [info(v, TensorProto.FLOAT, None) for v in values]))
    outputs = net.add("If", [condition], count, then_branch=made[0], else_branch=made[1])
    for name in [outputs] if count == 1 else outputs:
        net.shapes[name] = tuple(shape)
        net.output(neighbours.behind(net, name, 1))


def loop(net):
    shape = net.choice([[2, 3], [1, 4], [3]])
    x, outside = net.input(shape), net.input(shape)
    trips = net.rng.randrange(0, 6)
    body = inner(net, "body_")
    body.shapes["s"] = tuple(shape)
    value = steps(body, "s", shape, net.rng.randrange(1, 3))
    if net.chance(0.6):
        value = body.add("Add", [value, outside])
    if net.chance(0.4):
        value = body.add("Add", [value, body.add("Cast", ["i"], to=1)])
    scans = []
    if net.chance(0.6):
        scans.append(body.add("Identity", [value]) if net.chance(0.5) else body.add("Tanh", [value]))
    final = body.add("Identity", [value])
    if net.chance(0.3):
        go_on = body.add("Less", ["i", body.constant(np.array(net.rng.randrange(0, 5), I))], dtype=bool) if net.opset >= 9 else body.add("Identity", ["go"])
    else:
        go_on = body.add("Identity", ["go"])
    inputs = [info("i", TensorProto.INT64, []), info("go", TensorProto.BOOL, []), info("s", TensorProto.FLOAT, shape)]
    outputs = [info(go_on, TensorProto.BOOL, []), info(final, TensorProto.FLOAT, shape)] + [info(v, TensorProto.FLOAT, shape) for v in scans]
    condition = net.choice(["", net.constant(np.array(True))])
    names = [f"loop{k}" for k in range(1 + len(scans))]
    net.add("Loop", [net.constant(np.array(trips, I)), condition, x], names, body=graph_of(body, "body", inputs, outputs))
    net.output(names[0])
    for name in names[1:]:
        if trips == 0:
            raise Unfit("no iteration, nothing to stack")
        net.output(name)


def scan(net):
    if net.opset < 9:
        return loop(net)
    t, width = net.rng.randrange(1, 6), net.choice([1, 3, 4])
    axis = net.choice([0, 0, 1])
    x = net.input([t, width] if axis == 0 else [width, t])
    start = net.value([width])
    body = inner(net, "body_")
    body.shapes.update({"s": (width,), "e": (width,)})
    value = body.add("Add", [steps(body, "s", [width], net.rng.randrange(0, 2)), "e"])
    value = steps(body, value, [width], net.rng.randrange(0, 2))
    after = body.add("Identity", [value])
    seen = body.add(net.choice(["Tanh", "Neg", "Identity"]), [value])
    inputs = [info("s", TensorProto.FLOAT, [width]), info("e", TensorProto.FLOAT, [width])]
    outputs = [info(after, TensorProto.FLOAT, [width]), info(seen, TensorProto.FLOAT, [width])]
    extra = {"scan_input_axes": [axis] if axis or net.chance(0.3) else None, "scan_input_directions": net.choice([None, [0], [1]]),
             "scan_output_directions": net.choice([None, [0], [1]]), "scan_output_axes": net.choice([None, [0], [1]])}
    names = net.add("Scan", [start, x], ["scan0", "scan1"], num_scan_inputs=1, body=graph_of(body, "body", inputs, outputs), **extra)
    for name in names:
        net.output(name)


def function(net):
    """A function of the model, called twice."""
    if net.opset < 15:
        return branches(net)
    shape = [2, 4]
    nodes = [helper.make_node("Mul", ["a", "b"], ["m"]), helper.make_node("Tanh", ["m"], ["t"]), helper.make_node(net.choice(["Add", "Sub"]), ["t", "a"], ["r"])]
    net.functions.append(helper.make_function("own", "twice", ["a", "b"], ["r"], nodes, [helper.make_opsetid("", net.opset)]))
    x = net.input(shape)
    y = net.add("twice", [x, net.constant(net.floats([4]))], domain="own", shape=shape)
    y = net.add("twice", [y, net.constant(net.floats([1]))], domain="own", shape=shape)
    net.output(neighbours.behind(net, y, 1))


FAMILIES = {"branches": (1, branches), "loop": (1, loop), "scan": (1, scan), "function": (0.4, function)}
