#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsk quantize --max-drop by error, signal to noise, classes and a program of the user: each bound holds on samples that the command never saw, against
ONNX Runtime; layers that return are float32 or fp16, and so are those that no longer pay beside them; a file that is not estimated faster is refused; programs that fail, hang or print no number are refused by name, and leave nothing behind."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from PIL import Image, ImageDraw, ImageFont

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import TOOL, file_name, isas, must, nsk, onnx_session, path_of, told  # noqa: E402

F = np.float32
CHANNELS = 12  # too few for Winograd's algorithms, whose weights are no halves
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)


def digit(generator):
    """White on black, as MNIST has them."""
    image = Image.new("L", (28, 28))
    place = (14 + generator.uniform(-2, 2), 14 + generator.uniform(-2, 2))
    ImageDraw.Draw(image).text(place, str(generator.integers(10)), 255, font=ImageFont.load_default(int(generator.integers(18, 25))), anchor="mm")
    return np.asarray(image.rotate(generator.uniform(-12, 12), Image.Resampling.BILINEAR), F)[None, None]


def noise(generator):
    return generator.standard_normal((1, CHANNELS, 10, 10)).astype(F)


def classifier(path, channels=CHANNELS):
    """A class for each channel; one scale for all weights does not store those of the middle layer, and loses the classes."""
    random = np.random.default_rng(4)
    weights = {name: random.standard_normal((channels, channels, 3, 3)).astype(F) / 12 for name in ("a", "b", "c")}
    weights["b"][:, 3, 1, 1] *= 200
    nodes = [helper.make_node("Conv", ["x", "a"], ["p"], "first", pads=[1] * 4), helper.make_node("Relu", ["p"], ["q"]),
             helper.make_node("Conv", ["q", "b"], ["r"], "middle", pads=[1] * 4), helper.make_node("Tanh", ["r"], ["s"]),
             helper.make_node("Conv", ["s", "c"], ["t"], "last", pads=[1] * 4), helper.make_node("GlobalMaxPool", ["t"], ["u"]), helper.make_node("Flatten", ["u"], ["y"])]
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, channels, 10, 10])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, channels])], [numpy_helper.from_array(w, n) for n, w in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))
    return path


def chain(path, goes_on):
    """Layers of 24 channels, which pay as integers one behind the other and not alone; the middle one is lost with one scale for all weights. Where the
    network goes on, layers follow that pay in any case."""
    random = np.random.default_rng(5)
    shapes = {"first": (24, 24), "middle": (24, 24), "last": (24, 24), **({"wide": (96, 24), "deep": (96, 96)} if goes_on else {})}
    weights = {name: (random.standard_normal((*shape, 1, 1)) / np.sqrt(shape[1])).astype(F) for name, shape in shapes.items()}
    weights["middle"][:, 3] *= 200
    nodes, at = [], "x"
    for name in shapes:
        nodes += [helper.make_node("Conv", [at, f"{name}_w"], [f"{name}_y"], name),
                  helper.make_node("Clip", [f"{name}_y", "low", "high"], [name]) if name == "middle" else helper.make_node("Relu", [f"{name}_y"], [name])]
        at = name
    constants = [numpy_helper.from_array(w, f"{n}_w") for n, w in weights.items()] + [numpy_helper.from_array(np.array(v, F), n) for n, v in (("low", -1), ("high", 1))]
    graph = helper.make_graph(nodes, "chain", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 24, 32, 32])],
                              [helper.make_tensor_value_info(at, TensorProto.FLOAT, [1, shapes[at][0], 32, 32])], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))
    return path


