#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How small MobileNetV2 becomes: its file in int8 and float16, and the memory of a session in int8, against float32."""
import json
import pathlib
import sys
import tempfile

import numpy as np

from models import SAID_SKIPPED, SHARED, must, told

SOURCE = SHARED / "bench" / "mobilenet_v2.onnx"
failures = []


def measured(model):
    """Bytes of the file, and of the memory that a session of one lane needs."""
    arena = json.loads(must("inspect", model, "--json"))["variants"][0]["arena"]
    return {"file": model.stat().st_size, "arena": arena["bytes"]}


def expect_maximum(limit, what, small, large):
    print(f"  {what}: {small} bytes, {small / large:.3f} of float32")
    if small > limit * large:
        failures.append(f"{what}: {small / large:.3f} of float32, at most {limit}")


def main():
    if not SOURCE.exists():
        print(f"{SAID_SKIPPED} {SOURCE} is not on this machine")
        return 0
    with tempfile.TemporaryDirectory(prefix="nsk_sizes_") as name:
        folder = pathlib.Path(name)
        samples = folder / "samples"
        samples.mkdir()
        for i in range(2):
            np.save(samples / f"{i}.npy", np.random.default_rng(i).uniform(-1, 1, (1, 3, 224, 224)).astype(np.float32))
        quiet = ["--quiet", "--no-check"]
        must("convert", SOURCE, "-o", folder / "float.nsk", *quiet)
        must("convert", SOURCE, "-o", folder / "half.nsk", "--weights", "fp16", *quiet)
        must("quantize", SOURCE, "-o", folder / "integers.nsk", "--target", "size", "--calibrate", samples, *quiet)
        floats, halves, integers = (measured(folder / f"{kind}.nsk") for kind in ("float", "half", "integers"))
        expect_maximum(0.28, "file in int8", integers["file"], floats["file"])
        expect_maximum(0.52, "file in float16", halves["file"], floats["file"])
        expect_maximum(0.35, "arena in int8", integers["arena"], floats["arena"])
    return told(failures)


if __name__ == "__main__":
    sys.exit(main())
