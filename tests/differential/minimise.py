# SPDX-License-Identifier: MIT
"""Reduces a model that fails to few nodes and short shapes that still fail in the same way."""
import copy
import dataclasses

import numpy as np
import onnx
from onnx import helper

import peers
from net import PROTO


def fails_alike(worker, examine, case, kind):
    return examine(worker, case).kind == kind


def without_unused(case):
    """Drops nodes, constants and inputs that no output needs."""
    graph = case.model.graph
    needed = {o.name for o in graph.output}
    kept = []
    for node in reversed(graph.node):
        if needed & set(node.output):
            kept.append(node)
            needed |= set(node.input) | {name for a in node.attribute if a.HasField("g") for name in names_read(a.g)}
    del graph.node[:]
    graph.node.extend(reversed(kept))
    for field in (graph.initializer, graph.input):
        used = [x for x in field if x.name in needed]
        del field[:]
        field.extend(used)
    states = [s for s in case.request.get("states", []) if s.split("=")[0] in needed]
    request = {**case.request, "states": states, "runs": case.runs}
    feeds = {n: r for n, r in case.feeds.items() if n in needed}
    return dataclasses.replace(case, feeds=feeds, request=request, sets={n: s for n, s in case.sets.items() if n in needed})


def names_read(graph):
    for node in graph.node:
        yield from node.input
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from names_read(attribute.g)


def fork(case):
    return dataclasses.replace(case, model=copy.deepcopy(case.model), feeds=dict(case.feeds), request=dict(case.request))


def fewer_outputs(case):
    for index in range(len(case.model.graph.output)):
        smaller = fork(case)
        if len(smaller.model.graph.output) > 1:
            del smaller.model.graph.output[index]
            yield without_unused(smaller)


def earlier_outputs(case):
    """An operand of a last node becomes the output instead."""
    types = known_types(case)
    for node in reversed(case.model.graph.node):
        if not set(node.output) & set(case.outputs):
            continue
        for name in node.input:
            if name in types and any(name in n.output for n in case.model.graph.node):
                smaller = fork(case)
                del smaller.model.graph.output[:]
                smaller.model.graph.output.append(helper.make_tensor_value_info(name, types[name], None))
                yield without_unused(smaller)


def known_types(case):
    inferred = onnx.shape_inference.infer_shapes(case.model)
    values = list(inferred.graph.value_info) + list(inferred.graph.output)
    return {v.name: v.type.tensor_type.elem_type for v in values}


def later_inputs(case):
    """A value becomes an input with the numbers that ONNX Runtime computes for it."""
    types = known_types(case)
    if case.request.get("states"):
        return
    for node in case.model.graph.node:
        for name in node.output:
            if name not in types or name in case.outputs or types[name] not in PROTO.values():
                continue
            probe = fork(case)
            del probe.model.graph.output[:]
            probe.model.graph.output.append(helper.make_tensor_value_info(name, types[name], None))
            try:
                values = peers.onnx_runtime(probe)[name]
            except peers.Declined:
                continue
            smaller = fork(case)
            for other in smaller.model.graph.node:
                if name in other.output:
                    other.output[list(other.output).index(name)] = ""
            empty = [n for n in smaller.model.graph.node if not any(n.output)]
            for other in empty:
                smaller.model.graph.node.remove(other)
            smaller.model.graph.input.append(helper.make_tensor_value_info(name, types[name], values[0].shape))
            smaller.feeds[name] = values
            yield without_unused(smaller)


def bypassed(case):
    """Readers of a node read one of its operands instead."""
    for index, node in enumerate(case.model.graph.node):
        for operand in node.input:
            if not operand or len(node.output) != 1 or node.output[0] in case.outputs:
                continue
            smaller = fork(case)
            removed = smaller.model.graph.node[index].output[0]
            del smaller.model.graph.node[index]
            for other in smaller.model.graph.node:
                for i, name in enumerate(other.input):
                    if name == removed:
                        other.input[i] = operand
            yield without_unused(smaller)


def shorter_inputs(case):
    """The same axis of an input, halved or of one element; constants stay, so that only free axes change."""
    for info in case.model.graph.input:
        dims = info.type.tensor_type.shape.dim
        for axis in range(len(dims)):
            length = case.feeds[info.name][0].shape[axis] if info.name in case.feeds else 0
            for shorter in {1, length // 2, length - 1}:
                if not 0 < shorter < length:
                    continue
                smaller = fork(case)
                for other in smaller.model.graph.input:
                    if other.name == info.name:
                        other.type.tensor_type.shape.dim[axis].dim_value = shorter
                smaller.feeds[info.name] = [np.take(a, range(shorter), axis) for a in smaller.feeds[info.name]]
                yield smaller


def fewer_runs(case):
    if case.runs > 1 and case.feeds:
        smaller = fork(case)
        smaller.feeds = {n: r[:case.runs - 1] for n, r in case.feeds.items()}
        yield smaller


def plainer_numbers(case):
    for name, runs in case.feeds.items():
        if runs[0].dtype == np.float32 and not all(np.array_equal(a, np.round(a)) for a in runs):
            smaller = fork(case)
            smaller.feeds[name] = [np.where(np.isfinite(a) & (np.abs(a) < 100), np.round(a), a).astype(np.float32) for a in runs]
            yield smaller


def minimise(worker, examine, case, kind, steps=400):
    """Returns the smallest case that was found; `steps` bounds how many are tried."""
    for _ in range(60):
        for make in (fewer_outputs, earlier_outputs, later_inputs, bypassed, fewer_runs, shorter_inputs, plainer_numbers):
            smaller = next((c for c in candidates(make, case, steps) if fails_alike(worker, examine, c, kind)), None)
            if smaller is not None:
                break
        if smaller is None:
            return case
        case, steps = smaller, steps - 1
    return case


def candidates(make, case, steps):
    try:
        for number, candidate in enumerate(make(case)):
            if number >= steps:
                return
            yield candidate
    except Exception:  # a reduction that the onnx package does not take is none
        return


