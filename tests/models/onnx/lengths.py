#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files with lengths (--bound): for each value they give what ONNX Runtime gives, and the bits of the file converted for that value alone."""
import json
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from models import error_of, must, nsk, plain_session, results_of, told  # noqa: E402

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
USAGE, REFUSED, WRONG = 1, 2, 3
failures = []


class Network:
    """A graph under construction: methods add a node and return the name of its result."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.constants, self.inputs, self.outputs = [], [], [], []

    def input(self, name, shape, kind=FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def constant(self, values, kind=np.float32):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, kind), name))
        return name

    def weights(self, *shape):
        return self.constant(self.random.normal(0, 1 / np.sqrt(np.prod(shape[1:]) if len(shape) > 2 else shape[0]), shape))

    def op(self, kind, *inputs, **attributes):
        name = f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def dense(self, x, width, outputs):
        return self.op("Add", self.op("MatMul", x, self.weights(width, outputs)), self.weights(outputs))

    def reshape(self, x, *shape):
        return self.op("Reshape", x, self.constant(shape, np.int64))

    def save(self, path, *outputs, opset=17):
        shapes = [helper.make_tensor_value_info(name, FLOAT, None) for name in outputs]
        graph = helper.make_graph(self.nodes, "lengths", self.inputs, shapes, self.constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), str(path))


def attention(net, x, memory, width, heads):
    """Of rows of x over those of `memory`."""
    def split(y, order):
        return net.op("Transpose", net.reshape(net.dense(y, width, width), 1, -1, heads, width // heads), perm=order)
    scores = net.op("Mul", net.op("MatMul", split(x, [0, 2, 1, 3]), split(memory, [0, 2, 3, 1])), net.constant(0.35))
    mixed = net.op("MatMul", net.op("Softmax", scores, axis=-1), split(memory, [0, 2, 1, 3]))
    return net.reshape(net.op("Transpose", mixed, perm=[0, 2, 1, 3]), 1, -1, width)


def block(net, x, memory, width=24, heads=3):
    x = net.op("Add", x, attention(net, x, memory, width, heads))
    x = net.op("LayerNormalization", x, net.weights(width), net.weights(width), axis=-1)
    return net.op("Add", x, net.dense(net.op("Tanh", net.dense(x, width, 2 * width)), 2 * width, width))


def encoder(path):
    """Words, positions cut to their number, two blocks of attention, their mean."""
    net = Network(1)
    ids = net.input("ids", [1, "tokens"], INT64)
    x = net.op("Gather", net.weights(50, 24), ids, axis=0)
    count = net.op("Slice", net.op("Shape", ids), net.constant([1], np.int64), net.constant([2], np.int64))
    x = net.op("Add", x, net.op("Slice", net.weights(1, 40, 24), net.constant([0], np.int64), count, net.constant([1], np.int64)))
    for _ in range(2):
        x = block(net, x, x)
    net.save(path, x, net.op("ReduceMean", x, axes=[1], keepdims=0))
    return {"tokens": "40"}, {"tokens": (1, 2, 7, 16, 23, 40)}, {"ids": lambda n: net.random.integers(0, 50, (1, n["tokens"]))}


def crossed(path):
    """Rows of one length over those of another."""
    net = Network(2)
    a, b = net.input("a", [1, "queries", 24]), net.input("b", [1, "keys", 24])
    x = block(net, a, b)
    net.save(path, x, net.op("ReduceMax", block(net, b, x), axes=[1], keepdims=0))
    shapes = {"a": "queries", "b": "keys"}
    return ({"queries": "12", "keys": "3..19"}, {"queries": (1, 5, 12), "keys": (3, 8, 19)},
            {k: (lambda n, k=k: net.random.normal(0, 1, (1, n[shapes[k]], 24)).astype(np.float32)) for k in shapes})


def sound(path):
    """Windows along time: padded, with a stride, whole, and their mean."""
    net = Network(3)
    x = net.input("sound", [1, 4, "samples"])
    x = net.op("Relu", net.op("Conv", x, net.weights(12, 4, 3), net.weights(12), pads=[1, 1]))
    y = net.op("Conv", x, net.weights(16, 12, 3), net.weights(16), pads=[1, 1], strides=[2])
    y = net.op("Conv", net.op("Relu", y), net.weights(8, 16, 5), net.weights(8))
    z = net.op("MaxPool", x, kernel_shape=[4], strides=[4])
    net.save(path, y, z, net.op("GlobalAveragePool", y))
    return {"samples": "16..200"}, {"samples": (16, 17, 18, 19, 63, 100, 199, 200)}, {
        "sound": lambda n: net.random.normal(0, 1, (1, 4, n["samples"])).astype(np.float32)}


def recurrent(path):
    """A layer in both directions, and what it ends with."""
    net = Network(4)
    x = net.input("x", ["frames", 1, 6])
    net.nodes.append(helper.make_node("GRU", [x, net.weights(2, 30, 6), net.weights(2, 30, 10), net.weights(2, 60)], ["all", "last"], name="gru",
                                      hidden_size=10, direction="bidirectional"))
    net.save(path, "all", "last")
    return {"frames": "33"}, {"frames": (1, 2, 3, 20, 33)}, {"x": lambda n: net.random.normal(0, 1, (n["frames"], 1, 6)).astype(np.float32)}


def image(path):
    """An image of any size in steps of 8: windows, half the size and back, a bridge."""
    net = Network(5)
    x = net.input("image", [1, 3, "height", "width"])
    a = net.op("Relu", net.op("Conv", x, net.weights(8, 3, 3, 3), net.weights(8), pads=[1, 1, 1, 1]))
    b = net.op("MaxPool", a, kernel_shape=[2, 2], strides=[2, 2])
    b = net.op("Relu", net.op("Conv", b, net.weights(12, 8, 3, 3), net.weights(12), pads=[1, 1, 1, 1], strides=[2, 2]))
    c = net.op("Resize", b, "", net.constant([1, 1, 4, 4]), mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    net.save(path, net.op("Conv", net.op("Concat", a, c, axis=1), net.weights(5, 20, 1, 1), net.weights(5)))
    return {"height": "8..40/8", "width": "16..48/8"}, {"height": (8, 24, 40), "width": (16, 48)}, {
        "image": lambda n: net.random.normal(0, 1, (1, 3, n["height"], n["width"])).astype(np.float32)}


def resized(path):
    """Images whose rows and columns are blended: twice the size, to that of another tensor, cubic, the nearest from above."""
    net = Network(10)
    x = net.input("image", [1, 3, "height", "width"])
    a = net.op("Relu", net.op("Conv", x, net.weights(8, 3, 3, 3), net.weights(8), pads=[1, 1, 1, 1], strides=[2, 2]))
    b = net.op("Relu", net.op("Conv", a, net.weights(8, 8, 3, 3), net.weights(8), pads=[1, 1, 1, 1], strides=[2, 2]))
    sizes = net.op("Concat", net.constant([1, 8], np.int64), net.op("Slice", net.op("Shape", a), net.constant([2], np.int64), net.constant([4], np.int64)), axis=0)
    up = net.op("Resize", b, "", "", sizes, mode="linear", coordinate_transformation_mode="half_pixel")
    cubic = net.op("Resize", b, "", net.constant([1, 1, 2, 2]), mode="cubic", coordinate_transformation_mode="half_pixel")
    above = net.op("Resize", b, "", net.constant([1, 1, 2, 2]), mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="ceil")
    y = net.op("Conv", net.op("Concat", net.op("Add", a, up), cubic, above, axis=1), net.weights(6, 24, 1, 1), net.weights(6))
    net.save(path, net.op("Resize", y, "", net.constant([1, 1, 2, 2]), mode="linear", coordinate_transformation_mode="pytorch_half_pixel"))
    return {"height": "8..40/4", "width": "8..48/4"}, {"height": (8, 24, 40), "width": (8, 16, 44, 48)}, {
        "image": lambda n: net.random.normal(0, 1, (1, 3, n["height"], n["width"])).astype(np.float32)}


def standardised(path):
    """Means and deviations of each channel over images of any size."""
    net = Network(11)
    x = net.op("InstanceNormalization", net.input("image", [1, 6, "height", "width"]), net.weights(6), net.weights(6))
    net.save(path, net.op("Conv", x, net.weights(4, 6, 3, 3), net.weights(4), pads=[1, 1, 1, 1]))
    return {"height": "8..40/4", "width": "9..48"}, {"height": (8, 24, 40), "width": (9, 16, 47, 48)}, {
        "image": lambda n: net.random.normal(0, 1, (1, 6, n["height"], n["width"])).astype(np.float32)}


def summed(path):
    """Sums along the axis from both ends, of numbers and of integers, and positions made of them."""
    net = Network(12)
    x, mask = net.input("x", [1, "tokens", 6]), net.input("mask", [1, "tokens"], INT64)
    one = net.constant(1, np.int64)
    forward, backward = net.op("CumSum", x, one), net.op("CumSum", x, one, exclusive=1, reverse=1)
    places = net.op("Mul", net.op("CumSum", mask, one), mask)
    net.save(path, forward, net.op("Sub", forward, backward), net.op("Gather", net.weights(60, 6), places))
    return {"tokens": "50"}, {"tokens": (1, 2, 3, 4, 5, 16, 17, 33, 50)}, {
        "x": lambda n: (net.random.integers(-3, 4, (1, n["tokens"], 6)) * -0.37).astype(np.float32), "mask": lambda n: net.random.integers(0, 2, (1, n["tokens"]))}


def points(path):
    """Points, the maximum of all beside each, and a row of their own in front."""
    net = Network(6)
    x = net.input("points", [1, "points", 3])
    y = net.op("Relu", net.dense(x, 3, 20))
    top = net.op("ReduceMax", y, axes=[1], keepdims=1)
    y = net.op("Concat", y, net.op("Mul", y, top), axis=2)
    y = net.op("Concat", net.weights(1, 2, 40), y, axis=1)
    net.save(path, net.op("Sigmoid", net.dense(y, 40, 5)))
    return {"points": "64"}, {"points": (1, 2, 30, 64)}, {"points": lambda n: net.random.normal(0, 1, (1, n["points"], 3)).astype(np.float32)}


def cached(path):
    """Attention of a decoder: new tokens look at all keys and values, those of earlier calls, at first none, and their own."""
    net = Network(13)
    x, past_k, past_v = net.input("x", [1, "tokens", 16]), net.input("past_k", [1, 2, "past", 8]), net.input("past_v", [1, 2, "past", 8])
    shape = net.constant([0, 0, 2, 8], np.int64)
    q, k, v = (net.op("Transpose", net.op("Reshape", net.dense(x, 16, 16), shape), perm=[0, 2, 1, 3]) for _ in range(3))
    k, v = net.op("Concat", past_k, k, axis=2), net.op("Concat", past_v, v, axis=2)
    weights = net.op("Softmax", net.op("Mul", net.op("MatMul", q, net.op("Transpose", k, perm=[0, 1, 3, 2])), net.constant(8 ** -0.5)), axis=-1)
    y = net.op("Reshape", net.op("Transpose", net.op("MatMul", weights, v), perm=[0, 2, 1, 3]), net.constant([0, 0, 16], np.int64))
    net.save(path, net.dense(y, 16, 9), k, v)
    random = lambda *shape: net.random.normal(0, 1, shape).astype(np.float32)
    return {"tokens": "5", "past": "0..20"}, {"tokens": (1, 2, 5), "past": (0, 1, 2, 7, 20)}, {
        "x": lambda n: random(1, n["tokens"], 16), "past_k": lambda n: random(1, 2, n["past"], 8), "past_v": lambda n: random(1, 2, n["past"], 8)}


def strided(path):
    """Windows of a stride so large that few lengths tell one division from another, and a second layer on what they give."""
    net = Network(8)
    x = net.input("sound", [1, 2, "samples"])
    x = net.op("Relu", net.op("Conv", x, net.weights(6, 2, 50), net.weights(6), strides=[37]))
    net.save(path, x, net.op("Conv", x, net.weights(4, 6, 2), net.weights(4), strides=[2]))
    return {"samples": "90..700"}, {"samples": (90, 123, 124, 160, 161, 344, 345, 346, 530, 531, 700)}, {
        "sound": lambda n: net.random.normal(0, 1, (1, 2, n["samples"])).astype(np.float32)}


def windows(path):
    """Rows and columns of windows without padding, in steps: (h / 2 - 1)(w / 2 - 1)."""
    net = Network(13)
    x = net.op("MaxPool", net.input("x", [1, 3, "h", "w"]), kernel_shape=[3, 3], strides=[2, 2])
    net.save(path, net.op("Sigmoid", x))
    return {"h": "32..128/32", "w": "32..96/32"}, {"h": (32, 96, 128), "w": (32, 96)}, {"x": lambda c: net.random.normal(0, 1, (1, 3, c["h"], c["w"])).astype(np.float32)}


def mirrored(path):
    """Reflected edges of an image of any size, of which rows stand backwards."""
    net = Network(14)
    x = net.op("Pad", net.input("x", [1, 3, "h", "w"]), net.constant([0, 0, 4, 4] * 2, np.int64), mode="reflect")
    net.save(path, net.op("Conv", x, net.weights(4, 3, 9, 9)))
    return {"h": "16..24", "w": "16..24"}, {"h": (16, 19, 24), "w": (16, 23, 24)}, {"x": lambda c: net.random.normal(0, 1, (1, 3, c["h"], c["w"])).astype(np.float32)}


def few(path):
    """Four positions of a table of four, and one or two rows: few values, most of them short."""
    net = Network(15)
    x = net.input("x", ["b", "n", 4])
    n = net.op("Shape", x, start=1, end=2)
    place = net.op("Slice", net.weights(4, 4), net.constant([0], np.int64), n, net.constant([0], np.int64))
    net.save(path, net.op("Add", x, place))
    return {"b": "0..2", "n": "4"}, {"b": (1, 2), "n": (1, 2, 3, 4)}, {"x": lambda c: net.random.normal(0, 1, (c["b"], c["n"], 4)).astype(np.float32)}


def by_four(path):
    """Quotients of a length beside the number of its steps."""
    net = Network(16)
    net.save(path, net.op("MaxPool", net.input("x", [1, 3, "n"]), kernel_shape=[4], strides=[4]))
    return {"n": "6..600/6"}, {"n": (6, 12, 18, 594, 600)}, {"x": lambda c: net.random.normal(0, 1, (1, 3, c["n"])).astype(np.float32)}


def resized_rows(path):
    """As many images as there are, also none, by sizes that are made of the shape."""
    net = Network(17)
    x = net.input("x", ["n", 3, 4, 4])
    sizes = net.op("Concat", net.op("Shape", x, start=0, end=2), net.constant([8, 8], np.int64), axis=0)
    net.save(path, net.op("Resize", x, "", "", sizes, mode="nearest"))
    return {"n": "0..5"}, {"n": (1, 2, 5)}, {"x": lambda c: net.random.normal(0, 1, (c["n"], 3, 4, 4)).astype(np.float32)}


def recurrent_rows(path):
    """A recurrent layer over as many sequences as there are, also none."""
    net = Network(18)
    net.save(path, net.op("LSTM", net.input("x", [5, "b", 3]), net.weights(1, 32, 3), net.weights(1, 32, 8), hidden_size=8))
    return {"b": "0..6"}, {"b": (1, 2, 6)}, {"x": lambda c: net.random.normal(0, 1, (5, c["b"], 3)).astype(np.float32)}


def otherwise_at(value, path, columns=4):
    """A network that has another layer for one length."""
    net = Network(9)
    x = net.input("x", [1, "rows", columns])
    is_it = net.op("Equal", net.op("Gather", net.op("Shape", x), net.constant(1, np.int64)), net.constant(value, np.int64))
    branches = {}
    for name, kind in (("then_branch", "Sigmoid"), ("else_branch", "Relu")):
        inside = [helper.make_node(kind, [x], [f"{kind}_of_x"])]
        branches[name] = helper.make_graph(inside, kind, [], [helper.make_tensor_value_info(f"{kind}_of_x", FLOAT, None)])
    net.save(path, net.op("If", is_it, **branches))


def choices_of(values):
    """Every combination of the values of all lengths."""
    chosen = [{}]
    for name, some in values.items():
        chosen = [dict(c, **{name: n}) for c in chosen for n in some]
    return chosen


def compare(network, folder, *options):
    source, file, alone = folder / f"{network.__name__}.onnx", folder / f"{network.__name__}.nsk", folder / "alone.nsk"
    bounds, values, inputs = network(source)
    done = nsk("convert", source, "-o", file, "--check", *options, *[o for name, text in bounds.items() for o in ("--bound", f"{name}={text}")])
    if done.returncode:
        failures.append(f"{network.__name__}: {done.stdout}{done.stderr}")
        return
    session = plain_session(source)
    names = [o.name for o in session.get_outputs()]
    for chosen in choices_of(values):
        given = {name: np.ascontiguousarray(make(chosen)) for name, make in inputs.items()}
        arguments = [o for name, n in chosen.items() for o in ("--length", f"{name}={n}")]
        shapes = [o for name, a in given.items() for o in ("--input", f"{name}={'x'.join(map(str, a.shape))}")]
        fed, given = given, {name: array for name, array in given.items() if array.size}
        for name, array in given.items():
            np.save(folder / f"{name}.npy", array)
        feeds = [o for name in given for o in ("--input", f"{name}={folder / f'{name}.npy'}")]
        must("run", file, *feeds, *arguments, "--output-dir", folder / "out")
        must("convert", source, "-o", alone, "--no-check", "--quiet", *options, *shapes)
        of_alone = results_of(alone, given, folder)
        work = [json.loads(must("inspect", *of, "--json"))["variants"][0]["macs"] for of in ((file, *arguments), (alone,))]
        if work[0] != work[1]:
            failures.append(f"{network.__name__} {chosen}: {work[0]} multiply-accumulates, alone {work[1]}")
        for name, wanted in zip(names, session.run(None, fed)):
            got = np.load(folder / "out" / f"{name}.npy")
            if got.shape != wanted.shape or (error_of(got, wanted) > 1e-5 and not options):
                failures.append(f"{network.__name__} {chosen}, {name}: {got.shape} {'' if got.shape != wanted.shape else error_of(got, wanted)}, ONNX Runtime {wanted.shape}")
            if of_alone(name).tobytes() != got.tobytes():
                failures.append(f"{network.__name__} {chosen}, {name}: other bits than the file of these lengths")


def refused(what, code, text, *arguments):
    done = nsk(*arguments)
    if done.returncode != code or text not in done.stderr:
        failures.append(f"{what}: exit code {done.returncode}, {done.stderr}")


def short_lengths(folder):
    """Values at which an axis has one position are known where their graphs are those of the bounds, and refused where many are others."""
    net = Network(10)
    x = net.op("Conv", net.input("image", [1, 3, "height", "width"]), net.weights(4, 3, 3, 3), net.weights(4), pads=[1, 1, 1, 1], strides=[2, 2])
    net.save(folder / "short.onnx", net.op("Relu", x))
    done = must("convert", folder / "short.onnx", "-o", folder / "short.nsk", "--bound", "height=40", "--bound", "width=40")
    if "all 1600 values of the lengths have this plan" not in done:
        failures.append(f"values with an axis of one position: {done}")
    otherwise_at(1, folder / "at_one.onnx", columns="columns")
    refused("other nodes where an axis has one position", WRONG, "would not compute what", "convert", folder / "at_one.onnx", "-o", folder / "no.nsk", "--bound", "rows=9", "--bound", "columns=40")
    net = Network(11)
    x = net.input("x", [1, "rows", 4])
    net.save(folder / "mean.onnx", net.op("ReduceMean", x, axes=[1], keepdims=1))
    refused("a mean of nothing", REFUSED, "would compute from nothing", "convert", folder / "mean.onnx", "-o", folder / "no.nsk", "--bound", "rows=0..9")


def fixed_rows(folder):
    """An axis that the model fixes at one row may be a length: each row is what the model computes for it alone."""
    net = Network(12)
    x = net.reshape(net.input("x", [1, 4, 4, 2]), 1, -1, 2)  # literals of one row
    net.save(folder / "rows.onnx", net.reshape(net.op("Softmax", net.dense(x, 2, 3), axis=1), -1, 16, 3))
    must("convert", folder / "rows.onnx", "-o", folder / "rows.nsk", "--input", "x=rows,4,4,2", "--bound", "rows=0..4", "--quiet")
    must("check", folder / "rows.onnx", folder / "rows.nsk")
    session = plain_session(folder / "rows.onnx")
    for rows in range(1, 5):
        given = net.random.normal(0, 1, (rows, 4, 4, 2)).astype(np.float32)
        np.save(folder / "x.npy", given)
        must("run", folder / "rows.nsk", "--input", f"x={folder / 'x.npy'}", "--length", f"rows={rows}", "--output-dir", folder / "out")
        got, wanted = next(iter((folder / "out").glob("reshape*.npy"))), [session.run(None, {"x": row[None]})[0] for row in given]
        got, wanted = np.load(got), np.concatenate(wanted)
        if got.shape != wanted.shape or error_of(got, wanted) > 1e-5:
            failures.append(f"{rows} rows of a model that fixes one: {got.shape}, ONNX Runtime {wanted.shape}")
    refused("another number than the model's", USAGE, "axis 1 has 4 in the model, not 5", "convert", folder / "rows.onnx", "-o", folder / "no.nsk",
            "--input", "x=rows,5,4,2", "--bound", "rows=4")


def refusals(folder):
    source, file = folder / "encoder.onnx", folder / "encoder.nsk"
    for text in ("0", "x", "5..3", "3..8/2", "8/0", "4..", "4/3"):
        refused(f"--bound tokens={text}", USAGE, "--bound tokens=", "convert", source, "-o", folder / "no.nsk", "--bound", f"tokens={text}")
    refused("a length that is none", USAGE, "tokens", "run", file, "--input", f"ids={folder / 'ids.npy'}", "--output-dir", folder, "--length", "token=3")
    refused("a length beyond the bound", USAGE, "1 to 40", "run", file, "--input", f"ids={folder / 'ids.npy'}", "--output-dir", folder, "--length", "tokens=41")
    refused("a header of all lengths", REFUSED, "--length tokens=N", "codegen", file, "-o", folder / "net.hpp")
    otherwise_at(100, folder / "otherwise.onnx")
    refused("a length with other steps", REFUSED, "with rows = 100", "convert", folder / "otherwise.onnx", "-o", folder / "no.nsk", "--bound", "rows=200")
    done = nsk("convert", folder / "otherwise.onnx", "-o", folder / "many.nsk", "--bound", "rows=16000000", "--no-check")
    if "of 16000000 values of the lengths are known" not in done.stdout + done.stderr:
        failures.append(f"too many lengths: {done.stdout}{done.stderr}")
    done = nsk("convert", folder / "otherwise.onnx", "-o", folder / "many.nsk", "--bound", "rows=16000..16000000/16000", "--no-check")
    if "all 1000 values of the lengths" not in done.stdout + done.stderr:
        failures.append(f"fewer values, as the warning says: {done.stdout}{done.stderr}")
    net = Network(7)
    x = net.input("x", [1, "rows", 4])
    share = net.op("Div", net.constant(1.0), net.op("Cast", net.op("Gather", net.op("Shape", x), net.constant(1, np.int64)), to=FLOAT))
    net.save(folder / "share.onnx", net.op("Mul", x, share))
    refused("a number made of the length", REFUSED, "has other numbers", "convert", folder / "share.onnx", "-o", folder / "no.nsk", "--bound", "rows=9")
    must("convert", folder / "share.onnx", "-o", folder / "both.nsk", "--quiet", "--variant", "small:x=1x3x4", "--variant", "large:x=1x9x4")
    refused("lengths and several variants", REFUSED, "out --bound, or the other option", "convert", source, "-o", folder / "no.nsk", "--bound", "tokens=9", "--variant", "a:ids=1x3", "--variant", "b:ids=1x4")
    refused("an axis of another name", USAGE, "tokens", "convert", source, "-o", folder / "no.nsk", "--bound", "token=9")
    if (folder / "no.nsk").exists():
        failures.append("a refused conversion left a file")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for network in (encoder, cached, crossed, sound, strided, recurrent, image, resized, standardised, summed, points,
                        windows, mirrored, few, by_four, resized_rows, recurrent_rows):
            compare(network, folder)
        for network in (encoder, cached, sound, recurrent):
            for weights in ("fp16", "w8"):
                compare(network, folder, "--weights", weights)
        short_lengths(folder)
        fixed_rows(folder)
        refusals(folder)
    return told(failures)


if __name__ == "__main__":
    sys.exit(main())