class Network:
    """A source, its samples, and inputs that the command never sees."""

    def __init__(self, folder, source, make, options, count=48, target="size"):
        self.target = target
        self.folder, self.source, self.model, self.options = folder, source, folder / f"{source.stem}.nsk", options
        self.data = folder / f"{source.stem}_data"
        self.data.mkdir()
        generator = np.random.default_rng(1)
        for i in range(count):
            np.save(self.data / f"{i:03}.npy", make(generator))
        session, generator = onnx_session(source), np.random.default_rng(2)
        self.port, self.output = session.get_inputs()[0].name, session.get_outputs()[0].name
        self.unseen = [make(generator) for _ in range(200)]
        self.wanted = np.stack([session.run([self.output], {self.port: x})[0] for x in self.unseen]).astype(float)

    def arguments(self, *more):
        return ["quantize", "--target", self.target, self.source, "-o", self.model, "--calibrate", self.data, *self.options, *more]

    def made(self, *more):
        return must(*self.arguments(*more))

    def found(self, isa="avx2"):
        np.save(self.folder / "in.npy", np.stack(self.unseen))
        must("run", self.model, "--steps", len(self.unseen), "--input", f"{self.port}={self.folder / 'in.npy'}", "--output-dir", self.folder / "out", "--quiet", "--isa", isa)
        return np.load(self.folder / "out" / file_name(self.output)).reshape(self.wanted.shape)

    def measured(self):
        """Error, dB and the share of other classes on what was never seen."""
        found = self.found().astype(float)
        error = np.sqrt(((found - self.wanted) ** 2).sum() / (self.wanted ** 2).sum())
        flat = [a.reshape(len(a), -1).argmax(1) for a in (found, self.wanted)]
        return {"error": error, "sqnr": -20 * np.log10(error), "top1": (flat[0] != flat[1]).mean()}


METRIC = '''import pathlib, sys
import numpy as np
judged = pathlib.Path(sys.argv[1])
floats, names = judged.parent / "float32", [line.split(" ", 1) for line in (judged.parent / "samples.txt").read_text().splitlines()]
assert judged.name in ("float32", "quantised") and {p.name for p in judged.iterdir()} == {f"{n}.y.npy" for n, _ in names}, list(judged.iterdir())
assert all(int(n) % 4 == 3 and file.endswith(f"{int(n):03}.npy") for n, file in names), names
print(np.mean([np.load(judged / f"{n}.y.npy").argmax() == np.load(floats / f"{n}.y.npy").argmax() for n, _ in names]))
'''


def check_bounds(network):
    """Without a bound the network is beyond it, with one it is not, on samples that it has not seen."""
    network.made()
    loose = network.measured()
    script = network.folder / "metric.py"
    script.write_text(METRIC)
    command = f"'{sys.executable}' '{script}'"
    for by, bound, options in (("error", 0.1, []), ("error", 0.1, ["--drop-by", "error"]), ("sqnr", 20, ["--drop-by", "sqnr"]), ("top1", 0.1, ["--drop-by", "top1"]), ("top1", 0.1, ["--metric", command])):
        text = network.made("--max-drop", bound, *options)
        tight = network.measured()
        print(f"{network.source.stem} {by} {bound} {options[:1]}: {loose[by]:.4g} without a bound, {tight[by]:.4g} with it")
        within = lambda m: m[by] >= bound if by == "sqnr" else m[by] <= bound
        expect(within(tight) and not within(loose), f"{options} {bound}: {loose[by]} without, {tight[by]} with the bound")
        expect("int8 in 2 of 3 layers, by 48 samples" in text and "1 layers stay float32 for --max-drop" in text, f"{options}: {text}")
    return command


def check_mnist(folder):
    """A real network is within its bounds, and fp16 saves bytes where layers return to float."""
    source = path_of("mnist")
    if source is None:
        return
    network = Network(folder, source, digit, [])
    network.made()
    loose, sizes = network.measured(), {}
    for options in (["--max-drop", 0.009], ["--max-drop", 41, "--drop-by", "sqnr"], ["--max-drop", 0.009, "--float-layers", "fp16"]):
        text = network.made(*options, "--check", "--save-overrides", folder / "chosen.json")
        tight = network.measured()
        print(f"mnist {options}: error {loose['error']:.4f} without a bound, {tight['error']:.4f} with it, {network.model.stat().st_size} bytes")
        expect(loose["error"] > 0.009 >= tight["error"], f"mnist {options}: {loose}, {tight}")
        expect("check passed" in text, text)
        sizes[options[-1]] = network.model.stat().st_size
    expect(sizes["fp16"] < sizes["sqnr"], f"fp16 saves nothing: {sizes}")
    formats = json.loads((folder / "chosen.json").read_text())["layers"]
    expect(sorted(formats.values()) == ["fp16", "int8", "int8"], f"formats: {formats}")
    expect("weights are float16 in 1 of 1 layers" in text, text)
    first = network.found()
    expect(all(first.tobytes() == network.found(isa).tobytes() for isa in isas()), "instruction sets differ")
    bytes_of_first = network.model.read_bytes()
    must("quantize", "--target", "size", source, "-o", folder / "again.nsk", "--calibrate", network.data, "--override", folder / "chosen.json")
    expect((folder / "again.nsk").stat().st_size == len(bytes_of_first), "a saved choice with fp16 gives another file")


