# SPDX-License-Identifier: MIT
"""Operators that compute every element by itself: broadcasting, special numbers, integers, chains."""
import numpy as np

from net import F, I

# Operator: (oldest opset, attributes).
UNARY = {
    "Relu": (7, {}), "Sigmoid": (7, {}), "Tanh": (7, {}), "Exp": (7, {}), "Log": (7, {}), "Sqrt": (7, {}), "Reciprocal": (7, {}), "Neg": (7, {}),
    "Abs": (7, {}), "Floor": (7, {}), "Ceil": (7, {}), "Sin": (7, {}), "Cos": (7, {}), "Tan": (7, {}), "Softplus": (7, {}), "Softsign": (7, {}),
    "Erf": (9, {}), "Sign": (9, {}), "Round": (11, {}), "Identity": (7, {}), "HardSwish": (14, {}), "Mish": (18, {}), "Dropout": (12, {}),
    "Elu": (7, {"alpha": [None, 1.0, 0.3, 2.5]}), "Selu": (7, {"alpha": [None, 1.2], "gamma": [None, 0.7]}), "Celu": (12, {"alpha": [None, 0.5, 2.0]}),
    "LeakyRelu": (7, {"alpha": [None, 0.1, 0.0, 1.0, 1.7, -0.5]}), "ThresholdedRelu": (10, {"alpha": [None, 0.0, 0.4, -0.5]}),
    "HardSigmoid": (7, {"alpha": [None, 1 / 6, 0.5, -0.3], "beta": [None, 0.5, 0.0, 1.5]}), "Shrink": (9, {"lambd": [None, 0.3], "bias": [None, 0.2]}),
    "Asin": (7, {}), "Acos": (7, {}), "Atan": (7, {}), "Sinh": (9, {}), "Cosh": (9, {}), "Asinh": (9, {}), "Acosh": (9, {}), "Atanh": (9, {}),
    "Gelu": (20, {"approximate": [None, "none", "tanh"]}), "Swish": (24, {"alpha": [None, 1.0, 0.5, 2.0]}),
}
BINARY = ["Add", "Sub", "Mul", "Div"]
COMPARE = {"Equal": 7, "Greater": 7, "Less": 7, "GreaterOrEqual": 12, "LessOrEqual": 12}


def broadcastable(net, shape):
    """A shape that broadcasts to `shape`."""
    shape = [d if net.chance(0.6) else 1 for d in shape]
    return shape[net.rng.randrange(0, len(shape) + 1):] if net.chance(0.5) else shape


def pair(net, dtype=F):
    """Two operands whose shapes broadcast."""
    whole = net.dims()
    a, b = (whole, broadcastable(net, whole)) if net.chance(0.7) else (broadcastable(net, whole), broadcastable(net, whole))
    x = net.input(a, dtype)
    if net.chance(0.08):
        return [x, x]
    sides = [x, net.value(b, dtype, 0.5)]
    if net.chance(0.4):
        sides.reverse()
    return sides


def activation(net, x, names=None):
    op = net.choice([n for n, (since, _) in UNARY.items() if since <= net.opset and (names is None or n in names)])
    shape = net.shapes.get(x)
    return net.add(op, [x], shape=shape, **{k: net.choice(v) for k, v in UNARY[op][1].items()})


def unary(net):
    net.special = net.chance(0.5)
    y = net.input(net.dims())
    for _ in range(net.choice([1, 1, 1, 2, 3])):
        y = activation(net, y)
        if net.chance(0.1):
            net.output(y)
    net.output(y)


def clip(net):
    net.special = net.chance(0.5)
    low, high = sorted(net.rng.uniform(-2, 2) for _ in range(2))
    if net.chance(0.2):
        low, high = net.choice([(0.0, 6.0), (0.0, 0.0), (-np.inf, 1.0), (0.0, np.inf), (-1.0, 1.0), (1.0, -1.0)])
    y = net.clip(net.input(net.dims()), net.choice([None, low, low]), net.choice([None, high, high]))
    if net.chance(0.3):
        y = net.clip(y, net.choice([None, low]), net.choice([None, high, 0.1]))
    net.output(y)


