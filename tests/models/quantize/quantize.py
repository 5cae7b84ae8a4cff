#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsk quantize: layers that become integers, how near they stay to ONNX Runtime's float results, the same bits on every instruction
set, tensors that are hard to store, and what is refused."""
import pathlib
import re
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import isas, must, nsk, onnx_session, told  # noqa: E402

SAMPLES = 12
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)


def save(path, nodes, weights, inputs, outputs):
    used = {name for node in nodes for name in node.input}
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in inputs.items()],
                              [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in outputs.items()],
                              [numpy_helper.from_array(w.astype(np.float32), name) for name, w in weights.items() if name in used])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))
    return path


def network(path, change=None):
    """Everything that a layer can be: normalised, depthwise, grouped, added to, dense in both forms."""
    random = np.random.default_rng(5)
    shapes = {"a": (16, 3, 3, 3), "b": (16, 1, 3, 3), "c": (24, 16, 1, 1), "d": (24, 6, 3, 3), "e": (24, 24, 1, 1), "f": (24, 20), "g": (10, 20)}
    weights = {name: random.standard_normal(shape) / np.sqrt(np.prod(shape[1:])) for name, shape in shapes.items()}
    weights["f"] = random.standard_normal((24, 20)) / 5
    weights["mean"], weights["offset"] = random.standard_normal(16) / 4, random.standard_normal(16) / 4
    weights["scale"], weights["variance"] = random.uniform(0.5, 2, 16), random.uniform(0.5, 2, 16)
    weights["bias"] = random.standard_normal(24) / 4
    weights["bias10"] = random.standard_normal(10) / 4
    weights["six"], weights["none"] = np.array(6), np.array(0)
    if change:
        change(weights)
    nodes = [helper.make_node("Conv", ["x", "a"], ["p"], "stem", strides=[2, 2], pads=[1, 1, 1, 1]),
             helper.make_node("BatchNormalization", ["p", "scale", "offset", "mean", "variance"], ["q"], "norm"),
             helper.make_node("Clip", ["q", "none", "six"], ["r"], "limit"),
             helper.make_node("Conv", ["r", "b"], ["s"], "deep", group=16, pads=[1, 1, 1, 1]),
             helper.make_node("Relu", ["s"], ["t"], "relu"),
             helper.make_node("Conv", ["t", "c", "bias"], ["u"], "point"),
             helper.make_node("Conv", ["u", "d"], ["v"], "groups", group=4, pads=[1, 1, 1, 1]),
             helper.make_node("Add", ["u", "v"], ["w"], "sum"),
             helper.make_node("Conv", ["w", "e"], ["h"], "last"),
             helper.make_node("GlobalAveragePool", ["h"], ["i"], "mean_of_all"),
             helper.make_node("Flatten", ["i"], ["j"], "flat"),
             helper.make_node("MatMul", ["j", "f"], ["k"], "hidden"),
             helper.make_node("Gemm", ["k", "g", "bias10"], ["y"], "scores", transB=1)]
    return save(path, nodes, weights, {"x": [1, 3, 20, 22]}, {"y": [1, 10]})


def samples(folder, shape=(1, 3, 20, 22), count=SAMPLES, seed=1, change=None):
    folder.mkdir()
    random = np.random.default_rng(seed)
    for i in range(count):
        x = random.standard_normal(shape).astype(np.float32)
        np.save(folder / f"{i:03}.npy", change(x, i) if change else x)
    return folder


def signal_to_noise(text, name="y"):
    found = re.search(rf"output '{name}': (-?[0-9.]+) dB", text)
    return float(found[1]) if found else -1000


def packings(folder, model):
    must("json", model, "-o", folder / "table.json")
    return re.findall(r'"packing": "(safe_quads|quads)"', (folder / "table.json").read_text())


def run(folder, model, x, isa):
    np.save(folder / "in.npy", x)
    must("run", model, "--input", f"x={folder / 'in.npy'}", "--output-dir", folder / isa, "--isa", isa, "--quiet")
    return np.load(folder / isa / "y.npy")


def check_network(folder):
    source, data = network(folder / "net.onnx"), samples(folder / "data")
    model = folder / "net.nsk"
    text = must("quantize", "--target", "size", source, "-o", model, "--calibrate", data, "--check", "--embed-check")
    expect("int8 in 7 of 7 layers, by 12 samples" in text, f"not all layers are integers:\n{text}")
    expect("check passed" in text, f"no check:\n{text}")
    must("selftest", model)
    float_network = onnxruntime.InferenceSession(str(source), providers=["CPUExecutionProvider"])
    signal = noise = 0.0
    for i in range(SAMPLES):
        x = np.load(data / f"{i:03}.npy")
        found = [run(folder, model, x, isa) for isa in isas()]
        expect(all(f.tobytes() == found[0].tobytes() for f in found), f"sample {i}: instruction sets differ")
        wanted = float_network.run(None, {"x": x})[0].astype(np.float64)
        signal += np.square(wanted).sum()
        noise += np.square(found[0] - wanted).sum()
    measured = 10 * np.log10(signal / noise)
    expect(measured > 30, f"{measured:.1f} dB from ONNX Runtime")
    expect(abs(measured - signal_to_noise(text)) < 0.2, f"{measured:.1f} dB is not what was said:\n{text}")
    expect(packings(folder, model) == ["safe_quads"] * 7, f"{packings(folder, model)} instead of safe quads")
    return source, data, text


def check_choices(folder, source, data, default):
    """Each choice does what it says, and none is far worse."""
    model = folder / "choice.nsk"
    for option in (["--ranges", "minmax"], ["--ranges", "percentile"], ["--ranges", "kl"], ["--full-range-weights"], ["--per-tensor"], ["--no-bias-correction"], ["--equalize", "weights"], ["--equalize", "activations"]):
        text = must("quantize", "--target", "size", source, "-o", model, "--calibrate", data, *option)
        expect(signal_to_noise(text) > signal_to_noise(default) - 15, f"{option}: {signal_to_noise(text)} dB")
        if "full-range" in option[0]:
            expect("quads" in packings(folder, model), "--full-range-weights: all layers are pair-safe")
    text = must("quantize", "--target", "size", source, "-o", model, "--calibrate", data, "--keep", "deep", "--keep", "scores")
    expect("int8 in 5 of 7 layers" in text and len(packings(folder, model)) == 5, f"--keep keeps nothing:\n{text}")
    text = must("quantize", source, "-o", model, "--format", "fp16")
    expect("weights are float16" in text, f"--format fp16:\n{text}")


def check_means(folder):
    """What rounded weights take from the mean of a product is given back, whatever the axes before the last one are."""
    random = np.random.default_rng(8)
    weights, means = random.standard_normal((16, 12)), np.linspace(-4, 4, 16)
    for rows in ((3,), (20,), (2, 5)):
        name = "means_" + "_".join(map(str, rows))
        source = save(folder / f"{name}.onnx", [helper.make_node("MatMul", ["x", "w"], ["y"], "only")], {"w": weights}, {"x": [1, *rows, 16]}, {"y": [1, *rows, 12]})
        data = samples(folder / name, (1, *rows, 16), change=lambda x, i: (x / 4 + means).astype(np.float32))
        off = {}
        for option in ((), ("--no-bias-correction",)):
            must("quantize", "--target", "size", source, "-o", folder / "means.nsk", "--calibrate", data, "--per-tensor", *option)
            differences = [run(folder, folder / "means.nsk", x, "scalar") - x.astype(np.float64) @ weights for x in map(np.load, sorted(data.iterdir()))]
            off[option] = np.abs(np.mean(np.concatenate(differences), axis=tuple(range(1 + len(rows))))).mean()
        expect(off[()] * 4 < off[("--no-bias-correction",)], f"{name}: means are off by {off}")


def divergence(bins, size, levels=128):
    """Of the first bins from levels of them, step by step as the slides of TensorRT say it."""
    p = bins[:size].astype(float)
    p[-1] += bins[size:].sum()
    q = np.zeros(size)
    for level in range(levels):
        part = slice(level * size // levels, (level + 1) * size // levels)
        used = p[part] > 0
        q[part] = used * bins[part].sum() / max(used.sum(), 1)
    p, q = p / p.sum(), q / q.sum()
    return (p[p > 0] * np.log(p[p > 0] / q[p > 0])).sum() if (q[p > 0] > 0).all() else np.inf


def check_divergence(folder):
    """--ranges kl takes magnitudes whose divergence is the least of all, or as good as that, of numbers of either sign and of positive ones."""
    source = save(folder / "kl.onnx", [helper.make_node("MatMul", ["x", "w"], ["y"], "only")], {"w": np.eye(64)}, {"x": [1, 64]}, {"y": [1, 64]})
    random = np.random.default_rng(6)
    for name, numbers in {"normal": random.standard_normal((400, 1, 64)), "outliers": random.standard_t(3, (400, 1, 64)), "positive": random.exponential(1, (400, 1, 64)),
                          "half zeros": np.maximum(random.standard_normal((400, 1, 64)), 0)}.items():
        data = folder / f"kl_{name}"
        data.mkdir()
        for i, x in enumerate(numbers.astype(np.float32)):
            np.save(data / f"{i:03}.npy", x)
        must("quantize", "--target", "size", source, "-o", folder / "kl.nsk", "--calibrate", data, "--ranges", "kl")
        must("json", folder / "kl.nsk", "-o", folder / "kl.json")
        scale = float(re.search(r'"quantize".*?"scale": ([0-9.e-]+)', (folder / "kl.json").read_text(), re.I | re.S)[1])
        magnitudes = np.abs(numbers.astype(np.float32))
        bins = np.histogram(magnitudes, 2048, (0, magnitudes.max()))[0]
        bins[0] = bins[1]
        expect(scale > 0, f"kl of {name}: no scale")
        found = scale * (255 if numbers.min() >= 0 else 127.5) * 2048 / magnitudes.max()
        all_of_them = {size: divergence(bins, size) for size in range(128, 2049, 4)}
        there = min(divergence(bins, size) for size in range(max(128, int(found) - 24), min(2048, int(found) + 24) + 1))
        expect(there < min(all_of_them.values()) * 1.06, f"kl of {name}: {there} at {found:.0f}, best {min(all_of_them.values())} at {min(all_of_them, key=all_of_them.get)}")
        expect(name != "outliers" or found < 1500, f"kl of {name} takes {found:.0f} of 2048 bins")


def check_hard_tensors(folder):
    """Channels of zeros, equal weights, huge biases, inputs that are one number: stored, and close."""
    def zeros(w):
        w["a"][3] = w["c"][5] = 0

    def equal(w):
        w["b"][:] = w["e"][:] = 0.25

    def huge_bias(w):
        w["c"][7] *= 1e-9
        w["bias"][7] = 30

    def all_zeros(w):
        w["d"][:] = 0

    for change in (zeros, equal, huge_bias, all_zeros):
        source, name = network(folder / f"{change.__name__}.onnx", change), change.__name__
        text = must("quantize", "--target", "size", source, "-o", folder / "hard.nsk", "--calibrate", folder / "data", "--check")
        expect("int8 in 7 of 7 layers" in text and signal_to_noise(text) > 25, f"{name}:\n{text}")
    for name, change in {"constant": lambda x, i: np.full_like(x, 0.5), "nothing": lambda x, i: np.zeros_like(x), "tiny": lambda x, i: x * 1e-30,
                         "large": lambda x, i: x * 1e15}.items():
        data = samples(folder / f"data_{name}", change=change, count=3)
        text = must("quantize", "--target", "size", folder / "net.onnx", "-o", folder / "hard.nsk", "--calibrate", data, "--check")
        expect(signal_to_noise(text) > 15, f"samples that are {name}:\n{text}")


def check_equalization(folder):
    """Channels of which some are 500 times as large as others, and that are read by as much smaller weights: either way to equalise them gives back
    what one scale takes. The source without such channels has the same numbers, and a limit of its own, Clip, is left alone."""
    random = np.random.default_rng(9)
    factors = np.where(np.arange(24) % 3 == 0, 512.0, 1.0)
    weights = {"a": random.standard_normal((24, 3, 3, 3)) / 5 * factors[:, None, None, None], "ab": random.standard_normal(24) / 4 * factors,
               "b": random.standard_normal((24, 1, 3, 3)) / 3, "c": random.standard_normal((8, 24, 1, 1)) / 5 / factors[:, None, None], "six": np.array(4000), "none": np.array(0)}

    def source(limit):
        nodes = [helper.make_node("Conv", ["x", "a", "ab"], ["p"], "wide", pads=[1] * 4), helper.make_node(limit, ["p"] if limit == "Relu" else ["p", "none", "six"], ["q"], "limit"),
                 helper.make_node("Conv", ["q", "b"], ["r"], "deep", group=24), helper.make_node("Conv", ["r", "c"], ["y"], "last")]
        return save(folder / f"{limit}.onnx", nodes, weights, {"x": [1, 3, 20, 22]}, {"y": [1, 8, 18, 20]})

    def measured(path, *options):
        text = must("quantize", "--target", "size", path, "-o", folder / "equal.nsk", "--calibrate", folder / "data", "--check", *options)
        pairs = re.search(r"equalised between (\d+) pairs", text)
        return signal_to_noise(text), int(pairs[1]) if pairs else 0

    relu = source("Relu")
    plain = measured(relu)
    for how in ("weights", "activations"):
        db, pairs = measured(relu, "--equalize", how)
        expect(pairs == 2 and db > max(20, plain[0] + 10), f"--equalize {how}: {plain[0]} to {db} dB by {pairs} pairs")
    expect(measured(source("Clip"), "--equalize", "weights")[1] == 1, "a Clip was equalised away")
    seen = folder / "equal.json"
    must("quantize", "--target", "size", relu, "-o", folder / "equal.nsk", "--calibrate", folder / "data", "--save-calibration", seen)
    for code, what, options in ((1, "equal.json' takes", ["--calibrate", seen, "--equalize", "activations"]), (1, "are for int8", ["--format", "fp16", "--equalize", "weights"]),
                                (2, "another model", ["--calibrate", seen, "--equalize", "weights"])):
        done = nsk("quantize", relu, "-o", folder / "none.nsk", "--target", "size", *options)
        expect(done.returncode == code and what in done.stderr and not (folder / "none.nsk").exists(), f"{options}: exit {done.returncode}, {done.stderr}")


def check_doubt(folder):
    """A channel that is far larger than the others, and that nothing reads, takes their levels: the command says so."""
    def outlier(w):
        w["c"][5] *= 3000
        w["d"][:6, 5] = w["e"][:, 5] = 0

    source, plain = network(folder / "outlier.onnx", outlier), must("quantize", "--target", "size", folder / "net.onnx", "-o", folder / "doubt.nsk", "--calibrate", folder / "data")
    text = must("quantize", "--target", "size", source, "-o", folder / "doubt.nsk", "--calibrate", folder / "data")
    off = re.search(r"output 'y' is off by ([0-9.]+) of its magnitude: .*--format fp16", text)
    expect(off and abs(float(off[1]) - 10 ** (-signal_to_noise(text) / 20)) < 0.02 and signal_to_noise(text) < 20, f"no doubt:\n{text}")
    expect("is off by" not in plain, f"doubt without a reason:\n{plain}")


def check_inputs(folder):
    """Two inputs, files without leading axes, one file."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"], "left"), helper.make_node("MatMul", ["z", "w"], ["b"], "right"), helper.make_node("Add", ["a", "b"], ["y"])]
    source = save(folder / "two.onnx", nodes, {"w": np.random.default_rng(2).standard_normal((8, 8))}, {"x": [1, 8], "z": [1, 8]}, {"y": [1, 8]})
    first, second = samples(folder / "first", (8,), 5), samples(folder / "second", (1, 8), 5, seed=2)
    text = must("quantize", "--target", "size", source, "-o", folder / "two.nsk", "--calibrate", f"x={first}", "--calibrate", f"z={second}", "--check")
    expect("int8 in 2 of 2 layers, by 5 samples" in text and signal_to_noise(text) > 30, f"two inputs:\n{text}")
    must("quantize", "--target", "size", source, "-o", folder / "two.nsk", "--calibrate", f"x={first / '000.npy'}", "--calibrate", f"z={second / '001.npy'}", "--quiet")
    return source, first, second


