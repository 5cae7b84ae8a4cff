#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Layers of stored integers whose weights or biases are not what converters write today, against LiteRT.

Biases whose scale is not that of the sums, or that have none: LiteRT adds their integers to the sums, and its own kernels refuse some; so does the
converter, with one warning for a file. Weights of four bits are integers as others. Where XNNPACK takes the layer the integers must be equal;
LiteRT's own kernels round twice, which is at most a step apart.
"""
import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from litert import compare_runs, have_litert, interpreter_of  # noqa: E402
from models import nsk  # noqa: E402
from tflite_hybrid import bytes_of, packed, unpacked  # noqa: E402
from tflite_writer import Writer  # noqa: E402

LAYERS = ("FULLY_CONNECTED", "CONV_2D", "DEPTHWISE_CONV_2D")
WINDOW = {"strideH": 1, "strideW": 1, "dilationHFactor": 1, "dilationWFactor": 1, "padding": 1}
OPTIONS = {"FULLY_CONNECTED": ("FullyConnectedOptions", {}), "CONV_2D": ("Conv2DOptions", WINDOW), "DEPTHWISE_CONV_2D": ("DepthwiseConv2DOptions", {**WINDOW, "depthMultiplier": 1})}


def quantised(w, t, scale, zero=0, axis=0):
    q = w.graph.tensors[t].quantization = w.schema.QuantizationParametersT()
    q.scale = np.atleast_1d(np.asarray(scale, np.float32))
    q.zeroPoint, q.quantizedDimension = np.full(len(q.scale), zero, np.int64), axis
    return t


def model(op, kind, factor, per_channel, seed):
    """A layer with a bias whose scale is `factor` times that of the sums (None: it has none), and its input."""
    w, numbers, limits = Writer(), np.random.default_rng(seed), np.iinfo(kind)
    middle, depthwise = (0 if kind == np.int8 else 128), op == "DEPTHWISE_CONV_2D"
    count, depth = (8 if depthwise else 4), 8
    shape = [3, depth] if op == "FULLY_CONNECTED" else [1, 3, 3, depth]
    of_weights = [count, depth] if op == "FULLY_CONNECTED" else [1, 1, 1, count] if depthwise else [count, 1, 1, depth]
    scale = numbers.uniform(0.005, 0.02, count) if per_channel else [0.01]
    x = quantised(w, w.tensor("x", shape, kind), 0.05, middle)
    k = quantised(w, w.tensor("k", of_weights, kind, numbers.integers(max(limits.min, -127), limits.max, of_weights)), scale, middle, 3 if depthwise else 0)
    bias = w.tensor("bias", [count], np.int32, numbers.integers(-3000, 3000, count))
    if factor is not None:
        quantised(w, bias, np.asarray(scale) * 0.05 * factor)
    y = quantised(w, w.tensor("y", [*shape[:-1], count], kind), 0.06, middle)
    w.operator(op, [x, k, bias], [y], OPTIONS[op])
    return w.finish([x], [y]), numbers.integers(limits.min, limits.max, shape, endpoint=True).astype(kind)


def in_four_bits(content):
    """The same layer with weights of four bits and sixteen times the scale."""
    schema, made = unpacked(content)
    weights, bias = made.subgraphs[0].tensors[1:3]
    stored = np.frombuffer(np.asarray(made.buffers[weights.buffer].data, np.uint8).tobytes(), np.int8)
    made.buffers[weights.buffer].data = bytes_of(np.clip(np.rint(stored / 16), -8, 7).astype(np.int8), "INT4")
    weights.type, weights.quantization.scale, bias.quantization.scale = schema.TensorType.INT4, weights.quantization.scale * 16, bias.quantization.scale * 16
    return packed(made)


def litert(content, x):
    """LiteRT's result by its default path; None where its own kernels refuse the model."""
    try:
        interpreter_of(content)
    except RuntimeError:
        return None
    interpreter = interpreter_of(content, "AUTO")
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


def wrong_with(folder, content, x, warned, steps):
    (folder / "m.tflite").write_bytes(content)
    np.save(folder / "x.npy", x)
    want, done = litert(content, x), nsk("convert", folder / "m.tflite", "-o", folder / "m.nsk", "--check")
    if want is None or done.returncode != 0:
        return None if want is None and "bias" in done.stderr else f"LiteRT {'refuses' if want is None else 'takes'} it; nsk: {done.stderr.strip()}"
    if done.stderr.count("its integers are added to the sums") != int(warned):
        return f"one warning is expected: {warned}; nsk: {done.stderr.strip()}"
    nsk("run", folder / "m.nsk", "--input", f"x={folder / 'x.npy'}", "--output-dir", folder / "out")
    apart = np.max(np.abs(np.load(folder / "out" / "y.npy").astype(int) - want))
    return None if apart <= steps else f"{apart} steps from LiteRT"


def in_bfloat16():
    """A dense layer whose weights are a constant in bfloat16 behind a CAST."""
    w = Writer()
    x, y, d = w.tensor("x", [2, 4], np.float32), w.tensor("y", [2, 3], np.float32), w.tensor("d", [3, 4], np.float32)
    k = w.tensor("k", [3, 4], np.int16, np.arange(12) * 37 + 0x3f80)
    w.graph.tensors[k].type = w.schema.TensorType.BFLOAT16
    w.operator("CAST", [k], [d], ("CastOptions", {"inDataType": w.schema.TensorType.BFLOAT16, "outDataType": w.schema.TensorType.FLOAT32}))
    w.operator("FULLY_CONNECTED", [x, d], [y], ("FullyConnectedOptions", {}))
    return w.finish([x], [y])


def main():
    if not have_litert():
        return 0
    wrong, count = [], 0
    with tempfile.TemporaryDirectory(prefix="nsk_weights_") as name:
        cases = [(op, kind, factor, per_channel, False) for op in LAYERS for kind in (np.int8, np.uint8) for factor in (1, 1.001, 2.0, 50, None) for per_channel in (False, True)]
        cases += [(op, np.int8, 1, per_channel, True) for op in LAYERS for per_channel in (False, True)]
        for seed, (op, kind, factor, per_channel, short) in enumerate(cases):
            if per_channel and kind == np.uint8 or (op == "DEPTHWISE_CONV_2D" and kind == np.int8 and not per_channel):
                continue  # LiteRT has none
            content, x = model(op, kind, factor, per_channel, seed)
            alone = factor is None or (short and op != "FULLY_CONNECTED") or (op == "DEPTHWISE_CONV_2D" and kind == np.uint8)  # not XNNPACK's
            failure = wrong_with(pathlib.Path(name), in_four_bits(content) if short else content, x, factor != 1, int(alone))
            count += 1
            wrong += [f"{op} {kind.__name__} {factor} {per_channel} {short}: {failure}"] if failure else []
        failure = compare_runs(pathlib.Path(name), in_bfloat16(), {"x": np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4)})
        wrong += [f"bfloat16: {failure}"] if failure else []
    print("\n".join(wrong + [f"{count} layers, {len(wrong)} wrong"]))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