def binary(net):
    net.special = net.chance(0.35)
    y = net.add(net.choice(BINARY), pair(net))
    if net.chance(0.4):
        y = activation(net, y)
    if net.chance(0.3):
        y = net.add(net.choice(BINARY), net.rng.sample([y, net.constant(F(net.choice([0.5, 2.0, 3.0, 1.0, 0.0])))], 2))
    net.output(y)


def power(net):
    net.special = net.chance(0.3)
    whole = net.dims()
    exponents = np.array([2.0, 0.5, 3.0, -1.0, 1.0, 0.0, -0.5, 1.7, -2.0, 4.0], F)
    if net.chance(0.6):
        side = net.constant(F(net.choice(list(exponents))))
        net.output(net.add("Pow", [net.input(whole), side]))
    else:
        shape = broadcastable(net, whole)
        side = net.input(shape, values=lambda: net.numbers.choice(exponents, shape))
        net.output(net.add("Pow", [net.input(whole), side]))


def remainder(net):
    """Of floats, with the sign of the dividend: ONNX knows no other."""
    net.special = net.chance(0.3)
    if net.opset < 10:
        return power(net)
    net.output(net.add("Mod", pair(net), fmod=1))


def angle(net):
    """atan2 as exporters of PyTorch write it."""
    if net.opset < 9:
        return unary(net)
    whole = net.dims()
    y, x = net.input(whole), net.input(broadcastable(net, whole), values=None)
    angle = net.add("Atan", [net.add("Div", [y, x])])
    pi, zero = net.constant(F(np.pi)), net.constant(F(0))
    beyond = net.add("Where", [net.add("Greater", [y, zero], dtype=bool), net.add("Add", [angle, pi]), net.add("Sub", [angle, pi])])
    net.output(net.add("Where", [net.add("Less", [x, zero], dtype=bool), beyond, angle]))


def integer_functions(net):
    """Relu, Clip and Pow of integers."""
    dtype = net.choice([I, np.int32])
    op = net.choice(["Relu", "Clip", "Pow"])
    whole = net.dims()
    x = net.input(whole, dtype)
    if op == "Relu" and net.opset >= 14 and dtype == np.int32:  # ONNX Runtime has no other
        return net.output(net.add("Relu", [x], dtype=dtype))
    if op == "Clip" and net.opset >= 12:
        low, high = sorted(int(v) for v in net.integers([2]))
        sides = ["" if net.chance(0.2) else net.constant(np.array(v, dtype)) if net.chance(0.5) else net.input([], dtype, lambda v=v: np.array(v, dtype)) for v in (low, high)]
        return net.output(net.add("Clip", [x] + sides, dtype=dtype))
    if net.opset < 12:
        return integers(net)
    shape = broadcastable(net, whole)
    exponents = lambda: net.numbers.integers(0, 5, shape)
    kind = net.choice([I, np.int32])
    side = net.input(shape, kind, exponents) if net.chance(0.6) else net.constant(np.asarray(exponents(), net.choice([kind, F])))
    net.output(net.add("Pow", [x, side], dtype=dtype))


def variadic(net):
    net.special = net.chance(0.3)
    op = net.choice(["Sum", "Mean", "Max", "Min"])
    dtype = F if op in ("Sum", "Mean") or net.opset < 12 or net.chance(0.6) else net.choice([I, np.int32])
    whole = net.dims()
    net.output(net.add(op, [net.value(broadcastable(net, whole), dtype, 0.7) for _ in range(net.rng.randrange(0, 4))] + [net.input(whole, dtype)], dtype=dtype))


def prelu(net):
    net.special = net.chance(0.3)
    whole = net.dims(1)
    slope = broadcastable(net, whole)
    net.output(net.add("PRelu", [net.input(whole), net.value(slope, data=0.3)]))


