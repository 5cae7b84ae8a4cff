#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damages files that the converter wrote: every truncation, and random corruptions, of three small networks of different kinds,
of two of them quantised by nsk, of two by onnxruntime.quantization.quantize_dynamic, of one with float16 and with int8 weights, and of small files of five
of these.

  converted.py PATH/TO/corrupt [--count N]        the acceptance run is --count 200000
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

TOOL = os.environ["NSK_TOOL"]
MAX_BYTES = 64 * 1024


class Network:
    """A graph that grows node by node; weights come from a fixed seed."""

    def __init__(self, name, shape):
        self.name, self.nodes, self.constants, self.random = name, [], [], np.random.default_rng(5)
        self.input = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)

    def weights(self, *shape):
        name = f"w{len(self.constants)}"
        values = self.random.standard_normal(shape).astype(np.float32) / 4
        self.constants.append(numpy_helper.from_array(values, name))
        return name

    def constant(self, values):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def add(self, op, *inputs, **attributes):
        self.nodes.append(helper.make_node(op, list(inputs), [f"v{len(self.nodes)}"], **attributes))
        return self.nodes[-1].output[0]

    def save(self, folder, *outputs):
        values = [helper.make_tensor_value_info(o, TensorProto.FLOAT, None) for o in outputs]
        graph = helper.make_graph(self.nodes, self.name, [self.input], values, self.constants)
        path = folder / f"{self.name}.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
        return path


def detector(folder):
    """A stem, a residual block with a depthwise convolution, pooling, a resize that is concatenated, two heads, the best class, a mean."""
    n = Network("detector", [1, 3, 16, 20])
    stem = n.add("Relu", n.add("Conv", "x", n.weights(16, 3, 3, 3), n.weights(16), strides=[2, 2], pads=[0, 0, 1, 1]))
    deep = n.add("HardSwish", n.add("Conv", stem, n.weights(16, 1, 3, 3), group=16, pads=[1] * 4))
    block = n.add("Add", n.add("Conv", deep, n.weights(16, 16, 1, 1), n.weights(16)), stem)
    low = n.add("MaxPool", block, kernel_shape=[2, 2], strides=[2, 2])
    wide = n.add("PRelu", n.add("Conv", low, n.weights(16, 16, 3, 3), pads=[1] * 4), n.weights(16, 1, 1))
    high = n.add("Resize", wide, "", n.constant(np.float32([1, 1, 2, 2])), mode="linear")
    both = n.add("Concat", high, block, axis=1)
    boxes = n.add("Transpose", n.add("Conv", both, n.weights(4, 32, 1, 1), n.weights(4)), perm=[0, 2, 3, 1])
    scores = n.add("Conv", both, n.weights(6, 32, 1, 1))
    best = n.add("Cast", n.add("ArgMax", scores, axis=1), to=TensorProto.FLOAT)
    return n.save(folder, n.add("Softmax", scores, axis=1), boxes, best, n.add("GlobalAveragePool", block))


def policy(folder):
    """Layer normalisation spelled out, gates, a matrix product of two activations, reductions."""
    n = Network("policy", [4, 24])
    centred = n.add("Sub", "x", n.add("ReduceMean", "x", axes=[1]))
    spread = n.add("Sqrt", n.add("ReduceMean", n.add("Mul", centred, centred), axes=[1]))
    hidden = n.add("Gemm", n.add("Div", centred, n.add("Add", spread, n.constant(np.float32(1e-3)))), n.weights(24, 40), n.weights(40))
    gated = n.add("Mul", hidden, n.add("Sigmoid", hidden))
    mixed = n.add("MatMul", gated, n.add("Transpose", gated, perm=[1, 0]))
    return n.save(folder, n.add("Tanh", n.add("Gemm", gated, n.weights(40, 6), n.weights(6))), n.add("Softmax", mixed, axis=-1))


