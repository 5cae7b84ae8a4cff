#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Single operators on stored integers, as TensorFlow Lite models, against LiteRT's default path: every pair of bytes for arithmetic, every byte for
functions of one, random bytes for windows. Each must be equal in every element, but for those listed in NEAR, which may be one step apart."""
import itertools
import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from litert import have_litert, interpreter_of  # noqa: E402
from models import file_name, must  # noqa: E402
from tflite_writer import Writer  # noqa: E402

F = np.float32
NUMBERS = np.random.default_rng(11)
NEAR = {"MUL": 2e-5, "MEAN": 0.01, "RESIZE_BILINEAR": 2e-4}  # the share that may be one step apart


def quantised(w, name, shape, dtype, scale, zero, data=None):
    index = w.tensor(name, shape, dtype, data)
    q = w.schema.QuantizationParametersT()
    q.scale, q.zeroPoint = np.array(scale, F).reshape(-1), np.array(zero, np.int64).reshape(-1)
    w.graph.tensors[index].quantization = q
    return index


class Case:
    """One operator: inputs (bytes, scale, zero point), the shape, scale and zero point of the result, constants that follow the inputs."""

    def __init__(self, op, inputs, shape, scale, zero, options=None, constants=(), stored_constant=None):
        self.op, self.inputs = op, {f"x{i}": x[0] for i, x in enumerate(inputs)}
        self.dtype = inputs[0][0].dtype
        w = Writer()
        operands = [quantised(w, f"x{i}", v.shape, v.dtype, s, z) for i, (v, s, z) in enumerate(inputs)]
        ports = list(operands)
        if stored_constant is not None:
            v, s, z = stored_constant
            operands.append(quantised(w, "c", v.shape, v.dtype, s, z, v))
        operands += [w.tensor(f"constant{i}", c.shape, c.dtype, c) for i, c in enumerate(constants)]
        y = quantised(w, "y", shape, self.dtype, scale, zero)
        w.operator(op, operands, [y], options)
        self.content = w.finish(ports, [y])

    def __str__(self):
        return f"{self.op} of {self.dtype}"


class Transposition(Case):
    """A TRANSPOSE_CONV: the length of the result, weights by a scale for each output channel where that is asked for, a bias or none."""

    def __init__(self, x, kernel, stride, padding, outputs, by_channel, biased, activation):
        self.op, (values, s, z) = "TRANSPOSE_CONV", x
        self.inputs, self.dtype, signed = {"x0": values}, values.dtype, values.dtype == np.int8
        w = Writer()
        rows, columns = (n * stride if padding == 0 else (n - 1) * stride + max(k, stride) for n, k in zip(values.shape[1:3], kernel))
        weights = stored((outputs, *kernel, values.shape[3]), self.dtype)
        if signed:
            weights = np.maximum(weights, -127)
        unit = np.array([scale(0.002, 0.02) for _ in range(outputs if by_channel else 1)], F)
        w_zero = np.full(unit.shape, 0 if signed else zero(self.dtype), np.int64)
        x0 = quantised(w, "x0", values.shape, values.dtype, s, z)
        operands = [w.tensor("shape", (4,), np.int32, np.array([values.shape[0], rows, columns, outputs], np.int32)),
                    quantised(w, "w", weights.shape, weights.dtype, unit, w_zero, weights), x0]
        if biased:
            bias = NUMBERS.integers(-9000, 9000, outputs).astype(np.int32)
            operands.append(quantised(w, "bias", bias.shape, np.int32, F(s) * unit, np.zeros(unit.shape, np.int64), bias))
        y = quantised(w, "y", (values.shape[0], rows, columns, outputs), self.dtype, 0.5 * values.shape[3] ** 0.5, zero(self.dtype))
        options = {"padding": padding, "strideH": stride, "strideW": stride, "fusedActivationFunction": activation}
        w.operator(self.op, operands, [y], ("TransposeConvOptions", options))
        self.content = w.finish([x0], [y])


def scale(low=0.01, high=0.1):
    return float(F(NUMBERS.uniform(low, high)))


def zero(dtype):
    info = np.iinfo(dtype)
    return int(NUMBERS.integers(info.min, info.max, endpoint=True))


def stored(shape, dtype):
    info = np.iinfo(dtype)
    return NUMBERS.integers(info.min, info.max, shape, endpoint=True).astype(dtype)


def every_byte(dtype):
    info = np.iinfo(dtype)
    return np.arange(info.min, info.max + 1).astype(dtype)


def arithmetic(dtype):
    a, b = (v.reshape(1, 256, 256, 1) for v in np.meshgrid(every_byte(dtype), every_byte(dtype), indexing="ij"))
    for op, activation in itertools.product(("ADD", "SUB", "MUL"), (0, 0, 0, 1, 3)):
        options = {"fusedActivationFunction": activation, **({"potScaleInt16": False} if op != "MUL" else {})}
        yield Case(op, [(a, scale(), zero(dtype)), (b, scale(), zero(dtype))], a.shape, scale(0.02, 0.3), zero(dtype), (f"{op.capitalize()}Options", options))
    same = scale(), zero(dtype)
    yield Case("ADD", [(a, *same), (b, *same)], a.shape, 2 * same[0], same[1], ("AddOptions", {"potScaleInt16": False}))  # halves everywhere
    line, column = every_byte(dtype).reshape(1, 256), every_byte(dtype)[::-1].reshape(256, 1)
    yield Case("ADD", [(line, scale(), zero(dtype)), (column, scale(), zero(dtype))], (256, 256), scale(), zero(dtype), ("AddOptions", {"potScaleInt16": False}))
    for op in ("ADD", "SUB"):
        image, by_channel = stored((2, 5, 7, 9), dtype), stored((9,), dtype)
        yield Case(op, [(image, scale(), zero(dtype))], image.shape, scale(), zero(dtype), (f"{op.capitalize()}Options", {"potScaleInt16": False}),
                   stored_constant=(by_channel, scale(), zero(dtype)))
    yield Case("ADD", [(line, 0.5, 0), (line, 0.0001, 0)], line.shape, 0.7, 0, ("AddOptions", {"potScaleInt16": False}))


def functions(dtype):
    x = every_byte(dtype).reshape(1, 256)
    for _ in range(8):
        yield Case("QUANTIZE", [(x, scale(), zero(dtype))], x.shape, scale(), zero(dtype))
    for alpha in (0.1, 0.25, 0.01, -0.5):
        yield Case("LEAKY_RELU", [(x, scale(), zero(dtype))], x.shape, scale(), zero(dtype), ("LeakyReluOptions", {"alpha": alpha}))
    signed = dtype == np.int8
    for _ in range(4):
        yield Case("LOGISTIC", [(x, scale(), zero(dtype))], x.shape, 1 / 256, -128 if signed else 0)
        yield Case("TANH", [(x, scale(), zero(dtype))], x.shape, 1 / 128, 0 if signed else 128)
        yield Case("HARD_SWISH", [(x, scale(), zero(dtype))], x.shape, scale(), zero(dtype))
        yield Case("RELU", [(x, scale(), zero(dtype))], x.shape, scale(), zero(dtype))
        yield Case("RELU6", [(x, scale(), zero(dtype))], x.shape, scale(), zero(dtype))
    for channels, slope_scale in ((5, 0.01), (40, 0.003), (1, 0.02)):
        x, slopes = np.broadcast_to(every_byte(dtype).reshape(1, 16, 16, 1), (1, 16, 16, channels)).copy(), stored((1, 1, channels), dtype)
        yield Case("PRELU", [(x, scale(), zero(dtype))], x.shape, scale(), zero(dtype), stored_constant=(slopes, slope_scale, zero(dtype)))
    for length in (10, 1001):
        rows = stored((16, length), dtype)
        yield Case("SOFTMAX", [(rows, scale(), zero(dtype))], rows.shape, 1 / 256, -128 if signed else 0, ("SoftmaxOptions", {"beta": 1.0}))


def windows(dtype):
    for size, stride, same, activation in ((2, 2, False, 0), (3, 1, True, 0), (2, 1, True, 1), (7, 1, False, 0), (6, 3, True, 3)):
        x, z, s = stored((2, 9, 8, 13), dtype), zero(dtype), scale()
        lengths = [-(-n // stride) if same else (n - size) // stride + 1 for n in (9, 8)]
        options = {"padding": 0 if same else 1, "strideH": stride, "strideW": stride, "filterHeight": size, "filterWidth": size, "fusedActivationFunction": activation}
        yield Case("AVERAGE_POOL_2D", [(x, s, z)], (2, *lengths, 13), s, z, ("Pool2DOptions", options))
        yield Case("MAX_POOL_2D", [(x, s, z)], (2, *lengths, 13), s, z, ("Pool2DOptions", options))
    for shape, over in (((2, 4, 4, 13), (1, 2)), ((2, 7, 7, 13), (1, 2)), ((30, 6), (1,)), ((2, 5, 6, 8), (3,))):
        for rescaled in (False, True):
            x, z, s = stored(shape, dtype), zero(dtype), scale()
            lengths = [1 if d in over else n for d, n in enumerate(shape)]
            yield Case("MEAN", [(x, s, z)], lengths, s * 0.6 if rescaled else s, z, ("ReducerOptions", {"keepDims": True}), [np.array(over, np.int32)])
    for size, corners, half in (((10, 12), False, False), ((10, 12), False, True), ((9, 11), True, False), ((37, 53), False, True), ((64, 31), True, False)):
        x, z, s = stored((1, 5, 6, 7), dtype), zero(dtype), scale()
        yield Case("RESIZE_BILINEAR", [(x, s, z)], (1, *size, 7), s, z, ("ResizeBilinearOptions", {"alignCorners": corners, "halfPixelCenters": half}), [np.array(size, np.int32)])
    a, b, s, z = stored((2, 3, 4, 5), dtype), stored((2, 3, 4, 2), dtype), scale(), zero(dtype)
    yield Case("CONCATENATION", [(a, s, z), (b, s, z)], (2, 3, 4, 7), s, z, ("ConcatenationOptions", {"axis": 3}))


def transpositions(dtype):
    for kernel, stride, padding, channels, outputs in (((2, 2), 2, 1, 16, 24), ((3, 3), 2, 0, 8, 5), ((4, 4), 2, 0, 7, 33), ((3, 2), 1, 0, 8, 4), ((2, 2), 3, 1, 8, 3), ((5, 5), 3, 1, 4, 2)):
        for by_channel, biased, activation in ((False, False, 0), (False, True, 1), (True, True, 0)):
            if not by_channel or dtype == np.int8:
                yield Transposition((stored((2, 5, 6, channels), dtype), scale(), zero(dtype)), kernel, stride, padding, outputs, by_channel, biased, activation)


def differences(case, folder):
    """Steps between what netsuke and LiteRT give."""
    interpreter = interpreter_of(case.content, "AUTO")
    source, model = folder / "m.tflite", folder / "m.nsk"
    source.write_bytes(case.content)
    must("convert", source, "-o", model, "--check", "--quiet")
    arguments = []
    for detail in interpreter.get_input_details():
        values = case.inputs[detail["name"]]
        interpreter.set_tensor(detail["index"], values)
        np.save(folder / f"{detail['name']}.npy", values)
        arguments += ["--input", f"{detail['name']}={folder / detail['name']}.npy"]
    interpreter.invoke()
    must("run", model, *arguments, "--output-dir", folder / "out")
    want = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    got = np.load(folder / "out" / file_name("y"))
    if got.dtype != want.dtype or got.shape != want.shape:
        raise SystemExit(f"{case}: {got.dtype} {got.shape} and not {want.dtype} {want.shape}")
    return np.abs(got.astype(int) - want.astype(int))


def main():
    if not have_litert():
        return 0
    failed, sums = False, {}
    with tempfile.TemporaryDirectory(prefix="nsk_litert_") as folder:
        for make, dtype in itertools.product((arithmetic, functions, windows, transpositions), (np.int8, np.uint8)):
            for case in make(dtype):
                apart = differences(case, pathlib.Path(folder))
                count, all_, maximum = sums.get(case.op, (0, 0, 0))
                sums[case.op] = count + int(np.sum(apart > 0)), all_ + apart.size, max(maximum, int(apart.max()))
    for op, (count, all_, maximum) in sums.items():
        share = NEAR.get(op, 0)
        wrong = count > share * all_ or maximum > (1 if share else 0)
        print(f"{op}: {count} of {all_} elements differ from LiteRT" + (f", by at most {maximum}" if count else "") + (": too many" if wrong else ""))
        failed = failed or wrong
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
