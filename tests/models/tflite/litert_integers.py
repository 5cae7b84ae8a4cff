#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Quantised TensorFlow Lite files computed in their integers, against LiteRT's default path.

Layers, sums, pooling and softmax round as LiteRT does (tests/models/tflite/litert_operators.py compares them one by one): whole files have equal outputs in
every element. The count of elements that differ is printed.
"""
import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from litert import interpreter_of  # noqa: E402
from models import SAID_SKIPPED, SHARED, file_name, must  # noqa: E402

NAMES = ("ad01_int8", "kws_ref_model", "vww_96_int8", "mobilenet_v1_0.25_128_quant", "mobilenet_v2_1.0_224_quant", "pretrainedResnet_quant")
RUNS = 10
SIZE = 1.2  # times the source's bytes, of a file whose layers all are integers: those of 2018 have weights beyond int8


def stored_input(detail, generator):
    if detail["dtype"] == np.float32:
        return generator.uniform(-1, 1, detail["shape"]).astype(np.float32)
    info = np.iinfo(detail["dtype"])
    return generator.integers(info.min, info.max, detail["shape"], endpoint=True).astype(detail["dtype"])


def compare(name, folder):
    """(elements that differ, all elements, the largest difference)."""
    source, model = SHARED / "quantized" / f"{name}.tflite", folder / "model.nsk"
    interpreter = interpreter_of(source.read_bytes(), "AUTO")
    must("convert", source, "-o", model, "--check", "--quiet")
    if model.stat().st_size > SIZE * source.stat().st_size:
        raise SystemExit(f"{name}: {model.stat().st_size} bytes of {source.stat().st_size}: some layers are in float32")
    generator, differ, count, maximum = np.random.default_rng(1), 0, 0, 0
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
            differ, count = differ + int(np.sum(got != want)), count + want.size
            maximum = max(maximum, float(np.max(np.abs(got.astype(float) - want.astype(float)))))
    return differ, count, maximum


def main():
    if not (SHARED / "quantized").exists():
        print(f"{SAID_SKIPPED} {SHARED / 'quantized'} does not exist")
        return 0
    failed = False
    with tempfile.TemporaryDirectory(prefix="nsk_integers_") as folder:
        for name in NAMES:
            if not (SHARED / "quantized" / f"{name}.tflite").exists():
                print(f"{SAID_SKIPPED} {name}.tflite does not exist")
                continue
            if interpreter_of((SHARED / "quantized" / f"{name}.tflite").read_bytes()) is None:
                print(f"{SAID_SKIPPED} the Python package ai-edge-litert is not installed")
                return 0
            differ, count, maximum = compare(name, pathlib.Path(folder))
            print(f"{name}: {differ} of {count} elements differ from LiteRT" + (f", by at most {maximum:g}" if differ else ""))
            failed = failed or differ > 0
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
