# SPDX-License-Identifier: MIT
"""One model, examined: converted, run in every way, compared with the evaluator, ONNX Runtime and, where those differ, the reference
implementation of the onnx package."""
import dataclasses
import re

import numpy as np
import onnx
from onnx import numpy_helper

import compare
import known
import peers
from worker import Crashed


BROKEN = ("cannot be run by the engine", "before anything produces it")  # refusals that no valid model should meet
ROUNDING = 1e-3  # of the largest magnitude: what sums that cancel inside a node may lose, where ONNX Runtime loses as much


@dataclasses.dataclass
class Case:
    """A model, what its inputs hold in every run, and the options of the request."""
    model: onnx.ModelProto
    feeds: dict
    request: dict = dataclasses.field(default_factory=dict)
    family: str = ""
    twin: onnx.ModelProto = None  # what other runtimes compute in place of the model, with outputs in the same order
    special: bool = False  # inputs hold infinities, NaN or numbers whose squares overflow
    state_shapes: dict = dataclasses.field(default_factory=dict)
    sets: dict = dataclasses.field(default_factory=dict)
    bounded: dict = dataclasses.field(default_factory=dict)  # {output: [axis or axes, filler, counted]}: other runtimes give fewer rows (net.py)

    @property
    def runs(self):
        return len(next(iter(self.feeds.values()))) if self.feeds else self.request.get("runs", 1)

    @property
    def outputs(self):
        return [o.name for o in self.model.graph.output]

    @property
    def peer_model(self):
        return self.twin or self.model

    @property
    def is_huge(self):
        """Whether it holds numbers whose squares or products may overflow."""
        constants = [numpy_helper.to_array(t) for t in self.model.graph.initializer]
        constants += [numpy_helper.to_array(a.t) for n in self.model.graph.node for a in n.attribute if a.name == "value" and a.HasField("t")]
        numbers = [a.astype(np.float64) for a in constants + [a for runs in self.feeds.values() for a in runs] if a.dtype.kind == "f"]
        return any(np.any(np.isfinite(a) & (np.abs(a) > 1e12) | (np.abs(a) < 1e-12) & (a != 0)) for a in numbers)

    @property
    def operators(self):
        return operators_of(self.model.graph) + [o for f in self.model.functions for o in operators_of(f)]


def operators_of(graph):
    result = []
    for node in graph.node:
        if node.op_type != "Constant":
            result.append(node.op_type)
        for attribute in node.attribute:
            if attribute.HasField("g"):
                result += operators_of(attribute.g)
    return result


@dataclasses.dataclass
class Verdict:
    """`kind`: good, refused, both refuse, known, peer alone, or a finding: wrong, disagree, apart, crashed, failed, accepted."""
    kind: str
    text: str = ""

    @property
    def found(self):
        return self.kind in ("wrong", "disagree", "apart", "crashed", "failed")


def reason_of(message):
    """A refusal without names and numbers, for counting."""
    operator = re.search(r"\(([A-Z]\w+)[,)]", message)
    text = re.sub(r"^.*?\): ", "", message, count=1) if message.startswith(("node ", "operator ")) else message
    text = re.sub(r"'[^']*'", "'..'", text)
    text = re.sub(r"\[[-\d,. ]*\]", "[..]", text)
    return (operator[1] + ": " if operator else "") + re.sub(r"-?\d+", "N", text)[:150]


def first_difference(case, got, want, disturbed, share, names=None, rows=None):
    excused = not known.CLAMPS.isdisjoint(case.operators)
    for name in names or got:
        if name not in want:
            continue
        for run, (g, w) in enumerate(zip(got[name], want[name])):
            text = compare.difference(g, w, [d[name][run] for d in disturbed], share, (rows or {}).get(name, [None])[0], excused)
            if text:
                return f"'{name}'" + (f" in run {run}" if run else "") + f": {text}"
    return None


def overflows(results):
    return any(np.any(np.abs(a[np.isfinite(a)]) > compare.LARGEST) for runs in results.values() for a in runs if a.dtype.kind == "f")


def nearly_equal(engine, reference):
    with np.errstate(all="ignore"):
        return all(np.nanmax(np.abs(g - w), initial=0) <= 1e-6 for n in engine for g, w in zip(engine[n], reference[n]) if g.dtype.kind == "f")


