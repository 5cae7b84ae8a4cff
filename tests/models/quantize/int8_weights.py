#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--weights w8: the numbers of ONNX Runtime with weights that numpy rounds to int8 by a scale per channel, on every instruction set; those of
convolutions are widened by nsk::prepare, and are float16 where a channel has at most nine; what keeps float32 and says so; what refuses such files, by name; the sizes of recurrent and dense networks."""
import pathlib
import struct
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import SHARED, isas, must, nsk  # noqa: E402

F = np.float32
failures = []
# weights that are rounded, and the axes along which they are added up
ADDED = {"a": (1,), "b": (0,), "c": (0,), "gw": (2,), "gr": (2,), "lw": (2,), "lr": (2,)}
CONVOLUTIONS = {"k": (1, 2, 3), "m": (1, 2, 3), "n": (1, 2, 3), "o": (0, 2, 3), "p": (1, 2, 3)}


def expect(condition, what):
    if not condition:
        failures.append(what)


def network(path, **changed):
    """Dense layers as Gemm and MatMul, a GRU in two directions, an LSTM."""
    random = np.random.default_rng(7)
    shapes = {"a": (40, 12), "ab": (40,), "b": (40, 9), "gw": (2, 30, 9), "gr": (2, 30, 10), "gb": (2, 60), "lw": (1, 28, 20), "lr": (1, 28, 7), "c": (7, 5), "cb": (5,)}
    values = {name: (random.standard_normal(shape) / 3).astype(F) for name, shape in shapes.items()}
    values["a"][3] = 0  # a channel without weights
    values["b"][0, 0] = 9  # one weight far from the others
    values.update(changed)
    outputs = values["c"].shape[1]
    constants = {"rows": np.array([6, 1, 9]), "wide": np.array([6, 1, 20]), "last": np.array([6, 7])}
    node = helper.make_node
    nodes = [node("Gemm", ["x", "a", "ab"], ["p"], "first", transB=1), node("Relu", ["p"], ["q"], "relu"), node("MatMul", ["q", "b"], ["r"], "second"),
             node("Reshape", ["r", "rows"], ["s"], "steps"),
             node("GRU", ["s", "gw", "gr", "gb"], ["g"], "gru", hidden_size=10, direction="bidirectional", linear_before_reset=0),
             node("Transpose", ["g"], ["gt"], "turn", perm=[0, 2, 1, 3]), node("Reshape", ["gt", "wide"], ["h"], "join"),
             node("LSTM", ["h", "lw", "lr"], ["l"], "lstm", hidden_size=7), node("Reshape", ["l", "last"], ["m"], "flat"),
             node("Gemm", ["m", "c", "cb"], ["y"], "third")]
    graph = helper.make_graph(nodes, "bytes", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [6, 12])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [6, outputs])],
                              [numpy_helper.from_array(v, n) for n, v in {**values, **constants}.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))
    return path


def convolutions(path):
    """A layer for Winograd's algorithms, a strided, a depthwise, a transposed and a grouped one."""
    random = np.random.default_rng(11)
    shapes = {"k": (64, 64, 3, 3), "m": (64, 64, 3, 3), "n": (64, 1, 3, 3), "o": (64, 48, 2, 2), "p": (48, 12, 1, 1)}
    constants = [numpy_helper.from_array((random.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(F), name) for name, shape in shapes.items()]
    node = helper.make_node
    nodes = [node("Conv", ["x", "k"], ["a"], "winograd", pads=[1, 1, 1, 1]), node("Relu", ["a"], ["b"], "relu"),
             node("Conv", ["b", "m"], ["c"], "strided", pads=[1, 1, 1, 1], strides=[2, 2]), node("Conv", ["c", "n"], ["d"], "deep", pads=[1, 1, 1, 1], group=64),
             node("ConvTranspose", ["d", "o"], ["e"], "up", strides=[2, 2]), node("Conv", ["e", "p"], ["y"], "groups", group=4)]
    graph = helper.make_graph(nodes, "images", [helper.make_tensor_value_info("x", 1, [1, 64, 24, 24])], [helper.make_tensor_value_info("y", 1, [1, 48, 24, 24])], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))
    return path


def rounded(weights, axes):
    """Multiples of a scale of 16 bits, the best of nine that cut the largest weight of a channel by 0 to 1/4."""
    last = range(weights.ndim - len(axes), weights.ndim)
    moved = np.moveaxis(weights, axes, last)
    w = moved.reshape(-1, int(np.prod(moved.shape[moved.ndim - len(axes):]))).copy()
    for channel in w:
        best = np.inf
        largest = np.abs(channel).max()
        if largest == 0:
            continue
        exact = channel.copy()
        for cut in range(9):
            fraction, exponent = np.frexp(np.float64(largest) * (1 - cut / 32) / 127)
            scale = F(np.ldexp(np.rint(np.ldexp(fraction, 16)), exponent - 16))
            stored = (np.clip(np.rint(exact / scale), -127, 127).astype(F) * scale).astype(F)
            lost = np.square((exact - stored).astype(np.float64)).sum()
            if lost < best:
                best = lost
                channel[:] = stored
    return np.ascontiguousarray(np.moveaxis(w.reshape(moved.shape), last, axes))


def session_of(path, kept=(), added=ADDED):
    model = onnx.load(str(path))
    for tensor in model.graph.initializer:
        if tensor.name in added and tensor.name not in kept:
            exact, axes = numpy_helper.to_array(tensor), added[tensor.name]
            halves = exact.ndim == 4 and np.prod([exact.shape[a] for a in axes]) <= 9
            tensor.CopyFrom(numpy_helper.from_array(exact.astype(np.float16).astype(F) if halves else rounded(exact, axes), tensor.name))
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


