#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where networks lose the rest of the machine's peak: per network and kind of step, its share of the time and how much of the peak it reaches.

  bench/peak_distance.py [MODEL ...] [--isa NAME] [--target NAME] [--rounds 20] [--seconds 0.1] [--json FILE]

MODEL is a name of tests/models/support/models.py, or an ONNX file; all known ones when none is given. Times are the least of each step over all rounds, the peak is the largest
of all rounds. Winograd's algorithms count the products that they make, a quarter or 4 / 9 of the direct ones. The last column is the share of the time that would remain if every
multiplication ran at the peak and nothing else took time. Needs the nsk binary (NSK_TOOL, default build/nsk).
"""
import argparse
import json
import math
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "models" / "support"))
from models import MODELS, convert_options, must, onnx_session, path_of  # noqa: E402

# Multiplications that Winograd's algorithms make for each that they replace.
MADE = {"winograd4": 36 / (16 * 9), "winograd2": 16 / (4 * 9)}
FEW_CHANNELS, FEW_INPUTS = 16, 64
PRODUCTS, FEW, WINOGRAD, ONE_ROW, DEPTHWISE, OTHERS = KINDS = ("products", "products of few channels", "Winograd", "dense, 1 or 2 rows", "depthwise", "all others")


def kind_of(step):
    """The kind of a step of the plan."""
    if step["operator"] == "DepthwiseConv2D":
        return DEPTHWISE
    if step["macs"] == 0 or step["operator"] not in ("Conv2D", "FullyConnected", "MatMul"):
        return OTHERS
    if step.get("algorithm") in MADE:
        return WINOGRAD
    *rows, columns = step["outputs"][0]["shape"]
    if math.prod(rows) <= 2:
        return ONE_ROW
    depth = step["macs"] / (math.prod(rows) * columns)
    return FEW if depth < FEW_INPUTS or columns < FEW_CHANNELS else PRODUCTS


def distance(name, source, options, model):
    """{kind: (microseconds, operations)} of one network, and the peak in GFLOP/s."""
    target = ["--target", options.target] if options.target else []
    must("convert", source, "-o", model, "--quiet", *target, *convert_options(onnx_session(source), pathlib.Path(name).stem))
    plan = json.loads(must("inspect", model, "--json"))["variants"][0]["steps"]
    isa = ["--isa", options.isa] if options.isa else []
    found = json.loads(must("bench", model, "--seconds", options.seconds, "--rounds", options.rounds, "--json", *isa))
    kinds = {kind: [0.0, 0.0] for kind in KINDS}
    for step, timed in zip(plan, found["steps"]):
        kind = kinds[kind_of(step)]
        kind[0] += timed["min_us"]
        kind[1] += 2 * step["macs"] * MADE.get(step.get("algorithm"), 1)
    return {"model": name, "isa": found["isa"], "us": sum(us for us, _ in kinds.values()), "peak_gflops": found["peak_gflops"], "kinds": kinds}


def line_of(row, peak):
    """Cells `share of the time` `@` `percent of the peak`."""
    def cell(us, operations):
        share = 100 * us / row["us"]
        return "" if share < 0.5 else f"{share:.0f}" + (f" @ {1e-1 * operations / us / peak:.0f}" if operations else "")
    ideal = sum(operations for _, operations in row["kinds"].values()) * 1e-3 / peak
    return f"| {pathlib.Path(row['model']).stem} | {row['us'] / 1000:.3g} | " + " | ".join(cell(*row["kinds"][kind]) for kind in KINDS) + f" | {100 * ideal / row['us']:.0f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--isa")
    parser.add_argument("--target")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--json")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="nsk_peak_") as folder:
        for name in options.models or MODELS:
            source = path_of(name) if name in MODELS else pathlib.Path(name)
            if source is not None:
                rows.append(distance(name, source, options, pathlib.Path(folder) / "model.nsk"))
    if not rows:
        return 1
    peak = max(row["peak_gflops"] for row in rows)
    print(f"{rows[0]['isa']}, peak {peak:.1f} GFLOP/s; each cell: % of the time @ % of the peak\n")
    print("| network | ms | " + " | ".join(KINDS) + " | ideal % |")
    print("| --- | ---: | " + "---: | " * (len(KINDS) + 1))
    print("\n".join(line_of(row, peak) for row in rows))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"peak_gflops": peak, "rows": rows}, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
