#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Quantised models that people ship (shared/models/public) against LiteRT's default path, over runs in a row: every integer must be the same, and
floats that integers stand for.

A keyword spotter that keeps int8 states from run to run, and a face detector whose biases have scales that are not those of the sums.
"""
import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from litert import interpreter_of  # noqa: E402
from models import SAID_SKIPPED, SHARED, file_name, nsk  # noqa: E402

MODELS = {  # runs, warnings that must be there
    "okay_nabu_int8_stream": (120, []),
    "face_detection_front_128_full_integer_tf23": (2, ["is not that of its input times that of its weights"]),
}


def sampled(detail, runs, numbers):
    """Inputs that change slowly, so that what is kept matters, over the whole range."""
    steps = numbers.normal(0, 0.2, (runs, *detail["shape"]))
    wave = np.clip(np.cumsum(steps, axis=0) + numbers.uniform(-1, 1, detail["shape"]), -1, 1)
    if detail["dtype"] == np.float32:
        return wave.astype(np.float32)
    info = np.iinfo(detail["dtype"])
    return np.rint((wave + 1) / 2 * (info.max - info.min) + info.min).astype(detail["dtype"])


def compare(path, runs, warnings, folder):
    """What is wrong, or None."""
    interpreter, numbers, wanted = interpreter_of(path.read_bytes(), "AUTO"), np.random.default_rng(1), {}
    done = nsk("convert", path, "-o", folder / "m.nsk", "--check")
    if done.returncode != 0:
        return done.stderr.strip()
    for text in warnings:
        if done.stderr.count(text) != 1:
            return f"'{text}' is {done.stderr.count(text)} times in what the converter says"
    given = {d["name"]: sampled(d, runs, numbers) for d in interpreter.get_input_details()}
    arguments = ["--steps", runs]
    for detail in interpreter.get_input_details():
        np.save(folder / file_name(detail["name"]), given[detail["name"]])
        arguments += ["--input", f"{detail['name']}={folder / file_name(detail['name'])}"]
    for run in range(runs):
        for detail in interpreter.get_input_details():
            interpreter.set_tensor(detail["index"], given[detail["name"]][run])
        interpreter.invoke()
        for detail in interpreter.get_output_details():
            wanted.setdefault(detail["name"], []).append(interpreter.get_tensor(detail["index"]).copy())
    done = nsk("run", folder / "m.nsk", *arguments, "--output-dir", folder / "out")
    if done.returncode != 0:
        return done.stderr.strip()
    for name, values in wanted.items():
        got, want = np.load(folder / "out" / file_name(name)), np.stack(values)
        print(f"{path.stem}: {name}: {len(np.unique(want))} different numbers in {runs} runs")
        if len(np.unique(want)) < 4:
            return f"{name}: LiteRT's results hardly change, so that they say nothing"
        if got.dtype != want.dtype or got.shape != want.shape or not np.array_equal(got, want):
            return f"{name}: {np.mean(got != want):.1%} of the elements differ"
    return None


def main():
    wrong = []
    with tempfile.TemporaryDirectory(prefix="nsk_public_") as folder:
        for name, (runs, warnings) in MODELS.items():
            path = SHARED / "public" / f"{name}.tflite"
            if not path.exists():
                print(f"{SAID_SKIPPED} {path} does not exist")
                return 0
            if interpreter_of(path.read_bytes()) is None:
                print(f"{SAID_SKIPPED} the Python package ai-edge-litert is not installed")
                return 0
            failure = compare(path, runs, warnings, pathlib.Path(folder))
            wrong += [f"{name}: {failure}"] if failure else []
        stream = SHARED / "public" / "okay_nabu_int8_stream.tflite"
        done = nsk("convert", stream, "-o", pathlib.Path(folder) / "m.nsk", "--float-io", "--check", "--quiet")
        kept = nsk("inspect", pathlib.Path(folder) / "m.nsk").stdout
        if done.returncode != 0 or "states_2 int8" not in kept:
            wrong.append(f"--float-io: what is kept stays in integers, {done.stderr.strip()} {kept}")
    print("\n".join(wrong + [f"{len(MODELS)} models, {len(wrong)} wrong"]))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
