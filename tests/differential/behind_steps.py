# SPDX-License-Identifier: MIT
"""What exporters put behind results whose number is data: one function per form, and how often it is sampled."""
import dataclasses

import numpy as np

from net import F, I, Unfit


@dataclasses.dataclass
class Value:
    name: str
    axes: list  # a length, or the name of a count
    dtype: type = F

    @property
    def varying(self):
        return [d for d, a in enumerate(self.axes) if isinstance(a, str)]


class Graph:
    """What is there so far. `counts` maps the name of a count to the operator's output that it is the number of."""

    def __init__(self, net):
        self.net, self.pool, self.counts, self.places = net, [], {}, []

    def count(self, output=None):
        name = f"n{len(self.counts)}"
        self.counts[name] = output
        return name

    def add(self, op, inputs, axes, dtype=F, keep=True, **attributes):
        names = [v.name if isinstance(v, Value) else v for v in inputs]
        made = Value(self.net.add(op, names, dtype=dtype, **attributes), list(axes), dtype)
        if keep:
            self.pool.append(made)
        return made

    def pick(self, rank=None, dtype=F, varying=True, where=lambda v: True):
        """A value of the pool, later ones more often."""
        fit = [v for v in self.pool if (rank is None or len(v.axes) == rank) and v.dtype is dtype and (not varying or v.varying) and where(v)]
        if not fit:
            raise Unfit("nothing fits")
        return fit[-1] if self.net.chance(0.6) else self.net.choice(fit)

    def ints(self, *values):
        return self.net.ints(*values)

    def number(self, value, dtype=F):
        return self.net.constant(np.asarray(value, dtype))

    def length_of(self, v, axis):
        """The length of an axis as int64 [1]."""
        shape = self.add("Shape", [v], [len(v.axes)], I, keep=False)
        return self.add("Gather", [shape, self.ints(axis)], [1], I, keep=False, axis=0)


def unary(g):
    v = g.pick()
    op = g.net.choice(["Relu", "Sigmoid", "Exp", "Neg", "Abs", "Tanh", "Identity", "Log", "Reciprocal"])
    g.add(op, [v], v.axes)


def with_constant(g):
    v = g.pick()
    wide = isinstance(v.axes[-1], int) and g.net.chance(0.5)
    c = g.number(g.net.numbers.uniform(0.5, 2, v.axes[-1]) if wide else g.net.choice([2.0, -0.5, 100.0]))
    g.add(g.net.choice(["Mul", "Add", "Sub", "Div", "Max", "Min"]), [v, c] if g.net.chance(0.7) else [c, v], v.axes)


def with_another(g):
    v = g.pick()
    w = g.pick(where=lambda w: len(w.axes) == len(v.axes) and (w.axes == v.axes or g.net.chance(0.1)))
    g.add(g.net.choice(["Add", "Mul", "Sub"]), [v, w], v.axes)


def compared(g):
    v = g.pick()
    mask = g.add(g.net.choice(["Greater", "Less"] + ["GreaterOrEqual", "LessOrEqual"] * (g.net.opset >= 12)), [v, g.number(g.net.choice([0.0, 0.6, 0.9]))], v.axes, bool)
    kind = g.net.choice(["float", "int", "where"])
    if kind == "where":
        g.add("Where", [mask, v, g.number(-1.0)], v.axes)
    else:
        g.add("Cast", [mask], v.axes, F if kind == "float" else I, to=1 if kind == "float" else 7)


def integers_divided(g):
    v = g.pick(1, I)
    g.add("Div", [g.number(12, I), v] if g.net.chance(0.3) else [v, g.number(2, I)], v.axes, I)


