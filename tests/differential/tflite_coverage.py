#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every TensorFlow Lite operator of docs/reference/operators.md is sampled by the random models, or named here with the reason why not."""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "models" / folder) for folder in ("support", "tflite")]
from litert import have_litert  # noqa: E402

NOT_SAMPLED = {
    "CALL": "LiteRT has no kernel for it",
    "MULTINOMIAL": "other numbers in every run: tests/models/tflite/tflite_random.py",
    "RANDOM_STANDARD_NORMAL": "other numbers in every run: tests/models/tflite/tflite_random.py",
    "RANDOM_UNIFORM": "other numbers in every run: tests/models/tflite/tflite_random.py",
    "Convolution2DTransposeBias": "MediaPipe's own, not in LiteRT: tests/models/tflite/custom_operators.py",
    "MaxPoolingWithArgmax2D": "MediaPipe's own, not in LiteRT: tests/models/tflite/custom_operators.py",
    "MaxUnpooling2D": "MediaPipe's own, not in LiteRT: tests/models/tflite/custom_operators.py",
    "Landmarks2TransformMatrix": "MediaPipe's own, not in LiteRT: tests/models/tflite/custom_operators.py",
    "TransformLandmarks": "MediaPipe's own, not in LiteRT: tests/models/tflite/custom_operators.py",
    "TransformTensorBilinear": "MediaPipe's own, not in LiteRT: tests/models/tflite/custom_operators.py",
}


def imported():
    """Names in the first column of the table."""
    table = (HERE.parents[1] / "docs" / "reference" / "operators.md").read_text().split("## TensorFlow Lite")[1]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| ") and not line.startswith(("| TensorFlow", "| ---"))]
    return {name for row in rows for name in re.findall(r"\w+", row)}


def main():
    if not have_litert():
        return 0
    import tflite_cases
    known, sampled = imported(), tflite_cases.operators() | set(NOT_SAMPLED)
    wrong = [f"{name} is not sampled" for name in sorted(known - sampled)] + [f"{name} is not imported" for name in sorted(sampled - known)]
    print("\n".join(wrong + [f"{len(known)} operators, {len(NOT_SAMPLED)} of them are not sampled for the reasons given here"]))
    return 1 if wrong or not known else 0


if __name__ == "__main__":
    sys.exit(main())
