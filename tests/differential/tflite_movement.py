# SPDX-License-Identifier: MIT
"""Random operators of TensorFlow Lite that move, repeat or make elements: `RULES`, by the names of the operators that they sample."""
import numpy as np

from tflite_graph import B, C, F, I, L, Rejected

ANY = [F] * 8 + [I, I, L, B, np.uint8, np.int8]


def anything(g, **wanted):
    return g.pick(g.choose.choice(ANY), **wanted)


def integers(g, values):
    """A constant of shapes, axes or positions."""
    return g.constant(np.asarray(values, I))


def signed(g, axis, rank):
    return axis - rank if g.some(0.3) else axis


def axis_of(g, x):
    if x.rank == 0:
        raise Rejected("a scalar has no axis")
    return g.choose.randrange(x.rank)


def factors(g, count):
    """A shape of `count` elements."""
    shape, left = [], count
    for p in (2, 2, 2, 3, 3, 5, 7):
        if count and left % p == 0 and g.some(0.5):
            shape.append(p)
            left //= p
    shape += [left] if left != 1 or g.some(0.3) else []
    while len(shape) < 5 and g.some(0.3):
        shape.append(1)
    g.choose.shuffle(shape)
    return shape


def reshape(g, op):
    x = anything(g)
    shape = factors(g, x.value.size) if g.some(0.85) else [n for n in x.shape if n != 1]
    if shape and g.some(0.3) and x.value.size:
        shape[g.choose.randrange(len(shape))] = -1
    options = ("ReshapeOptions", {"newShape": shape})
    if not shape or g.some(0.5):
        return g.do(op, [x], [x.dtype], options, exact=True)
    g.do(op, [x, integers(g, shape)], [x.dtype], g.choose.choice([None, options]), exact=True)


def squeeze(g, op):
    x = anything(g, where=lambda t: 1 in t.shape)
    ones = [signed(g, a, x.rank) for a, n in enumerate(x.shape) if n == 1 and g.some(0.6)]
    g.do(op, [x], [x.dtype], ("SqueezeOptions", {"squeezeDims": ones}), exact=True)


def expand_dims(g, op):
    x = anything(g, rank=range(5))
    g.do(op, [x, np.int32(signed(g, g.choose.randint(0, x.rank), x.rank + 1))], [x.dtype], exact=True)


def transpose(g, op):
    x = anything(g, rank=range(1, 6))
    order = g.choose.sample(range(x.rank), x.rank)
    g.do(op, [x, integers(g, order)], [x.dtype], exact=True)


def concatenation(g, op):
    x = anything(g, rank=range(1, 6))
    axis = axis_of(g, x)
    parts = [x]
    for _ in range(g.choose.choice([0, 1, 1, 1, 2, 3])):
        shape = x.shape
        shape[axis] = g.length(5)
        fits = [t for t in g.tensors if t.dtype == x.dtype and t.rank == x.rank and t.scale is None and g.usable(t)
                and all(m == n for a, (m, n) in enumerate(zip(t.shape, x.shape)) if a != axis)]
        parts.append(g.choose.choice(fits) if fits and g.some(0.6) else g.fresh(shape, x.dtype))
    g.choose.shuffle(parts)
    g.do(op, parts, [x.dtype], ("ConcatenationOptions", {"axis": signed(g, axis, x.rank)}), exact=True)


def split(g, op):
    x = anything(g, rank=range(1, 6))
    axis = axis_of(g, x)
    length = x.shape[axis]
    if op == "SPLIT":
        parts = g.choose.choice([n for n in range(1, 7) if length % n == 0])
        return g.do_many(op, [np.int32(signed(g, axis, x.rank)), x], [x.dtype] * parts, ("SplitOptions", {"numSplits": parts}), exact=True)
    cuts = sorted(g.choose.randint(0, length) for _ in range(g.choose.randint(0, 3)))
    sizes = [b - a for a, b in zip([0, *cuts], [*cuts, length])]
    if g.some(0.3):
        sizes[g.choose.randrange(len(sizes))] = -1
    g.do_many(op, [x, integers(g, sizes), np.int32(signed(g, axis, x.rank))], [x.dtype] * len(sizes), ("SplitVOptions", {"numSplits": len(sizes)}), exact=True)


def slice_(g, op):
    x = anything(g, rank=range(1, 6))
    begin = [g.choose.randint(0, max(n - 1, 0)) if g.some(0.6) else 0 for n in x.shape]
    size = [-1 if g.some(0.4) else g.choose.randint(min(1, n - b), n - b) for n, b in zip(x.shape, begin)]
    dtype = g.choose.choice([I, L])
    shape = [n - b if s == -1 else s for n, b, s in zip(x.shape, begin, size)]
    g.do(op, [x, np.array(begin, dtype), np.array(size, dtype)], [x.dtype], exact=True, shape=shape)


