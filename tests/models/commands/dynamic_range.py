#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Images of high dynamic range: with --hdr, or an --input-range beyond 256, a bright pixel, an infinite one and NaN change nothing that is beyond the reach of a kernel;
without them the check tells how far such errors go. A choice of Winograd's algorithms against the option is noticed."""
import json
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import must, nsk  # noqa: E402

F = np.float32
RANDOM = np.random.default_rng(49)
CHANNELS, SIDE = 32, 48
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)


def save(path, between="Relu"):
    """Two convolutions, and one behind a bounded function, which needs no care."""
    weights = [(RANDOM.standard_normal((CHANNELS, CHANNELS, 3, 3)) / np.sqrt(CHANNELS * 9)).astype(F) for _ in range(3)]
    around = {"pads": [1, 1, 1, 1]}
    nodes = [helper.make_node("Conv", ["x", "w0"], ["a"], "first", **around), helper.make_node(between, ["a"], ["b"]), helper.make_node("Conv", ["b", "w1"], ["c"], "second", **around),
             helper.make_node("Sigmoid", ["c"], ["d"]), helper.make_node("Conv", ["d", "w2"], ["y"], "third", **around)]
    shape = [1, CHANNELS, SIDE, SIDE]
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n in "cy"], [numpy_helper.from_array(w, f"w{i}") for i, w in enumerate(weights)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))


def run(folder, model, x):
    np.save(folder / "x.npy", x)
    must("run", model, "--input", f"x={folder / 'x.npy'}", "--output-dir", folder / "out")
    return np.load(folder / "out" / "c.npy")


def convert(folder, name, *options):
    made = folder / f"{name}.nsk"
    return made, must("convert", folder / "net.onnx", "-o", made, *options)


def algorithms(model):
    """Of the convolutions, in order: whether each is Winograd's."""
    return [step["algorithm"] != "direct" for step in json.loads(must("inspect", model, "--json"))["variants"][0]["steps"] if step["operator"] == "Conv2D"]


def check_pixels(folder, plain, hdr):
    """What one pixel changes beyond five by five others."""
    dark = (RANDOM.random((1, CHANNELS, SIDE, SIDE)) * 0.1 + 0.01).astype(F)
    beyond = np.ones((SIDE, SIDE), bool)
    beyond[22:27, 22:27] = False
    for level in (1000, 65000):
        bright = dark.copy()
        bright[..., 24, 24] = level
        for model, near in ((hdr, True), (plain, False)):
            before, after = run(folder, model, dark), run(folder, model, bright)
            error = np.abs(after - before)[0][:, beyond].max() / np.abs(before[0][:, beyond]).mean()
            expect((error == 0) == near, f"{model.name}: a pixel of {level} changes others by {error:.1e}")
    for level in (np.inf, np.nan):
        lost = dark.copy()
        lost[..., 24, 24] = level
        expect(np.isfinite(run(folder, hdr, lost)[0][:, beyond]).all(), f"{level} reaches beyond the kernels")


def check_options(folder):
    plain, said = convert(folder, "plain")
    expect(algorithms(plain) == [False, True, True], f"plain, whose first layer reads the input: {algorithms(plain)}")
    hdr, _ = convert(folder, "hdr", "--hdr", "x", "--check")
    expect(algorithms(hdr) == [False, False, True], f"--hdr: {algorithms(hdr)}")
    for text, winograd in (("0..1", True), ("-1..1", True), ("0..255", True), ("0..65504", False), ("-1000..0", False)):
        ranged, _ = convert(folder, "ranged", "--input-range", f"x={text}")
        expect(algorithms(ranged) == [winograd, winograd, True], f"--input-range {text}: {algorithms(ranged)}")
    expect("--hdr" not in must("check", folder / "net.onnx", plain), "the check warns of usual numbers")
    expect("worst error" in must("check", folder / "net.onnx", plain), "the check tells nothing of windows")
    renamed, _ = convert(folder, "renamed", "--hdr", "x", "--rename", "x=frame")
    expect(algorithms(renamed) == [False, False, True], "--hdr and --rename")
    return plain, hdr


def check_notices(folder, plain):
    """A bright input of a model that was not made for it, and Winograd's algorithms against the option."""
    bright = (RANDOM.random((1, CHANNELS, SIDE, SIDE)) * 0.1 + 0.01).astype(F)
    bright[..., 24, 24] = 65000
    np.save(folder / "bright.npy", bright)
    expect("convert with --hdr" in must("check", folder / "net.onnx", plain, "--input", f"x={folder / 'bright.npy'}"), "bright pixels are not told")
    (folder / "choice.json").write_text(json.dumps({"first+Relu_1": {"algorithm": "winograd4"}}))
    done = nsk("convert", folder / "net.onnx", "-o", folder / "against.nsk", "--hdr", "x", "--override", folder / "choice.json")
    expect(done.returncode == 3 and "their own windows" in done.stderr, f"Winograd against --hdr: {done.returncode}, {done.stderr[-200:]}")
    for options, words in ((("--hdr", "z"), "no input of the model"), (("--input-range", "x=1..0"), "smaller one first"), (("--input-range", "x=0-1"), "smaller one first"),
                           (("--input-range", "x=0..inf"), "smaller one first")):
        done = nsk("convert", folder / "net.onnx", "-o", folder / "misused.nsk", *options)
        expect(done.returncode == 1 and words in done.stderr, f"{options}: {done.returncode}, {done.stderr[-200:]}")


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        save(folder / "net.onnx")
        plain, hdr = check_options(folder)
        check_pixels(folder, plain, hdr)
        check_notices(folder, plain)
    if failures:
        sys.exit("\n".join(failures))
    print("bright pixels stay within the reach of kernels where the converter knows of them, and are told of where not")


if __name__ == "__main__":
    main()
