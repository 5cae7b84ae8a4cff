# SPDX-License-Identifier: MIT
"""Graphs behind operators whose number of results is data: masks, Compress, Unique, NonMaxSuppression, and whatever exporters put behind them.

A value has axes of fixed lengths, and axes named after a count. What is not row-wise must be right or be refused.
"""
import numpy as np

from behind_steps import STEPS, Graph, Value
from net import F, I, Unfit

RUNS = 3


def fullness(net):
    """How much each run chooses; nothing at all is left out at times, because many operators do not take it."""
    share = net.choice([0.2, 0.5, 0.8])
    shares = [share, 1.0, net.choice([0.0, 0.08]) if net.chance(0.4) else 0.4]
    net.rng.shuffle(shares)
    return iter(shares * 2)


# Operators that choose.

def columns(net, rows):
    return net.input([rows, 4], F, values=lambda: net.numbers.uniform(-2, 2, (rows, 4)))


def scores(net, rows):
    """Numbers of which as many are above 0.5 as the run says."""
    shares = fullness(net)

    def sample():
        high = net.numbers.random(rows) < next(shares)
        return np.where(high, net.numbers.uniform(0.55, 1, rows), net.numbers.uniform(0, 0.45, rows))
    return net.input([rows], F, values=sample)


def by_mask(g):
    net, rows = g.net, g.net.rng.randrange(2, 14)
    boxes, s = columns(net, rows), scores(net, rows)
    mask = net.add("Greater", [s, g.number(0.5)], dtype=bool)
    if net.chance(0.4):
        made = net.add("Compress", [boxes, mask], axis=0)
        n = g.count(made)
        g.pool.append(Value(made, [n, 4]))
        if net.chance(0.8):
            g.pool.append(Value(net.add("Compress", [s, mask], axis=0), [n]))
        return
    places = net.add("NonZero", [mask], dtype=I)
    n = g.count(places)
    if net.chance(0.5):
        index = net.add("Transpose", [places], dtype=I, perm=[1, 0])
        take = lambda x: net.add("GatherND", [x, index])
        g.places.append((Value(index, [n, 1], I), rows))
    else:
        index = net.add("Reshape", [places, g.ints(-1)], dtype=I)
        take = lambda x: net.add("Gather", [x, index], axis=0)
        g.pool.append(Value(index, [n], I))
        g.places.append((Value(index, [n], I), rows))
    g.pool.append(Value(take(boxes), [n, 4]))
    if net.chance(0.8):
        g.pool.append(Value(take(s), [n]))


def by_suppression(g):
    net, boxes, classes = g.net, g.net.rng.randrange(3, 24), g.net.choice([1, 1, 2, 3])
    shares = fullness(net)
    corners = net.input([1, boxes, 4], F, values=lambda: (lambda p: np.concatenate([p, p + net.numbers.uniform(2, 20, p.shape)], -1))(net.numbers.uniform(0, 60, (1, boxes, 2))))

    def sample():
        high = net.numbers.random((1, classes, boxes)) < next(shares)
        return np.where(high, net.numbers.uniform(0.55, 1, high.shape), net.numbers.uniform(0, 0.45, high.shape))
    s = net.input([1, classes, boxes], F, values=sample)
    limit = net.input([1], F, values=lambda: np.array([0.5])) if net.chance(0.15) else g.number([0.5])
    chosen = net.add("NonMaxSuppression", [corners, s, g.ints(net.choice([1, 3, 10, 50])), g.number([net.choice([0.1, 0.45, 0.9])]), limit], dtype=I)
    n = g.count(chosen)
    if net.chance(0.2):
        g.pool.append(Value(chosen, [n, 3], I))
    flat = net.add("Squeeze", [corners, g.ints(0)]) if net.opset >= 13 else net.add("Squeeze", [corners], axes=[0])
    box = net.add("Gather", [chosen, g.number(2, I)], dtype=I, axis=1)
    g.pool.append(Value(box, [n], I))
    g.pool.append(Value(net.add("Gather", [flat, box], axis=0), [n, 4]))
    if net.chance(0.7):
        whole = net.add("Squeeze", [s, g.ints(0)]) if net.opset >= 13 else net.add("Squeeze", [s], axes=[0])
        pair = net.add("Slice", [chosen, g.ints(1), g.ints(3), g.ints(1)], dtype=I)
        g.pool.append(Value(net.add("GatherND", [whole, pair]), [n]))


def by_unique(g):
    net, rows = g.net, g.net.rng.randrange(2, 14)
    spread = iter([1, 3, 40] * 2)
    x = net.input([rows], F, values=lambda: net.numbers.integers(0, next(spread), rows))
    name = net.add("Unique", [x], ["u_y"], sorted=net.choice([0, 1]))
    g.pool.append(Value(name if isinstance(name, str) else name[0], [g.count("u_y")]))


def behind(source):
    def family(net):
        if net.opset < 11:
            raise Unfit("no operators that choose, or of another form")
        net.runs = RUNS
        g = Graph(net)
        source(g)
        begun = len(g.pool)
        for _ in range(net.choice([1, 1, 2, 2, 3, 4])):
            for _ in range(8):
                step = net.rng.choices([s for _, s in STEPS], [w for w, _ in STEPS])[0]
                try:
                    step(g)
                    break
                except Unfit:
                    continue
        made = g.pool[begun:] or g.pool
        for v in {v.name: v for v in made[-net.choice([1, 1, 2]):]}.values():
            give_out(g, v)
    return family


def give_out(g, v):
    g.net.output(v.name, v.dtype)
    if v.varying:
        producer = g.counts.get(v.axes[v.varying[0]])
        g.net.bounded[v.name] = [v.varying, None, producer or v.name]


FAMILIES = {"mask": (0.8, behind(by_mask)), "suppression": (0.8, behind(by_suppression)), "unique": (0.2, behind(by_unique))}