def check_speed(folder):
    """What --max-drop leaves as integers has to pay on the target, or becomes floats too, or is refused."""
    values = lambda generator: generator.standard_normal((1, 24, 32, 32)).astype(F)
    short = Network(folder, chain(folder / "short.onnx", False), values, ["--per-tensor"], 16, "pc")
    expect("int8 in 3 of 3 layers" in short.made(), "the chain does not pay without a bound")
    short.model.unlink()
    done = nsk(*short.arguments("--max-drop", "0.1"))
    expect(done.returncode == 2 and all(w in done.stderr for w in ("--max-drop returns 1 layers", "1.000 times as fast", "on pc", "--format fp16")) and not short.model.exists(),
           f"a file that is no faster: exit {done.returncode}, {done.stderr.strip()}")
    text = must("quantize", "--target", "size", short.source, "-o", short.model, "--calibrate", short.data, "--per-tensor", "--max-drop", "0.1")
    expect("int8 in 2 of 3 layers" in text and "on pc (AVX2 without VNNI): 0." in text and "it may be slower" in text, f"--target size does not say that the file is slow:\n{text}")
    long = Network(folder, chain(folder / "long.onnx", True), values, ["--per-tensor"], 16, "pc")
    page = folder / "long.md"
    text = long.made("--max-drop", "0.1", "--report", page)
    layers = {l["name"]: l for l in json.loads((folder / "long.json").read_text())["layers"]}
    formats = [layers[name]["format"] for name in ("first", "middle", "last", "wide", "deep")]
    expect(formats[:2] == ["float32"] * 2 and formats[3:] == ["int8"] * 2, f"what pays and what does not: {formats}")
    expect("returned by --max-drop" in layers["middle"]["reason"] and "conversions around it" in layers["first"]["reason"], f"reasons: {layers}")
    expect("1 layers stay float32 for --max-drop" in text and "layers stay float32, which is estimated faster there" in text, text)
    measured = long.measured()["error"]
    expect(measured <= 0.1, f"the bound does not hold beside layers that do not pay: {measured}")


def check_halves(network):
    """fp16 by options and by choices: of all that is not int8, of one layer, of none."""
    page = network.folder / "halves.md"
    text = network.made("--keep", "first", "--keep", "last", "--float-layers", "fp16", "--report", page)
    layers = {l["name"]: l for l in json.loads((network.folder / "halves.json").read_text())["layers"]}
    expect(layers["first"]["format"] == "fp16" and layers["first"]["bytes"] * 2 == layers["first"]["float_bytes"], f"--float-layers fp16: {layers['first']} {text}")
    expect("| fp16: kept by --keep |" in page.read_text(), "the page does not say fp16")
    all_halves = network.model.stat().st_size
    choice = network.folder / "choice.json"
    wide = classifier(network.folder / "wide.onnx", 32)
    data = network.folder / "wide_data"
    data.mkdir()
    np.save(data / "0.npy", np.random.default_rng(3).standard_normal((1, 32, 10, 10)).astype(F))
    choice.write_text('{"layers": {"first": "fp16"}}')
    text = must("quantize", "--target", "size", wide, "-o", network.model, "--calibrate", data, "--override", choice)
    expect("weights are float16 in 1 of 1 layers" in text, f"a layer of Winograd's that is fp16:\n{text}")
    choice.write_text('{"layers": {"first": "fp16", "last": "float32"}}')
    network.made("--override", choice, "--report", page)
    formats = {l["name"]: l["format"] for l in json.loads((network.folder / "halves.json").read_text())["layers"]}
    expect(formats == {"first": "fp16", "middle": "int8", "last": "float32"}, f"--override: {formats}")
    expect(network.model.stat().st_size > all_halves, "a float32 layer is no larger")


