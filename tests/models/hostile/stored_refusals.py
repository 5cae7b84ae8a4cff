#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stored sources with odd scales and zero points: nsk convert computes what ONNX Runtime or LiteRT does, or refuses with one message that names what is wrong,
exit code 2 and no file. Quantised operators of ONNX, of TensorFlow Lite as int8 and uint8, with and without --dequantize."""
import os
import pathlib
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from litert import have_litert, interpreter_of  # noqa: E402
from models import nsk, told  # noqa: E402
from tflite_writer import Writer  # noqa: E402

F, I8, U8 = np.float32, np.int8, np.uint8
LIMIT_S = 60
RANDOM = np.random.default_rng(7)
failures = []
counts = {"equal": 0, "refused": 0}

ODD_SCALES = {"0": 0, "minus 0": -0.0, "negative": -0.1, "denormal": 1e-40, "NaN": np.nan, "infinite": np.inf, "huge": 1e38, "tiny": 2e-38}
# Of tensors, by role: what replaces a scale or a zero point.
ODD_TFLITE = {
    "no quantisation": {"scale": None}, "no scales": {"scale": [], "zero": []}, "no zero points": {"zero": []}, "two scales": {"scale": [0.1, 0.2], "zero": [0, 0]},
    "three zero points": {"zero": [0, 0, 0]}, "zero point above": {"zero": [300]}, "zero point below": {"zero": [-200]}, "zero point beyond int32": {"zero": [1 << 40]},
    "axis out of range": {"axis": 9}, "axis negative": {"axis": -1}, **{f"scale {name}": {"scale": [s]} for name, s in ODD_SCALES.items()}}


def quiet_exit(what, source, output, *options):
    """Whether there is a file; a refusal says one line, and leaves nothing behind."""
    for file in output.parent.glob("out*"):
        file.unlink()
    done = nsk("convert", source, "-o", output, *options, timeout=LIMIT_S)
    if done.returncode == 0:
        return True
    counts["refused"] += 1
    lines = done.stderr.strip().splitlines()
    if done.returncode != 2 or len(lines) != 1 or list(output.parent.glob("out*")) or list(output.parent.glob(".nsk-*")):
        failures.append(f"{what}: exit {done.returncode}, {done.stderr.strip()[:300]} {done.stdout.strip()[:300]}")
    return False


def compare(what, output, inputs, wanted, share=0.05):
    """Every element within a step of what the source's own runtime finds, and all equal but for a share."""
    folder = output.parent
    given = [a for name, x in inputs.items() for a in ("--input", f"{name}={folder / name}.npy") if np.save(folder / f"{name}.npy", x) is None]
    done = nsk("run", output, *given, "--output-dir", folder, "--quiet", timeout=LIMIT_S)
    if done.returncode != 0:
        failures.append(f"{what}: {done.stderr.strip()}")
        return
    counts["equal"] += 1
    found = np.load(folder / "y.npy")
    same_kind = np.array_equal(np.isnan(found), np.isnan(wanted)) and found.dtype == wanted.dtype
    apart = np.abs(np.nan_to_num(found.astype(np.float64) - wanted.astype(np.float64)))
    if not same_kind or apart.max() > 1 or (apart > 0).mean() > share:
        failures.append(f"{what}: {(apart > 0).sum()} of {apart.size} elements differ, by {apart.max()} at most: {found.ravel()[:5]} for {wanted.ravel()[:5]}")


