# SPDX-License-Identifier: MIT
"""Composes random networks of the operators that import, converts and runs them, and compares with ONNX Runtime.

    random_graphs.py --nsk build/nsk --count 200 --seed 1

Layouts, views, borders, concatenations in place and fusions meet here in combinations that no model has. A network may be refused (exit
code 2); a result that differs, another exit code or a crash is wrong, and its model is kept. Ends with 'N passed, N failed'.
"""
import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

from random_network import STEPS, Network

TOLERANCE = 1e-4  # of the largest magnitude of an output


def compose(seed):
    rng = random.Random(seed)
    net = Network(rng)
    shape = (rng.choice([1, 1, 2]), rng.choice([1, 3, 4, 8, 12]), rng.randrange(3, 15), rng.randrange(3, 15))
    net.values["x"] = shape
    for _ in range(rng.randrange(3, 22)):
        rng.choice(STEPS)(net)
        if net.values and max(np.prod(s) for s in net.values.values()) > 200000:
            break
    used = {i for n in net.nodes for i in n.input}
    outputs = [n for n in net.values if n != "x" and (n not in used or rng.random() < 0.1)]
    if not outputs:
        return None
    info = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, net.values[name])
    graph = helper.make_graph(net.nodes, "random", [info("x")], [info(o) for o in outputs], net.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.checker.check_model(model)
    return model, shape, outputs


def check(nsk, seed, folder):
    """Returns 'pass', 'refused: why' or 'WRONG: why'."""
    made = compose(seed)
    if made is None:
        return "pass"
    model, shape, outputs = made
    source, target = folder / f"random_{seed}.onnx", folder / "random.nsk"
    onnx.save(model, source)
    x = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    np.save(folder / "x.npy", x)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL  # its pad fusion changes max pooling
    try:
        expected = onnxruntime.InferenceSession(model.SerializeToString(), options).run(outputs, {"x": x})
    except Exception as e:  # the peer refuses it: nothing to compare with
        source.unlink()
        return f"refused: ONNX Runtime: {str(e)[:100]}"
    for command in ([nsk, "convert", source, "-o", target, "--quiet"], [nsk, "run", target, "--input", f"x={folder / 'x.npy'}", "--output-dir", folder / "out"]):
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=300)
        if done.returncode == 2 and command[1] == "convert" and "cannot open" not in done.stderr:
            source.unlink()
            return f"refused: {done.stderr.strip()}"
        if done.returncode != 0:
            return f"WRONG: {command[1]} exits with {done.returncode}: {done.stderr.strip()[:300]}"
    for name, want in zip(outputs, expected):
        got = np.load(folder / "out" / f"{name}.npy")
        if got.shape != want.shape:
            return f"WRONG: {name} has shape {got.shape}, not {want.shape}"
        same = (got == want) | (np.isnan(got) & np.isnan(want))  # infinities and NaN included
        error = np.max(np.where(same, 0, np.abs(got.astype(np.float64) - want)), initial=0)
        if not error <= TOLERANCE * max(np.max(np.abs(want), initial=0), 1e-3):
            return f"WRONG: {name} differs by {error:g}, its largest magnitude is {np.max(np.abs(want)):g}"
    source.unlink()
    return "pass"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nsk", required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the models that fail")
    arguments = parser.parse_args()
    passed = refused = failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for seed in range(arguments.seed, arguments.seed + arguments.count):
            result = check(arguments.nsk, seed, folder)
            passed += result == "pass"
            refused += result.startswith("refused")
            failed += result.startswith("WRONG")
            if result != "pass":
                print(f"seed {seed}: {result}", flush=True)
    print(f"{refused} refused with a reason")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
