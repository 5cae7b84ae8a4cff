#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small files: what `nsk convert --small` writes is hardly larger than its source, whatever that stores (float32, float16, bytes, zeros that it
leaves out), and expands to the bytes of the file without --small, by every build of the engine; commands take it in its place.

  small_files.py [NAME]...       paths below the folder of models; all by default
"""
import json
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import SAID_SKIPPED, SHARED, must, nsk, told  # noqa: E402

MAX_RATIO = 1.05
SHAPES = {"ch_PP-OCRv4_det_infer": ["--input", "x=1x3x160x160"], "ch_ppocr_mobile_v2.0_cls_infer": ["--input", "x=1x3x48x192"],
          "silero_vad_16k_op15": ["--input", "input=1x512", "--set", "sr=16000"], "silero_vad_v5": ["--input", "input=1x512", "--set", "sr=16000"]}


def check_pair(source, options, folder, failures):
    """Converts both ways. Returns the sizes of source, file and small file; None where the source does not convert."""
    large, small, expanded = folder / "large.nsk", folder / "small.nsk", folder / "expanded.nsk"
    done = nsk("convert", source, "-o", large, *options, "--no-check", "--quiet")
    if done.returncode != 0:
        print(f"{source.name} is refused: {done.stderr.strip()[:100]}")
        return None
    must("convert", source, "-o", small, *options, "--small", "--no-check", "--quiet")
    must("prepare", small, "-o", expanded, "--quiet")
    if expanded.read_bytes() != large.read_bytes():
        failures.append(f"{source.name}: the small file expands to other bytes than those of the file without --small")
    sizes = [p.stat().st_size for p in (source, large, small)]
    if sizes[2] > MAX_RATIO * sizes[0]:
        failures.append(f"{source.name}: the small file has {sizes[2]} bytes, {sizes[2] / sizes[0]:.3f} of the source's {sizes[0]}")
    return sizes


def shared_models(names, folder, failures):
    if not SHARED.exists():
        print(f"{SAID_SKIPPED} {SHARED} does not exist; set NSK_MODELS to a folder of models")
        return
    sources = [SHARED / name for name in names] or sorted(p for p in SHARED.rglob("*") if p.suffix in (".onnx", ".tflite"))
    total = [0, 0, 0]
    for source in sources:
        sizes = check_pair(source, SHAPES.get(source.stem, []), folder, failures)
        if sizes is None:
            continue
        total = [a + b for a, b in zip(total, sizes)]
        print(f"{source.name}: {sizes[1] / sizes[0]:.2f} of the source, small {sizes[2] / sizes[0]:.3f}")
    if total[0]:
        print(f"all: {total[0] / 1e6:.1f} MB of sources, {total[1] / 1e6:.1f} MB of files, {total[2] / 1e6:.1f} MB of small files")


def convolutions(path, weights, stored=None):
    """A 3x3 and a 1x1 convolution of 64 channels; `stored` makes nodes and constants that give the weights."""
    nodes, constants = [], []
    for i, w in enumerate(weights):
        if stored:
            stored(f"w{i}", w, nodes, constants)
        else:
            constants.append(numpy_helper.from_array(w, f"w{i}"))
        nodes.append(helper.make_node("Conv", ["x" if i == 0 else f"y{i - 1}", f"w{i}"], [f"y{i}"], pads=[w.shape[2] // 2] * 4))
    ports = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 64, 32, 32])], [helper.make_tensor_value_info("y1", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "convolutions", *ports, constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    return path


def half(name, w, nodes, constants):
    constants.append(numpy_helper.from_array(w.astype(np.float16), name + "h"))
    nodes.append(helper.make_node("Cast", [name + "h"], [name], to=TensorProto.FLOAT))


def byte(name, w, nodes, constants):
    scale = (np.abs(w).max(axis=(1, 2, 3)) / 127).astype(np.float32)
    constants.append(numpy_helper.from_array(np.rint(w / scale.reshape(-1, 1, 1, 1)).astype(np.int8), name + "q"))
    constants.append(numpy_helper.from_array(scale, name + "s"))
    constants.append(numpy_helper.from_array(np.zeros(len(scale), np.int8), name + "z"))
    nodes.append(helper.make_node("DequantizeLinear", [name + "q", name + "s", name + "z"], [name], axis=0))


def policy(path):
    """A network of which nearly all is names and steps: a dense layer, and a mask, logarithms and a choice of actions behind it."""
    random = np.random.default_rng(10)
    constants = [numpy_helper.from_array(random.standard_normal(shape).astype(np.float32), name) for name, shape in
                 (("policy.layers.0.weight", (12, 6)), ("policy.layers.0.bias", (12,)), ("one", (1,)))]
    steps = (("Gemm", ["observation", "policy.layers.0.weight", "policy.layers.0.bias"], "logits", {"transB": 1}), ("Sigmoid", ["logits"], "gates", {}),
             ("Mul", ["logits", "gates"], "gated", {}), ("Sub", ["one", "action_mask"], "forbidden", {}), ("Sub", ["gated", "forbidden"], "masked_logits", {}),
             ("Softmax", ["masked_logits"], "probabilities", {"axis": 1}), ("Log", ["probabilities"], "log_probabilities", {}),
             ("ArgMax", ["log_probabilities"], "deterministic_actions", {"axis": 1}))
    nodes = [helper.make_node(op, inputs, [output], f"{op}_{i}", **attributes) for i, (op, inputs, output, attributes) in enumerate(steps)]
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, n]) for name, n in (("observation", 6), ("action_mask", 12))]
    outputs = [helper.make_tensor_value_info("log_probabilities", TensorProto.FLOAT, [1, 12]), helper.make_tensor_value_info("deterministic_actions", TensorProto.INT64, [1, 1])]
    onnx.save(helper.make_model(helper.make_graph(nodes, "policy", inputs, outputs, constants), opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    return path


def without_defaults(folder, failures):
    """A table has no field that says what its absence says: of a network of few weights that is what its file consists of."""
    must("convert", policy(folder / "policy.onnx"), "-o", folder / "policy.nsk", "--quiet")
    must("json", folder / "policy.nsk", "-o", folder / "policy.json")
    variant = json.loads((folder / "policy.json").read_text())["table"]["variants"][0]
    defaults = [f"'{field}' of the variant" for field in ("profile", "states") if variant.get(field) in ("", [])]
    defaults += [f"the halo of '{t['name']}'" for t in variant["tensors"] if "halo" in t and not any(t["halo"].values())]
    defaults += [f"the epilogue of '{s['name']}'" for s in variant["steps"] if s["op"].get("epilogue") == {}]
    if defaults or not any("epilogue" in s["op"] for s in variant["steps"]):
        failures.append(f"a table stores {', '.join(defaults) or 'no epilogue at all'}")


KNOWN = ["--input-range", "x=-4..4"]  # so that a layer that reads the input is Winograd's


def stored_in_each_way(folder, failures):
    """Weights as float32, float16, int8, and mostly zeros, in a Winograd and a direct layer: each small file has what its source has."""
    random = np.random.default_rng(8)
    weights = [random.standard_normal((64, 64, k, k)).astype(np.float32) / 8 for k in (3, 1)]
    sparse = [w * (random.random(w.shape) < 0.2) for w in weights]
    numbers = sum(w.size for w in weights)
    for name, values, stored, expected in (("float32", weights, None, 4), ("float16", weights, half, 2), ("int8", weights, byte, 1), ("sparse", sparse, None, 0.2 * 4 + 1 / 8)):
        source = convolutions(folder / f"{name}.onnx", [w.astype(np.float32) for w in values], stored)
        small = check_pair(source, KNOWN, folder, failures)[2]
        print(f"{name}: {small} bytes for {numbers} weights")
        if not numbers * expected <= small <= numbers * expected * 1.04 + 3000:
            failures.append(f"weights of {name}: {small} bytes, expected {numbers * expected:.0f} and a little")


def in_place_of_the_other(folder, failures):
    """Commands take a small file, each engine gives the same outputs, and --check and --embed-check go with --small."""
    random = np.random.default_rng(9)
    source = convolutions(folder / "net.onnx", [random.standard_normal((64, 64, k, k)).astype(np.float32) / 8 for k in (3, 1)])
    large, small = folder / "a.nsk", folder / "b.nsk"
    must("convert", source, "-o", large, "--embed-check", "--check", "--quiet", *KNOWN)
    text = must("convert", source, "-o", small, "--embed-check", "--check", "--small", *KNOWN)
    if f"expands it to {large.stat().st_size:,} bytes" not in text:
        failures.append(f"convert --small does not say what the file expands to:\n{text}")
    np.save(folder / "x.npy", random.standard_normal((1, 64, 32, 32)).astype(np.float32))
    outputs = set()
    for model in (large, small):
        for isa in ("", "scalar"):
            must("run", model, "--input", f"x={folder / 'x.npy'}", "--output-dir", folder / "out", *(["--isa", isa] if isa else []), "--quiet")
            outputs.add(np.load(folder / "out" / "y1.npy").tobytes())
    if len(outputs) != 1:
        failures.append("outputs of the small file differ")
    must("selftest", small)
    must("check", source, small)
    shown = must("inspect", small)
    if "kernels in float32, for Winograd's algorithms" not in shown or "small " not in shown:
        failures.append(f"inspect does not say which bytes buy what:\n{shown[:500]}")
    done = nsk("prepare", large, "-o", folder / "c.nsk")
    if done.returncode != 2 or "no small file" not in done.stderr or (folder / "c.nsk").exists():
        failures.append(f"prepare of a file that is not small: {done.returncode} {done.stderr}")
    damaged = bytearray(small.read_bytes())
    damaged[64] = 77  # the kind of its first part
    (folder / "d.nsk").write_bytes(damaged)
    for command in (["inspect", folder / "d.nsk"], ["prepare", folder / "d.nsk", "-o", folder / "e.nsk"]):
        done = nsk(*command)
        if done.returncode != 2 or "bad_part" not in done.stderr or (folder / "e.nsk").exists():
            failures.append(f"{command[0]} of a damaged small file: {done.returncode} {done.stderr}")


def main():
    failures = []
    with tempfile.TemporaryDirectory(prefix="nsk_small_") as folder:
        folder = pathlib.Path(folder)
        without_defaults(folder, failures)
        stored_in_each_way(folder, failures)
        in_place_of_the_other(folder, failures)
        shared_models(sys.argv[1:], folder, failures)
    return told(failures)


if __name__ == "__main__":
    sys.exit(main())
