# SPDX-License-Identifier: MIT
"""Random operators of TensorFlow Lite that work element by element: `RULES`, by the names of the operators that they sample."""
import numpy as np

from tflite_graph import B, F, I, L, Rejected, fit

ACTIVATIONS = (0, 0, 0, 1, 2, 3)  # none, RELU, RELU_N1_TO_1, RELU6
TABLES = {"ADD": "AddOptions", "SUB": "SubOptions", "MUL": "MulOptions", "DIV": "DivOptions"}


def exact_function(g, op):
    """Results without rounding."""
    x = g.pick(low=-8, high=8)
    g.do(op, [x], [F], exact=True)


def smooth_function(g, op):
    x = g.pick(where=lambda t: not t.value.size or np.max(np.abs(t.value)) < 30)
    g.do(op, [x], [F])


def function_of_positive(g, op):
    if g.some(0.15):  # not a number, at times
        x = g.pick()
    elif g.some(0.5):
        x = g.fresh(g.shape(), F, 0.25, 9)
    else:
        x = g.do("ABS", [g.pick(where=lambda t: np.min(np.abs(t.value), initial=1) > 1e-3 or t.exact)], [F], exact=True)
    g.do(op, [x], [F])


def jump(g, op):
    x = g.pick_exact(low=-9, high=9)
    g.do(op, [x], [F], exact=True)


def of_integers(g, op):
    dtype = g.choose.choice({"NEG": [I, L], "ABS": [I], "SQUARE": [I], "SIGN": [I]}[op])
    g.do(op, [g.pick(dtype, low=-99, high=99)], [dtype])


def negation(g, op):
    of_integers(g, op) if g.some(0.3) else exact_function(g, op)


def square(g, op):
    of_integers(g, op) if g.some(0.15) else g.do(op, [g.pick()], [F], exact=True)


def leaky_relu(g, op):
    g.do(op, [g.pick()], [F], ("LeakyReluOptions", {"alpha": g.choose.choice([0.25, 0.5, 0.1, -0.5, 0.0, 1.5])}))


def prelu(g, op):
    x = g.pick(rank=[2, 3, 4, 4])
    slope = [1] * (x.rank - 2) + [x.shape[-1]] if g.some(0.7) else g.broadcast(x.shape, 0)
    g.do(op, [x, g.fresh(slope, F, -1, 1, 0.9)], [F])


def gelu(g, op):
    # Further down, results are below the precision that docs/reference/conventions.md gives this function.
    x = g.pick(low=-2, where=lambda t: np.min(t.value, initial=0) >= -2)
    g.do(op, [x], [F], ("GeluOptions", {"approximate": g.some(0.5)}))


def divisor(g, x):
    """Numbers away from zero."""
    shape = g.broadcast(x.shape)
    value = g.sample(shape, x.dtype, 1 if x.dtype != F else 0.5, 5) * g.numbers.choice([-1, 1], shape).astype(x.dtype)
    return g.constant(value) if value.size and g.some(0.5) else g.input(value)


def swapped(g, a, b):
    return [b, a] if g.some(0.3) else [a, b]


def arithmetic(g, op):
    dtype = g.choose.choice([F, F, F, F, F, I, L])
    x = g.pick(dtype, low=-9 if dtype != F else -4, high=9 if dtype != F else 4)
    y = divisor(g, x) if op == "DIV" else g.partner(x)
    clamped = g.specials is None and (dtype == F or g.some(0.1))
    activation = g.choose.choice(ACTIVATIONS) if clamped else 0
    operands = [x, y] if op == "DIV" else swapped(g, x, y)
    g.do(op, operands, [dtype], (TABLES[op], {"fusedActivationFunction": activation}), exact=op != "DIV")


def extremes(g, op):
    dtype = g.choose.choice([F, F, F, I, L])
    x = g.pick(dtype, low=-9, high=9)
    g.do(op, swapped(g, x, g.partner(x)), [dtype], exact=True)


def angle(g, op):
    """Of whole quarters, axes and the origin included, or of an ordinate away from zero: along the negative axis the angle jumps by a turn."""
    x = g.pick_exact(low=-4, high=4) if g.some(0.4) else g.pick(low=-4, high=4)
    y = g.pick_exact(low=-4, high=4) if x.exact and g.some(0.5) else None
    if y is None or y.shape != x.shape:
        value = g.sample(x.shape, F, 0.5, 5) * g.numbers.choice([-1, 1], x.shape).astype(F)
        y = g.constant(value) if value.size and g.some(0.3) else g.input(value)
    g.do(op, [y, x], [F])


def squared_difference(g, op):
    dtype = g.choose.choice([F, F, F, I])
    x = g.pick(dtype, low=-9, high=9)
    g.do(op, swapped(g, x, g.partner(x)), [dtype], exact=True)


