#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""netsuke against other engines: same models, same cores, one thread or as many each, each in a process of its own, in turn in short rounds, outputs compared first.

  bench/compare_peers.py [MODEL ...] [--peers onnxruntime litert openvino openvino-avx2 mnn ncnn tract] [--isa NAME ...] [--rounds 30] [--seconds 0.1] [--runs 2]
                         [--target NAME] [--threads N] [--core N] [--json FILE] [--record MACHINE TABLE]

MODEL is a name of tests/models/support/models.py, an ONNX or a TensorFlow Lite file; all known models when none is given. Each of netsuke's instruction
sets, AVX2 and AVX-512 where the machine has them, has a line with the least and the median of the rounds; each peer has a column with its own, the
ratio of least times, above 1 where netsuke is faster, and the largest difference of an output, of the largest magnitude. A peer whose outputs differ by
more than 1e-3 has no time, and the exit code is 1. The summary has the least time of the fastest peer over netsuke's with its faster instruction set.
--runs repeats the whole: a ratio is to be believed where two runs agree within 5 %. Peers that are not installed, or that refuse a model, say so
(pip install onnxruntime ai-edge-litert openvino MNN ncnn tract; pip install --no-deps pnnx). --record adds a table to bench/results/MACHINE.json
for bench/write_pages.py. Needs the nsk binary (NSK_TOOL, default build/nsk).
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import sys
import tempfile

from interleaved import Interleaved, figures, geometric_mean, instruction_sets_here, machine, require_tool
from peer_process import ENGINES, NAMES, version_of
from peers import Refused, inputs_of
from write_pages import add_table

from models import MODELS, OPEN_DIMENSIONS, RANGES, SHAPES, error_of, path_of  # noqa: E402, of tests/models/support, which interleaved finds

# Peers round too: tests/models holds all against double precision, here only another network shall be noticed.
MAX_ERROR = 1e-3
SETS = {"avx2": "AVX2", "avx512": "AVX-512"}  # in tables
AGREE = 0.05  # by which two runs may differ for a ratio to be believed


def relative_error(got, wanted, repeats):
    """Largest error of any output as a share of its largest magnitude, infinity where outputs are not those of the peer.
    Outputs that a second run of the peer does not repeat are random: left out."""
    if [(a.shape, a.dtype) for a in got] != [(a.shape, a.dtype) for a in wanted]:
        return math.inf
    errors = [error_of(a, b) for a, b, same in zip(got, wanted, repeats) if same]
    return next(filter(math.isnan, errors), max(errors, default=0.0))


class Comparison(Interleaved):
    """Networks of reals, whose outputs may differ by MAX_ERROR of the largest magnitude."""

    def agreement(self, process):
        error = relative_error(self.ours.outputs[0], process.outputs[0], process.repeats)
        return {"relative_error": error}, "" if error <= MAX_ERROR else f"its answers differ by {error:.1e} of the largest magnitude"

    def row(self, isa, ours, theirs):
        """Figures of one instruction set beside those of the peers."""
        row = {"model": self.name, "isa": ours[0]["isa"], **figures(ours), "peers": {}, "left_out": self.left_out}
        row["percent_of_peak"] = 2e-4 * ours[0]["macs"] / row["best_ms"] / max(r["peak_gflops"] for r in ours)
        for peer, rounds in theirs.items():
            found = row["peers"][peer] = {**figures(rounds), **self.differences[peer]}
            found["ratio"] = statistics.median(t["median_ms"] / o["median_ms"] for t, o in zip(rounds, ours))
            found["best_ratio"] = found["best_ms"] / row["best_ms"]
        return row


def compare(name, source, options, folder):
    """Rows of one model, and the peers whose answers differ. `folder` keeps the converted file for the next run."""
    low, high = RANGES.get(name, (-1, 1))
    inputs = inputs_of(source, 0, low, high, SHAPES.get(pathlib.Path(name).stem, {}), OPEN_DIMENSIONS)
    with tempfile.TemporaryDirectory(prefix="nsk_bench_") as places:
        comparison = Comparison(name, source, [inputs], options, pathlib.Path(places), folder / f"{options.models.index(name)}.nsk")
        try:
            wrong = [f"{name} ({peer})" for peer in comparison.left_out if peer in comparison.differences]
            return comparison.measure(), wrong
        finally:
            comparison.close()