def recogniser(folder):
    """Convolutions of several kernels, groups, strides and dilations, average pooling, a dense layer on the image."""
    n = Network("recogniser", [2, 1, 20, 20])
    a = n.add("Clip", n.add("Conv", "x", n.weights(8, 1, 5, 5), n.weights(8), auto_pad="SAME_UPPER"), n.constant(np.float32(0)), n.constant(np.float32(6)))
    b = n.add("AveragePool", a, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4, ceil_mode=1)
    c = n.add("LeakyRelu", n.add("Conv", b, n.weights(24, 4, 3, 3), group=2, dilations=[2, 2], pads=[2] * 4), alpha=0.1)
    d = n.add("DepthToSpace", n.add("Pad", c, n.constant(np.int64([0, 0, 1, 1, 0, 0, 0, 0])), mode="reflect"), blocksize=2)
    flat = n.add("Flatten", n.add("MaxPool", d, kernel_shape=[3, 2], strides=[3, 3]))
    wide = 6 * 8 * 8
    return n.save(folder, n.add("LogSoftmax", n.add("Gemm", flat, n.weights(10, wide), n.weights(10), transB=1), axis=1))


def quantised(folder, source, shape, *options):
    """The network in int8: layers, sums, tables and pooling on bytes, and the conversions around them."""
    samples, result = folder / f"{source.stem}_samples", folder / f"{source.stem}_int8{''.join(options)}.nsk"
    samples.mkdir(exist_ok=True)
    random = np.random.default_rng(6)
    for i in range(4):
        np.save(samples / f"{i}.npy", random.standard_normal(shape).astype(np.float32))
    subprocess.run([TOOL, "quantize", source, "-o", result, "--target", "size", "--calibrate", samples, "--check", "--quiet", *options], check=True)
    return result


def narrowed(folder, source, kind, *options):
    """The network with weights of 16 or 8 bits."""
    result = folder / f"{source.stem}_{kind}{''.join(options)}.nsk"
    subprocess.run([TOOL, "quantize", source, "-o", result, "--format", kind, "--target", "size", "--quiet", *options], check=True)
    return result


def dynamic(folder, source):
    """The network as onnxruntime.quantization.quantize_dynamic writes it: layers find the scales of their inputs."""
    stored, result = folder / f"{source.stem}_dynamic.onnx", folder / f"{source.stem}_dynamic.nsk"
    quantize_dynamic(str(source), str(stored), weight_type=QuantType.QInt8, per_channel=True)
    subprocess.run([TOOL, "convert", stored, "-o", result, "--check", "--quiet"], check=True)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corrupt", type=pathlib.Path)
    parser.add_argument("--count", default="20000")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nsk_converted_") as folder:
        folder = pathlib.Path(folder)
        files = []
        for make in (detector, policy, recogniser):
            files.append(folder / f"{make.__name__}.nsk")
            subprocess.run([TOOL, "convert", make(folder), "-o", files[-1], "--quiet", "--check"], check=True)
        files.append(quantised(folder, folder / "detector.onnx", (1, 3, 16, 20)))
        files.append(quantised(folder, folder / "recogniser.onnx", (2, 1, 20, 20)))
        files += [narrowed(folder, folder / "policy.onnx", "fp16"), narrowed(folder, folder / "policy.onnx", "w8")]
        files += [dynamic(folder, folder / "policy.onnx"), dynamic(folder, folder / "recogniser.onnx")]
        files += [quantised(folder, folder / "detector.onnx", (1, 3, 16, 20), "--small"), narrowed(folder, folder / "policy.onnx", "w8", "--small")]
        for file in list(files[:3]):  # the same as small files, whose parts are damaged in place of their tables
            files.append(file.with_name(f"{file.stem}_small.nsk"))
            subprocess.run([TOOL, "convert", folder / f"{file.stem}.onnx", "-o", files[-1], "--small", "--quiet"], check=True)
        for file in files:
            size = file.stat().st_size
            if size > MAX_BYTES:
                raise SystemExit(f"{file.name} has {size} bytes, more than {MAX_BYTES}")
            print(f"{file.name}: {size} bytes", flush=True)
        return subprocess.run([options.corrupt, "--truncations", "--count", options.count, *files]).returncode


if __name__ == "__main__":
    sys.exit(main())
