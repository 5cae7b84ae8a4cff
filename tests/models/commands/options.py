#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One set of options: convert and quantize take the same source options and give the same bytes; deprecated names work, and say so."""
import pathlib
import re
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import must, nsk, told  # noqa: E402

F = np.float32
failures = []
# What only one of the two commands has.
CONVERT_ALONE = {"--weights"}
QUANTIZE_ALONE = {"--format", "--calibrate", "--save-calibration", "--save-overrides", "--mean", "--std", "--white", "--color", "--fit", "--ranges", "--keep",
                  "--max-drop", "--drop-by", "--metric", "--metric-seconds", "--float-layers", "--equalize", "--integer-io", "--per-tensor", "--full-range-weights",
                  "--no-bias-correction"}
# Command, name that goes, name that stays, what the option needs.
DEPRECATED = [("convert", "--exact", "--no-winograd", []), ("quantize", "--overrides", "--override", ["CHOICES"]), ("quantize", "--calibration", "--calibrate", ["SEEN"])]


def expect(good, what):
    if not good:
        failures.append(what)


def network(path, batch=1):
    """Two convolutions, a Swish spelled out between them, a pooled output with classes, and a memory that goes round."""
    generator = np.random.default_rng(7)
    weights = {"w": (24, 3, 3, 3), "v": (24, 24, 3, 3), "d": (24, 10)}
    constants = [numpy_helper.from_array((generator.standard_normal(s) * 0.2).astype(F), n) for n, s in weights.items()]
    nodes = [helper.make_node("Conv", ["image", "w"], ["a"], "first", pads=[1] * 4), helper.make_node("Sigmoid", ["a"], ["s"], "gate"),
             helper.make_node("Mul", ["a", "s"], ["b"], "swish"), helper.make_node("Conv", ["b", "v"], ["map"], "second", pads=[1] * 4),
             helper.make_node("GlobalAveragePool", ["map"], ["p"], "pool"), helper.make_node("Flatten", ["p"], ["f"], "flat"),
             helper.make_node("MatMul", ["f", "d"], ["scores"], "dense")]
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "options", [value("image", [batch, 3, 16, 16])], [value("scores", [batch, 10]), value("map", [batch, 24, 16, 16])], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))
    return path


def options_of(command):
    """Option -> its line of the help, without what follows the first one."""
    return {m[1]: m[2] for m in re.finditer(r"^  (?:-\w,)?(--[\w-]+) *(.*)$", must(command, "--help").split("\nExamples:")[0], re.MULTILINE)}


def same_help():
    convert, quantize = options_of("convert"), options_of("quantize")
    expect(set(convert) - set(quantize) == CONVERT_ALONE, f"only convert has {sorted(set(convert) - set(quantize))}")
    expect(set(quantize) - set(convert) == QUANTIZE_ALONE, f"only quantize has {sorted(set(quantize) - set(convert))}")
    for name in sorted(set(convert) & set(quantize) - {"--report", "--target"}):
        expect(convert[name] == quantize[name], f"{name} differs: '{convert[name]}', '{quantize[name]}'")


def same_bytes(folder, source, source_options):
    for how in ("fp16", "w8"):
        for what, options in source_options.items():
            options, made = options + ([] if "--target" in options else ["--target", "size"]), []
            for command, formats in (("convert", ["--weights", how]), ("quantize", ["--format", how])):
                must(command, source, "-o", folder / "made.nsk", "--quiet", *formats, *options)
                made.append((folder / "made.nsk").read_bytes())
            expect(made[0] == made[1], f"{how} with {what}: convert --weights and quantize --format give different files")


def deprecated(folder, source):
    samples = folder / "samples"
    samples.mkdir()
    for i in range(4):
        np.save(samples / f"{i}.npy", np.random.default_rng(i).standard_normal((1, 3, 16, 16)).astype(F))
    must("quantize", source, "-o", folder / "q.nsk", "--quiet", "--target", "size", "--calibrate", samples, "--save-calibration", folder / "seen.json",
         "--save-overrides", folder / "chosen.json")
    given = {"CHOICES": folder / "chosen.json", "SEEN": folder / "seen.json"}
    needs = {"--overrides": ["--calibrate", samples], "--exact": [], "--calibration": []}
    for command, old, new, values in DEPRECATED:
        made, said = [], []
        for name in (old, new):
            fixed = ["--target", "size"] if command == "quantize" else []
            done = nsk(command, source, "-o", folder / "made.nsk", "--quiet", *fixed, *needs[old], name, *[given[v] for v in values])
            expect(done.returncode == 0, f"{command} {name}: {done.stderr}")
            made.append((folder / "made.nsk").read_bytes())
            said.append(done.stderr)
        expect(made[0] == made[1], f"{command} {old} and {new} differ")
        expect(f"{old} is deprecated" in said[0] and new in said[0] and not said[1], f"{command} {old}: '{said[0]}', '{said[1]}'")
        expect(old not in options_of(command), f"{command} --help lists {old}")
    glued = nsk("quantize", source, "-o", folder / "made.nsk", "--quiet", "--target", "size", f"--calibration={folder / 'seen.json'}")
    expect(glued.returncode == 0 and "deprecated" in glued.stderr, f"--calibration=FILE: {glued.stderr}")
    expect(nsk("convert", source, "-o", folder / "x.nsk", "--overrides", folder / "chosen.json").returncode == 1, "convert knows --overrides")


def formats_of_layers(folder, source):
    """--override {"layers": ...} with --weights: a layer that keeps float32; what makes no sense is refused."""
    choices = folder / "layers.json"
    for command in (["convert", "--weights", "fp16"], ["quantize", "--format", "fp16", "--target", "size"]):
        choices.write_text('{"layers": {"dense": "float32"}}')
        text = must(*command[:1], source, "-o", folder / "kept.nsk", *command[1:], "--no-winograd", "--override", choices)
        expect("weights are float16 in 2 of 3 layers" in text and "'dense' (kept by --override)" in text, text)
        for content, word in (('{"layers": {"dence": "float32"}}', "'dense'"), ('{"layers": {"dense": "int8"}}', "one format"), ('{"ranges": {"a": [-1, 1]}}', "nsk quantize")):
            choices.write_text(content)
            done = nsk(*command[:1], source, "-o", folder / "none.nsk", *command[1:], "--override", choices)
            expect(done.returncode == 1 and word in done.stderr and not (folder / "none.nsk").exists(), f"{content}: exit {done.returncode}, {done.stderr}")
    choices.write_text('{"layers": {"dense": "float32"}}')
    done = nsk("convert", source, "-o", folder / "none.nsk", "--override", choices)
    expect(done.returncode == 1 and "--weights" in done.stderr, f"formats without --weights: {done.stderr}")


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    source, open_batch = network(folder / "net.onnx"), network(folder / "open.onnx", "n")
    same_help()
    same_bytes(folder, source, {"nothing": [], "changes": ["--argmax", "scores", "--rename", "map=heat", "--swish-to-hard-swish"], "one output": ["--output-value", "scores"],
                                "a layout": ["--keep-layout", "image"], "a GPU": ["--gpu"], "variants": ["--variant", "a:image=1x3x16x16", "--variant", "b:image=1x3x32x32"],
                                "a machine": ["--target", "pc"], "another machine": ["--target", "mobile", "--variant", "a:image=1x3x64x64"], "direct": ["--no-winograd", "--max-tile-us", "20"], "a small file": ["--small", "--embed-check"]})
    same_bytes(folder, open_batch, {"a batch": ["--batch-max", "4"]})
    deprecated(folder, source)
    formats_of_layers(folder, source)
sys.exit(told(failures))
