# SPDX-License-Identifier: MIT
"""Networks whose exports have lengths of their input as literals: functions of a writer (static_exporter.py) and the lengths."""
import numpy as np

# Networks: functions of a writer and the lengths of their input.

def image(w, h, width=None, channels=3):
    return w.input("x", [1, channels, h, h if width is None else width])


def sequence(w, steps, width=16):
    return w.input("x", [1, steps, width])


def one(network):
    """A network whose result is its only output."""
    return lambda w, *lengths: w.output(network(w, *lengths))


def attention(w, x, heads, steps):
    """As torch exports multi-head attention with batch first."""
    width = x.shape[2]
    parts = [w.transpose(w.reshape(w.linear(x, width), 1, steps, heads, width // heads), 0, 2, 1, 3) for _ in range(3)]
    scores = w.softmax(w.scaled(w.matmul(parts[0], w.transpose(parts[1], 0, 1, 3, 2)), (width // heads) ** -0.5))
    y = w.reshape(w.transpose(w.matmul(scores, parts[2]), 0, 2, 1, 3), 1, steps, width)
    return w.binary("Add", x, w.linear(y, width))


def scrambled_attention(w, x, heads, steps):
    """Heads are taken by a view that mixes positions, as much copied code does."""
    width = x.shape[2]
    parts = [w.reshape(w.linear(x, width), heads, steps, width // heads, literal=[heads, -1, width // heads]) for _ in range(3)]
    y = w.matmul(w.softmax(w.matmul(parts[0], w.transpose(parts[1], 0, 2, 1))), parts[2])
    return w.linear(w.reshape(y, 1, steps, width, literal=[1, -1, width]), width)


def non_local(w, x):
    """Attention over the pixels of an image."""
    n, c, h, width = x.shape
    q, k, v = (w.reshape(w.conv(x, c, 1), n, c, h * width) for _ in range(3))
    scores = w.softmax(w.matmul(w.transpose(q, 0, 2, 1), k))
    return w.binary("Add", x, w.reshape(w.transpose(w.matmul(scores, w.transpose(v, 0, 2, 1)), 0, 2, 1), n, c, h, width))


def resized_by_scales(w, x, size):
    """As exporters of opset 11 write a size: divided by the length that it has in the export."""
    h, v = x.shape[2:]
    return w.add("Resize", [x, "", w.constant([1, 1, size / h, size / v])], x.shape[:2] + [size, size], mode="nearest")


def enlarged_by_scales(w, x, joins):
    y = resized_by_scales(w, w.conv(x, 3, stride=2), x.shape[2])
    return w.binary("Add", x, y) if joins else y


def unet(w, x, by_size):
    a = w.relu(w.conv(x, 8))
    b = w.relu(w.conv(w.pool(a, 2, op="MaxPool"), 8))
    c = w.relu(w.conv(w.conv(b, 8, stride=2), 8))
    up = w.resize(c, *(b.shape[2:] if by_size else [2 * s for s in c.shape[2:]]))
    d = w.relu(w.conv(w.concat([up, b], 1), 8))
    return w.conv(w.concat([w.resize(d, *a.shape[2:], mode="nearest"), a], 1), 4)


def squeeze_excite(w, x, literal_pool):
    s = w.pool(x, x.shape[2:]) if literal_pool else w.global_pool(x)
    s = w.unary("HardSigmoid", w.conv(w.relu(w.conv(s, 4, 1)), x.shape[1], 1))
    return w.binary("Mul", x, s)


def pyramid(w, x, fixed):
    """Pooled to 1, 2 and 4 positions, and enlarged to the image's size."""
    parts = [x]
    for results in (1, 2, 4):
        p = w.pool(x, fixed // results) if fixed else w.adaptive_pool(x, results)
        parts.append(w.resize(w.conv(p, 4, 1), *x.shape[2:]))
    return w.conv(w.concat(parts, 1), 4, 1)


def aspp(w, x):
    pooled = w.resize(w.conv(w.global_pool(x), 4, 1), *x.shape[2:])
    return w.conv(w.concat([w.conv(x, 4), pooled], 1), 4, 1)


def windows(w, x, size):
    """Attention-like mixing in windows of size x size, on [1, H, W, C]."""
    n, h, width, c = x.shape
    parts = w.reshape(x, n, h // size, size, width // size, size, c)
    rows = w.reshape(w.transpose(parts, 0, 1, 3, 2, 4, 5), n * (h // size) * (width // size), size * size, c)
    rows = w.binary("Add", w.linear(rows, c), w.weight(size * size, c))
    return w.reshape(w.transpose(w.reshape(rows, n, h // size, width // size, size, size, c), 0, 1, 3, 2, 4, 5), n, h, width, c)


def patches(w, x, size):
    return w.transpose(w.reshape(w.conv(x, 16, size, size, [0] * 4), 1, 16, (x.shape[2] // size) * (x.shape[3] // size)), 0, 2, 1)


def relative_shift(w, x):
    """[heads, S, 2S - 1] skewed by a pad and two reshapes."""
    heads, steps, places = x.shape
    padded = w.concat([w.constant(np.zeros((heads, steps, 1))), x], 2)
    return w.slice(w.reshape(w.slice(w.reshape(padded, heads, places + 1, steps), 1, 1), heads, steps, places), 2, 0, steps)


def shuffle(w, x, groups):
    n, c, h, width = x.shape
    y = w.transpose(w.reshape(x, n, groups, c // groups, h, width), 0, 2, 1, 3, 4)
    return w.reshape(y, n, c, h, width)


def pixel_shuffle(w, x, r):
    n, c, h, width = x.shape
    y = w.transpose(w.reshape(x, n, c // r // r, r, r, h, width), 0, 1, 4, 2, 5, 3)
    return w.reshape(y, n, c // r // r, h * r, width * r)


def table(w, rows, width=16):
    return np.random.default_rng(w.seed).standard_normal((512, width))[:rows]


def variance(w, x, axis):
    n = x.shape[axis]
    d = w.binary("Sub", x, w.reduce(x, [axis]))
    return w.scaled(w.reduce(w.binary("Mul", d, d), [axis]), n / (n - 1))


def largest(w, x):
    """[1, C, H, W] -> row and column of the largest element, as floats."""
    n, c, h, width = x.shape
    i = w.add("ArgMax", [w.reshape(x, n, c, h * width)], [n, c], axis=2, keepdims=0)
    row, column = (w.add(op, [i, w.constant(np.int64(width), np.int64)], [n, c]) for op in ("Div", "Mod"))
    return w.concat([w.add("Cast", [v], [n, c], to=1) for v in (row, column)], 1)


def strided_cut(w, x):
    cut = [w.slice(w.slice(x, 2, a, step=2), 3, b, step=2) for a in (0, 1) for b in (0, 1)]
    return w.conv(w.concat(cut, 1), 8)


def center_crop(w, x, size):
    assert 0 < size <= min(x.shape[2:]), "no network"
    for axis in (2, 3):
        a = (x.shape[axis] - size) // 2
        x = w.slice(x, axis, a, a + size)
    return x


def to_multiple(w, x, m):
    more = -x.shape[2] % m
    return w.conv(w.pad(x, 0, 0, 0, 0, 0, 0, more, 0), 4)


def same_stride(w, x, k=3):
    """Stride 2 with the pads that SAME has for this length, as explicit numbers."""
    pads = [max(0, (-(-s // 2) - 1) * 2 + k - s) for s in x.shape[2:]]
    return w.conv(x, 6, k, 2, [p // 2 for p in pads] + [p - p // 2 for p in pads])


def positions(w, x):
    return w.binary("Add", x, w.constant(table(w, x.shape[1], x.shape[2])[None]))


def gathered_positions(w, x):
    p = w.add("Gather", [w.constant(table(w, 512, x.shape[2])), w.ints(*range(x.shape[1]))], x.shape[1:], axis=0)
    return w.binary("Add", x, p)


def sliced_positions(w, x):
    return w.binary("Add", x, w.slice(w.constant(table(w, 512, x.shape[2])), 0, 0, x.shape[1]))


def causal_mask(w, x):
    s = x.shape[1]
    scores = w.matmul(w.linear(x, 8), w.transpose(w.linear(x, 8), 0, 2, 1))
    return w.matmul(w.softmax(w.binary("Add", scores, w.constant(np.triu(np.full((s, s), -1e4), 1)))), x)


def zeros_like(w, x, *shape):
    return w.add("ConstantOfShape", [w.ints(*shape)], shape)


def decoder(w, x, queries):
    """Learned queries, repeated, that look at the sequence."""
    q = w.expand(w.constant(table(w, 1, x.shape[2])[None]), 1, queries, x.shape[2])
    return w.matmul(w.softmax(w.matmul(w.linear(q, 16), w.transpose(x, 0, 2, 1))), x)


def deep(w, h, width=None):
    x = image(w, h, width)
    x = w.relu(w.conv(x, 8, stride=2))
    x = w.relu(w.conv(x, 16, stride=2))
    return x


def head(w, x):
    return w.gemm(w.flatten(x), 5)


def stacked(w, x):
    """One step after the other, as an unrolled loop."""
    state = w.linear(w.squeeze(w.slice(x, 1, 0, 1), 1), 8)
    for t in range(1, x.shape[1]):
        state = w.unary("Tanh", w.binary("Add", state, w.linear(w.squeeze(w.slice(x, 1, t, t + 1), 1), 8)))
    return state


def last_step(w, x, negative):
    return w.linear(w.squeeze(w.gather(x, 1, -1 if negative else x.shape[1] - 1), 1), 4)


def average(w, x, before):
    s = x.shape[1]
    return w.reduce(w.scaled(x, 1 / s), [1], "ReduceSum") if before else w.scaled(w.reduce(x, [1], "ReduceSum"), s, "Div")


def halves(w, x, axis):
    s = x.shape[axis]
    return w.binary("Mul", *w.split(x, axis, s // 2, s - s // 2))


def ordered(w, x, k):
    y = w.add("TopK", [x, w.ints(k)], [[1, x.shape[1], k]] * 2, outputs=2, axis=2)
    return y[0]


def lraspp(w, x):
    """Torchvision's head of two resolutions, enlarged to the image's size."""
    low = w.relu(w.conv(w.relu(w.conv(x, 8, stride=2)), 8, stride=2))
    high = w.relu(w.conv(low, 12, stride=2))
    gated = w.binary("Mul", w.relu(w.conv(high, 6, 1)), w.unary("Sigmoid", w.conv(w.global_pool(high), 6, 1)))
    y = w.binary("Add", w.conv(low, 3, 1), w.conv(w.resize(gated, *low.shape[2:]), 3, 1))
    return w.resize(y, *x.shape[2:])


def deep_lab(w, x):
    """Parallel convolutions and a pooled branch, enlarged to the image's size."""
    return w.resize(w.conv(w.relu(aspp(w, w.relu(w.conv(w.relu(w.conv(x, 8, stride=2)), 8, stride=2)))), 3, 1), *x.shape[2:])


def line_detector(w, x):
    """As M-LSD: features of three resolutions put together, enlarged to half the image's size, and their peaks."""
    a = w.relu(w.conv(w.relu(w.conv(x, 6, stride=2)), 6, stride=2))
    b = w.relu(w.conv(a, 8, stride=2))
    c = w.concat([w.resize(b, *a.shape[2:]), a], 1)
    y = w.resize(w.conv(c, 3), *[s // 2 for s in x.shape[2:]])
    score = w.unary("Sigmoid", w.slice(y, 1, 0, 1))
    peaks = w.pool(score, 3, 1, "MaxPool", [1] * 4)
    shape = [1, score.shape[2], score.shape[3], 1]
    kept = w.add("Equal", [w.reshape(score, *shape), w.reshape(peaks, *shape)], shape)
    return w.binary("Mul", w.reshape(score, *shape), w.add("Cast", [kept], shape, to=1))
