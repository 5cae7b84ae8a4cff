#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsk quantize with samples and networks that are damaged or odd: one message that names what is wrong and where, the right exit code and no file, or
a file that the evaluator confirms; and stored sources whose scales and zero points are wrong, which nsk convert refuses or computes as ONNX Runtime."""
import os
import pathlib
import struct
import sys
import tempfile
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import must, nsk, onnx_session, told  # noqa: E402

F = np.float32
LIMIT_S = 60
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)


def model(path, nodes, constants, inputs, outputs, kind=TensorProto.FLOAT, out_kind=TensorProto.FLOAT):
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info(n, kind, s) for n, s in inputs.items()],
                              [helper.make_tensor_value_info(n, out_kind, s) for n, s in outputs.items()],
                              [numpy_helper.from_array(np.asarray(v), n) for n, v in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))
    return path


def network(path, change=None, names=("first", "second")):
    """Two convolutions with a normalization between them, for images of 3 x 8 x 8."""
    random = np.random.default_rng(1)
    c = {"a": random.standard_normal((8, 3, 3, 3)).astype(F) / 5, "ab": random.standard_normal(8).astype(F), "b": random.standard_normal((4, 8, 1, 1)).astype(F) / 3,
         "scale": np.ones(8, F), "offset": np.zeros(8, F), "mean": np.zeros(8, F), "variance": np.ones(8, F)}
    if change:
        change(c)
    nodes = [helper.make_node("Conv", ["x", "a", "ab"], ["p"], names[0], pads=[1] * 4),
             helper.make_node("BatchNormalization", ["p", "scale", "offset", "mean", "variance"], ["q"], "norm", epsilon=0.0),
             helper.make_node("Relu", ["q"], ["r"]), helper.make_node("Conv", ["r", "b"], ["y"], names[1])]
    return model(path, nodes, c, {"x": [1, 3, 8, 8]}, {"y": [1, 4, 8, 8]})


def sample(seed):
    return np.random.default_rng(seed).standard_normal((1, 3, 8, 8)).astype(F)


def good_folder(folder, count=4):
    folder.mkdir()
    for i in range(count):
        np.save(folder / f"{i}.npy", sample(i))
    return folder


class Quantiser:
    def __init__(self, folder):
        self.folder, self.output, self.page = folder, folder / "out.nsk", folder / "out.md"

    def run(self, source, *arguments):
        for file in self.folder.glob("out.*"):
            file.unlink()
        return nsk("quantize", "--target", "size", source, "-o", self.output, "--report", self.page, *arguments, timeout=LIMIT_S)

    def refused(self, what, code, texts, source, *arguments):
        done = self.run(source, *arguments)
        lines = done.stderr.strip().splitlines()
        expect(done.returncode == code and len(lines) == 1 and all(t in done.stderr for t in texts), f"{what}: exit {done.returncode}, {done.stderr.strip()} {done.stdout.strip()}")
        expect(not list(self.folder.glob("out.*")), f"{what}: a file was written")

    def stored(self, what, source, *arguments):
        """The file is written, and each integer is the evaluator's."""
        done = self.run(source, "--check", *arguments)
        expect(done.returncode == 0 and "check passed" in done.stdout, f"{what}: exit {done.returncode}, {done.stderr.strip()} {done.stdout.strip()}")
        return done.stdout


