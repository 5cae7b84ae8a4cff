# SPDX-License-Identifier: MIT
"""Smaller TensorFlow Lite models that fail in the same way."""
import dataclasses

import numpy as np

ACTS = ("ASSIGN_VARIABLE", "CALL_ONCE")  # operators without results


def opened(case):
    """The model as objects of the package ai-edge-litert, and its first graph."""
    from ai_edge_litert import schema_py_generated as schema
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(case.content, 0))
    graph = model.subgraphs[0]
    for o in graph.operators:
        o.inputs, o.outputs = ([int(i) for i in (side if side is not None else [])] for side in (o.inputs, o.outputs))
    graph.inputs, graph.outputs = [int(i) for i in graph.inputs], [int(i) for i in graph.outputs]
    names = {value: name for name, value in vars(schema.BuiltinOperator).items() if not name.startswith("_")}
    return model, graph, [names[model.operatorCodes[o.opcodeIndex].builtinCode] for o in graph.operators]


def name_of(graph, t):
    return graph.tensors[t].name.decode()


def closed(case, model, graph, **changes):
    """A case of a changed model: without operators and inputs that no output needs."""
    import flatbuffers
    _, _, names = opened(case)
    needed, kept, acting = set(graph.outputs), [], []
    for o, name in reversed(list(zip(graph.operators, names))):
        if needed & set(o.outputs) or name in ACTS:
            kept.append(o)
            acting.append(name)
            needed |= {i for i in o.inputs if i >= 0}
    graph.operators = list(reversed(kept))
    graph.inputs = [t for t in graph.inputs if t in needed]
    if not graph.operators or not graph.inputs:
        return None
    builder = flatbuffers.Builder(1 << 16)
    builder.Finish(model.Pack(builder), b"TFL3")
    given = {**case.inputs, **changes.pop("inputs", {})}
    used = {name_of(graph, t) for t in graph.inputs}
    return dataclasses.replace(case, content=bytes(builder.Output()), inputs={n: v for n, v in given.items() if n in used}, shapes={n: s for n, s in case.shapes.items() if n in used},
                               operators=list(reversed(acting)), **changes)


def fewer_outputs(case, oracle):
    _, graph, _ = opened(case)
    for k in range(len(graph.outputs)):
        model, graph, _ = opened(case)
        del graph.outputs[k]
        if graph.outputs:
            yield closed(case, model, graph)


def moving(graph):
    """Tensors that operators compute, but those that are not numbers."""
    from ai_edge_litert.schema_py_generated import TensorType
    none = (TensorType.COMPLEX64, TensorType.RESOURCE, TensorType.FLOAT16)
    return [t for o in graph.operators for t in o.outputs if graph.tensors[t].type not in none]


def earlier_outputs(case, oracle):
    """An operand of a last operator becomes the output instead."""
    _, graph, _ = opened(case)
    for k, o in reversed(list(enumerate(graph.operators))):
        if not set(o.outputs) & set(graph.outputs):
            continue
        for t in set(o.inputs) & set(moving(graph)):
            model, smaller, _ = opened(case)
            smaller.outputs = [t]
            yield closed(case, model, smaller)


def later_inputs(case, oracle):
    """A tensor becomes an input with the numbers that LiteRT computes for it."""
    if case.shapes:
        return
    _, graph, _ = opened(case)
    for t in reversed(moving(graph)):
        if t in graph.outputs:
            continue
        model, probe, _ = opened(case)
        probe.outputs = [t]
        asked = closed(case, model, probe)
        if asked is None:
            continue
        value = oracle.ask(dataclasses.replace(asked, stored=True, answer=None)).results[name_of(graph, t)]
        model, smaller, _ = opened(case)
        for o in smaller.operators:
            o.outputs = [-2 if other == t else other for other in o.outputs]
        if any(-2 in o.outputs and len(o.outputs) > 1 for o in smaller.operators):
            continue
        smaller.inputs.append(t)
        yield closed(case, model, smaller, inputs={name_of(graph, t): value})


def fewer_runs(case, oracle):
    runs = case.runs
    if runs > 1:
        yield dataclasses.replace(case, inputs={n: v[:runs - 1] for n, v in case.inputs.items()})


def plainer_numbers(case, oracle):
    for name, values in case.inputs.items():
        if values.dtype == np.float32 and not np.array_equal(values, np.rint(values)):
            plain = np.where(np.isfinite(values) & (np.abs(values) < 100), np.rint(values), values).astype(np.float32)
            yield dataclasses.replace(case, inputs={**case.inputs, name: plain})


STEPS = (fewer_outputs, earlier_outputs, later_inputs, fewer_runs, plainer_numbers)


def candidates(make, case, oracle):
    """What a step makes; nothing where the model does not allow it."""
    try:
        yield from (smaller for smaller in make(case, oracle) if smaller is not None)
    except (RuntimeError, ValueError, KeyError):
        return


def minimise(worker, examine, case, kind, tries=300):
    """Returns the smallest case that was found; `tries` bounds how many are examined."""
    from tflite_oracle import oracle
    found = True
    while found:
        found = False
        for make in STEPS:
            for smaller in candidates(make, case, oracle()):
                smaller = dataclasses.replace(smaller, answer=None)
                tries -= 1
                if tries < 0:
                    return case
                if examine(worker, smaller).kind == kind:
                    case, found = smaller, True
                    break
            if found:
                break
    return case
