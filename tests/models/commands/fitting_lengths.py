#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where a source leaves lengths open, the options of a message work as they stand: lengths that the model accepts, and the number that decides an If."""
import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cures  # noqa: E402
from cures import compare, options_in, refused, source_of, works  # noqa: E402
from models import plain_session, told  # noqa: E402
from tflite_writer import Writer  # noqa: E402

rng = np.random.default_rng(51)


def speech(branches):
    """Frames of samples by a convolution, a state, and two rates of which an integer chooses one: voice activity detectors are like this."""
    body = lambda out, kernel, axes: f"""{{ f = Unsqueeze (input, at1)  c = Conv <pads = [4, 4]> (f, {kernel})  r = ReduceMean <axes = [{axes}], keepdims = 0> (c)
        s = Squeeze (state, at0)  a = Add (r, s)  {out} = Tanh (a) }}"""
    head = '(float["batch","samples"] input, float[1,"batch",4] state, int64 sr) => (float[b,4] y, float[1,b,4] state_out) <int64[1] at0 = {0}, int64[1] at1 = {1}, int64 rate = {16000}, float[4,1,64] wide, float[4,1,32] narrow>'
    if not branches:
        return head.replace(", int64 sr", "") + "{ " + body("y", "wide", 2).strip("{}") + " state_out = Unsqueeze (y, at0) }"
    return head + f""" {{ is = Equal (sr, rate)
        y = If (is) <then_branch = t () => (float[b,4] p) {body("p", "wide", 2)}, else_branch = e () => (float[b,4] q) {body("q", "narrow", "0, 2").replace("keepdims = 0", "keepdims = 1")}>
        state_out = Unsqueeze (y, at0) }}"""


def onnx_models():
    """Options for open samples, and for too few of them, convert the model, which then computes what ONNX Runtime does."""
    x, state = rng.uniform(-1, 1, (1, 512)).astype(np.float32), rng.uniform(-1, 1, (1, 1, 4)).astype(np.float32)
    for branches in (False, True):
        command = source_of(speech(branches))
        text = refused("open samples", ["'samples'", "with the size that you need in place of 512"], *command)
        options = options_in((text or "").split("add")[-1], {})
        if branches != ("sr=16000" in options):
            cures.failures.append(f"open samples: {options}")
        if text and works("open samples", *command, *options, "--no-states"):
            feeds = {"input": x, "state": state} | ({"sr": np.array(16000)} if branches else {})
            want = plain_session(cures.FOLDER / "m.onnx").run(None, feeds)
            compare("open samples", {"input": x, "state": state}, {"y": want[0], "state_out": want[1]})
        given = ["--input", "input=1x1", "--input", "state=1x1x4"]
        text = refused("too few samples", ["--set sr=16000" if branches else "'samples' of input 'input'"], *command, *given)
        if not branches and text:
            works("too few samples", *command, *options_in(text.split("for example")[-1], {}))


def lengths_beside_an_input():
    """Where an integer input is the length of others, what --set gives it is the length that the message names."""
    command = source_of("""(int64 length, float["length",3] x) => (float["length",3] y) <int64 zero = {0}, int64 one = {1}, int64[1] last = {1}> {
        r = Range (zero, length, one)  f = Cast <to = 1> (r)  u = Unsqueeze (f, last)  y = Mul (x, u) }""")
    text = refused("a length beside others", ["Fix it: --set length=VALUE"], *command)
    command += options_in((text or "").split("Or say")[0], {"VALUE": 6})
    text = refused("another length", ["'length' of input 'x'", "--input x=6x3"], *command, "--input", "x=5x3")
    if text and works("the length of the message", *command, *options_in(text.split("for example")[-1], {})):
        x = rng.uniform(-1, 1, (6, 3)).astype(np.float32)
        compare("the length of the message", {"x": x}, {"y": x * np.arange(6, dtype=np.float32)[:, None]})


def tflite_models():
    """Where a TensorFlow Lite signature leaves a length open, the message names one that works."""
    w = Writer()
    a, k, y = w.tensor("a", [1, 1, 1, 1], np.float32), w.tensor("k", [2, 1, 32, 1], np.float32, rng.uniform(-1, 1, (2, 1, 32, 1)).astype(np.float32)), w.tensor("y", [1, 1, 1, 2], np.float32)
    b = w.tensor("b", [2], np.float32, np.zeros(2, np.float32))
    w.graph.tensors[a].shapeSignature = np.array([1, 1, -1, 1], np.int32)
    w.operator("CONV_2D", [a, k, b], [y], ("Conv2DOptions", {"padding": 1, "strideW": 1, "strideH": 1, "dilationWFactor": 1, "dilationHFactor": 1}))
    (cures.FOLDER / "m.tflite").write_bytes(w.finish([a], [y]))
    command = ["convert", cures.FOLDER / "m.tflite", "-o", cures.FOLDER / "m.nsk"]
    text = refused("open samples of TensorFlow Lite", ["try --input a=1x1x512x1"], *command)
    if text:
        works("open samples of TensorFlow Lite", *command, *options_in(text.split("try")[-1], {}))


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_fitting_") as name:
        cures.FOLDER = pathlib.Path(name)
        onnx_models()
        lengths_beside_an_input()
        tflite_models()
    return told(cures.failures)


if __name__ == "__main__":
    sys.exit(main())