def check_arrays(folder, q, source):
    """Files that are no sample, alone and as one of a folder."""
    whole = good_folder(folder / "whole")
    text = (whole / "0.npy").read_bytes()
    header = text[:text.index(b"\n") + 1]
    bad = {"empty.npy": (b"", "empty.npy"), "text.npy": (b"no array", "text.npy"), "cut.npy": (text[:-40], "cut.npy"), "head.npy": (text[:30], "head.npy"),
           "long.npy": (text + b"1234", "long.npy"), "huge.npy": (header.replace(b"(1, 3, 8, 8)", b"(1, 3, 1<<9)"[:12]) + text[len(header):], "huge.npy"),
           "many.npy": (header.replace(b"(1, 3, 8, 8)", b"(9999999999)") + text[len(header):], "many.npy")}
    for name, (content, said) in bad.items():
        (folder / name).write_bytes(content)
        q.refused(name, 2, [said], source, "--calibrate", folder / name)
    arrays = {"object": np.array([None] * 192).reshape(1, 3, 8, 8), "complex": sample(0).astype(np.complex64), "words": np.full((1, 3, 8, 8), "word"), "wrong_rank": sample(0)[0, 0],
              "no_elements": np.zeros((0, 3, 8, 8), F), "two": np.concatenate([sample(0), sample(1)]), "last": sample(0).transpose(0, 2, 3, 1), "number": F(3)}
    for name, a in arrays.items():
        np.save(folder / f"{name}.npy", a, allow_pickle=True)
        q.refused(name, 2, [f"{name}.npy"], source, "--calibrate", folder / f"{name}.npy")
    for name, number in {"nan": np.nan, "inf": np.inf, "minus_inf": -np.inf}.items():
        a = sample(0)
        a[0, 1, 2, 3] = number
        np.save(folder / f"{name}.npy", a)
        q.refused(name, 2, [f"{name}.npy", "is not finite", "element 83"], source, "--calibrate", folder / f"{name}.npy")
    np.save(folder / "beyond.npy", sample(0).astype(np.float64) * 1e300)
    q.refused("float64 beyond float32", 2, ["beyond.npy", "not finite"], source, "--calibrate", folder / "beyond.npy")
    one_bad = good_folder(folder / "one_bad", 8)
    (one_bad / "5.npy").write_bytes(text[:-1])
    q.refused("one bad file", 2, [str(one_bad / "5.npy")], source, "--calibrate", one_bad)
    for kind, a in {"float64": sample(1).astype(np.float64), "float16": sample(1).astype(np.float16), "big endian": sample(1).astype(">f4"), "int8": (sample(1) * 9).astype(np.int8),
                    "columns first": np.asfortranarray(sample(1))}.items():
        np.save(folder / "kind.npy", a)
        done = q.run(source, "--calibrate", folder / "kind.npy", "--check")
        wanted = folder / "same.npy"
        np.save(wanted, np.ascontiguousarray(a).astype(F))
        if done.returncode == 0:
            first = q.output.read_bytes()
            must("quantize", "--target", "size", source, "-o", folder / "same.nsk", "--calibrate", wanted)
            expect(first == (folder / "same.nsk").read_bytes(), f"{kind}: another file than by float32")
        else:
            expect(done.returncode == 2 and "kind.npy" in done.stderr, f"{kind}: exit {done.returncode}, {done.stderr.strip()}")
    return whole


def check_places(folder, q, source, whole):
    """What is no folder of samples: nothing there, links that lead nowhere, folders named like files, pipes, which would wait for ever."""
    for name, make in {"dangling": lambda p: p.symlink_to(folder / "nowhere"), "pipe": os.mkfifo, "inner": lambda p: p.mkdir(), "round": lambda p: p.symlink_to(p)}.items():
        place = folder / f"with_{name}"
        good_folder(place)
        make(place / "2a.npy")
        q.refused(name, 2, [f"{place / '2a.npy'}"], source, "--calibrate", place)
        if name != "inner":
            q.refused(f"{name} alone", 2, ["2a.npy"], source, "--calibrate", place / "2a.npy")
    q.refused("null device", 2, ["/dev/null"], source, "--calibrate", "/dev/null")
    only_folders = folder / "only_folders"
    (only_folders / "a").mkdir(parents=True)
    (only_folders / "notes.txt").write_text("none")
    q.refused("no samples", 2, ["there is no .npy file in", str(only_folders)], source, "--calibrate", only_folders)
    q.refused("file behind a file", 2, ["there is no"], source, "--calibrate", whole / "0.npy" / "more")
    q.refused("nothing", 1, ["--calibrate: the name of the file is empty"], source, "--calibrate", "x=")
    q.refused("another input", 2, ["there is no 'z="], source, "--calibrate", f"z={whole}")


