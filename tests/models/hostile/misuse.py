#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Misuse of every command: every line on standard error begins with "nsk:", and what was probably meant is named."""
import json
import pathlib
import re
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


def expect(code, words, *arguments, **options):
    """The exit code, the words in the message, and "nsk:" before every line of it."""
    global checks
    checks += 1
    done = nsk(*arguments, **options)
    lines = done.stderr.splitlines()
    problems = [] if done.returncode == code else [f"exit code {done.returncode} instead of {code}"]
    problems += [f"a line that does not begin with 'nsk: ': {line!r}" for line in lines if not line.startswith("nsk: ")]
    problems += [] if lines else ["nothing is said"]
    problems += [f"the message lacks {w!r}" for w in words if w not in done.stderr]
    if problems:
        failures.append(f"nsk {' '.join(map(str, arguments))}\n    {'; '.join(problems)}\n    {done.stderr.strip()[:400]}")


def commands():
    """Name -> its long options, as the help lists them."""
    names = re.findall(r"^  ([a-z-]+) {2,}\S", must("--help").split("Subcommands:")[1].split("Example")[0], re.MULTILINE)
    return {name: sorted(set(re.findall(r"^  (?:-\w,)?(--[a-z][a-z-]+)", must(name, "--help").split("Examples:")[0], re.MULTILINE)) - {"--help"}) for name in names}