def outputs(folder, model, x, isa):
    np.save(folder / "x.npy", x)
    must("run", model, "--input", f"x={folder / 'x.npy'}", "--output-dir", folder / isa, "--isa", isa, "--quiet")
    return np.load(folder / isa / "y.npy")


def compare(folder, name, said, kept=(), command=("convert", "--weights", "w8", "--check"), **changed):
    source, model = network(folder / f"{name}.onnx", **changed), folder / f"{name}.nsk"
    text = must(command[0], source, "-o", model, *command[1:])
    expect(said in text, f"{name}: '{said}' is not in\n{text}")
    must("check", source, model, "--quiet")
    x = np.random.default_rng(1).standard_normal((6, 12)).astype(F)
    wanted = session_of(source, kept).run(None, {"x": x})[0]
    exact = onnxruntime.InferenceSession(str(source), providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
    found = [outputs(folder, model, x, isa) for isa in isas()]
    largest = np.abs(wanted).max()
    error, moved = np.abs(found[0] - wanted).max() / largest, np.abs(exact - wanted).max() / largest
    expect(error < 2e-6, f"{name}: {error:.1e} off ONNX Runtime with rounded weights")
    expect(kept or moved > 20 * error, f"{name}: rounding moves the results by {moved:.1e} alone, so that this shows nothing")
    expect(all(f.tobytes() == found[0].tobytes() for f in found), f"{name}: instruction sets differ")
    return model


def images(folder):
    """Convolutions: a small file, whose weights nsk::prepare widens; the same numbers whichever algorithm computes them."""
    source = convolutions(folder / "images.onnx")
    x = np.random.default_rng(2).standard_normal((1, 64, 24, 24)).astype(F)
    wanted = session_of(source, (), CONVOLUTIONS).run(None, {"x": x})[0]
    exact = session_of(source, CONVOLUTIONS, CONVOLUTIONS).run(None, {"x": x})[0]
    for target in ([], ["--target", "size"]):
        model = folder / "images.nsk"
        text = must("quantize", source, "-o", model, "--format", "w8", "--input-range", "x=-6..6", *target)
        expect("weights are int8 in 7 of 8 layers, float16 in 1 with at most 9" in text, f"{target}: not all convolutions are int8:\n{text}")
        expect(("Winograd" in text) == (not target), f"{target}: Winograd's algorithms:\n{text}")
        must("check", source, model, "--quiet")
        found = [outputs(folder, model, x, isa) for isa in isas()]
        error, moved = (np.abs(y - wanted).max() / np.abs(wanted).max() for y in (found[0], exact))
        expect(error < 1e-5 and moved > 20 * error, f"{target}: {error:.1e} off ONNX Runtime with rounded weights, which move results by {moved:.1e}")
        expect(all(f.tobytes() == found[0].tobytes() for f in found), f"{target}: instruction sets differ")
        ratio = model.stat().st_size / source.stat().st_size
        expect(struct.unpack_from("<8sII", model.read_bytes())[2] & 16 and ratio <= 0.28, f"{target}: {ratio:.3f} of the source's bytes")


def refusals(folder, model):
    def refused(what, text, *arguments):
        run = nsk(*arguments)
        expect(run.returncode != 0 and text in run.stderr, f"{what}: exit {run.returncode}, {run.stderr.strip()}")

    refused("codegen", "int8 weights", "codegen", model, "-o", folder / "net.hpp")
    refused("samples for w8", "--format w8 needs no samples", "quantize", folder / "plain.onnx", "-o", folder / "z.nsk", "--format", "w8", "--keep", "first")
    expect(not (folder / "z.nsk").exists(), "a refused conversion leaves a file")
    expect("int8_weights = true" in must("inspect", model, "--settings"), "inspect --settings does not say int8_weights")
    expect(must("inspect", "--gpu", model).count("on the CPU") >= 3, "a plan for a GPU takes layers with int8 weights")
    expect(struct.unpack_from("<8sII", model.read_bytes())[2] & 8, "the header lacks the bit of int8 weights")


def sizes(folder):
    for name in ("bench/gru.onnx", "bench/lstm.onnx", "agents/Crawler.onnx"):
        source = SHARED / name
        if not source.exists():
            print(f"{name}: not there, its size is not compared")
            continue
        must("convert", source, "-o", folder / "f.nsk", "--quiet", "--no-check")
        must("quantize", source, "-o", folder / "w.nsk", "--quiet", "--format", "w8", "--target", "size")
        ratio = (folder / "w.nsk").stat().st_size / (folder / "f.nsk").stat().st_size
        expect(ratio <= 0.28, f"{name}: the file is {ratio:.3f} of that with float32")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        bytes_model = compare(place, "plain", "int8 in 7 of 7 layers")
        compare(place, "quantize", "int8 in 7 of 7 layers", command=("quantize", "--format", "w8", "--target", "size"))
        one = (np.random.default_rng(4).standard_normal((7, 1)) / 3).astype(F)
        compare(place, "one_output", "int8 in 7 of 7 layers", c=one, cb=np.float32([0.25]))
        tiny = (np.random.default_rng(3).standard_normal((7, 5)) * 1e-35).astype(F)
        compare(place, "tiny", "float32 in 'third' (the weights of a channel are below 2^-100)", kept=("c",), c=tiny)
        faster = must("quantize", place / "plain.onnx", "-o", place / "faster.nsk", "--format", "w8")
        expect("nsk::prepare makes float32 of 7 that caches keep" in faster, f"w8 for pc: small layers are not widened:\n{faster}")
        images(place)
        refusals(place, bytes_model)
        sizes(place)
    print("\n".join(failures) or "int8 weights: good")
    sys.exit(bool(failures))
