#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsk json and from-json: the same bytes back, edits that do what they say, nonsense refused; --embed-check, --override."""
import json
import pathlib
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import MODELS, SAID_SKIPPED, error_of, file_name, must, nsk, path_of  # noqa: E402

SHAPE = [1, 16, 12, 12]
rng = np.random.default_rng(5)
WEIGHTS = {"w3": rng.standard_normal((32, 16, 3, 3)) * 0.1, "b3": rng.standard_normal(32), "wd": rng.standard_normal((32, 1, 5, 5)) * 0.2,
           "bd": rng.standard_normal(32), "w1": rng.standard_normal((24, 32, 1, 1)) * 0.2, "b1": rng.standard_normal(24),
           "wg": rng.standard_normal((10, 24)) * 0.3, "bg": rng.standard_normal(10), "table": rng.standard_normal((1, 24, 1, 1))}
WEIGHTS = {name: value.astype(np.float32) for name, value in WEIGHTS.items()}


def network(path, weights):
    nodes = [helper.make_node("Conv", ["x", "w3", "b3"], ["c3"], "wide", pads=[1] * 4), helper.make_node("Relu", ["c3"], ["r3"], "relu"),
             helper.make_node("Conv", ["r3", "wd", "bd"], ["cd"], "deep", pads=[2] * 4, group=32),
             helper.make_node("Conv", ["cd", "w1", "b1"], ["c1"], "point"), helper.make_node("Sigmoid", ["c1"], ["s1"], "gate"),
             helper.make_node("Mul", ["s1", "table"], ["m1"], "scale"), helper.make_node("GlobalAveragePool", ["m1"], ["p"], "mean"),
             helper.make_node("Flatten", ["p"], ["f"], "flat"), helper.make_node("Gemm", ["f", "wg", "bg"], ["y"], "dense", transB=1)]
    values = [helper.make_tensor_value_info("x", TensorProto.FLOAT, SHAPE), helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 10])]
    graph = helper.make_graph(nodes, "edits", values[:1], values[1:], [numpy_helper.from_array(v, n) for n, v in weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, path)
    return model


def reference(model, outputs, x):
    for name in outputs:
        if name not in [o.name for o in model.graph.output]:
            model.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(outputs, {"x": x})


def result(model, folder, name):
    must("run", model, "--input", f"x={folder / 'x.npy'}", "--output-dir", folder / "out")
    return np.load(folder / "out" / file_name(name))


def expect(what, good):
    if not good:
        raise SystemExit(f"{what}: not so")


def refused(what, words, *arguments):
    done = nsk(*arguments)
    if done.returncode != 2 or any(w not in done.stderr for w in words):
        raise SystemExit(f"{what}: exit code {done.returncode}, expected a refusal that refers to {words}\n{done.stderr}")
    expect(f"{what} leaves no file", not (pathlib.Path(arguments[3]).exists()))


def round_trips(folder):
    count = 0
    for name in MODELS:
        source = path_of(name) if name in ("mnist", "policy_mlp", "ultraface", "mobilenet_v3_small", "line_detector", "transformer_enc", "upscaler_x2") else None
        if source is None:
            continue
        options = ["--input", "frame=1x3x36x64"] if name == "upscaler_x2" else []
        must("convert", source, "-o", folder / "a.nsk", *options)
        must("json", folder / "a.nsk", "-o", folder / "a.json")
        must("from-json", folder / "a.json", "-o", folder / "b.nsk")
        expect(f"{name} comes back byte for byte", (folder / "a.nsk").read_bytes() == (folder / "b.nsk").read_bytes())
        count += 1
    return count


def edited(folder, change):
    """Writes changed.json, with `change` applied to the first variant."""
    whole = json.loads((folder / "m.json").read_text())
    change(whole["table"]["variants"][0])
    whole["weights"] = "m.weights"
    (folder / "changed.json").write_text(json.dumps(whole))
    return folder / "changed.json"


def tensor_reading(folder, step, index):
    variant = json.loads((folder / "m.json").read_text())["table"]["variants"][0]
    found = next(s for s in variant["steps"] if step in s["name"])
    return variant["tensors"][found["inputs"][index]]["name"]


def replacements(folder, x):
    fresh = {name: (rng.standard_normal(v.shape) * 0.2).astype(np.float32) for name, v in WEIGHTS.items()}
    np.save(folder / "w3.npy", fresh["w3"].transpose(0, 2, 3, 1))
    np.save(folder / "wd.npy", fresh["wd"][:, 0])
    np.save(folder / "w1.npy", fresh["w1"].transpose(0, 2, 3, 1))
    np.save(folder / "wg.npy", fresh["wg"])
    names = {"w3": tensor_reading(folder, "wide", 1), "wd": tensor_reading(folder, "deep", 1), "w1": tensor_reading(folder, "point", 1),
             "wg": tensor_reading(folder, "dense", 1)}
    arguments = []
    for key, name in names.items():
        np.save(folder / f"bias_{key}.npy", fresh["b" + key[1]])
        arguments += ["--replace", f"{name}={folder / key}.npy", "--replace", f"{name}.bias={folder / 'bias_'}{key}.npy"]
    variant = json.loads((folder / "m.json").read_text())["table"]["variants"][0]
    plain = next(t for t in variant["tensors"] if "table" in t["name"])
    np.save(folder / "table.npy", fresh["table"].reshape(-1)[: int(np.prod(plain["shape"]))].reshape(plain["shape"]) if np.prod(plain["shape"]) == 24
            else np.broadcast_to(fresh["table"].reshape(24), plain["shape"]).astype(np.float32))
    arguments += ["--replace", f"{plain['name']}={folder / 'table.npy'}"]
    must("from-json", folder / "m.json", "-o", folder / "replaced.nsk", *arguments)
    wanted = reference(network(folder / "fresh.onnx", fresh), ["y"], x)[0]
    error = error_of(result(folder / "replaced.nsk", folder, "y"), wanted)
    expect(f"replaced constants compute what a network with them does ({error:.1e})", error < 1e-5)
    np.save(folder / "wrong.npy", fresh["w3"])
    refused("weights in another order", ["[32,3,3,16]"], "from-json", folder / "m.json", "-o", folder / "no.nsk", "--replace", f"{names['w3']}={folder / 'wrong.npy'}")
    refused("a constant that is not there", ["nothing"], "from-json", folder / "m.json", "-o", folder / "no.nsk", "--replace", f"nothing={folder / 'wrong.npy'}")


def other_edits(folder, model, x):
    must("from-json", folder / "m.json", "-o", folder / "renamed.nsk", "--rename", "y=scores", "--rename", "x=image")
    must("run", folder / "renamed.nsk", "--input", f"image={folder / 'x.npy'}", "--output-dir", folder / "renamed")
    expect("renamed ports carry the same numbers", (np.load(folder / "renamed" / "scores.npy") == result(folder / "m.nsk", folder, "y")).all())
    for name in ("cd", "s1"):
        must("from-json", folder / "m.json", "-o", folder / "cut.nsk", "--cut", name)
        wanted = reference(model, [name], x)[0]
        got = result(folder / "cut.nsk", folder, name)
        expect(f"cut at {name}", error_of(got, np.ascontiguousarray(wanted.transpose(0, 2, 3, 1))) < 1e-5)
    refused("a cut at an input", ["no step computes"], "from-json", folder / "m.json", "-o", folder / "no.nsk", "--cut", "x")
    refused("a name that is not there", ["nothing"], "from-json", folder / "m.json", "-o", folder / "no.nsk", "--rename", "nothing=else")

    def wider(variant):
        variant["steps"][0]["op"]["epilogue"]["beta"] = 0.25

    must("from-json", edited(folder, wider), "-o", folder / "clipped.nsk")
    must("from-json", folder / "changed.json", "-o", folder / "cut.nsk", "--cut", "cd")
    weights = WEIGHTS
    clipped = network(folder / "clipped.onnx", weights)
    clipped.graph.node[1].CopyFrom(helper.make_node("Clip", ["c3", "low", "high"], ["r3"]))
    clipped.graph.initializer.extend([numpy_helper.from_array(np.float32(v), n) for n, v in (("low", 0), ("high", 0.25))])
    wanted = reference(clipped, ["y"], x)[0]
    expect("a changed attribute is computed", error_of(result(folder / "clipped.nsk", folder, "y"), wanted) < 1e-5)


def nonsense(folder):
    def change(path, value):
        def apply(variant):
            at = variant
            for key in path[:-1]:
                at = at[key]
            at[path[-1]] = value
        return apply

    window = ["steps", 0, "op", "window"]
    for what, words, path, value in (
            ("an unknown field", ["colour", "There are"], ["steps", 0, "colour"], 1),
            ("an unknown enumerator", ["Conv9D", "Conv2D"], ["steps", 0, "op_type"], "Conv9D"),
            ("a text for a number", ["steps[0].op.window.kernel_h"], [*window, "kernel_h"], "three"),
            ("a number that does not fit", ["cannot hold"], [*window, "kernel_h"], 70000),
            ("a negative length", ["cannot hold"], [*window, "kernel_h"], -1),
            ("a list for a text", ["steps[0].name"], ["steps", 0, "name"], [1]),
            ("a window that leaves the input", ["cannot open"], [*window, "kernel_h"], 99),
            ("a tensor that is not there", ["cannot open"], ["steps", 0, "inputs"], [0, 4000]),
            ("a port without a tensor", ["cannot open"], ["outputs", 0, "tensor"], 4000),
            ("an arena that is too small", ["cannot open"], ["arena_bytes"], 64)):
        refused(what, words, "from-json", edited(folder, change(path, value)), "-o", folder / "no.nsk")
    whole = json.loads((folder / "m.json").read_text())
    (folder / "text.json").write_text(json.dumps({**whole, "weights": "../m.weights"}))
    refused("weights elsewhere", ["plain name"], "from-json", folder / "text.json", "-o", folder / "no.nsk")
    (folder / "text.json").write_text("{ not json")
    refused("no JSON", ["is not JSON"], "from-json", folder / "text.json", "-o", folder / "no.nsk")
    (folder / "text.json").write_text("{}")
    refused("other JSON", ["nsk json"], "from-json", folder / "text.json", "-o", folder / "no.nsk")


def self_tests(folder):
    must("convert", folder / "m.onnx", "-o", folder / "checked.nsk", "--embed-check")
    for isa in ([], ["--isa", "scalar"]):
        must("selftest", folder / "checked.nsk", *isa)
    damaged = bytearray((folder / "checked.nsk").read_bytes())
    weights = int.from_bytes(damaged[32:40], "little")  # docs/reference/file.md
    for at in range(weights, weights + 4096, 4):  # exponents of a panel
        damaged[at + 3] ^= 0x01
    (folder / "damaged.nsk").write_bytes(damaged)
    expect("a damaged weight is found", nsk("selftest", folder / "damaged.nsk").returncode == 3)
    must("json", folder / "checked.nsk", "-o", folder / "checked.json")
    np.save(folder / "zeros.npy", np.zeros(10, np.float32))
    must("from-json", folder / "checked.json", "-o", folder / "fresh.nsk", "--replace", f"{tensor_reading(folder, 'dense', 1)}.bias={folder / 'zeros.npy'}")
    expect("vectors of other constants are gone", nsk("selftest", folder / "fresh.nsk").returncode == 2)
    expect("a file without vectors is refused", nsk("selftest", folder / "m.nsk").returncode == 2)


def overrides(folder, x):
    def algorithm(model):
        return next(s["algorithm"] for s in json.loads(must("inspect", model, "--json"))["variants"][0]["steps"] if "wide" in s["name"])

    step = next(s["name"] for s in json.loads(must("inspect", folder / "m.nsk", "--json"))["variants"][0]["steps"] if "wide" in s["name"])
    for wanted in ("direct", "winograd2", "winograd4"):
        (folder / "o.json").write_text(json.dumps({step: {"algorithm": wanted}}))
        must("convert", folder / "m.onnx", "-o", folder / "chosen.nsk", "--override", folder / "o.json", "--check")
        expect(f"the choice {wanted} is taken", algorithm(folder / "chosen.nsk") == wanted)
    for what, words, text in (("a name that is not there", ["nobody"], {"nobody": {"algorithm": "direct"}}), ("an algorithm that is not there", ["fast"], {step: {"algorithm": "fast"}}),
                              ("an algorithm that does not fit", ["3x3"], {"point+gate": {"algorithm": "winograd4"}})):
        (folder / "o.json").write_text(json.dumps(text))
        refused(what, words, "convert", folder / "m.onnx", "-o", folder / "no.nsk", "--override", folder / "o.json")


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_edits_") as folder:
        folder = pathlib.Path(folder)
        model = network(folder / "m.onnx", WEIGHTS)
        x = rng.standard_normal(SHAPE).astype(np.float32)
        np.save(folder / "x.npy", x)
        must("convert", folder / "m.onnx", "-o", folder / "m.nsk", "--check")
        must("json", folder / "m.nsk", "-o", folder / "m.json")
        count = round_trips(folder)
        replacements(folder, x)
        other_edits(folder, model, x)
        nonsense(folder)
        self_tests(folder)
        overrides(folder, x)
    print(f"{count} models come back byte for byte; edits, self-tests and overrides do what they say".replace(SAID_SKIPPED, ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
