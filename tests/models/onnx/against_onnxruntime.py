#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One model through the command line, as a user would: convert --check, run, compare with ONNX Runtime.

  against_onnxruntime.py NAME      (names: models.py)
Passes when every output is within 1e-4 of its largest magnitude, the argmax along the last axis is equal wherever it is decided, and no
transpose is left in the plan of a convolutional network. Where the two differ by more, double precision decides: the reference evaluator
on the same inputs must be within 1e-4 of netsuke's outputs.
"""
import json
import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import NOT_CONVOLUTIONAL, convert_options, error_of, file_name, must, onnx_session, path_of, random_inputs  # noqa: E402

TOLERANCE = 1e-4
RUNS = 2


def argmax_differs(got, wanted):
    """Rows whose largest element is another one, by more than rounding."""
    if wanted.ndim == 0 or wanted.shape[-1] < 2:
        return 0
    flat_got, flat_wanted = got.reshape(-1, got.shape[-1]), wanted.reshape(-1, wanted.shape[-1])
    mine, theirs = flat_got.argmax(-1), flat_wanted.argmax(-1)
    rows = np.arange(len(mine))
    decided = flat_wanted[rows, theirs] - flat_wanted[rows, mine] > 1e-5 * max(1e-30, float(np.abs(wanted).max()))
    return int(np.sum((mine != theirs) & decided))


def confirmed_by_reference(source, model, folder, arguments):
    """Largest error of the outputs against the reference evaluator in double precision, on the same inputs."""
    must("check", source, model, *arguments, "--json", folder / "check.json")
    return max(o["relative_error"] for o in json.loads((folder / "check.json").read_text())["outputs"])


def compare_run(name, source, session, model, folder, seed, options):
    inputs = random_inputs(session, seed, name)
    arguments = []
    for index, (key, value) in enumerate(inputs.items()):
        np.save(folder / f"in{index}.npy", value)
        arguments += ["--input", f"{key}={folder / f'in{index}.npy'}"]
    must("run", model, *arguments, "--output-dir", folder / "out", *options)
    worst, changed = 0.0, 0
    for output, wanted in zip(session.get_outputs(), session.run(None, inputs)):
        got = np.load(folder / "out" / file_name(output.name))
        worst = max(worst, error_of(got, wanted))
        changed += argmax_differs(got, wanted)
    if worst > TOLERANCE or changed:
        peer, worst = worst, confirmed_by_reference(source, model, folder, arguments)
        print(f"ONNX Runtime differs by {peer:.1e} and in {changed} rows' argmax, double precision by {worst:.1e}")
    return worst


def main(name):
    source = path_of(name)
    if source is None:
        return 0
    session = onnx_session(source)
    with tempfile.TemporaryDirectory(prefix="nsk_models_") as folder:
        folder = pathlib.Path(folder)
        model, report = folder / "model.nsk", folder / "report.json"
        print(must("convert", source, "-o", model, *convert_options(session, name), "--check", "--json", report).strip())
        left = json.loads(report.read_text())["variants"][0]["transposes_left"]
        worst = 0.0
        for seed in range(RUNS):
            worst = max(worst, compare_run(name, source, session, model, folder, seed, ["--lanes", 1 + seed * 2, "--trace", folder / "trace.json"]))
        events = json.loads((folder / "trace.json").read_text())["traceEvents"]
        if not any(e.get("args", {}).get("macs") for e in events):
            raise SystemExit("the trace has no step with MACs")
        must("inspect", model)
    print(f"{name}: within {worst:.1e} of the largest magnitude of ONNX Runtime's outputs; transposes left: {len(left)}")
    return 1 if worst > TOLERANCE or (left and name not in NOT_CONVOLUTIONAL) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
