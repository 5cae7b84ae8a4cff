#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Models as exporters leave them, converted with -o alone: an open first axis becomes 1 with a note, outputs that nothing produces are left out
with a warning; what is open elsewhere is refused with the option that closes it.
"""
import json
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import REPOSITORY, SHARED, must, nsk  # noqa: E402

USAGE, REFUSED = 1, 2
failures = []
checks = 0


def info(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def policy(path, inputs, outputs=("action",), opset=13, extra=()):
    """Every input of floats goes through a dense layer of its own (2-D: the last axis), their sum is the action."""
    nodes, initializers, parts = list(extra), [], []
    for name, shape in inputs.items():
        width = shape[-1]
        initializers.append(helper.make_tensor(f"w_{name}", TensorProto.FLOAT, [width, 2], np.linspace(-1, 1, 2 * width).astype(np.float32)))
        nodes.append(helper.make_node("MatMul", [name, f"w_{name}"], [f"p_{name}"], name=f"layer_{name}"))
        parts.append(f"p_{name}")
    while len(parts) > 1:
        first, second, *rest = parts
        nodes.append(helper.make_node("Add", [first, second], [f"{first}+"]))
        parts = [f"{first}+", *rest]
    nodes.append(helper.make_node("Tanh", parts, ["action"]))
    graph = helper.make_graph(nodes, "policy", [info(n, s) for n, s in inputs.items()], [info(n, None) for n in outputs], initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), str(path))
    return path


def without_lengths(path, name, lengths):
    """Writes the shape of an input anew: text is a symbol, None nothing at all; `lengths` None takes the shape away."""
    model = onnx.load(path)
    tensor = next(i for i in model.graph.input if i.name == name).type.tensor_type
    tensor.ClearField("shape")
    for length in lengths or ():
        dimension = tensor.shape.dim.add()
        if isinstance(length, str):
            dimension.dim_param = length
        elif length is not None:
            dimension.dim_value = length
    onnx.save(model, path)
    return path


def fail(what, done):
    failures.append(f"{what}: exit code {done.returncode}\n    {(done.stdout + done.stderr).strip()[:600]}")


def converts(what, source, shapes, *options, notes=None, warnings=0):
    """Converts, and the inputs have these shapes; as many notes as there are inputs that no option names, in report and summary."""
    global checks
    checks += 1
    target = source.with_suffix(".nsk")
    done = nsk("convert", source, "-o", target, "--json", source.with_suffix(".json"), "--check", *options)
    if done.returncode != 0:
        return fail(what, done)
    report = json.loads(source.with_suffix(".json").read_text())
    found = {i["name"]: i["source_shape"] for i in report["variants"][0]["inputs"]}
    wrong = [f"{name} is {found.get(name)} instead of {shape}" for name, shape in shapes.items() if found.get(name) != shape]
    wanted = len(shapes) if notes is None else notes
    if len(report["notes"]) != wanted or any(f"note:     {n}" not in done.stdout for n in report["notes"]):
        wrong.append(f"{len(report['notes'])} notes instead of {wanted}: {report['notes']}, said: {done.stdout}")
    if len(report["warnings"]) != warnings or any(f"nsk: warning: {w}" not in done.stderr for w in report["warnings"]):
        wrong.append(f"{len(report['warnings'])} warnings instead of {warnings}: {report['warnings']}, said: {done.stderr}")
    if wrong:
        failures.append(f"{what}: {'; '.join(wrong)}")
    quiet = nsk("convert", source, "-o", target, "--quiet", *options)
    if quiet.returncode or quiet.stdout or quiet.stderr:
        fail(f"{what}, --quiet", quiet)


def refuses(what, source, code, words, *options):
    global checks
    checks += 1
    target = source.with_suffix(".refused.nsk")
    done = nsk("convert", source, "-o", target, *options)
    missing = [w for w in words if w not in done.stderr]
    if done.returncode != code or missing or not done.stderr.startswith("nsk: ") or target.exists():
        failures.append(f"{what}: exit code {done.returncode}, lacks {missing}\n    {done.stderr.strip()[:600]}")


def open_first_axes(folder):
    for number, symbol in enumerate(("batch", "N", "unk__618", "batch_size", "s77", "?", None, -1)):
        source = without_lengths(policy(folder / f"first{number}.onnx", {"obs": [1, 8]}), "obs", [symbol, 8])
        converts(f"first axis {symbol!r}", source, {"obs": [1, 8]})
    several = folder / "several.onnx"
    policy(several, {"obs_0": ["batch", 8], "obs_1": ["batch", 4], "masks": ["batch", 5]})
    converts("three inputs of one symbol", several, {"obs_0": [1, 8], "obs_1": [1, 4], "masks": [1, 5]})
    converts("one of them given", several, {"obs_0": [6, 8], "obs_1": [6, 4], "masks": [6, 5]}, "--input", "obs_0=6x8", notes=2)
    others = folder / "others.onnx"
    policy(others, {"obs": ["unk__1", 8], "masks": ["unk__2", 5], "memory": [None, 3]})
    converts("symbols of their own", others, {"obs": [1, 8], "masks": [1, 5], "memory": [1, 3]})
    refuses("rows given to one of several symbols", others, REFUSED, ["masks", "--input masks=1x5"], "--input", "obs=4x8")
    converts("one row given to one of several symbols", others, {"obs": [1, 8], "masks": [1, 5]}, "--input", "obs=1x8", notes=2)
    memory = folder / "memory.onnx"
    policy(memory, {"obs": ["batch", 8], "h": [1, "batch", 4]})
    converts("a memory whose rows stand second", memory, {"obs": [1, 8], "h": [1, 1, 4]})
    converts("rows of a memory follow those that are given", memory, {"obs": [3, 8], "h": [1, 3, 4]}, "--input", "obs=3x8", notes=1)
    pairs = folder / "pairs.onnx"
    policy(pairs, {"obs": ["N", 8], "pairs": ["N", "N", 8]})
    refuses("one symbol for every length", pairs, REFUSED, ["pairs", "[N,N,8]", "--input pairs=1x1x8"])


def refused_lengths(folder):
    refuses("two open axes", policy(folder / "two.onnx", {"x": ["batch", "time", 8]}), REFUSED, ["x", "'batch'", "'time'", "--input x=1x1x8"])
    refuses("an open axis behind", policy(folder / "behind.onnx", {"x": [1, "time", 8]}), REFUSED, ["x", "'time'", "--input x=1x1x8"])
    mixed = policy(folder / "mixed.onnx", {"obs": ["batch", 8], "x": ["n", "time", 8]})
    refuses("two open axes beside one", mixed, REFUSED, ["x", "--input x=1x1x8"])
    unknown = without_lengths(policy(folder / "unknown.onnx", {"x": [1, 8]}), "x", None)
    refuses("no shape at all", unknown, REFUSED, ["x", "no shape", "--input x="])
    converts("no shape at all, given", unknown, {"x": [1, 8]}, "--input", "x=1x8", notes=0)


def missing_outputs(folder):
    some = policy(folder / "some.onnx", {"obs": [1, 8]}, ["version_number", "action", "memory_size"])
    converts("outputs that nothing produces", some, {}, warnings=2)
    report = json.loads(some.with_suffix(".json").read_text())
    if [o["name"] for o in report["variants"][0]["outputs"]] != ["action"]:
        failures.append(f"outputs that nothing produces: {report['variants'][0]['outputs']}")
    converts("the one that is wanted", some, {}, "--output-value", "action")
    refuses("one that nothing produces is wanted", some, REFUSED, ["'memory_size'", "nothing in it produces", "'action'"], "--output-value", "memory_size")
    refuses("one that does not exist is wanted", some, USAGE, ["'actoin'", "Did you mean 'action'?"], "--output-value", "actoin")
    none = policy(folder / "none.onnx", {"obs": [1, 8]}, ["version_number", "memory_size"])
    refuses("nothing that is produced", none, REFUSED, ["'version_number', 'memory_size'", "nothing produces"])
    must("check", some, some.with_suffix(".nsk"))


def tflite(folder):
    """The file's own shape counts; what its signature leaves open in front is noted."""
    from tflite_writer import Writer
    w = Writer()
    x, y = w.tensor("x", [1, 4], np.float32), w.tensor("y", [1, 4], np.float32)
    for tensor in w.graph.tensors:
        tensor.shapeSignature = [-1, 4]
    w.operator("TANH", [x], [y])
    path = folder / "open.tflite"
    path.write_bytes(w.finish([x], [y]))
    converts("TensorFlow Lite, an open first axis", path, {"x": [1, 4]})
    converts("TensorFlow Lite, given", path, {"x": [3, 4]}, "--input", "x=3x4", notes=0)


def agents(folder):
    """Every agent converts with -o alone."""
    found = sorted((SHARED / "agents").glob("*.onnx")) + sorted((REPOSITORY / "examples" / "models").glob("*_agent.onnx"))
    for source in found:
        global checks
        checks += 1
        done = nsk("convert", source, "-o", folder / "agent.nsk")
        if done.returncode != 0 or "note:     input" not in done.stdout:
            fail(source.name, done)
    if len(found) < 2:
        print(f"note: {SHARED / 'agents'} does not exist, so only the repository's own agent was converted")


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_open_") as folder:
        for group in (open_first_axes, refused_lengths, missing_outputs, tflite, agents):
            group(pathlib.Path(folder))
    print("\n".join(failures + [f"{checks} models with open ends, {len(failures)} handled badly"]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
