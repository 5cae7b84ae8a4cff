#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`nsk bench --profile` through the command line: a profile of this machine, and made-up ones of which the verdict follows."""
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import REPOSITORY, must, nsk  # noqa: E402

sys.path.insert(0, str(REPOSITORY / "tests" / "docs"))
from commands import small_model  # noqa: E402

FACTOR = 50  # far beyond what a busy machine does to a measurement


def with_rates(profile, changed):
    """A copy of a profile whose rates of these kinds (None: all) are multiplied."""
    copy = json.loads(json.dumps(profile))
    for kernel in copy["kernels"]:
        for reference in kernel["references"]:
            reference["work_per_us"] *= changed.get(kernel["kind"], changed.get(None, 1))
    return copy


def bench(folder, profile, *more):
    (folder / "made_up.json").write_text(json.dumps(profile))
    return must("bench", folder / "model.nsk", "--seconds", 0.3, "--profile", folder / "made_up.json", "--quiet", *more)


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_verdicts_") as folder:
        folder = pathlib.Path(folder)
        small_model(folder / "model.onnx")
        must("convert", folder / "model.onnx", "-o", folder / "model.nsk", "--quiet")
        must("profile", "-o", folder / "machine.json", "--seconds", 0.5, "--quiet")
        machine = json.loads((folder / "machine.json").read_text())

        report = json.loads(bench(folder, machine, "--json"))
        steps = report["steps"]
        assert all(s["expected_us"] > 0 and s["measured_us"] > 0 and s["finding"] for s in steps), steps
        assert report["verdict"]["result"] in ("too much work", "inefficient layers"), report["verdict"]
        assert "verdict: " in bench(folder, machine)
        print(f"this machine: {report['verdict']['result']}, expected {report['verdict']['expected_us']:.0f} us, measured {report['verdict']['measured_us']:.0f} us")

        # Rates that no layer is below: only less work helps.
        slow = json.loads(bench(folder, with_rates(machine, {None: 1 / FACTOR}), "--json"))
        assert slow["verdict"]["result"] == "too much work" and slow["verdict"]["machine_differs"], slow["verdict"]
        assert "too much work" in bench(folder, with_rates(machine, {None: 1 / FACTOR}))

        # One kind that could be much faster: its heaviest step is named.
        heaviest = max(steps, key=lambda s: s["measured_us"])
        profile = with_rates(machine, {heaviest["kind"]: FACTOR})
        fast = json.loads(bench(folder, profile, "--json"))
        named = fast["steps"][heaviest["index"]]
        assert fast["verdict"]["result"] == "inefficient layers" and named["lost_us"] > 0 and named["advice"], (fast["verdict"], named)
        text = bench(folder, profile)
        assert "verdict: inefficient layers" in text and f"step {heaviest['index']} '{heaviest['name']}'" in text, text

        other = dict(machine, isa="another")
        for made, options, says in ((other, [], "was measured with another"), (machine, ["--lanes", 2], "Leave --lanes out"), ({}, [], "is not a device profile")):
            (folder / "made_up.json").write_text(json.dumps(made))
            done = nsk("bench", folder / "model.nsk", "--profile", folder / "made_up.json", *options)
            assert done.returncode != 0 and says in done.stderr, (done.returncode, done.stderr)
    print(f"{len(steps)} steps; both verdicts follow from made-up rates; 3 profiles refused")
    return 0


if __name__ == "__main__":
    sys.exit(main())
