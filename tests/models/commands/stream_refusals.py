#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Networks of which no file for chunks can be made (--stream) are refused, with the node, the reason, and a cure that works when it is typed; options
that go with it."""
import pathlib
import re
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from forms import parsed  # noqa: E402
from models import nsk, told  # noqa: E402
from signals import Signal  # noqa: E402

REFUSED, USAGE = 2, 1
failures = []


def attention(net):
    rows = net.swapped("x")
    return net.op("MatMul", net.op("Softmax", net.op("MatMul", rows, "x")), rows)


def positions(net):
    count = net.op("Slice", net.op("Shape", "x"), net.integers(2), net.integers(3))
    return net.op("Add", "x", net.op("Slice", net.weights(1, 4, 9000), net.integers(0), count, net.integers(2)))


def share(net):
    return net.op("Mul", "x", net.op("Div", net.constant(1.0), net.op("Cast", net.op("Gather", net.op("Shape", "x"), net.constant(2, np.int64)), to=1)))


# What is made of x [1, 4, samples], and what is said of it.
REFUSALS = [
    (lambda net: net.conv("x", 4, 3, before=1, behind=1), "'conv_0' (Conv, opset 17, input [1,4,4096] float32, [4,4,3] float32, [4] float32): it looks ahead by 1 sample, so that outputs are late by 1"),
    (lambda net: net.conv(net.conv("x", 4, 9, before=4, behind=4), 4, 5, before=2, behind=2), "'conv_0' (Conv, opset 17, input [1,4,4096] float32, [4,4,9] float32, [4] float32): it looks ahead by 4 samples, so that outputs are late by 6"),
    (lambda net: net.op("Conv", "x", net.weights(4, 4, 5), auto_pad="SAME_UPPER"), "looks ahead by 2 samples"),
    (lambda net: net.op("ReduceMean", net.op("Tanh", "x"), axes=[2]), "it computes over all samples, and looks ahead to the end of the signal. End the model before it (--output-value tanh_0)"),
    (lambda net: net.op("GlobalAveragePool", "x"), "looks ahead to the end of the signal"),
    (lambda net: net.op("InstanceNormalization", "x", net.weights(4), net.weights(4)), "looks ahead to the end of the signal"),
    (lambda net: net.op("Softmax", "x", axis=2), "looks ahead to the end of the signal"),
    (attention, "as attention does, and looks ahead to the end of the signal"),
    (lambda net: net.recurrent("GRU", net.swapped("x"), 8, direction="reverse"), "it runs backwards, and looks ahead to the end of the signal"),
    (lambda net: net.op("Slice", "x", net.integers(-1), net.integers(-10 ** 9), net.integers(2), net.integers(-1)), "it reverses the signal"),
    (lambda net: net.op("CumSum", "x", net.constant(2, np.int64)), "added in another order"),
    (positions, "a chunk does not know where in the signal it is"),
    (share, "it has other numbers for signals of 4096 and of 4104 samples"),
    (lambda net: net.conv(net.op("Pad", "x", net.integers(0, 0, 2, 0, 0, 0), mode="reflect"), 4, 3, before=0), "it pads the signal with its own samples (reflect)"),
    (lambda net: net.conv("x", 4, 3, before=2, behind=2), "has 2 elements more than the signal has samples for them"),
    (lambda net: net.op("Flatten", "x"), "it joins the axis of the samples with others"),
    (lambda net: net.op("DepthToSpace", net.op("Unsqueeze", "x", net.integers(2)), blocksize=2), "how to compute it chunk by chunk is not known"),
    (lambda net: net.op("Add", "x", net.op("RandomNormalLike", "x")), "how to compute it chunk by chunk is not known"),
]
MISUSES = [(["samples=9"], "chunks are multiples of that. Write --stream samples=10"), (["sample=8"], "Did you mean 'samples'?"), (["samples=8+"], "NAME=CHUNK+LATE"), (["samples=0"], "NAME=CHUNK+LATE"),
           (["samples=8", "--stream", "x=8"], "one signal"), (["samples=8", "--bound", "samples=9"], "exclude each other"), (["samples=8", "--batch-max", "2"], "exclude each other"),
           (["samples=8", "--gpu"], "exclude each other"), (["samples=8", "--variant", "a:x=1x4x9"], "exclude each other"), (["samples=8", "--input", "x=1x4x9"], "--input x=1,4,samples")]


def refused(what, text, source, *options):
    done = nsk("convert", source, "-o", source.parent / "no.nsk", *options)
    if done.returncode not in (USAGE, REFUSED) or text not in done.stderr or (source.parent / "no.nsk").exists():
        failures.append(f"{what}: exit code {done.returncode}, {done.stderr}")


def refusals(folder):
    source = folder / "refused.onnx"
    for make, text in REFUSALS:
        net = Signal(1, 4)
        net.save(source, make(net))
        refused(text, text, source, "--stream", "samples=8")
    net = Signal(1, 4)
    net.save(source, net.conv("x", 4, 4, stride=2))
    for options, text in MISUSES:
        refused(f"--stream {options}", text, source, "--stream", *options)
    net = Signal(1, 4)
    late = net.recurrent("LSTM", net.swapped(net.conv("x", 4, 3, before=1, behind=1)), 8)
    net.save(source, late)
    refused("a layer over time behind a window that looks ahead", "the signal is late here", source, "--stream", "samples=8+1")


def stacked(folder):
    """Layers over time whose states the model has in one piece; and a state that a layer reads for all samples."""
    net = Signal(4, 3)
    past = net.input("h0", [2, 1, 6])
    x, ends = net.op("Transpose", "x", perm=[2, 0, 1]), []
    for i, inputs in enumerate((3, 6)):
        first = net.op("Slice", past, net.integers(i), net.integers(i + 1), net.integers(0))
        results = [f"all{i}", f"end{i}"]
        net.nodes.append(helper.make_node("GRU", [x, net.weights(1, 18, inputs), net.weights(1, 18, 6), "", "", first], results, hidden_size=6))
        x, ends = net.op("Squeeze", results[0], net.integers(1)), [*ends, results[1]]
    net.nodes.append(helper.make_node("Concat", ends, ["hn"], axis=0))
    net.save(folder / "stacked.onnx", x, "hn")
    done = nsk("convert", folder / "stacked.onnx", "-o", folder / "stacked.nsk", "--stream", "samples=8")
    if done.returncode or "has the bits" not in done.stdout:
        failures.append(f"stacked states: {done.stdout}{done.stderr}")
    net = Signal(5, 3)
    past = net.input("h0", [1, 3, 1])
    net.nodes.append(helper.make_node("Slice", ["x", net.integers(-1), net.integers(9 ** 9), net.integers(2)], ["hn"]))
    net.save(folder / "read.onnx", net.op("Sub", "x", past), "hn")
    refused("a state for all samples", "it reads a state of the model", folder / "read.onnx", "--stream", "samples=8")


def other_options(folder):
    """Names of axes, other names, other outputs and rounded weights go with chunks, and nsk check knows them."""
    net = Signal(2, 4)
    net.inputs.clear()
    net.input("x", [1, 4, 50])
    y = net.op("Relu", net.conv(net.conv("x", 8, 3), 5, 4))
    net.save(folder / "named.onnx", net.op("Softmax", y, axis=1))
    for options in (["--rename", f"{y}=heard"], ["--output-value", y], ["--argmax", "softmax_3=1"], ["--weights", "fp16"], ["--no-states"], ["--small"]):
        done = nsk("convert", folder / "named.onnx", "-o", folder / "named.nsk", "--input", "x=1,4,samples", "--stream", "samples=8", *options)
        checked = nsk("check", folder / "named.onnx", folder / "named.nsk") if done.returncode == 0 else done
        if checked.returncode:
            failures.append(f"{options}: {done.stderr}{checked.stdout}{checked.stderr}")
    (folder / "samples").mkdir()
    for i in range(8):
        np.save(folder / "samples" / f"{i}.npy", net.random.normal(0, 1, (1, 4, 1)).astype(np.float32))
    done = nsk("quantize", folder / "named.onnx", "-o", folder / "int8.nsk", "--input", "x=1,4,samples", "--stream", "samples=1", "--calibrate", folder / "samples", "--target", "size")
    if done.returncode != REFUSED or "Leave out --stream, or the other option" not in done.stderr:
        failures.append(f"nsk quantize: {done.stderr}")
    other = Signal(3, 4)
    other.inputs.clear()
    other.input("x", [1, 4, 50])
    other.save(folder / "other.onnx", other.op("Softmax", other.op("Relu", other.conv(other.conv("x", 8, 3), 5, 4)), axis=1))
    if nsk("check", folder / "other.onnx", folder / "named.nsk").returncode != 3:
        failures.append("nsk check takes another model for the source of a file for chunks")


def cures(folder):
    """What a message says works when it is typed."""
    def source_of(text):
        onnx.save(parsed(text), folder / "cured.onnx")
        return ["convert", folder / "cured.onnx", "-o", folder / "cured.nsk"]

    def follow(what, words, pattern, *before, fills=("", "")):
        done = nsk(*before)
        if done.returncode not in (USAGE, REFUSED) or not all(w in done.stderr for w in words):
            return failures.append(f"{what}: exit code {done.returncode}, {done.stderr}")
        typed = re.search(pattern, done.stderr)[0].replace(*fills).split(" ")
        done = nsk(*(before if "--stream" not in pattern else before[:-2]), *typed)
        if done.returncode:
            failures.append(f"{what}, with {typed}: {done.stderr}")

    command = source_of("(float[1,2,N] x) => (float[1,3,M] y) <float[3,2,3] w> { y = Conv <pads = [1, 1]> (x, w) }")
    follow("a window that looks ahead", ["looks ahead by 1 sample", "late by 1"], r"--stream N=8\+1", *command, "--stream", "N=8")
    command = source_of("(float[1,2,N] x) => (float[1,3,M] y) <float[3,2,3] w> { y = Conv <strides = [3]> (x, w) }")
    follow("a chunk that is no multiple", ["chunks are multiples"], r"--stream N=9", *command, "--stream", "N=8")
    command = source_of("(float[1,N] x, float[1,N] state) => (float[1,N] stateN, float[1,N] y) { stateN = Add (x, state)  y = Neg (stateN) }")
    follow("a state with samples", ["has one size"], r"--no-states", *command, "--stream", "N=8")
    command = source_of("(float[N,1,2] x, float[1,1,3] first) => (float[N,1,1,3] y, float[1,1,3] last) <float[1,9,2] w, float[1,9,3] r> "
                        "{ y, last = GRU <hidden_size = 3> (x, w, r, , , first) }")
    follow("a layer that begins anew", ["is no state"], r"--state first=OUTPUT", *command, "--stream", "N=8", fills=("OUTPUT", "last"))
    command = source_of("(float[1,2,N] x) => (float[1,2,1] y) { a = Tanh (x)  y = ReduceMean <axes = [2]> (a) }")
    follow("a mean of all samples", ["looks ahead to the end", "End the model before it"], r"--output-value a\b", *command, "--stream", "N=8")
    command = source_of("(float[1,2,9] x) => (float[1,2,9] y) { y = Tanh (x) }")
    follow("an axis without a name", ["Name that of the samples"], r"--input x=1,2,N", *command, "--stream", "N=8")


def main():
    with tempfile.TemporaryDirectory() as name:
        for step in (refusals, stacked, other_options, cures):
            step(pathlib.Path(name))
    return told(failures)


if __name__ == "__main__":
    sys.exit(main())
