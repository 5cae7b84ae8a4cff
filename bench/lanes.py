#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two lanes on two cores against one, and expected against measured times.

  bench/lanes.py [MODEL ...] [--rounds 15] [--seconds 0.2] [--lanes 2] [--isa NAME] [--profile-seconds 10] [--json FILE]

MODEL is a name of tests/models/support/models.py; all known ones when none is given. In every round, alternately: one lane, several lanes, and a control
that runs a small network in as many processes as lanes and alone: what the machine itself gains (memory, clock and cores are shared, with
other guests of the host too). `speed-up` is the median of all rounds; `given` is that of the rounds between two controls which show that the
machine gave 95 % of its cores, with their number; `best` compares the best runs. `expected` is what `nsk inspect --profile` says before
anything of the model ran, with a profile measured at the start; it is compared with the median and the best of one lane. Needs the nsk
binary (NSK_TOOL, default build/nsk).
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "models" / "support"))
from models import MODELS, TOOL, convert_options, must, onnx_session, path_of  # noqa: E402

CONTROL = "policy_mlp"  # stays in the first-level cache


def bench(model, seconds, isa, lanes=1):
    return json.loads(must("bench", model, "--seconds", seconds, "--lanes", lanes, "--json", *isa))


def control_gain(model, seconds, isa, lanes):
    """How many times the work of one process several do in the same time."""
    alone = bench(model, seconds, isa)["median_ms"]
    together = [subprocess.Popen([TOOL, "bench", model, "--seconds", str(seconds), "--json", *isa], stdout=subprocess.PIPE, text=True) for _ in range(lanes)]
    return sum(alone / json.loads(p.communicate()[0])["median_ms"] for p in together)


def measure(name, source, control, profile, options, folder):
    model = folder / "model.nsk"
    must("convert", source, "-o", model, *convert_options(onnx_session(source), name))
    plan = json.loads(must("inspect", model, "--json", "--profile", profile))
    one, several, gains = [], [], [control_gain(control, options.seconds / 2, options.isa, options.lanes)]
    for _ in range(options.rounds):
        one.append(bench(model, options.seconds, options.isa))
        several.append(bench(model, options.seconds, options.isa, options.lanes))
        gains.append(control_gain(control, options.seconds / 2, options.isa, options.lanes))
    median, best = statistics.median(r["median_ms"] for r in one), min(r["min_ms"] for r in one)
    ratios = [a["median_ms"] / b["median_ms"] for a, b in zip(one, several)]
    given = [ratio for ratio, before, after in zip(ratios, gains, gains[1:]) if min(before, after) >= 0.95 * options.lanes]
    expected = plan["expected"]["ms"] if "expected" in plan else plan["variants"][0]["expected"]["ms"]
    return {"model": name, "mmac": one[0]["macs"] * 1e-6, "median_ms": median, "best_ms": best, "speedup": statistics.median(ratios),
            "given_speedup": statistics.median(given) if given else float("nan"), "given_rounds": len(given),
            "best_speedup": best / min(r["min_ms"] for r in several), "control": statistics.median(gains), "expected_ms": expected,
            "expected_to_median": expected / median, "expected_to_best": expected / best}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--lanes", type=int, default=2)
    parser.add_argument("--isa", type=lambda name: ["--isa", name], default=[], help="instruction set; the fastest of this machine when left out")
    parser.add_argument("--profile-seconds", type=float, default=10)
    parser.add_argument("--json")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="nsk_lanes_") as folder:
        folder = pathlib.Path(folder)
        profile, control = folder / "machine.json", folder / "control.nsk"
        must("profile", "-o", profile, "--seconds", options.profile_seconds, "--quiet", *options.isa)
        source = path_of(CONTROL)
        if source is None:
            return 0
        must("convert", source, "-o", control)
        print(f"{'model':22} {'M MACs':>8} {'1 lane ms':>10} {'best':>9} {'speed-up':>9} {'given':>10} {'best':>6} {'control':>8} {'expected':>9} {'/median':>8} {'/best':>6}")
        for name in options.models or MODELS:
            source = path_of(name)
            if source is None:
                continue
            r = measure(name, source, control, profile, options, folder)
            rows.append(r)
            print(f"{name[-22:]:22} {r['mmac']:8.1f} {r['median_ms']:10.3f} {r['best_ms']:9.3f} {r['speedup']:9.2f} {r['given_speedup']:5.2f} /{r['given_rounds']:3d} {r['best_speedup']:6.2f} {r['control']:8.2f} "
                  f"{r['expected_ms']:9.3f} {r['expected_to_median']:8.2f} {r['expected_to_best']:6.2f}", flush=True)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
