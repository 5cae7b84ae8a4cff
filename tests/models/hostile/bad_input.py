#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Bad input on the command line: the right exit code, a message that names the cause and the cure, no partial file, no crash."""
import pathlib
import platform
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import must, nsk  # noqa: E402

USAGE, REFUSED, CHECK_FAILED = 1, 2, 3
failures = []
checks = 0


def expect(what, code, words, *arguments, absent=(), **options):
    """Runs nsk and checks exit code, words of the message and that no file is left behind."""
    global checks
    checks += 1
    done = nsk(*arguments, **options)
    problems = [] if done.returncode == code else [f"exit code {done.returncode} instead of {code}"]
    said = done.stderr + (done.stdout if code == CHECK_FAILED else "")
    problems += [f"the message lacks '{w}'" for w in words if w.lower() not in said.lower()]
    problems += [f"{path} was left behind" for path in absent if pathlib.Path(path).exists()]
    for path in absent:
        problems += [f"{p} was left behind" for p in pathlib.Path(path).parent.glob(".nsk-*")]
    if problems:
        failures.append(f"{what}: {'; '.join(problems)}\n    {said.strip()[:400]}")


def save_model(path, nodes, inputs, outputs, initializers=()):
    graph = helper.make_graph(nodes, "bad", inputs, outputs, list(initializers))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))


