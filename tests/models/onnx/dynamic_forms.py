#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Dynamic quantisation against ONNX Runtime: DynamicQuantizeLinear, MatMulInteger or ConvInteger, Cast, Mul, Add become steps on bytes whose results
equal, to the last bit, those of ONNX Runtime without optimisations, on every instruction set. MatMulIntegerToFloat and DynamicQuantizeMatMul of
com.microsoft, and networks of onnxruntime.quantization.quantize_dynamic: how many elements differ from its optimised kernels, and by how much."""
import collections
import itertools
import pathlib
import re
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from grids import Grid  # noqa: E402
from models import SHARED, error_of, isas, must, onnx_session, plain_session, random_inputs, told  # noqa: E402

F = np.float32
RANDOM = np.random.default_rng(31)
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)


def weights(kind, *shape):
    info = np.iinfo(kind)
    return RANDOM.integers(info.min, info.max + 1, shape).astype(kind)


def chain(grid, what, x, op, w, w_zero, w_scale, bias=None, last=None, order=0, **attributes):
    """One layer as quantize_dynamic writes it. order: which operands of Mul and Add come first."""
    n = len(grid.nodes)
    names = [f"{s}{n}" for s in ("bytes", "unit", "zero")]
    grid.nodes.append(helper.make_node("DynamicQuantizeLinear", [x], names))
    swap = lambda a, b: [b, a] if order else [a, b]
    real = grid.hidden("Cast", [grid.hidden(op, [names[0], w, names[2], w_zero], **attributes)], to=1)
    y = grid.hidden("Mul", swap(real, grid.hidden("Mul", swap(names[1], w_scale))))
    if bias is not None:
        y = grid.hidden("Add", swap(y, bias))
    if last == "Relu":
        y = grid.hidden(last, [y])
    elif last is not None:
        y = grid.hidden("Add", [y, last])
    grid.add(what, "Identity", [y])


def chains():
    lines = {"noise": RANDOM.uniform(-3, 3, (5, 40)).astype(F), "above": RANDOM.uniform(1, 9, (2, 3, 40)).astype(F), "nothing": np.zeros((1, 40), F),
             "equal": np.full((3, 40), -2.5, F), "many": RANDOM.standard_normal((2, 3, 4, 40)).astype(F), "vector": RANDOM.standard_normal(40).astype(F)}
    grid = Grid(13, **lines)
    for (x, values), columns, each in itertools.product(lines.items(), (1, 7, 33), (False, True)):
        w_scale = RANDOM.uniform(0.001, 0.05, columns if each else ()).astype(F)
        for bias, last in ((None, None), (RANDOM.standard_normal(columns).astype(F), None), (RANDOM.standard_normal(columns).astype(F), "Relu")):
            w_zero = np.zeros(columns if each and x == "noise" else (), np.int8)
            what = f"{x}, {columns} columns, scale of each {each}, bias {bias is not None}, {last}"
            chain(grid, what, x, "MatMulInteger", weights(np.int8, 40, columns), w_zero, w_scale, bias, last, order=columns % 2)
    for zero in (128, 7):  # the first are int8 less their zero point, the others are multiplied in float32
        chain(grid, f"weights of uint8 from {zero}", "noise", "MatMulInteger", weights(np.uint8, 40, 9), np.uint8(zero), F(0.01), RANDOM.standard_normal(9).astype(F), "Relu")
    images = {"image": RANDOM.uniform(-2, 2, (2, 6, 9, 8)).astype(F), "pixels": RANDOM.uniform(0, 1, (1, 3, 12, 10)).astype(F), "sum": RANDOM.standard_normal((2, 20, 9, 8)).astype(F)}
    convolutions = Grid(13, **images)
    for x, each, biased, kernel in itertools.product(("image", "pixels"), (False, True), (False, True), (1, 3)):
        channels, outputs = images[x].shape[1], 20
        w_scale = RANDOM.uniform(0.001, 0.05, (1, outputs, 1, 1) if each else ()).astype(F)
        bias = RANDOM.standard_normal((1, outputs, 1, 1)).astype(F) if biased else None
        for last in (None, "Relu", "sum"):
            if last == "sum" and x != "image":
                continue
            what = f"{x}, kernel {kernel}, scale of each {each}, bias {biased}, {last}"
            chain(convolutions, what, x, "ConvInteger", weights(np.int8, outputs, channels, kernel, kernel), np.int8(0), w_scale, bias, last, pads=[kernel // 2] * 4)
    return [grid, convolutions]


def steps(path):
    """How many steps there are of each operator."""
    must("json", path, "-o", path.with_suffix(".json"))
    return collections.Counter(re.findall(r'"op_type": "(\w+)"', path.with_suffix(".json").read_text()))


def compare_chains(isa):
    count = 0
    for grid in chains():
        results = grid.results(isa=("--isa", isa))
        count += len(results)
        for what, got, wanted in results:
            expect(got.shape == wanted.shape and got.tobytes() == wanted.tobytes(), f"{isa}: {what}: {np.sum(got != wanted)} of {got.size} elements differ")
    print(f"{isa}: {count} layers, all elements equal" if not failures else f"{isa}: {failures[0]}")


def build(path, nodes, inputs, result, constants):
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info(n, TensorProto.FLOAT if a.dtype == F else TensorProto.UINT8, a.shape) for n, a in inputs.items()],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, result)], [numpy_helper.from_array(np.asarray(a), n) for n, a in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)], ir_version=8), str(path))
    return path


def run(folder, model, inputs, session, *isa):
    """Our outputs and ONNX Runtime's, one array each."""
    arguments = []
    for name, x in inputs.items():
        np.save(folder / f"{name}.npy", x)
        arguments += ["--input", f"{name}={folder / name}.npy"]
    must("run", model, *arguments, *isa, "--output-dir", folder / "out")
    name = session.get_outputs()[0].name
    return np.load(folder / "out" / f"{name}.npy"), session.run([name], inputs)[0]


