#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recurrent networks against ONNX Runtime: layers with random attributes, loops and branches, voice models chunk by chunk with state.

  recurrent.py layers | flow | voice
"""
import pathlib
import random
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import SAID_SKIPPED, SHARED, error_of, file_name, must, onnx_session  # noqa: E402

TOLERANCE = 1e-4
LAYERS = 150
CHUNKS = 50
FUNCTIONS = {"Sigmoid": 0, "Tanh": 0, "Relu": 0, "Affine": 2, "LeakyRelu": 1, "ThresholdedRelu": 1, "ScaledTanh": 2, "HardSigmoid": 2,
             "Elu": 1, "Softsign": 0, "Softplus": 0}
# Voice models: (file, options, shape of a chunk, other inputs, states)
VOICES = [
    ("silero_vad_16k_op15.onnx", ["--input", "state=2x1x128"], 576, {"sr": 16000}, {"state": ("stateN", (2, 1, 128))}),
    ("silero_vad_v5.onnx", ["--input", "state=2x1x128"], 576, {"sr": 16000}, {"state": ("stateN", (2, 1, 128))}),
    ("silero_vad_op18_ifless.onnx", ["--input", "state=2x1x128"], 576, {"sr": 16000}, {"state": ("stateN", (2, 1, 128))}),
    ("silero_vad_legacy.onnx", ["--input", "h=2x1x64", "--input", "c=2x1x64"], 512, {"sr": 16000}, {"h": ("hn", (2, 1, 64)), "c": ("cn", (2, 1, 64))}),
]


def floats(generator, *shape, scale=1.0):
    return (generator.uniform(-scale, scale, shape)).astype(np.float32)


def random_layer(seed):
    """(model, inputs): one LSTM, GRU or RNN node with random attributes."""
    choose, numbers = random.Random(seed), np.random.default_rng(seed)
    op = choose.choice(["LSTM", "GRU", "RNN"])
    gates, functions = {"LSTM": (4, 3), "GRU": (3, 2), "RNN": (1, 1)}[op]
    direction = choose.choice(["forward", "reverse", "bidirectional"])
    d = 2 if direction == "bidirectional" else 1
    t, b, i, h = choose.randint(1, 6), choose.choice([1, 1, 2, 3, 9]), choose.randint(1, 20), choose.choice([1, 3, 8, 16, 17, 32, 40])
    attributes = {"hidden_size": h, "direction": direction}
    if choose.random() < 0.3:
        names = [choose.choice(list(FUNCTIONS)) for _ in range(functions)] * d
        attributes["activations"] = names
        attributes["activation_alpha"] = [0.3 for n in names if FUNCTIONS[n] > 0]
        attributes["activation_beta"] = [0.5 for n in names if FUNCTIONS[n] > 1]
        attributes = {k: v for k, v in attributes.items() if v != []}
    if choose.random() < 0.3:
        attributes["clip"] = 0.7
    if op == "GRU":
        attributes["linear_before_reset"] = choose.randint(0, 1)
    if op == "LSTM":
        attributes["input_forget"] = int(choose.random() < 0.2)
    scale = 1 / np.sqrt(h)
    constants = {"W": floats(numbers, d, gates * h, i, scale=0.5), "R": floats(numbers, d, gates * h, h, scale=scale)}
    live = {"X": floats(numbers, t, b, i)}
    names = ["X", "W", "R", "", "", ""]
    if choose.random() < 0.7:
        constants["B"], names[3] = floats(numbers, d, 2 * gates * h, scale=0.5), "B"
    if choose.random() < 0.3:
        live["L"], names[4] = numbers.integers(1, t + 1, b).astype(np.int32), "L"
    if choose.random() < 0.5:
        live["H"], names[5] = floats(numbers, d, b, h), "H"
    if op == "LSTM":
        names += ["", ""]
        if choose.random() < 0.5:
            live["C"], names[6] = floats(numbers, d, b, h), "C"
        if choose.random() < 0.4:
            constants["P"], names[7] = floats(numbers, d, 3 * h), "P"
    outputs = ["Y", "Y_h", "Y_c"][:3 if op == "LSTM" else 2]
    shapes = {"Y": [t, d, b, h], "Y_h": [d, b, h], "Y_c": [d, b, h]}
    kept = [o if choose.random() < 0.8 else "" for o in outputs]
    if not any(kept):
        kept[0] = "Y"
    node = helper.make_node(op, names, kept, **attributes)
    info = lambda n, a: helper.make_tensor_value_info(n, TensorProto.INT32 if a.dtype == np.int32 else TensorProto.FLOAT, a.shape)
    graph = helper.make_graph([node], "layer", [info(n, a) for n, a in live.items()],
                              [helper.make_tensor_value_info(o, TensorProto.FLOAT, shapes[o]) for o in kept if o],
                              [numpy_helper.from_array(a, n) for n, a in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8), live


def compare(folder, name, model, inputs, tolerance=TOLERANCE):
    """Worst error against ONNX Runtime, which refuses what it does not know."""
    source, target = folder / "model.onnx", folder / "model.nsk"
    onnx.save(model, source)
    session = onnx_session(source)
    wanted = session.run(None, inputs)
    must("convert", source, "-o", target, "--check", "--no-states")
    arguments = []
    for key, value in inputs.items():
        np.save(folder / f"{key}.npy", value)
        arguments += ["--input", f"{key}={folder / f'{key}.npy'}"]
    must("run", target, *arguments, "--output-dir", folder / "out")
    worst = 0.0
    for output, want in zip(session.get_outputs(), wanted):
        worst = max(worst, error_of(np.load(folder / "out" / file_name(output.name)), want))
    if worst > tolerance:
        raise SystemExit(f"{name}: {worst:.1e} from ONNX Runtime\n{helper.printable_graph(model.graph)}")
    return worst


def layers(folder):
    worst = 0.0
    for seed in range(LAYERS):
        model, inputs = random_layer(seed)
        worst = max(worst, compare(folder, f"layer {seed}", model, inputs))
    print(f"{LAYERS} layers within {worst:.1e} of ONNX Runtime")


def branch(name, op):
    return helper.make_graph([helper.make_node(op, ["x"], [name])], name, [], [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3])])


def flow_model(nodes, inputs, outputs, constants=()):
    info = lambda n, kind, shape: helper.make_tensor_value_info(n, kind, shape)
    graph = helper.make_graph(nodes, "flow", [info(*i) for i in inputs], [info(*o) for o in outputs], list(constants))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)


def flow(folder):
    x = np.linspace(-1, 2, 6, dtype=np.float32).reshape(2, 3)
    for taken in (False, True):
        node = helper.make_node("If", ["c"], ["y"], then_branch=branch("a", "Relu"), else_branch=branch("b", "Neg"))
        model = flow_model([node], [("x", TensorProto.FLOAT, [2, 3]), ("c", TensorProto.BOOL, [])], [("y", TensorProto.FLOAT, [2, 3])])
        compare(folder, "If", model, {"x": x, "c": np.array(taken)})
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["go_on"]), helper.make_node("Tanh", ["s"], ["t"]), helper.make_node("Add", ["t", "x"], ["next"]),
         helper.make_node("Identity", ["next"], ["seen"])], "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("go", TensorProto.BOOL, []),
         helper.make_tensor_value_info("s", TensorProto.FLOAT, [2, 3])],
        [helper.make_tensor_value_info("go_on", TensorProto.BOOL, []), helper.make_tensor_value_info("next", TensorProto.FLOAT, [2, 3]),
         helper.make_tensor_value_info("seen", TensorProto.FLOAT, [2, 3])])
    model = flow_model([helper.make_node("Loop", ["n", "", "x"], ["last", "all"], body=body)], [("x", TensorProto.FLOAT, [2, 3])],
                       [("last", TensorProto.FLOAT, [2, 3]), ("all", TensorProto.FLOAT, [7, 2, 3])], [numpy_helper.from_array(np.int64(7), "n")])
    compare(folder, "Loop", model, {"x": x})
    print("If, Loop: as ONNX Runtime")


def voice(folder):
    models = [v for v in VOICES if (SHARED / "audio" / v[0]).exists()]
    if not models:
        print(f"{SAID_SKIPPED} there are no voice models in {SHARED / 'audio'}")
        return
    for file, options, length, constants, states in models:
        source, target = SHARED / "audio" / file, folder / "voice.nsk"
        sets = [w for k, v in constants.items() for w in ("--set", f"{k}={v}")]
        said = must("convert", source, "-o", target, "--input", f"input=1x{length}", *options, *sets, "--check")
        for before, (after, _) in states.items():
            if f"from {after}" not in said:
                raise SystemExit(f"{file}: {before} is no state\n{said}")
        time = np.arange(CHUNKS * length, dtype=np.float32) / 16000
        tone = np.sin(2 * np.pi * (150 + 80 * np.sin(3 * time)) * time) * (np.sin(2 * time) > 0) * 0.4
        noise = np.random.default_rng(1).normal(0, 0.02, tone.shape)
        chunks = (tone + noise).astype(np.float32).reshape(CHUNKS, 1, length)
        np.save(folder / "chunks.npy", chunks)
        must("run", target, "--input", f"input={folder / 'chunks.npy'}", "--steps", CHUNKS, "--output-dir", folder / "out")
        got = np.load(folder / "out" / "output.npy")
        session = onnx_session(source)
        memory = {k: np.zeros(shape, np.float32) for k, (_, shape) in states.items()}
        wanted = []
        for chunk in chunks:
            results = dict(zip([o.name for o in session.get_outputs()],
                               session.run(None, {"input": chunk, **{k: np.array(v, np.int64) for k, v in constants.items()}, **memory})))
            wanted.append(results["output"])
            memory = {k: results[after] for k, (after, _) in states.items()}
        worst = float(np.abs(got - np.stack(wanted)).max())
        print(f"{file}: {CHUNKS} chunks with state within {worst:.1e}; probabilities {got.min():.3f} to {got.max():.3f}")
        if worst > TOLERANCE:
            raise SystemExit("too far")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="nsk_recurrent_") as directory:
        {"layers": layers, "flow": flow, "voice": voice}[sys.argv[1]](pathlib.Path(directory))