def misspelt(word):
    """Two letters swapped, one left out, one too many."""
    middle = max(3, len(word) // 2) if word.startswith("--") else len(word) // 2
    swapped = word[:middle] + word[middle + 1:middle + 2] + word[middle] + word[middle + 2:]
    return {swapped, word[:-1], word + "s"} - {word}


def all_commands_and_options(folder):
    found = commands()
    if len(found) < 10 or len(found["convert"]) < 15:
        failures.append(f"the help is not understood: {found}")
    expect(USAGE, ["command", "'convert'"])
    expect(USAGE, ["command", "'convert'"], "--quiet")
    for name, options in found.items():
        for wrong in misspelt(name) - set(found):
            expect(USAGE, [f"'{wrong}'", "Did you mean '"], wrong)
        expect(USAGE, [f"Did you mean '{name}'?"], name[1] + name[0] + name[2:])
        for option in options:
            for wrong in misspelt(option) - set(options):
                if wrong == "--ste" and {"--set", "--std"} <= set(options):
                    continue  # a letter from both
                if wrong == "--overrides":
                    continue  # a name that the next release does not have
                expect(USAGE, [f"'{wrong}'", f"Did you mean '{option}'?", f"`nsk {name} --help`"], name, wrong)
                expect(USAGE, [f"'{wrong}'", f"Did you mean '{option}'?"], name, folder / "a.onnx", f"{wrong}=1", "more")
        expect(USAGE, ["'--no-such-thing-at-all'", f"`nsk {name} --help`"], name, "--no-such-thing-at-all")
        expect(USAGE, [f"nsk: {name}: "], name, "one", "two", "three", "four")
    for name in sorted(set(found) - {"operators"}):
        expect(USAGE, ["is required", f"`nsk {name} --help`"], name)


def values(folder):
    model, source = folder / "model.nsk", folder / "model.onnx"
    expect(USAGE, ["--lanes"], "bench", model, "--lanes", "0")
    expect(USAGE, ["--lanes"], "bench", model, "--lanes", "two")
    for rounds in ("0", "-2", "1001", "1.5", "ten"):
        expect(USAGE, ["--rounds"], "bench", model, "--rounds", rounds)
    expect(USAGE, ["--output"], "convert", source, "-o")
    expect(USAGE, ["--max-tile-us"], "convert", source, "-o", folder / "x.nsk", "--max-tile-us", "-3")
    expect(USAGE, ["Did you mean 'avx2'?" if "avx2" in must("bench", "--help") else "scalar"], "bench", model, "--isa", "avx_2")
    expect(USAGE, ["Did you mean 'scalar'?"], "check", source, model, "--isa", "scaler")
    expect(USAGE, ["'out.nsk'"], "convert", source, "out.nsk", "-o", folder / "x.nsk")
    expect(USAGE, ["'nsk convert'"], "bench", model, "--dequantize")
    expect(USAGE, ["--variant", "--gpu"], "inspect", model, "--variant", "gpu")
    expect(USAGE, ["--settings", "Leave one of them out"], "inspect", model, "--gpu", "--settings")
    expect(USAGE, ["Did you mean 'vulkan'?", "gles"], "bench", model, "--device", "vulcan")
    expect(USAGE, ["model is required"], "check", source)


def devices(folder):
    """What has no meaning beside --device, and a device that computes nothing."""
    model, source = folder / "model.nsk", folder / "model.onnx"
    run = ("run", model, "--device", "vulkan", "--output-dir", folder / "out")
    for option in (["--isa", "scalar"], ["--lanes", "2"]):
        for command in (run, ("bench", model, "--device", "vulkan")):
            expect(USAGE, [option[0], "beside --device"], *command, *option)
    expect(USAGE, ["--rounds", "beside --device"], "bench", model, "--device", "vulkan", "--rounds", "3")
    expect(USAGE, ["--trace", "beside --device"], *run, "--trace", folder / "trace.json")
    for option in (["--set", "a=1"], ["--trust"], ["--tolerance", "1"], ["--report", folder / "r.md"], ["--seed", "3"]):
        expect(USAGE, [option[0], "beside --device"], "check", model, "--device", "vulkan", *option)
    for command in (("check", source, model), ("bench", model), (*run[:2], "--output-dir", folder / "out")):
        expect(USAGE, ["--half-activations", "needs --device", "Give both"], *command, "--half-activations")
        expect(USAGE, ["--half-activations --half-weights: ", "needs --device"], *command, "--half-activations", "--half-weights")
    expect(USAGE, ["--half-activations", "needs --gpu", "Give both"], "inspect", model, "--half-activations")
    expect(USAGE, ["takes the .nsk file alone"], "check", source, model, "--device", "vulkan")
    expect(USAGE, ["computes nothing", "bench"], "check", model, "--device", "null")
    expect(USAGE, ["computes nothing", "bench"], *run[:2], "--device", "null", "--output-dir", folder / "out")
    expect(USAGE, ["gup", "Did you mean 'gpu'?"], "check", folder / "both.nsk", "--device", "vulkan", "--variant", "gup")
    expect(USAGE, ["gup", "Did you mean 'gpu'?"], "inspect", folder / "both.nsk", "--gpu", "--variant", "gup")


def names_of_models(folder):
    model, source, output = folder / "model.nsk", folder / "model.onnx", folder / "x.nsk"
    array = f"{folder}/x.npy"
    expect(USAGE, ["'imgae'", "Did you mean 'image'?"], "convert", source, "-o", output, "--input", "imgae=1x4")
    expect(USAGE, ["'images'", "Did you mean 'image'?"], "convert", source, "-o", output, "--set", "images=1")
    expect(USAGE, ["'Image'", "Did you mean 'image'?"], "convert", source, "-o", output, "--variant", "small:Image=1x4")
    expect(USAGE, ["'score'", "Did you mean 'scores'?"], "convert", source, "-o", output, "--output-value", "score")
    expect(USAGE, ["'memory'", "Did you mean 'memory_in'?"], "convert", source, "-o", output, "--state", "memory=memory_out")
    expect(USAGE, ["'memory_ot'", "Did you mean 'memory_out'?"], "convert", source, "-o", output, "--state", "memory_in=memory_ot")
    (folder / "override.json").write_text(json.dumps({"frist": {"algorithm": "direct"}}))
    expect(REFUSED, ["'frist'", "Did you mean 'first'?"], "convert", folder / "conv.onnx", "-o", output, "--override", folder / "override.json",
           "--input", "image=1x3x8x8")
    expect(USAGE, ["'imgae'", "Did you mean 'image'?", "[1,4]"], "run", model, "--input", f"imgae={array}", "--output-dir", folder / "out")
    expect(REFUSED, ["'image'", "is missing"], "run", model, "--output-dir", folder / "out")
    expect(USAGE, ["'imgae'", "Did you mean 'image'?"], "check", source, model, "--input", f"imgae={array}")
    expect(USAGE, ["smal", "Did you mean 'small'?"], "run", folder / "sizes.nsk", "--variant", "smal",
           "--output-dir", folder / "out")
    expect(USAGE, ["lagre", "Did you mean 'large'?"], "check", folder / "conv.onnx", folder / "sizes.nsk", "--variant", "lagre")
    must("json", folder / "sizes.nsk", "-o", folder / "sizes.json")
    expect(REFUSED, ["'scroes'", "Did you mean 'scores'?"], "from-json", folder / "sizes.json", "-o", output, "--rename", "scroes=s")
    expect(REFUSED, ["'scroes'", "Did you mean 'scores'?"], "from-json", folder / "sizes.json", "-o", output, "--cut", "scroes")
    expect(REFUSED, ["'frist.weights'", "Did you mean '"], "from-json", folder / "sizes.json", "-o", output, "--replace", f"frist.weights={array}")


def files(folder):
    for name in ("inspect", "bench", "selftest"):
        expect(REFUSED, ["nowhere.nsk"], name, folder / "nowhere.nsk")
    expect(REFUSED, ["nowhere.nsk"], "json", folder / "nowhere.nsk", "-o", folder / "x.json")
    expect(REFUSED, ["nowhere.json"], "from-json", folder / "nowhere.json", "-o", folder / "x.nsk")
    expect(REFUSED, ["nowhere.json"], "inspect", folder / "model.nsk", "--profile", folder / "nowhere.json")
    expect(REFUSED, ["nowhere.onnx"], "convert", folder / "nowhere.onnx", "-o", folder / "x.nsk")
    expect(REFUSED, ["no check vectors"], "selftest", folder / "model.nsk")
    expect(CHECK_FAILED, ["FAILED"], "check", folder / "other.onnx", folder / "model.nsk")
    expect(CHECK_FAILED, ["FAILED"], "check", folder / "other.onnx", folder / "model.nsk", "--quiet")


def make_models(folder):
    def info(name, shape):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    def save(name, nodes, inputs, outputs, initializers=()):
        graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers))
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(folder / name))

    for name, operator in (("model.onnx", "Tanh"), ("other.onnx", "Exp")):
        nodes = [helper.make_node(operator, ["image"], ["scores"]), helper.make_node("Tanh", ["memory_in"], ["memory_out"])]
        save(name, nodes, [info("image", [1, 4]), info("memory_in", [1, 4])], [info("scores", None), info("memory_out", None)])
    weights = helper.make_tensor("first.weight", TensorProto.FLOAT, [4, 3, 3, 3], np.linspace(-1, 1, 108).astype(np.float32))
    save("conv.onnx", [helper.make_node("Conv", ["image", "first.weight"], ["scores"], name="first", pads=[1] * 4)], [info("image", [1, 3, "h", "w"])],
         [info("scores", None)], [weights])
    np.save(folder / "x.npy", np.zeros([1, 4], np.float32))
    must("convert", folder / "model.onnx", "-o", folder / "model.nsk", "--quiet", "--no-states")
    must("convert", folder / "model.onnx", "-o", folder / "both.nsk", "--quiet", "--gpu")
    must("convert", folder / "conv.onnx", "-o", folder / "sizes.nsk", "--quiet", "--variant", "small:image=1x3x8x8", "--variant", "large:image=1x3x16x16")


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_misuse_") as folder:
        folder = pathlib.Path(folder)
        make_models(folder)
        for group in (all_commands_and_options, values, devices, names_of_models, files):
            group(folder)
    print("\n".join(failures + [f"{checks} misuses, {len(failures)} answered badly"]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
