#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files of dynamic range (int8 or int4 weights, float32 activations) against LiteRT, over several runs.

  tflite_dynamic_range.py [PART-OF-A-NAME]
The engine computes with what the weights stand for, and must be within 1e-5 of LiteRT's run of the same file with these in float32. LiteRT's
own run of the file rounds the activations to 8 bits, of every row by its largest magnitude: its results must be nearer than what such steps add
up to, which a wrong scale, sign or order of the weights is not. Public files: shared/models/public.
"""
import pathlib
import random
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tflite_layers  # noqa: E402
from litert import answers, compare_runs, have_litert, interpreter_of  # noqa: E402
from models import SAID_SKIPPED, SHARED, file_name, must  # noqa: E402
from tflite_hybrid import stored_weights  # noqa: E402
from tflite_writer import Writer  # noqa: E402

F = np.float32
VARIANTS = 10  # of each kind
ROUNDED = 0.06  # of the largest magnitude: what LiteRT's rounding of activations comes to, with states over a few runs

NETWORK = 0.2   # the same of a whole network


class One:
    """A model of one operator with float32 weights; samples its numbers from a seed."""

    def __init__(self, seed):
        self.w, self.numbers, self.choose = Writer(), np.random.default_rng(seed), random.Random(seed)

    def weights(self, *shape):
        return self.w.tensor(f"c{len(self.w.graph.tensors)}", shape, F, self.numbers.uniform(-1, 1, shape).astype(F))

    def finish(self, op, x, operands, shape, options):
        y = self.w.tensor("y", shape, F)
        self.w.operator(op, operands, [y], options)
        return self.w.finish([x], [y]), {"x": self.numbers.uniform(-2, 2, self.w.graph.tensors[x].shape).astype(F)}


def fully_connected(seed):
    m = One(seed)
    rows, depth, count = m.choose.choice([1, 2, 5]), m.choose.randint(2, 40), m.choose.choice([1, 3, 16])
    x = m.w.tensor("x", [rows, depth], F)
    options = {"fusedActivationFunction": m.choose.choice([0, 1]), "asymmetricQuantizeInputs": m.choose.random() < 0.5, "keepNumDims": m.choose.random() < 0.3}
    return m.finish("FULLY_CONNECTED", x, [x, m.weights(count, depth), m.weights(count)], [rows, count], ("FullyConnectedOptions", options))


def convolution(seed):
    m = One(seed)
    depth, count, k, batch = m.choose.choice([1, 3, 8]), m.choose.choice([1, 4, 9]), m.choose.choice([1, 3]), m.choose.choice([1, 2])
    x = m.w.tensor("x", [batch, 6, 5, depth], F)
    options = {"strideH": 1, "strideW": 1, "dilationHFactor": 1, "dilationWFactor": 1, "padding": 0, "fusedActivationFunction": m.choose.choice([0, 1])}
    return m.finish("CONV_2D", x, [x, m.weights(count, k, k, depth), m.weights(count)], [batch, 6, 5, count], ("Conv2DOptions", options))


def depthwise(seed):
    m = One(seed)
    depth, k = m.choose.choice([2, 8]), m.choose.choice([1, 3])
    x = m.w.tensor("x", [1, 6, 5, depth], F)
    options = {"strideH": 1, "strideW": 1, "dilationHFactor": 1, "dilationWFactor": 1, "padding": 0, "depthMultiplier": 1}
    return m.finish("DEPTHWISE_CONV_2D", x, [x, m.weights(1, k, k, depth), m.weights(depth)], [1, 6, 5, depth], ("DepthwiseConv2DOptions", options))


def transposed(seed):
    m = One(seed)
    depth, count = m.choose.choice([1, 3, 8]), m.choose.choice([1, 4])
    x, size = m.w.tensor("x", [1, 4, 3, depth], F), m.w.tensor("size", [4], np.int32, [1, 8, 6, count])
    operands = [size, m.weights(count, 3, 3, depth), x, *([m.weights(count)] if m.choose.random() < 0.5 else [])]
    return m.finish("TRANSPOSE_CONV", x, operands, [1, 8, 6, count], ("TransposeConvOptions", {"padding": 0, "strideH": 2, "strideW": 2}))


def batch_mat_mul(seed):
    m = One(seed)
    rows, depth, count, swapped = m.choose.choice([1, 4]), m.choose.randint(2, 20), m.choose.choice([1, 5]), m.choose.random() < 0.5
    x = m.w.tensor("x", [2, rows, depth], F)
    w = m.weights(*([2, count, depth] if swapped else [2, depth, count]))
    options = {"adjY": swapped, "asymmetricQuantizeInputs": m.choose.random() < 0.5}
    return m.finish("BATCH_MATMUL", x, [x, w], [2, rows, count], ("BatchMatMulOptions", options))


def embedding(seed):
    m = One(seed)
    places, w = m.w.tensor("x", [5], np.int32), m.weights(9, 6)
    content, _ = m.finish("EMBEDDING_LOOKUP", places, [places, w], [5, 6], None)
    return content, {"x": m.numbers.integers(0, 9, 5).astype(np.int32)}


def layer(make):
    def made(seed):
        l, content = make(seed)
        return content, l.sample()
    made.__name__ = make.__name__
    return made


OPERATORS = [fully_connected, convolution, depthwise, transposed, batch_mat_mul, embedding]
LAYERS = [layer(make) for make in tflite_layers.LAYERS if make is not tflite_layers.lstm_of_one_matrix]


def wrong_with(folder, make, seed):
    """None where the engine agrees with LiteRT, else what is wrong."""
    content, given = make(seed)
    runs = 1 if make in OPERATORS else tflite_layers.RUNS
    hybrid, twin = stored_weights(content, random.Random(seed))
    exact = answers(twin, given, runs)
    failure = compare_runs(folder, hybrid, given, runs, exact)
    if failure:
        return failure
    if make.__name__ == "bidirectional_rnn":  # with time as the first axis LiteRT's own kernel gives other numbers, and even none
        return None
    for name, rounded in answers(hybrid, given, runs).items():
        largest = max(np.max(np.abs(exact[name])), 1e-3)
        apart = np.max(np.abs(rounded - exact[name])) / largest
        if not apart <= ROUNDED * (1 if make in OPERATORS else 4):
            return f"{name}: LiteRT's own run is {apart:.2f} of the largest magnitude away"
    return None


def yolox(folder):
    """A network of the wild: near LiteRT's run of it, and the notes say how it is computed."""
    path = SHARED / "public" / "yolox_nano_dynamic_range.tflite"
    if not path.exists():
        print(f"{SAID_SKIPPED} {path} does not exist")
        return None
    x = np.random.default_rng(1).uniform(0, 255, (1, 3, 416, 416)).astype(F)
    said = must("convert", path, "-o", folder / "m.nsk", "--small")
    np.save(folder / "x.npy", x)
    (entry,) = (d["name"] for d in interpreter_of(path.read_bytes()).get_input_details())
    ((name, wanted),) = answers(path.read_bytes(), {entry: x}, 1).items()
    must("run", folder / "m.nsk", "--input", f"{entry}={folder / 'x.npy'}", "--output-dir", folder / "out")
    got = np.load(folder / "out" / file_name(name))
    apart = np.max(np.abs(got - wanted)) / np.max(np.abs(wanted))
    print(f"yolox: {apart:.3f} of the largest magnitude from LiteRT, {(folder / 'm.nsk').stat().st_size} bytes of {path.stat().st_size}")
    if "dynamic range" not in said:
        return "yolox: the converter does not say how it computes"
    return None if apart < NETWORK and (folder / "m.nsk").stat().st_size < path.stat().st_size else "yolox: too far from LiteRT, or too large"


def main(part):
    if not have_litert():
        return 0
    wrong, count = [], 0
    with tempfile.TemporaryDirectory(prefix="nsk_hybrid_") as folder:
        for make in OPERATORS + LAYERS:
            if part not in make.__name__:
                continue
            for seed in range(VARIANTS):
                count += 1
                try:
                    failure = wrong_with(pathlib.Path(folder), make, seed)
                except (RuntimeError, ValueError) as refused:
                    failure = f"LiteRT: {refused}"
                if failure:
                    wrong.append(f"{make.__name__} {seed}: {failure}")
        failure = yolox(pathlib.Path(folder)) if part in "yolox" else None
        wrong += [failure] if failure else []
    print("\n".join(wrong + [f"{count} files of dynamic range, {len(wrong)} wrong"]))
    return 1 if wrong or (count == 0 and part != "yolox") else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
