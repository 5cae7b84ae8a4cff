#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsk quantize --integer-io: what integers at inputs and outputs mean; check --min-db; int8 of variants and of models with states.

The oracle is ONNX Runtime on the float model, and nsk's own int8 file with float ports, whose arithmetic is the same.
"""
import json
import pathlib
import re
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import must, nsk, onnx_session, told  # noqa: E402

F = np.float32
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
rng = np.random.default_rng(8)
failures = []


def expect(good, what):
    if not good:
        failures.append(what)


def save(path, nodes, inputs, outputs, **constants):
    ports = [[helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in p.items()] for p in (inputs, outputs)]
    graph = helper.make_graph(nodes, "ports", *ports, [numpy_helper.from_array(np.asarray(c, F), n) for n, c in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))
    return path


def classifier(path):
    node = helper.make_node
    return save(path, [node("Conv", ["image", "k"], ["a"], "first", pads=[1] * 4), node("Relu", ["a"], ["b"], "relu"), node("Conv", ["b", "m"], ["map"], "second", pads=[1] * 4),
                       node("GlobalAveragePool", ["map"], ["p"], "pool"), node("Flatten", ["p"], ["f"], "flat"), node("MatMul", ["f", "w"], ["s"], "dense"),
                       node("Softmax", ["s"], ["scores"], "softmax", axis=-1)],
                {"image": [1, 3, 16, 16]}, {"scores": [1, 10], "map": [1, 12, 16, 16]}, k=rng.standard_normal((16, 3, 3, 3)) * 0.3, m=rng.standard_normal((12, 16, 3, 3)) * 0.2,
                w=rng.standard_normal((12, 10)))


def noise(wanted, got):
    wanted, got = np.float64(wanted), np.float64(got)
    return 10 * np.log10(np.sum(wanted ** 2) / np.sum((got - wanted) ** 2))


def run(folder, model, *options, **inputs):
    for name, x in inputs.items():
        np.save(folder / f"{name}.npy", x)
    must("run", model, "--output-dir", folder / "out", *options, *[o for n in inputs for o in ("--input", f"{n}={folder / n}.npy")])
    return {p.stem: np.load(p) for p in (folder / "out").glob("*.npy")}


def meanings(model):
    """Port -> scale and zero point, as inspect shows them."""
    found = re.findall(r"quantization\.(\w+): (u?int8), scale ([-\d.e+]+), zero point (-?\d+)", must("inspect", model))
    return {name: (kind, float(scale), int(zero)) for name, kind, scale, zero in found}


def stored(x, meaning):
    kind, scale, zero = meaning
    lowest = -128 if kind == "int8" else 0
    return np.clip(np.round(x / scale) + zero, lowest, lowest + 255).astype(kind)


def quantised(folder, source, name, *options):
    must("quantize", source, "-o", folder / name, "--target", "size", "--quiet", *options)
    return folder / name


def check_scales(folder, source, data):
    """By the tensor's scale: the integers are the nearest to what the file with float ports reads and makes."""
    x = rng.uniform(-1, 1, (1, 3, 16, 16)).astype(F)
    floats = run(folder, quantised(folder, source, "floats.nsk", "--calibrate", data), image=x)
    for options, kinds in ((["--integer-io", "all"], ["uint8"] * 3), (["--integer-io", "image=int8", "--integer-io", "scores=int8", "--integer-io", "map"], ["int8", "int8", "uint8"]),
                           (["--integer-io", "scores"], [None, "uint8", None])):
        model = quantised(folder, source, "ports.nsk", "--calibrate", data, *options)
        means = meanings(model)
        wanted = {n: k for n, k in zip(("image", "scores", "map"), kinds) if k}
        expect({n: m[0] for n, m in means.items()} == wanted, f"{options}: inspect shows {means}")
        got = run(folder, model, image=stored(x, means["image"]) if "image" in means else x)
        for name in ("scores", "map"):
            if name not in means:
                expect(np.array_equal(got[name], floats[name]), f"{options}: '{name}' changed")
                continue
            kind, scale, zero = means[name]
            expect(got[name].dtype == kind, f"{options}: '{name}' is {got[name].dtype}")
            off = np.abs((got[name].astype(F) - zero) * scale - floats[name]).max()
            expect(off <= 0.51 * scale, f"{options}: '{name}' is off by {off / scale:.2f} steps")
        must("check", source, model, "--min-db", "15", "--quiet")


