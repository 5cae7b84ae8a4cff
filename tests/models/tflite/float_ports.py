#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`nsk convert --float-io`: inputs and outputs of float32 for models that store integers. Each model gets real numbers, as a game has them; LiteRT
or ONNX Runtime gets their integers, by the scale of the port in the source, and its integers are widened. Both must be equal in every element."""
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from litert import interpreter_of  # noqa: E402
from models import SAID_SKIPPED, SHARED, file_name, must, nsk, onnx_session  # noqa: E402

F = np.float32
RANDOM = np.random.default_rng(7)
SOURCES = ("ad01_int8", "kws_ref_model", "mobilenet_v1_0.25_128_quant", "pretrainedResnet_quant")


def stored(x, scale, zero, dtype):
    info = np.iinfo(dtype)
    return np.clip(np.rint(x / F(scale)) + zero, info.min, info.max).astype(dtype)


def real(v, scale, zero):
    return (v.astype(F) - F(zero)) * F(scale)


def convert(source, folder):
    """The converted model, which `nsk check` takes for the source's too."""
    model = folder / "model.nsk"
    must("convert", source, "-o", model, "--float-io", "--quiet")
    must("check", source, model, "--quiet")
    return model


def run(model, given, folder):
    arguments = []
    for i, (name, values) in enumerate(given.items()):
        np.save(folder / f"{i}.npy", values)
        arguments += ["--input", f"{name}={folder / f'{i}.npy'}"]
    must("run", model, *arguments, "--output-dir", folder / "out")


def result(name, folder):
    return np.load(folder / "out" / file_name(name))


def require_equal(name, got, want):
    if got.dtype != want.dtype or got.shape != want.shape or not np.array_equal(got, want):
        raise SystemExit(f"{name}: {got.dtype} {got.shape}, {int(np.sum(got != want)) if got.shape == want.shape else 'all'} of {want.size} elements differ")
    print(f"{name}: {want.size} elements are equal")


def lite(name, folder):
    source = SHARED / "quantized" / f"{name}.tflite"
    if not source.exists() or interpreter_of(source.read_bytes(), "AUTO") is None:
        print(f"{SAID_SKIPPED} {name}.tflite does not exist, or ai-edge-litert is not installed")
        return
    model, interpreter, given = convert(source, folder), interpreter_of(source.read_bytes(), "AUTO"), {}
    shown = must("inspect", model)
    for detail in (*interpreter.get_input_details(), *interpreter.get_output_details()):
        scale, zero = detail["quantization"]
        text = f"quantization.{detail['name']}: {np.dtype(detail['dtype']).name}, scale {scale:.9g}, zero point {zero}"
        if text not in shown:
            raise SystemExit(f"{name}: nsk inspect does not show '{text}'")
    for detail in interpreter.get_input_details():
        scale, zero = detail["quantization"]
        x = RANDOM.uniform(-140 * scale, 140 * scale, detail["shape"]).astype(F)
        interpreter.set_tensor(detail["index"], stored(x, scale, zero, detail["dtype"]))
        given[detail["name"]] = x
    interpreter.invoke()
    run(model, given, folder)
    for detail in interpreter.get_output_details():
        require_equal(name, result(detail["name"], folder), real(interpreter.get_tensor(detail["index"]), *detail["quantization"]))


def onnx_model(nodes, inputs, outputs, constants, path):
    port = lambda p: helper.make_tensor_value_info(p[0], p[1], p[2])
    tensors = [numpy_helper.from_array(np.asarray(v), name) for name, v in constants.items() if any(name in n.input for n in nodes)]
    graph = helper.make_graph(nodes, "ports", [port(p) for p in inputs], [port(p) for p in outputs], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)], ir_version=10)
    onnx.save(model, path)


U8, I8, F32 = TensorProto.UINT8, TensorProto.INT8, TensorProto.FLOAT
COMMON = {"xs": F(0.021), "xz": np.uint8(117), "ws": F(0.004), "wz": np.int8(0), "w": RANDOM.integers(-127, 128, (8, 3, 3, 3)).astype(np.int8),
          "ys": F(0.13), "yz": np.uint8(90), "is": F(0.05), "iz": np.int8(-7)}