def padded(results, case, engine):
    """The results with the engine's fillers, or its own rows where no filler is promised, behind their own rows; and how many these are.

    A third entry of `case.bounded` names the value whose count an output shares."""
    if results is None:
        return None
    results = dict(results)
    for name, (axis, filler, *counted) in case.bounded.items():
        axes, counts = axis if isinstance(axis, list) else [axis], []
        for run, a in enumerate(results.get(name, [])):
            own = engine[name][run]
            if a.ndim != own.ndim:
                continue
            full = own.astype(a.dtype) if filler is None else np.full(own.shape, filler, a.dtype)
            rows = tuple(slice(min(a.shape[d], own.shape[d])) if d in axes else slice(None) for d in range(a.ndim))
            if all(a.shape[d] == own.shape[d] for d in range(a.ndim) if d not in axes):
                full[rows] = a[rows]
                results[name] = results[name][:run] + [full] + results[name][run + 1:]
            rows_of, rows_that_fit = a.shape[axes[0]], own.shape[axes[0]]
            counted_more = rows_of > rows_that_fit and name + ".count" in engine and engine[name + ".count"][run] == rows_that_fit + 1
            counts.append(np.array(rows_that_fit + 1 if counted_more else min(rows_of, rows_that_fit), np.int64))
        for count in (name + ".count", *(c + ".count" for c in counted)):
            if counts and count in engine:
                results[count] = counts
    return results


def float32_of(results):
    return {n: [a.astype(np.float32) if a.dtype == np.float64 else a for a in runs] for n, runs in results.items()}


def judge(worker, case, answer, other, declined):
    """Compares the answer with its reference and with the other runtime's results (None where it declined)."""
    engine, reference, disturbed, rows = answer["engine"], answer.get("reference"), answer.get("disturbed", []), answer.get("rows")
    again, share = not disturbed, compare.WINOGRAD if answer["winograd"] else compare.NEAR
    if case.bounded:
        reference, *disturbed = (padded(results, case, engine) for results in (reference, *disturbed))
    if reference is not None:
        text = first_difference(case, engine, reference, disturbed, share, None, rows)
        if text and again:
            return None
        if text:
            agrees = other is not None and not first_difference(case, engine, float32_of(other), disturbed, share, case.outputs, rows)
            if overflows(reference) or agrees and (case.special or case.is_huge):
                return Verdict("known", "the evaluator computes in double precision, where nothing overflows")
            if agrees and not first_difference(case, engine, reference, disturbed, ROUNDING, None, rows):
                return Verdict("known", "the evaluator does not lose what single precision loses inside a node")
            if agrees and nearly_equal(engine, reference):
                return Verdict("known", "a function whose error is bounded absolutely (docs/reference/conventions.md)")
            reason = known.reason(case, text)
            if reason:
                return Verdict("known", reason)
            return Verdict("wrong", ("(as ONNX Runtime) " if agrees else "") + "evaluator: " + text)
    if other is None:
        return Verdict("good" if reference is not None else "refused", "" if reference is not None else "nothing to compare with: " + declined)
    other = padded(float32_of(other), case, engine)
    names = case.outputs + [n + ".count" for name, (_, _, *counted) in case.bounded.items() for n in (name, *counted)]
    text = first_difference(case, engine, other, disturbed, share, [n for n in names if n in other], rows)
    if not text:
        return Verdict("good")
    if again:
        return None
    if reference is None:
        return Verdict("wrong", "ONNX Runtime: " + text)
    reason = known.reason(case, text)
    if reason:
        return Verdict("known", reason)
    try:
        third = float32_of(peers.onnx_reference(case))
        against = first_difference(case, engine, third, disturbed, share, case.outputs, rows)
        if not against:
            return Verdict("peer alone", text)
        text += "; onnx: " + against
    except peers.Declined as e:
        text += f"; onnx declines: {e}"
    return Verdict("disagree", "ONNX Runtime: " + text)


def examine(worker, case):
    """Returns a Verdict; never raises for what a model does."""
    other, declined = None, ""
    try:
        other = peers.onnx_runtime(case)
    except peers.Declined as e:
        declined = str(e)
    model = case.model.SerializeToString()
    request = {"find_states": False, **{k: v for k, v in case.request.items() if k != "open"}}
    try:
        for disturbed in (0, 5):
            answer = worker.ask(model, case.feeds, {**request, "disturbed": disturbed})
            if answer["status"] == "refused" and answer["code"] == 3:
                verdict = examine(worker, dataclasses.replace(case, request={**case.request, "check": False}))
                return Verdict("refused", "the check refuses what is right") if verdict.kind in ("good", "known", "peer alone") else verdict
            if answer["status"] == "refused" and any(text in answer["message"] for text in BROKEN):
                return Verdict("failed", answer["message"])
            if answer["status"] == "refused":
                return Verdict("refused" if other is not None else "both refuse", answer["message"])
            if answer["status"] == "failed":
                return Verdict("failed", answer["message"])
            if answer["apart"]:
                return Verdict("apart", "; ".join(answer["apart"][:3]))
            verdict = judge(worker, case, answer, other, declined)
            if verdict is not None:
                return verdict
    except Crashed as e:
        return Verdict("crashed", str(e))
    return Verdict("failed", "no verdict")
