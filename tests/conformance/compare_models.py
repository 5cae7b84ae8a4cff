# SPDX-License-Identifier: MIT
"""Compares the reference evaluator with ONNX Runtime on whole models, on random inputs.

    compare_models.py build/evaluate_reference MODEL.onnx... [--set NAME=VALUE]

Prints, per model, the largest error relative to the largest magnitude of each output. Fails above --tolerance (1e-4), the distance
that single precision puts between ONNX Runtime and a double-precision evaluator.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnxruntime

TYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(bool)": np.bool_}


def make_input(info, settings, rng):
    shape = [d if isinstance(d, int) and d > 0 else 1 for d in info.shape]
    dtype = TYPES[info.type]
    if info.name in settings:
        return np.full(shape, settings[info.name], dtype)
    if np.issubdtype(dtype, np.floating):
        return rng.uniform(-1, 1, shape).astype(dtype)
    return rng.integers(0, 2, shape).astype(dtype)


def compare(program, model, settings, seed):
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(seed)
    inputs = {i.name: make_input(i, settings, rng) for i in session.get_inputs()}
    expected = session.run(None, inputs)
    with tempfile.TemporaryDirectory() as folder:
        words = []
        for position, (name, array) in enumerate(inputs.items()):
            if name in settings:
                words += ["--set", f"{name}={settings[name]}"]
                continue
            file = pathlib.Path(folder) / f"input_{position}.npy"
            np.save(file, array)
            words.append(f"{name}={file}")
        start = time.perf_counter()
        subprocess.run([program, "--resolve", model, folder] + words, check=True)
        seconds = time.perf_counter() - start
        actual = [np.load(pathlib.Path(folder) / f"{i}.npy") for i in range(len(expected))]
    worst = 0.0
    for a, e in zip(actual, expected):
        if a.shape != e.shape:
            raise SystemExit(f"{model}: shape {a.shape}, ONNX Runtime has {e.shape}")
        if not np.isfinite(a).all():
            raise SystemExit(f"{model}: the output is not finite; the comparison would say nothing")
        largest = np.abs(e.astype(np.float64)).max(initial=0)
        difference = np.abs(a.astype(np.float64) - e.astype(np.float64)).max(initial=0)
        worst = max(worst, difference / largest if largest > 0 else difference)
    return worst, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--tolerance", type=float, default=1e-4)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    settings = {name: float(value) for name, value in (s.split("=") for s in options.set)}
    failed = 0
    for model in options.models:
        try:
            worst, seconds = compare(options.program, model, settings, options.seed)
        except subprocess.CalledProcessError as e:
            print(f"{pathlib.Path(model).name:44} FAILED with exit code {e.returncode}")
            failed += 1
            continue
        failed += worst > options.tolerance
        print(f"{pathlib.Path(model).name:44} {worst:9.2e} of the largest magnitude, {seconds:6.2f} s{'' if worst <= options.tolerance else '  WRONG'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
