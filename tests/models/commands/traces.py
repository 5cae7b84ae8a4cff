#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces of `nsk run` and `nsk bench` are what chrome://tracing and ui.perfetto.dev read: fields, threads, nesting, work of steps."""
import json
import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import OWN, must  # noqa: E402

COMPLETE, METADATA = "X", "M"
ROUNDING = 1e-3  # microseconds


def check_fields(events):
    """The trace event format: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU."""
    for e in events:
        assert isinstance(e["name"], str) and e["name"], e
        assert e["ph"] in (COMPLETE, METADATA), e
        assert isinstance(e["pid"], int) and isinstance(e["tid"], int), e
        if e["ph"] == METADATA:
            assert e["name"] in ("process_name", "thread_name") and e["args"]["name"], e
        else:
            assert isinstance(e["ts"], (int, float)) and isinstance(e["dur"], (int, float)), e
            assert e["ts"] >= 0 and e["dur"] >= 0, e


def check_nesting(events):
    """On one thread two events are apart or one is within the other."""
    threads = {}
    for e in events:
        if e["ph"] == COMPLETE:
            threads.setdefault(e["tid"], []).append(e)
    for tid, spans in threads.items():
        open_until = []
        for e in sorted(spans, key=lambda s: (s["ts"], -s["dur"])):
            begin, end = e["ts"], e["ts"] + e["dur"]
            while open_until and open_until[-1] <= begin + ROUNDING:
                open_until.pop()
            assert not open_until or end <= open_until[-1] + ROUNDING, f"thread {tid}: '{e['name']}' crosses the event that it begins in"
            open_until.append(end)


def check_steps(events, report, runs, lanes):
    steps = [e for e in events if "macs" in e.get("args", {})]
    names = {e["args"]["name"]: e["tid"] for e in events if e["ph"] == METADATA}
    whole = [e for e in steps if e["tid"] == names["steps"]]
    assert len(whole) == runs * len(report["steps"]), (len(whole), runs, len(report["steps"]))
    for e in whole:
        step = report["steps"][e["args"]["step"]]
        assert e["args"]["macs"] == step["macs"] and e["args"]["bytes"] > 0 and e["args"]["operator"] == step["operator"], e
        assert e["name"] == (step["name"] or step["operator"]), e
    for lane in range(lanes if lanes > 1 else 0):
        assert f"lane {lane}" in names, names
        for e in (s for s in steps if s["tid"] == names[f"lane {lane}"]):
            around = [w for w in whole if w["args"]["step"] == e["args"]["step"] and w["ts"] <= e["ts"] + ROUNDING
                      and e["ts"] + e["dur"] <= w["ts"] + w["dur"] + ROUNDING]
            assert around, f"lane {lane} worked on step {e['args']['step']} while the step did not run"


def check_stages(events, expected):
    """Stages one behind the other, each with the steps inside that ran in it."""
    stages = [e for e in events if e.get("cat") == "stage"]
    assert [e["name"] for e in stages] == expected, stages
    for before, after in zip(stages, stages[1:]):
        assert before["ts"] + before["dur"] <= after["ts"] + ROUNDING, (before, after)
    for e in (e for e in events if "macs" in e.get("args", {})):
        inside = [s["name"] for s in stages if s["ts"] <= e["ts"] + ROUNDING and e["ts"] + e["dur"] <= s["ts"] + s["dur"] + ROUNDING]
        assert inside in (["inference"], ["run 1"], ["run 2"], ["run 3"]), (e, inside)


def check(path, report, runs, lanes, stages):
    trace = json.loads(path.read_text())
    assert trace["otherData"]["dropped_events"] == 0, trace["otherData"]
    check_stages(trace["traceEvents"], stages)
    events = trace["traceEvents"]
    check_fields(events)
    check_nesting(events)
    check_steps(events, report, runs, lanes)
    print(f"{path.name}: {len(events)} events, {runs} run(s) of {len(report['steps'])} steps, {lanes} lane(s)")


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_traces_") as folder:
        folder = pathlib.Path(folder)
        model = folder / "model.nsk"
        must("convert", OWN[0], "-o", model, "--input", "frame=1x3x32x48")
        report = json.loads(must("inspect", model, "--json"))["variants"][0]
        np.save(folder / "frame.npy", np.zeros([1, 3, 32, 48], np.float32))
        for lanes in (1, 2):
            ran, benched = folder / f"run{lanes}.json", folder / f"bench{lanes}.json"
            must("run", model, "--input", f"frame={folder / 'frame.npy'}", "--output-dir", folder, "--lanes", lanes, "--trace", ran)
            check(ran, report, 1, lanes, ["open", "input", "inference", "output"])
            must("bench", model, "--seconds", 0.05, "--lanes", lanes, "--trace", benched)
            check(benched, report, 3, lanes, ["run 1", "run 2", "run 3"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
