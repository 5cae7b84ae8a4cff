#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ONNX models that people ship (shared/models/public) by `-o` alone, against ONNX Runtime: one that its optimiser saved, one of an old exporter, an
agent without an observation, learned motion matching, a policy, a classifier of faces."""
import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import SAID_SKIPPED, SHARED, nsk, plain_session, results_of, told  # noqa: E402

TOLERANCE = 3e-5  # of the largest magnitude of an output
RANGES = {"style_mosaic_image_scaler": (0, 255)}  # an image: of noise from -1 to 1 ONNX Runtime's own two levels make 3e-4 apart
TYPES = {"tensor(float)": np.float32, "tensor(int64)": np.int64}


def compare(source, folder):
    """What is wrong, or None."""
    done = nsk("convert", source, "-o", folder / "m.nsk")
    if done.returncode:
        return f"exit {done.returncode}: {done.stderr.strip()[:300]}"
    session, random, inputs = plain_session(source), np.random.default_rng(7), {}
    for port in session.get_inputs():
        shape = [d if isinstance(d, int) else 1 for d in port.shape]
        inputs[port.name] = random.uniform(*RANGES.get(source.stem, (-1, 1)), shape).astype(TYPES[port.type])
    result = results_of(folder / "m.nsk", {n: a for n, a in inputs.items() if a.size}, folder)  # the file has no inputs without elements
    for port, theirs in zip(session.get_outputs(), session.run(None, inputs)):
        if port.name == "continuous_actions":
            continue  # an agent samples them
        ours = result(port.name)
        if ours.shape != theirs.shape:
            return f"{port.name}: {ours.shape}, not {theirs.shape}"
        error = np.abs(ours.astype(np.float64) - theirs).max() / max(np.abs(theirs).max(), 1e-6)
        print(f"{source.name}, {port.name}: {error:.1e}")
        if not error <= TOLERANCE:
            return f"{port.name}: {error:.1e} of the largest magnitude"
    return None


def main():
    sources = sorted((SHARED / "public").glob("*.onnx"))
    if not sources:
        print(f"{SAID_SKIPPED} {SHARED / 'public'} has no models")
        return 0
    failures = []
    with tempfile.TemporaryDirectory(prefix="nsk_public_") as folder:
        for source in sources:
            failure = compare(source, pathlib.Path(folder))
            failures += [f"{source.name}: {failure}"] if failure else []
    return told(failures)


if __name__ == "__main__":
    sys.exit(main())
