#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A size format gives the size: files of float16 have at most 0.52 of the bytes of their float32 source, those of int8 weights and of stored
integers at most 0.28 with --target size, 0.30 without. Which files open as they are, and how far float16 and int8 weights move the outputs (ONNX Runtime
computes the source).

  quantized_sizes.py own        a network that is made here: every kind of layer, and a planted violation
  quantized_sizes.py NETWORK    one of the shared models
"""
import json
import pathlib
import struct
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import RANGES, must, nsk, path_of, told  # noqa: E402

SMALL_BIT = 16
# format -> options, largest share of the source's bytes, whether it moves outputs by no more than docs/measurements/quantisation.md says
FORMATS = {"fp16": (["--format", "fp16"], 0.52, 2e-3), "fp16, size": (["--format", "fp16", "--target", "size"], 0.52, 2e-3),
           "w8": (["--format", "w8"], 0.30, 0.1), "w8, size": (["--format", "w8", "--target", "size"], 0.28, 0.1),
           "int8, size": (["--target", "size"], 0.28, None)}
# Networks that noise in place of an image moves far: of the line detector even float16. quantized_accuracy.py holds what they find on images.
ON_IMAGES = {"line_detector", "face_back"}
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)


def is_small(path):
    return struct.unpack_from("<8sII", path.read_bytes())[2] & SMALL_BIT != 0


def save(path, nodes, weights, inputs, outputs):
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in inputs.items()],
                              [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in outputs.items()],
                              [numpy_helper.from_array(w.astype(np.float32), name) for name, w in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))
    return path


def own_network(path):
    """Layers for Winograd's algorithms, strided, depthwise, grouped, transposed, normalised, and dense."""
    random = np.random.default_rng(5)
    shapes = {"a": (64, 3, 3, 3), "b": (128, 64, 3, 3), "c": (128, 1, 3, 3), "d": (192, 128, 1, 1), "e": (192, 48, 3, 3), "f": (192, 64, 2, 2), "g": (64, 40)}
    weights = {name: random.standard_normal(shape) / np.sqrt(np.prod(shape[1:])) for name, shape in shapes.items()}
    weights.update({"scale": random.uniform(0.5, 2, 192), "offset": random.standard_normal(192), "mean": random.standard_normal(192), "variance": random.uniform(0.5, 2, 192)})
    node = helper.make_node
    nodes = [node("Conv", ["x", "a"], ["p"], "stem", strides=[2, 2], pads=[1, 1, 1, 1]), node("Relu", ["p"], ["q"], "relu"),
             node("Conv", ["q", "b"], ["r"], "wide", pads=[1, 1, 1, 1]), node("Conv", ["r", "c"], ["s"], "deep", group=128, pads=[1, 1, 1, 1]),
             node("Conv", ["s", "d"], ["t"], "point"), node("BatchNormalization", ["t", "scale", "offset", "mean", "variance"], ["u"], "norm"),
             node("Conv", ["u", "e"], ["v"], "groups", group=4, pads=[1, 1, 1, 1], strides=[2, 2]), node("ConvTranspose", ["v", "f"], ["w"], "up", strides=[2, 2]),
             node("ReduceMean", ["w"], ["h"], "mean_of_all", axes=[2, 3], keepdims=0), node("MatMul", ["h", "g"], ["y"], "scores")]
    return save(path, nodes, weights, {"x": [1, 3, 32, 32]}, {"y": [1, 40]})


def inputs_of(source, name, folder):
    """Numbers for every input, as files for nsk and as a feed for ONNX Runtime."""
    random, feed, options = np.random.default_rng(2), {}, []
    low, high = RANGES.get(name, (-1, 1))
    quiet = onnxruntime.SessionOptions()
    quiet.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(source), quiet, providers=["CPUExecutionProvider"])
    for i, port in enumerate(session.get_inputs()):
        feed[port.name] = random.uniform(low, high, port.shape).astype(np.float32)
        np.save(folder / f"in{i}.npy", feed[port.name])
        options += ["--input", f"{port.name}={folder / f'in{i}.npy'}"]
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, feed))), feed, options


def moved_by(model, wanted, options, folder):
    """How far the outputs of a file are from those of the source: the root of the mean square, over that of the source's."""
    must("run", model, *options, "--output-dir", folder / "out", "--quiet")
    names = {path.stem: np.load(path) for path in (folder / "out").glob("*.npy")}
    worst = 0
    for name, exact in wanted.items():
        found = next((a for stem, a in names.items() if stem == "".join(c if c.isalnum() or c in "_.-" else "_" for c in name)), None)
        if found is None:
            failures.append(f"{model.name}: output {name} is missing among {sorted(names)}")
            continue
        off = found.reshape(exact.shape).astype(float) - exact
        worst = max(worst, float(np.sqrt((off * off).mean() / (exact.astype(float) ** 2).mean())))
    return worst