def header_of(peers):
    return " | ".join([f"{'model':22} {'isa':6} {'least ms':>9} {'median':>9} {'% peak':>6}"]
                      + [f"{peer[:12] + ' ms':>15} {'median':>9} {'ratio':>5} {'error':>7}" for peer in peers])


def line_of(row, peers):
    cells = [f"{pathlib.Path(row['model']).name[-22:]:22} {row['isa']:6} {row['best_ms']:9.3f} {row['median_ms']:9.3f} {row['percent_of_peak']:6.1f}"]
    for peer in peers:
        found = row["peers"].get(peer)
        cells.append(f"{found['best_ms']:15.3f} {found['median_ms']:9.3f} {found['best_ratio']:5.2f} {found['relative_error']:7.1e}" if found else f"{'-':>39}")
    return " | ".join(cells)


def ratios_of(rows):
    """{model: {"peer", "isa", "ratio"}}: the fastest peer's least time over netsuke's with its fastest instruction set; models without a peer are absent."""
    found = {}
    for model in dict.fromkeys(row["model"] for row in rows if row["peers"]):
        ours = min((row for row in rows if row["model"] == model), key=lambda row: row["best_ms"])
        if ours["peers"]:
            peer = min(ours["peers"], key=lambda peer: ours["peers"][peer]["best_ms"])
            found[model] = {"peer": peer, "isa": ours["isa"], "ratio": ours["peers"][peer]["best_ms"] / ours["best_ms"]}
    return found


def summary_of(runs):
    """Of rows of each run: {model: {"runs": what ratios_of found, "agree": whether all are within AGREE, None for one run}}, and each run's geometric mean."""
    ratios = [ratios_of(rows) for rows in runs]
    models = {}
    for model in ratios[0]:
        found = [each[model] for each in ratios if model in each]
        numbers = [each["ratio"] for each in found]
        agree = len(found) == len(runs) and max(numbers) <= (1 + AGREE) * min(numbers)
        models[model] = {"runs": found, "agree": agree if len(runs) > 1 else None}
    return {"models": models, "geometric_means": [geometric_mean([found["ratio"] for found in each.values()]) if each else None for each in ratios]}


def lines_of(summary):
    lines = ["", "Least time of the fastest peer / netsuke's, with its faster instruction set:"]
    for model, found in summary["models"].items():
        numbers = [each["ratio"] for each in found["runs"]]
        said = {None: "", True: "  agree", False: f"  differ by {100 * (max(numbers) / min(numbers) - 1):.1f} %: not to be believed"}[found["agree"]]
        lines.append(f"{pathlib.Path(model).name[-22:]:22} " + "  ".join(f"{each['ratio']:5.2f} {each['isa']}, {each['peer']}" for each in found["runs"]) + said)
    lines.append(f"{'geometric mean':22} " + "  ".join("    -" if mean is None else f"{mean:5.2f}" for mean in summary["geometric_means"]))
    agreed = [found["agree"] for found in summary["models"].values() if found["agree"] is not None]
    return lines + ([f"{sum(agreed)} of {len(agreed)} ratios agree within {100 * AGREE:.0f} %"] if agreed else [])