def check_stored_sources(folder):
    """Products with all of an image are convolutions, but not where windows reach outside; arithmetic on bytes has floats on a GPU."""
    random = np.random.default_rng(3)

    def model(nodes, constants, inputs, shape):
        graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info(n, TensorProto.UINT8, s) for n, s in inputs.items()],
                                  [helper.make_tensor_value_info("y", TensorProto.UINT8, shape)],
                                  [numpy_helper.from_array(np.asarray(v), name) for name, v in constants.items()])
        path = folder / "stored.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))
        return path

    scales = {"xs": np.float32(0.1), "xz": np.uint8(77), "ws": np.float32(0.02), "wz": np.int8(0), "ys": np.float32(3), "yz": np.uint8(120)}
    weights = {"w": random.integers(-100, 100, (5, 48, 1, 1)).astype(np.int8), "s": np.array([1, 48, 1, 1])}
    x = random.integers(0, 256, (1, 3, 4, 4)).astype(np.uint8)
    for pads, dilation, stride, side in (([0] * 4, 1, 1, 1), ([1] * 4, 1, 1, 3), ([0] * 4, 2, 1, 1), ([1, 1, 0, 0], 1, 2, 1)):
        nodes = [helper.make_node("Reshape", ["x", "s"], ["f"]),
                 helper.make_node("QLinearConv", ["f", "xs", "xz", "w", "ws", "wz", "ys", "yz"], ["y"], pads=pads, dilations=[dilation] * 2, strides=[stride] * 2)]
        source = model(nodes, {**scales, **weights}, {"x": x.shape}, [1, 5, side, side])
        must("convert", source, "-o", folder / "stored.nsk", "--check", "--quiet")
        wanted = onnx_session(source).run(None, {"x": x})[0]
        expect(np.array_equal(run(folder, folder / "stored.nsk", x, "avx2"), wanted), f"1 x 1 with pads {pads}, dilation {dilation}, stride {stride}")
    nodes = [helper.make_node("DequantizeLinear", ["a", "xs", "xz"], ["p"]), helper.make_node("DequantizeLinear", ["b", "ys", "yz"], ["q"]),
             helper.make_node("Add", ["p", "q"], ["r"]), helper.make_node("QuantizeLinear", ["r", "ys", "yz"], ["y"])]
    source = model(nodes, {n: scales[n] for n in ("xs", "xz", "ys", "yz")}, {"a": x.shape, "b": x.shape}, x.shape)
    text = must("convert", source, "-o", folder / "stored.nsk", "--gpu", "--check")
    expect("QuantizedBinary" not in text, f"the variant for GPUs has a step on bytes:\n{text}")
    expect("quantized binary" in must("inspect", folder / "stored.nsk").lower(), "the variant for CPUs has no step on bytes")


