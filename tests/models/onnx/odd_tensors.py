#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tensors that the engine has in another form than the model: of 7 and 8 axes, without elements, in double precision, sequences. Each is told, and
has ONNX Runtime's numbers."""
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import nsk, plain_session, results_of, told  # noqa: E402

random = np.random.default_rng(3)
failures = []


def save(path, nodes, inputs, outputs, constants=()):
    """outputs: {name: ONNX's type}; a type of None is a sequence of floats."""
    info = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in inputs.items()]
    sequence = lambda n: helper.make_value_info(n, helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None)))
    results = [sequence(n) if t is None else helper.make_tensor_value_info(n, t, None) for n, t in outputs.items()]
    graph = helper.make_graph(nodes, "net", info, results, [numpy_helper.from_array(np.asarray(a), n) for n, a in constants])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))


def compare(folder, what, inputs, given, sentence):
    """`given`: inputs as the converted model has them; `sentence`: what must be told."""
    source = folder / "net.onnx"
    done = nsk("convert", source, "-o", folder / "net.nsk")
    if done.returncode or sentence not in done.stdout + done.stderr:
        failures.append(f"{what}: exit {done.returncode}, {(done.stdout + done.stderr).strip()[-400:]}")
        return
    session, result = plain_session(source), results_of(folder / "net.nsk", given, folder)
    for output, theirs in zip(session.get_outputs(), session.run(None, inputs)):
        ours = result(output.name)
        if ours.size != theirs.size or not np.allclose(ours.reshape(theirs.shape), theirs, rtol=1e-6, atol=1e-6):
            failures.append(f"{what}, {output.name}: other numbers")


def many_axes(folder):
    for shape in ([2, 3, 2, 1, 2, 2, 3], [1, 2, 3, 2, 2, 3, 2, 2]):
        x = random.standard_normal(shape).astype(np.float32)
        nodes = [helper.make_node("ReduceSum", ["x", "axes"], ["s"], keepdims=0), helper.make_node("Neg", ["x"], ["y"])]
        save(folder / "net.onnx", nodes, {"x": x}, {"s": 1, "y": 1}, [("axes", np.array([3, 5]))])
        joined = [shape[0], int(np.prod(shape[1:len(shape) - 4])), *shape[-4:]]
        compare(folder, f"{len(shape)} axes", {"x": x}, {"x": x.reshape(joined)}, f"output 'y' has {len(shape)} axes")


def nothing(folder):
    """An agent's empty observation."""
    empty, x = np.zeros((1, 0), np.float32), random.standard_normal((1, 7)).astype(np.float32)
    save(folder / "net.onnx", [helper.make_node("Concat", ["e", "x"], ["c"], axis=1), helper.make_node("Tanh", ["c"], ["y"])], {"e": empty, "x": x}, {"y": 1})
    compare(folder, "an input without elements", {"e": empty, "x": x}, {"x": x}, "input 'e' has the shape [1,0] and no elements")


def double(folder):
    x = random.standard_normal((3, 4))
    save(folder / "net.onnx", [helper.make_node("Mul", ["x", "two"], ["y"])], {"x": x}, {"y": 11}, [("two", np.float64(2.5))])
    compare(folder, "double precision", {"x": x}, {"x": x.astype(np.float32)}, "'x', and what is computed from it, is float64 in the model and float32 here")
    clock = np.array([1.7e9 + 0.25])
    save(folder / "net.onnx", [helper.make_node("Sub", ["t", "zero"], ["d"]), helper.make_node("Sin", ["d"], ["y"])], {"t": clock}, {"y": 11}, [("zero", np.float64(1.7e9))])
    done = nsk("convert", folder / "net.onnx", "-o", folder / "clock.nsk")
    if done.returncode != 3 or (folder / "clock.nsk").exists() or "float64 in the model" not in done.stdout + done.stderr:
        failures.append(f"a clock that needs double precision: exit {done.returncode}, {(done.stdout + done.stderr)[-500:]}")


def sequence_output(folder):
    x = random.standard_normal((2, 4)).astype(np.float32)
    save(folder / "net.onnx", [helper.make_node("SplitToSequence", ["x"], ["y"], axis=1), helper.make_node("SequenceAt", ["y", "one"], ["z"])], {"x": x}, {"y": None, "z": 1}, [("one", np.array(1))])
    done = nsk("convert", folder / "net.onnx", "-o", folder / "never.nsk")
    if done.returncode != 2 or "output 'y' is a sequence of 4 tensors" not in done.stderr:
        failures.append(f"a sequence as an output: exit {done.returncode}, {done.stderr.strip()}")
    done = nsk("convert", folder / "net.onnx", "-o", folder / "net.nsk", "--output-value", "z")
    if done.returncode:
        failures.append(f"a sequence that is left out: {done.stderr.strip()}")


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_odd_tensors_") as place:
        for test in (many_axes, nothing, double, sequence_output):
            test(pathlib.Path(place))
    return told(failures)


if __name__ == "__main__":
    sys.exit(main())