def table_of(runs, summary, peers):
    """Columns and rows of a table for a page: least times of all runs, the best peer, and its ratio in each run, in brackets where runs differ.
    MNN stands over netsuke with AVX2 as well, which is what its package has code for."""
    instruction_sets = list(dict.fromkeys(row["isa"] for row in runs[0]))
    by_avx2 = "mnn" in peers and "avx2" in instruction_sets
    lines = []
    for model in dict.fromkeys(row["model"] for row in runs[0]):
        rows = [row for run in runs for row in run if row["model"] == model]
        ours = {isa: min(row["best_ms"] for row in rows if row["isa"] == isa) for isa in instruction_sets}
        theirs = {peer: min(row["peers"][peer]["best_ms"] for row in rows if peer in row["peers"]) for peer in peers if any(peer in row["peers"] for row in rows)}
        found = summary["models"].get(model, {"runs": [], "agree": None})
        ratios = ", ".join(f"{each['ratio']:.2f}" for each in found["runs"])
        error = max((found["relative_error"] for row in rows for found in row["peers"].values()), default=None)
        best = min(theirs, key=theirs.get, default="")
        lines.append([pathlib.Path(model).stem, *(f"{time:.3g}" for time in ours.values()), *(f"{theirs[peer]:.3g}" if peer in theirs else "" for peer in peers),
                      NAMES.get(best, best), f"({ratios})" if found["agree"] is False else ratios,
                      *([f"{theirs['mnn'] / ours['avx2']:.2f}" if "mnn" in theirs else ""] if by_avx2 else []), "" if error is None else f"{error:.0e}"])
    columns = ["model", *(f"{SETS.get(isa, isa)}, ms" for isa in instruction_sets), *(f"{NAMES.get(peer, peer)}, ms" for peer in peers)]
    return [*columns, "best peer", "best peer / netsuke", *(["MNN / AVX2"] if by_avx2 else []), "largest error"], lines


def one_run(options, folder):
    """Rows, and what is wrong, of all models once."""
    rows, wrong = [], []
    print(header_of(options.peers))
    for name in options.models:
        source = path_of(name) if name in MODELS else pathlib.Path(name)
        if source is None:
            continue
        try:
            found, differing = compare(name, source, options, folder)
        except Refused as error:
            print(f"skipped: {name}: {error}", flush=True)
            wrong.append(f"{name} (netsuke)")
            continue
        for row in found:
            print(line_of(row, options.peers), flush=True)
        rows, wrong = rows + found, wrong + differing
    return rows, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--peers", nargs="+", choices=ENGINES, default=["onnxruntime"])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=0.1, help="of each engine in each round")
    parser.add_argument("--runs", type=int, default=1, help="how often all is repeated")
    parser.add_argument("--threads", type=int, default=1, help="of each engine; lanes of netsuke")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)), help="the last of as many as there are threads")
    parser.add_argument("--isa", nargs="+", help="netsuke's instruction sets; avx2, and avx512 where there is one, when left out")
    parser.add_argument("--target", help="of nsk convert: the machine through whose caches large layers are streamed")
    parser.add_argument("--json")
    parser.add_argument("--record", nargs=2, metavar=("MACHINE", "TABLE"), help="add a table to bench/results/MACHINE.json")
    options = parser.parse_args()
    if options.rounds < 1 or options.runs < 1 or options.seconds <= 0:
        parser.error("--rounds, --runs and --seconds are above 0")
    if not 1 <= options.threads <= options.core + 1:
        parser.error(f"--threads is from 1 to {options.core + 1}, the cores up to --core")
    require_tool()
    options.models = options.models or list(MODELS)
    options.isa = options.isa or instruction_sets_here()
    os.sched_setaffinity(0, range(options.core - options.threads + 1, options.core + 1))  # child processes inherit it

    with tempfile.TemporaryDirectory(prefix="nsk_models_") as folder:
        runs, wrongs = zip(*(one_run(options, pathlib.Path(folder)) for _ in range(options.runs)))
    summary = summary_of(runs)
    print("\n".join(lines_of(summary)))
    if options.json:
        results = {"machine": machine(), "threads": options.threads, "rounds": options.rounds, "seconds": options.seconds, "runs": runs, "summary": summary}
        pathlib.Path(options.json).write_text(json.dumps(results, indent=2) + "\n")
    if options.record:
        versions = {NAMES.get(peer, peer): version_of(ENGINES[peer][0]) for peer in options.peers}
        add_table(*options.record, *table_of(runs, summary, options.peers), {peer: version for peer, version in versions.items() if version})
    wrong = dict.fromkeys(sum(wrongs, []))
    if wrong:
        print("answers differ, or there are none: " + ", ".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