def reduced(g):
    v = g.pick() if g.net.chance(0.85) else g.pick(dtype=I)
    ops = ["ReduceSum", "ReduceMax", "ReduceMin"] + ["ReduceMean", "ReduceMean", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp"] * (v.dtype is F)
    axes = g.net.choice([None, [0], [-1], [v.varying[0]]])
    keep = g.net.chance(0.3)
    gone = range(len(v.axes)) if axes is None else [a % len(v.axes) for a in axes]
    name = g.net.reduce(g.net.choice(ops), v.name, axes, keepdims=int(keep))
    g.net.types[name] = np.dtype(v.dtype)
    g.pool.append(Value(name, [1 if d in gone else a for d, a in enumerate(v.axes) if keep or d not in gone], v.dtype))


def lines(g):
    v = g.pick()
    axis = g.net.rng.randrange(len(v.axes))
    op = g.net.choice(["Softmax", "LogSoftmax", "CumSum", "ArgMax", "ArgMin"])
    if op == "CumSum":
        return g.add(op, [v, g.number(axis, I)], v.axes, reverse=g.net.choice([0, 1]), exclusive=g.net.choice([0, 1]))
    if op.startswith("Arg"):
        keep = g.net.choice([0, 1])
        return g.add(op, [v], [1 if d == axis else a for d, a in enumerate(v.axes) if keep or d != axis], I, axis=axis, keepdims=keep)
    return g.add(op, [v], v.axes, axis=axis)


def sorted_rows(g):
    v = g.pick(1)
    n, kind = v.axes[0], g.net.choice(["all", "few", "at most"])
    if kind == "few":
        k, rows = g.ints(g.net.choice([1, 2])), None
    else:
        k, rows = g.length_of(v, 0), n
        if kind == "at most":
            k = g.net.add("Min", [k.name, g.ints(g.net.choice([1, 3, 8, 100]))], dtype=I) if g.net.opset >= 12 else k
            rows = g.count()
    rows = rows or int(g.net.constants.get(k, [1])[0]) if kind == "few" else rows
    values, index = g.net.add("TopK", [v.name, k.name if isinstance(k, Value) else k], 2, axis=0, largest=g.net.choice([0, 1, 1]))
    g.net.types[index] = np.dtype(I)
    if kind == "few" and k not in g.net.constants:
        raise Unfit("a constant of another form")
    g.pool += [Value(values, [rows]), Value(index, [rows], I)]
    table = [w for w in g.pool if len(w.axes) == 2 and w.axes[0] == n and w.dtype is F]
    if table:
        g.add("Gather", [table[-1], index], [rows, table[-1].axes[1]], axis=0)


def picked(g):
    v = g.pick()
    axis = g.net.rng.randrange(len(v.axes))
    index = g.net.choice([0, -1]) if isinstance(v.axes[axis], str) else g.net.rng.randrange(-v.axes[axis], v.axes[axis])
    if g.net.chance(0.5):
        g.add("Gather", [v, g.number(index, I)], v.axes[:axis] + v.axes[axis + 1:], axis=axis)
    else:
        g.add("Gather", [v, g.ints(index, 0)], v.axes[:axis] + [2] + v.axes[axis + 1:], axis=axis)


def sliced(g):
    v = g.pick()
    axis = g.net.rng.randrange(len(v.axes))
    start, end, step = g.net.choice([(0, 2, 1), (1, 99, 1), (0, -1, 1), (-2, 99, 1), (0, 99, 2), (0, 1, 1), (99, -99, -1), (1, 3, 1)])
    rows = g.count() if isinstance(v.axes[axis], str) else len(range(v.axes[axis])[start:end:step])
    if rows == 0:
        raise Unfit("nothing is left")
    g.add("Slice", [v, g.ints(start), g.ints(end), g.ints(axis), g.ints(step)], v.axes[:axis] + [rows] + v.axes[axis + 1:])


def first_rows(g):
    """x[:n] of a table of fixed length."""
    v, rows = g.pick(), g.net.rng.randrange(2, 16)
    if not isinstance(v.axes[0], str):
        raise Unfit("no count")
    table = g.net.input([rows, 2], F)
    g.add("Slice", [table, g.ints(0), g.length_of(v, 0), g.ints(0)], [g.count(), 2])


def joined(g):
    v = g.pick(2)
    kind = g.net.choice(["columns", "rows behind", "rows before", "twice", "another"])
    if kind == "columns":
        w = g.pick(where=lambda w: w.axes[0] == v.axes[0] and len(w.axes) <= 2)
        name = w.name if len(w.axes) == 2 else g.net.reshape(w.name, [-1, 1])
        widths = [v.axes[1], w.axes[1] if len(w.axes) == 2 else 1]
        if any(isinstance(a, str) for a in widths):
            raise Unfit("no table")
        return g.add("Concat", [v, name], [v.axes[0], sum(widths)], axis=1)
    if isinstance(v.axes[1], str):
        raise Unfit("no table")
    if kind == "another":
        w = g.pick(2, where=lambda w: w.axes[1] == v.axes[1])
    elif kind == "twice":
        w = v
    else:
        w = Value(g.number(g.net.numbers.uniform(-1, 1, (2, v.axes[1]))), [2, v.axes[1]])
    order = [w, v] if kind == "rows before" else [v, w]
    return g.add("Concat", order, [g.count(), v.axes[1]], axis=0)


def padded(g):
    v = g.pick(2)
    if not isinstance(v.axes[0], str) or isinstance(v.axes[1], str):
        raise Unfit("no table")
    value = g.number(g.net.choice([0.0, -1.0]))
    if g.net.chance(0.5):
        total = g.net.choice([12, 30, 60])
        missing = g.net.add("Sub", [g.ints(total), g.length_of(v, 0).name], dtype=I)
        pads = g.net.add("Concat", [g.ints(0, 0), missing, g.ints(0)], dtype=I, axis=0)
        return g.add("Pad", [v, pads, value], [total, v.axes[1]])
    before, behind, wide = g.net.choice([0, 1]), g.net.choice([0, 2]), g.net.choice([0, 1])
    return g.add("Pad", [v, g.ints(before, 0, behind, wide), value], [g.count() if before + behind else v.axes[0], v.axes[1] + wide])


def reshaped(g):
    v = g.pick()
    kind = g.net.choice(["line", "turned line", "halves", "unsqueeze", "flatten", "transpose", "columns", "rows by shape"])
    if kind == "turned line":  # what varies is behind what does not
        v = g.add("Transpose", [v], v.axes[::-1], perm=list(range(len(v.axes)))[::-1], keep=False)
    if kind in ("line", "turned line"):
        return g.add("Reshape", [v, g.ints(-1)], [g.count()], keep=True)
    if kind == "transpose":
        order = list(range(len(v.axes)))
        g.net.rng.shuffle(order)
        return g.add("Transpose", [v], [v.axes[d] for d in order], perm=order)
    if kind == "unsqueeze":
        axis = g.net.rng.randrange(len(v.axes) + 1)
        name = g.net.squeeze(v.name, [axis], "Unsqueeze")
        return g.pool.append(Value(name, v.axes[:axis] + [1] + v.axes[axis:]))
    if kind == "flatten":
        axis = g.net.rng.randrange(len(v.axes) + 1)
        merged = [int(np.prod(part)) if all(isinstance(a, int) for a in part) else g.count() for part in (v.axes[:axis], v.axes[axis:])]
        return g.add("Flatten", [v], merged, axis=axis)
    if len(v.axes) != 2 or v.axes[1] != 4 or not isinstance(v.axes[0], str):
        raise Unfit("no table of four columns")
    if kind == "halves":
        return g.add("Reshape", [v, g.ints(-1, 2, 2)], [v.axes[0], 2, 2])
    if kind == "columns":
        return g.add("Reshape", [v, g.ints(-1, 2)], [g.count(), 2])
    shape = g.net.add("Concat", [g.length_of(v, 0).name, g.ints(2, -1)], dtype=I, axis=0)
    return g.add("Reshape", [v, shape], [v.axes[0], 2, 2])


def counted(g):
    v = g.pick()
    if g.net.chance(0.3):
        n = g.add("Size", [v], [], I)
    else:
        n = g.length_of(v, g.net.rng.randrange(len(v.axes)))
        g.pool.append(n)
    if g.net.chance(0.5):
        g.add("Cast", [n], n.axes, F, to=1)
    if g.net.chance(0.3):
        g.add("Greater", [n, g.number(2, I)], n.axes, bool)


def made_of_count(g):
    v = g.pick()
    if not isinstance(v.axes[0], str):
        raise Unfit("no count")
    n, kind = g.length_of(v, 0), g.net.choice(["expand", "fill", "range"])
    if kind == "expand":
        g.add("Expand", [g.number([3.5]), n], [v.axes[0]])
    elif kind == "fill":
        g.add("ConstantOfShape", [n], [v.axes[0]])
    else:
        scalar = g.net.reshape(n.name, [])
        g.net.types[scalar] = np.dtype(I)
        made = g.add("Range", [g.number(0, I), scalar, g.number(1, I)], [v.axes[0]], I)
        g.add("Cast", [made], [v.axes[0]], F, to=1)


def chosen_again(g):
    v = g.pick(1)
    mask = g.net.add("Greater", [v.name, g.number(g.net.choice([0.0, 0.75]))], dtype=bool)
    table = [w for w in g.pool if w.axes[0:1] == v.axes and w.dtype is F]
    w = g.net.choice(table)
    if g.net.chance(0.5):
        made = g.net.add("Compress", [w.name, mask], axis=0)
        n = g.count(made)
    else:
        places = g.net.add("NonZero", [mask], dtype=I)
        n = g.count(places)
        index = g.net.add("Reshape", [places, g.ints(-1)], dtype=I)
        made = g.net.add("Gather", [w.name, index], axis=0)
    g.pool.append(Value(made, [n] + w.axes[1:]))


def places_of_table(g):
    v = g.pick(2)
    mask = g.net.add("Greater", [v.name, g.number(0.1)], dtype=bool)
    places = g.net.add("NonZero", [mask], dtype=I)
    n = g.count(places)
    g.pool.append(Value(places, [2, n], I))
    g.add("GatherND", [v, g.net.add("Transpose", [places], dtype=I)], [n])


def multiplied(g):
    v = g.pick(2)
    kind = g.net.choice(["weight", "pairs", "sums", "gemm"])
    across = g.net.add("Transpose", [v.name], perm=[1, 0])
    if kind == "weight" or kind == "gemm":
        if isinstance(v.axes[1], str):
            raise Unfit("no table")
        w = g.number(g.net.numbers.uniform(-1, 1, (v.axes[1], 3)))
        extra = [g.number(g.net.numbers.uniform(-1, 1, 3))] if kind == "gemm" else []
        return g.add("Gemm" if kind == "gemm" else "MatMul", [v, w, *extra], [v.axes[0], 3])
    if kind == "pairs":
        return g.add("MatMul", [v, across], [v.axes[0], v.axes[0]])
    return g.add("MatMul", [across, v], [v.axes[1], v.axes[1]])


def pairs(g):
    v = g.pick(1)
    a, b = g.net.squeeze(v.name, [1], "Unsqueeze"), g.net.squeeze(v.name, [0], "Unsqueeze")
    g.add(g.net.choice(["Sub", "Max"]), [a, b], [v.axes[0]] * 2)


def written(g):
    if not g.places:
        raise Unfit("no places")
    index, rows = g.net.choice(g.places)
    data = g.net.input([rows], F)
    if g.net.chance(0.5):
        length = g.length_of(index, 0)
        updates = g.add("Expand", [g.number([-7.0]), length], [index.axes[0]], keep=False)
    else:
        updates = g.pick(1, where=lambda w: w.axes[0] == index.axes[0])
    op = "ScatterND" if len(index.axes) == 2 else "ScatterElements"
    g.add(op, [data, index, updates], [rows])


def layers(g):
    v = g.pick(2)
    if not isinstance(v.axes[0], str) or isinstance(v.axes[1], str) or v.axes[1] < 2:
        raise Unfit("no table")
    kind = g.net.choice(["norm", "conv", "split", "tile"])
    if kind == "norm" and g.net.opset >= 17:
        return g.add("LayerNormalization", [v, g.number(np.ones(v.axes[1]))], v.axes, axis=-1)
    if kind == "conv":
        wide = g.net.squeeze(v.name, [1], "Unsqueeze")
        return g.add("Conv", [wide, g.number(g.net.numbers.uniform(-1, 1, (3, 1, 2)))], [v.axes[0], 3, v.axes[1] - 1])
    if kind == "tile":
        return g.add("Tile", [v, g.ints(g.net.choice([1, 1, 2]), 2)], [g.count(), 2 * v.axes[1]])
    return g.add("Slice", [v, g.ints(0), g.ints(1), g.ints(1)], [v.axes[0], 1])


def suppressed_again(g):
    v = g.pick(2, where=lambda v: v.axes[1] == 4)
    s = g.pick(1, where=lambda s: s.axes[0] == v.axes[0])
    boxes, scores_3d = g.net.reshape(v.name, [1, -1, 4]), g.net.reshape(s.name, [1, 1, -1])
    made = g.net.add("NonMaxSuppression", [boxes, scores_3d, g.ints(5), g.number([0.5]), g.number([0.2])], dtype=I)
    n = g.count(made)
    index = g.net.add("Gather", [made, g.number(2, I)], dtype=I, axis=1)
    g.add("Gather", [s, index], [n], axis=0)


def rare(g):
    v = g.pick(1)
    if g.net.chance(0.5):
        return g.add("Unique", [v], [g.count()])
    return g.add("Identity", [v], v.axes)


STEPS = [(4, unary), (4, with_constant), (3, with_another), (4, compared), (1, integers_divided), (8, reduced), (5, lines), (6, sorted_rows), (4, picked), (5, sliced),
         (2, first_rows), (6, joined), (5, padded), (6, reshaped), (4, counted), (4, made_of_count), (5, chosen_again), (3, places_of_table), (5, multiplied), (3, pairs),
         (5, written), (4, layers), (2, suppressed_again), (0.5, rare)]
