# SPDX-License-Identifier: MIT
"""Operators that move elements: chains of views and copies, gathers and scatters, padding, blocks."""
import numpy as np

import elementwise
import neighbours
from net import F, I, Unfit


def factors(net, d):
    return [q for q in range(1, d + 1) if d % q == 0] if d else [0]


def reshape(net, x):
    shape = list(net.shape(x))
    kind = net.rng.random()
    if kind < 0.4 and len(shape) > 1:
        i = net.rng.randrange(len(shape) - 1)
        new = shape[:i] + [shape[i] * shape[i + 1]] + shape[i + 2:]
    elif kind < 0.8:
        new = []
        for d in shape:
            if d > 0 and net.chance(0.4) and len(new) < 4:
                f = net.choice(factors(net, d))
                new += [f, d // f]
            else:
                new.append(d)
    else:
        new = [int(np.prod(shape))]
    if len(new) > 6:
        raise Unfit("rank")
    written = list(new)
    if 0 not in new and written and net.chance(0.3):
        written[net.rng.randrange(len(written))] = -1
    for i in range(min(len(shape), len(new))):
        if net.chance(0.1) and new[i] == shape[i] and written[i] != -1:
            written[i] = 0
    return net.reshape(x, written)


def transpose(net, x):
    rank = len(net.shape(x))
    order = list(range(rank))
    net.rng.shuffle(order)
    return net.add("Transpose", [x], perm=None if net.chance(0.15) else order)


def slice_(net, x):
    shape = net.shape(x)
    if not shape:
        return x
    axes = net.rng.sample(range(len(shape)), net.rng.randrange(1, len(shape) + 1))
    starts, ends, steps = [], [], []
    for a in axes:
        d = shape[a]
        step = net.choice([1, 1, 1, 2, 3, -1, -1, -2]) if net.opset >= 10 else 1
        first, last = sorted(net.rng.randrange(0, max(1, d)) for _ in range(2))
        start, end = (first, last + 1) if step > 0 else (last, first - 1)
        if step < 0 and end < 0:
            end = net.choice([-d - 1, -1000, np.iinfo(np.int64).min])
        elif net.chance(0.2):
            end = net.choice([d, d + 5, np.iinfo(np.int64).max]) if step > 0 else end
        if net.chance(0.2) and 0 <= start < d:
            start -= d
        starts.append(int(start)), ends.append(int(end)), steps.append(step)
    axes = [a - len(shape) if net.opset >= 10 and net.chance(0.2) else a for a in axes]
    if net.opset >= 10:
        inputs = [x, net.ints(*starts), net.ints(*ends), net.ints(*axes)] + ([net.ints(*steps)] if any(s != 1 for s in steps) or net.chance(0.3) else [])
        return net.add("Slice", inputs)
    return net.add("Slice", [x], starts=starts, ends=[min(e, 1 << 30) for e in ends], axes=axes)


def split(net, x):
    shape = net.shape(x)
    if not shape:
        return x
    axis = net.rng.randrange(len(shape))
    d = shape[axis]
    count = net.rng.randrange(1, 4)
    if net.chance(0.6) or d % count:
        cuts = sorted(net.rng.randrange(0, d + 1) for _ in range(count - 1))
        parts = [b - a for a, b in zip([0] + cuts, cuts + [d])]
        if 0 in parts and net.chance(0.8):
            raise Unfit("an empty part")
        ys = net.add("Split", [x, net.ints(*parts)], [f"s{len(net.nodes)}_{i}" for i in range(count)], axis=axis) if net.opset >= 13 else \
            net.add("Split", [x], [f"s{len(net.nodes)}_{i}" for i in range(count)], axis=axis, split=parts)
    else:
        ys = net.add("Split", [x], [f"s{len(net.nodes)}_{i}" for i in range(count)], axis=axis, num_outputs=count if net.opset >= 18 else None)
    ys = [ys] if isinstance(ys, str) else ys
    if net.chance(0.2):
        net.output(ys[0])
    return net.choice(ys)


def concat(net, x):
    shape = list(net.shape(x))
    if not shape:
        return x
    axis = net.rng.randrange(len(shape))
    parts = [x]
    for _ in range(net.choice([1, 1, 2, 3])):
        other = [net.length() if i == axis else d for i, d in enumerate(shape)]
        parts.append(net.choice([lambda: x, lambda: net.input(other), lambda: net.constant(net.floats(other))])())
    net.rng.shuffle(parts)
    return net.add("Concat", parts, axis=axis if net.opset < 11 or net.chance(0.7) else axis - len(shape))


def squeeze(net, x):
    shape = net.shape(x)
    ones = [i for i, d in enumerate(shape) if d == 1]
    if ones and net.chance(0.5):
        if net.chance(0.2):
            return net.add("Squeeze", [x])
        return net.squeeze(x, sorted(net.rng.sample(ones, net.rng.randrange(1, len(ones) + 1))))
    if len(shape) > 4:
        return x
    return net.squeeze(x, [net.rng.randrange(len(shape) + 1)], "Unsqueeze")


def flatten(net, x):
    rank = len(net.shape(x))
    return net.add("Flatten", [x], axis=net.choice([None, net.rng.randrange(0, rank + 1)])) if rank else x


def expand(net, x):
    shape = list(net.shape(x))
    if net.opset < 8 or len(shape) > 4:
        return x
    wanted = [net.length(4) if d == 1 and net.chance(0.6) else d for d in shape]
    wanted = [net.choice([1, d]) for d in wanted] if net.chance(0.2) else wanted
    if net.chance(0.3):
        wanted = [net.choice([1, 2, 3])] + wanted
    return net.add("Expand", [x, net.ints(*wanted)])


def tile(net, x):
    shape = net.shape(x)
    if np.prod(shape, dtype=float) > 1500:
        return x
    return net.add("Tile", [x, net.ints(*[net.choice([1, 1, 2, 3]) for _ in shape])])


def gather(net, x):
    shape = net.shape(x)
    if not shape or len(shape) > 4:
        return x
    axis = net.rng.randrange(len(shape))
    if shape[axis] == 0:
        raise Unfit("nothing to gather")
    form = net.choice([(), (1,), (3,), (2, 2), (1, 3)])
    low = -shape[axis] if net.opset >= 11 else 0
    sample = lambda: net.integers(form, low, shape[axis], net_type)
    net_type = net.choice([I, np.int32])
    indices = net.input(form, net_type, sample) if net.chance(0.5) else net.constant(sample())
    return net.add("Gather", [x, indices], axis=axis)


def gather_elements(net, x):
    shape = net.shape(x)
    if net.opset < 11 or not shape or 0 in shape:
        return gather(net, x)
    axis = net.rng.randrange(len(shape))
    form = [net.rng.randrange(1, d + 1) if i != axis else net.choice([1, 2, d]) for i, d in enumerate(shape)]
    sample = lambda: net.integers(form, -shape[axis], shape[axis])
    return net.add("GatherElements", [x, net.input(form, I, sample) if net.chance(0.5) else net.constant(sample())], axis=axis)


def gather_nd(net, x):
    shape = net.shape(x)
    if net.opset < 11 or not shape or 0 in shape:
        return gather(net, x)
    batch = net.rng.randrange(len(shape)) if net.opset >= 12 and net.chance(0.4) else 0
    last = net.rng.randrange(1, len(shape) - batch + 1)
    form = list(shape[:batch]) + [net.rng.randrange(1, 4) for _ in range(net.choice([1, 1, 2]))]
    sample = lambda: np.stack([net.integers(form, -shape[batch + i], shape[batch + i]) for i in range(last)], -1)
    return net.add("GatherND", [x, net.input(form + [last], I, sample) if net.chance(0.5) else net.constant(sample())], batch_dims=batch or None)


def reduction(net):
    """What happens to an element that has several updates: from opset 16 on they may be combined."""
    kinds = ["add", "mul"] + (["max", "min"] if net.opset >= 18 else [])
    return {"reduction": net.choice(kinds)} if net.opset >= 16 and net.chance(0.6) else {}


def scatter_computed(net, x):
    """At places that are data: some are named twice, some from the end."""
    shape = net.shape(x)
    if net.opset < 11 or not shape or 0 in shape:
        return x
    if net.chance(0.5):
        axis = net.rng.randrange(len(shape))
        form = [net.choice([d, d, net.rng.randrange(1, d + 1)]) for d in shape]
        sample = lambda: net.integers(form, -shape[axis], shape[axis])
        return net.add("ScatterElements", [x, net.input(form, I, sample), net.input(form)], axis=axis, **reduction(net))
    last = net.rng.randrange(1, len(shape) + 1)
    form = [net.rng.randrange(1, 5) for _ in range(net.choice([1, 1, 2]))]
    sample = lambda: np.stack([net.integers(form, -shape[i], shape[i]) for i in range(last)], -1)
    return net.add("ScatterND", [x, net.input(form + [last], I, sample), net.input([*form, *shape[last:]])], **reduction(net))


def scatter(net, x):
    shape = net.shape(x)
    if net.opset < 9 or not shape or 0 in shape:
        return x
    axis = net.rng.randrange(len(shape))
    form = [net.rng.randrange(1, d + 1) for d in shape]
    order = net.numbers.permutation(shape[axis])[:form[axis]]
    indices = np.broadcast_to(np.reshape(order, [-1 if i == axis else 1 for i in range(len(shape))]), form).astype(I)
    reduction = {"reduction": net.choice(["none", "add", "mul"] + (["max", "min"] if net.opset >= 18 else []))} if net.opset >= 16 and net.chance(0.4) else {}
    op = "ScatterElements" if net.opset >= 11 else "Scatter"
    return net.add(op, [x, net.constant(indices), net.input(form)], axis=axis, **reduction)


def scatter_nd(net, x):
    shape = net.shape(x)
    if net.opset < 11 or not shape or 0 in shape:
        return scatter(net, x)
    last = net.rng.randrange(1, len(shape) + 1)
    count = int(np.prod(shape[:last]))
    chosen = net.numbers.permutation(count)[:net.rng.randrange(1, min(count, 6) + 1)]
    indices = np.stack(np.unravel_index(chosen, shape[:last]), -1).astype(I)
    if net.chance(0.15):
        indices = indices[net.numbers.integers(0, len(indices), len(indices))]  # written twice: the last one counts
    reduction = {"reduction": net.choice(["none", "add", "mul"])} if net.opset >= 16 and net.chance(0.3) else {}
    return net.add("ScatterND", [x, net.constant(indices), net.input([len(indices), *shape[last:]])], **reduction)


def pad(net, x):
    shape = net.shape(x)
    if not shape:
        return x
    mode = net.choice(["constant"] * 3 + ["reflect", "edge"] + (["wrap"] if net.opset >= 19 else []))
    before, after = [], []
    for d in shape:
        maximum = 3 if mode == "constant" else max(0, min(3, d - 1))
        before.append(net.rng.randrange(0, maximum + 1) if net.chance(0.4) else 0)
        after.append(net.rng.randrange(0, maximum + 1) if net.chance(0.4) else 0)
    if net.chance(0.15):
        i = net.rng.randrange(len(shape))
        before[i] = -min(1, shape[i] - 1)
    if net.opset >= 18 and net.chance(0.3):
        axes = net.rng.sample(range(len(shape)), net.rng.randrange(1, len(shape) + 1))
        value = [net.constant(F(net.choice([0.0, 2.5])))] if mode == "constant" else [""]
        return net.add("Pad", [x, net.ints(*([before[a] for a in axes] + [after[a] for a in axes])), *value, net.ints(*axes)], mode=mode)
    return net.pad(x, before + after, mode, net.choice([0.0, 0.0, 1.5, -np.inf, np.nan]) if mode == "constant" and not net.chance(0.7) else 0.0)


def blocks(net, x):
    shape = net.shape(x)
    if len(shape) != 4:
        return x
    if net.chance(0.5) and shape[1] % 4 == 0 and shape[1]:
        return net.add("DepthToSpace", [x], blocksize=2, mode=net.choice([None, "DCR", "CRD"]) if net.opset >= 11 else None)
    if shape[2] % 2 == 0 and shape[3] % 2 == 0:
        return net.add("SpaceToDepth", [x], blocksize=2)
    return x


def shuffle(net, x):
    """A channel shuffle, or nearly one."""
    shape = net.shape(x)
    if len(shape) < 3 or shape[1] < 2 or 0 in shape:
        return x
    groups = net.choice([q for q in factors(net, shape[1])])
    rank = len(shape)
    y = net.reshape(x, [shape[0], groups, shape[1] // groups, *shape[2:]])
    order = [0, 2, 1, *range(3, rank + 1)]
    if net.chance(0.2):
        net.rng.shuffle(order)
    y = net.add("Transpose", [y], perm=order)
    if net.chance(0.1):
        y = elementwise.activation(net, y)
    if net.chance(0.1):
        net.output(y)
    return net.reshape(y, list(shape) if net.chance(0.85) else [shape[0], -1])


def triangle(net, x):
    if net.opset < 14 or len(net.shape(x)) < 2:
        return x
    k = [net.constant(np.array(net.rng.randrange(-3, 4), I))] if net.chance(0.6) else []
    return net.add("Trilu", [x] + k, upper=net.choice([None, 0, 1]))


def reversed_(net, x):
    shape = net.shape(x)
    if net.opset < 10 or len(shape) < 2 or 0 in shape[:2]:
        return x
    batch, time = net.choice([(0, 1), (1, 0)])
    length = net.rng.randrange(1, shape[time] + 1)
    return net.add("ReverseSequence", [x, net.constant(np.full(shape[batch], length, I))], batch_axis=batch, time_axis=time)


def arithmetic(net, x):
    return net.choice([neighbours.arithmetic, neighbours.squash])(net, x)


MOVES = [reshape] * 4 + [transpose] * 4 + [slice_] * 3 + [split] * 2 + [concat] * 3 + [squeeze] * 2 + [flatten, expand, tile, gather, gather, gather_elements,
                                                                                                    gather_nd, scatter, scatter_nd, scatter_computed, pad, pad, blocks, shuffle,
                                                                                                    triangle, reversed_] + [arithmetic] * 4


def moves(net):
    shape = net.dims(1, 5, 7)
    if net.chance(0.4):
        shape = [net.choice([1, 2]), net.choice([1, 4, 6, 8, 16]), net.rng.randrange(1, 8), net.rng.randrange(1, 8)]
    x = net.input(shape)
    for _ in range(net.choice([1, 1, 1, 2, 3, 4, 6, 8])):
        y = net.choice(MOVES)(net, x)
        if np.prod(net.shape(y), dtype=float) > 8000 or len(net.shape(y)) > 6:
            raise Unfit("too large")
        if net.chance(0.1) and y not in net.feeds:
            net.output(y)
        x = y
    if x in net.feeds:
        raise Unfit("nothing moved")
    net.output(x)


def scatters(net):
    """Elements put into others by indices, constant or computed, one or a few behind each other."""
    x = net.input(net.dims(1, 5, 7))
    for _ in range(net.choice([1, 1, 2, 3])):
        x = net.choice([scatter, scatter_nd, scatter_computed])(net, x)
    if x in net.feeds:
        raise Unfit("nothing moved")
    net.output(x)


def typed_moves(net):
    """Elements moved that are integers or conditions."""
    dtype = net.choice([I, np.int32, bool])
    x = net.input(net.dims(1, 4, 6), dtype)
    makers = [reshape, transpose, slice_, squeeze, gather, gather_elements, flatten] + ([tile, expand] if dtype is not bool else [])
    before = len(net.nodes)
    for _ in range(net.choice([1, 1, 2, 3])):
        x = net.choice(makers)(net, x)
        net.types[x] = np.dtype(dtype)
    if len(net.nodes) == before or x in net.feeds:
        raise Unfit("nothing moved")
    net.output(x, dtype)


def one_hot(net):
    if net.opset < 9:
        raise Unfit("no OneHot")
    depth = net.rng.randrange(1, 7)
    shape = net.dims(0, 3)
    dtype = net.choice([I, np.int32])
    indices = net.input(shape, dtype, lambda: net.integers(shape, -depth - 2, depth + 2, dtype))
    axis = net.rng.randrange(-len(shape) - 1, len(shape) + 1)
    net.output(net.add("OneHot", [indices, net.constant(np.array([depth] if net.chance(0.5) else depth, I)), net.constant(net.floats(2))],
                       axis=net.choice([None, axis])))


def shapes_of(net):
    """Arithmetic on shapes, as exporters write it: all of it folds."""
    x = net.input([d or 1 for d in net.dims(2, 4, 6)])
    shape = net.shape(x)
    s = net.add("Shape", [x], dtype=I)
    first = net.add("Gather", [s, net.constant(np.array(0, I))], axis=0, dtype=I)
    parts = [net.squeeze(first, [0], "Unsqueeze"), net.constant(np.array([-1], I))]
    net.types[parts[0]] = np.dtype(I)
    y = net.add("Reshape", [x, net.add("Concat", parts, axis=0, dtype=I)])
    if net.chance(0.5):
        y = neighbours.squash(net, y)
    back = net.add("Reshape", [y, s])
    net.output(net.add("Add", [back, x]) if net.chance(0.5) else back)
    if net.chance(0.2):
        net.output(net.add("Size", [x], dtype=I), I)
    if net.chance(0.2):
        net.output(s, I)
    if net.chance(0.3) and net.opset >= 9:
        filled = net.add("ConstantOfShape", [s])
        net.output(net.add("Add", [x, filled]))
    assert shape


FAMILIES = {"moves": (7, moves), "scatters": (0.5, scatters), "typed_moves": (1, typed_moves), "one_hot": (0.4, one_hot), "shapes_of": (0.6, shapes_of)}