def compare(net):
    net.special = net.chance(0.4)
    op = net.choice([n for n, since in COMPARE.items() if since <= net.opset])
    dtype = net.choice([F, F, I, np.int32]) if net.opset >= 9 else (net.choice([I, np.int32]) if op == "Equal" else F)
    if op == "Equal" and net.opset < 11:
        dtype = net.choice([I, np.int32])
    sides = pair(net, dtype)
    condition = net.add(op, sides, dtype=bool)
    if net.chance(0.3):
        condition = net.add("Not", [condition], dtype=bool)
    if net.opset >= 9 and net.chance(0.6):
        shape = net.shape(condition)
        net.output(net.add("Where", [condition, net.value(broadcastable(net, shape)), net.value(broadcastable(net, shape))]))
    else:
        net.output(condition)


def logic(net):
    op = net.choice(["And", "Or", "Xor"])
    y = net.add(op, pair(net, bool), dtype=bool)
    if net.chance(0.4):
        y = net.add(net.choice(["Not"]), [y], dtype=bool)
    net.output(y)
    if net.chance(0.3):
        net.output(net.add("Cast", [y], to=1))


def integers(net):
    dtype = net.choice([I, np.int32])
    op = net.choice(BINARY + (["Mod"] if net.opset >= 10 else []) + (["BitwiseAnd", "BitwiseOr", "BitwiseXor"] if net.opset >= 18 else []))
    whole = net.dims()
    divides = op in ("Div", "Mod")
    wide = net.chance(0.2)
    def sample(shape, nonzero):
        a = net.integers(shape, dtype=dtype)
        if wide:
            limit = np.iinfo(dtype)
            a = np.where(net.numbers.random(shape) < 0.4, net.numbers.integers(limit.min + 1, limit.max, shape), a).astype(dtype)
        return np.where(a == 0, 1, a).astype(dtype) if nonzero else a
    shape = broadcastable(net, whole)
    x = net.input(whole, dtype, lambda: sample(whole, False))
    b = net.input(shape, dtype, lambda: sample(shape, divides)) if net.chance(0.5) else net.constant(sample(shape, divides))
    sides = [x, b] if divides or net.chance(0.6) else [b, x]
    fmod = {"fmod": 1} if op == "Mod" and net.chance(0.3) else {}
    y = net.add(op, sides, dtype=dtype, **fmod)
    if net.chance(0.3):
        y = net.add(net.choice(["Neg", "Abs"] + (["Sign"] if net.opset >= 9 else [])), [y], dtype=dtype)
    net.output(y)


def cast(net):
    net.special = net.chance(0.3)
    kinds = {F: 1, I: 7, np.int32: 6, bool: 9}
    source, target = net.choice(list(kinds)), net.choice(list(kinds))
    x = net.input(net.dims(), source, None if source is not F or net.special else None)
    y = net.add("Cast", [x], to=kinds[target], dtype=target)
    net.output(y)
    if net.chance(0.3):
        back = net.choice(list(kinds))
        net.output(net.add("Cast", [y], to=kinds[back], dtype=back))


def tests(net):
    net.special = True
    op = net.choice(["IsNaN"] + (["IsInf"] if net.opset >= 10 else []))
    if net.opset < 9:
        return unary(net)
    attributes = {"detect_positive": net.choice([None, 0, 1]), "detect_negative": net.choice([None, 0, 1])} if op == "IsInf" else {}
    net.output(net.add(op, [net.input(net.dims())], dtype=bool, **attributes))


def where(net):
    if net.opset < 9:
        return binary(net)
    net.special = net.chance(0.3)
    whole = net.dims()
    dtype = net.choice([F, F, I, np.int32])
    net.output(net.add("Where", [net.value(broadcastable(net, whole), bool, 0.8) if net.chance(0.9) else net.constant(net.numbers.random(whole) < 0.5),
                                 net.value(broadcastable(net, whole), dtype, 0.6), net.input(whole, dtype)], dtype=dtype))


FAMILIES = {"unary": (3, unary), "clip": (1, clip), "binary": (4, binary), "power": (1, power), "remainder": (0.5, remainder), "angle": (0.4, angle), "integer_functions": (0.7, integer_functions), "variadic": (1.5, variadic), "prelu": (1, prelu),
            "compare": (1, compare), "logic": (0.5, logic), "integers": (1, integers), "cast": (1, cast), "tests": (0.4, tests), "where": (1, where)}
