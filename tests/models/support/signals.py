# SPDX-License-Identifier: MIT
"""Networks along time, for tests: known kinds, and layers at random."""
import pathlib
import sys

import numpy as np
from onnx import helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "onnx"))
from lengths import Network  # noqa: E402


class Signal(Network):
    """Networks of [1, channels, samples], and of [1, samples, channels]."""

    def __init__(self, seed, channels=1, rows=False):
        super().__init__(seed)
        self.width, self.step, self.late = channels, 1, 0
        self.shape = [1, None, channels] if rows else [1, channels, None]
        self.input("x", [n or "samples" for n in self.shape])

    def conv(self, x, outputs, size, dilation=1, stride=1, group=1, before=None, behind=0, bias=True):
        """A convolution that sees what is behind it alone."""
        inputs, self.width, self.step = self.width // group, outputs, self.step * stride
        before = (size - 1) * dilation + 1 - stride if before is None else before
        return self.op("Conv", x, self.weights(outputs, inputs, size), *([self.weights(outputs)] if bias else []), pads=[before, behind], dilations=[dilation],
                       strides=[stride], group=group)

    def integers(self, *numbers):
        return self.constant(numbers, np.int64)

    def chomped(self, x, outputs, size, dilation=1):
        """Padded on both sides, and cut at the end."""
        pad, inputs, self.width = (size - 1) * dilation, self.width, outputs
        y = self.op("Conv", x, self.weights(outputs, inputs, size), self.weights(outputs), pads=[pad, pad], dilations=[dilation])
        return self.op("Slice", y, self.integers(0), self.integers(-pad), self.integers(2))

    def swapped(self, x):
        return self.op("Transpose", x, perm=[0, 2, 1])

    def recurrent(self, kind, x, hidden, x_rows=False, results=("all",), **attributes):
        """Over [1, samples, channels]."""
        gates, inputs, self.width = {"RNN": 1, "GRU": 3, "LSTM": 4}[kind], self.width, hidden
        names = [f"{name}_{len(self.nodes)}" if name else "" for name in results]
        x = self.op("Transpose", x, perm=[1, 0, 2])
        self.nodes.append(helper.make_node(kind, [x, self.weights(1, gates * hidden, inputs), self.weights(1, gates * hidden, hidden), self.weights(1, 2 * gates * hidden)],
                                           names, name=f"{kind}_{len(self.nodes)}", hidden_size=hidden, **attributes))
        all_of = self.op("Transpose", self.op("Squeeze", names[0], self.integers(1)), perm=[1, 0, 2]) if names[0] else None
        return (all_of, *names[1:]) if len(names) > 1 else all_of


def wavenet(net):
    """Dilated layers with gates, residues and skips."""
    x, skips = net.conv("x", 8, 2), None
    for dilation in (1, 2, 4, 8, 1, 2, 4, 8):
        a, b = net.conv(x, 8, 2, dilation), net.conv(x, 8, 2, dilation)
        y = net.op("Mul", net.op("Tanh", a), net.op("Sigmoid", b))
        skip = net.conv(y, 8, 1)
        skips = net.op("Add", skips, skip) if skips else skip
        x = net.op("Add", x, net.conv(y, 8, 1))
    return [net.conv(net.op("Relu", net.conv(net.op("Relu", skips), 16, 1)), 4, 1)]


def tcn(net):
    """Temporal blocks: padded on both sides and cut at the end, normalised, with a residue."""
    x = "x"
    for dilation in (1, 2, 4):
        y = x
        for _ in range(2):
            y = net.chomped(y, 12, 3, dilation)
            y = net.op("BatchNormalization", y, *[net.weights(12) for _ in range(3)], net.constant(net.random.uniform(0.5, 1, 12)))
            y = net.op("Relu", y)
        if dilation == 1:
            net.width = 6
            x = net.conv(x, 12, 1)
        x = net.op("Relu", net.op("Add", x, y))
    return [x]


