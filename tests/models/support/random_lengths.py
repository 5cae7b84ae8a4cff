# SPDX-License-Identifier: MIT
"""Random networks for two lengths of their input."""
import random

import numpy as np

from length_networks import *  # noqa: F403
from static_exporter import exported

FOLLOWS, REFUSED = "follows", "is refused"


# Random networks: parts that a network is made of, with literals that are lengths or not, as it happens.

SMALL = (2, 3, 4, 5, 6, 8)


class sampler:
    """Builds a network by choices that do not depend on its lengths, so that it can be written for two of them."""

    def __init__(self, seed):
        self.seed = seed

    def expression(self, r, length):
        """A number that an exporter writes: the network's own, or made of a length."""
        return r.choice([r.choice(SMALL), length, length // 2, 2 * length, length - r.choice((1, 2, 3)), length + 1])

    def start(self, number):
        """A computed begin that is 0 by chance reads as one that was left out."""
        assert number != 0, "no network"
        return number

    def steps(self, w, r, x):
        """One part on [1, S, C]."""
        s, c = x.shape[1:]
        part = r.randrange(24)
        if part == 0:
            return w.linear(x, r.choice((8, 12, 16)))
        if part == 1 and c % 4 == 0:
            return attention(w, x, r.choice((2, 4)), s)
        if part == 2 and c % 4 == 0:
            return scrambled_attention(w, x, 4, s)
        if part == 3:
            return w.slice(x, 1, 0, self.expression(r, s))
        if part == 4:
            return w.slice(x, 1, self.start(r.choice([1, 2, self.expression(r, s)])))
        if part == 5:
            return w.binary("Add", x, w.expand(w.reduce(x, [1]), 1, s, c))
        if part == 6:
            return w.expand(w.reduce(x, [1]), 1, self.expression(r, s), c)
        if part == 7:
            return w.scaled(x, r.choice([1 / s, 0.5, s ** -0.5]))
        if part == 8:
            return w.concat([x, w.reduce(x, [1])], 1)
        if part == 9:
            return w.transpose(w.pool(w.transpose(x, 0, 2, 1), r.choice([2, s, max(1, s // 2)])), 0, 2, 1)
        if part == 10:
            return w.reshape(x, 1, s * c // 4, 4)
        if part == 11:
            k = r.choice([2, 4, max(1, s // 2), s])
            return w.reshape(x, 1, k, -1, c)
        if part == 12:
            return w.transpose(w.recurrent(w.transpose(x, 1, 0, 2), 8, initial=r.random() < 0.5), 1, 0, 2)
        if part == 13:
            return w.gather(x, 1, *r.choice([[0], [-1], [s - 1], [s // 2], list(range(s))]))
        if part == 14:
            return halves(w, x, r.choice((1, 2)))
        if part == 15:
            return w.tile(x, 1, r.choice([2, s]), 1)
        if part == 16:
            return w.pad(x, 0, r.choice([0, 2]), 0, 0, r.choice([1, 12 - s, -s % 4]), 0)
        if part == 17:
            k = r.choice([2, s, max(1, s // 2)])
            return w.transpose(w.add("TopK", [w.transpose(x, 0, 2, 1), w.ints(k)], [[1, c, k]] * 2, outputs=2, axis=2)[0], 0, 2, 1)
        if part == 18:
            return w.transpose(w.conv(w.transpose(x, 0, 2, 1), 8, 3, r.choice([1, 2])), 0, 2, 1)
        if part == 19:
            return w.reshape(x, 1, -1, c) if r.random() < 0.5 else w.reshape(x, -1, s, c)
        if part == 20:
            return w.binary("Sub", x, w.reduce(x, [1]))
        if part == 21:
            return w.linear(w.transpose(x, 0, 2, 1), 8) if r.random() < 0.3 else w.transpose(x, 0, 2, 1)
        if part == 22:
            return w.concat([w.weight(1, r.choice([1, 3]), c), x], 1)
        return w.softmax(x, r.choice([1, 2]))

    def images(self, w, r, x):
        """One part on [1, C, H, W]."""
        c, h, width = x.shape[1:]
        part = r.randrange(22)
        if part < 3:
            return w.relu(w.conv(x, r.choice((4, 6, 8)), 3, r.choice((1, 1, 2))))
        if part == 3:
            return w.pool(x, 2, op=r.choice(("MaxPool", "AveragePool")))
        if part == 4:
            return w.adaptive_pool(x, r.choice((1, 2, 4)))
        if part == 5:
            return w.pool(x, x.shape[2:])
        if part == 6:
            return w.resize(x, 2 * h, 2 * width)
        if part == 7:
            return w.resize(x, *r.choice([(8, 8), (h, width), (h + 1, width + 1), w.inputs[0].shape[2:]]))
        if part == 8:
            return squeeze_excite(w, x, r.random() < 0.5)
        if part == 9:
            return non_local(w, x)
        if part == 10:
            size = r.choice((2, 4))
            return w.transpose(windows(w, w.transpose(x, 0, 2, 3, 1), size), 0, 3, 1, 2)
        if part == 11:
            return w.conv(pixel_shuffle(w, w.conv(x, 8), 2), 4)
        if part == 12:
            return shuffle(w, w.conv(x, 8), 2)
        if part == 13:
            return center_crop(w, x, r.choice([4, h // 2, h - 2]))
        if part == 14 and not w.producer:
            return same_stride(w, x)
        if part == 15:
            return w.conv(w.pad(x, 0, 0, 1, 1, 0, 0, 1, 1), 4, 3, r.choice((1, 2)), [0] * 4)
        if part == 16:
            return to_multiple(w, x, r.choice((4, 8)))
        if part == 17:
            return w.up_conv(x, 4)
        if part == 18:
            y = w.transpose(w.reshape(x, 1, c, h * width), 0, 2, 1)
            y = w.linear(y, c) if r.random() < 0.5 else y
            return w.reshape(w.transpose(y, 0, 2, 1), 1, c, *r.choice([(h, width), (width, h)]))
        if part == 19:
            return w.reshape(x, 1, *r.choice([(c, h, width), (c, width, h), (h, c, width), (c, -1, width), (c, h, -1), (-1, h, width)]))
        if part == 20:
            return strided_cut(w, x) if r.random() < 0.5 else w.slice(x, 2, r.choice([1, 2]), self.expression(r, h))
        return aspp(w, x)

    def end(self, w, r, x):
        kind = r.randrange(8)
        if kind == 0:
            return w.linear(w.flatten(x), 5)
        if kind == 1:
            return w.linear(w.reduce(x, [1]), 5) if len(x.shape) == 3 else head(w, w.global_pool(x))
        if kind == 2:
            axes = list(range(1, len(x.shape) - 1)) if len(x.shape) == 3 else [2, 3]
            return w.scaled(w.reduce(x, axes, "ReduceSum"), np.prod([x.shape[d] for d in axes]), "Div")
        if kind == 3 and len(x.shape) == 4 and all(n.op_type != "Resize" for n in w.nodes):  # of which all pixels may be equal
            return largest(w, x)
        if kind == 4 and len(x.shape) == 3:
            return variance(w, x, 1)
        return x

    def __call__(self, w, *shape):
        r = random.Random(self.seed)
        x = w.input("x", [1, *shape])
        kinds = {3: self.steps, 4: self.images}
        for _ in range(r.randrange(1, 5)):
            state = r.getstate()
            y = None
            if len(x.shape) in kinds:
                y = kinds[len(x.shape)](w, r, x)
            r.setstate(state)
            r.random()
            r = random.Random(r.getrandbits(64))
            if y is None or min(y.shape) < 1 or np.prod(y.shape) > 1 << 16:
                raise AssertionError("no network")
            if x.shape == y.shape and self.seed % 3 == 0 and w.nodes:
                y = w.binary("Add", x, y)
            x = y
        w.output(self.end(w, r, x))


def structure(model):
    """What an export for other lengths has in common: its operators, and its weights."""
    weights = {i.name: list(i.dims) for i in model.graph.initializer if i.data_type == 1}
    return [(n.op_type, [weights.get(i) for i in n.input]) for n in model.graph.node]


def networks(check, count, first):
    """Random networks, of which those count that can be exported for both lengths."""
    found, wrong, seed = {FOLLOWS: 0, REFUSED: 0}, [], first * 10**9
    while sum(found.values()) + len(wrong) < count:
        seed += 1
        r = random.Random(seed)
        if r.random() < 0.5:
            a, b = ((r.choice((2, 3, 4, 5, 6, 8, 12)), r.choice((8, 12, 16))) for _ in range(2))
            b = (b[0], a[1])
        else:
            sides = (4, 5, 6, 8, 10, 12, 15, 16)
            h, v = r.choice(sides), r.choice(sides)
            square = r.random() < 0.6
            a = (r.choice((3, 4, 6, 8)), h, h if square else r.choice(sides))
            b = (a[0], v, v if square else r.choice((a[2], r.choice(sides))))
        if a == b:
            continue
        settings = {"producer": r.choice(("", "pytorch"))}
        network = sampler(seed)
        try:
            shapes = [exported(network, lengths, seed, **settings) for lengths in (a, b)]
        except (AssertionError, ValueError, ZeroDivisionError):
            continue
        if structure(shapes[0]) != structure(shapes[1]):
            continue
        try:
            found[check.outcome(network, a, b, settings, seed)[0]] += 1
        except AssertionError:
            continue
        except SystemExit as e:
            wrong.append(f"seed {seed}, {a} -> {b}: {e}")
            print(wrong[-1])
    print(f"{count} random networks from seed {first}: {found[FOLLOWS]} follow, {found[REFUSED]} are refused, {len(wrong)} are wrong")
    if wrong:
        raise SystemExit("\n".join(wrong))
