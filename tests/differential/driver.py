#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random models against the evaluator and ONNX Runtime, or LiteRT (--tflite), on every instruction set and 1 to 3 lanes.

    driver.py build/tests/differential/differential_worker --count 100000 --seed 1 --keep failures
    driver.py build/tests/differential/differential_worker --replay failures/windows.transposed_123
    driver.py build/tests/differential/differential_worker --tflite --count 20000 --seed 1 --keep failures

Every model follows from its seed and family. What fails is reduced and kept as a folder with the model, its inputs and what is wrong.
Ends with a table of what was refused, and 'N models: ...'. Exit code 1 where anything was found.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from examine import reason_of  # noqa: E402
from worker import Worker  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SHARD = 5000  # models of a process of the peers


def tools_for(arguments):
    """(cases, examine, minimise) of the kind of models that is asked for."""
    if arguments.tflite:
        import tflite_cases
        import tflite_examine
        import tflite_minimise
        return tflite_cases, tflite_examine.examine, tflite_minimise.minimise
    import cases
    import examine
    import minimise
    return cases, examine.examine, minimise.minimise


def run_shard(arguments):
    """Examines the models of some seeds; a JSON object per line says what became of each."""
    first, count = arguments.shard
    cases, examine, minimise = tools_for(arguments)
    end = time.monotonic() + arguments.seconds
    with Worker(arguments.worker) as worker:
        for seed in range(first, first + count):
            print(json.dumps({"begins": seed}), flush=True)
            case = cases.sample(seed, arguments.family)
            verdict = examine(worker, case)
            line = {"seed": seed, "family": case.family, "kind": verdict.kind, "text": verdict.text, "operators": sorted(set(case.operators))}
            if verdict.found and arguments.keep:
                cases.save(case, verdict, arguments.keep / f"{case.family}_{seed}" / "whole")
                if not arguments.whole and not case.twin:
                    small = minimise(worker, examine, case, verdict.kind)
                    again = examine(worker, small)
                    cases.save(small, again, arguments.keep / f"{case.family}_{seed}")
                    line["small"] = sorted(set(small.operators))
                    line["text"] = again.text
            print(json.dumps(line), flush=True)
            if time.monotonic() > end:
                break


class Tally:
    """What became of the models."""

    def __init__(self):
        self.kinds, self.families = collections.Counter(), collections.Counter()
        self.refusals, self.peers, self.operators = collections.Counter(), collections.Counter(), collections.Counter()
        self.findings, self.started = [], time.monotonic()

    def add(self, line):
        self.kinds[line["kind"]] += 1
        self.families[line["family"], line["kind"]] += 1
        self.operators.update(line["operators"])
        if line["kind"] == "refused":
            self.refusals[reason_of(line["text"])] += 1
        if line["kind"] in ("peer alone", "known"):
            self.peers[line["kind"], tuple(line["operators"])[:4], line["text"] if line["kind"] == "known" else ""] += 1
        if line["kind"] in ("wrong", "disagree", "apart", "crashed", "failed"):
            self.findings.append(line)
            print(f"{line['kind']}: seed {line['seed']}, {line['family']}, {' '.join(line.get('small', line['operators']))}: {line['text'][:240]}", flush=True)

    def report(self, arguments):
        print("\nrefused by the converter alone:")
        for text, count in self.refusals.most_common(arguments.rows):
            print(f"{count:7} {text}")
        print("where the other runtime stands alone:")
        for (kind, operators, text), count in self.peers.most_common(arguments.rows):
            print(f"{count:7} {kind}: {text or ' '.join(operators)}")
        print("families: " + ", ".join(f"{f} {k} {n}" for (f, k), n in sorted(self.families.items())))
        print(f"operators: {len(self.operators)}")
        total = sum(self.kinds.values())
        kinds = ", ".join(f"{self.kinds[k]} {k}" for k in ("good", "refused", "both refuse", "known", "peer alone", "peer crashed"))
        print(f"{total} models, seeds {arguments.seed} to {arguments.seed + arguments.count - 1}, {time.monotonic() - self.started:.0f} s: {kinds}; "
              f"{self.kinds['wrong'] + self.kinds['disagree']} wrong, {self.kinds['crashed'] + self.kinds['failed']} crashed, {self.kinds['apart']} with bits apart")
        return 1 if self.findings or not self.kinds["good"] else 0


def run_all(arguments):
    """Runs shards one after the other in processes of their own: a peer that crashes takes no more than one model with it."""
    tally, seed, end = Tally(), arguments.seed, arguments.seed + arguments.count
    deadline = time.monotonic() + arguments.seconds
    while seed < end and time.monotonic() < deadline:
        command = [sys.executable, __file__, str(arguments.worker), "--shard", str(seed), str(min(SHARD, end - seed)), "--seconds", str(deadline - time.monotonic())]
        command += ["--keep", str(arguments.keep)] * bool(arguments.keep) + ["--whole"] * arguments.whole + ["--tflite"] * arguments.tflite
        command += ["--family", *arguments.family] if arguments.family else []
        begun = seed
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as shard:
            for text in shard.stdout:
                line = json.loads(text)
                begun = line.get("begins", begun)
                if "kind" in line:
                    seed = line["seed"] + 1
                    tally.add(line)
                    if arguments.first and tally.findings:
                        shard.kill()
                        return 1
                    if arguments.progress and seed % 1000 == 0:
                        print(f"... {seed - arguments.seed} models, {time.monotonic() - tally.started:.0f} s", flush=True)
        if shard.returncode == 1:
            raise SystemExit(f"the driver failed at seed {begun}")
        if shard.returncode != 0 and seed <= begun:
            print(f"seed {begun}: the other runtime ended with code {shard.returncode}", flush=True)
            tally.kinds["peer crashed"] += 1
            seed = begun + 1
    arguments.count = seed - arguments.seed
    return tally.report(arguments)


def replay(arguments):
    cases, examine, _ = tools_for(arguments)
    with Worker(arguments.worker) as worker:
        verdict = examine(worker, cases.load(arguments.replay))
    print(f"{verdict.kind}: {verdict.text}")
    return 1 if verdict.found else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("worker", type=pathlib.Path, help="differential_worker")
    parser.add_argument("--tflite", action="store_true", help="TensorFlow Lite models, against LiteRT")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after that time")
    parser.add_argument("--family", nargs="+", default=[], help="only families whose name contains one of these")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for what fails")
    parser.add_argument("--whole", action="store_true", help="do not reduce what fails")
    parser.add_argument("--first", action="store_true", help="stop at the first finding")
    parser.add_argument("--rows", type=int, default=40, help="of the tables")
    parser.add_argument("--progress", action="store_true")
    parser.add_argument("--replay", type=pathlib.Path, help="examine one kept folder again")
    parser.add_argument("--shard", type=int, nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.tflite:
        sys.path += [str(HERE.parent / "models" / folder) for folder in ("support", "tflite")]
        from litert import have_litert
        if not have_litert():
            return 0
    if arguments.replay:
        return replay(arguments)
    if arguments.shard:
        return run_shard(arguments)
    return run_all(arguments)


if __name__ == "__main__":
    sys.exit(main())