def check_onnx(folder, name, op, inputs, operands, roles, domain="", **attributes):
    """`roles`: where in `operands` scales are, and the zero point of each."""
    values = {n: RANDOM.integers(np.iinfo(k).min, np.iinfo(k).max + 1, s).astype(k) for n, (k, s) in inputs.items()}
    changes = {}
    for scale in roles:
        for said, number in ODD_SCALES.items():
            changes[f"scale {scale} {said}"] = {scale: np.full_like(operands[scale], number)}
        changes[f"scale {scale} of three"] = {scale: np.full(3, 0.1, F)}
        zero = operands[scale + 1]
        changes[f"zero point {scale + 1} of another type"] = {scale + 1: np.asarray(zero).astype(U8 if np.asarray(zero).dtype == I8 else I8)}
        changes[f"zero point {scale + 1} float"] = {scale + 1: np.asarray(zero).astype(F)}
        changes[f"zero points {scale + 1} of three"] = {scale + 1: np.full(3, zero)}
        changes[f"zero point {scale + 1} at the end"] = {scale + 1: np.full_like(zero, np.iinfo(np.asarray(zero).dtype).max)}
    for said, change in changes.items():
        read, constants = [], []
        for i, o in enumerate(operands):
            o = change.get(i, o)
            read.append(o if isinstance(o, str) else f"c{i}")
            if not isinstance(o, str):
                constants.append(numpy_helper.from_array(np.asarray(o), f"c{i}"))
        kinds = {np.dtype(U8): TensorProto.UINT8, np.dtype(I8): TensorProto.INT8}
        ports = [helper.make_tensor_value_info(n, kinds[v.dtype], v.shape) for n, v in values.items()]
        out = next((kinds[np.asarray(o).dtype] for o in reversed([change.get(i, o) for i, o in enumerate(operands)]) if not isinstance(o, str) and np.asarray(o).dtype in kinds), TensorProto.UINT8)
        graph = helper.make_graph([helper.make_node(op, read, ["y"], "odd", domain=domain, **attributes)], "net", ports, [helper.make_tensor_value_info("y", out, None)], constants)
        source = folder / "source.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)], ir_version=8), str(source))
        what = f"{name}: {said}"
        if not quiet_exit(what, source, folder / "out.nsk", "--check"):
            continue
        try:
            wanted = onnxruntime.InferenceSession(str(source), providers=["CPUExecutionProvider"]).run(None, values)[0]
        except Exception as e:  # ONNX Runtime has several of its own
            if "of another type" in said:
                continue  # what this means is clear, and the evaluator confirms it; ONNX Runtime has no such kernel
            failures.append(f"{what}: ONNX Runtime refuses, {str(e)[:150]}")
            continue
        compare(what, folder / "out.nsk", values, wanted)


class Layer:
    """A layer of TensorFlow Lite on bytes, whose tensors have roles."""

    def __init__(self, kind, role, change):
        self.w, self.kind, self.role, self.change = Writer(), kind, role, change
        self.zero = 128 if kind is U8 else 3

    def tensor(self, role, shape, data=None, scale=0.1, zero=None, dtype=None):
        t = self.w.tensor(role, shape, dtype or self.kind, data)
        own = {"scale": [scale] if np.isscalar(scale) else list(scale), "zero": [self.zero if zero is None else zero] * np.size(scale), "axis": 0}
        if role == self.role:
            own.update(self.change)
        if own["scale"] is not None:
            q = self.w.schema.QuantizationParametersT()
            q.scale, q.zeroPoint, q.quantizedDimension = own["scale"], own["zero"], own["axis"]
            self.w.graph.tensors[t].quantization = q
        return t

    def convolution(self):
        x = self.tensor("x", [1, 5, 5, 3])
        low, high = (0, 256) if self.kind is U8 else (-127, 128)
        weights = np.random.default_rng(5).integers(low, high, (4, 1, 1, 3)).astype(self.kind)
        each = 0.02 if self.kind is U8 else np.linspace(0.01, 0.02, 4)
        w = self.tensor("w", [4, 1, 1, 3], weights, each, zero=None if self.kind is U8 else 0)
        bias = self.tensor("bias", [4], np.arange(4, dtype=np.int32) * 90, np.multiply(each, 0.1), 0, np.int32)
        y = self.tensor("y", [1, 5, 5, 4], scale=0.3)
        options = {"strideW": 1, "strideH": 1, "dilationWFactor": 1, "dilationHFactor": 1}
        self.w.operator("CONV_2D", [x, w, bias], [y], ("Conv2DOptions", options))
        return self.w.finish([x], [y])

    def sum(self):
        x, z, y = self.tensor("x", [1, 5, 5, 3]), self.tensor("w", [3], np.arange(3).astype(self.kind), 0.05), self.tensor("y", [1, 5, 5, 3], scale=0.2)
        self.w.operator("ADD", [x, z], [y], ("AddOptions", {}))
        return self.w.finish([x], [y])

    def largest(self):
        x, y = self.tensor("x", [1, 4, 4, 3]), self.tensor("y", [1, 2, 2, 3])
        self.w.operator("MAX_POOL_2D", [x], [y], ("Pool2DOptions", {"strideW": 2, "strideH": 2, "filterWidth": 2, "filterHeight": 2}))
        return self.w.finish([x], [y])


