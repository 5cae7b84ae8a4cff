#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`nsk convert --input` with other lengths than a static export has: what comes out is the network exported for those lengths, or a refusal.

  other_lengths.py [PATTERN] [--networks N] [--seed S]

Every network is written twice with the same weights, for lengths A and B (static_exporter.py). The export for A is converted with the lengths
of B; ONNX Runtime computes the export for B. FORMS says which have to convert and which have to be refused; random networks (--networks) are made
of the same parts. A wrong result fails the test in any case.
"""
import argparse
import pathlib
import re
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from length_networks import *  # noqa: F403
from lite_lengths import lite_forms  # noqa: E402
from models import nsk  # noqa: E402
from random_lengths import networks  # noqa: E402
from static_exporter import OPEN_END, exported  # noqa: E402

TOLERANCE = 3e-5
FOLLOWS, REFUSED, EITHER = "follows", "is refused", "either"


F = {}  # name -> (network, lengths A, lengths B, what has to happen, settings)


def form(name, network, a, b, wanted, **settings):
    F[name] = (one(network), a, b, wanted, settings)


form("convolutions", lambda w, h: w.conv(w.relu(w.conv(image(w, h), 8)), 4), (16,), (20,), FOLLOWS)
form("convolutions of stride 2", lambda w, h: deep(w, h), (16,), (24,), FOLLOWS)
form("convolutions of odd lengths", lambda w, h: deep(w, h), (15,), (18,), FOLLOWS, producer="pytorch")
form("odd lengths of an unknown exporter", lambda w, h: deep(w, h), (15,), (18,), REFUSED)
form("SAME as numbers, odd to even", lambda w, h: same_stride(w, image(w, h)), (15,), (16,), REFUSED)
form("SAME as numbers, even to even", lambda w, h: same_stride(w, image(w, h)), (16,), (20,), FOLLOWS)
form("SAME as numbers, even to odd", lambda w, h: same_stride(w, image(w, h)), (16,), (19,), REFUSED)
form("max pools", lambda w, h: w.conv(w.pool(w.conv(image(w, h), 8), 2, op="MaxPool"), 4), (16,), (20,), FOLLOWS)
form("max pool of an odd length", lambda w, h: w.pool(image(w, h), 2, op="MaxPool"), (16,), (19,), FOLLOWS, producer="pytorch")
form("average pools of two images", lambda w, h: w.pool(w.pool(image(w, h), 2), 2), (16,), (32,), FOLLOWS)
form("a global pool", lambda w, h: head(w, w.global_pool(deep(w, h))), (16,), (20,), FOLLOWS)
form("a global pool by its kernel", lambda w, h: head(w, w.pool(deep(w, h), -(-h // 4))), (16,), (32,), FOLLOWS)
form("a global pool by its kernel, that also fits", lambda w, h: head(w, w.pool(deep(w, h), -(-h // 4))), (16,), (24,), REFUSED)
form("a global pool by its kernel, or an own one", lambda w, h: w.pool(deep(w, h), -(-h // 4)), (16,), (32,), REFUSED)
form("a kernel of its own", lambda w, h: w.pool(deep(w, h), 4), (16,), (32,), REFUSED)
form("squeeze and excite", lambda w, h: squeeze_excite(w, deep(w, h), False), (16,), (24,), FOLLOWS)
form("squeeze and excite by a kernel", lambda w, h: squeeze_excite(w, deep(w, h), True), (16,), (20,), EITHER)
form("an adaptive pool before a dense layer", lambda w, h: head(w, w.adaptive_pool(image(w, h), 4)), (16,), (24,), FOLLOWS)
form("an adaptive pool alone", lambda w, h: w.adaptive_pool(image(w, h), 4), (16,), (24,), REFUSED)
form("an adaptive pool, of a length that it does not divide", lambda w, h: w.conv(w.adaptive_pool(image(w, h), 4), 2), (16,), (20,), REFUSED)
form("an adaptive pool that changed nothing", lambda w, h: head(w, w.adaptive_pool(image(w, h), 4)), (4,), (8,), FOLLOWS)
form("a pool of a few positions", lambda w, h: w.pool(image(w, h), 2), (16,), (32,), REFUSED)
form("a pyramid of pools", lambda w, h: pyramid(w, image(w, h), 0), (16,), (24,), REFUSED)
form("a pyramid of fixed pools", lambda w, h: pyramid(w, image(w, h), 16), (16,), (24,), REFUSED)
form("pooled and enlarged", lambda w, h: aspp(w, image(w, h)), (16,), (24,), FOLLOWS)
form("a U-Net by scales", lambda w, h: unet(w, image(w, h), False), (16,), (24,), FOLLOWS)
form("a U-Net by sizes", lambda w, h, v: unet(w, image(w, h, v), True), (16, 24), (20, 28), FOLLOWS)
form("a U-Net by sizes, odd", lambda w, h, v: unet(w, image(w, h, v), True), (18, 14), (22, 26), FOLLOWS, producer="pytorch")
for name, network in (("LRASPP", lraspp), ("DeepLab", deep_lab), ("lines as M-LSD finds them", line_detector)):
    form(f"{name}, square", lambda w, h, v, network=network: network(w, image(w, h, v)), (32, 32), (64, 64), FOLLOWS)
form("LRASPP, not square", lambda w, h, v: lraspp(w, image(w, h, v)), (32, 32), (48, 80), FOLLOWS)
form("DeepLab, not square", lambda w, h, v: deep_lab(w, image(w, h, v)), (32, 32), (48, 80), FOLLOWS)
form("lines as M-LSD finds them, not square", lambda w, h, v: line_detector(w, image(w, h, v)), (32, 32), (48, 80), REFUSED)
form("LRASPP of another shape", lambda w, h, v: lraspp(w, image(w, h, v)), (32, 48), (64, 80), FOLLOWS)
form("enlarged at the end", lambda w, h: w.resize(deep(w, h), h, h), (16,), (24,), REFUSED)
form("enlarged at the end to an odd length", lambda w, h: w.resize(deep(w, h), h, h), (15,), (18,), REFUSED, producer="pytorch")
form("enlarged to a size of its own", lambda w, h: w.resize(deep(w, h), 16, 16), (16,), (24,), REFUSED)
form("enlarged to a size of its own, before a dense layer", lambda w, h: head(w, w.resize(deep(w, h), 4, 4)), (16,), (24,), FOLLOWS)
form("upsampled by a scale before opset 11", lambda w, h: w.binary("Add", image(w, h), w.add("Upsample", [w.conv(w.inputs[0], 3, stride=2), w.constant([1, 1, 2, 2])], w.inputs[0].shape, mode="nearest")),
     (16,), (20,), FOLLOWS, opset=9)
form("upsampled to a size before opset 11", lambda w, h: w.add("Upsample", [image(w, h), w.constant([1, 1, 16 / h, 16 / h])], [1, 3, 16, 16], mode="nearest"), (8,), (4,), REFUSED, opset=9)
for name, follows, a, b in (("scales", FOLLOWS, 15, 22), ("scales, at the end", REFUSED, 15, 22), ("scales of its own", FOLLOWS, 16, 20)):
    form(f"resized to the input by {name}", lambda w, h, follows=follows: enlarged_by_scales(w, image(w, h), follows == FOLLOWS), (a,), (b,), follows, producer="pytorch")
form("resized to a size of its own by scales, before a dense layer", lambda w, h: head(w, resized_by_scales(w, image(w, h), 6)), (11,), (13,), FOLLOWS)
form("flattened before a dense layer", lambda w, h: head(w, deep(w, h)), (16,), (20,), REFUSED)
form("flattened by -1 before a dense layer", lambda w, h: w.gemm(w.reshape(deep(w, h), 1, -1), 5), (16,), (20,), REFUSED)
form("a depthwise kernel of the whole image", lambda w, h: head(w, w.conv(deep(w, h), 16, 4, 1, [0] * 4, 16)), (16,), (20,), REFUSED)
form("a wide reshape", lambda w, h: w.softmax(w.reshape(w.conv(image(w, h), 5), 1, 5, h * h)), (8,), (10,), FOLLOWS)
form("a wide reshape by -1", lambda w, h: w.softmax(w.reshape(w.conv(image(w, h), 5), 1, 5, -1)), (8,), (10,), FOLLOWS)
form("a wide reshape that keeps a number", lambda w, h: w.reshape(w.conv(image(w, h), 5), -1, 64), (8,), (16,), REFUSED)
form("pixels as rows, H = W = C", lambda w, h: w.linear(w.transpose(w.reshape(w.conv(image(w, h), 8), 1, 8, h * h), 0, 2, 1), 4), (8,), (12,), FOLLOWS)
form("pixels as rows, H = W = C, one side", lambda w, h: w.linear(w.transpose(w.reshape(w.conv(image(w, h, 8), 8), 1, 8, h * 8), 0, 2, 1), 4), (8,), (12,), FOLLOWS)
form("channels and height swapped", lambda w, h: w.reshape(w.conv(image(w, h, 8), 8), 1, h, 64), (8,), (12,), REFUSED)
form("height and width swapped", lambda w, h, v: w.linear(w.reshape(image(w, h, v), 1, 3, h * v), 4), (6, 8), (8, 6), REFUSED)
form("height and width swapped by a view", lambda w, h: w.reshape(w.conv(image(w, h, 8), 4), 1, 4, 8, h), (8,), (12,), REFUSED)
form("attention over pixels", lambda w, h: non_local(w, w.conv(image(w, h), 5)), (6,), (8,), FOLLOWS)
form("attention over pixels, H = C", lambda w, h: non_local(w, w.conv(image(w, h), 8)), (8,), (10,), EITHER)
form("attention", lambda w, s: attention(w, sequence(w, s), 4, s), (6,), (9,), FOLLOWS)
form("attention, steps = heads", lambda w, s: attention(w, sequence(w, s), 4, s), (4,), (6,), EITHER)
form("attention, steps = width of a head", lambda w, s: attention(w, sequence(w, s), 2, s), (8,), (12,), EITHER)
form("attention, steps = width", lambda w, s: attention(w, sequence(w, s), 4, s), (16,), (24,), EITHER)
form("attention with mixed positions", lambda w, s: scrambled_attention(w, sequence(w, s), 4, s), (6,), (9,), EITHER)
form("attention with mixed positions, steps = heads", lambda w, s: scrambled_attention(w, sequence(w, s), 4, s), (4,), (6,), EITHER)
form("attention with mixed positions, half the steps", lambda w, s: scrambled_attention(w, sequence(w, s), 4, s), (2,), (6,), EITHER)
form("windows", lambda w, h: windows(w, w.input("x", [1, h, h, 7]), 2), (6,), (10,), FOLLOWS)
form("windows, as many as long", lambda w, h: windows(w, w.input("x", [1, h, h, 6]), 4), (8,), (12,), EITHER)
form("windows, H = C", lambda w, h: windows(w, w.input("x", [1, h, h, 8]), 4), (8,), (12,), EITHER)
form("pads to a multiple, of a window", lambda w, h: w.conv(w.pad(image(w, h), 0, 0, 0, 0, 0, 0, -h % 8, 0), 4, 3, 1, [0, 1, 0, 1]), (14,), (18,), REFUSED)
form("windows of another length", lambda w, h: windows(w, w.input("x", [1, h, 12, 8]), 4), (12,), (20,), EITHER)
form("patches", lambda w, h: attention(w, patches(w, image(w, h), 4), 4, (h // 4) ** 2), (12,), (24,), FOLLOWS)
form("patches and back", lambda w, h: w.conv(w.reshape(w.transpose(patches(w, image(w, h), 4), 0, 2, 1), 1, 16, h // 4, h // 4), 3), (12,), (20,), FOLLOWS)
form("patches and back, one side", lambda w, h: w.conv(w.reshape(w.transpose(patches(w, image(w, h, 12), 4), 0, 2, 1), 1, 16, h // 4, 3), 3), (12,), (24,), REFUSED)
form("patches and back, two sides", lambda w, h, v: w.conv(w.reshape(w.transpose(patches(w, image(w, h, v), 4), 0, 2, 1), 1, 16, h // 4, v // 4), 3), (12, 20), (24, 20), EITHER)
form("a relative shift", lambda w, s: relative_shift(w, w.input("x", [2, s, 2 * s - 1])), (5,), (8,), EITHER)
form("shuffled channels", lambda w, h: shuffle(w, w.conv(image(w, h), 6), 2), (10,), (14,), EITHER)
form("shuffled channels, H = C", lambda w, h: w.conv(shuffle(w, w.conv(image(w, h), 8), 2), 4), (8,), (12,), EITHER)
form("pixels from channels", lambda w, h: w.conv(pixel_shuffle(w, w.conv(image(w, h), 12), 2), 3), (7,), (11,), EITHER)
form("a learned position", lambda w, s: positions(w, sequence(w, s)), (6,), (9,), REFUSED)
form("a position by index", lambda w, s: gathered_positions(w, sequence(w, s)), (6,), (9,), REFUSED)
form("a position from a table", lambda w, s: sliced_positions(w, sequence(w, s)), (6,), (9,), FOLLOWS)
form("a mask", lambda w, s: causal_mask(w, sequence(w, s)), (6,), (9,), REFUSED)
form("shorter by one constant", lambda w, s: positions(w, sequence(w, s)), (6,), (1,), REFUSED)
form("zeros of the input's shape", lambda w, s: w.binary("Add", w.linear(sequence(w, s), 16), zeros_like(w, None, 1, s, 16)), (6,), (9,), FOLLOWS)
form("zeros behind it", lambda w, s: w.concat([sequence(w, s), zeros_like(w, None, 1, 12 - s, 16)], 1), (6,), (9,), REFUSED)
form("a class token", lambda w, s: attention(w, w.concat([w.weight(1, 1, 16), sequence(w, s)], 1), 4, s + 1), (6,), (9,), FOLLOWS)
form("a class token, taken", lambda w, s: w.linear(w.squeeze(w.gather(w.concat([w.weight(1, 1, 16), sequence(w, s)], 1), 1, 0), 1), 3), (6,), (9,), FOLLOWS)
form("a class token, dropped", lambda w, s: w.slice(w.concat([w.weight(1, 1, 16), sequence(w, s)], 1), 1, 1), (6,), (9,), EITHER)
form("the last step", lambda w, s: last_step(w, sequence(w, s), False), (6,), (9,), REFUSED)
form("the step at -1", lambda w, s: last_step(w, sequence(w, s), True), (6,), (9,), FOLLOWS)
form("the middle step", lambda w, s: w.gather(sequence(w, s), 1, s // 2), (6,), (10,), REFUSED)
form("the first steps", lambda w, s: w.slice(sequence(w, s), 1, 0, 4), (6,), (9,), REFUSED)
form("the last steps", lambda w, s: w.slice(sequence(w, s), 1, s - 4, s), (6,), (9,), REFUSED)
form("all but the last step", lambda w, s: w.slice(sequence(w, s), 1, 0, s - 1), (6,), (9,), REFUSED)
form("half of the steps", lambda w, s: w.slice(sequence(w, s), 1, 0, s // 2), (6,), (10,), REFUSED)
form("as many steps as there were", lambda w, s: w.slice(sequence(w, s), 1, 0, 6), (6,), (9,), REFUSED)
form("all steps, by number", lambda w, s: w.slice(sequence(w, s), 1, 0, s), (6,), (9,), REFUSED)
form("differences of steps", lambda w, s: w.binary("Sub", w.slice(sequence(w, s), 1, 1), w.slice(w.inputs[0], 1, 0, -1)), (6,), (9,), FOLLOWS)
form("every second pixel", lambda w, h: strided_cut(w, image(w, h)), (8,), (12,), FOLLOWS)
form("reversed steps", lambda w, s: w.slice(sequence(w, s), 1, -1, -OPEN_END, -1), (6,), (9,), FOLLOWS)
form("the middle of an image", lambda w, h: center_crop(w, image(w, h), 4), (8,), (12,), REFUSED)
form("half of an image", lambda w, h: center_crop(w, image(w, h), h // 2), (8,), (16,), REFUSED)
form("pads of a window", lambda w, h: w.conv(w.pad(image(w, h), 0, 0, 1, 1, 0, 0, 1, 1, mode="reflect"), 4, 3, 1, [0] * 4), (8,), (11,), FOLLOWS)
form("pads to a multiple", lambda w, h: to_multiple(w, image(w, h), 8), (14,), (18,), REFUSED)
form("pads to a length", lambda w, s: w.pad(sequence(w, s), 0, 0, 0, 0, 12 - s, 0), (6,), (9,), REFUSED)
form("parts of steps", lambda w, s: halves(w, sequence(w, s), 1), (6,), (10,), REFUSED)
form("parts of features", lambda w, s: halves(w, sequence(w, s), 2), (6,), (10,), FOLLOWS)
form("parts of features, as many as steps", lambda w, s: halves(w, sequence(w, s), 2), (8,), (12,), EITHER)
form("a vector for all steps", lambda w, s: w.binary("Add", sequence(w, s), w.expand(w.reduce(w.inputs[0], [1]), 1, s, 16)), (6,), (9,), FOLLOWS)
form("a vector for all steps, alone", lambda w, s: w.expand(w.reduce(sequence(w, s), [1]), 1, s, 16), (6,), (9,), REFUSED)
form("a vector, repeated to a number", lambda w, s: w.expand(w.reduce(sequence(w, s), [1]), 1, 6, 16), (6,), (9,), REFUSED)
form("a vector, tiled for all steps", lambda w, s: w.binary("Add", sequence(w, s), w.tile(w.reduce(w.inputs[0], [1]), 1, s, 1)), (6,), (9,), FOLLOWS)
form("tiled steps", lambda w, s: w.tile(sequence(w, s), 1, 3, 1), (5,), (9,), FOLLOWS)
form("no steps left, tiled", lambda w, s: w.tile(w.slice(sequence(w, s), 1, 0, -4), 1, 2, 1), (12,), (4,), EITHER)
form("steps, tiled as many times", lambda w, s: w.tile(sequence(w, s), 1, s, 1), (6,), (9,), REFUSED)
form("queries", lambda w, s: decoder(w, sequence(w, s), 20), (6,), (9,), FOLLOWS)
form("queries, as many as steps", lambda w, s: decoder(w, sequence(w, s), 6), (6,), (9,), REFUSED)
form("queries for each step", lambda w, s: decoder(w, sequence(w, s), s), (6,), (9,), REFUSED)
form("the largest, in order", lambda w, s: ordered(w, w.transpose(sequence(w, s), 0, 2, 1), 3), (7,), (11,), EITHER)
form("all, in order", lambda w, s: ordered(w, w.transpose(sequence(w, s), 0, 2, 1), s), (7,), (11,), REFUSED)
form("half, in order", lambda w, s: ordered(w, w.transpose(sequence(w, s), 0, 2, 1), s // 2), (6,), (12,), REFUSED)
form("a sum over steps", lambda w, s: w.linear(w.reduce(sequence(w, s), [1], "ReduceSum"), 4), (6,), (9,), FOLLOWS)
form("an average by a number", lambda w, s: average(w, sequence(w, s), False), (6,), (9,), REFUSED)
form("an average by a factor", lambda w, s: average(w, sequence(w, s), True), (6,), (9,), REFUSED)
form("an unbiased variance", lambda w, s: variance(w, sequence(w, s), 1), (6,), (9,), REFUSED)
form("an unbiased variance of features", lambda w, s: variance(w, sequence(w, s), 2), (6,), (9,), FOLLOWS)
form("where the largest is", lambda w, h: largest(w, w.conv(image(w, h), 4)), (8,), (12,), REFUSED)
form("products of steps, by their number", lambda w, s: w.scaled(w.matmul(w.transpose(sequence(w, s), 0, 2, 1), w.inputs[0]), 1 / s), (6,), (9,), REFUSED)
form("a GRU", lambda w, s: w.recurrent(w.input("x", [s, 1, 8]), 6), (5,), (9,), FOLLOWS)
form("a GRU without initial state", lambda w, s: w.recurrent(w.input("x", [s, 1, 8]), 6, initial=False), (5,), (9,), FOLLOWS)
form("an LSTM", lambda w, s: w.linear(w.recurrent(w.input("x", [s, 1, 8]), 6, "LSTM", initial=False), 3), (5,), (9,), FOLLOWS)
form("a GRU over rows", lambda w, n: w.recurrent(w.input("x", [5, n, 8]), 6), (3,), (7,), REFUSED)
form("a GRU over rows without initial state", lambda w, n: w.recurrent(w.input("x", [5, n, 8]), 6, initial=False), (3,), (7,), FOLLOWS)
form("a GRU of an image's columns", lambda w, v: w.recurrent(w.transpose(w.squeeze(w.reduce(w.conv(image(w, 8, v), 6), [2]), 2), 2, 0, 1), 5), (12,), (20,), FOLLOWS)
form("an unrolled loop", lambda w, s: stacked(w, sequence(w, s)), (4,), (6,), REFUSED)
form("an upsampling convolution", lambda w, h: w.up_conv(deep(w, h), 4), (16,), (24,), FOLLOWS)
form("an upsampling convolution to an odd length", lambda w, h: w.up_conv(w.conv(image(w, h), 4, stride=2), 3, 3, 2, 1, (h - 1) % 2), (15,), (18,), REFUSED, producer="pytorch")
form("layers of norms", lambda w, s: w.add("LayerNormalization", [sequence(w, s), w.weight(16), w.weight(16)], [1, s, 16], axis=-1), (6,), (9,), FOLLOWS)
form("a norm of steps", lambda w, s: w.add("LayerNormalization", [sequence(w, s), w.weight(s, 16)], [1, s, 16], axis=1), (6,), (9,), REFUSED)
form("a constant output", lambda w, s: (w.output(w.constant(table(w, s))), w.linear(sequence(w, s), 4))[1], (6,), (9,), REFUSED)
form("a grid", lambda w, h: w.add("GridSample", [image(w, h), w.constant(np.stack(np.meshgrid(*[np.linspace(-1, 1, h)] * 2), -1)[None] * 0.9)], [1, 3, h, h]), (8,), (12,), REFUSED)
form("rows that were several", lambda w, n: w.linear(w.reshape(w.conv(w.input("x", [n, 3, 6, 6]), 5), n, 180), 4), (3,), (7,), FOLLOWS)
form("rows that were as many as channels", lambda w, n: w.reshape(w.conv(w.input("x", [n, 3, 6, 6]), 5), n, 180), (5,), (7,), FOLLOWS)
form("rows of a norm", lambda w, n: w.binary("Add", w.input("x", [n, 8]), w.weight(n, 8)), (5,), (7,), REFUSED)
form("a length that is 1 behind strides", lambda w, h: w.binary("Add", w.conv(deep(w, h), 8, 4, 4, [0] * 4), w.weight(1, 8, 1, 1)), (16,), (32,), REFUSED)
form("more rows and a larger image", lambda w, n, h: w.linear(w.transpose(w.reshape(w.conv(w.input("x", [n, 3, h, h]), 5), n, 5, h * h), 0, 2, 1), 4), (1, 8), (3, 10), FOLLOWS)
form("more rows and attention", lambda w, n, s: w.linear(w.reshape(w.linear(w.input("x", [n, s, 16]), 16), n, s, 4, 4), 3), (1, 6), (4, 9), FOLLOWS)
form("rows on the second axis", lambda w, n: w.recurrent(w.input("x", [5, n, 8]), 6), (1,), (7,), FOLLOWS)
form("positions of length 1", lambda w, s: positions(w, sequence(w, s)), (1,), (5,), REFUSED)


class checker:
    """Converts exports, and compares them."""

    def __init__(self, folder):
        self.folder = folder

    def outcome(self, network, a, b, settings, seed=5):
        """(FOLLOWS or REFUSED, a text); raises SystemExit where the result is wrong."""
        first, second = (exported(network, lengths, seed, **settings) for lengths in (a, b))
        settings_of_runtime = onnxruntime.SessionOptions()
        settings_of_runtime.log_severity_level = 4
        try:
            session = onnxruntime.InferenceSession(second.SerializeToString(), settings_of_runtime, providers=["CPUExecutionProvider"])
        except onnxruntime.capi.onnxruntime_pybind11_state.Fail as e:
            raise AssertionError("no network for the other lengths") from e
        source, target = self.folder / "m.onnx", self.folder / "m.nsk"
        onnx.save(first, source)
        target.unlink(missing_ok=True)
        rng = np.random.default_rng(seed)
        inputs = {i.name: rng.uniform(-1, 1, [d.dim_value for d in i.type.tensor_type.shape.dim]).astype(np.float32) for i in second.graph.input}
        options = [o for n, x in inputs.items() for o in ("--input", f"{n}=" + "x".join(map(str, x.shape)))]
        done = nsk("convert", source, "-o", target, "--quiet", *options)
        if done.returncode == 2:
            return REFUSED, done.stderr
        if done.returncode != 0:
            raise SystemExit(f"exit code {done.returncode}\n{done.stderr}")
        for n, x in inputs.items():
            np.save(self.folder / f"{n}.npy", x)
        done = nsk("run", target, *[o for n in inputs for o in ("--input", f"{n}={self.folder / n}.npy")], "--output-dir", self.folder / "out")
        if done.returncode != 0:
            raise SystemExit(f"run: {done.stderr}")
        for port, y in zip(session.get_outputs(), session.run(None, inputs)):
            got = np.load(self.folder / "out" / f"{port.name}.npy")
            if got.shape != y.shape:
                raise SystemExit(f"WRONG: '{port.name}' has the shape {got.shape}, and is {y.shape} where it is exported for it")
            off = np.abs(got.astype(np.float64) - y).max() / max(0.1, np.abs(y).max())
            if not off <= TOLERANCE:
                raise SystemExit(f"WRONG: '{port.name}' is off by {off:.1e}")
        return FOLLOWS, ""


def forms(check, pattern):
    count, failures = {FOLLOWS: 0, REFUSED: 0}, []
    for name, (network, a, b, wanted, settings) in F.items():
        if not pattern.search(name):
            continue
        try:
            found, said = check.outcome(network, a, b, settings)
        except SystemExit as e:
            failures.append(f"{name}: {e}")
            continue
        count[found] += 1
        if wanted not in (EITHER, found):
            failures.append(f"{name}: {found}, expected that it {wanted}\n    {said}")
        elif found == REFUSED and not re.search("node '|outputs?: '|output '|constant '|some axes", said):
            failures.append(f"{name}: the refusal names no node\n    {said}")
        print(f"{name}: {found}" + (f"\n    {said.strip()}" if "-v" in sys.argv and said else ""))
    print(f"{count[FOLLOWS]} forms follow, {count[REFUSED]} are refused")
    if failures:
        raise SystemExit("\n".join(failures))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--networks", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-v", action="store_true")
    o = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nsk_lengths_") as name:
        check = checker(pathlib.Path(name))
        forms(check, re.compile(o.pattern))
        lite_forms(check.folder, re.compile(o.pattern))
        if o.networks:
            networks(check, o.networks, o.seed)


if __name__ == "__main__":
    main()
