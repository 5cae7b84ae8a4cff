#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""nsk quantize between the layers: sums, gates, means, shuffles, Concat and pooling of a network are steps on bytes, and what leads to no layer is
float32. Compared with ONNX Runtime's float results, and the same bits on every instruction set."""
import pathlib
import re
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import isas, must, told  # noqa: E402

F = np.float32
# steps that are neither copies nor conversions at the edges
WANTED = {"gates": {"QuantizedConv2D": 4, "IntegerConv2D": 1, "ByteTable": 2, "QuantizedBinary": 1, "QuantizedMean": 1},
          "ups": {"QuantizedConv2D": 5, "IntegerConv2D": 1, "ByteTable": 2},
          "joins": {"QuantizedConv2D": 3, "IntegerConv2D": 1, "Pool2D": 1, "Softmax": 1},
          "detector": {"QuantizedConv2D": 8, "IntegerConv2D": 2, "ByteTable": 12, "QuantizedBinary": 1, "Pool2D": 6, "Resize2D": 1}}
IGNORED = {"Copy", "Fill", "Quantize", "Dequantize"}


def conv(random, name, inputs, channels, kernel=1, **attributes):
    weights = random.standard_normal((channels, inputs, kernel, kernel)) / np.sqrt(inputs * kernel * kernel)
    return numpy_helper.from_array(weights.astype(F), name + "_w"), lambda x, y: helper.make_node("Conv", [x, name + "_w"], [y], name, **attributes)


def network(path, nodes, constants, output):
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 16, 12, 12])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, output)], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))
    return path


def gates(path):
    """SiLU, a squeeze and excitation gate, a residual sum."""
    random = np.random.default_rng(1)
    wa, a = conv(random, "first", 16, 16, 3, pads=[1] * 4)
    wb, b = conv(random, "squeeze", 16, 8)
    wc, c = conv(random, "excite", 8, 16)
    wd, d = conv(random, "project", 16, 16)
    we, e = conv(random, "last", 16, 24)
    nodes = [a("x", "p"), helper.make_node("Sigmoid", ["p"], ["ps"]), helper.make_node("Mul", ["p", "ps"], ["q"]),
             helper.make_node("GlobalAveragePool", ["q"], ["m"]), b("m", "s"), helper.make_node("Relu", ["s"], ["sr"]), c("sr", "t"),
             helper.make_node("Sigmoid", ["t"], ["ts"]), helper.make_node("Mul", ["q", "ts"], ["gated"]), d("gated", "r"),
             helper.make_node("Add", ["r", "x"], ["sum"]), e("sum", "y")]
    return network(path, nodes, [wa, wb, wc, wd, we], [1, 24, 12, 12])


def joins(path):
    """Branches of a Concat, channels shuffled, halves, pooling; scores behind the last layer."""
    random = np.random.default_rng(2)
    wa, a = conv(random, "left", 16, 8)
    wb, b = conv(random, "right", 16, 24, 3, pads=[1] * 4)
    wc, c = conv(random, "half", 16, 8)
    wd, d = conv(random, "scores", 8, 10)
    constants = [wa, wb, wc, wd] + [numpy_helper.from_array(np.array(v), n) for n, v in
                                    {"five": [1, 2, 16, 6, 6], "four": [1, 32, 6, 6], "from": [16], "to": [32], "axis": [1]}.items()]
    nodes = [a("x", "p"), helper.make_node("Relu", ["p"], ["pr"]), b("x", "q"), helper.make_node("Concat", ["pr", "q"], ["joined"], axis=1),
             helper.make_node("MaxPool", ["joined"], ["pooled"], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4),
             helper.make_node("Reshape", ["pooled", "five"], ["f"]), helper.make_node("Transpose", ["f"], ["g"], perm=[0, 2, 1, 3, 4]),
             helper.make_node("Reshape", ["g", "four"], ["shuffled"]), helper.make_node("Slice", ["shuffled", "from", "to", "axis"], ["h"]), c("h", "i"),
             d("i", "j"), helper.make_node("Softmax", ["j"], ["y"], axis=1)]
    return network(path, nodes, constants, [1, 10, 6, 6])