def samples_of(feed, folder):
    (folder / "samples").mkdir()
    options = []
    for name, values in feed.items():
        place = folder / "samples" / f"in{len(options)}"
        place.mkdir()
        for i in range(2):
            np.save(place / f"{i}.npy", values * np.float32(1 - i / 8))
        options += ["--calibrate", f"{name}={place}"]
    return options


def measure(source, name, folder):
    """Converts to every format; checks sizes, and how far outputs move."""
    bytes_before = source.stat().st_size
    wanted, feed, options = inputs_of(source, name, folder)
    calibration = samples_of(feed, folder)
    for kind, (how, limit, bound) in FORMATS.items():
        model = folder / f"{kind.replace(', ', '_')}.nsk"
        done = nsk("quantize", source, "-o", model, *how, *([] if "--format" in how else calibration), "--no-check")
        if done.returncode:
            failures.append(f"{kind}: {done.stderr.strip()}")
            continue
        ratio, moved = model.stat().st_size / bytes_before, None if bound is None or name in ON_IMAGES else moved_by(model, wanted, options, folder)
        print(f"  {kind}: {model.stat().st_size} bytes, {ratio:.3f} of the source" + (", small" if is_small(model) else "") + ("" if moved is None else f", outputs moved by {moved:.1e}"))
        expect(ratio <= limit, f"{kind}: {ratio:.3f} of the source's bytes, at most {limit}")
        expect(f"{ratio:.2f} x source" in done.stdout, f"{kind}: the ratio is not printed:\n{done.stdout}")
        expect(moved is None or moved <= bound, f"{kind}: outputs moved by {moved}, at most {bound}")
        expect(not is_small(model) or "nsk::prepare expands it to" in done.stdout, f"{kind}: the tool does not say that the file is small")


def own(folder):
    source = own_network(folder / "net.onnx")
    measure(source, "own", folder)
    expect(is_small(folder / "fp16.nsk") and is_small(folder / "w8.nsk"), "a file that would store more than its weights is not small")
    expect(not is_small(folder / "fp16_size.nsk"), "a file of float16 with --target size does not open as it is")
    # the same numbers as the source with rounded weights, by the evaluator, in both forms
    for kind in FORMATS:
        if kind != "int8, size":
            must("check", source, folder / f"{kind.replace(', ', '_')}.nsk", "--quiet")
    # planted: a file with more bytes than its source says so and why, and the cure takes the warning away
    said = nsk("convert", source, "-o", folder / "float.nsk")
    expect("times as many bytes as its source" in said.stderr and "Winograd's weights" in said.stderr and "--small" in said.stderr, f"no warning of a large file: {said.stderr}")
    cured = nsk("convert", source, "-o", folder / "float.nsk", "--small")
    expect(cured.returncode == 0 and "times as many" not in cured.stderr, f"--small does not cure: {cured.stderr}")
    sizes = [(folder / f"{kind}.nsk").stat().st_size / source.stat().st_size for kind in ("float", "fp16_size")]
    expect(sizes[0] > 0.52 and sizes[1] > 0.30, f"{sizes}: float32 passes for float16, or that for int8, so that this test shows nothing")


def arena():
    """Memory of a session of MobileNetV2 in int8, against float32."""
    source = path_of("mobilenet_v2")
    if source is None:
        return
    with tempfile.TemporaryDirectory(prefix="nsk_sizes_") as name:
        folder = pathlib.Path(name)
        must("convert", source, "-o", folder / "float.nsk", "--quiet", "--no-check")
        _, feed, _ = inputs_of(source, "mobilenet_v2", folder)
        must("quantize", source, "-o", folder / "integers.nsk", "--target", "size", *samples_of(feed, folder), "--quiet", "--no-check")
        bytes_of = [json.loads(must("inspect", folder / f"{kind}.nsk", "--json"))["variants"][0]["arena"]["bytes"] for kind in ("integers", "float")]
        expect(bytes_of[0] <= 0.35 * bytes_of[1], f"arena in int8: {bytes_of[0]} bytes, at most 0.35 of {bytes_of[1]}")


def main():
    name = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="nsk_sizes_") as folder:
        if name == "own":
            own(pathlib.Path(folder))
        elif path_of(name) is not None:
            measure(path_of(name), name, pathlib.Path(folder))
    if name == "mobilenet_v2":
        arena()
    return told(failures)


if __name__ == "__main__":
    sys.exit(main())
