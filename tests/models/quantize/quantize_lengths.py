#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsk quantize of a network whose lengths a run chooses: samples of several lengths, results near ONNX Runtime's at every length, the bits of the
file that was quantised by the same ranges for one length alone, on every instruction set; and what is refused."""
import pathlib
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import isas, must, nsk, told  # noqa: E402

BOUND, WIDTH, WORDS = 12, 16, 40
F = np.float32
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)


def encoder(path):
    """Words with their weights in a sum, through attention and a window of three words."""
    random = np.random.default_rng(3)
    floats = {"table": (WORDS, WIDTH), "q": (WIDTH, WIDTH), "k": (WIDTH, WIDTH), "v": (WIDTH, WIDTH), "wide": (WIDTH, 48), "narrow": (48, WIDTH),
              "window": (20, WIDTH, 3)}
    constants = {name: (random.standard_normal(s) / np.sqrt(s[0] if name != "table" else 1)).astype(F) for name, s in floats.items()}
    constants["scale"] = np.full(WIDTH, 1.25, F)
    node = helper.make_node
    nodes = [node("Gather", ["table", "words"], ["e"]), node("Unsqueeze", ["weights", "last"], ["w"]), node("Mul", ["e", "w"], ["x"]),
             *[node("MatMul", ["x", n], [n.upper()], "to_" + n) for n in "qkv"], node("Transpose", ["K"], ["kt"], perm=[0, 2, 1]),
             node("MatMul", ["Q", "kt"], ["s"]), node("Softmax", ["s"], ["p"], axis=-1), node("MatMul", ["p", "V"], ["a"]), node("Add", ["a", "x"], ["r"]),
             node("LayerNormalization", ["r", "scale"], ["n"]), node("MatMul", ["n", "wide"], ["h"], "expand"), node("Relu", ["h"], ["g"]),
             node("MatMul", ["g", "narrow"], ["o"], "reduce"), node("Transpose", ["o"], ["t"], perm=[0, 2, 1]),
             node("Conv", ["t", "window"], ["y"], "conv", pads=[1, 1]), node("ReduceMean", ["y"], ["mean"], axes=[2], keepdims=0)]
    initializers = [numpy_helper.from_array(a, n) for n, a in constants.items()] + [numpy_helper.from_array(np.array([2]), "last")]
    inputs = [helper.make_tensor_value_info("words", TensorProto.INT64, [1, "n"]), helper.make_tensor_value_info("weights", TensorProto.FLOAT, [1, "n"])]
    outputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ("y", "mean")]
    graph = helper.make_graph(nodes, "encoder", inputs, outputs, initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    return path


def feeds(length, seed):
    random = np.random.default_rng(seed)
    return {"words": random.integers(0, WORDS, (1, length)), "weights": random.uniform(0.5, 1, (1, length)).astype(F)}


def samples(folder, lengths):
    for name in ("words", "weights"):
        (folder / name).mkdir(parents=True)
    for i, length in enumerate(lengths):
        for name, a in feeds(length, i).items():
            np.save(folder / name / f"{i:02}.npy", a)
    return [f"--calibrate={name}={folder / name}" for name in ("words", "weights")]


def run(folder, model, inputs, isa, *options):
    arguments = []
    for name, a in inputs.items():
        np.save(folder / f"{name}.npy", a)
        arguments += ["--input", f"{name}={folder / name}.npy"]
    must("run", model, *arguments, "--output-dir", folder / "out", "--isa", isa, "--quiet", *options)
    return {name: np.load(folder / "out" / f"{name}.npy") for name in ("y", "mean")}


def check_lengths(folder, source, calibration):
    model = folder / "all.nsk"
    text = must("quantize", source, "-o", model, "--bound", f"n={BOUND}", *calibration, "--target", "size", "--save-overrides", folder / "chosen.json")
    expect("int8 in 6 of 6 layers" in text, f"not all layers are integers:\n{text}")
    session = onnxruntime.InferenceSession(str(source), providers=["CPUExecutionProvider"])
    for length in (1, 2, 5, BOUND):
        inputs = feeds(length, 100 + length)
        own = [f"--input={name}=1x{length}" for name in inputs]
        one = folder / f"one{length}.nsk"
        must("quantize", source, "-o", one, *own, *samples(folder / f"own{length}", [length]), "--target", "size", "--override", folder / "chosen.json",
             "--no-bias-correction")
        results = [run(folder, model, inputs, isa, "--length", f"n={length}") for isa in isas()]
        for wanted, name in zip(session.run(None, inputs), ("y", "mean")):
            expect(all(r[name].tobytes() == results[0][name].tobytes() for r in results), f"n = {length}: instruction sets differ in '{name}'")
            error = np.abs(results[0][name] - wanted).max() / np.abs(wanted).max()
            print(f"n = {length}, {name}: {error:.3f}")
            expect(error < 0.1, f"n = {length}: '{name}' is {error:.3f} from ONNX Runtime")
        if length > 1:  # an axis of one position is laid out otherwise
            alone = run(folder, one, inputs, "scalar")
            uncorrected = folder / "uncorrected.nsk"
            must("quantize", source, "-o", uncorrected, "--bound", f"n={BOUND}", *calibration, "--target", "size", "--override", folder / "chosen.json",
                 "--no-bias-correction")
            both = run(folder, uncorrected, inputs, "scalar", "--length", f"n={length}")
            expect(all(both[n].tobytes() == alone[n].tobytes() for n in alone), f"n = {length}: other bits than the file of that length")


def check_refusals(folder, source, calibration):
    for name, lengths, wanted in (("long", [4, BOUND + 1], f"'n' is {BOUND + 1} in the sample"), ("short", [1, 4], "may be 2 to 12")):
        bound = "n=2..12" if name == "short" else f"n={BOUND}"
        done = nsk("quantize", source, "-o", folder / "no.nsk", "--bound", bound, *samples(folder / name, lengths))
        expect(done.returncode == 2 and wanted in done.stderr, f"{name} samples: exit {done.returncode}: {done.stderr}")
    odd = samples(folder / "odd", [4, 5])
    np.save(folder / "odd" / "weights" / "01.npy", np.ones((1, 7), F))
    done = nsk("quantize", source, "-o", folder / "no.nsk", "--bound", f"n={BOUND}", *odd)
    expect(done.returncode == 2 and "Give each of its inputs the same length" in done.stderr, f"two lengths: {done.stderr}")
    done = nsk("quantize", source, "-o", folder / "no.nsk", "--bound", f"n={BOUND}", *calibration, "--equalize", "activations")
    expect(done.returncode == 2 and "--equalize weights" in done.stderr, f"--equalize activations: {done.stderr}")
    expect(not (folder / "no.nsk").exists(), "a refused file was written")


def check_saved(folder, source, calibration):
    """What samples of several lengths showed is kept in a file, and --max-drop judges samples of several lengths."""
    arguments = ("quantize", source, "--bound", f"n={BOUND}", "--target", "size")
    must(*arguments, "-o", folder / "first.nsk", *calibration, "--save-calibration", folder / "seen.json")
    must(*arguments, "-o", folder / "second.nsk", "--calibrate", folder / "seen.json")
    expect((folder / "first.nsk").read_bytes() == (folder / "second.nsk").read_bytes(), "a saved calibration makes another file")
    text = must(*arguments, "-o", folder / "bounded.nsk", *calibration, "--max-drop", "0.2", "--report", folder / "report.md")
    expect("--max-drop 0.2 holds" in text, f"--max-drop:\n{text}")
    text = must(*arguments, "-o", folder / "halves.nsk", *calibration, "--float-layers", "fp16", "--keep", "conv")
    expect("int8 in 5 of 6 layers" in text, f"--float-layers:\n{text}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source = encoder(folder / "encoder.onnx")
        calibration = samples(folder / "data", [3, BOUND, 1, 5, 8, 3, 11, BOUND])
        check_lengths(folder, source, calibration)
        check_refusals(folder, source, calibration)
        check_saved(folder, source, calibration)
    return told(failures)


if __name__ == "__main__":
    sys.exit(main())