def ups(path):
    """Down and up again: slopes for each channel, a transposed convolution, its normalization and Relu, and what joins it."""
    random = np.random.default_rng(4)
    wa, a = conv(random, "down", 16, 32, 2, strides=[2, 2])
    wb, b = conv(random, "last", 32, 8)
    up = numpy_helper.from_array((random.standard_normal((32, 16, 4, 4)) / 16).astype(F), "up_w")
    statistics = [numpy_helper.from_array(random.uniform(0.5, 1.5, 16).astype(F), f"n{i}") for i in range(4)]
    slopes = numpy_helper.from_array(random.uniform(-0.2, 0.5, (32, 1, 1)).astype(F), "slopes")
    nodes = [a("x", "p"), helper.make_node("PRelu", ["p", "slopes"], ["pr"]),
             helper.make_node("ConvTranspose", ["pr", "up_w"], ["q"], "up", strides=[2, 2], pads=[1, 1, 1, 1]),
             helper.make_node("BatchNormalization", ["q", "n0", "n1", "n2", "n3"], ["qn"]), helper.make_node("Relu", ["qn"], ["qr"]),
             helper.make_node("Concat", ["x", "qr"], ["joined"], axis=1), b("joined", "y")]
    return network(path, nodes, [wa, wb, up, slopes, *statistics], [1, 8, 12, 12])


def detector(path):
    """What YOLO detectors are made of: SiLU, halves of which one passes two layers and is added, three poolings in a row, an image that is enlarged."""
    random, nodes, constants = np.random.default_rng(4), [], []

    def node(operator, inputs, *outputs, **attributes):
        nodes.append(helper.make_node(operator, inputs, list(outputs), **attributes))
        return outputs[0]

    def layer(x, name, inputs, channels, kernel=1, **attributes):
        weights, make = conv(random, name, inputs, channels, kernel, pads=[kernel // 2] * 4, **attributes)
        constants.append(weights)
        nodes.append(make(x, name))
        return name

    def silu(x):
        return node("Mul", [x, node("Sigmoid", [x], x + "_gate")], x + "_silu")

    stem = silu(layer("x", "stem", 16, 32, 3))
    node("Split", [silu(layer(stem, "halves", 32, 32))], "upper", "lower", axis=1)
    inner = silu(layer(silu(layer("lower", "inner", 16, 16, 3)), "inner_too", 16, 16, 3))
    joined = node("Concat", ["upper", "lower", node("Add", [inner, "lower"], "added")], "three", axis=1)
    pools = [silu(layer(silu(layer(joined, "joined", 48, 32)), "before_pools", 32, 16))]
    for n in range(3):
        pools.append(node("MaxPool", [pools[-1]], f"pool{n}", kernel_shape=[5, 5], pads=[2] * 4))
    small = silu(layer(silu(layer(node("Concat", pools, "pools", axis=1), "after_pools", 64, 32)), "down", 32, 32, 3, strides=[2, 2]))
    constants.append(numpy_helper.from_array(np.array([1, 1, 2, 2], F), "twice"))
    large = node("Resize", [small, "", "twice"], "large", mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    whole = node("Concat", [large, stem], "whole", axis=1)
    scores = node("Sigmoid", [layer(whole, "scores", 64, 8)], "probabilities")
    node("Concat", [layer(whole, "boxes", 64, 16), scores], "y", axis=1)
    return network(path, nodes, constants, [1, 24, 12, 12])


NETWORKS = {"gates": gates, "joins": joins, "ups": ups, "detector": detector}


def main():
    failures = []
    with tempfile.TemporaryDirectory(prefix="nsk_flow_") as place:
        folder = pathlib.Path(place)
        samples = folder / "samples"
        samples.mkdir()
        random = np.random.default_rng(3)
        for i in range(12):
            np.save(samples / f"{i:03}.npy", random.standard_normal((1, 16, 12, 12)).astype(F))
        x = np.load(samples / "000.npy")
        for name, make in NETWORKS.items():
            source = make(folder / f"{name}.onnx")
            must("quantize", "--target", "size", source, "-o", folder / "net.nsk", "--calibrate", samples, "--check")
            must("json", folder / "net.nsk", "-o", folder / "table.json")
            steps = re.findall(r'"op_type": "(\w+)"', (folder / "table.json").read_text())
            counts = {s: steps.count(s) for s in set(steps) - IGNORED}
            if counts != WANTED[name]:
                failures.append(f"{name}: steps {counts}")
            exact = onnxruntime.InferenceSession(str(source), providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
            results = []
            for isa in isas():
                must("run", folder / "net.nsk", "--input", f"x={samples / '000.npy'}", "--output-dir", folder, "--isa", isa)
                results.append(np.load(folder / "y.npy"))
            if any(not np.array_equal(r, results[0]) for r in results):
                failures.append(f"{name}: instruction sets differ")
            noise = 10 * np.log10((exact.astype(float) ** 2).sum() / ((results[0] - exact).astype(float) ** 2).sum())
            print(f"{name}: {noise:.1f} dB, steps {counts}")
            if noise < 25:
                failures.append(f"{name}: {noise:.1f} dB")
    return told(failures)


if __name__ == "__main__":
    sys.exit(main())
