#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsk json and from-json on every model beside the checkout that converts: the same bytes come back."""
import pathlib
import sys
import tempfile
import time

import onnx

from models import OPEN_DIMENSIONS, OWN, REPOSITORY, SAID_SKIPPED, SHAPES, SHARED, must, nsk

LEAST = 30  # models that convert, where the folder is there: fewer mean that something is wrong with this test


def options_of(path):
    """What the model needs to be converted: numbers for open dimensions, or --dequantize."""
    if path.suffix == ".tflite":
        return ["--dequantize"]
    graph = onnx.load(path, load_external_data=False).graph
    constants = {t.name for t in graph.initializer}
    known = next((s for s in SHAPES.values() if path.stem and set(s) == {i.name for i in graph.input} - constants), {})
    options = []
    for i in graph.input:
        dimensions = i.type.tensor_type.shape.dim
        if i.name in constants or all(d.dim_value > 0 for d in dimensions):
            continue
        shape = known.get(i.name) or [d.dim_value if d.dim_value > 0 else OPEN_DIMENSIONS[n % len(OPEN_DIMENSIONS)] for n, d in enumerate(dimensions)]
        options += ["--input", f"{i.name}=" + "x".join(map(str, shape))]
    return options


def round_trip(source, folder):
    """Whether the model converts; its bytes after a round trip are those before."""
    if nsk("convert", source, "-o", folder / "a.nsk", "--quiet", *options_of(source)).returncode != 0:
        return False
    must("json", folder / "a.nsk", "-o", folder / "a.json")
    must("from-json", folder / "a.json", "-o", folder / "b.nsk", "--quiet")
    if (folder / "a.nsk").read_bytes() != (folder / "b.nsk").read_bytes():
        raise SystemExit(f"{source} does not come back byte for byte")
    return True


def main():
    sources = OWN + sorted(p for p in SHARED.rglob("*") if p.suffix in (".onnx", ".tflite")) if SHARED.is_dir() else OWN
    start, count, refused = time.monotonic(), 0, []
    with tempfile.TemporaryDirectory(prefix="nsk_json_") as folder:
        for source in sources:
            if round_trip(source, pathlib.Path(folder)):
                count += 1
            else:
                refused.append(source.name)
    print(f"{count} models come back byte for byte, in {time.monotonic() - start:.0f} s; {len(refused)} do not convert: {', '.join(refused)}")
    if not SHARED.is_dir():
        print(f"{SAID_SKIPPED} {SHARED} does not exist; only the models of {REPOSITORY.name} were tried")
        return 0
    return 0 if count >= LEAST else f"fewer than {LEAST} models convert"


if __name__ == "__main__":
    sys.exit(main())