def check_pixels(folder, source):
    """Samples that are images: the game gives levels of pixels, and the model subtracts and divides itself."""
    photos = folder / "photos"
    photos.mkdir()
    levels = [rng.integers(0, 256, (16, 16, 3), dtype=np.uint8) for _ in range(6)]
    for i, pixels in enumerate(levels):
        (photos / f"{i}.ppm").write_bytes(b"P6 16 16 255\n" + pixels.tobytes())
    numbers = ["--mean", ",".join(map(str, MEAN)), "--std", ",".join(map(str, STD))]
    model = quantised(folder, source, "pixels.nsk", "--calibrate", photos, "--integer-io", "image=uint8", *numbers)
    text = must("inspect", model)
    expect("levels of pixels from 0 to 255" in text and "uint8 [1,16,16,3]" in text, text)
    planar = levels[0].transpose(2, 0, 1)[None]
    x = ((planar / 255 - np.reshape(MEAN, (1, 3, 1, 1))) / np.reshape(STD, (1, 3, 1, 1))).astype(F)
    wanted = dict(zip(("scores", "map"), onnx_session(source).run(["scores", "map"], {"image": x})))
    raw = run(folder, model, "--nhwc", image=levels[0][None])  # the framebuffer's own bytes
    got, floats = run(folder, model, image=planar), run(folder, quantised(folder, source, "plain.nsk", "--calibrate", photos, *numbers), image=x)
    for name, y in wanted.items():
        expect(noise(y, got[name]) > noise(y, floats[name]) - 1 > 20, f"pixels: '{name}' {noise(y, got[name]):.1f} dB, with float ports {noise(y, floats[name]):.1f}")
    expect(np.array_equal(raw["scores"], got["scores"]), "bytes in the order of a framebuffer give other scores")
    np.save(folder / "levels.npy", planar)
    np.save(folder / "x.npy", x)
    for path in ("levels.npy", "x.npy"):  # as the file takes it, or as the source does
        must("check", source, model, "--input", f"image={folder / path}", "--min-db", "20", "--quiet")
    arrays = folder / "arrays"
    arrays.mkdir()
    for i, pixels in enumerate(levels):
        np.save(arrays / f"{i}.npy", ((pixels.transpose(2, 0, 1)[None] / 255 - np.reshape(MEAN, (1, 3, 1, 1))) / np.reshape(STD, (1, 3, 1, 1))).astype(F))
    same = quantised(folder, source, "same.nsk", "--calibrate", arrays, "--integer-io", "image=uint8", *numbers)
    expect(np.array_equal(run(folder, same, image=planar)["map"], got["map"]), "arrays with --mean and --std give other numbers than their images")


def check_bound(folder, source, data):
    """check --min-db: the figure is NumPy's, and the exit code follows the bound."""
    x = rng.uniform(-1, 1, (1, 3, 16, 16)).astype(F)
    wanted = dict(zip(("scores", "map"), onnx_session(source).run(["scores", "map"], {"image": x})))
    must("convert", source, "-o", folder / "fp16.nsk", "--weights", "fp16", "--no-winograd", "--quiet")
    for model in (quantised(folder, source, "bound.nsk", "--calibrate", data), folder / "fp16.nsk"):
        got = run(folder, model, image=x)
        given = ["check", source, model, "--input", f"image={folder / 'image.npy'}"]
        done = nsk(*given, "--min-db", "10", "--json", folder / "noise.json")
        expect(done.returncode == 0 and "dB of signal to noise" in done.stdout, f"{model.name}: exit {done.returncode}, {done.stdout}{done.stderr}")
        found = {o["name"]: o["db"] for o in json.loads((folder / "noise.json").read_text())["outputs"]}
        for name, y in wanted.items():
            expect(abs(found[name] - noise(y, got[name])) < 0.5, f"{model.name}: '{name}' {found[name]:.2f} dB, NumPy says {noise(y, got[name]):.2f}")
        worst = min(found, key=found.get)
        low = nsk(*given, "--min-db", found[worst] + 1)
        expect(low.returncode == 3 and f"'{worst}'" in low.stderr and "--min-db" in low.stderr, f"{model.name}: exit {low.returncode}, {low.stderr}")
        expect(nsk(*given, "--min-db", found[worst] - 1, "--quiet").stdout == "", "--quiet says something")
    done = nsk("check", source, folder / "bound.nsk")
    expect(done.returncode == 0 and "--min-db X makes it a check" in done.stdout, f"without a bound: {done.stdout}{done.stderr}")
    expect(nsk("check", source, folder / "bound.nsk", "--report", folder / "r.md").returncode == 1, "--report of what is compared in dB")