def check_refusals(network, command):
    """Programs that are no metric, and options that mean nothing."""
    bound = ["--max-drop", "0.1"]
    for code, what, options in ((2, ["'exit 7;'", "exit code 7"], [*bound, "--metric", "exit 7;"]), (2, ["no_such_program", "exit code 127"], [*bound, "--metric", "no_such_program"]),
                                (2, ["'echo hello #'", "print one finite number", "'hello?'"], [*bound, "--metric", "echo hello #"]), (2, ["print one finite number"], [*bound, "--metric", "echo 1 2 #"]),
                                (2, ["print one finite number"], [*bound, "--metric", "true"]), (2, ["print one finite number"], [*bound, "--metric", "echo nan #"]),
                                (2, ["ended by signal 9"], [*bound, "--metric", "kill -9 $$;"]), (2, ["not ended after 1 seconds"], [*bound, "--metric", "sleep 30;", "--metric-seconds", "1"]),
                                (2, ["not ended after 1 seconds"], [*bound, "--metric", "exec >&-; sleep 30;", "--metric-seconds", "1"]),
                                (2, ["no layer can be int8", "metric is lower by"], ["--max-drop", "0", "--metric", 'case "$1" in *float32) echo 5;; *) echo 4;; esac; :']),
                                (2, ["no layer can be int8", "dB"], ["--max-drop", "150", "--drop-by", "sqnr"]),
                                (1, ["--drop-by and --metric"], ["--metric", command]), (1, ["--drop-by and --metric"], ["--drop-by", "top1"]),
                                (1, ["leave one of them out"], [*bound, "--drop-by", "top1", "--metric", command]), (1, ["from 0 to 1"], ["--max-drop", "2", "--drop-by", "top1"]),
                                (1, ["dB from 0"], ["--max-drop", "0", "--drop-by", "sqnr"]), (1, ["at least 0"], ["--max-drop", "-1", "--metric", command]),
                                (1, ["at least 0"], ["--max-drop", "inf", "--metric", command]), (1, ["--metric-seconds"], [*bound, "--metric", command, "--metric-seconds", "0"]),
                                (1, ["--drop-by"], [*bound, "--drop-by", "luck"]), (1, ["--float-layers"], ["--float-layers", "int4"])):
        network.model.unlink(missing_ok=True)
        done = nsk(*network.arguments(*options), timeout=20, env={**os.environ, "TMPDIR": str(network.folder / "scratch")})
        expect(done.returncode == code and all(w in done.stderr for w in what), f"{options}: exit {done.returncode}, {done.stderr.strip()}")
        expect(not network.model.exists() and not list((network.folder / "scratch").iterdir()), f"{options}: something is left")
    running = subprocess.Popen([TOOL, *map(str, network.arguments(*bound, "--metric", "sleep 30;"))], env={**os.environ, "TMPDIR": str(network.folder / "scratch")}, stderr=subprocess.PIPE)
    while not list((network.folder / "scratch").iterdir()) and running.poll() is None:
        time.sleep(0.02)
    running.send_signal(signal.SIGTERM)
    expect(running.wait(10) == -signal.SIGTERM and not list((network.folder / "scratch").iterdir()), f"a signal: exit {running.returncode}, or something is left")


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_drop_") as name:
        folder = pathlib.Path(name)
        (folder / "scratch").mkdir()
        network = Network(folder, classifier(folder / "classifier.onnx"), noise, ["--per-tensor"], 64)
        command = check_bounds(network)
        check_speed(folder)
        check_halves(network)
        check_refusals(network, command)
        check_mnist(folder)
    return told(failures)


if __name__ == "__main__":
    sys.exit(main())