def strided_slice(g, op):
    x = anything(g, rank=range(1, 5))
    count = g.choose.randint(1, x.rank)
    masks = {"beginMask": 0, "endMask": 0, "ellipsisMask": 0, "newAxisMask": 0, "shrinkAxisMask": 0}
    begin, end, step, axis = [], [], [], 0
    for i in range(count):
        n = x.shape[axis]
        if g.some(0.07) and masks["ellipsisMask"] == 0 and i < count - 1:
            masks["ellipsisMask"] |= 1 << i
            axis += x.rank - count
            begin, end, step = begin + [0], end + [0], step + [1]
        elif g.some(0.07):
            masks["newAxisMask"] |= 1 << i
            begin, end, step = begin + [0], end + [0], step + [1]
            continue
        elif g.some(0.15) and n > 0:
            masks["shrinkAxisMask"] |= 1 << i
            at = g.choose.randint(-n, n - 1)
            begin, end, step = begin + [at], end + [at + 1], step + [1]
        else:
            s = g.choose.choice([1, 1, 1, 2, 3, -1, -1, -2])
            low, high = g.choose.randint(-n - 1, n + 1), g.choose.randint(-n - 2, n + 2)
            if g.some(0.6):
                low, high = (0, n) if s > 0 else (n - 1, -n - 1)
            masks["beginMask"] |= g.some(0.25) << i
            masks["endMask"] |= g.some(0.25) << i
            begin, end, step = begin + [low], end + [high], step + [s]
        axis += 1
    g.do(op, [x, integers(g, begin), integers(g, end), integers(g, step)], [x.dtype], ("StridedSliceOptions", masks), exact=True)


def pack(g, op):
    x = anything(g, rank=range(4))
    same = [t for t in g.tensors if t.dtype == x.dtype and t.shape == x.shape and t.scale is None and g.usable(t)]
    parts = [g.choose.choice([x, *same]) if g.some(0.6) else g.fresh(x.shape, x.dtype) for _ in range(g.choose.randint(1, 4))]
    axis = signed(g, g.choose.randint(0, x.rank), x.rank + 1)
    g.do(op, parts, [x.dtype], ("PackOptions", {"valuesCount": len(parts), "axis": axis}), exact=True)


def unpack(g, op):
    x = anything(g, rank=range(1, 5), where=lambda t: t.rank and 0 < min(t.shape) <= 6)
    axis = g.choose.choice([a for a, n in enumerate(x.shape) if n <= 6])
    g.do_many(op, [x], [x.dtype] * x.shape[axis], ("UnpackOptions", {"num": x.shape[axis], "axis": signed(g, axis, x.rank)}), exact=True)


def tile(g, op):
    x = anything(g, rank=range(1, 5))
    g.do(op, [x, integers(g, [g.choose.choice([1, 1, 2, 3]) for _ in x.shape])], [x.dtype], exact=True)


def broadcast_to(g, op):
    x = anything(g, rank=range(5))
    shape = [g.length(4) if n == 1 and g.some(0.7) else n for n in x.shape]
    shape = [g.length(3) for _ in range(g.choose.randint(0, 2))] + shape
    g.do(op, [x, integers(g, shape)], [x.dtype], exact=True)


def reverse(g, op):
    x = anything(g, rank=range(1, 6))
    first = g.choose.randrange(x.rank)
    axes = list(range(first, min(x.rank, first + g.choose.choice([1, 1, 2]))))  # LiteRT reverses neighbouring axes alone
    g.do(op, [x, integers(g, [signed(g, a, x.rank) for a in axes])], [x.dtype], exact=True)


def reverse_sequence(g, op):
    x = g.pick(g.choose.choice([F, I, L]), rank=range(2, 5))
    batch, time = g.choose.sample(range(x.rank), 2)
    n = g.choose.randint(min(1, x.shape[time]), x.shape[time])
    lengths = np.full([x.shape[batch]], n, g.choose.choice([I, L]))
    g.do(op, [x, lengths], [x.dtype], ("ReverseSequenceOptions", {"batchDim": batch, "seqDim": time}), exact=True)


def shape_of(g, op):
    x = anything(g)
    if x.kind == "constant":
        raise Rejected("nothing is computed")
    dtype = g.choose.choice([I, L])
    if op == "RANK":
        return g.do(op, [x], [I])
    n = g.do(op, [x], [dtype], ("ShapeOptions", {"outType": 4 if dtype == L else 2}))
    if x.rank and dtype == I and g.some(0.5):
        g.do("RESHAPE", [g.fresh([x.value.size], F, constants=0), n], [F], exact=True)


def range_(g, op):
    if g.some(0.5):
        start, step = g.choose.randint(-5, 5), g.choose.choice([1, 2, 3, -1, -2])
        made = g.do(op, [np.int32(start), np.int32(start + step * g.choose.randint(1, 6)), np.int32(step)], [I])
    else:
        start, step = g.choose.choice([0.0, -1.5, 2.25]), g.choose.choice([0.5, 1.0, -0.75])
        made = g.do(op, [F(start), F(start + step * g.choose.randint(1, 6)), F(step)], [F], exact=True)
    use(g, made)