def check_variants(folder, source, data):
    """Ranges of the first variant hold for the others, with the same weights."""
    sizes = ["--variant", "small:image=1x3x16x16", "--variant", "large:image=1x3x24x40"]
    weights = [json.loads(must("inspect", quantised(folder, source, "sizes.nsk", "--calibrate", data, *options), "--json"))["weight_bytes"] for options in ([], sizes)]
    expect(weights[1] <= 1.2 * weights[0], f"variants do not share weights: {weights[1]} bytes, {weights[0]} for one")
    model = quantised(folder, source, "sizes.nsk", "--calibrate", data, *sizes, "--rename", "scores=classes", "--gpu")
    m = onnx.load(source)
    for port in (m.graph.input[0], m.graph.output[1]):
        port.type.tensor_type.shape.dim[2].dim_value, port.type.tensor_type.shape.dim[3].dim_value = 24, 40
    onnx.save(m, folder / "large.onnx")
    x = rng.uniform(-1, 1, (1, 3, 24, 40)).astype(F)
    wanted = dict(zip(("classes", "map"), onnx_session(folder / "large.onnx").run(["scores", "map"], {"image": x})))
    got = run(folder, model, "--variant", "large", image=x)
    for name, y in wanted.items():
        expect(noise(y, got[name]) > 20, f"the large variant: '{name}' {noise(y, got[name]):.1f} dB")
    must("check", source, model, "--variant", "large", "--min-db", "20", "--quiet")


def check_states(folder):
    """Samples of a model with a state are one sequence, and so is what is measured."""
    node = helper.make_node
    source = save(folder / "states.onnx", [node("Conv", ["frame", "k"], ["c"], "first", pads=[1] * 4), node("Mul", ["memory", "keep"], ["old"], "decay"),
                                           node("Add", ["c", "old"], ["sum"], "join"), node("Tanh", ["sum"], ["memory_out"], "tanh"), node("Conv", ["memory_out", "m"], ["y"], "second", pads=[1] * 4)],
                  {"frame": [1, 3, 12, 12], "memory": [1, 8, 12, 12]}, {"y": [1, 4, 12, 12], "memory_out": [1, 8, 12, 12]},
                  k=rng.standard_normal((8, 3, 3, 3)) * 0.3, m=rng.standard_normal((4, 8, 3, 3)) * 0.3, keep=0.7)
    frames, data = rng.uniform(-1, 1, (12, 1, 3, 12, 12)).astype(F), folder / "frames"
    data.mkdir()
    for i, frame in enumerate(frames[:8]):
        np.save(data / f"{i:02}.npy", frame)
    model = quantised(folder, source, "states.nsk", "--calibrate", data, "--state", "memory=memory_out")
    session, memory, wanted = onnx_session(source), np.zeros((1, 8, 12, 12), F), []
    for frame in frames:
        y, memory = session.run(["y", "memory_out"], {"frame": frame, "memory": memory})
        wanted.append(y)
    got = run(folder, model, "--steps", len(frames), frame=frames)["y"]
    db = noise(np.stack(wanted), got)
    expect(db > 20, f"a network with a state: {db:.1f} dB over {len(frames)} runs")
    done = nsk("quantize", source, "-o", folder / "no.nsk", "--target", "size", "--calibrate", data, "--state", "memory=memory_out", "--max-drop", "0.1")
    expect(done.returncode == 2 and "--no-states" in done.stderr, f"a bound over a sequence: {done.stderr}")


def check_refusals(folder, source, data):
    for code, word, options in ((1, "Did you mean 'image'?", ["--integer-io", "imag"]), (1, "NAME=int8", ["--integer-io", "image=int4"]),
                                (1, "--integer-io", ["--format", "fp16", "--integer-io", "image"]), (1, "no sample is one", ["--mean", "0.5"])):
        given = [] if "--format" in options else ["--calibrate", data]
        done = nsk("quantize", source, "-o", folder / "no.nsk", "--target", "size", *given, *options)
        expect(done.returncode == code and word in done.stderr and not (folder / "no.nsk").exists(), f"{options}: exit {done.returncode}, {done.stderr.strip()}")
    other = classifier(folder / "other.onnx")
    done = nsk("check", other, quantised(folder, source, "mine.nsk", "--calibrate", data), "--min-db", "20")
    expect(done.returncode == 3, f"another model's file passes --min-db: exit {done.returncode}")


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    source, data = classifier(folder / "net.onnx"), folder / "data"
    data.mkdir()
    for i in range(8):
        np.save(data / f"{i}.npy", rng.uniform(-1, 1, (1, 3, 16, 16)).astype(F))
    check_scales(folder, source, data)
    check_pixels(folder, source)
    check_bound(folder, source, data)
    check_variants(folder, source, data)
    check_states(folder)
    check_refusals(folder, source, data)
sys.exit(told(failures))
