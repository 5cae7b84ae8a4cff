# SPDX-License-Identifier: MIT
"""One TensorFlow Lite model, examined: converted, run in every way, compared with the evaluator and LiteRT."""
import numpy as np

import compare
from tflite_oracle import Crashed as OracleCrashed, Refused, oracle
from examine import Verdict
from worker import Crashed

def beyond_bound(case, got, answer):
    """What is wrong with the results of a quantised model, or None."""
    for name, want in answer.results.items():
        bound = case.bounds[name]
        unit = answer.steps.get(name, 1.0) if case.request.get("integers") else 1.0
        distance = np.abs(np.stack(got[name]).astype(np.float64) - want) * unit
        if not np.all(distance <= bound + 1e-6 * np.max(np.abs(want), initial=0) * unit):
            step = answer.steps.get(name, 1.0)
            return f"'{name}': {np.max(distance) / step:.2f} steps, at most {bound / step:.2f} are explained"
    return None


def inexact(case, got, answer):
    """What differs although nothing is rounded, or None."""
    for name in sorted(case.exact & set(answer.results)):
        mine, want = np.stack(got[name]), answer.results[name]
        if mine.shape != want.shape or not np.array_equal(mine, want, equal_nan=mine.dtype == np.float32):
            return f"'{name}': {np.mean(mine != want) if mine.shape == want.shape else 1:.0%} of the elements differ, though nothing is rounded"
    return None


def first_difference(got, want, disturbed, names):
    """What differs by more than rounding, or None."""
    for name in names:
        for run, (g, w) in enumerate(zip(got[name], want[name])):
            text = compare.difference(g, w, [d[name][run].reshape(w.shape) for d in disturbed])
            if text:
                return f"'{name}'" + (f" in run {run}" if run else "") + f": {text}"
    return None


def judge(case, converted, answer):
    """None where rounding has to be looked at first."""
    engine, reference, disturbed = converted["engine"], converted.get("reference"), converted.get("disturbed", [])
    if reference is None:
        return Verdict("failed", "the evaluator: " + converted.get("reference_refused", "no results"))
    # The shape of a state is the engine's, a scalar of one dimension.
    reference = {name: [a.reshape(e.shape) if a.size == e.size and name not in answer.results else a for a, e in zip(runs, engine[name])] for name, runs in reference.items()}
    text = first_difference(engine, reference, disturbed, engine)
    if text:
        return Verdict("wrong", "evaluator: " + text) if disturbed else None
    wanted = {name: list(runs) for name, runs in answer.results.items()}
    missing = set(wanted) - set(engine)
    if missing:
        return Verdict("wrong", f"outputs {sorted(missing)} are missing")
    if case.request.get("dequantize") or case.request.get("integers"):
        text = beyond_bound(case, engine, answer)
        return Verdict("disagree", "LiteRT: " + text) if text else Verdict("good")
    text = inexact(case, engine, answer)
    if text is None and set(wanted) - case.exact:
        text = first_difference(engine, wanted, disturbed, sorted(set(wanted) - case.exact))
        if text and not disturbed:
            return None
    if not text:
        return Verdict("good")
    return Verdict("disagree", "LiteRT: " + text)


def examine(worker, case):
    """Returns a Verdict; never raises for what a model does."""
    if case.declined:
        return Verdict(case.declined)
    try:
        answer = case.answer or oracle().ask(case)
    except (Refused, OracleCrashed) as e:
        return Verdict("both refuse" if isinstance(e, Refused) else "peer crashed", str(e))
    feeds = {name: list(runs) for name, runs in answer.given.items()}
    request = {**case.request, "inputs": [f"{n}={'x'.join(map(str, s))}" for n, s in case.shapes.items()]}
    try:
        # Means of integers end in many halves, each of which five disturbances may all round to one side.
        for disturbed in (0, 5, 60) if case.request.get("integers") else (0, 5):
            converted = worker.ask(case.content, feeds, {**request, "disturbed": disturbed}, ".tflite")
            if converted["status"] != "converted":
                return Verdict(converted["status"], converted["message"])
            if converted["apart"]:
                return Verdict("apart", "; ".join(converted["apart"][:3]))
            verdict = judge(case, converted, answer)
            if verdict is not None and (verdict.kind != "wrong" or disturbed != 5 or not case.request.get("integers")):
                return verdict
    except Crashed as e:
        return Verdict("crashed", str(e))
    return Verdict("failed", "no verdict")
