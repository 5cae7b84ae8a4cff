#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""netsuke against ONNX Runtime: same models, same core, one thread, measured in turns, answers compared.

  bench/compare_onnxruntime.py [MODEL ...] [--rounds 5] [--seconds 0.6] [--core N] [--json FILE]

MODEL is a name of tests/models/models.py or an ONNX file; all known models when none is given. A ratio above 1 means that netsuke is
faster; `ratio` compares medians of rounds, `best` the best single runs. Needs the nsk binary (NSK_TOOL, default build/nsk).
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

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "models"))
from models import MODELS, convert_options, error_of, file_name, must, onnx_session, path_of, random_inputs  # noqa: E402


def time_peer(session, inputs, seconds):
    """Milliseconds of each run within `seconds`, after warming up; outputs stay where ONNX Runtime puts them."""
    names, times = [o.name for o in session.get_outputs()], []
    session.run(names, inputs)
    end = time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        session.run(names, inputs)
        times.append(1e3 * (time.perf_counter() - start))
    return times


def check_answers(session, inputs, model, folder):
    arguments = []
    for index, (name, value) in enumerate(inputs.items()):
        np.save(folder / f"in{index}.npy", value)
        arguments += ["--input", f"{name}={folder / f'in{index}.npy'}"]
    must("run", model, *arguments, "--output-dir", folder)
    return max(error_of(np.load(folder / file_name(o.name)), wanted) for o, wanted in zip(session.get_outputs(), session.run(None, inputs)))


def compare(name, source, options):
    session = onnx_session(source)
    inputs = random_inputs(session, 0, name)
    ours, theirs, our_best, their_best, peak = [], [], [], [], []
    with tempfile.TemporaryDirectory(prefix="nsk_bench_") as folder:
        folder = pathlib.Path(folder)
        model = folder / "model.nsk"
        must("convert", source, "-o", model, *convert_options(session, name))
        error = check_answers(session, inputs, model, folder)
        for _ in range(options.rounds):
            measured = json.loads(must("bench", model, "--seconds", options.seconds, "--json"))
            ours.append(measured["median_ms"])
            our_best.append(measured["min_ms"])
            peak.append(measured["peak_gflops"])
            times = time_peer(session, inputs, options.seconds)
            theirs.append(statistics.median(times))
            their_best.append(min(times))
    row = {"model": name, "netsuke_ms": statistics.median(ours), "onnxruntime_ms": statistics.median(theirs)}
    row["ratio"] = statistics.median(t / o for t, o in zip(theirs, ours))
    row["best_netsuke_ms"], row["best_onnxruntime_ms"] = min(our_best), min(their_best)
    row["best_ratio"] = min(their_best) / min(our_best)
    row["percent_of_peak"] = 2e-4 * measured["macs"] / min(our_best) / max(peak)
    row["relative_error"] = error
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.6)
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--json")
    options = parser.parse_args()
    os.sched_setaffinity(0, {options.core})  # child processes inherit it

    rows = []
    print(f"{'model':22} {'netsuke ms':>11} {'ORT ms':>9} {'ratio':>6} {'best ms':>9} {'ORT best':>9} {'best':>6} {'% peak':>7} {'error':>8}")
    for name in options.models or MODELS:
        source = path_of(name) if name in MODELS else pathlib.Path(name)
        if source is None:
            continue
        row = compare(name, source, options)
        rows.append(row)
        print(f"{name[-22:]:22} {row['netsuke_ms']:11.3f} {row['onnxruntime_ms']:9.3f} {row['ratio']:6.2f} {row['best_netsuke_ms']:9.3f} "
              f"{row['best_onnxruntime_ms']:9.3f} {row['best_ratio']:6.2f} {row['percent_of_peak']:7.1f} {row['relative_error']:8.1e}", flush=True)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=2) + "\n")
    # ONNX Runtime rounds too: tests/models holds both against double precision, here only another network shall be noticed.
    wrong = [r["model"] for r in rows if r["relative_error"] > 1e-3]
    if wrong:
        print("answers differ: " + ", ".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