def litert_of(folder, content, x):
    """LiteRT's result; None where it refuses the model, or ends its process."""
    result = folder / "litert.npy"
    result.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        try:
            os.close(2)
            interpreter = interpreter_of(content, "BUILTIN")
            interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
            interpreter.invoke()
            np.save(result, interpreter.get_tensor(interpreter.get_output_details()[0]["index"]))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    return np.load(result) if result.exists() else None


def check_tflite(folder, kind, build, role, said, change):
    content = build(Layer(kind, role, change))
    (folder / "source.tflite").write_bytes(content)
    what = f"{build.__name__} of {kind.__name__}, {role}: {said}"
    quiet_exit(what + " (floats)", folder / "source.tflite", folder / "out.nsk", "--dequantize")
    if not quiet_exit(what, folder / "source.tflite", folder / "out.nsk"):
        return
    shape = [1, 4, 4, 3] if build is Layer.largest else [1, 5, 5, 3]
    x = np.random.default_rng(8).integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, shape).astype(kind)
    if said == "no zero points":  # these are 0, where LiteRT reads what is not there
        content = build(Layer(kind, role, {"zero": [0] * (4 if role in ("w", "bias") and kind is I8 and build is Layer.convolution else 1)}))
    wanted = litert_of(folder, content, x)
    if wanted is None and build is Layer.sum and role == "w" and said in ("scale 0", "scale minus 0"):
        return  # adds zeros; LiteRT has no multiplier of 0
    if wanted is None:
        failures.append(f"{what}: LiteRT refuses it, nsk convert does not")
        return
    compare(what, folder / "out.nsk", {"x": x}, wanted, 1 if build is Layer.sum else 0.05)


def main():
    with tempfile.TemporaryDirectory(prefix="nsk_stored_refusals_") as place:
        folder = pathlib.Path(place)
        image, w, bias = {"x": (U8, (1, 3, 5, 5))}, RANDOM.integers(-90, 90, (4, 3, 1, 1)).astype(I8), np.arange(4, dtype=np.int32)
        check_onnx(folder, "QLinearConv", "QLinearConv", image, ["x", F(0.1), U8(7), w, F(0.02), I8(0), F(0.5), U8(100), bias], (1, 4, 6))
        rows = RANDOM.integers(-90, 90, (3, 5)).astype(I8)
        check_onnx(folder, "QLinearMatMul", "QLinearMatMul", {"x": (U8, (4, 3))}, ["x", F(0.1), U8(7), rows, F(0.02), I8(0), F(0.5), U8(100)], (1, 4, 6))
        pair = {"x": (U8, (1, 3, 5, 5)), "z": (U8, (1, 3, 5, 5))}
        check_onnx(folder, "QLinearAdd", "QLinearAdd", pair, ["x", F(0.1), U8(7), "z", F(0.02), U8(9), F(0.2), U8(100)], (1, 4, 6), "com.microsoft")
        check_onnx(folder, "QLinearSigmoid", "QLinearSigmoid", image, ["x", F(0.1), U8(7), F(0.004), U8(0)], (1, 3), "com.microsoft")
        check_onnx(folder, "QLinearGlobalAveragePool", "QLinearGlobalAveragePool", image, ["x", F(0.1), U8(7), F(0.1), U8(9)], (1, 3), "com.microsoft")
        for kind in (I8, U8) if have_litert() else ():
            for build, roles in ((Layer.convolution, ("x", "w", "bias", "y")), (Layer.sum, ("x", "w", "y")), (Layer.largest, ("x", "y"))):
                for role in roles:
                    for said, change in ODD_TFLITE.items():
                        check_tflite(folder, kind, build, role, said, change)
    print(f"{counts['equal']} odd sources compared, {counts['refused']} refused")
    return told(failures)


if __name__ == "__main__":
    sys.exit(main())
