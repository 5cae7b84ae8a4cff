#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random networks with lengths: lines along time, and images of any size in a batch. Where they convert, they give what ONNX Runtime gives for
each length, and, where sizes choose no other algorithm, the bits of the file of that length alone.

    random_lengths.py [--first SEED] [--count N]
"""
import argparse
import collections
import pathlib
import sys
import tempfile

import numpy as np
from onnx import helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from lengths import Network, attention, choices_of  # noqa: E402
from models import error_of, nsk, plain_session, results_of, told  # noqa: E402

TOLERANCE = 1e-4  # of the largest magnitude
failures = []
counts = collections.Counter()


class Lines(Network):
    """Layers of [1, time, channels]."""

    LAYERS = ["dense", "attend", "normalise", "soft", "window", "stride", "valid", "reduce", "widen", "prepend", "twice", "cut", "pad", "recur", "mix", "sum",
              "double", "pool", "choose", "reorder", "best", "position", "flip", "mirror"]

    def __init__(self, seed):
        super().__init__(seed)
        self.width, self.minimum = int(self.random.choice([4, 6, 8, 16, 24])), 1
        self.given = self.width
        self.input("x", [1, "time", self.width])

    def windows(self, x, make):
        """What `make` does to [1, channels, time]."""
        return self.op("Transpose", make(self.op("Transpose", x, perm=[0, 2, 1])), perm=[0, 2, 1])

    def convolved(self, x, size, pad, stride, minimum):
        outputs, inputs = int(self.random.choice([4, 8, 12])), self.width
        self.width, self.minimum = outputs, max(self.minimum, minimum)
        return self.windows(x, lambda y: self.op("Conv", y, self.weights(outputs, inputs, size), self.weights(outputs), pads=[pad, pad], strides=[stride]))

    def recurrent(self, x):
        kind, hidden = ("GRU", 3) if self.random.integers(2) else ("LSTM", 4), int(self.random.choice([4, 8]))
        result = f"recurrent_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind[0], [self.op("Transpose", x, perm=[1, 0, 2]), self.weights(1, kind[1] * hidden, self.width),
                                                     self.weights(1, kind[1] * hidden, hidden)], [result], name=result, hidden_size=hidden,
                                           direction=str(self.random.choice(["forward", "reverse"]))))
        self.width = hidden
        return self.op("Transpose", self.op("Squeeze", result, self.constant([1], np.int64)), perm=[1, 0, 2])

    def layer(self, kind, x):
        r, w = self.random, self.width
        if kind == "dense":
            self.width = int(r.choice([4, 8, 16]))
            return self.op("Relu", self.dense(x, w, self.width))
        if kind == "attend":
            return self.op("Add", x, attention(self, x, x, w, 2)) if w % 2 == 0 else x
        if kind == "normalise":
            return self.op("LayerNormalization", x, self.weights(w), self.weights(w), axis=-1)
        if kind == "soft":
            return self.op("Softmax", x, axis=int(r.integers(1, 3)))
        if kind in ("window", "stride", "valid"):
            size = int(r.choice([1, 3, 5]))
            return self.convolved(x, size, 0 if kind == "valid" else size // 2, 2 if kind == "stride" else 1, 1 if kind == "window" else 12)
        if kind == "reduce":
            return self.op("Sub" if r.integers(2) else "Mul", x, self.op("ReduceMax" if r.integers(2) else "ReduceMean", x, axes=[1], keepdims=1))
        if kind == "widen":
            self.width *= 2
            return self.op("Concat", x, self.op("Tanh", x), axis=2)
        if kind == "prepend":
            return self.op("Concat", self.weights(1, int(r.integers(1, 4)), w), x, axis=1)
        if kind == "twice":
            return self.op("Concat", x, self.op("Neg", x), axis=1)
        if kind == "cut":
            self.minimum = max(self.minimum, 6)
            return self.op("Slice", x, *[self.constant([n], np.int64) for n in (int(r.integers(0, 2)), -int(r.integers(1, 3)), 1)])
        if kind == "pad":
            return self.op("Pad", x, self.constant([0, int(r.integers(0, 3)), 0, 0, int(r.integers(0, 3)), 0], np.int64))
        if kind == "recur":
            return self.recurrent(x)
        if kind == "mix":
            return self.op("MatMul", self.op("Sigmoid", self.op("MatMul", x, self.op("Transpose", x, perm=[0, 2, 1]))), x)
        if kind == "sum":
            return self.op("CumSum", x, self.constant(1, np.int64))
        if kind == "double":
            return self.windows(x, lambda y: self.op("Resize", y, "", self.constant([1, 1, 2]), mode="nearest", coordinate_transformation_mode="asymmetric",
                                                     nearest_mode="floor"))
        if kind == "pool":
            self.minimum = max(self.minimum, 8)
            return self.windows(x, lambda y: self.op("MaxPool" if r.integers(2) else "AveragePool", y, kernel_shape=[3], strides=[int(r.choice([1, 2]))],
                                                     pads=[1, 1]))
        if kind == "flip":
            return self.op("Slice", x, *[self.constant([n], np.int64) for n in (-1, -(2**31), 1, -1)])
        if kind == "mirror":
            self.minimum = max(self.minimum, 8)
            return self.op("Pad", x, self.constant([0, int(r.integers(0, 4)), 0, 0, int(r.integers(0, 4)), 0], np.int64), mode="reflect")
        if kind == "choose":
            return self.op("Where", self.op("Greater", x, self.constant(0.1)), x, self.op("Mul", x, self.constant(0.5)))
        if kind == "reorder":
            return x if w % 2 else self.reshape(self.op("Transpose", self.reshape(x, 1, -1, 2, w // 2), perm=[0, 1, 3, 2]), 1, -1, w)
        if kind == "best":
            self.minimum = max(self.minimum, 5)
            results = [f"best_{len(self.nodes)}", f"place_{len(self.nodes)}"]
            self.nodes.append(helper.make_node("TopK", [x, self.constant([3], np.int64)], results, axis=1))
            return self.op("Concat", results[0], x, axis=1)
        return self.op("Add", x, self.op("Mul", self.op("Cast", self.op("ArgMax", x, axis=1, keepdims=1), to=1), self.constant(0.01)))

    def draw(self):
        x, past = "x", {}
        if self.random.integers(3) == 0:  # what came before stands in front
            x, past = self.op("Concat", self.input("past", [1, "past", self.width]), x, axis=1), {"past": "0..7"}
        for _ in range(int(self.random.integers(2, 7))):
            x = self.layer(str(self.random.choice(self.LAYERS)), x)
        bound = max(int(self.random.choice([9, 20, 33, 48])), self.minimum + 7)
        low, middle = self.minimum, (self.minimum + bound) // 2
        values = {"time": sorted({low, low + 1, middle, bound - 1, bound}), **({"past": (0, 1, 6)} if past else {})}
        return x, {"time": f"{low}..{bound}", **past}, choices_of(values)

    def shapes(self, chosen):
        return {name: (1, n, self.given) for name, n in zip(("x", "past"), (chosen["time"], chosen.get("past"))) if n is not None}


class Images(Network):
    """Layers of [batch, channels, height, width], whose sizes are multiples of 8."""

    LAYERS = ["conv", "conv", "down", "depthwise", "pool", "up", "skip", "squeeze", "function", "shuffle", "transposed", "dense", "norm", "groups", "blend", "standard", "mirror",
              "turn"]

    def __init__(self, seed):
        super().__init__(seed)
        self.channels, self.depth, self.earlier = 3, 0, []
        self.input("x", ["batch", 3, "height", "width"])

    def conv(self, x, outputs, size, **attributes):
        inputs, self.channels = self.channels // attributes.get("group", 1), outputs
        return self.op("Conv", x, self.weights(outputs, inputs, size, size), self.weights(outputs), pads=[size // 2] * 4, **attributes)

    def layer(self, kind, x):
        r, c, deeper = self.random, self.channels, kind in ("down", "pool")
        if (deeper and self.depth == 3) or (kind in ("up", "shuffle", "transposed") and self.depth == 0):
            return x
        self.depth += int(deeper) - int(kind in ("up", "transposed") or (kind == "shuffle" and c % 4 == 0))
        if kind == "conv":
            return self.conv(x, int(r.choice([4, 8, 12, 20])), int(r.choice([1, 3, 5])))
        if kind == "down":
            return self.conv(x, int(r.choice([8, 16])), 3, strides=[2, 2])
        if kind == "depthwise":
            return self.conv(x, c, int(r.choice([3, 5])), group=c)
        if kind == "groups":
            return self.conv(x, c, 3, group=4) if c % 4 == 0 else x
        if kind == "pool":
            return self.op("MaxPool" if r.integers(2) else "AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
        if kind == "up":
            return self.op("Resize", x, "", self.constant([1, 1, 2, 2]), mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
        if kind == "transposed":
            self.channels = int(r.choice([4, 8]))
            return self.op("ConvTranspose", x, self.weights(c, self.channels, 2, 2), self.weights(self.channels), strides=[2, 2])
        if kind == "shuffle":
            self.channels = c // 4 if c % 4 == 0 else c
            return self.op("DepthToSpace", x, blocksize=2) if c % 4 == 0 else x
        if kind == "squeeze":
            return self.op("Mul", x, self.op("Sigmoid", self.op("Conv", self.op("GlobalAveragePool", x), self.weights(c, c, 1, 1), self.weights(c))))
        if kind == "norm":
            return self.op("BatchNormalization", x, *[self.weights(c) for _ in range(3)], self.constant(r.uniform(0.5, 1, c)))
        if kind == "blend":
            sizes = {"linear": 2, "cubic": 2} if r.integers(2) else {"linear": 1.5}
            mode, factor = list(sizes.items())[int(r.integers(len(sizes)))]
            x = self.op("Resize", x, "", self.constant([1, 1, factor, factor]), mode=mode, coordinate_transformation_mode=str(r.choice(["half_pixel", "asymmetric"])))
            self.depth += 0.01 if factor == 1.5 else 0  # no other value has this size
            return x if factor == 1.5 else self.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
        if kind == "mirror":  # and a window that takes the rows away again
            pad = int(r.integers(1, 3))
            self.channels = int(r.choice([4, 8]))
            mirrored = self.op("Pad", x, self.constant([0, 0, pad, pad] * 2, np.int64), mode="reflect") if self.depth < 3 else x
            pads = [0] * 4 if self.depth < 3 else [pad] * 4
            return self.op("Conv", mirrored, self.weights(self.channels, c, 2 * pad + 1, 2 * pad + 1), self.weights(self.channels), pads=pads)
        if kind == "turn":
            axis = int(r.integers(1, 4))
            return self.op("Slice", x, *[self.constant([n], np.int64) for n in (-1, -(2**31), axis, -1)])
        if kind == "standard":
            return self.op("InstanceNormalization", x, self.weights(c), self.weights(c))
        if kind == "dense":
            self.channels = 8
            return self.op("Transpose", self.op("MatMul", self.op("Transpose", x, perm=[0, 2, 3, 1]), self.weights(c, 8)), perm=[0, 3, 1, 2])
        if kind == "skip":
            for value, channels, depth in self.earlier:
                if depth == self.depth:
                    self.channels += channels
                    return self.op("Concat", x, value, axis=1)
            return x
        return self.op(str(r.choice(["Relu", "Sigmoid", "HardSwish", "Tanh"])), x)

    def draw(self):
        x = "x"
        for _ in range(int(self.random.integers(2, 8))):
            before = (x, self.channels, self.depth)
            x = self.layer(str(self.random.choice(self.LAYERS)), x)
            self.earlier.append(before)
        height, width, batch = (int(self.random.choice(n)) for n in ([24, 40, 64], [32, 48], [2, 3]))
        values = choices_of({"height": (16, height), "width": (16, width), "batch": (1, batch)})
        return x, {"height": f"16..{height}/8", "width": f"16..{width}/8", "batch": f"{batch}"}, values[::2] + values[-1:]

    def shapes(self, chosen):
        return {"x": (chosen["batch"], 3, chosen["height"], chosen["width"])}


def compare(net, name, folder):
    source, file, alone = folder / "source.onnx", folder / "lengths.nsk", folder / "alone.nsk"
    result, bounds, values = net.draw()
    net.save(source, result)
    session = plain_session(source)
    options = ["--no-winograd"] if isinstance(net, Images) else []
    done = nsk("convert", source, "-o", file, *options, *[o for length, text in bounds.items() for o in ("--bound", f"{length}={text}")])
    if done.returncode:
        counts["refused"] += 1
        if done.returncode != 2 or "report" in done.stderr:
            failures.append(f"{name}: exit code {done.returncode}, {done.stderr}")
        return
    counts["converted"] += 1
    for chosen in values:
        random = np.random.default_rng(len(failures))
        given = {name: random.normal(0, 1, shape).astype(np.float32) for name, shape in net.shapes(chosen).items()}
        wanted = session.run(None, given)[0]
        shapes = [o for name, x in given.items() for o in ("--input", f"{name}={'x'.join(map(str, x.shape))}")]
        given = {name: x for name, x in given.items() if x.size}
        for name, x in given.items():
            np.save(folder / f"{name}.npy", x)
        done = nsk("run", file, *[o for name in given for o in ("--input", f"{name}={folder / f'{name}.npy'}")], "--output-dir", folder / "out", *[o for length, n in chosen.items() for o in ("--length", f"{length}={n}")])
        got = np.load(folder / "out" / f"{result}.npy") if done.returncode == 0 else None
        nsk("convert", source, "-o", alone, "--no-check", "--quiet", *options, *shapes)
        exact = results_of(alone, given, folder)(result)
        same = got is not None and got.tobytes() == exact.tobytes()
        counts["other bits"] += not same
        amplified = error_of(exact, wanted) > TOLERANCE  # by the file of this length alone too
        if got is None or got.shape != wanted.shape or (error_of(got, wanted) > TOLERANCE and not (same and amplified)) or (isinstance(net, Lines) and not same):
            failures.append(f"{name} {chosen}: {done.stderr or error_of(got, wanted)}, {'the same' if same else 'other'} bits as alone")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=25)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for seed in range(options.first, options.first + options.count):
            for kind in (Lines, Images):
                compare(kind(seed), f"{kind.__name__} {seed}", pathlib.Path(name))
    print(dict(counts))
    if counts["converted"] < options.count:
        failures.append("fewer than half of the networks convert")
    return told(failures)


if __name__ == "__main__":
    sys.exit(main())