N = helper.make_node
PORTS = {"x": (0.021, 117, np.uint8), "i": (0.05, -7, np.int8)}
FORMS = {  # nodes, inputs, outputs with scale and zero point
    "a layer of integers": ([N("QLinearConv", ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"], ["y"])],
                            [("x", U8, [1, 3, 9, 8])], {"y": (U8, [1, 8, 7, 6], 0.13, 90)}),
    "pairs around a layer": ([N("DequantizeLinear", ["x", "xs", "xz"], ["a"]), N("DequantizeLinear", ["w", "ws", "wz"], ["b"]), N("Conv", ["a", "b"], ["c"]),
                              N("Relu", ["c"], ["r"]), N("QuantizeLinear", ["r", "ys", "yz"], ["y"])],
                             [("x", U8, [2, 3, 6, 5])], {"y": (U8, [2, 8, 4, 3], 0.13, 90)}),
    "moves at both ends": ([N("Transpose", ["x"], ["t"], perm=[0, 3, 1, 2]), N("DequantizeLinear", ["t", "xs", "xz"], ["a"]), N("Tanh", ["a"], ["b"]),
                            N("QuantizeLinear", ["b", "is", "iz"], ["q"]), N("Transpose", ["q"], ["y"], perm=[0, 2, 3, 1])],
                           [("x", U8, [1, 4, 5, 3])], {"y": (I8, [1, 4, 5, 3], 0.05, -7)}),
    "two inputs": ([N("QLinearAdd", ["x", "xs", "xz", "z", "xs", "xz", "ys", "yz"], ["y"], domain="com.microsoft")],
                   [("x", U8, [3, 5]), ("z", U8, [3, 5])], {"y": (U8, [3, 5], 0.13, 90)}),
    "int8, and an input of no scale": ([N("DequantizeLinear", ["i", "is", "iz"], ["a"]), N("Cast", ["plain"], ["p"], to=F32), N("Add", ["a", "p"], ["s"]),
                                        N("QuantizeLinear", ["s", "ys", "yz"], ["y"])],
                                       [("i", I8, [4, 6]), ("plain", U8, [4, 6])], {"y": (U8, [4, 6], 0.13, 90)}),
}


def form(name, nodes, inputs, outputs, folder):
    source = folder / "model.onnx"
    onnx_model(nodes, inputs, [(n, *o[:2]) for n, o in outputs.items()], COMMON, source)
    model, given, integers = convert(source, folder), {}, {}
    for port, type_, shape in inputs:
        if port == "plain":
            given[port] = integers[port] = RANDOM.integers(0, 3, shape).astype(np.uint8)
            continue
        scale, zero, dtype = PORTS["i" if type_ == I8 else "x"]
        given[port] = RANDOM.uniform(-3, 3, shape).astype(F)
        integers[port] = stored(given[port], scale, zero, dtype)
    want = onnx_session(source).run(list(outputs), integers)
    run(model, given, folder)
    for (port, (_, _, scale, zero)), values in zip(outputs.items(), want):
        require_equal(name, result(port, folder), real(values, scale, zero))


def refusals(folder):
    source = folder / "real.onnx"
    onnx_model([N("Relu", ["x"], ["y"])], [("x", F32, [2])], [("y", F32, [2])], {}, source)
    for arguments, text in (((), "no input or output of the model is a quantised integer"), (("--dequantize",), "--float-io")):
        refused = nsk("convert", source, "-o", folder / "none.nsk", "--float-io", *arguments)
        if refused.returncode == 0 or text not in refused.stderr or (folder / "none.nsk").exists():
            raise SystemExit(f"--float-io {arguments} of a float32 model: {refused.returncode} {refused.stderr}")


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_float_ports_") as name:
        folder = pathlib.Path(name)
        for title, (nodes, inputs, outputs) in FORMS.items():
            form(title, nodes, inputs, outputs, folder)
        for source in SOURCES:
            lite(source, folder)
        refusals(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