def encoder(net):
    """Strides of 2, 3 and 2, pools of their own length, and back by transposed layers that overlap."""
    x = net.op("Relu", net.conv("x", 8, 5, stride=2))
    bridge = x
    x = net.op("Elu", net.conv(x, 12, 7, stride=3, before=6))
    x = net.op("MaxPool", net.conv(x, 12, 3), kernel_shape=[2], strides=[2])
    net.step *= 2
    code = net.conv(x, 6, 1)
    y = net.op("ConvTranspose", code, net.weights(6, 8, 4), net.weights(8), strides=[2], pads=[0, 2])
    y = net.op("ConvTranspose", net.op("LeakyRelu", y), net.weights(8, 8, 6), net.weights(8), strides=[3], pads=[0, 3])
    net.width = 16
    return [code, net.conv(net.op("Concat", y, bridge, axis=1), 3, 3)]


def voice(net):
    """A GRU behind convolutions, with a norm over channels; an LSTM whose last value is an output."""
    x = net.swapped(net.op("Relu", net.conv(net.conv("x", 10, 5, stride=4), 10, 3)))
    x = net.op("LayerNormalization", x, net.weights(10), net.weights(10), axis=-1)
    x = net.recurrent("GRU", x, 12, linear_before_reset=1)
    x, h, c = net.recurrent("LSTM", net.op("Tanh", net.dense(x, 12, 12)), 8, results=("all", "h", "c"))
    return [net.op("Softmax", net.dense(x, 8, 5), axis=-1), net.dense(net.op("Squeeze", h, net.integers(0)), 8, 3), c]


def keywords(net):
    """Layers that are separable along depth, on [1, samples, bands] that become an image; the last window's scores."""
    x = net.op("Unsqueeze", "x", net.integers(1))
    x = net.op("Relu", net.op("Conv", x, net.weights(12, 1, 4, 3), net.weights(12), pads=[3, 1, 0, 1], strides=[1, 2]))
    for _ in range(3):
        x = net.op("Pad", x, net.integers(0, 0, 2, 0, 0, 0, 0, 0))
        x = net.op("Relu", net.op("Conv", x, net.weights(12, 1, 3, 3), net.weights(12), pads=[0, 1, 0, 1], group=12))
        x = net.op("Relu", net.op("Conv", x, net.weights(12, 12, 1, 1), net.weights(12)))
    x = net.op("ReduceMean", x, axes=[3], keepdims=0)
    x = net.dense(net.swapped(x), 12, 6)
    return [x, net.op("Gather", x, net.constant(-1, np.int64), axis=1)]


def square(net):
    """Windows of 3 x 3 that Winograd's algorithm would compute for a whole signal."""
    x = net.op("Unsqueeze", "x", net.integers(1))
    x = net.op("Conv", x, net.weights(24, 1, 3, 3), net.weights(24), pads=[2, 1, 0, 1])
    return [net.op("Conv", x, net.weights(24, 24, 3, 3), net.weights(24), pads=[2, 1, 0, 1])]


def unpadded(net):
    """Windows without pads: the outputs are late."""
    x = net.op("Relu", net.conv("x", 6, 3, before=0))
    y = net.op("Relu", net.conv(x, 6, 5, dilation=2, before=0))
    y = net.op("Add", y, net.op("Slice", x, net.integers(4), net.integers(-4), net.integers(2)))
    net.late = 2 + 8
    return [net.conv(y, 3, 1)]


def centred(net):
    """Windows in the middle of what they see, which look ahead: what is in front of the signal stays zeros."""
    x, late = "x", 0
    for size, dilation in ((3, 1), (5, 2), (3, 4)):
        pad = (size - 1) * dilation // 2
        x = net.op("Add", net.op("Tanh", net.conv(x, net.width, size, dilation, before=pad, behind=pad)), x)
        late += pad
    net.late = late
    return [x]


