# SPDX-License-Identifier: MIT
"""From a seed to a case, and cases as folders."""
import json
import random
import tempfile

import numpy as np
import onnx
import onnxruntime

import behind
import chosen
import classic
import computed
import elementwise
import flow
import fused
import known
import lists
import matrices
import moves
import networks
import normalizations
import others
import patterns
import quantised
import recurrent
import reductions
import resizing
import stored
import windows
from examine import Case
from net import Net, Unfit

MODULES = [elementwise, windows, reductions, moves, matrices, resizing, normalizations, patterns, recurrent, flow, quantised, stored, fused, lists, networks, others, classic, computed, chosen, behind]
FAMILIES = {f"{m.__name__}.{name}": made for m in MODULES for name, made in m.FAMILIES.items()}
ATTEMPTS = 60


def sample(seed, wanted=()):
    """The model of a seed: deterministic, whatever was sampled before. `wanted`: parts of names of families; empty: all."""
    names = [n for n in FAMILIES if not wanted or any(w in n for w in wanted)]
    if not names:
        raise SystemExit(f"no family's name contains {' or '.join(wanted)}; the families are {', '.join(sorted(FAMILIES))}")
    for attempt in range(ATTEMPTS):
        rng = random.Random(f"{seed} {attempt}")
        family = rng.choices(names, [FAMILIES[n][0] for n in names])[0]
        net = Net(rng.randrange(1 << 60), runs=rng.choice([1, 1, 2]))
        try:
            FAMILIES[family][1](net)
            vary_request(net)
            return case_of(net, family)
        except (Unfit, IndexError, ValueError):  # the last two: what a family samples of a shape that has no axes or elements
            continue
    raise RuntimeError(f"no model of seed {seed} fits")


def vary_request(net):
    """Options of the conversion that change the plan, and nothing that is computed."""
    net.request["max_tile_us"] = net.choice([100.0, 100.0, 5.0, 0.05])
    net.request["winograd"] = net.chance(0.85)
    net.request["check"] = net.chance(0.3)
    if net.chance(0.04):
        bind_input(net)
    elif net.chance(0.12):
        open_batch(net)
    elif net.chance(0.08):
        open_axes(net)


def bind_input(net):
    """--set: an input becomes a constant of one number."""
    candidates = [n for n, runs in net.feeds.items() if runs[0].dtype == np.float32]
    if len(net.feeds) > 1 and candidates and net.twin is None:
        name = net.choice(candidates)
        value = net.choice([0.0, 1.0, 0.5, -2.0])
        net.sets[name] = (value, net.shapes[name], np.float32)
        net.request["sets"] = [f"{name}={value}"]
        del net.feeds[name]


def open_axes(net):
    """--input: any axes of the inputs are open, and bound at conversion."""
    inputs = {name: runs[0].shape for name, runs in net.feeds.items() if runs[0].ndim}
    if net.twin or net.state_inputs or any(d == 0 for shape in inputs.values() for d in shape):
        return
    net.request["open"] = [[name, axis] for name, shape in inputs.items() for axis in range(len(shape)) if net.chance(0.5)]
    net.request["inputs"] = [name + "=" + "x".join(map(str, shape)) for name, shape in inputs.items()]


def open_batch(net):
    """--batch-max: the first axis of every input is open, and a run computes some of its rows."""
    lengths = {runs[0].shape[:1] for runs in net.feeds.values()}
    if len(lengths) != 1 or () in lengths or net.state_inputs or net.twin or min(lengths) < (2,):
        return
    rows = lengths.pop()[0]
    net.request["batch"] = rows
    net.request["rows"] = net.rng.randrange(1, rows + 1)
    net.request["open"] = [[name, 0] for name in net.feeds]


def case_of(net, family):
    request = {"runs": net.runs, **net.request}
    model = net.model()
    special = net.special
    if special and len(net.nodes) > 1 and not known.CLAMPS.isdisjoint(n.op_type for n in net.nodes):
        special = False
        net.feeds = {n: [tamed(a) for a in runs] for n, runs in net.feeds.items()}
    twin = net.twin.model() if net.twin else None
    if net.optimises and not twin and not net.functions:
        model, twin = optimised(model), model
    return Case(model, net.feeds, request, family, twin, special, net.state_shapes, net.sets, net.bounded)


def optimised(model):
    """The model as ONNX Runtime saves it at its extended level; as it is where it does not take it."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.log_severity_level = 4
    with tempfile.TemporaryDirectory() as folder:
        options.optimized_model_filepath = f"{folder}/optimised.onnx"
        try:
            onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        except Exception:  # its exceptions have no common base
            return model
        return onnx.load(options.optimized_model_filepath)


def tamed(array):
    """Without what a clamp makes another number of, and without what overflows on the way there."""
    if array.dtype != np.float32:
        return array
    return np.where(np.isfinite(array) & (np.abs(array) < 1e4), array, np.float32(0.5)).astype(np.float32)


def save(case, verdict, folder):
    """Writes the model, the inputs and what is wrong; read again by load."""
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(case.model, folder / "model.onnx")
    if case.twin:
        onnx.save(case.twin, folder / "twin.onnx")
    (folder / "model.txt").write_text(onnx.printer.to_text(case.model))
    for index, (name, runs) in enumerate(case.feeds.items()):
        np.save(folder / f"in{index}.npy", np.stack(runs))
    sets = {n: [v, list(s), np.dtype(d).name] for n, (v, s, d) in case.sets.items()}
    text = {"request": case.request, "feeds": list(case.feeds), "family": case.family, "special": case.special, "bounded": case.bounded,
            "state_shapes": {n: list(s) for n, s in case.state_shapes.items()}, "sets": sets, "kind": verdict.kind, "text": verdict.text}
    (folder / "case.json").write_text(json.dumps(text, indent=1) + "\n")


def load(folder):
    twin = folder / "twin.onnx"
    text = json.loads((folder / "case.json").read_text())
    feeds = {name: list(np.load(folder / f"in{index}.npy")) for index, name in enumerate(text["feeds"])}
    sets = {n: (v, s, np.dtype(d)) for n, (v, s, d) in text["sets"].items()}
    return Case(onnx.load(folder / "model.onnx"), feeds, text["request"], text["family"], onnx.load(twin) if twin.exists() else None, text["special"], text["state_shapes"], sets, text.get("bounded", {}))