def fused_operators(folder):
    """What ONNX Runtime makes of such chains, as it may be saved."""
    x, a = RANDOM.uniform(-3, 4, (7, 60)).astype(F), weights(np.uint8, 7, 60)
    for columns, each, biased in itertools.product((5, 64), (False, True), (False, True)):
        size = (columns,) if each else ()
        constants = {"w": weights(np.int8, 60, columns), "s": RANDOM.uniform(0.001, 0.05, size).astype(F), "z": np.zeros(size, np.int8),
                     "as": F(0.031), "az": np.uint8(77), "bias": RANDOM.standard_normal(columns).astype(F)}
        bias = ["bias"] if biased else []
        forms = {"DynamicQuantizeMatMul": ({"x": x}, ["x", "w", "s", "z", *bias]), "MatMulIntegerToFloat": ({"a": a}, ["a", "w", "as", "s", "az", "z", *bias])}
        for op, (inputs, read) in forms.items():
            used = {n: c for n, c in constants.items() if n in read}
            source = build(folder / "fused.onnx", [helper.make_node(op, read, ["y"], domain="com.microsoft")], inputs, [7, columns], used)
            must("convert", source, "-o", folder / "fused.nsk", "--check", "--quiet")
            ours, theirs = run(folder, folder / "fused.nsk", inputs, plain_session(source))
            differ, error = int((ours != theirs).sum()), error_of(ours, theirs)
            print(f"{op}, {columns} columns, scale of each {each}, bias {biased}: {differ} of {ours.size} differ, by {error:.1e} at most")
            expect(ours.shape == theirs.shape and error < 5e-7, f"{op}: {differ} of {ours.size} elements differ, by {error}")


def network(path):
    """Two convolutions, a dense layer that is a Gemm, and a MatMul."""
    w = {"c1": (12, 3, 3, 3), "b1": (12,), "c2": (20, 12, 3, 3), "d1": (30, 20), "e1": (30,), "d2": (30, 9)}
    constants = {n: (RANDOM.standard_normal(s) / np.sqrt(np.prod(s[1:]) if len(s) > 1 else 4)).astype(F) for n, s in w.items()}
    node = helper.make_node
    nodes = [node("Conv", ["x", "c1", "b1"], ["p"], pads=[1] * 4), node("Relu", ["p"], ["q"]), node("Conv", ["q", "c2"], ["r"], strides=[2, 2]), node("Relu", ["r"], ["s"]),
             node("GlobalAveragePool", ["s"], ["m"]), node("Flatten", ["m"], ["f"]), node("Gemm", ["f", "d1", "e1"], ["g"], transB=1), node("Tanh", ["g"], ["t"]),
             node("MatMul", ["t", "d2"], ["y"])]
    return build(path, nodes, {"x": np.zeros((1, 3, 16, 16), F)}, [1, 9], constants)


def quantised(source, path, each):
    from onnxruntime.quantization import QuantType, quantize_dynamic
    quantize_dynamic(str(source), str(path), weight_type=QuantType.QInt8, per_channel=each)
    return path


def networks(folder):
    sources = {"network": network(folder / "network.onnx")}
    for name in ("policy_mlp", "transformer_enc"):
        if (SHARED / "bench" / f"{name}.onnx").exists():
            sources[name] = SHARED / "bench" / f"{name}.onnx"
    for (name, source), each in itertools.product(sources.items(), (False, True)):
        stored, model = quantised(source, folder / f"{name}_{each}.onnx", each), folder / f"{name}_{each}.nsk"
        must("convert", stored, "-o", model, "--check", "--quiet")
        count = steps(model)
        expect(count["IntegerConv2D"] > 0 and count["IntegerConv2D"] >= count["DynamicQuantize"] and not count["Cast"], f"{name}: its steps are {dict(count)}")
        inputs = random_inputs(onnx_session(stored), 5, name)
        for isa in isas():
            ours, theirs = run(folder, model, inputs, plain_session(stored), "--isa", isa)
            error, optimised = error_of(ours, theirs), error_of(ours, onnx_session(stored).run(None, inputs)[0])
            print(f"{name}, scale of each {each}, {isa}: {error:.1e} from ONNX Runtime as written, {optimised:.1e} optimised; {count['IntegerConv2D']} layers")
            # a number that differs in its last bit may be stored as the next byte
            expect(max(error, optimised) < 0.02, f"{name}: {error} from ONNX Runtime, {optimised} optimised")


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_dynamic_") as place:
        folder = pathlib.Path(place)
        for isa in isas():
            compare_chains(isa)
        fused_operators(folder)
        networks(folder)
    return told(failures)


if __name__ == "__main__":
    sys.exit(main())
