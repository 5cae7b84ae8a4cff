#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lengths on the GPU: the plan for values of them is that of the file of those values alone, for the networks of models.lengths and random ones.

  length_plans.py PROGRAM [--first SEED] [--count N]
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "models" / "onnx"), str(HERE.parent / "models" / "support")]
import random_lengths  # noqa: E402  before the other, which puts the folder of the other random_lengths first
import lengths  # noqa: E402
from models import nsk  # noqa: E402

NETWORKS = ("encoder", "cached", "crossed", "sound", "strided", "recurrent", "image", "standardised", "summed", "points")


def convert(source, bounds):
    """The file, None where the converter refuses it."""
    file = source.with_suffix(".nsk")
    options = [o for name, text in bounds.items() for o in ("--bound", f"{name}={text}")]
    done = nsk("convert", source, "-o", file, "--gpu", "--quiet", *options)
    if done.returncode not in (0, 2):
        raise SystemExit(f"{source.name}: exit code {done.returncode}: {done.stderr}")
    return file if done.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=16)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        files = []
        for network in NETWORKS:
            source = folder / f"{network}.onnx"
            files.append(convert(source, getattr(lengths, network)(source)[0]))
            if files[-1] is None:
                print(f"{network} is refused with --gpu")
                return 1
        for seed in range(chosen.first, chosen.first + chosen.count):
            for kind in (random_lengths.Lines, random_lengths.Images):
                source = folder / f"{kind.__name__}{seed}.onnx"
                net = kind(seed)
                y, bounds, _ = net.draw()
                net.save(source, y)
                files.append(convert(source, bounds))
        return subprocess.run([chosen.program, *filter(None, files)], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
