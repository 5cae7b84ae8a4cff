#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random models with convert --gpu: the variant for GPUs agrees with the CPU's own, on the CPU, and with --device on that device.

    gpu_variants.py build/nsk --count 1000 --seed 1
    gpu_variants.py build/nsk --count 100 --seed 1 --device vulkan --keep failures

A model is refused with --gpu where it is refused without, and nowhere else. On a device every step is within what `nsk check --device` allows;
whole outputs may be further off where the network amplifies rounding.
Exit code 1 where anything was found.
"""
import argparse
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx

sys.dont_write_bytecode = True
import cases  # noqa: E402
from worker import folder_in_memory  # noqa: E402

TOLERANCE = 1e-4  # of the largest magnitude, as nsk check has it
USAGE, REFUSED, CHECK_FAILED = 1, 2, 3


class Tool:
    def __init__(self, program, device):
        self.program, self.device, self.environment = program, device, dict(os.environ, LIBGL_ALWAYS_SOFTWARE="1")
        for driver in pathlib.Path("/usr/share/vulkan/icd.d").glob("lvp_icd.*.json"):
            self.environment.setdefault("VK_ICD_FILENAMES", str(driver))

    def __call__(self, *arguments):
        return subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True, timeout=300, env=self.environment)


def options_of(request):
    """The request of a case as options of nsk convert."""
    options = ["--max-tile-us", max(1.0, request.get("max_tile_us", 100.0))]
    for key, name in (("inputs", "--input"), ("sets", "--set"), ("bounds", "--bound"), ("states", "--state"), ("outputs", "--output-value")):
        for value in request.get(key, []):
            options += [name, value]
    if request.get("batch"):
        options += ["--batch-max", request["batch"]]
    if request.get("dequantize"):
        options.append("--dequantize")
    if not request.get("find_states", True):
        options.append("--no-states")
    return options


def error_of(a, b):
    """Largest difference as a share of the largest magnitude; infinite where one is a number and the other is none."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return np.inf
    a, b = a.astype(np.float64), b.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if same.all():
        return 0.0
    difference = np.abs(a - b)[~same]
    finite = np.abs(b[np.isfinite(b)])
    return np.inf if not np.isfinite(difference).all() else float(difference.max() / max(finite.max(initial=0), 1e-30))


def inputs_of(case, folder, steps):
    arguments = []
    for index, (name, runs) in enumerate(case.feeds.items()):
        path = folder / f"in{index}.npy"
        array = np.stack(runs) if steps > 1 else runs[0]
        np.save(path, array.astype(np.float32) if array.dtype == np.float64 else array)  # files have no inputs in double precision
        arguments += ["--input", f"{name}={path}"]
    return arguments


def outputs_of(nsk, model, variant, case, folder):
    where = folder / variant
    shutil.rmtree(where, ignore_errors=True)
    batch = ["--batch", case.request["rows"]] if case.request.get("rows") else []
    steps = ["--steps", case.runs] if case.runs > 1 else []
    done = nsk("run", model, "--variant", variant, "--output-dir", where, "--seed", 7, *steps, *batch, *inputs_of(case, folder, case.runs))
    return {p.name: np.load(p) for p in sorted(where.glob("*.npy"))} if done.returncode == 0 else done.stderr


def on_device(nsk, model, source, case, folder):
    """(kind, text) of a variant on the device."""
    report = folder / "device.json"
    done = nsk("check", model, "--device", nsk.device, "--quiet", "--json", report, *inputs_of(case, folder, 1))
    if done.returncode == USAGE:
        return "no device", done.stderr.strip()
    if done.returncode == REFUSED:
        return "refused by the device", done.stderr.strip()
    if done.returncode == CHECK_FAILED:
        found = json.loads(report.read_text())
        if found["worst_step_error"] is not None and found["worst_step_error"] <= found["step_tolerance"]:
            return "amplified", ""
        steps = {s["index"]: s["operator"] for s in json.loads(nsk("inspect", model, "--json").stdout)["variants"][-1]["steps"]}
        worst = found["steps"][0]
        return "wrong on the device", f"step {worst['step']} {steps[worst['step']]}: {worst['relative_error']} of {worst['largest_magnitude']:.3g}"
    return ("good", "") if done.returncode == 0 else ("failed", done.stderr)


def examine(nsk, case, folder):
    source, model = folder / "model.onnx", folder / "model.nsk"
    onnx.save(case.model, source)
    options = options_of(case.request)
    converted = nsk("convert", source, "-o", model, "--gpu", "--no-check", "--quiet", *options)
    if converted.returncode != 0:
        plain = nsk("convert", source, "-o", model, "--no-check", "--quiet", *options)
        return ("refused", "") if plain.returncode == converted.returncode == REFUSED else ("refused with --gpu alone", converted.stderr)
    got, wanted = (outputs_of(nsk, model, variant, case, folder) for variant in ("gpu", "default"))
    if isinstance(got, str) or isinstance(wanted, str):
        return "failed", got if isinstance(got, str) else wanted
    worst = max([error_of(got[name], wanted[name]) for name in wanted], default=0)
    if worst > TOLERANCE:  # the network may amplify what Winograd's algorithm rounds: the evaluator decides
        checked = nsk("check", source, model, "--variant", "gpu", "--quiet")
        if checked.returncode != 0:
            return "wrong", f"{worst:.1e} apart; {checked.stderr.strip()}"
    return on_device(nsk, model, source, case, folder) if nsk.device else ("good", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nsk", help="the program")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--family", nargs="+", default=[], help="only families whose name contains one of these")
    parser.add_argument("--device", default="", help="also compare every step on this device")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for what fails")
    arguments = parser.parse_args()
    nsk, kinds, reasons, found = Tool(arguments.nsk, arguments.device), collections.Counter(), collections.Counter(), 0
    folder = folder_in_memory()
    try:
        for seed in range(arguments.seed, arguments.seed + arguments.count):
            case = cases.sample(seed, arguments.family)
            if case.special or case.is_huge:
                kinds["left out, no ordinary numbers"] += 1
                continue
            kind, text = examine(nsk, case, folder)
            kinds[kind] += 1
            if kind == "no device":
                print(f"SKIPPED: {text}")
                return 0
            if kind == "refused by the device":
                reasons[text] += 1
            if kind in ("wrong", "wrong on the device", "failed", "refused with --gpu alone"):
                found += 1
                print(f"seed {seed}, {case.family}: {kind}: {text.strip()[:300]}", flush=True)
                if arguments.keep:
                    shutil.copytree(folder, arguments.keep / f"{case.family}_{seed}", dirs_exist_ok=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for text, count in reasons.most_common():
        print(f"{count:5} {text}")
    print(f"{arguments.count} models: " + ", ".join(f"{n} {k}" for k, n in kinds.most_common()))
    return 1 if found or not kinds["good"] else 0


if __name__ == "__main__":
    sys.exit(main())