def value(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def make_models(folder):
    weights = helper.make_tensor("w", TensorProto.FLOAT, [4, 3, 3, 3], np.linspace(-1, 1, 108).astype(np.float32))
    conv = helper.make_node("Conv", ["x", "w"], ["y"], name="the_conv", pads=[1, 1, 1, 1])
    save_model(folder / "good.onnx", [conv], [value("x", [1, 3, 8, 8])], [value("y", None)], [weights])
    save_model(folder / "open.onnx", [conv], [value("x", ["batch", 3, "height", 8])], [value("y", None)], [weights])
    other = helper.make_node("Conv", ["x", "w"], ["y"], name="the_conv", pads=[1, 1, 1, 1], strides=[2, 2])
    save_model(folder / "other.onnx", [other], [value("x", [1, 3, 8, 8])], [value("y", None)], [weights])
    negated = helper.make_tensor("w", TensorProto.FLOAT, [4, 3, 3, 3], np.linspace(1, -1.5, 108).astype(np.float32))
    save_model(folder / "different.onnx", [conv], [value("x", [1, 3, 8, 8])], [value("y", None)], [negated])
    save_model(folder / "unsupported.onnx", [helper.make_node("MaxRoiPool", ["x", "x"], ["y"], name="the_pool")], [value("x", [2, 3, 3])], [value("y", [2, 3, 1])])
    outside = helper.make_tensor("i", TensorProto.INT64, [], [4])
    save_model(folder / "outside.onnx", [helper.make_node("Gather", ["x", "i"], ["y"], name="picks", axis=1)], [value("x", [2, 4])], [value("y", [2])], [outside])
    save_model(folder / "unknown.onnx", [helper.make_node("NoSuchOperator", ["x"], ["y"], name="mystery")], [value("x", [2])], [value("y", [2])])
    (folder / "empty").write_bytes(b"")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(200)))
    (folder / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0" + bytes(range(200)))
    step = helper.make_node("Add", ["x", "h0"], ["hn"], name="step")
    double = helper.make_node("Mul", ["hn", "hn"], ["y"])
    save_model(folder / "memory.onnx", [step, double], [value("x", [1, 4]), value("h0", [1, 4])], [value("y", None), value("hn", None)])
    good = (folder / "good.onnx").read_bytes()
    (folder / "half.onnx").write_bytes(good[: len(good) // 2])


def bad_sources(folder):
    out = folder / "out.nsk"
    for what, source, words in [("missing source", "nowhere.onnx", ["nowhere.onnx"]), ("empty source", "empty", ["empty"]),
                                ("a PNG for a model", "picture.png", ["picture.png", "png"]), ("truncated source", "half.onnx", ["half.onnx"]),
                                ("unsupported operator", "unsupported.onnx", ["the_pool", "MaxRoiPool", "13", "[2,3,3]"]),
                                ("a constant index outside its axis", "outside.onnx", ["picks", "Gather", "index 4", "length 4"]),
                                ("unknown operator", "unknown.onnx", ["mystery", "NoSuchOperator"]),
                                ("open shape", "open.onnx", ["x", "batch", "--input"])]:
        expect(what, REFUSED, words, "convert", folder / source, "-o", out, absent=[out])
    expect("a directory for a model", REFUSED, ["directory"], "convert", folder, "-o", out, absent=[out])
    expect("shape of an input that does not exist", USAGE, ["nope"], "convert", folder / "good.onnx", "-o", out, "--input", "nope=1x3", absent=[out])
    expect("shape of other axes than the model's", USAGE, ["x", "contradicts"], "convert", folder / "good.onnx", "-o", out, "--input", "x=1x3x8", absent=[out])
    expect("shape that the model's operators refuse", REFUSED, ["Conv"], "convert", folder / "good.onnx", "-o", out, "--input", "x=1x4x8x8", absent=[out])
    expect("shape that is none", USAGE, ["x=1xfoo"], "convert", folder / "good.onnx", "-o", out, "--input", "x=1xfoo", absent=[out])
    expect("set without a number", USAGE, ["number"], "convert", folder / "good.onnx", "-o", out, "--set", "x=abc", absent=[out])
    expect("option without a name", USAGE, ["--input"], "convert", folder / "good.onnx", "-o", out, "--input", "1x3x8x8", absent=[out])
    expect("output over the source", USAGE, ["overwrite"], "convert", folder / "good.onnx", "-o", folder / "good.onnx")
    expect("output in a directory that is not there", REFUSED, ["no/out.nsk"], "convert", folder / "good.onnx", "-o", folder / "no" / "out.nsk")


def other_sources(folder):
    """What is no source model: the message says what to do with it, and that works."""
    out = folder / "out.nsk"
    np.save(folder / "array.npy", np.zeros(3, np.float32))
    for what, source, words in [("a converted model", "good.nsk", ["good.nsk", "nsk inspect", "nsk run", "source"]),
                                ("a photo", "photo.jpg", ["photo.jpg", "JPEG", "the model first", "--calibrate"]),
                                ("an array", "array.npy", ["array.npy", "the model first", "--input"])]:
        expect(f"convert {what}", REFUSED, words, "convert", folder / source, "-o", out, absent=[out])
        expect(f"quantize {what}", REFUSED, words, "quantize", folder / source, "-o", out, "--format", "fp16", absent=[out])
    expect("what is said of a converted model", 0, [], "inspect", folder / "good.nsk")


def states(folder):
    """An input that became a state."""
    must("convert", folder / "memory.onnx", "-o", folder / "memory.nsk", "--quiet")
    np.save(folder / "h.npy", np.zeros([1, 4], np.float32))
    given = ["--input", f"x={folder}/h.npy", "--input", f"h0={folder}/h.npy"]
    for command in (["run", folder / "memory.nsk", "--output-dir", folder / "states"], ["bench", folder / "memory.nsk", "--seconds", "0.05"]):
        expect(f"{command[0]}: a state as an input", USAGE, ["h0", "state", "--no-states"], *command, *given)
    must("convert", folder / "memory.onnx", "-o", folder / "memory.nsk", "--no-states", "--quiet")
    expect("the state as an input", 0, [], "run", folder / "memory.nsk", "--output-dir", folder / "states", *given)


def calibration(folder):
    """Arrays whose channels are where the source has them not."""
    for name, shape, cure in (("last", [1, 8, 8, 3], "(0, 3, 1, 2)"), ("alone", [8, 8, 3], "(2, 0, 1)")):
        samples = folder / f"samples_{name}"
        samples.mkdir(exist_ok=True)
        array = np.random.default_rng(1).uniform(-1, 1, shape).astype(np.float32)
        np.save(samples / "1.npy", array)
        out = folder / f"int8_{name}.nsk"
        command = ["quantize", folder / "good.onnx", "-o", out, "--calibrate", samples, "--target", "size", "--quiet"]
        expect(f"calibrate with channels {name}", REFUSED, ["channels come last", f"numpy.transpose(array, {cure})"], *command, absent=[out])
        np.save(samples / "1.npy", np.transpose(array, eval(cure)))
        expect(f"calibrate with channels {name}, transposed", 0, [], *command)


def bad_usage(folder):
    vector = "neon" if platform.machine() in ("aarch64", "arm64") else "avx2"
    expect("no command", USAGE, ["command"])
    expect("unknown command", USAGE, ["paint"], "paint")
    expect("missing option", USAGE, ["--output"], "convert", folder / "good.onnx")
    expect("unknown option", USAGE, ["--sideways"], "inspect", folder / "good.nsk", "--sideways")
    expect("unknown instruction set", USAGE, ["sse9", vector, "scalar"], "bench", folder / "good.nsk", "--isa", "sse9")
    expect("lanes out of range", USAGE, ["lanes"], "bench", folder / "good.nsk", "--lanes", "0")
    expect("help", 0, [], "--help")


def bad_models(folder):
    truncated, damaged = folder / "truncated.nsk", folder / "damaged.nsk"
    good = (folder / "good.nsk").read_bytes()
    truncated.write_bytes(good[: len(good) - 100])
    damaged.write_bytes(good[:70] + bytes(b ^ 0xFF for b in good[70:300]) + good[300:])
    for what, path in [("missing model", "nowhere.nsk"), ("empty model", "empty"), ("a PNG for a .nsk", "picture.png"), ("ONNX for a .nsk", "good.onnx"),
                       ("truncated .nsk", truncated.name), ("damaged .nsk", damaged.name)]:
        for command in (["inspect"], ["bench", "--seconds", "0.05"]):
            expect(f"{command[0]}: {what}", REFUSED, [path], command[0], folder / path, *command[1:])


def bad_arrays(folder):
    np.save(folder / "x.npy", np.zeros([1, 3, 8, 8], np.float32))
    np.save(folder / "shape.npy", np.zeros([1, 8, 8, 3], np.float32))
    np.save(folder / "type.npy", np.zeros([1, 3, 8, 8], np.float64))
    np.save(folder / "records.npy", np.zeros(3, dtype=[("a", "f4"), ("b", "i4")]))
    np.save(folder / "big_endian.npy", np.zeros([1, 3, 8, 8], ">f4"))
    data = (folder / "x.npy").read_bytes()
    for cut in (3, 9, 60, len(data) - 4):
        (folder / f"cut{cut}.npy").write_bytes(data[:cut])
    out = folder / "out" / "y.npy"

    def run(what, code, words, *inputs):
        expect(what, code, words, "run", folder / "good.nsk", *[a for i in inputs for a in ("--input", i)], "--output-dir", folder / "out", absent=[out])

    run("no input", REFUSED, ["x", "missing", "[1,3,8,8]"])
    run("unknown input", USAGE, ["nope", "'x'"], f"x={folder}/x.npy", f"nope={folder}/x.npy")
    run("input given twice", USAGE, ["twice"], f"x={folder}/x.npy", f"x={folder}/x.npy")
    run("input without a file", USAGE, ["NAME=FILE.npy"], "x")
    run("missing file", REFUSED, ["nowhere.npy"], f"x={folder}/nowhere.npy")
    run("wrong shape", REFUSED, ["[1,3,8,8]", "[1,8,8,3]", "numpy.transpose(array, (0, 3, 1, 2))"], f"x={folder}/shape.npy")
    run("wrong type", REFUSED, ["float32", "float64", "astype"], f"x={folder}/type.npy")
    run("records", REFUSED, ["records.npy"], f"x={folder}/records.npy")
    run("big endian", REFUSED, ["big_endian.npy", "astype"], f"x={folder}/big_endian.npy")
    run("a PNG for an array", REFUSED, ["picture.png", "png"], f"x={folder}/picture.png")
    for cut in (3, 9, 60, len(data) - 4):
        run(f"array cut after {cut} bytes", REFUSED, [f"cut{cut}.npy"], f"x={folder}/cut{cut}.npy")
    (folder / "file").write_text("in the way")
    expect("input of another shape to measure", REFUSED, ["'x'", "holds"], "bench", folder / "good.nsk", "--input", f"x={folder}/shape.npy")
    expect("input to measure that the model has not", USAGE, ["nope"], "bench", folder / "good.nsk", "--input", f"nope={folder}/x.npy")
    expect("output directory is a file", REFUSED, ["file"], "run", folder / "good.nsk", "--input", f"x={folder}/x.npy", "--output-dir", folder / "file")


def full_disk(folder):
    out = folder / "limited.nsk"

    def small_files_only():
        import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))

    expect("full disk (device)", REFUSED, ["/dev/full", "space"], "convert", folder / "good.onnx", "-o", "/dev/full")
    expect("full disk (file)", REFUSED, ["limited.nsk"], "convert", folder / "good.onnx", "-o", out, absent=[out], preexec_fn=small_files_only)
    before = (folder / "good.nsk").read_bytes()
    expect("full disk over an older file", REFUSED, ["good.nsk"], "convert", folder / "good.onnx", "-o", folder / "good.nsk", preexec_fn=small_files_only)
    if (folder / "good.nsk").read_bytes() != before:
        failures.append("full disk: the older file was changed")
    expect("full disk (outputs)", REFUSED, ["y.npy"], "run", folder / "good.nsk", "--input", f"x={folder}/x.npy", "--output-dir", folder / "full",
           absent=[folder / "full" / "y.npy"], preexec_fn=small_files_only)
    with open("/dev/full", "w") as full:
        import subprocess
        from models import TOOL
        done = subprocess.run([TOOL, "inspect", folder / "good.nsk"], stdout=full, stderr=subprocess.PIPE, text=True)
        if done.returncode != REFUSED:
            failures.append(f"full disk (standard output): exit code {done.returncode}: {done.stderr}")


def wrong_numbers(folder):
    expect("check against the same model", 0, [], "check", folder / "good.onnx", folder / "good.nsk")
    expect("check against other weights", CHECK_FAILED, ["FAILED", "y"], "check", folder / "different.onnx", folder / "good.nsk")
    expect("check against another shape", REFUSED, ["y"], "check", folder / "other.onnx", folder / "good.nsk")


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_bad_") as folder:
        folder = pathlib.Path(folder)
        make_models(folder)
        must("convert", folder / "good.onnx", "-o", folder / "good.nsk", "--check")
        for group in (bad_sources, other_sources, states, calibration, bad_usage, bad_models, bad_arrays, full_disk, wrong_numbers):
            group(folder)
    print("\n".join(failures + [f"{checks} bad inputs, {len(failures)} handled badly"]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
