#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""convert --weights fp16: the numbers of ONNX Runtime with weights that numpy rounds to float16, on every instruction set; what keeps
float32 and says so; what refuses such files, by name."""
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

failures = []
LAYERS = {"strided": "a", "deep": "b", "point": "c", "dense": "d"}  # that get float16, and their weights


def expect(condition, what):
    if not condition:
        failures.append(what)


def network(path, odd=False, scaled=False):
    """Convolution, depthwise convolution, 1 x 1 convolution with or without a scale behind it, dense layer."""
    random = np.random.default_rng(5)
    weights = {name: random.standard_normal(shape).astype(np.float32) / 4
               for name, shape in {"a": (20, 3, 3, 3), "b": (20, 1, 3, 3), "c": (33, 20, 1, 1), "d": (33, 7), "bias": (33,), "s": (33, 1, 1)}.items()}
    weights["a"][0, 0, 0, 0] = 3e-6  # below the normal numbers of float16
    if odd:  # channels with a weight that float16 does not hold, and with small ones
        weights["d"][1, 2] = 65600
        weights["a"][7] *= 1e-6
    nodes = [helper.make_node("Conv", ["x", "a"], ["p"], "strided", strides=[2, 2], pads=[1, 1, 1, 1]),
             helper.make_node("Relu", ["p"], ["q"], "relu"),
             helper.make_node("Conv", ["q", "b"], ["r"], "deep", group=20, pads=[1, 1, 1, 1]),
             helper.make_node("Conv", ["r", "c", "bias"], ["t"], "point"),
             helper.make_node("Mul", ["t", "s"], ["u"], "scale") if scaled else helper.make_node("Identity", ["t"], ["u"], "same"),
             helper.make_node("ReduceMean", ["u"], ["v"], "mean", axes=[2, 3], keepdims=0),
             helper.make_node("MatMul", ["v", "d"], ["y"], "dense")]
    used = {name for node in nodes for name in node.input}
    graph = helper.make_graph(nodes, "halves", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 16, 16])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 7])],
                              [numpy_helper.from_array(w, name) for name, w in weights.items() if name in used])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))
    return path


def halves(channel):
    """float16, times a power of two where it does not hold a weight or would lose more than a thousandth."""
    with np.errstate(over="ignore"):
        near = channel.astype(np.float16).astype(np.float32)
    if np.isfinite(near).all() and np.linalg.norm(near - channel) <= 2**-10 * np.linalg.norm(channel):
        return near
    scale = np.float32(2.0 ** (np.floor(np.log2(np.abs(channel).max())) - 14))
    return (channel / scale).astype(np.float16).astype(np.float32) * scale


def rounded(path, names):
    model = onnx.load(str(path))
    for tensor in model.graph.initializer:
        if tensor.name in names:
            weights = numpy_helper.to_array(tensor)
            channels = weights.T if tensor.name == "d" else weights
            near = np.stack([halves(channel) for channel in channels])
            tensor.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(near.T if tensor.name == "d" else near), tensor.name))
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


def outputs(folder, model, x, isa):
    np.save(folder / "x.npy", x)
    must("run", model, "--input", f"x={folder / 'x.npy'}", "--output-dir", folder / isa, "--isa", isa, "--quiet")
    return np.load(folder / isa / "y.npy")


def compare(folder, name, kept, said, **how):
    source, model = network(folder / f"{name}.onnx", **how), folder / f"{name}.nsk"
    text = must("convert", source, "-o", model, "--weights", "fp16", "--check")
    expect(said in text, f"{name}: '{said}' is not in\n{text}")
    expect("rounding the weights moves the outputs" in text, f"{name}: how far rounding moves the outputs is missing")
    must("check", source, model, "--quiet")
    x = np.random.default_rng(1).standard_normal((1, 3, 16, 16)).astype(np.float32)
    wanted = rounded(source, {w for layer, w in LAYERS.items() if layer not in kept}).run(None, {"x": x})[0]
    found = [outputs(folder, model, x, isa) for isa in isas()]
    error = np.abs(found[0] - wanted).max() / np.abs(wanted).max()
    expect(error < 2e-6, f"{name}: {error:.1e} off ONNX Runtime with rounded weights")
    expect(all(f.tobytes() == found[0].tobytes() for f in found), f"{name}: instruction sets differ")
    return model


def refusals(folder, model):
    def refused(what, text, *arguments):
        run = nsk(*arguments)
        expect(run.returncode != 0 and text in run.stderr, f"{what}: exit {run.returncode}, {run.stderr.strip()}")

    refused("codegen", "float16 weights", "codegen", model, "-o", folder / "net.hpp")
    refused("a value of the future", "--weights", "convert", folder / "plain.onnx", "-o", folder / "z.nsk", "--weights", "fp8")
    on_gpu = must("inspect", "--gpu", model)
    expect(on_gpu.count("on the CPU") >= len(LAYERS), f"a plan for a GPU takes layers with float16 weights:\n{on_gpu}")
    expect("half_weights = true" in must("inspect", model, "--settings"), "inspect --settings does not say half_weights")
    header = struct.unpack_from("<8sII", model.read_bytes())
    expect(header[2] & 4, "the header lacks the bit of float16 weights")
    plain = folder / "float.nsk"
    must("convert", folder / "plain.onnx", "-o", plain, "--weights", "float", "--quiet")
    expect(not struct.unpack_from("<8sII", plain.read_bytes())[2] & 4, "a file of float32 weights has the bit")
    expect("half_weights" not in must("inspect", plain, "--settings"), "inspect --settings says half_weights of a float model")


def sizes(folder):
    for name in ("bench/gru.onnx", "bench/lstm.onnx", "agents/Crawler.onnx"):
        source = SHARED / name
        if not source.exists():
            continue
        must("convert", source, "-o", folder / "f.nsk", "--quiet", "--no-check")
        must("convert", source, "-o", folder / "h.nsk", "--quiet", "--weights", "fp16", "--check")
        ratio = (folder / "h.nsk").stat().st_size / (folder / "f.nsk").stat().st_size
        expect(ratio <= 0.52, f"{name}: the file is {ratio:.3f} of that with float32")


def dense_layers(path, widths):
    """Writes two dense layers of one row, from widths[0] to widths[1] to widths[2]."""
    random = np.random.default_rng(9)
    nodes = [helper.make_node("MatMul", ["x", "a"], ["h"], "first"), helper.make_node("Relu", ["h"], ["r"], "relu"), helper.make_node("MatMul", ["r", "b"], ["y"], "second")]
    graph = helper.make_graph(nodes, "dense", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, widths[0]])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, widths[2]])],
                              [numpy_helper.from_array((random.standard_normal(shape) / 9).astype(np.float32), n) for n, shape in (("a", widths[:2]), ("b", widths[1:]))])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))


def speed(folder):
    """nsk::prepare makes float32 where float16 would be slower: in layers of few rows whose float32 weights the caches of the target keep."""
    small = folder / "plain.onnx"
    wide = "; nsk::prepare makes float32 of 1 that caches keep"
    for target, said in ((None, "float16 in 4 of 4 layers" + wide), ("zen2-console", "float16 in 4 of 4 layers" + wide), ("size", "float16 in 4 of 4 layers\n")):
        text = must("quantize", small, "-o", folder / "q.nsk", "--format", "fp16", *(["--target", target] if target else []))
        expect(said in text, f"--target {target}: '{said}' is not in\n{text}")
    cases = [("pc", (200, 40, 77), "fp16", 2), ("pc", (900, 900, 50), "fp16", 0)]  # 45 kB, 3.4 MB
    cases += [(target, (200, hidden, 77), how, wide) for target in ("mobile", "switch2") for how in ("fp16", "w8") for hidden, wide in ((700, 2), (1100, 0))]  # 0.8, 1.2 MB
    cases += [("zen2-console", (200, 700, 77), "fp16", 0)]
    for target, widths, how, wide in cases:
        dense_layers(folder / "dense.onnx", widths)
        run = nsk("quantize", folder / "dense.onnx", "-o", folder / "dense.nsk", "--format", how, "--target", target)
        said = f"{'float16' if how == 'fp16' else 'int8'} in 2 of 2 layers" + (f"; nsk::prepare makes float32 of {wide}" if wide else "\n")
        expect(said in run.stdout + run.stderr, f"{target}, {how}, {widths}: '{said}' is not in\n{run.stdout}{run.stderr}")
        bytes_of = [(folder / f"dense.{kind}").stat().st_size for kind in ("nsk", "onnx")]
        expect(run.returncode == 0 and bytes_of[0] <= 0.54 * bytes_of[1], f"{target}, {how}, {widths}: exit {run.returncode}, {bytes_of[0]} of {bytes_of[1]} bytes")


with tempfile.TemporaryDirectory() as name:
    place = pathlib.Path(name)
    half = compare(place, "plain", set(), "float16 in 4 of 4 layers")
    compare(place, "odd", set(), "float16 in 4 of 4 layers; nsk::prepare makes float32 of 2 with a channel that needs a scale", odd=True)
    compare(place, "scaled", {"point"}, "float32 in 'point' (scaled by other constants", scaled=True)
    refusals(place, half)
    sizes(place)
    speed(place)
print("\n".join(failures) or "float16 weights: good")
sys.exit(bool(failures))