def check_biases(folder):
    """Constants that are added to each channel become biases, in any form; what is added to each element does not."""
    random = np.random.default_rng(8)
    nodes = [helper.make_node("Conv", ["x", "k"], ["a"], "conv"), helper.make_node("Add", ["b", "a"], ["c"]), helper.make_node("Relu", ["c"], ["d"]),
             helper.make_node("Flatten", ["d"], ["e"]), helper.make_node("MatMul", ["e", "m"], ["f"], "product"), helper.make_node("Add", ["f", "g"], ["h"]),
             helper.make_node("Gemm", ["h", "n", "p"], ["i"], "gemm"), helper.make_node("Add", ["i", "q"], ["y"])]
    weights = {"k": random.standard_normal((8, 4, 3, 3)), "b": random.standard_normal((8, 1, 1)), "m": random.standard_normal((128, 16)), "g": random.standard_normal((1, 16)),
               "n": random.standard_normal((16, 5)), "p": random.standard_normal(5), "q": random.standard_normal(1)}
    for changed, binaries in (({}, 0), ({"b": random.standard_normal((8, 4, 4))}, 1)):
        used = {**weights, **changed}
        source = save(folder / f"biases{binaries}.onnx", nodes, used, {"x": [1, 4, 6, 6]}, {"y": [1, 5]})
        data = samples(folder / f"biases{binaries}", (1, 4, 6, 6))
        text = must("quantize", "--target", "size", source, "-o", folder / "biases.nsk", "--calibrate", data, "--check")
        steps = must("inspect", folder / "biases.nsk")
        expect("int8 in 3 of 3" in text and signal_to_noise(text) > 25, f"biases: {text}")
        expect(len(re.findall(r"^ +\d+  add", steps, re.M)) == binaries, f"biases: {steps}")


