#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Operators of com.microsoft on stored integers, and a network that onnxruntime.quantization writes with QuantFormat.QOperator, against ONNX Runtime.
Its kernels add and average in units of the result, so that halves may be a step apart: at most one element in ten thousand; on this machine none is."""
import pathlib
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import must, plain_session, told  # noqa: E402

F = np.float32
RANDOM = np.random.default_rng(9)
EVERY = {"a": [1, 4, 128, 128], "b": [1, 4, 128, 128]}  # all pairs of bytes
IMAGE = {"a": [1, 7, 12, 14]}
FORMS = {
    "QLinearAdd": (EVERY, ["a", "b"], {}, 1e-4), "QLinearMul": (EVERY, ["a", "b"], {}, 1e-4), "QLinearAdd broadcast": ({"a": [1, 7, 12, 14], "b": [1, 7, 1, 1]}, ["a", "b"], {}, 1e-4),
    "QLinearSigmoid": (EVERY, ["a"], {}, 1e-4), "QLinearLeakyRelu": (EVERY, ["a"], {"alpha": 0.1}, 1e-4),
    "QLinearAveragePool": (IMAGE, ["a"], {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}, 1e-4),
    "QLinearAveragePool with pads": (IMAGE, ["a"], {"kernel_shape": [2, 2], "pads": [1, 0, 0, 1], "count_include_pad": 1}, 1e-4),
    "QLinearGlobalAveragePool": ({"a": [3, 70, 7, 7]}, ["a"], {}, 1e-4),
    "QLinearAveragePool with its channels last": ({"a": [1, 12, 14, 7]}, ["a"], {"kernel_shape": [3, 3], "strides": [2, 1], "pads": [1, 0, 1, 1], "channels_last": 1}, 1e-4),
    "QLinearGlobalAveragePool with its channels last": ({"a": [3, 7, 5, 70]}, ["a"], {"channels_last": 1}, 1e-4),
    "QLinearConcat": ({"a": [1, 7, 12, 14], "b": [1, 9, 12, 14]}, ["a", "b"], {"axis": 1}, 1e-4),
    "QLinearWhere": (EVERY, ["a", "b"], {}, 1e-4),
    "QLinearSoftmax": ({"a": [20, 30]}, ["a"], {"axis": -1, "opset": 13}, 1e-4),
}
failures = []


def build(path, name, kind, shapes, tensors, attributes):
    op, stored = name.split()[0], TensorProto.UINT8 if kind == np.uint8 else TensorProto.INT8
    constants, inputs = [], []

    def scale(value):
        constants.append(numpy_helper.from_array(F(value), f"c{len(constants)}"))
        constants.append(numpy_helper.from_array(kind(RANDOM.integers(100, 150) - (0 if kind == np.uint8 else 128)), f"c{len(constants)}"))
        return [c.name for c in constants[-2:]]

    result = scale(1 / 256 if op == "QLinearSoftmax" else RANDOM.uniform(0.02, 0.05))
    for tensor in tensors:
        inputs += [tensor] + scale(RANDOM.uniform(0.01, 0.05))
    inputs = result + inputs if op == "QLinearConcat" else inputs + result
    if op == "QLinearWhere":
        constants.append(numpy_helper.from_array(RANDOM.integers(0, 2, shapes["a"]).astype(bool), "where"))
        inputs = ["where"] + inputs
    node = helper.make_node(op, inputs, ["y"], domain="com.microsoft", **attributes)
    graph = helper.make_graph([node], "net", [helper.make_tensor_value_info(n, stored, shapes[n]) for n in tensors], [helper.make_tensor_value_info("y", stored, None)], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)], ir_version=8)
    onnx.save(model, str(path))


def compare(folder, source, inputs):
    """(elements, those that differ, by how much at most)."""
    must("convert", source, "-o", folder / "net.nsk", "--check")
    arguments = []
    for name, x in inputs.items():
        np.save(folder / f"{name}.npy", x)
        arguments += ["--input", f"{name}={folder / name}.npy"]
    must("run", folder / "net.nsk", *arguments, "--output-dir", folder)
    session = plain_session(source)
    name = session.get_outputs()[0].name
    ours, theirs = np.load(folder / f"{name}.npy"), session.run(None, inputs)[0]
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return ours.size, ours.size, 999
    apart = np.abs(ours.astype(np.float64) - theirs.astype(np.float64))
    return apart.size, int((apart > 0).sum()), apart.max()


def every_pair(kind, shapes):
    grid = np.meshgrid(np.arange(256), np.arange(256))
    low = np.iinfo(kind).min
    return {n: (grid[i].ravel() + low).astype(kind).reshape(s) if s == EVERY["a"] else RANDOM.integers(low, low + 256, s).astype(kind)
            for i, (n, s) in enumerate(shapes.items())}


def whole_network(folder):
    """Residual sums, Concat, averages and activations between layers, as onnxruntime.quantization writes them."""
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
    random = np.random.default_rng(2)
    weights = {n: numpy_helper.from_array((random.standard_normal(s) / np.sqrt(np.prod(s[1:]))).astype(F), n)
               for n, s in {"a": (8, 3, 3, 3), "b": (8, 8, 3, 3), "c": (8, 8, 1, 1), "d": (10, 16)}.items()}
    nodes = [helper.make_node("Conv", ["x", "a"], ["p"], pads=[1] * 4), helper.make_node("Relu", ["p"], ["q"]), helper.make_node("Conv", ["q", "b"], ["r"], pads=[1] * 4),
             helper.make_node("LeakyRelu", ["r"], ["s"], alpha=0.2), helper.make_node("Add", ["q", "s"], ["t"]), helper.make_node("Conv", ["t", "c"], ["u"]),
             helper.make_node("Sigmoid", ["u"], ["v"]), helper.make_node("Mul", ["u", "v"], ["w"]), helper.make_node("Concat", ["t", "w"], ["z"], axis=1),
             helper.make_node("GlobalAveragePool", ["z"], ["m"]), helper.make_node("Flatten", ["m"], ["n"]), helper.make_node("Gemm", ["n", "d"], ["y"], transB=1)]
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 16, 16])], [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 10])],
                              list(weights.values()))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(folder / "float.onnx"))
    data = [random.standard_normal((1, 3, 16, 16)).astype(F) for _ in range(8)]

    class Reader(CalibrationDataReader):
        def __init__(self):
            self.rest = iter(data)

        def get_next(self):
            x = next(self.rest, None)
            return None if x is None else {"x": x}

    for kind in (QuantType.QUInt8, QuantType.QInt8):
        source = folder / "stored.onnx"
        quantize_static(str(folder / "float.onnx"), str(source), Reader(), quant_format=QuantFormat.QOperator, activation_type=kind, weight_type=QuantType.QInt8, per_channel=True)
        operators = {n.op_type for n in onnx.load(str(source)).graph.node}
        if not {"QLinearAdd", "QLinearConcat", "QLinearMul", "QLinearSigmoid"} <= operators:
            failures.append(f"the network has the operators {operators}")
        for level in ("as it is", "EXTENDED", "ALL"):  # the last one puts channels last
            compare_network(folder, source, level, kind, data[0])


def compare_network(folder, source, level, kind, x):
    model = source if level == "as it is" else folder / "saved.onnx"
    if level != "as it is":
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, f"ORT_ENABLE_{level}")
        options.optimized_model_filepath, options.log_severity_level = str(model), 3
        onnxruntime.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])
        print(sorted({f"{n.domain}.{n.op_type}" for n in onnx.load(str(model)).graph.node}))
    count, differ, maximum = compare(folder, model, {"x": x})
    step = next(float(numpy_helper.to_array(i)) for i in onnx.load(str(source)).graph.initializer if i.name == "y_scale")
    print(f"network of {kind}, {level}: {differ} of {count} scores differ, by {maximum / step:.2f} steps at most")
    if maximum > 1.01 * step:
        failures.append(f"network of {kind}, {level}: {maximum / step} steps apart")


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_stored_") as place:
        folder = pathlib.Path(place)
        for kind in (np.uint8, np.int8):
            for name, (shapes, tensors, attributes, share) in FORMS.items():
                if kind == np.int8 and name == "QLinearSoftmax":
                    continue  # by 1 / 256 half of its range
                build(folder / "net.onnx", name, kind, shapes, tensors, attributes)
                count, differ, maximum = compare(folder, folder / "net.onnx", every_pair(kind, {n: shapes[n] for n in tensors}))
                print(f"{name} of {kind.__name__}: {differ} of {count} differ, by {maximum:.0f} at most")
                if maximum > 1 or differ > share * count:
                    failures.append(f"{name} of {kind.__name__}: {differ} of {count} differ, by {maximum} at most")
        whole_network(folder)
    return told(failures)


if __name__ == "__main__":
    sys.exit(main())
