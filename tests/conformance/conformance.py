# SPDX-License-Identifier: MIT
"""Runs the ONNX project's own backend test cases and sorts them into pass, refused (with the reason) and wrong.

    conformance.py --reference build/evaluate_reference      the reference evaluator alone
    conformance.py --nsk build/nsk                           nsk convert + nsk run, as a user would

A refusal is exit code 2 with a message; every other failure (another exit code, a crash, a timeout, a result that differs) is wrong.
The exit code is 0 when nothing is wrong and at least --min-passes cases pass. The cases are made by the onnx package.
"""
import argparse
import collections
import concurrent.futures
import glob
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import onnx
from onnx import numpy_helper, version_converter

warnings.filterwarnings("ignore")
TIMEOUT_SECONDS = 120
PLAIN_TYPES = {np.dtype(t) for t in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?")}
SIMPLE_KINDS = ("simple", "pytorch-operator", "pytorch-converted")


class Refused(Exception):
    """The tool declined the case with exit code 2."""


class Wrong(Exception):
    """The tool computed something else, or failed without a clean refusal."""


def load_cases(kinds):
    """Yields (name, model, inputs, expected outputs, rtol, atol)."""
    from onnx.backend.test.loader import load_model_tests, load_node_model_tests

    if "node" in kinds:
        for case in load_node_model_tests():
            for inputs, outputs in case.data_sets[:1]:
                yield case.name, case.model, [decoded(x) for x in inputs], [decoded(x) for x in outputs], case.rtol, case.atol
    for kind in SIMPLE_KINDS:
        for case in load_model_tests(kind=kind) if kind in kinds else []:
            folder = pathlib.Path(case.model_dir)
            read = lambda what: [load_tensor(f) for f in sorted(glob.glob(str(folder / "test_data_set_0" / f"{what}_*.pb")))]
            yield f"{kind}/{case.name}", onnx.load(folder / "model.onnx"), read("input"), read("output"), case.rtol, case.atol


def decoded(x):
    return numpy_helper.to_array(x) if isinstance(x, onnx.TensorProto) else x


def modern(model):
    """Models older than opset 7 at opset 13, for the evaluator alone: it knows operators as they are since. Those that the version converter
    cannot take stay."""
    if all(o.version >= 7 for o in model.opset_import if o.domain in ("", "ai.onnx")):
        return model
    try:
        return version_converter.convert_version(model, 13)
    except Exception:
        return model


def load_tensor(file):
    tensor = onnx.TensorProto()
    try:
        tensor.ParseFromString(pathlib.Path(file).read_bytes())
        return numpy_helper.to_array(tensor)
    except Exception:  # a sequence or an optional: no tool here takes one
        return None


def plain(array):
    """Narrow floats and integers that NumPy has no files for, as the nearest type that it has."""
    array = np.asarray(array)
    if array.dtype in PLAIN_TYPES:
        return array
    return array.astype(np.int8 if "int" in array.dtype.name else np.float32)


def is_tensor(x):
    return x is not None and not isinstance(x, (list, tuple, dict)) and np.asarray(x).dtype.kind not in "OSUc"


def call(command):
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise Wrong(f"no answer in {TIMEOUT_SECONDS} s: {command[0]}") from None
    message = result.stderr.strip()
    if result.returncode == 2 and message:
        raise Refused(message)
    if result.returncode != 0:
        raise Wrong(f"exit code {result.returncode}: {message[-400:]}")


def save_inputs(model, inputs, folder):
    """Writes one .npy per graph input that has data; returns [(name, file)]."""
    initializers = {i.name for i in model.graph.initializer}
    names = [i.name for i in model.graph.input if i.name not in initializers]
    read = {name for node in model.graph.node for name in node.input}
    files = []
    for name, array in zip(names, inputs):
        if is_tensor(array) and (name in read or not is_narrow_input(model, name)):  # others are left out
            file = folder / f"input_{len(files)}.npy"
            np.save(file, plain(array))
            files.append((name, file))
    return files


def is_narrow_input(model, name):
    """Whether an input has a type of fewer than 8 bits, or a float of 8."""
    kind = next(i.type.tensor_type.elem_type for i in model.graph.input if i.name == name)
    return kind > onnx.TensorProto.BFLOAT16


def run_reference(program, model, inputs, folder, resolve):
    onnx.save(model if resolve else modern(model), folder / "model.onnx")
    files = save_inputs(model, inputs, folder)
    command = [program] + (["--resolve"] if resolve else []) + [str(folder / "model.onnx"), str(folder)]
    call(command + [f"{name}={file}" for name, file in files])
    return [np.load(folder / f"{i}.npy") for i in range(len(model.graph.output))]


def with_constants(model, inputs, is_constant):
    """The model with some inputs made initializers: how exporters write shapes, axes and weights."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    del result.graph.input[:]
    kept = []
    initializers = {i.name for i in model.graph.initializer}
    live = [i for i in model.graph.input if i.name not in initializers]
    for position, (info, array) in enumerate(zip(live, inputs)):
        if is_tensor(array) and info.type.HasField("tensor_type") and is_constant(position, np.asarray(array)):
            tensor = numpy_helper.from_array(np.asarray(array), info.name)
            tensor.data_type = info.type.tensor_type.elem_type
            result.graph.initializer.append(tensor)
        else:
            result.graph.input.append(info)
            kept.append(array)
    return result, kept


def convert(program, model, folder, options):
    """Follows the advice to say how long a range can be at most, where it is an output."""
    command = [program, "convert", str(folder / "model.onnx"), "-o", str(folder / "model.nsk"), "--no-states", *options]
    try:
        call(command)
    except Refused as e:
        advice = re.search(r"--bound (\S+)=COUNT", str(e))
        if not advice or advice[1] not in [o.name for o in model.graph.output]:
            raise
        call(command + ["--bound", f"{advice[1]}=64"])


def run_nsk(program, model, inputs, folder):
    """Converts with all inputs live; where that is refused, with integer inputs constant, then with all but the first constant."""
    attempts = [
        ("", lambda position, array: False),
        ("integer inputs constant", lambda position, array: array.dtype.kind not in "f"),
        ("all but the first input constant", lambda position, array: position > 0),
    ]
    refusal = None
    for note, is_constant in attempts:
        variant, live = with_constants(model, inputs, is_constant) if note else (model, inputs)
        if note and len(live) == len(inputs):
            continue  # the same model again
        onnx.save(variant, folder / "model.onnx")
        files = save_inputs(variant, live, folder)
        shapes = [f"{name}={'x'.join(map(str, np.load(file).shape))}" for name, file in files if np.load(file).ndim]
        try:
            convert(program, variant, folder, [w for s in shapes for w in ("--input", s)])
        except Refused as e:
            refusal = e
            if "this operator is not supported" in str(e):
                break  # no constant will help
            continue
        given = [(name, file) for name, file in files if np.load(file).size]  # the file has no inputs without elements
        for _, file in given:
            if np.load(file).dtype == np.float64:
                narrow_file(file)
        call([program, "run", str(folder / "model.nsk"), "--output-dir", str(folder)] + [w for n, f in given for w in ("--input", f"{n}={f}")])
        return [without_filled_rows(variant, o.name, folder) for o in variant.graph.output]
    raise refusal  # the last attempt's: it got furthest


def narrow_file(file):
    """The file has no inputs in double precision; the converter says so."""
    with np.errstate(over="ignore"):
        wide, narrow = np.load(file), np.load(file).astype(np.float32)
    if np.isinf(narrow).any() and not np.isinf(wide).any():
        raise Refused("its inputs are beyond float32")
    np.save(file, narrow)


def filled_axis(node, position):
    """The axis of an output that has as many rows as there can be at most; None where it has none."""
    axis = next((a.i for a in node.attribute if a.name == "axis"), 0)
    if node.op_type == "Unique":
        return {0: axis, 1: 0, 3: 0}.get(position)
    return {"NonZero": 1, "Compress": axis, "Range": 0}.get(node.op_type)


def without_filled_rows(model, name, folder):
    """The file of an output; where its number of rows is data it has as many as there can be at most, and another output says how many there are."""
    file_of = lambda name: folder / (re.sub(r"[^A-Za-z0-9_.-]", "_", name) + ".npy")
    array = np.load(file_of(name))
    for n in model.graph.node:
        axis = filled_axis(n, list(n.output).index(name)) if name in n.output else None
        if axis is not None and file_of(n.output[0] + ".count").exists():
            array = np.take(array, np.arange(int(np.load(file_of(n.output[0] + ".count")))), axis)
    return array


def without_padding(actual, model):
    """NonMaxSuppression has as many rows as it can keep at most; those that are not needed are -1, and ONNX leaves them out."""
    kept = {o for n in model.graph.node if n.op_type == "NonMaxSuppression" for o in n.output}
    return [a[~(a == -1).all(axis=1)] if o.name in kept else a for a, o in zip(actual, model.graph.output)]


RANDOM = {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli"}


def is_random(model):
    """Whether outputs are random: the cases' own were sampled once, by another generator."""
    return any(n.op_type in RANDOM for n in model.graph.node)


def compare_shapes(actual, expected):
    """What can be said of random outputs: shape, type, and for zeros and ones that they are."""
    for index, (a, e) in enumerate(zip(actual, expected)):
        e = plain(e)
        if a.shape != e.shape or a.dtype.kind != e.dtype.kind:
            raise Wrong(f"output {index}: {a.dtype}{a.shape}, expected {e.dtype}{e.shape}")
        if set(np.unique(e)) <= {0, 1} and not set(np.unique(a)) <= {0, 1}:
            raise Wrong(f"output {index}: values other than 0 and 1")


def compare(actual, expected, rtol, atol):
    for index, (a, e) in enumerate(zip(actual, expected)):
        if not is_tensor(e):
            raise Wrong(f"output {index} is no tensor, yet it was computed")
        narrow = np.asarray(e).dtype not in PLAIN_TYPES or np.asarray(e).dtype == np.float16
        e = plain(e)
        if a.shape != e.shape:
            raise Wrong(f"output {index}: shape {a.shape}, expected {e.shape}")
        if e.dtype.kind != a.dtype.kind:
            raise Wrong(f"output {index}: {a.dtype}, expected {e.dtype}")
        if e.dtype.kind != "f":
            if not np.array_equal(a, e):
                raise Wrong(f"output {index}: {np.count_nonzero(a != e)} of {e.size} elements differ")
            continue
        a, e = a.astype(np.float64), e.astype(np.float64)
        close = np.isclose(a, e, rtol=max(rtol, 1e-2 if narrow else 0), atol=max(atol, 1e-3 if narrow else 1e-6), equal_nan=True)
        if not close.all():
            raise Wrong(f"output {index}: {np.count_nonzero(~close)} of {e.size} elements differ, most by {np.nanmax(np.abs(a - e)[~close]):.3g}")


def run_case(options, case):
    name, model, inputs, expected, rtol, atol = case
    operators = sorted({n.op_type for n in model.graph.node})
    with tempfile.TemporaryDirectory(dir=options.work) as folder:
        folder = pathlib.Path(folder)
        try:
            if options.reference:
                actual = run_reference(options.reference, model, inputs, folder, options.resolve)
            else:
                actual = run_nsk(options.nsk, model, inputs, folder)
            if is_random(model):
                compare_shapes(actual, expected)
            else:
                compare(without_padding(actual, model), expected, rtol, atol)
            return {"name": name, "operators": operators, "result": "pass", "reason": ""}
        except Refused as e:
            return {"name": name, "operators": operators, "result": "refused", "reason": str(e)}
        except Wrong as e:
            return {"name": name, "operators": operators, "result": "wrong", "reason": str(e)}
        except Exception as e:  # a missing output file, for example
            return {"name": name, "operators": operators, "result": "wrong", "reason": f"{type(e).__name__}: {e}"}


def print_table(results):
    """One line per operator: how many cases pass, are refused, are wrong."""
    rows = collections.defaultdict(collections.Counter)
    for r in results:
        rows[r["operators"][0] if len(r["operators"]) == 1 else "(several)"][r["result"]] += 1
    print(f"{'operator':28}{'pass':>6}{'refused':>9}{'wrong':>7}")
    for operator, counts in sorted(rows.items()):
        print(f"{operator:28}{counts['pass']:6}{counts['refused']:9}{counts['wrong']:7}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tool = parser.add_mutually_exclusive_group(required=True)
    tool.add_argument("--reference", metavar="PROGRAM", help="evaluate_reference")
    tool.add_argument("--nsk", metavar="PROGRAM", help="the command line tool")
    parser.add_argument("--resolve", action="store_true", help="with --reference: make the graph static first")
    parser.add_argument("--kinds", default="node," + ",".join(SIMPLE_KINDS))
    parser.add_argument("--filter", default="", help="regular expression that names of cases must match")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--work", help="folder for temporary files")
    parser.add_argument("--json", help="write every case's result here")
    parser.add_argument("--reasons", action="store_true", help="print the reason of every refusal")
    parser.add_argument("--min-passes", type=int, default=1)
    options = parser.parse_args()

    cases = [c for c in load_cases(options.kinds.split(",")) if re.search(options.filter, c[0])]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda case: run_case(options, case), cases))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results, indent=1))
    print_table(results)
    for r in results:
        if r["result"] == "wrong" or (options.reasons and r["result"] == "refused"):
            print(f"{r['result'].upper()} {r['name']}: {r['reason']}")
    counts = collections.Counter(r["result"] for r in results)
    print(f"{len(results)} cases: {counts['pass']} pass, {counts['refused']} refused with a reason, {counts['wrong']} wrong")
    return 0 if counts["wrong"] == 0 and counts["pass"] >= options.min_passes else 1


if __name__ == "__main__":
    sys.exit(main())
