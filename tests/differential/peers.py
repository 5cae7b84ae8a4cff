# SPDX-License-Identifier: MIT
"""Other implementations of ONNX: ONNX Runtime, and the reference implementation of the onnx package."""
import numpy as np
import onnxruntime
from onnx.reference import ReferenceEvaluator


class Declined(Exception):
    """The implementation does not take the model; the message is its own."""


def _options():
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    # Its pad fusion changes max pooling (docs/decisions/tests.md), others compute in 8-bit integers.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return options


OPTIONS = _options()


def _sequence(run, case):
    """Runs once per run of the case, outputs fed back into states; returns {name: [array of every run]}."""
    states = dict(s.split("=") for s in case.request.get("states", []))
    names = case.outputs  # a twin's have the same order
    results = {name: [] for name in names}
    carried = {name: np.zeros(case.state_shapes[name], np.float32) for name in states}
    for index in range(case.runs):
        given = {name: runs[index] for name, runs in case.feeds.items()} | carried
        given |= {name: np.full(shape, float(value), dtype) for name, (value, shape, dtype) in case.sets.items()}
        for name, array in zip(names, run(given)):
            results[name].append(np.asarray(array))
        carried = {name: results[output][-1] for name, output in states.items()}
    return results


def peer_outputs(case):
    return [o.name for o in case.peer_model.graph.output]


def onnx_runtime(case):
    """Raises Declined."""
    try:
        session = onnxruntime.InferenceSession(case.peer_model.SerializeToString(), OPTIONS, providers=["CPUExecutionProvider"])
        return _sequence(lambda given: session.run(peer_outputs(case), given), case)
    except Exception as e:  # its exceptions have no common base
        raise Declined(str(e)) from None


def onnx_reference(case):
    """Raises Declined."""
    try:
        evaluator = ReferenceEvaluator(case.peer_model)
        with np.errstate(all="ignore"):
            return _sequence(lambda given: evaluator.run(peer_outputs(case), given), case)
    except Exception as e:  # whatever NumPy raises
        raise Declined(f"{type(e).__name__}: {e}") from None
