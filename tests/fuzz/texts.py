#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damages small tokenizers of all mainstream kinds, in a program that a sanitizer watches.

  texts.py PATH/TO/texts [--count N]        the acceptance run is --count 1000000
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models/support"))
from tokenizer_sources import write_sources  # noqa: E402

TOOL = os.environ["NSK_TOOL"]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program")
    arguments.add_argument("--count", type=int, default=3000)
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        files = []
        for kind, path in write_sources(folder).items():
            files.append(folder / f"{kind}.nskt")
            subprocess.run([TOOL, "tokenizer", path, "-o", files[-1], "--quiet"], check=True)
        return subprocess.run([options.program, "--count", str(options.count), "--seed", str(options.seed), *files]).returncode


if __name__ == "__main__":
    sys.exit(main())
