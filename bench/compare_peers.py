#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""netsuke against other engines: same models, same core, one thread, measured alternately, answers compared.

  bench/compare_peers.py [MODEL ...] [--peers onnxruntime litert openvino tract] [--isa NAME ...] [--rounds 5] [--seconds 0.6] [--core N]
                         [--json FILE]

MODEL is a name of tests/models/models.py, an ONNX or a TensorFlow Lite file; all known models when none is given. Each of netsuke's
instruction sets has a line; each peer has a column with its best run and the ratios of medians of the rounds and of best runs: above 1 means
that netsuke is faster. Peers that are not installed, or that refuse
a model, say so (pip install onnxruntime ai-edge-litert openvino tract). Needs the nsk binary (NSK_TOOL, default build/nsk).
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

import numpy as np

from peers import PEERS, inputs_of, load

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "models"))
from models import MODELS, OPEN_DIMENSIONS, RANGES, SHAPES, error_of, file_name, must, path_of  # noqa: E402


def isa_option(isa):
    return ["--isa", isa] if isa else []


def time_peer(run, seconds):
    """Milliseconds of each run within `seconds`, after warming up."""
    times = []
    run()
    end = time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append(1e3 * (time.perf_counter() - start))
    return times


def error_against(peer, plan, inputs, model, folder, isa):
    """Largest error of any output as a share of its largest magnitude. Outputs that differ between two runs of the peer are random: left out."""
    arguments = []
    for index, port in enumerate(plan["inputs"]):
        np.save(folder / f"in{index}.npy", inputs[port["name"]])
        arguments += ["--input", f"{port['name']}={folder / f'in{index}.npy'}"]
    must("run", model, *arguments, "--output-dir", folder, *isa_option(isa))
    run, read = peer
    names, first, second = [port["name"] for port in plan["outputs"]], read(run()), read(run())
    return max((error_of(np.load(folder / file_name(name)), a) for name, a, b in zip(names, first, second)
                if (folder / file_name(name)).exists() and np.array_equal(a, b)), default=0.0)


def compare(name, source, options):
    low, high = RANGES.get(name, (-1, 1))
    inputs = inputs_of(source, 0, low, high, SHAPES.get(name, {}), OPEN_DIMENSIONS)
    with tempfile.TemporaryDirectory(prefix="nsk_bench_") as folder:
        folder = pathlib.Path(folder)
        model = folder / "model.nsk"
        shapes = [o for key, value in inputs.items() for o in ("--input", f"{key}=" + "x".join(map(str, value.shape)))]
        must("convert", source, "-o", model, *shapes)
        plan = json.loads(must("inspect", model, "--json"))["variants"][0]
        for state in set(inputs) - {port["name"] for port in plan["inputs"]}:
            inputs[state].fill(0)  # what netsuke keeps itself begins at zero
        peers = {peer: found for peer in options.peers for found in [load(peer, source, inputs)] if found}
        ours, theirs = {isa: [] for isa in options.isa}, {peer: [] for peer in peers}
        errors = {(isa, peer): error_against(callables, plan, inputs, model, folder, isa) for isa in ours for peer, callables in peers.items()}
        for _ in range(options.rounds):
            for isa, rounds in ours.items():
                rounds.append(json.loads(must("bench", model, "--seconds", options.seconds, "--json", *isa_option(isa))))
            for peer, (run, _) in peers.items():
                theirs[peer].append(time_peer(run, options.seconds))
    return [row_of(name, rounds, theirs, {peer: errors[isa, peer] for peer in peers}) for isa, rounds in ours.items()]


def row_of(name, ours, theirs, errors):
    """Figures of one instruction set beside those of the peers; `ours` and `theirs`: measurements of every round."""
    best = min(r["min_ms"] for r in ours)
    row = {"model": name, "isa": ours[0]["isa"], "median_ms": statistics.median(r["median_ms"] for r in ours), "best_ms": best,
           "percent_of_peak": 2e-4 * ours[0]["macs"] / best / max(r["peak_gflops"] for r in ours), "peers": {}}
    for peer, rounds in theirs.items():
        medians, minimum = [statistics.median(times) for times in rounds], min(min(times) for times in rounds)
        row["peers"][peer] = {"median_ms": statistics.median(medians), "best_ms": minimum, "relative_error": errors[peer],
                              "ratio": statistics.median(t / o["median_ms"] for t, o in zip(medians, ours)), "best_ratio": minimum / best}
    return row


def line_of(row, peers):
    cells = [f"{row['model'][-22:]:22} {row['isa']:6} {row['median_ms']:9.3f} {row['best_ms']:9.3f} {row['percent_of_peak']:6.1f}"]
    for peer in peers:
        found = row["peers"].get(peer)
        cells.append(f"{found['best_ms']:9.3f} {found['ratio']:5.2f} {found['best_ratio']:5.2f} {found['relative_error']:7.1e}" if found else f"{'-':>29}")
    return " | ".join(cells)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=["onnxruntime"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.6)
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--isa", nargs="+", default=[None], help="netsuke's instruction sets; the fastest of this machine when left out")
    parser.add_argument("--json")
    options = parser.parse_args()
    os.sched_setaffinity(0, {options.core})  # child processes inherit it

    rows = []
    print(" | ".join([f"{'model':22} {'isa':6} {'median ms':>9} {'best':>9} {'% peak':>6}"] + [f"{peer[:9]:>9} {'ratio':>5} {'best':>5} {'error':>7}" for peer in options.peers]))
    for name in options.models or MODELS:
        source = path_of(name) if name in MODELS else pathlib.Path(name)
        if source is None:
            continue
        for row in compare(name, source, options):
            rows.append(row)
            print(line_of(row, options.peers), flush=True)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=2) + "\n")
    # Peers round too: tests/models holds all against double precision, here only another network shall be noticed.
    wrong = [f"{r['model']} ({peer})" for r in rows for peer, found in r["peers"].items() if found["relative_error"] > 1e-3]
    if wrong:
        print("answers differ: " + ", ".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