def power(g, op):
    x = g.fresh(g.shape(), F, 0.25, 4)
    kind = g.choose.random()
    if kind < 0.35:
        x = g.pick()
        y = g.constant(F(g.choose.choice([1, 2, 3, 0, 2])))
    else:
        y = g.partner(x, -3, 3, new=True) if kind < 0.7 else g.constant(F(g.choose.choice([-2, -1, -0.5, 0, 0.5, 1, 2, 3, 1.5])))
    g.do(op, [x, y], [F])


def floored(g, op):
    """Quotients and remainders: of integers by anything but zero, of floats by powers of two."""
    dtype = g.choose.choice([F, I, I, L] if op == "FLOOR_MOD" else [F, I, I])
    if dtype == F:
        x = g.pick_exact(low=-9, high=9)
        shape = g.broadcast(x.shape)
        y = g.constant(g.numbers.choice(np.array([1, 2, -2, 0.5, -0.25, 4], F), shape))
        return g.do(op, [x, y], [F], exact=True)
    x = g.pick(dtype, low=-99, high=99)
    g.do(op, [x, divisor(g, x)], [dtype])


def comparison(g, op):
    if g.some(0.5):
        x = g.pick(g.choose.choice([I, L, B] if op in ("EQUAL", "NOT_EQUAL") else [I, L]), low=-3, high=3)
        return g.do(op, swapped(g, x, g.fresh(g.broadcast(x.shape), x.dtype, -3, 3, 0.5)), [B])
    x = g.pick_exact()
    before, g.quarters = g.quarters, True
    y = g.fresh(g.broadcast(x.shape), F, -2, 2, 0.5)
    g.quarters = before
    g.do(op, swapped(g, x, y), [B])


def logic(g, op):
    x = g.pick(B)
    g.do(op, swapped(g, x, g.partner(x)), [B])


def negated(g, op):
    g.do(op, [g.pick(B)], [B])


def sum_of_all(g, op):
    dtype = g.choose.choice([F, F, F, I])
    x = g.pick(dtype)
    same = [t for t in g.tensors if t.dtype == dtype and t.shape == x.shape and t.kind != "constant" and t.scale is None and g.usable(t)]
    others = [g.choose.choice(same) if same and g.some(0.5) else g.fresh(x.shape, dtype) for _ in range(g.choose.randint(1, 3))]
    g.do(op, [x, *others], [dtype], exact=True)


def selection(g, op):
    dtype = g.choose.choice([F, F, F, I, L, B])
    x = g.pick(dtype)
    if op == "SELECT":
        condition = g.fresh(x.shape if g.some(0.6) or x.rank == 0 else x.shape[:1], B, constants=0.2)
        return g.do(op, [condition, x, g.fresh(x.shape, dtype, constants=0.3)], [dtype], exact=True, shape=x.shape)
    there = [t for t in g.tensors if t.dtype == B and t.kind != "constant" and t.rank <= 4]
    condition = g.choose.choice(there) if there and g.some(0.5) else g.fresh(g.broadcast(x.shape), B, constants=0.2)
    y = g.partner(x)
    if not fit(condition.shape, y.shape) or not fit(x.shape, condition.shape):
        raise Rejected("the condition does not broadcast")
    shape = list(np.broadcast_shapes(condition.shape, x.shape, y.shape))
    g.do(op, [condition, *swapped(g, x, y)], [dtype], exact=True, shape=shape)


def cast(g, op):
    source = g.choose.choice([F, F, I, L, B, np.uint8, np.int8, np.int16])
    target = g.choose.choice([F, F, I, L, B])
    x = g.pick_exact(low=-9, high=9) if source == F else g.pick(source, low=-99, high=99)
    g.do(op, [x], [target], ("CastOptions", {}), exact=True)


def rules():
    for op in ("RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1"):
        yield op, exact_function
    for op in ("LOGISTIC", "TANH", "HARD_SWISH", "ELU", "EXP", "SIN", "COS"):
        yield op, smooth_function
    for op in ("LOG", "SQRT", "RSQRT"):
        yield op, function_of_positive
    for op in ("FLOOR", "CEIL", "ROUND", "SIGN"):
        yield op, jump
    for op in ("NEG", "ABS"):
        yield op, negation
    for op in TABLES:
        yield op, arithmetic
    for op in ("MAXIMUM", "MINIMUM"):
        yield op, extremes
    yield "ATAN2", angle
    for op in ("FLOOR_DIV", "FLOOR_MOD"):
        yield op, floored
    for op in ("EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"):
        yield op, comparison
    for op in ("LOGICAL_AND", "LOGICAL_OR"):
        yield op, logic
    for op in ("SELECT", "SELECT_V2"):
        yield op, selection
    yield from {"SQUARE": square, "LEAKY_RELU": leaky_relu, "PRELU": prelu, "GELU": gelu, "SQUARED_DIFFERENCE": squared_difference, "POW": power,
                "LOGICAL_NOT": negated, "ADD_N": sum_of_all, "CAST": cast}.items()


RULES = dict(rules())