def use(g, made):
    """Something that is computed from a constant and from an input."""
    if made.dtype in (F, I, L):
        g.do("ADD", [g.fresh(made.shape, made.dtype, constants=0), made], [made.dtype], ("AddOptions", {}), exact=True)


def fill(g, op):
    if op == "ZEROS_LIKE":
        x = g.pick(g.choose.choice([F, I, L]))
        return use(g, g.do(op, [x], [x.dtype], exact=True))
    shape = g.shape(g.choose.choice([1, 2, 3, 4]))
    dtype = g.choose.choice([F, I, L])
    use(g, g.do(op, [np.array(shape, g.choose.choice([I, L])), g.sample([], dtype)], [dtype], exact=True))


def gather(g, op):
    x = anything(g, rank=range(1, 5), where=lambda t: t.rank and min(t.shape) > 0)
    axis = axis_of(g, x)
    rows = g.choose.randint(0, axis) if g.some(0.3) else 0
    where = g.shape(g.choose.choice([0, 1, 1, 2])) if rows == 0 else x.shape[:rows] + g.shape(g.choose.choice([0, 1, 1, 2]))
    positions = g.sample(where, g.choose.choice([I, I, L]), 0, x.shape[axis] - 1)
    indices = g.input(positions) if positions.size == 0 or g.some(0.5) else g.constant(positions)
    options = {"axis": signed(g, axis, x.rank), "batchDims": rows - len(where) if rows and g.some(0.2) else rows}
    g.do(op, [x, indices], [x.dtype], ("GatherOptions", options), exact=True)


def gather_nd(g, op):
    x = g.pick(g.choose.choice([F, F, F, I, L, B, np.int8]), rank=range(1, 5), where=lambda t: t.rank and min(t.shape) > 0)
    depth = g.choose.randint(1, x.rank)
    places = g.shape(g.choose.choice([0, 1, 1, 2]))
    dtype = g.choose.choice([I, I, L])
    positions = np.stack([g.sample(places, dtype, 0, n - 1) for n in x.shape[:depth]], -1)
    g.do(op, [x, g.input(positions) if positions.size == 0 or g.some(0.5) else g.constant(positions)], [x.dtype], exact=True)


def embedding_lookup(g, op):
    table = g.sample([g.choose.randint(1, 9), *g.shape(g.choose.choice([1, 2]))])
    places = g.fresh([g.length()], I, 0, len(table) - 1, 0.2)
    g.do(op, [places, g.constant(table)], [F], exact=True)


def one_hot(g, op):
    index = g.pick(g.choose.choice([I, I, L]), rank=range(4), low=-3, high=9, again=0.3)
    dtype = g.choose.choice([F, F, I, L, B])
    on, off = (True, False) if dtype == B else (dtype(3), dtype(-1))
    axis = g.choose.randint(-1, index.rank)
    g.do(op, [index, np.int32(g.choose.randint(1, 7)), np.array(on, dtype), np.array(off, dtype)], [dtype], ("OneHotOptions", {"axis": axis}), exact=True)


def spectrum(g, op):
    lines = g.choose.choice([1, 1, 1, 2, 4])
    length = g.choose.choice([2, 4, 8, 16, 32])
    x = g.fresh([*g.shape(g.choose.choice([0, 1, 2])), g.choose.choice([lines, lines, 3]), g.choose.choice([length, length, 11])], F, constants=0)
    y = g.do("RFFT2D", [x, integers(g, [lines, length])], [C], ("Rfft2dOptions", {}))
    if g.some(0.3):
        y = g.do("RESHAPE", [y, integers(g, [1, y.value.size])], [C], ("ReshapeOptions", {}))
    elif g.some(0.2):
        y = g.do("EXPAND_DIMS", [y, np.int32(0)], [C])
    g.do(op if op != "RFFT2D" else g.choose.choice(["COMPLEX_ABS", "REAL", "IMAG"]), [y], [F])


RULES = {"RESHAPE": reshape, "SQUEEZE": squeeze, "EXPAND_DIMS": expand_dims, "TRANSPOSE": transpose, "CONCATENATION": concatenation, "SPLIT": split, "SPLIT_V": split,
         "SLICE": slice_, "STRIDED_SLICE": strided_slice, "PACK": pack, "UNPACK": unpack, "TILE": tile, "BROADCAST_TO": broadcast_to, "REVERSE_V2": reverse,
         "REVERSE_SEQUENCE": reverse_sequence, "SHAPE": shape_of, "RANK": shape_of, "RANGE": range_, "FILL": fill, "ZEROS_LIKE": fill, "GATHER": gather,
         "GATHER_ND": gather_nd, "EMBEDDING_LOOKUP": embedding_lookup, "ONE_HOT": one_hot, "RFFT2D": spectrum, "COMPLEX_ABS": spectrum, "REAL": spectrum, "IMAG": spectrum}
