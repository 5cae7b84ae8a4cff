#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Quantised TensorFlow Lite files computed in their integers, against LiteRT's default path.

Convolutions, depthwise and dense layers round as LiteRT does. Files of these alone have equal outputs in every element; sums, means and softmax
round in ways of LiteRT's own, so that files with them have a share of elements that differs, printed, and the largest one at the same place.
"""
import pathlib
import sys
import tempfile

import numpy as np

from litert import interpreter_of
from models import SAID_SKIPPED, SHARED, file_name, must

EXACT = ("ad01_int8", "kws_ref_model", "vww_96_int8")
NEAR = ("mobilenet_v1_0.25_128_quant", "mobilenet_v2_1.0_224_quant", "pretrainedResnet_quant")
RUNS, SHARE = 5, 0.9


def stored_input(detail, generator):
    if detail["dtype"] == np.float32:
        return generator.uniform(-1, 1, detail["shape"]).astype(np.float32)
    info = np.iinfo(detail["dtype"])
    return generator.integers(info.min, info.max, detail["shape"], endpoint=True).astype(detail["dtype"])


def compare(name, folder):
    """(elements that are equal, all elements, runs whose largest element is elsewhere)."""
    source, model = SHARED / "quantized" / f"{name}.tflite", folder / "model.nsk"
    interpreter = interpreter_of(source.read_bytes(), "AUTO")
    must("convert", source, "-o", model, "--check", "--quiet")
    generator, equal, count, elsewhere = np.random.default_rng(1), 0, 0, 0
    for _ in range(RUNS):
        arguments = []
        for detail in interpreter.get_input_details():
            values = stored_input(detail, generator)
            interpreter.set_tensor(detail["index"], values)
            np.save(folder / "x.npy", values)
            arguments += ["--input", f"{detail['name']}={folder / 'x.npy'}"]
        interpreter.invoke()
        must("run", model, *arguments, "--output-dir", folder / "out")
        for detail in interpreter.get_output_details():
            got, want = np.load(folder / "out" / file_name(detail["name"])), interpreter.get_tensor(detail["index"])
            if got.dtype != want.dtype or got.shape != want.shape:
                raise SystemExit(f"{name}: {got.dtype} {got.shape} and not {want.dtype} {want.shape}")
            equal, count = equal + int(np.sum(got == want)), count + want.size
            elsewhere += want.flat[np.argmax(got)] < want.max()
    return equal, count, elsewhere


def main():
    if not (SHARED / "quantized").exists():
        print(f"{SAID_SKIPPED} {SHARED / 'quantized'} does not exist")
        return 0
    failed = False
    with tempfile.TemporaryDirectory(prefix="nsk_integers_") as folder:
        for name in EXACT + NEAR:
            if not (SHARED / "quantized" / f"{name}.tflite").exists():
                print(f"{SAID_SKIPPED} {name}.tflite does not exist")
                continue
            if interpreter_of((SHARED / "quantized" / f"{name}.tflite").read_bytes()) is None:
                print(f"{SAID_SKIPPED} the Python package ai-edge-litert is not installed")
                return 0
            equal, count, elsewhere = compare(name, pathlib.Path(folder))
            wrong = equal != count if name in EXACT else equal < SHARE * count or elsewhere > 0
            print(f"{name}: {count - equal} of {count} elements differ from LiteRT" + (", too many" if wrong else ""))
            failed = failed or wrong
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
