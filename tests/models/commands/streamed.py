#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files of `nsk convert --target` compute the bits of files without it, by every build of the engine and on several lanes, need no more memory, and pass
the check of every step.

  streamed.py [NAME]...       all networks of images by default
"""
import pathlib
import re
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import MODELS, NOT_CONVOLUTIONAL, convert_options, file_name, isas, must, onnx_session, path_of, random_inputs, told  # noqa: E402

TARGETS = ("pc", "zen2-console")
MAX_MEMORY = 1.02
# Networks of which both targets must stream something: their first images are far larger than the caches.
STREAMED = {"mobilenet_v2", "efficientnet_b0", "ultraface", "face_back", "line_detector", "squeezenet1_1"}
SLOW_ON_SCALAR = {"upscale_x2_360p", "resnet18", "resnet50", "text_detector", "line_detector", "efficientnet_b0", "mobilenet_v2", "squeezenet1_1"}


def memory_of(model):
    return int(re.search(r"^memory\s+\S+ \S+ ([\d,]+) bytes", must("inspect", model), re.MULTILINE).group(1).replace(",", ""))


def outputs_of(model, inputs, folder, *options):
    arguments = []
    for i, (name, values) in enumerate(inputs.items()):
        np.save(folder / f"{i}.npy", values)
        arguments += ["--input", f"{name}={folder / f'{i}.npy'}"]
    must("run", model, *arguments, "--output-dir", folder / "out", *options)
    return b"".join(p.read_bytes() for p in sorted((folder / "out").glob("*.npy")))


def check_model(name, source, folder, failures):
    session = onnx_session(source)
    options, inputs = convert_options(session, name), random_inputs(session, 5, name)
    whole = folder / "whole.nsk"
    must("convert", source, "-o", whole, *options, "--no-check", "--quiet")
    wanted = outputs_of(whole, inputs, folder)
    if any((folder / "out" / file_name(o.name)).read_bytes() not in wanted for o in session.get_outputs()):
        failures.append(f"{name}: an output was not compared")
    said = []
    for target in TARGETS:
        made = folder / f"{target}.nsk"
        must("convert", source, "-o", made, *options, "--target", target, "--no-check", "--quiet")
        runs = len(re.findall(r"^streamed ", must("inspect", made), re.MULTILINE))
        said.append(f"{target}: {runs} runs, {memory_of(made) / 1e6:.2f} MB")
        if runs == 0:
            if name in STREAMED:
                failures.append(f"{name}: nothing is streamed for {target}")
            continue
        ways = [("--isa", isa) for isa in isas() if isa != "scalar" or name not in SLOW_ON_SCALAR] + [("--lanes", "2"), ("--lanes", "5")]
        for way in ways:
            if outputs_of(made, inputs, folder, *way) != wanted:
                failures.append(f"{name} for {target}, {' '.join(way)}: other bits than without --target")
        if memory_of(made) > MAX_MEMORY * memory_of(whole):
            failures.append(f"{name} for {target}: {memory_of(made)} bytes, {memory_of(whole)} without --target")
        must("check", source, made, "--quiet")
    print(f"{name}: {memory_of(whole) / 1e6:.2f} MB without; " + "; ".join(said))


def main():
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[1:] or [n for n in MODELS if n not in NOT_CONVOLUTIONAL]:
            source = path_of(name)
            if source:
                check_model(name, source, pathlib.Path(folder), failures)
    return told(failures)


if __name__ == "__main__":
    sys.exit(main())
