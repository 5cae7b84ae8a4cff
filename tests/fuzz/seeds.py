#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small models of every kind of operator, for the fuzzers to begin with.

  seeds.py FOLDER        writes FOLDER/onnx/*, FOLDER/tflite/* and FOLDER/quantize/*
"""
import pathlib
import sys

import onnx_seeds
import quantized_seeds
import tflite_seeds


def main():
    for kind, seeds in (("onnx", onnx_seeds.models), ("tflite", tflite_seeds.models), ("quantize", quantized_seeds.float_models)):
        folder = pathlib.Path(sys.argv[1]) / kind
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in seeds():
            (folder / name).write_bytes(content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