def spectra(net):
    """Frames of a sound as bands of their power, with what a layer over time makes of them."""
    x = net.op("Unsqueeze", net.op("Pad", net.op("Squeeze", "x", net.integers(1)), net.integers(0, 24, 0, 0)), net.integers(2))
    x = net.op("STFT", x, net.constant(8, np.int64), net.constant(np.hanning(32)), net.constant(32, np.int64))
    power = net.op("ReduceSumSquare", x, axes=[3], keepdims=0)
    bands = net.op("Log", net.op("Add", net.op("Einsum", power, net.constant(net.random.uniform(0, 1, (17, 6))), equation="btf,fm->btm"), net.constant(1e-3)))
    net.step, net.width = 8, 6
    return [bands, net.recurrent("GRU", bands, 8)]


NETWORKS = [(wavenet, 1, False, 7), (wavenet, 1, False, 64), (tcn, 6, False, 20), (encoder, 2, False, 36), (voice, 3, False, 24), (keywords, 10, True, 9),
            (square, 16, True, 12), (unpadded, 2, False, 10), (centred, 4, False, 9), (centred, 4, False, 30), (spectra, 1, False, 32)]


class Random(Signal):
    """Layers that follow each other at random: causal ones, and with `ahead` others."""

    LAYERS = ["conv", "conv", "dilated", "depthwise", "pad", "chomp", "norm", "scale", "shift", "function", "function", "gate", "residue", "skip", "pool", "recur", "rows",
              "soft", "share", "down", "up", "repeat", "image", "decimate", "frames", "clip", "split", "shared_pad"]

    def __init__(self, seed):
        super().__init__(seed, int(np.random.default_rng(seed).choice([1, 2, 3, 6])))
        self.ahead, self.rate, self.lost, self.earlier = seed % 3 == 0, 1, 0, []
        self.layers = self.LAYERS + ["valid", "centre", "centre_pool"] * 2 * self.ahead

    def slower(self, factor):
        """Whether the signal may have so many times fewer elements."""
        if self.rate * factor > 12:
            return False
        self.rate *= factor
        self.step = int(np.lcm(self.step, self.rate))
        return True

    def causal(self, x, outputs, size, dilation=1, stride=1, group=1, bias=True):
        before = (size - 1) * dilation + 1 - stride + int(self.random.integers(0, stride))
        step = self.step
        x = self.conv(x, outputs, size, dilation, stride, group, max(before, 0), 0, bias)
        self.step = step
        return x

    def layer(self, kind, x):
        r, w = self.random, self.width
        channels = lambda: int(r.choice([2, 4, 6, 8, 16]))
        if kind == "conv":
            return self.causal(x, channels(), int(r.integers(1, 6)), bias=bool(r.integers(2)))
        if kind == "dilated":
            return self.causal(x, channels(), int(r.integers(2, 4)), int(r.choice([2, 3, 8])))
        if kind == "depthwise":
            return self.causal(x, w, int(r.integers(2, 5)), group=w)
        if kind in ("pad", "shared_pad"):
            size = int(r.integers(2, 5))
            x = self.op("Pad", x, self.integers(0, 0, size - 1, 0, 0, 0), self.constant(float(r.choice([0, 0, 0.5]))))
            y = self.conv(x, channels(), size, before=0)
            if kind == "pad":
                return y
            outputs, self.width = self.width, w
            return self.op("Mul", y, self.op("Sigmoid", self.conv(x, outputs, size, before=0)))
        if kind == "chomp":
            return self.chomped(x, channels(), int(r.integers(2, 4)), int(r.choice([1, 2, 5])))
        if kind == "norm":
            return self.op("BatchNormalization", x, *[self.weights(w) for _ in range(3)], self.constant(r.uniform(0.5, 1, w)))
        if kind in ("scale", "shift"):
            by = self.constant(r.uniform(0.5, 2, (w, 1) if r.integers(2) else ()))
            return self.op(str(r.choice(["Mul", "Div"] if kind == "scale" else ["Add", "Sub"])), x, by)
        if kind == "function":
            return self.op(str(r.choice(["Relu", "Tanh", "Sigmoid", "Elu", "HardSwish", "LeakyRelu", "Softplus", "Abs", "Neg", "Erf"])), x)
        if kind == "clip":
            return self.op("Where", self.op("Greater", x, self.constant(0.3)), self.constant(0.3), self.op("Clip", x, self.constant(-1.0)))
        if kind == "gate":
            a = self.causal(x, w, 2)
            b = self.causal(x, w, 2)
            return self.op("Mul", self.op("Tanh", a), self.op("Sigmoid", b))
        if kind == "residue":
            return self.op("Add", x, self.op("Relu", self.causal(self.causal(x, 8, 3), w, 1)))
        if kind == "skip":
            for value, width, rate in self.earlier:
                if rate == (self.rate, self.lost) and self.width + width < 40:
                    self.width += width
                    return self.op("Concat", x, value, axis=1)
            return x
        if kind == "pool":
            size = int(r.choice([2, 3]))
            return self.op("MaxPool" if r.integers(2) else "AveragePool", x, kernel_shape=[size], strides=[size]) if self.slower(size) else x
        if kind == "recur":
            return self.swapped(self.recurrent(str(r.choice(["GRU", "LSTM", "RNN"])), self.swapped(x), int(r.choice([4, 8]))))
        if kind == "rows":
            y = self.op("LayerNormalization", self.swapped(x), self.weights(w), self.weights(w), axis=-1)
            self.width = channels()
            return self.swapped(self.op("Relu", self.dense(y, w, self.width)))
        if kind == "soft":
            return self.op("Softmax", x, axis=1)
        if kind == "share":
            return self.op("Mul", x, self.op("Sigmoid", self.op("ReduceMean", x, axes=[1], keepdims=1)))
        if kind == "down":
            stride = int(r.choice([2, 3]))
            return self.causal(x, channels(), int(r.integers(1, 6)), stride=stride) if self.slower(stride) else x
        if kind == "up":
            if self.rate % 2:
                return x
            size = int(r.integers(2, 6))
            self.rate, self.width = self.rate // 2, channels()
            return self.op("ConvTranspose", x, self.weights(w, self.width, size), self.weights(self.width), strides=[2], pads=[0, size - 2])
        if kind == "repeat":
            if self.rate % 3:
                return x
            self.rate //= 3
            return self.op("Resize", x, "", self.constant([1, 1, 3]), mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
        if kind == "image":
            x = self.op("Conv", self.op("Unsqueeze", x, self.integers(1)), self.weights(2, 1, 3, 3), self.weights(2), pads=[1, 2, 1, 0])
            return self.op("ReduceMax", x, axes=[1], keepdims=0)
        if kind == "decimate":
            return self.op("Slice", x, self.integers(0), self.integers(10 ** 9), self.integers(2), self.integers(2)) if self.slower(2) else x
        if kind == "frames":
            if w > 8 or not self.slower(2):
                return x
            self.width = 2 * w
            return self.reshape(self.op("Transpose", self.reshape(x, 1, w, -1, 2), perm=[0, 1, 3, 2]), 1, 2 * w, -1)
        if kind == "split":
            if w % 2:
                return x
            names = [f"half{i}_{len(self.nodes)}" for i in range(2)]
            self.nodes.append(helper.make_node("Split", [x], names, axis=1, name=names[0]))
            self.width = w // 2
            return self.op("Sub", self.op("Tanh", names[0]), names[1])
        if kind == "valid":
            self.lost += 1
            return self.conv(x, channels(), int(r.integers(2, 6)), int(r.choice([1, 2])), before=0)
        if kind == "centre_pool":
            return self.op("MaxPool", x, kernel_shape=[3], strides=[1], pads=[1, 1])
        size = int(r.choice([3, 5]))
        return self.conv(x, channels(), size, before=size // 2, behind=size // 2)

    def make(self):
        x = "x"
        for _ in range(int(self.random.integers(3, 11))):
            self.earlier.append((x, self.width, (self.rate, self.lost)))
            x = self.layer(str(self.random.choice(self.layers)), x)
        return [x if x != "x" else self.op("Neg", x)]
