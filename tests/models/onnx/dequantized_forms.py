#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Quantised ONNX models with --dequantize: each against the float32 graph that it should become, through ONNX Runtime.

  dequantized_forms.py [PATTERN]

The quantised model itself, through ONNX Runtime, must be within a share of the largest magnitude that its steps explain.
"""
import pathlib
import re
import sys
import tempfile

import numpy as np
import onnx
import onnx.parser
from onnx import numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from forms import check_refusal, floats  # noqa: E402
from models import error_of, file_name, must, plain_session  # noqa: E402

TOLERANCE, STEPS = 2e-5, 0.05
RANDOM = np.random.default_rng(12)
CASES, REFUSED = {}, {}


def bytes_of(*shape, kind=np.int8, low=-100, high=100):
    return RANDOM.integers(low, high, shape).astype(kind)


def scalar(value, kind=np.float32):
    return np.array(value, kind)


def case(name, signature, quantised, plain, constants, plain_constants, inputs=None, opset=18):
    text = f'<ir_version: 8, opset_import: ["" : {opset}]> g {signature} {{ %s }}'
    CASES[name] = (model_of(text % quantised, constants), model_of(text % plain, plain_constants), inputs or {})


def model_of(text, constants):
    model = onnx.parser.parse_model(text)
    for name, value in constants.items():
        model.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
    return model


def widened(values, scale, zero=0):
    return ((values.astype(np.float64) - zero) * scale).astype(np.float32)


W, S, U = bytes_of(4, 3, 3, 3), floats(4, low=0.005, high=0.02), scalar(0.02)
X = {"sx": scalar(0.01), "zx": scalar(128, np.uint8), "sy": scalar(0.05), "zy": scalar(100, np.uint8)}
LIMITS = {"xl": scalar(-1.28), "xh": scalar(1.27), "yl": scalar(-5.0), "yh": scalar(7.75)}
case("pairs_around_a_convolution", "(float[1,3,8,8] x) => (float[1,4,6,6] y)",
     "q = QuantizeLinear(x, sx, zx) d = DequantizeLinear(q, sx, zx) w = DequantizeLinear<axis=0>(wq, sw, zw) c = Conv(d, w)"
     " r = QuantizeLinear(c, sy, zy) y = DequantizeLinear(r, sy, zy)",
     "d = Clip(x, xl, xh) c = Conv(d, w) y = Clip(c, yl, yh)",
     {**X, "wq": W, "sw": S, "zw": np.zeros(4, np.int8)}, {**LIMITS, "w": widened(W, S.reshape(4, 1, 1, 1))}, {"x": floats(1, 3, 8, 8, low=-2, high=2)})
case("two_scales", "(float[4,6] x) => (float[4,6] y)", "q = QuantizeLinear(x, sx, zx) y = DequantizeLinear(q, sy, zx)",
     "d = Clip(x, xl, xh) y = Mul(d, five)", X, {**LIMITS, "five": scalar(5)}, {"x": floats(4, 6, low=-2, high=2)})
case("moved_between_a_pair", "(float[4,6] x) => (float[6,4] y)", "q = QuantizeLinear(x, sx, zx) t = Transpose(q) y = DequantizeLinear(t, sx, zx)",
     "d = Clip(x, xl, xh) y = Transpose(d)", X, LIMITS, {"x": floats(4, 6, low=-2, high=2)})
case("a_named_type", "(float[4,6] x) => (float[4,6] y)", "q = QuantizeLinear<output_dtype=3>(x, sx) y = DequantizeLinear(q, sx)",
     "y = Clip(x, xl, xh)", {"sx": X["sx"]}, LIMITS, {"x": floats(4, 6, low=-2, high=2)}, opset=21)
B = bytes_of(12, 5)
case("dynamic_product", "(float[3,12] x) => (float[3,5] y)",
     "q, s, z = DynamicQuantizeLinear(x) i = MatMulInteger(q, b, z, zb) f = Cast<to=1>(i) u = Mul(s, sb) y = Mul(f, u)",
     "y = MatMul(x, b)", {"b": B, "zb": scalar(3, np.int8), "sb": U}, {"b": widened(B, 0.02, 3)})
ZB = bytes_of(5, low=-5, high=5)
case("dynamic_product_by_columns", "(float[3,12] x) => (float[3,5] y)",
     "q, s, z = DynamicQuantizeLinear(x) i = MatMulInteger(q, b, z, zb) f = Cast<to=1>(i) u = Mul(s, sb) y = Mul(f, u)",
     "y = MatMul(x, b)", {"b": B, "zb": ZB, "sb": floats(5, low=0.01, high=0.02)}, {})
CASES["dynamic_product_by_columns"][1].graph.initializer.append(numpy_helper.from_array(
    widened(B, numpy_helper.to_array(CASES["dynamic_product_by_columns"][0].graph.initializer[2]), ZB), "b"))
case("dynamic_convolution", "(float[1,3,8,8] x) => (float[1,4,8,8] y)",
     "q, s, z = DynamicQuantizeLinear(x) i = ConvInteger<pads=[1,1,1,1]>(q, w, z, zw) f = Cast<to=1>(i) u = Mul(s, sw) y = Mul(f, u)",
     "y = Conv<pads=[1,1,1,1]>(x, w)", {"w": W, "zw": scalar(-2, np.int8), "sw": U}, {"w": widened(W, 0.02, -2)})
BIAS = RANDOM.integers(-3000, 3000, 4).astype(np.int32)
case("quantised_convolutions", "(float[1,3,8,8] x) => (float[1,4,6,6] y)",
     "q = QuantizeLinear(x, sx, zx) c = QLinearConv(q, sx, zx, w, sw, zw, sy, zy, b) y = DequantizeLinear(c, sy, zy)",
     "d = Clip(x, xl, xh) c = Conv(d, w, b) y = Clip(c, yl, yh)",
     {**X, "w": W, "sw": S, "zw": np.zeros(4, np.int8), "b": BIAS},
     {**LIMITS, "w": widened(W, S.reshape(4, 1, 1, 1)), "b": widened(BIAS, 0.01 * S)}, {"x": floats(1, 3, 8, 8, low=-2, high=2)})
C = bytes_of(12, 5, kind=np.uint8, low=0, high=255)
case("quantised_product", "(float[3,12] x) => (float[3,5] y)",
     "q = QuantizeLinear(x, sx, zx) c = QLinearMatMul(q, sx, zx, b, sb, zb, sy, zy) y = DequantizeLinear(c, sy, zy)",
     "d = Clip(x, xl, xh) c = MatMul(d, b) y = Clip(c, yl, yh)",
     {**X, "b": C, "sb": scalar(0.01), "zb": scalar(120, np.uint8)}, {**LIMITS, "b": widened(C, 0.01, 120)}, {"x": floats(3, 12, low=-2, high=2)})

REFUSED["integers_that_are_read"] = ("(float[4,6] x) => (int32[4,6] y)", "q = QuantizeLinear(x, sx, zx) y = Cast<to=6>(q)", X, "not rounded with --dequantize")
REFUSED["a_computed_scale"] = ("(float[4,6] x, float s) => (float[4,6] y)", "q = QuantizeLinear(x, s, zx) y = DequantizeLinear(q, s, zx)", X, "scales are constants")


def run(name):
    quantised, plain, given = CASES[name]
    with tempfile.TemporaryDirectory(prefix="nsk_dequantized_") as folder:
        folder = pathlib.Path(folder)
        source, target = folder / "model.onnx", folder / "model.nsk"
        onnx.save(quantised, source)
        onnx.save(plain, folder / "plain.onnx")
        must("convert", source, "-o", target, "--dequantize", "--check", "--quiet")
        must("check", source, target, "--quiet")
        inputs = {i.name: given.get(i.name, floats(*[d.dim_value for d in i.type.tensor_type.shape.dim])) for i in quantised.graph.input}
        arguments = []
        for key, value in inputs.items():
            np.save(folder / f"{key}.npy", value)
            arguments += ["--input", f"{key}={folder / f'{key}.npy'}"]
        must("run", target, *arguments, "--output-dir", folder / "out")
        got = np.load(folder / "out" / file_name("y"))
        error, steps = (error_of(got, plain_session(folder / file).run(None, inputs)[0]) for file in ("plain.onnx", "model.onnx"))
    if not error <= TOLERANCE or not steps <= STEPS:
        raise SystemExit(f"{name}: {error:.1e} from the float32 graph, {steps:.1e} from the quantised one")
    return error


def main():
    pattern = sys.argv[1] if len(sys.argv) > 1 else ".*"
    chosen = [name for name in CASES if re.fullmatch(pattern, name)]
    for name in chosen:
        print(f"{name}: {run(name):.1e}", flush=True)
    for name, refused in REFUSED.items():
        check_refusal(name, *refused, "--dequantize")
    print(f"{len(chosen)} models agree with their float32 graphs, {len(REFUSED)} are refused with a reason")


if __name__ == "__main__":
    main()
