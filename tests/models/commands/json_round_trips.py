#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsk json and from-json on the models beside the checkout that convert: the same bytes come back.

  json_round_trips.py [--all]      --all: large ones too
"""
import pathlib
import sys
import tempfile
import time

import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import OPEN_DIMENSIONS, OWN, REPOSITORY, SAID_SKIPPED, SHAPES, SHARED, must, nsk  # noqa: E402

SMALL = 3 << 20  # bytes
MINIMUM = {True: 30, False: 15}  # models that convert, all or small ones: fewer mean that something is wrong with this test


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
    everything = sys.argv[1:] == ["--all"]
    sources = OWN + sorted(p for p in SHARED.rglob("*") if p.suffix in (".onnx", ".tflite")) if SHARED.is_dir() else OWN
    sources = [s for s in sources if everything or s.stat().st_size <= SMALL]
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
    return 0 if count >= MINIMUM[everything] else f"fewer than {MINIMUM[everything]} models convert"


if __name__ == "__main__":
    sys.exit(main())