def png(path, width, height, depth=8, colour=2, cut=0):
    channels, claimed = {0: 1, 2: 3, 4: 2, 6: 4}[colour], (width, height)
    if width * height > 1 << 20:
        width = height = 1
    row = b"\0" + bytes(np.random.default_rng(width).integers(0, 256, width * channels * depth // 8).astype(np.uint8))

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    content = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", *claimed, depth, colour, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(row * height)) + chunk(b"IEND", b"")
    path.write_bytes(content[:len(content) - cut])
    return path


def check_indices(folder, q):
    """Indices beyond their axis, which the engine would take for the nearest ones: given by a sample, or computed from it."""
    w = np.random.default_rng(2).standard_normal((8, 8)).astype(F)
    make = helper.make_node
    rows = [make("Gather", ["w", "x"], ["a"], "look_up"), make("MatMul", ["a", "w"], ["y"], "product")]
    cast = [make("Cast", ["x"], ["k"], to=TensorProto.INT64), make("Gather", ["w", "k"], ["a"], "look_up"), make("MatMul", ["a", "w"], ["y"], "product")]
    columns = [make("GatherElements", ["w", "x"], ["a"], "look_up", axis=1), make("MatMul", ["a", "v"], ["y"], "product")]
    pairs = [make("GatherND", ["w", "x"], ["a"], "look_up"), make("MatMul", ["a", "v"], ["y"], "product")]
    for what, nodes, shape, kind, good, bad in (("rows", rows, [4], np.int64, [-8, 0, 1, 7], [-9, 0, 1, 7]), ("rows above", rows, [4], np.int64, [0, 0, 0, 0], [0, 8, 1, 7]),
                                                ("cast", cast, [4], F, [0.0, 7.9, 1, 2], [0.0, 8.5, 1, 2]), ("columns", columns, [8, 2], np.int64, [[3, -8]] * 8, [[3, 9]] * 8),
                                                ("pairs", pairs, [1, 2, 2], np.int64, [[[1, 2], [7, -8]]], [[[1, 2], [7, 8]]])):
        constants = {"w": w, "v": w[:2] if what == "columns" else w[:2, :2]}
        used = {name for node in nodes for name in node.input}
        out = [1, 2] if what == "pairs" else [8, 8] if what == "columns" else [4, 8]
        source = model(folder / "indices.onnx", nodes, {k: v for k, v in constants.items() if k in used}, {"x": shape}, {"y": out}, TensorProto.FLOAT if kind is F else TensorProto.INT64)
        place = folder / f"indices_{what.replace(' ', '_')}"
        place.mkdir()
        for i, numbers in enumerate((good, good, bad)):
            np.save(place / f"{i}.npy", np.array(numbers, kind))
        q.refused(f"index: {what}", 2, [f"{place / '2.npy'}", "'look_up'", "of an axis of 8"], source, "--calibrate", place)
        q.stored(f"index: {what}", source, "--calibrate", place / "1.npy")
    products = [make("MatMul", ["x", "w"], ["p"], "first"), make("ArgMax", ["p"], ["k"], axis=1, keepdims=0), make("Gather", ["w", "k"], ["a"]), make("MatMul", ["a", "w"], ["y"], "product")]
    source = model(folder / "indices.onnx", products, {"w": w}, {"x": [4, 8]}, {"y": [4, 8]})
    np.save(folder / "products.npy", w[:4])
    q.stored("index: behind a product", source, "--calibrate", folder / "products.npy")


def check_twins(folder, q, whole):
    """Layers of one name: --keep keeps all of them, and says so; where none is left, that is what the message says."""
    path = network(folder / "twins.onnx", names=("twin", "twin"))
    source = onnx.load(str(path))
    source.graph.node[-1].output[0] = "s"
    source.graph.node.append(helper.make_node("Conv", ["s", "c"], ["y"], "third"))
    source.graph.initializer.append(numpy_helper.from_array(np.random.default_rng(3).standard_normal((4, 4, 1, 1)).astype(F), "c"))
    onnx.save(source, str(path))
    text = q.stored("twins", path, "--calibrate", whole, "--keep", "twin")
    expect("--keep twin keeps 2 layers, which have this name in the source: 'twin', 'twin_3'" in text and "int8 in 1 of 3 layers" in text, f"twins: {text}")
    text = q.stored("one of the twins", path, "--calibrate", whole, "--keep", "twin_3")
    expect("int8 in 2 of 3 layers" in text, f"one of the twins: {text}")
    q.refused("all layers kept", 2, ["no layer is left that could be int8", "--keep"], path, "--calibrate", whole, "--keep", "twin", "--keep", "third")


def check_one_value(folder, q, source):
    """Tensors that hold one number, or one beside zeros: every way to choose a range stores it; so do channels that do not change."""
    def spike(x):
        x.fill(0)
        x[0, 0, 0, 0] = 7

    for what, change in {"one number": lambda x: x.fill(-0.25), "one positive number": lambda x: x.fill(0.25), "zeros": lambda x: x.fill(0), "tiny": lambda x: x.fill(1e-38),
                         "denormal": lambda x: x.fill(1e-42), "one channel": lambda x: x[0, 1].fill(0.5), "spike": spike}.items():
        x = sample(4)
        change(x)
        place = folder / "value.npy"
        np.save(place, x)
        for ranges in ("mse", "minmax", "percentile", "kl"):
            text = q.stored(f"{what}, {ranges}", source, "--calibrate", place, "--ranges", ranges)
            db = float(text.split("output 'y': ")[1].split(" dB")[0])
            expect(db > 30, f"{what}, {ranges}: {db} dB")


def check_missing(folder, q, whole):
    """Samples of one input that another one lacks."""
    w = np.random.default_rng(2).standard_normal((8, 8)).astype(F)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"], "left"), helper.make_node("MatMul", ["z", "w"], ["b"], "right"), helper.make_node("Add", ["a", "b"], ["y"])]
    source = model(folder / "two.onnx", nodes, {"w": w}, {"x": [1, 8], "z": [1, 8]}, {"y": [1, 8]})
    for name, count in (("left", 3), ("right", 2)):
        (folder / name).mkdir()
        for i in range(count):
            np.save(folder / name / f"{i}.npy", w[i])
    left, right = folder / "left", folder / "right"
    q.refused("fewer samples of one input", 2, ["'z' has 2 samples, 'x' 3"], source, "--calibrate", f"x={left}", "--calibrate", f"z={right}")
    q.refused("no samples of one input", 1, ["there are no samples of input 'z'"], source, "--calibrate", f"x={left}")
    q.refused("no name of an input", 1, ["the model has the inputs 'x', 'z'"], source, "--calibrate", left)


def check_images(folder, q, source):
    for width, height, depth, colour in ((1, 1, 8, 2), (1, 97, 8, 2), (640, 3, 8, 2), (7, 9, 16, 2), (7, 9, 8, 0), (7, 9, 8, 4), (7, 9, 8, 6), (7, 9, 16, 6)):
        place = png(folder / f"odd{width}x{height}_{depth}_{colour}.png", width, height, depth, colour)
        for fit in ("stretch", "crop", "letterbox"):
            q.stored(f"{place.name} {fit}", source, "--calibrate", place, "--fit", fit)
    photos = folder / "one_bad_image"
    photos.mkdir()
    for i in range(3):
        png(photos / f"{i}.png", 9, 9)
    png(photos / "1b.png", 9, 9, cut=40)
    q.refused("one bad image", 2, ["1b.png"], source, "--calibrate", photos)
    q.refused("an image that claims to be huge", 2, ["huge.png"], source, "--calibrate", png(folder / "huge.png", 1 << 20, 1 << 20))
    q.refused("no width", 2, ["zero.png"], source, "--calibrate", png(folder / "zero.png", 0, 5))


def check_networks(folder, q, whole):
    """Weights that no scale stores, and ones that any does."""
    def put(name, number, place=0):
        return lambda c: c[name].reshape(-1).__setitem__(place, number)

    def fill(name, number):
        return lambda c: c[name].fill(number)

    for what, change, said in (("weight NaN", put("a", np.nan), "first"), ("weight infinite", put("b", np.inf), "second"), ("bias NaN", put("ab", np.nan), "first"),
                               ("bias infinite", put("ab", -np.inf), "first"), ("variance negative", put("variance", -1), ""), ("variance 0", put("variance", 0), ""),
                               ("scale NaN", put("scale", np.nan), "")):
        q.refused(what, 2, [said], network(folder / "bad.onnx", change), "--calibrate", whole)
    for what, change in (("weights 0", fill("a", 0)), ("all weights 0", lambda c: [c[n].fill(0) for n in ("a", "b", "ab")]), ("one weight", lambda c: [c["b"].fill(0), put("b", 3)(c)]),
                         ("equal weights", fill("b", 0.25)), ("tiny weights", fill("a", 1e-30)), ("denormal weights", fill("b", 1e-42)), ("one huge weight", put("a", 1e6)),
                         ("huge weights", lambda c: c.update(a=c["a"] * F(1e15), ab=c["ab"] * F(1e15))), ("huge bias", put("ab", 1e20)), ("scale 0", fill("scale", 0)),
                         ("tiny variance", fill("variance", 1e-38))):
        q.stored(what, network(folder / "hard.onnx", change), "--calibrate", whole)
    q.refused("overflow", 2, ["is not finite on the sample", f"{whole / '0.npy'}"], network(folder / "bad.onnx", fill("a", 3e38)), "--calibrate", whole)
    for names in (("", ""), ("twin", "twin"), ("a" * 500, "b|`* ü")):
        text = q.stored(f"names {names}", network(folder / "names.onnx", names=names), "--calibrate", whole)
        expect("int8 in 2 of 2" in text, f"names {names}: {text}")
    q.stored("one sample for all", network(folder / "net.onnx"), "--calibrate", whole / "0.npy")
    for what, numbers, code in (("a half", [1, 2, 3.5, 4], 2), ("beyond int64", [1, 2, 1e30, 3], 2), ("whole numbers", [1, 2, 3, 4], 0)):
        w = np.random.default_rng(2).standard_normal((8, 8)).astype(F)
        rows = model(folder / "rows.onnx", [helper.make_node("Gather", ["w", "x"], ["a"]), helper.make_node("MatMul", ["a", "w"], ["y"], "product")], {"w": w}, {"x": [4]}, {"y": [4, 8]},
                     TensorProto.INT64)
        np.save(folder / "rows.npy", np.array(numbers))
        if code:
            q.refused(f"{what} as an integer", code, ["element 2 of", "rows.npy", "int64"], rows, "--calibrate", folder / "rows.npy")
        else:
            q.stored(f"{what} as integers", rows, "--calibrate", folder / "rows.npy")
    qdq = stored_source(folder / "qdq.onnx", {})
    q.refused("a source of integers", 2, ["no convolution or matrix product"], qdq, "--calibrate", whole)


def stored_source(path, changes, w=None):
    """QuantizeLinear, a convolution on bytes, an addition and DequantizeLinear."""
    c = {"xs": F(0.05), "xz": np.uint8(120), "ws": np.full(4, 0.02, F), "wz": np.zeros(4, np.int8), "ys": F(0.1), "yz": np.uint8(128),
         "w": np.random.default_rng(3).integers(-127, 128, (4, 3, 1, 1)).astype(np.int8), "bias": np.arange(4, dtype=np.int32) * 100, "bs": np.full(4, F(0.05) * F(0.02), F),
         "bz": np.zeros(4, np.int32)}
    c.update(changes)
    nodes = [helper.make_node("QuantizeLinear", ["x", "xs", "xz"], ["q"]), helper.make_node("DequantizeLinear", ["q", "xs", "xz"], ["d"]),
             helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["k"], axis=0), helper.make_node("DequantizeLinear", ["bias", "bs", "bz"], ["b"], axis=0),
             helper.make_node("Conv", ["d", "k", "b"], ["c"], "conv"), helper.make_node("QuantizeLinear", ["c", "ys", "yz"], ["r"]),
             helper.make_node("DequantizeLinear", ["r", "ys", "yz"], ["y"])]
    return model(path, nodes, c, {"x": [1, 3, 8, 8]}, {"y": [1, 4, 8, 8]})


def check_stored_sources(folder, whole):
    """Scales that are none are refused; those that disagree, such as a bias by another scale than x by w, mean what ONNX Runtime says."""
    output = folder / "stored.nsk"
    tiny = F(1e-40)
    for what, changes in {"scale 0": {"xs": F(0)}, "scale denormal": {"ys": tiny}, "scale negative": {"ys": F(-0.1)}, "scale NaN": {"xs": F(np.nan)}, "scale infinite": {"ys": F(np.inf)},
                          "a weight's scale 0": {"ws": np.array([0.02, 0, 0.02, 0.02], F)}, "a weight's scale NaN": {"ws": np.array([0.02, np.nan, 0.02, 0.02], F)},
                          "a bias's scale infinite": {"bs": np.array([0.001, np.inf, 0.001, 0.001], F)},
                          "zero point of another type": {"yz": np.int8(3)}, "zero point float": {"yz": F(3)}, "scales of other channels": {"ws": np.full(3, 0.02, F)},
                          "zero points of other channels": {"wz": np.zeros(3, np.int8)}, "zero point of two": {"xz": np.array([1, 2], np.uint8)},
                          "sums beyond int32": {"bias": np.array([2**31 - 1, -2**31, 0, 5], np.int32)}}.items():
        output.unlink(missing_ok=True)
        source = stored_source(folder / "stored.onnx", changes)
        done = nsk("convert", source, "-o", output, "--check", timeout=LIMIT_S)
        lines = done.stderr.strip().splitlines()
        if done.returncode == 0:
            compare(f"{what} (accepted)", source, output, whole, folder)
        else:
            expect(done.returncode == 2 and len(lines) == 1 and not output.exists(), f"{what}: exit {done.returncode}, {done.stderr.strip()}")
    for what, changes in {"a bias by another scale": {"bs": np.full(4, 0.0031, F)}, "a bias with a zero point": {"bz": np.full(4, 7, np.int32)}, "bias scales per tensor": {"bs": F(0.001), "bz": np.int32(0)},
                          "weights with zero points": {"wz": np.array([3, 0, -128, 127], np.int8)}, "zero points at the ends": {"xz": np.uint8(255), "yz": np.uint8(0)},
                          "all weights 0": {"w": np.zeros((4, 3, 1, 1), np.int8)}, "a scale a billion times another": {"ws": np.array([0.02, 2e7, 2e-11, 0.02], F)}}.items():
        source = stored_source(folder / "stored.onnx", changes)
        done = nsk("convert", source, "-o", output, "--check", timeout=LIMIT_S)
        if done.returncode != 0:
            failures.append(f"{what}: exit {done.returncode}, {done.stderr.strip()}")
            continue
        compare(what, source, output, whole, folder)


def compare(what, source, output, whole, folder):
    """Within one step of ONNX Runtime, which computes such networks by other orders of rounding."""
    session = onnx_session(source)
    wrong = 0
    for file in sorted(whole.glob("*.npy")):
        must("run", output, "--input", f"x={file}", "--output-dir", folder, "--quiet")
        found, wanted = np.load(folder / "y.npy"), session.run(None, {"x": np.load(file)})[0]
        wrong += int((np.abs(found - wanted) > 0.1001).sum() + (found != wanted).sum() // 50)
    expect(wrong == 0, f"{what}: {wrong} elements differ from ONNX Runtime")


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_refusals_") as name:
        folder = pathlib.Path(name)
        q, source = Quantiser(folder), network(folder / "net.onnx")
        whole = check_arrays(folder, q, source)
        check_places(folder, q, source, whole)
        check_images(folder, q, source)
        check_networks(folder, q, whole)
        check_indices(folder, q)
        check_twins(folder, q, whole)
        check_one_value(folder, q, source)
        check_missing(folder, q, whole)
        check_stored_sources(folder, whole)
    return told(failures)


if __name__ == "__main__":
    sys.exit(main())