def check_refusals(folder, source, data, two, first, second):
    output = folder / "never.nsk"

    def refused(code, text, *arguments):
        done = nsk("quantize", "--target", "size", *arguments, "-o", output)
        expect(done.returncode == code and text in done.stderr, f"{text}: exit {done.returncode}, {done.stderr.strip()}")
        expect(not output.exists(), f"{text}: a file was written")

    def bad(name, shape=(1, 3, 20, 22), **how):
        return samples(folder / name, shape, 2, **how)

    def spoil(value):
        def change(x, i):
            x.flat[5] = value if i == 1 else x.flat[5]
            return x
        return change

    (folder / "empty").mkdir()
    refused(2, "int8 needs samples", source)
    refused(2, "there is no .npy file in", source, "--calibrate", folder / "empty")
    refused(2, "--calibrate: there is no '", source, "--calibrate", folder / "nowhere")
    refused(2, "has the shape [1,3,20,21]", source, "--calibrate", bad("narrow", (1, 3, 20, 21)))
    refused(2, "is not finite", source, "--calibrate", bad("nan", change=spoil(np.nan)))
    refused(2, "is not finite", source, "--calibrate", bad("inf", change=spoil(np.inf)))
    large = bad("overflow", (1, 8), change=lambda x, i: np.full_like(x, 3e38))
    refused(2, "is not finite on the sample", two, "--calibrate", f"x={large}", "--calibrate", f"z={large}")
    refused(1, "which is no layer that could be quantised. Did you mean 'deep'", source, "--calibrate", data, "--keep", "dep")
    refused(1, "write NAME=", two, "--calibrate", first)
    refused(1, "there are no samples of input 'z'", two, "--calibrate", f"x={first}")
    refused(1, "were given twice", two, "--calibrate", f"x={first}", "--calibrate", f"x={second}")
    refused(2, "Give each input one file per sample", two, "--calibrate", f"x={first}", "--calibrate", f"z={second / '000.npy'}")
    refused(1, "needs no samples", source, "--format", "fp16", "--calibrate", data)
    done = nsk("quantize", two, "-o", output, "--calibrate", f"x={first}", "--calibrate", f"z={second}")
    expect(done.returncode == 2 and "not estimated faster than float32 on pc" in done.stderr and not output.exists(), f"a network that int8 makes no faster: {done.stderr}")
    refused(1, "--target", source, "--calibrate", data, "--target", "toaster")
    refused(1, "--format", source, "--format", "int4", "--calibrate", data)
    relu = save(folder / "relu.onnx", [helper.make_node("Relu", ["x"], ["y"])], {}, {"x": [1, 8]}, {"y": [1, 8]})
    refused(2, "no convolution or matrix product", relu, "--calibrate", first)
    state = save(folder / "state.onnx", [helper.make_node("MatMul", ["h", "w"], ["h_out"]), helper.make_node("Add", ["x", "h_out"], ["y"])],
                 {"w": np.eye(8)}, {"x": [1, 8], "h": [1, 8]}, {"y": [1, 8], "h_out": [1, 8]})
    done = nsk("quantize", "--target", "size", state, "-o", output, "--calibrate", f"x={first}", "--calibrate", f"h={second}")
    expect(done.returncode != 0 and not output.exists() or "int8 in 1 of 1" in done.stdout, f"states: {done.stderr}")
    done = nsk("check", source, folder / "net.nsk")
    expect(done.returncode == 0 and "dB of signal to noise" in done.stdout, f"check of a quantised model: {done.stdout}{done.stderr}")


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_quantize_") as name:
        folder = pathlib.Path(name)
        source, data, text = check_network(folder)
        check_biases(folder)
        check_choices(folder, source, data, text)
        check_means(folder)
        check_divergence(folder)
        check_hard_tensors(folder)
        check_doubt(folder)
        check_equalization(folder)
        check_stored_sources(folder)
        check_refusals(folder, source, data, *check_inputs(folder))
    return told(failures)


if __name__ == "__main__":
    sys.exit(main())
